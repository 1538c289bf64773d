"""A clusterer's number of clusters and randomness, and what is no clusterer."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
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
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted
from tests.fitting.function.cases import (
    Duck,
    DuckThatPredicts,
    by_kmeans,
    by_sign,
    everything,
    learned,
    short,
    three_blobs,
)
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.fitting.parameters import (
    asked_n_clusters,
    check_clusterer,
    n_clusters_parameter,
    with_n_clusters,
    with_seed,
)

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
    with refused(ParameterError, "clusterer"):
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
        return {name: value for name, value in seeded.keywords.items() if name == "random_state"}
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
    with refused(ParameterError, "clusterer"):
        cr.replicability(clusterer, {"a": X, "b": X[::-1]}, n_resamples=1, rng=0)


@pytest.mark.parametrize("clusterer", [KMeans, Duck, cr.Induced(KMeans)], ids=["estimator", "duck", "induced"])
def test_a_class_is_not_an_object(clusterer):
    with refused(ParameterError, "clusterer"):
        check_clusterer(clusterer)


@pytest.mark.parametrize("clusterer", ["kmeans", 3, None, StandardScaler(), cr.Induced("kmeans")], ids=short)
def test_what_can_not_cluster_is_refused(clusterer):
    with refused(ParameterError, "clusterer"):
        check_clusterer(clusterer)
