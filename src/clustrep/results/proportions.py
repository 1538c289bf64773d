"""In-group proportions of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clustrep.checks import freeze
from clustrep.provenance import Provenance
from clustrep.results.base import Failing, Resampled
from clustrep.saved import Saved
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# What p-values compare with, or why there are none.
NO_NULL = ""
CLUSTERED_AGAIN = "p-values: against simulated data without clusters, clustered again"
RANDOM_CELLS = "p-values: against random cells; the clusters come from another study"
OWN_LABELS = (
    "No p-values: random cells are no null for labels that may come from the same data. Pass the clusterer, or the "
    "study that defines the clusters as train."
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

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def pvalues(self) -> FloatArray | None:
        """`exceeding` where it is a p-value, else None: see `pvalues_are`."""
        return self.exceeding if self.pvalues_are in (CLUSTERED_AGAIN, RANDOM_CELLS) else None

    @property
    def overall(self) -> float | FloatArray:
        """The share of all samples, one number for each number of neighbours."""
        return _overall(self)

    def to_frame(self) -> pd.DataFrame:
        """One row for every number of neighbours and cluster: n_neighbors, cluster, size, proportion, pvalue.

        The last column is called exceeding where it is no p-value, and is missing where there is no null.
        """
        frame = _frame(self)
        if self.exceeding is not None:
            frame["exceeding" if self.pvalues is None else "pvalue"] = self.exceeding.ravel()
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the proportion of every cluster against the number of neighbours."""
        from clustrep.figures.one_study import GroupProportions

        return GroupProportions.of(self).draw(ax)

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
class InGroupStability(Resampled, Failing, Saved):
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

    n_neighbors: tuple[int, ...]
    clusters: Labels
    sizes: IntArray
    labels: Labels
    samples: tuple[str, ...]
    proportions: FloatArray
    distribution: FloatArray
    failed: IntArray
    causes: tuple[str, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def overall(self) -> float | FloatArray:
        """The share of all samples in the study as it is, one number for each number of neighbours."""
        return _overall(self)

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every number of neighbours and cluster.

        Columns: n_neighbors, cluster, size, proportion; mean, sd, low, high over perturbed copies.
        """
        frame = _frame(self)
        low, high = self.confidence_interval(confidence_level)
        frame["mean"], frame["sd"] = self.mean.ravel(), self.sd.ravel()
        frame["low"], frame["high"] = low.ravel(), high.ravel()
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the proportion of every cluster in the study as it is, against the number of neighbours."""
        from clustrep.figures.one_study import GroupProportions

        return GroupProportions.of(self).draw(ax)

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


def _frame(result: InGroupProportion | InGroupStability) -> pd.DataFrame:
    n_j, k = len(result.n_neighbors), len(result.clusters)
    return pd.DataFrame(
        {
            "n_neighbors": np.repeat(result.n_neighbors, k),
            "cluster": np.tile(result.clusters, n_j),
            "size": np.tile(result.sizes, n_j),
            "proportion": result.proportions.ravel(),
        }
    )


def _overall(result: InGroupProportion | InGroupStability) -> float | FloatArray:
    shares = np.nan_to_num(result.proportions) @ result.sizes / result.sizes.sum()
    return np.asarray(shares) if np.ndim(shares) else float(shares)
