"""Information of contingency tables, one table after the other, each in a fixed order of summation.

Empty cells are skipped, so padding a table with empty rows or columns leaves every bit of its scores as it was: a run
on two studies is a block of the run on three.
"""

from __future__ import annotations

import math

import numpy as np

from clustrep.kernels.compiled import compiled
from clustrep.types import FloatArray, IntArray

# A hypergeometric weight below this share of the sum changes no bit of the expectation: from its mode the distribution
# falls faster than geometrically, and no term is larger than n log n times the leading one.
NEGLIGIBLE = 1e-28
MOST_SLOTS = 2**16


@compiled
def _add(total: float, lost: float, term: float) -> tuple[float, float]:
    """Add a term, and to what was lost what the sum can't hold (Neumaier): with n blocks, AMI divides that by 1/n."""
    new = total + term
    lost += (total - new) + term if abs(total) >= abs(term) else (term - new) + total
    return new, lost


@compiled
def mutual_information(
    cells: FloatArray,
    row_of_cell: IntArray,
    column_of_cell: IntArray,
    rows: FloatArray,
    columns: FloatArray,
    totals: FloatArray,
) -> FloatArray:
    """Mutual information of every table: equation (6) of the paper.

    I = Σ_ij c_ij / n · log(n c_ij / (a_i b_j)), over the cells that are not empty.

    Parameters
    ----------
    cells : ndarray of shape (n_tables, n_cells)
        The counts c_ij.
    row_of_cell, column_of_cell : ndarray of shape (n_cells,)
        Where a cell is in every table.
    rows, columns : ndarray of shape (n_tables, n_rows) and (n_tables, n_columns)
        The margins a_i and b_j.
    totals : ndarray of shape (n_tables,)
        n, the number of points.

    Returns
    -------
    ndarray of shape (n_tables,)
        In nats, at least 0.
    """
    result = np.zeros(cells.shape[0])
    for b in range(cells.shape[0]):
        n = totals[b]
        total = lost = 0.0
        for i in range(cells.shape[1]):
            c = cells[b, i]
            if c > 0:
                independent = rows[b, row_of_cell[i]] * columns[b, column_of_cell[i]]
                term = c / n * math.log(c * n / independent)
                total, lost = _add(total, lost, term)
        result[b] = max(total + lost, 0.0)
    return result


@compiled
def entropy(sizes: FloatArray, totals: FloatArray) -> FloatArray:
    """Entropy of every partition: H = −Σ_i a_i / n · log(a_i / n).

    Parameters
    ----------
    sizes : ndarray of shape (n_tables, n_blocks)
        The sizes a_i of the blocks; those of no points are left out.
    totals : ndarray of shape (n_tables,)
        n, the number of points.

    Returns
    -------
    ndarray of shape (n_tables,)
        In nats.
    """
    result = np.zeros(sizes.shape[0])
    for b in range(sizes.shape[0]):
        total = lost = 0.0
        for i in range(sizes.shape[1]):
            if sizes[b, i] > 0:
                share = sizes[b, i] / totals[b]
                total, lost = _add(total, lost, -share * math.log(share))
        result[b] = total + lost
    return result


@compiled
def _expected_cell(a: float, b: float, n: float) -> float:
    """Expected contribution to the mutual information of the cell between two blocks of a and b out of n points.

    The count x of the cell is hypergeometric with mean μ = ab/n. As E[x − μ] = 0, its contribution
    E[x/n log(x/μ)] is E[x log(x/μ) − (x − μ)]/n, whose terms are never negative: nothing cancels. The probabilities
    follow from each other by ratios, starting from 1 at the mode, and are normalised by their sum: no factorials.
    """
    low, high = max(0.0, a + b - n), min(a, b)
    mean = a * b / n
    mode = min(max(math.floor((a + 1.0) * (b + 1.0) / (n + 2.0)), low), high)
    weights = 0.0
    weighted = 0.0
    for direction in (1, -1):
        x = mode
        weight = 1.0
        if direction == -1:
            if x <= low:
                continue
            weight = x * (n - a - b + x) / ((a - x + 1.0) * (b - x + 1.0))
            x -= 1.0
        while True:
            deviation = (x - mean) / mean
            term = 1.0 if x == 0.0 else (1.0 + deviation) * math.log1p(deviation) - deviation
            weights += weight
            weighted += weight * term
            if weight < NEGLIGIBLE * weights:
                break
            if direction == 1:
                if x >= high:
                    break
                weight *= (a - x) * (b - x) / ((x + 1.0) * (n - a - b + x + 1.0))
                x += 1.0
            else:
                if x <= low:
                    break
                weight *= x * (n - a - b + x) / ((a - x + 1.0) * (b - x + 1.0))
                x -= 1.0
    return mean / n * weighted / weights


def expected_mutual_information(rows: FloatArray, columns: FloatArray, totals: FloatArray) -> FloatArray:
    """Expected mutual information under the permutation model (Vinh, Epps & Bailey 2010).

    E = Σ_ij Σ_x P(x) · x/n · log(x n / (a_i b_j)), where the count x of a cell is hypergeometric.

    Parameters
    ----------
    rows, columns : ndarray of shape (n_tables, n_blocks)
        The sizes of the blocks of both partitions.
    totals : ndarray of shape (n_tables,)

    Returns
    -------
    ndarray of shape (n_tables,)
        In nats.
    """
    expected: FloatArray = _expected_of_sorted(np.sort(rows, axis=1), np.sort(columns, axis=1), totals)
    return expected


@compiled
def _expected_of_sorted(rows: FloatArray, columns: FloatArray, totals: FloatArray) -> FloatArray:
    """Sum over pairs of sizes, sorted: equal ones are taken together, so that n singletons cost as much as one block.

    Many tables have pairs of sizes in common: what was last computed in a slot of `memory` is not computed again.
    """
    result = np.zeros(rows.shape[0])
    n_slots = 1
    while n_slots < min(2 * rows.size * columns.shape[1], MOST_SLOTS):
        n_slots *= 2
    memory = np.zeros((n_slots, 4))  # two sizes, the total, and the expectation of their cell
    for t in range(rows.shape[0]):
        row_sizes, column_sizes = rows[t], columns[t]
        i = 0
        while i < row_sizes.size:
            i_next = i
            while i_next < row_sizes.size and row_sizes[i_next] == row_sizes[i]:
                i_next += 1
            j = 0
            while row_sizes[i] > 0 and j < column_sizes.size:
                j_next = j
                while j_next < column_sizes.size and column_sizes[j_next] == column_sizes[j]:
                    j_next += 1
                if column_sizes[j] > 0:
                    times = float(i_next - i) * float(j_next - j)
                    low, high = min(row_sizes[i], column_sizes[j]), max(row_sizes[i], column_sizes[j])
                    known = memory[(int(low) * 40503 + int(high) * 9973 + int(totals[t])) & (n_slots - 1)]
                    if known[0] != low or known[1] != high or known[2] != totals[t]:
                        known[0], known[1], known[2] = low, high, totals[t]
                        known[3] = _expected_cell(low, high, totals[t])
                    result[t] += times * known[3]
                j = j_next
            i = i_next
    return result
