"""How often pairs of points share a cluster."""

from __future__ import annotations

import numpy as np

from clustrep.kernels.compiled import compiled
from clustrep.types import FloatArray, IntArray


@compiled
def count_together(codes: IntArray, first: IntArray, second: IntArray, together: IntArray, both: IntArray) -> None:
    """Count for every listed pair the replicates that have both points, and those in which both have the same code.

    codes : (n_points, n_replicates), −1 where a point is not in a replicate
    first, second : (n_pairs,)
    together, both : (n_pairs,), written
    """
    for pair in range(len(first)):
        one, other = codes[first[pair]], codes[second[pair]]
        n_both = n_together = 0
        for b in range(len(one)):
            present = (one[b] >= 0) & (other[b] >= 0)
            n_both += present
            n_together += present & (one[b] == other[b])
        both[pair], together[pair] = n_both, n_together


# ---------------------------------------------------------------------------------------------------------------------
# Mean and spread of the scores of many points over resamples


@compiled
def add_scores(tables: FloatArray, rows: IntArray, columns: IntArray, counts: FloatArray, totals: FloatArray) -> None:
    """Count the scores of every point that are numbers, and add them up, one resample after the other.

    tables : (n_resamples, k_rows, k_columns); rows, columns : (n_resamples, n_points); counts, totals : (n_points,)
    """
    for b in range(len(tables)):
        for i in range(len(totals)):
            score = tables[b, rows[b, i], columns[b, i]]
            if not np.isnan(score):
                counts[i] += 1.0
                totals[i] += score


@compiled
def add_squares(tables: FloatArray, rows: IntArray, columns: IntArray, means: FloatArray, squares: FloatArray) -> None:
    """Add up the squared distances of every point's scores from its mean, as `add_scores` adds scores."""
    for b in range(len(tables)):
        for i in range(len(squares)):
            difference = tables[b, rows[b, i], columns[b, i]] - means[i]
            if not np.isnan(difference):
                squares[i] += difference * difference


# ---------------------------------------------------------------------------------------------------------------------
# Distances between empirical distribution functions


@compiled
def integrate_steps(values: FloatArray, order: IntArray, integrals: FloatArray) -> None:
    """Integrate the squared difference between the distribution function of every row, G_b, and that of all rows, Ḡ.

    Between two neighbours of all M values, sorted, Ḡ is i/M. Between two of a row's own, G_b is constant: the integral
    there is a quadratic in it, with coefficients that are differences of cumulative sums. Which of equal values comes
    first does not matter: they add nothing to the sums.

    values : (n_rows, n)
    order : (n_rows · n,), the places of all values, flattened, in ascending order
    integrals : (n_rows, n + 1), written: from each of a row's values, sorted, to the next, beginning and ending with
        the least and the largest of all
    """
    n_rows, n = values.shape
    flat = values.ravel()
    n_seen, before = np.zeros(n_rows, np.int64), np.zeros((n_rows, 3))  # sums at the last value seen of every row
    zeroth, first, second = 0.0, 0.0, 0.0
    for i in range(order.size):
        if i > 0:
            width, height = flat[order[i]] - flat[order[i - 1]], i / order.size
            zeroth += width
            first += width * height
            second += width * (height * height)
        row = order[i] // n
        integrals[row, n_seen[row]] = _integral(before[row], zeroth, first, second, n_seen[row] / n)
        before[row, 0], before[row, 1], before[row, 2] = zeroth, first, second
        n_seen[row] += 1
    for row in range(n_rows):
        integrals[row, n] = _integral(before[row], zeroth, first, second, 1.0)


@compiled
def _integral(before: FloatArray, zeroth: float, first: float, second: float, step: float) -> float:
    """Integrate (Ḡ − step)² from where the sums were those before."""
    integral: float = (second - before[2]) - 2.0 * step * (first - before[1]) + step * step * (zeroth - before[0])
    return integral


# ---------------------------------------------------------------------------------------------------------------------
# The least values of every row, kept while blocks of a large table are made one after the other


# Values that are compared with the largest kept at once, in a loop without branches.
CHUNK = 64


@compiled
def keep_least(block: FloatArray, first_column: int, values: FloatArray, columns: IntArray) -> None:
    """Bring the least values of every row up to date with further columns; of equal ones the first column stays.

    block : (n_rows, n_columns), the columns from `first_column` on
    values, columns : (n_rows, n_kept), the least values so far in ascending order and where they are, changed
    """
    n_kept = values.shape[1]
    for i in range(block.shape[0]):
        row, least, where = block[i], values[i], columns[i]
        largest = least[n_kept - 1]
        for begin in range(0, len(row), CHUNK):
            end = min(begin + CHUNK, len(row))
            n_less = 0
            for j in range(begin, end):
                n_less += row[j] < largest
            if n_less == 0:
                continue
            for j in range(begin, end):
                if row[j] < largest:
                    place = n_kept - 1
                    while place > 0 and row[j] < least[place - 1]:
                        least[place], where[place] = least[place - 1], where[place - 1]
                        place -= 1
                    least[place], where[place] = row[j], first_column + j
                    largest = least[n_kept - 1]
