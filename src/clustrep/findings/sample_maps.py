"""The map of all samples, coloured by the clusters of the findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clustrep.algorithms.local_plot import FEWEST_POINTS, MOST_POINTS, MOST_VECTORS
from clustrep.plots.canvas import SINGLE, Look, canvas, in_legend, legend_above, literal, look, look_of_cluster
from clustrep.plots.charts import Chart, Trace, View, axis, chart, escaped, scatter, view
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.analysis.result import Analysis

MOST_VIEWS = 12  # studies with a view each
NOT_KNOWN = "not known"


@dataclass(frozen=True, eq=False)
class SampleMap:
    """All samples where they are drawn, with study, cluster and known label; (n_samples,) each."""

    studies: tuple[str, ...]
    study: IntArray  # of every sample, its place among the studies
    samples: tuple[str, ...]
    xy: FloatArray  # (n_samples, 2)
    axes: tuple[str, str]
    clusters: tuple[str, ...]
    cluster: IntArray  # of every sample, its place among the clusters
    known: tuple[str, ...]  # "" where no label is known
    names_samples: bool = True  # in hover texts

    @classmethod
    def of(cls, analysis: Analysis) -> SampleMap:
        """Take the samples of an analysis."""
        findings = analysis.findings
        x, y = analysis.coordinate_names
        clusters, cluster = np.unique(np.concatenate(list(findings.labels.values())), return_inverse=True)
        return cls(
            studies=findings.names,
            study=np.repeat(np.arange(len(findings.names)), findings.sizes),
            samples=tuple(map(str, findings.samples)),
            xy=analysis.coordinates,
            axes=(x, y),
            clusters=tuple(map(str, clusters)),
            cluster=cluster,
            known=tuple(map(str, analysis.known_labels)),
        )

    def unnamed(self) -> SampleMap:
        """Return the same map without the names of samples."""
        return replace(self, names_samples=False)

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw samples coloured and shaped by their cluster."""
        with canvas(ax, SINGLE, 0.9 * SINGLE) as ax:
            for i, name in enumerate(self.clusters):
                style, rows = look_of_cluster(name, i), self.cluster == i
                dots: dict[str, Any] = {"color": style.colour, "marker": style.marker, "s": 12, "lw": 0, "alpha": 0.7}
                ax.scatter(
                    *self.xy[rows].T,
                    label=in_legend(f"cluster {name}"),
                    rasterized=len(self.xy) > MOST_VECTORS,
                    **dots,
                )
            ax.set_xlabel(literal(self.axes[0]))
            ax.set_ylabel(literal(self.axes[1]))
            legend_above(ax)
            return ax

    def chart(self) -> Chart:
        """Write the map for the page: by cluster, of all studies and of each; by study; by known label."""
        every = np.arange(len(self.samples))
        by_cluster = (self.clusters, self.cluster)
        shown: list[tuple[str, IntArray, Sequence[str], IntArray]] = []
        if len(self.clusters) > 1:
            shown.append(("clusters, all studies", every, *by_cluster))
            if 1 < len(self.studies) <= MOST_VIEWS:
                of_study = [np.flatnonzero(self.study == s) for s in range(len(self.studies))]
                shown += [
                    (f"clusters, {name}", rows, *by_cluster) for name, rows in zip(self.studies, of_study, strict=True)
                ]
        shown.append(("studies", every, self.studies, self.study))
        if any(self.known):
            labels, known = np.unique([label or NOT_KNOWN for label in self.known], return_inverse=True)
            shown.append(("known labels", every, labels.tolist(), known))
        most = max(FEWEST_POINTS, MOST_POINTS // len(shown))
        omitted = f" At most {most:,} samples are drawn in one view." if len(self.samples) > most else ""
        what = "cluster" if len(self.clusters) > 1 else "study"
        return chart(
            "samples",
            f"Samples by {what}",
            f"All samples after alignment; colour and shape show the {what}.{omitted}",
            520,
            [self._view(name, _thinned(rows, most), groups, group) for name, rows, groups, group in shown],
        )

    def _view(self, name: str, kept: IntArray, groups: Sequence[str], group: IntArray) -> View:
        """Write the samples that are kept, a trace for every group."""
        is_cluster = groups is self.clusters
        traces = [
            self._trace(of_group, str(of_all), look_of_cluster(str(of_all), i) if is_cluster else look(i))
            for i, of_all in enumerate(groups)
            if len(of_group := kept[group[kept] == i])
        ]
        layout = {
            "xaxis": axis(escaped(self.axes[0])),
            "yaxis": axis(escaped(self.axes[1])),
            "legend": {"itemsizing": "constant", "orientation": "h"},
            "showlegend": True,
        }
        return view(name, traces, **layout)

    def _trace(self, rows: IntArray, name: str, style: Look) -> Trace:
        marker = {"symbol": style.symbol, "size": 7, "color": style.token, "opacity": 0.75}
        texts = [self._hover(int(row)) for row in rows]
        return scatter("markers", *self.xy[rows].T, name=escaped(name), text=texts, hoverinfo="text", marker=marker)

    def _hover(self, row: int) -> str:
        sample = f"{escaped(self.samples[row])}<br>" if self.names_samples else ""
        known = f", known label {escaped(self.known[row])}" if self.known[row] else ""
        cluster = self.clusters[self.cluster[row]]
        return f"{sample}{escaped(self.studies[self.study[row]])}, cluster {escaped(cluster)}{known}"


def _thinned(rows: IntArray, most: int) -> IntArray:
    """Leave out samples evenly, so that at most so many are left."""
    return rows[:: -(-len(rows) // most)] if len(rows) else rows
