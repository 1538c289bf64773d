"""Matching of centres, against exhaustive search over all partial matchings of small cases."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest

from clustrep.findings.matching import (
    ODDS_OF_SHARED,
    RANGE,
    TIGHTNESS,
    _improved,
    match_centres,
    nearest_neighbour,
    scale_of,
)


def partial_matchings(n_first, n_second):
    """All sets of pairs in which nothing occurs twice."""
    for size in range(min(n_first, n_second) + 1):
        for rows in combinations(range(n_first), size):
            for columns in permutations(range(n_second), size):
                yield list(zip(rows, columns, strict=True))


def gain_of(first, second, pairs, shift, tightness, *, free=False):
    """The gain of a matching at scale 1, by its definition."""
    own_first, own_second = nearest_neighbour(first), nearest_neighbour(second)
    cost = np.log(RANGE / tightness)
    gain = -cost * free
    for i, j in pairs:
        distance = np.linalg.norm(second[j] - shift - first[i]) / min(own_first[i], own_second[j])
        most = cost + np.log(ODDS_OF_SHARED) / first.shape[1]
        gain += max(0.0, most - distance**2 / tightness**2 / 2)
    return gain


def best_by_search(first, second):
    """The largest gain at scale 1 of all matchings, with and without a shift."""
    best = -np.inf
    for pairs, tightness in product(partial_matchings(len(first), len(second)), TIGHTNESS):
        best = max(best, gain_of(first, second, pairs, np.zeros(first.shape[1]), tightness))
        if len(pairs) > 1:
            shift = np.mean([second[j] - first[i] for i, j in pairs], axis=0)
            best = max(best, gain_of(first, second, pairs, shift, tightness, free=True))
    return best


def perfect(n_pairs, n_dimensions):
    """The gain of pairs at the same places, without a shift."""
    return n_pairs * (np.log(RANGE / min(TIGHTNESS)) + np.log(ODDS_OF_SHARED) / n_dimensions)


def planted(seed):
    """Centres, and a noisy copy that lacks some and is shifted and in another order."""
    rng = np.random.default_rng(seed)
    k, p = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    first = 5 * rng.normal(size=(k, p))
    kept = rng.permutation(k)[: int(rng.integers(2, k + 1))]
    shift = rng.normal(size=p) * rng.choice([0, 10])
    return first, first[kept] + shift + 0.1 * rng.normal(size=(len(kept), p)), kept


@pytest.mark.parametrize("seed", range(40))
def test_no_matching_gains_more(seed):
    first, second, _ = planted(seed)
    match = match_centres(first, second)
    assert match.gain >= best_by_search(first, second) - 1e-9
    if match.scale == 1:
        assert match.gain == pytest.approx(best_by_search(first, second), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_without_a_shift_the_assignment_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    first, second = 3 * rng.normal(size=(4, 2)), 3 * rng.normal(size=(3, 2))
    match = _improved(first, second, None, 1.0, 1.0, 0.4)
    best = max(gain_of(first, second, pairs, np.zeros(2), 0.4) for pairs in partial_matchings(4, 3))
    assert match.gain == pytest.approx(best)
    assert len({i for i, _ in match.pairs}) == len({j for _, j in match.pairs}) == len(match.pairs)


@pytest.mark.parametrize("seed", range(20))
def test_a_shifted_copy_is_matched_in_any_order(seed):
    rng = np.random.default_rng(seed)
    first = rng.permutation(np.array([[0.0, 0, 0], [6, 0, 0], [0, 7, 0], [0, 0, 9]]))
    order, shift = rng.permutation(4), 30 * rng.normal(size=3)
    match = match_centres(first, first[order] + shift)
    assert sorted(match.pairs) == sorted((int(i), j) for j, i in enumerate(order))
    np.testing.assert_allclose(match.shift, shift, atol=1e-9)
    assert match.gain == pytest.approx(perfect(4, len(first[0])) - np.log(RANGE / min(TIGHTNESS)))


def test_clusters_left_over_for_each_other_are_no_match():
    first = np.array([[0.0, 0], [12, 0], [6, 9]])
    second = np.array([[0.1, 0], [12, 0.1], [6, -1]])  # the third is another cluster, as far as its neighbours
    assert sorted(match_centres(first, second).pairs) == [(0, 0), (1, 1)]
    shifted = second + 40.0
    assert sorted(match_centres(first, shifted).pairs) == [(0, 0), (1, 1)]
    near = np.array([[0.1, 0], [12, 0.1], [6, 6.0]])  # moved by less than 0.6 of its distance to the others
    assert sorted(match_centres(first, near).pairs) == [(0, 0), (1, 1), (2, 2)]


def test_no_shift_wins_ties():
    first = np.array([[0.0, 0], [6, 0], [12, 0]])
    second = np.array([[6.0, 0], [12, 0]])  # two clusters of the three, or a shift of −6 from the first two
    match = match_centres(first, second)
    assert sorted(match.pairs) == [(1, 0), (2, 1)]
    np.testing.assert_array_equal(match.shift, [0, 0])
    assert match.gain == pytest.approx(perfect(2, 2))


def test_one_pair_earns_no_shift():
    match = match_centres(np.array([[0.0, 0], [5, 0]]), np.array([[0.0, 40], [0, 60]]))
    assert match.pairs == []


@pytest.mark.parametrize("scale", [0.5, 2.0, 1.7])
def test_a_scaled_copy_has_its_scale(scale):
    first = np.array([[0.0, 0], [6, 0], [0, 7], [9, 9]])
    match = match_centres(first, scale * first + np.array([30, -40]), ratio=scale)
    assert match.scale == pytest.approx(scale, rel=1e-3)
    np.testing.assert_allclose(match.shift, [30, -40], atol=1e-6)
    assert match.gain == pytest.approx(perfect(4, len(first[0])) - np.log(RANGE / min(TIGHTNESS)))


@pytest.mark.parametrize(("scale", "expected"), [(0.57, 0.57), (1.05, 1.0), (1.8, 1.8)])
@pytest.mark.parametrize("length", [0, 3, 40])
def test_the_scale_does_not_depend_on_the_shift(scale, expected, length):
    first = np.array([[0.0, 0], [6, 0], [0, 7], [9, 9]])
    second = scale * first + length * np.array([0.6, -0.8])
    match = match_centres(first, second, ratio=scale)
    assert len(match.pairs) == 4
    assert scale_of(first, second, match, scale) == pytest.approx(expected, abs=1e-9)


def test_a_scale_that_the_spreads_contradict_is_not_taken():
    """Two clusters twice as far apart, as wide as before: another distance, or other clusters, but no scale."""
    first = np.array([[0.0, 0], [6, 0], [0, 7], [9, 9]])
    assert match_centres(first, 2 * first, ratio=1.0).scale == 1


def test_distance_to_the_nearest_neighbour():
    np.testing.assert_allclose(nearest_neighbour(np.array([[0.0, 0], [3, 4], [3, 5]])), [5, 1, 1])
    assert nearest_neighbour(np.zeros((1, 2))) == [np.inf]


@pytest.mark.parametrize(("p", "expected"), [(8, [(3, 3), (4, 4)]), (2, [])])
def test_clusters_left_over_are_paired_where_chance_is_unlikely(p, expected):
    """Two close clusters move together, half as far as the others lie away; in the plane that happens by chance."""
    rng = np.random.default_rng(1)
    first = np.zeros((5, p))
    first[:4] = 18 * np.linalg.qr(rng.normal(size=(max(p, 4), max(p, 4))))[0][:4, :p]
    if p == 2:
        first[:4] = [[18, 0], [-18, 0], [0, -18], [0, 18]]
    first[4] = first[3] + 7 * np.eye(p)[0]
    second = first + 0.5 * rng.normal(size=first.shape)
    second[3:] += 13 * np.eye(p)[1]
    pairs = match_centres(first, second).pairs
    assert sorted(pairs) == [(0, 0), (1, 1), (2, 2), *expected]
