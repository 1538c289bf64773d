"""Agreements of millions of points, and of nearly as many blocks as points."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import hypergeom
from tests.agreement.agreement.cases import ADJUSTED, INDICES

from clustrep.agreement.agreements import (
    adjusted_mutual_information,
    adjusted_rand_index,
    mutual_information,
    rand_index,
)
from clustrep.agreement.contingency import contingency_table

# ---------------------------------------------------------------------------------------------------------------------
# three million points


N = 3_000_000


BALANCED = np.array(
    [[500_001, 250_000, 249_999, 100_000], [99_999, 400_000, 3, 399_998], [600_000, 100_000, 200_000, 0]]
)
BALANCED[2, 3] = N - BALANCED.sum()


# One giant block on either side: what is left after noise, or the background of an image.
GIANT = np.array([[0, 0, 1, 0], [2, 1, 0, 0], [50, 100, 60, 40], [500, 1500, 9_000, 1000], [7, 900, 400, 0]])
GIANT[4, 3] = N - GIANT.sum()
NEARLY_INDEPENDENT = np.add.outer([0, 1, -1], [0, 1, 2, -3]) + N // 12
NEARLY_IDENTICAL = np.array([[1_500_000, 1], [0, 1_499_999]])
LARGE_TABLES = {
    "balanced": BALANCED,
    "giant": GIANT,
    "nearly independent": NEARLY_INDEPENDENT,
    "nearly identical": NEARLY_IDENTICAL,
}
every_large_table = pytest.mark.parametrize("table", LARGE_TABLES.values(), ids=LARGE_TABLES.keys())


def as_weighted_points(table):
    u, v = np.indices(table.shape).reshape(2, -1)
    return u, v, table.ravel()


def exact_pairs(table):
    """N_11, N_10, N_01, N_00 in Python's integers, which have no end."""

    def together(sizes):
        return sum(math.comb(int(size), 2) for size in sizes)

    both, u, v = together(table.ravel()), together(table.sum(axis=1)), together(table.sum(axis=0))
    return both, u - both, v - both, math.comb(int(table.sum()), 2) - u - v + both


@every_large_table
def test_pair_indices_are_exact_at_three_million_points(table):
    assert table.sum() == N
    n11, n10, n01, n00 = exact_pairs(table)
    u, v, weights = as_weighted_points(table)
    ri = Fraction(n11 + n00, n11 + n10 + n01 + n00)
    ari = Fraction(2 * (n11 * n00 - n10 * n01), (n11 + n10) * (n10 + n00) + (n11 + n01) * (n01 + n00))
    assert rand_index(u, v, weights=weights) == pytest.approx(float(ri), rel=0, abs=1e-15)
    assert adjusted_rand_index(u, v, weights=weights) == pytest.approx(float(ari), rel=0, abs=1e-14)


@every_large_table
def test_mutual_information_is_right_at_three_million_points(table):
    rows, columns = table.sum(axis=1).tolist(), table.sum(axis=0).tolist()
    exact = math.fsum(
        c / N * math.log(Fraction(c * N, rows[i] * columns[j])) for (i, j), c in np.ndenumerate(table.tolist()) if c
    )
    u, v, weights = as_weighted_points(table)
    assert mutual_information(u, v, weights=weights) == pytest.approx(exact, rel=0, abs=1e-14)


def entropy_of_counts(counts):
    return -math.fsum(c / N * math.log(c / N) for c in counts.ravel().tolist() if c)


def hypergeometric_expectation(rows, columns):
    """E[MI] cell by cell, over the bulk of SciPy's distribution."""
    total = 0.0
    for a in rows.tolist():
        for b in columns.tolist():
            x_distribution = hypergeom(N, a, b)
            mean, sd = x_distribution.mean(), x_distribution.std()
            x = np.arange(max(0, a + b - N, math.floor(mean - 12 * sd - 30)), min(a, b, mean + 12 * sd + 30) + 1)
            weights = x_distribution.pmf(x)
            # x log(x/μ) − (x − μ) has the same mean as x log(x/μ), and no large terms that cancel.
            term = np.where(x > 0, x * np.log(np.maximum(x, 1) / mean), 0.0) - (x - mean)
            total += np.sum(weights / weights.sum() * term) / N
    return total


@every_large_table
def test_adjusted_mutual_information_is_right_at_three_million_points(table):
    joint, h_u, h_v = (entropy_of_counts(counts) for counts in (table, table.sum(axis=1), table.sum(axis=0)))
    expected = hypergeometric_expectation(table.sum(axis=1), table.sum(axis=0))
    above_chance = h_u + h_v - joint - expected
    u, v, weights = as_weighted_points(table)
    for average, upper in {"arithmetic": (h_u + h_v) / 2, "max": max(h_u, h_v)}.items():
        score = adjusted_mutual_information(u, v, weights=weights, average=average)
        assert score == pytest.approx(above_chance / (upper - expected), rel=0, abs=1e-12)


def test_three_million_points_score_as_their_weighted_table():
    u, v, weights = as_weighted_points(BALANCED)
    order = np.random.default_rng(3).permutation(N)
    points = np.repeat(u.astype(np.int8), weights)[order], np.repeat(v.astype(np.int8), weights)[order]
    np.testing.assert_array_equal(contingency_table(*points), BALANCED)
    for name in ("ari", "ami"):
        assert INDICES[name](*points) == INDICES[name](u, v, weights=weights)


# ---------------------------------------------------------------------------------------------------------------------
# nearly as many blocks as points


@pytest.mark.parametrize("name", ["ri", *ADJUSTED])
def test_many_singletons_against_themselves_score_one(name):
    n = 300_000  # a dense table would take 720 GB
    assert INDICES[name](np.arange(n), np.arange(n)[::-1]) == 1.0


@pytest.mark.parametrize("name", ADJUSTED)
def test_many_singletons_against_anything_else_score_zero(name):
    n = 300_000
    for other in (np.zeros(n), np.arange(n) // 2, np.arange(n) % 7):
        assert INDICES[name](np.arange(n), other) == INDICES[name](other, np.arange(n)) == 0.0


def test_mutual_information_of_many_singletons_is_the_logarithm_of_their_number():
    n = 300_000
    assert mutual_information(np.arange(n), np.arange(n)) == pytest.approx(math.log(n), rel=0, abs=1e-12)


NEARLY_SINGLETONS = [(300, 1e-11), (3_000, 1e-9), (30_000, 1e-9), (300_000, 1e-8)]


@pytest.mark.parametrize("name", ADJUSTED)
@pytest.mark.parametrize(("n", "close"), NEARLY_SINGLETONS)
def test_two_different_pairs_among_singletons_agree_as_by_chance(name, n, close):
    # All points alone but for one pair in U and another in V. With q = 1 if the pairs are the same and 0 if not,
    # H(U, V) = log n − q (2/n) log 2, so MI − E[MI] = (q − p)(2/n) log 2 and H − E[MI] = (1 − p)(2/n) log 2, where
    # p = 1/C(n, 2) is the chance that the pairs coincide. The Rand index counts the pair itself, to the same effect.
    p = 1 / math.comb(n, 2)
    u, v = np.arange(n), np.arange(n)
    u[1] = 0
    v[3] = 2
    assert INDICES[name](u, v) == pytest.approx(-p / (1 - p), rel=0, abs=close)


@pytest.mark.parametrize("name", ["ami", "ari"])
@pytest.mark.parametrize(("n", "close"), NEARLY_SINGLETONS)
def test_one_of_two_pairs_among_singletons_found_again(name, n, close):
    # As above with two pairs in U, of which V has one: MI − E[MI] = (1 − p)(2/n) log 2 with p = 2/C(n, 2), and the mean
    # of the entropies exceeds E[MI] by (3/2 − p)(2/n) log 2.
    p = 2 / math.comb(n, 2)
    u, v = np.arange(n), np.arange(n)
    u[1] = v[1] = 0
    u[3] = 2
    assert INDICES[name](u, v) == pytest.approx((1 - p) / (1.5 - p), rel=0, abs=close)


@pytest.mark.parametrize("name", ["ri", *ADJUSTED])
def test_identical_partitions_score_one_also_where_floats_can_not_hold_the_pairs(name):
    # Billions of points: squares of sizes are rounded, and rows and columns are summed in different orders.
    rng = np.random.default_rng(8)
    for _ in range(20):
        k = int(rng.integers(3, 9))
        weights = rng.integers(1, 10**9, k)
        assert INDICES[name](np.arange(k), rng.permutation(k), weights=weights) == 1.0
