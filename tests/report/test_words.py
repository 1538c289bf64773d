"""What was found, in sentences: the choice, studies, clusters, cautions and failures."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from tests.report.samples import ALIKE, ONE_APART, THREE, candidate, choice, crafted

import clustrep as cr
from clustrep.report import words
from clustrep.results import Best, Candidate
from clustrep.results.analysis import HOLDS, NOT_ABOVE, NOT_COMPARED, WEAK
from clustrep.results.choice import NO_BEST, Against


def test_the_best_that_is_above_data_without_clusters():
    assert words.about_choice(choice(adjusted=[0.005, 0.2, 1])) == (
        "ward, k = 2 replicates best: ARI 0.90 [0.80, 1.00] over all pairs of studies, the highest in 70 % of "
        "resamples. As the studies are, it lies 0.50 above data without clusters (0.85 against 0.35, adjusted p = "
        "0.005)."
    )


def test_rivals_are_named():
    text = words.about_choice(choice(rivals=(1, 2), adjusted=[0.005, 0.2, 1]))
    assert "70 % of resamples; not distinguishable from it: ward, k = 3 (0.80), ward, k = 4 (0.70). As" in text


def test_many_rivals_are_counted():
    best = Best(**vars(candidate(2)), agreement="ari", rivals=tuple(candidate(k) for k in range(3, 10)))
    text = words.about_choice(dataclasses.replace(choice(), best=best))
    assert "ward, k = 6 (0.80) and 3 more. It was not" in text


def test_another_one_may_be_farther_above():
    text = words.about_choice(choice(adjusted=[0.05, 0.05, 1], excess=(0.2, 0.3, 0.1)))
    assert text.endswith("adjusted p = 0.05). Farther above them, by 0.30, is ward, k = 3.")


def test_the_best_may_be_no_better_than_data_without_clusters():
    assert words.about_choice(choice(adjusted=[0.3, 0.02, 1])).split("resamples. ")[1] == (
        "It is not distinguishable from unclustered data (adjusted p = 0.3). But ward, k = 3 lies 0.30 above data "
        "without clusters (0.75 against 0.45, adjusted p = 0.02); it is examined below."
    )


def test_nothing_may_be_better_than_data_without_clusters():
    assert words.about_choice(choice(adjusted=[0.3, 0.2, 1])) == (
        "No k is distinguishable from unclustered data (smallest adjusted p = 0.2): the highest score is ARI 0.90 "
        "[0.80, 1.00], of ward, k = 2."
    )
    text = words.about_choice(choice(adjusted=[0.3, 0.2, 1], ks=(2, 3, None)))
    assert text.startswith("Nothing is distinguishable from unclustered data")


def test_what_was_not_compared_is_not_known():
    assert words.about_choice(choice()).endswith(
        ". It was not compared with data without clusters, so it is not known whether there are clusters."
    )


def test_there_may_be_no_best():
    assert words.about_choice(choice(best=None)) == NO_BEST
    assert words.about_choice(choice(best=None, adjusted=[0.5, 0.5, 0.5])) == NO_BEST
    assert words.about_choice(choice(best=None, adjusted=[0.01, 0.5, 0.5])) == (
        f"{NO_BEST} But ward, k = 2, as the studies are, lies 0.50 above data without clusters (0.85 against 0.35, "
        "adjusted p = 0.01)."
    )


def test_one_candidate_is_not_said_to_be_the_best():
    alone = choice(adjusted=[0.01, 0.5, 0.5])
    alone = dataclasses.replace(
        alone,
        candidates=alone.candidates[:1],
        probability_best=np.ones(1),
        against=Against(*(values[:1] for values in vars(alone.against).values())),
    )
    assert words.about_choice(alone).startswith("ward, k = 2 has ARI 0.90 [0.80, 1.00] over all pairs of studies. ")


def test_a_clusterer_without_k_is_named_without():
    assert words.named(Candidate("dbscan", None, 0.5, 0.4, 0.6)) == "dbscan"


def test_a_tie_does_not_make_the_best_seldom_the_highest(studies):
    """What is never beaten is the highest in all resamples."""
    comparison = cr.compare({"first": THREE, "second": THREE}, studies, n_resamples=4, rng=0)
    distribution = np.ones_like(comparison.distribution)
    distribution[0, :, ::2] = 0.5  # the first is as good as the second in every other resample
    text = words.about_choice(dataclasses.replace(comparison, distribution=distribution).choice())
    assert text.startswith("second, k = 3 replicates best: ARI 1.00 [1.00, 1.00]")
    assert "the highest in 100 % of resamples" in text


def test_two_studies(analysis):
    result = crafted(analysis, [[0.9, 0.5], [0.7, 0.9]])
    assert words.about_studies(result, None) == ("ward, k = 3: b predicts a best (0.70), a predicts b worst (0.50).")


def test_one_study_stands_apart(analysis):
    result = crafted(analysis, ONE_APART)
    text = words.about_studies(result, result.relations())
    assert "worst (0.20). c stands apart. More than 99 % of the variance between pairs is more than resampl" in text


def test_no_study_stands_apart(analysis):
    result = crafted(analysis, ALIKE, sd=0.05)
    text = words.about_studies(result, result.relations())
    assert " No study can be said to stand apart. " in text


def test_too_few_resamples_say_nothing_of_who_stands_apart(analysis):
    result = crafted(analysis, ONE_APART, n=19)
    assert "stand" not in words.about_studies(result, result.relations())


def test_clusters_that_do_not_repeat_within_their_study(analysis):
    result = crafted(analysis, [[0.3, 0.3, 0.3], [0.3, 0.9, 0.3], [0.3, 0.3, 0.2]])
    text = words.about_studies(result, result.relations())
    assert " Clusters do not replicate even within a (0.30) and c (0.20). " in text


@pytest.mark.parametrize(("agreement", "is_said"), [("ari", True), ("ami", True), ("ami_max", True), ("ri", False)])
def test_half_way_from_chance_is_known_for_agreements_that_are_adjusted_for_it(analysis, agreement, is_said):
    low_within_a = crafted(analysis, [[0.3, 0.3, 0.3], [0.3, 0.9, 0.3], [0.3, 0.3, 0.9]])
    result = dataclasses.replace(low_within_a, agreement=agreement)
    assert ("do not replicate even within" in words.about_studies(result, result.relations())) == is_said


def test_equal_pairs_are_told_once(analysis):
    result = crafted(analysis, [[1, 1], [1, 1]], sd=0)
    assert words.about_studies(result, None) == "ward, k = 3: all pairs of studies score about 1.00."
    empty = crafted(analysis, [[1, np.nan], [np.nan, 1]])
    assert words.about_studies(empty, None) == "ward, k = 3: no pair of studies has a score."


def test_one_resample_explains_nothing(analysis):
    result = crafted(analysis, ALIKE, n=1)
    assert "nan" not in words.about_studies(result, result.relations())


def table(*rows):
    return pd.DataFrame(rows, columns=["train", "cluster", "test", "mean", "verdict"])


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([("a", "0", "b", 0.9, HOLDS)], "a: its cluster holds in b."),
        ([("a", c, "b", 0.9, HOLDS) for c in "01"], "a: both clusters hold in b."),
        (
            [("a", c, t, 0.9, HOLDS) for c in "012" for t in "bc"],
            "a: all 3 clusters hold everywhere else.",
        ),
        (
            [("a", "0", "b", 0.9, HOLDS), ("a", "1", "b", 0.3, WEAK), ("a", "2", "b", 0.3, NOT_ABOVE)],
            "a: 1 of 3 clusters holds in b; above data without clusters, but below 0.5: cluster 1; no better than data "
            "without clusters: cluster 2.",
        ),
        (
            [("a", "0", "b", 0.9, HOLDS), ("a", "0", "c", 0.3, WEAK), ("a", "1", "b", 0.3, NOT_ABOVE),
             ("a", "1", "c", 0.2, NOT_ABOVE)],
            "a: none of 2 clusters holds everywhere else; above data without clusters, but below 0.5: cluster 0 in "
            "c; no better than data without clusters: cluster 1 in b and c.",
        ),
        (
            [("a", "0", "b", 0.9, NOT_COMPARED), ("a", "1", "b", 0.3, NOT_COMPARED)],
            "a: the weakest of 2 clusters is cluster 1 in b (0.30).",
        ),
    ],
    ids=["one", "both", "all", "some", "several studies", "not compared"],
)  # fmt: skip
def test_clusters_in_words(rows, text):
    assert words.about_clusters(table(*rows)) == [text]


def test_every_training_study_has_its_sentence():
    said = words.about_clusters(table(("z", "0", "b", 0.9, HOLDS), ("b", "0", "z", 0.1, NOT_ABOVE)))
    assert said == [
        "z: its cluster holds in b.",
        "b: none of 1 cluster holds in z; no better than data without clusters: cluster 0.",
    ]
    assert words.about_clusters(pd.DataFrame()) == []


def test_more_collections_are_asked_for_where_they_are_too_few():
    table = pd.DataFrame(
        {"verdict": [words.TOO_FEW, words.TOO_FEW, words.NOT_ABOVE, words.NOISE], "qvalue": [0.1, 0.1, 0.9, np.nan]}
    )
    assert words.about_resolution(table).endswith("for so many clusters: 59 (--null-collections) would be enough.")
    assert words.about_resolution(table[2:]) == ""


def test_cautions_of_two_humps_and_far_estimates(analysis):
    result = crafted(analysis, ALIKE)
    assert words.cautions(result) == []
    distribution = result.distribution.copy()
    distribution[:10, 0, 1] = 0.4
    distribution[10:, 0, 1] = 0.9
    distribution[:10, 2, 2] = 0.4  # a study with itself is not told
    estimate = result.estimate.copy()
    estimate[1, 2] = 0.5
    changed = dataclasses.replace(result, distribution=distribution, estimate=estimate)
    mean = distribution[:, 1, 2].mean()
    assert words.cautions(changed) == [
        "The scores are bimodal, as if the clusterer alternated between two solutions, so no interval summarises them: "
        "a → b (about 0.40 and 0.90, 75 % at the higher). Look at the distributions.",
        f"The score of the studies as they are is far from the bootstrap mean: b → c (0.50 against {mean:.2f}).",
    ]
    verdict = cr.Report(changed).facts["verdict"]
    assert [item["kind"] for item in verdict] == ["studies", "caution", "caution"]


def test_lists_are_joined():
    assert [words.joined(list("abc"[:n])) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert words.percent(0.625) == "62 %"
