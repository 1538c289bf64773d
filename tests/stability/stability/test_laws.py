"""What must not change a stability, and data at the edge."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.helpers import configured
from tests.stability.stability.cases import INDICES, SEED, WARD, N, X, assert_is_loop, equal, loop, stable

import clustrep as cr
from clustrep.errors import ReplicateWarning


def test_the_same_seed_gives_the_same_values_and_another_does_not():
    one = stable(WARD, X)
    equal(one, stable(WARD, X))
    assert not np.array_equal(one.distribution, stable(WARD, X, rng=SEED + 1).distribution)
    generated = [stable(WARD, X, rng=np.random.default_rng(3)) for _ in range(2)]
    equal(*generated)
    equal(stable(WARD, X, rng=generated[0].provenance["seed"]), generated[0])


@pytest.mark.parametrize("index", ["jaccard", "matching"])
def test_a_longer_run_begins_with_the_shorter_one(index):
    kmeans = KMeans(3, n_init=2)
    short, long = (stable(kmeans, X, index=index, n_resamples=n) for n in (4, 9))
    np.testing.assert_array_equal(long.distribution[:4], short.distribution)
    np.testing.assert_array_equal(long.overall_distribution[:4], short.overall_distribution)


def test_workers_and_batches_change_nothing():
    kmeans = KMeans(3, n_init=2)
    one = stable(kmeans, X)
    equal(one, configured(stable, progress=False)(kmeans, X))
    equal(one, stable(kmeans, X, n_jobs=2))


def test_a_table_is_a_study_named_x():
    frame = pd.DataFrame(X, columns=list("abcd"))
    one = stable(WARD, X)
    for same in (cr.Study(X, "X"), frame, X.tolist()):
        equal(one, stable(WARD, same))
    assert not np.array_equal(one.distribution, stable(WARD, cr.Study(X, "mainz")).distribution)
    assert_is_loop(
        stable(WARD, cr.Study(X, "mainz"), perturbation=cr.resampling.Bootstrap()),
        loop(WARD, X, "jaccard", cr.resampling.Bootstrap(), name="mainz"),
    )


def test_indices_of_one_perturbation_see_the_same_fits():
    """A cluster that is included has R index 1; one with D index 0 has Jaccard 1."""
    run = {
        i: stable(WARD, X, index=i, perturbation=cr.resampling.Jitter(), n_resamples=20).distribution
        for i in INDICES[1:]
    }
    np.testing.assert_array_equal(run["inclusion"] == 1, run["r"] == 1)
    np.testing.assert_array_equal(run["d"] == 0, run["jaccard"] == 1)


def test_single_precision_is_the_same_table():
    single = X.astype(np.float32)
    equal(
        stable(WARD, single, perturbation=cr.resampling.Bootstrap()),
        stable(WARD, single.astype(float), perturbation=cr.resampling.Bootstrap()),
    )


def test_duplicate_points_are_compared_one_by_one():
    twice = np.repeat(X, 2, axis=0)
    for index in INDICES:
        assert_is_loop(
            stable(WARD, twice, index=index, perturbation=cr.resampling.Subsample(0.7)),
            loop(WARD, twice, index, cr.resampling.Subsample(0.7)),
        )


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("index", INDICES)
def test_a_handful_of_points_is_enough(index, n):
    two = AgglomerativeClustering(2)
    perturbation = cr.resampling.Subsample(1.0) + cr.resampling.Jitter()
    result = stable(two, X[:n], index=index, perturbation=perturbation)
    assert_is_loop(result, loop(two, X[:n], index, perturbation))
    assert "Stability" in repr(result)


def test_two_points_in_two_clusters_have_no_r_index():
    with pytest.warns(ReplicateWarning, match=r"Subsample\(fraction=1\.0\) changes nothing here"):
        result = stable(AgglomerativeClustering(2), X[:2], index="r", perturbation=cr.resampling.Subsample(1.0))
    assert np.isnan(result.distribution).all()
    assert math.isnan(result.overall)


def test_constant_features_are_in_nobodys_way():
    with_constant = np.column_stack([X, np.full(N, 7.0)])
    for index in ("jaccard", "matching"):
        equal(
            stable(WARD, X, index=index, perturbation=cr.resampling.Bootstrap()),
            stable(WARD, with_constant, index=index, perturbation=cr.resampling.Bootstrap()),
        )
    assert_is_loop(stable(WARD, with_constant, index="r"), loop(WARD, with_constant, "r", cr.resampling.Jitter()))


def test_more_features_than_points_are_what_the_plain_loop_finds():
    wide = np.random.default_rng(1).normal(size=(12, 60)) + np.repeat([0, 0.4], 6)[:, None]
    for perturbation in (cr.resampling.Bootstrap(distinct=True), cr.resampling.FeatureSubset(0.1)):
        for index in ("matching", "jaccard"):
            assert_is_loop(
                stable(WARD, wide, index=index, perturbation=perturbation), loop(WARD, wide, index, perturbation)
            )
