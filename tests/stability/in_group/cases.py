"""Distances, neighbours and proportions by double loops, which several tests of the in-group proportion share."""

from __future__ import annotations

import math

import numpy as np

from clustrep.execution.seeds import Stream, make_generator, seed_of


def squared(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def cityblock(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def chebyshev(x, y):
    return max(abs(a - b) for a, b in zip(x, y, strict=True))


def neighbours_by_hand(X, j, distance=squared):
    """All others by distance, of equal ones the lower row first."""
    X = np.asarray(X).tolist()
    n = len(X)
    return [sorted((i for i in range(n) if i != h), key=lambda i: (distance(X[h], X[i]), i))[:j] for h in range(n)]


def proportions_by_hand(X, labels, j=1, distance=squared, clusters=None):
    """One number for every cluster, in sorted order; NaN for one without points."""
    nearest = neighbours_by_hand(X, j, distance)
    values = []
    for cluster in sorted(set(labels)) if clusters is None else clusters:
        members = [i for i, label in enumerate(labels) if label == cluster]
        inside = [all(labels[h] == cluster for h in nearest[i]) for i in members]
        values.append(sum(inside) / len(members) if members else math.nan)
    return values


def draw_of(perturbation, study, root, b):
    """The draw of resample b, from its seed."""
    return perturbation.draw(study, make_generator(seed_of(root, Stream.DRAW, study.name, b + 1)))


def nearest_label_by_hand(X, train, labels, distance=squared):
    """The label of the nearest training point; of equal ones the first."""
    X, train = np.asarray(X).tolist(), np.asarray(train).tolist()
    return [labels[min(range(len(train)), key=lambda i: (distance(x, train[i]), i))] for x in X]


LABELS = [0, 1, 1, 0, 2, 2, 0, 1, 2, 0, 0, 1, 1, 0]


def null_by_hand(X, labels, name, root, n_null, js, distance=squared, n_centres=None):
    """Centres uniform in the box of the centroids along the principal components, points to the nearest one."""
    clusters = sorted(set(labels))
    k = len(clusters) if n_centres is None else n_centres
    centre = X.mean(axis=0)
    axes = [np.sign(max(axis, key=abs)) * axis for axis in np.linalg.svd(X - centre, full_matrices=False)[2]]
    centroids = np.array([X[[label == c for label in labels]].mean(axis=0) for c in clusters])
    places = np.array([[np.dot(axis, centroid - centre) for axis in axes] for centroid in centroids])
    values = []
    for b in range(n_null):
        rng = np.random.default_rng(seed_of(root, Stream.NULL, name, b + 1))
        drawn = rng.uniform(places.min(axis=0), places.max(axis=0), size=(k, places.shape[1]))
        centres = [centre + sum(t * axis for t, axis in zip(row, axes, strict=True)) for row in drawn]
        codes = [min(range(len(centres)), key=lambda c: distance(x, centres[c])) for x in X]
        values.append([proportions_by_hand(X, codes, j, distance, range(k)) for j in js])
    return np.array(values)


def pvalue_by_hand(own, null):
    pooled = [value for value in np.ravel(null) if not math.isnan(value)]
    return (1 + sum(value >= own for value in pooled)) / (1 + len(pooled))
