"""Scores of single clusters of other sites, at the samples of this one (Algorithm 3)."""

from __future__ import annotations

import numpy as np

from clustrep.agreement.agreements import Agreement
from clustrep.agreement.batches import binary_scores
from clustrep.agreement.contingency import Partition
from clustrep.execution.seeds import Failed
from clustrep.types import FloatArray, IntArray


def local_row(
    agreement: Agreement,
    trained: tuple[Partition, Partition] | Failed,
    tested: tuple[Partition, Partition] | Failed,
    weights: IntArray,
    n_samples: int,
) -> FloatArray:
    """Score every sample by its pair of labels: partitions of the draw, and of the study as it is."""
    nothing = np.full(n_samples, np.nan)
    if isinstance(trained, Failed) or isinstance(tested, Failed):
        return nothing
    (table,) = binary_scores(agreement, [(trained[0], tested[0], weights)], "label")
    return nothing if isinstance(table, Failed) else np.asarray(table[trained[1].codes, tested[1].codes])


def mean_by_cluster(scores: FloatArray, clusters: IntArray, n_clusters: int) -> FloatArray:
    """Average the scores of each cluster's samples, (n_clusters,); NaN where there are none."""
    known = ~np.isnan(scores)
    counts = np.bincount(clusters[known], minlength=n_clusters)
    sums = np.bincount(clusters[known], scores[known], minlength=n_clusters)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
