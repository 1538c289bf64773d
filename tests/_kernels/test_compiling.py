"""What is said while kernels are compiled, and where."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys

import pytest

from clustrep._kernels.compiled import SENTENCE


def what_is_said(cache, *, terminal):
    """The standard error of a new program that needs two kernels."""
    code = "import clustrep; print(clustrep.mutual_information([0, 0, 1, 1], [0, 1, 1, 1]))"
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
    assert len(list(cache.rglob("*.nbi"))) == 2
    return said.decode()


def test_on_a_terminal_it_is_said_once_that_kernels_are_compiled(tmp_path):
    assert what_is_said(tmp_path, terminal=True).split() == SENTENCE.split()
    assert what_is_said(tmp_path, terminal=True) == ""  # they were kept


def test_elsewhere_nothing_is_said(tmp_path):
    assert what_is_said(tmp_path, terminal=False) == ""
