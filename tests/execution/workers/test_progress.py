"""Progress: a bar after a second, where somebody can see it."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import sys
import termios
import time
import types

import numpy as np
import pytest
from tests.helpers import configured

import clustrep as cr


def slowly(first_fit=1.05):
    """Make a clusterer whose first fit takes longer than the bar waits."""
    waits = [first_fit]

    def clusterer(X):
        time.sleep(waits.pop() if waits else 0)
        return np.arange(len(X)) % 2

    return clusterer


@contextlib.contextmanager
def terminal(monkeypatch):
    """Make stderr a terminal; yields a function that gives what was written to it."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 80))
    with os.fdopen(theirs, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)

        def read():
            stream.flush()
            os.set_blocking(ours, False)
            pieces = []
            with contextlib.suppress(BlockingIOError):  # a terminal hands out a part at a time
                while piece := os.read(ours, 2**16):
                    pieces.append(piece)
            return b"".join(pieces).decode()

        yield read
    os.close(ours)


def show(tables, clusterer=None, **options):
    cr.replicability(clusterer or slowly(), tables, n_resamples=3, rng=0, diagonal=False, **options)


@pytest.mark.parametrize(("progress", "shown"), [("auto", True), (False, False)])
def test_on_a_terminal_there_is_a_bar_unless_it_is_not_wanted(progress, shown, tables, monkeypatch):
    with terminal(monkeypatch) as read:
        configured(show, progress=progress)(tables)
        text = read()
    if not shown:
        assert text == ""
        return
    assert re.search(r"replicability: +\d+%.*/4 ", text)
    assert re.split(r"[\r\n]", text)[-1].strip() == ""  # and it is wiped away at the end


def test_a_quick_run_needs_no_bar(tables, monkeypatch):
    with terminal(monkeypatch) as read:
        configured(show, progress=True)(tables, slowly(0))
        assert read().strip() == ""


@pytest.mark.parametrize(("progress", "shown"), [("auto", False), (True, True)])
def test_elsewhere_there_is_none_unless_it_is_wanted(progress, shown, tables, capsys):
    configured(show, progress=progress)(tables)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("replicability:" in err) == shown
    assert shown or err == ""


@pytest.mark.parametrize(
    ("shell", "shown"), [("ZMQInteractiveShell", True), (None, False)], ids=["notebook", "merely imported"]
)
def test_a_notebook_shows_the_bar_though_its_stderr_is_no_terminal(shell, shown, tables, monkeypatch, capsys):
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell and type(shell, (), {"config": {}})()
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    show(tables)
    assert ("replicability:" in capsys.readouterr().err) == shown


def test_a_program_without_stderr_runs(tables, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw, or with 2>&-
    show(tables, slowly(0))
