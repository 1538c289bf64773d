"""Every result draws on the axes that it is given, returns them, and makes its own where none are given.

Its own figures are for one column of a journal: what they say can be read where they are printed 8 cm wide.
"""

from __future__ import annotations

import functools
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text
from sklearn.cluster import KMeans
from sklearn.metrics import fowlkes_mallows_score

import clustrep as cr
from clustrep import results
from clustrep.errors import ParameterError

COHORTS = cr.datasets.simulate_cohorts(
    n_cohorts=3, n_samples=30, n_features=3, n_subtypes=3, missing={}, shifted={}, rng=1
)
KMEANS = KMeans(3, n_init=2)
X = COHORTS["alpha"].X
QUICK = {"n_resamples": 3, "rng": 0}

# How to come by a result of every kind that can be drawn.
RESULTS = {
    "Analysis": lambda: cr.analyse(KMEANS, COHORTS, n_clusters=[2, 3], n_null=0, **QUICK),
    "Annotations": lambda: result_of("Analysis").annotations,
    "AssignmentConsistency": lambda: cr.stability.assignment_consistency(KMEANS, X, n_clusters=[2, 3], **QUICK),
    "BootstrapInstability": lambda: cr.stability.bootstrap_instability(KMEANS, X, n_clusters=[2, 3], **QUICK),
    "ClusterTest": lambda: cr.stability.cluster_test(X, n_resamples=19, rng=0),
    "ClusterTree": lambda: (
        cr.analyse(KMEANS, COHORTS, n_clusters=[2, 3], n_null=0, options=cr.RunOptions(recursive=True), **QUICK).tree
    ),
    "ClusteringTree": lambda: result_of("Analysis").clustering_tree,
    "Comparison": lambda: cr.compare(KMEANS, COHORTS, n_clusters=[2, 3], **QUICK),
    "Consensus": lambda: cr.stability.consensus(KMEANS, X, n_clusters=[2, 3], **QUICK),
    "Findings": lambda: result_of("Analysis").findings,
    "InGroupProportion": lambda: cr.stability.in_group_proportion(X, clusterer=KMEANS, rng=0),
    "LeaveOneStudyOut": lambda: cr.leave_one_study_out(KMEANS, COHORTS, **QUICK),
    "LocalReplicability": lambda: cr.local_replicability(KMEANS, train=COHORTS["alpha"], test=COHORTS["beta"], **QUICK),
    "NullReference": lambda: cr.null_reference(cr.compare(KMEANS, COHORTS, n_clusters=[2, 3], **QUICK), n=19, rng=0),
    "PredictionStrength": lambda: cr.stability.prediction_strength(KMEANS, X, n_clusters=[2, 3], n_splits=3, rng=0),
    "RelativeValidation": lambda: cr.stability.relative_validation(KMEANS, X, n_clusters=[2, 3], n_splits=3, rng=0),
    "Replicability": lambda: cr.replicability(KMEANS, COHORTS, **QUICK),
    "Sensitivity": lambda: cr.stability.sensitivity(KMEANS, X, scales=[0.01, 2], **QUICK),
    "Separation": lambda: cr.separation.density_valleys(KMEANS, COHORTS, n_clusters=[3], rng=0),
    "Stability": lambda: cr.stability.stability(KMEANS, X, **QUICK),
    "Validation": lambda: cr.stability.validate(KMEANS, X, n_clusters=[2, 3], indices="jaccard", **QUICK),
}
COLUMN, SMALLEST = 80 / 25.4, 5.0  # inches, points
DRAWN = sorted(name for name in results.__all__ if hasattr(getattr(results, name), "plot"))


@functools.cache
def result_of(name):
    return RESULTS[name]()


def test_all_that_can_be_drawn_are_here():
    assert sorted(RESULTS) == DRAWN


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_draws_on_the_axes_given_and_returns_them(name):
    result = result_of(name)
    assert type(result).__name__ == name
    figure, (beside, ax) = plt.subplots(1, 2)
    before = len(ax.get_children())
    assert result.plot(ax) is ax
    assert len(ax.get_children()) > before
    assert not beside.has_data()
    assert plt.get_fignums() == [figure.number]
    plt.close(figure)
    drawn = result.plot()
    axes = drawn.ravel().tolist() if isinstance(drawn, np.ndarray) else [drawn]
    assert all(isinstance(each, Axes) for each in axes)
    assert len(plt.get_fignums()) == 1
    with pytest.raises(ParameterError):
        result.plot(axes[0].figure)


def curves_of(clusterers, **options):
    return cr.compare(clusterers, COHORTS, n_clusters=[2, 3], **QUICK, **options).plot()


# Kinds of figures beside the first, and what has several panels.
FIGURES = {
    **{name: functools.partial(lambda name: result_of(name).plot(), name) for name in RESULTS},
    "studies": lambda: result_of("Analysis").plot(by="study"),
    "valleys": lambda: result_of("Findings").plot(kind="valleys"),
    "features": lambda: result_of("Findings").plot(kind="features"),
    "forest": lambda: result_of("Replicability").plot(kind="forest"),
    "clusters": lambda: result_of("LocalReplicability").plot(kind="clusters"),
    "four clusterers": lambda: curves_of(dict.fromkeys(("k-means", "Ward", "complete linkage", "mixture"), KMEANS)),
    "four laboratories": lambda: cr.replicability(
        KMeans(2, n_init=1), {f"lab {i}": X for i in range(1, 5)}, **QUICK
    ).plot(),
    "a long name": lambda: curves_of(KMEANS, agreement=fowlkes_mallows_score),
    "proportions": lambda: cr.stability.in_group_proportion(X, COHORTS["alpha"].labels, n_neighbors=[1, 2, 3]).plot(),
    "all indices": lambda: cr.stability.validate(KMEANS, X, n_clusters=[2, 3], n_splits=3, **QUICK).plot(),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_can_be_read_in_a_column_of_8_cm(name):
    drawn = FIGURES[name]()
    figure = np.ravel(drawn)[0].figure
    figure.draw_without_rendering()
    shrunk = min(1.0, COLUMN / figure.get_figwidth())
    axes = [axis for ax in figure.axes if ax.get_visible() for axis in (ax.xaxis, ax.yaxis)]
    ticks = {axis: [tick.label1 for tick in axis._update_ticks()] for axis in axes}  # those within the limits
    beyond = {tick.label1 for axis in axes for tick in axis.majorTicks + axis.minorTicks}.difference(*ticks.values())
    words = {word for word in figure.findobj(Text) if word.get_visible() and word.get_text().strip()} - beyond
    assert len(words) >= 3
    assert min(word.get_fontsize() for word in words) * shrunk >= SMALLEST
    for word in words:
        box = word.get_window_extent()
        assert box.x0 > -1, word
        assert box.y0 > -1, word
        assert box.x1 < figure.bbox.x1 + 1, word
        assert box.y1 < figure.bbox.y1 + 1, word
    for labels in ticks.values():
        boxes = [label.get_window_extent() for label in labels if label in words]
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes)), labels
