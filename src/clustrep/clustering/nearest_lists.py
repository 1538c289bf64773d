"""The nearest few of a study's points for every point of another set: found once, they serve every draw.

The nearest drawn point is the first of its list that was drawn. Lists end where two points are as near as rounding, and
where none of a list was drawn, or too few, the drawn points are searched: so that the result is that of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clustrep.clustering.approximate import approximates, keep_approximate_lists
from clustrep.clustering.neighbours import certain_nearest
from clustrep.clustering.sample import PointSet
from clustrep.types import FloatArray, IntArray

# Points in a list, for each that is needed. A draw of the bootstrap has 63 % of a study's points: it lacks all eight of
# one point in 3,000.
KEPT = 8
# Bytes of all lists of a run.
MOST_KEPT = 10**9


def keep_lists(
    places: Sequence[PointSet], asked: Sequence[PointSet], n_nearest: int = 1, *, each_alone: bool = False
) -> None:
    """Find the lists of all points that are asked about in all places, unless distances between all are kept anyway.

    each_alone : only the points of a place itself are asked about, and once: an exact search needs no lists for that
    """
    n_kept = KEPT * n_nearest
    small = 4 * n_kept * len(places) * sum(map(len, asked)) <= MOST_KEPT
    for points in places:
        unknown = [
            others for others in ([points] if each_alone else asked) if points.nearest_kept(others, n_kept) is None
        ]
        if approximates(points, "euclidean"):
            keep_approximate_lists(points, unknown, n_kept)
        elif small and not each_alone and not points.keeps_others:
            for others in unknown:
                points.keep_nearest(others, certain_nearest(points.X, others.X, n_kept))


@dataclass(frozen=True, eq=False)
class NearestOfDrawn:
    """Which of a study's drawn points are nearest to each point of a set: by lists, where there are any.

    position : (n_points,), which of the points searched each of the study's is; -1 where it is none of them
    search : finds them among the points searched, (n_rows,) or (n_rows, n_nearest)
    """

    points: PointSet | None  # None: without lists, as in another process
    position: IntArray
    search: Callable[[FloatArray], IntArray]
    n_nearest: int = 1

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "points": None}

    def __call__(self, others: PointSet) -> IntArray:
        """Return their positions for every other point, (n_others, n_nearest)."""
        lists = None if self.points is None else self.points.nearest_kept(others, self.n_nearest)
        if lists is None:
            return self.search(others.X).reshape(len(others), -1)
        candidates = np.append(self.position, -1)[lists]  # also -1 where a list ends
        if self.n_nearest == 1:
            first = (candidates >= 0).argmax(axis=1)[:, None]
        else:
            candidates = without_repeats(candidates)
            first = np.argsort(candidates < 0, axis=1, kind="stable")[:, : self.n_nearest]
        listed = np.take_along_axis(candidates, first, axis=1)
        lacking = np.flatnonzero((listed < 0).any(axis=1))
        if len(lacking):
            listed[lacking] = self.search(others.X[lacking]).reshape(len(lacking), -1)
        return np.asarray(listed)


def without_repeats(positions: IntArray) -> IntArray:
    """Return rows in which every position stands once: copies of a point, which are one, count once."""
    result = positions.copy()
    for column in range(1, positions.shape[1]):
        repeated = (positions[:, :column] == positions[:, [column]]).any(axis=1)
        result[repeated, column] = -1
    return result
