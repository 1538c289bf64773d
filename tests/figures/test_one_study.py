"""Figures of one study: their numbers are those of the results."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.figures.samples import rendered, texts_of

import clustrep as cr
from clustrep.figures.charts import numbers
from clustrep.figures.one_study import ClusterBoxes, CurveOverK, GroupProportions, NoiseCurves, NullHistogram

WARD, THREE = AgglomerativeClustering(), AgglomerativeClustering(3)
FEW = {"n_resamples": 5, "rng": 0}


@pytest.fixture(scope="module")
def study(cohorts):
    return cohorts["alpha"]


def test_both_drawings_of_the_null_distribution_have_the_same_bars(study):
    result = cr.cluster_test(study, n_resamples=39, rng=0)
    figure = NullHistogram.of(result)
    assert figure.counts.sum() == 39
    ax = rendered(figure.draw())
    bars, line = figure.chart()["views"][0]["data"]
    assert [bar.get_height() for bar in ax.patches] == bars["y"] == figure.counts.tolist()
    assert [numbers(bar.get_x() + bar.get_width() / 2) for bar in ax.patches] == pytest.approx(bars["x"], rel=1e-5)
    assert line["x"] == numbers([result.statistic] * 2)
    assert ax.lines[0].get_xdata()[0] == result.statistic
    assert line["name"] == texts_of(ax.get_legend().get_texts())[1] == f"these data, p = {result.pvalue:.3g}"


@pytest.mark.parametrize(
    ("index", "levels", "up_to_one"),
    [("jaccard", ["dissolved", "recovered"], True), ("r", [], True), ("d", [], False), ("matching", [], False)],
)
def test_boxes_have_the_values_of_every_cluster(study, index, levels, up_to_one):
    result = cr.stability(THREE, study, index=index, **FEW)
    figure = ClusterBoxes.of(result)
    np.testing.assert_array_equal(figure.values, result.distribution.reshape(5, -1))
    assert figure.names == (("all",) if index == "matching" else ("0", "1", "2"))
    assert [word for word, _ in figure.levels] == levels
    ax = rendered(figure.draw())
    assert texts_of(ax.texts) == levels
    assert (ax.get_ylim() == (-0.03, 1.03)) is up_to_one
    assert ax.get_title() == "AgglomerativeClustering, k = 3"


def test_noise_curves_have_the_means_over_resamples(study):
    result = cr.sensitivity(THREE, study, **FEW)
    ax = rendered(NoiseCurves.of(result).draw())
    *clusters, overall = ax.lines
    np.testing.assert_array_equal([line.get_ydata() for line in clusters], result.per_cluster.T)
    np.testing.assert_array_equal(overall.get_ydata(), result.overall)
    assert (overall.get_color(), overall.get_label()) == ("black", "all")


@pytest.mark.parametrize("verb", [cr.prediction_strength, cr.bootstrap_instability])
def test_curves_over_k_are_in_the_order_of_k(study, verb):
    result = verb(WARD, study, n_clusters=[4, 2, 3], rng=0)
    frame = result.to_frame().sort_values("k")
    figure = CurveOverK.of(result)
    assert figure.ks.tolist() == [2, 3, 4]
    np.testing.assert_array_equal(figure.mean, frame["mean"])
    np.testing.assert_array_equal(np.column_stack([figure.low, figure.high]), frame[["low", "high"]])
    assert figure.has_threshold is (verb is cr.prediction_strength)
    rendered(figure.draw())


@pytest.mark.parametrize("n_neighbors", [1, [1, 2, 3]], ids=["one", "several"])
def test_proportions_are_bars_or_curves(study, n_neighbors):
    result = cr.in_group_proportion(study.X, np.arange(30) % 3, n_neighbors=n_neighbors)
    figure = GroupProportions.of(result)
    ax = rendered(figure.draw())
    if n_neighbors == 1:
        np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], result.proportions.ravel())
    else:
        np.testing.assert_array_equal([line.get_ydata() for line in ax.lines], result.proportions.T)
