"""Separated groups: gaps between clusters that were found again in other studies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_known, freeze
from clustrep.provenance import Provenance
from clustrep.saved import Saved
from clustrep.text import listing, p_text
from clustrep.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Separation(Saved):
    """What `separation` found: the gaps between the pieces of every clustering, and the groups that they leave.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    names : tuple of str
        The studies.
    sizes : ndarray of int, (S,)
        Their numbers of samples.
    n_clusters : tuple of int or None
        Numbers of pieces that were tried.
    pvalue, adjusted : ndarray, (n_tried,)
        Is there any gap between the pieces; `adjusted` for all that were tried (Bonferroni).
    depth : ndarray, (n_tried,)
        1 − middle / poorer side, over all pairs of neighbouring pieces.
    near_depth : ndarray, (n_tried,)
        The same between the facing halves of the groups; NaN where no gap is significant.
    strength : ndarray, (n_tried,)
        Prediction strength across studies: of the pairs of samples of one study in one piece, the share that stays
        together when pieces are learned from the other studies; of the worst piece.
    evidence : ndarray, (n_tried,)
        −log p · k · strength³, by which the clustering is chosen; 0 where it shows no groups.
    groups_by_k : ndarray of int, (n_tried,)
        Groups that each clustering shows; 1 where no gap is significant, or the facing halves are connected.
    complete : ndarray of bool, (n_tried,)
        Whether every piece is a group of its own.
    chosen : int
        The position of the clustering that shows the groups; −1 where there are none.
    labels : ndarray of int, (n_samples,)
        The group of every sample, study by study; −1 for noise.
    pieces : ndarray of int, (n_tried, n_samples)
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
    groups_by_k: IntArray
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

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def separated(self) -> bool:
        """Whether there are groups with gaps between them."""
        return self.chosen >= 0

    @property
    def groups(self) -> int:
        """The number of separated groups, 1 where there is no gap."""
        return int(self.labels.max()) + 1 if self.separated else 1

    @property
    def levels(self) -> tuple[int, ...]:
        """All numbers of groups that some clustering shows completely: nested structure has several."""
        return tuple(sorted({int(n) for n in self.groups_by_k[self.complete]})) if self.separated else ()

    @property
    def overall_pvalue(self) -> float:
        """Is there any gap, adjusted for all numbers of pieces that were tried."""
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
        """The share of every group in every study, (groups × studies)."""
        counts = pd.crosstab(self.labels, np.array(self.names, dtype=object)[self.study_of_samples])
        counts = counts.reindex(columns=list(self.names), fill_value=0).rename_axis("group").rename_axis(None, axis=1)
        return counts.div(self.sizes, axis=1)

    def to_frame(self) -> pd.DataFrame:
        """One row for every number of pieces and pair of neighbouring pieces.

        Columns: k, a, b (pieces), left, middle, right (samples of held-out studies in the windows), side (the count
        that the middle is compared with), depth (1 − middle / side), low, high, pvalue, adjusted (Holm, over the pairs
        of one k), apart (whether the pair is in different groups), and pvalue_k, adjusted_k of the whole k.
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
        """One row for every number of pieces: k, pvalue, adjusted, depth, near_depth, strength, groups, complete."""
        return pd.DataFrame(
            {
                "k": pd.array(list(self.n_clusters), dtype="Int64"),
                "pvalue": self.pvalue,
                "adjusted": self.adjusted,
                "depth": self.depth,
                "near_depth": self.near_depth,
                "strength": self.strength,
                "groups": self.groups_by_k,
                "complete": self.complete,
            }
        )

    def plot(self, ax: Axes | None = None, *, n_clusters: int | None = None) -> Axes | NDArray[Any]:
        """Draw the held-out densities between neighbouring pieces, of the chosen clustering or of another k.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw the pair whose gap is least clear, alone; by default all pairs, twelve at most, are panels of
            a new figure, and an array of axes is returned.
        n_clusters : int, optional
            Of which clustering; by default the chosen one.
        """
        from clustrep.figures.valley_densities import ValleyDensities

        place = self.place_of(n_clusters) if n_clusters is not None else max(self.chosen, 0)
        return ValleyDensities.of(self, place).draw(ax)

    def __str__(self) -> str:
        p = p_text(self.overall_pvalue)
        if not self.separated:
            return f"No separated clusters: no density valley is found again in another study ({self.clusterer}, {p})."
        deeper = [n for n in self.levels if n != self.groups]
        also = f" Density valleys are also found between {listing(deeper)} clusters." if deeper else ""
        return (
            f"{self.groups} separated clusters: the density valleys between them are found again in studies that were "
            f"not used to find them ({self.clusterer}, {p}).{also}"
        )

    def __repr__(self) -> str:
        return f"{self}\n{self.summary().round(3).to_string(index=False)}"
