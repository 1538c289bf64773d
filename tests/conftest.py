from __future__ import annotations

import os
import signal
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import settings

import clustrep as cr

mpl.use("Agg")
settings.register_profile("suite", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("suite")
# A shell lets what it runs in the background ignore interrupts, and every process that tests start would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The benchmark data, named by CLUSTREP_DATA alone; the project does not contain it."""
    folder = os.environ.get("CLUSTREP_DATA")
    if not folder:
        pytest.skip("CLUSTREP_DATA is not set: the benchmark data is not here")
    return Path(folder)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20231)


@pytest.fixture(scope="session")
def cohorts() -> cr.Studies:
    """Three small cohorts with three subtypes."""
    return cr.datasets.simulate_cohorts(
        n_cohorts=3, n_samples=40, n_subtypes=3, n_features=4, missing={}, shifted={}, rng=7
    )


@pytest.fixture(autouse=True)
def _workers_are_used(monkeypatch):
    """Use workers wherever they are asked for: most runs of tests are too short for that."""
    monkeypatch.setattr("clustrep.engine.cost.PROCESSES_START", 0.0)
    monkeypatch.setattr("clustrep.engine.cost.THREADS_START", 0.0)
    monkeypatch.setattr("clustrep.engine.cost.WORTHWHILE", 1.0)
