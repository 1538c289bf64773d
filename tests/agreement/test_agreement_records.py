"""Records of agreements: what they claim is held against brute force on all partitions of a few points."""

import itertools

import numpy as np
import pytest

import clustrep as cr
from clustrep.agreement.agreements import (
    AGREEMENTS,
    Agreement,
    resolve_agreement,
    shown,
)


def partitions(n):
    """All partitions of n points, as codes in the order of first appearance."""
    codes = [[0]]
    for _ in range(n - 1):
        codes = [[*labels, new] for labels in codes for new in range(max(labels) + 2)]
    return [np.array(labels) for labels in codes]


ALL_OF_FIVE = partitions(5)

every_record = pytest.mark.parametrize("record", AGREEMENTS.values(), ids=lambda record: record.name)


def test_there_are_as_many_partitions_as_bells_number():
    assert [len(partitions(n)) for n in (1, 2, 3, 4, 5)] == [1, 2, 5, 15, 52]


@every_record
def test_scores_stay_within_the_bounds(record):
    low, high = record.bounds
    score = resolve_agreement(record.name).of_codes
    scores = np.array([score(u, v) for u, v in itertools.product(ALL_OF_FIVE, repeat=2)])
    assert scores.min() >= low - 1e-12
    assert scores.max() <= high + 1e-12
    if np.isfinite(high):
        assert scores.max() == pytest.approx(high)


@every_record
def test_adjusted_scores_and_no_others_are_0_on_average_over_permutations(record):
    u, v = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 1])
    score = resolve_agreement(record.name).of_codes
    mean = np.mean([score(u, v[list(order)]) for order in itertools.permutations(range(6))])
    assert (abs(mean) < 1e-12) == record.adjusted


@every_record
def test_higher_is_better(record):
    score = resolve_agreement(record.name).of_codes
    u = np.array([0, 0, 0, 1, 1, 1])
    assert score(u, u) > score(u, np.array([0, 1, 0, 1, 0, 1]))


def test_both_forms_of_adjusted_mutual_information_are_adjusted():
    assert [name for name, record in AGREEMENTS.items() if record.adjusted] == ["ari", "ami", "ami_max"]


def test_keys_are_names_and_labels_differ():
    assert list(AGREEMENTS) == [record.name for record in AGREEMENTS.values()]
    assert len({record.label for record in AGREEMENTS.values()}) == len(AGREEMENTS)
    assert [shown(name) for name in ("ari", "my_score")] == ["ARI", "my_score"]


def test_one_record_adds_an_agreement(monkeypatch):
    def share_of_largest_cell(counts):
        return counts.cells.max(axis=1) / counts.totals

    record = Agreement("largest", "largest cell", "share of samples in the largest cell", share_of_largest_cell)
    monkeypatch.setitem(AGREEMENTS, "largest", record)
    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    result = cr.replicability(
        None, {"a": X, "b": X}, labels={"a": [0, 0, 0, 1, 1], "b": [0, 0, 0, 1, 1]}, agreement="largest", n_resamples=2
    )
    np.testing.assert_array_equal(result.estimate, np.full((2, 2), 0.6))
    assert "largest cell" in repr(result)
