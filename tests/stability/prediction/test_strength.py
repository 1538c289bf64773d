"""Prediction strength against double loops over pairs of points, on a given split and on random halves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare
from sklearn.cluster import KMeans
from tests.stability.prediction.cases import (
    BOTH,
    MASK,
    PARTS,
    SEED,
    WARD,
    N,
    X,
    both,
    in_both_directions,
    own_and_predicted,
    recorded,
    rows_of,
    shares,
    smallest,
    strength,
    validation,
    with_k,
)

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ReplicateWarning

# ---------------------------------------------------------------------------------------------------------------------
# equation (4) on a split that is given


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_one_direction_is_equation_4(k):
    own, predicted = own_and_predicted(with_k(k), X[PARTS[0]], X[PARTS[1]])
    result = strength(with_k(k), X, split=MASK, both_directions=False)
    expected = shares(own, predicted)
    assert result.strength == pytest.approx([smallest(expected.values())])
    assert result.by_direction.shape == (1, 1, 1)
    found = result.per_cluster[k]
    assert found.shape == (1, 1, k)
    np.testing.assert_allclose(sorted(found[0, 0]), sorted(expected.values()))
    sizes = [own.count(cluster) for cluster in set(own)]
    assert sorted(result.cluster_sizes[0, 0, 0]) == sorted(sizes)


@pytest.mark.parametrize("k", [2, 4, 5])
def test_both_directions_are_averaged_after_the_minimum(k):
    pairs = in_both_directions(with_k(k), X[PARTS[0]], X[PARTS[1]])
    minima = [smallest(shares(*one).values()) for one in pairs]
    assert minima[0] != minima[1]
    result = strength(with_k(k), X, split=MASK)
    np.testing.assert_allclose(result.by_direction[0, :, 0], minima)
    np.testing.assert_allclose(result.strength, np.mean(minima))
    for d, one in enumerate(pairs):
        found = result.per_cluster[k][0, d]
        np.testing.assert_allclose(np.sort(found), np.sort(list(shares(*one).values())))
    assert result.cluster_sizes[0, :, 0].sum(axis=1).tolist() == [12, 10]


def test_the_training_part_comes_first():
    one, other = (strength(with_k(2), X, split=split, both_directions=False) for split in (MASK, ~MASK))
    pair = strength(with_k(2), X, split=MASK)
    assert one.strength != other.strength
    assert pair.by_direction[0, :, 0].tolist() == [one.strength[0], other.strength[0]]
    back = strength(with_k(2), X, split=~MASK)
    assert back.strength.tolist() == pair.strength.tolist()
    np.testing.assert_array_equal(back.by_direction[:, ::-1], pair.by_direction)


@pytest.mark.parametrize(
    "split",
    [
        MASK,
        MASK.tolist(),
        tuple(MASK.tolist()),
        pd.Series(MASK),
        PARTS,
        list(PARTS),
        (PARTS[0].tolist(), PARTS[1].tolist()),
        (PARTS[0][::-1], PARTS[1]),
        (PARTS[0].astype(np.int32), PARTS[1].astype(np.uint8)),
    ],
)
def test_a_split_can_be_said_in_many_ways(split):
    np.testing.assert_array_equal(
        strength(WARD, X, split=split).by_direction, strength(WARD, X, split=MASK).by_direction
    )


def test_a_split_may_leave_samples_out():
    train, test = [0, 1, 2, 5, 7, 8], [10, 11, 13, 14, 20]
    own, predicted = own_and_predicted(with_k(2), X[train], X[test])
    result = strength(with_k(2), X, split=(train, test), both_directions=False)
    assert result.strength[0] == pytest.approx(smallest(shares(own, predicted).values()))
    assert result.cluster_sizes.sum() == 5


def test_by_hand():
    """Test points 0, 1, 2 | 10, 11; the training part cuts between 1 and 2."""
    train, test = [0.4, 1.4, 1.9, 2.0], [0.0, 1.0, 2.0, 10.0, 11.0]
    points = np.array([*train, *test])[:, None]

    def cut(X):
        return (X[:, 0] > (1.5 if len(X) == 4 else 5)).astype(int)

    result = strength(cut, points, split=np.arange(9) < 4)
    # of the test cluster 0, 1, 2 one pair of three is together; both far points are nearest to 2.0
    np.testing.assert_allclose(result.per_cluster[None][0, 0], [1 / 3, 1])
    # the other way round, all four points are near 0, 1, 2
    np.testing.assert_allclose(result.per_cluster[None][0, 1], [1, 1])
    np.testing.assert_allclose(result.distribution, [[(1 / 3 + 1) / 2]])
    assert result.cluster_sizes[0, :, 0].tolist() == [[3, 2], [2, 2]]


def test_a_fixed_split_can_be_repeated_for_the_clusterers_own_randomness():
    kmeans = KMeans(6, n_init=1)
    result = strength(kmeans, X, split=MASK, n_splits=12)
    assert result.distribution.shape == (12, 1)
    assert len(np.unique(result.distribution)) > 1
    same = strength(WARD, X, split=MASK, n_splits=3)
    assert len(np.unique(same.distribution)) == 1
    assert strength(WARD, X, split=MASK).distribution.shape == (1, 1)


# ---------------------------------------------------------------------------------------------------------------------
# random halves


@both
@pytest.mark.parametrize("n", [22, 21])
def test_a_split_puts_every_sample_into_one_of_two_halves(measure, n):
    _, recorder = recorded(measure, X[:n], [2, 4], n_splits=15, rng=SEED)
    for first, second in recorder.halves(2):
        assert [len(first), len(second)] == [n // 2, n - n // 2]
        assert sorted(rows_of(first, X) + rows_of(second, X)) == list(range(n))
    firsts = {tuple(sorted(rows_of(first, X))) for first, _ in recorder.halves(2)}
    assert len(firsts) == 15


def test_halves_are_the_same_for_every_k_and_for_relative_validation():
    ks = [2, 3, 4]
    recorders = [recorded(measure, X, ks, n_splits=6, rng=SEED)[1] for measure in BOTH]
    splits = [recorder.halves(k) for recorder in recorders for k in ks]
    for split in splits[1:]:
        np.testing.assert_array_equal(split, splits[0])


def test_every_sample_is_in_the_first_half_as_often():
    _, recorder = recorded(cr.stability.prediction_strength, X, [2], n_splits=200, rng=SEED)
    counts = np.bincount([row for first, _ in recorder.halves(2) for row in rows_of(first, X)], minlength=N)
    # Without replacement within a split: the variance of a count is a quarter of 200, so the statistic is about halved.
    assert chisquare(counts).statistic < 2 * N
    assert counts.sum() == 200 * N // 2
    assert counts.std() > 2


@pytest.mark.parametrize("both_directions", [True, False])
def test_strength_over_random_halves_is_equation_4(both_directions):
    ks = [2, 3, 5]
    result, recorder = recorded(
        cr.stability.prediction_strength, X, ks, n_splits=5, both_directions=both_directions, rng=SEED
    )
    n_directions = 1 + both_directions
    assert result.by_direction.shape == (5, n_directions, 3)
    for i, k in enumerate(ks):
        for b, halves in enumerate(recorder.halves(k)):
            pairs = in_both_directions(with_k(k), *halves)[:n_directions]
            minima = [smallest(shares(*one).values()) for one in pairs]
            np.testing.assert_allclose(result.by_direction[b, :, i], minima)
            np.testing.assert_allclose(result.distribution[b, i], np.mean(minima))
            for d, one in enumerate(pairs):
                found = result.cluster_strengths[b, d, i]
                np.testing.assert_allclose(np.sort(found[:k]), np.sort(list(shares(*one).values())))
                assert np.isnan(found[k:]).all()
                assert sorted(result.cluster_sizes[b, d, i, :k]) == sorted(map(one[0].count, set(one[0])))
                assert not result.cluster_sizes[b, d, i, k:].any()
    np.testing.assert_allclose(result.strength, result.distribution.mean(axis=0))
    assert {k: values.shape for k, values in result.per_cluster.items()} == {k: (5, n_directions, k) for k in ks}
    np.testing.assert_array_equal(result.per_cluster[3], result.cluster_strengths[:, :, 1, :3])


def test_there_are_fifty_splits_by_default():
    result = strength(with_k(2), X)
    assert result.distribution.shape == (50, 1)
    assert result.by_direction.shape == (50, 2, 1)
    assert validation(with_k(2), X).distribution.shape == (50, 1)


def test_a_cluster_of_one_is_left_out_and_counted():
    ks = [2, 6, 8]
    result, recorder = recorded(cr.stability.prediction_strength, X, ks, n_splits=6, rng=SEED)
    expected = []
    for k in ks:
        owns = [with_k(k).fit_predict(half).tolist() for halves in recorder.halves(k) for half in halves]
        expected.append(sum(own.count(cluster) == 1 for own in owns for cluster in set(own)))
    assert result.n_singletons.tolist() == expected
    assert expected[2] > expected[0]
    assert np.isfinite(result.distribution).all()
    np.testing.assert_array_equal(np.isnan(result.cluster_strengths), result.cluster_sizes < 2)
    assert f"Left out: {sum(expected)} test clusters of one sample" in repr(result)


def test_one_singleton_is_said_in_the_singular_and_none_is_not_said():
    line = np.array([0.0, 0.2, 10.0, 0.1, 0.3, 10.1, 10.2])[:, None]
    result = strength(with_k(2), line, split=np.arange(7) < 3, both_directions=True)
    assert "Left out: 1 test cluster of one sample" in repr(result)
    assert result.n_singletons.tolist() == [1]
    assert result.strength.tolist() == [1]
    forward = strength(with_k(2), line, split=np.arange(7) < 3, both_directions=False)
    assert "Left out" not in repr(forward)


def test_clusters_of_one_alone_leave_nothing_to_say():
    message = r"^Not one resample could be scored; 3 fits failed: every test cluster has one sample \(3\)\.$"
    with pytest.raises(AllReplicatesFailed, match=message):
        strength(with_k(N // 2), X, n_splits=3)
    with pytest.warns(ReplicateWarning, match=r"^3 fits of 6 failed .*: every test cluster has one sample \(3\)\.$"):
        result = strength(with_k(2), X, n_clusters=[N // 2, 2], n_splits=3)
    assert np.isnan(result.distribution).tolist() == [[True, False]] * 3
    assert result.n_singletons.tolist() == [3 * N, 0]
    assert result.failures == {"every test cluster has one sample": 3}
    assert (result.failed > 0).tolist() == [[True, False]] * 3
    assert result.best_n_clusters == 2
    np.testing.assert_array_equal(result.distribution[:, 1:], strength(with_k(2), X, n_splits=3).distribution)
    assert "Failed: 3 values: every test cluster has one sample" in repr(result)


def test_a_split_is_left_out_where_one_direction_has_clusters_of_one_alone():
    line = np.array([0.0, 10.0, 0.1, 0.3, 10.1, 10.2])[:, None]
    split = np.arange(6) < 2
    assert strength(with_k(2), line, split=split, both_directions=False).strength.tolist() == [1]
    with pytest.raises(AllReplicatesFailed, match="every test cluster has one sample"):
        strength(with_k(2), line, split=~split, both_directions=False)
    with pytest.raises(AllReplicatesFailed, match="every test cluster has one sample"):
        strength(with_k(2), line, split=split, both_directions=True)


def test_one_cluster_has_strength_1():
    result = strength(with_k(2), X, n_clusters=[1, 2, 3], n_splits=4)
    assert result.n_clusters == (1, 2, 3)
    assert (result.distribution[:, 0] == 1).all()
    assert (result.by_direction[:, :, 0] == 1).all()
    assert result.per_cluster[1].shape == (4, 2, 1)
    assert (result.per_cluster[1] == 1).all()
    without = strength(with_k(2), X, n_clusters=[2, 3], n_splits=4)
    np.testing.assert_array_equal(result.distribution[:, 1:], without.distribution)
    backwards = strength(with_k(2), X, n_clusters=[3, 1, 2], n_splits=4)
    np.testing.assert_array_equal(backwards.distribution, result.distribution[:, [2, 0, 1]])
    assert strength(with_k(1), X, n_splits=4).strength.tolist() == [1]


@pytest.mark.parametrize(
    "arguments", [{}, pytest.param({"split": MASK}), {"perturbation": cr.resampling.Subsample(0.6)}]
)
def test_the_one_cluster_holds_the_whole_test_part(arguments):
    result = strength(with_k(2), X[:21] if not arguments else X, n_clusters=[1, 2], **{"n_splits": 2, **arguments})
    sizes = result.cluster_sizes.sum(axis=3)
    np.testing.assert_array_equal(sizes[:, :, 0], sizes[:, :, 1])
