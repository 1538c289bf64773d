"""The in-group proportion in perturbed copies of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clustrep.checks import check_integer
from clustrep.clustering.neighbours import Metric, neighbours
from clustrep.clustering.parameters import Clusterer, describe
from clustrep.clustering.path import ClusteringPlan
from clustrep.clustering.sample import provenance_of_data
from clustrep.engine.engines import EngineLike
from clustrep.engine.replicates import Failed, Rng, root_entropy
from clustrep.engine.run import on_engine, run
from clustrep.failures import Failures
from clustrep.resampling import Jitter, Perturbation, check_perturbation
from clustrep.results.proportions import InGroupStability
from clustrep.studies.study import check_complete
from clustrep.tables.cluster_indices import partners_of
from clustrep.tables.contingency import Partition, tables_of
from clustrep.tables.noise import RULES, NoiseWithin, check_noise_within
from clustrep.types import BoolArray, FloatArray, IntArray
from clustrep.within.in_group import (
    Neighbourhood,
    check_neighbourhood,
    judge,
    partition_of,
    proportions_of,
    question_about,
)
from clustrep.within.question import one_study

TOO_FEW = "no more samples drawn than neighbours asked for"


@on_engine
def in_group_stability(
    X: Any,
    labels: ArrayLike | None = None,
    *,
    clusterer: Clusterer = None,
    n_neighbors: int | Sequence[int] = 1,
    metric: Metric = "euclidean",
    perturbation: Perturbation | None = None,
    n_resamples: int = 100,
    noise: NoiseWithin = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> InGroupStability:
    """Compute the in-group proportions of clusters in perturbed copies of a study.

    Samples keep their labels. Where these come from a clusterer, every copy is clustered again, and its clusters are
    matched one to one with those of the study, so that most samples keep theirs.

    Parameters
    ----------
    X, labels, clusterer, n_neighbors, metric, noise
        As in `in_group_proportion`. For clusters that another study defines, pass the `labels` of its result.
    perturbation : Jitter, Subsample, Bootstrap, … or a sum, optional
        Where the copies come from; by default `Jitter()`. Each distinct sample of a copy counts once.
    n_resamples : int
        Number of perturbed copies.
    rng, n_jobs, engine
        As in `replicability`.

    Returns
    -------
    InGroupStability
        `proportions` of the study as it is, and their `distribution` over copies.

    See Also
    --------
    in_group_proportion : The study as it is, with p-values.
    stability : Whether the clusters themselves are found again.

    Notes
    -----
    Proportions of the study as it is are often 1 for all clusters; noise distinguishes clusters with a gap around
    them from those that touch their neighbours.

    References
    ----------
    .. [1] Kapp, A. V. and Tibshirani, R. (2007). Are clusters found in one dataset present in another dataset?
       Biostatistics 8(1), 9-31.

    Examples
    --------
    >>> X = [[0.0], [0.5], [1.0], [9.0], [9.5], [10.0]]
    >>> in_group_stability(X, [0, 0, 0, 1, 1, 1], perturbation=Jitter(0.1), n_resamples=20, rng=0).mean
    array([1., 1.])
    """
    study = one_study(X)
    check_complete([study])
    neighbourhood = check_neighbourhood(n_neighbors, metric)
    check_noise_within(noise)
    chosen = Jitter() if perturbation is None else check_perturbation(perturbation)
    check_integer(n_resamples, "n_resamples")
    root = root_entropy(rng)
    question = question_about(study, None, labels, clusterer, root, n_jobs)
    partition = partition_of(question, None)
    judged = judge(study, partition, neighbourhood, noise)
    plan = CopyPlan(question.setting(chosen), partition, labels is not None, neighbourhood, noise)
    copies = run(plan, range(1, n_resamples + 1), n_jobs)
    is_cluster = np.isin(partition.classes, judged.partition.classes)
    distribution = np.stack([copy.proportions for copy in copies])[:, :, is_cluster]
    failed, causes = Failures.number(np.array([copy.cause for copy in copies], dtype=object))
    Failures.count(failed, causes).report("resample")
    picked = 0 if np.ndim(n_neighbors) == 0 else slice(None)
    return InGroupStability(
        n_neighbors=neighbourhood.js,
        clusters=judged.partition.classes,
        sizes=judged.sizes,
        labels=judged.labels,
        samples=study.samples,
        proportions=judged.proportions[picked],
        distribution=distribution[:, picked],
        failed=failed,
        causes=causes,
        provenance=provenance_of_data(
            root,
            [study],
            question.configurations,
            resampling=describe(chosen),
            n_resamples=n_resamples,
            n_neighbors=list(neighbourhood.js),
            metric=describe(metric),
            noise=noise,
        ),
    )


# ---------------------------------------------------------------------------------------------------------------------
# perturbed copies


class Copy(NamedTuple):
    """The proportions in one perturbed copy, or the cause of their failure."""

    proportions: FloatArray  # (n_j, k)
    cause: str


@dataclass(frozen=True, eq=False)
class CopyPlan(ClusteringPlan[Copy]):
    """Everything that a perturbed copy's proportions follow from, except its number."""

    reference: Partition
    labels_travel: bool  # else every copy is clustered again
    neighbourhood: Neighbourhood
    noise: NoiseWithin

    description = "in-group proportion"

    @property
    def in_threads(self) -> bool:
        """Neighbours are found in Python."""
        return False

    @property
    def compiles(self) -> bool:
        """Kernels may be needed where copies are clustered again."""
        return True

    def replicate(self, number: int) -> Copy:
        """Compute the proportions in one perturbed copy, among its distinct rows."""
        js, metric = self.neighbourhood
        sample = self.setting.sample(0, number)
        k = self.reference.n_labels
        missing = np.full((len(js), k), np.nan)
        codes, is_noise = self.reference.codes, self.reference.is_noise
        drawn = sample.draw.weights > 0
        if not self.labels_travel:
            labelled = self.setting.paths[0].learn([sample])[0].labels(0, [sample.points])
            if isinstance(labelled, Failed):
                return Copy(missing, labelled.cause)
            codes, is_noise = _matched(labelled.at(0), codes, drawn, k), labelled.at(0).is_noise
        rows = np.flatnonzero(drawn & RULES[self.noise].counted(is_noise))
        if len(rows) <= max(js):
            return Copy(missing, TOO_FEW)
        nearest = neighbours(sample.draw.points[rows], max(js), metric)
        codes = codes[rows]
        partition = Partition(codes, np.arange(max(k, int(codes.max()) + 1)))
        return Copy(proportions_of(partition, nearest, js)[:, :k], "")


def _matched(copy: Partition, reference: IntArray, drawn: BoolArray, k: int) -> IntArray:
    """Rename the clusters of a copy after those of the study; one without a partner gets a number beyond them."""
    table = tables_of(copy.codes[None], reference, drawn, (copy.n_labels, k))[0]
    partners = partners_of(table)
    partners = np.where(partners < 0, k + np.arange(copy.n_labels), partners)
    return np.asarray(partners[copy.codes])
