"""Which clusters of one study are like which of another: distances between clusters, links, and words.

Pure functions of arrays. Clusters are compared as wholes, not sample by sample: where features outnumber samples, every
sample lies far from every centre that it did not help to define, while the distance between two centres, less what
their sampling errors add to it, stays unbiased.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from clustrep.results.base import FALSE_FINDING
from clustrep.results.presence_words import ABSENT, CANT_TELL, MERGED, PRESENT, SPLIT
from clustrep.types import BoolArray, FloatArray, IntArray

# All distances are in standard deviations of the training cluster along the line between the two centres.
# A cluster is like another whose centre is this close: groups have a gap between them from about 4 on, and studies may
# be shifted by 1.
LIKE = 2.5
# Pieces of a cluster that is split lie on both sides of its centre, up to here; together they are where it is.
PART = 4.0
# Two parts together must be this much closer than the closer one of them.
TOGETHER = 0.5
# Clusters agree about the shift between two studies if they are this close after it.
AGREES = 1.0
# The spread of a small cluster is averaged with that of all clusters of its study, as so many samples of it.
BORROWED = 4
# A cluster is absent where its share is below this part of its share in the training study.
SMALL_SHARE = 0.5
# Samples count as a cluster's where they lie this part of the distance beyond the middle to the next cluster.
BEYOND_MIDDLE = 1 / 6
# In a cut of one piece, clusters with at least this Jaccard overlap are the same one (Hennig 2007).
SAME_CUT = 0.5


class Clusters(NamedTuple):
    """The clusters of one study."""

    X: FloatArray  # (n, p)
    labels: IntArray  # (n,): 0, 1, …; −1 for noise
    centres: FloatArray  # (k, p)
    sizes: IntArray  # (k,)
    error: FloatArray  # (k,): expected squared distance of a centre from its true place

    @classmethod
    def of(cls, X: FloatArray, labels: IntArray) -> Clusters:
        """Summarise the clusters; every number from 0 to the largest label must occur."""
        k = int(labels.max(initial=-1)) + 1
        centres, sizes = np.zeros((k, X.shape[1])), np.zeros(k, dtype=np.int64)
        squares = np.zeros(k)
        for i in range(k):
            members = X[labels == i]
            sizes[i], centres[i] = len(members), members.mean(axis=0)
            squares[i] = ((members - centres[i]) ** 2).sum()
        variance = (squares + BORROWED * squares.sum() / max(sizes.sum() - k, 1)) / (sizes - 1 + BORROWED)
        return cls(X, labels, centres, sizes, variance / np.maximum(sizes, 1))

    def variance_along(self, i: int, directions: FloatArray) -> FloatArray:
        """Return the variance of cluster i along unit vectors, (n_directions,)."""
        known = self.labels >= 0
        along = (self.X[known] - self.centres[self.labels[known]]) @ directions.T  # (n, n_directions)
        squares, is_inside = along**2, self.labels[known] == i
        pooled = squares.sum(axis=0) / max(len(along) - len(self.sizes), 1)
        return np.asarray((squares[is_inside].sum(axis=0) + BORROWED * pooled) / (is_inside.sum() - 1 + BORROWED))


# ---------------------------------------------------------------------------------------------------------------------
# distances


def distances(train: Clusters, test: Clusters, shift: Shift | None = None) -> FloatArray:
    """Return how far the clusters of a test study are from those of a training study, (k_train, k_test).

    With c the centres, e their expected squared errors and σ_i(u) the standard deviation of training cluster i along u,

        D[i, j]² = ( |c_j − shift − c_i|² − e_i − e_j ) / σ_i(u)²,   u along c_j − shift − c_i.
    """
    shift = shift or Shift.none(train, test)
    result = np.zeros((len(train.sizes), len(test.sizes)))
    for i in range(len(train.sizes)):
        weights = np.eye(len(test.sizes))
        result[i] = _distances_to(train, i, test, weights, shift)
    return result


def _distances_to(train: Clusters, i: int, test: Clusters, weights: FloatArray, shift: Shift) -> FloatArray:
    """Return the distances of weighted means of test clusters, (n_means, k_test), from training cluster i."""
    differences = weights @ test.centres - shift.vector - train.centres[i]
    of_train = -np.eye(len(train.sizes))[i] + shift.of_train  # what each centre contributes to the difference
    of_test = weights - shift.of_test
    error = (of_train**2) @ train.error + (of_test**2) @ test.error
    squared = (differences**2).sum(axis=1)
    directions = differences / np.sqrt(np.maximum(squared, 1e-300))[:, None]
    variance = np.maximum(train.variance_along(i, directions), 1e-300)
    return np.asarray(np.sqrt(np.maximum(squared - error, 0.0) / variance))


class Shift(NamedTuple):
    """How far a test study as a whole lies from a training study: a mean over pairs of clusters."""

    vector: FloatArray  # (p,)
    of_train: FloatArray  # (k_train,): weights of the training centres
    of_test: FloatArray  # (k_test,)

    @classmethod
    def none(cls, train: Clusters, test: Clusters) -> Shift:
        """No shift."""
        return cls.of(train, test, np.empty((0, 2), dtype=np.int64))

    @classmethod
    def of(cls, train: Clusters, test: Clusters, pairs: IntArray) -> Shift:
        """Average the differences of pairs of clusters, (n_pairs, 2)."""
        of_train, of_test = np.zeros(len(train.sizes)), np.zeros(len(test.sizes))
        of_train[pairs[:, 0]] = of_test[pairs[:, 1]] = 1 / max(len(pairs), 1)
        return cls(of_test @ test.centres - of_train @ train.centres, of_train, of_test)

    def reversed(self) -> Shift:
        """Return how far the training study lies from the test study."""
        return Shift(-self.vector, self.of_test, self.of_train)


def find_shift(train: Clusters, test: Clusters) -> Shift:
    """Estimate the shift between two studies from the clusters that both have.

    One pair of clusters does not determine it: any cluster can be moved onto any other by a shift. It takes two pairs
    or more that agree about it, because a cluster that is split or merged moves by itself; and it must be less than
    half the smallest distance between two clusters of a study, so that no cluster is taken for its neighbour. Of
    several, the one that pairs most clusters is taken, then the smallest.
    """
    if min(len(train.sizes), len(test.sizes)) < 2:
        return Shift.none(train, test)
    # Each study's spread is the unit of one direction: both are tried, so that the shift is the same from either side.
    key, shift = _best_shift(train, test)
    back_key, back = _best_shift(test, train)
    return back.reversed() if back_key > key else shift


def _best_shift(train: Clusters, test: Clusters) -> tuple[tuple[int, float], Shift]:
    """Return the shift that pairs most clusters, in units of the training study: (pairs, −length), and the shift."""
    none = Shift.none(train, test)
    limit = min(_smallest_distance(train), _smallest_distance(test)) / 2
    best, best_key = none, (0, 0.0)
    for i, j in [(-1, -1), *np.ndindex(len(train.sizes), len(test.sizes))]:
        start = none if i < 0 else Shift.of(train, test, np.array([[i, j]]))
        if np.sqrt((start.vector**2).sum()) > limit:
            continue
        pairs = mutual_pairs(distances(train, test, start._replace(of_train=none.of_train, of_test=none.of_test)))
        shift = Shift.of(train, test, pairs)
        length = float(np.sqrt((shift.vector**2).sum()))
        if len(pairs) < 2 or length > limit or (len(pairs), -length) <= best_key:
            continue
        if distances(train, test, shift)[pairs[:, 0], pairs[:, 1]].max() <= AGREES:
            best, best_key = shift, (len(pairs), -length)
    return best_key, best


def mutual_pairs(apart: FloatArray) -> IntArray:
    """Return pairs of clusters that are each other's nearest, and like each other, (n_pairs, 2)."""
    nearest = apart.argmin(axis=1)
    return np.array(
        [(i, j) for i, j in enumerate(nearest) if apart[:, j].argmin() == i and apart[i, j] <= LIKE], dtype=np.int64
    ).reshape(-1, 2)


def _smallest_distance(clusters: Clusters) -> float:
    squared = ((clusters.centres[:, None] - clusters.centres[None]) ** 2).sum(axis=-1)
    squared = squared - clusters.error[:, None] - clusters.error
    apart = squared[np.triu_indices(len(squared), 1)]
    return float(np.sqrt(max(apart.min(), 0.0)))


# ---------------------------------------------------------------------------------------------------------------------
# links


def links(first: Clusters, second: Clusters) -> BoolArray:
    """Return which clusters of two studies are linked, (k_first, k_second); the same whichever study is first.

    A pair is linked where the cluster of one study is a counterpart, or one of several parts, of the other's.
    """
    shift = find_shift(first, second)
    return parts(first, second, shift) | parts(second, first, shift.reversed()).T


def distances_either_way(first: Clusters, second: Clusters, shift: Shift) -> FloatArray:
    """Return distances in the spread of either cluster, whichever is smaller, (k_first, k_second)."""
    return np.minimum(distances(first, second, shift), distances(second, first, shift.reversed()).T)


def with_groups(linked: BoolArray, apart: FloatArray, same_group: BoolArray) -> BoolArray:
    """Link clusters without any link that all studies together put into the same group, up to the distance PART.

    Where features outnumber samples, clusters of a single study are blurred, and farther apart than they should be.
    """
    lonely = ~linked.any(axis=1, keepdims=True) & ~linked.any(axis=0, keepdims=True)
    return np.asarray(linked | (lonely & same_group & (apart <= PART)))


def parts(train: Clusters, test: Clusters, shift: Shift) -> BoolArray:
    """Return which test clusters are counterparts, or parts, of which training cluster, (k_train, k_test)."""
    apart = distances(train, test, shift)
    nearest = apart.argmin(axis=0)  # by test cluster
    result = np.zeros(apart.shape, dtype=bool)
    for i in range(len(apart)):
        candidates = (nearest == i) & (apart[i] <= PART)
        inside = (nearest == i) & (apart[i] <= LIKE)
        if candidates.sum() > 1:
            weights = np.where(candidates, test.sizes, 0) / test.sizes[candidates].sum()
            (together,) = _distances_to(train, i, test, weights[None], shift)
            if together <= min(LIKE, TOGETHER * apart[i, candidates].min()):
                inside = candidates
        result[i] = inside
    return result


# ---------------------------------------------------------------------------------------------------------------------
# words


def word_of(linked: BoolArray, i: int, is_rare: bool) -> str:
    """Return the word for training cluster i, from its links, (k_train, k_test)."""
    of_cluster = np.flatnonzero(linked[i])
    if len(of_cluster) == 0:
        return ABSENT if is_rare else CANT_TELL
    if len(of_cluster) > 1:
        return SPLIT
    return MERGED if linked[:, of_cluster[0]].sum() > 1 else PRESENT


def count_strays(train: Clusters, i: int, test: Clusters, shift: Shift) -> int:
    """Count samples of a test study that lie nearer to training cluster i than to any cluster of their own study.

    They must lie clearly beyond the middle between the two: the tails of the study's own clusters do not count.
    """
    centre = train.centres[i] + shift.vector
    to_cluster = ((test.X - centre) ** 2).sum(axis=1)
    beyond = np.ones(len(test.X), dtype=bool)
    for test_centre in test.centres:
        length_squared = ((test_centre - centre) ** 2).sum()
        beyond &= ((test.X - test_centre) ** 2).sum(axis=1) - to_cluster > 2 * BEYOND_MIDDLE * length_squared
    return int(beyond.sum())


def is_rare(count: int, n: int, share: float) -> bool:
    """Whether a cluster's share is below SMALL_SHARE of that in the training study: exact binomial test."""
    rate = SMALL_SHARE * share
    # P(Binomial(n, rate) <= count)
    return count < n and bool(betainc(n - count, count + 1, 1 - rate) <= FALSE_FINDING)


def same_in_cut(by_train: IntArray, by_test: IntArray, i: int) -> tuple[int, int, int]:
    """Find the cluster of a test study that overlaps most with training cluster i: (cluster, shared, in either).

    Both partitions are of the test study's samples.
    """
    in_cluster = by_train == i
    best = (-1, 0, int(in_cluster.sum()))
    for j in range(int(by_test.max(initial=-1)) + 1):
        shared = int((in_cluster & (by_test == j)).sum())
        either = int((in_cluster | (by_test == j)).sum())
        if shared * best[2] > best[1] * either:
            best = (j, shared, either)
    return best
