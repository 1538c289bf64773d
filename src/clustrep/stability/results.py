"""Results of one study: stability, in-group proportions, the test for clusters, all indices side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.agreement.cluster_indices import DISSOLVED, INDICES, RECOVERED
from clustrep.checks import check_known
from clustrep.errors import ParameterError
from clustrep.execution.failures import Failures
from clustrep.files.saved import Saved
from clustrep.plots.canvas import (
    COLOURS,
    MOST_TICKS,
    SINGLE,
    canvas,
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
    index : {"matching", "inclusion", "jaccard", "r", "d", "in_group"}
        What is measured in every resample: how well a cluster is found again, or its in-group proportion there.
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
    distribution : ndarray of shape (n_resamples, k)
        The index of every cluster in every resample; for "matching", (n_resamples,). NaN where a resample failed, or
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
        """Mean over resamples for every cluster."""
        if not INDICES[self.index].per_cluster:
            raise AttributeError("The matching distance is one number for the whole partition: see overall.")
        return self.mean

    @property
    def overall(self) -> Any:
        """Mean over resamples of the value for all clusters: a float."""
        with quiet():
            mean = np.nanmean(self.overall_distribution, axis=0)
        return mean if mean.ndim else float(mean)

    def dissolved(self, at_most: float = DISSOLVED) -> IntArray:
        """Count the resamples in which each cluster's Jaccard coefficient is at most this: it is lost, (k,)."""
        return self._count(self.distribution <= at_most)

    def recovered(self, above: float = RECOVERED) -> IntArray:
        """Count the resamples in which each cluster's Jaccard coefficient is above this: it is recovered, (k,)."""
        return self._count(self.distribution > above)

    def _count(self, is_so: BoolArray) -> IntArray:
        if INDICES[self.index].thresholds is None:
            raise ParameterError(
                f'Clusters dissolve and recover by index="jaccard" alone, not by {self.index!r}.', parameter="index"
            )
        return np.asarray(is_so.sum(axis=0))

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every cluster: cluster, size, mean, sd, median, low, high; one row in all for "matching"."""
        whole = self.distribution.ndim == 1
        named = {"cluster": ["all"] if whole else self.clusters, "size": [len(self.labels)] if whole else self.sizes}
        frame = pd.DataFrame({**named, **self.columns(confidence_level)})
        frame.insert(4, "median", np.ravel(self.quantile(0.5)))
        if INDICES[self.index].thresholds is not None:
            frame["dissolved"], frame["recovered"] = self.dissolved(), self.recovered()
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every cluster's distribution over resamples."""
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
        What is measured: see `Stability`.
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
    distribution : ndarray of shape (n_resamples, n_scales, k)
        The index of every cluster; for "matching", (n_resamples, n_scales).
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

    @classmethod
    def of(cls, scales: Sequence[float], curve: Sequence[Stability]) -> Sensitivity:
        """Put the results for all scales together."""
        first = curve[0]
        names = np.array([[("", *each.causes)[i] for i in each.failed] for each in curve], dtype=object)
        failed, causes = Failures.number(names.T)
        changed = {
            "scales": np.array(scales),
            "distribution": np.stack([each.distribution for each in curve], axis=1),
            "overall_distribution": np.stack([each.overall_distribution for each in curve], axis=1),
            "failed": failed,
            "causes": causes,
            "provenance": replace(first.provenance, resampling=f"Jitter(scale) for {len(curve)} scales"),
        }
        return cls(**{**vars(first), **changed})

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every scale and cluster, and one for all clusters: scale, cluster, size, mean, sd, low, high."""
        values, clusters, sizes = self.overall_distribution[:, :, None], ["all"], [len(self.labels)]
        if self.distribution.ndim == 3:
            values = np.concatenate([self.distribution, values], axis=2)
            clusters, sizes = [*self.clusters.tolist(), "all"], [*self.sizes.tolist(), len(self.labels)]
        n, summaries = len(self.scales), replace(self, distribution=values).columns(confidence_level)
        scales = np.repeat(self.scales, len(clusters))
        return pd.DataFrame({"scale": scales, "cluster": clusters * n, "size": sizes * n, **summaries})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a curve over the noise's scale for every cluster."""
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
    in_group_stability : The proportions in resamples of the study.
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
        """The share of all samples, one number for each number of neighbours."""
        shares = np.nan_to_num(self.proportions) @ self.sizes / self.sizes.sum()
        return np.asarray(shares) if np.ndim(shares) else float(shares)

    @property
    def pvalues(self) -> FloatArray | None:
        """`exceeding` where it is a p-value, else None: see `pvalues_are`."""
        return self.exceeding if self.pvalues_are in (CLUSTERED_AGAIN, RANDOM_CELLS) else None

    def to_frame(self) -> pd.DataFrame:
        """One row for every number of neighbours and cluster: n_neighbors, cluster, size, proportion, pvalue.

        The last column is called exceeding where it is no p-value, and is missing where there is no null.
        """
        n_j, k = len(self.n_neighbors), len(self.clusters)
        frame = pd.DataFrame({"n_neighbors": np.repeat(self.n_neighbors, k), "cluster": np.tile(self.clusters, n_j)})
        frame = frame.assign(size=np.tile(self.sizes, n_j), proportion=self.proportions.ravel())
        if self.exceeding is not None:
            frame["exceeding" if self.pvalues is None else "pvalue"] = self.exceeding.ravel()
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the proportion of every cluster, against the number of neighbours where there are several."""
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
        """Draw the null distribution of the statistic, and where the data's is."""
        counts, edges = np.histogram(self.null_distribution, bins=N_BINS)
        with canvas(ax) as ax:
            bars: dict[str, Any] = {"color": "0.8", "edgecolor": "white", "lw": 0.5}
            ax.hist(edges[:-1], edges.tolist(), weights=counts, label="null distribution", **bars)
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
    index : ndarray of str
        Which index: a key of `clustrep.agreement.cluster_indices.INDICES`.
    k : ndarray of int
        The number of clusters; −1 where there is none.
    cluster : ndarray of str
        The cluster's label in the reference partition, "all" for the whole.
    whole : ndarray of bool
        Whether the row is about all clusters together.
    size : ndarray of int
        The number of samples in the cluster.
    value, sd, low, high : ndarray
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
        """One row for every index, k and cluster: index, k, cluster, size, value, sd, low, high, better."""
        names = ("index", "k", "cluster", "size", "value", "sd", "low", "high")
        frame = pd.DataFrame({name: getattr(self, name) for name in names})
        frame = frame.assign(k=_numbers(self.k), better=[INDICES[index].better for index in self.index])
        return frame.astype({"index": object, "cluster": object})

    def overall(self) -> pd.DataFrame:
        """One row for every k, one column for every index: values for whole partitions."""
        rows = self.whole & np.array([INDICES[index].of_partition for index in self.index], dtype=bool)
        long = pd.DataFrame({"k": self.k[rows], "index": self.index[rows], "value": self.value[rows]})
        table = long.pivot(index="k", columns="index", values="value")
        table.index = pd.Index(_numbers(table.index), name="k")
        return table[[index for index in INDICES if index in table]].rename_axis(columns=None)

    def plot(self, ax: Axes | None = None, *, index: str | None = None) -> Axes | NDArray[Any]:
        """Draw a small panel for every index, over k: clusters as points, the whole as a line.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw one index; by default all of them are panels of a new figure, and an array of axes is
            returned.
        index : str, optional
            Which index to draw alone; needed with `ax`, unless there is only one.
        """
        indices = self._over_k
        if index is not None:
            check_known(index, "index over k", indices, parameter="index")
        elif ax is None:
            return self._panels(indices)
        elif len(indices) != 1:
            raise ParameterError(
                f"index must be given with ax, because there are several: {', '.join(indices)}.", parameter="index"
            )
        return self._panel(index or indices[0], ax)

    @property
    def _over_k(self) -> list[str]:
        """The indices that have a panel: all but the test for clusters, which is one p-value."""
        return [name for name, record in INDICES.items() if name in self.index and record.of_partition]

    def _rows(self, index: str) -> tuple[IntArray, IntArray]:
        """Return the rows of an index's clusters, and those of whole partitions in the order of k."""
        rows = self.index == index
        whole = np.flatnonzero(rows & self.whole)
        return np.flatnonzero(rows & ~self.whole), whole[np.argsort(self.k[whole], kind="stable")]

    def _panel(self, index: str, ax: Axes | None) -> Axes:
        """Draw clusters as points, the whole partition as a line with its interval."""
        clusters, whole = self._rows(index)
        at, record = _places(self.k[whole]), INDICES[index]
        with canvas(ax) as axes:
            axes.plot(_places(self.k[clusters]), self.value[clusters], ".", color="0.55", markersize=4, alpha=0.7)
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


def _places(ks: IntArray) -> list[int]:
    """Return the places of numbers of clusters on an axis; 0 for none."""
    return [max(int(k), 0) for k in ks]


def _draw_clusters(
    ax: Axes, x: Any, clusters: Labels, values: FloatArray, n_colours: int = len(COLOURS), **style: Any
) -> None:
    """Draw a curve for every cluster, (n_x, n_clusters); the first dozen are named."""
    for i, (name, curve) in enumerate(zip(clusters, values.T, strict=True)):
        text = f"cluster {literal(name)}" if i < MOST_NAMED else None
        ax.plot(x, curve, label=text, color=COLOURS[i % n_colours], marker=look(i).marker, **style)
