"""Sentences about single results: studies, clusters, cautions and failures."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.report.samples import ALIKE, ONE_APART, crafted

import clustrep as cr
from clustrep.algorithms.choice import Candidate
from clustrep.report import words


def test_a_clusterer_without_k_is_named_without():
    assert words.named(Candidate("dbscan", None, 0.5, 0.4, 0.6)) == "dbscan"


def test_two_studies(analysis):
    result = crafted(analysis, [[0.9, 0.5], [0.7, 0.9]])
    assert words.about_studies(result) == ("ward, k = 3: b predicts a best (0.70), a predicts b worst (0.50).")


def test_heterogeneity_is_that_of_the_result(analysis):
    result = crafted(analysis, ONE_APART)
    text = words.about_studies(result)
    assert text.endswith(f"worst (0.20). Heterogeneity between pairs: I² = {100 * result.heterogeneity:.0f} %.")
    assert result.heterogeneity > 0.9
    assert crafted(analysis, ALIKE, sd=0.05).heterogeneity < 0.5


def test_clusters_that_do_not_repeat_within_their_study(analysis):
    result = crafted(analysis, [[0.3, 0.3, 0.3], [0.3, 0.9, 0.3], [0.3, 0.3, 0.2]])
    text = words.about_studies(result)
    assert " Clusters do not replicate within a (0.30), c (0.20)." in text


@pytest.mark.parametrize(("agreement", "is_said"), [("ari", True), ("ami", True), ("ami_max", True), ("ri", False)])
def test_half_way_from_chance_is_known_for_agreements_that_are_adjusted_for_it(analysis, agreement, is_said):
    low_within_a = crafted(analysis, [[0.3, 0.3, 0.3], [0.3, 0.9, 0.3], [0.3, 0.3, 0.9]])
    result = dataclasses.replace(low_within_a, agreement=agreement)
    assert ("do not replicate within" in words.about_studies(result)) == is_said


def test_trivial_scores_say_nothing_about_studies(analysis):
    result = crafted(analysis, [[1, 1, 1]] * 3, sd=0)
    trivial = np.zeros_like(result.trivial)
    trivial[: len(trivial) // 2 + 1] = ~np.eye(3, dtype=bool)
    text = words.about_studies(dataclasses.replace(result, trivial=trivial))
    assert text == "ward, k = 3: most scores are of a single cluster, or of noise alone, and do not compare studies."
    trivial[0] = False
    assert "score about 1.00" in words.about_studies(dataclasses.replace(result, trivial=trivial))


def test_equal_pairs_are_told_once(analysis):
    result = crafted(analysis, [[1, 1], [1, 1]], sd=0)
    assert words.about_studies(result) == "ward, k = 3: all pairs of studies score about 1.00."
    below = crafted(analysis, [[1, -0.001], [0.5, 1]], sd=0)
    assert words.about_studies(below).endswith("a predicts b worst (0.00).")  # not -0.00
    empty = crafted(analysis, [[1, np.nan], [np.nan, 1]])
    assert words.about_studies(empty) == "ward, k = 3: no pair of studies has a score."


def test_one_resample_explains_nothing(analysis):
    result = crafted(analysis, ALIKE, n=1)
    assert "nan" not in words.about_studies(result)


def test_the_lowest_local_score_is_named(parts):
    frames = {test: local.by_cluster() for test, local in parts["local"].items()}
    lowest = min(float(frame["mean"].min()) for frame in frames.values())
    text = words.about_clusters(list(parts["local"].values()))
    assert text.startswith("The lowest local score is that of cluster ")
    assert text.endswith(f": {lowest:.2f}.")
    assert words.about_clusters([]) == ""


def test_cautions_of_two_modes_and_far_estimates(analysis):
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
        "Scores have two modes: a → b (0.40 and 0.90). The clusterer may alternate between two solutions: look at the "
        "distributions, not at the intervals.",
        f"The observed score of b → c, 0.50, is far from the mean over resamples, {mean:.2f}.",
    ]
    verdict = cr.Report(changed).facts["verdict"]
    assert [item["kind"] for item in verdict] == ["studies", "caution", "caution"]
    for pair, others in (((2, 1), "1 more pair differs, too."), ((2, 0), "2 more pairs differ, too.")):
        estimate[pair] = 0.6
        assert words.cautions(dataclasses.replace(changed, estimate=estimate.copy()))[1].endswith(f"; {others}")


def test_lists_are_joined():
    assert [words.joined(list("abc"[:n])) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
