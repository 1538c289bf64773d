"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.analysis.cases import OPTIONS, WARD

import clustrep as cr


@pytest.fixture(scope="module")
def studies():
    """Two cohorts with far subtypes A, B and C, and one where they are nearer and not known; as small as it goes."""
    made = cr.datasets.simulate_cohorts(
        n_cohorts=3, n_samples=30, n_subtypes=3, n_features=3, separation=9, missing={}, shifted={}, rng=3
    )
    nearer = made["gamma"].X + 2 * np.random.default_rng(8).normal(size=(30, 3))
    return cr.Studies([made["alpha"], made["beta"], cr.Study(nearer, "gamma", features=made.features)])


@pytest.fixture(scope="module")
def found(studies):
    """Separated clusters, of studies that are compared as they are given."""
    clusterers = {"ward": WARD, "k-means": KMeans(n_init=2)}
    return cr.analyse(clusterers, studies, n_clusters=[2, 3], n_null=19, scale="none", **OPTIONS)


@pytest.fixture(scope="module")
def plain():
    """Two studies without clusters."""
    return cr.Studies({name: np.random.default_rng(i).normal(size=(40, 2)) * [4, 1] for i, name in enumerate("ab")})


@pytest.fixture(scope="module")
def compared(plain):
    """Without separated clusters: scores beside their null distributions."""
    return cr.analyse(WARD, plain, n_clusters=[2, 3], n_null=19, scale="none", **OPTIONS)
