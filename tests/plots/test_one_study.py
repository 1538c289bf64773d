"""Figures of one study: their numbers are those of the results."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.plots.samples import rendered, texts_of

import clustrep as cr
from clustrep.plots.charts import numbers
from clustrep.stability.plots import null_distribution_chart

WARD, THREE = AgglomerativeClustering(), AgglomerativeClustering(3)
FEW = {"n_resamples": 5, "rng": 0}


@pytest.fixture(scope="module")
def study(cohorts):
    return cohorts["alpha"]


def test_both_drawings_of_the_null_distribution_have_the_same_bars(study):
    result = cr.stability.cluster_test(study, n_resamples=39, rng=0)
    ax = rendered(result.plot())
    bars, line = null_distribution_chart(result)["views"][0]["data"]
    assert sum(bars["y"]) == 39
    assert [bar.get_height() for bar in ax.patches] == bars["y"]
    assert [numbers(bar.get_x() + bar.get_width() / 2) for bar in ax.patches] == pytest.approx(bars["x"], rel=1e-5)
    assert line["x"] == numbers([result.statistic] * 2)
    assert ax.lines[0].get_xdata()[0] == result.statistic
    assert line["name"] == texts_of(ax.get_legend().get_texts())[1] == f"these data, p = {result.pvalue:.3g}"


@pytest.mark.parametrize(
    ("index", "levels", "up_to_one"),
    [("jaccard", ["dissolved", "recovered"], True), ("r", [], True), ("d", [], False), ("matching", [], False)],
)
def test_boxes_have_the_values_of_every_cluster(study, index, levels, up_to_one):
    result = cr.stability.stability(THREE, study, index=index, **FEW)
    ax = rendered(result.plot())
    dots = [line.get_ydata() for line in ax.lines if line.get_marker() == "."]
    np.testing.assert_array_equal(dots, result.distribution.reshape(5, -1).T)
    assert texts_of(ax.get_xticklabels()) == (["all"] if index == "matching" else ["0", "1", "2"])
    assert texts_of(ax.texts) == levels
    assert (ax.get_ylim() == (-0.03, 1.03)) is up_to_one
    assert ax.get_title() == "AgglomerativeClustering, k = 3"


def test_noise_curves_have_the_means_over_resamples(study):
    result = cr.stability.sensitivity(THREE, study, **FEW)
    ax = rendered(result.plot())
    *clusters, overall = ax.lines
    np.testing.assert_array_equal([line.get_ydata() for line in clusters], result.per_cluster.T)
    np.testing.assert_array_equal(overall.get_ydata(), result.overall)
    assert (overall.get_color(), overall.get_label()) == ("black", "all")


@pytest.mark.parametrize("verb", [cr.stability.prediction_strength, cr.stability.bootstrap_instability])
def test_curves_over_k_are_in_the_order_of_k(study, verb):
    result = verb(WARD, study, n_clusters=[4, 2, 3], rng=0)
    frame = result.to_frame().sort_values("k")
    ax = rendered(result.plot())
    assert ax.lines[0].get_xdata().tolist() == [2, 3, 4]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), frame["mean"])
    band = ax.collections[0].get_paths()[0].vertices
    assert set(frame["low"]) | set(frame["high"]) <= set(band[:, 1])
    assert bool(ax.patches) is (verb is cr.stability.prediction_strength)


@pytest.mark.parametrize("n_neighbors", [1, [1, 2, 3]], ids=["one", "several"])
def test_proportions_are_bars_or_curves(study, n_neighbors):
    result = cr.stability.in_group_proportion(study.X, np.arange(30) % 3, n_neighbors=n_neighbors)
    ax = rendered(result.plot())
    if n_neighbors == 1:
        np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], result.proportions.ravel())
    else:
        np.testing.assert_array_equal([line.get_ydata() for line in ax.lines], result.proportions.T)
