"""What a run will take is said, and what can't fit is refused before it starts."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering

import clustrep as cr
from clustrep.errors import DataError
from clustrep.execution import forecast as estimates


@pytest.fixture(scope="module")
def large():
    """Two studies whose distances no machine of today holds: 800 GB, or 400 without their half."""
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=(320_000, 1)).astype(np.float32) for name in "ab"}


@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(3, linkage="complete"),
        AgglomerativeClustering(3, metric="l1", linkage="average"),
        AgglomerativeClustering(None, distance_threshold=2.0),
        SpectralClustering(3),
    ],
    ids=["complete", "l1", "threshold", "spectral"],
)
def test_what_can_t_fit_is_refused_with_advice(large, clusterer):
    with pytest.raises(DataError):
        cr.replicability(clusterer, large, n_resamples=2, rng=0)


def test_ward_of_scikit_learn_is_refused(large):
    with cr.config_context(accelerate=False), pytest.raises(DataError):
        cr.replicability(AgglomerativeClustering(3), large, n_resamples=2, rng=0)


def test_what_fits_is_not_refused():
    assert estimates.check_memory(0.0, "KMeans", "a", 320_000) is None
    assert estimates.available_memory() > 10**8


@pytest.mark.parametrize(("details", "available"), [("anon 5\ninactive_file 300\n", 700), ("anon 5\n", 400)])
def test_files_that_the_system_keeps_in_memory_are_no_use_of_it(tmp_path, monkeypatch, details, available):
    for name, text in {"max": "1000\n", "current": "600\n", "stat": details}.items():
        (tmp_path / f"memory.{name}").write_text(text)
    monkeypatch.setattr(estimates, "CGROUP", tmp_path)
    assert estimates.available_memory() == available


def test_a_long_run_says_how_long_it_takes(monkeypatch, caplog):
    caplog.set_level(logging.INFO, "clustrep")
    monkeypatch.setattr(estimates, "SURE_AFTER", 0.0)
    studies = {name: np.random.default_rng(0).normal(size=(20, 2)) for name in "ab"}
    cr.replicability(KMeans(2, n_init=1), studies, n_resamples=300, rng=0)
    assert not caplog.messages  # too short for a word
    monkeypatch.setattr(estimates, "LONG", 0.0)
    cr.replicability(KMeans(2, n_init=1), studies, n_resamples=300, rng=0)
    (said,) = caplog.messages
    assert "of 301 replicates are done, the others take about " in said


@pytest.mark.parametrize(
    ("n_workers", "times", "told"),
    [
        (1, [60, 62], "2 of 101 replicates are done, the others take about 3 minutes"),
        (1, [60, 60.5, 61, 61.5], "3 of 101 replicates are done, the others take about 49 seconds"),
        # The first is computed before there are workers; these start and import for ten seconds, and end together.
        (2, [60, 72, 72.1, 74, 74.1], "5 of 101 replicates are done, the others take about 2 minutes"),
        (4, [1, 9, 9, 9, 9, 10, 10, 10, 11, 12], "9 of 101 replicates are done, the others take about 46 seconds"),
    ],
)
def test_what_is_paid_once_is_not_counted(n_workers, times, told, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "clustrep")
    pace = estimates.Pace("replicability", 101, n_workers)
    for now in times:
        monkeypatch.setattr(estimates.time, "monotonic", lambda now=now: now)
        pace.count(1)
    (said,) = caplog.messages
    assert said.startswith(f"replicability: {told}")
