"""Leiden and Louvain: the graph by hand, new points, copies, and one graph for all resolutions."""

from __future__ import annotations

import subprocess
import sys
import threading

import igraph
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.helpers import by_two, configured
from tests.sentences import refused

import clustrep as cr
from clustrep.accelerate import graphs
from clustrep.errors import ParameterError
from clustrep.fitting.communities import Leiden, Louvain, NeighbourGraph, by_size, neighbour_graph
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting

CENTRES = np.array([[0.0, 0, 0], [6, 0, 0], [0, 6, 0], [0, 0, 3.5]])
FEW = {"n_neighbors": 8}


def cells(seed, n=90, p=3, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, :3] += CENTRES[rng.integers(4, size=n)]
    return X.astype(dtype)


STUDIES = {"a": cells(1), "b": cells(2, 80)}


# ---------------------------------------------------------------------------------------------------------------------
# the graph


def test_the_graph_of_five_points_by_hand():
    """On a line at 0, 1, 3, 7, 8 with two neighbours each."""
    graph = neighbour_graph(np.array([[0.0], [1], [3], [7], [8]]), 2, "euclidean")
    lists = [{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {2, 3, 4}, {2, 3, 4}]
    joined = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)]
    assert graph.edges.tolist() == [list(pair) for pair in joined]
    jaccard = [len(lists[i] & lists[j]) / len(lists[i] | lists[j]) for i, j in joined]
    np.testing.assert_array_equal(graph.weights, np.round(np.array(jaccard) * 1024) / 1024)


def test_weights_have_sums_without_rounding():
    weights = neighbour_graph(cells(1, 300), 15, "euclidean").weights
    assert weights.min() > 0
    sums = {float(np.sum(weights[order])) for order in (slice(None), slice(None, None, -1))}
    sums |= {float(np.sum(np.random.default_rng(i).permutation(weights))) for i in range(20)}
    assert len(sums) == 1


def test_a_graph_of_fewer_points_than_neighbours_and_of_one():
    assert len(neighbour_graph(np.arange(4.0)[:, None], 15, "euclidean").edges) == 6
    assert len(NeighbourGraph.of(np.empty((1, 0), dtype=np.int64)).edges) == 0
    assert Leiden(random_state=0).fit_predict([[1.0], [1.0]]).tolist() == [0, 0]


def test_clusters_are_numbered_by_size():
    assert by_size(np.array([7, 2, 2, 7, 9, 2])).tolist() == [1, 0, 0, 1, 2, 0]
    assert by_size(np.array([3, 1, 1, 3])).tolist() == [0, 1, 1, 0]


# ---------------------------------------------------------------------------------------------------------------------
# the clusterers


@pytest.mark.parametrize("make", [Leiden, Louvain])
def test_they_find_what_is_there(make):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=200)
    labels = make(0.3, random_state=0).fit_predict(20 * CENTRES[truth] + rng.normal(size=(200, 3)))
    assert cr.agreement.adjusted_rand_index(labels, truth) == 1
    assert (np.diff(np.bincount(labels)) <= 0).all()


@pytest.mark.parametrize("make", [Leiden, Louvain])
def test_more_resolution_more_clusters_and_the_same_seed_the_same(make):
    X = cells(3, 200)
    few, many, again = (make(r, random_state=5).fit(X) for r in (0.1, 4.0, 4.0))
    assert few.n_clusters_ < many.n_clusters_
    np.testing.assert_array_equal(many.labels_, again.labels_)


def test_the_order_of_rows_does_not_matter():
    X, order = cells(4, 150), np.random.default_rng(0).permutation(150)
    clusterer = Leiden(1.5, random_state=0)
    np.testing.assert_array_equal(clusterer.fit_predict(X)[order], clusterer.fit_predict(X[order]))


def test_copies_change_nothing():
    X = cells(4, 150)
    clusterer = Leiden(2.0, random_state=0)
    copied = np.concatenate([X, X[:50], X[:50], X[:20]])
    np.testing.assert_array_equal(clusterer.fit_predict(copied)[:150], clusterer.fit_predict(X))


def test_leiden_leaves_pythons_random_numbers_alone():
    import random

    random.seed(3)
    expected = random.random()
    random.seed(3)
    Leiden(random_state=0).fit(STUDIES["a"])
    assert random.random() == expected


def test_threads_do_not_share_random_numbers():
    inside, most, both = [], [], threading.Event()

    class Watched(Leiden):
        def _membership(self, network, weights):
            inside.append(1)
            most.append(len(inside))
            if len(inside) == 2:
                both.set()
            both.wait(0.3)  # for another fit, which must not begin
            inside.pop()
            return super()._membership(network, weights)

    fits = [threading.Thread(target=Watched(random_state=0).fit, args=(STUDIES["a"],)) for _ in range(2)]
    for fit in fits:
        fit.start()
    for fit in fits:
        fit.join()
    assert most == [1, 1]


def test_random_states_of_every_kind():
    X = cells(5, 120)
    for state in (3, np.random.RandomState(3), np.random.default_rng(3), None):
        assert len(Leiden(1.0, random_state=state).fit_predict(X)) == 120


def test_until_nothing_improves():
    """On so small a graph two iterations may leave something to improve; modularity never becomes less."""
    X = cells(6, 300)
    graph = neighbour_graph(np.unique(X, axis=0), 15, "euclidean")
    network = igraph.Graph(n=300, edges=graph.edges)
    two, all_of_them = (
        network.modularity(
            Leiden(3.0, n_iterations=n, random_state=0).communities(graph).tolist(), graph.weights.tolist(), 3.0
        )
        for n in (1, -1)
    )
    assert all_of_them > two


@pytest.mark.parametrize(
    "parameters",
    [
        {"resolution": 0},
        {"n_neighbors": 0},
        {"n_iterations": 0},
    ],
)
def test_parameters_out_of_range(parameters):
    with refused(ParameterError, *parameters):
        Leiden(**parameters).fit(STUDIES["a"])
    with refused(ParameterError, *parameters):
        cr.replicability(Leiden(**parameters), STUDIES, n_resamples=2, rng=0)


def test_without_igraph_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with refused(ParameterError, "clusterer"):
        Leiden().fit([[1.0], [2.0]])


def test_igraph_is_not_imported_before_something_is_fitted():
    code = "import sys, clustrep.clusterers as c; c.Leiden(); print('igraph' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# ---------------------------------------------------------------------------------------------------------------------
# new points


def test_a_new_point_belongs_to_the_nearest():
    X = cells(7, 100)
    clusterer = Leiden(1.0, random_state=0).fit(X)
    new = cells(8, 30)
    nearest = ((new[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(clusterer.predict(new), clusterer.labels_[nearest])
    np.testing.assert_array_equal(clusterer.predict(X), clusterer.labels_)


# ---------------------------------------------------------------------------------------------------------------------
# runs


RESAMPLINGS = {
    "bootstrap": cr.resampling.Bootstrap(),
    "each once": cr.resampling.Bootstrap(distinct=True),
    "subsample": cr.resampling.Subsample(0.7),
    "jitter": cr.resampling.Jitter(0.2),
}


@pytest.mark.parametrize("name", RESAMPLINGS)
@pytest.mark.parametrize("clusterer", [Leiden(1.0, **FEW), Louvain(1.0, **FEW, metric="cosine")])
def test_a_run_is_what_the_clusterer_itself_says(name, clusterer):
    fast, plain = (
        configured(cr.replicability, accelerate=accelerate)(
            clusterer, STUDIES, n_resamples=5, rng=0, resampling=RESAMPLINGS[name]
        )
        for accelerate in (True, False)
    )
    np.testing.assert_array_equal(fast.distribution, plain.distribution)
    np.testing.assert_array_equal(fast.estimate, plain.estimate)
    assert len(np.unique(fast.distribution)) > 5


def test_a_study_with_copies_and_in_single_precision():
    studies = {name: np.concatenate([X, X[:30]]).astype(np.float32) for name, X in STUDIES.items()}
    fast, plain = (
        configured(cr.replicability, accelerate=accelerate)(Leiden(1.0, **FEW), studies, n_resamples=5, rng=0)
        for accelerate in (True, False)
    )
    np.testing.assert_array_equal(fast.distribution, plain.distribution)


def test_one_graph_serves_all_resolutions(monkeypatch):
    made = []
    monkeypatch.setattr(
        graphs.NeighbourGraph, "of", lambda nearest, of=NeighbourGraph.of: made.append(1) or of(nearest)
    )
    source, studies = Source(cr.resampling.Bootstrap(distinct=True), 0), tuple(cr.Studies(STUDIES).values())
    members = [Configuration("leiden", Leiden(r, **FEW)) for r in (0.5, 1.0, 2.0)]
    setting = Setting.prepare(source, studies, members)
    (learner,) = setting.learners
    (learned,) = learner.learn([setting.resample(0, 1)])
    found = [learned.labels(member, [setting.places[1]]).n_clusters for member in range(3)]
    assert found == sorted(found)
    assert len(made) == 1


@pytest.mark.parametrize("p", [3, 20])
def test_neighbours_in_a_draw_follow_from_those_in_the_study(p):
    """Also where a draw lacks so many of those kept that all distances are needed."""
    points = graphs.DistinctPoints.of(
        Setting.prepare(
            Source(cr.resampling.Bootstrap(), 0),
            tuple(cr.Studies({"a": cells(1, 120, p), "b": cells(2, 90, p)}).values()),
            [Configuration("leiden", Leiden())],
        ).places[0]
    )
    points.keep(10, "euclidean")
    for share in (0.9, 0.6, 0.25):
        drawn = np.flatnonzero(np.random.default_rng(0).random(120) < share)
        expected = graphs.neighbours(points.points[drawn], 10)
        np.testing.assert_array_equal(points.neighbours_in(drawn, 10, "euclidean"), expected)
    few = np.arange(0, 120, 20)
    np.testing.assert_array_equal(points.neighbours_in(few, 10, "euclidean"), graphs.neighbours(points.points[few], 5))


def test_the_number_of_workers_changes_nothing():
    one = cr.replicability(Leiden(1.0, **FEW), STUDIES, n_resamples=4, rng=0)
    with by_two():
        several = cr.replicability(Leiden(1.0, **FEW), STUDIES, n_resamples=4, rng=0)
    np.testing.assert_array_equal(one.distribution, several.distribution)


def test_a_clustering_function_is_that_of_the_fitted_clusterer():
    result = cr.replicability(Leiden(1.0, **FEW), STUDIES, n_resamples=2, rng=0)
    function = result.clustering_function("a", 1)
    np.testing.assert_array_equal(function(STUDIES["b"]), function.clusterer.predict(STUDIES["b"]))


def test_a_pipeline_and_a_metric_that_depends_on_the_points():
    for clusterer in (make_pipeline(StandardScaler(), Leiden(1.0, **FEW)), Leiden(1.0, metric="seuclidean", **FEW)):
        result = cr.replicability(clusterer, STUDIES, n_resamples=3, rng=0)
        assert np.isfinite(result.distribution).all()


def test_clone_keeps_parameters():
    assert clone(Leiden(0.3, 7, "cosine")).get_params() == {
        "resolution": 0.3, "n_neighbors": 7, "metric": "cosine", "n_iterations": 2, "random_state": None,
    }  # fmt: skip


@pytest.mark.parametrize("wrapped", [False, True])
def test_results_name_the_version_of_igraph_where_it_was_used(wrapped):
    leiden = Leiden(**FEW)
    clusterer = make_pipeline(StandardScaler(), leiden) if wrapped else leiden
    result = cr.replicability(clusterer, STUDIES, n_resamples=1, rng=0)
    assert result.provenance.versions["igraph"] == igraph.__version__
    plain = cr.replicability(KMeans(3, n_init=1), STUDIES, n_resamples=1, rng=0)
    assert "igraph" not in plain.provenance.versions
