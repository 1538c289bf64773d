"""Small counts, and what would tell them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustrep.federated.suppression import NOT_TOLD, bounds_of, conservative_window, suppressed_sizes, suppressed_table

TABLES = st.integers(2, 4).flatmap(
    lambda rows: st.integers(2, 4).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(0, 40), min_size=columns, max_size=columns), min_size=rows, max_size=rows
        ).map(np.array)
    )
)


@given(TABLES)
def test_no_small_count_can_be_found_by_subtraction(counts):
    """With all sums known, every small count that is withheld could be any of at least ten values."""
    told = suppressed_table(counts, 10)
    hidden = told == NOT_TOLD
    small = (counts > 0) & (counts < 10)
    assert hidden[small].all()
    assert (told[~hidden] == counts[~hidden]).all()
    if hidden.all():  # nothing more could be hidden
        return
    for cell in map(tuple, np.argwhere(small)):
        low, high = bounds_of(counts, hidden, cell)
        assert high - low >= 10 - 1e-6
        assert low - 1e-6 <= counts[cell] <= high + 1e-6


def test_bounds_by_brute_force():
    counts = np.array([[5, 3, 9], [4, 8, 7], [6, 9, 20]])
    hidden = np.array([[True, True, False], [True, True, False], [False, False, False]])
    rows, columns = (counts * hidden).sum(axis=1)[:2], (counts * hidden).sum(axis=0)[:2]
    possible = [
        table
        for table in itertools.product(range(20), repeat=4)
        if table[0] + table[1] == rows[0]
        and table[2] + table[3] == rows[1]
        and table[0] + table[2] == columns[0]
        and table[1] + table[3] == columns[1]
    ]
    assert bounds_of(counts, hidden, (0, 1)) == pytest.approx(
        (min(table[1] for table in possible), max(table[1] for table in possible))
    )


def test_a_table_without_small_counts_is_told_whole():
    counts = np.array([[40, 0], [12, 33]])
    np.testing.assert_array_equal(suppressed_table(counts, 10), counts)


def test_a_table_of_two_by_two_with_a_small_count_is_not_told():
    assert (suppressed_table(np.array([[40, 3], [1, 35]]), 10) == NOT_TOLD).all()


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ([40, 30], [40, 30]),
        ([40, 3], [-1, -1]),
        ([40, 3, 20], [-1, -1, -1]),
        ([40, 3, 2], [-1, -1, -1]),
        ([40, 0, 20], [40, 0, 20]),
        ([4], [-1]),
    ],
)
def test_sizes(sizes, told):
    assert suppressed_sizes(np.array(sizes), 10).tolist() == told


@given(st.lists(st.integers(0, 30), min_size=2, max_size=5), st.integers(10, 60))
def test_a_small_size_could_be_any_from_one_below_the_rule(others, largest):
    """By brute force: the sum is known, empty clusters are told, and missing scores say which clusters are small."""
    sizes = np.array([*others, largest])
    told, small = suppressed_sizes(sizes, 4), (sizes > 0) & (sizes < 4)
    hidden = np.flatnonzero(told == NOT_TOLD)
    assert small.any() == bool(len(hidden))
    total = sizes.sum() - sizes[told != NOT_TOLD].sum()
    ranges = [range(1, 4) if small[i] else range(4, total + 1) for i in hidden[:-1]]  # the last has the rest
    for place, i in enumerate(hidden[:-1]):
        if small[i]:
            least = sum(choices[0] for other, choices in enumerate(ranges) if other != place)
            assert all(total - least - value >= 4 for value in range(1, 4))


def test_sizes_do_not_follow_from_another_number_of_clusters():
    """A cluster that stays as it is from two to three clusters must not be withheld in one and told in the other."""
    two, three = suppressed_sizes(np.array([63, 20]), 10), suppressed_sizes(np.array([60, 3, 20]), 10)
    unchanged = two[1]
    hidden = three == NOT_TOLD
    rest = 83 - three[~hidden].sum() - (unchanged if hidden[2] else 0)
    assert hidden[:2].sum() == 2  # so that the rest is the sum of two that are not told
    assert rest == 63


@given(st.lists(st.tuples(*[st.integers(0, 60)] * 3), min_size=1, max_size=5))
def test_windows_are_rounded_against_a_gap(rows):
    counts = np.array(rows)
    told = conservative_window(counts, 10)
    assert (told[:, 1] >= counts[:, 1]).all()
    assert (told[:, [0, 2]] <= counts[:, [0, 2]]).all()
    assert not ((told > 0) & (told < 9)).any()
    np.testing.assert_array_equal(conservative_window(counts, 1), counts)
