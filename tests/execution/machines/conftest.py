"""A cluster of several processes on this machine, and studies to cluster there."""

from __future__ import annotations

import dask
import pytest
from distributed import Client, LocalCluster
from tests.execution.machines.cases import Killing, Noting

import clustrep as cr
from clustrep.execution import engines


@pytest.fixture(scope="module")
def cluster():
    # A worker that dies ends its block at once, instead of three more workers: clustrep then counts them itself.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0", silence_logs="CRITICAL") as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)
        yield client


@pytest.fixture
def tables(rng):
    return {name: rng.normal(size=(20, 2)) for name in ("a", "b")}


@pytest.fixture
def killing(tables, tmp_path, monkeypatch):
    """A clusterer that kills every worker in the third resample."""
    noted = []
    for n_resamples in (2, 3):
        cr.replicability(Noting(str(tmp_path)), tables, n_resamples=n_resamples, rng=3, diagonal=False)
        noted.append({path.name for path in tmp_path.iterdir()})
    data = min(noted[1] - noted[0])
    (tmp_path / "armed").touch()
    monkeypatch.setattr(engines, "MOST_KILLED", 1)  # each costs seconds
    return Killing(str(tmp_path), data)
