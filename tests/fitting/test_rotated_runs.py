"""More features than samples: in as many coordinates as there are samples, clusterers find what they always find."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.helpers import configured

import clustrep as cr
from clustrep.errors import ReplicateWarning
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting

P = 400
SIZES = {"a": 20, "b": 28, "c": 35}


def tables(spread, dtype=float, p=P):
    """Three clusters far from the origin; with a spread of 1 they are hard to tell, with 10 they are not."""
    rng = np.random.default_rng(8)
    centres = spread * rng.normal(size=(3, p)) / 10
    scales = rng.uniform(0.1, 2, size=p)
    return {
        name: (20 + centres[np.arange(n) % 3] + scales * rng.normal(size=(n, p))).astype(dtype)
        for name, n in SIZES.items()
    }


HARD, EASY = tables(4), tables(30)
# Points of no study, beyond the span of all.
NEW = np.concatenate([draw + np.random.default_rng(9).normal(size=draw.shape) for draw in HARD.values()])


def both_ways(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplicateWarning)
        return tuple(configured(function, accelerate=accelerate)(*args, **options) for accelerate in (True, False))


def rotations_of(clusterer, studies=HARD, *, resampling=None, accelerate=True):
    """The rotations with which a clusterer would be run; None is none."""
    studies = tuple(cr.Studies(studies).values())
    source = Source(resampling or cr.resampling.Bootstrap(), 0, accelerate)
    return [learner.rotation for learner in Setting.prepare(source, studies, [Configuration("it", clusterer)]).learners]


def assert_equal_scores(fast, plain):
    np.testing.assert_allclose(fast.estimate, plain.estimate, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fast.distribution, plain.distribution, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fast.failed, plain.failed)
    assert len(np.unique(fast.distribution)) > 2  # or there was nothing to get wrong


def assert_same_partition(one, other):
    assert adjusted_rand_score(one, other) == 1


# Without randomness, or with the same random numbers however many coordinates there are.
SAME = {
    "ward": AgglomerativeClustering(3),
    "average": AgglomerativeClustering(3, linkage="average"),
    "cut by height": AgglomerativeClustering(None, distance_threshold=45.0),
    "dbscan": DBSCAN(eps=31.0, min_samples=4),
    "birch": Birch(threshold=12.0, n_clusters=3),
    "given centres": KMeans(3, init=HARD["c"][:3], n_init=1),
    "given centres in a list": KMeans(3, init=(HARD["c"][:3] + 1).tolist(), n_init=1),
    "mini-batches": MiniBatchKMeans(3, n_init=1, max_iter=4, random_state=0),
    "mini-batches from given centres": MiniBatchKMeans(3, init=HARD["c"][:3], n_init=1, max_iter=3, random_state=0),
    "halves of halves": BisectingKMeans(3, random_state=0),
    "random starts": KMeans(3, n_init=1, init="random", random_state=0),
}


@pytest.mark.parametrize("name", SAME)
def test_scores_are_those_with_all_features(name):
    (rotation,) = rotations_of(SAME[name])
    assert (rotation.n_features, rotation.n_coordinates) == (P, sum(SIZES.values()))
    fast, plain = both_ways(cr.replicability, SAME[name], HARD, n_resamples=2, rng=1)
    assert_equal_scores(fast, plain)
    function, expected = (result.clustering_function("b", 1) for result in (fast, plain))
    assert_same_partition(function(NEW), expected(NEW))


@pytest.mark.parametrize("name", ["average", "birch", "given centres"])
def test_subsamples_and_single_precision_score_as_with_all_features(name):
    studies = tables(4, np.float32)
    assert rotations_of(SAME[name], studies) != [None]
    assert_equal_scores(
        *both_ways(cr.replicability, SAME[name], studies, n_resamples=2, rng=1, resampling=cr.resampling.Subsample(0.7))
    )


@pytest.mark.parametrize(
    ("clusterer", "tol"), [(KMeans, 20), (MiniBatchKMeans, 5)], ids=lambda value: getattr(value, "__name__", None)
)
def test_a_tolerance_means_the_same_in_coordinates(clusterer, tol):
    """Few dimensions that matter, and poor first centres: there are many steps, and the tolerance ends them."""
    rng = np.random.default_rng(1)
    plane = np.linalg.qr(rng.normal(size=(P, 2)))[0].T
    flat = {name: rng.uniform(-5, 5, size=(n, 2)) @ plane + 0.01 * rng.normal(size=(n, P)) for name, n in SIZES.items()}
    options = {"n_clusters": 4, "n_init": 1, "init": rng.uniform(-1, 1, size=(4, 2)) @ plane, "random_state": 0}
    run = {"n_resamples": 2, "rng": 1, "resampling": cr.resampling.Subsample(0.8)}
    fast, plain = both_ways(cr.replicability, clusterer(tol=tol, **options), flat, **run)
    assert_equal_scores(fast, plain)
    careless = clusterer(tol=tol * P / sum(SIZES.values()), **options)
    assert not np.allclose(
        configured(cr.replicability, accelerate=False)(careless, flat, **run).distribution, plain.distribution
    )


@pytest.mark.parametrize("name", ["k-means", "full", "tied"])
def test_clusters_that_lie_apart_are_found_either_way(name):
    clusterer = KMeans(3, n_init=3) if name == "k-means" else GaussianMixture(3, covariance_type=name, random_state=0)
    assert rotations_of(clusterer, EASY) != [None]
    fast, plain = both_ways(cr.replicability, clusterer, EASY, n_resamples=1, rng=0, diagonal=False)
    others = ~np.eye(3, dtype=bool)
    for result in (fast, plain):
        np.testing.assert_array_equal(result.estimate[others], 1)
        np.testing.assert_array_equal(result.distribution[:, others], 1)
    one, other = (result.clustering_function("a", 0) for result in (fast, plain))
    assert_same_partition(one(EASY["c"]), other(EASY["c"]))
    assert_same_partition(one(EASY["c"]), np.arange(SIZES["c"]) % 3)


@pytest.mark.parametrize("at", [None, NEW, cr.Study(HARD["b"], "test")], ids=["training points", "new points", "test"])
@pytest.mark.parametrize("name", ["ward", "dbscan", "given centres", "halves of halves"])
def test_local_scores_are_those_with_all_features(name, at):
    fast, plain = both_ways(
        cr.local_replicability,
        SAME[name],
        train=HARD["c"],
        test=HARD["b"],
        at=at,
        n_resamples=3,
        rng=1,
        resampling=cr.resampling.Bootstrap(),
    )
    assert_equal_scores(fast, plain)
    assert_same_partition(fast.labels, plain.labels)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["k-means", "given centres", "mini-batches"])
def test_fitted_centres_have_all_features(name, dtype):
    studies = tables(10, dtype)
    clusterer = SAME.get(name, KMeans(3, n_init=2))
    result = cr.replicability(clusterer, studies, n_resamples=2, rng=3, resampling=cr.resampling.Bootstrap())
    function = result.clustering_function("c", 1)
    fitted = function.clusterer
    rows = Source(cr.resampling.Bootstrap(), 3).draw(cr.Study(studies["c"], "c"), 2).order
    X = studies["c"][rows]
    assert type(fitted) is type(clusterer)
    assert (fitted.cluster_centers_.shape, fitted.n_features_in_) == ((3, P), P)
    np.testing.assert_array_equal(fitted.labels_, function(X))
    for points in (X, NEW):
        np.testing.assert_array_equal(fitted.predict(points.astype(fitted.cluster_centers_.dtype)), function(points))
    if isinstance(fitted, KMeans):
        expected = np.stack([X[fitted.labels_ == j].mean(axis=0) for j in range(3)])
    else:
        plain = configured(cr.replicability, accelerate=False)(
            clusterer, studies, n_resamples=2, rng=3, resampling=cr.resampling.Bootstrap()
        )
        expected = plain.clustering_function("c", 1).clusterer.cluster_centers_
    np.testing.assert_allclose(fitted.cluster_centers_, expected, rtol=0, atol=1e-4)


NOT_ROTATED = {
    "a step that looks at features": make_pipeline(StandardScaler(), KMeans(3, n_init=1)),
    "a diagonal mixture": GaussianMixture(3, covariance_type="diag"),
    "a spherical mixture": GaussianMixture(3, covariance_type="spherical"),
    "a mixture with a prior": BayesianGaussianMixture(n_components=3),
    "city blocks": AgglomerativeClustering(3, linkage="average", metric="manhattan"),
    "angles": AgglomerativeClustering(3, linkage="average", metric="cosine"),
    "city blocks of density": DBSCAN(eps=300, metric="manhattan"),
    "a subclass": type("Mine", (KMeans,), {})(3, n_init=1),
    "starts by a function": KMeans(3, n_init=1, init=lambda X, n_clusters, random_state: X[:n_clusters]),
    "a function": lambda X: X[:, 0] > X[:, 0].mean(),
}


@pytest.mark.parametrize("name", NOT_ROTATED)
def test_what_looks_at_features_keeps_them(name):
    assert rotations_of(NOT_ROTATED[name]) == [None]


def test_a_rotation_needs_twice_as_many_features_as_samples_and_draws_of_the_studies_own_points():
    n = sum(SIZES.values())
    clusterer = KMeans(3, n_init=1)
    assert rotations_of(clusterer, tables(1, p=2 * n - 1)) == [None]
    assert rotations_of(clusterer, tables(1, p=2 * n)) != [None]
    assert rotations_of(
        clusterer, resampling=cr.resampling.Simulate(lambda study, rng: rng.normal(size=study.X.shape))
    ) == [None]
    assert rotations_of(clusterer, accelerate=False) == [None]


def test_one_clusterer_is_rotated_beside_another_that_is_not():
    clusterers = {"k-means": SAME["given centres"], "angles": NOT_ROTATED["angles"], "ward": SAME["ward"]}
    fast, plain = both_ways(cr.compare, clusterers, HARD, n_resamples=2, rng=1)
    assert_equal_scores(fast, plain)
    alone = cr.replicability(SAME["ward"], HARD, n_resamples=2, rng=1)
    np.testing.assert_array_equal(fast.replicability("ward").distribution, alone.distribution)
