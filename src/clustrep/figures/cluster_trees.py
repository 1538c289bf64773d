"""The figure of clusters within clusters: a tree beside a table of clusters × studies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clustrep.figures.canvas import SINGLE, canvas, literal
from clustrep.figures.charts import Chart, axis, chart, escaped, scatter, view
from clustrep.findings.result import FOUND, NOT_FOUND, SIGNS
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import ClusterTree

# Okabe & Ito's green and vermilion; the sign says the same without colour.
SHADES = {FOUND: "#009E73", NOT_FOUND: "#D55E00"}
TOKENS = {FOUND: "@good", NOT_FOUND: "@bad"}
OTHER, OTHER_TOKEN = "0.35", "@muted"
ROOM = 1.2  # between the tree and the first study
LEGEND = f"{', '.join(f'{sign} {status}' for status, sign in SIGNS.items())}; numbers are samples"


@dataclass(frozen=True, eq=False)
class NestedClusters:
    """A row for every cluster, each below what it is a part of; a column for every study."""

    clusters: tuple[str, ...]
    within: tuple[str, ...]
    studies: tuple[str, ...]
    depth: IntArray  # (n_clusters,)
    branches: FloatArray  # (n_clusters − 1, 2, 3): depth and row of the line from a parent down and then across
    words: tuple[tuple[str, ...], ...]  # (n_clusters, S)
    counts: IntArray  # (n_clusters, S)

    @classmethod
    def of(cls, tree: ClusterTree) -> NestedClusters:
        """Lay out the tree."""
        order = tree.order()
        row = np.argsort(order)
        depth = tree.depth
        branches = [
            [[depth[above]] * 2 + [depth[place]], [row[above], row[place], row[place]]]
            for place, above in ((place, int(tree.parent[place])) for place in order[1:])
        ]
        within = tree.summary()
        said = [
            f"{parts} clusters" if parts else outcome
            for parts, outcome in zip(within["parts"], within["outcome"], strict=True)
        ]
        return cls(
            clusters=tuple(tree.clusters[place] for place in order),
            within=tuple(said[place] for place in order),
            studies=tree.names,
            depth=depth[order],
            branches=np.array(branches, dtype=float).reshape(-1, 2, 3),
            words=tuple(tuple(tree.words[place].tolist()) for place in order),
            counts=tree.counts[order],
        )

    @property
    def columns(self) -> FloatArray:
        """Where the studies stand, (S,)."""
        return np.asarray(self.depth.max() + ROOM + np.arange(len(self.studies)), dtype=float)

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the tree from left to right, with a sign and the number of samples for every study."""
        n_rows, n_columns = len(self.clusters), self.depth.max() + ROOM + len(self.studies)
        with canvas(ax, max(SINGLE, 0.62 * n_columns), max(0.5 * SINGLE, 0.7 + 0.22 * n_rows)) as ax:
            for across, down in self.branches:
                ax.plot(across, down, color="0.5", lw=1)
            for y, (name, depth) in enumerate(zip(self.clusters, self.depth, strict=True)):
                ax.text(depth + 0.08, y, literal(name), va="center", ha="left", fontsize=7)
                for x, word, count in zip(self.columns, self.words[y], self.counts[y], strict=True):
                    sign = f"{SIGNS[word]} {count}" if word else str(count)
                    ax.text(x, y, sign, va="center", ha="center", fontsize=7, color=SHADES.get(word, OTHER))
            ax.set_xlim(-0.2, n_columns - 0.4)
            ax.set_ylim(n_rows - 0.5, -0.5)
            ax.set_yticks([])
            ax.xaxis.tick_top()
            turned = max(map(len, self.studies)) > 8
            ax.set_xticks(self.columns, [literal(name, 16) for name in self.studies], rotation=30 if turned else 0)
            ax.tick_params(length=0)
            ax.spines[:].set_visible(False)
            ax.set_xlabel(LEGEND, fontsize=6)
            return ax

    def chart(self) -> Chart:
        """Write the same for the page."""
        traces = [
            scatter("lines", across, down, line={"color": "@muted", "width": 1}, hoverinfo="skip", showlegend=False)
            for across, down in self.branches
        ]
        rows = list(range(len(self.clusters)))
        hover = [f"{escaped(name)}: {escaped(said)}" for name, said in zip(self.clusters, self.within, strict=True)]
        names = {"text": [escaped(name) for name in self.clusters], "textposition": "middle right", "hovertext": hover}
        traces.append(scatter("markers+text", self.depth, rows, marker={"color": "@ink", "size": 5}, **names, **PLAIN))
        for s, study in enumerate(self.studies):
            words = [of_cluster[s] for of_cluster in self.words]
            counts = self.counts[:, s].tolist()
            said = zip(self.clusters, words, counts, strict=True)
            cells = {
                "text": [f"{SIGNS[word]} {n}" if word else str(n) for word, n in zip(words, counts, strict=True)],
                "hovertext": [f"{escaped(c)} in {escaped(study)}: {word or 'all'}, {n} samples" for c, word, n in said],
                "textfont": {"color": [TOKENS.get(word, OTHER_TOKEN) for word in words]},
            }
            traces.append(scatter("text", [float(self.columns[s])] * len(rows), rows, **cells, **PLAIN))
        layout = {
            "xaxis": axis(
                "",
                tickvals=self.columns.tolist(),
                ticktext=[escaped(name) for name in self.studies],
                side="top",
                showgrid=False,
                zeroline=False,
                range=[-0.2, float(self.columns[-1]) + 0.6],
            ),
            "yaxis": axis("", showticklabels=False, autorange="reversed", showgrid=False, zeroline=False),
        }
        title = "Clusters within clusters"
        return chart("subclusters", title, f"{LEGEND}.", 110 + 28 * len(rows), [view("tree", traces, **layout)])


PLAIN = {"hoverinfo": "text", "showlegend": False}
