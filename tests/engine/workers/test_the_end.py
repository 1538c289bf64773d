"""The end of a run: errors that pass through, and interrupted runs."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import joblib
import pytest

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
    os.write(1, b"running %d\\n" % os.getpid())  # in one piece: two workers say it at once
    time.sleep(3600)


tables = [np.arange(18.0).reshape(9, 2) ** 1.5, np.arange(18.0).reshape(9, 2) ** 0.5]
with joblib.parallel_config(backend=sys.argv[1]):
    try:
        cr.replicability(endless, tables, n_resamples=8, rng=0, n_jobs=2)
    except KeyboardInterrupt:
        print("stopped", flush=True)
sys.stdin.readline()
"""
HANGS_AFTER = 120  # seconds: only a guard, nothing here takes as long


def session_of(leader):
    """The live processes of a session: {pid: command line}."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # gone in the meantime
            with open(f"/proc/{pid}/stat") as stat:
                state, _, _, session = stat.read().rpartition(")")[2].split()[:4]
            if int(session) == leader and state not in "ZX":
                with open(f"/proc/{pid}/cmdline") as command:
                    found[int(pid)] = command.read().replace("\0", " ")
    return found


def workers_of(leader):
    """Its live processes but for itself and the one that tidies up after it."""
    return [pid for pid, command in session_of(leader).items() if pid != leader and "resource_tracker" not in command]


def wait_until(condition):
    deadline = time.monotonic() + HANGS_AFTER
    while not condition():
        assert time.monotonic() < deadline, "it hangs"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("backend", "whole_group"),
    [("loky", True), ("multiprocessing", False)],
    ids=["as a terminal does", "the parent alone"],
)
def test_an_interrupted_run_leaves_no_process_behind(backend, whole_group, tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(textwrap.dedent(INTERRUPTED))
    process = subprocess.Popen(
        [sys.executable, script, backend],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    guard = threading.Timer(HANGS_AFTER, os.killpg, [process.pid, signal.SIGKILL])
    guard.start()
    try:
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
    finally:
        guard.cancel()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
