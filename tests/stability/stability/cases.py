"""Data, perturbations and the plain loop of section 2.2 that several tests of stability share."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from tests.stability.by_hand import nearest_labels

import clustrep as cr
from clustrep.fitting.resample import Source

SEED = 11
N_RESAMPLES = 6
NOISE = -1
INDICES = ["matching", "inclusion", "jaccard", "r", "d"]
WARD = AgglomerativeClustering(3)


def blurred(n=15, p=4):
    """Three clusters that run into each other: of different sizes, and not the same in every resample."""
    rng = np.random.default_rng(5)
    centres = rng.normal(scale=1.5, size=(3, p))
    return centres[np.arange(n) % 5 // 2] + rng.normal(size=(n, p))


X = blurred()
N = len(X)


def every(mapping):
    return pytest.mark.parametrize("perturbation", mapping.values(), ids=mapping.keys())


def matching_distance(u, v):
    """Equation (3): over all one-to-one maps of the labels, those without a partner included."""
    a, b = sorted(set(u)), sorted(set(v))
    partners = b + [f"none {i}" for i in range(len(a) - len(b))]
    return min(
        sum(dict(zip(a, chosen, strict=True))[x] != y for x, y in zip(u, v, strict=True))
        for chosen in itertools.permutations(partners, len(a))
    )


def blocks(labels, points):
    return {label: {i for i in points if labels[i] == label} for label in {labels[i] for i in points}}


def by_hand(index, reference, new, points, clusters, relative=False):
    """One value for each cluster, and the one for all, from sets of points."""
    if index == "matching":
        u, v = [reference[i] for i in points], [new[i] for i in points]
        return [], matching_distance(u, v) / (len(points) if relative else 1)
    new_blocks = list(blocks(new, points).values())
    values, numerators, denominators = [], [], []
    for cluster in clusters:
        own = {i for i in points if reference[i] == cluster}
        size = list(reference).count(cluster)
        if index == "jaccard":
            value = max((len(own & block) / len(own | block) for block in new_blocks), default=0.0)
            numerators.append(size * value)
            denominators.append(size)
        elif index == "inclusion":
            value = float(any(own <= block for block in new_blocks)) if own else math.nan
            numerators.append(size * value if own else 0)
            denominators.append(size if own else 0)
        elif index == "r":
            pairs = list(itertools.combinations(sorted(own), 2))
            together = sum(new[i] == new[j] for i, j in pairs)
            value = together / len(pairs) if pairs else math.nan
            numerators.append(together)
            denominators.append(len(pairs))
        else:
            value = math.nan
            if own:
                _, _, best = min((-len(own & block), len(block), i) for i, block in enumerate(new_blocks))
                value = len(new_blocks[best] - own) + len(own - new_blocks[best])
                numerators.append(value)
                denominators.append(len(own))
                value /= len(own) if relative else 1
        values.append(value)
    if index == "d":
        return values, sum(numerators) / (sum(denominators) if relative else 1)
    return values, sum(numerators) / sum(denominators) if sum(denominators) else math.nan


def loop(
    clusterer,
    X,
    index,
    perturbation,
    *,
    relative=False,
    reference=None,
    noise="label",
    n=N_RESAMPLES,
    name="X",
    seed=SEED,
):
    """Stability as section 2.2 tells it: (n_resamples, k) and (n_resamples,)."""
    study = cr.Study(X, name)
    source = Source(perturbation, seed)
    reference = list(clone(clusterer).fit_predict(X)) if reference is None else list(reference)
    clusters = [label for label in sorted(set(reference)) if noise == "label" or label != NOISE]
    per_cluster, overall = [], []
    for b in range(n):
        draw = source.draw(study, b + 1)
        learned = clone(clusterer).fit_predict(draw.sample).tolist()
        if index == "matching":
            points, new = range(len(X)), nearest_labels(draw.originals, draw.sample, learned)
        else:
            points, new = sorted(set(draw.order.tolist())), nearest_labels(draw.points, draw.sample, learned)
        if noise == "drop":
            points = [i for i in points if reference[i] != NOISE and new[i] != NOISE]
        values, for_all = by_hand(index, reference, new, points, clusters, relative)
        per_cluster.append(values)
        overall.append(for_all)
    return reference, np.array(per_cluster, dtype=float), np.array(overall, dtype=float)


def mean_of(values):
    """Column by column, without what is missing."""
    columns = [[value for value in column if not math.isnan(value)] for column in np.transpose(values)]
    return [sum(column) / len(column) if column else math.nan for column in columns]


def assert_is_loop(result, expected):
    """Compare; shortcuts may number the clusters of the reference in another order than scikit-learn."""
    reference, per_cluster, overall = expected
    names = set(zip(result.labels.tolist(), reference, strict=True))
    assert len(names) == len(set(reference)) == len(set(result.labels.tolist()))  # the same partition
    kept = sorted({label for _, label in names if per_cluster.shape[1] == len(names) or label != NOISE})
    if result.index != "matching":
        per_cluster = per_cluster[:, [kept.index(dict(names)[cluster]) for cluster in result.clusters.tolist()]]
    np.testing.assert_allclose(result.overall_distribution, overall, rtol=1e-12, atol=0)
    if result.index == "matching":
        np.testing.assert_array_equal(result.distribution, result.overall_distribution)
    else:
        np.testing.assert_allclose(result.distribution, per_cluster, rtol=1e-12, atol=0)
        np.testing.assert_allclose(result.per_cluster, mean_of(per_cluster), rtol=1e-12)
    np.testing.assert_allclose(result.overall, mean_of(overall[:, None])[0], rtol=1e-12)


stable = partial(cr.stability.stability, rng=SEED, n_resamples=N_RESAMPLES)


def equal(one, other):
    np.testing.assert_array_equal(one.distribution, other.distribution)
    np.testing.assert_array_equal(one.overall_distribution, other.overall_distribution)
    np.testing.assert_array_equal(one.labels, other.labels)


LINE = np.arange(6.0)[:, None]


REFERENCE = ["a", "a", "a", "a", "b", "b"]


def random_labels(X, random_state=None, n_labels=4):
    return np.random.default_rng(random_state).integers(n_labels, size=len(X))


SCATTERED = np.concatenate([X, [[9.0] * 4, [-9.0] * 4]])
DENSITY = DBSCAN(eps=2.2, min_samples=3)


def missing_first_point(X):
    if not (LINE[0] == X).all(axis=1).any():
        raise ValueError("where is the first point?\nA second line.")
    return (X[:, 0] > 2).astype(int)


curve_of = partial(cr.stability.sensitivity, rng=SEED, n_resamples=N_RESAMPLES)
