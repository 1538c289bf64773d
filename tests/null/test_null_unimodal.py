"""Scores beside unimodal data: separateness, p-values of both statistics together, and how often they err."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.null.null_cases import comparison_by_hand, mixtures, reference_by_hand

import clustrep as cr
from clustrep.algorithms.separateness import Spread, separateness
from clustrep.null.models import NULLS, UNIMODAL_MODELS
from clustrep.null.null_scores import WEIGHTS, _adjusted_together

KS = [2, 3, 4]


def compared(tables, ks=KS, seed=0, **options):
    return cr.compare(
        KMeans(n_init=2), tables, n_clusters=ks, agreement="ari", n_resamples=1, diagonal=False, rng=seed, **options
    )


# ---------------------------------------------------------------------------------------------------------------------
# separateness


def separateness_by_hand(X, labels, k):
    """Sums of squares about means, and singular values."""
    total = np.sum((X - X.mean(axis=0)) ** 2)
    within = sum(np.sum((X[labels == c] - X[labels == c].mean(axis=0)) ** 2) for c in np.unique(labels))
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    return (total - within) / values[: k - 1].sum()


@pytest.mark.parametrize("shape", [(30, 4), (8, 20), (12, 1)])
def test_separateness_is_the_spread_between_clusters_by_hand(shape, rng):
    X = rng.normal(size=shape)
    for k in (2, 3, 5):
        codes = rng.integers(k, size=len(X))
        value = separateness(X, codes, k)
        assert value == pytest.approx(separateness_by_hand(X, codes, k))
        assert 0 <= value <= 1 + 1e-12
        turned = X @ np.linalg.qr(rng.normal(size=(shape[1], shape[1])))[0] * 3 + 7
        assert separateness(turned, codes, k) == pytest.approx(value)


def test_halves_of_a_gaussian_explain_two_over_pi_and_no_partition_more_than_all(rng):
    X = rng.normal(size=(20_000, 2)) * [3, 1]
    assert separateness(X, (X[:, 0] > 0).astype(int), 2) == pytest.approx(2 / np.pi, abs=0.02)
    few = rng.normal(size=(7, 2))
    spread = Spread.of(few)
    for codes in itertools.product(range(3), repeat=7):
        assert spread.separateness(np.array(codes), 3) <= 1 + 1e-12
    assert separateness(np.ones((5, 2)), np.arange(5) % 2, 2) == 0
    assert separateness(few, np.zeros(7, dtype=int), 1) == 0


def test_the_separateness_of_a_result_is_that_of_the_clusters_predicted_for_other_studies():
    tables = mixtures(2, (20, 25, 30), separation=0.4)
    names = ["mainz", "vdx", "nki"]
    result = cr.compare(
        AgglomerativeClustering(), dict(zip(names, tables, strict=True)), n_clusters=[2, 3], n_resamples=1, rng=0
    )
    reference = cr.null_reference(result, 3, null="elliptical")
    for c, k in enumerate([2, 3]):
        part = result.replicability("AgglomerativeClustering", k)
        values = []
        for train, (name, X) in itertools.product(names, zip(names, tables, strict=True)):
            if train != name:
                values.append(separateness(X, part.clustering_function(train)(X), k))
        assert reference.separateness[c] == pytest.approx(np.mean(values))
    assert reference.separateness_distribution.shape == (3, 2)
    assert ((reference.separateness_distribution > 0) & (reference.separateness_distribution < 1)).all()


def test_in_coordinates_separateness_is_that_in_features():
    tables = mixtures(3, (12, 14), n_features=80)
    values = []
    for accelerate in (True, False):  # coordinates are found, or not
        with cr.config_context(accelerate=accelerate):
            result = cr.compare(AgglomerativeClustering(3), tables, n_resamples=1, diagonal=False, rng=0)
            values.append(cr.null_reference(result, 1, null="gaussian").separateness)
    np.testing.assert_allclose(*values)
    assert values[0].shape == (1,)


def test_a_single_block_has_no_separateness():
    result = cr.compare(
        {"dbscan": DBSCAN(eps=100.0)}, mixtures(1, (20, 20)), n_resamples=1, diagonal=False, agreement="ari", rng=0
    )
    reference = cr.null_reference(result, 3)
    assert reference.separateness.tolist() == [0]
    assert (reference.separateness_distribution == 0).all()
    assert reference.overall_pvalue == 1


# ---------------------------------------------------------------------------------------------------------------------
# p-values of both statistics together


def adjusted_by_hand(values, weights):
    """One comparison after the other."""
    n, m, n_configurations = values.shape
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    largest = z.max(axis=2)
    joint = [min(np.mean(largest[:, s] >= largest[i, s]) / weights[s] for s in range(m)) for i in range(n)]
    adjusted = []
    for c in range(n_configurations):
        alone = min(np.mean(largest[:, s] >= z[0, s, c]) / weights[s] for s in range(m))
        adjusted.append(np.mean([p <= alone + 1e-12 for p in joint]))
    return adjusted


def test_adjusted_pvalues_of_two_statistics_by_hand(rng):
    for _ in range(10):
        values = rng.normal(size=(40, 2, 5)) + np.r_[1.5, np.zeros(39)][:, None, None]
        for weights in (WEIGHTS, (0.5, 0.5)):
            np.testing.assert_allclose(_adjusted_together(values, weights), adjusted_by_hand(values, weights))


def test_one_statistic_alone_is_compared_with_the_largest_of_each_collection(rng):
    values = rng.normal(size=(60, 1, 4)) + np.r_[1.0, np.zeros(59)][:, None, None]
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    expected = (1 + (z[1:, 0].max(axis=1)[:, None] >= z[0, 0]).sum(axis=0)) / 60
    np.testing.assert_allclose(_adjusted_together(values, (1.0,)), expected)


def test_collections_without_scores_are_omitted_and_configurations_without_scores_have_no_pvalue(rng):
    values = rng.normal(size=(40, 2, 3))
    values[7] = np.nan
    values[:, :, 1] = np.nan
    adjusted = _adjusted_together(values, WEIGHTS)
    assert np.isnan(adjusted[1])
    expected = adjusted_by_hand(np.delete(np.delete(values, 7, axis=0), 1, axis=2), WEIGHTS)
    np.testing.assert_allclose(adjusted[[0, 2]], expected)


@pytest.mark.parametrize("n", [19, 99])
def test_the_overall_pvalue_is_exact_where_the_data_are_one_of_the_collections(n):
    rng = np.random.default_rng(n)
    shared = rng.normal(size=(400, n + 1, 2, 1))
    values = shared + rng.normal(size=(400, n + 1, 2, 6)) ** 3  # skewed tails, and alike over k
    pvalues = np.array([_adjusted_together(one, WEIGHTS).min() for one in values])
    assert binomtest(int((pvalues <= 0.05).sum()), 400, 0.05, alternative="greater").pvalue > 0.001


def test_the_overall_pvalue_is_the_smallest_of_the_first_agreement():
    comparison = comparison_by_hand([[0.9] * 4, [0.8] * 4], [2, 3], agreements=("ari", "ami"))
    null = np.random.default_rng(0).normal(scale=0.05, size=(39, 2, 2))
    reference = reference_by_hand(comparison, [[0.0, 0.9], [0.1, 0.9]], null)
    assert reference.overall_adjusted.shape == (2, 2)
    assert reference.overall_pvalue == reference.overall_adjusted[:, 0].min()
    assert reference.overall_adjusted[:, 1].max() == 1 / 40


# ---------------------------------------------------------------------------------------------------------------------
# the three models together


def test_the_first_model_that_explains_ends_the_search():
    studies = [np.random.default_rng(i).normal(size=(40, 2)) for i in (1, 2)]
    result = compared(studies)
    reference = cr.null_reference(result, 19)
    assert reference.models == ("elliptical",)
    assert reference.model == "elliptical"
    assert reference.model_pvalues.tolist() == [reference.overall_pvalue]
    assert reference.overall_pvalue > 0.05
    alone = cr.null_reference(result, 19, null="elliptical")
    np.testing.assert_array_equal(alone.distribution, reference.distribution)
    assert (alone.provenance["null"], reference.provenance["null"]) == ("'elliptical'", "'unimodal'")


def test_where_no_model_explains_all_are_tried_and_the_largest_pvalue_is_returned():
    result = compared(mixtures(1, (45, 45)))
    reference = cr.null_reference(result, 39)
    assert reference.models == UNIMODAL_MODELS
    assert reference.overall_pvalue == reference.model_pvalues.max() <= 0.05
    for name, pvalue in zip(reference.models, reference.model_pvalues, strict=True):
        assert cr.null_reference(result, 39, null=name).overall_pvalue == pvalue
    assert "Models: elliptical p = 0.025, margins p = 0.025, components p = 0.0" in repr(reference)


def test_skewed_features_are_explained_by_the_unimodal_model():
    studies = [np.random.default_rng(i).exponential(size=(80, 2)) for i in (1, 2, 3)]
    reference = cr.null_reference(compared(studies, ks=range(2, 7)), 39)
    assert reference.models[0] == "elliptical"
    assert reference.model_pvalues[0] <= 0.05
    assert reference.model in ("margins", "components")
    assert reference.overall_pvalue > 0.05


def test_clusters_are_compared_with_the_unimodal_model_or_the_one_asked_for():
    train, test = mixtures(1, (30, 30))
    local = cr.local_replicability(KMeans(3, n_init=2), train=train, test=test, n_resamples=1, rng=0)
    default = cr.null_reference(local, 9)
    assert default.model == "margins"
    assert default.separateness.size == 0
    for name in NULLS:
        reference = cr.null_reference(local, 9, null=name)
        assert reference.models == (name,)
        assert np.array_equal(reference.distribution, default.distribution, equal_nan=True) == (name == "margins")


def test_a_sampler_has_its_name_as_model():
    def shuffled(study, rng):
        return rng.permuted(study.X, axis=0)

    reference = cr.null_reference(compared(mixtures(1)), 3, null=shuffled)
    assert "shuffled" in reference.model
    assert len(reference.models) == 1


@pytest.mark.parametrize("null", ["unimodal", *NULLS])
def test_models_survive_a_file(null, tmp_path):
    reference = cr.null_reference(compared(mixtures(1, (45, 45))), 19, null=null)
    reference.save(tmp_path / "reference.npz")
    again = cr.load(tmp_path / "reference.npz")
    assert (again.model, again.models) == (reference.model, reference.models)
    for name in ("separateness", "separateness_distribution", "model_pvalues", "overall_adjusted", "distribution"):
        np.testing.assert_array_equal(getattr(again, name), getattr(reference, name))
    assert again.overall_pvalue == reference.overall_pvalue
    with pytest.raises(ValueError, match="read-only"):
        again.separateness[0] = 0


@pytest.mark.parametrize("p", [3, 60])
@pytest.mark.parametrize("null", UNIMODAL_MODELS)
def test_workers_and_the_order_of_studies_change_nothing(null, p):
    studies = dict(zip("abc", mixtures(4, (9, 10, 11), n_features=p, separation=0.4), strict=True))
    ward = AgglomerativeClustering()
    result, turned = (
        cr.compare(ward, one, n_clusters=[2, 3], agreement="ari", n_resamples=1, diagonal=False, rng=0)
        for one in (studies, {name: studies[name] for name in "cab"})
    )
    reference = cr.null_reference(result, 4, null=null)
    in_workers = cr.null_reference(result, 4, null=null, n_jobs=2)
    np.testing.assert_array_equal(in_workers.distribution, reference.distribution)
    np.testing.assert_array_equal(in_workers.separateness_distribution, reference.separateness_distribution)
    other = cr.null_reference(turned, 4, null=null)
    place = ["cab".index(name) for name in "abc"]
    np.testing.assert_array_equal(other.distribution[..., place, :][..., place], reference.distribution)
    np.testing.assert_allclose(other.separateness_distribution, reference.separateness_distribution)


def test_the_choice_follows_separateness_where_the_score_has_no_room():
    """Two round groups: halves of a long Gaussian repeat as well, so R̂ alone finds nothing."""
    rng = np.random.default_rng(5)
    studies = [np.c_[4.5 * rng.integers(2, size=80), np.zeros(80)] + rng.normal(size=(80, 2)) for _ in range(3)]
    comparison = compared(studies, ks=range(2, 6))
    reference = cr.null_reference(comparison, 39)
    assert replace(reference, separateness=np.empty(0)).overall_adjusted[0, 0] > 0.05  # R̂ alone
    assert reference.separateness_pvalue[0] <= 0.05
    choice = comparison.choice(reference)
    assert choice.against.adjusted[0] <= 0.05
    assert choice.chosen is not None


# ---------------------------------------------------------------------------------------------------------------------
# errors of the verdict, by simulation

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
def test_data_of_one_piece_are_seldom_called_structured(shape):
    n_collections, rejected = 20, 0
    for seed in range(n_collections):
        rng = np.random.default_rng([seed, 77])
        result = compared([SHAPES[shape](rng) for _ in range(2)], seed=seed)
        rejected += cr.null_reference(result, 19).overall_pvalue <= 0.05
    assert binomtest(rejected, n_collections, 0.07, alternative="greater").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 10])
def test_three_groups_are_found(p):
    found = 0
    for seed in range(8):
        result = compared(mixtures(seed, (45, 45), n_features=p, separation=0.6), seed=seed)
        found += cr.null_reference(result, 19).overall_pvalue <= 0.05
    assert found >= 7
