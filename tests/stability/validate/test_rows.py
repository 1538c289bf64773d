"""Every row of `validate` against its index's own function."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans
from tests.stability.validate.cases import KMEANS, LABELS, NUMBERS, ROOT, RUN, B, S, X, expect, rows_of, stability_rows

import clustrep as cr
from clustrep.agreement.cluster_indices import INDICES
from clustrep.errors import ParameterError, ReplicateWarning
from clustrep.stability.validation import ranked_cluster_rows

COLUMNS = ["index", "k", "cluster", "size", "value", "sd", "low", "high", "better"]


# ---------------------------------------------------------------------------------------------------------------------
# every row by its own function: of a clusterer with several k, without any, and with known labels


def curve_rows(result):
    low, high = result.confidence_interval()
    ks = result.n_clusters
    rows = [(k, "all", len(X), *row) for k, *row in zip(ks, result.mean, result.sd, low, high, strict=True)]
    return sorted(rows, key=lambda row: row[0] or 0)


class Case:
    """A run of `validate`, and the same of every function by itself."""

    def __init__(self, clusterer, numbers, labels=None, noise="label"):
        self.clusterer, self.numbers, self.labels, self.noise = clusterer, numbers, labels, noise
        self.found = cr.stability.validate(clusterer, X, n_clusters=numbers, labels=labels, noise=noise, **RUN)
        self.ks = [None] if numbers is None else sorted(np.atleast_1d(numbers).tolist())

    def with_k(self, k):
        return self.clusterer if k is None else KMeans(k, n_init=2)

    def single(self, verb, n="n_resamples", **options):
        options = {"n_clusters": self.numbers, n: RUN[n], "rng": ROOT, "noise": self.noise} | options
        return verb(self.clusterer, X, **options)


@pytest.fixture(
    scope="module",
    params=[
        (KMEANS, NUMBERS),
        (DBSCAN(1.1, min_samples=3), None),
        (DBSCAN(1.3, min_samples=2), None, None, "drop"),
        (KMEANS, 3, LABELS),
        (KMEANS, NUMBERS, LABELS),
    ],
    ids=["k-means", "dbscan", "dbscan without noise", "labels", "labels and several k"],
)
def case(request):
    return Case(*request.param)


@pytest.mark.parametrize("index", ["matching", "inclusion", "jaccard", "r", "d"])
def test_stability_is_that_of_its_own_function(case, index):
    rows = []
    for k in case.ks:
        options = {"labels": case.labels, "noise": case.noise, "n_resamples": B, "rng": ROOT}
        result = cr.stability.stability(case.with_k(k), X, index=index, relative=True, **options)
        rows += stability_rows(result, k)
        assert rows[-1][3] == result.overall
    expect(case.found, index, rows)


@pytest.mark.parametrize(
    ("index", "verb", "n"),
    [
        ("relative_validation", cr.stability.relative_validation, "n_splits"),
        ("instability", cr.stability.bootstrap_instability, "n_resamples"),
    ],
)
def test_curves_are_those_of_their_own_functions(case, index, verb, n):
    expect(case.found, index, curve_rows(case.single(verb, n)))


def ranked(result, k):
    """Sort the test clusters of every split and direction from the weakest on, and average what has a rank."""
    places = {}
    of_k = result.cluster_sizes[:, :, result.n_clusters.index(k)]
    for split, direction in np.ndindex(*of_k.shape[:2]):
        values = result.per_cluster[k][split, direction].tolist()
        sizes = of_k[split, direction].tolist()
        pairs = sorted((value, size) for value, size in zip(values, sizes, strict=False) if not np.isnan(value))
        for rank, (value, size) in enumerate(pairs):
            places.setdefault(rank, []).append((value, size))
    rows = []
    for rank, found in sorted(places.items()):
        values, sizes = np.array(found).T
        sd = values.std(ddof=1) if len(values) > 1 else np.nan
        rows.append((k, f"#{rank + 1}", sizes.mean(), values.mean(), sd, *np.quantile(values, [0.025, 0.975])))
    return rows


def test_prediction_strengths_are_ranked_from_the_weakest_on(case):
    result = case.single(cr.stability.prediction_strength, "n_splits")
    curve = {row[0]: row for row in curve_rows(result)}
    rows = [row for k in case.ks for row in (*ranked(result, k), curve[k])]
    found = rows_of(case.found, "prediction_strength")
    assert found["k"].tolist() == [row[0] if row[0] is not None else pd.NA for row in rows]
    assert found["cluster"].tolist() == [row[1] for row in rows]
    np.testing.assert_allclose(
        found[["value", "sd", "low", "high"]].to_numpy(), [row[3:] for row in rows], rtol=1e-12, atol=1e-15
    )
    assert set(found["better"]) == {"higher"}
    for k in case.ks:
        own = found[found["k"] == k] if k is not None else found
        values = own["value"].to_numpy()
        if case.numbers is not None:  # as many clusters in every split: ranks grow
            assert (np.diff(values[:-1]) >= 0).all()
            assert values[0] == pytest.approx(values[-1])  # the weakest is what the curve is made of


def test_prediction_strengths_by_hand():
    """Two splits, two directions, three clusters: ranks first, then means."""
    result = cr.stability.prediction_strength(KMEANS, X, n_clusters=[2, 3], n_splits=2, rng=ROOT)
    strengths = np.full((2, 2, 2, 3), np.nan)
    strengths[:, :, 0, :2] = [[[0.5, 0.25], [1.0, 0.75]], [[0.0, 1.0], [0.5, 0.5]]]
    strengths[:, :, 1] = [[[1.0, 0.5, 0.0], [0.25, 0.75, 0.5]], [[1.0, 1.0, 0.25], [0.5, np.nan, 0.0]]]
    sizes = np.zeros((2, 2, 2, 3))
    sizes[:, :, 0, :2] = [[[10, 5], [9, 6]], [[8, 7], [7, 8]]]
    sizes[:, :, 1] = [[[5, 6, 4], [3, 4, 8]], [[5, 5, 5], [10, 1, 4]]]
    made = dataclasses.replace(result, cluster_strengths=strengths, cluster_sizes=sizes)
    rows = ranked_cluster_rows(made)
    assert [(row.index, row.k, row.cluster) for row in rows] == [
        ("prediction_strength", 2, "#1"),
        ("prediction_strength", 2, "#2"),
        ("prediction_strength", 3, "#1"),
        ("prediction_strength", 3, "#2"),
        ("prediction_strength", 3, "#3"),
    ]
    by_rank = [
        [0.25, 0.75, 0.0, 0.5],
        [0.5, 1.0, 1.0, 0.5],
        [0.0, 0.25, 0.25, 0.0],
        [0.5, 0.5, 1.0, 0.5],
        [1.0, 0.75, 1.0],  # a cluster of one has no strength, and no rank
    ]
    for row, values in zip(rows, by_rank, strict=True):
        mean = sum(values) / len(values)
        assert row.value == pytest.approx(mean)
        assert row.sd == pytest.approx(np.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)))
        assert [row.low, row.high] == pytest.approx(np.quantile(values, [0.025, 0.975]).tolist())
        assert not row.whole
    assert [row.size for row in rows[2:4]] == [round((4 + 3 + 5 + 4) / 4), round((6 + 8 + 5 + 10) / 4)]


def test_the_size_of_a_rank_is_that_of_the_clusters_that_have_it():
    clusterer = DBSCAN(1.1, min_samples=3)
    found = rows_of(cr.stability.validate(clusterer, X, indices="prediction_strength", **RUN), "prediction_strength")
    result = cr.stability.prediction_strength(clusterer, X, n_splits=S, rng=ROOT)
    assert found["size"].tolist()[:-1] == [round(row[2]) for row in ranked(result, None)]


def test_splits_that_are_all_noise_are_failures_here_too():
    clusterer, run = DBSCAN(1.3, min_samples=3), {"n_splits": S, "rng": ROOT, "noise": "drop"}
    with pytest.warns(ReplicateWarning, match="fewer than two points left after dropping noise"):
        alone = cr.stability.prediction_strength(clusterer, X, **run)
    with pytest.warns(ReplicateWarning, match="fewer than two points left after dropping noise"):
        found = cr.stability.validate(clusterer, X, indices="prediction_strength", **run)
    assert found.failures == alone.failures


def test_in_group_proportions_are_those_of_their_own_function(case):
    rows = []
    for k in case.ks:
        options = {"clusterer": case.with_k(k)} if case.labels is None else {"labels": case.labels}
        result = cr.stability.in_group_proportion(X, rng=ROOT, noise=case.noise, **options)
        rows += [(k, *row) for row in zip(result.clusters, result.sizes, result.proportions, strict=True)]
        rows.append((k, "all", result.sizes.sum(), result.overall))
    expect(case.found, "in_group", rows)


def test_consensus_is_that_of_its_own_function(case):
    result = case.single(cr.stability.consensus, labels=case.labels)
    frame, pac, rows = result.to_frame(), [], []
    for k in case.ks:
        own = frame[frame["k"] == k] if k is not None else frame
        clusters, whole = own.iloc[:-1], own.iloc[-1]
        pac.append((k, "all", 30, whole["pac"]))
        rows += [(k, *row) for row in zip(clusters["cluster"], clusters["size"], clusters["consensus"], strict=True)]
        known = clusters.dropna(subset="consensus")
        average = known["consensus"].to_numpy() @ known["size"].to_numpy() / known["size"].sum()
        rows.append((k, "all", 30, average))
    expect(case.found, "pac", pac)
    expect(case.found, "consensus", rows)


def test_assignment_consistency_is_that_of_its_own_function(case):
    result = case.single(cr.stability.assignment_consistency, labels=case.labels)
    frame, rows = result.to_frame(), []
    for k in case.ks:
        own = frame[frame["k"] == k] if k is not None else frame
        clusters = own.iloc[:-1]
        rows += [(k, *row) for row in zip(clusters["cluster"], clusters["size"], clusters["cri"], strict=True)]
        rows.append((k, "all", 30, own.iloc[-1]["wcri"]))
    expect(case.found, "assignment", rows)


def test_the_test_for_clusters_is_that_of_its_own_function(case):
    pvalue = cr.stability.cluster_test(X, rng=ROOT).pvalue
    expect(case.found, "test", [(None, "all", 30, pvalue)])
    assert case.found.pvalue == pvalue


def test_the_table_holds_every_index_in_order(case):
    frame = case.found.to_frame()
    assert list(frame.columns) == COLUMNS
    assert list(dict.fromkeys(frame["index"])) == list(INDICES)
    for index in INDICES:
        ks = rows_of(case.found, index)["k"]
        assert ks.isna().all() if case.numbers is None or index == "test" else ks.is_monotonic_increasing
    if case.labels is not None:
        n = len(case.ks)
        assert rows_of(case.found, "jaccard")["cluster"].tolist() == ["basal", "her2", "lum", "all"] * n
        assert rows_of(case.found, "in_group")["size"].tolist() == [6, 9, 15, 30] * n
    if case.noise == "drop":
        for index in ("inclusion", "jaccard", "r", "d", "in_group"):
            assert "-1" not in rows_of(case.found, index)["cluster"].tolist()
    elif case.numbers is None:
        assert "-1" in frame["cluster"].tolist()


def test_values_are_spread_out_enough_to_tell_rows_apart(validation):
    values = validation.to_frame().groupby("index")["value"].nunique()
    assert (values[["inclusion", "jaccard", "r", "d", "consensus", "assignment", "prediction_strength"]] > 3).all()
    assert (values[["matching", "instability", "relative_validation", "pac"]] == 2).all()


def test_directions_are_said():
    higher = {"inclusion", "jaccard", "r", "prediction_strength", "in_group", "consensus", "assignment"}
    assert {index for index, record in INDICES.items() if record.higher_is_better} == higher


# ---------------------------------------------------------------------------------------------------------------------
# labels alone


LABELS_SUFFICE = ["prediction_strength", "in_group", "instability", "relative_validation", "test"]


@pytest.mark.parametrize("noise", ["label", "drop"])
def test_labels_alone_are_judged_by_what_needs_no_clusterer(noise):
    labels = np.where(np.arange(30) % 7 == 0, -1, np.arange(30) // 11)
    found = cr.stability.validate(None, X, labels=labels, noise=noise, **RUN)
    assert list(dict.fromkeys(found.index)) == LABELS_SUFFICE
    assert found.to_frame()["k"].isna().all()
    options = {"labels": labels, "rng": ROOT, "noise": noise}
    for index, verb, n in (
        ("relative_validation", cr.stability.relative_validation, "n_splits"),
        ("instability", cr.stability.bootstrap_instability, "n_resamples"),
    ):
        expect(found, index, curve_rows(verb(None, X, **options, **{n: RUN[n]})))
    strengths = cr.stability.prediction_strength(None, X, n_splits=S, **options)
    (whole,) = curve_rows(strengths)
    rows = rows_of(found, "prediction_strength")
    np.testing.assert_allclose(rows["value"], [row[3] for row in (*ranked(strengths, None), whole)], rtol=1e-12)
    result = cr.stability.in_group_proportion(X, labels, noise=noise)
    assert result.clusters.tolist() == ([-1, 0, 1, 2] if noise == "label" else [0, 1, 2])
    rows = [(None, *row) for row in zip(result.clusters, result.sizes, result.proportions, strict=True)]
    expect(found, "in_group", [*rows, (None, "all", result.sizes.sum(), result.overall)])
    expect(found, "test", [(None, "all", 30, cr.stability.cluster_test(X, rng=ROOT).pvalue)])
    assert repr(found).startswith(f"Validation of known labels: {B} resamples, {S} splits, seed {ROOT}\n")
    assert set(found.provenance["resampling"]) == set(LABELS_SUFFICE)
    assert found.failures == {}
    assert found.plot().shape == (2, 2)


def test_labels_of_the_study_may_be_judged_alone():
    run = {"indices": ["in_group", "instability"], **RUN}
    of_study = cr.stability.validate(None, cr.Study(X, "X", labels=LABELS), labels=True, **run)
    pd.testing.assert_frame_equal(of_study.to_frame(), cr.stability.validate(None, X, labels=LABELS, **run).to_frame())
    shuffled = pd.Series(LABELS).sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(
        cr.stability.validate(None, X, labels=shuffled, **run).to_frame(), of_study.to_frame()
    )


@pytest.mark.parametrize("index", [index for index in INDICES if index not in LABELS_SUFFICE])
def test_labels_alone_are_not_judged_by_what_needs_a_clusterer(index):
    with pytest.raises(ParameterError, match=f"indices '{index}' need a clusterer that finds the clusters again"):
        cr.stability.validate(None, X, labels=LABELS, indices=["in_group", index], **RUN)


# ---------------------------------------------------------------------------------------------------------------------
# some indices


@pytest.mark.parametrize("indices", [[index] for index in INDICES] + [["d", "matching"], ["assignment", "pac", "test"]])
def test_some_indices_have_the_values_that_they_have_among_all(indices, validation):
    some = cr.stability.validate(KMEANS, X, n_clusters=NUMBERS, indices=indices, **RUN)
    full = validation.to_frame()
    expected = full[full["index"].isin(indices)].reset_index(drop=True)
    pd.testing.assert_frame_equal(some.to_frame(), expected, check_exact=True)


def test_one_index_may_be_given_by_its_name_and_twice_is_once():
    run = {"n_clusters": 2, **RUN}
    one, listed, twice = (cr.stability.validate(KMEANS, X, indices=some, **run) for some in ("r", ("r",), ["r", "r"]))
    pd.testing.assert_frame_equal(one.to_frame(), listed.to_frame())
    pd.testing.assert_frame_equal(one.to_frame(), twice.to_frame())
    assert one.pvalue is None
