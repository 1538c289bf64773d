"""Landmarks for Ward's linkage: the clusters that its own first merges make, found in small pieces of a study."""

from __future__ import annotations

import numpy as np

from clustrep.clustering.landmarks import Landmarks, means_of_cells
from clustrep.clustering.sample import PointSet
from clustrep.clustering.shortcuts.trees import Tree, build_tree
from clustrep.engine.replicates import ReplicateFailure
from clustrep.types import FloatArray, IntArray

# Points of a piece whose tree is built, and how many of them become one before pieces are made anew.
PIECE, TOGETHER = 2000, 5


def ward_cells(X: FloatArray, size: int, rng: np.random.Generator) -> Landmarks:
    """Take the means of the clusters that Ward's linkage has made when so many are left.

    Means of any other small cells have less noise than clusters of the linkage's own, and repeat better than these.
    The first merges are those of near points: they are made in pieces of the study, up to the same height in all, and
    again with the means in other pieces, until few enough are left. Principal axes of
    samples at random decide where pieces end.
    """
    cells: IntArray = np.arange(len(X))
    masses: IntArray = np.ones(len(X), np.int64)
    means = X
    while len(means) > size:
        merged = _merge(means, masses, max(size, -(-len(means) // TOGETHER)), rng)
        cells = merged[cells]
        masses = np.bincount(cells)
        means = means_of_cells(X, cells).X
    return means_of_cells(X, cells)


def _merge(X: FloatArray, masses: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """Merge points with masses, the cheapest merges of all pieces first, until so many clusters are left, (n,)."""
    pieces = divide(X, rng)
    trees = [_tree(X[piece], masses[piece]) for piece in pieces]
    heights = np.concatenate([tree.heights for tree in trees])
    of_tree = np.repeat(np.arange(len(trees)), [len(tree.heights) for tree in trees])
    first = np.argsort(heights, kind="stable")[: len(X) - size]
    n_merges = np.bincount(of_tree[first], minlength=len(trees))
    cells, n_before = np.empty(len(X), np.int64), 0
    for piece, tree, n in zip(pieces, trees, n_merges, strict=True):
        cells[piece] = n_before + tree.cut(len(piece) - int(n))
        n_before += len(piece) - int(n)
    return cells


def _tree(X: FloatArray, masses: IntArray) -> Tree:
    try:
        return build_tree(PointSet(X), masses, "ward")
    except ReplicateFailure:  # distances that are no numbers: the fit will say so
        n = len(X)
        return Tree(np.column_stack([np.zeros(n - 1, np.int64), np.arange(1, n)]), np.arange(n - 1.0))


def divide(X: FloatArray, rng: np.random.Generator) -> list[IntArray]:
    """Divide points into pieces of about equal size: at medians along directions in which they spread."""
    pieces: list[IntArray] = [np.arange(len(X))]
    while len(pieces[0]) > PIECE:
        pieces = [half for piece in pieces for half in _halves(X, piece, rng)]
    return pieces


def _halves(X: FloatArray, rows: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Divide rows at the median of the first principal axis of some of them."""
    some = X[rows[rng.integers(len(rows), size=64)]].astype(float)
    some -= some.mean(axis=0)
    _, _, axes = np.linalg.svd(some, full_matrices=False)
    order = np.argsort(X[rows] @ axes[0].astype(X.dtype), kind="stable")
    middle = len(rows) // 2
    return np.sort(rows[order[:middle]]), np.sort(rows[order[middle:]])
