"""Appendix A of the paper at quick sizes: what holds goes on holding, and what does not, not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from paper.appendix_a_calibration_runs import WRITTEN, Calibration, Size, calibrate
from paper.appendix_a_long_gaussian import long_gaussian
from paper.appendix_a_sample_size_runs import COMPONENTS, component_chances, curve
from paper.common import DEPENDS, FAILS, HOLDS, error_of, make_rng, table

from paper import appendix_a_calibration, appendix_a_no_structure, appendix_a_sample_size
from paper import appendix_a_outliers as outliers

ARI, AMI = 0, 1
SETTINGS = pytest.mark.parametrize(("setting", "k"), [(1, 4), (2, 3)])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Claims of an experiment that runs once."""
    done = {}

    def once(experiment):
        if experiment not in done:
            out = tmp_path_factory.mktemp(experiment.__name__.rsplit(".", 1)[-1])
            done[experiment] = experiment.main(out, quick=True)
            assert all((out / name).stat().st_size > 5000 for claim in done[experiment] for name in claim.figures)
        return done[experiment]

    return once


@pytest.fixture
def calibration(run, find_claim):
    """A claim about one of the two settings of A.1."""
    return lambda setting, words: find_claim(
        [one for one in run(appendix_a_calibration) if one.where.startswith(f"A.1, setting {setting}")], words
    )


@pytest.mark.parametrize("experiment", [appendix_a_calibration, appendix_a_no_structure, appendix_a_sample_size])
def test_every_line_is_complete_and_no_two_are_the_same(run, experiment):
    claims = run(experiment)
    assert all(one.figures and one.as_written and one.rule and one.why for one in claims)
    assert len({(one.where, one.claim) for one in claims}) == len(claims)
    assert "nan" not in table(claims)
    assert "-0.00 " not in table(claims)


@SETTINGS
def test_bootstrap_means_are_close_to_fresh_pairs_from_the_true_k_on_and_not_below(calibration, setting, k):
    values = calibration(setting, "bootstrap mean of one pair").values
    enough = values["k"] >= k
    assert values["rms"][enough].max() < 0.05
    assert values["rms"][~enough].min() > 1.5 * values["rms"][values["k"] == k].max()
    assert np.ptp(values["means"][:, 0, ARI]) > 0.05


def test_bootstrap_means_are_far_off_where_a_tie_decides(calibration):
    claim = calibration(2, "bootstrap mean of one pair")
    assert claim.verdict == DEPENDS
    assert claim.values["rms"][0].min() > 0.05


def test_published_settings_give_the_published_means(calibration):
    for i, printed in enumerate(appendix_a_calibration.PRINTED):
        published = calibration(i + 1, "bootstrap mean of one pair").values["published"]
        for place, (k, (bootstrap, monte_carlo)) in enumerate(printed.items()):
            assert published.truth[place, ARI] == pytest.approx(monte_carlo, abs=0.1 if k == 2 else 0.04)
            if k > 2:
                own = published.means[:, place, ARI]
                error = np.hypot(error_of(own), own.std(ddof=1))  # the printed one is of a single data set
                assert own.mean() == pytest.approx(bootstrap, abs=4 * error)


@SETTINGS
def test_intervals_hold_the_mean_of_fresh_pairs_from_the_true_k_on(calibration, setting, k):
    claim = calibration(setting, "intervals")
    assert claim.verdict in (HOLDS, DEPENDS)
    assert claim.values["covered"][:, claim.values["k"] >= k].sum(axis=0).min() >= 5  # of 10


@SETTINGS
def test_quantiles_are_close_from_the_true_k_on_and_not_below(calibration, setting, k):
    claim = calibration(setting, "quantiles")
    enough = claim.values["k"] >= k
    assert claim.verdict in (HOLDS, DEPENDS)
    assert claim.values["gap"][enough].max() < 0.05
    assert claim.values["gap"][~enough].min() > claim.values["gap"][enough].max()


@SETTINGS
def test_averages_over_data_sets_are_those_of_fresh_pairs_from_the_true_k_on(calibration, setting, k):
    claim = calibration(setting, "no bias")
    assert claim.ours
    assert np.abs(claim.values["bias"][claim.values["k"] >= k]).max() < 0.04


def test_a_tie_comes_closer_to_even_in_resamples(rng):
    lean = -1.0  # of the normal variable that decides, in standard deviations
    fresh = np.where(lean + rng.normal(size=4000) > 0, 0.95, 0.1)
    sets = lean + rng.normal(size=(500, 1))
    resamples = np.where(sets + rng.normal(size=(500, 40)) > 0, 0.95, 0.1)
    tied = [np.repeat(values, 2, axis=-2) for values in (fresh[None, None], resamples[:, None, None])]
    text = appendix_a_calibration.near_tie(Calibration(WRITTEN[1], (2,), None, *tied, tied[1][:0]))
    assert "above are 0.16 ± 0.01" in text
    assert float(re.search(r"of resamples (\S+) ±", text)[1]) == pytest.approx(0.24, abs=0.04)
    assert "would make 0.24" in text
    even = [values * 0 + rng.uniform(size=values.shape) for values in tied]
    assert appendix_a_calibration.near_tie(Calibration(WRITTEN[1], (2,), None, *even, even[1][:0])) == ""


def test_scores_without_clusters_are_not_low_in_the_plane(run, find_claim):
    claim = find_claim(run(appendix_a_no_structure), "scores are low: d = 2")
    assert claim.verdict == FAILS
    assert (claim.values["written"][..., ARI].max(axis=1) > 0.4).all()
    assert (claim.values["published"][..., ARI].max(axis=1) < 0.35).all()


def test_scores_without_clusters_fall_with_dimensions(run, find_claim):
    claim = find_claim(run(appendix_a_no_structure), "scores are low: d = 5")
    highest = claim.values["written"].max(axis=1)  # (d, agreement)
    assert claim.verdict == DEPENDS
    assert (np.diff(highest[:, ARI]) < -0.01).all()
    assert highest[-1, ARI] < 0.17
    assert highest[:, AMI].min() > 0.2


@pytest.mark.parametrize("what", ["d = 2", "d = 5"])
def test_ami_without_clusters_rises_with_k(run, find_claim, what):
    claim = find_claim(run(appendix_a_no_structure), f"scores are the same for all k: {what}")
    written = claim.values["written"]
    assert claim.verdict in (FAILS, DEPENDS)
    assert (written[:, -1, AMI] > written[:, 0, AMI] + 0.1).all()


def test_one_long_gaussian_scores_high_and_is_not_above_data_without_clusters(run, find_claim):
    claim = find_claim(run(appendix_a_no_structure), "a high score is evidence of clusters")
    assert claim.ours
    assert claim.verdict in (FAILS, DEPENDS)
    assert claim.values["scores"].mean() > 0.4
    assert claim.values["null"].mean() > 0.6
    assert np.sum(claim.values["pvalues"] <= 0.05) <= 4  # of 10


def test_few_samples_lack_components_and_prefer_fewer_clusters(run, find_claim):
    claims = run(appendix_a_sample_size)
    assert find_claim(claims, "components that the test study lacks").verdict == HOLDS
    claim = find_claim(claims, "some k below the 25")
    assert claim.verdict == HOLDS
    assert max(claim.values["best"]) < COMPONENTS
    assert min(gain.mean() for gain in claim.values["gains"]) > 0.01


def test_chances_of_components_are_those_of_draws(rng):
    train, test = (
        np.array([np.bincount(row, minlength=COMPONENTS) > 0 for row in rng.integers(COMPONENTS, size=(20000, 50))])
        for _ in range(2)
    )
    more, less = (train & ~test).any(axis=1), (test & ~train).any(axis=1)
    chances = component_chances(50)
    assert chances.more == pytest.approx(more.mean(), abs=0.006)
    assert chances.both == pytest.approx((more & less).mean(), abs=0.008)
    assert component_chances(1).both == pytest.approx(1 - 1 / COMPONENTS)
    assert component_chances(2).more == pytest.approx(1 - 1 / 25 * 49 / 625 - 24 / 25 * 2 / 625)


def test_many_samples_prefer_the_number_of_components(run, find_claim):
    claim = find_claim(run(appendix_a_sample_size), "k = 25 has the highest score")
    assert claim.verdict in (HOLDS, DEPENDS)
    assert claim.values["best"][1000] == 25
    assert claim.values["leads"][1000, ARI].mean() > 0.01
    for n, (k, score) in appendix_a_sample_size.PRINTED.items():
        ours = claim.values["published"][n].at(k)
        sd = claim.values["written"][n].at(k).std(ddof=1)  # of more draws; the printed one is a mean of 100
        error = sd * np.sqrt(1 / len(ours) + 1 / 100)
        assert ours.mean() == pytest.approx(score, abs=4 * error + 0.0005)


def test_scores_rise_with_the_number_of_samples(run, find_claim):
    claim = find_claim(run(appendix_a_sample_size), "depends on the sample sizes")
    first, second = claim.values["rises"]  # by agreement
    assert claim.verdict == HOLDS
    assert first.min() > 0.05
    assert second.min() > 0.005


def test_the_bootstrap_spares_far_outliers_and_finds_nearer_ones(run, find_claim):
    claim = find_claim(run(appendix_a_sample_size), "outliers")
    nearer, far = outliers.DISTANCES.index(16), outliers.DISTANCES.index(40)
    saved = claim.values["saved"].mean(axis=-1)  # (study, case)
    assert claim.verdict == DEPENDS
    assert (saved[:, far] > 0.05).all()
    assert saved[0, nearer] < -0.01
    assert claim.values["twice"][nearer].mean() > claim.values["both"][0, nearer, :, 0].mean()


def test_the_same_twice(tmp_path):
    for claim in (lambda out: outliers.claim(2, 3, 1, out), lambda out: long_gaussian(2, 19, 1, out)):
        first, again = (claim(tmp_path / name) for name in ("first", "again"))
        assert first == again
        for name in first.figures:
            assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    size = Size(2, 3, 4, n_more=1, n_few=2, n_jobs=1)
    first, again = (calibrate(WRITTEN[0], (2, 3), size) for _ in range(2))
    for name in ("fresh", "bootstrap", "few"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    first, again = (appendix_a_no_structure.curves(1, 50, 2, range(2, 4), 2, 2, 3, 1) for _ in range(2))
    assert np.array_equal(first, again)
    first, again = (curve(1, 50, range(24, 26), 2, 3, 1).scores for _ in range(2))
    assert np.array_equal(first, again)


def test_streams_are_apart():
    first, second = (setting.studies(0)["train"].X for setting in WRITTEN)
    assert not np.isclose(first.min(), second.min())
    assert make_rng(2, 500).random() != make_rng(5, 200).random()
