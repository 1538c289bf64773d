"""In-group proportions of perturbed copies, against draws and matchings by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.helpers import configured
from tests.stability.in_group.cases import LABELS, draw_of, nearest_label_by_hand, proportions_by_hand

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ReplicateWarning


@pytest.mark.parametrize(
    "perturbation",
    [
        cr.resampling.Bootstrap(),
        cr.resampling.Bootstrap(distinct=True),
        cr.resampling.Subsample(0.6),
        cr.resampling.Jitter(0.5),
        cr.resampling.FeatureSubset(0.7),
        cr.resampling.Bootstrap() + cr.resampling.Jitter(0.3),
    ],
    ids=repr,
)
def test_labels_travel_with_the_samples_each_distinct_row_once(perturbation, X):
    study = cr.Study(X, "vdx")
    result = cr.stability.in_group_stability(
        study, LABELS, n_neighbors=[1, 2], perturbation=perturbation, n_resamples=8, rng=21
    )
    assert result.proportions.tolist() == [proportions_by_hand(X, LABELS, j) for j in (1, 2)]
    for b in range(8):
        draw = draw_of(perturbation, study, 21, b)
        rows = sorted(set(draw.order.tolist()))
        labels = [LABELS[i] for i in rows]
        expected = [proportions_by_hand(draw.points[rows], labels, j, clusters=[0, 1, 2]) for j in (1, 2)]
        np.testing.assert_array_equal(result.distribution[b], expected)
    assert result.failures == {}


def test_a_cluster_that_was_not_drawn_has_no_proportion(X):
    study = cr.Study(X, "vdx")
    labels = [7] + [3, 5] * 6 + [3]
    result = cr.stability.in_group_stability(
        study, labels, perturbation=cr.resampling.Bootstrap(), n_resamples=12, rng=0
    )
    absent = [0 not in draw_of(cr.resampling.Bootstrap(), study, 0, b).order for b in range(12)]
    assert 0 < sum(absent) < 12
    assert np.isnan(result.distribution[:, 2]).tolist() == absent
    assert not np.isnan(result.distribution[:, :2]).any()
    assert result.to_frame()["mean"][2] == 0


def test_a_copy_needs_one_sample_more_than_neighbours(X):
    result = cr.stability.in_group_stability(
        X[:5], [0] * 5, n_neighbors=3, perturbation=cr.resampling.Subsample(0.8), n_resamples=3, rng=0
    )
    assert result.distribution.tolist() == [[1]] * 3


def test_labels_from_a_training_study_travel_too(X, rng):
    train, study = rng.normal(size=(14, 3)), cr.Study(X, "vdx")
    labels = nearest_label_by_hand(X, train, LABELS)
    across = cr.stability.in_group_proportion(study, LABELS, train=train, rng=2)
    options = {"perturbation": cr.resampling.Bootstrap(), "n_resamples": 5, "rng": 2}
    copies = cr.stability.in_group_stability(study, across.labels, **options)
    np.testing.assert_array_equal(
        copies.distribution, cr.stability.in_group_stability(study, labels, **options).distribution
    )
    np.testing.assert_array_equal(copies.proportions, across.proportions)


def matched_by_hand(X, rows, new, reference, clusters):
    """Proportions under every one-to-one matching that keeps most points together."""
    names = sorted(set(new))
    size = max(len(names), len(clusters))
    # Beyond the clusters there are are places for those without a partner.
    places = [*clusters, *(f"none {i}" for i in range(size))]
    best, values = -1, []
    for partners in itertools.permutations(places, len(names)):
        renamed = [partners[names.index(label)] for label in new]
        kept = sum(a == b for a, b in zip(renamed, reference, strict=True))
        if kept > best:
            best, values = kept, []
        if kept == best:
            values.append(proportions_by_hand(X[rows], renamed, clusters=clusters))
    return values


@pytest.mark.parametrize(
    "perturbation", [cr.resampling.Bootstrap(), cr.resampling.Subsample(0.7), cr.resampling.Jitter(0.8)], ids=repr
)
@pytest.mark.parametrize("accelerate", [True, False])
def test_a_clusterer_finds_its_clusters_again_and_they_are_matched(perturbation, accelerate, X):
    study = cr.Study(X, "vdx")
    clusterer = AgglomerativeClustering(3, linkage="average")
    result = configured(cr.stability.in_group_stability, accelerate=accelerate)(
        study, clusterer=clusterer, perturbation=perturbation, n_resamples=8, rng=4
    )
    reference = result.labels.tolist()
    for b in range(8):
        draw = draw_of(perturbation, study, 4, b)
        rows = sorted(set(draw.order.tolist()))
        found = clusterer.fit_predict(draw.sample)
        new = [found[draw.order.tolist().index(i)] for i in rows]
        candidates = matched_by_hand(draw.points, rows, new, [reference[i] for i in rows], result.clusters.tolist())
        assert any(np.array_equal(result.distribution[b], one, equal_nan=True) for one in candidates)
    assert len(np.unique(result.distribution.round(6), axis=0)) > 1


def test_a_copy_with_more_clusters_than_the_study_has_some_without_partner(X):
    study = cr.Study(X, "vdx")

    def clusterer(X):
        return np.arange(len(X)) % 2 if len(X) == 14 else np.arange(len(X)) % 4

    result = cr.stability.in_group_stability(
        study, clusterer=clusterer, perturbation=cr.resampling.Subsample(0.8), n_resamples=5, rng=1
    )
    assert result.distribution.shape == (5, 2)
    for b in range(5):
        draw = draw_of(cr.resampling.Subsample(0.8), study, 1, b)
        order = draw.order.tolist()
        rows = sorted(order)
        new = [order.index(i) % 4 for i in rows]
        candidates = matched_by_hand(X, rows, new, [i % 2 for i in rows], [0, 1])
        assert result.distribution[b].tolist() in candidates


def test_a_copy_with_fewer_clusters_leaves_one_without_a_proportion(X):
    def clusterer(X):
        return np.arange(len(X)) % 3 if len(X) == 14 else np.zeros(len(X), dtype=int)

    result = cr.stability.in_group_stability(
        X, clusterer=clusterer, perturbation=cr.resampling.Subsample(0.8), n_resamples=4, rng=1
    )
    assert np.isnan(result.distribution).sum(axis=1).tolist() == [2] * 4
    assert np.nanmax(result.distribution, axis=1).tolist() == [1] * 4


def test_copies_that_can_not_be_clustered_are_counted(X):
    study = cr.Study(X, "vdx")

    def clusterer(X):
        if len(X) < 14 and X[0, 0] > 0:
            raise RuntimeError("not today")
        return (X[:, 1] > 0).astype(int)

    with pytest.warns(ReplicateWarning, match=r"resamples? of 10 failed .*RuntimeError: not today"):
        result = cr.stability.in_group_stability(
            study, clusterer=clusterer, perturbation=cr.resampling.Subsample(0.7), n_resamples=10, rng=0
        )
    failing = [draw_of(cr.resampling.Subsample(0.7), study, 0, b).sample[0, 0] > 0 for b in range(10)]
    assert 0 < sum(failing) < 10
    assert np.isnan(result.distribution).all(axis=1).tolist() == failing
    assert (result.failed > 0).tolist() == failing
    assert result.failures == {"RuntimeError: not today": sum(failing)}


def test_where_no_copy_can_be_clustered_there_is_no_result(X):
    def clusterer(X):
        if len(X) < 14:
            raise RuntimeError("never")
        return (X[:, 1] > 0).astype(int)

    with pytest.raises(AllReplicatesFailed, match=r"Not one resample could be scored; 3 resamples failed.*never \(3\)"):
        cr.stability.in_group_stability(
            X, clusterer=clusterer, perturbation=cr.resampling.Subsample(0.7), n_resamples=3
        )


def test_copies_with_too_few_distinct_rows_are_counted(X):
    study = cr.Study(X[:5], "vdx")
    with pytest.warns(ReplicateWarning):
        result = cr.stability.in_group_stability(
            study, [0, 0, 0, 1, 1], n_neighbors=3, perturbation=cr.resampling.Bootstrap(), n_resamples=20, rng=0
        )
    few = [len(set(draw_of(cr.resampling.Bootstrap(), study, 0, b).order.tolist())) <= 3 for b in range(20)]
    assert (result.failed > 0).tolist() == few


def test_where_every_copy_has_too_few_rows_there_is_no_result(X):
    with pytest.raises(AllReplicatesFailed, match="Not one resample"):
        cr.stability.in_group_stability(
            X, LABELS, n_neighbors=8, perturbation=cr.resampling.Subsample(0.5), n_resamples=3
        )


def test_two_clusters_of_one_study_have_the_same_draws_whatever_else_is_asked_for(X):
    arguments = {"perturbation": cr.resampling.Bootstrap(), "rng": 8}
    long = cr.stability.in_group_stability(X, LABELS, n_resamples=9, n_neighbors=[1, 2], **arguments)
    short = cr.stability.in_group_stability(X, LABELS, n_resamples=4, **arguments)
    np.testing.assert_array_equal(long.distribution[:4, 0], short.distribution)


def test_workers_and_batches_do_not_matter(X):
    arguments = {
        "clusterer": KMeans(3, n_init=2),
        "perturbation": cr.resampling.Bootstrap(),
        "n_resamples": 6,
        "rng": 8,
    }
    expected = cr.stability.in_group_stability(X, **arguments)
    for other in (
        cr.stability.in_group_stability(X, n_jobs=2, **arguments),
        configured(cr.stability.in_group_stability, progress=False)(X, **arguments),
    ):
        np.testing.assert_array_equal(other.labels, expected.labels)
        np.testing.assert_array_equal(other.distribution, expected.distribution)


@pytest.mark.parametrize("options", [{"labels": LABELS}, {"clusterer": AgglomerativeClustering(3)}])
def test_a_change_that_changes_nothing_leaves_the_proportions_as_they_are(options, X):
    for perturbation in (cr.resampling.Rerun(), cr.resampling.Subsample(1.0)):
        result = cr.stability.in_group_stability(
            X, **options, n_neighbors=[1, 2], perturbation=perturbation, n_resamples=2
        )
        np.testing.assert_array_equal(result.distribution, [result.proportions] * 2)
