"""What was found, in sentences: the choice, studies, clusters, cautions and failures."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from tests.report.samples import ALIKE, ONE_APART, crafted

import clustrep as cr
from clustrep.provenance import Provenance
from clustrep.report import words
from clustrep.results import Candidate, StudyDifferences
from clustrep.results.analysis import HOLDS, NOT_ABOVE, NOT_COMPARED, WEAK


def test_a_clusterer_without_k_is_named_without():
    assert words.named(Candidate("dbscan", None, 0.5, 0.4, 0.6)) == "dbscan"


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
    assert text.endswith(" No study can be said to stand apart.")


def test_too_few_resamples_say_nothing_of_who_stands_apart(analysis):
    result = crafted(analysis, ONE_APART, n=19)
    assert "stand" not in words.about_studies(result, result.relations())


def test_clusters_that_do_not_repeat_within_their_study(analysis):
    result = crafted(analysis, [[0.3, 0.3, 0.3], [0.3, 0.9, 0.3], [0.3, 0.3, 0.2]])
    text = words.about_studies(result, result.relations())
    assert " Clusters do not replicate even within a (0.30), c (0.20)." in text


@pytest.mark.parametrize(("agreement", "is_said"), [("ari", True), ("ami", True), ("ami_max", True), ("ri", False)])
def test_half_way_from_chance_is_known_for_agreements_that_are_adjusted_for_it(analysis, agreement, is_said):
    low_within_a = crafted(analysis, [[0.3, 0.3, 0.3], [0.3, 0.9, 0.3], [0.3, 0.3, 0.9]])
    result = dataclasses.replace(low_within_a, agreement=agreement)
    assert ("do not replicate even within" in words.about_studies(result, result.relations())) == is_said


def test_trivial_scores_say_nothing_about_studies(analysis):
    result = crafted(analysis, [[1, 1, 1]] * 3, sd=0)
    trivial = np.zeros_like(result.trivial)
    trivial[: len(trivial) // 2 + 1] = ~np.eye(3, dtype=bool)
    text = words.about_studies(dataclasses.replace(result, trivial=trivial), result.relations())
    assert text == "ward, k = 3: most scores compare a single block, or noise alone, and say nothing about studies."
    trivial[0] = False
    assert "score about 1.00" in words.about_studies(dataclasses.replace(result, trivial=trivial), None)


def test_equal_pairs_are_told_once(analysis):
    result = crafted(analysis, [[1, 1], [1, 1]], sd=0)
    assert words.about_studies(result, None) == "ward, k = 3: all pairs of studies score about 1.00."
    below = crafted(analysis, [[1, -0.001], [0.5, 1]], sd=0)
    assert words.about_studies(below, None).endswith("a predicts b worst (0.00).")  # not -0.00
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
        ([("a", "0", "b", 0.9, HOLDS)], "Clusters in other studies: 1 hold."),
        (
            [("a", "0", "b", 0.9, HOLDS), ("a", "1", "b", 0.3, WEAK), ("a", "2", "b", 0.3, NOT_ABOVE),
             ("a", "3", "b", 0.3, words.TOO_FEW), ("b", "3", "a", 0.3, words.NO_SCORE), ("b", "0", "a", 0.9, HOLDS)],
            "Clusters in other studies: 2 hold, 1 hold weakly, 1 no better than data without clusters, 1 undecided, "
            "1 without a score.",
        ),
        (
            [("a", "0", "b", 0.9, NOT_COMPARED), ("a", "1", "b", 0.3, NOT_COMPARED)],
            "The weakest is cluster 1 of a in b, with a local score of 0.30.",
        ),
        ([("a", "0", "b", 0.9, words.UNTESTED), ("a", "noise", "b", 0.9, words.NOISE)], ""),
        ([("a", "0", "b", np.nan, NOT_COMPARED)], ""),
    ],
    ids=["one", "all kinds", "not compared", "untested", "without a mean"],
)  # fmt: skip
def test_clusters_in_words(rows, text):
    assert words.about_clusters(table(*rows)) == text


def test_without_clusters_nothing_is_said_of_them():
    assert words.about_clusters(pd.DataFrame()) == ""
    assert words.about_presence(pd.DataFrame(columns=["train", "cluster", "test", "word"])) == ""


def test_presence_in_words():
    rows = [("a", "0", "b", "present", 30), ("a", "1", "b", "absent", 0), ("b", "0", "a", "present", 30)]
    frame = pd.DataFrame([*rows, ("a", "new", "b", "new", 12)], columns=["train", "cluster", "test", "word", "n_like"])
    assert words.about_presence(frame) == (
        "Clusters in other studies: 2 present, 1 absent. b has 12 samples like no cluster of a."
    )
    assert words.about_presence(frame.drop(columns="n_like")) == "Clusters in other studies: 2 present, 1 absent."


def test_more_collections_are_asked_for_where_they_are_too_few():
    table = pd.DataFrame(
        {"verdict": [words.TOO_FEW, words.TOO_FEW, words.NOT_ABOVE, words.NOISE], "qvalue": [0.1, 0.1, 0.9, np.nan]}
    )
    assert words.about_resolution(table) == (
        "2 clusters score above all simulated ones, of which there are too few for a verdict. 59 simulated collections "
        "(--null-collections) would be enough."
    )
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
        "Scores have two modes: a → b (0.40 and 0.90). The clusterer seems to alternate between two solutions, so look "
        "at the distributions, not at intervals.",
        f"b → c scores 0.50 as the studies are, far from the mean over resamples, {mean:.2f}.",
    ]
    verdict = cr.Report(changed).facts["verdict"]
    assert [item["kind"] for item in verdict] == ["studies", "caution", "caution"]
    for pair, others in (((2, 1), "1 more pair differs, too."), ((2, 0), "2 more pairs differ, too.")):
        estimate[pair] = 0.6
        assert words.cautions(dataclasses.replace(changed, estimate=estimate.copy()))[1].endswith(f"; {others}")


def test_lists_are_joined():
    assert [words.joined(list("abc"[:n])) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


# ---------------------------------------------------------------------------------------------------------------------
# studies that differ


def differences(lacks=(), blurred=()):
    """Three studies of 100 samples in two clusters; those named differ."""
    names = ("a", "b", "c")
    return StudyDifferences(
        clusterer="ward",
        names=names,
        counts=np.array([[3, 97] if name in lacks else [40, 60] for name in names]),
        counts_elsewhere=np.array([[80, 120]] * 3),
        lacks_pvalue=np.array([[0.001 if name in lacks else 1.0, 1.0] for name in names]),
        unexplained=np.full(3, 0.2),
        blurred_pvalue=np.array([0.01 if name in blurred else 1.0 for name in names]),
        provenance=Provenance(0),
    )


NOWHERE = pd.DataFrame(columns=["train", "cluster", "test", "word"])


def test_a_study_that_lacks_a_cluster_is_named_with_both_shares():
    text = words.about_differences(differences(lacks=["b"]), ("a", "b", "c"), NOWHERE)
    assert text == "b has few samples of a cluster of the other studies, 3 % against 40 % there."
    text = words.about_differences(differences(blurred=["c"]), ("a", "b", "c"), NOWHERE)
    assert text == "In c the clusters of the other studies are blurred: no separate groups."


def test_a_study_that_lacks_a_cluster_is_not_called_blurred():
    text = words.about_differences(differences(lacks=["b"], blurred=["b"]), ("a", "b", "c"), NOWHERE)
    assert "blurred" not in text


def test_that_no_study_differs_is_said_unless_a_cluster_is_absent():
    everywhere, none = ("a", "b", "c"), differences()
    absent = pd.DataFrame([("a", "0", "b", "absent")], columns=NOWHERE.columns)
    assert words.about_differences(none, everywhere, NOWHERE) == "No study lacks a cluster that the other studies have."
    assert words.about_differences(none, everywhere, absent) == ""
    assert words.about_differences(None, everywhere, NOWHERE) == ""


def test_of_studies_that_were_not_asked_about_nothing_is_said():
    assert words.about_differences(differences(lacks=["b"]), ("a",), NOWHERE) == ""
    assert words.about_differences(differences(lacks=["b"]), ("b",), NOWHERE).startswith("b has few samples")
    assert words.about_differences(differences(), ("b",), NOWHERE) == ""


def test_differences_are_on_the_page_in_the_terminal_and_in_markdown(analysis):
    names = dict(zip("abc", analysis.names, strict=True))
    differs = dataclasses.replace(differences(lacks=["b"]), names=tuple(names.values()))
    report = cr.Report(dataclasses.replace(analysis, differences=differs))
    sentence = f"{names['b']} has few samples of a cluster of the other studies, 3 % against 40 % there."
    for text in (report.to_html(), report.to_markdown(), repr(report)):
        assert sentence in text
    assert report.facts["answer"]["differs"] == [names["b"]]
    assert "No study can be said to stand apart" not in repr(report)
