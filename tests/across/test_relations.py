"""Which studies agree, and which one stands apart."""

from __future__ import annotations

import itertools
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.stats import binomtest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.across.by_hand import (
    OTHER,
    SHARED,
    mixture,
    quantile_by_hand,
)

import clustrep as cr
from clustrep.errors import ParameterError, ReplicateWarning
from clustrep.results.relations import relations_if_any
from clustrep.tables.agreement import AGREEMENTS


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


@pytest.mark.parametrize("agreement", AGREEMENTS)
def test_relations_need_an_agreement_with_a_largest_value(scored, agreement):
    result = replace(scored, agreement=agreement)
    if np.isfinite(AGREEMENTS[agreement].bounds[1]):
        assert relations_if_any(result) is not None
    else:
        assert relations_if_any(result) is None
        with pytest.raises(ParameterError, match=r"must have a largest value.* got mutual information.*: use 'ami'"):
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
