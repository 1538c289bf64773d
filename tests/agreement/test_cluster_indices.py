"""One number per cluster, against definitions over sets, pairs of points and all one-to-one maps of labels."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agreement.labelings import TEN_SAMPLES, labelings

import clustrep as cr
from clustrep.agreement.cluster_indices import (
    d_index_of,
    inclusion_of,
    jaccard_of,
    matching_distances_of,
    matching_of,
    pairs_of,
    partners_of,
    r_index_of,
)
from clustrep.agreement.contingency import contingency_table
from clustrep.errors import DataError

CLUSTER_INDICES = {"inclusion": inclusion_of, "jaccard": jaccard_of, "r": r_index_of, "d": d_index_of}
INDICES = {
    "inclusion": cr.agreement.inclusion,
    "jaccard": cr.agreement.jaccard,
    "r": cr.agreement.r_index,
    "d": cr.agreement.d_index,
    "relative d": partial(cr.agreement.d_index, relative=True),
}
every_index = pytest.mark.parametrize("name", INDICES)
few_examples = settings(max_examples=60)


# ---------------------------------------------------------------------------------------------------------------------
# brute force: sets of points, pairs of points, all one-to-one maps


def blocks_of(labels):
    """The clusters as sets of points, in the order of the labels."""
    return [{i for i, label in enumerate(labels) if label == one} for one in sorted(set(labels))]


def inclusion_by_sets(u, v):
    return [float(any(block <= other for other in blocks_of(v))) for block in blocks_of(u)]


def jaccard_by_sets(u, v):
    return [max(len(block & other) / len(block | other) for other in blocks_of(v)) for block in blocks_of(u)]


def r_by_pairs(u, v):
    shares = []
    for block in blocks_of(u):
        kept = [v[i] == v[j] for i, j in combinations(sorted(block), 2)]
        shares.append(sum(kept) / len(kept) if kept else math.nan)
    return shares


def d_by_sets(u, v):
    """Additions and deletions; of several clusters with the largest overlap the smallest."""
    values = []
    for block in blocks_of(u):
        most = max(len(block & other) for other in blocks_of(v))
        values.append(float(min(len(block ^ other) for other in blocks_of(v) if len(block & other) == most)))
    return values


def relative_d_by_sets(u, v):
    return [d / len(block) for d, block in zip(d_by_sets(u, v), blocks_of(u), strict=True)]


def matching_by_all_maps(u, v):
    """Equation (3): the labels of the coarser side go to labels of the other, one to one; no other label matches."""
    fine, coarse = (u, v) if len(set(u)) >= len(set(v)) else (v, u)
    names = sorted(set(coarse))
    mismatches = []
    for partners in permutations(sorted(set(fine)), len(names)):
        becomes = dict(zip(names, partners, strict=True))
        mismatches.append(sum(one != becomes[other] for one, other in zip(fine, coarse, strict=True)))
    return min(mismatches)


BY_DEFINITION = {
    "inclusion": inclusion_by_sets,
    "jaccard": jaccard_by_sets,
    "r": r_by_pairs,
    "d": d_by_sets,
    "relative d": relative_d_by_sets,
}


@pytest.mark.parametrize(("u", "v"), [*TEN_SAMPLES, ("aaaaaaaaaa", "xxxxxxxxxx")])
@every_index
def test_index_is_that_of_sets_and_pairs(name, u, v):
    for one, other in ((u, v), (v, u)):
        expected = BY_DEFINITION[name](list(one), list(other))
        np.testing.assert_allclose(INDICES[name](list(one), list(other)), expected, rtol=1e-15)


@few_examples
@given(labelings())
@every_index
def test_index_of_any_two_partitions_is_that_of_sets_and_pairs(name, example):
    u, v = example
    np.testing.assert_allclose(INDICES[name](u, v), BY_DEFINITION[name](u.tolist(), v.tolist()), rtol=1e-15)


@given(labelings(max_samples=7))
def test_minimal_matching_distance_is_the_least_over_all_one_to_one_maps(example):
    u, v = (labels.tolist() for labels in example)
    distance = cr.agreement.minimal_matching_distance(u, v)
    assert distance == matching_by_all_maps(u, v)
    assert distance == cr.agreement.minimal_matching_distance(v, u)
    assert cr.agreement.minimal_matching_distance(u, v, relative=True) == distance / len(u)


@pytest.mark.parametrize(
    ("u", "v", "distance"),
    [
        ("aaabb", "xxyyy", 1),
        ("aaabb", "yyyxx", 0),
        ("aaaa", "xxyy", 2),  # one of two clusters has no partner
        ("aaaa", "wxyz", 3),
        ("abcd", "xxxx", 3),
        ("aabbcc", "xyxyxy", 4),
        # The largest overlap, of b with x, is not part of the best matching: 3 + 3 points beat 4 + 1.
        ("aaaabbbbbbb", "xxxyxxxxyyy", 5),
    ],
)
def test_minimal_matching_distance_by_hand(u, v, distance):
    u, v = list(u), list(v)
    assert cr.agreement.minimal_matching_distance(u, v) == cr.agreement.minimal_matching_distance(v, u) == distance
    assert cr.agreement.minimal_matching_distance(u, v, relative=True) == distance / len(u)
    assert type(cr.agreement.minimal_matching_distance(u, v)) is float


@given(labelings(max_samples=9), labelings(max_samples=9))
def test_minimal_matching_distance_is_a_metric(example, another):
    n = min(len(example[0]), len(another[0]))
    u, v, w = example[0][:n], example[1][:n], another[0][:n]
    u_v, v_w, u_w = (cr.agreement.minimal_matching_distance(*pair) for pair in ((u, v), (v, w), (u, w)))
    assert u_w <= u_v + v_w
    assert (u_v == 0) == (sorted(map(sorted, blocks_of(u))) == sorted(map(sorted, blocks_of(v))))


# ---------------------------------------------------------------------------------------------------------------------
# values known beforehand


@every_index
@given(labelings())
def test_a_cluster_that_is_kept_is_kept_wholly(name, example):
    u, _ = example
    renamed = np.array([f"new {label}" for label in u])
    sizes = np.array([len(block) for block in blocks_of(u.tolist())])
    expected = {"d": np.zeros(len(sizes)), "relative d": np.zeros(len(sizes))}.get(name, np.ones(len(sizes)))
    if name == "r":
        expected = np.where(sizes > 1, 1.0, np.nan)
    np.testing.assert_array_equal(INDICES[name](u, renamed), expected)


def test_what_becomes_of_the_others_does_not_matter_to_a_cluster_that_is_kept():
    u, v = list("aaabbbbcc"), list("xxxyyzzyz")
    kept = {name: index(u, v)[0] for name, index in INDICES.items()}
    assert kept == {"inclusion": 1, "jaccard": 1, "r": 1, "d": 0, "relative d": 0}


def test_a_cluster_swallowed_by_a_larger_one_is_included_with_its_pairs_but_not_alike():
    u, v = list("aabbbb"), list("xxxxyy")
    assert cr.agreement.inclusion(u, v).tolist() == [1, 0]
    assert cr.agreement.r_index(u, v).tolist() == [1, 2 / 6]
    assert cr.agreement.jaccard(u, v).tolist() == [2 / 4, 2 / 4]
    assert cr.agreement.d_index(u, v).tolist() == [2, 2]
    assert cr.agreement.d_index(u, v, relative=True).tolist() == [1, 0.5]


def test_rows_are_the_clusters_of_the_first():
    one, three = list("aaaaaa"), list("xxyyzz")
    assert [len(index(one, three)) for index in INDICES.values()] == [1] * 5
    assert [len(index(three, one)) for index in INDICES.values()] == [3] * 5
    assert cr.agreement.inclusion(one, three).tolist() == [0]
    assert cr.agreement.inclusion(three, one).tolist() == [1, 1, 1]
    assert cr.agreement.r_index(one, three).tolist() == [3 / 15]
    assert cr.agreement.d_index(three, one).tolist() == [4, 4, 4]
    assert cr.agreement.d_index(three, one, relative=True).tolist() == [2, 2, 2]


@pytest.mark.parametrize("order", list(permutations("pqr")))
def test_of_equal_overlaps_the_smaller_new_cluster_counts_in_any_order_of_labels(order):
    """Four points of the cluster go to x and y, two each; x has three more points, y has one more."""
    rename = dict(zip("xyz", order, strict=True))
    u = list("aaaa" + "bbbbb")
    v = [rename[label] for label in "xxyy" + "xxxyz"]
    assert cr.agreement.d_index(u, v)[0] == 2 + 1  # lost to x, and one added in y; against x it would be 2 + 3
    assert cr.agreement.d_index(u, v, relative=True)[0] == 3 / 4


def test_the_largest_overlap_counts_even_where_another_cluster_differs_less():
    """The D index asks for the largest overlap, not for the smallest difference."""
    u = list("aaaaa" + "b" * 9)
    v = list("xxxyy" + "x" * 9)
    assert cr.agreement.d_index(u, v)[0] == 2 + 9  # against y: 3


def test_the_jaccard_coefficient_may_prefer_another_cluster_than_the_largest_overlap():
    u = list("aaaaa" + "b" * 9)
    v = list("xxxyy" + "x" * 9)
    assert cr.agreement.jaccard(u, v)[0] == 2 / 5  # against x: 3 / 14


# ---------------------------------------------------------------------------------------------------------------------
# clusters of one point, and of none


def test_a_cluster_of_one_point_has_no_pairs():
    u, v = list("abb"), list("xxy")
    np.testing.assert_array_equal(cr.agreement.r_index(u, v), [np.nan, 0])
    assert cr.agreement.inclusion(u, v).tolist() == [1, 0]
    assert cr.agreement.jaccard(u, v).tolist() == [1 / 2, 1 / 2]
    assert cr.agreement.d_index(u, v).tolist() == [1, 1]


@pytest.mark.parametrize("name", ["inclusion", "r", "d", "relative d"])
def test_a_cluster_without_points_has_no_value(name):
    u, v = list("aabb"), list("xxxy")
    found = INDICES[name](u, v, weights=[1, 1, 0, 0])
    assert np.isfinite(found).tolist() == [True, False]
    assert found[0] == INDICES[name](list("aa"), list("xx"))[0]


def test_a_cluster_without_points_has_a_jaccard_coefficient_of_zero():
    assert cr.agreement.jaccard(list("aabb"), list("xxxy"), weights=[1, 1, 0, 0]).tolist() == [1, 0]


def test_new_clusters_without_points_do_not_matter():
    table = np.array([[3.0, 1], [0, 2]])
    wide = np.insert(table, [0, 1, 2], 0, axis=1)
    for score in CLUSTER_INDICES.values():
        np.testing.assert_array_equal(score(wide), score(table))
    assert matching_distances_of(wide[None]) == matching_distances_of(table[None]) == 1


def test_empty_tables_have_no_values():
    empty = np.zeros((2, 2, 3))
    for name, score in CLUSTER_INDICES.items():
        np.testing.assert_array_equal(score(empty), np.full((2, 2), 0.0 if name == "jaccard" else np.nan))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_as_few_points_as_there_can_be(n):
    u, v = ["a"] * n, list(range(n))
    assert cr.agreement.inclusion(u, v).tolist() == [float(n == 1)]
    assert cr.agreement.jaccard(u, v).tolist() == [1 / n]
    assert cr.agreement.d_index(u, v).tolist() == [n - 1]
    assert cr.agreement.minimal_matching_distance(u, v) == n - 1
    np.testing.assert_array_equal(cr.agreement.r_index(u, v), [np.nan if n == 1 else 0])
    np.testing.assert_array_equal(cr.agreement.r_index(v, u), np.full(n, np.nan))


# ---------------------------------------------------------------------------------------------------------------------
# laws


@every_index
@few_examples
@given(labelings(), st.data())
def test_weights_count_as_repeated_points(name, example, data):
    u, v = example
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(u), max_size=len(u))))
    if not weights.any():
        weights[0] = 1
    found = INDICES[name](u, v, weights=weights)
    drawn = np.isin(np.unique(u), u[weights > 0])  # a label without points keeps its place
    assert len(found) == len(drawn)
    np.testing.assert_array_equal(found[drawn], INDICES[name](np.repeat(u, weights), np.repeat(v, weights)))
    np.testing.assert_array_equal(found[~drawn], np.full((~drawn).sum(), 0.0 if name == "jaccard" else np.nan))
    distances = (
        cr.agreement.minimal_matching_distance(u, v, weights=weights, relative=True),
        cr.agreement.minimal_matching_distance(np.repeat(u, weights), np.repeat(v, weights), relative=True),
    )
    assert distances[0] == distances[1]


@every_index
@few_examples
@given(labelings(), st.randoms(use_true_random=False))
def test_names_of_new_labels_and_order_of_points_do_not_matter(name, example, random):
    u, v = example
    names = list(range(20, 33))
    random.shuffle(names)
    order = list(range(len(u)))
    random.shuffle(order)
    np.testing.assert_array_equal(INDICES[name](u[order], np.array(names)[v[order]]), INDICES[name](u, v))


@every_index
def test_names_of_the_clusters_put_them_in_order(name):
    u, v = list("aaabbbbcc"), list("xxyyyzzzz")
    renamed = [{"a": "r", "b": "p", "c": "q"}[label] for label in u]
    np.testing.assert_array_equal(INDICES[name](renamed, v), INDICES[name](u, v)[[1, 2, 0]])


@given(labelings())
def test_values_stay_within_their_bounds(example):
    u, v = example
    sizes = np.array([len(block) for block in blocks_of(u.tolist())])
    included, jaccard, r, d = (
        index(u, v)
        for index in (cr.agreement.inclusion, cr.agreement.jaccard, cr.agreement.r_index, cr.agreement.d_index)
    )
    assert set(included) <= {0.0, 1.0}
    assert np.all((jaccard > 0) & (jaccard <= 1))
    assert np.all((r[sizes > 1] >= 0) & (r[sizes > 1] <= 1))
    assert np.all((d >= 0) & (d <= len(u) + sizes - 2))
    # All pairs stay together exactly where one new cluster holds all.
    np.testing.assert_array_equal(r[sizes > 1] == 1, included[sizes > 1] == 1)
    np.testing.assert_array_equal(jaccard == 1, d == 0)
    assert 0 <= cr.agreement.minimal_matching_distance(u, v, relative=True) < 1


@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        pd.Series,
        pd.Categorical,
        lambda labels: np.array(labels, dtype=object),
        lambda labels: pd.Series(labels, index=range(50, 50 + len(labels))),
    ],
)
@every_index
def test_labels_may_come_in_any_container(name, kind):
    u, v = list("aaabbbbcc"), list("xxyyyzzzz")
    np.testing.assert_array_equal(INDICES[name](kind(u), kind(v)), INDICES[name](u, v))


@every_index
def test_noise_is_a_label_like_any_other(name):
    u, v = [-1, -1, 0, 0, 0], [0, -1, -1, -1, 0]
    np.testing.assert_array_equal(INDICES[name](u, v), INDICES[name](list("nnzzz"), list("znnnz")))


@every_index
def test_nothing_given_is_changed_and_nothing_is_shared(name):
    u, v, weights = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 0]), np.array([1, 2, 1, 1, 1])
    for array in (u, v, weights):
        array.flags.writeable = False
    found = INDICES[name](u, v, weights=weights)
    assert found.dtype == np.float64
    found[:] = 9  # the user's own
    assert not np.array_equal(INDICES[name](u, v, weights=weights), found)


# ---------------------------------------------------------------------------------------------------------------------
# matched labels


def test_labels_are_matched_by_name():
    assert cr.agreement.match_labels(["A", "A", "B", "B"], [1, 1, 0, 0]) == {0: "B", 1: "A"}
    assert list(cr.agreement.match_labels(["A", "A", "B", "B"], [1, 1, 0, 0])) == [0, 1]
    assert cr.agreement.match_labels([7, 7, 5], ["x", "x", "y"]) == {"x": 7, "y": 5}


def test_a_label_without_a_partner_is_missing():
    assert cr.agreement.match_labels(list("aabbb"), list("xxyyz")) == {"x": "a", "y": "b"}
    assert cr.agreement.match_labels(list("aabbc"), list("xxyyy")) == {"x": "a", "y": "b"}


def test_names_and_partners_are_plain_values():
    matched = cr.agreement.match_labels(np.array([0, 0, 1]), np.array(["p", "p", "q"]))
    assert [(type(key), type(value)) for key, value in matched.items()] == [(str, int), (str, int)]


@given(labelings(max_samples=8), st.data())
def test_matched_labels_leave_as_many_points_as_the_distance_says(example, data):
    u, v = example
    weights = np.array(data.draw(st.lists(st.integers(1, 4), min_size=len(u), max_size=len(u))))
    for used in (None, weights):
        matched = cr.agreement.match_labels(u, v, weights=used)
        assert len(matched) == len(set(matched.values())) <= min(len(set(u.tolist())), len(set(v.tolist())))
        assert {(matched[other], other) for other in matched} <= set(zip(u.tolist(), v.tolist(), strict=True))
        counts = np.ones(len(u)) if used is None else used
        moved = sum(
            count for one, other, count in zip(u.tolist(), v.tolist(), counts, strict=True) if matched.get(other) != one
        )
        assert moved == cr.agreement.minimal_matching_distance(u, v, weights=used)


def test_weights_decide_the_matching():
    u, v = list("aabb"), list("xyxy")
    assert cr.agreement.match_labels(u, v, weights=[5, 1, 1, 1]) == {"x": "a", "y": "b"}
    assert cr.agreement.match_labels(u, v, weights=[1, 5, 1, 1]) == {"x": "b", "y": "a"}
    assert cr.agreement.minimal_matching_distance(u, v, weights=[5, 1, 1, 1]) == 2


def test_a_matching_is_rows_with_their_columns():
    rows, columns = matching_of(np.array([[0.0, 5, 1], [4, 5, 0]]))
    assert dict(zip(rows.tolist(), columns.tolist(), strict=True)) == {0: 1, 1: 0}


def test_partners_share_a_point_or_there_is_none():
    table = np.array([[3.0, 0, 0], [2, 0, 0], [0, 1, 1]])
    partners = partners_of(table).tolist()  # the second row could only be matched for nothing
    assert partners[:2] == [0, -1]
    assert partners[2] in (1, 2)
    assert partners_of(np.zeros((2, 3))).tolist() == [-1, -1]
    assert partners_of(np.array([[1.0], [4.0], [2.0]])).tolist() == [-1, 0, -1]
    assert partners_of(np.array([[1.0, 4.0, 2.0]])).tolist() == [1]


def test_partners_keep_most_points_together(rng):
    for _ in range(30):
        table = rng.integers(0, 4, size=(3, 4)).astype(float)
        partners = partners_of(table)
        matched = [(row, column) for row, column in enumerate(partners) if column >= 0]
        assert len({column for _, column in matched}) == len(matched)
        assert all(table[cell] > 0 for cell in matched)
        best = max(sum(table[i, c] for i, c in enumerate(some)) for some in permutations(range(4), 3))
        assert sum(table[cell] for cell in matched) == best


def test_labels_that_share_no_point_are_no_partners():
    assert cr.agreement.match_labels([0, 0, 0, 1, 2], [0, 0, 1, 2, 2]) in ({0: 0, 2: 1}, {0: 0, 2: 2})
    assert cr.agreement.match_labels(list("aab"), [0, 1, 1], weights=[1, 0, 2]) == {0: "a", 1: "b"}


@pytest.mark.parametrize("relative", [False, True])
def test_matching_distances_of_many_tables_are_those_of_each(relative, rng):
    tables = rng.integers(0, 4, size=(5, 3, 4)).astype(float)
    tables[2] = 0  # no point at all
    expected = []
    for table in tables:
        kept = max(sum(table[i, c] for i, c in enumerate(some)) for some in permutations(range(4), 3))
        lost = table.sum() - kept
        expected.append(lost / max(table.sum(), 1) if relative else lost)
    np.testing.assert_allclose(matching_distances_of(tables, relative=relative), expected, rtol=1e-13)


# ---------------------------------------------------------------------------------------------------------------------
# tables


@pytest.mark.parametrize("name", CLUSTER_INDICES)
def test_many_tables_at_once_have_the_values_of_each(name, rng):
    tables = rng.integers(0, 4, size=(3, 5, 4, 6)).astype(float)
    tables[0, 0, 1] = 0
    found = CLUSTER_INDICES[name](tables)
    assert found.shape == (3, 5, 4)
    for place in np.ndindex(3, 5):
        table = tables[place]
        u, v = (np.repeat(codes.ravel(), table.astype(int).ravel()).tolist() for codes in np.indices(table.shape))
        occupied = table.any(axis=1)
        np.testing.assert_allclose(found[place][occupied], BY_DEFINITION[name](u, v), rtol=1e-15)
        np.testing.assert_array_equal(found[place], CLUSTER_INDICES[name](table))


@pytest.mark.parametrize("name", CLUSTER_INDICES)
@given(example=labelings())
def test_an_index_of_two_labelings_is_that_of_their_table(name, example):
    table = contingency_table(*example).astype(float)
    np.testing.assert_array_equal(CLUSTER_INDICES[name](table), INDICES[name](*example))


def test_tables_are_left_alone(rng):
    table = rng.integers(0, 4, size=(2, 3, 3)).astype(float)
    table.flags.writeable = False
    before = table.copy()
    for score in (*CLUSTER_INDICES.values(), pairs_of):
        score(table)
    matching_distances_of(table)
    np.testing.assert_array_equal(table, before)


@given(labelings())
def test_pairs_of_every_cluster_and_those_that_stay(example):
    u, v = (labels.tolist() for labels in example)
    pairs, together = pairs_of(contingency_table(u, v).astype(float))
    assert pairs.tolist() == [len(list(combinations(block, 2))) for block in blocks_of(u)]
    kept = [sum(v[i] == v[j] for i, j in combinations(block, 2)) for block in blocks_of(u)]
    assert together.tolist() == kept
    # All clusters pooled: the pairs together in both.
    assert together.sum() == sum(u[i] == u[j] and v[i] == v[j] for i, j in combinations(range(len(u)), 2))


# ---------------------------------------------------------------------------------------------------------------------
# many points


def test_nothing_overflows_at_three_million_points():
    weights = [1_500_000, 300_000, 199_999, 1_000_001]
    u, v = list("aabb"), list("xyxy")
    a, b = 1_800_000, 1_200_000
    x, y = 1_699_999, 1_300_001
    assert cr.agreement.inclusion(u, v, weights=weights).tolist() == [0, 0]
    exact = [Fraction(1_500_000, a + x - 1_500_000), Fraction(1_000_001, b + y - 1_000_001)]
    assert cr.agreement.jaccard(u, v, weights=weights).tolist() == [float(value) for value in exact]
    kept = [
        Fraction(math.comb(1_500_000, 2) + math.comb(300_000, 2), math.comb(a, 2)),
        Fraction(math.comb(199_999, 2) + math.comb(1_000_001, 2), math.comb(b, 2)),
    ]
    np.testing.assert_allclose(
        cr.agreement.r_index(u, v, weights=weights), [float(share) for share in kept], rtol=1e-15
    )
    assert cr.agreement.d_index(u, v, weights=weights).tolist() == [a + x - 3_000_000, b + y - 2_000_002]
    assert cr.agreement.minimal_matching_distance(u, v, weights=weights) == 499_999
    assert cr.agreement.minimal_matching_distance(u, v, weights=weights, relative=True) == 499_999 / 3_000_000
    assert cr.agreement.match_labels(u, v, weights=weights) == {"x": "a", "y": "b"}


def test_three_million_rows_are_as_their_weights():
    weights = np.array([1_500_000, 300_000, 199_999, 1_000_001])
    u, v = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    long = np.repeat(u, weights), np.repeat(v, weights)
    for index in (cr.agreement.r_index, cr.agreement.minimal_matching_distance):
        np.testing.assert_array_equal(index(*long), index(u, v, weights=weights))


def test_one_point_among_three_million_makes_the_difference():
    u, v = ["a", "a", "b"], ["x", "y", "y"]
    assert cr.agreement.inclusion(u, v, weights=[2_999_998, 1, 1]).tolist() == [0, 1]
    assert cr.agreement.d_index(u, v, weights=[2_999_998, 1, 1]).tolist() == [1, 1]
    assert cr.agreement.jaccard(u, v, weights=[2_999_998, 1, 1])[0] < 1
    assert cr.agreement.r_index(u, v, weights=[2_999_998, 1, 1])[0] < 1


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


OF_TWO_LABELINGS = [*INDICES.values(), cr.agreement.minimal_matching_distance, cr.agreement.match_labels]


@pytest.mark.parametrize("function", OF_TWO_LABELINGS)
def test_bad_labelings_and_weights_are_refused(function):
    for u, v in (([0, 0, 1], [0, 1]), ([], []), ([0, 1], ["a", None]), ([0.5, 1], [0, 1])):
        with pytest.raises(DataError):
            function(u, v)
    for weights in ([1], [1, -1], [0, 0]):
        with pytest.raises(DataError):
            function([0, 1], [0, 1], weights=weights)
