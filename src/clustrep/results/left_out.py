"""All studies but one, pooled, against that one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from clustrep.checks import freeze
from clustrep.provenance import Provenance
from clustrep.results.base import Failing, Resampled
from clustrep.results.labels import label
from clustrep.saved import Saved
from clustrep.tables.agreement import shown
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneStudyOut(Resampled, Failing, Saved):
    """How well all other studies together predict each study's clustering.

    With X_{−t} all studies but t, pooled, R̂(t) = r(ψ(X_t; X_{−t}), ψ(X_t; X_t)), the agreement of the two partitions of
    study t; R̂⁽ᵇ⁾(t) is the same for the draws of resample b.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : int or None
        The number of clusters asked for; None where the clusterer finds it by itself.
    agreement : str
        What the scores measure.
    names : tuple of str
        The studies that were tested on.
    estimate : ndarray, (S,)
        R̂ with the studies as they are.
    distribution : ndarray, (n_resamples, S)
        R̂⁽ᵇ⁾; NaN where a replicate failed.
    failed : ndarray of int, (n_resamples + 1, S)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    Notes
    -----
    Studies that differ in location or scale form clusters of their own when they are pooled: scale them first
    (`Studies.scaled`).

    See Also
    --------
    leave_one_study_out : The function that returns it.
    Replicability : One training study at a time.
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
        from clustrep.figures.left_out import LeftOutScores

        return LeftOutScores.of(self).draw(ax)

    def __repr__(self) -> str:
        lines = [
            f"Trained on all other studies: {label(self.clusterer, self.n_clusters)}, {shown(self.agreement)}, "
            f"{plural(len(self.distribution), 'resample')}, seed {self.provenance['seed']}",
            self.to_frame().drop(columns="agreement").round(3).to_string(index=False),
            *self.failures.lines("score"),
        ]
        return "\n".join(lines)
