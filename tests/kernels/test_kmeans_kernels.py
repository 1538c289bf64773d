from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from scipy.stats import chisquare
from sklearn.cluster import KMeans
from tests.kernels import plain

from clustrep.accelerate import kmeans
from clustrep.accelerate.kmeans import KMeansResample, Settings, Strategy, nearest_centre, strategy_for
from clustrep.checks import read_only
from clustrep.execution.seeds import ReplicateFailure, one_thread
from clustrep.fitting.resample import SHARED_POINTS, PointSet
from clustrep.fitting.rotation import Rotation
from clustrep.kernels import distances as tiles
from clustrep.kernels import first_centres, lloyd
from clustrep.types import FloatArray, IntArray

KERNELS = ("lloyd_in_table", "lloyd_by_distance", "lloyd_by_product")
LAYOUTS = ("features", "distances")
# Shapes, (n, n_features, k), for which each strategy is chosen
SHAPES = {Strategy.BY_FEATURE: (150, 3, 5), Strategy.BY_DISTANCE: (75, 20, 5), Strategy.BY_PRODUCT: (150, 20, 5)}
# Around the numbers of points that kernels take at once
LENGTHS = (1, 2, 31, 32, 33, 255, 256, 257, 600)
HUGE, LARGEST_UNIFORM = 2**62, 1 - 2.0**-53
SEED = np.random.SeedSequence(5)  # not to be spawned from: tests share it


class Run(NamedTuple):
    centres: FloatArray  # (n_starts, k, n_features); infinite for a cluster that was given up
    labels: IntArray  # (n_starts, n)
    inertia: FloatArray
    n_iter: IntArray


def to_the_end(kernel, *arguments, budget):
    assert any(kernel(*arguments, budget) for _ in range(10_000))


def choose(X, weights, uniforms, k, layout="features", budget=HUGE):
    by_feature = layout == "features"
    table = tiles.in_rows(np.ascontiguousarray(X.T), np.arange(len(X))) if by_feature else None
    squared = None if by_feature else cdist(X, X, "sqeuclidean")
    picks = np.full((len(uniforms), k), -1)
    closest, state = np.full(len(X), np.nan), np.zeros(2, np.int64)
    places = (table, squared, weights, uniforms, picks, closest, state)
    to_the_end(first_centres.choose_centres, *places, budget=budget)
    return picks


def iterate(kernel, X, weights, picks, *, max_iter=300, tol=0.0, origin=0.0, budget=HUGE):
    """Run a kernel from points as first centres; products are taken of points around the origin."""
    labels = np.full((len(picks), len(X)), -1, np.int32)
    inertia, steps = np.full(len(picks), np.nan), np.zeros(len(picks), np.int64)
    function, results = getattr(lloyd, kernel), (labels, inertia, steps)
    if kernel == "lloyd_by_distance":
        squared, members, taken = cdist(X, X, "sqeuclidean"), labels.copy(), np.full(picks.shape, -1)
        results = (labels, members, taken, inertia, steps)
        to_the_end(function, squared, weights, picks, *results, max_iter, tol, budget=budget)
        in_cluster = weights * (members[:, None] == np.arange(picks.shape[1])[:, None])  # (n_starts, k, n)
        for s, j in np.argwhere(taken >= 0):
            in_cluster[s, members[s, taken[s, j]], taken[s, j]] -= 1
            in_cluster[s, j, taken[s, j]] += 1
        sizes = in_cluster.sum(axis=2, keepdims=True)
        centres = np.where(sizes > 0, in_cluster @ X / np.maximum(sizes, 1), np.inf)
        labels = np.array([plain.nearest_centres(X, found)[0] for found in centres])
    elif kernel == "lloyd_in_table":
        centres = X[picks].astype(float)
        to_the_end(
            function,
            tiles.in_rows(np.ascontiguousarray(X.T), np.arange(len(X))),
            weights,
            centres,
            *results,
            max_iter,
            tol,
            budget=budget,
        )
    else:
        centres = X[picks].astype(float) - origin
        bounds, sums = np.full((2, len(X)), np.nan), np.full(centres.shape[1:], np.nan)
        table = np.ascontiguousarray(X - np.asarray(origin, X.dtype))
        to_the_end(function, table, weights, centres, *results, bounds, sums, max_iter, tol, budget=budget)
        centres += origin
    assert np.all(steps < 0)
    return Run(centres, labels, inertia, -1 - steps)


def assert_equals_the_plain_one(kernel, X, weights, picks, *, max_iter=300, tol=0.0, origin=0.0, relative=1e-9):
    computed = iterate(kernel, X, weights, picks, max_iter=max_iter, tol=tol, origin=origin)
    X = X.astype(float)
    for run, first in zip(zip(*computed, strict=True), X[picks], strict=True):
        centres, labels, inertia, n_iter = plain.lloyd(X, weights, first, max_iter, tol)
        run = Run(*run)
        kept, drawn = np.isfinite(run.centres), weights > 0
        assert kept.all() or (kernel == "lloyd_by_distance" and len(centres) > np.count_nonzero(drawn))
        np.testing.assert_allclose(run.centres[kept], centres[kept], rtol=relative, atol=relative * np.ptp(X))
        np.testing.assert_array_equal(run.labels[drawn], labels[drawn])
        assert run.inertia == pytest.approx(inertia, rel=relative, abs=1e-13 * np.ptp(X) ** 2)
        # Without a tolerance, distances alone show a step later that no centre has moved.
        assert run.n_iter - n_iter in ((0, 1) if kernel == "lloyd_by_distance" and tol == 0 else (0,))
    return computed


def assert_same_bits(first, second):
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def tie_free(n, p, k, seed=0, n_starts=3, lightest=1, n_groups=3, apart=3.0):
    """Overlapping groups, weights, and different points as first centres."""
    rng = np.random.default_rng([seed, n, p, k])
    groups = apart / np.sqrt(p) * rng.normal(size=(n_groups, p))
    X = rng.normal(size=(n, p)) + groups[rng.integers(n_groups, size=n)]
    weights = rng.integers(lightest, 6, size=n).astype(float)
    picks = np.array([rng.permutation(n)[:k] for _ in range(n_starts)])
    weights[picks[0, 0]] = 1.0  # not all zero
    return X, weights, picks


@st.composite
def lattices(draw, lightest=1, max_points=40):
    """Weighted points whose coordinates, differences and squares have no rounding; many are equal."""
    shape = draw(st.integers(1, max_points)), draw(st.integers(1, 3))
    scale = 2.0 ** draw(st.sampled_from((-40, 0, 40)))
    X = draw(arrays(np.int64, shape, elements=st.integers(-3, 3))) * scale
    weights = draw(arrays(np.int64, shape[0], elements=st.integers(lightest, 5))).astype(float)
    weights[0] += weights.sum() == 0
    return X, weights


def uniforms_for(k, n_trials, n_starts=3):
    some = st.one_of(st.floats(0, LARGEST_UNIFORM), st.sampled_from((0.0, 0.25, 0.5, LARGEST_UNIFORM)))
    return arrays(float, (n_starts, 1 + (k - 1) * n_trials), elements=some)


# ---------------------------------------------------------------------------------------------------------------------
# k-means++


@pytest.mark.parametrize("layout", LAYOUTS)
@given(data=st.data(), k=st.integers(1, 8), n_trials=st.integers(1, 4))
def test_the_chosen_points_are_the_plain_ones(layout, data, k, n_trials):
    X, weights = data.draw(lattices(lightest=0 if layout == "distances" else 1))
    uniforms = data.draw(uniforms_for(k, n_trials))
    expected = plain.choose_centres(X, weights, uniforms, k)
    np.testing.assert_array_equal(choose(X, weights, uniforms, k, layout), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", LENGTHS)
def test_the_chosen_points_are_the_plain_ones_at_every_length(layout, n):
    X, weights, _ = tie_free(n, 4, 1)
    k = min(n, 6)
    uniforms = np.random.default_rng(n).random((5, 1 + (k - 1) * 3))
    expected = plain.choose_centres(X, weights, uniforms, k)
    for budget in (1, 7, HUGE):
        np.testing.assert_array_equal(choose(X, weights, uniforms, k, layout, budget), expected)
    alone = np.concatenate([choose(X, weights, u[None], k, layout) for u in uniforms])
    np.testing.assert_array_equal(alone, expected)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_chosen_points_are_the_plain_ones_at_every_scale_and_precision(scale, offset):
    X, weights, _ = tie_free(300, 3, 1)
    uniforms = np.random.default_rng(0).random((5, 1 + 5 * 3))
    for layout, dtype in (("features", float), ("features", np.float32), ("distances", float)):
        table = (scale * (X + offset)).astype(dtype)
        expected = plain.choose_centres(table.astype(float), weights, uniforms, 6)
        np.testing.assert_array_equal(choose(table, weights, uniforms, 6, layout), expected)


@given(data=st.data(), k=st.integers(1, 6))
def test_a_weighted_point_is_chosen_as_its_repeated_rows_are(data, k):
    X, weights = data.draw(lattices(max_points=12))
    uniforms = data.draw(uniforms_for(k, 2))
    original = np.repeat(np.arange(len(X)), weights.astype(int))
    repeated = choose(X[original], np.ones(len(original)), uniforms, k)
    np.testing.assert_array_equal(original[repeated], choose(X, weights, uniforms, k))


@pytest.mark.parametrize("uniform", [0.0, LARGEST_UNIFORM])
@pytest.mark.parametrize("n", [1, 32, 33, 257])
def test_no_point_without_mass_is_chosen_at_the_ends_of_the_uniforms(uniform, n):
    X, weights, _ = tie_free(40 + n + 40, 2, 1)
    weights[:40] = weights[-40:] = 0.0
    k = min(n, 5)
    picks = choose(X, weights, np.full((1, 1 + (k - 1) * 2), uniform), k, "distances")[0]
    assert picks[0] == (40 if uniform == 0 else 40 + n - 1)
    assert np.all(weights[picks] > 0)
    assert len(set(picks)) == k


def test_one_trial_chooses_by_weight_and_then_by_weight_times_squared_distance():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, 1.0]])
    weights = np.array([1.0, 5.0, 2.0, 1.0, 3.0])
    uniforms = np.random.default_rng(11).random((20_000, 2))
    first = weights / weights.sum()
    second = weights * cdist(X, X, "sqeuclidean")
    second /= second.sum(axis=1, keepdims=True)
    expected, possible = first[:, None] * second, second > 0
    for layout in LAYOUTS:
        picks = choose(X, weights, uniforms, 2, layout)
        counts = np.zeros((5, 5))
        np.add.at(counts, tuple(picks.T), 1)
        assert counts[~possible].sum() == 0
        assert chisquare(counts.sum(axis=1), 20_000 * first).pvalue > 0.01
        assert chisquare(counts[possible], 20_000 * expected[possible]).pvalue > 0.01


# ---------------------------------------------------------------------------------------------------------------------
# Lloyd's iterations


@given(points=lattices(), data=st.data(), k=st.integers(1, 6))
def test_the_nearest_centre_is_the_first_of_equal_ones(points, data, k):
    X, _ = points
    centres = X[data.draw(arrays(np.int64, k, elements=st.integers(0, len(X) - 1)))] * 2
    table = tiles.in_rows(np.ascontiguousarray(X.T), np.arange(len(X)))
    padded = np.pad(centres, ((0, 0), (0, len(table) - X.shape[1])))
    best, nearest = np.empty((2, table.shape[1]))
    tiles.nearest_in_table(table, padded, best, nearest, np.empty(tiles.TILE))
    assert_same_bits((nearest[: len(X)], best[: len(X)]), plain.nearest_centres(X, centres))
    np.testing.assert_array_equal(nearest_centre(PointSet(X), centres), nearest[: len(X)])


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_nearest_centres_of_a_set_of_points(n, dtype):
    X, _, _ = tie_free(n, 1, 1)
    points = PointSet(read_only(X.astype(dtype)))  # turned, one feature is still the same memory
    centres = np.array([[np.inf], [-1.0], [0.5], [2.0]])
    labels = nearest_centre(points, centres)
    np.testing.assert_array_equal(labels, plain.nearest_centres(points.X.astype(float), centres)[0])
    assert not np.any(labels == 0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n", LENGTHS)
def test_a_kernel_equals_the_plain_iterations_at_every_length(kernel, n):
    X, weights, picks = tie_free(n, 4, min(n, 6))
    assert_equals_the_plain_one(kernel, X, weights, picks)


@pytest.mark.parametrize("kernel", KERNELS)
@given(data=st.data(), n=st.integers(1, 60), p=st.integers(1, 4), seed=st.integers(0, 1000))
def test_a_kernel_equals_the_plain_iterations(kernel, data, n, p, seed):
    k = data.draw(st.integers(1, min(n, 8)))
    X, weights, picks = tie_free(n, p, k, seed, lightest=0 if kernel == "lloyd_by_distance" else 1)
    X = np.column_stack([X, np.full((n, data.draw(st.integers(0, 2))), 7.0)])  # features that say nothing
    max_iter, tol = data.draw(st.sampled_from(((300, 0.0), (1, 0.0), (3, 0.0), (300, 0.1), (300, 2.0))))
    assert_equals_the_plain_one(kernel, X, weights, picks, max_iter=max_iter, tol=tol)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize(("offset", "dtype"), [(0.0, float), (1e6, float), (0.0, np.float32)])
def test_a_kernel_equals_the_plain_iterations_at_every_scale_and_precision(kernel, scale, offset, dtype):
    X, weights, picks = tie_free(257, 3, 5)
    X = (scale * (X + offset)).astype(float if kernel == "lloyd_by_distance" else dtype)
    assert_equals_the_plain_one(kernel, X, weights, picks, origin=scale * offset)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("max_iter", [1, 2, 5, 10, 20, 300])
def test_bounds_leave_out_no_point_that_moves(kernel, max_iter):
    X, weights, picks = tie_free(700, 20, 12)
    run = assert_equals_the_plain_one(kernel, X - X.mean(axis=0), weights, picks, max_iter=max_iter)
    assert max_iter < 300 or run.n_iter.min() >= 10


@pytest.mark.parametrize("p", [1, 3, 20])
def test_the_three_ways_agree(p):
    X, weights, picks = tie_free(400, p, 7, n_starts=5)
    X -= X.mean(axis=0)
    first, *others = (iterate(kernel, X, weights, picks) for kernel in KERNELS)
    for other in others:  # centres follow from labels
        np.testing.assert_array_equal(first.labels, other.labels)
        np.testing.assert_allclose(first.inertia, other.inertia, rtol=1e-9)
        np.testing.assert_array_equal(first.n_iter, other.n_iter)


@pytest.mark.parametrize("kernel", KERNELS)
@given(data=st.data(), k=st.integers(1, 6))
def test_one_iteration_among_equal_points_is_the_plain_one(kernel, data, k):
    # Without rounding until the first means: ties, and empty clusters, are treated alike.
    X, weights = data.draw(lattices(lightest=0 if kernel == "lloyd_by_distance" else 1))
    picks = data.draw(arrays(np.int64, (1, k), elements=st.integers(0, len(X) - 1)))
    run = iterate(kernel, X, weights, picks, max_iter=1)
    centres, _, inertia, _ = plain.lloyd(X, weights, X[picks[0]], 1, 0.0)
    kept, size = np.isfinite(run.centres[0]), np.abs(X).max()
    assert kept.all() or kernel == "lloyd_by_distance"
    np.testing.assert_allclose(run.centres[0][kept], centres[kept], rtol=1e-13, atol=1e-14 * size)
    assert run.inertia[0] == pytest.approx(inertia, rel=1e-12, abs=1e-11 * size**2)


@pytest.mark.parametrize("kernel", KERNELS)
@given(data=st.data(), k=st.integers(1, 8))
def test_iterations_among_equal_points_end_at_the_labels_of_the_final_centres(kernel, data, k):
    X, weights = data.draw(lattices(lightest=0 if kernel == "lloyd_by_distance" else 1))
    picks = data.draw(arrays(np.int64, (2, k), elements=st.integers(0, len(X) - 1)))
    picks[1] = choose(X, weights, data.draw(uniforms_for(k, 2, n_starts=1)), k, "distances")
    run, size = iterate(kernel, X, weights, picks), np.abs(X).max()
    for s in range(2):
        squared = cdist(X, np.where(np.isfinite(run.centres[s]), run.centres[s], 1e100), "sqeuclidean")
        drawn, own = weights > 0, squared[np.arange(len(X)), run.labels[s]]
        np.testing.assert_allclose(own[drawn], squared.min(axis=1)[drawn], rtol=1e-9, atol=1e-11 * size**2)
        assert run.inertia[s] == pytest.approx(weights @ own, rel=1e-9, abs=1e-10 * size**2)
        before = weights @ plain.nearest_centres(X, X[picks[s]])[1]
        assert run.inertia[s] <= before * (1 + 1e-12) + 1e-11 * size**2
    if k >= len(np.unique(X[weights > 0], axis=0)):
        assert run.inertia[1] == pytest.approx(0, abs=1e-11 * size**2)  # k-means++ found them all


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("n", "p", "k"), [(1, 1, 1), (30, 1, 2), (80, 3, 1), (80, 3, 5), (150, 20, 5)])
def test_a_weighted_point_moves_as_its_repeated_rows_do(kernel, n, p, k):
    # As long as no cluster loses all its points: an empty one takes a point as a whole, and of repeated rows one.
    X, weights, picks = tie_free(n, p, k)
    original = np.repeat(np.arange(n), weights.astype(int))
    weighted = iterate(kernel, X, weights, picks)
    repeated = iterate(kernel, X[original], np.ones(len(original)), np.searchsorted(original, picks))
    np.testing.assert_array_equal(weighted.labels[:, original], repeated.labels)
    np.testing.assert_allclose(weighted.inertia, repeated.inertia, rtol=1e-9)
    np.testing.assert_array_equal(weighted.n_iter, repeated.n_iter)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("tol", [0.0, 0.05])
def test_neither_pieces_nor_company_change_a_bit(kernel, tol):
    X, weights, picks = tie_free(257, 4, 5, n_starts=4)
    whole = iterate(kernel, X, weights, picks, tol=tol)
    for budget in (1, 7, 10_000):
        assert_same_bits(iterate(kernel, X, weights, picks, tol=tol, budget=budget), whole)
    alone = [iterate(kernel, X, weights, pick[None], tol=tol) for pick in picks]
    assert_same_bits([np.concatenate(part) for part in zip(*alone, strict=True)], whole)


@pytest.mark.parametrize("kernel", KERNELS)
def test_pieces_change_no_bit_where_an_empty_cluster_was_filled(kernel):
    X, weights, picks = np.array([[0.0], [1.0], [10.0]]), np.ones(3), np.array([[0, 0]])
    whole = assert_equals_the_plain_one(kernel, X, weights, picks)
    assert_same_bits(iterate(kernel, X, weights, picks, budget=1), whole)


# ---------------------------------------------------------------------------------------------------------------------
# interpreted: what shows the lines to coverage, which can't look into compiled code


def test_kernels_interpreted_equal_the_plain_functions(monkeypatch):
    X, weights, picks = tie_free(40, 2, 3, n_starts=2)
    uniforms = np.random.default_rng(0).random((2, 1 + 2 * 2))
    chosen = plain.choose_centres(X, weights, uniforms, 3)
    for module in (tiles, first_centres, lloyd):
        for name in [name for name, function in vars(module).items() if hasattr(function, "py_func")]:
            monkeypatch.setattr(module, name, getattr(module, name).py_func)
    for layout in LAYOUTS:
        np.testing.assert_array_equal(choose(X, weights, uniforms, 3, layout, budget=7), chosen)
        assert choose(X[[0, 0]], np.ones(2), uniforms[:1], 3, layout)[0, 1] == 1  # nothing has any mass
    for kernel in KERNELS:
        whole = assert_equals_the_plain_one(kernel, X, weights, picks)
        assert_equals_the_plain_one(kernel, X, weights, picks, tol=1.0)
        assert_equals_the_plain_one(kernel, np.array([[0.0], [1.0], [10.0]]), np.ones(3), np.array([[0, 0]]))
        assert_same_bits(iterate(kernel, X, weights, picks, budget=1), whole)
        two_places = iterate(kernel, X[[0, 0, 0, 1, 1, 1]], np.ones(6), np.array([[0, 3, 1, 4]]))
        assert two_places.inertia[0] == pytest.approx(0, abs=1e-14)


# ---------------------------------------------------------------------------------------------------------------------
# against scikit-learn


def fit(X, weights, clusterer):
    return KMeansResample(PointSet(X, caches_own=True), weights.astype(int), X.shape[1]).fit(
        Settings.of(clusterer), SEED
    )


def given_centres(strategy, tol=0.0, max_iter=300):
    n, p, k = SHAPES[strategy]
    assert strategy_for(n, p, k) is strategy
    X, weights, picks = tie_free(n, p, k)
    init = X[picks[0]] + 100.1
    return X + 100.0, weights, KMeans(k, init=init, n_init=1, algorithm="lloyd", tol=tol, max_iter=max_iter)


@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize(("tol", "max_iter"), [(0, 300), (1e-4, 300), (0.5, 300), (0, 3)])
def test_given_centres_move_as_in_scikit_learn(strategy, tol, max_iter):
    X, weights, clusterer = given_centres(strategy, tol, max_iter)
    solution = fit(X, weights, clusterer)
    original = np.repeat(np.arange(len(X)), weights.astype(int))
    peer = clusterer.fit(X[original])
    np.testing.assert_allclose(solution.centres, peer.cluster_centers_, atol=1e-8)
    np.testing.assert_array_equal(
        nearest_centre(PointSet(X, caches_own=True), solution.centres)[original], peer.labels_
    )
    assert solution.inertia == pytest.approx(peer.inertia_, rel=1e-9)
    assert solution.n_iter == peer.n_iter_


@pytest.mark.parametrize("strategy", Strategy)
def test_a_centre_without_points_takes_the_farthest_one_as_in_scikit_learn(strategy):
    X, weights, clusterer = given_centres(strategy)
    clusterer.init[[1, 3]] += 1000.0
    solution = fit(X, weights, clusterer)
    peer = clusterer.fit(np.repeat(X, weights.astype(int), axis=0))
    np.testing.assert_allclose(solution.centres, peer.cluster_centers_, atol=1e-8)


@pytest.mark.parametrize("strategy", Strategy)
def test_solutions_are_as_good_as_scikit_learns_on_average(strategy):
    n, p, k = SHAPES[strategy]
    X, weights, _ = tie_free(n, p, k, n_groups=k + 2, apart=6.0)  # many local optima
    sample, one_start = (
        KMeansResample(PointSet(X, caches_own=True), weights.astype(int), p),
        Settings.of(KMeans(k, n_init=1)),
    )
    ours = np.array([sample.fit(one_start, seed).inertia for seed in np.random.SeedSequence(5).spawn(200)])
    clusterers = [KMeans(k, n_init=1, random_state=s) for s in range(200)]
    with one_thread():
        theirs = np.array([clusterer.fit(X, sample_weight=weights).inertia_ for clusterer in clusterers])
    error = np.sqrt((ours.var() + theirs.var()) / 200)
    assert error > 1e-3 * theirs.mean()  # the solutions do differ
    assert abs(ours.mean() - theirs.mean()) < 1e-3 * theirs.mean() + 3 * error


# ---------------------------------------------------------------------------------------------------------------------
# settings and samples


def test_the_strategy_follows_from_the_shape():
    shapes = {
        Strategy.BY_FEATURE: [(10, 1, 2), (10**6, 15, 50)],
        Strategy.BY_DISTANCE: [(32, 16, 2), (SHARED_POINTS, 10**4, 7), (64, 64, 2, 1)],
        Strategy.BY_PRODUCT: [(33, 16, 2), (SHARED_POINTS + 1, 10**4, 7), (65, 64, 2, 1)],
    }
    for strategy, examples in shapes.items():
        assert {strategy_for(*shape) for shape in examples} == {strategy}


def test_settings_are_those_of_the_clusterer():
    whole = KMeans(np.int64(3), n_init=np.int32(4), max_iter=np.int16(50), tol=0, random_state=np.uint8(7))
    assert Settings.of(whole) == Settings(3, 4, 50, 0.0, 7, None)
    assert Settings.of(KMeans(2, algorithm="elkan")) == Settings(2, 1, 300, 1e-4, None, None)
    assert Settings.of(KMeans(2, n_init="auto")).n_init == 1
    for init in ([[0, 1], [2, 3]], ((0.0, 1.0), (2.0, 3.0)), np.array([[0, 1], [2, 3]], np.float32)):
        assert Settings.of(KMeans(2, init=init, n_init=10)) is None  # which scikit-learn warns about
        of_init = Settings.of(KMeans(2, init=init))
        assert (of_init.n_init, of_init.n_init_features) == (1, 2)
        np.testing.assert_array_equal(of_init.init, [[0, 1], [2, 3]])


REFUSED = {
    "init": ["random", lambda X, k, random_state: X[:k], np.zeros((3, 2)), np.zeros(2), np.array([["a"], ["b"]])],
    "init ": [np.full((2, 2), np.nan), [[1.0, 2.0], [3.0]]],
    "n_clusters": [2.0, True, 0],
    "n_init": [0, "many"],
    "max_iter": [0, None],
    "tol": [-1.0, np.nan, "small"],
    "verbose": [1, True],
    "random_state": [np.random.RandomState(0), -1],
    "algorithm": ["nearest"],
}


@pytest.mark.parametrize("parameter", REFUSED)
def test_what_scikit_learn_alone_can_do_or_refuse_is_left_to_it(parameter):
    for value in REFUSED[parameter]:
        assert Settings.of(KMeans(2).set_params(**{parameter.strip(): value})) is None, value


def test_given_centres_are_rotated_with_the_points():
    X, weights, clusterer = given_centres(Strategy.BY_PRODUCT)
    rotation = Rotation.of([X], with_basis=True)
    rotated = KMeansResample(PointSet(rotation.coordinates[0]), weights.astype(int), X.shape[1])
    solution = rotated.fit(Settings.of(clusterer, rotation), SEED)
    np.testing.assert_allclose(rotation.restore(solution.centres), fit(X, weights, clusterer).centres, atol=1e-8)


def test_centres_with_other_features_are_a_failure_of_the_replicate():
    with pytest.raises(ReplicateFailure, match="init has 3 features, the data 2"):
        fit(np.eye(2), np.ones(2), KMeans(2, init=np.zeros((2, 3))))


@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_that_were_not_drawn_do_not_count(strategy, dtype, monkeypatch):
    n, p, k = SHAPES[strategy]
    X, weights, _ = tie_free(n, p, k, lightest=0)
    X, relative = X.astype(dtype), 1e-5 if dtype == np.float32 else 1e-9
    sample = KMeansResample(PointSet(X, caches_own=True), weights.astype(int), p)
    rows = np.repeat(X, weights.astype(int), axis=0).astype(float)
    assert sample.variance == pytest.approx(rows.var(axis=0).mean(), rel=relative)
    several = Settings.of(KMeans(k, n_init=6, random_state=3))
    solution = sample.fit(several, SEED)
    labels, distances = plain.nearest_centres(rows, solution.centres)
    assert solution.inertia == pytest.approx(distances.sum(), rel=relative)
    means = [rows[labels == j].mean(axis=0) for j in range(k)]
    np.testing.assert_allclose(solution.centres, means, atol=0.05)  # tol stops before the very end
    monkeypatch.setattr(kmeans, "BUDGET", 1)
    in_pieces = sample.fit(several, np.random.SeedSequence(6))  # random_state, not the seed, decides
    np.testing.assert_array_equal(in_pieces.centres, solution.centres)
    assert (in_pieces.inertia, in_pieces.n_iter) == (solution.inertia, solution.n_iter)


@pytest.mark.parametrize("strategy", Strategy)
def test_fewer_different_points_than_clusters_leave_no_centre_elsewhere(strategy, rng):
    n, p, k = SHAPES[strategy]
    two_places, others = rng.normal(size=(2, p)), rng.normal(size=(50, p))
    solution = fit(two_places[np.arange(n) % 2], np.ones(n), KMeans(k, n_init=2))
    assert solution.inertia == pytest.approx(0, abs=1e-12)
    distances = [plain.nearest_centres(others, places)[1] for places in (solution.centres, two_places)]
    np.testing.assert_allclose(*distances)
