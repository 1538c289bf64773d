"""Data and double loops over pairs of points that several tests of section 2.3 share."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from tests.stability.by_hand import nearest_labels

import clustrep as cr

SEED = 3
NOISE = -1
WARD = AgglomerativeClustering(3)
BOTH = [cr.stability.prediction_strength, cr.stability.relative_validation]
both = pytest.mark.parametrize("measure", BOTH, ids=["strength", "validation"])


def blurred(n=22, p=3):
    """Clusters that run into each other, so that halves disagree."""
    rng = np.random.default_rng(8)
    return rng.normal(scale=1.5, size=(4, p))[np.arange(n) % 4] + rng.normal(size=(n, p))


X = blurred()
N = len(X)
MASK = np.arange(N) % 5 < 2  # 10 to learn from, 12 to test
PARTS = (np.flatnonzero(MASK), np.flatnonzero(~MASK))
strength = partial(cr.stability.prediction_strength, rng=SEED)
validation = partial(cr.stability.relative_validation, rng=SEED)


def shares(own, predicted, noise="label"):
    """The bracket of equation (4) for every test cluster, by its label: over ordered pairs i ≠ l."""
    kept = [noise == "label" or NOISE not in pair for pair in zip(own, predicted, strict=True)]
    rows = [i for i in range(len(own)) if kept[i]]
    found = {}
    for cluster in sorted({own[i] for i in rows}):
        members = [i for i in rows if own[i] == cluster]
        together = [predicted[i] == predicted[j] for i in members for j in members if i != j]
        found[cluster] = sum(together) / (len(members) * (len(members) - 1)) if len(members) > 1 else math.nan
    return found


def smallest(values):
    return min((value for value in values if not math.isnan(value)), default=math.nan)


def matching(own, predicted, noise="label"):
    """The share of points outside the best one-to-one matching of labels, by trying all of them."""
    pairs = [pair for pair in zip(own, predicted, strict=True) if noise == "label" or NOISE not in pair]
    a, b = sorted({u for u, _ in pairs}), sorted({v for _, v in pairs})
    b = b + [f"none {i}" for i in range(len(a) - len(b))]
    maps = (dict(zip(a, chosen, strict=True)) for chosen in itertools.permutations(b, len(a)))
    return min(sum(one[u] != v for u, v in pairs) for one in maps) / len(pairs)


def own_and_predicted(clusterer, train, test):
    """Ψ(X′; X′) and Ψ(X′; X) for a clusterer without `predict`."""
    return clusterer.fit_predict(test).tolist(), nearest_labels(test, train, clusterer.fit_predict(train).tolist())


def in_both_directions(clusterer, first, second):
    """Trained on the first part, then on the second."""
    return [own_and_predicted(clusterer, *parts) for parts in ((first, second), (second, first))]


def with_k(k):
    return AgglomerativeClustering(k)


class Recorder:
    """Agglomerative clustering that remembers what it was given: a half each time, by number of clusters."""

    def __init__(self):
        self.seen = {}

    def __call__(self, X, n_clusters=2):
        self.seen.setdefault(n_clusters, []).append(np.array(X))
        return with_k(n_clusters).fit_predict(X)

    def halves(self, k):
        given = self.seen[k]
        return list(zip(given[::2], given[1::2], strict=True))


def recorded(measure, X, ks, **arguments):
    """Run, and return the result with the halves of every split."""
    recorder = Recorder()

    def clusterer(X, n_clusters=2):
        return recorder(X, n_clusters)

    return measure(clusterer, X, n_clusters=ks, **arguments), recorder


def rows_of(points, X):
    """Which rows of X these points are."""
    return [X.tolist().index(point) for point in points.tolist()]


LABELS = np.array(["Her2", "LumA", "Basal"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]


DENSITY = DBSCAN(eps=3.0, min_samples=3)
