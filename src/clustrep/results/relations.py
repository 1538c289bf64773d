"""Which studies agree and which one stands apart: by their scores, and by how samples fall into others' clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from clustrep.checks import freeze
from clustrep.errors import ParameterError
from clustrep.provenance import Provenance
from clustrep.results.base import Printed, Saved, quiet
from clustrep.tables.agreement import in_sentence, is_unbounded
from clustrep.text import listing, plural
from clustrep.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results.pairwise import Replicability

LEVEL = 0.95
# With fewer resamples the intervals are too narrow to be used.
FEWEST_RESAMPLES = 20
# A variance between scores that rounding alone may have.
ROUNDING = 1e-20


@dataclass(frozen=True, eq=False, repr=False)
class StudyRelations(Printed):
    """How the studies of a collection relate: which are similar, and which one stands apart.

    With d_b(s, t) = R̂⁽ᵇ⁾(s, t) − R̂⁽ᵇ⁾(t, t), the score below the diagonal of the study that is tested:

        gap_b(s)      = the mean of d_b over all ordered pairs of different studies that include s
        contrast_b(s) = gap_b(s) − the mean of d_b over those without s
        closest_b(s)  = the largest over t of (d_b(s, t) + d_b(t, s)) / 2

    Values are means over resamples; intervals are percentile intervals at the level 1 − 0.05 / S, so that they hold
    for all studies together at 95 %.

    Attributes
    ----------
    names : tuple of str
        The studies.
    similarity : ndarray, (S, S)
        Means over resamples of both directions, averaged; 1 on the diagonal.
    tree : ndarray, (S − 1, 4)
        Average linkage of 1 − similarity, as `scipy.cluster.hierarchy.linkage` returns it.
    order : ndarray, (S,)
        The studies in the order of the tree's leaves: similar ones are neighbours.
    gap, gap_low, gap_high : ndarray, (S,)
        How far each study's scores with the others lie below the diagonals, with an interval.
    contrast, contrast_low, contrast_high : ndarray, (S,)
        How far these gaps lie below those of the pairs without this study.
    closest_high : ndarray, (S,)
        The upper end of the interval for each study's gap with its closest partner alone.
    apart : ndarray of bool, (S,)
        Studies that stand apart: `gap_high`, `contrast_high` and `closest_high` are below 0. None with fewer than 20
        resamples. A study whose own clusters do not repeat, with a low diagonal, is not said to stand apart.
    n_resamples : int
        The number of resamples.
    heterogeneity : float
        max(0, 1 − W / V): V is the variance between pairs of their means over resamples, W the mean over resamples of
        the variance between pairs of the deviations from these means, times B / (B − 1). The share of the variance
        between pairs that resampling does not explain; NaN with one resample.

    See Also
    --------
    Replicability.relations : The method that returns it.
    study_relations : Which study lacks a cluster or has none, which scores alone rarely show.
    """

    names: tuple[str, ...]
    similarity: FloatArray
    tree: FloatArray
    order: IntArray
    gap: FloatArray
    gap_low: FloatArray
    gap_high: FloatArray
    contrast: FloatArray
    contrast_low: FloatArray
    contrast_high: FloatArray
    closest_high: FloatArray
    apart: BoolArray
    n_resamples: int
    heterogeneity: float

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def of(cls, result: Replicability) -> StudyRelations:
        """Compute them from a result with its diagonal."""
        S = len(result.names)
        diagonal = np.diagonal(result.distribution, axis1=1, axis2=2)  # (n_resamples, S)
        if S < 3:
            raise ParameterError(
                "At least three studies are needed to tell which one stands apart.", parameter="studies"
            )
        if np.isnan(diagonal).all():
            raise ParameterError(
                "The studies' own diagonals are needed: run replicability with diagonal=True.", parameter="diagonal"
            )
        if is_unbounded(result.agreement):
            raise ParameterError(
                "agreement must have a largest value, from which distances are measured, got "
                f"{in_sentence(result.agreement)}: use 'ami' or 'ari'.",
                parameter="agreement",
            )
        # Relative to the diagonal of the study that is tested, (n_resamples, S, S).
        below = result.distribution - diagonal[:, None, :]
        off = ~np.eye(S, dtype=bool)
        gaps, contrasts, closest = [], [], []
        with quiet():
            both = np.nanmean([below, below.transpose(0, 2, 1)], axis=0)
            for s in range(S):
                closest.append(np.nanmax(np.delete(both[:, s], s, axis=1), axis=1))
                with_study = off.copy()
                with_study[np.ix_(np.arange(S) != s, np.arange(S) != s)] = False
                gaps.append(np.nanmean(below[:, with_study], axis=1))
                contrasts.append(gaps[-1] - np.nanmean(below[:, off & ~with_study], axis=1))
            tail = (1 - LEVEL) / 2 / S  # for all studies together
            gap_low, gap_high = np.nanquantile(gaps, [tail, 1 - tail], axis=1)
            contrast_low, contrast_high = np.nanquantile(contrasts, [tail, 1 - tail], axis=1)
            closest_high = np.nanquantile(closest, 1 - tail, axis=1)
            mean = result.mean
            similarity = np.where(off, (mean + mean.T) / 2, 1.0)
            distances = np.clip(np.nan_to_num(1 - similarity, nan=1.0), 0, None)
            tree = linkage(squareform(distances * off, checks=False), "average", optimal_ordering=True)
            return cls(
                names=result.names,
                similarity=similarity,
                tree=tree,
                order=leaves_list(tree),
                gap=np.nanmean(gaps, axis=1),
                gap_low=gap_low,
                gap_high=gap_high,
                contrast=np.nanmean(contrasts, axis=1),
                contrast_low=contrast_low,
                contrast_high=contrast_high,
                closest_high=closest_high,
                apart=(gap_high < 0) & (contrast_high < 0) & (closest_high < 0) & (len(diagonal) >= FEWEST_RESAMPLES),
                n_resamples=len(diagonal),
                heterogeneity=_heterogeneity(result.distribution[:, off]),
            )

    def to_frame(self) -> pd.DataFrame:
        """One row for every study."""
        return pd.DataFrame(
            {
                "study": self.names,
                "gap": self.gap,
                "gap_low": self.gap_low,
                "gap_high": self.gap_high,
                "contrast": self.contrast,
                "contrast_low": self.contrast_low,
                "contrast_high": self.contrast_high,
                "closest_high": self.closest_high,
                "apart": self.apart,
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree of studies."""
        from clustrep.figures.study_relations import StudyTree

        return StudyTree.of(self).draw(ax)

    @property
    def says_who_stands_apart(self) -> bool:
        """Whether there are enough resamples."""
        return self.n_resamples >= FEWEST_RESAMPLES

    def __str__(self) -> str:
        apart = [name for name, stands in zip(self.names, self.apart, strict=True) if stands]
        verb = "stands" if len(apart) == 1 else "stand"
        said = f"{', '.join(apart)} {verb} apart" if apart else "no study stands apart"
        if not self.says_who_stands_apart:
            said = f"too few resamples, {self.n_resamples}, to tell which study stands apart"
        if np.isnan(self.heterogeneity):
            return said
        return f"{said}; {self.heterogeneity:.0%} of the variance between pairs is more than resampling explains"

    def __repr__(self) -> str:
        return f"{self}\n{self.to_frame().round(3).to_string(index=False)}"


def relations_if_any(result: Replicability) -> StudyRelations | None:
    """Compute which studies agree; None with fewer than three, without their diagonals or with an unbounded score."""
    if len(result.names) < 3 or np.isnan(np.diagonal(result.mean)).all() or is_unbounded(result.agreement):
        return None
    return StudyRelations.of(result)


def _heterogeneity(scores: FloatArray) -> float:
    """Return the share of the variance between pairs beyond resampling, from scores of (n_resamples, n_pairs)."""
    B = len(scores)
    if B < 2:
        return float("nan")
    means = np.nanmean(scores, axis=0)
    between = float(np.nanvar(means, ddof=1))
    # What pairs share in a resample, because they share studies, is no difference between them.
    resampling = float(np.nanmean(np.nanvar(scores - means, axis=1, ddof=1))) * B / (B - 1)
    return max(0.0, 1 - resampling / between) if between > ROUNDING else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class StudyDifferences(Saved):
    """What `study_relations` found: which studies lack a cluster that the others have, or have no clusters.

    For every study the clusters are those learned on all others, pooled; they have numbers of their own for each study.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    names : tuple of str
        The studies.
    counts : ndarray of int, (S, k)
        Samples of the study in each cluster of the others; −1 where there is no such cluster.
    counts_elsewhere : ndarray of int, (S, k)
        Samples of the others in it.
    lacks_pvalue : ndarray, (S, k)
        Is the study's share less than half of the others' share; adjusted for all studies and clusters, at half the
        level. NaN where there is no such cluster.
    unexplained : ndarray, (S,)
        The share of the study's spread that the others' clusters leave unexplained, of what k clusters can explain.
    blurred_pvalue : ndarray, (S,)
        Is it more than 1.25 times that of the other studies; adjusted for all studies, at half the level.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    See Also
    --------
    study_relations : The function that returns it.
    """

    clusterer: str
    names: tuple[str, ...]
    counts: IntArray
    counts_elsewhere: IntArray
    lacks_pvalue: FloatArray
    unexplained: FloatArray
    blurred_pvalue: FloatArray
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def lacks(self) -> BoolArray:
        """Which cluster of the others each study lacks, (S, k)."""
        return np.nan_to_num(self.lacks_pvalue, nan=1.0) <= 1 - LEVEL

    @property
    def blurred(self) -> BoolArray:
        """In which studies the others' clusters are not separate groups, (S,)."""
        return self.blurred_pvalue <= 1 - LEVEL

    @property
    def apart(self) -> BoolArray:
        """Studies that lack a cluster or in which the clusters are blurred, (S,)."""
        return np.asarray(self.lacks.any(axis=1) | self.blurred)

    def to_frame(self) -> pd.DataFrame:
        """One row for every study and cluster of the others."""
        rows = []
        for s, name in enumerate(self.names):
            here, elsewhere = (np.maximum(counts[s], 0) for counts in (self.counts, self.counts_elsewhere))
            for c in np.flatnonzero(self.counts[s] >= 0):
                rows.append(
                    {
                        "study": name,
                        "cluster": int(c),
                        "count": int(here[c]),
                        "share": here[c] / max(here.sum(), 1),
                        "share_elsewhere": elsewhere[c] / max(elsewhere.sum(), 1),
                        "lacks_pvalue": self.lacks_pvalue[s, c],
                        "lacks": bool(self.lacks[s, c]),
                        "unexplained": self.unexplained[s],
                        "blurred_pvalue": self.blurred_pvalue[s],
                        "blurred": bool(self.blurred[s]),
                    }
                )
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        sentences = []
        for s, name in enumerate(self.names):
            n_lacking = int(self.lacks[s].sum())
            if n_lacking:
                clusters = "a cluster" if n_lacking == 1 else plural(n_lacking, "cluster")
                sentences.append(f"{name} lacks {clusters} that the others have")
        blurred = [name for name, is_blurred in zip(self.names, self.blurred, strict=True) if is_blurred]
        if blurred:
            sentences.append(f"the others' clusters are blurred in {listing(blurred)}")
        return "; ".join(sentences) if sentences else "no study lacks a cluster that the others have"

    def __repr__(self) -> str:
        return f"{self}\n{self.to_frame().round(3).to_string(index=False)}"
