"""Clusters that a set of samples shows by itself: valleys that one random half finds in the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from clustrep.execution.seeds import Failed
from clustrep.separation.separation import choose, clusters_of_chosen, cut_of
from clustrep.separation.valleys import WithinPieces, centres_of, gabriel_edges, log_odds_of_filled, nearest_centre
from clustrep.summaries import FALSE_FINDING
from clustrep.types import FloatArray, IntArray

# Random halves of a study, over which the median p-value is taken: a p-value of a single split depends on the split.
# After the first ones and again later, the others are tried only if they could change the answer: all splits but one
# without a sign of clusters, or with the same number of clusters at p-values that are clear, do not leave it open.
SPLITS = (3, 5, 11)
NO_SIGN, CLEAR = 0.2, 1e-3
# Samples that a cluster must have on average, and that a study must have to be tested by itself.
SAMPLES_PER_CLUSTER, FEWEST_SAMPLES = 8, 16


class Propose(Protocol):
    """A function from several tables of samples to their partitions by every configuration: [table][configuration]."""

    def __call__(self, tables: Sequence[FloatArray], *, first: int = 0) -> Sequence[Sequence[IntArray | Failed]]:
        """Partition tables; `first` is the number of the first one, from which the clusterers' seeds follow."""


class OwnClusters(NamedTuple):
    """What a set of samples shows by itself."""

    pvalue: float  # adjusted for the configurations that were tried
    labels: IntArray  # (n_samples,): 0, 1, …; all 0 without clusters

    @property
    def n_clusters(self) -> int:
        """The number of clusters, 1 where none are separated."""
        return int(self.labels.max()) + 1


def own_clusters(X: FloatArray, propose: Propose, rng: np.random.Generator) -> OwnClusters:
    """Find clusters with valleys that the halves of a study find in each other; the median over splits decides.

    Under a unimodal density each split's p-value is valid; twice their median is, too (Rüger 1978), and the median
    itself was never above its level in the simulations of docs/exam.md, because the p-values of one split are
    conservative.
    """
    n = len(X)
    if n < FEWEST_SAMPLES:
        return OwnClusters(1.0, np.zeros(n, dtype=np.int64))
    found: list[OwnClusters] = []
    whole = None
    for n_splits in SPLITS:
        folds = []
        for _ in range(n_splits - len(found)):
            fold = np.zeros(n, dtype=np.int64)
            fold[rng.permutation(n)[n // 2 :]] = 1
            folds.append(fold)
        halves = [X[fold != h] for fold in folds for h in (0, 1)]
        if whole is None:
            whole, *partitions = propose([X, *halves])
        else:
            partitions = list(propose(halves, first=1 + 2 * len(found)))
        found += [valleys(X, fold, [whole, *partitions[2 * r : 2 * r + 2]]) for r, fold in enumerate(folds)]
        if _agree(found):
            break
    pvalue = float(np.median([each.pvalue if each.n_clusters > 1 else 1.0 for each in found]))
    if pvalue > FALSE_FINDING:
        return OwnClusters(pvalue, np.zeros(n, dtype=np.int64))
    numbers = [each.n_clusters for each in found if each.n_clusters > 1]
    usual = max(set(numbers), key=lambda number: (numbers.count(number), -number))
    clearest = min((each for each in found if each.n_clusters == usual), key=lambda each: each.pvalue)
    return OwnClusters(pvalue, joined_where_filled(X, clearest.labels))


def _agree(found: Sequence[OwnClusters]) -> bool:
    """Whether further splits can hardly change the answer: all agree, or of five all but one."""
    at_most = len(found) // 5  # exceptions
    if sum(each.pvalue <= NO_SIGN and each.n_clusters > 1 for each in found) <= at_most:
        return True
    clear = [each.n_clusters for each in found if each.n_clusters > 1 and each.pvalue <= CLEAR]
    return max(map(clear.count, clear), default=0) >= len(found) - at_most


def valleys(X: FloatArray, fold: IntArray, partitions: Sequence[Sequence[IntArray | Failed]]) -> OwnClusters:
    """Test the partitions of all samples, and of all folds but one, for valleys in the fold that was left out.

    partitions : of all samples, then of all but the first fold, and so on; [table][configuration]
    """
    usable = [c for c, labels in enumerate(partitions[0]) if _is_fine_enough(labels)]
    if not usable:
        return OwnClusters(1.0, np.zeros(len(X), dtype=np.int64))
    cuts = [cut_of(X, fold, [of_fold[c] for of_fold in partitions], len(usable)) for c in usable]
    chosen = choose(cuts)
    if chosen is None:
        smallest = min(cut.pvalue for cut in cuts)
        return OwnClusters(min(1.0, smallest * len(usable)), np.zeros(len(X), dtype=np.int64))
    labels = cuts[chosen].labels
    groups = clusters_of_chosen(cuts, chosen)[np.maximum(labels, 0)]
    if (labels < 0).any():  # noise belongs to the nearest cluster
        known = np.where(labels >= 0, groups, -1)
        groups = np.where(labels >= 0, groups, nearest_centre(X, centres_of(X, known, int(groups.max()) + 1)))
    return OwnClusters(min(1.0, cuts[chosen].adjusted), compact(groups))


def _is_fine_enough(labels: IntArray | Failed) -> bool:
    """Whether a partition has two clusters at least, and enough samples for each on average."""
    if isinstance(labels, Failed):
        return False
    n_clusters = int(labels.max(initial=-1)) + 1
    return 2 <= n_clusters <= max(2, len(labels) // SAMPLES_PER_CLUSTER)


def joined_where_filled(X: FloatArray, labels: IntArray) -> IntArray:
    """Join neighbouring clusters whose middle is rather filled than empty, the fullest first."""
    if labels.max() > 0:
        labels = compact(labels)
        X = WithinPieces.of(X, labels, int(labels.max()) + 1).whitened(X)
    while labels.max() > 0:
        labels = compact(labels)
        centres = centres_of(X, labels, int(labels.max()) + 1)
        worst, pair = 0.0, None
        for a, b in gabriel_edges(centres):
            left, middle, right = counts_between(X[(labels == a) | (labels == b)], centres[a], centres[b])
            odds = log_odds_of_filled(middle, min(left, right))
            if odds > worst:
                worst, pair = odds, (a, b)
        if pair is None:
            break
        labels = np.where(labels == pair[1], pair[0], labels)
    return compact(labels)


def counts_between(X: FloatArray, a: FloatArray, b: FloatArray) -> tuple[int, int, int]:
    """Count samples around one centre, in the middle, and around the other: windows a third of the distance wide."""
    line = b - a
    along = 3 * ((X - (a + b) / 2) @ line) / max(float(line @ line), 1e-300)
    return (
        int(((along >= -2) & (along < -1)).sum()),
        int((np.abs(along) < 0.5).sum()),
        int(((along > 1) & (along <= 2)).sum()),
    )


def compact(labels: IntArray) -> IntArray:
    """Number labels 0, 1, … without gaps, in their order."""
    return np.unique(labels, return_inverse=True)[1]
