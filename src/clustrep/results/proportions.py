"""In-group proportions of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clustrep.checks import freeze
from clustrep.results.base import Failing, Resampled, Saved
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class InGroupProportion(Saved):
    """The share of each cluster's samples whose nearest neighbours belong to it, too (section 2.3.2).

    Where one number of neighbours was asked for, arrays have no axis for it.

    Attributes
    ----------
    clusters, sizes : ndarray, (k,)
    proportions : ndarray, (k,) or (n_j, k)
    pvalues : ndarray or None
        Against random contiguous partitions; None where none were drawn.
    null_distribution : ndarray or None, (n_null, n_j, k)
        The proportions of random partitions; NaN for a cluster without samples.
    """

    n_neighbors: tuple[int, ...]
    clusters: Labels
    sizes: IntArray
    labels: Labels
    samples: tuple[str, ...]
    proportions: FloatArray
    pvalues: FloatArray | None
    null_distribution: FloatArray | None
    provenance: dict[str, Any]

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def overall(self) -> float | FloatArray:
        """The share of all samples, one number for each number of neighbours."""
        return _overall(self)

    def to_frame(self) -> pd.DataFrame:
        """One row for every number of neighbours and cluster: n_neighbors, cluster, size, proportion, pvalue.

        There is no column pvalue where no random partitions were drawn.
        """
        frame = _frame(self)
        if self.pvalues is not None:
            frame["pvalue"] = self.pvalues.ravel()
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the proportion of every cluster against the number of neighbours."""
        from clustrep.figures import matplotlib as plots

        return plots.in_group(self, ax)

    def __repr__(self) -> str:
        run = self.provenance
        by = f"{run['clusterers'][0]}" + (f" learned on {run['train']}" if run["train"] else "")
        lines = [
            f"In-group proportion: {plural(len(self.labels), 'sample')}, clusters by {by}, "
            f"{plural(run['n_null'], 'random partition')}, seed {run['seed']}",
            self.to_frame().round(3).to_string(index=False),
        ]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class InGroupStability(Resampled, Failing, Saved):
    """In-group proportions of clusters in perturbed copies of a study (section 2.3.2).

    Where one number of neighbours was asked for, arrays have no axis for it.

    Attributes
    ----------
    clusters, sizes : ndarray, (k,)
        In the study as it is.
    proportions : ndarray, (k,) or (n_j, k)
        In the study as it is.
    distribution : ndarray, (n_resamples, k) or (n_resamples, n_j, k)
        The proportions in perturbed copies; NaN where a copy failed, or has no sample of a cluster.
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
    provenance: dict[str, Any]

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
        from clustrep.figures import matplotlib as plots

        return plots.in_group(self, ax)

    def __repr__(self) -> str:
        run = self.provenance
        lines = [
            f"In-group proportion: {plural(len(self.labels), 'sample')}, clusters by {run['clusterers'][0]}, "
            f"{plural(len(self.distribution), 'resample')} by {run['resampling']}, seed {run['seed']}",
            self.to_frame().round(3).to_string(index=False),
            *self._failure_lines("resample"),
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
