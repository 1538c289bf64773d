"""What tests of federated sites share."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import AgglomerativeClustering, Birch, BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestCentroid
from sklearn.tree import DecisionTreeClassifier

import clustrep as cr

SMALL = cr.federated.Disclosure(min_cluster_size=2)  # so that next to nothing is withheld

CLUSTERERS = {
    "k-means": KMeans(n_init=3),
    "k-means from random starts": KMeans(init="random", n_init=2),
    "mini-batch": MiniBatchKMeans(n_init=2),
    "bisecting": BisectingKMeans(),
    "full": GaussianMixture(),
    "tied": GaussianMixture(covariance_type="tied"),
    "diag": GaussianMixture(covariance_type="diag"),
    "spherical": GaussianMixture(covariance_type="spherical"),
    "birch": Birch(threshold=2.5),
    "ward by centroid": cr.Induced(AgglomerativeClustering(), classifier=NearestCentroid()),
    "ward by LDA": cr.Induced(AgglomerativeClustering(), classifier=LinearDiscriminantAnalysis()),
    "ward by tree": cr.Induced(AgglomerativeClustering(), classifier=DecisionTreeClassifier(min_samples_leaf=5)),
}


def cohorts(n_samples=60, n_cohorts=3):
    """Cohorts with three subtypes."""
    return cr.datasets.simulate_cohorts(
        n_cohorts=n_cohorts, n_samples=n_samples, n_subtypes=3, n_features=4, missing={}, shifted={}, rng=7
    )


def exchanged(clusterers, studies, *, disclosure=None, agreement=("ari", "ami"), diagonal=True, gaps=False, **options):
    """Learn at every site, score the others' functions at every site, and combine the scores."""
    functions = [cr.federated.learn(clusterers, study, disclosure=disclosure, **options) for study in studies.values()]
    scores = [
        cr.federated.score(study, functions, disclosure=disclosure, agreement=agreement, diagonal=diagonal, gaps=gaps)
        for study in studies.values()
    ]
    return cr.federated.combine(scores)


def assert_same(combined, pooled):
    """Every number of a comparison is equal, bit for bit."""
    for name in ("names", "agreements", "clusterers", "n_clusters", "causes"):
        assert getattr(combined, name) == getattr(pooled, name), name
    for name in ("estimate", "distribution", "trivial", "clusters_found", "failed"):
        np.testing.assert_array_equal(getattr(combined, name), getattr(pooled, name), err_msg=name)
    assert combined.provenance == pooled.provenance
