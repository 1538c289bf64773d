from __future__ import annotations

import os
import signal
from collections.abc import Generator
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import settings

import clustrep as cr

mpl.use("Agg")
settings.register_profile("suite", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("suite")
# A shell lets what it runs in the background ignore interrupts, and every process that tests start would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Tests of programs and documents beside the package.
BESIDE = (
    "paper",
    "test_documents.py",
    "test_exam.py",
    "test_exam_batches.py",
    "test_fuzz.py",
    "test_package.py",
    "test_site.py",
)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Leave slow tests and those of what is beside the package out of coverage.

    Tracing costs half as much again as a test itself, and they reach no line of the package that no other test does.
    """
    place = item.path.relative_to(item.config.rootpath).parts
    is_beside = place[0] == "tests" and place[1] in BESIDE
    measuring = getattr(item.config.pluginmanager.get_plugin("_cov"), "cov_controller", None)
    if measuring is None or not measuring.started or not (is_beside or item.get_closest_marker("slow")):
        return (yield)
    measuring.pause()
    try:
        return (yield)
    finally:
        measuring.resume()


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
def _no_figure_is_open() -> None:
    """Close what an earlier test, or an example of a docstring, has drawn."""
    plt.close("all")
