"""The ends of workers: with their parent, however that was ended, or killed themselves."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

import joblib
import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.helpers import by_two
from tests.processes import running, session_of, wait_until
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.errors import MachineWarning, WorkerKilled

PARENT = """
import os, sys, time
import joblib, numpy as np
import clustrep as cr


def say(word):
    os.write(1, b"%s %d\\n" % (word, os.getpid()))  # in one write: two workers print at once


def asleep(X):
    say(b"computing")
    time.sleep(3600)


def quick(X):
    say(b"computing")
    time.sleep(0.2)
    return np.arange(len(X)) % 2


tables = [np.arange(18.0).reshape(9, 2) ** 1.5, np.arange(18.0).reshape(9, 2) ** 0.5]
with joblib.parallel_config(backend=sys.argv[2]):
    cr.replicability(globals()[sys.argv[1]], tables, n_resamples=8, rng=0, n_jobs=2)
    say(b"idle")
    time.sleep(3600)
"""


@pytest.mark.parametrize(
    ("clusterer", "backend", "word"),
    [
        ("asleep", "loky", "computing"),
        ("asleep", "multiprocessing", "computing"),
        ("quick", "loky", "idle"),
    ],
)
def test_workers_end_with_a_parent_that_was_killed(clusterer, backend, word, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with running(sys.executable, script, clusterer, backend) as process:
        said = iter(process.stdout.readline, "")
        assert any(line.startswith(word) for line in said), process.stderr.read()
        assert len(session_of(process.pid)) > 1
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        wait_until(lambda: not session_of(process.pid))


# ---------------------------------------------------------------------------------------------------------------------
# workers that are killed


@pytest.fixture
def tables(rng):
    return {name: rng.normal(size=(30, 2)) for name in ("a", "b")}


def killing(times, tmp_path):
    """Make a clusterer that kills its process a few times, if that is a worker."""
    parent = os.getpid()

    def clusterer(X, n_clusters=2):
        if os.getpid() != parent:
            for number in range(times):
                with contextlib.suppress(FileExistsError):
                    os.close(os.open(tmp_path / str(number), os.O_CREAT | os.O_EXCL))
                    os.kill(os.getpid(), signal.SIGKILL)
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    return clusterer


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_after_a_worker_was_killed_the_rest_is_computed_with_half_as_many(n_jobs, tables, tmp_path):
    alone = cr.replicability(killing(0, tmp_path), tables, n_resamples=12, rng=0, n_jobs=1)
    half = n_jobs // 2
    with joblib.parallel_config(backend="loky"), pytest.warns(MachineWarning) as record:
        result = cr.replicability(killing(1, tmp_path), tables, n_resamples=12, rng=0, n_jobs=n_jobs)
    assert [str(warning.message) for warning in record] == [
        f"One of {n_jobs} workers was killed (SIGKILL(-9)), probably because memory ran out: the rest was computed "
        f"with {half} at a time."
    ]
    assert result.failures == {}
    assert result.distribution.tobytes() == alone.distribution.tobytes()
    with by_two():
        later = cr.replicability(KMeans(2, n_init=1), tables, n_resamples=2, rng=0)  # new workers work
    assert later.failures == {}


def test_a_worker_that_is_killed_again_is_an_error(tables, tmp_path):
    with by_two():
        with refused(WorkerKilled):
            cr.replicability(killing(1000, tmp_path), tables, n_resamples=12, rng=0)
        result = cr.replicability(killing(0, tmp_path), tables, n_resamples=2, rng=0)
    assert result.failures == {}


def test_a_clusterer_that_exits_has_failed(tables):
    def exits(X):
        if X[0, 0] > 0:
            sys.exit(2)
        return np.arange(len(X)) % 2

    for workers in (contextlib.nullcontext, by_two):
        with workers(), warned(cr.errors.ReplicateWarning):
            result = cr.replicability(exits, tables, n_resamples=12, rng=0)
        assert set(result.failures) == {"SystemExit: 2"}
