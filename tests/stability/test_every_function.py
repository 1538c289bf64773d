"""What holds for every function of one study: seeds, workers, tables, files, refusals, failures."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.helpers import by_two, configured

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning
from clustrep.resampling import Bootstrap, FeatureSubset, Jitter, Rerun, Simulate, Subsample

S = cr.stability
RNG = np.random.default_rng(5)
X = np.repeat(RNG.normal(scale=2, size=(3, 3)), [9, 7, 6], axis=0) + RNG.normal(size=(22, 3))
KMEANS, WARD = KMeans(3, n_init=2), AgglomerativeClustering(3)
FEW, KS = {"n_resamples": 4}, {"n_clusters": [2, 3]}


def in_group(clusterer, X, **options):
    return S.in_group_proportion(X, options.pop("labels", None), clusterer=clusterer, **{"n_null": 4, **options})


def significance(clusterer, X, **options):
    return S.cluster_test(X, **{"n_resamples": 9, **options})


# Every function, its options here, and what of its result has an axis of resamples, which comes first in `numbers`.
FUNCTIONS = {
    "stability": (S.stability, FEW, "distribution"),
    "sensitivity": (S.sensitivity, {"scales": [0.1, 0.9], **FEW}, "distribution"),
    "prediction_strength": (S.prediction_strength, {**KS, "n_splits": 4}, "by_direction"),
    "relative_validation": (S.relative_validation, {**KS, "n_splits": 4}, None),
    "bootstrap_instability": (S.bootstrap_instability, {**KS, **FEW}, "distribution"),
    "consensus": (S.consensus, {**KS, **FEW}, "codes"),
    "assignment_consistency": (S.assignment_consistency, {**KS, **FEW}, None),
    "in_group_proportion": (in_group, {}, "null_distribution"),
    "validate": (S.validate, {**KS, **FEW, "n_splits": 4, "indices": ["r", "pac", "instability", "in_group"]}, None),
    "cluster_test": (significance, {}, None),
}
OVER_K = [name for name, (_, options, _) in FUNCTIONS.items() if "n_clusters" in options and name != "validate"]
LABELS_ALONE = ["prediction_strength", "relative_validation", "bootstrap_instability", "validate"]
every = pytest.mark.parametrize("name", FUNCTIONS)
clustering = pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "cluster_test"])


def run(name, clusterer=KMEANS, table=X, **options):
    verb, own, _ = FUNCTIONS[name]
    return verb(clusterer, table, **{"rng": 1, **own, **options})


def assert_same(one, other):
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        elif field.name != "provenance":
            assert a == b


# ---------------------------------------------------------------------------------------------------------------------
# what a result follows from


@every
def test_the_seed_is_all_that_a_run_follows_from(name):
    one = run(name)
    assert_same(one, run(name))
    with by_two():
        assert_same(one, run(name))
    assert_same(one, configured(run, progress=False)(name))
    generated = run(name, rng=np.random.default_rng(3))
    assert_same(generated, run(name, rng=generated.provenance["seed"]))
    with pytest.raises(AssertionError):
        assert_same(one, run(name, rng=2))


@every
def test_tables_frames_and_studies_are_the_same_data_and_a_studys_name_counts(name):
    points = X.astype(np.float32).astype(float)
    one = run(name, table=points)
    for table in (points.tolist(), pd.DataFrame(points, columns=list("abc")), cr.Study(points, "X")):
        assert_same(one, run(name, table=table))
    # Single precision is the same table; results may differ in the names of samples alone.
    single = run(name, table=points.astype(np.float32))
    numbers = [result.to_frame().select_dtypes("number").to_numpy(float) for result in (single, one)]
    np.testing.assert_allclose(*numbers, rtol=1e-5)
    with pytest.raises(AssertionError):
        assert_same(one, run(name, table=cr.Study(points, "mainz")))


@pytest.mark.parametrize("name", [name for name, (_, _, numbers) in FUNCTIONS.items() if numbers])
def test_a_longer_run_begins_with_the_shorter_one(name):
    n = {"prediction_strength": "n_splits", "in_group_proportion": "n_null"}.get(name, "n_resamples")
    numbers = FUNCTIONS[name][2]
    short, long = (getattr(run(name, **{n: count}), numbers) for count in (3, 6))
    np.testing.assert_array_equal(long[:, :3] if name == "consensus" else long[:3], short)


@pytest.mark.parametrize("name", OVER_K)
@pytest.mark.parametrize("clusterer", [KMEANS, WARD], ids=["k-means", "ward"])
def test_a_k_is_the_same_alone_and_among_others(name, clusterer):
    several, alone, own = (run(name, clusterer, n_clusters=ks) for ks in ([4, 3, 2], 3, None))
    assert several.by_k[1] == alone.by_k[0] == own.by_k[0]
    assert own.n_clusters == (3,)
    assert several.to_frame()["k"].unique().tolist() == [4, 3, 2]


@clustering
def test_without_shortcuts_the_values_are_the_same(name):
    options = {} if name != "in_group_proportion" else {"n_null": 0}
    fast, plain = (configured(run, accelerate=flag)(name, WARD, **options) for flag in (True, False))
    one, other = (result.to_frame().select_dtypes("number") for result in (fast, plain))
    # Shortcuts number the clusters in their own way: compare the columns sorted.
    np.testing.assert_allclose(np.sort(one.to_numpy(float), axis=0), np.sort(other.to_numpy(float), axis=0), rtol=1e-9)


@pytest.mark.parametrize("name", [*OVER_K, "stability"])
def test_constant_features_are_in_nobodys_way(name):
    assert_same(*(run(name, table=table, perturbation=Bootstrap()) for table in (X, np.column_stack([X, np.ones(22)]))))


@every
@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
def test_a_handful_of_samples_is_enough(name):
    options = {"n_clusters": 2} if "n_clusters" in FUNCTIONS[name][1] else {}
    result = run(name, AgglomerativeClustering(2), X[[0, 1, 2, 9, 10, 16, 17, 18]], **options)
    assert len(result.to_frame())
    assert f"seed {result.provenance['seed']}" in repr(result)


# ---------------------------------------------------------------------------------------------------------------------
# files


@every
def test_a_result_survives_its_file_and_is_read_only(name, tmp_path):
    result = run(name, table=cr.Study(X, "vdx", samples=[f"s{i}" for i in range(22)]))
    result.save(tmp_path / "result")
    loaded = cr.load(tmp_path / "result")
    assert_same(loaded, result)
    assert loaded.provenance == result.provenance
    assert repr(loaded) == repr(result)
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())
    for one in (result, loaded):
        arrays = [value for value in vars(one).values() if isinstance(value, np.ndarray)]
        assert arrays
        assert not any(array.flags.writeable for array in arrays)
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.provenance = None


# ---------------------------------------------------------------------------------------------------------------------
# what is refused

BAD = {
    "n_resamples": [0, 2.5, "many"],
    "n_splits": [0, 1.5],
    "perturbation": ["bootstrap", Bootstrap, 0.8, Simulate(lambda study, rng: study.X)],
    "n_clusters": [[2, 2], [], [0, 2], "2", 1.5],
    "labels": [True],
    "rng": [-1, "seed"],
    "n_jobs": [0],
    "relative": ["yes"],
    "index": ["jacard", None, ["r", "d"]],
    "one_sided": ["yes"],
    "both_directions": [2],
    "n_pairs": [0, -1, 1.5, True, "all"],
}
TAKES = {
    "stability": {"n_resamples", "perturbation", "labels", "rng", "n_jobs", "relative", "index"},
    "sensitivity": {"n_resamples", "labels", "rng", "n_jobs", "relative", "index"},
    "prediction_strength": {"n_splits", "perturbation", "n_clusters", "rng", "n_jobs", "both_directions"},
    "relative_validation": {"n_splits", "perturbation", "n_clusters", "rng", "n_jobs"},
    "bootstrap_instability": {"n_resamples", "perturbation", "n_clusters", "rng", "n_jobs", "one_sided"},
    "consensus": {"n_resamples", "perturbation", "n_clusters", "labels", "rng", "n_jobs", "n_pairs"},
    "assignment_consistency": {"n_resamples", "perturbation", "n_clusters", "labels", "rng", "n_jobs"},
    "in_group_proportion": {"rng"},
    "validate": {"n_resamples", "n_splits", "n_clusters", "labels", "rng", "n_jobs"},
    "cluster_test": {"n_resamples", "rng", "n_jobs"},
}


@pytest.mark.parametrize(("name", "parameter"), [(name, p) for name, taken in TAKES.items() for p in sorted(taken)])
def test_a_bad_argument_is_named_before_anything_is_fitted(name, parameter):
    def never(X, n_clusters=2):
        raise AssertionError

    for value in BAD[parameter]:
        with pytest.raises(ParameterError) as caught:
            run(name, never, **{parameter: value})
        assert caught.value.parameter == parameter


@every
def test_a_bad_study_or_clusterer_is_refused(name):
    for table in (cr.Studies({"a": X, "b": X}), {"a": X}, KMEANS):
        with pytest.raises(ParameterError) as caught:
            run(name, X if table is KMEANS and name != "cluster_test" else KMEANS, table)
        assert caught.value.parameter == "X"
    for table in (X[:, 0], np.where(X > 2, np.nan, X), X[:1]):
        with pytest.raises(DataError):
            run(name, table=table)
    if name == "cluster_test":
        return
    for clusterer in (None, KMeans, "kmeans"):
        with pytest.raises(ParameterError) as caught:
            run(name, clusterer, **({"n_clusters": None} if "n_clusters" in FUNCTIONS[name][1] else {}))
        assert caught.value.parameter == "clusterer"
    if "n_clusters" in FUNCTIONS[name][1]:
        with pytest.raises(ParameterError):
            run(name, DBSCAN(), n_clusters=[2, 3])


@clustering
@pytest.mark.parametrize("labels", [[0, 1], [0, None] * 11, np.linspace(0, 1, 22), np.zeros((22, 1)), "a" * 22])
def test_bad_labels_are_refused(name, labels):
    alone = name in (*LABELS_ALONE, "in_group_proportion")
    options = {"n_clusters": None} if "n_clusters" in FUNCTIONS[name][1] else {}
    with pytest.raises(DataError):
        run(name, None if alone else KMEANS, labels=labels, **options)


@pytest.mark.parametrize("name", LABELS_ALONE)
def test_labels_alone_have_no_number_of_clusters_to_try(name):
    with pytest.raises(ParameterError) as caught:
        run(name, None, labels=np.arange(22) % 2, n_clusters=[2, 3])
    assert caught.value.parameter == "n_clusters"
    if name != "validate":
        with pytest.raises(ParameterError) as caught:
            run(name, KMEANS, labels=np.arange(22) % 2)
        assert caught.value.parameter == "labels"


# ---------------------------------------------------------------------------------------------------------------------
# failures, and runs in which nothing varies


@clustering
def test_a_clusterer_that_always_fails_raises(name):
    def never(X):
        raise ValueError("no luck")

    options = {"n_clusters": None} if "n_clusters" in FUNCTIONS[name][1] else {}
    with pytest.raises(AllReplicatesFailed) as caught:
        run(name, never, **options)
    assert "no luck" in str(caught.value)
    if name in ("stability", "consensus", "assignment_consistency"):  # where labels are found again
        with pytest.raises(AllReplicatesFailed):
            run(name, never, labels=np.arange(22) % 2, **options)


@pytest.mark.parametrize("name", ["stability", "bootstrap_instability", "consensus", "assignment_consistency"])
@pytest.mark.parametrize(
    "perturbation", [Rerun(), FeatureSubset(1.0), Subsample(1.0) + FeatureSubset(1.0), Rerun() + Rerun()], ids=repr
)
def test_a_run_in_which_nothing_varies_is_warned_about(name, perturbation):
    with pytest.warns(ReplicateWarning):
        run(name, WARD, perturbation=perturbation)
    run(name, KMEANS, perturbation=perturbation)  # its own randomness is enough
    run(name, WARD, perturbation=perturbation + Jitter(0.1))
