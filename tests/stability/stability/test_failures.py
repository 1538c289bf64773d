"""Stability where resamples fail and where nothing varies."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from tests.helpers import configured
from tests.stability.stability.cases import (
    DENSITY,
    INDICES,
    LINE,
    N_RESAMPLES,
    REFERENCE,
    SEED,
    WARD,
    N,
    X,
    assert_is_loop,
    blurred,
    by_hand,
    equal,
    missing_first_point,
    random_labels,
    stable,
)

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ReplicateWarning
from clustrep.fitting.resample import Source

# ---------------------------------------------------------------------------------------------------------------------
# resamples that fail


@pytest.mark.parametrize("index", INDICES)
def test_a_clusterer_may_fail_sometimes(index):
    perturbation = cr.resampling.Subsample(0.7)
    draws = [Source(perturbation, SEED).draw(cr.Study(LINE, "X"), b + 1).order.tolist() for b in range(12)]
    failing = np.array([0 not in order for order in draws])
    assert 1 < failing.sum() < 12
    message = f"{failing.sum()} resamples of 12 failed and were omitted: ValueError: where is the first point"
    with pytest.warns(ReplicateWarning, match=message):
        result = stable(missing_first_point, LINE, index=index, perturbation=perturbation, n_resamples=12)
    np.testing.assert_array_equal(np.isnan(result.overall_distribution), failing)
    np.testing.assert_array_equal(np.isnan(result.distribution.reshape(12, -1)).all(axis=1), failing)
    np.testing.assert_array_equal(result.failed > 0, failing)
    assert result.failures == {"ValueError: where is the first point?": failing.sum()}
    assert f"Failed: {failing.sum()} resamples: ValueError: where is the first point?" in repr(result)
    assert "second line" not in repr(result)
    if index != "matching":  # one cut through the middle: the others are perfect, on the points drawn
        assert result.overall == (0 if index == "d" else 1)
    frame = result.to_frame()
    assert np.isfinite(frame["mean"]).all()
    result.plot()


def test_what_failed_takes_no_part_in_mean_median_and_counts():
    with pytest.warns(ReplicateWarning):
        result = stable(missing_first_point, LINE, perturbation=cr.resampling.Subsample(0.7), n_resamples=12)
    n_left = 12 - sum(result.failures.values())
    assert result.recovered().tolist() == [n_left] * 2
    assert result.dissolved().tolist() == [0, 0]
    assert result.median.tolist() == [1, 1]
    assert result.per_cluster.tolist() == [1, 1]


def test_a_draw_with_fewer_distinct_points_than_clusters_fails():
    few = X[:5]
    source = Source(cr.resampling.Bootstrap(), SEED)
    n_distinct = [len(set(source.draw(cr.Study(few, "X"), b + 1).order.tolist())) for b in range(20)]
    n_failing = sum(n < 4 for n in n_distinct)
    assert 1 < n_failing < 20
    for accelerate in (True, False):
        with pytest.warns(ReplicateWarning, match=f"^{n_failing} resamples of 20 failed"):
            result = configured(stable, accelerate=accelerate)(
                AgglomerativeClustering(4), few, perturbation=cr.resampling.Bootstrap(), n_resamples=20
            )
        assert result.failures == {"more clusters asked for than there are distinct points": n_failing}
        np.testing.assert_array_equal(np.isnan(result.overall_distribution), np.array(n_distinct) < 4)


def lazy(X, n_clusters=2):
    """One cluster only where the first point is missing."""
    return (X[:, 0] > 2).astype(int) * int((LINE[0] == X).any())


def test_fewer_clusters_than_asked_for_is_a_failure():
    draws = [Source(cr.resampling.Subsample(0.7), SEED).draw(cr.Study(LINE, "X"), b + 1).order for b in range(12)]
    n_failing = sum(0 not in order for order in draws)
    with pytest.warns(ReplicateWarning, match=rf"fewer clusters than asked for \({n_failing}\)"):
        result = stable(lazy, LINE, perturbation=cr.resampling.Subsample(0.7), n_resamples=12)
    assert result.failures == {"fewer clusters than asked for": n_failing}


def test_one_failure_is_said_in_the_singular():
    seen = []

    def once(X):
        seen.append(len(X))
        if len(seen) == 3:
            raise RuntimeError
        return (X[:, 0] > 2).astype(int)

    with pytest.warns(ReplicateWarning, match=r"^1 resample of 6 failed and was omitted: RuntimeError \(1\)\.$"):
        result = stable(once, LINE, perturbation=cr.resampling.Rerun())
    assert np.flatnonzero(result.failed).tolist() == [1]


def small_only(X):
    if len(X) < 6:
        raise ValueError("too small")
    return (X[:, 0] > 2).astype(int)


def test_everything_failing_raises():
    with pytest.raises(
        AllReplicatesFailed, match="Not one resample could be scored; 6 resamples failed: ValueError: too"
    ):
        stable(small_only, LINE, perturbation=cr.resampling.Subsample(0.5))


@pytest.mark.parametrize("clusterer", [AgglomerativeClustering(20), KMeans(20)])
def test_a_clusterer_that_fails_on_the_study_itself_raises(clusterer):
    message = (
        r", k = 20 failed on the data as they are, .*: more clusters asked for than there are distinct points\. "
        r"Leave that number out\.$"
    )
    with pytest.raises(AllReplicatesFailed, match=message):
        stable(clusterer, X)


def test_existing_labels_need_no_fit_to_the_study_itself():
    seen = []

    def recorded(X):
        seen.append(len(X))
        return (X[:, 0] > 2).astype(int)

    stable(recorded, LINE, labels=REFERENCE, perturbation=cr.resampling.Subsample(0.5))
    assert seen == [3] * N_RESAMPLES
    stable(recorded, LINE, perturbation=cr.resampling.Subsample(0.5))
    assert sorted(seen[N_RESAMPLES:]) == [3] * N_RESAMPLES + [6]


# ---------------------------------------------------------------------------------------------------------------------
# when nothing varies


@pytest.mark.parametrize(
    "perturbation",
    [
        cr.resampling.Rerun(),
        cr.resampling.FeatureSubset(1.0),
        cr.resampling.FeatureSubset(1),
        cr.resampling.Subsample(1.0),
        cr.resampling.Subsample(1) + cr.resampling.FeatureSubset(1.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "clusterer", [WARD, KMeans(3, n_init=1, random_state=0), DENSITY], ids=lambda c: type(c).__name__
)
def test_a_perturbation_that_changes_nothing_is_warned_about(clusterer, perturbation):
    with pytest.warns(
        ReplicateWarning, match=r"changes nothing here, and \w+ has no randomness of its own, or a fixed"
    ):
        result = stable(clusterer, X, perturbation=perturbation)
    assert (result.distribution == 1).all()


@pytest.mark.parametrize("perturbation", [cr.resampling.Rerun(), cr.resampling.FeatureSubset(1.0)], ids=repr)
@pytest.mark.parametrize("clusterer", [KMeans(5, n_init=1), GaussianMixture(3)], ids=lambda c: type(c).__name__)
def test_a_clusterers_own_randomness_is_enough(clusterer, perturbation):
    result = stable(clusterer, X, index="jaccard", perturbation=perturbation, n_resamples=10)
    assert len(np.unique(result.overall_distribution)) > 1


def test_all_features_are_the_same_as_a_rerun():
    kmeans = KMeans(5, n_init=1)
    equal(
        stable(kmeans, X, perturbation=cr.resampling.Rerun()),
        stable(kmeans, X, perturbation=cr.resampling.FeatureSubset(1.0)),
    )


def test_a_rerun_is_compared_with_what_the_clusterer_said():
    said = []

    def recorded(X, random_state=None):
        said.append(random_labels(X, random_state, n_labels=3))
        return said[-1]

    for index in INDICES:
        said.clear()
        result = stable(recorded, X, index=index, perturbation=cr.resampling.Rerun())
        reference, *new = (labels.tolist() for labels in said)
        values = [by_hand(index, reference, one, range(N), sorted(set(reference))) for one in new]
        assert_is_loop(result, (reference, np.array([v for v, _ in values]), np.array([both[1] for both in values])))
        assert result.labels.tolist() == reference


@pytest.mark.parametrize(
    ("table", "perturbation"),
    [
        (X, cr.resampling.FeatureSubset(1.0) + cr.resampling.Rerun()),
        (X, cr.resampling.Rerun() + cr.resampling.Rerun()),
        (X[:, :1], cr.resampling.FeatureSubset(0.8)),  # the default of "inclusion", with one feature
        (X[:, :1], None),
    ],
)
def test_nothing_varies_in_a_sum_of_nothings_or_with_a_single_feature(table, perturbation):
    with pytest.warns(ReplicateWarning, match="changes nothing"):
        stable(WARD, table, index="inclusion", perturbation=perturbation)


def test_a_share_that_is_all_of_two_points_changes_nothing():
    with pytest.warns(ReplicateWarning, match=r"Subsample\(fraction=0\.8\) changes nothing here"):
        stable(AgglomerativeClustering(2), X[:2], index="matching")
    result = stable(AgglomerativeClustering(2), X[:3], index="matching", perturbation=cr.resampling.Subsample(0.8))
    assert len(result.distribution) == N_RESAMPLES


def test_all_samples_are_enough_where_something_else_varies():
    for perturbation in (
        cr.resampling.Subsample(1.0) + cr.resampling.Jitter(2.0),
        cr.resampling.Jitter(2.0) + cr.resampling.Subsample(1.0),
    ):
        assert len(np.unique(stable(WARD, X, perturbation=perturbation).overall_distribution)) > 1
    assert len(stable(KMeans(5, n_init=1), X, perturbation=cr.resampling.Subsample(1.0)).distribution) == N_RESAMPLES


@pytest.mark.parametrize("p", [4, 60])  # with many features some settings work in fewer coordinates
def test_the_reference_is_the_same_whatever_the_perturbation(p):
    table = blurred(p=p)
    for clusterer in (KMeans(5, n_init=1), AgglomerativeClustering(5)):
        plain = stable(clusterer, table, perturbation=cr.resampling.Subsample(0.8)).labels
        for perturbation in (cr.resampling.Bootstrap(), cr.resampling.Jitter(), cr.resampling.FeatureSubset(0.5)):
            equal_labels = stable(clusterer, table, index="inclusion", perturbation=perturbation).labels
            np.testing.assert_array_equal(equal_labels, plain)
        np.testing.assert_array_equal(
            cr.stability.in_group_proportion(table, clusterer=clusterer, rng=SEED).labels, plain
        )
