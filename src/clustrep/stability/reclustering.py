"""One study, resampled and clustered again: the labels of all samples in every resample.

The indices of section 2 read these labels. They are held as small integers, (n_resamples, n_samples), so that the same
fits serve every index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from clustrep.agreement.cluster_indices import Fits
from clustrep.agreement.contingency import Partition, encode, tables_of
from clustrep.cached import cached_property
from clustrep.checks import check_integer, check_labels_of, check_n_clusters
from clustrep.data.studies import Studies
from clustrep.data.study import Study
from clustrep.errors import AllReplicatesFailed, ParameterError, ReplicateWarning, warn
from clustrep.execution.context import config
from clustrep.execution.failures import Failures
from clustrep.execution.run import check_n_jobs, run
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
from clustrep.fitting.resample import PointSet, Resample, Source, provenance_of_run
from clustrep.fitting.setting import ClusteringPlan, Setting
from clustrep.provenance import Provenance
from clustrep.resampling import Bootstrap, FeatureSubset, Jitter, Rerun, Subsample
from clustrep.resampling.strategies import Perturbation, check_perturbation
from clustrep.summaries import label
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

# Samples, or cells of tables, that are compared at once: arrays of 32 MiB bound the memory whatever the number of
# resamples. Results do not depend on it.
BATCH = 2**22


# ---------------------------------------------------------------------------------------------------------------------
# questions about one study


@dataclass(frozen=True, eq=False)
class Question:
    """One study, a clusterer with its numbers of clusters, existing labels where there are any, and options.

    Attributes
    ----------
    study : Study
    configurations : tuple of Configuration
        The clusterer with every number of clusters; with existing labels alone, a single one.
    labels : ndarray of shape (n_samples,), or None
        Existing labels.
    root : int
        The seed.
    n_jobs : int or None
        The number of workers.
    """

    study: Study
    configurations: tuple[Configuration, ...]
    labels: Labels | None
    root: int
    n_jobs: int | None

    @classmethod
    def of(
        cls,
        clusterer: Clusterer,
        X: Any,
        n_clusters: Any,
        labels: Any,
        rng: Rng,
        n_jobs: int | None = None,
        *,
        labels_suffice: bool = False,
    ) -> Question:
        """Check the arguments that all functions of one study share.

        Parameters
        ----------
        clusterer : object with `fit_predict`, function X → labels, or None
            None where existing labels are used instead.
        X : Study or array-like of shape (n_samples, n_features)
            The study.
        n_clusters : int, sequence of int, or None
            Numbers of clusters, from 2; None: the clusterer's own.
        labels : array-like of shape (n_samples,), True, or None
            Existing labels; True takes the study's.
        rng : int, Generator, SeedSequence or None
            The seed.
        n_jobs : int, default=None
            The number of workers.
        labels_suffice : bool, default=False
            Whether existing labels may be used instead of a clusterer; else they are the reference partition alone.
        """
        study = one_study(X)
        known = None if labels is None else _labels_of(labels, study)
        numbers = None if n_clusters is None else check_n_clusters(n_clusters)
        if clusterer is not None:
            configurations = configurations_of(name_of(clusterer), check_clusterer(clusterer), numbers)
            if labels_suffice and known is not None:
                raise ParameterError("Pass either a clusterer or labels, not both.", parameter="labels")
        elif known is None or not labels_suffice:
            instead = ", or existing labels with labels=" if labels_suffice else " that finds the clusters again"
            raise ParameterError(f"clusterer is None: pass a clusterer{instead}.", parameter="clusterer")
        elif numbers is not None:
            raise ParameterError("n_clusters needs a clusterer: labels have their own number.", parameter="n_clusters")
        else:
            configurations = [Configuration("known labels", KnownLabels({study.name: known}))]
        return cls(study, tuple(configurations), known, root_entropy(rng), check_n_jobs(n_jobs))

    def source(self, perturbation: Perturbation) -> Source:
        """Return what all resamples of one kind share."""
        return Source(perturbation, self.root, config().accelerate)

    def setting(self, perturbation: Perturbation) -> Setting:
        """Prepare for resamples of one kind."""
        return Setting.prepare(self.source(perturbation), (self.study,), self.configurations)

    def provenance(self, perturbation: Perturbation, **parameters: Any) -> Provenance:
        """Record how a result was computed."""
        return provenance_of_run(
            self.source(perturbation),
            [self.study],
            self.configurations,
            labels="the clusterer's" if self.labels is None else "known",
            **parameters,
        )

    @cached_property
    def references(self) -> tuple[Partition, ...]:
        """The partition to compare with, for every configuration: existing labels, or Ψ(X; X)."""
        if self.labels is not None:
            return (encode([self.labels])[0],) * len(self.configurations)
        (replicate,) = run(ReclusteringPlan(self.setting(Rerun()), whole_study, "reference"), [FULL_STUDY])
        references = []
        for (reference,), configuration in zip(replicate.partitions, self.configurations, strict=True):
            if isinstance(reference, Failed):
                raise AllReplicatesFailed(
                    f"{label(configuration.name, configuration.n_clusters)} failed on study {self.study.name!r}, so "
                    f"there are no clusters to judge: {reference.cause}. Use another clusterer, fewer clusters, or "
                    "samples that differ."
                )
            references.append(reference)
        return tuple(references)


def one_study(X: Any, name: str = "X") -> Study:
    """Take a study, or a table as one of this name.

    Parameters
    ----------
    X : Study or array-like of shape (n_samples, n_features)
        What a user passed.
    name : str, default="X"
        The parameter, and the name of a study that is made of a table.

    Returns
    -------
    Study
    """
    if isinstance(X, Studies | Mapping) or hasattr(X, "fit_predict"):
        raise ParameterError(
            f"{name} must be one study, or a table of samples by features, got {type(X).__name__}. Of several studies, "
            "pick one, studies[name], or compare them with replicability.",
            parameter=name,
        )
    return X if isinstance(X, Study) else Study(X, name)


def _labels_of(labels: Any, study: Study) -> Labels:
    """Check existing labels of a study's samples; True takes its own."""
    if labels is not True:
        return check_labels_of(labels, study.name, len(study), study.samples if study.samples_are_named else None)
    if study.labels is None:
        raise ParameterError(
            f"labels is True, but study {study.name!r} has no known labels: pass them, or Study(X, name, labels=...).",
            parameter="labels",
        )
    return study.labels


# ---------------------------------------------------------------------------------------------------------------------
# a fit to a resample: its samples, and which sets of samples each clustering function labels

Parts: TypeAlias = list[tuple[Resample, Sequence[PointSet]]]
Splitting: TypeAlias = Callable[[Setting, int], Parts]


def drawn(setting: Setting, replicate: int) -> Parts:
    """One resample, X⁽ᵇ⁾, and the function learned from it.

    Ψ(X⁽ᵇ⁾; X⁽ᵇ⁾) comes first, Ψ(X; X⁽ᵇ⁾) last; they are the same unless values are changed.
    """
    sample = setting.resample(0, replicate)
    return [(sample, list(dict.fromkeys([sample.points, sample.originals])))]


def whole_study(setting: Setting, replicate: int) -> Parts:
    """X itself: Ψ(X; X)."""
    return [(setting.resample(0, FULL_STUDY), setting.places)]


def pair(setting: Setting, replicate: int) -> Parts:
    """Two independent resamples, both functions on all of X."""
    samples = [setting.resample(0, replicate, second=second) for second in (False, True)]
    return [(sample, [sample.originals]) for sample in samples]


def halves(setting: Setting, replicate: int, given: tuple[IntArray, IntArray] | None = None) -> Parts:
    """X⁽ᵇ⁾ in two random halves, or in two given parts; both functions on all of it."""
    sample = setting.resample(0, replicate)
    order = sample.draw.order
    if given is None:
        seed = seed_of(setting.source.root, Stream.SPLIT, setting.studies[0].name, replicate)
        shuffled = order[make_generator(seed).permutation(len(order))]
        given = (shuffled[: len(order) // 2], shuffled[len(order) // 2 :])
    parts = [replace(sample, draw=replace(sample.draw, order=part), second=i == 1) for i, part in enumerate(given)]
    return [(part, [sample.points]) for part in parts]


class Replicate(NamedTuple):
    """The labels of all samples in one resample."""

    partitions: list[list[Partition | Failed]]  # by configuration, then by labelling; all failed, or none
    weights: list[IntArray]  # how often each sample was drawn, by part


@dataclass(frozen=True, eq=False)
class ReclusteringPlan(ClusteringPlan[Replicate]):
    """Everything that the labels of all samples follow from, except the resample's number."""

    split: Splitting
    description: str

    def replicate(self, number: int) -> Replicate:
        """Learn every configuration from every part of one resample."""
        parts = self.split(self.setting, number)
        n_labelings = sum(len(places) for _, places in parts)
        partitions: list[list[Partition | Failed]] = []
        for learner in self.setting.learners:
            learned = learner.learn([sample for sample, _ in parts])
            for member in range(len(learner.members)):
                found: list[Partition | Failed] = []
                for fit, (_, places) in zip(learned, parts, strict=True):
                    labelled = fit.labels(member, places)
                    if isinstance(labelled, Failed):
                        found = [labelled] * n_labelings
                        break
                    found += [Partition(each.small_codes, each.classes) for each in labelled.partitions]
                partitions.append(found)
        weights = [sample.draw.weights for sample, _ in parts]
        return Replicate(partitions, [counts.astype(np.min_scalar_type(counts.max())) for counts in weights])


# ---------------------------------------------------------------------------------------------------------------------
# all resamples


@dataclass(frozen=True, eq=False)
class Labelings:
    """The labels of the same samples by the clustering functions of all resamples.

    Attributes
    ----------
    codes : ndarray of int, shape (n_resamples, n_samples)
        Every sample's label; zeros where a fit failed.
    n_labels : int
        The largest number of labels in any of them.
    """

    codes: IntArray
    n_labels: int

    @classmethod
    def of(cls, partitions: Sequence[Partition | Failed], n_samples: int) -> Labelings:
        """Stack partitions; zeros where a fit failed."""
        known = {b: partition for b, partition in enumerate(partitions) if isinstance(partition, Partition)}
        n_labels = max((partition.n_labels for partition in known.values()), default=1)
        codes = np.zeros((len(partitions), n_samples), dtype=np.min_scalar_type(n_labels))
        for b, partition in known.items():
            codes[b] = partition.codes
        return cls(codes, n_labels)


Compared: TypeAlias = tuple[Labelings, Labelings, IntArray | BoolArray | None]


@dataclass(frozen=True, eq=False)
class Relabelled:
    """One configuration in all resamples.

    Attributes
    ----------
    n_clusters : int or None
        The number of clusters asked for.
    labelings : tuple of Labelings
        One for each set of samples that is labelled.
    weights : tuple of ndarray of int, shape (n_resamples, n_samples)
        How often each sample was drawn, by part.
    failed : ndarray of int, shape (n_resamples,)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why fits failed.
    """

    n_clusters: int | None
    labelings: tuple[Labelings, ...]
    weights: tuple[IntArray, ...]
    failed: IntArray
    causes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Reclustered:
    """A study in all resamples, clustered again by every configuration.

    Attributes
    ----------
    question : Question
        The study, the configurations and the options.
    perturbation : Perturbation
        Where the resamples come from.
    fits : tuple of Relabelled
        By configuration.
    """

    question: Question
    perturbation: Perturbation
    fits: tuple[Relabelled, ...]

    @property
    def n_resamples(self) -> int:
        """How many there are."""
        return len(self.fits[0].failed)

    def compared(
        self, score: Callable[[FloatArray], FloatArray], pairs_of: Callable[[Relabelled], Sequence[Compared]]
    ) -> list[list[FloatArray]]:
        """Score the contingency tables of pairs of labelings, (n_resamples, k_u, k_v) -> (n_resamples, ...).

        pairs_of : the labelings of rows and columns, and the weights of samples, (n_resamples, n_samples); None for 1

        Values of failed resamples are NaN.
        """
        all_values = []
        for fitted in self.fits:
            values = []
            for u, v, weights in pairs_of(fitted):
                shape, scores = (u.n_labels, v.n_labels), []
                step = max(1, BATCH // max(v.codes.shape[1], shape[0] * shape[1]))
                for some in (slice(i, i + step) for i in range(0, self.n_resamples, step)):
                    counted = None if weights is None else weights[some]
                    tables = tables_of(u.codes[some].astype(np.int64), v.codes[some].astype(np.int64), counted, shape)
                    scores.append(score(tables))
                values.append(np.concatenate(scores).astype(float))
                values[-1][fitted.failed > 0] = np.nan
            all_values.append(values)
        return all_values

    def fields(self, **parameters: Any) -> dict[str, Any]:
        """Return what all results over numbers of clusters have in common."""
        return {
            "clusterer": self.question.configurations[0].name,
            "n_clusters": tuple(fitted.n_clusters for fitted in self.fits),
            "failed": np.stack([fitted.failed for fitted in self.fits], axis=1),
            "causes": self.fits[0].causes,
            "provenance": self.question.provenance(self.perturbation, **parameters),
        }


# From what the indices of each kind are computed: the perturbation that they were proposed with, and how what it draws
# is divided; half-splits perturb nothing before they split.
KINDS: dict[Fits, tuple[Perturbation, Splitting]] = {
    Fits.SUBSAMPLES: (Subsample(0.8), drawn),
    Fits.FEATURE_SUBSETS: (FeatureSubset(0.8), drawn),
    Fits.BOOTSTRAP: (Bootstrap(distinct=True), drawn),
    Fits.JITTER: (Jitter(), drawn),
    Fits.HALF_SPLITS: (Rerun(), halves),
    Fits.PAIRS: (Bootstrap(), pair),
}


def recluster(
    question: Question,
    fits: Fits,
    n: Any,
    perturbation: Perturbation | None = None,
    *,
    given: tuple[IntArray, IntArray] | None = None,
) -> Reclustered:
    """Cluster n resamples of the study, every configuration the same ones.

    Parameters
    ----------
    question : Question
        The study, the configurations and the options.
    fits : Fits
        What functions are learned from: a key of `KINDS`.
    n : int
        The number of resamples, or of half-splits.
    perturbation : Perturbation, default=None
        Instead of the one in `KINDS`.
    given : tuple of ndarray of int, default=None
        Two parts into which the study is split, instead of random halves.

    Returns
    -------
    Reclustered
        Resample b has the same draw for every configuration, and the same as in a longer run.
    """
    usual, split = KINDS[fits]
    perturbation = usual if perturbation is None else check_perturbation(perturbation)
    n_resamples = check_integer(n, "n_splits" if split is halves else "n_resamples")
    configurations = question.configurations
    unchanged = split is not halves and perturbation.changes_nothing(*question.study.X.shape)
    if unchanged and not any(has_open_randomness(configuration.clusterer) for configuration in configurations):
        warn(
            f"{perturbation!r} changes nothing here, and {configurations[0].name} has no randomness, or a "
            "fixed random_state: all resamples will be the same.",
            ReplicateWarning,
        )
    if split is drawn:
        _ = question.references  # a clusterer that fails on the whole study fails before any resample is clustered
    if given is not None:
        split = partial(halves, given=given)
    plan = ReclusteringPlan(question.setting(perturbation), split, str(fits))
    replicates = run(plan, range(FULL_STUDY + 1, n_resamples + 1), question.n_jobs)
    firsts = [[partitions[0] for partitions in replicate.partitions] for replicate in replicates]
    causes = [[first.cause if isinstance(first, Failed) else "" for first in row] for row in firsts]
    failed, names = Failures.number(np.array(causes, dtype=object))
    weights = tuple(np.stack(part) for part in zip(*(replicate.weights for replicate in replicates), strict=True))
    relabelled = []
    for c, configuration in enumerate(configurations):
        by_labelling = zip(*(replicate.partitions[c] for replicate in replicates), strict=True)
        labelings = tuple(Labelings.of(partitions, len(question.study)) for partitions in by_labelling)
        relabelled.append(Relabelled(configuration.n_clusters, labelings, weights, failed[:, c], names))
    return Reclustered(question, perturbation, tuple(relabelled))
