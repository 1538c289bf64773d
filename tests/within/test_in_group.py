"""The in-group proportion, against double loops over points: neighbours, labels, null, perturbed copies, p-values."""

from __future__ import annotations

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.helpers import configured

import clustrep as cr
from clustrep.clustering import neighbours as _neighbours
from clustrep.clustering.neighbours import nearest_distances, neighbours
from clustrep.engine.replicates import Stream, make_generator, seed_of
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning


def squared(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def cityblock(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def chebyshev(x, y):
    return max(abs(a - b) for a, b in zip(x, y, strict=True))


def cosine(x, y):
    return 1 - sum(a * b for a, b in zip(x, y, strict=True)) / math.hypot(*x) / math.hypot(*y)


def neighbours_by_hand(X, j, distance=squared):
    """All others by distance, of equal ones the lower row first."""
    X = np.asarray(X).tolist()
    n = len(X)
    return [sorted((i for i in range(n) if i != h), key=lambda i: (distance(X[h], X[i]), i))[:j] for h in range(n)]


def proportions_by_hand(X, labels, j=1, distance=squared, clusters=None):
    """One number for every cluster, in sorted order; NaN for one without points."""
    nearest = neighbours_by_hand(X, j, distance)
    values = []
    for cluster in sorted(set(labels)) if clusters is None else clusters:
        members = [i for i, label in enumerate(labels) if label == cluster]
        inside = [all(labels[h] == cluster for h in nearest[i]) for i in members]
        values.append(sum(inside) / len(members) if members else math.nan)
    return values


def draw_of(perturbation, study, root, b):
    """The draw of resample b, from its seed."""
    return perturbation.draw(study, make_generator(seed_of(root, Stream.DRAW, study.name, b + 1)))


def nearest_label_by_hand(X, train, labels, distance=squared):
    """The label of the nearest training point; of equal ones the first."""
    X, train = np.asarray(X).tolist(), np.asarray(train).tolist()
    return [labels[min(range(len(train)), key=lambda i: (distance(x, train[i]), i))] for x in X]


@pytest.fixture
def X(rng):
    return rng.normal(size=(14, 3))


LABELS = [0, 1, 1, 0, 2, 2, 0, 1, 2, 0, 0, 1, 1, 0]


# ---------------------------------------------------------------------------------------------------------------------
# neighbours


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
    result = cr.in_group_proportion(cr.Study(whole / 10, "X", label=False), labels, n_neighbors=[1, 2])
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


# ---------------------------------------------------------------------------------------------------------------------
# proportions


def test_the_share_is_of_the_clusters_own_points():
    # 0 → 1, 1 → 0 (as near as 2: the lower row), 2 → 2.9, 2.9 → 2, 4 → 2.9
    result = cr.in_group_proportion([[0.0], [1.0], [2.0], [2.9], [4.0]], [0, 0, 0, 1, 1])
    assert result.proportions.tolist() == [2 / 3, 1 / 2]
    assert result.clusters.tolist() == [0, 1]
    assert result.sizes.tolist() == [3, 2]
    assert result.labels.tolist() == [0, 0, 0, 1, 1]
    assert result.overall == 3 / 5
    assert result.samples == ("1", "2", "3", "4", "5")
    assert result.n_neighbors == (1,)
    assert result.exceeding is result.null_distribution is None


@pytest.mark.parametrize(("labels", "proportions"), [("aab", [1, 0]), ("baa", [1 / 2, 0])])
def test_of_equally_near_points_the_lower_row_counts(labels, proportions):
    assert cr.in_group_proportion([[0.0], [1.0], [2.0]], list(labels)).proportions.tolist() == proportions


@pytest.mark.parametrize("j", [1, 2, 3, 5, 13])
@pytest.mark.parametrize("labels", [LABELS, [-1 if c == 1 else c for c in LABELS], ["zyx"[c] for c in LABELS]])
def test_proportions_are_those_of_a_double_loop(j, labels, X):
    result = cr.in_group_proportion(X, labels, n_neighbors=j)
    assert result.proportions.tolist() == proportions_by_hand(X, labels, j)
    assert result.clusters.tolist() == sorted(set(labels))


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from("ab")), min_size=3, max_size=10), st.data()
)
def test_proportions_of_any_small_grid_are_those_of_a_double_loop(rows, data):
    X, labels = [row[:2] for row in rows], [row[2] for row in rows]
    j = data.draw(st.integers(1, len(rows) - 1))
    study = cr.Study(X, "grid", label=False)
    assert cr.in_group_proportion(study, labels, n_neighbors=j).proportions.tolist() == proportions_by_hand(
        X, labels, j
    )


def test_several_numbers_of_neighbours_are_rows(X):
    result = cr.in_group_proportion(X, LABELS, n_neighbors=[3, 1, 2])
    assert result.n_neighbors == (3, 1, 2)
    assert result.proportions.tolist() == [proportions_by_hand(X, LABELS, j) for j in (3, 1, 2)]
    for j, row, overall in zip((3, 1, 2), result.proportions, result.overall, strict=True):
        alone = cr.in_group_proportion(X, LABELS, n_neighbors=j)
        assert alone.proportions.tolist() == row.tolist()
        assert alone.overall == pytest.approx(overall)


@pytest.mark.parametrize("several", [range(1, 3), np.array([1, 2]), (1, 2), [np.int64(1), 2]])
def test_several_numbers_may_come_in_any_sequence(several, X):
    result = cr.in_group_proportion(X, LABELS, n_neighbors=several)
    assert result.proportions.tolist() == [proportions_by_hand(X, LABELS, j) for j in (1, 2)]


def test_one_number_in_a_list_keeps_its_axis(X):
    result = cr.in_group_proportion(X, LABELS, n_neighbors=[2], n_null=2)
    assert result.proportions.shape == result.exceeding.shape == (1, 3)
    assert result.null_distribution.shape == (2, 1, 3)
    assert result.overall.shape == (1,)
    copies = cr.in_group_stability(X, LABELS, n_neighbors=[2], n_resamples=3)
    assert copies.distribution.shape == (3, 1, 3)
    assert copies.proportions.shape == (1, 3)
    assert copies.overall.shape == (1,)


def test_more_neighbours_never_raise_a_proportion(X):
    proportions = cr.in_group_proportion(X, LABELS, n_neighbors=range(1, 14)).proportions
    assert (np.diff(proportions, axis=0) <= 0).all()
    assert proportions[0].max() > 0
    assert proportions[-1].tolist() == [0, 0, 0]


def test_one_cluster_has_proportion_one(X):
    assert cr.in_group_proportion(X, [5] * 14, n_neighbors=13).proportions.tolist() == [1]


def test_a_cluster_of_one_point_has_proportion_zero():
    result = cr.in_group_proportion([[0.0], [1.0], [9.0]], ["a", "a", "b"])
    assert result.proportions.tolist() == [1, 0]
    assert result.sizes.tolist() == [2, 1]


@pytest.mark.parametrize("p", [2, 17])
def test_a_copy_is_a_neighbour_like_any_other(p, rng):
    X = np.repeat(rng.normal(size=(6, p)), 2, axis=0)
    assert cr.in_group_proportion(X, [0, 1] * 6).proportions.tolist() == [0, 0]
    assert cr.in_group_proportion(X, [0, 0, 1, 1] * 3).proportions.tolist() == [1, 1]


def test_labels_are_names_only(X):
    names = {0: "luminal", 1: "basal", 2: "her2"}
    renamed = cr.in_group_proportion(X, [names[c] for c in LABELS])
    by_name = dict(zip(renamed.clusters.tolist(), renamed.proportions.tolist(), strict=True))
    plain = cr.in_group_proportion(X, LABELS).proportions
    assert [by_name[names[c]] for c in range(3)] == plain.tolist()


def test_order_place_and_unit_do_not_matter(X, rng):
    order = rng.permutation(14)
    moved = cr.in_group_proportion(100 - 7.5 * X[order], np.array(LABELS)[order], n_neighbors=[1, 2])
    np.testing.assert_array_equal(moved.proportions, cr.in_group_proportion(X, LABELS, n_neighbors=[1, 2]).proportions)


@pytest.mark.parametrize("p", [16, 40])
def test_many_features_are_no_exception(p, rng):
    X = rng.normal(size=(14, p))
    result = cr.in_group_proportion(X, LABELS, n_neighbors=[1, 2])
    assert result.proportions.tolist() == [proportions_by_hand(X, LABELS, j) for j in (1, 2)]


def test_single_precision_gives_the_same(rng):
    X = rng.integers(0, 5, size=(14, 3)) / 4  # exact in both
    single = cr.in_group_proportion(X.astype(np.float32), LABELS, n_null=5, rng=0)
    double = cr.in_group_proportion(X, LABELS, n_null=5, rng=0)
    np.testing.assert_array_equal(single.proportions, double.proportions)
    np.testing.assert_array_equal(single.null_distribution, double.null_distribution)


# ---------------------------------------------------------------------------------------------------------------------
# metrics


@pytest.mark.parametrize(
    ("metric", "distance"),
    [
        ("euclidean", squared),
        ("sqeuclidean", squared),
        ("l2", squared),
        ("p", squared),
        ("cityblock", cityblock),
        ("manhattan", cityblock),
        ("l1", cityblock),
        ("chebyshev", chebyshev),
        ("infinity", chebyshev),
        ("cosine", cosine),
        (cityblock, cityblock),
    ],
)
@pytest.mark.parametrize("p", [3, 18])
def test_any_metric_is_that_of_a_double_loop(metric, distance, p, rng):
    X = rng.normal(size=(14, p)) * rng.uniform(0.2, 3, size=p)
    result = cr.in_group_proportion(X, LABELS, n_neighbors=[1, 2], metric=metric)
    assert result.proportions.tolist() == [proportions_by_hand(X, LABELS, j, distance) for j in (1, 2)]


def test_metrics_differ_here(rng):
    X = rng.normal(size=(14, 3)) * [1, 5, 0.2]
    several = {
        metric: cr.in_group_proportion(X, LABELS, n_neighbors=[1, 2], metric=metric).proportions.tolist()
        for metric in ("euclidean", "cosine", "seuclidean")
    }
    assert len(set(map(str, several.values()))) == 3


def test_metrics_with_a_scale_take_it_from_the_study(rng):
    X = rng.normal(size=(14, 3)) @ [[1, 2, 0], [0, 5, 1], [0, 0, 0.3]]
    scaled = X / X.std(axis=0, ddof=1)
    white = X @ np.linalg.inv(np.linalg.cholesky(np.cov(X.T)).T)
    for metric, Z in {"seuclidean": scaled, "mahalanobis": white}.items():
        result = cr.in_group_proportion(X, LABELS, n_neighbors=[1, 3], metric=metric)
        assert result.proportions.tolist() == [proportions_by_hand(Z, LABELS, j) for j in (1, 3)]


def test_a_point_without_direction_is_nobodys_neighbour_while_there_are_others():
    X = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 2.0]]
    # The first has no angle to any: all others are equally far, and the lowest row counts.
    result = cr.in_group_proportion(X, [0, 0, 0, 1, 1], metric="cosine")
    assert result.proportions.tolist() == [1, 1]
    assert cr.in_group_proportion(X, [0, 1, 1, 0, 0], metric="cosine").proportions.tolist() == [2 / 3, 1]


def test_a_constant_feature_does_not_matter_to_standardised_distances(X):
    with_constant = cr.in_group_proportion(np.column_stack([X, np.ones(14)]), LABELS, metric="seuclidean")
    plain = cr.in_group_proportion(X, LABELS, metric="seuclidean")
    np.testing.assert_array_equal(with_constant.proportions, plain.proportions)


# ---------------------------------------------------------------------------------------------------------------------
# whose labels


def test_true_takes_the_labels_of_the_study(X):
    study = cr.Study(X, "mainz", labels=LABELS)
    assert cr.in_group_proportion(study, True).proportions.tolist() == proportions_by_hand(X, LABELS)


def test_labels_with_names_are_put_in_order(X):
    samples = [f"s{i}" for i in range(14)]
    frame = pd.DataFrame(X, index=samples, columns=["a", "b", "c"])
    labels = pd.Series(LABELS, index=samples).sample(frac=1, random_state=0)
    result = cr.in_group_proportion(frame, labels)
    assert result.labels.tolist() == LABELS
    assert result.samples == tuple(samples)
    assert result.proportions.tolist() == proportions_by_hand(X, LABELS)


def test_a_clusterer_clusters_the_study(X):
    labels = AgglomerativeClustering(3).fit_predict(X)
    result = cr.in_group_proportion(X, clusterer=AgglomerativeClustering(3))
    assert sorted(result.sizes.tolist()) == sorted(np.bincount(labels).tolist())
    assert cr.adjusted_rand_index(result.labels, labels) == 1
    assert sorted(result.proportions.tolist()) == sorted(proportions_by_hand(X, labels.tolist()))


def test_a_function_may_be_the_clusterer(X):
    result = cr.in_group_proportion(X, clusterer=lambda X: np.where(X[:, 0] > 0, "high", "low"))
    labels = ["high" if x > 0 else "low" for x in X[:, 0]]
    assert result.clusters.tolist() == ["high", "low"]
    assert result.proportions.tolist() == proportions_by_hand(X, labels)


def test_noise_is_a_cluster_like_any_other():
    X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [20.0]]
    result = cr.in_group_proportion(X, clusterer=DBSCAN(eps=0.5, min_samples=2))
    assert result.clusters.tolist() == [-1, 0, 1]
    assert result.proportions.tolist() == [1 / 2, 1, 1]  # 20 → 9, 9 → 5.2


def test_noise_may_be_left_out_altogether():
    X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [5.16], [20.0]]
    labels = [0, 0, 0, 1, 1, 0, -1, -1]
    result = cr.in_group_proportion(X, labels, noise="drop")
    # 5.1 → 5.0 (as near as 5.2: the lower row), where 5.16 is not there
    assert result.clusters.tolist() == [0, 1]
    assert result.sizes.tolist() == [4, 2]
    assert result.proportions.tolist() == [3 / 4, 1]
    assert result.overall == 5 / 6
    assert result.labels.tolist() == labels
    with_noise = cr.in_group_proportion(X, labels)
    assert with_noise.clusters.tolist() == [-1, 0, 1]
    assert with_noise.proportions.tolist() == [0, 3 / 4, 1 / 2]


NOISY = [-1, 1, 1, 0, 2, 2, 0, 1, 2, -1, 0, 1, -1, 0]


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_without_noise_proportions_are_those_of_the_samples_that_are_left(metric, X):
    left = [i for i, label in enumerate(NOISY) if label != -1]
    result = cr.in_group_proportion(X, NOISY, noise="drop", n_neighbors=[1, 3], metric=metric)
    distance = squared if metric == "euclidean" else cityblock
    labels = [NOISY[i] for i in left]
    assert result.proportions.tolist() == [proportions_by_hand(X[left], labels, j, distance) for j in (1, 3)]
    assert (
        result.proportions.tolist()
        != cr.in_group_proportion(X, NOISY, n_neighbors=[1, 3], metric=metric).proportions[:, 1:].tolist()
    )
    assert result.clusters.tolist() == [0, 1, 2]
    assert result.sizes.tolist() == [labels.count(c) for c in range(3)]
    assert result.labels.tolist() == NOISY


def test_without_noise_the_null_is_that_of_the_samples_that_are_left(X):
    left = [i for i, label in enumerate(NOISY) if label != -1]
    labels = [NOISY[i] for i in left]
    result = cr.in_group_proportion(cr.Study(X, "vdx"), NOISY, noise="drop", n_neighbors=[1, 3], n_null=8, rng=6)
    null = null_by_hand(X[left], labels, "vdx", 6, 8, (1, 3))
    np.testing.assert_array_equal(result.null_distribution, null)
    for own, pvalues, values in zip(result.proportions, result.exceeding, null.transpose(1, 0, 2), strict=True):
        assert pvalues.tolist() == [pvalue_by_hand(value, values) for value in own]


@pytest.mark.parametrize("perturbation", [cr.Bootstrap(), cr.Subsample(0.7), cr.Jitter(0.5)], ids=repr)
def test_noise_is_left_out_of_copies_too(perturbation, X):
    study = cr.Study(X, "vdx")
    result = cr.in_group_stability(study, NOISY, noise="drop", perturbation=perturbation, n_resamples=8, rng=5)
    for b in range(8):
        draw = draw_of(perturbation, study, 5, b)
        rows = [i for i in sorted(set(draw.order.tolist())) if NOISY[i] != -1]
        expected = proportions_by_hand(draw.points[rows], [NOISY[i] for i in rows], clusters=[0, 1, 2])
        np.testing.assert_array_equal(result.distribution[b], expected)


def test_what_a_copy_calls_noise_is_left_out_of_it(X):
    study = cr.Study(X, "vdx")

    def clusterer(X):
        return np.where(np.abs(X[:, 1]) > 0.9, -1, (X[:, 0] > np.median(X[:, 0])) * 1)

    result = cr.in_group_stability(
        study, clusterer=clusterer, noise="drop", perturbation=cr.Subsample(0.7), n_resamples=8, rng=5
    )
    reference = clusterer(X).tolist()
    assert result.labels.tolist() == reference
    assert result.clusters.tolist() == [0, 1]
    n_dropped = 0
    for b in range(8):
        draw = draw_of(cr.Subsample(0.7), study, 5, b)
        new = dict(zip(draw.order.tolist(), clusterer(draw.sample).tolist(), strict=True))
        rows = [i for i in sorted(new) if new[i] != -1]
        n_dropped += len(new) - len(rows)
        # Clusters are halves by the first feature, so 0 is found again as 0 and 1 as 1.
        expected = proportions_by_hand(X[rows], [new[i] for i in rows], clusters=[0, 1])
        np.testing.assert_array_equal(result.distribution[b], expected)
    assert n_dropped


def test_noise_alone_leaves_nobody_to_judge(X):
    with pytest.raises(ParameterError, match="n_neighbors must be below the number of samples, 0, noise apart, got 1"):
        cr.in_group_proportion(X, [-1] * 14, noise="drop")
    with pytest.raises(ParameterError, match="n_neighbors must be below the number of samples, 2, noise apart, got 2"):
        cr.in_group_proportion(X, [-1] * 12 + [0, 1], noise="drop", n_neighbors=2)


def test_a_clusterer_with_fixed_seed_gives_what_its_labels_give(X):
    clusterer = KMeans(3, n_init=2, random_state=0)
    result = configured(cr.in_group_proportion, accelerate=False)(X, clusterer=clusterer)
    labels = clusterer.fit_predict(X)
    assert result.labels.tolist() == labels.tolist()
    assert result.proportions.tolist() == proportions_by_hand(X, labels.tolist())


# ---------------------------------------------------------------------------------------------------------------------
# across studies


def test_labels_of_the_training_study_are_carried_over_by_the_nearest_sample(X, rng):
    train = rng.integers(-2, 3, size=(14, 3)).astype(float)
    train[5] = train[0]  # another label: the first row counts
    points = np.concatenate([np.rint(X[:6]), train[5:7], X[:4]])
    result = cr.in_group_proportion(points, LABELS, train=train, n_neighbors=[1, 2])
    labels = nearest_label_by_hand(points, train, LABELS)
    assert labels[6] == LABELS[0] != LABELS[5]
    assert result.labels.tolist() == labels
    assert result.proportions.tolist() == [proportions_by_hand(points, labels, j) for j in (1, 2)]
    assert result.provenance["train"] == "train"


def test_training_and_testing_are_not_the_same(rng):
    a, b = rng.normal(size=(10, 2)), rng.normal(size=(12, 2))
    result = cr.in_group_proportion(a, [0, 1] * 6, train=b)
    assert len(result.labels) == 10
    assert result.labels.tolist() == nearest_label_by_hand(a, b, [0, 1] * 6)


def test_a_cluster_without_samples_keeps_its_row():
    train = [[0.0], [1.0], [50.0], [51.0], [99.0]]
    result = cr.in_group_proportion([[0.4], [0.2], [48.0]], list("aabbc"), train=train)
    assert result.clusters.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(result.proportions, [1, 0, np.nan])
    assert result.sizes.tolist() == [2, 1, 0]
    assert result.overall == 2 / 3
    assert result.labels.tolist() == ["a", "a", "b"]


def test_clusters_that_are_absent_count_in_the_null_alone(X, rng):
    train = np.concatenate([rng.normal(size=(12, 3)), [[50.0] * 3, [50.5] * 3, [-80.0] * 3]])
    learned = [
        *"babcabcbacba",
        "x",
        "x",
        "a0",
    ]  # two clusters that are far away, one of them in the middle of the order
    study = cr.Study(X, "vdx")
    result = cr.in_group_proportion(study, learned, train=train, n_neighbors=[1, 2], n_null=10, rng=7)
    labels = nearest_label_by_hand(X, train, learned)
    clusters = ["a", "a0", "b", "c", "x"]
    assert result.labels.tolist() == labels
    assert result.clusters.tolist() == clusters
    assert result.sizes.tolist() == [labels.count(c) for c in clusters]
    assert result.sizes[[1, 4]].tolist() == [0, 0]
    proportions = [proportions_by_hand(X, labels, j, clusters=clusters) for j in (1, 2)]
    np.testing.assert_array_equal(result.proportions, proportions)
    null = null_by_hand(X, labels, "vdx", 7, 10, (1, 2), n_centres=5)
    np.testing.assert_array_equal(result.null_distribution, null)
    assert np.isnan(result.exceeding).tolist() == [[False, True, False, False, True]] * 2
    for own, pvalues, values in zip(proportions, result.exceeding, null.transpose(1, 0, 2), strict=True):
        expected = [math.nan if math.isnan(value) else pvalue_by_hand(value, values) for value in own]
        np.testing.assert_array_equal(pvalues, expected)
    frame = result.to_frame()
    assert frame["size"].tolist() == result.sizes.tolist() * 2
    assert frame["pvalue"].isna().tolist() == [False, True, False, False, True] * 2


def test_true_takes_the_labels_of_the_training_study(X, rng):
    train = cr.Study(rng.normal(size=(14, 3)), "vdx", labels=LABELS)
    study = cr.Study(X, "mainz", labels=[9] * 14)
    result = cr.in_group_proportion(study, True, train=train)
    assert result.labels.tolist() == nearest_label_by_hand(X, train.X, LABELS)
    assert result.provenance["train"] == "vdx"


def test_a_clusterer_sees_the_training_study_only(X, rng):
    train = rng.normal(size=(20, 3))
    seen = []

    def clusterer(X):
        seen.append(X.copy())
        return (X[:, 1] > 0.3).astype(int)

    result = cr.in_group_proportion(X, clusterer=clusterer, train=train)
    assert seen
    assert all(np.array_equal(one, train) for one in seen)
    assert result.labels.tolist() == nearest_label_by_hand(X, train, (train[:, 1] > 0.3).astype(int).tolist())


def test_a_clusterer_without_predict_labels_by_the_nearest_training_sample(X, rng):
    train = rng.normal(size=(20, 3))
    learned = AgglomerativeClustering(3).fit_predict(train).tolist()
    labels = nearest_label_by_hand(X, train, learned)
    result = cr.in_group_proportion(X, clusterer=AgglomerativeClustering(3), train=train)
    assert cr.adjusted_rand_index(result.labels, labels) == 1
    assert len(set(labels)) == 2  # the third cluster has no sample here
    there = result.sizes > 0
    assert sorted(result.proportions[there].tolist()) == sorted(proportions_by_hand(X, labels))
    assert np.isnan(result.proportions[~there]).tolist() == [True]


def test_a_clusterer_with_predict_labels_by_it(X, rng):
    train = rng.normal(size=(20, 3))
    clusterer = KMeans(3, n_init=2, random_state=1)
    result = configured(cr.in_group_proportion, accelerate=False)(X, clusterer=clusterer, train=train)
    labels = clusterer.fit(train).predict(X).tolist()
    assert result.labels.tolist() == labels
    assert labels != nearest_label_by_hand(X, train, clusterer.labels_.tolist())
    assert result.proportions.tolist() == proportions_by_hand(X, labels)


def test_features_are_aligned_by_name(X, rng):
    train = pd.DataFrame(rng.normal(size=(14, 3)) * [1, 3, 9], columns=["a", "b", "c"])
    frame = pd.DataFrame(X * [1, 3, 9], columns=["a", "b", "c"])
    plain = cr.in_group_proportion(frame, LABELS, train=train)
    shuffled = cr.in_group_proportion(frame, LABELS, train=train[["c", "a", "b"]])
    assert shuffled.labels.tolist() == plain.labels.tolist()
    assert shuffled.labels.tolist() == nearest_label_by_hand(frame.to_numpy(), train.to_numpy(), LABELS)
    np.testing.assert_array_equal(shuffled.proportions, plain.proportions)


def test_a_study_trained_on_itself_keeps_its_labels(X):
    study = cr.Study(X, "mainz", labels=LABELS)
    assert cr.in_group_proportion(study, True, train=study).labels.tolist() == LABELS


def test_the_provenance_of_a_cross_study_result_names_the_clusterer(X):
    result = cr.in_group_proportion(X, clusterer=AgglomerativeClustering(2), train=X + 0.1)
    assert "AgglomerativeClustering" in str(result.provenance["clusterers"])


# ---------------------------------------------------------------------------------------------------------------------
# p-values


def null_by_hand(X, labels, name, root, n_null, js, distance=squared, n_centres=None):
    """Centres uniform in the box of the centroids along the principal components, points to the nearest one."""
    clusters = sorted(set(labels))
    k = len(clusters) if n_centres is None else n_centres
    centre = X.mean(axis=0)
    axes = [np.sign(max(axis, key=abs)) * axis for axis in np.linalg.svd(X - centre, full_matrices=False)[2]]
    centroids = np.array([X[[label == c for label in labels]].mean(axis=0) for c in clusters])
    places = np.array([[np.dot(axis, centroid - centre) for axis in axes] for centroid in centroids])
    values = []
    for b in range(n_null):
        rng = np.random.default_rng(seed_of(root, Stream.NULL, name, b + 1))
        drawn = rng.uniform(places.min(axis=0), places.max(axis=0), size=(k, places.shape[1]))
        centres = [centre + sum(t * axis for t, axis in zip(row, axes, strict=True)) for row in drawn]
        codes = [min(range(len(centres)), key=lambda c: distance(x, centres[c])) for x in X]
        values.append([proportions_by_hand(X, codes, j, distance, range(k)) for j in js])
    return np.array(values)


def pvalue_by_hand(own, null):
    pooled = [value for value in np.ravel(null) if not math.isnan(value)]
    return (1 + sum(value >= own for value in pooled)) / (1 + len(pooled))


@pytest.mark.parametrize("p", [1, 3, 20])
def test_pvalues_are_those_of_random_contiguous_partitions(p, rng):
    X = rng.normal(size=(14, p)) * rng.uniform(0.5, 2, size=p) + 4
    study = cr.Study(X, "vdx")
    result = cr.in_group_proportion(study, LABELS, n_neighbors=[1, 2], n_null=12, rng=11)
    null = null_by_hand(X, LABELS, "vdx", 11, 12, (1, 2))
    np.testing.assert_array_equal(result.null_distribution, null)
    for own, pvalues, values in zip(result.proportions, result.exceeding, null.transpose(1, 0, 2), strict=True):
        assert pvalues.tolist() == [pvalue_by_hand(value, values) for value in own]
    alone = cr.in_group_proportion(study, LABELS, n_null=12, rng=11)
    assert alone.exceeding.tolist() == result.exceeding[0].tolist()
    assert alone.null_distribution.shape == (12, 1, 3)


def pvalues_in_other_orders(X, labels, **options):
    """The p-values of the samples in 20 orders: of one study, whatever the order of its rows."""
    labels = np.array(labels)
    orders = [np.arange(len(X)), *(np.random.default_rng(i).permutation(len(X)) for i in range(20))]
    return np.array(
        [
            cr.in_group_proportion(cr.Study(X[order], "vdx"), labels[order], n_null=40, rng=2, **options).exceeding
            for order in orders
        ]
    )


@pytest.mark.parametrize(("p", "metric"), [(1, "euclidean"), (3, "euclidean"), (30, "euclidean"), (3, "cityblock")])
def test_pvalues_do_not_depend_on_the_order_of_samples(p, metric, rng):
    X = rng.normal(size=(24, p)) * rng.uniform(0.5, 2, size=p) + 4
    labels = np.where(X[:, 0] > 4, "high", "low")
    labels[:3] = "few"
    first, *others = pvalues_in_other_orders(X, labels, n_neighbors=[1, 2], metric=metric)
    assert len(np.unique(first)) > 1
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("slope", [1, -1])
def test_pvalues_of_two_standardised_features_do_not_depend_on_the_order_of_samples(slope, rng):
    X = rng.normal(size=(24, 2))
    X[:, 1] += slope * X[:, 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # the principal axes are the diagonals
    first, *others = pvalues_in_other_orders(X, [0, 1, 2] * 8)
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_pvalues_do_not_depend_on_the_names_of_clusters(X):
    names = {0: "z", 1: "x", 2: "y"}
    plain = cr.in_group_proportion(X, LABELS, n_null=20, rng=1)
    renamed = cr.in_group_proportion(X, [names[c] for c in LABELS], n_null=20, rng=1)
    by_name = dict(zip(renamed.clusters.tolist(), renamed.exceeding.tolist(), strict=True))
    assert [by_name[names[c]] for c in range(3)] == plain.exceeding.tolist()


def test_null_partitions_use_the_metric(X):
    result = cr.in_group_proportion(X, LABELS, metric="cityblock", n_null=8, rng=3)
    np.testing.assert_array_equal(
        result.null_distribution, null_by_hand(X, LABELS, "X", 3, 8, (1,), distance=cityblock)
    )


def test_null_clusters_without_samples_do_not_count(rng):
    X = np.concatenate([rng.normal(0, 0.01, size=(8, 2)), rng.normal(100, 0.01, size=(1, 2))])
    labels = [0, 1, 2, 3, 0, 1, 2, 3, 4]
    result = cr.in_group_proportion(X, labels, n_null=15, rng=0)
    null = null_by_hand(X, labels, "X", 0, 15, (1,))
    assert np.isnan(null).any()
    assert not np.isnan(null).all(axis=(1, 2)).any()
    np.testing.assert_array_equal(result.null_distribution, null)
    assert result.exceeding.tolist() == [pvalue_by_hand(value, null) for value in result.proportions]


def test_a_null_cluster_as_good_as_ours_counts_against_it():
    X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    result = cr.in_group_proportion(X, [0, 0, 0, 1, 1, 1], n_null=9, rng=0)
    assert result.proportions.tolist() == [1, 1]
    n_null = np.count_nonzero(~np.isnan(result.null_distribution))
    n_ones = np.count_nonzero(result.null_distribution == 1)
    assert n_ones > 0
    assert result.exceeding.tolist() == [(1 + n_ones) / (1 + n_null)] * 2


def test_one_cluster_is_no_evidence(X):
    assert cr.in_group_proportion(X, [0] * 14, n_null=5, rng=0).exceeding.tolist() == [1]


def test_equal_points_are_no_evidence():
    X = np.ones((5, 2))
    assert cr.in_group_proportion(cr.Study(X, "X", label=False), [0, 0, 1, 1, 1], n_null=4).exceeding.tolist() == [1, 1]


def test_null_partitions_belong_to_the_seed_the_study_and_their_number(X):
    study = cr.Study(X, "vdx")
    long = cr.in_group_proportion(study, LABELS, n_null=9, rng=5).null_distribution
    np.testing.assert_array_equal(cr.in_group_proportion(study, LABELS, n_null=4, rng=5).null_distribution, long[:4])
    train = cr.Study(X, "other", labels=LABELS)  # the same labels come from elsewhere
    across = cr.in_group_proportion(study, True, train=train, n_null=9, rng=5)
    assert across.labels.tolist() == LABELS
    np.testing.assert_array_equal(across.null_distribution, long)
    for other in (
        cr.in_group_proportion(study, LABELS, n_null=9, rng=6),
        cr.in_group_proportion(cr.Study(X, "mainz"), LABELS, n_null=9, rng=5),
    ):
        assert not np.array_equal(other.null_distribution, long, equal_nan=True)


def test_null_partitions_know_the_metric_by_its_other_name(X):
    plain = cr.in_group_proportion(X, LABELS, metric="cityblock", n_null=4, rng=0)
    other = cr.in_group_proportion(X, LABELS, metric="manhattan", n_null=4, rng=0)
    np.testing.assert_array_equal(other.null_distribution, plain.null_distribution)


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_null_partitions_take_the_scale_of_the_metric_from_the_study(metric, rng):
    X = rng.normal(size=(14, 2)) @ [[1, 3], [0, 8]]
    weights = np.diag(1 / X.var(axis=0, ddof=1)) if metric == "seuclidean" else np.linalg.inv(np.cov(X.T))

    def distance(x, y):
        d = np.subtract(x, y)
        return float(d @ weights @ d)

    result = cr.in_group_proportion(X, LABELS, metric=metric, n_null=6, rng=0)
    np.testing.assert_array_equal(result.null_distribution, null_by_hand(X, LABELS, "X", 0, 6, (1,), distance))


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_one_cluster_is_no_evidence_in_a_metric_with_a_scale(metric, X):
    assert cr.in_group_proportion(X, [0] * 14, metric=metric, n_null=3, rng=0).exceeding.tolist() == [1]


def test_a_sample_without_direction_does_not_stop_the_null(X):
    X[3] = 0
    assert cr.in_group_proportion(X, LABELS, metric="cosine", n_null=3, rng=0).exceeding.shape == (3,)


@pytest.mark.parametrize(("k", "d"), [(2, 2), (3, 5)])
def test_clusters_of_plain_gaussians_are_not_significant_more_often_than_nominal(k, d):
    n_sets = 150
    pvalues = []
    for i in range(n_sets):
        train, X = np.random.default_rng([k, d, i]).normal(size=(2, 40, d))
        result = cr.in_group_proportion(X, clusterer=KMeans(k, n_init=2), train=train, n_null=40, rng=i)
        pvalues.append(result.exceeding[0])
    for level in (0.05, 0.2):
        n_rejected = sum(p <= level for p in pvalues)
        assert binomtest(n_rejected, n_sets, level, alternative="greater").pvalue > 0.01


def test_clusters_that_replicate_have_smaller_pvalues_than_scattered_labels():
    rng = np.random.default_rng(0)
    centres = np.zeros((3, 30))
    centres[range(3), range(3)] = 4
    train, X = (np.repeat(centres, 30, axis=0) + rng.normal(size=(90, 30)) for _ in range(2))
    replicated = cr.in_group_proportion(X, clusterer=KMeans(3, n_init=5), train=train, n_null=100, rng=0)
    assert replicated.proportions.min() > 0.9
    assert replicated.pvalues.max() < 0.3
    scattered = cr.in_group_proportion(X, rng.permutation(replicated.labels), n_null=100, rng=0)
    assert scattered.exceeding.min() > 0.8
    assert scattered.pvalues is None


@pytest.mark.parametrize("clusterer", [KMeans(3, n_init=1), AgglomerativeClustering(3)], ids=["k-means", "ward"])
def test_clusters_of_nothing_are_rarely_significant(clusterer):
    """Where random cells would reject up to every second cluster; the first cluster of every study, so independent."""
    n_sets = 40
    pvalues = []
    for i in range(n_sets):
        X = np.random.default_rng([91, i]).normal(size=(60, 20))
        result = cr.in_group_proportion(X, clusterer=clusterer, n_null=19, rng=i)
        assert result.pvalues_are.startswith("p-values: against simulated data")
        pvalues.append(result.pvalues[0])
    n_rejected = sum(p <= 0.05 for p in pvalues)
    assert binomtest(n_rejected, n_sets, 0.05, alternative="greater").pvalue > 0.01


def test_simulated_data_are_clustered_again():
    """A clusterer that sees which data it was given: simulated data have the study's shape and are other data."""
    X, seen = np.random.default_rng(0).normal(size=(20, 3)), []

    def halves(table):
        seen.append(np.array(table))
        if len(seen) == 3:
            raise ValueError("not this one")
        return (table[:, 0] > 0).astype(int)

    result = cr.in_group_proportion(X, clusterer=halves, n_null=4, rng=1)
    assert len(seen) == 5
    np.testing.assert_array_equal(seen[0], X)
    assert all(table.shape == X.shape and not np.allclose(table, X) for table in seen[1:])
    assert np.isnan(result.null_distribution[1]).all()
    kept = result.null_distribution[[0, 2, 3]].ravel()
    expected = [(1 + sum(kept >= value)) / (1 + len(kept)) for value in result.proportions]
    assert result.pvalues.tolist() == expected


def test_labels_of_the_same_data_have_no_pvalues(X):
    result = cr.in_group_proportion(X, LABELS, n_null=5, rng=0)
    assert result.pvalues is None
    assert result.exceeding.shape == (3,)
    assert result.pvalues_are.startswith("No p-values: random cells are no null")
    assert result.pvalues_are in repr(result)


# ---------------------------------------------------------------------------------------------------------------------
# perturbed copies


@pytest.mark.parametrize(
    "perturbation",
    [
        cr.Bootstrap(),
        cr.Bootstrap(distinct=True),
        cr.Subsample(0.6),
        cr.Jitter(0.5),
        cr.FeatureSubset(0.7),
        cr.Bootstrap() + cr.Jitter(0.3),
    ],
    ids=repr,
)
def test_labels_travel_with_the_samples_each_distinct_row_once(perturbation, X):
    study = cr.Study(X, "vdx")
    result = cr.in_group_stability(study, LABELS, n_neighbors=[1, 2], perturbation=perturbation, n_resamples=8, rng=21)
    assert result.proportions.tolist() == [proportions_by_hand(X, LABELS, j) for j in (1, 2)]
    for b in range(8):
        draw = draw_of(perturbation, study, 21, b)
        rows = sorted(set(draw.order.tolist()))
        labels = [LABELS[i] for i in rows]
        expected = [proportions_by_hand(draw.points[rows], labels, j, clusters=[0, 1, 2]) for j in (1, 2)]
        np.testing.assert_array_equal(result.distribution[b], expected)
    assert result.failures == {}


def test_a_cluster_that_was_not_drawn_has_no_proportion(X):
    study = cr.Study(X, "vdx")
    labels = [7] + [3, 5] * 6 + [3]
    result = cr.in_group_stability(study, labels, perturbation=cr.Bootstrap(), n_resamples=12, rng=0)
    absent = [0 not in draw_of(cr.Bootstrap(), study, 0, b).order for b in range(12)]
    assert 0 < sum(absent) < 12
    assert np.isnan(result.distribution[:, 2]).tolist() == absent
    assert not np.isnan(result.distribution[:, :2]).any()
    assert result.to_frame()["mean"][2] == 0


def test_a_copy_needs_one_sample_more_than_neighbours(X):
    result = cr.in_group_stability(X[:5], [0] * 5, n_neighbors=3, perturbation=cr.Subsample(0.8), n_resamples=3, rng=0)
    assert result.distribution.tolist() == [[1]] * 3


def test_labels_from_a_training_study_travel_too(X, rng):
    train, study = rng.normal(size=(14, 3)), cr.Study(X, "vdx")
    labels = nearest_label_by_hand(X, train, LABELS)
    across = cr.in_group_proportion(study, LABELS, train=train, rng=2)
    options = {"perturbation": cr.Bootstrap(), "n_resamples": 5, "rng": 2}
    copies = cr.in_group_stability(study, across.labels, **options)
    np.testing.assert_array_equal(copies.distribution, cr.in_group_stability(study, labels, **options).distribution)
    np.testing.assert_array_equal(copies.proportions, across.proportions)


def matched_by_hand(X, rows, new, reference, clusters):
    """Proportions under every one-to-one matching that keeps most points together."""
    names = sorted(set(new))
    size = max(len(names), len(clusters))
    # Beyond the clusters there are are places for those without a partner.
    places = [*clusters, *(f"none {i}" for i in range(size))]
    best, values = -1, []
    for partners in itertools.permutations(places, len(names)):
        renamed = [partners[names.index(label)] for label in new]
        kept = sum(a == b for a, b in zip(renamed, reference, strict=True))
        if kept > best:
            best, values = kept, []
        if kept == best:
            values.append(proportions_by_hand(X[rows], renamed, clusters=clusters))
    return values


@pytest.mark.parametrize("perturbation", [cr.Bootstrap(), cr.Subsample(0.7), cr.Jitter(0.8)], ids=repr)
@pytest.mark.parametrize("accelerate", [True, False])
def test_a_clusterer_finds_its_clusters_again_and_they_are_matched(perturbation, accelerate, X):
    study = cr.Study(X, "vdx")
    clusterer = AgglomerativeClustering(3, linkage="average")
    result = configured(cr.in_group_stability, accelerate=accelerate)(
        study, clusterer=clusterer, perturbation=perturbation, n_resamples=8, rng=4
    )
    reference = result.labels.tolist()
    for b in range(8):
        draw = draw_of(perturbation, study, 4, b)
        rows = sorted(set(draw.order.tolist()))
        found = clusterer.fit_predict(draw.sample)
        new = [found[draw.order.tolist().index(i)] for i in rows]
        candidates = matched_by_hand(draw.points, rows, new, [reference[i] for i in rows], result.clusters.tolist())
        assert any(np.array_equal(result.distribution[b], one, equal_nan=True) for one in candidates)
    assert len(np.unique(result.distribution.round(6), axis=0)) > 1


def test_a_copy_with_more_clusters_than_the_study_has_some_without_partner(X):
    study = cr.Study(X, "vdx")

    def clusterer(X):
        return np.arange(len(X)) % 2 if len(X) == 14 else np.arange(len(X)) % 4

    result = cr.in_group_stability(study, clusterer=clusterer, perturbation=cr.Subsample(0.8), n_resamples=5, rng=1)
    assert result.distribution.shape == (5, 2)
    for b in range(5):
        draw = draw_of(cr.Subsample(0.8), study, 1, b)
        order = draw.order.tolist()
        rows = sorted(order)
        new = [order.index(i) % 4 for i in rows]
        candidates = matched_by_hand(X, rows, new, [i % 2 for i in rows], [0, 1])
        assert result.distribution[b].tolist() in candidates


def test_a_copy_with_fewer_clusters_leaves_one_without_a_proportion(X):
    def clusterer(X):
        return np.arange(len(X)) % 3 if len(X) == 14 else np.zeros(len(X), dtype=int)

    result = cr.in_group_stability(X, clusterer=clusterer, perturbation=cr.Subsample(0.8), n_resamples=4, rng=1)
    assert np.isnan(result.distribution).sum(axis=1).tolist() == [2] * 4
    assert np.nanmax(result.distribution, axis=1).tolist() == [1] * 4


def test_copies_that_can_not_be_clustered_are_counted(X):
    study = cr.Study(X, "vdx")

    def clusterer(X):
        if len(X) < 14 and X[0, 0] > 0:
            raise RuntimeError("not today")
        return (X[:, 1] > 0).astype(int)

    with pytest.warns(ReplicateWarning, match=r"resamples? of 10 failed .*RuntimeError: not today"):
        result = cr.in_group_stability(
            study, clusterer=clusterer, perturbation=cr.Subsample(0.7), n_resamples=10, rng=0
        )
    failing = [draw_of(cr.Subsample(0.7), study, 0, b).sample[0, 0] > 0 for b in range(10)]
    assert 0 < sum(failing) < 10
    assert np.isnan(result.distribution).all(axis=1).tolist() == failing
    assert (result.failed > 0).tolist() == failing
    assert result.failures == {"RuntimeError: not today": sum(failing)}


def test_where_no_copy_can_be_clustered_there_is_no_result(X):
    def clusterer(X):
        if len(X) < 14:
            raise RuntimeError("never")
        return (X[:, 1] > 0).astype(int)

    with pytest.raises(AllReplicatesFailed, match=r"Not one resample could be scored; 3 resamples failed.*never \(3\)"):
        cr.in_group_stability(X, clusterer=clusterer, perturbation=cr.Subsample(0.7), n_resamples=3)


def test_copies_with_too_few_distinct_rows_are_counted(X):
    study = cr.Study(X[:5], "vdx")
    with pytest.warns(ReplicateWarning):
        result = cr.in_group_stability(
            study, [0, 0, 0, 1, 1], n_neighbors=3, perturbation=cr.Bootstrap(), n_resamples=20, rng=0
        )
    few = [len(set(draw_of(cr.Bootstrap(), study, 0, b).order.tolist())) <= 3 for b in range(20)]
    assert (result.failed > 0).tolist() == few


def test_where_every_copy_has_too_few_rows_there_is_no_result(X):
    with pytest.raises(AllReplicatesFailed, match="Not one resample"):
        cr.in_group_stability(X, LABELS, n_neighbors=8, perturbation=cr.Subsample(0.5), n_resamples=3)


def test_two_clusters_of_one_study_have_the_same_draws_whatever_else_is_asked_for(X):
    arguments = {"perturbation": cr.Bootstrap(), "rng": 8}
    long = cr.in_group_stability(X, LABELS, n_resamples=9, n_neighbors=[1, 2], **arguments)
    short = cr.in_group_stability(X, LABELS, n_resamples=4, **arguments)
    np.testing.assert_array_equal(long.distribution[:4, 0], short.distribution)


def test_workers_and_batches_do_not_matter(X):
    arguments = {
        "clusterer": KMeans(3, n_init=2),
        "perturbation": cr.Bootstrap(),
        "n_resamples": 6,
        "rng": 8,
    }
    expected = cr.in_group_stability(X, **arguments)
    for other in (
        cr.in_group_stability(X, n_jobs=2, **arguments),
        configured(cr.in_group_stability, progress=False)(X, **arguments),
    ):
        np.testing.assert_array_equal(other.labels, expected.labels)
        np.testing.assert_array_equal(other.distribution, expected.distribution)


@pytest.mark.parametrize("options", [{"labels": LABELS}, {"clusterer": AgglomerativeClustering(3)}])
def test_a_change_that_changes_nothing_leaves_the_proportions_as_they_are(options, X):
    for perturbation in (cr.Rerun(), cr.Subsample(1.0)):
        result = cr.in_group_stability(X, **options, n_neighbors=[1, 2], perturbation=perturbation, n_resamples=2)
        np.testing.assert_array_equal(result.distribution, [result.proportions] * 2)


# ---------------------------------------------------------------------------------------------------------------------
# the result


@pytest.fixture
def result(X):
    return cr.in_group_proportion(X, ["zyx"[c] for c in LABELS], n_neighbors=[1, 2], n_null=5, rng=1)


@pytest.fixture
def copies(X):
    labels = ["zyx"[c] for c in LABELS]
    return cr.in_group_stability(X, labels, n_neighbors=[1, 2], perturbation=cr.Bootstrap(), n_resamples=7, rng=1)


def test_the_frame_has_a_row_for_every_number_and_cluster(result, copies):
    frame = result.to_frame()
    assert list(frame) == ["n_neighbors", "cluster", "size", "proportion", "exceeding"]
    assert frame["n_neighbors"].tolist() == [1, 1, 1, 2, 2, 2]
    assert frame["cluster"].tolist() == ["x", "y", "z"] * 2
    assert frame["size"].tolist() == [3, 5, 6] * 2
    assert frame["proportion"].tolist() == result.proportions.ravel().tolist()
    assert frame["exceeding"].tolist() == result.exceeding.ravel().tolist()
    pd.testing.assert_frame_equal(copies.to_frame().iloc[:, :4], frame.iloc[:, :4])


def test_the_frame_sums_up_copies(copies):
    frame = copies.to_frame(confidence_level=0.5)
    assert list(frame)[4:] == ["mean", "sd", "low", "high"]
    for i, (j, c) in enumerate(itertools.product(range(2), range(3))):
        values = [v for v in copies.distribution[:, j, c] if not math.isnan(v)]
        mean = sum(values) / len(values)
        assert frame["mean"][i] == pytest.approx(mean)
        assert frame["sd"][i] == pytest.approx(math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)))
        assert [frame["low"][i], frame["high"][i]] == pytest.approx(np.quantile(values, [0.25, 0.75]).tolist())


def test_the_frame_has_only_what_was_asked_for(X):
    assert list(cr.in_group_proportion(X, LABELS).to_frame()) == ["n_neighbors", "cluster", "size", "proportion"]
    assert list(cr.in_group_proportion(X, LABELS, n_null=2).to_frame())[4:] == ["exceeding"]
    once = cr.in_group_stability(X, LABELS, perturbation=cr.Jitter(), n_resamples=1).to_frame()
    assert list(once)[4:] == ["mean", "sd", "low", "high"]
    assert once["sd"].isna().all()


def test_the_overall_share_counts_every_sample_once(X, result):
    nearest = neighbours_by_hand(X, 2)
    for j, overall in zip((1, 2), result.overall, strict=True):
        inside = [all(LABELS[i] == LABELS[h] for i in nearest[h][:j]) for h in range(14)]
        assert overall == pytest.approx(sum(inside) / 14)


def test_a_saved_result_is_the_same_when_loaded(result, tmp_path):
    result.save(tmp_path / "igp.clustrep")
    loaded = cr.load(tmp_path / "igp.clustrep")
    assert type(loaded) is type(result)
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())
    for name in ("null_distribution", "labels", "clusters", "sizes"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(result, name))
    plain = {"n_neighbors": list(result.n_neighbors)}  # see the next test
    assert {**loaded.provenance, **plain} == {**result.provenance, **plain}
    assert loaded.n_neighbors == result.n_neighbors
    assert loaded.samples == result.samples
    assert repr(loaded) == repr(result)


def test_a_saved_result_has_the_same_provenance_when_loaded(result, tmp_path):
    result.save(tmp_path / "igp.clustrep")
    assert cr.load(tmp_path / "igp.clustrep").provenance == result.provenance


def test_a_saved_result_without_null_is_the_same_when_loaded(X, tmp_path):
    result = cr.in_group_proportion(X, LABELS)
    result.save(tmp_path / "igp.clustrep")
    loaded = cr.load(tmp_path / "igp.clustrep")
    assert loaded.pvalues is loaded.null_distribution is None
    assert loaded.overall == result.overall
    assert repr(loaded) == repr(result)


@pytest.mark.parametrize("name", ["proportions", "exceeding", "null_distribution", "labels", "clusters", "sizes"])
def test_arrays_are_read_only(result, name):
    array = getattr(result, name)
    with pytest.raises(ValueError, match="read-only"):
        array[...] = array


def test_a_result_in_words(result):
    first, *lines = repr(result).splitlines()
    assert first == "In-group proportion: 14 samples, clusters by known labels, 5 null partitions, seed 1"
    assert lines == [*result.to_frame().round(3).to_string(index=False).splitlines(), result.pvalues_are]
    assert "exceeding" in lines[0]
    assert len(lines) == 1 + 6 + 1


def test_words_name_the_clusterer_and_its_training_study(X):
    train = cr.Study(X + 0.1, "vdx")
    result = cr.in_group_proportion(X, clusterer=AgglomerativeClustering(2), train=train, n_null=1, rng=3)
    first = repr(result).splitlines()[0]
    assert first.startswith("In-group proportion: 14 samples, clusters by AgglomerativeClustering(")
    assert first.endswith(" learned on vdx, 1 null partition, seed 3")


def test_words_count_what_failed(X):
    def clusterer(X):
        if len(X) < 14 and X[0, 0] > 0:
            raise RuntimeError("not today")
        return (X[:, 1] > 0).astype(int)

    with pytest.warns(ReplicateWarning):
        result = cr.in_group_stability(X, clusterer=clusterer, perturbation=cr.Subsample(0.7), n_resamples=10, rng=0)
    (n_failed,) = result.failures.values()
    assert repr(result).splitlines()[-1] == f"Failed: {n_failed} resamples: RuntimeError: not today"


def test_the_provenance_says_how_it_was_made(X):
    provenance = cr.in_group_proportion(
        cr.Study(X, "vdx"), clusterer=AgglomerativeClustering(2), metric="cityblock", n_null=3, rng=17
    ).provenance
    assert provenance["seed"] == 17
    assert provenance["metric"] == "'cityblock'"
    assert provenance["n_null"] == 3
    assert provenance["train"] is None
    assert list(provenance["n_neighbors"]) == [1]
    assert provenance["noise"] == "label"
    assert "AgglomerativeClustering" in provenance["clusterers"][0]
    assert provenance["studies"]["vdx"]["samples"] == 14
    perturbed = cr.in_group_stability(
        X, LABELS, perturbation=cr.Subsample(0.7), n_resamples=3, n_neighbors=[2, 1], noise="drop"
    ).provenance
    assert perturbed["resampling"] == "Subsample(fraction=0.7)"
    assert perturbed["n_resamples"] == 3
    assert list(perturbed["n_neighbors"]) == [2, 1]
    assert perturbed["noise"] == "drop"
    assert perturbed["clusterers"] == ["known labels"]


def test_a_plot_of_one_number_has_a_bar_for_every_cluster(X):
    _, ax = plt.subplots()
    result = cr.in_group_proportion(X, LABELS)
    assert result.plot(ax) is ax
    assert [bar.get_height() for bar in ax.patches] == result.proportions.tolist()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "2"]
    plt.close("all")


def test_a_plot_of_several_numbers_has_a_curve_for_every_cluster(result):
    ax = result.plot()
    assert len(ax.lines) == 3
    for line, curve, name in zip(ax.lines, result.proportions.T, "xyz", strict=True):
        assert line.get_xdata().tolist() == [1, 2]
        assert line.get_ydata().tolist() == curve.tolist()
        assert line.get_label() == f"cluster {name}"
    plt.close("all")


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ParameterError, "either labels or a clusterer"),
        ({"labels": LABELS, "clusterer": KMeans(2)}, ParameterError, "either labels or a clusterer"),
        ({"labels": LABELS[:5]}, DataError, "one label for every point of study 'X': 14; got 5"),
        ({"labels": LABELS, "train": np.ones((5, 3))}, DataError, "labels of study 'train'.*: 5; got 14"),
        ({"labels": True}, ParameterError, "study 'X' has no known labels"),
        ({"labels": LABELS, "n_neighbors": 0}, ParameterError, "n_neighbors must be a positive integer, got 0"),
        ({"labels": LABELS, "n_neighbors": 1.5}, ParameterError, "n_neighbors must be a positive integer, got 1.5"),
        ({"labels": LABELS, "n_neighbors": True}, ParameterError, "n_neighbors must be a positive integer, got True"),
        ({"labels": LABELS, "n_neighbors": []}, ParameterError, r"or several; got \[\]"),
        ({"labels": LABELS, "n_neighbors": "2"}, ParameterError, "or several; got '2'"),
        ({"labels": LABELS, "n_neighbors": [1, -1]}, ParameterError, "n_neighbors must be .*, got -1"),
        ({"labels": LABELS, "n_neighbors": 14}, ParameterError, "below the number of samples, 14, got 14"),
        ({"labels": LABELS, "n_neighbors": [1, 20]}, ParameterError, "below the number of samples, 14, got 20"),
        ({"labels": LABELS, "metric": "euclidian"}, ParameterError, "metric must be .* got 'euclidian'"),
        ({"labels": LABELS, "n_null": -1}, ParameterError, "n_null must be an integer of at least 0, got -1"),
        ({"labels": LABELS, "n_null": 2.0}, ParameterError, "n_null must be .* got 2.0"),
        ({"labels": LABELS, "rng": -1}, ParameterError, "rng must be a non-negative integer"),
        ({"labels": LABELS, "train": np.eye(14)[:, :2]}, DataError, "different numbers of features"),
        ({"clusterer": KMeans(15)}, AllReplicatesFailed, "KMeans, k = 15 failed on the data as they are"),
        ({"clusterer": "kmeans"}, ParameterError, "clusterer"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, message, X):
    if isinstance(arguments.get("train"), np.ndarray):
        arguments = {**arguments, "train": cr.Study(arguments["train"], "train", label=False)}
    with pytest.raises(error, match=message):
        cr.in_group_proportion(X, **arguments)
    if not {"train", "n_null"} & set(arguments):
        with pytest.raises(error, match=message):
            cr.in_group_stability(X, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"perturbation": cr.Bootstrap}, r"perturbation must be Bootstrap\(\)"),
        ({"n_resamples": 0}, "n_resamples must be a positive integer, got 0"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"noise": "singletons"}, "noise must be one of 'label', 'drop'; got 'singletons'"),
    ],
)
def test_copies_that_make_no_sense_are_refused(arguments, message, X):
    with pytest.raises(ParameterError, match=message):
        cr.in_group_stability(X, LABELS, **arguments)


def test_a_clusterer_that_fails_on_the_training_study_is_named_with_it(X):
    with pytest.raises(AllReplicatesFailed, match=r"failed on study 'vdx': more clusters asked for"):
        cr.in_group_proportion(X, clusterer=AgglomerativeClustering(5), train=cr.Study(X[:3], "vdx"))


def test_two_studies_of_one_name_are_refused(X):
    with pytest.raises(ParameterError, match="different studies with the same name 'vdx'"):
        cr.in_group_proportion(cr.Study(X, "vdx"), LABELS, train=cr.Study(X + 1, "vdx"))


def test_arguments_the_wrong_way_round_are_refused(X):
    with pytest.raises(ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments"):
        cr.in_group_proportion(KMeans(2), X)
    with pytest.raises(ParameterError, match="train must be a table of samples by features, got KMeans: are the arg"):
        cr.in_group_proportion(X, LABELS, train=KMeans(2))
    with pytest.raises(ParameterError, match=r"X must be one study or table, got dict: pick one, studies\[name\]"):
        cr.in_group_proportion({"a": X, "b": X}, LABELS)
    with pytest.raises(ParameterError, match="noise must be one of 'label', 'drop'; got 'singletons'"):
        cr.in_group_proportion(X, LABELS, noise="singletons")


def test_labels_of_numbered_rows_are_put_in_order(X):
    shuffled = pd.Series(LABELS).sample(frac=1, random_state=0)
    assert shuffled.tolist() != LABELS
    for table in (X, pd.DataFrame(X)):
        assert cr.in_group_proportion(table, shuffled).labels.tolist() == LABELS
    # An index that does not number the rows says nothing of their order.
    elsewhere = pd.Series(LABELS, index=range(20, 34))[::-1]
    assert cr.in_group_proportion(X, elsewhere).labels.tolist() == LABELS[::-1]


def test_several_studies_are_refused(X):
    with pytest.raises(ParameterError, match="X must be one study or table, got Studies"):
        cr.in_group_proportion(cr.Studies({"a": X, "b": X}), LABELS)


def test_several_training_studies_are_refused(X):
    with pytest.raises(ParameterError, match="train must be one study or table, got Studies"):
        cr.in_group_proportion(X, LABELS, train=cr.Studies({"a": X, "b": X}))
