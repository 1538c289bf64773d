"""Prediction strength and matching as agreements of two labelings, against brute force."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agreement.labelings import TEN_SAMPLES, labelings
from tests.agreement.table_agreements.cases import BY_DEFINITION, NAMES, every_agreement

import clustrep as cr
from clustrep.agreement.agreements import AGREEMENTS, resolve_agreement, resolve_agreements, shown
from clustrep.agreement.contingency import Counts, contingency_table

few_examples = settings(max_examples=60)


def codes_score(name, u, v):
    """The sparse path: two labelings, one code for every point."""
    codes = [np.unique(list(labels), return_inverse=True)[1] for labels in (u, v)]
    return resolve_agreement(name).of_codes(*codes)


def table_score(name, u, v, weights=None):
    """The dense path: a table."""
    return float(resolve_agreement(name).of_tables(contingency_table(list(u), list(v), weights=weights).astype(float)))


# ---------------------------------------------------------------------------------------------------------------------
# brute force


@every_agreement
@given(example=labelings(8))
def test_score_is_that_of_pairs_and_maps_by_either_path(name, example):
    u, v = example
    expected = BY_DEFINITION[name](u.tolist(), v.tolist())
    assert codes_score(name, u, v) == pytest.approx(expected, abs=1e-15)
    assert table_score(name, u, v) == codes_score(name, u, v)


@pytest.mark.parametrize(("u", "v"), TEN_SAMPLES[:-1])  # the last one has too many maps
@every_agreement
def test_score_of_ten_points_in_either_direction(name, u, v):
    for one, other in ((u, v), (v, u)):
        assert table_score(name, one, other) == pytest.approx(BY_DEFINITION[name](one, other), abs=1e-15)


@pytest.mark.parametrize(
    ("trained", "own", "strength", "matching"),
    [
        ("aabb", "xxyy", 1, 1),
        ("aabb", "xxxx", 2 / 6, 1 / 2),  # own has one cluster: 2 of its 6 pairs stay
        ("aaaa", "xxyy", 1, 1 / 2),  # own has two: both stay whole
        ("aaabbb", "xxxxyy", 3 / 6, 5 / 6),
        ("xxxxyy", "aaabbb", 1 / 3, 5 / 6),
        ("aabbb", "xxxyy", 1 / 3, 4 / 5),
        ("aabbc", "xxyyz", 1, 1),
        ("abccc", "xyyyy", 3 / 6, 4 / 5),  # x has one point, hence no pairs
        ("abc", "xyz", 1, 1),
        ("aab", "xyz", 0, 2 / 3),  # no pairs at all
        ("a", "x", 1, 1),
        ("aa", "xy", 0, 1 / 2),
        ("ab", "xx", 0, 1 / 2),
    ],
)
def test_scores_by_hand(trained, own, strength, matching):
    assert table_score("prediction_strength", trained, own) == codes_score("prediction_strength", trained, own)
    assert table_score("prediction_strength", trained, own) == pytest.approx(strength, abs=1e-15)
    assert table_score("matching", trained, own) == codes_score("matching", trained, own)
    assert table_score("matching", trained, own) == pytest.approx(matching, abs=1e-15)


# ---------------------------------------------------------------------------------------------------------------------
# laws


@every_agreement
@few_examples
@given(labelings(8), st.randoms(use_true_random=False))
def test_names_of_labels_and_order_of_points_do_not_matter(name, example, random):
    u, v = example
    order, names = list(range(len(u))), list(range(9))
    random.shuffle(order)
    random.shuffle(names)
    assert codes_score(name, np.array(names)[u[order]], np.array(names)[v[order]]) == codes_score(name, u, v)


@every_agreement
@few_examples
@given(labelings(8), st.data())
def test_weights_count_as_repeated_points(name, example, data):
    u, v = example
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(u), max_size=len(u))))
    weights[0] += not weights.any()
    repeated = codes_score(name, np.repeat(u, weights), np.repeat(v, weights))
    assert table_score(name, u, v, weights) == repeated
    assert resolve_agreement(name).of_counts(Counts.from_codes(u, v, weights))[0] == repeated


@every_agreement
@given(example=labelings(max_samples=12))
def test_scores_stay_within_their_bounds_and_identical_partitions_score_one(name, example):
    u, v = example
    assert 0 <= codes_score(name, u, v) <= 1
    assert codes_score(name, u, 5 - u) == 1.0
    assert table_score(name, u, 5 - u) == 1.0
    assert np.isfinite(table_score(name, u, v))


@given(labelings(max_samples=12))
def test_matching_is_symmetric_and_prediction_strength_grows_as_the_trained_side_gets_coarser(example):
    u, v = example
    assert codes_score("matching", u, v) == codes_score("matching", v, u)
    has_pairs = len(set(v.tolist())) < len(v)
    if has_pairs:
        assert codes_score("prediction_strength", u // 2, v) >= codes_score("prediction_strength", u, v)
        assert codes_score("prediction_strength", np.zeros(len(u)), v) == 1


@given(labelings(8))
def test_matching_is_one_less_the_relative_distance(example):
    u, v = example
    assert codes_score("matching", u, v) == 1 - cr.agreement.minimal_matching_distance(u, v, relative=True)


@given(labelings(8))
def test_prediction_strength_is_the_least_r_index_of_the_own_clusters(example):
    u, v = example
    strengths = cr.agreement.r_index(v, u)
    if np.isfinite(strengths).any():
        assert codes_score("prediction_strength", u, v) == np.nanmin(strengths)


@every_agreement
def test_many_tables_at_once_have_the_scores_of_each(name, rng):
    tables = rng.integers(0, 4, size=(3, 5, 3, 4)).astype(float)
    tables[..., 0, 0] += 1
    tables[1, 2] = 0
    tables[1, 2, 0, 1] = 7  # empty rows and columns
    scores = resolve_agreement(name).of_tables(tables)
    assert scores.shape == (3, 5)
    for place in np.ndindex(3, 5):
        table = tables[place]
        u, v = (np.repeat(codes.ravel(), table.astype(int).ravel()) for codes in np.indices(table.shape))
        assert scores[place] == codes_score(name, u, v)
    assert len(np.unique(scores)) > 5


@every_agreement
def test_empty_rows_and_columns_change_no_bit(name, rng):
    tables = rng.integers(0, 5, size=(20, 4, 3)).astype(float)
    padded = np.insert(np.insert(tables, [0, 2, 4], 0, axis=1), [1, 3], 0, axis=2)
    agreement = resolve_agreement(name)
    np.testing.assert_array_equal(agreement.of_tables(padded), agreement.of_tables(tables))


@every_agreement
def test_three_million_points_do_not_overflow(name):
    table = np.array([[1_500_000, 300_000], [199_999, 1_000_001]], dtype=float)
    expected = {
        "prediction_strength": min(
            Fraction(math.comb(1_500_000, 2) + math.comb(199_999, 2), math.comb(1_699_999, 2)),
            Fraction(math.comb(300_000, 2) + math.comb(1_000_001, 2), math.comb(1_300_001, 2)),
        ),
        "matching": Fraction(2_500_001, 3_000_000),
    }
    assert resolve_agreement(name).of_tables(table) == pytest.approx(float(expected[name]), rel=1e-14)


def test_prediction_strength_of_nearly_as_many_blocks_as_points():
    n = 300_000  # a dense table would take 720 GB
    alone, pairs = np.arange(n), np.arange(n) // 2
    strength = resolve_agreement("prediction_strength").of_codes
    assert strength(alone, alone[::-1]) == 1
    assert strength(alone, pairs) == 0
    assert strength(pairs, alone) == 0  # no cluster of the own partition has a pair
    assert strength(pairs, pairs[::-1]) == 1
    assert strength(alone // 4, pairs) == 1


def test_matching_of_many_singletons_by_hand():
    n = 500
    alone, pairs = np.arange(n), np.arange(n) // 2
    assert codes_score("matching", alone, alone[::-1]) == 1
    assert codes_score("matching", alone, pairs) == codes_score("matching", pairs, alone) == 1 / 2
    assert codes_score("matching", alone, np.zeros(n)) == pytest.approx(1 / n, rel=1e-13)


def test_matching_of_listed_cells_needs_memory_for_those_cells_alone():
    alone = np.arange(3_000)
    tracemalloc.start()
    try:
        assert resolve_agreement("matching").of_codes(alone, alone[::-1].copy()) == 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10e6


# ---------------------------------------------------------------------------------------------------------------------
# names


def test_both_are_agreements_by_name():
    assert set(NAMES) <= set(AGREEMENTS)
    assert [agreement.name for agreement in resolve_agreements(("matching", "ari", "prediction_strength"))] == [
        "matching",
        "ari",
        "prediction_strength",
    ]
    assert not any(resolve_agreement(name).compiled for name in NAMES)
    assert [shown(name) for name in (*NAMES, "ari", "my_own")] == ["prediction strength", "matching", "ARI", "my_own"]
