"""GEO series matrices: samples by features, characteristics as labels, and a sentence for everything else."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pandas as pd
import pytest
from tests.data.readers.examples import (
    CSV,
    SERIES,
    assert_is_the_frame,
    only,
    write,
)
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(SERIES, id="text"),
        pytest.param(gzip.compress(SERIES.encode()), id="gzip"),
        pytest.param(SERIES.replace("\n", "\r\n"), id="Windows"),
        pytest.param("\n" + SERIES, id="a blank line first"),
        pytest.param(SERIES[SERIES.index("!Sample_title") :], id="samples first"),
        pytest.param(SERIES.replace("8.5", '"8.5"'), id="a quoted value"),
        pytest.param(SERIES.replace('"', ""), id="nothing quoted"),
        pytest.param(SERIES.replace("!series_matrix_table_end", "\n!series_matrix_table_end"), id="a blank line last"),
    ],
)
def test_a_series_matrix_is_turned_by_itself(tmp_path, content):
    study = only(write(tmp_path, content, "GSE1_series_matrix.txt"))
    assert study.name == "GSE1_series_matrix"
    assert_is_the_frame(study)
    assert study.labels is None


@pytest.mark.parametrize(("label", "kept"), [("er status", ["positive", "negative", "positive"]), ("grade", [2, 1, 3])])
def test_characteristics_of_samples_are_labels(tmp_path, label, kept):
    study = only(write(tmp_path, SERIES, "geo.txt"), label=label)
    assert study.labels.tolist() == kept
    assert_is_the_frame(study)


def test_characteristics_belong_to_samples_not_to_places(tmp_path):
    other_order = SERIES.replace('accession\t"m1"\t"m2"', 'accession\t"m2"\t"m1"')
    study = only(write(tmp_path, other_order, "geo.txt"), label="er status")
    assert study.labels.tolist() == ["negative", "positive", "positive"]
    unnamed = SERIES.replace("!Sample_geo_accession", "!Sample_other")
    assert only(write(tmp_path, unnamed, "geo.txt"), label="grade").labels.tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    ("content", "label"),
    [
        pytest.param(SERIES, "ER", id="no label"),
        pytest.param(SERIES, "drug", id="two labels"),
        pytest.param(SERIES.replace("13.0", "null"), None, id="null"),
        pytest.param(SERIES.replace("13.0", ""), None, id="empty"),
        pytest.param(SERIES.replace("13.0", "P"), None, id="text"),
        pytest.param(SERIES.partition("!series_matrix_table_end")[0], None, id="no end"),
        pytest.param(SERIES[: SERIES.index('"ERBB2"') + 9], None, id="cut in a row"),
        pytest.param(SERIES.partition("!series_matrix_table_begin")[0], None, id="no table"),
        pytest.param(SERIES.replace("\t2.0\n", "\n"), None, id="short"),
        pytest.param(SERIES.replace("13.0", "13.0\t1"), None, id="a row too long"),
        pytest.param(SERIES.replace('"ERBB2"', '"ESR1"'), None, id="features"),
        pytest.param(SERIES.replace('"ID_REF"\t"m1"\t"m2"', '"ID_REF"\t"m1"\t"m1"'), None, id="samples"),
        pytest.param(re.sub('(?m)^"(ESR1|ERBB2)".*\n', "", SERIES), None, id="no values"),
    ],
)  # fmt: skip
def test_a_series_matrix_that_is_no_study_gets_its_sentence(tmp_path, content, label):
    with refused(DataError):
        cr.Studies.read(write(tmp_path, content, "geo.txt"), label=label)


def test_a_series_matrix_is_aligned_with_other_files(tmp_path):
    studies = cr.Studies.read(write(tmp_path, SERIES, "geo.txt"), write(tmp_path, CSV, "vdx.csv"))
    np.testing.assert_array_equal(studies["vdx"].X, [[2.5, 1.5], [4.5, 3.5]])
    turned = pd.read_csv(tmp_path / "vdx.csv", index_col=0).T.to_csv()
    again = cr.Studies.read(tmp_path / "geo.txt", write(tmp_path, turned, "vdx.csv"), transpose=["vdx"])
    np.testing.assert_array_equal(again["vdx"].X, studies["vdx"].X)


def test_characteristics_of_samples_are_units(tmp_path):
    study = only(write(tmp_path, SERIES, "geo.txt"), groups="er status")
    assert study.groups["er status"].tolist() == ["positive", "negative", "positive"]
    assert_is_the_frame(study)
