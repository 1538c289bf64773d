"""Models that are unimodal: their margins, moments and radii, by theory and by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import kstest, norm, spearmanr

from clustrep.fitting.rotation import Rotation
from clustrep.null.gaussian import GaussianModel
from clustrep.null.margins import (
    Margin,
    continuous_margin,
    discrete_margin,
    likeliest_unimodal,
    margins_of_feature,
    shrunk_moments,
)
from clustrep.null.models import NULLS, UNIMODAL_MODELS
from clustrep.null.unimodal import (
    ComponentsModel,
    EllipticalModel,
    InStrongDirections,
    MarginsModel,
    WideEllipticalModel,
    candidate_rotations,
    falling_density,
    least_entropy,
)


def densities(margin):
    return np.diff(margin.shares) / np.diff(margin.values)


def is_unimodal(heights):
    top = int(np.argmax(heights))
    tolerance = 1e-9 * heights.max()
    return (np.diff(heights[: top + 1]) >= -tolerance).all() and (np.diff(heights[top:]) <= tolerance).all()


def two_groups(rng, n, gap=6.0):
    return rng.normal(size=n) + gap * rng.integers(2, size=n)


# ---------------------------------------------------------------------------------------------------------------------
# margins


def test_the_likeliest_unimodal_is_the_best_of_all_by_brute_force(rng):
    """With few cells of width 1, every unimodal vector of masses on a grid is tried."""
    n_steps = 8
    for _ in range(5):
        counts = rng.integers(1, 9, size=4)
        masses = counts / counts.sum()
        fitted, likelihood = likeliest_unimodal(masses, np.ones(4), [(i, i + 1) for i in range(4)])
        assert fitted.sum() == pytest.approx(1)
        assert is_unimodal(fitted)
        grid = [
            np.array(one) / n_steps for one in itertools.product(range(n_steps + 1), repeat=4) if sum(one) == n_steps
        ]
        for other in grid:
            if is_unimodal(other) and (other > 0).all():
                assert masses @ np.log(other) <= likelihood + 1e-12


def test_masses_with_one_mode_stay_as_they_are():
    masses = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    fitted, likelihood = likeliest_unimodal(masses, np.ones(5), [(i, i + 1) for i in range(5)])
    np.testing.assert_allclose(fitted, masses)
    assert likelihood == pytest.approx(masses @ np.log(masses))


def test_a_valley_is_filled_by_its_neighbours_mean():
    fitted, _ = likeliest_unimodal(np.array([0.4, 0.1, 0.3, 0.2]), np.ones(4), [(0, 1)])
    np.testing.assert_allclose(fitted, [0.4, 0.2, 0.2, 0.2])
    wide, _ = likeliest_unimodal(np.array([0.4, 0.1, 0.3, 0.2]), np.array([1.0, 2.0, 1.0, 2.0]), [(0, 1)])
    np.testing.assert_allclose(wide, [0.4, 0.4 * 2 / 3, 0.4 / 3, 0.2])


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=150),
        lambda rng: rng.exponential(size=150),
        lambda rng: two_groups(rng, 150),
        lambda rng: np.round(rng.normal(size=150), 1),
        lambda rng: rng.random(7),
    ],
)
def test_continuous_margins_have_one_mode_mean_0_and_variance_1(draw, rng):
    margin = continuous_margin(draw(rng))
    assert is_unimodal(densities(margin))
    assert margin.shares[[0, -1]].tolist() == pytest.approx([0, 1])
    values = margin.quantiles((np.arange(200_000) + 0.5) / 200_000)
    assert values.mean() == pytest.approx(0, abs=1e-3)
    assert values.std() == pytest.approx(1, abs=1e-3)


def test_one_mode_keeps_the_shape_of_unimodal_values():
    """Of 2,000 values, the margin is close to their distribution: not only its moments."""
    rng = np.random.default_rng(3)
    for draw, cdf in [
        (rng.exponential, lambda x: -np.expm1(-np.maximum(x + 1, 0))),
        (rng.random, lambda x: np.clip(x / np.sqrt(12) + 0.5, 0, 1)),
        (rng.standard_normal, norm.cdf),
    ]:
        margin = continuous_margin(draw(size=2000))
        assert kstest(margin.quantiles((np.arange(1000) + 0.5) / 1000), cdf).statistic < 0.05


def test_the_gap_between_two_groups_is_filled():
    values = two_groups(np.random.default_rng(0), 400)
    drawn = continuous_margin(values).quantiles((np.arange(4000) + 0.5) / 4000) * values.std() + values.mean()
    in_gap, drawn_in_gap = (np.mean(np.abs(x - 3) < 1) for x in (values, drawn))
    assert in_gap < 0.06
    assert drawn_in_gap > 0.12


def test_the_entropy_and_the_moments_are_those_of_known_densities():
    uniform = Margin(np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    assert uniform.entropy() == pytest.approx(np.log(4))
    assert uniform.moments() == pytest.approx((2, 4 / np.sqrt(12)))
    assert uniform.standardised().moments() == pytest.approx((0, 1))
    assert not uniform.has_ties()
    assert discrete_margin(np.array([0.0, 1.0]), np.array([0.5, 0.5])).has_ties()


def test_discrete_margins_keep_values_and_have_one_mode(rng):
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    margin = discrete_margin(values, np.array([0.3, 0.1, 0.2, 0.3, 0.1]))
    drawn = margin.quantiles(rng.random(50_000))
    assert set(np.unique(drawn)) <= set(values)
    shares = np.array([np.mean(drawn == value) for value in values])
    np.testing.assert_allclose(shares, [0.3, 0.2, 0.2, 0.2, 0.1], atol=0.01)
    two = discrete_margin(np.array([0.0, 7.0]), np.array([0.9, 0.1])).quantiles(rng.random(50_000))
    assert np.mean(two == 7) == pytest.approx(0.1, abs=0.01)


def test_studies_share_the_shape_and_have_the_moments_given(rng):
    columns = [rng.exponential(size=80), 3 + 2 * rng.exponential(size=90)]
    first, second = margins_of_feature(columns, np.array([1.0, 5.0]), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(first.shares, second.shares)
    assert first.moments() == pytest.approx((1, 1))
    assert second.moments() == pytest.approx((5, 2))


def test_a_feature_with_few_values_keeps_them_also_where_each_study_is_scaled(rng):
    binary = [rng.integers(2, size=60).astype(float) for _ in range(2)]
    for margin in margins_of_feature(binary, np.zeros(2), np.ones(2)):
        assert set(np.unique(margin.values)) == {0, 1}
    scaled = [(column - column.mean()) / column.std() for column in binary]
    for margin, column in zip(margins_of_feature(scaled, np.zeros(2), np.ones(2)), scaled, strict=True):
        np.testing.assert_array_equal(np.unique(margin.values), np.unique(column))


@pytest.mark.parametrize("sign", [1, -1])
def test_zeros_of_counts_keep_their_share(sign, rng):
    columns = [np.where(rng.random(200) < 0.4, 0.0, sign * rng.exponential(size=200)) for _ in range(2)]
    for margin in margins_of_feature(columns, np.zeros(2), np.ones(2)):
        drawn = margin.quantiles((np.arange(10_000) + 0.5) / 10_000)
        assert np.mean(drawn == 0) == pytest.approx(0.4, abs=0.08)
        assert (sign * drawn >= 0).all()


def test_moments_of_like_studies_become_the_same_and_unlike_ones_stay(rng):
    alike = [rng.normal(size=(50, 3)) for _ in range(3)]
    means, sds = shrunk_moments(alike)
    assert np.ptp(means, axis=0).max() == 0
    ratios = sds / sds[0]
    np.testing.assert_allclose(ratios, ratios[:, :1] * np.ones(3))  # but for the scale of a study
    unlike = [rng.normal(size=(400, 2)) * sd + mean for sd, mean in (([1, 5], [0, 0]), ([5, 1], [9, 0]))]
    means, sds = shrunk_moments(unlike)
    np.testing.assert_allclose(means, [X.mean(axis=0) for X in unlike], atol=0.5)
    np.testing.assert_allclose(sds, [X.std(axis=0) for X in unlike], rtol=0.1)


# ---------------------------------------------------------------------------------------------------------------------
# collections


def sizes_of(tables):
    return [X.shape for X in tables]


@pytest.mark.parametrize("name", UNIMODAL_MODELS)
@pytest.mark.parametrize("p", [1, 2, 5, 30, 150])
def test_drawn_studies_have_the_shape_of_the_studies(name, p, rng):
    tables = [rng.normal(size=(n, p)) for n in (20, 30)]
    collection = NULLS[name].learn(tables)
    drawn = collection.draw(rng)
    assert sizes_of(drawn) == sizes_of(tables)
    assert all(np.isfinite(X).all() for X in drawn)


@pytest.mark.parametrize("name", UNIMODAL_MODELS)
def test_drawn_studies_have_the_means_and_covariances_of_the_studies(name):
    rng = np.random.default_rng(4)
    turn = np.array([[1.0, 0.6], [0.0, 0.8]])
    tables = [(rng.normal(size=(3000, 2)) * [3, 1]) @ turn + mean for mean in ([0, 0], [5, 1])]
    drawn = NULLS[name].learn(tables).draw(rng)
    for X, simulated in zip(tables, drawn, strict=True):
        np.testing.assert_allclose(simulated.mean(axis=0), X.mean(axis=0), atol=0.25)
        np.testing.assert_allclose(np.cov(simulated.T), np.cov(X.T), rtol=0.15, atol=0.1)


@pytest.mark.parametrize("name", UNIMODAL_MODELS)
def test_constant_tables_and_the_smallest_studies_can_be_simulated(name, rng):
    for tables in (
        [np.ones((8, 3)), np.ones((9, 3))],
        [np.c_[rng.normal(size=(20, 1)), np.ones(20)], np.c_[rng.normal(size=(20, 1)), np.ones(20)]],
        [rng.normal(size=(2, 3)), rng.normal(size=(2, 3))],
        [rng.normal(size=(2, 1)), rng.normal(size=(3, 1))],
    ):
        drawn = NULLS[name].learn(tables).draw(rng)
        assert sizes_of(drawn) == sizes_of(tables)
        assert all(np.isfinite(X).all() for X in drawn)
    np.testing.assert_allclose(NULLS[name].learn([np.ones((8, 3)), np.ones((9, 3))]).draw(rng)[0], 1)


def test_the_models_follow_the_number_of_features(rng):
    few, many, wide = ([rng.normal(size=(40, p)) for _ in range(2)] for p in (3, 30, 200))
    assert type(NULLS["elliptical"].learn(few)) is EllipticalModel
    assert type(NULLS["elliptical"].learn(many)) is WideEllipticalModel
    assert type(NULLS["margins"].learn(many)) is MarginsModel
    assert type(NULLS["margins"].learn(wide)) is InStrongDirections
    assert type(NULLS["components"].learn(few)) is ComponentsModel
    assert type(NULLS["components"].learn(many)) is InStrongDirections


def test_the_density_of_a_ball_stays_level_and_that_of_a_gaussian_falls():
    rng = np.random.default_rng(0)
    p, n = 3, 2000
    ball = falling_density(rng.random(n) ** (1 / p), p)
    grid = (np.arange(2000) + 0.5) / 2000
    level = grid ** (1 / p) / np.sqrt(np.mean(grid ** (2 / p)))
    np.testing.assert_allclose(ball.quantiles(grid), level, atol=0.06)
    radii = falling_density(np.linalg.norm(rng.normal(size=(n, p)), axis=1), p).quantiles(grid)
    volumes = radii**p
    counts, edges = np.histogram(volumes, bins=np.quantile(volumes, np.linspace(0, 1, 9)))
    heights = counts / np.diff(edges)
    assert (np.diff(heights) <= 0.05 * heights.max()).all()
    assert heights[0] > 5 * heights[-1]


def test_two_distant_groups_have_no_falling_density_and_lose_their_gap():
    rng = np.random.default_rng(1)
    tables = [np.c_[two_groups(rng, 200, 8), rng.normal(size=200)] for _ in range(2)]
    for name in UNIMODAL_MODELS:
        (X, _) = NULLS[name].learn(tables).draw(np.random.default_rng(5))
        first = X[:, 0]
        middle = np.abs(first - 4) < 1
        outer = np.abs(first - 1) < 1
        assert middle.sum() > 0.7 * outer.sum(), name
        assert first.std() == pytest.approx(tables[0][:, 0].std(), rel=0.15)


def test_distances_from_the_mean_of_many_features_are_those_of_the_data():
    rng = np.random.default_rng(2)
    scale = np.sqrt(5 / rng.chisquare(5, size=(2, 60, 1)))
    tables = list(rng.normal(size=(2, 60, 60)) * scale)
    lengths = np.sort(np.concatenate([np.linalg.norm(X - X.mean(axis=0), axis=1) for X in tables]))
    drawn = np.concatenate(
        [np.linalg.norm(X - X.mean(axis=0), axis=1) for X in NULLS["elliptical"].learn(tables).draw(rng)]
    )
    assert np.std(drawn) / np.mean(drawn) == pytest.approx(np.std(lengths) / np.mean(lengths), rel=0.35)
    gaussian = np.concatenate([np.linalg.norm(X, axis=1) for X in GaussianModel.of(tables).draw(rng)])
    assert np.std(drawn) / np.mean(drawn) > 2 * np.std(gaussian) / np.mean(gaussian)


def test_a_copula_with_unimodal_margins_keeps_order_among_features_and_single_values():
    rng = np.random.default_rng(6)
    z = rng.multivariate_normal(np.zeros(3), 0.6 + 0.4 * np.eye(3), size=(2, 400))
    tables = [np.c_[np.exp(X[:, 0]), X[:, 1], X[:, 2] > 0.5].astype(float) for X in z]
    drawn = NULLS["margins"].learn(tables).draw(rng)
    for X, simulated in zip(tables, drawn, strict=True):
        assert set(np.unique(simulated[:, 2])) == {0, 1}
        assert simulated[:, 0].min() > -0.2
        assert simulated[:, 2].mean() == pytest.approx(X[:, 2].mean(), abs=0.08)
        np.testing.assert_allclose(spearmanr(simulated).statistic, spearmanr(X).statistic, atol=0.12)


def test_turned_components_are_found():
    """A square that stands on its corner, and two skewed factors: components up to order and sign."""
    rng = np.random.default_rng(7)
    turn = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    for sources in (rng.random((600, 2)), rng.exponential(size=(600, 2))):
        white = (sources - sources.mean(axis=0)) / sources.std(axis=0) @ turn
        matches = []
        for rotation in candidate_rotations(white)[1:]:
            np.testing.assert_allclose(rotation @ rotation.T, np.eye(2), atol=1e-6)
            product = np.abs(turn @ rotation)
            matches.append(product.max(axis=0).min())
        assert max(matches) > 0.99


def test_the_rotation_of_least_entropy_undoes_a_turn():
    rng = np.random.default_rng(8)
    angle = 0.5
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    X = (rng.random((800, 2)) - 0.5) * np.sqrt(12) @ turn
    assert np.abs(turn @ least_entropy(X)).max(axis=0).min() > 0.995


def test_in_coordinates_drawn_studies_have_the_distances_of_all_features():
    """Squared lengths and inner products between studies, over many draws: their means agree with those in features."""
    rng = np.random.default_rng(9)
    factors = rng.normal(size=(2, 150))
    tables = [rng.normal(size=(n, 2)) * [3, 2] @ factors / 4 + rng.normal(size=(n, 150)) for n in (20, 25)]
    for name in UNIMODAL_MODELS:
        in_features = NULLS[name].learn(tables)
        coordinates = NULLS[name].learn_in_coordinates(Rotation.of(tables))

        def lengths(collection, seed):
            draws = [np.concatenate(collection.draw(np.random.default_rng([seed, i]))) for i in range(60)]
            within = [np.sum((X[:20] - X[:20].mean(axis=0)) ** 2) for X in draws]
            between = [np.sum((X[:20].mean(axis=0) - X[20:].mean(axis=0)) ** 2) for X in draws]
            return np.mean(within), np.mean(between)

        np.testing.assert_allclose(lengths(coordinates, 1), lengths(in_features, 2), rtol=0.12, err_msg=name)
