"""The prediction strengths of appendix C.2: runs, best numbers of clusters, averages over clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.appendix_c_common import above, means, weights_of
from paper.common import make_seed

NUMBERS = range(1, 21)
SOME = slice(1, None)  # without one cluster, whose strength is always 1
Strengths = Mapping[str, cr.results.PredictionStrength]


def strength(study: cr.Study, n: int, n_init: int, n_jobs: int, noise: Any = None) -> cr.results.PredictionStrength:
    """Compute equation (4) on random half-splits."""
    return cr.prediction_strength(
        KMeans(n_init=n_init),
        study.X,
        n_clusters=NUMBERS,
        n_splits=n,
        both_directions=False,
        perturbation=noise,
        rng=make_seed(32, n_init),
        n_jobs=n_jobs,
    )


def with_self_pairs(result: cr.results.PredictionStrength) -> Any:
    """Return the strength of every k in every split, each point paired with itself, too, (n_splits, number of k).

    A cluster of m points with share s of its m(m − 1)/2 pairs then has (s(m − 1) + 2)/(m + 1), one of a single point 1.
    """
    shares, sizes = result.cluster_strengths[:, 0], result.cluster_sizes[:, 0]
    padded = (np.nan_to_num(shares) * (sizes - 1) + 2) / (sizes + 1)
    return np.where(sizes > 0, padded, np.inf).min(axis=2)


def best_of(strengths: Any) -> Any:
    """Return the best k above 1 of every row, the smallest of several."""
    return np.array(NUMBERS)[SOME][np.argmax(np.nan_to_num(strengths)[..., SOME], axis=-1)]


def averages_of(result: cr.results.PredictionStrength) -> list[Any]:
    """Return averages over clusters in every split, (n_splits, number of k): weighted by size, and plain."""
    strengths, sizes = result.cluster_strengths[:, 0], result.cluster_sizes[:, 0]
    counted = np.where(np.isfinite(strengths), sizes, 0)  # without clusters of one point, which have no pairs
    return [np.nansum(strengths * weights, axis=2) / weights.sum(axis=2) for weights in (counted, np.sign(counted))]


def prefers_few(strengths: Any, groups: int) -> bool:
    """Say whether strengths, (n_splits, number of k), are best below the number of groups, by two errors."""
    k = int(best_of(strengths.mean(axis=0)))
    gain = (strengths[:, NUMBERS.index(k)] - strengths[:, NUMBERS.index(groups)])[:, None]
    return k < groups and above(means(gain, weights_of(len(gain)))[:, 0], 0)
