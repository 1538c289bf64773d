"""Failures: counted by cause, merged, reported once."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from tests.sentences import refused, warned

from clustrep.errors import AllReplicatesFailed, ReplicateWarning
from clustrep.execution.failures import Failures

CAUSES = np.array([["", "late"], ["early", "late"], ["", ""]], dtype=object)


def test_causes_are_numbered_in_the_order_of_their_appearance():
    failed, names = Failures.number(CAUSES)
    assert names == ("late", "early")
    np.testing.assert_array_equal(failed, [[0, 1], [2, 1], [0, 0]])


def test_counts_are_those_of_the_causes_that_occur():
    failed, names = Failures.number(CAUSES)
    failures = Failures.count(failed, (*names, "never"))
    assert failures == {"late": 2, "early": 1}
    assert list(failures) == ["late", "early"]
    assert (failures.total, failures.n_values) == (3, 6)
    assert Failures.count(failed, names, n_values=4).n_values == 4


def test_a_count_is_a_mapping_that_equals_a_dict():
    failures = Failures({"late": 2})
    assert failures == {"late": 2} == failures
    assert failures != {"late": 3}
    assert failures["late"] == 2
    assert failures.get("early", 0) == 0
    assert json.dumps(dict(failures)) == '{"late": 2}'
    assert repr(failures) == "{'late': 2}"
    assert not Failures()
    assert Failures() == {}


def test_counts_add_by_cause():
    merged = Failures.merge([Failures({"a": 1, "b": 2}, 10), Failures({"c": 1}, 5), Failures({"a": 4}, 6)])
    assert merged == {"a": 5, "b": 2, "c": 1}
    assert list(merged) == ["a", "b", "c"]
    assert merged.n_values == 21
    assert Failures.merge([]) == {}


@pytest.mark.parametrize(
    ("counts", "n_values", "sentence"),
    [
        ({}, 5, ""),
        ({"late": 1}, 1200, "1 score of 1,200 failed and was omitted: late (1)."),
        ({"late": 1200, "early": 1}, 0, "1,201 scores failed and were omitted: late (1,200); early (1)."),
    ],
)
def test_a_sentence_for_all_causes(counts, n_values, sentence):
    assert Failures(counts, n_values).sentence("score") == sentence


def test_a_line_for_every_cause():
    assert Failures({"late": 1, "early": 2}).lines("fit") == ["Failed: 1 fit: late", "Failed: 2 fits: early"]


def test_nothing_is_reported_where_nothing_failed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Failures({}, 0).report("score")
        Failures({}, 3).report("score", nothing_left=True)


def test_some_failures_are_warned_of():
    with warned(ReplicateWarning):
        Failures({"late": 1}, 3).report("fit", where=" In study 'a'.")


def test_an_error_where_all_values_failed():
    with refused(AllReplicatesFailed):
        Failures({"late": 3}, 3).report("fit")


def test_an_error_where_no_resample_is_left_although_there_are_values():
    with refused(AllReplicatesFailed):
        Failures({"late": 3}, 4).report("score", nothing_left=True)
    with warned(ReplicateWarning):
        Failures({"late": 3}, 3).report("score", nothing_left=False)
