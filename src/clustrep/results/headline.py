"""The answer of an analysis in sentences: the same in the terminal, on the page and in Markdown.

First the verdict, then how sure it is, then the reason, then what to do next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clustrep.findings.result import CONTINUOUS, INCONCLUSIVE, NO_EVIDENCE, SEPARATED, Findings
from clustrep.findings.sentences import depth_sentence, missing_sentences, verdict_sentence
from clustrep.findings.verdict import focus_of
from clustrep.results.choice import Candidate, Choice
from clustrep.results.obstacles import Obstacle
from clustrep.tables.agreement import shown
from clustrep.text import listing

# Kinds of sentences: the verdict for the first, then these.
SURE, REASON, CAUTION, NEXT = "sure", "reason", "caution", "next"
MOST_RIVALS = 3
NEXT_STEPS = {
    SEPARATED: "Describe the clusters by their features; the table of labels has the cluster of every sample.",
    CONTINUOUS: "Do not interpret these clusters as discrete types. Consider a continuous score.",
    NO_EVIDENCE: "Add samples, or use features in which clusters are expected.",
    INCONCLUSIVE: "",
}


class Said(NamedTuple):
    """A sentence or two, and what they are about: see the kinds above."""

    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the sentences are made of.

    Attributes
    ----------
    findings : Findings
    choice : Choice
    obstacle : Obstacle or None
        What keeps the configuration in focus, or all, from being called the best.
    """

    findings: Findings
    choice: Choice
    obstacle: Obstacle | None


def headline_of(evidence: Evidence) -> tuple[Said, ...]:
    """Return the verdict, the best clusterer, the reasons, cautions and what to do next."""
    findings, choice = evidence.findings, evidence.choice
    focus = focus_of(findings, choice)
    partition = "" if focus is None else f"{focus.label}, {shown(choice.agreement)} {focus.score:z.2f}"
    said = [Said(findings.verdict, verdict_sentence(findings, partition))]
    if focus is not None:
        said.append(Said(SURE, f"{_best(findings, choice, focus)} {_rivals(choice, focus)}".strip()))
    said += [
        Said(REASON, text) for text in (depth_sentence(findings), *missing_sentences(findings), findings.alignment)
    ]
    if evidence.obstacle is not None:
        said.append(Said(CAUTION, evidence.obstacle.sentence))
    said.append(Said(NEXT, _next(evidence)))
    return tuple(each for each in said if each.text)


def _best(findings: Findings, choice: Choice, focus: Candidate) -> str:
    interval = "" if np.isnan(focus.low) else f", 95 % interval {focus.low:z.2f} to {focus.high:z.2f}"
    score = f"replicability ({shown(choice.agreement)}) {focus.score:z.2f}{interval}"
    if len(choice.candidates) == 1:
        return f"Clusterer: {focus.label}; {score}."
    if findings.verdict == SEPARATED and focus.n_clusters == findings.n_clusters:
        same = [each for each in choice.candidates if each.n_clusters == focus.n_clusters]
        which = "Best clusterer" if len(same) > 1 or choice.best is focus else "Clusterer with as many clusters"
        return f"{which}: {focus.label}; {score}."
    return f"Best clusterer: {focus.label}; {score}."


def _rivals(choice: Choice, focus: Candidate) -> str:
    """Name what is not distinguishable from the best, where the best is what is looked at."""
    if choice.best is None or not choice.best.rivals or choice.place(choice.best) != choice.place(focus):
        return ""
    rivals = [f"{rival.label} ({rival.score:z.2f})" for rival in choice.best.rivals]
    return f"Not distinguishable from it: {listing(rivals, MOST_RIVALS)}."


def _next(evidence: Evidence) -> str:
    """Say what to do next: what to try where something is in the way, else what the answer is good for."""
    verdict = evidence.findings.verdict
    if evidence.obstacle is not None and verdict != SEPARATED:
        return evidence.obstacle.next_step
    return NEXT_STEPS[verdict]
