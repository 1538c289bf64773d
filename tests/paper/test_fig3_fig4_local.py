"""Fig. 3 and 4 of the paper at quick size: local scores at three points and over the plane."""

from __future__ import annotations

import numpy as np
import pytest
from paper.common import DEPENDS, HOLDS, error_of
from paper.fig3_fig4_local.runs import WRITTEN

FULL = {"A": (0.475, 0.004), "B": (0.415, 0.004)}  # as published, mean and standard error of `make paper`
PRINTED_SDS = {"A": 0.12, "B": 0.11}


@pytest.fixture(scope="module")
def run(quick_run):
    return quick_run("fig3_fig4_local")


@pytest.fixture(scope="module")
def claims(run):
    return run.claims


def test_scores_at_three_points(claims, find_claim, errors):
    claim = find_claim(claims, "relatively high at A")
    assert claim.verdict == HOLDS
    a, b, c = claim.values["written"].T
    assert errors.above(a - b) > 4
    assert errors.above(b - c) > 4
    assert abs(errors.above(c)) < 4
    for scores, (mean, error) in zip(claim.values["published"].T, FULL.values(), strict=False):
        assert scores.mean() == pytest.approx(mean, abs=4 * np.hypot(error, error_of(scores)))


def test_the_printed_scores_are_those_of_another_setting(claims, find_claim):
    claim = find_claim(claims, ".52, .29, .00")
    sds = claim.values["sds"]  # over resamples, (n_pairs, 3)
    # A single pair is printed: standard deviations among pairs, with the error of our mean.
    limit = 4 * np.sqrt(1 + 1 / len(sds))
    assert claim.verdict == DEPENDS
    assert claim.values["off"][0] > limit
    assert claim.values["off_published"].max() < limit
    for values, printed in zip(sds.T, PRINTED_SDS.values(), strict=False):
        assert values.mean() == pytest.approx(printed, abs=limit * values.std(ddof=1) + 0.005)


def test_a_and_b_are_far_apart_as_written_alone(claims, find_claim, errors):
    claim = find_claim(claims, "substantially different scores")
    written, published = claim.values["written"], claim.values["published"]
    assert claim.verdict == DEPENDS
    assert written["A and B"].all()
    assert written["A and C"].all()
    assert errors.above(published["B and C"].astype(int) - published["A and B"].astype(int)) > 2  # of twelve pairs


def test_the_training_function_joins_what_the_test_function_separates(claims, find_claim, errors):
    claim = find_claim(claims, "puts points of B and D into one cluster")
    assert claim.verdict == HOLDS
    joined, separated = claim.values["written"].T
    assert errors.above(joined, 0.5) > 4
    assert errors.above(separated, 0.5) < -4
    joined_published, separated_published = claim.values["published"].T
    assert errors.above(joined_published - separated_published) > 4
    assert errors.above(joined - joined_published) > 4


def test_scores_over_the_plane(run, find_claim, errors):
    claim = find_claim(run.claims, "Over the plane")
    assert claim.verdict == HOLDS
    a, b, c = claim.values["written"].T
    assert errors.above(a - b) > 4
    assert errors.above(b - c) > 4
    a_published, b_published, _ = claim.values["published"].T
    assert errors.apart(a - b, a_published - b_published) > 4
    # The first 100 of 200 resamples: the difference of both means has the variance sd² (1/100 - 1/200).
    expected = claim.values["sd"] * np.sqrt(1 / WRITTEN.n_resamples - 1 / 200)
    assert 0 < claim.values["change"].mean() < 4 * expected.mean()
    assert len(run.figures) == 8
    assert all((run.folder / name).stat().st_size > 10_000 for name in run.figures)


def test_the_global_score_lies_between_the_local_ones(claims, find_claim, errors):
    claim = find_claim(claims, "A global score can hide")
    assert claim.verdict == HOLDS
    a, _, c = claim.values["points"].T
    assert errors.above(a - claim.values["whole"]) > 4
    assert errors.above(claim.values["whole"] - c) > 4
