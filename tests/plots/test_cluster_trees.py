"""The figure of clusters within clusters."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plots.samples import NAMES, rendered, texts_of

from clustrep.findings.cluster_tree import ClusterTree, NestedClusters
from clustrep.plots.charts import escaped, numbers
from clustrep.provenance import Provenance


@pytest.fixture
def tree():
    words = [[""] * 4, ["found"] * 4, ["found", "not found", "undetermined", "split"], ["found"] * 4, ["merged"] * 4]
    counts = [[40, 30, 20, 10], [30, 30, 15, 5], [10, 0, 5, 5], [20, 20, 10, 2], [10, 10, 5, 3]]
    return ClusterTree(
        names=NAMES,
        clusters=("all", "A", "B", "A.1", "A.2"),
        parent=np.array([-1, 0, 0, 1, 1]),
        counts=np.array(counts),
        words=np.array(words),
        outcome=("split", "split", "no density valley within", "no density valley within", "too few samples to split"),
        level=np.array([0.05, 0.04, 0.01, 0.02, 0.01]),
        adjusted=np.array([1e-9, 1e-3, 1.0, 0.3, np.nan]),
        clusterer=("ward", "ward", "", "", ""),
        n_pieces=(2, 2, None, None, None),
        labels=np.zeros(100, dtype=int),
        provenance=Provenance(seed=1),
    )


def test_parts_stand_below_what_they_are_part_of(tree):
    figure = NestedClusters.of(tree)
    assert figure.clusters == ("all", "A", "A.1", "A.2", "B")
    assert figure.depth.tolist() == [0, 1, 2, 2, 1]
    starts, ends = figure.branches[:, :, 0], figure.branches[:, :, 2]
    assert starts.tolist() == [[0, 0], [1, 1], [1, 1], [0, 0]]
    assert ends.tolist() == [[1, 1], [2, 2], [2, 3], [1, 4]]


def test_both_drawings_have_the_same_lines_and_signs(tree):
    figure = NestedClusters.of(tree)
    ax = rendered(figure.draw())
    traces = figure.chart()["views"][0]["data"]
    lines = [trace for trace in traces if trace["mode"] == "lines"]
    assert [trace["x"] for trace in lines] == [numbers(line.get_xdata()) for line in ax.lines]
    assert [trace["y"] for trace in lines] == [numbers(line.get_ydata()) for line in ax.lines]
    columns = [trace["text"] for trace in traces if trace["mode"] == "text"]
    written = texts_of(ax.texts)
    assert sorted(written) == sorted([*figure.clusters, *(sign for column in columns for sign in column)])
    assert [column[4] for column in columns] == ["✓ 10", "✗ 0", "? 5", "⋏ 5"]
    assert figure.chart()["views"][0]["layout"]["xaxis"]["ticktext"] == [escaped(name) for name in NAMES]


def test_a_tree_of_one_cluster_can_be_drawn(tree):
    alone = ClusterTree(
        **{
            **vars(tree),
            "clusters": ("all",),
            **{name: getattr(tree, name)[:1] for name in ("parent", "counts", "words", "level", "adjusted")},
            **{name: getattr(tree, name)[:1] for name in ("clusterer", "n_pieces")},
            "outcome": ("no density valley within",),
        }
    )
    figure = NestedClusters.of(alone)
    assert not len(figure.branches)
    rendered(figure.draw())
    assert len(figure.chart()["views"][0]["data"]) == 1 + len(NAMES)
