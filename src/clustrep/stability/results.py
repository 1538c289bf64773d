"""Results of one study: stability, curves over the number of clusters, in-group proportions, the test for clusters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.agreement.cluster_indices import DISSOLVED, INDICES, RECOVERED
from clustrep.checks import check_fraction, check_known, check_numbers_between
from clustrep.errors import ParameterError
from clustrep.execution.failures import Failures
from clustrep.files.saved import Saved
from clustrep.kernels import reductions
from clustrep.plots.canvas import (
    COLOURS,
    MOST_TICKS,
    SCORES,
    SINGLE,
    canvas,
    evenly,
    largest,
    legend_above,
    literal,
    look,
    names_below,
    panels,
    ticks_at,
)
from clustrep.provenance import Provenance
from clustrep.summaries import Failing, Resampled, label, quiet
from clustrep.text import plural
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Clusters beyond the first dozen have no name in a legend: it would be larger than the figure.
MOST_NAMED = 12
# Bars of a null distribution of some hundred to a thousand values.
N_BINS = 30
# Panels of indices, side by side in a figure one column of a journal wide.
MOST_COLUMNS = 2


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Resampled, Failing, Saved):
    """How well the clusters of a study are found again in resamples of it (section 2.2).

    Attributes
    ----------
    index : {"matching", "inclusion", "jaccard", "r", "d"}
        The quantity of every resample: how well a cluster is found again.
    relative : bool
        Whether "matching" is divided by the number of samples, "d" by the size of each cluster.
    clusterer : str
        The clusterer's name.
    n_clusters : int or None
        The number of clusters asked for; None where the clusterer finds it by itself.
    samples : tuple of str
        Names of the samples.
    labels : ndarray of shape (n_samples,)
        The reference partition: Ψ(X; X), or existing labels.
    clusters, sizes : ndarray of shape (k,)
        The names and sizes of its clusters.
    distribution : ndarray of shape (n_resamples, k) or (n_resamples,)
        The index of every cluster in every resample; "matching" has one for all. NaN where a resample failed, or
        where a cluster has nothing to compare: no sample drawn (Jaccard is 0 there), or for "r" no pair.
    overall_distribution : ndarray of shape (n_resamples,)
        One value for all clusters: "r" pools their pairs, "d" is summed, the others are averaged by size.
    failed : ndarray of int, shape (n_resamples,)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    Notes
    -----
    With C the contingency table of the reference partition (rows) and that of the resample (columns), for row i:
    inclusion is whether a column holds all of the row; Jaccard is max_j C_ij / (C_i. + C_.j − C_ij); R is
    Σ_j C_ij (C_ij − 1) / (C_i. (C_i. − 1)); D is C_i. + C_.j − 2 C_ij for the column j of the largest C_ij. Matching is
    the number of samples that change their cluster in the best one-to-one matching of all clusters.

    Mean, standard deviation and interval are over resamples, as in `Replicability`. Stable clusters need not be
    separated: large clusters, and halves of one long unimodal density, are found again as well.

    See Also
    --------
    stability : The function that returns it.
    Sensitivity : The same under increasing noise.
    """

    index: str
    relative: bool
    clusterer: str
    n_clusters: int | None
    samples: tuple[str, ...]
    labels: Labels
    clusters: Labels
    sizes: IntArray
    distribution: FloatArray
    overall_distribution: FloatArray
    failed: IntArray
    causes: tuple[str, ...]
    provenance: Provenance

    @property
    def title(self) -> str:
        """The name of the index, and whether its values are relative."""
        return INDICES[self.index].title(relative=self.relative)

    @property
    def per_cluster(self) -> FloatArray:
        """Mean over resamples for every cluster, (k,).

        "matching" is one number for the whole partition, and has none: see `overall`.
        """
        if not INDICES[self.index].per_cluster:
            raise AttributeError("The matching distance is one number for the whole partition: see overall.")
        return self.mean

    @property
    def overall(self) -> Any:
        """Mean over resamples of the value for all clusters.

        A float; (n_scales,) of a `Sensitivity`. "r" pools the pairs of all clusters, "d" is their sum, "matching" is
        about the whole partition, and the others are averages weighted by the clusters' sizes.
        """
        with quiet():
            mean = np.nanmean(self.overall_distribution, axis=0)
        return mean if mean.ndim else float(mean)

    def dissolved(self, at_most: float = DISSOLVED) -> IntArray:
        """Count the resamples in which each cluster is lost: its Jaccard coefficient is at most a threshold.

        Parameters
        ----------
        at_most : float, default=0.5
            The threshold. Above one half, no two clusters can have the same partner [1]_.

        Returns
        -------
        ndarray of int, shape (k,)

        References
        ----------
        .. [1] Hennig, C. (2007). Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis
           52, 258-271.
        """
        return self._count(self.distribution <= at_most)

    def recovered(self, above: float = RECOVERED) -> IntArray:
        """Count the resamples in which each cluster is recovered: its Jaccard coefficient is above a threshold.

        Parameters
        ----------
        above : float, default=0.75
            The threshold: a convention, like that of `dissolved`. Random partitions into a large and a small cluster
            recover the large one.

        Returns
        -------
        ndarray of int, shape (k,)
        """
        return self._count(self.distribution > above)

    def _count(self, is_so: BoolArray) -> IntArray:
        if INDICES[self.index].thresholds is None:
            raise ParameterError(
                f'Clusters dissolve and recover by index="jaccard" alone, not by {self.index!r}.', parameter="index"
            )
        return np.asarray(is_so.sum(axis=0))

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return a table with one row for every cluster; one row in all for "matching".

        Parameters
        ----------
        confidence_level : float, default=0.95
            Of the interval over resamples.

        Returns
        -------
        DataFrame
            Columns: cluster, size, mean, sd, median, low, high; for "jaccard" also dissolved and recovered, numbers of
            resamples.
        """
        whole = self.distribution.ndim == 1
        named = {"cluster": ["all"] if whole else self.clusters, "size": [len(self.labels)] if whole else self.sizes}
        frame = pd.DataFrame({**named, **self.columns(confidence_level)})
        frame.insert(4, "median", np.ravel(self.quantile(0.5)))
        if INDICES[self.index].thresholds is not None:
            frame["dissolved"], frame["recovered"] = self.dissolved(), self.recovered()
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every cluster's distribution over resamples: a box, and a point for each resample.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes
        """
        values = self.distribution.reshape(len(self.distribution), -1)  # (n_resamples, n_clusters)
        names = ["all"] if self.distribution.ndim == 1 else list(map(str, self.clusters))
        with canvas(ax) as ax:
            columns = [column[~np.isnan(column)] for column in values.T]
            ax.boxplot(columns, widths=0.6, showfliers=False, medianprops={"color": COLOURS[1]}, patch_artist=False)
            spread = np.linspace(-0.22, 0.22, len(values))  # by resample number: the same picture every time
            for i, column in enumerate(values.T, 1):
                ax.plot(i + spread, column, ".", color=COLOURS[0], alpha=0.35, markersize=3, zorder=1)
            few = len(names) <= MOST_TICKS
            names_below(ax, range(1, len(names) + 1), [literal(name) if few else "" for name in names])
            if self.index == "jaccard":
                for word, level, side in (("dissolved", DISSOLVED, "top"), ("recovered", RECOVERED, "bottom")):
                    ax.axhline(level, linestyle=":", color="0.5", lw=1)
                    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "ha": "left", "va": side}
                    ax.annotate(word, (1.01, level), color="0.4", fontsize="small", **place)
            if self.index not in ("matching", "d"):
                ax.set_ylim(-0.03, 1.03)
            ax.set_xlabel("cluster")
            ax.set_ylabel(self.title)
            ax.set_title(literal(label(self.clusterer, self.n_clusters)))
            return ax

    def __repr__(self) -> str:
        known = self.provenance["labels"] == "known" and self.clusterer != "known labels"
        name = label(self.clusterer, self.n_clusters)
        subject = f"known labels, found again by {name}" if known else name
        lines = [
            f"Stability of {subject}: {self.title}, "
            f"{plural(len(self.distribution), 'resample')} by {self.provenance['resampling']}, "
            f"seed {self.provenance['seed']}",
            self.to_frame().round(3).to_string(index=False),
        ]
        if self.distribution.ndim > 1:
            lines.append(f"All clusters: {self.overall:.3f}")
        lines += self.failures.lines("resample")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Stability):
    """Stability under increasing noise: a `Stability` in which arrays have an axis for the scale of the noise.

    Attributes
    ----------
    index : {"matching", "inclusion", "jaccard", "r", "d"}
        The quantity: see `Stability`.
    relative : bool
        Whether "matching" is divided by the number of samples, "d" by the size of each cluster.
    clusterer : str
        The clusterer's name.
    n_clusters : int or None
        The number of clusters asked for; None where the clusterer finds it by itself.
    scales : ndarray of shape (n_scales,)
        Standard deviations of the noise, in units of each feature's own.
    samples : tuple of str
        Names of the samples.
    labels : ndarray of shape (n_samples,)
        The reference partition: Ψ(X; X), or existing labels.
    clusters, sizes : ndarray of shape (k,)
        Their names and sizes.
    distribution : ndarray of shape (n_resamples, n_scales, k) or (n_resamples, n_scales)
        The index of every cluster; "matching" has one for all.
    overall_distribution : ndarray of shape (n_resamples, n_scales)
        One value for all clusters.
    failed : ndarray of int, shape (n_resamples, n_scales)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    See Also
    --------
    sensitivity : The function that returns it.
    Stability : The index at one scale, and its formula.
    """

    scales: FloatArray

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return a table with one row for every scale and cluster, and one for every scale and all clusters.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Of the interval over resamples.

        Returns
        -------
        DataFrame
            Columns: scale, cluster, size, mean, sd, low, high.
        """
        values, clusters, sizes = self.overall_distribution[:, :, None], ["all"], [len(self.labels)]
        if self.distribution.ndim == 3:
            values = np.concatenate([self.distribution, values], axis=2)
            clusters, sizes = [*self.clusters.tolist(), "all"], [*self.sizes.tolist(), len(self.labels)]
        n, summaries = len(self.scales), replace(self, distribution=values).columns(confidence_level)
        scales = np.repeat(self.scales, len(clusters))
        return pd.DataFrame({"scale": scales, "cluster": clusters * n, "size": sizes * n, **summaries})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a curve over the noise's scale for every cluster, and a black one for all.

        Clusters with a density valley around them keep their value up to a larger scale.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes
        """
        with canvas(ax) as ax:
            if self.distribution.ndim == 3:
                # Black is for all clusters together.
                _draw_clusters(ax, self.scales, self.clusters, self.per_cluster, len(COLOURS) - 1, lw=1)
            ax.plot(self.scales, self.overall, color="black", lw=2.5, label="all")
            ax.set_xlabel("noise, in standard deviations of each feature")
            ax.set_ylabel(self.title)
            legend_above(ax, literal(label(self.clusterer, self.n_clusters)))
            return ax

    def __repr__(self) -> str:
        columns = {} if self.distribution.ndim == 2 else dict(zip(self.clusters.tolist(), self.mean.T, strict=True))
        frame = pd.DataFrame(columns, index=pd.Index(self.scales, name="scale"))
        frame.insert(len(columns), "all", self.overall, allow_duplicates=True)
        lines = [
            f"Sensitivity of {self.clusterer} to noise: {self.title}, mean of "
            f"{plural(len(self.distribution), 'resample')}, seed {self.provenance['seed']}",
            frame.round(3).to_string(),
            *self.failures.lines("resample"),
        ]
        return "\n".join(lines)


# ---------------------------------------------------------------------------------------------------------------------
# In-group proportions of clusters


# What p-values compare with, or why there are none.
NO_NULL = ""
CLUSTERED_AGAIN = "p-values: against simulated null data, clustered again"
RANDOM_CELLS = "p-values: against random partitions; the clusters come from another study"
OWN_LABELS = (
    "No p-values: random partitions are no null model of labels that may come from the same data. Pass the clusterer, "
    "or the study that defines the clusters as train."
)


@dataclass(frozen=True, eq=False, repr=False)
class InGroupProportion(Saved):
    """The share of each cluster's samples whose nearest neighbours belong to it, too (section 2.3.2).

        IGP(c) = #{i in c : the j nearest neighbours of x_i are all in c} / n_c

    Where one number of neighbours was asked for, arrays have no axis for it.

    Attributes
    ----------
    n_neighbors : tuple of int
        The numbers of neighbours, j.
    clusters, sizes : ndarray of shape (k,)
        The clusters and their numbers of samples, n_c.
    labels : ndarray of shape (n_samples,)
        Every sample's cluster.
    samples : tuple of str
        Names of the samples.
    proportions : ndarray of shape (k,) or (n_j, k)
        IGP; NaN for a cluster without samples.
    exceeding : ndarray of shape (k,) or (n_j, k), or None
        (1 + null clusters with at least this proportion) / (1 + all null clusters); None where there is no null.
    pvalues_are : str
        What `pvalues` compare with, or why `exceeding` is no p-value.
    null_distribution : ndarray of shape (n_null, n_j, k), or None
        The proportions of null partitions; NaN for a cluster without samples. Where data are simulated and clustered
        again, k is the largest number of clusters found.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    Notes
    -----
    Large clusters have a high proportion by chance; the p-values take their sizes into account.

    References
    ----------
    .. [1] Kapp, A. V. and Tibshirani, R. (2007). Are clusters found in one dataset present in another dataset?
       Biostatistics 8(1), 9-31.

    See Also
    --------
    in_group_proportion : The function that returns it.
    """

    n_neighbors: tuple[int, ...]
    clusters: Labels
    sizes: IntArray
    labels: Labels
    samples: tuple[str, ...]
    proportions: FloatArray
    exceeding: FloatArray | None
    pvalues_are: str
    null_distribution: FloatArray | None
    provenance: Provenance

    @property
    def overall(self) -> float | FloatArray:
        """The share of all samples whose nearest neighbours belong to their cluster.

        A float; (n_j,) for several numbers of neighbours. It is the mean of the proportions weighted by size.
        """
        shares = np.nan_to_num(self.proportions) @ self.sizes / self.sizes.sum()
        return np.asarray(shares) if np.ndim(shares) else float(shares)

    @property
    def pvalues(self) -> FloatArray | None:
        """`exceeding` where it is a p-value, else None: see `pvalues_are`.

        Labels of the study itself have none: random partitions are no null model of clusters that were found in the
        same data, which have high proportions without any structure.
        """
        return self.exceeding if self.pvalues_are in (CLUSTERED_AGAIN, RANDOM_CELLS) else None

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row for every number of neighbours and cluster.

        Returns
        -------
        DataFrame
            Columns: n_neighbors, cluster, size, proportion, pvalue. The last one is called exceeding where it is no
            p-value, and is missing where there is no null model.
        """
        n_j, k = len(self.n_neighbors), len(self.clusters)
        frame = pd.DataFrame({"n_neighbors": np.repeat(self.n_neighbors, k), "cluster": np.tile(self.clusters, n_j)})
        frame = frame.assign(size=np.tile(self.sizes, n_j), proportion=self.proportions.ravel())
        if self.exceeding is not None:
            frame["exceeding" if self.pvalues is None else "pvalue"] = self.exceeding.ravel()
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the proportion of every cluster, against the number of neighbours where there are several.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes
        """
        proportions = self.proportions.reshape(len(self.n_neighbors), -1)  # (n_numbers, n_clusters)
        with canvas(ax) as ax:
            if len(proportions) == 1:
                places = range(len(self.clusters))
                ax.bar(places, proportions[0], color=COLOURS[0], width=0.6)
                names_below(ax, places, [literal(name) for name in self.clusters])
                ax.set_xlabel("cluster")
            else:
                _draw_clusters(ax, self.n_neighbors, self.clusters, proportions)
                ax.set_xlabel("nearest neighbours that must belong to the cluster")
                ticks_at(ax, self.n_neighbors)
                legend_above(ax)
            ax.set_ylim(0, 1.03)
            ax.set_ylabel("in-group proportion")
            return ax

    def __repr__(self) -> str:
        made = self.provenance
        by = made.clusterers[0].description + (f" learned on {made['train']}" if made["train"] else "")
        lines = [
            f"In-group proportion: {plural(len(self.labels), 'sample')}, clusters by {by}, "
            f"{plural(made['n_null'], 'null partition')}, seed {made.seed}",
            self.to_frame().round(3).to_string(index=False),
            *([] if self.exceeding is None else [self.pvalues_are]),
        ]
        return "\n".join(lines)


# ---------------------------------------------------------------------------------------------------------------------
# Over numbers of clusters: one number for each, in every resample or split


# Tibshirani & Walther (2005): "above 0.8 to 0.9".
THRESHOLDS = (0.8, 0.9)


@dataclass(frozen=True, eq=False, repr=False)
class OverK(Failing, Saved):
    """What results over numbers of clusters share.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    failed : ndarray of int, shape (n_resamples, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    """

    higher_is_better: ClassVar[bool]
    total: ClassVar[str]  # what `by_k` is called in tables

    clusterer: str
    n_clusters: tuple[int | None, ...]
    failed: IntArray
    causes: tuple[str, ...]
    provenance: Provenance

    @property
    def title(self) -> str:
        """What was measured: the name of the class in words."""
        return " ".join(re.findall("[A-Z][a-z]+", type(self).__name__)).capitalize()

    @property
    def by_k(self) -> FloatArray:
        """The number by which k is chosen, (number of k,)."""
        raise NotImplementedError

    @property
    def best_n_clusters(self) -> int | None:
        """The k ≥ 2 with the best value, the smallest of several; None without any number of clusters.

        The highest of prediction strength and assignment consistency, the lowest of the others. All favour some k on
        data without clusters, so this is a candidate and no evidence: compare with a null model, or with indices that
        favour other numbers (`validate`).
        """
        values = zip(self.n_clusters, self.by_k, strict=True)
        known = {k: value for k, value in values if k is not None and k > 1 and np.isfinite(value)}
        sign = -1 if self.higher_is_better else 1
        return min(known, key=lambda k: (sign * known[k], k), default=None)

    def __repr__(self) -> str:
        n = plural(len(self.failed), "split" if "n_splits" in self.provenance else "resample")
        lines = [
            f"{self.title} of {self.clusterer}: {n}, seed {self.provenance['seed']}",
            self._table().round(3).to_string(index=False),
        ]
        if self.best_n_clusters is not None and len(self.n_clusters) > 1:
            lines.append(f"{'Highest' if self.higher_is_better else 'Lowest'} at k = {self.best_n_clusters}")
        return "\n".join([*lines, *self._notes(), *self.failures.lines("value")])

    def _table(self) -> pd.DataFrame:
        return pd.DataFrame({"k": self._ks, self.total: self.by_k})

    @property
    def _ks(self) -> Any:
        """The numbers of clusters as a column, missing where there is none."""
        return pd.array(list(self.n_clusters), dtype="Int64")

    def _notes(self) -> list[str]:
        return []


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Resampled, OverK):
    """One number for each number of clusters in every resample or split: `distribution`, (n_resamples, number of k)."""

    distribution: FloatArray

    by_k = Resampled.mean

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return a table with one row for every k.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Of the interval over resamples or splits.

        Returns
        -------
        DataFrame
            Columns: k, mean, sd, low, high.
        """
        return pd.DataFrame({"k": self._ks, **self.columns(confidence_level)})

    _table = to_frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean against k, with the interval over resamples or splits as a band.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes
        """
        ks = [k for k in self.n_clusters if k is not None]
        if len(ks) < len(self.n_clusters):
            raise ParameterError(
                "There is no number of clusters to draw against: pass n_clusters.", parameter="n_clusters"
            )
        order = np.argsort(ks)
        at = np.array(ks)[order]
        low, high = self.confidence_interval()
        with canvas(ax) as ax:
            ax.plot(at, self.mean[order], marker="o", color=COLOURS[0])
            ax.fill_between(at, low[order], high[order], color=COLOURS[0], alpha=0.15, lw=0)
            ax.set_ylim(bottom=0)
            if isinstance(self, PredictionStrength):
                ax.axhspan(*THRESHOLDS, color="0.9", zorder=0, label="enough, by Tibshirani and Walther")
                ax.set_ylim(0, 1.03)
            ticks_at(ax, at.tolist())
            ax.set_xlabel("number of clusters k")
            ax.set_ylabel(self.title.lower())
            legend_above(ax, literal(self.clusterer))
            return ax


@dataclass(frozen=True, eq=False, repr=False)
class PredictionStrength(Curve):
    """How well one half of a study predicts which samples of the other half belong together (section 2.3.1).

    With A_1, …, A_k the clusters of the test half, and ψ the function learned on the other half:

        ps(k) = min_c #{pairs in A_c that ψ puts together} / #{pairs in A_c}

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    distribution : ndarray of shape (n_splits, number of k)
        The prediction strength, equation (4): the smallest over clusters; of both directions the mean.
    failed : ndarray of int, shape (n_splits, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    by_direction : ndarray of shape (n_splits, n_directions, number of k)
        Before the mean over directions: trained on the first part, then on the second.
    cluster_strengths, cluster_sizes : ndarray of shape (n_splits, n_directions, number of k, most clusters)
        What the smallest is taken of: for each cluster of the test part, the share of its pairs that are together under
        the function learned on the other part; NaN for a cluster of one. Clusters of different splits are different.

    Notes
    -----
    The minimum makes it pessimistic for many clusters and for small ones; ps(1) = 1 always.

    References
    ----------
    .. [1] Tibshirani, R. and Walther, G. (2005). Cluster validation by prediction strength. Journal of Computational
       and Graphical Statistics 14(3), 511-528.

    See Also
    --------
    prediction_strength : The function that returns it.
    """

    higher_is_better = True

    by_direction: FloatArray
    cluster_strengths: FloatArray
    cluster_sizes: FloatArray

    strength = Resampled.mean

    @property
    def per_cluster(self) -> dict[int | None, FloatArray]:
        """For every k, the strength of every test cluster.

        Returns
        -------
        dict of int to ndarray of shape (n_splits, n_directions, k)
            Clusters of different splits are different ones: their places have no meaning. NaN for a cluster of one
            sample.
        """
        occurs = np.asarray(self.cluster_sizes.any(axis=(0, 1)))  # (number of k, most clusters)
        n_labels = [int(np.max(np.nonzero(there)[0], initial=0)) + 1 for there in occurs]
        return {k: self.cluster_strengths[:, :, i, : n_labels[i]] for i, k in enumerate(self.n_clusters)}

    def recommended(self, threshold: float = THRESHOLDS[0]) -> int:
        """Return the largest k whose strength is above the threshold, as Tibshirani and Walther advise.

        Parameters
        ----------
        threshold : float, default=0.8
            They advise 0.8 to 0.9.

        Returns
        -------
        int
            1 where no k has enough strength: no clusters. One cluster always has strength 1.
        """
        check_fraction(threshold, "threshold")
        if self.n_clusters == (None,):
            raise ParameterError(
                "There is no number of clusters to recommend: pass n_clusters.", parameter="n_clusters"
            )
        strengths = zip(self.n_clusters, self.strength, strict=True)
        above = [k for k, strength in strengths if k is not None and strength > threshold]
        return max(above, default=1)

    @property
    def n_singletons(self) -> IntArray:
        """How many test clusters of one sample were omitted from the minimum, (number of k,)."""
        return np.asarray((self.cluster_sizes == 1).sum(axis=(0, 1, 3)))

    def _notes(self) -> list[str]:
        notes = []
        if self.best_n_clusters is not None and len(self.n_clusters) > 1:
            rule = [self.recommended(threshold) for threshold in THRESHOLDS]
            chosen = "1, no clusters" if rule == [1, 1] else f"{rule[0]} (above 0.8), {rule[1]} (above 0.9)"
            notes.append(f"Tibshirani and Walther's rule, the largest k with enough strength: {chosen}")
        if self.n_singletons.any():
            notes.append(f"Omitted: {plural(int(self.n_singletons.sum()), 'test cluster')} of one sample")
        return notes


@dataclass(frozen=True, eq=False, repr=False)
class BootstrapInstability(Curve):
    """How often two bootstrap samples disagree about a pair of samples (Fang and Wang 2012).

    With ψ and ψ′ learned on two independent bootstrap samples of the same study:

        instability = #{(i, j) : [ψ(x_i) = ψ(x_j)] ≠ [ψ′(x_i) = ψ′(x_j)]} / n²

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    distribution : ndarray of shape (n_resamples, number of k)
        The share of ordered pairs of samples that one function puts together and the other apart.
    failed : ndarray of int, shape (n_resamples, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    one_sided : bool
        Only pairs together under the first function, as R's fpc counts.

    Notes
    -----
    It tends to 0 with many clusters, because few pairs are together at all.

    References
    ----------
    .. [1] Fang, Y. and Wang, J. (2012). Selection of the number of clusters via the bootstrap method. Computational
       Statistics & Data Analysis 56(3), 468-477.

    See Also
    --------
    bootstrap_instability : The function that returns it.
    """

    higher_is_better = False

    one_sided: bool


@dataclass(frozen=True, eq=False, repr=False)
class RelativeValidation(Curve):
    """Disagreement of transferred labels with those of the half itself, relative to random labels (Lange et al. 2004).

    With d the smallest share, over all renamings of the labels, of samples of one half whose transferred label differs
    from their own, and d_random the same between random labels: d / mean of d_random.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    distribution : ndarray of shape (n_splits, number of k)
        The mean of both directions, divided by `random`.
    failed : ndarray of int, shape (n_splits, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    random : ndarray of shape (number of k,)
        The mean over splits of the disagreement between random labels.

    References
    ----------
    .. [1] Lange, T., Roth, V., Braun, M. L. and Buhmann, J. M. (2004). Stability-based validation of clustering
       solutions. Neural Computation 16(6), 1299-1323.

    See Also
    --------
    relative_validation : The function that returns it.
    """

    higher_is_better = False

    random: FloatArray


# ---------------------------------------------------------------------------------------------------------------------
# How often pairs of samples share a cluster, and how often one sample is in the same cluster


# With more samples the whole matrix would take more than 800 MB; its rows can still be computed.
WHOLE_MATRIX = 10_000
# Pairs that are counted at once: bounds the memory, and does not change the counts.
AT_ONCE = 2**20
# The proportion of ambiguously clustered pairs lies between these (Șenbabaoğlu et al. 2014).
AMBIGUOUS = (0.1, 0.9)


@dataclass(frozen=True, eq=False, repr=False)
class Samples(OverK):
    """What results about samples, or pairs of samples, over all resamples share.

    Attributes
    ----------
    samples : tuple of str
        Names of the samples.
    clusters : ndarray of str, shape (number of k, most clusters)
        Names of the reference clusters, padded with "".
    n_labels : ndarray of int, shape (number of k,)
        The number of reference clusters.
    labels : ndarray of int, shape (number of k, n_samples)
        The reference partition of each k, numbered from 0.
    """

    samples: tuple[str, ...]
    clusters: Labels
    n_labels: IntArray
    labels: IntArray

    def _frame(self, **columns: tuple[Any, Any]) -> pd.DataFrame:
        """Return one row for every k and cluster, and one for each k as a whole, from their values of each column."""
        parts = []
        for i, k in enumerate(self.n_clusters):
            n = self.n_labels[i]
            values = {name: [*each[i, :n], whole[i]] for name, (each, whole) in columns.items()}
            parts.append(pd.DataFrame({"k": k, "cluster": [*self.clusters[i, :n], "all"], **values}))
        return pd.concat(parts, ignore_index=True).astype({"k": "Int64"})

    def _place(self, n_clusters: int | None) -> int:
        if n_clusters is None and len(self.n_clusters) == 1:
            return 0
        check_known(n_clusters, "number of clusters", self.n_clusters, parameter="n_clusters")
        return self.n_clusters.index(n_clusters)


@dataclass(frozen=True, eq=False, repr=False)
class Consensus(Samples):
    """How often two samples share a cluster, of the times that both were drawn (Monti et al. 2003).

    M_ij = (number of resamples in which i and j share a cluster) / (number in which both were drawn). The matrix is
    never held as a whole: its distribution is counted pair by pair, and any part can be asked for.

        PAC = CDF(0.9) − CDF(0.1), with CDF the distribution function of M_ij over pairs

    the proportion of ambiguously clustered pairs: 0 where every pair is always or never together.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    samples : tuple of str
        Names of the samples.
    clusters : ndarray of str, shape (number of k, most clusters)
        Names of the reference clusters, padded with "".
    n_labels : ndarray of int, shape (number of k,)
        The number of reference clusters.
    failed : ndarray of int, shape (n_resamples, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    codes : ndarray of int, shape (number of k, n_resamples, n_samples)
        Every sample's cluster in every resample, −1 where it was not drawn.
    counts : ndarray of int, shape (number of k, n_resamples + 1, n_resamples + 1)
        The number of pairs by the times that they were together (first axis) and both drawn (second).
    labels : ndarray of shape (number of k, n_samples)
        The reference partition of each k, numbered from 0.
    cluster_consensus : ndarray of shape (number of k, most clusters)
        Mean of M over the pairs within each cluster of it; NaN for a cluster without pairs.
    sampled : bool
        Whether the pairs counted are a random sample, not all.

    Notes
    -----
    Consensus is high for unimodal data, too: compare PAC with that of simulated null data (Șenbabaoğlu et al. 2014).

    References
    ----------
    .. [1] Monti, S., Tamayo, P., Mesirov, J. and Golub, T. (2003). Consensus clustering: a resampling-based method for
       class discovery and visualization of gene expression microarray data. Machine Learning 52, 91-118.
    .. [2] Șenbabaoğlu, Y., Michailidis, G. and Li, J. Z. (2014). Critical limitations of consensus clustering in class
       discovery. Scientific Reports 4, 6207.

    See Also
    --------
    consensus : The function that returns it.
    AssignmentConsistency : Sample by sample instead of pair by pair.
    """

    higher_is_better = False
    total = "pac"

    codes: IntArray
    counts: IntArray
    cluster_consensus: FloatArray
    sampled: bool

    @property
    def n_pairs(self) -> int:
        """How many pairs were counted."""
        return int(self.counts[0].sum())

    def cdf(self, values: float | Sequence[float], n_clusters: int | None = None) -> FloatArray:
        """Return the distribution function of the consensus: the share of pairs with at most a value.

        Parameters
        ----------
        values : float or sequence of float
            Between 0 and 1.
        n_clusters : int, default=None
            Of which k; None: the only one.

        Returns
        -------
        float or ndarray of shape (n_values,)
            Pairs that were never drawn together do not count. Flat between 0 and 1 where every pair is always or never
            together.
        """
        check_numbers_between(values, "values", 0, 1)
        counts = self.counts[self._place(n_clusters)]
        together, both = np.nonzero(counts)
        weights = np.where(both > 0, counts[together, both], 0).astype(float)
        ratio = together / np.maximum(both, 1)
        several = np.atleast_1d(values)
        total = weights.sum() or np.nan  # no pair was ever drawn together
        shares = np.array([weights[ratio <= value + 1e-12].sum() for value in several]) / total
        return np.asarray(shares if np.ndim(values) else shares[0])

    def pac(self, low: float = AMBIGUOUS[0], high: float = AMBIGUOUS[1]) -> FloatArray:
        """Return the proportion of ambiguously clustered pairs, CDF(high) − CDF(low).

        Parameters
        ----------
        low, high : float, default=0.1 and 0.9
            Between these a pair is ambiguous.

        Returns
        -------
        ndarray of shape (number of k,)
            Low where pairs are clear. It falls with k where most pairs are apart in any case.
        """
        check_numbers_between([low, high], "low and high", 0, 1)
        if low >= high:
            raise ParameterError(f"low must be below high, got {low!r} and {high!r}.", parameter="low")
        at = [self.cdf([low, high], k) for k in self.n_clusters]
        return np.array([above - below for below, above in at])

    @property
    def by_k(self) -> FloatArray:
        """PAC, (number of k,)."""
        return self.pac()

    @property
    def sizes(self) -> IntArray:
        """The numbers of samples in the reference clusters, (number of k, most clusters)."""
        return np.array([np.bincount(labels, minlength=self.clusters.shape[1]) for labels in self.labels])

    def matrix(self, n_clusters: int | None = None, rows: Sequence[int] | None = None) -> FloatArray:
        """Return the consensus matrix M, or some of its rows.

        Parameters
        ----------
        n_clusters : int, default=None
            Of which k; None: the only one.
        rows : sequence of int, default=None
            Of which samples; None: all, up to 10,000 samples.

        Returns
        -------
        ndarray of shape (n_rows, n_samples)
            NaN for samples that were never drawn together.
        """
        place, n = self._place(n_clusters), len(self.samples)
        if rows is None and n > WHOLE_MATRIX:
            raise ParameterError(
                f"rows must be given: the whole matrix of {n:,} samples would have {n**2:,} numbers. For the first ten "
                "rows, pass range(10).",
                parameter="rows",
            )
        wanted = np.arange(n) if rows is None else np.asarray(rows)
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or ((wanted < 0) | (wanted >= n)).any():
            raise ParameterError(f"rows must be whole numbers from 0 to {n - 1}, got {rows!r}.", parameter="rows")
        codes = by_point(self.codes[place])
        blocks = [together_of(codes, np.full(n, row), np.arange(n)) for row in wanted]
        with quiet():
            return np.array([together / both for together, both in blocks]).reshape(len(wanted), n)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row for every k and cluster, and one for each k as a whole.

        Returns
        -------
        DataFrame
            Columns: k, cluster, size, consensus (of clusters), pac (of the whole).
        """
        none = np.full(self.clusters.shape, np.nan)
        n_samples = [len(self.samples)] * len(none)
        return self._frame(
            size=(self.sizes, n_samples), consensus=(self.cluster_consensus, none[:, 0]), pac=(none, self.pac())
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the distribution function of the consensus for every k: flat in the middle where pairs are clear.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from matplotlib import colormaps

        values = np.linspace(0, 1, 201)
        pac, n = self.pac(), len(self.n_clusters)
        named = evenly(n, MOST_NAMED)
        with canvas(ax, height=0.9 * SINGLE) as ax:
            for i, colour in enumerate(colormaps[SCORES](np.linspace(0, 0.9, n))):
                k = self.n_clusters[i]
                text = f"{'PAC' if k is None else f'k = {k}, PAC'} {pac[i]:.2f}"
                ax.plot(values, self.cdf(values.tolist(), k), color=colour, label=text if i in named else None)
            ax.set_xlabel("consensus of a pair")
            ax.set_ylabel("share of pairs with at most this consensus")
            ax.set_ylim(0, 1.02)
            legend_above(ax, literal(self.clusterer))
            return ax

    def _notes(self) -> list[str]:
        return [f"{plural(self.n_pairs, 'pair')} of samples{', drawn at random' if self.sampled else ''}"]


def by_point(codes: IntArray) -> IntArray:
    """Return codes, (n_resamples, n_samples), as the kernel takes them, (n_samples, n_resamples)."""
    return np.ascontiguousarray(codes.T, dtype=np.int32)


def together_of(codes: IntArray, first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    """Count how often each pair was together, and how often both were drawn."""
    together, both = np.empty((2, len(first)), dtype=np.int64)
    reductions.count_together(codes, first, second, together, both)
    return together, both


def all_pairs(n: int, at_once: int = AT_ONCE) -> Iterator[tuple[IntArray, IntArray]]:
    """List all pairs of n samples, some at a time."""
    step = max(1, at_once // n)
    for begin in range(0, n - 1, step):
        rows = np.arange(begin, min(begin + step, n - 1))
        first = np.repeat(rows, n - 1 - rows)
        offsets = np.arange(len(first)) - np.repeat(np.cumsum(n - 1 - rows) - (n - 1 - rows), n - 1 - rows)
        yield first, first + 1 + offsets


@dataclass(frozen=True, eq=False, repr=False)
class AssignmentConsistency(Samples):
    """How consistently every sample is assigned to the same cluster (ERICA: Sorooshyari, Rivas and Tibshirani 2026).

    With p_i the share of sample i's assignments that are to its most frequent cluster, and c a cluster of n_c samples:

        CRI(c)  = Σ_{i in c} p_i / n_c
        WCRI(c) = CRI(c) · n_c / n
        TWCRI   = Σ_c WCRI(c), the mean consistency of a sample

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    samples : tuple of str
        Names of the samples.
    clusters : ndarray of str, shape (number of k, most clusters)
        Names of the reference clusters, padded with "".
    n_labels : ndarray of int, shape (number of k,)
        The number of reference clusters.
    failed : ndarray of int, shape (n_resamples, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    counts : ndarray of int, shape (number of k, n_samples, most clusters)
        How often each sample was assigned to each cluster of the reference partition, after its labels were matched.
    totals : ndarray of int, shape (number of k, n_samples)
        How often each sample was assigned at all, also to clusters without a partner.
    labels : ndarray of int, shape (number of k, n_samples)
        The reference partition of each k, numbered from 0.

    See Also
    --------
    assignment_consistency : The function that returns it.
    Consensus : Pair by pair instead of sample by sample.
    """

    higher_is_better = True
    total = "twcri"

    counts: IntArray
    totals: IntArray

    @property
    def modal(self) -> IntArray:
        """Each sample's most frequent cluster, (number of k, n_samples); −1 for a sample that was never assigned.

        Of several, the one that it has in the reference partition, else the largest there.
        """
        most = self.counts.shape[2]
        is_reference = self.labels[:, :, None] == np.arange(most)  # (number of k, n_samples, most)
        sizes = is_reference.sum(axis=1, keepdims=True)
        n = 1 + self.labels.shape[1]
        order = (self.counts * 2 + is_reference) * n + sizes
        return np.where(self.counts.max(axis=2) > 0, order.argmax(axis=2), -1)

    @property
    def per_sample(self) -> FloatArray:
        """The share of assignments to the most frequent cluster, (number of k, n_samples).

        Low for samples between clusters. With few clusters it is high by chance.
        """
        with quiet():
            return np.asarray(self.counts.max(axis=2) / self.totals)

    @property
    def cri(self) -> FloatArray:
        """Mean over the samples whose most frequent cluster it is, (number of k, most clusters); NaN without any."""
        shares, modal = np.nan_to_num(self.per_sample), self.modal
        result = np.full(self.clusters.shape, np.nan)
        for i, c in np.ndindex(result.shape):
            if (modal[i] == c).any():
                result[i, c] = shares[i, modal[i] == c].mean()
        return result

    @property
    def sizes(self) -> IntArray:
        """How many samples have each cluster as their most frequent one, (number of k, most clusters)."""
        clusters = np.arange(self.clusters.shape[1])
        return np.asarray((self.modal[:, :, None] == clusters).sum(axis=1))

    @property
    def wcri(self) -> FloatArray:
        """The same weighted by size, CRI · n_c / n, (number of k, most clusters)."""
        n = (self.totals > 0).sum(axis=1, keepdims=True)
        return np.asarray(self.cri * self.sizes / np.maximum(n, 1))

    @property
    def twcri(self) -> FloatArray:
        """The sum over clusters: mean consistency of a sample, (number of k,)."""
        return np.where(self.totals.any(axis=1), np.nansum(self.wcri, axis=1), np.nan)

    by_k = twcri

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row for every k and cluster, and one for each k as a whole.

        Returns
        -------
        DataFrame
            Columns: k, cluster, size, cri (of clusters), wcri (of the whole: TWCRI).
        """
        sizes, no_cri = self.sizes, np.full(len(self.n_clusters), np.nan)
        return self._frame(size=(sizes, sizes.sum(axis=1)), cri=(self.cri, no_cri), wcri=(self.wcri, self.twcri))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the clusters' consistency and that of all samples against k.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes
        """
        order = sorted(range(len(self.n_clusters)), key=lambda i: self.n_clusters[i] or 0)
        cri, n = self.cri, len(order)
        with canvas(ax) as ax:
            for place, i in enumerate(order):
                values = cri[i][~np.isnan(cri[i])]  # rows are padded
                text = None if place else "clusters"
                ax.plot([place] * len(values), values, ".", color=COLOURS[0], alpha=0.6, label=text)
            ax.plot(range(n), self.twcri[order], marker="o", color=COLOURS[1], label="all samples")
            ticks = range(0, n, -(-n // MOST_TICKS))
            ax.set_xticks(ticks, [str(self.n_clusters[order[place]] or "") for place in ticks])
            ax.set_ylim(0, 1.03)
            ax.set_xlabel("number of clusters k")
            ax.set_ylabel("assignment consistency")
            legend_above(ax, literal(self.clusterer))
            return ax


# ---------------------------------------------------------------------------------------------------------------------
# The result of the significance test


@dataclass(frozen=True, eq=False, repr=False)
class ClusterTest(Saved):
    """Whether distances are those of simulated null data (section 2.4).

        pvalue = (1 + #{b : T_b ≥ T}) / (1 + n_resamples)

    with T the statistic of the data and T_b that of simulated null data set b.

    Attributes
    ----------
    statistic, pvalue : float
        T and its p-value.
    null_distribution : ndarray of shape (n_resamples,)
        T_b, the statistic of the simulated data sets.
    values : ndarray of shape (n_samples,)
        The distances to the nearest neighbours in the data, squared or not.
    null_mean_values : ndarray of shape (n_samples,)
        The same in simulated data sets: the smallest value, averaged over them, the second smallest, and so on.
    provenance : Provenance
        Seed, parameters, the study and versions.

    See Also
    --------
    cluster_test : The function that returns it.
    null_reference : Scores of a clusterer, beside their null distributions.
    """

    statistic: float
    pvalue: float
    null_distribution: FloatArray
    values: FloatArray
    null_mean_values: FloatArray
    provenance: Provenance

    def to_frame(self) -> pd.DataFrame:
        """One row: statistic, pvalue, n_resamples, null."""
        row = (self.statistic, self.pvalue, len(self.null_distribution), self.provenance["null"])
        return pd.DataFrame([row], columns=["statistic", "pvalue", "n_resamples", "null"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the null distribution of the statistic, and the statistic of the data.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes
        """
        with canvas(ax) as ax:
            ax.hist(self.null_distribution, N_BINS, color="0.8", edgecolor="white", lw=0.5, label="null distribution")
            ax.axvline(self.statistic, color=COLOURS[1], lw=2, label=f"these data, p = {self.pvalue:.3g}")
            ax.set_xlabel("statistic")
            ax.set_ylabel("data sets")
            legend_above(ax)
            return ax

    def __repr__(self) -> str:
        whitened = ", whitened" if self.provenance["whiten"] else ""
        return (
            f"Test for clusters: p = {self.pvalue:.3g} (statistic {self.statistic:.4g}, "
            f"{plural(len(self.null_distribution), 'simulated null data set')}, {self.provenance['null']}{whitened}, "
            f"seed {self.provenance['seed']})"
        )


# ---------------------------------------------------------------------------------------------------------------------
# Every index side by side


ALL = "all"


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Saved):
    """Every index of section 2, and related ones, over k, per cluster and overall.

    One row of the table has the same place in all arrays; `to_frame` puts them together.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    index : ndarray of str, (n_rows,)
        Which index: a key of `clustrep.agreement.cluster_indices.INDICES`.
    k : ndarray of int, (n_rows,)
        The number of clusters; −1 where there is none.
    cluster : ndarray of str, (n_rows,)
        The cluster's label in the reference partition, "all" for the whole.
    whole : ndarray of bool, (n_rows,)
        Whether the row is about all clusters together.
    size : ndarray of int, (n_rows,)
        The number of samples in the cluster.
    value, sd, low, high : ndarray, (n_rows,)
        Mean, standard deviation and 95 % interval over resamples or splits; the last three are NaN for a value that
        comes from the study itself, or from all resamples together.
    failures : dict
        How many values behind the means failed, by cause.
    provenance : Provenance
        Seed, parameters, the clusterers, the study and versions; `resampling` by index.

    See Also
    --------
    validate : The function that returns it.
    Stability, PredictionStrength, InGroupProportion, Consensus : Single indices, and their formulas.
    """

    clusterer: str
    index: NDArray[np.str_]
    k: IntArray
    cluster: NDArray[np.str_]
    whole: BoolArray
    size: IntArray
    value: FloatArray
    sd: FloatArray
    low: FloatArray
    high: FloatArray
    failures: dict[str, int]
    provenance: Provenance

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row for every index, k and cluster.

        Returns
        -------
        DataFrame
            Columns: index, k, cluster ("all" for the whole), size, value, sd, low, high, better ("higher" or "lower").
        """
        names = ("index", "k", "cluster", "size", "value", "sd", "low", "high")
        frame = pd.DataFrame({name: getattr(self, name) for name in names})
        frame = frame.assign(k=_numbers(self.k), better=[INDICES[index].better for index in self.index])
        return frame.astype({"index": object, "cluster": object})

    def overall(self) -> pd.DataFrame:
        """Return the values for whole partitions.

        Returns
        -------
        DataFrame of shape (number of k, n_indices)
            Indexed by k. Columns have different directions and bounds: compare values down a column, not along a row.
        """
        rows = self.whole & np.array([INDICES[index].of_partition for index in self.index], dtype=bool)
        long = pd.DataFrame({"k": self.k[rows], "index": self.index[rows], "value": self.value[rows]})
        table = long.pivot(index="k", columns="index", values="value")
        table.index = pd.Index(_numbers(table.index), name="k")
        return table[[index for index in INDICES if index in table]].rename_axis(columns=None)

    def plot(self, ax: Axes | None = None, *, index: str | None = None) -> Axes | NDArray[Any]:
        """Draw a small panel for every index, over k: clusters as points, the whole as a line.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw one index; None: all of them are panels of a new figure.
        index : str, default=None
            Which index to draw alone; needed with `ax`, unless there is only one.

        Returns
        -------
        matplotlib Axes, or ndarray of Axes
        """
        # All but the test for clusters, which is one p-value.
        indices = [name for name, record in INDICES.items() if name in self.index and record.of_partition]
        if index is not None:
            check_known(index, "index over k", indices, parameter="index")
        elif ax is None:
            return self._panels(indices)
        elif len(indices) != 1:
            raise ParameterError(
                f"index must be given with ax, because there are several: {', '.join(indices)}.", parameter="index"
            )
        return self._panel(index or indices[0], ax)

    def _panel(self, index: str, ax: Axes | None) -> Axes:
        """Draw clusters as points, the whole partition as a line with its interval."""
        rows = np.argsort(self.k, kind="stable")  # in the order of k
        rows = rows[self.index[rows] == index]
        clusters, whole = rows[~self.whole[rows]], rows[self.whole[rows]]
        at, record = np.maximum(self.k[whole], 0), INDICES[index]
        with canvas(ax) as axes:
            axes.plot(np.maximum(self.k[clusters], 0), self.value[clusters], ".", color="0.55", markersize=4, alpha=0.7)
            axes.fill_between(at, self.low[whole], self.high[whole], color=COLOURS[0], alpha=0.15, lw=0)
            axes.plot(at, self.value[whole], marker="o", markersize=4, color=COLOURS[0])
            title: Any = axes.set_title(
                f"{record.title(relative=True)}\n({record.better} is better)", fontsize=7, wrap=True
            )
            title._get_wrap_line_width = lambda: axes.bbox.width  # matplotlib wraps at the figure's edge
            most = largest(self.value[self.index == index], 0.0)
            axes.set_ylim(0, max(1.03, 1.05 * most) if record.higher_is_better or not most else None)
            if len(at) <= MOST_NAMED:
                axes.set_xticks(at, ["" if k < 0 else str(k) for k in self.k[whole]])
            axes.set_xlabel("k")
            return axes

    def _panels(self, indices: Sequence[str]) -> NDArray[Any]:
        """Draw a panel for every index, as a figure; returns its axes."""
        n = len(indices)
        if not n:
            raise ParameterError(
                "There is no index to draw over k: the test for clusters is one p-value.", parameter=None
            )
        n_columns = min(MOST_COLUMNS, n)
        n_rows = -(-n // n_columns)
        with panels(n_rows, n_columns, SINGLE, 0.4 + (1.4 if n > 1 else 2.2) * n_rows) as (figure, axes):
            for ax, index in zip(axes.flat, indices, strict=False):
                self._panel(index, ax)
            for ax in axes.flat[n:]:
                ax.set_visible(False)
            tested = "" if self.pvalue is None else f"; test for clusters: p = {self.pvalue:.3g}"
            figure.suptitle(f"{literal(self.clusterer)}{tested}")
            return np.asarray(axes)

    @property
    def pvalue(self) -> float | None:
        """Of the test for clusters; None where it was not asked for."""
        at = np.flatnonzero(self.index == "test")
        return float(self.value[at[0]]) if at.size else None

    def __repr__(self) -> str:
        provenance = self.provenance
        known = provenance["labels"] == "known" and self.clusterer != "known labels"
        of = f"known labels and {self.clusterer}" if known else self.clusterer
        counts = f"{plural(provenance['n_resamples'], 'resample')}, {plural(provenance['n_splits'], 'split')}"
        lines = [f"Validation of {of}: {counts}, seed {provenance.seed}"]
        summary = self.overall().round(3).T
        summary.index = [
            f"{INDICES[index].title(relative=True)} ({'+' if INDICES[index].higher_is_better else '−'})"
            for index in summary.index
        ]
        summary.columns = ["" if pd.isna(k) else f"k = {k}" for k in summary.columns]
        if len(summary):
            lines.append(summary.to_string())
        if self.pvalue is not None:
            lines.append(f"Test for clusters: p = {self.pvalue:.3g}")
        lines += Failures(self.failures).lines("value")
        lines.append(f"{plural(len(self.index), 'row')} in to_frame(), clusters among them")
        return "\n".join(lines)


def _numbers(ks: Iterable[int]) -> Any:
    """Return numbers of clusters as a column in which −1 is missing."""
    return pd.array([None if k < 0 else int(k) for k in ks], dtype="Int64")


def _draw_clusters(
    ax: Axes, x: Any, clusters: Labels, values: FloatArray, n_colours: int = len(COLOURS), **style: Any
) -> None:
    """Draw a curve for every cluster, (n_x, n_clusters); the first dozen are named."""
    for i, (name, curve) in enumerate(zip(clusters, values.T, strict=True)):
        text = f"cluster {literal(name)}" if i < MOST_NAMED else None
        ax.plot(x, curve, label=text, color=COLOURS[i % n_colours], marker=look(i).marker, **style)
