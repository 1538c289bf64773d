"""Clusters within clusters: a tree of groups whose gaps were found again in other studies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_known, check_refer, freeze
from clustrep.files.saved import Saved
from clustrep.findings.result import FOUND, NOT_FOUND, SIGNS
from clustrep.plots.canvas import SINGLE, canvas, literal
from clustrep.provenance import Provenance
from clustrep.summaries import FALSE_FINDING
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The root of the tree.
EVERYTHING = "all"
# What became of a cluster.
SPLIT, NO_GAP, TOO_SMALL = "split", "no density valley within", "too few samples to split"


@dataclass(frozen=True, eq=False, repr=False)
class ClusterTree(Saved):
    """Clusters, and the clusters within them: every split is a gap that other studies show again.

    Attributes
    ----------
    names : tuple of str
        The studies.
    clusters : tuple of str
        The names of the clusters: "all", "A", "B", "A.1", …; parents stand before their children.
    parent : ndarray of int, (n_clusters,)
        The place of the cluster that each is a part of; −1 for "all".
    counts : ndarray of int, (n_clusters, S)
        Samples of every study in every cluster.
    words : ndarray of str, (n_clusters, S)
        The status of every cluster in every study: found, not found, merged, split or undetermined; "" for "all".
    outcome : tuple of str
        What became of each cluster: "split", "no density valley within" or "too few samples to split".
    level : ndarray, (n_clusters,)
        The level at which each cluster is tested: 0.05 · (n − 1) / (N − 1), with n of the N samples in it.
    adjusted : ndarray, (n_clusters,)
        The p-value of the least significant gap between two parts of the cluster; without parts, of the most
        significant gap. Adjusted for all that was tried there and for the level: 0.05 at most separates. NaN where
        nothing was tested.
    clusterer : tuple of str
        The clusterer that shows the parts, "" where there are none.
    n_pieces : tuple of int or None
        The number of clusters that it was asked for.
    labels : ndarray of int, (n_samples,)
        The place of the smallest cluster that every sample is in, study by study. What a clusterer calls noise stays
        in the cluster that was split, and so do the samples of a study with fewer than 8 in it.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    See Also
    --------
    analyse : With ``recursive=True`` it makes the tree.
    Separation : The test of every split.
    """

    names: tuple[str, ...]
    clusters: tuple[str, ...]
    parent: IntArray
    counts: IntArray
    words: NDArray[np.str_]
    outcome: tuple[str, ...]
    level: FloatArray
    adjusted: FloatArray
    clusterer: tuple[str, ...]
    n_pieces: tuple[int | None, ...]
    labels: IntArray
    provenance: Provenance

    def __post_init__(self) -> None:
        check_refer(self.parent, len(self.clusters))
        freeze(self)

    @property
    def sizes(self) -> IntArray:
        """The number of samples in every cluster, (n_clusters,)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def depth(self) -> IntArray:
        """How many clusters each one is a part of, (n_clusters,): 0 for "all"."""
        depth = np.zeros(len(self.clusters), dtype=np.int64)
        for place in range(1, len(depth)):
            depth[place] = depth[self.parent[place]] + 1
        return depth

    @property
    def leaves(self) -> tuple[str, ...]:
        """The clusters that are not split."""
        return tuple(name for name, outcome in zip(self.clusters, self.outcome, strict=True) if outcome != SPLIT)

    def children_of(self, cluster: str) -> tuple[str, ...]:
        """Return the parts of a cluster; none for one that is not split."""
        place = self._place_of(cluster)
        return tuple(self.clusters[i] for i in np.flatnonzero(self.parent == place))

    def labels_of(self, study: str) -> list[str]:
        """Return the name of the smallest cluster that every sample of a study is in."""
        check_known(study, "study", self.names, parameter="study")
        s = self.names.index(study)
        end = int(self.counts[0, : s + 1].sum())
        return [self.clusters[i] for i in self.labels[end - int(self.counts[0, s]) : end]]

    def rows_of(self, cluster: str) -> dict[str, IntArray]:
        """Return the places of a cluster's samples in every study that has any, as `Studies.subset` takes them."""
        inside = {self._place_of(cluster)}
        for place in range(len(self.clusters)):
            inside |= {place} if int(self.parent[place]) in inside else set()
        is_inside = np.split(np.isin(self.labels, list(inside)), np.cumsum(self.counts[0])[:-1])
        rows = {name: np.flatnonzero(of_study) for name, of_study in zip(self.names, is_inside, strict=True)}
        return {name: places for name, places in rows.items() if len(places)}

    def summary(self) -> pd.DataFrame:
        """One row for every cluster: cluster, parent, depth, size, outcome, parts, adjusted, level, clusterer, k."""
        n_parts = np.bincount(self.parent[1:], minlength=len(self.clusters))
        return pd.DataFrame(
            {
                "cluster": self.clusters,
                "parent": ["" if i < 0 else self.clusters[i] for i in self.parent],
                "depth": self.depth,
                "size": self.sizes,
                "outcome": self.outcome,
                "parts": n_parts,
                "adjusted": self.adjusted,
                "level": self.level,
                "clusterer": self.clusterer,
                "k": pd.array(list(self.n_pieces), dtype="Int64"),
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for every cluster and study: what `summary` has, then study, count, share and status.

        The share is that of the study's samples in the cluster that it is a part of.
        """
        summary = self.summary()
        whole = self.counts[np.maximum(self.parent, 0)]
        share = self.counts / np.where(whole > 0, whole, 1)
        frames = [
            summary.assign(
                study=name, count=self.counts[:, s], share=share[:, s], status=self.words[:, s].astype(object)
            )
            for s, name in enumerate(self.names)
        ]
        return pd.concat(frames).sort_index(kind="stable").reset_index(drop=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree, with a sign for every cluster in every study."""
        return NestedClusters.of(self).draw(ax)

    def order(self) -> list[int]:
        """Return the places of all clusters as a tree is written: every cluster before its parts, these in a row."""
        ordered: list[int] = []
        waiting = [0]
        while waiting:
            place = waiting.pop()
            ordered.append(place)
            waiting += np.flatnonzero(self.parent == place)[::-1].tolist()
        return ordered

    def __str__(self) -> str:
        n_split = self.outcome.count(SPLIT) - (self.outcome[0] == SPLIT)
        if self.outcome[0] != SPLIT:
            return "No cluster is separated: there is nothing to split again."
        first = plural(len(self.children_of(EVERYTHING)), "separated cluster")
        if not n_split:
            return f"{first}; none has a density valley within that is found again in other studies."
        have = "has" if n_split == 1 else "have"
        return (
            f"{first}; {plural(n_split, 'cluster')} {have} density valleys within, and {len(self.leaves)} in all have "
            f"none. The chance of any false split in the whole tree is at most {100 * FALSE_FINDING:.0f} %."
        )

    def __repr__(self) -> str:
        return "\n".join([str(self), *self._lines()])

    def _lines(self) -> list[str]:
        """Write the tree in columns: branches, samples, signs, and what became of the cluster."""
        rows: list[list[Any]] = [["cluster", "samples", *self.names, "within"]]
        last = {int(np.flatnonzero(self.parent == p)[-1]) for p in set(self.parent[1:].tolist())}
        for place in self.order():
            signs = [f"{SIGNS[word]} {count}" if word else str(count) for word, count in self._cells(place)]
            rows.append([self._branch(place, last), str(self.sizes[place]), *signs, self._within(place)])
        widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
        return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]

    def _cells(self, place: int) -> list[tuple[str, int]]:
        return list(zip(self.words[place].tolist(), self.counts[place].tolist(), strict=True))

    def _branch(self, place: int, last: set[int]) -> str:
        if place == 0:
            return self.clusters[0]
        text = ("└─ " if place in last else "├─ ") + self.clusters[place]
        above = int(self.parent[place])
        while above > 0:
            text = ("   " if above in last else "│  ") + text
            above = int(self.parent[above])
        return text

    def _within(self, place: int) -> str:
        """Say what became of a cluster."""
        if np.isnan(self.adjusted[place]):
            return self.outcome[place]
        n_parts = int((self.parent == place).sum())
        what = f"{n_parts} clusters" if n_parts else self.outcome[place]
        return f"{what} (adjusted p = {self.adjusted[place]:.2g})"

    def _place_of(self, cluster: str) -> int:
        check_known(cluster, "cluster", self.clusters, parameter="cluster")
        return self.clusters.index(cluster)


# ---------------------------------------------------------------------------------------------------------------------
# The figure of clusters within clusters: a tree beside a table of clusters × studies


# Okabe & Ito's green and vermilion; the sign says the same without colour.
SHADES = {FOUND: "#009E73", NOT_FOUND: "#D55E00"}
OTHER = "0.35"
ROOM = 1.2  # between the tree and the first study
LEGEND = f"{', '.join(f'{sign} {status}' for status, sign in SIGNS.items())}; numbers are samples"


@dataclass(frozen=True, eq=False)
class NestedClusters:
    """A row for every cluster, each below what it is a part of; a column for every study."""

    clusters: tuple[str, ...]
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
        return cls(
            clusters=tuple(tree.clusters[place] for place in order),
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
