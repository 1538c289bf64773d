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
    """Fill `work`, (n, n), with the dissimilarities between some rows of a table of distances, infinite to themselves.

    Ward's are 2wᵢwⱼ / (wᵢ + wⱼ) · ‖xᵢ − xⱼ‖², from squared distances; `root` takes roots of squared distances.
    Returns whether all of them are finite.
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
def merge_by_distance(
    work: FloatArray,
    linkage: int,
    sizes: FloatArray,
    gone: FloatArray,
    merges: IntArray,
    heights: FloatArray,
    chain: IntArray,
    state: IntArray,
    budget: int,
) -> bool:
    """Build a tree from dissimilarities, (n, n) with an infinite diagonal; they are overwritten.

    `sizes` are the weights, overwritten, too. `gone`, (n,), `chain`, (n,), and `state`, (2,), which counts the merges
    and the links of the chain, are zero at first. `merges` and `heights` come out in the order of making.
    """
    n = sizes.size
    spent = 0
    while state[0] < n - 1:
        if state[1] == 0:
            chain[0] = _first_equal(gone, gone, 0.0)
            state[1] = 1
        x = chain[state[1] - 1]
        before = chain[state[1] - 2] if state[1] > 1 else -1
        low = _lowest(work[x], gone)
        spent += n
        if before < 0 or low < work[x, before]:
            chain[state[1]] = _first_equal(work[x], gone, low)
            state[1] += 1
        else:
            y = before  # each is the other's nearest
            merges[state[0], 0] = x
            merges[state[0], 1] = y
            heights[state[0]] = work[x, y]
            gone[x] = np.inf
            _join(work, linkage, x, y, sizes, gone)
            sizes[y] += sizes[x]
            state[0] += 1
            state[1] = _without(chain, state[1] - 2, x, y)
            spent += 4 * n
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


@compiled
def merge_ward(
    centres: FloatArray,
    sizes: FloatArray,
    gone: FloatArray,
    merges: IntArray,
    heights: FloatArray,
    chain: IntArray,
    state: IntArray,
    budget: int,
) -> bool:
    """Build Ward's tree from points, (n_features, n), without any matrix of distances; arguments as above.

    A cluster's dissimilarities follow from its centre and its size, so `centres` is overwritten with the centres.
    """
    p, n = centres.shape
    row = np.empty(n)
    spent = 0
    while state[0] < n - 1:
        if state[1] == 0:
            chain[0] = _first_equal(gone, gone, 0.0)
            state[1] = 1
        x = chain[state[1] - 1]
        before = chain[state[1] - 2] if state[1] > 1 else -1
        _ward_row(centres, sizes, x, row)
        low = _lowest(row, gone)
        spent += n * p
        if before < 0 or low < row[before]:
            chain[state[1]] = _first_equal(row, gone, low)
            state[1] += 1
        else:
            y = before
            merges[state[0], 0] = x
            merges[state[0], 1] = y
            heights[state[0]] = row[y]
            gone[x] = np.inf
            for f in range(p):
                centres[f, y] = (sizes[x] * centres[f, x] + sizes[y] * centres[f, y]) / (sizes[x] + sizes[y])
            sizes[y] += sizes[x]
            state[0] += 1
            state[1] = _without(chain, state[1] - 2, x, y)
        if spent > budget and state[0] < n - 1:
            return False
    return True


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
def cut_tree(merges: IntArray, n_clusters: int) -> IntArray:
    """Undo the last `n_clusters` − 1 merges; clusters are numbered in the order of their first points."""
    n = merges.shape[0] + 1
    parent = np.arange(n)
    for m in range(n - n_clusters):
        a, b = merges[m]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    labels = np.empty(n, np.int32)
    n_found = 0
    for i in range(n):
        if parent[i] == i:
            labels[i] = n_found
            n_found += 1
        else:  # a root comes before all of its points
            a = parent[i]
            while parent[a] != a:
                a = parent[a]
            labels[i] = labels[a]
    return labels


@compiled
def cut_tree_often(merges: IntArray, numbers: IntArray, is_counted: BoolArray) -> tuple[IntArray, IntArray]:
    """Cut a tree into several numbers of clusters, (n_cuts, n); also count the clusters of some points in every cut."""
    n = merges.shape[0] + 1
    cuts, n_counted = np.empty((numbers.size, n), np.int32), np.zeros(numbers.size, np.int64)
    for c in range(numbers.size):
        cuts[c] = cut_tree(merges, numbers[c])
        seen = np.zeros(n, np.bool_)
        for i in range(n):
            if is_counted[i] and not seen[cuts[c, i]]:
                seen[cuts[c, i]] = True
                n_counted[c] += 1
    return cuts, n_counted
