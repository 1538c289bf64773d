"""Null models: margins, moments, radii and draws, by theory and by brute force."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import ks_2samp, kstest, norm, spearmanr
from tests.null.cases import gaussians

import clustrep as cr
from clustrep.errors import DataError
from clustrep.fitting.rotation import Rotation
from clustrep.null.gaussian import GaussianModel, Learned, structures_of
from clustrep.null.margins import (
    Margin,
    continuous_margin,
    discrete_margin,
    likeliest_unimodal,
    margins_of_feature,
    shrunk_moments,
)
from clustrep.null.models import (
    NULLS,
    PERMUTED,
    UNIMODAL_MODELS,
    candidate_rotations,
    draw_components,
    draw_elliptical,
    draw_in_strong_directions,
    draw_margins,
    draw_wide_elliptical,
    falling_density,
    least_entropy,
    null_model_of,
)
from clustrep.resampling.gaussian import covariance_factor, principal_axes
from clustrep.stability.significance import draw_like


def learn(name, tables):
    return NULLS[name](Learned(tuple(tables), tables[0].shape[1]))


def in_coordinates(name, tables):
    rotation = Rotation.of(tables)
    return NULLS[name](Learned(rotation.coordinates, rotation.n_features))


def is_unimodal(heights):
    top = int(np.argmax(heights))
    tolerance = 1e-9 * heights.max()
    return (np.diff(heights[: top + 1]) >= -tolerance).all() and (np.diff(heights[top:]) <= tolerance).all()


def two_clusters(rng, n, apart=6.0):
    return rng.normal(size=n) + apart * rng.integers(2, size=n)


GRID = (np.arange(10_000) + 0.5) / 10_000

# ---------------------------------------------------------------------------------------------------------------------
# margins


def test_the_likeliest_unimodal_is_the_best_of_all_by_brute_force(rng):
    """With few cells of width 1, every unimodal vector of masses on a grid is tried."""
    grid = [np.array(one) / 8 for one in itertools.product(range(1, 9), repeat=4) if sum(one) == 8]
    for _ in range(5):
        counts = rng.integers(1, 9, size=4)
        masses = counts / counts.sum()
        fitted, likelihood = likeliest_unimodal(masses, np.ones(4), [(i, i + 1) for i in range(4)])
        assert fitted.sum() == pytest.approx(1)
        assert is_unimodal(fitted)
        assert all(masses @ np.log(other) <= likelihood + 1e-12 for other in grid if is_unimodal(other))


def test_a_valley_is_filled_by_its_neighbours_mean_and_one_mode_stays():
    masses, top = np.array([0.4, 0.1, 0.3, 0.2]), [(0, 1)]
    np.testing.assert_allclose(likeliest_unimodal(masses, np.ones(4), top)[0], [0.4, 0.2, 0.2, 0.2])
    wide = likeliest_unimodal(masses, np.array([1.0, 2.0, 1.0, 2.0]), top)[0]
    np.testing.assert_allclose(wide, [0.4, 0.4 * 2 / 3, 0.4 / 3, 0.2])
    one_mode = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    fitted, likelihood = likeliest_unimodal(one_mode, np.ones(5), [(i, i + 1) for i in range(5)])
    np.testing.assert_allclose(fitted, one_mode)
    assert likelihood == pytest.approx(one_mode @ np.log(one_mode))


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=150),
        lambda rng: rng.exponential(size=150),
        lambda rng: two_clusters(rng, 150),
        lambda rng: np.round(rng.normal(size=150), 1),
        lambda rng: rng.random(7),
    ],
    ids=["normal", "exponential", "two clusters", "rounded", "seven values"],
)
def test_continuous_margins_have_one_mode_mean_0_and_variance_1(draw, rng):
    margin = continuous_margin(draw(rng))
    assert is_unimodal(np.diff(margin.shares) / np.diff(margin.values))
    assert margin.shares[[0, -1]].tolist() == pytest.approx([0, 1])
    assert margin.moments() == pytest.approx((0, 1))
    values = margin.quantiles(GRID)
    assert (values.mean(), values.std()) == pytest.approx((0, 1), abs=2e-3)


def test_one_mode_keeps_the_shape_of_unimodal_values_and_fills_the_middle_of_two_clusters():
    rng = np.random.default_rng(3)
    for draw, cdf in [
        (rng.exponential, lambda x: -np.expm1(-np.maximum(x + 1, 0))),
        (rng.random, lambda x: np.clip(x / np.sqrt(12) + 0.5, 0, 1)),
        (rng.standard_normal, norm.cdf),
    ]:
        assert kstest(continuous_margin(draw(size=2000)).quantiles(GRID), cdf).statistic < 0.05
    values = two_clusters(np.random.default_rng(0), 400)
    drawn = continuous_margin(values).quantiles(GRID) * values.std() + values.mean()
    assert np.mean(np.abs(values - 3) < 1) < 0.06
    assert np.mean(np.abs(drawn - 3) < 1) > 0.12


def test_entropy_moments_and_ties_are_those_of_known_distributions(rng):
    uniform = Margin(np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    assert uniform.entropy() == pytest.approx(np.log(4))
    assert uniform.moments() == pytest.approx((2, 4 / np.sqrt(12)))
    assert not uniform.has_ties()
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    discrete = discrete_margin(values, np.array([0.3, 0.1, 0.2, 0.3, 0.1]))
    assert discrete.has_ties()
    drawn = discrete.quantiles(rng.random(50_000))
    shares = [np.mean(drawn == value) for value in values]
    np.testing.assert_allclose(shares, [0.3, 0.2, 0.2, 0.2, 0.1], atol=0.01)
    two = discrete_margin(np.array([0.0, 7.0]), np.array([0.9, 0.1])).quantiles(rng.random(50_000))
    assert np.mean(two == 7) == pytest.approx(0.1, abs=0.01)


def test_a_feature_of_several_studies_shares_its_shape_or_keeps_its_few_values(rng):
    columns = [rng.exponential(size=80), 3 + 2 * rng.exponential(size=90)]
    first, second = margins_of_feature(columns, np.array([1.0, 5.0]), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(first.shares, second.shares)
    assert (first.moments(), second.moments()) == (pytest.approx((1, 1)), pytest.approx((5, 2)))
    binary = [rng.integers(2, size=60).astype(float) for _ in range(2)]
    scaled = [(column - column.mean()) / column.std() for column in binary]
    for columns in (binary, scaled):
        for margin, column in zip(margins_of_feature(columns, np.zeros(2), np.ones(2)), columns, strict=True):
            np.testing.assert_array_equal(np.unique(margin.values), np.unique(column))
    for sign in (1, -1):
        counts = [np.where(rng.random(200) < 0.4, 0.0, sign * rng.exponential(size=200)) for _ in range(2)]
        for margin in margins_of_feature(counts, np.zeros(2), np.ones(2)):
            drawn = margin.quantiles(GRID)
            assert np.mean(drawn == 0) == pytest.approx(0.4, abs=0.08)
            assert (sign * drawn >= 0).all()


def test_moments_of_like_studies_become_the_same_and_unlike_ones_stay(rng):
    means, sds = shrunk_moments([rng.normal(size=(50, 3)) for _ in range(3)])
    assert np.ptp(means, axis=0).max() == 0
    np.testing.assert_allclose(sds / sds[0], (sds / sds[0])[:, :1] * np.ones(3))  # but for the scale of a study
    unlike = [rng.normal(size=(400, 2)) * sd + mean for sd, mean in (([1, 5], [0, 0]), ([5, 1], [9, 0]))]
    means, sds = shrunk_moments(unlike)
    np.testing.assert_allclose(means, [X.mean(axis=0) for X in unlike], atol=0.5)
    np.testing.assert_allclose(sds, [X.std(axis=0) for X in unlike], rtol=0.1)


# ---------------------------------------------------------------------------------------------------------------------
# Gaussians


@pytest.mark.parametrize("shape", [(30, 4), (6, 20), (5, 5), (2, 3)])
def test_factors_axes_and_draws_are_those_of_the_sample_covariance(shape, rng):
    X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1])) + 5
    R, axes = covariance_factor(X), principal_axes(X)
    S = np.cov(X, rowvar=False)
    np.testing.assert_allclose(R.T @ R, S, atol=1e-10)
    np.testing.assert_allclose(covariance_factor(X[::-1]), R, atol=1e-8)  # the order of rows is nothing
    np.testing.assert_allclose(axes @ axes.T, np.eye(min(shape)), atol=1e-12)
    variances = np.var((X - X.mean(axis=0)) @ axes.T, axis=0, ddof=1)
    np.testing.assert_allclose(variances, np.linalg.eigvalsh(S)[::-1][: min(shape)], atol=1e-8)
    assert (axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)] > 0).all()
    draw = partial(draw_like, X.mean(axis=0), R, len(X))
    draws = np.concatenate([draw(np.random.default_rng(i))[0] for i in range(40_000 // len(X))])
    scale = np.sqrt(np.outer(np.diag(S), np.diag(S)))
    assert np.abs((np.cov(draws, rowvar=False) - S) / scale).max() < 0.05
    np.testing.assert_allclose((draws.mean(axis=0) - X.mean(axis=0)) / np.sqrt(np.diag(S)), 0, atol=0.03)


def covariance_of(structure):
    extra = structure.variances - structure.noise
    return structure.noise * np.eye(structure.axes.shape[1]) + structure.axes.T @ np.diag(extra) @ structure.axes


def test_with_one_feature_means_are_shrunk_as_by_hand(rng):
    tables = [rng.normal(size=(n, 1)) * sd + mean for n, sd, mean in [(12, 1, 0), (30, 1.3, 2.2), (20, 4, 3.2)]]
    own, sizes = [float(np.var(X, ddof=1)) for X in tables], [len(X) for X in tables]
    n_all, centre = sum(sizes), np.concatenate(tables).mean()
    of_means = [s / n for s, n in zip(own, sizes, strict=True)]
    of_centre = sum((n / n_all) ** 2 * v for n, v in zip(sizes, of_means, strict=True))
    shares = []
    for one, X, n, s, v in zip(structures_of(tables, 1), tables, sizes, own, of_means, strict=True):
        assert one.noise == pytest.approx(s)  # the scale is a study's own, and one feature has nothing else
        expected = v - 2 * n / n_all * v + of_centre  # the variance of the mean's distance to the centre
        shares.append(1 - min(1, 2 * expected / (X.mean() - centre) ** 2))
        assert one.mean == pytest.approx(centre + shares[-1] * (X.mean() - centre))
    assert any(0 < kept < 1 for kept in shares)
    assert 0 in shares


def test_different_studies_stay_different_and_equal_ones_become_equal():
    n_equal = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        equal = structures_of([rng.normal(size=(n, 4)) * [3, 1, 1, 1] for n in (50, 80)], 4)
        one, other = (covariance_of(each) / np.trace(covariance_of(each)) for each in equal)  # scales are their own
        n_equal += np.allclose(one, other) and np.allclose(equal[0].mean, equal[1].mean)
        other = structures_of([rng.normal(size=(60, 4)) * sd + at for sd, at in [(1, 0), ([1, 6, 1, 1], 4)]], 4)
        assert covariance_of(other[1])[1, 1] > 5 * covariance_of(other[0])[1, 1]
        assert (other[1].mean - other[0].mean > 2).all()
    assert n_equal >= 12


def test_strong_directions_in_many_features_are_found_and_lose_what_noise_added():
    found = []
    for seed in range(8):
        for one in GaussianModel.of(gaussians(seed, np.array([10.0, 6.0] + [1.0] * 298), (60, 60))).structures:
            assert len(one.axes) in (2, 3)  # at times, noise reaches a little farther than it should
            assert np.abs(one.axes[[0, 1], [0, 1]]).min() > 0.85
            assert one.noise == pytest.approx(1, rel=0.1)
        found.append(one.variances[:2])
    np.testing.assert_allclose(np.mean(found, axis=0), [100, 36], rtol=0.1)
    for p in (5, 200):
        for one in GaussianModel.of(gaussians(1, np.full(p, 2.0), (30, 30))).structures:
            assert len(one.variances) <= 1
            assert one.noise == pytest.approx(4, rel=0.25 if p == 5 else 0.1)


@pytest.mark.parametrize("p", [4, 90])
def test_means_and_covariances_turn_and_shift_with_the_data(p, rng):
    tables = gaussians(3, np.r_[4, 2, np.ones(p - 2)], (25, 35))
    turn, shift = np.linalg.qr(rng.normal(size=(p, p)))[0], rng.normal(size=p) * 10
    turned = GaussianModel.of([X @ turn + shift for X in tables]).structures
    for one, other in zip(GaussianModel.of(tables).structures, turned, strict=True):
        np.testing.assert_allclose(covariance_of(other), turn.T @ covariance_of(one) @ turn, atol=1e-8)
        np.testing.assert_allclose(other.mean, one.mean @ turn + shift, atol=1e-8)


def test_coordinates_with_a_triangle_have_the_distances_of_all_features(rng):
    sizes, p, n_draws = (8, 12), 60, 1500
    tables = [
        rng.normal(size=(8, p)) * np.r_[6, np.ones(p - 1)],
        rng.normal(size=(12, p)) + np.r_[np.zeros(p - 1), 12],
    ]
    rotation = Rotation.of(tables)
    models = [GaussianModel.of(tables), Learned(rotation.coordinates, rotation.n_features).gaussian]
    assert models[1].beyond == p - len(models[1].structures[0].mean)
    # Noise of its own in the second study, which so few samples would not tell.
    noisier = [replace(one.structures[1], noise=4 * one.structures[1].noise) for one in models]
    models = [replace(one, structures=(one.structures[0], more)) for one, more in zip(models, noisier, strict=True)]
    samples = [
        np.array([pdist(np.concatenate(model.draw(rng)), "sqeuclidean") for _ in range(n_draws)]) for model in models
    ]
    structures = models[0].structures
    traces = [one.noise * p + np.maximum(one.variances - one.noise, 0).sum() for one in structures]
    study, between = np.repeat([0, 1], sizes), np.sum((structures[0].mean - structures[1].mean) ** 2)
    pairs = list(itertools.combinations(range(20), 2))
    theory = [traces[study[i]] + traces[study[j]] + between * (study[i] != study[j]) for i, j in pairs]
    for distances in samples:
        z = (distances.mean(axis=0) - theory) / (distances.std(axis=0) / np.sqrt(n_draws))
        assert np.abs(z).max() < 4.5
    variances = [distances.var(axis=0).mean() for distances in samples]
    assert variances[1] == pytest.approx(variances[0], rel=0.05)
    # Distances that share a sample are as dependent as they should be.
    at = {pair: place for place, pair in enumerate(pairs)}
    for i, j, k in [(0, 1, 2), (0, 9, 10), (9, 12, 19)]:
        dependence = [np.corrcoef(d[:, at[i, j]], d[:, at[i, k]])[0, 1] for d in samples]
        assert abs(dependence[0] - dependence[1]) < 0.12


# ---------------------------------------------------------------------------------------------------------------------
# every model


@pytest.mark.parametrize("name", NULLS)
def test_drawn_studies_have_the_shape_of_the_studies_also_where_these_are_odd(name, rng):
    column = rng.normal(size=(20, 1))
    for tables in (
        *([rng.normal(size=(n, p)) for n in (20, 30)] for p in (1, 2, 5, 30, 150)),
        [np.ones((8, 3)), np.ones((9, 3))],
        [np.ones((4, 30)), np.ones((2, 30))],
        [np.c_[column, np.ones(20)], np.c_[column + 1, np.ones(20)]],
        [rng.normal(size=(2, 3)), rng.normal(size=(2, 3))],
    ):
        drawn = learn(name, tables)(rng)
        assert [X.shape for X in drawn] == [X.shape for X in tables]
        assert all(np.isfinite(X).all() for X in drawn)
        if not np.ptp(tables[0]):
            np.testing.assert_allclose(drawn[0], 1)


@pytest.mark.parametrize("name", NULLS)
def test_drawn_studies_have_the_means_and_covariances_of_the_studies(name):
    rng = np.random.default_rng(4)
    turn = np.array([[1.0, 0.6], [0.0, 0.8]])
    tables = [(rng.normal(size=(3000, 2)) * [3, 1]) @ turn + mean for mean in ([0, 0], [5, 1])]
    for X, simulated in zip(tables, learn(name, tables)(rng), strict=True):
        np.testing.assert_allclose(simulated.mean(axis=0), X.mean(axis=0), atol=0.25)
        np.testing.assert_allclose(np.cov(simulated.T), np.cov(X.T), rtol=0.15, atol=0.1)


@pytest.mark.parametrize("name", UNIMODAL_MODELS)
def test_two_distant_clusters_lose_their_valley(name):
    rng = np.random.default_rng(1)
    tables = [np.c_[two_clusters(rng, 200, 8), rng.normal(size=200)] for _ in range(2)]
    first = learn(name, tables)(np.random.default_rng(5))[0][:, 0]
    assert np.sum(np.abs(first - 4) < 1) > 0.7 * np.sum(np.abs(first - 1) < 1)
    assert first.std() == pytest.approx(tables[0][:, 0].std(), rel=0.15)


def test_the_models_follow_the_number_of_features(rng):
    few, many, wide = ([rng.normal(size=(40, p)) for _ in range(2)] for p in (3, 30, 200))
    kinds = {
        draw_elliptical: ("elliptical", few),
        draw_wide_elliptical: ("elliptical", many),
        draw_margins: ("margins", many),
        draw_components: ("components", few),
    }
    for kind, (name, tables) in kinds.items():
        assert learn(name, tables).func is kind
    assert learn("margins", wide).func is learn("components", many).func is draw_in_strong_directions


@pytest.mark.parametrize("name", UNIMODAL_MODELS)
def test_in_coordinates_drawn_studies_have_the_distances_of_all_features(name):
    """Sums of squares within and between studies, over many draws: their means agree with those in features."""
    rng = np.random.default_rng(9)
    factors = rng.normal(size=(2, 150))
    tables = [rng.normal(size=(n, 2)) * [3, 2] @ factors / 4 + rng.normal(size=(n, 150)) for n in (20, 25)]

    def squares(model, seed):
        draws = [np.concatenate(model(np.random.default_rng([seed, i]))) for i in range(60)]
        within = [np.sum((X[:20] - X[:20].mean(axis=0)) ** 2) for X in draws]
        between = [np.sum((X[:20].mean(axis=0) - X[20:].mean(axis=0)) ** 2) for X in draws]
        return np.mean(within), np.mean(between)

    np.testing.assert_allclose(squares(in_coordinates(name, tables), 1), squares(learn(name, tables), 2), rtol=0.12)


# ---------------------------------------------------------------------------------------------------------------------
# what is particular to each


def test_the_density_of_a_ball_stays_level_and_that_of_a_gaussian_falls():
    rng, p = np.random.default_rng(0), 3
    ball = falling_density(rng.random(2000) ** (1 / p), p)
    np.testing.assert_allclose(ball.quantiles(GRID), GRID ** (1 / p) / np.sqrt(np.mean(GRID ** (2 / p))), atol=0.07)
    volumes = falling_density(np.linalg.norm(rng.normal(size=(2000, p)), axis=1), p).quantiles(GRID) ** p
    counts, edges = np.histogram(volumes, bins=np.quantile(volumes, np.linspace(0, 1, 9)))
    heights = counts / np.diff(edges)
    assert (np.diff(heights) <= 0.05 * heights.max()).all()
    assert heights[0] > 5 * heights[-1]


def test_distances_from_the_mean_of_many_features_are_those_of_the_data():
    rng = np.random.default_rng(2)
    tables = list(rng.normal(size=(2, 60, 60)) * np.sqrt(5 / rng.chisquare(5, size=(2, 60, 1))))

    def variation(studies):
        lengths = np.concatenate([np.linalg.norm(X - X.mean(axis=0), axis=1) for X in studies])
        return np.std(lengths) / np.mean(lengths)

    elliptical, gaussian = (variation(learn(name, tables)(rng)) for name in ("elliptical", "gaussian"))
    assert elliptical == pytest.approx(variation(tables), rel=0.35)
    assert elliptical > 1.5 * gaussian


def test_copulas_keep_order_among_features_and_single_values():
    rng = np.random.default_rng(6)
    z = rng.multivariate_normal(np.zeros(3), 0.6 + 0.4 * np.eye(3), size=(2, 400), method="cholesky")
    tables = [np.c_[np.exp(X[:, 0]), X[:, 1], X[:, 2] > 0.5].astype(float) for X in z]
    for name in ("margins", "copula"):
        for X, simulated in zip(tables, learn(name, tables)(rng), strict=True):
            assert simulated[:, 2].mean() == pytest.approx(X[:, 2].mean(), abs=0.08)
            ranks = [spearmanr(table).statistic for table in (simulated, X)]
            np.testing.assert_allclose(*ranks, atol=0.12 if name == "margins" else 0.25)  # ties weaken the others
            assert simulated[:, 0].min() > -0.5
    model = learn("copula", tables)
    pooled = np.concatenate([model(rng)[0] for _ in range(60)])
    assert (pooled.min(axis=0) >= tables[0].min(axis=0)).all()
    assert max(ks_2samp(tables[0][:, j], pooled[:, j]).statistic for j in (0, 1)) < 0.05


def test_turned_components_are_found():
    """A square that stands on its corner, and two skewed factors: components up to order and sign."""
    rng = np.random.default_rng(7)
    turn = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    for sources in (rng.random((600, 2)), rng.exponential(size=(600, 2))):
        white = (sources - sources.mean(axis=0)) / sources.std(axis=0) @ turn
        rotations = candidate_rotations(white)[1:]
        for rotation in rotations:
            np.testing.assert_allclose(rotation @ rotation.T, np.eye(2), atol=1e-6)
        assert max(np.abs(turn @ rotation).max(axis=0).min() for rotation in rotations) > 0.99
        assert np.abs(turn @ least_entropy(white)).max(axis=0).min() > 0.99


def test_samplers_and_permutations_are_asked_study_by_study_and_checked(rng):
    studies = tuple(cr.Study(rng.normal(size=(n, 3)), name) for n, name in [(5, "mainz"), (7, "vdx")])
    drawn = null_model_of(lambda study, rng: study.X[::-1], studies)(rng)
    for study, X in zip(studies, drawn, strict=True):
        np.testing.assert_array_equal(X, study.X[::-1])
    for sampler in (
        lambda study, rng: study.X[1:],
        lambda study, rng: study.X * np.nan,
        lambda study, rng: study.X[0],
        lambda study: study.X,
    ):
        with pytest.raises(DataError):
            null_model_of(sampler, studies)(rng)
    tables = (np.arange(6.0)[:, None], np.arange(4.0)[:, None])
    drawn = null_model_of(PERMUTED, [cr.Study(X, "a") for X in tables])(np.random.default_rng(1))
    assert [sorted(X.ravel().tolist()) for X in drawn] == [X.ravel().tolist() for X in tables]
    assert not np.array_equal(drawn[0], tables[0])
