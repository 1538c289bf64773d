"""What a clusterer is: its name, its parameters, its number of clusters, its randomness; configurations of it."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import sklearn.utils
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from clustrep.agreement.contingency import NOISE
from clustrep.cached import cached_property
from clustrep.checks import check_n_clusters
from clustrep.errors import ParameterError
from clustrep.fitting.neighbours import SCIPY_METRICS, Metric
from clustrep.provenance import ClustererRecord
from clustrep.resampling.strategies import Combination, is_shown
from clustrep.text import nearest
from clustrep.types import FloatArray, Labels

Clusterer: TypeAlias = Any  # an object with `fit_predict`, or a function X → labels


def is_function(clusterer: Clusterer) -> bool:
    """Whether a clusterer is a function X → labels."""
    return callable(clusterer) and not hasattr(clusterer, "fit_predict")


class Induced(BaseEstimator):  # type: ignore[misc]
    """A clusterer whose clustering function is induced by a classifier, whether or not it can predict by itself.

    Parameters
    ----------
    clusterer : object with `fit_predict`
        A pipeline is followed up to its last step: the classifier works on what that step saw.
    metric : str or function, default=None
        Distance to the nearest training point, as in `scipy.spatial.distance.cdist`; by default the clusterer's own
        metric, Euclidean where it has none.
    classifier : scikit-learn classifier, default=None
        Used instead of the nearest training point.

    See Also
    --------
    ClusteringFunction : What is learned with it.

    Notes
    -----
    Clusterers without `predict` are induced by the nearest training point without this class; it is needed for another
    metric or classifier, or to replace a `predict`. A classifier that smooths, such as k nearest neighbours, may give
    training points another label than the clusterer did.

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
        return np.asarray(self.clusterer(X) if is_function(self.clusterer) else self.clusterer.fit_predict(X))

    def fit(self, X: ArrayLike, y: object = None) -> Induced:
        """Cluster X; the last step of a pipeline must have this."""
        self.labels_ = self.fit_predict(X)
        return self

    @property
    def n_features_in_(self) -> int:
        """How many features the clusterer was fitted to."""
        return int(self.clusterer.n_features_in_)


def table_for(estimator: Any, X: ArrayLike) -> FloatArray:
    """Return X as a table of numbers, for an estimator that was fitted to as many features, or is not fitted yet."""
    table: FloatArray = check_array(X, dtype=(np.float64, np.float32))
    expected = getattr(estimator, "n_features_in_", table.shape[1])
    if table.shape[1] != expected:
        name = type(estimator).__name__
        raise ParameterError(
            f"X has {table.shape[1]} features, but {name} is expecting {expected} features as input.", parameter="X"
        )
    return table


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """Known labels of every sample, used instead of a clusterer; a drawn sample keeps its label."""

    labels: Mapping[str, Labels]
    transformer: Any = None  # in whose space the nearest sample is found


# ---------------------------------------------------------------------------------------------------------------------
# what a clusterer is asked for


def check_clusterer(clusterer: Clusterer) -> Clusterer:
    """Check that something can cluster points that it is given."""
    if isinstance(clusterer, type):
        raise ParameterError(
            f"clusterer must be an object, not a class: write {clusterer.__name__}().", parameter="clusterer"
        )
    if not (hasattr(clusterer, "fit_predict") or is_function(clusterer)):
        raise ParameterError(
            f"clusterer must have fit_predict, or be a function X → labels; got {clusterer!r}.", parameter="clusterer"
        )
    if isinstance(clusterer, Induced):
        check_clusterer(clusterer.clusterer)
        classifier = clusterer.classifier
        if clusterer.metric is not None:
            check_metric(clusterer.metric)
        if classifier is not None and (isinstance(classifier, type) or not hasattr(classifier, "predict")):
            raise ParameterError(
                f"classifier must be a scikit-learn classifier, such as SVC(); got {classifier!r}.",
                parameter="classifier",
            )
    for parameter in ("metric", "affinity"):
        value = _value(clusterer, _path_to_last_step(clusterer) + parameter)
        if str(value).startswith("precomputed"):
            raise ParameterError(
                f"clusterer has {parameter}={value!r}, but is given points, not distances: "
                "name the metric, or compute the distances inside a function X → labels.",
                parameter="clusterer",
            )
    return clusterer


def check_metric(metric: object) -> None:
    """Check that SciPy can compute distances with this metric."""
    some = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 1.0], [4.0, 2.0]])
    try:
        cdist(some, some, SCIPY_METRICS.get(metric, metric) if isinstance(metric, str) else metric)
    except (ValueError, TypeError):
        raise ParameterError(
            f"metric must be one of scipy.spatial.distance.cdist, or a function of two points; got {metric!r}.",
            parameter="metric",
        ) from None


def first_steps_of(clusterer: Clusterer) -> Any:
    """Return the transformers that come before the last step of a pipeline; None where there are none."""
    if isinstance(clusterer, KnownLabels):
        return clusterer.transformer
    return clusterer[:-1] if type(clusterer) is Pipeline and len(clusterer.steps) > 1 else None


def takes_missing(clusterer: Clusterer) -> bool:
    """Whether missing values reach a transformer that takes them, such as an imputer: the first step of a pipeline."""
    first = first_steps_of(clusterer)
    while isinstance(first, Pipeline):
        first = first.steps[0][1]
    if not hasattr(sklearn.utils, "get_tags"):  # before scikit-learn 1.6
        return isinstance(first, BaseEstimator) and bool(first._get_tags()["allow_nan"])
    return isinstance(first, BaseEstimator) and bool(sklearn.utils.get_tags(first).input_tags.allow_nan)


def name_of(clusterer: Clusterer) -> str:
    """Name a clusterer after its class, a function by its own name."""
    return str(getattr(clusterer, "__name__", type(clusterer).__name__))


def n_clusters_parameter(clusterer: Clusterer) -> str | None:
    """Return the name of the parameter that sets the number of clusters: of a pipeline, its last step's."""
    if is_function(clusterer):
        return "n_clusters" if "n_clusters" in _arguments(clusterer) else None
    prefix = _path_to_last_step(clusterer)
    if _value(clusterer, prefix + "distance_threshold") is not None:
        return None  # a tree that is cut by height
    for name in ("n_clusters", "n_components"):
        if _has(clusterer, prefix + name):
            return prefix + name
    return None


def with_n_clusters(clusterer: Clusterer, n_clusters: int) -> Clusterer:
    """Return a copy of the clusterer that makes `n_clusters` clusters."""
    parameter = n_clusters_parameter(clusterer)
    if parameter is None:
        raise ParameterError(
            f"clusterer {clusterer!r} has no parameter for the number of clusters: choose one that has.",
            parameter="clusterer",
        )
    return _with(clusterer, {parameter: n_clusters})


def last_step_parameter(clusterer: Clusterer, parameter: str) -> str | None:
    """Return the full name of a parameter, of a pipeline that of its last step or any that is named in full."""
    for name in (_path_to_last_step(clusterer) + parameter, parameter):
        if _has(clusterer, name):
            return name
    return None


def with_starts(clusterer: Clusterer, fewest: int) -> Clusterer:
    """Return a copy with at least `fewest` random starts; the clusterer itself where it has none, or given ones.

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        The clusterer, perhaps a pipeline.
    fewest : int
        The least `n_init`.

    Returns
    -------
    object with `fit_predict`, or function X → labels
    """
    prefix = _path_to_last_step(clusterer)
    starts, given = prefix + "n_init", _value(clusterer, prefix + "init")
    if is_function(clusterer) or not _has(clusterer, starts) or not (given is None or isinstance(given, str)):
        return clusterer
    present = _value(clusterer, starts)
    enough = isinstance(present, int | np.integer) and present >= fewest
    return clusterer if enough else _with(clusterer, {starts: fewest})


def asked_n_clusters(clusterer: Clusterer) -> int | None:
    """Return the number of clusters that a clusterer is set to; None where it finds that number by itself."""
    parameter = n_clusters_parameter(clusterer)
    value = None if parameter is None else _value(clusterer, parameter)
    return int(value) if isinstance(value, Integral) else None


def count_clusters(labels: Labels) -> int:
    """Count the clusters that a labelling has; noise is none."""
    distinct = np.unique(labels)
    return len(distinct[distinct != NOISE]) if distinct.dtype.kind == "i" else len(distinct)


def fewest_clusters(clusterer: Clusterer) -> int:
    """Return how many clusters a fit must have not to be counted as failed: as many as were asked for."""
    from sklearn.mixture import BayesianGaussianMixture

    last = clusterer.clusterer if isinstance(clusterer, Induced) else clusterer
    last = last[-1] if isinstance(last, Pipeline) else last
    if isinstance(last, BayesianGaussianMixture):  # there, n_components is an upper bound
        return 0
    return asked_n_clusters(clusterer) or 0


def with_seed(clusterer: Clusterer, seed: np.random.SeedSequence) -> Clusterer:
    """Return a fresh copy whose randomness follows from the seed; a `random_state` that the user fixed is obeyed.

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        The clusterer; every `random_state` of it that is None is set.
    seed : SeedSequence
        From which the states follow.

    Returns
    -------
    object with `fit_predict`, or function X → labels
    """
    names = _open_random_states(clusterer)
    states = seed.generate_state(max(1, len(names)))
    return _with(clusterer, {name: int(state) for name, state in zip(names, states, strict=False)})


def has_open_randomness(clusterer: Clusterer) -> bool:
    """Whether two fits to the same data may differ, as far as its parameters show; those of a function always may."""
    return is_function(clusterer) or bool(_open_random_states(clusterer))


def _open_random_states(clusterer: Clusterer) -> list[str]:
    if is_function(clusterer):
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


def _arguments(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except ValueError:  # a builtin without a signature
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
    if is_function(clusterer):
        return parameter in _arguments(clusterer)
    if hasattr(clusterer, "get_params"):
        return parameter in clusterer.get_params(deep=True)
    return hasattr(clusterer, parameter)


def _value(clusterer: Clusterer, parameter: str) -> Any:
    if (inner := _own_and_rest(clusterer, parameter)) is not None:
        return _value(*inner)
    if is_function(clusterer):
        return getattr(_arguments(clusterer).get(parameter), "default", None)
    if hasattr(clusterer, "get_params"):
        return clusterer.get_params(deep=True).get(parameter)
    return getattr(clusterer, parameter, None)


def _with(clusterer: Clusterer, parameters: Mapping[str, Any]) -> Clusterer:
    """Return a fresh copy with other parameters."""
    if is_function(clusterer):
        return partial(clusterer, **parameters)
    if isinstance(clusterer, Induced):
        outside = {name: value for name, value in parameters.items() if not name.startswith("clusterer__")}
        inside = {name.removeprefix("clusterer__"): value for name, value in parameters.items() if name not in outside}
        copied = Induced(
            _with(clusterer.clusterer, inside),
            metric=clusterer.metric,
            classifier=clone(clusterer.classifier, safe=False),
        )
        return copied.set_params(**outside)
    if hasattr(clusterer, "get_params"):
        return clone(clusterer).set_params(**parameters)
    copied = copy.deepcopy(clusterer)
    for name, value in parameters.items():
        setattr(copied, name, value)
    return copied


def describe(thing: Any, depth: int = 5) -> str:
    """Write an object with its parameters, the same on every machine: without addresses, and to a limited depth."""
    if isinstance(thing, KnownLabels):
        return "known labels"
    if isinstance(thing, Combination):
        return " + ".join(describe(step) for step in thing.steps)
    if depth > 0 and isinstance(thing, list | tuple):
        inside = ", ".join(describe(item, depth - 1) for item in thing)
        return f"[{inside}]" if isinstance(thing, list) else f"({inside})"
    if depth > 0 and hasattr(thing, "get_params") and not isinstance(thing, type):
        return _call(type(thing).__qualname__, thing.get_params(deep=False), depth)
    if depth > 0 and dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = {
            field.name: getattr(thing, field.name) for field in dataclasses.fields(thing) if is_shown(field, thing)
        }
        return _call(type(thing).__qualname__, fields, depth)
    if depth > 0 and isinstance(thing, partial):
        return _call(describe(thing.func), thing.keywords, depth)
    if isinstance(thing, np.generic):
        return repr(thing.item())
    if isinstance(thing, np.ndarray):
        content = np.ascontiguousarray(thing).tobytes() if not thing.dtype.hasobject else b""
        return f"array of {thing.shape}, sha256 {hashlib.sha256(content).hexdigest()[:12]}"
    if depth > 0 and isinstance(thing, Mapping):
        return "{" + ", ".join(f"{key!r}: {describe(value, depth - 1)}" for key, value in thing.items()) + "}"
    if isinstance(thing, bool | int | float | str | None):
        return repr(thing)
    if callable(thing) and hasattr(thing, "__qualname__"):
        return str(thing.__qualname__)
    return type(thing).__qualname__


def describe_steps(transformer: Any) -> str:
    """Write the first steps of a pipeline, or a transformer alone; empty where there is none."""
    if transformer is None:
        return ""
    steps = [step for _, step in transformer.steps] if isinstance(transformer, Pipeline) else [transformer]
    return " and ".join(map(describe, steps))


def _call(name: str, parameters: Mapping[str, Any], depth: int) -> str:
    return f"{name}({', '.join(f'{key}={describe(value, depth - 1)}' for key, value in parameters.items())})"


def kind_of(clusterer: Any) -> str:
    """Return the class of a clusterer, or the name of the function that it is; "known labels" for these."""
    if isinstance(clusterer, KnownLabels):
        return describe(clusterer)
    if isinstance(clusterer, partial):
        return kind_of(clusterer.func)
    return name_of(clusterer)


def parameters_of(clusterer: Any) -> Mapping[str, Any]:
    """Return the parameters of an estimator, or the arguments that a function was given; none where it has neither."""
    if hasattr(clusterer, "get_params"):
        return dict(clusterer.get_params(deep=True))
    if isinstance(clusterer, partial):
        return {**parameters_of(clusterer.func), **clusterer.keywords}
    return {}


def as_plain(value: Any) -> Any:
    """Return a parameter in the types that JSON has, so that it is the same before and after a file."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [as_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    return value


# ---------------------------------------------------------------------------------------------------------------------
# a clusterer with its parameters set, under the name that results give it


@dataclass(frozen=True, eq=False)
class Configuration:
    """A clusterer, ready to be fitted, under the name that results give it."""

    name: str
    clusterer: Any  # a clusterer, or known labels
    series: str = ""  # the name of all that differ in the value of one parameter
    parameter: str | None = None  # which one that is
    value: float | None = None

    @cached_property
    def n_clusters(self) -> int | None:
        """The number of clusters asked for; None where the clusterer finds it by itself."""
        return None if isinstance(self.clusterer, KnownLabels) else asked_n_clusters(self.clusterer)

    @cached_property
    def fewest_clusters(self) -> int:
        """How many clusters a fit must have to count."""
        return 0 if isinstance(self.clusterer, KnownLabels) else fewest_clusters(self.clusterer)

    @cached_property
    def first_steps(self) -> Any:
        """The transformers of a pipeline before its last step; None where there are none."""
        return first_steps_of(self.clusterer)

    @cached_property
    def last_step(self) -> Configuration:
        """The same without these."""
        if self.first_steps is None:
            return self
        known = isinstance(self.clusterer, KnownLabels)
        return replace(self, clusterer=KnownLabels(self.clusterer.labels) if known else self.clusterer.steps[-1][1])

    @property
    def record(self) -> ClustererRecord:
        """The clusterer with its parameters, as results keep it.

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> record = Configuration("k-means", KMeans(3, n_init=5)).record
        >>> record.kind, record.n_clusters, record.parameters["n_init"]
        ('KMeans', 3, '5')
        """
        known = isinstance(self.clusterer, KnownLabels)
        return ClustererRecord(
            name=self.name,
            kind=kind_of(self.clusterer),
            parameters={name: describe(value) for name, value in parameters_of(self.clusterer).items()},
            n_clusters=self.n_clusters,
            n_clusters_parameter=None if known else n_clusters_parameter(self.clusterer),
            description=describe(self.clusterer),
            series=self.series,
            parameter=self.parameter,
            value=self.value,
        )


def configurations_of(name: str, clusterer: Clusterer, numbers: Sequence[int] | None) -> list[Configuration]:
    """Make a configuration for every number of clusters; one with the clusterer as it is where there are none.

    Parameters
    ----------
    name : str
        The name that results give the clusterer.
    clusterer : object with `fit_predict`, or function X → labels
        The clusterer.
    numbers : sequence of int, or None
        Numbers of clusters.

    Returns
    -------
    list of Configuration
    """
    if numbers is None:
        return [Configuration(name, clusterer)]
    return [Configuration(name, with_n_clusters(clusterer, k)) for k in numbers]


# ---------------------------------------------------------------------------------------------------------------------
# one clusterer with several values of one parameter, such as a resolution or an eps


# What `param_grid` says of one clusterer: a parameter's name, and its values.
Values = tuple[str, tuple[float, ...]]


def values_by_clusterer(param_grid: object, clusterers: Mapping[str, Clusterer]) -> dict[str, Values]:
    """Check `param_grid`, and return the parameter and the values of every clusterer that it is about.

    Either by clusterer, {"leiden": {"resolution": [...]}}, or {"resolution": [...]} for all that have the parameter.
    """
    if param_grid is None:
        return {}
    if not isinstance(param_grid, Mapping) or not param_grid:
        raise ParameterError(
            f"param_grid must map a parameter to its values, such as {{'eps': [0.1, 0.5, 1.0]}}; got {param_grid!r}.",
            parameter="param_grid",
        )
    result: dict[str, Values] = {}
    for key, values in param_grid.items():
        if isinstance(values, Mapping):
            if key not in clusterers:
                raise ParameterError(
                    f"param_grid names the clusterer {key!r}; there are {', '.join(map(repr, clusterers))}."
                    f"{nearest(key, clusterers)}",
                    parameter="param_grid",
                )
            if len(values) != 1:
                raise ParameterError(
                    f"param_grid must have one parameter for every clusterer, got {len(values)} for {key!r}.",
                    parameter="param_grid",
                )
            ((parameter, of_one),) = values.items()
            having = {key: of_one}
        else:
            parameter = key
            named = isinstance(key, str)
            having = {name: values for name in clusterers if named and last_step_parameter(clusterers[name], key)}
        if not having:
            raise ParameterError(
                f"param_grid names {key!r}, but no clusterer has this parameter: correct the name, or leave it out.",
                parameter="param_grid",
            )
        for name, of_one in having.items():
            if name in result:
                raise ParameterError(f"param_grid has two parameters for {name!r}; name one.", parameter="param_grid")
            result[name] = _checked(name, clusterers[name], parameter, of_one)
    return result


def _checked(name: str, clusterer: Clusterer, parameter: object, values: object) -> Values:
    full_name = last_step_parameter(clusterer, parameter) if isinstance(parameter, str) else None
    if full_name is None:
        raise ParameterError(f"param_grid: {name!r} has no parameter {parameter!r}.", parameter="param_grid")
    if isinstance(values, Real) and not isinstance(values, bool):
        values = [values]
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(
            f"param_grid: values of {parameter} must be numbers, got {values!r}.", parameter="param_grid"
        )
    listed = list(values)
    for value in listed:
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise ParameterError(
                f"param_grid: values of {parameter} must be numbers, got {value!r}.", parameter="param_grid"
            )
    if not listed or len(set(listed)) < len(listed):
        raise ParameterError(
            f"param_grid: {parameter} must have at least one value, and every value once; got {listed}.",
            parameter="param_grid",
        )
    return full_name, tuple(int(value) if isinstance(value, Integral) else float(value) for value in listed)


def series_of(name: str, clusterer: Clusterer, parameter: str, values: Sequence[float]) -> list[Configuration]:
    """Make a configuration for every value of a parameter.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN
    >>> [configuration.name for configuration in series_of("dbscan", DBSCAN(), "eps", [0.1, 0.25])]
    ['dbscan, eps = 0.1', 'dbscan, eps = 0.25']
    """
    if parameter == n_clusters_parameter(clusterer):
        whole = [int(value) if value == int(value) else value for value in values]
        return configurations_of(name, clusterer, check_n_clusters(whole))
    short = parameter.split("__")[-1]
    return [
        Configuration(
            f"{name}, {short} = {value_text(value)}", _with(clusterer, {parameter: value}), name, short, value
        )
        for value in values
    ]


def value_text(value: Any) -> str:
    """Write a value with as many digits as it takes to tell it from others.

    Examples
    --------
    >>> value_text(0.1), value_text(2.0), value_text(1 / 3), value_text(15)
    ('0.1', '2', '0.3333333333333333', '15')
    """
    short = format(value, "g")
    return short if float(short) == value else repr(value)
