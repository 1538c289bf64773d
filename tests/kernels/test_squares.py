"""Squared distances between the points of a table: against the plain loop and SciPy."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from tests.kernels import plain

from clustrep.fitting.resample import pairwise_distances
from clustrep.kernels.distances import in_fours, squares_between

# Around the widths and depths of the loops, and of the blocks between which interrupts are heard.
SHAPES = [(1, 1), (2, 3), (31, 4), (32, 5), (33, 7), (64, 8), (65, 40), (257, 6), (300, 9)]


def squares(X, kernel=squares_between):
    result = np.full((len(X), len(X)), np.nan)
    kernel(in_fours(X), 0, len(X), result)
    return result


@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_kernel_equals_the_plain_function_of_its_name_bit_by_bit(n, p, dtype, rng):
    X = (rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 3, size=p)).astype(dtype)
    expected = plain.squares_between(X)
    np.testing.assert_array_equal(squares(X), expected)
    np.testing.assert_array_equal(pairwise_distances(X, "sqeuclidean"), expected)
    if platform.machine() == "x86_64":  # elsewhere SciPy may have been compiled with fused operations
        np.testing.assert_array_equal(expected, cdist(X, X, "sqeuclidean"))
    np.testing.assert_allclose(expected, cdist(X, X, "sqeuclidean"), rtol=1e-14)


def test_uncompiled_it_is_the_same(rng):
    X = rng.normal(size=(9, 5))
    np.testing.assert_array_equal(squares(X, squares_between.py_func), plain.squares_between(X))


def test_features_that_no_point_has_are_left_out_and_change_no_bit(rng):
    X = rng.normal(size=(40, 12))
    padded = np.hstack([X, np.zeros((40, 500))])
    assert in_fours(padded).shape == in_fours(X).shape
    np.testing.assert_array_equal(squares(padded), squares(X))
    np.testing.assert_array_equal(squares(np.zeros((5, 7))), np.zeros((5, 5)))


@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_that_are_too_large_stay_so():
    X = np.array([[1e200, 0.0], [-1e200, 0.0], [np.nan, 1.0]])
    np.testing.assert_array_equal(squares(X), plain.squares_between(X))
    assert squares(X)[0, 1] == np.inf


def test_a_part_of_the_columns_writes_these_alone(rng):
    X = rng.normal(size=(70, 3))
    result = np.full((70, 70), np.nan)
    squares_between(in_fours(X), 32, 64, result)
    expected = plain.squares_between(X)
    np.testing.assert_array_equal(result[:64, 32:64], expected[:64, 32:64])
    np.testing.assert_array_equal(result[32:64, :64], expected[32:64, :64])
    assert np.isnan(result[:32, :32]).all()
    assert np.isnan(result[64:]).all()
