"""Leiden and Louvain: communities in a graph of nearest neighbours, as clusterers of scikit-learn's kind.

igraph, which finds the communities, is under the GPL: it is an extra, and only imported when one of them is fitted.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from clustrep.cached import cached_property
from clustrep.checks import check_integer, check_positive
from clustrep.errors import ParameterError
from clustrep.execution.seeds import one_at_a_time
from clustrep.fitting.neighbours import Metric, nearest_point, neighbours, scipy_metric
from clustrep.fitting.parameters import table_for
from clustrep.types import FloatArray, IntArray, Labels

# Weights are whole multiples of this: then their sums have no rounding, in whatever order a processor adds them.
WEIGHT_UNIT = 2.0**-10
# Seeds of igraph's random numbers, from generators that have no other whole number to give.
LARGEST_SEED = 2**32


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """Points joined with their nearest neighbours; the weight says how many neighbours two points share."""

    n_points: int
    edges: IntArray  # (n_edges, 2), the smaller number first, sorted
    weights: FloatArray  # (n_edges,)

    @classmethod
    def of(cls, nearest: IntArray) -> NeighbourGraph:
        """Join every point with its neighbours, (n_points, n_neighbours); weights are Jaccard's of the two lists.

        A point belongs to its own list, so that any two neighbours share something.
        """
        n, k = nearest.shape
        if k == 0:
            return cls(n, np.empty((0, 2), dtype=np.int64), np.empty(0))
        lists = np.column_stack([np.arange(n), nearest]).ravel()
        starts = np.arange(0, len(lists) + 1, k + 1)
        belongs = sparse.csr_array((np.ones(len(lists), dtype=np.int32), lists, starts), shape=(n, n))
        shared = sparse.coo_array(sparse.triu((belongs @ belongs.T) * belongs.maximum(belongs.T), k=1))
        order = np.lexsort((shared.col, shared.row))
        counts = shared.data[order].astype(float)
        jaccard = counts / (2 * (k + 1) - counts)
        edges = np.column_stack([shared.row, shared.col])[order]
        return cls(n, edges.astype(np.int64), np.round(jaccard / WEIGHT_UNIT) * WEIGHT_UNIT)

    @cached_property
    def network(self) -> Any:
        """The graph as igraph has it; made once for all resolutions, because that takes as long as a clustering."""
        return import_igraph("A graph of neighbours").Graph(n=self.n_points, edges=self.edges)

    @cached_property
    def listed_weights(self) -> list[float]:
        """The weights as igraph takes them."""
        return list(self.weights.tolist())


def neighbour_graph(points: FloatArray, n_neighbors: int, metric: Metric) -> NeighbourGraph:
    """Make the graph of some points: of fewer than asked for, all others are neighbours.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        The points, all different.
    n_neighbors : int
        How many neighbours each has.
    metric : str or function
        Any of `scipy.spatial.distance.cdist`.

    Returns
    -------
    NeighbourGraph
    """
    n_nearest = min(n_neighbors, len(points) - 1)
    return NeighbourGraph.of(neighbours(points, n_nearest, metric))


def by_size(membership: IntArray) -> IntArray:
    """Number clusters by their size, the largest 0; of equal ones the one that comes first."""
    distinct, first, codes, sizes = np.unique(membership, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(distinct))
    return np.asarray(rank[codes])


class Communities(ClusterMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """What Leiden and Louvain have in common: the graph, its random numbers, and new points."""

    packages: ClassVar[tuple[str, ...]] = ("igraph",)  # whose versions results name

    def __init__(
        self,
        resolution: float = 1.0,
        n_neighbors: int = 15,
        metric: Metric = "euclidean",
        *,
        random_state: Any = None,
    ):
        self.resolution = resolution
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.random_state = random_state

    def check(self) -> None:
        """Check the parameters, before anything is fitted."""
        check_positive(self.resolution, "resolution")
        check_integer(self.n_neighbors, "n_neighbors")

    def fit(self, X: ArrayLike, y: object = None) -> Communities:
        """Find communities among the rows of X: `labels_`, the largest cluster 0, and `n_clusters_`."""
        self.check()
        table = check_array(X, dtype=(np.float64, np.float32))
        points, inverse = distinct_rows(table)
        codes = self.communities(neighbour_graph(points, self.n_neighbors, self.metric))
        self._nearest, self._codes = nearest_point(points, scipy_metric(self.metric)), codes
        self.labels_ = codes[inverse]
        self.n_clusters_ = int(codes.max()) + 1
        self.n_features_in_ = table.shape[1]
        return self

    def predict(self, X: ArrayLike) -> Labels:
        """Return for every row of X the cluster of the nearest training point."""
        check_is_fitted(self, "labels_")
        return np.asarray(self._codes[self._nearest(table_for(self, X))])

    def communities(self, graph: NeighbourGraph) -> IntArray:
        """Return the community of every point of a graph, (n_points,), the largest 0."""
        igraph = import_igraph(type(self).__name__)
        network, weights = graph.network, graph.listed_weights
        with one_at_a_time:  # igraph has one source of random numbers for all threads, as those of a Dask worker
            igraph.set_random_number_generator(random.Random(self._seed()))
            try:
                membership = self._membership(network, weights)
            finally:
                igraph.set_random_number_generator(random)  # what it has unless it is told otherwise
        return by_size(np.array(membership, dtype=np.int64))

    @abstractmethod
    def _membership(self, network: Any, weights: list[float]) -> list[int]:
        """Let igraph find the communities."""

    def _seed(self) -> int | None:
        state = self.random_state
        if state is None:
            return None
        if hasattr(state, "integers"):
            return int(state.integers(LARGEST_SEED))
        return int(state.randint(LARGEST_SEED)) if hasattr(state, "randint") else int(state)


class Leiden(Communities):
    """Leiden's communities in the graph of nearest neighbours: the usual clusters of single cells.

    Parameters
    ----------
    resolution : float, default=1.0
        Above 0. The larger, the more and the smaller clusters.
    n_neighbors : int, default=15
        How many nearest neighbours a point is joined with.
    metric : str or function, default="euclidean"
        Distance, as in `scipy.spatial.distance.cdist`.
    n_iterations : int, default=2
        How often the algorithm goes over the whole graph; -1 until nothing improves, which may take much longer.
    random_state : int, RandomState, Generator or None, default=None

    See Also
    --------
    Louvain : The older algorithm on the same graph.
    compare : Takes `param_grid={"resolution": [...]}`.

    Notes
    -----
    Neighbours are exact; of points at equal distance the first counts, in the order of their coordinates. Two points
    are joined where either is among the `n_neighbors` nearest of the other, with the weight |A ∩ B| / |A ∪ B|, A and B
    being their neighbours and they themselves [2]_: distances enter by their order alone. Weights are whole multiples
    of 2⁻¹⁰, so that sums of them have no rounding: clusters do not depend on the processor, the number of workers or
    the order of the rows. scanpy's weights are other ones (UMAP's), so its clusters at the same resolution differ.

    Equal rows are one point: copies of a cell in a bootstrap draw would be each other's nearest neighbours and form
    clusters of their own (docs/single-cells.md has a simulation).

    A new point belongs to the cluster of the nearest training point. igraph is needed: ``pip install
    "clustrep[graph]"``. It has one source of random numbers for the whole process, which is Python's `random` after
    every fit.

    References
    ----------
    .. [1] Traag, V. A., Waltman, L. and van Eck, N. J. (2019). From Louvain to Leiden: guaranteeing well-connected
       communities. Scientific Reports 9, 5233.
    .. [2] Levine, J. H. et al. (2015). Data-driven phenotypic dissection of AML reveals progenitor-like cells that
       correlate with prognosis. Cell 162, 184-197.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(8, 1, size=(40, 2))])
    >>> clusterer = Leiden(resolution=0.1, random_state=0).fit(X)
    >>> np.bincount(clusterer.labels_).tolist(), clusterer.predict([[8.0, 8.0]]).tolist()
    ([60, 40], [1])
    """

    def __init__(
        self,
        resolution: float = 1.0,
        n_neighbors: int = 15,
        metric: Metric = "euclidean",
        *,
        n_iterations: int = 2,
        random_state: Any = None,
    ):
        super().__init__(resolution, n_neighbors, metric, random_state=random_state)
        self.n_iterations = n_iterations

    def check(self) -> None:
        """Check the parameters, before anything is fitted."""
        super().check()
        if self.n_iterations != -1:
            check_integer(self.n_iterations, "n_iterations")

    def _membership(self, network: Any, weights: list[float]) -> list[int]:
        clustering = network.community_leiden(
            "modularity", weights=weights, resolution=self.resolution, n_iterations=self.n_iterations
        )
        return list(clustering.membership)


class Louvain(Communities):
    """Louvain's communities in the graph of nearest neighbours.

    Parameters
    ----------
    resolution, n_neighbors, metric, random_state
        As in `Leiden`.

    See Also
    --------
    Leiden : Its successor, whose clusters are connected.

    Notes
    -----
    The graph, its weights, equal rows and new points are as in `Leiden`.

    References
    ----------
    .. [1] Blondel, V. D., Guillaume, J.-L., Lambiotte, R. and Lefebvre, E. (2008). Fast unfolding of communities in
       large networks. Journal of Statistical Mechanics, P10008.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(8, 1, size=(40, 2))])
    >>> np.bincount(Louvain(resolution=0.1, random_state=0).fit_predict(X)).tolist()
    [60, 40]
    """

    def _membership(self, network: Any, weights: list[float]) -> list[int]:
        return list(network.community_multilevel(weights=weights, resolution=self.resolution).membership)


def distinct_rows(table: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the different rows in the order of their coordinates, and which of them each row of the table is."""
    points, inverse = np.unique(table, axis=0, return_inverse=True)
    return points, np.asarray(inverse).ravel()


def import_igraph(needed_by: str) -> Any:
    """Import igraph, or say how to install it."""
    try:
        import igraph
    except ImportError:
        raise ParameterError(
            f'{needed_by} needs igraph: install it with pip install "clustrep[graph]".', parameter="clusterer"
        ) from None
    return igraph
