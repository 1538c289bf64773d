"""Clusters within clusters: every separated cluster is split again and tested again, down a tree.

A cluster with n of all N samples is tested at the level α (n − 1) / (N − 1), and only where its parent was split: the
rule of Kimes et al. (2017), after Meinshausen (2008). Within a cluster, parts are kept apart only by gaps that are each
significant at that level (Holm 1979, over neighbouring pieces; Bonferroni over all clusterings tried). The largest
clusters without gaps within share no samples, so their levels add up to at most α: the chance of any false split in the
whole tree is at most α wherever the test of a single gap keeps its level. `python -m calibration.subclusters` simulates
how far that holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustrep.agreement.contingency import NOISE, tables_of
from clustrep.data.studies import Studies
from clustrep.execution.seeds import FULL_STUDY, Stream, root_entropy, seed_of
from clustrep.findings.cluster_tree import EVERYTHING, NO_GAP, SPLIT, TOO_SMALL, ClusterTree
from clustrep.findings.result import FOUND, MERGED, NOT_FOUND, UNDETERMINED, Findings
from clustrep.findings.status import status_by_counts
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source, provenance_of_run
from clustrep.separation.result import Separation
from clustrep.separation.separation import separations
from clustrep.separation.valleys import FEWEST
from clustrep.statistics import holm
from clustrep.summaries import FALSE_FINDING
from clustrep.types import BoolArray, IntArray

# A study takes part in the test of a cluster where it has room for two clusters within it.
FEWEST_IN_STUDY = 2 * FEWEST


def cluster_tree(
    studies: Studies,
    clusterers: Sequence[Sequence[Configuration]],
    findings: Findings,
    source: Source,
    n_jobs: int | None,
) -> ClusterTree:
    """Split every separated cluster again, by the same clusterers, until no gap is found again in other studies.

    Parameters
    ----------
    studies : Studies
        At least two.
    clusterers : sequence of sequences of Configuration
        For every clusterer its configurations, as `separations` takes them.
    findings : Findings
        Of the same studies: the tree begins with its clusters and their statuses.
    source : Source
        The seed of every cluster follows from this one and from the cluster's name.
    n_jobs : int or None
        As in `replicability`.

    Returns
    -------
    ClusterTree
        With the status of every cluster in every study.

    References
    ----------
    .. [1] Kimes, P. K., Liu, Y., Hayes, D. N. and Marron, J. S. (2017). Statistical significance for hierarchical
       clustering. Biometrics 73(3), 811-821.
    .. [2] Meinshausen, N. (2008). Hierarchical testing of variable importance. Biometrika 95(2), 265-278.
    .. [3] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics
       6, 65-70.
    """
    everything: dict[str, IntArray] = {name: np.arange(len(study)) for name, study in studies.items()}
    grown = [_Cluster(EVERYTHING, -1, everything, ("",) * len(studies))]
    outcomes = [_Outcome(SPLIT, FALSE_FINDING, findings.pvalue)]
    for c, letter in enumerate(findings.letters):
        rows = {name: np.flatnonzero(labels == letter) for name, labels in findings.labels.items()}
        status = tuple(str(word) for word in findings.status[c])
        grown.append(_Cluster(letter, 0, {name: places for name, places in rows.items() if len(places)}, status))
    splitting = _Splitting(studies, clusterers, source, n_jobs)
    for place, cluster in enumerate(grown):  # which grows on the way: parents before their parts
        if place == 0:
            continue
        outcomes.append(splitting.test(cluster))
        separation = outcomes[place].separation
        if separation is not None:
            grown += splitting.parts(cluster, place, separation)
    given = [configuration for members in clusterers for configuration in members]
    return ClusterTree(
        names=studies.names,
        clusters=tuple(cluster.name for cluster in grown),
        parent=np.array([cluster.parent for cluster in grown]),
        counts=np.array([[len(cluster.rows.get(name, ())) for name in studies] for cluster in grown]),
        words=_with_parts([cluster.parent for cluster in grown], [cluster.words for cluster in grown]),
        outcome=tuple(outcome.what for outcome in outcomes),
        level=np.array([outcome.level for outcome in outcomes]),
        adjusted=np.array([outcome.adjusted for outcome in outcomes]),
        clusterer=tuple(outcome.clusterer for outcome in outcomes),
        n_pieces=tuple(outcome.n_pieces for outcome in outcomes),
        labels=np.concatenate([_smallest_clusters(grown, name, len(study)) for name, study in studies.items()]),
        provenance=provenance_of_run(source, tuple(studies.values()), given),
    )


@dataclass(frozen=True, eq=False)
class _Cluster:
    """A cluster: its samples in every study that has any."""

    name: str
    parent: int
    rows: dict[str, IntArray]  # by study
    words: tuple[str, ...]  # by study

    @property
    def size(self) -> int:
        return sum(len(rows) for rows in self.rows.values())


class _Outcome(NamedTuple):
    """What became of a cluster."""

    what: str
    level: float
    adjusted: float = np.nan
    separation: Separation | None = None

    @property
    def clusterer(self) -> str:
        return "" if self.separation is None else self.separation.clusterer

    @property
    def n_pieces(self) -> int | None:
        return None if self.separation is None else self.separation.n_clusters[self.separation.chosen]


def _outcome(gaps: Sequence[Separation], clusterers: Sequence[Sequence[Configuration]], level: float) -> _Outcome:
    """Decide by the gaps of all clusterers: of those that show groups, the one with most evidence splits.

    The p-value is that of the least significant gap between two parts; without any, that of the most significant.
    """
    shown = [separation for separation in gaps if separation.separated]
    best = max(shown, key=lambda separation: float(separation.evidence[separation.chosen]), default=None)
    if best is None:
        return _Outcome(NO_GAP, level, min(separation.overall_pvalue for separation in gaps))
    n_tried = sum(each.n_clusters != 1 for members in clusterers for each in members)
    of_chosen = best.edge_cut == best.chosen
    pieces, edges = best.pieces[best.chosen], best.edges[of_chosen]
    adjusted = np.minimum(holm(best.edge_pvalues[of_chosen]) * n_tried * FALSE_FINDING / level, 1.0)
    adjusted[~_is_repeated(best, pieces)[edges].all(axis=1)] = 1.0
    parts = _parts(pieces, edges, adjusted <= FALSE_FINDING)
    if parts.max(initial=0) == 0:
        return _Outcome(NO_GAP, level, float(adjusted.min()))
    return _Outcome(SPLIT, level, float(adjusted[adjusted <= FALSE_FINDING].max()), replace(best, labels=parts))


def _is_repeated(separation: Separation, pieces: IntArray) -> BoolArray:
    """Whether at least two studies have a few samples in a piece, (n_pieces,): one of outliers is not repeated."""
    known = pieces >= 0
    shape = (len(separation.names), int(pieces.max(initial=0)) + 1)
    counts = tables_of(separation.study_of_samples[None, known], pieces[known], None, shape)[0]
    return np.asarray((counts >= FEWEST).sum(axis=0) >= 2)


def _parts(pieces: IntArray, edges: IntArray, is_open: BoolArray) -> IntArray:
    """Join neighbouring pieces without a significant gap between them, and return the part of every sample."""
    part = np.arange(int(pieces.max(initial=0)) + 1)
    for a, b in edges[~is_open]:
        part[part == part[b]] = part[a]
    part = np.unique(part, return_inverse=True)[1]
    return np.asarray(np.where(pieces >= 0, part[np.maximum(pieces, 0)], NOISE))


@dataclass(frozen=True, eq=False)
class _Splitting:
    """How clusters are split: by which clusterers, from which seed."""

    studies: Studies
    clusterers: Sequence[Sequence[Configuration]]
    source: Source
    n_jobs: int | None

    def test(self, cluster: _Cluster) -> _Outcome:
        """Look for gaps within a cluster, at its level."""
        n_all = sum(len(study) for study in self.studies.values())
        share = (cluster.size - 1) / (n_all - 1)
        within = self.studies_within(cluster)
        tried = [] if within is None else _possible(self.clusterers, [len(study) for study in within.values()])
        if within is None or not tried:
            return _Outcome(TOO_SMALL, FALSE_FINDING * share)
        source = self.source.with_root(self.root_of(cluster))
        return _outcome(separations(within, tried, source, self.n_jobs, share), tried, FALSE_FINDING * share)

    def parts(self, cluster: _Cluster, place: int, separation: Separation) -> list[_Cluster]:
        """Return the parts of a cluster, with their presence in every study; `place` is that of the cluster."""
        within = self.studies_within(cluster)
        assert within is not None
        ends = np.cumsum([len(study) for study in within.values()])[:-1]
        of_study = dict(zip(within, np.split(separation.labels, ends), strict=True))
        counts = np.array(
            [
                [(of_study[name] == group).sum() if name in of_study else 0 for name in self.studies]
                for group in range(separation.n_separated)
            ]
        )
        sizes = np.array([len(of_study[name]) if name in of_study else 0 for name in self.studies])
        status = status_by_counts(counts, sizes)
        parts = []
        for group in range(separation.n_separated):
            rows = {name: cluster.rows[name][labels == group] for name, labels in of_study.items()}
            words = [
                str(status[group, s]) if name in within else NOT_FOUND if word == NOT_FOUND else UNDETERMINED
                for s, (name, word) in enumerate(zip(self.studies, cluster.words, strict=True))
            ]
            name = f"{cluster.name}.{group + 1}"
            parts.append(_Cluster(name, place, {study: r for study, r in rows.items() if len(r)}, tuple(words)))
        return parts

    def studies_within(self, cluster: _Cluster) -> Studies | None:
        """Return the samples of a cluster, by study; None where fewer than two studies have enough of them."""
        if cluster.parent < 0:
            return self.studies
        enough = {name: rows for name, rows in cluster.rows.items() if len(rows) >= FEWEST_IN_STUDY}
        return self.studies.subset(enough) if len(enough) > 1 else None

    def root_of(self, cluster: _Cluster) -> int:
        """Return the seed of a cluster, by its name; that of all samples is the run's."""
        if cluster.parent < 0:
            return self.source.root
        return root_entropy(seed_of(self.source.root, Stream.SUBCLUSTERS, cluster.name, FULL_STUDY))


def _possible(clusterers: Sequence[Sequence[Configuration]], sizes: Sequence[int]) -> list[list[Configuration]]:
    """Leave out numbers of clusters for which there are too few samples once the largest study is held out."""
    n_samples = sum(sizes) - max(sizes)
    kept = [[each for each in members if (each.n_clusters or 1) * FEWEST <= n_samples] for members in clusterers]
    return [members for members in kept if members]


def _with_parts(parents: Sequence[int], words: Sequence[Sequence[str]]) -> NDArray[np.str_]:
    """A cluster is found wherever a part of it is: with parts missing, its centre may be elsewhere."""
    result = np.array(words, dtype=np.str_)
    for place in range(len(parents) - 1, 0, -1):  # parts first
        above = parents[place]
        if above > 0:
            is_there = np.isin(result[place], (FOUND, MERGED)) & np.isin(result[above], (NOT_FOUND, UNDETERMINED))
            result[above, is_there] = FOUND
    return result


def _smallest_clusters(grown: Sequence[_Cluster], study: str, n_samples: int) -> IntArray:
    """Return the place of the smallest cluster of every sample of a study: parts stand after what they are part of."""
    places = np.zeros(n_samples, dtype=np.int64)
    for place, cluster in enumerate(grown):
        places[cluster.rows.get(study, [])] = place
    return places
