"""How studies relate: which one stands apart, which cluster is which, and all but one against that one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.optimize import linear_sum_assignment
from scipy.stats import binomtest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from tests.helpers import configured

import clustrep as cr
from clustrep.clustering.sample import Source
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning

SHARED = np.array([[0, 0, 0, 0], [4, 0, 0, 0], [0, 4, 0, 0]], dtype=float)
OTHER = np.array([[0, 0, 0, 0], [0, 0, 4, 0], [0, 0, 0, 4]], dtype=float)


def mixture(rng, centres, n):
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, centres.shape[1]))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def overlapping():
    """Three studies of different sizes with blurred clusters, so that no score is 0 or 1."""
    rng = np.random.default_rng(5)
    return {name: mixture(rng, SHARED[:, :3] * 0.7, n) for name, n in (("a", 17), ("b", 22), ("c", 13))}


@pytest.fixture(scope="module")
def scored():
    rng = np.random.default_rng(3)
    studies = {name: mixture(rng, SHARED * 0.7, n) for name, n in zip("abcd", (20, 24, 18, 22), strict=True)}
    return cr.replicability(KMeans(3, n_init=1), studies, n_resamples=30, rng=1)


def draws_by_hand(means, spread, n, seed=0):
    """Scores of all pairs, independent, around these means."""
    means = np.asarray(means, dtype=float)
    return means + spread * np.random.default_rng(seed).uniform(-1, 1, size=(n, *means.shape))


# ---------------------------------------------------------------------------------------------------------------------
# similarity, tree and order


def test_similarity_is_the_average_of_the_means_of_both_directions(scored):
    found = scored.relations().similarity
    n = len(scored.distribution)
    for s, t in itertools.product(range(4), repeat=2):
        total = sum(scored.distribution[b, s, t] + scored.distribution[b, t, s] for b in range(n))
        assert found[s, t] == pytest.approx(1.0 if s == t else total / (2 * n), abs=1e-12)


def test_the_tree_is_average_linkage_by_hand(scored):
    """a and b are close, c joins them at the average of its two distances, d at that of its three."""
    similarity = np.ones((4, 4))
    for (s, t), value in {(0, 1): 0.9, (0, 2): 0.8, (1, 2): 0.6, (0, 3): 0.3, (1, 3): 0.2, (2, 3): 0.4}.items():
        similarity[s, t] = similarity[t, s] = value
    tilt = np.triu(np.full((4, 4), 0.05), 1)  # the directions differ, their average does not
    relations = replace(scored, distribution=np.stack([similarity + tilt - tilt.T] * 3)).relations()
    heights = [0.1, (0.2 + 0.4) / 2, (0.7 + 0.8 + 0.6) / 3]
    np.testing.assert_allclose(relations.tree[:, 2], heights, atol=1e-12)
    assert [set(row) for row in relations.tree[:, :2].astype(int).tolist()] == [{0, 1}, {2, 4}, {3, 5}]
    assert relations.tree[:, 3].tolist() == [2, 3, 4]
    assert relations.order.tolist() in ([1, 0, 2, 3], [3, 2, 0, 1])  # a, closer to c than b is, stands beside it


def test_the_tree_is_that_of_scipy_for_the_pairwise_distances(scored):
    relations = scored.relations()
    pairs = itertools.combinations(range(4), 2)
    distances = [1 - (scored.mean[s, t] + scored.mean[t, s]) / 2 for s, t in pairs]
    tree = linkage(distances, "average", optimal_ordering=True)
    np.testing.assert_allclose(relations.tree, tree, atol=1e-12)
    assert relations.order.tolist() == leaves_list(tree).tolist()


def test_scores_above_one_have_no_negative_distance(scored):
    relations = replace(scored, distribution=draws_by_hand(np.full((4, 4), 1.2), 0.1, 4)).relations()
    assert (relations.tree[:, 2] == 0).all()


# ---------------------------------------------------------------------------------------------------------------------
# gap and contrast


def gaps_by_hand(distribution):
    """For every resample and study: mean of score − diagonal of the tested study, with it and without it."""
    n, S, _ = distribution.shape
    gap, rest = np.full((n, S), np.nan), np.full((n, S), np.nan)
    for b, one in itertools.product(range(n), range(S)):
        with_it, without = [], []
        for s in range(S):
            for t in range(S):
                below = distribution[b, s, t] - distribution[b, t, t]
                if s != t and not np.isnan(below):
                    (with_it if one in (s, t) else without).append(below)
        if with_it:
            gap[b, one] = sum(with_it) / len(with_it)
        if without:
            rest[b, one] = sum(without) / len(without)
    return gap, gap - rest


def quantile_by_hand(values, q):
    values = sorted(value for value in values if not np.isnan(value))
    if not values:
        return np.nan
    place = q * (len(values) - 1)
    i = min(int(place), len(values) - 2)
    return values[i] + (place - i) * (values[i + 1] - values[i])


def closest_by_hand(distribution):
    """For every resample and study: the gap with its closest partner, both directions averaged."""
    n, S, _ = distribution.shape
    closest = np.full((n, S), np.nan)
    for b, one in itertools.product(range(n), range(S)):
        for other in range(S):
            there = distribution[b, one, other] - distribution[b, other, other]
            back = distribution[b, other, one] - distribution[b, one, one]
            known = [way for way in (there, back) if not np.isnan(way)]
            if other != one and known and not sum(known) / len(known) <= closest[b, one]:
                closest[b, one] = sum(known) / len(known)
    return closest


def assert_gaps(relations, distribution):
    S = distribution.shape[1]
    tail = 0.05 / (2 * S)
    closest = closest_by_hand(distribution)
    closest_high = [quantile_by_hand(closest[:, s], 1 - tail) for s in range(S)]
    np.testing.assert_allclose(relations.closest_high, closest_high, atol=1e-12)
    for name, values in zip(("gap", "contrast"), gaps_by_hand(distribution), strict=True):
        np.testing.assert_allclose(getattr(relations, name), np.nanmean(values, axis=0), atol=1e-12)
        low = [quantile_by_hand(values[:, s], tail) for s in range(S)]
        high = [quantile_by_hand(values[:, s], 1 - tail) for s in range(S)]
        np.testing.assert_allclose(getattr(relations, f"{name}_low"), low, atol=1e-12)
        np.testing.assert_allclose(getattr(relations, f"{name}_high"), high, atol=1e-12)


def test_gap_and_contrast_are_those_of_loops_over_pairs(scored):
    assert_gaps(scored.relations(), scored.distribution)


@pytest.mark.parametrize("S", [3, 5])
def test_gap_and_contrast_for_other_numbers_of_studies(scored, S):
    distribution = draws_by_hand(np.random.default_rng(S).uniform(size=(S, S)), 0.3, 12)
    relations = replace(scored, names=tuple("abcde"[:S]), distribution=distribution).relations()
    assert_gaps(relations, distribution)


def test_the_yardstick_is_the_diagonal_of_the_tested_study(scored):
    """All scores 0.5; a's own diagonal is 1, the others' 0.5: three of a's six pairs lie below, those tested on a."""
    means = np.full((4, 4), 0.5)
    means[0, 0] = 1.0
    relations = replace(scored, distribution=np.stack([means] * 3)).relations()
    np.testing.assert_allclose(relations.gap, [-0.25, -0.5 / 6, -0.5 / 6, -0.5 / 6])
    np.testing.assert_allclose(relations.contrast, [-0.25, 0.5 / 6, 0.5 / 6, 0.5 / 6])
    np.testing.assert_array_equal(relations.gap_low, relations.gap_high)


def test_intervals_hold_for_all_studies_together(scored):
    """The tails are those of 95 % divided among the studies."""
    distribution = np.zeros((1001, 4, 4))
    distribution[:, 0, 1:] = distribution[:, 1:, 0] = -np.linspace(0, 1, 1001)[:, None]
    relations = replace(scored, distribution=distribution).relations()
    assert relations.gap_high[0] == pytest.approx(-0.05 / 8)
    assert relations.gap_low[0] == pytest.approx(-1 + 0.05 / 8)
    assert relations.contrast_high[0] == pytest.approx(-0.05 / 8)


def test_a_study_stands_apart_if_all_three_intervals_lie_below_zero(scored):
    high = np.full((4, 4), 0.9)
    apart = high.copy()
    apart[2, :] = apart[:, 2] = 0.2
    apart[2, 2] = 0.9
    wide = draws_by_hand(apart, 0.9, 40)
    for distribution, expected in [
        (draws_by_hand(apart, 0.02, 40), [False, False, True, False]),
        (draws_by_hand(high, 0.02, 40), [False] * 4),  # no gap
        (draws_by_hand(np.where(np.eye(4), 0.9, 0.2), 0.02, 40), [False] * 4),  # a gap, the same for all
        (wide, None),
    ]:
        relations = replace(scored, distribution=distribution).relations()
        ends = (relations.gap_high, relations.contrast_high, relations.closest_high)
        below = [max(of_study) < 0 for of_study in zip(*ends, strict=True)]
        assert relations.apart.tolist() == below == (below if expected is None else expected)


def test_two_against_three_are_two_camps_and_no_outliers(scored):
    """Both of the smaller camp have a gap and a contrast below 0; but each has a partner."""
    means = np.full((5, 5), 0.2)
    means[:3, :3] = means[3:, 3:] = 0.9
    relations = replace(scored, names=tuple("abcde"), distribution=draws_by_hand(means, 0.02, 40)).relations()
    below = (relations.gap_high < 0) & (relations.contrast_high < 0)
    assert below.tolist() == [False, False, False, True, True]
    np.testing.assert_allclose(relations.gap[3:], 3 / 4 * -0.7, atol=0.02)
    np.testing.assert_allclose(relations.contrast[3:], 3 / 4 * -0.7 + 3 / 6 * 0.7, atol=0.02)
    assert (relations.closest_high > 0).all()
    assert not relations.apart.any()
    assert str(relations).startswith("no study stands apart; ")
    # Without a partner of its own, each of the two stands apart.
    means[3, 4] = means[4, 3] = 0.2
    relations = replace(scored, names=tuple("abcde"), distribution=draws_by_hand(means, 0.02, 40)).relations()
    assert relations.apart.tolist() == below.tolist()
    np.testing.assert_allclose(relations.closest_high[3:], -0.7, atol=0.05)


def test_a_partner_must_agree_in_both_directions(scored):
    """c is well predicted by a, but a is not by c: half of a gap is left."""
    means = np.full((4, 4), 0.9)
    means[2, :2] = means[:2, 2] = means[2, 3] = means[3, 2] = 0.3
    means[0, 2] = 0.9
    relations = replace(scored, distribution=np.stack([means] * 20)).relations()
    np.testing.assert_allclose(relations.closest_high, [0, 0, -0.3, 0], atol=1e-12)
    assert relations.apart.tolist() == [False, False, True, False]
    means[2, 0] = 0.9
    relations = replace(scored, distribution=np.stack([means] * 20)).relations()
    assert relations.closest_high[2] == 0
    assert not relations.apart.any()


def test_a_study_at_zero_exactly_does_not_stand_apart(scored):
    relations = replace(scored, distribution=np.ones((5, 4, 4))).relations()
    assert not relations.apart.any()
    assert relations.gap_high.tolist() == relations.contrast_high.tolist() == relations.closest_high.tolist() == [0] * 4


def test_two_that_agree_with_each_other_alone_are_no_outlier(scored):
    """Two camps of two: every study has the same gap, none has a contrast."""
    means = np.kron(np.eye(2), np.full((2, 2), 0.8)) + 0.1
    relations = replace(scored, distribution=draws_by_hand(means, 0.01, 40)).relations()
    assert (relations.gap_high < 0).all()
    assert not relations.apart.any()
    assert {frozenset(relations.order[:2].tolist()), frozenset(relations.order[2:].tolist())} == {
        frozenset({0, 1}),
        frozenset({2, 3}),
    }


def test_the_order_of_the_studies_only_reorders(scored):
    turned = [2, 0, 3, 1]
    names = tuple(scored.names[i] for i in turned)
    one = scored.relations()
    other = replace(scored, names=names, distribution=scored.distribution[:, turned][:, :, turned]).relations()
    for name in ("gap", "gap_low", "gap_high", "contrast", "contrast_low", "contrast_high", "closest_high", "apart"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name)[turned], atol=1e-12)
    np.testing.assert_allclose(np.sort(other.tree[:, 2]), np.sort(one.tree[:, 2]), atol=1e-12)
    assert other.heterogeneity == pytest.approx(one.heterogeneity)


# ---------------------------------------------------------------------------------------------------------------------
# heterogeneity


def heterogeneity_by_hand(distribution):
    n, S, _ = distribution.shape
    pairs = [(s, t) for s in range(S) for t in range(S) if s != t]
    means = [sum(distribution[b, s, t] for b in range(n)) / n for s, t in pairs]
    middle = sum(means) / len(pairs)
    between = sum((mean - middle) ** 2 for mean in means) / (len(pairs) - 1)
    within = 0.0
    for b in range(n):
        errors = [distribution[b, s, t] - mean for (s, t), mean in zip(pairs, means, strict=True)]
        shared = sum(errors) / len(pairs)
        within += sum((error - shared) ** 2 for error in errors) / (len(pairs) - 1) / n
    return max(0.0, 1 - within / between)


@pytest.mark.parametrize("spread", [0.05, 0.2])
def test_heterogeneity_by_hand(scored, spread):
    means = np.random.default_rng(2).uniform(size=(4, 4))
    distribution = draws_by_hand(means, spread, 200)
    found = replace(scored, distribution=distribution).relations().heterogeneity
    assert 0.2 < found < 1
    # With or without n / (n − 1).
    assert found == pytest.approx(heterogeneity_by_hand(distribution), abs=0.01)


def test_heterogeneity_of_identical_pairs_is_0(scored):
    for distribution in (np.ones((5, 4, 4)), draws_by_hand(np.full((4, 4), 0.6), 0.2, 50)):
        assert replace(scored, distribution=distribution).relations().heterogeneity == 0


def test_heterogeneity_of_pairs_that_are_equal_in_every_resample_is_0(scored):
    for level in (0.6, 0.1, 0.7):
        assert replace(scored, distribution=np.full((5, 4, 4), level)).relations().heterogeneity == 0


def test_heterogeneity_of_clearly_different_pairs_is_near_1(scored):
    means = np.random.default_rng(1).uniform(size=(4, 4))
    relations = replace(scored, distribution=draws_by_hand(means, 0.001, 50)).relations()
    assert 0.999 < relations.heterogeneity < 1


def test_what_pairs_share_in_a_resample_is_no_resampling_error_of_their_differences(scored):
    means = np.random.default_rng(1).uniform(size=(4, 4))
    shared = 0.3 * np.random.default_rng(0).normal(size=(50, 1, 1))
    relations = replace(scored, distribution=draws_by_hand(means, 0.001, 50) + shared).relations()
    assert relations.heterogeneity > 0.999


def test_heterogeneity_leaves_the_diagonal_out(scored):
    distribution = scored.distribution.copy()
    distribution[:, np.arange(4), np.arange(4)] = 0.123
    assert replace(scored, distribution=distribution).relations().heterogeneity == scored.relations().heterogeneity


def test_one_resample_tells_nothing_of_heterogeneity(scored):
    relations = replace(scored, distribution=scored.distribution[:1]).relations()
    assert np.isnan(relations.heterogeneity)
    assert "100%" not in str(relations)


def test_one_resample_sets_no_study_apart(scored):
    assert not scored.relations().apart.any()
    assert not replace(scored, distribution=scored.distribution[:1]).relations().apart.any()


@pytest.mark.parametrize("n", [1, 19, 20])
def test_fewer_than_twenty_resamples_do_not_say_who_stands_apart(scored, n):
    means = np.full((4, 4), 0.9)
    means[1, [0, 2, 3]] = means[[0, 2, 3], 1] = 0.1
    relations = replace(scored, distribution=np.stack([means] * n)).relations()
    assert relations.closest_high[1] == pytest.approx(-0.8)
    assert relations.says_who_stands_apart == (n >= 20)
    assert relations.apart.tolist() == [False, n >= 20, False, False]
    assert str(relations).startswith("b stands apart; " if n >= 20 else "too few resamples, ")


# ---------------------------------------------------------------------------------------------------------------------
# collections


@pytest.mark.parametrize("seed", range(4))
def test_a_study_with_other_clusters_is_flagged_and_no_other(seed):
    rng, odd = np.random.default_rng(seed), "abcd"[seed]
    studies = {name: mixture(rng, OTHER if name == odd else SHARED, 40) for name in "abcd"}
    relations = cr.replicability(KMeans(3, n_init=2), studies, n_resamples=40, rng=seed).relations()
    assert [name for name, apart in zip(relations.names, relations.apart, strict=True) if apart] == [odd]
    assert relations.heterogeneity > 0.8
    assert relations.names[relations.order[0]] == odd or relations.names[relations.order[-1]] == odd
    assert set(relations.tree[-1, :2]) & {"abcd".index(odd)}  # it joins last
    assert str(relations).startswith(f"{odd} stands apart; ")


@pytest.mark.parametrize("seed", range(3))
def test_of_two_camps_of_studies_none_is_flagged_and_a_single_odd_one_is(seed):
    one, other = np.array([[0.0, 0], [6, 0], [0, 6]]), np.array([[0.0, 0], [3, 3], [6, 6]])
    rng = np.random.default_rng(seed)
    for odd in ("be", "b"):
        studies = {
            name: (other if name in odd else one)[np.arange(40) % 3] + rng.normal(size=(40, 2)) for name in "abcde"
        }
        relations = cr.replicability(KMeans(3, n_init=1), studies, n_resamples=40, rng=seed).relations()
        flagged = [name for name, apart in zip(relations.names, relations.apart, strict=True) if apart]
        assert flagged == (["b"] if odd == "b" else [])
        if odd == "be":
            ordered = "".join(relations.names[i] for i in relations.order)
            assert "be" in ordered + ordered[::-1]
            assert set(relations.tree[0, :2]) <= {0, 2, 3} or set(relations.tree[0, :2]) == {1, 4}
            without_partners = (relations.gap_high < 0) & (relations.contrast_high < 0)
            assert without_partners.any() == (seed == 1)  # where those without the closest partner would be flagged


def test_homogeneous_collections_flag_nothing():
    """The level is for all studies of a collection together, so collections are counted."""
    flagged = []
    for seed in range(10):
        rng = np.random.default_rng(100 + seed)
        studies = {name: mixture(rng, SHARED * (0.6 if seed % 2 else 1), 40) for name in "abcd"}
        relations = cr.replicability(KMeans(3, n_init=1), studies, n_resamples=40, rng=seed).relations()
        flagged.append(relations.apart.any())
    assert binomtest(sum(flagged), len(flagged), 0.05, alternative="greater").pvalue > 0.01


# ---------------------------------------------------------------------------------------------------------------------
# missing scores, errors, words, plot


def test_resamples_that_failed_are_left_out(scored):
    distribution = scored.distribution.copy()
    distribution[3] = np.nan
    distribution[5, 0] = distribution[5, :, 0] = np.nan  # a failed
    distribution[7, 2, 2] = np.nan
    relations = replace(scored, distribution=distribution).relations()
    assert_gaps(relations, distribution)
    np.testing.assert_allclose(relations.similarity[0, 1], np.nanmean(distribution[:, [0, 1], [1, 0]], axis=0).mean())
    assert 0 <= relations.heterogeneity <= 1
    whole = [b for b in range(len(distribution)) if b != 3]
    distribution[[5, 7]] = scored.distribution[[5, 7]]
    without = replace(scored, distribution=distribution[whole]).relations()
    assert replace(scored, distribution=distribution).relations().heterogeneity == pytest.approx(without.heterogeneity)


def test_a_pair_without_any_score_is_as_far_apart_as_can_be(scored):
    distribution = scored.distribution.copy()
    distribution[:, 0, 1] = np.nan
    relations = replace(scored, distribution=distribution).relations()
    assert np.isnan(relations.similarity[0, 1])
    assert np.isfinite(relations.tree).all()
    assert_gaps(relations, distribution)


def test_a_run_with_failures_has_relations(overlapping):
    def sometimes(X):
        if X[0, 0] > 3:
            raise ValueError("too large")
        return AgglomerativeClustering(2).fit_predict(X)

    with pytest.warns(ReplicateWarning, match="too large"):
        result = cr.replicability(sometimes, overlapping, n_resamples=15, rng=0)
    assert np.isnan(result.distribution).any()
    assert_gaps(result.relations(), result.distribution)


def test_relations_need_the_diagonal(overlapping):
    result = cr.replicability(AgglomerativeClustering(2), overlapping, n_resamples=2, diagonal=False, rng=0)
    with pytest.raises(ParameterError, match="own diagonals are needed: run replicability with diagonal=True"):
        result.relations()


def test_relations_need_three_studies(overlapping):
    two = {name: overlapping[name] for name in "ab"}
    result = cr.replicability(AgglomerativeClustering(2), two, n_resamples=2, rng=0)
    with pytest.raises(ParameterError, match="At least three studies are needed to tell which one stands apart"):
        result.relations()


def test_a_result_read_from_a_file_has_the_same_relations(scored, tmp_path):
    scored.save(tmp_path / "scores.npz")
    assert repr(cr.load(tmp_path / "scores.npz").relations()) == repr(scored.relations())


def test_relations_in_words(scored):
    few = replace(scored, distribution=np.ones((19, 4, 4))).relations()
    assert str(few).startswith("too few resamples, 19, to tell which study stands apart; ")
    assert not few.says_who_stands_apart
    same = replace(scored, distribution=np.ones((20, 4, 4))).relations()
    assert same.says_who_stands_apart
    explained = "of the variance between pairs is more than resampling explains"
    assert str(same) == f"no study stands apart; 0% {explained}"
    some = replace(same, apart=np.array([True, False, False, True]), heterogeneity=0.524)
    assert str(some) == f"a, d stand apart; 52% {explained}"
    one = replace(same, apart=np.array([False, True, False, False]))
    assert str(one).startswith("b stands apart; ")
    assert repr(one).startswith(str(one))
    assert all(name in repr(one) for name in ("study", "gap_low", "contrast_high", "apart"))


def test_the_frame_has_a_row_for_every_study(scored):
    relations = scored.relations()
    frame = relations.to_frame()
    intervals = [f"{name}{end}" for name in ("gap", "contrast") for end in ("", "_low", "_high")]
    figures = [*intervals, "closest_high", "apart"]
    assert frame.columns.tolist() == ["study", *figures]
    assert frame["study"].tolist() == list("abcd")
    for name in figures:
        np.testing.assert_array_equal(frame[name], getattr(relations, name))


def test_relations_can_not_be_written_to(scored):
    relations = scored.relations()
    for name in ("similarity", "tree", "order", "gap", "contrast_high", "closest_high", "apart"):
        assert not getattr(relations, name).flags.writeable
    assert scored.distribution.shape == (30, 4, 4)


def test_the_tree_is_drawn_with_those_apart_marked(scored):
    relations = replace(scored.relations(), apart=np.array([False, True, False, False]))
    _, ax = plt.subplots()
    assert relations.plot(ax) is ax
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert texts == [("b *" if i == 1 else "abcd"[i]) for i in relations.order]
    assert ax.get_xlabel() == "* stands apart"
    again = scored.relations().plot()
    assert again is not ax
    assert again.get_xlabel() == "study"


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: by hand


def nearest_labels(train, labels, points):
    """The label of the nearest training point, one point after the other."""
    return [labels[min(range(len(train)), key=lambda i: sum((x - train[i]) ** 2))] for x in points]


def matched(u, v):
    """Which label of v each label of u is matched with, one to one, most points in common."""
    rows, columns = sorted(set(u)), sorted(set(v))
    table = [[sum(a == i and b == j for a, b in zip(u, v, strict=True)) for j in columns] for i in rows]
    return {
        rows[i]: columns[j] for i, j in zip(*linear_sum_assignment(table, maximize=True), strict=True) if table[i][j]
    }


def jaccard_of_sets(u, v):
    """None where a set is empty: tests of their own are about that."""
    return len(u & v) / len(u | v) if u and v else None


def found_again(new, old):
    """Which old label each new one is, where the two have more in common than not."""
    places = {
        side: {i: {p for p, own in enumerate(side_labels) if own == i} for i in set(side_labels)}
        for side, side_labels in (("new", new), ("old", old))
    }
    return {i: j for i, j in matched(new, old).items() if jaccard_of_sets(places["new"][i], places["old"][j]) > 0.5}


def counterparts_by_hand(fit, tables, n_resamples, seed, resampling):
    """Partners, overlaps and their resamples, as dicts by (train, test, cluster)."""
    studies = {name: cr.Study(X, name) for name, X in tables.items()}
    own = {name: fit(X) for name, X in tables.items()}
    full = {(s, t): nearest_labels(tables[s], own[s], tables[t]) for s in tables for t in tables}
    partner, overlap, resampled = {}, {}, {}
    for s, t in itertools.permutations(tables, 2):
        pairs = matched(full[s, t], full[t, t])
        for i in set(own[s]):
            partner[s, t, i] = pairs.get(i)
            mine = {p for p, label in enumerate(full[s, t]) if label == i}
            theirs = {p for p, label in enumerate(full[t, t]) if label == pairs.get(i)}
            overlap[s, t, i] = 0.0 if mine and i not in pairs else jaccard_of_sets(mine, theirs)
            resampled[s, t, i] = []
    for b in range(1, n_resamples + 1):
        order = {name: Source(resampling, seed).draw(studies[name], b).order for name in tables}
        label = {name: fit(tables[name][order[name]]) for name in tables}
        at = {(s, t): nearest_labels(tables[s][order[s]], label[s], tables[t]) for s in tables for t in tables}
        renamed = {name: found_again(at[name, name], full[name, name]) for name in tables}
        for (s, t, i), j in partner.items():
            if i not in renamed[s].values() or j not in renamed[t].values():
                resampled[s, t, i].append(np.nan)
                continue
            drawn = list(enumerate(order[t]))
            mine = {place for place, p in drawn if renamed[s].get(at[s, t][p], "new") == i}
            theirs = {place for place, p in drawn if renamed[t].get(at[t, t][p], "new") == j}
            resampled[s, t, i].append(jaccard_of_sets(mine, theirs))
    return partner, overlap, resampled


def assert_counterparts(found, by_hand):
    partner, overlap, resampled = by_hand
    names = found.names
    place = {(s, name): i for s, row in enumerate(found.clusters) for i, name in enumerate(row) if name}
    assert {(s, int(name)) for s, name in place} == {(names.index(s), i) for s, _, i in partner}
    for (train, test, cluster), j in partner.items():
        s, t = names.index(train), names.index(test)
        i = place[s, str(cluster)]
        assert found.partner[s, t, i] == (-1 if j is None else place[t, str(j)])
        if overlap[train, test, cluster] is not None:
            assert found.overlap[s, t, i] == pytest.approx(overlap[train, test, cluster], abs=1e-12)
        for value, expected in zip(found.distribution[:, s, t, i], resampled[train, test, cluster], strict=True):
            if expected is not None:
                assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    values = [value for one in resampled.values() for value in one]
    assert sum(value is None for value in values) < len(values) / 10


def ward(X):
    return AgglomerativeClustering(3).fit_predict(X).tolist()


@pytest.mark.parametrize("resampling", [cr.Bootstrap(), cr.Subsample(0.7)], ids=["bootstrap", "subsample"])
def test_partners_and_overlaps_are_those_of_loops(overlapping, resampling):
    by_hand = counterparts_by_hand(ward, overlapping, 5, 3, resampling)
    found = configured(cr.counterparts, accelerate=False)(
        AgglomerativeClustering(3), overlapping, n_resamples=5, rng=3, resampling=resampling
    )
    assert_counterparts(found, by_hand)
    assert len(set(found.distribution[np.isfinite(found.distribution)].tolist())) > 15


def test_studies_may_have_different_numbers_of_clusters():
    """DBSCAN finds 3, 2 and 4 blocks, noise among them; bootstraps find others again."""
    rng = np.random.default_rng(8)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
    tables = {name: mixture(rng, centres[:k], n) for name, k, n in (("a", 3, 24), ("b", 2, 20), ("c", 4, 30))}

    def density(X):
        return DBSCAN(eps=1.6, min_samples=3).fit_predict(X).tolist()

    by_hand = counterparts_by_hand(density, tables, 6, 0, cr.Bootstrap())
    found = cr.counterparts(DBSCAN(eps=1.6, min_samples=3), tables, n_resamples=6, rng=0)
    own = [density(X) for X in tables.values()]
    numbers = [len(set(labels)) for labels in own]
    assert len(set(numbers)) > 1
    assert found.clusters.shape == found.sizes.shape == (3, max(numbers))
    for s, labels in enumerate(own):
        assert [name for name in found.clusters[s] if name] == [str(label) for label in sorted(set(labels))]
        assert found.sizes[s].tolist() == [labels.count(label) for label in sorted(set(labels))] + [0] * (
            max(numbers) - numbers[s]
        )
    assert any(j is None for j in by_hand[0].values())
    assert_counterparts(found, by_hand)
    for s, t in itertools.product(range(3), repeat=2):
        padding = found.clusters[s] == ""
        assert (found.partner[s, t][padding] == -1).all()
        assert np.isnan(found.overlap[s, t][padding]).all()
        assert np.isnan(found.distribution[:, s, t][:, padding]).all()
    frame = found.to_frame()
    assert len(frame) == 2 * sum(numbers)
    assert frame["found"].max() == 1


def test_nothing_is_said_of_a_study_and_itself(overlapping):
    found = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=2, rng=0)
    for s in range(3):
        assert (found.partner[s, s] == -1).all()
        assert np.isnan(found.overlap[s, s]).all()
        assert np.isnan(found.distribution[:, s, s]).all()


@pytest.mark.parametrize("clusterer", [AgglomerativeClustering(3), KMeans(3, n_init=5, random_state=0)])
def test_a_resample_of_everything_has_the_overlaps_of_the_studies_themselves(clusterer):
    rng = np.random.default_rng(2)
    tables = {name: mixture(rng, SHARED * 1.5, 25) for name in "ab"}
    found = cr.counterparts(clusterer, tables, n_resamples=3, resampling=cr.Subsample(1.0), rng=0)
    for one in found.distribution:
        np.testing.assert_allclose(one, found.overlap)


def thresholds(*cuts):
    """A clustering function of position alone: 0, 1, … from left to right."""

    def cut(X):
        return np.searchsorted(cuts, X[:, 0])

    return cut


def line(*values):
    return np.array(values, dtype=float)[:, None]


def by_study(functions):
    """A clusterer that tells studies by their last column, and gives each its own partition by threshold."""

    def cluster(X):
        return functions[int(X[0, 1])](X)

    return cluster


def test_overlap_by_hand_on_ten_points():
    """a cuts at 4.5 and b at 2.5: on b's points 0 … 9 cluster 0 of a holds five, of b three; and so on."""
    tables = {
        "a": np.column_stack([np.arange(0, 10) + 0.0, np.zeros(10)]),
        "b": np.column_stack([np.arange(0, 10) + 0.0, np.ones(10)]),
    }
    clusterer = by_study([thresholds(4.5), thresholds(2.5)])
    found = cr.counterparts(clusterer, tables, n_resamples=2, rng=0)
    assert found.partner[0, 1].tolist() == found.partner[1, 0].tolist() == [0, 1]
    np.testing.assert_allclose(found.overlap[0, 1], [3 / 5, 5 / 7])
    np.testing.assert_allclose(found.overlap[1, 0], [3 / 5, 5 / 7])
    assert found.sizes.tolist() == [[5, 5], [3, 7]]


def test_overlap_counts_the_samples_of_the_tested_study():
    """b has no samples between the two cuts, so on b both agree; a has two."""
    tables = {
        "a": np.column_stack([np.arange(10) + 0.0, np.zeros(10)]),
        "b": np.column_stack([[0, 1, 2, 5, 6.0, 7, 8], np.ones(7)]),
    }
    clusterer = by_study([thresholds(4.5), thresholds(2.5)])
    found = cr.counterparts(clusterer, tables, n_resamples=1, rng=0)
    np.testing.assert_allclose(found.overlap[0, 1], [1, 1])
    # On a: b's function takes 3 (2 is nearer than 5) to its left cluster; 4 is nearer to 5.
    np.testing.assert_allclose(found.overlap[1, 0], [4 / 5, 5 / 6])


def test_clusters_are_matched_one_to_one():
    """Two clusters of a fall into one of b: the larger one gets it, the other has no counterpart and no overlap."""
    tables = {
        "a": np.column_stack([np.arange(12) + 0.0, np.zeros(12)]),
        "b": np.column_stack([np.arange(12) + 0.0, np.ones(12)]),
    }
    clusterer = by_study([thresholds(2.5, 7.5), thresholds(7.5)])
    found = cr.counterparts(clusterer, tables, n_resamples=3, rng=0)
    assert found.partner[0, 1].tolist() == [-1, 0, 1]
    np.testing.assert_allclose(found.overlap[0, 1], [0, 5 / 8, 1])
    assert found.partner[1, 0].tolist() == [1, 2, -1]
    np.testing.assert_allclose(found.overlap[1, 0, :2], [5 / 8, 1])
    assert found.of("a", "0") == {"b": None}
    assert found.of("a", "1") == {"b": "0"}
    assert found.of("b", "1") == {"a": "2"}
    frame = found.to_frame()
    row = frame[(frame["train"] == "a") & (frame["cluster"] == "0")].iloc[0]
    assert pd.isna(row["counterpart"])
    assert row[["low", "high", "found"]].isna().all()  # nothing to find
    assert frame["found"].isna().tolist() == frame["counterpart"].isna().tolist() == [True, False, False, False, False]


def flipped(X):
    return 2 - AgglomerativeClustering(3).fit_predict(X)


def test_numbers_of_clusters_are_only_names(overlapping):
    one = configured(cr.counterparts, accelerate=False)(AgglomerativeClustering(3), overlapping, n_resamples=3, rng=0)
    other = cr.counterparts(flipped, overlapping, n_resamples=3, rng=0)
    np.testing.assert_allclose(other.overlap, one.overlap[:, :, ::-1])
    np.testing.assert_allclose(other.distribution, one.distribution[..., ::-1])
    off = ~np.eye(3, dtype=bool)
    expected = one.partner[:, :, ::-1][off]
    np.testing.assert_array_equal(other.partner[off], np.where(expected >= 0, 2 - expected, -1))
    np.testing.assert_array_equal(other.sizes, one.sizes[:, ::-1])


def test_a_cluster_that_the_other_study_lacks_has_a_low_overlap():
    """b has no third cluster, k-means divides another one there: what is left of a's in b is no counterpart."""
    rng = np.random.default_rng(4)
    tables = {name: mixture(rng, SHARED[: 2 if name == "b" else 3], 60) for name in "abc"}
    found = cr.counterparts(KMeans(3, n_init=5), tables, n_resamples=20, rng=0)
    run = cr.replicability(KMeans(3, n_init=5), tables, n_resamples=1, rng=0)  # the same fits
    own = {name: run.clustering_function(name)(tables[name]) for name in "ac"}
    centres = [[tables[name][own[name] == i].mean(axis=0) for i in range(3)] for name in "ac"]
    third = [int(np.argmin([np.linalg.norm(centre - SHARED[2]) for centre in three])) for three in centres]
    frame = found.to_frame()
    for name, cluster in zip("ac", third, strict=True):
        one = frame[(frame["train"] == name) & (frame["cluster"] == str(cluster))].set_index("test")
        other = "c" if name == "a" else "a"
        assert one.loc[other, "overlap"] > 0.8
        assert not one.loc["b", "overlap"] > 0.4


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: found again


def once_or_twice(X):
    """Two clusters where the study was drawn with its rightmost sample, otherwise one."""
    return (X[:, 0] > 50).astype(int)


def test_found_is_the_share_of_resamples_in_which_both_clusters_were_found_again():
    """The second cluster of each study is one sample; it is found in the draws that hold it."""
    tables = {name: line(*range(6), 100 + i) for i, name in enumerate("ab")}
    studies = {name: cr.Study(X, name) for name, X in tables.items()}
    found = cr.counterparts(once_or_twice, tables, n_resamples=30, rng=2)
    source = Source(cr.Bootstrap(), 2)
    drawn = {name: [6 in source.draw(study, b).order for b in range(1, 31)] for name, study in studies.items()}
    both = [a and b for a, b in zip(drawn["a"], drawn["b"], strict=True)]
    assert 0 < sum(both) < 30
    frame = found.to_frame().set_index(["train", "cluster"])["found"]
    assert frame["a", "1"] == frame["b", "1"] == pytest.approx(sum(both) / 30)
    assert frame["a", "0"] == frame["b", "0"] == 1
    np.testing.assert_array_equal(np.isfinite(found.distribution[:, 0, 1, 1]), both)
    # Where b's is lost, its sample is drawn by neither; where a's is lost, a's function takes it to cluster 0.
    for b, (of_a, of_b) in enumerate(zip(drawn["a"], drawn["b"], strict=True)):
        weights = source.draw(studies["b"], b + 1).weights
        expected = weights[:6].sum() / weights.sum() if of_b and not of_a else 1.0
        assert found.distribution[b, 0, 1, 0] == pytest.approx(expected)


def left_or_right(X):
    """Study a (last column 0) cuts at 8.5, study b at 4.5."""
    return (X[:, 0] > (8.5 if X[0, 1] == 0 else 4.5)).astype(int)


def test_a_cluster_without_drawn_samples_that_was_found_again_has_overlap_0():
    """Of b's samples one alone lies in a's right cluster; where it is not drawn, that cluster is still there."""
    right = np.repeat([9.0, 9.1, 9.2, 9.3, 9.4], 2)
    tables = {
        "a": np.column_stack([np.r_[np.arange(9.0), right], np.zeros(19)]),
        "b": np.column_stack([np.arange(10.0), np.ones(10)]),
    }
    found = cr.counterparts(left_or_right, tables, n_resamples=12, rng=0)
    assert found.partner[0, 1].tolist() == [0, 1]
    source, b = Source(cr.Bootstrap(), 0), cr.Study(tables["b"], "b")
    without = [9 not in source.draw(b, r).order for r in range(1, 13)]
    assert any(without)
    values = found.distribution[without, 0, 1, 1]
    assert not np.isnan(values).any()
    assert (values == 0).any()
    assert found.to_frame()["found"].min() == 1


def test_a_cluster_without_any_sample_in_the_other_study_has_overlap_0():
    tables = {"a": line(0, 1, 2, 100, 101), "b": line(0, 1, 2, 3)}
    found = cr.counterparts(once_or_twice, tables, n_resamples=2, rng=0)
    assert found.partner[0, 1, 1] == -1
    assert found.overlap[0, 1, 1] == 0


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: names


def test_clusters_are_named_after_the_most_frequent_known_label(overlapping):
    cut = thresholds(2.5)
    studies = [
        cr.Study(line(0, 1, 2, 3, 4, 5), "a", labels=["x", "y", "x", "z", "z", "y"]),
        cr.Study(line(0, 1, 2, 3, 4, 5), "b"),
    ]
    found = cr.counterparts(cut, studies, n_resamples=1, rng=0)
    assert found.clusters.tolist() == [["0 (x)", "1 (z)"], ["0", "1"]]
    assert found.of("a", "1 (z)") == {"b": "1"}
    assert found.of("b", "0") == {"a": "0 (x)"}


def test_known_labels_name_counterparts_of_cohorts(cohorts):
    found = cr.counterparts(KMeans(3, n_init=3), cohorts, n_resamples=3, rng=0)
    for study in cohorts.names:
        for cluster in found.clusters[cohorts.names.index(study)]:
            subtype = cluster[cluster.index("(") :]
            others = found.of(study, cluster)
            assert list(others) == [name for name in cohorts.names if name != study]
            assert all(other.endswith(subtype) for other in others.values())
    assert found.overlap[0, 1].min() > 0.8


def test_text_labels_of_a_clusterer_are_names():
    def words(X):
        return np.where(X[:, 0] > 2.5, "right", "left")

    found = cr.counterparts(words, {"a": line(0, 1, 2, 3, 4), "b": line(1, 2, 3)}, n_resamples=1, rng=0)
    assert found.clusters.tolist() == [["left", "right"]] * 2
    assert found.of("a", "right") == {"b": "right"}


def test_an_unknown_study_or_cluster_is_named(overlapping):
    found = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=1, rng=0)
    with pytest.raises(ParameterError, match="There is no study 'd'; there are a, b, c"):
        found.of("d", "0")
    with pytest.raises(ParameterError, match="There is no cluster of study 'a' '7'; there are 0, 1, 2"):
        found.of("a", "7")
    with pytest.raises(ParameterError, match="There is no study 'd'; there are a, b, c"):
        found.plot(train="d")
    with pytest.raises(ParameterError, match="There is no cluster of study 'a' ''"):
        found.of("a", "")


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: known labels instead of a clusterer


def test_known_labels_stand_in_for_a_clusterer(overlapping):
    labels = {name: [["p", "q", "r"][label] for label in ward(X)] for name, X in overlapping.items()}
    known = cr.counterparts(None, overlapping, labels=labels, n_resamples=4, rng=3)
    clustered = configured(cr.counterparts, accelerate=False)(
        AgglomerativeClustering(3), overlapping, n_resamples=4, rng=3
    )
    assert known.clusterer == "known labels"
    assert known.clusters.tolist() == [["p", "q", "r"]] * 3
    np.testing.assert_array_equal(known.partner, clustered.partner)  # both by the nearest sample
    np.testing.assert_allclose(known.overlap, clustered.overlap)


def test_resampled_known_labels_keep_their_names(overlapping):
    """A draw has the labels of its samples; others have that of the nearest drawn one."""
    labels = {name: ward(X) for name, X in overlapping.items()}
    found = cr.counterparts(None, overlapping, labels=labels, n_resamples=3, rng=3)
    source = Source(cr.Bootstrap(), 3)
    draws = {name: source.draw(cr.Study(X, name), 1) for name, X in overlapping.items()}
    at = {
        s: nearest_labels(overlapping[s][draws[s].order], [labels[s][i] for i in draws[s].order], overlapping["b"])
        for s in "ab"
    }
    for i, j in enumerate(found.partner[0, 1]):
        mine = {place for place, p in enumerate(draws["b"].order) if at["a"][p] == i}
        theirs = {place for place, p in enumerate(draws["b"].order) if at["b"][p] == j}
        assert found.distribution[0, 0, 1, i] == pytest.approx(jaccard_of_sets(mine, theirs))


def test_the_studies_own_labels(cohorts):
    found = cr.counterparts(None, cohorts, labels=True, n_resamples=2, rng=0)
    off = ~np.eye(3, dtype=bool)
    assert found.partner[off].tolist() == [[0, 1, 2]] * 6
    assert [name[0] for name in found.clusters[0]] == ["A", "B", "C"]


def test_known_labels_are_named_once(cohorts):
    found = cr.counterparts(None, cohorts, labels=True, n_resamples=1, rng=0)
    assert found.clusters[0].tolist() == ["A", "B", "C"]


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: laws


def test_more_resamples_continue_fewer(overlapping):
    few, many = (cr.counterparts(KMeans(3, n_init=1), overlapping, n_resamples=n, rng=5) for n in (2, 5))
    np.testing.assert_array_equal(few.distribution, many.distribution[:2])
    np.testing.assert_array_equal(few.overlap, many.overlap)


def test_other_studies_and_their_order_do_not_matter(overlapping):
    three = cr.counterparts(KMeans(3, n_init=1), overlapping, n_resamples=3, rng=5)
    two = cr.counterparts(KMeans(3, n_init=1), {name: overlapping[name] for name in "cb"}, n_resamples=3, rng=5)
    np.testing.assert_array_equal(two.distribution, three.distribution[:, [2, 1]][:, :, [2, 1]])
    np.testing.assert_array_equal(two.partner, three.partner[[2, 1]][:, [2, 1]])
    np.testing.assert_array_equal(two.overlap, three.overlap[[2, 1]][:, [2, 1]])


def whatever_the_numbers(found):
    """All that is said of clusters, without their numbers: sizes, overlaps and resamples of every pair."""
    said = []
    for s, t, i in np.ndindex(found.partner.shape):
        j = found.partner[s, t, i]
        size = int(found.sizes[t, j]) if j >= 0 else None
        values = (found.overlap[s, t, i], *found.distribution[:, s, t, i])
        said.append((s, t, int(found.sizes[s, i]), size, tuple(f"{value:.9f}" for value in values)))
    return sorted(said, key=str)


def test_shortcuts_change_no_counterpart(overlapping):
    fast, plain = (
        configured(cr.counterparts, accelerate=accelerate)(
            AgglomerativeClustering(3), overlapping, n_resamples=4, rng=0
        )
        for accelerate in (True, False)
    )
    assert whatever_the_numbers(fast) == whatever_the_numbers(plain)


def test_every_sample_can_be_looked_up(overlapping):
    """The numbers of a tree's clusters are the shortcut's own."""
    found = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=1, rng=0)
    for s, (name, X) in enumerate(overlapping.items()):
        labels = found.labels(name)
        assert cr.adjusted_rand_index(labels, ward(X)) == 1
        assert [np.count_nonzero(labels == cluster) for cluster in found.clusters[s] if cluster] == [
            size for size in found.sizes[s] if size
        ]


def test_more_features_than_samples(overlapping):
    """Extra features without spread, so many that the run works in coordinates: nothing changes."""
    wide = {name: np.column_stack([X, np.zeros((len(X), 150))]) for name, X in overlapping.items()}
    one = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=3, rng=0)
    other = cr.counterparts(AgglomerativeClustering(3), wide, n_resamples=3, rng=0)
    assert whatever_the_numbers(other) == whatever_the_numbers(one)


def test_workers_change_no_counterpart(overlapping):
    one, two = (
        cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=4, rng=0, **how)
        for how in ({"n_jobs": 1}, {"n_jobs": 2})
    )
    np.testing.assert_array_equal(one.distribution, two.distribution)
    np.testing.assert_array_equal(one.partner, two.partner)


def test_simulated_and_noisy_studies_have_counterparts(overlapping):
    simulate = cr.Simulate(lambda study, rng: study.X + 0.01 * rng.normal(size=study.X.shape))
    for resampling in (simulate, cr.Jitter(0.01), cr.Bootstrap() + cr.Jitter(0.01)):
        found = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=2, resampling=resampling, rng=0)
        assert found.distribution.shape == (2, 3, 3, 3)
        assert np.nanmin(found.distribution) >= 0


def test_simulated_studies_may_have_another_size(overlapping):
    simulate = cr.Simulate(
        lambda study, rng: np.repeat(study.X, 2, axis=0) + 0.01 * rng.normal(size=(2 * len(study), 3))
    )
    found = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=2, resampling=simulate, rng=0)
    assert found.distribution.shape == (2, 3, 3, 3)


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: failures and errors


class Fragile:
    """Fails where a study's draw lacks its first sample, which is at 0."""

    def fit_predict(self, X):
        if not (X[:, 0] == 0).any():
            raise RuntimeError("the first sample is missing")
        return (X[:, 0] > 2.5).astype(int)


def first_drawn(tables, n_resamples, seed):
    source = Source(cr.Bootstrap(), seed)
    return {
        name: [0 in source.draw(cr.Study(X, name), b).order for b in range(1, n_resamples + 1)]
        for name, X in tables.items()
    }


@pytest.mark.parametrize(("seed", "most_fail"), [(1, True), (11, False), (12, False)])
def test_resamples_in_which_any_study_fails_are_left_out(seed, most_fail):
    tables = {"a": line(0, 1, 2, 3, 4, 5), "b": line(0, 1, 2, 3, 4)}
    drawn = first_drawn(tables, 12, seed)
    both = [a and b for a, b in zip(drawn["a"], drawn["b"], strict=True)]
    n_failed = 12 - sum(both)
    assert 1 < n_failed < 12
    assert (n_failed > 6) == most_fail
    with pytest.warns(
        ReplicateWarning,
        match=rf"{n_failed} resamples of 12 failed and are left out: RuntimeError: the first sample is missing",
    ):
        found = cr.counterparts(Fragile(), tables, n_resamples=12, rng=seed)
    assert np.isnan(found.distribution[~np.array(both)]).all()
    np.testing.assert_array_equal(np.isfinite(found.distribution[:, 0, 1, 0]), both)
    row = found.to_frame().iloc[0]
    values = found.distribution[both, 0, 1, 0]
    expected = [quantile_by_hand(values, q) for q in (0.025, 0.975)]
    assert [row["low"], row["high"]] == pytest.approx(expected)
    assert row["found"] == 1  # in every resample that ran


def test_a_clusterer_that_always_fails_says_why(overlapping):
    with pytest.raises(AllReplicatesFailed, match=r"failed on a study as it is: RuntimeError: the first sample"):
        cr.counterparts(Fragile(), overlapping, n_resamples=2, rng=0)

    def no_duplicates(X):
        if len(np.unique(X, axis=0)) < len(X):
            raise ValueError("duplicates")
        return AgglomerativeClustering(2).fit_predict(X)

    with pytest.raises(
        AllReplicatesFailed, match=r"Not one resample could be scored; 2 resamples failed: .*duplicates"
    ):
        cr.counterparts(no_duplicates, overlapping, n_resamples=2, rng=0)


@pytest.mark.parametrize("function", [cr.counterparts, cr.leave_one_study_out])
def test_what_both_functions_refuse(function, overlapping):
    ward = AgglomerativeClustering(2)
    with pytest.raises(ParameterError, match="studies must hold at least two studies, got 1"):
        function(ward, {"a": overlapping["a"]}, rng=0)
    with pytest.raises(ParameterError, match="n_resamples must be a positive integer, got 0"):
        function(ward, overlapping, n_resamples=0)
    with pytest.raises(ParameterError, match="clusterer is None: pass a clusterer"):
        function(None, overlapping)
    with pytest.raises(ParameterError, match="accelerate"):
        configured(function, accelerate="yes")(ward, overlapping)
    with pytest.raises(ParameterError, match="rng must be a non-negative integer"):
        function(ward, overlapping, rng=-1)
    with pytest.raises(ParameterError, match="resampling must keep the features"):
        function(ward, overlapping, resampling=cr.FeatureSubset(0.5))


def test_labels_of_counterparts_are_checked(overlapping):
    with pytest.raises(ParameterError, match="Pass either a clusterer or labels, not both"):
        cr.counterparts(KMeans(2), overlapping, labels={"a": [0] * 17})
    with pytest.raises(DataError, match="labels are missing for 'b', 'c'"):
        cr.counterparts(None, overlapping, labels={"a": [0, 1] * 8 + [0]})


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: the result


@pytest.fixture(scope="module")
def matched_studies(overlapping):
    return cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=6, rng=4)


def test_counterparts_are_saved_and_read(matched_studies, tmp_path):
    matched_studies.save(tmp_path / "counterparts.npz")
    again = cr.load(tmp_path / "counterparts.npz")
    assert type(again) is type(matched_studies)
    for name in ("clusters", "sizes", "partner", "overlap", "distribution"):
        np.testing.assert_array_equal(getattr(again, name), getattr(matched_studies, name))
        assert not getattr(again, name).flags.writeable
    assert again.names == matched_studies.names
    assert again.of("a", "1") == matched_studies.of("a", "1")
    assert repr(again) == repr(matched_studies)


def test_counterparts_can_not_be_written_to(matched_studies):
    for name in ("clusters", "sizes", "partner", "overlap", "distribution"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(matched_studies, name)[0] = 0


def test_a_cluster_that_falls_apart_is_not_found_again():
    """One clusterer that splits the data as they are in two, and resamples at random into four."""

    class Unsteady:
        def fit_predict(self, X):
            if len(np.unique(X, axis=0)) == len(X):
                return (X[:, 0] > 0).astype(int)
            return np.arange(len(X)) % 4

    tables = {name: np.random.default_rng(i).normal(size=(40, 2)) for i, name in enumerate("ab")}
    found = cr.counterparts(Unsteady(), tables, n_resamples=8, rng=0)
    assert (found.to_frame()["found"] == 0).all()
    assert np.isnan(found.distribution).all()


def test_the_frame_of_counterparts(matched_studies):
    frame = matched_studies.to_frame()
    assert frame.columns.tolist() == [
        "train", "cluster", "size", "test", "counterpart", "overlap", "low", "high", "found",
    ]  # fmt: skip
    assert len(frame) == 3 * 2 * 3
    wide, narrow = matched_studies.to_frame(0.9), matched_studies.to_frame(0.5)
    assert not (wide["low"] > narrow["low"]).any()
    assert (wide["low"] < narrow["low"]).any()
    assert not (wide["high"] < narrow["high"]).any()
    n_without_interval = 0
    for row in narrow.itertuples():
        s, t = matched_studies.names.index(row.train), matched_studies.names.index(row.test)
        i = matched_studies.clusters[s].tolist().index(row.cluster)
        assert row.size == matched_studies.sizes[s, i]
        np.testing.assert_equal(row.overlap, matched_studies.overlap[s, t, i])
        partner = matched_studies.of(row.train, row.cluster)[row.test]
        if partner is None:
            assert pd.isna(row.counterpart)
            assert np.isnan([row.low, row.high, row.found]).all()
            continue
        assert partner == row.counterpart
        values = matched_studies.distribution[:, s, t, i].tolist()
        n_found = sum(value == value for value in values)
        assert row.found == pytest.approx(n_found / 6)
        ends = [quantile_by_hand(values, q) if n_found >= 3 else np.nan for q in (0.25, 0.75)]
        assert [row.low, row.high] == pytest.approx(ends, nan_ok=True)
        n_without_interval += 0 < n_found < 3
    assert 0 < n_without_interval < len(frame)


@pytest.mark.parametrize("n_found", [0, 1, 2, 3, 4, 5, 6])
def test_an_interval_needs_both_clusters_in_half_of_the_resamples(matched_studies, n_found):
    s, t, i = next(
        place for place in np.ndindex(3, 3, 3) if place[0] != place[1] and matched_studies.partner[place] >= 0
    )
    distribution = np.array(matched_studies.distribution)
    values = np.linspace(0.3, 0.8, 6)
    distribution[:, s, t, i] = np.where(np.arange(6) < n_found, values, np.nan)
    frame = replace(matched_studies, distribution=distribution).to_frame(0.5)
    names, cluster = matched_studies.names, matched_studies.clusters[s, i]
    (row,) = frame[
        (frame["train"] == names[s]) & (frame["test"] == names[t]) & (frame["cluster"] == cluster)
    ].itertuples()
    assert row.found == pytest.approx(n_found / 6)
    ends = [quantile_by_hand(values[:n_found], q) if n_found >= 3 else np.nan for q in (0.25, 0.75)]
    assert [row.low, row.high] == pytest.approx(ends, nan_ok=True)


def test_counterparts_in_words(matched_studies):
    first, header, *rows = repr(matched_studies).splitlines()
    assert first == (
        "Counterparts of the clusters of AgglomerativeClustering in 3 studies: Jaccard overlap, 6 resamples, seed 4"
    )
    assert header.split()[:3] == ["train", "cluster", "size"]
    assert len(rows) == 18


def test_counterparts_are_drawn(matched_studies):
    _, ax = plt.subplots()
    assert matched_studies.plot(ax, train="b") is ax
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "c"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1", "2"]
    expected = [[matched_studies.overlap[1, t, i] for t in (0, 2)] for i in range(3)]
    np.testing.assert_array_equal(ax.images[0].get_array(), expected)
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    for x, t in enumerate((0, 2)):
        for i in range(3):
            j = matched_studies.partner[1, t, i]
            assert texts[x, i] == (f"{j}\n{matched_studies.overlap[1, t, i]:.2f}" if j >= 0 else "none")
    assert matched_studies.plot().get_ylabel() == "cluster of a"


def test_a_cluster_without_counterpart_is_drawn():
    tables = {"a": line(0, 1, 2, 100, 101), "b": line(0, 1, 2, 3)}
    ax = cr.counterparts(once_or_twice, tables, n_resamples=2, rng=0).plot()
    assert [text.get_text() for text in ax.texts] == ["0\n1.00", "none"]


# ---------------------------------------------------------------------------------------------------------------------
# all but one


def pooled_with(tables, tested):
    return {
        f"all but {tested}": np.concatenate([X for name, X in tables.items() if name != tested]),
        tested: tables[tested],
    }


@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(3),
        KMeans(3, n_init=2, random_state=0),
        KMeans(3, n_init=1),
        DBSCAN(eps=1.0, min_samples=3),
    ],
    ids=["ward", "kmeans", "unseeded kmeans", "dbscan"],
)
def test_all_but_one_is_replicability_of_the_pooled_others_and_that_one(overlapping, clusterer):
    found = cr.leave_one_study_out(clusterer, overlapping, n_resamples=4, rng=6)
    for s, name in enumerate("abc"):
        by_hand = cr.replicability(clusterer, pooled_with(overlapping, name), n_resamples=4, rng=6, diagonal=False)
        assert found.estimate[s] == by_hand.estimate[0, 1]
        np.testing.assert_array_equal(found.distribution[:, s], by_hand.distribution[:, 0, 1])
    assert found.names == ("a", "b", "c")
    assert len(set(found.distribution.ravel().tolist())) > 6


def test_the_estimate_is_the_agreement_of_two_labelings_of_the_tested_study(overlapping):
    found = cr.leave_one_study_out(AgglomerativeClustering(3), overlapping, n_resamples=3, rng=1)
    ami = cr.leave_one_study_out(AgglomerativeClustering(3), overlapping, n_resamples=3, rng=1, agreement="ami")
    assert (found.agreement, ami.agreement) == ("ari", "ami")
    source = Source(cr.Bootstrap(), 1)
    for s, name in enumerate("abc"):
        (others_name, others), (_, tested) = pooled_with(overlapping, name).items()
        trained = nearest_labels(others, ward(others), tested)
        assert found.estimate[s] == pytest.approx(adjusted_rand_score(trained, ward(tested)))
        assert ami.estimate[s] == pytest.approx(adjusted_mutual_info_score(trained, ward(tested)))
        train, test = (source.draw(cr.Study(X, n), 2).sample for X, n in ((others, others_name), (tested, name)))
        trained = nearest_labels(train, ward(train), test)
        assert found.distribution[1, s] == pytest.approx(adjusted_rand_score(trained, ward(test)))


def test_the_tested_study_is_drawn_as_in_replicability(overlapping):
    seen = []

    def watch(X):
        seen.append(X.tobytes())
        return AgglomerativeClustering(2).fit_predict(X)

    cr.replicability(watch, overlapping, n_resamples=4, rng=9, diagonal=False)
    whole_run = set(seen)
    seen.clear()
    cr.leave_one_study_out(watch, overlapping, n_resamples=4, rng=9)
    assert len(whole_run) == 3 * 5
    assert whole_run <= set(seen)
    assert len(set(seen)) == 2 * 3 * 5
    assert len(seen) == 2 * 3 * 5  # each is fitted once


def test_an_agreement_may_be_a_function_and_noise_be_dropped(overlapping):
    def same(u, v):
        return float(len(u))

    dbscan = DBSCAN(eps=1.9, min_samples=3)
    found = cr.leave_one_study_out(dbscan, overlapping, n_resamples=2, rng=0, agreement=same, noise="drop")
    assert found.agreement == "same"
    for s, name in enumerate("abc"):
        others, tested = pooled_with(overlapping, name).values()
        trained = nearest_labels(others, dbscan.fit_predict(others), tested)
        kept = [u != -1 and v != -1 for u, v in zip(trained, dbscan.fit_predict(tested), strict=True)]
        assert found.estimate[s] == sum(kept) < len(tested)


def test_with_two_studies_each_is_trained_on_the_other(overlapping):
    two = {name: overlapping[name] for name in "ab"}
    found = cr.leave_one_study_out(AgglomerativeClustering(3), two, n_resamples=1, rng=0)
    pairs = cr.replicability(AgglomerativeClustering(3), two, n_resamples=1, rng=0)
    np.testing.assert_allclose(found.estimate, [pairs.estimate[1, 0], pairs.estimate[0, 1]])


def test_a_study_with_other_clusters_is_not_predicted():
    rng = np.random.default_rng(1)
    tables = {name: mixture(rng, OTHER * 2 if name == "c" else SHARED * 2, 40) for name in "abcd"}
    found = cr.leave_one_study_out(KMeans(3, n_init=3), tables, n_resamples=10, rng=0)
    assert found.mean.argmin() == 2
    assert found.estimate[2] < 0.5


def test_all_but_one_laws(overlapping):
    ward3 = AgglomerativeClustering(3)
    found = cr.leave_one_study_out(ward3, overlapping, n_resamples=4, rng=6)
    longer = cr.leave_one_study_out(ward3, overlapping, n_resamples=6, rng=6)
    np.testing.assert_array_equal(longer.distribution[:4], found.distribution)
    plain = configured(cr.leave_one_study_out, accelerate=False)(ward3, overlapping, n_resamples=4, rng=6)
    np.testing.assert_allclose(plain.distribution, found.distribution)
    np.testing.assert_allclose(plain.estimate, found.estimate)
    turned = cr.leave_one_study_out(ward3, {name: overlapping[name] for name in "cab"}, n_resamples=1, rng=6)
    np.testing.assert_allclose(turned.estimate, found.estimate[[2, 0, 1]])


def test_workers_change_nothing_of_all_but_one(overlapping):
    one, two = (
        cr.leave_one_study_out(AgglomerativeClustering(3), overlapping, n_resamples=4, rng=6, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.distribution, two.distribution)
    np.testing.assert_array_equal(one.estimate, two.estimate)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": "keep"}, "noise must be one of 'label', 'drop', 'singletons'; got 'keep'"),
        ({"agreement": "arri"}, "agreement must be one of 'ari', .* Did you mean 'ari'"),
        ({"agreement": ("ari", "ami")}, "agreement must be one of 'ari'"),
    ],
)
def test_what_all_but_one_refuses(overlapping, options, message):
    with pytest.raises(ParameterError, match=message):
        cr.leave_one_study_out(AgglomerativeClustering(2), overlapping, **options)


# ---------------------------------------------------------------------------------------------------------------------
# all but one: failures


def test_scores_of_failed_draws_are_left_out():
    tables = {name: line(*range(n)) for name, n in (("a", 6), ("b", 5), ("c", 4))}
    drawn = first_drawn(tables, 10, 3)
    expected = np.zeros((11, 3), dtype=bool)
    for s, name in enumerate("abc"):
        source, ((pool, X), _) = Source(cr.Bootstrap(), 3), pooled_with(tables, name).items()
        for b in range(1, 11):
            trains = 0 in X[source.draw(cr.Study(X, pool), b).order]
            expected[b, s] = not (trains and drawn[name][b - 1])
    assert 0 < expected.sum() < 30
    with pytest.warns(ReplicateWarning, match=f"{expected.sum()} scores of 33 failed and are left out: RuntimeError"):
        found = cr.leave_one_study_out(Fragile(), tables, n_resamples=10, rng=3)
    np.testing.assert_array_equal(found.failed > 0, expected)
    np.testing.assert_array_equal(np.isnan(found.distribution), expected[1:])
    assert found.failures == {"RuntimeError: the first sample is missing": expected.sum()}
    assert f"Failed: {expected.sum()} scores: RuntimeError: the first sample is missing" in repr(found)
    for s in range(3):
        values = [value for value in found.distribution[:, s] if value == value]
        assert found.mean[s] == pytest.approx(sum(values) / len(values))


def test_scores_on_the_pooled_studies_are_not_asked_for(overlapping):
    """An agreement that fails on more samples than any study has: none is missing."""

    def of_few(u, v):
        return 0.5 if len(u) <= 22 else np.nan

    found = cr.leave_one_study_out(AgglomerativeClustering(2), overlapping, n_resamples=2, rng=0, agreement=of_few)
    assert (found.distribution == 0.5).all()
    assert found.failures == {}


def test_a_study_that_fails_as_it_is_has_no_estimate():
    tables = {"a": line(0, 1, 2, 3, 4, 5), "b": line(0, 1, 2, 3, 4, 6), "c": line(1, 2, 3, 4, 5)}
    with pytest.warns(ReplicateWarning, match="first sample is missing"):
        found = cr.leave_one_study_out(Fragile(), tables, n_resamples=8, rng=3)
    assert np.isnan(found.estimate).tolist() == [False, False, True]
    assert np.isnan(found.distribution[:, 2]).all()
    assert found.plot() is not None
    assert "NaN" in repr(found)


def test_all_but_one_that_always_fails_says_why(overlapping):
    with pytest.raises(AllReplicatesFailed, match="Not one resample could be scored; 9 scores failed: RuntimeError"):
        cr.leave_one_study_out(Fragile(), overlapping, n_resamples=2, rng=0)
    with pytest.raises(AllReplicatesFailed, match="more clusters asked for than there are distinct points"):
        cr.leave_one_study_out(KMeans(40, n_init=1), overlapping, n_resamples=2, rng=0)


def test_all_resamples_failing_raises_as_in_replicability(overlapping):
    def no_duplicates(X):
        if len(np.unique(X, axis=0)) < len(X):
            raise ValueError("duplicates")
        return AgglomerativeClustering(2).fit_predict(X)

    with pytest.raises(AllReplicatesFailed, match="Not one resample could be scored"):
        cr.replicability(no_duplicates, overlapping, n_resamples=2, rng=0)
    with pytest.raises(AllReplicatesFailed, match="Not one resample could be scored"):
        cr.leave_one_study_out(no_duplicates, overlapping, n_resamples=2, rng=0)


# ---------------------------------------------------------------------------------------------------------------------
# all but one: the result


@pytest.fixture(scope="module")
def left_out(overlapping):
    return cr.leave_one_study_out(AgglomerativeClustering(3), overlapping, n_resamples=8, rng=4)


def test_all_but_one_is_saved_and_read(left_out, tmp_path):
    left_out.save(tmp_path / "left_out.npz")
    again = cr.load(tmp_path / "left_out.npz")
    assert type(again) is type(left_out)
    for name in ("estimate", "distribution", "failed"):
        np.testing.assert_array_equal(getattr(again, name), getattr(left_out, name))
        assert not getattr(again, name).flags.writeable
    assert (again.names, again.agreement, again.n_clusters, again.causes) == (("a", "b", "c"), "ari", 3, ())
    assert again.provenance == left_out.provenance
    assert repr(again) == repr(left_out)


def test_all_but_one_can_not_be_written_to(left_out):
    for name in ("estimate", "distribution", "failed"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(left_out, name)[0] = 0


def test_the_frame_of_all_but_one(left_out):
    frame = left_out.to_frame(0.5)
    assert frame.columns.tolist() == ["test", "agreement", "score", "mean", "sd", "low", "high"]
    assert frame["test"].tolist() == ["a", "b", "c"]
    assert (frame["agreement"] == "ari").all()
    for s, row in enumerate(frame.itertuples()):
        values = left_out.distribution[:, s].tolist()
        mean = sum(values) / 8
        assert row.score == left_out.estimate[s]
        assert row.mean == pytest.approx(mean)
        assert row.sd == pytest.approx((sum((value - mean) ** 2 for value in values) / 7) ** 0.5)
        assert row.low == pytest.approx(quantile_by_hand(values, 0.25), nan_ok=True)
        assert row.high == pytest.approx(quantile_by_hand(values, 0.75), nan_ok=True)


def test_all_but_one_in_words(left_out):
    first, header, *rows = repr(left_out).splitlines()
    assert first == "Trained on all other studies: AgglomerativeClustering, k = 3, ARI, 8 resamples, seed 4"
    assert header.split() == ["test", "score", "mean", "sd", "low", "high"]
    assert [row.split()[0] for row in rows] == ["a", "b", "c"]


def test_all_but_one_is_drawn(left_out):
    _, ax = plt.subplots()
    assert left_out.plot(ax) is ax
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "c"]
    means, estimates = (drawn.get_ydata() for drawn in ax.lines[:2])
    np.testing.assert_array_equal(means, left_out.mean)
    np.testing.assert_array_equal(estimates, left_out.estimate)
    low, high = left_out.confidence_interval()
    drawn = [[segment[0, 1], segment[1, 1]] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(drawn, np.column_stack([low, high]))
    assert left_out.plot() is not ax


# ---------------------------------------------------------------------------------------------------------------------
# studies made from studies


def test_a_study_with_the_samples_of_others(rng):
    first = cr.Study(rng.normal(size=(3, 2)), "a", features=["f", "g"], samples=["p", "q", "r"], labels=[0, 1, 1])
    others = [cr.Study(rng.normal(size=(n, 2)), name, features=["f", "g"]) for n, name in ((2, "b"), (4, "c"))]
    pooled = first.with_samples_of(others, "all")
    np.testing.assert_array_equal(pooled.X, np.concatenate([first.X, others[0].X, others[1].X]))
    assert pooled.name == "all"
    assert pooled.features == ("f", "g")
    assert pooled.samples[:3] == ("a/p", "a/q", "a/r")
    assert [sample.split("/")[0] for sample in pooled.samples] == list("aaabbcccc")
    assert len(set(pooled.samples)) == 9
    assert pooled.labels is None
    assert not pooled.X.flags.writeable
    assert (first.name, len(first), first.samples) == ("a", 3, ("p", "q", "r"))
    assert first.labels.tolist() == [0, 1, 1]


def test_a_study_with_the_samples_of_no_other_is_itself_under_another_name(rng):
    study = cr.Study(rng.normal(size=(3, 2)), "a")
    alone = study.with_samples_of([], "b")
    np.testing.assert_array_equal(alone.X, study.X)
    assert alone.name == "b"


def test_a_study_with_another_table(rng):
    study = cr.Study(rng.normal(size=(3, 2)), "a", features=["f", "g"], samples=["p", "q", "r"], labels=["x", "y", "x"])
    X = rng.normal(size=(3, 4))
    other = study.with_table(X)
    np.testing.assert_array_equal(other.X, X)
    assert (other.name, other.samples) == ("a", ("p", "q", "r"))
    assert other.labels.tolist() == ["x", "y", "x"]
    assert other.features == ("1", "2", "3", "4")
    assert study.with_table(X[:, :2]).features == ("f", "g")
    assert study.features == ("f", "g")
    assert study.X.shape == (3, 2)


def test_the_features_of_another_table_have_no_names(rng):
    study = cr.Study(rng.normal(size=(3, 2)), "a", features=["f", "g"])
    assert not study.with_table(rng.normal(size=(3, 4))).features_are_named


def test_single_precision_is_kept_when_studies_are_pooled(rng):
    tables = {name: rng.normal(size=(12, 2)).astype(np.float32) for name in "abc"}
    studies = [cr.Study(X, name) for name, X in tables.items()]
    assert studies[0].with_samples_of(studies[1:], "all").X.dtype == studies[0].X.dtype
    found = cr.leave_one_study_out(AgglomerativeClustering(2), tables, n_resamples=1, rng=0)
    double = {name: X.astype(float) for name, X in tables.items()}
    np.testing.assert_allclose(
        found.estimate, cr.leave_one_study_out(AgglomerativeClustering(2), double, n_resamples=1, rng=0).estimate
    )


def test_the_order_of_studies_does_not_matter_to_those_left_out(overlapping):
    clusterer = KMeans(3, n_init=1)
    one = cr.leave_one_study_out(clusterer, overlapping, n_resamples=3, rng=0)
    other = cr.leave_one_study_out(clusterer, dict(reversed(overlapping.items())), n_resamples=3, rng=0)
    np.testing.assert_array_equal(one.estimate, other.estimate[::-1])
    np.testing.assert_array_equal(one.distribution, other.distribution[:, ::-1])
