"""Several studies: a mapping that is aligned, scaled, selected from, split and shown."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.examples import X, Y, frame, two_studies
from tests.sentences import warned

import clustrep as cr
from clustrep.errors import DataError, DataWarning

# ---------------------------------------------------------------------------------------------------------------------
# a mapping


def test_studies_are_a_mapping_in_the_order_given():
    studies = two_studies()
    assert studies.names == tuple(studies) == ("one", "two")
    assert len(studies) == 2
    assert "one" in studies
    assert "three" not in studies
    assert studies.get("one") is studies["one"]
    assert studies.get("three") is None
    assert [study.name for study in studies.values()] == ["one", "two"]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([X, Y], ("1", "2")),
        ((X, Y), ("1", "2")),
        ([cr.Study(X, "one"), Y], ("one", "2")),
        ({"one": X, "two": cr.Study(Y, "other")}, ("one", "two")),
        (cr.Studies({"one": X, "two": Y}), ("one", "two")),
    ],
)
def test_studies_are_named_by_key_by_themselves_or_by_number(given, names):
    studies = cr.Studies(given)
    assert studies.names == names
    assert [study.name for study in studies.values()] == list(names)
    np.testing.assert_array_equal(studies[names[1]].X, Y)


def test_from_frames_is_the_same_as_studies():
    tables = {"one": frame(X), "two": frame(Y, "cab", "y")}
    from_frames, other = cr.Studies.from_frames(tables, scale="study"), cr.Studies(tables, scale="study")
    assert repr(from_frames) == repr(other)
    for name in tables:
        np.testing.assert_array_equal(from_frames[name].X, other[name].X)


@pytest.mark.parametrize("make", [cr.Studies, cr.Studies.from_frames, lambda t: cr.Studies.split(t["two"], rng=0)])
def test_warnings_point_at_the_callers_line(make):
    tables = {"one": frame(X), "two": frame(Y).assign(type=[0, 1] * 3)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make(tables)
    assert {warning.filename for warning in caught} == {__file__}


# ---------------------------------------------------------------------------------------------------------------------
# scaling


def test_each_study_is_scaled_by_itself():
    studies = cr.Studies({"one": frame(X), "two": frame(5 * Y + 100, "abc", "y")})
    standard = studies.scaled("study")
    for name in studies:
        np.testing.assert_allclose(standard[name].X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(standard[name].X.std(axis=0), 1)
        assert standard[name].scale == "study"
        assert studies[name].scale == "none"
    np.testing.assert_array_equal(studies["one"].X, X)  # the unscaled ones stay as they were


def test_pooled_scaling_takes_the_mean_of_all_and_the_spread_within_studies():
    studies = cr.Studies({"one": frame(X), "two": frame(5 * Y + 100, "abc", "y")})
    pooled = studies.scaled("pooled")
    together = np.concatenate([study.X for study in studies.values()])
    within = np.concatenate([study.X - study.X.mean(axis=0) for study in studies.values()])
    for name, study in studies.items():
        np.testing.assert_allclose(pooled[name].X, (study.X - together.mean(axis=0)) / within.std(axis=0))
        assert pooled[name].scale == "pooled"


def test_all_studies_are_scaled_by_a_reference():
    studies = cr.Studies({"one": frame(X), "two, 3": frame(5 * Y + 100, "abc", "y")})
    scaled = studies.scaled("reference=two, 3")
    by = studies["two, 3"].X
    for name, study in studies.items():
        np.testing.assert_allclose(scaled[name].X, (study.X - by.mean(axis=0)) / by.std(axis=0))
    np.testing.assert_array_equal(scaled["two, 3"].X, studies.scaled("study")["two, 3"].X)
    assert {study.scale for study in scaled.values()} == {"reference=two, 3"}


@pytest.mark.parametrize("scale", ["pooled", "reference=one"])
def test_scaling_by_other_studies_leaves_out_missing_values_and_constants(scale):
    one, two = frame(X).assign(b=0.1, c=1e9), frame(Y, "abc", "y").assign(b=0.1, c=2e9)
    one.iloc[0, 0] = np.nan
    scaled = cr.Studies({"one": one, "two": two}, allow_missing=True, scale=scale)
    assert np.isnan(scaled["one"].X).sum() == 1
    np.testing.assert_allclose(scaled["one"].X[:, 1], 0, atol=1e-12)
    np.testing.assert_allclose(scaled["two"].X[0, 2] - scaled["one"].X[0, 2], 1e9)  # shifted, not scaled
    known = one["a"].to_numpy()[1:]
    values = [known - known.mean(), two["a"] - two["a"].mean()] if scale == "pooled" else [known]
    np.testing.assert_allclose(np.diff(scaled["two"].X[:2, 0]), np.diff(two["a"][:2]) / np.concatenate(values).std())


@pytest.mark.parametrize("scale", ["pooled", "study", "reference=one"])
def test_scaling_keeps_single_precision(scale):
    studies = cr.Studies({"one": X.astype(np.float32), "two": Y.astype(np.float32)}, scale=scale)
    assert {study.X.dtype for study in studies.values()} == {np.dtype(np.float32)}


def test_only_shared_features_count_for_scaling_and_selection_keeps_it():
    studies = two_studies(scale="study").select(["c", "a"])
    assert studies["one"].scale == "study"
    np.testing.assert_array_equal(studies["one"].X, two_studies().scaled("study")["one"].X[:, [2, 0]])


# ---------------------------------------------------------------------------------------------------------------------
# selecting


@pytest.mark.parametrize("make", [list, tuple, pd.Index, np.array])
def test_select_keeps_these_features_in_this_order(make):
    studies = two_studies().select(make(["c", "a"]))
    assert studies.features == ("c", "a")
    np.testing.assert_array_equal(studies["one"].X, X[:, [2, 0]])
    np.testing.assert_array_equal(studies["two"].X, Y[:, [2, 0]])
    assert studies["two"].samples == tuple(f"y{i}" for i in range(6))
    assert repr(studies).startswith("Studies: 2 studies, 2 shared features")


def test_select_leaves_the_original_alone():
    studies = two_studies()
    studies.select(["b"])
    assert studies.features == ("a", "b", "c")
    np.testing.assert_array_equal(studies["one"].X, X)


# ---------------------------------------------------------------------------------------------------------------------
# splitting


@given(n_samples=st.integers(4, 40), n=st.integers(2, 6), seed=st.integers(0, 99))
def test_a_split_puts_every_sample_into_one_part_with_its_own_values_and_label(n_samples, n, seed):
    values = np.arange(n_samples)[:, None] * [1.0, 10.0] + 0.5
    study = cr.Study(values, "all", samples=[f"s{i}" for i in range(n_samples)], labels=np.arange(n_samples))
    if n_samples < 2 * n:
        with pytest.raises(DataError):
            cr.Studies.split(study, n, rng=seed)
        return
    parts = cr.Studies.split(study, n, rng=seed)
    assert parts.names == tuple(str(i) for i in range(1, n + 1))
    sizes = [len(part) for part in parts.values()]
    assert max(sizes) - min(sizes) <= 1
    assert sorted(sample for part in parts.values() for sample in part.samples) == sorted(study.samples)
    for part in parts.values():
        rows = [int(sample[1:]) for sample in part.samples]
        np.testing.assert_array_equal(part.X, values[rows])
        assert part.labels.tolist() == rows
        assert part.features == study.features


def test_a_split_follows_from_its_seed():
    first, again = cr.Studies.split(X, rng=5), cr.Studies.split(X, rng=5)
    np.testing.assert_array_equal(first["1"].X, again["1"].X)
    different = [cr.Studies.split(X, rng=seed)["1"].samples for seed in range(8)]
    assert len(set(different)) > 1
    rng = np.random.default_rng(5)
    assert cr.Studies.split(X, rng=rng)["1"].samples == first["1"].samples  # a generator is used, and moves on
    assert len({cr.Studies.split(X, rng=rng)["1"].samples for _ in range(8)}) > 1


def test_a_split_takes_frames_with_a_label():
    parts = cr.Studies.split(frame().assign(type=["A", "B"] * 4), label="type", rng=0)
    for part in parts.values():
        assert part.features == ("a", "b", "c")
        assert part.labels.tolist() == ["AB"[int(sample[1:]) % 2] for sample in part.samples]


def test_the_parts_of_a_split_are_scaled_each_by_itself():
    """They stand for studies, and no study knows another's mean."""
    parts = cr.Studies.split(np.vstack([X, 50 + 3 * X]), rng=1, scale="study")
    for part in parts.values():
        assert part.scale == "study"
        np.testing.assert_allclose(part.X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(part.X.std(axis=0), 1)


# ---------------------------------------------------------------------------------------------------------------------
# showing


def test_studies_show_names_sizes_labels_and_scaling():
    studies = cr.Studies({"a": frame(X), "longer": frame(Y, "abc", "y").assign(type=[0, 1] * 3)}, label="type")
    assert repr(studies) == (
        "Studies: 2 studies, 3 shared features\n  a       8 samples\n  longer  6 samples, known labels 0, 1"
    )
    assert repr(cr.Studies({"only": X[:, :1]}, scale="study")) == (
        "Studies: 1 study, 1 shared feature\n  only  8 samples, scaled by study"
    )


def test_what_was_dropped_is_remembered():
    with warned(DataWarning):
        studies = cr.Studies({"one": frame(X).assign(extra=0.5), "two": frame(Y, "abc", "z")})
    assert studies.scaled("study").dropped["one"] == ("extra",)
    assert studies.select(["a"]).dropped["one"] == ("extra",)
