"""Every row of `validate` against its index's own function; shared fits, figures, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans

import clustrep as cr
from clustrep.agreement.cluster_indices import INDICES, Fits
from clustrep.errors import ParameterError, ReplicateWarning
from clustrep.resampling import Jitter
from clustrep.stability.perturbation import READERS
from clustrep.stability.reclustering import KINDS
from clustrep.stability.validation import OVER_K
from clustrep.summaries import tails

B, S, SEED = 5, 4, 5
RUN = {"n_resamples": B, "n_splits": S, "rng": SEED}
KMEANS = KMeans(n_init=2)
CENTRES = np.repeat([[0.0, 0.0, 0.0], [2.5, 0.0, 1.0], [0.0, 2.5, -1.0]], [12, 10, 8], axis=0)
X = np.random.default_rng(4).normal(size=(30, 3)) + CENTRES
LABELS = np.repeat(["lum", "her2", "basal"], [15, 9, 6])
LABELS_SUFFICE = ["prediction_strength", "in_group", "instability", "relative_validation", "test"]
validate = cr.stability.validate
COLUMNS = ["k", "cluster", "size", "value", "sd", "low", "high"]


@pytest.fixture(scope="module")
def validation():
    return validate(KMEANS, X, n_clusters=[3, 2], **RUN)


def interval(values):
    known = values[~np.isnan(values)]
    return [np.nanmean(values), known.std(ddof=1), *np.quantile(known, tails(0.95))]


def rows_by_its_own_function(index, clusterer, ks, labels):
    """The rows of one index, from the function that computes it."""
    options, missing = {"rng": SEED}, [np.nan] * 3
    own = labels if clusterer is None else None
    rows = []
    if index in READERS:
        for k in ks:
            of_k = clusterer if k is None else KMeans(k, n_init=2)
            result = cr.stability.stability(
                of_k, X, index=index, labels=labels, relative=True, n_resamples=B, **options
            )
            if result.index != "matching":
                parts = (result.clusters, result.sizes, result.mean, result.sd, *result.confidence_interval())
                rows += [[k, *row] for row in zip(*parts, strict=True)]
            rows.append([k, "all", 30, *interval(result.overall_distribution)])
    elif index in ("prediction_strength", "relative_validation", "instability"):
        verb = cr.stability.bootstrap_instability if index == "instability" else getattr(cr.stability, index)
        n = {"n_resamples": B} if index == "instability" else {"n_splits": S}
        result = verb(clusterer, X, n_clusters=None if ks == [None] else ks, labels=own, **n, **options)
        parts = (ks, result.mean, result.sd, *result.confidence_interval())
        rows = [[k, "all", 30, *row] for k, *row in zip(*parts, strict=True)]
    elif index == "in_group":
        for k in ks:
            of_k = None if labels is not None else clusterer if k is None else KMeans(k, n_init=2)
            result = cr.stability.in_group_proportion(X, labels, clusterer=of_k, **options)
            parts = zip(result.clusters, result.sizes, result.proportions, strict=True)
            rows += [[k, *row, *missing] for row in parts]
            rows.append([k, "all", result.sizes.sum(), result.overall, *missing])
    elif index == "test":
        rows = [[None, "all", 30, cr.stability.cluster_test(X, rng=SEED).pvalue, *missing]]
    else:
        verb = cr.stability.assignment_consistency if index == "assignment" else cr.stability.consensus
        numbers = None if ks == [None] else ks
        result = verb(clusterer, X, n_clusters=numbers, labels=labels, n_resamples=B, **options)
        value = {"assignment": "cri", "consensus": "consensus", "pac": "pac"}[index]
        for k, (_, frame) in zip(ks, result.to_frame().groupby("k", dropna=False), strict=True):
            *clusters, whole = frame.to_dict("records")
            if index != "pac":
                rows += [[k, row["cluster"], row["size"], row[value], *missing] for row in clusters]
            overall = whole["wcri" if index == "assignment" else "pac"]
            if index == "consensus":
                known = [row for row in clusters if row["consensus"] == row["consensus"]]
                overall = np.average([row[value] for row in known], weights=[row["size"] for row in known])
            rows.append([k, "all", 30, overall, *missing])
    return rows


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize(
    ("clusterer", "ks", "labels"),
    [
        (KMEANS, [2, 3], None),
        (KMEANS, [2, 3], LABELS),
        (DBSCAN(1.1, min_samples=3), [None], None),
        (None, [None], LABELS),
    ],
    ids=["k-means", "labels", "dbscan", "labels alone"],
)
def test_every_row_is_that_of_its_own_function(index, clusterer, ks, labels):
    if clusterer is None and index not in LABELS_SUFFICE:
        with pytest.raises(ParameterError) as caught:
            validate(None, X, labels=labels, indices=["in_group", index], **RUN)
        assert caught.value.parameter == "indices"
        return
    numbers = None if ks == [None] else ks
    found = validate(clusterer, X, n_clusters=numbers, labels=labels, indices=index, **RUN).to_frame()
    expected = rows_by_its_own_function(index, clusterer, ks, labels)
    assert found["k"].tolist() == [pd.NA if row[0] is None else row[0] for row in expected]
    assert found["cluster"].tolist() == [str(row[1]) for row in expected]
    assert found["size"].tolist() == [row[2] for row in expected]
    values = np.array([row[3:] for row in expected], dtype=float)
    if index == "consensus":  # the average, in another order of summation
        np.testing.assert_allclose(found[COLUMNS[3:]].to_numpy(), values, rtol=1e-13)
    else:
        np.testing.assert_array_equal(found[COLUMNS[3:]].to_numpy(), values)
    record = INDICES[index]
    assert set(found["better"]) == {record.better}
    assert found["value"].dropna().between(*record.bounds).all()


def test_all_indices_are_there_and_have_the_values_that_each_has_alone(validation):
    frame = validation.to_frame()
    assert list(dict.fromkeys(frame["index"])) == list(INDICES)
    assert sorted([*READERS, *OVER_K, "in_group", "test"]) == sorted(INDICES)
    assert set(KINDS) == set(Fits) - {Fits.NONE, Fits.STUDY}
    for indices in ("r", ["d", "matching"], ("assignment", "pac", "test"), np.array(["consensus", "consensus"])):
        some = validate(KMEANS, X, n_clusters=[3, 2], indices=indices, **RUN).to_frame()
        expected = frame[frame["index"].isin(np.atleast_1d(indices))].reset_index(drop=True)
        pd.testing.assert_frame_equal(some, expected, check_exact=True)
    overall = validation.overall()
    assert overall.index.tolist() == [2, 3]
    assert overall.columns.tolist() == [index for index in INDICES if index != "test"]
    wholes = frame[(frame["cluster"] == "all") & (frame["index"] != "test")]
    for index, k, value in wholes[["index", "k", "value"]].to_numpy():
        assert overall.loc[k, index] == value
    assert validation.provenance["resampling"]["r"] == repr(Jitter())
    assert validation.provenance["resampling"]["prediction_strength"] == "half-splits"


@pytest.mark.parametrize(
    ("indices", "fits"),
    [
        (["r", "d"], B),
        (["matching", "pac", "consensus", "assignment"], B),
        (["prediction_strength", "relative_validation"], 2 * S),
        (["instability"], 2 * B),
        (["in_group"], 0),
        (["test"], 0),
        (None, 6 * B + 2 * S),
    ],
)
def test_indices_share_their_fits_and_the_reference_is_fitted_once(indices, fits):
    calls = []

    def counted(X, n_clusters=2):
        calls.append(len(X))
        return np.argsort(np.argsort(X[:, 0], kind="stable"), kind="stable") * n_clusters // len(X)

    validate(counted, X, n_clusters=[2, 3, 4], indices=indices, n_jobs=1, **RUN)
    reference = indices is None or not set(indices) <= set(LABELS_SUFFICE) - {"in_group"}
    assert len(calls) == 3 * (reference + fits)
    calls.clear()
    validate(counted, X, labels=LABELS, indices=["in_group", "r"], n_jobs=1, **RUN)
    assert len(calls) == B


def test_clear_clusters_and_a_single_one_are_the_best_there_is():
    points = np.random.default_rng(0).normal(size=(30, 3)) * 0.5 + np.repeat(50 * np.eye(3), 10, axis=0)
    indices = [index for index in INDICES if index not in ("inclusion", "r", "d", "test")]
    row = validate(KMeans(n_init=5), points, n_clusters=3, indices=indices, **RUN).overall().loc[3]
    assert row.to_dict() == {index: float(INDICES[index].higher_is_better) for index in indices}
    one = validate(lambda X: np.zeros(len(X), dtype=int), np.ones((8, 2)), **RUN)
    whole = {index: value for index, value, w in zip(one.index, one.value, one.whole, strict=True) if w}
    assert {**whole, "test": 0.0} == {index: float(INDICES[index].higher_is_better) for index in INDICES}


def test_values_that_fail_are_counted_and_leave_the_others():
    with pytest.warns(ReplicateWarning):
        result = validate(
            AgglomerativeClustering(), X[:10], n_clusters=[2, 9], indices=["matching", "jaccard", "pac"], **RUN
        )
    assert result.overall().notna().all(axis=1).tolist() == [True, False]
    assert sum(result.failures.values()) == 3 * B
    assert np.isnan(validate(AgglomerativeClustering(10), X[:10], indices="r", **RUN).value).all()  # no pairs
    with pytest.warns(ReplicateWarning):
        empty = validate(AgglomerativeClustering(2), X[:4], indices=["prediction_strength", "d"], **RUN)
    assert empty.plot().shape == (1, 2)


def test_a_cluster_may_be_called_all_and_a_clusterer_may_have_no_k():
    result = validate(KMEANS, X, n_clusters=2, labels=["all"] * 15 + ["some"] * 15, indices=["jaccard"], **RUN)
    assert result.overall().shape == (1, 1)
    overall = validate(DBSCAN(1.1, min_samples=3), X, indices=["jaccard", "in_group"], **RUN).overall()
    assert (overall.shape, overall.index.isna().tolist()) == ((1, 2), [True])


def test_every_index_has_a_panel_with_its_numbers(validation):
    axes = validation.plot()
    assert axes.shape == (6, 2)
    overall, frame = validation.overall(), validation.to_frame()
    for ax, index in zip(axes.flat, overall.columns, strict=True):
        clusters, whole = ax.lines
        assert whole.get_xdata().tolist() == [2, 3]
        np.testing.assert_array_equal(whole.get_ydata(), overall[index])
        own = frame[(frame["index"] == index) & (frame["cluster"] != "all")]
        np.testing.assert_array_equal(clusters.get_ydata(), own["value"])
        assert ax.get_ylim()[0] == 0
        assert ax.get_ylim()[1] >= np.nanmax(frame.loc[frame["index"] == index, "value"])
    some = validate(KMEANS, X, n_clusters=[2, 3], indices=["matching", "r", "pac"], **RUN)
    assert [ax.get_visible() for ax in some.plot().flat] == [True] * 3 + [False]
    assert len(some.plot(index="r").lines) == 2
    for refused in (
        lambda: some.plot(axes[0, 0]),
        lambda: some.plot(index="d"),
        lambda: validate(KMEANS, X, n_clusters=2, indices="test", **RUN).plot(),
    ):
        with pytest.raises(ParameterError):
            refused()


@pytest.mark.parametrize("indices", ["jacard", ["r", "silhouette"], [], 3, [["r"]]])
def test_indices_are_checked(indices):
    with pytest.raises(ParameterError) as caught:
        validate(KMEANS, X, indices=indices)
    assert caught.value.parameter == "indices"
