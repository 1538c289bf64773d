"""Which cluster of one study is which cluster of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_known, freeze
from clustrep.provenance import Provenance
from clustrep.results.base import Failing, Saved, quiet, tails
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# With fewer resamples in which both clusters were found, the interval would be biased upwards.
FOUND_AT_LEAST = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Counterparts(Failing, Saved):
    """For every cluster of every study its best match in every other study.

    On the samples of study t, cluster i of study s is A = {x : ψ_s(x) = i}, and cluster j of study t itself is
    B = {x : ψ_t(x) = j}. Clusters are matched one to one so that the number of samples in both, summed over all pairs,
    is largest; the overlap of a matched pair is the Jaccard coefficient |A ∩ B| / |A ∪ B|.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    names : tuple of str
        The studies.
    clusters : ndarray of str, (S, most clusters)
        Their clusters, named after known labels where there are any; padded with "".
    sizes : ndarray of int, (S, most clusters)
        The number of samples in each.
    partner : ndarray of int, (S, S, most clusters)
        The place of each cluster's counterpart among the clusters of the other study; −1 for none.
    overlap : ndarray, (S, S, most clusters)
        The overlap in the studies as they are; axes: s, t, cluster of s.
    distribution : ndarray, (n_resamples, S, S, most clusters)
        The same in resamples, for the same pair of clusters; NaN where either is not found again: where its Jaccard
        overlap with the resample's cluster, in its own study, is at most one half.
    places : ndarray of int, (number of samples in all studies,)
        Every sample's place among its study's clusters: see `labels`.
    failed : ndarray of int, (n_resamples,)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    See Also
    --------
    counterparts : The function that returns it.
    LocalReplicability.by_cluster : Whether a cluster holds in another study.
    """

    clusterer: str
    names: tuple[str, ...]
    clusters: NDArray[np.str_]
    sizes: IntArray
    partner: IntArray
    overlap: FloatArray
    distribution: FloatArray
    places: IntArray
    failed: IntArray
    causes: tuple[str, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    def labels(self, study: str) -> NDArray[np.str_]:
        """Return the cluster of every sample of a study, by the names used here."""
        check_known(study, "study", self.names, parameter="study")
        s = self.names.index(study)
        ends = np.cumsum(self.sizes.sum(axis=1))
        return np.asarray(self.clusters[s][self.places[ends[s] - self.sizes[s].sum() : ends[s]]])

    def of(self, study: str, cluster: str) -> dict[str, str | None]:
        """Return the counterparts of one cluster in all other studies."""
        check_known(study, "study", self.names, parameter="study")
        s = self.names.index(study)
        check_known(
            cluster, f"cluster of study {study!r}", [name for name in self.clusters[s] if name], parameter="cluster"
        )
        i = self.clusters[s].tolist().index(cluster)
        partners = {}
        for t, name in enumerate(self.names):
            if t != s:
                j = self.partner[s, t, i]
                partners[name] = str(self.clusters[t, j]) if j >= 0 else None
        return partners

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every cluster and other study.

        Columns: train, cluster, size, test, counterpart, overlap, low, high and found, the share of resamples that did
        not fail in which both clusters were found again. The interval is that of the resamples in which they were, and
        missing where these are fewer than half. Without a counterpart there is nothing to find.
        """
        with quiet():
            low, high = np.nanquantile(self.distribution, tails(confidence_level), axis=0)
        ran = max(1, int(np.count_nonzero(self.failed == 0)))
        share_found = np.isfinite(self.distribution).sum(axis=0) / ran  # (S, S, most clusters)
        low, high = (np.where(share_found < FOUND_AT_LEAST, np.nan, end) for end in (low, high))
        rows = []
        for s, t, i in np.ndindex(self.partner.shape):
            if s != t and self.sizes[s, i]:
                j = self.partner[s, t, i]
                rows.append(
                    {
                        "train": self.names[s],
                        "cluster": self.clusters[s, i],
                        "size": self.sizes[s, i],
                        "test": self.names[t],
                        "counterpart": self.clusters[t, j] if j >= 0 else None,
                        "overlap": self.overlap[s, t, i],
                        "low": low[s, t, i],
                        "high": high[s, t, i],
                        "found": share_found[s, t, i] if j >= 0 else np.nan,
                    }
                )
        return pd.DataFrame(rows)

    def plot(self, ax: Axes | None = None, *, train: str | None = None) -> Axes:
        """Draw the overlaps of one study's clusters with their counterparts; the first study's by default."""
        from clustrep.figures.study_relations import CounterpartMap

        check_known(train or self.names[0], "study", self.names, parameter="train")
        return CounterpartMap.of(self, train or self.names[0]).draw(ax)

    def __repr__(self) -> str:
        lines = [
            f"Counterparts of the clusters of {self.clusterer} in {plural(len(self.names), 'study')}: Jaccard overlap, "
            f"{plural(len(self.distribution), 'resample')}, seed {self.provenance['seed']}",
            self.to_frame().round(3).to_string(index=False),
            *self.failures.lines("resample"),
        ]
        return "\n".join(lines)
