"""Clusters that a study shows by itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clustrep.findings.find import STARTS, _fewest_starts, proposer
from clustrep.findings.model import Pooled, _Joint, settled
from clustrep.findings.own import (
    FEWEST_SAMPLES,
    SPLITS,
    OwnClusters,
    compact,
    counts_between,
    joined_where_filled,
    own_clusters,
    valleys,
)
from clustrep.fitting.parameters import configurations_of
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Rerun


def propose(tables, numbers=(2, 3, 4), *, first=0):
    return [[KMeans(k, n_init=3, random_state=0).fit_predict(X) for k in numbers] for X in tables]


def test_windows_between_two_centres_by_hand():
    # Centres at 0 and 6: windows of width 2 around either centre, and around 3.
    X = np.array([[-1.0], [-0.9], [0.9], [1.1], [1.9], [2.1], [3.9], [4.1], [4.9], [5.1], [6.0], [7.0], [7.1]])
    left = ((X >= -1) & (X < 1)).sum()
    middle = ((X > 2) & (X < 4)).sum()
    right = ((X > 5) & (X <= 7)).sum()
    assert counts_between(X, np.array([0.0]), np.array([6.0])) == (left, middle, right) == (3, 2, 3)
    assert counts_between(X, np.array([6.0]), np.array([0.0]))[1] == 2
    assert counts_between(X, np.array([2.0]), np.array([2.0]))  # one place: no division by zero


def test_windows_do_not_depend_on_the_directions_beside_the_line(rng):
    X = rng.normal(size=(100, 4))
    a, b = np.array([-3.0, 0, 0, 0]), np.array([3.0, 0, 0, 0])
    moved = X + np.column_stack([np.zeros(100), 10 * rng.normal(size=(100, 3))])
    assert counts_between(X, a, b) == counts_between(moved, a, b)


def test_labels_are_numbered_without_gaps():
    np.testing.assert_array_equal(compact(np.array([7, 2, 7, 9])), [1, 0, 1, 2])


def test_clusters_with_a_filled_middle_are_joined(rng):
    X = np.concatenate([rng.normal(size=(150, 2)), np.array([12, 0]) + rng.normal(size=(80, 2))])
    halves = np.concatenate([(X[:150, 1] > 0).astype(int), np.full(80, 2)])
    joined = joined_where_filled(X, halves)
    assert joined.max() == 1
    assert len(np.unique(joined[:150])) == len(np.unique(joined[150:])) == 1
    apart = np.repeat([0, 1], [150, 80])
    np.testing.assert_array_equal(joined_where_filled(X, apart), apart)


@pytest.mark.parametrize("k", [2, 3])
def test_separated_clusters_are_found(rng, k):
    centres = np.array([[0.0, 0], [7, 0], [0, 8]])[:k]
    truth = np.repeat(np.arange(k), 50)
    found = own_clusters(centres[truth] + rng.normal(size=(len(truth), 2)), propose, np.random.default_rng(0))
    assert found.n_clusters == k
    assert found.pvalue < 0.01
    assert all(len(np.unique(found.labels[truth == c])) == 1 for c in range(k))


def test_few_samples_and_unimodal_samples_have_no_clusters(rng):
    X = np.concatenate([rng.normal(size=(8, 2)), rng.normal(size=(FEWEST_SAMPLES - 9, 2)) + 50])
    few = own_clusters(X, propose, np.random.default_rng(0))
    assert (few.pvalue, few.n_clusters) == (1.0, 1)
    found = own_clusters(rng.normal(size=(100, 3)), propose, np.random.default_rng(0))
    assert found.pvalue > 0.05
    assert found.n_clusters == 1


def test_partitions_that_are_too_fine_are_not_tested(rng):
    X = np.concatenate([rng.normal(size=(12, 2)), rng.normal(size=(12, 2)) + 20])
    fold = np.arange(24) % 2
    tables = [X, X[fold != 0], X[fold != 1]]
    two = valleys(X, fold, propose(tables, (2,)))
    np.testing.assert_allclose(valleys(X, fold, propose(tables, (2, 4, 5))).pvalue, two.pvalue)  # 24 / 8 = 3 at most
    assert valleys(X, fold, propose(tables, (4, 5))).pvalue == 1.0


@pytest.mark.parametrize("clusterer", [KMeans(n_init=1, init="random"), GaussianMixture(init_params="random")])
def test_tables_that_are_proposed_later_have_the_same_partitions(rng, clusterer):
    tables = [rng.normal(size=(40, 2)) for _ in range(4)]
    propose = proposer(configurations_of("any", clusterer, (2, 3)), Source.of(Rerun(), 0), 1)
    at_once, in_parts = propose(tables), [*propose(tables[:1]), *propose(tables[1:], first=1)]
    for first, second in zip(at_once, in_parts, strict=True):
        for labels, same in zip(first, second, strict=True):
            np.testing.assert_array_equal(labels, same)


@pytest.mark.parametrize(("distance", "expected"), [(12.0, SPLITS[0]), (4.2, SPLITS[-1])])
def test_later_splits_are_fitted_where_the_first_disagree(distance, expected):
    n_tables = []

    def counting(tables, *, first=0):
        assert first == sum(n_tables)
        n_tables.append(len(tables))
        return propose(tables)

    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)), np.array([distance, 0]) + rng.normal(size=(30, 2))])
    own_clusters(X, counting, np.random.default_rng(0))
    assert sum(n_tables) == 1 + 2 * expected


def test_a_mixture_that_starts_at_k_means_keeps_its_number_of_starts():
    assert _fewest_starts(GaussianMixture()) == 1
    assert _fewest_starts(make_pipeline(StandardScaler(), GaussianMixture())) == 1
    assert _fewest_starts(GaussianMixture(init_params="random")) == STARTS
    assert _fewest_starts(KMeans()) == _fewest_starts(len) == STARTS


def test_samples_on_the_wrong_side_of_a_border_are_moved(rng):
    truth = np.repeat([0, 1], 60)
    X = np.array([[0.0, 0], [6, 0]])[truth] + rng.normal(size=(120, 2))
    wrong = np.where(X[:, 0] < 4, 0, 1)
    assert (wrong != truth).any()
    one = OwnClusters(1.0, np.zeros(40, dtype=np.int64))
    moved = settled([X, rng.normal(size=(40, 2))], [OwnClusters(0.0, wrong), one])
    np.testing.assert_array_equal(moved[0].labels, truth)
    assert moved[1] is one


def test_a_cluster_that_one_study_splits_is_one_new_cluster_at_most(rng):
    truth = np.repeat(np.arange(4), 60)
    places = np.eye(9)[:4] * 8
    tables = [places[truth] + rng.normal(size=(240, 9)) for _ in range(4)]
    split = truth + ((truth == 3) & (tables[0][:, 0] > np.median(tables[0][truth == 3, 0])))
    own = [OwnClusters(1e-9, split), *(OwnClusters(1e-9, truth) for _ in range(3))]
    joint = _Joint.of(tables, own, Pooled(1.0), 0)
    joint.match_own_clusters()
    assert joint.n_clusters == 5  # without the rule every study adds one
    joint.place_all_studies()
    assert joint.n_clusters == 4
