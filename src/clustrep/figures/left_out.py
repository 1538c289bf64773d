"""The figure of each study against all others pooled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clustrep.figures.canvas import canvas, height_for, largest, legend_above, literal, names_below, smallest
from clustrep.figures.style import COLOURS
from clustrep.tables.agreement import shown
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import LeaveOneStudyOut


@dataclass(frozen=True, eq=False)
class LeftOutScores:
    """The score of every study under the clustering function of all others, (S,) each."""

    score: str
    names: tuple[str, ...]
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    estimate: FloatArray

    @classmethod
    def of(cls, result: LeaveOneStudyOut) -> LeftOutScores:
        """Take the scores of a result with their 95 % intervals."""
        low, high = result.confidence_interval()
        return cls(shown(result.agreement), result.names, result.mean, low, high, result.estimate)

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the mean of every study that was left out, with its interval and R̂."""
        names = [literal(name, 24) for name in self.names]
        with canvas(ax, height=height_for(names)) as ax:
            places = np.arange(len(names))
            ax.vlines(places, self.low, self.high, color=COLOURS[0], lw=2)
            ax.plot(places, self.mean, "o", color=COLOURS[0], label="mean over resamples, 95 %")
            ax.plot(places, self.estimate, "_", color="black", markersize=12, label="R̂")
            names_below(ax, places, names)
            ax.set_xlim(-0.6, len(places) - 0.4)
            ax.set_xlabel("tested on, trained on all others")
            ax.set_ylabel(literal(self.score))
            ax.set_ylim(smallest(self.low) - 0.03, max(largest(self.high), largest(self.estimate)) + 0.03)
            legend_above(ax)
            return ax
