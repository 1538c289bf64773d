"""The study × study matrix, grids of matrices, and forest plots."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.plots.samples import LETTERS, comparison, inches, over_k, rendered, replicability, scores, texts_of

from clustrep.errors import ParameterError
from clustrep.plots.canvas import DOUBLE


def test_matrices_are_a_grid_of_clusterers_and_k():
    result = over_k(["ward", "k-means"], [2, 3, 4], S=4)
    axes = rendered(result.plot(agreement="ami", kind="matrices"))
    assert axes.shape == (2, 3)
    means = result.distribution[:, 1].mean(axis=1)
    for c, ax in enumerate(axes.flat):
        np.testing.assert_allclose(ax.images[0].get_array(), means[c])
        assert ax.images[0].get_clim() == (0, 1)
        assert texts_of(ax.texts)[1] == f"{means[c, 0, 1]:.2f}"[1:]
    assert [ax.get_title() for ax in axes.flat] == ["k = 2", "k = 3", "k = 4", "", "", ""]
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["ward", "k-means"]
    figure = axes[0, 0].figure
    assert (figure.get_supxlabel(), figure.get_supylabel(), figure.get_suptitle()) == ("tested on", "trained on", "")
    assert len(figure.axes) == 7
    assert figure.axes[-1].get_ylabel() == "AMI, mean over resamples"


def test_matrices_of_many_k_are_six_and_say_so():
    axes = rendered(over_k(["ward"], range(2, 41)).plot(kind="matrices"))
    assert [ax.get_title() for ax in axes[0]] == [f"k = {k}" for k in (2, 10, 17, 25, 32, 40)]
    expected = "6 of 39 numbers of clusters, those nearest to evenly spaced ones"
    assert axes[0, 0].figure.get_suptitle() == expected


def test_matrices_of_a_clusterer_without_k_stand_first_in_their_row():
    result = comparison(["ward", "ward", "own"], [2, 3, None])
    axes = rendered(result.plot(kind="matrices"))
    assert [ax.get_visible() for ax in axes.flat] == [True, True, True, False]
    assert axes[1, 0].get_title() == "its own k"
    np.testing.assert_allclose(axes[1, 0].images[0].get_array(), result.distribution[2, 0].mean(axis=0))


def test_matrices_of_ten_studies_have_no_numbers():
    axes = rendered(over_k(["ward"], range(2, 8), S=10).plot(kind="matrices"))
    assert not any(ax.texts for ax in axes.flat)
    np.testing.assert_allclose(inches(axes)[0], DOUBLE)


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
    for result in (over_k(["ward"], [2, 3]), replicability(scores((2, 2, 2)))):
        with pytest.raises(ParameterError) as caught:
            result.plot(kind="strip")
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
