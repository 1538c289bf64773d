"""Parquet, h5ad and GEO files that are malformed."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from tests.cli.malformed import FEATURES, FRAME, MORE, SUBTYPES, USAGE, Cases, X, check, h5ad, invoke, process

CASES = Cases()
case, mainz, usage = CASES.add, CASES.mainz, CASES.usage


def parquet(frame):
    def write(path):
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)

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
    r"needs at least two studies: .*--study-key",
    files={"cells.h5ad": h5ad()},
    line=("local", "cells.h5ad"),
)
usage(
    "--study-key without h5ad",
    r"--study-key 'donor' is for h5ad files and Zarr stores, and there is none among these",
    "--study-key",
    "donor",
)
usage(
    "--rep without h5ad",
    r"--rep 'X_pca' is for h5ad files and Zarr stores, and there is none among these",
    "--rep",
    "X_pca",
)

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
# every case


@pytest.mark.parametrize("malformed", CASES.parameters())
def test_a_malformed_input_gets_its_sentence(malformed, empty_folder):
    check(malformed, empty_folder, invoke)


IN_A_PROCESS = ("h5ad, unknown column",)


@pytest.mark.parametrize("malformed", CASES.parameters(*IN_A_PROCESS))
def test_a_process_says_the_same(malformed, empty_folder):
    check(malformed, empty_folder, process)
