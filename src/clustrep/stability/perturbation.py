"""Section 2.2: perturb, recluster, compare, for the whole partition and for every cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import (
    INDICES,
    Fits,
    d_index_of,
    inclusion_of,
    jaccard_of,
    matching_distances_of,
    pairs_of,
    r_index_of,
)
from clustrep.checks import check_choice, check_flag, check_positive
from clustrep.errors import ParameterError
from clustrep.execution.failures import Failures
from clustrep.execution.seeds import Rng
from clustrep.fitting.parameters import Clusterer
from clustrep.resampling.strategies import Jitter, Perturbation
from clustrep.stability.reclustering import Labelings, Question, Reclustered, recluster
from clustrep.stability.results import Sensitivity, Stability
from clustrep.types import FloatArray

# From noise that changes next to nothing to as much noise as there is signal, in standard deviations of a feature.
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
    rng: Rng = None,
    n_jobs: int | None = None,
) -> Stability:
    """Measure how well the clusters of one study are found again in resamples of it (section 2.2).

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted to the whole study, which gives the reference partition, and to every resample.
    X : Study or array-like of shape (n_samples, n_features)
        The study.
    index : {"jaccard", "matching", "inclusion", "r", "d"}, default="jaccard"
        Hennig's Jaccard coefficient; the minimal matching distance, equation (3); Smolkin and Ghosh's inclusion;
        McShane's R and D index. "matching" has one value for the whole partition and compares all samples, through the
        clustering function; the others have one for every cluster and compare the samples drawn, each once.
    perturbation : Bootstrap, Subsample, FeatureSubset, Jitter, Rerun, or a sum such as Subsample(0.8) + Jitter(0.1)
        Where resamples come from. By default the one that each index was proposed with: Bootstrap(distinct=True) for
        "jaccard", Subsample(0.8) for "matching", FeatureSubset(0.8) for "inclusion", Jitter() for "r" and "d".
    labels : array-like of shape (n_samples,), or True, default=None
        An existing partition as the reference, instead of the clusterer's. True takes the study's known labels.
    n_resamples : int, default=100
        Number of resamples.
    relative : bool, default=False
        Divide "matching" by the number of samples, "d" by the size of each cluster.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    Stability
        `per_cluster`, of shape (k,), and `overall`, means over resamples; the whole `distribution`.

    See Also
    --------
    sensitivity : The same under more and more noise.
    jaccard, inclusion, r_index, d_index, minimal_matching_distance : The formulas, for two labelings.
    replicability : Whether clusters are found again in other studies.
    validate : All indices side by side.

    Notes
    -----
    Every resample b is clustered again. With C the contingency table of the reference partition (rows) and the new one
    (columns), row sums C_i. and column sums C_.j, the index of cluster i is::

        jaccard    max_j C_ij / (C_i. + C_.j − C_ij)
        inclusion  1 if C_ij = C_i. for some j, else 0
        r          Σ_j C_ij (C_ij − 1) / (C_i. (C_i. − 1))
        d          C_i. + C_.j − 2 C_ij, for the j with the largest C_ij
        matching   n − max_π Σ_i C_iπ(i), over one-to-one matchings π, for the whole partition

    Over all clusters, "r" pools pairs, "d" is summed (relative: divided by
    the number of samples), "inclusion" and "jaccard" are averaged by size.

    A stable cluster need not be a separated one: a clusterer can divide unimodal data at the same place every time, and
    few, large clusters are stable more easily than many. Values depend strongly on the perturbation, those of "r"
    and "d" on the noise's scale: see `sensitivity`. Values within one study do not extend to other studies, which
    differ by more than resampling does.

    References
    ----------
    .. [1] Hennig, C. (2007). Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis
       52, 258-271.
    .. [2] Smolkin, M. and Ghosh, D. (2003). Cluster stability scores for microarray data in cancer studies. BMC
       Bioinformatics 4, 36.
    .. [3] McShane, L. M. et al. (2002). Methods for assessing reproducibility of clustering patterns observed in
       analyses of microarray data. Bioinformatics 18, 1462-1469.
    .. [4] von Luxburg, U. (2010). Clustering stability: an overview. Foundations and Trends in Machine Learning 2,
       235-274.

    Examples
    --------
    >>> import numpy as np
    >>> from clustrep.resampling import Subsample
    >>> from sklearn.cluster import KMeans
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1], [9.2]])
    >>> result = stability(KMeans(3, n_init=5), X, perturbation=Subsample(0.9), n_resamples=20, rng=0)
    >>> result.per_cluster
    array([1., 1., 1.])
    """
    check_choice(index, "index", READERS)
    check_flag(relative, "relative")
    question = Question.of(clusterer, X, None, labels, rng, n_jobs)
    again = recluster(question, INDICES[index].fits, n_resamples, perturbation)
    result = stability_of(again, 0, index, relative=relative)
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
    rng: Rng = None,
    n_jobs: int | None = None,
) -> Sensitivity:
    """Measure stability under more and more noise: a curve over the scale of `Jitter` (section 2.2.2).

    Parameters
    ----------
    clusterer, X, index, labels, relative, noise
        As in `stability`.
    scales : sequence of float, default=(0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
        Standard deviations of the noise, in units of each feature's own. Resample b has the same noise at all of them,
        larger or smaller.
    n_resamples : int, default=100
        Number of resamples for each scale.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    Sensitivity
        `per_cluster`, of shape (n_scales, k), and `overall`, of shape (n_scales,); the whole `distribution`.

    See Also
    --------
    stability : At one scale, or under other perturbations.

    Notes
    -----
    An index at one scale of noise is hard to interpret, because any cluster is lost under enough of it. Clusters are
    better compared by the scale at which their curves fall: those with a density valley around them are stable up to
    larger noise. Noise in units of the standard deviation is the same for all features, whether or not they carry the
    clusters; with many features, small noise in each adds up.

    References
    ----------
    .. [1] McShane, L. M. et al. (2002). Methods for assessing reproducibility of clustering patterns observed in
       analyses of microarray data. Bioinformatics 18, 1462-1469.

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
    check_flag(relative, "relative")
    question = Question.of(clusterer, X, None, labels, rng, n_jobs)
    by_scale = [recluster(question, Fits.JITTER, n_resamples, Jitter(scale)) for scale in checked]
    curve = [stability_of(again, 0, index, relative=relative) for again in by_scale]
    failed, causes = Failures.number(
        np.array([[("", *each.causes)[i] for i in each.failed] for each in curve], dtype=object).T
    )
    changed = {
        "scales": np.array(checked),
        "distribution": np.stack([each.distribution for each in curve], axis=1),
        "overall_distribution": np.stack([each.overall_distribution for each in curve], axis=1),
        "failed": failed,
        "causes": causes,
        "provenance": replace(curve[0].provenance, resampling=f"Jitter(scale) for {len(curve)} scales"),
    }
    result = Sensitivity(**{**vars(curve[0]), **changed})
    result.failures.report("resample")
    return result


def stability_of(again: Reclustered, c: int, index: str, *, relative: bool) -> Stability:
    """Compute one index of one configuration from the labels of all resamples.

    Parameters
    ----------
    again : Reclustered
        The labels of all resamples.
    c : int
        Which configuration.
    index : {"matching", "inclusion", "jaccard", "r", "d"}
        The index.
    relative : bool
        Whether counts are divided by numbers of samples.

    Returns
    -------
    Stability
    """
    question = again.question
    reference, configuration = question.references[c], question.configurations[c]
    sizes = np.bincount(reference.codes, minlength=reference.n_labels)
    # An index of whole partitions compares them on all samples, through the clustering functions.
    whole = not INDICES[index].per_cluster
    repeated = Labelings.of([reference] * again.n_resamples, len(question.study))
    ((values,),) = replace(again, fits=(again.fits[c],)).compared(
        lambda tables: READERS[index](tables, sizes.astype(float), relative),
        lambda fit: [(repeated, fit.labelings[-1 if whole else 0], None if whole else fit.weights[0] > 0)],
    )
    return Stability(
        index=index,
        relative=relative,
        clusterer=configuration.name,
        n_clusters=configuration.n_clusters,
        samples=question.study.samples,
        labels=reference.labels,
        clusters=reference.classes,
        sizes=sizes,
        distribution=values[:, -1] if whole else values[:, :-1],
        overall_distribution=values[:, -1],
        failed=again.fits[c].failed,
        causes=again.fits[c].causes,
        provenance=question.provenance(again.perturbation, n_resamples=again.n_resamples),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Indices that are read from contingency tables: a value for every cluster, and in the last column one for all.
#
# The tables, (n_tables, k_u, k_v), have the clusters of the reference partition as rows. A reader takes them with the
# clusters' sizes in the study, (k_u,), and whether counts are divided by the number of samples.


Reader: TypeAlias = Callable[[FloatArray, FloatArray, bool], FloatArray]


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


def with_average(values: FloatArray, sizes: FloatArray) -> FloatArray:
    """Add the average over clusters, weighted by their sizes; clusters without a value are omitted."""
    weights = np.where(np.isnan(values), 0, sizes)
    total = weights.sum(axis=1)
    average = (np.nan_to_num(values) * weights).sum(axis=1) / np.where(total > 0, total, 1)
    return np.column_stack([values, np.where(total > 0, average, np.nan)])


READERS: dict[str, Reader] = {
    "matching": lambda tables, sizes, relative: matching_distances_of(tables, relative=relative)[:, None],
    "inclusion": lambda tables, sizes, relative: with_average(inclusion_of(tables), sizes),
    "jaccard": lambda tables, sizes, relative: with_average(jaccard_of(tables), sizes),
    "r": _r,
    "d": _d,
}
