"""Tables in single precision stay so: in studies, in what clusterers are fitted to, and in what is computed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.accelerate.kmeans import KMeansResample
from clustrep.fitting.resample import PointSet


def table(n=300, p=20, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, p)) + 4 * (np.arange(n) % 2)[:, None]).astype(np.float32)


class Recorder(BaseEstimator):
    """A clusterer that keeps the types of what it was given."""

    seen: list[np.dtype] = []  # noqa: RUF012 - of all copies

    def fit_predict(self, X, y=None):
        Recorder.seen.append(X.dtype)
        return (X[:, 0] > 2).astype(int)


@pytest.mark.parametrize("n_landmarks", [None, 50])
def test_clusterers_get_single_precision(n_landmarks):
    Recorder.seen.clear()
    studies = cr.Studies({"a": table(), "b": table(seed=1)})
    assert {study.X.dtype for study in studies.values()} == {np.dtype(np.float32)}
    cr.replicability(Recorder(), studies, n_resamples=2, rng=0, n_landmarks=n_landmarks)
    assert set(Recorder.seen) == {np.dtype(np.float32)}


def test_studies_keep_it():
    studies = cr.Studies({"a": table(), "b": table(seed=1)})
    chosen = [
        studies.select(studies.features[:5])["a"],
        studies["a"].scaled("study"),
        cr.Studies.split(table(), rng=0)["1"],
        studies["a"].with_samples_of([studies["b"]], "both"),
    ]
    assert {study.X.dtype for study in chosen} == {np.dtype(np.float32)}


def test_the_kernels_of_k_means_keep_it_and_agree_with_double_precision():
    X = table(5000)
    weights = np.random.default_rng(3).integers(0, 3, size=len(X))
    single, double = (KMeansResample(PointSet(points), weights, 20) for points in (X, X.astype(float)))
    assert single.centred.dtype == np.float32
    np.testing.assert_allclose(single.mean, double.mean, rtol=1e-6)
    assert single.variance == pytest.approx(double.variance, rel=1e-6)


@pytest.mark.parametrize("rows", [10, 2**20])
def test_means_in_pieces_are_those_of_the_whole(monkeypatch, rows):
    monkeypatch.setattr("clustrep.accelerate.kmeans.SUMMED_AT_ONCE", rows)
    X = table(500)
    sample = KMeansResample(PointSet(X), np.ones(len(X), dtype=np.int64), 20)
    np.testing.assert_allclose(sample.mean, X.astype(float).mean(axis=0), rtol=1e-6)


def test_large_samples_are_fitted_as_small_ones(monkeypatch):
    """Whatever is kept from fit to fit, and however points are turned."""
    studies = {"a": table().astype(float), "b": table(seed=1).astype(float)}
    options = {"n_clusters": [2, 3], "n_resamples": 3, "rng": 0}
    kept = cr.compare(KMeans(n_init=2), studies, **options)
    for name in ("MOST_CACHED", "LABELLED_AT_ONCE"):
        monkeypatch.setattr(f"clustrep.accelerate.kmeans.{name}", 7)
    monkeypatch.setattr("clustrep.fitting.resample.TURNED_AT_ONCE", 11)
    monkeypatch.setattr("clustrep.accelerate.kmeans.BUDGET", 1000)
    np.testing.assert_array_equal(cr.compare(KMeans(n_init=2), studies, **options).distribution, kept.distribution)
    by_landmarks = cr.compare(KMeans(n_init=2), studies, n_landmarks=40, **options)
    monkeypatch.undo()
    again = cr.compare(KMeans(n_init=2), studies, n_landmarks=40, **options)
    np.testing.assert_array_equal(by_landmarks.distribution, again.distribution)
