"""One study, perturbed and clustered again: the labels of all points in every replicate.

The indices of section 2 read these labels. They are kept as small integers, (n_replicates, n_points), so that one set
of fits serves every index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from clustrep.clustering.parameters import has_open_randomness
from clustrep.clustering.path import ClusteringPlan, Setting
from clustrep.clustering.sample import Configuration, Labelled, PointSet, Sample
from clustrep.engine.replicates import FULL_STUDY, Failed, Stream, make_generator, seed_of
from clustrep.engine.run import run
from clustrep.errors import AllReplicatesFailed, ReplicateWarning, warn
from clustrep.failures import Failures
from clustrep.resampling import Perturbation, Rerun
from clustrep.results.labels import label
from clustrep.studies.study import Study
from clustrep.tables.contingency import Partition, tables_of
from clustrep.tables.noise import ONLY_NOISE, RULES, NoiseWithin
from clustrep.types import BoolArray, FloatArray, IntArray
from clustrep.within.question import Question

# So many points or cells are compared at once.
BATCH = 2**22


# ---------------------------------------------------------------------------------------------------------------------
# what is learned in a replicate


class Parts(NamedTuple):
    """The samples of one replicate, and the points that the clustering function of each one labels."""

    samples: Sequence[Sample]
    places: Sequence[Sequence[PointSet]]
    weights: Sequence[IntArray]  # how often each point is in a sample


def drawn(setting: Setting, replicate: int) -> Parts:
    """X⁽ᵇ⁾: Ψ(X⁽ᵇ⁾; X⁽ᵇ⁾) comes first; Ψ(X; X⁽ᵇ⁾) comes last, and is the same where nothing was added to the points."""
    sample = setting.sample(0, replicate)
    places = list(dict.fromkeys([sample.points, sample.originals]))
    return Parts([sample], [places], [sample.draw.weights])


def as_it_is(setting: Setting, replicate: int) -> Parts:
    """X itself: Ψ(X; X)."""
    return Parts([setting.sample(0, FULL_STUDY)], [setting.places], [])


def pair(setting: Setting, replicate: int) -> Parts:
    """Two independent draws, both functions on all of X."""
    samples = [setting.sample(0, replicate, second=second) for second in (False, True)]
    return Parts(samples, [[sample.originals] for sample in samples], [])


def halves(setting: Setting, replicate: int) -> Parts:
    """X⁽ᵇ⁾ in two random halves, both functions on all of it."""
    seed = seed_of(setting.source.root, Stream.SPLIT, setting.studies[0].name, replicate)
    sample = setting.sample(0, replicate)
    n = len(sample.draw.order)
    order = make_generator(seed).permutation(n)
    return _split(sample, (sample.draw.order[order[: n // 2]], sample.draw.order[order[n // 2 :]]))


def given_parts(split: tuple[IntArray, IntArray], setting: Setting, replicate: int) -> Parts:
    """X in two parts that the user has chosen."""
    return _split(setting.sample(0, replicate), split)


def _split(sample: Sample, parts: tuple[IntArray, IntArray]) -> Parts:
    samples = [
        replace(sample, draw=replace(sample.draw, order=order), second=second)
        for second, order in zip((False, True), parts, strict=True)
    ]
    return Parts(samples, [[sample.points]] * 2, [part.draw.weights for part in samples])


Splitting: TypeAlias = Callable[[Setting, int], Parts]


class Replicate(NamedTuple):
    """The labels of all points in one replicate."""

    partitions: list[list[Partition] | Failed]  # by configuration, then by labelling
    n_labelings: int
    weights: list[IntArray]


@dataclass(frozen=True, eq=False)
class ReclusteringPlan(ClusteringPlan[Replicate]):
    """Everything that the labels of all points follow from, except the replicate's number."""

    split: Splitting
    description: str

    def replicate(self, number: int) -> Replicate:
        """Learn every configuration from every sample of one replicate."""
        parts = self.split(self.setting, number)
        partitions: list[list[Partition] | Failed] = []
        for path in self.setting.paths:
            learned = path.learn(parts.samples)
            for member in range(len(path.members)):
                labelled = [fit.labels(member, places) for fit, places in zip(learned, parts.places, strict=True)]
                partitions.append(_partitions_of(labelled))
        weights = [counts.astype(np.min_scalar_type(counts.max())) for counts in parts.weights]
        return Replicate(partitions, sum(map(len, parts.places)), weights)


def _partitions_of(labelled: Sequence[Labelled | Failed]) -> list[Partition] | Failed:
    """Return the partitions of all samples in as few bytes as they need, or the first failure among them."""
    partitions = []
    for labels in labelled:
        if isinstance(labels, Failed):
            return labels
        partitions += [Partition(partition.small_codes, partition.classes) for partition in labels.partitions]
    return partitions


# ---------------------------------------------------------------------------------------------------------------------
# what is kept


@dataclass(frozen=True, eq=False)
class Labelings:
    """The labels of the same points by the clustering functions of all replicates."""

    codes: IntArray  # (n_replicates, n_points)
    n_labels: int  # in any of them
    noise: IntArray  # (n_replicates,): the code that is noise, −1 for none

    @classmethod
    def of(cls, partitions: Sequence[Partition | None], n_points: int) -> Labelings:
        """Stack partitions; where there is none, zeros."""
        n_labels = max((partition.n_labels for partition in partitions if partition is not None), default=1)
        codes = np.zeros((len(partitions), n_points), dtype=np.min_scalar_type(n_labels))
        for b, partition in enumerate(partitions):
            if partition is not None:
                codes[b] = partition.codes
        noise = np.array([-1 if partition is None else partition.noise for partition in partitions])
        return cls(codes, n_labels, noise)

    @classmethod
    def repeated(cls, partition: Partition, n_replicates: int) -> Labelings:
        """The same partition in every replicate."""
        codes = np.broadcast_to(partition.codes, (n_replicates, len(partition.codes)))
        return cls(codes, partition.n_labels, np.full(n_replicates, partition.noise))

    def is_noise(self, some: slice = slice(None)) -> BoolArray:
        """Which points are noise in some of the replicates, (n_replicates, n_points)."""
        return np.asarray(self.codes[some] == self.noise[some, None])


@dataclass(frozen=True, eq=False)
class Relabelled:
    """One configuration in all replicates."""

    configuration: Configuration
    reference: Partition | None  # Ψ(X; X), or existing labels
    labelings: tuple[Labelings, ...]
    weights: tuple[IntArray, ...]  # (n_replicates, n_points) each
    failed: IntArray  # (n_replicates,): which cause, 0 for none
    causes: tuple[str, ...]

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters asked for."""
        return self.configuration.n_clusters

    @property
    def n_replicates(self) -> int:
        """How many there are."""
        return len(self.failed)

    def against_reference(self, labelling: int) -> tuple[Labelings, Labelings]:
        """Return the reference, as often as there are replicates, and one of the labelings."""
        assert self.reference is not None
        return Labelings.repeated(self.reference, self.n_replicates), self.labelings[labelling]

    def failed_where_noise_is_all(
        self, noise: NoiseWithin, *compared: tuple[Labelings, Labelings, IntArray | BoolArray | None]
    ) -> Relabelled:
        """Count a replicate as failed where dropping noise leaves fewer than two points of what is compared."""
        rule = RULES[noise]
        if rule.is_cluster:
            return self
        few = np.zeros(self.n_replicates, dtype=bool)
        for u, v, weights in compared:
            counted = rule.counted(u.is_noise(), v.is_noise())
            few |= (counted if weights is None else np.where(counted, weights, 0)).sum(axis=1) < 2
        causes = self.causes if ONLY_NOISE in self.causes else (*self.causes, ONLY_NOISE)
        failed = np.where(few & (self.failed == 0), causes.index(ONLY_NOISE) + 1, self.failed)
        return replace(self, failed=failed, causes=causes)

    def nan_where_failed(self, values: FloatArray) -> FloatArray:
        """Return the values with NaN for replicates that have no labels."""
        values = np.array(values, dtype=float)
        values[self.failed > 0] = np.nan
        return values


def recluster(
    question: Question,
    perturbation: Perturbation,
    n_replicates: int,
    description: str,
    *,
    split: Splitting = drawn,
    references: Sequence[Partition] | None = None,
    needs_reference: bool = True,
) -> list[Relabelled]:
    """Cluster perturbed copies of the study, every configuration on the same draws.

    `references` are known partitions; else, where they are needed, they are Ψ(X; X).
    """
    if split in (drawn, pair):
        _check_something_varies(question, perturbation)
    setting = question.setting(perturbation)
    if needs_reference and references is None:
        references = references_of(question)
    plan = ReclusteringPlan(setting, split, description)
    replicates = run(plan, range(FULL_STUDY + 1, n_replicates + 1), question.n_jobs)
    by_configuration = zip(*(replicate.partitions for replicate in replicates), strict=True)
    causes = np.array(
        [
            [partitions.cause if isinstance(partitions, Failed) else "" for partitions in replicate.partitions]
            for replicate in replicates
        ],
        dtype=object,
    )
    failed, cause_names = Failures.number(causes)
    weights = tuple(np.stack(part) for part in zip(*(replicate.weights for replicate in replicates), strict=True))
    n_points = len(question.study)
    return [
        Relabelled(
            configuration,
            None if references is None else references[c],
            _stack(partitions, replicates[0].n_labelings, n_points),
            weights,
            failed[:, c],
            cause_names,
        )
        for c, (configuration, partitions) in enumerate(zip(question.configurations, by_configuration, strict=True))
    ]


def references_of(question: Question) -> list[Partition]:
    """Return the partitions to compare with: existing labels, or Ψ(X; X) of every configuration."""
    if question.reference is not None:
        return [question.reference] * len(question.configurations)
    (replicate,) = run(ReclusteringPlan(question.setting(Rerun()), as_it_is, "reference"), [FULL_STUDY])
    return [
        _reference(partitions, configuration, question.study)
        for partitions, configuration in zip(replicate.partitions, question.configurations, strict=True)
    ]


def _check_something_varies(question: Question, perturbation: Perturbation) -> None:
    unchanged = perturbation.changes_nothing(*question.study.X.shape)
    if unchanged and not any(has_open_randomness(configuration.clusterer) for configuration in question.configurations):
        warn(
            f"{perturbation!r} changes nothing here, and {question.configurations[0].name} has no randomness of its "
            "own, or a fixed random_state: all resamples will be the same.",
            ReplicateWarning,
        )


def _reference(partitions: list[Partition] | Failed, configuration: Configuration, study: Study) -> Partition:
    if isinstance(partitions, Failed):
        advice = "" if configuration.n_clusters is None else " Leave that number out."
        if not np.ptp(study.X, axis=0).any():
            advice = f" All samples of {study.name!r} are the same."
        raise AllReplicatesFailed(
            f"{label(configuration.name, configuration.n_clusters)} failed on the data as they are, so there are no "
            f"clusters to judge: {partitions.cause}.{advice}"
        )
    return partitions[0]


def _stack(replicates: Sequence[list[Partition] | Failed], n_labelings: int, n_points: int) -> tuple[Labelings, ...]:
    return tuple(
        Labelings.of([None if isinstance(parts, Failed) else parts[i] for parts in replicates], n_points)
        for i in range(n_labelings)
    )


def curve_fields(
    question: Question,
    relabelled: Relabelled,
    numbers: Sequence[int | None],
    distribution: FloatArray,
    failed: IntArray,
    perturbation: Perturbation,
    *,
    causes: tuple[str, ...] | None = None,
    **parameters: Any,
) -> dict[str, Any]:
    """Return what all results with one number for each k have in common."""
    return {
        "clusterer": relabelled.configuration.name,
        "n_clusters": tuple(numbers),
        "distribution": distribution,
        "failed": failed,
        "causes": relabelled.causes if causes is None else causes,
        "provenance": question.provenance(perturbation, **parameters),
    }


# ---------------------------------------------------------------------------------------------------------------------
# reading tables


def read_tables(
    score: Callable[[FloatArray], FloatArray],
    u: Labelings,
    v: Labelings,
    weights: IntArray | BoolArray | None,
    noise: NoiseWithin = "label",
) -> FloatArray:
    """Score the tables of two series of labelings: (n_replicates, k_u, k_v) -> (n_replicates, ...)."""
    return np.concatenate([score(tables) for tables in _tables(u, v, weights, noise)])


def _tables(
    u: Labelings, v: Labelings, weights: IntArray | BoolArray | None, noise: NoiseWithin
) -> Iterator[FloatArray]:
    rule = RULES[noise]
    n_replicates, n_points = v.codes.shape
    shape = (u.n_labels, v.n_labels)
    step = max(1, BATCH // max(n_points, shape[0] * shape[1]))
    for i in range(0, n_replicates, step):
        some = slice(i, i + step)
        counted = None if weights is None else weights[some]
        if rule.omits:
            kept = rule.counted(u.is_noise(some), v.is_noise(some))
            counted = kept if counted is None else np.where(kept, counted, 0)
        yield tables_of(u.codes[some].astype(np.int64), v.codes[some].astype(np.int64), counted, shape)
