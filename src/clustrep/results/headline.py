"""The answer of an analysis in sentences: the same in the terminal, on the page and in Markdown.

First the verdict, then how sure it is, then the reason, then what to do next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clustrep.findings.result import CONTINUOUS, INCONCLUSIVE, NO_EVIDENCE, SEPARATED, Findings
from clustrep.findings.sentences import (
    depth_sentence,
    missing_sentences,
    outlier_sentence,
    sentences_of,
    verdict_sentence,
)
from clustrep.findings.verdict import best_above, focus_of
from clustrep.results.choice import Candidate, Choice
from clustrep.results.obstacles import Obstacle
from clustrep.tables.agreement import shown
from clustrep.text import listing, p_text

# Kinds of sentences: the verdict for the first, then these.
SURE, REASON, STUDIES, CAUTION, NEXT = "sure", "reason", "studies", "caution", "next"
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
    heterogeneity : float, default=nan
        I² of the configuration in focus; NaN where it is not known.
    """

    findings: Findings
    choice: Choice
    obstacle: Obstacle | None
    heterogeneity: float = float("nan")


def headline_of(evidence: Evidence) -> tuple[Said, ...]:
    """Return the verdict, the best clusterer, the reasons, cautions and what to do next."""
    findings, choice = evidence.findings, evidence.choice
    focus = focus_of(findings, choice)
    partition = "" if focus is None else f"{focus.label}, {shown(choice.agreement)} {focus.score:z.2f}"
    said = [Said(findings.verdict, verdict_sentence(findings, partition))]
    if focus is not None and not choice.says_nothing:
        said.append(Said(SURE, f"{_best(findings, choice, focus)} {_rivals(choice, focus)}".strip()))
    said += [Said(REASON, text) for text in (depth_sentence(findings), *missing_sentences(findings))]
    said.append(Said(STUDIES, findings.alignment))
    studies = (outlier_sentence(findings), heterogeneity_sentence(evidence.heterogeneity))
    said.append(Said(STUDIES, " ".join(filter(None, studies))))
    if evidence.obstacle is not None:
        said.append(Said(CAUTION, evidence.obstacle.sentence))
    said.append(Said(NEXT, _next(evidence)))
    return tuple(each for each in said if each.text)


def headline_of_findings(findings: Findings) -> tuple[Said, ...]:
    """Return the verdict and its reasons: what findings without scores can show."""
    verdict, *reasons = sentences_of(findings)
    return Said(findings.verdict, verdict), *(Said(REASON, text) for text in reasons)


def headline_of_comparison(choice: Choice, obstacle: Obstacle | None) -> tuple[Said, ...]:
    """Return the best clusterer, its score beside the null distribution, and cautions: what scores alone can show."""
    said = []
    if choice.best is not None:
        said.append(
            Said(SURE, f"Best clusterer: {_score(choice, choice.best)}. {_rivals(choice, choice.best)}".strip())
        )
    said.append(Said(REASON, _beside_null(choice)))
    if obstacle is not None:
        said += [Said(CAUTION, obstacle.sentence), Said(NEXT, obstacle.next_step)]
    return tuple(each for each in said if each.text)


def heterogeneity_sentence(heterogeneity: float) -> str:
    """Write I²; empty where it is not known.

    Examples
    --------
    >>> heterogeneity_sentence(0.54)
    'Heterogeneity between pairs: I² = 54 %.'
    """
    return "" if np.isnan(heterogeneity) else f"Heterogeneity between pairs: I² = {100 * heterogeneity:.0f} %."


def _beside_null(choice: Choice) -> str:
    """Compare scores with their null distributions; empty without a null model."""
    if choice.against is None or choice.says_nothing:
        return ""
    above = best_above(choice)
    if above is None:
        return f"No score exceeds its null distribution (smallest adjusted {p_text(choice.against.smallest)})."
    p = p_text(float(choice.against.adjusted[choice.place(above)]))
    return f"{above.label} replicates better than under the null model (adjusted {p})."


def _best(findings: Findings, choice: Choice, focus: Candidate) -> str:
    """Name the configuration in focus; where it is not the best of all, for which number of clusters it is."""
    if len(choice.candidates) == 1:
        return f"Clusterer: {_score(choice, focus)}."
    is_best = choice.best is not None and choice.place(choice.best) == choice.place(focus)
    if not is_best and findings.verdict == SEPARATED and focus.n_clusters == findings.n_clusters:
        return f"Best clusterer with {focus.n_clusters} clusters: {_score(choice, focus)}."
    return f"Best clusterer: {_score(choice, focus)}."


def _score(choice: Choice, candidate: Candidate) -> str:
    interval = "" if np.isnan(candidate.low) else f", 95 % interval {candidate.low:z.2f} to {candidate.high:z.2f}"
    return f"{candidate.label}; replicability ({shown(choice.agreement)}) {candidate.score:z.2f}{interval}"


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
