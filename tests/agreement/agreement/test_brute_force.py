"""Every agreement by its definition, over pairs of points and over all permutations, and against a peer."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from tests.agreement.agreement.cases import ADJUSTED, INDICES, PEERS, entropy_by_definition, every_index
from tests.agreement.labelings import TEN_SAMPLES, labelings

from clustrep.agreement.agreements import (
    AGREEMENTS,
    PairCounts,
    adjusted_mutual_information,
    adjusted_rand_index,
    mutual_information,
    rand_index,
)
from clustrep.agreement.contingency import Counts
from clustrep.kernels import information


def test_every_agreement_is_tested_here():
    elsewhere = {"prediction_strength", "matching"}  # tests/agreement/table_agreements
    assert set(INDICES) | elsewhere == set(AGREEMENTS)


# ---------------------------------------------------------------------------------------------------------------------
# brute force: every index by its definition, over pairs of points and over all permutations


def pairs_by_loops(u, v):
    """N_11, N_10, N_01, N_00 of section 3.1, one pair of points after the other."""
    kinds = Counter((u[i] == u[j], v[i] == v[j]) for i, j in combinations(range(len(u)), 2))
    return kinds[True, True], kinds[True, False], kinds[False, True], kinds[False, False]


def rand_by_definition(u, v):
    n11, n10, n01, n00 = pairs_by_loops(u, v)
    return (n11 + n00) / (n11 + n10 + n01 + n00)


def mutual_information_by_definition(u, v):
    m, cells, rows, columns = len(u), Counter(zip(u, v, strict=True)), Counter(u), Counter(v)
    return sum(c / m * math.log((c / m) / (rows[i] * columns[j] / m**2)) for (i, j), c in cells.items())


def adjusted_by_permutations(index, upper, u, v):
    """r* of section 3.1: the expectation is the mean over all orders of the points."""
    expected = math.fsum(index(u, order) for order in permutations(v)) / math.factorial(len(v))
    return (index(u, v) - expected) / (upper - expected)


@pytest.mark.parametrize(("u", "v"), TEN_SAMPLES)
def test_rand_index_is_the_share_of_pairs_on_which_both_agree(u, v):
    assert rand_index(list(u), list(v)) == pytest.approx(rand_by_definition(u, v), abs=1e-15)


@pytest.mark.parametrize(("u", "v"), TEN_SAMPLES)
def test_adjusted_rand_index_from_counted_pairs(u, v):
    n11, n10, n01, n00 = pairs_by_loops(u, v)
    together_u, together_v, n_pairs = n11 + n10, n11 + n01, n11 + n10 + n01 + n00
    expected = Fraction(together_u * together_v, n_pairs)
    score = (n11 - expected) / (Fraction(together_u + together_v, 2) - expected)  # Hubert & Arabie (1985), eq. (5)
    assert adjusted_rand_index(list(u), list(v)) == pytest.approx(float(score), abs=1e-15)


@pytest.mark.parametrize(("u", "v"), TEN_SAMPLES)
def test_mutual_information_by_its_definition(u, v):
    assert mutual_information(list(u), list(v)) == pytest.approx(mutual_information_by_definition(u, v), abs=1e-14)


@given(labelings(max_samples=12))
def test_pair_counts_are_those_of_all_pairs(example):
    u, v = example
    counts = Counts.from_codes(u, v)
    pairs = PairCounts.of(counts)
    counted = tuple(float(count[0]) for count in (pairs.both, pairs.first, pairs.second, pairs.neither))
    assert counted == pairs_by_loops(u, v)
    sizes = [sorted(Counter(labels.tolist()).values()) for labels in example]
    assert pairs.trivial[0] == any(size in ([len(u)], [1] * len(u)) for size in sizes)
    blocks = [{frozenset(np.flatnonzero(labels == label)) for label in labels} for labels in example]
    assert counts.identical[0] == (blocks[0] == blocks[1])


FEW_POINTS = [
    ("aaabb", "xxyyy"),
    ("aabbc", "xyxyz"),
    ("aabbcc", "xxxyyy"),
    ("aaaaab", "xyyyyy"),
    ("aabbcd", "xxyyzz"),
    ("aaabbcc", "xxyyyzz"),
]


@pytest.mark.parametrize(("u", "v"), FEW_POINTS)
def test_adjusted_indices_subtract_the_mean_over_all_permutations(u, v):
    one, other = list(u), list(v)
    h_u, h_v = entropy_by_definition(u), entropy_by_definition(v)
    by_permutations = partial(adjusted_by_permutations, mutual_information_by_definition, u=u, v=v)
    arithmetic, maximum = by_permutations(upper=(h_u + h_v) / 2), by_permutations(upper=max(h_u, h_v))
    assert adjusted_mutual_information(one, other) == pytest.approx(arithmetic, abs=1e-13)
    assert adjusted_mutual_information(one, other, average="arithmetic") == pytest.approx(arithmetic, abs=1e-13)
    assert adjusted_mutual_information(one, other, average="max") == pytest.approx(maximum, abs=1e-13)


@pytest.mark.parametrize(("u", "v"), FEW_POINTS)
def test_adjusted_rand_index_subtracts_the_mean_over_all_permutations(u, v):
    # The largest number of pairs together in both, given the sizes, is bounded by the mean of those together in either.
    together_u, together_v = pairs_by_loops(u, u)[0], pairs_by_loops(v, v)[0]
    expected = adjusted_by_permutations(lambda a, b: pairs_by_loops(a, b)[0], (together_u + together_v) / 2, u, v)
    assert adjusted_rand_index(list(u), list(v)) == pytest.approx(expected, abs=1e-13)


# ---------------------------------------------------------------------------------------------------------------------
# against a peer


def random_partition(rng, n):
    """Draw labels from any number of blocks, of sizes from equal to very unequal."""
    k = int(rng.integers(1, n + 1)) if rng.random() < 0.5 else int(rng.integers(1, min(n, 12) + 1))
    shares = rng.dirichlet(np.full(k, rng.choice([0.1, 1.0, 100.0])))
    return rng.choice(k, n, p=shares)


def random_pairs(seed, count):
    """Independent pairs, noisy copies, coarsenings, renamings, and trivial partitions on either side."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        n = int(rng.integers(1, 9)) if i % 4 == 0 else int(rng.integers(1, 301))
        u = random_partition(rng, n)
        v = [
            random_partition(rng, n),
            np.where(rng.random(n) < 0.2, random_partition(rng, n), u),
            u // 2,
            rng.permutation(n + 1)[u],
            np.zeros(n, dtype=int),
            np.arange(n),
            np.where(np.arange(n) == 0, 1 - u, u),  # one point moved
        ][rng.choice(7, p=[0.4, 0.3, 0.08, 0.08, 0.04, 0.04, 0.06])]
        yield (u, v) if rng.random() < 0.5 else (v, u)


def scikit_learn(score, u, v):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
        return score(u, v)


N_PAIRS = 1500


@cache
def peer_pairs():
    return list(random_pairs(20231, N_PAIRS))


def is_one_block(labels):
    return len(np.unique(labels)) == 1


def is_singletons(labels):
    return len(np.unique(labels)) == len(labels)


def same_partition(u, v):
    return len(np.unique(u)) == len(np.unique(v)) == len(np.unique(np.stack([u, v]), axis=1).T)


def room_above_chance(u, v, average):
    """What an adjusted score divides by: the upper bound less the expectation."""
    counts = Counts.from_codes(*(np.unique(labels, return_inverse=True)[1] for labels in (u, v)))
    h_u, h_v = (information.entropy(sizes, counts.totals)[0] for sizes in (counts.rows, counts.columns))
    expected = information.expected_mutual_information(counts.rows, counts.columns, counts.totals)[0]
    return (max(h_u, h_v) if average == "max" else (h_u + h_v) / 2) - expected


@pytest.mark.parametrize("name", ["ri", "ari", "mi"])
def test_index_equals_scikit_learn(name):
    for u, v in peer_pairs():
        assert INDICES[name](u, v) == pytest.approx(scikit_learn(PEERS[name], u, v), rel=0, abs=1e-12), (u, v)


@pytest.mark.parametrize(("name", "average"), [("ami", "arithmetic"), ("ami_max", "max")])
def test_adjusted_mutual_information_equals_scikit_learn(name, average):
    compared = 0
    for u, v in peer_pairs():
        score = INDICES[name](u, v)
        if is_singletons(u) or is_singletons(v):
            # scikit-learn divides one rounding error by another here: up to 5e-9 in place of 0 at 300 points
            # (version 1.9), and two labelings into singletons only score 1 because both errors are cut to the machine's
            # epsilon. So the law instead.
            assert score == (1.0 if same_partition(u, v) else 0.0), (u, v)
            continue
        close = 1e-12 if room_above_chance(u, v, average) >= 0.01 else 1e-9
        assert score == pytest.approx(scikit_learn(PEERS[name], u, v), rel=0, abs=close), (u, v)
        compared += 1
    assert compared > 0.85 * N_PAIRS


@pytest.mark.parametrize("name", ADJUSTED)
def test_identical_partitions_score_exactly_one_and_trivial_ones_exactly_zero(name):
    seen = Counter()
    for u, v in peer_pairs():
        score = INDICES[name](u, v)
        assert math.isfinite(score)
        if same_partition(u, v):
            assert score == 1.0, (u, v)
            seen["identical"] += 1
        elif any(is_one_block(labels) or is_singletons(labels) for labels in (u, v)):
            assert score == 0.0, (u, v)
            seen["trivial"] += 1
        else:
            assert score < 1.0, (u, v)
            seen["others"] += 1
    assert min(seen["identical"], seen["trivial"], seen["others"]) > 100


@every_index
def test_int64_products_of_pair_counts_would_overflow_here(name):
    # N_11 · N_00 is about 1e20, an int64 ends at 9e18.
    n, rng = 200_000, np.random.default_rng(5)
    u = rng.integers(0, 3, n)
    v = np.where(rng.random(n) < 0.3, rng.integers(0, 4, n), u)
    assert INDICES[name](u, v) == pytest.approx(PEERS[name](u, v), rel=0, abs=1e-12)
