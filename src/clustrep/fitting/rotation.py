"""More features than samples: the pooled studies in as many coordinates as there are samples, distances unchanged."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from weakref import finalize

import numpy as np
from scipy.linalg import qr
from sklearn.base import clone
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    OPTICS,
    AffinityPropagation,
    AgglomerativeClustering,
    Birch,
    BisectingKMeans,
    KMeans,
    MeanShift,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from clustrep.checks import read_only
from clustrep.types import FloatArray, IntArray

# Fitted attributes that are points.
CENTRES = ("cluster_centers_", "subcluster_centers_", "components_", "centroids_", "medoids_")
# Clusterers whose prediction needs more than centres: they predict in coordinates.
BOUND_TO_COORDINATES = (BisectingKMeans, GaussianMixture)


def _is_euclidean(clusterer: Any) -> bool:
    metric, power = getattr(clusterer, "metric", None), getattr(clusterer, "p", None)
    if getattr(clusterer, "metric_params", None):
        return False
    return metric in (None, "euclidean", "l2") or (metric == "minkowski" and power in (None, 2))


def _turns_with_the_data(mixture: Any) -> bool:
    if mixture.means_init is not None or mixture.precisions_init is not None:
        return False
    # Other starts of a tied covariance are computed about zero, which the rotation moves.
    starts = ("kmeans", "random") if mixture.covariance_type == "tied" else (mixture.init_params,)
    return mixture.covariance_type in ("full", "tied") and mixture.init_params in starts


# The clusterers that see distances alone, or whose model turns with the data; no subclass, which may look at features.
SAFE: Mapping[type, Callable[[Any], bool]] = MappingProxyType(
    {
        KMeans: lambda c: not callable(c.init),
        MiniBatchKMeans: lambda c: not callable(c.init),
        BisectingKMeans: lambda c: not callable(c.init),
        Birch: lambda c: not hasattr(c.n_clusters, "fit_predict"),
        AgglomerativeClustering: lambda c: c.connectivity is None and _is_euclidean(c),
        DBSCAN: _is_euclidean,
        OPTICS: _is_euclidean,
        HDBSCAN: _is_euclidean,
        SpectralClustering: lambda c: c.affinity in ("rbf", "nearest_neighbors"),
        AffinityPropagation: lambda c: c.affinity == "euclidean",
        MeanShift: lambda c: not c.bin_seeding and c.seeds is None,
        GaussianMixture: _turns_with_the_data,
    }
)


def can_rotate(clusterer: Any) -> bool:
    """Whether a clusterer finds the same clusters in rotated data."""
    safe = SAFE.get(type(clusterer))
    return safe is not None and safe(clusterer)


@dataclass(frozen=True, eq=False)
class Rotation:
    """Coordinates in the span of the pooled studies: at most as many as there are samples, distances unchanged."""

    origin: FloatArray = field(repr=False)  # (n_features,)
    coordinates: tuple[FloatArray, ...] = field(repr=False)  # of every table, (n_samples, n_coordinates)
    basis: FloatArray | None = field(repr=False)  # (n_features, n_coordinates), orthonormal

    @classmethod
    def of(cls, tables: Sequence[FloatArray], *, with_basis: bool = False) -> Rotation:
        """Rotate several tables together; the basis is needed only for points that are not among them."""
        known = None if with_basis else _recent.get(tuple(map(id, tables)))
        if known is not None:
            return known
        pooled = np.concatenate(tables).astype(float)
        origin = pooled.mean(axis=0)
        pooled -= origin  # distances stay the same, with less rounding
        mode = "economic" if with_basis else "r"
        factors = qr(pooled.T, mode=mode, overwrite_a=True, check_finite=False)
        borders = np.cumsum([len(table) for table in tables])[:-1]
        coordinates = factors[-1][: len(pooled)].T[_first_of_equals(tables)]  # R is upper triangular
        rotation = cls(
            origin,
            tuple(read_only(np.ascontiguousarray(part)) for part in np.split(coordinates, borders)),
            factors[0] if with_basis else None,
        )
        if not with_basis:
            _keep(tables, rotation)
        return rotation

    def project(self, points: FloatArray) -> FloatArray:
        """Give any points their coordinates; what lies outside the span is the same for all distances of a point."""
        assert self.basis is not None
        return np.asarray((points - self.origin) @ self.basis)

    def restore(self, coordinates: FloatArray) -> FloatArray:
        """Give coordinates their features back."""
        assert self.basis is not None
        return np.asarray(coordinates @ self.basis.T + self.origin)

    @property
    def n_features(self) -> int:
        """How many features there were."""
        return len(self.origin)

    @property
    def n_coordinates(self) -> int:
        """How many coordinates there are."""
        return int(self.coordinates[0].shape[1])


# The last rotations, by their tables and for as long as these live: a run and its null models rotate the same studies.
_recent: dict[tuple[int, ...], Rotation] = {}
MOST_RECENT = 2  # the studies in their own order, and by their names


def _keep(tables: Sequence[FloatArray], rotation: Rotation) -> None:
    """Keep a rotation; tables that can be written to may change, and are not known again."""
    if any(table.flags.writeable for table in tables):
        return
    key = tuple(map(id, tables))
    _recent[key] = rotation
    for table in tables:
        finalize(table, _recent.pop, key, None)
    for oldest in list(_recent)[:-MOST_RECENT]:
        _recent.pop(oldest, None)


def _first_of_equals(tables: Sequence[FloatArray]) -> IntArray:
    """For every row of the pooled tables the first that equals it: equal rows must have equal coordinates."""
    rows = [row for table in tables for row in table]
    seen: dict[int, int] = {}  # the content of a row, and the first row with it
    places = [seen.setdefault(hash((row + 0.0).tobytes()), i) for i, row in enumerate(rows)]  # −0.0 equals 0.0
    return np.array([place if np.array_equal(rows[place], rows[i]) else i for i, place in enumerate(places)])


def needs_basis(clusterer: Any) -> bool:
    """Whether a clusterer has parameters that are points."""
    return isinstance(getattr(clusterer, "init", None), np.ndarray | list | tuple)


def in_coordinates(clusterer: Any, rotation: Rotation) -> Any:
    """Return a copy of a clusterer that does in coordinates what it would do with all features."""
    parameters = clusterer.get_params(deep=False)
    changes = {}
    if isinstance(clusterer, KMeans | MiniBatchKMeans):
        # Relative to a variance that scikit-learn divides by the number of features.
        changes["tol"] = parameters["tol"] * rotation.n_coordinates / rotation.n_features
    if needs_basis(clusterer):
        changes["init"] = rotation.project(np.asarray(parameters["init"]))
    return clone(clusterer).set_params(**changes)


def with_features(fitted: Any, rotation: Rotation, clusterer: Any) -> Any:
    """Return a copy of a clusterer fitted in coordinates, with all features in its centres and in its parameters.

    Where more than centres is needed to predict, a pipeline is returned that gives points their coordinates first.
    """
    restored = copy.copy(fitted)
    parameters = clusterer.get_params(deep=False)
    restored.set_params(**{name: parameters[name] for name in ("tol", "init") if name in parameters})
    if isinstance(fitted, BOUND_TO_COORDINATES):
        return make_pipeline(FunctionTransformer(rotation.project), restored)
    restored.n_features_in_ = rotation.n_features
    for name in CENTRES:
        centres = getattr(fitted, name, None)
        if isinstance(centres, np.ndarray) and centres.shape[1:] == (rotation.n_coordinates,):
            setattr(restored, name, rotation.restore(centres))
    if isinstance(restored, Birch):
        restored._subcluster_norms = np.square(restored.subcluster_centers_).sum(axis=1)  # what its `predict` needs
    return restored
