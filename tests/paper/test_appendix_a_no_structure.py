"""Appendix A.2 of the paper at quick size: scores of data without clusters."""

from __future__ import annotations

import numpy as np
import pytest
from paper.appendix_a_no_structure.long_gaussian import LEVEL, LOW, long_gaussian
from paper.appendix_a_no_structure.runs import curves
from paper.common import DEPENDS, FAILS, table
from scipy.stats import binomtest

ARI, AMI = 0, 1


@pytest.fixture(scope="module")
def run(quick_run):
    return quick_run("appendix_a_no_structure")


def highest(curve, agreement):
    """The scores of all data sets at the k where their mean is highest, from (data set, k, agreement)."""
    scores = curve[..., agreement]
    return scores[:, scores.mean(axis=0).argmax()]


def test_every_line_is_complete_and_no_two_are_the_same(run):
    assert all(claim.figures and claim.as_written and claim.rule and claim.why for claim in run.claims)
    assert len({(claim.where, claim.claim) for claim in run.claims}) == len(run.claims)
    assert "nan" not in table(run.claims)
    assert all((run.folder / name).stat().st_size > 5000 for name in run.figures)


def test_scores_without_clusters_are_not_low_in_the_plane(run, find_claim, errors):
    claim = find_claim(run.claims, "scores are low: d = 2")
    assert claim.verdict == FAILS
    for written, published in zip(claim.values["written"], claim.values["published"], strict=True):
        assert errors.above(highest(written, ARI), LOW) > 4
        assert errors.apart(highest(written, ARI), highest(published, ARI)) > 4  # as published, in five dimensions


def test_scores_without_clusters_fall_with_dimensions(run, find_claim, errors):
    claim = find_claim(run.claims, "scores are low: d = 5")
    five, ten, fifteen = claim.values["written"]
    assert claim.verdict == DEPENDS
    assert highest(five, ARI).mean() > highest(ten, ARI).mean() > highest(fifteen, ARI).mean()
    assert errors.apart(highest(five, ARI), highest(fifteen, ARI)) > 4
    assert errors.above(highest(fifteen, ARI), LOW) < -4
    assert all(errors.above(highest(curve, AMI), LOW) > 4 for curve in (five, ten, fifteen))


@pytest.mark.parametrize("what", ["d = 2", "d = 5"])
def test_ami_without_clusters_rises_with_k(run, find_claim, errors, what):
    claim = find_claim(run.claims, f"scores are the same for all k: {what}")
    assert claim.verdict in (FAILS, DEPENDS)
    assert all(errors.above(curve[:, -1, AMI] - curve[:, 0, AMI]) > 4 for curve in claim.values["written"])


def test_one_long_gaussian_scores_high_and_is_not_above_data_without_clusters(run, find_claim, errors):
    claim = find_claim(run.claims, "a high score is evidence of clusters")
    assert claim.ours
    assert claim.verdict in (FAILS, DEPENDS)
    assert errors.above(claim.values["scores"], LOW) > 4
    assert errors.above(claim.values["null"], LOW) > 4
    pvalues = claim.values["pvalues"]
    assert binomtest(int(np.sum(pvalues <= LEVEL)), len(pvalues), LEVEL, alternative="greater").pvalue > 1e-4


def test_the_same_twice(tmp_path):
    first, again = (long_gaussian(2, 19, 1, tmp_path / name) for name in ("first", "again"))
    assert first == again
    for name in first.figures:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    first, again = (curves(1, 50, 2, range(2, 4), 2, 2, 3, 1) for _ in range(2))
    assert np.array_equal(first, again)
