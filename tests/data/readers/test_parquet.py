"""Parquet: the values of the frame that was written, and a sentence for everything else."""

from __future__ import annotations

import decimal
import sys

import numpy as np
import pandas as pd
import pytest
from tests.data.readers.examples import (
    CSV,
    FEATURES,
    FRAME,
    SAMPLES,
    VALUES,
    assert_is_the_frame,
    assert_stands_alone,
    only,
    write,
)
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(FRAME, id="index"),
        pytest.param(FRAME.rename_axis("patient"), id="named index"),
        pytest.param(FRAME.reset_index(names="patient"), id="first column"),
        pytest.param(FRAME.reset_index(names="whatever"), id="first column of text"),
        pytest.param(FRAME.reset_index(names="whatever").astype({"whatever": "category"}), id="first column, category"),
        pytest.param(FRAME.reset_index(names="whatever").astype({"whatever": "string"}), id="first column, string"),
        pytest.param(FRAME.astype("Float64"), id="nullable"),
        pytest.param(FRAME.map(lambda value: decimal.Decimal(str(value))), id="decimal"),
    ],
)
def test_parquet_is_read_as_it_was_written(parquet, frame):
    study = only(parquet(frame))
    assert study.name == "mainz"
    assert_is_the_frame(study)
    assert study.labels is None


@pytest.mark.parametrize("name", ["mainz.parquet", "mainz.csv", "mainz", "mainz.h5ad"])
def test_the_content_decides_not_the_ending(parquet, name):
    assert_is_the_frame(only(parquet(FRAME, name)))


def test_parquet_of_several_number_types(parquet):
    frame = pd.DataFrame(
        {
            "yes": [True, False, True],
            "whole": np.int8([1, 2, 3]),
            "half": np.float32([0.5, 1.5, 2.5]),
            "nullable": pd.array([4, 5, 6], dtype="Int64"),
            "maybe": pd.array([True, True, False], dtype="boolean"),
            "levels": pd.Categorical([7, 8, 7]),
        }
    )
    study = only(parquet(frame))
    assert study.features == tuple(frame.columns)
    np.testing.assert_array_equal(study.X, [[1, 1, 0.5, 4, 1, 7], [0, 2, 1.5, 5, 1, 8], [1, 3, 2.5, 6, 0, 7]])
    assert not study.samples_are_named


def test_parquet_in_single_precision_stays_so(parquet):
    assert only(parquet(FRAME.astype(np.float32))).X.dtype == np.float32


def test_numbers_in_the_first_column_are_data_unless_it_is_named_like_samples(parquet):
    counts = pd.DataFrame({"g1": [5, 6, 7], "g2": [0.5, 1.5, 2.5]})
    assert only(parquet(counts)).features == ("g1", "g2")
    named = only(parquet(counts.rename(columns={"g1": "Patient ID"})))
    assert named.samples == ("5", "6", "7")
    first_missing = pd.DataFrame({"g1": pd.array([5, None, 7], dtype="Int64"), "g2": [0.5, 1.5, 2.5]})
    with refused(DataError):
        only(parquet(first_missing))
    decimals = pd.DataFrame({"g1": [decimal.Decimal("5.5"), decimal.Decimal("6.5")], "g2": [0.5, 1.5]})
    np.testing.assert_array_equal(only(parquet(decimals)).X, [[5.5, 0.5], [6.5, 1.5]])


def test_text_that_looks_like_numbers_names_samples_in_parquet(parquet):
    study = only(parquet(pd.DataFrame({"code": ["007", "010", "7"], "g": [0.5, 1.5, 2.5]})))
    assert study.samples == ("007", "010", "7")


@pytest.mark.parametrize("index", [pd.RangeIndex(3), pd.RangeIndex(10, 13)], ids=["from 0", "a part of a longer table"])
def test_row_numbers_of_parquet_are_no_names(parquet, index):
    study = only(parquet(FRAME.set_axis(index)))
    assert not study.samples_are_named
    np.testing.assert_array_equal(study.X, VALUES)


def test_a_named_range_of_parquet_names_samples(parquet):
    study = only(parquet(FRAME.set_axis(pd.RangeIndex(3, name="patient"))))
    assert study.samples_are_named
    assert study.samples == ("0", "1", "2")


def test_parquet_without_feature_names_is_numbered_from_one(parquet):
    plain = pd.DataFrame(np.column_stack([VALUES, [1, 1, 2]]))
    assert only(parquet(plain), label=False).features == ("1", "2", "3")
    study = only(parquet(plain), label="3")
    assert study.features == ("1", "2")
    assert not study.features_are_named
    assert study.labels.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("classes", "kept"),
    [
        (["A", "B", "A"], ["A", "B", "A"]),
        (pd.Categorical(["A", "B", "A"]), ["A", "B", "A"]),
        (pd.array(["A", "B", "A"], dtype="string"), ["A", "B", "A"]),
        ([1, 2, 1], [1, 2, 1]),
        ([1.0, 2.0, 1.0], [1, 2, 1]),
        (pd.array([1, 2, 1], dtype="Int8"), [1, 2, 1]),
        ([True, False, True], [1, 0, 1]),
    ],
)
def test_the_label_column_of_parquet_is_kept_aside(parquet, classes, kept):
    study = only(parquet(FRAME.assign(subtype=classes)), label="subtype")
    assert study.labels.tolist() == kept
    assert_is_the_frame(study)


@pytest.mark.parametrize("as_index", [True, False])
def test_the_label_may_stand_first_in_parquet(parquet, as_index):
    frame = FRAME.reset_index(drop=True)
    frame.insert(0, "subtype", ["A", "B", "A"])
    study = only(parquet(frame.set_index("subtype") if as_index else frame), label="subtype")
    assert study.labels.tolist() == ["A", "B", "A"]
    assert study.features == FEATURES
    assert not study.samples_are_named


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(FRAME.T, id="index"),
        pytest.param(FRAME.T.reset_index(names="gene"), id="first column"),
        pytest.param(FRAME.astype("Float64").T, id="nullable"),
    ],
)
def test_parquet_is_turned_on_request(parquet, frame):
    assert_is_the_frame(only(parquet(frame), transpose=True))


def test_gene_numbers_of_turned_parquet_are_names_and_measurements_are_not(parquet):
    entrez = FRAME.T.reset_index(names="entrez").assign(entrez=[1017, 1018])
    assert only(parquet(entrez), transpose="mainz").features == ("1017", "1018")
    nameless = FRAME.T.reset_index(drop=True)
    assert only(parquet(nameless), transpose=True).X.shape == (3, 2)


def test_parquet_in_a_folder_named_like_a_partition_gains_no_column(parquet, tmp_path):
    (tmp_path / "site=mainz").mkdir()
    assert_is_the_frame(only(parquet(FRAME, "site=mainz/table.parquet")))


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        pytest.param(FRAME.assign(type=["A", "B", "A"]), {}, id="text"),
        pytest.param(FRAME.assign(type=pd.Categorical(["A", "B", "A"])), {}, id="category"),
        pytest.param(FRAME.assign(day=pd.Timestamp("2024-01-01")), {}, id="dates"),
        pytest.param(FRAME.assign(v=[[1.0], [2.0], [3.0]]), {}, id="lists"),
        pytest.param(FRAME.assign(v=[{"a": 1}] * 3), {}, id="structures"),
        pytest.param(FRAME.assign(ESR1=[1.5, None, 2.5]), {}, id="missing"),
        pytest.param(FRAME.set_axis(["m1", "m1", "m2"]), {}, id="duplicate samples"),
        pytest.param(FRAME.reset_index(names="x").assign(x=["A", "B", "A"]), {}, id="a class first"),
        pytest.param(FRAME.reset_index(names="id").assign(id=["a", None, "b"]), {}, id="no name"),
        pytest.param(FRAME.T.set_axis(["A", "A"]), {"transpose": True}, id="turned"),
        pytest.param(FRAME.iloc[:0], {}, id="no rows"),
        pytest.param(FRAME.iloc[:, :0], {}, id="no columns"),
        pytest.param(FRAME.iloc[:1], {}, id="one row"),
        pytest.param(FRAME.set_axis(pd.MultiIndex.from_product([["a"], SAMPLES])), {}, id="two levels"),
        pytest.param(FRAME, {"label": "subtyp"}, id="no label"),
        pytest.param(pd.DataFrame({"x": [0.5, 1.5, 2.5, 3.5], "class": [1, 2, 1, 2]}), {}, id="a probable label"),
    ],
)
def test_parquet_that_is_no_study_gets_its_sentence(parquet, frame, options):
    with refused(DataError):
        cr.Studies.read(parquet(frame), **options)


def test_parquet_the_wrong_way_round_is_noticed(parquet, tmp_path):
    with refused(DataError):
        cr.Studies.read(parquet(FRAME.T), write(tmp_path, CSV, "vdx.csv"))


@pytest.mark.parametrize("keep", [4, 100, -8, -1])
def test_damaged_parquet_is_refused_in_one_sentence(parquet, tmp_path, keep):
    damaged = write(tmp_path, parquet(FRAME).read_bytes()[:keep], "half.parquet")
    with refused(DataError) as caught:
        cr.Studies.read(damaged)
    assert_stands_alone(caught)


def test_parquet_needs_pyarrow(parquet, monkeypatch):
    path = parquet(FRAME)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with refused(DataError) as caught:
        cr.Studies.read(path)
    assert_stands_alone(caught)
