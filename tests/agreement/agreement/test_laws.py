"""Trivial cases, laws and baselines of agreements."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agreement.agreement.cases import ADJUSTED, INDICES, entropy_by_definition, every_index
from tests.agreement.labelings import labelings

from clustrep.agreement.agreements import mutual_information, rand_index, resolve_agreement
from clustrep.agreement.contingency import Counts, contingency_table, tables_of
from clustrep.errors import DataError

few_examples = settings(max_examples=50)  # for each of seven agreements
EVERY = [*INDICES, "prediction_strength", "matching"]
every_agreement = pytest.mark.parametrize("name", EVERY)


def score(name, u, v, weights=None):
    if name in INDICES:
        return INDICES[name](u, v, weights=weights)
    codes = [np.unique(np.asarray(labels), return_inverse=True)[1] for labels in (u, v)]
    weights = None if weights is None else np.asarray(weights)
    return resolve_agreement(name).of_counts(Counts.from_codes(*codes, weights))[0]


# ---------------------------------------------------------------------------------------------------------------------
# trivial cases, one by one


ONE = [0, 0, 0, 0]
ALL = [0, 1, 2, 3]
SOME = [0, 0, 1, 1]
TRIVIAL = [
    ([0], [0], 1.0),
    ([0, 0], [1, 1], 1.0),
    ([0, 1], [1, 0], 1.0),
    ([0, 0], [0, 1], 0.0),
    (ONE, ONE, 1.0),
    (ALL, ALL, 1.0),
    (ALL, [3, 1, 0, 2], 1.0),
    (SOME, [5, 5, 2, 2], 1.0),
    (ONE, ALL, 0.0),
    (ONE, SOME, 0.0),
    (ALL, SOME, 0.0),
]


@pytest.mark.parametrize("name", ADJUSTED)
@pytest.mark.parametrize(("u", "v", "score"), TRIVIAL)
def test_trivial_partitions_score_one_or_zero_exactly(name, u, v, score):
    assert INDICES[name](u, v) == INDICES[name](v, u) == score


@pytest.mark.parametrize(("u", "v", "score"), [([0], [0], 1.0), (ONE, ONE, 1.0), (ALL, ALL, 1.0), (ONE, ALL, 0.0)])
def test_rand_index_of_trivial_partitions(u, v, score):
    assert rand_index(u, v) == score


@pytest.mark.parametrize(("u", "v", "score"), [([0], [0], 0.0), (ONE, SOME, 0.0), (ALL, ONE, 0.0)])
def test_mutual_information_with_one_block_is_exactly_zero(u, v, score):
    assert mutual_information(u, v) == score


# ---------------------------------------------------------------------------------------------------------------------
# laws


def almost(value):
    # Where a law changes the order of summation. Over 30 points chance never comes near the upper bound.
    return pytest.approx(value, rel=0, abs=1e-12)


@every_index
@few_examples
@given(labelings(30))
def test_agreement_is_symmetric(name, example):
    u, v = example
    assert INDICES[name](u, v) == almost(INDICES[name](v, u))


@every_agreement
@few_examples
@given(labelings(30), st.randoms(use_true_random=False))
def test_names_of_labels_and_order_of_points_do_not_matter(name, example, random):
    u, v = example
    names = random.sample(range(-100, 100), 62)
    order = random.sample(range(len(u)), len(u))
    renamed = [[names[label] for label in u[order]], [f"type {names[label]}" for label in v[order]]]
    assert score(name, *renamed) == almost(score(name, u, v))


@every_agreement
@few_examples
@given(labelings(30), st.data())
def test_weights_count_as_repeated_rows(name, example, data):
    u, v = example
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(u), max_size=len(u)).filter(any))
    repeated = score(name, np.repeat(u, weights), np.repeat(v, weights))
    assert score(name, u, v, weights) == repeated  # every bit: the counts are the same


@every_agreement
@few_examples
@given(labelings(30))
def test_identical_partitions_agree_fully(name, example):
    u, _ = example
    upper = entropy_by_definition(u.tolist()) if name == "mi" else 1.0
    renamed = [f"block {label}" for label in u]
    assert score(name, u, renamed) == (almost(upper) if name == "mi" else 1.0)


@every_agreement
@few_examples
@given(labelings(30))
def test_scores_stay_within_their_bounds(name, example):
    u, v = example
    lowest = -1.0 if name in ADJUSTED else 0.0
    highest = min(map(entropy_by_definition, (u.tolist(), v.tolist()))) + 1e-13 if name == "mi" else 1.0
    assert lowest <= score(name, u, v) <= highest


@every_agreement
@few_examples
@given(labelings(30))
def test_dense_and_listed_cells_give_the_same_bits(name, example):
    u, v = example
    agreement = resolve_agreement(name)
    table = tables_of(u[None], v, None, (u.max() + 1, v.max() + 1))
    assert agreement.of_tables(table)[0] == agreement.of_codes(u, v)
    assert agreement.of_counts(Counts.from_tables(table))[0] == agreement.of_counts(Counts.from_codes(u, v))[0]
    assert agreement.of_codes(u, v) == score(name, u, v)


@every_agreement
@few_examples
@given(labelings(30), st.data())
def test_empty_rows_and_columns_change_no_bit(name, example, data):
    table = contingency_table(*example).astype(float)
    padded = table
    for axis in (0, 1):
        padded = np.insert(padded, data.draw(st.lists(st.integers(0, table.shape[axis]), max_size=4)), 0, axis=axis)
    agreement = resolve_agreement(name)
    assert agreement.of_tables(padded) == agreement.of_tables(table)


@every_agreement
def test_many_tables_at_once_have_the_scores_of_each(name, rng):
    tables = rng.integers(0, 9, (4, 3, 2, 5)).astype(float)
    tables[0, 0, 0] = 0  # one block
    scores = resolve_agreement(name).of_tables(tables)
    assert scores.shape == (4, 3)
    for i, j in np.ndindex(4, 3):
        assert scores[i, j] == resolve_agreement(name).of_tables(tables[i, j])


@every_index
def test_whole_numbers_in_a_table_may_be_of_any_type(name):
    table = np.array([[5, 1, 0], [2, 7, 3]])
    scores = {float(resolve_agreement(name).of_tables(table.astype(dtype))) for dtype in (np.uint8, np.int32, float)}
    assert len(scores) == 1


KINDS_OF_LABELS = {
    "text": lambda codes: [("basal", "her2", "luminal A", "luminal B")[i] for i in codes],
    "integers": lambda codes: codes * 1000 - 1,
    "small integers": lambda codes: codes.astype(np.int8),
    "whole floats": lambda codes: codes.astype(float),
    "truth values": lambda codes: codes.astype(bool),
    "series": lambda codes: pd.Series(codes, index=codes[::-1]),
    "series of text": lambda codes: pd.Series(codes).map(str),
    "categorical": lambda codes: pd.Categorical.from_codes(codes, ["a", "b", "c", "d", "not used"]),
    "categorical series": lambda codes: pd.Series(codes).astype("category"),
    "nullable integers": lambda codes: pd.Series(codes, dtype="Int64"),
    "objects": lambda codes: codes.astype(object),
}


@every_index
@pytest.mark.parametrize("kind", KINDS_OF_LABELS)
def test_kind_of_labels_changes_no_bit(name, kind, rng):
    u, v = rng.integers(0, 2 if kind == "truth values" else 4, (2, 40))
    convert = KINDS_OF_LABELS[kind]
    assert INDICES[name](convert(u), convert(v)) == INDICES[name](u, v)
    assert INDICES[name](convert(u), v) == INDICES[name](u, v)


@every_index
def test_a_score_is_a_float_of_python(name):
    assert type(INDICES[name]([0, 0, 1], [0, 1, 1], weights=[1, 2, 3])) is float


@every_index
def test_bad_labelings_and_weights_are_refused(name):
    with pytest.raises(DataError):
        INDICES[name]([0, 1, 1], [0, 1])
    with pytest.raises(DataError):
        INDICES[name]([0, 1], [0, 1], weights=[0, 0])


# ---------------------------------------------------------------------------------------------------------------------
# theory: the baseline of independent partitions


@pytest.mark.parametrize("sizes", [((20, 20, 20), (30, 30)), ((50, 5, 5), (40, 10, 5, 5)), ((2,) * 30, (6,) * 10)])
def test_independent_partitions_average_zero_once_adjusted_and_not_before(sizes):
    n_draws, rng = 4000, np.random.default_rng(11)
    u, v = (np.repeat(np.arange(len(blocks)), blocks) for blocks in sizes)
    permuted = rng.permuted(np.tile(u, (n_draws, 1)), axis=1)
    tables = tables_of(permuted, v, None, (len(sizes[0]), len(sizes[1])))
    z = {}
    for name in INDICES:
        scores = resolve_agreement(name).of_tables(tables)
        z[name] = scores.mean() / (scores.std(ddof=1) / math.sqrt(n_draws))
    # Under the permutation model the mean is 0 exactly; 4 standard errors leave one chance in 16,000 each.
    assert max(abs(z[name]) for name in ADJUSTED) < 4
    assert min(z["ri"], z["mi"]) > 40
