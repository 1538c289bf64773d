"""The result of a comparison of clusterers and numbers of clusters, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clustrep._types import BoolArray, FloatArray, IntArray
from clustrep._validation import (
    check_choice,
    check_known,
    plural,
)
from clustrep.agreement import shown
from clustrep.errors import NoBest, ParameterError
from clustrep.results.choice import FALSE_FINDING, Choice
from clustrep.results.common import TRIVIAL_AT_MOST, Failing, Origin, Saved, freeze, quiet, tails
from clustrep.results.replicability import Replicability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results.null import NullReference

# A resample is complete when every pair of different studies has its score.
COMPLETE_AT_LEAST = 0.5
CHOICE_LEVEL = 0.95
NO_BEST = (
    "No configuration can be best: in each, more than 5 % of the scores are trivial (a single block on either side), "
    "or more than half of the resamples lack a score."
)


@dataclass(frozen=True)
class Candidate:
    """A clusterer with its number of clusters, and its score: the mean over ordered pairs of different studies."""

    clusterer: str
    n_clusters: int | None
    score: float
    low: float
    high: float

    def __str__(self) -> str:
        k = "" if self.n_clusters is None else f", k = {self.n_clusters}"
        return f"{self.clusterer}{k} ({self.score:.2f} [{self.low:.2f}, {self.high:.2f}])"


@dataclass(frozen=True)
class Best(Candidate):
    """The candidate with the highest score, and those that can't be told from it."""

    agreement: str
    rivals: tuple[Candidate, ...]

    def __str__(self) -> str:
        best = super().__str__()
        if not self.rivals:
            return f"{best} replicates best by {shown(self.agreement)}"
        others = [Candidate.__str__(rival) for rival in self.rivals]
        return f"By {shown(self.agreement)}, can't tell between {best} and {'; '.join(others)}"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Failing, Saved):
    """The scores of several clusterers and numbers of clusters, from the same draws.

    Attributes
    ----------
    names, agreements, clusterers, n_clusters : tuple
        The studies; the agreements; and for every configuration its clusterer's name and number of clusters (None
        where the clusterer finds it by itself).
    estimate : ndarray, (n_configurations, n_agreements, S, S)
    distribution : ndarray, (n_configurations, n_agreements, n_resamples, S, S)
    """

    names: tuple[str, ...]
    agreements: tuple[str, ...]
    clusterers: tuple[str, ...]
    n_clusters: tuple[int | None, ...]
    estimate: FloatArray
    distribution: FloatArray
    trivial: BoolArray  # (n_configurations, n_resamples, S, S)
    clusters_found: IntArray  # (n_configurations, n_resamples, S)
    failed: IntArray  # (n_configurations, n_agreements, n_resamples + 1, S, S)
    causes: tuple[str, ...]
    provenance: dict[str, Any]
    _origins: tuple[Origin, ...] | None = None

    def __post_init__(self) -> None:
        freeze(self)

    def replicability(
        self, clusterer: str, n_clusters: int | None = None, agreement: str | None = None
    ) -> Replicability:
        """Return the result of one configuration; by the first agreement unless another is named."""
        check_known(clusterer, "clusterer", dict.fromkeys(self.clusterers))
        having = [c for c, name in enumerate(self.clusterers) if name == clusterer]
        if n_clusters is None and len(having) > 1:
            raise ParameterError(
                f"n_clusters must be given: {clusterer!r} was run with {[self.n_clusters[c] for c in having]}."
            )
        if n_clusters is not None and self.n_clusters[having[0]] is None:
            raise ParameterError(f"{clusterer!r} finds its number of clusters by itself: leave n_clusters out.")
        if n_clusters is not None:
            check_known(n_clusters, f"number of clusters of {clusterer!r}", [self.n_clusters[c] for c in having])
            having = [c for c in having if self.n_clusters[c] == n_clusters]
        return self._at(having[0], self._agreement(agreement))

    def _at(self, c: int, a: int) -> Replicability:
        clusterers = {self.clusterers[c]: self.provenance["clusterers"][c]}
        return Replicability(
            names=self.names,
            agreement=self.agreements[a],
            clusterer=self.clusterers[c],
            n_clusters=self.n_clusters[c],
            estimate=self.estimate[c, a],
            distribution=self.distribution[c, a],
            trivial=self.trivial[c],
            clusters_found=self.clusters_found[c],
            failed=self.failed[c, a],
            causes=self.causes,
            provenance={**self.provenance, "clusterers": clusterers},
            _origin=None if self._origins is None else self._origins[c],
        )

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every configuration, agreement and pair of studies.

        Columns: clusterer, k, train, test, agreement, score (R̂), mean, sd, low, high, trivial, failed (counts of
        resamples) and clusters_found (mean over resamples, in the training study).
        """
        frames = []
        for c, k in enumerate(self.n_clusters):
            found = np.where(self.clusters_found[c] < 0, np.nan, self.clusters_found[c])  # (n_resamples, S)
            with quiet():
                by_study = dict(zip(self.names, np.nanmean(found, axis=0), strict=True))
            for a in range(len(self.agreements)):
                frame = self._at(c, a).to_frame(confidence_level)
                frame.insert(0, "clusterer", self.clusterers[c])
                frame.insert(1, "k", pd.Series([k] * len(frame), dtype="Int64"))
                frame["clusters_found"] = frame["train"].map(by_study)
                frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def summary(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every configuration and agreement, averaged over ordered pairs of different studies."""
        rows = [
            {
                "clusterer": self.clusterers[c],
                "k": self.n_clusters[c],
                "agreement": agreement,
                "score": self._scores[c, a],
                "low": low,
                "high": high,
                "trivial": self._trivial_share[c, a],
                "failed": int((self.failed[c, a] > 0).sum()),
                "eligible": bool(self._eligible[c, a]),
            }
            for c in range(len(self.clusterers))
            for a, agreement in enumerate(self.agreements)
            for low, high in [self._interval(self._averages[c, a], confidence_level)]
        ]
        return pd.DataFrame(rows).astype({"k": "Int64"})

    def best(self, agreement: str | None = None) -> Best:
        """Return the configuration with the highest score (ties to the smaller k), and its rivals.

        The score is the mean over ordered pairs of different studies of the bootstrap mean. A rival is any other whose
        difference to the best, resample by resample, has a 95 % interval that includes 0. A configuration with more
        than 5 % trivial scores is never picked, nor one in which more than half of the resamples lack a score.
        """
        a = self._agreement(agreement)
        eligible = np.flatnonzero(self._eligible[:, a]).tolist()
        if not eligible:
            raise NoBest(f"{NO_BEST} See summary().")
        winner = self._winner(a)
        rivals = [c for c in eligible if c != winner and self._includes_zero(winner, c, a)]
        rivals.sort(key=lambda c: (-self._scores[c, a], self.n_clusters[c] or 0, c))
        return Best(
            **vars(self._candidate(winner, a)),
            agreement=self.agreements[a],
            rivals=tuple(self._candidate(c, a) for c in rivals),
        )

    def choice(self, reference: NullReference | None = None, *, agreement: str | None = None) -> Choice:
        """Choose with uncertainty: how often each is the best, and what is above data without clusters.

        Parameters
        ----------
        reference : NullReference, optional
            `null_reference` of this comparison. With it, only what is above data without clusters can be chosen, by an
            adjusted p-value of at most 5 %; perhaps nothing is.
        agreement : str, optional
            By which agreement; the first by default.
        """
        a = self._agreement(agreement)
        if reference is not None:
            self._check_reference(reference)
        eligible = np.flatnonzero(self._eligible[:, a])
        if not eligible.size:
            return Choice.nothing(self.agreements[a], NO_BEST, with_reference=reference is not None)
        best = self.best(self.agreements[a])
        order = sorted(eligible.tolist(), key=lambda c: (self.n_clusters[c] or 0, c))
        averages = self._averages[order, a][:, ~np.isnan(self._averages[order, a]).all(axis=0)]
        wins = np.bincount(np.nanargmax(averages, axis=0), minlength=len(order))  # ties to the smaller k
        candidates = tuple(self._candidate(c, a) for c in order)
        with quiet():
            standard_error = float(np.nanstd(self._averages[self._winner(a), a], ddof=1))
        near = [one for one in candidates if one.n_clusters and one.score >= best.score - standard_error]
        excess = pvalue = adjusted = None
        chosen: Candidate | None = candidates[int(np.argmax([one.score for one in candidates]))]
        if reference is not None:
            excess, pvalue, adjusted = (
                values[order, a]
                for values in (reference.overall_excess, reference.overall_pvalue, reference.overall_adjusted)
            )
            above = np.flatnonzero(adjusted <= FALSE_FINDING)
            chosen = candidates[above[np.argmax(excess[above])]] if above.size else None
        return Choice(
            agreement=self.agreements[a],
            best=best,
            simplest=min(near, key=lambda one: (one.n_clusters or 0, -one.score)) if near else best,
            candidates=candidates,
            probability_best=wins / wins.sum(),
            excess=excess,
            pvalue=pvalue,
            adjusted=adjusted,
            chosen=chosen,
        )

    def _winner(self, a: int) -> int:
        """Find the eligible configuration with the highest score; ties to the smaller k."""
        eligible = np.flatnonzero(self._eligible[:, a]).tolist()
        return min(eligible, key=lambda c: (-self._scores[c, a], self.n_clusters[c] or 0, c))

    def _check_reference(self, reference: NullReference) -> None:
        same = ("names", "agreements", "clusterers", "n_clusters")
        fits = getattr(reference, "kind", None) == "comparison" and all(
            getattr(reference, name) == getattr(self, name) for name in same
        )
        own = self.estimate if fits and reference.statistic == "estimate" else self._means
        if fits:
            theirs, ours = reference.observed[..., self._off], own[..., self._off]
            # Single blocks count 0 there.
            fits = bool((np.isclose(theirs, ours, equal_nan=True) | (theirs == 0)).all())
        if not fits:
            raise ParameterError("reference must be null_reference(...) of this very comparison.")
        if 1 / (1 + len(reference.distribution)) > FALSE_FINDING:
            raise ParameterError(
                f"reference has {len(reference.distribution)} collections, too few for any p-value of "
                f"{FALSE_FINDING:.0%}: take null_reference(result, n=199)."
            )

    def plot(self, ax: Axes | None = None, agreement: str | None = None) -> Axes:
        """Draw the score against the number of clusters, a line for each clusterer."""
        from clustrep import plots

        return plots.curves(self, self.agreements[self._agreement(agreement)], ax)

    def __repr__(self) -> str:
        table = self.summary().drop(columns="eligible").round(3).to_string(index=False)
        lines = [f"Comparison on {plural(len(self.names), 'study')}: {', '.join(self.names)}", table]
        lines += self._failure_lines("score")
        for a, agreement in enumerate(self.agreements):
            choice = str(self.best(agreement)) if self._eligible[:, a].any() else NO_BEST
            lines += [choice] if choice not in lines else []
        return "\n".join(lines)

    @cached_property
    def _averages(self) -> FloatArray:
        """Mean over ordered pairs of different studies, (n_configurations, n_agreements, n_resamples)."""
        return np.asarray(self.distribution[..., self._off].mean(axis=-1))

    @cached_property
    def _scores(self) -> FloatArray:
        """Mean over pairs of the bootstrap mean, (n_configurations, n_agreements)."""
        with quiet():
            return np.asarray(np.nanmean(self.distribution[..., self._off], axis=-2).mean(axis=-1))

    @property
    def _means(self) -> FloatArray:
        """Bootstrap means, (n_configurations, n_agreements, S, S)."""
        with quiet():
            return np.asarray(np.nanmean(self.distribution, axis=2))

    @cached_property
    def _trivial_share(self) -> FloatArray:
        """Share of trivial ones among the scores there are, (n_configurations, n_agreements)."""
        scored = np.isfinite(self.distribution[..., self._off])  # (n_configurations, n_agreements, n_resamples, pairs)
        trivial = self.trivial[:, None, ..., self._off] & scored
        return np.asarray(trivial.sum(axis=(2, 3)) / np.maximum(scored.sum(axis=(2, 3)), 1))

    @cached_property
    def _eligible(self) -> BoolArray:
        enough = np.isfinite(self._averages).mean(axis=-1) >= COMPLETE_AT_LEAST
        return np.asarray((self._trivial_share <= TRIVIAL_AT_MOST) & np.isfinite(self._scores) & enough)

    @property
    def _off(self) -> BoolArray:
        """Pairs of different studies, (S, S)."""
        return ~np.eye(len(self.names), dtype=bool)

    def _agreement(self, agreement: str | None) -> int:
        if agreement is None:
            return 0
        check_choice(agreement, "agreement", self.agreements)
        return self.agreements.index(agreement)

    def _interval(self, values: FloatArray, confidence_level: float) -> tuple[float, float]:
        with quiet():
            low, high = np.nanquantile(values, tails(confidence_level))
        return float(low), float(high)

    def _candidate(self, c: int, a: int) -> Candidate:
        low, high = self._interval(self._averages[c, a], CHOICE_LEVEL)
        return Candidate(self.clusterers[c], self.n_clusters[c], float(self._scores[c, a]), low, high)

    def _includes_zero(self, winner: int, other: int, a: int) -> bool:
        low, high = self._interval(self._averages[winner, a] - self._averages[other, a], CHOICE_LEVEL)
        return not (low > 0 or high < 0)
