"""The result of the significance test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from clustrep.checks import freeze
from clustrep.provenance import Provenance
from clustrep.saved import Saved
from clustrep.text import plural
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    def __post_init__(self) -> None:
        freeze(self)

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
        from clustrep.figures.one_study import NullHistogram

        return NullHistogram.of(self).draw(ax)

    def __repr__(self) -> str:
        whitened = ", whitened" if self.provenance["whiten"] else ""
        return (
            f"Test for clusters: p = {self.pvalue:.3g} (statistic {self.statistic:.4g}, "
            f"{plural(len(self.null_distribution), 'data set')} from the null {self.provenance['null']}{whitened}, "
            f"seed {self.provenance['seed']})"
        )
