"""The pieces of the valley test, against brute force and theory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom, binomtest, kstest

from clustrep.separation.valleys import (
    centres_of,
    gabriel_edges,
    join_pieces,
    near_counts,
    place_in_windows,
    poorer_sides,
    spread_ties,
    valley_depth,
    valley_pvalue,
)
from clustrep.statistics import holm


def members(*counts):
    """Memberships of samples that each lie in one window of one edge."""
    rows = []
    for edge, (middle, side) in enumerate(counts):
        for kind, n in enumerate((middle, side)):
            for _ in range(n):
                row = np.zeros((2, len(counts)), dtype=bool)
                row[kind, edge] = True
                rows.append(row)
    table = np.array(rows).reshape(-1, 2, len(counts))
    return table[:, 0], table[:, 1]


@pytest.mark.parametrize(("middle", "side"), [(0, 1), (0, 7), (3, 9), (5, 5), (9, 3), (12, 40)])
def test_one_edge_is_the_binomial_test(middle, side):
    expected = binomtest(middle, middle + side, 0.5, alternative="less").pvalue
    assert valley_pvalue(*members((middle, side))) == pytest.approx(expected)


def test_edges_without_common_samples_add_their_counts():
    assert valley_pvalue(*members((1, 6), (2, 9))) == pytest.approx(binom.cdf(3, 18, 0.5))


def test_samples_in_several_windows_count_less():
    in_middle, in_side = members((1, 6), (2, 9))
    twice = np.repeat(in_middle, 2, axis=1), np.repeat(in_side, 2, axis=1)
    assert valley_pvalue(*twice) == pytest.approx(valley_pvalue(in_middle, in_side), rel=0.2)
    assert binom.cdf(6, 36, 0.5) < 0.2 * valley_pvalue(*twice)  # as if they were other samples


def test_an_empty_side_is_no_evidence():
    assert valley_pvalue(*members((4, 0))) == 1.0


@pytest.mark.parametrize(("middle", "side"), [(0, 5), (3, 10), (10, 10), (12, 3)])
def test_the_depth_has_the_clopper_pearson_interval(middle, side):
    depth, low, high = valley_depth(middle, side, 0.9)
    interval = binomtest(middle, middle + side).proportion_ci(0.9, method="exact")
    assert depth == 1 - middle / side
    assert 1 - interval.high / (1 - interval.high) == pytest.approx(low)
    assert 1 - interval.low / (1 - interval.low) == pytest.approx(high)


def test_holm_by_hand():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])


@pytest.mark.parametrize("p", [1, 2, 5])
def test_gabriel_neighbours_by_brute_force(p, rng):
    centres = rng.normal(size=(7, p))
    expected = []
    for a, b in itertools.combinations(range(7), 2):
        middle, radius = (centres[a] + centres[b]) / 2, np.linalg.norm(centres[a] - centres[b]) / 2
        inside = [c for c in range(7) if c not in (a, b) and np.linalg.norm(centres[c] - middle) < radius]
        if not inside:
            expected.append([a, b])
    assert gabriel_edges(centres).tolist() == expected


def test_centres_are_means_and_noise_belongs_to_none(rng):
    X, labels = rng.normal(size=(8, 3)), np.array([0, 0, 2, 2, 2, -1, 0, -1])
    centres = centres_of(X, labels, 3)
    np.testing.assert_allclose(centres[0], X[[0, 1, 6]].mean(axis=0))
    np.testing.assert_allclose(centres[2], X[[2, 3, 4]].mean(axis=0))
    assert np.isnan(centres[1]).all()


# ---------------------------------------------------------------------------------------------------------------------
# windows

CENTRES = np.array([[0.0, 0.0], [6.0, 0.0]])
EDGE = np.array([[0, 1]])


def test_windows_by_hand():
    # Symmetric around both centres: the study is neither shifted nor shrunk. A window is 2 wide.
    along = np.array([-1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5])
    windows = place_in_windows(np.column_stack([along, np.zeros(10)]), CENTRES, EDGE, np.array([0.5, 0.5]))
    factor = (along[5:].mean() - along[:5].mean()) / 6  # shrunk towards each other by the study's own means
    z = (along - 3) / (6 * factor / 3)
    np.testing.assert_allclose(windows.positions[:, 0], z, atol=1e-12)
    expected = np.column_stack([(z >= -2) & (z < -1), np.abs(z) < 0.5, (z > 1) & (z <= 2)])
    np.testing.assert_array_equal(windows.members[:, 0], expected)


def test_a_shift_of_the_whole_study_moves_the_windows_with_it(rng):
    X = np.repeat(CENTRES, 40, axis=0) + 0.5 * rng.normal(size=(80, 2))  # so far apart that no sample changes its cell
    shares = np.array([0.5, 0.5])
    expected = place_in_windows(X, CENTRES, EDGE, shares)
    shifted = place_in_windows(X + np.array([0.7, 0]), CENTRES, EDGE, shares)
    np.testing.assert_array_equal(shifted.members, expected.members)


def test_a_study_that_lacks_a_piece_says_nothing_about_it(rng):
    X = rng.normal(size=(60, 2))
    windows = place_in_windows(X, CENTRES, EDGE, np.array([0.5, 0.5]))
    assert not windows.members.any()
    assert np.isnan(windows.positions).all()


def test_what_bends_out_of_the_tube_fills_the_valley(rng):
    ends = [rng.normal(size=(50, 2)) * 0.2 + centre for centre in CENTRES]
    bridge = np.column_stack([rng.uniform(1, 5, 30), 2 + rng.normal(size=30) * 0.1])
    X = np.concatenate([*ends, bridge])
    counts = place_in_windows(X, CENTRES, EDGE, np.array([0.5, 0.5])).members.sum(axis=0)[0]
    assert counts[1] >= 10


def test_facing_halves_of_two_modes_keep_their_valley_and_of_one_do_not(rng):
    two = np.repeat(CENTRES, 300, axis=0) + rng.normal(size=(600, 2))
    one = rng.random((600, 2)) * [6, 1]
    for X, is_filled in ((two, False), (one, True)):
        labels = (X[:, 0] > 3).astype(int)
        in_training = np.arange(600) % 2 == 0
        left, middle, right = near_counts(X, in_training, labels[in_training], EDGE, 2)
        assert (middle > 0.7 * min(left, right)) == is_filled


def test_sides_are_compared_by_study_where_studies_differ():
    assert poorer_sides(np.array([[5, 0, 9], [6, 0, 12]])).tolist() == [0, 0]
    assert poorer_sides(np.array([[30, 0, 0], [0, 0, 30]])).tolist() == [2, 0]


# ---------------------------------------------------------------------------------------------------------------------
# groups and ties


def test_pieces_without_a_valley_are_joined():
    edges = np.array([[0, 1], [1, 2], [2, 3]])
    groups = join_pieces(4, edges, np.array([1, 25, 0]), np.array([20, 25, 30]))
    assert groups.tolist() == [0, 1, 1, 2]
    assert join_pieces(3, np.empty((0, 2), dtype=int), np.array([]), np.array([])).tolist() == [0, 0, 0]


def test_a_binary_feature_becomes_flat_with_its_own_spread(rng):
    X = (rng.random((4000, 1)) < 0.3).astype(float)
    spread = spread_ties(X, np.random.default_rng(0))[:, 0]
    assert spread.std() == pytest.approx(X.std(), rel=0.02)
    assert kstest((spread - spread.min()) / np.ptp(spread), "uniform").pvalue > 0.001
    assert spread[X[:, 0] == 0].max() <= spread[X[:, 0] == 1].min()


def test_continuous_features_stay_and_rounded_ones_are_spread_within_their_cells(rng):
    X = np.column_stack([rng.normal(size=500), np.round(rng.normal(size=500), 1), np.ones(500)])
    spread = spread_ties(X, np.random.default_rng(0))
    np.testing.assert_array_equal(spread[:, [0, 2]], X[:, [0, 2]])
    assert np.abs(spread[:, 1] - X[:, 1]).max() < 1  # up to the midpoints of neighbouring values
    assert len(np.unique(spread[:, 1])) > 400
