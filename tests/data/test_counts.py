"""Counts: kept by readers, normalised per study as scanpy does it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cli.support import invoke
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.errors import DataError, ParameterError
from clustrep.report.words import methods_of

COUNTS = np.array([[1, 3, 0], [2, 6, 0], [0, 0, 0], [5, 10, 25]])


def test_by_hand():
    """Totals are 4, 8, 0 and 40: their median, without the cell that has none, is 8."""
    expected = np.log1p([[2, 6, 0], [2, 6, 0], [0, 0, 0], [1, 2, 5]])
    np.testing.assert_allclose(cr.Study(COUNTS, "lab").normalised().X, expected, rtol=1e-15)
    to_four = np.log1p([[1, 3, 0], [1, 3, 0], [0, 0, 0], [0.5, 1, 2.5]])
    np.testing.assert_allclose(cr.Study(COUNTS, "lab").normalised(target_sum=4).X, to_four, rtol=1e-15)


@pytest.mark.parametrize("target_sum", [None, 1e4])
def test_the_numbers_are_those_of_scanpy(target_sum):
    scanpy = pytest.importorskip("scanpy")
    anndata = pytest.importorskip("anndata")
    counts = np.random.default_rng(0).poisson(2.0, size=(50, 20)).astype(np.float64)
    adata = anndata.AnnData(counts.copy())
    scanpy.pp.normalize_total(adata, target_sum=target_sum)
    scanpy.pp.log1p(adata)
    np.testing.assert_allclose(cr.Study(counts, "lab").normalised(target_sum=target_sum).X, adata.X, rtol=1e-12)


def test_totals_are_over_all_features_of_each_study():
    pd = pytest.importorskip("pandas")
    first = pd.DataFrame(COUNTS, columns=["g1", "g2", "g3"])
    second = pd.DataFrame([[4, 4], [2, 6]], columns=["g1", "g2"])
    with warned(cr.errors.DataWarning):
        studies = cr.Studies({"a": first, "b": second}, normalise="log1p")
    np.testing.assert_allclose(studies["a"].X[3], np.log1p([1, 2]))
    assert studies["b"].normalise == "log1p"


def test_totals_on_the_command_line_are_those_of_the_library(tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, columns in (("a", ["g1", "g2", "g3"]), ("b", ["g1", "g2", "g4"])):
        pd.DataFrame(rng.poisson(40, (30, 3)), columns=columns).to_csv(f"{name}.csv", index=False)
    command = ["run", "a.csv", "b.csv", "--no-label", "--clusterer", "kmeans:n_init=1", "--k", "3", "--resamples", "3"]
    command += ["--null", "none", "--figures", "none", "--jobs", "1", "--normalise", "log1p", "--target-sum", "100"]
    invoke(*command)
    with warned(cr.errors.DataWarning):
        studies = cr.Studies.read("a.csv", "b.csv", label=False, normalise="log1p", target_sum=100)
    assert np.expm1(studies["a"].X).sum(axis=1).max() < 99
    options = {"n_clusters": [3], "agreement": ("ari", "ami"), "n_resamples": 3, "rng": 0}
    expected = cr.compare({"kmeans": KMeans(n_init=1)}, studies, **options)
    computed = cr.load("clustrep-results/result.npz").comparison
    np.testing.assert_array_equal(computed.distribution, expected.distribution)


def test_normalised_then_scaled():
    tables = {"a": COUNTS, "b": COUNTS[::-1]}
    studies = cr.Studies(tables, normalise="log1p", scale="study")
    by_hand = StandardScaler().fit_transform(cr.Study(COUNTS, "a").normalised().X)
    np.testing.assert_allclose(studies["a"].X, by_hand)
    assert studies["a"].scaling == "log1p, study"
    assert "scaled by log1p, study" in repr(studies)
    assert "scaled by log1p, study" in repr(studies["a"])


def test_results_and_methods_say_it():
    rng = np.random.default_rng(0)
    tables = {name: rng.poisson(5, size=(40, 3)) for name in "ab"}
    choice = cr.compare(
        KMeans(n_init=1), cr.Studies(tables, normalise="log1p", scale="study"), n_clusters=[2], n_resamples=2, rng=0
    )
    assert choice.provenance.studies["a"].scale == "log1p, study"
    text = " ".join(methods_of(choice, None))
    assert "log-transformed and scaled to z-scores within each study" in text


def test_single_precision_stays():
    assert cr.Study(COUNTS.astype(np.float32), "lab").normalised().X.dtype == np.float32


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
@pytest.mark.parametrize("place", ["X", "counts"])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_readers_keep_counts(tmp_path, kind, place, dtype):
    anndata = pytest.importorskip("anndata")
    counts = np.random.default_rng(0).poisson(1.0, size=(12, 5)).astype(dtype)
    table = counts if kind == "dense" else sparse.csr_matrix(counts) if kind == "csr" else sparse.csc_matrix(counts)
    other = np.log1p(counts.astype(np.float32))
    adata = anndata.AnnData(table if place == "X" else other, layers={} if place == "X" else {"counts": table})
    adata.obs["lab"] = ["a", "b"] * 6
    adata.obs_names = [f"cell {i}" for i in range(12)]
    adata.var_names = [f"gene {j}" for j in range(5)]
    path = tmp_path / "atlas.h5ad"
    adata.write_h5ad(path)
    in_file = cr.Studies.read(path, study_key="lab", rep=place)
    in_memory = cr.Studies.from_anndata(adata, "lab", place)
    for studies in (in_file, in_memory):
        np.testing.assert_array_equal(studies["b"].X, counts[1::2])
    normalised = cr.Studies.read(path, study_key="lab", rep=place, normalise="log1p")
    np.testing.assert_array_equal(normalised["b"].X, in_memory["b"].normalised().X)
    np.testing.assert_array_equal(
        cr.Studies.from_anndata(adata, "lab", place, normalise="log1p")["b"].X, normalised["b"].X
    )


def test_an_embedding_normalises_counts_by_the_training_sample():
    train, test = (np.random.default_rng(seed).poisson(4, size=(30, 6)).astype(float) for seed in (0, 1))
    embedding = cr.TrainEmbedding(n_components=2, normalise="log1p").fit(train)
    target = np.median(train.sum(axis=1))

    def normalised(X):
        return np.log1p(X / X.sum(axis=1, keepdims=True) * target)

    by_hand = make_pipeline(StandardScaler(), PCA(2)).fit(normalised(train))
    np.testing.assert_allclose(embedding.transform(test), by_hand.transform(normalised(test)), atol=1e-12)


def test_negative_values_are_refused_with_a_remedy():
    X = COUNTS.astype(float)
    X[1, 2] = -0.5
    with refused(DataError):
        cr.Study(X, "lab").normalised()


def test_missing_counts_are_refused():
    X = COUNTS.astype(float)
    X[1, 2] = np.nan
    with refused(DataError):
        cr.Study(X, "lab", allow_missing=True).normalised()


def test_once_and_before_scaling():
    study = cr.Study(COUNTS, "lab")
    with refused(ParameterError, "normalise"):
        study.normalised().normalised()
    with refused(ParameterError, "normalise"):
        study.scaled("study").normalised()
    assert study.normalised("none") is study


def test_not_with_some_of_the_features():
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(COUNTS.astype(float))
    adata.obs["lab"] = ["a", "a", "b", "b"]
    with refused(ParameterError, "normalise"):
        cr.Studies.from_anndata(adata, "lab", features=["1"], normalise="log1p")


@pytest.mark.parametrize("options", [{"normalise": "log"}, {"target_sum": 0}])
def test_parameters_are_checked(options):
    with refused(ParameterError, *options):
        cr.Study(COUNTS, "lab").normalised(**options)


@pytest.mark.parametrize("steps", [[], [SimpleImputer()]])
def test_simulated_data_are_no_counts_to_be_normalised(steps):
    rng = np.random.default_rng(0)
    studies = {name: rng.poisson(2.0, size=(30, 4)).astype(float) for name in "ab"}
    embed = cr.TrainEmbedding(n_components=2, normalise="log1p")
    clusterer, options = make_pipeline(*steps, embed, KMeans(2, n_init=1)), {"n_resamples": 2, "rng": 0}
    with refused(ParameterError, "null"):
        cr.analyse(clusterer, studies, n_null=19, **options)
    result = cr.replicability(clusterer, studies, **options)
    with refused(ParameterError, "null"):
        cr.null_reference(result, n=2)
    sampler = cr.null_reference(result, n=2, null=lambda study, rng: rng.poisson(2.0, size=study.X.shape))
    assert np.isfinite(sampler.overall_pvalue)
