"""The name of a configuration, the same in results, figures and reports."""

from __future__ import annotations


def label(clusterer: str, n_clusters: int | None, clusters_found: float | None = None) -> str:
    """Name a configuration: its clusterer, and its number of clusters where one was asked for, or how many it found.

    Examples
    --------
    >>> label("ward", 3)
    'ward, k = 3'
    >>> label("DBSCAN", None)
    'DBSCAN'
    >>> label("leiden, resolution = 0.5", None, 4.25)
    'leiden, resolution = 0.5 (4.2 clusters)'
    """
    if clusters_found is not None:
        return f"{clusterer} ({clusters_found:.2g} clusters)"
    return clusterer if n_clusters is None else f"{clusterer}, k = {n_clusters}"
