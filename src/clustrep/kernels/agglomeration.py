"""Agglomerative trees of weighted points by chains of nearest neighbours (Murtagh 1983; Müllner 2011).

A tree is its merges, (n − 1, 2): in order of height, each names one point of either cluster. All four linkages are
reducible, so merging neighbours that are each other's nearest gives the tree of the greedy algorithm. The kernels
stop once more than `budget` numbers were compared, and go on from there when called again with the same arrays.
"""

from __future__ import annotations

import math

import numpy as np

from clustrep.kernels.compiled import compiled, vectorised
from clustrep.types import BoolArray, FloatArray, IntArray

WARD, COMPLETE, AVERAGE, SINGLE = 0, 1, 2, 3


@vectorised
def start_dissimilarities(
    distances: FloatArray, rows: IntArray, weights: FloatArray, linkage: int, root: bool, work: FloatArray
) -> bool:
    """Take the dissimilarities between some rows of a table of distances, infinite to themselves.

    Ward's are 2wᵢwⱼ / (wᵢ + wⱼ) · ‖xᵢ − xⱼ‖², from squared distances; those of other linkages do not depend on weights.

    Parameters
    ----------
    distances : ndarray of shape (n_points, n_points)
    rows : ndarray of shape (n,)
    weights : ndarray of shape (n,)
    linkage : int
        WARD, COMPLETE, AVERAGE or SINGLE.
    root : bool
        Whether to take roots of squared distances.
    work : ndarray of shape (n, n)
        Written.

    Returns
    -------
    bool
        Whether all of them are finite.
    """
    n = rows.size
    total = 0.0
    for i in range(n):
        row, out = distances[rows[i]], work[i]
        for j in range(n):
            d = row[rows[j]]
            if linkage == WARD:
                d *= 2.0 * weights[i] * weights[j] / (weights[i] + weights[j])
            elif root:
                d = np.sqrt(d)
            out[j] = d
            total += d
        out[i] = np.inf
    return math.isfinite(total)


@compiled
def merge_points(
    work: FloatArray | None,
    centres: FloatArray | None,
    linkage: int,
    sizes: FloatArray,
    gone: FloatArray,
    merges: IntArray,
    heights: FloatArray,
    chain: IntArray,
    state: IntArray,
    budget: int,
) -> bool:
    """Build a tree, from dissimilarities or for Ward's linkage from points.

    work : (n, n), dissimilarities with an infinite diagonal, overwritten; None: `centres` is given
    centres : (n_features, n), points, overwritten with clusters' centres: with the sizes, Ward's dissimilarities follow
        from them, without any matrix; None: `work` is given
    sizes : (n,), the weights, overwritten
    gone, chain : (n,), zero at first
    state : (2,), zero at first: counts the merges and the links of the chain
    merges, heights : (n − 1, 2) and (n − 1,), written, in the order of making
    """
    n = sizes.size
    row = np.empty(n)
    spent = 0
    while state[0] < n - 1:
        if state[1] == 0:
            chain[0] = _first_equal(gone, gone, 0.0)
            state[1] = 1
        x = chain[state[1] - 1]
        before = chain[state[1] - 2] if state[1] > 1 else -1
        # Numba omits the branch for an argument that is None only with this form of the condition.
        if centres is not None:
            _ward_row(centres, sizes, x, row)
            spent += n * centres.shape[0]
        if work is not None:
            row = work[x]
            spent += n
        low = _lowest(row, gone)
        if before < 0 or low < row[before]:
            chain[state[1]] = _first_equal(row, gone, low)
            state[1] += 1
        else:
            y = before  # each is the other's nearest
            merges[state[0], 0] = x
            merges[state[0], 1] = y
            heights[state[0]] = row[y]
            gone[x] = np.inf
            if centres is not None:
                for f in range(centres.shape[0]):
                    centres[f, y] = (sizes[x] * centres[f, x] + sizes[y] * centres[f, y]) / (sizes[x] + sizes[y])
            if work is not None:
                _join(work, linkage, x, y, sizes, gone)
                spent += 4 * n
            sizes[y] += sizes[x]
            state[0] += 1
            state[1] = _without(chain, state[1] - 2, x, y)
        if spent > budget and state[0] < n - 1:
            return False
    return True


@compiled
def _without(chain: IntArray, length: int, x: int, y: int) -> int:
    """Cut a chain before either of two clusters: among equals, rounding can lead it to the same one twice."""
    for link in range(length):
        if chain[link] == x or chain[link] == y:
            return link
    return length


@vectorised
def _lowest(row: FloatArray, gone: FloatArray) -> float:
    low = np.inf
    for i in range(row.size):
        d = row[i] + gone[i]
        low = d if d < low else low
    return low


@compiled
def _first_equal(row: FloatArray, gone: FloatArray, value: float) -> int:
    for i in range(row.size):
        if row[i] + gone[i] == value:
            return i
    return -1


@compiled
def _join(work: FloatArray, linkage: int, x: int, y: int, sizes: FloatArray, gone: FloatArray) -> None:
    """Put the dissimilarities of x ∪ y into row and column y (Lance & Williams 1967)."""
    from_x, from_y = work[x], work[y]
    n_x, n_y, between = sizes[x], sizes[y], work[x, y]
    n = gone.size
    if linkage == WARD:
        for i in range(n):
            joint = (n_x + sizes[i]) * from_x[i] + (n_y + sizes[i]) * from_y[i] - sizes[i] * between
            from_y[i] = joint / (n_x + n_y + sizes[i])
    elif linkage == AVERAGE:
        for i in range(n):
            from_y[i] = (n_x * from_x[i] + n_y * from_y[i]) / (n_x + n_y)
    elif linkage == COMPLETE:
        for i in range(n):
            from_y[i] = from_x[i] if from_x[i] > from_y[i] else from_y[i]
    else:
        for i in range(n):
            from_y[i] = from_x[i] if from_x[i] < from_y[i] else from_y[i]
    from_y[y] = np.inf
    for i in range(n):
        if gone[i] == 0.0:
            work[i, y] = from_y[i]


@vectorised
def _ward_row(centres: FloatArray, sizes: FloatArray, x: int, row: FloatArray) -> None:
    row[:] = 0.0
    for f in range(centres.shape[0]):
        values = centres[f]
        c = values[x]
        for i in range(row.size):
            difference = values[i] - c
            row[i] += difference * difference
    for i in range(row.size):
        row[i] *= 2.0 * sizes[x] * sizes[i] / (sizes[x] + sizes[i])
    row[x] = np.inf


@compiled
def _root(parent: IntArray, point: int) -> int:
    """Return the first point of a cluster, and let its other points lead there in fewer steps."""
    while parent[point] != point:
        parent[point] = parent[parent[point]]
        point = parent[point]
    return point


@compiled
def cut_tree(merges: IntArray, n_clusters: int) -> IntArray:
    """Undo the last `n_clusters` − 1 merges; clusters are numbered in the order of their first points.

    Parameters
    ----------
    merges : ndarray of shape (n − 1, 2)
        In the order of their heights.
    n_clusters : int

    Returns
    -------
    ndarray of shape (n,)
    """
    n = merges.shape[0] + 1
    parent = np.arange(n)
    for m in range(n - n_clusters):
        a, b = _root(parent, merges[m, 0]), _root(parent, merges[m, 1])
        parent[max(a, b)] = min(a, b)
    labels = np.empty(n, np.int32)
    n_found = 0
    for i in range(n):
        if parent[i] == i:
            labels[i] = n_found
            n_found += 1
        else:  # a root comes before all of its points
            labels[i] = labels[_root(parent, i)]
    return labels


@compiled
def cut_tree_often(merges: IntArray, numbers: IntArray, is_counted: BoolArray) -> tuple[IntArray, IntArray]:
    """Cut a tree into several numbers of clusters; also count the clusters of some points in every cut.

    Parameters
    ----------
    merges : ndarray of shape (n − 1, 2)
        In the order of their heights.
    numbers : ndarray of shape (n_cuts,)
        How many clusters each cut has.
    is_counted : ndarray of shape (n,)

    Returns
    -------
    cuts : ndarray of shape (n_cuts, n)
    n_counted : ndarray of shape (n_cuts,)
    """
    n = merges.shape[0] + 1
    cuts, n_counted = np.empty((numbers.size, n), np.int32), np.zeros(numbers.size, np.int64)
    for c in range(numbers.size):
        cut, seen = cut_tree(merges, numbers[c]), np.zeros(n, np.bool_)
        for i in range(n):
            cuts[c, i] = cut[i]
            if is_counted[i] and not seen[cuts[c, i]]:
                seen[cuts[c, i]] = True
                n_counted[c] += 1
    return cuts, n_counted
