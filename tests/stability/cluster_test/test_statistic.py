"""The test for clusters, against integrals by double loops, with every null, measure and statistic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stability.cluster_test.cases import (
    MANY_FEATURES,
    column_means,
    draws_by_hand,
    integrals_by_hand,
    largest,
    nearest_by_hand,
    seeded,
    uniform_in_a_box,
)

import clustrep as cr
from clustrep.stability.significance import cdf_distances

# ---------------------------------------------------------------------------------------------------------------------
# the statistic


def test_two_values_by_hand():
    # G_0 steps at 1 and 3, G_1 at 2 and 3: they differ by ½ between 1 and 2.
    np.testing.assert_allclose(cdf_distances(np.array([[1.0, 3.0], [2.0, 3.0]])), [1 / 4, 1 / 4], rtol=1e-14)


def test_one_value_each_by_hand():
    # Rows 0, 1, 3, so between 0 and 1: (1, 0, 0), between 1 and 3: (1, 1, 0); the average of the others is ½ or 1.
    scores = cdf_distances(np.array([[0.0], [1.0], [3.0]]))
    np.testing.assert_allclose(scores, [1 + 2 / 4, 1 / 4 + 2 / 4, 1 / 4 + 2], rtol=1e-14)


def test_the_average_leaves_out_the_row_itself():
    # Three rows alike and one apart by 2: 1 for it, (1/3)² for the others. With itself in, it would be (3/4)² and 1/16.
    scores = cdf_distances(np.array([[5.0], [3.0], [3.0], [3.0]]))
    np.testing.assert_allclose(scores, [2, 2 / 9, 2 / 9, 2 / 9], rtol=1e-14)


@pytest.mark.parametrize("shape", [(2, 1), (2, 7), (3, 4), (6, 10), (20, 3)])
def test_integrals_are_those_of_a_double_loop(shape, rng):
    values = rng.exponential(size=shape) * rng.uniform(0.5, 2, size=(shape[0], 1))
    np.testing.assert_allclose(cdf_distances(values), integrals_by_hand(values.tolist()), rtol=1e-9)


@given(st.integers(1, 5), st.integers(2, 5), st.data())
def test_integrals_with_ties_are_those_of_a_double_loop(n, n_rows, data):
    row = st.lists(st.sampled_from([0.0, 0.0, 0.25, 1.0, 1.5, 7.0]), min_size=n, max_size=n)
    rows = data.draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    np.testing.assert_allclose(cdf_distances(np.array(rows)), integrals_by_hand(rows), rtol=1e-9, atol=1e-14)


def test_integrals_do_not_depend_on_order_and_place_and_are_in_units_of_the_values(rng):
    values = rng.exponential(size=(5, 8))
    plain = cdf_distances(values)
    np.testing.assert_allclose(cdf_distances(rng.permuted(values, axis=1)), plain, rtol=1e-14)
    np.testing.assert_allclose(cdf_distances(values[::-1])[::-1], plain, rtol=1e-9)
    np.testing.assert_allclose(cdf_distances(3 * values), 3 * plain, rtol=1e-9)
    np.testing.assert_allclose(cdf_distances(values - 2), plain, rtol=1e-9)
    np.testing.assert_allclose(cdf_distances(np.repeat(values, 3, axis=1)), plain, rtol=1e-9)


def test_values_that_do_not_differ_have_integral_zero():
    assert cdf_distances(np.ones((4, 3))).tolist() == [0] * 4


def test_integrals_are_never_negative(rng):
    assert min(cdf_distances(np.repeat(rng.exponential(size=(1, 9)), 5, axis=0)).min() for _ in range(50)) >= 0


# ---------------------------------------------------------------------------------------------------------------------
# the test, step by step


@pytest.mark.parametrize("squared", [True, False])
def test_every_step_is_that_of_section_2_4(squared, X):
    result = cr.stability.cluster_test(cr.Study(X, "vdx"), n_resamples=12, squared=squared, rng=9, null="sample")
    power = 2 if squared else 1
    rows = [nearest_by_hand(data, power) for data in (X, *draws_by_hand(X, "vdx", 9, 12))]
    scores = integrals_by_hand(rows)
    np.testing.assert_allclose(result.values, rows[0], rtol=1e-9)
    np.testing.assert_allclose(result.null_mean_values, np.mean([sorted(row) for row in rows[1:]], axis=0), rtol=1e-9)
    assert result.statistic == pytest.approx(scores[0], rel=1e-9)
    np.testing.assert_allclose(result.null_distribution, scores[1:], rtol=1e-9)
    assert result.pvalue == (1 + sum(score >= scores[0] for score in scores[1:])) / 13


def test_distances_are_squared_by_default(X):
    np.testing.assert_allclose(cr.stability.cluster_test(X, n_resamples=3, rng=0).values, nearest_by_hand(X), rtol=1e-9)


@MANY_FEATURES
@pytest.mark.parametrize("p", [1, 16, 30])
def test_few_or_many_features_are_no_exception(p, rng):
    X = rng.normal(size=(20, p))
    result = cr.stability.cluster_test(X, n_resamples=4, rng=1, null="sample")
    rows = [nearest_by_hand(X)]
    for b in range(4):
        R = np.linalg.qr((X - X.mean(axis=0)) / math.sqrt(19), mode="r")
        R = R * np.sign(np.diag(R))[:, None]
        rows.append(nearest_by_hand(X.mean(axis=0) + seeded("X", 1, b).standard_normal((20, min(20, p))) @ R))
    np.testing.assert_allclose([result.statistic, *result.null_distribution], integrals_by_hand(rows), rtol=1e-9)


def test_the_gaussian_null_has_the_mean_and_covariance_of_the_sample(X):
    moments = []

    def measure(X):
        moments.append((X.mean(axis=0), np.cov(X.T)))
        return X[:, 0]

    cr.stability.cluster_test(X, measure=measure, n_resamples=2000, rng=0, null="sample")
    means, covariances = (np.mean(part, axis=0) for part in zip(*moments[1:], strict=True))
    S = np.cov(X.T)
    sd = np.sqrt(np.diag(S))
    np.testing.assert_array_less(np.abs(means - X.mean(axis=0)) / sd, 4 / math.sqrt(2000 * 13))
    # A covariance of n values has variance (s_ij² + s_ii s_jj)/(n − 1).
    error = np.sqrt((S**2 + np.outer(sd, sd) ** 2) / 12 / 2000)
    np.testing.assert_array_less(np.abs(covariances - S) / error, 4.5)


def test_a_simulated_statistic_as_large_as_the_observed_counts(X):
    same = cr.stability.cluster_test(X, statistic=lambda values: np.ones(len(values)), n_resamples=4)
    assert same.pvalue == 1
    above = cr.stability.cluster_test(X, statistic=lambda values: np.arange(len(values)) == 0, n_resamples=4)
    assert above.pvalue == 1 / 5
    some = cr.stability.cluster_test(X, statistic=lambda values: [2, 1, 2, 3, 0], n_resamples=4)
    assert some.pvalue == 3 / 5
    assert some.null_distribution.tolist() == [1, 2, 3, 0]
    assert some.statistic == 2


def test_a_single_simulated_data_set_is_no_evidence(rng):
    assert [cr.stability.cluster_test(rng.normal(size=(9, 2)), n_resamples=1, rng=0).pvalue for _ in range(8)] == [
        1
    ] * 8


# ---------------------------------------------------------------------------------------------------------------------
# other nulls, measures and statistics


def test_the_null_may_be_any_sampler(X):
    given_to_it = []

    def sampler(X, rng):
        given_to_it.append(X.copy())
        return uniform_in_a_box(X, rng).tolist()

    result = cr.stability.cluster_test(cr.Study(X, "vdx"), null=sampler, n_resamples=5, rng=3)
    assert len(given_to_it) == 5
    assert all(np.array_equal(one, X) for one in given_to_it)
    rows = [nearest_by_hand(X), *(nearest_by_hand(uniform_in_a_box(X, seeded("vdx", 3, b))) for b in range(5))]
    np.testing.assert_allclose([result.statistic, *result.null_distribution], integrals_by_hand(rows), rtol=1e-9)
    assert "sampler" in result.provenance["null"]


def test_the_measure_may_be_any_function(X):
    result = cr.stability.cluster_test(X, null=uniform_in_a_box, measure=column_means, n_resamples=5, rng=3)
    rows = [X.mean(axis=0).tolist()]
    rows += [uniform_in_a_box(X, seeded("X", 3, b)).mean(axis=0).tolist() for b in range(5)]
    np.testing.assert_array_equal(result.values, rows[0])
    np.testing.assert_allclose([result.statistic, *result.null_distribution], integrals_by_hand(rows), rtol=1e-9)
    assert result.provenance["measure"] == "column_means"


def test_the_statistic_may_be_any_function_of_all_values(X):
    result = cr.stability.cluster_test(X, statistic=largest, n_resamples=6, rng=3, null="sample")
    rows = [nearest_by_hand(data) for data in (X, *draws_by_hand(X, "X", 3, 6))]
    np.testing.assert_allclose([result.statistic, *result.null_distribution], [max(row) for row in rows], rtol=1e-9)
    assert result.pvalue == (1 + sum(max(row) >= max(rows[0]) for row in rows[1:])) / 7
    assert result.provenance["statistic"] == "largest"


def test_nothing_is_measured_but_the_observed_data_first(X):
    seen = []

    def measure(X):
        seen.append(X.copy())
        return X[:, 0]

    cr.stability.cluster_test(X, measure=measure, n_resamples=2, rng=0)
    np.testing.assert_array_equal(seen[0], X)
    assert len(seen) == 3
    assert not np.array_equal(seen[1], seen[2])


def test_a_sampler_may_do_with_its_table_what_it_likes(X):
    def in_place(X, rng):
        for column in X.T:
            rng.shuffle(column)
        return X

    result = cr.stability.cluster_test(X, null=in_place, n_resamples=4, rng=0)
    expected = cr.stability.cluster_test(X, null=lambda X, rng: in_place(X.copy(), rng), n_resamples=4, rng=0)
    np.testing.assert_array_equal(result.null_distribution, expected.null_distribution)


def test_a_measure_may_do_with_its_table_what_it_likes(X):
    def in_place(X):
        X *= 3
        return X[:, 0].copy()

    result = cr.stability.cluster_test(X, null=uniform_in_a_box, measure=in_place, n_resamples=4, rng=0)
    expected = cr.stability.cluster_test(X, null=uniform_in_a_box, measure=lambda X: 3 * X[:, 0], n_resamples=4, rng=0)
    np.testing.assert_allclose(result.null_distribution, expected.null_distribution)
