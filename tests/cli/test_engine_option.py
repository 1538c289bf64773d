"""`--engine`: the same files, computed elsewhere."""

from __future__ import annotations

import dask
import pytest
from distributed import LocalCluster
from tests.cli.support import NULL, PAIR, READING, SMALL, contents, invoke

ASK = ["run", *PAIR, "--k", "2:3", *READING, *SMALL, *NULL, "--resamples", "5"]


@pytest.fixture
def address():
    with LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, host="127.0.0.1", protocol="tcp://", dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address.replace("tcp://", "dask://")


def test_the_same_bytes_as_on_this_machine(folder, address):
    invoke(*ASK, "--out", "here")
    invoke(*ASK, "--out", "there", "--engine", address)
    assert contents(folder / "there") == contents(folder / "here")
    assert (folder / "there" / ".clustrep" / "checkpoint").is_dir()


def test_shards_and_their_merge_are_computed_there_too(folder, address):
    invoke(*ASK, "--out", "here")
    invoke(*ASK, "--out", "there", "--shard", "1/2", "--engine", address)
    invoke("merge", "there-1-of-2", "--out", "there", "--engine", address)
    assert contents(folder / "there") == contents(folder / "here")


def test_no_engine(folder):
    done = invoke(*ASK, "--out", "there", "--engine", "spark", code=2)
    assert "error: --engine must be None (this machine), a dask.distributed.Client" in done.stderr


def test_nobody_answers(folder):
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        done = invoke(*ASK, "--out", "there", "--engine", "dask://127.0.0.1:9", code=3)
    assert "error: No Dask scheduler answers at 127.0.0.1:9" in done.stderr
