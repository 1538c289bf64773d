"""Section 2.3.2: the in-group proportion of Kapp and Tibshirani (2006), within a study and across studies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustrep._engine import (
    FULL_STUDY,
    Execution,
    Failed,
    Rng,
    Stream,
    make_generator,
    one_thread,
    root_entropy,
    seed_of,
)
from clustrep._learning import Source
from clustrep._neighbours import Metric, assigned, neighbours
from clustrep._provenance import describe
from clustrep._reclustering import Question, Relabelled, labels_of, one_study, recluster, references_of
from clustrep._setting import Setting
from clustrep._types import FloatArray, IntArray
from clustrep._validation import check_integer
from clustrep.cluster_indices import matching_of
from clustrep.contingency import Partition, encode, tables_of
from clustrep.errors import AllReplicatesFailed, ParameterError
from clustrep.functions import Clusterer, check_metric
from clustrep.resampling import Perturbation, Rerun, check_perturbation
from clustrep.results.common import report_failed
from clustrep.results.in_group import InGroupProportion
from clustrep.studies import Studies
from clustrep.study import Study

TOO_FEW = "no more samples drawn than neighbours asked for"


def in_group_proportion(
    X: Any,
    labels: ArrayLike | None = None,
    *,
    clusterer: Clusterer = None,
    train: Any = None,
    n_neighbors: int | Sequence[int] = 1,
    metric: Metric = "euclidean",
    n_null: int = 0,
    perturbation: Perturbation | None = None,
    n_resamples: int = 100,
    rng: Rng = None,
    accelerate: bool = True,
    n_jobs: int | None = None,
    progress: bool | None = None,
    batch_size: int | None = None,
) -> InGroupProportion:
    """Measure for every cluster the share of its samples whose nearest neighbours belong to it, too (section 2.3.2).

    Parameters
    ----------
    X : Study or table
        The study whose clusters are judged.
    labels : array_like, optional
        Existing clusters of `X`, or of `train` where that is given. True takes the study's.
    clusterer : object with `fit_predict`, or function X → labels, optional
        Instead of labels: clusters `X`, or learns from `train`.
    train : Study or table, optional
        Another study, whose clustering function labels `X`: the cross-study form. Known labels of it are carried over
        by the nearest sample.
    n_neighbors : int or several
        All of a sample's j nearest neighbours must belong to its cluster; several j give a row for each.
    metric : str or function
        Distance, as in `scipy.spatial.distance.cdist`. Of neighbours at the same distance the lower row counts.
    n_null : int
        Number of random partitions for p-values; 0 for none. As many centres as there are clusters are drawn uniformly
        in the box of the clusters' own centres along the principal components of `X`, and every sample goes to the
        nearest one. Permuted labels would reject for any contiguous partition, structure or not.
    perturbation : Jitter, Subsample, Bootstrap, … or a sum, optional
        Also compute the proportions in perturbed copies of `X`. Labels travel with the samples; where a clusterer made
        them from `X` itself, every copy is clustered again, and its labels are matched one to one.
    n_resamples : int
        Number of perturbed copies.
    rng, accelerate, n_jobs, progress, batch_size
        As in `replicability`.

    Returns
    -------
    InGroupProportion

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [2.9], [4.0]]
    >>> in_group_proportion(X, [0, 0, 0, 1, 1]).proportions.round(3)
    array([0.667, 0.5  ])
    """
    study, training = one_study(X), None
    if train is not None:
        study, training = _aligned(study, train)
    js = _checked_js(n_neighbors, len(study))
    check_metric(metric)
    check_integer(n_null, "n_null", at_least=0)
    if perturbation is not None:
        check_perturbation(perturbation)
        check_integer(n_resamples, "n_resamples")
    root = root_entropy(rng)
    execution = Execution(n_jobs, progress, batch_size)
    question = _question(study, training, labels, clusterer, root, accelerate, execution)
    partition = question.reference if question.reference is not None else _learned(question, study)
    proportions = proportions_of(partition, neighbours(study.X, max(js), metric), js)
    pvalues = null = None
    if n_null:
        null = _null(study, partition, js, metric, n_null, root)
        pvalues = pvalues_of(proportions, null)
    distribution = failed = None
    causes: tuple[str, ...] = ()
    if perturbation is not None:
        (relabelled,) = recluster(question, perturbation, n_resamples, "in-group proportion", references=[partition])
        distribution, failed, causes = _perturbed(question, relabelled, perturbation, js, metric)
        report_failed(failed, causes, "resample")
    one = isinstance(n_neighbors, int | np.integer)
    sizes = np.bincount(partition.codes, minlength=partition.n_labels)
    return InGroupProportion(
        n_neighbors=js,
        clusters=partition.classes,
        sizes=sizes,
        labels=partition.labels,
        samples=study.samples,
        proportions=proportions[0] if one else proportions,
        pvalues=None if pvalues is None else pvalues[0] if one else pvalues,
        null_distribution=null,
        distribution=None if distribution is None else distribution[:, 0] if one else distribution,
        failed=np.zeros(0, dtype=np.int64) if failed is None else failed,
        causes=causes,
        provenance={
            **question.provenance(
                Rerun() if perturbation is None else perturbation,
                metric=describe(metric),
                n_null=n_null,
                train=None if training is None else training.name,
            ),
            "clusterers": ["known labels" if clusterer is None else describe(clusterer)],
            "labels": "known" if clusterer is None else "the clusterer's",
        },
    )


# ---------------------------------------------------------------------------------------------------------------------
# whose labels


def _question(
    study: Study,
    training: Study | None,
    labels: Any,
    clusterer: Clusterer,
    root: int,
    accelerate: bool,
    execution: Execution,
) -> Question:
    if (labels is None) == (clusterer is None):
        raise ParameterError("Pass either labels or a clusterer: one of them says which clusters are judged.")
    if training is not None:
        known = None if labels is None else labels_of(labels, training)
        learned = Question.of(clusterer, training, None, known, root, accelerate, execution, labels_suffice=True)
        labels, clusterer = _learned(learned, study).labels, None
    return Question.of(clusterer, study, None, labels, root, accelerate, execution, labels_suffice=True)


def _learned(question: Question, study: Study) -> Partition:
    """Ψ(study; the question's study): only the clusters that have samples there."""
    if study is question.study:
        (reference,) = references_of(question, question.setting(Rerun()))
        return encode([reference.labels])[0]
    source = Source(Rerun(), question.root, question.accelerate)
    setting = Setting.prepare(source, (question.study,), question.configurations, at=study.X, for_run=False)
    assert setting.at is not None
    with one_thread():
        labelled = setting.paths[0].learn(setting.sample(0, FULL_STUDY)).labels(0, [setting.at])
    if isinstance(labelled, Failed):
        raise AllReplicatesFailed(f"The clusterer failed on study {question.study.name!r}: {labelled.cause}.")
    return encode([labelled.at(0).labels])[0]


def _aligned(study: Study, train: Any) -> tuple[Study, Study]:
    """Take both studies with the features that they share."""
    training = one_study(train, "train")
    if training.name == study.name and training is not study:
        raise ParameterError(f"X and train are different studies with the same name {study.name!r}: rename one.")
    both = Studies({training.name: training, study.name: study})
    return both[study.name], both[training.name]


# ---------------------------------------------------------------------------------------------------------------------
# proportions


def proportions_of(partition: Partition, nearest: IntArray, js: Sequence[int]) -> FloatArray:
    """Return the share of each cluster's points with all j nearest in it, (n_j, k); NaN for an empty cluster."""
    sizes = np.bincount(partition.codes, minlength=partition.n_labels)
    same = partition.codes[nearest] == partition.codes[:, None]
    inside = [np.bincount(partition.codes, same[:, :j].all(axis=1), minlength=partition.n_labels) for j in js]
    return np.where(sizes > 0, np.array(inside) / np.where(sizes > 0, sizes, 1), np.nan)


def _null(study: Study, partition: Partition, js: Sequence[int], metric: Metric, n_null: int, root: int) -> FloatArray:
    """Return the proportions of random partitions, (n_null, n_j, k); NaN for a centre that no sample is nearest to.

    Kapp & Tibshirani (2006), sec. 2.2: centres uniform in the box of the centroids along the principal components.
    """
    X = study.X.astype(float)
    mean = X.mean(axis=0)
    components = np.linalg.svd(X - mean, full_matrices=False)[2]  # (q, p)
    centroids = np.array([X[partition.codes == c].mean(axis=0) for c in range(partition.n_labels)])
    scores = (centroids - mean) @ components.T
    low, high = scores.min(axis=0), scores.max(axis=0)
    nearest = neighbours(study.X, max(js), metric)
    null = np.empty((n_null, len(js), partition.n_labels))
    for b in range(n_null):
        rng = make_generator(seed_of(root, Stream.NULL, study.name, b + 1))
        centres = mean + rng.uniform(low, high, size=scores.shape) @ components
        codes = assigned(X, centres, metric)
        null[b] = proportions_of(Partition(codes, partition.classes), nearest, js)
    return null


def pvalues_of(proportions: FloatArray, null: FloatArray) -> FloatArray:
    """Compare each cluster with all null clusters: (1 + those at least as high) / (1 + their number), (n_j, k)."""
    pooled = null.transpose(1, 0, 2).reshape(len(proportions), -1)  # (n_j, n_null · k)
    known = ~np.isnan(pooled)
    at_least = [
        [np.count_nonzero(values[there] >= own) for own in row]
        for row, values, there in zip(proportions, pooled, known, strict=True)
    ]
    return np.asarray((1 + np.array(at_least)) / (1 + known.sum(axis=1, keepdims=True)))


def _perturbed(
    question: Question, relabelled: Relabelled, perturbation: Perturbation, js: Sequence[int], metric: Metric
) -> tuple[FloatArray, IntArray, tuple[str, ...]]:
    """Return the proportions in every perturbed copy, among its distinct rows, (n_resamples, n_j, k), and failures."""
    reference = relabelled.reference
    assert reference is not None
    source = Source(perturbation, question.root, question.accelerate)
    values = np.full((relabelled.n_replicates, len(js), reference.n_labels), np.nan)
    failed, causes = relabelled.failed.copy(), (*relabelled.causes, TOO_FEW)
    for b in range(relabelled.n_replicates):
        draw = source.draw(question.study, b + 1)
        rows = np.flatnonzero(draw.weights)
        if failed[b]:
            continue
        if len(rows) <= max(js):
            failed[b] = len(causes)
            continue
        codes = reference.codes[rows]
        if question.labels is None:
            codes = _matched(relabelled, b, rows, codes)
        most = int(max(codes.max(), reference.n_labels - 1)) + 1
        nearest = neighbours(draw.points[rows], max(js), metric)
        values[b] = proportions_of(Partition(codes, np.arange(most)), nearest, js)[:, : reference.n_labels]
    return values, failed, causes


def _matched(relabelled: Relabelled, b: int, rows: IntArray, reference: IntArray) -> IntArray:
    """Rename the clusters of one copy after those of the study; one without a partner gets a number beyond them."""
    assert relabelled.reference is not None
    labelings, k = relabelled.labelings[0], relabelled.reference.n_labels
    codes = labelings.codes[b][rows].astype(np.int64)
    table = tables_of(codes[None], reference.astype(np.int64), None, (labelings.n_labels, k))[0]
    partners = k + np.arange(labelings.n_labels)
    new, old = matching_of(table)
    partners[new] = old
    return np.asarray(partners[codes])


def _checked_js(n_neighbors: Any, n: int) -> tuple[int, ...]:
    several = n_neighbors if isinstance(n_neighbors, Sequence | range | np.ndarray) else [n_neighbors]
    if isinstance(several, str) or not len(several):
        raise ParameterError(f"n_neighbors must be a positive integer, or several; got {n_neighbors!r}.")
    js = tuple(check_integer(j, "n_neighbors") for j in several)
    if max(js) >= n:
        raise ParameterError(f"n_neighbors must be below the number of samples, {n}, got {max(js)}.")
    return js
