"""Every index side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_known, freeze
from clustrep.errors import ParameterError
from clustrep.failures import Failures
from clustrep.provenance import Provenance
from clustrep.saved import Saved
from clustrep.tables.index_records import INDICES
from clustrep.text import plural
from clustrep.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        Which index: a key of `clustrep.tables.index_records.INDICES`.
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

    def __post_init__(self) -> None:
        freeze(self)

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
        from clustrep.figures.over_k import IndexPanels

        figure = IndexPanels.of(self)
        if index is not None:
            check_known(index, "index over k", figure.names, parameter="index")
        elif ax is None:
            return figure.draw()
        elif len(figure.names) != 1:
            raise ParameterError(
                f"index must be given with ax, because there are several: {', '.join(figure.names)}.", parameter="index"
            )
        return figure.panels[figure.names.index(index or figure.names[0])].draw(ax)

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
