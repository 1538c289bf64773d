"""Appendix A of the paper at quick sizes: what holds goes on holding, and what does not, not."""

from __future__ import annotations

import numpy as np
import pytest
from paper import appendix_a_calibration, appendix_a_no_structure, appendix_a_sample_size
from paper.common import DEPENDS, FAILS, HOLDS, table

ARI, AMI = 0, 1


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Claims by place, of an experiment that runs once."""
    done = {}

    def once(experiment):
        if experiment not in done:
            out = tmp_path_factory.mktemp(experiment.__name__.rsplit(".", 1)[-1])
            claims = experiment.main(out, quick=True)
            assert all((out / name).stat().st_size > 5000 for claim in claims for name in claim.figures)
            assert all(claim.figures and claim.as_written and claim.why for claim in claims)
            done[experiment] = out, {claim.where: claim for claim in claims}
        return done[experiment]

    return once


@pytest.mark.parametrize(("setting", "k"), [(1, 4), (2, 3)])
def test_bootstrap_means_are_those_of_fresh_pairs_from_the_true_k_on(run, setting, k):
    claim = run(appendix_a_calibration)[1][f"A.1, setting {setting}"]
    values = claim.values
    enough = values["k"] >= k
    apart = np.abs(values["means"] - values["truth"])
    assert claim.verdict == DEPENDS
    assert apart[:, enough].max() < 0.1
    assert np.abs(values["means"].mean(axis=0) - values["truth"])[enough].max() < 0.05
    assert np.ptp(values["means"][:, 0]) > 0.2
    assert apart[:, 0].max() > 0.15


def test_published_settings_give_the_published_means(run):
    claims = run(appendix_a_calibration)[1]
    for i, printed in enumerate(appendix_a_calibration.PRINTED):
        values = claims[f"A.1, setting {i + 1}"].values
        for k, (bootstrap, monte_carlo) in printed.items():
            place = list(values["k"]).index(k)
            assert values["published_truth"][place] == pytest.approx(monte_carlo, abs=0.1 if k == 2 else 0.04)
            if k > 2:
                assert values["published_means"][:, place].mean() == pytest.approx(bootstrap, abs=0.04)


@pytest.mark.parametrize(("setting", "k"), [(1, 4), (2, 3)])
def test_quantiles_are_close_from_the_true_k_on_and_not_below(run, setting, k):
    claim = run(appendix_a_calibration)[1][f"A.1, setting {setting}, quantiles"]
    enough = claim.values["k"] >= k
    assert claim.verdict == DEPENDS
    assert claim.values["gap"][enough].max() < 0.05 < claim.values["gap"][~enough].min()
    assert claim.values["covered"][:, enough].mean() > 0.8


def test_scores_without_clusters_are_not_low_in_the_plane(run):
    claim = run(appendix_a_no_structure)[1]["A.2, over n"]
    written, published = claim.values["written"], claim.values["published"]  # (curve, k, agreement)
    assert claim.verdict == FAILS
    assert (written[..., ARI].mean(axis=1) > 0.35).all()
    assert (published[..., ARI].mean(axis=1) < 0.3).all()
    assert (published[:, -1, AMI] > published[:, 0, AMI] + 0.15).all()


def test_scores_without_clusters_fall_with_dimensions_and_ami_rises_with_k(run):
    claim = run(appendix_a_no_structure)[1]["A.2, over d"]
    written = claim.values["written"]
    assert claim.verdict == DEPENDS
    assert written[..., ARI].max() < 0.35
    assert (np.diff(written[..., ARI].mean(axis=1)) < -0.01).all()
    assert (written[:, -1, AMI] > written[:, 0, AMI] + 0.15).all()


def test_one_long_gaussian_scores_high_and_is_not_above_data_without_clusters(run):
    claim = run(appendix_a_no_structure)[1]["A.2, our remark"]
    assert claim.verdict == FAILS
    assert claim.values["scores"].mean() > 0.6
    assert claim.values["null"].mean() > 0.6
    assert np.sum(claim.values["pvalues"] <= 0.05) <= 1


def test_few_samples_prefer_fewer_clusters_than_there_are(run):
    claim = run(appendix_a_sample_size)[1]["A.3"]
    few, more, many = claim.values["best"]
    assert claim.verdict == HOLDS
    assert few < 25
    assert 24 <= more <= 26
    assert many == 25
    assert claim.values["below"] > claim.values["full"] + 0.02
    printed = [score for _, score in appendix_a_sample_size.PRINTED.values()]
    for key in ("scores", "published"):
        assert np.allclose(claim.values[key], printed, atol=0.1)
        assert (np.diff(claim.values[key]) > 0).all()


def test_the_bootstrap_spares_far_outliers_and_finds_near_ones(run):
    claim = run(appendix_a_sample_size)[1]["Discussion, outliers"]
    assert claim.verdict == DEPENDS
    saved = {name: (lost[:, 0] - lost[:, 1]).mean() for name, lost in claim.values.items()}
    assert saved["1 far"] > 0.05
    assert saved["5 far"] > 0.02
    assert saved["1 near"] < -0.02


def test_the_same_bytes_twice(run, tmp_path):
    out, first = run(appendix_a_sample_size)
    again = appendix_a_sample_size.main(tmp_path, quick=True)
    assert table(again) == table(list(first.values()))
    for claim in again:
        for name in claim.figures:
            assert (tmp_path / name).read_bytes() == (out / name).read_bytes()
