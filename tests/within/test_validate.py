"""Every row of `validate` is what the single function gives; fits are shared; the plots of one study."""

from __future__ import annotations

import dataclasses
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.helpers import configured

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, DataError, DataWarning, ParameterError, ReplicateWarning
from clustrep.tables.index_records import INDICES
from clustrep.within.indices import ranked_cluster_rows

ROOT = 5
B, S = 5, 4  # resamples, splits
RUN = {"n_resamples": B, "n_splits": S, "rng": ROOT}
NUMBERS = [3, 2]
COLUMNS = ["index", "k", "cluster", "size", "value", "sd", "low", "high", "better"]
KMEANS = KMeans(n_init=2)


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


def blobs():
    """Three clusters that run into each other, and three features."""
    centres = np.repeat([[0.0, 0.0, 0.0], [2.5, 0.0, 1.0], [0.0, 2.5, -1.0]], [12, 10, 8], axis=0)
    return np.random.default_rng(4).normal(size=(30, 3)) + centres


X = blobs()
X.flags.writeable = False


@pytest.fixture(scope="module")
def validation():
    return cr.validate(KMEANS, X, n_clusters=NUMBERS, **RUN)


calls = []


def counted(X, n_clusters=2):
    """Cut the points by the rank of their first feature, and keep count."""
    calls.append((len(X), n_clusters))
    return np.argsort(np.argsort(X[:, 0], kind="stable"), kind="stable") * n_clusters // len(X)


def n_fits(**options):
    calls.clear()
    result = cr.validate(counted, X, n_resamples=B, n_splits=S, rng=ROOT, n_jobs=1, **options)
    return len(calls), result


def rows_of(validation, index):
    frame = validation.to_frame()
    return frame[frame["index"] == index].drop(columns="index").reset_index(drop=True)


def summary(values):
    """Mean, sd and interval of the replicates that have a value."""
    values = values[~np.isnan(values)]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(np.nanmean(values)), float(values.std(ddof=1)), low, high


def expect(validation, index, rows):
    """Compare all rows of an index, bit for bit."""
    found = rows_of(validation, index)
    assert found["k"].tolist() == [row[0] if row[0] is not None else pd.NA for row in rows]
    assert found["cluster"].tolist() == [str(row[1]) for row in rows]
    assert found["size"].tolist() == [row[2] for row in rows]
    numbers = [[*row[3:], *[np.nan] * (7 - len(row))] for row in rows]
    np.testing.assert_array_equal(found[["value", "sd", "low", "high"]].to_numpy(), numbers)
    assert set(found["better"]) == {"higher" if INDICES[index].higher_is_better else "lower"}


# ---------------------------------------------------------------------------------------------------------------------
# every row by its own function: of a clusterer with several k, without any, and with known labels


def stability_rows(result, k):
    rows = []
    if result.index != "matching":
        low, high = result.confidence_interval()
        rows = [
            (k, *row)
            for row in zip(result.clusters, result.sizes, result.per_cluster, result.sd, low, high, strict=True)
        ]
    return [*rows, (k, "all", len(result.labels), *summary(result.overall_distribution))]


def curve_rows(result):
    low, high = result.confidence_interval()
    ks = result.n_clusters
    rows = [(k, "all", len(X), *row) for k, *row in zip(ks, result.mean, result.sd, low, high, strict=True)]
    return sorted(rows, key=lambda row: row[0] or 0)


class Case:
    """A run of `validate`, and the same of every function by itself."""

    def __init__(self, clusterer, numbers, labels=None, noise="label"):
        self.clusterer, self.numbers, self.labels, self.noise = clusterer, numbers, labels, noise
        self.found = cr.validate(clusterer, X, n_clusters=numbers, labels=labels, noise=noise, **RUN)
        self.ks = [None] if numbers is None else sorted(np.atleast_1d(numbers).tolist())

    def with_k(self, k):
        return self.clusterer if k is None else KMeans(k, n_init=2)

    def single(self, verb, n="n_resamples", **options):
        options = {"n_clusters": self.numbers, n: RUN[n], "rng": ROOT, "noise": self.noise} | options
        return verb(self.clusterer, X, **options)


LABELS = np.repeat(["lum", "her2", "basal"], [15, 9, 6])


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
        result = cr.stability(case.with_k(k), X, index=index, relative=True, **options)
        rows += stability_rows(result, k)
        assert rows[-1][3] == result.overall
    expect(case.found, index, rows)


@pytest.mark.parametrize(
    ("index", "verb", "n"),
    [
        ("relative_validation", cr.relative_validation, "n_splits"),
        ("instability", cr.bootstrap_instability, "n_resamples"),
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
    result = case.single(cr.prediction_strength, "n_splits")
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
    result = cr.prediction_strength(KMEANS, X, n_clusters=[2, 3], n_splits=2, rng=ROOT)
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
    found = rows_of(cr.validate(clusterer, X, indices="prediction_strength", **RUN), "prediction_strength")
    result = cr.prediction_strength(clusterer, X, n_splits=S, rng=ROOT)
    assert found["size"].tolist()[:-1] == [round(row[2]) for row in ranked(result, None)]


def test_splits_that_are_all_noise_are_failures_here_too():
    clusterer, run = DBSCAN(1.3, min_samples=3), {"n_splits": S, "rng": ROOT, "noise": "drop"}
    with pytest.warns(ReplicateWarning, match="fewer than two points left after dropping noise"):
        alone = cr.prediction_strength(clusterer, X, **run)
    with pytest.warns(ReplicateWarning, match="fewer than two points left after dropping noise"):
        found = cr.validate(clusterer, X, indices="prediction_strength", **run)
    assert found.failures == alone.failures


def test_in_group_proportions_are_those_of_their_own_function(case):
    rows = []
    for k in case.ks:
        options = {"clusterer": case.with_k(k)} if case.labels is None else {"labels": case.labels}
        result = cr.in_group_proportion(X, rng=ROOT, noise=case.noise, **options)
        rows += [(k, *row) for row in zip(result.clusters, result.sizes, result.proportions, strict=True)]
        rows.append((k, "all", result.sizes.sum(), result.overall))
    expect(case.found, "in_group", rows)


def test_consensus_is_that_of_its_own_function(case):
    result = case.single(cr.consensus, labels=case.labels)
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
    result = case.single(cr.assignment_consistency, labels=case.labels)
    frame, rows = result.to_frame(), []
    for k in case.ks:
        own = frame[frame["k"] == k] if k is not None else frame
        clusters = own.iloc[:-1]
        rows += [(k, *row) for row in zip(clusters["cluster"], clusters["size"], clusters["cri"], strict=True)]
        rows.append((k, "all", 30, own.iloc[-1]["wcri"]))
    expect(case.found, "assignment", rows)


def test_the_test_for_clusters_is_that_of_its_own_function(case):
    pvalue = cr.cluster_test(X, rng=ROOT).pvalue
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
    found = cr.validate(None, X, labels=labels, noise=noise, **RUN)
    assert list(dict.fromkeys(found.index)) == LABELS_SUFFICE
    assert found.to_frame()["k"].isna().all()
    options = {"labels": labels, "rng": ROOT, "noise": noise}
    for index, verb, n in (
        ("relative_validation", cr.relative_validation, "n_splits"),
        ("instability", cr.bootstrap_instability, "n_resamples"),
    ):
        expect(found, index, curve_rows(verb(None, X, **options, **{n: RUN[n]})))
    strengths = cr.prediction_strength(None, X, n_splits=S, **options)
    (whole,) = curve_rows(strengths)
    rows = rows_of(found, "prediction_strength")
    np.testing.assert_allclose(rows["value"], [row[3] for row in (*ranked(strengths, None), whole)], rtol=1e-12)
    result = cr.in_group_proportion(X, labels, noise=noise)
    assert result.clusters.tolist() == ([-1, 0, 1, 2] if noise == "label" else [0, 1, 2])
    rows = [(None, *row) for row in zip(result.clusters, result.sizes, result.proportions, strict=True)]
    expect(found, "in_group", [*rows, (None, "all", result.sizes.sum(), result.overall)])
    expect(found, "test", [(None, "all", 30, cr.cluster_test(X, rng=ROOT).pvalue)])
    assert repr(found).startswith(f"Validation of known labels: {B} resamples, {S} splits, seed {ROOT}\n")
    assert set(found.provenance["resampling"]) == set(LABELS_SUFFICE)
    assert found.failures == {}
    assert found.plot().shape == (1, 4)


def test_labels_of_the_study_may_be_judged_alone():
    run = {"indices": ["in_group", "instability"], **RUN}
    of_study = cr.validate(None, cr.Study(X, "X", labels=LABELS), labels=True, **run)
    pd.testing.assert_frame_equal(of_study.to_frame(), cr.validate(None, X, labels=LABELS, **run).to_frame())
    shuffled = pd.Series(LABELS).sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(cr.validate(None, X, labels=shuffled, **run).to_frame(), of_study.to_frame())


@pytest.mark.parametrize("index", [index for index in INDICES if index not in LABELS_SUFFICE])
def test_labels_alone_are_not_judged_by_what_needs_a_clusterer(index):
    with pytest.raises(ParameterError, match=f"indices '{index}' need a clusterer that finds the clusters again"):
        cr.validate(None, X, labels=LABELS, indices=["in_group", index], **RUN)


# ---------------------------------------------------------------------------------------------------------------------
# some indices


@pytest.mark.parametrize("indices", [[index] for index in INDICES] + [["d", "matching"], ["assignment", "pac", "test"]])
def test_some_indices_have_the_values_that_they_have_among_all(indices, validation):
    some = cr.validate(KMEANS, X, n_clusters=NUMBERS, indices=indices, **RUN)
    full = validation.to_frame()
    expected = full[full["index"].isin(indices)].reset_index(drop=True)
    pd.testing.assert_frame_equal(some.to_frame(), expected, check_exact=True)


def test_one_index_may_be_given_by_its_name_and_twice_is_once():
    run = {"n_clusters": 2, **RUN}
    one, listed, twice = (cr.validate(KMEANS, X, indices=some, **run) for some in ("r", ("r",), ["r", "r"]))
    pd.testing.assert_frame_equal(one.to_frame(), listed.to_frame())
    pd.testing.assert_frame_equal(one.to_frame(), twice.to_frame())
    assert one.pvalue is None


# ---------------------------------------------------------------------------------------------------------------------
# shared fits


@pytest.mark.parametrize(
    ("indices", "fits"),
    [
        (["r"], B),
        (["d"], B),
        (["r", "d"], B),
        (["inclusion"], B),
        (["jaccard"], B),
        (["matching", "pac", "consensus", "assignment"], B),
        (["matching", "assignment"], B),
        (["pac", "consensus"], B),
        (["prediction_strength"], 2 * S),
        (["prediction_strength", "relative_validation"], 2 * S),
        (["instability"], 2 * B),
        (["in_group"], 0),
        (["test"], 0),
        (None, 6 * B + 2 * S),
    ],
)
def test_indices_share_their_fits_and_the_reference_is_fitted_once(indices, fits):
    found, _ = n_fits(n_clusters=[2, 3, 4], indices=indices)
    without_reference = {"prediction_strength", "relative_validation", "instability", "test"}
    reference = indices is None or not set(indices) <= without_reference
    assert found == 3 * (reference + fits)


def test_the_reference_is_no_fit_where_labels_are_given():
    found, _ = n_fits(indices=["r", "d", "matching", "pac", "in_group"], labels=LABELS)
    assert found == 2 * B
    found, _ = n_fits(indices="in_group", labels=LABELS)
    assert found == 0


def test_no_reference_is_fitted_where_no_index_needs_it():
    assert n_fits(indices="test")[0] == 0
    assert n_fits(indices=["prediction_strength", "relative_validation"])[0] == 2 * S
    assert n_fits(indices="instability")[0] == 2 * B


def test_single_functions_together_take_more_fits():
    found, _ = n_fits(n_clusters=[2])
    calls.clear()
    for index in ("matching", "inclusion", "jaccard", "r", "d"):
        cr.stability(counted, X, index=index, n_resamples=B, rng=ROOT)
    for verb in (cr.consensus, cr.assignment_consistency, cr.bootstrap_instability):
        verb(counted, X, n_resamples=B, rng=ROOT)
    for verb in (cr.prediction_strength, cr.relative_validation):
        verb(counted, X, n_splits=S, rng=ROOT)
    cr.in_group_proportion(X, clusterer=counted, rng=ROOT)
    assert found == 1 + 6 * B + 2 * S
    assert len(calls) == 5 * (B + 1) + 2 * (B + 1) + 2 * B + 4 * S + 1


# ---------------------------------------------------------------------------------------------------------------------
# laws


def test_workers_and_batches_change_nothing():
    def run(**options):
        indices = ["r", "jaccard", "prediction_strength", "instability", "pac", "assignment", "in_group"]
        clusterer = AgglomerativeClustering()
        return cr.validate(clusterer, X, n_clusters=[2, 3], indices=indices, **RUN, **options).to_frame()

    expected = run()
    pd.testing.assert_frame_equal(run(n_jobs=2), expected, check_exact=True)
    pd.testing.assert_frame_equal(configured(run, progress=False)(), expected, check_exact=True)
    # Shortcuts number the clusters in their own way.
    slow = configured(run, accelerate=False)()
    whole = expected["cluster"] == "all"
    np.testing.assert_allclose(
        slow.loc[whole, ["value", "sd", "low", "high"]], expected.loc[whole, ["value", "sd", "low", "high"]], rtol=1e-12
    )


def test_the_seed_is_all_that_a_run_follows_from(validation):
    some = ["jaccard", "test", "relative_validation"]
    run = {"n_clusters": 2, "indices": some, "n_resamples": B, "n_splits": S}
    one, other = (cr.validate(KMEANS, X, rng=seed, **run).to_frame() for seed in (ROOT, ROOT + 1))
    assert not np.array_equal(one["value"], other["value"])
    generator = cr.validate(KMEANS, X, rng=np.random.default_rng(0), **run)
    again = cr.validate(KMEANS, X, rng=generator.provenance["seed"], **run)
    pd.testing.assert_frame_equal(generator.to_frame(), again.to_frame(), check_exact=True)
    # One number for all of it, also where a generator was given: the test belongs to the same run.
    test = cr.cluster_test(X, rng=generator.provenance["seed"])
    assert generator.pvalue == test.pvalue


def test_a_k_is_the_same_alone_and_among_others(validation):
    alone = cr.validate(KMEANS, X, n_clusters=3, **RUN).to_frame()
    full = validation.to_frame()
    expected = full[(full["k"] == 3) | full["k"].isna()].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, expected, check_exact=True)
    own = cr.validate(KMeans(3, n_init=2), X, **RUN).to_frame()
    pd.testing.assert_frame_equal(own, expected, check_exact=True)


def test_studies_frames_and_tables_are_the_same_data():
    run = {"n_clusters": 2, "indices": ["r", "assignment", "in_group"], **RUN}
    expected = cr.validate(KMEANS, X, **run).to_frame()
    study = cr.Study(X, "X", labels=LABELS)
    for data in (X.tolist(), pd.DataFrame(X), study):
        pd.testing.assert_frame_equal(cr.validate(KMEANS, data, **run).to_frame(), expected, check_exact=True)
    known = cr.validate(KMEANS, study, labels=True, **run)
    given = cr.validate(KMEANS, X, labels=LABELS, **run)
    pd.testing.assert_frame_equal(known.to_frame(), given.to_frame(), check_exact=True)


def test_clear_clusters_are_the_best_there_is():
    centres = np.repeat([[0.0, 0.0, 0.0], [50.0, 0.0, 0.0], [0.0, 50.0, 0.0]], 10, axis=0)
    points = np.random.default_rng(0).normal(size=(30, 3)) * 0.5 + centres
    indices = [index for index in INDICES if index not in ("inclusion", "r", "d", "test")]
    row = cr.validate(KMeans(n_init=5), points, n_clusters=3, indices=indices, **RUN).overall().loc[3]
    assert row.to_dict() == {index: float(INDICES[index].higher_is_better) for index in indices}


@pytest.mark.parametrize("n", [4, 5])
def test_few_samples_are_enough(n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplicateWarning)  # a bootstrap sample of one point, four times
        warnings.simplefilter("ignore", DataWarning)  # too few samples for the test's Gaussian
        result = cr.validate(AgglomerativeClustering(2), X[:n], **RUN)
    assert set(result.index) == set(INDICES)
    assert result.overall().shape == (1, 12)


def test_one_cluster_and_constant_features_are_no_trouble():
    result = cr.validate(lambda X: np.zeros(len(X), dtype=int), np.ones((8, 2)), **RUN)
    values = dict(zip(result.index[result.cluster == "all"], result.value[result.cluster == "all"], strict=True))
    values.pop("test")
    assert values == {index: float(INDICES[index].higher_is_better) for index in values}


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
    some = cr.validate(KMEANS, X, n_clusters=NUMBERS, indices=["in_group", "r"], **RUN).overall()
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
    subsample, jitter = "Subsample(fraction=0.8)", repr(cr.Jitter())
    assert validation.provenance["resampling"] == {
        "matching": subsample,
        "inclusion": cr.stability(KMEANS, X, index="inclusion", n_resamples=1).provenance["resampling"],
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
    some = cr.validate(KMEANS, X, n_clusters=2, indices=["r", "in_group"], noise="drop", **RUN).provenance
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
    alone = cr.validate(KMEANS, X, n_clusters=2, indices="test", **RUN)
    assert repr(alone).split("\n")[1:] == [
        f"Test for clusters: p = {alone.pvalue:.3g}",
        "1 row in to_frame(), clusters among them",
    ]
    assert "Test for clusters" not in repr(cr.validate(KMEANS, X, n_clusters=2, indices="pac", **RUN))
    run = {"n_resamples": 1, "n_splits": 1, "rng": ROOT}
    one = cr.validate(KMEANS, X, n_clusters=2, labels=LABELS, indices="in_group", **run)
    assert repr(one).startswith(f"Validation of known labels and KMeans: 1 resample, 1 split, seed {ROOT}\n")


def test_small_multiples_show_every_index(validation):
    before = dict(plt.rcParams)
    axes = validation.plot()
    assert dict(plt.rcParams) == before
    assert axes.shape == (3, 4)
    assert len(plt.get_fignums()) == 1
    figure = axes[0, 0].figure
    assert figure._suptitle.get_text() == f"KMeans; test for clusters: p = {validation.pvalue:.3g}"
    overall, frame = validation.overall(), validation.to_frame()
    for ax, index in zip(axes.flat, overall.columns, strict=True):
        record = INDICES[index]
        direction = "high" if record.higher_is_better else "low"
        assert ax.get_title() == f"{record.title(relative=True)} ({direction} is good)"
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
    result = cr.validate(KMEANS, X, n_clusters=[2, 3], indices=indices, **RUN)
    axes = result.plot()
    assert axes.shape == (2, 4)
    assert [ax.get_visible() for ax in axes.flat] == [True] * 5 + [False] * 3
    assert axes[0, 0].figure._suptitle.get_text() == "KMeans"
    one = cr.validate(KMEANS, X, n_clusters=2, indices="pac", **RUN).plot()
    assert one.shape == (1, 1)


def test_a_clusterer_without_k_is_drawn_over_nothing():
    indices = ["jaccard", "in_group"]
    axes = cr.validate(DBSCAN(1.1, min_samples=3), X, indices=indices, **RUN).plot()
    for ax in axes.flat:
        assert [text.get_text() for text in ax.get_xticklabels()] == [""]
        assert len(ax.lines[1].get_ydata()) == 1


# ---------------------------------------------------------------------------------------------------------------------
# the plots of one study: on the axes given, with the numbers of the result


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
    result = cr.stability(KMeans(3, n_init=2), X, index=index, relative=True, n_resamples=B, rng=ROOT)
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
    result = cr.stability(KMeans(3, n_init=2), X, index="r", labels=labels, n_resamples=B, rng=ROOT)
    assert np.isnan(result.distribution[:, 2]).all()
    assert [text.get_text() for text in result.plot().get_xticklabels()] == ["0", "1", "2"]


def test_names_of_many_clusters_are_left_out():
    result = cr.stability(KMeans(16, n_init=1), X, index="inclusion", n_resamples=2, rng=ROOT)
    assert [text.get_text() for text in result.plot().get_xticklabels()] == [""] * 16


@pytest.mark.parametrize("index", ["matching", "r"])
def test_sensitivity_is_drawn_over_the_noise(index):
    result = cr.sensitivity(KMeans(2, n_init=2), X, index=index, scales=[0.1, 0.5, 1], n_resamples=3, rng=ROOT)
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
        (cr.prediction_strength, "prediction strength", "n_splits"),
        (cr.relative_validation, "relative validation", "n_splits"),
        (cr.bootstrap_instability, "bootstrap instability", "n_resamples"),
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
    assert ax.get_ylim()[1] == 1.03 if verb is cr.prediction_strength else ax.get_ylim()[1] >= high.max()
    with pytest.raises(ParameterError, match="There is no number of clusters to draw against: pass n_clusters"):
        verb(DBSCAN(1.1, min_samples=3), X, rng=ROOT, **{n: 2}).plot()


def test_in_group_proportions_are_drawn_as_bars_or_over_the_neighbours():
    result = cr.in_group_proportion(X, LABELS)
    ax = drawn(result)
    np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], result.proportions)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["basal", "her2", "lum"]
    assert (ax.get_ylim(), ax.get_xlabel(), ax.get_ylabel()) == ((0, 1.03), "cluster", "in-group proportion")
    result = cr.in_group_proportion(X, LABELS, n_neighbors=[1, 2, 4])
    ax = drawn(result)
    for i, line in enumerate(ax.lines):
        np.testing.assert_array_equal(line.get_ydata(), result.proportions[:, i])
        assert line.get_xdata().tolist() == [1, 2, 4]
    assert ax.get_xticks().tolist() == [1, 2, 4]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["cluster basal", "cluster her2", "cluster lum"]
    assert ax.get_ylim() == (0, 1.03)


def test_the_test_for_clusters_is_drawn_with_its_null():
    result = cr.cluster_test(X, n_resamples=40, rng=ROOT)
    ax = drawn(result)
    assert sum(bar.get_height() for bar in ax.patches) == 40
    assert ax.lines[0].get_xdata()[0] == result.statistic
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"these data, p = {result.pvalue:.3g}" in texts
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("statistic", "data sets")


def test_consensus_and_assignments_are_drawn_on_the_axes_given():
    ax = drawn(cr.consensus(KMEANS, X, n_clusters=[2, 3], n_resamples=3, rng=ROOT))
    assert ax.get_title() == "KMeans"
    ax = drawn(cr.assignment_consistency(KMEANS, X, n_clusters=[2, 3], n_resamples=3, rng=ROOT))
    assert ax.get_title() == "KMeans"


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
        cr.validate(counted, X, **options)
    assert not calls


def test_a_clusterer_and_one_study_are_needed():
    with pytest.raises(ParameterError, match="clusterer is None: pass a clusterer, or existing labels with labels="):
        cr.validate(None, X)
    with pytest.raises(ParameterError, match="n_clusters needs a clusterer: labels have the clusters that they have"):
        cr.validate(None, X, labels=LABELS, n_clusters=3)
    with pytest.raises(ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments"):
        cr.validate(X, KMEANS)
    with pytest.raises(ParameterError, match="X must be one study or table, got dict"):
        cr.validate(KMEANS, {"a": X, "b": X + 1})
    with pytest.raises(ParameterError, match="X must be one study or table, got Studies"):
        cr.validate(KMEANS, cr.Studies({"a": X, "b": X + 1}))
    with pytest.raises(ParameterError, match="has no parameter for the number of clusters"):
        cr.validate(DBSCAN(), X, n_clusters=3)
    with pytest.raises(DataError, match="labels of study 'X' must have one label for every point"):
        cr.validate(KMEANS, X, n_clusters=3, labels=LABELS[:5])
    with pytest.raises(ParameterError, match="There is no index to draw over k: the test for clusters is one p-value"):
        cr.validate(KMEANS, X, n_clusters=2, indices="test", **RUN).plot()
    with pytest.raises(AllReplicatesFailed, match="KMeans, k = 31 failed on the data as they are"):
        cr.validate(KMEANS, X, n_clusters=[2, 31], **RUN)


# ---------------------------------------------------------------------------------------------------------------------
# failures


def sometimes(X, n_clusters=2):
    """Fails where the first sample of the study is missing."""
    if not (X[:, 0] == blobs()[0, 0]).any():
        raise ValueError("no luck")
    return counted(X, n_clusters)


def test_failures_are_said_and_left_out():
    with pytest.warns(ReplicateWarning, match=r"failed and (was|were) omitted: ValueError: no luck"):
        result = cr.validate(sometimes, X, indices=["matching", "jaccard", "pac", "assignment"], n_resamples=8, rng=1)
    with pytest.warns(ReplicateWarning, match="no luck"):
        jaccard = cr.stability(sometimes, X, n_resamples=8, rng=1)
    assert np.isnan(jaccard.overall_distribution).any()
    expect(result, "jaccard", stability_rows(jaccard, 2))


def test_a_k_that_always_fails_does_not_take_the_others_with_it():
    with pytest.warns(ReplicateWarning, match="more clusters asked for than there are distinct points"):
        result = cr.validate(
            AgglomerativeClustering(), X[:10], n_clusters=[2, 9], indices=["matching", "jaccard"], **RUN
        )
    overall = result.overall()
    assert overall.notna().all(axis=1).tolist() == [True, False]


def test_an_index_without_any_value_is_nan():
    """Clusters of one have no pairs: `stability` gives NaN."""
    result = cr.validate(AgglomerativeClustering(10), X[:10], indices="r", **RUN)
    assert np.isnan(result.value).all()


def test_an_index_without_any_value_is_an_empty_panel():
    with pytest.warns(ReplicateWarning, match="every test cluster has one sample"):
        result = cr.validate(AgglomerativeClustering(2), X[:4], indices=["prediction_strength", "d"], **RUN)
    assert np.isnan(result.value[result.index == "prediction_strength"]).all()
    assert result.plot().shape == (1, 2)


def test_a_cluster_may_be_called_all():
    labels = ["all"] * 15 + ["some"] * 15
    result = cr.validate(KMEANS, X, n_clusters=2, labels=labels, indices=["jaccard", "in_group"], **RUN)
    assert result.overall().shape == (1, 2)
    assert "k = 2" in repr(result)


def test_overall_has_a_row_for_a_clusterer_without_k():
    result = cr.validate(DBSCAN(1.1, min_samples=3), X, indices=["jaccard", "in_group"], **RUN)
    overall = result.overall()
    assert overall.shape == (1, 2)
    assert overall.index.isna().all()
    assert overall["in_group"].item() == rows_of(result, "in_group")["value"].iloc[-1]


def test_indices_may_come_in_an_array():
    result = cr.validate(KMEANS, X, n_clusters=2, indices=np.array(["r", "d"]), **RUN)
    assert set(result.index) == {"r", "d"}


def test_the_test_for_clusters_is_carried_out_like_the_rest(monkeypatch):
    seen = []

    def recorded(*args, **options):
        seen.append(options)
        return cr.cluster_test(*args, **options)

    monkeypatch.setattr("clustrep.within.indices.cluster_test", recorded)
    cr.validate(KMEANS, X, n_clusters=2, indices="test", n_jobs=2, **RUN)
    assert seen[0].get("n_jobs") == 2
