"""Pairs of samples, and single ones, over all resamples: instability, consensus, assignment consistency."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import Fits, partners_of
from clustrep.agreement.contingency import RULES, NoiseWithin, Partition, check_noise_within, tables_of
from clustrep.checks import check_flag, check_integer
from clustrep.execution.engines import EngineLike
from clustrep.execution.run import on_engine
from clustrep.execution.seeds import Rng, Stream, breathe, make_generator, seed_of
from clustrep.fitting.parameters import Clusterer
from clustrep.resampling.strategies import Bootstrap, Perturbation, check_perturbation
from clustrep.stability.curves import (
    AssignmentConsistency,
    BootstrapInstability,
    Consensus,
    all_pairs,
    by_point,
    together_of,
)
from clustrep.stability.perturbation import PERTURBATIONS
from clustrep.stability.reclustering import Question, Relabelled, fields_over_k, pair, read_tables, recluster
from clustrep.types import FloatArray, IntArray, Labels

# All pairs are counted up to so many, else a sample.
MOST_PAIRS = 5_000_000

SAMPLE_OF_PAIRS = 1_000_000


@on_engine
def bootstrap_instability(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    n_resamples: int = 100,
    one_sided: bool = False,
    perturbation: Perturbation | None = None,
    labels: ArrayLike | None = None,
    noise: NoiseWithin = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> BootstrapInstability:
    """Measure how often the clustering functions of two bootstrap samples disagree about a pair (Fang and Wang 2012).

    With n_ij samples in cluster i of the first function and j of the second, and sizes n_i and m_j, the share of
    ordered pairs of samples that one function puts together and the other apart, averaged over resamples::

        instability(k) = (Σ_i n_i² + Σ_j m_j² − 2 Σ_ij n_ij²) / n²

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted to both samples; both functions are applied to the whole study. None with `labels`.
    X : Study or table
        Samples by features.
    n_clusters : int or several, optional
        Numbers of clusters to try, from 2; the one with the lowest instability is Fang and Wang's choice.
    n_resamples : int
        Number of pairs of bootstrap samples.
    one_sided : bool
        Count only pairs that the first function puts together and the second apart, as R's fpc does.
    perturbation : Bootstrap, Subsample, Jitter, … or a sum, optional
        Where the two samples come from; by default `Bootstrap()`.
    labels : array_like, optional
        Existing clusters instead of a clusterer: each sample gets the label of the nearest one drawn.
    noise : {"label", "drop"}
        Samples labelled −1 form a cluster like any other, or are left out where either side calls them noise.
    rng, n_jobs, engine
        As in `replicability`.

    Returns
    -------
    BootstrapInstability
        `instability`, the mean over resamples for every k; `best_n_clusters`, the k with the lowest.

    See Also
    --------
    consensus : How often pairs are together, pair by pair.
    prediction_strength : Favours few clusters, where this favours many.

    Notes
    -----
    Meant for the number of clusters. Not adjusted for chance: with many clusters most pairs are apart under any two
    functions, so that the value falls with k, and on data without clusters the largest k wins. Read it together with
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
    >>> bootstrap_instability(KMeans(2, n_init=5), X, n_resamples=5, rng=0).instability
    array([0.])
    """
    question = Question.of(clusterer, X, n_clusters, labels, rng, n_jobs, labels_suffice=True)
    check_flag(one_sided, "one_sided")
    check_noise_within(noise)
    chosen = Bootstrap() if perturbation is None else check_perturbation(perturbation)
    check_integer(n_resamples, "n_resamples")
    relabelled = recluster(question, chosen, n_resamples, "bootstrap instability", split=pair, needs_reference=False)
    result = instability_of(question, relabelled, one_sided=one_sided, noise=noise, perturbation=chosen)
    result.failures.report("fit")
    return result


def instability_of(
    question: Question,
    relabelled: Sequence[Relabelled],
    *,
    one_sided: bool = False,
    noise: NoiseWithin = "label",
    perturbation: Perturbation,
) -> BootstrapInstability:
    """Compute the instability of every k from pairs of labelings."""
    score = _one_sided if one_sided else _symmetric
    relabelled = [
        fitted.failed_where_noise_is_all(noise, (fitted.labelings[0], fitted.labelings[1], None))
        for fitted in relabelled
    ]
    values = [
        fitted.nan_where_failed(read_tables(score, fitted.labelings[0], fitted.labelings[1], None, noise))
        for fitted in relabelled
    ]
    parameters: dict[str, Any] = {"n_resamples": len(values[0]), "one_sided": one_sided, "noise": noise}
    return BootstrapInstability(
        **fields_over_k(question, relabelled, perturbation, **parameters),
        distribution=np.stack(values, axis=1),
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


@on_engine
def consensus(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    n_resamples: int = 100,
    perturbation: Perturbation | None = None,
    n_pairs: int | None = None,
    labels: ArrayLike | None = None,
    noise: NoiseWithin = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> Consensus:
    """Count how often two samples share a cluster, of the times that both are drawn (Monti et al. 2003).

    For samples i and j, over the resamples that both are in::

        M_ij = #{resamples with i and j in the same cluster} / #{resamples with i and j}
        PAC = P(0.1 < M_ij ≤ 0.9) over all pairs

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted to every perturbed copy.
    X : Study or table
        Samples by features.
    n_clusters : int or several, optional
        Numbers of clusters to try, from 2.
    n_resamples : int
        Number of perturbed copies.
    perturbation : Subsample, Bootstrap, FeatureSubset, Jitter, … or a sum, optional
        Where they come from; by default `Subsample(0.8)`.
    n_pairs : int, optional
        Count only a random sample of so many pairs, drawn with replacement. By default all of them up to five million
        (3,162 samples), beyond that a million: the matrix is never held as a whole.
    labels : array_like, optional
        Existing clusters to average the consensus in, instead of the clusterer's.
    noise : {"label", "drop"}
        Samples labelled −1 form a cluster like any other, or count as not drawn.
    rng, n_jobs, engine
        As in `replicability`.

    Returns
    -------
    Consensus
        `pac()` for every k, `cluster_consensus` per cluster, `cdf`, and any part of the `matrix`.

    See Also
    --------
    assignment_consistency : Follows samples, not pairs.
    bootstrap_instability : One number per pair of resamples.

    Notes
    -----
    Consensus near 0 or 1 for all pairs says that the clusterer returns the same clusters every time, not that the data
    have any: the matrix of data without clusters can look the same. PAC falls with k where most pairs are apart in
    any case, and so favours many clusters. The mean consensus within a cluster is high by selection: clusters are
    groups of pairs that are together often.

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
    question = Question.of(clusterer, X, n_clusters, labels, rng, n_jobs)
    chosen = PERTURBATIONS[Fits.SUBSAMPLES] if perturbation is None else check_perturbation(perturbation)
    check_noise_within(noise)
    if n_pairs is not None:
        check_integer(n_pairs, "n_pairs")
    relabelled = recluster(question, chosen, check_integer(n_resamples, "n_resamples"), "consensus")
    result = consensus_of(question, relabelled, chosen, n_pairs, noise)
    result.failures.report("fit")
    return result


def consensus_of(
    question: Question,
    relabelled: Sequence[Relabelled],
    perturbation: Perturbation,
    n_pairs: int | None = None,
    noise: NoiseWithin = "label",
) -> Consensus:
    """Count pairs in the labels of all resamples."""
    n, n_resamples = len(question.study), relabelled[0].n_replicates
    sampled, chosen = _pairs(question, n_pairs)
    most = max(fitted.reference.n_labels for fitted in relabelled if fitted.reference is not None)
    codes = np.stack([_codes(fitted, noise) for fitted in relabelled])
    counts = np.zeros((len(relabelled), n_resamples + 1, n_resamples + 1), dtype=np.int64)
    sums, n_pairs_within = np.zeros((2, len(relabelled), most))
    for i, fitted in enumerate(relabelled):
        turned, reference = by_point(codes[i]), _reference(fitted).codes
        for first, second in chosen if sampled else all_pairs(n):
            together, both = together_of(turned, first, second)
            cells = np.bincount(together * (n_resamples + 1) + both, minlength=counts[i].size)
            counts[i] += cells.reshape(counts[i].shape)
            inside = (reference[first] == reference[second]) & (both > 0)
            cluster = reference[first[inside]]
            sums[i] += np.bincount(cluster, together[inside] / both[inside], minlength=most)
            n_pairs_within[i] += np.bincount(cluster, minlength=most)
            breathe()
    return Consensus(
        **_fields_of_samples(question, relabelled, perturbation, noise),
        codes=codes,
        counts=counts,
        cluster_consensus=np.where(n_pairs_within > 0, sums / np.maximum(n_pairs_within, 1), np.nan),
        sampled=sampled,
    )


def _pairs(question: Question, n_pairs: int | None) -> tuple[bool, Iterable[tuple[IntArray, IntArray]]]:
    """Choose pairs of samples: all, or a random sample of them."""
    n = len(question.study)
    n_all = n * (n - 1) // 2
    wanted = n_pairs if n_pairs is not None else n_all if n_all <= MOST_PAIRS else SAMPLE_OF_PAIRS
    if wanted >= n_all:
        return False, ()
    rng = make_generator(seed_of(question.root, Stream.PAIRS, question.study.name, 0))
    first = rng.integers(n, size=wanted)
    second = (first + 1 + rng.integers(n - 1, size=wanted)) % n
    return True, [(first, second)]


def _codes(fitted: Relabelled, noise: NoiseWithin) -> IntArray:
    """Every sample's cluster in every resample, −1 where it was not drawn, is dropped as noise, or the fit failed."""
    labelings = fitted.labelings[0]
    codes = labelings.codes.astype(np.min_scalar_type(-1 - labelings.n_labels))
    codes[fitted.weights[0] == 0] = -1
    codes[fitted.failed > 0] = -1
    codes[~RULES[noise].counted(labelings.is_noise())] = -1
    return codes


# ---------------------------------------------------------------------------------------------------------------------
# assignment consistency


@on_engine
def assignment_consistency(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    n_resamples: int = 100,
    perturbation: Perturbation | None = None,
    labels: ArrayLike | None = None,
    noise: NoiseWithin = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> AssignmentConsistency:
    """Count how consistently samples that are left out are assigned to the same cluster (ERICA).

    In every resample the samples not drawn get a label from the clustering function; labels are matched one to one to
    those of the reference partition, so that most samples of the study agree. A perturbation that leaves none out
    counts all. A sample's consistency is the share of its assignments that are to its most frequent cluster; over the
    samples whose most frequent cluster is c, and with n_c of them among n::

        CRI_c = mean consistency,  WCRI_c = CRI_c n_c / n,  TWCRI = Σ_c WCRI_c

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted to every perturbed copy.
    X : Study or table
        Samples by features.
    n_clusters : int or several, optional
        Numbers of clusters to try, from 2.
    n_resamples : int
        Number of perturbed copies.
    perturbation : Subsample, Bootstrap, FeatureSubset, Jitter, … or a sum, optional
        Where they come from; by default `Subsample(0.8)`.
    labels : array_like, optional
        Existing clusters as the reference that the clusterer's are matched with and named after.
    noise : {"label", "drop"}
        Samples labelled −1 form a cluster like any other, or are left out where either side calls them noise.
    rng, n_jobs, engine
        As in `replicability`.

    Returns
    -------
    AssignmentConsistency
        `per_sample`, `cri` per cluster, `twcri` for every k.

    See Also
    --------
    consensus : Follows pairs, and needs no matching.
    local_replicability : Scores single samples across studies.

    Notes
    -----
    Says which samples lie at borders between clusters. Not adjusted for chance: with few clusters, random
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
    chosen = PERTURBATIONS[Fits.SUBSAMPLES] if perturbation is None else check_perturbation(perturbation)
    check_noise_within(noise)
    check_integer(n_resamples, "n_resamples")
    relabelled = recluster(question, chosen, n_resamples, "assignment consistency")
    result = assignments_of(question, relabelled, chosen, noise)
    result.failures.report("fit")
    return result


def assignments_of(
    question: Question, relabelled: Sequence[Relabelled], perturbation: Perturbation, noise: NoiseWithin = "label"
) -> AssignmentConsistency:
    """Count assignments in the labels of all resamples."""
    n = len(question.study)
    most = max(_reference(fitted).n_labels for fitted in relabelled)
    left_out = relabelled[0].weights[0] == 0  # (n_resamples, n)
    if not left_out.any():
        left_out = np.ones_like(left_out)
    counts = np.zeros((len(relabelled), n, most + 1), dtype=np.int64)  # last: a cluster without a partner
    for i, fitted in enumerate(relabelled):
        reference, labelings = _reference(fitted), fitted.labelings[-1]
        for b in np.flatnonzero(fitted.failed == 0):
            codes = labelings.codes[b].astype(np.int64)
            shape = (int(codes.max()) + 1, reference.n_labels)
            counted = RULES[noise].counted(reference.is_noise, codes == labelings.noise[b])
            table = tables_of(codes[None], reference.codes.astype(np.int64), counted, shape)[0]
            partners = partners_of(table)
            assigned = np.flatnonzero(left_out[b] & counted)
            np.add.at(counts[i], (assigned, partners[codes[assigned]]), 1)  # −1, the last place: without a partner
    return AssignmentConsistency(
        **_fields_of_samples(question, relabelled, perturbation, noise),
        counts=counts[:, :, :most],
        totals=counts.sum(axis=2),
    )


# ---------------------------------------------------------------------------------------------------------------------
# what both need


def _fields_of_samples(
    question: Question, relabelled: Sequence[Relabelled], perturbation: Perturbation, noise: NoiseWithin
) -> dict[str, Any]:
    """Return what results about samples, or pairs of them, have in common."""
    references = [_reference(fitted) for fitted in relabelled]
    return {
        **fields_over_k(question, relabelled, perturbation, n_resamples=relabelled[0].n_replicates, noise=noise),
        "samples": question.study.samples,
        "clusters": _names(references),
        "n_labels": np.array([reference.n_labels for reference in references]),
        "labels": np.stack([reference.codes for reference in references]),
    }


def _reference(fitted: Relabelled) -> Partition:
    assert fitted.reference is not None
    return fitted.reference


def _names(references: Sequence[Partition]) -> Labels:
    """Name the reference clusters of every k, as text, padded with empty names."""
    most = max(partition.n_labels for partition in references)
    return np.array(
        [[str(label) for label in partition.classes] + [""] * (most - partition.n_labels) for partition in references]
    )
