"""Data without clusters: what is simulated, scores beside it, calibration, and choices that know of it."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import binomtest, false_discovery_control, ks_2samp, spearmanr
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans
from tests.helpers import configured

import clustrep as cr
from clustrep.across.gaussian_null import GaussianCollection, structures_of
from clustrep.across.null_models import NULLS, CopulaCollection, GivenCollection, collection_of
from clustrep.clustering.rotation import Rotation
from clustrep.engine.replicates import one_thread
from clustrep.errors import AllReplicatesFailed, DataError, DataWarning, ParameterError, ReplicateWarning
from clustrep.gaussian import GaussianNull, covariance_factor, principal_axes
from clustrep.provenance import Provenance
from clustrep.results import Comparison
from clustrep.results.null_scores import NullReference

CENTRES = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
WARD = AgglomerativeClustering(3)


def mixtures(seed, sizes=(30, 30), n_features=2, separation=1.0):
    """Studies that share three groups, far from each other."""
    rng = np.random.default_rng([seed, 5])
    centres = np.zeros((3, n_features))
    centres[:, :2] = separation * CENTRES
    return [centres[np.arange(n) % 3] + rng.normal(size=(n, n_features)) for n in sizes]


def gaussians(seed, sd, sizes=(40, 40), *, turned=False):
    """Studies of the same Gaussian: no groups."""
    rng = np.random.default_rng([seed, 11])
    with one_thread():  # small matrices: threads only wait for each other
        turn = np.linalg.qr(rng.normal(size=(len(sd), len(sd))))[0] if turned else np.eye(len(sd))
    return [(rng.normal(size=(n, len(sd))) * sd) @ turn for n in sizes]


def covariance_of(structure):
    p = structure.axes.shape[1]
    extra = structure.variances - structure.noise
    return structure.noise * np.eye(p) + structure.axes.T @ np.diag(extra) @ structure.axes


# ---------------------------------------------------------------------------------------------------------------------
# one study


@pytest.mark.parametrize("shape", [(30, 4), (6, 20), (5, 5), (2, 3)])
def test_the_factor_has_the_sample_covariance_and_no_more_rows_than_needed(shape, rng):
    X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1])) + 5
    R = covariance_factor(X)
    assert R.shape == (min(shape), shape[1])
    np.testing.assert_allclose(R.T @ R, np.cov(X, rowvar=False), atol=1e-10)
    np.testing.assert_allclose(covariance_factor(X[::-1]), R, atol=1e-8)  # the order of rows is nothing


def test_principal_axes_are_orthonormal_and_the_largest_variance_comes_first(rng):
    X = rng.normal(size=(50, 3)) * [1.0, 5.0, 2.0] + 100
    axes = principal_axes(X)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    values = np.var((X - X.mean(axis=0)) @ axes.T, axis=0, ddof=1)
    np.testing.assert_allclose(values, np.sort(np.linalg.eigvalsh(np.cov(X, rowvar=False)))[::-1])
    assert (axes[np.arange(3), np.abs(axes).argmax(axis=1)] > 0).all()
    assert np.abs(axes).argmax(axis=1).tolist() == [1, 2, 0]
    assert principal_axes(rng.normal(size=(4, 9))).shape == (4, 9)


@pytest.mark.parametrize("shape", [(40, 3), (4, 12)])
def test_a_gaussian_null_has_the_mean_and_the_covariance_of_its_study(shape, rng):
    X = rng.normal(size=shape) * 2 + np.arange(shape[1])
    null = GaussianNull(X)
    draws = np.concatenate([null.draw(np.random.default_rng(i)) for i in range(40_000 // len(X))])
    assert null.draw(rng).shape == shape
    np.testing.assert_allclose(draws.mean(axis=0), X.mean(axis=0), atol=0.08)
    np.testing.assert_allclose(np.cov(draws, rowvar=False), np.cov(X, rowvar=False), atol=0.35)


# ---------------------------------------------------------------------------------------------------------------------
# means and covariances of several studies


def test_with_one_feature_variances_and_means_are_shrunk_as_by_hand(rng):
    tables = [rng.normal(size=(n, 1)) * sd + mean for n, sd, mean in [(12, 1, 0), (30, 1.3, 2.2), (20, 4, 3.2)]]
    own, sizes = [float(np.var(X, ddof=1)) for X in tables], [len(X) for X in tables]
    n_all = sum(sizes)
    centre = np.concatenate(tables).mean()
    of_means = [s / n for s, n in zip(own, sizes, strict=True)]
    of_centre = sum((n / n_all) ** 2 * v for n, v in zip(sizes, of_means, strict=True))
    shares = []
    for one, X, n, s, v in zip(structures_of(tables, 1), tables, sizes, own, of_means, strict=True):
        assert len(one.variances) == 0
        assert one.noise == pytest.approx(s)  # the scale is a study's own, and one feature has nothing else
        expected = v - 2 * n / n_all * v + of_centre  # the variance of the mean's distance to the centre
        kept = 1 - min(1, 2 * expected / (X.mean() - centre) ** 2)
        assert one.mean == pytest.approx(centre + kept * (X.mean() - centre))
        shares.append(kept)
    assert {kept > 0 for kept in shares} == {True, False}  # not only the easy cases
    assert any(0 < kept < 1 for kept in shares)


def test_with_many_samples_simulated_data_have_the_studies_own_means_and_covariances(rng):
    mixing = [np.array([[3.0, 0, 0], [1, 1, 0], [0, 0.5, 0.4]]), np.array([[0.5, 0, 0], [0, 2, 0], [1, 1, 4]])]
    means = np.array([[0.0, 1, 2], [5, 1, -2]])
    tables = [rng.normal(size=(4000, 3)) @ A + m for A, m in zip(mixing, means, strict=True)]
    collection = GaussianCollection.of(tables)
    draws = [np.concatenate(parts) for parts in zip(*(collection.draw(rng) for _ in range(20)), strict=True)]
    for X, simulated in zip(tables, draws, strict=True):
        S = np.cov(X, rowvar=False)
        scale = np.sqrt(np.outer(np.diag(S), np.diag(S)))
        assert np.abs((np.cov(simulated, rowvar=False) - S) / scale).max() < 0.06
        np.testing.assert_allclose(simulated.mean(axis=0), X.mean(axis=0), atol=0.12)


def test_different_studies_stay_different_and_equal_ones_become_equal():
    n_equal = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        equal = structures_of([rng.normal(size=(n, 4)) * [3, 1, 1, 1] for n in (50, 80)], 4)
        one, other = (covariance_of(each) / np.trace(covariance_of(each)) for each in equal)  # scales are their own
        same = np.allclose(one, other)
        n_equal += same and np.allclose(equal[0].mean, equal[1].mean)
        other = structures_of([rng.normal(size=(60, 4)) * sd + at for sd, at in [(1, 0), ([1, 6, 1, 1], 4)]], 4)
        assert covariance_of(other[1])[1, 1] > 5 * covariance_of(other[0])[1, 1]
        assert (other[1].mean - other[0].mean > 2).all()
    assert n_equal >= 12


def test_a_few_strong_directions_in_many_features_are_found_and_lose_what_noise_added():
    sd = np.array([10.0, 6.0] + [1.0] * 298)
    found, raw = [], []
    for seed in range(15):
        tables = gaussians(seed, sd, (60, 60))
        first, second = GaussianCollection.of(tables).structures
        for one in (first, second):
            assert len(one.axes) in (2, 3)  # at times, noise reaches a little farther than it should
            assert (one.variances[2:] < 4).all()
            np.testing.assert_allclose(one.axes @ one.axes.T, np.eye(len(one.axes)), atol=1e-10)
            assert np.abs(one.axes[[0, 1], [0, 1]]).min() > 0.85
            assert one.noise == pytest.approx(1, rel=0.1)
        found.append(first.variances[:2])
        raw.append(np.linalg.svd(tables[0] - tables[0].mean(axis=0), compute_uv=False)[:2] ** 2 / 59)
    np.testing.assert_allclose(np.mean(found, axis=0), [100, 36], rtol=0.1)
    assert np.mean(raw, axis=0)[1] > 39.5  # as it is, the sample covariance has more than there is


def test_noise_alone_has_no_strong_directions_and_nothing_is_lost():
    for seed, p in itertools.product(range(5), (5, 200)):
        tables = gaussians(seed, np.full(p, 2.0), (30, 30))
        for one, X in zip(GaussianCollection.of(tables).structures, tables, strict=True):
            variance = np.var(X, axis=0, ddof=1).mean()
            assert one.noise * (p - len(one.variances)) + one.variances.sum() == pytest.approx(p * variance)
            assert len(one.variances) <= 1
            assert one.noise == pytest.approx(4, rel=0.25 if p == 5 else 0.1)


@pytest.mark.parametrize("p", [4, 90])
def test_means_and_covariances_turn_and_shift_with_the_data(p, rng):
    tables = gaussians(3, np.r_[4, 2, np.ones(p - 2)], (25, 35))
    turn, shift = np.linalg.qr(rng.normal(size=(p, p)))[0], rng.normal(size=p) * 10
    before = GaussianCollection.of(tables).structures
    after = GaussianCollection.of([X @ turn + shift for X in tables]).structures
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(covariance_of(other), turn.T @ covariance_of(one) @ turn, atol=1e-8)
        np.testing.assert_allclose(other.mean, one.mean @ turn + shift, atol=1e-8)


def test_constant_tables_and_the_smallest_studies_can_be_simulated(rng):
    for tables in ([np.ones((4, 3)), np.ones((2, 3))], [np.ones((4, 30)), np.ones((2, 30))]):
        for X, simulated in zip(tables, GaussianCollection.of(tables).draw(rng), strict=True):
            np.testing.assert_array_equal(simulated, X)
    pairs = [rng.normal(size=(2, 3)), rng.normal(size=(2, 3))]
    assert all(np.isfinite(X).all() and X.shape == (2, 3) for X in GaussianCollection.of(pairs).draw(rng))


def test_coordinates_with_a_triangle_have_the_distances_of_all_features(rng):
    sizes, p, n_draws = (8, 12), 60, 3000
    tables = [
        rng.normal(size=(8, p)) * np.r_[6, np.ones(p - 1)],
        rng.normal(size=(12, p)) + np.r_[np.zeros(p - 1), 12],
    ]
    in_features = GaussianCollection.of(tables)
    coordinates = GaussianCollection.in_coordinates(Rotation.of(tables))
    n_kept = len(coordinates.structures[0].mean)
    assert (in_features.beyond, coordinates.beyond) == (0, p - n_kept)
    # Noise of its own in the second study, which so few samples would not tell.
    in_features, coordinates = (
        replace(one, structures=(one.structures[0], replace(one.structures[1], noise=4 * one.structures[1].noise)))
        for one in (in_features, coordinates)
    )
    first, second = in_features.structures
    samples = []
    for collection, n_columns in [(in_features, p), (coordinates, n_kept + sum(sizes))]:
        drawn = [collection.draw(rng) for _ in range(n_draws)]
        assert [X.shape for X in drawn[0]] == [(n, n_columns) for n in sizes]
        samples.append(np.array([pdist(np.concatenate(one), "sqeuclidean") for one in drawn]))
    traces = [one.noise * p + np.maximum(one.variances - one.noise, 0).sum() for one in in_features.structures]
    study = np.repeat([0, 1], sizes)
    between = np.sum((first.mean - second.mean) ** 2)
    theory = [traces[study[i]] + traces[study[j]] + between * (study[i] != study[j]) for i, j in _pairs(20)]
    for distances in samples:
        z = (distances.mean(axis=0) - theory) / (distances.std(axis=0) / np.sqrt(n_draws))
        assert np.abs(z).max() < 4.5
    variances = [distances.var(axis=0) for distances in samples]
    np.testing.assert_allclose(variances[1], variances[0], rtol=0.3)
    np.testing.assert_allclose(variances[1].mean(), variances[0].mean(), rtol=0.03)
    # Distances that share a point are as dependent as they should be.
    at = {pair: place for place, pair in enumerate(_pairs(20))}
    for i, j, k in [(0, 1, 2), (0, 9, 10), (9, 12, 19)]:
        dependence = [np.corrcoef(d[:, at[i, j]], d[:, at[i, k]])[0, 1] for d in samples]
        assert abs(dependence[0] - dependence[1]) < 0.08


def _pairs(n):
    return list(itertools.combinations(range(n), 2))


# ---------------------------------------------------------------------------------------------------------------------
# copulas and samplers


@pytest.mark.parametrize("p", [3, 90])
def test_a_copula_keeps_every_studys_margins_and_the_order_among_features(p, rng):
    tables = []
    for scale in (1.0, 0.4):
        z = rng.normal(size=(60, p))
        z[:, 1] = 0.8 * z[:, 0] + 0.6 * z[:, 1]
        tables.append(np.exp(scale * z) + 10 * scale)
    collection = CopulaCollection.of(tables)
    simulated = [np.stack(parts) for parts in zip(*(collection.draw(rng) for _ in range(150)), strict=True)]
    for X, drawn in zip(tables, simulated, strict=True):
        pooled = drawn.reshape(-1, p)
        assert (pooled.min(axis=0) >= X.min(axis=0)).all()
        assert (pooled.max(axis=0) <= X.max(axis=0)).all()
        assert max(ks_2samp(X[:, j], pooled[:, j]).statistic for j in (0, 1, p - 1)) < 0.05
        if p == 3:
            observed = spearmanr(X[:, 0], X[:, 1]).statistic
            assert spearmanr(pooled[:, 0], pooled[:, 1]).statistic == pytest.approx(observed, abs=0.12)


def test_a_copula_bears_ties_and_constants(rng):
    tables = [np.c_[rng.integers(0, 2, n), np.full(n, 7.0), rng.poisson(2, n), rng.normal(size=n)] for n in (40, 30)]
    collection = CopulaCollection.of(tables)
    for X, drawn in zip(tables, zip(*(collection.draw(rng) for _ in range(100)), strict=True), strict=True):
        pooled = np.concatenate(drawn)
        assert (pooled[:, 1] == 7).all()
        for j in (0, 2):
            assert pooled[:, j].min() >= X[:, j].min()
            assert pooled[:, j].max() <= X[:, j].max()
            assert np.mean(pooled[:, j] == 0) == pytest.approx(np.mean(X[:, j] == 0), abs=0.06)
    constant = [np.ones((5, 2)), np.ones((4, 2))]
    for X, simulated in zip(constant, CopulaCollection.of(constant).draw(rng), strict=True):
        np.testing.assert_array_equal(simulated, X)


def test_a_sampler_is_asked_for_one_study_after_the_other_and_checked(rng):
    studies = tuple(cr.Study(rng.normal(size=(n, 3)), name) for n, name in [(5, "mainz"), (7, "vdx")])
    seen = []

    def remember(study, rng):
        seen.append(study.name)
        return study.X[::-1]

    drawn = GivenCollection(studies, remember).draw(rng)
    assert seen == ["mainz", "vdx"]
    for study, X in zip(studies, drawn, strict=True):
        np.testing.assert_array_equal(X, study.X[::-1])
    with pytest.raises(DataError, match=r"null must return a table like study 'mainz', of \(5, 3\), got \(4, 3\)"):
        GivenCollection(studies, lambda study, rng: study.X[1:]).draw(rng)
    with pytest.raises(DataError, match="What null returned for study 'mainz'"):
        GivenCollection(studies, lambda study, rng: study.X * np.nan).draw(rng)
    with pytest.raises(DataError, match="What null returned for study 'mainz'"):
        GivenCollection(studies, lambda study, rng: study.X[0]).draw(rng)


def test_nulls_are_found_by_name(rng):
    studies = [cr.Study(rng.normal(size=(9, 2)), name) for name in "ab"]
    assert type(collection_of("gaussian", studies)) is GaussianCollection
    assert type(collection_of("copula", studies)) is CopulaCollection
    assert type(collection_of(lambda study, rng: study.X, studies)) is GivenCollection


# ---------------------------------------------------------------------------------------------------------------------
# scores of simulated collections, by hand


class Recorded:
    """A sampler that remembers what it drew: rows of the study, and noise."""

    def __init__(self):
        self.tables = []

    def __call__(self, study, rng):
        self.tables.append(study.X[rng.permutation(len(study))] + rng.normal(size=study.X.shape))
        return self.tables[-1]

    def collections(self, names):
        """Studies are simulated in the order of their names."""
        by_name = [dict(zip(sorted(names), part, strict=True)) for part in self.batches(len(names))]
        return [{name: tables[name] for name in names} for tables in by_name]

    def batches(self, size):
        return [self.tables[i : i + size] for i in range(0, len(self.tables), size)]


def off_diagonal(values):
    return values[..., ~np.eye(values.shape[-1], dtype=bool)]


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


@pytest.fixture(scope="module")
def local(three):
    return cr.local_replicability(
        WARD, train=cr.Study(three["mainz"], "mainz"), test=cr.Study(three["vdx"], "vdx"), n_resamples=4, rng=0
    )


@pytest.fixture(scope="module")
def local_reference(local):
    return cr.null_reference(local, 12)


@pytest.mark.parametrize("agreement", ["ari", "ami"])
def test_every_simulated_collection_is_scored_like_the_studies(three, agreement):
    results = cr.replicability(WARD, three, agreement=("ari", "ami"), n_resamples=2, rng=0)
    null = Recorded()
    reference = cr.null_reference(results[agreement], 5, null=null)
    assert reference.distribution.shape == (5, 3, 3)
    for scores, tables in zip(reference.distribution, null.collections(list(three)), strict=True):
        expected = cr.replicability(WARD, tables, agreement=agreement, n_resamples=1, rng=9).estimate
        np.testing.assert_allclose(off_diagonal(scores), off_diagonal(expected))
    assert reference.agreements == (agreement,)
    np.testing.assert_array_equal(off_diagonal(reference.observed), off_diagonal(results[agreement].estimate))


def test_all_configurations_of_a_comparison_see_the_same_collections(comparison, three):
    null = Recorded()
    reference = cr.null_reference(comparison, 4, null=null)
    assert reference.distribution.shape == (4, 3, 2, 3, 3)
    for scores, tables in zip(reference.distribution, null.collections(list(three)), strict=True):
        expected = cr.compare(
            {"ward": AgglomerativeClustering()}, tables, n_clusters=[2, 3, 4], n_resamples=1, rng=3
        ).estimate
        np.testing.assert_allclose(off_diagonal(scores), off_diagonal(expected))
    assert len(null.tables) == 12


@pytest.mark.parametrize("at", ["train", "test"])
def test_local_scores_are_those_of_the_simulated_clusters(three, at):
    mainz, vdx = cr.Study(three["mainz"], "mainz"), cr.Study(three["vdx"], "vdx")
    points = None if at == "train" else vdx
    result = cr.local_replicability(WARD, train=mainz, test=vdx, at=points, n_resamples=2, rng=0)
    null = Recorded()
    reference = cr.null_reference(result, 5, null=null)
    assert reference.distribution.shape == (5, 3)
    for scores, (train, test) in zip(reference.distribution, null.batches(2), strict=True):
        again = cr.local_replicability(
            WARD, train=train, test=test, at=None if at == "train" else test, n_resamples=1, rng=1
        )
        np.testing.assert_allclose(np.sort(scores), np.sort(again.by_cluster()["estimate"]))
    np.testing.assert_array_equal(reference.observed, result.by_cluster()["estimate"])


def test_the_mean_repeats_all_resamples_in_every_collection(three):
    n_fits = 0

    def halves(X):
        nonlocal n_fits
        n_fits += 1
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    result = cr.replicability(halves, three, n_resamples=3, diagonal=False, rng=0)
    n_fits = 0
    cr.null_reference(result, 2)
    assert n_fits == (1 + 2) * 3  # and the studies as they are, to see whether they are single blocks
    n_fits = 0
    reference = cr.null_reference(result, 2, statistic="mean")
    assert n_fits == (1 + 2 * (1 + 3)) * 3  # separateness is that of the studies as they are
    np.testing.assert_array_equal(off_diagonal(reference.observed), off_diagonal(result.mean))
    assert reference.statistic == reference.provenance["statistic"] == "mean"


def test_resamples_that_change_nothing_give_the_mean_of_equal_scores(three):
    # A permutation of all samples: the tree does not notice.
    result = cr.replicability(WARD, three, n_resamples=3, resampling=cr.Subsample(1.0), rng=0)
    mean, estimate = (cr.null_reference(result, 5, statistic=statistic) for statistic in ("mean", "estimate"))
    np.testing.assert_allclose(mean.distribution, estimate.distribution)
    bootstrap = cr.replicability(WARD, three, n_resamples=3, rng=0)
    other = cr.null_reference(bootstrap, 5, statistic="mean")
    assert not np.allclose(off_diagonal(other.distribution), off_diagonal(estimate.distribution))


@pytest.mark.parametrize("statistic", ["estimate", "mean"])
def test_what_is_observed_is_the_result(comparison, local, statistic):
    reference = cr.null_reference(comparison, 2, statistic=statistic)
    expected = comparison.estimate if statistic == "estimate" else comparison.distribution.mean(axis=2)
    np.testing.assert_allclose(off_diagonal(reference.observed), off_diagonal(expected))
    assert np.isnan(np.diagonal(reference.observed, axis1=2, axis2=3)).all()
    np.testing.assert_array_equal(
        cr.null_reference(local, 2, statistic=statistic).observed, local.by_cluster()[statistic]
    )


# ---------------------------------------------------------------------------------------------------------------------
# p-values


def test_pvalues_count_exceedances_one_by_one(reference):
    assert reference.pvalue.shape == (3, 3)
    for s, t in itertools.product(range(3), repeat=2):
        if s == t:
            assert np.isnan(reference.pvalue[s, t])
            continue
        above = sum(float(one[s, t]) >= float(reference.observed[s, t]) for one in reference.distribution)
        assert reference.pvalue[s, t] == pytest.approx((1 + above) / 13)
    assert len(set(off_diagonal(reference.pvalue))) > 1
    np.testing.assert_allclose(reference.mean, np.where(np.eye(3), np.nan, reference.distribution.mean(axis=0)))
    np.testing.assert_allclose(reference.excess, reference.observed - reference.mean)


def test_pvalues_of_a_comparison_count_exceedances_one_by_one(comparison_reference):
    reference = comparison_reference
    assert reference.pvalue.shape == (3, 2, 3, 3)
    for place in np.ndindex(reference.pvalue.shape):
        if place[2] != place[3]:
            above = sum(float(one[place]) >= float(reference.observed[place]) for one in reference.distribution)
            assert reference.pvalue[place] == pytest.approx((1 + above) / 13)


def test_a_cluster_is_compared_with_all_clusters_of_each_collection(local_reference):
    reference = local_reference
    for observed, pvalue in zip(reference.observed, reference.pvalue, strict=True):
        above = [[score >= observed for score in one if not np.isnan(score)] for one in reference.distribution]
        assert pvalue == pytest.approx((1 + sum(sum(one) / len(one) for one in above)) / 13)
    assert len(set(reference.pvalue)) > 1
    means = [np.nanmean(one) for one in reference.distribution]
    np.testing.assert_allclose(reference.mean, np.mean(means))
    assert reference.overall == pytest.approx(reference.observed.mean())
    assert reference.overall_pvalue == pytest.approx((1 + sum(one >= reference.overall for one in means)) / 13)


def test_ties_count_as_exceedances_and_missing_scores_do_not():
    reference = by_hand(observed=[[np.nan, 0.5], [0.25, np.nan]], scores=[[0.5, 0.25], [0.75, np.nan], [0.25, 0.0]])
    assert reference.pvalue[0, 1] == (1 + 2) / 4
    assert reference.pvalue[1, 0] == (1 + 1) / 3
    assert reference.mean[1, 0] == 0.125
    assert reference.overall == 0.375
    assert reference.overall_distribution.tolist() == [0.375, 0.75, 0.125]
    assert reference.overall_pvalue == (1 + 2) / 4
    assert reference.overall_excess == pytest.approx(0.375 - 1.25 / 3)
    np.testing.assert_allclose(off_diagonal(reference.quantile(0.5)), [0.5, 0.125])


def by_hand(observed, scores):
    """Two studies; of every simulated collection the scores of both pairs."""
    distribution = np.full((len(scores), 2, 2), np.nan)
    distribution[:, 0, 1], distribution[:, 1, 0] = np.transpose(scores)
    return NullReference(
        kind="replicability",
        statistic="estimate",
        names=("a", "b"),
        agreements=("ari",),
        clusterers=("ward",),
        n_clusters=(2,),
        clusters=np.zeros(0, dtype=int),
        observed=np.array(observed),
        distribution=distribution,
        provenance={"null": "'gaussian'", "seed": 1},
    )


def test_qvalues_are_benjamini_and_hochbergs_over_all_of_one_agreement(
    reference, comparison_reference, local_reference
):
    np.testing.assert_allclose(off_diagonal(reference.qvalue), false_discovery_control(off_diagonal(reference.pvalue)))
    np.testing.assert_allclose(local_reference.qvalue, false_discovery_control(local_reference.pvalue))
    for a in range(2):
        pvalues = off_diagonal(comparison_reference.pvalue)[:, a]
        expected = false_discovery_control(pvalues.ravel()).reshape(pvalues.shape)
        np.testing.assert_allclose(off_diagonal(comparison_reference.qvalue)[:, a], expected)
        overall = false_discovery_control(comparison_reference.configuration_pvalue[:, a])
        np.testing.assert_allclose(comparison_reference.overall_qvalue[:, a], overall)
    assert reference.overall_qvalue == reference.configuration_pvalue


def test_whole_collections_are_compared_by_their_mean_over_pairs(reference, comparison_reference):
    assert reference.overall.shape == ()
    for one in (reference, comparison_reference):
        overall = off_diagonal(one.observed).mean(axis=-1)
        simulated = off_diagonal(one.distribution).mean(axis=-1)
        np.testing.assert_allclose(one.overall, overall)
        np.testing.assert_allclose(one.overall_distribution, simulated)
        np.testing.assert_allclose(one.overall_excess, overall - simulated.mean(axis=0))
        np.testing.assert_allclose(one.configuration_pvalue, (1 + (simulated >= overall).sum(axis=0)) / 13)
    assert comparison_reference.configuration_pvalue.shape == (3, 2)


def test_quantiles_are_those_of_the_simulated_scores(reference, local_reference):
    expected = np.quantile(off_diagonal(reference.distribution), [0.1, 0.9], axis=0)
    np.testing.assert_allclose(off_diagonal(reference.quantile([0.1, 0.9])), expected)
    assert local_reference.quantile([0.1, 0.9]).shape == (2, 3)
    pooled = local_reference.distribution[~np.isnan(local_reference.distribution)]
    np.testing.assert_allclose(local_reference.quantile(0.9), np.quantile(pooled, 0.9))
    with pytest.raises(ParameterError, match="q must"):
        reference.quantile(1.5)


# ---------------------------------------------------------------------------------------------------------------------
# seeds and workers


def test_workers_and_batches_change_nothing_and_few_collections_begin_many(three):
    result = cr.replicability(KMeans(3, n_init=1), three, n_resamples=1, rng=4)
    ten = cr.null_reference(result, 10)
    np.testing.assert_array_equal(cr.null_reference(result, 10, n_jobs=2).distribution, ten.distribution)
    np.testing.assert_array_equal(cr.null_reference(result, 10).distribution, ten.distribution)
    first = cr.null_reference(result, 10, null="elliptical")
    np.testing.assert_array_equal(first.distribution, ten.distribution)
    np.testing.assert_array_equal(cr.null_reference(result, 20, null="elliptical").distribution[:10], ten.distribution)


@pytest.mark.parametrize("null", list(NULLS))
def test_the_seed_decides(result, null):
    one, again, other = (cr.null_reference(result, 6, null=null, rng=seed).distribution for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other, equal_nan=True)


def test_without_a_seed_the_results_own_is_taken(result, reference, three):
    np.testing.assert_array_equal(cr.null_reference(result, 12).distribution, reference.distribution)
    again = cr.replicability(WARD, three, n_resamples=2, rng=0)
    np.testing.assert_array_equal(cr.null_reference(again, 12).distribution, reference.distribution)
    elsewhere = cr.replicability(WARD, three, n_resamples=2, rng=1)
    assert not np.array_equal(cr.null_reference(elsewhere, 12).distribution, reference.distribution, equal_nan=True)
    named = cr.null_reference(result, 12, rng=reference.provenance["seed"])
    np.testing.assert_array_equal(named.distribution, reference.distribution)


def test_a_comparison_and_its_parts_have_the_same_collections(comparison, comparison_reference):
    part = cr.null_reference(comparison.replicability("ward", 4, "ami"), 12)
    whole = comparison_reference.distribution[:, 2, 1]
    np.testing.assert_allclose(off_diagonal(part.distribution), off_diagonal(whole))
    np.testing.assert_allclose(part.pvalue, comparison_reference.pvalue[2, 1])


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


def test_results_without_data_or_clusterer_are_refused(result, comparison, three, tmp_path):
    result.save(tmp_path / "result.npz")
    with pytest.raises(ParameterError, match=r"read from a file, which holds scores but no data.* rng=0 "):
        cr.null_reference(cr.load(tmp_path / "result.npz"))
    comparison.save(tmp_path / "comparison.npz")
    with pytest.raises(ParameterError, match="read from a file"):
        cr.null_reference(cr.load(tmp_path / "comparison.npz"))
    known = cr.replicability(
        None, three, labels={name: np.arange(len(X)) % 3 for name, X in three.items()}, n_resamples=2, rng=0
    )
    with pytest.raises(ParameterError, match="Known labels can't be carried over to simulated data"):
        cr.null_reference(known)


def test_other_things_are_refused_with_a_sentence(result, three):
    several = cr.replicability(WARD, three, agreement=("ari", "ami"), n_resamples=1, rng=0)
    with pytest.raises(ParameterError, match=r"for one agreement and one test study; got dict"):
        cr.null_reference(several)
    with pytest.raises(ParameterError, match=r"result must be what replicability, compare or .* got ndarray"):
        cr.null_reference(result.estimate)
    with pytest.raises(ParameterError, match=r"n must be a positive integer, got 0"):
        cr.null_reference(result, 0)
    with pytest.raises(
        ParameterError,
        match=r"null must be one of 'one piece', 'elliptical', 'unimodal', 'components', 'gaussian', .* 'gaussian'\?",
    ):
        cr.null_reference(result, 2, null="gausian")
    with pytest.raises(ParameterError, match=r"statistic must be one of 'estimate', 'mean'; got 'median'"):
        cr.null_reference(result, 2, statistic="median")


def test_local_scores_at_other_points_are_refused(three):
    local = cr.local_replicability(
        WARD, train=three["mainz"], test=three["vdx"], at=three["mainz"] + 1, n_resamples=1, rng=0
    )
    with pytest.raises(ParameterError, match="at the points of its training or test study: run local_replicability"):
        cr.null_reference(local, 2)


def test_a_sampler_that_returns_another_table_is_refused(result):
    with pytest.raises(DataError, match="null must return a table like study 'mainz'"):
        cr.null_reference(result, 2, null=lambda study, rng: study.X[:, :1])


def test_it_is_said_when_no_collection_can_be_scored(rng):
    def only_whole_numbers(X):
        if np.mod(X, 1).any():
            raise ValueError("not these")
        return (X[:, 1] > X[:, 1].mean()).astype(int)

    tables = [np.round(9 * rng.normal(size=(20, 2))) for _ in range(2)]
    result = cr.replicability(only_whole_numbers, tables, n_resamples=2, diagonal=False, rng=0)
    with pytest.raises(AllReplicatesFailed, match="Not one simulated collection could be scored"):
        cr.null_reference(result, 5)


def only_near(X):
    if np.abs(X[:, 0]).max() > 1:
        raise ValueError("not these")
    return (X[:, 1] > X[:, 1].mean()).astype(int)


def test_collections_that_cannot_be_scored_count_neither_way(rng):
    tables = [rng.uniform(-1, 1, size=(20, 2)) for _ in range(2)]
    result = cr.replicability(only_near, tables, n_resamples=1, diagonal=False, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplicateWarning)
        reference = cr.null_reference(result, 60)
    scores = reference.distribution[:, 0, 1]
    scores = scores[~np.isnan(scores)]
    assert 0 < len(scores) < 60
    assert reference.pvalue[0, 1] == pytest.approx((1 + sum(scores >= reference.observed[0, 1])) / (1 + len(scores)))


def test_it_is_said_when_some_collections_cannot_be_scored(rng):
    tables = [rng.uniform(-1, 1, size=(20, 2)) for _ in range(2)]
    result = cr.replicability(only_near, tables, n_resamples=1, diagonal=False, rng=0)
    with pytest.warns(ReplicateWarning, match=r"The clusterer failed on \d+ simulated collections of 60"):
        cr.null_reference(result, 60)


# ---------------------------------------------------------------------------------------------------------------------
# more features than samples


@pytest.mark.parametrize("make", [lambda: KMeans(2, n_init=2), lambda: AgglomerativeClustering(2)])
def test_in_coordinates_scores_are_distributed_as_in_all_features(make):
    tables = gaussians(2, np.r_[7.0, 3.0, np.ones(88)], (20, 24), turned=True)
    fast, plain = (
        cr.null_reference(
            configured(cr.replicability, accelerate=accelerate)(make(), tables, n_resamples=1, diagonal=False, rng=0),
            150,
        )
        for accelerate in (True, False)
    )
    assert fast.overall == pytest.approx(plain.overall, abs=0.15)
    assert ks_2samp(fast.overall_distribution, plain.overall_distribution).pvalue > 0.001


def test_wide_studies_are_simulated_in_few_columns(monkeypatch):
    tables = gaussians(2, np.ones(500), (10, 12))
    result = cr.replicability(AgglomerativeClustering(2), tables, n_resamples=1, diagonal=False, rng=0)
    shapes, draw = set(), GaussianCollection.draw

    def watched(self, rng):
        drawn = draw(self, rng)
        shapes.update(X.shape for X in drawn)
        return drawn

    monkeypatch.setattr(GaussianCollection, "draw", watched)
    cr.null_reference(result, 3)
    assert {n for n, _ in shapes} == {10, 12}
    assert max(n_columns for _, n_columns in shapes) <= 44


def test_points_as_parameters_keep_the_features():
    tables = mixtures(1, (10, 12), n_features=60)
    start = np.stack([tables[0][i] for i in range(3)])
    result = cr.replicability(KMeans(3, init=start, n_init=1), tables, n_resamples=1, diagonal=False, rng=0)
    assert np.isfinite(off_diagonal(cr.null_reference(result, 4).distribution)).all()


@pytest.mark.parametrize("at", ["train", "test"])
def test_local_scores_of_wide_studies(at):
    train, test = mixtures(1, (15, 18), n_features=80, separation=3)
    points = None if at == "train" else test
    result = cr.local_replicability(KMeans(3, n_init=2), train=train, test=test, at=points, n_resamples=1, rng=0)
    reference = cr.null_reference(result, 39, null="gaussian")
    assert (reference.observed == 1).all()
    assert (reference.pvalue < 0.15).all()


@pytest.mark.parametrize(
    "p",
    [
        2,
        80,
    ],
)
def test_local_scores_of_a_study_tested_on_itself(p):
    study = cr.Study(mixtures(1, (30,), n_features=p, separation=3)[0], "mainz")
    result = cr.local_replicability(KMeans(3, n_init=2), train=study, test=study, n_resamples=1, rng=0)
    reference = cr.null_reference(result, 9)
    assert reference.names == ("mainz", "mainz")
    assert np.isfinite(reference.pvalue).all()


# ---------------------------------------------------------------------------------------------------------------------
# tables, words, files, pictures


def test_tables_have_a_row_for_every_score(reference, comparison_reference, local_reference):
    columns = ["observed", "null_mean", "null_low", "null_high", "excess", "pvalue", "qvalue"]
    frame = reference.to_frame()
    assert list(frame.columns) == ["train", "test", *columns]
    assert len(frame) == 6
    row = frame[(frame["train"] == "vdx") & (frame["test"] == "mainz")].iloc[0]
    assert row["observed"] == reference.observed[1, 0]
    assert row["pvalue"] == reference.pvalue[1, 0]
    low, high = np.quantile(reference.distribution[:, 1, 0], [0.025, 0.975])
    assert (row["null_low"], row["null_high"]) == (pytest.approx(low), pytest.approx(high))
    narrow = reference.to_frame(0.5)
    assert (narrow["null_high"] - narrow["null_low"] < frame["null_high"] - frame["null_low"]).all()
    frame = comparison_reference.to_frame()
    assert list(frame.columns) == ["clusterer", "k", "agreement", "train", "test", *columns]
    assert len(frame) == 3 * 2 * 6
    row = frame.query("k == 4 and agreement == 'ami' and train == 'nki' and test == 'vdx'").iloc[0]
    assert row["observed"] == comparison_reference.observed[2, 1, 2, 1]
    frame = local_reference.to_frame()
    assert list(frame.columns) == ["cluster", *columns]
    assert frame["cluster"].tolist() == [0, 1, 2]


def test_the_summary_has_a_row_for_every_configuration(reference, comparison_reference, local_reference):
    columns = ["clusterer", "k", "agreement", "observed", "null_mean", "excess", "pvalue", "qvalue"]
    for one, n_rows in [(reference, 1), (comparison_reference, 6), (local_reference, 1)]:
        of_both = [] if one is local_reference else ["separateness", "null_separateness"]
        assert list(one.summary().columns) == [*columns, *of_both, "adjusted"]
        assert len(one.summary()) == n_rows
    row = comparison_reference.summary().query("k == 3 and agreement == 'ami'").iloc[0]
    assert row["observed"] == comparison_reference.overall[1, 1]
    assert row["null_mean"] == pytest.approx(comparison_reference.overall_distribution[:, 1, 1].mean())
    assert row["pvalue"] == comparison_reference.configuration_pvalue[1, 1]
    assert row["qvalue"] == comparison_reference.overall_qvalue[1, 1]


def test_it_says_what_it_is(reference, comparison_reference, local_reference, result):
    assert repr(reference).startswith(
        f"ARI (R̂) beside 12 simulated collections, null 'one piece', seed {reference.provenance['seed']}\n"
        f"Models: elliptical p = {reference.overall_pvalue:.2g}; below: elliptical\n"
    )
    assert repr(comparison_reference).startswith("ARI, AMI (R̂) beside 12 simulated collections")
    assert "null_mean" in repr(local_reference)
    assert "(bootstrap mean) beside 1 simulated collection, " in repr(cr.null_reference(result, 1, statistic="mean"))


def test_it_survives_a_file_and_is_read_only(reference, comparison_reference, local_reference, tmp_path):
    for number, one in enumerate([reference, comparison_reference, local_reference]):
        one.save(tmp_path / f"{number}.npz")
        again = cr.load(tmp_path / f"{number}.npz")
        assert type(again) is NullReference
        assert repr(again) == repr(one)
        pd.testing.assert_frame_equal(again.to_frame(), one.to_frame())
        np.testing.assert_array_equal(again.distribution, one.distribution)
        for array in (one.observed, one.distribution, again.observed, again.distribution):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


def test_clusters_with_names_survive_a_file(three, tmp_path):
    def sides(X):
        return np.where(X[:, 0] > X[:, 0].mean(), "right", "left")

    local = cr.local_replicability(sides, train=three["mainz"], test=three["vdx"], n_resamples=1, rng=0)
    reference = cr.null_reference(local, 3)
    reference.save(tmp_path / "null.npz")
    assert cr.load(tmp_path / "null.npz").clusters.tolist() == reference.clusters.tolist() == ["left", "right"]


def test_pictures_are_drawn_where_they_are_asked_for(reference, comparison_reference, local_reference):
    for one in (reference, comparison_reference, local_reference):
        figure, ax = plt.subplots()
        assert one.plot(ax=ax) is ax
        assert ax.has_data()
        plt.close(figure)
    ax = comparison_reference.plot(agreement="ami")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), comparison_reference.overall[:, 1])
    assert ax.lines[0].get_xdata().tolist() == [2, 3, 4]
    assert "AMI" in ax.get_ylabel()
    plt.close(ax.figure)
    ax = reference.plot()
    assert next(tick.get_text() for tick in ax.get_xticklabels()) == "mainz → vdx"
    plt.close(ax.figure)
    with pytest.raises(ParameterError, match="agreement must be one of"):
        comparison_reference.plot(agreement="ri")


# ---------------------------------------------------------------------------------------------------------------------
# the choice, by hand


def comparison_by_hand(averages, n_clusters, *, clusterers=None, agreements=("ari",), trivial=None):
    """Two studies, equal scores in both directions: averages (n_configurations, n_agreements, n_resamples).

    `trivial` says how many of the first resamples of each configuration are single blocks.
    """
    averages = np.asarray(averages, dtype=float)
    if averages.ndim == 2:
        averages = averages[:, None]
    C, A, B = averages.shape
    distribution = np.repeat(np.repeat(averages[..., None, None], 2, axis=-1), 2, axis=-2)
    known = np.isfinite(distribution).sum(axis=2)
    n_trivial = np.zeros(C) if trivial is None else np.asarray(trivial)
    return Comparison(
        names=("a", "b"),
        agreements=agreements,
        clusterers=clusterers or ("ward",) * C,
        n_clusters=tuple(n_clusters),
        estimate=np.where(known > 0, np.nansum(distribution, axis=2) / np.maximum(known, 1), np.nan),
        distribution=distribution,
        trivial=np.repeat(np.arange(B) < n_trivial[:, None], 4, axis=1).reshape(C, B, 2, 2),
        clusters_found=np.full((C, B, 2), 2),
        failed=np.zeros((C, A, B + 1, 2, 2), dtype=int),
        causes=(),
        provenance=Provenance(seed=1),
    )


def reference_by_hand(comparison, observed, simulated):
    """Scores of every configuration and agreement, and those of simulated collections, the same for both pairs."""
    spread = [np.repeat(np.repeat(np.asarray(x, float)[..., None, None], 2, -1), 2, -2) for x in (observed, simulated)]
    return NullReference(
        kind="comparison",
        statistic="estimate",
        names=comparison.names,
        agreements=comparison.agreements,
        clusterers=comparison.clusterers,
        n_clusters=comparison.n_clusters,
        clusters=np.zeros(0, dtype=int),
        observed=spread[0],
        distribution=spread[1],
        provenance={"null": "'gaussian'", "seed": 1, "of": comparison._fingerprint},
    )


def test_the_probability_of_being_best_is_the_share_of_resamples_won():
    scores = [[0.5, 0.9, 0.5, 0.1, np.nan], [0.6, 0.9, 0.4, 0.7, 0.2], [0.2, 0.1, 0.8, 0.6, 0.9]]
    choice = comparison_by_hand(scores, [3, 2, 4]).choice()
    assert [one.n_clusters for one in choice.candidates] == [2, 3, 4]
    assert choice.probability_best.tolist() == [0.6, 0.2, 0.4]  # the tie counts for both
    assert choice.against is None
    assert choice.eligible.tolist() == [True] * 3
    assert choice.to_frame()["probability_best"].tolist() == [0.6, 0.2, 0.4]


def test_single_blocks_in_one_resample_of_twenty_are_borne_and_in_two_they_win_nothing():
    rng = np.random.default_rng(0)
    scores = rng.uniform(size=(4, 20)) + np.array([[0.4], [0.1], [0], [0]])
    choice = comparison_by_hand(scores, [2, 3, 4, 5], trivial=[2, 1, 0, 0]).choice()
    assert [one.n_clusters for one in choice.candidates] == [2, 3, 4, 5]
    assert choice.eligible.tolist() == choice.to_frame()["eligible"].tolist() == [False, True, True, True]
    wins = [sum(max((1, 2, 3), key=lambda c: scores[c, b]) == c for b in range(20)) for c in (0, 1, 2, 3)]
    assert choice.probability_best.tolist() == [0.0, *(won / 20 for won in wins[1:])]
    assert choice.candidates[0].score == max(one.score for one in choice.candidates)
    assert choice.best.n_clusters == choice.chosen.n_clusters == 3
    assert choice.simplest.n_clusters >= 3
    assert 2 not in [rival.n_clusters for rival in choice.best.rivals]
    assert not choice.to_frame()["rival"][0]
    assert str(choice).endswith("\nToo many single blocks or failures to be called the best: ward, k = 2")
    whole = comparison_by_hand(scores, [2, 3, 4, 5]).choice()
    assert whole.best.n_clusters == 2
    assert "Too many single blocks" not in str(whole)


def test_failures_in_most_resamples_leave_a_candidate_that_cannot_be_best_and_in_all_none():
    known = np.arange(20) % 2 == 0
    scores = np.stack([np.full(20, 0.9), np.where(known, 0.9, np.nan), np.full(20, 0.5), np.full(20, np.nan)])
    scores[0, :11] = np.nan
    choice = comparison_by_hand(scores, [2, 3, 4, 5]).choice()
    assert [one.n_clusters for one in choice.candidates] == [2, 3, 4]
    assert choice.eligible.tolist() == [False, True, True]
    assert choice.probability_best.tolist() == [0.0, 0.5, 0.5]
    assert choice.best.n_clusters == 3
    assert "failures to be called the best: ward, k = 2" in str(choice)


def test_a_resample_that_failed_for_all_is_won_by_none():
    scores = [[0.5, 0.5, 0.5, np.nan], [0.6, 0.6, 0.6, np.nan]]
    assert comparison_by_hand(scores, [2, 3]).choice().probability_best.tolist() == [0.0, 1.0]


def test_the_simplest_is_the_smallest_k_within_one_standard_error_of_the_best():
    best = np.array([0.7, 0.8, 0.9])  # a standard error of 0.1
    for below, expected in [(0.09, 2), (0.11, 3)]:
        scores = [np.full(3, 0.8 - below), np.full(3, 0.75), best, np.full(3, 0.4)]
        choice = comparison_by_hand(scores, [2, 3, 4, 5]).choice()
        assert choice.best.n_clusters == choice.chosen.n_clusters == 4
        assert choice.simplest.n_clusters == expected
        assert f"Smallest k within one standard error of the best: ward, k = {expected} " in str(choice)
    alone = comparison_by_hand([best, np.full(3, 0.4)], [2, 3]).choice()
    assert alone.simplest.n_clusters == 2
    assert str(alone) == str(alone.best)


def test_without_a_standard_error_the_best_is_the_simplest():
    assert comparison_by_hand([[0.5], [0.9]], [2, 3]).choice().simplest.n_clusters == 3


def test_beside_data_without_clusters_the_simplest_is_above_them():
    scores = [np.full(3, 0.75), np.full(3, 0.74), [0.7, 0.8, 0.9], np.full(3, 0.4)]  # a standard error of 0.1
    comparison = comparison_by_hand(scores, [2, 3, 4, 5])
    observed = [[0.75], [0.74], [0.8], [0.4]]
    for high_in_null, expected in [((), 2), ((0,), 3), ((0, 1), 4), ((2,), 2), ((0, 1, 2), None), ((0, 1, 2, 3), None)]:
        null = np.tile(np.linspace(0.1, 0.2, 99)[:, None, None], (1, 4, 1))
        null[:, high_in_null] += 0.7
        choice = comparison.choice(reference_by_hand(comparison, observed, null))
        assert choice.best.n_clusters == 4  # whatever data without clusters score
        assert (choice.simplest and choice.simplest.n_clusters) == expected
        said = "Smallest k within one standard error of the best: " in str(choice)
        assert said == (expected not in (None, 4))
    few_blocks = comparison_by_hand(scores, [2, 3, 4, 5], trivial=[2, 0, 0, 0])
    null = np.tile(np.linspace(0.1, 0.2, 99)[:, None, None], (1, 4, 1))
    assert few_blocks.choice(reference_by_hand(few_blocks, observed, null)).simplest.n_clusters == 3


def test_the_choice_is_the_largest_excess_among_those_above_data_without_clusters():
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4, [0.6] * 4], [2, 3, 4])
    null = np.tile([[0.85], [0.2], [0.3]], (99, 1, 1))  # the highest score is high without clusters, too
    null[:50, 0] = 0.95
    reference = reference_by_hand(comparison, [[0.9], [0.7], [0.6]], null)
    choice = comparison.choice(reference)
    assert (choice.best.n_clusters, choice.chosen.n_clusters) == (2, 3)
    against = choice.against
    np.testing.assert_allclose(against.pvalue, [0.51, 0.01, 0.01])
    np.testing.assert_allclose(against.adjusted[1:], 0.01)  # no collection has any k so far above its mean
    assert against.adjusted[0] > 0.5
    null_mean = [(50 * 0.95 + 49 * 0.85) / 99, 0.2, 0.3]
    np.testing.assert_allclose(against.observed, [0.9, 0.7, 0.6])
    np.testing.assert_allclose(against.null_mean, null_mean)
    np.testing.assert_allclose(against.excess, [0.9 - null_mean[0], 0.5, 0.3])
    assert str(choice).splitlines() == [
        "ward, k = 2 (0.90 [0.90, 0.90]) replicates best by ARI",
        "Farthest above data without clusters: ward, k = 3, 0.70 against 0.20, adjusted p = 0.01",
        f"The highest score, of ward, k = 2, is not above them (adjusted p = {against.adjusted[0]:.2g})",
    ]
    # Far above on average, but too often below.
    null[:10, 1] = 0.8
    choice = comparison.choice(reference_by_hand(comparison, [[0.9], [0.7], [0.6]], null))
    assert choice.against.excess[1] > choice.against.excess[2]
    assert choice.chosen.n_clusters == 4


def test_where_the_best_is_above_data_without_clusters_no_but_is_said():
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4], [2, 3])
    null = np.tile(np.linspace(0.1, 0.2, 99)[:, None, None], (1, 2, 1))
    null[:, 0] += 0.4
    choice = comparison.choice(reference_by_hand(comparison, [[0.9], [0.7]], null))
    assert (choice.best.n_clusters, choice.chosen.n_clusters) == (2, 3)  # the highest, and the farthest above
    assert str(choice).splitlines() == [
        "ward, k = 2 (0.90 [0.90, 0.90]) replicates best by ARI",
        "Farthest above data without clusters: ward, k = 3, 0.70 against 0.15, adjusted p = 0.01",
    ]


def test_one_with_too_many_single_blocks_can_be_chosen_beside_data_without_clusters():
    """Where single blocks count 0 on both sides, they do not help."""
    comparison = comparison_by_hand([[0.8] * 20, [0.5] * 20, [0.45] * 20], [2, 3, 4], trivial=[3, 0, 0])
    null = np.tile(np.linspace(0.2, 0.3, 99)[:, None, None], (1, 3, 1))
    choice = comparison.choice(reference_by_hand(comparison, [[0.8], [0.5], [0.45]], null))
    assert choice.eligible.tolist() == [False, True, True]
    assert choice.chosen is choice.candidates[0]
    assert (choice.best.n_clusters, choice.simplest.n_clusters) == (3, 3)
    assert choice.probability_best.tolist() == [0, 1, 0]
    assert str(choice).splitlines() == [
        "ward, k = 3 (0.50 [0.50, 0.50]) replicates best by ARI",
        "Farthest above data without clusters: ward, k = 2, 0.80 against 0.25, adjusted p = 0.01",
        "Too many single blocks or failures to be called the best: ward, k = 2",
    ]
    null[:, 0] += 0.7  # not because of its score alone
    assert comparison.choice(reference_by_hand(comparison, [[0.8], [0.5], [0.45]], null)).chosen.n_clusters == 3


def test_all_with_too_many_single_blocks_one_can_be_chosen_though_none_is_best():
    comparison = comparison_by_hand([[0.8] * 20, [0.5] * 20], [2, 3], trivial=[3, 2])
    null = np.tile(np.linspace(0.2, 0.3, 99)[:, None, None], (1, 2, 1))
    choice = comparison.choice(reference_by_hand(comparison, [[0.8], [0.5]], null))
    assert choice.best is choice.simplest is None
    assert choice.chosen is choice.focus is choice.candidates[0]
    first, second = str(choice).splitlines()
    assert first.startswith("No configuration can be best: in each, more than 5 % of the scores are trivial")
    assert second == "Farthest above data without clusters: ward, k = 2, 0.80 against 0.25, adjusted p = 0.01"
    assert choice.probability_best.tolist() == [0, 0]
    assert not choice.to_frame()["rival"].any()


@pytest.mark.parametrize(
    ("high_in_null", "trivial", "best", "chosen", "focus"),
    [
        ((), (0, 0, 0), 2, 2, 2),
        ((0,), (0, 0, 0), 2, 3, 3),  # the best is not above data without clusters
        ((0, 1), (0, 0, 0), 2, 4, 4),
        ((0, 1, 2), (0, 0, 0), 2, None, 2),
        ((), (2, 0, 0), 3, 2, 3),  # the best is, if not as far as another
        ((1,), (2, 0, 0), 3, 2, 2),
        ((0, 1, 2), (2, 2, 2), None, None, None),
        ((0,), (2, 2, 2), None, 3, 3),
    ],
)
def test_what_to_look_at_is_the_best_if_it_is_above_data_without_clusters(high_in_null, trivial, best, chosen, focus):
    comparison = comparison_by_hand([[0.9] * 20, [0.7] * 20, [0.6] * 20], [2, 3, 4], trivial=trivial)
    null = np.tile(np.linspace(0.1, 0.2, 99)[:, None, None], (1, 3, 1))
    null[:, high_in_null] += 0.75
    choice = comparison.choice(reference_by_hand(comparison, [[0.9], [0.7], [0.6]], null))
    assert [one and one.n_clusters for one in (choice.best, choice.chosen, choice.focus)] == [best, chosen, focus]
    assert [choice.is_above(one) for one in choice.candidates] == [c not in high_in_null for c in range(3)]
    alone = comparison.choice()
    assert [one and one.n_clusters for one in (alone.best, alone.chosen, alone.focus)] == [best] * 3
    assert not any(alone.is_above(one) for one in alone.candidates)  # as far as that is known


def test_candidates_are_found_by_clusterer_and_k():
    scores = np.tile([[0.5], [0.9], [0.7], [0.6]], 5)
    comparison = comparison_by_hand(scores, [3, 2, 3, None], clusterers=("ward", "kmeans", "kmeans", "density"))
    choice = comparison.choice()
    names = [(one.clusterer, one.n_clusters) for one in choice.candidates]
    assert names == [("density", None), ("kmeans", 2), ("ward", 3), ("kmeans", 3)]
    assert [choice.place(one) for one in choice.candidates] == [0, 1, 2, 3]
    assert choice.place(choice.best) == choice.place(choice.chosen) == 1  # a Best is found as well as a Candidate
    others = comparison_by_hand(scores / 2, [3, 2, 3, None], clusterers=("ward", "kmeans", "kmeans", "density"))
    assert choice.place(others.choice().candidates[3]) == 3  # whatever its score
    with pytest.raises(ValueError, match="not in list"):
        choice.place(replace(choice.candidates[1], n_clusters=4))


def test_five_percent_are_the_border():
    comparison = comparison_by_hand([[0.9] * 3], [2])
    for n_above, chosen in [(4, True), (5, False)]:
        null = np.where(np.arange(99) < n_above, 0.9, 0.1)[:, None, None]
        choice = comparison.choice(reference_by_hand(comparison, [[0.9]], null))
        against = choice.against
        assert against.adjusted == against.pvalue == pytest.approx((1 + n_above) / 100)  # one k: nothing to adjust for
        assert choice.is_above(choice.candidates[0]) == chosen
        assert (choice.chosen is not None) == chosen


@pytest.mark.parametrize(("ks", "words"), [((2, 3), "no k"), ((2, None), "nothing"), ((None, None), "nothing")])
def test_it_is_said_in_words_when_nothing_is_better_than_data_without_clusters(ks, words):
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4], ks, clusterers=("one", "other"))
    reference = reference_by_hand(comparison, [[0.9], [0.7]], np.full((99, 2, 1), 0.9))
    choice = comparison.choice(reference)
    assert choice.chosen is choice.simplest is None
    assert choice.nothing == words
    first, second = str(choice).splitlines()
    assert first == str(choice.best)
    assert second == f"By ARI, {words} is better than data without clusters (smallest adjusted p = 1)"
    assert repr(choice).startswith(str(choice))


def test_the_smallest_adjusted_pvalue_is_told_where_none_is_small_enough():
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4], [2, 3])
    null = np.tile(np.linspace(0, 1, 99)[:, None, None], (1, 2, 1))  # 10 of 99 above 0.905, 30 above 0.7
    choice = comparison.choice(reference_by_hand(comparison, [[0.905], [0.7]], null))
    assert choice.against.adjusted.min() == choice.against.adjusted[0] == pytest.approx(0.11)
    assert str(choice).endswith("no k is better than data without clusters (smallest adjusted p = 0.11)")


def test_the_table_of_candidates():
    comparison = comparison_by_hand([[0.9, 0.8], [0.7, 0.6], [0.85, 0.81]], [2, 3, None], clusterers=("w", "w", "d"))
    columns = ["clusterer", "k", "score", "low", "high", "eligible", "probability_best", "rival"]
    choice = comparison.choice()
    assert list(choice.to_frame().columns) == columns
    null = np.tile(np.linspace(0.2, 0.3, 99)[:, None, None], (1, 3, 1))
    choice = comparison.choice(reference_by_hand(comparison, [[0.85], [0.65], [0.83]], null))
    frame = choice.to_frame()
    assert list(frame.columns) == [*columns, "observed", "null_mean", "excess", "pvalue", "adjusted"]
    assert frame["clusterer"].tolist() == ["d", "w", "w"]
    assert frame["k"].isna().tolist() == [True, False, False]
    assert frame["k"].tolist()[1:] == [2, 3]
    np.testing.assert_allclose(frame["score"], [0.83, 0.85, 0.65])
    np.testing.assert_allclose(frame["low"], [0.81 + 0.025 * 0.04, 0.8 + 0.025 * 0.1, 0.6 + 0.025 * 0.1])
    np.testing.assert_allclose(frame["high"], [0.85 - 0.025 * 0.04, 0.9 - 0.025 * 0.1, 0.7 - 0.025 * 0.1])
    assert frame["rival"].tolist() == [True, False, False]
    assert frame["probability_best"].tolist() == [0.5, 0.5, 0]
    np.testing.assert_allclose(frame["observed"], [0.83, 0.85, 0.65])
    np.testing.assert_allclose(frame["null_mean"], 0.25)
    np.testing.assert_allclose(frame["excess"], [0.58, 0.6, 0.4])
    for name in ("pvalue", "adjusted"):
        assert frame[name].tolist() == getattr(choice.against, name).tolist() == [0.01] * 3


def test_where_no_score_could_be_compared_the_words_are_quiet():
    """A clusterer that fails on the studies as they are, and not on resamples."""
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4], [2, 3])
    choice = comparison.choice(reference_by_hand(comparison, np.full((2, 1), np.nan), np.full((99, 2, 1), 0.9)))
    assert choice.chosen is None
    assert "better than data without clusters" in str(choice)


@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
def test_where_everything_is_a_single_block_the_choice_is_nothing_in_words(three):
    result = cr.compare({"one": DBSCAN(eps=1e3)}, three, n_resamples=3, rng=0)
    for choice in (result.choice(), result.choice(cr.null_reference(result, 19))):
        assert choice.best is choice.chosen is choice.simplest is None
        assert choice.focus is None
        assert str(choice).startswith("No configuration can be best")
        frame = choice.to_frame()
        assert frame["clusterer"].tolist() == ["one"]
        assert frame[["eligible", "rival"]].to_numpy().tolist() == [[False, False]]
        assert frame["probability_best"].tolist() == [0]
        assert frame["score"].tolist() == [1]  # agreement on nothing
    assert frame[["observed", "excess", "pvalue", "adjusted"]].to_numpy().tolist() == [[0, 0, 1, 1]]
    assert "By ARI, nothing is better than data without clusters (smallest adjusted p = 1)" in str(choice)


def test_a_tie_counts_for_all():
    comparison = comparison_by_hand([[0.5, 0.9, 0.7], [0.5, 0.2, 0.8]], [3, 2])
    assert comparison.choice().to_frame().set_index("k")["probability_best"].to_dict() == {
        2: pytest.approx(2 / 3),
        3: pytest.approx(2 / 3),
    }


def test_a_clusterer_without_a_k_is_drawn_against_its_own_null(three):
    result = cr.compare(
        {"density": DBSCAN(eps=2.0), "ward": AgglomerativeClustering()},
        three,
        n_clusters=[2, 3, 5],
        agreement="ari",
        n_resamples=2,
        rng=0,
    )
    reference = cr.null_reference(result, 19)
    ax = reference.plot()
    lines = dict(zip(["density", "ward"], ax.get_lines(), strict=True))
    assert lines["ward"].get_xdata().tolist() == [2, 3, 5]
    assert set(lines["density"].get_ydata()) == {reference.overall[result.clusterers.index("density"), 0]}
    assert list(ax.get_xticks()) == [2, 3, 5]
    alone = cr.compare({"density": DBSCAN(eps=2.0)}, three, agreement="ari", n_resamples=2, rng=0)
    ax = cr.null_reference(alone, 19).plot()
    assert len(ax.get_lines()) == 1
    assert ax.get_xlabel() == "(no number of clusters to set)"


def test_order_of_configurations_and_agreements_is_kept_apart():
    averages = np.stack([[[0.9] * 3, [0.2] * 3], [[0.5] * 3, [0.8] * 3], [[0.4] * 3, [0.3] * 3]])
    comparison = comparison_by_hand(averages, [4, 2, 3], agreements=("ari", "ami"))
    null = np.zeros((99, 3, 2))
    null[:, 0, 1] = 0.9
    reference = reference_by_hand(comparison, averages[:, :, 0], null)
    by_ari, by_ami = comparison.choice(reference), comparison.choice(reference, agreement="ami")
    assert (by_ari.chosen.n_clusters, by_ami.chosen.n_clusters) == (4, 2)
    np.testing.assert_allclose(by_ari.against.excess, [0.5, 0.4, 0.9])  # k = 2, 3, 4
    np.testing.assert_allclose(by_ami.against.excess, [0.8, 0.3, -0.7])
    np.testing.assert_allclose(by_ami.against.observed, [0.8, 0.3, 0.2])
    np.testing.assert_allclose(by_ami.against.null_mean, [0, 0, 0.9])
    assert by_ami.to_frame()["k"].tolist() == [2, 3, 4]
    with pytest.raises(ParameterError, match="agreement must be one of"):
        comparison.choice(agreement="ri")


def test_the_reference_of_another_comparison_is_refused(comparison, reference, comparison_reference, three, tmp_path):
    fewer = cr.compare(WARD, three, n_clusters=[2], n_resamples=1, rng=0)
    for one, other in [(comparison, reference), (comparison, "reference"), (fewer, comparison_reference)]:
        with pytest.raises(ParameterError, match=r"reference must be null_reference\(...\) of this very comparison"):
            one.choice(other)
    enough = cr.null_reference(comparison, 19)
    enough.save(tmp_path / "null.npz")
    assert repr(comparison.choice(cr.load(tmp_path / "null.npz"))) == repr(comparison.choice(enough))


@pytest.fixture(scope="module")
def with_blocks(three):
    """A comparison in which some resamples are single blocks, by agreements that praise them."""
    return cr.compare(
        {"density": DBSCAN(eps=1.6, min_samples=3), "ward": AgglomerativeClustering(3)},
        three,
        agreement=("ri", "prediction_strength"),
        n_resamples=6,
        rng=0,
    )


@pytest.mark.parametrize("statistic", ["estimate", "mean"])
def test_a_reference_is_known_as_that_of_a_comparison_with_single_blocks(with_blocks, statistic, tmp_path):
    assert 0 < off_diagonal(with_blocks.trivial[0]).sum() < off_diagonal(with_blocks.trivial[0]).size
    reference = cr.null_reference(with_blocks, 19, statistic=statistic)
    with_blocks.save(tmp_path / "comparison.npz")
    reference.save(tmp_path / "null.npz")
    if statistic == "mean":  # single blocks count 0 there, and 1 here
        off = off_diagonal(with_blocks.distribution).mean(axis=2)
        assert (off_diagonal(reference.observed)[0] < off[0] - 1e-9).any()
    comparisons = [with_blocks, cr.load(tmp_path / "comparison.npz")]
    references = [reference, cr.load(tmp_path / "null.npz")]
    for agreement in with_blocks.agreements:
        told = {
            repr(one.choice(other, agreement=agreement)) for one, other in itertools.product(comparisons, references)
        }
        assert len(told) == 1
        frame = with_blocks.choice(reference, agreement=agreement).to_frame().set_index("clusterer")
        assert frame["eligible"].to_dict() == {"density": False, "ward": True}
        a = with_blocks.agreements.index(agreement)
        assert frame["observed"]["density"] == pytest.approx(off_diagonal(reference.observed)[0, a].mean())


def test_the_reference_of_the_same_comparison_with_another_seed_or_score_or_name_is_refused(comparison, three):
    reference = cr.null_reference(comparison, 19)
    again, elsewhere = (
        cr.compare({"ward": AgglomerativeClustering()}, three, n_clusters=[2, 3, 4], n_resamples=4, rng=seed)
        for seed in (0, 1)
    )
    assert repr(again.choice(reference)) == repr(comparison.choice(reference))
    np.testing.assert_array_equal(elsewhere.estimate, comparison.estimate)  # only resamples differ
    scores = np.array(comparison.distribution)
    scores[1, 0, 2, 0, 1] += 1e-9
    others = [
        elsewhere,
        replace(comparison, distribution=scores),
        replace(comparison, n_clusters=(2, 3, 5)),
        replace(comparison, clusterers=("other",) * 3),
        replace(comparison, agreements=("ami", "ari")),
        replace(comparison, names=comparison.names[::-1]),
    ]
    for other in others:
        with pytest.raises(ParameterError, match="of this very comparison"):
            other.choice(reference)
    for made in ({}, {"of": ""}):
        unknown = replace(reference, provenance={"null": "'gaussian'", "seed": 1, **made})
        with pytest.raises(ParameterError, match="of this very comparison"):
            comparison.choice(unknown)


def test_names_that_are_numpys_texts_are_the_same_after_a_file(three, tmp_path):
    tables = {np.str_(name): X for name, X in three.items()}
    comparison = cr.compare(WARD, tables, n_clusters=[2], n_resamples=1, rng=0)
    comparison.save(tmp_path / "comparison.npz")
    cr.load(tmp_path / "comparison.npz").choice(cr.null_reference(comparison, 19))


def test_too_few_collections_to_say_anything_are_refused(comparison):
    with pytest.raises(ParameterError, match="reference has 18 collections, too few for any p-value of 5%"):
        comparison.choice(cr.null_reference(comparison, 18))


def test_the_reference_of_the_only_configuration_is_refused(three):
    comparison = cr.compare({"ward": WARD}, three, n_clusters=[2], agreement="ari", n_resamples=2, rng=0)
    reference = cr.null_reference(comparison.replicability("ward", 2), 3)
    with pytest.raises(ParameterError, match="of this very comparison"):
        comparison.choice(reference)


def test_the_reference_of_other_data_is_refused(comparison_reference, three):
    other = {name: X[:, ::-1] ** 2 for name, X in three.items()}
    comparison = cr.compare({"ward": AgglomerativeClustering()}, other, n_clusters=[2, 3, 4], n_resamples=4, rng=0)
    with pytest.raises(ParameterError, match="of this very comparison"):
        comparison.choice(comparison_reference)


def test_too_few_collections_for_many_k_are_not_said_to_be_no_clusters():
    # One k of nineteen above all 199 simulated collections, by far: q = 19 / 200 for want of collections.
    observed = np.full((19, 1), 0.3)
    observed[4] = 1
    null = np.tile(np.linspace(0.2, 0.4, 199)[:, None, None], (1, 19, 1))
    comparison = comparison_by_hand(np.repeat(observed, 3, axis=1), range(2, 21))
    assert "no k is better than data without clusters" not in str(
        comparison.choice(reference_by_hand(comparison, observed, null))
    )


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


def exponentials(seed, sd, sizes=(40, 40)):
    return [np.exp(X) for X in gaussians(seed, np.array(sd), sizes)]


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


def test_studies_with_covariances_of_their_own_do_not_look_replicable():
    def make(seed):
        rng = np.random.default_rng([seed, 17])
        return [rng.normal(size=(40, 3)) * sd + rng.normal(size=3) for sd in ([4, 1, 1], [4, 2, 1], [6, 1, 2])]

    pvalues, scores = pvalues_of(make, 30)
    assert np.mean(scores) > 0.4
    assert binomtest(int((pvalues <= 0.05).sum()), 30, 0.05, alternative="greater").pvalue > 0.05


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
    """Its margins keep their humps: documented, and why it is not the default."""
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
    """Scores of data like those of simulated collections: the smallest of all is at most 5 % in 5 % of the cases."""
    rng = np.random.default_rng(11)
    comparison = comparison_by_hand(np.full((n_configurations, 3), 0.5), range(2, 2 + n_configurations))
    n_found, n_trials = 0, 400
    for _ in range(n_trials):
        scores = rng.normal(size=(1 + n, n_configurations, 1)) + rng.normal(size=(1 + n, 1, 1))
        reference = reference_by_hand(comparison, scores[0], scores[1:])
        n_found += bool((reference.overall_adjusted <= 0.05).any())
    assert binomtest(n_found, n_trials, 0.05).pvalue > 0.005
    assert n_found > 5


def test_pairs_without_a_score_are_left_out_on_both_sides(reference):
    observed = np.array(reference.observed)
    observed[0] = observed[:, 0] = np.nan  # one pair of studies is left
    part = replace(reference, observed=observed)
    assert part.overall == pytest.approx(observed[[1, 2], [2, 1]].mean())
    np.testing.assert_allclose(part.overall_distribution, reference.distribution[:, [1, 2], [2, 1]].mean(axis=1))


@pytest.mark.parametrize("p", [3, 120])
def test_the_order_of_studies_does_not_matter(p):
    tables = dict(zip("abc", gaussians(6, np.r_[4.0, np.ones(p - 1)], (14, 18, 16)), strict=True))
    one, other = (
        cr.null_reference(cr.replicability(WARD, studies, n_resamples=1, diagonal=False, rng=0), 5)
        for studies in (tables, dict(reversed(tables.items())))
    )
    np.testing.assert_allclose(other.distribution, one.distribution[:, ::-1, ::-1], equal_nan=True)


def test_a_sampler_that_fails_is_told_so(three):
    result = cr.replicability(WARD, three, n_resamples=1, diagonal=False, rng=0)
    with pytest.raises(DataError, match=r"null failed for study .*: TypeError.*It is called with \(study, rng\)"):
        cr.null_reference(result, 2, null=lambda X: X)


@pytest.mark.parametrize("scale", ["zscore", "robust"])
def test_simulated_studies_are_scaled_as_the_studies_were(scale):
    seen = []

    def watched(X):
        seen.append(np.array(X))
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    studies = cr.Studies(dict(zip("ab", gaussians(3, np.array([5.0, 1.0, 2.0]), (30, 40)), strict=True))).scaled(scale)
    result = cr.replicability(watched, studies, n_resamples=1, diagonal=False, rng=0)
    seen.clear()
    cr.null_reference(result, 4)
    for X in seen:
        middle = X.mean(axis=0) if scale == "zscore" else np.median(X, axis=0)
        spread = X.std(axis=0) if scale == "zscore" else np.subtract(*np.quantile(X, [0.75, 0.25], axis=0))
        np.testing.assert_allclose(middle, 0, atol=1e-12)
        np.testing.assert_allclose(spread, 1)


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


# ---------------------------------------------------------------------------------------------------------------------
# the choice on data


def test_on_data_without_clusters_the_choice_says_so():
    said = 0
    for seed in range(10):
        tables = gaussians(seed, np.array([3.0, 1.0, 1.0]), (30, 30))
        comparison = cr.compare(
            KMeans(n_init=2), tables, n_clusters=[2, 3, 4], agreement="ari", n_resamples=2, diagonal=False, rng=seed
        )
        choice = comparison.choice(cr.null_reference(comparison, 59))
        smallest = min(choice.against.adjusted)
        words = f"By ARI, no k is better than data without clusters (smallest adjusted p = {smallest:.2g})"
        said += words in str(choice).splitlines()
        assert (choice.chosen is None) == (choice.simplest is None) == (smallest > 0.05)
        assert (choice.chosen is None) == (words in str(choice))
    assert said >= 8


def test_on_separated_groups_their_number_is_chosen():
    for seed in range(3):
        comparison = cr.compare(
            KMeans(n_init=3), mixtures(seed), n_clusters=[2, 3, 4], n_resamples=5, diagonal=False, rng=seed
        )
        choice = comparison.choice(cr.null_reference(comparison, 59))
        assert choice.chosen.n_clusters == 3
        assert choice.against.pvalue[1] <= 0.05
        assert choice.against.adjusted[1] <= 0.05
        assert "Farthest above data without clusters: KMeans, k = 3" in str(choice)


def test_two_groups_in_few_of_many_features_are_chosen_though_resamples_split_single_samples_off():
    rng = np.random.default_rng(7)
    tables = []
    for _ in range(3):
        groups = np.array([[0] * 5, [3] * 5])[rng.integers(2, size=40)] + rng.normal(size=(40, 5))
        tables.append(np.c_[groups, rng.normal(size=(40, 195))])
    comparison = cr.compare(
        KMeans(n_init=5),
        tables,
        n_clusters=[2, 3, 4, 5],
        agreement="ari",
        n_resamples=20,
        diagonal=False,
        rng=0,
        resampling=cr.Bootstrap(),
    )
    choice = comparison.choice(cr.null_reference(comparison, 39, null="gaussian"))
    assert not choice.eligible[0]
    assert choice.best.n_clusters > 2
    assert choice.chosen.n_clusters == 2
    assert "Farthest above data without clusters: KMeans, k = 2, " in str(choice)


# ---------------------------------------------------------------------------------------------------------------------
# skewed features


def halves(X):
    return (X[:, 0] > np.median(X[:, 0])).astype(int)


def two_values(n_high, n=40):
    """A feature with two values."""
    return 0.25 + 0.5 * (np.arange(n) < n_high)


def skewness_by_hand(values):
    mean = sum(values) / len(values)
    second, third = (sum((x - mean) ** power for x in values) / len(values) for power in (2, 3))
    return third / second**1.5


def halved(*tables):
    """Cut at the median of a first feature without skewness, in every study."""
    tables = dict(zip(["mainz", "vdx", "nki"], tables, strict=False))
    return cr.replicability(halves, tables, n_resamples=1, diagonal=False, rng=0)


@pytest.mark.parametrize("sign", [1, -1])
def test_it_is_said_where_features_are_too_skewed_for_a_gaussian(sign):
    skewed, less = two_values(6), two_values(7)
    border = 1 + 2 * np.sqrt(6 / 40)
    assert skewness_by_hand(skewed) > border > skewness_by_hand(less) > 1.6
    line = np.linspace(-1, 1, 40)
    even, very = np.c_[line, less, less], np.c_[line, sign * skewed, -sign * skewed]
    for tables, name in [((even, very), "vdx"), ((very, even), "mainz"), ((even, very + 9, even), "vdx")]:
        result = halved(*tables)
        with pytest.warns(
            DataWarning, match=f"of the features of study '{name}', or more, have a skewness above 1.8: "
        ):
            reference = cr.null_reference(result, 2, null="gaussian")
        assert len(reference.distribution) == 2
        cr.null_reference(result, 2, null="copula")  # any warning is an error here
        cr.null_reference(result, 2, null=lambda study, rng: study.X[rng.permutation(len(study))])
    cr.null_reference(halved(even, even), 2, null="gaussian")  # none is skewed enough
    cr.null_reference(
        halved(np.c_[line, line, skewed], np.c_[line, skewed, line]), 2, null="gaussian"
    )  # not half of the features


def test_the_first_skewed_study_is_named():
    rng = np.random.default_rng(2)
    even = rng.normal(size=(60, 5))
    tables = [even, rng.exponential(size=(60, 5)) ** 2, rng.exponential(size=(60, 5)) ** 3]
    with pytest.warns(
        DataWarning, match=f"of study 'vdx', or more, .* above {1 + 2 * 0.1**0.5:.1f}: .* null='one piece'"
    ):
        cr.null_reference(halved(*tables), 1, null="gaussian")


def test_small_gaussian_studies_are_seldom_called_skewed():
    said = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cr.null_reference(halved(rng.normal(size=(12, 1)), rng.normal(size=(12, 1))), 1, null="gaussian")
        said += any("skewness" in str(one.message) for one in caught)
    assert said <= 3


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.normal(size=(60, 3)) * [1, 5, 9] + 100,
        lambda rng: rng.uniform(size=(60, 3)),
        lambda rng: np.concatenate([X := np.exp(rng.normal(size=(30, 3))), -X]),  # long tails on both sides
        lambda rng: np.repeat([[0.0], [8.0]], 30, axis=0) + rng.normal(size=(60, 3)),  # two groups of one size
    ],
    ids=["gaussian", "uniform", "tails", "groups"],
)
def test_nothing_is_said_of_features_without_skewness(make):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        cr.null_reference(halved(make(rng), make(rng)), 1, null="gaussian")


def test_constant_features_have_no_skewness(rng):
    even, skewed = np.linspace(-1, 1, 40)[:, None], two_values(4)[:, None]
    constant = np.full((40, 3), 7.0)
    cr.null_reference(halved(np.c_[even, constant], np.c_[even, constant]), 2, null="gaussian")
    with pytest.warns(
        DataWarning, match=r"'vdx', or more, have a skewness above 1\.8"
    ):  # of those that are not constant
        cr.null_reference(halved(np.c_[even, constant], np.c_[skewed, constant]), 2, null="gaussian")
    with pytest.warns(DataWarning, match=r"'vdx', or more, have a skewness above 1\.8"):
        cr.null_reference(halved(constant, np.c_[skewed, skewed, skewed]), 2, null="gaussian")
    cr.null_reference(halved(constant, constant + 1), 2, null="gaussian")


@pytest.mark.parametrize("verb", ["compare", "local"])
def test_skewness_is_told_of_whatever_was_run(verb):
    tables = exponentials(0, [1.0, 1.0])
    if verb == "compare":
        result = cr.compare(WARD, tables, n_clusters=[2], n_resamples=1, diagonal=False, rng=0)
    else:
        result = cr.local_replicability(WARD, train=tables[0], test=tables[1], n_resamples=1, rng=0)
    with pytest.warns(DataWarning, match="skewness"):
        cr.null_reference(result, 1, null="gaussian")


def test_of_those_that_cannot_be_told_apart_the_one_with_most_evidence_is_looked_at():
    comparison = comparison_by_hand([[0.9, 0.7, 0.9, 0.8], [0.8, 0.8, 0.8, 0.8], [0.2, 0.2, 0.2, 0.2]], [2, 3, 4])
    null = np.random.default_rng(0).normal(scale=0.05, size=(199, 3, 1))
    near = reference_by_hand(comparison, [[0.8], [0.8], [0.2]], null + np.array([[0.5], [0.1], [0.1]]))
    choice = comparison.choice(near)
    assert (choice.best.n_clusters, [one.n_clusters for one in choice.best.rivals]) == (2, [3])
    assert choice.is_above(choice.best)
    assert choice.focus.n_clusters == 3
    far = reference_by_hand(comparison, [[0.5], [0.8], [0.9]], null + np.array([[0.5], [0.8], [0.1]]))
    choice = comparison.choice(far)
    assert not choice.is_above(choice.best)
    assert choice.focus.n_clusters == choice.chosen.n_clusters == 4
