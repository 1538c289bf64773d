"""Curves over k: means, intervals, deviations, and scores of data without clusters."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from tests.plots.samples import LETTERS, comparison, inches, over_k, reference_of, rendered, scores, texts_of

from clustrep.errors import ParameterError
from clustrep.plots.canvas import COLOURS, DOUBLE, MARKERS, SINGLE


def test_curves_show_means_intervals_and_deviations():
    result = over_k(["ward", "k-means"], [4, 2, 3])
    ax = rendered(result.plot(agreement="ami"))
    summary = result.summary()
    off = ~np.eye(3, dtype=bool)
    for i, name in enumerate(["ward", "k-means"]):
        own = summary[(summary["clusterer"] == name) & (summary["agreement"] == "ami")].sort_values("k")
        line = ax.lines[i]
        assert line.get_xdata().tolist() == [2, 3, 4]
        np.testing.assert_allclose(line.get_ydata(), own["score"])
        assert (line.get_color(), line.get_marker(), line.get_label()) == (COLOURS[i], MARKERS[i], name)
        band, bars = ax.collections[2 * i : 2 * i + 2]
        assert to_hex(band.get_facecolor()[0]) == COLOURS[i].lower()
        for k, low, high in zip(own["k"], own["low"], own["high"], strict=True):
            at_k = band.get_paths()[0].vertices
            at_k = at_k[at_k[:, 0] == k, 1]
            np.testing.assert_allclose((at_k.min(), at_k.max()), (low, high))
        averages = result.distribution[[own.index[j] // 2 for j in range(3)], 1][..., off].mean(axis=-1)
        lengths = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
        np.testing.assert_allclose(lengths, 2 * averages.std(axis=1, ddof=1))
        assert to_hex(bars.get_color()[0]) == COLOURS[i].lower()
    assert texts_of(ax.get_legend().get_texts()) == ["ward", "k-means", "± sd over resamples", "95 % interval"]
    assert ax.get_ylabel() == "AMI, mean over pairs of studies"
    assert ax.get_xticks().tolist() == [2, 3, 4]
    np.testing.assert_allclose(inches(ax)[0], SINGLE)


def test_five_clusterers_and_forty_k_have_few_ticks_and_double_width():
    result = comparison(
        [name for name in "vwxyz" for _ in range(39)] + ["own"], [*list(range(2, 41)) * 5, None], agreements=("ari",)
    )
    ax = rendered(result.plot())
    assert len(ax.lines) == 6
    assert len({line.get_color() for line in ax.lines}) == 6
    assert len(ax.get_xticks()) <= 12
    np.testing.assert_allclose(inches(ax)[0], DOUBLE)
    legend = ax.get_legend().get_window_extent()
    assert legend.y0 >= ax.get_window_extent().y1
    assert ax.lines[5].get_linestyle() != "-"
    assert ax.lines[5].get_ydata()[0] == result.summary()["score"].iloc[-1]


def test_no_two_of_many_clusterers_look_the_same():
    ax = rendered(over_k(LETTERS, [2, 3], agreements=("ari",)).plot())
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in ax.lines}) == len(LETTERS)


def test_ks_that_stand_close_are_not_all_labelled():
    ax = over_k(["ward"], [2, 3, 4, 100]).plot()
    assert ax.get_xticks().tolist() != [2, 3, 4, 100]
    assert over_k(["ward"], [2, 5, 30]).plot().get_xticks().tolist() == [2, 5, 30]


def test_a_reference_is_grey_for_one_clusterer():
    result = over_k(["ward"], [2, 3, 4])
    reference = reference_of(result)
    ax = rendered(result.plot(reference=reference))
    mean = ax.lines[1]
    assert (mean.get_color(), mean.get_linestyle()) == ("0.35", "--")
    np.testing.assert_allclose(mean.get_ydata(), reference.overall_distribution[:, :, 0].mean(axis=0))
    low, high = np.quantile(reference.overall_distribution[:, :, 0], [0.025, 0.975], axis=0)
    band = ax.collections[2].get_paths()[0].vertices
    for i, k in enumerate([2, 3, 4]):
        own = band[band[:, 0] == k, 1]
        np.testing.assert_allclose((own.min(), own.max()), (low[i], high[i]))
    np.testing.assert_allclose(ax.collections[3].get_offsets()[:, 1], reference.overall[:, 0])
    assert texts_of(ax.get_legend().get_texts())[-2:] == ["R̂ null distribution, 95 %", "observed score R̂"]


def test_a_reference_is_hatched_for_several_and_named_for_what_it_is():
    result = comparison(["ward", "ward", "own"], [2, 3, None])
    ax = rendered(result.plot(reference=reference_of(result, "mean")))
    hatched = [band for band in ax.collections if band.get_hatch()]
    assert [to_hex(band.get_edgecolor()[0]) for band in hatched] == [colour.lower() for colour in COLOURS[:2]]
    assert len({band.get_hatch() for band in hatched}) == 2
    assert texts_of(ax.get_legend().get_texts())[-1] == "null distribution, 95 %"


def test_a_reference_of_something_else_is_refused():
    result = over_k(["ward"], [2, 3])
    with pytest.raises(ParameterError):
        result.plot(reference=reference_of(over_k(["ward"], [2, 3, 4])))


def test_curves_bear_what_is_missing():
    distribution = scores((4, 1, 1, 2, 2))
    distribution[1] = np.nan
    one = comparison(["a", "a", "a", "b"], [2, 3, 4, None], B=1, S=2, agreements=("mi",), distribution=3 * distribution)
    ax = rendered(one.plot())
    assert np.isnan(ax.lines[0].get_ydata()).tolist() == [False, True, False]
    assert ax.get_ylim()[1] > 3 * np.nanmax(distribution[:3].mean(axis=(-1, -2)))
    none = comparison(["a"], [None], B=1, S=2, agreements=("ari",), distribution=np.full((1, 1, 1, 2, 2), np.nan))
    ax = rendered(none.plot())
    assert ax.get_xlabel() == "(no number of clusters to set)"
    assert ax.get_xticks().tolist() == []
