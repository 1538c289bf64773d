"""Mean and spread of the scores of many points over resamples."""

from __future__ import annotations

import numpy as np

from clustrep._kernels.compiled import compiled
from clustrep.types import FloatArray, IntArray


@compiled
def add_scores(tables: FloatArray, rows: IntArray, columns: IntArray, counts: FloatArray, totals: FloatArray) -> None:
    """Count the scores of every point that are numbers, and add them up, one resample after the other.

    tables : (n_resamples, k_rows, k_columns); rows, columns : (n_resamples, n_points); counts, totals : (n_points,)
    """
    for b in range(len(tables)):
        for i in range(len(totals)):
            score = tables[b, rows[b, i], columns[b, i]]
            if not np.isnan(score):
                counts[i] += 1.0
                totals[i] += score


@compiled
def add_squares(tables: FloatArray, rows: IntArray, columns: IntArray, means: FloatArray, squares: FloatArray) -> None:
    """Add up the squared distances of every point's scores from its mean, as `add_scores` adds scores."""
    for b in range(len(tables)):
        for i in range(len(squares)):
            difference = tables[b, rows[b, i], columns[b, i]] - means[i]
            if not np.isnan(difference):
                squares[i] += difference * difference
