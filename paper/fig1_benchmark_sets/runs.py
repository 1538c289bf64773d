"""The runs behind Fig. 1: halves of four benchmark sets, clustered as written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans, MiniBatchKMeans

import clustrep as cr
from paper import common
from paper.common import clearly_positive

TRUTH = {"d31": 31, "r15": 15, "aggregation": 7, "spiral": 3}
CLUSTERERS = {
    "k-means": KMeans(n_init=10),
    "mini-batch": MiniBatchKMeans(n_init=3),
    "Birch": Birch(),
    "agglomerative": AgglomerativeClustering(),
}
EPS = np.linspace(0.3, 1.5, 39)  # in standard deviations
TRIVIAL_AT_MOST, FAILED_AT_MOST = 0.05, 0.5  # of the resamples


def halves(study: cr.Study) -> cr.Studies:
    """The random split into a training and a test half."""
    return cr.Studies.split(study, rng=common.SEED)


def in_deviations(study: cr.Study) -> cr.Study:
    """Divide every coordinate by its standard deviation."""
    return cr.Study(study.X / study.X.std(axis=0), study.name, labels=study.labels)


def as_written(study: cr.Study, ks: Sequence[int], n_resamples: int, n_jobs: int) -> cr.results.Comparison:
    """Two coordinates, ψ learned on both halves."""
    return _compare(CLUSTERERS, study, n_resamples, n_jobs, n_clusters=ks)


def density_as_written(
    study: cr.Study, all_eps: Sequence[float], n_resamples: int, n_jobs: int
) -> cr.results.Comparison:
    """DBSCAN on two coordinates in units of their standard deviation, on the same draws."""
    clusterers = {f"{eps:.3f}": DBSCAN(eps=eps, min_samples=1) for eps in all_eps}
    return _compare(clusterers, in_deviations(study), n_resamples, n_jobs)


def _compare(clusterers: Any, study: cr.Study, n_resamples: int, n_jobs: int, **options: Any) -> cr.results.Comparison:
    return cr.compare(
        clusterers,
        halves(study),
        n_resamples=n_resamples,
        diagonal=False,
        resampling=cr.Bootstrap(),
        rng=common.SEED,
        n_jobs=n_jobs,
        **options,
    )


def scores(comparison: cr.results.Comparison, agreement: str = "ari", *, swapped: bool = False) -> pd.DataFrame:
    """The score in every resample (columns) of every clusterer and k, or of every eps (rows).

    The first half trains, the second tests, unless `swapped`. Rows where a half is one block in over 5 % of the
    resamples, or where most fail, are omitted.
    """
    a, pair = comparison.agreements.index(agreement), (1, 0) if swapped else (0, 1)
    rows: Any = pd.MultiIndex.from_arrays([comparison.clusterers, comparison.n_clusters])
    if all(k is None for k in comparison.n_clusters):
        rows = comparison.clusterers
    table = pd.DataFrame(comparison.distribution[:, a, :, *pair], index=rows)
    trivial = comparison.trivial[:, :, *pair].mean(axis=1)
    return table[(trivial <= TRIVIAL_AT_MOST) & (table.isna().mean(axis=1) <= FAILED_AT_MOST)]


def best(curve: pd.DataFrame) -> Any:
    """The row with the highest mean."""
    return curve.mean(axis=1).idxmax()


def behind(curve: pd.DataFrame, at: Any) -> tuple[float, float]:
    """How far a row is below the highest: mean of the resample-wise differences, and its standard error."""
    difference = (curve.loc[best(curve)] - curve.loc[at]).dropna()
    return float(difference.mean()), float(difference.sem())


def as_high(curve: pd.DataFrame, at: Any) -> bool:
    """Whether a row is not below the highest by more than two standard errors of the difference."""
    if at not in curve.index:
        return False
    mean, error = behind(curve, at)
    return mean <= 2 * error


def clearly_highest(curve: pd.DataFrame, at: Any) -> bool:
    """Whether a row is above every other by more than two standard errors of the difference."""
    if at not in curve.index:
        return False
    return all(clearly_positive(curve.loc[at] - other) for k, other in curve.iterrows() if k != at)


def by_resampling(statistic: Any, curves: Sequence[pd.DataFrame], n: int = 100) -> tuple[float, float]:
    """Return a statistic of scores that share their resamples, and its standard error by drawing resamples anew."""
    tables, rng = [curve.to_numpy() for curve in curves], common.make_rng(1, 1)
    size = tables[0].shape[1]
    again = [
        statistic(*(table[:, drawn] for table in tables)) for drawn in (rng.integers(size, size=size) for _ in range(n))
    ]
    return statistic(*tables), max(float(np.std(again, ddof=1)), 1e-8)  # never as if it were exact
