"""Appendix C.3 of the paper at quick size: the test for clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

PRINTED_NULL = 1000  # simulated data sets behind a printed p-value


@pytest.fixture(scope="module")
def run(quick_run):
    return quick_run("appendix_c_tests")


@pytest.fixture(scope="module")
def tests(run):
    return run.claims


def test_figures_are_written(run):
    assert run.figures
    assert all((run.folder / name).stat().st_size > 5000 for name in run.figures)


def test_every_verdict_has_a_question(tests):
    assert all(bool(claim.rule) == (claim.verdict != "not run") for claim in tests)


def test_test_keeps_the_null_for_one_component(tests, find_claim):
    claim = find_claim(tests, "With one component")
    pvalues = claim.values["single"]
    assert claim.verdict != "does not hold"
    assert len(pvalues) >= 16
    assert binomtest(int(np.sum(pvalues <= 0.05)), len(pvalues), 0.05, alternative="greater").pvalue > 1e-4
    assert pvalues.mean() > 0.5 - 4 * np.sqrt(1 / 12 / len(pvalues))  # uniform, or higher
    assert claim.values["published"].ours[0] > 0.05


def test_test_rejects_where_clusters_are_clear(tests, find_claim):
    claim = find_claim(tests, "With several components")
    assert claim.verdict == "holds"
    for k in (2, 3, 5):
        assert len(claim.values["apart"][k]) == 6
        assert (claim.values["apart"][k] <= 0.05).all()
    assert max(claim.values["published"].ours) <= 0.05


def test_p_value_rises_as_means_come_closer(tests, find_claim, errors):
    claim = find_claim(tests, "come closer")
    closer = claim.values["closer"]
    assert claim.verdict != "holds"
    assert not any(claim.values["falls"][:2])
    assert errors.above((closer[2.0] + closer[1.41] + closer[1.0] + closer[0.63]) / 4 - closer[4.0]) > 4
    published = claim.values["published"]
    for ours, printed in zip(published.ours, published.printed, strict=True):
        middle = (ours + printed) / 2
        error = np.sqrt(middle * (1 - middle) * (1 / published.n_null + 1 / PRINTED_NULL))
        assert ours == pytest.approx(printed, abs=4 * error)
