"""Scores beside their null distributions: the result of `null_reference`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from clustrep.agreement.agreements import shown
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.pairwise import Replicability
from clustrep.algorithms.score_plots import NULL_NAME, null_band
from clustrep.checks import check_choice
from clustrep.files.saved import Saved
from clustrep.plots.canvas import COLOURS, DOUBLE, SINGLE, canvas, height_for, legend_above, literal, names_below
from clustrep.provenance import Provenance
from clustrep.statistics import null_pvalue
from clustrep.summaries import label, quiet, tails
from clustrep.text import plural
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# How much of the error each statistic may use, the observed score and separateness, which finds nearly all that either
# does: docs/null.md.
WEIGHTS = (0.1, 0.9)
# More names do not fit below the axes of a figure two columns wide; those beyond ten need that width.
MOST_SCORES, WIDE_FROM = 30, 10


class NullScores(NamedTuple):
    """The scores of a data set, or those of n data sets behind a further axis.

    scores : (n_configurations, n_agreements, S, S)
    separateness : (n_configurations,), mean over ordered pairs of different studies
    """

    scores: FloatArray
    separateness: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class NullReference(Saved):
    """Scores beside those of simulated null data.

    With x the observed score and x_1, …, x_n those of n simulated data sets:

        excess = x − Σ x_i / n
        pvalue = (1 + #{i : x_i ≥ x}) / (1 + n)
        qvalue = the p-value adjusted for the false discovery rate (Benjamini and Hochberg 1995)

    `overall`, `overall_excess` and `configuration_pvalue` are the same for the mean over ordered pairs of different
    studies. `overall_adjusted` is the p-value of a configuration by the score and separateness together, adjusted for
    all configurations, and `overall_pvalue` that of all studies together.

    Attributes
    ----------
    statistic : {"estimate", "mean"}
        Whether observed scores or means over resamples were compared.
    names : tuple of str
        The studies.
    agreements : tuple of str
        What the scores measure.
    clusterers : tuple of str
        For every configuration, its clusterer's name.
    n_clusters : tuple of int or None
        For every configuration, its number of clusters.
    observed : ndarray
        The scores: (S, S) of a replicability, (n_configurations, n_agreements, S, S) of a comparison; axes train, test.
        A single-cluster score counts 0, here and in simulated null data.
    distribution : ndarray of shape (n, ...)
        The same in every simulated data set.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    separateness : ndarray of shape (n_configurations,)
        The share of the held-out study's variance that lies between the clusters predicted for it, divided by what
        k − 1 principal axes explain: mean over ordered pairs of different studies.
    separateness_distribution : ndarray of shape (n, n_configurations)
        The same in every simulated data set.
    model : str
        What was simulated: of the models that were tried, that with the largest `overall_pvalue`.
    models : tuple of str
        All models that were tried, in this order.
    model_pvalues : ndarray of shape (n_models,)
        The `overall_pvalue` beside each of these.

    References
    ----------
    .. [1] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate: a practical and powerful
       approach to multiple testing. Journal of the Royal Statistical Society B 57(1), 289-300.
    .. [2] Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.

    See Also
    --------
    null_reference : The function that returns it.
    Comparison.choice : A choice among configurations above the null model.
    """

    statistic: str
    names: tuple[str, ...]
    agreements: tuple[str, ...]
    clusterers: tuple[str, ...]
    n_clusters: tuple[int | None, ...]
    observed: FloatArray
    distribution: FloatArray
    provenance: Provenance
    separateness: FloatArray
    separateness_distribution: FloatArray
    model: str = ""
    models: tuple[str, ...] = ()
    model_pvalues: FloatArray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(
        cls,
        result: Replicability | Comparison,
        statistic: str,
        of_result: NullScores,
        simulated: NullScores,
        model: str,
        provenance: Provenance,
    ) -> NullReference:
        """Put a result's scores beside those of simulated data sets."""
        scores = simulated.scores
        observed = np.where(np.eye(len(result.names), dtype=bool), np.nan, of_result.scores)  # no null of itself
        if isinstance(result, Replicability):
            observed, scores = observed[0, 0], scores[:, 0, 0]
        return cls(
            statistic=statistic,
            names=result.names,
            agreements=result.agreements if isinstance(result, Comparison) else (result.agreement,),
            clusterers=result.clusterers if isinstance(result, Comparison) else (result.clusterer,),
            n_clusters=result.n_clusters if isinstance(result, Comparison) else (result.n_clusters,),
            observed=observed,
            distribution=scores,
            provenance=provenance,
            separateness=of_result.separateness,
            separateness_distribution=simulated.separateness,
            model=model,
        )

    @property
    def is_comparison(self) -> bool:
        """Whether a comparison was compared with null models, else a single replicability."""
        return self.observed.ndim == 4

    @property
    def mean(self) -> FloatArray:
        """Mean score of simulated data sets, like `observed`."""
        with quiet():
            return np.where(np.isnan(self.observed), np.nan, np.nanmean(self.distribution, axis=0))

    @property
    def excess(self) -> FloatArray:
        """How far the scores lie above their mean over simulated data sets, like `observed`.

        In units of the agreement: a partition of unimodal data has an excess near 0, whatever its score.
        """
        return np.asarray(self.observed - self.mean)

    @property
    def pvalue(self) -> FloatArray:
        """(1 + exceedances) / (1 + n), like `observed`.

        Of each pair of studies by itself: with many pairs and numbers of clusters some are small by chance (`qvalue`).
        """
        return _pvalues(self.observed, self.distribution)

    @property
    def qvalue(self) -> FloatArray:
        """p-values adjusted for many pairs and numbers of clusters, by agreement.

        The expected share of false findings among all scores whose q-value is at most q is at most q, if scores are
        independent or positively dependent (Benjamini and Hochberg 1995).
        """
        return self._adjusted(self.pvalue)

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
        return _pvalues(self.overall, self.overall_distribution)

    @property
    def overall_adjusted(self) -> FloatArray:
        """The p-value of every configuration, by agreement, adjusted for the chance of any false finding.

        Each statistic, the score and separateness, is standardised in every configuration, z = (x − mean) / sd, over
        the data and all data sets; z is compared with the largest z of all configurations in each data set (maxT of
        Westfall and Young 1993). The smaller of the two p-values, each divided by its weight (0.1 and 0.9), is compared
        with the smallest of each data set (minP).
        """
        adjusted = [_adjusted_together(self.statistics(a), WEIGHTS) for a in range(len(self.agreements))]
        return np.stack(adjusted, axis=-1).reshape(np.shape(self.overall))

    def statistics(self, a: int = 0) -> FloatArray:
        """Return score, by one agreement, and separateness: (1 + n, 2, n_configurations), the data first."""
        n = len(self.distribution)
        # The data are standardised together with the simulated data sets: under the null model, they are one of them.
        scores = np.concatenate([np.reshape(self.overall, (1, -1)), self.overall_distribution.reshape(n, -1)])
        scores = scores.reshape(1 + n, len(self.clusterers), len(self.agreements))
        separateness = np.concatenate([self.separateness[None], self.separateness_distribution])
        return np.stack([scores[:, :, a], separateness], axis=1)

    @property
    def overall_pvalue(self) -> float:
        """The p-value of any configuration, by its score (of the first agreement) and separateness together.

        The smallest of `overall_adjusted`, which is adjusted for all configurations.
        """
        adjusted = self.overall_adjusted.reshape(-1, len(self.agreements))[:, 0]
        known = adjusted[~np.isnan(adjusted)]
        return float(known.min()) if known.size else float("nan")

    def _over_pairs(self, scores: FloatArray) -> FloatArray:
        # The same pairs on both sides: those that have an observed score.
        with quiet():
            return np.asarray(np.nanmean(np.where(np.isnan(self.observed), np.nan, scores), axis=(-2, -1)))

    def _adjusted(self, pvalues: FloatArray) -> FloatArray:
        """Adjust p-values for the false discovery rate, those of every agreement by themselves."""
        adjusted = np.full(pvalues.shape, np.nan)
        for a in range(len(self.agreements)):
            of_agreement = np.s_[:, a] if self.is_comparison else np.s_[:]
            values = pvalues[of_agreement].copy()
            known = ~np.isnan(values)
            if known.any():
                values[known] = false_discovery_control(values[known])
            adjusted[of_agreement] = values
        return adjusted

    # -----------------------------------------------------------------------------------------------------------------
    # tables and words

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return a table with one row for every score of two different studies.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Of the interval over simulated data sets.

        Returns
        -------
        DataFrame
            Columns: clusterer, k, agreement (of a comparison), train, test, observed, null_mean, null_low, null_high,
            excess, pvalue, qvalue.
        """
        with quiet():
            low, high = np.nanquantile(self.distribution, tails(confidence_level), axis=0)
        places = np.indices(self.observed.shape).reshape(self.observed.ndim, -1)
        columns = ("observed", "null_mean", "null_low", "null_high", "excess", "pvalue", "qvalue")
        values = (self.observed, self.mean, low, high, self.excess, self.pvalue, self.qvalue)
        frame = pd.DataFrame({name: array.ravel() for name, array in zip(columns, values, strict=True)})
        names = np.array(self.names, dtype=object)
        frame.insert(0, "train", names[places[-2]])
        frame.insert(1, "test", names[places[-1]])
        if self.is_comparison:
            frame.insert(0, "clusterer", np.array(self.clusterers, dtype=object)[places[0]])
            frame.insert(1, "k", pd.Series([self.n_clusters[c] for c in places[0]], dtype="Int64"))
            frame.insert(2, "agreement", np.array(self.agreements, dtype=object)[places[1]])
        return frame[frame["train"] != frame["test"]].reset_index(drop=True)

    def summary(self) -> pd.DataFrame:
        """Return a table with one row for every configuration and agreement, over all pairs of studies.

        Returns
        -------
        DataFrame
            Columns: clusterer, k, agreement; observed, null_mean, excess, pvalue, qvalue (of the score); separateness,
            null_separateness (of the observed studies, and the mean over simulated data sets); adjusted (the p-value by
            score and separateness together, adjusted for all configurations).
        """
        n_agreements, pvalues = len(self.agreements), self.configuration_pvalue
        with quiet():
            null_mean = np.nanmean(self.overall_distribution, axis=0)
            null_separateness = np.nanmean(self.separateness_distribution, axis=0)
        return pd.DataFrame(
            {
                "clusterer": np.repeat(self.clusterers, n_agreements),
                "k": pd.array(np.repeat(np.array(self.n_clusters, dtype=object), n_agreements), dtype="Int64"),
                "agreement": np.tile(self.agreements, len(self.clusterers)),
                "observed": np.ravel(self.overall),
                "null_mean": np.ravel(null_mean),
                "excess": np.ravel(self.overall_excess),
                "pvalue": np.ravel(pvalues),
                "qvalue": np.ravel(self._adjusted(pvalues) if self.is_comparison else pvalues),
                "separateness": np.repeat(self.separateness, n_agreements),
                "null_separateness": np.repeat(null_separateness, n_agreements),
                "adjusted": np.ravel(self.overall_adjusted),
            }
        )

    def plot(self, ax: Axes | None = None, agreement: str | None = None) -> Axes:
        """Draw the scores and the range of the simulated ones: every pair of studies, or every configuration.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        agreement : str, default=None
            Which agreement of a comparison is drawn; None: the first. Where there are more than thirty scores, those
            with the largest excess are drawn.
        """
        if agreement is not None:
            check_choice(agreement, "agreement", self.agreements)
        a = 0 if agreement is None else self.agreements.index(agreement)
        if self.is_comparison:
            names = [literal(label(*each)) for each in zip(self.clusterers, self.n_clusters, strict=True)]
            observed, (mean, low, high) = self.overall[:, a], null_band(self, a)
            what, axis, over = "configurations", "", ", mean over pairs of studies"
        else:
            frame = self.to_frame()
            pairs = frame[["train", "test"]].to_numpy()
            names = [f"{literal(train, 16)} → {literal(test, 16)}" for train, test in pairs]
            observed, mean, low, high = frame[["observed", "null_mean", "null_low", "null_high"]].to_numpy(float).T
            what, axis, over = "pairs", "trained → tested", ""
        title, shown_places = "", np.arange(len(names))
        if len(names) > MOST_SCORES:
            title = f"{MOST_SCORES} of {len(names)} {what}: the largest excess"
            excess = np.nan_to_num(observed - mean, nan=-np.inf)
            shown_places = np.sort(np.argsort(-excess, kind="stable")[:MOST_SCORES])
        names = [names[i] for i in shown_places]
        with canvas(ax, SINGLE if len(names) <= WIDE_FROM else DOUBLE, height_for(names)) as ax:
            places = np.arange(len(names))
            ax.vlines(places, low[shown_places], high[shown_places], color="0.8", lw=8, label=NULL_NAME)
            ax.plot(places, mean[shown_places], "_", color="0.4", markersize=10)
            ax.plot(places, observed[shown_places], "o", color=COLOURS[0], label="observed")
            names_below(ax, places, names)
            ax.set_xlim(-0.6, len(names) - 0.4)
            ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
            ax.set_xlabel(axis)
            ax.set_ylabel(f"{literal(shown(self.agreements[a]))}{over}")
            legend_above(ax, title)
            return ax

    def __repr__(self) -> str:
        frame = self.summary() if self.is_comparison else self.to_frame()
        what = {"estimate": "observed score", "mean": "mean over resamples"}[self.statistic]
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
    shares, of_data = shares_above(values)
    divided, of_data = shares / np.asarray(weights), of_data / np.asarray(weights)[:, None]
    with quiet():
        smallest = np.nanmin(of_data, axis=0)  # (n_configurations,)
    adjusted = (divided.min(axis=1)[:, None] <= smallest + 1e-12).mean(axis=0)
    return np.where(np.isnan(smallest), np.nan, adjusted)


def shares_above(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return p-values by each statistic, adjusted over configurations: of every data set, and of the data.

    values : (1 + n, n_statistics, n_configurations), the data first
    Returns (1 + n_known, n_statistics) and (n_statistics, n_configurations).
    """
    with quiet():
        sd = np.nanstd(values, axis=0)
        z = (values - np.nanmean(values, axis=0)) / np.where(sd > 0, sd, 1.0)
        largest = np.nanmax(z, axis=2)  # (1 + n, n_statistics)
    known = ~np.isnan(largest).any(axis=1)
    known[0] = True
    largest = np.nan_to_num(largest[known], nan=-np.inf)
    of_data = np.where(np.isnan(z[0]), np.nan, _share_above(largest, z[0].T).T)
    return _share_above(largest, largest), of_data


def _share_above(reference: FloatArray, values: FloatArray) -> FloatArray:
    """Return for every value the share of its column of the reference that is at least as large."""
    return np.asarray((reference[None] >= values[:, None]).mean(axis=1))


def _pvalues(observed: FloatArray, simulated: FloatArray) -> FloatArray:
    """Compare with simulated scores, (n, ...), of which missing ones do not count."""
    exceedances = np.count_nonzero(simulated >= observed, axis=0)
    n = np.count_nonzero(~np.isnan(simulated), axis=0)
    return np.where(np.isnan(observed), np.nan, null_pvalue(exceedances, n))
