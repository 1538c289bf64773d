"""Held-out samples along the lines between neighbouring clusters: the density valleys that were found again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clustrep.figures.canvas import DOUBLE, SINGLE, canvas, in_legend, legend_above, literal, panels
from clustrep.figures.charts import Chart, View, axis, chart, escaped, numbers, view
from clustrep.figures.style import look, look_of_cluster
from clustrep.results.labels import label
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import Separation

# Bins along a line, and how far it is shown: centres lie at −1.5 and 1.5, windows are 1 wide.
BINS = np.linspace(-3.0, 3.0, 25)
MOST_PANELS = 12
MOST_STACKED = 3  # panels above each other; more have two columns
SHADES = (0.8, 0.35, 0.6, 0.2, 0.45)  # of the studies' bars on the page: colours are for clusters
TICKS = (-1.5, 0.0, 1.5)
POSITION = "position between the two centres"
COUNT = "held-out samples"


@dataclass(frozen=True, eq=False)
class ValleyDensities:
    """Histograms of held-out samples between neighbouring pieces, one panel for each pair."""

    title: str
    pairs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]  # depth and p-value of every pair
    is_open: tuple[bool, ...]
    studies: tuple[str, ...]
    counts: FloatArray  # (n_pairs, n_studies, n_bins)
    least_clear: int  # which pair has the largest p-value

    @classmethod
    def of(cls, result: Separation, place: int) -> ValleyDensities:
        """Take the pairs of one clustering, those without a density valley first: at most twelve."""
        shown = np.flatnonzero(result.edge_cut == place)
        order = np.argsort(-result.edge_pvalues[shown], kind="stable")[:MOST_PANELS]
        shown = shown[np.sort(order)]
        study = result.study_of_samples
        counts = np.array(
            [[np.histogram(result.positions[e, study == s], BINS)[0] for s in range(len(result.names))] for e in shown],
            dtype=float,
        ).reshape(len(shown), len(result.names), len(BINS) - 1)
        return cls(
            title=label(result.clusterer, result.n_clusters[place]),
            pairs=tuple((str(a), str(b)) for a, b in result.edges[shown].tolist()),
            notes=tuple(
                f"depth {depth:.2f}, p = {p:.2g}"
                for depth, p in zip(result.edge_depths[shown, 0], result.edge_pvalues[shown], strict=True)
            ),
            is_open=tuple(bool(result.edge_is_open[e]) for e in shown),
            studies=result.names,
            counts=counts,
            least_clear=int(np.argmax(result.edge_pvalues[shown])) if len(shown) else 0,
        )

    def draw(self, ax: Axes | None = None) -> Axes | NDArray[Any]:
        """Draw a panel for each pair, and return the axes of all; on axes given, the least clear pair alone."""
        if ax is not None:
            with canvas(ax):
                if not self.pairs:
                    ax.set_axis_off()
                    return ax
                self._draw_pair(ax, self.least_clear)
                ax.set_ylabel(COUNT)
                legend_above(ax, ax.get_title())
                return ax
        n = max(len(self.pairs), 1)
        n_columns = 1 if n <= MOST_STACKED else 2
        n_rows = math.ceil(n / n_columns)
        width = SINGLE if n_columns == 1 else DOUBLE
        with panels(n_rows, n_columns, width, 0.6 + 1.3 * n_rows) as (figure, axes):
            for empty in axes.flat[len(self.pairs) :]:
                empty.set_axis_off()
            for i, panel in enumerate(axes.flat[: len(self.pairs)]):
                self._draw_pair(panel, i)
            if len(self.pairs):
                axes.flat[0].set_ylabel(COUNT)
                handles, names = axes.flat[0].get_legend_handles_labels()
                figure.legend(handles, names, loc="outside upper center", ncols=min(len(names), 6), title=self.title)
            return np.asarray(axes)

    def _draw_pair(self, ax: Axes, i: int) -> None:
        """Draw one pair: bars of the studies on top of each other, the three windows shaded."""
        for low in (-2.0, -0.5, 1.0):
            ax.axvspan(low, low + 1, color="0.93", lw=0)
        below = np.zeros(len(BINS) - 1)
        for s, study in enumerate(self.studies):
            counts = self.counts[i, s]
            ax.bar(BINS[:-1], counts, np.diff(BINS), below, align="edge", color=look(s).colour, label=in_legend(study))
            below = below + counts
        left, right = self.pairs[i]
        ax.set_xticks(TICKS, [f"cluster {literal(left)}", "", f"cluster {literal(right)}"])
        ax.set_title(("valley: " if self.is_open[i] else "no valley: ") + self.notes[i], fontsize="small")

    def views(self) -> list[View]:
        """Write one view for each pair for the page."""
        middles = (BINS[1:] + BINS[:-1]) / 2
        return [
            view(
                f"{a} – {b}: {'valley' if is_open else 'no valley'}",
                [
                    {
                        "type": "bar",
                        "x": numbers(middles),
                        "y": numbers(counts[s]),
                        "name": escaped(study),
                        "marker": {
                            "color": f"@ink/{SHADES[s % len(SHADES)]}",
                            "pattern": {"shape": look(s // len(SHADES)).pattern},
                        },
                    }
                    for s, study in enumerate(self.studies)
                ],
                barmode="stack",
                bargap=0,
                shapes=[_window(low, colour) for low, colour in _windows(a, b)],
                xaxis=axis(POSITION, tickvals=list(TICKS), ticktext=[f"cluster {a}", "middle", f"cluster {b}"]),
                yaxis=axis(COUNT),
            )
            for (a, b), is_open, counts in zip(self.pairs, self.is_open, self.counts, strict=True)
        ]

    def chart(self) -> Chart:
        """Write the chart for the page."""
        return chart(
            "valleys",
            f"Between neighbouring clusters ({escaped(self.title)})",
            "Samples of held-out studies along the line between two cluster centres that were learned on the other "
            "studies. Bands are the three windows that are compared, around either cluster in its colour: in a density "
            "valley the middle has fewer samples than either side.",
            380,
            self.views(),
        )


def _windows(a: str, b: str) -> list[tuple[float, str]]:
    """Return where the three windows begin, and their colours."""
    left, right = (f"{look_of_cluster(name, place).token}/0.2" for place, name in enumerate((a, b)))
    return [(-2.0, left), (-0.5, "@muted/0.15"), (1.0, right)]


def _window(low: float, colour: str) -> dict[str, object]:
    """Describe the band of one window."""
    place = {"xref": "x", "yref": "paper", "x0": low, "x1": low + 1, "y0": 0, "y1": 1}
    return {"type": "rect", **place, "layer": "below", "fillcolor": colour, "line": {"width": 0}}
