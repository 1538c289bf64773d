"""Relative validation against double loops, and section 2.3 for existing labels and perturbed samples."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from tests.stability.by_hand import nearest_labels
from tests.stability.prediction.cases import (
    LABELS,
    MASK,
    PARTS,
    SEED,
    WARD,
    N,
    X,
    both,
    in_both_directions,
    matching,
    recorded,
    rows_of,
    shares,
    smallest,
    strength,
    validation,
    with_k,
)

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.fitting.resample import Source

# ---------------------------------------------------------------------------------------------------------------------
# relative validation


@pytest.mark.parametrize("k", [2, 3, 4])
def test_distances_are_the_mean_of_both_directions_divided_by_those_of_random_labels(k):
    result, recorder = recorded(cr.stability.relative_validation, X, [k], n_splits=5, rng=SEED)
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
    _, recorder = recorded(cr.stability.prediction_strength, X, [2], n_splits=5, rng=SEED)
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
    cr.resampling.Jitter(0.5),
    cr.resampling.FeatureSubset(0.5),
    cr.resampling.Subsample(0.7),
    cr.resampling.Bootstrap(),
    cr.resampling.Bootstrap(distinct=True),
    cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.3),
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
    result, recorder = recorded(cr.stability.prediction_strength, X, [2, 3], **arguments)
    distances, _ = recorded(cr.stability.relative_validation, X, [2, 3], **arguments)
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
