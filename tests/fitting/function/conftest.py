"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import numpy as np
import pytest
from tests.fitting.function.cases import three_blobs
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """On tables as small as these, threads only wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def X(rng):
    return three_blobs(rng)


@pytest.fixture
def points(rng, X):
    """Points near the training points, between the clusters and far from both."""
    return np.concatenate([three_blobs(rng, 12), rng.uniform(-8, 8, size=(28, 3))])
