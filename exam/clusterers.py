"""The clusterers that sit the exam, each with the values of its parameter."""

from __future__ import annotations

from typing import Any, NamedTuple

from clustrep.algorithms.compare import configurations_to_compare
from clustrep.fitting.parameters import Configuration

NUMBERS = tuple(range(2, 9))
RESOLUTIONS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
NAMES = ("kmeans", "ward", "gmm", "leiden")


class Clusterer(NamedTuple):
    """A clusterer, and what `analyse` varies."""

    clusterer: Any
    options: dict[str, Any]

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """Every value of what is varied."""
        options = self.options
        return configurations_to_compare(self.clusterer, options.get("n_clusters"), options.get("param_grid"))


def clusterer_of(name: str) -> Clusterer:
    """Return a clusterer by its name: 2 to 8 clusters, or six resolutions.

    Parameters
    ----------
    name : {"kmeans", "ward", "gmm", "leiden"}
    """
    from sklearn.cluster import AgglomerativeClustering, KMeans
    from sklearn.mixture import GaussianMixture

    if name == "leiden":
        from clustrep.fitting.communities import Leiden

        return Clusterer({"leiden": Leiden()}, {"param_grid": {"resolution": RESOLUTIONS}})
    by_name = {
        "kmeans": {"k-means": KMeans(n_init=5)},
        "ward": {"ward": AgglomerativeClustering()},
        "gmm": {"Gaussian mixture": GaussianMixture()},
    }
    return Clusterer(by_name[name], {"n_clusters": NUMBERS})
