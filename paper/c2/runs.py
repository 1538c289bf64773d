"""Appendix C.2: prediction strength over k and in-group proportions, as written and as published."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import clustrep as cr
from paper.common import make_seed
from paper.spurious import GROUPS, is_spurious, load_shapes, with_class
from paper.store import Facts

NUMBERS = range(1, 21)
SOME = slice(1, None)  # without one cluster, whose strength is always 1
NEIGHBOURS = (1, 10)
KS = {"aggregation": (3, 5, 7, 10), "compound": (3, 6, 8, 10), "r15": (8, 12, 15, 18)}


def run(*, quick: bool) -> Facts:
    """Prediction strength over k, and the in-group proportions of some k; as published with the class as a feature."""
    n, n_published, n_starts, n_jobs = (24, 6, 4, 1) if quick else (200, 40, 20, -1)
    facts: Facts = {}
    for name, study in load_shapes().items():
        facts |= {f"{name}/X": study.X, f"{name}/truth": study.labels}
        for side, table, n_splits, n_init in (
            ("written", study, n, 10),
            ("published", with_class(study), n_published, 50),
        ):
            result = strength(table, n_splits, n_init, n_jobs)
            strengths = with_self_pairs(result) if side == "published" else result.distribution
            facts[f"{side}/{name}/strength"] = np.transpose(strengths)  # (k, split)
            facts[f"{side}/{name}/averages"] = np.transpose(averages_of(result), (0, 2, 1))  # (kind, k, split)
            facts |= {
                f"{side}/{name}/{key}": values for key, values in proportions(table, study, KS[name], n_starts).items()
            }
        best = int(best_of(facts[f"written/{name}/strength"].mean(axis=1)))
        facts[f"{name}/fit"] = [_fit(study, k) for k in (best, GROUPS[name])]
    return facts


def _fit(study: cr.Study, k: int) -> float:
    """ARI of k-means on all points with the groups."""
    return float(adjusted_rand_score(study.labels, _in_group(study, k, 0).labels))


def _in_group(table: cr.Study, k: int, i: int) -> cr.results.InGroupProportion:
    clusterer = KMeans(k, n_init=10)
    return cr.stability.in_group_proportion(table, clusterer=clusterer, rng=make_seed(33, i), n_neighbors=NEIGHBOURS)


def proportions(table: cr.Study, study: cr.Study, ks: tuple[int, ...], n: int) -> Facts:
    """In-group proportions for several draws of k-means starts, (draw, j, cluster), and which clusters are spurious."""
    facts: Facts = {}
    for k in ks:
        draws = [_in_group(table, k, i) for i in range(n)]
        facts[f"{k}/igp"] = np.stack([result.proportions for result in draws])
        facts[f"{k}/spurious"] = np.stack([is_spurious(result.labels, np.asarray(study.labels)) for result in draws])
        facts[f"{k}/labels"] = draws[0].labels
    return facts


def strength(study: cr.Study, n: int, n_init: int, n_jobs: int) -> cr.results.PredictionStrength:
    """Compute equation (4) on random half-splits."""
    return cr.stability.prediction_strength(
        KMeans(n_init=n_init),
        study,
        n_clusters=NUMBERS,
        n_splits=n,
        both_directions=False,
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
