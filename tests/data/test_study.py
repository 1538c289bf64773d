"""One study: what is taken as a table, its labels, its scaling, and that it never changes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from tests.data.examples import CLASSES, X, Y, frame, two_studies
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.errors import DataError, DataWarning

# ---------------------------------------------------------------------------------------------------------------------
# tables and names


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(X, id="array"),
        pytest.param(X.tolist(), id="lists"),
        pytest.param(np.asfortranarray(X), id="Fortran order"),
        pytest.param(np.repeat(X, 2, axis=0)[::2], id="strided"),
        pytest.param(X.astype(object), id="objects that are numbers"),
        pytest.param(pd.DataFrame(X), id="frame without names"),
        pytest.param(pd.DataFrame(X).convert_dtypes(), id="nullable frame"),
        pytest.param(pd.DataFrame(X, dtype=object), id="frame of objects that are numbers"),
    ],
)
def test_a_table_without_names_is_taken_as_it_is_and_numbered_from_one(values):
    study = cr.Study(values, "one")
    np.testing.assert_array_equal(study.X, X)
    assert study.X.dtype == np.float64
    assert study.X.flags.c_contiguous
    assert study.features == ("1", "2", "3")
    assert study.samples == tuple("12345678")
    assert study.labels is None
    assert study.scale == "none"
    assert len(study) == 8


@pytest.mark.parametrize(
    ("dtype", "kept"), [(np.float32, np.float32), (np.int16, np.float64), (bool, np.float64), (np.uint8, np.float64)]
)
def test_numbers_become_floats(dtype, kept):
    values = np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype)
    study = cr.Study(values, "one")
    assert study.X.dtype == kept
    np.testing.assert_array_equal(study.X, values.astype(kept))


def test_a_frame_brings_its_names_and_given_names_win():
    table = frame()
    study = cr.Study(table, "one")
    assert study.features == ("a", "b", "c")
    assert study.samples == tuple(f"x{i}" for i in range(8))
    renamed = cr.Study(table, "one", features=["u", "v", "w"], samples=range(100, 108))
    assert renamed.features == ("u", "v", "w")
    assert renamed.samples == tuple(str(i) for i in range(100, 108))
    np.testing.assert_array_equal(renamed.X, study.X)


def test_a_frame_of_several_number_types_is_one_table():
    table = pd.DataFrame(
        {
            "whole": [1, 2, 3],
            "half": np.float32([0.5, 1.5, 2.5]),
            "yes": [True, False, True],
            "nullable": pd.array([4, 5, 6], dtype="Int64"),
        }
    )
    np.testing.assert_array_equal(cr.Study(table, "one").X, [[1, 0.5, 1, 4], [2, 1.5, 0, 5], [3, 2.5, 1, 6]])


@pytest.mark.parametrize(
    ("labels", "kept"),
    [
        (["A", "B", "A", "B"], ["A", "B", "A", "B"]),
        ([0, 1, 0, -1], [0, 1, 0, -1]),
        ([1.0, 2.0, 1.0, 2.0], [1, 2, 1, 2]),
        ([True, False, True, False], [1, 0, 1, 0]),
        (pd.Series(["A", "B", "A", "B"], index=[9, 8, 7, 6]), ["A", "B", "A", "B"]),
        (pd.Categorical(["A", "B", "A", "B"]), ["A", "B", "A", "B"]),
        (np.array(["A", "B", "A", "B"], dtype=object), ["A", "B", "A", "B"]),
    ],
)
def test_known_labels_are_kept_in_the_order_of_the_samples(labels, kept):
    assert cr.Study(X[:4], "one", labels=labels).labels.tolist() == kept


def test_to_frame_gives_back_what_came_in():
    pd.testing.assert_frame_equal(cr.Study(frame(), "one").to_frame(), frame())


def test_a_study_shows_what_it_is():
    study = cr.Study(frame(), "mainz", labels=["A", "B"] * 4)
    assert repr(study) == "Study 'mainz': 8 samples, 3 features, known labels A, B"
    assert repr(study.select(["a"]).scaled("study")) == (
        "Study 'mainz': 8 samples, 1 feature, known labels A, B, scaled by study"
    )
    many = cr.Study(np.ones((1200, 1)), "big", labels=np.arange(1200) % 7)
    assert repr(many) == "Study 'big': 1,200 samples, 1 feature, known labels 0, 1, 2, 3, 4 and 2 more"


def test_few_comparisons_are_made_to_find_a_feature():
    """Twenty thousand features are the usual number: finding each among all would take four hundred million."""
    compared = 0

    class Counted(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    names = [f"g{j}" for j in range(400)]
    study = cr.Study(np.ones((2, 400)), "one", features=names)
    study.select([Counted(name) for name in names])
    assert compared <= 10 * len(names)


# ---------------------------------------------------------------------------------------------------------------------
# class labels among the data


@pytest.mark.parametrize("name", ["class", "Label", "CLUSTER", "group_1", "sub-type", "true_label", "y", "diagnosis"])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_few_small_integers_named_like_a_label_are_warned_about(name, place):
    table = frame()
    table.insert(place, name, CLASSES)
    with warned(DataWarning):
        studies = cr.Studies({"one": table})
    assert name in studies.features  # warned about, and left as it is


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(frame().assign(z=CLASSES), id="frame"),
        pytest.param(pd.DataFrame(np.column_stack([X, CLASSES])), id="numbered frame"),
        pytest.param(np.column_stack([X, CLASSES]), id="array"),
        pytest.param(np.column_stack([X, CLASSES]).tolist(), id="lists"),
    ],
)
def test_the_advice_about_a_label_can_be_followed(table):
    """Whatever label= the sentence says to pass must do what it says."""
    with warned(DataWarning) as caught:
        cr.Studies([table])
    advised = str(caught[0].message).split("Use label='")[1].split("'")[0]
    study = cr.Studies([table], label=advised)["1"]
    assert study.labels.tolist() == CLASSES.tolist()
    np.testing.assert_array_equal(study.X, X)
    declared = cr.Studies([table], label=False)["1"]  # no warning
    assert declared.labels is None
    np.testing.assert_array_equal(declared.X, np.column_stack([X, CLASSES]))


def test_a_label_column_is_also_noticed_in_a_study_made_by_hand():
    with warned(DataWarning):
        cr.Studies([cr.Study(frame().assign(type=CLASSES), "one")])


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(frame(np.arange(24).reshape(8, 3) % 5), id="counts throughout"),
        pytest.param(frame().assign(z=np.arange(8)), id="every value once"),
        pytest.param(frame().assign(z=1), id="constant"),
        pytest.param(frame().assign(z=CLASSES * 1000), id="large"),
        pytest.param(frame().assign(z=CLASSES - 4), id="negative"),
        pytest.param(frame().assign(z=CLASSES / 2), id="fractions"),
        pytest.param(frame().assign(**{"class": X[:, 0]}), id="a measurement that is named like a label"),
        pytest.param(pd.DataFrame(CLASSES[:, None], columns=["a"]), id="the only column"),
        pytest.param(frame().assign(a=CLASSES), id="whole numbers elsewhere"),
    ],
)
def test_ordinary_columns_are_not_taken_for_labels(table):
    assert cr.Studies({"one": table}).features == tuple(table.columns)  # a warning would be an error


def test_the_label_column_is_kept_aside_where_a_study_has_it():
    labelled = frame().assign(subtype=["A", "B"] * 4)[["subtype", "a", "b", "c"]]
    studies = cr.Studies({"one": labelled, "two": frame(Y, "abc", "y")}, label="subtype")
    assert studies.features == ("a", "b", "c")
    assert studies["one"].labels.tolist() == ["A", "B"] * 4
    assert studies["two"].labels is None


def test_labels_travel_through_every_change_of_a_study():
    studies = cr.Studies({"one": frame().assign(type=CLASSES)}, label="type")
    for changed in (
        studies.select(["b"]),
        studies.scaled("study"),
        cr.Studies(studies),
        cr.Studies(list(studies.values())),
    ):
        assert changed["one"].labels.tolist() == CLASSES.tolist()


def test_a_label_column_that_a_study_lacks_is_refused():
    with refused(DataError):
        cr.Study(frame(X), "one", label="nope")


# ---------------------------------------------------------------------------------------------------------------------
# read-only


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_study_does_not_follow_changes_of_what_it_was_made_from(dtype, order):
    values, labels = np.array(X * 10, dtype=dtype, order=order), CLASSES.copy()
    study = cr.Study(values, "one", labels=labels)
    before = study.X.copy()
    values[:] = 7
    labels[:] = 7
    np.testing.assert_array_equal(study.X, before)
    assert study.labels.tolist() == CLASSES.tolist()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_study_does_not_follow_changes_of_its_frame(dtype):
    table = frame(X.astype(dtype))
    study = cr.Study(table, "one")
    table.iloc[:, :] = 7
    np.testing.assert_array_equal(study.X, X.astype(dtype))


@pytest.mark.parametrize(
    "change",
    [
        lambda study: study,
        lambda study: study.select(["c", "a"]),
        lambda study: study.scaled("study"),
        lambda study: cr.Studies([study], scale="pooled")["one"],
        lambda study: cr.Studies([study])["one"],
        lambda study: cr.Studies.split(study, rng=0)["2"],
    ],
)
def test_values_and_labels_can_not_be_written(change):
    study = change(cr.Study(frame(), "one", labels=CLASSES))
    for array in (study.X, study.labels, study.X[1:], study.X.T):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_attributes_can_not_be_replaced():
    studies = two_studies()
    for name in ("X", "name", "features", "labels"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(studies["one"], name, None)
    with pytest.raises(TypeError):
        studies["one"] = X
    for name in ("features", "dropped", "names"):
        with pytest.raises(AttributeError):
            setattr(studies, name, ())
    with pytest.raises(TypeError):
        studies.dropped["one"] = ("a",)


def test_a_frame_made_from_a_study_is_the_users_own():
    study = cr.Study(frame(), "one")
    table = study.to_frame()
    table.iloc[0, 0] = 99.0
    np.testing.assert_array_equal(study.X, X)


# ---------------------------------------------------------------------------------------------------------------------
# scaling


def test_scaling_undoes_units():
    units, offset = np.array([0.001, 3.0, 2000.0]), np.array([7.0, -1e4, 0.2])
    study, in_other_units = cr.Study(X, "one"), cr.Study(X * units + offset, "one")
    np.testing.assert_allclose(study.scaled("study").X, in_other_units.scaled("study").X, atol=1e-8)


@pytest.mark.parametrize("scale", ["none", "pooled", "study", "reference=one"])
def test_scale_can_be_asked_for_at_once(scale):
    at_once, later = two_studies(scale=scale), two_studies().scaled(scale)
    for name in at_once:
        np.testing.assert_array_equal(at_once[name].X, later[name].X)
        assert at_once[name].scale == scale


def test_a_constant_feature_becomes_zero():
    table = frame().assign(b=0.1, c=1e9)
    np.testing.assert_allclose(cr.Study(table, "one").scaled("study").X[:, 1:], 0, atol=1e-12)


def test_no_scaling_is_no_change_and_single_precision_stays():
    study = cr.Study(X.astype(np.float32), "one")
    assert study.scaled("none") is study
    assert study.scaled("study").X.dtype == np.float32
