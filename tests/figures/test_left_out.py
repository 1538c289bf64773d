"""The tree of studies, counterparts of clusters, and each study against all others."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.figures.samples import rendered, replicability, scores, texts_of

import clustrep as cr
from clustrep.figures.charts import numbers
from clustrep.figures.study_relations import CounterpartMap, LeftOutScores, StudyTree

THREE = AgglomerativeClustering(3)


@pytest.fixture(scope="module")
def relations():
    return replicability(scores((25, 5, 5))).relations()


def test_the_tree_merges_at_the_heights_of_the_relations(relations):
    tree = StudyTree.of(relations)
    assert sorted(tree.height.max(axis=1)) == pytest.approx(sorted(relations.tree[:, 2]))
    assert tree.names == tuple(relations.names[i] for i in relations.order)
    leaves = tree.along[tree.height == 0]
    assert sorted(set(leaves.tolist())) == [0, 1, 2, 3, 4]


def test_both_drawings_of_the_tree_have_the_same_lines(relations):
    tree = StudyTree.of(relations)
    ax = rendered(tree.draw())
    traces = tree.chart()["views"][0]["data"]
    segments = ax.collections[0].get_segments()
    assert [trace["y"] for trace in traces] == [numbers(segment[:, 0]) for segment in segments]
    assert [trace["x"] for trace in traces] == [numbers(segment[:, 1]) for segment in segments]
    assert texts_of(ax.get_xticklabels()) == tree.chart()["views"][0]["layout"]["yaxis"]["ticktext"]


def test_studies_that_agree_in_everything_have_a_tree():
    tree = StudyTree.of(replicability(np.ones((20, 3, 3))).relations())
    assert not tree.height.any()
    rendered(tree.draw())


def test_counterparts_are_those_of_the_result(cohorts):
    result = cr.counterparts(THREE, cohorts, n_resamples=2, rng=0)
    figure = CounterpartMap.of(result, "beta")
    frame = result.to_frame()
    frame = frame[frame["train"] == "beta"]
    assert figure.studies == ("alpha", "gamma")
    for i, cluster in enumerate(figure.clusters):
        rows = frame[frame["cluster"] == cluster].set_index("test").loc[list(figure.studies)]
        np.testing.assert_array_equal(figure.overlap[i], rows["overlap"])
        assert list(figure.counterparts[i]) == rows["counterpart"].tolist()
    ax = rendered(figure.draw())
    np.testing.assert_array_equal(ax.images[0].get_array(), figure.overlap)
    assert texts_of(ax.get_yticklabels()) == list(figure.clusters)


def test_studies_left_out_have_their_scores(cohorts):
    result = cr.leave_one_study_out(THREE, cohorts, n_resamples=4, rng=0)
    frame = result.to_frame()
    ax = rendered(LeftOutScores.of(result).draw())
    mean, estimate = ax.lines
    np.testing.assert_array_equal(mean.get_ydata(), frame["mean"])
    np.testing.assert_array_equal(estimate.get_ydata(), frame["score"])
    ends = [[segment[0, 1], segment[1, 1]] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(ends, frame[["low", "high"]])
