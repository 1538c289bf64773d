"""Runs on a Ray cluster of several processes: the same bits, whatever happens to its workers."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.execution.machines.cases import Broken, KillingOnce, Noting, Warner, interrupt_after_first_fit
from tests.execution.workers.test_bits import assert_same_bits
from tests.helpers import configured

import clustrep as cr
from clustrep.errors import ReplicateWarning
from clustrep.execution import engines
from clustrep.execution.engines import KILLED

ray = pytest.importorskip("ray", reason="ray is not installed: pip install clustrep[ray]")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of Ray's own files and processes
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

OPTIONS = {"n_resamples": 6, "rng": 3}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAY_worker_niceness", "0")  # 15 by default: nothing happens on a busy machine
        start()
    yield
    ray.shutdown()


def start():
    packages = os.pathsep.join([os.getcwd(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={"env_vars": {"PYTHONPATH": packages}},
    )


def test_the_same_bits_as_on_this_machine(cohorts):
    clusterers = {"k-means": KMeans(n_init=1), "ward": AgglomerativeClustering()}
    call = {"n_clusters": [2, 3], **OPTIONS}
    there = configured(cr.compare, engine="ray")(clusterers, cohorts, **call)
    assert_same_bits(there, cr.compare(clusterers, cohorts, **call))


def test_the_same_bits_where_features_outnumber_samples(rng):
    tables = {name: rng.normal(size=(12, 300)) for name in "ab"}
    there = configured(cr.replicability, engine="ray")(KMeans(2, n_init=1), tables, **OPTIONS)
    assert_same_bits(there, cr.replicability(KMeans(2, n_init=1), tables, **OPTIONS))


def test_warnings_of_workers_are_counted(tables):
    with pytest.warns(ReplicateWarning):
        configured(cr.replicability, engine="ray")(Warner(), tables, n_resamples=6, rng=0)


def test_an_error_there_is_raised_here(tables):
    with pytest.raises(MemoryError, match="no room"):
        configured(cr.replicability, engine="ray")(Broken(), tables, **OPTIONS)


def test_the_block_of_a_killed_worker_runs_elsewhere(tables, tmp_path):
    there = configured(cr.replicability, engine="ray")(KillingOnce(str(tmp_path)), tables, **OPTIONS)
    assert (tmp_path / "killed").exists()
    assert_same_bits(there, cr.replicability(KillingOnce(str(tmp_path)), tables, **OPTIONS))


def test_a_replicate_that_kills_its_workers_is_a_counted_failure(tables, killing):
    with pytest.warns(ReplicateWarning):
        there = configured(cr.replicability, engine="ray")(killing, tables, diagonal=False, **OPTIONS)
    assert there.failures == {KILLED: 2}
    assert np.isnan(there.distribution[:, 0, 1]).tolist() == [False, False, True, False, False, False]


def test_an_interrupt_cancels_what_is_queued(tables, tmp_path):
    timer = threading.Thread(target=interrupt_after_first_fit, args=(tmp_path,))
    timer.start()
    clusterer = Noting(str(tmp_path), seconds=0.1)
    with pytest.raises(KeyboardInterrupt):
        configured(cr.replicability, engine="ray")(clusterer, tables, n_resamples=1000, rng=0, diagonal=False)
    timer.join()
    assert 0 < len(list(tmp_path.iterdir())) < 500
    assert ray.is_initialized()


def test_no_processor_is_an_error_after_a_while(tables, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 0.0)
    monkeypatch.setattr(ray, "cluster_resources", dict)
    with pytest.raises(cr.errors.EngineLost):
        configured(cr.replicability, engine="ray")(KMeans(2, n_init=1), tables, **OPTIONS)
