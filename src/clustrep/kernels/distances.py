"""Squared distances between points and centres, in loops that processors run as vectors over points.

Tables are turned, (n_rows, n_columns): features as rows, with a row of zeros where their number is odd, which changes
no bit, and columns of zeros up to whole vectors, without which as much time goes into the rest of each loop.
Features are added in their order, each rounded once with the sum. Points are taken in tiles that
stay in the nearest cache while all centres are compared with them.
"""

from __future__ import annotations

import numpy as np

from clustrep.kernels.compiled import compiled, fused, vectorised
from clustrep.types import FloatArray, IntArray

TILE = 256
# Points that compiled loops take in one step, on processors with long vectors.
STRIDE = 32


@compiled
def n_rows(n_features: int) -> int:
    """Return how many rows a table has: an even number."""
    return (n_features + 1) // 2 * 2


@compiled
def n_columns(n_points: int) -> int:
    """Return how many columns a table has."""
    return (n_points + STRIDE - 1) // STRIDE * STRIDE


@compiled
def in_rows(by_feature: FloatArray, points: IntArray) -> FloatArray:
    """Copy some points, of those in (n_features, n), into a table, (n_rows, n_columns)."""
    p = by_feature.shape[0]
    table = np.zeros((n_rows(p), n_columns(points.size)))
    for f in range(p):  # an assignment of whole arrays takes three seconds to compile
        for i in range(points.size):
            table[f, i] = by_feature[f, points[i]]
    return table


# ---------------------------------------------------------------------------------------------------------------------
# the nearest of several centres


@compiled
def pad_centres(centres: FloatArray, padded: FloatArray) -> None:
    """Copy centres, (k, n_features), to rows as long as tables are high, (k, n_rows), zero beyond the features."""
    for j in range(centres.shape[0]):
        for f in range(centres.shape[1]):
            padded[j, f] = centres[j, f]


@compiled
def nearest_in_table(
    table: FloatArray, centres: FloatArray, best: FloatArray, nearest: FloatArray, sums: FloatArray
) -> None:
    """Find the nearest centre of every point, argmin_j ‖x − m_j‖², and its squared distance.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        Points, as `in_rows` has them.
    centres : ndarray of shape (k, n_rows)
        Padded as in `pad_centres`.
    best : ndarray of shape (n_columns,)
        Written: the squared distances.
    nearest : ndarray of shape (n_columns,)
        Written: the first of the nearest centres. Floats: vectors of labels and of distances have the same length.
    sums : ndarray of shape (TILE,)
        Overwritten.
    """
    n = table.shape[1]
    best[:] = np.inf
    nearest[:] = 0.0
    for begin in range(0, n, TILE):
        end = min(begin + TILE, n)
        if table.shape[0] == 2:
            _compare_two_rows(table[0, begin:end], table[1, begin:end], centres, best[begin:end], nearest[begin:end])
        else:
            _compare_rows(table, begin, end, centres, best[begin:end], nearest[begin:end], sums)


@vectorised
def _compare_two_rows(x: FloatArray, y: FloatArray, centres: FloatArray, best: FloatArray, nearest: FloatArray) -> None:
    """Compare with four centres at a time: points are read, and labels written, less often."""
    k = centres.shape[0]
    four = k // 4 * 4
    for j in range(0, four, 4):
        x0, x1, x2, x3 = centres[j, 0], centres[j + 1, 0], centres[j + 2, 0], centres[j + 3, 0]
        y0, y1, y2, y3 = centres[j, 1], centres[j + 1, 1], centres[j + 2, 1], centres[j + 3, 1]
        label = np.float64(j)
        for i in range(best.size):
            a, b = x[i] - x0, y[i] - y0
            d0 = fused(b, b, a * a)
            a, b = x[i] - x1, y[i] - y1
            d1 = fused(b, b, a * a)
            a, b = x[i] - x2, y[i] - y2
            d2 = fused(b, b, a * a)
            a, b = x[i] - x3, y[i] - y3
            d3 = fused(b, b, a * a)
            low, j_low = best[i], nearest[i]
            j_low = label if d0 < low else j_low
            low = d0 if d0 < low else low
            j_low = label + 1.0 if d1 < low else j_low
            low = d1 if d1 < low else low
            j_low = label + 2.0 if d2 < low else j_low
            low = d2 if d2 < low else low
            j_low = label + 3.0 if d3 < low else j_low
            low = d3 if d3 < low else low
            best[i] = low
            nearest[i] = j_low
    for j in range(four, k):
        x0, y0, label = centres[j, 0], centres[j, 1], np.float64(j)
        for i in range(best.size):
            a, b = x[i] - x0, y[i] - y0
            d0 = fused(b, b, a * a)
            nearest[i] = label if d0 < best[i] else nearest[i]
            best[i] = d0 if d0 < best[i] else best[i]


@vectorised
def _compare_rows(
    table: FloatArray,
    begin: int,
    end: int,
    centres: FloatArray,
    best: FloatArray,
    nearest: FloatArray,
    sums: FloatArray,
) -> None:
    """Compare the points of a tile with one centre after the other."""
    for j in range(centres.shape[0]):
        _squares(table, begin, end, centres[j], sums)
        label = np.float64(j)
        for i in range(best.size):
            nearest[i] = label if sums[i] < best[i] else nearest[i]
            best[i] = sums[i] if sums[i] < best[i] else best[i]


@vectorised
def _squares(table: FloatArray, begin: int, end: int, point: FloatArray, squares: FloatArray) -> None:
    """Compute the squared distances of a tile's points to another point: two rows at a time."""
    x, y, x0, y0 = table[0, begin:end], table[1, begin:end], point[0], point[1]
    for i in range(end - begin):
        a, b = x[i] - x0, y[i] - y0
        squares[i] = fused(b, b, a * a)
    for f in range(2, table.shape[0], 2):
        x, y, x0, y0 = table[f, begin:end], table[f + 1, begin:end], point[f], point[f + 1]
        for i in range(end - begin):
            a, b = x[i] - x0, y[i] - y0
            squares[i] = fused(b, b, fused(a, a, squares[i]))


# ---------------------------------------------------------------------------------------------------------------------
# candidates for a new centre


@compiled
def weigh_in_table(
    table: FloatArray,
    candidates: IntArray,
    weights: FloatArray,
    closest: FloatArray,
    sums: FloatArray,
    potentials: FloatArray,
) -> None:
    """Sum the weighted squared distances to the nearest centre, were a candidate c one: Σ w_i min(d_i, ‖x_i − x_c‖²).

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        Points, as `in_rows` has them.
    candidates : ndarray of shape (n_candidates,)
    weights : ndarray of shape (n_columns,)
        w, zero for the columns of zeros.
    closest : ndarray of shape (n_columns,)
        d, the squared distances to the nearest centre so far.
    sums : ndarray of shape (TILE,)
        Overwritten.
    potentials : ndarray of shape (n_candidates,)
        Written.
    """
    m = candidates.size
    c = 0
    if table.shape[0] == 2:
        x, y = table[0], table[1]
        if m % 2 == 1 and m > 1:
            _weigh_three(x, y, candidates[:3], weights, closest, potentials[:3])
            c = 3
        while m - c >= 2:
            _weigh_two(x, y, candidates[c : c + 2], weights, closest, potentials[c : c + 2])
            c += 2
    if c < m:
        _weigh_all(table, candidates[c:], weights, closest, sums, potentials[c:])


@vectorised
def _weigh_three(
    x: FloatArray, y: FloatArray, points: IntArray, weights: FloatArray, closest: FloatArray, potentials: FloatArray
) -> None:
    """Weigh three candidates at once: points are read less often."""
    x0, x1, x2, y0, y1, y2 = x[points[0]], x[points[1]], x[points[2]], y[points[0]], y[points[1]], y[points[2]]
    p0 = p1 = p2 = 0.0
    for i in range(weights.size):
        near, w = closest[i], weights[i]
        a, b = x[i] - x0, y[i] - y0
        d = fused(b, b, a * a)
        p0 += w * (d if d < near else near)
        a, b = x[i] - x1, y[i] - y1
        d = fused(b, b, a * a)
        p1 += w * (d if d < near else near)
        a, b = x[i] - x2, y[i] - y2
        d = fused(b, b, a * a)
        p2 += w * (d if d < near else near)
    potentials[0] = p0
    potentials[1] = p1
    potentials[2] = p2


@vectorised
def _weigh_two(
    x: FloatArray, y: FloatArray, points: IntArray, weights: FloatArray, closest: FloatArray, potentials: FloatArray
) -> None:
    """Weigh two candidates at once."""
    x0, x1, y0, y1 = x[points[0]], x[points[1]], y[points[0]], y[points[1]]
    p0 = p1 = 0.0
    for i in range(weights.size):
        near, w = closest[i], weights[i]
        a, b = x[i] - x0, y[i] - y0
        d = fused(b, b, a * a)
        p0 += w * (d if d < near else near)
        a, b = x[i] - x1, y[i] - y1
        d = fused(b, b, a * a)
        p1 += w * (d if d < near else near)
    potentials[0] = p0
    potentials[1] = p1


@vectorised
def _weigh_all(
    table: FloatArray,
    candidates: IntArray,
    weights: FloatArray,
    closest: FloatArray,
    sums: FloatArray,
    potentials: FloatArray,
) -> None:
    """Weigh candidates among points with any number of features."""
    potentials[:] = 0.0
    for begin in range(0, weights.size, TILE):
        end = min(begin + TILE, weights.size)
        w, near = weights[begin:end], closest[begin:end]
        for t in range(candidates.size):
            _squares(table, begin, end, _point(table, candidates[t]), sums)
            potential = 0.0
            for i in range(w.size):
                d, low = sums[i], near[i]
                potential += w[i] * (d if d < low else low)
            potentials[t] += potential


@compiled
def _point(table: FloatArray, column: int) -> FloatArray:
    """Return a point in double precision: differences from it are, even where the table is in single precision."""
    point = np.empty(table.shape[0])
    for f in range(point.size):
        point[f] = table[f, column]
    return point


@vectorised
def draw_near_in_table(table: FloatArray, pick: int, closest: FloatArray, sums: FloatArray) -> None:
    """Let the squared distances to the nearest centre, (n_columns,), include a point that becomes one."""
    point = _point(table, pick)
    for begin in range(0, closest.size, TILE):
        end = min(begin + TILE, closest.size)
        near = closest[begin:end]
        _squares(table, begin, end, point, sums)
        for i in range(near.size):
            near[i] = sums[i] if sums[i] < near[i] else near[i]


# ---------------------------------------------------------------------------------------------------------------------
# Squared distances between the points of one table, in loops that processors run as vectors over points


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
    """Write the squared distances of all points up to some columns to these, Σ_f (x_if − x_jf)², and the mirror image.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        Points, as `in_fours` has them.
    begin, end : int
        The columns [begin, end): multiples of WIDTH.
    squares : ndarray of shape (n, n)
        Written.
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
