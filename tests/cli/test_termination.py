"""SIGTERM ends a command as an interrupt does, and --quiet is quiet of both; a killed worker is a sentence."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

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
EARLY = """
import os, signal, sys
from clustrep.cli import console, program
program.Imported.__getitem__ = lambda *_: os.kill(os.getpid(), signal.SIGINT)
program.main()
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
        assert err.replace("computing\n", "") == ""  # because of --quiet
        wait_until(lambda: not session_of(process.pid))
    left = [name for name in sorted(os.listdir(folder)) if name != "__pycache__"]
    if "clustrep-results" in left:
        assert os.listdir(folder / "clustrep-results") == [".clustrep"]  # which the next run takes
        left.remove("clustrep-results")
    assert left == before


@pytest.mark.parametrize(("clusterer", "pause"), [("Halves", None), ("Halves", 0.3), ("HalvesInWorkers", 0.1)])
def test_quiet_interrupts_are_quiet_also_twice(clusterer, pause, command):
    """As in a terminal, which sends them to all processes of the group."""
    with running(*command(clusterer)) as process:
        assert process.stderr.readline() == "computing\n"
        os.killpg(process.pid, signal.SIGINT)
        if pause is not None:
            time.sleep(pause)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, out, err.replace("computing\n", "")) == (130, "", "")
        wait_until(lambda: not session_of(process.pid))


def test_an_interrupt_before_the_command_is_imported(command):
    with running(sys.executable, "-c", EARLY, *command("Halves")[3:]) as process:
        assert process.communicate() == ("", "")
        assert process.returncode == 130


def test_two_interrupts_are_one_sentence(command):
    with running(*(argument for argument in command("Halves") if argument != "--quiet")) as process:
        while process.stderr.readline() != "computing\n":
            pass
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, out, err.replace("computing\n", "")) == (130, "", "Interrupted.\n")


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
