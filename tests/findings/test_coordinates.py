"""Coordinates: errors of entry, ties, scales, and the axes of a planted signal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from clustrep.findings.coordinates import (
    AS_GIVEN,
    BY_SPREAD,
    EXTREME,
    FEWEST_AXES,
    MOST_AXES,
    coordinates_of,
    is_extreme,
    principal_axes,
    uniform_by_study,
    within_sd,
    without_extremes,
)
from clustrep.findings.find import best_of
from clustrep.findings.model import Model


def test_an_error_of_entry_is_drawn_to_the_border(rng):
    X = rng.normal(11, 1, size=(200, 2))
    X[7, 0] = 1138.0
    study = np.repeat([0, 1], 100)
    drawn = without_extremes(X, study)
    low, middle, high = np.quantile(X[:100, 0], [0.25, 0.5, 0.75])
    assert drawn[7, 0] == pytest.approx(middle + EXTREME * (high - low) / 1.349)
    others = np.ones_like(X, dtype=bool)
    others[7, 0] = False
    np.testing.assert_array_equal(drawn[others], X[others])
    assert X[7, 0] == 1138.0


@pytest.mark.parametrize(("n_far", "extreme"), [(1, True), (3, True), (4, False), (20, False)])
def test_a_small_cluster_is_no_error_of_entry(rng, n_far, extreme):
    X = rng.normal(size=(300, 1))
    X[:n_far] += 30
    assert is_extreme(X)[:, 0].tolist() == [extreme] * n_far + [False] * (300 - n_far)


def test_a_feature_that_hardly_varies_has_no_extremes():
    X = np.zeros((50, 1))
    X[0] = 5.0
    assert not is_extreme(X).any()


def test_spread_within_groups_by_hand(rng):
    X, group = rng.normal(size=(12, 3)) + np.repeat([[0], [9], [50]], 4, axis=0), np.repeat([0, 1, 2], 4)
    X[:, 2] = group
    expected = [np.sqrt(sum(np.var(X[group == g, j], ddof=1) for g in range(3)) / 3) for j in range(2)]
    np.testing.assert_allclose(within_sd(X, group), [*expected, 1.0])


def test_ties_are_spread_without_changing_their_order(rng):
    X = rng.integers(1, 6, size=(120, 3)).astype(float)
    (coordinates,) = coordinates_of([X[:60], X[60:]], "none", np.random.default_rng(0))
    for j in range(3):
        assert len(np.unique(coordinates.X[:, j])) == 120
        for low, high in ((a, a + 1) for a in range(1, 5)):
            for here in (slice(60), slice(60, 120)):  # each study by itself
                spread, values = coordinates.X[here, j], X[here, j]
                assert spread[values == low].max() < spread[values == high].min()
        assert coordinates.X[:, j].std() == pytest.approx(X[:, j].std(), rel=0.05)


def test_a_constant_feature_changes_no_coordinates(rng):
    X = rng.integers(1, 6, size=(120, 3)).astype(float)
    wider = np.insert(X, 1, 7.0, axis=1)
    (first,), (second,) = (
        coordinates_of([table[:60], table[60:]], "none", np.random.default_rng(0)) for table in (X, wider)
    )
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(second.axes, np.insert(first.axes, 1, 0.0, axis=1))


def test_equal_studies_have_equal_random_numbers_wherever_they_lie(rng):
    X = rng.integers(0, 5, size=(30, 4)).astype(float)
    Y = rng.integers(0, 5, size=(30, 4)).astype(float)
    draws = uniform_by_study([X, Y, X, X + 7], 3)
    assert draws.shape == (120, 4)
    first, second, twin, moved = np.split(draws, 4)
    np.testing.assert_array_equal(first, twin)
    np.testing.assert_array_equal(first, moved)
    assert not np.isclose(first, second).any()
    assert not np.isclose(first, uniform_by_study([X], 4)).any()


def test_scales_of_features(rng):
    tables = [rng.normal(size=(80, 3)) * [1, 1.2, 100] for _ in range(2)]
    generator = np.random.default_rng
    assert [each.scaling for each in coordinates_of(tables, "auto", generator(0))] == [AS_GIVEN, BY_SPREAD]
    assert [each.scaling for each in coordinates_of(tables, "none", generator(0))] == [AS_GIVEN]
    (pooled,) = coordinates_of(tables, "pooled", generator(0))
    assert pooled.scaling == BY_SPREAD
    np.testing.assert_allclose(within_sd(pooled.X, pooled.study), 1)
    alike = [table / [1, 1, 100] for table in tables]
    assert [each.scaling for each in coordinates_of(alike, "auto", generator(0))] == [AS_GIVEN]


@pytest.mark.parametrize("p", [4, 40])
def test_coordinates_are_projections_of_the_features(rng, p):
    tables = [rng.normal(size=(60, p)) + 5 * rng.integers(0, 2, size=(60, 1)) for _ in range(3)]
    for table in tables:
        table[:, 1] = 3.0  # constant: left out
    for each in coordinates_of(tables, "pooled", np.random.default_rng(0)):
        X = np.concatenate(tables)
        expected = X / each.divisor @ each.axes.T
        difference = each.X - expected
        np.testing.assert_allclose(difference, np.broadcast_to(difference[0], difference.shape), atol=1e-9)
        np.testing.assert_allclose(each.axes @ each.axes.T, np.eye(len(each.axes)), atol=1e-9)
        assert not each.axes[:, 1].any()
        assert [len(part) for part in each.by_study] == [60, 60, 60]


def test_studies_in_which_nothing_varies_have_coordinates():
    (coordinates,) = coordinates_of([np.ones((20, 3)), np.ones((20, 3))], "auto", np.random.default_rng(0))
    assert np.isfinite(coordinates.X).all()


@pytest.mark.parametrize(("rank", "p"), [(3, 30), (3, 200), (6, 100)])
def test_a_planted_signal_has_its_axes_whatever_the_shifts(rng, rank, p):
    study = np.repeat(np.arange(3), 80)
    basis = np.linalg.qr(rng.normal(size=(p, rank)))[0].T
    X = 6 * rng.normal(size=(240, rank)) @ basis + rng.normal(size=(240, p))
    axes = principal_axes(X + 50 * rng.normal(size=(3, p))[study], study)
    assert axes.shape == (rank, p)
    assert np.degrees(subspace_angles(axes.T, basis.T)).max() < 30
    np.testing.assert_allclose(axes @ axes.T, np.eye(rank), atol=1e-9)


def test_noise_has_the_fewest_axes_and_a_strong_signal_at_most_the_most(rng):
    study = np.repeat([0, 1], 100)
    assert len(principal_axes(rng.normal(size=(200, 60)), study)) == FEWEST_AXES
    assert len(principal_axes(30 * rng.normal(size=(200, 30)) @ rng.normal(size=(30, 60)), study)) == MOST_AXES
    np.testing.assert_array_equal(principal_axes(rng.normal(size=(200, 10)), study), np.eye(10))


def test_a_feature_that_only_a_shift_varies_is_left_out(rng):
    tables = [np.column_stack([rng.normal(size=(30, 2)), np.full(30, shift)]) for shift in (0.1, 7.3)]
    for coordinates in coordinates_of(tables, "auto", np.random.default_rng(0)):
        assert coordinates.axes[:, 2].tolist() == [0.0, 0.0]
    np.testing.assert_array_equal(
        within_sd(np.full((60, 1), 0.1) + np.repeat([[0.0], [7.2]], 30, axis=0), np.repeat([0, 1], 30)), [1.0]
    )


def test_of_coordinates_with_equal_p_values_those_with_most_clusters_are_taken():
    """With more than a thousand samples, p-values are 0 in all coordinates."""
    few, many, one = (Model(p, None, [], centres=np.zeros((k, 2))) for p, k in ((0.0, 2), (0.0, 6), (0.0, 0)))
    assert best_of([few, many, one]) is best_of([one, many, few]) is many
    smaller = Model(1e-9, None, [], centres=np.zeros((2, 2)))
    assert best_of([Model(1e-8, None, [], centres=np.zeros((6, 2))), smaller]) is smaller
