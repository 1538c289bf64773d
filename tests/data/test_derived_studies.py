"""Studies made from studies: pooled, or with another table."""

from __future__ import annotations

import numpy as np

import clustrep as cr


def test_a_study_with_the_samples_of_others(rng):
    first = cr.Study(rng.normal(size=(3, 2)), "a", features=["f", "g"], samples=["p", "q", "r"], labels=[0, 1, 1])
    others = [cr.Study(rng.normal(size=(n, 2)), name, features=["f", "g"]) for n, name in ((2, "b"), (4, "c"))]
    pooled = first.with_samples_of(others, "all")
    np.testing.assert_array_equal(pooled.X, np.concatenate([first.X, others[0].X, others[1].X]))
    assert pooled.name == "all"
    assert pooled.features == ("f", "g")
    assert pooled.samples[:3] == ("a/p", "a/q", "a/r")
    assert [sample.split("/")[0] for sample in pooled.samples] == list("aaabbcccc")
    assert len(set(pooled.samples)) == 9
    assert pooled.labels is None
    assert not pooled.X.flags.writeable
    assert (first.name, len(first), first.samples) == ("a", 3, ("p", "q", "r"))
    assert first.labels.tolist() == [0, 1, 1]


def test_a_study_with_the_samples_of_no_other_is_itself_under_another_name(rng):
    study = cr.Study(rng.normal(size=(3, 2)), "a")
    alone = study.with_samples_of([], "b")
    np.testing.assert_array_equal(alone.X, study.X)
    assert alone.name == "b"


def test_a_study_with_another_table(rng):
    study = cr.Study(rng.normal(size=(3, 2)), "a", features=["f", "g"], samples=["p", "q", "r"], labels=["x", "y", "x"])
    X = rng.normal(size=(3, 4))
    other = study.with_table(X)
    np.testing.assert_array_equal(other.X, X)
    assert (other.name, other.samples) == ("a", ("p", "q", "r"))
    assert other.labels.tolist() == ["x", "y", "x"]
    assert other.features == ("1", "2", "3", "4")
    assert study.with_table(X[:, :2]).features == ("f", "g")
    assert study.features == ("f", "g")
    assert study.X.shape == (3, 2)


def test_the_features_of_another_table_have_no_names(rng):
    study = cr.Study(rng.normal(size=(3, 2)), "a", features=["f", "g"])
    assert not study.with_table(rng.normal(size=(3, 4))).features_are_named
