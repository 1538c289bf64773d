from __future__ import annotations

import matplotlib as mpl
import pytest
from tests.plots.samples import local_of

import clustrep as cr


@pytest.fixture(autouse=True)
def _nothing_left_behind():
    """See that no setting was changed."""
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before


@pytest.fixture(scope="session")
def cohorts():
    return cr.datasets.simulate_cohorts(n_cohorts=3, n_samples=30, n_features=5, rng=1).scaled("study")


@pytest.fixture(scope="session")
def local(cohorts):
    return local_of(cohorts["alpha"], cohorts["beta"])
