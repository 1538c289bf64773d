"""Agglomerative trees of weighted points: one for all numbers of clusters.

The tree of scikit-learn's `AgglomerativeClustering` on repeated rows, from the distinct ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clustrep._engine import ReplicateFailure, run_in_pieces
from clustrep._kernels import trees
from clustrep._points import TOO_LARGE, PointSet, pairwise_distances
from clustrep._types import FloatArray, IntArray
from clustrep.errors import DataError

LINKAGES = {"ward": trees.WARD, "complete": trees.COMPLETE, "average": trees.AVERAGE, "single": trees.SINGLE}
# Numbers that a kernel compares before it lets an interrupt be heard: well below half a second.
BUDGET = 50_000_000
# A matrix of distances larger than this, in bytes, is not made.
LARGEST_MATRIX = 4 * 10**9


@dataclass(frozen=True, eq=False)
class Tree:
    """Merges in order of height, (n − 1, 2): each names one point of either cluster."""

    merges: IntArray
    heights: FloatArray  # (n − 1,)

    def cut(self, n_clusters: int) -> IntArray:
        """Undo the last merges, as many as it takes: labels in the order of the clusters' first points, (n,)."""
        return np.asarray(trees.cut_tree(self.merges, n_clusters))


def build_tree(points: PointSet, weights: IntArray, linkage: str, metric: str = "euclidean") -> Tree:
    """Build the tree of the points that have a weight; its points are these, in their order."""
    drawn = np.flatnonzero(weights)
    n = len(drawn)
    sizes, gone = weights[drawn].astype(float), np.zeros(n)
    merges, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    place = (sizes, gone, merges, heights, np.zeros(n, np.int64), np.zeros(2, np.int64))
    if 8 * n**2 <= LARGEST_MATRIX:
        work = _start(points, drawn, sizes, LINKAGES[linkage], metric)
        run_in_pieces(trees.merge_by_distance, work, LINKAGES[linkage], *place, BUDGET)
    elif linkage == "ward":
        centres = points.X[drawn].T.astype(float, order="C")
        if not np.isfinite(n * np.square(np.ptp(centres, axis=1)).sum()):
            raise ReplicateFailure(TOO_LARGE)
        run_in_pieces(trees.merge_ward, centres, *place, BUDGET)
    else:
        raise DataError(
            f"{linkage.capitalize()} linkage of {n:,} different points needs a matrix of distances of "
            f"{8 * n**2 / 1e9:,.0f} GB: use Ward linkage, which needs none, or fewer points (Subsample)."
        )
    order = np.argsort(heights, kind="stable")
    return Tree(merges[order], heights[order])


def _start(points: PointSet, drawn: IntArray, weights: FloatArray, linkage: int, metric: str) -> FloatArray:
    """Dissimilarities between the drawn points, to be overwritten."""
    squared = metric == "euclidean"
    name = "sqeuclidean" if squared else metric
    if points.shares_distances:
        distances, rows = np.require(points.distances(name), requirements=["C", "W"]), drawn
        work: FloatArray = np.empty((len(drawn), len(drawn)))
    else:
        rows = np.arange(len(drawn))
        work = distances = pairwise_distances(points.X[drawn], name)
    # Roots change no order, and average linkage alone does more than compare.
    root = squared and linkage == trees.AVERAGE
    if not trees.start_dissimilarities(distances, rows, weights, linkage, root, work):
        raise ReplicateFailure(TOO_LARGE)
    return work
