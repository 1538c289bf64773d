"""Assignment consistency, against loops over points and resamples."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from tests.helpers import configured
from tests.stability.consensus.cases import (
    PERTURBATIONS,
    ROOT,
    WARD,
    assert_assignments,
    draws,
    relabelled,
    scripted,
    slices,
    two_or_three,
    ward,
)

import clustrep as cr


def assignments_by_sample(X, function, perturbation, n_resamples, reference, **options):
    """How often each sample, while left out, is in each cluster of the reference; unmatched labels in the totals."""
    n, k = len(X), max(reference) + 1
    counts, totals = np.zeros((n, k), dtype=int), np.zeros(n, dtype=int)
    everything = draws(X, perturbation, n_resamples)
    none_left_out = all((draw.weights > 0).all() for draw in everything)
    for draw in everything:
        labels, _ = relabelled(function, draw, **options)
        names = sorted(set(labels))
        table = np.array([[sum(np.equal(labels, u) & np.equal(reference, v)) for v in range(k)] for u in names])
        new, old = linear_sum_assignment(table, maximize=True)
        partner = {names[u]: v for u, v in zip(new, old, strict=True) if table[u, v]}
        for i in range(n):
            if none_left_out or draw.weights[i] == 0:
                totals[i] += 1
                if labels[i] in partner:
                    counts[i, partner[labels[i]]] += 1
    return counts, totals


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=repr)
@pytest.mark.parametrize("function", [slices, ward])
def test_samples_left_out_are_counted_in_the_cluster_that_matches_their_label(X, function, perturbation):
    # Without shortcuts, which number clusters in their own way: of equally good matchings they may take another.
    clusterer = WARD if function is ward else slices
    run = {"n_clusters": [2, 4], "n_resamples": 8, "rng": ROOT}
    result = configured(cr.stability.assignment_consistency, accelerate=False)(
        clusterer, X, perturbation=perturbation, **run
    )
    for i, k in enumerate([2, 4]):
        reference = np.unique(function(X, k), return_inverse=True)[1]
        counts, totals = assignments_by_sample(X, function, perturbation, 8, reference, n_clusters=k)
        assert_assignments(result, i, counts, totals, reference)
        assert 0 < result.twcri[i] < 1
    if isinstance(perturbation, cr.resampling.Jitter):
        assert (result.totals == 8).all()
    else:
        n_left_out = [(draw.weights == 0).sum() for draw in draws(X, perturbation, 8)]
        assert (result.totals.sum(axis=1) == sum(n_left_out)).all()


def test_labels_without_a_partner_count_in_the_totals_alone(X):
    reference = slices(X, 2)
    result = cr.stability.assignment_consistency(two_or_three, X, labels=reference, n_resamples=12, rng=ROOT)
    counts, totals = assignments_by_sample(X, two_or_three, cr.resampling.Subsample(0.8), 12, reference)
    assert_assignments(result, 0, counts, totals, reference)
    assert counts.sum() < totals.sum()


def line(*labelings, n=6, **options):
    options = {"perturbation": cr.resampling.Rerun(), "n_resamples": len(labelings) - 1, "rng": 0} | options
    return cr.stability.assignment_consistency(scripted(*labelings), np.arange(float(n))[:, None], **options)


def test_assignment_consistency_by_hand():
    """Sample 3 changes sides once in four, sample 0 gets a third label once in four: .75 twice, else 1."""
    usual = [0, 0, 0, 1, 1, 1]
    result = line(["a", "a", "a", "b", "b", "b"], usual, [1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1], [2, 0, 0, 1, 1, 1])
    assert result.counts[0].tolist() == [[3, 0], [4, 0], [4, 0], [1, 3], [0, 4], [0, 4]]
    assert result.totals[0].tolist() == [4] * 6
    np.testing.assert_array_equal(result.per_sample, [[0.75, 1, 1, 0.75, 1, 1]])
    np.testing.assert_allclose(result.cri, [[2.75 / 3, 2.75 / 3]])
    np.testing.assert_allclose(result.wcri, [[2.75 / 6, 2.75 / 6]])
    np.testing.assert_allclose(result.twcri, [5.5 / 6])
    assert result.clusters.tolist() == [["a", "b"]]
    frame = result.to_frame()
    assert list(frame.columns) == ["k", "cluster", "size", "cri", "wcri"]
    assert frame["cluster"].tolist() == ["a", "b", "all"]
    assert frame["size"].tolist() == [3, 3, 6]
    np.testing.assert_allclose(frame["cri"], [2.75 / 3, 2.75 / 3, np.nan])
    np.testing.assert_allclose(frame["wcri"], [2.75 / 6, 2.75 / 6, 5.5 / 6])
    samples = result.samples_frame()
    assert list(samples.columns) == ["sample", "cluster", "consistency", "times"]
    assert samples["cluster"].tolist() == list("aaabbb")
    assert samples["times"].tolist() == [4] * 6
    assert samples["consistency"].tolist() == [0.75, 1, 1, 0.75, 1, 1]
    assert samples["sample"].tolist() == list(result.samples)


def test_a_sample_that_was_never_left_out_has_no_consistency(X):
    result = cr.stability.assignment_consistency(slices, X, n_clusters=2, n_resamples=2, rng=ROOT)
    counts, totals = assignments_by_sample(X, slices, cr.resampling.Subsample(0.8), 2, slices(X, 2), n_clusters=2)
    never = totals == 0
    assert 0 < never.sum() < 12
    assert_assignments(result, 0, counts, totals, slices(X, 2))
    np.testing.assert_array_equal(np.isnan(result.per_sample[0]), never)
    np.testing.assert_array_equal(result.modal[0] == -1, never)
    assert result.sizes.sum() == (~never).sum()
    samples = result.samples_frame(2)
    assert samples["cluster"].isna().tolist() == never.tolist()
    assert samples["consistency"].isna().tolist() == never.tolist()


def test_known_labels_are_the_reference(X):
    labels = np.array(list("pqpqrrppqqrr"))
    codes = np.unique(labels, return_inverse=True)[1]
    result = cr.stability.assignment_consistency(slices, X, n_clusters=[2, 3], labels=labels, n_resamples=8, rng=ROOT)
    for i, k in enumerate([2, 3]):
        counts, totals = assignments_by_sample(X, slices, cr.resampling.Subsample(0.8), 8, codes, n_clusters=k)
        assert_assignments(result, i, counts, totals, codes)
    assert result.clusters.tolist() == [["p", "q", "r"]] * 2
    frame = pd.DataFrame(X, index=[f"s{i}" for i in range(12)])
    named = pd.Series(labels, index=frame.index)[::-1]  # found by name
    again = cr.stability.assignment_consistency(
        slices, cr.Study(frame, "X"), n_clusters=[2, 3], labels=named, n_resamples=8, rng=ROOT
    )
    np.testing.assert_array_equal(again.counts, result.counts)
    assert again.samples_frame(3)["sample"].tolist() == list(frame.index)


def test_consistency_is_one_where_clusters_are_plain():
    points = np.repeat([[0.0], [9.0]], 8, axis=0) + np.tile(np.linspace(0, 1, 8), 2)[:, None]
    result = cr.stability.assignment_consistency(WARD, points, n_clusters=[3, 2], n_resamples=20, rng=0)
    assert result.twcri[1] == 1 > result.twcri[0]
    assert result.best_n_clusters == 2
    both = {name: getattr(result, name)[[1, 1]] for name in ("counts", "totals", "labels")}
    tied = dataclasses.replace(result, **both)
    assert tied.best_n_clusters == 2
    assert cr.stability.assignment_consistency(two_or_three, points, n_resamples=2, rng=0).best_n_clusters is None


def test_a_label_is_no_partner_of_a_cluster_that_it_shares_no_sample_with():
    """A = {0, …, 4} falls into two parts, B = {5} and C = {6} become one: the smaller part of A is not B."""
    reference, new = [0, 0, 0, 0, 0, 1, 2], [0, 0, 0, 1, 1, 2, 2]
    result = line(reference, new, n=7)
    assert not result.counts[0, [3, 4], 1:].any()
    assert result.totals[0].tolist() == [1] * 7


def test_what_a_resample_counts_depends_on_no_other_resample():
    reference, new, more = [0, 0, 0, 0, 0, 1, 2], [0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 3, 3, 3]
    one, other, both = (line(reference, *labelings, n=7) for labelings in ([new], [more], [new, more]))
    np.testing.assert_array_equal(both.counts, one.counts + other.counts)


def test_of_equally_frequent_clusters_the_own_counts_then_the_largest():
    """Sample 5 is as often in a as in its own c; sample 6 as often in a as in b, never in its own."""
    reference = [0, 0, 0, 1, 1, 2, 2]
    in_a, in_b = [0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 2, 1]
    for a, b in ((in_a, in_b), (in_b, in_a)):
        result = line(reference, a, b, n=7)
        assert result.counts[0, 5].tolist() == [1, 0, 1]
        assert result.counts[0, 6].tolist() == [1, 1, 0]
        assert result.modal[0].tolist() == [0, 0, 0, 1, 1, 2, 0]
        np.testing.assert_allclose(result.cri, [[3.5 / 4, 1, 0.5]])
        np.testing.assert_allclose(result.wcri, [[3.5 / 7, 2 / 7, 0.5 / 7]])
    names = np.array(["z", "y", "x"])  # the other way round, the largest comes last
    renamed = line(names[reference], in_a, in_b, n=7)
    assert renamed.clusters.tolist() == [["x", "y", "z"]]
    np.testing.assert_allclose(renamed.cri, [[0.5, 1, 3.5 / 4]])


@pytest.mark.parametrize("n_resamples", [2, 4])
@pytest.mark.parametrize("perturbation", [cr.resampling.Subsample(0.6), cr.resampling.Jitter(0.4)], ids=repr)
def test_a_clusters_consistency_does_not_depend_on_its_name(n_resamples, perturbation):
    """Parts of different sizes, so that matchings are unique; few resamples, so that there are ties."""
    points = np.random.default_rng(3).normal(size=(30, 1))
    n_tied, frames = 0, []
    for names in itertools.permutations("abc"):

        def parts(X, names=names):
            cuts = X.min() + np.array([0.4, 0.75]) * (X.max() - X.min())
            return np.array(names)[np.searchsorted(cuts, X[:, 0])]

        result = cr.stability.assignment_consistency(
            parts, points, perturbation=perturbation, n_resamples=n_resamples, rng=ROOT
        )
        n_tied += ((result.counts == result.counts.max(axis=2, keepdims=True)).sum(axis=2) > 1).sum()
        n_tied -= (result.totals == 0).sum()
        frame = result.to_frame().set_index("cluster")
        frames.append(frame.loc[[*names, "all"], ["size", "cri", "wcri"]].to_numpy())
    assert n_tied > 0
    for other in frames[1:]:
        np.testing.assert_allclose(other, frames[0], rtol=1e-13)
