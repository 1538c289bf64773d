"""Tables with missing values, completed for what needs coordinates."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from clustrep.errors import DataError
from clustrep.types import FloatArray

NEIGHBOURS = 5


def completed(X: FloatArray) -> FloatArray:
    """Fill in missing values by the means of the nearest samples; a table without any is returned as it is.

    Clusters are never learned from this table: it gives coordinates to what is looked at afterwards, such as gaps.

    Examples
    --------
    >>> import numpy as np
    >>> completed(np.array([[0.0, 1.0], [0.0, np.nan], [9.0, 5.0]])).tolist()
    [[0.0, 1.0], [0.0, 3.0], [9.0, 5.0]]
    """
    if not np.isnan(X).any():
        return X
    from sklearn.impute import KNNImputer

    filled = KNNImputer(n_neighbors=NEIGHBOURS, keep_empty_features=True).fit_transform(X)
    return np.asarray(filled, dtype=X.dtype)


# ---------------------------------------------------------------------------------------------------------------------
# Tables of counts: checked, and normalised as scanpy does it


# Above this, a number in double precision need not be a whole one.
LARGEST_COUNT = 2**53


def check_counts(X: FloatArray, subject: str, remedy: str) -> None:
    """Check that all values are whole numbers from 0; `remedy` is the advice where they are not."""
    wrong = (np.rint(X) != X) | (X < 0) | (X > LARGEST_COUNT)
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise DataError(
            f"{subject} must hold counts, whole numbers from 0, but has {X[i, j]:g} in row {i + 1}, column {j + 1}: "
            f"{remedy}"
        )


def median_total(X: FloatArray) -> float:
    """Return the median of the samples' totals, without samples that have none; 1 where no sample has any."""
    totals = X.sum(axis=1, dtype=float)
    return float(np.median(totals[totals > 0])) if (totals > 0).any() else 1.0


def log_normalised(X: FloatArray, target_sum: float) -> FloatArray:
    """Bring all samples to one total, and return log(1 + x): scanpy's `normalize_total`, then `log1p`."""
    totals = X.sum(axis=1, keepdims=True, dtype=float)
    return np.asarray(np.log1p(X / np.where(totals > 0, totals, 1.0) * target_sum).astype(X.dtype))


# ---------------------------------------------------------------------------------------------------------------------
# How features are scaled: the names. `Studies.scaled` has the formulas


Scale: TypeAlias = str  # one of SCALES, or "reference=NAME" with the name of a study

SCALES = ("none", "pooled", "study")

SCALES_OF_ONE = ("none", "study")  # those that need no other study

REFERENCE = "reference="

AUTO = "auto"  # an analysis decides: it takes the studies unscaled
