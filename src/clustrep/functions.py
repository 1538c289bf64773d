"""Any clusterer → ψ, the clustering function that it learns from a sample (section 2.1 of the paper).

A clusterer is an object with `fit_predict`, or a function X → labels. ψ is the clusterer's own `predict` where it has
one; else it is induced: a new point gets the label of the nearest training point, in the space that the clusterer saw.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from clustrep._neighbours import SCIPY_METRICS, Metric, nearest_label
from clustrep._types import FloatArray, IntArray, Labels
from clustrep._validation import as_table, check_labels, check_table, listing, plural
from clustrep.contingency import NOISE
from clustrep.errors import DataError, ParameterError

Clusterer: TypeAlias = Any


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
        sample: FloatArray,
        clusterer: Clusterer = None,
        features: tuple[str, ...] | None = None,
    ):
        self._predict = predict
        self._dtype = sample.dtype
        self.n_features = sample.shape[1]
        self.clusterer = clusterer
        self.features = features

    def __call__(self, X: ArrayLike | pd.DataFrame) -> Labels:
        """Return Ψ(X): one label for every row of X, (n_points,)."""
        if hasattr(X, "samples_are_named"):
            raise DataError("Points must be a table, got a Study: pass its table, study.X.")
        try:
            shape: tuple[int, ...] = np.shape(X)
        except ValueError:
            shape = (0, 0)  # rows of different lengths: refused below
        if len(shape) != 2:
            got = f"an array of {shape}" if shape else repr(X)
            raise DataError(f"Points must be a table with {self.n_features} features, got {got}.")
        table, named, _ = as_table(X, "The table of points")
        if named and self.features is not None:
            lacking = [feature for feature in self.features if feature not in table.columns]
            if lacking:
                raise DataError(f"Points lack {plural(len(lacking), 'feature')}: {listing(map(repr, lacking))}.")
            table = table[list(self.features)]
        if table.shape[1] != self.n_features:
            raise DataError(f"Points must be a table with {self.n_features} features, got an array of {table.shape}.")
        return self.labels(check_table(table, "The table of points"))

    def labels(self, points: FloatArray) -> Labels:
        """Return Ψ(points) for a table that needs no checks."""
        # A copy: a pipeline may work in place, and compiled code wants the precision that it was fitted with.
        labels = self._predict(np.array(points, dtype=self._dtype))
        return check_labels(labels, "the clusterer's labels", length=len(points), same_as="its input")


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
        return np.asarray(self.clusterer(X) if _is_function(self.clusterer) else self.clusterer.fit_predict(X))

    def fit(self, X: ArrayLike, y: object = None) -> Induced:
        """Cluster X; the last step of a pipeline must have this."""
        self.labels_ = self.fit_predict(X)
        return self


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """Stands in for a clusterer where every sample's label is known: labels travel with the draw."""

    labels: Mapping[str, Labels]


# ---------------------------------------------------------------------------------------------------------------------
# learning


def learn(
    clusterer: Clusterer, sample: FloatArray, seed: np.random.SeedSequence, weights: IntArray | None = None
) -> ClusteringFunction:
    """Learn ψ(· ; clusterer, sample); `weights` only for a clusterer whose `fit_predict` takes them."""
    fitted = with_seed(clusterer, seed)
    X = np.array(sample)  # the clusterer's own, to spoil if it likes
    if _is_function(fitted):
        return ClusteringFunction(nearest_label(sample, fitted(X), "euclidean"), sample, clusterer)
    if hasattr(fitted, "predict"):
        (fitted.fit if hasattr(fitted, "fit") else fitted.fit_predict)(X)
        return ClusteringFunction(fitted.predict, sample, fitted)
    labels = fitted.fit_predict(X) if weights is None else fitted.fit_predict(X, sample_weight=weights)
    seen = _seen_by(fitted)
    training_points = seen.transform(np.array(sample))
    if seen.classifier is not None:
        classify = clone(seen.classifier).fit(training_points, labels).predict
    else:
        classify = nearest_label(training_points, labels, *seen.metric)
    return ClusteringFunction(_InSeenSpace(seen, classify), sample, fitted)


def learn_known(sample: FloatArray, labels: Labels) -> ClusteringFunction:
    """Learn ψ from labels that are known: that of the nearest training point."""
    return ClusteringFunction(nearest_label(sample, labels, "euclidean"), sample)


@dataclass(frozen=True, eq=False)
class _Seen:
    """The space that a clusterer saw, and how to classify points in it."""

    steps: tuple[Any, ...]  # transformers that lead there
    metric: tuple[Metric, Mapping[str, Any]]
    classifier: Any

    def transform(self, X: FloatArray) -> FloatArray:
        for step in self.steps:
            X = step.transform(X)
        return X


@dataclass(frozen=True, eq=False)
class _InSeenSpace:
    seen: _Seen
    classify: Callable[[FloatArray], Any]

    def __call__(self, points: FloatArray) -> Any:
        return self.classify(self.seen.transform(points))


def _seen_by(fitted: Clusterer) -> _Seen:
    """Follow a fitted clusterer through pipelines and `Induced` to its last step."""
    if isinstance(fitted, Induced):
        inner = _seen_by(fitted.clusterer)
        metric = inner.metric if fitted.metric is None else _scipy_metric(fitted.metric, {})
        return _Seen(inner.steps, metric, fitted.classifier or inner.classifier)
    if isinstance(fitted, Pipeline):
        inner = _seen_by(fitted[-1])
        steps = fitted[:-1]
        if not len(steps):
            return inner
        return _Seen((steps, *inner.steps), inner.metric, inner.classifier)
    parameters = dict(getattr(fitted, "metric_params", None) or {})
    if getattr(fitted, "p", None) is not None:
        parameters.setdefault("p", fitted.p)
    return _Seen((), _scipy_metric(getattr(fitted, "metric", None) or "euclidean", parameters), None)


def _scipy_metric(metric: Metric, parameters: Mapping[str, Any]) -> tuple[Metric, Mapping[str, Any]]:
    """Write scikit-learn's metric as SciPy's."""
    if not isinstance(metric, str):
        return metric, {name: value for name, value in parameters.items() if name != "p"}
    metric = SCIPY_METRICS.get(metric, metric)
    power = parameters.get("p", 2)
    if metric == "minkowski" and "w" not in parameters:
        metric = {1: "cityblock", 2: "euclidean", math.inf: "chebyshev"}.get(power, metric)
    needed = {name: value for name, value in parameters.items() if name != "p"}
    return metric, {**needed, "p": power} if metric == "minkowski" else needed


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
        if clusterer.metric is not None:
            check_metric(clusterer.metric)
        if classifier is not None and (isinstance(classifier, type) or not hasattr(classifier, "predict")):
            raise ParameterError(f"classifier must be a scikit-learn classifier, such as SVC(); got {classifier!r}.")
    for parameter in ("metric", "affinity"):
        value = _value(clusterer, _path_to_last_step(clusterer) + parameter)
        if str(value).startswith("precomputed"):
            raise ParameterError(
                f"clusterer has {parameter}={value!r}, but is given points, not distances: "
                "name the metric, or compute the distances inside a function X → labels."
            )
    return clusterer


def check_metric(metric: object) -> None:
    """Check that distances can be measured with it."""
    some = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 1.0], [4.0, 2.0]])
    try:
        cdist(some, some, SCIPY_METRICS.get(metric, metric) if isinstance(metric, str) else metric)
    except (ValueError, TypeError):
        raise ParameterError(
            f"metric must be one that scipy.spatial.distance.cdist knows, or a function of two points; got {metric!r}."
        ) from None


def name_of(clusterer: Clusterer) -> str:
    """Name a clusterer after its class, a function by its own name."""
    return str(getattr(clusterer, "__name__", type(clusterer).__name__))


def n_clusters_parameter(clusterer: Clusterer) -> str | None:
    """Return the name of the parameter that sets the number of clusters: of a pipeline, its last step's."""
    if _is_function(clusterer):
        return "n_clusters" if "n_clusters" in _arguments(clusterer) else None
    prefix = _path_to_last_step(clusterer)
    if _value(clusterer, prefix + "distance_threshold") is not None:
        return None  # a tree that is cut by height
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
    names = _open_random_states(clusterer)
    states = seed.generate_state(max(1, len(names)))
    return _with(clusterer, {name: int(state) for name, state in zip(names, states, strict=False)})


def has_open_randomness(clusterer: Clusterer) -> bool:
    """Whether two fits to the same data may differ, as far as one can see: a function may always."""
    return _is_function(clusterer) or bool(_open_random_states(clusterer))


def _open_random_states(clusterer: Clusterer) -> list[str]:
    if _is_function(clusterer):
        return ["random_state"] if _is_open(_arguments(clusterer).get("random_state")) else []
    if isinstance(clusterer, Induced):
        inside = [f"clusterer__{name}" for name in _open_random_states(clusterer.clusterer)]
        classifier = clusterer.classifier
        return inside + [f"classifier__{name}" for name in (_open_random_states(classifier) if classifier else [])]
    if hasattr(clusterer, "get_params"):
        parameters = clusterer.get_params(deep=True)
        return sorted(
            name for name, value in parameters.items() if value is None and name.split("__")[-1] == "random_state"
        )
    return ["random_state"] if getattr(clusterer, "random_state", 0) is None else []


def _is_open(argument: inspect.Parameter | None) -> bool:
    """Whether a function has this argument and leaves it to the caller."""
    return argument is not None and argument.default in (None, inspect.Parameter.empty)


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


def _arguments(function: Any) -> Mapping[str, inspect.Parameter]:
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


def _own_and_rest(clusterer: Clusterer, parameter: str) -> tuple[Clusterer, str] | None:
    """Step into an `Induced`: what it wraps need not have `get_params`."""
    if isinstance(clusterer, Induced) and parameter.startswith("clusterer__"):
        return clusterer.clusterer, parameter.removeprefix("clusterer__")
    return None


def _has(clusterer: Clusterer, parameter: str) -> bool:
    if (inner := _own_and_rest(clusterer, parameter)) is not None:
        return _has(*inner)
    if _is_function(clusterer):
        return parameter in _arguments(clusterer)
    if hasattr(clusterer, "get_params"):
        return parameter in clusterer.get_params(deep=True)
    return hasattr(clusterer, parameter)


def _value(clusterer: Clusterer, parameter: str) -> Any:
    if (inner := _own_and_rest(clusterer, parameter)) is not None:
        return _value(*inner)
    if isinstance(clusterer, _WithArguments) and parameter in clusterer.arguments:
        return clusterer.arguments[parameter]
    if _is_function(clusterer):
        return getattr(_arguments(clusterer).get(parameter), "default", None)
    if hasattr(clusterer, "get_params"):
        return clusterer.get_params(deep=True).get(parameter)
    return getattr(clusterer, parameter, None)


def _with(clusterer: Clusterer, parameters: Mapping[str, Any]) -> Clusterer:
    """Return a fresh copy with other parameters."""
    if _is_function(clusterer):
        if isinstance(clusterer, _WithArguments):
            return _WithArguments(clusterer.function, {**clusterer.arguments, **parameters})
        return _WithArguments(clusterer, parameters)
    if isinstance(clusterer, Induced):
        own = {name: value for name, value in parameters.items() if not name.startswith("clusterer__")}
        inside = {name.removeprefix("clusterer__"): value for name, value in parameters.items() if name not in own}
        copied = Induced(
            _with(clusterer.clusterer, inside),
            metric=clusterer.metric,
            classifier=clone(clusterer.classifier, safe=False),
        )
        return copied.set_params(**own)
    if hasattr(clusterer, "get_params"):
        return clone(clusterer).set_params(**parameters)
    copied = copy.deepcopy(clusterer)
    for name, value in parameters.items():
        setattr(copied, name, value)
    return copied
