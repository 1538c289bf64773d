"""Consensus from a sample of the pairs, and the kernel that counts pairs."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chisquare
from tests.kernels import plain
from tests.stability.consensus.cases import ROOT, slices

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.kernels import reductions as pairs
from clustrep.stability import co_assignment as _consensus
from clustrep.stability import curves as consensus_results
from clustrep.stability.curves import all_pairs
from clustrep.stability.reclustering import Question

# ---------------------------------------------------------------------------------------------------------------------
# some of the pairs


def test_a_sample_of_pairs_agrees_with_all_of_them():
    points = np.random.default_rng(5).normal(size=(120, 2))
    run = {"n_clusters": [2, 4], "n_resamples": 12, "rng": ROOT}
    full, some = (cr.stability.consensus(slices, points, n_pairs=n, **run) for n in (None, 3000))
    assert (full.sampled, some.sampled) == (False, True)
    assert (full.n_pairs, some.n_pairs) == (120 * 119 // 2, 3000)
    np.testing.assert_array_equal(some.codes, full.codes)
    for k in (2, 4):
        for at in (0, 0.1, 0.5, 0.9):
            p = full.cdf(at, k)
            assert abs(some.cdf(at, k) - p) < 4 * np.sqrt(p * (1 - p) / 3000) + 1e-12
            assert p not in (0, 1)
    np.testing.assert_allclose(some.cluster_consensus, full.cluster_consensus, atol=0.06)
    assert not np.array_equal(some.cluster_consensus, full.cluster_consensus)
    np.testing.assert_array_equal(some.matrix(2), full.matrix(2))  # always exact
    assert "3,000 pairs, a random sample" in repr(some)
    assert "7,140 pairs," in repr(full)
    assert "sample," not in repr(full)


def chosen_pairs(n, n_pairs):
    X = np.arange(n, dtype=float)[:, None]
    question = Question.of(slices, X, None, None, ROOT, None)
    sampled, some = _consensus._pairs(question, n_pairs)
    return sampled, [np.concatenate(part) for part in zip(*some, strict=True)]


def test_every_pair_is_as_likely_in_a_sample():
    # Asked for fewer than all, so many are drawn; here often enough for statistics, through several roots.
    counts = np.zeros((7, 7), dtype=int)
    for root in range(300):
        question = Question.of(slices, np.arange(7.0)[:, None], None, None, root, None)
        sampled, [(first, second)] = _consensus._pairs(question, 20)
        assert sampled
        assert len(first) == len(second) == 20
        np.add.at(counts, (first, second), 1)
    assert (counts.diagonal() == 0).all()
    ordered = counts[~np.eye(7, dtype=bool)]
    assert chisquare(ordered).pvalue > 1e-4


def test_pairs_are_sampled_from_five_million_on():
    assert chosen_pairs(3162, None)[0] is False
    sampled, (first, _) = chosen_pairs(3163, None)
    assert sampled
    assert len(first) == 1_000_000
    assert chosen_pairs(10, 45) == (False, [])
    assert chosen_pairs(10, 10**9) == (False, [])
    sampled, (first, _) = chosen_pairs(10, 44)
    assert sampled
    assert len(first) == 44


def test_the_same_pairs_are_sampled_whatever_else_is_asked_for(X):
    one = cr.stability.consensus(slices, X, n_clusters=3, n_pairs=20, n_resamples=4, rng=ROOT)
    other = cr.stability.consensus(slices, X, n_clusters=[2, 3], n_pairs=20, n_resamples=4, rng=ROOT)
    np.testing.assert_array_equal(one.counts[0], other.counts[1])
    np.testing.assert_array_equal(one.cluster_consensus[0], other.cluster_consensus[1])


@pytest.mark.parametrize("n", [2, 3, 5, 12])
@pytest.mark.parametrize("at_once", [1, 7, 24, 10**6])
def test_all_pairs_come_once_whatever_the_size_of_the_pieces(n, at_once, monkeypatch):
    monkeypatch.setattr(consensus_results, "AT_ONCE", at_once)
    pieces = list(all_pairs(n))
    found = [(int(i), int(j)) for first, second in pieces for i, j in zip(first, second, strict=True)]
    assert found == list(itertools.combinations(range(n), 2))
    assert all(len(first) <= max(at_once, n) for first, _ in pieces)


def test_pieces_change_nothing(X, monkeypatch):
    run = {"n_clusters": [2, 3], "n_resamples": 4, "rng": ROOT}
    expected = cr.stability.consensus(slices, X, **run)
    monkeypatch.setattr(consensus_results, "AT_ONCE", 30)
    result = cr.stability.consensus(slices, X, **run)
    np.testing.assert_array_equal(result.counts, expected.counts)
    np.testing.assert_allclose(result.cluster_consensus, expected.cluster_consensus, rtol=1e-14)


def signs(X):
    return (X[:, 0] > 0) * 1


def test_a_hundred_thousand_samples_need_no_matrix():
    n = 100_000
    points = np.random.default_rng(0).normal(size=(n, 1))
    cr.stability.consensus(
        signs, points[:100], n_resamples=3, n_pairs=50, rng=0
    )  # what is imported and compiled counts no more
    tracemalloc.start()
    try:
        result = cr.stability.consensus(signs, points, n_resamples=3, rng=0, n_jobs=1)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * 2**20 < n * n / 8 / 5  # a fifth of one bit for every pair
    assert kept < 20 * 2**20
    assert result.sampled
    assert result.n_pairs == 1_000_000
    assert result.pac().item() == 0
    np.testing.assert_allclose(result.cluster_consensus, [[1, 1]], rtol=0, atol=1e-3)
    rows = result.matrix(rows=[0, n - 1])
    assert rows.shape == (2, n)
    same = signs(points) == signs(points)[n - 1]
    assert (rows[1, same & ~np.isnan(rows[1])] == 1).all()
    assert n > consensus_results.WHOLE_MATRIX  # else the next line would fill the memory
    message = "rows must say which rows: the whole matrix of 100,000 samples would have 10,000,000,000 numbers. For"
    with pytest.raises(ParameterError, match=message):
        result.matrix()


def test_the_whole_matrix_is_had_up_to_a_size(X, monkeypatch):
    result = cr.stability.consensus(slices, X, n_resamples=3, rng=ROOT)
    monkeypatch.setattr(consensus_results, "WHOLE_MATRIX", 12)
    assert result.matrix().shape == (12, 12)
    monkeypatch.setattr(consensus_results, "WHOLE_MATRIX", 11)
    with pytest.raises(ParameterError, match="rows must say which rows: the whole matrix of 12 samples would have 144"):
        result.matrix()
    assert result.matrix(rows=range(12)).shape == (12, 12)


# ---------------------------------------------------------------------------------------------------------------------
# the kernel


@pytest.mark.parametrize("count", [pairs.count_together, pairs.count_together.py_func, plain.count_together])
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
