"""What is said while kernels are compiled, and where."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys

import numpy as np
import pytest
from tests.cli.support import process

from clustrep.kernels.compiled import SENTENCE


def what_is_said(cache, *, terminal, before=""):
    """The standard error of a new program that needs a kernel."""
    code = f"import clustrep; {before}print(clustrep.agreement.mutual_information([0, 0, 1, 1], [0, 1, 1, 1]))"
    ours, theirs = pty.openpty() if terminal else os.pipe()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    with os.fdopen(theirs, "wb") as stream:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stream, env=environment, check=False)
    said = b""
    with os.fdopen(ours), contextlib.suppress(OSError):  # a terminal's way to say that there is nothing
        said = os.read(ours, 2**16)
    assert done.returncode == 0, said
    assert float(done.stdout) == pytest.approx(0.21576, abs=1e-5)
    assert len(list(cache.rglob("*.nbi"))) == 1
    return said.decode()


def test_on_a_terminal_it_is_said_once_that_kernels_are_compiled(tmp_path):
    assert what_is_said(tmp_path, terminal=True).split() == SENTENCE.split()
    assert what_is_said(tmp_path, terminal=True) == ""  # they were kept


@pytest.mark.parametrize("terminal", [True, False])
def test_it_is_said_where_progress_is_shown(terminal, tmp_path):
    said = what_is_said(tmp_path, terminal=terminal, before=f"clustrep.set_config(progress={not terminal}); ")
    assert said.split() == ([] if terminal else SENTENCE.split())


def test_elsewhere_nothing_is_said(tmp_path):
    assert what_is_said(tmp_path, terminal=False) == ""


def test_the_command_line_says_it_also_where_there_is_no_terminal(tmp_path):
    table = np.random.default_rng(0).normal(size=(20, 2)) + 9 * (np.arange(20) % 2)[:, None]
    for name in ("a.csv", "b.csv"):
        np.savetxt(tmp_path / name, table, delimiter=",", header="x,y", comments="")
    ask = ["valleys", "a.csv", "b.csv", "--k", "2", "--clusterer", "ward", "--figures", "none", "--force"]

    def lines(*options, cache):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / cache)}
        return process(*ask, *options, cwd=tmp_path, env=environment).stderr.splitlines()

    assert lines(cache="one").count(SENTENCE) == 1
    assert SENTENCE not in lines(cache="one")  # they were kept
    assert lines("--quiet", cache="two") == []
