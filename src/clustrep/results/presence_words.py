"""Each cluster of each study in every other study: present, absent, split, merged; and samples that are new there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta

from clustrep.checks import check_known, freeze
from clustrep.provenance import Provenance
from clustrep.results.base import Saved, tails
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray

PRESENT, ABSENT, SPLIT, MERGED, CANT_TELL = "present", "absent", "split", "merged", "can't tell"
# Also instead of a cluster's name, for samples that are like no training cluster.
NEW = "new"
# The words, with one sign for each, for tables of clusters × studies.
SIGNS = {PRESENT: "✓", ABSENT: "✗", SPLIT: "⋏", MERGED: "⋎", CANT_TELL: "?", NEW: "+"}


@dataclass(frozen=True, eq=False, repr=False)
class Presence(Saved):
    """The presence of each cluster of each study in every other study.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    names : tuple of str
        The studies.
    sizes : ndarray of int, (S,)
        Their numbers of samples.
    n_clusters : ndarray of int, (S,)
        The number of clusters of every study: its own.
    by_gaps : bool
        Whether there are gaps; where there are none, words are about a cut of one piece into clusters.
    labels : ndarray of int, (n_samples,)
        The cluster of every sample, study by study; −1 for noise. Counterparts have the same number in all studies
        where they belong to the same group of all studies together.
    train, test : ndarray of int, (n_rows,)
        Which studies a row is about.
    cluster : ndarray of int, (n_rows,)
        The cluster of the training study; −1 for samples of the test study that are like none of them.
    word : ndarray of str, (n_rows,)
        "present", "absent", "split", "merged", "can't tell" or "new".
    partner : ndarray of str, (n_rows,)
        The clusters of the test study that correspond to it, "" for none.
    n_like : ndarray of int, (n_rows,)
        Samples of the test study that are like the cluster; new samples.
    expected : ndarray, (n_rows,)
        Samples that the training study's share predicts; 0 for new ones.
    gap_pvalue : ndarray, (n_rows,)
        Is there a gap, in the test study, between the cluster and its nearest neighbour of the training study (for a
        cluster that is split: between its parts); NaN where there is nothing to compare.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    See Also
    --------
    separation : The groups that all studies together have.
    Counterparts : Which cluster corresponds to which, where all studies have the same number of them.
    """

    clusterer: str
    names: tuple[str, ...]
    sizes: IntArray
    n_clusters: IntArray
    by_gaps: bool
    labels: IntArray
    train: IntArray
    test: IntArray
    cluster: IntArray
    word: NDArray[np.str_]
    partner: NDArray[np.str_]
    n_like: IntArray
    expected: FloatArray
    gap_pvalue: FloatArray
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    def labels_of(self, study: str) -> IntArray:
        """Return the cluster of every sample of a study, by the numbers used here; −1 for noise."""
        check_known(study, "study", self.names, parameter="study")
        s = self.names.index(study)
        end = int(self.sizes[: s + 1].sum())
        return np.asarray(self.labels[end - self.sizes[s] : end])

    def of_training_on(self, names: Sequence[str]) -> Presence:
        """Return what became of the clusters of some studies alone."""
        for name in names:
            check_known(name, "study", self.names, parameter="names")
        kept = np.isin(self.train, [self.names.index(name) for name in names])
        rows = ("train", "test", "cluster", "word", "partner", "n_like", "expected", "gap_pvalue")
        return replace(self, **{field: getattr(self, field)[kept] for field in rows})

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every cluster and other study, and one for every pair of studies with new samples.

        Columns: train, cluster ("new" for samples that are like no cluster of the training study), test, word, partner,
        n_like, expected, share (n_like / samples of the test study) with its Clopper–Pearson interval low and high, and
        gap_pvalue.
        """
        names = np.array(self.names, dtype=object)
        n = self.sizes[self.test]
        intervals = [share_interval(int(x), int(m), confidence_level) for x, m in zip(self.n_like, n, strict=True)]
        low, high = np.array(intervals, dtype=float).reshape(-1, 2).T
        return pd.DataFrame(
            {
                "train": names[self.train],
                "cluster": [NEW if i < 0 else str(i) for i in self.cluster],
                "test": names[self.test],
                "word": self.word.astype(object),
                "partner": self.partner.astype(object),
                "n_like": self.n_like,
                "expected": self.expected,
                "share": self.n_like / n,
                "low": low,
                "high": high,
                "gap_pvalue": self.gap_pvalue,
            }
        )

    def table(self) -> pd.DataFrame:
        """Words as one table: a row for every cluster, a column for every test study; "" on a study's own clusters."""
        frame = self.to_frame()
        frame = frame[frame["word"] != NEW]
        wide = frame.pivot(index=["train", "cluster"], columns="test", values="word").fillna("")
        order = dict.fromkeys(zip(frame["train"], frame["cluster"], strict=True))
        return wide.reindex(index=pd.MultiIndex.from_tuples(order, names=wide.index.names), columns=list(self.names))

    def __repr__(self) -> str:
        what = "clusters with gaps" if self.by_gaps else "a cut of one piece"
        lines = [
            f"Presence of the clusters of {self.clusterer} in {plural(len(self.names), 'study')} ({what})",
            self.table().replace({word: f"{sign} {word}" for word, sign in SIGNS.items()}).to_string(),
        ]
        for s, t, count in zip(
            *(values[self.word == NEW] for values in (self.train, self.test, self.n_like)), strict=True
        ):
            lines.append(f"{plural(int(count), 'sample')} of {self.names[t]} like no cluster of {self.names[s]}")
        return "\n".join(lines)


def share_interval(count: int, n: int, confidence_level: float = 0.95) -> tuple[float, float]:
    """Return the Clopper–Pearson interval of a share."""
    low, high = tails(confidence_level)
    return (
        float(beta.ppf(low, count, n - count + 1)) if count else 0.0,
        float(beta.ppf(high, count + 1, n - count)) if count < n else 1.0,
    )
