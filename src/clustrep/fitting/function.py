"""Any clusterer → ψ, the clustering function that it learns from a sample (section 2.1 of the paper).

A clusterer is an object with `fit_predict`, or a function X → labels. ψ is the clusterer's own `predict` where it has
one; else it is induced: a new point gets the label of the nearest training point, in the space that the clusterer saw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from clustrep.checks import as_table, check_labels, check_table
from clustrep.errors import DataError
from clustrep.execution.devices import PROCESSOR
from clustrep.fitting.neighbours import SCIPY_METRICS, Metric, NearestLabel, nearest_label
from clustrep.fitting.parameters import Clusterer, Induced, KnownLabels, is_function, with_seed
from clustrep.text import listing, plural
from clustrep.types import FloatArray, IntArray, Labels


class ClusteringFunction:
    """ψ(· ; A, X): gives any point the label of a cluster learned from X.

    Attributes
    ----------
    clusterer
        The fitted clusterer; None where known labels are used instead.
    n_features : int
        How many features a point must have.
    features : tuple of str or None
        Their names: the columns of a frame are found by them.
    classifier
        The fitted classifier that induces the function; None where there is none.

    See Also
    --------
    Replicability.clustering_function : Returns the function of a study, or of its draw in a resample.
    Induced : Chooses the classifier that induces the function.

    Notes
    -----
    It is the `predict` of the fitted clusterer where it has one. Else it is induced: a point gets the label of the
    nearest training point, in the space that the clusterer saw, such as after the scaler of a pipeline. An induced
    function follows the training points closely, so that single outliers have regions of their own.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep import replicability
    >>> tables = [[[0.0], [1.0], [9.0], [10.0]], [[0.0], [2.0], [8.0], [9.0]]]
    >>> result = replicability(KMeans(2, n_init=2), tables, n_resamples=2, rng=0)
    >>> labels = result.clustering_function("1")([[0.5], [9.5], [11.0]])
    >>> bool(labels[0] != labels[1]), bool(labels[1] == labels[2])
    (True, True)
    """

    def __init__(
        self,
        predict: Callable[[FloatArray], Any],
        sample: FloatArray,
        clusterer: Clusterer = None,
        features: tuple[str, ...] | None = None,
        classifier: Any = None,
    ):
        self._predict = predict
        self._dtype = sample.dtype
        self.n_features = sample.shape[1]
        self.clusterer = clusterer
        self.features = features
        self.classifier = classifier

    @property
    def nearest_label(self) -> NearestLabel | None:
        """The rule of the nearest training point, where that is the whole function."""
        rule = self._predict
        if isinstance(rule, _InSeenSpace) and not rule.steps:
            rule = rule.classify
        return rule if isinstance(rule, NearestLabel) else None

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
        # A copy: a pipeline may work in place, and compiled code needs the precision that it was fitted with.
        labels = self._predict(np.array(points, dtype=self._dtype))
        return check_labels(labels, "the clusterer's labels", length=len(points), same_as="its input")


# ---------------------------------------------------------------------------------------------------------------------
# learning


def learn(
    clusterer: Clusterer,
    sample: FloatArray,
    seed: np.random.SeedSequence,
    weights: IntArray | None = None,
    device: str = PROCESSOR,
) -> ClusteringFunction:
    """Learn ψ(· ; clusterer, sample); `weights` only for a clusterer that takes them.

    The clusterer is fitted on the processor; nearest training points are found on the device.
    """
    fitted = with_seed(clusterer, seed)
    X = np.array(sample)  # a copy, because a clusterer may change it
    if is_function(fitted):
        return ClusteringFunction(nearest_label(sample, fitted(X), "euclidean", device=device), sample, clusterer)
    if hasattr(fitted, "predict"):
        options = {} if weights is None else {"sample_weight": weights}
        (fitted.fit if hasattr(fitted, "fit") else fitted.fit_predict)(X, **options)
        return ClusteringFunction(fitted.predict, sample, fitted)
    labels = fitted.fit_predict(X) if weights is None else fitted.fit_predict(X, sample_weight=weights)
    seen = _seen_by(fitted)
    training_points = _transformed(seen.steps, np.array(sample))
    if seen.classifier is not None:
        classifier = clone(seen.classifier).fit(training_points, labels)
        return ClusteringFunction(_InSeenSpace(seen.steps, classifier.predict), sample, fitted, classifier=classifier)
    classify = nearest_label(training_points, labels, *seen.metric, device)
    return ClusteringFunction(_InSeenSpace(seen.steps, classify), sample, fitted)


def learn_known(sample: FloatArray, labels: Labels, device: str = PROCESSOR) -> ClusteringFunction:
    """Learn ψ from labels that are known: that of the nearest training point.

    Parameters
    ----------
    sample : ndarray of shape (n_samples, n_features)
        The training samples.
    labels : ndarray of shape (n_samples,)
        Their labels.
    device : str, default="cpu"
        Where the nearest samples are found.

    Returns
    -------
    ClusteringFunction
    """
    return ClusteringFunction(nearest_label(sample, labels, "euclidean", device=device), sample)


class _Seen(NamedTuple):
    """The space that a clusterer saw, and how to classify points in it."""

    steps: tuple[Any, ...]  # transformers that lead there
    metric: tuple[Metric, Mapping[str, Any]]
    classifier: Any


@dataclass(frozen=True, eq=False)
class _InSeenSpace:
    steps: tuple[Any, ...]
    classify: Callable[[FloatArray], Any]

    def __call__(self, points: FloatArray) -> Any:
        return self.classify(_transformed(self.steps, points))


def _transformed(steps: Sequence[Any], X: FloatArray) -> FloatArray:
    for step in steps:
        X = step.transform(X)
    return X


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


def takes_nearest(clusterer: Clusterer, *, among_features: bool = False) -> bool:
    """Whether ψ gives a point the label of the nearest training point by Euclidean distance.

    among_features : whether the distance must be that of the features themselves, without any transformer
    """
    if isinstance(clusterer, KnownLabels) or is_function(clusterer):
        return True
    if hasattr(clusterer, "predict"):
        return False
    seen = _seen_by(clusterer)
    return seen.classifier is None and seen.metric[0] == "euclidean" and not (among_features and seen.steps)


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
