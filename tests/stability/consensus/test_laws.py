"""What must not change an instability, a consensus or an assignment consistency."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from tests.helpers import configured
from tests.stability.consensus.cases import ROOT, VERBS, WARD, assert_same_results, slices, ward

import clustrep as cr


@pytest.mark.parametrize("verb", VERBS)
def test_workers_batches_and_progress_change_nothing(verb, X):
    run = {"n_clusters": [2, 3], "n_resamples": 4, "rng": ROOT}
    expected = verb(ward, X, **run)
    assert_same_results(verb(ward, X, n_jobs=2, **run), expected)
    assert_same_results(configured(verb, progress=False)(ward, X, **run), expected)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("clusterer", [WARD, KMeans(n_init=2)], ids=["ward", "k-means"])
def test_a_k_is_the_same_alone_and_among_others(verb, clusterer, X):
    several = verb(clusterer, X, n_clusters=[4, 3, 2], n_resamples=4, rng=ROOT)
    alone = verb(clusterer, X, n_clusters=3, n_resamples=4, rng=ROOT)
    if verb is cr.stability.bootstrap_instability:
        np.testing.assert_array_equal(several.distribution[:, [1]], alone.distribution)
    elif verb is cr.stability.consensus:
        np.testing.assert_array_equal(several.codes[[1]], alone.codes)
        np.testing.assert_array_equal(several.counts[[1]], alone.counts)
        np.testing.assert_array_equal(several.cluster_consensus[[1], :3], alone.cluster_consensus)
    else:
        np.testing.assert_array_equal(several.counts[[1], :, :3], alone.counts)
        np.testing.assert_array_equal(several.twcri[[1]], alone.twcri)


@pytest.mark.parametrize("verb", VERBS)
def test_shortcuts_change_nothing(verb, X):
    fast, slow = (
        configured(verb, accelerate=accelerate)(WARD, X, n_clusters=[2, 4], n_resamples=5, rng=ROOT)
        for accelerate in (True, False)
    )
    if verb is cr.stability.bootstrap_instability:
        np.testing.assert_array_equal(fast.distribution, slow.distribution)
    elif verb is cr.stability.consensus:
        np.testing.assert_array_equal(fast.counts, slow.counts)
    else:  # shortcuts number the clusters in their own way
        for one, other in zip(fast.counts, slow.counts, strict=True):
            assert sorted(one.T.tolist()) == sorted(other.T.tolist())


@pytest.mark.parametrize("verb", VERBS)
def test_the_seed_is_all_that_a_run_follows_from(verb, X):
    one, same, other = (verb(KMeans(3, n_init=1), X, n_resamples=5, rng=seed) for seed in (1, 1, 2))
    assert_same_results(one, same)
    assert one.provenance["seed"] == 1
    name = "distribution" if verb is cr.stability.bootstrap_instability else "counts"
    assert not np.array_equal(getattr(one, name), getattr(other, name))
    generator = verb(KMeans(3, n_init=1), X, n_resamples=5, rng=np.random.default_rng(3))
    again = verb(KMeans(3, n_init=1), X, n_resamples=5, rng=generator.provenance["seed"])
    assert_same_results(generator, again)


def test_a_longer_run_begins_with_the_shorter_one(X):
    short, long = (
        cr.stability.bootstrap_instability(WARD, X, n_clusters=[2, 3], n_resamples=n, rng=ROOT) for n in (3, 6)
    )
    np.testing.assert_array_equal(long.distribution[:3], short.distribution)
    short, long = (cr.stability.consensus(WARD, X, n_clusters=[2, 3], n_resamples=n, rng=ROOT) for n in (3, 6))
    np.testing.assert_array_equal(long.codes[:, :3], short.codes)
    short, long = (
        cr.stability.assignment_consistency(slices, X, n_clusters=[2, 3], n_resamples=n, rng=ROOT) for n in (3, 6)
    )
    assert (long.counts >= short.counts).all()
    assert (long.totals >= short.totals).all()


@pytest.mark.parametrize("verb", VERBS)
def test_tables_frames_and_studies_are_the_same_data(verb, X):
    expected = verb(WARD, X, n_clusters=2, n_resamples=3, rng=ROOT)
    for data in (X.tolist(), np.asfortranarray(X), cr.Study(X, "X")):
        assert_same_results(verb(WARD, data, n_clusters=2, n_resamples=3, rng=ROOT), expected)
    single = verb(WARD, X.astype(np.float32), n_clusters=2, n_resamples=3, rng=ROOT)
    framed = verb(WARD, pd.DataFrame(X, columns=["g1", "g2"]), n_clusters=2, n_resamples=3, rng=ROOT)
    name = "distribution" if verb is cr.stability.bootstrap_instability else "counts"
    np.testing.assert_array_equal(getattr(single, name), getattr(expected, name))
    np.testing.assert_array_equal(getattr(framed, name), getattr(expected, name))


def test_consensus_and_assignment_know_labels_by_no_name(X):
    def renamed(X, n_clusters):
        return np.array(["b", "c", "a"])[slices(X, n_clusters)]

    one, other = (
        cr.stability.consensus(function, X, n_clusters=3, n_resamples=4, rng=ROOT) for function in (slices, renamed)
    )
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.cluster_consensus[0], other.cluster_consensus[0, [1, 2, 0]])
    assert other.clusters.tolist() == [["a", "b", "c"]]
    one, other = (
        cr.stability.assignment_consistency(function, X, n_clusters=3, n_resamples=4, rng=ROOT)
        for function in (slices, renamed)
    )
    np.testing.assert_array_equal(one.counts[0], other.counts[0][:, [1, 2, 0]])
    np.testing.assert_allclose(one.twcri, other.twcri)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("verb", VERBS)
def test_few_samples_are_enough(verb, n, X):
    result = verb(lambda X: np.arange(len(X)) % 2, X[:n], n_resamples=5, rng=ROOT)
    assert "seed 8" in repr(result)
    assert len(result.to_frame())


@pytest.mark.parametrize("verb", VERBS)
def test_one_cluster_is_as_stable_as_can_be(verb, X):
    result = verb(lambda X: np.zeros(len(X), dtype=int), X, n_resamples=3, rng=0)
    if verb is cr.stability.bootstrap_instability:
        assert result.instability.tolist() == [0]
    elif verb is cr.stability.consensus:
        assert result.pac().tolist() == [0]
        assert result.cluster_consensus.tolist() == [[1]]
    else:
        assert result.twcri.tolist() == [1]


def test_equal_samples_are_samples_like_any_other():
    points = np.repeat([[0.0, 1.0], [4.0, 2.0]], [5, 4], axis=0)
    result = cr.stability.consensus(WARD, points, n_clusters=2, n_resamples=10, rng=0)
    assert result.pac().tolist() == [0]
    assert result.cluster_consensus.tolist() == [[1, 1]]
    assert cr.stability.assignment_consistency(WARD, points, n_clusters=2, n_resamples=10, rng=0).twcri.tolist() == [1]


def test_a_cluster_may_have_an_empty_name(X):
    labels = [""] * 6 + ["b"] * 6
    result = cr.stability.assignment_consistency(slices, X, n_clusters=2, labels=labels, n_resamples=6, rng=ROOT)
    assert result.to_frame()["cluster"].tolist() == ["", "b", "all"]
