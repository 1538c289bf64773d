"""Clusterers of every kind and brute force that several tests of clustering functions share."""

from __future__ import annotations

import numpy as np
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
from sklearn.decomposition import PCA
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clustrep.fitting.function import learn
from clustrep.fitting.parameters import (
    check_clusterer,
)


class Duck:
    """Quacks like a clusterer, and knows nothing of scikit-learn's parameters."""

    def __init__(self, n_clusters=3, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit_predict(self, X):
        return KMeans(self.n_clusters, n_init=1, random_state=self.random_state).fit_predict(X)


class DuckThatPredicts:
    """Has fit_predict and predict, but no fit, and no parameter at all."""

    def fit_predict(self, X):
        self.centre = X.mean(axis=0)
        return self.predict(X)

    def predict(self, X):
        return (X[:, 0] > self.centre[0]).astype(int)


def by_sign(X):
    return (X[:, 0] > 0).astype(int)


def by_sign_in_words(X):
    return np.where(X[:, 0] > 0, "high", "low")


def by_kmeans(X, n_clusters=3, random_state=None):
    return KMeans(n_clusters, n_init=1, random_state=random_state).fit_predict(X)


PREDICTING = [
    KMeans(3, n_init=1, random_state=0),
    KMeans(3, n_init=1, random_state=0, copy_x=False),
    MiniBatchKMeans(3, n_init=1, random_state=0),
    BisectingKMeans(3, random_state=0),
    Birch(n_clusters=3),
    Birch(n_clusters=None, threshold=2.0),
    Birch(n_clusters=AgglomerativeClustering(3)),
    GaussianMixture(3, reg_covar=1e-3, random_state=0),
    BayesianGaussianMixture(n_components=3, max_iter=500, reg_covar=1e-3, random_state=0),
    AffinityPropagation(damping=0.9, random_state=0),
    MeanShift(bandwidth=2.0),
    MeanShift(bandwidth=2.0, cluster_all=False),
    make_pipeline(StandardScaler(), KMeans(3, n_init=1, random_state=0)),
    make_pipeline(PCA(n_components=1, random_state=0), KMeans(3, n_init=1, random_state=0)),
    make_pipeline(StandardScaler(), make_pipeline(PCA(2, random_state=0), GaussianMixture(3, random_state=0))),
]


# Each with the metric by which its training points are searched.
INDUCED = [
    (AgglomerativeClustering(3, linkage="ward"), "euclidean"),
    (AgglomerativeClustering(3, linkage="complete"), "euclidean"),
    (AgglomerativeClustering(3, linkage="average"), "euclidean"),
    (AgglomerativeClustering(3, linkage="single"), "euclidean"),
    (AgglomerativeClustering(3, linkage="average", metric="l2"), "euclidean"),
    (AgglomerativeClustering(3, linkage="average", metric="cosine"), "cosine"),
    (AgglomerativeClustering(3, linkage="complete", metric="manhattan"), "manhattan"),
    (AgglomerativeClustering(3, linkage="average", metric="l1"), "manhattan"),
    (AgglomerativeClustering(None, distance_threshold=10.0), "euclidean"),
    (DBSCAN(eps=1.2, min_samples=4), "euclidean"),
    (DBSCAN(eps=1.6, min_samples=4, metric="manhattan"), "manhattan"),
    (DBSCAN(eps=1.6, min_samples=4, metric="minkowski", p=1), "manhattan"),
    (DBSCAN(eps=1.2, min_samples=4, metric="minkowski", p=2), "euclidean"),
    (DBSCAN(eps=1.2, min_samples=4, metric="minkowski", p=3), "cubic"),
    (DBSCAN(eps=1.0, min_samples=4, metric="chebyshev"), "maximum"),
    (HDBSCAN(min_cluster_size=5, copy=True), "euclidean"),
    (HDBSCAN(min_cluster_size=5, metric="manhattan", copy=True), "manhattan"),
    (OPTICS(min_samples=5), "euclidean"),
    (OPTICS(min_samples=5, p=1), "manhattan"),
    (SpectralClustering(3, gamma=0.1, random_state=0), "euclidean"),
    (by_sign, "euclidean"),
    (by_sign_in_words, "euclidean"),
    (Duck(random_state=0), "euclidean"),
]


DISTANCES = {
    "euclidean": lambda x, y: np.sqrt(((x - y) ** 2).sum()),
    "manhattan": lambda x, y: np.abs(x - y).sum(),
    "maximum": lambda x, y: np.abs(x - y).max(),
    "cubic": lambda x, y: (np.abs(x - y) ** 3).sum(),
    "cosine": lambda x, y: 1 - x @ y / np.sqrt((x @ x) * (y @ y)),
}


def nearest_rows(points, train, metric="euclidean"):
    """By brute force: the first of the nearest rows of `train`, for every point."""
    distance = DISTANCES[metric]
    return np.array([np.argmin([distance(x, y) for y in train]) for x in points])


def short(clusterer):
    """A name for a test: no addresses in it, which would differ from worker to worker."""
    text = getattr(clusterer, "__name__", None) or " ".join(repr(clusterer).split())
    return type(clusterer).__name__ if " at 0x" in text else text[:60]


def everything():
    return [*PREDICTING, *(clusterer for clusterer, _ in INDUCED), Duck(), DuckThatPredicts(), by_kmeans]


def three_blobs(rng, n=30):
    """Three clouds, away from the origin and from each other in every metric used here."""
    centres = np.array([[6.0, 1.0, 1.0], [1.0, 6.0, 1.0], [-6.0, -1.0, 3.0]])
    return centres[np.arange(n) % 3] + 0.7 * rng.normal(size=(n, 3))


def learned(clusterer, X, seed=0):
    return learn(check_clusterer(clusterer), X, np.random.SeedSequence(seed))
