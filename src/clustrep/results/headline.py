"""The answer of an analysis in sentences: the same in the terminal, on the page and in Markdown.

First the answer, then how sure it is, then the reason, then what to do next; at most 25 words a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from clustrep.results.base import FALSE_FINDING
from clustrep.results.choice import Candidate, Choice
from clustrep.results.groups import Separation
from clustrep.results.obstacles import Obstacle, percent
from clustrep.results.presence_words import ABSENT
from clustrep.results.verdict import ONE_PIECE, SEPARATED, STRUCTURED, Verdict
from clustrep.tables.agreement import shown
from clustrep.text import listing

# Kinds of sentences: the degree for the first, then these.
UNKNOWN, SURE, REASON, CAUTION, NEXT = "unknown", "sure", "reason", "caution", "next"
MOST_RIVALS = 3
NEARLY_EMPTY = 0.995  # the depth of a gap
FOUND_AGAIN = "found again in studies that did not define them"


class Said(NamedTuple):
    """A sentence or two, and what they are about: see the kinds above."""

    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the sentences are made of.

    Attributes
    ----------
    verdict : Verdict
    choice : Choice
    separations : sequence of Separation
        Empty where gaps were not looked for.
    obstacle : Obstacle or None
        What keeps the configuration in focus, or all, from being called the best.
    presence : DataFrame
        Clusters in other studies: see `Analysis.presence`; may be empty.
    """

    verdict: Verdict
    choice: Choice
    separations: Sequence[Separation]
    obstacle: Obstacle | None
    presence: pd.DataFrame


def headline_of(evidence: Evidence) -> tuple[Said, ...]:
    """Return the answer, how sure it is, the reason, warnings and what to do next."""
    by_degree = {SEPARATED: _separated, STRUCTURED: _structured, ONE_PIECE: _one_piece, None: _unknown}
    said = by_degree[evidence.verdict.degree](evidence)
    if evidence.obstacle is not None:
        said.append(Said(CAUTION, evidence.obstacle.sentence))
    said.append(Said(NEXT, _next(evidence)))
    return tuple(said)


# ---------------------------------------------------------------------------------------------------------------------
# one for every degree


def _separated(evidence: Evidence) -> list[Said]:
    verdict, separation = evidence.verdict, evidence.verdict.separation
    assert separation is not None
    place = _place(verdict, separation)
    first = f"{_groups(evidence, int(separation.groups_by_k[place]))}: the gaps between them were {FOUND_AGAIN}."
    if verdict.focus is None:
        score = f"Clusters of {separation.clusterer} have no score, because some fits failed."
    else:
        score = f"{verdict.focus.label} shows them and has {_score(evidence, verdict.focus)}."
    depth, reason = float(separation.depth[place]), ""
    if not np.isnan(depth):
        fewer = f"there are {percent(depth)} fewer" if depth < NEARLY_EMPTY else "there are hardly any"
        than = " than beside the gap" if depth < NEARLY_EMPTY else ""
        reason = f"Half-way between neighbouring clusters {fewer} held-out samples{than}."
    return _said((SEPARATED, first), (SURE, f"The gaps have {p_text(verdict.pvalue)}. {score}"), (REASON, reason))


def _groups(evidence: Evidence, n_groups: int) -> str:
    """Name the groups that were chosen, and the other levels where they are nested."""
    number = evidence.verdict.n_clusters or n_groups
    levels = nested_levels(evidence.verdict, evidence.choice)
    finer, coarser = [str(n) for n in levels if n > number], [str(n) for n in levels if n < number]
    groups = f"{number} separated groups"
    if number != n_groups and not levels:
        groups = f"{number} clusters in {n_groups} separated groups"
    if coarser:
        groups += f" within {' and '.join(coarser)} larger ones"
    if finer:
        groups += f", divided further into {' and '.join(finer)}"
    return groups


def nested_levels(verdict: Verdict, choice: Choice) -> list[int]:
    """Return the further numbers of groups that are levels of their own.

    Of three groups any two can be joined, with a gap to the third: two is a level only if studies agree about which are
    joined. So a level scores higher than the numbers of clusters tried next to it.
    """
    focus = verdict.focus
    if focus is None:
        return []
    scores = {c.n_clusters: c.score for c in choice.candidates if c.clusterer == focus.clusterer and c.n_clusters}
    ks = sorted(k for k in scores if k is not None)
    levels = []
    for place, k in enumerate(ks):
        beside = [*ks[max(place - 1, 0) : place], *ks[place + 1 : place + 2]]
        if k in verdict.levels and beside and all(scores[k] > scores[other] for other in beside):
            levels.append(k)
    return levels


def _place(verdict: Verdict, separation: Separation) -> int:
    """Return the position of the clustering in focus among those that were looked at for gaps."""
    focus = verdict.focus
    if focus is not None and focus.n_clusters in separation.n_clusters:
        return separation.n_clusters.index(focus.n_clusters)
    return max(separation.chosen, 0)


def _structured(evidence: Evidence) -> list[Said]:
    focus, choice = evidence.verdict.focus, evidence.choice
    assert focus is not None
    assert choice.against is not None
    good = f"{focus.label} {_how_good(evidence, focus)}"
    first = f"Structure: {good}."
    if evidence.separations:
        first = f"Structure without gaps: the clusters are a convenient cut of a continuum; {good}."
    p = p_text(float(choice.against.adjusted[choice.place(focus)]))
    sure = f"Data in one piece do not explain its score, {_score(evidence, focus)} (adjusted {p})."
    rivals = _rivals(evidence, focus)
    return _said((STRUCTURED, first), (SURE, f"{sure} {rivals}".strip()), (REASON, _no_gaps(evidence)))


def _how_good(evidence: Evidence, focus: Candidate) -> str:
    choice = evidence.choice
    score = f"({shown(choice.agreement)} {focus.score:z.2f})"
    if len(choice.candidates) == 1:
        return f"replicates {score}"
    if choice.best is not None and choice.place(choice.best) == choice.place(focus):
        return f"replicates best {score}"
    return f"replicates best of what shows it {score}"


def _one_piece(evidence: Evidence) -> list[Said]:
    focus, p = evidence.verdict.focus, p_text(evidence.verdict.pvalue)
    first = "One piece: no structure beyond what data without groups explain."
    if focus is None:
        return _said((ONE_PIECE, first), (SURE, f"The smallest adjusted p-value is {p}."), (REASON, _no_gaps(evidence)))
    into = "cut" if focus.n_clusters is None else f"cut into {focus.n_clusters}"
    which = f"The {into} that repeats best" if len(evidence.choice.candidates) > 1 else f"The {into}"
    score = f"{which}, by {focus.clusterer}, scores {_score(evidence, focus)}."
    sure = f"{score} No cut is above such data (smallest adjusted {p})."
    return _said((ONE_PIECE, first), (SURE, sure), (REASON, _no_gaps(evidence)))


def _unknown(evidence: Evidence) -> list[Said]:
    focus = evidence.verdict.focus
    if focus is None or evidence.obstacle is not None:
        why = "no configuration has a score for every pair of studies" if focus is None else "no score can be relied on"
        return _said((UNKNOWN, f"No answer: {why}."), (REASON, _no_gaps(evidence)))
    gaps = f" {_no_gaps(evidence)}" if evidence.separations else ""
    many = len(evidence.choice.candidates) > 1
    first = f"{focus.label} {'replicates best' if many else 'has'}: {_score(evidence, focus)}."
    first = first if many else first.replace("has: ", "has ")
    reason = f"Whether there is structure is not known: nothing was compared with data in one piece.{gaps}"
    return _said((UNKNOWN, first), (SURE, _rivals(evidence, focus)), (REASON, reason))


def _said(*pairs: tuple[str, str]) -> list[Said]:
    return [Said(kind, text) for kind, text in pairs if text]


# ---------------------------------------------------------------------------------------------------------------------
# parts of sentences


def _score(evidence: Evidence, candidate: Candidate) -> str:
    low_high = "" if np.isnan(candidate.low) else f" [{candidate.low:z.2f}, {candidate.high:z.2f}]"
    return f"{shown(evidence.choice.agreement)} {candidate.score:z.2f}{low_high}"


def _rivals(evidence: Evidence, focus: Candidate) -> str:
    """Name what is not distinguishable from the best, where the best is what is looked at."""
    choice = evidence.choice
    if choice.best is None or not choice.best.rivals or choice.place(choice.best) != choice.place(focus):
        return ""
    rivals = [f"{rival.label} ({rival.score:z.2f})" for rival in choice.best.rivals]
    return f"Not distinguishable from it: {listing(rivals, MOST_RIVALS)}."


def _no_gaps(evidence: Evidence) -> str:
    if not evidence.separations:
        return "Gaps between clusters were not looked for."
    p = min(separation.overall_pvalue for separation in evidence.separations)
    return f"{no_groups_text(p)}."


def no_groups_text(pvalue: float) -> str:
    """Say that no groups are separated: no gap is significant, or those that are do not separate a clustering."""
    if not pvalue <= FALSE_FINDING:
        return f"No gap between clusters was found again in other studies ({p_text(pvalue)})"
    return (
        f"Thinly populated places between some clusters were found again in other studies ({p_text(pvalue)}), but no "
        "clustering is separated by gaps as a whole"
    )


def p_text(value: float) -> str:
    """Write a p-value with two digits, never 0.

    Examples
    --------
    >>> p_text(0.0371), p_text(0.00002), p_text(1.0), p_text(float("nan"))
    ('p = 0.037', 'p < 0.001', 'p = 1', 'p not known')
    """
    if np.isnan(value):
        return "p not known"
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def _next(evidence: Evidence) -> str:
    """Say what to do next: what to try where something is in the way, else what the answer is good for."""
    degree = evidence.verdict.degree
    if evidence.obstacle is not None and degree != SEPARATED:
        return evidence.obstacle.next_step
    if degree == SEPARATED:
        absent = evidence.presence[evidence.presence["word"] == ABSENT]
        if len(absent):
            row = absent.iloc[0]
            cluster = f"cluster {row['cluster']} of {row['train']}"
            return f"Check whether {row['test']} should have {cluster}, which is absent there."
        return "Describe the groups by their features; the table of groups has that of every sample."
    if degree == STRUCTURED:
        return "Call the clusters a convention, not types; a score along the continuum may serve better."
    if degree == ONE_PIECE:
        return "Treat the samples as a continuum, or try features in which groups are expected, or more samples."
    return "Compare with data in one piece, which says whether there is any structure at all."
