"""The run of `validate` and its summaries that several tests share."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from clustrep.agreement.cluster_indices import INDICES

ROOT = 5
B, S = 5, 4  # resamples, splits
RUN = {"n_resamples": B, "n_splits": S, "rng": ROOT}
NUMBERS = [3, 2]
KMEANS = KMeans(n_init=2)


def blobs():
    """Three clusters that run into each other, and three features."""
    centres = np.repeat([[0.0, 0.0, 0.0], [2.5, 0.0, 1.0], [0.0, 2.5, -1.0]], [12, 10, 8], axis=0)
    return np.random.default_rng(4).normal(size=(30, 3)) + centres


X = blobs()
X.flags.writeable = False


calls = []


def counted(X, n_clusters=2):
    """Cut the points by the rank of their first feature, and keep count."""
    calls.append((len(X), n_clusters))
    return np.argsort(np.argsort(X[:, 0], kind="stable"), kind="stable") * n_clusters // len(X)


def rows_of(validation, index):
    frame = validation.to_frame()
    return frame[frame["index"] == index].drop(columns="index").reset_index(drop=True)


def summary(values):
    """Mean, sd and interval of the replicates that have a value."""
    values = values[~np.isnan(values)]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(np.nanmean(values)), float(values.std(ddof=1)), low, high


def expect(validation, index, rows):
    """Compare all rows of an index, bit for bit."""
    found = rows_of(validation, index)
    assert found["k"].tolist() == [row[0] if row[0] is not None else pd.NA for row in rows]
    assert found["cluster"].tolist() == [str(row[1]) for row in rows]
    assert found["size"].tolist() == [row[2] for row in rows]
    numbers = [[*row[3:], *[np.nan] * (7 - len(row))] for row in rows]
    np.testing.assert_array_equal(found[["value", "sd", "low", "high"]].to_numpy(), numbers)
    assert set(found["better"]) == {"higher" if INDICES[index].higher_is_better else "lower"}


def stability_rows(result, k):
    rows = []
    if result.index != "matching":
        low, high = result.confidence_interval()
        rows = [
            (k, *row)
            for row in zip(result.clusters, result.sizes, result.per_cluster, result.sd, low, high, strict=True)
        ]
    return [*rows, (k, "all", len(result.labels), *summary(result.overall_distribution))]


LABELS = np.repeat(["lum", "her2", "basal"], [15, 9, 6])
