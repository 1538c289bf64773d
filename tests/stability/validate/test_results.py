"""The result of `validate`: frames, files and words; and what it refuses."""

from __future__ import annotations

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN
from tests.stability.validate.cases import KMEANS, LABELS, NUMBERS, ROOT, RUN, B, S, X, calls, counted

import clustrep as cr
from clustrep.agreement.cluster_indices import INDICES
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError

# ---------------------------------------------------------------------------------------------------------------------
# the result


def test_overall_has_a_row_for_every_k_and_a_column_for_every_index(validation):
    overall = validation.overall()
    assert overall.index.tolist() == [2, 3]
    assert overall.columns.tolist() == [index for index in INDICES if index != "test"]
    frame = validation.to_frame()
    for index in overall.columns:
        for k in (2, 3):
            own = frame[(frame["index"] == index) & (frame["k"] == k) & (frame["cluster"] == "all")]
            assert overall.loc[k, index] == own["value"].item()
    some = cr.stability.validate(KMEANS, X, n_clusters=NUMBERS, indices=["in_group", "r"], **RUN).overall()
    assert some.columns.tolist() == ["r", "in_group"]


def test_the_result_saves_and_loads(validation, tmp_path):
    validation.save(tmp_path / "all.npz")
    loaded = cr.load(tmp_path / "all.npz")
    assert type(loaded) is cr.results.Validation
    for field in dataclasses.fields(validation):
        one, other = getattr(validation, field.name), getattr(loaded, field.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
            assert not one.flags.writeable
            assert not other.flags.writeable
        else:
            assert one == other
    pd.testing.assert_frame_equal(loaded.to_frame(), validation.to_frame())
    pd.testing.assert_frame_equal(loaded.overall(), validation.overall())
    assert repr(loaded) == repr(validation)
    with pytest.raises(dataclasses.FrozenInstanceError):
        validation.clusterer = "other"
    assert validation.provenance["n_resamples"] == B
    assert validation.provenance["n_splits"] == S
    assert validation.provenance["noise"] == "label"


def test_the_provenance_says_what_each_index_was_resampled_by(validation):
    subsample, jitter = "Subsample(fraction=0.8)", repr(cr.resampling.Jitter())
    assert validation.provenance["resampling"] == {
        "matching": subsample,
        "inclusion": cr.stability.stability(KMEANS, X, index="inclusion", n_resamples=1).provenance["resampling"],
        "jaccard": "Bootstrap(distinct=True)",
        "r": jitter,
        "d": jitter,
        "prediction_strength": "half-splits",
        "in_group": "none",
        "instability": "pairs of Bootstrap()",
        "relative_validation": "half-splits",
        "pac": subsample,
        "consensus": subsample,
        "assignment": subsample,
        "test": "data from the null",
    }
    some = cr.stability.validate(KMEANS, X, n_clusters=2, indices=["r", "in_group"], noise="drop", **RUN).provenance
    assert some["resampling"] == {"r": jitter, "in_group": "none"}
    assert some["noise"] == "drop"


def test_the_result_prints_indices_by_k(validation):
    lines = repr(validation).split("\n")
    assert lines[0] == f"Validation of KMeans: {B} resamples, {S} splits, seed {ROOT}"
    assert lines[1].split() == ["k", "=", "2", "k", "=", "3"]
    rows = {line.rsplit(")", 1)[0] + ")": line.rsplit(")", 1)[1].split() for line in lines[2:14]}
    for index, record in INDICES.items():
        if index != "test":
            shown = rows[f"{record.title(relative=True)} ({'+' if record.higher_is_better else '−'})"]
            np.testing.assert_allclose(
                [float(value) for value in shown], validation.overall()[index].to_numpy(float), rtol=0, atol=5.1e-4
            )
    assert lines[14] == f"Test for clusters: p = {validation.pvalue:.3g}"
    assert lines[15] == f"{len(validation.index)} rows in to_frame(), clusters among them"
    assert max(map(len, lines)) < 80
    alone = cr.stability.validate(KMEANS, X, n_clusters=2, indices="test", **RUN)
    assert repr(alone).split("\n")[1:] == [
        f"Test for clusters: p = {alone.pvalue:.3g}",
        "1 row in to_frame(), clusters among them",
    ]
    assert "Test for clusters" not in repr(cr.stability.validate(KMEANS, X, n_clusters=2, indices="pac", **RUN))
    run = {"n_resamples": 1, "n_splits": 1, "rng": ROOT}
    one = cr.stability.validate(KMEANS, X, n_clusters=2, labels=LABELS, indices="in_group", **run)
    assert repr(one).startswith(f"Validation of known labels and KMeans: 1 resample, 1 split, seed {ROOT}\n")


def test_small_multiples_show_every_index(validation):
    before = dict(plt.rcParams)
    axes = validation.plot()
    assert dict(plt.rcParams) == before
    assert axes.shape == (6, 2)
    assert len(plt.get_fignums()) == 1
    figure = axes[0, 0].figure
    assert figure._suptitle.get_text() == f"KMeans; test for clusters: p = {validation.pvalue:.3g}"
    overall, frame = validation.overall(), validation.to_frame()
    for ax, index in zip(axes.flat, overall.columns, strict=True):
        record = INDICES[index]
        direction = "high" if record.higher_is_better else "low"
        assert ax.get_title() == f"{record.title(relative=True)}\n({direction} is good)"
        clusters, whole = ax.lines
        assert whole.get_xdata().tolist() == [2, 3]
        np.testing.assert_array_equal(whole.get_ydata(), overall[index])
        own = frame[(frame["index"] == index) & (frame["cluster"] != "all")]
        np.testing.assert_array_equal(clusters.get_ydata(), own["value"])
        np.testing.assert_array_equal(clusters.get_xdata(), own["k"].to_numpy(int))
        assert [text.get_text() for text in ax.get_xticklabels()] == ["2", "3"]
        bottom, top = ax.get_ylim()
        assert bottom == 0
        assert top >= np.nanmax(frame.loc[frame["index"] == index, "value"])
        assert top >= 1 if record.higher_is_better else True
        assert ax.get_visible()


def test_panels_that_are_left_over_are_hidden():
    indices = ["matching", "inclusion", "r", "pac", "in_group"]
    result = cr.stability.validate(KMEANS, X, n_clusters=[2, 3], indices=indices, **RUN)
    axes = result.plot()
    assert axes.shape == (3, 2)
    assert [ax.get_visible() for ax in axes.flat] == [True] * 5 + [False]
    assert axes[0, 0].figure._suptitle.get_text() == "KMeans"
    one = cr.stability.validate(KMEANS, X, n_clusters=2, indices="pac", **RUN).plot()
    assert one.shape == (1, 1)


def test_a_clusterer_without_k_is_drawn_over_nothing():
    indices = ["jaccard", "in_group"]
    axes = cr.stability.validate(DBSCAN(1.1, min_samples=3), X, indices=indices, **RUN).plot()
    for ax in axes.flat:
        assert [text.get_text() for text in ax.get_xticklabels()] == [""]
        assert len(ax.lines[1].get_ydata()) == 1


# ---------------------------------------------------------------------------------------------------------------------
# what can not be asked for


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"indices": "jacard"}, "indices must be one of 'matching'.*; got 'jacard'. Did you mean 'jaccard'"),
        ({"indices": ["r", "silhouette"]}, "indices must be one of 'matching'.*; got 'silhouette'"),
        ({"indices": []}, r"indices must be one of matching, .*, or several; got \[\]"),
        ({"indices": 3}, "indices must be one of matching, .*, or several; got 3"),
        ({"indices": [["r"]]}, r"indices must be one of 'matching'.*; got \['r'\]"),
        ({"n_resamples": 0}, "n_resamples must be a positive integer, got 0"),
        ({"n_splits": 2.5}, r"n_splits must be a positive integer, got 2\.5"),
        ({"n_clusters": 1}, "n_clusters must"),
        ({"noise": "singletons"}, "noise must be one of 'label', 'drop'; got 'singletons'"),
        ({"labels": True}, "labels is True, but study 'X' has no known labels"),
        ({"n_jobs": 0}, "n_jobs must be a positive integer"),
        ({"rng": "seed"}, "rng must be a non-negative integer, a numpy Generator"),
    ],
)
def test_what_is_asked_for_is_checked_before_anything_is_fitted(options, message):
    calls.clear()
    with pytest.raises(ParameterError, match=message):
        cr.stability.validate(counted, X, **options)
    assert not calls


def test_a_clusterer_and_one_study_are_needed():
    with pytest.raises(ParameterError, match="clusterer is None: pass a clusterer, or existing labels with labels="):
        cr.stability.validate(None, X)
    with pytest.raises(ParameterError, match="n_clusters needs a clusterer: labels have the clusters that they have"):
        cr.stability.validate(None, X, labels=LABELS, n_clusters=3)
    with pytest.raises(ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments"):
        cr.stability.validate(X, KMEANS)
    with pytest.raises(ParameterError, match="X must be one study or table, got dict"):
        cr.stability.validate(KMEANS, {"a": X, "b": X + 1})
    with pytest.raises(ParameterError, match="X must be one study or table, got Studies"):
        cr.stability.validate(KMEANS, cr.Studies({"a": X, "b": X + 1}))
    with pytest.raises(ParameterError, match="has no parameter for the number of clusters"):
        cr.stability.validate(DBSCAN(), X, n_clusters=3)
    with pytest.raises(DataError, match="labels of study 'X' must have one label for every point"):
        cr.stability.validate(KMEANS, X, n_clusters=3, labels=LABELS[:5])
    with pytest.raises(ParameterError, match="There is no index to draw over k: the test for clusters is one p-value"):
        cr.stability.validate(KMEANS, X, n_clusters=2, indices="test", **RUN).plot()
    with pytest.raises(AllReplicatesFailed, match="KMeans, k = 31 failed on the data as they are"):
        cr.stability.validate(KMEANS, X, n_clusters=[2, 31], **RUN)
