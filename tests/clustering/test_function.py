"""ψ(· ; A, X): any clusterer becomes a function of points."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
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
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

import clustrep as cr
from clustrep.clustering.function import learn
from clustrep.clustering.neighbours import KD_TREE_FEATURES, nearest_label
from clustrep.clustering.parameters import (
    asked_n_clusters,
    check_clusterer,
    n_clusters_parameter,
    with_n_clusters,
    with_seed,
)
from clustrep.engine.replicates import ReplicateFailure, Stream, seed_of
from clustrep.errors import DataError, ParameterError

# ---------------------------------------------------------------------------------------------------------------------
# clusterers of every kind


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
    text = getattr(clusterer, "__name__", None) or " ".join(repr(clusterer).split())[:60]
    return type(clusterer).__name__ if " at 0x" in text else text


def everything():
    return [*PREDICTING, *(clusterer for clusterer, _ in INDUCED), Duck(), DuckThatPredicts(), by_kmeans]


def three_blobs(rng, n=30):
    """Three clouds, away from the origin and from each other in every metric used here."""
    centres = np.array([[6.0, 1.0, 1.0], [1.0, 6.0, 1.0], [-6.0, -1.0, 3.0]])
    return centres[np.arange(n) % 3] + 0.7 * rng.normal(size=(n, 3))


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """On tables as small as these, threads only wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def X(rng):
    return three_blobs(rng)


@pytest.fixture
def points(rng, X):
    """Points near the training points, between the clusters and far from both."""
    return np.concatenate([three_blobs(rng, 12), rng.uniform(-8, 8, size=(28, 3))])


def learned(clusterer, X, seed=0):
    return learn(check_clusterer(clusterer), X, np.random.SeedSequence(seed))


def labels_of(clusterer, X):
    return np.asarray(clusterer(X) if callable(clusterer) else clone(clusterer, safe=False).fit_predict(X))


# ---------------------------------------------------------------------------------------------------------------------
# its own predict, else the nearest training point


@pytest.mark.parametrize("clusterer", PREDICTING, ids=short)
def test_a_clusterer_that_predicts_speaks_for_itself(clusterer, X, points):
    function = learned(clusterer, X.copy())
    fitted = clone(clusterer).fit(X.copy())
    np.testing.assert_array_equal(function(points), fitted.predict(points))
    np.testing.assert_array_equal(function(X), fitted.predict(X))


@pytest.mark.parametrize(("clusterer", "metric"), INDUCED, ids=short)
def test_one_that_does_not_is_induced_by_the_nearest_training_point(clusterer, metric, X, points):
    labels = labels_of(clusterer, X)
    assert len(np.unique(labels)) > 1
    function = learned(clusterer, X)
    np.testing.assert_array_equal(function(points), labels[nearest_rows(points, X, metric)])
    np.testing.assert_array_equal(function(X), labels)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "maximum", "cubic"])
def test_the_metrics_tested_here_find_other_neighbours_than_the_euclidean(metric, X, points):
    assert np.any(nearest_rows(points, X, metric) != nearest_rows(points, X))


def test_the_function_is_never_labels_even_at_the_training_points(X):
    X = np.concatenate([X, [[30.0, 30.0, 30.0]]])
    mean_shift = MeanShift(bandwidth=2.0, cluster_all=False, min_bin_freq=2, bin_seeding=True)
    assert -1 in clone(mean_shift).fit(X).labels_  # the orphan, which predict gives to the nearest centre
    assert -1 not in learned(mean_shift, X)(X)


def test_noise_passes_through(X):
    X = np.concatenate([X, [[30.0, 30.0, 30.0]]])
    function = learned(DBSCAN(eps=1.5, min_samples=4), X)
    assert function([[31.0, 29.0, 30.0]]).tolist() == [-1]
    assert function(X[:1])[0] != -1


@pytest.mark.parametrize(
    "metric_params", [{"V": [1e6, 1.0, 1.0]}, {"V": [1.0, 1.0, 1e6]}], ids=["first feature", "last feature"]
)
def test_parameters_of_the_metric_are_obeyed(metric_params, X, points):
    # A variance of 10⁶ makes a feature irrelevant.
    clusterer = DBSCAN(eps=1.2, min_samples=4, metric="seuclidean", metric_params=metric_params, algorithm="brute")
    weighted = np.sqrt(metric_params["V"])
    expected = labels_of(clusterer, X)[nearest_rows(points / weighted, X / weighted)]
    np.testing.assert_array_equal(learned(clusterer, X)(points), expected)


def test_minkowski_power_among_the_parameters_of_the_metric_is_obeyed(X, points):
    clusterer = HDBSCAN(min_cluster_size=5, metric="minkowski", metric_params={"p": 1}, copy=True)
    expected = labels_of(clusterer, X)[nearest_rows(points, X, "manhattan")]
    np.testing.assert_array_equal(learned(clusterer, X)(points), expected)


@pytest.mark.parametrize("metric", ["infinity", "chebyshev"])
def test_every_name_of_a_metric_that_the_clusterer_knows_is_understood(metric, X, points):
    clusterer = HDBSCAN(min_cluster_size=5, metric=metric, copy=True)
    expected = labels_of(clusterer, X)[nearest_rows(points, X, "maximum")]
    np.testing.assert_array_equal(learned(clusterer, X)(points), expected)


@pytest.mark.parametrize(
    "clusterer",
    [
        *everything(),
        cr.Induced(KMeans(3, n_init=1, random_state=0), metric="seuclidean"),
        cr.Induced(KMeans(3, n_init=1, random_state=0), metric="mahalanobis"),
    ],
    ids=short,
)
def test_a_points_label_depends_on_that_point_alone(clusterer, X, points):
    function = learned(clusterer, X)
    np.testing.assert_array_equal(function(points), [function(point[None])[0] for point in points])


def test_more_points_than_fit_into_one_block(rng):
    """Beyond 15 features, points are compared in blocks of 1,024."""
    X = rng.normal(size=(40, KD_TREE_FEATURES + 1))
    points = rng.normal(size=(2100, KD_TREE_FEATURES + 1))
    function = learned(lambda X: np.arange(len(X)), X)
    some = [0, 1023, 1024, 2047, 2048, 2099]
    np.testing.assert_array_equal(function(points)[some], nearest_rows(points[some], X))
    assert len(function(points)) == 2100


# ---------------------------------------------------------------------------------------------------------------------
# equal training points


@pytest.mark.parametrize("n_features", [1, 2, KD_TREE_FEATURES, KD_TREE_FEATURES + 1, 40])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_of_equal_training_points_the_first_row_wins(n_features, metric, rng):
    distinct = rng.normal(size=(12, n_features))
    rows = rng.integers(12, size=60)
    function = nearest_label(distinct[rows], np.arange(60), metric)
    drawn = np.unique(rows)
    first = [int(np.flatnonzero(rows == row)[0]) for row in drawn]
    assert function(distinct[drawn]).tolist() == first
    assert function(distinct[drawn] + 1e-9).tolist() == first


@given(st.lists(st.tuples(st.sampled_from([0.0, -0.0, 1.0, 2.5]), st.sampled_from([0.0, -0.0, -3.0])), min_size=1))
def test_first_row_wins_among_any_repeated_points(rows):
    points = np.array(rows)
    expected = [next(i for i, other in enumerate(rows) if other == row) for row in rows]  # −0 equals 0
    assert nearest_label(points, np.arange(len(rows)), "euclidean")(points).tolist() == expected


def test_a_row_drawn_twice_counts_for_the_clusterer(X):
    """Rows are repeated, not made distinct, before the clusterer sees them."""
    seen = []
    learned(lambda X: seen.append(len(X)) or np.arange(len(X)), X[[0, 0, 1, 1, 1]])
    assert seen == [5]


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
    with pytest.raises(ParameterError, match="metric"):
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
    ("labels", "message"),
    [
        (lambda X: np.zeros(len(X) - 1), "one label for every point of its input: 30; got 29"),
        (lambda X: np.zeros((len(X), 1)), "one-dimensional"),
        (lambda X: np.full(len(X), np.nan), "30 missing labels"),
        (lambda X: np.linspace(0, 1, len(X)), "whole numbers or text"),
        (lambda X: None, "sequence of labels"),
    ],
)
def test_what_is_no_labelling_is_refused(labels, message, X):
    with pytest.raises(DataError, match=message):
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
    with pytest.raises(DataError, match="3 features"):
        learned(AgglomerativeClustering(2), X)(points)


def test_the_fitted_clusterer_can_be_looked_into(X):
    function = learned(KMeans(3, n_init=1), X)
    assert function.n_features == 3
    assert function.clusterer.cluster_centers_.shape == (3, 3)


# ---------------------------------------------------------------------------------------------------------------------
# the number of clusters


NUMBERED = [
    (KMeans(5), "n_clusters", 5),
    (MiniBatchKMeans(5), "n_clusters", 5),
    (BisectingKMeans(5), "n_clusters", 5),
    (Birch(n_clusters=5), "n_clusters", 5),
    (Birch(n_clusters=None), "n_clusters", None),
    (Birch(n_clusters=AgglomerativeClustering(5)), "n_clusters", None),
    (GaussianMixture(5), "n_components", 5),
    (BayesianGaussianMixture(n_components=5), "n_components", 5),
    (AgglomerativeClustering(5), "n_clusters", 5),
    (SpectralClustering(5, n_components=7), "n_clusters", 5),
    (make_pipeline(StandardScaler(), AgglomerativeClustering(5)), "agglomerativeclustering__n_clusters", 5),
    (make_pipeline(PCA(n_components=1), KMeans(5)), "kmeans__n_clusters", 5),
    (make_pipeline(PCA(n_components=1), GaussianMixture(5)), "gaussianmixture__n_components", 5),
    (
        Pipeline([("a", StandardScaler()), ("b", Pipeline([("c", PCA(n_components=1)), ("d", KMeans(5))]))]),
        "b__d__n_clusters",
        5,
    ),
    (cr.Induced(AgglomerativeClustering(5)), "clusterer__n_clusters", 5),
    (cr.Induced(make_pipeline(PCA(n_components=1), KMeans(5))), "clusterer__kmeans__n_clusters", 5),
    (make_pipeline(PCA(n_components=1), cr.Induced(KMeans(5))), "induced__clusterer__n_clusters", 5),
    (by_kmeans, "n_clusters", 3),
    (partial(by_kmeans, n_clusters=5), "n_clusters", 5),
    (lambda X, n_clusters: by_kmeans(X, n_clusters), "n_clusters", None),
    (Duck(5), "n_clusters", 5),
]
UNNUMBERED = [
    DBSCAN(),
    HDBSCAN(copy=True),
    OPTICS(),
    MeanShift(),
    AffinityPropagation(),
    make_pipeline(PCA(n_components=1), DBSCAN()),
    cr.Induced(make_pipeline(PCA(n_components=1), MeanShift())),
    DuckThatPredicts(),
    by_sign,
    lambda X, **options: by_sign(X),
]


@pytest.mark.parametrize(("clusterer", "parameter", "asked"), NUMBERED, ids=lambda value: short(value))
def test_the_number_of_clusters_is_found_and_set(clusterer, parameter, asked):
    assert n_clusters_parameter(clusterer) == parameter
    assert asked_n_clusters(clusterer) == asked
    changed = with_n_clusters(clusterer, 4)
    assert n_clusters_parameter(changed) == parameter
    assert asked_n_clusters(changed) == 4
    assert asked_n_clusters(with_n_clusters(changed, 2)) == 2
    assert asked_n_clusters(clusterer) == asked  # the user's own is as it was


@pytest.mark.parametrize("clusterer", [clusterer for clusterer, *_ in NUMBERED], ids=short)
def test_so_many_clusters_are_found(clusterer, X):
    labels = learned(with_n_clusters(clusterer, 3), X)(X)
    assert len(np.unique(labels)) == 3


@pytest.mark.parametrize("clusterer", UNNUMBERED, ids=short)
def test_some_find_their_number_by_themselves(clusterer):
    assert n_clusters_parameter(clusterer) is None
    assert asked_n_clusters(clusterer) is None
    with pytest.raises(ParameterError, match="has no parameter for the number of clusters"):
        with_n_clusters(clusterer, 3)


def test_the_transformers_own_components_are_left_alone():
    pipeline = make_pipeline(PCA(n_components=1), KMeans(5))
    assert with_n_clusters(pipeline, 3)[0].n_components == 1
    spectral = with_n_clusters(SpectralClustering(5, n_components=7), 3)
    assert spectral.n_components == 7


def test_the_number_may_be_a_numpy_integer():
    assert asked_n_clusters(KMeans(np.int64(5))) == 5
    assert type(asked_n_clusters(KMeans(np.int64(5)))) is int


def test_a_tree_cut_by_height_finds_its_number_by_itself(rng):
    """`compare` runs such a clusterer once: a number of clusters beside a height is an error in scikit-learn."""
    studies = {name: three_blobs(rng) for name in ("a", "b")}
    tree = AgglomerativeClustering(n_clusters=None, distance_threshold=10.0)
    assert asked_n_clusters(tree) is None
    choice = cr.compare({"tree": tree}, studies, n_clusters=[2, 3], n_resamples=2, rng=0)
    assert choice.n_clusters == (None,)
    assert choice.failures == {}


def test_an_induced_clusterer_without_parameters_still_has_a_number():
    clusterer = cr.Induced(Duck(5))
    assert asked_n_clusters(clusterer) == 5
    assert asked_n_clusters(with_n_clusters(clusterer, 3)) == 3
    assert clusterer.clusterer.n_clusters == 5


# ---------------------------------------------------------------------------------------------------------------------
# randomness


def states(clusterer, seed):
    """All random states of a seeded copy, by parameter."""
    seeded = with_seed(clusterer, np.random.SeedSequence(seed))
    if callable(seeded):
        return {name: value for name, value in seeded.arguments.items() if name == "random_state"}
    if not hasattr(seeded, "get_params"):
        return {"random_state": seeded.random_state}
    return {name: value for name, value in seeded.get_params().items() if name.split("__")[-1] == "random_state"}


OPEN = [
    (KMeans(3), 1),
    (Birch(n_clusters=KMeans(3)), 1),
    (make_pipeline(PCA(n_components=2), KMeans(3)), 2),
    (make_pipeline(PCA(n_components=2), make_pipeline(PCA(n_components=1), GaussianMixture(3))), 3),
    (cr.Induced(SpectralClustering(3), classifier=DecisionTreeClassifier()), 2),
    (by_kmeans, 1),
    (lambda X, random_state: by_kmeans(X, random_state=random_state), 1),
    (partial(by_kmeans, n_clusters=4), 1),
    (Duck(), 1),
]


@pytest.mark.parametrize(("clusterer", "n_states"), OPEN, ids=lambda value: short(value))
def test_open_random_states_are_filled_from_the_seed(clusterer, n_states):
    first, again, other = states(clusterer, 1), states(clusterer, 1), states(clusterer, 2)
    assert len(set(first.values())) == n_states  # each its own
    assert None not in first.values()
    assert first == again
    assert not set(first.values()) & set(other.values())


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(3, random_state=5),
        make_pipeline(PCA(random_state=5), KMeans(3, random_state=5)),
        cr.Induced(KMeans(3, random_state=5)),
        Duck(random_state=5),
        partial(by_kmeans, random_state=5),
        lambda X, random_state=5: by_kmeans(X, random_state=random_state),
    ],
    ids=["estimator", "pipeline", "induced", "duck", "partial", "default"],
)
def test_a_random_state_that_the_user_fixed_is_obeyed(clusterer, rng):
    X = rng.normal(size=(60, 2))  # without clusters, so that k-means depends on its start
    expected = KMeans(3, n_init=1 if callable(clusterer) or isinstance(clusterer, Duck) else "auto", random_state=5)
    for seed in (1, 2):
        np.testing.assert_array_equal(learned(clusterer, X, seed)(X), expected.fit(X).predict(X))


def test_only_the_open_states_are_filled():
    pipeline = make_pipeline(PCA(n_components=2, random_state=5), KMeans(3))
    first, other = states(pipeline, 1), states(pipeline, 2)
    assert first["pca__random_state"] == other["pca__random_state"] == 5
    assert first["kmeans__random_state"] != other["kmeans__random_state"]


def test_random_states_inside_a_wrapped_clusterer_without_parameters_are_filled_too(rng):
    X = rng.normal(size=(60, 2))
    one, again, other = (learned(cr.Induced(Duck(6)), X, seed)(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert adjusted_rand_score(one, other) < 1


@pytest.mark.parametrize("clusterer", [KMeans(6, n_init=1), by_kmeans, Duck(6)], ids=["estimator", "function", "duck"])
def test_same_seed_same_labels(clusterer, rng):
    X = rng.normal(size=(60, 2))
    one, again = (learned(clusterer, X, 1)(X) for _ in range(2))
    np.testing.assert_array_equal(one, again)
    assert any(adjusted_rand_score(one, learned(clusterer, X, seed)(X)) < 1 for seed in range(2, 6))


def test_a_shared_random_state_object_is_neither_used_up_nor_shared(rng):
    state = np.random.RandomState(5)
    before = state.get_state()[1].copy()
    X = rng.normal(size=(60, 2))
    one, again = (learned(KMeans(6, n_init=1, random_state=state), X, seed)(X) for seed in (1, 2))
    np.testing.assert_array_equal(one, again)
    np.testing.assert_array_equal(state.get_state()[1], before)


@pytest.mark.parametrize("clusterer", everything(), ids=short)
def test_the_users_own_object_is_never_changed(clusterer, X):
    if callable(clusterer):
        before = dict(vars(clusterer))
    elif hasattr(clusterer, "get_params"):
        before = repr(clusterer.get_params())
    else:
        before = dict(vars(clusterer))
    learned(clusterer, X)(X)
    if hasattr(clusterer, "get_params"):
        assert repr(clusterer.get_params()) == before
        with pytest.raises(NotFittedError):
            check_is_fitted(clusterer[-1] if isinstance(clusterer, Pipeline) else clusterer)
    else:
        assert vars(clusterer) == before


# ---------------------------------------------------------------------------------------------------------------------
# what is no clusterer of points


@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(metric="precomputed", linkage="average"),
        DBSCAN(metric="precomputed"),
        OPTICS(metric="precomputed"),
        HDBSCAN(metric="precomputed", copy=True),
        SpectralClustering(affinity="precomputed"),
        SpectralClustering(affinity="precomputed_nearest_neighbors"),
        AffinityPropagation(affinity="precomputed"),
        make_pipeline(StandardScaler(), DBSCAN(metric="precomputed")),
        make_pipeline(StandardScaler(), make_pipeline(PCA(), DBSCAN(metric="precomputed"))),
        cr.Induced(DBSCAN(metric="precomputed")),
        cr.Induced(make_pipeline(PCA(), DBSCAN(metric="precomputed"))),
    ],
    ids=short,
)
def test_clusterers_of_distances_are_refused(clusterer, X):
    with pytest.raises(ParameterError, match=r"precomputed.*points, not distances"):
        cr.replicability(clusterer, {"a": X, "b": X[::-1]}, n_resamples=1, rng=0)


@pytest.mark.parametrize("clusterer", [KMeans, Duck, cr.Induced(KMeans)], ids=["estimator", "duck", "induced"])
def test_a_class_is_not_an_object(clusterer):
    with pytest.raises(ParameterError, match=r"not a class: write (KMeans|Duck)\(\)"):
        check_clusterer(clusterer)


@pytest.mark.parametrize("clusterer", ["kmeans", 3, None, StandardScaler(), cr.Induced("kmeans")], ids=short)
def test_what_can_not_cluster_is_refused(clusterer):
    with pytest.raises(ParameterError, match="must have fit_predict, or be a function"):
        check_clusterer(clusterer)


# ---------------------------------------------------------------------------------------------------------------------
# the whole road


def drawn_rows(seed, name, replicate, n):
    return np.random.default_rng(seed_of(seed, Stream.DRAW, name, replicate)).integers(n, size=n)


@pytest.mark.parametrize(
    "clusterer",
    [*everything(), cr.Induced(AgglomerativeClustering(3), classifier=KNeighborsClassifier(3))],
    ids=short,
)
@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")  # what a clusterer says of repeated rows
def test_every_clusterer_goes_the_whole_road(clusterer, rng):
    studies = {"a": three_blobs(rng), "b": three_blobs(rng, 24)}
    result = cr.replicability(clusterer, studies, n_resamples=2, rng=3, resampling=cr.Bootstrap())
    assert np.isfinite(result.estimate).all()
    for resample in (None, 0, 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            train, test = (result.clustering_function(name, resample) for name in ("a", "b"))
        points = studies["b"] if resample is None else studies["b"][drawn_rows(3, "b", resample + 1, 24)]
        scores = result.estimate if resample is None else result.distribution[resample]
        if np.isfinite(scores[0, 1]):
            assert scores[0, 1] == pytest.approx(adjusted_rand_score(train(points), test(points)), abs=1e-12)
    assert np.isfinite(result.distribution).any()


def test_a_point_without_distances_captures_nobody():
    """The origin has no angle to anything: its distances are not numbers, and it must not be anyone's nearest."""
    predict = nearest_label(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [7, 1, 2], "cosine")
    assert predict(np.array([[1.0, 0.1], [0.1, 1.0]])).tolist() == [1, 2]
    with pytest.raises(ReplicateFailure, match="no distance to any training point"):
        predict(np.array([[0.0, 0.0]]))
