"""The figure of the findings: clusters × studies, with status, share and local replicability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clustrep.findings.result import FOUND, MERGED, NOT_FOUND, SIGNS, SPLIT, UNDETERMINED, Findings
from clustrep.plots.canvas import (
    DOUBLE,
    SINGLE,
    canvas,
    cell_size,
    height_for,
    literal,
    look,
    look_of_cluster,
    names_below,
)
from clustrep.plots.charts import Chart, View, axis, chart, error_bars, escaped, numbers, scatter, view
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito's colours, and hatches for readers who do not see them; the sign shows the status without either.
SHADES = {FOUND: "#009E73", NOT_FOUND: "#D55E00", SPLIT: "#56B4E9", MERGED: "#E69F00", UNDETERMINED: "0.6"}
HATCHES = {FOUND: "", NOT_FOUND: "", SPLIT: "////", MERGED: "....", UNDETERMINED: "xxxx"}
TOKENS = {FOUND: "@good", NOT_FOUND: "@bad", SPLIT: "@c5", MERGED: "@c4", UNDETERMINED: "@muted"}
# Of a bar in its cell: where it begins, how wide one of 100 % is, where it lies below the middle, how high it is.
LEFT, WIDTH, BELOW, HEIGHT = -0.43, 0.86, 0.06, 0.26
WIDE_FROM = 7  # studies
LARGEST = 34.0  # of a square on the page, in pixels, for a share of 100 %


def draw_findings(findings: Findings, ax: Axes | None = None) -> Axes:
    """Draw the table of clusters × studies: a sign for the status, a bar for the share.

    Parameters
    ----------
    findings : Findings
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure, one column wide where there are at most six studies.
    """
    return FindingsGrid.of(findings).draw(ax)


@dataclass(frozen=True, eq=False)
class FindingsGrid:
    """The table of clusters, rows, × studies, columns; (n_clusters, n_studies) each."""

    clusters: tuple[str, ...]
    studies: tuple[str, ...]
    status: tuple[tuple[str, ...], ...]
    counts: IntArray
    share: FloatArray
    replicability: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, findings: Findings) -> FindingsGrid:
        """Take the table of the findings."""
        table = findings.table()
        shape = (findings.n_clusters, len(findings.names))
        status = table["status"].to_numpy(object).reshape(shape)
        share, replicability, low, high = (
            table[name].to_numpy(float).reshape(shape) for name in ("share", "replicability", "low", "high")
        )
        return cls(
            clusters=findings.letters,
            studies=findings.names,
            status=tuple(tuple(map(str, row)) for row in status),
            counts=table["n"].to_numpy(int).reshape(shape),
            share=share,
            replicability=replicability,
            low=low,
            high=high,
        )

    # -----------------------------------------------------------------------------------------------------------------
    # matplotlib

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw a sign and a bar in every cell; percentages where they fit."""
        n_rows, n_columns = len(self.clusters), len(self.studies)
        names = [literal(name, 20) for name in self.studies]
        height = height_for(names, max(0.45 * SINGLE, 0.85 + 0.34 * n_rows))
        with canvas(ax, SINGLE if n_columns < WIDE_FROM else DOUBLE, height) as ax:
            ax.set_xlim(-0.5, n_columns - 0.5)
            ax.set_ylim(n_rows - 0.5, -0.5)
            names_below(ax, range(n_columns), names)
            ax.set_yticks(range(n_rows), [literal(name) for name in self.clusters])
            ax.set_ylabel("cluster")
            ax.tick_params(length=0)
            ax.spines[:].set_visible(False)
            ax.set_xlabel(self._legend(), fontsize=7)
            size = cell_size(ax, (n_rows, n_columns), 7, 2)
            for c, s in np.ndindex(n_rows, n_columns):
                self._draw_cell(ax, c, s, size)
            return ax

    def _draw_cell(self, ax: Axes, c: int, s: int, size: float | None) -> None:
        """Draw one cell: the frame is 100 % of the study's samples."""
        from matplotlib.patches import Rectangle

        status, corner = self.status[c][s], (s + LEFT, c + BELOW)
        ax.add_patch(Rectangle(corner, WIDTH, HEIGHT, facecolor="none", edgecolor="0.75", lw=0.5))
        fill: dict[str, Any] = {"facecolor": SHADES[status], "edgecolor": "black", "hatch": HATCHES[status], "lw": 0}
        ax.add_patch(Rectangle(corner, WIDTH * float(self.share[c, s]), HEIGHT, **fill))
        sign = SIGNS[status]
        text = sign if size is None else f"{sign} {percent_of(float(self.share[c, s]))}"
        ax.text(s, c - 0.18, text, ha="center", va="center", fontsize=size or 7)

    def _legend(self) -> str:
        """Write what the signs mean, of those that occur; and what a bar is."""
        present = {status for row in self.status for status in row}
        signs = [f"{sign} {status}" for status, sign in SIGNS.items() if status in present]
        return f"{', '.join(signs)}\nbar: share of the study's samples"

    # -----------------------------------------------------------------------------------------------------------------
    # the page

    def chart(self) -> Chart:
        """Write the same for the page; a second view has local replicability, where it is known."""
        views = [self._shares()]
        if np.isfinite(self.replicability).any():
            views.append(self._replicabilities())
        signs = ", ".join(f"{sign} {status}" for status, sign in SIGNS.items())
        return chart(
            "findings",
            "Clusters × studies",
            f"The area of a square is the share of the study's samples in the cluster. {signs}.",
            150 + 52 * len(self.clusters),
            views,
        )

    def _shares(self) -> View:
        traces = []
        studies = [escaped(name) for name in self.studies]
        for c, cluster in enumerate(self.clusters):
            statuses = self.status[c]
            marker = {
                "symbol": "square",
                "size": numbers(np.round(LARGEST * np.sqrt(self.share[c]), 1)),
                "color": [TOKENS[status] for status in statuses],
                "opacity": 0.35,
            }
            traces.append(
                scatter(
                    "markers+text",
                    studies,
                    [cluster] * len(studies),
                    marker=marker,
                    text=[SIGNS[status] for status in statuses],
                    textfont={"size": 15, "color": [TOKENS[status] for status in statuses]},
                    hovertext=[self._hover(c, s) for s in range(len(studies))],
                    hoverinfo="text",
                    showlegend=False,
                )
            )
        layout = {
            "xaxis": axis("", type="category", side="top", categoryarray=studies),
            "yaxis": axis("cluster", type="category", autorange="reversed", categoryarray=list(self.clusters)),
        }
        return view("share and status", traces, **layout)

    def _replicabilities(self) -> View:
        traces = []
        for c, cluster in enumerate(self.clusters):
            style = look_of_cluster(cluster, c)
            traces.append(
                {
                    "type": "bar",
                    "name": f"cluster {escaped(cluster)}",
                    "x": [escaped(name) for name in self.studies],
                    "y": numbers(self.replicability[c]),
                    "marker": {"color": style.token, "pattern": {"shape": look(c).pattern}},
                    "error_y": error_bars(self.replicability[c], self.low[c], self.high[c], color="@ink", thickness=1),
                    "hovertext": [self._hover(c, s) for s in range(len(self.studies))],
                    "hoverinfo": "text",
                }
            )
        layout = {"barmode": "group", "xaxis": axis("", type="category"), "yaxis": axis("local replicability")}
        return view("local replicability", traces, **layout)

    def _hover(self, c: int, s: int) -> str:
        share = percent_of(float(self.share[c, s]))
        where = f"{self.clusters[c]} in {escaped(self.studies[s])}"
        text = f"{where}: {self.status[c][s]}, n = {self.counts[c, s]:,} ({share})"
        if not np.isfinite(self.replicability[c, s]):
            return text
        interval = f"{self.low[c, s]:.2f} to {self.high[c, s]:.2f}"
        return f"{text}<br>local replicability {self.replicability[c, s]:.2f}, 95 % interval {interval}"


def percent_of(share: float) -> str:
    """Write a share in whole percent; only none is 0 %, only all is 100 %.

    Examples
    --------
    >>> percent_of(0.256), percent_of(0.001), percent_of(0.999), percent_of(0.0)
    ('26 %', '< 1 %', '> 99 %', '0 %')
    """
    if 0 < share < 0.005:
        return "< 1 %"
    if 0.995 <= share < 1:
        return "> 99 %"
    return f"{100 * share:.0f} %"
