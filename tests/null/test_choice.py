"""Choices among clusterers and k, alone and beside a null model, by hand and on data."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.null.cases import WARD, compared, comparison_by_hand, gaussians, mixtures, off_diagonal, reference_by_hand

import clustrep as cr
from clustrep.errors import ParameterError


@pytest.fixture(scope="module")
def three():
    return dict(zip(["mainz", "vdx", "nki"], mixtures(1, (18, 24, 21), separation=0.35), strict=True))


def ks(*candidates):
    return [one and one.n_clusters for one in candidates]


def null_scores(n_configurations, high=(), by=0.7, low=0.1):
    """99 simulated data sets with scores between `low` and `low` + 0.1; higher by `by` for some configurations."""
    null = np.tile(np.linspace(low, low + 0.1, 99)[:, None, None], (1, n_configurations, 1))
    null[:, list(high)] += by
    return null


# ---------------------------------------------------------------------------------------------------------------------
# alone


def test_the_probability_of_being_best_is_the_share_of_resamples_won():
    scores = [[0.5, 0.9, 0.5, 0.1, np.nan], [0.6, 0.9, 0.4, 0.7, 0.2], [0.2, 0.1, 0.8, 0.6, 0.9]]
    choice = comparison_by_hand(scores, [3, 2, 4]).choice()
    assert ks(*choice.candidates) == [2, 3, 4]
    assert choice.probability_best.tolist() == [0.6, 0.2, 0.4]  # the tie counts for both
    assert choice.against is None
    assert choice.to_frame()["probability_best"].tolist() == [0.6, 0.2, 0.4]
    failed_for_all = [[0.5, 0.5, 0.5, np.nan], [0.6, 0.6, 0.6, np.nan]]
    assert comparison_by_hand(failed_for_all, [2, 3]).choice().probability_best.tolist() == [0.0, 1.0]


def test_single_clusters_in_one_resample_of_twenty_are_borne_and_in_two_they_win_nothing():
    scores = np.random.default_rng(0).uniform(size=(4, 20)) + np.array([[0.4], [0.1], [0], [0]])
    choice = comparison_by_hand(scores, [2, 3, 4, 5], trivial=[2, 1, 0, 0]).choice()
    assert choice.eligible.tolist() == choice.to_frame()["eligible"].tolist() == [False, True, True, True]
    wins = [sum(max((1, 2, 3), key=lambda c: scores[c, b]) == c for b in range(20)) for c in (1, 2, 3)]
    assert choice.probability_best.tolist() == [0.0, *(won / 20 for won in wins)]
    assert choice.candidates[0].score == max(one.score for one in choice.candidates)
    assert ks(choice.best, choice.chosen) == [3, 3]
    assert 2 not in ks(*choice.best.rivals)
    assert comparison_by_hand(scores, [2, 3, 4, 5]).choice().best.n_clusters == 2


def test_failures_in_most_resamples_leave_a_candidate_that_cannot_be_best_and_in_all_none():
    known = np.arange(20) % 2 == 0
    scores = np.stack([np.full(20, 0.9), np.where(known, 0.9, np.nan), np.full(20, 0.5), np.full(20, np.nan)])
    scores[0, :11] = np.nan
    choice = comparison_by_hand(scores, [2, 3, 4, 5]).choice()
    assert ks(*choice.candidates) == [2, 3, 4]
    assert choice.eligible.tolist() == [False, True, True]
    assert choice.probability_best.tolist() == [0.0, 0.5, 0.5]
    assert choice.best.n_clusters == 3


@pytest.mark.parametrize(("below", "expected"), [(0.09, 2), (0.11, 3)])
def test_the_simplest_is_the_smallest_k_within_one_standard_error_of_the_best(below, expected):
    scores = [np.full(3, 0.8 - below), np.full(3, 0.75), [0.7, 0.8, 0.9], np.full(3, 0.4)]  # an error of 0.1
    choice = comparison_by_hand(scores, [2, 3, 4, 5]).choice()
    assert ks(choice.best, choice.chosen, choice.simplest) == [4, 4, expected]
    assert comparison_by_hand([[0.5], [0.9]], [2, 3]).choice().simplest.n_clusters == 3  # no standard error


def test_candidates_are_found_by_clusterer_and_k():
    names = ("ward", "kmeans", "kmeans", "density")
    scores = np.tile([[0.5], [0.9], [0.7], [0.6]], 5)
    choice = comparison_by_hand(scores, [3, 2, 3, None], clusterers=names).choice()
    assert [(one.clusterer, one.n_clusters) for one in choice.candidates] == [
        ("density", None),
        ("kmeans", 2),
        ("ward", 3),
        ("kmeans", 3),
    ]
    assert [choice.place(one) for one in choice.candidates] == [0, 1, 2, 3]
    assert choice.place(choice.best) == 1  # a Best is found as well as a Candidate
    others = comparison_by_hand(scores / 2, [3, 2, 3, None], clusterers=names).choice()
    assert choice.place(others.candidates[3]) == 3  # whatever its score
    with pytest.raises(ValueError):
        choice.place(replace(choice.candidates[1], n_clusters=4))


# ---------------------------------------------------------------------------------------------------------------------
# beside a null model, by hand


def test_the_choice_is_the_largest_excess_among_those_above_the_null_model():
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4, [0.6] * 4], [2, 3, 4])
    null = np.tile([[0.85], [0.2], [0.3]], (99, 1, 1))  # the highest score is high under the null model, too
    null[:50, 0] = 0.95
    choice = comparison.choice(reference_by_hand(comparison, [[0.9], [0.7], [0.6]], null))
    assert ks(choice.best, choice.chosen) == [2, 3]
    against, null_mean = choice.against, [(50 * 0.95 + 49 * 0.85) / 99, 0.2, 0.3]
    np.testing.assert_allclose(against.pvalue, [0.51, 0.01, 0.01])
    np.testing.assert_allclose(against.adjusted[1:], 0.01)  # no data set has any k so far above its mean
    assert against.adjusted[0] > 0.5
    np.testing.assert_allclose(against.null_mean, null_mean)
    np.testing.assert_allclose(against.excess, [0.9 - null_mean[0], 0.5, 0.3])
    null[:10, 1] = 0.8  # far above on average, but too often below
    choice = comparison.choice(reference_by_hand(comparison, [[0.9], [0.7], [0.6]], null))
    assert choice.against.excess[1] > choice.against.excess[2]
    assert choice.chosen.n_clusters == 4


@pytest.mark.parametrize(
    ("high", "expected"), [((), 2), ((0,), 3), ((0, 1), 4), ((2,), 2), ((0, 1, 2), None), ((0, 1, 2, 3), None)]
)
def test_the_simplest_is_above_the_null_model(high, expected):
    scores = [np.full(3, 0.75), np.full(3, 0.74), [0.7, 0.8, 0.9], np.full(3, 0.4)]
    comparison = comparison_by_hand(scores, [2, 3, 4, 5])
    observed = [[0.75], [0.74], [0.8], [0.4]]
    choice = comparison.choice(reference_by_hand(comparison, observed, null_scores(4, high)))
    assert ks(choice.best, choice.simplest) == [4, expected]


@pytest.mark.parametrize(
    ("high", "trivial", "best", "chosen"),
    [
        ((), (0, 0, 0), 2, 2),
        ((0,), (0, 0, 0), 2, 3),  # the best is not above the null model
        ((0, 1), (0, 0, 0), 2, 4),
        ((0, 1, 2), (0, 0, 0), 2, None),
        ((), (2, 0, 0), 3, 2),  # the best is, if not as far as another, which has too many single clusters
        ((1,), (2, 0, 0), 3, 2),
        ((0, 1, 2), (2, 2, 2), None, None),
        ((0,), (2, 2, 2), None, 3),
    ],
)
def test_what_is_chosen_has_most_evidence_above_the_null_model(high, trivial, best, chosen):
    comparison = comparison_by_hand([[0.9] * 20, [0.7] * 20, [0.6] * 20], [2, 3, 4], trivial=trivial)
    reference = reference_by_hand(comparison, [[0.9], [0.7], [0.6]], null_scores(3, high, by=0.75))
    choice = comparison.choice(reference)
    assert ks(choice.best, choice.chosen) == [best, chosen]
    assert [choice.is_above(one) for one in choice.candidates] == [c not in high for c in range(3)]
    alone = comparison.choice()
    assert ks(alone.best, alone.chosen) == [best] * 2
    assert not any(alone.is_above(one) for one in alone.candidates)  # as far as that is known


def test_of_rivals_the_one_with_most_evidence_is_chosen():
    comparison = comparison_by_hand([[0.9, 0.7, 0.9, 0.8], [0.8, 0.8, 0.8, 0.8], [0.2, 0.2, 0.2, 0.2]], [2, 3, 4])
    null = np.random.default_rng(0).normal(scale=0.05, size=(199, 3, 1))
    near = reference_by_hand(comparison, [[0.8], [0.8], [0.2]], null + np.array([[0.5], [0.1], [0.1]]))
    choice = comparison.choice(near)
    assert ks(choice.best, *choice.best.rivals, choice.chosen) == [2, 3, 3]
    far = reference_by_hand(comparison, [[0.5], [0.8], [0.9]], null + np.array([[0.5], [0.8], [0.1]]))
    assert ks(comparison.choice(far).chosen) == [4]


@pytest.mark.parametrize(("n_above", "chosen"), [(4, True), (5, False)])
def test_five_percent_are_the_border(n_above, chosen):
    comparison = comparison_by_hand([[0.9] * 3], [2])
    null = np.where(np.arange(99) < n_above, 0.9, 0.1)[:, None, None]
    choice = comparison.choice(reference_by_hand(comparison, [[0.9]], null))
    # One k: nothing to adjust for.
    assert choice.against.adjusted == choice.against.pvalue == pytest.approx((1 + n_above) / 100)
    assert (choice.chosen is not None) == choice.is_above(choice.candidates[0]) == chosen


def test_one_k_of_nineteen_far_above_the_null_model_is_chosen():
    observed = np.full((19, 1), 0.3)
    observed[4] = 1
    comparison = comparison_by_hand(np.repeat(observed, 3, axis=1), range(2, 21))
    null = np.tile(np.linspace(0.2, 0.4, 199)[:, None, None], (1, 19, 1))
    assert comparison.choice(reference_by_hand(comparison, observed, null)).chosen.n_clusters == 6


def test_where_nothing_is_above_the_null_model_or_could_be_compared_nothing_is_chosen():
    comparison = comparison_by_hand([[0.9] * 4, [0.7] * 4], [2, 3])
    for observed in ([[0.9], [0.7]], np.full((2, 1), np.nan)):
        choice = comparison.choice(reference_by_hand(comparison, observed, np.full((99, 2, 1), 0.9)))
        assert choice.chosen is choice.simplest is None
        assert repr(choice).startswith(str(choice))


def test_the_table_of_candidates():
    comparison = comparison_by_hand([[0.9, 0.8], [0.7, 0.6], [0.85, 0.81]], [2, 3, None], clusterers=("w", "w", "d"))
    columns = ["clusterer", "k", "score", "low", "high", "eligible", "probability_best", "rival"]
    assert list(comparison.choice().to_frame()) == columns
    reference = reference_by_hand(comparison, [[0.85], [0.65], [0.83]], null_scores(3, low=0.2))
    frame = comparison.choice(reference).to_frame()
    assert list(frame) == [*columns, "observed", "null_mean", "excess", "pvalue", "adjusted"]
    assert frame["clusterer"].tolist() == ["d", "w", "w"]
    assert frame["k"].isna().tolist() == [True, False, False]
    np.testing.assert_allclose(frame["score"], [0.83, 0.85, 0.65])
    np.testing.assert_allclose(frame["low"], [0.81 + 0.025 * 0.04, 0.8 + 0.025 * 0.1, 0.6 + 0.025 * 0.1])
    np.testing.assert_allclose(frame["high"], [0.85 - 0.025 * 0.04, 0.9 - 0.025 * 0.1, 0.7 - 0.025 * 0.1])
    assert frame["rival"].tolist() == [True, False, False]
    np.testing.assert_allclose(frame["excess"], [0.58, 0.6, 0.4])
    np.testing.assert_allclose(frame[["pvalue", "adjusted"]], 0.01)


def test_configurations_and_agreements_are_not_confused():
    averages = np.stack([[[0.9] * 3, [0.2] * 3], [[0.5] * 3, [0.8] * 3], [[0.4] * 3, [0.3] * 3]])
    comparison = comparison_by_hand(averages, [4, 2, 3], agreements=("ari", "ami"))
    null = np.zeros((99, 3, 2))
    null[:, 0, 1] = 0.9
    reference = reference_by_hand(comparison, averages[:, :, 0], null)
    by_ari, by_ami = comparison.choice(reference), comparison.choice(reference, agreement="ami")
    assert ks(by_ari.chosen, by_ami.chosen) == [4, 2]
    np.testing.assert_allclose(by_ari.against.excess, [0.5, 0.4, 0.9])  # k = 2, 3, 4
    np.testing.assert_allclose(by_ami.against.excess, [0.8, 0.3, -0.7])
    with pytest.raises(ParameterError) as caught:
        comparison.choice(agreement="ri")
    assert caught.value.parameter == "agreement"


# ---------------------------------------------------------------------------------------------------------------------
# which reference belongs to a comparison


def test_only_the_reference_of_this_very_comparison_is_taken(three, tmp_path):
    def comparison_of(tables, seed=0, ward=None):
        return cr.compare(
            {"ward": ward or AgglomerativeClustering()}, tables, n_clusters=[2, 3], n_resamples=3, rng=seed
        )

    comparison = comparison_of(three)
    reference = cr.null_reference(comparison, 19)
    reference.save(tmp_path / "null.npz")
    comparison.save(tmp_path / "comparison.npz")
    expected = repr(comparison.choice(reference))
    loaded = cr.load(tmp_path / "comparison.npz")
    named = comparison_of({np.str_(name): X for name, X in three.items()})
    for one, other in itertools.product((comparison, loaded, named), (reference, cr.load(tmp_path / "null.npz"))):
        assert repr(one.choice(other)) == expected
    scores = np.array(comparison.distribution)
    scores[1, 0, 2, 0, 1] += 1e-9
    refused = [
        (comparison_of(three, seed=1), reference),
        (comparison_of({name: X[:, ::-1] ** 2 for name, X in three.items()}), reference),
        (replace(comparison, distribution=scores), reference),
        (replace(comparison, clusterers=("other",) * 2), reference),
        (comparison, cr.null_reference(comparison.replicability("ward", 2), 3)),
        (comparison, cr.null_reference(comparison, 18)),  # too few for any p-value of 5 %
        (comparison, "reference"),
    ]
    for one, other in refused:
        with pytest.raises(ParameterError) as caught:
            one.choice(other)
        assert caught.value.parameter == "reference"


@pytest.mark.parametrize("statistic", ["estimate", "mean"])
def test_single_clusters_count_zero_beside_a_null_model(three, statistic):
    comparison = cr.compare(
        {"density": DBSCAN(eps=1.6, min_samples=3), "ward": WARD}, three, agreement="ri", n_resamples=6, rng=0
    )
    assert 0 < off_diagonal(comparison.trivial[0]).sum() < off_diagonal(comparison.trivial[0]).size
    reference = cr.null_reference(comparison, 19, statistic=statistic)
    if statistic == "mean":  # by an agreement that praises them
        assert (off_diagonal(reference.observed)[0] < off_diagonal(comparison.distribution).mean(axis=2)[0]).any()
    frame = comparison.choice(reference).to_frame().set_index("clusterer")
    assert frame["eligible"].to_dict() == {"density": False, "ward": True}
    assert frame["observed"]["density"] == pytest.approx(off_diagonal(reference.observed)[0, 0].mean())


@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
def test_where_everything_is_a_single_cluster_nothing_is_chosen(three):
    result = cr.compare({"one": DBSCAN(eps=1e3)}, three, n_resamples=3, rng=0)
    for choice in (result.choice(), result.choice(cr.null_reference(result, 19))):
        assert choice.best is choice.chosen is choice.simplest is None
        frame = choice.to_frame()
        assert frame[["eligible", "rival", "probability_best", "score"]].to_numpy().tolist() == [[False, False, 0, 1]]
    assert frame[["observed", "excess", "pvalue", "adjusted"]].to_numpy().tolist() == [[0, 0, 1, 1]]


# ---------------------------------------------------------------------------------------------------------------------
# on data


def test_on_separated_clusters_their_number_is_chosen():
    for seed in range(2):
        comparison = compared(mixtures(seed), n_resamples=5, seed=seed)
        choice = comparison.choice(cr.null_reference(comparison, 59))
        assert choice.chosen.n_clusters == 3
        assert choice.against.adjusted[1] <= 0.05


@pytest.mark.slow
def test_on_data_without_clusters_nothing_is_chosen():
    chosen = 0
    for seed in range(10):
        comparison = compared(gaussians(seed, np.array([3.0, 1.0, 1.0]), (30, 30)), n_resamples=2, seed=seed)
        choice = comparison.choice(cr.null_reference(comparison, 59))
        assert (choice.chosen is None) == (choice.simplest is None) == (min(choice.against.adjusted) > 0.05)
        chosen += choice.chosen is not None
    assert chosen <= 2


def test_two_clusters_in_few_of_many_features_are_chosen_though_resamples_split_single_samples_off():
    rng, tables = np.random.default_rng(7), []
    for _ in range(3):
        clusters = np.array([[0] * 5, [3] * 5])[rng.integers(2, size=40)] + rng.normal(size=(40, 5))
        tables.append(np.c_[clusters, rng.normal(size=(40, 195))])
    run = {"n_resamples": 20, "resampling": cr.resampling.Bootstrap()}
    comparison = compared(tables, [2, 3, 4, 5], clusterer=KMeans(n_init=5), **run)
    choice = comparison.choice(cr.null_reference(comparison, 39, null="gaussian"))
    assert not choice.eligible[0]
    assert choice.best.n_clusters > 2 == choice.chosen.n_clusters
