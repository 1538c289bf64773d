"""Configurations ranked by their scores: the best, its rivals, the simplest that is nearly as good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clustrep.errors import NoBest
from clustrep.remembered import cached_property
from clustrep.results.base import FALSE_FINDING, TRIVIAL_AT_MOST, quiet, tails
from clustrep.results.choice import NO_BEST, Against, Best, Candidate, Choice
from clustrep.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from clustrep.results.null_scores import NullReference

# The smallest share of resamples in which every pair of different studies must have a score.
COMPLETE_AT_LEAST = 0.5
CHOICE_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Ranking:
    """The scores of all configurations by one agreement.

    With r_b(s, t) the score of training study s and test study t in resample b, the average of a configuration in
    resample b is a_b = mean of r_b(s, t) over ordered pairs s ≠ t, and its score is the mean over the same pairs of
    the mean over resamples of r_b(s, t). The two orders of averaging differ where single scores are missing.

    Attributes
    ----------
    averages : ndarray, (n_configurations, n_resamples)
        a_b; NaN where a pair of studies has no score.
    scores, trivial_share : ndarray, (n_configurations,)
        The score, and the share of trivial scores among those that did not fail.
    cause : str
        Where no configuration is eligible: which study causes it, and what to try next.
    clusters_found : tuple of float or None
        Mean number of clusters of those that are one value of a parameter; empty where there are none.
    """

    agreement: str
    clusterers: tuple[str, ...]
    n_clusters: tuple[int | None, ...]
    averages: FloatArray
    scores: FloatArray
    trivial_share: FloatArray
    cause: str = ""
    clusters_found: tuple[float | None, ...] = ()

    @cached_property
    def eligible(self) -> BoolArray:
        """Which configurations can be called the best: few trivial scores, few resamples that lack a score."""
        complete = np.isfinite(self.averages).mean(axis=-1) >= COMPLETE_AT_LEAST
        return np.asarray((self.trivial_share <= TRIVIAL_AT_MOST) & np.isfinite(self.scores) & complete)

    @property
    def winner(self) -> int:
        """The eligible configuration with the highest score; ties to the smaller k."""
        return min(np.flatnonzero(self.eligible).tolist(), key=self._rank)

    def best(self) -> Best:
        """Return the winner and its rivals: see `Comparison.best`."""
        eligible = np.flatnonzero(self.eligible).tolist()
        if not eligible:
            raise NoBest(" ".join(filter(None, [NO_BEST, self.cause, "See summary()."])))
        winner = self.winner
        rivals = sorted(
            (c for c in eligible if c != winner and self._difference_includes_zero(winner, c)), key=self._rank
        )
        return Best(
            **vars(self.candidate(winner)),
            agreement=self.agreement,
            rivals=tuple(self.candidate(rival) for rival in rivals),
        )

    def choice(self, against: Against | None, order: Sequence[int]) -> Choice:
        """Choose among the configurations in `order`, with `against` in the same order: see `Comparison.choice`."""
        candidates = tuple(self.candidate(c) for c in order)
        eligible = self.eligible[order]
        best = self.best() if eligible.any() else None
        chosen: Candidate | None = best and candidates[list(order).index(self.winner)]
        if against is not None:
            above = np.flatnonzero(against.adjusted <= FALSE_FINDING)
            chosen = candidates[above[np.argmax(against.excess[above])]] if above.size else None
        return Choice(
            agreement=self.agreement,
            best=best,
            simplest=self._simplest(candidates, eligible, against) if best else None,
            candidates=candidates,
            eligible=eligible,
            probability_best=self._probability_best(order, eligible),
            against=against,
            chosen=chosen,
            cause=self.cause if best is None else "",
            trivial_share=self.trivial_share[order],
        )

    def known(self) -> list[int]:
        """Return the configurations that have a score, by their number of clusters."""
        known = np.flatnonzero(np.isfinite(self.scores)).tolist()
        return sorted(known, key=lambda c: (self.n_clusters[c] or 0, c))

    def candidate(self, c: int) -> Candidate:
        """Return a configuration with its score and interval."""
        low, high = self.interval(self.averages[c], CHOICE_LEVEL)
        n_found = self.clusters_found[c] if self.clusters_found else None
        score = float(self.scores[c])
        return Candidate(self.clusterers[c], self.n_clusters[c], score, low, high, clusters_found=n_found)

    @staticmethod
    def interval(values: FloatArray, confidence_level: float) -> tuple[float, float]:
        """Return the percentile interval over resamples."""
        with quiet():
            low, high = np.nanquantile(values, tails(confidence_level))
        return float(low), float(high)

    def _rank(self, c: int) -> tuple[float, int, int]:
        return -self.scores[c], self.n_clusters[c] or 0, c

    def _difference_includes_zero(self, winner: int, other: int) -> bool:
        low, high = self.interval(self.averages[winner] - self.averages[other], CHOICE_LEVEL)
        return not (low > 0 or high < 0)

    def _probability_best(self, order: Sequence[int], eligible: BoolArray) -> FloatArray:
        """Return the share of resamples in which no other eligible candidate scores higher; 0 where not eligible."""
        shares = np.zeros(len(order))
        averages = self.averages[np.asarray(order, dtype=int)[eligible]]
        averages = averages[:, ~np.isnan(averages).all(axis=0)]
        if averages.size:
            shares[eligible] = (averages == np.nanmax(averages, axis=0)).mean(axis=1)
        return shares

    def _simplest(
        self, candidates: Sequence[Candidate], eligible: BoolArray, against: Against | None
    ) -> Candidate | None:
        """Return the smallest k within one standard error of the best; beside a reference, also above its scores."""
        with quiet():
            standard_error = np.nan_to_num(np.nanstd(self.averages[self.winner], ddof=1))  # NaN of one resample
        enough = self.scores[self.winner] - standard_error
        allowed = eligible if against is None else eligible & (against.adjusted <= FALSE_FINDING)
        near = [
            candidate
            for candidate, is_allowed in zip(candidates, allowed, strict=True)
            if is_allowed and candidate.complexity and candidate.score >= enough
        ]
        return min(near, key=lambda candidate: (candidate.complexity, -candidate.score), default=None)


def against_null(reference: NullReference, configurations: Sequence[int], agreement: int) -> Against:
    """Take the p-values of some configurations by one agreement from a reference."""
    return Against(
        *(
            values[configurations, agreement]
            for values in (
                reference.overall,
                reference.overall - reference.overall_excess,
                reference.overall_excess,
                reference.configuration_pvalue,
                reference.overall_adjusted,
            )
        )
    )
