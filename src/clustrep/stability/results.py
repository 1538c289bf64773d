"""How well clusters are found again within one study: the results of section 2.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.agreement import cluster_indices
from clustrep.agreement.cluster_indices import INDICES
from clustrep.checks import check_known
from clustrep.errors import ParameterError
from clustrep.execution.failures import Failures
from clustrep.files.saved import Saved
from clustrep.provenance import Provenance
from clustrep.summaries import Failing, Resampled, label, quiet, tails
from clustrep.text import plural
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DISSOLVED, RECOVERED = cluster_indices.DISSOLVED, cluster_indices.RECOVERED


def full_name(index: str, relative: bool) -> str:
    """Return the name of an index for sentences and figures."""
    return INDICES[index].title(relative=relative)


@dataclass(frozen=True, eq=False, repr=False)
class OfClusters(Resampled, Failing, Saved):
    """What results share that have an index of every reference cluster, and of all together, in every resample."""

    index: str
    relative: bool
    clusterer: str
    n_clusters: int | None
    labels: Labels
    clusters: Labels
    sizes: IntArray
    distribution: FloatArray
    overall_distribution: FloatArray
    failed: IntArray
    causes: tuple[str, ...]
    provenance: Provenance

    @property
    def per_cluster(self) -> FloatArray:
        """Mean over resamples for every cluster."""
        if not INDICES[self.index].per_cluster:
            raise AttributeError("The matching distance is one number for the whole partition: see overall.")
        return self.mean


@dataclass(frozen=True, eq=False, repr=False)
class Stability(OfClusters):
    """How well the clusters of a study are found again in perturbed copies of it (section 2.2).

    Attributes
    ----------
    index : {"matching", "inclusion", "jaccard", "r", "d"}
        What is measured, in every resample, between a cluster and the clusters of the copy.
    relative : bool
        Whether "matching" is divided by the number of samples, "d" by the size of each cluster.
    clusterer : str
        The clusterer's name.
    n_clusters : int or None
        The number of clusters asked for; None where the clusterer finds it by itself.
    samples : tuple of str
        Names of the samples.
    labels : ndarray, (n_samples,)
        The clusters in question: Ψ(X; X), or those that were given.
    clusters, sizes : ndarray, (k,)
        Their names and sizes.
    distribution : ndarray, (n_resamples, k)
        The index of every cluster in every resample; for "matching", (n_resamples,). NaN where a resample failed, or
        where a cluster has nothing to compare: no sample drawn (Jaccard is 0 there), or for "r" no pair.
    overall_distribution : ndarray, (n_resamples,)
        One value for all clusters: "r" pools their pairs, "d" is summed, the others are averaged by size.
    failed : ndarray of int, (n_resamples,)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    Notes
    -----
    With C the contingency table of the reference partition (rows) and that of the copy (columns), for row i:
    inclusion is whether a column holds all of the row; Jaccard is max_j C_ij / (C_i. + C_.j − C_ij); R is
    Σ_j C_ij (C_ij − 1) / (C_i. (C_i. − 1)); D is C_i. + C_.j − 2 C_ij for the column j of the largest C_ij. Matching is
    the number of samples that change their cluster in the best one-to-one matching of all clusters.

    Mean, standard deviation and interval are over resamples, as in `Replicability`. Stable groups need
    not be clusters: large groups, and arbitrary cuts of one long cloud, are found again as well.

    See Also
    --------
    stability : The function that returns it.
    Sensitivity : The same under increasing noise.
    """

    samples: tuple[str, ...]

    @property
    def overall(self) -> float:
        """Mean over resamples of the value for all clusters."""
        with quiet():
            return float(np.nanmean(self.overall_distribution))

    @property
    def median(self) -> FloatArray:
        """Median over resamples, (k,)."""
        return self.quantile(0.5)

    def dissolved(self, at_most: float = DISSOLVED) -> IntArray:
        """Count the resamples in which each cluster's Jaccard coefficient is at most this: it is lost, (k,)."""
        self._check_has_thresholds()
        return np.asarray((self.distribution <= at_most).sum(axis=0))

    def recovered(self, above: float = RECOVERED) -> IntArray:
        """Count the resamples in which each cluster's Jaccard coefficient is above this: it is recovered, (k,)."""
        self._check_has_thresholds()
        return np.asarray((self.distribution > above).sum(axis=0))

    def _check_has_thresholds(self) -> None:
        if INDICES[self.index].thresholds is None:
            raise ParameterError(
                f'Clusters dissolve and recover by index="jaccard" alone, not by {self.index!r}.', parameter="index"
            )

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every cluster: cluster, size, mean, sd, median, low, high; one row in all for "matching"."""
        whole = self.distribution.ndim == 1
        named = {"cluster": ["all"] if whole else self.clusters, "size": [len(self.labels)] if whole else self.sizes}
        frame = pd.DataFrame({**named, **self.columns(confidence_level)})
        frame.insert(4, "median", np.ravel(self.median))
        if INDICES[self.index].thresholds is not None:
            frame["dissolved"], frame["recovered"] = self.dissolved(), self.recovered()
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every cluster's distribution over resamples."""
        from clustrep.stability.plots import draw_stability

        return draw_stability(self, ax)

    def __repr__(self) -> str:
        known = self.provenance["labels"] == "known"
        name = label(self.clusterer, self.n_clusters)
        subject = f"known labels, found again by {name}" if known else name
        lines = [
            f"Stability of {subject}: {full_name(self.index, self.relative)}, "
            f"{plural(len(self.distribution), 'resample')} by {self.provenance['resampling']}, "
            f"seed {self.provenance['seed']}",
            self.to_frame().round(3).to_string(index=False),
        ]
        if self.distribution.ndim > 1:
            lines.append(f"All clusters: {self.overall:.3f}")
        lines += self.failures.lines("resample")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(OfClusters):
    """Stability under increasing noise.

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
    scales : ndarray, (n_scales,)
        Standard deviations of the noise, in units of each feature's own.
    labels : ndarray, (n_samples,)
        The clusters in question: Ψ(X; X), or those that were given.
    clusters, sizes : ndarray, (k,)
        Their names and sizes.
    distribution : ndarray, (n_resamples, n_scales, k)
        The index of every cluster; for "matching", (n_resamples, n_scales).
    overall_distribution : ndarray, (n_resamples, n_scales)
        One value for all clusters.
    failed : ndarray of int, (n_resamples, n_scales)
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
        names = np.array([[("", *stability.causes)[i] for i in stability.failed] for stability in curve], dtype=object)
        failed, causes = Failures.number(names.T)
        return cls(
            index=first.index,
            relative=first.relative,
            clusterer=first.clusterer,
            n_clusters=first.n_clusters,
            scales=np.array(scales),
            labels=first.labels,
            clusters=first.clusters,
            sizes=first.sizes,
            distribution=np.stack([stability.distribution for stability in curve], axis=1),
            overall_distribution=np.stack([stability.overall_distribution for stability in curve], axis=1),
            failed=failed,
            causes=causes,
            provenance=replace(first.provenance, resampling=f"Jitter(scale) for {len(curve)} scales"),
        )

    @property
    def overall(self) -> FloatArray:
        """Mean over resamples of the value for all clusters, (n_scales,)."""
        with quiet():
            return np.asarray(np.nanmean(self.overall_distribution, axis=0))

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every scale and cluster, and one for all clusters: scale, cluster, size, mean, sd, low, high."""
        values, clusters, sizes = self.overall_distribution[:, :, None], ["all"], [len(self.labels)]
        if self.distribution.ndim == 3:
            values = np.concatenate([self.distribution, values], axis=2)
            clusters, sizes = [*self.clusters.tolist(), "all"], [*self.sizes.tolist(), len(self.labels)]
        with quiet():
            low, high = np.nanquantile(values, tails(confidence_level), axis=0)
            mean, sd = np.nanmean(values, axis=0), np.nanstd(values, axis=0, ddof=1)
        n = len(self.scales)
        return pd.DataFrame(
            {
                "scale": np.repeat(self.scales, len(clusters)),
                "cluster": clusters * n,
                "size": sizes * n,
                "mean": mean.ravel(),
                "sd": sd.ravel(),
                "low": low.ravel(),
                "high": high.ravel(),
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a curve over the noise's scale for every cluster."""
        from clustrep.stability.plots import draw_sensitivity

        return draw_sensitivity(self, ax)

    def __repr__(self) -> str:
        columns = {} if self.distribution.ndim == 2 else dict(zip(self.clusters.tolist(), self.mean.T, strict=True))
        frame = pd.DataFrame(columns, index=pd.Index(self.scales, name="scale"))
        frame.insert(len(columns), "all", self.overall, allow_duplicates=True)
        lines = [
            f"Sensitivity of {self.clusterer} to noise: {full_name(self.index, self.relative)}, mean of "
            f"{plural(len(self.distribution), 'resample')}, seed {self.provenance['seed']}",
            frame.round(3).to_string(),
            *self.failures.lines("resample"),
        ]
        return "\n".join(lines)


# ---------------------------------------------------------------------------------------------------------------------
# In-group proportions of clusters


# What p-values compare with, or why there are none.
NO_NULL = ""
CLUSTERED_AGAIN = "p-values: against simulated data without clusters, clustered again"
RANDOM_CELLS = "p-values: against random cells; the clusters come from another study"
OWN_LABELS = (
    "No p-values: random cells are no null for labels that may come from the same data. Pass the clusterer, or the "
    "study that defines the clusters as train."
)


@dataclass(frozen=True, eq=False, repr=False)
class InGroup(Saved):
    """What in-group proportions share: the clusters of the study as it is, and their proportions."""

    n_neighbors: tuple[int, ...]
    clusters: Labels
    sizes: IntArray
    labels: Labels
    samples: tuple[str, ...]
    proportions: FloatArray
    provenance: Provenance

    @property
    def overall(self) -> float | FloatArray:
        """The share of all samples in the study as it is, one number for each number of neighbours."""
        shares = np.nan_to_num(self.proportions) @ self.sizes / self.sizes.sum()
        return np.asarray(shares) if np.ndim(shares) else float(shares)

    def to_frame(self) -> pd.DataFrame:
        """One row for every number of neighbours and cluster: n_neighbors, cluster, size, proportion."""
        n_j, k = len(self.n_neighbors), len(self.clusters)
        return pd.DataFrame(
            {
                "n_neighbors": np.repeat(self.n_neighbors, k),
                "cluster": np.tile(self.clusters, n_j),
                "size": np.tile(self.sizes, n_j),
                "proportion": self.proportions.ravel(),
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the proportion of every cluster in the study as it is, against the number of neighbours."""
        from clustrep.stability.plots import draw_proportions

        return draw_proportions(self, ax)


@dataclass(frozen=True, eq=False, repr=False)
class InGroupProportion(InGroup):
    """The share of each cluster's samples whose nearest neighbours belong to it, too (section 2.3.2).

        IGP(c) = #{i in c : the j nearest neighbours of x_i are all in c} / n_c

    Where one number of neighbours was asked for, arrays have no axis for it.

    Attributes
    ----------
    n_neighbors : tuple of int
        The numbers of neighbours, j.
    clusters, sizes : ndarray, (k,)
        The clusters and their numbers of samples, n_c.
    labels : ndarray, (n_samples,)
        Every sample's cluster.
    samples : tuple of str
        Names of the samples.
    proportions : ndarray, (k,) or (n_j, k)
        IGP of the study as it is; NaN for a cluster without samples.
    exceeding : ndarray or None
        (1 + null clusters with at least this proportion) / (1 + all null clusters); None where there is no null.
    pvalues_are : str
        What `pvalues` compare with, or why `exceeding` is no p-value.
    null_distribution : ndarray or None, (n_null, n_j, k)
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
    InGroupStability : The proportions in perturbed copies of the study.
    """

    exceeding: FloatArray | None
    pvalues_are: str
    null_distribution: FloatArray | None

    @property
    def pvalues(self) -> FloatArray | None:
        """`exceeding` where it is a p-value, else None: see `pvalues_are`."""
        return self.exceeding if self.pvalues_are in (CLUSTERED_AGAIN, RANDOM_CELLS) else None

    def to_frame(self) -> pd.DataFrame:
        """One row for every number of neighbours and cluster: n_neighbors, cluster, size, proportion, pvalue.

        The last column is called exceeding where it is no p-value, and is missing where there is no null.
        """
        frame = super().to_frame()
        if self.exceeding is not None:
            frame["exceeding" if self.pvalues is None else "pvalue"] = self.exceeding.ravel()
        return frame

    def __repr__(self) -> str:
        provenance = self.provenance
        (clusterer,) = provenance.clusterers
        by = clusterer.description + (f" learned on {provenance['train']}" if provenance["train"] else "")
        lines = [
            f"In-group proportion: {plural(len(self.labels), 'sample')}, clusters by {by}, "
            f"{plural(provenance['n_null'], 'null partition')}, seed {provenance.seed}",
            self.to_frame().round(3).to_string(index=False),
            *([] if self.exceeding is None else [self.pvalues_are]),
        ]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class InGroupStability(Resampled, Failing, InGroup):
    """In-group proportions of clusters in perturbed copies of a study (section 2.3.2).

        IGP_b(c) = #{i in c : the j nearest neighbours of x_i in copy b are all in c} / n_c

    Where one number of neighbours was asked for, arrays have no axis for it.

    Attributes
    ----------
    n_neighbors : tuple of int
        The numbers of neighbours.
    clusters : ndarray, (k,)
        The names of the clusters in the study as it is.
    sizes : ndarray of int, (k,)
        Their numbers of samples in the study as it is.
    labels : ndarray, (n_samples,)
        The cluster of every sample in the study as it is.
    samples : tuple of str
        The names of the samples.
    proportions : ndarray, (k,) or (n_j, k)
        In the study as it is.
    distribution : ndarray, (n_resamples, k) or (n_resamples, n_j, k)
        The proportions in perturbed copies; NaN where a copy failed, or has no sample of a cluster.
    failed : ndarray of int, (n_resamples,)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    Notes
    -----
    Large clusters have a high proportion by chance. In a copy that repeats samples, each distinct one counts once.

    References
    ----------
    .. [1] Kapp, A. V. and Tibshirani, R. (2007). Are clusters found in one dataset present in another dataset?
       Biostatistics 8(1), 9-31.

    See Also
    --------
    in_group_stability : The function that returns it.
    InGroupProportion : The study as it is, with p-values.
    """

    distribution: FloatArray
    failed: IntArray
    causes: tuple[str, ...]

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every number of neighbours and cluster.

        Columns: n_neighbors, cluster, size, proportion; mean, sd, low, high over perturbed copies.
        """
        return super().to_frame().assign(**self.columns(confidence_level))

    def __repr__(self) -> str:
        provenance = self.provenance
        (clusterer,) = provenance.clusterers
        lines = [
            f"In-group proportion: {plural(len(self.labels), 'sample')}, clusters by {clusterer.description}, "
            f"{plural(len(self.distribution), 'resample')} by {provenance.resampling}, seed {provenance.seed}",
            self.to_frame().round(3).to_string(index=False),
            *self.failures.lines("resample"),
        ]
        return "\n".join(lines)


# ---------------------------------------------------------------------------------------------------------------------
# The result of the significance test


@dataclass(frozen=True, eq=False, repr=False)
class ClusterTest(Saved):
    """Whether data look like data without clusters (section 2.4).

        pvalue = (1 + #{b : T_b ≥ T}) / (1 + n_resamples)

    with T the statistic of the data and T_b that of a data set simulated from the null.

    Attributes
    ----------
    statistic, pvalue : float
        T and its p-value.
    null_distribution : ndarray, (n_resamples,)
        T_b, the statistic of the simulated data sets.
    values : ndarray
        What was measured in the data: distances to the nearest neighbours.
    null_mean_values : ndarray
        The same in simulated data sets: the smallest value, averaged over them, the second smallest, and so on.
    provenance : Provenance
        Seed, parameters, the study and versions.

    See Also
    --------
    cluster_test : The function that returns it.
    null_reference : Scores of a clusterer, beside data without clusters.
    """

    statistic: float
    pvalue: float
    null_distribution: FloatArray
    values: FloatArray
    null_mean_values: FloatArray
    provenance: Provenance

    def to_frame(self) -> pd.DataFrame:
        """One row: statistic, pvalue, n_resamples, null."""
        return pd.DataFrame(
            {
                "statistic": [self.statistic],
                "pvalue": [self.pvalue],
                "n_resamples": [len(self.null_distribution)],
                "null": [self.provenance["null"]],
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the null distribution of the statistic, and where the data's is."""
        from clustrep.stability.plots import draw_null_distribution

        return draw_null_distribution(self, ax)

    def __repr__(self) -> str:
        whitened = ", whitened" if self.provenance["whiten"] else ""
        return (
            f"Test for clusters: p = {self.pvalue:.3g} (statistic {self.statistic:.4g}, "
            f"{plural(len(self.null_distribution), 'data set')} from the null {self.provenance['null']}{whitened}, "
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
        comes from the data as they are, or from all resamples together.
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
        frame = pd.DataFrame(
            {
                "index": self.index.astype(object),
                "k": pd.array([None if k < 0 else int(k) for k in self.k], dtype="Int64"),
                "cluster": self.cluster.astype(object),
                "size": self.size,
                "value": self.value,
                "sd": self.sd,
                "low": self.low,
                "high": self.high,
            }
        )
        frame["better"] = [INDICES[index].better for index in self.index]
        return frame

    def overall(self) -> pd.DataFrame:
        """One row for every k, one column for every index: values for whole partitions."""
        rows = self.whole & np.array([INDICES[index].of_partition for index in self.index], dtype=bool)
        ks = np.unique(self.k[rows])
        table = pd.DataFrame(index=pd.Index(pd.array([None if k < 0 else k for k in ks], dtype="Int64"), name="k"))
        for index in (index for index in INDICES if index in self.index[rows]):
            values = dict(
                zip(self.k[rows & (self.index == index)], self.value[rows & (self.index == index)], strict=True)
            )
            table[index] = [values.get(k, np.nan) for k in ks]
        return table

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
        from clustrep.stability.plots import draw_index, draw_indices, indices_over_k

        indices = indices_over_k(self)
        if index is not None:
            check_known(index, "index over k", indices, parameter="index")
        elif ax is None:
            return draw_indices(self)
        elif len(indices) != 1:
            raise ParameterError(
                f"index must be given with ax, because there are several: {', '.join(indices)}.", parameter="index"
            )
        return draw_index(self, index or indices[0], ax)

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
