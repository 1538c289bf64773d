"""Results of consensus and assignment consistency: files and figures."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from tests.stability.consensus.cases import ROOT, assert_draws_on, assert_saves_and_loads, slices, two_or_three

import clustrep as cr


def test_consensus_saves_and_loads(X, tmp_path):
    result = cr.stability.consensus(slices, X, n_clusters=[2, 3], n_resamples=4, n_pairs=30, rng=ROOT)
    assert_saves_and_loads(result, tmp_path / "one.npz")
    loaded = cr.load(tmp_path / "one.npz")
    np.testing.assert_array_equal(loaded.matrix(3), result.matrix(3))
    np.testing.assert_array_equal(loaded.pac(), result.pac())
    assert repr(result).startswith(f"Consensus of slices: 4 resamples, 30 pairs, a random sample, seed {ROOT}\n")


def test_assignment_consistency_saves_and_loads(X, tmp_path):
    result = cr.stability.assignment_consistency(slices, X, n_clusters=[2, 3], n_resamples=4, rng=ROOT)
    assert_saves_and_loads(result, tmp_path / "one.npz")
    loaded = cr.load(tmp_path / "one.npz")
    np.testing.assert_array_equal(loaded.cri, result.cri)
    pd.testing.assert_frame_equal(loaded.samples_frame(3), result.samples_frame(3))
    assert repr(result).startswith(f"Assignment consistency of slices: 4 resamples, seed {ROOT}\n")
    without = cr.stability.assignment_consistency(two_or_three, X, n_resamples=4, rng=ROOT)
    assert_saves_and_loads(without, tmp_path / "two.npz")


def test_the_distribution_of_the_consensus_is_drawn_for_every_k(X):
    result = cr.stability.consensus(slices, X, n_clusters=[2, 3], n_resamples=5, rng=ROOT)
    _, ax = plt.subplots()
    assert_draws_on(ax, result)
    assert len(ax.lines) == 2
    for line_, k in zip(ax.lines, [2, 3], strict=True):
        np.testing.assert_array_equal(line_.get_ydata(), result.cdf(line_.get_xdata().tolist(), k))
        assert (line_.get_xdata()[0], line_.get_xdata()[-1]) == (0, 1)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"k = {k}, PAC {pac:.2f}" for k, pac in zip([2, 3], result.pac(), strict=True)]
    assert ax.get_ylim() == (0, 1.02)
    assert (ax.get_xlabel(), ax.get_title()) == ("consensus of a pair", "slices")
    own = cr.stability.consensus(two_or_three, X, n_resamples=3, rng=0).plot()
    assert own.get_legend().get_texts()[0].get_text().startswith("PAC ")


def test_assignment_consistency_is_drawn_against_k(X):
    result = cr.stability.assignment_consistency(slices, X, n_clusters=[2, 4], n_resamples=5, rng=ROOT)
    _, ax = plt.subplots()
    assert_draws_on(ax, result)
    *clusters, total = ax.lines
    np.testing.assert_array_equal(total.get_ydata(), result.twcri)
    for line, k, values in zip(clusters, [2, 4], result.cri, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), values[:k])
        assert np.isnan(values[k:]).all()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["2", "4"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["clusters", "all samples"]
    assert ax.get_ylim() == (0, 1.03)
    assert (ax.get_ylabel(), ax.get_title()) == ("assignment consistency", "slices")
    one = cr.stability.assignment_consistency(two_or_three, X, n_resamples=3, rng=0).plot()
    assert [text.get_text() for text in one.get_xticklabels()] == [""]


def test_assignment_consistency_is_drawn_in_the_order_of_k(X):
    ax = cr.stability.assignment_consistency(slices, X, n_clusters=[4, 2, 3], n_resamples=3, rng=ROOT).plot()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["2", "3", "4"]


def test_one_pair_is_no_plural(X):
    assert " 1 pair," in repr(cr.stability.consensus(lambda X: np.arange(len(X)), X[:2], n_resamples=2, rng=0))
