"""Prediction strength and matching as agreements of two labelings, against brute force."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from tests.agreement.labelings import TEN_SAMPLES, labelings
from tests.agreement.table_agreements.cases import BY_DEFINITION, NAMES, every_agreement

import clustrep as cr
from clustrep.agreement.agreements import AGREEMENTS, resolve_agreement, resolve_agreements, shown
from clustrep.agreement.contingency import contingency_table

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
# laws of these two; those of every agreement are in tests/agreement/agreement/test_laws.py


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
