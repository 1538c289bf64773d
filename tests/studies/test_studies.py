"""Studies in memory: what is taken, how it is aligned, scaled, split, selected, shown, and kept from change."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clustrep as cr
from clustrep.errors import DataError, DataWarning

X = np.random.default_rng(3).normal(size=(8, 3))
Y = np.random.default_rng(4).normal(size=(6, 3))
CLASSES = np.array([1, 2] * 4)


def frame(values=X, columns=("a", "b", "c"), prefix="x"):
    return pd.DataFrame(values, columns=list(columns), index=[f"{prefix}{i}" for i in range(len(values))])


def two_studies(**options):
    return cr.Studies({"one": frame(X, "abc", "x"), "two": frame(Y, "abc", "y")}, **options)


# ---------------------------------------------------------------------------------------------------------------------
# one study


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
    own = cr.Study(table, "one")
    assert own.features == ("a", "b", "c")
    assert own.samples == tuple(f"x{i}" for i in range(8))
    renamed = cr.Study(table, "one", features=["u", "v", "w"], samples=range(100, 108))
    assert renamed.features == ("u", "v", "w")
    assert renamed.samples == tuple(str(i) for i in range(100, 108))
    np.testing.assert_array_equal(renamed.X, own.X)


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


# ---------------------------------------------------------------------------------------------------------------------
# alignment


@given(
    columns=st.lists(st.permutations("abcde"), min_size=2, max_size=4),
    kept=st.lists(st.integers(1, 5), min_size=4, max_size=4),
)
def test_every_value_stays_with_its_feature_whatever_the_order(columns, kept):
    rng = np.random.default_rng(0)
    tables = {
        str(s): frame(rng.normal(size=(4, kept[s])), order[: kept[s]], f"{s}_") for s, order in enumerate(columns)
    }
    shared = set.intersection(*(set(table.columns) for table in tables.values()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        if not shared:
            with pytest.raises(DataError, match="no feature in common"):
                cr.Studies(tables)
            return
        studies = cr.Studies(tables)
    assert studies.features == tuple(feature for feature in tables["0"].columns if feature in shared)
    for name, table in tables.items():
        assert studies[name].features == studies.features
        np.testing.assert_array_equal(studies[name].X, table[list(studies.features)].to_numpy())
        assert set(studies.dropped[name]) == set(table.columns) - shared


def test_what_is_dropped_is_said_kept_and_shown():
    more = frame(np.hstack([Y, Y, Y]), ["c", "d", "a", "e", "f", "b", "g", "h", "i"], "y")
    with pytest.warns(DataWarning, match=r"share 3 features; dropped: two 6 \(d, e, f and 3 more\)\.$"):
        studies = cr.Studies({"one": frame(), "two": more})
    assert studies.dropped == {"one": (), "two": ("d", "e", "f", "g", "h", "i")}
    assert repr(studies) == (
        "Studies: 2 studies, 3 shared features\n"
        "  one  8 samples\n"
        "  two  6 samples, dropped 6 features: d, e, f and 3 more"
    )


@pytest.mark.parametrize(
    "turned",
    [
        pytest.param(lambda table: table.iloc[:, ::-1], id="reversed"),
        pytest.param(lambda table: table[[2, 1, 0]], id="picked in reverse"),
        pytest.param(lambda table: table[[2, 0, 1]], id="shuffled"),
    ],
)
def test_numbered_columns_of_frames_are_never_misaligned(turned):
    """Pandas keeps a RangeIndex for reversed columns: their numbers are names all the same."""
    table = pd.DataFrame(X)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            studies = cr.Studies({"as it is": table, "turned": turned(table)})
    except DataError:
        return
    np.testing.assert_array_equal(studies["turned"].X, studies["as it is"].X)


def test_frames_that_lost_different_numbered_columns_are_never_misaligned():
    table = pd.DataFrame(X)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            studies = cr.Studies({"no first": table.drop(columns=0), "no last": table.drop(columns=2)})
    except DataError:
        return
    np.testing.assert_array_equal(studies["no first"].X, studies["no last"].X)


def test_arrays_are_never_aligned_with_the_numbers_that_name_another_studys_columns():
    # Columns named 1, 2, 3 mean something; the first column of an array is "1" only for want of a name.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            studies = cr.Studies({"array": X, "frame": pd.DataFrame(X, columns=[2, 3, 1])})
    except DataError:
        return
    np.testing.assert_array_equal(studies["array"].X, studies["frame"].X)


def test_arrays_are_aligned_by_place():
    studies = cr.Studies({"one": X, "two": Y})
    np.testing.assert_array_equal(studies["two"].X, Y)
    assert studies.features == ("1", "2", "3")


def test_studies_without_common_features_are_refused_with_a_short_listing():
    many = [f"g{j}" for j in range(3000)]
    tables = {"one": frame(np.ones((4, 3000)), many), "two": frame(np.ones((4, 3000)), [g.upper() for g in many], "y")}
    with pytest.raises(DataError) as caught:
        cr.Studies(tables, label=False)
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("The studies have no feature in common: 3,000 names differ only in upper and lower case")
    assert "one: 3,000 features, 3,000 in no other study: g0, g1, g2, g3 and 2996 more" in lines[1]
    assert "two: 3,000 features" in lines[2]
    assert len(lines) == 3


def test_three_studies_that_only_overlap_in_pairs_are_refused():
    tables = {"one": frame(X, "abc"), "two": frame(X, "bcd", "y"), "three": frame(X, "eda", "z")}
    with pytest.raises(DataError, match=r"no feature in common") as caught:
        cr.Studies(tables)
    assert "three: 3 features, 1 in no other study: e" in str(caught.value)


def test_one_table_the_wrong_way_round_is_refused_with_a_remedy_that_works():
    tables = {"one": frame(X, "abc"), "two": frame(Y, "abc", "y").T, "three": frame(Y, "abc", "z")}
    with pytest.raises(DataError, match=r"Study 'two' is probably the wrong way round: .*a, b, c.*frame\.T") as caught:
        cr.Studies(tables)
    assert "transpose=" not in str(caught.value)
    assert cr.Studies({**tables, "two": tables["two"].T}).features == ("a", "b", "c")


def test_all_tables_the_wrong_way_round_are_refused_without_a_misleading_warning():
    """Row names in common are not the same samples twice: they are features."""
    with pytest.raises(DataError, match=r"no feature in common.*share 3 sample names.*wrong way round"):
        cr.Studies({"one": frame(X, "abc").T, "two": frame(Y, "abc", "y").T})


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
# the collection


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
    one, other = cr.Studies.from_frames(tables, scale="zscore"), cr.Studies(tables, scale="zscore")
    assert repr(one) == repr(other)
    for name in tables:
        np.testing.assert_array_equal(one[name].X, other[name].X)


def test_the_same_sample_names_in_two_studies_are_warned_about():
    with pytest.warns(DataWarning, match=r"'one' and 'two' have 6 sample names in common \(x0, x1, x2 and 3 more\)"):
        cr.Studies({"one": frame(X), "two": frame(Y), "three": frame(Y, "abc", "z")})


def test_samples_without_names_are_not_in_common():
    cr.Studies({"one": X, "two": Y, "three": pd.DataFrame(X)})  # a warning would be an error


@pytest.mark.parametrize("make", [cr.Studies, cr.Studies.from_frames, lambda t: cr.Studies.split(t["two"], rng=0)])
def test_warnings_point_at_the_callers_line(make):
    tables = {"one": frame(X), "two": frame(Y).assign(type=[0, 1] * 3)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make(tables)
    assert {warning.filename for warning in caught} == {__file__}


# ---------------------------------------------------------------------------------------------------------------------
# class labels among the data


@pytest.mark.parametrize("name", ["class", "Label", "CLUSTER", "group_1", "sub-type", "true_label", "y", "diagnosis"])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_few_small_integers_named_like_a_label_are_warned_about(name, place):
    table = frame()
    table.insert(place, name, CLASSES)
    with pytest.warns(DataWarning, match=rf"Feature '{name}' of study 'one' is probably a class label \(values 1, 2\)"):
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
    with pytest.warns(DataWarning, match=r"is probably a class label") as caught:
        cr.Studies([table])
    advised = str(caught[0].message).split("Use label='")[1].split("'")[0]
    study = cr.Studies([table], label=advised)["1"]
    assert study.labels.tolist() == CLASSES.tolist()
    np.testing.assert_array_equal(study.X, X)
    declared = cr.Studies([table], label=False)["1"]  # no warning
    assert declared.labels is None
    np.testing.assert_array_equal(declared.X, np.column_stack([X, CLASSES]))


def test_a_label_column_is_also_noticed_in_a_study_made_by_hand():
    with pytest.warns(DataWarning, match=r"Feature 'type' of study 'one' is probably a class label"):
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
        studies.scaled("zscore"),
        cr.Studies(studies),
        cr.Studies(list(studies.values())),
    ):
        assert changed["one"].labels.tolist() == CLASSES.tolist()


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
        lambda study: study.scaled("zscore"),
        lambda study: study.scaled("robust"),
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


def test_each_study_is_scaled_by_itself():
    studies = cr.Studies({"one": frame(X), "two": frame(5 * Y + 100, "abc", "y")})
    standard, robust = studies.scaled("zscore"), studies.scaled("robust")
    for name in studies:
        np.testing.assert_allclose(standard[name].X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(standard[name].X.std(axis=0), 1)
        np.testing.assert_allclose(np.median(robust[name].X, axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(np.subtract(*np.percentile(robust[name].X, [75, 25], axis=0)), 1)
        assert standard[name].scale == "zscore"
        assert studies[name].scale == "none"
    np.testing.assert_array_equal(studies["one"].X, X)  # the unscaled ones stay as they were


@pytest.mark.parametrize("scale", ["zscore", "robust"])
def test_scaling_undoes_units(scale):
    units, offset = np.array([0.001, 3.0, 2000.0]), np.array([7.0, -1e4, 0.2])
    one, other = cr.Study(X, "one").scaled(scale), cr.Study(X * units + offset, "one").scaled(scale)
    np.testing.assert_allclose(one.X, other.X, atol=1e-8)


@pytest.mark.parametrize("scale", ["none", "zscore", "robust"])
def test_scale_can_be_asked_for_at_once(scale):
    at_once, later = two_studies(scale=scale), two_studies().scaled(scale)
    for name in at_once:
        np.testing.assert_array_equal(at_once[name].X, later[name].X)
        assert at_once[name].scale == scale


@pytest.mark.parametrize("scale", ["zscore", "robust"])
def test_a_constant_feature_becomes_zero(scale):
    table = frame().assign(b=0.1, c=1e9)
    np.testing.assert_allclose(cr.Study(table, "one").scaled(scale).X[:, 1:], 0, atol=1e-12)


def test_a_feature_that_robust_scaling_can_not_scale_is_said():
    """More than three quarters zeros: the interquartile range is 0, and the rest would keep its units unsaid."""
    table = frame().assign(b=[0.0] * 7 + [1e6])
    with pytest.warns(DataWarning, match=r"'b'"):
        cr.Study(table, "one").scaled("robust")


def test_no_scaling_is_no_change_and_single_precision_stays():
    study = cr.Study(X.astype(np.float32), "one")
    assert study.scaled("none") is study
    assert study.scaled("zscore").X.dtype == np.float32


def test_only_shared_features_count_for_scaling_and_selection_keeps_it():
    studies = two_studies(scale="zscore").select(["c", "a"])
    assert studies["one"].scale == "zscore"
    np.testing.assert_array_equal(studies["one"].X, two_studies().scaled("zscore")["one"].X[:, [2, 0]])


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
        with pytest.raises(DataError, match=rf"n must leave at least 2 samples .* got n={n} for {n_samples} samples"):
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
    one, again = cr.Studies.split(X, rng=5), cr.Studies.split(X, rng=5)
    np.testing.assert_array_equal(one["1"].X, again["1"].X)
    different = [cr.Studies.split(X, rng=seed)["1"].samples for seed in range(8)]
    assert len(set(different)) > 1
    rng = np.random.default_rng(5)
    assert cr.Studies.split(X, rng=rng)["1"].samples == one["1"].samples  # a generator is used, and moves on
    assert len({cr.Studies.split(X, rng=rng)["1"].samples for _ in range(8)}) > 1


def test_a_split_takes_frames_with_a_label():
    parts = cr.Studies.split(frame().assign(type=["A", "B"] * 4), label="type", rng=0)
    for part in parts.values():
        assert part.features == ("a", "b", "c")
        assert part.labels.tolist() == ["AB"[int(sample[1:]) % 2] for sample in part.samples]


def test_the_parts_of_a_split_are_scaled_each_by_itself():
    """They stand for studies, and no study knows another's mean."""
    parts = cr.Studies.split(np.vstack([X, 50 + 3 * X]), rng=1, scale="zscore")
    for part in parts.values():
        assert part.scale == "zscore"
        np.testing.assert_allclose(part.X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(part.X.std(axis=0), 1)


# ---------------------------------------------------------------------------------------------------------------------
# showing


def test_a_study_shows_what_it_is():
    study = cr.Study(frame(), "mainz", labels=["A", "B"] * 4)
    assert repr(study) == "Study 'mainz': 8 samples, 3 features, known labels A, B"
    assert repr(study.select(["a"]).scaled("robust")) == (
        "Study 'mainz': 8 samples, 1 feature, known labels A, B, scaled by robust"
    )
    many = cr.Study(np.ones((1200, 1)), "big", labels=np.arange(1200) % 7)
    assert repr(many) == "Study 'big': 1,200 samples, 1 feature, known labels 0, 1, 2, 3, 4 and 2 more"


def test_studies_show_names_sizes_labels_and_scaling():
    studies = cr.Studies({"a": frame(X), "longer": frame(Y, "abc", "y").assign(type=[0, 1] * 3)}, label="type")
    assert repr(studies) == (
        "Studies: 2 studies, 3 shared features\n  a       8 samples\n  longer  6 samples, known labels 0, 1"
    )
    assert repr(cr.Studies({"only": X[:, :1]}, scale="zscore")) == (
        "Studies: 1 study, 1 shared feature\n  only  8 samples, scaled by zscore"
    )


def test_what_was_dropped_is_remembered():
    with pytest.warns(DataWarning, match="dropped"):
        studies = cr.Studies({"one": frame(X).assign(extra=0.5), "two": frame(Y, "abc", "z")})
    assert studies.scaled("zscore").dropped["one"] == ("extra",)
    assert studies.select(["a"]).dropped["one"] == ("extra",)


def test_studies_on_different_scales_are_warned_about():
    one, two = two_studies().values()
    with pytest.warns(DataWarning, match=r"not on one scale \(one zscore, two none\)"):
        cr.Studies([one.scaled("zscore"), two])


def test_a_label_column_that_a_study_lacks_is_refused():
    with pytest.raises(DataError, match=r"Study 'one' has no column 'nope'"):
        cr.Study(frame(X), "one", label="nope")
