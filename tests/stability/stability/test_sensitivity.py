"""Sensitivity: stability at every scale of noise."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.stability.stability.cases import (
    INDICES,
    N_RESAMPLES,
    NOISE,
    SEED,
    WARD,
    N,
    X,
    assert_is_loop,
    blurred,
    curve_of,
    equal,
    loop,
    stable,
)

import clustrep as cr
from clustrep.errors import ParameterError, ReplicateWarning
from clustrep.fitting.resample import Source


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("index", INDICES)
def test_a_curve_is_the_stability_at_every_scale(index, relative):
    scales = [0.05, 0.6, 1.5]
    curve = curve_of(WARD, X, index=index, scales=scales, relative=relative)
    for i, scale in enumerate(scales):
        one = stable(WARD, X, index=index, perturbation=cr.resampling.Jitter(scale), relative=relative)
        np.testing.assert_array_equal(curve.distribution[:, i], one.distribution)
        np.testing.assert_array_equal(curve.overall_distribution[:, i], one.overall_distribution)
        assert curve.overall[i] == one.overall
        if index != "matching":
            np.testing.assert_array_equal(curve.per_cluster[i], one.per_cluster)
    assert_is_loop(one, loop(WARD, X, index, cr.resampling.Jitter(1.5), relative=relative))
    assert len(np.unique(curve.overall)) > 1
    np.testing.assert_array_equal(curve.labels, one.labels)
    np.testing.assert_array_equal(curve.sizes, one.sizes)
    assert curve.distribution.shape == (N_RESAMPLES, 3) if index == "matching" else (N_RESAMPLES, 3, 3)


def test_a_resample_has_the_same_noise_at_every_scale():
    one, other = (Source(cr.resampling.Jitter(scale), SEED).draw(cr.Study(X, "X"), 1) for scale in (0.1, 1.0))
    np.testing.assert_allclose((one.points - X) * 10, other.points - X, rtol=1e-6, atol=1e-9)


def test_the_study_itself_is_clustered_once_for_all_scales():
    seen = []

    def recorded(X):
        seen.append(np.array(X))
        return (X[:, 0] > 0).astype(int)

    curve_of(recorded, X, scales=[0.1, 0.2, 0.3])
    assert len(seen) == 1 + 3 * N_RESAMPLES
    np.testing.assert_array_equal(seen[0], X)


def test_r_is_the_default_index_over_six_scales():
    curve = curve_of(WARD, X)
    assert curve.index == "r"
    assert curve.scales.tolist() == [0.1, 0.2, 0.3, 0.5, 0.7, 1.0]
    assert cr.stability.sensitivity(WARD, X, scales=[0.1], rng=0).distribution.shape == (100, 1, 3)


def test_more_noise_makes_clusters_less_stable():
    apart = np.repeat([[0.0, 0.0], [3.0, 0.0]], 15, axis=0)
    curve = curve_of(AgglomerativeClustering(2), apart + blurred(30, 2) / 4, scales=np.array([0.01, 0.5, 3.0]))
    assert curve.overall[0] == 1
    assert (np.diff(curve.overall) < 0).all()


def test_existing_labels_noise_and_a_tuple_of_scales():
    labels = [NOISE] * 3 + [0] * 6 + [1] * (N - 9)
    curve = curve_of(WARD, X, index="d", labels=labels, noise="drop", scales=(0.3,))
    expected = loop(WARD, X, "d", cr.resampling.Jitter(0.3), reference=labels, noise="drop")
    np.testing.assert_allclose(curve.distribution[:, 0], expected[1])
    assert curve.clusters.tolist() == [0, 1]
    assert curve.provenance["labels"] == "known"


def test_the_frame_of_a_curve_has_a_row_for_every_scale_and_cluster():
    curve = curve_of(WARD, X, scales=[0.2, 0.9], labels=["A", "B", "C"] * 5)
    frame = curve.to_frame(0.5)
    assert frame.columns.tolist() == ["scale", "cluster", "size", "mean", "sd", "low", "high"]
    assert frame["scale"].tolist() == [0.2] * 4 + [0.9] * 4
    assert frame["cluster"].tolist() == ["A", "B", "C", "all"] * 2
    assert frame["size"].tolist() == [5, 5, 5, N] * 2
    row = frame[(frame["scale"] == 0.9) & (frame["cluster"] == "B")].iloc[0]
    values = curve.distribution[:, 1, 1]
    expected = [values.mean(), values.std(ddof=1), *np.quantile(values, [0.25, 0.75])]
    np.testing.assert_allclose(row[["mean", "sd", "low", "high"]].to_numpy(dtype=float), expected)
    np.testing.assert_allclose(frame["mean"][3::4], curve.overall)


def test_the_matching_distance_of_a_curve_has_one_row_for_every_scale():
    curve = curve_of(WARD, X, index="matching", scales=[0.2, 0.9])
    assert curve.to_frame()["cluster"].tolist() == ["all", "all"]
    np.testing.assert_allclose(curve.to_frame()["mean"], curve.overall)
    with pytest.raises(AttributeError, match="one number for the whole partition"):
        curve.per_cluster  # noqa: B018
    assert len(curve.plot().lines) == 1
    assert "minimal matching distance" in repr(curve)


def test_a_curve_survives_its_file(tmp_path):
    for index in ("matching", "d"):
        curve = curve_of(WARD, X, index=index, scales=[0.2, 0.9], relative=True)
        curve.save(tmp_path / index)
        loaded = cr.load(tmp_path / index)
        equal(loaded, curve)
        assert repr(loaded) == repr(curve)
        assert loaded.provenance == curve.provenance
        pd.testing.assert_frame_equal(loaded.to_frame(), curve.to_frame())
        with pytest.raises(ValueError, match="read-only"):
            loaded.scales[0] = 0


def test_repr_of_a_curve_has_a_row_for_every_scale():
    text = repr(curve_of(WARD, X, index="d", relative=True, scales=[0.25, 0.875]))
    assert text.startswith(
        "Sensitivity of AgglomerativeClustering to noise: D index, relative, mean of 6 resamples, seed"
    )
    assert "0.250" in text
    assert "0.875" in text


def test_plot_of_a_curve_draws_onto_the_axes_given():
    curve = curve_of(WARD, X, scales=[0.2, 0.9])
    _, (left, right) = plt.subplots(1, 2)
    assert curve.plot(right) is right
    assert not left.has_data()
    np.testing.assert_array_equal([line.get_ydata() for line in right.lines], [*curve.per_cluster.T, curve.overall])
    assert all(line.get_xdata().tolist() == [0.2, 0.9] for line in right.lines)
    assert [text.get_text() for text in right.get_legend().get_texts()] == [
        "cluster 0",
        "cluster 1",
        "cluster 2",
        "all",
    ]


@pytest.mark.parametrize(("scales", "labels"), [([0.1, 0.1], None), ([0.1, 0.2], ["all", "some", "none"] * 5)])
def test_every_curve_can_be_shown_or_is_refused(scales, labels):
    try:
        curve = curve_of(WARD, X, scales=scales, labels=labels)
    except ParameterError:
        return
    repr(curve)


def jumpy(X):
    """Fails where the points are scattered widely."""
    if np.ptp(X) > 15:
        raise ValueError("too wide")
    return (X[:, 0] > X[:, 0].mean()).astype(int)


def test_failures_of_a_curve_are_counted_at_every_scale():
    with pytest.warns(ReplicateWarning, match="resamples? of 40 failed"):
        curve = cr.stability.sensitivity(jumpy, X, scales=[0.01, 1.3], n_resamples=20, rng=SEED)
    assert curve.failed.shape == (20, 2)
    assert curve.failed[:, 0].sum() == 0
    np.testing.assert_array_equal(np.isnan(curve.overall_distribution), curve.failed > 0)
    assert 0 < curve.failed[:, 1].sum() < 20


def test_a_scale_at_which_everything_fails_leaves_the_others():
    with pytest.warns(ReplicateWarning):
        curve = curve_of(jumpy, X, scales=[0.01, 50.0])
    assert np.isfinite(curve.overall[0])
    assert np.isnan(curve.overall[1])
