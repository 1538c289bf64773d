"""Neighbours, against double loops over points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stability.in_group.cases import chebyshev, cityblock, neighbours_by_hand, proportions_by_hand, squared

import clustrep as cr
from clustrep.fitting import neighbours as _neighbours
from clustrep.fitting.neighbours import nearest_distances, neighbours


@pytest.mark.parametrize("p", [1, 2, 5, 15, 16, 20])
@pytest.mark.parametrize("j", [1, 2, 3, 7, 10, 11])
def test_neighbours_are_those_of_a_double_loop_with_ties_to_the_lower_row(p, j, rng):
    X = rng.integers(0, 3 if p < 3 else 2, size=(12, p)).astype(float)  # full of ties, with copies
    assert neighbours(X, j).tolist() == neighbours_by_hand(X, j)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=3, max_size=12), st.data())
def test_neighbours_of_any_small_grid_are_those_of_a_double_loop(rows, data):
    X = np.array(rows, dtype=float)
    j = data.draw(st.integers(1, len(rows) - 1))
    assert neighbours(X, j).tolist() == neighbours_by_hand(X, j)


@pytest.mark.parametrize("p", [2, 15, 16])
@pytest.mark.parametrize("j", [1, 3])
def test_the_tree_and_all_distances_find_the_same_neighbours(p, j, rng, monkeypatch):
    plain = rng.normal(size=(40, p))
    X = np.concatenate([plain, plain[::3], plain[:4]])  # some points twice, some three times
    fast = neighbours(X, j)
    monkeypatch.setattr(_neighbours, "KD_TREE_FEATURES", 0)
    np.testing.assert_array_equal(neighbours(X, j), fast)
    assert fast.tolist() == neighbours_by_hand(X, j)


def test_the_tree_and_all_distances_find_the_same_neighbours_in_data_with_one_decimal(monkeypatch):
    X = np.random.default_rng(0).integers(0, 4, size=(40, 12)) * 0.1
    fast = neighbours(X, 2)
    monkeypatch.setattr(_neighbours, "KD_TREE_FEATURES", 0)
    np.testing.assert_array_equal(neighbours(X, 2), fast)


@pytest.mark.parametrize("p", [1, 2, 15, 16])
@pytest.mark.parametrize("j", [1, 3])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock", "chebyshev"])
def test_neighbours_in_data_with_one_decimal_are_those_of_whole_numbers(p, j, metric, rng):
    whole = rng.integers(-9, 10, size=(40, p)) if p < 3 else rng.integers(0, 3, size=(40, p))
    distance = {"cityblock": cityblock, "chebyshev": chebyshev}.get(metric, squared)
    found = neighbours(whole / 10, j, metric)
    np.testing.assert_array_equal(found, neighbours(whole.astype(float), j, metric))
    assert found.tolist() == neighbours_by_hand(whole, j, distance)


@pytest.mark.parametrize("p", [2, 16])
@pytest.mark.parametrize(("share", "tied"), [(1e-13, True), (1e-10, False)])
def test_distances_are_equal_up_to_rounding_and_no_further(p, share, tied):
    X = np.zeros((5, p))
    X[:, 0] = [0, 1 + share, -1, 7, 9]  # the second is farther from the first than the third, if by next to nothing
    assert neighbours(X, 1)[0].tolist() == [1 if tied else 2]
    assert neighbours(X, 2)[0].tolist() == ([1, 2] if tied else [2, 1])
    assert neighbours(X, 3)[0].tolist() == ([1, 2, 3] if tied else [2, 1, 3])


def test_in_group_proportions_of_data_with_one_decimal_are_those_of_whole_numbers(rng):
    whole = rng.integers(0, 4, size=(40, 3))
    labels = rng.integers(0, 3, size=40).tolist()
    result = cr.stability.in_group_proportion(cr.Study(whole / 10, "X", label=False), labels, n_neighbors=[1, 2])
    assert result.proportions.tolist() == [proportions_by_hand(whole, labels, j) for j in (1, 2)]


@pytest.mark.parametrize("p", [2, 16])
@pytest.mark.parametrize("j", [1, 2])
def test_blocks_do_not_matter(p, j, rng, monkeypatch):
    X = rng.integers(0, 3, size=(23, p)).astype(float)
    whole, distances = neighbours(X, j), nearest_distances(X)
    monkeypatch.setattr(_neighbours, "BLOCK", 5)
    monkeypatch.setattr(_neighbours, "CELLS", 5 * 23)
    np.testing.assert_array_equal(neighbours(X, j), whole)
    np.testing.assert_array_equal(nearest_distances(X), distances)


@pytest.mark.parametrize("p", [1, 15, 16])
def test_among_equal_points_the_lowest_other_rows_are_the_nearest(p):
    assert neighbours(np.ones((6, p)), 2).tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]]


@pytest.mark.parametrize("p", [1, 3, 15, 16, 30])
def test_nearest_distances_are_those_of_a_double_loop(p, rng):
    X = rng.normal(size=(11, p))
    X[7] = X[2]
    expected = [min(math.sqrt(squared(x, y)) for i, y in enumerate(X) if i != h) for h, x in enumerate(X)]
    np.testing.assert_allclose(nearest_distances(X), expected, rtol=1e-12)
    assert nearest_distances(X)[[2, 7]].tolist() == [0, 0]


@pytest.mark.parametrize("p", [2, 16])
def test_two_points_are_each_others_nearest(p):
    X = np.zeros((2, p))
    X[1, 0] = 3
    assert neighbours(X, 1).tolist() == [[1], [0]]
    assert nearest_distances(X).tolist() == [3, 3]
