"""In-group proportions of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clustrep.checks import freeze
from clustrep.provenance import Provenance
from clustrep.results.base import Failing, Saved, quiet, tails
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class InGroupProportion(Failing, Saved):
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
    pvalues : ndarray or None
        Against random contiguous partitions; None where none were drawn.
    null_distribution : ndarray or None, (n_null, n_j, k)
        The proportions of random partitions; NaN for a cluster without samples.
    distribution : ndarray or None, (n_resamples, k) or (n_resamples, n_j, k)
        The proportions in perturbed copies; NaN where a copy failed, or has no sample of a cluster.
    failed : ndarray of int, (n_resamples,)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    Notes
    -----
    Large clusters have a high proportion by chance; the p-values take their sizes into account.

    References
    ----------
    Kapp and Tibshirani (2007). Are clusters found in one dataset present in another dataset? Biostatistics 8(1).

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
    pvalues: FloatArray | None
    null_distribution: FloatArray | None
    distribution: FloatArray | None
    failed: IntArray
    causes: tuple[str, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def overall(self) -> float | FloatArray:
        """The share of all samples, one number for each number of neighbours."""
        shares = np.nan_to_num(self.proportions) @ self.sizes / self.sizes.sum()
        return np.asarray(shares) if np.ndim(shares) else float(shares)

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every number of neighbours and cluster.

        Columns: n_neighbors, cluster, size, proportion; pvalue where random partitions were drawn; mean, sd, low, high
        over perturbed copies, where there are any.
        """
        n_j, k = len(self.n_neighbors), len(self.clusters)
        frame = pd.DataFrame(
            {
                "n_neighbors": np.repeat(self.n_neighbors, k),
                "cluster": np.tile(self.clusters, n_j),
                "size": np.tile(self.sizes, n_j),
                "proportion": self.proportions.ravel(),
            }
        )
        if self.pvalues is not None:
            frame["pvalue"] = self.pvalues.ravel()
        if self.distribution is not None:
            flat = self.distribution.reshape(len(self.distribution), -1)
            with quiet():
                frame["mean"], frame["sd"] = np.nanmean(flat, axis=0), np.nanstd(flat, axis=0, ddof=1)
                frame["low"], frame["high"] = np.nanquantile(flat, tails(confidence_level), axis=0)
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
            f"{plural(provenance['n_null'], 'random partition')}, seed {provenance.seed}",
            self.to_frame().round(3).to_string(index=False),
            *self.failures.lines("resample"),
        ]
        return "\n".join(lines)
