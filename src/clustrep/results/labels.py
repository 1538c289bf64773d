"""The name of a configuration, the same in results, figures and reports."""

from __future__ import annotations


def label(clusterer: str, n_clusters: int | None) -> str:
    """Name a configuration: its clusterer, and its number of clusters where one was asked for.

    Examples
    --------
    >>> label("ward", 3)
    'ward, k = 3'
    >>> label("DBSCAN", None)
    'DBSCAN'
    """
    return clusterer if n_clusters is None else f"{clusterer}, k = {n_clusters}"
