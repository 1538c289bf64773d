"""The test for clusters on principal components and whitened data."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from tests.stability.cluster_test.cases import draws_by_hand, integrals_by_hand, nearest_by_hand, uniform_in_a_box

import clustrep as cr
from clustrep.errors import DataError
from clustrep.stability.significance import whitened


def test_principal_components_are_those_of_the_largest_variances(X):
    centred = X - X.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov(X.T))
    scores = centred @ axes[:, np.argsort(-variances)[:2]]
    seen = []

    def measure(X):
        seen.append(X.copy())
        return nearest_by_hand(X)

    result = cr.stability.cluster_test(X, n_components=2, measure=measure, n_resamples=3, rng=0)
    assert [one.shape for one in seen] == [(13, 2)] * 4
    np.testing.assert_allclose(np.abs(seen[0]), np.abs(scores), rtol=1e-8)
    np.testing.assert_allclose(result.values, nearest_by_hand(scores), rtol=1e-8)
    by_hand = cr.stability.cluster_test(seen[0], n_resamples=3, rng=0)
    np.testing.assert_allclose(by_hand.null_distribution, result.null_distribution, rtol=1e-6)


def test_all_principal_components_keep_the_distances(X):
    result = cr.stability.cluster_test(X, n_components=3, n_resamples=3, rng=0)
    np.testing.assert_allclose(result.values, nearest_by_hand(X), rtol=1e-9)


def test_whitened_data_have_mean_zero_and_unit_covariance(X):
    white = whitened(X)
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.cov(white.T), np.eye(3), atol=1e-12)
    S = np.linalg.inv(np.cov(X.T))
    for i, j in [(0, 1), (3, 12), (7, 2)]:
        d = X[i] - X[j]
        assert np.sum((white[i] - white[j]) ** 2) == pytest.approx(d @ S @ d)


def mahalanobis_by_hand(X):
    S = np.linalg.inv(np.cov(X.T))
    return [min((x - y) @ S @ (x - y) for i, y in enumerate(X) if i != h) for h, x in enumerate(X)]


def test_every_data_set_is_whitened_by_its_own_covariance(X):
    result = cr.stability.cluster_test(X, whiten=True, n_resamples=6, rng=2)
    rows = [mahalanobis_by_hand(data) for data in (X, *draws_by_hand(X, "X", 2, 6))]
    np.testing.assert_allclose(result.values, rows[0], rtol=1e-8)
    np.testing.assert_allclose([result.statistic, *result.null_distribution], integrals_by_hand(rows), rtol=1e-6)


def test_a_measure_sees_whitened_data(X):
    covariances = []

    def measure(X):
        covariances.append(np.cov(X.T))
        return X[:, 0]

    cr.stability.cluster_test(X, whiten=True, null=uniform_in_a_box, measure=measure, n_resamples=3, rng=0)
    np.testing.assert_allclose(covariances, [np.eye(3)] * 4, atol=1e-10)


def test_whitened_no_linear_map_matters(X):
    plain = cr.stability.cluster_test(X, whiten=True, n_resamples=19, rng=0)
    triangular = np.array([[1, 4, 0], [0, 0.3, 2], [0, 0, 11.0]])  # R stays triangular: the same draws
    mapped = cr.stability.cluster_test(X @ triangular + 7, whiten=True, n_resamples=19, rng=0)
    np.testing.assert_allclose(mapped.null_distribution, plain.null_distribution, rtol=1e-6)
    assert mapped.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert mapped.pvalue == plain.pvalue
    not_whitened = cr.stability.cluster_test(X, n_resamples=19, rng=0)
    assert not_whitened.statistic != pytest.approx(plain.statistic, rel=1e-2)


@pytest.mark.parametrize(("squared", "power"), [(True, 2), (False, 1)])
def test_the_statistic_is_in_units_of_the_distances(squared, power, X):
    plain = cr.stability.cluster_test(X, squared=squared, n_resamples=9, rng=0)
    larger = cr.stability.cluster_test(5 * X - 3, squared=squared, n_resamples=9, rng=0)
    assert larger.statistic == pytest.approx(5**power * plain.statistic)
    np.testing.assert_allclose(larger.null_distribution, 5**power * plain.null_distribution, rtol=1e-6)
    assert larger.pvalue == plain.pvalue


@pytest.mark.parametrize("n_components", [None, 4])
def test_dependent_features_can_not_be_whitened(n_components, X):
    X = np.concatenate([X, X[::-1, ::-1]])
    dependent = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])
    with pytest.raises(DataError, match=r"4 features vary independently, in at least 6 samples; here are 26"):
        cr.stability.cluster_test(dependent, whiten=True, n_components=n_components, n_resamples=3)
    assert cr.stability.cluster_test(dependent, whiten=True, n_components=3, n_resamples=3).pvalue > 0
    assert cr.stability.cluster_test(dependent, n_resamples=3).pvalue > 0


@pytest.mark.parametrize("data", ["constant", "wide", "square"])
def test_other_data_that_can_not_be_whitened(data, rng):
    X = {
        "constant": np.column_stack([rng.normal(size=12), np.full(12, 3.3)]),
        "wide": rng.normal(size=(5, 9)),
        "square": rng.normal(size=(5, 5)),
    }[data]
    with pytest.raises(DataError, match="Pass n_components"):
        cr.stability.cluster_test(X, whiten=True, n_resamples=3)


def test_whitening_needs_more_samples_than_a_simplex_has(rng):
    # All distances are equal in every data set: either refused, or no evidence at all.
    for _ in range(5):
        with contextlib.suppress(DataError):
            assert cr.stability.cluster_test(rng.normal(size=(4, 3)), whiten=True, n_resamples=19, rng=0).pvalue == 1


def test_simulated_data_that_can_not_be_whitened_are_refused(X):
    with pytest.raises(DataError, match="whiten"):
        cr.stability.cluster_test(X, whiten=True, null=lambda X, rng: np.ones_like(X), n_resamples=3)
