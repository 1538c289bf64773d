"""Results of the in-group proportion, and what it refuses."""

from __future__ import annotations

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.stability.in_group.cases import LABELS, neighbours_by_hand

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning

# ---------------------------------------------------------------------------------------------------------------------
# the result


@pytest.fixture
def result(X):
    return cr.stability.in_group_proportion(X, ["zyx"[c] for c in LABELS], n_neighbors=[1, 2], n_null=5, rng=1)


@pytest.fixture
def copies(X):
    labels = ["zyx"[c] for c in LABELS]
    return cr.stability.in_group_stability(
        X, labels, n_neighbors=[1, 2], perturbation=cr.resampling.Bootstrap(), n_resamples=7, rng=1
    )


def test_the_frame_has_a_row_for_every_number_and_cluster(result, copies):
    frame = result.to_frame()
    assert list(frame) == ["n_neighbors", "cluster", "size", "proportion", "exceeding"]
    assert frame["n_neighbors"].tolist() == [1, 1, 1, 2, 2, 2]
    assert frame["cluster"].tolist() == ["x", "y", "z"] * 2
    assert frame["size"].tolist() == [3, 5, 6] * 2
    assert frame["proportion"].tolist() == result.proportions.ravel().tolist()
    assert frame["exceeding"].tolist() == result.exceeding.ravel().tolist()
    pd.testing.assert_frame_equal(copies.to_frame().iloc[:, :4], frame.iloc[:, :4])


def test_the_frame_sums_up_copies(copies):
    frame = copies.to_frame(confidence_level=0.5)
    assert list(frame)[4:] == ["mean", "sd", "low", "high"]
    for i, (j, c) in enumerate(itertools.product(range(2), range(3))):
        values = [v for v in copies.distribution[:, j, c] if not math.isnan(v)]
        mean = sum(values) / len(values)
        assert frame["mean"][i] == pytest.approx(mean)
        assert frame["sd"][i] == pytest.approx(math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)))
        assert [frame["low"][i], frame["high"][i]] == pytest.approx(np.quantile(values, [0.25, 0.75]).tolist())


def test_the_frame_has_only_what_was_asked_for(X):
    assert list(cr.stability.in_group_proportion(X, LABELS).to_frame()) == [
        "n_neighbors",
        "cluster",
        "size",
        "proportion",
    ]
    assert list(cr.stability.in_group_proportion(X, LABELS, n_null=2).to_frame())[4:] == ["exceeding"]
    once = cr.stability.in_group_stability(X, LABELS, perturbation=cr.resampling.Jitter(), n_resamples=1).to_frame()
    assert list(once)[4:] == ["mean", "sd", "low", "high"]
    assert once["sd"].isna().all()


def test_the_overall_share_counts_every_sample_once(X, result):
    nearest = neighbours_by_hand(X, 2)
    for j, overall in zip((1, 2), result.overall, strict=True):
        inside = [all(LABELS[i] == LABELS[h] for i in nearest[h][:j]) for h in range(14)]
        assert overall == pytest.approx(sum(inside) / 14)


def test_a_saved_result_is_the_same_when_loaded(result, tmp_path):
    result.save(tmp_path / "igp.clustrep")
    loaded = cr.load(tmp_path / "igp.clustrep")
    assert type(loaded) is type(result)
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())
    for name in ("null_distribution", "labels", "clusters", "sizes"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(result, name))
    plain = {"n_neighbors": list(result.n_neighbors)}  # see the next test
    assert {**loaded.provenance, **plain} == {**result.provenance, **plain}
    assert loaded.n_neighbors == result.n_neighbors
    assert loaded.samples == result.samples
    assert repr(loaded) == repr(result)


def test_a_saved_result_has_the_same_provenance_when_loaded(result, tmp_path):
    result.save(tmp_path / "igp.clustrep")
    assert cr.load(tmp_path / "igp.clustrep").provenance == result.provenance


def test_a_saved_result_without_null_is_the_same_when_loaded(X, tmp_path):
    result = cr.stability.in_group_proportion(X, LABELS)
    result.save(tmp_path / "igp.clustrep")
    loaded = cr.load(tmp_path / "igp.clustrep")
    assert loaded.pvalues is loaded.null_distribution is None
    assert loaded.overall == result.overall
    assert repr(loaded) == repr(result)


@pytest.mark.parametrize("name", ["proportions", "exceeding", "null_distribution", "labels", "clusters", "sizes"])
def test_arrays_are_read_only(result, name):
    array = getattr(result, name)
    with pytest.raises(ValueError, match="read-only"):
        array[...] = array


def test_a_result_in_words(result):
    first, *lines = repr(result).splitlines()
    assert first == "In-group proportion: 14 samples, clusters by known labels, 5 null partitions, seed 1"
    assert lines == [*result.to_frame().round(3).to_string(index=False).splitlines(), result.pvalues_are]
    assert "exceeding" in lines[0]
    assert len(lines) == 1 + 6 + 1


def test_words_name_the_clusterer_and_its_training_study(X):
    train = cr.Study(X + 0.1, "vdx")
    result = cr.stability.in_group_proportion(X, clusterer=AgglomerativeClustering(2), train=train, n_null=1, rng=3)
    first = repr(result).splitlines()[0]
    assert first.startswith("In-group proportion: 14 samples, clusters by AgglomerativeClustering(")
    assert first.endswith(" learned on vdx, 1 null partition, seed 3")


def test_words_count_what_failed(X):
    def clusterer(X):
        if len(X) < 14 and X[0, 0] > 0:
            raise RuntimeError("not today")
        return (X[:, 1] > 0).astype(int)

    with pytest.warns(ReplicateWarning):
        result = cr.stability.in_group_stability(
            X, clusterer=clusterer, perturbation=cr.resampling.Subsample(0.7), n_resamples=10, rng=0
        )
    (n_failed,) = result.failures.values()
    assert repr(result).splitlines()[-1] == f"Failed: {n_failed} resamples: RuntimeError: not today"


def test_the_provenance_says_how_it_was_made(X):
    provenance = cr.stability.in_group_proportion(
        cr.Study(X, "vdx"), clusterer=AgglomerativeClustering(2), metric="cityblock", n_null=3, rng=17
    ).provenance
    assert provenance["seed"] == 17
    assert provenance["metric"] == "'cityblock'"
    assert provenance["n_null"] == 3
    assert provenance["train"] is None
    assert list(provenance["n_neighbors"]) == [1]
    assert provenance["noise"] == "label"
    assert "AgglomerativeClustering" in provenance["clusterers"][0]
    assert provenance["studies"]["vdx"]["samples"] == 14
    perturbed = cr.stability.in_group_stability(
        X, LABELS, perturbation=cr.resampling.Subsample(0.7), n_resamples=3, n_neighbors=[2, 1], noise="drop"
    ).provenance
    assert perturbed["resampling"] == "Subsample(fraction=0.7)"
    assert perturbed["n_resamples"] == 3
    assert list(perturbed["n_neighbors"]) == [2, 1]
    assert perturbed["noise"] == "drop"
    assert perturbed["clusterers"] == ["known labels"]


def test_a_plot_of_one_number_has_a_bar_for_every_cluster(X):
    _, ax = plt.subplots()
    result = cr.stability.in_group_proportion(X, LABELS)
    assert result.plot(ax) is ax
    assert [bar.get_height() for bar in ax.patches] == result.proportions.tolist()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "2"]
    plt.close("all")


def test_a_plot_of_several_numbers_has_a_curve_for_every_cluster(result):
    ax = result.plot()
    assert len(ax.lines) == 3
    for line, curve, name in zip(ax.lines, result.proportions.T, "xyz", strict=True):
        assert line.get_xdata().tolist() == [1, 2]
        assert line.get_ydata().tolist() == curve.tolist()
        assert line.get_label() == f"cluster {name}"
    plt.close("all")


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ParameterError, "either labels or a clusterer"),
        ({"labels": LABELS, "clusterer": KMeans(2)}, ParameterError, "either labels or a clusterer"),
        ({"labels": LABELS[:5]}, DataError, "one label for every point of study 'X': 14; got 5"),
        ({"labels": LABELS, "train": np.ones((5, 3))}, DataError, "labels of study 'train'.*: 5; got 14"),
        ({"labels": True}, ParameterError, "study 'X' has no known labels"),
        ({"labels": LABELS, "n_neighbors": 0}, ParameterError, "n_neighbors must be a positive integer, got 0"),
        ({"labels": LABELS, "n_neighbors": 1.5}, ParameterError, "n_neighbors must be a positive integer, got 1.5"),
        ({"labels": LABELS, "n_neighbors": True}, ParameterError, "n_neighbors must be a positive integer, got True"),
        ({"labels": LABELS, "n_neighbors": []}, ParameterError, r"or several; got \[\]"),
        ({"labels": LABELS, "n_neighbors": "2"}, ParameterError, "or several; got '2'"),
        ({"labels": LABELS, "n_neighbors": [1, -1]}, ParameterError, "n_neighbors must be .*, got -1"),
        ({"labels": LABELS, "n_neighbors": 14}, ParameterError, "below the number of samples, 14, got 14"),
        ({"labels": LABELS, "n_neighbors": [1, 20]}, ParameterError, "below the number of samples, 14, got 20"),
        ({"labels": LABELS, "metric": "euclidian"}, ParameterError, "metric must be .* got 'euclidian'"),
        ({"labels": LABELS, "n_null": -1}, ParameterError, "n_null must be an integer of at least 0, got -1"),
        ({"labels": LABELS, "n_null": 2.0}, ParameterError, "n_null must be .* got 2.0"),
        ({"labels": LABELS, "rng": -1}, ParameterError, "rng must be a non-negative integer"),
        ({"labels": LABELS, "train": np.eye(14)[:, :2]}, DataError, "different numbers of features"),
        ({"clusterer": KMeans(15)}, AllReplicatesFailed, "KMeans, k = 15 failed on the data as they are"),
        ({"clusterer": "kmeans"}, ParameterError, "clusterer"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, message, X):
    if isinstance(arguments.get("train"), np.ndarray):
        arguments = {**arguments, "train": cr.Study(arguments["train"], "train", label=False)}
    with pytest.raises(error, match=message):
        cr.stability.in_group_proportion(X, **arguments)
    if not {"train", "n_null"} & set(arguments):
        with pytest.raises(error, match=message):
            cr.stability.in_group_stability(X, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"perturbation": cr.resampling.Bootstrap}, r"perturbation must be Bootstrap\(\)"),
        ({"n_resamples": 0}, "n_resamples must be a positive integer, got 0"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"noise": "singletons"}, "noise must be one of 'label', 'drop'; got 'singletons'"),
    ],
)
def test_copies_that_make_no_sense_are_refused(arguments, message, X):
    with pytest.raises(ParameterError, match=message):
        cr.stability.in_group_stability(X, LABELS, **arguments)


def test_a_clusterer_that_fails_on_the_training_study_is_named_with_it(X):
    with pytest.raises(AllReplicatesFailed, match=r"failed on study 'vdx': more clusters asked for"):
        cr.stability.in_group_proportion(X, clusterer=AgglomerativeClustering(5), train=cr.Study(X[:3], "vdx"))


def test_two_studies_of_one_name_are_refused(X):
    with pytest.raises(ParameterError, match="different studies with the same name 'vdx'"):
        cr.stability.in_group_proportion(cr.Study(X, "vdx"), LABELS, train=cr.Study(X + 1, "vdx"))


def test_arguments_the_wrong_way_round_are_refused(X):
    with pytest.raises(ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments"):
        cr.stability.in_group_proportion(KMeans(2), X)
    with pytest.raises(ParameterError, match="train must be a table of samples by features, got KMeans: are the arg"):
        cr.stability.in_group_proportion(X, LABELS, train=KMeans(2))
    with pytest.raises(ParameterError, match=r"X must be one study or table, got dict: pick one, studies\[name\]"):
        cr.stability.in_group_proportion({"a": X, "b": X}, LABELS)
    with pytest.raises(ParameterError, match="noise must be one of 'label', 'drop'; got 'singletons'"):
        cr.stability.in_group_proportion(X, LABELS, noise="singletons")


def test_labels_of_numbered_rows_are_put_in_order(X):
    shuffled = pd.Series(LABELS).sample(frac=1, random_state=0)
    assert shuffled.tolist() != LABELS
    for table in (X, pd.DataFrame(X)):
        assert cr.stability.in_group_proportion(table, shuffled).labels.tolist() == LABELS
    # An index that does not number the rows says nothing of their order.
    elsewhere = pd.Series(LABELS, index=range(20, 34))[::-1]
    assert cr.stability.in_group_proportion(X, elsewhere).labels.tolist() == LABELS[::-1]


def test_several_studies_are_refused(X):
    with pytest.raises(ParameterError, match="X must be one study or table, got Studies"):
        cr.stability.in_group_proportion(cr.Studies({"a": X, "b": X}), LABELS)


def test_several_training_studies_are_refused(X):
    with pytest.raises(ParameterError, match="train must be one study or table, got Studies"):
        cr.stability.in_group_proportion(X, LABELS, train=cr.Studies({"a": X, "b": X}))
