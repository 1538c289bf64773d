"""Frames → tables of plain types: what each column is called, and what kind of value it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from clustrep.figures.charts import numbers

Table = dict[str, Any]

# How values are written: see `formatting`. Floats that are not named here are numbers, all else is text.
KIND_OF_COLUMN = {
    "k": "count",
    "size": "count",
    "samples": "count",
    "features": "count",
    "failed": "count",
    "pvalue": "p",
    "qvalue": "p",
    "adjusted": "p",
    "probability_best": "share",
    "found": "count",
    "of": "count",
    "n": "count",
    "clusters": "count",
    "own_clusters": "count",
    "own_pvalue": "p",
    "valley_p": "p",
    "status": "sign",
    "trivial": "share",
    "rival": "flag",
    "apart": "flag",
    "complete": "flag",
    "share": "share",
    "groups": "count",
    "left": "count",
    "middle": "count",
    "right": "count",
    "side": "count",
    "pvalue_k": "p",
    "adjusted_k": "p",
    "level": "p",
    "parts": "count",
    "count": "count",
}
# What a column holds, for those who point at its header; of columns that are named after a study, its own words.
EXPLANATIONS = {
    "space": "The coordinates in which clusterings were learned and test samples labelled",
    "study": "The study",
    "samples": "Number of samples",
    "features": "Number of features that all studies share",
    "scale": "How the features were scaled",
    "digest": "A fingerprint of the data",
    "clusterer": "The clustering algorithm",
    "k": "Number of clusters; empty where the algorithm finds it by itself",
    "parameter": "The parameter of which several values were tried",
    "clusters_found": "Number of clusters found, mean over resamples and studies",
    "agreement": "How two partitions are compared",
    "train": "The study in which clusters are learned",
    "test": "The study in which they are looked for",
    "cluster": "The cluster",
    "size": "Samples in the cluster",
    "score": "Observed score (R̂)",
    "estimate": "Observed score (R̂)",
    "observed": "Observed score (R̂), mean over pairs",
    "mean": "Mean over resamples",
    "sd": "Standard deviation over resamples",
    "median": "Median over resamples",
    "low": "Lower end of the 95 % interval",
    "high": "Upper end of the 95 % interval",
    "null_mean": "Mean of the null distribution",
    "null_low": "2.5 % quantile of the null distribution",
    "null_high": "97.5 % quantile of the null distribution",
    "excess": "Observed score (R̂) minus the mean of the null distribution",
    "separateness": "Share of the held-out spread between clusters, beside that of principal axes",
    "null_separateness": "The same in simulated null data",
    "pvalue": "p-value under the null model",
    "qvalue": "p-value adjusted for the false discovery rate",
    "adjusted": "p-value adjusted for the chance of any false finding",
    "probability_best": "Share of resamples in which none scores higher",
    "rival": "Whether it is not distinguishable from the best",
    "trivial": "Scores in which one partition is a single cluster",
    "failed": "Scores that failed and were omitted",
    "found": "Studies in which the cluster is found, merged or split",
    "apart": "Whether the two clusters are separated",
    "a": "A cluster",
    "b": "Its neighbour",
    "left": "Held-out samples around the centre of the first cluster",
    "middle": "Held-out samples halfway between the centres",
    "right": "Held-out samples around the centre of the second cluster",
    "side": "The count that the middle is compared with",
    "depth": "Valley depth, 1 − middle / side: 1 is an empty middle, 0 no valley",
    "near_depth": "The depth between the facing halves of the clusters",
    "groups": "Number of separated clusters",
    "complete": "Whether all k clusters are separated",
    "pvalue_k": "p-value of any density valley at this k",
    "adjusted_k": "The same, adjusted for all k that were tried",
    "index": "The index",
    "value": "Its value",
    "better": "Whether higher or lower values are better",
    "statistic": "The test's statistic",
    "n_resamples": "Number of simulated data sets",
    "null": "What is simulated",
    "dissolved": "Share of resamples in which the cluster dissolved",
    "recovered": "Share of resamples in which the cluster was recovered",
    "consensus": "How often two samples of the cluster are clustered together",
    "pac": "Share of pairs of samples that are together neither nearly always nor nearly never",
    "cri": "How consistently samples are assigned to the cluster",
    "wcri": "The same, weighted by size",
    "proportion": "Share of samples whose nearest neighbour is in the same cluster",
    "share": "Share of the study's samples",
    "outcome": "Whether the cluster has parts with a density valley between them",
    "parts": "Number of its parts",
    "count": "Samples of the study in the cluster",
    "status": "Whether the cluster is found in the study",
    "n": "Number of samples",
    "of": "Studies that could show the cluster: all but those with the status undetermined",
    "clusters": "Number of clusters found in the study",
    "own_clusters": "Number of clusters that the study shows by itself",
    "own_pvalue": "p-value of the density valleys within the study by itself",
    "shift": "How far the study as a whole lies from the others, in within-cluster standard deviations",
    "mixing": "Batch mixing after alignment (scaled iLISI): 0 is none, 1 is perfect",
    "outlier": "Whether the study is an outlier, and why",
    "valley_depth": "Valley depth to the nearest cluster of the same study: 1 is an empty valley, 0 none",
    "valley_p": "p-value of that valley",
    "replicability": "Local replicability, mean over the other studies",
    "label": "The known label",
}
MOST_COLUMNS = 6  # that a page shows before more are asked for
LABELS = {
    "pvalue": "p",
    "qvalue": "q",
    "adjusted": "adjusted p",
    "null_mean": "null mean",
    "null_low": "null low",
    "null_high": "null high",
    "estimate": "R̂",
    "observed": "R̂",
    "valley_p": "valley p",
    "own_pvalue": "own p",
    "trivial": "single-cluster",
    "groups": "separated clusters",
    "apart": "separated",
    "complete": "all separated",
}
# Columns of tables that have more than a page needs; the first six are shown, the others on demand.
CHOICE = (
    "clusterer",
    "k",
    "clusters_found",
    "mean",
    "low",
    "high",
    "adjusted",
    "observed",
    "null_mean",
    "excess",
    "separateness",
    "null_separateness",
    "pvalue",
    "probability_best",
    "rival",
    "trivial",
    "failed",
)
EMBEDDED = ("clusterer", "k", "clusters_found", "agreement", "space", "score", "low", "high", "failed")
PAIRS = ("train", "test", "estimate", "mean", "low", "high", "sd", "trivial", "failed")
CLUSTERS = ("train", "cluster", "test", "estimate", "mean", "size", "low", "high", "null_mean", "pvalue", "qvalue")
FINDINGS = (
    "cluster",
    "study",
    "status",
    "n",
    "share",
    "replicability",
    "low",
    "high",
    "valley_depth",
    "valley_p",
    "shift",
)
STUDIES = ("study", "own_clusters", "shift", "scale", "mixing", "outlier", "n", "clusters", "own_pvalue")
TREE = ("cluster", "size", "outcome", "adjusted", "study", "status", "count", "share", "level", "clusterer", "k")
VALLEYS = (
    "k",
    "a",
    "b",
    "depth",
    "adjusted",
    "apart",
    "left",
    "middle",
    "right",
    "side",
    "low",
    "high",
    "pvalue",
    "pvalue_k",
    "adjusted_k",
)


def table_of(
    frame: pd.DataFrame,
    name: str,
    title: str,
    columns: Sequence[str] | None = None,
    *,
    explanations: Mapping[str, str] | None = None,
    note: str = "",
    most: int = MOST_COLUMNS,
) -> Table:
    """Write a frame as a table of plain types; of `columns`, those that it has.

    Columns after the first `most` are shown on demand ("more"). `explanations` are for columns of this table alone;
    `note` stands below it.
    """
    kept = [column for column in columns or frame.columns if column in frame]
    meaning = {**EXPLANATIONS, **(explanations or {})}
    return {
        "id": name,
        "title": title,
        "note": note,
        "columns": [
            {
                "key": column,
                "label": LABELS.get(column, column.replace("_", " ")),
                "kind": _kind(column, frame[column]),
                "title": meaning.get(column, column.replace("_", " ")),
                "more": place >= most,
            }
            for place, column in enumerate(kept)
        ],
        "rows": [
            {column: plain_value(value) for column, value in zip(kept, row, strict=True)}
            for row in frame[kept].itertuples(index=False, name=None)
        ],
    }


def without_zero_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out the counts of single-cluster and failed scores where there are none."""
    return table.drop(columns=[name for name in ("trivial", "failed") if name in table and not table[name].any()])


def plain_value(value: Any) -> Any:
    """Turn a value of a frame into JSON's: None where it is missing.

    Examples
    --------
    >>> import numpy as np
    >>> [plain_value(value) for value in (np.nan, np.float64(0.25), np.int64(3), "ward")]
    [None, 0.25, 3, 'ward']
    """
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return None
    return numbers(value)


def _kind(column: str, values: pd.Series) -> str:
    if column in KIND_OF_COLUMN:
        return KIND_OF_COLUMN[column]
    return "number" if pd.api.types.is_float_dtype(values) else "text"
