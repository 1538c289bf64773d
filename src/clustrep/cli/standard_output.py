"""Stdout is for data: what clusterers print goes to stderr, so that `--json` stays valid."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def prints_to_stderr() -> Iterator[None]:
    """Let others' code print to stderr instead: Python's, compiled code, workers and programs that it starts."""
    if sys.stderr is None or sys.stdout is None:  # as under pythonw
        yield
        return
    sys.stdout.flush()
    with contextlib.redirect_stdout(sys.stderr), _descriptor_of_stderr():
        yield


@contextlib.contextmanager
def _descriptor_of_stderr() -> Iterator[None]:
    """Point descriptor 1, which whatever is not Python writes to, and workers inherit, to where 2 points."""
    try:
        stdout = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        yield
        return
    try:
        yield
    finally:
        _flush_compiled_code()
        os.dup2(stdout, 1)
        os.close(stdout)


def _flush_compiled_code() -> None:
    """Write out what C's `printf` holds back; it would come at the end of the process, behind the data."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # Windows has no such library
        ctypes.CDLL(None).fflush(None)
