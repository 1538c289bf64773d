"""Rotations themselves: what they keep, which clusterers bear them, and what these are told and give back."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    OPTICS,
    AffinityPropagation,
    AgglomerativeClustering,
    Birch,
    BisectingKMeans,
    FeatureAgglomeration,
    KMeans,
    MeanShift,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clustrep.checks import read_only
from clustrep.execution.seeds import one_thread
from clustrep.fitting.parameters import Induced, KnownLabels
from clustrep.fitting.rotation import CENTRES, SAFE, Rotation, can_rotate, in_coordinates, needs_basis, with_features

P = 300
SIZES = (20, 30, 15)
N = sum(SIZES)
GROUPS = np.arange(N) % 3


def normal(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


def split(pooled):
    return np.split(pooled, np.cumsum(SIZES)[:-1])


def with_equal_rows():
    X = normal(N, P)
    X[[3, 25, 64, 1]] = X[[0, 5, 40, 0]]  # within a study and between two
    return X


KINDS = {
    "plain": normal(N, P),
    "far away": normal(N, P) + 1e6,
    "tiny": normal(N, P) * 1e-12,
    "huge": normal(N, P) * 1e12,
    "equal rows": with_equal_rows(),
    "nothing but equal rows": np.tile(normal(1, P), (N, 1)),
    "few dimensions": normal(N, 4) @ normal(4, P, seed=2) + normal(P, seed=3),
    "constant features": np.where(np.arange(P) < 250, 7.0, normal(N, P)),
    "single precision": normal(N, P).astype(np.float32),
    "single precision far away": (normal(N, P) + 1000).astype(np.float32),
    "one feature more": normal(N, N + 1),
    "fewer features": normal(N, 10),
}

# Three clusters that lie apart; clusterers see some of the rows, as they do in a study.
POOLED = 4 * normal(3, P, seed=4)[GROUPS] + normal(N, P, seed=5) + 10
ROTATION = Rotation.of(split(POOLED), with_basis=True)
SEEN, COORDINATES, TRUTH = POOLED[:50], np.concatenate(ROTATION.coordinates)[:50], GROUPS[:50]


@pytest.fixture(autouse=True)
def _limit_threads():
    with one_thread():
        yield


# ---------------------------------------------------------------------------------------------------------------------
# the rotation


@pytest.mark.parametrize("kind", KINDS)
def test_all_distances_are_kept(kind):
    X = KINDS[kind]
    rotation = Rotation.of(split(X))
    coordinates = np.concatenate(rotation.coordinates)
    assert [len(part) for part in rotation.coordinates] == list(SIZES)
    assert coordinates.dtype == float
    assert coordinates.shape[1] <= min(N, X.shape[1])
    assert (rotation.n_features, rotation.n_coordinates) == (X.shape[1], coordinates.shape[1])
    distances = cdist(X.astype(float), X.astype(float))
    kept = cdist(coordinates, coordinates)
    np.testing.assert_allclose(kept, distances, rtol=1e-13, atol=1e-13 * (distances.max() or 1.0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_basis_changes_no_bit(kind):
    tables = split(KINDS[kind])
    without, rotation = Rotation.of(tables), Rotation.of(tables, with_basis=True)
    assert without.basis is None
    np.testing.assert_array_equal(rotation.origin, without.origin)
    for one, other in zip(rotation.coordinates, without.coordinates, strict=True):
        np.testing.assert_array_equal(one, other)
    basis = rotation.basis
    assert basis.shape == (rotation.n_features, rotation.n_coordinates)
    np.testing.assert_allclose(basis.T @ basis, np.eye(rotation.n_coordinates), rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_points_of_the_tables_and_between_them_go_there_and_back(kind):
    X = KINDS[kind]
    rotation = Rotation.of(split(X), with_basis=True)
    spread = np.abs(X.astype(float) - rotation.origin).max()
    for table, coordinates in zip(split(X), rotation.coordinates, strict=True):
        np.testing.assert_allclose(rotation.project(table), coordinates, rtol=0, atol=1e-13 * P * spread)
    shares = np.random.default_rng(6).dirichlet(np.ones(N), size=50)
    between = shares @ X.astype(float)
    size = np.abs(between).max()  # the last bits of these points are larger than those of their deviations
    np.testing.assert_allclose(rotation.restore(rotation.project(between)), between, rtol=0, atol=1e-13 * size)


def test_the_tables_are_left_alone_and_the_coordinates_can_not_be_changed():
    tables = split(KINDS["plain"].copy())
    rotation = Rotation.of(tables)
    np.testing.assert_array_equal(np.concatenate(tables), KINDS["plain"])
    for part in rotation.coordinates:
        assert part.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            part[0, 0] = 0


def test_what_lies_outside_the_span_is_the_same_for_all_distances_of_a_point():
    rotation = Rotation.of(split(KINDS["plain"]), with_basis=True)
    outside = normal(7, P, seed=8) + 3
    projected = rotation.project(outside)
    squared = cdist(outside, KINDS["plain"], "sqeuclidean")
    beyond = squared - cdist(projected, np.concatenate(rotation.coordinates), "sqeuclidean")  # (7, N)
    residuals = ((outside - rotation.restore(projected)) ** 2).sum(axis=1, keepdims=True)
    assert residuals.min() > 100
    np.testing.assert_allclose(beyond, np.broadcast_to(residuals, beyond.shape), rtol=0, atol=1e-13 * squared.max())


@pytest.mark.parametrize("kind", ["equal rows", "nothing but equal rows"])
def test_equal_rows_have_equal_coordinates(kind):
    coordinates = np.concatenate(Rotation.of(split(KINDS[kind])).coordinates)
    _, same = np.unique(KINDS[kind], axis=0, return_inverse=True)
    assert len(np.unique(coordinates, axis=0)) == same.max() + 1


def test_one_table_and_one_row():
    rotation = Rotation.of([normal(1, 5)], with_basis=True)
    assert rotation.coordinates[0].tolist() == [[0.0]]
    np.testing.assert_allclose(rotation.restore(np.zeros((1, 1))), normal(1, 5), rtol=1e-15)


# ---------------------------------------------------------------------------------------------------------------------
# which clusterers bear it


def euclidean_forms(make, **options):
    return [make(**options), *(make(metric=metric, **options) for metric in ("euclidean", "l2"))]


def other_metrics(make, *names, **options):
    return [make(metric=metric, **options) for metric in ("cosine", "precomputed", lambda a, b: 0.0, *names)]


def kind_of(clusterer):
    return type(clusterer).__name__


def first_rows(X, n_clusters, random_state):
    return X[:n_clusters]


BEAR_IT = [
    *(make(3, init=init) for make in (KMeans, MiniBatchKMeans) for init in ("k-means++", "random", normal(3, P))),
    KMeans(3, init=normal(3, P).tolist(), algorithm="elkan"),
    *(BisectingKMeans(3, init=init) for init in ("k-means++", "random")),
    Birch(n_clusters=3),
    Birch(n_clusters=None),
    *(
        make
        for link in ("complete", "average", "single")
        for make in euclidean_forms(AgglomerativeClustering, linkage=link)
    ),
    AgglomerativeClustering(3, linkage="ward"),
    AgglomerativeClustering(None, distance_threshold=3.0),
    *euclidean_forms(DBSCAN),
    *euclidean_forms(OPTICS),
    *euclidean_forms(HDBSCAN, copy=True),
    *(make(metric="minkowski", p=p) for make in (DBSCAN, OPTICS) for p in (None, 2)),
    *(SpectralClustering(3, affinity=affinity) for affinity in ("rbf", "nearest_neighbors")),
    AffinityPropagation(),
    MeanShift(),
    *(GaussianMixture(3, covariance_type=kind) for kind in ("full", "tied")),
    GaussianMixture(3, weights_init=[0.2, 0.3, 0.5]),
]
DO_NOT = [
    *(make(3, init=first_rows) for make in (KMeans, MiniBatchKMeans, BisectingKMeans)),
    Birch(n_clusters=AgglomerativeClustering(3, metric="cosine", linkage="average")),
    *other_metrics(AgglomerativeClustering, "manhattan", "l1", linkage="average"),
    AgglomerativeClustering(3, connectivity=np.eye(N)),
    *other_metrics(DBSCAN, "manhattan", "chebyshev"),
    *other_metrics(OPTICS, "manhattan", "chebyshev"),
    *other_metrics(HDBSCAN, "manhattan", "chebyshev", copy=True),
    *(make(metric="minkowski", p=p) for make in (DBSCAN, OPTICS) for p in (1, 3)),
    DBSCAN(metric="minkowski", metric_params={"w": np.ones(P)}),
    OPTICS(metric_params={"w": np.ones(P)}),
    HDBSCAN(metric="minkowski", metric_params={"p": 1}, copy=True),
    *(SpectralClustering(3, affinity=a) for a in ("precomputed", "precomputed_nearest_neighbors", "cosine", "poly")),
    AffinityPropagation(affinity="precomputed"),
    MeanShift(bin_seeding=True),
    MeanShift(seeds=normal(3, P)),
    *(GaussianMixture(3, covariance_type=kind) for kind in ("diag", "spherical")),
    GaussianMixture(3, means_init=normal(3, P)),
    GaussianMixture(3, precisions_init=np.eye(P)),
    BayesianGaussianMixture(n_components=3),
    FeatureAgglomeration(3),
    make_pipeline(KMeans(3)),
    make_pipeline(StandardScaler(), KMeans(3)),
    *(type("Mine", (kind,), {})() for kind in SAFE),
    Induced(KMeans(3)),
    KnownLabels({"a": GROUPS}),
    first_rows,
    KMeans,
]


@pytest.mark.parametrize("clusterer", BEAR_IT, ids=kind_of)
def test_clusterers_that_see_distances_alone_can_be_rotated(clusterer):
    assert can_rotate(clusterer)


@pytest.mark.parametrize("clusterer", DO_NOT, ids=kind_of)
def test_clusterers_that_look_at_features_can_not(clusterer):
    assert not can_rotate(clusterer)


def test_every_kind_is_tested():
    assert {type(clusterer) for clusterer in BEAR_IT} == set(SAFE)
    assert {type(clusterer) for clusterer in DO_NOT} > set(SAFE)


FINDS_THREE = {
    "k-means": KMeans(3, n_init=2, random_state=0),
    "k-means, random": KMeans(3, n_init=3, init="random", random_state=0),
    "k-means, given": KMeans(3, n_init=1, init=POOLED[:3]),
    "mini-batches": MiniBatchKMeans(3, n_init=2, random_state=0),
    "halves of halves": BisectingKMeans(3, random_state=0),
    "birch": Birch(n_clusters=3, threshold=20.0),
    **{
        f"{link} linkage": AgglomerativeClustering(3, linkage=link)
        for link in ("ward", "complete", "average", "single")
    },
    "dbscan": DBSCAN(eps=30.0, min_samples=3),
    "optics": OPTICS(min_samples=5),
    "hdbscan": HDBSCAN(min_cluster_size=5, copy=True),
    "spectral, rbf": SpectralClustering(3, gamma=1e-3, random_state=0),
    "spectral, neighbours": SpectralClustering(3, affinity="nearest_neighbors", n_neighbors=25, random_state=0),
    "affinity propagation": AffinityPropagation(damping=0.9, random_state=0),
    "mean shift": MeanShift(bandwidth=35.0),
    "full mixture": GaussianMixture(3, random_state=0),
    "tied mixture": GaussianMixture(3, covariance_type="tied", random_state=0),
}


@pytest.mark.parametrize("name", FINDS_THREE)
def test_a_clusterer_that_can_be_rotated_finds_what_it_finds_with_all_features(name):
    clusterer = FINDS_THREE[name]
    assert can_rotate(clusterer)
    labels = in_coordinates(clusterer, ROTATION).fit_predict(COORDINATES)
    expected = clone(clusterer).fit_predict(SEEN)
    assert adjusted_rand_score(labels, expected) == 1
    assert adjusted_rand_score(expected, TRUTH) == 1


@pytest.mark.parametrize("start", ["k-means++", "random_from_data"])
def test_starts_of_a_tied_mixture_do_not_depend_on_the_origin(start):
    clusterer = GaussianMixture(3, covariance_type="tied", init_params=start, random_state=0)
    X = normal(60, 100, seed=4) + 5 + np.arange(60)[:, None] % 3 / 2
    rotation = Rotation.of([X])
    labels = in_coordinates(clusterer, rotation).fit_predict(rotation.coordinates[0])
    assert adjusted_rand_score(labels, clone(clusterer).fit_predict(X)) == 1 or not can_rotate(clusterer)


# ---------------------------------------------------------------------------------------------------------------------
# what they are told


@pytest.mark.parametrize("make", [KMeans, MiniBatchKMeans])
def test_a_tolerance_keeps_its_size(make):
    told = in_coordinates(make(3, tol=0.02), ROTATION)
    per_feature, per_coordinate = (table.var(axis=0).mean() for table in (SEEN, COORDINATES))
    assert per_coordinate > 4 * per_feature
    assert told.tol * per_coordinate == pytest.approx(0.02 * per_feature, rel=1e-12)


def test_the_tolerance_of_halves_of_halves_is_absolute():
    X = normal(100, 800) * 2 / np.sqrt(1 + np.arange(800))
    rotation = Rotation.of([X])
    clusterer = BisectingKMeans(4, tol=1.0, random_state=0)
    labels = in_coordinates(clusterer, rotation).fit_predict(rotation.coordinates[0])
    assert adjusted_rand_score(labels, clone(clusterer).fit_predict(X)) == 1


@pytest.mark.parametrize("make", [KMeans, MiniBatchKMeans])
@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, lambda X: tuple(map(tuple, X))])
def test_given_centres_are_rotated_too(make, form):
    centres = form(POOLED[:3] + 1)
    clusterer = make(3, init=centres, n_init=1)
    assert needs_basis(clusterer)
    told = in_coordinates(clusterer, ROTATION)
    np.testing.assert_array_equal(told.init, ROTATION.project(POOLED[:3] + 1))
    assert clusterer.init is centres


@pytest.mark.parametrize(
    "clusterer", [KMeans(3), BisectingKMeans(3), GaussianMixture(3), DBSCAN(), first_rows], ids=kind_of
)
def test_others_need_no_basis(clusterer):
    assert not needs_basis(clusterer)


@pytest.mark.parametrize("name", FINDS_THREE)
def test_the_clusterer_itself_is_not_touched(name):
    clusterer = FINDS_THREE[name]
    before = clusterer.get_params()
    told = in_coordinates(clusterer, ROTATION)
    assert type(told) is type(clusterer)
    assert told is not clusterer
    for parameter, value in clusterer.get_params().items():
        assert value is before[parameter]
        if parameter not in ("tol", "init"):
            assert told.get_params()[parameter] == value
    if isinstance(clusterer, GaussianMixture):
        assert told.tol == clusterer.tol  # a difference of likelihoods


# ---------------------------------------------------------------------------------------------------------------------
# what they give back

WITH_CENTRES = ["k-means", "mini-batches", "birch", "dbscan", "affinity propagation", "mean shift"]
WITH_MORE = ["halves of halves", "full mixture", "tied mixture"]


def both_fitted(name):
    """A clusterer fitted to coordinates, and fitted to all features."""
    return in_coordinates(FINDS_THREE[name], ROTATION).fit(COORDINATES), clone(FINDS_THREE[name]).fit(SEEN)


@pytest.mark.parametrize("name", WITH_CENTRES)
def test_centres_get_their_features_back(name):
    fitted, expected = both_fitted(name)
    before = dict(vars(fitted))
    restored = with_features(fitted, ROTATION, FINDS_THREE[name])
    assert all(restored.get_params()[key] is value for key, value in FINDS_THREE[name].get_params().items())
    found = [attribute for attribute in CENTRES if hasattr(expected, attribute)]
    assert found
    for attribute in found:
        np.testing.assert_allclose(getattr(restored, attribute), getattr(expected, attribute), rtol=0, atol=1e-9)
    assert type(restored) is type(fitted)
    assert restored.n_features_in_ == P
    assert vars(fitted).keys() == before.keys()
    assert all(value is before[attribute] for attribute, value in vars(fitted).items())
    assert fitted.n_features_in_ == ROTATION.n_coordinates


@pytest.mark.parametrize("name", ["k-means", "mini-batches", "birch", "affinity propagation", "mean shift", *WITH_MORE])
def test_a_clusterer_with_its_features_back_predicts(name):
    fitted, expected = both_fitted(name)
    np.testing.assert_array_equal(
        with_features(fitted, ROTATION, FINDS_THREE[name]).predict(POOLED), expected.predict(POOLED)
    )


@pytest.mark.parametrize("attribute", ["centroids_", "medoids_"])
def test_stored_centres_get_their_features_back(attribute):
    clusterer = HDBSCAN(min_cluster_size=5, store_centers="both", copy=True)
    restored = with_features(clone(clusterer).fit(COORDINATES), ROTATION, clusterer)
    np.testing.assert_allclose(getattr(restored, attribute), getattr(clone(clusterer).fit(SEEN), attribute))


@pytest.mark.parametrize("name", [*WITH_CENTRES, "ward linkage", "optics", "hdbscan", "spectral, rbf"])
def test_a_clusterer_with_its_features_back_knows_how_many_there_are(name):
    assert with_features(both_fitted(name)[0], ROTATION, FINDS_THREE[name]).n_features_in_ == P


# ---------------------------------------------------------------------------------------------------------------------
# the same studies again


def test_the_same_tables_are_rotated_once_for_as_long_as_they_live():
    tables = [read_only(table.copy()) for table in split(KINDS["plain"])]
    rotation, turned = Rotation.of(tables), Rotation.of(tables[::-1])
    assert Rotation.of(tables) is rotation
    assert Rotation.of(tables[::-1]) is turned
    assert Rotation.of(tables, with_basis=True).basis is not None
    assert Rotation.of([*tables[:2], read_only(tables[2].copy())]) is not rotation
    kept = weakref.ref(rotation)
    del rotation, turned, tables
    gc.collect()
    assert kept() is None


def test_tables_that_can_change_are_rotated_again():
    tables = split(KINDS["plain"].copy())
    before = Rotation.of(tables)
    tables[0] *= 2.0
    after = Rotation.of(tables)
    assert after is not before
    np.testing.assert_allclose(cdist(*after.coordinates[:2]), cdist(*tables[:2]))
