"""Calibration beside data without clusters, and laws that p-values obey."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, ks_2samp
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans
from tests.null.null_cases import (
    WARD,
    comparison_by_hand,
    exponentials,
    gaussians,
    mixtures,
    off_diagonal,
    reference_by_hand,
)

import clustrep as cr

# ---------------------------------------------------------------------------------------------------------------------
# calibration: without clusters, p-values are not below nominal; with clusters, they are


def pvalues_of(make, n_collections, *, k=2, n=19, null="gaussian"):
    """Overall p-values, and scores, of many small collections."""
    pvalues, scores = [], []
    for seed in range(n_collections):
        result = cr.replicability(KMeans(k, n_init=2), make(seed), n_resamples=1, diagonal=False, rng=seed)
        reference = cr.null_reference(result, n, null=null)
        pvalues.append(float(reference.configuration_pvalue))  # of R̂ alone
        scores.append(float(reference.overall))
    return np.array(pvalues), np.array(scores)


def skewed_genes(seed):
    """Three factors behind ninety skewed features."""
    rng = np.random.default_rng([seed, 13])
    loadings = rng.normal(size=(3, 90)) * 0.5
    return [
        np.exp((rng.normal(size=(30, 3)) * [1, 0.7, 0.5]) @ loadings + 0.3 * rng.normal(size=(30, 90)))
        for _ in range(2)
    ]


STRUCTURELESS = {
    "round": (lambda seed: gaussians(seed, np.ones(2)), 2, "gaussian"),
    "long": (lambda seed: gaussians(seed, np.array([3.0, 1.0])), 2, "gaussian"),
    "like genes": (lambda seed: gaussians(seed, np.r_[4.0, 2.0, np.ones(8)]), 3, "gaussian"),
    "flat": (lambda seed: gaussians(seed, np.array([1.0, 1.0, 0.05]), (30, 30)), 2, "gaussian"),
    "wide": (lambda seed: gaussians(seed, np.r_[5.0, 3.0, np.ones(118)]), 2, "gaussian"),
    "wide, in coordinates": (
        lambda seed: gaussians(seed, np.r_[5.0, 3.0, np.ones(118)], (30, 30), turned=True),
        2,
        "gaussian",
    ),
    "skewed": (lambda seed: exponentials(seed, [1.0, 0.7, 0.5, 0.5, 0.5]), 2, "copula"),
    "skewed and wide": (skewed_genes, 2, "copula"),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", STRUCTURELESS)
def test_without_clusters_pvalues_are_not_below_nominal(shape):
    make, k, null = STRUCTURELESS[shape]
    pvalues, scores = pvalues_of(make, 60, k=k, null=null)
    for level in (0.05, 0.1, 0.25):
        rejected = int((pvalues <= level + 1e-12).sum())
        assert binomtest(rejected, len(pvalues), level, alternative="greater").pvalue > 0.05
    assert np.mean(pvalues) > 0.4
    if shape == "long":  # it is cut at the same place everywhere, and yet does not look replicable
        assert np.mean(scores) > 0.5
    if shape != "skewed and wide":  # nor is the test asleep
        assert np.mean(pvalues) < 0.65


@pytest.mark.slow
def test_studies_with_covariances_of_their_own_do_not_look_replicable():
    def make(seed):
        rng = np.random.default_rng([seed, 17])
        return [rng.normal(size=(40, 3)) * sd + rng.normal(size=3) for sd in ([4, 1, 1], [4, 2, 1], [6, 1, 2])]

    pvalues, scores = pvalues_of(make, 30)
    assert np.mean(scores) > 0.4
    assert binomtest(int((pvalues <= 0.05).sum()), 30, 0.05, alternative="greater").pvalue > 0.05


@pytest.mark.slow
def test_many_features_with_more_noise_in_one_study_do_not_look_replicable():
    def make(seed):
        rng = np.random.default_rng([seed, 23])
        sds = [np.r_[6.0, 4.0, np.full(198, noise)] for noise in (1, 1, 2)]
        return [rng.normal(size=(30, 200)) * sd for sd in sds]

    pvalues, _ = pvalues_of(make, 60)
    for level in (0.05, 0.1, 0.25):
        rejected = int((pvalues <= level + 1e-12).sum())
        assert binomtest(rejected, len(pvalues), level, alternative="greater").pvalue > 0.05


@pytest.mark.parametrize(
    "make",
    [lambda seed: mixtures(seed), lambda seed: mixtures(seed, (25, 25), n_features=120, separation=1.5)],
    ids=["few features", "many features"],
)
def test_separated_groups_that_all_studies_share_are_above_data_without_clusters(make):
    pvalues, scores = pvalues_of(make, 15, k=3)
    assert np.mean(scores) > 0.9
    assert (pvalues <= 0.05).mean() >= 0.9


def test_groups_that_no_single_feature_shows_are_above_a_copula():
    def make(seed):
        rng = np.random.default_rng([seed, 19])
        centres = 0.8 * np.random.default_rng(seed).normal(size=(3, 40))
        return [np.exp(0.3 * (centres[np.arange(45) % 3] + rng.normal(size=(45, 40)))) for _ in range(2)]

    pvalues, _ = pvalues_of(make, 12, k=3, null="copula")
    assert (pvalues <= 0.05).mean() >= 0.9


def test_groups_that_single_features_show_are_no_evidence_against_a_copula():
    """Its margins keep their modes: documented, and why it is not the default."""
    pvalues, scores = pvalues_of(lambda seed: mixtures(seed, (40, 40)), 10, k=3, null="copula")
    assert np.mean(scores) > 0.9
    assert (pvalues <= 0.05).mean() <= 0.3
    assert (pvalues_of(lambda seed: mixtures(seed, (40, 40)), 10, k=3)[0] <= 0.05).mean() >= 0.9


def test_finding_nothing_in_simulated_data_does_not_count_as_agreement():
    result = cr.replicability(
        HDBSCAN(min_cluster_size=8, copy=True), mixtures(0, (60, 60)), n_resamples=1, diagonal=False, rng=0
    )
    assert result.estimate[0, 1] > 0.9
    assert cr.null_reference(result, 19).overall_pvalue <= 0.1


def test_single_blocks_are_no_agreement_on_either_side():
    tables = gaussians(3, np.ones(2), (30, 30))
    one_block = DBSCAN(eps=100)
    result = cr.replicability(one_block, tables, n_resamples=2, diagonal=False, rng=0)
    assert (off_diagonal(result.estimate) == 1).all()
    for statistic in ("estimate", "mean"):
        reference = cr.null_reference(result, 9, statistic=statistic)
        assert (off_diagonal(reference.observed) == 0).all()
        assert (off_diagonal(reference.pvalue) == 1).all()
        local = cr.local_replicability(one_block, train=tables[0], test=tables[1], n_resamples=2, rng=0)
        reference = cr.null_reference(local, 9, statistic=statistic)
        assert reference.observed.tolist() == [0]
        assert reference.pvalue.tolist() == [1]


@pytest.mark.parametrize(("n", "n_configurations"), [(19, 8), (99, 20)])
def test_adjusted_pvalues_keep_the_chance_of_any_false_finding(n, n_configurations):
    """Scores of data like those of simulated data sets: the smallest of all is at most 5 % in 5 % of the cases."""
    rng = np.random.default_rng(11)
    comparison = comparison_by_hand(np.full((n_configurations, 3), 0.5), range(2, 2 + n_configurations))
    n_found, n_trials = 0, 400
    for _ in range(n_trials):
        scores = rng.normal(size=(1 + n, n_configurations, 1)) + rng.normal(size=(1 + n, 1, 1))
        reference = reference_by_hand(comparison, scores[0], scores[1:])
        n_found += bool((reference.overall_adjusted <= 0.05).any())
    assert binomtest(n_found, n_trials, 0.05).pvalue > 0.005
    assert n_found > 5


@pytest.mark.parametrize("p", [3, 120])
def test_the_order_of_studies_does_not_matter(p):
    tables = dict(zip("abc", gaussians(6, np.r_[4.0, np.ones(p - 1)], (14, 18, 16)), strict=True))
    one, other = (
        cr.null_reference(cr.replicability(WARD, studies, n_resamples=1, diagonal=False, rng=0), 5)
        for studies in (tables, dict(reversed(tables.items())))
    )
    np.testing.assert_allclose(other.distribution, one.distribution[:, ::-1, ::-1], equal_nan=True)


def test_simulated_studies_are_scaled_as_the_studies_were():
    seen = []

    def watched(X):
        seen.append(np.array(X))
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    tables = dict(zip("ab", gaussians(3, np.array([5.0, 1.0, 2.0]), (30, 40)), strict=True))
    studies = cr.Studies(tables, scale="study")
    result = cr.replicability(watched, studies, n_resamples=1, diagonal=False, rng=0)
    seen.clear()
    cr.null_reference(result, 4)
    for X in seen:
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(X.std(axis=0), 1)


# ---------------------------------------------------------------------------------------------------------------------
# laws


@pytest.mark.parametrize("p", [3, 90])
def test_a_common_shift_or_scale_changes_nothing(p):
    tables = gaussians(4, np.r_[3.0, np.ones(p - 1)], (20, 24))
    distributions = []
    for changed in (tables, [X + 16.0 for X in tables], [X * 4.0 for X in tables]):
        result = cr.replicability(AgglomerativeClustering(2), changed, n_resamples=1, diagonal=False, rng=0)
        distributions.append(cr.null_reference(result, 15).overall_distribution)
    for other in distributions[1:]:
        assert np.isclose(other, distributions[0]).mean() > 0.9  # a tree may differ where rounding decides


@pytest.mark.parametrize("p", [3, 90])
def test_a_common_rotation_changes_no_more_than_the_draw(p, rng):
    tables = gaussians(5, np.r_[4.0, 2.0, np.ones(p - 2)], (20, 24))
    turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
    references = []
    for changed in (tables, [X @ turn for X in tables]):
        result = cr.replicability(AgglomerativeClustering(2), changed, n_resamples=1, diagonal=False, rng=0)
        references.append(cr.null_reference(result, 150))
    one, other = references
    assert other.overall == pytest.approx(float(one.overall))
    assert ks_2samp(one.overall_distribution, other.overall_distribution).pvalue > 0.02
    assert other.overall_pvalue == pytest.approx(float(one.overall_pvalue), abs=0.15)
