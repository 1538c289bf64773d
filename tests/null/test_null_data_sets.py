"""Data without clusters: what is simulated, for one study and for several."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import ks_2samp, spearmanr
from tests.null.null_cases import gaussians

import clustrep as cr
from clustrep.errors import DataError
from clustrep.fitting.rotation import Rotation
from clustrep.null.gaussian import GaussianModel, structures_of
from clustrep.null.models import CopulaModel, GivenModel, null_model_of
from clustrep.resampling.gaussian import GaussianNull, covariance_factor, principal_axes

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


def covariance_of(structure):
    p = structure.axes.shape[1]
    extra = structure.variances - structure.noise
    return structure.noise * np.eye(p) + structure.axes.T @ np.diag(extra) @ structure.axes


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
    collection = GaussianModel.of(tables)
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
        first, second = GaussianModel.of(tables).structures
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
        for one, X in zip(GaussianModel.of(tables).structures, tables, strict=True):
            variance = np.var(X, axis=0, ddof=1).mean()
            assert one.noise * (p - len(one.variances)) + one.variances.sum() == pytest.approx(p * variance)
            assert len(one.variances) <= 1
            assert one.noise == pytest.approx(4, rel=0.25 if p == 5 else 0.1)


@pytest.mark.parametrize("p", [4, 90])
def test_means_and_covariances_turn_and_shift_with_the_data(p, rng):
    tables = gaussians(3, np.r_[4, 2, np.ones(p - 2)], (25, 35))
    turn, shift = np.linalg.qr(rng.normal(size=(p, p)))[0], rng.normal(size=p) * 10
    before = GaussianModel.of(tables).structures
    after = GaussianModel.of([X @ turn + shift for X in tables]).structures
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(covariance_of(other), turn.T @ covariance_of(one) @ turn, atol=1e-8)
        np.testing.assert_allclose(other.mean, one.mean @ turn + shift, atol=1e-8)


def test_constant_tables_and_the_smallest_studies_can_be_simulated(rng):
    for tables in ([np.ones((4, 3)), np.ones((2, 3))], [np.ones((4, 30)), np.ones((2, 30))]):
        for X, simulated in zip(tables, GaussianModel.of(tables).draw(rng), strict=True):
            np.testing.assert_array_equal(simulated, X)
    pairs = [rng.normal(size=(2, 3)), rng.normal(size=(2, 3))]
    assert all(np.isfinite(X).all() and X.shape == (2, 3) for X in GaussianModel.of(pairs).draw(rng))


def test_coordinates_with_a_triangle_have_the_distances_of_all_features(rng):
    sizes, p, n_draws = (8, 12), 60, 3000
    tables = [
        rng.normal(size=(8, p)) * np.r_[6, np.ones(p - 1)],
        rng.normal(size=(12, p)) + np.r_[np.zeros(p - 1), 12],
    ]
    in_features = GaussianModel.of(tables)
    coordinates = GaussianModel.in_coordinates(Rotation.of(tables))
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
    collection = CopulaModel.of(tables)
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
    collection = CopulaModel.of(tables)
    for X, drawn in zip(tables, zip(*(collection.draw(rng) for _ in range(100)), strict=True), strict=True):
        pooled = np.concatenate(drawn)
        assert (pooled[:, 1] == 7).all()
        for j in (0, 2):
            assert pooled[:, j].min() >= X[:, j].min()
            assert pooled[:, j].max() <= X[:, j].max()
            assert np.mean(pooled[:, j] == 0) == pytest.approx(np.mean(X[:, j] == 0), abs=0.06)
    constant = [np.ones((5, 2)), np.ones((4, 2))]
    for X, simulated in zip(constant, CopulaModel.of(constant).draw(rng), strict=True):
        np.testing.assert_array_equal(simulated, X)


def test_a_sampler_is_asked_for_one_study_after_the_other_and_checked(rng):
    studies = tuple(cr.Study(rng.normal(size=(n, 3)), name) for n, name in [(5, "mainz"), (7, "vdx")])
    seen = []

    def remember(study, rng):
        seen.append(study.name)
        return study.X[::-1]

    drawn = GivenModel(studies, remember).draw(rng)
    assert seen == ["mainz", "vdx"]
    for study, X in zip(studies, drawn, strict=True):
        np.testing.assert_array_equal(X, study.X[::-1])
    with pytest.raises(DataError, match=r"null must return a table like study 'mainz', of \(5, 3\), got \(4, 3\)"):
        GivenModel(studies, lambda study, rng: study.X[1:]).draw(rng)
    with pytest.raises(DataError, match="What null returned for study 'mainz'"):
        GivenModel(studies, lambda study, rng: study.X * np.nan).draw(rng)
    with pytest.raises(DataError, match="What null returned for study 'mainz'"):
        GivenModel(studies, lambda study, rng: study.X[0]).draw(rng)


def test_nulls_are_found_by_name(rng):
    studies = [cr.Study(rng.normal(size=(9, 2)), name) for name in "ab"]
    assert type(null_model_of("gaussian", studies)) is GaussianModel
    assert type(null_model_of("copula", studies)) is CopulaModel
    assert type(null_model_of(lambda study, rng: study.X, studies)) is GivenModel


def test_clusters_of_a_simulated_collection_are_learned_once_in_each_study():
    calls = []

    def cut(X):
        calls.append(len(X))
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    train, test = (np.random.default_rng(i).normal(size=(20, 2)) for i in range(2))
    local = cr.local_replicability(cut, train=train, test=test, n_resamples=1, rng=0)
    calls.clear()
    cr.null_reference(local, 5)
    simulated = calls[-2 * 5 :]
    assert len(simulated) == 10
    assert len(calls) - len(simulated) <= 2  # the result itself
