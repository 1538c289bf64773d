"""Section 2.3: prediction strength and relative validation against double loops over pairs of points."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.helpers import configured

import clustrep as cr
from clustrep.clustering.sample import Source
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning

SEED = 3
NOISE = -1
WARD = AgglomerativeClustering(3)
BOTH = [cr.prediction_strength, cr.relative_validation]
both = pytest.mark.parametrize("measure", BOTH, ids=["strength", "validation"])


def blurred(n=22, p=3):
    """Clusters that run into each other, so that halves disagree."""
    rng = np.random.default_rng(8)
    return rng.normal(scale=1.5, size=(4, p))[np.arange(n) % 4] + rng.normal(size=(n, p))


X = blurred()
N = len(X)
MASK = np.arange(N) % 5 < 2  # 10 to learn from, 12 to test
PARTS = (np.flatnonzero(MASK), np.flatnonzero(~MASK))
strength = partial(cr.prediction_strength, rng=SEED)
validation = partial(cr.relative_validation, rng=SEED)


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


# ---------------------------------------------------------------------------------------------------------------------
# the plain loops


def nearest_labels(points, training_points, labels):
    found = []
    for point in points:
        distances = [sum((a - b) ** 2 for a, b in zip(point, other, strict=True)) for other in training_points]
        found.append(labels[distances.index(min(distances))])
    return found


def shares(own, predicted, noise="label"):
    """The bracket of equation (4) for every test cluster, by its label: over ordered pairs i ≠ l."""
    kept = [noise == "label" or NOISE not in pair for pair in zip(own, predicted, strict=True)]
    rows = [i for i in range(len(own)) if kept[i]]
    found = {}
    for cluster in sorted({own[i] for i in rows}):
        members = [i for i in rows if own[i] == cluster]
        together = [predicted[i] == predicted[j] for i in members for j in members if i != j]
        found[cluster] = sum(together) / (len(members) * (len(members) - 1)) if len(members) > 1 else math.nan
    return found


def smallest(values):
    return min((value for value in values if not math.isnan(value)), default=math.nan)


def matching(own, predicted, noise="label"):
    """The share of points outside the best one-to-one matching of labels, by trying all of them."""
    pairs = [pair for pair in zip(own, predicted, strict=True) if noise == "label" or NOISE not in pair]
    a, b = sorted({u for u, _ in pairs}), sorted({v for _, v in pairs})
    b = b + [f"none {i}" for i in range(len(a) - len(b))]
    maps = (dict(zip(a, chosen, strict=True)) for chosen in itertools.permutations(b, len(a)))
    return min(sum(one[u] != v for u, v in pairs) for one in maps) / len(pairs)


def own_and_predicted(clusterer, train, test):
    """Ψ(X′; X′) and Ψ(X′; X) for a clusterer without `predict`."""
    return clusterer.fit_predict(test).tolist(), nearest_labels(test, train, clusterer.fit_predict(train).tolist())


def in_both_directions(clusterer, first, second):
    """Trained on the first part, then on the second."""
    return [own_and_predicted(clusterer, *parts) for parts in ((first, second), (second, first))]


def with_k(k):
    return AgglomerativeClustering(k)


class Recorder:
    """Agglomerative clustering that remembers what it was given: a half each time, by number of clusters."""

    def __init__(self):
        self.seen = {}

    def __call__(self, X, n_clusters=2):
        self.seen.setdefault(n_clusters, []).append(np.array(X))
        return with_k(n_clusters).fit_predict(X)

    def halves(self, k):
        given = self.seen[k]
        return list(zip(given[::2], given[1::2], strict=True))


def recorded(measure, X, ks, **arguments):
    """Run, and return the result with the halves of every split."""
    recorder = Recorder()

    def clusterer(X, n_clusters=2):
        return recorder(X, n_clusters)

    return measure(clusterer, X, n_clusters=ks, **arguments), recorder


def rows_of(points, X):
    """Which rows of X these points are."""
    return [X.tolist().index(point) for point in points.tolist()]


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
    _, recorder = recorded(cr.prediction_strength, X, [2], n_splits=200, rng=SEED)
    counts = np.bincount([row for first, _ in recorder.halves(2) for row in rows_of(first, X)], minlength=N)
    # Without replacement within a split: the variance of a count is a quarter of 200, so the statistic is about halved.
    assert chisquare(counts).statistic < 2 * N
    assert counts.sum() == 200 * N // 2
    assert counts.std() > 2


@pytest.mark.parametrize("both_directions", [True, False])
def test_strength_over_random_halves_is_equation_4(both_directions):
    ks = [2, 3, 5]
    result, recorder = recorded(cr.prediction_strength, X, ks, n_splits=5, both_directions=both_directions, rng=SEED)
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
    result, recorder = recorded(cr.prediction_strength, X, ks, n_splits=6, rng=SEED)
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


@pytest.mark.parametrize("arguments", [{}, pytest.param({"split": MASK}), {"perturbation": cr.Subsample(0.6)}])
def test_the_one_cluster_holds_the_whole_test_part(arguments):
    result = strength(with_k(2), X[:21] if not arguments else X, n_clusters=[1, 2], **{"n_splits": 2, **arguments})
    sizes = result.cluster_sizes.sum(axis=3)
    np.testing.assert_array_equal(sizes[:, :, 0], sizes[:, :, 1])


# ---------------------------------------------------------------------------------------------------------------------
# relative validation


@pytest.mark.parametrize("k", [2, 3, 4])
def test_distances_are_the_mean_of_both_directions_divided_by_those_of_random_labels(k):
    result, recorder = recorded(cr.relative_validation, X, [k], n_splits=5, rng=SEED)
    distances = []
    for halves in recorder.halves(k):
        distances.append(np.mean([matching(*one) for one in in_both_directions(with_k(k), *halves)]))
    assert len(set(distances)) > 1
    np.testing.assert_allclose(result.distribution[:, 0] * result.random[0], distances)
    np.testing.assert_allclose(result.mean, np.mean(distances) / result.random)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_random_labels_have_the_distance_that_simulation_finds(k):
    n, n_splits = 40, 60
    result = validation(with_k(k), np.random.default_rng(0).normal(size=(n, 2)), n_splits=n_splits)
    rng = np.random.default_rng(99)
    simulated = [matching(*rng.integers(k, size=(2, n // 2)).tolist()) for _ in range(600)]
    error = np.std(simulated) * math.sqrt(1 / n_splits + 1 / 600)
    assert abs(result.random[0] - np.mean(simulated)) < 4 * error
    assert 1 - 1 / k - 0.25 < result.random[0] < 1 - 1 / k  # the best matching is better than any fixed one


def test_random_labels_of_a_large_study_are_wrong_in_all_but_one_of_k():
    for k in (2, 5):
        points = np.arange(8000.0)[:, None] % k
        random = validation(lambda X: X[:, 0].astype(int), points, n_splits=2).random
        assert random == pytest.approx([1 - 1 / k], abs=0.03)


def test_labels_at_random_score_about_1():
    def guess(X, random_state=None):
        return np.random.default_rng(random_state).integers(3, size=len(X))

    result = validation(guess, np.arange(60.0)[:, None], n_splits=60)
    assert abs(result.mean[0] - 1) < 0.1
    assert len(np.unique(result.distribution)) > 5


def test_perfect_clusters_score_0_and_are_the_lowest():
    far = np.concatenate([X[:10] / 5 + 100 * i for i in range(3)])
    result = validation(WARD, far, n_clusters=[2, 3, 4, 5], n_splits=10)
    assert result.mean[1] == 0
    assert result.best_n_clusters == 3
    assert "Lowest at k = 3" in repr(result)
    assert (result.mean[2:] > 0).all()


def test_other_numbers_of_clusters_change_nothing():
    several = validation(WARD, X, n_clusters=[4, 2, 3], n_splits=4)
    for i, k in enumerate((4, 2, 3)):
        alone = validation(with_k(k), X, n_splits=4)
        np.testing.assert_array_equal(several.distribution[:, i], alone.distribution[:, 0])
        assert several.random[i] == alone.random[0]
        assert alone.n_clusters == (k,)


def test_one_cluster_has_nothing_to_disagree_about():
    result = validation(with_k(1), X, n_splits=3)
    assert result.mean.tolist() == [0]
    assert result.random.tolist() == [0]


# ---------------------------------------------------------------------------------------------------------------------
# existing labels instead of a clusterer


LABELS = np.array(["Her2", "LumA", "Basal"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]


def test_the_other_half_predicts_by_the_nearest_sample():
    for both_directions in (True, False):
        result = strength(None, X, labels=LABELS, split=MASK, both_directions=both_directions)
        directions = [PARTS, PARTS[::-1]][: 1 + both_directions]
        for d, (train, test) in enumerate(directions):
            own = LABELS[test].tolist()
            predicted = nearest_labels(X[test], X[train], LABELS[train].tolist())
            expected = shares(own, predicted)
            np.testing.assert_allclose(result.per_cluster[None][0, d], list(expected.values()))  # sorted by label
            assert result.by_direction[0, d, 0] == pytest.approx(smallest(expected.values()))
            assert result.cluster_sizes[0, d, 0].tolist() == [own.count(c) for c in ("Basal", "Her2", "LumA")]
    assert result.n_clusters == (None,)
    assert result.clusterer == "known labels"


def test_existing_labels_over_random_halves():
    _, recorder = recorded(cr.prediction_strength, X, [2], n_splits=5, rng=SEED)
    result = strength(None, X, labels=LABELS, n_splits=5)
    distances = validation(None, X, labels=LABELS, n_splits=5)
    for b, halves in enumerate(recorder.halves(2)):
        first, second = (rows_of(half, X) for half in halves)
        minima, wrong = [], []
        for train, test in ((first, second), (second, first)):
            own, predicted = LABELS[test].tolist(), nearest_labels(X[test], X[train], LABELS[train].tolist())
            minima.append(smallest(shares(own, predicted).values()))
            wrong.append(matching(own, predicted))
        np.testing.assert_allclose(result.by_direction[b, :, 0], minima)
        np.testing.assert_allclose(distances.distribution[b, 0] * distances.random[0], np.mean(wrong))


@both
def test_labels_may_be_numbers_a_series_or_the_studys_own(measure):
    names = [f"patient {i}" for i in range(N)]
    study = cr.Study(X, "X", samples=names, labels=LABELS)
    series = pd.Series(LABELS, index=names).sample(frac=1, random_state=1)
    numbers = np.unique(LABELS, return_inverse=True)[1]
    expected = measure(None, X, labels=LABELS, n_splits=4, rng=SEED)
    for table, labels in ((X, numbers), (X, LABELS.tolist()), (study, True), (study, series), (study, LABELS)):
        result = measure(None, table, labels=labels, n_splits=4, rng=SEED)
        np.testing.assert_array_equal(result.distribution, expected.distribution)
        assert result.provenance["labels"] == "known"


@both
def test_labels_next_to_a_clusterer_are_used_or_refused(measure):
    try:
        result = measure(WARD, X, labels=LABELS, n_splits=4, rng=SEED)
    except ParameterError:
        return
    expected = measure(None, X, labels=LABELS, n_splits=4, rng=SEED)
    np.testing.assert_array_equal(result.distribution, expected.distribution)


# ---------------------------------------------------------------------------------------------------------------------
# perturbed before the split


PERTURBATIONS = [
    cr.Jitter(0.5),
    cr.FeatureSubset(0.5),
    cr.Subsample(0.7),
    cr.Bootstrap(),
    cr.Bootstrap(distinct=True),
    cr.Subsample(0.8) + cr.Jitter(0.3),
]


@both
@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=repr)
def test_halves_are_those_of_the_perturbed_study(measure, perturbation):
    _, recorder = recorded(measure, X, [2, 3], n_splits=4, perturbation=perturbation, rng=SEED)
    for b in range(4):
        draw = Source(perturbation, SEED).draw(cr.Study(X, "X"), b + 1)
        for k in (2, 3):
            first, second = recorder.halves(k)[b]
            assert len(first) == len(draw.order) // 2
            assert sorted(map(tuple, np.concatenate([first, second]))) == sorted(map(tuple, draw.sample))


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=repr)
def test_a_perturbed_study_is_scored_as_any_other(perturbation):
    arguments = {"n_splits": 4, "perturbation": perturbation, "rng": SEED}
    result, recorder = recorded(cr.prediction_strength, X, [2, 3], **arguments)
    distances, _ = recorded(cr.relative_validation, X, [2, 3], **arguments)
    for i, k in enumerate((2, 3)):
        for b, halves in enumerate(recorder.halves(k)):
            pairs = in_both_directions(with_k(k), *halves)
            minima = [smallest(shares(*one).values()) for one in pairs]
            np.testing.assert_allclose(result.by_direction[b, :, i], minima)
            wrong = np.mean([matching(*one) for one in pairs])
            np.testing.assert_allclose(distances.distribution[b, i] * distances.random[i], wrong)
    plain = strength(WARD, X, n_clusters=[2, 3], n_splits=4)
    assert not np.array_equal(result.distribution, plain.distribution)
    assert result.provenance["resampling"] != plain.provenance["resampling"]


# ---------------------------------------------------------------------------------------------------------------------
# noise


DENSITY = DBSCAN(eps=3.0, min_samples=3)


@pytest.mark.parametrize("noise", ["label", "drop"])
def test_noise_is_a_cluster_or_left_out_where_either_side_has_it(noise):
    result = strength(DENSITY, X, split=MASK, noise=noise)
    pairs = in_both_directions(DENSITY, X[PARTS[0]], X[PARTS[1]])
    labels = {label for one in pairs for side in one for label in side}
    assert NOISE in labels
    assert len(labels) > 1
    for d, one in enumerate(pairs):
        expected = shares(*one, noise=noise)
        found = result.per_cluster[None][0, d]
        np.testing.assert_allclose(np.sort(found[~np.isnan(found)]), np.sort([v for v in expected.values() if v == v]))
        np.testing.assert_allclose(result.by_direction[0, d, 0], smallest(expected.values()))
    assert result.provenance["noise"] == noise


def test_noise_makes_a_difference_and_is_a_cluster_by_default():
    label, drop, default = (strength(DENSITY, X, n_splits=10, **n) for n in ({"noise": "label"}, {"noise": "drop"}, {}))
    assert not np.array_equal(label.distribution, drop.distribution)
    np.testing.assert_array_equal(label.distribution, default.distribution)


@pytest.mark.parametrize("noise", ["label", "drop"])
def test_relative_validation_with_noise(noise):
    recorder, tight = Recorder(), DBSCAN(eps=1.6, min_samples=3)

    def density(X):
        recorder.seen.setdefault(None, []).append(np.array(X))
        return tight.fit_predict(X)

    dense = np.concatenate([X[:12] / 2.5, X[:12] / 2.5 + 1.8, X[:3] * 6])
    result = validation(density, dense, n_splits=6, noise=noise)
    wrong = []
    for halves in recorder.halves(None):
        wrong.append(np.mean([matching(*one, noise=noise) for one in in_both_directions(tight, *halves)]))
    assert len(set(wrong)) > 1
    np.testing.assert_allclose(result.distribution[:, 0] * result.random[0], wrong)


def test_random_labels_have_as_many_clusters_as_are_compared():
    points = np.arange(3000.0)[:, None]

    def two_and_noise(X):
        return X[:, 0].astype(int) % 3 - 1

    result = validation(two_and_noise, points, n_splits=3, noise="drop")
    assert result.random == pytest.approx([1 / 2], abs=0.05)


@both
def test_a_half_that_is_all_noise_is_a_failure(measure):
    with pytest.raises(AllReplicatesFailed):
        measure(DBSCAN(eps=1e-9, min_samples=2), X, n_splits=3, noise="drop", rng=SEED)


# ---------------------------------------------------------------------------------------------------------------------
# fits that fail


def fussy(X, n_clusters=2):
    if n_clusters == 3 and X[:, 0].min() == blurred()[:, 0].min():  # one half of every split
        raise ValueError("not this point")
    return AgglomerativeClustering(n_clusters).fit_predict(X)


def shy(X, n_clusters=2):
    if X[0, 0] > 1.5:
        raise ValueError("a large one comes first")
    return AgglomerativeClustering(n_clusters).fit_predict(X)


@both
def test_a_split_fails_if_either_half_does(measure):
    _, recorder = recorded(measure, X, [2], n_splits=12, rng=SEED)
    failing = np.array([max(half[0, 0] for half in halves) > 1.5 for halves in recorder.halves(2)])
    assert 1 < failing.sum() < 12
    with pytest.warns(ReplicateWarning, match=rf"ValueError: a large one comes first \({2 * failing.sum()}\)"):
        result = measure(shy, X, n_clusters=[2, 3], n_splits=12, rng=SEED)
    np.testing.assert_array_equal(np.isnan(result.distribution), np.column_stack([failing] * 2))
    np.testing.assert_array_equal(result.failed > 0, np.column_stack([failing] * 2))
    assert result.failures == {"ValueError: a large one comes first": 2 * failing.sum()}
    assert "Failed: " in repr(result)
    assert np.isfinite(result.mean).all()
    good = measure(WARD, X, n_clusters=[2, 3], n_splits=12, rng=SEED)
    if measure is cr.prediction_strength:
        np.testing.assert_allclose(result.distribution[~failing], good.distribution[~failing])
        assert np.isnan(result.by_direction[failing]).all()
    else:  # random labels of the splits that are left
        ratio = result.distribution[~failing] / np.where(
            good.distribution[~failing] == 0, np.nan, good.distribution[~failing]
        )
        assert np.nanmax(np.ptp(ratio[~np.isnan(ratio).any(axis=1)], axis=0)) < 1e-12


@both
@pytest.mark.parametrize("ks", [[2, 12], [2, 3]])
def test_a_k_that_always_fails_leaves_the_others(measure, ks):
    """12 clusters in halves of 11 samples; or a clusterer that can not make 3."""
    clusterer = WARD if ks[1] == 12 else fussy
    with pytest.warns(ReplicateWarning, match="fits of"):
        result = measure(clusterer, X, n_clusters=ks, n_splits=3, rng=SEED)
    assert np.isfinite(result.mean[0])
    assert np.isnan(result.mean[1])
    assert result.best_n_clusters == 2
    repr(result)


@both
@pytest.mark.parametrize("n", [2, 3])
def test_everything_failing_raises(measure, n):
    with pytest.raises(AllReplicatesFailed, match="more clusters asked for than there are distinct points"):
        measure(with_k(2), X[:n], n_splits=3, rng=SEED)


# ---------------------------------------------------------------------------------------------------------------------
# laws


@both
def test_the_same_seed_gives_the_same_values_and_another_does_not(measure):
    run = partial(measure, WARD, X, n_splits=5)
    np.testing.assert_array_equal(run(rng=1).distribution, run(rng=1).distribution)
    assert not np.array_equal(run(rng=1).distribution, run(rng=2).distribution)
    generated = [run(rng=np.random.default_rng(3)) for _ in range(2)]
    np.testing.assert_array_equal(generated[0].distribution, generated[1].distribution)
    np.testing.assert_array_equal(run(rng=generated[0].provenance["seed"]).distribution, generated[0].distribution)


@both
def test_other_numbers_of_clusters_and_more_splits_change_nothing(measure):
    kmeans = KMeans(3, n_init=2)
    long = measure(kmeans, X, n_clusters=[2, 3, 5], n_splits=8, rng=SEED)
    short = measure(kmeans, X, n_clusters=[5, 2], n_splits=3, rng=SEED)
    scale = 1 if measure is cr.prediction_strength else long.random[[2, 0]] / short.random  # its mean is over splits
    np.testing.assert_allclose(long.distribution[:3, [2, 0]] * scale, short.distribution, rtol=1e-12)
    own = measure(kmeans, X, n_splits=8, rng=SEED)
    np.testing.assert_array_equal(own.distribution[:, 0], long.distribution[:, 1])


def test_workers_and_batches_change_nothing():
    run = partial(strength, KMeans(n_init=2), X, n_clusters=[2, 3], n_splits=5)
    one = run()
    for other in (configured(run, progress=False)(), run(n_jobs=2)):
        for name in ("distribution", "by_direction", "cluster_strengths", "cluster_sizes"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@both
@pytest.mark.parametrize("linkage", ["ward", "complete", "single"])
def test_without_shortcuts_the_values_are_the_same(measure, linkage):
    tree = AgglomerativeClustering(linkage=linkage)
    for perturbation in (None, cr.Bootstrap()):
        runs = [
            configured(measure, accelerate=flag)(
                tree, X, n_clusters=[2, 4], n_splits=4, perturbation=perturbation, rng=SEED
            )
            for flag in (True, False)
        ]
        np.testing.assert_allclose(runs[0].distribution, runs[1].distribution, rtol=1e-12)


@both
def test_every_fit_has_a_seed_of_its_own(measure):
    seeds = []

    def guess(X, n_clusters=2, random_state=None):
        seeds.append(random_state)
        return np.arange(len(X)) % n_clusters

    measure(guess, X, n_clusters=[2, 3], n_splits=3, rng=SEED)
    assert len(seeds) == len(set(seeds)) == 2 * 2 * 3  # halves, numbers of clusters, splits


def test_k_means_is_as_strong_with_and_without_shortcuts():
    fast, plain = (
        configured(strength, accelerate=flag)(KMeans(2, n_init=10), X, n_splits=30) for flag in (True, False)
    )
    np.testing.assert_allclose(fast.strength, plain.strength, atol=0.05)


def test_a_clusterers_own_predict_is_asked():
    """The nearest centre, not the nearest point."""
    train = np.array([0.0, 4.0, 9.0, 10.0, 11.0])  # centres 2 and 10: cut at 6
    test = np.array([0.5, 6.2, 10.5])
    points = np.concatenate([train, test])[:, None]
    result = strength(KMeans(2, n_init=5), points, split=np.arange(8) < 5, both_directions=False)
    # the test part's own: 0.5 | 6.2, 10.5; by points 6.2 would go with 4
    assert result.strength.tolist() == [1]


@both
def test_a_table_is_a_study_named_x(measure):
    run = partial(measure, WARD, n_splits=4, rng=SEED)
    expected = run(X).distribution
    for same in (cr.Study(X, "X"), pd.DataFrame(X, columns=list("abc")), X.tolist()):
        np.testing.assert_array_equal(run(same).distribution, expected)
    assert not np.array_equal(run(cr.Study(X, "mainz")).distribution, expected)
    single = X.astype(np.float32)
    np.testing.assert_array_equal(run(single).distribution, run(single.astype(float)).distribution)


@both
def test_constant_features_and_duplicate_points_are_in_nobodys_way(measure):
    run = partial(measure, WARD, n_splits=4, rng=SEED)
    np.testing.assert_array_equal(run(np.column_stack([X, np.ones(N)])).distribution, run(X).distribution)
    assert np.isfinite(run(np.repeat(X[:11], 2, axis=0)).distribution).all()


def test_four_points_and_existing_labels():
    with pytest.raises(AllReplicatesFailed, match=r"1 fit failed: every test cluster has one sample \(1\)\.$"):
        strength(None, [[0.0], [0.1], [5.0], [5.1]], labels=[0, 0, 1, 1], split=([0, 2], [1, 3]))
    halves = strength(None, [[0.0], [0.1], [5.0], [5.1]], labels=[0, 0, 1, 1], split=([0, 1], [2, 3]))
    assert halves.strength.tolist() == [1]


# ---------------------------------------------------------------------------------------------------------------------
# what it is for


def test_strength_prefers_few_clusters():
    """Four components in two pairs: section C.2 finds that the minimum favours the coarser partition."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [20.0, 0.0], [23.0, 0.0]])
    mixture = centres[np.arange(120) % 4] + rng.normal(size=(120, 2))
    result = strength(KMeans(n_init=5), mixture, n_clusters=range(1, 7), n_splits=10)
    assert result.strength[1] == 1
    assert result.best_n_clusters == 2
    assert (result.strength[2:] < 0.95).all()
    assert result.recommended(0.95) == 2
    # what the minimum hides, as the paper advises to look at
    mean_over_clusters = np.nanmean(result.per_cluster[4], axis=2)
    assert (mean_over_clusters >= result.by_direction[:, :, 3]).all()
    assert mean_over_clusters.mean() > result.strength[3] + 0.05


def test_strength_finds_clusters_that_are_there():
    far = np.concatenate([X[:10] / 5 + 100 * np.eye(3)[i] for i in range(3)])
    result = strength(KMeans(n_init=5), far, n_clusters=range(1, 6), n_splits=10)
    assert result.strength[2] == 1
    assert result.recommended() == 3
    assert result.best_n_clusters in (2, 3)


# ---------------------------------------------------------------------------------------------------------------------
# the result


@pytest.fixture(scope="module")
def curve():
    return strength(WARD, X, n_clusters=[1, 2, 3, 4], n_splits=4)


def with_values(result, *rows):
    return replace(result, distribution=np.array(rows, dtype=float))


def test_the_largest_k_above_the_threshold_is_recommended(curve):
    result = with_values(curve, [1, 0.7, 0.9, 0.8], [1, 0.9, 1.0, 0.8])
    assert result.strength.tolist() == pytest.approx([1, 0.8, 0.95, 0.8])
    assert with_values(curve, [1, 0.75, 0.5, 0.75]).recommended(0.75) == 1  # above, not at
    assert with_values(curve, [1, 0.75, 0.5, 0.75]).recommended(0.74) == 4
    assert with_values(curve, [1, 0.85, 0.95, 0.85]).recommended() == 4
    assert with_values(curve, [1, 0.85, 0.95, 0.85]).recommended(0.9) == 3
    assert with_values(curve, [1, 0.5, 0.5, np.nan]).recommended() == 1
    assert with_values(curve, [1, 0.85, np.nan, np.nan]).recommended() == 2


def test_the_best_k_is_the_highest_from_2_on_and_the_smallest_of_several(curve):
    assert with_values(curve, [1, 0.5, 0.7, 0.6]).best_n_clusters == 3
    assert with_values(curve, [1, 0.5, 0.7, 0.7]).best_n_clusters == 3
    assert with_values(curve, [1, np.nan, 0.1, 0.7]).best_n_clusters == 4
    assert with_values(curve, [1, np.nan, np.nan, np.nan]).best_n_clusters is None
    backwards = replace(with_values(curve, [0.7, 0.7, 0.2, 1]), n_clusters=(4, 3, 2, 1))
    assert backwards.best_n_clusters == 3
    lange = validation(WARD, X, n_clusters=[2, 3, 4], n_splits=2)
    assert with_values(lange, [0.3, 0.1, 0.1]).best_n_clusters == 3
    assert with_values(lange, [0.3, np.nan, 0.4]).best_n_clusters == 2


def test_without_a_number_of_clusters_nothing_is_recommended():
    result = strength(None, X, labels=LABELS, n_splits=2)
    assert result.best_n_clusters is None
    assert result.to_frame()["k"].isna().all()
    with pytest.raises(ParameterError, match="no number of clusters to recommend: pass n_clusters"):
        result.recommended()
    with pytest.raises(ParameterError, match="no number of clusters to draw against: pass n_clusters"):
        result.plot()
    assert "Highest" not in repr(result)


@pytest.mark.parametrize("threshold", [0, 1, 1.5, -1, "high", None])
def test_a_threshold_lies_between_0_and_1(curve, threshold):
    with pytest.raises(ParameterError, match="threshold must be a number strictly between 0 and 1"):
        curve.recommended(threshold)


@both
def test_the_frame_has_a_row_for_every_k(measure):
    result = measure(WARD, X, n_clusters=[2, 4], n_splits=5, rng=SEED)
    frame = result.to_frame(0.5)
    assert frame.columns.tolist() == ["k", "mean", "sd", "low", "high"]
    assert frame["k"].tolist() == [2, 4]
    assert frame["k"].dtype == "Int64"
    values = result.distribution
    np.testing.assert_allclose(frame["mean"], values.mean(axis=0))
    np.testing.assert_allclose(frame["sd"], values.std(axis=0, ddof=1))
    np.testing.assert_allclose(frame["low"], np.quantile(values, 0.25, axis=0))
    np.testing.assert_allclose(frame["high"], np.quantile(values, 0.75, axis=0))
    with pytest.raises(ParameterError, match="confidence_level must be a number strictly between 0 and 1"):
        result.to_frame(95)


@pytest.mark.parametrize(
    "make",
    [
        lambda: strength(WARD, X, n_clusters=[1, 2, 5], n_splits=3),
        lambda: strength(None, X, labels=LABELS, split=MASK),
        lambda: validation(WARD, X, n_clusters=[2, 5], n_splits=3, noise="drop", perturbation=cr.Jitter(0.1)),
    ],
)
def test_a_result_survives_its_file(make, tmp_path):
    result = make()
    result.save(tmp_path / "curve")
    loaded = cr.load(tmp_path / "curve")
    assert type(loaded) is type(result)
    assert repr(loaded) == repr(result)
    assert loaded.n_clusters == result.n_clusters
    assert loaded.provenance == result.provenance
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())
    for name, value in vars(result).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(loaded, name), value)
            for one in (result, loaded):
                with pytest.raises(ValueError, match="read-only"):
                    getattr(one, name)[...] = 0
    if hasattr(result, "per_cluster"):
        assert loaded.per_cluster.keys() == result.per_cluster.keys()


def test_repr_says_what_was_found(curve):
    text = repr(with_values(curve, [1, 0.85, 0.95, 0.85]))
    assert text.startswith(f"Prediction strength of AgglomerativeClustering: 1 split, seed {SEED}")
    assert "Highest at k = 3" in text
    rule = "Tibshirani and Walther's rule, the largest k with enough strength: "
    assert rule + "4 (above 0.8), 3 (above 0.9)" in text.splitlines()
    assert rule + "1, no clusters" in repr(with_values(curve, [1, 0.5, 0.4, 0.3])).splitlines()
    lange = repr(validation(WARD, X, n_clusters=[2, 3], n_splits=2))
    assert lange.startswith(f"Relative validation of AgglomerativeClustering: 2 splits, seed {SEED}")
    assert "Lowest at k = " in lange
    assert "Lowest" not in repr(validation(WARD, X, n_splits=2))  # of one, nothing is the lowest


@both
def test_the_provenance_counts_splits(measure):
    provenance = measure(WARD, X, n_splits=3, rng=SEED).provenance
    assert provenance["n_splits"] == 3
    assert "n_replicates" not in provenance
    fixed = strength(WARD, X, split=np.arange(N) < N // 2).provenance
    assert fixed["n_splits"] == 1


@both
def test_arguments_the_wrong_way_round_are_refused(measure):
    with pytest.raises(ParameterError, match=r"X must be a table of samples by features, got Agglomerative.*wrong way"):
        measure(X, WARD)
    with pytest.raises(ParameterError, match=r"X must be one study or table, got dict: pick one, studies\[name\]"):
        measure(WARD, {"a": X})


@both
def test_plot_draws_onto_the_axes_given(measure):
    result = measure(WARD, X, n_clusters=[4, 2, 3], n_splits=3, rng=SEED)
    _, (left, right) = plt.subplots(1, 2)
    assert result.plot(right) is right
    assert not left.has_data()
    (line,) = right.lines
    assert line.get_xdata().tolist() == [2, 3, 4]
    np.testing.assert_array_equal(line.get_ydata(), result.mean[[1, 2, 0]])
    assert right.get_ylabel() == result.title.lower()
    assert result.plot() is not right


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


@both
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_splits": 0}, "n_splits must be a positive integer, got 0"),
        ({"n_splits": 1.5}, r"n_splits must be a positive integer, got 1\.5"),
        ({"noise": "singletons"}, "noise must be one of 'label', 'drop'; got 'singletons'"),
        ({"labels": True}, "labels is True, but study 'X' has no known labels"),
        ({"perturbation": "bootstrap"}, "perturbation must be Bootstrap"),
        ({"perturbation": cr.Bootstrap}, "perturbation must be Bootstrap"),
        ({"n_clusters": [2, 2]}, "n_clusters must hold every number once"),
        ({"n_clusters": []}, "n_clusters must hold at least one number"),
        ({"n_clusters": [0, 2]}, "n_clusters must be"),
        ({"n_clusters": "2"}, "n_clusters must be an integer or several"),
        ({"rng": "seed"}, "rng must be a non-negative integer"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_a_bad_parameter_is_named(measure, arguments, message):
    with pytest.raises(ParameterError, match=message):
        measure(WARD, X, **arguments)


@both
def test_a_bad_clusterer_or_study_is_refused(measure):
    with pytest.raises(ParameterError, match="pass a clusterer, or existing labels with labels="):
        measure(None, X)
    with pytest.raises(ParameterError, match="n_clusters needs a clusterer: labels have the clusters that they have"):
        measure(None, X, labels=LABELS, n_clusters=[2, 3])
    with pytest.raises(ParameterError, match=r"write KMeans\(\)"):
        measure(KMeans, X)
    with pytest.raises(ParameterError, match="has no parameter for the number of clusters"):
        measure(DENSITY, X, n_clusters=[2, 3])
    with pytest.raises(ParameterError, match="X must be one study or table, got Studies"):
        measure(WARD, cr.Studies({"a": X, "b": X}))
    with pytest.raises(DataError, match="one label for every point of study 'X': 22; got 2"):
        measure(None, X, labels=[0, 1])


def test_only_strength_knows_one_cluster():
    with pytest.raises(ParameterError, match="n_clusters must be an integer of at least 2, got 1"):
        validation(WARD, X, n_clusters=[1, 2])
    with pytest.raises(
        ParameterError, match="n_clusters must hold a number above 1: one cluster has prediction strength 1"
    ):
        strength(WARD, X, n_clusters=1)


def test_both_directions_is_a_flag():
    with pytest.raises(ParameterError, match="both_directions must be True or False, got 2"):
        strength(WARD, X, both_directions=2)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("half", "split must be a boolean array that is True in the training part, or .*; got 'half' for 22 samples"),
        (0.5, r"got 0\.5 for 22 samples"),
        (MASK[:-1], "for 22 samples"),
        (MASK.astype(int), "for 22 samples"),
        (([0, 1], [2, 3], [4, 5]), "for 22 samples"),
        (([0, 1, 2], [3, 22]), "rows are whole numbers from 0 to 21"),
        (([0, 1, -1], [3, 4]), "rows are whole numbers from 0 to 21"),
        (([0.0, 1.0], [3.0, 4.0]), "rows are whole numbers from 0 to 21"),
        (([True, False], [False, True]), "rows are whole numbers"),
        (([[0, 1]], [[2, 3]]), "rows are whole numbers"),
        ((["a", "b"], ["c", "d"]), "rows are whole numbers"),
        (([0, 1, 2], [2, 3]), "split must name no sample twice"),
        (([0], [1, 2, 3]), "split must put at least two samples into each part, got 1, 3"),
        (np.ones(N, dtype=bool), "split must put at least two samples into each part, got 22, 0"),
        (np.zeros(N, dtype=bool), "split must put at least two samples into each part, got 0, 22"),
    ],
)
def test_a_bad_split_is_refused(split, message):
    with pytest.raises(ParameterError, match=message):
        strength(WARD, X, split=split)


def test_a_split_is_of_the_samples_as_they_are():
    with pytest.raises(
        ParameterError, match="Pass either split or perturbation: a split belongs to the samples as they"
    ):
        strength(WARD, X, split=MASK, perturbation=cr.Jitter())


def test_a_split_names_every_sample_once():
    with pytest.raises(ParameterError, match=r"twice|once"):
        strength(WARD, X, split=([0, 0, 1, 2, 3], [4, 5, 6, 7]))
