"""Files of R, which programs in r_files wrote: written.json and cohorts.json hold them as text.

Those of written.json have classes with the slots that the reader looks at, those of cohorts.json Bioconductor's own.
"""

from __future__ import annotations

import base64
import gzip
import importlib
import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.support import invoke
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.data.readers import reader_of
from clustrep.data.readers.source import study_names
from clustrep.data.readers.table import Request
from clustrep.errors import DataError, DataWarning, ParameterError

pytest.importorskip("rdata")

FOLDER = Path(__file__).parent / "r_files"
WRITTEN = json.loads((FOLDER / "written.json").read_text())
COHORTS = json.loads((FOLDER / "cohorts.json").read_text())
PROBES = [f"p{i}_at" for i in range(1, 11)]
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


@pytest.mark.parametrize("name", ["frame.rds", "mainz.rda", "old.rda", "experiment.rds"])
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
    with refused(ParameterError, "transpose"):
        tables_of("mainz.rda", transpose=True)


def test_several_objects_are_several_studies_named_as_in_r():
    assert [table.name for table in tables_of("two.rda")] == ["mainz", "transbig"]


def test_lists_hold_studies_named_as_there_or_numbered():
    assert [table.name for table in tables_of("list.rds")] == ["mainz", "transbig"]
    assert [table.name for table in tables_of("plainlist.rda")] == ["plain1", "plain2"]
    np.testing.assert_array_equal(tables_of("plainlist.rda")[1].frame, VALUES)


def test_sparse_matrices_are_read_alone_and_as_assays():
    dense = np.where(np.isin(VALUES, [1.5, 4, 12]), VALUES, 0)
    (alone,), (cells,) = tables_of("sparse.rds", transpose=True), tables_of("cells.rds", label="grade")
    for frame in (alone.frame, cells.frame):
        assert (frame.index.tolist(), frame.columns.tolist()) == (SAMPLES, GENES)
        np.testing.assert_array_equal(frame, dense)


def test_a_sparse_matrix_with_an_index_out_of_range_is_refused():
    content = bytearray(gzip.decompress(Path("sparse.rds").read_bytes()))
    rows = np.array([0, 0, 2], dtype=">i4").tobytes()
    assert content.count(rows) == 1
    place = content.index(rows)
    content[place : place + 4] = np.array([7], dtype=">i4").tobytes()
    Path("sparse.rds").write_bytes(content)
    with refused(DataError):
        tables_of("sparse.rds")


@pytest.mark.parametrize("name", ["frame.rds", "mainz.rda", "experiment.rds"])
def test_a_column_names_the_study_of_each_sample(name):
    tables = tables_of(name, study_key="grade")
    assert [table.name for table in tables] == ["low", "high"]
    assert [table.frame.index.tolist() for table in tables] == [SAMPLES[::2], SAMPLES[1::2]]
    for table, values in zip(tables, (VALUES[::2], VALUES[1::2]), strict=True):
        np.testing.assert_array_equal(table.frame.to_numpy(dtype=float), values)


def test_labels_and_units_follow_the_samples_into_their_study():
    _, high = tables_of("mainz.rda", study_key="grade", label="age", groups="grade")
    assert (list(high.labels), list(high.groups)) == ([50, 70], ["high", "high"])


@pytest.mark.parametrize("name", ["frame.rds", "mainz.rda", "matrix.rds"])
def test_a_column_of_studies_that_is_not_there_is_named_with_those_that_are(name):
    with refused(DataError):
        cr.Studies.read(name, study_key="grad")


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed: apt-get install r-base-core")
def test_the_files_are_what_the_program_writes_with_the_r_of_today(tmp_path):
    before = {name: tables_of(name) for name in WRITTEN if name != "none.rda"}
    subprocess.run(["Rscript", str(FOLDER / "write.R")], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    for name, tables in before.items():
        for old, new in zip(tables, tables_of(name), strict=True):
            pd.testing.assert_frame_equal(old.frame, new.frame)
            assert (old.name, old.annotations) == (new.name, new.annotations)


def test_other_phenotypes_can_be_named():
    (table,) = tables_of("mainz.rda", label="age")
    assert list(table.labels) == [40, 50, 60, 70]
    assert table.annotations == ("grade", "age")


def test_a_file_without_a_table_is_refused_with_what_it_holds():
    with refused(DataError):
        tables_of("none.rda")


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "cut.rda"
    path.write_bytes(b"RDX3\nX\n\0\0\0\3\0\0")
    with refused(DataError):
        reader_of(path).read(path, "cut", Request())


def test_without_the_package_the_extra_is_named(monkeypatch):
    real = importlib.import_module

    def without_rdata(name, *rest):
        if name == "rdata":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without_rdata)
    with refused(DataError):
        tables_of("frame.rds")


def test_studies_are_read_from_files_of_r():
    Path("experiment.rds").rename("one.rds")
    with refused(DataError):  # as everywhere, missing values are refused with what to do
        cr.Studies.read("one.rds", "mainz.rda", label="grade")


# ---------------------------------------------------------------------------------------------------------------------
# objects of Bioconductor


@pytest.fixture
def cohorts(tmp_path):
    for name, content in COHORTS.items():
        (tmp_path / name).write_bytes(base64.b64decode(content))


@pytest.mark.parametrize(("name", "first"), [("mainz.rda", "a"), ("transbig.rds", "b"), ("vdx.rds", "c")])
def test_objects_of_bioconductor_are_read(cohorts, name, first):
    (table,) = tables_of(name, label="subtype")
    assert table.frame.shape == (36, 10)
    assert table.frame.columns.tolist() == PROBES
    assert table.frame.index.tolist() == [f"{first}{i}" for i in range(1, 37)]
    assert list(table.labels) == ["luminal"] * 12 + ["her2"] * 12 + ["basal"] * 12
    assert table.feature_data["symbol"].tolist()[:3] == ["ESR1", "ESR1", "ERBB2"]


def test_names_may_be_missing_from_the_samples_and_be_in_the_ranges(cohorts):
    (table,) = tables_of("nameless.rds")
    assert table.frame.columns.tolist() == PROBES
    assert table.frame.index.tolist() == list(range(36))


def test_probes_become_genes_by_the_annotation_of_the_objects(cohorts):
    (probes,) = tables_of("transbig.rds")
    with warned(DataWarning):
        studies = cr.Studies.read("mainz.rda", "transbig.rds", "vdx.rds", genes="symbol", label="subtype")
    assert studies.features == ("ESR1", "ERBB2", "AURKA", "GATA3", "KRT5")
    chosen = ["p2_at", "p3_at", "p6_at", "p7_at", "p8_at"]  # with the highest gains in write_cohorts.R
    np.testing.assert_array_equal(studies["transbig"].X, probes.frame[chosen])


def test_numbers_can_name_genes(cohorts):
    with warned(DataWarning):
        studies = cr.Studies.read("mainz.rda", "vdx.rds", genes="entrez", label="subtype")
    assert studies.features[0] == "104"


def test_a_column_that_the_annotation_lacks_is_named_with_those_that_it_has(cohorts):
    with refused(ParameterError, "genes"):
        cr.Studies.read("mainz.rda", "vdx.rds", genes="symbols")


def test_a_map_serves_objects_of_r_too(cohorts):
    Path("map.csv").write_text("probe,gene\n" + "".join(f"{probe},g{i % 3}\n" for i, probe in enumerate(PROBES)))
    with warned(DataWarning):
        studies = cr.Studies.read("mainz.rda", "vdx.rds", probe_map="map.csv")
    assert studies.features == ("g0", "g1", "g2")


# ---------------------------------------------------------------------------------------------------------------------
# from the file to the answer

QUICK = ["--clusterer", "ward", "--k", "2:3", "--resamples", "4", "--null", "none", "--figures", "none", "--jobs", "1"]


def test_files_of_r_are_analysed_to_the_end(cohorts):
    said = invoke(
        "run", "mainz.rda", "transbig.rds", "vdx.rds", "--genes", "symbol", "--label", "subtype", *QUICK, "--out", "o"
    )
    assert "3 separated clusters" in said.stdout
    assert "Genes were made of probes" in said.stderr
    assert cr.load("o/result.npz").verdict == "separated"
    table = pd.read_csv("o/findings.csv")
    assert table["status"].tolist() == ["found"] * 9  # three clusters in three studies
    assert (table["replicability"] > 0.9).all()
    written = tomllib.loads(Path("o/config.toml").read_text())
    assert (written["genes"], written["probes"]) == ("symbol", "variance")


def test_an_object_is_divided_by_a_column_on_the_command_line(cohorts):
    invoke("run", "mainz.rda", "--study-key", "subtype", "--genes", "symbol", "--no-label", *QUICK, "--out", "o")
    assert pd.read_csv("o/studies.csv")["study"].tolist() == ["luminal", "her2", "basal"]
    invoke("run", "mainz.rda", "--study-key", "subtype", "--write-h5ad", "--out", "p", code=2)


def test_one_file_with_two_objects_is_analysed(cohorts):
    said = invoke("run", "both.rda", "--genes", "symbol", "--label", "subtype", *QUICK, "--out", "o")
    assert "3 separated clusters" in said.stdout
    alone = ["local", "mainz.rda", "--label", "subtype", *QUICK, "--k", "3", "--out", "p"]
    assert "name more files" in invoke(*alone, code=2).stderr


def test_a_map_on_the_command_line_and_again_from_its_folder(cohorts):
    Path("map.csv").write_text("probe,gene\n" + "".join(f"{probe},gene {i % 5}\n" for i, probe in enumerate(PROBES)))
    invoke(
        "run",
        "mainz.rda",
        "vdx.rds",
        "--map",
        "map.csv",
        "--probes",
        "mean",
        "--label",
        "subtype",
        *QUICK,
        "--out",
        "o",
    )
    assert tomllib.loads(Path("o/config.toml").read_text())["map"] == "../map.csv"
    invoke("run", "--config", "o/config.toml", "--out", "again", "--jobs", "1")
    assert Path("o/result.npz").read_bytes() == Path("again/result.npz").read_bytes()


def test_a_phenotype_can_be_the_unit(cohorts):
    study = cr.Studies.read("mainz.rda", groups="subtype", label=False)["mainz"]
    assert study.groups["subtype"].tolist() == ["luminal"] * 12 + ["her2"] * 12 + ["basal"] * 12
