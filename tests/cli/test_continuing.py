"""A command that was ended continues where it stopped, to the same bytes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.support import NO_NULL, PAIR, READING, SMALL, contents, invoke, listed, process
from tests.processes import running, wait_until

KEPT = Path("out/.clustrep/checkpoint")
ASK = ["run", *PAIR, "--k", "2:3", *READING, *SMALL, *NO_NULL]
LONG = [*ASK, "--clusterer", "gmm:n_init=3", "--resamples", "60", "--out", "out"]


def blocks():
    """The scores that were kept; clusters of the findings stand beside them."""
    return sorted(KEPT.glob("*replicability-*/*.npz"))


@pytest.fixture
def whole(folder):
    """The files of a run that nobody ended."""
    invoke(*ASK, "--out", "whole")
    return contents(folder / "whole")


@pytest.mark.slow
def test_a_killed_run_continues_and_says_so(folder):
    invoke(*[*LONG, "--out", "whole"])
    killed = subprocess.Popen([sys.executable, "-m", "clustrep", *LONG], stderr=subprocess.DEVNULL)
    while not blocks() and killed.poll() is None:
        time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert blocks(), "it was finished before it could be killed"
    done = invoke(*LONG)
    assert "of 60 resamples were done." in done.stderr
    assert contents(folder / "out") == contents(folder / "whole")


def test_an_interrupted_run_says_how_far_it_came_and_that_it_continues(folder):
    with running(sys.executable, "-m", "clustrep", *LONG, "--resamples", "100000") as interrupted:
        # After a preliminary answer, when a block is written again: what came before it is surely counted.
        wait_until(lambda: len(blocks()) > 2 or interrupted.poll() is not None)
        interrupted.send_signal(signal.SIGINT)
        *said, continues, last = interrupted.communicate()[1].splitlines()
    assert interrupted.returncode == 130
    assert any(re.fullmatch(r"replicability: [1-9]\d* of 100000 resamples are done\.", line) for line in said)
    assert "checkpoint in out" in continues
    assert last == "Interrupted."


def test_a_finished_run_is_continued_with_more_resamples(folder):
    invoke(*ASK, "--out", "out")
    grown = [*ASK, "--resamples", "6"]
    done = invoke(*grown, "--out", "out", "--force")
    assert "replicability: 4 of 6 resamples were done." in done.stderr
    invoke(*grown, "--out", "whole")
    assert contents(folder / "out") == contents(folder / "whole")


def test_nothing_is_said_where_the_user_wants_it_quiet(folder, whole):
    invoke(*ASK, "--out", "out")
    assert "were done" not in invoke(*ASK, "--out", "out", "--force", "--quiet").stderr


def test_another_question_in_an_unfinished_folder_is_refused(folder, whole):
    invoke(*ASK, "--out", "out")
    for name in listed(folder / "out"):  # as if it had been killed before its results were written
        (folder / "out" / name).unlink()
    done = invoke(*ASK, "--seed", "3", "--out", "out", code=2)
    assert "holds the checkpoint of another run: seed is 3, was 0." in done.stderr
    assert "name another folder with --out; --force discards it." in done.stderr
    invoke(*ASK, "--out", "out")
    assert contents(folder / "out") == whole


def test_force_discards_what_another_run_has_finished(folder):
    invoke(*ASK, "--out", "out")
    other = [*ASK, "--seed", "3"]
    done = invoke(*other, "--out", "out", "--force")
    assert "were done" not in done.stderr
    invoke(*other, "--out", "whole")
    assert contents(folder / "out") == contents(folder / "whole")


MINE = """
import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin


class Mine(ClusterMixin, BaseEstimator):
    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None):
        self.labels_ = (X[:, FEATURE] > np.median(X[:, FEATURE])).astype(int)
        return self
"""


@pytest.mark.slow  # library: tests/execution/test_changed_code.py
def test_scores_of_a_class_that_was_corrected_do_not_come_back(folder):
    ask = ["run", *PAIR, "--k", "2", *READING, *SMALL, *NO_NULL, "--clusterer", "mine.Mine"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["", *sys.path]), "PYTHONDONTWRITEBYTECODE": "1"}
    (folder / "mine.py").write_text(MINE.replace("FEATURE", "2"))
    process(*ask, "--out", "out", env=environment)
    first = contents(folder / "out")
    (folder / "mine.py").write_text(MINE.replace("FEATURE", "0"))
    done = process(*ask, "--out", "out", "--force", env=environment)
    assert "--force discards the checkpoint in out: the code of mine.Mine.fit has changed.\n" in done.stderr
    assert "were done" not in done.stderr
    assert contents(folder / "out")["scores.csv"] != first["scores.csv"]
    for name in listed(folder / "out"):  # as if it had been killed before its results were written
        (folder / "out" / name).unlink()
    (folder / "mine.py").write_text(MINE.replace("FEATURE", "1"))
    done = process(*ask, "--out", "out", env=environment, code=2)
    assert "holds the checkpoint of another run: the code of mine.Mine.fit has changed." in done.stderr


def test_a_damaged_block_is_named_and_does_not_change_the_results(folder, whole):
    invoke(*ASK, "--out", "out")
    (block, *_) = [path for path in blocks() if path.parent.name.startswith("replicability")]
    block.write_bytes(block.read_bytes()[:-1])
    done = invoke(*ASK, "--out", "out", "--force")
    assert f"warning: {block} is damaged: its replicates are computed again.\n" in done.stderr
    assert contents(folder / "out") == whole
