"""Files of R, which r_files/write.R wrote: r_files/written.json holds them as text."""

from __future__ import annotations

import base64
import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import clustrep as cr
from clustrep.errors import DataError, ParameterError
from clustrep.studies.readers import reader_of
from clustrep.studies.readers.source import study_names
from clustrep.studies.readers.table import Request

pytest.importorskip("rdata")

WRITTEN = json.loads((Path(__file__).parent / "r_files" / "written.json").read_text())
GENES = ["ESR1", "ERBB2", "AURKA"]
SAMPLES = ["s1", "s2", "s3", "s4"]
VALUES = np.array([[1.5, np.nan, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]])
GRADES = ["low", "high", "low", "high"]


@pytest.fixture(autouse=True)
def _in_the_folder_of_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in WRITTEN.items():
        Path(name).write_bytes(base64.b64decode(content))


def tables_of(name, **request):
    path = Path(name)
    return list(reader_of(path).read(path, study_names([path])[0], Request(**request)))


@pytest.mark.parametrize("name", ["frame.rds", "mainz.rda", "experiment.rds"])
def test_samples_are_rows_and_a_phenotype_is_the_label(name):
    (table,) = tables_of(name, label="grade")
    assert table.name == name.split(".")[0]
    assert table.frame.index.tolist() == SAMPLES
    assert table.frame.columns.tolist() == GENES
    np.testing.assert_array_equal(table.frame.to_numpy(dtype=float), VALUES)
    assert list(table.labels) == GRADES


def test_matrices_have_the_names_that_they_have_in_r():
    (named,), (plain,) = tables_of("matrix.rds"), tables_of("plain.rds")
    assert (named.frame.index.tolist(), named.frame.columns.tolist()) == (SAMPLES, GENES)
    assert (plain.frame.index.tolist(), plain.frame.columns.tolist()) == ([0, 1, 2, 3], [0, 1, 2])
    np.testing.assert_array_equal(plain.frame, VALUES)


def test_matrices_are_transposed_if_asked_and_expression_sets_never():
    (table,) = tables_of("matrix.rds", transpose=True)
    assert table.frame.index.tolist() == GENES
    with pytest.raises(ParameterError, match=r"mainz\.rda holds features by samples.*leave transpose=True out"):
        tables_of("mainz.rda", transpose=True)


def test_several_objects_are_several_studies_named_as_in_r():
    assert [table.name for table in tables_of("two.rda")] == ["mainz", "transbig"]


def test_other_phenotypes_can_be_named():
    (table,) = tables_of("mainz.rda", label="age")
    assert list(table.labels) == [40, 50, 60, 70]
    assert table.annotations == ("grade", "age")


def test_a_file_without_a_table_is_refused_with_what_it_holds():
    with pytest.raises(DataError, match=r"none\.rda holds no table \(note\): save a data frame"):
        tables_of("none.rda")


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "cut.rda"
    path.write_bytes(b"RDX3\nX\n\0\0\0\3\0\0")
    with pytest.raises(DataError, match=r"cut\.rda is a file of R that is damaged"):
        reader_of(path).read(path, "cut", Request())


def test_without_the_package_the_extra_is_named(monkeypatch):
    real = importlib.import_module

    def without_rdata(name, *rest):
        if name == "rdata":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without_rdata)
    with pytest.raises(DataError, match=r"clustrep\[r\]"):
        tables_of("frame.rds")


def test_studies_are_read_from_files_of_r():
    Path("experiment.rds").rename("one.rds")
    with pytest.raises(DataError, match="missing"):  # as everywhere, missing values are refused with what to do
        cr.Studies.read("one.rds", "mainz.rda", label="grade")
