"""The nearest of some points: the same as by all distances, whatever is hard about the data."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from clustrep.execution.seeds import ReplicateFailure
from clustrep.fitting import neighbours
from clustrep.fitting.neighbours import (
    KD_TREE_FEATURES,
    SEVERAL_BY_TREE,
    NearestByProducts,
    certain_nearest,
    nearest_point,
)

N_POINTS = 2100  # more than two products take


def normal(rng, n, p):
    return rng.normal(size=(n, p))


def on_a_sphere(rng, n, p):
    """All as far from the origin, to rounding: `cdist` decides by its own rounding."""
    X = rng.normal(size=(n, p))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[: n // 10] *= 1e-9
    X[0] = 0
    return X


def with_copies(rng, n, p):
    few = rng.normal(size=(max(2, n // 5), p))
    return few[rng.integers(len(few), size=n)]


def close_together(rng, n, p):
    """Copies but for the last digit, one point far away, and two groups that are far from their common centre."""
    X = with_copies(rng, n, p) * (1 + 2.0**-52 * rng.integers(3, size=(n, p)))
    X[n // 2 :] += 1e7
    X[1] = 1e12
    return X


def tiny_among_large(rng, n, p):
    """With a mean of exactly 0, next to which squares lose their digits."""
    half = rng.normal(size=(n // 2, p)) * 2.0**-537
    half[:10] = rng.integers(-3, 4, size=(10, p))
    return np.stack([half, -half], axis=1).reshape(-1, p)


HARD = {
    "normal": normal,
    "integers": lambda rng, n, p: np.rint(rng.normal(size=(n, p))),
    "one decimal": lambda rng, n, p: rng.integers(0, 3, size=(n, p)) / 10,
    "copies": with_copies,
    "sphere": on_a_sphere,
    "close together": close_together,
    "far offset": lambda rng, n, p: rng.normal(size=(n, p)) + 1e9,
    "farther offset": lambda rng, n, p: rng.normal(size=(n, p)) + 1e15,
    "two far groups": lambda rng, n, p: rng.normal(size=(n, p)) + 1e8 * rng.integers(2, size=(n, 1)),
    "many scales": lambda rng, n, p: rng.normal(size=(n, p)) * 10.0 ** rng.integers(-200, 130, size=(n, 1)),
    "scales of features": lambda rng, n, p: rng.normal(size=(n, p)) * 10.0 ** rng.integers(-12, 12, size=p),
    "small": lambda rng, n, p: rng.normal(size=(n, p)) * 1e-150,
    "squares vanish": lambda rng, n, p: rng.normal(size=(n, p)) * 1e-165,
    "subnormal": lambda rng, n, p: rng.normal(size=(n, p)) * 1e-310,
    "large": lambda rng, n, p: rng.normal(size=(n, p)) * 1e130,
    "squares overflow": lambda rng, n, p: rng.normal(size=(n, p)) * 1e160,
    "largest": lambda rng, n, p: rng.choice([-1, 1], size=(n, p)) * 1e308,
    "tiny among large": tiny_among_large,
    "constant": lambda rng, n, p: np.ones((n, p)),
}  # fmt: skip


IN_SINGLE_PRECISION = ["normal", "integers", "one decimal", "copies", "sphere", "far offset", "two far groups"]


@pytest.mark.parametrize(
    ("kind", "dtype"), [*((kind, np.float64) for kind in HARD), *((kind, np.float32) for kind in IN_SINGLE_PRECISION)]
)
@pytest.mark.parametrize("n_features", [KD_TREE_FEATURES + 1, 50])
def test_the_nearest_point_is_that_of_cdist_to_the_last_bit(kind, dtype, n_features, rng):
    points, X = (HARD[kind](rng, n, n_features).astype(dtype) for n in (N_POINTS, 300))
    X = np.concatenate([X, points[::20]])  # some are training points themselves
    expected = cdist(X, points).argmin(axis=1)
    np.testing.assert_array_equal(nearest_point(points, "euclidean")(X), expected)


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 12), st.floats(-140, 120), st.floats(0, 18))
def test_the_nearest_of_any_points_is_that_of_cdist(seed, n_points, n_rows, scale, offset):
    rng = np.random.default_rng(seed)
    shift = 10.0**offset * rng.integers(-1, 2, size=KD_TREE_FEATURES + 1)
    points, X = (
        (rng.integers(-1, 2, size=(n, len(shift))) + shift) * 10.0**scale for n in (n_points, n_rows)
    )  # fmt: skip
    np.testing.assert_array_equal(nearest_point(points, "euclidean")(X), cdist(X, points).argmin(axis=1))


def test_blocks_of_any_size_find_the_same_points(rng, monkeypatch):
    points, X = (np.rint(rng.normal(size=(n, 20))) for n in (60, 25))
    expected = cdist(X, points).argmin(axis=1)
    for rows, columns, at_once, cells in [(7, 11, 30, 2**20), (1, 1, 1, 2**20), (16, 32, 20, 2**20), (8, 8, 8, 50)]:
        monkeypatch.setattr(neighbours, "PRODUCT_ROWS", rows)
        monkeypatch.setattr(neighbours, "PRODUCT_POINTS", columns)
        monkeypatch.setattr(neighbours, "ROWS_AT_ONCE", at_once)
        monkeypatch.setattr(neighbours, "PRODUCT_CELLS", cells)
        np.testing.assert_array_equal(nearest_point(points, "euclidean")(X), expected)


def test_products_are_used_where_they_are_exact(rng):
    def uses_products(points):
        return isinstance(nearest_point(points, "euclidean"), NearestByProducts)

    points = rng.normal(size=(30, KD_TREE_FEATURES + 1))
    assert uses_products(points)
    assert uses_products(points.astype(np.float32))
    assert uses_products(points + 1e12)
    assert not uses_products(points[:, :-1])  # a tree
    assert not uses_products(points * 1e-160)
    assert not uses_products(points * 1e160)
    assert not uses_products(points[:1])
    assert not isinstance(nearest_point(points, "cityblock"), NearestByProducts)


def test_few_distances_are_computed_where_few_points_are_as_near(rng, monkeypatch):
    """Also with copies of the points, and one point far away from all others."""
    points = rng.normal(size=(2000, 20))
    points[0] = 1e6
    X = np.concatenate([rng.normal(size=(500, 20)), points[:500]])
    n_distances = []

    def counted(x, y):
        n_distances.append(len(x) * len(y))
        return cdist(x, y)

    expected = cdist(X, points).argmin(axis=1)
    monkeypatch.setattr(neighbours, "cdist", counted)
    np.testing.assert_array_equal(nearest_point(points, "euclidean")(X), expected)
    assert sum(n_distances) < 100


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_rows_that_products_can_not_compare_go_the_plain_way(bad, rng):
    points, X = (rng.normal(size=(n, 20)) for n in (30, 10))
    X[4, 3] = bad
    search = nearest_point(points, "euclidean")
    assert isinstance(search, NearestByProducts)
    if np.isnan(bad):
        with pytest.raises(ReplicateFailure, match="no distance to any training point"):
            search(X)
    else:
        np.testing.assert_array_equal(search(X), cdist(X, points).argmin(axis=1))
    points[7, 1] = bad
    usable = np.delete(X, 4, axis=0)
    expected = np.where(np.isnan(distances := cdist(usable, points)), np.inf, distances).argmin(axis=1)
    np.testing.assert_array_equal(nearest_point(points, "euclidean")(usable), expected)


def test_no_rows_have_no_nearest_points(rng):
    assert nearest_point(rng.normal(size=(5, 20)), "euclidean")(np.empty((0, 20))).shape == (0,)
    assert nearest_point(rng.normal(size=(5, 20)), "cityblock")(np.empty((0, 20))).shape == (0,)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_memory_does_not_grow_with_the_number_of_points(metric, monkeypatch):
    """All distances at once would take 160 MB, 1,024 rows of them 82 MB."""
    monkeypatch.setattr(neighbours, "CELLS", 2**19)
    X = np.zeros((2000, 16))
    X[:, 0] = np.arange(2000)
    points = np.repeat(X, 5, axis=0)
    points[:, 1] = np.tile(np.arange(5), 2000)
    search = nearest_point(points, metric)
    tracemalloc.start()
    try:
        result = search(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(result, np.arange(0, 10_000, 5))
    assert peak < 20e6


# ---------------------------------------------------------------------------------------------------------------------
# several nearest points


@pytest.mark.parametrize(
    ("kind", "dtype"), [*((kind, np.float64) for kind in HARD), *((kind, np.float32) for kind in IN_SINGLE_PRECISION)]
)
@pytest.mark.parametrize("n_features", [SEVERAL_BY_TREE, SEVERAL_BY_TREE + 1, 30])
@pytest.mark.filterwarnings("ignore:overflow")
def test_several_nearest_points_are_those_of_all_distances_as_far_as_lists_go(kind, dtype, n_features, rng):
    """Lists end before the first two points that are as near as rounding."""
    points, X = (HARD[kind](rng, n, n_features).astype(dtype) for n in (N_POINTS, 100))
    X = np.concatenate([X, points[::20]])
    distances = cdist(X, points)
    order = np.argsort(distances, axis=1, kind="stable")[:, :7]
    lists = certain_nearest(points, X, 6)
    certain = lists >= 0
    np.testing.assert_array_equal(lists[certain], order[:, :6][certain])
    assert (certain[:, 1:] <= certain[:, :-1]).all()
    nearest = np.take_along_axis(distances, order, axis=1)
    with np.errstate(invalid="ignore"):
        assert (nearest[:, 1:] > nearest[:, :-1])[certain].all()
    if kind == "normal":
        assert certain.mean() > 0.99


@pytest.mark.parametrize("n_features", [2, 20])
def test_lists_of_more_points_than_there_are(n_features, rng):
    points, X = rng.normal(size=(4, n_features)), rng.normal(size=(9, n_features))
    expected = np.argsort(cdist(X, points), axis=1)
    for n_nearest in (1, 3, 4, 6):
        lists = certain_nearest(points, X, n_nearest)
        np.testing.assert_array_equal(lists[:, :4], expected[:, :n_nearest])
        assert (lists[:, 4:] == -1).all()


def test_lists_of_several_nearest_points_do_not_depend_on_blocks(rng, monkeypatch):
    points, X = (rng.normal(size=(n, 20)) for n in (60, 25))
    expected = certain_nearest(points, X, 5)
    for rows, columns, at_once, cells in [(7, 11, 30, 2**20), (1, 1, 1, 2**20), (8, 8, 8, 50)]:
        monkeypatch.setattr(neighbours, "PRODUCT_ROWS", rows)
        monkeypatch.setattr(neighbours, "PRODUCT_POINTS", columns)
        monkeypatch.setattr(neighbours, "ROWS_AT_ONCE", at_once)
        monkeypatch.setattr(neighbours, "PRODUCT_CELLS", cells)
        np.testing.assert_array_equal(certain_nearest(points, X, 5), expected)
