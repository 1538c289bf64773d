"""Separated clusters: density valleys between clusters that were found again in other studies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_known
from clustrep.files.saved import Saved
from clustrep.plots.canvas import DOUBLE, SINGLE, canvas, in_legend, legend_above, look, panels
from clustrep.provenance import Provenance
from clustrep.summaries import label
from clustrep.text import listing, p_text
from clustrep.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Separation(Saved):
    """The density valleys between the pieces of every clustering, and the clusters that they leave.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    names : tuple of str
        The studies.
    sizes : ndarray of int, shape (S,)
        Their numbers of samples.
    n_clusters : tuple of int or None
        Numbers of pieces that were tried.
    pvalue, adjusted : ndarray of shape (n_tried,)
        Is there any density valley between the pieces; `adjusted` for all that were tried (Bonferroni).
    depth : ndarray of shape (n_tried,)
        1 − middle / poorer side, over all pairs of neighbouring pieces.
    near_depth : ndarray of shape (n_tried,)
        The same between the facing halves of the clusters; NaN where no density valley is significant.
    strength : ndarray of shape (n_tried,)
        Prediction strength across studies: of the pairs of samples of one study in one part, the share that stays
        together when pieces are learned from the other studies; of the worst piece.
    evidence : ndarray of shape (n_tried,)
        Mean log-likelihood of held-out samples, by which the clustering is chosen; −inf where it shows no clusters, or
        where a pool of studies could not be clustered.
    n_separated_by_k : ndarray of int, shape (n_tried,)
        Clusters that each clustering shows; 1 where no density valley is significant, or the facing halves are
        connected.
    complete : ndarray of bool, shape (n_tried,)
        Whether every piece is a separated cluster.
    chosen : int
        The position of the clustering that shows the clusters; −1 where there are none.
    labels : ndarray of int, shape (n_samples,)
        The cluster of every sample, study by study; −1 for noise.
    pieces : ndarray of int, shape (n_tried, n_samples)
        The piece of every sample in every clustering, study by study; −1 for noise.
    edge_cut, edges, edge_counts, edge_sides, edge_depths, edge_pvalues, edge_adjusted, edge_is_open, positions
        Pairs of neighbouring pieces: which clustering, which pieces, samples in the left, middle and right window by
        study, (n_edges, S, 3), the count that the middle is compared with, the depth with its interval, p-values,
        whether the pair is kept apart, and where each sample lies on the line, (n_edges, n_samples): centres at −1.5
        and 1.5, windows of width 1, NaN outside the tube.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    See Also
    --------
    separation : The function that returns it.
    """

    clusterer: str
    names: tuple[str, ...]
    sizes: IntArray
    n_clusters: tuple[int | None, ...]
    pvalue: FloatArray
    adjusted: FloatArray
    depth: FloatArray
    near_depth: FloatArray
    strength: FloatArray
    evidence: FloatArray
    n_separated_by_k: IntArray
    complete: BoolArray
    chosen: int
    labels: IntArray
    pieces: IntArray
    edge_cut: IntArray
    edges: IntArray
    edge_counts: IntArray
    edge_sides: IntArray
    edge_depths: FloatArray
    edge_pvalues: FloatArray
    edge_adjusted: FloatArray
    edge_is_open: BoolArray
    positions: FloatArray
    provenance: Provenance

    @property
    def separated(self) -> bool:
        """Whether there are clusters with density valleys between them."""
        return self.chosen >= 0

    @property
    def n_separated(self) -> int:
        """The number of separated clusters, 1 where there is no density valley."""
        return int(self.labels.max()) + 1 if self.separated else 1

    @property
    def levels(self) -> tuple[int, ...]:
        """All numbers of clusters that some clustering shows completely, in ascending order.

        Nested structure has several, such as two tissues with three cell types each: (2, 6). Empty where no density
        valley is significant.
        """
        return tuple(sorted({int(n) for n in self.n_separated_by_k[self.complete]})) if self.separated else ()

    @property
    def overall_pvalue(self) -> float:
        """Is there any density valley, adjusted for all numbers of pieces that were tried."""
        return float(self.adjusted[self.chosen]) if self.separated else float(self.adjusted.min(initial=1.0))

    @property
    def study_of_samples(self) -> IntArray:
        """The position of every sample's study, (n_samples,)."""
        return np.repeat(np.arange(len(self.names)), self.sizes)

    def place_of(self, n_clusters: int | None) -> int:
        """Find a number of pieces among those that were tried."""
        check_known(n_clusters, "number of pieces", self.n_clusters, parameter="n_clusters")
        return self.n_clusters.index(n_clusters)

    def shares(self) -> pd.DataFrame:
        """The share of every cluster in every study: its composition.

        Returns
        -------
        DataFrame of shape (n_clusters, n_studies)
            Columns sum to 1; a row −1 holds the noise, where there is any.
        """
        counts = pd.crosstab(self.labels, np.array(self.names, dtype=object)[self.study_of_samples])
        counts = counts.reindex(columns=list(self.names), fill_value=0).rename_axis("cluster").rename_axis(None, axis=1)
        return counts.div(self.sizes, axis=1)

    def to_frame(self) -> pd.DataFrame:
        """One row for every number of pieces and pair of neighbouring pieces.

        Columns: k, a, b (pieces), left, middle, right (samples of held-out studies in the windows), side (the count
        that the middle is compared with), depth (1 − middle / side), low, high, pvalue, adjusted (Holm, over the pairs
        of one k), apart (whether the pair is in different clusters), and pvalue_k, adjusted_k of the whole k.
        """
        counts = self.edge_counts.sum(axis=1)
        k = pd.array([self.n_clusters[c] for c in self.edge_cut], dtype="Int64")
        frame = pd.DataFrame({"k": k, "a": self.edges[:, 0], "b": self.edges[:, 1]})
        frame[["left", "middle", "right"]] = counts
        frame["side"] = self.edge_sides
        frame[["depth", "low", "high"]] = self.edge_depths
        return frame.assign(
            pvalue=self.edge_pvalues,
            adjusted=self.edge_adjusted,
            apart=self.edge_is_open,
            pvalue_k=self.pvalue[self.edge_cut],
            adjusted_k=self.adjusted[self.edge_cut],
        )

    def summary(self) -> pd.DataFrame:
        """One row for every number of pieces: k, pvalue, adjusted, depth, near_depth, strength, separated, complete."""
        frame = pd.DataFrame({"k": pd.array(list(self.n_clusters), dtype="Int64")})
        frame = frame.assign(pvalue=self.pvalue, adjusted=self.adjusted, depth=self.depth, near_depth=self.near_depth)
        return frame.assign(strength=self.strength, separated=self.n_separated_by_k, complete=self.complete)

    def plot(self, ax: Axes | None = None, *, n_clusters: int | None = None) -> Axes | NDArray[Any]:
        """Draw the held-out densities between neighbouring pieces, of the chosen clustering or of another k.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw the pair whose density valley is least clear, alone; None: all pairs, twelve at most, are
            panels of a new figure, and an array of axes is returned.
        n_clusters : int, default=None
            Of which clustering; None: the chosen one.

        Returns
        -------
        matplotlib Axes, or ndarray of Axes
        """
        return draw_valleys(self, max(self.chosen, 0) if n_clusters is None else self.place_of(n_clusters), ax)

    def __str__(self) -> str:
        p = p_text(self.overall_pvalue)
        if not self.separated:
            return f"No separated clusters: no density valley is found again in another study ({self.clusterer}, {p})."
        deeper = [n for n in self.levels if n != self.n_separated]
        also = f" Density valleys are also found between {listing(deeper)} clusters." if deeper else ""
        return (
            f"{self.n_separated} separated clusters: the density valleys between them are found again in studies that "
            f"were not used to find them ({self.clusterer}, {p}).{also}"
        )

    def __repr__(self) -> str:
        return f"{self}\n{self.summary().round(3).to_string(index=False)}"


# ---------------------------------------------------------------------------------------------------------------------
# Held-out samples along the lines between neighbouring clusters: the density valleys that were found again


# Bins along a line, and how far it is shown: centres lie at −1.5 and 1.5, windows are 1 wide.
BINS = np.linspace(-3.0, 3.0, 25)
MOST_PANELS = 12
MOST_STACKED = 3  # panels above each other; more have two columns
TICKS = (-1.5, 0.0, 1.5)
COUNT = "held-out samples"


def draw_valleys(result: Separation, place: int, ax: Axes | None = None) -> Axes | NDArray[Any]:
    """Draw a panel for each pair, and return the axes of all; on axes given, the least clear pair alone."""
    # Those without a density valley come first.
    pairs = np.flatnonzero(result.edge_cut == place)
    pairs = pairs[np.sort(np.argsort(-result.edge_pvalues[pairs], kind="stable")[:MOST_PANELS])]
    if ax is not None:
        with canvas(ax):
            if not len(pairs):
                ax.set_axis_off()
                return ax
            _draw_pair(result, int(pairs[np.argmax(result.edge_pvalues[pairs])]), ax)
            ax.set_ylabel(COUNT)
            legend_above(ax, ax.get_title())
            return ax
    n = max(len(pairs), 1)
    n_columns = 1 if n <= MOST_STACKED else 2
    n_rows = math.ceil(n / n_columns)
    width = SINGLE if n_columns == 1 else DOUBLE
    with panels(n_rows, n_columns, width, 0.6 + 1.3 * n_rows) as (figure, axes):
        for empty in axes.flat[len(pairs) :]:
            empty.set_axis_off()
        for panel, e in zip(axes.flat, pairs.tolist(), strict=False):
            _draw_pair(result, e, panel)
        if len(pairs):
            axes.flat[0].set_ylabel(COUNT)
            handles, names = axes.flat[0].get_legend_handles_labels()
            title = label(result.clusterer, result.n_clusters[place])
            figure.legend(handles, names, loc="outside upper center", ncols=min(len(names), 6), title=title)
        return np.asarray(axes)


def _draw_pair(result: Separation, e: int, ax: Axes) -> None:
    """Draw one pair: the studies' samples above each other, and the three windows."""
    for low in (-2.0, -0.5, 1.0):
        ax.axvspan(low, low + 1, color="0.93", lw=0)
    below, study = np.zeros(len(BINS) - 1), result.study_of_samples
    for s, name in enumerate(result.names):
        counts = np.histogram(result.positions[e, study == s], BINS)[0]
        ax.bar(BINS[:-1], counts, np.diff(BINS), below, align="edge", color=look(s).colour, label=in_legend(name))
        below = below + counts
    left, right = result.edges[e].tolist()
    ax.set_xticks(TICKS, [f"cluster {left}", "", f"cluster {right}"])
    found = "valley" if result.edge_is_open[e] else "no valley"
    depth, p = result.edge_depths[e, 0], result.edge_pvalues[e]
    ax.set_title(f"{found}: depth {depth:.2f}, p = {p:.2g}", fontsize="small")
