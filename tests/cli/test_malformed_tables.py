"""Tables as text that are malformed: the file, its cells, its names, its labels."""

from __future__ import annotations

import gzip
import io
import os
import re
import zipfile

import pytest
from tests.cli.malformed import (
    FOLDER,
    LINES,
    MAINZ,
    MORE,
    QUICK,
    SUBTYPES,
    VDX,
    Cases,
    check,
    invoke,
    process,
    turned,
    with_cell,
    with_column,
)

CASES = Cases()
case, mainz, usage = CASES.add, CASES.mainz, CASES.usage


def zipped(member):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member, "x")
    return stream.getvalue()


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
# every case


@pytest.mark.parametrize("malformed", CASES.parameters())
def test_a_malformed_input_gets_its_sentence(malformed, empty_folder):
    check(malformed, empty_folder, invoke)


IN_A_PROCESS = (
    "missing value 'NA'",
    "file named é😀",
    "file named in no encoding",
)


@pytest.mark.parametrize("malformed", CASES.parameters(*IN_A_PROCESS))
def test_a_process_says_the_same(malformed, empty_folder):
    check(malformed, empty_folder, process)
