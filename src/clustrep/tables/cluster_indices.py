"""How well the clusters of one partition are found again in another: one number per cluster, from their table.

Rows are the clusters of the reference U, columns those of the new partition V. Every function is blind to the labels'
names, and the same whether a point is repeated or weighted. A cluster without points (in the points compared) has no
value, NaN; but its Jaccard coefficient is 0, as in Hennig (2007).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from clustrep.checks import check_flag, check_labels, check_weights
from clustrep.tables.contingency import encode, tables_of
from clustrep.types import BoolArray, FloatArray, IntArray, Labels


def inclusion_of(tables: FloatArray) -> FloatArray:
    """Smolkin & Ghosh (2003): whether one new cluster holds all of the cluster."""
    rows = tables.sum(axis=-1)
    return np.where(rows > 0, tables.max(axis=-1) == rows, np.nan)


def jaccard_of(tables: FloatArray) -> FloatArray:
    """Hennig (2007): the largest share of intersection in union that any new cluster has."""
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
    """McShane et al. (2002): points added and lost, against the new cluster with the largest overlap.

    Of several such clusters the smallest counts, so that the value does not depend on the order of labels.
    """
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    largest = tables == tables.max(axis=-1, keepdims=True)
    smallest = np.where(largest, columns[..., None, :], np.inf).min(axis=-1)
    return np.where(rows > 0, rows + smallest - 2 * tables.max(axis=-1), np.nan)


def matching_of(table: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the one-to-one matching of labels that keeps most points together."""
    rows, columns = linear_sum_assignment(table, maximize=True)
    return np.asarray(rows), np.asarray(columns)


def partners_of(table: FloatArray) -> IntArray:
    """Return the column that each row is matched with, −1 for none: partners share at least one point, (k_u,)."""
    partners = np.full(len(table), -1)
    rows, columns = matching_of(table)
    shared = table[rows, columns] > 0
    partners[rows[shared]] = columns[shared]
    return partners


def matched_points(cells: FloatArray, rows: IntArray, columns: IntArray) -> float:
    """Count the points inside the best matching, from occupied cells with their rows and columns.

    No table of all labels is needed: of the labels with a single cell that compete for the same partner, the largest
    stays, and what is left has few labels.
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


def _may_match(cells: FloatArray, own: IntArray, other: IntArray) -> BoolArray:
    """Leave out labels with a single cell, where another such label has a larger one with the same partner."""
    order = np.lexsort((-cells, other))
    candidates = order[np.bincount(own)[own][order] == 1]
    keep = np.ones(len(cells), dtype=bool)
    keep[candidates] = False
    keep[candidates[np.unique(other[candidates], return_index=True)[1]]] = True
    return keep


def matching_distance_of(table: FloatArray) -> float:
    """Equation (3) of the paper as a count: points outside the best matching, also where numbers of clusters differ."""
    return float(table.sum() - table[matching_of(table)].sum())


def matching_distances_of(tables: FloatArray, *, relative: bool) -> FloatArray:
    """Return the matching distance of every table, (n_tables,)."""
    distances = np.array([matching_distance_of(table) for table in tables])
    return np.asarray(distances / np.maximum(tables.sum(axis=(1, 2)), 1)) if relative else distances


# ---------------------------------------------------------------------------------------------------------------------
# of two labelings


def minimal_matching_distance(
    u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None, relative: bool = False
) -> float:
    """Minimal matching distance: labels to be switched to make two partitions identical, equation (3) of the paper.

    Parameters
    ----------
    u, v : array_like, (n_points,)
        Two labelings of the same points. Their numbers of clusters may differ: a label without a partner counts.
    weights : array_like of int, (n_points,), optional
        How many times each point counts.
    relative : bool
        Divide by the number of points.

    Examples
    --------
    >>> minimal_matching_distance([0, 0, 0, 1, 1], ["b", "b", "a", "a", "a"])
    1.0
    >>> minimal_matching_distance([0, 0, 0, 1, 1], ["b", "b", "a", "a", "a"], relative=True)
    0.2
    """
    check_flag(relative, "relative")
    _, _, table = _table(u, v, weights)
    distance = matching_distance_of(table)
    return distance / float(table.sum()) if relative else distance


def match_labels(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> dict[object, object]:
    """Match the labels of two partitions one to one, so that most points keep theirs.

    Parameters are those of `minimal_matching_distance`.

    Returns
    -------
    dict
        For every label of `v` its partner in `u`; a label without a partner, or with one that it shares no point with,
        is missing.

    Examples
    --------
    >>> match_labels(["A", "A", "B", "B"], [1, 1, 0, 0])
    {0: 'B', 1: 'A'}
    """
    labels_u, labels_v, table = _table(u, v, weights)
    partners = partners_of(table.T)
    return {label.item(): labels_u[i].item() for label, i in zip(labels_v, partners, strict=True) if i >= 0}


def inclusion(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    """Smolkin and Ghosh's inclusion: for every cluster of `u`, 1 if one cluster of `v` holds all of it, else 0.

    Parameters
    ----------
    u, v : array_like, (n_points,)
        Two labelings of the same points.
    weights : array_like of int, (n_points,), optional
        How many times each point counts.

    Returns
    -------
    ndarray, (number of labels in u,)
        In the sorted order of the labels.

    Examples
    --------
    >>> inclusion([0, 0, 1, 1], [0, 0, 0, 1])
    array([1., 0.])
    """
    return inclusion_of(_table(u, v, weights)[2])


def jaccard(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    """Hennig's Jaccard coefficient: for every cluster of `u`, the largest |U ∩ V| / |U ∪ V| over the clusters of `v`.

    Parameters and result are those of `inclusion`.

    Examples
    --------
    >>> jaccard([0, 0, 1, 1], [0, 0, 0, 1]).round(3)
    array([0.667, 0.5  ])
    """
    return jaccard_of(_table(u, v, weights)[2])


def r_index(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    """McShane's R index: for every cluster of `u`, the share of its pairs of points that are together in `v`.

    Parameters and result are those of `inclusion`; a cluster of one point has no pairs, hence NaN.

    Examples
    --------
    >>> r_index([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]).round(3)
    array([0.333, 1.   ])
    """
    return r_index_of(_table(u, v, weights)[2])


def d_index(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None, relative: bool = False) -> FloatArray:
    """McShane's D index: for every cluster of `u`, points added and lost in the cluster of `v` that overlaps it most.

    Parameters and result are those of `inclusion`, and:

    relative : bool
        Divide by the cluster's size, which makes clusters of different sizes comparable.

    Examples
    --------
    >>> d_index([0, 0, 0, 1, 1], [0, 0, 1, 1, 1])
    array([1., 1.])
    """
    check_flag(relative, "relative")
    table = _table(u, v, weights)[2]
    index = d_index_of(table)
    return np.asarray(index / table.sum(axis=1)) if relative else index


def _table(u: ArrayLike, v: ArrayLike, weights: ArrayLike | None) -> tuple[Labels, Labels, FloatArray]:
    """Check two labelings of the same points, and return their labels and their table."""
    one = check_labels(u, "u")
    other = check_labels(v, "v", length=len(one), same_as="u")
    counts = None if weights is None else check_weights(weights, length=len(one))
    (coded,), (other_coded,) = encode([one]), encode([other])
    shape = (coded.n_labels, other_coded.n_labels)
    table = tables_of(coded.codes[None], other_coded.codes, counts, shape)[0]
    return coded.classes, other_coded.classes, table
