"""What the scores of several sites say together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clustrep.algorithms.comparison import Comparison
from clustrep.checks import freeze
from clustrep.execution.failures import Failures
from clustrep.files.saved import Saved
from clustrep.null.null_scores import NullReference
from clustrep.provenance import Provenance
from clustrep.summaries import quiet, tails
from clustrep.types import FloatArray, IntArray

NOT_TOLD = -1


@dataclass(frozen=True, eq=False, repr=False)
class SiteClusters(Saved):
    """Mean local scores of clusters at the samples of other sites (Algorithm 3), a row for every cluster and test site.

    Attributes
    ----------
    agreement : str
        What the scores measure.
    train, test : tuple of str
        Whose clusters, at whose samples.
    clusterers : tuple of str
    n_clusters : tuple of int or None
        The configuration that each row belongs to.
    cluster : ndarray of int
        The number of the cluster in the training site's function.
    size : ndarray of int
        How many samples of the test site fall into it; −1 where the site does not tell.
    estimate : ndarray, (n_rows,)
        The observed value; NaN where the site does not tell.
    distribution : ndarray, (n_rows, n_resamples)
        The same in every resample.
    provenance : Provenance

    See Also
    --------
    LocalReplicability : The same where studies may be pooled; there with the scores of single samples.
    """

    agreement: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    clusterers: tuple[str, ...]
    n_clusters: tuple[int | None, ...]
    cluster: IntArray
    size: IntArray
    estimate: FloatArray
    distribution: FloatArray
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every cluster and test site.

        Columns: train, test, clusterer, k, cluster, size, estimate, mean, sd, low, high; empty where sites do not tell.
        """
        with quiet():
            low, high = np.nanquantile(self.distribution, tails(confidence_level), axis=1)
            mean, sd = np.nanmean(self.distribution, axis=1), np.nanstd(self.distribution, axis=1, ddof=1)
        return pd.DataFrame(
            {
                "train": self.train,
                "test": self.test,
                "clusterer": self.clusterers,
                "k": pd.array(list(self.n_clusters), dtype="Int64"),
                "cluster": self.cluster,
                "size": pd.array([None if size == NOT_TOLD else int(size) for size in self.size], dtype="Int64"),
                "estimate": self.estimate,
                "mean": mean,
                "sd": sd,
                "low": low,
                "high": high,
            }
        )

    def __repr__(self) -> str:
        return self.to_frame().round(3).to_string(index=False)


@dataclass(frozen=True, eq=False, repr=False)
class SiteGaps(Saved):
    """Gaps between neighbouring clusters of one site, by the samples of all others; a row for every pair of clusters.

    Attributes
    ----------
    train : tuple of str
        Whose clusters.
    clusterers : tuple of str
    n_clusters : tuple of int or None
        The configuration that each row belongs to.
    edges : ndarray of int, (n_rows, 2)
        The two clusters.
    counts : ndarray of int, (n_rows, 3)
        Samples of other sites around the first centre, half-way and around the second. Sites round small counts so
        that no gap appears that is not there.
    side : ndarray of int, (n_rows,)
        The count of the poorer sides, which the middle is compared with.
    pvalue, adjusted : ndarray, (n_rows,)
        P( Binomial(middle + side, 1/2) ≤ middle ), and adjusted for all rows (Holm).
    provenance : Provenance

    See Also
    --------
    Separation : The same where studies may be pooled, with the groups that gaps leave.
    """

    train: tuple[str, ...]
    clusterers: tuple[str, ...]
    n_clusters: tuple[int | None, ...]
    edges: IntArray
    counts: IntArray
    side: IntArray
    pvalue: FloatArray
    adjusted: FloatArray
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    def to_frame(self) -> pd.DataFrame:
        """One row for every pair of neighbouring clusters.

        Columns: train, clusterer, k, a, b, left, middle, right, depth, pvalue, adjusted.
        """
        with quiet():
            depth = 1 - self.counts[:, 1] / np.where(self.side > 0, self.side, np.nan)
        return pd.DataFrame(
            {
                "train": self.train,
                "clusterer": self.clusterers,
                "k": pd.array(list(self.n_clusters), dtype="Int64"),
                "a": self.edges[:, 0],
                "b": self.edges[:, 1],
                "left": self.counts[:, 0],
                "middle": self.counts[:, 1],
                "right": self.counts[:, 2],
                "depth": depth,
                "pvalue": self.pvalue,
                "adjusted": self.adjusted,
            }
        )

    def __repr__(self) -> str:
        return self.to_frame().round(3).to_string(index=False)


@dataclass(frozen=True, eq=False, repr=False)
class SiteTables(Saved):
    """Contingency tables between the clusters of two sites, of the test site's samples; a row for every cell.

    Attributes
    ----------
    train, test : tuple of str
        Whose clusters, at whose samples.
    clusterers : tuple of str
    n_clusters : tuple of int or None
        The configuration that each row belongs to.
    cluster, test_cluster : ndarray of int
        The clusters of the training site, and of the test site itself.
    count : ndarray of int
        How many samples are in both; −1 where the site does not tell.
    provenance : Provenance

    See Also
    --------
    score : Gives the tables if asked, without small counts.
    """

    train: tuple[str, ...]
    test: tuple[str, ...]
    clusterers: tuple[str, ...]
    n_clusters: tuple[int | None, ...]
    cluster: IntArray
    test_cluster: IntArray
    count: IntArray
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    def to_frame(self) -> pd.DataFrame:
        """One row for every cell.

        Columns: train, test, clusterer, k, cluster, test_cluster, count; the count is empty where sites do not tell it.
        """
        return pd.DataFrame(
            {
                "train": self.train,
                "test": self.test,
                "clusterer": self.clusterers,
                "k": pd.array(list(self.n_clusters), dtype="Int64"),
                "cluster": self.cluster,
                "test_cluster": self.test_cluster,
                "count": pd.array([None if count == NOT_TOLD else int(count) for count in self.count], dtype="Int64"),
            }
        )

    def __repr__(self) -> str:
        return self.to_frame().to_string(index=False)


@dataclass(frozen=True, eq=False, repr=False)
class Combined(Saved):
    """What the scores of several sites say together; no tables were pooled for it.

    Attributes
    ----------
    comparison : Comparison
        The scores of all pairs of sites: what `compare` of the pooled studies returns, bit for bit, where nothing was
        withheld or rounded.
    clusters : SiteClusters
        Scores of single clusters.
    gaps : SiteGaps or None
        Gaps between clusters, where all sites counted.
    reference : NullReference or None
        The same scores on data without clusters, where sites simulated them.
    tables : SiteTables or None
        Contingency tables, where sites gave them.
    withheld : tuple of str
        The disclosure logs of all sites.

    See Also
    --------
    combine : The function that returns it.
    """

    comparison: Comparison
    clusters: SiteClusters
    gaps: SiteGaps | None
    reference: NullReference | None
    tables: SiteTables | None
    withheld: tuple[str, ...]

    @property
    def provenance(self) -> Provenance:
        """Seed, parameters, clusterers, studies and versions."""
        return self.comparison.provenance

    @property
    def failures(self) -> Failures:
        """How many scores are missing, by cause."""
        return self.comparison.failures

    def __repr__(self) -> str:
        lines = [repr(self.comparison)]
        if self.reference is not None:
            lines.append(repr(self.reference))
        return "\n".join([*lines, *(f"Withheld or changed: {line}" for line in self.withheld)])
