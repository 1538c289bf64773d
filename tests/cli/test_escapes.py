"""Nothing from a file reaches the terminal raw: names, labels, clusterers' messages, configurations."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.malformed import MAINZ, TINY, VDX, invoke, put

from clustrep.cli.program import clustrep

CLIPBOARD = "\x1b]52;c;aGk=\x07"
EVIL = f"{CLIPBOARD}\u202e\x9b2J"
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

CASES = {
    "feature": ({"mainz.csv": MAINZ.replace("ESR1", EVIL)}, ("inspect", "mainz.csv", "vdx.csv")),
    "sample": ({"mainz.csv": MAINZ.replace("m2", EVIL)}, ("inspect", "mainz.csv", "vdx.csv")),
    "sample, JSON": ({"mainz.csv": MAINZ.replace("m2", EVIL)}, ("inspect", "mainz.csv", "vdx.csv", "--json")),
    "label": (
        {"mainz.csv": "".join(f'{line},"{EVIL}"\n' for line in MAINZ.splitlines())},
        ("inspect", "mainz.csv", "--label", EVIL),
    ),
    "a file's name": ({f"{EVIL}.csv": MAINZ}, ("inspect", f"{EVIL}.csv", "vdx.csv")),
    "a file that is not there": ({}, ("inspect", f"{EVIL}.csv")),
    "a folder's content": ({EVIL: "x"}, ("inspect", "absent.csv")),
    "no shared feature": (
        {f"{EVIL}.csv": MAINZ.replace("ESR1,ERBB2,AURKA", f"{EVIL},b,c")},
        ("inspect", f"{EVIL}.csv", "vdx.csv"),
    ),
    "a cell": ({"mainz.csv": MAINZ.replace("\nm2,", f"\nm2,{EVIL}")}, ("run", "mainz.csv", "vdx.csv")),
    "a line that looks like one of ours": (
        {"a\nstudy fake: 900 samples.csv": MAINZ},
        ("inspect", "a\nstudy fake: 900 samples.csv", "vdx.csv"),
    ),
    "a configuration": ({"run.toml": f'"{EVIL!s}" = 1\n'.replace("\x1b", "\\u001b").replace("\x07", "\\u0007").replace(
        "\x9b", "\\u009b").replace("\u202e", "\\u202e")}, ("run", "--config", "run.toml")),
    "an unknown command": ({}, (EVIL,)),
    "an unknown option": ({}, ("run", f"--{EVIL}")),
}  # fmt: skip


@pytest.mark.parametrize(("files", "line"), CASES.values(), ids=CASES)
def test_nothing_from_a_file_reaches_the_terminal_raw(files, line, empty_folder):
    put(empty_folder, files)
    outcome = CliRunner().invoke(clustrep, list(line), prog_name="clustrep")
    shown = outcome.stdout + outcome.stderr
    assert not RAW.search(shown), repr(shown)
    assert not re.search(r"^study fake", shown, re.MULTILINE)
    assert "u001b]52" in shown or "x1b]52" in shown or "fake" in shown


def test_json_of_hostile_names_is_json(empty_folder):
    put(empty_folder, {"mainz.csv": MAINZ.replace("m2", EVIL)})
    outcome = invoke(("inspect", "mainz.csv", "vdx.csv", "--json"))
    assert EVIL in json.loads(outcome.stdout)["files"][0]["first_samples"]


def test_a_run_with_hostile_names_shows_and_writes_nothing_harmful(empty_folder):
    put(empty_folder, {f"=cmd{EVIL}.csv": MAINZ, "a\n=b.csv": VDX})
    outcome = invoke(("run", *TINY["run"], "--clusterer", "ward", f"=cmd{EVIL}.csv", "a\n=b.csv"))
    assert outcome.code == 0, outcome
    assert not RAW.search(outcome.stdout + outcome.stderr)
    assert not re.search(r"^=b", outcome.stdout, re.MULTILINE)
    again = invoke(("report", "clustrep-results", "--format", "markdown"))
    assert not RAW.search(again.stdout)
    tables = sorted(Path("clustrep-results").glob("*.csv"))
    assert len(tables) >= 5
    for path in tables:
        with path.open(newline="") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "@"))]
    with Path("clustrep-results", "scores.csv").open(newline="") as stream:
        assert {row["train"] for row in csv.DictReader(stream)} == {f"'=cmd{EVIL}", "a\n=b"}


def test_a_clusterer_that_says_harmful_things_is_shown_with_escapes(empty_folder, monkeypatch):
    code = f"class Evil:\n    def fit_predict(self, X, y=None):\n        raise ValueError({EVIL!r})\n"
    put(empty_folder, {"evilmodule.py": code})
    monkeypatch.syspath_prepend(str(empty_folder))
    outcome = CliRunner().invoke(
        clustrep, ["run", *TINY["run"], "--clusterer", "evilmodule.Evil", "mainz.csv", "vdx.csv"]
    )
    assert outcome.exit_code == 3
    assert not RAW.search(outcome.stdout + outcome.stderr)
    assert "u001b]52" in outcome.stderr
