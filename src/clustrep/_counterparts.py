"""Which cluster of one study is which of another; and all studies but one against that one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from clustrep._engine import FULL_STUDY, Execution, Failed, Rng, root_entropy, run_replicates
from clustrep._learning import Source
from clustrep._provenance import describe, provenance
from clustrep._replicability import (
    KnownLabelsLike,
    Noise,
    Plan,
    check_configuration,
    check_noise,
    check_several,
    score_replicate,
)
from clustrep._setting import Setting
from clustrep._types import FloatArray, IntArray, read_only
from clustrep._validation import check_flag, check_integer
from clustrep.agreement import AgreementSpec, resolve_agreement
from clustrep.cluster_indices import partners_of
from clustrep.contingency import Partition, tables_of
from clustrep.errors import AllReplicatesFailed
from clustrep.functions import Clusterer
from clustrep.resampling import Bootstrap, Resampling, check_resampling
from clustrep.results.common import number_causes, report_failed
from clustrep.results.counterparts import Counterparts
from clustrep.results.leave_one_out import LeaveOneStudyOut
from clustrep.studies import StudiesLike, as_studies
from clustrep.study import Study


def counterparts(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    n_resamples: int = 100,
    labels: KnownLabelsLike | None = None,
    resampling: Resampling = Bootstrap(),
    rng: Rng = None,
    accelerate: bool = True,
    n_jobs: int | None = None,
    progress: bool | None = None,
    batch_size: int | None = None,
) -> Counterparts:
    """Find for every cluster of every study its best match in every other study.

    The clustering functions of both studies are applied to the samples of the other one; clusters are matched one to
    one so that most samples agree.

    Parameters
    ----------
    clusterer, studies, labels, resampling, rng, accelerate, n_jobs, progress, batch_size
        As in `replicability`. Clusters are named after the studies' known labels, where they have any.
    n_resamples : int
        Number of resamples for the intervals of the overlaps.

    Returns
    -------
    Counterparts

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.datasets import simulate_cohorts
    >>> studies = simulate_cohorts(n_cohorts=2, missing={}, shifted={}, rng=1).scaled("zscore")
    >>> result = counterparts(KMeans(4, n_init=3), studies, n_resamples=3, rng=0)
    >>> result.overlap[0, 1].min().round(1)
    np.float64(0.9)
    """
    checked = check_several(as_studies(studies))
    configuration = check_configuration(clusterer, labels, tuple(checked.values()), resampling)
    source = Source(check_resampling(resampling), root_entropy(rng), check_flag(accelerate, "accelerate"))
    execution = Execution(n_jobs, progress, batch_size)
    check_integer(n_resamples, "n_resamples")
    setting = Setting.prepare(source, tuple(checked.values()), [configuration])
    full = match_replicate(MatchPlan(setting, None), FULL_STUDY)
    if isinstance(full, Failed):
        raise AllReplicatesFailed(f"The clusterer failed on a study as it is: {full.cause}.")
    plan = MatchPlan(setting, full)
    replicates = run_replicates(
        partial(match_replicate, plan),
        range(1, n_resamples + 1),
        execution,
        "counterparts",
        first_here=setting.has_kernels,
    )
    causes = np.array([one.cause if isinstance(one, Failed) else "" for one in replicates], dtype=object)
    report_failed(*number_causes(causes), "resample")
    nothing = np.full(full.overlap.shape, np.nan)
    own = [labelled[s] for s, labelled in enumerate(full.partitions)]
    most = full.overlap.shape[2]
    return Counterparts(
        clusterer=configuration.name,
        names=checked.names,
        clusters=np.array([_named(study, one, most) for study, one in zip(checked.values(), own, strict=True)]),
        sizes=np.stack([np.bincount(one.codes, minlength=most) for one in own]),
        partner=full.partner,
        overlap=full.overlap,
        distribution=np.stack([nothing if isinstance(one, Failed) else one.overlap for one in replicates]),
        provenance=provenance(
            source, tuple(checked.values()), [describe(configuration.clusterer)], n_resamples=n_resamples
        ),
    )


class Matched(NamedTuple):
    """Clusters of all studies in one replicate, matched."""

    partitions: list[list[Partition]]  # by study that was learned from, then by study
    partner: IntArray  # (S, S, most clusters)
    overlap: FloatArray  # (S, S, most clusters)


@dataclass(frozen=True, eq=False)
class MatchPlan:
    """Everything that a replicate's overlaps follow from, but for its number."""

    setting: Setting
    full: Matched | None  # the studies as they are, whose clusters are followed


def match_replicate(plan: MatchPlan, replicate: int) -> Matched | Failed:
    """Learn from all studies, and compare the clusters of every pair; of the same pair in all replicates."""
    setting, (path,) = plan.setting, plan.setting.paths
    S = len(setting.studies)
    samples = [setting.sample(s, replicate) for s in range(S)]
    partitions: list[list[Partition]] = []
    for s in range(S):
        labelled = path.learn(samples[s]).labels(0, setting.places)
        if isinstance(labelled, Failed):
            return labelled
        partitions.append(list(labelled.partitions))
    if plan.full is not None:
        partitions = [_renamed(own, plan.full.partitions[s], s) for s, own in enumerate(partitions)]
        most = plan.full.overlap.shape[2]
    else:
        most = max(partition.n_labels for own in partitions for partition in own)
    partner, overlap = np.full((S, S, most), -1), np.full((S, S, most), np.nan)
    for s, t in np.ndindex(S, S):
        if s == t:
            continue
        table = _table(partitions[s][t], partitions[t][t], samples[t].draw.weights, most + 1)[:most, :most]
        partner[s, t] = partners_of(table) if plan.full is None else plan.full.partner[s, t]
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        if plan.full is not None:  # all points count, also those of clusters that are not followed
            whole = _table(partitions[s][t], partitions[t][t], samples[t].draw.weights, most + 1)
            rows, columns = whole.sum(axis=1)[:most], whole.sum(axis=0)[:most]
        for i, j in enumerate(partner[s, t]):
            if j >= 0 and rows[i] > 0 and columns[j] > 0:
                overlap[s, t, i] = table[i, j] / (rows[i] + columns[j] - table[i, j])
            elif plan.full is None and rows[i] > 0:
                overlap[s, t, i] = 0.0
    return Matched(partitions, partner, overlap)


def _renamed(partitions: Sequence[Partition], full: Sequence[Partition], s: int) -> list[Partition]:
    """Rename the clusters of a replicate after those of the study as it is; a new one gets the number behind them."""
    k, n_new = full[s].n_labels, partitions[s].n_labels
    table = tables_of(partitions[s].codes[None], full[s].codes, None, (n_new, k))[0]
    partners = partners_of(table)
    classes = np.arange(k + 1)
    return [Partition(np.where(partners < 0, k, partners)[one.codes], classes) for one in partitions]


def _table(u: Partition, v: Partition, weights: IntArray, k: int) -> FloatArray:
    size = max(k, u.n_labels, v.n_labels)
    return np.asarray(tables_of(u.codes[None], v.codes, weights, (size, size))[0])


def _named(study: Study, partition: Partition, most: int) -> list[str]:
    """Name clusters, after the most frequent known label of their samples where labels are known."""
    names = []
    for code, label in enumerate(partition.classes.tolist()):
        own = partition.codes == code
        known = ""
        if study.labels is not None and own.any():
            values, counts = np.unique(study.labels[own], return_counts=True)
            known = f" ({values[counts.argmax()]})"
        names.append(f"{label}{known}")
    return names + [""] * (most - len(names))


# ---------------------------------------------------------------------------------------------------------------------
# all but one


def leave_one_study_out(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    agreement: AgreementSpec = "ari",
    n_resamples: int = 100,
    noise: Noise = "label",
    resampling: Resampling = Bootstrap(),
    rng: Rng = None,
    accelerate: bool = True,
    n_jobs: int | None = None,
    progress: bool | None = None,
    batch_size: int | None = None,
) -> LeaveOneStudyOut:
    """Train on all studies but one, pooled, and test on that one, for every study.

    Parameters
    ----------
    clusterer, studies, agreement, n_resamples, noise, resampling, rng, accelerate, n_jobs, progress, batch_size
        As in `replicability`; one agreement. The draws of a tested study are those of `replicability` with the same
        seed.

    Returns
    -------
    LeaveOneStudyOut

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.datasets import simulate_cohorts
    >>> studies = simulate_cohorts(n_cohorts=3, missing={}, shifted={}, rng=1).scaled("zscore")
    >>> leave_one_study_out(KMeans(4, n_init=3), studies, n_resamples=3, rng=0).estimate.round(1)
    array([1., 1., 1.])
    """
    checked = check_several(as_studies(studies))
    configuration = check_configuration(clusterer, None, tuple(checked.values()), resampling)
    source = Source(check_resampling(resampling), root_entropy(rng), check_flag(accelerate, "accelerate"))
    execution = Execution(n_jobs, progress, batch_size)
    check_integer(n_resamples, "n_resamples")
    check_noise(noise)
    chosen = resolve_agreement(agreement)
    scores, causes = [], []
    for name, tested in checked.items():
        others = [study for other, study in checked.items() if other != name]
        pooled = others[0].with_samples_of(others[1:], f"all but {name}")
        setting = Setting.prepare(source, (pooled, tested), [configuration])
        plan = Plan(n_resamples, (chosen,), False, noise, setting)
        replicates = run_replicates(
            partial(score_replicate, plan),
            range(FULL_STUDY, n_resamples + 1),
            execution,
            f"all but {name}",
            in_threads=setting.in_threads and chosen.of_counts is not None,
            first_here=plan.compiles,
        )
        scores.append([one.scores[0, 0, 0, 1] for one in replicates])
        causes.append([one.causes[0, 0, 0, 1] for one in replicates])
    table = np.array(scores, dtype=float).T  # (1 + n_resamples, S)
    failed, names = number_causes(np.array(causes, dtype=object).T)
    report_failed(failed, names, "score")
    return LeaveOneStudyOut(
        clusterer=configuration.name,
        n_clusters=configuration.n_clusters,
        agreement=chosen.name,
        names=checked.names,
        estimate=read_only(table[0]),
        distribution=table[1:],
        failed=failed,
        causes=names,
        provenance=provenance(
            source,
            tuple(checked.values()),
            {configuration.name: describe(configuration.clusterer)},
            n_resamples=n_resamples,
            noise=noise,
        ),
    )
