"""Which clusterer and which k, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clustrep._types import FloatArray
from clustrep.agreement import shown

if TYPE_CHECKING:
    from clustrep.results.comparison import Best, Candidate

# Scores are said to be above those of data without clusters up to this chance of any false finding.
FALSE_FINDING = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """A choice among clusterers and numbers of clusters, with its uncertainty.

    Attributes
    ----------
    best : Best or None
        The highest score, and the rivals that can't be told from it; None where nothing can be chosen.
    simplest : Candidate or None
        The smallest k whose score is within one standard error of the best.
    candidates : tuple of Candidate
        All that can be chosen.
    probability_best : ndarray, (n_candidates,)
        The share of resamples in which each has the highest score; a tie counts for the smaller k, as in `best`.
    excess, pvalue, adjusted : ndarray or None, (n_candidates,)
        Against data without clusters, where a reference was given; `adjusted` p-values keep the chance of any false
        finding among all candidates.
    chosen : Candidate or None
        Without a reference, the best. With one, the highest excess among those above data without clusters (adjusted
        p-value at most 5 %); None where nothing is.
    """

    agreement: str
    best: Best | None
    simplest: Candidate | None
    candidates: tuple[Candidate, ...]
    probability_best: FloatArray
    excess: FloatArray | None
    pvalue: FloatArray | None
    adjusted: FloatArray | None
    chosen: Candidate | None
    why_nothing: str = ""  # where nothing can be chosen

    @classmethod
    def nothing(cls, agreement: str, why: str, *, with_reference: bool) -> Choice:
        """Return the choice among nothing."""
        none = np.zeros(0)
        against = none if with_reference else None
        return cls(agreement, None, None, (), none, against, against, against, None, why)

    def to_frame(self) -> pd.DataFrame:
        """One row for every candidate."""
        rivals = {(rival.clusterer, rival.n_clusters) for rival in (self.best.rivals if self.best else ())}
        frame = pd.DataFrame(
            {
                "clusterer": [one.clusterer for one in self.candidates],
                "k": pd.array([one.n_clusters for one in self.candidates], dtype="Int64"),
                "score": [one.score for one in self.candidates],
                "low": [one.low for one in self.candidates],
                "high": [one.high for one in self.candidates],
                "probability_best": self.probability_best,
                "rival": [(one.clusterer, one.n_clusters) in rivals for one in self.candidates],
            }
        )
        if self.excess is not None:
            frame["excess"], frame["pvalue"], frame["adjusted"] = self.excess, self.pvalue, self.adjusted
        return frame

    def __str__(self) -> str:
        if self.best is None or self.simplest is None:
            return self.why_nothing
        if self.chosen is None:
            return f"By {shown(self.agreement)}, no k is better than data without clusters"
        lines = [str(self.best)]
        if self.excess is not None:
            place = self.candidates.index(self.chosen)
            lines.append(
                f"Farthest above data without clusters: {self.chosen} (excess {self.excess[place]:.2f}, "
                f"adjusted p = {self.adjusted[place]:.3g})"  # type: ignore[index]
            )
        if (self.simplest.clusterer, self.simplest.n_clusters) != (
            self.best.clusterer,
            self.best.n_clusters,
        ):
            lines.append(f"Smallest k within one standard error of the best: {self.simplest}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"{self}\n{self.to_frame().round(3).to_string(index=False)}"
