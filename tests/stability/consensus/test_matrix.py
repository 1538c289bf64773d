"""The consensus of every pair of points over every resample, against loops."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.stability.consensus.cases import (
    PERTURBATIONS,
    ROOT,
    WARD,
    draws,
    induced,
    scripted,
    slices,
    two_or_three,
    ward,
)

import clustrep as cr


def codes_by_point(X, function, perturbation, n_resamples, **options):
    """What every sample was called in every resample; None where it was not drawn."""
    codes = []
    for draw in draws(X, perturbation, n_resamples):
        labels = induced(draw.sample, function(draw.sample, **options), draw.points)
        codes.append([labels[i] if draw.weights[i] else None for i in range(len(X))])
    return codes


def matrix_by_pairs(codes):
    """Times together, and times both drawn."""
    n = len(codes[0])
    together, both = np.zeros((2, n, n), dtype=int)
    for i in range(n):
        for j in range(n):
            for one in codes:
                if one[i] is not None and one[j] is not None:
                    both[i, j] += 1
                    together[i, j] += one[i] == one[j]
    return together, both


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=repr)
@pytest.mark.parametrize("function", [slices, ward])
def test_consensus_is_times_together_of_times_both_drawn(X, function, perturbation):
    clusterer = WARD if function is ward else slices
    result = cr.stability.consensus(clusterer, X, n_clusters=[2, 3], n_resamples=6, perturbation=perturbation, rng=ROOT)
    for i, k in enumerate([2, 3]):
        codes = codes_by_point(X, function, perturbation, 6, n_clusters=k)
        together, both = matrix_by_pairs(codes)
        expected = np.full((12, 12), np.nan)
        np.divide(together, both, out=expected, where=both > 0)
        np.testing.assert_array_equal(result.matrix(k), expected)
        np.testing.assert_array_equal(result.matrix(k, rows=[7, 0, 7]), expected[[7, 0, 7]])
        counts = np.zeros((7, 7), dtype=int)
        for a, b in itertools.combinations(range(12), 2):
            counts[together[a, b], both[a, b]] += 1
        np.testing.assert_array_equal(result.counts[i], counts)
        drawn = np.array([[code is not None for code in one] for one in codes])
        np.testing.assert_array_equal(result.codes[i] >= 0, drawn)

        values = [expected[a, b] for a, b in itertools.combinations(range(12), 2) if both[a, b]]
        for at in (0, 0.1, 1 / 3, 0.5, 2 / 3, 0.9, 1):
            assert result.cdf(at, k) == pytest.approx(np.mean([v <= at + 1e-9 for v in values]), abs=1e-14)
        ambiguous = np.mean([0.1 < v <= 0.9 for v in values])
        assert result.pac()[i] == pytest.approx(ambiguous, abs=1e-14)
        assert 0 < ambiguous < 1

        reference = function(X, k)
        for c in range(k):
            inside = [
                expected[a, b] for a, b in itertools.combinations(np.flatnonzero(reference == c), 2) if both[a, b]
            ]
            own = result.labels[i][reference == c][0]
            assert result.cluster_consensus[i, own] == pytest.approx(np.mean(inside), abs=1e-14)
    assert result.n_pairs == 66
    assert not result.sampled
    assert result.cdf([0.2, 0.4], 2).tolist() == [result.cdf(0.2, 2), result.cdf(0.4, 2)]


def test_consensus_leaves_the_partners_of_features_to_the_copy():
    """A copy with some features is clustered, and counted, by those features alone."""
    points = np.random.default_rng(3).normal(size=(9, 4))
    perturbation = cr.resampling.FeatureSubset(0.5)
    result = cr.stability.consensus(slices, points, n_resamples=4, perturbation=perturbation, rng=ROOT)
    together, both = matrix_by_pairs(codes_by_point(points, slices, perturbation, 4))
    assert (both == 4).all()
    np.testing.assert_array_equal(result.matrix(), together / 4)


def four_points(*labelings, **options):
    points = np.array([[0.0], [1.0], [2.0], [3.0]])
    options = {"perturbation": cr.resampling.Rerun(), "n_resamples": len(labelings) - 1, "rng": 0} | options
    return cr.stability.consensus(scripted(*labelings), points, **options)


def test_consensus_by_hand():
    """Ten resamples: {0, 1} together in 9, {2, 3} in all, {0, 2} and {0, 3} in 1, the others never."""
    apart = [0, 1, 2, 2]
    result = four_points([5, 5, 7, 7], *[[0, 0, 1, 1]] * 8, [3, 3, 4, 4], [0, 1, 0, 0])
    expected = [[1, 0.9, 0.1, 0.1], [0.9, 1, 0, 0], [0.1, 0, 1, 1], [0.1, 0, 1, 1]]
    np.testing.assert_array_equal(result.matrix(), expected)
    # Six pairs: 0, 0, .1, .1, .9, 1. F(.9) counts .9, F(.1) counts .1: only .9 is ambiguous.
    assert result.pac().tolist() == pytest.approx([1 / 6])
    assert result.pac(0.05, 0.9) == pytest.approx([3 / 6])
    assert result.pac(0.1, 0.89) == pytest.approx([0])
    assert result.cdf([0, 0.0999, 0.1, 0.9, 1]).tolist() == pytest.approx([2 / 6, 2 / 6, 4 / 6, 5 / 6, 1])
    assert result.cluster_consensus.tolist() == [[0.9, 1.0]]
    assert result.clusters.tolist() == [["5", "7"]]
    assert result.labels.tolist() == [[0, 0, 1, 1]]
    frame = result.to_frame()
    assert list(frame.columns) == ["k", "cluster", "size", "consensus", "pac"]
    assert frame["cluster"].tolist() == ["5", "7", "all"]
    assert frame["size"].tolist() == [2, 2, 4]
    np.testing.assert_array_equal(frame["consensus"], [0.9, 1, np.nan])
    np.testing.assert_allclose(frame["pac"], [np.nan, np.nan, 1 / 6])
    assert frame["k"].isna().all()
    single = four_points(apart, *[[0, 0, 1, 1]] * 2)
    np.testing.assert_array_equal(single.cluster_consensus, [[np.nan, np.nan, 1]])


@pytest.mark.parametrize("n_resamples", [10, 20, 30, 70, 90])
def test_a_tenth_and_nine_tenths_are_on_the_same_side_whatever_the_number_of_resamples(n_resamples):
    """9/10 and 63/70 are the same number to a reader; in floating point they need not be."""
    often, seldom = 9 * n_resamples // 10, n_resamples // 10
    labelings = [[0, 0, b < seldom, 2] if b < often else [0, 1, 3, 2] for b in range(n_resamples)]
    labelings = [[a, b, 0 if c is True else 3, d] for a, b, c, d in labelings]
    result = four_points([0, 0, 1, 1], *labelings)
    assert result.matrix()[0, 1] == often / n_resamples
    assert result.matrix()[0, 2] == seldom / n_resamples
    assert result.pac() == pytest.approx([1 / 6])  # 0.9 is ambiguous, 0.1 is not


def test_samples_never_drawn_together_have_no_consensus_and_count_for_nothing(X):
    result = cr.stability.consensus(
        slices, X, n_clusters=2, n_resamples=2, perturbation=cr.resampling.Subsample(0.5), rng=ROOT
    )
    _, both = matrix_by_pairs(codes_by_point(X, slices, cr.resampling.Subsample(0.5), 2, n_clusters=2))
    matrix = result.matrix()
    assert (both == 0).any()
    assert (both.diagonal() == 0).any()  # a sample that was never drawn at all
    np.testing.assert_array_equal(np.isnan(matrix), both == 0)
    assert result.n_pairs == 66 > np.triu(both > 0, 1).sum()
    assert result.cdf(1) == 1
    above = np.triu(np.ones((12, 12), dtype=bool), 1)
    assert result.cdf(0) == (matrix[above] == 0).sum() / (both[above] > 0).sum()


def test_known_labels_are_the_clusters_to_average_in(X):
    labels = np.array(list("xyzxyzxyzxyz"))
    plain_result = cr.stability.consensus(slices, X, n_clusters=[2, 3], n_resamples=4, rng=ROOT)
    result = cr.stability.consensus(slices, X, n_clusters=[2, 3], n_resamples=4, labels=labels, rng=ROOT)
    np.testing.assert_array_equal(result.codes, plain_result.codes)
    np.testing.assert_array_equal(result.counts, plain_result.counts)
    for i, k in enumerate([2, 3]):
        matrix = result.matrix(k)
        for c, name in enumerate("xyz"):
            rows = np.flatnonzero(labels == name)
            inside = [matrix[a, b] for a, b in itertools.combinations(rows, 2)]
            assert result.cluster_consensus[i, c] == pytest.approx(np.nanmean(inside), abs=1e-14)
    assert result.clusters.tolist() == [["x", "y", "z"]] * 2
    assert result.provenance["labels"] == "known"


def test_several_k_have_as_many_clusters_as_they_have(X):
    result = cr.stability.consensus(slices, X, n_clusters=[4, 2], n_resamples=3, rng=ROOT)
    assert result.cluster_consensus.shape == (2, 4)
    assert np.isnan(result.cluster_consensus[1]).tolist() == [False, False, True, True]
    assert result.clusters[1].tolist() == ["0", "1", "", ""]
    frame = result.to_frame()
    assert frame["k"].tolist() == [4] * 5 + [2] * 3
    assert frame["cluster"].tolist() == ["0", "1", "2", "3", "all", "0", "1", "all"]
    assert frame["size"].tolist() == [3, 3, 3, 3, 12, 6, 6, 12]


def test_the_lowest_pac_chooses_k():
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]])
    points = np.random.default_rng(1).normal(size=(45, 2)) * 0.4 + np.repeat(centres, 15, axis=0)
    result = cr.stability.consensus(KMeans(n_init=3), points, n_clusters=[6, 3, 5], n_resamples=15, rng=0)
    assert result.best_n_clusters == 3
    assert result.pac()[1] == 0 < min(result.pac()[[0, 2]])
    same = dataclasses.replace(result, counts=result.counts[[1, 1, 1]])
    assert same.best_n_clusters == 3
    assert dataclasses.replace(same, n_clusters=(6, 9, 5)).best_n_clusters == 5
    assert cr.stability.consensus(two_or_three, points, n_resamples=2, rng=0).best_n_clusters is None
