"""Tables as text that are malformed: the file, its cells, its names, its labels."""

from __future__ import annotations

import gzip
import io
import os
import zipfile

import pytest
from tests.cli.malformed import (
    FOLDER,
    LINES,
    MAINZ,
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

CASES = Cases("command line: tables")
case, mainz, usage = CASES.add, CASES.mainz, CASES.usage


def zipped(member):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member, "x")
    return stream.getvalue()


# ---------------------------------------------------------------------------------------------------------------------
# files that are no tables

mainz("missing file", None)
case("missing folder", line=("run", "no/where.csv", "vdx.csv"))
mainz("folder", FOLDER)
mainz("empty file", "")
mainz("only white space", " \n\t\n")
mainz("only a header", LINES[0] + "\n")
mainz("binary junk", bytes(range(128, 256)))
mainz("gzip cut off", gzip.compress(MAINZ.encode())[:-20])
mainz("gzip of nothing", gzip.compress(b""))
mainz("gzip of a zip", gzip.compress(zipped("a.csv")))
mainz("zip", zipped("a.csv"))
case("xlsx", {"mainz.xlsx": zipped("xl/workbook.xml")}, line=("run", "mainz.xlsx", "vdx.csv"))
mainz("xls", b"\xd0\xcf\x11\xe0" + bytes(99))
mainz("Latin-1", MAINZ.replace("m3", "mü").encode("latin-1"))
mainz("UTF-16 without mark", MAINZ.encode("utf-16-le"))
mainz("zero bytes", MAINZ.encode() + bytes(9))
mainz("web page", "<!DOCTYPE html>\n<html><body>Not found</body></html>\n")
mainz("Git LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 123\n")
mainz("prose", "This is not a table.\nNo it isn't.\n")

# ---------------------------------------------------------------------------------------------------------------------
# rows and cells

mainz("row too short", MAINZ.replace(LINES[3], LINES[3].rpartition(",")[0]))
mainz("row too long", MAINZ.replace(LINES[3], LINES[3] + ",7"))
mainz(
    "very long lines, one cell short",
    "id," + ",".join(f"g{j}" for j in range(20_000)) + "".join(f"\nm{i}" + ",1.5" * 19_999 for i in range(3)),
)
mainz("quote never closed", MAINZ.replace("m3", '"m3'))
mainz("quote within a cell", MAINZ.replace("m3", '"m"3'))
for cell in ("high", "2024-01-31", "1/31/2024", "50%", "5 €", "TRUE", "<0.01", "#DIV/0!", "0x1F"):
    mainz(f"cell {cell}", with_cell(cell))
mainz("German date", with_cell("31.01.2024"))
mainz("two texts", with_cell("high", content=with_cell("low", 5, 2)))
mainz("a text of 300,000 letters", with_cell("x" * 300_000))
for cell in ("NA", "", "nan", "null", "#N/A", "?"):
    mainz(f"missing value {cell!r}", with_cell(cell))
ONE = ("run", "mainz.csv")
mainz("feature without values", with_column("KRT5", ["NA"] * 12), line=ONE)
for cell in ("inf", "-Inf", "1e400"):
    mainz(f"infinite value {cell}", with_cell(cell))
mainz("value too large to be squared", with_cell("1e200"))
mainz("value too large to be tested", with_cell("1e200"), line=("test", "mainz.csv"))
mainz("decimal commas and points", with_cell("1.5", content=MAINZ.replace(",", ";").replace(".", ","), delimiter=";"))
mainz("decimal commas between commas", MAINZ.replace(".", ","))
mainz(
    "decimal commas in one column",
    LINES[0] + "\n" + "".join(line.replace(".", ",", 1) + "\n" for line in LINES[1:]),
    QUICK,
)
mainz("thousands with commas", with_cell('"1,234"'))
mainz("thousands with commas and a fraction", with_cell('"1,234.5"'))
mainz("thousands with apostrophes", with_cell("1'234.5"))
mainz("thousands with points", with_cell("1.234,5", content=MAINZ.replace(",", ";"), delimiter=";"))
mainz("thousands with underscores", with_cell("1_000"), QUICK)
mainz("comment line first", "# made on Monday\n" + MAINZ)
mainz("comment line with commas first", "# a, b, c, d\n" + MAINZ)
mainz("comment line last", MAINZ + "# end\n")
mainz("semicolons from line 5", "\n".join([*LINES[:4], *(line.replace(",", ";") for line in LINES[4:])]))
mainz("semicolon in the header", MAINZ.replace(",", ";", 1), QUICK)
mainz("delimiter behind every line", MAINZ.replace("\n", ",\n"))
mainz("delimiter behind every row", LINES[0] + "\n" + "".join(line + ",\n" for line in LINES[1:]))
mainz("delimiter behind one row", MAINZ.replace(LINES[3], LINES[3] + ","))

# ---------------------------------------------------------------------------------------------------------------------
# names, headers, orientation

mainz("sample twice", MAINZ.replace("m3", "m2"))
mainz("feature twice", MAINZ.replace("ERBB2", "ESR1"))
mainz("feature without a name", MAINZ.replace("ERBB2", ""))
mainz("sample without a name", MAINZ.replace("m3", ""))
mainz("one sample", "\n".join(LINES[:2]))
mainz("no shared feature", MAINZ.replace("ESR1,ERBB2,AURKA", "a,b,c"))
mainz("features in lower case", MAINZ.replace("ESR1,ERBB2,AURKA", "esr1,erbb2,aurka"))
mainz("one file turned", turned(MAINZ))
case("both files turned", {"mainz.csv": turned(MAINZ), "vdx.csv": turned(VDX)})
case("both files turned in vain", options=("--transpose",))
case("one file turned in vain", options=("--transpose-only", "mainz"))
mainz("header of numbers", "1,2,3\n" + "".join(line.partition(",")[2] + "\n" for line in LINES[1:]))
mainz("no header in one file", "".join(line.partition(",")[2] + "\n" for line in LINES[1:]))
case(
    "no headers, and other numbers of columns",
    {"mainz.csv": "0.5,1.5\n2.5,3.5\n", "vdx.csv": "0.5,1.5,2.5\n3.5,4.5,5.5\n"},
)
case("header denied", options=("--no-header",))
case(
    "header claimed",
    {"mainz.csv": "0.5,1.5\n2.5,3.5\n4.5,0.5\n", "vdx.csv": "0.7,1.7\n2.7,3.7\n4.7,0.7\n"},
    ("--header",),
)

# ---------------------------------------------------------------------------------------------------------------------
# labels

mainz("a class named so", with_column("class", [1, 2] * 6), line=ONE)
mainz("a class in the last column", with_column("KRT5", [1, 2] * 6), line=ONE)
mainz("a class in words", with_column("subtype", SUBTYPES), line=ONE)
mainz("a class in the first column", "subtype,ESR1\n" + "".join(f"{name},{i}.5\n" for i, name in enumerate("ABCDEFA")))
case("unknown label", options=("--label", "subtyp"))
mainz("labels missing", with_column("subtype", ["NA"] * 12), ("--label", "subtype"))
mainz("measurements as labels", with_column("subtype", [0.5, 1.5] * 6), ("--label", "subtype", *QUICK))
mainz(
    "nothing but a label", "id,subtype\n" + "".join(f"m{i},{'AB'[i % 2]}\n" for i in range(12)), ("--label", "subtype")
)
usage("label without a name", "--label", "")
usage("label and no label", "--label", "x", "--no-label")

# ---------------------------------------------------------------------------------------------------------------------
# names of files

for name in ("<script>alert(1)<", "é😀", "..", "$HOME `x`", "%s{0}", "-"):
    case(f"file named {name}", {f"{name}.csv": "a\0"}, line=("run", "--", f"{name}.csv", "vdx.csv"))
case("file named with a line end", {"a\nerror: b.csv": b"\xff,\xff"}, line=("run", "a\nerror: b.csv", "vdx.csv"))
case("feature named with a line end", {"mainz.csv": MAINZ.replace("ESR1", '"x\nerror: y"')}, ("--label", "zzz"))
case("file without a name", {" .csv": MAINZ}, line=("run", " .csv", "vdx.csv"))
case("file named like a parameter", line=("run", "n_clusters.csv", "vdx.csv"))
case(
    "file named in no encoding", {os.fsdecode(b"m\xff.csv"): MAINZ}, line=("run", os.fsdecode(b"m\xff.csv"), "vdx.csv")
)
usage("same file twice", line=("run", "vdx.csv", "./vdx.csv"))


# ---------------------------------------------------------------------------------------------------------------------
# every case


@pytest.mark.parametrize("malformed", CASES.parameters())
def test_a_malformed_input_is_refused(malformed, empty_folder):
    check(malformed, empty_folder, invoke)


IN_A_PROCESS = ("missing value 'NA'", "file named é😀", "file named in no encoding")


@pytest.mark.parametrize("malformed", CASES.parameters(*IN_A_PROCESS))
def test_a_process_says_the_same(malformed, empty_folder):
    check(malformed, empty_folder, process)
