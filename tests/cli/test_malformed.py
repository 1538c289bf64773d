"""Malformed inputs on the command line, and the one sentence that each gets.

Every case has a folder of its own with two good studies, `mainz.csv` and `vdx.csv`, over which its files are put. The
sentence names the file or study, and the line, column, sample or feature where there is one; it says what to do next;
it speaks of options, not of Python. Nothing else comes: no traceback, nothing on stdout, no folder.

"""

from __future__ import annotations

import gzip
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from clustrep.cli import clustrep
from clustrep.cli.console import in_options

USAGE, BAD_DATA, SOME_FAILED = 2, 3, 4
FEATURES = ("ESR1", "ERBB2", "AURKA")
TWO = ("run", "mainz.csv", "vdx.csv")
TINY = {
    "run": ("--resamples", "2", "--null-collections", "19", "--figures", "none", "--jobs", "1", "--k", "2"),
    "stability": ("--resamples", "2", "--splits", "1", "--figures", "none", "--jobs", "1", "--k", "2"),
    "test": ("--simulations", "19", "--figures", "none", "--jobs", "1"),
}
TINY["local"] = TINY["run"]
MORE = r"\S*[:.;,?] \S+"  # the sentence goes on
FOLDER = "a folder"
QUICK = ("--clusterer", "ward")  # for what is computed, alas, to the end
Content = str | bytes | Callable[[Path], object] | None


class Case(NamedTuple):
    """What lies in the folder, what is typed, and what is said."""

    files: Mapping[str, Content]
    line: Sequence[str]
    code: int
    sentence: str


CASES: dict[str, Case] = {}


def case(name, sentence, files=None, options=(), *, line=TWO, code=BAD_DATA):
    assert name not in CASES, f"two cases are called {name!r}"
    CASES[name] = Case(files or {}, (line[0], *TINY.get(line[0], ()), *options, *line[1:]), code, sentence)


def mainz(name, sentence, content, options=(), **how):
    """Add a case in which `mainz.csv` is something else."""
    case(name, sentence, {"mainz.csv": content}, options, **how)


def usage(name, sentence, *options, files=None, line=TWO):
    """Add a case in which the command is wrong, not the data."""
    case(name, sentence, files, options, line=line, code=USAGE)


# ---------------------------------------------------------------------------------------------------------------------
# tables


X = np.repeat([[0.0, 0.0, 0.0], [6.0, 5.0, 4.0]], 6, axis=0) + np.random.default_rng(5).normal(size=(12, 3)).round(2)


def table(prefix, values=X, features=FEATURES):
    rows = [[f"{prefix}{i}", *(f"{value:.2f}" for value in row)] for i, row in enumerate(values, 1)]
    return "".join(",".join(row) + "\n" for row in [["id", *features], *rows])


MAINZ, VDX = table("m"), table("v", X[::-1] + 0.1)
FRAME = pd.DataFrame(X, index=[f"m{i}" for i in range(1, 13)], columns=list(FEATURES))
LINES = MAINZ.splitlines()


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


def zipped(member):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member, "x")
    return stream.getvalue()


def parquet(frame):
    def write(path):
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)

    return write


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


def hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["matrix"] = X


def cut(write, length):
    def write_less(path):
        write(path)
        path.write_bytes(path.read_bytes()[:length])

    return write_less


def npz(**arrays):
    return lambda path: np.savez(path, **arrays)


class Trap:
    """Makes a file when it is unpickled."""

    def __reduce__(self):
        return open, ("sprung", "w")


SERIES = "\n".join(
    [
        '!Series_title\t"Breast tumours"',
        "\t".join(["!Sample_geo_accession", *FRAME.index]),
        "\t".join(["!Sample_characteristics_ch1", *["er status: positive"] * 12]),
        "!series_matrix_table_begin",
        "\t".join(["ID_REF", *FRAME.index]),
        *("\t".join([name, *map(str, FRAME[name])]) for name in FEATURES),
        "!series_matrix_table_end\n",
    ]
)

# ---------------------------------------------------------------------------------------------------------------------
# files that are no tables

mainz("missing file", r"There is no file mainz\.csv\. This folder holds vdx\.csv", None)
case("missing folder", r"no/where\.csv" + MORE, line=("run", "no/where.csv", "vdx.csv"))
mainz("folder", r"mainz\.csv is a folder: name the files in it", FOLDER)
mainz("empty file", r"mainz\.csv is empty" + MORE, "")
mainz("only white space", r"mainz\.csv is empty" + MORE, " \n\t\n")
mainz("only a header", r"mainz\.csv has a header but no samples" + MORE, LINES[0] + "\n")
mainz("binary junk", r"mainz\.csv is not text in UTF-8 \(byte 0\): save it again", bytes(range(128, 256)))
mainz(
    "gzip cut off",
    r"mainz\.csv is a damaged gzip file: [^.]*" + MORE,
    gzip.compress(MAINZ.encode())[:-20],
)
mainz("gzip of nothing", r"mainz\.csv is empty" + MORE, gzip.compress(b""))
mainz(
    "gzip of a zip",
    r"mainz\.csv is a gzip file with something other than text in it: unpack it first",
    gzip.compress(zipped("a.csv")),
)
mainz("zip", r"mainz\.csv is an Excel or zip file.*: save the table as CSV", zipped("a.csv"))
case(
    "xlsx",
    r"mainz\.xlsx is an Excel or zip file.*: save the table as CSV",
    {"mainz.xlsx": zipped("xl/workbook.xml")},
    line=("run", "mainz.xlsx", "vdx.csv"),
)
mainz("xls", r"mainz\.csv is an Excel file.*: save the table as CSV", b"\xd0\xcf\x11\xe0" + bytes(99))
mainz(
    "Latin-1",
    r"mainz\.csv is not text in UTF-8 \(byte 60\): save it again with that encoding",
    MAINZ.replace("m3", "mü").encode("latin-1"),
)
mainz(
    "UTF-16 without mark",
    r"mainz\.csv holds zero bytes.*UTF-8",
    MAINZ.encode("utf-16-le"),
)
mainz(
    "zero bytes",
    r"mainz\.csv holds zero bytes: it is not delimited text" + MORE,
    MAINZ.encode() + bytes(9),
)
mainz(
    "web page",
    r"mainz\.csv.*(HTML|web page)",
    "<!DOCTYPE html>\n<html><body>Not found</body></html>\n",
)
mainz(
    "Git LFS pointer",
    r"mainz\.csv.*git lfs",
    "version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 123\n",
)
mainz(
    "prose",
    r"mainz\.csv has 5 cells in its first line but 3 in line 2" + MORE,
    "This is not a table.\nNo it isn't.\n",
)

# ---------------------------------------------------------------------------------------------------------------------
# rows and cells

mainz(
    "row too short",
    r"mainz\.csv has 4 cells in its first line but 3 in line 4" + MORE,
    MAINZ.replace(LINES[3], LINES[3].rpartition(",")[0]),
)
mainz(
    "row too long",
    r"mainz\.csv has 4 cells in its first line but 5 in line 4" + MORE,
    MAINZ.replace(LINES[3], LINES[3] + ",7"),
)
mainz(
    "very long lines, one cell short",
    r"mainz\.csv has 20,?001 cells in its first line but 20,?000 in line 2" + MORE,
    "id," + ",".join(f"g{j}" for j in range(20_000)) + "".join(f"\nm{i}" + ",1.5" * 19_999 for i in range(3)),
)
mainz(
    "quote never closed",
    r"mainz\.csv.*line 4\b.*quot",
    MAINZ.replace("m3", '"m3'),
)
mainz(
    "quote within a cell",
    r"mainz\.csv.*line 4\b.*quot",
    MAINZ.replace("m3", '"m"3'),
)
for cell in ("high", "2024-01-31", "1/31/2024", "50%", "5 €", "TRUE", "<0.01", "#DIV/0!", "0x1F"):
    mainz(f"cell {cell}", rf"'mainz'.*{re.escape(repr(cell))}.*sample 'm3', feature 'ESR1'", with_cell(cell))
mainz(
    "German date",
    r"'mainz'.*'31\.01\.2024'.*sample 'm3', feature 'ESR1'",
    with_cell("31.01.2024"),
)
mainz(
    "two texts",
    r"'mainz'.*'high'.*sample 'm3', feature 'ESR1'.*'low'.*sample 'm5', feature 'ERBB2'",
    with_cell("high", content=with_cell("low", 5, 2)),
)
mainz(
    "a text of 300,000 letters",
    r"^[^\n]{20,2000}$",
    with_cell("x" * 300_000),
)
for cell in ("NA", "", "nan", "null", "#N/A", "?"):
    mainz(
        f"missing value {cell!r}",
        r"'mainz' has 1 missing value .* sample 'm3', feature 'ESR1'\. Fill them in, or drop",
        with_cell(cell),
    )
mainz(
    "feature without values",
    r"'mainz' has 12 missing values in 12 samples and 1 feature, .* feature 'KRT5'.* or drop",
    with_column("KRT5", ["NA"] * 12),
)
for cell in ("inf", "-Inf", "1e400"):
    mainz(
        f"infinite value {cell}",
        r"'mainz' has 1 infinite value .* sample 'm3', feature 'ESR1'\. .* or drop",
        with_cell(cell),
    )
mainz(
    "value too large to be squared",
    r"'mainz'.*(sample 'm3', feature|feature) 'ESR1'",
    with_cell("1e200"),
)
mainz(
    "value too large to be tested",
    r"'mainz'.*(sample 'm3', feature|feature) 'ESR1'",
    with_cell("1e200"),
    line=("test", "mainz.csv"),
)
mainz(
    "decimal commas",
    r"'mainz'.*'ESR1' \(such as '-0,80'\).*decimal commas: write them with points",
    MAINZ.replace(",", ";").replace(".", ","),
)
mainz(
    "decimal commas between commas",
    r"mainz\.csv has 4 cells in its first line but 7 in line 2.*comma",
    MAINZ.replace(".", ","),
)
mainz(
    "decimal commas in one column",
    r"mainz\.csv.*(line 2|first line)",
    LINES[0] + "\n" + "".join(line.replace(".", ",", 1) + "\n" for line in LINES[1:]),
    QUICK,
)
mainz(
    "thousands with commas",
    r"'mainz'.*'1,234'.*thousands",
    with_cell('"1,234"'),
)
mainz("thousands with commas and a fraction", r"'mainz'.*'1,234\.5'.*thousands", with_cell('"1,234.5"'))
mainz("thousands with apostrophes", r"'mainz'.*1'234\.5.*thousands", with_cell("1'234.5"))
mainz(
    "thousands with points",
    r"'mainz'.*'1\.234,5'.*thousands",
    with_cell("1.234,5", content=MAINZ.replace(",", ";"), delimiter=";"),
)
mainz(
    "thousands with underscores",
    r"'mainz'.*'1_000'.*sample 'm3', feature 'ESR1'",
    with_cell("1_000"),
    QUICK,
)
mainz(
    "comment line first",
    r"mainz\.csv.*(comment|#)",
    "# made on Monday\n" + MAINZ,
)
mainz(
    "comment line with commas first",
    r"mainz\.csv.*(comment|#)",
    "# a, b, c, d\n" + MAINZ,
)
mainz(
    "comment line last",
    r"mainz\.csv has 4 cells in its first line but 1 in line 14" + MORE,
    MAINZ + "# end\n",
)
mainz(
    "semicolons from line 5",
    r"mainz\.csv has 4 cells in its first line but 1 in line 5" + MORE,
    "\n".join([*LINES[:4], *(line.replace(",", ";") for line in LINES[4:])]),
)
mainz(
    "semicolon in the header",
    r"mainz\.csv.*first line",
    MAINZ.replace(",", ";", 1),
    QUICK,
)
mainz(
    "delimiter behind every line",
    r"mainz.*(column 5|delimiter|last)",
    MAINZ.replace("\n", ",\n"),
)
mainz(
    "delimiter behind every row",
    r"mainz\.csv.*(line 2|delimiter)",
    LINES[0] + "\n" + "".join(line + ",\n" for line in LINES[1:]),
)
mainz(
    "delimiter behind one row",
    r"mainz\.csv has 4 cells in its first line but 5 in line 4" + MORE,
    MAINZ.replace(LINES[3], LINES[3] + ","),
)

# ---------------------------------------------------------------------------------------------------------------------
# names, headers, orientation

mainz(
    "sample twice",
    r"'mainz' has 1 duplicate sample name: 'm2'\. Every sample needs a name of its own",
    MAINZ.replace("m3", "m2"),
)
mainz(
    "feature twice",
    r"'mainz' has 1 duplicate feature name: 'ESR1'\. Every feature needs a name of its own",
    MAINZ.replace("ERBB2", "ESR1"),
)
mainz(
    "feature without a name",
    r"mainz.*(column 3|position 2|'ESR1')" + MORE,
    MAINZ.replace("ERBB2", ""),
)
mainz("sample without a name", r"mainz.*(line 4|position 3)" + MORE, MAINZ.replace("m3", ""))
mainz("one sample", r"'mainz' has 1 sample: at least 2 are needed", "\n".join(LINES[:2]))
mainz(
    "no shared feature",
    r"no feature in common: a feature needs the same name in all.*mainz: 3 features.*: a, b, c.*vdx: ",
    MAINZ.replace("ESR1,ERBB2,AURKA", "a,b,c"),
)
mainz(
    "features in lower case",
    r"no feature in common.*(case|capital)",
    MAINZ.replace("ESR1,ERBB2,AURKA", "esr1,erbb2,aurka"),
)
mainz(
    "one file turned",
    r"Study 'mainz' is probably the wrong way round.*--transpose-only mainz",
    turned(MAINZ),
)
case(
    "both files turned",
    r"share 3 sample names: the tables are probably the wrong way round.*use --transpose\.",
    {"mainz.csv": turned(MAINZ), "vdx.csv": turned(VDX)},
)
case(
    "both files turned in vain",
    r"wrong way round.*(leave|without) --transpose",
    options=("--transpose",),
)
case(
    "one file turned in vain",
    r"'mainz' is probably the wrong way round.*(leave|without) --transpose-only",
    options=("--transpose-only", "mainz"),
)
mainz(
    "header of numbers",
    r"first line of mainz\.csv may be a header of numbers or a sample: use --header .*, or --no-header",
    "1,2,3\n" + "".join(line.partition(",")[2] + "\n" for line in LINES[1:]),
)
mainz(
    "no header in one file",
    r"'mainz' does not name its features, study 'vdx' does.*(header|first line)",
    "".join(line.partition(",")[2] + "\n" for line in LINES[1:]),
)
case(
    "no headers, and other numbers of columns",
    r"mainz 2, vdx 3.*(header|first line)",
    {"mainz.csv": "0.5,1.5\n2.5,3.5\n", "vdx.csv": "0.5,1.5,2.5\n3.5,4.5,5.5\n"},
)
case(
    "header denied",
    r"'mainz'.*(leave|without) --no-header",
    options=("--no-header",),
)
case(
    "header claimed",
    r"no feature in common.*--header",
    {"mainz.csv": "0.5,1.5\n2.5,3.5\n4.5,0.5\n", "vdx.csv": "0.7,1.7\n2.7,3.7\n4.7,0.7\n"},
    ("--header",),
)

# ---------------------------------------------------------------------------------------------------------------------
# labels

SUBTYPES = ["A", "B"] * 6
mainz(
    "a class named so",
    r"Feature 'class' of study 'mainz' is probably a class label.*--label 'class'.*--no-label",
    with_column("class", [1, 2] * 6),
)
mainz(
    "a class in the last column",
    r"Feature 'KRT5' of study 'mainz' is probably .*--label 'KRT5'.*--no-label",
    with_column("KRT5", [1, 2] * 6),
)
mainz(
    "a class in words",
    r"'mainz' has 1 column that is not numeric: 'subtype' \(such as 'A'\)\. .*--label 'subtype'",
    with_column("subtype", SUBTYPES),
)
mainz(
    "a class in the first column",
    r"'mainz' has 1 duplicate sample name: 'A'.*--label 'subtype'",
    "subtype,ESR1\n" + "".join(f"{name},{i}.5\n" for i, name in enumerate("ABCDEFA")),
)
case("unknown label", r"No study has a column 'subtyp'.*there are AURKA, ERBB2, ESR1", options=("--label", "subtyp"))
mainz(
    "labels missing",
    r"'mainz' .* 6 missing labels.*sample 'm2'.*leave",
    with_column("subtype", ["A", "NA"] * 6),
    ("--label", "subtype"),
)
mainz(
    "measurements as labels",
    r"'mainz'.*'?0\.5'?.*labels are names, not measurements",
    with_column("subtype", [0.5, 1.5] * 6),
    ("--label", "subtype", *QUICK),
)
mainz(
    "nothing but a label",
    r"'mainz' has no features: there is nothing to cluster by",
    "id,subtype\n" + "".join(f"m{i},{'AB'[i % 2]}\n" for i in range(12)),
    ("--label", "subtype"),
)
usage("label without a name", r"--label", "--label", "")
usage("label and no label", r"--label and --no-label exclude each other", "--label", "x", "--no-label")

# ---------------------------------------------------------------------------------------------------------------------
# names of files

for name in ("<script>alert(1)<", "é😀", "..", "$HOME `x`", "%s{0}", "-"):
    case(
        f"file named {name}",
        re.escape(name) + r"\.csv holds zero bytes",
        {f"{name}.csv": "a\0"},
        line=("run", "--", f"{name}.csv", "vdx.csv"),
    )
case(
    "file named with a line end",
    r"b\.csv.*UTF-8",
    {"a\nerror: b.csv": b"\xff,\xff"},
    line=("run", "a\nerror: b.csv", "vdx.csv"),
)
case(
    "feature named with a line end",
    r"'zzz'.*there are",
    {"mainz.csv": MAINZ.replace("ESR1", '"x\nerror: y"')},
    ("--label", "zzz"),
)
case(
    "file without a name",
    r" \.csv.*name",
    {" .csv": MAINZ},
    line=("run", " .csv", "vdx.csv"),
)
case(
    "file named like a parameter",
    r"There is no file n_clusters\.csv",
    line=("run", "n_clusters.csv", "vdx.csv"),
)
case(
    "file named in no encoding",
    r"m\\udcff.*rename",
    {os.fsdecode(b"m\xff.csv"): MAINZ},
    line=("run", os.fsdecode(b"m\xff.csv"), "vdx.csv"),
)
usage("same file twice", r"'vdx\.csv' came twice", line=("run", "vdx.csv", "./vdx.csv"))

# ---------------------------------------------------------------------------------------------------------------------
# Parquet


def in_parquet(name, sentence, content, options=(), **how):
    case(
        f"Parquet, {name}",
        sentence,
        {"mainz.parquet": content},
        options,
        line=("run", "mainz.parquet", "vdx.csv"),
        **how,
    )


in_parquet("cut off", r"mainz\.parquet is a damaged.*again", cut(parquet(FRAME), -8))
in_parquet("nothing but its mark", r"mainz\.parquet is a damaged.*again", b"PAR1")
in_parquet("no bytes", r"mainz\.parquet is empty" + MORE, b"")
in_parquet("no rows", r"'mainz' has 0 samples: at least 2 are needed", parquet(FRAME.iloc[:0]))
in_parquet("no columns", r"'mainz' has no features: there is nothing to cluster by", parquet(FRAME[[]]))
in_parquet(
    "text", r"'mainz' .* not numeric: 'type' \(such as 'A'\)\. .*--label 'type'", parquet(FRAME.assign(type=SUBTYPES))
)
in_parquet(
    "lists",
    r"mainz\.parquet has lists in its column 'v': give every feature a column of its own",
    parquet(FRAME.assign(v=[[1.0]] * 12)),
)
in_parquet(
    "missing value",
    r"'mainz' has 1 missing value .* sample 'm1', feature 'ESR1'\. Fill",
    parquet(FRAME.assign(ESR1=[None, *range(11)])),
)
in_parquet(
    "two levels",
    r"mainz\.parquet has an index of 2 levels: keep the one that names the samples",
    parquet(FRAME.set_axis(pd.MultiIndex.from_product([["a"], FRAME.index]))),
)
in_parquet(
    "numbers as text",
    r"'mainz'.*'ESR1'.*numbers as text: (?!.*pandas)",
    parquet(FRAME.assign(ESR1=FRAME["ESR1"].astype(str))),
)
in_parquet(
    "measurements as labels",
    r"'mainz'.*0\.5: labels are names, not measurements",
    parquet(FRAME.assign(subtype=[0.5, 1.5] * 6)),
    ("--label", "subtype"),
)
in_parquet(
    "header denied",
    r"--no-header is for delimited text, and mainz\.parquet is a Parquet file: leave --no-header out",
    parquet(FRAME),
    ("--no-header",),
    code=USAGE,
)

# ---------------------------------------------------------------------------------------------------------------------
# h5ad


def in_h5ad(name, sentence, content, options=(), *, command="run", key="donor", **how):
    line = (command, "cells.h5ad", "--study-key", key)
    case(f"h5ad, {name}", sentence, {"cells.h5ad": content}, options, line=line, **how)


in_h5ad("cut off", r"cells\.h5ad is .*damaged.*again", cut(h5ad(), -1000))
in_h5ad("nothing but its mark", r"cells\.h5ad is .*damaged.*again", b"\x89HDF\r\n\x1a\n")
in_h5ad("other HDF5", r"cells\.h5ad is an HDF5 file but not h5ad.*: save it as h5ad, or the table as CSV", hdf5)
in_h5ad(
    "unknown column",
    r"cells\.h5ad has no column 'doner' in obs .*there are donor, type\. Did you mean 'donor'\?",
    h5ad(),
    key="doner",
)
in_h5ad(
    "unknown representation",
    r"cells\.h5ad has no 'X_pac'.*--rep.*X, X_pca\. Did you mean 'X_pca'\?",
    h5ad(),
    ("--rep", "X_pac"),
)
in_h5ad(
    "unknown label",
    r"No study has a column 'typ'.*there are donor, type\. Did you mean 'type'\?",
    h5ad(),
    ("--label", "typ"),
)
in_h5ad("study with one cell", r"'b' has 1 sample: at least 2 are needed", h5ad(donor=[*"aaaaaaaaaaa", "b"]))
in_h5ad(
    "one study",
    r"cells\.h5ad.*one study.*'donor'|'donor'.*cells\.h5ad.*one study",
    h5ad(donor=["a"] * 12),
    code=USAGE,
)
in_h5ad(
    "cells without a study",
    r"cells\.h5ad has 6 cells without a study: 'donor' is missing there\. Leave",
    h5ad(donor=["a", None] * 6),
)
in_h5ad(
    "study without a name",
    r"cells\.h5ad.*'donor'",
    h5ad(donor=["a", " "] * 6),
)
in_h5ad(
    "missing value",
    r"'b' has 1 missing value .* sample 'c1', feature 'ERBB2'\. Fill",
    h5ad(np.where(np.arange(36).reshape(12, 3) == 4, np.nan, X)),
)
in_h5ad(
    "cell named twice",
    r"cells\.h5ad has 1 duplicate sample name: 'c'\. Every sample needs a name of its own",
    h5ad(names=["c"] * 12),
)
in_h5ad(
    "turned",
    r"cells\.h5ad is an h5ad file, and its rows are cells already: leave --transpose out",
    h5ad(),
    ("--transpose",),
    code=USAGE,
)
in_h5ad(
    "header claimed",
    r"--header is for delimited text, and cells\.h5ad is an h5ad file: leave --header out",
    h5ad(),
    ("--header",),
    code=USAGE,
)
in_h5ad(
    "two studies for one",
    r"takes one study, but the file holds 2: leave --study-key out",
    h5ad(),
    command="stability",
    code=USAGE,
)
usage(
    "h5ad without a column",
    r"one study can't be compared with itself: .*--study-key",
    files={"cells.h5ad": h5ad()},
    line=("run", "cells.h5ad"),
)
usage(
    "--study-key without h5ad",
    r"--study-key 'donor' is for h5ad files, and there is none among these",
    "--study-key",
    "donor",
)
usage("--rep without h5ad", r"--rep 'X_pca' is for h5ad files, and there is none among these", "--rep", "X_pca")

# ---------------------------------------------------------------------------------------------------------------------
# GEO


def in_geo(name, sentence, content, options=(), **how):
    case(f"GEO, {name}", sentence, {"geo.txt": content}, options, line=("run", "geo.txt", "vdx.csv"), **how)


in_geo("cut off", r"geo\.txt is a GEO series matrix that is cut off.*Download it again", SERIES[:-30])
in_geo(
    "no table",
    r"geo\.txt is a GEO series matrix that is cut off.*Download it again",
    SERIES.partition("!series_matrix_table_begin")[0],
)
in_geo(
    "no values",
    r"geo\.txt is a GEO series matrix without values: .*supplementary file.*Read that one",
    re.sub(r"\n(ESR1|ERBB2|AURKA)\t.*", "", SERIES),
)
in_geo(
    "null",
    r"'geo' has 1 missing value .* sample 'm1', feature 'ERBB2'\. Fill",
    re.sub(r"(\nERBB2\t)\S+", r"\1null", SERIES),
)
in_geo(
    "a letter",
    r"'geo'.*'P' at sample 'm1', feature 'ERBB2'" + MORE,
    re.sub(r"(\nERBB2\t)\S+", r"\1P", SERIES),
)
in_geo(
    "row too short",
    r"geo\.txt has 13 cells in the header of its table but 12 in line 7" + MORE,
    re.sub(r"(\nERBB2\t)\S+\t", r"\1", SERIES),
)
in_geo("unknown label", r"No study has a column 'ER'.*there are .*er status", SERIES, ("--label", "ER"))
in_geo(
    "turned",
    r"geo\.txt is a GEO series matrix.*: leave --transpose-only",
    SERIES,
    ("--transpose-only", "geo"),
    code=USAGE,
)

# ---------------------------------------------------------------------------------------------------------------------
# options

for text, sentence in {
    "1": r"'1': the number of clusters lies between 2 and 1,000",
    "5000": r"'5000': the number of clusters lies between 2 and 1,000",
    "8:2": r"'8:2' is no number of clusters: write 4, 2:8 or 2,3,5",
    "abc": r"'abc' is no number of clusters: write 4, 2:8 or 2,3,5",
    "2.5": r"'2\.5' is no number of clusters: write 4, 2:8 or 2,3,5",
    "": r"'' is no number of clusters: write 4, 2:8 or 2,3,5",
}.items():
    usage(f"--k {text}", r"Invalid value for '--k': " + sentence, "--k", text)
case("--k above the samples", r"\b13\b.*'mainz'|'mainz'.*\b13\b", options=("--k", "13"))
case(
    "--k above the distinct samples",
    r"\b4\b.*'mainz'|'mainz'.*\b4\b",
    {"mainz.csv": table("m", np.repeat(X[[0, 8]], 6, axis=0)), "vdx.csv": table("v", np.repeat(X[[0, 8]], 6, axis=0))},
    ("--k", "4"),
)
case(
    "constant tables",
    r"'mainz'.*(constant|same)",
    {"mainz.csv": table("m", X * 0), "vdx.csv": table("v", X * 0)},
)
mainz(
    "constant table alone",
    r"'mainz'.*(constant|same)",
    table("m", X * 0),
    line=("stability", "mainz.csv"),
)
usage("--resamples 0", r"'--resamples': 0 is not in the range x>=1", "--resamples", "0")
usage(
    "--resamples in words",
    r"'--resamples': 'ten' is not a valid whole number\.",
    "--resamples",
    "ten",
)
usage("--null-collections 5", r"'--null-collections': 5 is not in the range x>=19", "--null-collections", "5")
usage(
    "--simulations 5", r"'--simulations': 5 is not in the range x>=19", "--simulations", "5", line=("test", "mainz.csv")
)
usage("--jobs 0", r"--jobs", "--jobs", "0")
usage(
    "--agreement unknown",
    r"'--agreement': 'foo' is none of ari, ami, ami_max, ri, mi, prediction_strength, matching",
    "--agreement",
    "foo",
)
usage("--figures unknown", r"'--figures': 'gif' is none of png, svg, pdf, none", "--figures", "gif")
usage("--scale unknown", r"'--scale': 'log' is not one of 'none', 'zscore', 'robust'", "--scale", "log")
usage("option unknown", r"'--resample'.*'--resamples'", "--resample", "3")
usage("command unknown", r"No such command 'rum'.*'run'", line=("rum", "mainz.csv"))
usage(
    "--transpose-only unknown",
    r"no study to transpose 'manz'; there are mainz, vdx\. Did you mean 'mainz'\?",
    "--transpose-only",
    "manz",
)

BROKEN = {"broken.py": "def (\n", "raising.py": "raise RuntimeError('no')\n"}
for spec, sentence in [
    ("kmean", r"no clusterer 'kmean'; there are kmeans, .*Did you mean 'kmeans'\?"),
    ("kmeans:n_int=3", r"KMeans has no parameter 'n_int'\. Did you mean 'n_init'\?"),
    ("kmeans:foo=1", r"KMeans has no parameter 'foo'.*n_init"),
    ("kmeans:n_init=0", r"'n_init' parameter of KMeans must be .* Got 0 instead"),
    ("dbscan:eps=-1", r"'eps' parameter of DBSCAN must be a float in the range .* Got -1 instead"),
    ("dbscan:eps", r"write parameters as name=value, got 'eps'"),
    ("kmeans:n_clusters=3", r"the number of clusters is set by --k"),
    ("os.path.join", r"os\.path\.join is not a clusterer: it has no fit_predict"),
    ("sklearn.linear_model.LinearRegression", r"LinearRegression is not a clusterer: it has no fit_predict"),
    ("sklearn.cluster.FeatureAgglomeration", r"FeatureAgglomeration is not a clusterer: it has no fit_predict"),
    ("sklearn.cluster.Kmeans", r"'sklearn\.cluster' has no 'Kmeans'\. Did you mean 'KMeans'\?"),
    ("sklern.cluster.KMeans", r"no module 'sklern\.cluster' to import"),
    ("sklearn.pipeline.Pipeline", r"Pipeline.*'?steps'?"),
    ("sklearn.base.ClusterMixin", r"ClusterMixin is not a clusterer"),
    ("broken.Foo", r"'?broken'?.*can't be imported.*SyntaxError"),
    ("raising.Foo", r"'?raising'?.*can't be imported.*RuntimeError"),
]:  # fmt: skip
    usage(
        f"--clusterer {spec}",
        rf"--clusterer {re.escape(spec)}: .*{sentence}",
        "--clusterer",
        spec,
        files=BROKEN,
    )
usage("--clusterer twice", r"--clusterer kmeans came twice", "--clusterer", "kmeans", "--clusterer", "kmeans")
case(
    "--clusterer that fails always",
    r"Ward can only work with euclidean distances.* It is ward:metric=cosine",
    options=("--clusterer", "ward:metric=cosine"),
)

for name, sentence, content in [
    ("missing", r"list of features genes\.txt can't be read: No such file", None),
    ("a folder", r"list of features genes\.txt can't be read: Is a directory", FOLDER),
    ("empty", r"list of features genes\.txt is empty: write one name on each line", "\n# none\n"),
    ("none shared", r"None of the 2 features that genes\.txt lists \(A, B\) .* which have ESR1, ERBB2, AURKA",
     "A\nB\n"),
    ("all on one line", r"genes\.txt.*one name on each line|genes\.txt.*one a line", "ESR1,ERBB2\n"),
    ("Latin-1", r"list of features genes\.txt is not text in UTF-8" + MORE, "mü\n".encode("latin-1")),
]:  # fmt: skip
    case(f"--features {name}", sentence, {"genes.txt": content}, ("--features", "genes.txt"))

for name, sentence, content in [
    ("missing", r"run\.toml can't be read: No such file", None),
    ("a folder", r"run\.toml can't be read: Is a directory", FOLDER),
    ("not TOML", r"run\.toml is not TOML: .*line 1, column 8", "seed = = 3\n"),
    ("Latin-1", r"run\.toml.*UTF-8", "# ü\n".encode("latin-1")),
    ("byte order mark", r"run\.toml: 'seed': -1 is not in the range", "\ufeffseed = -1\n"),
    ("unknown key", r"run\.toml sets 'resample', which is no option\. Did you mean 'resamples'\?",
     "resample = 3\n"),
    ("a table", r"run\.toml: 'seed' is a table, but an option is a value or a list", "[seed]\na = 1\n"),
    ("other command", r"run\.toml is for `clustrep test`, not for `clustrep run`", 'command = "test"\n'),
    ("a number in words", r"run\.toml.*seed.*'abc'", 'seed = "abc"\n'),
    ("a list for a number", r"run\.toml.*seed", "seed = [1, 2]\n"),
    ("a fraction for a whole number", r"run\.toml.*seed.*2\.7", "seed = 2.7\n"),
    ("true for a number", r"run\.toml.*seed.*[Tt]rue", "seed = true\n"),
    ("a number for a file", r"run\.toml.*features", "features = 5\n"),
    ("a number for a folder", r"run\.toml.*out", "out = 5\n"),
    ("a number for yes", r"run\.toml.*quiet", "quiet = 3\n"),
    ("true for a name", r"run\.toml.*label", "label = true\n"),
]:  # fmt: skip
    quick = () if "list" in name else QUICK
    usage(f"--config {name}", sentence, "--config", "run.toml", *quick, files={"run.toml": content})
usage(
    "--config studies in a list of lists",
    r"run\.toml.*studies",
    "--config",
    "run.toml",
    line=("run",),
    files={"run.toml": 'studies = [["mainz.csv", "vdx.csv"]]\n'},
)
usage(
    "--config studies a number",
    r"run\.toml.*studies",
    "--config",
    "run.toml",
    line=("run",),
    files={"run.toml": "studies = 5\n"},
)

usage(
    "--out that exists",
    r"res exists already: name another folder with --out, or replace it with --force",
    "--out",
    "res",
    files={"res/mine.txt": "x"},
)
usage(
    "--out that is not ours",
    r"res holds no results of clustrep, so --force does not replace",
    "--out",
    "res",
    "--force",
    files={"res/mine.txt": "x"},
)
usage("--out the folder of the data", r"\. exists already: name another folder with --out", "--out", ".")
usage(
    "--out a file",
    r"res is a file: name a folder with --out",
    "--out",
    "res",
    files={"res": "x"},
)
usage(
    "--out below a file",
    r"res is a file: name (a|another) folder with --out",
    "--out",
    "res/sub",
    *QUICK,
    files={"res": "x"},
)

# ---------------------------------------------------------------------------------------------------------------------
# commands

SAVED = r"res/result\.npz is not a result that clustrep saved, or is damaged"


def report(name, sentence, files=None, line=("report", "res")):
    case(f"report, {name}", sentence, files, line=line)


report("no folder", r"There is no folder res" + MORE)
report("a file", r"res is a file: name the folder", {"res": "x"})
report("no results", r"res holds no result\.npz: name the folder that a run wrote", {"res/notes.txt": "x"})
report("damaged", SAVED + MORE, {"res/result.npz": b"PK\x03\x04junk"})
report("no bytes", SAVED + MORE, {"res/result.npz": b""})
report("foreign", SAVED + MORE, {"res/result.npz": npz(X=X)})
report("pickle", SAVED, {"res/result.npz": npz(clustrep=np.array([Trap()], dtype=object))})
report(
    "pickle among arrays",
    SAVED,
    {
        "res/result.npz": npz(
            clustrep=np.array('{"format": 1, "kind": "Analysis", "values": {}}'), x=np.array([Trap()], dtype=object)
        )
    },
)
report(
    "newer",
    r"res/result\.npz was saved by a newer clustrep \(format 9, this one reads 1\): update",
    {"res/result.npz": npz(clustrep=np.array('{"format": 9, "kind": "Analysis", "values": {}}'))},
)
report("a folder as result", r"res/result\.npz is a folder: name a file", {"res/result.npz": FOLDER})
usage(
    "report, unknown format",
    r"'--format': 'pdf' is not one of 'html', 'markdown', 'json'",
    "--format",
    "pdf",
    line=("report", "res"),
)
usage("report without a folder", r"Missing argument 'DIR'", line=("report",))

usage("run without files", r"name two or more files, one for each study; or try `clustrep demo`", line=("run",))
usage(
    "run with one file",
    r"one study can't be compared with itself: name two or more files.*`clustrep stability`",
    line=("run", "mainz.csv"),
)
usage(
    "local with one file",
    r"one study can't be|two or more",
    line=("local", "mainz.csv"),
)
usage("local without files", r"name two or more files", line=("local",))
usage(
    "local with two clusterers",
    r"local follows one --clusterer with one --k; `clustrep run` compares several",
    "--clusterer",
    "kmeans",
    "--clusterer",
    "ward",
    line=("local", "mainz.csv", "vdx.csv"),
)
usage(
    "local with two k",
    r"local follows one --clusterer with one --k; `clustrep run` compares several",
    "--k",
    "2,3",
    line=("local", "mainz.csv", "vdx.csv"),
)
usage(
    "local with an unknown study",
    r"no study to train on 'manz'; there are mainz, vdx\. Did you mean 'mainz'\?",
    "--train",
    "manz",
    line=("local", "mainz.csv", "vdx.csv"),
)
usage(
    "stability with two files",
    r"name one file, got 2; for several studies there is `clustrep run`",
    line=("stability", "mainz.csv", "vdx.csv"),
)
usage(
    "stability with two clusterers",
    r"stability takes one --clusterer",
    "--clusterer",
    "kmeans",
    "--clusterer",
    "ward",
    line=("stability", "mainz.csv"),
)
usage(
    "stability with an unknown index",
    r"'--index': 'foo' is none of matching, .*jaccard",
    "--index",
    "foo",
    line=("stability", "mainz.csv"),
)
mainz(
    "stability, missing value",
    r"'mainz' has 1 missing value .* sample 'm3', feature 'ESR1'\. Fill",
    with_cell("NA"),
    line=("stability", "mainz.csv"),
)
usage("test without files", r"name at least one file", line=("test",))
mainz(
    "test, missing file", r"There is no file mainz\.csv\. This folder holds vdx\.csv", None, line=("test", "mainz.csv")
)
usage("inspect without files", r"name at least one file", line=("inspect",))
usage(
    "inspect, label and no label",
    r"--label and --no-label exclude each other",
    "--label",
    "x",
    "--no-label",
    line=("inspect", "mainz.csv"),
)

# ---------------------------------------------------------------------------------------------------------------------
# every case

# Words of Python, NumPy, pandas and click that nobody has typed.
NOT_FOR_USERS = re.compile(
    r"Traceback|__init__|\bn_(jobs|resamples|clusters|null)\b|\bstudy_key\b|\b(label|header|transpose|rep|scale|null)=|"
    r"\bas rep\b|\bleave (header|transpose) out|Studies\.|from_anndata|\bframes?\b|frame\.T|\barrays\b|pandas|adata|"
    r"reset_index|\bFalse or None\b|\bNone\b, got|\bcodec\b|must be an iterable|<Buffer>|sblock|has no attribute|"
    r"positional argument|mistake in clustrep"
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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand in an empty folder, with another for temporary files beside it."""
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(here)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delenv("CLUSTREP_DEBUG", raising=False)
    return here


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


def check(one: Case, folder: Path, run: Callable[[Sequence[str]], Outcome]) -> None:
    put(folder, one.files)
    before = everything_in(folder)
    outcome = run(one.line)
    assert everything_in(folder) == before, "something was left behind or changed"
    assert outcome.code == one.code, outcome
    assert outcome.stdout == ""
    assert len(re.findall(r"^error:", outcome.stderr, re.MULTILINE | re.IGNORECASE)) == 1, outcome.stderr
    sentence = re.split(r"^error: ", outcome.stderr, flags=re.MULTILINE | re.IGNORECASE)[1].rstrip("\n")
    assert re.search(one.sentence, sentence, re.DOTALL), sentence[:1000]
    own_words = outcome.stderr
    for word in [word for word in one.line if len(word) > 1]:  # what the user has typed may be repeated
        own_words = own_words.replace(word, "…")
    assert not NOT_FOR_USERS.search(own_words), outcome.stderr[:1000]
    assert sentence.split("\n")[0].endswith((".", "?", "?)")), sentence[:1000]


def parameters(names: Sequence[str]) -> list[Any]:
    return [pytest.param(CASES[name], id=name) for name in names]


@pytest.mark.parametrize("one", parameters(list(CASES)))
def test_a_malformed_input_gets_its_sentence(one, folder):
    check(one, folder, invoke)


@pytest.mark.parametrize(
    "one",
    parameters(
        [
            "missing file",
            "missing value 'NA'",
            "both files turned",
            "file named é😀",
            "file named in no encoding",
            "h5ad, unknown column",
            "--k 8:2",
            "--config unknown key",
            "report, pickle",
            "--clusterer kmean",
        ]
    ),
)
def test_a_process_says_the_same(one, folder):
    check(one, folder, process)


def test_there_are_more_than_a_hundred():
    assert len(CASES) > 100


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
def test_what_is_no_mistake_is_read(files, line, told, folder):
    put(folder, files)
    before = everything_in(folder)
    outcome = invoke(line)
    assert outcome.code == 0, outcome
    assert re.search(told, outcome.stdout, re.DOTALL), outcome.stdout
    assert outcome.stderr == ""
    assert everything_in(folder) == before


INSPECTED = {"mainz.csv": with_cell("NA"), "cut.csv": gzip.compress(MAINZ.encode())[:-20]}


@pytest.mark.parametrize("how", [(), ("--json",)])
def test_inspect_tells_what_is_wrong_with_every_file(how, folder):
    put(folder, INSPECTED)
    before = everything_in(folder)
    outcome = invoke(("inspect", "mainz.csv", "vdx.csv", "cut.csv", *how))
    assert outcome.code == BAD_DATA
    assert "sample 'm3', feature 'ESR1'" in outcome.stdout
    assert "cut.csv is a damaged gzip file" in outcome.stdout
    assert "v1" in outcome.stdout
    assert "Traceback" not in outcome.stdout + outcome.stderr
    assert everything_in(folder) == before


def test_inspect_says_on_stderr_why_it_fails(folder):
    put(folder, INSPECTED)
    outcome = invoke(("inspect", "mainz.csv", "vdx.csv", "cut.csv"))
    assert len(re.findall(r"^error: ", outcome.stderr, re.MULTILINE)) == 1


# ---------------------------------------------------------------------------------------------------------------------
# what the library says, in options


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Pass label='x' or label=False.", "Use --label 'x' or --no-label."),
        ("pass header=True, or header=False if not", "use --header, or --no-header if not"),
        ("pass transpose=['a', \"b c\"].", "use --transpose-only a --transpose-only 'b c'."),
        ("leave transpose=True out", "leave --transpose out"),
        ("pass label='it\\'s \"x\"', then", "use --label 'it\\'s \"x\"', then"),
        ('compare with null="copula", too', 'compare with --null "copula", too'),
        ("rep='X' is for h5ad files", "--rep 'X' is for h5ad files"),
    ],
)
def test_phrases_of_the_library_are_options_here(said, told):
    assert in_options(said) == told


@pytest.mark.parametrize(
    "written",
    [
        "n_clusters.csv",
        "label=False.csv",
        "header=True",
        "scale=2.csv",
        "rep='X'",
        "kmeans:n_clusters=3",
        "n_resamples",
    ],
)
def test_what_the_user_wrote_stays(written):
    for said in (f"There is no file {written}.", f"{written} is empty.", f"Study {written!r} has 1 sample."):
        assert in_options(said) == said


# ---------------------------------------------------------------------------------------------------------------------
# what ends with 4: results are written, and what is missing is said

SOME = {
    "--k that one of two can't have": (
        {},
        ("--k", "2,13", "--clusterer", "ward"),
        r"24 scores of 48 failed.*distinct points",
    ),
    "one constant study": (
        {"mainz.csv": table("m", X * 0)},
        ("--clusterer", "ward"),
        r"scores of 24 failed.*distinct points",
    ),
}


@pytest.mark.parametrize(("files", "options", "warning"), SOME.values(), ids=SOME)
def test_some_that_fail_are_told_and_the_rest_is_written(files, options, warning, folder):
    put(folder, files)
    outcome = invoke((TWO[0], *TINY["run"], *options, *TWO[1:]))
    assert outcome.code == SOME_FAILED
    assert re.search(r"^warning: .*" + warning, outcome.stderr, re.MULTILINE)
    assert not re.search(r"^error:", outcome.stderr, re.MULTILINE)
    assert (folder / "clustrep-results" / "report.html").is_file()
    assert not list(folder.glob(".clustrep-results*"))


@pytest.mark.parametrize(("files", "options", "warning"), SOME.values(), ids=SOME)
def test_some_that_fail_are_named(files, options, warning, folder):
    put(folder, files)
    outcome = invoke((TWO[0], *TINY["run"], *options, *TWO[1:]))
    assert re.search(r"^warning: .*('mainz'|\b13\b)", outcome.stderr, re.MULTILINE)


# ---------------------------------------------------------------------------------------------------------------------
# names that are odd, and written


def test_names_are_not_markup_in_the_page(folder):
    put(folder, {"<script>alert(1)<.csv": MAINZ, "a\nb.csv": VDX})
    outcome = invoke(("run", *TINY["run"], "--clusterer", "ward", "<script>alert(1)<.csv", "a\nb.csv"))
    assert outcome.code == 0, outcome
    assert "<script>alert" not in (folder / "clustrep-results" / "report.html").read_text(encoding="utf-8")


def test_every_study_has_its_file(folder):
    put(folder, {"a b.csv": MAINZ, "a_b.csv": VDX})
    outcome = invoke(("test", *TINY["test"], "--out", "res", "a b.csv", "a_b.csv"))
    assert outcome.code == 0, outcome
    assert len(list((folder / "res").glob("result*.npz"))) == 2


def test_a_warning_about_a_small_study_names_it_and_speaks_of_options(folder):
    put(folder, {"mainz.csv": "\n".join(LINES[:3])})
    outcome = invoke(("test", *TINY["test"], "mainz.csv"))
    assert re.search(r"^warning: .*mainz", outcome.stderr, re.MULTILINE)
    assert "cluster_test(" not in outcome.stderr


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="there are no pipes by name here")
def test_a_pipe_is_read_whole_or_refused(folder):
    put(folder, {})
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
