"""Section 2.3.2: the in-group proportion of Kapp and Tibshirani (2007), within a study and across studies."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement.contingency import Partition, encode
from clustrep.checks import check_integer
from clustrep.data.studies import Studies
from clustrep.data.study import Study, check_complete
from clustrep.errors import AllReplicatesFailed, ParameterError
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
from clustrep.fitting.resample import provenance_of_data
from clustrep.fitting.setting import Setting
from clustrep.null.gaussian import GaussianModel
from clustrep.resampling.gaussian import principal_axes
from clustrep.resampling.strategies import Rerun
from clustrep.stability.reclustering import Question, one_study
from clustrep.stability.results import CLUSTERED_AGAIN, NO_NULL, OWN_LABELS, RANDOM_CELLS, InGroupProportion
from clustrep.statistics import null_pvalue
from clustrep.types import FloatArray, IntArray


def in_group_proportion(
    X: Any,
    labels: ArrayLike | None = None,
    *,
    clusterer: Clusterer = None,
    train: Any = None,
    n_neighbors: int | Sequence[int] = 1,
    metric: Metric = "euclidean",
    n_null: int = 0,
    rng: Rng = None,
) -> InGroupProportion:
    """Measure for every cluster the share of its samples whose nearest neighbours belong to it, too (section 2.3.2).

    With N_j(x) the j nearest other samples of x, and the samples C of a cluster::

        IGP(C) = #{x in C : all of N_j(x) in C} / #C

    Parameters
    ----------
    X : Study or array-like of shape (n_samples, n_features)
        The study whose clusters are judged.
    labels : array-like of shape (n_samples,), or True, default=None
        Existing clusters of `X`, or of `train` where that is given. True takes the study's.
    clusterer : object with `fit_predict`, or function X → labels, default=None
        Instead of labels: clusters `X`, or learns from `train`.
    train : Study or array-like of shape (n_train, n_features), default=None
        Another study, whose clustering function labels `X`: the cross-study form, on the features that both have. Known
        labels of it are carried over by the nearest sample. A cluster without a sample in `X` has size 0 and no
        proportion.
    n_neighbors : int or several, default=1
        All of a sample's j nearest neighbours must belong to its cluster; several j give a row for each.
    metric : str or function, default="euclidean"
        Distance, as in `scipy.spatial.distance.cdist`. Of neighbours at the same distance the lower row counts.
    n_null : int, default=0
        Number of null partitions for p-values. Where a `clusterer` finds the clusters in `X`, null data like `X` are
        simulated (Gaussian, with its covariance as far as that differs from sampling noise) and clustered again. Else
        as many centres as there are clusters are drawn uniformly in the box of the clusters' centres along the
        principal components of `X`, and every sample goes to the nearest one.
    rng : int, Generator, SeedSequence or None, default=None
        Seed of the clusterer and of the random partitions.

    Returns
    -------
    InGroupProportion
        `proportions` and `pvalues`, of shape (k,), or (n_j, k) for several `n_neighbors`. `labels` of `X` itself have
        no p-values, but `exceeding` alone.

    See Also
    --------
    prediction_strength : Also predicts one part of the data from another, by pairs of samples.

    Notes
    -----
    Answers whether clusters that were found in one study are clusters in another (`train`). The
    proportion is near 1 for nearly any partition with smooth borders, whether or not the data have clusters: judge it
    by its p-value, or by several `n_neighbors`, which make it stricter. p-values are (1 + number of null clusters with
    at least this proportion) / (1 + number of null clusters). Random partitions that happen to keep whole clusters have
    proportion 1, so that p-values are rarely small even for good clusters of another study.

    Clusters that were computed from `X` itself have higher proportions than random partitions, without any structure:
    Ward's in 41 % of clusters of 60 × 20 at a nominal 5 %. So with a `clusterer` null data are clustered again, and for
    `labels` of `X`, of which the origin is not known, the share of random partitions that exceed them is no p-value.
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
        training = one_study(train, "train")
        if training.name == study.name and training is not study:
            raise ParameterError(
                f"X and train are different studies with the same name {study.name!r}: rename one.", parameter="train"
            )
        both = Studies({training.name: training, study.name: study})  # with the features that they share
        study, training = both[study.name], both[training.name]
    check_complete([study] if training is None else [study, training])
    numbers = np.atleast_1d(np.asarray(n_neighbors, dtype=object)).tolist()
    js = tuple(check_integer(j, "n_neighbors") for j in numbers)
    if not js:
        raise ParameterError("n_neighbors must be a positive integer, or several; got none.", parameter="n_neighbors")
    check_metric(metric)
    check_integer(n_null, "n_null", at_least=0)
    question = Question.of(clusterer, study if training is None else training, None, labels, rng, labels_suffice=True)
    judged = judge(study, _partition_of(question, study), js, metric)
    null, exceeding, compared_with = None, None, NO_NULL
    picked = 0 if np.ndim(n_neighbors) == 0 else slice(None)
    if n_null:
        if clusterer is not None and training is None:
            null, compared_with = _null_clustered_again(question, js, metric, n_null), CLUSTERED_AGAIN
        else:
            null = _null_of_random_cells(study, judged, js, metric, n_null, question.root)
            compared_with = RANDOM_CELLS if training is not None else OWN_LABELS
        # Each cluster is compared with all null clusters; NaN is never as high.
        pooled = null.transpose(1, 0, 2).reshape(len(js), 1, -1)  # (n_j, 1, n_null · k)
        at_least = np.count_nonzero(pooled >= judged.proportions[:, :, None], axis=2)
        pvalues = null_pvalue(at_least, np.count_nonzero(~np.isnan(pooled), axis=2))
        exceeding = np.where(np.isnan(judged.proportions), np.nan, pvalues)[picked]
    return InGroupProportion(
        n_neighbors=js,
        clusters=judged.partition.classes,
        sizes=judged.sizes,
        labels=judged.partition.labels,
        samples=study.samples,
        proportions=judged.proportions[picked],
        exceeding=exceeding,
        pvalues_are=compared_with,
        null_distribution=null,
        provenance=provenance_of_data(
            question.root,
            [study] if training is None else [training, study],
            question.configurations,
            n_neighbors=list(js),
            metric=describe(metric),
            n_null=n_null,
            train=None if training is None else training.name,
        ),
    )


# ---------------------------------------------------------------------------------------------------------------------
# whose labels


def _partition_of(question: Question, study: Study) -> Partition:
    """Ψ(X; X), or Ψ(X; train): with all clusters that the function gives, also those without a sample in X."""
    training = question.study
    if training is study:
        return encode([question.references[0].labels])[0]
    setting = Setting.prepare(question.source(Rerun()), (training,), question.configurations, at=study.X, for_run=False)
    assert setting.at is not None
    with one_thread():
        (fit,) = setting.learners[0].learn([setting.resample(0, FULL_STUDY)])
        labelled = fit.labels(0, [setting.places[0], setting.at])
    if isinstance(labelled, Failed):
        raise AllReplicatesFailed(f"The clusterer failed on study {training.name!r}: {labelled.cause}.")
    return encode([labelled.at(0).labels, labelled.at(1).labels])[1]


# ---------------------------------------------------------------------------------------------------------------------
# proportions


class Judged(NamedTuple):
    """The clusters of a study, and their proportions.

    Attributes
    ----------
    partition : Partition
        The clusters.
    nearest : ndarray of int, shape (n_samples, n_neighbors)
        Every sample's nearest neighbours.
    proportions : ndarray of shape (n_j, k)
        For each number of neighbours and cluster.
    """

    partition: Partition
    nearest: IntArray
    proportions: FloatArray

    @property
    def sizes(self) -> IntArray:
        """The clusters' numbers of samples, (k,)."""
        return np.bincount(self.partition.codes, minlength=self.partition.n_labels)


def proportions_of(partition: Partition, nearest: IntArray, js: Sequence[int]) -> FloatArray:
    """Return the share of each cluster's samples with all j nearest in it, (n_j, k); NaN for an empty cluster."""
    sizes = np.bincount(partition.codes, minlength=partition.n_labels)
    same = partition.codes[nearest] == partition.codes[:, None]
    inside = [np.bincount(partition.codes, same[:, :j].all(axis=1), minlength=partition.n_labels) for j in js]
    return np.where(sizes > 0, np.array(inside) / np.where(sizes > 0, sizes, 1), np.nan)


def judge(study: Study, partition: Partition, js: tuple[int, ...] = (1,), metric: Metric = "euclidean") -> Judged:
    """Compute the proportions of a partition of the study.

    Parameters
    ----------
    study : Study
        The study.
    partition : Partition
        Its clusters.
    js : tuple of int, default=(1,)
        How many nearest neighbours must belong to a sample's cluster.
    metric : str or function, default="euclidean"
        Any of `scipy.spatial.distance.cdist`.

    Returns
    -------
    Judged
    """
    if max(js) >= len(study):
        raise ParameterError(
            f"n_neighbors must be below the number of samples, {len(study)}, got {max(js)}.", parameter="n_neighbors"
        )
    nearest = neighbours(study.X, max(js), metric)
    return Judged(partition, nearest, proportions_of(partition, nearest, js))


# ---------------------------------------------------------------------------------------------------------------------
# null distributions


def _null_of_random_cells(
    study: Study, judged: Judged, js: tuple[int, ...], metric: Metric, n_null: int, root: int
) -> FloatArray:
    """Return the proportions of random partitions, (n_null, n_j, k); NaN for a centre that no sample is nearest to.

    Kapp and Tibshirani (2007), section 2.2: centres uniform in the box of the centroids along the principal components.
    """
    partition, X = judged.partition, study.X.astype(float)
    with one_thread():
        mean, axes = X.mean(axis=0), principal_axes(X)
        centroids = np.array([X[partition.codes == c].mean(axis=0) for c in np.unique(partition.codes)])
        scores = (centroids - mean) @ axes.T
        low, high = scores.min(axis=0), scores.max(axis=0)
        null = np.empty((n_null, len(js), partition.n_labels))
        for b in range(n_null):
            rng = make_generator(seed_of(root, Stream.NULL, study.name, b + 1))
            centres = mean + rng.uniform(low, high, size=(partition.n_labels, len(low))) @ axes
            cells = Partition(assigned(X, centres, metric), partition.classes)
            null[b] = proportions_of(cells, judged.nearest, js)
    return null


def _null_clustered_again(question: Question, js: tuple[int, ...], metric: Metric, n_null: int) -> FloatArray:
    """Return the proportions in simulated null data, each clustered again, (n_null, n_j, most clusters)."""
    study = question.study
    with one_thread():
        gaussian = GaussianModel.of([study.X.astype(float)])
    proportions: dict[int, FloatArray] = {}
    for b in range(n_null):
        rng = make_generator(seed_of(question.root, Stream.NULL, study.name, b + 1))
        simulated = Study(gaussian.draw(rng)[0].astype(study.X.dtype), study.name, label=False)
        again = replace(question, study=simulated, root=root_entropy(rng))
        # The clusterer may fail, or call nearly everything noise.
        with contextlib.suppress(AllReplicatesFailed, ParameterError):
            proportions[b] = judge(simulated, _partition_of(again, simulated), js, metric).proportions
    null = np.full((n_null, len(js), max((values.shape[1] for values in proportions.values()), default=1)), np.nan)
    for b, values in proportions.items():
        null[b, :, : values.shape[1]] = values
    return null
