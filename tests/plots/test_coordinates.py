"""Where points are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from clustrep.errors import DataError
from clustrep.plots.coordinates import check_coordinates, in_two_dimensions


def test_one_and_two_features_are_drawn_as_they_are(rng):
    for n_features, names in ((1, ("the feature", "")), (2, ("first coordinate", "second coordinate"))):
        X = rng.normal(size=(5, n_features))
        xy, axes = in_two_dimensions(X, None)
        np.testing.assert_array_equal(xy, X)
        assert axes == names


def test_more_features_are_turned_to_their_principal_components(rng):
    X = rng.normal(size=(40, 5)) * [9, 4, 1, 1, 1]
    xy, axes = in_two_dimensions(X, None)
    assert axes == ("first principal component", "second principal component")
    np.testing.assert_allclose((xy**2).sum(axis=0), np.linalg.svd(X - X.mean(axis=0))[1][:2] ** 2)
    # The sign does not depend on the order of rows.
    np.testing.assert_allclose(in_two_dimensions(X[::-1], None)[0], xy[::-1])


def test_a_row_with_missing_numbers_is_nowhere_and_moves_nothing(rng):
    X = rng.normal(size=(8, 3))
    with_gap = np.vstack([X, np.full(3, np.nan)])
    for how in ("pca", "tsne"):
        xy, _ = in_two_dimensions(with_gap, how)
        np.testing.assert_allclose(xy[:-1], in_two_dimensions(X, how)[0])
        assert np.isnan(xy[-1]).all()


def test_a_single_point_has_a_place():
    xy, _ = in_two_dimensions(np.array([[1.0, 2, 3]]), None)
    np.testing.assert_allclose(xy, [[0, 0]], atol=1e-12)


@pytest.mark.parametrize("points", [np.full((3, 2), np.nan), np.full((3, 2), "a"), [[1, 2, np.inf]] * 3])
def test_coordinates_are_finite_numbers(points):
    with pytest.raises(DataError):
        check_coordinates(points, None, 3, "points")
