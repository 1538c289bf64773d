"""All formats together: which reader takes a file, which parameters it takes, files that none can read."""

from __future__ import annotations

import gzip
import os

import numpy as np
import pandas as pd
import pytest
from tests.data.readers.examples import (
    CELLS,
    CSV,
    FEATURES,
    FRAME,
    GENES,
    SERIES,
    TYPES,
    VALUES,
    assert_is_the_frame,
    make,
    only,
    write,
)
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.data import from_files, readers
from clustrep.data.readers import READERS, reader_of
from clustrep.data.readers.source import beginning_of
from clustrep.data.readers.table import Reader, Table
from clustrep.errors import DataError, DataWarning, ParameterError

# ---------------------------------------------------------------------------------------------------------------------
# the registry


FILES = {
    "a GEO series matrix": SERIES.encode(),
    "delimited text": CSV.encode(),
    "a Parquet file": b"PAR1",
    "an h5ad file": b"\x89HDF\r\n\x1a\n",
    "a file of R": b"RDX3\nX\n\0\0\0\3",
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", FILES)
def test_one_reader_besides_that_of_any_text_recognises_a_file(tmp_path, kind, packed):
    content = gzip.compress(FILES[kind]) if packed else FILES[kind]
    beginning = beginning_of(write(tmp_path, content, "file"))
    *formats, any_text = READERS
    recognised = [reader.kind for reader in formats if reader.sniff(beginning)]
    is_binary = kind in ("a Parquet file", "an h5ad file")
    assert recognised == ([] if kind == "delimited text" or (packed and is_binary) else [kind])
    assert any_text.kind == "delimited text"
    assert any_text.sniff(beginning)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_series_matrix_is_recognised_in_every_encoding(tmp_path, encoding):
    path = write(tmp_path, SERIES.encode(encoding), "geo.txt")
    assert reader_of(path).kind == "a GEO series matrix"
    assert_is_the_frame(only(path))


def test_a_format_is_added_by_one_reader_in_the_list(tmp_path, monkeypatch):
    """As the module says: a `Reader`, and its place in READERS; alignment, labels and sentences follow."""

    def read_npy(path, study, request):
        values = np.load(path)
        return [Table(study, pd.DataFrame(values.T if request.transposes(study) else values), None)]

    npy = Reader(
        kind="an npy file",
        files="npy files",
        sniff=lambda beginning: beginning.raw.startswith(b"\x93NUMPY"),
        read=read_npy,
    )
    for module in (readers, from_files):
        monkeypatch.setattr(module, "READERS", (npy, *READERS))
    np.save(tmp_path / "mainz.npy", VALUES)
    np.save(tmp_path / "vdx.npy", VALUES.T + 1)
    studies = cr.Studies.read(tmp_path / "mainz.npy", tmp_path / "vdx.npy", transpose="vdx")
    np.testing.assert_array_equal(studies["vdx"].X, VALUES + 1)
    with refused(ParameterError, "header"):
        cr.Studies.read(tmp_path / "mainz.npy", header=True)


# ---------------------------------------------------------------------------------------------------------------------
# files of several formats


def test_files_of_all_formats_make_one_collection(h5ad, parquet, tmp_path):
    cells = h5ad(make())
    frame = pd.DataFrame(CELLS + 0.25, columns=list(GENES), index=[f"p{i}" for i in range(6)])
    text = write(tmp_path, (frame + 1).rename("q{}".format).to_csv(), "text.csv")
    with warned(DataWarning):
        studies = cr.Studies.read(cells, parquet(frame[["LYZ", "NKG7", "CD3D"]]), text, study_key="donor")
    assert studies.names == ("d2", "d1", "mainz", "text")
    assert studies.features == ("CD3D", "NKG7", "LYZ")
    np.testing.assert_array_equal(studies["mainz"].X, (CELLS + 0.25)[:, [0, 2, 3]])
    np.testing.assert_array_equal(studies["d1"].X, CELLS[1::2][:, [0, 2, 3]])


def test_names_differ_over_all_files(h5ad, tmp_path):
    cells = h5ad(make())
    other = h5ad(make(obs=make().obs.rename("other {}".format)), "other.h5ad")
    with refused(DataError):
        cr.Studies.read(cells, other, study_key="donor")
    with refused(DataError):
        cr.Studies.read(write(tmp_path, CSV, "d1.csv"), cells, study_key="donor")


def test_a_label_that_one_file_has_is_kept_for_it(h5ad, tmp_path):
    text = pd.DataFrame(CELLS, columns=list(GENES), index=[f"p{i}" for i in range(6)]).to_csv()
    studies = cr.Studies.read(h5ad(make()), write(tmp_path, text, "text.csv"), label="type")
    assert studies["cells"].labels.tolist() == list(TYPES)
    assert studies["text"].labels is None


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_row_numbers_that_pandas_took_for_data_are_left_out(parquet, tmp_path, kind):
    frame = FRAME.reset_index(drop=True).reset_index(names="Unnamed: 0")
    if kind == "csv":
        frame.to_csv(tmp_path / "mainz.csv", index=False)
    study = only(tmp_path / "mainz.csv" if kind == "csv" else parquet(frame))
    assert study.features == FEATURES
    assert not study.samples_are_named


# ---------------------------------------------------------------------------------------------------------------------
# parameters that a format does not have


def test_what_is_for_h5ad_needs_an_h5ad_file(tmp_path, h5ad):
    path = write(tmp_path, CSV, "vdx.csv")
    with refused(ParameterError, "rep"):
        cr.Studies.read(path, rep="donor")
    for parameter in ("study_key", "rep"):
        with refused(ParameterError, parameter):
            cr.Studies.read(h5ad(make()), **{parameter: 3})


@pytest.mark.parametrize("header", [True, False])
def test_header_is_for_delimited_text(tmp_path, parquet, h5ad, header):
    for path in (parquet(FRAME), h5ad(make()), write(tmp_path, SERIES, "geo.txt")):
        with refused(ParameterError, "header"):
            cr.Studies.read(path, header=header)


@pytest.mark.parametrize("rep", [None, "X", "X_pca"])
def test_h5ad_is_not_turned(h5ad, rep):
    path = h5ad(make())
    for transpose in (True, "cells", ["cells"]):
        with refused(ParameterError, "transpose"):
            cr.Studies.read(path, transpose=transpose, rep=rep)


def test_a_series_matrix_is_not_turned_twice(tmp_path):
    path = write(tmp_path, SERIES, "geo.txt")
    with refused(ParameterError, "transpose"):
        cr.Studies.read(path, transpose=True)


# ---------------------------------------------------------------------------------------------------------------------
# files that can't be read


def test_a_file_that_is_not_there_is_said_before_anything_is_read(tmp_path, parquet):
    with refused(DataError):
        cr.Studies.read(parquet(FRAME), tmp_path / "cells.h5ad", study_key="donor")
    with refused(DataError):
        cr.Studies.read(tmp_path, rep="X_pca")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything can be read here")
def test_a_file_without_permission_is_said_to_be_so(parquet):
    path = parquet(FRAME)
    path.chmod(0)
    with refused(DataError):
        cr.Studies.read(path)


@pytest.mark.parametrize("method", ["open", "read_bytes"])
def test_a_file_that_fails_on_opening_is_said_to_be_so(tmp_path, monkeypatch, method):
    path = write(tmp_path, CSV, "vdx.csv")

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    with refused(DataError), monkeypatch.context() as patched:
        patched.setattr(type(path), method, refuse)
        cr.Studies.read(path)


@pytest.mark.parametrize("magic", [b"PAR1", b"\x89HDF\r\n\x1a\n", b"PK\x03\x04"])
def test_packed_files_of_other_formats_are_to_be_unpacked(tmp_path, magic):
    with refused(DataError):
        cr.Studies.read(write(tmp_path, gzip.compress(magic + bytes(50)), "cells.h5ad.gz"))
