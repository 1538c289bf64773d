"""Scores beside their null distributions: p-values, both statistics together, models, seeds, refusals, files."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, false_discovery_control, ks_2samp
from sklearn.cluster import DBSCAN, AgglomerativeClustering, BisectingKMeans, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.helpers import by_two, configured
from tests.null.cases import WARD, compared, comparison_by_hand, gaussians, mixtures, off_diagonal, reference_by_hand

import clustrep as cr
from clustrep.algorithms.separateness import Spread, separateness
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning
from clustrep.execution.forecast import Workers, choose_workers
from clustrep.findings.verdict import best_above
from clustrep.null.gaussian import GaussianModel
from clustrep.null.models import NULLS, PERMUTED, UNIMODAL_MODELS
from clustrep.null.null_reference import (
    FEWEST_BEYOND,
    LOOKS,
    NullPlan,
    _with_missing,
    clearly_beyond,
    clearly_explained,
    reference_of,
)
from clustrep.null.null_scores import WEIGHTS, NullReference, _adjusted_together


@pytest.fixture(scope="module")
def three():
    return dict(zip(["mainz", "vdx", "nki"], mixtures(1, (18, 24, 21), separation=0.35), strict=True))


@pytest.fixture(scope="module")
def result(three):
    return cr.replicability(WARD, three, n_resamples=4, rng=0)


@pytest.fixture(scope="module")
def reference(result):
    return cr.null_reference(result, 12)


@pytest.fixture(scope="module")
def comparison(three):
    return cr.compare({"ward": AgglomerativeClustering()}, three, n_clusters=[2, 3, 4], n_resamples=4, rng=0)


@pytest.fixture(scope="module")
def comparison_reference(comparison):
    return cr.null_reference(comparison, 12)


# ---------------------------------------------------------------------------------------------------------------------
# scores of simulated data sets, by hand


class Recorded:
    """A sampler that keeps what it drew: rows of the study, and noise."""

    def __init__(self):
        self.tables = []

    def __call__(self, study, rng):
        self.tables.append(study.X[rng.permutation(len(study))] + rng.normal(size=study.X.shape))
        return self.tables[-1]

    def data_sets(self, names):
        """Studies are simulated in the order of their names."""
        parts = [self.tables[i : i + len(names)] for i in range(0, len(self.tables), len(names))]
        by_name = [dict(zip(sorted(names), part, strict=True)) for part in parts]
        return [{name: tables[name] for name in names} for tables in by_name]


@pytest.mark.parametrize("agreement", ["ari", "ami"])
def test_every_simulated_data_set_is_scored_like_the_studies(three, comparison, agreement):
    results = cr.replicability(WARD, three, agreement=("ari", "ami"), n_resamples=2, rng=0)
    null = Recorded()
    reference = cr.null_reference(results[agreement], 5, null=null)
    for scores, tables in zip(reference.distribution, null.data_sets(list(three)), strict=True):
        expected = cr.replicability(WARD, tables, agreement=agreement, n_resamples=1, rng=9).estimate
        np.testing.assert_allclose(off_diagonal(scores), off_diagonal(expected))
    np.testing.assert_array_equal(off_diagonal(reference.observed), off_diagonal(results[agreement].estimate))
    null = Recorded()
    several = cr.null_reference(comparison, 3, null=null)
    assert len(null.tables) == 9  # the same data sets for all configurations
    a = comparison.agreements.index(agreement)
    for scores, tables in zip(several.distribution, null.data_sets(list(three)), strict=True):
        again = cr.compare(AgglomerativeClustering(), tables, n_clusters=[2, 3, 4], n_resamples=1, rng=3).estimate
        np.testing.assert_allclose(off_diagonal(scores)[:, a], off_diagonal(again)[:, a])


def test_the_mean_repeats_all_resamples_in_every_data_set(three):
    n_fits = 0

    def halves(X):
        nonlocal n_fits
        n_fits += 1
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    result = cr.replicability(halves, three, n_resamples=3, diagonal=False, rng=0)
    counts = []
    for statistic in ("estimate", "mean"):
        n_fits = 0
        reference = cr.null_reference(result, 2, statistic=statistic)
        counts.append(n_fits)
    assert counts == [(1 + 2) * 3, (1 + 2 * (1 + 3)) * 3]  # and the studies themselves, for single clusters
    np.testing.assert_array_equal(off_diagonal(reference.observed), off_diagonal(result.mean))
    # Resamples that change nothing have the mean of equal scores.
    same = cr.replicability(WARD, three, n_resamples=3, resampling=cr.resampling.Subsample(1.0), rng=0)
    mean, estimate = (cr.null_reference(same, 5, statistic=statistic) for statistic in ("mean", "estimate"))
    np.testing.assert_allclose(mean.distribution, estimate.distribution)


# ---------------------------------------------------------------------------------------------------------------------
# p-values


def test_pvalues_count_exceedances_one_by_one(reference, comparison_reference):
    for one in (reference, comparison_reference):
        for place in np.ndindex(one.pvalue.shape):
            if place[-2] == place[-1]:
                assert np.isnan(one.pvalue[place])
                continue
            above = sum(float(scores[place]) >= float(one.observed[place]) for scores in one.distribution)
            assert one.pvalue[place] == pytest.approx((1 + above) / 13)
        np.testing.assert_allclose(off_diagonal(one.mean), off_diagonal(one.distribution).mean(axis=0))
        np.testing.assert_allclose(one.excess, one.observed - one.mean)
        overall, simulated = (off_diagonal(scores).mean(axis=-1) for scores in (one.observed, one.distribution))
        np.testing.assert_allclose(one.overall, overall)
        np.testing.assert_allclose(one.overall_excess, overall - simulated.mean(axis=0))
        np.testing.assert_allclose(one.configuration_pvalue, (1 + (simulated >= overall).sum(axis=0)) / 13)
    np.testing.assert_allclose(off_diagonal(reference.qvalue), false_discovery_control(off_diagonal(reference.pvalue)))
    for a in range(2):
        pvalues = off_diagonal(comparison_reference.pvalue)[:, a]
        expected = false_discovery_control(pvalues.ravel()).reshape(pvalues.shape)
        np.testing.assert_allclose(off_diagonal(comparison_reference.qvalue)[:, a], expected)


def test_ties_count_as_exceedances_and_missing_scores_do_not():
    distribution = np.full((3, 2, 2), np.nan)
    distribution[:, 0, 1], distribution[:, 1, 0] = np.transpose([[0.5, 0.25], [0.75, np.nan], [0.25, 0.0]])
    reference = NullReference(
        statistic="estimate",
        names=("a", "b"),
        agreements=("ari",),
        clusterers=("ward",),
        n_clusters=(2,),
        observed=np.array([[np.nan, 0.5], [0.25, np.nan]]),
        distribution=distribution,
        provenance={"null": "'gaussian'", "seed": 1},
        separateness=np.zeros(1),
        separateness_distribution=np.zeros((3, 1)),
    )
    assert reference.pvalue[[0, 1], [1, 0]].tolist() == [(1 + 2) / 4, (1 + 1) / 3]
    assert (reference.mean[1, 0], reference.overall) == (0.125, 0.375)
    assert reference.overall_distribution.tolist() == [0.375, 0.75, 0.125]
    assert reference.overall_excess == pytest.approx(0.375 - 1.25 / 3)
    # Pairs without an observed score are omitted on both sides.
    part = replace(reference, observed=np.array([[np.nan, 0.5], [np.nan, np.nan]]))
    assert part.overall_distribution.tolist() == [0.5, 0.75, 0.25]


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
    values[7] = np.nan  # a data set without scores is omitted, a configuration without any has no p-value
    values[:, :, 1] = np.nan
    adjusted = _adjusted_together(values, WEIGHTS)
    expected = adjusted_by_hand(np.delete(np.delete(values, 7, axis=0), 1, axis=2), WEIGHTS)
    np.testing.assert_allclose(np.delete(adjusted, 1), expected)
    assert np.isnan(adjusted[1])


@pytest.mark.parametrize("n", [19, 99])
def test_adjusted_pvalues_keep_the_chance_of_any_false_finding(n):
    rng = np.random.default_rng(n)
    values = rng.normal(size=(400, n + 1, 2, 1)) + rng.normal(size=(400, n + 1, 2, 6)) ** 3  # alike over k, skewed
    pvalues = np.array([_adjusted_together(one, WEIGHTS).min() for one in values])
    assert binomtest(int((pvalues <= 0.05).sum()), 400, 0.05).pvalue > 0.001


def test_the_overall_pvalue_is_the_smallest_of_the_first_agreement():
    comparison = comparison_by_hand([[0.9] * 4, [0.8] * 4], [2, 3], agreements=("ari", "ami"))
    null = np.random.default_rng(0).normal(scale=0.05, size=(39, 2, 2))
    reference = reference_by_hand(comparison, [[0.0, 0.9], [0.1, 0.9]], null)
    assert reference.overall_pvalue == reference.overall_adjusted[:, 0].min()
    assert reference.overall_adjusted[:, 1].max() == 1 / 40


# ---------------------------------------------------------------------------------------------------------------------
# separateness


def separateness_by_hand(X, labels, k):
    """Sums of squares about means, and singular values."""
    total = np.sum((X - X.mean(axis=0)) ** 2)
    within = sum(np.sum((X[labels == c] - X[labels == c].mean(axis=0)) ** 2) for c in np.unique(labels))
    return (total - within) / (np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2)[: k - 1].sum()


@pytest.mark.parametrize("shape", [(30, 4), (8, 20), (12, 1)])
def test_separateness_is_the_variance_between_clusters_by_hand(shape, rng):
    X = rng.normal(size=shape)
    turned = X @ np.linalg.qr(rng.normal(size=(shape[1], shape[1])))[0] * 3 + 7
    for k in (2, 3, 5):
        codes = rng.integers(k, size=len(X))
        value = separateness(X, codes, k)
        assert value == pytest.approx(separateness_by_hand(X, codes, k))
        assert value == pytest.approx(separateness(turned, codes, k))


def test_halves_of_a_gaussian_explain_two_over_pi_and_no_partition_more_than_all(rng):
    X = rng.normal(size=(20_000, 2)) * [3, 1]
    assert separateness(X, (X[:, 0] > 0).astype(int), 2) == pytest.approx(2 / np.pi, abs=0.02)
    few = rng.normal(size=(7, 2))
    spread = Spread.of(few)
    assert all(spread.separateness(np.array(c), 3) <= 1 + 1e-12 for c in itertools.product(range(3), repeat=7))
    assert separateness(np.ones((5, 2)), np.arange(5) % 2, 2) == separateness(few, np.zeros(7, dtype=int), 1) == 0


def test_the_separateness_of_a_result_is_that_of_the_clusters_predicted_for_other_studies(three):
    result = cr.compare(AgglomerativeClustering(), three, n_clusters=[2, 3], n_resamples=1, rng=0)
    reference = cr.null_reference(result, 3, null="elliptical")
    for c, k in enumerate([2, 3]):
        part = result.replicability("AgglomerativeClustering", k)
        pairs = itertools.permutations(three, 2)
        values = [separateness(three[test], part.clustering_function(train)(three[test]), k) for train, test in pairs]
        assert reference.separateness[c] == pytest.approx(np.mean(values))
    wide, values = mixtures(3, (12, 14), n_features=80), []
    for accelerate in (True, False):  # coordinates are found, or not
        result = configured(compared, accelerate=accelerate)(wide, [3], clusterer=AgglomerativeClustering())
        values.append(configured(cr.null_reference, accelerate=accelerate)(result, 1, null="gaussian").separateness)
    np.testing.assert_allclose(*values)


def test_a_single_cluster_is_no_agreement_on_either_side():
    single = cr.compare({"one": DBSCAN(eps=100)}, gaussians(3, np.ones(2), (30, 30)), n_resamples=2, rng=0)
    assert (off_diagonal(single.estimate) == 1).all()
    for statistic in ("estimate", "mean"):
        reference = cr.null_reference(single, 9, statistic=statistic)
        assert (off_diagonal(reference.observed) == 0).all()
        assert (off_diagonal(reference.pvalue) == 1).all()
        assert (reference.separateness.tolist(), reference.overall_pvalue) == ([0], 1)


# ---------------------------------------------------------------------------------------------------------------------
# models


def test_models_are_tried_up_to_the_first_that_explains_and_the_largest_pvalue_is_returned(tmp_path):
    result = compared([np.random.default_rng(i).normal(size=(40, 2)) for i in (1, 2)])
    reference = cr.null_reference(result, 19)
    assert (reference.models, reference.model) == (("elliptical",), "elliptical")
    assert reference.model_pvalues.tolist() == [reference.overall_pvalue]
    alone = cr.null_reference(result, 19, null="elliptical")
    np.testing.assert_array_equal(alone.distribution, reference.distribution)
    clear = compared(mixtures(1, (45, 45)))
    reference = cr.null_reference(clear, 39)
    assert reference.models == UNIMODAL_MODELS
    assert reference.overall_pvalue == reference.model_pvalues.max() <= 0.05
    for name, pvalue in zip(reference.models, reference.model_pvalues, strict=True):
        assert cr.null_reference(clear, 39, null=name).overall_pvalue == pvalue


def test_skewed_features_are_explained_by_other_models_than_ellipses():
    studies = [np.random.default_rng(i).exponential(size=(80, 2)) for i in (1, 2, 3)]
    reference = cr.null_reference(compared(studies, ks=range(2, 7)), 39)
    assert reference.model_pvalues[0] <= 0.05 < reference.overall_pvalue
    assert reference.model in ("margins", "components")


def test_separateness_finds_what_scores_have_no_room_for():
    """Two round clusters: halves of a long Gaussian repeat as well, so the score alone finds nothing."""
    rng = np.random.default_rng(5)
    studies = [np.c_[4.5 * rng.integers(2, size=80), np.zeros(80)] + rng.normal(size=(80, 2)) for _ in range(3)]
    comparison = compared(studies, ks=range(2, 6))
    reference = cr.null_reference(comparison, 39)
    scores = np.concatenate([reference.overall[None, :, 0], reference.overall_distribution[:, :, 0]])
    assert _adjusted_together(scores[:, None], (1.0,))[0] > 0.05
    assert reference.overall_adjusted[0, 0] <= 0.05
    assert comparison.choice(reference).chosen is not None


def labelled(apart):
    rng, labels = np.random.default_rng(0), np.arange(40) % 3
    tables = {name: rng.normal(size=(40, 2)) + apart * CORNERS[labels] for name in "ab"}
    return cr.replicability(None, tables, labels=dict.fromkeys("ab", labels), n_resamples=2, rng=0)


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


def test_known_labels_are_compared_with_the_same_labels_on_other_samples(result):
    clear, none = (cr.null_reference(labelled(apart), 39) for apart in (6.0, 0.0))
    assert (clear.model, clear.overall_pvalue) == (PERMUTED, 1 / 40)
    assert abs(clear.mean[0, 1]) < 0.1  # chance, of an adjusted score
    assert none.overall_pvalue > 0.05
    for of, null in ((labelled(1.0), "gaussian"), (result, "permuted")):
        with pytest.raises(ParameterError) as caught:
            cr.null_reference(of, 19, null=null)
        assert caught.value.parameter == "null"


def test_simulated_studies_have_the_missing_values_of_the_studies(rng):
    X = np.where(rng.random((40, 3)) < 0.2, np.nan, rng.normal(size=(40, 3)))
    study = cr.Study(X, "a", allow_missing=True)
    np.testing.assert_array_equal(np.isnan(_with_missing(rng.normal(size=(40, 3)), study)), np.isnan(X))
    assert np.isnan(_with_missing(rng.permutation(X), study)).sum() == np.isnan(X).sum()


# ---------------------------------------------------------------------------------------------------------------------
# what a reference follows from


@pytest.mark.parametrize("null", NULLS)
def test_the_seed_decides_and_few_data_sets_begin_many(result, null):
    one, again, longer, other = (
        cr.null_reference(result, n, null=null, rng=seed).distribution for n, seed in ((6, 5), (6, 5), (9, 5), (6, 6))
    )
    np.testing.assert_array_equal(one, again)
    np.testing.assert_array_equal(longer[:6], one)
    assert not np.array_equal(one, other, equal_nan=True)


def test_without_a_seed_the_results_own_is_taken(result, reference, three, comparison, comparison_reference):
    again, elsewhere = (cr.replicability(WARD, three, n_resamples=2, rng=seed) for seed in (0, 1))
    np.testing.assert_array_equal(cr.null_reference(again, 12).distribution, reference.distribution)
    assert not np.array_equal(cr.null_reference(elsewhere, 12).distribution, reference.distribution, equal_nan=True)
    part = cr.null_reference(comparison.replicability("ward", 4, "ami"), 12)
    np.testing.assert_allclose(
        off_diagonal(part.distribution), off_diagonal(comparison_reference.distribution[:, 2, 1])
    )


@pytest.mark.parametrize("p", [3, 60])
@pytest.mark.parametrize("null", UNIMODAL_MODELS)
def test_workers_and_the_order_of_studies_change_nothing(null, p):
    studies = dict(zip("abc", mixtures(4, (9, 10, 11), n_features=p, separation=0.4), strict=True))
    ward = AgglomerativeClustering()
    result, turned = (
        compared(one, [2, 3], clusterer=ward) for one in (studies, {name: studies[name] for name in "cab"})
    )
    reference = cr.null_reference(result, 4, null=null)
    with by_two():
        in_workers = cr.null_reference(result, 4, null=null)
    np.testing.assert_array_equal(in_workers.distribution, reference.distribution)
    np.testing.assert_array_equal(in_workers.separateness_distribution, reference.separateness_distribution)
    place = ["cab".index(name) for name in "abc"]
    other = cr.null_reference(turned, 4, null=null).distribution[..., place, :][..., place]
    np.testing.assert_array_equal(other, reference.distribution)


def plan_of(comparison, null="margins", n_resamples=0):
    return NullPlan.of(comparison._origins, null, n_resamples, 7)


@pytest.mark.parametrize("p", [2, 300])
@pytest.mark.parametrize("name", ["k-means", "ward", "any", "transformed"])
def test_scores_of_a_data_set_do_not_depend_on_those_beside_it(name, p):
    studies = dict(zip("bac", mixtures(0, (24, 30, 20), p), strict=True))
    clusterer = {"ward": AgglomerativeClustering(), "any": BisectingKMeans()}.get(name, KMeans(n_init=2))
    if name == "transformed":
        clusterer = make_pipeline(FunctionTransformer(np.cbrt), clusterer)
    plan = plan_of(compared(studies, [2, 3], clusterer=clusterer))
    together = plan.block([1, 2, 3, 4])
    for some, numbers in ((together, (1, 2, 3, 4)), (plan.block([2, 3]), (2, 3))):
        for one, number in zip(some, numbers, strict=True):
            for a, b in zip(one, plan.replicate(number), strict=True):
                np.testing.assert_array_equal(a, b)


def test_the_parts_of_a_plan_are_those_of_its_configurations(comparison):
    """A checkpoint divides scores by configuration, and puts them together again."""
    plan = plan_of(comparison)
    whole = plan.replicate(3)
    parts = plan.split_value(whole)
    assert len(parts) == len(plan.parts) == 3
    for place, part in enumerate(parts):
        for a, b in zip(part, plan.only([place]).replicate(3), strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(plan.join_values(parts), whole, strict=True):
        np.testing.assert_array_equal(a, b)


def test_long_data_sets_are_shared_among_workers_and_short_ones_are_not():
    short, long = compared(mixtures(0), [2]), compared(mixtures(0, (700, 700), 8), range(2, 9), n_resamples=2)
    chosen = [choose_workers(plan.cost, 199, 2, in_threads=plan.in_threads) for plan in (plan_of(short), plan_of(long))]
    assert (chosen[0] is Workers.NONE, chosen[1] is Workers.NONE) == (True, False)
    assert plan_of(short, n_resamples=2).cost.total > plan_of(short).cost.total
    assert not plan_of(short, lambda study, rng: study.X).in_threads


# ---------------------------------------------------------------------------------------------------------------------
# more features than samples


@pytest.mark.parametrize("clusterer", [KMeans(2, n_init=2), AgglomerativeClustering(2)], ids=["k-means", "ward"])
def test_in_coordinates_scores_are_distributed_as_in_all_features(clusterer):
    tables = gaussians(2, np.r_[7.0, 3.0, np.ones(88)], (20, 24), turned=True)
    run = {"n_resamples": 1, "diagonal": False, "rng": 0}
    fast, plain = (
        cr.null_reference(configured(cr.replicability, accelerate=flag)(clusterer, tables, **run), 150)
        for flag in (True, False)
    )
    assert fast.overall == pytest.approx(plain.overall, abs=0.15)
    assert ks_2samp(fast.overall_distribution, plain.overall_distribution).pvalue > 0.001


def test_wide_studies_are_simulated_in_few_columns_unless_a_parameter_is_a_sample(monkeypatch):
    shapes, draw = [], GaussianModel.draw

    def watched(self, rng):
        shapes.append({X.shape[1] for X in draw(self, rng)})
        return draw(self, rng)

    monkeypatch.setattr(GaussianModel, "draw", watched)
    tables = mixtures(1, (10, 12), n_features=500)
    start = KMeans(3, init=np.stack(tables[0][:3]), n_init=1)
    for clusterer in (AgglomerativeClustering(3), start):
        shapes.clear()
        result = cr.replicability(clusterer, tables, n_resamples=1, diagonal=False, rng=0)
        assert np.isfinite(off_diagonal(cr.null_reference(result, 3).distribution)).all()
        assert max(map(max, shapes)) <= 44 if clusterer is not start else max(map(max, shapes)) == 500


def test_simulated_studies_are_scaled_as_the_studies_were():
    seen = []

    def watched(X):
        seen.append(np.array(X))
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    tables = dict(zip("ab", gaussians(3, np.array([5.0, 1.0, 2.0]), (30, 40)), strict=True))
    result = cr.replicability(watched, cr.Studies(tables, scale="study"), n_resamples=1, diagonal=False, rng=0)
    seen.clear()
    cr.null_reference(result, 4)
    for X in seen:
        np.testing.assert_allclose([X.mean(axis=0), X.std(axis=0)], [np.zeros(3), np.ones(3)], atol=1e-12)


@pytest.mark.parametrize("p", [3, 90])
def test_a_common_shift_scale_or_rotation_changes_no_more_than_the_draw(p, rng):
    tables = gaussians(4, np.r_[3.0, np.ones(p - 1)], (20, 24))
    turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
    plain, shifted, scaled, turned = (
        cr.null_reference(compared(changed, [2], clusterer=AgglomerativeClustering()), 60)
        for changed in (tables, [X + 16.0 for X in tables], [X * 4.0 for X in tables], [X @ turn for X in tables])
    )
    for other in (shifted, scaled):  # a tree may differ where rounding decides
        assert np.isclose(other.overall_distribution, plain.overall_distribution).mean() > 0.9
    assert turned.overall == pytest.approx(plain.overall)
    assert ks_2samp(plain.overall_distribution.ravel(), turned.overall_distribution.ravel()).pvalue > 0.01


# ---------------------------------------------------------------------------------------------------------------------
# what is refused, and what fails


def test_what_cannot_be_compared_is_refused(result, comparison, three, tmp_path):
    result.save(tmp_path / "result.npz")
    comparison.save(tmp_path / "comparison.npz")
    local = cr.local_replicability(WARD, train=three["mainz"], test=three["vdx"], n_resamples=1, rng=0)
    several = cr.replicability(WARD, three, agreement=("ari", "ami"), n_resamples=1, rng=0)
    loaded = [cr.load(tmp_path / name) for name in ("result.npz", "comparison.npz")]
    for what in (*loaded, local, several, result.estimate):
        with pytest.raises(ParameterError) as caught:
            cr.null_reference(what)
        assert caught.value.parameter == "result"
    for parameter, value in {"n": 0, "null": "gausian", "statistic": "median"}.items():
        with pytest.raises(ParameterError) as caught:
            cr.null_reference(result, **{"n": 2, parameter: value})
        assert caught.value.parameter == parameter
    for sampler in (lambda study, rng: study.X[:, :1], lambda X: X):
        with pytest.raises(DataError):
            cr.null_reference(result, 2, null=sampler)


def only_near(X):
    if np.abs(X[:, 0]).max() > 1:
        raise ValueError("not these")
    return (X[:, 1] > X[:, 1].mean()).astype(int)


def test_data_sets_that_cannot_be_scored_count_neither_way(rng):
    tables = [rng.uniform(-1, 1, size=(20, 2)) for _ in range(2)]
    result = cr.replicability(only_near, tables, n_resamples=1, diagonal=False, rng=0)
    with pytest.warns(ReplicateWarning):
        reference = cr.null_reference(result, 60)
    scores = reference.distribution[:, 0, 1]
    scores = scores[~np.isnan(scores)]
    assert 0 < len(scores) < 60
    assert reference.pvalue[0, 1] == pytest.approx((1 + sum(scores >= reference.observed[0, 1])) / (1 + len(scores)))
    with pytest.raises(AllReplicatesFailed):
        cr.null_reference(result, 5, null=lambda study, rng: study.X + 9)


# ---------------------------------------------------------------------------------------------------------------------
# tables, files, figures


def test_tables_have_a_row_for_every_score_and_configuration(reference, comparison_reference):
    columns = ["observed", "null_mean", "null_low", "null_high", "excess", "pvalue", "qvalue"]
    frame = reference.to_frame()
    assert (list(frame), len(frame)) == (["train", "test", *columns], 6)
    row = frame[(frame["train"] == "vdx") & (frame["test"] == "mainz")].iloc[0]
    low, high = np.quantile(reference.distribution[:, 1, 0], [0.025, 0.975])
    expected = [reference.observed[1, 0], reference.mean[1, 0], low, high]
    assert row[columns[:4]].tolist() == pytest.approx(expected)
    frame = comparison_reference.to_frame(0.5)
    assert (list(frame), len(frame)) == (["clusterer", "k", "agreement", "train", "test", *columns], 3 * 2 * 6)
    row = frame.query("k == 4 and agreement == 'ami' and train == 'nki' and test == 'vdx'").iloc[0]
    assert row["observed"] == comparison_reference.observed[2, 1, 2, 1]
    assert [len(one.summary()) for one in (reference, comparison_reference)] == [1, 6]
    row = comparison_reference.summary().query("k == 3 and agreement == 'ami'").iloc[0]
    assert row["observed"] == comparison_reference.overall[1, 1]
    assert row["null_mean"] == pytest.approx(comparison_reference.overall_distribution[:, 1, 1].mean())
    assert row["pvalue"] == comparison_reference.configuration_pvalue[1, 1]
    assert row["adjusted"] == comparison_reference.overall_adjusted[1, 1]
    assert row["separateness"] == comparison_reference.separateness[1]
    pvalues = comparison_reference.configuration_pvalue[:, 1]
    assert row["qvalue"] == pytest.approx(false_discovery_control(pvalues)[1])


def test_it_survives_a_file_and_is_read_only(reference, comparison_reference, tmp_path):
    for one in (reference, comparison_reference):
        one.save(tmp_path / "one.npz")
        again = cr.load(tmp_path / "one.npz")
        assert repr(again) == repr(one)
        assert (again.model, again.models) == (one.model, one.models)
        pd.testing.assert_frame_equal(again.to_frame(), one.to_frame())
        pd.testing.assert_frame_equal(again.summary(), one.summary())
        for array in (one.observed, again.distribution, again.separateness):
            assert not array.flags.writeable


def test_figures_show_observed_scores_beside_their_null_distributions(reference, comparison_reference):
    ax = reference.plot()
    assert next(tick.get_text() for tick in ax.get_xticklabels()) == "mainz → vdx"
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), off_diagonal(reference.observed))
    ax = comparison_reference.plot(agreement="ami")
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), comparison_reference.overall[:, 1])
    ends = np.array([path.vertices[:, 1] for path in ax.collections[0].get_paths()])
    expected = np.quantile(comparison_reference.overall_distribution[:, :, 1], [0.025, 0.975], axis=0)
    np.testing.assert_allclose(ends.T, expected)
    repeated = {name: np.repeat(getattr(comparison_reference, name), 11, axis) for name, axis in REPEATED.items()}
    names = {"clusterers": ("ward",) * 33, "n_clusters": tuple(range(2, 35))}
    assert len(replace(comparison_reference, **repeated, **names).plot().get_xticklabels()) == 30
    with pytest.raises(ParameterError) as caught:
        comparison_reference.plot(agreement="ri")
    assert caught.value.parameter == "agreement"


REPEATED = {"observed": 0, "distribution": 1, "separateness": 0, "separateness_distribution": 1}


def test_an_early_end_decides_as_all_data_sets_would(rng):
    """Of 10,000 p-values, uniform up to 0.4, at most ten are decided otherwise after the first of 199 data sets."""
    n, level = 199, 0.05
    pvalues = rng.uniform(0, 0.4, 10_000)
    as_high = rng.random((len(pvalues), n)) < pvalues[:, None]  # which data sets score as high as the studies
    full = (1 + as_high.sum(axis=1)) / (1 + n)
    ended = [
        np.array([clearly_explained(np.array([[0.5], [(1 + e) / (1 + look)]]), look, n) for e in range(1 + look)])[
            as_high[:, :look].sum(axis=1)
        ]
        for look in LOOKS
    ]
    early = np.any(ended, axis=0)
    assert (early & (full <= level)).sum() <= 10
    assert early[pvalues > 0.25].mean() > 0.9  # and it saves most of the work


def test_a_score_that_exceeds_all_data_sets_is_never_left_early():
    """With the weight of 0.1 the score decides only where it exceeds all 199: fewer cannot show that."""
    assert not any(clearly_explained(np.array([[1 / (1 + look)], [0.9]]), look, 199) for look in LOOKS)


def test_a_model_is_left_where_the_best_configuration_is_far_beyond_it(rng):
    """The decision waits for the highest score: for its separateness, and for the side of the mean that it lies on."""
    simulated = rng.normal(size=(199, 2, 3))
    observed = np.array([[3.0, 1.0, 1.0], [20.0, 0.0, 20.0]])
    values = np.concatenate([observed[None], simulated])
    first = values[: 1 + FEWEST_BEYOND]
    assert clearly_beyond(first, np.array([0.9, 0.5, 0.3]), 199)
    assert not clearly_beyond(first, np.array([0.5, 0.9, 0.3]), 199)  # the second is not beyond, and may be later
    assert not clearly_beyond(values[:FEWEST_BEYOND], np.array([0.9, 0.5, 0.3]), 199)
    first[0, 0, 0] = 0.0  # the score of the first is as high as its mean
    assert not clearly_beyond(first, np.array([0.9, 0.5, 0.3]), 199)
    first[0, 0, :2] = -3.0  # clearly lower: these cannot be above, and the third decides
    assert clearly_beyond(first, np.array([0.9, 0.5, 0.3]), 199)


def test_an_analysis_of_overlapping_clusters_draws_few_data_sets_too():
    rngs = [np.random.default_rng(i) for i in range(2)]
    studies = [rng.normal(size=(150, 2)) + np.outer(rng.integers(2, size=150), [3.0, 0.0]) for rng in rngs]
    comparison = cr.compare(KMeans(n_init=2), studies, n_clusters=[2, 3], n_resamples=5, rng=0)
    early = reference_of(comparison, 199, "gaussian", stop_early=True)
    full = reference_of(comparison, 199, "gaussian")
    assert len(early.distribution) == FEWEST_BEYOND
    np.testing.assert_array_equal(early.distribution, full.distribution[:FEWEST_BEYOND])
    assert max(early.overall_pvalue, full.overall_pvalue) <= 0.05
    best = [best_above(comparison.choice(reference)) for reference in (early, full)]
    assert best[0].n_clusters == best[1].n_clusters == 2


def test_an_analysis_without_clusters_draws_few_data_sets():
    studies = [np.random.default_rng(i).normal(size=(60, 3)) for i in range(2)]
    comparison = cr.compare(KMeans(n_init=2), studies, n_clusters=[2, 3], n_resamples=5, rng=0)
    early = reference_of(comparison, 199, "elliptical", stop_early=True)
    full = reference_of(comparison, 199, "elliptical")
    assert len(early.distribution) == LOOKS[0] < len(full.distribution) == 199
    np.testing.assert_array_equal(early.distribution, full.distribution[: LOOKS[0]])
    assert min(early.overall_pvalue, full.overall_pvalue) > 0.05
