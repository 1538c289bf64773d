"""Many fits in one call: each is the fit that it would have been alone."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.kernels import plain

from clustrep.accelerate import kmeans
from clustrep.accelerate.kmeans import (
    KMeansResample,
    Members,
    Settings,
    Strategy,
    fit_together,
    label_points,
)
from clustrep.execution.seeds import words_of
from clustrep.fitting.resample import PointSet
from clustrep.kernels import fit_batch

N_SAMPLES = 4


def batch(p, n=60, seed=0):
    """Points, weights of several samples, members of several kinds, and a seed for every fit."""
    rng = np.random.default_rng([seed, p])
    X = rng.normal(size=(n, p)) + 3 * rng.normal(size=(3, p))[rng.integers(3, size=n)]
    points = PointSet(X, caches_own=True)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=N_SAMPLES)
    clusterers = [
        KMeans(2, n_init=3),
        KMeans(5, n_init=1, max_iter=4, tol=0.1),
        KMeans(n, n_init=1),
        KMeans(1, n_init=2),
    ]
    if p < kmeans.PRODUCT_FEATURES:
        clusterers.append(KMeans(3, init=X[:3], n_init=1))
    settings = [Settings.of(clusterer) for clusterer in clusterers]
    seeds = [[np.random.SeedSequence(5, spawn_key=(i, m)) for m in range(len(settings))] for i in range(N_SAMPLES)]
    words = np.array([[words_of(one) for one in of_sample] for of_sample in seeds], np.uint32)
    return points, weights, settings, seeds, words


def assert_as_alone(fits, place, sample, settings, seeds):
    """Compare the fits of one sample with those of every member alone; one with too many clusters is not fitted."""
    for m, (alone, seed) in enumerate(zip(settings, seeds, strict=True)):
        if alone.n_clusters > len(sample.drawn):
            assert fits.n_iter[place, m] == 0
            continue
        expected, solution = sample.fit(alone, seed), fits.solution(place, m)
        np.testing.assert_array_equal(solution.centres, expected.centres)
        assert (solution.inertia, solution.n_iter) == (expected.inertia, expected.n_iter)


@pytest.mark.parametrize("p", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("budget", [1, 50_000, 10**9])
def test_fits_by_feature_in_one_call_are_those_alone(p, budget, monkeypatch):
    points, weights, settings, seeds, words = batch(p)
    samples = [KMeansResample(points, counts, p) for counts in weights]
    monkeypatch.setattr(kmeans, "BUDGET", budget)
    members = Members(settings, p, words.shape[2])
    fits = fit_together(Strategy.BY_FEATURE, points, weights.astype(float), members, p, words)
    monkeypatch.undo()
    for i, sample in enumerate(samples):
        assert_as_alone(fits, i, sample, settings, seeds[i])


@pytest.mark.parametrize("budget", [1, 50_000, 10**9])
def test_fits_by_distance_in_one_call_are_those_alone(budget, monkeypatch):
    p = 40
    points, weights, settings, seeds, words = batch(p)
    samples = [KMeansResample(points, counts, p) for counts in weights]
    monkeypatch.setattr(kmeans, "BUDGET", budget)
    members = Members(settings, p, words.shape[2])
    fits = fit_together(Strategy.BY_DISTANCE, points, weights.astype(float), members, p, words)
    monkeypatch.undo()
    monkeypatch.setattr(Settings, "strategy", lambda self, points: Strategy.BY_DISTANCE)
    for i, sample in enumerate(samples):
        assert_as_alone(fits, i, sample, settings, seeds[i])


def test_centres_by_distance_are_means_of_the_nearest_points(rng):
    X = np.concatenate([rng.normal(c, 1, size=(15, 20)) for c in (0, 9, 18)])
    weights, clusterer = rng.integers(3, size=45), KMeans(3, n_init=2)
    sample = KMeansResample(PointSet(X), weights, 20)
    words = np.array([words_of(np.random.SeedSequence(3))], np.uint32)
    members = Members([Settings.of(clusterer)], 20, words.shape[1])
    weighted = (sample.points, weights[None].astype(float))
    (centres,) = fit_together(Strategy.BY_DISTANCE, *weighted, members, 20, words[None]).centres
    nearest, _ = plain.nearest_centres(X, centres)
    means = [np.average(X[nearest == c], axis=0, weights=weights[nearest == c]) for c in range(3)]
    np.testing.assert_allclose(centres, means, rtol=1e-12)


@pytest.mark.parametrize("p", [1, 2, 4, 7, 20])
@pytest.mark.parametrize("budget", [1, 10**9])
def test_labels_in_one_call_are_those_of_the_nearest_centres(p, budget, monkeypatch):
    points, weights, settings, _, words = batch(p)
    members = Members(settings, p, words.shape[2])
    centres = np.random.default_rng(1).normal(size=(N_SAMPLES, members.n_centres, p))
    is_fitted = np.ones((N_SAMPLES, len(members)), dtype=bool)
    is_fitted[1, 0] = False
    monkeypatch.setattr(kmeans, "BUDGET", budget)
    labels, n_found = label_points(points, members.borders, centres, is_fitted, weights.astype(float))
    uncounted, none_found = label_points(points, members.borders, centres, is_fitted, None)
    np.testing.assert_array_equal(labels, uncounted)
    assert not none_found.any()
    assert not labels[1, 0].any()
    for i in range(N_SAMPLES):
        for m in range(len(members)):
            if is_fitted[i, m]:
                place = slice(*members.borders[m : m + 2])
                expected, _ = plain.nearest_centres(points.X, centres[i, place])
                np.testing.assert_array_equal(labels[i, m], expected)
                assert n_found[i, m] == len(np.unique(expected[weights[i] > 0]))


def test_numbers_that_are_not_finite_are_not_fitted():
    points, weights, settings, _, words = batch(2)
    huge = PointSet(points.X * 1e200)
    with np.errstate(over="ignore"):
        members = Members(settings, 2, words.shape[2])
        fits = fit_together(Strategy.BY_FEATURE, huge, weights.astype(float), members, 2, words)
    assert not fits.n_iter.any()


@pytest.mark.parametrize("form", ["compiled", "interpreted"])
def test_tables_in_one_call_are_the_plain_ones(form, rng):
    u, v = rng.integers(3, size=(4, 2, 3, 50)).astype(np.int32), rng.integers(3, size=(4, 3, 50)).astype(np.int32)
    weights = rng.integers(4, size=(4, 50)).astype(float)
    tables, expected = np.zeros((2, 4, 3, 2, 3, 3))
    kernel = fit_batch.count_tables
    (kernel if form == "compiled" else kernel.py_func)(u, v, weights, 1, 1, tables)
    plain.count_tables(u, v, weights, 1, 1, expected)
    assert expected[:, 1:].sum() == 2 * 2 * weights.sum()
    np.testing.assert_array_equal(tables, expected)


def test_batches_interpreted_are_those_compiled(monkeypatch):
    points, weights, settings, _, words = batch(3, n=12)
    members = Members(settings, 3, words.shape[2])
    is_fitted = np.ones((N_SAMPLES, len(members)), dtype=bool)

    def run():
        arguments = (points, weights.astype(float), members, 3, words)
        fits = fit_together(Strategy.BY_FEATURE, *arguments)
        return (
            fits,
            fit_together(Strategy.BY_DISTANCE, *arguments),
            label_points(points, members.borders, fits.centres, is_fitted, weights.astype(float)),
        )

    compiled = run()
    for name in [name for name, function in vars(fit_batch).items() if hasattr(function, "py_func")]:
        if function_is_here(name):
            monkeypatch.setattr(fit_batch, name, getattr(fit_batch, name).py_func)
    interpreted = run()
    for one, other in zip(compiled[:2], interpreted[:2], strict=True):
        np.testing.assert_array_equal(one.n_iter, other.n_iter)
        np.testing.assert_allclose(one.centres, other.centres, rtol=1e-12)
    for one, other in zip(compiled[2], interpreted[2], strict=True):
        np.testing.assert_array_equal(one, other)


def function_is_here(name):
    return getattr(fit_batch, name).py_func.__module__ == fit_batch.__name__
