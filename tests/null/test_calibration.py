"""How often null models are rejected, by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.cluster import HDBSCAN, KMeans
from tests.null.cases import compared, gaussians, mixtures

import clustrep as cr


def pvalues_of(make, n_collections, *, k=2, null="gaussian"):
    """Overall p-values by the score alone, and scores, of many small collections."""
    pvalues, scores = [], []
    for seed in range(n_collections):
        result = cr.replicability(KMeans(k, n_init=2), make(seed), n_resamples=1, diagonal=False, rng=seed)
        reference = cr.null_reference(result, 19, null=null)
        pvalues.append(float(reference.configuration_pvalue))
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


def own_covariances(seed):
    rng = np.random.default_rng([seed, 17])
    return [rng.normal(size=(40, 3)) * sd + rng.normal(size=3) for sd in ([4, 1, 1], [4, 2, 1], [6, 1, 2])]


def own_noise(seed):
    rng = np.random.default_rng([seed, 23])
    return [rng.normal(size=(30, 200)) * np.r_[6.0, 4.0, np.full(198, noise)] for noise in (1, 1, 2)]


def exponentials(seed):
    return [np.exp(X) for X in gaussians(seed, np.array([1.0, 0.7, 0.5, 0.5, 0.5]))]


STRUCTURELESS = {
    "round": (lambda seed: gaussians(seed, np.ones(2)), 2, "gaussian"),
    "long": (lambda seed: gaussians(seed, np.array([3.0, 1.0])), 2, "gaussian"),
    "like genes": (lambda seed: gaussians(seed, np.r_[4.0, 2.0, np.ones(8)]), 3, "gaussian"),
    "flat": (lambda seed: gaussians(seed, np.array([1.0, 1.0, 0.05]), (30, 30)), 2, "gaussian"),
    "wide": (lambda seed: gaussians(seed, np.r_[5.0, 3.0, np.ones(118)]), 2, "gaussian"),
    "turned": (lambda seed: gaussians(seed, np.r_[5.0, 3.0, np.ones(118)], (30, 30), turned=True), 2, "gaussian"),
    "own covariances": (own_covariances, 2, "gaussian"),
    "own noise": (own_noise, 2, "gaussian"),
    "skewed": (exponentials, 2, "copula"),
    "skewed and wide": (skewed_genes, 2, "copula"),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", STRUCTURELESS)
def test_without_clusters_pvalues_are_not_below_nominal(shape):
    make, k, null = STRUCTURELESS[shape]
    pvalues, scores = pvalues_of(make, 60, k=k, null=null)
    for level in (0.05, 0.1, 0.25):
        rejected = int((pvalues <= level + 1e-12).sum())
        assert binomtest(rejected, 60, level, alternative="greater").pvalue > 0.05
    if shape == "long":  # it is divided at the same place everywhere, and yet does not look replicable
        assert np.mean(scores) > 0.5


@pytest.mark.parametrize("n_features", [2, 120])
def test_clusters_that_all_studies_share_are_above_a_gaussian(n_features):
    pvalues, scores = pvalues_of(lambda seed: mixtures(seed, (25, 25), n_features, 1.5), 12, k=3)
    assert np.mean(scores) > 0.9
    assert (pvalues <= 0.05).mean() >= 0.9


def test_a_copula_explains_clusters_that_single_features_show_and_no_others():
    """Its margins keep their modes: documented, and why it is not the default."""

    def hidden(seed):
        rng = np.random.default_rng([seed, 19])
        centres = 0.8 * np.random.default_rng(seed).normal(size=(3, 40))
        return [np.exp(0.3 * (centres[np.arange(45) % 3] + rng.normal(size=(45, 40)))) for _ in range(2)]

    assert (pvalues_of(hidden, 10, k=3, null="copula")[0] <= 0.05).mean() >= 0.9
    shown = pvalues_of(lambda seed: mixtures(seed, (40, 40)), 10, k=3, null="copula")[0]
    assert (shown <= 0.05).mean() <= 0.3


def test_finding_nothing_in_simulated_data_does_not_count_as_agreement():
    clusterer = HDBSCAN(min_cluster_size=8, copy=True)
    result = cr.replicability(clusterer, mixtures(0, (60, 60)), n_resamples=1, diagonal=False, rng=0)
    assert result.estimate[0, 1] > 0.9
    assert cr.null_reference(result, 19).overall_pvalue <= 0.1


SHAPES = {
    "round": lambda rng: rng.normal(size=(40, 2)),
    "long": lambda rng: rng.normal(size=(40, 2)) * [4, 1],
    "square": lambda rng: rng.random((40, 2)),
    "exponential": lambda rng: rng.exponential(size=(40, 2)),
    "binary": lambda rng: (rng.random((40, 6)) < 0.4).astype(float),
    "many features": lambda rng: rng.normal(size=(15, 100)),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_unimodal_data_are_seldom_called_structured(shape):
    rejected = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 77])
        result = compared([SHAPES[shape](rng) for _ in range(2)], seed=seed)
        rejected += cr.null_reference(result, 19).overall_pvalue <= 0.05
    assert binomtest(rejected, 20, 0.07, alternative="greater").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 10])
def test_three_clusters_are_found(p):
    found = 0
    for seed in range(8):
        result = compared(mixtures(seed, (45, 45), n_features=p, separation=0.6), seed=seed)
        found += cr.null_reference(result, 19).overall_pvalue <= 0.05
    assert found >= 7
