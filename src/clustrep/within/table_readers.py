"""Indices that are computed from contingency tables: a value for every cluster, and in the last column one for all.

The tables, (n_tables, k_u, k_v), have the clusters of the reference partition as rows. A reader takes them with the
clusters' sizes in the study, (k_u,), and whether counts are divided by the number of points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from clustrep.resampling import Bootstrap, FeatureSubset, Jitter, Perturbation, Rerun, Subsample
from clustrep.tables.cluster_indices import (
    d_index_of,
    inclusion_of,
    jaccard_of,
    matching_distances_of,
    pairs_of,
    r_index_of,
)
from clustrep.tables.index_records import INDICES, Fits
from clustrep.types import FloatArray

Reader: TypeAlias = Callable[[FloatArray, FloatArray, bool], FloatArray]

PERTURBATIONS: dict[Fits, Perturbation] = {
    Fits.SUBSAMPLES: Subsample(0.8),
    Fits.FEATURE_SUBSETS: FeatureSubset(0.8),
    Fits.BOOTSTRAP: Bootstrap(distinct=True),
    Fits.JITTER: Jitter(),
    Fits.HALF_SPLITS: Rerun(),
    Fits.PAIRS: Bootstrap(),
    Fits.STUDY: Rerun(),
}


def default_perturbation(index: str) -> Perturbation:
    """Return the perturbation that an index was proposed with."""
    return PERTURBATIONS[INDICES[index].fits]


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
    """Add the average over clusters, weighted by their sizes; clusters without a value are omitted."""
    weights = np.where(np.isnan(values), 0, sizes)
    total = weights.sum(axis=1)
    average = (np.nan_to_num(values) * weights).sum(axis=1) / np.where(total > 0, total, 1)
    return np.column_stack([values, np.where(total > 0, average, np.nan)])


READERS: dict[str, Reader] = {
    "matching": _matching,
    "inclusion": _inclusion,
    "jaccard": _jaccard,
    "r": _r,
    "d": _d,
}
