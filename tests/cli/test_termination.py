"""SIGTERM ends a command as an interrupt does; a killed worker is a sentence."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from tests.cli.support import NO_NULL, PAIR, READING
from tests.processes import running, session_of, wait_until

CLUSTERERS = """
import ctypes, multiprocessing, os, signal, time
from sklearn.base import BaseEstimator, ClusterMixin


class Halves(BaseEstimator, ClusterMixin):
    def fit(self, X, y=None):
        self.act()
        self.labels_ = (X[:, 0] > X[:, 0].mean()).astype(int)
        return self

    def act(self):
        os.write(2, b"computing\\n")
        time.sleep(3600)


class HalvesInWorkers(Halves):
    def act(self):
        if multiprocessing.parent_process() is not None:
            super().act()


class Deaf(Halves):
    def act(self):
        os.write(2, b"computing\\n")
        mutex = ctypes.create_string_buffer(64)
        for _ in range(2):  # waits for itself, in C
            ctypes.CDLL(None).pthread_mutex_lock(mutex)


class KillsWorkers(Halves):
    def act(self):
        if multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
"""
ARGUMENTS = [*PAIR, *READING, *NO_NULL, "--resamples", "6", "--figures", "none", "--jobs", "2", "--quiet"]


@pytest.fixture
def command(folder):
    (folder / "some_clusterers.py").write_text(CLUSTERERS)

    def build(clusterer):
        return sys.executable, "-m", "clustrep", "run", *ARGUMENTS, "--clusterer", f"some_clusterers.{clusterer}"

    return build


@pytest.mark.parametrize(
    ("clusterer", "whole_group"),
    [("Halves", False), ("HalvesInWorkers", False), ("HalvesInWorkers", True), ("Deaf", False)],
)
def test_a_command_that_is_terminated_leaves_nothing_but_what_is_finished(clusterer, whole_group, command, folder):
    before = sorted(os.listdir(folder))
    with running(*command(clusterer)) as process:
        assert process.stderr.readline() == "computing\n"
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGTERM)
        out, err = process.communicate()
        assert process.returncode == 143, err
        assert out == ""
        assert "Traceback" not in err
        assert clusterer == "Deaf" or err.splitlines()[-1] == "Terminated."
        wait_until(lambda: not session_of(process.pid))
    left = [name for name in sorted(os.listdir(folder)) if name != "__pycache__"]
    if "clustrep-results" in left:
        assert os.listdir(folder / "clustrep-results") == [".clustrep"]  # which the next run takes
        left.remove("clustrep-results")
    assert left == before


def test_a_killed_worker_is_a_sentence_about_memory_and_workers(command):
    with running(*command("KillsWorkers")) as process:
        out, err = process.communicate()
        assert process.returncode == 3, err
        assert out == ""
        assert err.splitlines()[-1] == (
            "error: A worker was killed (SIGKILL(-9)), and one before it, when 2 computed at a time: probably memory "
            "ran out. Use --jobs '1', or fewer features or samples."
        )
        wait_until(lambda: not session_of(process.pid))
