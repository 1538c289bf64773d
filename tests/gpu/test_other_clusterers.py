"""Clusterers that are fitted on the processor: their nearest points and tables on a device, the same scores."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clustrep as cr
from clustrep.fitting.communities import Leiden
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'clustrep[gpu]'")

DEVICE = "cuda" if torch.cuda.is_available() else "torch"


def tables(sizes=(90, 70, 80), p=20, k=4, seed=0):
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(k, p))
    return [centres[rng.integers(k, size=n)] + rng.normal(size=(n, p)) for n in sizes]


def on(device, function, *args, **kwargs):
    with cr.config_context(device=device, progress=False):
        return function(*args, **kwargs)


def ward_as_a_function(X):
    return AgglomerativeClustering(4).fit_predict(X)


CLUSTERERS = {
    "ward": AgglomerativeClustering(4),
    "average": AgglomerativeClustering(4, linkage="average"),
    "hdbscan": HDBSCAN(min_cluster_size=5, copy=True),
    "dbscan": DBSCAN(eps=6.0, min_samples=3),
    "pipeline": make_pipeline(StandardScaler(), AgglomerativeClustering(4)),
    "function": ward_as_a_function,
}


@pytest.fixture
def rows_searched(monkeypatch):
    """How many rows were searched for on the device."""
    from clustrep.gpu.row_search import RowSearch

    numbers, search = [], RowSearch.__call__
    monkeypatch.setattr(RowSearch, "__call__", lambda self, X: numbers.append(len(X)) or search(self, X))
    return numbers


@pytest.mark.parametrize("p", [3, 20])
@pytest.mark.parametrize("name", CLUSTERERS)
def test_scores_are_those_of_the_processor(name, p, rows_searched):
    clusterer, studies = CLUSTERERS[name], tables(p=p)
    computed, expected = (
        on(device, cr.replicability, clusterer, studies, n_resamples=3, rng=0) for device in (DEVICE, "cpu")
    )
    np.testing.assert_array_equal(computed.distribution, expected.distribution)
    np.testing.assert_array_equal(computed.estimate, expected.estimate)
    assert sum(rows_searched) > 0
    assert "PyTorch" in computed.provenance["device"]


@pytest.mark.skipif(importlib.util.find_spec("igraph") is None, reason="igraph is not installed")
def test_communities(rows_searched):
    leiden = Leiden(resolution=0.3, n_neighbors=8)
    computed, expected = (on(d, cr.replicability, leiden, tables(), n_resamples=2, rng=0) for d in (DEVICE, "cpu"))
    np.testing.assert_array_equal(computed.distribution, expected.distribution)
    assert sum(rows_searched) > 0


def test_known_labels(rows_searched):
    studies = dict(zip("abc", tables(), strict=True))
    labels = {name: KMeans(3, n_init=1, random_state=0).fit_predict(X) for name, X in studies.items()}
    computed, expected = (
        on(d, cr.replicability, None, studies, labels=labels, n_resamples=2, rng=0) for d in (DEVICE, "cpu")
    )
    np.testing.assert_array_equal(computed.distribution, expected.distribution)
    assert sum(rows_searched) > 0


def test_landmarks(rows_searched):
    studies = tables((300, 200, 250))
    computed, expected = (
        on(d, cr.replicability, AgglomerativeClustering(4), studies, n_resamples=2, rng=0, n_landmarks=60)
        for d in (DEVICE, "cpu")
    )
    np.testing.assert_array_equal(computed.distribution, expected.distribution)
    assert sum(rows_searched) >= 750


@pytest.mark.parametrize("noise", ["label", "drop", "singletons"])
def test_local_tables(noise):
    studies = tables()
    computed, expected = (
        on(
            d,
            cr.local_replicability,
            HDBSCAN(min_cluster_size=5, copy=True),
            train=studies[0],
            test=studies[1],
            n_resamples=2,
            noise=noise,
            rng=0,
        )
        for d in (DEVICE, "cpu")
    )
    np.testing.assert_array_equal(computed.distribution, expected.distribution)


@pytest.mark.parametrize(
    ("clusterer", "here"),
    [
        (AgglomerativeClustering(2), True),
        (KMeans(2), True),
        (HDBSCAN(copy=True), True),
        (make_pipeline(StandardScaler(), HDBSCAN(copy=True)), True),
        (ward_as_a_function, True),
        (GaussianMixture(2), False),
        (HDBSCAN(metric="manhattan", copy=True), False),
        (AgglomerativeClustering(2, metric="cosine", linkage="average"), False),
        (cr.Induced(AgglomerativeClustering(2), classifier=KNeighborsClassifier(3)), False),
    ],
)
def test_what_needs_no_device_keeps_its_workers(clusterer, here):
    studies = [cr.Study(X, name) for X, name in zip(tables(), "abc", strict=True)]
    setting = Setting.prepare(
        Source(cr.resampling.Bootstrap(), 0, device=DEVICE), studies, [Configuration("c", clusterer)]
    )
    assert setting.here == here
    assert setting.device == (DEVICE if here else "cpu")
