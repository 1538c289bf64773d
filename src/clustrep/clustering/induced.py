"""A clusterer whose clustering function is induced by a classifier."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from clustrep.clustering.neighbours import Metric
from clustrep.types import Labels

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
        return np.asarray(self.clusterer(X) if is_function(self.clusterer) else self.clusterer.fit_predict(X))

    def fit(self, X: ArrayLike, y: object = None) -> Induced:
        """Cluster X; the last step of a pipeline must have this."""
        self.labels_ = self.fit_predict(X)
        return self
