"""Figures of one study over the number of clusters: consensus, assignments, every index in a panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clustrep.errors import ParameterError
from clustrep.figures.canvas import MOST_TICKS, SINGLE, canvas, evenly, largest, legend_above, literal, panels
from clustrep.figures.charts import Chart, View, axis, axis_of_k, chart, error_bars, escaped, scatter, view
from clustrep.figures.style import COLOURS, SCORES
from clustrep.tables.index_records import INDICES
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import AssignmentConsistency, Consensus, Validation

MOST_NAMED = 12
MOST_COLUMNS = 2
N_VALUES = 201


@dataclass(frozen=True, eq=False)
class ConsensusCurves:
    """The distribution function of the consensus of pairs, for every number of clusters."""

    title: str
    ks: tuple[int | None, ...]
    pac: FloatArray  # (number of k,)
    values: FloatArray  # (n_values,)
    shares: FloatArray  # (number of k, n_values): of pairs with at most so much consensus

    @classmethod
    def of(cls, result: Consensus) -> ConsensusCurves:
        """Evaluate the distribution functions of a result from 0 to 1."""
        values = np.linspace(0, 1, N_VALUES)
        shares = np.array([result.cdf(values.tolist(), k) for k in result.n_clusters])
        return cls(result.clusterer, result.n_clusters, result.pac(), values, shares)

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw a curve for every k, with PAC in the legend."""
        from matplotlib import colormaps

        with canvas(ax, height=0.9 * SINGLE) as ax:
            n = len(self.ks)
            named = evenly(n, MOST_NAMED)
            for i, colour in enumerate(colormaps[SCORES](np.linspace(0, 0.9, n))):
                text = f"{'PAC' if self.ks[i] is None else f'k = {self.ks[i]}, PAC'} {self.pac[i]:.2f}"
                ax.plot(self.values, self.shares[i], color=colour, label=text if i in named else None)
            ax.set_xlabel("consensus of a pair")
            ax.set_ylabel("share of pairs with at most this consensus")
            ax.set_ylim(0, 1.02)
            legend_above(ax, literal(self.title))
            return ax


@dataclass(frozen=True, eq=False)
class AssignmentCurves:
    """Assignment consistency of every cluster, and of all samples, for every number of clusters."""

    title: str
    ks: tuple[int | None, ...]
    per_cluster: tuple[FloatArray, ...]  # of every k, (n_clusters,)
    overall: FloatArray  # (number of k,)

    @classmethod
    def of(cls, result: AssignmentConsistency) -> AssignmentCurves:
        """Take the consistencies of a result, by k."""
        order = sorted(range(len(result.n_clusters)), key=lambda i: result.n_clusters[i] or 0)
        return cls(
            title=result.clusterer,
            ks=tuple(result.n_clusters[i] for i in order),
            per_cluster=tuple(result.cri[i][~np.isnan(result.cri[i])] for i in order),  # rows are padded
            overall=result.twcri[order],
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw clusters as points, and all samples as a line."""
        with canvas(ax) as ax:
            n = len(self.ks)
            for place, values in enumerate(self.per_cluster):
                text = None if place else "clusters"
                ax.plot([place] * len(values), values, ".", color=COLOURS[0], alpha=0.6, label=text)
            ax.plot(range(n), self.overall, marker="o", color=COLOURS[1], label="all samples")
            ticks = range(0, n, -(-n // MOST_TICKS))
            ax.set_xticks(ticks, [str(self.ks[place] or "") for place in ticks])
            ax.set_ylim(0, 1.03)
            ax.set_xlabel("number of clusters k")
            ax.set_ylabel("assignment consistency")
            legend_above(ax, literal(self.title))
            return ax


# ---------------------------------------------------------------------------------------------------------------------
# every index in a panel


@dataclass(frozen=True, eq=False)
class IndexPanel:
    """One index over k: values of clusters, and of the whole partition with a 95 % interval; k is None without one."""

    name: str
    higher_is_better: bool
    clusters: tuple[str, ...]
    cluster_ks: tuple[int | None, ...]
    cluster_values: FloatArray
    ks: tuple[int | None, ...]
    value: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, result: Validation, index: str) -> IndexPanel:
        """Take one index of a validation."""
        rows = result.index == index
        of_clusters, of_whole = np.flatnonzero(rows & ~result.whole), np.flatnonzero(rows & result.whole)
        of_whole = of_whole[np.argsort(result.k[of_whole], kind="stable")]
        record = INDICES[index]
        return cls(
            name=record.title(relative=True),
            higher_is_better=record.higher_is_better,
            clusters=tuple(map(str, result.cluster[of_clusters])),
            cluster_ks=_ks(result.k[of_clusters]),
            cluster_values=result.value[of_clusters],
            ks=_ks(result.k[of_whole]),
            value=result.value[of_whole],
            low=result.low[of_whole],
            high=result.high[of_whole],
        )

    @property
    def good(self) -> str:
        """What to look for."""
        return "high" if self.higher_is_better else "low"

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw clusters as points, the whole partition as a line with its interval."""
        at = _places(self.ks)
        with canvas(ax) as axes:
            axes.plot(_places(self.cluster_ks), self.cluster_values, ".", color="0.55", markersize=4, alpha=0.7)
            axes.fill_between(at, self.low, self.high, color=COLOURS[0], alpha=0.15, lw=0)
            axes.plot(at, self.value, marker="o", markersize=4, color=COLOURS[0])
            title: Any = axes.set_title(f"{self.name}\n({self.good} is good)", fontsize=7, wrap=True)
            title._get_wrap_line_width = lambda: axes.bbox.width  # matplotlib wraps at the figure's edge
            most = largest(np.concatenate([self.value, self.cluster_values]), 0.0)
            axes.set_ylim(0, max(1.03, 1.05 * most) if self.higher_is_better or not most else None)
            if len(at) <= MOST_NAMED:
                axes.set_xticks(at, ["" if k is None else str(k) for k in self.ks])
            axes.set_xlabel("k")
            return axes

    def view(self) -> View:
        """Write the panel for the page."""
        texts = [f"cluster {escaped(cluster)}" for cluster in self.clusters]
        dots = {"color": "@muted", "size": 6}
        bars = error_bars(self.value, self.low, self.high)
        line = {"color": "@c0"}
        at, whole = _places(self.cluster_ks), _places(self.ks)
        traces = [
            scatter("markers", at, self.cluster_values, name="clusters", text=texts, marker=dots),
            scatter("lines+markers", whole, self.value, name="whole partition", line=line, error_y=bars),
        ]
        return view(self.name, traces, xaxis=axis_of_k(self.ks), yaxis=axis(f"{self.name} ({self.good} is good)"))


@dataclass(frozen=True, eq=False)
class IndexPanels:
    """All indices of a validation over k, but the test for clusters, which is one p-value."""

    title: str
    names: tuple[str, ...]  # of the indices, as parameters have them
    panels: tuple[IndexPanel, ...]
    pvalue: float | None

    @classmethod
    def of(cls, result: Validation) -> IndexPanels:
        """Take every index of a validation."""
        indices = [name for name, record in INDICES.items() if name in result.index and record.of_partition]
        drawn = tuple(IndexPanel.of(result, index) for index in indices)
        return cls(result.clusterer, tuple(indices), drawn, result.pvalue)

    def draw(self) -> NDArray[Any]:
        """Draw a panel for every index, as a figure; returns its axes."""
        n = len(self.panels)
        if not n:
            raise ParameterError(
                "There is no index to draw over k: the test for clusters is one p-value.", parameter=None
            )
        n_columns = min(MOST_COLUMNS, n)
        n_rows = -(-n // n_columns)
        with panels(n_rows, n_columns, SINGLE, 0.4 + (1.4 if n > 1 else 2.2) * n_rows) as (figure, axes):
            for ax, panel in zip(axes.flat, self.panels, strict=False):
                panel.draw(ax)
            for ax in axes.flat[n:]:
                ax.set_visible(False)
            tested = "" if self.pvalue is None else f"; test for clusters: p = {self.pvalue:.3g}"
            figure.suptitle(f"{literal(self.title)}{tested}")
            return np.asarray(axes)

    def chart(self) -> Chart | None:
        """Write a chart with a view for every index; None without any."""
        if not self.panels:
            return None
        return chart(
            "indices",
            "Indices against the number of clusters",
            "Every index over k: clusters as points, the whole partition as a line with its 95 % interval.",
            400,
            [panel.view() for panel in self.panels],
        )


def _ks(numbers_of_clusters: IntArray) -> tuple[int | None, ...]:
    return tuple(None if k < 0 else int(k) for k in numbers_of_clusters)


def _places(ks: Sequence[int | None]) -> list[int]:
    """Return where values are drawn: at k, or at 0 without one."""
    return [k or 0 for k in ks]
