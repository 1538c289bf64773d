"""Scores beside those of data without clusters."""

from __future__ import annotations

import numpy as np
from tests.plots.samples import rendered, replicability, scores

from clustrep.null.null_scores import NullReference, NullScores


def test_many_pairs_beside_data_without_clusters_are_those_with_the_largest_excess():
    of = replicability(scores((2, 8, 8)))
    observed = NullScores(of.estimate[None, None], np.empty(0))
    simulated = NullScores(scores((9, 1, 1, 8, 8), 3), np.empty((9, 0)))
    reference = NullReference.of(of, "estimate", observed, simulated, "gaussian", {"seed": 1})
    ax = rendered(reference.plot())
    assert ax.get_title() == "30 of 56 pairs: the largest excess"
    frame = reference.to_frame()
    largest = frame.sort_values("excess", ascending=False)[:30].sort_index()
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), largest["observed"])
