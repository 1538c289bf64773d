"""The result of a comparison of clusterers and numbers of clusters, and the choice among them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pandas as pd

from clustrep.checks import check_choice, check_known, freeze
from clustrep.errors import NoBest, ParameterError
from clustrep.provenance import fingerprint
from clustrep.results.base import TRIVIAL_AT_MOST, Failing, Origin, Saved, quiet, tails
from clustrep.results.choice import FALSE_FINDING, NO_BEST, Against, Choice, short
from clustrep.results.pairwise import Replicability
from clustrep.tables.agreement import shown
from clustrep.text import plural
from clustrep.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from clustrep.results.null_scores import NullReference

# A resample is complete when every pair of different studies has its score.
COMPLETE_AT_LEAST = 0.5
CHOICE_LEVEL = 0.95
MOST_RIVALS = 5


@dataclass(frozen=True)
class Candidate:
    """A clusterer with its number of clusters, and its score: the mean over ordered pairs of different studies."""

    clusterer: str
    n_clusters: int | None
    score: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{short(self)} ({self.score:.2f} [{self.low:.2f}, {self.high:.2f}])"


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
        more = f"; and {len(others) - MOST_RIVALS} more" if len(others) > MOST_RIVALS else ""
        return f"By {shown(self.agreement)}, can't tell between {best} and {'; '.join(others[:MOST_RIVALS])}{more}"


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
        check_known(clusterer, "clusterer", dict.fromkeys(self.clusterers), parameter="clusterer")
        having = [c for c, name in enumerate(self.clusterers) if name == clusterer]
        if n_clusters is None and len(having) > 1:
            raise ParameterError(
                f"n_clusters must be given: {clusterer!r} was run with {[self.n_clusters[c] for c in having]}.",
                parameter="n_clusters",
            )
        if n_clusters is not None and self.n_clusters[having[0]] is None:
            raise ParameterError(
                f"{clusterer!r} finds its number of clusters by itself: leave n_clusters out.", parameter="n_clusters"
            )
        if n_clusters is not None:
            check_known(
                n_clusters,
                f"number of clusters of {clusterer!r}",
                [self.n_clusters[c] for c in having],
                parameter="n_clusters",
            )
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
            adjusted p-value of at most 5 %; perhaps nothing is. There single blocks count 0, so a configuration can be
            chosen that has too many of them to be called the best.
        agreement : str, optional
            By which agreement; the first by default.
        """
        a = self._agreement(agreement)
        if reference is not None:
            self._check_reference(reference)
        known = np.flatnonzero(np.isfinite(self._scores[:, a])).tolist()
        order = sorted(known, key=lambda c: (self.n_clusters[c] or 0, c))
        candidates = tuple(self._candidate(c, a) for c in order)
        eligible = self._eligible[order, a]
        best = self.best(self.agreements[a]) if eligible.any() else None
        against = None
        chosen: Candidate | None = best and candidates[order.index(self._winner(a))]
        if reference is not None:
            against = Against(
                *(
                    values[order, a]
                    for values in (
                        reference.overall,
                        reference.overall - reference.overall_excess,
                        reference.overall_excess,
                        reference.overall_pvalue,
                        reference.overall_adjusted,
                    )
                )
            )
            above = np.flatnonzero(against.adjusted <= FALSE_FINDING)
            chosen = candidates[above[np.argmax(against.excess[above])]] if above.size else None
        return Choice(
            agreement=self.agreements[a],
            best=best,
            simplest=self._simplest(candidates, eligible, against, a) if best else None,
            candidates=candidates,
            eligible=eligible,
            probability_best=self._probability_best(order, eligible, a),
            against=against,
            chosen=chosen,
        )

    def _probability_best(self, order: Sequence[int], eligible: BoolArray, a: int) -> FloatArray:
        """Return the share of resamples in which no other eligible candidate scores higher; 0 where not eligible."""
        shares = np.zeros(len(order))
        averages = self._averages[np.asarray(order, dtype=int)[eligible], a]
        averages = averages[:, ~np.isnan(averages).all(axis=0)]
        if averages.size:
            shares[eligible] = (averages == np.nanmax(averages, axis=0)).mean(axis=1)
        return shares

    def _simplest(
        self, candidates: Sequence[Candidate], eligible: BoolArray, against: Against | None, a: int
    ) -> Candidate | None:
        """Find the smallest k within one standard error of the best; with a reference, above data without clusters."""
        with quiet():
            standard_error = np.nan_to_num(
                np.nanstd(self._averages[self._winner(a), a], ddof=1)
            )  # none of one resample
        enough = self._scores[self._winner(a), a] - standard_error
        allowed = eligible if against is None else eligible & (against.adjusted <= FALSE_FINDING)
        near = [
            one for one, may in zip(candidates, allowed, strict=True) if may and one.n_clusters and one.score >= enough
        ]
        return min(near, key=lambda one: (one.n_clusters or 0, -one.score), default=None)

    def _winner(self, a: int) -> int:
        """Find the eligible configuration with the highest score; ties to the smaller k."""
        eligible = np.flatnonzero(self._eligible[:, a]).tolist()
        return min(eligible, key=lambda c: (-self._scores[c, a], self.n_clusters[c] or 0, c))

    def _check_reference(self, reference: NullReference) -> None:
        own = getattr(reference, "kind", None) == "comparison" and reference.provenance.get("of") == self._fingerprint
        if not own:
            raise ParameterError(
                "reference must be null_reference(...) of this very comparison.", parameter="reference"
            )
        if 1 / (1 + len(reference.distribution)) > FALSE_FINDING:
            raise ParameterError(
                f"reference has {len(reference.distribution)} collections, too few for any p-value of "
                f"{FALSE_FINDING:.0%}: take null_reference(result, n=199).",
                parameter="reference",
            )

    @overload
    def plot(
        self,
        ax: Axes | None = None,
        agreement: str | None = None,
        *,
        kind: Literal["curves"] = "curves",
        reference: NullReference | None = None,
    ) -> Axes: ...

    @overload
    def plot(self, ax: None = None, agreement: str | None = None, *, kind: Literal["matrices"]) -> NDArray[Any]: ...

    def plot(
        self,
        ax: Axes | None = None,
        agreement: str | None = None,
        *,
        kind: str = "curves",
        reference: NullReference | None = None,
    ) -> Axes | NDArray[Any]:
        """Draw the score against the number of clusters, a line for each clusterer; or all matrices of scores.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        agreement : str, optional
            By which agreement; the first by default.
        kind : {"curves", "matrices"}
            Curves over k: mean over pairs of studies, 95 % interval as a band, ± sd over resamples as bars. Or a study
            × study matrix for every clusterer and k, six k at most: returns an array of axes.
        reference : NullReference, optional
            `null_reference` of this comparison: curves show the range of its scores, too.
        """
        from clustrep.figures import matplotlib as plots

        check_choice(kind, "kind", ("curves", "matrices"))
        name = self.agreements[self._agreement(agreement)]
        if kind == "matrices":
            plots.refuse_axes(ax, kind)
            if reference is not None:
                raise ParameterError(
                    "reference must be left out with kind='matrices': only curves show it.", parameter="reference"
                )
            return plots.matrices(self, name)
        if reference is not None:
            self._check_reference(reference)
        return plots.curves(self, name, ax, reference)

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
    def _fingerprint(self) -> str:
        """A number that no other comparison has."""
        about = json.dumps([self.names, self.agreements, self.clusterers, self.n_clusters])
        return fingerprint(self.estimate, self.distribution, about=about)

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

    def _candidate_name(self, c: int) -> str:
        name, k = self.clusterers[c], self.n_clusters[c]
        return name if k is None else f"{name} with k = {k}"

    def _candidate(self, c: int, a: int) -> Candidate:
        low, high = self._interval(self._averages[c, a], CHOICE_LEVEL)
        return Candidate(self.clusterers[c], self.n_clusters[c], float(self._scores[c, a]), low, high)

    def _includes_zero(self, winner: int, other: int, a: int) -> bool:
        low, high = self._interval(self._averages[winner, a] - self._averages[other, a], CHOICE_LEVEL)
        return not (low > 0 or high < 0)
