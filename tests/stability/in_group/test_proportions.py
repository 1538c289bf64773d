"""In-group proportions of one study in every metric, against double loops over points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stability.in_group.cases import LABELS, chebyshev, cityblock, proportions_by_hand, squared

import clustrep as cr


def cosine(x, y):
    return 1 - sum(a * b for a, b in zip(x, y, strict=True)) / math.hypot(*x) / math.hypot(*y)


# ---------------------------------------------------------------------------------------------------------------------
# proportions


def test_the_share_is_of_the_clusters_own_points():
    # 0 → 1, 1 → 0 (as near as 2: the lower row), 2 → 2.9, 2.9 → 2, 4 → 2.9
    result = cr.stability.in_group_proportion([[0.0], [1.0], [2.0], [2.9], [4.0]], [0, 0, 0, 1, 1])
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
    assert cr.stability.in_group_proportion([[0.0], [1.0], [2.0]], list(labels)).proportions.tolist() == proportions


@pytest.mark.parametrize("j", [1, 2, 3, 5, 13])
@pytest.mark.parametrize("labels", [LABELS, [-1 if c == 1 else c for c in LABELS], ["zyx"[c] for c in LABELS]])
def test_proportions_are_those_of_a_double_loop(j, labels, X):
    result = cr.stability.in_group_proportion(X, labels, n_neighbors=j)
    assert result.proportions.tolist() == proportions_by_hand(X, labels, j)
    assert result.clusters.tolist() == sorted(set(labels))


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from("ab")), min_size=3, max_size=10), st.data()
)
def test_proportions_of_any_small_grid_are_those_of_a_double_loop(rows, data):
    X, labels = [row[:2] for row in rows], [row[2] for row in rows]
    j = data.draw(st.integers(1, len(rows) - 1))
    study = cr.Study(X, "grid", label=False)
    assert cr.stability.in_group_proportion(study, labels, n_neighbors=j).proportions.tolist() == proportions_by_hand(
        X, labels, j
    )


def test_several_numbers_of_neighbours_are_rows(X):
    result = cr.stability.in_group_proportion(X, LABELS, n_neighbors=[3, 1, 2])
    assert result.n_neighbors == (3, 1, 2)
    assert result.proportions.tolist() == [proportions_by_hand(X, LABELS, j) for j in (3, 1, 2)]
    for j, row, overall in zip((3, 1, 2), result.proportions, result.overall, strict=True):
        alone = cr.stability.in_group_proportion(X, LABELS, n_neighbors=j)
        assert alone.proportions.tolist() == row.tolist()
        assert alone.overall == pytest.approx(overall)


@pytest.mark.parametrize("several", [range(1, 3), np.array([1, 2]), (1, 2), [np.int64(1), 2]])
def test_several_numbers_may_come_in_any_sequence(several, X):
    result = cr.stability.in_group_proportion(X, LABELS, n_neighbors=several)
    assert result.proportions.tolist() == [proportions_by_hand(X, LABELS, j) for j in (1, 2)]


def test_one_number_in_a_list_keeps_its_axis(X):
    result = cr.stability.in_group_proportion(X, LABELS, n_neighbors=[2], n_null=2)
    assert result.proportions.shape == result.exceeding.shape == (1, 3)
    assert result.null_distribution.shape == (2, 1, 3)
    assert result.overall.shape == (1,)
    copies = cr.stability.in_group_stability(X, LABELS, n_neighbors=[2], n_resamples=3)
    assert copies.distribution.shape == (3, 1, 3)
    assert copies.proportions.shape == (1, 3)
    assert copies.overall.shape == (1,)


def test_more_neighbours_never_raise_a_proportion(X):
    proportions = cr.stability.in_group_proportion(X, LABELS, n_neighbors=range(1, 14)).proportions
    assert (np.diff(proportions, axis=0) <= 0).all()
    assert proportions[0].max() > 0
    assert proportions[-1].tolist() == [0, 0, 0]


def test_one_cluster_has_proportion_one(X):
    assert cr.stability.in_group_proportion(X, [5] * 14, n_neighbors=13).proportions.tolist() == [1]


def test_a_cluster_of_one_point_has_proportion_zero():
    result = cr.stability.in_group_proportion([[0.0], [1.0], [9.0]], ["a", "a", "b"])
    assert result.proportions.tolist() == [1, 0]
    assert result.sizes.tolist() == [2, 1]


@pytest.mark.parametrize("p", [2, 17])
def test_a_copy_is_a_neighbour_like_any_other(p, rng):
    X = np.repeat(rng.normal(size=(6, p)), 2, axis=0)
    assert cr.stability.in_group_proportion(X, [0, 1] * 6).proportions.tolist() == [0, 0]
    assert cr.stability.in_group_proportion(X, [0, 0, 1, 1] * 3).proportions.tolist() == [1, 1]


def test_labels_are_names_only(X):
    names = {0: "luminal", 1: "basal", 2: "her2"}
    renamed = cr.stability.in_group_proportion(X, [names[c] for c in LABELS])
    by_name = dict(zip(renamed.clusters.tolist(), renamed.proportions.tolist(), strict=True))
    plain = cr.stability.in_group_proportion(X, LABELS).proportions
    assert [by_name[names[c]] for c in range(3)] == plain.tolist()


def test_order_place_and_unit_do_not_matter(X, rng):
    order = rng.permutation(14)
    moved = cr.stability.in_group_proportion(100 - 7.5 * X[order], np.array(LABELS)[order], n_neighbors=[1, 2])
    np.testing.assert_array_equal(
        moved.proportions, cr.stability.in_group_proportion(X, LABELS, n_neighbors=[1, 2]).proportions
    )


@pytest.mark.parametrize("p", [16, 40])
def test_many_features_are_no_exception(p, rng):
    X = rng.normal(size=(14, p))
    result = cr.stability.in_group_proportion(X, LABELS, n_neighbors=[1, 2])
    assert result.proportions.tolist() == [proportions_by_hand(X, LABELS, j) for j in (1, 2)]


def test_single_precision_gives_the_same(rng):
    X = rng.integers(0, 5, size=(14, 3)) / 4  # exact in both
    single = cr.stability.in_group_proportion(X.astype(np.float32), LABELS, n_null=5, rng=0)
    double = cr.stability.in_group_proportion(X, LABELS, n_null=5, rng=0)
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
    result = cr.stability.in_group_proportion(X, LABELS, n_neighbors=[1, 2], metric=metric)
    assert result.proportions.tolist() == [proportions_by_hand(X, LABELS, j, distance) for j in (1, 2)]


def test_metrics_differ_here(rng):
    X = rng.normal(size=(14, 3)) * [1, 5, 0.2]
    several = {
        metric: cr.stability.in_group_proportion(X, LABELS, n_neighbors=[1, 2], metric=metric).proportions.tolist()
        for metric in ("euclidean", "cosine", "seuclidean")
    }
    assert len(set(map(str, several.values()))) == 3


def test_metrics_with_a_scale_take_it_from_the_study(rng):
    X = rng.normal(size=(14, 3)) @ [[1, 2, 0], [0, 5, 1], [0, 0, 0.3]]
    scaled = X / X.std(axis=0, ddof=1)
    white = X @ np.linalg.inv(np.linalg.cholesky(np.cov(X.T)).T)
    for metric, Z in {"seuclidean": scaled, "mahalanobis": white}.items():
        result = cr.stability.in_group_proportion(X, LABELS, n_neighbors=[1, 3], metric=metric)
        assert result.proportions.tolist() == [proportions_by_hand(Z, LABELS, j) for j in (1, 3)]


def test_a_point_without_direction_is_nobodys_neighbour_while_there_are_others():
    X = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 2.0]]
    # The first has no angle to any: all others are equally far, and the lowest row counts.
    result = cr.stability.in_group_proportion(X, [0, 0, 0, 1, 1], metric="cosine")
    assert result.proportions.tolist() == [1, 1]
    assert cr.stability.in_group_proportion(X, [0, 1, 1, 0, 0], metric="cosine").proportions.tolist() == [2 / 3, 1]


def test_a_constant_feature_does_not_matter_to_standardised_distances(X):
    with_constant = cr.stability.in_group_proportion(np.column_stack([X, np.ones(14)]), LABELS, metric="seuclidean")
    plain = cr.stability.in_group_proportion(X, LABELS, metric="seuclidean")
    np.testing.assert_array_equal(with_constant.proportions, plain.proportions)
