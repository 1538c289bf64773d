"""Results of stability: summaries, frames, files and figures."""

from __future__ import annotations

import math
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from tests.stability.stability.cases import (
    DENSITY,
    INDICES,
    LINE,
    N_RESAMPLES,
    SCATTERED,
    SEED,
    WARD,
    N,
    X,
    equal,
    missing_first_point,
    stable,
)

import clustrep as cr
from clustrep.errors import ParameterError, ReplicateWarning


def with_values(result, values):
    """The same result with a distribution written by hand."""
    values = np.array(values, dtype=float)
    return replace(result, distribution=values, overall_distribution=values.mean(axis=1))


def test_dissolved_is_at_most_a_half_and_recovered_is_above_three_quarters(jaccard):
    values = [[0.5, 0.75, np.nan], [0.500001, 0.750001, 1.0], [0.0, 0.74, 0.2]]
    result = with_values(jaccard, values)
    assert result.dissolved().tolist() == [2, 0, 1]
    assert result.recovered().tolist() == [0, 1, 1]
    assert result.dissolved(0.2).tolist() == [1, 0, 1]
    assert result.recovered(0.5).tolist() == [1, 3, 1]
    frame = result.to_frame()
    assert frame["dissolved"].tolist() == [2, 0, 1]
    assert frame["recovered"].tolist() == [0, 1, 1]


@pytest.mark.parametrize("index", [index for index in INDICES if index != "jaccard"])
def test_clusters_dissolve_and_recover_by_jaccard_alone(index):
    result = stable(WARD, X, index=index)
    for count in (result.dissolved, result.recovered):
        with pytest.raises(
            ParameterError, match=rf'Clusters dissolve and recover by index="jaccard" alone, not by .{index}'
        ):
            count()
    assert not {"dissolved", "recovered"} & set(result.to_frame().columns)


def test_words_say_whose_labels_are_found_again(jaccard):
    start = (
        "Stability of known labels, found again by AgglomerativeClustering, k = 3: Jaccard coefficient, 12 resamples"
    )
    assert repr(jaccard).startswith(start)
    assert repr(stable(WARD, X)).startswith(
        "Stability of AgglomerativeClustering, k = 3: Jaccard coefficient, 6 resamples"
    )


def test_arguments_the_wrong_way_round_are_refused():
    with pytest.raises(
        ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments the"
    ):
        cr.stability.stability(X, KMeans(2))
    with pytest.raises(
        ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments the"
    ):
        cr.stability.sensitivity(X, KMeans(2))
    with pytest.raises(ParameterError, match=r"X must be one study or table, got dict: pick one, studies\[name\]"):
        cr.stability.stability(WARD, {"a": X})


def test_known_labels_of_numbered_rows_are_put_in_order():
    labels = pd.Series(np.arange(N) % 3)
    equal(stable(WARD, X, labels=labels.sample(frac=1, random_state=1)), stable(WARD, X, labels=labels.to_numpy()))


def test_summaries_are_over_resamples(jaccard):
    result = with_values(jaccard, [[0.0, 0.1, 1.0], [1.0, 0.3, 1.0], [0.5, 0.8, 1.0]])
    np.testing.assert_allclose(result.per_cluster, [0.5, 0.4, 1.0])
    np.testing.assert_allclose(result.median, [0.5, 0.3, 1.0])
    np.testing.assert_allclose(result.sd, [0.5, math.sqrt(0.26 / 2), 0])
    np.testing.assert_allclose(result.quantile(0.25), [0.25, 0.2, 1.0])
    low, high = result.confidence_interval(0.5)
    np.testing.assert_allclose(low, [0.25, 0.2, 1.0])
    np.testing.assert_allclose(high, [0.75, 0.55, 1.0])
    frame = result.to_frame(0.5)
    np.testing.assert_allclose(
        frame[["mean", "sd", "median", "low", "high"]].to_numpy()[0], [0.5, 0.5, 0.5, 0.25, 0.75]
    )


def test_the_frame_has_a_row_for_every_cluster(jaccard):
    frame = jaccard.to_frame()
    assert frame.columns.tolist() == [
        "cluster",
        "size",
        "mean",
        "sd",
        "median",
        "low",
        "high",
        "dissolved",
        "recovered",
    ]
    assert frame["cluster"].tolist() == ["A", "B", "C"]
    assert frame["size"].tolist() == [5, 5, 5]
    for index in ("inclusion", "r", "d"):
        columns = stable(WARD, X, index=index).to_frame().columns.tolist()
        assert columns == ["cluster", "size", "mean", "sd", "median", "low", "high"]


def test_the_matching_distance_has_one_row_and_nothing_per_cluster():
    result = stable(WARD, X, index="matching")
    frame = result.to_frame()
    assert frame["cluster"].tolist() == ["all"]
    assert frame["size"].tolist() == [N]
    assert frame["mean"].tolist() == [result.overall]
    with pytest.raises(AttributeError, match="one number for the whole partition: see overall"):
        result.per_cluster  # noqa: B018
    assert not hasattr(result, "per_cluster")
    assert "All clusters" not in repr(result)


@pytest.mark.parametrize("index", INDICES)
def test_a_result_survives_its_file(index, tmp_path):
    result = stable(
        WARD,
        cr.Study(X, "X", samples=[f"s{i}" for i in range(N)]),
        index=index,
        relative=True,
        labels=["x", "y", "z"] * 5,
    )
    result.save(tmp_path / "stability.clustrep")
    loaded = cr.load(tmp_path / "stability.clustrep")
    assert type(loaded) is type(result)
    equal(loaded, result)
    assert repr(loaded) == repr(result)
    assert loaded.provenance == result.provenance
    assert loaded.samples == result.samples
    assert loaded.relative is True
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())
    with pytest.raises(ValueError, match="read-only"):
        loaded.distribution[0] = 0


def test_failures_survive_their_file(tmp_path):
    with pytest.warns(ReplicateWarning):
        result = stable(missing_first_point, LINE, perturbation=cr.resampling.Subsample(0.7), n_resamples=12)
    result.save(tmp_path / "x")
    assert cr.load(tmp_path / "x").failures == result.failures
    assert cr.load(tmp_path / "x").n_clusters is None


def test_arrays_are_read_only(jaccard):
    for name in ("labels", "clusters", "sizes", "distribution", "overall_distribution", "failed"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(jaccard, name)[0] = 0
    labels = np.arange(N) % 3
    stable(WARD, X, labels=labels)
    labels[0] = 2  # the user's own are left alone


def test_repr_says_what_was_done():
    text = repr(stable(WARD, X, index="d", relative=True))
    assert text.startswith("Stability of AgglomerativeClustering, k = 3: D index, relative, 6 resamples by Jitter(")
    assert f"seed {SEED}" in text
    assert "All clusters: " in text
    one = repr(stable(WARD, X, index="r", relative=True, n_resamples=1))
    assert "R index, 1 resample by" in one  # a share is relative by itself
    assert "Stability of DBSCAN: Jaccard coefficient" in repr(stable(DENSITY, SCATTERED))


def test_a_sum_is_shown_as_a_sum():
    result = stable(WARD, X, perturbation=cr.resampling.Subsample(0.8) + cr.resampling.Rerun())
    assert "Subsample(fraction=0.8) + Rerun()" in repr(result)


@pytest.mark.parametrize("index", INDICES)
def test_plot_draws_onto_the_axes_given(index):
    result = stable(WARD, X, index=index, relative=True)
    _, (left, right) = plt.subplots(1, 2)
    assert result.plot(right) is right
    assert not left.has_data()
    assert right.has_data()
    names = ["all"] if index == "matching" else ["0", "1", "2"]
    assert [text.get_text() for text in right.get_xticklabels()] == names
    drawn = {tuple(line.get_ydata()) for line in right.lines}
    for column in result.distribution.reshape(N_RESAMPLES, -1).T:
        assert tuple(column) in drawn
    assert ("relative" in right.get_ylabel()) == (index in ("matching", "d"))
    words = [text.get_text() for text in right.texts]
    assert words == (["dissolved", "recovered"] if index == "jaccard" else [])


def test_plot_makes_axes_of_its_own(jaccard):
    assert jaccard.plot().figure is not None
    with pytest.raises(ParameterError, match="ax must be a matplotlib Axes, got str"):
        jaccard.plot("here")
