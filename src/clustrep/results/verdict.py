"""The verdict of an analysis: to what degree there are groups, and how many. Only this module decides it.

A score says how well a cut repeats. Whether there are groups is another question, with three answers: *separated* (gaps
between groups are found again in studies that did not define them), *structured* (more than data in one piece explain,
but no gaps: clusters are a convenient cut of a continuum), *one piece* (a cut that repeats, or not even that).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clustrep.results.choice import Candidate, Choice
from clustrep.results.groups import Separation

SEPARATED, STRUCTURED, ONE_PIECE = "separated", "structured", "one piece"


@dataclass(frozen=True, eq=False)
class Verdict:
    """To what degree there are groups, how many, and which configuration shows them.

    Attributes
    ----------
    degree : {"separated", "structured", "one piece"} or None
        None where no gaps were found and either nothing was compared with data in one piece, or no configuration can
        be relied on: most scores are of studies in a single cluster, or of noise alone.
    n_clusters : int or None
        The number of clusters: 1 for one piece; None where the degree is not known.
    focus : Candidate or None
        The configuration to look at closely: the one that shows the groups; for one piece the cut that repeats best.
    separation : Separation or None
        The gaps behind "separated".
    levels : tuple of int
        Further numbers of groups with gaps between all of them: nested structure.
    pvalue : float
        Of the gaps where they decide, else of the comparison with data in one piece; NaN without one.

    See Also
    --------
    Analysis.verdict
    """

    degree: str | None
    n_clusters: int | None
    focus: Candidate | None
    separation: Separation | None
    levels: tuple[int, ...]
    pvalue: float


def verdict_of(choice: Choice, separations: Sequence[Separation]) -> Verdict:
    """Make the verdict.

    Parameters
    ----------
    choice : Choice
        All configurations by their scores, beside data in one piece where these were simulated.
    separations : sequence of Separation
        The gaps, for every clusterer.
    """
    with_gaps = [separation for separation in separations if separation.separated]
    if with_gaps:
        return _separated(choice, with_gaps)
    against = choice.against
    pvalue = np.nan if against is None else against.smallest
    above = [] if against is None else [c for c in choice.candidates if choice.is_above(c)]
    if above and not choice.says_nothing:
        focus = max(above, key=lambda candidate: (candidate.score, -(candidate.n_clusters or 0)))
        return Verdict(STRUCTURED, focus.n_clusters, focus, None, (), pvalue)
    repeats = choice.best or max(choice.candidates, key=lambda candidate: candidate.score, default=None)
    if against is None or choice.says_nothing:
        return Verdict(None, None, repeats, None, (), pvalue)
    return Verdict(ONE_PIECE, 1, repeats, None, (), pvalue)


def _separated(choice: Choice, separations: Sequence[Separation]) -> Verdict:
    """Take the cut with most evidence of gaps, of the clusterers whose fits have a score."""
    candidates = {(candidate.clusterer, candidate.n_clusters): candidate for candidate in choice.candidates}
    ordered = sorted(separations, key=lambda separation: -separation.evidence[separation.chosen])
    focus_of = [candidates.get((each.clusterer, each.n_clusters[each.chosen])) for each in ordered]
    separation, focus = next(
        ((each, focus) for each, focus in zip(ordered, focus_of, strict=True) if focus is not None),
        (ordered[0], None),  # its fits failed in some study
    )
    levels = tuple(n for n in separation.levels if n != separation.groups)
    return Verdict(SEPARATED, separation.groups, focus, separation, levels, separation.overall_pvalue)


def separation_of(verdict: Verdict, separations: Sequence[Separation]) -> Separation | None:
    """Return the gaps behind a verdict, or else those of the clusterer in focus; None where there are none at all."""
    focus = verdict.focus
    of_focus = [result for result in separations if focus is not None and result.clusterer == focus.clusterer]
    return verdict.separation or next(iter([*of_focus, *separations]), None)
