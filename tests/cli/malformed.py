"""Malformed inputs on the command line; the one sentence that each gets is in tests/sentences.md.

Every case has a folder of its own with two good studies, `mainz.csv` and `vdx.csv`, over which its files are put. The
sentence names the file or study, and the line, column, sample or feature where there is one; it says what to do next;
it speaks of options, not of Python. Nothing else comes: no traceback, nothing on stdout, no folder.
"""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.sentences import check_snapshot

from clustrep.cli.program import clustrep

USAGE, BAD_DATA, SOME_FAILED = 2, 3, 4
FEATURES = ("ESR1", "ERBB2", "AURKA")
TWO = ("run", "mainz.csv", "vdx.csv")
TINY = {
    "run": ("--resamples", "2", "--null-collections", "19", "--figures", "none", "--jobs", "1", "--k", "2"),
    "stability": ("--resamples", "2", "--splits", "1", "--figures", "none", "--jobs", "1", "--k", "2"),
    "test": ("--simulations", "19", "--figures", "none", "--jobs", "1"),
}
TINY["local"] = TINY["run"]
FOLDER = "a folder"
QUICK = ("--clusterer", "ward")  # for what is computed, alas, to the end
Content = str | bytes | Callable[[Path], object] | None


class Case(NamedTuple):
    """Where its sentence stands, what lies in the folder, what is typed, and how it ends."""

    heading: str
    name: str
    files: Mapping[str, Content]
    line: Sequence[str]
    code: int


class Cases(dict[str, Case]):
    """Cases by name."""

    def __init__(self, heading: str):
        super().__init__()
        self.heading = heading

    def add(self, name, files=None, options=(), *, line=TWO, code=BAD_DATA):
        assert name not in self, f"two cases are called {name!r}"
        typed = (line[0], *TINY.get(line[0], ()), *options, *line[1:])
        self[name] = Case(self.heading, name, files or {}, typed, code)

    def mainz(self, name, content, options=(), **how):
        """Add a case in which `mainz.csv` is something else."""
        self.add(name, {"mainz.csv": content}, options, **how)

    def usage(self, name, *options, files=None, line=TWO):
        """Add a case in which the command is wrong, not the data."""
        self.add(name, files, options, line=line, code=USAGE)

    def parameters(self, *names: str) -> list[Any]:
        """Return all cases, or those named, for `pytest.mark.parametrize`."""
        return [pytest.param(self[name], id=name) for name in names or self]


# ---------------------------------------------------------------------------------------------------------------------
# tables


X = np.repeat([[0.0, 0.0, 0.0], [6.0, 5.0, 4.0]], 6, axis=0) + np.random.default_rng(5).normal(size=(12, 3)).round(2)


def table(prefix, values=X, features=FEATURES):
    rows = [[f"{prefix}{i}", *(f"{value:.2f}" for value in row)] for i, row in enumerate(values, 1)]
    return "".join(",".join(row) + "\n" for row in [["id", *features], *rows])


MAINZ, VDX = table("m"), table("v", X[::-1] + 0.1)
FRAME = pd.DataFrame(X, index=[f"m{i}" for i in range(1, 13)], columns=list(FEATURES))
LINES = MAINZ.splitlines()
SUBTYPES = ["A", "B"] * 6


def with_cell(cell, row=3, column=1, content=MAINZ, delimiter=","):
    """Change one cell: by default feature ESR1 of sample m3, in line 4."""
    cells = [line.split(delimiter) for line in content.splitlines()]
    cells[row][column] = cell
    return "".join(delimiter.join(row) + "\n" for row in cells)


def with_column(name, values):
    return "".join(f"{line},{value}\n" for line, value in zip(LINES, [name, *values], strict=True))


def turned(content):
    return "".join(
        ",".join(row) + "\n" for row in zip(*(line.split(",") for line in content.splitlines()), strict=True)
    )


def h5ad(matrix=X, names=None, **columns):
    def write(path):
        anndata = pytest.importorskip("anndata")
        known = {"donor": ["a", "b"] * 6, "type": ["T", "B", "B"] * 4, **columns}
        obs = pd.DataFrame(known, index=names or [f"c{i}" for i in range(12)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cells = anndata.AnnData(matrix.copy(), obs, pd.DataFrame(index=list(FEATURES)), obsm={"X_pca": X[:, :2]})
            cells.write_h5ad(path)

    return write


# ---------------------------------------------------------------------------------------------------------------------
# running and checking

# Words of Python, NumPy, pandas and click that nobody has typed.
NOT_FOR_USERS = re.compile(
    r"Traceback|__init__|\bn_(jobs|resamples|clusters|null)\b|\bstudy_key\b|\b(label|header|transpose|rep|scale|null)=|"
    r"\bas rep\b|\bleave (header|transpose) out|Studies\.|from_anndata|\bframes?\b|frame\.T|\barrays\b|pandas|adata|"
    r"reset_index|\bFalse or None\b|\bNone\b, got|\bcodec\b|must be an iterable|<Buffer>|sblock|has no attribute|"
    r"positional argument|Internal error"
)


class Outcome(NamedTuple):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


def put(folder: Path, files: Mapping[str, Content]) -> None:
    """Write the good studies, and over them the files of a case."""
    for name, content in {"mainz.csv": MAINZ, "vdx.csv": VDX, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is FOLDER:
            path.mkdir()
        elif callable(content):
            content(path)
        elif content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


def invoke(line: Sequence[str]) -> Outcome:
    result = CliRunner().invoke(clustrep, list(line), prog_name="clustrep")
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return Outcome(result.exit_code, result.stdout, result.stderr)


def process(line: Sequence[str]) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "clustrep", *line], capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def everything_in(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.parent.rglob("*")}


def check(malformed: Case, folder: Path, run: Callable[[Sequence[str]], Outcome]) -> None:
    put(folder, malformed.files)
    before = everything_in(folder)
    outcome = run(malformed.line)
    assert everything_in(folder) == before, "something was left behind or changed"
    assert outcome.code == malformed.code, outcome
    assert outcome.stdout == ""
    assert len(re.findall(r"^error:", outcome.stderr, re.MULTILINE | re.IGNORECASE)) == 1, outcome.stderr
    sentence = re.split(r"^error: ", outcome.stderr, flags=re.MULTILINE | re.IGNORECASE)[1].rstrip("\n")
    check_snapshot(malformed.heading, malformed.name, sentence, folder)
    shown = outcome.stderr
    for word in [word for word in malformed.line if len(word) > 1]:  # what the user has typed may be repeated
        shown = shown.replace(word, "…")
    assert not NOT_FOR_USERS.search(shown), outcome.stderr[:1000]
    assert sentence.split("\n")[0].endswith((".", "?", "?)")), sentence[:1000]
