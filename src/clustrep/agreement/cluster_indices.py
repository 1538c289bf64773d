"""How well the clusters of one partition are found again in another: one number per cluster, from their table.

Rows are the clusters of the reference U, columns those of the new partition V. No value depends on the labels'
names, or on whether a sample is repeated or weighted. A cluster without samples (in the samples compared) has no
value, NaN; but its Jaccard coefficient is 0, as in Hennig (2007).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from clustrep.agreement.contingency import labelled_table
from clustrep.checks import check_flag
from clustrep.types import BoolArray, FloatArray, IntArray


def inclusion_of(tables: FloatArray) -> FloatArray:
    """Smolkin & Ghosh (2003): whether one new cluster holds all of the cluster.

    Of tables, (..., k_u, k_v) -> (..., k_u): 1 or 0; NaN for a cluster without samples.
    """
    rows = tables.sum(axis=-1)
    return np.where(rows > 0, tables.max(axis=-1) == rows, np.nan)


def jaccard_of(tables: FloatArray) -> FloatArray:
    """Hennig (2007): the largest share of intersection in union that any new cluster has.

    Of tables, (..., k_u, k_v) -> (..., k_u): between 0 and 1; 0 for a cluster without samples.
    """
    rows, columns = tables.sum(axis=-1, keepdims=True), tables.sum(axis=-2, keepdims=True)
    unions = rows + columns - tables
    return np.asarray((tables / np.where(unions > 0, unions, 1.0)).max(axis=-1))


def r_index_of(tables: FloatArray) -> FloatArray:
    """McShane et al. (2002): the share of the cluster's pairs that are still together; NaN for a cluster of one."""
    pairs, together = pairs_of(tables)
    return np.where(pairs > 0, together / np.where(pairs > 0, pairs, 1.0), np.nan)


def pairs_of(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Count the pairs in every cluster, and those of them that are together in the new partition."""
    rows = tables.sum(axis=-1)
    return rows * (rows - 1) / 2, (tables * (tables - 1)).sum(axis=-1) / 2


def d_index_of(tables: FloatArray) -> FloatArray:
    """McShane et al. (2002): samples added and lost, against the new cluster with the largest overlap.

    Of several the smallest counts, so that the value does not depend on the order of labels.
    """
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    largest = tables == tables.max(axis=-1, keepdims=True)
    smallest = np.where(largest, columns[..., None, :], np.inf).min(axis=-1)
    return np.where(rows > 0, rows + smallest - 2 * tables.max(axis=-1), np.nan)


def matching_of(table: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the one-to-one matching of labels that keeps most samples together.

    The Hungarian algorithm: the only place that assigns labels to each other. As many pairs as the smaller side has
    labels, also pairs that share no sample.
    """
    rows, columns = linear_sum_assignment(table, maximize=True)
    return np.asarray(rows), np.asarray(columns)


def partners_of(table: FloatArray) -> IntArray:
    """Return the column that each row is matched with, −1 for none: partners share at least one sample.

    Parameters
    ----------
    table : ndarray of shape (k_u, k_v)

    Returns
    -------
    ndarray of int, shape (k_u,)

    Examples
    --------
    >>> partners_of(np.array([[0.0, 3.0], [2.0, 4.0], [0.0, 1.0]]))
    array([ 1,  0, -1])
    """
    partners = np.full(len(table), -1)
    rows, columns = matching_of(table)
    shared = table[rows, columns] > 0
    partners[rows[shared]] = columns[shared]
    return partners


def matched_samples(cells: FloatArray, rows: IntArray, columns: IntArray) -> float:
    """Count the samples inside the best matching, from occupied cells with their rows and columns.

    No table of all labels is needed: of the labels with a single cell that compete for the same partner, the largest
    stays, and the rest has few labels.
    """
    keep = _may_match(cells, rows, columns)
    cells, rows, columns = cells[keep], rows[keep], columns[keep]
    keep = _may_match(cells, columns, rows)
    cells, rows, columns = cells[keep], rows[keep], columns[keep]
    alone = (np.bincount(rows)[rows] == 1) & (np.bincount(columns)[columns] == 1)
    total = float(cells[alone].sum())
    if alone.all():
        return total
    (row_of, row), (column_of, column) = (np.unique(x[~alone], return_inverse=True) for x in (rows, columns))
    table = np.zeros((len(row_of), len(column_of)))
    table[row, column] = cells[~alone]
    return total + float(table[matching_of(table)].sum())


def _may_match(cells: FloatArray, labels: IntArray, partners: IntArray) -> BoolArray:
    """Omit labels with a single cell, where another label with a single cell has a larger one with the same partner."""
    order = np.lexsort((-cells, partners))
    candidates = order[np.bincount(labels)[labels][order] == 1]
    keep = np.ones(len(cells), dtype=bool)
    keep[candidates] = False
    keep[candidates[np.unique(partners[candidates], return_index=True)[1]]] = True
    return keep


def matching_distances_of(tables: FloatArray, *, relative: bool = False) -> FloatArray:
    """Equation (3) of the paper as a count: samples outside the best matching, in every table, (n_tables,).

    The numbers of clusters may differ. `relative`: divided by the number of samples.
    """
    distances = np.array([table.sum() - table[matching_of(table)].sum() for table in tables])
    return np.asarray(distances / np.maximum(tables.sum(axis=(1, 2)), 1)) if relative else distances


# ---------------------------------------------------------------------------------------------------------------------
# of two labelings


def minimal_matching_distance(
    u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None, relative: bool = False
) -> float:
    """Minimal matching distance: labels to be switched to make two partitions identical, equation (3) of the paper.

    With n_ij samples in cluster i of `u` and j of `v`, and one-to-one matchings π of clusters::

        D = n − max_π Σ_i n_iπ(i)

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples. Their numbers of clusters may differ: samples of a cluster without a partner
        count as switched.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.
    relative : bool, default=False
        Divide by the number of samples.

    Returns
    -------
    float
        0 for identical partitions; relative, less than 1.

    See Also
    --------
    match_labels : The matching itself.
    stability : The distance of a study's clusters to those of perturbed copies, with ``index="matching"``.

    Notes
    -----
    Not adjusted for chance: its value for unrelated partitions depends on the number and sizes of clusters, so that it
    must not be compared between numbers of clusters. `relative_validation` divides it by its value for random labels.
    It depends on the best matching only, and ignores how the samples outside it are distributed.

    References
    ----------
    .. [1] von Luxburg, U. (2010). Clustering stability: an overview. Foundations and Trends in Machine Learning 2,
       235-274.

    Examples
    --------
    >>> minimal_matching_distance([0, 0, 0, 1, 1], ["b", "b", "a", "a", "a"])
    1.0
    >>> minimal_matching_distance([0, 0, 0, 1, 1], ["b", "b", "a", "a", "a"], relative=True)
    0.2
    """
    check_flag(relative, "relative")
    _, _, table = labelled_table(u, v, weights)
    return float(matching_distances_of(table[None], relative=relative)[0])


def match_labels(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> dict[object, object]:
    """Match the labels of two partitions one to one, so that most samples keep theirs.

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples; labels of any kind.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.

    Returns
    -------
    dict
        For every label of `v` its partner in `u`; a label without a partner, or with one that it shares no sample with,
        is missing.

    See Also
    --------
    minimal_matching_distance : How many samples change their label.

    Notes
    -----
    The matching with the largest number of samples in matched pairs of clusters (the Hungarian algorithm). Several may
    be equally good; which of them is returned then depends on the order of labels.

    References
    ----------
    .. [1] Kuhn, H. W. (1955). The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2,
       83-97.

    Examples
    --------
    >>> match_labels(["A", "A", "B", "B"], [1, 1, 0, 0])
    {0: 'B', 1: 'A'}
    """
    labels_u, labels_v, table = labelled_table(u, v, weights)
    partners = partners_of(table.T)
    return {label.item(): labels_u[i].item() for label, i in zip(labels_v, partners, strict=True) if i >= 0}


def inclusion(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    """Smolkin and Ghosh's inclusion: for every cluster of `u`, 1 if one cluster of `v` holds all of it, else 0.

    For the samples U of a cluster of `u`::

        inclusion(U) = 1 if U ⊆ V for some cluster V of `v`, else 0

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples; labels of any kind. The clusters of `u` are judged.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.

    Returns
    -------
    ndarray of shape (n_labels_u,)
        In the sorted order of the labels.

    See Also
    --------
    jaccard : Also counts the samples that are added.
    r_index : The share of pairs that stay together.

    Notes
    -----
    Averaged over resamples, the share of those in which the cluster is found whole. Strict, and more so for large
    clusters: a single sample that leaves makes it 0. Merged clusters are not detected: a cluster of `v` that holds
    all samples includes all clusters.

    References
    ----------
    .. [1] Smolkin, M. and Ghosh, D. (2003). Cluster stability scores for microarray data in cancer studies. BMC
       Bioinformatics 4, 36.

    Examples
    --------
    >>> inclusion([0, 0, 1, 1], [0, 0, 0, 1])
    array([1., 0.])
    """
    return inclusion_of(labelled_table(u, v, weights)[2])


def jaccard(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    """Hennig's Jaccard coefficient: for every cluster of `u`, the largest |U ∩ V| / |U ∪ V| over the clusters of `v`.

    For the samples U of a cluster of `u`::

        jaccard(U) = max over clusters V of `v` of |U ∩ V| / |U ∪ V|

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples; labels of any kind. The clusters of `u` are judged.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.

    Returns
    -------
    ndarray of shape (n_labels_u,)
        In the sorted order of the labels. Between 0 and 1; 1 where `v` has an identical cluster.

    See Also
    --------
    inclusion, r_index, d_index : Other indices of single clusters.
    stability : The same over perturbed copies of a study.

    Notes
    -----
    Counts samples that are lost and samples that are added. Hennig's advice for the mean over bootstrap samples: below
    0.5, a cluster is dissolved; from 0.75, it is recovered. Large clusters reach high values by chance: two
    unrelated partitions into a large and a small cluster each have a high value for the large one. Two clusters of
    `u` may have the same best partner.

    References
    ----------
    .. [1] Hennig, C. (2007). Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis
       52, 258-271.

    Examples
    --------
    >>> jaccard([0, 0, 1, 1], [0, 0, 0, 1]).round(3)
    array([0.667, 0.5  ])
    """
    return jaccard_of(labelled_table(u, v, weights)[2])


def r_index(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    """McShane's R index: for every cluster of `u`, the share of its pairs of samples that are together in `v`.

    With n_ij samples in cluster i of `u` and j of `v`, and n_i in cluster i::

        R_i = Σ_j n_ij (n_ij − 1) / (n_i (n_i − 1))

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples; labels of any kind. The clusters of `u` are judged.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.

    Returns
    -------
    ndarray of shape (n_labels_u,)
        In the sorted order of the labels. NaN for a cluster of one sample, which has no pairs.

    See Also
    --------
    d_index : Also counts the samples that are added.
    prediction_strength : The smallest R index of the clusters of one half of a study.

    Notes
    -----
    Merged clusters are not detected: where `v` is a single cluster, all clusters have R = 1. Read it together with
    `d_index`. Small clusters have few pairs, and a single sample that leaves lowers their value much.

    References
    ----------
    .. [1] McShane, L. M. et al. (2002). Methods for assessing reproducibility of clustering patterns observed in
       analyses of microarray data. Bioinformatics 18, 1462-1469.

    Examples
    --------
    >>> r_index([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]).round(3)
    array([0.333, 1.   ])
    """
    return r_index_of(labelled_table(u, v, weights)[2])


def d_index(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None, relative: bool = False) -> FloatArray:
    """McShane's D index: for every cluster of `u`, samples added and lost in the cluster of `v` that overlaps it most.

    With n_ij samples in cluster i of `u` and j of `v`, sizes n_i and m_j, and j* the cluster of `v` with the largest
    n_ij (of several, the smallest)::

        D_i = (n_i − n_ij*) + (m_j* − n_ij*)

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples; labels of any kind. The clusters of `u` are judged.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.
    relative : bool, default=False
        Divide by the cluster's size, which makes clusters of different sizes comparable.

    Returns
    -------
    ndarray of shape (n_labels_u,)
        In the sorted order of the labels. 0 where `v` has an identical cluster; relative, it may exceed 1.

    See Also
    --------
    r_index : The share of pairs that stay together.
    jaccard : Also counts samples lost and added, as a share of the union.

    Notes
    -----
    A count: without `relative`, large clusters look less stable than small ones.

    References
    ----------
    .. [1] McShane, L. M. et al. (2002). Methods for assessing reproducibility of clustering patterns observed in
       analyses of microarray data. Bioinformatics 18, 1462-1469.

    Examples
    --------
    >>> d_index([0, 0, 0, 1, 1], [0, 0, 1, 1, 1])
    array([1., 1.])
    """
    check_flag(relative, "relative")
    table = labelled_table(u, v, weights)[2]
    index = d_index_of(table)
    return np.asarray(index / table.sum(axis=1)) if relative else index


# ---------------------------------------------------------------------------------------------------------------------
# the indices of a single study: names, direction, bounds, and their arguments


# Hennig (2007), and the defaults of R's fpc: at most the first, a cluster is lost; above the second, it is recovered.
DISSOLVED, RECOVERED = 0.5, 0.75


class Fits(StrEnum):
    """Which fits an index is computed from; indices with the same ones share them."""

    SUBSAMPLES = "subsamples"
    FEATURE_SUBSETS = "feature subsets"
    BOOTSTRAP = "bootstrap"
    JITTER = "jitter"
    HALF_SPLITS = "half-splits"
    PAIRS = "pairs of bootstrap samples"
    STUDY = "the study without resampling"
    NONE = "none"


@dataclass(frozen=True)
class IndexRecord:
    """An index of a single study.

    Attributes
    ----------
    name : str
        What users pass as `index` or in `indices`, and what tables show.
    long_name : str
        How it is written in sentences and figures.
    fits : Fits
        What it is computed from, by default.
    higher_is_better : bool, default=True
        Whether a high value speaks for the clusters.
    per_cluster : bool, default=True
        Whether it has a value for every cluster; else for whole partitions, or the data, alone.
    bounds : tuple of float, default=(0.0, 1.0)
        The smallest and the largest value that it can have, relative where it can be.
    has_relative : bool, default=False
        Whether it is a count that can be divided by the number of samples; `validate` does.
    needs_clusterer : bool, default=True
        Whether a clusterer must find the clusters again; else existing labels suffice.
    of_partition : bool, default=True
        Whether it judges a partition; else the data.
    thresholds : tuple of float or None
        At most the first, a cluster is lost; above the second, it is recovered.
    """

    name: str
    long_name: str
    fits: Fits
    higher_is_better: bool = True
    per_cluster: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    has_relative: bool = False
    needs_clusterer: bool = True
    of_partition: bool = True
    thresholds: tuple[float, float] | None = None

    def title(self, *, relative: bool) -> str:
        """Return the name in sentences, and whether the values are relative."""
        return f"{self.long_name}, relative" if relative and self.has_relative else self.long_name

    @property
    def better(self) -> str:
        """The direction in a word."""
        return "higher" if self.higher_is_better else "lower"


def _lower(name: str, long_name: str, fits: Fits, **others: Any) -> IndexRecord:
    """Describe an index of whole partitions that is low for good ones."""
    return IndexRecord(name, long_name, fits, higher_is_better=False, per_cluster=False, **others)


_NO_BOUND = (0.0, float("inf"))
# To add an index, add a record here, and what computes it in stability/perturbation.py or stability/validation.py.
# Tables show indices in this order. References stand in the functions' docstrings.
INDICES: dict[str, IndexRecord] = {
    record.name: record
    for record in (
        _lower("matching", "minimal matching distance", Fits.SUBSAMPLES, has_relative=True),
        IndexRecord("inclusion", "Smolkin–Ghosh inclusion", Fits.FEATURE_SUBSETS),
        IndexRecord("jaccard", "Jaccard coefficient", Fits.BOOTSTRAP, thresholds=(DISSOLVED, RECOVERED)),
        IndexRecord("r", "R index", Fits.JITTER),
        IndexRecord("d", "D index", Fits.JITTER, higher_is_better=False, bounds=_NO_BOUND, has_relative=True),
        IndexRecord("prediction_strength", "prediction strength", Fits.HALF_SPLITS, needs_clusterer=False),
        IndexRecord("in_group", "in-group proportion", Fits.STUDY, needs_clusterer=False),
        _lower("instability", "bootstrap instability", Fits.PAIRS, needs_clusterer=False),
        _lower("relative_validation", "relative validation", Fits.HALF_SPLITS, bounds=_NO_BOUND, needs_clusterer=False),
        _lower("pac", "ambiguous pairs (PAC)", Fits.SUBSAMPLES),
        IndexRecord("consensus", "cluster consensus", Fits.SUBSAMPLES),
        IndexRecord("assignment", "assignment consistency", Fits.SUBSAMPLES),
        _lower("test", "p-value of the test for clusters", Fits.NONE, needs_clusterer=False, of_partition=False),
    )
}
