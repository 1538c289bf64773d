"""Bootstrap instability, consensus and assignment consistency, against loops over pairs and samples."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.helpers import configured
from tests.kernels import plain as plain_kernels
from tests.stability import plain
from tests.stability.plain import relabelled, relabelled_draw, scripted

import clustrep as cr
from clustrep.errors import ParameterError, ReplicateWarning
from clustrep.kernels import reductions
from clustrep.resampling import Bootstrap, FeatureSubset, Jitter, Rerun, Subsample
from clustrep.stability.results import all_pairs

SEED = 8
draws = partial(plain.draws, seed=SEED)
WARD = AgglomerativeClustering()
PERTURBATIONS = [Subsample(0.5), Bootstrap(), Bootstrap(distinct=True), Jitter(0.7), FeatureSubset(0.5)]
X = np.random.default_rng(12).normal(size=(12, 2))  # without clusters worth the name: resamples disagree
LINE = np.arange(6.0)[:, None]


def slices(X, n_clusters=3):
    """Cut the samples into parts by the rank of their first feature; equal ones may be parted."""
    ranks = np.argsort(np.argsort(X[:, 0], kind="stable"), kind="stable")
    return ranks * n_clusters // len(X)


def of_k(k):
    return lambda X: slices(X, k)


def far_is_noise(X):
    """Two clusters, and noise where the second feature is large."""
    return np.where(np.abs(X[:, 1]) > 1, -1, (X[:, 0] > np.median(X[:, 0])) * 1)


# ---------------------------------------------------------------------------------------------------------------------
# instability


def disagreements(first, second, rows=None, one_sided=False):
    """Fang and Wang (2012): the share of ordered pairs that one function puts together and the other apart."""
    rows = range(len(first)) if rows is None else rows
    n = 0
    for i, j in itertools.product(rows, rows):
        together, also = first[i] == first[j], second[i] == second[j]
        n += (together and not also) if one_sided else together != also
    return n / len(rows) ** 2


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=repr)
def test_instability_is_the_share_of_pairs_that_two_functions_disagree_on(perturbation, one_sided):
    run = {"n_resamples": 5, "perturbation": perturbation, "one_sided": one_sided, "rng": SEED}
    result = cr.stability.bootstrap_instability(slices, X, n_clusters=[2, 4], **run)
    expected = np.empty((5, 2))
    pairs = zip(draws(X, perturbation, 5), draws(X, perturbation, 5, second=True), strict=True)
    for (b, pair), (i, k) in itertools.product(enumerate(list(pairs)), enumerate([2, 4])):
        expected[b, i] = disagreements(*(relabelled(of_k(k), draw) for draw in pair), one_sided=one_sided)
    assert len(np.unique(expected)) > 1
    np.testing.assert_allclose(result.distribution, expected, rtol=0, atol=1e-15)


def test_instability_by_hand():
    """As R's fpc::nselectboot: Σ row² − Σ C² over n². Here C = (3 1; 0 0 | 2), rows (4, 2), columns (3, 3)."""
    first, second = [0, 0, 0, 0, 1, 1], ["a", "a", "a", "b", "b", "b"]

    def of(*labelings, **options):
        run = {"perturbation": Rerun(), "n_resamples": 1, "rng": 0, **options}
        return cr.stability.bootstrap_instability(scripted(*labelings), LINE, **run).distribution.item()

    assert of(first, second, one_sided=True) == (16 + 4 - 9 - 1 - 4) / 36
    assert of(second, first, one_sided=True) == (9 + 9 - 9 - 1 - 4) / 36
    assert of(first, second) == (20 + 18 - 28) / 36


def test_instability_of_random_labels_is_what_chance_gives():
    """Two independent labelings with k equal parts disagree on a pair with probability 2 (1/k) (1 − 1/k)."""

    def thrown(X, n_clusters, random_state=None):
        return np.random.default_rng(random_state).integers(n_clusters, size=len(X))

    points = np.random.default_rng(0).normal(size=(200, 1))
    result = cr.stability.bootstrap_instability(thrown, points, n_clusters=[2, 5], n_resamples=20, rng=0)
    np.testing.assert_allclose(result.mean, [2 * 0.5 * 0.5, 2 * 0.2 * 0.8], atol=0.02)


def test_instability_with_noise_and_of_labels_alone():
    pairs = list(zip(draws(X, Bootstrap(), 5), draws(X, Bootstrap(), 5, second=True), strict=True))
    run = {"n_resamples": 5, "rng": SEED}
    expected = []
    for pair in pairs:
        first, second = (relabelled(far_is_noise, draw) for draw in pair)
        expected.append(disagreements(first, second))
    result = cr.stability.bootstrap_instability(far_is_noise, X, **run)
    np.testing.assert_allclose(result.distribution[:, 0], expected, rtol=0, atol=1e-15)
    labels = np.array(list("aabbccaabbcc"))
    known = cr.stability.bootstrap_instability(None, cr.Study(X, "X", labels=labels), labels=True, **run)
    expected = [
        disagreements(*(relabelled(lambda _, draw=draw: labels[draw.order], draw) for draw in pair)) for pair in pairs
    ]
    np.testing.assert_allclose(known.distribution[:, 0], expected, rtol=0, atol=1e-15)
    assert (known.clusterer, known.n_clusters) == ("known labels", (None,))


def test_pairs_of_functions_that_fail_are_omitted():
    halves, odd = [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]
    fits = [halves, halves, halves, ValueError("no luck."), halves, odd]
    run = {"perturbation": Rerun(), "n_resamples": 3, "rng": 0, "n_jobs": 1}
    with pytest.warns(ReplicateWarning):
        result = cr.stability.bootstrap_instability(scripted(*fits), LINE, **run)
    np.testing.assert_array_equal(np.isnan(result.distribution[:, 0]), [False, True, False])
    assert result.failures == {"ValueError: no luck": 1}


# ---------------------------------------------------------------------------------------------------------------------
# consensus


def co_assignment(X, function, perturbation, n_resamples):
    """Times together, and times both drawn, (n, n) each."""
    together, both = np.zeros((2, len(X), len(X)), dtype=int)
    for draw in draws(X, perturbation, n_resamples):
        labels = relabelled_draw(function, draw)
        for i, j in itertools.product(np.flatnonzero(draw.weights), repeat=2):
            both[i, j] += 1
            together[i, j] += labels[i] == labels[j]
    return together, both


def assert_consensus(result, i, k, together, both, reference):
    n = len(together)
    expected = np.divide(together, both, out=np.full((n, n), np.nan), where=both > 0)
    np.testing.assert_array_equal(result.matrix(k), expected)
    np.testing.assert_array_equal(result.matrix(k, rows=[7, 0, 7]), expected[[7, 0, 7]])
    pairs = list(itertools.combinations(range(n), 2))
    counts = np.zeros_like(result.counts[i])
    for a, b in pairs:
        counts[together[a, b], both[a, b]] += 1
    np.testing.assert_array_equal(result.counts[i], counts)
    values = [expected[a, b] for a, b in pairs if both[a, b]]
    for at in (0, 0.1, 1 / 3, 0.5, 0.9, 1):
        assert result.cdf(at, k) == pytest.approx(np.mean([v <= at + 1e-9 for v in values]), abs=1e-14)
    assert result.pac()[i] == pytest.approx(np.mean([0.1 < v <= 0.9 for v in values]), abs=1e-14)
    for c, name in enumerate(np.unique(reference)):
        own = itertools.combinations(np.flatnonzero(np.equal(reference, name)), 2)
        inside = [expected[a, b] for a, b in own if both[a, b]]
        assert result.cluster_consensus[i, c] == pytest.approx(np.mean(inside), abs=1e-14)
        assert result.clusters[i, c] == str(name)


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=repr)
def test_consensus_is_times_together_of_times_both_drawn(perturbation):
    result = cr.stability.consensus(slices, X, n_clusters=[2, 3], n_resamples=6, perturbation=perturbation, rng=SEED)
    for i, k in enumerate([2, 3]):
        assert_consensus(result, i, k, *co_assignment(X, of_k(k), perturbation, 6), slices(X, k))
    assert (result.n_pairs, result.sampled) == (66, False)


def test_consensus_counts_noise_as_a_cluster():
    run = {"perturbation": Subsample(0.8), "n_resamples": 8, "rng": SEED}
    result = cr.stability.consensus(far_is_noise, X, **run)
    together, both = co_assignment(X, far_is_noise, Subsample(0.8), 8)
    np.testing.assert_array_equal(result.matrix(), np.divide(together, both, where=both > 0, out=both * np.nan))
    assert result.to_frame()["cluster"].tolist() == ["-1", "0", "1", "all"]


def test_consensus_of_existing_labels_and_of_several_k():
    labels = np.array(list("xyzxyzxyzxyz"))
    result = cr.stability.consensus(slices, X, n_clusters=[4, 2], labels=labels, n_resamples=4, rng=SEED)
    for i, k in enumerate([4, 2]):
        assert_consensus(result, i, k, *co_assignment(X, of_k(k), Subsample(0.8), 4), labels)
    own = cr.stability.consensus(slices, X, n_clusters=[4, 2], n_resamples=4, rng=SEED)
    assert np.isnan(own.cluster_consensus[1]).tolist() == [False, False, True, True]
    frame = own.to_frame()
    assert frame["k"].tolist() == [4] * 5 + [2] * 3
    assert frame["size"].tolist() == [3, 3, 3, 3, 12, 6, 6, 12]


def consensus_of(reference, *labelings):
    options = {"perturbation": Rerun(), "n_resamples": len(labelings), "rng": 0, "n_jobs": 1}
    return cr.stability.consensus(scripted(reference, *labelings), np.arange(len(reference))[:, None] * 1.0, **options)


def test_consensus_by_hand():
    """Ten resamples: {0, 1} together in 9, {2, 3} in all, {0, 2} and {0, 3} in 1, the others never."""
    result = consensus_of([5, 5, 7, 7], *[[0, 0, 1, 1]] * 8, [3, 3, 4, 4], [0, 1, 0, 0])
    expected = [[1, 0.9, 0.1, 0.1], [0.9, 1, 0, 0], [0.1, 0, 1, 1], [0.1, 0, 1, 1]]
    np.testing.assert_array_equal(result.matrix(), expected)
    # Six pairs: 0, 0, .1, .1, .9, 1. F(.9) counts .9, F(.1) counts .1: only .9 is ambiguous.
    assert result.pac().tolist() == pytest.approx([1 / 6])
    assert result.pac(0.05, 0.9) == pytest.approx([3 / 6])
    assert result.cdf([0, 0.0999, 0.1, 0.9, 1]).tolist() == pytest.approx([2 / 6, 2 / 6, 4 / 6, 5 / 6, 1])
    assert result.cluster_consensus.tolist() == [[0.9, 1.0]]
    frame = result.to_frame()
    np.testing.assert_array_equal(frame["consensus"], [0.9, 1, np.nan])
    np.testing.assert_allclose(frame["pac"], [np.nan, np.nan, 1 / 6])
    assert list(frame) == ["k", "cluster", "size", "consensus", "pac"]


@pytest.mark.parametrize("n", [10, 30, 70, 90])
def test_a_tenth_and_nine_tenths_are_on_the_same_side_whatever_the_number_of_resamples(n):
    """9/10 and 63/70 are the same number to a reader; in floating point they need not be."""
    labelings = [[0, 0 if b < 9 * n // 10 else 1, 0 if b < n // 10 else 3, 2] for b in range(n)]
    result = consensus_of([0, 0, 1, 1], *labelings)
    assert result.matrix()[0, 1:3].tolist() == [(9 * n // 10) / n, (n // 10) / n]
    # Together: 0 and 1 in 9/10, 0 and 2 as well as 1 and 2 in 1/10. Of these only 9/10 is ambiguous.
    assert result.pac() == pytest.approx([1 / 6])


def test_samples_never_drawn_together_have_no_consensus_and_count_for_nothing():
    run = {"n_clusters": 2, "n_resamples": 2, "perturbation": Subsample(0.5), "rng": SEED}
    result = cr.stability.consensus(slices, X, **run)
    _, both = co_assignment(X, of_k(2), Subsample(0.5), 2)
    assert (both == 0).any()
    np.testing.assert_array_equal(np.isnan(result.matrix()), both == 0)
    above = np.triu(np.ones((12, 12), dtype=bool), 1)
    assert (result.cdf(1), result.cdf(0)) == (1, (result.matrix()[above] == 0).sum() / (both[above] > 0).sum())
    few = cr.stability.consensus(slices, X, **{**run, "perturbation": Subsample(0.2), "n_resamples": 1, "n_pairs": 2})
    assert np.isnan(few.pac()).all() == (few.counts[0, 0, 0] == 2)


def test_a_sample_of_the_pairs_agrees_with_all_of_them():
    points = np.random.default_rng(5).normal(size=(120, 2))
    run = {"n_clusters": [2, 4], "n_resamples": 12, "rng": SEED}
    full, some = (cr.stability.consensus(slices, points, n_pairs=n, **run) for n in (None, 3000))
    assert (full.sampled, full.n_pairs, some.sampled, some.n_pairs) == (False, 120 * 119 // 2, True, 3000)
    for k, at in itertools.product((2, 4), (0, 0.1, 0.5, 0.9)):
        p = full.cdf(at, k)
        assert abs(some.cdf(at, k) - p) < 4 * np.sqrt(p * (1 - p) / 3000) + 1e-12
    np.testing.assert_allclose(some.cluster_consensus, full.cluster_consensus, atol=0.06)
    np.testing.assert_array_equal(some.matrix(2), full.matrix(2))  # always exact
    alone = cr.stability.consensus(slices, points, n_pairs=3000, **{**run, "n_clusters": 4})
    np.testing.assert_array_equal(alone.counts[0], some.counts[1])


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_all_pairs_come_once_whatever_the_size_of_the_pieces(at_once):
    for n in (2, 3, 12):
        found = [pair for first, second in all_pairs(n, at_once) for pair in zip(first, second, strict=True)]
        assert found == list(itertools.combinations(range(n), 2))


def test_a_hundred_thousand_samples_need_no_matrix():
    def signs(X):
        return (X[:, 0] > 0) * 1

    n, run = 100_000, {"n_resamples": 3, "rng": 0}
    points = np.random.default_rng(0).normal(size=(n, 1))
    cr.stability.consensus(signs, points[:100], n_pairs=50, **run)  # what is imported and compiled counts no more
    tracemalloc.start()
    try:
        result = cr.stability.consensus(signs, points, n_jobs=1, **run)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * 2**20 < n * n / 8 / 5  # a fifth of one bit for every pair
    assert held < 20 * 2**20
    assert (result.sampled, result.n_pairs, result.pac().item()) == (True, 1_000_000, 0)
    assert result.matrix(rows=[0, n - 1]).shape == (2, n)
    with pytest.raises(ParameterError) as caught:
        result.matrix()
    assert caught.value.parameter == "rows"


@pytest.mark.parametrize(("n_labels", "dtype"), [(2, np.int8), (127, np.int8), (128, np.int16)])
def test_codes_take_few_bytes(n_labels, dtype):
    labels = np.arange(200) % n_labels
    assert consensus_of(labels, labels, labels).codes.dtype == dtype


def test_what_is_asked_of_a_consensus_is_checked():
    result = cr.stability.consensus(slices, X, n_clusters=[2, 3], n_resamples=2, rng=0)
    refused = [
        *((lambda rows=rows: result.matrix(2, rows=rows), "rows") for rows in ([12], [-1], [0.5], 3, [[0]], [True])),
        *((lambda values=values: result.cdf(values, 2), "values") for values in (1.1, [-0.1], "half", [0.5, np.nan])),
        *((lambda pair=pair: result.pac(*pair), "low") for pair in ((0.9, 0.1), (0.5, 0.5))),
        *((lambda k=k: result.matrix(k), "n_clusters") for k in (None, 7)),
    ]
    for call, parameter in refused:
        with pytest.raises(ParameterError) as caught:
            call()
        assert caught.value.parameter == parameter


@pytest.mark.parametrize(
    "count", [reductions.count_together, reductions.count_together.py_func, plain_kernels.count_together]
)
@given(st.data())
def test_pairs_are_counted_as_a_loop_counts_them(count, data):
    n, n_replicates, n_pairs = (data.draw(st.integers(1, most)) for most in (6, 5, 8))
    codes = data.draw(arrays(np.int32, (n, n_replicates), elements=st.integers(-1, 2)))
    first, second = (data.draw(arrays(np.int64, n_pairs, elements=st.integers(0, n - 1))) for _ in range(2))
    together, both = np.full((2, n_pairs), 99, dtype=np.int64)
    count(codes, first, second, together, both)
    for pair, (i, j) in enumerate(zip(first, second, strict=True)):
        present = [b for b in range(n_replicates) if codes[i, b] != -1 and codes[j, b] != -1]
        assert both[pair] == len(present)
        assert together[pair] == sum(codes[i, b] == codes[j, b] for b in present)


# ---------------------------------------------------------------------------------------------------------------------
# assignment consistency


def assignments(X, function, perturbation, n_resamples, reference):
    """How often each sample, while left out, is in each cluster of the reference; unmatched labels in the totals."""
    names = np.unique(reference).tolist()
    counts, totals = np.zeros((len(X), len(names)), dtype=int), np.zeros(len(X), dtype=int)
    everything = draws(X, perturbation, n_resamples)
    none_left_out = all((draw.weights > 0).all() for draw in everything)
    for draw in everything:
        labels = relabelled(function, draw)
        kept = range(len(X))
        new = sorted(set(labels))
        table = np.array([[sum(labels[i] == u and reference[i] == v for i in kept) for v in names] for u in new])
        partner = {new[u]: v for u, v in zip(*linear_sum_assignment(table, maximize=True), strict=True) if table[u, v]}
        for i in kept:
            if none_left_out or draw.weights[i] == 0:
                totals[i] += 1
                if labels[i] in partner:
                    counts[i, partner[labels[i]]] += 1
    return counts, totals


def assert_assignments(result, i, counts, totals, reference):
    codes, k, n = np.unique(reference, return_inverse=True)[1].tolist(), counts.shape[1], len(counts)
    np.testing.assert_array_equal(result.counts[i, :, :k], counts)
    np.testing.assert_array_equal(result.totals[i], totals)
    modal = []  # of several the sample's own cluster, else the largest of the reference; −1 for none
    for own, row in zip(codes, counts.tolist(), strict=True):
        best = [c for c, count in enumerate(row) if count == max(row) > 0]
        modal.append(own if own in best else max(best, key=codes.count, default=-1))
    assert result.modal[i].tolist() == modal
    members = [[h for h in range(n) if modal[h] == c] for c in range(k)]
    cri = [np.mean([counts[h].max() / totals[h] for h in own]) if own else np.nan for own in members]
    sizes = np.array(list(map(len, members)))
    np.testing.assert_allclose(result.cri[i, :k], cri, rtol=1e-13)
    np.testing.assert_allclose(result.wcri[i, :k], cri * sizes / (totals > 0).sum(), rtol=1e-13)
    assert result.twcri[i] == pytest.approx(np.nansum(cri * sizes / (totals > 0).sum()), rel=1e-13)


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=repr)
@pytest.mark.parametrize("function", [slices, "ward"])
def test_samples_left_out_are_counted_in_the_cluster_that_matches_their_label(function, perturbation):
    # Without shortcuts, which number clusters in their own way: of equally good matchings they may take another.
    clusterer = WARD if function == "ward" else slices
    run = {"n_clusters": [2, 4], "n_resamples": 8, "perturbation": perturbation, "rng": SEED}
    result = configured(cr.stability.assignment_consistency, accelerate=False)(clusterer, X, **run)
    for i, k in enumerate([2, 4]):
        plain = AgglomerativeClustering(k).fit_predict if function == "ward" else of_k(k)
        reference = plain(X)
        assert_assignments(result, i, *assignments(X, plain, perturbation, 8, reference), reference)


def test_assignments_with_noise_unmatched_labels_and_existing_ones():
    labels = np.array(list("pqpqrrppqqrr"))

    def two_or_three(X):
        return slices(X, 2 + (X[:, 0] < 0).sum() % 2)

    cases = [(far_is_noise, far_is_noise(X), None), (two_or_three, slices(X, 2), slices(X, 2))]
    for function, reference, given_labels in [*cases, (slices, labels, labels)]:
        run = {"perturbation": Subsample(0.6), "n_resamples": 10, "rng": SEED}
        result = cr.stability.assignment_consistency(function, X, labels=given_labels, **run)
        counts, totals = assignments(X, function, Subsample(0.6), 10, reference)
        assert_assignments(result, 0, counts, totals, reference)
    frame = pd.DataFrame(X, index=[f"s{i}" for i in range(12)])
    named = pd.Series(labels, index=frame.index)[::-1]  # found by name
    again = cr.stability.assignment_consistency(slices, cr.Study(frame, "X"), labels=named, **run)
    np.testing.assert_array_equal(again.counts, result.counts)
    assert again.samples == tuple(frame.index)


def line(*labelings, n=6):
    options = {"perturbation": Rerun(), "n_resamples": len(labelings) - 1, "rng": 0, "n_jobs": 1}
    return cr.stability.assignment_consistency(scripted(*labelings), np.arange(float(n))[:, None], **options)


def test_assignment_consistency_by_hand():
    """Sample 3 changes sides once in four, sample 0 gets a third label once in four: .75 twice, else 1."""
    usual = [0, 0, 0, 1, 1, 1]
    result = line(["a", "a", "a", "b", "b", "b"], usual, [1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1], [2, 0, 0, 1, 1, 1])
    assert result.counts[0].tolist() == [[3, 0], [4, 0], [4, 0], [1, 3], [0, 4], [0, 4]]
    np.testing.assert_array_equal(result.per_sample, [[0.75, 1, 1, 0.75, 1, 1]])
    frame = result.to_frame()
    assert frame["cluster"].tolist() == ["a", "b", "all"]
    assert frame["size"].tolist() == [3, 3, 6]
    np.testing.assert_allclose(frame["cri"], [2.75 / 3, 2.75 / 3, np.nan])
    np.testing.assert_allclose(frame["wcri"], [2.75 / 6, 2.75 / 6, 5.5 / 6])
    assert result.clusters[0][result.modal[0]].tolist() == list("aaabbb")
    assert result.totals[0].tolist() == [4] * 6


def test_a_sample_that_was_never_left_out_has_no_consistency():
    result = cr.stability.assignment_consistency(slices, X, n_clusters=2, n_resamples=2, rng=SEED)
    never = assignments(X, of_k(2), Subsample(0.8), 2, slices(X, 2))[1] == 0
    assert 0 < never.sum() < 12
    np.testing.assert_array_equal(np.isnan(result.per_sample[0]), never)
    assert (result.modal[0] < 0).tolist() == never.tolist()
    assert result.sizes.sum() == (~never).sum()


def test_of_equally_frequent_clusters_the_own_counts_then_the_largest():
    """Sample 5 is as often in a as in its own c; sample 6 as often in a as in b, never in its own."""
    reference = [0, 0, 0, 1, 1, 2, 2]
    in_a, in_b = [0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 2, 1]
    for a, b in ((in_a, in_b), (in_b, in_a)):
        result = line(reference, a, b, n=7)
        assert result.modal[0].tolist() == [0, 0, 0, 1, 1, 2, 0]
        np.testing.assert_allclose(result.wcri, [[3.5 / 7, 2 / 7, 0.5 / 7]])
    renamed = line(np.array(["z", "y", "x"])[reference], in_a, in_b, n=7)
    np.testing.assert_allclose(renamed.cri, [[0.5, 1, 3.5 / 4]])


def test_matchings_depend_on_one_resample_alone_and_partners_share_samples():
    """A = {0, …, 4} falls into two parts, B = {5} and C = {6} become one: the smaller part of A is not B."""
    reference, new, more = [0, 0, 0, 0, 0, 1, 2], [0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 3, 3, 3]
    one, other, both = (line(reference, *labelings, n=7) for labelings in ([new], [more], [new, more]))
    assert not one.counts[0, [3, 4], 1:].any()
    np.testing.assert_array_equal(both.counts, one.counts + other.counts)


# ---------------------------------------------------------------------------------------------------------------------
# what both share


def test_failed_fits_are_omitted_from_pairs_and_assignments():
    usual, other = [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]
    script = [usual, usual, ValueError("no luck."), other, other, RuntimeError(), other, usual, [0, 0, 1, 1, 1, 1]]
    options = {"perturbation": Rerun(), "n_resamples": 8, "rng": 0, "n_jobs": 1}
    for verb in (cr.stability.consensus, cr.stability.assignment_consistency):
        with pytest.warns(ReplicateWarning):
            result = verb(scripted(*script), LINE, **options)
        assert result.failed[:, 0].tolist() == [0, 1, 0, 0, 2, 0, 0, 0]
        assert result.failures == {"ValueError: no luck": 1, "RuntimeError": 1}
        if verb is cr.stability.consensus:
            assert result.matrix()[0, 3] == 3 / 6
            assert result.matrix()[2, 3] == (3 + 1) / 6
        else:
            assert result.counts[0].tolist() == [[6, 0], [6, 0], [5, 1], [3, 3], [0, 6], [0, 6]]


@pytest.mark.parametrize(
    "verb", [cr.stability.bootstrap_instability, cr.stability.consensus, cr.stability.assignment_consistency]
)
def test_a_k_that_always_fails_has_no_value_and_the_best_of_the_others_is_chosen(verb):
    with pytest.warns(ReplicateWarning):  # twelve clusters of twelve samples, but not of those that are drawn
        result = verb(WARD, X, n_clusters=[12, 2], n_resamples=4, rng=SEED)
    assert np.isnan(result.by_k).tolist() == [True, False]
    assert result.best_n_clusters == 2
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]])
    points = np.random.default_rng(1).normal(size=(60, 2)) * 0.4 + np.repeat(centres, 20, axis=0)
    clear = verb(KMeans(n_init=3), points, n_clusters=[6, 3, 5], n_resamples=10, rng=0)
    assert clear.best_n_clusters == 3
    assert verb(lambda X: np.arange(len(X)) % 2, points, n_resamples=2, rng=0).best_n_clusters is None
    if verb is cr.stability.bootstrap_instability:
        assert replace(clear, distribution=np.zeros((10, 3))).best_n_clusters == 3  # the smallest of equals


def test_clusters_may_have_any_name():
    labels = [""] * 6 + ["b"] * 6
    result = cr.stability.assignment_consistency(slices, X, n_clusters=2, labels=labels, n_resamples=6, rng=SEED)
    assert result.to_frame()["cluster"].tolist() == ["", "b", "all"]

    def renamed(X, n_clusters):
        return np.array(["b", "c", "a"])[slices(X, n_clusters)]

    run = {"n_clusters": 3, "n_resamples": 4, "rng": SEED}
    one, other = (cr.stability.consensus(function, X, **run) for function in (slices, renamed))
    np.testing.assert_array_equal(one.cluster_consensus[0], other.cluster_consensus[0, [1, 2, 0]])
    one, other = (cr.stability.assignment_consistency(function, X, **run) for function in (slices, renamed))
    np.testing.assert_array_equal(one.counts[0], other.counts[0][:, [1, 2, 0]])
