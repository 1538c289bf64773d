"""Prediction strength and relative validation, against double loops over pairs of samples."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.stability.plain import draws, matching, nearest_labels, pairs_kept

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ParameterError, ReplicateWarning
from clustrep.resampling import Bootstrap, FeatureSubset, Jitter, Subsample

SEED = 3
FUNCTIONS = [cr.stability.prediction_strength, cr.stability.relative_validation]
both = pytest.mark.parametrize("measure", FUNCTIONS, ids=["strength", "validation"])
strength = partial(cr.stability.prediction_strength, rng=SEED)
validation = partial(cr.stability.relative_validation, rng=SEED)
RNG = np.random.default_rng(8)
X = RNG.normal(scale=1.5, size=(4, 3))[np.arange(22) % 4] + RNG.normal(size=(22, 3))  # so that halves disagree
N = len(X)
MASK = np.arange(N) % 5 < 2  # 10 to learn from, 12 to test
LABELS = np.array(["Her2", "LumA", "Basal"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
with_k = AgglomerativeClustering


def directions(clusterer, first, second):
    """Ψ(X′; X′) and Ψ(X′; X), trained on the first part, then on the second."""
    labels = {id(part): np.asarray(clusterer.fit_predict(part)).tolist() for part in (first, second)}
    return [
        (labels[id(test)], nearest_labels(test, train, labels[id(train)]))
        for train, test in ((first, second), (second, first))
    ]


def smallest(shares):
    return min((value for value in shares.values() if not math.isnan(value)), default=math.nan)


def recorded(measure, X, ks, clusterer=None, **options):
    """Run, and return the result with the halves of every split, by number of clusters."""
    seen = {}

    def of_k(X, n_clusters=2):
        seen.setdefault(n_clusters, []).append(np.array(X))
        return (clusterer or with_k(n_clusters)).fit_predict(X)

    def plain(X):
        return of_k(X, None)

    result = measure(plain if ks is None else of_k, X, n_clusters=ks, **{"rng": SEED, **options})
    return result, {k: list(zip(given[::2], given[1::2], strict=True)) for k, given in seen.items()}


# ---------------------------------------------------------------------------------------------------------------------
# equation (4)


@pytest.mark.parametrize("both_directions", [True, False])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_given_split_is_equation_4(k, both_directions):
    pairs = directions(with_k(k), X[MASK], X[~MASK])[: 1 + both_directions]
    result = strength(with_k(k), X, split=MASK.tolist(), both_directions=both_directions)
    minima = [smallest(pairs_kept(*pair)) for pair in pairs]
    np.testing.assert_allclose(result.by_direction[0, :, 0], minima)
    np.testing.assert_allclose(result.strength, np.mean(minima))
    for d, pair in enumerate(pairs):
        np.testing.assert_allclose(sorted(result.per_cluster[k][0, d]), sorted(pairs_kept(*pair).values()))
        assert sorted(result.cluster_sizes[0, d, 0]) == sorted(pair[0].count(c) for c in set(pair[0]))


def test_by_hand():
    """Test samples 0, 1, 2 | 10, 11; the training part cuts between 1 and 2."""
    points = np.array([0.4, 1.4, 1.9, 2.0, 0.0, 1.0, 2.0, 10.0, 11.0])[:, None]

    def cut(X):
        return (X[:, 0] > (1.5 if len(X) == 4 else 5)).astype(int)

    result = strength(cut, points, split=np.arange(9) < 4)
    # Of the test cluster 0, 1, 2 one pair of three is together; the other way round, all are near 0, 1, 2.
    np.testing.assert_allclose(result.per_cluster[None][0], [[1 / 3, 1], [1, 1]])
    np.testing.assert_allclose(result.distribution, [[(1 / 3 + 1) / 2]])


def test_a_given_split_can_be_repeated_for_the_clusterers_own_randomness():
    assert len(np.unique(strength(KMeans(6, n_init=1), X, split=MASK, n_splits=12).distribution)) > 1
    assert len(np.unique(strength(with_k(3), X, split=MASK, n_splits=3).distribution)) == 1
    assert strength(with_k(3), X, split=MASK).provenance["n_splits"] == 1


@pytest.mark.parametrize(
    "perturbation", [None, Jitter(0.5), FeatureSubset(0.5), Bootstrap(), Subsample(0.8) + Jitter(0.3)], ids=repr
)
def test_random_halves_are_those_of_the_perturbed_study_and_are_scored_as_the_loop_does(perturbation):
    ks, n = [2, 3, 5], 4
    result, halves = recorded(cr.stability.prediction_strength, X, ks, n_splits=n, perturbation=perturbation)
    distances, _ = recorded(cr.stability.relative_validation, X, ks, n_splits=n, perturbation=perturbation)
    samples = [X] * n if perturbation is None else [draw.sample for draw in draws(X, perturbation, n, seed=SEED)]
    for i, k in enumerate(ks):
        for b, (first, second) in enumerate(halves[k]):
            np.testing.assert_array_equal(halves[2][b][0], first)  # the same for every k
            assert len(first) == len(samples[b]) // 2
            assert sorted(map(tuple, np.concatenate([first, second]))) == sorted(map(tuple, samples[b]))
            pairs = directions(with_k(k), first, second)
            minima = [smallest(pairs_kept(*pair)) for pair in pairs]
            np.testing.assert_allclose(result.by_direction[b, :, i], minima)
            for d, pair in enumerate(pairs):
                found = result.cluster_strengths[b, d, i]
                np.testing.assert_allclose(np.sort(found[:k]), np.sort(list(pairs_kept(*pair).values())))
                assert np.isnan(found[k:]).all()
            wrong = np.mean([matching(*pair) / len(pair[0]) for pair in pairs])
            np.testing.assert_allclose(distances.distribution[b, i] * distances.random[i], wrong)
    assert {k: values.shape for k, values in result.per_cluster.items()} == {k: (n, 2, k) for k in ks}


def test_every_sample_is_in_the_first_half_as_often():
    _, halves = recorded(cr.stability.prediction_strength, X, [2], n_splits=200)
    firsts = [[X.tolist().index(row) for row in first.tolist()] for first, _ in halves[2]]
    assert len(set(map(tuple, map(sorted, firsts)))) > 190
    counts = np.bincount(np.concatenate(firsts), minlength=N)
    # Without replacement within a split: the variance of a count is a quarter of 200, so the statistic is about halved.
    assert chisquare(counts).statistic < 2 * N


@both
def test_every_fit_has_a_seed_of_its_own(measure):
    seeds = []

    def guess(X, n_clusters=2, random_state=None):
        seeds.append(random_state)
        return np.arange(len(X)) % n_clusters

    measure(guess, X, n_clusters=[2, 3], n_splits=3, rng=SEED)
    assert len(seeds) == len(set(seeds)) == 2 * 2 * 3  # halves, numbers of clusters, splits


def test_a_clusterers_own_predict_is_asked():
    """The nearest centre, not the nearest sample: centres 2 and 10 cut at 6, and 6.2 would go with 4."""
    points = np.array([0.0, 4.0, 9.0, 10.0, 11.0, 0.5, 6.2, 10.5])[:, None]
    result = strength(KMeans(2, n_init=5), points, split=np.arange(8) < 5, both_directions=False)
    assert result.strength.tolist() == [1]


def test_one_cluster_has_strength_1_and_needs_no_fit():
    result = strength(with_k(2), X, n_clusters=[1, 3], n_splits=4)
    assert (result.by_direction[:, :, 0] == 1).all()
    assert result.per_cluster[1].shape == (4, 2, 1)
    np.testing.assert_array_equal(result.distribution[:, [1]], strength(with_k(3), X, n_splits=4).distribution)
    for refused in (lambda: strength(with_k(2), X, n_clusters=1), lambda: validation(with_k(2), X, n_clusters=[1, 2])):
        with pytest.raises(ParameterError) as caught:
            refused()
        assert caught.value.parameter == "n_clusters"


def test_test_clusters_of_one_sample_are_omitted_and_counted():
    result, halves = recorded(cr.stability.prediction_strength, X, [2, 8], n_splits=6)
    expected = []
    for k in (2, 8):
        owns = [with_k(k).fit_predict(half).tolist() for pair in halves[k] for half in pair]
        expected.append(sum(own.count(cluster) == 1 for own in owns for cluster in set(own)))
    assert result.n_singletons.tolist() == expected
    assert expected[1] > expected[0]
    np.testing.assert_array_equal(np.isnan(result.cluster_strengths), result.cluster_sizes < 2)
    line = np.array([0.0, 10.0, 0.1, 0.3, 10.1, 10.2])[:, None]
    split = np.arange(6) < 2
    assert strength(with_k(2), line, split=split, both_directions=False).strength.tolist() == [1]
    with pytest.raises(AllReplicatesFailed):  # in one direction there are clusters of one alone
        strength(with_k(2), line, split=split)


# ---------------------------------------------------------------------------------------------------------------------
# relative validation


def test_random_labels_have_a_relative_validation_of_one_and_equal_ones_of_zero():
    def thrown(X, n_clusters=3, random_state=None):
        return np.random.default_rng(random_state).integers(n_clusters, size=len(X))

    points = np.random.default_rng(0).normal(size=(300, 1))
    result = validation(thrown, points, n_clusters=[2, 4], n_splits=20)
    np.testing.assert_allclose(result.mean, 1, atol=0.05)
    far = np.repeat([[0.0], [50.0]], 10, axis=0) + np.tile(np.linspace(0, 1, 10), 2)[:, None]
    assert validation(with_k(2), far, n_splits=5).mean.tolist() == [0]


def test_random_labels_are_as_many_as_are_compared():
    result = validation(lambda X: X[:, 0].astype(int) % 3 - 1, np.arange(3000.0)[:, None], n_splits=3)
    assert result.random == pytest.approx([2 / 3], abs=0.05)


# ---------------------------------------------------------------------------------------------------------------------
# existing labels, noise, failures


@both
def test_labels_alone_are_predicted_by_the_nearest_sample_of_the_other_half(measure):
    result = measure(None, X, labels=LABELS, n_splits=4, rng=SEED)
    _, halves = recorded(measure, X, [2], n_splits=4)
    for b, (first, second) in enumerate(halves[2]):
        rows = [[X.tolist().index(row) for row in half.tolist()] for half in (first, second)]
        own = [LABELS[part].tolist() for part in rows]
        pairs = [(own[1], nearest_labels(second, first, own[0])), (own[0], nearest_labels(first, second, own[1]))]
        if measure is cr.stability.prediction_strength:
            np.testing.assert_allclose(result.by_direction[b, :, 0], [smallest(pairs_kept(*pair)) for pair in pairs])
        else:
            wrong = np.mean([matching(*pair) / len(pair[0]) for pair in pairs])
            np.testing.assert_allclose(result.distribution[b, 0] * result.random[0], wrong)
    study = cr.Study(X, "X", samples=[f"s{i}" for i in range(N)], labels=LABELS)
    series = pd.Series(LABELS, index=study.samples)[::-1]
    for table, labels in ((X, np.unique(LABELS, return_inverse=True)[1]), (study, True), (study, series)):
        again = measure(None, table, labels=labels, n_splits=4, rng=SEED)
        np.testing.assert_array_equal(again.distribution, result.distribution)
    assert (result.best_n_clusters, result.n_clusters) == (None, (None,))
    with pytest.raises(ParameterError):
        result.plot()


@both
def test_noise_is_a_cluster(measure):
    dense = np.concatenate([X / 2.5, X / 2.5 + 1.8, X[:3] * 6])
    density = DBSCAN(eps=1.2, min_samples=3)
    result, halves = recorded(measure, dense, None, clusterer=density, n_splits=6)
    values = []
    for first, second in halves[None]:
        pairs = directions(density, first, second)
        if measure is cr.stability.prediction_strength:
            values.append(np.mean([smallest(pairs_kept(*pair)) for pair in pairs]))
        else:
            values.append(np.mean([matching(*pair) / len(pair[0]) for pair in pairs]) / result.random[0])
    assert len(set(values)) > 1
    np.testing.assert_allclose(result.distribution[:, 0], values)


@both
def test_a_split_fails_if_either_half_does(measure):
    def shy(X, n_clusters=2):
        if X[0, 0] > 1.5:
            raise ValueError("a large one comes first")
        return with_k(n_clusters).fit_predict(X)

    _, halves = recorded(measure, X, [2], n_splits=12)
    failing = np.array([max(half[0, 0] for half in pair) > 1.5 for pair in halves[2]])
    assert 1 < failing.sum() < 12
    with pytest.warns(ReplicateWarning):
        result = measure(shy, X, n_clusters=[2, 3], n_splits=12, rng=SEED)
    np.testing.assert_array_equal(np.isnan(result.distribution), np.column_stack([failing] * 2))
    np.testing.assert_array_equal(result.failed > 0, np.column_stack([failing] * 2))
    assert np.isfinite(result.mean).all()
    if measure is cr.stability.prediction_strength:
        good = measure(with_k(3), X, n_clusters=[2, 3], n_splits=12, rng=SEED)
        np.testing.assert_allclose(result.distribution[~failing], good.distribution[~failing])


@both
def test_a_k_that_always_fails_leaves_the_others(measure):
    with pytest.warns(ReplicateWarning):  # 12 clusters in halves of 11 samples
        result = measure(with_k(3), X, n_clusters=[2, 12], n_splits=3, rng=SEED)
    assert np.isnan(result.mean).tolist() == [False, True]
    assert result.best_n_clusters == 2
    with pytest.raises(AllReplicatesFailed):
        measure(with_k(2), X[:3], n_splits=3, rng=SEED)


# ---------------------------------------------------------------------------------------------------------------------
# the result


def test_the_best_and_the_recommended_k():
    curve = strength(with_k(2), X, n_clusters=[1, 2, 3, 4], n_splits=4)

    def of(result, *values, **changes):
        return replace(result, distribution=np.array([values], dtype=float), **changes)

    assert of(curve, 1, 0.75, 0.5, 0.75).recommended(0.75) == 1  # above, not at
    assert of(curve, 1, 0.85, 0.95, 0.85).recommended() == 4
    assert of(curve, 1, 0.85, 0.95, 0.85).recommended(0.9) == 3
    assert of(curve, 1, 0.5, 0.5, np.nan).recommended() == 1
    assert of(curve, 1, 0.5, 0.7, 0.7).best_n_clusters == 3
    assert of(curve, 1, np.nan, np.nan, np.nan).best_n_clusters is None
    assert of(curve, 0.7, 0.7, 0.2, 1, n_clusters=(4, 3, 2, 1)).best_n_clusters == 3
    lange = validation(with_k(2), X, n_clusters=[2, 3, 4], n_splits=2)
    assert of(lange, 0.3, 0.1, 0.1).best_n_clusters == 3
    for threshold in (0, 1, -1, "high", None):
        with pytest.raises(ParameterError) as caught:
            curve.recommended(threshold)
        assert caught.value.parameter == "threshold"
    with pytest.raises(ParameterError):
        strength(None, X, labels=LABELS, n_splits=2).recommended()


@pytest.mark.parametrize(
    "split", ["half", 0.5, MASK[:-1], MASK.astype(int), np.ones(N, dtype=bool), np.arange(N) < 1, ([0, 1], [2, 3])]
)
def test_a_split_is_a_mask_with_two_samples_in_each_part(split):
    with pytest.raises(ParameterError) as caught:
        strength(with_k(3), X, split=split)
    assert caught.value.parameter == "split"


def test_a_split_refers_to_the_samples_themselves():
    with pytest.raises(ParameterError):
        strength(with_k(3), X, split=MASK, perturbation=Jitter())


def test_strength_finds_clusters_and_prefers_few():
    """Four components in two pairs: section C.2 finds that the minimum favours the coarser partition."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [20.0, 0.0], [23.0, 0.0]])
    mixture = centres[np.arange(120) % 4] + rng.normal(size=(120, 2))
    result = strength(KMeans(n_init=5), mixture, n_clusters=range(1, 7), n_splits=10)
    assert (result.strength[1], result.best_n_clusters, result.recommended(0.95)) == (1, 2, 2)
    # What the minimum hides, as the paper advises to look at.
    assert np.nanmean(result.per_cluster[4]) > result.strength[3] + 0.05
