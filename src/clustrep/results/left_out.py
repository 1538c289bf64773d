"""All studies but one, pooled, against that one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from clustrep.checks import freeze
from clustrep.provenance import Provenance
from clustrep.results.base import Failing, Resampled, Saved
from clustrep.results.labels import label
from clustrep.tables.agreement import shown
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneStudyOut(Resampled, Failing, Saved):
    """How well all other studies together predict each study's clustering.

    Attributes
    ----------
    names : tuple of str
        The studies that were tested on.
    estimate : ndarray, (S,)
        R̂ with the studies as they are.
    distribution : ndarray, (n_resamples, S)
    """

    clusterer: str
    n_clusters: int | None
    agreement: str
    names: tuple[str, ...]
    estimate: FloatArray
    distribution: FloatArray
    failed: IntArray
    causes: tuple[str, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every study: test, agreement, score, mean, sd, low, high."""
        low, high = self.confidence_interval(confidence_level)
        return pd.DataFrame(
            {
                "test": self.names,
                "agreement": self.agreement,
                "score": self.estimate,
                "mean": self.mean,
                "sd": self.sd,
                "low": low,
                "high": high,
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every study's score with its interval."""
        from clustrep.figures import matplotlib as plots

        return plots.left_out(self, ax)

    def __repr__(self) -> str:
        lines = [
            f"Trained on all other studies: {label(self.clusterer, self.n_clusters)}, {shown(self.agreement)}, "
            f"{plural(len(self.distribution), 'resample')}, seed {self.provenance['seed']}",
            self.to_frame().drop(columns="agreement").round(3).to_string(index=False),
            *self.failures.lines("score"),
        ]
        return "\n".join(lines)
