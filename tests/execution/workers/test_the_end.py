"""The end of a run: errors that pass through, and interrupted runs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap

import joblib
import pytest
from tests.processes import running, session_of, wait_until

import clustrep as cr


def out_of_memory(X):
    raise MemoryError


def interrupted(X):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("clusterer", "error", "n_jobs", "backend"),
    [
        (out_of_memory, MemoryError, 1, "loky"),
        (out_of_memory, MemoryError, 2, "multiprocessing"),
        (interrupted, KeyboardInterrupt, 1, "loky"),
        (interrupted, KeyboardInterrupt, 2, "loky"),
    ],
)
def test_what_is_not_the_replicates_fault_passes_through(clusterer, error, n_jobs, backend, tables):
    with joblib.parallel_config(backend=backend), pytest.raises(error):
        cr.replicability(clusterer, tables, n_resamples=2, rng=1, n_jobs=n_jobs)


def test_a_failing_run_without_workers_leaves_the_users_own_workers_alone(tables):
    from joblib.externals.loky import get_reusable_executor

    executor = get_reusable_executor(max_workers=1, timeout=60)
    assert executor.submit(abs, -1).result() == 1
    with pytest.raises(MemoryError):
        cr.replicability(out_of_memory, tables, n_resamples=2, rng=1, n_jobs=1)
    try:
        assert executor.submit(abs, -2).result() == 2
    finally:
        executor.shutdown(kill_workers=True)


INTERRUPTED = """
import os, sys, time
import joblib, numpy as np
import clustrep as cr


def endless(X):
    os.write(1, b"running %d\\n" % os.getpid())  # in one write: two workers print at once
    time.sleep(3600)


tables = [np.arange(18.0).reshape(9, 2) ** 1.5, np.arange(18.0).reshape(9, 2) ** 0.5]
with joblib.parallel_config(backend=sys.argv[1]):
    try:
        cr.replicability(endless, tables, n_resamples=8, rng=0, n_jobs=2)
    except KeyboardInterrupt:
        print("stopped", flush=True)
sys.stdin.readline()
"""


def workers_of(leader):
    """Its live processes but for itself and the one that tidies up after it."""
    return [pid for pid, command in session_of(leader).items() if pid != leader and "resource_tracker" not in command]


@pytest.mark.parametrize(
    ("backend", "whole_group"),
    [("loky", True), ("multiprocessing", False)],
    ids=["as a terminal does", "the parent alone"],
)
def test_an_interrupted_run_leaves_no_process_behind(backend, whole_group, tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(textwrap.dedent(INTERRUPTED))
    with running(sys.executable, script, backend, stdin=subprocess.PIPE) as process:
        started = process.stdout.readline()
        workers = {int(pid) for pid in re.findall(r"\d+", started)}
        assert workers, process.stderr.read()
        assert workers < set(session_of(process.pid)) - {process.pid}
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        # The other worker may have said that it runs, too.
        assert "stopped\n" in iter(process.stdout.readline, ""), process.stderr.read()
        # The program goes on without its workers, which would have slept for an hour ...
        wait_until(lambda: not workers_of(process.pid))
        # ... and nothing at all stays after it.
        _, err = process.communicate("\n")
        assert process.returncode == 0, err
        wait_until(lambda: not session_of(process.pid))
