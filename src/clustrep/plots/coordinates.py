"""Where points are drawn: coordinates that were given, or two dimensions of the points themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clustrep.checks import check_choice
from clustrep.errors import DataError, ParameterError
from clustrep.execution.seeds import one_thread
from clustrep.resampling.gaussian import principal_axes
from clustrep.types import FloatArray

EMBEDDINGS = ("tsne", "pca")
FEWEST_FOR_TSNE = 4


def check_coordinates(points: ArrayLike | None, memory: FloatArray | None, n: int, name: str) -> FloatArray:
    """Check coordinates of n samples; for None or the name of an embedding, take those in memory.

    Parameters
    ----------
    points : array-like of shape (n, n_dimensions), {"tsne", "pca"} or None
        What a user passed.
    memory : ndarray of shape (n, n_features), or None
        The samples themselves; None for a result that was read from a file.
    n : int
        How many samples there are.
    name : str
        The parameter, for errors.
    """
    if isinstance(points, str):
        check_choice(points, name, EMBEDDINGS, or_else="an array")
    if points is None or isinstance(points, str):
        if memory is None:
            raise ParameterError(
                f"{name} must be given: this result was read from a file, which holds no coordinates.", parameter=name
            )
        points = memory
    xy = np.asarray(points)
    if xy.ndim != 2 or len(xy) != n or not xy.shape[1]:
        raise DataError(f"{name} must have {n} rows, got an array of {xy.shape}.")
    if xy.dtype.kind not in "iuf" or not np.isfinite(xy).all():
        raise DataError(f"{name} must be numbers, none of them missing or infinite.")
    return xy.astype(float)


def in_two_dimensions(X: FloatArray, how: str | None) -> tuple[FloatArray, tuple[str, str]]:
    """Return coordinates of shape (n_samples, 1 or 2), and their names; a row with missing numbers has none.

    One or two features are taken without change, more by their first two principal components; "tsne" and "pca" are
    taken whatever the number of features.
    """
    known = np.isfinite(X).all(axis=1)
    if how == "tsne":
        from sklearn.manifold import TSNE

        n = np.count_nonzero(known)
        if n < FEWEST_FOR_TSNE:
            raise ParameterError(
                f"'tsne' needs at least {FEWEST_FOR_TSNE} points, got {n}: use 'pca'.", parameter="points"
            )
        start, placed = "pca" if X.shape[1] > 1 else "random", np.full((len(X), 2), np.nan)
        with one_thread():
            placed[known] = TSNE(perplexity=min(30.0, (n - 1) / 3), init=start, random_state=0).fit_transform(X[known])
        return placed, ("first t-SNE coordinate", "second t-SNE coordinate")
    if X.shape[1] == 1:
        return X, ("the feature", "")
    if X.shape[1] == 2 and how is None:
        return X, ("first coordinate", "second coordinate")
    centre = X[known].mean(axis=0)
    axes = principal_axes(X[known])[:2]
    placed = np.zeros((len(X), 2))
    placed[:, : len(axes)] = (X - centre) @ axes.T  # a single point has a single component
    return placed, ("first principal component", "second principal component")
