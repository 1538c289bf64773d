"""Against R's fpc: its values are in tests/reference/fpc.csv, with the script that made them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris

import clustrep as cr

VALUES = pd.read_csv(Path(__file__).parent / "reference" / "fpc.csv")
CLUSTERERS = {"ward": AgglomerativeClustering(), "k-means": KMeans(n_init=20)}  # by k-means++, so fewer will do
PERTURBATIONS = {"boot": cr.resampling.Bootstrap(distinct=True), "subset": cr.resampling.Subsample(0.8)}
# So many standard errors of the difference, both sides' together; some sixty comparisons are made.
ERRORS = 4.0


@pytest.fixture(params=["iris", "r15"])
def named_data(request):
    if request.param == "iris":
        return "iris", load_iris().data
    folder = request.getfixturevalue("data_folder")
    return "r15", np.loadtxt(folder / "shapes" / "r15.txt")[:, :2]


def reference(data, method, what):
    chosen = VALUES[(VALUES["data"] == data) & (VALUES["method"] == method) & (VALUES["what"] == what)]
    assert len(chosen)
    return chosen.reset_index(drop=True)


def assert_close(ours, theirs):
    """Means within Monte Carlo error; `ours` is (n_resamples, ...) in the order of the rows of `theirs`."""
    error = np.sqrt(ours.var(axis=0, ddof=1) / len(ours) + theirs["sd"] ** 2 / theirs["n"])
    difference = np.abs(ours.mean(axis=0) - theirs["mean"])
    assert (difference <= ERRORS * error + 1e-12).all(), pd.DataFrame({"difference": difference, "error": error})


@pytest.mark.parametrize("bootmethod", PERTURBATIONS)
@pytest.mark.parametrize("method", CLUSTERERS)
def test_jaccard_is_that_of_clusterboot(named_data, method, bootmethod):
    name, X = named_data
    theirs = reference(name, method, f"jaccard {bootmethod}")
    k = len(theirs)
    result = cr.stability.stability(
        CLUSTERERS[method].set_params(n_clusters=k), X, perturbation=PERTURBATIONS[bootmethod], n_resamples=200, rng=0
    )
    centres = np.array([X[result.labels == c, :2].mean(axis=0) for c in result.clusters])
    order = [int(np.argmin(np.abs(centres - row).sum(axis=1))) for row in theirs[["x", "y"]].to_numpy()]
    assert sorted(order) == list(range(k))
    np.testing.assert_allclose(centres[order], theirs[["x", "y"]], atol=1e-5)  # the same clusters to begin with
    assert result.sizes[order].tolist() == theirs["size"].tolist()
    assert_close(result.distribution[:, order], theirs)
    for counted, column in ((result.dissolved(), "dissolved"), (result.recovered(), "recovered")):
        share, other = counted[order] / 200, theirs[column] / theirs["n"]
        pooled = (counted[order] + theirs[column]) / (200 + theirs["n"])
        error = np.sqrt(pooled * (1 - pooled) * (1 / 200 + 1 / theirs["n"]))
        assert (np.abs(share - other) <= ERRORS * error + 1e-12).all()


@pytest.mark.parametrize("method", CLUSTERERS)
def test_prediction_strength_is_that_of_fpc(named_data, method):
    name, X = named_data
    theirs = reference(name, method, "prediction strength")
    result = cr.stability.prediction_strength(
        CLUSTERERS[method], X, n_clusters=theirs["k"].tolist(), n_splits=100, rng=0
    )
    assert_close(result.distribution, theirs)


def test_one_sided_instability_is_that_of_nselectboot(named_data):
    name, X = named_data
    theirs = reference(name, "k-means", "one-sided instability")
    options = {"n_clusters": theirs["k"].tolist(), "n_resamples": 100, "one_sided": True, "rng": 0}
    assert_close(cr.stability.bootstrap_instability(CLUSTERERS["k-means"], X, **options).distribution, theirs)
