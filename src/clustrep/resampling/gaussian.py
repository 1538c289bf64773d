"""The covariance of a sample: its factor and its principal axes."""

from __future__ import annotations

import numpy as np

from clustrep.statistics import thin_svd
from clustrep.types import FloatArray


def covariance_factor(X: FloatArray) -> FloatArray:
    """Return R with RᵀR the sample covariance, (min(n, p), p): no p × p matrix where features outnumber samples."""
    R = np.linalg.qr((X - X.mean(axis=0)) / np.sqrt(len(X) - 1), mode="r")
    return np.asarray(R * np.where(np.diagonal(R) < 0, -1.0, 1.0)[:, None])  # whatever the order of rows


def principal_axes(X: FloatArray) -> FloatArray:
    """Return the principal axes, (min(n, p), p), the largest first; the first of the largest loadings is positive."""
    axes = thin_svd(X - X.mean(axis=0))[2]
    loadings = np.abs(axes)
    first = (loadings >= (1 - 1e-6) * loadings.max(axis=1, keepdims=True)).argmax(axis=1)  # up to rounding
    signs = np.take_along_axis(axes, first[:, None], axis=1)
    return np.asarray(axes * np.where(signs < 0, -1.0, 1.0))
