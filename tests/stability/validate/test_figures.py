"""The plots of one study: on the axes given, with the numbers of the result."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans
from tests.stability.validate.cases import KMEANS, LABELS, ROOT, B, X

import clustrep as cr
from clustrep.errors import ParameterError


def drawn(result):
    """Draw on axes of ours; nothing else may change. The plot makes its own where it is given none."""
    _, (ax, other) = plt.subplots(1, 2)
    before, figures = dict(plt.rcParams), plt.get_fignums()
    plt.sca(other)
    assert result.plot(ax) is ax
    assert result.plot(ax=other) is other
    assert plt.gca() is other
    assert plt.get_fignums() == figures
    own = result.plot()
    assert own is not ax
    assert plt.get_fignums() == [*figures, figures[-1] + 1]
    assert dict(plt.rcParams) == before
    for wrong in (np.array([ax, other]), "ax", ax.figure):
        with pytest.raises(ParameterError, match="ax must be a matplotlib Axes, got"):
            result.plot(wrong)
    return ax


@pytest.mark.parametrize("index", ["matching", "inclusion", "jaccard", "r", "d"])
def test_stability_is_drawn_by_cluster(index):
    result = cr.stability.stability(KMeans(3, n_init=2), X, index=index, relative=True, n_resamples=B, rng=ROOT)
    ax = drawn(result)
    names = ["all"] if index == "matching" else ["0", "1", "2"]
    assert [text.get_text() for text in ax.get_xticklabels()] == names
    values = result.distribution.reshape(B, -1)
    dots = [line for line in ax.lines if line.get_marker() == "."]
    assert len(dots) == len(names)
    for i, (line, column) in enumerate(zip(dots, values.T, strict=True), 1):
        np.testing.assert_array_equal(line.get_ydata(), column)
        assert (np.abs(line.get_xdata() - i) < 0.3).all()
    medians = [line for line in ax.lines if line.get_color() == "#D55E00"]
    np.testing.assert_allclose([line.get_ydata()[0] for line in medians], np.median(values, axis=0))
    label = {
        "matching": "minimal matching distance, relative",
        "inclusion": "Smolkin–Ghosh inclusion",
        "jaccard": "Jaccard coefficient",
        "r": "R index",
        "d": "D index, relative",
    }[index]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("cluster", label, "KMeans, k = 3")
    if index not in ("matching", "d"):
        assert ax.get_ylim() == (-0.03, 1.03)
    assert [text.get_text() for text in ax.texts] == (["dissolved", "recovered"] if index == "jaccard" else [])


def test_a_cluster_without_values_is_drawn_as_nothing():
    labels = [0] * 20 + [1] * 9 + [2]
    result = cr.stability.stability(KMeans(3, n_init=2), X, index="r", labels=labels, n_resamples=B, rng=ROOT)
    assert np.isnan(result.distribution[:, 2]).all()
    assert [text.get_text() for text in result.plot().get_xticklabels()] == ["0", "1", "2"]


def test_names_of_many_clusters_are_left_out():
    result = cr.stability.stability(KMeans(16, n_init=1), X, index="inclusion", n_resamples=2, rng=ROOT)
    assert [text.get_text() for text in result.plot().get_xticklabels()] == [""] * 16


@pytest.mark.parametrize("index", ["matching", "r"])
def test_sensitivity_is_drawn_over_the_noise(index):
    result = cr.stability.sensitivity(
        KMeans(2, n_init=2), X, index=index, scales=[0.1, 0.5, 1], n_resamples=3, rng=ROOT
    )
    ax = drawn(result)
    *clusters, whole = ax.lines
    assert len(clusters) == (0 if index == "matching" else 2)
    np.testing.assert_array_equal(whole.get_xdata(), [0.1, 0.5, 1])
    np.testing.assert_array_equal(whole.get_ydata(), result.overall)
    for i, line in enumerate(clusters):
        np.testing.assert_array_equal(line.get_ydata(), result.per_cluster[:, i])
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == (["all"] if index == "matching" else ["cluster 0", "cluster 1", "all"])
    assert ax.get_xlabel() == "noise, in standard deviations of each feature"


@pytest.mark.parametrize(
    ("verb", "label", "n"),
    [
        (cr.stability.prediction_strength, "prediction strength", "n_splits"),
        (cr.stability.relative_validation, "relative validation", "n_splits"),
        (cr.stability.bootstrap_instability, "bootstrap instability", "n_resamples"),
    ],
)
def test_curves_are_drawn_over_k(verb, label, n):
    result = verb(KMEANS, X, n_clusters=[4, 2, 3], rng=ROOT, **{n: 4})
    ax = drawn(result)
    (line,) = ax.lines
    assert line.get_xdata().tolist() == [2, 3, 4]
    np.testing.assert_array_equal(line.get_ydata(), result.mean[[1, 2, 0]])
    low, high = result.confidence_interval()
    band = ax.collections[0].get_paths()[0].vertices
    for k, at in ((2, 1), (3, 2), (4, 0)):
        own = band[band[:, 0] == k, 1]
        assert (own.min(), own.max()) == (low[at], high[at])
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("number of clusters k", label, "KMeans")
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] == 1.03 if verb is cr.stability.prediction_strength else ax.get_ylim()[1] >= high.max()
    with pytest.raises(ParameterError, match="There is no number of clusters to draw against: pass n_clusters"):
        verb(DBSCAN(1.1, min_samples=3), X, rng=ROOT, **{n: 2}).plot()


def test_in_group_proportions_are_drawn_as_bars_or_over_the_neighbours():
    result = cr.stability.in_group_proportion(X, LABELS)
    ax = drawn(result)
    np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], result.proportions)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["basal", "her2", "lum"]
    assert (ax.get_ylim(), ax.get_xlabel(), ax.get_ylabel()) == ((0, 1.03), "cluster", "in-group proportion")
    result = cr.stability.in_group_proportion(X, LABELS, n_neighbors=[1, 2, 4])
    ax = drawn(result)
    for i, line in enumerate(ax.lines):
        np.testing.assert_array_equal(line.get_ydata(), result.proportions[:, i])
        assert line.get_xdata().tolist() == [1, 2, 4]
    assert ax.get_xticks().tolist() == [1, 2, 4]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["cluster basal", "cluster her2", "cluster lum"]
    assert ax.get_ylim() == (0, 1.03)


def test_the_test_for_clusters_is_drawn_with_its_null():
    result = cr.stability.cluster_test(X, n_resamples=40, rng=ROOT)
    ax = drawn(result)
    assert sum(bar.get_height() for bar in ax.patches) == 40
    assert ax.lines[0].get_xdata()[0] == result.statistic
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"these data, p = {result.pvalue:.3g}" in texts
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("statistic", "data sets")


def test_consensus_and_assignments_are_drawn_on_the_axes_given():
    ax = drawn(cr.stability.consensus(KMEANS, X, n_clusters=[2, 3], n_resamples=3, rng=ROOT))
    assert ax.get_title() == "KMeans"
    ax = drawn(cr.stability.assignment_consistency(KMEANS, X, n_clusters=[2, 3], n_resamples=3, rng=ROOT))
    assert ax.get_title() == "KMeans"
