"""Consensus, assignments and all indices over the number of clusters."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from tests.plots.samples import rendered, texts_of

import clustrep as cr
from clustrep.plots.charts import numbers
from clustrep.stability.plots import indices_chart

WARD = AgglomerativeClustering()
FEW = {"n_resamples": 4, "rng": 0}


@pytest.fixture(scope="module")
def validation(cohorts):
    return cr.stability.validate(WARD, cohorts["alpha"], n_clusters=[3, 2], indices=("jaccard", "pac", "test"), **FEW)


def test_both_drawings_of_an_index_have_the_same_numbers(validation):
    axes = rendered(validation.plot())
    views = indices_chart(validation)["views"]
    assert [view["name"] for view in views] == ["Jaccard coefficient", "ambiguous pairs (PAC)"]
    for ax, view in zip(axes.flat, views, strict=True):
        clusters, whole = view["data"]
        points, line = ax.lines
        assert clusters["y"] == numbers(points.get_ydata())
        assert whole["x"] == line.get_xdata().tolist() == [2, 3]
        assert whole["y"] == numbers(line.get_ydata())
        assert ax.get_title().split() == view["layout"]["yaxis"]["title"]["text"].split()
    assert axes[0, 0].figure.get_suptitle().endswith(f"test for clusters: p = {validation.pvalue:.3g}")


def test_indices_without_a_number_of_clusters_are_drawn(cohorts):
    result = cr.stability.validate(DBSCAN(2.5, min_samples=3), cohorts["alpha"], indices=("jaccard",), **FEW)
    rendered(result.plot())
    (view,) = indices_chart(result)["views"]
    assert view["layout"]["xaxis"]["title"]["text"] == "(no number of clusters to set)"
    json.dumps(view, allow_nan=False)


def test_a_test_alone_has_no_chart(cohorts):
    result = cr.stability.validate(WARD, cohorts["alpha"], n_clusters=2, indices="test", **FEW)
    assert indices_chart(result) is None


def test_consensus_has_a_curve_for_every_k(cohorts):
    result = cr.stability.consensus(WARD, cohorts["alpha"], n_clusters=[2, 3], **FEW)
    ax = rendered(result.plot())
    for line, k in zip(ax.lines, (2, 3), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), result.cdf(line.get_xdata().tolist(), k))
    pac = result.pac()
    assert texts_of(ax.get_legend().get_texts()) == [f"k = 2, PAC {pac[0]:.2f}", f"k = 3, PAC {pac[1]:.2f}"]


def test_assignments_are_in_the_order_of_k(cohorts):
    result = cr.stability.assignment_consistency(WARD, cohorts["alpha"], n_clusters=[3, 2], **FEW)
    ax = rendered(result.plot())
    *clusters, overall = ax.lines
    assert texts_of(ax.get_xticklabels()) == ["2", "3"]
    assert [len(line.get_ydata()) for line in clusters] == [2, 3]
    np.testing.assert_array_equal(overall.get_ydata(), result.twcri[::-1])
