"""Choices that know of data without clusters."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.null import null_cases
from tests.null.null_cases import WARD, comparison_by_hand, gaussians, mixtures, off_diagonal, reference_by_hand

import clustrep as cr
from clustrep.errors import ParameterError

# Fixtures under the names by which the tests ask for them.
three = null_cases.three
result = null_cases.result
reference = null_cases.reference
comparison = null_cases.comparison
comparison_reference = null_cases.comparison_reference


# ---------------------------------------------------------------------------------------------------------------------
# the choice, by hand


def test_the_probability_of_being_best_is_the_share_of_resamples_won():
    scores = [[0.5, 0.9, 0.5, 0.1, np.nan], [0.6, 0.9, 0.4, 0.7, 0.2], [0.2, 0.1, 0.8, 0.6, 0.9]]
    choice = comparison_by_hand(scores, [3, 2, 4]).choice()
    assert [one.n_clusters for one in choice.candidates] == [2, 3, 4]
    assert choice.probability_best.tolist() == [0.6, 0.2, 0.4]  # the tie counts for both
    assert choice.against is None
    assert choice.eligible.tolist() == [True] * 3
    assert choice.to_frame()["probability_best"].tolist() == [0.6, 0.2, 0.4]


def test_single_blocks_in_one_resample_of_twenty_are_borne_and_in_two_they_win_nothing():
    rng = np.random.default_rng(0)
    scores = rng.uniform(size=(4, 20)) + np.array([[0.4], [0.1], [0], [0]])
    choice = comparison_by_hand(scores, [2, 3, 4, 5], trivial=[2, 1, 0, 0]).choice()
    assert [one.n_clusters for one in choice.candidates] == [2, 3, 4, 5]
    assert choice.eligible.tolist() == choice.to_frame()["eligible"].tolist() == [False, True, True, True]
    wins = [sum(max((1, 2, 3), key=lambda c: scores[c, b]) == c for b in range(20)) for c in (0, 1, 2, 3)]
    assert choice.probability_best.tolist() == [0.0, *(won / 20 for won in wins[1:])]
    assert choice.candidates[0].score == max(one.score for one in choice.candidates)
    assert choice.best.n_clusters == choice.chosen.n_clusters == 3
    assert choice.simplest.n_clusters >= 3
    assert 2 not in [rival.n_clusters for rival in choice.best.rivals]
    assert not choice.to_frame()["rival"][0]
    assert str(choice).endswith("\nToo many single blocks or failures to be called the best: ward, k = 2")
    whole = comparison_by_hand(scores, [2, 3, 4, 5]).choice()
    assert whole.best.n_clusters == 2
    assert "Too many single blocks" not in str(whole)


def test_failures_in_most_resamples_leave_a_candidate_that_cannot_be_best_and_in_all_none():
    known = np.arange(20) % 2 == 0
    scores = np.stack([np.full(20, 0.9), np.where(known, 0.9, np.nan), np.full(20, 0.5), np.full(20, np.nan)])
    scores[0, :11] = np.nan
    choice = comparison_by_hand(scores, [2, 3, 4, 5]).choice()
    assert [one.n_clusters for one in choice.candidates] == [2, 3, 4]
    assert choice.eligible.tolist() == [False, True, True]
    assert choice.probability_best.tolist() == [0.0, 0.5, 0.5]
    assert choice.best.n_clusters == 3
    assert "failures to be called the best: ward, k = 2" in str(choice)


def test_a_resample_that_failed_for_all_is_won_by_none():
    scores = [[0.5, 0.5, 0.5, np.nan], [0.6, 0.6, 0.6, np.nan]]
    assert comparison_by_hand(scores, [2, 3]).choice().probability_best.tolist() == [0.0, 1.0]


def test_the_simplest_is_the_smallest_k_within_one_standard_error_of_the_best():
    best = np.array([0.7, 0.8, 0.9])  # a standard error of 0.1
    for below, expected in [(0.09, 2), (0.11, 3)]:
        scores = [np.full(3, 0.8 - below), np.full(3, 0.75), best, np.full(3, 0.4)]
        choice = comparison_by_hand(scores, [2, 3, 4, 5]).choice()
        assert choice.best.n_clusters == choice.chosen.n_clusters == 4
        assert choice.simplest.n_clusters == expected
        assert f"Smallest k within one standard error of the best: ward, k = {expected} " in str(choice)
    alone = comparison_by_hand([best, np.full(3, 0.4)], [2, 3]).choice()
    assert alone.simplest.n_clusters == 2
    assert str(alone) == str(alone.best)


def test_without_a_standard_error_the_best_is_the_simplest():
    assert comparison_by_hand([[0.5], [0.9]], [2, 3]).choice().simplest.n_clusters == 3


def test_beside_data_without_clusters_the_simplest_is_above_them():
    scores = [np.full(3, 0.75), np.full(3, 0.74), [0.7, 0.8, 0.9], np.full(3, 0.4)]  # a standard error of 0.1
    comparison = comparison_by_hand(scores, [2, 3, 4, 5])
    observed = [[0.75], [0.74], [0.8], [0.4]]
    for high_in_null, expected in [((), 2), ((0,), 3), ((0, 1), 4), ((2,), 2), ((0, 1, 2), None), ((0, 1, 2, 3), None)]:
        null = np.tile(np.linspace(0.1, 0.2, 99)[:, None, None], (1, 4, 1))
        null[:, high_in_null] += 0.7
        choice = comparison.choice(reference_by_hand(comparison, observed, null))
        assert choice.best.n_clusters == 4  # whatever data without clusters score
        assert (choice.simplest and choice.simplest.n_clusters) == expected
        said = "Smallest k within one standard error of the best: " in str(choice)
        assert said == (expected not in (None, 4))
    few_blocks = comparison_by_hand(scores, [2, 3, 4, 5], trivial=[2, 0, 0, 0])
    null = np.tile(np.linspace(0.1, 0.2, 99)[:, None, None], (1, 4, 1))
    assert few_blocks.choice(reference_by_hand(few_blocks, observed, null)).simplest.n_clusters == 3


def test_the_choice_is_the_largest_excess_among_those_above_data_without_clusters():
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4, [0.6] * 4], [2, 3, 4])
    null = np.tile([[0.85], [0.2], [0.3]], (99, 1, 1))  # the highest score is high without clusters, too
    null[:50, 0] = 0.95
    reference = reference_by_hand(comparison, [[0.9], [0.7], [0.6]], null)
    choice = comparison.choice(reference)
    assert (choice.best.n_clusters, choice.chosen.n_clusters) == (2, 3)
    against = choice.against
    np.testing.assert_allclose(against.pvalue, [0.51, 0.01, 0.01])
    np.testing.assert_allclose(against.adjusted[1:], 0.01)  # no collection has any k so far above its mean
    assert against.adjusted[0] > 0.5
    null_mean = [(50 * 0.95 + 49 * 0.85) / 99, 0.2, 0.3]
    np.testing.assert_allclose(against.observed, [0.9, 0.7, 0.6])
    np.testing.assert_allclose(against.null_mean, null_mean)
    np.testing.assert_allclose(against.excess, [0.9 - null_mean[0], 0.5, 0.3])
    assert str(choice).splitlines() == [
        "ward, k = 2 (0.90 [0.90, 0.90]) replicates best by ARI",
        "Farthest above data without clusters: ward, k = 3, 0.70 against 0.20, adjusted p = 0.01",
        f"The highest score, of ward, k = 2, is not above them (adjusted p = {against.adjusted[0]:.2g})",
    ]
    # Far above on average, but too often below.
    null[:10, 1] = 0.8
    choice = comparison.choice(reference_by_hand(comparison, [[0.9], [0.7], [0.6]], null))
    assert choice.against.excess[1] > choice.against.excess[2]
    assert choice.chosen.n_clusters == 4


def test_where_the_best_is_above_data_without_clusters_no_but_is_said():
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4], [2, 3])
    null = np.tile(np.linspace(0.1, 0.2, 99)[:, None, None], (1, 2, 1))
    null[:, 0] += 0.4
    choice = comparison.choice(reference_by_hand(comparison, [[0.9], [0.7]], null))
    assert (choice.best.n_clusters, choice.chosen.n_clusters) == (2, 3)  # the highest, and the farthest above
    assert str(choice).splitlines() == [
        "ward, k = 2 (0.90 [0.90, 0.90]) replicates best by ARI",
        "Farthest above data without clusters: ward, k = 3, 0.70 against 0.15, adjusted p = 0.01",
    ]


def test_one_with_too_many_single_blocks_can_be_chosen_beside_data_without_clusters():
    """Where single blocks count 0 on both sides, they do not help."""
    comparison = comparison_by_hand([[0.8] * 20, [0.5] * 20, [0.45] * 20], [2, 3, 4], trivial=[3, 0, 0])
    null = np.tile(np.linspace(0.2, 0.3, 99)[:, None, None], (1, 3, 1))
    choice = comparison.choice(reference_by_hand(comparison, [[0.8], [0.5], [0.45]], null))
    assert choice.eligible.tolist() == [False, True, True]
    assert choice.chosen is choice.candidates[0]
    assert (choice.best.n_clusters, choice.simplest.n_clusters) == (3, 3)
    assert choice.probability_best.tolist() == [0, 1, 0]
    assert str(choice).splitlines() == [
        "ward, k = 3 (0.50 [0.50, 0.50]) replicates best by ARI",
        "Farthest above data without clusters: ward, k = 2, 0.80 against 0.25, adjusted p = 0.01",
        "Too many single blocks or failures to be called the best: ward, k = 2",
    ]
    null[:, 0] += 0.7  # not because of its score alone
    assert comparison.choice(reference_by_hand(comparison, [[0.8], [0.5], [0.45]], null)).chosen.n_clusters == 3


def test_all_with_too_many_single_blocks_one_can_be_chosen_though_none_is_best():
    comparison = comparison_by_hand([[0.8] * 20, [0.5] * 20], [2, 3], trivial=[3, 2])
    null = np.tile(np.linspace(0.2, 0.3, 99)[:, None, None], (1, 2, 1))
    choice = comparison.choice(reference_by_hand(comparison, [[0.8], [0.5]], null))
    assert choice.best is choice.simplest is None
    assert choice.chosen is choice.focus is choice.candidates[0]
    first, second = str(choice).splitlines()
    assert first.startswith("No configuration can be best: in each, more than 5 % of the scores are trivial")
    assert second == "Farthest above data without clusters: ward, k = 2, 0.80 against 0.25, adjusted p = 0.01"
    assert choice.probability_best.tolist() == [0, 0]
    assert not choice.to_frame()["rival"].any()


@pytest.mark.parametrize(
    ("high_in_null", "trivial", "best", "chosen", "focus"),
    [
        ((), (0, 0, 0), 2, 2, 2),
        ((0,), (0, 0, 0), 2, 3, 3),  # the best is not above data without clusters
        ((0, 1), (0, 0, 0), 2, 4, 4),
        ((0, 1, 2), (0, 0, 0), 2, None, 2),
        ((), (2, 0, 0), 3, 2, 3),  # the best is, if not as far as another
        ((1,), (2, 0, 0), 3, 2, 2),
        ((0, 1, 2), (2, 2, 2), None, None, None),
        ((0,), (2, 2, 2), None, 3, 3),
    ],
)
def test_what_to_look_at_is_the_best_if_it_is_above_data_without_clusters(high_in_null, trivial, best, chosen, focus):
    comparison = comparison_by_hand([[0.9] * 20, [0.7] * 20, [0.6] * 20], [2, 3, 4], trivial=trivial)
    null = np.tile(np.linspace(0.1, 0.2, 99)[:, None, None], (1, 3, 1))
    null[:, high_in_null] += 0.75
    choice = comparison.choice(reference_by_hand(comparison, [[0.9], [0.7], [0.6]], null))
    assert [one and one.n_clusters for one in (choice.best, choice.chosen, choice.focus)] == [best, chosen, focus]
    assert [choice.is_above(one) for one in choice.candidates] == [c not in high_in_null for c in range(3)]
    alone = comparison.choice()
    assert [one and one.n_clusters for one in (alone.best, alone.chosen, alone.focus)] == [best] * 3
    assert not any(alone.is_above(one) for one in alone.candidates)  # as far as that is known


def test_candidates_are_found_by_clusterer_and_k():
    scores = np.tile([[0.5], [0.9], [0.7], [0.6]], 5)
    comparison = comparison_by_hand(scores, [3, 2, 3, None], clusterers=("ward", "kmeans", "kmeans", "density"))
    choice = comparison.choice()
    names = [(one.clusterer, one.n_clusters) for one in choice.candidates]
    assert names == [("density", None), ("kmeans", 2), ("ward", 3), ("kmeans", 3)]
    assert [choice.place(one) for one in choice.candidates] == [0, 1, 2, 3]
    assert choice.place(choice.best) == choice.place(choice.chosen) == 1  # a Best is found as well as a Candidate
    others = comparison_by_hand(scores / 2, [3, 2, 3, None], clusterers=("ward", "kmeans", "kmeans", "density"))
    assert choice.place(others.choice().candidates[3]) == 3  # whatever its score
    with pytest.raises(ValueError, match="not in list"):
        choice.place(replace(choice.candidates[1], n_clusters=4))


def test_five_percent_are_the_border():
    comparison = comparison_by_hand([[0.9] * 3], [2])
    for n_above, chosen in [(4, True), (5, False)]:
        null = np.where(np.arange(99) < n_above, 0.9, 0.1)[:, None, None]
        choice = comparison.choice(reference_by_hand(comparison, [[0.9]], null))
        against = choice.against
        assert against.adjusted == against.pvalue == pytest.approx((1 + n_above) / 100)  # one k: nothing to adjust for
        assert choice.is_above(choice.candidates[0]) == chosen
        assert (choice.chosen is not None) == chosen


@pytest.mark.parametrize(("ks", "words"), [((2, 3), "no k"), ((2, None), "nothing"), ((None, None), "nothing")])
def test_it_is_said_in_words_when_nothing_is_better_than_data_without_clusters(ks, words):
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4], ks, clusterers=("one", "other"))
    reference = reference_by_hand(comparison, [[0.9], [0.7]], np.full((99, 2, 1), 0.9))
    choice = comparison.choice(reference)
    assert choice.chosen is choice.simplest is None
    assert choice.nothing == words
    first, second = str(choice).splitlines()
    assert first == str(choice.best)
    assert second == f"By ARI, {words} is better than data without clusters (smallest adjusted p = 1)"
    assert repr(choice).startswith(str(choice))


def test_the_smallest_adjusted_pvalue_is_told_where_none_is_small_enough():
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4], [2, 3])
    null = np.tile(np.linspace(0, 1, 99)[:, None, None], (1, 2, 1))  # 10 of 99 above 0.905, 30 above 0.7
    choice = comparison.choice(reference_by_hand(comparison, [[0.905], [0.7]], null))
    assert choice.against.adjusted.min() == choice.against.adjusted[0] == pytest.approx(0.11)
    assert str(choice).endswith("no k is better than data without clusters (smallest adjusted p = 0.11)")


def test_the_table_of_candidates():
    comparison = comparison_by_hand([[0.9, 0.8], [0.7, 0.6], [0.85, 0.81]], [2, 3, None], clusterers=("w", "w", "d"))
    columns = ["clusterer", "k", "score", "low", "high", "eligible", "probability_best", "rival"]
    choice = comparison.choice()
    assert list(choice.to_frame().columns) == columns
    null = np.tile(np.linspace(0.2, 0.3, 99)[:, None, None], (1, 3, 1))
    choice = comparison.choice(reference_by_hand(comparison, [[0.85], [0.65], [0.83]], null))
    frame = choice.to_frame()
    assert list(frame.columns) == [*columns, "observed", "null_mean", "excess", "pvalue", "adjusted"]
    assert frame["clusterer"].tolist() == ["d", "w", "w"]
    assert frame["k"].isna().tolist() == [True, False, False]
    assert frame["k"].tolist()[1:] == [2, 3]
    np.testing.assert_allclose(frame["score"], [0.83, 0.85, 0.65])
    np.testing.assert_allclose(frame["low"], [0.81 + 0.025 * 0.04, 0.8 + 0.025 * 0.1, 0.6 + 0.025 * 0.1])
    np.testing.assert_allclose(frame["high"], [0.85 - 0.025 * 0.04, 0.9 - 0.025 * 0.1, 0.7 - 0.025 * 0.1])
    assert frame["rival"].tolist() == [True, False, False]
    assert frame["probability_best"].tolist() == [0.5, 0.5, 0]
    np.testing.assert_allclose(frame["observed"], [0.83, 0.85, 0.65])
    np.testing.assert_allclose(frame["null_mean"], 0.25)
    np.testing.assert_allclose(frame["excess"], [0.58, 0.6, 0.4])
    for name in ("pvalue", "adjusted"):
        assert frame[name].tolist() == getattr(choice.against, name).tolist() == [0.01] * 3


def test_where_no_score_could_be_compared_the_words_are_quiet():
    """A clusterer that fails on the studies as they are, and not on resamples."""
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4], [2, 3])
    choice = comparison.choice(reference_by_hand(comparison, np.full((2, 1), np.nan), np.full((99, 2, 1), 0.9)))
    assert choice.chosen is None
    assert "better than data without clusters" in str(choice)


@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
def test_where_everything_is_a_single_block_the_choice_is_nothing_in_words(three):
    result = cr.compare({"one": DBSCAN(eps=1e3)}, three, n_resamples=3, rng=0)
    for choice in (result.choice(), result.choice(cr.null_reference(result, 19))):
        assert choice.best is choice.chosen is choice.simplest is None
        assert choice.focus is None
        assert str(choice).startswith("No configuration can be best")
        frame = choice.to_frame()
        assert frame["clusterer"].tolist() == ["one"]
        assert frame[["eligible", "rival"]].to_numpy().tolist() == [[False, False]]
        assert frame["probability_best"].tolist() == [0]
        assert frame["score"].tolist() == [1]  # agreement on nothing
    assert frame[["observed", "excess", "pvalue", "adjusted"]].to_numpy().tolist() == [[0, 0, 1, 1]]
    assert "By ARI, nothing is better than data without clusters (smallest adjusted p = 1)" in str(choice)


def test_a_tie_counts_for_all():
    comparison = comparison_by_hand([[0.5, 0.9, 0.7], [0.5, 0.2, 0.8]], [3, 2])
    assert comparison.choice().to_frame().set_index("k")["probability_best"].to_dict() == {
        2: pytest.approx(2 / 3),
        3: pytest.approx(2 / 3),
    }


def test_a_clusterer_without_a_k_is_drawn_against_its_own_null(three):
    result = cr.compare(
        {"density": DBSCAN(eps=2.0), "ward": AgglomerativeClustering()},
        three,
        n_clusters=[2, 3, 5],
        agreement="ari",
        n_resamples=2,
        rng=0,
    )
    reference = cr.null_reference(result, 19)
    ax = reference.plot()
    lines = dict(zip(["density", "ward"], ax.get_lines(), strict=True))
    assert lines["ward"].get_xdata().tolist() == [2, 3, 5]
    assert set(lines["density"].get_ydata()) == {reference.overall[result.clusterers.index("density"), 0]}
    assert list(ax.get_xticks()) == [2, 3, 5]
    alone = cr.compare({"density": DBSCAN(eps=2.0)}, three, agreement="ari", n_resamples=2, rng=0)
    ax = cr.null_reference(alone, 19).plot()
    assert len(ax.get_lines()) == 1
    assert ax.get_xlabel() == "(no number of clusters to set)"


def test_order_of_configurations_and_agreements_is_kept_apart():
    averages = np.stack([[[0.9] * 3, [0.2] * 3], [[0.5] * 3, [0.8] * 3], [[0.4] * 3, [0.3] * 3]])
    comparison = comparison_by_hand(averages, [4, 2, 3], agreements=("ari", "ami"))
    null = np.zeros((99, 3, 2))
    null[:, 0, 1] = 0.9
    reference = reference_by_hand(comparison, averages[:, :, 0], null)
    by_ari, by_ami = comparison.choice(reference), comparison.choice(reference, agreement="ami")
    assert (by_ari.chosen.n_clusters, by_ami.chosen.n_clusters) == (4, 2)
    np.testing.assert_allclose(by_ari.against.excess, [0.5, 0.4, 0.9])  # k = 2, 3, 4
    np.testing.assert_allclose(by_ami.against.excess, [0.8, 0.3, -0.7])
    np.testing.assert_allclose(by_ami.against.observed, [0.8, 0.3, 0.2])
    np.testing.assert_allclose(by_ami.against.null_mean, [0, 0, 0.9])
    assert by_ami.to_frame()["k"].tolist() == [2, 3, 4]
    with pytest.raises(ParameterError, match="agreement must be one of"):
        comparison.choice(agreement="ri")


def test_the_reference_of_another_comparison_is_refused(comparison, reference, comparison_reference, three, tmp_path):
    fewer = cr.compare(WARD, three, n_clusters=[2], n_resamples=1, rng=0)
    for one, other in [(comparison, reference), (comparison, "reference"), (fewer, comparison_reference)]:
        with pytest.raises(ParameterError, match=r"reference must be null_reference\(...\) of this very comparison"):
            one.choice(other)
    enough = cr.null_reference(comparison, 19)
    enough.save(tmp_path / "null.npz")
    assert repr(comparison.choice(cr.load(tmp_path / "null.npz"))) == repr(comparison.choice(enough))


@pytest.fixture(scope="module")
def with_blocks(three):
    """A comparison in which some resamples are single blocks, by agreements that praise them."""
    return cr.compare(
        {"density": DBSCAN(eps=1.6, min_samples=3), "ward": AgglomerativeClustering(3)},
        three,
        agreement=("ri", "prediction_strength"),
        n_resamples=6,
        rng=0,
    )


@pytest.mark.parametrize("statistic", ["estimate", "mean"])
def test_a_reference_is_known_as_that_of_a_comparison_with_single_blocks(with_blocks, statistic, tmp_path):
    assert 0 < off_diagonal(with_blocks.trivial[0]).sum() < off_diagonal(with_blocks.trivial[0]).size
    reference = cr.null_reference(with_blocks, 19, statistic=statistic)
    with_blocks.save(tmp_path / "comparison.npz")
    reference.save(tmp_path / "null.npz")
    if statistic == "mean":  # single blocks count 0 there, and 1 here
        off = off_diagonal(with_blocks.distribution).mean(axis=2)
        assert (off_diagonal(reference.observed)[0] < off[0] - 1e-9).any()
    comparisons = [with_blocks, cr.load(tmp_path / "comparison.npz")]
    references = [reference, cr.load(tmp_path / "null.npz")]
    for agreement in with_blocks.agreements:
        told = {
            repr(one.choice(other, agreement=agreement)) for one, other in itertools.product(comparisons, references)
        }
        assert len(told) == 1
        frame = with_blocks.choice(reference, agreement=agreement).to_frame().set_index("clusterer")
        assert frame["eligible"].to_dict() == {"density": False, "ward": True}
        a = with_blocks.agreements.index(agreement)
        assert frame["observed"]["density"] == pytest.approx(off_diagonal(reference.observed)[0, a].mean())


def test_the_reference_of_the_same_comparison_with_another_seed_or_score_or_name_is_refused(comparison, three):
    reference = cr.null_reference(comparison, 19)
    again, elsewhere = (
        cr.compare({"ward": AgglomerativeClustering()}, three, n_clusters=[2, 3, 4], n_resamples=4, rng=seed)
        for seed in (0, 1)
    )
    assert repr(again.choice(reference)) == repr(comparison.choice(reference))
    np.testing.assert_array_equal(elsewhere.estimate, comparison.estimate)  # only resamples differ
    scores = np.array(comparison.distribution)
    scores[1, 0, 2, 0, 1] += 1e-9
    others = [
        elsewhere,
        replace(comparison, distribution=scores),
        replace(comparison, n_clusters=(2, 3, 5)),
        replace(comparison, clusterers=("other",) * 3),
        replace(comparison, agreements=("ami", "ari")),
        replace(comparison, names=comparison.names[::-1]),
    ]
    for other in others:
        with pytest.raises(ParameterError, match="of this very comparison"):
            other.choice(reference)
    for made in ({}, {"of": ""}):
        unknown = replace(reference, provenance={"null": "'gaussian'", "seed": 1, **made})
        with pytest.raises(ParameterError, match="of this very comparison"):
            comparison.choice(unknown)


def test_names_that_are_numpys_texts_are_the_same_after_a_file(three, tmp_path):
    tables = {np.str_(name): X for name, X in three.items()}
    comparison = cr.compare(WARD, tables, n_clusters=[2], n_resamples=1, rng=0)
    comparison.save(tmp_path / "comparison.npz")
    reference = cr.null_reference(comparison, 19)
    loaded = cr.load(tmp_path / "comparison.npz").choice(reference)
    pd.testing.assert_frame_equal(loaded.to_frame(), comparison.choice(reference).to_frame())


def test_too_few_collections_to_say_anything_are_refused(comparison):
    with pytest.raises(ParameterError, match="reference has 18 simulated data sets, too few for any p-value of 5%"):
        comparison.choice(cr.null_reference(comparison, 18))


def test_the_reference_of_the_only_configuration_is_refused(three):
    comparison = cr.compare({"ward": WARD}, three, n_clusters=[2], agreement="ari", n_resamples=2, rng=0)
    reference = cr.null_reference(comparison.replicability("ward", 2), 3)
    with pytest.raises(ParameterError, match="of this very comparison"):
        comparison.choice(reference)


def test_the_reference_of_other_data_is_refused(comparison_reference, three):
    other = {name: X[:, ::-1] ** 2 for name, X in three.items()}
    comparison = cr.compare({"ward": AgglomerativeClustering()}, other, n_clusters=[2, 3, 4], n_resamples=4, rng=0)
    with pytest.raises(ParameterError, match="of this very comparison"):
        comparison.choice(comparison_reference)


def test_too_few_collections_for_many_k_are_not_said_to_be_no_clusters():
    # One k of nineteen above all 199 simulated data sets, by far: q = 19 / 200 for want of collections.
    observed = np.full((19, 1), 0.3)
    observed[4] = 1
    null = np.tile(np.linspace(0.2, 0.4, 199)[:, None, None], (1, 19, 1))
    comparison = comparison_by_hand(np.repeat(observed, 3, axis=1), range(2, 21))
    assert "no k is better than data without clusters" not in str(
        comparison.choice(reference_by_hand(comparison, observed, null))
    )


def test_of_those_that_cannot_be_told_apart_the_one_with_most_evidence_is_looked_at():
    comparison = comparison_by_hand([[0.9, 0.7, 0.9, 0.8], [0.8, 0.8, 0.8, 0.8], [0.2, 0.2, 0.2, 0.2]], [2, 3, 4])
    null = np.random.default_rng(0).normal(scale=0.05, size=(199, 3, 1))
    near = reference_by_hand(comparison, [[0.8], [0.8], [0.2]], null + np.array([[0.5], [0.1], [0.1]]))
    choice = comparison.choice(near)
    assert (choice.best.n_clusters, [one.n_clusters for one in choice.best.rivals]) == (2, [3])
    assert choice.is_above(choice.best)
    assert choice.focus.n_clusters == 3
    far = reference_by_hand(comparison, [[0.5], [0.8], [0.9]], null + np.array([[0.5], [0.8], [0.1]]))
    choice = comparison.choice(far)
    assert not choice.is_above(choice.best)
    assert choice.focus.n_clusters == choice.chosen.n_clusters == 4


# ---------------------------------------------------------------------------------------------------------------------
# the choice on data


@pytest.mark.slow
def test_on_data_without_clusters_the_choice_says_so():
    said = 0
    for seed in range(10):
        tables = gaussians(seed, np.array([3.0, 1.0, 1.0]), (30, 30))
        comparison = cr.compare(
            KMeans(n_init=2), tables, n_clusters=[2, 3, 4], agreement="ari", n_resamples=2, diagonal=False, rng=seed
        )
        choice = comparison.choice(cr.null_reference(comparison, 59))
        smallest = min(choice.against.adjusted)
        words = f"By ARI, no k is better than data without clusters (smallest adjusted p = {smallest:.2g})"
        said += words in str(choice).splitlines()
        assert (choice.chosen is None) == (choice.simplest is None) == (smallest > 0.05)
        assert (choice.chosen is None) == (words in str(choice))
    assert said >= 8


def test_on_separated_groups_their_number_is_chosen():
    for seed in range(3):
        comparison = cr.compare(
            KMeans(n_init=3), mixtures(seed), n_clusters=[2, 3, 4], n_resamples=5, diagonal=False, rng=seed
        )
        choice = comparison.choice(cr.null_reference(comparison, 59))
        assert choice.chosen.n_clusters == 3
        assert choice.against.pvalue[1] <= 0.05
        assert choice.against.adjusted[1] <= 0.05
        assert "Farthest above data without clusters: KMeans, k = 3" in str(choice)


def test_two_groups_in_few_of_many_features_are_chosen_though_resamples_split_single_samples_off():
    rng = np.random.default_rng(7)
    tables = []
    for _ in range(3):
        groups = np.array([[0] * 5, [3] * 5])[rng.integers(2, size=40)] + rng.normal(size=(40, 5))
        tables.append(np.c_[groups, rng.normal(size=(40, 195))])
    comparison = cr.compare(
        KMeans(n_init=5),
        tables,
        n_clusters=[2, 3, 4, 5],
        agreement="ari",
        n_resamples=20,
        diagonal=False,
        rng=0,
        resampling=cr.resampling.Bootstrap(),
    )
    choice = comparison.choice(cr.null_reference(comparison, 39, null="gaussian"))
    assert not choice.eligible[0]
    assert choice.best.n_clusters > 2
    assert choice.chosen.n_clusters == 2
    assert "Farthest above data without clusters: KMeans, k = 2, " in str(choice)
