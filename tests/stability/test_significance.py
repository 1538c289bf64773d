"""The test for clusters, against integrals by double loops and by calibration."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, kstest
from tests.stability.plain import integrals, nearest_distances

import clustrep as cr
from clustrep.errors import DataError, DataWarning, ParameterError
from clustrep.execution.seeds import Stream, seed_of
from clustrep.stability.significance import cdf_distances, whitened

X = np.random.default_rng(20231).normal(size=(13, 3)) @ [[1, 0.5, 0], [0, 2, -1], [0, 0, 0.4]] + [5, 0, -2]
cluster_test_of = cr.stability.cluster_test


def seeded(root, b, name="X"):
    return np.random.default_rng(seed_of(root, Stream.NULL, name, b + 1))


def gaussian_draws(X, root, n, name="X"):
    """Gaussian with the sample mean and covariance: mean + Z R, with RᵀR the covariance, R from a QR decomposition."""
    R = np.linalg.qr((X - X.mean(axis=0)) / math.sqrt(len(X) - 1), mode="r")
    R = R * np.sign(np.diag(R))[:, None]
    return [X.mean(axis=0) + seeded(root, b, name).standard_normal((len(X), len(R))) @ R for b in range(n)]


# ---------------------------------------------------------------------------------------------------------------------
# the statistic


@pytest.mark.parametrize(
    ("rows", "scores"),
    [
        ([[1.0, 3.0], [2.0, 3.0]], [1 / 4, 1 / 4]),  # they differ by ½ between 1 and 2
        ([[0.0], [1.0], [3.0]], [1 + 2 / 4, 1 / 4 + 2 / 4, 1 / 4 + 2]),
        ([[5.0], [3.0], [3.0], [3.0]], [2, 2 / 9, 2 / 9, 2 / 9]),  # the average is of the other rows alone
        ([[1.0, 1.0]] * 3, [0, 0, 0]),
    ],
)
def test_integrals_by_hand(rows, scores):
    np.testing.assert_allclose(cdf_distances(np.array(rows)), scores, rtol=1e-14)


@given(st.integers(1, 5), st.integers(2, 5), st.data())
def test_integrals_are_those_of_a_double_loop(n, n_rows, data):
    number = st.one_of(st.sampled_from([0.0, 0.25, 1.0, 1.5, 7.0]), st.floats(0, 9, allow_subnormal=False))
    rows = data.draw(st.lists(st.lists(number, min_size=n, max_size=n), min_size=n_rows, max_size=n_rows))
    scores = cdf_distances(np.array(rows))
    np.testing.assert_allclose(scores, integrals(rows), rtol=1e-9, atol=1e-13)
    assert scores.min() >= 0


def test_integrals_do_not_depend_on_order_and_place_and_are_in_units_of_the_values():
    rng = np.random.default_rng(0)
    values = rng.exponential(size=(5, 8))
    plain = cdf_distances(values)
    np.testing.assert_allclose(cdf_distances(rng.permuted(values, axis=1)), plain, rtol=1e-14)
    np.testing.assert_allclose(cdf_distances(values[::-1])[::-1], plain, rtol=1e-9)
    np.testing.assert_allclose(cdf_distances(3 * values - 2), 3 * plain, rtol=1e-9)
    np.testing.assert_allclose(cdf_distances(np.repeat(values, 3, axis=1)), plain, rtol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# the test, step by step


@pytest.mark.filterwarnings("ignore::clustrep.errors.DataWarning")
@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("p", [1, 3, 16, 30])
def test_every_step_is_that_of_section_2_4(squared, p):
    points = np.random.default_rng(p).normal(size=(20, p)) * np.linspace(1, 3, p)
    result = cluster_test_of(cr.Study(points, "vdx"), n_resamples=9, squared=squared, rng=9, null="sample")
    rows = [nearest_distances(data, 1 + squared) for data in (points, *gaussian_draws(points, 9, 9, "vdx"))]
    scores = integrals(rows)
    np.testing.assert_allclose(result.values, rows[0], rtol=1e-9)
    np.testing.assert_allclose(result.null_mean_values, np.mean([sorted(row) for row in rows[1:]], axis=0), rtol=1e-9)
    np.testing.assert_allclose([result.statistic, *result.null_distribution], scores, rtol=1e-9)
    assert result.pvalue == (1 + sum(score >= scores[0] for score in scores[1:])) / 10
    assert result.to_frame().iloc[0].tolist() == [result.statistic, result.pvalue, 9, "'sample'"]


def test_the_null_may_be_any_sampler():
    def uniform(study, rng):
        return rng.uniform(study.X.min(axis=0), study.X.max(axis=0), size=study.X.shape).tolist()

    study = cr.Study(X, "vdx")
    result = cluster_test_of(study, null=uniform, n_resamples=5, rng=3)
    rows = [nearest_distances(data) for data in (X, *(uniform(study, seeded(3, b, "vdx")) for b in range(5)))]
    np.testing.assert_allclose([result.statistic, *result.null_distribution], integrals(rows), rtol=1e-9)


def test_principal_components_are_those_of_the_largest_variances():
    variances, axes = np.linalg.eigh(np.cov(X.T))
    scores = (X - X.mean(axis=0)) @ axes[:, np.argsort(-variances)[:2]]
    result = cluster_test_of(X, n_components=2, n_resamples=3, rng=0)
    np.testing.assert_allclose(result.values, nearest_distances(scores), rtol=1e-8)
    np.testing.assert_allclose(cluster_test_of(X, n_components=3, n_resamples=3, rng=0).values, nearest_distances(X))


def test_every_data_set_is_whitened_by_its_own_covariance():
    def mahalanobis(X):
        S = np.linalg.inv(np.cov(X.T))
        return [min((x - y) @ S @ (x - y) for i, y in enumerate(X) if i != h) for h, x in enumerate(X)]

    np.testing.assert_allclose(np.cov(whitened(X).T), np.eye(3), atol=1e-12)
    result = cluster_test_of(X, whiten=True, n_resamples=6, rng=2)
    rows = [mahalanobis(data) for data in (X, *gaussian_draws(X, 2, 6))]
    np.testing.assert_allclose([result.statistic, *result.null_distribution], integrals(rows), rtol=1e-6)
    same = cluster_test_of(X, whiten=True, null="sample", n_resamples=6, rng=2)  # whichever Gaussian is simulated
    np.testing.assert_array_equal(same.null_distribution, result.null_distribution)
    triangular = np.array([[1, 4, 0], [0, 0.3, 2], [0, 0, 11.0]])  # R stays triangular: the same draws
    mapped = cluster_test_of(X @ triangular + 7, whiten=True, n_resamples=6, rng=2)
    np.testing.assert_allclose(mapped.null_distribution, result.null_distribution, rtol=1e-6)


def test_small_and_odd_data():
    constant = cr.Study(np.full((5, 2), 2.5), "X", label=False)
    flat = cluster_test_of(constant, n_resamples=9, rng=0)
    assert (flat.statistic, flat.pvalue) == (0, 1)
    assert cluster_test_of(np.repeat(X, 2, axis=0), n_resamples=39, rng=0).pvalue == 1 / 40  # copies have distance 0
    for n, p in ((2, 1), (3, 20), (4, 2)):
        assert 0.1 <= cluster_test_of(np.random.default_rng(n).normal(size=(n, p)), n_resamples=9, rng=0).pvalue <= 1


@pytest.mark.parametrize(
    "points",
    [
        np.column_stack([X, X[:, 0] - 2 * X[:, 1]]),
        np.column_stack([X, np.full(13, 3.3)]),
        X[:3],
        X[:4],
    ],
    ids=["dependent", "constant", "square", "simplex"],
)
def test_data_that_can_not_be_whitened(points):
    with pytest.raises(DataError):
        cluster_test_of(points, whiten=True, n_resamples=3)


@pytest.mark.parametrize(("n", "d", "warned"), [(8, 4, True), (9, 4, False), (12, 5, True), (13, 5, False)])
def test_a_sample_covariance_of_few_samples_is_warned_about_unless_the_test_is_exact(n, d, warned):
    points = np.random.default_rng(n).normal(size=(n, d))
    with pytest.warns(DataWarning) if warned else contextlib.nullcontext():
        cluster_test_of(points, n_resamples=2, rng=0, null="sample")
    for options in ({}, {"whiten": True, "null": "sample"}):
        cluster_test_of(points, n_resamples=2, rng=0, **options)


@pytest.mark.parametrize(
    ("arguments", "error", "parameter"),
    [
        ({"null": "gausian"}, ParameterError, "null"),
        ({"whiten": "yes"}, ParameterError, "whiten"),
        ({"n_components": 0}, ParameterError, "n_components"),
        ({"n_components": 4}, ParameterError, "n_components"),
        ({"null": lambda study, rng: study.X[:5]}, DataError, None),
        ({"null": lambda study, rng: study.X * np.nan}, DataError, None),
        ({"null": lambda study, rng: 1 / 0}, DataError, None),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, parameter):
    with pytest.raises(error) as caught:
        cluster_test_of(X, **{"n_resamples": 9, "rng": 0, **arguments})
    assert getattr(caught.value, "parameter", None) == parameter


# ---------------------------------------------------------------------------------------------------------------------
# calibration

B = 39


def pvalues_of(draw, n_sets, key, **arguments):
    run = {"n_resamples": B, **arguments}
    return np.array(
        [cluster_test_of(draw(np.random.default_rng([key, i])), rng=i, **run).pvalue for i in range(n_sets)]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "options"),
    [
        (lambda rng: rng.normal(size=(25, 2)), {"null": lambda study, rng: rng.normal(size=study.X.shape)}),
        (lambda rng: rng.normal(size=(25, 2)) @ [[2, 1], [0, 0.5]] + 5, {"whiten": True}),
        (lambda rng: rng.normal(size=(25, 5)) * np.arange(1, 6), {"whiten": True}),
    ],
    ids=["true null", "whitened, 2 features", "whitened, 5 features"],
)
def test_pvalues_are_uniform_where_the_test_is_exact(draw, options):
    pvalues = pvalues_of(draw, 300, 1, **options)
    spread = pvalues - np.random.default_rng(0).uniform(size=300) / (B + 1)  # uniform on the whole interval
    assert kstest(spread, "uniform").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d", "correlation"), [(30, 2, 0.0), (30, 5, 0.0), (60, 20, 0.0), (60, 20, 0.6)])
def test_the_default_null_keeps_its_level(n, d, correlation):
    covariance = correlation ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(d))
    pvalues = pvalues_of(lambda rng: rng.normal(size=(n, d)) @ root.T, 100, 4)
    for level in (0.05, 0.1, 0.2):
        assert binomtest(np.count_nonzero(pvalues <= level), 100, level, alternative="greater").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::clustrep.errors.DataWarning")
def test_with_many_features_a_sample_covariance_rejects_too_often():
    """Why the test warns there, and why the default is another null model."""
    pvalues = pvalues_of(lambda rng: rng.normal(size=(40, 20)), 40, 5, null="sample")
    assert binomtest(np.count_nonzero(pvalues <= 0.05), 40, 0.05, alternative="greater").pvalue < 0.01


@pytest.mark.parametrize("whiten", [False, True])
def test_separated_clusters_are_found(whiten):
    def mixture(rng):
        return np.repeat([[0, 0], [4, 4]], 35, axis=0) + 0.1 * rng.normal(size=(70, 2))

    assert (pvalues_of(mixture, 20, 6, whiten=whiten) <= 0.05).mean() >= 0.95
