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
    "verdict": "text",
    "counterpart": "text",
    "k": "count",
    "size": "count",
    "samples": "count",
    "features": "count",
    "failed": "count",
    "pvalue": "p",
    "qvalue": "p",
    "adjusted": "p",
    "probability_best": "share",
    "found": "share",
    "trivial": "share",
    "rival": "flag",
    "apart": "flag",
    "complete": "flag",
    "lacks": "flag",
    "blurred": "flag",
    "share": "share",
    "share_elsewhere": "share",
    "lacks_pvalue": "p",
    "blurred_pvalue": "p",
    "of the others": "count",
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
    "cluster": "The cluster, and the most frequent known label of its samples where labels are known",
    "size": "Samples in the cluster",
    "verdict": "Whether the cluster holds in the other study",
    "score": "Score of the studies as they are (R̂)",
    "estimate": "Score of the studies as they are (R̂)",
    "observed": "Score of the studies as they are (R̂), mean over pairs",
    "mean": "Mean over resamples",
    "sd": "Standard deviation over resamples",
    "median": "Median over resamples",
    "low": "Lower end of the 95 % interval",
    "high": "Upper end of the 95 % interval",
    "null_mean": "Mean score of simulated data without clusters",
    "null_low": "Lower end of the 95 % range of simulated data without clusters",
    "null_high": "Upper end of the 95 % range of simulated data without clusters",
    "excess": "How far R̂ lies above the mean of simulated data without clusters",
    "separateness": "Share of the held-out spread between clusters, beside that of principal axes",
    "null_separateness": "The same in simulated data without clusters",
    "pvalue": "Chance of such a value without clusters",
    "qvalue": "p-value adjusted for the false discovery rate",
    "adjusted": "p-value adjusted for the chance of any false finding",
    "probability_best": "Share of resamples in which none scores higher",
    "rival": "Whether it is not distinguishable from the best",
    "trivial": "Scores in which one partition is a single cluster",
    "failed": "Scores that failed and were omitted",
    "counterpart": "The cluster of the other study that it is matched with",
    "overlap": "Jaccard coefficient of the two on the tested study's samples",
    "found": "Share of resamples in which both clusters were found again",
    "gap": "How far the scores with other studies lie below those within studies",
    "gap_low": "Lower end of its 95 % interval",
    "gap_high": "Upper end of its 95 % interval",
    "contrast": "How much farther below than the pairs without this study",
    "contrast_low": "Lower end of its 95 % interval",
    "contrast_high": "Upper end of its 95 % interval",
    "closest_high": "Upper end of the difference to the closest partner",
    "apart": "Whether the study stands apart, or the pair of clusters is kept apart",
    "a": "A cluster",
    "b": "Its neighbour",
    "left": "Held-out samples around the centre of the first cluster",
    "middle": "Held-out samples half-way between the centres",
    "right": "Held-out samples around the centre of the second cluster",
    "side": "The count that the middle is compared with",
    "depth": "1 − middle / side: 1 is an empty gap, 0 none",
    "near_depth": "The depth between the facing halves of the groups",
    "groups": "Number of groups with gaps between them",
    "complete": "Whether every cluster is a group of its own",
    "pvalue_k": "p-value of any gap at this k",
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
    "word": "What became of the cluster in the other study",
    "partner": "The clusters of the test study that correspond to it",
    "n_like": "Samples of the test study that are like the cluster",
    "expected": "Samples that the training study's share predicts",
    "share": "Share of the study's samples",
    "of the others": "A cluster that was learned on all other studies; numbered for each study by itself",
    "share_elsewhere": "Share of the other studies' samples",
    "lacks": "Whether the study's share is less than half of the others'",
    "lacks_pvalue": "p-value of that, adjusted for all studies and clusters",
    "blurred": "Whether the others' clusters are no separate groups in the study",
    "blurred_pvalue": "p-value of that, adjusted for all studies",
    "unexplained": "Share of the study's spread that the others' clusters leave unexplained",
    "outcome": "Whether the cluster has parts with a gap between them",
    "parts": "Number of its parts",
    "count": "Samples of the study in the cluster",
    "gap_pvalue": "p-value of a gap beside the cluster in the test study",
}
MOST_COLUMNS = 6  # that a page shows before more are asked for
LABELS = {
    "pvalue": "p",
    "qvalue": "q",
    "adjusted": "adjusted p",
    "null_mean": "without clusters",
    "null_low": "without clusters, low",
    "null_high": "without clusters, high",
    "estimate": "R̂",
    "observed": "R̂",
    "lacks_pvalue": "p of lacks",
    "blurred_pvalue": "p of blurred",
    "of the others": "cluster of the others",
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
CLUSTERS = (
    "train",
    "cluster",
    "test",
    "verdict",
    "estimate",
    "qvalue",
    "size",
    "null_mean",
    "pvalue",
    "mean",
    "low",
    "high",
)
COUNTERPARTS = ("train", "cluster", "test", "counterpart", "overlap", "found", "low", "high")
RELATIONS = (
    "study",
    "apart",
    "gap",
    "gap_low",
    "gap_high",
    "contrast",
    "contrast_low",
    "contrast_high",
    "closest_high",
)
DIFFERENCES = (
    "study",
    "of the others",
    "share",
    "share_elsewhere",
    "lacks",
    "lacks_pvalue",
    "blurred",
    "blurred_pvalue",
    "unexplained",
)
TREE = ("cluster", "size", "outcome", "adjusted", "study", "word", "count", "share", "level", "clusterer", "k")
GAPS = (
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
) -> Table:
    """Write a frame as a table of plain types; of `columns`, those that it has.

    Columns after the sixth are shown on demand ("more"). `explanations` are for columns of this table alone; `note`
    stands below it.
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
                "more": place >= MOST_COLUMNS,
            }
            for place, column in enumerate(kept)
        ],
        "rows": [
            {column: plain_value(value) for column, value in zip(kept, row, strict=True)}
            for row in frame[kept].itertuples(index=False, name=None)
        ],
    }


def without_zero_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out the counts of trivial and failed scores where there are none."""
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
