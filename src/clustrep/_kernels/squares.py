"""Squared distances between the points of one table, in loops that processors run as vectors over points.

Features are added in their order, each product and each sum rounded by itself: the values are those of SciPy's `cdist`,
bit for bit, several times as fast.
"""

from __future__ import annotations

import numpy as np

from clustrep._kernels.compiled import compiled
from clustrep.types import FloatArray

# Points whose distances to two others are computed together: their sums stay in the processor's registers.
WIDTH = 32
# Features that are added in one step.
DEPTH = 4


def in_fours(X: FloatArray) -> FloatArray:
    """Turn points, (n, n_features), into a table of features, (n_rows, n_columns), filled up with zeros.

    Features beyond the last that any point has are left out: they add zero to every distance.
    """
    n, p = X.shape
    used = np.flatnonzero(X.any(axis=0))
    p = int(used[-1]) + 1 if used.size else 1
    table = np.zeros((-(-p // DEPTH) * DEPTH, -(-n // WIDTH) * WIDTH))
    table[:p, :n] = X[:, :p].T
    return table


@compiled
def squares_between(table: FloatArray, begin: int, end: int, squares: FloatArray) -> None:
    """Write the squared distances of all points up to some columns, [begin, end), to these; and their mirror image.

    table : from `in_fours`
    begin, end : multiples of WIDTH
    squares : (n, n), written
    """
    n = squares.shape[0]
    sums = np.empty((2, WIDTH))
    first, second = sums[0], sums[1]
    for column in range(begin, min(end, table.shape[1]), WIDTH):
        border = column + WIDTH
        for i in range(0, border, 2):
            sums[:] = 0.0
            for f in range(0, table.shape[0], DEPTH):
                x, y = table[f, column:border], table[f + 1, column:border]
                z, u = table[f + 2, column:border], table[f + 3, column:border]
                x0, y0, z0, u0 = table[f, i], table[f + 1, i], table[f + 2, i], table[f + 3, i]
                x1, y1, z1, u1 = table[f, i + 1], table[f + 1, i + 1], table[f + 2, i + 1], table[f + 3, i + 1]
                for j in range(WIDTH):
                    a, b, c, d = x[j] - x0, y[j] - y0, z[j] - z0, u[j] - u0
                    first[j] = (((first[j] + a * a) + b * b) + c * c) + d * d
                    a, b, c, d = x[j] - x1, y[j] - y1, z[j] - z1, u[j] - u1
                    second[j] = (((second[j] + a * a) + b * b) + c * c) + d * d
            for r in range(min(2, n - i)):
                for j in range(column, min(border, n)):
                    squares[i + r, j] = sums[r, j - column]
                    squares[j, i + r] = sums[r, j - column]
