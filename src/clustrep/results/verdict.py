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
from clustrep.results.groups import LEVEL, Separation
from clustrep.types import FloatArray

SEPARATED, STRUCTURED, ONE_PIECE = "separated", "structured", "one piece"


@dataclass(frozen=True, eq=False)
class Verdict:
    """To what degree there are groups, how many, and which configuration shows them.

    Attributes
    ----------
    degree : {"separated", "structured", "one piece"} or None
        None where no gaps were found and nothing was compared with data in one piece.
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


def verdict_of(choice: Choice, separations: Sequence[Separation], estimates: FloatArray) -> Verdict:
    """Make the verdict.

    Parameters
    ----------
    choice : Choice
        All configurations by their scores, beside data in one piece where these were simulated.
    separations : sequence of Separation
        The gaps, for every clusterer.
    estimates : ndarray, (n_candidates,)
        R̂, the mean over ordered pairs of different studies, in the order of the choice's candidates.
    """
    with_gaps = [separation for separation in separations if separation.separated]
    if with_gaps:
        return _separated(choice, with_gaps, estimates)
    against = choice.against
    pvalue = np.nan if against is None else against.smallest
    above = [] if against is None else [c for c in choice.candidates if choice.is_above(c)]
    if above:
        focus = max(above, key=lambda candidate: (candidate.score, -(candidate.n_clusters or 0)))
        return Verdict(STRUCTURED, focus.n_clusters, focus, None, (), pvalue)
    repeats = choice.best or max(choice.candidates, key=lambda candidate: candidate.score, default=None)
    if against is None:
        return Verdict(None, None, repeats, None, (), pvalue)
    return Verdict(ONE_PIECE, 1, repeats, None, (), pvalue)


def _separated(choice: Choice, separations: Sequence[Separation], estimates: FloatArray) -> Verdict:
    """Choose, among the cuts with gaps, that with most evidence which also replicates: the highest −log p · R̂.

    The product was chosen by simulation (docs/exam.md): evidence alone prefers cuts that are too fine, the score alone
    cuts that are too coarse, because few clusters are often cut the same way in all studies.
    """
    place = {(c.clusterer, c.n_clusters): i for i, c in enumerate(choice.candidates)}
    options = [
        (-np.log(max(separation.pvalue[i], np.finfo(float).tiny)) * max(estimates[place[key]], 0.0), separation, i)
        for separation in separations
        for i, k in enumerate(separation.n_clusters)
        if separation.adjusted[i] <= LEVEL
        and separation.groups_by_k[i] > 1
        and (key := (separation.clusterer, k)) in place
    ]
    if not options:  # the clustering with gaps has no score: its fits failed in some study
        separation = separations[0]
        return Verdict(SEPARATED, separation.groups, None, separation, separation.levels, separation.overall_pvalue)
    _, separation, i = max(options, key=lambda option: option[0])
    k = separation.n_clusters[i]
    focus = choice.candidates[place[separation.clusterer, k]]
    number = int(separation.pieces[i].max()) + 1 if k is None else k
    levels = tuple(n for n in separation.levels if n != number)
    return Verdict(SEPARATED, number, focus, separation, levels, float(separation.adjusted[i]))


def separation_of(verdict: Verdict, separations: Sequence[Separation]) -> Separation | None:
    """Return the gaps behind a verdict, or else those of the clusterer in focus; None where there are none at all."""
    focus = verdict.focus
    of_focus = [result for result in separations if focus is not None and result.clusterer == focus.clusterer]
    return verdict.separation or next(iter([*of_focus, *separations]), None)
