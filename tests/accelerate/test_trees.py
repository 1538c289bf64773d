"""Agglomerative trees: against the plain algorithm, scikit-learn, SciPy and first principles."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering
from tests.kernels import plain
from tests.sentences import refused

from clustrep.accelerate import trees as _trees
from clustrep.accelerate.trees import LINKAGES, Tree, build_tree
from clustrep.checks import read_only
from clustrep.errors import DataError
from clustrep.execution import seeds as replicates
from clustrep.fitting import resample as _points
from clustrep.fitting.neighbour_lists import NearestDrawn
from clustrep.fitting.resample import PointSet
from clustrep.kernels import agglomeration

METRICS = ("euclidean", "cityblock", "cosine")
CASES = [("ward", "euclidean"), *((link, metric) for link in ("complete", "average", "single") for metric in METRICS)]
# Around the widths of a processor's vectors.
SIZES = (2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33)
FORMS = {"matrix": 4 * 10**9, "no matrix": 0}
WAYS = [*((linkage, "matrix") for linkage in LINKAGES), ("ward", "no matrix")]
ALL_WAYS = [*((linkage, metric, "matrix") for linkage, metric in CASES), ("ward", "euclidean", "no matrix")]
FUNCTIONS = [name for name, value in vars(agglomeration).items() if hasattr(value, "py_func")]


def random_points(seed, n, p=3):
    """Points without ties, away from the origin, and how often each was drawn."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + 2, rng.integers(1, 5, n)


tie_free = st.builds(random_points, st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 4))


@st.composite
def grids(draw):
    """Points with many ties, equal ones among them; thirds and tenths have no exact place in binary."""
    shape = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    steps = draw(arrays(np.int64, shape, elements=st.integers(1, draw(st.integers(1, 4)))))
    weights = draw(arrays(np.int64, shape[:1], elements=st.integers(1, 3)))
    return steps * draw(st.sampled_from([1.0, 0.1, 1 / 3])), weights


def grow(work, centres, linkage, *, sizes, budget=10**9):
    """Run the kernel until it has finished: the merges in the order of making, their heights, the number of calls."""
    n = len(sizes)
    merges, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    state = np.zeros(2, np.int64)
    place = (sizes.astype(float), np.zeros(n), merges, heights, np.zeros(n, np.int64), state)
    work, centres = (None if start is None else start.copy() for start in (work, centres))
    n_calls = 1
    while not agglomeration.merge_points(work, centres, linkage, *place, budget):
        n_calls += 1
    assert state[0] == n - 1
    return merges, heights, n_calls


def by_height(merges, heights):
    order = np.argsort(heights, kind="stable")
    return Tree(merges[order], heights[order])


def all_cuts(tree):
    return np.array([tree.cut(k) for k in range(1, len(tree.merges) + 2)])


def assert_same_tree(one, other, relative=1e-11):
    np.testing.assert_allclose(one.heights, other.heights, rtol=relative, atol=0)
    np.testing.assert_array_equal(all_cuts(one), all_cuts(other))


def assert_same_bits(one, other):
    np.testing.assert_array_equal(one.merges, other.merges)
    np.testing.assert_array_equal(one.heights, other.heights)


def numbered(labels):
    """Renumber clusters in the order of their first points."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


def is_squared(linkage, metric):
    return metric == "euclidean" and linkage != "average"


def start(X, weights, linkage, metric="euclidean"):
    distances = cdist(X, X, "sqeuclidean" if is_squared(linkage, metric) else metric)
    return plain.start_dissimilarities(distances, np.arange(len(X)), weights, LINKAGES[linkage], False)


@contextlib.contextmanager
def setting(form="matrix", **changes):
    """Build trees with or without a matrix, or change other constants."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_trees, "LARGEST_MATRIX", FORMS[form])
        for name, value in changes.items():
            patch.setattr(_points if name == "SHARED_POINTS" else _trees, name, value)
        yield


def test_linkages_have_the_same_numbers_in_both():
    for name, number in LINKAGES.items():
        assert getattr(plain, name.upper()) == getattr(agglomeration, name.upper()) == number


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("linkage", LINKAGES)
@given(points=tie_free, data=st.data())
def test_dissimilarities_at_the_start_equal_the_plain_ones(linkage, root, points, data):
    X, weights = points
    distances = cdist(X, X, "sqeuclidean")
    rows = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, unique=True)))
    args = distances, rows, weights[rows].astype(float), LINKAGES[linkage], root
    work = np.empty((len(rows), len(rows)))
    agglomeration.start_dissimilarities(*args, work)
    np.testing.assert_allclose(work, plain.start_dissimilarities(*args), rtol=4e-16, atol=0)
    np.testing.assert_array_equal(distances, cdist(X, X, "sqeuclidean"))
    np.testing.assert_array_equal(work, work.T)


@pytest.mark.parametrize(("linkage", "metric"), CASES)
@given(points=tie_free)
def test_merges_by_distance_are_those_of_the_greedy_algorithm(linkage, metric, points):
    X, weights = points
    if metric == "cosine" and X.shape[1] == 1:
        X = np.hstack([X, np.ones_like(X)])  # one feature has no angles
    work, sizes = start(X, weights, linkage, metric), weights.astype(float)
    merges, heights, _ = grow(work, None, LINKAGES[linkage], sizes=sizes)
    expected = plain.merge_points(work, LINKAGES[linkage], sizes)
    assert_same_tree(by_height(merges, heights), by_height(*expected), 1e-9 if metric == "cosine" else 1e-11)


@given(points=tie_free)
def test_merges_by_centres_are_those_of_the_greedy_algorithm(points):
    X, weights = points
    sizes = weights.astype(float)
    merges, heights, _ = grow(None, np.ascontiguousarray(X.T), agglomeration.WARD, sizes=sizes)
    assert_same_tree(by_height(merges, heights), by_height(*plain.merge_ward(X, sizes)))
    by_distance = grow(start(X, weights, "ward"), None, agglomeration.WARD, sizes=sizes)
    assert_same_tree(by_height(merges, heights), by_height(*by_distance[:2]))


@pytest.mark.parametrize(("linkage", "form"), WAYS)
@given(points=tie_free)
@settings(max_examples=15)
def test_kernels_compiled_equal_themselves_interpreted(linkage, form, points):
    # Also what shows their lines to coverage, which can't look into compiled code.
    X, weights = points
    with setting(form, BUDGET=7):
        tree = build_tree(PointSet(X), weights, linkage)
        with pytest.MonkeyPatch.context() as patch:
            for name in FUNCTIONS:
                patch.setattr(agglomeration, name, getattr(agglomeration, name).py_func)
            interpreted = build_tree(PointSet(X), weights, linkage)
            assert_same_tree(tree, interpreted, 1e-13)
    assert set(FUNCTIONS) > {"start_dissimilarities", "merge_points", "cut_tree"}


@pytest.mark.parametrize("form", ["compiled", "interpreted"])
def test_a_value_that_no_point_has_is_nowhere(form):
    find = agglomeration._first_equal if form == "compiled" else agglomeration._first_equal.py_func
    row, gone = np.array([3.0, 2.0, 2.0, 2.0]), np.array([0.0, np.inf, 0.0, 0.0])
    assert [find(row, gone, value) for value in (2.0, 3.0, 4.0)] == [2, 0, -1]


@pytest.mark.parametrize("linkage", LINKAGES)
@given(points=tie_free, budget=st.integers(0, 500))
@settings(max_examples=30)
def test_a_kernel_that_stops_and_goes_on_changes_no_bit(linkage, points, budget):
    X, weights = points
    places = [(start(X, weights, linkage), None)]
    if linkage == "ward":
        places.append((None, np.ascontiguousarray(X.T)))
    for place in places:
        merges, heights, n_calls = grow(*place, LINKAGES[linkage], sizes=weights)
        assert n_calls == 1
        again = grow(*place, LINKAGES[linkage], sizes=weights, budget=budget)
        np.testing.assert_array_equal(again[0], merges)
        np.testing.assert_array_equal(again[1], heights)
        # A step compares n numbers or more; every merge is one, and follows on another that found a neighbour.
        assert again[2] >= 2 * (len(X) - 1) or budget >= len(X)


@pytest.mark.parametrize("form", FORMS)
def test_interrupts_are_heard_while_a_tree_is_built(form, monkeypatch):
    X, weights = random_points(1, 40)
    breaths = []
    monkeypatch.setattr(replicates, "breathe", lambda: breaths.append(1))
    with setting(form):
        tree = build_tree(PointSet(X), weights, "ward")
    assert not breaths
    with setting(form, BUDGET=1000):
        assert_same_bits(build_tree(PointSet(X), weights, "ward"), tree)
    assert len(breaths) > 3


@pytest.mark.parametrize(("linkage", "metric"), CASES)
@pytest.mark.parametrize("n", SIZES)
def test_partitions_are_those_of_scikit_learn_on_repeated_rows(linkage, metric, n):
    X, weights = random_points(n, n, 4)
    tree = build_tree(PointSet(X), weights, linkage, metric)
    clusterer = AgglomerativeClustering(linkage=linkage, metric=metric)
    for k in range(1, n + 1):
        labels = clusterer.set_params(n_clusters=k).fit_predict(np.repeat(X, weights, axis=0))
        np.testing.assert_array_equal(np.repeat(tree.cut(k), weights), numbered(labels))


@pytest.mark.parametrize(("linkage", "metric"), CASES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_heights_are_those_of_scipy(linkage, metric, n, weighted):
    X, weights = random_points(n, n, 4)
    weights = weights if weighted else np.ones(n, dtype=np.int64)
    tree = build_tree(PointSet(X), weights, linkage, metric)
    heights = scipy_linkage(np.repeat(X, weights, axis=0), linkage, metric)[:, 2]
    assert np.all(heights[: weights.sum() - n] < 1e-7)  # equal rows
    expected = heights[weights.sum() - n :] ** (2 if is_squared(linkage, metric) else 1)
    np.testing.assert_allclose(tree.heights, expected, rtol=1e-11, atol=0)


def brute_force(clusters, X, weights, linkage, metric):
    """Dissimilarities between clusters, infinite to themselves."""
    if linkage == "ward":
        sizes = np.array([weights[c].sum() for c in clusters], dtype=float)
        centres = np.array([np.average(X[c], axis=0, weights=weights[c]) for c in clusters])
        d = cdist(centres, centres, "sqeuclidean") * 2 * np.outer(sizes, sizes) / np.add.outer(sizes, sizes)
    else:
        table = cdist(X, X, "sqeuclidean" if is_squared(linkage, metric) else metric)
        between = {
            "complete": lambda a, b: table[np.ix_(a, b)].max(),
            "single": lambda a, b: table[np.ix_(a, b)].min(),
            "average": lambda a, b: np.average(table[np.ix_(a, b)], weights=np.outer(weights[a], weights[b])),
        }[linkage]
        d = np.array([[between(a, b) for b in clusters] for a in clusters])
    np.fill_diagonal(d, np.inf)
    return d


def assert_every_merge_was_the_best_available(tree, X, weights, linkage, metric):
    assert tree.merges.shape == (len(X) - 1, 2)
    cluster = np.arange(len(X))
    for (x, y), height in zip(tree.merges, tree.heights, strict=True):
        names = np.unique(cluster)
        d = brute_force([np.flatnonzero(cluster == name) for name in names], X, weights, linkage, metric)
        a, b = np.searchsorted(names, cluster[[x, y]])
        assert a != b
        assert d[a, b] == pytest.approx(d.min(), rel=1e-9, abs=1e-12)
        assert height == pytest.approx(d[a, b], rel=1e-9, abs=1e-12)
        cluster[cluster == cluster[x]] = cluster[y]


@pytest.mark.parametrize(("linkage", "metric", "form"), ALL_WAYS)
@given(grid=grids())
@settings(max_examples=50)
def test_among_ties_every_merge_is_the_best_available(linkage, metric, form, grid):
    X, weights = grid
    with setting(form):
        tree = build_tree(PointSet(X), weights, linkage, metric)
    assert_every_merge_was_the_best_available(tree, X, weights, linkage, metric)


def twice_the_sum_of_squares(X, weights):
    return 2 * np.sum(weights[:, None] * (X - np.average(X, axis=0, weights=weights)) ** 2)


@pytest.mark.parametrize("form", FORMS)
@given(points=st.one_of(tie_free, grids()))
def test_heights_of_ward_sum_to_twice_the_sum_of_squares(form, points):
    # Each is twice what the sum within clusters grows by.
    with setting(form):
        heights = build_tree(PointSet(points[0]), points[1], "ward").heights
    assert heights.sum() == pytest.approx(twice_the_sum_of_squares(*points), rel=1e-11, abs=1e-24)


@pytest.mark.parametrize("form", ["matrix", "no matrix"])
def test_distances_that_differ_in_their_last_bits_alone_make_no_difference(form):
    ones = np.ones(12, dtype=np.int64)
    for seed in range(400):
        corners = np.linalg.qr(np.random.default_rng(seed).normal(size=(12, 12)))[0] + 1000
        with setting(form):
            tree = build_tree(PointSet(corners), ones, "ward")
        assert tree.heights.sum() == pytest.approx(twice_the_sum_of_squares(corners, ones), rel=1e-9)
        assert [tree.cut(k).max() for k in range(1, 13)] == list(range(12))


def test_a_chain_does_not_come_back_to_a_cluster_by_rounding():
    last_bits = [[0, 2, 2, 1, 2], [2, 0, 1, 1, 1], [2, 1, 0, 0, 0], [1, 1, 0, 0, 0], [2, 1, 0, 0, 0]]
    work = np.full((7, 7), 30.0)
    work[:5, :5] = 1.8932345269078408 + np.array(last_bits) * 2.0**-52
    work[5:, 5:] = 2.5
    np.fill_diagonal(work, np.inf)
    sizes = np.array([2.0, 3, 1, 3, 3, 1, 1])
    _, heights, _ = grow(work, None, agglomeration.WARD, sizes=sizes)
    np.testing.assert_allclose(np.sort(heights), plain.merge_points(work, agglomeration.WARD, sizes)[1])


@pytest.mark.parametrize("linkage", LINKAGES)
def test_few_points(linkage):
    for n in (1, 2, 3):
        X = np.array([[0.0], [1.0], [5.0]])[:n]
        tree = build_tree(PointSet(X), np.ones(n, dtype=np.int64), linkage)
        assert (tree.merges.shape, tree.heights.shape) == ((n - 1, 2), (n - 1,))
        assert all_cuts(tree).tolist() == [[[0]], [[0, 0], [0, 1]], [[0, 0, 0], [0, 0, 1], [0, 1, 2]]][n - 1]
    # 2 · 1 · 2 / (1 + 2) · 4.5² between {0, 1} and {5}; for the others 5², (4 + 5) / 2 and 4²
    assert tree.heights.tolist() == [1.0, {"ward": 27.0, "complete": 25.0, "average": 4.5, "single": 16.0}[linkage]]


@pytest.mark.parametrize("form", FORMS)
def test_points_without_weight_are_left_out(form):
    X, weights = random_points(5, 30)
    weights[[0, 7, 8, 29]] = 0
    drawn = weights > 0
    with setting(form):
        tree = build_tree(PointSet(X), weights, "ward")
        assert_same_bits(tree, build_tree(PointSet(X[drawn]), weights[drawn], "ward"))
    assert len(tree.cut(2)) == 26


@pytest.mark.parametrize(("linkage", "form"), WAYS)
@pytest.mark.parametrize("factor", [2.0**-40, 1e-12, 1e-6, 1e6, 1e12, 2.0**40])
def test_units_do_not_matter(linkage, form, factor):
    X, weights = random_points(6, 25)
    with setting(form):
        tree, scaled = (build_tree(PointSet(X * f), weights, linkage) for f in (1.0, factor))
    power = 2 if is_squared(linkage, "euclidean") else 1
    assert_same_tree(scaled, Tree(tree.merges, tree.heights * factor**power))


@pytest.mark.parametrize(("linkage", "metric", "form"), ALL_WAYS)
def test_single_precision_costs_nothing(linkage, metric, form):
    X, weights = random_points(7, 25)
    X = X.astype(np.float32)
    with setting(form):
        one, other = (build_tree(PointSet(table), weights, linkage, metric) for table in (X, X.astype(float)))
    assert_same_bits(one, other)


@pytest.mark.parametrize(("linkage", "form"), WAYS)
def test_equal_points_are_joined_first_and_constant_features_do_not_matter(linkage, form):
    X, _ = random_points(8, 9, 1)
    copies = np.array([3, 1, 1, 4, 1, 2, 1, 1, 5])
    rows = np.hstack([np.full((19, 2), 1e3), np.repeat(X, copies, axis=0)])
    with setting(form):
        repeated = build_tree(PointSet(rows), np.ones(19, dtype=np.int64), linkage)
        weighted = build_tree(PointSet(X), copies, linkage)
    assert repeated.heights[9] < 1e-20
    np.testing.assert_allclose(repeated.heights[10:], weighted.heights, rtol=1e-12)
    for k in range(1, 10):
        np.testing.assert_array_equal(repeated.cut(k), np.repeat(weighted.cut(k), copies))


@pytest.mark.parametrize(("linkage", "metric"), CASES)
def test_trees_are_the_same_whether_or_not_distances_are_shared(linkage, metric):
    X, weights = random_points(9, 33)
    weights[::4] = 0
    points, alone, passing = (PointSet(read_only(X), caches_own=keeps) for keeps in (True, True, False))
    tree = build_tree(points, weights, linkage, metric)
    (name,) = points._own
    assert points.distances(name) is points._own[name]
    np.testing.assert_array_equal(points.distances(name), cdist(X, X, name))  # no tree has overwritten them
    assert_same_bits(build_tree(points, weights, linkage, metric), tree)
    with setting(SHARED_POINTS=32):
        assert_same_tree(build_tree(alone, weights, linkage, metric), tree)
        assert not alone.shares_distances
        assert alone.distances(name) is not alone.distances(name)
        assert not alone._own
    assert_same_tree(build_tree(passing, weights, linkage, metric), tree)
    assert not passing._own


def test_points_in_the_forms_that_kernels_want():
    X = np.arange(12.0).reshape(4, 3)
    points = PointSet(X)
    assert len(points) == 4
    assert points.by_feature is points.by_feature
    assert points.by_feature.flags.c_contiguous
    np.testing.assert_array_equal(points.by_feature, X.T)
    np.testing.assert_array_equal(points.distances(), cdist(X, X, "sqeuclidean"))
    assert len({points, PointSet(X), points}) == 2


@pytest.mark.parametrize("n", SIZES)
def test_ward_needs_no_matrix(n, monkeypatch):
    X, weights = random_points(n, n, 2)
    tree = build_tree(PointSet(X), weights, "ward")
    monkeypatch.setattr(_trees, "LARGEST_MATRIX", 8 * n**2 - 1)
    monkeypatch.setattr(_trees, "_start", None)  # or this would be called
    assert_same_tree(build_tree(PointSet(X), weights, "ward"), tree)


@pytest.mark.parametrize("linkage", ["complete", "average", "single"])
def test_other_linkages_say_that_they_need_a_matrix(linkage, monkeypatch):
    weights = np.append(np.full(40_000, 2), 0)
    with refused(DataError):
        build_tree(PointSet(np.arange(40_001.0)[:, None]), weights, linkage)
    X, weights = random_points(10, 11)
    monkeypatch.setattr(_trees, "LARGEST_MATRIX", 8 * 11**2)
    build_tree(PointSet(X), weights, linkage)
    monkeypatch.setattr(_trees, "LARGEST_MATRIX", 8 * 11**2 - 1)
    with refused(DataError):
        build_tree(PointSet(X), weights, linkage)


@st.composite
def any_merges(draw):
    """Merges in any order, each of any point of either cluster."""
    n = draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    clusters, merges = [[i] for i in range(n)], []
    while len(clusters) > 1:
        one, other = (clusters.pop(rng.integers(len(clusters))) for _ in range(2))
        merges.append((rng.choice(one), rng.choice(other)))
        clusters.append(one + other)
    return np.array(merges, dtype=np.int64).reshape(n - 1, 2)


@given(merges=any_merges())
def test_a_cut_undoes_the_last_merges(merges):
    cuts = all_cuts(Tree(merges, np.zeros(len(merges))))
    for k, cut in enumerate(cuts, start=1):
        np.testing.assert_array_equal(cut, plain.cut_tree(merges, k))
        assert list(dict.fromkeys(cut.tolist())) == list(range(k))  # in the order of the first points
    for coarse, fine, (a, b) in zip(cuts, cuts[1:], merges[::-1], strict=False):
        assert len(set(zip(coarse.tolist(), fine.tolist(), strict=True))) == fine.max() + 1  # nested
        assert coarse[a] == coarse[b]
        assert fine[a] != fine[b]


@pytest.mark.parametrize("form", ["compiled", "interpreted"])
@given(merges=any_merges(), data=st.data())
def test_all_cuts_at_once_are_those_one_by_one(form, merges, data):
    n = len(merges) + 1
    numbers = np.array(data.draw(st.lists(st.integers(1, n + 2), min_size=1, max_size=4)))  # also more than points
    is_counted = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    cut_often = agglomeration.cut_tree_often if form == "compiled" else agglomeration.cut_tree_often.py_func
    cuts, n_counted = cut_often(merges, numbers, is_counted)
    for number, cut, n_found in zip(numbers, cuts, n_counted, strict=True):
        np.testing.assert_array_equal(cut, plain.cut_tree(merges, min(number, n)))
        assert n_found == len(np.unique(cut[is_counted]))


@pytest.mark.parametrize("linkage", LINKAGES)
def test_ties_never_cost_a_cluster(linkage):
    corners = np.eye(9)
    tree = build_tree(PointSet(corners), np.ones(9, dtype=np.int64), linkage)
    assert [len(np.unique(tree.cut(k))) for k in range(1, 10)] == list(range(1, 10))
    assert fcluster(scipy_linkage(corners, linkage), 4, "maxclust").max() < 4  # what a cut by height gives


# ---------------------------------------------------------------------------------------------------------------------
# the nearest drawn point of a study's own points


@pytest.mark.parametrize("n_equal", [0, 3])
@pytest.mark.parametrize("n_drawn", [1, 13, 40])
def test_own_points_have_the_neighbours_that_a_search_finds(n_equal, n_drawn, rng):
    X = rng.normal(size=(40, 3))
    X[:n_equal] = X[-1]
    points = PointSet(X, caches_own=True, caches_others=True)
    drawn = np.sort(rng.choice(40, n_drawn, replace=False))
    nearest = NearestDrawn.of(points, drawn, "euclidean", "cpu")
    searched = nearest.search
    np.testing.assert_array_equal(nearest(points), searched(X))
    np.testing.assert_array_equal(nearest(PointSet(X)), searched(X))
