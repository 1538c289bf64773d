"""What the kernels compute, written as the formulas stand; the tests hold the kernels to these."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, xlogy

from clustrep._types import FloatArray, IntArray


def mutual_information(
    cells: FloatArray,
    row_of_cell: IntArray,
    column_of_cell: IntArray,
    rows: FloatArray,
    columns: FloatArray,
    totals: FloatArray,
) -> FloatArray:
    """Equation (6) of the paper."""
    n = totals[:, None]
    occupied = cells > 0
    independent = rows[:, row_of_cell] * columns[:, column_of_cell]
    ratio = np.where(occupied, cells * n / np.where(occupied, independent, 1.0), 1.0)
    return np.asarray(np.maximum((cells / n * np.log(ratio)).sum(axis=1), 0.0))


def entropy(sizes: FloatArray, totals: FloatArray) -> FloatArray:
    """Entropy of a partition from the sizes of its blocks."""
    shares = sizes / totals[:, None]
    return np.asarray(-xlogy(shares, shares).sum(axis=1))


def expected_mutual_information(rows: FloatArray, columns: FloatArray, totals: FloatArray) -> FloatArray:
    """Vinh, Epps & Bailey (2010), equation (24a), with logarithms of factorials."""
    result = np.zeros(len(rows))
    for t, n in enumerate(totals):
        for a in rows[t][rows[t] > 0]:
            for b in columns[t][columns[t] > 0]:
                x = np.arange(max(1.0, a + b - n), min(a, b) + 1.0)
                log_probability = (
                    gammaln(a + 1)
                    + gammaln(b + 1)
                    + gammaln(n - a + 1)
                    + gammaln(n - b + 1)
                    - gammaln(n + 1)
                    - gammaln(x + 1)
                    - gammaln(a - x + 1)
                    - gammaln(b - x + 1)
                    - gammaln(n - a - b + x + 1)
                )
                result[t] += np.sum(x / n * np.log(n * x / (a * b)) * np.exp(log_probability))
    return result
