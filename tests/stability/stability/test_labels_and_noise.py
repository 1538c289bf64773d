"""Stability of existing labels, and of labels with noise."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from tests.stability.stability.cases import (
    DENSITY,
    INDICES,
    NOISE,
    SCATTERED,
    WARD,
    N,
    X,
    assert_is_loop,
    equal,
    every,
    loop,
    stable,
)

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, DataError

# ---------------------------------------------------------------------------------------------------------------------
# existing labels


@pytest.mark.parametrize("index", INDICES)
def test_existing_labels_take_the_place_of_the_clusterers(index):
    labels = np.arange(N) % 4
    for relative in (False, True):
        result = stable(WARD, X, index=index, labels=labels, perturbation=cr.resampling.Bootstrap(), relative=relative)
        assert_is_loop(
            result, loop(WARD, X, index, cr.resampling.Bootstrap(), reference=labels.tolist(), relative=relative)
        )
        assert result.labels.tolist() == labels.tolist()
        assert result.provenance["labels"] == "known"


def test_the_clusterers_own_labels_as_existing_ones_change_nothing():
    for index in INDICES:
        equal(stable(WARD, X, index=index), stable(WARD, X, index=index, labels=WARD.fit_predict(X)))
    assert stable(WARD, X).provenance["labels"] == "the clusterer's"


def test_the_names_of_existing_labels_do_not_matter():
    numbers = np.arange(N) % 3
    text = np.array(["LumB", "Basal", "Her2"])[numbers]  # sorted: Basal, Her2, LumB
    for index in INDICES:
        one, other = (stable(WARD, X, index=index, labels=labels) for labels in (numbers, text))
        np.testing.assert_allclose(one.overall_distribution, other.overall_distribution, rtol=1e-12)
        if index != "matching":
            np.testing.assert_array_equal(one.distribution[:, [1, 2, 0]], other.distribution)
        assert other.clusters.tolist() == ["Basal", "Her2", "LumB"]


def test_labels_may_be_a_series_by_sample_name_or_the_studys_own():
    names = [f"patient {i}" for i in range(N)]
    labels = np.array(["b", "a", "c"])[np.arange(N) % 3]
    study = cr.Study(X, "X", samples=names, labels=labels)
    series = pd.Series(labels, index=names).sample(frac=1, random_state=0)
    assert series.index.tolist() != names
    plain = stable(WARD, X, labels=labels)
    equal(plain, stable(WARD, study, labels=True))
    equal(plain, stable(WARD, study, labels=series))
    equal(plain, stable(WARD, study, labels=list(labels)))
    assert stable(WARD, study, labels=series).samples == tuple(names)
    # and without labels=, a study's own labels are none of the clusterer's business
    equal(stable(WARD, X), stable(WARD, study))


def test_a_cluster_of_one_has_no_pairs():
    labels = [0] * 8 + [1] * (N - 9) + [2]
    result = stable(WARD, X, index="r", labels=labels)
    assert np.isnan(result.distribution[:, 2]).all()
    assert np.isnan(result.per_cluster[2])
    assert np.isfinite(result.overall)
    assert math.isnan(result.to_frame()["mean"][2])
    assert "NaN" in repr(result)
    assert len(result.plot().get_xticklabels()) == 3


def test_one_cluster_can_not_be_lost():
    one = AgglomerativeClustering(1)
    for index, perfect in zip(INDICES, [0, 1, 1, 1, 0], strict=True):
        assert stable(one, X, index=index).overall == perfect


# ---------------------------------------------------------------------------------------------------------------------
# noise


WITH_POINTS_LEFT = {
    "bootstrap": cr.resampling.Bootstrap(),
    "subsample": cr.resampling.Subsample(0.7),
    "noise": cr.resampling.Jitter(0.2),
    "subsample and noise": cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.1),
    "features": cr.resampling.FeatureSubset(0.5),
}


@every(WITH_POINTS_LEFT)
@pytest.mark.parametrize("noise", ["label", "drop"])
def test_noise_is_a_cluster_or_left_out_where_either_side_has_it(noise, perturbation):
    reference = DENSITY.fit_predict(SCATTERED)
    assert len(set(reference.tolist())) >= 3  # noise, and two clusters
    assert NOISE in reference
    for index, relative in [("matching", True), ("matching", False), *((i, False) for i in INDICES[1:]), ("d", True)]:
        result = stable(
            DENSITY, SCATTERED, index=index, noise=noise, perturbation=perturbation, relative=relative, n_resamples=4
        )
        assert_is_loop(result, loop(DENSITY, SCATTERED, index, perturbation, noise=noise, relative=relative, n=4))
        assert (NOISE in result.clusters) == (noise == "label")
        assert len(result.clusters) == len(result.sizes)
        assert result.sizes.sum() == (len(SCATTERED) if noise == "label" else (reference != NOISE).sum())
        assert result.provenance["noise"] == noise
    np.testing.assert_array_equal(result.labels, reference)  # noise or not


def test_noise_is_a_cluster_by_default():
    equal(stable(DENSITY, SCATTERED), stable(DENSITY, SCATTERED, noise="label"))


def test_noise_in_existing_labels_is_dropped_too():
    labels = [NOISE] * 3 + [0] * 6 + [1] * (N - 9)
    for index in INDICES:
        result = stable(WARD, X, index=index, labels=labels, noise="drop", perturbation=cr.resampling.Bootstrap())
        assert_is_loop(result, loop(WARD, X, index, cr.resampling.Bootstrap(), reference=labels, noise="drop"))
        assert result.clusters.tolist() == [0, 1]


@pytest.mark.parametrize("index", ["matching", "d"])
def test_a_resample_in_which_all_is_noise_is_a_failure_and_not_perfect(index):
    labels = np.arange(N) % 2
    with pytest.raises(AllReplicatesFailed):  # DBSCAN calls every point noise
        stable(DBSCAN(eps=1e-9, min_samples=2), X, index=index, labels=labels, noise="drop")


@pytest.mark.parametrize("index", ["jaccard", "matching"])
def test_a_study_that_is_all_noise_has_no_clusters_to_speak_of(index):
    with pytest.raises((AllReplicatesFailed, DataError), match="noise"):
        repr(stable(DBSCAN(eps=1e-9, min_samples=2), X, index=index, noise="drop"))
