"""Noise and failed fits in prediction strength and relative validation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from tests.stability.prediction.cases import (
    DENSITY,
    MASK,
    NOISE,
    PARTS,
    SEED,
    WARD,
    Recorder,
    X,
    blurred,
    both,
    in_both_directions,
    matching,
    recorded,
    shares,
    smallest,
    strength,
    validation,
    with_k,
)

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ReplicateWarning

# ---------------------------------------------------------------------------------------------------------------------
# noise


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
    if measure is cr.stability.prediction_strength:
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
