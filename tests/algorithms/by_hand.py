"""Data and plain computations that several tests of this folder share."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr
from clustrep.fitting.resample import Source

SHARED = np.array([[0, 0, 0, 0], [4, 0, 0, 0], [0, 4, 0, 0]], dtype=float)
OTHER = np.array([[0, 0, 0, 0], [0, 0, 4, 0], [0, 0, 0, 4]], dtype=float)


def mixture(rng, centres, n):
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, centres.shape[1]))


def quantile_by_hand(values, q):
    values = sorted(value for value in values if not np.isnan(value))
    if not values:
        return np.nan
    place = q * (len(values) - 1)
    i = min(int(place), len(values) - 2)
    return values[i] + (place - i) * (values[i + 1] - values[i])


def nearest_labels(train, labels, points):
    """The label of the nearest training point, one point after the other."""
    return [labels[min(range(len(train)), key=lambda i: sum((x - train[i]) ** 2))] for x in points]


def ward(X):
    return AgglomerativeClustering(3).fit_predict(X).tolist()


def line(*values):
    return np.array(values, dtype=float)[:, None]


def first_drawn(tables, n_resamples, seed):
    source = Source(cr.resampling.Bootstrap(), seed)
    return {
        name: [0 in source.draw(cr.Study(X, name), b).order for b in range(1, n_resamples + 1)]
        for name, X in tables.items()
    }


class Fragile:
    """Fails where a study's draw lacks its first sample, which is at 0."""

    def fit_predict(self, X):
        if not (X[:, 0] == 0).any():
            raise RuntimeError("the first sample is missing")
        return (X[:, 0] > 2.5).astype(int)
