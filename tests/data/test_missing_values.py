"""Tables with missing values: kept where they are filled in inside every draw, refused elsewhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cli.support import invoke
from tests.sentences import refused

import clustrep as cr
from clustrep.data.values import completed
from clustrep.errors import AllReplicatesFailed, DataError

# scikit-learn's oldest allowed version computes neighbours in a way that newer NumPys deprecate.
OLD_NEIGHBOURS = pytest.mark.filterwarnings("ignore:(?s).*Conversion of an array with ndim")

MEDIAN = SimpleImputer(strategy="median", keep_empty_features=True)
FEW = {"n_resamples": 3, "rng": 0}


def table(seed, n=60, share=0.05):
    """Two groups, 9 apart in each of three features; some values are missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 9 * (np.arange(n) % 2)[:, None]
    X[rng.random(X.shape) < share] = np.nan
    return X


@pytest.fixture(scope="module")
def frames():
    return {name: pd.DataFrame(table(seed), columns=list("xyz")) for seed, name in enumerate("ab")}


def test_missing_values_are_kept_where_they_are_allowed(frames):
    study = cr.Study(frames["a"], "a", allow_missing=True)
    np.testing.assert_array_equal(study.X, frames["a"].to_numpy())
    assert study.has_missing
    assert not cr.Study(frames["a"].fillna(0.0), "a", allow_missing=True).has_missing
    with refused(DataError):
        cr.Study(frames["a"], "a")
    with refused(DataError):
        cr.Study(frames["a"].assign(y=np.nan), "a", allow_missing=True)
    with refused(DataError):
        cr.Study(frames["a"].replace(frames["a"]["x"].max(), np.inf), "a", allow_missing=True)
    with refused(DataError):
        cr.Study(frames["a"].replace(frames["a"]["x"].max(), 1e200), "a", allow_missing=True)


def test_scaling_ignores_what_is_missing(frames):
    X = cr.Study(frames["a"], "a", allow_missing=True).scaled("study").X
    np.testing.assert_array_equal(np.isnan(X), frames["a"].isna())
    column = frames["a"]["x"].to_numpy()
    known = column[~np.isnan(column)]
    np.testing.assert_allclose(X[:, 0], (column - known.mean()) / known.std())


@OLD_NEIGHBOURS
@pytest.mark.parametrize("steps", [[MEDIAN], [KNNImputer()], [SimpleImputer(), StandardScaler()]])
def test_every_imputer_finds_the_groups(frames, steps):
    result = cr.replicability(make_pipeline(*steps, KMeans(2, n_init=2)), frames, **FEW)
    assert result.estimate.min() > 0.85
    assert result.distribution.min() > 0.8


def test_an_imputer_is_fitted_to_every_draw_and_applied_to_the_test_study(frames):
    """By hand: medians of the drawn rows of the training study, in both studies."""
    studies = cr.Studies(frames, allow_missing=True)
    clusterer = make_pipeline(MEDIAN, AgglomerativeClustering(3))
    result = cr.replicability(clusterer, studies, resampling=cr.resampling.Subsample(0.5), **FEW)
    function = result.clustering_function("a", resample=1)
    from clustrep.fitting.resample import Source

    draw = Source.of(cr.resampling.Subsample(0.5), 0).draw(studies["a"], 2)
    medians = np.nanmedian(draw.sample, axis=0)
    assert not np.allclose(medians, np.nanmedian(studies["a"].X, axis=0))
    train, test = (np.where(np.isnan(X), medians, X) for X in (draw.sample, studies["b"].X))
    labels = AgglomerativeClustering(3).fit_predict(train)
    nearest = labels[np.argmin(((test[:, None] - train[None]) ** 2).sum(axis=2), axis=1)]
    assert cr.agreement.adjusted_rand_index(nearest, function.labels(test)) == 1.0


def test_complete_tables_score_the_same_with_and_without(frames):
    complete = {name: frame.fillna(0.0) for name, frame in frames.items()}
    plain = cr.replicability(KMeans(3, n_init=2), complete, **FEW)
    imputed = cr.replicability(make_pipeline(MEDIAN, KMeans(3, n_init=2)), complete, **FEW)
    np.testing.assert_array_equal(imputed.distribution, plain.distribution)


def test_without_an_imputer_missing_values_are_refused(frames):
    studies = cr.Studies(frames, allow_missing=True)
    n_missing = int(sum(frame.isna().to_numpy().sum() for frame in frames.values()))
    for call in (
        lambda: cr.replicability(KMeans(2, n_init=2), studies, **FEW),
        lambda: cr.separation.density_valleys(KMeans(2, n_init=2), studies, rng=0),
        lambda: cr.stability.stability(KMeans(2, n_init=2), studies["a"], n_resamples=3, rng=0),
    ):
        with refused(DataError) as caught:
            call()
    assert str(n_missing) in str(caught.value) or "'b'" not in str(caught.value)
    for clusterer in (make_pipeline(PCA(1), KMeans(2, n_init=2)), make_pipeline(object(), KMeans(2, n_init=2))):
        with refused(DataError):
            cr.replicability(clusterer, studies, **FEW)
    with refused(AllReplicatesFailed):
        cr.replicability(make_pipeline(StandardScaler(), KMeans(2, n_init=2)), studies, **FEW)


def test_local_scores_fill_them_in(frames):
    clusterer = make_pipeline(MEDIAN, KMeans(2, n_init=2))
    of_tables = cr.local_replicability(clusterer, train=frames["a"], test=frames["b"], **FEW)
    studies = cr.Studies({"train": frames["a"], "test": frames["b"]}, allow_missing=True)
    of_studies = cr.local_replicability(clusterer, train=studies["train"], test=studies["test"], **FEW)
    np.testing.assert_array_equal(of_tables.distribution, of_studies.distribution)
    assert of_tables.mean.min() > 0.9
    at = cr.local_replicability(clusterer, train=frames["a"], test=frames["b"], at=frames["a"], **FEW)
    np.testing.assert_array_equal(at.distribution, of_tables.distribution)
    with refused(DataError):
        cr.local_replicability(clusterer, train=frames["a"], test=frames["b"], at=[[np.inf, np.nan, 0]], **FEW)
    with refused(DataError):
        cr.local_replicability(KMeans(2, n_init=2), train=frames["a"], test=frames["b"], **FEW)


def test_completed_tables_keep_what_is_known():
    X = table(3)
    known = ~np.isnan(X)
    np.testing.assert_array_equal(completed(X)[known], X[known])
    assert np.isfinite(completed(X)).all()
    complete = np.ones((3, 2))
    assert completed(complete) is complete


@OLD_NEIGHBOURS
def test_a_whole_analysis_with_missing_values(frames):
    analysis = cr.analyse(
        {"k-means": make_pipeline(MEDIAN, KMeans(n_init=2))},
        frames,
        n_clusters=[2, 3],
        n_null=19,
        options=cr.RunOptions(recursive=True),
        **FEW,
    )
    assert analysis.verdict == "separated"
    assert analysis.n_clusters == 2
    assert set(analysis.findings.table()["status"]) == {"found"}
    assert np.isfinite(analysis.coordinates).all()
    assert "SimpleImputer" in str(analysis.provenance["clusterers"])
    assert cr.Report(analysis).to_html()


def test_simulated_data_have_the_same_missing_values(frames):
    from clustrep.null.null_reference import _with_missing

    study = cr.Study(frames["a"], "a", allow_missing=True)
    simulated = _with_missing(np.ones(study.X.shape), study)
    np.testing.assert_array_equal(np.isnan(simulated), frames["a"].isna())


def test_the_command_line_fills_them_in(frames, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, frame in frames.items():
        frame.to_csv(f"{name}.csv", index=False)
    quick = ["--k", "2", "--clusterer", "kmeans", "--resamples", "3", "--null", "none", "--figures", "none"]
    quick += ["--jobs", "1", "--quiet"]
    refused = invoke("run", "a.csv", "b.csv", *quick, code=3).stderr
    assert "on the command line --impute median" in " ".join(refused.split())
    invoke("run", "a.csv", "b.csv", "--impute", "nearest", *quick, "--out", "there")
    assert cr.load("there/result.npz").n_clusters == 2


@pytest.mark.parametrize(
    "compute",
    [
        lambda studies, kinds: cr.cluster_auroc(studies, {"a": kinds, "b": kinds}),
        lambda studies, kinds: cr.stability.cluster_test(studies["a"], n_resamples=3, rng=0),
        lambda studies, kinds: cr.stability.in_group_proportion(studies["a"], kinds),
        lambda studies, kinds: cr.stability.in_group_proportion(
            cr.Study(studies["a"].to_frame().fillna(0.0), "c"), train=studies["b"], labels=kinds
        ),
    ],
    ids=["cluster_auroc", "cluster_test", "in_group_proportion", "in_group_proportion of train"],
)
def test_what_fills_nothing_in_refuses_missing_values(frames, compute):
    studies = cr.Studies(frames, allow_missing=True)
    with refused(DataError):
        compute(studies, np.arange(60) % 2)
