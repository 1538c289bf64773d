"""Distances between empirical distribution functions."""

from __future__ import annotations

import numpy as np

from clustrep._kernels.compiled import compiled
from clustrep.types import FloatArray, IntArray


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
