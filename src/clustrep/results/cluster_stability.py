"""How well clusters are found again within one study: the results of section 2.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clustrep.checks import freeze
from clustrep.errors import ParameterError
from clustrep.failures import Failures
from clustrep.provenance import Provenance
from clustrep.results.base import Failing, Resampled, quiet, tails
from clustrep.results.labels import label
from clustrep.saved import Saved
from clustrep.tables import index_records
from clustrep.tables.index_records import INDICES
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DISSOLVED, RECOVERED = index_records.DISSOLVED, index_records.RECOVERED


def full_name(index: str, relative: bool) -> str:
    """Return the name of an index for sentences and figures."""
    return INDICES[index].title(relative=relative)


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Resampled, Failing, Saved):
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

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def per_cluster(self) -> FloatArray:
        """Mean over resamples, (k,)."""
        if self.distribution.ndim == 1:
            raise AttributeError("The matching distance is one number for the whole partition: see overall.")
        return self.mean

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
        low, high = self.confidence_interval(confidence_level)
        whole = self.distribution.ndim == 1
        frame = pd.DataFrame(
            {
                "cluster": ["all"] if whole else self.clusters,
                "size": [len(self.labels)] if whole else self.sizes,
                "mean": np.atleast_1d(self.mean),
                "sd": np.atleast_1d(self.sd),
                "median": np.atleast_1d(self.median),
                "low": np.atleast_1d(low),
                "high": np.atleast_1d(high),
            }
        )
        if INDICES[self.index].thresholds is not None:
            frame["dissolved"], frame["recovered"] = self.dissolved(), self.recovered()
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every cluster's distribution over resamples."""
        from clustrep.figures.one_study import ClusterBoxes

        return ClusterBoxes.of(self).draw(ax)

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
class Sensitivity(Resampled, Failing, Saved):
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

    index: str
    relative: bool
    clusterer: str
    n_clusters: int | None
    scales: FloatArray
    labels: Labels
    clusters: Labels
    sizes: IntArray
    distribution: FloatArray
    overall_distribution: FloatArray
    failed: IntArray  # (n_resamples, n_scales)
    causes: tuple[str, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

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

    @property
    def per_cluster(self) -> FloatArray:
        """Mean over resamples, (n_scales, k)."""
        if self.distribution.ndim == 2:
            raise AttributeError("The matching distance is one number for the whole partition: see overall.")
        return self.mean

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
        from clustrep.figures.one_study import NoiseCurves

        return NoiseCurves.of(self).draw(ax)

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
