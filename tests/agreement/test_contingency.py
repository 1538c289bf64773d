from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sentences import refused

from clustrep.agreement.contingency import Counts, check_labelings, contingency_table, encode, separate, tables_of
from clustrep.checks import check_labels, check_weights
from clustrep.errors import ClustrepError, DataError


@st.composite
def weighted_labelings(draw):
    """Two labelings of the same points with weights, of which some may be zero but not all."""
    n = draw(st.integers(1, 25))
    labels = st.lists(st.integers(-2, 6), min_size=n, max_size=n)
    weights = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any))
    return draw(labels), draw(labels), weights


def table_by_loops(u, v, weights):
    """Count by the definition: one cell at a time, one point at a time."""
    return [
        [sum(w for a, b, w in zip(u, v, weights, strict=True) if (a, b) == (i, j)) for j in sorted(set(v))]
        for i in sorted(set(u))
    ]


# ---------------------------------------------------------------------------------------------------------------------
# contingency_table


@given(weighted_labelings())
def test_contingency_table_counts_points_by_both_labels(example):
    u, v, weights = example
    np.testing.assert_array_equal(contingency_table(u, v), table_by_loops(u, v, [1] * len(u)))
    np.testing.assert_array_equal(contingency_table(u, v, weights=weights), table_by_loops(u, v, weights))


def test_contingency_table_holds_integers_whatever_the_weights():
    for weights in (None, [2, 3], [2.0, 3.0], [True, True]):
        assert contingency_table([0, 1], [0, 0], weights=weights).dtype == np.int64


def test_a_label_whose_points_have_no_weight_keeps_its_row():
    assert contingency_table(["a", "b"], [0, 1], weights=[0, 5]).tolist() == [[0, 0], [0, 5]]


@given(weighted_labelings())
def test_exchanging_the_labelings_transposes_the_table(example):
    u, v, weights = example
    there, back = contingency_table(u, v, weights=weights), contingency_table(v, u, weights=weights)
    np.testing.assert_array_equal(there, back.T)


# Two labels, in sorted order, in every kind that people keep labels in.
KINDS_OF_LABELS = {
    "text": ["A", "B"],
    "text of unequal length": ["a", "basal-like"],
    "text that is not ASCII": ["Ä", "Ω"],
    "integers": [2, 10],
    "negative integers": [-1, 0],
    "small unsigned integers": np.array([0, 255], dtype=np.uint8),
    "whole floats": [1.0, 2.0],
    "32-bit floats": np.array([1, 2], dtype=np.float32),
    "truth values": [False, True],
    "dates": np.array(["2020-01-31", "2021-01-31"], dtype="datetime64[D]"),
    "bytes": np.array([b"a", b"b"]),
    "objects of text": np.array(["a", "b"], dtype=object),
    "objects of integers": np.array([2, 10], dtype=object),
    "objects of truth values": np.array([False, True], dtype=object),
    "series": pd.Series(["a", "b"]),
    "series with another index": pd.Series([1, 2], index=[7, 3]),
    "categorical": pd.Series(pd.Categorical(["a", "b"], categories=["a", "b", "unused"])),
    "categorical of integers": pd.Series(pd.Categorical([2, 10])),
    "nullable integers": pd.Series([2, 10], dtype="Int64"),
    "nullable truth values": pd.Series([False, True], dtype="boolean"),
    "pandas strings": pd.Series(["a", "b"], dtype="string"),
    "index": pd.Index(["a", "b"]),
    "tuple": ("a", "b"),
}
if hasattr(np.dtypes, "StringDType"):  # NumPy 2
    KINDS_OF_LABELS["NumPy strings"] = np.array(["a", "b"], dtype=np.dtypes.StringDType())


@pytest.mark.parametrize("kind", KINDS_OF_LABELS)
def test_labels_may_be_of_any_kind_and_are_sorted_in_their_own_order(kind):
    # The second label comes first and most often, so an order of appearance or of text would show.
    where = [1, 1, 0, 1]
    two = KINDS_OF_LABELS[kind]
    labels = two.take(where) if hasattr(two, "take") else type(two)(two[i] for i in where)
    assert contingency_table(labels, [0, 1, 0, 1]).tolist() == [[1, 0], [1, 2]]
    assert contingency_table([0, 1, 0, 1], labels).tolist() == [[1, 1], [0, 2]]


def test_a_series_is_read_by_position_not_by_its_index():
    u, v = pd.Series([0, 0, 1], index=[2, 1, 0]), pd.Series([0, 0, 1], index=[0, 1, 2])
    assert contingency_table(u, v).tolist() == [[2, 0], [0, 1]]


# ---------------------------------------------------------------------------------------------------------------------
# tables_of


@pytest.mark.parametrize("weighting", ["none", "by point", "by table and point"])
def test_many_tables_at_once_are_the_tables_one_by_one(rng, weighting):
    n_tables, n, shape = 4, 30, (5, 3)
    u = rng.integers(0, 4, (n_tables, n))  # code 4 never occurs: an empty row
    v = rng.integers(0, 3, n)
    weights = {
        "none": None,
        "by point": rng.integers(0, 3, n),
        "by table and point": rng.integers(0, 3, (n_tables, n)),
    }[weighting]
    expected = np.zeros((n_tables, *shape))
    for t in range(n_tables):
        for p in range(n):
            weight = 1 if weights is None else np.broadcast_to(weights, (n_tables, n))[t, p]
            expected[t, u[t, p], v[p]] += weight
    tables = tables_of(u, v, weights, shape)
    assert tables.dtype == float
    np.testing.assert_array_equal(tables, expected)


def test_small_codes_do_not_wrap_in_a_large_batch(rng):
    u = rng.integers(0, 200, (300, 10)).astype(np.uint8)
    v = rng.integers(0, 200, 10).astype(np.uint8)
    tables = tables_of(u, v, None, (200, 200))
    np.testing.assert_array_equal(tables, tables_of(u.astype(np.int64), v.astype(np.int64), None, (200, 200)))
    np.testing.assert_array_equal(tables.sum(axis=(1, 2)), 10)


def test_no_tables_are_an_empty_batch():
    assert tables_of(np.empty((0, 3), dtype=int), np.array([0, 1, 0]), None, (2, 2)).shape == (0, 2, 2)


# ---------------------------------------------------------------------------------------------------------------------
# Counts


@given(weighted_labelings())
def test_listed_cells_are_the_occupied_cells_of_the_dense_table(example):
    first, second, weights = check_labelings(*example)
    u, v = first.codes, second.codes
    dense = Counts.from_tables(tables_of(u[None], v, weights, (u.max() + 1, v.max() + 1)))
    listed = Counts.from_codes(u, v, weights)
    occupied = dense.cells > 0
    np.testing.assert_array_equal(listed.cells, dense.cells[occupied][None])
    for field in ("row_of_cell", "column_of_cell"):
        codes = getattr(dense, field)[occupied[0]]
        np.testing.assert_array_equal(getattr(listed, field), codes)
    for field in ("rows", "columns"):
        listed_sizes, dense_sizes = getattr(listed, field)[0], getattr(dense, field)[0]
        np.testing.assert_array_equal(listed_sizes[listed_sizes > 0], dense_sizes[dense_sizes > 0])
    np.testing.assert_array_equal(listed.totals, dense.totals)
    assert listed.totals == sum(example[2])


def test_margins_of_a_dense_table_stand_beside_their_cells():
    counts = Counts.from_tables(np.array([[[1, 2, 3], [4, 5, 6]]]))
    assert counts.cells.tolist() == [[1, 2, 3, 4, 5, 6]]
    assert counts.rows[:, counts.row_of_cell].tolist() == [[6, 6, 6, 15, 15, 15]]
    assert counts.columns[:, counts.column_of_cell].tolist() == [[5, 7, 9, 5, 7, 9]]
    assert counts.rows.tolist() == [[6, 15]]
    assert counts.columns.tolist() == [[5, 7, 9]]
    assert counts.totals.tolist() == [21]


def test_singletons_against_singletons_need_memory_for_n_cells():
    n = 300_000  # a dense table would take 720 GB
    counts = Counts.from_codes(np.arange(n), np.arange(n)[::-1])
    assert counts.cells.shape == counts.rows.shape == counts.columns.shape == (1, n)
    assert counts.totals.tolist() == [n]


# ---------------------------------------------------------------------------------------------------------------------
# encode, Partition, separate


def test_encode_numbers_the_labels_of_all_parts_together():
    first, second, third = encode([np.array([5, 3, 5]), np.array([9]), np.array([3, 9])])
    assert [part.codes.tolist() for part in (first, second, third)] == [[1, 0, 1], [2], [0, 2]]
    # n_labels counts what the function can give, not what one part happened to get.
    assert [part.n_labels for part in (first, second, third)] == [3, 3, 3]
    assert not any(part.is_noise.any() for part in (first, second, third))


def test_encode_takes_text_and_a_part_without_points():
    first, empty, last = encode([np.array(["b", "a"]), np.array([], dtype=str), np.array(["luminal"])])
    assert (first.codes.tolist(), empty.codes.tolist(), last.codes.tolist()) == ([1, 0], [], [2])


NO_NOISE = -1  # no point has this code


@pytest.mark.parametrize(
    ("labels", "noise"),
    [
        ([0, -1, 2], 0),
        ([0, 1, 2], NO_NOISE),
        ([-2, -1, 4], 1),  # -1 alone means noise, not every negative label
        ([-2, -3, 4], NO_NOISE),
        (["-1", "0", "1"], NO_NOISE),  # a name, not a number
        ([0.0, -1.0, 2.0], 0),
        (np.array([0, -1, 2], dtype=object), 0),
        (pd.Series([0, -1, 2], dtype="Int64"), 0),
        ([False, True, True], NO_NOISE),
    ],
)
def test_minus_one_is_noise_and_nothing_else_is(labels, noise):
    (partition,) = encode([check_labels(labels, "labels")])
    assert partition.noise == noise
    assert partition.is_noise.tolist() == [not isinstance(label, str) and label == -1 for label in labels]


def test_noise_has_its_code_also_in_a_part_that_has_none():
    with_noise, without = encode([np.array([-1, 3]), np.array([3, 3])])
    assert (with_noise.noise, without.noise) == (0, 0)
    assert with_noise.is_noise.tolist() == [True, False]
    assert without.is_noise.tolist() == [False, False]


@given(weighted_labelings())
def test_encode_keeps_the_partition(example):
    labels = np.array(example[0])
    (partition,) = encode([labels])
    np.testing.assert_array_equal(partition.labels, labels)
    assert partition.classes.tolist() == sorted(set(example[0]))
    assert partition.n_labels == len(partition.classes)


def test_separate_gives_each_noise_point_a_block_of_its_own():
    codes = np.array([0, 2, 0, 2, 1, 0])
    separated = separate(codes, np.array([True, False, True, False, False, True]))
    assert separated[[1, 3, 4]].tolist() == [2, 2, 1]
    noise = separated[[0, 2, 5]]
    assert len(set(noise)) == 3
    assert not set(noise) & {0, 1, 2}
    assert codes.tolist() == [0, 2, 0, 2, 1, 0]  # the caller's array is his own


@pytest.mark.parametrize(("is_noise", "n_blocks"), [([False] * 4, 2), ([True] * 4, 4), ([True, False, False, True], 4)])
def test_separate_makes_as_many_blocks_as_there_are_noise_points_more(is_noise, n_blocks):
    separated = separate(np.array([0, 0, 1, 1]), np.array(is_noise))
    assert len(np.unique(separated)) == n_blocks


# ---------------------------------------------------------------------------------------------------------------------
# what is refused

BAD_LABELS = {
    "text": "aab",
    "None": None,
    "a number": 3,
    "a generator": (i for i in range(3)),
    "a set": {1, 2, 3},
    "a table": np.zeros((3, 2)),
    "a frame": pd.DataFrame({"k": [1]}),
    "lists of unequal length": [[1, 2], [3], [4]],
    "no points": [],
    "NaN": [0, np.nan, np.nan],
    "None among text": ["a", "b", None],
    "NaN among text": ["a", np.nan, "b"],
    "NaN among text in a series": pd.Series(["a", np.nan, "b"]),
    "NA": pd.Series([1, pd.NA, 2], dtype="Int64"),
    "a missing category": pd.Categorical([None, "a", "b"]),
    "no date": pd.to_datetime(["2020-01-01", None, "2020-01-02"]),
    "a masked label": np.ma.array([0, 1, 2], mask=[0, 1, 0]),
    "fractions": [0.0, 1.5, 2.0],
    "fractions as objects": np.array([0, 1.5, 2], dtype=object),
    "infinity": [0.0, np.inf, 1.0],
    "beyond the integers": [0.0, 1e300, 2e300],
}


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_refused(case):
    with pytest.raises(DataError):
        contingency_table(BAD_LABELS[case], [0, 1, 1])


def test_the_second_labeling_is_named_and_must_be_as_long_as_the_first():
    for v in ([0, 1], [0, 1, None]):
        with refused(DataError):
            contingency_table([0, 1, 1], v)


BAD_WEIGHTS = {
    "one number": 3,
    "too few": [1, 2],
    "too many": [1, 2, 3, 4],
    "a table": np.ones((3, 1)),
    "a mapping": {0: 1, 1: 1, 2: 1},
    "lists of unequal length": [[1], [2, 3], [4]],
    "negative": [1, -1, 1],
    "NaN": [1, np.nan, 1],
    "infinite": [1, np.inf, 1],
    "missing": [1, None, 1],
    "text": ["1", "2", "3"],
    "complex": [1, 1j, 1],
    "fractions": [1, 0.5, 1],
    "beyond the integers": [1, 1e300, 1],
    "all zero": [0, 0, 0],
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights_are_refused(case):
    with pytest.raises(DataError):
        contingency_table([0, 1, 1], [0, 0, 1], weights=BAD_WEIGHTS[case])


@pytest.mark.parametrize(
    "weights", [[0, 2, 1], (0, 2, 1), [0.0, 2.0, 1.0], np.array([0, 2, 1], dtype=np.uint8), pd.Series([0, 2, 1])]
)
def test_whole_numbers_of_any_kind_are_weights(weights):
    checked = check_weights(weights, length=3)
    assert checked.dtype == np.int64
    assert checked.tolist() == [0, 2, 1]


def test_a_refusal_is_a_value_error_of_this_package():
    with pytest.raises(ValueError) as caught:
        contingency_table([], [])
    assert isinstance(caught.value, ClustrepError)
