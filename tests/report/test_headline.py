"""The answer in sentences: one for every degree, short, without contradictions, and what to do next."""

from __future__ import annotations

import dataclasses
import itertools
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.report.samples import candidate, choice, cohorts_named

import clustrep as cr
from clustrep.results.analysis import PRESENCE
from clustrep.results.choice import Best
from clustrep.results.headline import Evidence, headline_of, nested_levels, p_text
from clustrep.results.obstacles import Obstacle, nearest_obstacle, obstacle_of
from clustrep.results.verdict import ONE_PIECE, SEPARATED, STRUCTURED, Verdict, verdict_of

NOWHERE = pd.DataFrame(columns=list(PRESENCE))
MOST_WORDS = 25


def sentences(text):
    return re.split(r"(?<=[.!?…])\s+(?=[A-Z0-9])", text)


def too_long(text):
    """Sentences of more than 25 words; signs such as = and → are no words."""
    return [s for s in sentences(text) if sum(bool(re.search(r"\w", word)) for word in s.split()) > MOST_WORDS]


@pytest.fixture(scope="module")
def gaps():
    """Gaps between three groups, and none."""
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [9, 0], [0, 9]])
    grouped = [rng.normal(size=(60, 2)) + centres[rng.integers(3, size=60)] for _ in range(3)]
    plain = [rng.normal(size=(60, 2)) for _ in range(3)]
    found, none = (cr.separation(KMeans(n_init=3), tables, n_clusters=[2, 3, 4], rng=0) for tables in (grouped, plain))
    return dataclasses.replace(found, clusterer="ward"), dataclasses.replace(none, clusterer="ward")


def told(chosen, separations=(), obstacle=None, presence=NOWHERE):
    verdict = verdict_of(chosen, separations)
    return verdict, headline_of(Evidence(verdict, chosen, separations, obstacle, presence))


def test_separated_groups(gaps):
    verdict, said = told(choice(adjusted=[1, 1, 1], ks=(3, 2, 4)), [gaps[0]])
    assert (verdict.degree, verdict.n_clusters) == (SEPARATED, 3)
    depth = 100 * gaps[0].depth[1]
    beside = "there are hardly any held-out samples" if depth >= 99.5 else f"there are {depth:.0f} % fewer held-out"
    assert [item.kind for item in said] == [SEPARATED, "sure", "reason", "next"]
    assert said[0].text == (
        "3 separated groups: the gaps between them were found again in studies that did not define them."
    )
    assert said[1].text == "The gaps have p < 0.001. ward, k = 3 shows them and has ARI 0.90 [0.80, 1.00]."
    assert said[2].text.startswith(f"Half-way between neighbouring clusters {beside}")


def test_structure_without_gaps(gaps):
    _, said = told(choice(adjusted=[0.3, 0.01, 1]), [gaps[1]])
    assert said[0] == (
        STRUCTURED,
        "Structure without gaps: the clusters are a convenient cut of a continuum; ward, k = 3 replicates best of what "
        "shows it (ARI 0.80).",
    )
    assert said[1].text == "Data in one piece do not explain its score, ARI 0.80 [0.70, 0.90] (adjusted p = 0.01)."
    assert re.fullmatch(r"No gap between clusters was found again in other studies \(p = \S+\)\.", said[2].text)
    _, said = told(choice(adjusted=[0.01, 0.5, 1], rivals=(1, 2)), [gaps[1]])
    assert said[0].text.endswith("; ward, k = 2 replicates best (ARI 0.90).")
    assert said[1].text.endswith(" Not distinguishable from it: ward, k = 3 (0.80), ward, k = 4 (0.70).")


def test_significant_gaps_that_separate_nothing_are_not_called_missing(gaps):
    adjusted = np.full_like(gaps[1].adjusted, 0.0004)
    _, said = told(choice(adjusted=[0.3, 0.01, 1]), [dataclasses.replace(gaps[1], adjusted=adjusted)])
    assert said[2].text == (
        "Thinly populated places between some clusters were found again in other studies (p < 0.001), but no "
        "clustering is separated by gaps as a whole."
    )


def test_one_piece_is_an_answer(gaps):
    verdict, said = told(choice(adjusted=[0.3, 0.2, 1]), [gaps[1]])
    assert verdict.n_clusters == 1
    assert said[0] == (ONE_PIECE, "One piece: no structure beyond what data without groups explain.")
    assert said[1].text == (
        "The cut into 2 that repeats best, by ward, scores ARI 0.90 [0.80, 1.00]. No cut is above such data (smallest "
        "adjusted p = 0.2)."
    )


def test_what_was_not_looked_at_is_not_known(gaps):
    _, said = told(choice())
    assert said[0] == ("unknown", "ward, k = 2 replicates best: ARI 0.90 [0.80, 1.00].")
    assert said[1].text == "Whether there is structure is not known: nothing was compared with data in one piece."
    _, said = told(choice(), [gaps[1]])
    assert "No gap between clusters was found again" in said[1].text
    _, said = told(choice(adjusted=[0.01, 1, 1]))
    assert said[0].text == "Structure: ward, k = 2 replicates best (ARI 0.90)."
    assert said[-2].text == "Gaps between clusters were not looked for."


def nested(ks, scores, levels, focus):
    candidates = tuple(candidate(k, score) for k, score in zip(ks, scores, strict=True))
    chosen = dataclasses.replace(choice(), candidates=candidates)
    return Verdict(SEPARATED, focus, candidates[ks.index(focus)], None, levels, 0.001), chosen


@pytest.mark.parametrize(
    ("scores", "levels", "focus", "named"),
    [
        ((0.99, 0.6, 0.7, 0.75, 0.95, 0.6), (2, 3, 4, 5), 6, [2]),
        ((0.99, 0.6, 0.7, 0.75, 0.95, 0.6), (3, 6), 2, [6]),
        ((0.5, 0.99, 0.8, 0.7, 0.6, 0.5), (2,), 3, []),  # any two of three groups can be joined
    ],
    ids=["coarser", "finer", "not nested"],
)
def test_levels_are_named_where_studies_agree_on_them(scores, levels, focus, named):
    assert nested_levels(*nested([2, 3, 4, 5, 6, 7], scores, levels, focus)) == named


def test_both_levels_are_in_the_headline():
    """Two groups of two."""
    rng = np.random.default_rng(1)
    centres = np.array([[0, 0], [7, 0], [60, 0], [67, 0]])
    tables = {name: rng.normal(size=(120, 2)) + centres[rng.integers(4, size=120)] for name in "abc"}
    made = cr.analyse(
        {"kmeans": KMeans(n_init=5)}, tables, n_clusters=range(2, 6), n_resamples=5, null=None, train=(), rng=0
    )
    first = made.headline[0].text
    assert first.startswith(
        ("4 separated groups within 2 larger ones: ", "2 separated groups, divided further into 4: ")
    )
    assert first.startswith(f"{made.n_clusters} separated groups")


def test_a_study_in_the_way_is_named_with_what_to_try():
    obstacle = Obstacle("ward, k = 2", "gamma", "trivial", 0.4)
    _, said = told(choice(best=None), obstacle=obstacle)
    assert said[0] == ("unknown", "No answer: no score can be relied on.")
    assert ("caution", "gamma is put into a single cluster in 40 % of resamples (ward, k = 2).") in said
    assert said[-1] == ("next", "Run again without gamma, which may lack these clusters, or with another clusterer.")


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
    assert every.sentence == "Every study is put into a single cluster in at least 40 % of resamples (ward, k = 2)."
    assert "without" not in every.next_step
    failing = nearest_obstacle(comparison_with(failed=[(2, 7)]))
    assert failing.sentence == "c can't be clustered in 70 % of resamples (ward, k = 2)."
    assert failing.next_step == "Run again with fewer clusters, with another clusterer, or without c."


def test_no_best_is_never_said_without_the_study():
    made = comparison_with(trivial=[(1, 4)])
    with pytest.raises(
        cr.errors.NoBest, match=r"b is put into a single cluster in 40 % of resamples .* Run again without b"
    ):
        made.best()
    for text in (str(made.choice()), repr(made)):
        assert "b is put into a single cluster in 40 % of resamples (ward, k = 2). Run again without b" in text


def test_an_absent_cluster_is_what_to_check_next(gaps):
    rows = pd.DataFrame([("a", "0", "b", "present"), ("a", "1", "c", "absent")], columns=list(PRESENCE))
    _, said = told(choice(adjusted=[1, 1, 1]), [gaps[0]], presence=rows)
    assert said[-1] == ("next", "Check whether c should have cluster 1 of a, which is absent there.")


@pytest.mark.parametrize("best", [0, 1, None])
@pytest.mark.parametrize("with_gaps", [None, 0, 1])
@pytest.mark.parametrize("adjusted", [None, (0.01, 0.5, 1), (0.5, 0.01, 0.02), (0.5, 1, 1)])
def test_every_answer_is_short_whole_and_without_but(gaps, best, with_gaps, adjusted):
    separations = [] if with_gaps is None else [gaps[with_gaps]]
    many = tuple(candidate(k) for k in range(3, 10))
    for obstacle, n_rivals in itertools.product(
        (None, Obstacle("ward, k = 2", "gamma", "failed", 0.6, "x y " * 40)), (0, 7)
    ):
        chosen = choice(best=best, adjusted=adjusted)
        if chosen.best is not None:
            top = {name: value for name, value in vars(chosen.best).items() if name != "rivals"}
            chosen = dataclasses.replace(chosen, best=Best(**top, rivals=many[:n_rivals]))
        verdict, said = told(chosen, separations, obstacle)
        text = " ".join(item.text for item in said)
        assert [s for item in said for s in too_long(item.text)] == []
        assert "But " not in text
        assert "nan" not in text
        assert said[-1].kind == "next"
        assert said[0].kind == (verdict.degree or "unknown")
        if verdict.degree in (SEPARATED, STRUCTURED):
            assert verdict.focus.label in text


@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("null", [None, "gaussian"])
def test_summaries_of_real_analyses_are_short(seed, null):
    """Groups of any number and distance, studies that lack some, small and many clusters."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(1 + seed % 4, 3)) * rng.choice([0, 2, 8])
    tables = {}
    for name in ("mainz", "transbig", "vdx", "upp")[: 2 + seed % 3]:
        present = centres[: max(1, rng.integers(len(centres) + 1))]
        tables[name] = rng.normal(size=(25, 3)) + present[rng.integers(len(present), size=25)]
    clusterers = {"kmeans": KMeans(n_init=2), "ward": AgglomerativeClustering()}
    made = cr.analyse(clusterers, tables, n_clusters=[2, 3, 12], null=null, n_null=19, n_resamples=6, rng=seed)
    report = cr.Report(made)
    verdict = report.facts["verdict"]
    assert [s for item in verdict for s in too_long(item["text"])] == []
    assert verdict[-1]["kind"] == "next"
    assert verdict[0]["text"] == made.headline[0].text == repr(made).splitlines()[1] == repr(report).splitlines()[0]
    assert f" {verdict[0]['text']}\n" in report.to_markdown().replace("\\", "")
    answer = report.facts["answer"]
    assert (answer["degree"], answer["n_clusters"]) == (made.degree, made.n_clusters)
    if made.focus is not None:  # what is shown below is what was chosen above
        assert answer["looked_at"]["clusterer"] == made.focus.clusterer
        sections = {section["id"]: section for section in report.facts["sections"]}
        assert sections["pairs"]["text"][0].startswith(f"Shown first: {made.focus.label}.")
        titles = [chart["title"] for chart in sections["gaps"]["charts"]]
        assert all(made.focus.label in title for title in titles)


def test_p_values_have_two_digits():
    assert [p_text(p) for p in (0.0123, 1e-9, 0.5)] == ["p = 0.012", "p < 0.001", "p = 0.5"]
