"""The space that a clusterer saw, induced functions, and labels and points of every kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import (
    AgglomerativeClustering,
    BisectingKMeans,
    KMeans,
    MiniBatchKMeans,
)
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted
from tests.fitting.function.cases import DISTANCES, Duck, learned, nearest_rows, short, three_blobs
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError, ParameterError
from clustrep.fitting.parameters import (
    check_clusterer,
)

# ---------------------------------------------------------------------------------------------------------------------
# the space that the clusterer saw


@pytest.fixture
def long_and_flat(rng):
    """The first feature has a thousand times the spread of the second, which alone tells the groups apart."""
    second = np.repeat([0.0, 4.0], 20) + rng.normal(size=40)
    return np.column_stack([1000 * rng.normal(size=40), second])


@pytest.mark.parametrize(
    "pipeline",
    [
        make_pipeline(StandardScaler(), AgglomerativeClustering(4)),
        make_pipeline("passthrough", StandardScaler(), AgglomerativeClustering(4)),
        make_pipeline(StandardScaler(), make_pipeline(AgglomerativeClustering(4))),
        make_pipeline(make_pipeline(StandardScaler()), AgglomerativeClustering(4)),
        make_pipeline("passthrough", make_pipeline(StandardScaler(), AgglomerativeClustering(4))),
        make_pipeline(make_pipeline("passthrough", make_pipeline(StandardScaler(), AgglomerativeClustering(4)))),
        cr.Induced(make_pipeline(StandardScaler(), AgglomerativeClustering(4))),
        cr.Induced(make_pipeline("passthrough", make_pipeline(StandardScaler(), AgglomerativeClustering(4)))),
        make_pipeline(StandardScaler(), cr.Induced(AgglomerativeClustering(4))),
    ],
    ids=[
        "pipeline",
        "passthrough",
        "inner without transform",
        "inner transformer",
        "inner with transform",
        "three deep",
        "induced",
        "induced nested",
        "induced inside",
    ],
)
def test_the_nearest_neighbour_is_sought_where_the_clusterer_worked(pipeline, long_and_flat, rng):
    X = long_and_flat
    points = np.column_stack([1000 * rng.normal(size=50), rng.uniform(-3, 7, size=50)])
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    scaled_points = (points - X.mean(axis=0)) / X.std(axis=0)
    labels = AgglomerativeClustering(4).fit_predict(scaled)
    after, before = labels[nearest_rows(scaled_points, scaled)], labels[nearest_rows(points, X)]
    assert np.any(after != before)
    np.testing.assert_array_equal(learned(pipeline, X)(points), after)


COSINE = AgglomerativeClustering(3, linkage="average", metric="cosine")


@pytest.mark.parametrize(
    "clusterer",
    [
        make_pipeline("passthrough", COSINE),
        make_pipeline("passthrough", make_pipeline("passthrough", COSINE)),
        cr.Induced(COSINE),
        cr.Induced(make_pipeline("passthrough", COSINE)),
        make_pipeline("passthrough", cr.Induced(COSINE)),
    ],
    ids=["pipeline", "nested", "induced", "induced pipeline", "induced inside"],
)
def test_the_metric_is_that_of_the_last_step_however_deep(clusterer, X, points):
    expected = COSINE.fit_predict(X)[nearest_rows(points, X, "cosine")]
    np.testing.assert_array_equal(learned(clusterer, X)(points), expected)


def test_a_step_that_works_in_place_gives_what_a_copying_one_gives(rng):
    studies = {name: rng.normal(size=(20, 2)) * [100.0, 1.0] for name in ("a", "b")}
    copying, in_place = (
        cr.replicability(
            make_pipeline(StandardScaler(copy=copy), AgglomerativeClustering(3)),
            studies,
            n_resamples=2,
            rng=0,
        )
        for copy in (True, False)
    )
    np.testing.assert_array_equal(in_place.distribution, copying.distribution)


def test_a_clusterer_that_spoils_its_input_spoils_nothing_for_the_others(rng):
    def spoil(X):
        X[:] = 0
        return np.arange(len(X)) % 2

    studies = {name: three_blobs(rng) for name in ("a", "b")}
    kmeans = KMeans(3, n_init=1)
    together = cr.compare({"spoil": spoil, "kmeans": kmeans}, studies, n_resamples=3, rng=0)
    alone = cr.compare({"kmeans": kmeans}, studies, n_resamples=3, rng=0)
    np.testing.assert_array_equal(
        together.replicability("kmeans").distribution, alone.replicability("kmeans").distribution
    )


# ---------------------------------------------------------------------------------------------------------------------
# Induced


def test_induced_overrules_predict(X, points):
    labels = KMeans(3, n_init=1, random_state=0).fit_predict(X)
    clusterer = KMeans(3, n_init=1, random_state=0)
    own, induced = learned(clusterer, X)(points), learned(cr.Induced(clusterer), X)(points)
    np.testing.assert_array_equal(induced, labels[nearest_rows(points, X)])
    assert np.any(own != induced)


@pytest.mark.parametrize(
    ("name", "metric"),
    [("cityblock", "manhattan"), ("manhattan", "manhattan"), ("l1", "manhattan"), ("cosine", "cosine")],
)
def test_induced_takes_a_metric(name, metric, X, points):
    labels = AgglomerativeClustering(3).fit_predict(X)
    function = learned(cr.Induced(AgglomerativeClustering(3), metric=name), X)
    np.testing.assert_array_equal(function(points), labels[nearest_rows(points, X, metric)])


def test_the_metric_may_be_a_function(X, points):
    labels = AgglomerativeClustering(3).fit_predict(X)
    function = learned(cr.Induced(AgglomerativeClustering(3), metric=DISTANCES["maximum"]), X)
    np.testing.assert_array_equal(function(points), labels[nearest_rows(points, X, "maximum")])


@pytest.mark.parametrize("clusterer", [AgglomerativeClustering(3), KMeans(3)], ids=short)
def test_induced_refuses_a_metric_that_there_is_not(clusterer):
    with refused(ParameterError, "metric"):
        check_clusterer(cr.Induced(clusterer, metric="manhatten"))


@pytest.mark.parametrize("inside", [False, True], ids=["around the pipeline", "inside the pipeline"])
def test_induced_takes_a_classifier_that_works_after_the_scaler(inside, long_and_flat, rng):
    X = long_and_flat
    points = np.column_stack([1000 * rng.normal(size=50), rng.uniform(-3, 7, size=50)])
    scaler = StandardScaler().fit(X)
    labels = AgglomerativeClustering(4).fit_predict(scaler.transform(X))
    expected = KNeighborsClassifier(3).fit(scaler.transform(X), labels).predict(scaler.transform(points))
    agglomerative, neighbours = AgglomerativeClustering(4), KNeighborsClassifier(3)
    if inside:
        clusterer = make_pipeline(StandardScaler(), cr.Induced(agglomerative, classifier=neighbours))
    else:
        clusterer = cr.Induced(make_pipeline(StandardScaler(), agglomerative), classifier=neighbours)
    np.testing.assert_array_equal(learned(clusterer, X)(points), expected)
    assert np.any(expected != labels[nearest_rows(scaler.transform(points), scaler.transform(X))])
    with pytest.raises(NotFittedError):
        check_is_fitted(neighbours)


def test_induced_around_a_clusterer_without_parameters_of_its_own(X, points):
    labels = Duck(random_state=0).fit_predict(X)
    function = learned(cr.Induced(Duck(random_state=0)), X)
    np.testing.assert_array_equal(function(points), labels[nearest_rows(points, X)])


# ---------------------------------------------------------------------------------------------------------------------
# labels and points of every kind


@pytest.mark.parametrize(
    ("give", "kind"),
    [
        (lambda z: z.tolist(), "i"),
        (lambda z: z.astype(float), "i"),
        (lambda z: z.astype(np.uint8), "i"),
        (lambda z: z == 1, "i"),
        (lambda z: pd.Series(z), "i"),
        (lambda z: pd.Categorical.from_codes(z, ["u", "v", "w"]), "U"),
        (lambda z: np.array(["u", "v", "w"], dtype=object)[z], "U"),
    ],
    ids=["list", "whole floats", "bytes", "bool", "series", "categorical", "objects"],
)
def test_labels_of_any_kind(give, kind, X):
    truth = np.arange(len(X)) % 3
    result = learned(lambda X: give(np.arange(len(X)) % 3), X)(X)
    assert result.dtype.kind == kind
    same_in_truth = give(truth) if isinstance(give(truth), list) else np.asarray(give(truth))
    assert adjusted_rand_score(same_in_truth, result) == 1


@pytest.mark.parametrize(
    "labels",
    [
        lambda X: np.zeros(len(X) - 1),
        lambda X: np.zeros((len(X), 1)),
        lambda X: np.full(len(X), np.nan),
        lambda X: np.linspace(0, 1, len(X)),
        lambda X: None,
    ],
)
def test_what_is_no_labelling_is_refused(labels, X):
    with refused(DataError):
        learned(labels, X)


def test_points_may_be_a_frame_a_list_or_integers(X):
    function = learned(KMeans(3, n_init=1), X)
    whole = np.rint(X).astype(int)
    for points in (pd.DataFrame(whole, columns=list("abc")), whole.tolist()):
        np.testing.assert_array_equal(function(points), function(whole.astype(float)))


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(3, n_init=1),
        MiniBatchKMeans(3, n_init=1),
        BisectingKMeans(3),
        GaussianMixture(3),
        AgglomerativeClustering(3),
        AgglomerativeClustering(3, linkage="average", metric="cosine"),
        make_pipeline(StandardScaler(), KMeans(3, n_init=1)),
    ],
    ids=short,
)
@pytest.mark.parametrize("learned_as", [np.float32, np.float64])
def test_points_may_have_another_precision_than_those_learned_from(clusterer, learned_as, X, points):
    """Cohorts are stored as their owners like: one in single, one in double precision."""
    X, points = X.astype(np.float32), points.astype(np.float32)
    function = learned(clusterer, X.astype(learned_as))
    np.testing.assert_array_equal(function(points), function(points.astype(np.float64)))


def test_studies_of_different_precision_replicate(rng):
    studies = {"single": three_blobs(rng).astype(np.float32), "double": three_blobs(rng)}
    result = cr.replicability(KMeans(3, n_init=1), studies, n_resamples=2, rng=0)
    assert result.failures == {}


@pytest.mark.parametrize("points", [[[1.0, 2.0]], [1.0, 2.0, 3.0], [[[1.0, 2.0, 3.0]]]])
def test_points_must_have_the_features_that_were_learned_from(points, X):
    with refused(DataError):
        learned(AgglomerativeClustering(2), X)(points)


def test_the_fitted_clusterer_can_be_looked_into(X):
    function = learned(KMeans(3, n_init=1), X)
    assert function.n_features == 3
    assert function.clusterer.cluster_centers_.shape == (3, 3)
