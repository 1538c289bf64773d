"""Clusterers and comparisons that several tests of counterparts share."""

from __future__ import annotations

import numpy as np


def jaccard_of_sets(u, v):
    """None where a set is empty: tests of their own are about that."""
    return len(u & v) / len(u | v) if u and v else None


def thresholds(*cuts):
    """A clustering function of position alone: 0, 1, … from left to right."""

    def cut(X):
        return np.searchsorted(cuts, X[:, 0])

    return cut


def once_or_twice(X):
    """Two clusters where the study was drawn with its rightmost sample, otherwise one."""
    return (X[:, 0] > 50).astype(int)
