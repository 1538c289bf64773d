"""One study, perturbed and clustered again: the labels of all points in every replicate.

The indices of section 2 read these labels. They are kept as small integers, (n_replicates, n_points), so that one set
of fits serves every index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from clustrep.agreement.contingency import ONLY_NOISE, RULES, NoiseWithin, Partition, encode, tables_of
from clustrep.checks import check_labels_of, check_n_clusters
from clustrep.data.studies import Studies
from clustrep.data.study import Study
from clustrep.errors import AllReplicatesFailed, ParameterError, ReplicateWarning, warn
from clustrep.execution.failures import Failures
from clustrep.execution.run import check_n_jobs, config, run
from clustrep.execution.seeds import FULL_STUDY, Failed, Rng, Stream, make_generator, root_entropy, seed_of
from clustrep.fitting.parameters import (
    Clusterer,
    Configuration,
    KnownLabels,
    check_clusterer,
    configurations_of,
    has_open_randomness,
    name_of,
)
from clustrep.fitting.resample import Labelled, PointSet, Resample, Source, provenance_of_run
from clustrep.fitting.setting import ClusteringPlan, Setting
from clustrep.provenance import Provenance
from clustrep.resampling.strategies import Perturbation, Rerun
from clustrep.summaries import label
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

# So many points or cells are compared at once.
BATCH = 2**22


# ---------------------------------------------------------------------------------------------------------------------
# what is learned in a replicate


class Parts(NamedTuple):
    """The samples of one replicate, and the points that the clustering function of each one labels."""

    samples: Sequence[Resample]
    places: Sequence[Sequence[PointSet]]
    weights: Sequence[IntArray]  # how often each point is in a sample


def drawn(setting: Setting, replicate: int) -> Parts:
    """X⁽ᵇ⁾: Ψ(X⁽ᵇ⁾; X⁽ᵇ⁾) comes first; Ψ(X; X⁽ᵇ⁾) comes last, and is the same where nothing was added to the points."""
    sample = setting.resample(0, replicate)
    places = list(dict.fromkeys([sample.points, sample.originals]))
    return Parts([sample], [places], [sample.draw.weights])


def as_it_is(setting: Setting, replicate: int) -> Parts:
    """X itself: Ψ(X; X)."""
    return Parts([setting.resample(0, FULL_STUDY)], [setting.places], [])


def pair(setting: Setting, replicate: int) -> Parts:
    """Two independent draws, both functions on all of X."""
    samples = [setting.resample(0, replicate, second=second) for second in (False, True)]
    return Parts(samples, [[sample.originals] for sample in samples], [])


def halves(setting: Setting, replicate: int) -> Parts:
    """X⁽ᵇ⁾ in two random halves, both functions on all of it."""
    seed = seed_of(setting.source.root, Stream.SPLIT, setting.studies[0].name, replicate)
    sample = setting.resample(0, replicate)
    n = len(sample.draw.order)
    order = make_generator(seed).permutation(n)
    return _split(sample, (sample.draw.order[order[: n // 2]], sample.draw.order[order[n // 2 :]]))


def given_parts(split: tuple[IntArray, IntArray], setting: Setting, replicate: int) -> Parts:
    """X in two parts that the user has chosen."""
    return _split(setting.resample(0, replicate), split)


def _split(sample: Resample, parts: tuple[IntArray, IntArray]) -> Parts:
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
        for learner in self.setting.learners:
            learned = learner.learn(parts.samples)
            for member in range(len(learner.members)):
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


def fields_over_k(
    question: Question, relabelled: Sequence[Relabelled], perturbation: Perturbation, **parameters: Any
) -> dict[str, Any]:
    """Return what all results over numbers of clusters have in common."""
    first = relabelled[0]
    return {
        "clusterer": first.configuration.name,
        "n_clusters": tuple(fitted.n_clusters for fitted in relabelled),
        "failed": np.stack([fitted.failed for fitted in relabelled], axis=1),
        "causes": first.causes,
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
    rule = RULES[noise]
    n_replicates, n_points = v.codes.shape
    shape = (u.n_labels, v.n_labels)
    step = max(1, BATCH // max(n_points, shape[0] * shape[1]))
    scores = []
    for i in range(0, n_replicates, step):
        some = slice(i, i + step)
        counted = None if weights is None else weights[some]
        if rule.omits:
            kept = rule.counted(u.is_noise(some), v.is_noise(some))
            counted = kept if counted is None else np.where(kept, counted, 0)
        scores.append(score(tables_of(u.codes[some].astype(np.int64), v.codes[some].astype(np.int64), counted, shape)))
    return np.concatenate(scores)


# ---------------------------------------------------------------------------------------------------------------------
# What is asked of one study: which clusterer, how many clusters, which existing labels


@dataclass(frozen=True, eq=False)
class Question:
    """One study, a clusterer with its numbers of clusters, and existing clusters where there are any."""

    study: Study
    configurations: tuple[Configuration, ...]
    labels: Labels | None
    root: int
    accelerate: bool
    n_jobs: int | None

    @classmethod
    def of(
        cls,
        clusterer: Clusterer,
        X: Any,
        n_clusters: Any,
        labels: Any,
        rng: Rng,
        n_jobs: int | None,
        *,
        labels_suffice: bool = False,
    ) -> Question:
        """Check what the user passed. `labels_suffice`: existing labels may be used instead of a clusterer."""
        study = one_study(X)
        known = None if labels is None else labels_of(labels, study)
        if clusterer is None:
            if not labels_suffice:
                raise ParameterError(
                    "clusterer is None: a clusterer must find the clusters again, also those in labels.",
                    parameter="clusterer",
                )
            if known is None:
                raise ParameterError(
                    "clusterer is None: pass a clusterer, or existing labels with labels=.", parameter="clusterer"
                )
            if n_clusters is not None:
                raise ParameterError(
                    "n_clusters needs a clusterer: labels have the clusters that they have.", parameter="n_clusters"
                )
            configurations = [Configuration("known labels", KnownLabels({study.name: known}))]
        else:
            if labels_suffice and known is not None:
                raise ParameterError(
                    "Pass either a clusterer or labels, not both: labels are used instead of a clusterer.",
                    parameter="labels",
                )
            numbers = None if n_clusters is None else check_n_clusters(n_clusters)
            configurations = configurations_of(name_of(clusterer), check_clusterer(clusterer), numbers)
        return cls(study, tuple(configurations), known, root_entropy(rng), config().accelerate, check_n_jobs(n_jobs))

    def setting(self, perturbation: Perturbation) -> Setting:
        """Prepare for draws of one kind."""
        source = Source(perturbation, self.root, self.accelerate)
        return Setting.prepare(source, (self.study,), self.configurations)

    @property
    def reference(self) -> Partition | None:
        """The existing partition."""
        return None if self.labels is None else encode([self.labels])[0]

    def provenance(self, perturbation: Perturbation, **parameters: Any) -> Provenance:
        """Record how a result was computed."""
        return provenance_of_run(
            Source(perturbation, self.root, self.accelerate),
            [self.study],
            self.configurations,
            labels="the clusterer's" if self.labels is None else "known",
            **parameters,
        )


def one_study(X: Any, name: str = "X") -> Study:
    """Take a study, or a table as one of this name."""
    if isinstance(X, Studies | Mapping):
        raise ParameterError(
            f"{name} must be one study or table, got {type(X).__name__}: pick one, studies[name], or measure across "
            "all of them with replicability.",
            parameter=name,
        )
    if hasattr(X, "fit_predict"):
        raise ParameterError(
            f"{name} must be a table of samples by features, got {type(X).__name__}: are the arguments the wrong way "
            "round?",
            parameter=name,
        )
    return X if isinstance(X, Study) else Study(X, name)


def labels_of(labels: Any, study: Study) -> Labels:
    """Check existing labels of a study's samples; True takes its own."""
    if labels is True:
        if study.labels is None:
            raise ParameterError(
                f"labels is True, but study {study.name!r} has no known labels: pass them, or give the study its "
                "own, Study(X, name, labels=...).",
                parameter="labels",
            )
        return study.labels
    return check_labels_of(labels, study.name, len(study), study.samples if study.samples_are_named else None)
