"""What functions and scores of several sites say together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clustrep.algorithms.comparison import Comparison
from clustrep.checks import freeze
from clustrep.errors import NoBest
from clustrep.files.saved import Saved
from clustrep.findings.matching import match_centres
from clustrep.findings.result import FOUND, UNDETERMINED, letters
from clustrep.provenance import Provenance
from clustrep.summaries import label, quiet
from clustrep.types import FloatArray, IntArray

# What a score is: the mean over resamples, and a 95 % interval.
TOLD = ("mean", "low", "high")


@dataclass(frozen=True, eq=False, repr=False)
class FederatedScores(Saved):
    """The scores of all pairs of sites: a row for every configuration, agreement, training and test site.

    Attributes
    ----------
    names, agreements : tuple of str
    clusterers : tuple of str
    n_clusters : tuple of int or None
        For every configuration, its clusterer's name and number of clusters.
    scores : ndarray, (n_configurations, n_agreements, 3, S, S)
        The mean over resamples, and a 95 % interval; NaN where a site does not tell.
    provenance : Provenance

    See Also
    --------
    Comparison : The same where studies may be pooled, with every resample.
    """

    names: tuple[str, ...]
    agreements: tuple[str, ...]
    clusterers: tuple[str, ...]
    n_clusters: tuple[int | None, ...]
    scores: FloatArray
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    def to_frame(self) -> pd.DataFrame:
        """One row for every configuration, agreement and ordered pair of sites.

        Columns: train, test, clusterer, k, agreement, mean, low, high; empty where a site does not tell.
        """
        C, A, _, S, _ = self.scores.shape
        places = [(c, a, s, t) for c in range(C) for a in range(A) for s in range(S) for t in range(S) if s != t]
        c, a, s, t = np.array(places).T
        frame = pd.DataFrame({"train": np.take(self.names, s), "test": np.take(self.names, t)})
        frame["clusterer"] = np.take(self.clusterers, c)
        frame["k"] = pd.array([self.n_clusters[i] for i in c], dtype="Int64")
        frame["agreement"] = np.take(self.agreements, a)
        for i, name in enumerate(TOLD):
            frame[name] = self.scores[c, a, i, s, t]
        return frame

    def summary(self) -> pd.DataFrame:
        """One row for every configuration and agreement.

        Columns: clusterer, k, agreement, score (mean over the pairs of sites that tell it), told (how many do), of.
        """
        frame = self.to_frame().groupby(["clusterer", "k", "agreement"], sort=False, dropna=False)["mean"]
        return frame.agg(score="mean", told="count", of="size").reset_index()

    @property
    def best(self) -> int:
        """The configuration with the highest mean score that half of the pairs tell; ties to the smaller k.

        Where none is told by half of the pairs, it is the one that most of them tell.
        """
        with quiet():
            means = np.nanmean(self.scores[:, 0, 0], axis=(1, 2))
        told = np.isfinite(self.scores[:, 0, 0]).sum(axis=(1, 2))
        if not told.any():
            raise NoBest("No site tells any score: fewer clusters, or larger studies, leave more samples in each.")
        half = len(self.names) * (len(self.names) - 1) // 2
        order = [(-min(told[c], half), -means[c], self.n_clusters[c] or 0, c) for c in range(len(means))]
        return int(min(order)[-1])

    def __repr__(self) -> str:
        return self.summary().round(3).to_string(index=False)


@dataclass(frozen=True, eq=False, repr=False)
class FederatedClusters(Saved):
    """Clusters of all sites, matched by the means that were released: a row for every cluster and study.

    Attributes
    ----------
    names : tuple of str
        The studies.
    letters : tuple of str
        The clusters, by their number of samples.
    sizes : ndarray of int, (n_clusters, n_studies)
        Samples of each cluster in each study, as released; 0 where no cluster of the study matches.
    known : ndarray of int, (n_studies,)
        All samples of the study, as released; 0 where its function was withheld, or no other study reproduces it.
    shift : ndarray, (n_studies,)
        How far the study as a whole lies from the first one that is known, in within-cluster standard deviations.
    provenance : Provenance

    Notes
    -----
    A cluster is *found* in a study where one of the study's own clusters matches it, after a shift that several
    clusters share (`clustrep.findings`), and the study's score with another one is at least 0.8, by the first agreement
    that is adjusted for chance, or prediction strength. Where none does it is *undetermined*: whether it is *not
    found* or *merged* does not follow from means and sizes, nor whether clusters are separated.

    See Also
    --------
    Findings : The same where studies may be pooled, with density valleys.
    """

    names: tuple[str, ...]
    letters: tuple[str, ...]
    sizes: IntArray
    known: IntArray
    shift: FloatArray
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        centres: list[FloatArray | None],
        sizes: list[IntArray],
        spreads: list[FloatArray],
        provenance: Provenance,
    ) -> FederatedClusters:
        """Match the clusters of every study with those of the studies before it, the richest first.

        Parameters
        ----------
        names : tuple of str
        centres : list of ndarray, (k, n_features), or None
        sizes : list of ndarray of int, (k,)
        spreads : list of ndarray, (n_features,)
            Standard deviations within clusters.
        provenance : Provenance
        """
        there = [s for s, each in enumerate(centres) if each is not None]
        spread = np.sqrt(np.mean([spreads[s] ** 2 for s in there], axis=0)) if there else np.ones(1)
        unit = np.where(spread > 0, spread, 1.0)
        joint = np.empty((0, len(unit)))
        columns: dict[int, dict[int, int]] = {}
        shift = np.full(len(names), np.nan)
        for s in there:
            own = np.asarray(centres[s]) / unit
            if not len(joint):
                joint, columns[s], shift[s] = own, {i: i for i in range(len(own))}, 0.0
                continue
            match = match_centres(joint, own)
            placed = {j: i for i, j in match.pairs}
            if placed:
                shift[s] = float(np.linalg.norm(match.shift))
            for j in range(len(own)):
                if j not in placed:
                    placed[j] = len(joint)
                    joint = np.vstack([joint, own[j] - match.shift])
            columns[s] = placed
        table = np.zeros((len(joint), len(names)), dtype=np.int64)
        for s, placed in columns.items():
            for j, i in placed.items():
                table[i, s] = max(int(sizes[s][j]), 1)
        order = np.argsort(-table.sum(axis=1), kind="stable")
        known = np.array([sizes[s].sum() if s in columns else 0 for s in range(len(names))])
        return cls(names, tuple(letters(len(joint))), table[order], known, shift, provenance)

    def to_frame(self) -> pd.DataFrame:
        """One row for every cluster and study.

        Columns: cluster, study, status, n, share, shift.
        """
        rows = [
            {
                "cluster": letter,
                "study": study,
                "status": FOUND if self.sizes[c, s] else UNDETERMINED,
                "n": int(self.sizes[c, s]) if self.sizes[c, s] else None,
                "share": self.sizes[c, s] / self.known[s] if self.sizes[c, s] else np.nan,
                "shift": self.shift[s],
            }
            for c, letter in enumerate(self.letters)
            for s, study in enumerate(self.names)
        ]
        columns = ["cluster", "study", "status", "n", "share", "shift"]
        return pd.DataFrame(rows, columns=columns).astype({"n": "Int64"})

    def __repr__(self) -> str:
        return self.to_frame().round(3).to_string(index=False)


@dataclass(frozen=True, eq=False, repr=False)
class Combined(Saved):
    """What functions and scores of several sites say together; no tables were pooled for it.

    Attributes
    ----------
    scores : FederatedScores
        The scores of all pairs of sites.
    clusters : FederatedClusters
        The clusters of the best configuration, matched across sites.
    comparison : Comparison or None
        Where exact numbers left, what `compare` of the pooled studies returns, bit for bit.
    withheld : tuple of str
        What sites did not tell.

    See Also
    --------
    combine : The function that returns it.
    """

    scores: FederatedScores
    clusters: FederatedClusters
    comparison: Comparison | None
    withheld: tuple[str, ...]

    @property
    def provenance(self) -> Provenance:
        """Seed, parameters, clusterers, studies and versions."""
        return self.scores.provenance

    def __repr__(self) -> str:
        scores = self.scores
        found = int((self.clusters.sizes > 0).all(axis=1).sum())
        lines = [
            f"{len(self.clusters.letters)} clusters, {found} found in all {len(scores.names)} studies.",
            repr(scores),
            repr(self.clusters),
        ]
        if not self.clusters.letters:
            what = "ARI, AMI or prediction strength of at least 0.8"
            lines[::2] = [f"No clusters are found: no two studies are told to agree ({what}).", ""]
        if np.isfinite(scores.scores[:, 0, 0]).any():
            best = label(scores.clusterers[scores.best], scores.n_clusters[scores.best])
            lines[0] = f"Best clusterer: {best}. {lines[0]}"
        return "\n".join([*lines, *(f"Withheld: {line}" for line in self.withheld)])
