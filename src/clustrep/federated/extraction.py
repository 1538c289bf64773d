"""From a fitted clusterer to a form that may travel; a rule over single samples is refused before any work."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import Birch, BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestCentroid
from sklearn.tree import DecisionTreeClassifier

from clustrep.accelerate.kmeans import CentresFunction
from clustrep.accelerate.trees import BirchFunction
from clustrep.checks import is_whole
from clustrep.errors import ParameterError
from clustrep.federated.forms import (
    NO_CHILD,
    Bisections,
    Centroids,
    Discriminants,
    Form,
    LeafTree,
    Mixture,
    NearestCentres,
    PredictedCentres,
    Subclusters,
)
from clustrep.fitting.learners import FittedFunction, PlainFunction
from clustrep.fitting.parameters import Clusterer, Configuration, Induced, describe
from clustrep.fitting.resample import Resample
from clustrep.text import cut
from clustrep.types import FloatArray, IntArray

# Those whose own function consists of means.
OF_MEANS = (KMeans, MiniBatchKMeans, BisectingKMeans, GaussianMixture, Birch)
# What may stand for a cluster in place of its samples.
CLASSIFIERS = (NearestCentroid, LinearDiscriminantAnalysis, DecisionTreeClassifier)
ROUNDING = 1e-6  # of a number of samples that is told as a share
ROUNDING_STEPS = 100  # by which the mean of a group may differ from the same mean in another order


def check_may_travel(configuration: Configuration, least: int) -> None:
    """Refuse a clusterer whose function consists of samples, and name what may stand for them."""
    clusterer = configuration.clusterer
    if isinstance(clusterer, Induced):
        _check_classifier(configuration.name, clusterer.classifier, least)
        return
    if type(clusterer) not in OF_MEANS:
        raise ParameterError(_nearest_sample(configuration.name, clusterer, least), parameter="clusterers")


def _check_classifier(name: str, classifier: Any, least: int) -> None:
    if type(classifier) not in CLASSIFIERS:
        raise ParameterError(_nearest_sample(name, classifier, least), parameter="clusterers")
    if isinstance(classifier, NearestCentroid):
        plain = (classifier.metric, classifier.shrink_threshold, classifier.priors) == ("euclidean", None, "uniform")
        if not plain:
            raise ParameterError(
                f"clusterers: NearestCentroid of {name!r} must have its defaults, got {describe(classifier)}: medians "
                "are values of single samples.",
                parameter="clusterers",
            )
    if isinstance(classifier, DecisionTreeClassifier) and not is_whole(classifier.min_samples_leaf, at_least=least):
        raise ParameterError(
            f"clusterers: the decision tree of {name!r} must have min_samples_leaf={least} or more, got "
            f"{classifier.min_samples_leaf!r}: smaller leaves tell of single samples.",
            parameter="clusterers",
        )


def _nearest_sample(name: str, rule: Any, least: int) -> str:
    what = "the nearest sample" if rule is None else cut(describe(rule), 80)
    return (
        f"clusterers: the clustering function of {name!r} is {what}, which holds samples, and these may not leave the "
        "site. Choose what stands for a cluster, its centroid, linear discriminants or a decision tree with leaves "
        f"of {least} samples or more: `Induced` in Python, --induced centroid, lda or tree on the command line."
    )


# ---------------------------------------------------------------------------------------------------------------------
# forms of what was learned


def form_of(psi: FittedFunction) -> Form:
    """Take what a clustering function needs, without the samples that it was learned from."""
    if isinstance(psi, CentresFunction):
        return NearestCentres(psi.solution.centres)
    if isinstance(psi, BirchFunction):
        return Subclusters(psi.birch.subcluster_centers_, psi.cut)
    assert isinstance(psi, PlainFunction)
    classifier = psi.function.classifier
    return _of_clusterer(psi.function.clusterer) if classifier is None else _of_classifier(classifier)


def _of_clusterer(fitted: Clusterer) -> Form:
    if isinstance(fitted, BisectingKMeans):
        return _bisections(fitted)
    if isinstance(fitted, GaussianMixture):
        covariances = fitted.covariances_
        tied = fitted.covariance_type == "tied"
        return Mixture(fitted.weights_, fitted.means_, covariances[None] if tied else covariances)
    if isinstance(fitted, Birch):
        return Subclusters(fitted.subcluster_centers_, np.asarray(fitted.subcluster_labels_, dtype=np.int64))
    return PredictedCentres(fitted.cluster_centers_)


def _of_classifier(fitted: Any) -> Form:
    if isinstance(fitted, NearestCentroid):
        return Centroids(fitted.centroids_)
    if isinstance(fitted, LinearDiscriminantAnalysis):
        return Discriminants(fitted.coef_, fitted.intercept_)
    tree = fitted.tree_
    children = np.column_stack([tree.children_left, tree.children_right]).astype(np.int64)
    is_leaf = children[:, 0] == NO_CHILD
    cluster = tree.value[:, 0].argmax(axis=1)
    codes = np.unique(cluster[is_leaf], return_inverse=True)[1]
    leaf = np.full(len(is_leaf), NO_CHILD)
    leaf[is_leaf] = codes
    thresholds = np.where(is_leaf, 0.0, tree.threshold)
    return LeafTree(thresholds, np.where(is_leaf, 0, tree.feature).astype(np.int64), children, leaf)


def _bisections(fitted: BisectingKMeans) -> Form:
    """Number the nodes of the tree, parents before their children."""
    order = [fitted._bisecting_tree]
    for node in order:  # grows on the way
        order += [child for child in (node.left, node.right) if child is not None]
    place = {id(node): i for i, node in enumerate(order)}
    pairs = [(node.left, node.right) for node in order]
    return Bisections(
        np.array([node.center + fitted._X_mean for node in order]),
        np.array([[NO_CHILD if child is None else place[id(child)] for child in pair] for pair in pairs]),
        np.array([NO_CHILD if node.left is not None else node.label for node in order]),
    )


def sizes_of(psi: FittedFunction, form: Form, sample: Resample) -> IntArray:
    """Count the different samples behind every group of numbers, (n_groups,).

    Numbers may have been computed from other samples than those that the function puts into the group: of both counts
    the smaller holds.
    """
    drawn = sample.draw.weights > 0
    sizes = np.bincount(form.groups(sample.points)[drawn], minlength=form.n_groups)
    behind = _behind(psi, form, sample)
    return sizes if behind is None else np.minimum(sizes, behind)


def _behind(psi: FittedFunction, form: Form, sample: Resample) -> IntArray | None:
    """Count the samples that numbers were computed from, by what was fitted; None where these are the groups."""
    if isinstance(psi, BirchFunction):
        return _joined(psi.birch)
    if isinstance(form, NearestCentres | PredictedCentres | Bisections):
        return _averaged(form, sample)
    if not isinstance(psi, PlainFunction):
        return None
    fitted = psi.function.clusterer
    if isinstance(fitted, Birch):
        return _joined(fitted)
    rows, _ = psi.learner.rows(sample)  # type: ignore[attr-defined]
    if isinstance(form, Mixture):
        return np.asarray(np.floor(form.weights * len(rows) + ROUNDING), dtype=np.int64)
    if isinstance(form, Centroids | Discriminants):
        return _labelled(fitted, psi.learner.space(sample.points).X, rows)
    return None


def _joined(birch: Birch) -> IntArray:
    """Return how many samples BIRCH joined in every subcluster, in the order of their centres."""
    leaf, counts = birch.dummy_leaf_.next_leaf_, []
    while leaf is not None:
        counts += [subcluster.n_samples_ for subcluster in leaf.subclusters_]
        leaf = leaf.next_leaf_
    return np.array(counts)


def _labelled(fitted: Any, X: FloatArray, rows: IntArray) -> IntArray:
    """Count the different samples of every cluster that a classifier was fitted to, in the order of its classes."""
    while isinstance(fitted, Induced):
        fitted = fitted.clusterer
    labels = fitted.labels_ if hasattr(fitted, "labels_") else fitted.predict(np.array(X[rows]))
    return np.array([len(np.unique(rows[labels == label])) for label in np.unique(labels)])


def _averaged(form: Form, sample: Resample) -> IntArray:
    """Estimate of how many samples each centre is the mean, by its distance from the mean of its group.

    Centres of k-means are means of their groups once it has converged. After few steps, or few mini-batches, one may
    still be the mean of a few samples, or a single sample that it began with. The mean of m samples of a group lies, on
    average, at 1/m of the group's mean square distance from its mean.
    """
    X, weights = np.asarray(sample.points.X, dtype=float), sample.draw.weights
    groups = form.groups(sample.points)
    members = (groups == np.arange(form.n_groups)[:, None]) * weights  # (n_groups, n)
    totals = np.maximum(members.sum(axis=1), 1)
    means = members @ X / totals[:, None]
    spread = np.bincount(groups, weights * ((X - means[groups]) ** 2).sum(axis=1), minlength=form.n_groups) / totals
    apart = ((np.asarray(form.centres(totals)) - means) ** 2).sum(axis=1)
    rounding = (ROUNDING_STEPS * np.finfo(sample.points.X.dtype).eps) ** 2 * (X**2).sum(axis=1).mean()
    n_drawn = weights.sum()
    is_mean = apart * n_drawn <= spread + rounding * n_drawn
    return np.asarray(np.where(is_mean, n_drawn, spread / np.where(is_mean, 1.0, apart)), dtype=np.int64)
