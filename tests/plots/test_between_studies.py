"""The study × study matrix, and forest plots."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.plots.samples import LETTERS, rendered, replicability, scores, texts_of

from clustrep.errors import ParameterError


@pytest.mark.parametrize("S", [2, 4, 10])
def test_the_matrix_has_mean_and_deviation_in_its_cells(S):
    result = replicability(scores((6, S, S)))
    ax = rendered(result.plot())
    np.testing.assert_allclose(ax.images[0].get_array(), result.mean)
    assert texts_of(ax.texts) == [
        f"{mean:.2f}\n±{sd:.2f}" for mean, sd in zip(result.mean.flat, result.sd.flat, strict=True)
    ]
    assert all(6 <= text.get_fontsize() <= 8 for text in ax.texts)
    assert texts_of(ax.get_xticklabels()) == texts_of(ax.get_yticklabels()) == list(LETTERS[:S])


def test_the_matrix_bears_what_is_missing():
    distribution = scores((1, 3, 3))
    distribution[0, 0, 1] = np.nan
    ax = rendered(replicability(distribution, diagonal=False).plot())
    written = texts_of(ax.texts)
    assert [written[i] for i in (0, 1, 4, 8)] == ["", "–", "", ""]
    assert written[2] == f"{distribution[0, 0, 2]:.2f}"
    rendered(replicability(np.full((2, 2, 2), np.nan)).plot())
    unbounded = rendered(replicability(4 * scores((3, 2, 2)), agreement="mi").plot())
    assert unbounded.images[0].get_clim()[1] > 1


def test_numbers_are_left_out_of_small_axes():
    _, axes = plt.subplots(1, 4, figsize=(4, 2))
    assert not replicability(scores((3, 8, 8))).plot(axes[0]).texts


def test_unknown_kinds_are_refused():
    with pytest.raises(ParameterError) as caught:
        replicability(scores((2, 2, 2))).plot(kind="strip")
    assert caught.value.parameter == "kind"


def test_the_forest_has_means_intervals_and_resamples_of_every_pair_and_of_all():
    result = replicability(scores((7, 3, 3)))
    ax = rendered(result.plot(kind="forest"))
    pairs = [(s, t) for s in range(3) for t in range(3) if s != t]
    assert texts_of(ax.get_yticklabels()) == [*(f"{LETTERS[s]} → {LETTERS[t]}" for s, t in pairs), "all pairs"]
    low, high = result.confidence_interval()
    averages = result.distribution[:, ~np.eye(3, dtype=bool)].mean(axis=1)
    expected = [(result.mean[p], low[p], high[p], result.distribution[(slice(None), *p)]) for p in pairs]
    expected.append((averages.mean(), *np.quantile(averages, [0.025, 0.975]), averages))
    for y, (mean, left, right, resamples) in enumerate(expected):
        dots, interval, mark = ax.lines[3 * y : 3 * y + 3]
        np.testing.assert_array_equal(dots.get_xdata(), resamples)
        np.testing.assert_allclose(interval.get_xdata(), [left, right])
        np.testing.assert_allclose(mark.get_xdata(), mean)
        assert texts_of(ax.texts)[y] == f"{mean:.2f} [{left:.2f}, {right:.2f}]"
    np.testing.assert_allclose(ax.lines[3 * len(expected)].get_xdata(), [result.estimate[pair] for pair in pairs])
    assert f"I² = {100 * result.heterogeneity:.0f} %" in ax.get_title()


def test_many_pairs_are_those_with_the_widest_spread():
    distribution = scores((6, 7, 7))
    distribution[:, 2, 3] = 0.5
    result = replicability(distribution)
    ax = rendered(result.plot(kind="forest"))
    assert "30 of 42 pairs" in ax.get_title()
    *names, everything = texts_of(ax.get_yticklabels())
    by_spread = sorted(((s, t) for s in range(7) for t in range(7) if s != t), key=lambda pair: -result.sd[pair])
    assert names == [f"{LETTERS[s]} → {LETTERS[t]}" for s, t in sorted(by_spread[:30])]
    assert everything == "all pairs"


@pytest.mark.parametrize("agreement", ["ari", "mi"])
def test_the_forest_bears_one_resample_and_missing_scores(agreement):
    distribution = scores((1, 5, 5)) * (3 if agreement == "mi" else 1)
    distribution[0, 0, 1] = np.nan
    ax = rendered(replicability(distribution, agreement=agreement).plot(kind="forest"))
    assert texts_of(ax.texts)[0] == "no score"
    assert ax.get_xlim()[1] > np.nanmax(distribution[:, 0]) if agreement == "mi" else ax.get_xlim()[1] == 1.03
