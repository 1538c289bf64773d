"""Section 2.3.2: the in-group proportion of Kapp and Tibshirani (2007), within a study and across studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clustrep.across.gaussian_null import GaussianCollection
from clustrep.checks import check_integer
from clustrep.clustering.neighbours import Metric, assigned, neighbours
from clustrep.clustering.parameters import Clusterer, check_metric, describe
from clustrep.clustering.path import Setting
from clustrep.clustering.sample import Source, provenance_of_data
from clustrep.engine.replicates import (
    FULL_STUDY,
    Failed,
    Rng,
    Stream,
    make_generator,
    one_thread,
    root_entropy,
    seed_of,
)
from clustrep.errors import AllReplicatesFailed, ParameterError
from clustrep.gaussian import principal_axes
from clustrep.resampling import Rerun
from clustrep.results.proportions import (
    CLUSTERED_AGAIN,
    NO_NULL,
    OWN_LABELS,
    RANDOM_CELLS,
    InGroupProportion,
)
from clustrep.studies.collection import Studies
from clustrep.studies.study import Study, check_complete
from clustrep.tables.contingency import Partition, encode
from clustrep.tables.noise import RULES, NoiseWithin, check_noise_within
from clustrep.types import FloatArray, IntArray, Labels
from clustrep.within.question import Question, labels_of, one_study
from clustrep.within.reclustering import references_of


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
        n_neighbors=neighbourhood.js,
        clusters=judged.partition.classes,
        sizes=judged.sizes,
        labels=judged.labels,
        samples=study.samples,
        proportions=judged.proportions[picked],
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
        labelled = setting.paths[0].learn([setting.sample(0, FULL_STUDY)])[0].labels(0, [setting.places[0], setting.at])
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
        gaussian = GaussianCollection.of([study.X.astype(float)])
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
    pvalues = (1 + np.array(at_least)) / (1 + known.sum(axis=1, keepdims=True))
    return np.where(np.isnan(proportions), np.nan, pvalues)
