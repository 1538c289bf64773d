"""Figures of one study: the numbers are those of the results."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from tests.plots.samples import rendered, texts_of

import clustrep as cr

WARD, THREE = AgglomerativeClustering(), AgglomerativeClustering(3)
FEW = {"n_resamples": 5, "rng": 0}


@pytest.fixture(scope="module")
def study(cohorts):
    return cohorts["alpha"]


def test_the_null_distribution_has_a_bar_for_its_values(study):
    result = cr.stability.cluster_test(study, n_resamples=39, rng=0)
    ax = rendered(result.plot())
    assert sum(bar.get_height() for bar in ax.patches) == 39
    edges = [bar.get_x() for bar in ax.patches] + [ax.patches[-1].get_x() + ax.patches[-1].get_width()]
    counts = [bar.get_height() for bar in ax.patches]
    assert np.histogram(result.null_distribution, edges)[0].tolist() == counts
    assert ax.lines[0].get_xdata()[0] == result.statistic


@pytest.mark.parametrize("index", ["jaccard", "r", "d", "matching"])
def test_boxes_have_the_values_of_every_cluster(study, index):
    result = cr.stability.stability(THREE, study, index=index, **FEW)
    ax = rendered(result.plot())
    dots = [line.get_ydata() for line in ax.lines if line.get_marker() == "."]
    np.testing.assert_array_equal(dots, result.distribution.reshape(5, -1).T)
    assert texts_of(ax.get_xticklabels()) == (["all"] if index == "matching" else ["0", "1", "2"])
    assert (ax.get_ylim() == (-0.03, 1.03)) is (index in ("jaccard", "r"))


@pytest.mark.parametrize("verb", [cr.stability.prediction_strength, cr.stability.bootstrap_instability])
def test_curves_over_k_are_in_the_order_of_k(study, verb):
    result = verb(WARD, study, n_clusters=[4, 2, 3], rng=0)
    frame = result.to_frame().sort_values("k")
    ax = rendered(result.plot())
    assert ax.lines[0].get_xdata().tolist() == [2, 3, 4]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), frame["mean"])
    band = ax.collections[0].get_paths()[0].vertices
    assert set(frame["low"]) | set(frame["high"]) <= set(band[:, 1])


@pytest.mark.parametrize("n_neighbors", [1, [1, 2, 3]], ids=["one", "several"])
def test_proportions_are_bars_or_curves(study, n_neighbors):
    result = cr.stability.in_group_proportion(study.X, np.arange(30) % 3, n_neighbors=n_neighbors)
    ax = rendered(result.plot())
    drawn = [bar.get_height() for bar in ax.patches] if n_neighbors == 1 else [line.get_ydata() for line in ax.lines]
    np.testing.assert_array_equal(drawn, result.proportions.T)


def test_consensus_has_a_curve_for_every_k_and_assignments_are_in_the_order_of_k(study):
    result = cr.stability.consensus(WARD, study, n_clusters=[2, 3], **FEW)
    for line, k in zip(rendered(result.plot()).lines, (2, 3), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), result.cdf(line.get_xdata().tolist(), k))
    result = cr.stability.assignment_consistency(WARD, study, n_clusters=[3, 2], **FEW)
    ax = rendered(result.plot())
    *clusters, overall = ax.lines
    assert texts_of(ax.get_xticklabels()) == ["2", "3"]
    assert [len(line.get_ydata()) for line in clusters] == [2, 3]
    np.testing.assert_array_equal(overall.get_ydata(), result.twcri[::-1])


def test_an_index_has_a_line_and_a_point_for_every_cluster(study):
    validation = cr.stability.validate(WARD, study, n_clusters=[3, 2], indices=("jaccard", "pac", "test"), **FEW)
    axes, frame, overall = rendered(validation.plot()), validation.to_frame(), validation.overall()
    for ax, index in zip(axes.flat, ("jaccard", "pac"), strict=True):
        points, line = ax.lines
        np.testing.assert_array_equal(points.get_ydata(), frame["value"][(frame["index"] == index) & ~validation.whole])
        assert line.get_xdata().tolist() == [2, 3]
        np.testing.assert_array_equal(line.get_ydata(), overall[index].to_numpy(float))
    rendered(cr.stability.validate(DBSCAN(2.5, min_samples=3), study, indices="jaccard", **FEW).plot())
