"""Pairs of samples, and single ones, over all resamples: instability, consensus, assignment consistency."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import Fits, partners_of
from clustrep.agreement.contingency import tables_of
from clustrep.checks import check_flag, check_integer
from clustrep.execution.seeds import Rng, Stream, breathe, make_generator, seed_of
from clustrep.fitting.parameters import Clusterer
from clustrep.resampling.strategies import Perturbation
from clustrep.stability.reclustering import Question, Reclustered, Relabelled, recluster
from clustrep.stability.results import (
    AssignmentConsistency,
    BootstrapInstability,
    Consensus,
    all_pairs,
    by_point,
    together_of,
)
from clustrep.types import FloatArray, IntArray

# Up to this number all pairs are counted, which takes about 0.1 s for each k and 100 resamples; beyond it a sample,
# whose shares have a standard error of at most 0.0005.
MOST_PAIRS, SAMPLE_OF_PAIRS = 5_000_000, 1_000_000


def bootstrap_instability(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    n_resamples: int = 100,
    one_sided: bool = False,
    perturbation: Perturbation | None = None,
    labels: ArrayLike | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
) -> BootstrapInstability:
    """Measure how often the clustering functions of two bootstrap samples disagree about a pair (Fang and Wang 2012).

    With n_ij samples in cluster i of the first function and j of the second, and sizes n_i and m_j, the share of
    ordered pairs of samples that one function puts together and the other apart, averaged over resamples::

        instability(k) = (Σ_i n_i² + Σ_j m_j² − 2 Σ_ij n_ij²) / n²

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted to both samples; both functions are applied to the whole study. None with `labels`.
    X : Study or array-like of shape (n_samples, n_features)
        The study.
    n_clusters : int or several, default=None
        Numbers of clusters to try, from 2; the one with the lowest instability is Fang and Wang's choice. None: the
        clusterer's own.
    n_resamples : int, default=100
        Number of pairs of bootstrap samples.
    one_sided : bool, default=False
        Count only pairs that the first function puts together and the second apart, as R's fpc does.
    perturbation : Bootstrap, Subsample, Jitter, … or a sum, default=Bootstrap()
        Where the two resamples come from.
    labels : array-like of shape (n_samples,), or True, default=None
        Existing clusters instead of a clusterer: each sample gets the label of the nearest one drawn.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    BootstrapInstability
        `mean` over resamples for every k, of shape (number of k,); `best_n_clusters`, the k with the lowest.

    See Also
    --------
    consensus : How often pairs are together, pair by pair.
    prediction_strength : Favours few clusters, where this favours many.

    Notes
    -----
    Meant for the number of clusters. Not adjusted for chance: with many clusters most pairs are apart under any two
    functions, so that the value falls with k, and on unimodal data the largest k wins. Read it together with
    an index that favours few clusters.

    References
    ----------
    .. [1] Fang, Y. and Wang, J. (2012). Selection of the number of clusters via the bootstrap method. Computational
       Statistics & Data Analysis 56, 468-477.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0], [5.0]], 10, axis=0) + np.tile(np.linspace(0, 1, 10), 2)[:, None]
    >>> bootstrap_instability(KMeans(2, n_init=5), X, n_resamples=5, rng=0).mean
    array([0.])
    """
    check_flag(one_sided, "one_sided")
    question = Question.of(clusterer, X, n_clusters, labels, rng, n_jobs, labels_suffice=True)
    result = instability_of(recluster(question, Fits.PAIRS, n_resamples, perturbation), one_sided=one_sided)
    result.failures.report("fit")
    return result


def instability_of(again: Reclustered, *, one_sided: bool = False) -> BootstrapInstability:
    """Compute the instability of every k from pairs of labelings."""
    score = _one_sided if one_sided else _symmetric
    values = again.compared(score, lambda fitted: [(fitted.labelings[0], fitted.labelings[1], None)])
    return BootstrapInstability(
        **again.fields(n_resamples=again.n_resamples, one_sided=one_sided),
        distribution=np.stack([of_k for (of_k,) in values], axis=1),
        one_sided=one_sided,
    )


def _one_sided(tables: FloatArray) -> FloatArray:
    """Ordered pairs together in the first partition and apart in the second, by n²."""
    apart = (tables.sum(axis=2) ** 2).sum(axis=1) - (tables**2).sum(axis=(1, 2))
    return np.asarray(apart / np.maximum(tables.sum(axis=(1, 2)), 1) ** 2)


def _symmetric(tables: FloatArray) -> FloatArray:
    return _one_sided(tables) + _one_sided(tables.transpose(0, 2, 1))


# ---------------------------------------------------------------------------------------------------------------------
# consensus


def consensus(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    n_resamples: int = 100,
    perturbation: Perturbation | None = None,
    n_pairs: int | None = None,
    labels: ArrayLike | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
) -> Consensus:
    """Count how often two samples share a cluster, of the times that both are drawn (Monti et al. 2003).

    For samples i and j, over the resamples that both are in::

        M_ij = #{resamples with i and j in the same cluster} / #{resamples with i and j}
        PAC = P(0.1 < M_ij ≤ 0.9) over all pairs

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted to the whole study and to every resample.
    X : Study or array-like of shape (n_samples, n_features)
        The study.
    n_clusters : int or several, default=None
        Numbers of clusters to try, from 2. None: the clusterer's own.
    n_resamples : int, default=100
        Number of resamples.
    perturbation : Subsample, Bootstrap, FeatureSubset, Jitter, … or a sum, default=Subsample(0.8)
        Where the resamples come from.
    n_pairs : int, default=None
        Count only this number of random pairs, drawn with replacement. None: all of them up to five million (3,162
        samples), beyond that a million; the matrix is never held as a whole.
    labels : array-like of shape (n_samples,), or True, default=None
        Existing clusters to average the consensus in, instead of the clusterer's.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    Consensus
        `pac()` for every k, `cluster_consensus` of shape (number of k, most clusters), `cdf`, and any part of the
        `matrix`.

    See Also
    --------
    assignment_consistency : Follows samples, not pairs.
    bootstrap_instability : One number per pair of resamples.

    Notes
    -----
    Consensus near 0 or 1 for all pairs means that the clusterer returns the same clusters every time, not that the data
    have any: the matrix of unimodal data can look the same. PAC falls with k where most pairs are apart in any case,
    and so favours many clusters. The mean consensus within a cluster is high by selection: clusters consist of pairs
    that are together often.

    References
    ----------
    .. [1] Monti, S., Tamayo, P., Mesirov, J. and Golub, T. (2003). Consensus clustering: a resampling-based method for
       class discovery and visualization of gene expression microarray data. Machine Learning 52, 91-118.
    .. [2] Șenbabaoğlu, Y., Michailidis, G. and Li, J. Z. (2014). Critical limitations of consensus clustering in class
       discovery. Scientific Reports 4, 6207.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0], [5.0]], 10, axis=0) + np.tile(np.linspace(0, 1, 10), 2)[:, None]
    >>> result = consensus(KMeans(n_init=5), X, n_clusters=2, n_resamples=10, rng=0)
    >>> result.pac(), result.cluster_consensus
    (array([0.]), array([[1., 1.]]))
    """
    if n_pairs is not None:
        check_integer(n_pairs, "n_pairs")
    question = Question.of(clusterer, X, n_clusters, labels, rng, n_jobs)
    result = consensus_of(recluster(question, Fits.SUBSAMPLES, n_resamples, perturbation), n_pairs)
    result.failures.report("fit")
    return result


def consensus_of(again: Reclustered, n_pairs: int | None = None) -> Consensus:
    """Count pairs in the labels of all resamples."""
    references, n_resamples = again.question.references, again.n_resamples
    pairs = _pairs(again.question, n_pairs)
    most = max(reference.n_labels for reference in references)
    codes = np.stack([_codes(fitted) for fitted in again.fits])
    counts = np.zeros((len(references), n_resamples + 1, n_resamples + 1), dtype=np.int64)
    sums, n_pairs_within = np.zeros((2, len(references), most))
    for i, reference in enumerate(references):
        turned = by_point(codes[i])
        for first, second in all_pairs(len(again.question.study)) if pairs is None else [pairs]:
            together, both = together_of(turned, first, second)
            cells = np.bincount(together * (n_resamples + 1) + both, minlength=counts[i].size)
            counts[i] += cells.reshape(counts[i].shape)
            inside = (reference.codes[first] == reference.codes[second]) & (both > 0)
            cluster = reference.codes[first[inside]]
            sums[i] += np.bincount(cluster, together[inside] / both[inside], minlength=most)
            n_pairs_within[i] += np.bincount(cluster, minlength=most)
            breathe()
    return Consensus(
        **_fields_of_samples(again),
        codes=codes,
        counts=counts,
        cluster_consensus=np.where(n_pairs_within > 0, sums / np.maximum(n_pairs_within, 1), np.nan),
        sampled=pairs is not None,
    )


def _pairs(question: Question, n_pairs: int | None) -> tuple[IntArray, IntArray] | None:
    """Draw pairs of samples at random; None where all pairs are counted."""
    n = len(question.study)
    n_all = n * (n - 1) // 2
    wanted = n_pairs if n_pairs is not None else n_all if n_all <= MOST_PAIRS else SAMPLE_OF_PAIRS
    if wanted >= n_all:
        return None
    rng = make_generator(seed_of(question.root, Stream.PAIRS, question.study.name, 0))
    first = rng.integers(n, size=wanted)
    return first, (first + 1 + rng.integers(n - 1, size=wanted)) % n


def _codes(fitted: Relabelled) -> IntArray:
    """Every sample's cluster in every resample, −1 where it was not drawn, or the fit failed."""
    labelings = fitted.labelings[0]
    codes = labelings.codes.astype(np.min_scalar_type(-1 - labelings.n_labels))
    codes[fitted.weights[0] == 0] = -1
    codes[fitted.failed > 0] = -1
    return codes


# ---------------------------------------------------------------------------------------------------------------------
# assignment consistency


def assignment_consistency(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    n_resamples: int = 100,
    perturbation: Perturbation | None = None,
    labels: ArrayLike | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
) -> AssignmentConsistency:
    """Count how consistently samples that were not drawn are assigned to the same cluster (ERICA).

    In every resample the samples not drawn get a label from the clustering function; labels are matched one to one to
    those of the reference partition, so that most samples of the study agree. A perturbation that draws all samples
    counts all. A sample's consistency is the share of its assignments that are to its most frequent cluster; over the
    samples whose most frequent cluster is c, and with n_c of them among n::

        CRI_c = mean consistency,  WCRI_c = CRI_c n_c / n,  TWCRI = Σ_c WCRI_c

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted to the whole study and to every resample.
    X : Study or array-like of shape (n_samples, n_features)
        The study.
    n_clusters : int or several, default=None
        Numbers of clusters to try, from 2. None: the clusterer's own.
    n_resamples : int, default=100
        Number of resamples.
    perturbation : Subsample, Bootstrap, FeatureSubset, Jitter, … or a sum, default=Subsample(0.8)
        Where the resamples come from.
    labels : array-like of shape (n_samples,), or True, default=None
        Existing clusters as the reference that the clusterer's are matched with and named after.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    AssignmentConsistency
        `per_sample`, of shape (number of k, n_samples), `cri` per cluster, `twcri` for every k.

    See Also
    --------
    consensus : Follows pairs, and needs no matching.
    local_replicability : Scores single samples across studies.

    Notes
    -----
    Shows which samples lie at borders between clusters. Not adjusted for chance: with few clusters, random
    assignments are consistent more often, so do not compare k by it alone. Labels are matched in every resample; where
    clusters merge or split, those without a partner count as inconsistent.

    References
    ----------
    .. [1] Sorooshyari, S. K., Rivas, M. A. and Tibshirani, R. (2026). ERICA: quantifying replicability of cluster
       analysis. arXiv:2606.00302.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0], [5.0]], 10, axis=0) + np.tile(np.linspace(0, 1, 10), 2)[:, None]
    >>> assignment_consistency(KMeans(n_init=5), X, n_clusters=2, n_resamples=20, rng=0).twcri
    array([1.])
    """
    question = Question.of(clusterer, X, n_clusters, labels, rng, n_jobs)
    result = assignments_of(recluster(question, Fits.SUBSAMPLES, n_resamples, perturbation))
    result.failures.report("fit")
    return result


def assignments_of(again: Reclustered) -> AssignmentConsistency:
    """Count assignments in the labels of all resamples."""
    references = again.question.references
    most = max(reference.n_labels for reference in references)
    left_out = again.fits[0].weights[0] == 0  # (n_resamples, n_samples)
    if not left_out.any():
        left_out = np.ones_like(left_out)
    counts = np.zeros((len(references), left_out.shape[1], most + 1), dtype=np.int64)  # last: no partner
    for i, (reference, fitted) in enumerate(zip(references, again.fits, strict=True)):
        labelings = fitted.labelings[-1]
        for b in np.flatnonzero(fitted.failed == 0):
            codes = labelings.codes[b].astype(np.int64)
            shape = (int(codes.max()) + 1, reference.n_labels)
            partners = partners_of(tables_of(codes[None], reference.codes.astype(np.int64), None, shape)[0])
            assigned = np.flatnonzero(left_out[b])
            np.add.at(counts[i], (assigned, partners[codes[assigned]]), 1)  # −1, the last place: no partner
    return AssignmentConsistency(**_fields_of_samples(again), counts=counts[:, :, :most], totals=counts.sum(axis=2))


def _fields_of_samples(again: Reclustered) -> dict[str, Any]:
    """Return what results about samples, or pairs of them, have in common."""
    references = again.question.references
    most = max(reference.n_labels for reference in references)
    names = [[*map(str, reference.classes), *[""] * (most - reference.n_labels)] for reference in references]
    return {
        **again.fields(n_resamples=again.n_resamples),
        "samples": again.question.study.samples,
        "clusters": np.array(names),
        "n_labels": np.array([reference.n_labels for reference in references]),
        "labels": np.stack([reference.codes for reference in references]),
    }
