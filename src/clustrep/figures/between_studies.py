"""Figures of pairs of studies: the study × study matrix, a grid of matrices, all resamples of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clustrep.figures.canvas import (
    DOUBLE,
    SINGLE,
    canvas,
    cell_size,
    colour_bar,
    evenly,
    largest,
    legend_above,
    literal,
    names_below,
    panels,
    score_colours,
    smallest,
    write_cells,
)
from clustrep.figures.charts import Chart, View, axis, chart, escaped, numbers, scatter, view
from clustrep.figures.score_curves import by_clusterer
from clustrep.figures.style import COLOURS, PAGE_SCORES
from clustrep.results.base import quiet
from clustrep.results.labels import label
from clustrep.tables.agreement import shown
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import Comparison, Replicability

MOST_COLUMNS = 6
# Pairs in one figure, and on the page, where there is more room.
MOST_PAIRS, MOST_PAIRS_ON_PAGE = 30, 40
# Resamples of one pair on the page, which must stay small.
MOST_MARKS = 200


# ---------------------------------------------------------------------------------------------------------------------
# one configuration: the study × study matrix


@dataclass(frozen=True, eq=False)
class StudyMatrix:
    """Scores of every training study, rows, on every test study, columns; (S, S) each."""

    title: str
    score: str
    names: tuple[str, ...]
    mean: FloatArray
    sd: FloatArray
    low: FloatArray
    high: FloatArray
    estimate: FloatArray
    top: float  # of the colour scale

    @classmethod
    def of(cls, result: Replicability) -> StudyMatrix:
        """Take the means over resamples of a result, with their spread."""
        low, high = result.confidence_interval()
        mean = result.mean
        return cls(
            title=label(result.clusterer, result.n_clusters),
            score=shown(result.agreement),
            names=result.names,
            mean=mean,
            sd=result.sd,
            low=low,
            high=high,
            estimate=result.estimate,
            top=largest(mean),
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the matrix, with mean and standard deviation in the cells where they fit."""
        S = len(self.names)
        names = [literal(name, 20) for name in self.names]
        wide = S > 6 or max(map(len, names)) > 12
        with canvas(ax, DOUBLE if wide else SINGLE, max(0.85 * SINGLE, 0.5 * S + 1) if wide else 0.85 * SINGLE) as ax:
            image = ax.imshow(self.mean, cmap=score_colours(), vmin=0, vmax=self.top)
            names_below(ax, range(S), names, square=True)
            ax.set_yticks(range(S), names)
            ax.spines[:].set_visible(False)
            ax.set_xlabel("tested on")
            ax.set_ylabel("trained on")
            ax.set_title(literal(self.title))
            colour_bar(image, ax, f"{literal(self.score)}, mean ± sd", fraction=0.046, pad=0.04)
            with_sd = cell_size(ax, self.mean.shape, 5, 2)
            size = with_sd or cell_size(ax, self.mean.shape, 4, 1)
            if size:
                spread = self.sd if with_sd else np.full_like(self.sd, np.nan)
                write_cells(ax, self.mean, _cells(self.mean, spread), self.top, size)
            return ax

    def view(self) -> View:
        """Write the matrix for the page, with intervals where the pointer rests."""
        names = [escaped(name) for name in self.names]
        trace = {
            "type": "heatmap",
            "x": names,
            "y": names,
            "z": numbers(self.mean),
            "zmin": 0,
            "zmax": numbers(self.top),
            "colorscale": PAGE_SCORES,
            "text": [["" if np.isnan(value) else f"{value:.2f}" for value in row] for row in self.mean],
            "texttemplate": "%{text}",
            "hovertext": [[self._hover(s, t) for t in range(len(names))] for s in range(len(names))],
            "hoverinfo": "text",
            "colorbar": {"title": {"text": escaped(self.score)}, "thickness": 12},
        }
        layout = {
            "xaxis": axis("tested on", type="category"),
            "yaxis": axis("trained on", type="category", autorange="reversed"),
        }
        return view(self.title, [trace], **layout)

    def _hover(self, s: int, t: int) -> str:
        pair = f"{escaped(self.names[s])} → {escaped(self.names[t])}"
        if not np.isfinite(self.mean[s, t]):
            return f"{pair}<br>no score"
        interval = f"[{self.low[s, t]:.2f}, {self.high[s, t]:.2f}]"
        return (
            f"{pair}<br>{escaped(self.score)} {self.mean[s, t]:.2f} {interval}, sd {self.sd[s, t]:.2f}, "
            f"R̂ {self.estimate[s, t]:.2f}"
        )


def matrices_chart(matrices: Sequence[StudyMatrix]) -> Chart:
    """Write a chart with a view for every configuration; the first is shown first."""
    return chart(
        "matrices",
        "Who predicts whom",
        "Mean over resamples for every pair of studies, rows trained, columns tested; on the diagonal a study is "
        "tested on a second draw of itself.",
        180 + 44 * len(matrices[0].names),
        [matrix.view() for matrix in matrices],
    )


def _cells(mean: FloatArray, sd: FloatArray) -> list[list[str]]:
    """Write every score; a pair without one has a dash, a study against itself nothing."""
    texts = [["–"] * len(mean) for _ in mean]
    for s, t in np.ndindex(mean.shape):
        if np.isfinite(mean[s, t]):
            texts[s][t] = f"{mean[s, t]:.2f}" + (f"\n±{sd[s, t]:.2f}" if np.isfinite(sd[s, t]) else "")
        elif s == t:
            texts[s][t] = ""
    return texts


# ---------------------------------------------------------------------------------------------------------------------
# several configurations: a grid of matrices


@dataclass(frozen=True, eq=False)
class MatrixGrid:
    """The matrices of means over resamples: a row for every clusterer, a column for every number of clusters.

    `cells[i][k]` is the matrix of the i-th clusterer with k clusters; k is None where it finds the number itself.
    """

    score: str
    names: tuple[str, ...]
    clusterers: tuple[str, ...]
    ks: tuple[int, ...]  # at most six
    n_ks: int  # of how many
    cells: tuple[dict[int | None, FloatArray], ...]
    top: float

    @classmethod
    def of(cls, result: Comparison, agreement: str) -> MatrixGrid:
        """Take the means of a comparison by one agreement; of many numbers of clusters six, evenly spaced."""
        a = result.agreements.index(agreement)
        all_ks = sorted({k for k in result.n_clusters if k is not None})
        ks = tuple(all_ks[i] for i in evenly(len(all_ks), MOST_COLUMNS))
        groups = by_clusterer(result.clusterers, result.n_clusters)
        with quiet():
            means = np.nanmean(result.distribution[:, a], axis=1)  # (n_configurations, S, S)
        return cls(
            score=shown(agreement),
            names=result.names,
            clusterers=tuple(groups),
            ks=ks,
            n_ks=len(all_ks),
            cells=tuple(
                {result.n_clusters[c]: means[c] for c in places if result.n_clusters[c] in (None, *ks)}
                for places in groups.values()
            ),
            top=largest(means),
        )

    def draw(self) -> NDArray[Any]:
        """Draw the grid as a figure; returns its axes."""
        names = [literal(name, 16) for name in self.names]
        width, height = self._size(names)
        with panels(len(self.clusterers), max(len(self.ks), 1), width, height) as (figure, axes):
            matrices = self._place(axes)
            for ax, matrix in matrices.items():
                image = ax.imshow(matrix, cmap=score_colours(), vmin=0, vmax=self.top)
                _name_edges(ax, names, left=ax in axes[:, 0], below=not _has_below(ax, axes))
            figure.supxlabel("tested on", fontsize=8)
            figure.supylabel("trained on", fontsize=8)
            if len(self.ks) < self.n_ks:
                figure.suptitle(
                    f"{len(self.ks)} of {self.n_ks} numbers of clusters, those nearest to evenly spaced ones"
                )
            colour_bar(image, list(matrices), f"{literal(self.score)}, mean over resamples", aspect=30, shrink=0.8)
            size = cell_size(next(iter(matrices)), matrix.shape, 3, 1)
            if size:
                for ax, matrix in matrices.items():
                    write_cells(ax, matrix, _short_cells(matrix), self.top, size)
            return np.asarray(axes)

    def _size(self, names: Sequence[str]) -> tuple[float, float]:
        """Return the figure's width and height in inches."""
        n_columns = max(len(self.ks), 1)
        width = SINGLE if n_columns * len(names) <= 12 else DOUBLE
        margin = 0.4 + 0.06 * max(map(len, names))
        side = min((width - margin - 0.8) / n_columns - 0.1, 2.4)
        without_k = bool(self.ks) and any(None in row for row in self.cells)
        title = 0.25 * (len(self.ks) < self.n_ks)
        return width, 0.3 + title + margin * (1 + without_k) + len(self.clusterers) * (side + 0.12)

    def _place(self, axes: NDArray[Any]) -> dict[Axes, FloatArray]:
        """Give every matrix its axes, with a title over the first of each column; hide the others."""
        matrices: dict[Axes, FloatArray] = {}
        titled: set[int | None] = set()
        for row, name, by_k in zip(axes, self.clusterers, self.cells, strict=True):
            for ax, k in zip(row, [None] if None in by_k else self.ks, strict=False):
                if k in by_k:
                    matrices[ax] = by_k[k]
                    ax.set_title("" if k in titled else "its own k" if k is None else f"k = {k}")
                    titled.add(k)
            row[0].set_ylabel(literal(name, 24))
        for ax in axes.flat:
            ax.set_visible(ax in matrices)
        return matrices


def _short_cells(mean: FloatArray) -> list[list[str]]:
    """Write every score in three letters: .85, 1."""
    texts = _cells(mean, np.full_like(mean, np.nan))
    return [["1" if text == "1.00" else text.replace("0.", ".", 1) for text in row] for row in texts]


def _name_edges(ax: Axes, names: Sequence[str], *, left: bool, below: bool) -> None:
    """Write the studies' names, at the outer edges of a grid alone."""
    ax.set_xticks(range(len(names)), list(names), rotation=90)
    ax.set_yticks(range(len(names)), list(names))
    ax.tick_params(length=2, labelleft=left, labelbottom=below)
    ax.spines[:].set_visible(False)


def _has_below(ax: Axes, axes: NDArray[Any]) -> bool:
    """Whether another matrix stands below these axes."""
    row, column = np.argwhere(axes == ax)[0]
    return any(other.get_visible() for other in axes[row + 1 :, column])


# ---------------------------------------------------------------------------------------------------------------------
# all resamples of every pair


@dataclass(frozen=True, eq=False)
class PairStrips:
    """The score of every resample for every ordered pair of different studies, with mean, deviation and R̂."""

    title: str
    score: str
    pairs: tuple[tuple[str, str], ...]  # trained, tested
    n_pairs: int  # of how many
    scores: FloatArray  # (n_resamples, n_pairs)
    mean: FloatArray
    sd: FloatArray
    estimate: FloatArray

    @classmethod
    def of(cls, result: Replicability) -> PairStrips:
        """Take all pairs of a result but a study with itself."""
        off = ~np.eye(len(result.names), dtype=bool)
        pairs = tuple((result.names[s], result.names[t]) for s, t in np.argwhere(off))
        return cls(
            title=label(result.clusterer, result.n_clusters),
            score=shown(result.agreement),
            pairs=pairs,
            n_pairs=len(pairs),
            scores=result.distribution[:, off],
            mean=result.mean[off],
            sd=result.sd[off],
            estimate=result.estimate[off],
        )

    def widest(self, n: int) -> PairStrips:
        """Keep the n pairs whose scores vary most, in their order."""
        kept = np.sort(np.argsort(-np.nan_to_num(self.sd), kind="stable")[:n])
        return replace(
            self,
            pairs=tuple(self.pairs[i] for i in kept),
            scores=self.scores[:, kept],
            mean=self.mean[kept],
            sd=self.sd[kept],
            estimate=self.estimate[kept],
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw a strip of points for every pair, with mean ± sd and R̂."""
        strips = self.widest(MOST_PAIRS)
        n = len(strips.pairs)
        title = literal(self.title)
        if n < self.n_pairs:
            title += f"\n{n} of {self.n_pairs} pairs: the widest spread"
        with canvas(ax, SINGLE, 0.9 + 0.19 * n) as ax:
            spread = np.linspace(-0.3, 0.3, len(self.scores))  # by resample number: the same picture every time
            dots: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.4, "markersize": 3, "mew": 0, "zorder": 1}
            for y, scores in enumerate(strips.scores.T):
                ax.plot(scores, y + spread, ".", label="resamples" if y == 0 else None, **dots)
            places = np.arange(n)
            ax.hlines(places, strips.mean - strips.sd, strips.mean + strips.sd, color="black", lw=1.2)
            ax.plot(strips.mean, places, "o", color="black", markersize=3.5, label="mean ± sd")
            ax.plot(strips.estimate, places, "D", color=COLOURS[1], markerfacecolor="white", markersize=4, label="R̂")
            ax.set_yticks(places, [f"{literal(train, 20)} → {literal(test, 20)}" for train, test in strips.pairs])
            ax.set_ylim(n - 0.4, -0.6)
            values = np.concatenate([strips.scores.ravel(), strips.estimate, strips.mean + strips.sd])
            ax.set_xlim(smallest(values) - 0.03, largest(values) + 0.03)
            ax.set_xlabel(literal(self.score))
            legend_above(ax, title)
            return ax

    def chart(self) -> Chart:
        """Write the strips for the page."""
        strips = self.widest(MOST_PAIRS_ON_PAGE)
        n = len(strips.pairs)
        names = [f"{escaped(train)} → {escaped(test)}" for train, test in strips.pairs]
        scores = strips.scores[:MOST_MARKS]
        marks = {"color": "@c0", "symbol": "line-ns-open", "size": 10, "opacity": 0.45}
        mean = {"color": "@ink", "symbol": "circle", "size": 8}
        estimate = {"color": "@c1", "symbol": "diamond-open", "size": 10, "line": {"width": 2}}
        traces = [
            scatter("markers", scores.T.ravel(), np.repeat(names, len(scores)), name="resamples", marker=marks),
            scatter("markers", strips.mean, names, name="mean", marker=mean),
            scatter("markers", strips.estimate, names, name="observed score R̂", marker=estimate),
        ]
        traces[0]["hoverinfo"] = "x+y"
        layout = {
            "xaxis": axis(escaped(self.score)),
            "yaxis": axis("", type="category", autorange="reversed", automargin=True),
        }
        omitted = "" if n == self.n_pairs else f" Shown are the {n} pairs with the widest spread."
        return chart(
            "strips",
            "Every resample",
            "One line for every pair, trained → tested; a mark for every resample. Two separate groups of marks are "
            f"two solutions between which the clusterer alternates.{omitted}",
            160 + 26 * n,
            [view("all pairs", traces, **layout)],
        )
