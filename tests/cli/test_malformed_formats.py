"""Parquet, h5ad and GEO files that are malformed."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from tests.cli.malformed import FEATURES, FRAME, SUBTYPES, USAGE, Cases, X, check, h5ad, invoke, process

CASES = Cases("command line: file formats")
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


def in_parquet(name, content, options=(), **how):
    case(f"Parquet, {name}", {"mainz.parquet": content}, options, line=("run", "mainz.parquet", "vdx.csv"), **how)


in_parquet("cut off", cut(parquet(FRAME), -8))
in_parquet("nothing but its mark", b"PAR1")
in_parquet("no bytes", b"")
in_parquet("no rows", parquet(FRAME.iloc[:0]))
in_parquet("no columns", parquet(FRAME[[]]))
in_parquet("text", parquet(FRAME.assign(ESR1=SUBTYPES)))
in_parquet("lists", parquet(FRAME.assign(v=[[1.0]] * 12)))
in_parquet("missing value", parquet(FRAME.assign(ESR1=[None, *range(11)])))
in_parquet("two levels", parquet(FRAME.set_axis(pd.MultiIndex.from_product([["a"], FRAME.index]))))
in_parquet("numbers as text", parquet(FRAME.assign(ESR1=FRAME["ESR1"].astype(str))))
in_parquet("measurements as labels", parquet(FRAME.assign(subtype=[0.5, 1.5] * 6)), ("--label", "subtype"))
in_parquet("header denied", parquet(FRAME), ("--no-header",), code=USAGE)

# ---------------------------------------------------------------------------------------------------------------------
# h5ad


def in_h5ad(name, content, options=(), *, command="run", key="donor", **how):
    line = (command, "cells.h5ad", "--study-key", key)
    case(f"h5ad, {name}", {"cells.h5ad": content}, options, line=line, **how)


in_h5ad("cut off", cut(h5ad(), -1000))
in_h5ad("nothing but its mark", b"\x89HDF\r\n\x1a\n")
in_h5ad("other HDF5", hdf5)
in_h5ad("unknown column", h5ad(), key="doner")
in_h5ad("unknown representation", h5ad(), ("--rep", "X_pac"))
in_h5ad("unknown label", h5ad(), ("--label", "typ"))
in_h5ad("study with one cell", h5ad(donor=[*"aaaaaaaaaaa", "b"]))
in_h5ad("cells without a study", h5ad(donor=["a", None] * 6))
in_h5ad("study without a name", h5ad(donor=["a", " "] * 6))
in_h5ad("missing value", h5ad(np.where(np.arange(36).reshape(12, 3) == 4, np.nan, X)))
in_h5ad("cell named twice", h5ad(names=["c"] * 12))
in_h5ad("turned", h5ad(), ("--transpose",), code=USAGE)
in_h5ad("header claimed", h5ad(), ("--header",), code=USAGE)
in_h5ad("two studies for one", h5ad(), command="stability", code=USAGE)
usage("h5ad without a column", files={"cells.h5ad": h5ad()}, line=("local", "cells.h5ad"))
case("a study column that no table has", {}, ("--study-key", "donor"))
usage("--rep without h5ad", "--rep", "X_pca")

# ---------------------------------------------------------------------------------------------------------------------
# GEO


def in_geo(name, content, options=(), **how):
    case(f"GEO, {name}", {"geo.txt": content}, options, line=("run", "geo.txt", "vdx.csv"), **how)


in_geo("cut off", SERIES[:-30])
in_geo("no table", SERIES.partition("!series_matrix_table_begin")[0])
in_geo("no values", re.sub(r"\n(ESR1|ERBB2|AURKA)\t.*", "", SERIES))
in_geo("null", re.sub(r"(\nERBB2\t)\S+", r"\1null", SERIES))
in_geo("a letter", re.sub(r"(\nERBB2\t)\S+", r"\1P", SERIES))
in_geo("row too short", re.sub(r"(\nERBB2\t)\S+\t", r"\1", SERIES))
in_geo("unknown label", SERIES, ("--label", "ER"))
in_geo("turned", SERIES, ("--transpose-only", "geo"), code=USAGE)


# ---------------------------------------------------------------------------------------------------------------------
# every case


@pytest.mark.parametrize("malformed", CASES.parameters())
def test_a_malformed_input_is_refused(malformed, empty_folder):
    check(malformed, empty_folder, invoke)


IN_A_PROCESS = ("h5ad, unknown column",)


@pytest.mark.parametrize("malformed", CASES.parameters(*IN_A_PROCESS))
def test_a_process_says_the_same(malformed, empty_folder):
    check(malformed, empty_folder, process)
