"""What must not change a prediction strength or a relative validation, and what they are for."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.helpers import configured
from tests.stability.prediction.cases import SEED, WARD, N, X, both, strength

import clustrep as cr
from clustrep.errors import AllReplicatesFailed

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
    scale = (
        1 if measure is cr.stability.prediction_strength else long.random[[2, 0]] / short.random
    )  # its mean is over splits
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
    for perturbation in (None, cr.resampling.Bootstrap()):
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
