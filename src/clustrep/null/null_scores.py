"""Scores beside those of simulated unimodal data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from clustrep.agreement.agreements import shown
from clustrep.algorithms.comparison import AXIS_OF_K, Comparison, Curves
from clustrep.algorithms.comparison_plot import NULL_NAME, NullBand, is_wide
from clustrep.algorithms.local_scores import LocalReplicability
from clustrep.algorithms.pairwise import Replicability
from clustrep.checks import check_choice, check_numbers_between
from clustrep.files.saved import Saved
from clustrep.plots.canvas import (
    COLOURS,
    DOUBLE,
    SINGLE,
    canvas,
    height_for,
    in_legend,
    legend_above,
    literal,
    look,
    names_below,
    ticks_at,
)
from clustrep.plots.charts import NO_K
from clustrep.provenance import Provenance
from clustrep.statistics import null_pvalue
from clustrep.summaries import quiet, tails
from clustrep.text import plural
from clustrep.types import FloatArray, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


CLUSTERS = "local"
# How much of the error each statistic may use, R̂ and separateness, which finds nearly all that either does.
WEIGHTS = (0.1, 0.9)


class NullScores(NamedTuple):
    """The scores of a data set, or those of n data sets behind a further axis.

    scores : (n_configurations, n_agreements, S, S), or of clusters, (n_clusters,)
    separateness : (n_configurations,), mean over ordered pairs of different studies; of clusters, empty
    """

    scores: FloatArray
    separateness: FloatArray


def _none() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True, eq=False, repr=False)
class NullReference(Saved):
    """Scores beside those of simulated null data.

    With x the observed score and x_1, …, x_n those of n simulated data sets:

        excess = x − Σ x_i / n
        pvalue = (1 + #{i : x_i ≥ x}) / (1 + n)
        qvalue = the p-value adjusted for the false discovery rate (Benjamini and Hochberg 1995)

    `overall`, `overall_excess` and `configuration_pvalue` are the same for the mean over ordered pairs of different
    studies. `overall_adjusted` is the p-value of a configuration by R̂ and separateness together, adjusted for all
    configurations, and `overall_pvalue` that of all studies together.

    Attributes
    ----------
    kind : {"replicability", "comparison", "local"}
        What kind of result was compared.
    statistic : {"estimate", "mean"}
        Whether R̂ or the mean over resamples was compared.
    names : tuple of str
        The studies; of a local result, the training and the test study.
    agreements : tuple of str
        What the scores measure.
    clusterers : tuple of str
        For every configuration, its clusterer's name.
    n_clusters : tuple of int or None
        For every configuration, its number of clusters.
    clusters : ndarray, (n_clusters,)
        Of a local result: its clusters. Else empty.
    observed : ndarray
        The scores: (S, S) of a replicability, (n_configurations, n_agreements, S, S) of a comparison, (n_clusters,) of
        a local result. 0, here and in simulated data sets, where either side is a single block.
    distribution : ndarray, (n, ...)
        The same in every simulated data set. A simulated data set has clusters of its own: of a local result,
        (n, most clusters), NaN where there are fewer.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    separateness : ndarray, (n_configurations,)
        The share of the held-out study's spread that lies between the clusters predicted for it, divided by what k − 1
        principal axes explain: mean over ordered pairs of different studies, as they are. Empty for a local result.
    separateness_distribution : ndarray, (n, n_configurations)
        The same in every simulated data set.
    model : str
        What was simulated: of the models that were tried, that with the largest `overall_pvalue`.
    models : tuple of str
        All models that were tried, in this order.
    model_pvalues : ndarray, (n_models,)
        The `overall_pvalue` beside each of these.

    References
    ----------
    .. [1] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate: a practical and powerful
       approach to multiple testing. Journal of the Royal Statistical Society B 57(1), 289-300.
    .. [2] Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.

    See Also
    --------
    null_reference : The function that returns it.
    Comparison.choice : A choice among what is above unimodal data.
    """

    kind: str
    statistic: str
    names: tuple[str, ...]
    agreements: tuple[str, ...]
    clusterers: tuple[str, ...]
    n_clusters: tuple[int | None, ...]
    clusters: Labels  # of a local result
    observed: FloatArray
    distribution: FloatArray
    provenance: Provenance
    separateness: FloatArray = field(default_factory=_none)
    separateness_distribution: FloatArray = field(default_factory=_none)
    model: str = ""
    models: tuple[str, ...] = ()
    model_pvalues: FloatArray = field(default_factory=_none)

    @classmethod
    def of(
        cls,
        result: Replicability | Comparison | LocalReplicability,
        statistic: str,
        of_result: NullScores,
        simulated: NullScores,
        model: str,
        provenance: Provenance,
    ) -> NullReference:
        """Put a result's scores beside those of simulated data sets."""
        observed, scores = of_result.scores, simulated.scores
        clusters: Labels = np.zeros(0, dtype=np.int64)
        names: tuple[str, ...]
        if isinstance(result, LocalReplicability):
            clusters = result.by_cluster()["cluster"].to_numpy()
            kind, names = CLUSTERS, (result.train, result.test)
        else:
            kind, names = "comparison" if isinstance(result, Comparison) else "replicability", result.names
            observed = np.where(np.eye(len(names), dtype=bool), np.nan, observed)  # no null for a study against itself
            if isinstance(result, Replicability):
                observed, scores = observed[0, 0], scores[:, 0, 0]
        return cls(
            kind=kind,
            statistic=statistic,
            names=names,
            agreements=result.agreements if isinstance(result, Comparison) else (result.agreement,),
            clusterers=result.clusterers if isinstance(result, Comparison) else (result.clusterer,),
            n_clusters=result.n_clusters if isinstance(result, Comparison) else (result.n_clusters,),
            clusters=np.asarray(clusters.tolist()) if clusters.dtype.hasobject else clusters,
            observed=observed,
            distribution=scores,
            provenance=provenance,
            separateness=of_result.separateness,
            separateness_distribution=simulated.separateness,
            model=model,
        )

    @property
    def mean(self) -> FloatArray:
        """Mean score of simulated data sets, like `observed`; of a local result the same for all clusters."""
        with quiet():
            if self.kind == CLUSTERS:
                return np.full(self.observed.shape, np.nanmean(np.nanmean(self.distribution, axis=1)))
            return np.where(np.isnan(self.observed), np.nan, np.nanmean(self.distribution, axis=0))

    def quantile(self, q: float | Sequence[float]) -> FloatArray:
        """Quantiles of the simulated scores, like `observed` behind an axis for several q."""
        check_numbers_between(q, "q", 0, 1)
        with quiet():
            if self.kind == CLUSTERS:
                pooled = np.nanquantile(self.distribution, q)
                return np.multiply.outer(pooled, np.ones(self.observed.shape))
            return np.asarray(np.nanquantile(self.distribution, q, axis=0))

    @property
    def excess(self) -> FloatArray:
        """How far the scores lie above their mean over simulated data sets, like `observed`."""
        return np.asarray(self.observed - self.mean)

    @property
    def pvalue(self) -> FloatArray:
        """(1 + exceedances) / (1 + n), like `observed`.

        Of a local result, every cluster is compared with all clusters of each simulated data set: the share of them
        that score at least as high counts as an exceedance.
        """
        if self.kind == CLUSTERS:
            return _pvalues(self.observed, self.distribution[:, :, None] * np.ones(len(self.observed)))
        return _pvalues(self.observed, self.distribution[:, None])

    @property
    def qvalue(self) -> FloatArray:
        """p-values adjusted for many pairs, numbers of clusters or clusters (Benjamini and Hochberg), by agreement."""
        pvalues = self.pvalue
        if self.kind == "comparison":
            return np.stack([_adjusted(pvalues[:, a]) for a in range(len(self.agreements))], axis=1)
        return _adjusted(pvalues)

    # -----------------------------------------------------------------------------------------------------------------
    # whole data sets

    @property
    def overall_distribution(self) -> FloatArray:
        """Mean over ordered pairs of different studies, (n,) or (n, n_configurations, n_agreements)."""
        return self._over_pairs(self.distribution)

    @property
    def overall(self) -> FloatArray:
        """Mean over ordered pairs of different studies of the observed scores."""
        return self._over_pairs(self.observed)

    @property
    def overall_excess(self) -> FloatArray:
        """How far `overall` lies above its mean over simulated data sets."""
        with quiet():
            return np.asarray(self.overall - np.nanmean(self.overall_distribution, axis=0))

    @property
    def configuration_pvalue(self) -> FloatArray:
        """The p-value of `overall`, for every configuration by itself."""
        return _pvalues(np.asarray(self.overall), self.overall_distribution[:, None])

    @property
    def overall_qvalue(self) -> FloatArray:
        """The p-value of `overall`, adjusted for the false discovery rate over configurations, by agreement."""
        pvalues = self.configuration_pvalue
        if self.kind != "comparison":
            return pvalues
        return np.stack([_adjusted(pvalues[:, a]) for a in range(len(self.agreements))], axis=1)

    @property
    def separateness_pvalue(self) -> FloatArray:
        """The p-value of the separateness of every configuration by itself, (n_configurations,)."""
        return _pvalues(self.separateness, self.separateness_distribution[:, None])

    @property
    def overall_adjusted(self) -> FloatArray:
        """The p-value of every configuration, by agreement, adjusted for the chance of any false finding.

        Each statistic, R̂ and separateness, is standardised in every configuration, z = (x − mean) / sd, over the data
        and all data sets; z is compared with the largest z of all configurations in each data set (maxT of
        Westfall and Young 1993). The smaller of the two p-values, each divided by its weight (0.1 and 0.9), is compared
        with the smallest of each data set (minP). Without separateness R̂ alone is compared.
        """
        shape, n = np.shape(self.overall), len(self.distribution)
        n_configurations, n_agreements = len(self.clusterers), len(self.agreements)
        # The data are standardised together with the simulated data sets: under the null model, they are one of them.
        scores = np.concatenate([np.reshape(self.overall, (1, -1)), self.overall_distribution.reshape(n, -1)])
        scores = scores.reshape(1 + n, n_configurations, n_agreements)
        if not self.separateness.size:
            adjusted = [_adjusted_together(scores[:, None, :, a], (1.0,)) for a in range(n_agreements)]
        else:
            separateness = np.concatenate([self.separateness[None], self.separateness_distribution])
            adjusted = [
                _adjusted_together(np.stack([scores[:, :, a], separateness], axis=1), WEIGHTS)
                for a in range(n_agreements)
            ]
        return np.stack(adjusted, axis=-1).reshape(shape)

    @property
    def overall_pvalue(self) -> float:
        """The p-value of any configuration, by R̂ (the first agreement) and separateness together.

        The smallest of `overall_adjusted`, which is adjusted for all configurations.
        """
        adjusted = self.overall_adjusted.reshape(-1, len(self.agreements))[:, 0]
        known = adjusted[~np.isnan(adjusted)]
        return float(known.min()) if known.size else float("nan")

    def _over_pairs(self, scores: FloatArray) -> FloatArray:
        with quiet():
            if self.kind == CLUSTERS:
                return np.asarray(np.nanmean(scores, axis=-1))
            # The same pairs on both sides: those that have an observed score.
            known = np.where(np.isnan(self.observed), np.nan, scores)
            return np.asarray(np.nanmean(known, axis=(-2, -1)))

    # -----------------------------------------------------------------------------------------------------------------
    # tables and words

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every score: observed, null_mean, null_low, null_high, excess, pvalue, qvalue."""
        low, high = self.quantile(tails(confidence_level))
        values = {
            "observed": self.observed,
            "null_mean": self.mean,
            "null_low": low,
            "null_high": high,
            "excess": self.excess,
            "pvalue": self.pvalue,
            "qvalue": self.qvalue,
        }
        if self.kind == CLUSTERS:
            return pd.DataFrame({"cluster": self.clusters, **values})
        places = np.indices(self.observed.shape).reshape(self.observed.ndim, -1)
        frame = pd.DataFrame({name: array.ravel() for name, array in values.items()})
        names = np.array(self.names, dtype=object)
        frame.insert(0, "train", names[places[-2]])
        frame.insert(1, "test", names[places[-1]])
        if self.kind == "comparison":
            frame.insert(0, "clusterer", np.array(self.clusterers, dtype=object)[places[0]])
            frame.insert(1, "k", pd.Series([self.n_clusters[c] for c in places[0]], dtype="Int64"))
            frame.insert(2, "agreement", np.array(self.agreements, dtype=object)[places[1]])
        return frame[frame["train"] != frame["test"]].reset_index(drop=True)

    def summary(self) -> pd.DataFrame:
        """One row for every configuration and agreement, over all pairs of studies.

        observed, null_mean, excess, pvalue, qvalue : of the score
        separateness, null_separateness : of the studies as they are, and the mean over simulated data sets
        adjusted : the p-value by score and separateness together, adjusted for all configurations
        """
        configurations = np.ndindex(np.shape(self.overall)) if self.kind == "comparison" else [()]
        rows = []
        with quiet():
            means = np.nanmean(self.overall_distribution, axis=0)
            null_separateness = np.nanmean(self.separateness_distribution, axis=0)
        for place in configurations:
            c, a = place or (0, 0)
            rows.append(
                {
                    "clusterer": self.clusterers[c],
                    "k": self.n_clusters[c],
                    "agreement": self.agreements[a],
                    "observed": self.overall[place],
                    "null_mean": means[place],
                    "excess": self.overall_excess[place],
                    "pvalue": self.configuration_pvalue[place],
                    "qvalue": self.overall_qvalue[place],
                    **(
                        {"separateness": self.separateness[c], "null_separateness": null_separateness[c]}
                        if self.separateness.size
                        else {}
                    ),
                    "adjusted": self.overall_adjusted[place],
                }
            )
        return pd.DataFrame(rows).astype({"k": "Int64"})

    def plot(self, ax: Axes | None = None, agreement: str | None = None) -> Axes:
        """Draw the scores and the range of the simulated ones."""
        if agreement is not None:
            check_choice(agreement, "agreement", self.agreements)
        if self.kind == "comparison":
            return _draw_curves(self, 0 if agreement is None else self.agreements.index(agreement), ax)
        return _draw_scores(self, ax)

    def __repr__(self) -> str:
        frame = self.to_frame() if self.kind != "comparison" else self.summary()
        what = {"estimate": "R̂", "mean": "mean over resamples"}[self.statistic]
        lines = [
            f"{', '.join(map(shown, self.agreements))} ({what}) beside "
            f"{plural(len(self.distribution), 'simulated data set')}, null {self.provenance['null']}, "
            f"seed {self.provenance['seed']}"
        ]
        if self.models:
            tried = [f"{model} p = {p:.2g}" for model, p in zip(self.models, self.model_pvalues, strict=True)]
            lines.append(f"Models: {', '.join(tried)}; below: {self.model}")
        return "\n".join([*lines, frame.round(3).to_string(index=False)])


def _adjusted_together(values: FloatArray, weights: Sequence[float]) -> FloatArray:
    """Return p-values of configurations, adjusted over these and over statistics, (n_configurations,).

    The data count as one of the data sets, so that p-values are exact where they are one.

    values : (1 + n, n_statistics, n_configurations), the data first
    weights : one for every statistic, its part of the error
    """
    with quiet():
        sd = np.nanstd(values, axis=0)
        z = (values - np.nanmean(values, axis=0)) / np.where(sd > 0, sd, 1.0)
        largest = np.nanmax(z, axis=2)  # (1 + n, n_statistics)
    known = ~np.isnan(largest).any(axis=1)
    known[0] = True
    largest = np.nan_to_num(largest[known], nan=-np.inf)
    divided = _share_above(largest, largest) / np.asarray(weights)  # p-values of every data set
    of_data = np.where(np.isnan(z[0]), np.nan, _share_above(largest, z[0].T).T) / np.asarray(weights)[:, None]
    with quiet():
        smallest = np.nanmin(of_data, axis=0)  # (n_configurations,)
    adjusted = (divided.min(axis=1)[:, None] <= smallest + 1e-12).mean(axis=0)
    return np.where(np.isnan(smallest), np.nan, adjusted)


def _share_above(reference: FloatArray, values: FloatArray) -> FloatArray:
    """Return for every value the share of its column of the reference that is at least as large."""
    return np.asarray((reference[None] >= values[:, None]).mean(axis=1))


def _pvalues(observed: FloatArray, simulated: FloatArray) -> FloatArray:
    """Compare with simulated scores, (n, m, ...): of a data set's m, the share that is at least as high counts."""
    known = ~np.isnan(simulated)
    with quiet():
        exceeding = np.where(known, simulated >= observed, False).sum(axis=1) / known.sum(axis=1)
    n = np.count_nonzero(~np.isnan(exceeding), axis=0)
    return np.where(np.isnan(observed), np.nan, null_pvalue(np.nansum(exceeding, axis=0), n))


def _adjusted(pvalues: FloatArray) -> FloatArray:
    known = ~np.isnan(pvalues)
    adjusted = np.full(pvalues.shape, np.nan)
    if known.any():
        adjusted[known] = false_discovery_control(pvalues[known])
    return adjusted


# ---------------------------------------------------------------------------------------------------------------------
# Figures

MOST_SCORES = 30
WIDE_FROM = 10


def _draw_scores(result: NullReference, ax: Axes | None) -> Axes:
    """Draw every pair of studies, or every cluster: the largest excess where there are many."""
    frame, of_clusters, title = result.to_frame(), result.kind == "local", ""
    if len(frame) > MOST_SCORES:
        title = f"{MOST_SCORES} of {len(frame)} {'clusters' if of_clusters else 'pairs'}: the largest excess"
        largest = np.argsort(-frame["excess"].fillna(-np.inf).to_numpy(), kind="stable")[:MOST_SCORES]
        frame = frame.iloc[np.sort(largest)]
    parts = frame[["cluster"] if of_clusters else ["train", "test"]].itertuples(index=False, name=None)
    names = [" → ".join(literal(part, 32 if of_clusters else 16) for part in row) for row in parts]
    with canvas(ax, SINGLE if len(names) <= WIDE_FROM else DOUBLE, height_for(names)) as ax:
        places = np.arange(len(names))
        low, high = frame["null_low"].to_numpy(float), frame["null_high"].to_numpy(float)
        ax.vlines(places, low, high, color="0.8", lw=8, label=NULL_NAME)
        ax.plot(places, frame["null_mean"].to_numpy(float), "_", color="0.4", markersize=10)
        ax.plot(places, frame["observed"].to_numpy(float), "o", color=COLOURS[0], label="observed")
        names_below(ax, places, names)
        ax.set_xlim(-0.6, len(names) - 0.4)
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
        ax.set_xlabel("cluster" if of_clusters else "trained → tested")
        ax.set_ylabel(literal(shown(result.agreements[0])))
        legend_above(ax, title)
        return ax


def _draw_curves(result: NullReference, a: int, ax: Axes | None) -> Axes:
    """Draw a curve for every clusterer over k, or over another parameter, with bands of the null distributions."""
    curves = Curves.of(result.clusterers, result.n_clusters, result.provenance)
    title, positions = curves.positions(None, None)
    all_ks = sorted({k for k in positions if k is not None})
    beside = 0.3 if title == AXIS_OF_K else 0.0
    across = [min(all_ks, default=0) - beside, max(all_ks, default=0) + beside]
    with canvas(ax, DOUBLE if is_wide(len(curves.groups), all_ks) else SINGLE, 0.8 * SINGLE) as ax:
        for i, (name, places) in enumerate(curves.groups.items()):
            band = NullBand.of(result, places, a)
            has_k = positions[places[0]] is not None
            style = look(i, dashed=not has_k)
            x = [float(positions[c] or 0) for c in places] if has_k else across
            at = list(range(len(places))) if has_k else [0, 0]
            marker = style.marker if has_k else None
            line: dict[str, Any] = {"color": style.colour, "marker": marker, "linestyle": style.line}
            ax.plot(x, band.observed[at], label=in_legend(name), **line)
            fill: dict[str, Any] = {"color": style.colour, "alpha": 0.15}
            if len(curves.groups) > 1:
                fill = {"facecolor": "none", "edgecolor": style.colour, "hatch": style.hatch, "alpha": 0.6}
            ax.fill_between(x, band.low[at], band.high[at], label=f"{literal(name)}, {NULL_NAME}", lw=0, **fill)
        if title == AXIS_OF_K:
            ticks_at(ax, [int(k) for k in all_ks])
        ax.set_xlabel(literal(title) if all_ks else NO_K)
        ax.set_ylabel(f"{literal(shown(result.agreements[a]))}, mean over pairs of studies")
        legend_above(ax)
        return ax
