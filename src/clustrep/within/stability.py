"""Section 2.2: perturb, recluster, compare, for the whole partition and for every cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from clustrep.checks import check_choice, check_flag, check_integer, check_positive
from clustrep.clustering.parameters import Clusterer
from clustrep.engine.replicates import Rng
from clustrep.errors import DataError, ParameterError
from clustrep.resampling import Bootstrap, FeatureSubset, Jitter, Perturbation, Subsample, check_perturbation
from clustrep.results.cluster_stability import Sensitivity, Stability
from clustrep.sentences import argument
from clustrep.tables.cluster_indices import (
    d_index_of,
    inclusion_of,
    jaccard_of,
    matching_distances_of,
    pairs_of,
    r_index_of,
)
from clustrep.tables.contingency import Partition
from clustrep.tables.noise import NOISE
from clustrep.types import BoolArray, FloatArray, IntArray
from clustrep.within.question import Noise, Question, check_noise
from clustrep.within.reclustering import Relabelled, read_tables, recluster

Reader: TypeAlias = Callable[[FloatArray, FloatArray, bool], FloatArray]  # of tables, sizes, whether relative

DEFAULTS: Mapping[str, Perturbation] = MappingProxyType(
    {
        "matching": Subsample(0.8),
        "inclusion": FeatureSubset(0.8),
        "jaccard": Bootstrap(distinct=True),
        "r": Jitter(),
        "d": Jitter(),
    }
)

SCALES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


def stability(
    clusterer: Clusterer,
    X: Any,
    *,
    index: str = "jaccard",
    perturbation: Perturbation | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 100,
    relative: bool = False,
    noise: Noise = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
) -> Stability:
    """Measure how well the clusters of one study are found again in perturbed copies of it (section 2.2).

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted to the study as it is, which gives the clusters in question, and to every perturbed copy.
    X : Study or table
        Samples by features.
    index : {"jaccard", "matching", "inclusion", "r", "d"}
        Hennig's Jaccard coefficient; the minimal matching distance, equation (3); Smolkin and Ghosh's inclusion;
        McShane's R and D index. "matching" has one value for the whole partition and compares all samples, through the
        clustering function; the others have one for every cluster and compare the samples drawn, each once.
    perturbation : Bootstrap, Subsample, FeatureSubset, Jitter, Rerun, or a sum such as Subsample(0.8) + Jitter(0.1)
        By default the one that each index was proposed with: Bootstrap(distinct=True) for "jaccard", Subsample(0.8) for
        "matching", FeatureSubset(0.8) for "inclusion", Jitter() for "r" and "d".
    labels : array_like, optional
        Existing clusters, in the place of those that the clusterer finds in the study as it is. True takes the study's.
    n_resamples : int
        Number of perturbed copies.
    relative : bool
        Divide "matching" by the number of samples, "d" by the size of each cluster.
    noise : {"label", "drop"}
        Samples labelled −1 form a cluster like any other, or are left out where either side calls them noise.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    Stability

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1], [9.2]])
    >>> result = stability(KMeans(3, n_init=5), X, perturbation=Subsample(0.9), n_resamples=20, rng=0)
    >>> result.per_cluster
    array([1., 1., 1.])
    """
    check_choice(index, "index", READERS)
    question = Question.of(clusterer, X, None, labels, rng, n_jobs)
    chosen = DEFAULTS[index] if perturbation is None else check_perturbation(perturbation)
    check_flag(relative, "relative")
    check_noise(noise)
    (relabelled,) = recluster(question, chosen, check_integer(n_resamples, "n_resamples"), "stability")
    result = stability_of(question, relabelled, chosen, index, relative=relative, noise=noise)
    result.failures.report("resample")
    return result


def sensitivity(
    clusterer: Clusterer,
    X: Any,
    *,
    index: str = "r",
    scales: Sequence[float] = SCALES,
    labels: ArrayLike | None = None,
    n_resamples: int = 100,
    relative: bool = False,
    noise: Noise = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
) -> Sensitivity:
    """Measure stability under more and more noise: a curve over the scale of `Jitter` (section 2.2.2).

    Parameters
    ----------
    clusterer, X, index, labels, relative, noise
        As in `stability`.
    scales : sequence of float
        Standard deviations of the noise, in units of each feature's own. Resample b has the same noise at all of them,
        larger or smaller.
    n_resamples : int
        Number of perturbed copies for each scale.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0, 0.0], [4.0, 0.0]], 20, axis=0)
    >>> curve = sensitivity(KMeans(2, n_init=2), X, scales=[0.01, 2], n_resamples=5, rng=0)
    >>> bool(curve.overall[0] > curve.overall[1])
    True
    """
    check_choice(index, "index", READERS)
    if isinstance(scales, str) or np.ndim(scales) != 1 or not len(scales):
        raise ParameterError(f"scales must be a sequence of numbers, at least one; got {scales!r}.", parameter="scales")
    checked = tuple(check_positive(scale, "scales") for scale in scales)
    if len(set(checked)) < len(checked):
        raise ParameterError(f"scales must hold every number once, got {list(checked)}.", parameter="scales")
    question = Question.of(clusterer, X, None, labels, rng, n_jobs)
    check_integer(n_resamples, "n_resamples")
    check_flag(relative, "relative")
    check_noise(noise)
    references, curve = None, []
    for scale in checked:
        (relabelled,) = recluster(
            question, Jitter(scale), n_resamples, f"stability, scale {scale:g}", references=references
        )
        assert relabelled.reference is not None
        references = [relabelled.reference]
        curve.append(stability_of(question, relabelled, Jitter(scale), index, relative=relative, noise=noise))
    result = Sensitivity.of(checked, curve)
    result.failures.report("resample")
    return result


def stability_of(
    question: Question,
    relabelled: Relabelled,
    perturbation: Perturbation,
    index: str,
    *,
    relative: bool = False,
    noise: Noise = "label",
) -> Stability:
    """Read one index off the labels of all resamples."""
    reference = relabelled.reference
    assert reference is not None
    rows = np.flatnonzero(_is_cluster(reference, noise))
    sizes = np.bincount(reference.codes, minlength=reference.n_labels)[rows]
    through_function = index == "matching"
    u, v = relabelled.against_reference(-1 if through_function else 0)
    weights = None if through_function else relabelled.weights[0] > 0
    if noise == "drop":
        if not rows.size:
            raise DataError(f"{argument('noise', 'drop')} leaves no cluster: the reference partition is all noise.")
        relabelled = relabelled.without_noise((u, v, weights))
    score = partial(_read, READERS[index], rows, sizes.astype(float), relative)
    values = relabelled.nan_where_failed(read_tables(score, u, v, weights, noise))
    configuration = relabelled.configuration
    return Stability(
        index=index,
        relative=relative,
        clusterer=configuration.name,
        n_clusters=configuration.n_clusters,
        samples=question.study.samples,
        labels=reference.labels,
        clusters=reference.classes[rows],
        sizes=sizes,
        distribution=values[:, -1] if through_function else values[:, :-1],
        overall_distribution=values[:, -1],
        failed=relabelled.failed,
        causes=relabelled.causes,
        provenance=question.provenance(perturbation, n_resamples=relabelled.n_replicates, noise=noise),
    )


def _is_cluster(reference: Partition, noise: Noise) -> BoolArray:
    return np.array([noise == "label" or label != NOISE for label in reference.classes.tolist()])


# ---------------------------------------------------------------------------------------------------------------------
# readers of tables: a value for every cluster, and in the last column one for all


def _read(reader: Reader, rows: IntArray, sizes: FloatArray, relative: bool, tables: FloatArray) -> FloatArray:
    return reader(tables[:, rows], sizes, relative)


def _matching(tables: FloatArray, sizes: FloatArray, relative: bool) -> FloatArray:
    return matching_distances_of(tables, relative=relative)[:, None]


def _inclusion(tables: FloatArray, sizes: FloatArray, relative: bool) -> FloatArray:
    return _with_average(inclusion_of(tables), sizes)


def _jaccard(tables: FloatArray, sizes: FloatArray, relative: bool) -> FloatArray:
    return _with_average(jaccard_of(tables), sizes)


def _r(tables: FloatArray, sizes: FloatArray, relative: bool) -> FloatArray:
    pairs, together = (counts.sum(axis=1) for counts in pairs_of(tables))
    pooled = np.where(pairs > 0, together / np.where(pairs > 0, pairs, 1), np.nan)
    return np.column_stack([r_index_of(tables), pooled])


def _d(tables: FloatArray, sizes: FloatArray, relative: bool) -> FloatArray:
    index, rows = d_index_of(tables), tables.sum(axis=2)
    total = np.where(rows > 0, index, 0).sum(axis=1)
    if not relative:
        return np.column_stack([index, total])
    return np.column_stack([index / np.where(rows > 0, rows, 1), total / np.maximum(rows.sum(axis=1), 1)])


def _with_average(values: FloatArray, sizes: FloatArray) -> FloatArray:
    """Add the average over clusters, by their sizes; those without a value don't count."""
    weights = np.where(np.isnan(values), 0, sizes)
    total = weights.sum(axis=1)
    average = (np.nan_to_num(values) * weights).sum(axis=1) / np.where(total > 0, total, 1)
    return np.column_stack([values, np.where(total > 0, average, np.nan)])


READERS: Mapping[str, Reader] = MappingProxyType(
    {"matching": _matching, "inclusion": _inclusion, "jaccard": _jaccard, "r": _r, "d": _d}
)
