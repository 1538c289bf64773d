"""The study × study matrix, grids of matrices, and strips of resamples."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.plots.samples import LETTERS, comparison, inches, over_k, rendered, replicability, scores, texts_of

from clustrep.algorithms.pairwise_plot import matrices_chart, strips_chart
from clustrep.errors import ParameterError
from clustrep.plots.canvas import DOUBLE
from clustrep.plots.charts import numbers


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


def test_the_distribution_has_a_strip_for_every_pair():
    result = replicability(scores((7, 3, 3)))
    ax = rendered(result.plot(kind="distribution"))
    pairs = [(s, t) for s in range(3) for t in range(3) if s != t]
    assert texts_of(ax.get_yticklabels()) == [f"{LETTERS[s]} → {LETTERS[t]}" for s, t in pairs]
    *dots, means, estimates = ax.lines
    for y, (line, pair) in enumerate(zip(dots, pairs, strict=True)):
        np.testing.assert_array_equal(line.get_xdata(), result.distribution[(slice(None), *pair)])
        np.testing.assert_allclose(line.get_ydata(), y + np.linspace(-0.3, 0.3, 7))
    np.testing.assert_allclose(means.get_xdata(), [result.mean[pair] for pair in pairs])
    np.testing.assert_allclose(estimates.get_xdata(), [result.estimate[pair] for pair in pairs])
    lengths = [segment[1, 0] - segment[0, 0] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(lengths, [2 * result.sd[pair] for pair in pairs])
    assert ax.get_title() == "ward, k = 4"
    assert texts_of(ax.get_legend().get_texts()) == ["resamples", "mean ± sd", "R̂"]


def test_many_pairs_are_those_with_the_widest_spread():
    distribution = scores((6, 7, 7))
    distribution[:, 2, 3] = 0.5
    result = replicability(distribution)
    ax = rendered(result.plot(kind="distribution"))
    assert ax.get_title() == "ward, k = 4\n30 of 42 pairs: the widest spread"
    names = texts_of(ax.get_yticklabels())
    assert len(names) == 30
    assert "c → d" not in names
    by_spread = sorted(((s, t) for s in range(7) for t in range(7) if s != t), key=lambda pair: -result.sd[pair])
    assert names == [f"{LETTERS[s]} → {LETTERS[t]}" for s, t in sorted(by_spread[:30])]


@pytest.mark.parametrize("agreement", ["ari", "mi"])
def test_the_distribution_bears_one_resample_and_missing_scores(agreement):
    distribution = scores((1, 10, 10)) * (3 if agreement == "mi" else 1)
    distribution[0, 0, 1] = np.nan
    ax = rendered(replicability(distribution, agreement=agreement).plot(kind="distribution"))
    assert len(ax.get_yticks()) == 30
    assert ax.get_xlim()[1] > np.nanmax(distribution[:, 0]) if agreement == "mi" else ax.get_xlim()[1] == 1.03


def test_unknown_kinds_are_refused():
    with pytest.raises(ParameterError, match="kind must be one of 'curves', 'matrices'; got 'matrix'"):
        over_k(["ward"], [2, 3]).plot(kind="matrix")
    with pytest.raises(ParameterError, match="kind must be one of 'matrix', 'distribution'; got 'strip'"):
        replicability(scores((2, 2, 2))).plot(kind="strip")


def test_both_drawings_of_the_matrix_have_the_same_numbers():
    distribution = scores((6, 3, 3))
    distribution[:, 0, 1] = np.nan
    result = replicability(distribution)
    ax = result.plot()
    (view,) = matrices_chart([result])["views"]
    (trace,) = view["data"]
    assert trace["z"] == numbers(ax.images[0].get_array().filled(np.nan))
    assert trace["zmax"] == ax.images[0].get_clim()[1]
    assert trace["hovertext"][0][1] == "a → b<br>no score"
    assert view["name"] == ax.get_title() == "ward, k = 4"


def test_unbounded_scores_have_their_own_scale_on_the_page():
    (view,) = matrices_chart([replicability(4 * scores((3, 2, 2)), agreement="mi")])["views"]
    (trace,) = view["data"]
    assert trace["zmax"] == max(value for row in trace["z"] for value in row) > 1


def test_both_drawings_of_the_strips_have_the_same_numbers():
    result = replicability(scores((7, 3, 3)))
    *dots, means, estimates = result.plot(kind="distribution").lines
    marks, mean, estimate = strips_chart(result)["views"][0]["data"]
    assert marks["x"] == numbers(np.concatenate([line.get_xdata() for line in dots]))
    assert mean["x"] == numbers(means.get_xdata())
    assert estimate["x"] == numbers(estimates.get_xdata())
    assert marks["y"][::7] == mean["y"] == ["a → b", "a → c", "b → a", "b → c", "c → a", "c → b"]


def test_the_page_says_how_many_pairs_it_shows():
    chart = strips_chart(replicability(scores((3, 7, 7))))
    assert chart["description"].endswith(" Shown are the 40 pairs with the widest spread.")
    assert len(chart["views"][0]["data"][1]["x"]) == 40
