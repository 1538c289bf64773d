"""What only looks malformed is read; what fails in part is told."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.cli.malformed import (
    BAD_DATA,
    LINES,
    MAINZ,
    SOME_FAILED,
    SUBTYPES,
    TINY,
    TWO,
    VDX,
    Content,
    X,
    everything_in,
    h5ad,
    invoke,
    put,
    table,
    turned,
    with_cell,
    with_column,
)

# ---------------------------------------------------------------------------------------------------------------------
# what only looks malformed: it is read, and so it is told

GOOD = r"study mainz: 12 samples \(m1, m2, m3, .*3 shared features"
BOTH = ("inspect", "mainz.csv", "vdx.csv")
FINE: dict[str, tuple[Mapping[str, Content], Sequence[str], str]] = {
    "UTF-16": ({"mainz.csv": MAINZ.encode("utf-16")}, BOTH, GOOD),
    "byte order mark": ({"mainz.csv": MAINZ.encode("utf-8-sig")}, BOTH, GOOD),
    "gzip by content": ({"mainz.csv": gzip.compress(MAINZ.encode())}, BOTH, GOOD),
    "semicolons": ({"mainz.csv": MAINZ.replace(",", ";")}, BOTH, GOOD),
    "tabs in .csv": ({"mainz.csv": MAINZ.replace(",", "\t")}, BOTH, GOOD),
    "spaces": ({"mainz.csv": MAINZ.replace(",", "  ")}, BOTH, GOOD),
    "Windows": ({"mainz.csv": MAINZ.replace("\n", "\r\n")}, BOTH, GOOD),
    "no name for the names": ({"mainz.csv": MAINZ.removeprefix("id,")}, BOTH, GOOD),
    "blank lines": ({"mainz.csv": MAINZ.replace("\n", "\n\n") + ",,,\n"}, BOTH, GOOD),
    "white space around names": ({"mainz.csv": MAINZ.replace("ESR1,ERBB2", " ESR1 ,\u00a0ERBB2")}, BOTH, GOOD),
    "no extension": ({"mainz": MAINZ}, ("inspect", "mainz", "vdx.csv"), GOOD),
    "one feature": (
        {"mainz.csv": table("m", X[:, :1], ["ESR1"]), "vdx.csv": table("v", X[:, :1], ["ESR1"])},
        BOTH,
        "1 shared feature\n",
    ),
    "constant table": ({"mainz.csv": table("m", X * 0)}, BOTH, GOOD),
    "two identical files": ({"mainz.csv": VDX}, BOTH, r"look at this: .*'mainz' and 'vdx' have 12 sample names in"),
    "label in numbers": (
        {"mainz.csv": with_column("class", [1, 2] * 6)},
        ("inspect", "mainz.csv", "--label", "class"),
        r"known labels 1, 2",
    ),
    "odd names": (
        {"<script>.csv": MAINZ, "é😀.csv": VDX, "a;b|c.csv": MAINZ.replace("m", "w")},
        ("inspect", "<script>.csv", "é😀.csv", "a;b|c.csv"),
        r"study <script>:.*study é😀:.*study a;b\|c:.*3 shared features",
    ),
    "sparse h5ad": (
        {"cells.h5ad": lambda path: h5ad(pytest.importorskip("scipy.sparse").csr_matrix(X))(path)},
        ("inspect", "cells.h5ad", "--study-key", "donor"),
        r"study a: 6 samples.*study b: 6 samples",
    ),
    "a label in one of two files": (
        {"mainz.csv": with_column("subtype", SUBTYPES)},
        (*BOTH, "--label", "subtype"),
        r"known labels A, B.*3 shared features",
    ),
    "one of two files turned": ({"mainz.csv": turned(MAINZ)}, (*BOTH, "--transpose-only", "mainz"), GOOD),
    "a text file beside an h5ad file with --study-key": (
        {"cells.h5ad": h5ad()},
        ("inspect", "cells.h5ad", "vdx.csv", "--study-key", "donor"),
        "3 shared features",
    ),
    "same name in two folders": (
        {"a/mainz.csv": MAINZ, "b/mainz.csv": VDX},
        ("inspect", "a/mainz.csv", "b/mainz.csv"),
        r"study a/mainz: .*study b/mainz: .*3 shared features",
    ),
    "sample names such as 1_1": (
        {"mainz.csv": MAINZ.replace("id,", "code,").replace("\nm", "\n1_")},
        BOTH,
        r"study mainz: 12 samples \(1_1, 1_2, 1_3",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "line", "told"), FINE.values(), ids=FINE)
def test_what_is_no_mistake_is_read(files, line, told, empty_folder):
    put(empty_folder, files)
    before = everything_in(empty_folder)
    outcome = invoke(line)
    assert outcome.code == 0, outcome
    assert re.search(told, outcome.stdout, re.DOTALL), outcome.stdout
    assert outcome.stderr == ""
    assert everything_in(empty_folder) == before


INSPECTED = {"mainz.csv": with_cell("NA"), "cut.csv": gzip.compress(MAINZ.encode())[:-20]}


@pytest.mark.parametrize("how", [(), ("--json",)])
def test_inspect_tells_what_is_wrong_with_every_file(how, empty_folder):
    put(empty_folder, INSPECTED)
    before = everything_in(empty_folder)
    outcome = invoke(("inspect", "mainz.csv", "vdx.csv", "cut.csv", *how))
    assert outcome.code == BAD_DATA
    assert "sample 'm3', feature 'ESR1'" in outcome.stdout
    assert "cut.csv is a damaged gzip file" in outcome.stdout
    assert "v1" in outcome.stdout
    assert "Traceback" not in outcome.stdout + outcome.stderr
    assert everything_in(empty_folder) == before


def test_inspect_says_on_stderr_why_it_fails(empty_folder):
    put(empty_folder, INSPECTED)
    outcome = invoke(("inspect", "mainz.csv", "vdx.csv", "cut.csv"))
    assert len(re.findall(r"^error: ", outcome.stderr, re.MULTILINE)) == 1


# ---------------------------------------------------------------------------------------------------------------------
# what ends with 4: results are written, and what is missing is said

SOME = {
    "one constant study": (
        {"mainz.csv": table("m", X * 0)},
        ("--clusterer", "ward"),
        r"scores of 24 failed.*distinct points",
    ),
}


@pytest.mark.parametrize(("files", "options", "warning"), SOME.values(), ids=SOME)
def test_some_that_fail_are_told_and_the_rest_is_written(files, options, warning, empty_folder):
    put(empty_folder, files)
    outcome = invoke((TWO[0], *TINY["run"], *options, *TWO[1:]))
    assert outcome.code == SOME_FAILED
    assert re.search(r"^warning: .*" + warning, outcome.stderr, re.MULTILINE)
    assert not re.search(r"^error:", outcome.stderr, re.MULTILINE)
    assert (empty_folder / "clustrep-results" / "report.html").is_file()
    assert not list(empty_folder.glob(".clustrep-results*"))


@pytest.mark.parametrize(("files", "options", "warning"), SOME.values(), ids=SOME)
def test_some_that_fail_are_named(files, options, warning, empty_folder):
    put(empty_folder, files)
    outcome = invoke((TWO[0], *TINY["run"], *options, *TWO[1:]))
    assert re.search(r"^warning: .*'mainz'", outcome.stderr, re.MULTILINE)


# ---------------------------------------------------------------------------------------------------------------------
# names that are odd, and written


def test_names_are_not_markup_in_the_page(empty_folder):
    put(empty_folder, {"<script>alert(1)<.csv": MAINZ, "a\nb.csv": VDX})
    outcome = invoke(("run", *TINY["run"], "--clusterer", "ward", "<script>alert(1)<.csv", "a\nb.csv"))
    assert outcome.code == 0, outcome
    assert "<script>alert" not in (empty_folder / "clustrep-results" / "report.html").read_text(encoding="utf-8")


def test_every_study_has_its_file(empty_folder):
    put(empty_folder, {"a b.csv": MAINZ, "a_b.csv": VDX})
    outcome = invoke(("test", *TINY["test"], "--out", "res", "a b.csv", "a_b.csv"))
    assert outcome.code == 0, outcome
    assert len(list((empty_folder / "res").glob("result*.npz"))) == 2


def test_a_refusal_of_a_small_study_speaks_of_options(empty_folder):
    put(empty_folder, {"mainz.csv": "\n".join(LINES[:3])})
    outcome = invoke(("test", *TINY["test"], "--whiten", "mainz.csv"))
    assert outcome.code != 0
    assert "--features" in outcome.stderr
    assert "n_components" not in outcome.stderr


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="there are no pipes by name here")
def test_a_pipe_is_read_whole_or_refused(empty_folder):
    put(empty_folder, {})
    content = b"".join(b"%06.3f,%07.3f\n" % (i / 99, i / 7) for i in range(1024))
    assert len(content) == 1024 * 15
    reading, writing = os.pipe()
    try:
        os.write(writing, content)
        os.close(writing)
        outcome = invoke(("inspect", f"/dev/fd/{reading}"))
    finally:
        os.close(reading)
    assert "1,024 samples" in outcome.stdout or re.search(r"pipe|regular file", outcome.stdout)
