"""Section 2.3.2: the in-group proportion of Kapp and Tibshirani (2007), within a study and across studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import partners_of
from clustrep.agreement.contingency import RULES, NoiseWithin, Partition, check_noise_within, encode, tables_of
from clustrep.checks import check_integer
from clustrep.data.studies import Studies
from clustrep.data.study import Study, check_complete
from clustrep.errors import AllReplicatesFailed, ParameterError
from clustrep.execution.engines import EngineLike
from clustrep.execution.failures import Failures
from clustrep.execution.run import on_engine, run
from clustrep.execution.seeds import (
    FULL_STUDY,
    Failed,
    Rng,
    Stream,
    make_generator,
    one_thread,
    root_entropy,
    seed_of,
)
from clustrep.fitting.neighbours import Metric, assigned, neighbours
from clustrep.fitting.parameters import Clusterer, check_metric, describe
from clustrep.fitting.resample import Source, provenance_of_data
from clustrep.fitting.setting import ClusteringPlan, Setting
from clustrep.null.gaussian import GaussianModel
from clustrep.resampling.gaussian import principal_axes
from clustrep.resampling.strategies import Jitter, Perturbation, Rerun, check_perturbation
from clustrep.stability.reclustering import Question, labels_of, one_study, references_of
from clustrep.stability.results import (
    CLUSTERED_AGAIN,
    NO_NULL,
    OWN_LABELS,
    RANDOM_CELLS,
    InGroupProportion,
    InGroupStability,
)
from clustrep.statistics import null_pvalue
from clustrep.types import BoolArray, FloatArray, IntArray, Labels


def in_group_proportion(
    X: Any,
    labels: ArrayLike | None = None,
    *,
    clusterer: Clusterer = None,
    train: Any = None,
    n_neighbors: int | Sequence[int] = 1,
    metric: Metric = "euclidean",
    n_null: int = 0,
    noise: NoiseWithin = "label",
    rng: Rng = None,
) -> InGroupProportion:
    """Measure for every cluster the share of its samples whose nearest neighbours belong to it, too (section 2.3.2).

    With N_j(x) the j nearest other samples of x, and the samples C of a cluster::

        IGP(C) = #{x in C : all of N_j(x) in C} / #C

    Parameters
    ----------
    X : Study or table
        The study whose clusters are judged.
    labels : array_like, optional
        Existing clusters of `X`, or of `train` where that is given. True takes the study's.
    clusterer : object with `fit_predict`, or function X → labels, optional
        Instead of labels: clusters `X`, or learns from `train`.
    train : Study or table, optional
        Another study, whose clustering function labels `X`: the cross-study form, on the features that both have. Known
        labels of it are carried over by the nearest sample. A cluster without a sample in `X` has size 0 and no
        proportion.
    n_neighbors : int or several
        All of a sample's j nearest neighbours must belong to its cluster; several j give a row for each.
    metric : str or function
        Distance, as in `scipy.spatial.distance.cdist`. Of neighbours at the same distance the lower row counts.
    n_null : int
        Number of null partitions for p-values; 0 for none. Where a `clusterer` finds the clusters in `X`, data without
        clusters like `X` are simulated (Gaussian, its covariance as far as it differs from sampling noise) and
        clustered again. Else as many centres as there are clusters are drawn uniformly in the box of the clusters'
        centres along the principal components of `X`, and every sample goes to the nearest one.
    noise : {"label", "drop"}
        Samples labelled −1 form a cluster like any other, or are omitted.
    rng : None, int or Generator
        Seed of the clusterer and of the random partitions.

    Returns
    -------
    InGroupProportion
        `proportions` and `pvalues` per cluster. `labels` of `X` itself have no p-values, but `exceeding` alone.

    See Also
    --------
    in_group_stability : The same in perturbed copies of the study.
    prediction_strength : Also predicts one part of the data from another, by pairs of samples.

    Notes
    -----
    Answers whether clusters that were found in one study are clusters in another (`train`). The
    proportion is near 1 for nearly any partition with smooth borders, whether or not the data have clusters: judge it
    by its p-value, or by several `n_neighbors`, which make it stricter. p-values are (1 + number of null clusters with
    at least this proportion) / (1 + number of null clusters). Random cells that happen to hold whole clusters have
    proportion 1, so that p-values are rarely small even for good clusters of another study.

    Clusters that were computed from `X` itself have higher proportions than random cells, without any structure:
    Ward's in 41 % of clusters of 60 × 20 at a nominal 5 %. So with a `clusterer` null data are clustered again, and for
    `labels` of `X`, of which the origin is not known, the share of random cells that exceed them is no p-value.
    Permuted labels, as a null, would reject for any contiguous partition.

    References
    ----------
    .. [1] Kapp, A. V. and Tibshirani, R. (2007). Are clusters found in one dataset present in another dataset?
       Biostatistics 8(1), 9-31.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [2.9], [4.0]]
    >>> in_group_proportion(X, [0, 0, 0, 1, 1]).proportions.round(3)
    array([0.667, 0.5  ])
    """
    study, training = one_study(X), None
    if train is not None:
        study, training = _aligned(study, train)
    check_complete([study] if training is None else [study, training])
    neighbourhood = check_neighbourhood(n_neighbors, metric)
    check_noise_within(noise)
    check_integer(n_null, "n_null", at_least=0)
    root = root_entropy(rng)
    question = question_about(study, training, labels, clusterer, root, None)
    judged = judge(study, partition_of(question, training), neighbourhood, noise)
    null, compared_with = None, NO_NULL
    if n_null and clusterer is not None and training is None:
        null, compared_with = _null_clustered_again(question, neighbourhood, n_null, noise), CLUSTERED_AGAIN
    elif n_null:
        null = _null(study, judged, neighbourhood, n_null, root)
        compared_with = RANDOM_CELLS if training is not None else OWN_LABELS
    exceeding = None if null is None else pvalues_of(judged.proportions, null)
    picked = 0 if np.ndim(n_neighbors) == 0 else slice(None)
    return InGroupProportion(
        **judged.fields(study, neighbourhood, picked),
        exceeding=None if exceeding is None else exceeding[picked],
        pvalues_are=compared_with,
        null_distribution=null,
        provenance=provenance_of_data(
            root,
            [study] if training is None else [training, study],
            question.configurations,
            n_neighbors=list(neighbourhood.js),
            metric=describe(metric),
            n_null=n_null,
            noise=noise,
            train=None if training is None else training.name,
        ),
    )


# ---------------------------------------------------------------------------------------------------------------------
# whose labels


def question_about(
    study: Study,
    training: Study | None,
    labels: Any,
    clusterer: Clusterer,
    root: int,
    n_jobs: int | None,
) -> Question:
    """Check whose clusters are judged: those of the study itself, or of the training study."""
    if (labels is None) == (clusterer is None):
        raise ParameterError(
            "Pass either labels or a clusterer: one of them says which clusters are judged.", parameter="labels"
        )
    learned_from = study if training is None else training
    known = None if labels is None else labels_of(labels, learned_from)
    question = Question.of(clusterer, learned_from, None, known, root, n_jobs, labels_suffice=True)
    return replace(question, study=study) if training is not None else question


def partition_of(question: Question, training: Study | None) -> Partition:
    """Ψ(X; X), or Ψ(X; train): with all clusters that the function gives, also those without a sample in X."""
    if training is None:
        (reference,) = references_of(question)
        return encode([reference.labels])[0]
    source = Source(Rerun(), question.root, question.accelerate)
    at = question.study.X
    setting = Setting.prepare(source, (training,), question.configurations, at=at, for_run=False)
    assert setting.at is not None
    with one_thread():
        labelled = (
            setting.learners[0].learn([setting.resample(0, FULL_STUDY)])[0].labels(0, [setting.places[0], setting.at])
        )
    if isinstance(labelled, Failed):
        raise AllReplicatesFailed(f"The clusterer failed on study {training.name!r}: {labelled.cause}.")
    return encode([labelled.at(0).labels, labelled.at(1).labels])[1]


def judged_rows(partition: Partition, noise: NoiseWithin) -> IntArray:
    """Return the rows of the samples that are judged: noise may be omitted."""
    return np.flatnonzero(RULES[noise].counted(partition.is_noise))


def _clusters_of(partition: Partition, rows: IntArray, noise: NoiseWithin) -> Partition:
    """Return the clusters of the samples that are judged."""
    is_cluster = RULES[noise].clusters(partition.classes)
    places = np.cumsum(is_cluster) - 1
    return Partition(places[partition.codes[rows]], partition.classes[is_cluster])


def _aligned(study: Study, train: Any) -> tuple[Study, Study]:
    """Take both studies with the features that they share."""
    training = one_study(train, "train")
    if training.name == study.name and training is not study:
        raise ParameterError(
            f"X and train are different studies with the same name {study.name!r}: rename one.", parameter="train"
        )
    both = Studies({training.name: training, study.name: study})
    return both[study.name], both[training.name]


# ---------------------------------------------------------------------------------------------------------------------
# proportions


class Neighbourhood(NamedTuple):
    """Which neighbours must belong to a sample's cluster: the numbers of nearest ones, and the distance."""

    js: tuple[int, ...]
    metric: Metric


class Judged(NamedTuple):
    """The clusters of a study as it is, without noise where that is dropped, and their proportions."""

    labels: Labels  # (n_samples,), of all samples
    X: FloatArray  # (n_judged, n_features)
    partition: Partition  # of the samples that are judged
    nearest: IntArray  # (n_judged, most neighbours)
    proportions: FloatArray  # (n_j, k)

    @property
    def sizes(self) -> IntArray:
        """The clusters' numbers of samples, (k,)."""
        return np.bincount(self.partition.codes, minlength=self.partition.n_labels)

    def fields(self, study: Study, neighbourhood: Neighbourhood, picked: int | slice) -> dict[str, Any]:
        """Return what results have in common; `picked` are the numbers of neighbours, a single one without an axis."""
        return {
            "n_neighbors": neighbourhood.js,
            "clusters": self.partition.classes,
            "sizes": self.sizes,
            "labels": self.labels,
            "samples": study.samples,
            "proportions": self.proportions[picked],
        }


def check_neighbourhood(n_neighbors: Any, metric: Metric) -> Neighbourhood:
    """Check the numbers of neighbours and the distance."""
    several = [n_neighbors] if np.ndim(n_neighbors) == 0 else list(n_neighbors)
    if isinstance(n_neighbors, str) or not several:
        raise ParameterError(
            f"n_neighbors must be a positive integer, or several; got {n_neighbors!r}.", parameter="n_neighbors"
        )
    plain = [j.item() if isinstance(j, np.ndarray) else j for j in several]
    js = tuple(check_integer(j, "n_neighbors") for j in plain)
    check_metric(metric)
    return Neighbourhood(js, metric)


def proportions_of(partition: Partition, nearest: IntArray, js: Sequence[int]) -> FloatArray:
    """Return the share of each cluster's points with all j nearest in it, (n_j, k); NaN for an empty cluster."""
    sizes = np.bincount(partition.codes, minlength=partition.n_labels)
    same = partition.codes[nearest] == partition.codes[:, None]
    inside = [np.bincount(partition.codes, same[:, :j].all(axis=1), minlength=partition.n_labels) for j in js]
    return np.where(sizes > 0, np.array(inside) / np.where(sizes > 0, sizes, 1), np.nan)


def judge(study: Study, partition: Partition, neighbourhood: Neighbourhood, noise: NoiseWithin) -> Judged:
    """Compute the proportions of a partition of the study as it is."""
    rows, most = judged_rows(partition, noise), max(neighbourhood.js)
    if most >= len(rows):
        apart = "" if RULES[noise].is_cluster else ", noise apart"
        raise ParameterError(
            f"n_neighbors must be below the number of samples, {len(rows)}{apart}, got {most}.", parameter="n_neighbors"
        )
    kept = _clusters_of(partition, rows, noise)
    X = study.X[rows]
    nearest = neighbours(X, most, neighbourhood.metric)
    return Judged(partition.labels, X, kept, nearest, proportions_of(kept, nearest, neighbourhood.js))


def _null(study: Study, judged: Judged, neighbourhood: Neighbourhood, n_null: int, root: int) -> FloatArray:
    """Return the proportions of random partitions, (n_null, n_j, k); NaN for a centre that no sample is nearest to.

    Kapp and Tibshirani (2007), section 2.2: centres uniform in the box of the centroids along the principal components.
    """
    partition, X = judged.partition, judged.X.astype(float)
    with one_thread():
        mean, axes = X.mean(axis=0), principal_axes(X)
        centroids = np.array([X[partition.codes == c].mean(axis=0) for c in np.unique(partition.codes)])
        scores = (centroids - mean) @ axes.T
        low, high = scores.min(axis=0), scores.max(axis=0)
        null = np.empty((n_null, len(neighbourhood.js), partition.n_labels))
        for b in range(n_null):
            rng = make_generator(seed_of(root, Stream.NULL, study.name, b + 1))
            centres = mean + rng.uniform(low, high, size=(partition.n_labels, len(low))) @ axes
            cells = Partition(assigned(X, centres, neighbourhood.metric), partition.classes)
            null[b] = proportions_of(cells, judged.nearest, neighbourhood.js)
    return null


def _null_clustered_again(
    question: Question, neighbourhood: Neighbourhood, n_null: int, noise: NoiseWithin
) -> FloatArray:
    """Return the proportions in simulated data without clusters, each clustered again, (n_null, n_j, most clusters)."""
    study, js = question.study, neighbourhood.js
    with one_thread():
        gaussian = GaussianModel.of([study.X.astype(float)])
    proportions = []
    for b in range(n_null):
        rng = make_generator(seed_of(question.root, Stream.NULL, study.name, b + 1))
        simulated = Study(gaussian.draw(rng)[0].astype(study.X.dtype), study.name, label=False)
        again = replace(question, study=simulated, root=root_entropy(rng))
        try:
            proportions.append(judge(simulated, partition_of(again, None), neighbourhood, noise).proportions)
        except (AllReplicatesFailed, ParameterError):  # the clusterer failed, or called nearly everything noise
            proportions.append(np.empty((len(js), 0)))
    null = np.full((n_null, len(js), max(1, *(values.shape[1] for values in proportions))), np.nan)
    for b, values in enumerate(proportions):
        null[b, :, : values.shape[1]] = values
    return null


def pvalues_of(proportions: FloatArray, null: FloatArray) -> FloatArray:
    """Compare each cluster with all null clusters: (1 + those at least as high) / (1 + their number), (n_j, k)."""
    pooled = null.transpose(1, 0, 2).reshape(len(proportions), -1)  # (n_j, n_null · k)
    known = ~np.isnan(pooled)
    at_least = [
        [np.count_nonzero(values[is_known] >= proportion) for proportion in row]
        for row, values, is_known in zip(proportions, pooled, known, strict=True)
    ]
    pvalues = null_pvalue(at_least, known.sum(axis=1, keepdims=True))
    return np.where(np.isnan(proportions), np.nan, pvalues)


# ---------------------------------------------------------------------------------------------------------------------
# The in-group proportion in perturbed copies of a study


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
    Proportions of the study as it is are often 1 for all clusters; noise distinguishes clusters with a density valley
    around them from those that touch their neighbours.

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
        **judged.fields(study, neighbourhood, picked),
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
        sample = self.setting.resample(0, number)
        k = self.reference.n_labels
        missing = np.full((len(js), k), np.nan)
        codes, is_noise = self.reference.codes, self.reference.is_noise
        drawn = sample.draw.weights > 0
        if not self.labels_travel:
            labelled = self.setting.learners[0].learn([sample])[0].labels(0, [sample.points])
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
