"""The answer in sentences: one for every verdict, without contradictions, and what to do next."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.plots.samples import findings_of
from tests.report.samples import candidate, choice, cohorts_named

import clustrep as cr
from clustrep.algorithms.choice import Best, Obstacle, nearest_obstacle, obstacle_of
from clustrep.analysis.headline import headline_of, headline_of_comparison
from clustrep.findings.result import VERDICTS
from clustrep.findings.verdict import decided

BOTH = findings_of([["found"] * 3] * 2, [[10] * 3, [5] * 3], "abc")
ALONE = findings_of([["found"] * 3, ["found", "not found", "not found"]], [[10] * 3, [5, 0, 0]], "abc")
NONE = findings_of([["found"] * 3], [[10] * 3], "abc", verdict="inconclusive", reason="not tested")


@pytest.fixture(scope="module")
def pairs():
    made = cr.replicability(AgglomerativeClustering(), cohorts_named("a", "b", "c"), n_resamples=4, rng=0)
    return dataclasses.replace(made, distribution=made.distribution * np.arange(1, 10).reshape(3, 3) / 9)


def told(findings, chosen, obstacle=None, pairs=None):
    findings = decided(findings, chosen)
    return findings, headline_of(findings, chosen, obstacle, pairs)


def test_separated_clusters(pairs):
    _, said = told(BOTH, choice(), pairs=pairs)
    assert [item.kind for item in said] == ["separated", "sure", "reason", "studies", "studies", "next"]
    assert said[0].text == "2 separated clusters (p = 0.001), each found in all 3 studies."
    assert said[1].text == "Best clusterer: ward, k = 2; replicability (ARI) 0.90, 95 % interval 0.80 to 1.00."
    assert said[4].text == f"No outlier study. Heterogeneity between pairs: I² = {100 * pairs.heterogeneity:.0f} %."


def test_two_studies_are_both_studies():
    findings = findings_of([["found"] * 2] * 2, [[10] * 2, [5] * 2], "ab")
    assert told(findings, choice())[1][0].text == "2 separated clusters (p = 0.001), each found in both studies."


def test_the_clusterer_with_the_number_of_the_findings_is_in_focus():
    _, said = told(BOTH, choice(best=0, ks=(3, 2, 4)))
    assert said[1].text.startswith("Best clusterer with 2 clusters: ward, k = 2; replicability (ARI) 0.80,")


def test_a_score_of_another_number_of_clusters_is_named():
    """Else 2 clusters and the score of k = 4 stand side by side."""
    sentence = "This score is of {} clusters, not of the 2 that are separated."
    assert sentence.format(3) in told(BOTH, choice(ks=(3, 4, 5)))[1][1].text
    unknown = dataclasses.replace(choice(), candidates=(candidate(None),))
    resolution = dataclasses.replace(candidate(None), clusters_found=7.08)
    assert (
        sentence.format(7.08)
        in told(BOTH, dataclasses.replace(unknown, best=None, candidates=(resolution,)))[1][1].text
    )
    for chosen in (choice(), unknown):
        assert "This score" not in " ".join(item.text for item in told(BOTH, chosen)[1])


def test_a_cluster_of_one_study_alone():
    _, said = told(ALONE, choice())
    assert said[0].text == "2 separated clusters (p = 0.001): A in all 3 studies; B in a alone."
    assert "Cluster B (33 % of samples elsewhere) is not found in b (0 %), c (0 %)." in [item.text for item in said]


def test_a_low_score_of_studies_that_lack_clusters_is_explained_beside_it(pairs):
    _, said = told(ALONE, choice(), pairs=pairs)
    assert "0.90, 95 % interval 0.80 to 1.00. It is asked for 2 clusters in every study, also in b, c" in said[1].text
    assert said[1].text.endswith("as no two studies have all of them, this score says little.")
    two = findings_of([["found"] * 3, ["found", "merged", "not found"]], [[10] * 3, [5, 5, 0]], "abc")
    _, said = told(two, choice(), pairs=pairs)
    between = pairs.mean[[0, 1], [1, 0]].mean()
    assert said[1].text.endswith(f"also in c, where not all are found; ARI between the other studies is {between:.2f}.")
    for findings, chosen in ((BOTH, choice()), (ALONE, choice(ks=(3, 4, 5))), (NONE, choice())):
        assert "asked for" not in " ".join(item.text for item in told(findings, chosen, pairs=pairs)[1])


def test_a_study_that_lacks_a_cluster_is_no_obstacle():
    def kinds(findings, study):
        obstacle = Obstacle("ward, k = 2", study, "trivial", 0.5)
        return [item.kind for item in told(findings, choice(), obstacle)[1]]

    assert "caution" not in kinds(ALONE, "b")
    assert "caution" in kinds(ALONE, "a")
    assert "caution" in kinds(BOTH, "b")


def test_merged_and_split_clusters_are_not_called_found():
    findings = findings_of([["found"] * 2, ["merged", "found"]], [[10] * 2, [5] * 2], "ab")
    assert told(findings, choice())[1][0].text.endswith(", each found or merged in both studies.")
    findings = findings_of([["found"] * 2, ["split", "found"]], [[10] * 2, [5] * 2], "ab")
    assert told(findings, choice())[1][0].text.endswith(", each found or split in both studies.")


def test_a_small_p_of_a_score_below_its_null_mean_is_no_evidence():
    findings = dataclasses.replace(NONE, detectable=4.0)
    chosen = choice(adjusted=[0.01, 0.4, 1], excess=(-0.1, 0.1, 0.1))
    answer, said = told(findings, chosen)
    assert answer.verdict == "no evidence of clusters"
    assert answer.pvalue == chosen.against.smallest == 0.4
    assert chosen.chosen is None
    assert "p = 0.01" not in " ".join(item.text for item in said)


def test_continuous_structure():
    findings, said = told(NONE, choice(adjusted=[0.3, 0.01, 1]))
    assert findings.verdict == "continuous structure"
    assert said[0].text == (
        "Continuous structure: the partition replicates better than under the null model (ward, k = 3, ARI 0.80, "
        "p = 0.01 for score and separateness together), but no clusters are separated."
    )


def test_no_evidence_comes_with_what_would_have_been_found():
    findings, said = told(dataclasses.replace(NONE, detectable=4.2), choice(adjusted=[0.3, 0.25, 1]))
    assert findings.verdict == "no evidence of clusters"
    assert "(smallest adjusted p = 0.25)" in said[0].text
    assert "two equal clusters 4.2 sd apart would be found in 80 % of simulations" in said[0].text
    findings, said = told(dataclasses.replace(NONE, detectable=7.0), choice(adjusted=[0.3, 0.25, 1]))
    assert findings.verdict == "inconclusive"


def test_what_was_not_compared_is_inconclusive():
    findings, said = told(NONE, choice())
    assert findings.verdict == "inconclusive"
    assert said[0].text.startswith("Inconclusive: ")


def test_a_study_in_the_way_is_named_with_what_to_try():
    obstacle = Obstacle("ward, k = 2", "gamma", "trivial", 0.4)
    _, said = told(NONE, choice(best=None), obstacle=obstacle)
    assert ("caution", "gamma is put into a single cluster in 40 % of scores (ward, k = 2).") in said
    assert said[-1] == ("next", "Run again without gamma, which may lack these clusters, or with another clusterer.")


def test_a_comparison_alone_is_compared_with_its_null_distribution():
    texts = [item.text for item in headline_of_comparison(choice(adjusted=[0.3, 0.01, 1]), None)]
    assert texts[1] == (
        "ward, k = 3 replicates better than under the null model (score and separateness together, adjusted p = 0.01)."
    )
    texts = [item.text for item in headline_of_comparison(choice(adjusted=[0.3, 0.2, 1]), None)]
    assert texts[1] == "No partition exceeds the null model in score and separateness (smallest adjusted p = 0.2)."
    assert len(headline_of_comparison(choice(), None)) == 1


def comparison_with(trivial=(), failed=()):
    made = cr.compare({"ward": AgglomerativeClustering()}, cohorts_named("a", "b", "c"), n_clusters=[2], n_resamples=10)
    blocks, distribution = made.trivial.copy(), made.distribution.copy()
    blocks[...] = False
    for t, n in trivial:
        blocks[0, :n, :, t] = True
    found = made.clusters_found.copy()
    for s, n in failed:
        distribution[0, :, :n, s, :] = distribution[0, :, :n, :, s] = np.nan
        found[0, :n, s] = -1
    return dataclasses.replace(made, trivial=blocks, distribution=distribution, clusters_found=found)


def test_obstacles_are_found_in_the_scores():
    assert obstacle_of(comparison_with(), 0) is None
    assert nearest_obstacle(comparison_with(trivial=[(1, 4)])) == Obstacle("ward, k = 2", "b", "trivial", 0.4)
    every = nearest_obstacle(comparison_with(trivial=[(0, 8), (1, 4), (2, 10)]))
    assert every.sentence == "Every study is put into a single cluster in at least 40 % of scores (ward, k = 2)."
    assert "without" not in every.next_step
    failing = nearest_obstacle(comparison_with(failed=[(2, 7)]))
    assert failing.sentence == "c can't be clustered in 70 % of resamples (ward, k = 2)."
    assert failing.next_step == "Run again with fewer clusters, with another clusterer, or without c."


def test_no_best_is_never_said_without_the_study():
    made = comparison_with(trivial=[(1, 4)])
    with pytest.raises(cr.errors.NoBest) as caught:
        made.best()
    assert all("without b" in text for text in (str(caught.value), str(made.choice()), repr(made)))


@pytest.mark.parametrize("best", [0, 1, None])
@pytest.mark.parametrize("findings", [BOTH, ALONE, NONE], ids=["both", "alone", "none"])
@pytest.mark.parametrize("adjusted", [None, (0.01, 0.5, 1), (0.5, 0.01, 0.02), (0.5, 1, 1)])
def test_every_answer_has_a_verdict_and_no_contradiction(best, findings, adjusted):
    many = tuple(candidate(k) for k in range(3, 10))
    for obstacle, n_rivals in itertools.product(
        (None, Obstacle("ward, k = 2", "gamma", "failed", 0.6, "x y " * 40)), (0, 7)
    ):
        chosen = choice(best=best, adjusted=adjusted)
        if chosen.best is not None:
            top = {name: value for name, value in vars(chosen.best).items() if name != "rivals"}
            chosen = dataclasses.replace(chosen, best=Best(**top, rivals=many[:n_rivals]))
        answer, said = told(findings, chosen, obstacle)
        assert [item.kind for item in said if item.kind in VERDICTS] == [answer.verdict]
        assert not any("nan" in item.text for item in said)
        assert (" separated clusters (" in said[0].text) == (answer.verdict == "separated")


@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
@pytest.mark.parametrize("null", [None, "gaussian"])
def test_all_forms_of_real_analyses_begin_with_the_same_sentence(seed, null):
    """Clusters of any number and distance, studies that lack some, small and many clusters."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(1 + seed % 4, 3)) * rng.choice([0, 2, 8])
    tables = {}
    for name in ("mainz", "transbig", "vdx", "upp")[: 2 + seed % 3]:
        present = centres[: max(1, rng.integers(len(centres) + 1))]
        tables[name] = rng.normal(size=(25, 3)) + present[rng.integers(len(present), size=25)]
    clusterers = {"kmeans": KMeans(n_init=2), "ward": AgglomerativeClustering()}
    options = cr.RunOptions() if null is None else cr.RunOptions(null=null)
    n_null = 0 if null is None else 19
    made = cr.analyse(
        clusterers, tables, n_clusters=[2, 3, 12], n_null=n_null, n_resamples=6, rng=seed, options=options
    )
    report = cr.Report(made)
    verdict = report.facts["verdict"]
    assert verdict[0]["text"] == made.headline[0].text == repr(made).splitlines()[1] == repr(report).splitlines()[0]
    assert f" {verdict[0]['text']}\n" in report.to_markdown().replace("\\", "")
    answer = report.facts["answer"]
    assert (answer["verdict"], answer["n_clusters"]) == (made.verdict, made.n_clusters)
    if made.focus is not None:  # what is shown below is what was chosen above
        assert answer["focus"]["clusterer"] == made.focus.clusterer


@pytest.mark.parametrize(("ks", "is_said"), [((2, 3), True), ((2, 3, 4), False), ((3,), False)])
def test_the_largest_number_that_was_tried_is_not_taken_for_all_there_are(ks, is_said):
    findings = findings_of([["found"] * 2] * 3, [[10] * 2, [5] * 2, [4] * 2], "ab")
    said = told(findings, choice(best=0, ks=ks))[1]
    assert any("largest number of clusters" in item.text for item in said) == is_said
    assert (said[-1].text == "Run again with more clusters, such as 2 to 6.") == is_said
