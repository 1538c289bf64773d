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
    >>> label("leiden, resolution = 9", None, 123.4)
    'leiden, resolution = 9 (123 clusters)'
    """
    if clusters_found is not None:
        number = f"{clusters_found:.2g}" if clusters_found < 9.95 else f"{clusters_found:.0f}"
        return f"{clusterer} ({number} clusters)"
    return clusterer if n_clusters is None else f"{clusterer}, k = {n_clusters}"
