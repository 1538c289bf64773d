"""The scale of verdicts and its rules."""

from __future__ import annotations

import numpy as np
import pytest
from paper.verdicts import SYMBOLS, Part, Verdict, above, at_most, exceptions, grade, judge, misprint, usual

YES, NO, OPEN = Part("yes", 0.5, 0.1, 0.01), Part("no", 0.0, 0.1, 0.01), Part("open", 0.11, 0.1, 0.05)


@pytest.mark.parametrize(
    ("kind", "yes", "asked", "verdict"),
    [
        ("all", 4, 4, Verdict.HOLDS),
        ("all", 3, 4, Verdict.EXCEPTION),
        ("all", 12, 16, Verdict.EXCEPTION),
        ("all", 11, 16, Verdict.MIXED),
        ("all", 1, 2, Verdict.MIXED),
        ("all", 2, 3, Verdict.MIXED),
        ("all", 3, 10, Verdict.MOSTLY_NOT),
        ("all", 0, 3, Verdict.FAILS),
        ("exists", 1, 9, Verdict.HOLDS),
        ("exists", 0, 9, Verdict.FAILS),
        ("most", 4, 6, Verdict.HOLDS),
        ("most", 3, 6, Verdict.MIXED),
        ("most", 1, 6, Verdict.MOSTLY_NOT),
    ],
)
def test_a_claim_is_graded_by_how_many_parts_say_yes(kind, yes, asked, verdict):
    assert grade(kind, yes, asked) == verdict


def test_an_effect_counts_by_its_size_not_by_its_significance():
    small_but_sure, large = Part("small", 0.019, 0.02, 1e-4), Part("large", 0.5, 0.02, 0.1)
    assert not small_but_sure.yes
    assert not small_but_sure.open
    assert large.yes
    assert judge([small_but_sure]) == Verdict.FAILS
    assert judge([large]) == Verdict.HOLDS


def test_open_parts_leave_a_quick_run_without_a_verdict_unless_they_change_nothing():
    assert judge([YES, YES, OPEN], quick=True) == Verdict.UNSETTLED
    assert judge([YES, OPEN], "exists", quick=True) == Verdict.HOLDS
    assert judge([NO, NO, NO, NO, OPEN], "most", quick=True) == Verdict.UNSETTLED
    assert judge([YES, YES, YES, OPEN, NO], "most", quick=True) == Verdict.HOLDS


def test_a_full_run_goes_by_the_estimates_where_they_move_the_verdict_by_one_step():
    assert judge([YES, YES, YES, OPEN]) == Verdict.HOLDS  # or an exception
    assert judge([OPEN]) == Verdict.UNKNOWN  # all or nothing
    assert judge([NO, OPEN, OPEN, OPEN]) == Verdict.UNKNOWN


def test_where_a_quick_run_gives_a_verdict_a_full_run_gives_the_same():
    rng = np.random.default_rng(0)
    for _ in range(300):
        parts = [Part("", effect, 0.1, 0.05) for effect in rng.normal(0.1, 0.3, size=rng.integers(1, 6))]
        quick = judge(parts, quick=True)
        assert quick in (judge(parts), Verdict.UNSETTLED)


def test_without_parts_a_claim_was_not_run():
    assert judge([]) == Verdict.NOT_RUN


def test_what_is_no_number_says_no():
    assert judge([Part("nothing to show", np.nan, 0.1)]) == Verdict.FAILS


def test_the_other_way_round_is_a_misprint():
    assert misprint([YES])
    assert not misprint([NO])
    assert not misprint([OPEN], quick=True)


def test_exceptions_are_named():
    assert exceptions([YES, NO, YES]) == ["no"]


def test_means_have_the_error_of_independent_values():
    part = above("mean", [0.4, 0.6, np.nan], 0.1)
    assert (part.effect, part.error) == pytest.approx((0.5, 0.1))
    assert at_most("mean", [0.4, 0.6], 0.55).yes
    assert not at_most("mean", [0.4, 0.6], 0.45).yes


def test_a_few_trials_that_all_succeed_are_not_without_an_error():
    assert usual("share", [True] * 4).error > 0.1
    assert usual("share", [True] * 4).open
    assert not usual("share", [True] * 40).open


def test_every_verdict_has_a_symbol():
    assert set(SYMBOLS) == set(Verdict)
