"""Which clusterer and which k, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clustrep.agreement.agreements import shown
from clustrep.cached import cached_property
from clustrep.errors import NoBest
from clustrep.summaries import FALSE_FINDING, TRIVIAL_AT_MOST, label, quiet, tails
from clustrep.text import cut, listing
from clustrep.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from clustrep.algorithms.comparison import Comparison
    from clustrep.null.null_scores import NullReference

MOST_RIVALS = 5
# Beyond this share of single-cluster scores, a mean score is not informative.
MOSTLY = 0.5
NO_BEST = (
    "No configuration can be best: in each, more than 5 % of the scores are single-cluster scores (one side has a "
    "single cluster), or more than half of the resamples lack a score."
)


@dataclass(frozen=True)
class Candidate:
    """A configuration and its score: the mean over ordered pairs of different studies of the mean over resamples.

    Attributes
    ----------
    clusterer : str
    n_clusters : int or None
        None where the clusterer finds its number of clusters by itself.
    score : float
    low, high : float
        95 % percentile interval, over resamples, of the mean over pairs.
    clusters_found : float or None
        Of one value of a parameter such as a resolution: mean number of clusters over resamples and studies.

    See Also
    --------
    Comparison : Where the score and its formula come from.
    """

    clusterer: str
    n_clusters: int | None
    score: float
    low: float
    high: float
    clusters_found: float | None = field(default=None, kw_only=True)

    @property
    def label(self) -> str:
        """The name of the configuration; how many clusters it found, where that follows from another parameter."""
        return label(self.clusterer, self.n_clusters, self.clusters_found)

    @property
    def complexity(self) -> float:
        """The number of clusters, asked for or found; 0 where neither is known."""
        return self.n_clusters or self.clusters_found or 0.0

    def __str__(self) -> str:
        return f"{self.label} ({self.score:.2f} [{self.low:.2f}, {self.high:.2f}])"


@dataclass(frozen=True)
class Best(Candidate):
    """The candidate with the highest score, and those that are not distinguishable from it.

    Attributes
    ----------
    clusterer, n_clusters, score, low, high, clusters_found
        As in `Candidate`.
    agreement : str
        By which agreement.
    rivals : tuple of Candidate
        All eligible candidates whose difference to the best, resample by resample, has a 95 % interval that includes 0,
        by their score.

    See Also
    --------
    Comparison.best : The method that returns it.
    """

    agreement: str
    rivals: tuple[Candidate, ...]

    def __str__(self) -> str:
        best = super().__str__()
        if not self.rivals:
            return f"{best} replicates best by {shown(self.agreement)}"
        others = [Candidate.__str__(rival) for rival in self.rivals]
        more = f"; and {len(others) - MOST_RIVALS} more" if len(others) > MOST_RIVALS else ""
        rivals = "; ".join(others[:MOST_RIVALS]) + more
        return f"By {shown(self.agreement)}, {best} is not distinguishable from {rivals}"


@dataclass(frozen=True, eq=False)
class Against:
    """Candidates beside data without clusters, (n_candidates,) each.

    Attributes
    ----------
    observed, null_mean, excess : ndarray
        The score that is compared (R̂, or the mean over resamples), its mean over simulated data sets, and the
        difference.
    pvalue, adjusted : ndarray
        The p-value, and the same adjusted for the chance of any false finding among all candidates.

    See Also
    --------
    NullReference : Where the values and their formulas come from.
    """

    observed: FloatArray
    null_mean: FloatArray
    excess: FloatArray
    pvalue: FloatArray
    adjusted: FloatArray

    @property
    def smallest(self) -> float:
        """The smallest adjusted p-value of a score that is higher than its null mean; 1 where there is none."""
        return float(np.nanmin(self.adjusted[self.excess > 0], initial=1.0))

    @property
    def above(self) -> BoolArray:
        """Which scores exceed the null model: higher than its mean, with an adjusted p-value of at most 0.05."""
        return (self.excess > 0) & (self.adjusted <= FALSE_FINDING)


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """A choice among clusterers and numbers of clusters, with its uncertainty.

    Attributes
    ----------
    agreement : str
        By which agreement.
    best : Best or None
        The highest score, and the rivals that are not distinguishable from it; None where no configuration is eligible.
    simplest : Candidate or None
        The smallest k whose score is at least score(best) − sd(a_b of the best): within one standard error; above data
        without clusters, where a reference was given.
    candidates : tuple of Candidate
        All that have a score, by their number of clusters.
    eligible : ndarray of bool, (n_candidates,)
        Which can be called the best: at most 5 % single-cluster scores, and a score for every pair of studies in at
        least half of the resamples.
    probability_best : ndarray, (n_candidates,)
        The share of resamples in which no eligible candidate scores higher; where several have the same highest score,
        all count.
    against : Against or None
        Beside data without clusters, where a reference was given.
    chosen : Candidate or None
        Without a reference, the best. With one, the highest excess among those above data without clusters
        (`Against.above`); None where none is.
    cause : str
        Where no configuration is eligible: which study causes it, how, and what to try next.
    trivial_share : ndarray, (n_candidates,)
        The share of scores in which a study is put into a single cluster, or called noise as a whole.

    See Also
    --------
    Comparison.choice : The method that returns it.
    NullReference : Data without clusters.
    """

    agreement: str
    best: Best | None
    simplest: Candidate | None
    candidates: tuple[Candidate, ...]
    eligible: BoolArray
    probability_best: FloatArray
    against: Against | None
    chosen: Candidate | None
    cause: str = ""
    trivial_share: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def says_nothing(self) -> bool:
        """Whether most scores of every candidate are single-cluster scores, which are not informative."""
        return bool(self.trivial_share.size) and bool((self.trivial_share > MOSTLY).all())

    @property
    def nothing(self) -> str:
        """The words for "none of the candidates" in a sentence."""
        return "no k" if all(candidate.n_clusters is not None for candidate in self.candidates) else "nothing"

    def is_above(self, candidate: Candidate) -> bool:
        """Whether a candidate is above data without clusters, as far as that is known."""
        return self.against is not None and bool(self.against.above[self.place(candidate)])

    def place(self, candidate: Candidate) -> int:
        """Find a candidate among all."""
        names = [(candidate.clusterer, candidate.n_clusters) for candidate in self.candidates]
        return names.index((candidate.clusterer, candidate.n_clusters))

    def to_frame(self) -> pd.DataFrame:
        """One row for every candidate."""
        rivals = {(rival.clusterer, rival.n_clusters) for rival in (self.best.rivals if self.best else ())}
        frame = pd.DataFrame(
            {
                "clusterer": [candidate.clusterer for candidate in self.candidates],
                "k": pd.array([candidate.n_clusters for candidate in self.candidates], dtype="Int64"),
                "score": [candidate.score for candidate in self.candidates],
                "low": [candidate.low for candidate in self.candidates],
                "high": [candidate.high for candidate in self.candidates],
                "eligible": self.eligible,
                "probability_best": self.probability_best,
                "rival": [(candidate.clusterer, candidate.n_clusters) in rivals for candidate in self.candidates],
            }
        )
        n_found = [candidate.clusters_found for candidate in self.candidates]
        if any(number is not None for number in n_found):
            frame.insert(2, "clusters_found", pd.Series(n_found, dtype=float))
        return frame if self.against is None else frame.assign(**vars(self.against))

    def __str__(self) -> str:
        lines = [str(self.best) if self.best is not None else f"{NO_BEST} {self.cause}".strip()]
        if self.against is not None:
            lines.append(self._beside_null(self.against))
        same = self.best and self.simplest and self.place(self.best) == self.place(self.simplest)
        if self.simplest is not None and not same:
            smallest = "Smallest k" if self.simplest.clusters_found is None else "Fewest clusters"
            lines.append(f"{smallest} within one standard error of the best: {self.simplest}")
        if self.best is not None and not self.eligible.all():
            left_out = [
                candidate.label
                for candidate, is_eligible in zip(self.candidates, self.eligible, strict=True)
                if not is_eligible
            ]
            lines.append(f"Too many single-cluster scores or failures to be called the best: {listing(left_out)}")
        return "\n".join(lines)

    def _beside_null(self, against: Against) -> str:
        if self.chosen is None:
            return (
                f"By {shown(self.agreement)}, {self.nothing} is better than data without clusters "
                f"(smallest adjusted p = {against.smallest:.2g})"
            )
        place = self.place(self.chosen)
        text = (
            f"Farthest above data without clusters: {self.chosen.label}, {against.observed[place]:.2f} against "
            f"{against.null_mean[place]:.2f}, adjusted p = {against.adjusted[place]:.2g}"
        )
        if self.best is None or self.is_above(self.best):
            return text
        p = against.adjusted[self.place(self.best)]
        return f"{text}\nThe highest score, of {self.best.label}, is not above them (adjusted p = {p:.2g})"

    def __repr__(self) -> str:
        return f"{self}\n{self.to_frame().round(3).to_string(index=False)}"


# ---------------------------------------------------------------------------------------------------------------------
# Configurations ranked by their scores: the best, its rivals, the simplest that is nearly as good


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
        The score, and the share of single-cluster scores among those that did not fail.
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
        """Which configurations can be called the best: few single-cluster scores, few resamples that lack a score."""
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
            above = np.flatnonzero(against.above)
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
        allowed = eligible if against is None else eligible & against.above
        near = [
            candidate
            for candidate, is_allowed in zip(candidates, allowed, strict=True)
            if is_allowed and candidate.complexity and candidate.score >= enough
        ]
        return min(near, key=lambda candidate: (candidate.complexity, -candidate.score), default=None)


def against_null(reference: NullReference, configurations: Sequence[int], agreement: int) -> Against:
    """Take the p-values of some configurations by one agreement from a reference."""
    some = configurations, agreement
    observed, excess = reference.overall[some], reference.overall_excess[some]
    pvalue, adjusted = reference.configuration_pvalue[some], reference.overall_adjusted[some]
    return Against(observed, observed - excess, excess, pvalue, adjusted)


# ---------------------------------------------------------------------------------------------------------------------
# What keeps a configuration from being the best: single clusters, noise, failures

EVERY_STUDY = "Every study"
TRIVIAL, NOISE, FAILED, MISSING = "trivial", "noise", "failed", "missing"
# Of an error's message, as much as a sentence can hold.
CAUSE_WORDS, CAUSE_LETTERS = 9, 60


@dataclass(frozen=True)
class Obstacle:
    """What keeps a configuration from being called the best.

    Attributes
    ----------
    configuration : str
        Its name.
    study : str
        The study in which it happens most often, or "Every study".
    kind : {"trivial", "noise", "failed", "missing"}
        The study is put into a single cluster; it has no cluster, but noise alone; it can't be clustered; it lacks
        scores for another reason.
    share : float
        In which share of the study's scores ("trivial"), or of resamples.
    cause : str
        The most frequent error; empty for "trivial" and "noise".
    """

    configuration: str
    study: str
    kind: str
    share: float
    cause: str = ""

    @property
    def sentence(self) -> str:
        """Name the study, what happens there and how often."""
        at_least = "at least " if self.study == EVERY_STUDY and self.share < 1 else ""
        of = "scores" if self.kind == TRIVIAL else "resamples"  # each has a score for every training study
        often = f"in {at_least}{percent(self.share)} of {of} ({self.configuration})"
        if self.kind == TRIVIAL:
            return f"{self.study} is put into a single cluster {often}."
        if self.kind == NOISE:
            return f"{self.study} has no cluster: all samples are called noise {often}."
        what = "can't be clustered" if self.kind == FAILED else "lacks scores"
        because = f": {self._short_cause}" if self.cause else ""
        return f"{self.study} {what} {often}{because}" + ("" if because.endswith("…") else ".")

    @property
    def _short_cause(self) -> str:
        words = self.cause.rstrip(".").split()
        more = "…" if len(words) > CAUSE_WORDS else ""
        return cut(" ".join(words[:CAUSE_WORDS]) + more, CAUSE_LETTERS)

    @property
    def next_step(self) -> str:
        """Return what to try next, as a sentence."""
        if self.kind == NOISE:
            return "Run again with parameters that leave less noise, such as a larger eps, or with another clusterer."
        if self.study == EVERY_STUDY:
            return "Run again with other parameters, other numbers of clusters or another clusterer."
        if self.kind == TRIVIAL:
            return f"Run again without {self.study}, which may lack these clusters, or with another clusterer."
        return f"Run again with fewer clusters, with another clusterer, or without {self.study}."


def obstacle_of(comparison: Comparison, c: int) -> Obstacle | None:
    """Find what keeps configuration c from being called the best by the first agreement; None if nothing does.

    A single-cluster score: the test study is a single cluster, by itself or by the training study.
    """
    off = ~np.eye(len(comparison.names), dtype=bool)
    scored = np.isfinite(comparison.distribution[c, 0]) & off  # (n_resamples, S, S)
    unscored = (~scored & off).any(axis=(1, 2)).mean() if len(scored) else 1.0
    name = label(comparison.clusterers[c], comparison.n_clusters[c])
    if unscored > 0.5:
        return _failing(comparison, c, name, off)
    trivial = comparison.trivial[c] & scored
    if trivial.sum() <= TRIVIAL_AT_MOST * max(scored.sum(), 1):
        return None
    with quiet():
        by_test = np.nan_to_num(trivial.sum(axis=(0, 1)) / scored.sum(axis=(0, 1)))
    no_clusters = (comparison.clusters_found[c] == 0).mean(axis=0)  # (S,): in which share of resamples
    if (by_test > TRIVIAL_AT_MOST).all():
        kind, share = (NOISE, no_clusters.min()) if (no_clusters > 0.5).all() else (TRIVIAL, by_test.min())
        return Obstacle(name, EVERY_STUDY, kind, float(share))
    worst = int(by_test.argmax())
    kind, share = (NOISE, no_clusters[worst]) if no_clusters[worst] > 0.5 else (TRIVIAL, by_test[worst])
    return Obstacle(name, comparison.names[worst], kind, float(share))


def obstacle_to(comparison: Comparison, focus: Candidate | None) -> Obstacle | None:
    """Find what keeps the configuration in focus from being called the best; without one, what keeps all from it."""
    if focus is None:
        return nearest_obstacle(comparison)
    configurations = list(zip(comparison.clusterers, comparison.n_clusters, strict=True))
    return obstacle_of(comparison, configurations.index((focus.clusterer, focus.n_clusters)))


def nearest_obstacle(comparison: Comparison) -> Obstacle | None:
    """Find the obstacle of the configuration with most scores, then with the fewest trivial ones."""
    off = ~np.eye(len(comparison.names), dtype=bool)

    def rank(c: int) -> tuple[float, float]:
        return -float(np.isfinite(comparison.distribution[c, 0][:, off]).mean()), float(comparison.trivial[c].mean())

    return obstacle_of(comparison, min(range(len(comparison.clusterers)), key=rank))


def _failing(comparison: Comparison, c: int, name: str, off: BoolArray) -> Obstacle:
    failed = comparison.failed[c, 0][1:]  # the first is the observed score
    causes = failed[:, off]
    numbers = causes[causes > 0]
    cause = comparison.causes[int(np.bincount(numbers).argmax()) - 1] if numbers.size else ""
    fits = (comparison.clusters_found[c] < 0).mean(axis=0)  # (S,)
    if fits.any():
        worst = int(fits.argmax())
        return Obstacle(name, comparison.names[worst], FAILED, float(fits[worst]), cause)
    missing = (~np.isfinite(comparison.distribution[c, 0])) & off
    by_study = (missing.any(axis=1) | missing.any(axis=2)).mean(axis=0)
    by_test = missing.any(axis=1).mean(axis=0)
    worst = int((by_study + by_test).argmax())
    return Obstacle(name, comparison.names[worst], MISSING, float(by_study[worst]), cause)


def percent(value: float) -> str:
    """Write a share as a whole number; nearly all and nearly nothing as > 99 and < 1.

    Examples
    --------
    >>> percent(0.625), percent(0.999), percent(1.0)
    ('62 %', 'more than 99 %', '100 %')
    """
    if 0.995 <= value < 1:
        return "more than 99 %"
    return f"{100 * value:.0f} %"
