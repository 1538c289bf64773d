"""The test for clusters, against integrals by double loops, in laws, and its calibration on data without clusters."""

from __future__ import annotations

import contextlib
import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, kstest
from sklearn.cluster import KMeans
from tests.helpers import configured

import clustrep as cr
from clustrep.engine.replicates import Stream, seed_of
from clustrep.errors import DataError, DataWarning, ParameterError
from clustrep.within.cluster_test import cdf_distances, whitened


def integrals_by_hand(rows):
    """Section 2.4, step 4: G_b against the average of the others, between all neighbouring values."""

    def share(row, y):
        return sum(value <= y for value in row) / len(row)

    places = sorted({value for row in rows for value in row})
    scores = []
    for b, row in enumerate(rows):
        others = [other for c, other in enumerate(rows) if c != b]
        pieces = [
            (right - left) * (share(row, left) - sum(share(other, left) for other in others) / len(others)) ** 2
            for left, right in itertools.pairwise(places)
        ]
        scores.append(math.fsum(pieces))
    return scores


def nearest_by_hand(X, power=2):
    X = np.asarray(X).tolist()
    return [min(math.dist(x, y) ** power for i, y in enumerate(X) if i != h) for h, x in enumerate(X)]


def seeded(name, root, b):
    return np.random.default_rng(seed_of(root, Stream.NULL, name, b + 1))


def standard_normal(X, rng):
    return rng.normal(size=X.shape)


def uniform_in_a_box(X, rng):
    return rng.uniform(X.min(axis=0), X.max(axis=0), size=X.shape)


def column_means(X):
    return X.mean(axis=0)


def largest(values):
    return values.max(axis=1)


@pytest.fixture
def X(rng):
    return rng.normal(size=(13, 3)) @ [[1, 0.5, 0], [0, 2, -1], [0, 0, 0.4]] + [5, 0, -2]


MANY_FEATURES = pytest.mark.filterwarnings("ignore:X has .* features and .* samples")


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


def draws_by_hand(X, name, root, n_resamples):
    """Gaussian with the sample mean and covariance: mean + Z R, with RᵀR the covariance, R from a QR decomposition."""
    R = np.linalg.qr((X - X.mean(axis=0)) / math.sqrt(len(X) - 1), mode="r")
    R = R * np.sign(np.diag(R))[:, None]
    np.testing.assert_allclose(R.T @ R, np.cov(X.T), rtol=1e-9, atol=1e-12)
    return [X.mean(axis=0) + seeded(name, root, b).standard_normal((len(X), len(R))) @ R for b in range(n_resamples)]


@pytest.mark.parametrize("squared", [True, False])
def test_every_step_is_that_of_section_2_4(squared, X):
    result = cr.cluster_test(cr.Study(X, "vdx"), n_resamples=12, squared=squared, rng=9, null="sample")
    power = 2 if squared else 1
    rows = [nearest_by_hand(data, power) for data in (X, *draws_by_hand(X, "vdx", 9, 12))]
    scores = integrals_by_hand(rows)
    np.testing.assert_allclose(result.values, rows[0], rtol=1e-9)
    np.testing.assert_allclose(result.null_mean_values, np.mean([sorted(row) for row in rows[1:]], axis=0), rtol=1e-9)
    assert result.statistic == pytest.approx(scores[0], rel=1e-9)
    np.testing.assert_allclose(result.null_distribution, scores[1:], rtol=1e-9)
    assert result.pvalue == (1 + sum(score >= scores[0] for score in scores[1:])) / 13


def test_distances_are_squared_by_default(X):
    np.testing.assert_allclose(cr.cluster_test(X, n_resamples=3, rng=0).values, nearest_by_hand(X), rtol=1e-9)


@MANY_FEATURES
@pytest.mark.parametrize("p", [1, 16, 30])
def test_few_or_many_features_are_no_exception(p, rng):
    X = rng.normal(size=(20, p))
    result = cr.cluster_test(X, n_resamples=4, rng=1, null="sample")
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

    cr.cluster_test(X, measure=measure, n_resamples=2000, rng=0, null="sample")
    means, covariances = (np.mean(part, axis=0) for part in zip(*moments[1:], strict=True))
    S = np.cov(X.T)
    sd = np.sqrt(np.diag(S))
    np.testing.assert_array_less(np.abs(means - X.mean(axis=0)) / sd, 4 / math.sqrt(2000 * 13))
    # A covariance of n values has variance (s_ij² + s_ii s_jj)/(n − 1).
    error = np.sqrt((S**2 + np.outer(sd, sd) ** 2) / 12 / 2000)
    np.testing.assert_array_less(np.abs(covariances - S) / error, 4.5)


def test_a_simulated_statistic_as_large_as_the_observed_counts(X):
    same = cr.cluster_test(X, statistic=lambda values: np.ones(len(values)), n_resamples=4)
    assert same.pvalue == 1
    above = cr.cluster_test(X, statistic=lambda values: np.arange(len(values)) == 0, n_resamples=4)
    assert above.pvalue == 1 / 5
    some = cr.cluster_test(X, statistic=lambda values: [2, 1, 2, 3, 0], n_resamples=4)
    assert some.pvalue == 3 / 5
    assert some.null_distribution.tolist() == [1, 2, 3, 0]
    assert some.statistic == 2


def test_a_single_simulated_data_set_is_no_evidence(rng):
    assert [cr.cluster_test(rng.normal(size=(9, 2)), n_resamples=1, rng=0).pvalue for _ in range(8)] == [1] * 8


# ---------------------------------------------------------------------------------------------------------------------
# other nulls, measures and statistics


def test_the_null_may_be_any_sampler(X):
    given_to_it = []

    def sampler(X, rng):
        given_to_it.append(X.copy())
        return uniform_in_a_box(X, rng).tolist()

    result = cr.cluster_test(cr.Study(X, "vdx"), null=sampler, n_resamples=5, rng=3)
    assert len(given_to_it) == 5
    assert all(np.array_equal(one, X) for one in given_to_it)
    rows = [nearest_by_hand(X), *(nearest_by_hand(uniform_in_a_box(X, seeded("vdx", 3, b))) for b in range(5))]
    np.testing.assert_allclose([result.statistic, *result.null_distribution], integrals_by_hand(rows), rtol=1e-9)
    assert "sampler" in result.provenance["null"]


def test_the_measure_may_be_any_function(X):
    result = cr.cluster_test(X, null=uniform_in_a_box, measure=column_means, n_resamples=5, rng=3)
    rows = [X.mean(axis=0).tolist()]
    rows += [uniform_in_a_box(X, seeded("X", 3, b)).mean(axis=0).tolist() for b in range(5)]
    np.testing.assert_array_equal(result.values, rows[0])
    np.testing.assert_allclose([result.statistic, *result.null_distribution], integrals_by_hand(rows), rtol=1e-9)
    assert result.provenance["measure"] == "column_means"


def test_the_statistic_may_be_any_function_of_all_values(X):
    result = cr.cluster_test(X, statistic=largest, n_resamples=6, rng=3, null="sample")
    rows = [nearest_by_hand(data) for data in (X, *draws_by_hand(X, "X", 3, 6))]
    np.testing.assert_allclose([result.statistic, *result.null_distribution], [max(row) for row in rows], rtol=1e-9)
    assert result.pvalue == (1 + sum(max(row) >= max(rows[0]) for row in rows[1:])) / 7
    assert result.provenance["statistic"] == "largest"


def test_nothing_is_measured_but_the_observed_data_first(X):
    seen = []

    def measure(X):
        seen.append(X.copy())
        return X[:, 0]

    cr.cluster_test(X, measure=measure, n_resamples=2, rng=0)
    np.testing.assert_array_equal(seen[0], X)
    assert len(seen) == 3
    assert not np.array_equal(seen[1], seen[2])


def test_a_sampler_may_do_with_its_table_what_it_likes(X):
    def in_place(X, rng):
        for column in X.T:
            rng.shuffle(column)
        return X

    result = cr.cluster_test(X, null=in_place, n_resamples=4, rng=0)
    expected = cr.cluster_test(X, null=lambda X, rng: in_place(X.copy(), rng), n_resamples=4, rng=0)
    np.testing.assert_array_equal(result.null_distribution, expected.null_distribution)


def test_a_measure_may_do_with_its_table_what_it_likes(X):
    def in_place(X):
        X *= 3
        return X[:, 0].copy()

    result = cr.cluster_test(X, null=uniform_in_a_box, measure=in_place, n_resamples=4, rng=0)
    expected = cr.cluster_test(X, null=uniform_in_a_box, measure=lambda X: 3 * X[:, 0], n_resamples=4, rng=0)
    np.testing.assert_allclose(result.null_distribution, expected.null_distribution)


# ---------------------------------------------------------------------------------------------------------------------
# principal components and whitening


def test_principal_components_are_those_of_the_largest_variances(X):
    centred = X - X.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov(X.T))
    scores = centred @ axes[:, np.argsort(-variances)[:2]]
    seen = []

    def measure(X):
        seen.append(X.copy())
        return nearest_by_hand(X)

    result = cr.cluster_test(X, n_components=2, measure=measure, n_resamples=3, rng=0)
    assert [one.shape for one in seen] == [(13, 2)] * 4
    np.testing.assert_allclose(np.abs(seen[0]), np.abs(scores), rtol=1e-8)
    np.testing.assert_allclose(result.values, nearest_by_hand(scores), rtol=1e-8)
    by_hand = cr.cluster_test(seen[0], n_resamples=3, rng=0)
    np.testing.assert_allclose(by_hand.null_distribution, result.null_distribution, rtol=1e-6)


def test_all_principal_components_keep_the_distances(X):
    result = cr.cluster_test(X, n_components=3, n_resamples=3, rng=0)
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
    result = cr.cluster_test(X, whiten=True, n_resamples=6, rng=2)
    rows = [mahalanobis_by_hand(data) for data in (X, *draws_by_hand(X, "X", 2, 6))]
    np.testing.assert_allclose(result.values, rows[0], rtol=1e-8)
    np.testing.assert_allclose([result.statistic, *result.null_distribution], integrals_by_hand(rows), rtol=1e-6)


def test_a_measure_sees_whitened_data(X):
    covariances = []

    def measure(X):
        covariances.append(np.cov(X.T))
        return X[:, 0]

    cr.cluster_test(X, whiten=True, null=uniform_in_a_box, measure=measure, n_resamples=3, rng=0)
    np.testing.assert_allclose(covariances, [np.eye(3)] * 4, atol=1e-10)


def test_whitened_no_linear_map_matters(X):
    plain = cr.cluster_test(X, whiten=True, n_resamples=19, rng=0)
    triangular = np.array([[1, 4, 0], [0, 0.3, 2], [0, 0, 11.0]])  # R stays triangular: the same draws
    mapped = cr.cluster_test(X @ triangular + 7, whiten=True, n_resamples=19, rng=0)
    np.testing.assert_allclose(mapped.null_distribution, plain.null_distribution, rtol=1e-6)
    assert mapped.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert mapped.pvalue == plain.pvalue
    not_whitened = cr.cluster_test(X, n_resamples=19, rng=0)
    assert not_whitened.statistic != pytest.approx(plain.statistic, rel=1e-2)


@pytest.mark.parametrize(("squared", "power"), [(True, 2), (False, 1)])
def test_the_statistic_is_in_units_of_the_distances(squared, power, X):
    plain = cr.cluster_test(X, squared=squared, n_resamples=9, rng=0)
    larger = cr.cluster_test(5 * X - 3, squared=squared, n_resamples=9, rng=0)
    assert larger.statistic == pytest.approx(5**power * plain.statistic)
    np.testing.assert_allclose(larger.null_distribution, 5**power * plain.null_distribution, rtol=1e-6)
    assert larger.pvalue == plain.pvalue


@pytest.mark.parametrize("n_components", [None, 4])
def test_dependent_features_can_not_be_whitened(n_components, X):
    X = np.concatenate([X, X[::-1, ::-1]])
    dependent = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])
    with pytest.raises(DataError, match=r"4 features vary independently, in at least 6 samples; here are 26"):
        cr.cluster_test(dependent, whiten=True, n_components=n_components, n_resamples=3)
    assert cr.cluster_test(dependent, whiten=True, n_components=3, n_resamples=3).pvalue > 0
    assert cr.cluster_test(dependent, n_resamples=3).pvalue > 0


@pytest.mark.parametrize("data", ["constant", "wide", "square"])
def test_other_data_that_can_not_be_whitened(data, rng):
    X = {
        "constant": np.column_stack([rng.normal(size=12), np.full(12, 3.3)]),
        "wide": rng.normal(size=(5, 9)),
        "square": rng.normal(size=(5, 5)),
    }[data]
    with pytest.raises(DataError, match="Pass n_components"):
        cr.cluster_test(X, whiten=True, n_resamples=3)


def test_whitening_needs_more_samples_than_a_simplex_has(rng):
    # All distances are equal in every data set: either refused, or no evidence at all.
    for _ in range(5):
        with contextlib.suppress(DataError):
            assert cr.cluster_test(rng.normal(size=(4, 3)), whiten=True, n_resamples=19, rng=0).pvalue == 1


def test_simulated_data_that_can_not_be_whitened_are_refused(X):
    with pytest.raises(DataError, match="whiten"):
        cr.cluster_test(X, whiten=True, null=lambda X, rng: np.ones_like(X), n_resamples=3)


# ---------------------------------------------------------------------------------------------------------------------
# seeds and workers


def test_workers_and_batches_do_not_matter(X):
    arguments = {"null": standard_normal, "n_resamples": 9, "rng": 4}
    one = cr.cluster_test(X, **arguments)
    for other in (
        cr.cluster_test(X, n_jobs=2, **arguments),
        configured(cr.cluster_test, progress=False)(X, **arguments),
    ):
        np.testing.assert_array_equal(other.null_distribution, one.null_distribution)
        assert other.statistic == one.statistic


def test_draws_belong_to_the_seed_the_study_and_their_number(X):
    def run(name, n_resamples, rng):
        # Of one row alone, so that the others' number does not matter.
        return cr.cluster_test(cr.Study(X, name), statistic=largest, n_resamples=n_resamples, rng=rng).null_distribution

    long = run("vdx", 9, 4)
    np.testing.assert_array_equal(run("vdx", 9, 4), long)
    np.testing.assert_array_equal(run("vdx", 4, 4), long[:4])
    assert not np.isin(run("mainz", 9, 4), long).any()
    assert not np.isin(run("vdx", 9, 5), long).any()
    assert len(set(long.tolist())) == 9


def test_a_seed_that_was_not_given_is_kept(X):
    result = cr.cluster_test(X, n_resamples=3)
    again = cr.cluster_test(X, n_resamples=3, rng=result.provenance["seed"])
    np.testing.assert_array_equal(again.null_distribution, result.null_distribution)


# ---------------------------------------------------------------------------------------------------------------------
# small and odd data


@MANY_FEATURES
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("p", [1, 2, 20])
def test_few_samples_have_a_pvalue(n, p, rng):
    result = cr.cluster_test(rng.normal(size=(n, p)), n_resamples=9, rng=0)
    assert 0.1 <= result.pvalue <= 1
    assert result.statistic > 0
    assert len(result.values) == len(result.null_mean_values) == n


def test_constant_data_are_no_evidence():
    result = cr.cluster_test(cr.Study(np.full((5, 2), 2.5), "X", label=False), n_resamples=9, rng=0)
    assert result.statistic == 0
    assert result.pvalue == 1


def test_copies_have_distance_zero(X):
    result = cr.cluster_test(np.repeat(X, 2, axis=0), n_resamples=39, rng=0)
    np.testing.assert_array_equal(result.values, [0] * 26)
    assert result.pvalue == 1 / 40


def test_tables_of_any_kind_give_the_same(X):
    X = np.rint(4 * X) / 4  # exact in single precision
    plain = cr.cluster_test(X, n_resamples=5, rng=0)
    for table in (X.tolist(), X.astype(np.float32), pd.DataFrame(X, columns=["a", "b", "c"]), cr.Study(X, "X")):
        np.testing.assert_array_equal(
            cr.cluster_test(table, n_resamples=5, rng=0).null_distribution, plain.null_distribution
        )


# ---------------------------------------------------------------------------------------------------------------------
# the result


@pytest.fixture
def result(X):
    return cr.cluster_test(cr.Study(X, "vdx"), n_resamples=19, rng=6)


def test_the_null_distribution_is_kept(result):
    assert result.null_distribution.shape == (19,)
    assert result.pvalue == (1 + np.count_nonzero(result.null_distribution >= result.statistic)) / 20


def test_a_saved_result_is_the_same_when_loaded(result, tmp_path):
    result.save(tmp_path / "test.clustrep")
    loaded = cr.load(tmp_path / "test.clustrep")
    assert type(loaded) is type(result)
    for name in ("null_distribution", "values", "null_mean_values"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(result, name))
    assert (loaded.statistic, loaded.pvalue, loaded.provenance) == (result.statistic, result.pvalue, result.provenance)
    assert repr(loaded) == repr(result)


@pytest.mark.parametrize("name", ["null_distribution", "values", "null_mean_values"])
def test_arrays_are_read_only(result, name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(result, name)[0] = 0


def test_the_frame_has_one_row(result):
    frame = result.to_frame()
    assert list(frame) == ["statistic", "pvalue", "n_resamples", "null"]
    assert frame.iloc[0].tolist() == [result.statistic, result.pvalue, 19, "'gaussian'"]
    assert len(frame) == 1


def test_a_result_in_words(result, X):
    assert repr(result).startswith(f"Test for clusters: p = {result.pvalue:.3g} (statistic {result.statistic:.4g}, ")
    assert "19 data sets from the null 'gaussian', seed 6)" in repr(result)
    assert "whitened" in repr(cr.cluster_test(X, whiten=True, n_resamples=1, rng=0))
    assert "1 data set from" in repr(cr.cluster_test(X, n_resamples=1, rng=0))


def test_the_provenance_says_how_it_was_made(X):
    arguments = {"whiten": True, "n_components": 2, "squared": False, "n_resamples": 2}
    provenance = cr.cluster_test(cr.Study(X, "vdx"), rng=8, **arguments).provenance
    assert provenance["seed"] == 8
    assert {key: provenance[key] for key in arguments} == arguments
    assert provenance["studies"]["vdx"]["samples"] == 13


def test_a_plot_shows_the_null_distribution_and_the_observed_statistic(result):
    _, ax = plt.subplots()
    assert result.plot(ax) is ax
    assert sum(bar.get_height() for bar in ax.patches) == 19
    assert list(ax.lines[0].get_xdata()) == [result.statistic] * 2
    assert result.plot() is not ax
    plt.close("all")


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"null": "gausian"},
            ParameterError,
            r"null must be one of 'gaussian', 'sample', or a function.* Did you mean 'gaussian'",
        ),
        ({"measure": "median"}, ParameterError, "measure must be one of 'nearest', or a function of a table"),
        ({"statistic": 3}, ParameterError, "statistic must be one of 'cdf', or a function of all values; got 3"),
        ({"n_resamples": 0}, ParameterError, "n_resamples must be a positive integer, got 0"),
        ({"n_resamples": 9.0}, ParameterError, "n_resamples must be a positive integer, got 9.0"),
        ({"whiten": "yes"}, ParameterError, "whiten must be True or False, got 'yes'"),
        ({"squared": 1}, ParameterError, "squared must be True or False, got 1"),
        ({"n_components": 0}, ParameterError, "n_components must be a positive integer, got 0"),
        ({"n_components": 4}, ParameterError, "n_components must be at most 3, got 4"),
        ({"rng": "seed"}, ParameterError, "rng must be"),
        ({"null": lambda X, rng: X[:5]}, DataError, r"like X, of \(13, 3\), got \(5, 3\)"),
        ({"null": lambda X, rng: X[:, :2]}, DataError, r"like X, of \(13, 3\), got \(13, 2\)"),
        ({"null": lambda X, rng: X * np.nan}, DataError, "What null returned has 39 missing values"),
        ({"measure": lambda X: 1.0}, DataError, "measure must return finite numbers in one dimension"),
        ({"measure": lambda X: X}, DataError, "measure must return finite numbers in one dimension"),
        ({"measure": lambda X: []}, DataError, "measure must return finite numbers in one dimension"),
        ({"measure": lambda X: [1, np.inf]}, DataError, "measure must return finite numbers in one dimension"),
        ({"measure": lambda X: X[X[:, 0] > 5, 0]}, DataError, "as many values for every data set as for the observed"),
        ({"statistic": lambda values: values[1:, 0]}, DataError, "one number for each of the 10 data sets"),
        ({"statistic": lambda values: values}, DataError, "one number for each of the 10 data sets"),
        ({"statistic": lambda values: values[:, 0] * np.nan}, DataError, "one number for each of the 10 data sets"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, message, X):
    with pytest.raises(error, match=message):
        cr.cluster_test(X, **{"n_resamples": 9, "rng": 0, **arguments})


def test_components_are_fewer_than_samples(rng):
    with pytest.raises(ParameterError, match="n_components must be at most 3, got 4"):
        cr.cluster_test(rng.normal(size=(4, 9)), n_components=4, n_resamples=3)


def test_tables_that_are_none_are_refused(X):
    with pytest.raises(ParameterError, match="X must be one study or table, got Studies"):
        cr.cluster_test(cr.Studies({"a": X, "b": X}))
    with pytest.raises(DataError, match="at least 2 are needed"):
        cr.cluster_test(X[:1])
    with pytest.raises(DataError, match="missing value"):
        cr.cluster_test(np.where(X > 6, np.nan, X))


@pytest.mark.parametrize("what", ["measure", "statistic"])
def test_text_is_no_measurement(what, X):
    with pytest.raises(DataError, match=f"{what} must return"):
        cr.cluster_test(X, n_resamples=3, **{what: lambda values: ["high"] * len(values)})


# ---------------------------------------------------------------------------------------------------------------------
# calibration: p-values are among 1/40, 2/40, …, 1

B = 39


def pvalues_of(draw, n_sets, key, **arguments):
    return np.array(
        [
            cr.cluster_test(draw(np.random.default_rng([key, i])), n_resamples=B, rng=i, **arguments).pvalue
            for i in range(n_sets)
        ]
    )


def spread(pvalues):
    """Make a uniform distribution on the steps one on the whole interval."""
    return pvalues - np.random.default_rng(0).uniform(size=len(pvalues)) / (B + 1)


def test_pvalues_are_uniform_where_the_null_is_true():
    pvalues = pvalues_of(lambda rng: rng.normal(size=(25, 2)), 300, 1, null=standard_normal)
    assert kstest(spread(pvalues), "uniform").pvalue > 0.01


def test_pvalues_are_uniform_for_other_nulls_measures_and_statistics():
    pvalues = pvalues_of(
        lambda rng: rng.uniform(size=(10, 2)),
        300,
        2,
        null=lambda X, rng: rng.uniform(size=X.shape),
        measure=column_means,
        statistic=largest,
    )
    assert kstest(spread(pvalues), "uniform").pvalue > 0.01


@pytest.mark.parametrize("d", [2, 5])
def test_pvalues_of_whitened_data_are_uniform_under_any_gaussian(d):
    mixing = np.triu(np.random.default_rng(d).uniform(0.5, 3, size=(d, d)))
    pvalues = pvalues_of(lambda rng: rng.normal(size=(25, d)) @ mixing + 5, 300, 3, whiten=True)
    assert kstest(spread(pvalues), "uniform").pvalue > 0.01


@pytest.mark.parametrize("d", [2, 5])
def test_an_estimated_covariance_makes_no_more_rejections_than_nominal(d):
    pvalues = pvalues_of(lambda rng: rng.normal(size=(30, d)), 300, 4)
    for level in (0.05, 0.1, 0.2):
        n_rejected = np.count_nonzero(pvalues <= level)
        assert binomtest(n_rejected, len(pvalues), level, alternative="greater").pvalue > 0.01


@MANY_FEATURES
@pytest.mark.parametrize(("n", "d"), [(40, 20), (40, 100)])
def test_with_many_features_an_estimated_covariance_rejects_too_often(n, d):
    """Why the test warns there, and why the default is another null."""
    pvalues = pvalues_of(lambda rng: rng.normal(size=(n, d)), 40, 5, null="sample")
    n_rejected = np.count_nonzero(pvalues <= 0.05)
    assert binomtest(n_rejected, len(pvalues), 0.05, alternative="greater").pvalue < 0.01


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_the_default_null_keeps_its_level_with_many_features(correlation):
    covariance = correlation ** np.abs(np.subtract.outer(np.arange(20), np.arange(20)))
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(20))
    pvalues = pvalues_of(lambda rng: rng.normal(size=(60, 20)) @ root.T, 60, 6)
    n_rejected = np.count_nonzero(pvalues <= 0.05)
    assert binomtest(n_rejected, len(pvalues), 0.05, alternative="greater").pvalue > 0.01


def test_whitened_data_do_not_depend_on_which_gaussian_is_simulated(rng):
    X = rng.normal(size=(30, 3))
    default, sample = (
        cr.cluster_test(X, null=null, whiten=True, n_resamples=9, rng=1) for null in ("gaussian", "sample")
    )
    np.testing.assert_array_equal(default.null_distribution, sample.null_distribution)


@pytest.mark.parametrize(
    ("n", "d", "warned"), [(7, 4, True), (8, 4, True), (9, 4, False), (12, 5, True), (13, 5, False), (40, 100, True)]
)
def test_many_features_are_warned_about_unless_the_test_is_exact(n, d, warned, rng):
    X = rng.normal(size=(n, d))
    sentence = (
        rf"^X has {d} features and {n} samples: with so few samples for the number of features, a Gaussian that is "
        r"fitted to them can make the test reject too often\. cluster_test\(whiten=True\) is exact; "
    )
    with pytest.warns(DataWarning, match=sentence) if warned else contextlib.nullcontext():
        cr.cluster_test(X, n_resamples=2, rng=0, null="sample")
    cr.cluster_test(X, n_resamples=2, n_components=2, rng=0, null="sample")
    cr.cluster_test(X, n_resamples=2, null=lambda X, rng: rng.normal(size=X.shape), rng=0)
    if n >= d + 2:
        cr.cluster_test(X, n_resamples=2, whiten=True, rng=0, null="sample")


def test_a_clusterer_or_several_studies_are_no_table(rng):
    with pytest.raises(ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments"):
        cr.cluster_test(KMeans(2))
    with pytest.raises(ParameterError, match=r"X must be one study or table, got dict: pick one, studies\[name\]"):
        cr.cluster_test({"a": rng.normal(size=(9, 2))})


@pytest.mark.parametrize("whiten", [False, True])
def test_separated_clusters_are_found(whiten):
    def mixture(rng):
        return np.repeat([[0, 0], [4, 4]], 35, axis=0) + 0.1 * rng.normal(size=(70, 2))

    pvalues = pvalues_of(mixture, 40, 6, whiten=whiten)
    assert (pvalues <= 0.05).mean() >= 0.95
