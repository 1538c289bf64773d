"""The result of a comparison of clusterers and numbers of clusters, and the choice among them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clustrep.algorithms.choice import NO_BEST, Best, Choice, Ranking, against_null, nearest_obstacle
from clustrep.algorithms.pairwise import Replicability, Tabled
from clustrep.cached import cached_property
from clustrep.checks import check_choice, check_known
from clustrep.errors import ParameterError
from clustrep.provenance import ClustererRecord, Provenance, fingerprint
from clustrep.summaries import FALSE_FINDING, Failing, quiet
from clustrep.text import plural
from clustrep.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.fitting.setting import RunOrigin
    from clustrep.null.null_scores import NullReference


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Failing, Tabled):
    """The scores of several clusterers and numbers of clusters, from the same draws.

    With R̂⁽ᵇ⁾(s, t) the score of a configuration for training study s and test study t in resample b:

        a_b   = the mean over ordered pairs s ≠ t of R̂⁽ᵇ⁾(s, t)
        score = the mean over ordered pairs s ≠ t of the mean over resamples of R̂⁽ᵇ⁾(s, t)

    `summary` has the score with the percentile interval of a_1, a_2, …; `best` and `choice` rank by it.

    Attributes
    ----------
    names, agreements : tuple of str
        The studies; the agreements.
    clusterers : tuple of str
        For every configuration, its clusterer's name.
    n_clusters : tuple of int or None
        For every configuration, its number of clusters; None where the clusterer finds it by itself.
    estimate : ndarray, (n_configurations, n_agreements, S, S)
        R̂: the observed scores. NaN where that fit failed.
    distribution : ndarray, (n_configurations, n_agreements, n_resamples, S, S)
        R̂⁽ᵇ⁾. NaN where a replicate failed, and on the diagonal where that was not asked for.
    trivial : ndarray of bool, (n_configurations, n_resamples, S, S)
        Resamples with a single-cluster score, which is not informative.
    clusters_found : ndarray of int, (n_configurations, n_resamples, S)
        Number of clusters in each study's draw, noise apart; −1 where the fit failed.
    failed : ndarray of int, (n_configurations, n_agreements, n_resamples + 1, S, S)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    Notes
    -----
    All configurations are fitted to the same draws, so that differences between them are taken resample by resample:
    their intervals are narrower than those of the scores themselves.

    See Also
    --------
    compare : The function that returns it.
    Choice : Which configuration, and how certain that is.
    NullReference : The same scores on data without clusters.
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
    provenance: Provenance
    _origins: tuple[RunOrigin, ...] | None = None

    def replicability(
        self,
        clusterer: str,
        n_clusters: int | None = None,
        agreement: str | None = None,
        *,
        value: float | None = None,
    ) -> Replicability:
        """Return the result of one configuration.

        Parameters
        ----------
        clusterer : str
            The clusterer's name.
        n_clusters : int, optional
            Its number of clusters; may be left out where it was run with one.
        agreement : str, optional
            By which agreement; the first by default.
        value : float, optional
            The value of the parameter in `param_grid`; may be left out where the name has it.

        Returns
        -------
        Replicability
        """
        if value is not None:
            places = self._series.get(clusterer, {})
            check_known(clusterer, "clusterer with values of a parameter", self._series, parameter="clusterer")
            check_known(value, f"value of {clusterer!r}", places, parameter="value")
            return self.at(places[value], self._agreement(agreement))
        check_known(clusterer, "clusterer", dict.fromkeys(self.clusterers), parameter="clusterer")
        places_of = {self.n_clusters[c]: c for c, name in enumerate(self.clusterers) if name == clusterer}
        if n_clusters is None and len(places_of) > 1:
            raise ParameterError(
                f"n_clusters must be given: {clusterer!r} was run with {[*places_of]}.", parameter="n_clusters"
            )
        if n_clusters is not None and None in places_of:
            raise ParameterError(
                f"{clusterer!r} finds its number of clusters by itself: leave n_clusters out.", parameter="n_clusters"
            )
        if n_clusters is None:
            (n_clusters,) = places_of
        check_known(n_clusters, f"number of clusters of {clusterer!r}", places_of, parameter="n_clusters")
        return self.at(places_of[n_clusters], self._agreement(agreement))

    def at(self, c: int, a: int) -> Replicability:
        """Return the result of the c-th configuration by the a-th agreement."""
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
            provenance=self.provenance.of_configuration(c),
            _origin=None if self._origins is None else self._origins[c],
        )

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every configuration, agreement and pair of studies.

        Columns: clusterer, k, train, test, agreement, score (R̂), mean, sd, low, high, trivial, failed (counts of
        resamples) and clusters_found (mean over resamples, in the training study).
        """
        frames = []
        for c, k in enumerate(self.n_clusters):
            n_clusters_or_nan = np.where(self.clusters_found[c] < 0, np.nan, self.clusters_found[c])  # (n_resamples, S)
            with quiet():
                by_study = dict(zip(self.names, np.nanmean(n_clusters_or_nan, axis=0), strict=True))
            for a in range(len(self.agreements)):
                frame = self.at(c, a).to_frame(confidence_level)
                frame.insert(0, "clusterer", self.clusterers[c])
                frame.insert(1, "k", pd.Series([k] * len(frame), dtype="Int64"))
                for place, (name, value) in enumerate(self._series_columns(c).items(), 2):
                    frame.insert(place, name, value)
                frame["clusters_found"] = frame["train"].map(by_study)
                frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def summary(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every configuration and agreement, averaged over ordered pairs of different studies.

        Columns: clusterer, k, agreement; parameter, value and clusters_found where a parameter other than k has several
        values; score, the mean over pairs of the mean over resamples; low, high, the interval
        over resamples of the mean over pairs; trivial, the share of single-cluster scores; failed, the number of failed
        scores; eligible, whether the configuration can be called the best.
        """
        rows = [
            {
                "clusterer": self.clusterers[c],
                "k": self.n_clusters[c],
                **self._series_columns(c),
                **({"clusters_found": self.mean_clusters_found[c]} if self._series else {}),
                "agreement": agreement,
                "score": self._scores[c, a],
                "low": low,
                "high": high,
                "trivial": self._trivial_share[c, a],
                "failed": int((self.failed[c, a] > 0).sum()),
                "eligible": bool(self._rankings[a].eligible[c]),
            }
            for c in range(len(self.clusterers))
            for a, agreement in enumerate(self.agreements)
            for low, high in [Ranking.interval(self._averages[c, a], confidence_level)]
        ]
        return pd.DataFrame(rows).astype({"k": "Int64"})

    def best(self, agreement: str | None = None) -> Best:
        """Return the configuration with the highest score (ties to the smaller k), and its rivals.

        The score is the mean over ordered pairs of different studies of the mean over resamples. A rival is any other
        whose difference to the best, resample by resample, has a 95 % interval that includes 0. A configuration with
        more than 5 % single-cluster scores is never picked, nor one in which more than half of the resamples lack a
        score.
        """
        return self._rankings[self._agreement(agreement)].best()

    def choice(self, reference: NullReference | None = None, *, agreement: str | None = None) -> Choice:
        """Choose with uncertainty: how often each is the best, and which are above data without clusters.

        Parameters
        ----------
        reference : NullReference, optional
            `null_reference` of this comparison. With it, only configurations above data without clusters can be
            chosen, by an adjusted p-value of at most 5 %; perhaps nothing is. There single-cluster scores count 0,
            so a configuration can be chosen that has too many of them to be called the best.
        agreement : str, optional
            By which agreement; the first by default.
        """
        a = self._agreement(agreement)
        if reference is not None:
            self._check_reference(reference)
        ranking = self._rankings[a]
        order = ranking.known()
        against = None if reference is None else against_null(reference, order, a)
        return ranking.choice(against, order)

    def _check_reference(self, reference: NullReference) -> None:
        if getattr(reference, "provenance", {}).get("of") != self._fingerprint:
            raise ParameterError(
                "reference must be null_reference(...) of this very comparison.", parameter="reference"
            )
        if 1 / (1 + len(reference.distribution)) > FALSE_FINDING:
            raise ParameterError(
                f"reference has {len(reference.distribution)} simulated data sets, too few for any p-value of "
                f"{FALSE_FINDING:.0%}: take null_reference(result, n=199).",
                parameter="reference",
            )

    def plot(
        self, ax: Axes | None = None, agreement: str | None = None, *, reference: NullReference | None = None
    ) -> Axes:
        """Draw the score against the number of clusters, a line for each clusterer.

        Mean over pairs of studies, 95 % interval as a band, ± sd over resamples as bars. Clusterers that were compared
        over values of one parameter are drawn against that parameter; over several, against the clusters found. The
        matrix of one configuration is that of ``comparison.replicability(clusterer, k).plot()``.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        agreement : str, default=None
            By which agreement; None: the first.
        reference : NullReference, default=None
            `null_reference` of this comparison: the range of its scores is drawn, too.

        Returns
        -------
        matplotlib Axes
        """
        from clustrep.algorithms.score_plots import draw_curves

        name = self.agreements[self._agreement(agreement)]
        if reference is not None:
            self._check_reference(reference)
        return draw_curves(self, name, reference, ax)

    def _shown(self) -> tuple[str, pd.DataFrame, list[str]]:
        """Return what it is, its summary, and which configuration is the best by every agreement."""
        notes = list(self.failures.lines("score"))
        for ranking in self._rankings:
            choice = str(ranking.best()) if ranking.eligible.any() else f"{NO_BEST} {ranking.cause}".strip()
            notes += [choice] if choice not in notes else []
        head = f"Comparison on {plural(len(self.names), 'study')}: {', '.join(self.names)}"
        return head, self.summary().drop(columns="eligible"), notes

    @cached_property
    def _averages(self) -> FloatArray:
        """Mean over ordered pairs of different studies, (n_configurations, n_agreements, n_resamples)."""
        return np.asarray(self.distribution[..., self._off].mean(axis=-1))

    @cached_property
    def _scores(self) -> FloatArray:
        """Mean over pairs of the mean over resamples, (n_configurations, n_agreements)."""
        with quiet():
            return np.asarray(np.nanmean(self.distribution[..., self._off], axis=-2).mean(axis=-1))

    @cached_property
    def mean_clusters_found(self) -> FloatArray:
        """Mean number of clusters over the draws of all studies, noise apart, (n_configurations,)."""
        with quiet():
            return np.asarray(np.nanmean(np.where(self.clusters_found < 0, np.nan, self.clusters_found), axis=(1, 2)))

    @property
    def records(self) -> tuple[ClustererRecord | None, ...]:
        """Facts about the clusterer of every configuration."""
        known = self.provenance.clusterers
        return known if len(known) == len(self.clusterers) else (None,) * len(self.clusterers)

    @cached_property
    def curves(self) -> dict[str, list[int]]:
        """For every curve, over k or over another parameter, its configurations in that order."""
        names, along = list(self.clusterers), [float(k or 0) for k in self.n_clusters]
        for c, record in enumerate(self.records):
            if record is not None and record.series:
                names[c] = record.series
            if record is not None and record.value is not None:
                along[c] = record.value
        order = sorted(range(len(names)), key=lambda c: along[c])
        return {name: [c for c in order if names[c] == name] for name in dict.fromkeys(names)}

    @property
    def parameters(self) -> list[str]:
        """The different parameters that vary along curves, "k" among them."""
        named = [
            record.parameter if record is not None and record.value is not None else "k" if k is not None else None
            for record, k in zip(self.records, self.n_clusters, strict=True)
        ]
        return [name for name in dict.fromkeys(named) if name is not None]

    @cached_property
    def _series(self) -> dict[str, dict[float, int]]:
        """For every clusterer that was run over values of a parameter: the place of every value."""
        series: dict[str, dict[float, int]] = {}
        for c, record in enumerate(self.records):
            if record is not None and record.value is not None:
                series.setdefault(record.series, {})[record.value] = c
        return series

    def _series_columns(self, c: int) -> dict[str, Any]:
        """Return parameter and value of a configuration, for tables; nothing where no clusterer has any."""
        if not self._series:
            return {}
        record = self.records[c]
        assert record is not None
        return {"parameter": record.parameter, "value": np.nan if record.value is None else float(record.value)}

    @property
    def _fingerprint(self) -> str:
        """An identifier of this comparison."""
        about = json.dumps([self.names, self.agreements, self.clusterers, self.n_clusters])
        return fingerprint(self.estimate, self.distribution, about=about)

    @cached_property
    def _trivial_share(self) -> FloatArray:
        """Share of trivial ones among the scores that did not fail, (n_configurations, n_agreements)."""
        scored = np.isfinite(self.distribution[..., self._off])  # (n_configurations, n_agreements, n_resamples, pairs)
        trivial = self.trivial[:, None, ..., self._off] & scored
        return np.asarray(trivial.sum(axis=(2, 3)) / np.maximum(scored.sum(axis=(2, 3)), 1))

    @cached_property
    def _cause(self) -> str:
        """Which study keeps all configurations from being the best, and what to try; empty where none does."""
        obstacle = nearest_obstacle(self)
        return "" if obstacle is None else f"{obstacle.sentence} {obstacle.next_step}"

    @cached_property
    def _rankings(self) -> tuple[Ranking, ...]:
        """The configurations ranked by every agreement."""
        return tuple(
            Ranking(
                agreement,
                self.clusterers,
                self.n_clusters,
                self._averages[:, a],
                self._scores[:, a],
                self._trivial_share[:, a],
                self._cause,
                tuple(self._found(c) for c in range(len(self.clusterers))) if self._series else (),
            )
            for a, agreement in enumerate(self.agreements)
        )

    def _found(self, c: int) -> float | None:
        """Return the number of clusters that one value of a parameter led to."""
        record = self.records[c]
        return float(self.mean_clusters_found[c]) if record is not None and record.value is not None else None

    @property
    def _off(self) -> BoolArray:
        """Pairs of different studies, (S, S)."""
        return ~np.eye(len(self.names), dtype=bool)

    def _agreement(self, agreement: str | None) -> int:
        if agreement is None:
            return 0
        check_choice(agreement, "agreement", self.agreements)
        return self.agreements.index(agreement)
