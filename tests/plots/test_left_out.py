"""Each study against all others."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from tests.plots.samples import rendered

import clustrep as cr

THREE = AgglomerativeClustering(3)


def test_studies_left_out_have_their_scores(cohorts):
    result = cr.leave_one_study_out(THREE, cohorts, n_resamples=4, rng=0)
    frame = result.to_frame()
    ax = rendered(result.plot())
    mean, estimate = ax.lines
    np.testing.assert_array_equal(mean.get_ydata(), frame["mean"])
    np.testing.assert_array_equal(estimate.get_ydata(), frame["score"])
    ends = [[segment[0, 1], segment[1, 1]] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(ends, frame[["low", "high"]])
