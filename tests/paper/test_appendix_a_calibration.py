"""Appendix A.1 of the paper at quick size: bootstrap means, intervals and quantiles beside fresh pairs of studies."""

from __future__ import annotations

import re

import numpy as np
import pytest
from paper.appendix_a_calibration.claims import CLOSE, PRINTED, near_tie
from paper.appendix_a_calibration.runs import WRITTEN, Calibration, Size, calibrate
from paper.common import DEPENDS, HOLDS, error_of, make_rng, table
from scipy.stats import binomtest

ARI, AMI = 0, 1
SETTINGS = pytest.mark.parametrize(("setting", "k"), [(1, 4), (2, 3)])


@pytest.fixture(scope="module")
def run(quick_run):
    return quick_run("appendix_a_calibration")


@pytest.fixture
def calibration(run, find_claim):
    """A claim about one of the two settings."""
    return lambda setting, words: find_claim(
        [claim for claim in run.claims if claim.where.startswith(f"A.1, setting {setting}")], words
    )


def test_every_line_is_complete_and_no_two_are_the_same(run):
    assert all(claim.figures and claim.as_written and claim.rule and claim.why for claim in run.claims)
    assert len({(claim.where, claim.claim) for claim in run.claims}) == len(run.claims)
    assert "nan" not in table(run.claims)
    assert "-0.00 " not in table(run.claims)
    assert all((run.folder / name).stat().st_size > 5000 for name in run.figures)


@SETTINGS
def test_bootstrap_means_are_close_to_fresh_pairs_from_the_true_k_on_and_not_below(calibration, errors, setting, k):
    values = calibration(setting, "bootstrap mean of one pair").values
    enough, written = values["k"] >= k, values["written"]
    distances = np.moveaxis(np.abs(written.means - written.truth), 0, -1)  # (k, agreement, data set)
    assert (errors.above(distances[enough] ** 2, CLOSE**2) < -2).all()
    assert (errors.above(distances[~enough] - distances[values["k"] == k]) > 2).all()
    spread = written.means[:, 0, ARI].std(ddof=1)  # among data sets, at k = 2
    assert spread > 4 * error_of(written.bootstrap[:, 0, ARI]).mean()


def test_bootstrap_means_are_far_off_where_a_tie_decides(calibration, errors):
    claim = calibration(2, "bootstrap mean of one pair")
    assert claim.verdict == DEPENDS
    written = claim.values["written"]
    excess = []  # squared distance at k = 2, less the Monte Carlo variance of the bootstrap mean; (agreement,) each
    for scores in (*written.bootstrap[:, 0], *written.few[:, 0]):
        excess.append((scores.mean(axis=-1) - written.truth[0]) ** 2 - error_of(scores) ** 2)
    assert (errors.above(np.transpose(excess), CLOSE**2) > 2).all()


def test_published_settings_give_the_published_means(calibration):
    for i, printed in enumerate(PRINTED):
        published = calibration(i + 1, "bootstrap mean of one pair").values["published"]
        for place, (bootstrap, monte_carlo) in enumerate(printed.values()):
            fresh, means = published.fresh[place, ARI], published.means[:, place, ARI]
            error = fresh.std(ddof=1) * np.sqrt(1 / len(fresh) + 1 / 1000)  # the printed one is of 1,000 pairs
            assert fresh.mean() == pytest.approx(monte_carlo, abs=4 * error + 0.0005)
            error = means.std(ddof=1) * np.sqrt(1 + 1 / len(means))  # the printed one is of a single data set
            assert means.mean() == pytest.approx(bootstrap, abs=4 * error + 0.0005)


@SETTINGS
def test_intervals_hold_the_mean_of_fresh_pairs_from_the_true_k_on(calibration, setting, k):
    claim = calibration(setting, "intervals")
    covered = claim.values["covered"][:, claim.values["k"] >= k]  # (data set, k, agreement)
    assert claim.verdict in (HOLDS, DEPENDS)
    for count in covered.sum(axis=0).ravel():
        assert binomtest(int(count), len(covered), 0.95, alternative="less").pvalue > 1e-4


@SETTINGS
def test_quantiles_are_close_from_the_true_k_on_and_not_below(calibration, errors, setting, k):
    claim = calibration(setting, "quantiles")
    gaps = np.moveaxis(claim.values["gaps"], 0, -1)  # (k, agreement, data set)
    enough = claim.values["k"] >= k
    assert claim.verdict in (HOLDS, DEPENDS)
    assert (errors.above(gaps[enough], CLOSE) < -2).all()
    assert (errors.above(gaps[~enough] - gaps[enough].max(axis=0)) > 2).all()


@SETTINGS
def test_averages_over_data_sets_are_those_of_fresh_pairs_from_the_true_k_on(calibration, setting, k):
    claim = calibration(setting, "no bias")
    enough = claim.values["k"] >= k
    assert claim.ours
    assert (np.abs(claim.values["bias"]) < 4 * claim.values["error"])[enough].all()


def test_a_tie_comes_closer_to_even_in_resamples(rng):
    lean = -1.0  # of the normal variable that decides, in standard deviations
    fresh = np.where(lean + rng.normal(size=4000) > 0, 0.95, 0.1)
    sets = lean + rng.normal(size=(500, 1))
    resamples = np.where(sets + rng.normal(size=(500, 40)) > 0, 0.95, 0.1)
    tied = [np.repeat(values, 2, axis=-2) for values in (fresh[None, None], resamples[:, None, None])]
    text = near_tie(Calibration(WRITTEN[1], (2,), None, *tied, tied[1][:0]))
    assert "above are 0.16 ± 0.01" in text
    error = error_of((resamples > 0.5).mean(axis=1))
    assert float(re.search(r"of resamples (\S+) ±", text)[1]) == pytest.approx(0.24, abs=4 * error + 0.005)
    assert "would make 0.24" in text
    even = [values * 0 + rng.uniform(size=values.shape) for values in tied]
    assert near_tie(Calibration(WRITTEN[1], (2,), None, *even, even[1][:0])) == ""


def test_the_same_scores_twice():
    size = Size(2, 3, 4, n_more=1, n_few=2, n_jobs=1)
    first, again = (calibrate(WRITTEN[0], (2, 3), size) for _ in range(2))
    for name in ("fresh", "bootstrap", "few"):
        assert np.array_equal(getattr(first, name), getattr(again, name))


def test_streams_are_apart():
    first, second = (setting.studies(0)["train"].X for setting in WRITTEN)
    assert not np.isclose(first.min(), second.min())
    assert make_rng(2, 500).random() != make_rng(5, 200).random()
