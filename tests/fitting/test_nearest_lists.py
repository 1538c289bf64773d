"""Lists of nearest points, which serve every draw: the same labels as by a search of every draw."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clustrep as cr
from clustrep.fitting import neighbours
from clustrep.fitting import setting as setting_module
from clustrep.fitting.communities import Leiden
from clustrep.fitting.neighbour_lists import LISTED, NearestDrawn, cache_lists
from clustrep.fitting.neighbours import nearest_point
from clustrep.fitting.resample import PointSet

CENTRES = 5 * np.eye(3, 20)


def study(seed, n, p=20, decimals=None, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + CENTRES[rng.integers(3, size=n), :p]
    return (X if decimals is None else np.round(X, decimals)).astype(dtype)


@pytest.fixture
def without_distances(monkeypatch):
    """As in studies that are too large for all distances to be kept: then lists are made."""
    monkeypatch.setattr(setting_module, "MOST_CACHED", 0)


def without_lists(monkeypatch):
    monkeypatch.setattr("clustrep.fitting.neighbour_lists.MOST_CACHED", 0)


def in_thirds(X):
    return (X[:, 0] > 2).astype(int) + (X[:, 1] > 2)


CLUSTERERS = {
    "leiden": Leiden(0.5, 8),
    "ward": AgglomerativeClustering(4),
    "average": AgglomerativeClustering(4, linkage="average", metric="cosine"),
    "single, without a shortcut": AgglomerativeClustering(n_clusters=None, distance_threshold=4.0, linkage="single"),
    "dbscan": DBSCAN(eps=4.5),
    "a function": in_thirds,
    "induced": cr.Induced(AgglomerativeClustering(3)),
    "a pipeline": make_pipeline(StandardScaler(), AgglomerativeClustering(3)),
}
DRAWS = {
    "bootstrap": cr.resampling.Bootstrap(),
    "few": cr.resampling.Subsample(0.1),
    "jitter": cr.resampling.Jitter(0.1),
}
TABLES = {
    "normal": lambda p: {"a": study(1, 120, p), "b": study(2, 90, p)},
    "ties": lambda p: {"a": study(1, 120, p, 0), "b": study(2, 90, p, 0)},
    "two precisions": lambda p: {"a": study(1, 120, p, dtype=np.float32), "b": study(2, 90, p)},
}


@pytest.mark.usefixtures("without_distances")
@pytest.mark.parametrize("tables", TABLES)
@pytest.mark.parametrize("p", [4, 20])
@pytest.mark.parametrize("name", CLUSTERERS)
def test_labels_are_those_of_a_search_in_every_draw(name, p, tables, monkeypatch):
    def distributions():
        return [
            cr.replicability(CLUSTERERS[name], TABLES[tables](p), n_resamples=3, rng=0, resampling=draws).distribution
            for draws in DRAWS.values()
        ]

    by_lists = distributions()
    without_lists(monkeypatch)
    for values, expected in zip(by_lists, distributions(), strict=True):
        np.testing.assert_array_equal(values, expected)


@pytest.mark.usefixtures("without_distances")
@pytest.mark.parametrize(
    "other",
    [
        DBSCAN(eps=14, metric="manhattan"),
        cr.Induced(AgglomerativeClustering(4), metric="manhattan"),
        AgglomerativeClustering(n_clusters=None, distance_threshold=0.8, linkage="average", metric="cosine"),
        Leiden(0.5, 8, metric="manhattan"),
    ],
)
def test_lists_of_another_clusterer_are_not_those_of_another_metric(other):
    tables, options = TABLES["normal"](20), {"n_resamples": 3, "rng": 0, "agreement": "ari"}
    beside = cr.compare({"other": other, "ward": AgglomerativeClustering(4)}, tables, n_clusters=[4], **options)
    alone = cr.compare({"other": other}, tables, n_clusters=[4], **options)
    c = beside.clusterers.index("other")
    np.testing.assert_array_equal(beside.distribution[c], alone.distribution[0])


@pytest.mark.usefixtures("without_distances")
def test_known_labels_and_points_of_no_study(monkeypatch):
    tables = TABLES["normal"](20)
    labels = {name: in_thirds(X) for name, X in tables.items()}

    def results():
        known = cr.replicability(None, tables, labels=labels, n_resamples=3, rng=0)
        local = cr.local_replicability(
            AgglomerativeClustering(3), train=tables["a"], test=tables["b"], at=study(3, 40), n_resamples=3, rng=0
        )
        return known.distribution, local.distribution

    by_lists = results()
    without_lists(monkeypatch)
    for values, expected in zip(by_lists, results(), strict=True):
        np.testing.assert_array_equal(values, expected)


@pytest.mark.usefixtures("without_distances")
def test_few_points_are_searched_in_a_draw(monkeypatch):
    n_searched = []

    def counting(points, *args, search=nearest_point, **options):
        nearest = search(points, *args, **options)
        return lambda X: n_searched.append(len(X)) or nearest(X)

    monkeypatch.setattr(neighbours, "nearest_point", counting)
    tables = {"a": study(1, 400), "b": study(2, 400)}
    cr.replicability(None, tables, labels={name: in_thirds(X) for name, X in tables.items()}, n_resamples=5, rng=0)
    assert sum(n_searched) < 0.01 * 5 * 4 * 400


def test_the_first_drawn_of_a_list_and_a_search_where_there_is_none():
    points, others = PointSet(np.arange(20.0)[:, None]), PointSet(np.array([[0.1], [7.2], [18.9]]))
    cache_lists([points], [others])
    lists = points.nearest_cached(others)
    assert lists.shape == (3, LISTED)
    assert lists[0].tolist() == list(range(8))
    drawn = np.array([9, 12, 19])
    position = np.full(20, -1)
    position[drawn] = np.arange(3)
    nearest = NearestDrawn(points, position, nearest_point(points.X[drawn], "euclidean"))
    assert nearest(others).tolist() == [0, 0, 2]
    elsewhere = pickle.loads(pickle.dumps(nearest))
    assert elsewhere(others).tolist() == [0, 0, 2]


def test_lists_travel_with_their_points():
    points, others = PointSet(np.arange(20.0)[:, None]), PointSet(np.array([[0.1], [7.2]]))
    cache_lists([points], [others])
    points_there, others_there = pickle.loads(pickle.dumps((points, others)))
    np.testing.assert_array_equal(points_there.nearest_cached(others_there), points.nearest_cached(others))


def test_none_are_made_where_nobody_asks_for_them(monkeypatch):
    made = []
    monkeypatch.setattr("clustrep.fitting.neighbour_lists.certain_nearest", lambda *args: made.append(args))
    monkeypatch.setattr(setting_module, "MOST_CACHED", 0)
    tables = TABLES["normal"](20)
    for clusterer in (KMeans(3, n_init=1), make_pipeline(StandardScaler(), AgglomerativeClustering(3))):
        cr.replicability(clusterer, tables, n_resamples=1, rng=0)
    cr.replicability(AgglomerativeClustering(3), tables, n_resamples=1, rng=0, resampling=cr.resampling.Jitter(0.1))
    cr.separation.density_valleys(
        AgglomerativeClustering(), tables, n_clusters=[2, 3], rng=0
    )  # every pool of studies once
    assert made == []
