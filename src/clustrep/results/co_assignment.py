"""How often pairs of samples share a cluster, and how often one sample is in the same cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clustrep._kernels import pairs
from clustrep.checks import check_known, check_numbers_between, freeze
from clustrep.errors import ParameterError
from clustrep.provenance import Provenance
from clustrep.results.base import Failing, quiet
from clustrep.saved import Saved
from clustrep.tables.noise import NOISE_NAME, RULES
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# With more samples, only parts of the matrix are returned.
WHOLE_MATRIX = 10_000
# Pairs that are counted at once.
AT_ONCE = 2**20
# The proportion of ambiguously clustered pairs lies between these (Șenbabaoğlu et al. 2014).
AMBIGUOUS = (0.1, 0.9)


@dataclass(frozen=True, eq=False, repr=False)
class OverK(Failing, Saved):
    """Results that hold several numbers of clusters, and the reference partition of each.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    samples : tuple of str
        Names of the samples.
    clusters : ndarray of str, (number of k, most clusters)
        Names of the reference clusters, padded with "".
    n_labels : ndarray of int, (number of k,)
        The number of reference clusters.
    failed : ndarray of int, (n_resamples, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    """

    clusterer: str
    n_clusters: tuple[int | None, ...]
    samples: tuple[str, ...]
    clusters: Labels  # names of the reference clusters, (number of k, most clusters), as text, padded with ""
    n_labels: IntArray  # (number of k,): how many there are
    failed: IntArray  # (n_resamples, number of k)
    causes: tuple[str, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    def _conclusion(self) -> list[str]:
        best = self.best_n_clusters
        return [f"Best at k = {best}"] if best is not None and len(self.n_clusters) > 1 else []

    @property
    def best_n_clusters(self) -> int | None:
        """The best k, the smallest of several; None without any number of clusters."""
        raise NotImplementedError

    def followed(self, place: int) -> list[int]:
        """Return the reference clusters of one k; noise that was dropped is none."""
        rule = RULES[self.provenance["noise"]]
        names = self.clusters[place, : self.n_labels[place]].tolist()
        return [c for c, name in enumerate(names) if rule.is_cluster or name != NOISE_NAME]

    def _best(self, scores: FloatArray) -> int | None:
        """Return the k with the highest score, the smallest of several."""
        known = {k: s for k, s in zip(self.n_clusters, scores, strict=True) if k is not None and np.isfinite(s)}
        return min(known, key=lambda k: (-known[k], k)) if known else None

    def _place(self, n_clusters: int | None) -> int:
        if n_clusters is None and len(self.n_clusters) == 1:
            return 0
        if n_clusters is None:
            raise ParameterError(f"n_clusters must say which: one of {list(self.n_clusters)}.", parameter="n_clusters")
        check_known(n_clusters, "number of clusters", self.n_clusters, parameter="n_clusters")
        return self.n_clusters.index(n_clusters)


@dataclass(frozen=True, eq=False, repr=False)
class Consensus(OverK):
    """How often two samples share a cluster, of the times that both were drawn (Monti et al. 2003).

    M_ij = (number of resamples in which i and j share a cluster) / (number in which both were drawn). The matrix is
    never held as a whole: its distribution is counted pair by pair, and any part can be asked for.

        PAC = CDF(0.9) − CDF(0.1), with CDF the distribution function of M_ij over pairs

    the proportion of ambiguously clustered pairs: 0 where every pair is always or never together.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    samples : tuple of str
        Names of the samples.
    clusters : ndarray of str, (number of k, most clusters)
        Names of the reference clusters, padded with "".
    n_labels : ndarray of int, (number of k,)
        The number of reference clusters.
    failed : ndarray of int, (n_resamples, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    codes : ndarray of int, (number of k, n_resamples, n_samples)
        Every sample's cluster in every resample, −1 where it was not drawn.
    counts : ndarray of int, (number of k, n_resamples + 1, n_resamples + 1)
        How many pairs were together so many times (first axis) of the times that both were drawn (second).
    labels : ndarray, (number of k, n_samples)
        The reference partition of each k, numbered from 0.
    cluster_consensus : ndarray, (number of k, most clusters)
        Mean of M over the pairs within each cluster of it; NaN for a cluster without pairs.
    sampled : bool
        Whether the pairs counted are a random sample, not all.

    Notes
    -----
    Consensus is high for data without clusters, too: compare PAC with that of simulated data before believing it
    (Șenbabaoğlu et al. 2014).

    References
    ----------
    .. [1] Monti, S., Tamayo, P., Mesirov, J. and Golub, T. (2003). Consensus clustering: a resampling-based method for
       class discovery and visualization of gene expression microarray data. Machine Learning 52, 91-118.
    .. [2] Șenbabaoğlu, Y., Michailidis, G. and Li, J. Z. (2014). Critical limitations of consensus clustering in class
       discovery. Scientific Reports 4, 6207.

    See Also
    --------
    consensus : The function that returns it.
    AssignmentConsistency : Sample by sample instead of pair by pair.
    """

    codes: IntArray
    counts: IntArray
    labels: IntArray
    cluster_consensus: FloatArray
    sampled: bool

    @property
    def n_pairs(self) -> int:
        """How many pairs were counted."""
        return int(self.counts[0].sum())

    def cdf(self, values: float | Sequence[float], n_clusters: int | None = None) -> FloatArray:
        """Return the share of pairs whose consensus is at most each value; pairs never drawn together don't count."""
        check_numbers_between(values, "values", 0, 1)
        counts = self.counts[self._place(n_clusters)]
        together, both = np.nonzero(counts)
        weights = np.where(both > 0, counts[together, both], 0).astype(float)
        ratio = together / np.maximum(both, 1)
        several = np.atleast_1d(values)
        total = weights.sum() or np.nan  # no pair was ever drawn together
        shares = np.array([weights[ratio <= value + 1e-12].sum() for value in several]) / total
        return np.asarray(shares if np.ndim(values) else shares[0])

    def pac(self, low: float = AMBIGUOUS[0], high: float = AMBIGUOUS[1]) -> FloatArray:
        """Return the proportion of ambiguous pairs, CDF(high) − CDF(low), for every k: low where pairs are clear."""
        check_numbers_between([low, high], "low and high", 0, 1)
        if low >= high:
            raise ParameterError(f"low must be below high, got {low!r} and {high!r}.", parameter="low")
        at = [self.cdf([low, high], k) for k in self.n_clusters]
        return np.array([above - below for below, above in at])

    @property
    def best_n_clusters(self) -> int | None:
        """The k with the lowest PAC, the smallest of several."""
        return self._best(-self.pac())

    def matrix(self, n_clusters: int | None = None, rows: Sequence[int] | None = None) -> FloatArray:
        """Return M, or some of its rows, (n_rows, n_samples); NaN for samples never drawn together."""
        place, n = self._place(n_clusters), len(self.samples)
        if rows is None and n > WHOLE_MATRIX:
            raise ParameterError(
                f"rows must say which rows: the whole matrix of {n:,} samples would have {n**2:,} numbers. For the "
                "first ten, pass range(10).",
                parameter="rows",
            )
        wanted = np.arange(n) if rows is None else np.asarray(rows)
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or ((wanted < 0) | (wanted >= n)).any():
            raise ParameterError(f"rows must be whole numbers from 0 to {n - 1}, got {rows!r}.", parameter="rows")
        codes = by_point(self.codes[place])
        blocks = [together_of(codes, np.full(n, row), np.arange(n)) for row in wanted]
        with quiet():
            return np.array([together / both for together, both in blocks]).reshape(len(wanted), n)

    def to_frame(self) -> pd.DataFrame:
        """One row for every k and cluster, and one for each k as a whole: k, cluster, size, consensus, pac."""
        rows = []
        for i, (k, pac) in enumerate(zip(self.n_clusters, self.pac(), strict=True)):
            sizes = np.bincount(self.labels[i], minlength=self.n_labels[i])
            rows += [(k, self.clusters[i, c], sizes[c], self.cluster_consensus[i, c], np.nan) for c in self.followed(i)]
            rows.append((k, "all", len(self.samples), np.nan, pac))
        frame = pd.DataFrame(rows, columns=["k", "cluster", "size", "consensus", "pac"])
        return frame.astype({"k": "Int64"})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the CDF of the consensus for every k."""
        from clustrep.figures.over_k import ConsensusCurves

        return ConsensusCurves.of(self).draw(ax)

    def __repr__(self) -> str:
        frame = pd.DataFrame({"k": pd.array(list(self.n_clusters), dtype="Int64"), "pac": self.pac()})
        what = plural(self.n_pairs, "pair") + (", a random sample" if self.sampled else "")
        lines = [
            f"Consensus of {self.clusterer}: {plural(self.codes.shape[1], 'resample')}, {what}, "
            f"seed {self.provenance['seed']}",
            frame.round(3).to_string(index=False),
            *self._conclusion(),
            *self.failures.lines("fit"),
        ]
        return "\n".join(lines)


def by_point(codes: IntArray) -> IntArray:
    """Turn codes, (n_resamples, n_samples), into what the kernel wants."""
    return np.ascontiguousarray(codes.T, dtype=np.int32)


def together_of(codes: IntArray, first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    """Count how often each pair was together, and how often both were drawn."""
    together, both = np.empty((2, len(first)), dtype=np.int64)
    pairs.count_together(codes, first, second, together, both)
    return together, both


def all_pairs(n: int) -> Iterator[tuple[IntArray, IntArray]]:
    """List all pairs of n points, some at a time."""
    step = max(1, AT_ONCE // n)
    for begin in range(0, n - 1, step):
        rows = np.arange(begin, min(begin + step, n - 1))
        first = np.repeat(rows, n - 1 - rows)
        offsets = np.arange(len(first)) - np.repeat(np.cumsum(n - 1 - rows) - (n - 1 - rows), n - 1 - rows)
        yield first, first + 1 + offsets


@dataclass(frozen=True, eq=False, repr=False)
class AssignmentConsistency(OverK):
    """How consistently every sample is assigned to the same cluster (ERICA: Sorooshyari, Rivas and Tibshirani 2026).

    With p_i the share of sample i's assignments that are to its most frequent cluster, and c a cluster of n_c samples:

        CRI(c)  = Σ_{i in c} p_i / n_c
        WCRI(c) = CRI(c) · n_c / n
        TWCRI   = Σ_c WCRI(c), the mean consistency of a sample

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    samples : tuple of str
        Names of the samples.
    clusters : ndarray of str, (number of k, most clusters)
        Names of the reference clusters, padded with "".
    n_labels : ndarray of int, (number of k,)
        The number of reference clusters.
    failed : ndarray of int, (n_resamples, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    counts : ndarray of int, (number of k, n_samples, most clusters)
        How often each sample was assigned to each cluster of the reference partition, after its labels were matched.
    totals : ndarray of int, (number of k, n_samples)
        How often each sample was assigned at all, also to clusters without a partner.
    labels : ndarray of int, (number of k, n_samples)
        The reference partition of each k, numbered from 0.

    See Also
    --------
    assignment_consistency : The function that returns it.
    Consensus : Pair by pair instead of sample by sample.
    """

    counts: IntArray
    totals: IntArray
    labels: IntArray

    @property
    def modal(self) -> IntArray:
        """Each sample's most frequent cluster, (number of k, n_samples); −1 for a sample that was never assigned.

        Of several, the one that it has in the reference partition, else the largest there.
        """
        most = self.counts.shape[2]
        is_reference = self.labels[:, :, None] == np.arange(most)  # (number of k, n_samples, most)
        sizes = is_reference.sum(axis=1, keepdims=True)
        n = 1 + self.labels.shape[1]
        order = (self.counts * 2 + is_reference) * n + sizes
        return np.where(self.counts.max(axis=2) > 0, order.argmax(axis=2), -1)

    @property
    def per_sample(self) -> FloatArray:
        """The share of assignments to the most frequent cluster, (number of k, n_samples)."""
        with quiet():
            return np.asarray(self.counts.max(axis=2) / self.totals)

    @property
    def cri(self) -> FloatArray:
        """Mean over the samples whose most frequent cluster it is, (number of k, most clusters); NaN without any."""
        shares, modal = np.nan_to_num(self.per_sample), self.modal
        result = np.full(self.clusters.shape, np.nan)
        for i, c in np.ndindex(result.shape):
            is_member = modal[i] == c
            if is_member.any():
                result[i, c] = shares[i, is_member].mean()
        return result

    @property
    def sizes(self) -> IntArray:
        """How many samples have each cluster as their most frequent one, (number of k, most clusters)."""
        clusters = np.arange(self.clusters.shape[1])
        return np.asarray((self.modal[:, :, None] == clusters).sum(axis=1))

    @property
    def wcri(self) -> FloatArray:
        """The same weighted by size, CRI · n_c / n, (number of k, most clusters)."""
        n = (self.totals > 0).sum(axis=1, keepdims=True)
        return np.asarray(self.cri * self.sizes / np.maximum(n, 1))

    @property
    def twcri(self) -> FloatArray:
        """The sum over clusters: mean consistency of a sample, (number of k,)."""
        return np.where(self.totals.any(axis=1), np.nansum(self.wcri, axis=1), np.nan)

    @property
    def best_n_clusters(self) -> int | None:
        """The k with the highest total, the smallest of several."""
        return self._best(self.twcri)

    def samples_frame(self, n_clusters: int | None = None) -> pd.DataFrame:
        """One row for every sample: sample, cluster, consistency, times assigned."""
        i = self._place(n_clusters)
        names = np.array([*self.clusters[i], None], dtype=object)
        return pd.DataFrame(
            {
                "sample": self.samples,
                "cluster": names[self.modal[i]],
                "consistency": self.per_sample[i],
                "times": self.totals[i],
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for every k and cluster, and one for each k as a whole: k, cluster, size, cri, wcri."""
        rows: list[tuple[Any, ...]] = []
        cri, wcri, sizes = self.cri, self.wcri, self.sizes
        for i, k in enumerate(self.n_clusters):
            rows += [(k, self.clusters[i, c], sizes[i, c], cri[i, c], wcri[i, c]) for c in self.followed(i)]
            rows.append((k, "all", sizes[i].sum(), np.nan, self.twcri[i]))
        return pd.DataFrame(rows, columns=["k", "cluster", "size", "cri", "wcri"]).astype({"k": "Int64"})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the clusters' consistency and their total against k."""
        from clustrep.figures.over_k import AssignmentCurves

        return AssignmentCurves.of(self).draw(ax)

    def __repr__(self) -> str:
        frame = pd.DataFrame({"k": pd.array(list(self.n_clusters), dtype="Int64"), "twcri": self.twcri})
        lines = [
            f"Assignment consistency of {self.clusterer}: {plural(len(self.failed), 'resample')}, "
            f"seed {self.provenance['seed']}",
            frame.round(3).to_string(index=False),
            *self._conclusion(),
            *self.failures.lines("fit"),
        ]
        return "\n".join(lines)
