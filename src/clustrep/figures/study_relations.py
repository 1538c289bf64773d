"""Figures of how studies relate: their tree, the counterparts of clusters, each study against all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clustrep.figures.canvas import (
    DOUBLE,
    SINGLE,
    canvas,
    cell_size,
    colour_bar,
    height_for,
    largest,
    legend_above,
    literal,
    names_below,
    score_colours,
    smallest,
    write_cells,
)
from clustrep.figures.charts import Chart, axis, chart, escaped, scatter, view
from clustrep.figures.style import COLOURS
from clustrep.tables.agreement import shown
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import Counterparts, LeaveOneStudyOut, StudyRelations

DISTANCE = "1 − score, mean of both directions"


@dataclass(frozen=True, eq=False)
class StudyTree:
    """The tree of studies: every merge is a line of four points, two legs and what joins them.

    Leaves stand at 0, 1, 2, …, in the order of `names`.
    """

    names: tuple[str, ...]
    apart: tuple[bool, ...]
    along: FloatArray  # (S − 1, 4): across the leaves
    height: FloatArray  # (S − 1, 4): one minus the score

    @classmethod
    def of(cls, relations: StudyRelations) -> StudyTree:
        """Lay out the tree of studies."""
        from scipy.cluster.hierarchy import dendrogram

        layout = dendrogram(relations.tree, no_plot=True)
        return cls(
            names=tuple(relations.names[i] for i in layout["leaves"]),
            apart=tuple(bool(relations.apart[i]) for i in layout["leaves"]),
            along=(np.array(layout["icoord"]) - 5) / 10,  # SciPy's leaves stand at 5, 15, 25, …
            height=np.array(layout["dcoord"]),
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the tree upright; studies that stand apart have a star."""
        from matplotlib.collections import LineCollection

        n = len(self.names)
        names = [literal(name, 24) + " *" * apart for name, apart in zip(self.names, self.apart, strict=True)]
        with canvas(ax, height=height_for(names)) as ax:
            ax.add_collection(LineCollection(list(np.dstack([self.along, self.height])), colors=[COLOURS[0]]))
            ax.set_xlim(-0.5, n - 0.5)
            ax.set_ylim(0, 1.05 * largest(self.height, 0.1))
            names_below(ax, range(n), names)
            ax.set_ylabel(DISTANCE)
            ax.set_xlabel("* stands apart" if any(self.apart) else "study")
            return ax

    def chart(self) -> Chart:
        """Write the tree for the page, lying on its side."""
        traces = [
            scatter("lines", height, along, line={"color": "@c0", "width": 2}, hoverinfo="x", showlegend=False)
            for along, height in zip(self.along, self.height, strict=True)
        ]
        names = [escaped(f"{name} *" if apart else name) for name, apart in zip(self.names, self.apart, strict=True)]
        layout = {
            "xaxis": axis(DISTANCE, autorange="reversed"),
            "yaxis": axis("", tickvals=list(range(len(names))), ticktext=names, side="right", showgrid=False),
        }
        return chart(
            "tree",
            "The tree of studies",
            "Average linkage of one minus the score, mean of both directions; a star marks a study that stands apart.",
            120 + 36 * len(names),
            [view("tree", traces, **layout)],
        )


@dataclass(frozen=True, eq=False)
class CounterpartMap:
    """One study's clusters, rows, with their counterparts in the other studies, columns."""

    train: str
    clusters: tuple[str, ...]
    studies: tuple[str, ...]
    counterparts: tuple[tuple[str | None, ...], ...]
    overlap: FloatArray  # (n_clusters, n_studies)

    @classmethod
    def of(cls, result: Counterparts, train: str) -> CounterpartMap:
        """Take the clusters of one study that have samples."""
        s = result.names.index(train)
        others = [t for t in range(len(result.names)) if t != s]
        rows = [i for i, size in enumerate(result.sizes[s]) if size]
        partners = [[(t, result.partner[s, t, i]) for t in others] for i in rows]
        return cls(
            train=train,
            clusters=tuple(str(result.clusters[s, i]) for i in rows),
            studies=tuple(result.names[t] for t in others),
            counterparts=tuple(
                tuple(str(result.clusters[t, j]) if j >= 0 else None for t, j in row) for row in partners
            ),
            overlap=np.array([[result.overlap[s, t, i] for t in others] for i in rows]),
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw a table, coloured by overlap, with the counterparts' names in the cells where they fit."""
        below = [literal(name, 20) for name in self.studies]
        height = height_for(below, max(0.7 * SINGLE, 0.9 + 0.3 * len(self.clusters)))
        with canvas(ax, SINGLE if len(self.studies) <= 4 else DOUBLE, height) as ax:
            image = ax.imshow(self.overlap, cmap=score_colours(), vmin=0, vmax=1, aspect="auto")
            names_below(ax, range(len(self.studies)), below)
            ax.set_yticks(range(len(self.clusters)), [literal(name) for name in self.clusters])
            ax.spines[:].set_visible(False)
            ax.set_xlabel("counterpart in")
            ax.set_ylabel(f"cluster of {literal(self.train, 14)}")
            colour_bar(image, ax, "overlap (Jaccard)")
            names = [[None if name is None else literal(name, 16) for name in row] for row in self.counterparts]
            longest = max(len(name or "none") for row in names for name in row)
            size = cell_size(ax, self.overlap.shape, max(4, longest), 2)
            if size:
                texts = [
                    [f"{name}\n{value:.2f}" if name else "none" for name, value in zip(row, values, strict=True)]
                    for row, values in zip(names, self.overlap, strict=True)
                ]
                write_cells(ax, self.overlap, texts, 1.0, size)
            return ax


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
