"""Any clusterer → ψ, the clustering function that it learns from a sample (section 2.1 of the paper).

A clusterer is an object with `fit_predict`, or a function X → labels. ψ is the clusterer's own `predict` where it has
one; else it is induced: a new point gets the label of the nearest training point, in the space that the clusterer saw.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist, minkowski
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from clustrep._types import FloatArray, IntArray, Labels
from clustrep._validation import as_table, check_labels, check_points, listing, plural
from clustrep.contingency import NOISE
from clustrep.errors import DataError, ParameterError

Clusterer: TypeAlias = Any
Metric: TypeAlias = str | Callable[[FloatArray, FloatArray], float]

# Beyond this many features a KD-tree visits nearly every leaf, and plain distances are faster.
KD_TREE_FEATURES = 15
# Rows compared at once. A constant, so that results do not depend on how work is divided.
BLOCK = 1024


class ClusteringFunction:
    """ψ(· ; A, X): gives any point the label of a cluster learned from X.

    Attributes
    ----------
    clusterer
        The fitted clusterer; None where known labels stand in for one.
    n_features : int
        How many features a point must have.
    features : tuple of str or None
        Their names: the columns of a frame are found by them.
    """

    def __init__(
        self,
        predict: Callable[[FloatArray], Any],
        n_features: int,
        clusterer: Clusterer = None,
        features: tuple[str, ...] | None = None,
    ):
        self._predict = predict
        self.n_features = n_features
        self.clusterer = clusterer
        self.features = features

    def __call__(self, X: ArrayLike | pd.DataFrame) -> Labels:
        """Return Ψ(X): one label for every row of X, (n_points,)."""
        if hasattr(X, "samples_are_named"):
            raise DataError("Points must be a table, got a Study: pass its table, study.X.")
        if np.ndim(X) == 0 if not isinstance(X, list | tuple) else any(np.ndim(row) != 1 for row in X):
            raise DataError(f"Points must be a table with {self.n_features} features, got {X!r}.")
        table, named, _ = as_table(X, "The table of points")
        if named and self.features is not None:
            lacking = [feature for feature in self.features if feature not in table.columns]
            if lacking:
                raise DataError(f"Points lack {plural(len(lacking), 'feature')}: {listing(map(repr, lacking))}.")
            table = table[list(self.features)]
        if table.shape[1] != self.n_features:
            raise DataError(f"Points must be a table with {self.n_features} features, got an array of {table.shape}.")
        return self.labels(check_points(table, "The table of points"))

    def labels(self, points: FloatArray) -> Labels:
        """Return Ψ(points) for a table that needs no checks."""
        return check_labels(self._predict(points), "the clusterer's labels", length=len(points), same_as="its input")


class Induced(BaseEstimator):  # type: ignore[misc]
    """A clusterer whose clustering function is induced by a classifier, whether or not it can predict by itself.

    Parameters
    ----------
    clusterer : object with `fit_predict`
        A pipeline is followed up to its last step: the classifier works on what that step saw.
    metric : str or function, optional
        Distance to the nearest training point, as in `scipy.spatial.distance.cdist`; by default the clusterer's own
        metric, Euclidean where it has none.
    classifier : scikit-learn classifier, optional
        Used instead of the nearest training point.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> Induced(AgglomerativeClustering(3), classifier=KNeighborsClassifier(5)).metric is None
    True
    """

    def __init__(self, clusterer: Clusterer, *, metric: Metric | None = None, classifier: Any = None):
        self.clusterer = clusterer
        self.metric = metric
        self.classifier = classifier

    def fit_predict(self, X: ArrayLike, y: object = None) -> Labels:
        """Cluster X."""
        return np.asarray(self.clusterer.fit_predict(X))


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """Stands in for a clusterer where every sample's label is known: labels travel with the draw."""

    labels: Mapping[str, Labels]


# ---------------------------------------------------------------------------------------------------------------------
# learning


def learn(clusterer: Clusterer, sample: FloatArray, seed: np.random.SeedSequence) -> ClusteringFunction:
    """Learn ψ(· ; clusterer, sample)."""
    fitted = with_seed(clusterer, seed)
    n_features = sample.shape[1]
    if _is_function(fitted):
        return ClusteringFunction(nearest_label(sample, fitted(sample), "euclidean"), n_features, clusterer)
    if hasattr(fitted, "predict"):
        (fitted.fit if hasattr(fitted, "fit") else fitted.fit_predict)(sample)
        return ClusteringFunction(fitted.predict, n_features, fitted)
    labels = fitted.fit_predict(sample)
    inner = fitted.clusterer if isinstance(fitted, Induced) else fitted
    transform: Callable[[FloatArray], FloatArray] = _identity
    if isinstance(inner, Pipeline):
        transform = inner[:-1].transform if len(inner) > 1 else _identity
        inner = inner[-1]
    training_points = transform(sample)
    if isinstance(fitted, Induced) and fitted.classifier is not None:
        classify = clone(fitted.classifier).fit(training_points, labels).predict
    else:
        metric = fitted.metric if isinstance(fitted, Induced) else None
        classify = nearest_label(training_points, labels, metric or _own_metric(inner))
    return ClusteringFunction(lambda X: classify(transform(X)), n_features, fitted)


def learn_known(sample: FloatArray, labels: Labels) -> ClusteringFunction:
    """Learn ψ from labels that are known: that of the nearest training point."""
    return ClusteringFunction(nearest_label(sample, labels, "euclidean"), sample.shape[1])


def nearest_label(points: FloatArray, labels: ArrayLike, metric: Metric) -> Callable[[FloatArray], Labels]:
    """Return the function that gives a point the label of the nearest training point; of equal ones the first."""
    z = check_labels(labels, "the clusterer's labels", length=len(points), same_as="its input")
    _, first = np.unique(points, axis=0, return_index=True)
    first.sort()
    points, z = np.ascontiguousarray(points[first]), z[first]
    if metric == "euclidean" and points.shape[1] <= KD_TREE_FEATURES:
        tree = cKDTree(points)

        def nearest_by_tree(X: FloatArray) -> Labels:
            return np.asarray(z[tree.query(X)[1]])

        return nearest_by_tree

    def nearest_in_blocks(X: FloatArray) -> Labels:
        nearest: list[IntArray] = [
            cdist(X[i : i + BLOCK], points, metric).argmin(axis=1) for i in range(0, len(X), BLOCK)
        ]
        return np.asarray(z[np.concatenate(nearest)])

    return nearest_in_blocks


def _identity(X: FloatArray) -> FloatArray:
    return X


def _own_metric(clusterer: Clusterer) -> Metric:
    """Return the metric that the clusterer itself uses, under SciPy's name."""
    metric: Metric = getattr(clusterer, "metric", None) or "euclidean"
    if metric == "minkowski":
        power = getattr(clusterer, "p", None) or 2
        return {1: "cityblock", 2: "euclidean"}.get(power, partial(minkowski, p=power))
    names = {"manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean"}
    return names.get(metric, metric) if isinstance(metric, str) else metric


# ---------------------------------------------------------------------------------------------------------------------
# what a clusterer is asked for


def check_clusterer(clusterer: Clusterer) -> Clusterer:
    """Check that something can cluster points that it is given."""
    if isinstance(clusterer, type):
        raise ParameterError(f"clusterer must be an object, not a class: write {clusterer.__name__}().")
    if not (hasattr(clusterer, "fit_predict") or _is_function(clusterer)):
        raise ParameterError(f"clusterer must have fit_predict, or be a function X → labels; got {clusterer!r}.")
    if isinstance(clusterer, Induced):
        check_clusterer(clusterer.clusterer)
        classifier = clusterer.classifier
        if classifier is not None and (isinstance(classifier, type) or not hasattr(classifier, "predict")):
            raise ParameterError(f"classifier must be a scikit-learn classifier, such as SVC(); got {classifier!r}.")
    for parameter in ("metric", "affinity"):
        if _value(clusterer, _path_to_last_step(clusterer) + parameter) == "precomputed":
            raise ParameterError(
                f"clusterer has {parameter}='precomputed', but is given points, not distances: "
                "name the metric, or compute the distances inside a function X → labels."
            )
    return clusterer


def n_clusters_parameter(clusterer: Clusterer) -> str | None:
    """Return the name of the parameter that sets the number of clusters: of a pipeline, its last step's."""
    if _is_function(clusterer):
        return "n_clusters" if "n_clusters" in _arguments(clusterer) else None
    prefix = _path_to_last_step(clusterer)
    for name in ("n_clusters", "n_components"):
        if _has(clusterer, prefix + name):
            return prefix + name
    return None


def with_n_clusters(clusterer: Clusterer, n_clusters: int) -> Clusterer:
    """Return a copy of the clusterer that makes so many clusters."""
    parameter = n_clusters_parameter(clusterer)
    if parameter is None:
        raise ParameterError(f"clusterer {clusterer!r} has no parameter for the number of clusters.")
    return _with(clusterer, {parameter: n_clusters})


def asked_n_clusters(clusterer: Clusterer) -> int | None:
    """Return the number of clusters that a clusterer is set to; None where it finds that number by itself."""
    parameter = n_clusters_parameter(clusterer)
    value = None if parameter is None else _value(clusterer, parameter)
    return int(value) if isinstance(value, Integral) else None


def count_clusters(labels: Labels) -> int:
    """Count the clusters that a labelling has; noise is none."""
    found = np.unique(labels)
    return len(found[found != NOISE]) if found.dtype.kind == "i" else len(found)


def fewest_clusters(clusterer: Clusterer) -> int:
    """Return how many clusters a fit must have to count: as many as were asked for."""
    from sklearn.mixture import BayesianGaussianMixture

    last = clusterer.clusterer if isinstance(clusterer, Induced) else clusterer
    last = last[-1] if isinstance(last, Pipeline) else last
    if isinstance(last, BayesianGaussianMixture):  # there, n_components is an upper bound
        return 0
    return asked_n_clusters(clusterer) or 0


def with_seed(clusterer: Clusterer, seed: np.random.SeedSequence) -> Clusterer:
    """Return a fresh copy whose randomness follows from the seed; a `random_state` that the user fixed is obeyed."""
    if _is_function(clusterer):
        open_states = ["random_state"] if "random_state" in _arguments(clusterer) else []
    elif hasattr(clusterer, "get_params"):
        parameters = clusterer.get_params(deep=True)
        open_states = sorted(
            name for name, value in parameters.items() if value is None and name.split("__")[-1] == "random_state"
        )
    else:
        open_states = ["random_state"] if getattr(clusterer, "random_state", 0) is None else []
    states = seed.generate_state(max(1, len(open_states)))
    return _with(clusterer, {name: int(state) for name, state in zip(open_states, states, strict=False)})


class _WithArguments:
    """A function of the user's with some of its arguments filled in."""

    def __init__(self, function: Callable[..., Any], arguments: Mapping[str, Any]):
        self.function = function
        self.arguments = dict(arguments)

    def __call__(self, X: FloatArray) -> Any:
        return self.function(X, **self.arguments)

    def __repr__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))


def _is_function(clusterer: Clusterer) -> bool:
    return callable(clusterer) and not hasattr(clusterer, "fit_predict")


def _arguments(function: Any) -> Mapping[str, Any]:
    if isinstance(function, _WithArguments):
        return _arguments(function.function)
    try:
        return inspect.signature(function).parameters
    except ValueError:  # a builtin that does not tell
        return {}


def _path_to_last_step(clusterer: Clusterer) -> str:
    if isinstance(clusterer, Induced):
        return "clusterer__" + _path_to_last_step(clusterer.clusterer)
    if isinstance(clusterer, Pipeline):
        name, step = clusterer.steps[-1]
        return f"{name}__" + _path_to_last_step(step)
    return ""


def _has(clusterer: Clusterer, parameter: str) -> bool:
    if hasattr(clusterer, "get_params"):
        return parameter in clusterer.get_params(deep=True)
    return hasattr(clusterer, parameter)


def _value(clusterer: Clusterer, parameter: str) -> Any:
    if isinstance(clusterer, _WithArguments) and parameter in clusterer.arguments:
        return clusterer.arguments[parameter]
    if _is_function(clusterer):
        return getattr(_arguments(clusterer).get(parameter), "default", None)
    if hasattr(clusterer, "get_params"):
        return clusterer.get_params(deep=True).get(parameter)
    return getattr(clusterer, parameter, None)


def _with(clusterer: Clusterer, parameters: Mapping[str, Any]) -> Clusterer:
    if _is_function(clusterer):
        if isinstance(clusterer, _WithArguments):
            return _WithArguments(clusterer.function, {**clusterer.arguments, **parameters})
        return _WithArguments(clusterer, parameters)
    if hasattr(clusterer, "get_params"):
        return clone(clusterer).set_params(**parameters)
    copied = copy.deepcopy(clusterer)
    for name, value in parameters.items():
        setattr(copied, name, value)
    return copied
