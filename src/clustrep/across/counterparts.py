"""Which cluster of one study is which of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clustrep.across.replicability import KnownLabelsLike, check_configuration, check_several
from clustrep.checks import check_integer
from clustrep.clustering.identity import facts_of
from clustrep.clustering.parameters import Clusterer, KnownLabels
from clustrep.clustering.path import ClusteringPlan, Setting
from clustrep.clustering.sample import Source, provenance_of_run
from clustrep.engine.checkpoints import Stored
from clustrep.engine.engines import EngineLike
from clustrep.engine.replicates import FULL_STUDY, Failed, Rng
from clustrep.engine.run import on_engine, run
from clustrep.errors import AllReplicatesFailed
from clustrep.failures import Failures
from clustrep.resampling import Resampling, resampling_for
from clustrep.results.cluster_stability import DISSOLVED
from clustrep.results.matches import Counterparts
from clustrep.studies.collection import StudiesLike, as_studies
from clustrep.tables.cluster_indices import partners_of
from clustrep.tables.contingency import Partition, tables_of
from clustrep.types import BoolArray, FloatArray, IntArray, Labels


@on_engine
def counterparts(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    n_resamples: int = 100,
    labels: KnownLabelsLike | None = None,
    resampling: Resampling | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> Counterparts:
    """Find for every cluster of every study its best match in every other study.

    The clustering functions of studies s and t are both applied to the samples of t; clusters are matched one to one so
    that most samples agree. The overlap of cluster i of s with its partner j of t is their Jaccard index,

        J = C[i, j] / (C[i, ·] + C[·, j] − C[i, j]),

    with C the table of counts between the two partitions of t.

    Parameters
    ----------
    clusterer, studies, labels, resampling, rng, n_jobs, engine
        As in `replicability`. Clusters are named after the studies' known labels, where they have any.
    n_resamples : int
        Number of resamples for the intervals of the overlaps.

    Returns
    -------
    Counterparts

    See Also
    --------
    local_replicability : a score for every cluster, without matching.

    Notes
    -----
    One-to-one matching gives a cluster at most one partner: of a cluster that the other study splits in two, only the
    larger part is shown as its counterpart. Clusters of a resample are followed where more than half of them is kept
    (Jaccard above 0.5; less than that is called dissolved [1]_).

    References
    ----------
    .. [1] Hennig, C. (2007). Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis
       52, 258-271.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.datasets import simulate_cohorts
    >>> studies = simulate_cohorts(n_cohorts=2, missing={}, shifted={}, rng=1).scaled("study")
    >>> result = counterparts(KMeans(4, n_init=3), studies, n_resamples=3, rng=0)
    >>> result.overlap[0, 1].round(1)
    array([1., 1., 1., 1.])
    """
    checked = check_several(as_studies(studies))
    chosen_resampling = resampling_for(resampling, tuple(checked.values()))
    configuration = check_configuration(clusterer, labels, tuple(checked.values()), chosen_resampling)
    source = Source.of(chosen_resampling, rng)
    check_integer(n_resamples, "n_resamples")
    setting = Setting.prepare(source, tuple(checked.values()), [configuration])
    full = MatchPlan(setting, None).replicate(FULL_STUDY)
    if isinstance(full, Failed):
        raise AllReplicatesFailed(f"The clusterer failed on a study as it is: {full.cause}.")
    plan = MatchPlan(setting, full)
    replicates = run(plan, range(1, n_resamples + 1), n_jobs)
    failed, causes = Failures.number(
        np.array([outcome.cause if isinstance(outcome, Failed) else "" for outcome in replicates], dtype=object)
    )
    Failures.count(failed, causes).report("resample")
    nothing = np.full(full.overlap.shape, np.nan)
    partitions, most = full.partitions, full.overlap.shape[2]
    named = isinstance(configuration.clusterer, KnownLabels)  # known labels name their clusters
    known = [None if named else study.labels for study in checked.values()]
    return Counterparts(
        clusterer=configuration.name,
        names=checked.names,
        clusters=np.array(
            [_named(labels_, partition, most) for labels_, partition in zip(known, partitions, strict=True)]
        ),
        sizes=np.stack([np.bincount(partition.codes, minlength=most) for partition in partitions]),
        partner=full.partner,
        overlap=full.overlap,
        distribution=np.stack([nothing if isinstance(outcome, Failed) else outcome.overlap for outcome in replicates]),
        places=np.concatenate([partition.codes for partition in partitions]),
        failed=failed,
        causes=causes,
        provenance=provenance_of_run(
            source, tuple(checked.values()), [configuration], n_resamples=n_resamples, **setting.recall
        ),
    )


class Matched(NamedTuple):
    """Clusters of all studies in one replicate, matched."""

    partitions: list[Partition]  # Ψ(X_s; X_s⁽ᵇ⁾), under the names of the studies as they are
    partner: IntArray  # (S, S, most clusters)
    overlap: FloatArray  # (S, S, most clusters)


@dataclass(frozen=True, eq=False)
class MatchPlan(ClusteringPlan[Matched | Failed], Stored):
    """Everything that overlaps follow from, except the replicate's number."""

    full: Matched | None  # the studies as they are, whose clusters are followed

    description = "counterparts"

    @property
    def in_threads(self) -> bool:
        """Matching is done in Python."""
        return False

    @property
    def question(self) -> dict[str, str]:
        """What overlaps follow from."""
        (path,) = self.setting.paths
        return facts_of(self.setting.source, self.setting.studies, clusterer=path.members[0].clusterer)

    @property
    def records(self) -> tuple[type, ...]:
        """The values are matched partitions."""
        return (Matched, Partition)

    def replicate(self, number: int) -> Matched | Failed:
        """Learn from all studies, and compare the clusters of every pair; of the same pair in all replicates."""
        setting, (path,) = self.setting, self.setting.paths
        S = len(setting.studies)
        samples = [setting.sample(s, number) for s in range(S)]
        places = [*setting.places, *(sample.points for sample in samples)]
        labelled = []
        for s, learned in enumerate(path.learn(samples)):
            labels = learned.labels(0, places)
            if isinstance(labels, Failed):
                return labels
            labelled.append(_renamed(labels.partitions, s, self.full))
        full = self.full
        most = max(partitions[0].n_labels for partitions in labelled) if full is None else full.overlap.shape[2]
        partner, overlap = np.full((S, S, most), -1), np.full((S, S, most), np.nan)
        for s, t in np.ndindex(S, S):
            if s != t:
                # Rows and columns after the last are clusters that are not followed.
                table = _table(labelled[s][S + t], labelled[t][S + t], samples[t].draw.weights, most + 1)
                partner[s, t] = partners_of(table[:most, :most]) if full is None else full.partner[s, t]
                is_present = (_is_present(labelled[s][s], most), _is_present(labelled[t][t], most))
                overlap[s, t] = _overlaps(table, partner[s, t], *is_present)
                if full is None:  # a cluster without a counterpart overlaps with nothing
                    overlap[s, t, is_present[0] & (partner[s, t] < 0)] = 0.0
        return Matched([labelled[s][s] for s in range(S)], partner, overlap)


def _overlaps(table: FloatArray, partner: IntArray, is_present: BoolArray, partner_is_present: BoolArray) -> FloatArray:
    """Return each cluster's Jaccard overlap with its partner; NaN without one, or where either is not found."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    overlaps = np.full(len(partner), np.nan)
    for i, j in enumerate(partner):
        if j >= 0 and is_present[i] and partner_is_present[j]:
            union = rows[i] + columns[j] - table[i, j]
            overlaps[i] = table[i, j] / union if union > 0 else np.nan
    return overlaps


def _is_present(partition: Partition, most: int) -> BoolArray:
    return np.asarray(np.bincount(partition.codes, minlength=most + 1)[:most] > 0)


def _renamed(partitions: Sequence[Partition], s: int, full: Matched | None) -> list[Partition]:
    """Rename the clusters of a replicate after those of the study as it is; others get the number after the last.

    A cluster is found again where its Jaccard overlap with the new one, in its own study, is above one half: less than
    that is called dissolved (Hennig 2007).
    """
    if full is None:
        return list(partitions)
    most = full.overlap.shape[2]
    partition, reference = partitions[s], full.partitions[s]
    table = tables_of(partition.codes[None], reference.codes, None, (partition.n_labels, reference.n_labels))[0]
    partners = partners_of(table)
    overlaps = _overlaps(table, partners, table.sum(axis=1) > 0, table.sum(axis=0) > 0)
    is_kept = np.nan_to_num(overlaps) > DISSOLVED
    numbers, classes = np.where(is_kept, partners, most), np.arange(most + 1)
    return [Partition(numbers[labelled.codes], classes) for labelled in partitions]


def _table(u: Partition, v: Partition, weights: IntArray, k: int) -> FloatArray:
    return np.asarray(tables_of(u.codes[None], v.codes, weights, (k, k))[0])


def _named(labels: Labels | None, partition: Partition, most: int) -> list[str]:
    """Name clusters, after the most frequent known label of their samples where labels are known."""
    names = []
    for code, label in enumerate(partition.classes.tolist()):
        is_inside = partition.codes == code
        name = str(label)
        if labels is not None and is_inside.any():
            values, counts = np.unique(labels[is_inside], return_counts=True)
            name += f" ({values[counts.argmax()]})"
        names.append(name)
    return names + [""] * (most - len(names))
