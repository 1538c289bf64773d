"""Studies that fit together, and those that do not: features, orientation, samples in common."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.examples import X, Y, frame, two_studies
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.errors import DataError, DataWarning

# ---------------------------------------------------------------------------------------------------------------------
# features


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
            with pytest.raises(DataError):
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
    with warned(DataWarning):
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
def test_numbered_columns_in_another_order_are_refused(turned):
    """Pandas keeps a RangeIndex for reversed columns: their numbers are names all the same."""
    table = pd.DataFrame(X)
    with refused(DataError):
        cr.Studies({"as it is": table, "turned": turned(table)})


def test_frames_that_lost_different_numbered_columns_are_refused():
    table = pd.DataFrame(X)
    with refused(DataError):
        cr.Studies({"no first": table.drop(columns=0), "no last": table.drop(columns=2)})


@pytest.mark.parametrize("columns", [[2, 3, 1], [1, 2, 3]])
def test_arrays_are_never_aligned_with_the_numbers_that_name_another_studys_columns(columns):
    # Columns named 1, 2, 3 mean something; the first column of an array is "1" only because it has no name.
    with refused(DataError):
        cr.Studies({"array": X, "frame": pd.DataFrame(X, columns=columns)})


def test_arrays_are_aligned_by_place():
    studies = cr.Studies({"one": X, "two": Y})
    np.testing.assert_array_equal(studies["two"].X, Y)
    assert studies.features == ("1", "2", "3")


def unnamed_samples(columns="abc", extra=()):
    return pd.DataFrame(np.hstack([X, X[:, : len(extra)]]), columns=[*columns, *extra])


@pytest.mark.parametrize(
    "tables",
    [
        pytest.param({"one": X, "two": Y}, id="arrays"),
        pytest.param({"one": X, "two": pd.DataFrame(Y)}, id="a frame without names"),
        pytest.param({"one": unnamed_samples(), "two": unnamed_samples("cab")}, id="frames with named features"),
        pytest.param({"one": unnamed_samples(extra="d"), "two": unnamed_samples(extra="e")}, id="features dropped"),
    ],
)
@pytest.mark.filterwarnings("ignore:The studies share")
def test_studies_without_sample_names_are_aligned_without_any_check_of_names(tables):
    entered = set()

    def note(frame, event, argument):
        entered.add(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        cr.Studies(tables)
    finally:
        sys.setprofile(before)
    assert "_check_all_or_none_named" in entered
    assert "_check_orientation" not in entered


def test_studies_without_any_name_in_common_are_refused_also_without_sample_names():
    with refused(DataError):
        cr.Studies({"one": unnamed_samples("abc"), "two": unnamed_samples("def")})


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
    with refused(DataError) as caught:
        cr.Studies(tables)
    assert "three: 3 features, 1 in no other study: e" in str(caught.value)


def test_one_table_the_wrong_way_round_is_refused_with_a_remedy_that_works():
    tables = {"one": frame(X, "abc"), "two": frame(Y, "abc", "y").T, "three": frame(Y, "abc", "z")}
    with refused(DataError) as caught:
        cr.Studies(tables)
    assert "transpose=" not in str(caught.value)
    assert cr.Studies({**tables, "two": tables["two"].T}).features == ("a", "b", "c")


def test_all_tables_the_wrong_way_round_are_refused_without_a_misleading_warning():
    """Row names in common are not the same samples twice: they are features."""
    with refused(DataError):
        cr.Studies({"one": frame(X, "abc").T, "two": frame(Y, "abc", "y").T})


# ---------------------------------------------------------------------------------------------------------------------
# samples and scales in common


def test_the_same_sample_names_in_two_studies_are_warned_about():
    with warned(DataWarning):
        cr.Studies({"one": frame(X), "two": frame(Y), "three": frame(Y, "abc", "z")})


def test_samples_without_names_are_not_in_common():
    cr.Studies({"one": X, "two": Y, "three": pd.DataFrame(X)})  # a warning would be an error


def test_studies_on_different_scales_are_warned_about():
    one, two = two_studies().values()
    with warned(DataWarning):
        cr.Studies([one.scaled("study"), two])


# ---------------------------------------------------------------------------------------------------------------------
# studies from files: the remedy names the argument


WRONG_WAY = "gene,{0}1,{0}2,{0}3\na,0.5,1.5,2.5\nb,3.5,4.5,5.5\n"
RIGHT_WAY = "sample,a,b\n{0}1,0.5,3.5\n{0}2,1.5,4.5\n{0}3,2.5,5.5\n"


@pytest.mark.parametrize(
    ("contents", "options"),
    [
        ((WRONG_WAY, RIGHT_WAY), {}),
        ((WRONG_WAY, RIGHT_WAY), {"transpose": True}),
        ((WRONG_WAY, RIGHT_WAY), {"transpose": "v"}),
        ((RIGHT_WAY, RIGHT_WAY), {"transpose": "v"}),
        ((WRONG_WAY, WRONG_WAY), {}),
        ((RIGHT_WAY, RIGHT_WAY), {"transpose": True}),
        ((RIGHT_WAY, RIGHT_WAY), {"transpose": ["m", "v"]}),
        ((RIGHT_WAY, "0.5,1.5\n2.5,3.5\n"), {}),
        (("0.5,1.5\n2.5,3.5\n", "0.5\n2.5\n"), {}),
        (("1,2\n2,3\n3,4\n", "5,6\n6,7\n7,8\n"), {"header": True}),
    ],
)
def test_the_remedy_for_files_names_the_argument_to_change(tmp_path, contents, options):
    for name, content in zip("mv", contents, strict=True):
        (tmp_path / f"{name}.csv").write_text(content.format(name))
    with refused(DataError):
        cr.Studies.read(tmp_path / "m.csv", tmp_path / "v.csv", label=False, **options)
