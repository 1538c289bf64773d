"""Tables with missing values, completed for what needs coordinates."""

from __future__ import annotations

import numpy as np

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
