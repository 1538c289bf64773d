"""Results of prediction strength and relative validation, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from tests.stability.prediction.cases import DENSITY, LABELS, MASK, SEED, WARD, N, X, both, strength, validation

import clustrep as cr
from clustrep.errors import DataError, ParameterError

# ---------------------------------------------------------------------------------------------------------------------
# the result


@pytest.fixture(scope="module")
def curve():
    return strength(WARD, X, n_clusters=[1, 2, 3, 4], n_splits=4)


def with_values(result, *rows):
    return replace(result, distribution=np.array(rows, dtype=float))


def test_the_largest_k_above_the_threshold_is_recommended(curve):
    result = with_values(curve, [1, 0.7, 0.9, 0.8], [1, 0.9, 1.0, 0.8])
    assert result.strength.tolist() == pytest.approx([1, 0.8, 0.95, 0.8])
    assert with_values(curve, [1, 0.75, 0.5, 0.75]).recommended(0.75) == 1  # above, not at
    assert with_values(curve, [1, 0.75, 0.5, 0.75]).recommended(0.74) == 4
    assert with_values(curve, [1, 0.85, 0.95, 0.85]).recommended() == 4
    assert with_values(curve, [1, 0.85, 0.95, 0.85]).recommended(0.9) == 3
    assert with_values(curve, [1, 0.5, 0.5, np.nan]).recommended() == 1
    assert with_values(curve, [1, 0.85, np.nan, np.nan]).recommended() == 2


def test_the_best_k_is_the_highest_from_2_on_and_the_smallest_of_several(curve):
    assert with_values(curve, [1, 0.5, 0.7, 0.6]).best_n_clusters == 3
    assert with_values(curve, [1, 0.5, 0.7, 0.7]).best_n_clusters == 3
    assert with_values(curve, [1, np.nan, 0.1, 0.7]).best_n_clusters == 4
    assert with_values(curve, [1, np.nan, np.nan, np.nan]).best_n_clusters is None
    backwards = replace(with_values(curve, [0.7, 0.7, 0.2, 1]), n_clusters=(4, 3, 2, 1))
    assert backwards.best_n_clusters == 3
    lange = validation(WARD, X, n_clusters=[2, 3, 4], n_splits=2)
    assert with_values(lange, [0.3, 0.1, 0.1]).best_n_clusters == 3
    assert with_values(lange, [0.3, np.nan, 0.4]).best_n_clusters == 2


def test_without_a_number_of_clusters_nothing_is_recommended():
    result = strength(None, X, labels=LABELS, n_splits=2)
    assert result.best_n_clusters is None
    assert result.to_frame()["k"].isna().all()
    with pytest.raises(ParameterError, match="no number of clusters to recommend: pass n_clusters"):
        result.recommended()
    with pytest.raises(ParameterError, match="no number of clusters to draw against: pass n_clusters"):
        result.plot()
    assert "Highest" not in repr(result)


@pytest.mark.parametrize("threshold", [0, 1, 1.5, -1, "high", None])
def test_a_threshold_lies_between_0_and_1(curve, threshold):
    with pytest.raises(ParameterError, match="threshold must be a number strictly between 0 and 1"):
        curve.recommended(threshold)


@both
def test_the_frame_has_a_row_for_every_k(measure):
    result = measure(WARD, X, n_clusters=[2, 4], n_splits=5, rng=SEED)
    frame = result.to_frame(0.5)
    assert frame.columns.tolist() == ["k", "mean", "sd", "low", "high"]
    assert frame["k"].tolist() == [2, 4]
    assert frame["k"].dtype == "Int64"
    values = result.distribution
    np.testing.assert_allclose(frame["mean"], values.mean(axis=0))
    np.testing.assert_allclose(frame["sd"], values.std(axis=0, ddof=1))
    np.testing.assert_allclose(frame["low"], np.quantile(values, 0.25, axis=0))
    np.testing.assert_allclose(frame["high"], np.quantile(values, 0.75, axis=0))
    with pytest.raises(ParameterError, match="confidence_level must be a number strictly between 0 and 1"):
        result.to_frame(95)


@pytest.mark.parametrize(
    "make",
    [
        lambda: strength(WARD, X, n_clusters=[1, 2, 5], n_splits=3),
        lambda: strength(None, X, labels=LABELS, split=MASK),
        lambda: validation(
            WARD, X, n_clusters=[2, 5], n_splits=3, noise="drop", perturbation=cr.resampling.Jitter(0.1)
        ),
    ],
)
def test_a_result_survives_its_file(make, tmp_path):
    result = make()
    result.save(tmp_path / "curve")
    loaded = cr.load(tmp_path / "curve")
    assert type(loaded) is type(result)
    assert repr(loaded) == repr(result)
    assert loaded.n_clusters == result.n_clusters
    assert loaded.provenance == result.provenance
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())
    for name, value in vars(result).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(loaded, name), value)
            for one in (result, loaded):
                with pytest.raises(ValueError, match="read-only"):
                    getattr(one, name)[...] = 0
    if hasattr(result, "per_cluster"):
        assert loaded.per_cluster.keys() == result.per_cluster.keys()


def test_repr_says_what_was_found(curve):
    text = repr(with_values(curve, [1, 0.85, 0.95, 0.85]))
    assert text.startswith(f"Prediction strength of AgglomerativeClustering: 4 splits, seed {SEED}")
    assert "Highest at k = 3" in text
    rule = "Tibshirani and Walther's rule, the largest k with enough strength: "
    assert rule + "4 (above 0.8), 3 (above 0.9)" in text.splitlines()
    assert rule + "1, no clusters" in repr(with_values(curve, [1, 0.5, 0.4, 0.3])).splitlines()
    lange = repr(validation(WARD, X, n_clusters=[2, 3], n_splits=2))
    assert lange.startswith(f"Relative validation of AgglomerativeClustering: 2 splits, seed {SEED}")
    assert "Lowest at k = " in lange
    assert "Lowest" not in repr(validation(WARD, X, n_splits=2))  # of one, nothing is the lowest


@both
def test_the_provenance_counts_splits(measure):
    provenance = measure(WARD, X, n_splits=3, rng=SEED).provenance
    assert provenance["n_splits"] == 3
    assert "n_replicates" not in provenance
    fixed = strength(WARD, X, split=np.arange(N) < N // 2).provenance
    assert fixed["n_splits"] == 1


@both
def test_arguments_the_wrong_way_round_are_refused(measure):
    with pytest.raises(ParameterError, match=r"X must be a table of samples by features, got Agglomerative.*wrong way"):
        measure(X, WARD)
    with pytest.raises(ParameterError, match=r"X must be one study or table, got dict: pick one, studies\[name\]"):
        measure(WARD, {"a": X})


@both
def test_plot_draws_onto_the_axes_given(measure):
    result = measure(WARD, X, n_clusters=[4, 2, 3], n_splits=3, rng=SEED)
    _, (left, right) = plt.subplots(1, 2)
    assert result.plot(right) is right
    assert not left.has_data()
    (line,) = right.lines
    assert line.get_xdata().tolist() == [2, 3, 4]
    np.testing.assert_array_equal(line.get_ydata(), result.mean[[1, 2, 0]])
    assert right.get_ylabel() == result.title.lower()
    assert result.plot() is not right


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


@both
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_splits": 0}, "n_splits must be a positive integer, got 0"),
        ({"n_splits": 1.5}, r"n_splits must be a positive integer, got 1\.5"),
        ({"noise": "singletons"}, "noise must be one of 'label', 'drop'; got 'singletons'"),
        ({"labels": True}, "labels is True, but study 'X' has no known labels"),
        ({"perturbation": "bootstrap"}, "perturbation must be Bootstrap"),
        ({"perturbation": cr.resampling.Bootstrap}, "perturbation must be Bootstrap"),
        ({"n_clusters": [2, 2]}, "n_clusters must hold every number once"),
        ({"n_clusters": []}, "n_clusters must hold at least one number"),
        ({"n_clusters": [0, 2]}, "n_clusters must be"),
        ({"n_clusters": "2"}, "n_clusters must be an integer or several"),
        ({"rng": "seed"}, "rng must be a non-negative integer"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_a_bad_parameter_is_named(measure, arguments, message):
    with pytest.raises(ParameterError, match=message):
        measure(WARD, X, **arguments)


@both
def test_a_bad_clusterer_or_study_is_refused(measure):
    with pytest.raises(ParameterError, match="pass a clusterer, or existing labels with labels="):
        measure(None, X)
    with pytest.raises(ParameterError, match="n_clusters needs a clusterer: labels have the clusters that they have"):
        measure(None, X, labels=LABELS, n_clusters=[2, 3])
    with pytest.raises(ParameterError, match=r"write KMeans\(\)"):
        measure(KMeans, X)
    with pytest.raises(ParameterError, match="has no parameter for the number of clusters"):
        measure(DENSITY, X, n_clusters=[2, 3])
    with pytest.raises(ParameterError, match="X must be one study or table, got Studies"):
        measure(WARD, cr.Studies({"a": X, "b": X}))
    with pytest.raises(DataError, match="one label for every point of study 'X': 22; got 2"):
        measure(None, X, labels=[0, 1])


def test_only_strength_knows_one_cluster():
    with pytest.raises(ParameterError, match="n_clusters must be an integer of at least 2, got 1"):
        validation(WARD, X, n_clusters=[1, 2])
    with pytest.raises(
        ParameterError, match="n_clusters must hold a number above 1: one cluster has prediction strength 1"
    ):
        strength(WARD, X, n_clusters=1)


def test_both_directions_is_a_flag():
    with pytest.raises(ParameterError, match="both_directions must be True or False, got 2"):
        strength(WARD, X, both_directions=2)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("half", "split must be a boolean array that is True in the training part, or .*; got 'half' for 22 samples"),
        (0.5, r"got 0\.5 for 22 samples"),
        (MASK[:-1], "for 22 samples"),
        (MASK.astype(int), "for 22 samples"),
        (([0, 1], [2, 3], [4, 5]), "for 22 samples"),
        (([0, 1, 2], [3, 22]), "rows are whole numbers from 0 to 21"),
        (([0, 1, -1], [3, 4]), "rows are whole numbers from 0 to 21"),
        (([0.0, 1.0], [3.0, 4.0]), "rows are whole numbers from 0 to 21"),
        (([True, False], [False, True]), "rows are whole numbers"),
        (([[0, 1]], [[2, 3]]), "rows are whole numbers"),
        ((["a", "b"], ["c", "d"]), "rows are whole numbers"),
        (([0, 1, 2], [2, 3]), "split must name no sample twice"),
        (([0], [1, 2, 3]), "split must put at least two samples into each part, got 1, 3"),
        (np.ones(N, dtype=bool), "split must put at least two samples into each part, got 22, 0"),
        (np.zeros(N, dtype=bool), "split must put at least two samples into each part, got 0, 22"),
    ],
)
def test_a_bad_split_is_refused(split, message):
    with pytest.raises(ParameterError, match=message):
        strength(WARD, X, split=split)


def test_a_split_is_of_the_samples_as_they_are():
    with pytest.raises(
        ParameterError, match="Pass either split or perturbation: a split belongs to the samples as they"
    ):
        strength(WARD, X, split=MASK, perturbation=cr.resampling.Jitter())


def test_a_split_names_every_sample_once():
    with pytest.raises(ParameterError, match=r"twice|once"):
        strength(WARD, X, split=([0, 0, 1, 2, 3], [4, 5, 6, 7]))
