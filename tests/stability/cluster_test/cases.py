"""Nearest distances, integrals and draws by hand that several tests of the test for clusters share."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from clustrep.execution.seeds import Stream, seed_of


def integrals_by_hand(rows):
    """Section 2.4, step 4: G_b against the average of the others, between all neighbouring values."""

    def share(row, y):
        return sum(value <= y for value in row) / len(row)

    places = sorted({value for row in rows for value in row})
    scores = []
    for b, row in enumerate(rows):
        others = [other for c, other in enumerate(rows) if c != b]
        pieces = [
            (right - left) * (share(row, left) - sum(share(other, left) for other in others) / len(others)) ** 2
            for left, right in itertools.pairwise(places)
        ]
        scores.append(math.fsum(pieces))
    return scores


def nearest_by_hand(X, power=2):
    X = np.asarray(X).tolist()
    return [min(math.dist(x, y) ** power for i, y in enumerate(X) if i != h) for h, x in enumerate(X)]


def seeded(name, root, b):
    return np.random.default_rng(seed_of(root, Stream.NULL, name, b + 1))


def standard_normal(X, rng):
    return rng.normal(size=X.shape)


def uniform_in_a_box(X, rng):
    return rng.uniform(X.min(axis=0), X.max(axis=0), size=X.shape)


def column_means(X):
    return X.mean(axis=0)


def largest(values):
    return values.max(axis=1)


MANY_FEATURES = pytest.mark.filterwarnings("ignore:X has .* features and .* samples")


def draws_by_hand(X, name, root, n_resamples):
    """Gaussian with the sample mean and covariance: mean + Z R, with RᵀR the covariance, R from a QR decomposition."""
    R = np.linalg.qr((X - X.mean(axis=0)) / math.sqrt(len(X) - 1), mode="r")
    R = R * np.sign(np.diag(R))[:, None]
    np.testing.assert_allclose(R.T @ R, np.cov(X.T), rtol=1e-9, atol=1e-12)
    return [X.mean(axis=0) + seeded(name, root, b).standard_normal((len(X), len(R))) @ R for b in range(n_resamples)]
