"""In-group proportions, against double loops over samples: of one study, and across studies."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.helpers import configured
from tests.stability.plain import (
    cityblock,
    nearest_labels,
    neighbours,
    null_proportions,
    proportions,
    pvalue,
    squared,
)

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError
from clustrep.fitting import neighbours as searching

LABELS = [0, 1, 1, 0, 2, 2, 0, 1, 2, 0, 0, 1, 1, 0]
NOISY = [-1, 1, 1, 0, 2, 2, 0, 1, 2, -1, 0, 1, -1, 0]
X = np.random.default_rng(20231).normal(size=(14, 3))
in_group = cr.stability.in_group_proportion


def chebyshev(x, y):
    return max(abs(a - b) for a, b in zip(x, y, strict=True))


def cosine(x, y):
    return 1 - sum(a * b for a, b in zip(x, y, strict=True)) / math.hypot(*x) / math.hypot(*y)


# ---------------------------------------------------------------------------------------------------------------------
# neighbours


@pytest.mark.parametrize("p", [1, 5, 15, 16, 20])  # with and without a tree
@pytest.mark.parametrize("j", [1, 3, 11])
def test_neighbours_are_those_of_a_double_loop_with_ties_to_the_lower_row(p, j, monkeypatch):
    rng = np.random.default_rng(p)
    grid = rng.integers(0, 3 if p < 3 else 2, size=(12, p))  # full of ties, with copies
    copies = np.repeat(rng.normal(size=(10, p)), [1, 2, 3, 1, 1, 2, 1, 1, 1, 1], axis=0)
    for points in (grid.astype(float), grid / 10, copies):
        found = searching.neighbours(points, j)
        assert found.tolist() == neighbours(grid if points is not copies else points, j)
    nearest = searching.nearest_distances(copies)
    expected = [min(math.dist(x, y) for i, y in enumerate(copies) if i != h) for h, x in enumerate(copies)]
    np.testing.assert_allclose(nearest, expected, rtol=1e-12)
    for name, value in (("KD_TREE_FEATURES", 0), ("BLOCK", 5), ("CELLS", 5 * 14)):
        monkeypatch.setattr(searching, name, value)
    np.testing.assert_array_equal(searching.neighbours(copies, j), found)
    np.testing.assert_allclose(searching.nearest_distances(copies), nearest, rtol=1e-12)


@pytest.mark.parametrize("p", [2, 16])
@pytest.mark.parametrize(("share", "tied"), [(1e-13, True), (1e-10, False)])
def test_distances_are_equal_up_to_rounding_and_no_further(p, share, tied):
    points = np.zeros((5, p))
    points[:, 0] = [0, 1 + share, -1, 7, 9]  # the second is farther from the first than the third, by next to nothing
    assert searching.neighbours(points, 2)[0].tolist() == ([1, 2] if tied else [2, 1])


# ---------------------------------------------------------------------------------------------------------------------
# proportions


def test_by_hand():
    # 0 → 1, 1 → 0 (as near as 2: the lower row), 2 → 2.9, 2.9 → 2, 4 → 2.9
    result = in_group([[0.0], [1.0], [2.0], [2.9], [4.0]], [0, 0, 0, 1, 1])
    assert result.proportions.tolist() == [2 / 3, 1 / 2]
    assert (result.clusters.tolist(), result.sizes.tolist(), result.overall) == ([0, 1], [3, 2], 3 / 5)
    assert result.exceeding is result.pvalues is result.null_distribution is None
    assert in_group([[0.0], [1.0], [9.0]], ["a", "a", "b"]).proportions.tolist() == [1, 0]


@pytest.mark.parametrize("labels", [LABELS, NOISY, ["zyx"[c] for c in LABELS], [5] * 14])
def test_proportions_are_those_of_a_double_loop(labels):
    js = [3, 1, 2, 13]
    result = in_group(X, labels, n_neighbors=np.array(js))
    assert result.proportions.tolist() == [proportions(X, labels, j) for j in js]
    assert result.clusters.tolist() == sorted(set(labels))
    np.testing.assert_allclose(result.overall, result.proportions @ result.sizes / 14)
    alone = in_group(X, labels, n_neighbors=3)
    assert alone.proportions.tolist() == result.proportions[0].tolist()
    frame = in_group(X, labels, n_neighbors=js).to_frame()
    assert list(frame) == ["n_neighbors", "cluster", "size", "proportion"]
    assert frame["n_neighbors"].tolist() == np.repeat(js, len(set(labels))).tolist()


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from("ab")), min_size=3, max_size=10), st.data()
)
def test_proportions_of_any_small_grid_are_those_of_a_double_loop(rows, data):
    points, labels = [row[:2] for row in rows], [row[2] for row in rows]
    j = data.draw(st.integers(1, len(rows) - 1))
    study = cr.Study(np.array(points) / 10, "grid", label=False)
    assert in_group(study, labels, n_neighbors=j).proportions.tolist() == proportions(points, labels, j)


@pytest.mark.parametrize(
    ("metric", "distance"),
    [
        *itertools.product(["euclidean", "sqeuclidean", "l2", "p"], [squared]),
        *itertools.product(["cityblock", "manhattan", "l1", cityblock], [cityblock]),
        *itertools.product(["chebyshev", "infinity"], [chebyshev]),
        ("cosine", cosine),
    ],
)
@pytest.mark.parametrize("p", [3, 18])
def test_any_metric_is_that_of_a_double_loop(metric, distance, p):
    rng = np.random.default_rng(p)
    points = rng.normal(size=(14, p)) * rng.uniform(0.2, 3, size=p)
    result = in_group(points, LABELS, n_neighbors=[1, 2], metric=metric)
    assert result.proportions.tolist() == [proportions(points, LABELS, j, distance) for j in (1, 2)]


def test_metrics_with_a_scale_take_it_from_the_study():
    points = X @ [[1, 2, 0], [0, 5, 1], [0, 0, 0.3]]
    scaled = points / points.std(axis=0, ddof=1)
    white = points @ np.linalg.inv(np.linalg.cholesky(np.cov(points.T)).T)
    for metric, Z in {"seuclidean": scaled, "mahalanobis": white}.items():
        result = in_group(points, LABELS, n_neighbors=[1, 3], metric=metric, n_null=6, rng=0)
        assert result.proportions.tolist() == [proportions(Z, LABELS, j) for j in (1, 3)]
        inverse = np.diag(1 / points.var(axis=0, ddof=1)) if metric == "seuclidean" else np.linalg.inv(np.cov(points.T))

        def distance(x, y, inverse=inverse):
            d = np.subtract(x, y)
            return float(d @ inverse @ d)

        null = null_proportions(points, LABELS, "X", 0, 6, (1, 3), distance=distance)
        np.testing.assert_array_equal(result.null_distribution, null)


def test_order_place_unit_and_precision_do_not_matter():
    points = X.astype(np.float32).astype(float)  # exact in single precision
    plain = in_group(points, LABELS, n_neighbors=[1, 2], n_null=9, rng=0)
    order = np.random.default_rng(1).permutation(14)
    shuffled = in_group(points[order], np.array(LABELS)[order], n_neighbors=[1, 2], n_null=9, rng=0)
    single = in_group(points.astype(np.float32), LABELS, n_neighbors=[1, 2], n_null=9, rng=0)
    moved = in_group(100 - 7.5 * points, LABELS, n_neighbors=[1, 2])
    for other in (shuffled, single, moved):
        np.testing.assert_array_equal(other.proportions, plain.proportions)
    np.testing.assert_array_equal(shuffled.exceeding, plain.exceeding)
    np.testing.assert_array_equal(single.null_distribution, plain.null_distribution)


# ---------------------------------------------------------------------------------------------------------------------
# whose labels


def test_labels_are_the_studys_a_series_by_name_or_a_clusterers():
    samples = [f"s{i}" for i in range(14)]
    frame = pd.DataFrame(X, index=samples, columns=["a", "b", "c"])
    series = pd.Series(LABELS, index=samples).sample(frac=1, random_state=0)
    for result in (
        in_group(cr.Study(X, "mainz", labels=LABELS), True),
        in_group(frame, series),
        in_group(X, pd.Series(LABELS).sample(frac=1, random_state=0)),
        in_group(X, clusterer=lambda X: LABELS),
    ):
        assert result.labels.tolist() == LABELS
        assert result.proportions.tolist() == proportions(X, LABELS)
    for clusterer in (AgglomerativeClustering(3), KMeans(3, n_init=2, random_state=0)):
        result = configured(in_group, accelerate=False)(X, clusterer=clusterer)
        labels = clusterer.fit_predict(X).tolist()
        assert cr.agreement.adjusted_rand_index(result.labels, labels) == 1
        assert sorted(result.proportions.tolist()) == sorted(proportions(X, labels))


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_noise_is_a_cluster(metric):
    distance = squared if metric == "euclidean" else cityblock
    run = {"n_neighbors": [1, 3], "metric": metric, "n_null": 8, "rng": 6}
    result = in_group(X, NOISY, **run)
    assert result.proportions.tolist() == [proportions(X, NOISY, j, distance) for j in (1, 3)]
    assert (result.clusters.tolist(), result.labels.tolist()) == ([-1, 0, 1, 2], NOISY)
    null = null_proportions(X, NOISY, "X", 6, 8, (1, 3), distance=distance)
    np.testing.assert_array_equal(result.null_distribution, null)
    density = in_group([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [20.0]], clusterer=DBSCAN(0.5, min_samples=2))
    assert density.proportions.tolist() == [1 / 2, 1, 1]  # 20 → 9, 9 → 5.2


def test_labels_of_a_training_study_are_carried_over_by_the_nearest_sample():
    rng = np.random.default_rng(0)
    train = rng.integers(-2, 3, size=(14, 3)).astype(float)
    train[5] = train[0]  # another label: the first row counts
    points = np.concatenate([np.rint(X[:6]), train[5:7], X[:4]])
    labels = nearest_labels(points, train, LABELS)
    frames = [pd.DataFrame(table, columns=["a", "b", "c"]) for table in (points, train)]
    study = cr.Study(train, "vdx", labels=LABELS)
    for result in (
        in_group(points, LABELS, train=train, n_neighbors=[1, 2]),
        in_group(points, True, train=study, n_neighbors=[1, 2]),
        in_group(frames[0], LABELS, train=frames[1][["c", "a", "b"]], n_neighbors=[1, 2]),
    ):
        assert result.labels.tolist() == labels
        assert result.proportions.tolist() == [proportions(points, labels, j) for j in (1, 2)]
    assert in_group(study, True, train=study).labels.tolist() == LABELS


def test_a_clusterer_sees_the_training_study_only_and_labels_by_its_own_predict():
    train, seen = np.random.default_rng(0).normal(size=(20, 3)), []

    def recorded(X):
        seen.append(X.copy())
        return (X[:, 1] > 0.3).astype(int)

    result = in_group(X, clusterer=recorded, train=train)
    assert all(np.array_equal(one, train) for one in seen)
    assert result.labels.tolist() == nearest_labels(X, train, (train[:, 1] > 0.3).astype(int).tolist())
    kmeans = KMeans(3, n_init=2, random_state=1)
    result = configured(in_group, accelerate=False)(X, clusterer=kmeans, train=train)
    assert result.labels.tolist() == kmeans.fit(train).predict(X).tolist()
    assert result.provenance["train"] == "train"


def test_clusters_that_are_absent_keep_their_row_and_count_in_the_null_alone():
    rng = np.random.default_rng(3)
    train = np.concatenate([rng.normal(size=(12, 3)), [[50.0] * 3, [50.5] * 3, [-80.0] * 3]])
    learned, clusters = [*"babcabcbacba", "x", "x", "a0"], ["a", "a0", "b", "c", "x"]
    result = in_group(cr.Study(X, "vdx"), learned, train=train, n_neighbors=[1, 2], n_null=10, rng=7)
    labels = nearest_labels(X, train, learned)
    expected = [proportions(X, labels, j, clusters=clusters) for j in (1, 2)]
    np.testing.assert_array_equal(result.proportions, expected)
    assert result.sizes.tolist() == [labels.count(c) for c in clusters]
    null = null_proportions(X, labels, "vdx", 7, 10, (1, 2), n_centres=5)
    np.testing.assert_array_equal(result.null_distribution, null)
    for own, pvalues, values in zip(expected, result.pvalues, null.transpose(1, 0, 2), strict=True):
        np.testing.assert_array_equal(pvalues, [pvalue(value, values) for value in own])
    assert result.to_frame()["pvalue"].isna().tolist() == [False, True, False, False, True] * 2


# ---------------------------------------------------------------------------------------------------------------------
# p-values


@pytest.mark.parametrize("p", [1, 3, 20])
def test_random_cells_are_those_of_kapp_and_tibshirani(p):
    rng = np.random.default_rng(p)
    points = rng.normal(size=(14, p)) * rng.uniform(0.5, 2, size=p) + 4
    study = cr.Study(points, "vdx")
    result = in_group(study, LABELS, n_neighbors=[1, 2], n_null=12, rng=11)
    null = null_proportions(points, LABELS, "vdx", 11, 12, (1, 2))
    np.testing.assert_array_equal(result.null_distribution, null)
    for own, exceeding, values in zip(result.proportions, result.exceeding, null.transpose(1, 0, 2), strict=True):
        assert exceeding.tolist() == [pvalue(value, values) for value in own]
    np.testing.assert_array_equal(in_group(study, LABELS, n_null=5, rng=11).null_distribution[:, 0], null[:5, 0])
    # Labels of the same data have no p-values: their origin is not known.
    assert result.pvalues is None
    assert "exceeding" in result.to_frame()


def test_null_clusters_without_samples_do_not_count():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(0, 0.01, size=(8, 2)), rng.normal(100, 0.01, size=(1, 2))])
    labels = [0, 1, 2, 3, 0, 1, 2, 3, 4]
    result = in_group(points, labels, n_null=15, rng=0)
    null = null_proportions(points, labels, "X", 0, 15, (1,))
    assert np.isnan(null).any()
    np.testing.assert_array_equal(result.null_distribution, null)
    assert result.exceeding.tolist() == [pvalue(value, null) for value in result.proportions]


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "mahalanobis"])
def test_one_cluster_and_equal_samples_are_no_evidence(metric):
    assert in_group(X, [0] * 14, metric=metric, n_null=3, rng=0).exceeding.tolist() == [1]
    equal = cr.Study(np.ones((5, 2)), "X", label=False)
    assert in_group(equal, [0, 0, 1, 1, 1], n_null=4, rng=0).exceeding.tolist() == [1, 1]


def test_simulated_null_data_are_clustered_again():
    points, seen = np.random.default_rng(0).normal(size=(20, 3)), []

    def halves(table):
        seen.append(np.array(table))
        if len(seen) == 3:
            raise ValueError("not this one")
        return (table[:, 0] > 0).astype(int)

    result = in_group(points, clusterer=halves, n_null=4, rng=1)
    assert len(seen) == 5
    assert all(table.shape == points.shape and not np.allclose(table, points) for table in seen[1:])
    assert np.isnan(result.null_distribution[1]).all()
    assert result.pvalues.tolist() == [pvalue(value, result.null_distribution) for value in result.proportions]


@pytest.mark.parametrize("clusterer", [KMeans(3, n_init=1), AgglomerativeClustering(3)], ids=["k-means", "ward"])
def test_clusters_of_nothing_are_rarely_significant(clusterer):
    """Where random cells would reject up to every second cluster; the first cluster of every study, so independent."""
    pvalues = []
    for i in range(40):
        points = np.random.default_rng([91, i]).normal(size=(60, 20))
        pvalues.append(in_group(points, clusterer=clusterer, n_null=19, rng=i).pvalues[0])
    assert binomtest(sum(p <= 0.05 for p in pvalues), 40, 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("k", "d"), [(2, 2), (3, 5)])
def test_clusters_of_another_gaussian_study_are_not_significant_more_often_than_nominal(k, d):
    pvalues = []
    for i in range(150):
        train, points = np.random.default_rng([k, d, i]).normal(size=(2, 40, d))
        result = in_group(points, clusterer=KMeans(k, n_init=2), train=train, n_null=40, rng=i)
        pvalues.append(result.pvalues[0])
    for level in (0.05, 0.2):
        assert binomtest(sum(p <= level for p in pvalues), 150, level, alternative="greater").pvalue > 0.01


def test_clusters_that_replicate_have_smaller_pvalues_than_scattered_labels():
    rng, centres = np.random.default_rng(0), np.zeros((3, 30))
    centres[range(3), range(3)] = 4
    train, points = (np.repeat(centres, 30, axis=0) + rng.normal(size=(90, 30)) for _ in range(2))
    replicated = in_group(points, clusterer=KMeans(3, n_init=5), train=train, n_null=100, rng=0)
    assert replicated.proportions.min() > 0.9
    assert replicated.pvalues.max() < 0.3
    assert in_group(points, rng.permutation(replicated.labels), n_null=100, rng=0).exceeding.min() > 0.8


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


@pytest.mark.parametrize(
    ("arguments", "error", "parameter"),
    [
        ({}, ParameterError, "clusterer"),
        ({"labels": LABELS, "clusterer": KMeans(2)}, ParameterError, "labels"),
        ({"labels": LABELS[:5]}, DataError, None),
        ({"labels": LABELS, "train": cr.Study(np.ones((5, 3)), "train", label=False)}, DataError, None),
        ({"labels": LABELS, "train": np.eye(14)[:, :2] + 0.5}, DataError, None),
        ({"labels": LABELS, "train": KMeans(2)}, ParameterError, "train"),
        ({"labels": LABELS, "train": cr.Study(X + 1, "X")}, ParameterError, "train"),
        *(({"labels": LABELS, "n_neighbors": j}, ParameterError, "n_neighbors") for j in (0, 1.5, True, [], "2", 14)),
        ({"labels": LABELS, "metric": "euclidian"}, ParameterError, "metric"),
        ({"labels": LABELS, "n_null": -1}, ParameterError, "n_null"),
        ({"labels": LABELS, "n_null": 2.0}, ParameterError, "n_null"),
        ({"clusterer": KMeans(15)}, AllReplicatesFailed, None),
        ({"clusterer": AgglomerativeClustering(5), "train": cr.Study(X[:3], "vdx")}, AllReplicatesFailed, None),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, parameter):
    with pytest.raises(error) as caught:
        in_group(X, **arguments)
    assert getattr(caught.value, "parameter", None) == parameter
