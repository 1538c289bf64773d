"""Calibration of the test for clusters on data without clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, kstest
from tests.stability.cluster_test.cases import MANY_FEATURES, column_means, largest, standard_normal

import clustrep as cr

B = 39


def pvalues_of(draw, n_sets, key, **arguments):
    return np.array(
        [
            cr.stability.cluster_test(draw(np.random.default_rng([key, i])), n_resamples=B, rng=i, **arguments).pvalue
            for i in range(n_sets)
        ]
    )


def spread(pvalues):
    """Make a uniform distribution on the steps one on the whole interval."""
    return pvalues - np.random.default_rng(0).uniform(size=len(pvalues)) / (B + 1)


@pytest.mark.slow
def test_pvalues_are_uniform_where_the_null_is_true():
    pvalues = pvalues_of(lambda rng: rng.normal(size=(25, 2)), 300, 1, null=standard_normal)
    assert kstest(spread(pvalues), "uniform").pvalue > 0.01


@pytest.mark.slow
def test_pvalues_are_uniform_for_other_nulls_measures_and_statistics():
    pvalues = pvalues_of(
        lambda rng: rng.uniform(size=(10, 2)),
        300,
        2,
        null=lambda X, rng: rng.uniform(size=X.shape),
        measure=column_means,
        statistic=largest,
    )
    assert kstest(spread(pvalues), "uniform").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 5])
def test_pvalues_of_whitened_data_are_uniform_under_any_gaussian(d):
    mixing = np.triu(np.random.default_rng(d).uniform(0.5, 3, size=(d, d)))
    pvalues = pvalues_of(lambda rng: rng.normal(size=(25, d)) @ mixing + 5, 300, 3, whiten=True)
    assert kstest(spread(pvalues), "uniform").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 5])
def test_an_estimated_covariance_makes_no_more_rejections_than_nominal(d):
    pvalues = pvalues_of(lambda rng: rng.normal(size=(30, d)), 300, 4)
    for level in (0.05, 0.1, 0.2):
        n_rejected = np.count_nonzero(pvalues <= level)
        assert binomtest(n_rejected, len(pvalues), level, alternative="greater").pvalue > 0.01


@pytest.mark.slow
@MANY_FEATURES
@pytest.mark.parametrize(("n", "d"), [(40, 20), (40, 100)])
def test_with_many_features_an_estimated_covariance_rejects_too_often(n, d):
    """Why the test warns there, and why the default is another null."""
    pvalues = pvalues_of(lambda rng: rng.normal(size=(n, d)), 40, 5, null="sample")
    n_rejected = np.count_nonzero(pvalues <= 0.05)
    assert binomtest(n_rejected, len(pvalues), 0.05, alternative="greater").pvalue < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_the_default_null_keeps_its_level_with_many_features(correlation):
    covariance = correlation ** np.abs(np.subtract.outer(np.arange(20), np.arange(20)))
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(20))
    pvalues = pvalues_of(lambda rng: rng.normal(size=(60, 20)) @ root.T, 60, 6)
    n_rejected = np.count_nonzero(pvalues <= 0.05)
    assert binomtest(n_rejected, len(pvalues), 0.05, alternative="greater").pvalue > 0.01


def test_whitened_data_do_not_depend_on_which_gaussian_is_simulated(rng):
    X = rng.normal(size=(30, 3))
    default, sample = (
        cr.stability.cluster_test(X, null=null, whiten=True, n_resamples=9, rng=1) for null in ("gaussian", "sample")
    )
    np.testing.assert_array_equal(default.null_distribution, sample.null_distribution)


@pytest.mark.parametrize("whiten", [False, True])
def test_separated_clusters_are_found(whiten):
    def mixture(rng):
        return np.repeat([[0, 0], [4, 4]], 35, axis=0) + 0.1 * rng.normal(size=(70, 2))

    pvalues = pvalues_of(mixture, 40, 6, whiten=whiten)
    assert (pvalues <= 0.05).mean() >= 0.95
