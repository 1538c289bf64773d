"""The figure of clusters within clusters."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plots.samples import NAMES, rendered, texts_of

from clustrep.findings.cluster_tree import ClusterTree, NestedClusters
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


def test_the_drawing_has_all_branches_and_signs(tree):
    figure = NestedClusters.of(tree)
    ax = rendered(figure.draw())
    np.testing.assert_array_equal([line.get_xydata().T for line in ax.lines], figure.branches)
    assert [texts_of(ax.texts)[5 * row] for row in range(5)] == list(figure.clusters)
    assert texts_of(ax.texts)[-4:] == ["✓ 10", "✗ 0", "? 5", "⋏ 5"]


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
    assert len(rendered(figure.draw()).texts) == 1 + len(NAMES)
