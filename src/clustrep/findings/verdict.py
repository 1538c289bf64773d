"""The verdict: read off the findings, or off scores beside their null distribution where no clusters are separated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from clustrep.agreement.agreements import shown
from clustrep.findings.result import (
    CONTINUOUS,
    INCONCLUSIVE,
    NO_EVIDENCE,
    SEPARATED,
    Findings,
    nothing_established,
    one_cluster,
)
from clustrep.text import p_text

if TYPE_CHECKING:
    from clustrep.algorithms.choice import Candidate, Choice

# No evidence of clusters only where two clusters this many sd apart would have been found in 80 %: at 5 sd the density
# halfway between two normal clusters is a tenth of that at their centres, which any eye sees.
LARGEST_DETECTABLE = 5.0
NOT_COMPARED = "no cluster is separated, and scores were not compared with a null model. Run again with a null model"
SINGLE_CLUSTERS = (
    "most scores are of studies in a single cluster, or of noise alone. Run again with other parameters, other numbers "
    "of clusters or another clusterer"
)


def decided(findings: Findings, choice: Choice) -> Findings:
    """Return the findings with their verdict; `detectable` must be known where nothing is above the null model."""
    if findings.verdict == SEPARATED:
        return findings
    against = choice.against
    if against is None or choice.says_nothing:
        return inconclusive(findings, SINGLE_CLUSTERS if choice.says_nothing else NOT_COMPARED)
    together = replace(findings, reason="", pvalue=against.smallest, **one_cluster(findings.sizes))
    above = best_above(choice)
    if above is not None:
        return replace(together, verdict=CONTINUOUS, pvalue=float(against.adjusted[choice.place(above)]))
    if np.isnan(findings.detectable) or findings.detectable <= LARGEST_DETECTABLE:
        return replace(together, verdict=NO_EVIDENCE)
    best = choice.best
    score = ""
    if best is not None:  # without the null mean, a high score would be read as evidence of clusters
        b = choice.place(best)
        score = (
            f" ({best.label}: observed {shown(choice.agreement)} {against.observed[b]:z.2f}, in simulated data without "
            f"clusters {against.null_mean[b]:z.2f} on average; adjusted {p_text(float(against.adjusted[b]))})"
        )
    reason = (
        f"no partition exceeds the null model{score}, but with these sample sizes even two clusters "
        f"{LARGEST_DETECTABLE:.0f} sd apart would be missed in more than 20 % of simulations. Add samples or studies"
    )
    return inconclusive(replace(findings, pvalue=against.smallest), reason)


def inconclusive(findings: Findings, reason: str) -> Findings:
    """Return inconclusive findings: no cluster is established, so that its status is undetermined in every study."""
    return replace(findings, verdict=INCONCLUSIVE, reason=reason, **nothing_established(findings.sizes))


def best_above(choice: Choice) -> Candidate | None:
    """Return the highest score of the partitions that exceed the null model; None without any.

    The p-value is that of score and separateness together: the score itself must be higher than under the null model.
    """
    above = [each for each in choice.candidates if choice.is_above(each)]
    return max(above, key=lambda candidate: (candidate.score, -candidate.complexity), default=None)


def focus_of(findings: Findings, choice: Choice) -> Candidate | None:
    """Return the configuration to look at closely.

    Where clusters are separated, the best of those with as many clusters, or of all where none has; for continuous
    structure the best above the null model; else the best score.
    """
    best = choice.best or max(choice.candidates, key=lambda candidate: candidate.score, default=None)
    if findings.verdict == CONTINUOUS:
        return best_above(choice) or best
    if findings.verdict == SEPARATED:
        as_many = [candidate for candidate in choice.candidates if candidate.n_clusters == findings.n_clusters]
        return max(as_many, key=lambda candidate: candidate.score, default=best)
    return best
