"""Runs on a Dask cluster of several processes: the same bits, whatever happens to its workers."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.execution.machines.cases import Broken, KillingOnce, Noting, Warner, interrupt_after_first_fit
from tests.execution.workers.test_bits import assert_same_bits
from tests.helpers import configured
from tests.sentences import check_snapshot_of_test, warned

import clustrep as cr
from clustrep.accelerate.kmeans import KMeansLearner
from clustrep.errors import EngineLost, ReplicateWarning
from clustrep.execution import dask_engine, engines
from clustrep.execution.engines import KILLED, Vanished

OPTIONS = {"n_resamples": 6, "rng": 3}


@pytest.fixture(autouse=True)
def _no_end_of_patience(monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 240.0)  # only to end a hang


def address_of(client):
    return client.scheduler.address.replace("tcp://", "dask://")


# ---------------------------------------------------------------------------------------------------------------------
# the same bits


RUNS = {
    "replicability": lambda studies, **where: cr.replicability(KMeans(3, n_init=2), studies, **OPTIONS, **where),
    "compare": lambda studies, **where: cr.compare(
        {"k-means": KMeans(n_init=1), "ward": AgglomerativeClustering()}, studies, n_clusters=[2, 3], **OPTIONS, **where
    ),
    "stability": lambda studies, **where: cr.stability.stability(
        KMeans(3, n_init=1), studies["alpha"], **OPTIONS, **where
    ),
    "cluster_test": lambda studies, **where: cr.stability.cluster_test(studies["alpha"], **OPTIONS, **where),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_same_bits_as_on_this_machine(name, client, cohorts):
    assert_same_bits(configured(RUNS[name], engine=client)(cohorts), RUNS[name](cohorts))


def test_the_address_of_a_scheduler(client, cohorts):
    there = configured(RUNS["stability"], engine=address_of(client))(cohorts)
    assert_same_bits(there, RUNS["stability"](cohorts))
    assert client.status == "running"


def test_warnings_of_workers_are_counted(client, tables):
    for engine in (None, client):
        with warned(ReplicateWarning):
            configured(cr.replicability, engine=engine)(Warner(), tables, n_resamples=6, rng=0)


def test_an_error_there_is_raised_here(client, tables):
    with pytest.raises(MemoryError, match="no room"):
        configured(cr.replicability, engine=client)(Broken(), tables, **OPTIONS)


# ---------------------------------------------------------------------------------------------------------------------
# workers that die


def test_the_block_of_a_killed_worker_runs_elsewhere(client, tables, tmp_path):
    there = configured(cr.replicability, engine=client)(KillingOnce(str(tmp_path)), tables, **OPTIONS)
    assert (tmp_path / "killed").exists()
    assert_same_bits(there, cr.replicability(KillingOnce(str(tmp_path)), tables, **OPTIONS))


@pytest.mark.slow  # workers start again and again
def test_a_replicate_that_kills_its_workers_is_a_counted_failure(client, tables, killing, tmp_path):
    folder = tmp_path / "checkpoint"
    options = {**OPTIONS, "diagonal": False}
    with pytest.warns(ReplicateWarning):
        there = configured(cr.replicability, engine=client, checkpoint=folder)(killing, tables, **options)
    assert there.failures == {KILLED: 2}
    off = ~np.eye(2, dtype=bool)
    assert np.isnan(there.distribution[:, off]).any(axis=1).tolist() == [False, False, True, False, False, False]
    (tmp_path / "armed").unlink()  # where there is more memory, the same run computes what was lost
    here = configured(cr.replicability, checkpoint=folder)(killing, tables, **options)
    assert not here.failures
    others = [0, 1, 3, 4, 5]
    assert here.distribution[others].tobytes() == there.distribution[others].tobytes()


# ---------------------------------------------------------------------------------------------------------------------
# the end


def test_an_interrupt_cancels_what_is_queued(cluster, client, tables, tmp_path):
    timer = threading.Thread(target=interrupt_after_first_fit, args=(tmp_path,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        configured(cr.replicability, engine=client)(
            Noting(str(tmp_path), seconds=0.1), tables, n_resamples=1000, rng=0, diagonal=False
        )
    timer.join()
    deadline = time.monotonic() + 120
    while any(task.processing_on for task in cluster.scheduler.tasks.values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(task.processing_on or task.state == "queued" for task in cluster.scheduler.tasks.values())
    assert 0 < len(list(tmp_path.iterdir())) < 500


SCHEDULER = """
import sys
from distributed import LocalCluster
cluster = LocalCluster(n_workers=1, processes=False, host="127.0.0.1", protocol="tcp://", dashboard_address=":0")
print(cluster.scheduler_address, flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def scheduler():
    """A scheduler in a process of its own, with a worker."""
    process = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdin=-1, stdout=-1, stderr=-3, text=True)
    try:
        yield process, process.stdout.readline().strip().replace("tcp://", "dask://")
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow  # starts a cluster of its own
def test_what_is_finished_is_kept_when_the_scheduler_goes_away(tables, tmp_path):
    noted, folder = tmp_path / "noted", tmp_path / "checkpoint"
    noted.mkdir()
    call = {"n_resamples": 30, "rng": 0, "diagonal": False}
    clusterer = Noting(str(noted), seconds=0.1)
    with scheduler() as (process, address), dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        timer = threading.Thread(target=kill_after_first_file, args=(process, folder))
        timer.start()
        with pytest.raises(EngineLost) as lost:
            configured(cr.replicability, engine=address, checkpoint=folder)(clusterer, tables, **call)
        timer.join()
    check_lost(lost, address)
    n_fits = len(list(noted.iterdir()))
    assert 0 < n_fits < 62
    for path in noted.iterdir():
        path.unlink()
    result = configured(cr.replicability, checkpoint=folder)(clusterer, tables, **call)
    assert len(list(noted.iterdir())) < 62
    assert not np.isnan(result.distribution[:, 0, 1]).any()


@pytest.mark.slow  # starts a cluster of its own
@pytest.mark.parametrize("with_checkpoint", [False, True])
def test_nothing_is_kept_where_nothing_was_finished_or_asked_for(with_checkpoint, tables, tmp_path):
    noted, folder = tmp_path / "noted", tmp_path / "checkpoint"
    noted.mkdir()
    options = {"checkpoint": folder} if with_checkpoint else {}
    with scheduler() as (process, address), dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        timer = threading.Thread(target=kill_after_first_file, args=(process, noted, "*"))
        timer.start()
        with pytest.raises(EngineLost) as lost:
            configured(cr.replicability, engine=address, **options)(
                Noting(str(noted), seconds=1.0), tables, n_resamples=30, rng=0, diagonal=False
            )
        timer.join()
    check_lost(lost, address)
    assert not list(folder.glob("*/*.npz"))


def check_lost(lost, address):
    """Compare the sentence with that of the file, without the number of the port."""
    check_snapshot_of_test(str(lost.value).replace(address.replace("dask", "tcp"), "ADDRESS"))


def kill_after_first_file(process, folder, pattern="*/*.npz"):
    deadline = time.monotonic() + 120
    while not list(folder.glob(pattern)) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()


def test_no_worker_is_an_error_after_a_while(tables, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 0.3)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        Client(empty, set_as_default=False) as client,
        pytest.raises(EngineLost),
    ):
        configured(cr.replicability, engine=client)(KMeans(2, n_init=1), tables, **OPTIONS)


def test_what_needs_a_device_that_this_process_holds_is_computed_here(tables, monkeypatch):
    here = cr.replicability(KMeans(2, n_init=1), tables, **OPTIONS)
    reference = cr.null_reference(here, 19)
    monkeypatch.setattr(engines, "PATIENCE", 0.3)
    monkeypatch.setattr(KMeansLearner, "here", True)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        Client(empty, set_as_default=False) as client,
    ):
        assert_same_bits(configured(cr.replicability, engine=client)(KMeans(2, n_init=1), tables, **OPTIONS), here)
        assert_same_bits(configured(cr.null_reference, engine=client)(here, 19), reference)


def test_a_worker_of_another_version_is_refused(client, tables, monkeypatch):
    monkeypatch.setattr("clustrep.execution.dask_engine.__version__", "99.0")
    with pytest.raises(EngineLost):
        configured(cr.replicability, engine=client)(KMeans(2, n_init=1), tables, **OPTIONS)


def test_nobody_answers(tables):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(EngineLost),
    ):
        configured(cr.replicability, engine="dask://127.0.0.1:9")(KMeans(2), tables, **OPTIONS)


def test_a_worker_that_does_not_answer_holds_no_plan_up(client, monkeypatch):
    """One that dies while it is sent the plan looks the same: Dask itself would wait for ever."""
    monkeypatch.setattr(dask_engine, "ANSWERS", 2.0)
    engine, plan = dask_engine.DaskEngine(client), np.arange(1000)
    silent = next(iter(client.run(os.getpid).values()))
    os.kill(silent, signal.SIGSTOP)
    try:
        with pytest.raises(Vanished):
            engine.place(plan)
    finally:
        os.kill(silent, signal.SIGCONT)
    monkeypatch.undo()
    np.testing.assert_array_equal(engine.place(plan).result(timeout=120), plan)
