"""A tree over k: how the clusters of one study divide as their number grows, and which replicate in other studies."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.algorithms.local_scores import LocalReplicability, mean_by
from clustrep.checks import check_refer, freeze
from clustrep.errors import AllReplicatesFailed
from clustrep.files.saved import Saved
from clustrep.findings.result import SEPARATED, Findings
from clustrep.plots.canvas import SINGLE, canvas, colour_bar, literal, score_colours
from clustrep.summaries import quiet
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Flows of a smaller share of the cluster that they lead to are not drawn, as by default in clustree.
SMALLEST_FLOW = 0.1
# A letter of the findings stands at the cluster that holds most of its samples, if that is more than this share.
MAJORITY = 0.5
# Areas of the smallest and of the largest node, in square points; where a level has more nodes than fit beside each
# other, all are smaller.
SMALLEST, LARGEST, MOST_NODES = 110.0, 420.0, 8
LETTERS_BESIDE = 3  # more stand above their node: edges come from above, but few of them lead to large nodes


@dataclass(frozen=True, eq=False, repr=False)
class ClusteringTree(Saved):
    """Clusters of one study for every k, each with its replicability in the other studies.

    Clusters of one level are compared with those of the level before by the samples that they share, as in a
    clustering tree [1]_; the colour of a node is its local replicability (Algorithm 3), averaged over the other
    studies. A cluster that keeps its samples and its colour over several k is a candidate; a division into
    nodes of low replicability is not found again elsewhere.

    Attributes
    ----------
    study : str
        The study whose samples are divided.
    clusterer : str
    levels : tuple of str
        What was asked for at every level, such as "k = 3".
    codes : ndarray of int, (n_levels, n_samples)
        The cluster of every sample, 0 for the largest of its level; −1 for noise.
    replicability : ndarray, (n_levels, n_most)
        Observed local replicability of every cluster, mean over its samples and over the other studies; NaN where a
        level has fewer clusters than the `n_most` of the one with most.
    letters : ndarray of str, (n_levels, n_most)
        The clusters A, B, C… of the findings that have most of their samples here.

    See Also
    --------
    analyse : The function that computes it.
    ClusterTree : Clusters within the separated clusters, each division tested.

    References
    ----------
    .. [1] Zappia, L. and Oshlack, A. (2018). Clustering trees: a visualization for evaluating clusterings at multiple
       resolutions. GigaScience 7(7), giy083.
    """

    study: str
    clusterer: str
    levels: tuple[str, ...]
    codes: IntArray
    replicability: FloatArray
    letters: NDArray[np.str_]

    def __post_init__(self) -> None:
        check_refer(self.codes, self.replicability.shape[1])
        freeze(self)

    def to_frame(self) -> pd.DataFrame:
        """One row for every cluster of every level.

        Columns: level, cluster (1 for the largest), letters, n, parent (the cluster of the level before that has most
        of its samples; 0 at the first level), inside (the share of its samples that come from there), replicability.
        """
        rows = []
        for i, level in enumerate(self.levels):
            flows = self.flows(i) if i else np.ones((1, self._n(i)))
            sizes = np.bincount(self.codes[i][self.codes[i] >= 0])
            for c, n in enumerate(sizes.tolist()):
                parent = int(flows[:, c].argmax())
                rows.append(
                    {
                        "level": level,
                        "cluster": c + 1,
                        "letters": str(self.letters[i, c]),
                        "n": n,
                        "parent": parent + 1 if i else 0,
                        "inside": float(flows[parent, c]),
                        "replicability": float(self.replicability[i, c]),
                    }
                )
        return pd.DataFrame(rows)

    def flows(self, i: int) -> FloatArray:
        """Return which share of every cluster of level i comes from every cluster of the level before."""
        before, after = self.codes[i - 1], self.codes[i]
        known = (before >= 0) & (after >= 0)
        table = np.zeros((self._n(i - 1), self._n(i)))
        np.add.at(table, (before[known], after[known]), 1)
        return np.asarray(table / np.maximum(table.sum(axis=0), 1))

    def _n(self, i: int) -> int:
        return int(self.codes[i].max()) + 1

    def _places(self) -> list[FloatArray]:
        """Return where the clusters of every level stand, from 0 to 1: below those that their samples come from."""
        places: list[FloatArray] = []
        for i in range(len(self.levels)):
            n = self._n(i)
            above = places[-1] @ self.flows(i) if places else np.arange(n, dtype=float)
            spread = np.empty(n)
            spread[np.argsort(above, kind="stable")] = (np.arange(n) + 0.5) / n
            places.append(spread)
        return places

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree from the smallest k down: area for samples, colour and number for replicability.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, one column wide.
        """
        places, n_levels, n_samples = self._places(), len(self.levels), self.codes.shape[1]
        shrunk = min(1.0, MOST_NODES / max(map(len, places)))
        with canvas(ax, SINGLE, max(2.0, 0.5 + 0.38 * n_levels)) as ax:
            for i in range(1, n_levels):
                flows = self.flows(i)
                for before, after in zip(*np.nonzero(flows >= SMALLEST_FLOW), strict=True):
                    ends = [places[i - 1][before], places[i][after]]
                    ax.plot(ends, [i - 1, i], color="0.6", lw=0.4 + 2.2 * flows[before, after], zorder=1)
            for i in range(n_levels):
                sizes = np.bincount(self.codes[i][self.codes[i] >= 0])
                scores = self.replicability[i, : len(sizes)]
                area = (SMALLEST + (LARGEST - SMALLEST) * sizes / n_samples) * shrunk**2
                level = np.full(len(sizes), float(i))
                dots = ax.scatter(
                    places[i], level, s=area, c=scores, cmap=score_colours(), vmin=0, vmax=1, lw=0, plotnonfinite=True
                )
                for x, at, score, letters in zip(places[i], area, scores, self.letters[i], strict=False):
                    light = not score <= 0.6  # missing values are grey
                    text = f"{score:z.2f}".replace("0.", ".", 1).replace("1.00", "1") if np.isfinite(score) else "–"
                    ink = "black" if light else "white"
                    ax.text(x, i, text, ha="center", va="center", fontsize=max(5, 6 * shrunk), color=ink)
                    names, radius = str(letters).split(), np.sqrt(at / np.pi)
                    place: dict[str, Any] = {"xytext": (-1 - radius, 0), "ha": "right", "va": "center"}
                    if len(names) > LETTERS_BESIDE:
                        place = {"xytext": (0, 1 + radius), "ha": "center", "va": "bottom"}
                    bold: dict[str, Any] = {"fontsize": max(5, 7 * shrunk), "fontweight": "bold"}
                    ax.annotate("".join(names), (x, i), textcoords="offset points", **place, **bold)
            ax.set_yticks(range(n_levels), [literal(level) for level in self.levels])
            ax.set_ylim(n_levels - 0.5, -0.8)
            ax.set_xlim(-0.04, 1.02)
            ax.set_xticks([])
            ax.set_xlabel(f"clusters of {literal(self.study, 20)}, {literal(self.clusterer, 16)}")
            ax.tick_params(length=0)
            ax.spines[:].set_visible(False)
            colour_bar(dots, ax, "replicability in other studies", aspect=30, pad=0.02)
            return ax

    def __repr__(self) -> str:
        return (
            f"Clustering tree of {self.study} by {self.clusterer}, {plural(len(self.levels), 'level')}\n"
            f"{self.to_frame().round(2).to_string(index=False)}"
        )


def study_for_tree(findings: Findings) -> str:
    """Return the study that shows most clusters, then has most samples, then comes first by name."""
    n_here = (findings.counts > 0).sum(axis=0)
    order = sorted(range(len(findings.names)), key=lambda s: findings.names[s])
    return findings.names[max(order, key=lambda s: (int(n_here[s]), int(findings.sizes[s])))]


def tests_of_tree(findings: Findings, study: str) -> list[str]:
    """Return the other studies with most clusters, several at least; all of them where none are separated."""
    n_here = dict(zip(findings.names, (findings.counts > 0).sum(axis=0).tolist(), strict=True))
    del n_here[study]
    most = max(2, *n_here.values()) if n_here else 2
    return [name for name, n in n_here.items() if n >= most or findings.verdict != SEPARATED]


def clustering_tree(
    findings: Findings,
    clusterer: str,
    levels: Mapping[str, Callable[[], Mapping[str, LocalReplicability]]],
) -> ClusteringTree | None:
    """Make the tree of one study.

    Parameters
    ----------
    findings : Findings
    clusterer : str
    levels : mapping of str to function
        For every level, from few clusters to many, what computes the local scores of the study's samples in every
        other study.

    Returns
    -------
    ClusteringTree or None
        Without the levels at which all fits fail; None where fewer than two are left.
    """
    scored: dict[str, Mapping[str, LocalReplicability]] = {}
    for name, compute in levels.items():
        with contextlib.suppress(AllReplicatesFailed):
            scored[name] = compute()
    if len(scored) < 2:
        return None
    codes = [_by_size(next(iter(of_level.values())).labels) for of_level in scored.values()]
    study = study_for_tree(findings)
    most = max(int(code.max()) + 1 for code in codes)
    replicability, letters = np.full((len(codes), most), np.nan), np.full((len(codes), most), "", dtype="<U64")
    for i, (code, of_level) in enumerate(zip(codes, scored.values(), strict=True)):
        n = int(code.max()) + 1
        with quiet():
            means = [mean_by(code[code >= 0], result.estimate[code >= 0], n) for result in of_level.values()]
            replicability[i, :n] = np.nanmean(means, axis=0)
        letters[i, :n] = _letters(code, findings.labels_of(study), findings.letters)
    return ClusteringTree(study, clusterer, tuple(scored), np.array(codes), replicability, letters)


def _by_size(labels: NDArray[np.generic]) -> IntArray:
    """Number clusters by their size; noise, −1, stays apart."""
    names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    is_noise = names == -1 if names.dtype.kind in "iuf" else np.zeros(len(names), dtype=bool)
    order = np.argsort(np.where(is_noise, 1, -sizes), kind="stable")
    number = np.empty(len(names), dtype=np.int64)
    number[order] = np.arange(len(names))
    return np.where(is_noise, -1, number)[codes]


def _letters(codes: IntArray, labels: NDArray[np.str_], names: tuple[str, ...]) -> list[str]:
    """Return the letters that have most of their samples in each cluster."""
    found = [list[str]() for _ in range(int(codes.max()) + 1)]
    for name in names if len(names) > 1 else ():
        counts = np.bincount(codes[(labels == name) & (codes >= 0)], minlength=len(found))
        if counts.sum() and counts.max() > MAJORITY * counts.sum():
            found[int(counts.argmax())].append(name)
    return [" ".join(of_cluster) for of_cluster in found]
