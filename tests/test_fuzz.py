"""`make fuzz`: cases follow from the seed alone, and what does not survive is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fuzz import files
from fuzz import run as program
from fuzz.mutation import flipped, mutated
from fuzz.run import TARGETS
from fuzz.target import Target, outcome_of

import clustrep as cr
from clustrep.errors import DataError

FILES = ("csv", "geo", "parquet", "h5ad", "zarr", "xlsx", "rda")
GOOD, SILENT = b"id,a\nx,1.5\ny,2.5\n", b"id,a\nx,1.5\ny,9.5\n"
ROOT = Path(program.__file__).parent.parent
PLANTED = """
import os, sys, time
import fuzz.run
from clustrep.errors import DataError
from fuzz.target import Target

def attempt(rng, folder, shared):
    case = int((folder / "case").read_text()) if (folder / "case").exists() else FIRST
    (folder / "case").write_text(str(case + 1))
    if case == 1:
        raise DataError("refused")
    if case == 2:
        raise KeyError("wrong")
    if case == 3:
        os.abort()
    if case == 4:
        time.sleep(600)

fuzz.run.TARGETS["planted"] = Target("planted", 6, 6, lambda folder: None, attempt, seconds=2)
FIRST = int(sys.argv[3])
from fuzz.worker import main
main(*sys.argv[1:])
"""


@pytest.fixture
def planted(monkeypatch):
    """A target with one case of every kind, in a worker that knows it."""
    real = subprocess.Popen

    def started(command, **options):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        return real([sys.executable, "-c", PLANTED, *command[3:]], env=environment, **options)

    monkeypatch.setattr(program.subprocess, "Popen", started)
    return Target("planted", 6, 6, lambda folder: None, lambda rng, folder, shared: None, seconds=2)


def test_what_does_not_survive_is_told_and_the_rest_is_tried(planted, capsys):
    _, failures = program.run([planted], seed=3, quick=False)
    assert [failure.case for failure in failures] == [2, 3, 4]
    assert failures[0].problem.startswith("KeyError: ")
    assert failures[1].problem == "crash: exit code -6"
    assert failures[2].problem == "hang: no answer within 2 seconds"
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:5] == ["planted", "6", "2", "1", "3"]  # tried, read, refused, failed
    assert "    python -m fuzz.run --target planted --seed 3 --case 2" in lines


def test_a_case_follows_from_seed_target_and_number_alone():
    target = TARGETS["csv"]
    content = bytes(range(256)) * 4
    for change in (flipped, mutated):
        first = [change(content, target.rng(0, case)) for case in range(20)]
        assert first == [change(content, target.rng(0, case)) for case in range(20)]
        assert len(set(first)) > 15
        assert first != [change(content, target.rng(1, case)) for case in range(20)]
        assert first != [change(content, TARGETS["geo"].rng(0, case)) for case in range(20)]


def test_every_kind_of_input_has_a_target():
    assert set(TARGETS) == {*FILES, "toml", "arrays", "clusterers", "saved"}
    assert all(0 < target.n_quick < target.n_cases for target in TARGETS.values())
    assert TARGETS["h5ad"].n_cases >= 2000


@pytest.mark.parametrize("name", ["csv", "geo", "arrays", "saved"])
def test_cases_survive(name, tmp_path):
    target = TARGETS[name]
    shared = target.prepare(tmp_path)
    told = {target.outcome(7, case, tmp_path, shared) for case in range(10)}
    assert told <= {"read", "refused"}


def test_what_reaches_something_new_is_kept_and_changed_later(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzz.readers.CORPUS", tmp_path / "corpus")
    target = TARGETS["csv"]
    corpus = target.shared(tmp_path, keep=True)
    n_seeds = len(corpus.contents)
    for case in range(30):
        target.outcome(7, case, tmp_path, corpus)
    kept = list((tmp_path / "corpus" / "csv").glob("new-*"))
    assert 0 < len(kept) == len(corpus.contents) - n_seeds < 30
    again = target.shared(tmp_path, keep=True)
    assert len(again.contents) == len(corpus.contents)
    content = kept[0].read_bytes()
    ends = {outcome_of(lambda: target.attempt_file(content, tmp_path)) for _ in range(3)}
    assert len(ends) == 1
    assert ends <= {"read", "refused"}


def test_a_number_that_is_not_in_the_file_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzz.readers.read", lambda path, **settings: cr.Studies({"a": [[1.5], [2.5]]}))
    ends = [outcome_of(lambda text=text: TARGETS["csv"].attempt_file(text, tmp_path)) for text in (GOOD, SILENT)]
    assert ends[0] == "read"
    assert "numbers not in the file" in ends[1]


def test_errors_of_the_library_are_refusals_and_no_others(tmp_path):
    def refuses(rng, folder, shared):
        raise DataError("no")

    def fails(rng, folder, shared):
        np.zeros(2)[3]

    assert Target("x", 1, 1, lambda folder: None, refuses).outcome(0, 0, tmp_path, None) == "refused"
    assert "IndexError" in Target("x", 1, 1, lambda folder: None, fails).outcome(0, 0, tmp_path, None)


@pytest.mark.parametrize("kind", files.KINDS, ids=lambda kind: kind[0])
def test_files_as_people_have_them_are_read_right_or_refused(kind, tmp_path):
    _, write, options, expected = kind
    frame = pd.DataFrame(
        np.random.default_rng(9).normal(5, 2, size=(60, 4)), [f"s{i}" for i in range(60)], list("abcd")
    )
    suffix = {"Excel": ".xlsx", "Parquet": ".parquet"}.get(kind[0], ".csv")
    said = files.outcome(frame, write, options, expected, tmp_path / f"input{suffix}")
    assert said == ("refused" if expected == "refused" else "right")


def test_a_table_is_put_between_the_marks_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- x -->\nold\n<!-- y -->\nbelow\n")
    for _ in range(2):
        program.put_table(page, "<!-- x -->", "<!-- y -->", ["kind", "n"], [["csv", "5"]])
        assert page.read_text() == "above\n<!-- x -->\n| kind | n |\n| --- | --- |\n| csv | 5 |\n<!-- y -->\nbelow\n"
