"""Approximate neighbours: only where asked for by name, with their recall in the result, the same for any workers.

What pynndescent does is tested with pynndescent in one test, where it is installed: compiling it takes longer than all
other tests of a folder. The others have a module in its place that finds the neighbours with errors of its own.
"""

from __future__ import annotations

import importlib.util
import sys
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.cli.support import invoke

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.fitting import neighbour_lists as approximate
from clustrep.fitting import resample
from clustrep.fitting.communities import Leiden

CENTRES = 3.5 * np.eye(4, 12)


def study(seed, n=300):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 12)) + CENTRES[rng.integers(4, size=n)]


STUDIES = {"a": study(1), "b": study(2, 260)}


class Descent:
    """In place of pynndescent's: lists that lack the nearest of every fourth point, and one that is not full."""

    made: ClassVar[list[dict]] = []

    def __init__(self, points, **options):
        self.points, self.made[len(self.made) :] = points, [options]
        order = np.argsort(cdist(points, points, options["metric"].replace("manhattan", "cityblock")), axis=1)
        graph = order[:, : options["n_neighbors"]]
        graph[::4, 1:-1] = graph[::4, 2:]
        graph[5, 3:] = -1
        self.neighbor_graph = graph, None

    def query(self, X, k, epsilon):
        order = np.argsort(cdist(X, self.points), axis=1)
        order[::4] = np.roll(order[::4], -1, axis=1)
        return order[:, :k], None


@pytest.fixture
def in_its_place(monkeypatch):
    monkeypatch.setattr(Descent, "made", [])
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=Descent))
    monkeypatch.setattr(approximate, "FEWEST_POINTS", 100)


def score(clusterer, n_jobs=None, studies=STUDIES, **options):
    with cr.config_context(neighbours="pynndescent"):
        return cr.replicability(clusterer, studies, n_resamples=3, rng=0, n_jobs=n_jobs, **options)


@pytest.mark.usefixtures("in_its_place")
def test_the_result_says_how_many_neighbours_are_right():
    result = score(Leiden(0.5, 10))
    assert result.provenance["neighbours"] == "pynndescent"
    for recall in result.provenance["neighbour_recall"].values():
        assert recall["graph"] == pytest.approx(0.975, abs=0.01)  # the nearest of ten, for every fourth
        assert recall["nearest"] == pytest.approx(0.75, abs=0.06)
    assert {made["n_jobs"] for made in Descent.made} == {1}
    assert len({made["random_state"] for made in Descent.made}) == 2  # one for each study


@pytest.mark.usefixtures("in_its_place")
def test_it_serves_every_clusterer_that_is_induced_by_the_nearest_sample():
    exact = cr.replicability(AgglomerativeClustering(4), STUDIES, n_resamples=3, rng=0)
    result = score(AgglomerativeClustering(4))
    assert list(result.provenance["neighbour_recall"]["a"]) == ["nearest"]
    assert not np.array_equal(result.distribution, exact.distribution)
    np.testing.assert_allclose(result.distribution, exact.distribution, atol=0.1)
    labels = {name: (X[:, 0] > 3).astype(int) for name, X in STUDIES.items()}
    assert "nearest" in score(None, labels=labels).provenance["neighbour_recall"]["b"]


@pytest.mark.usefixtures("in_its_place")
def test_nothing_else_changes_and_nothing_is_said_of_it():
    kmeans, exact = score(KMeans(4, n_init=2)), cr.replicability(KMeans(4, n_init=2), STUDIES, n_resamples=3, rng=0)
    np.testing.assert_array_equal(kmeans.distribution, exact.distribution)
    assert "neighbour_recall" not in kmeans.provenance
    assert "neighbours" not in kmeans.provenance
    assert "neighbours" not in exact.provenance
    jittered = score(Leiden(0.5, 10), resampling=cr.resampling.Jitter(0.1))
    assert "neighbour_recall" not in jittered.provenance
    assert Descent.made == []


@pytest.mark.usefixtures("in_its_place")
def test_small_studies_and_other_metrics_are_searched_exactly():
    small = {name: X[:90] for name, X in STUDIES.items()}
    result = score(Leiden(0.5, 10), studies=small)
    np.testing.assert_array_equal(
        result.distribution, cr.replicability(Leiden(0.5, 10), small, n_resamples=3, rng=0).distribution
    )
    assert "neighbours" not in result.provenance
    assert "pynndescent" not in result.provenance.versions
    assert "neighbour_recall" not in score(Leiden(0.5, 10, "canberra")).provenance
    assert list(score(Leiden(0.5, 10, "cityblock")).provenance["neighbour_recall"]["a"]) == ["graph"]


@pytest.mark.usefixtures("in_its_place")
def test_other_questions_say_it_of_the_studies_and_of_their_pools():
    leiden, pools = Leiden(0.5, 10), {"all but a", "all but b"}
    with cr.config_context(neighbours="pynndescent"):
        left_out = cr.leave_one_study_out(leiden, STUDIES, n_resamples=1, rng=0)
        gaps = cr.separation.density_valleys(leiden, STUDIES, rng=0)
        reference = cr.null_reference(score(leiden), n=2, rng=0)
    assert left_out.provenance["neighbour_recall"].keys() == {*STUDIES, *pools}
    assert gaps.provenance["neighbour_recall"].keys() == {"all studies", *pools}
    assert reference.provenance["neighbour_recall"] == score(leiden).provenance["neighbour_recall"]
    for result in (left_out, gaps, reference):
        assert result.provenance["neighbours"] == "pynndescent"
        assert all(0.5 < recall["graph"] < 1 for recall in result.provenance["neighbour_recall"].values())


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({}, {"n_landmarks": 50}, "can't be combined with landmarks: only landmarks are searched"),
        ({"accelerate": False}, {}, "can't be combined with accelerate=False: that has every clusterer search"),
    ],
)
def test_what_it_cannot_be_combined_with(options, arguments, message):
    with cr.config_context(**options), pytest.raises(ParameterError, match=message) as caught:
        score(Leiden(), **arguments)
    assert caught.value.parameter == "neighbours"


def test_a_device_searches_exactly():
    source = resample.Source(cr.resampling.Bootstrap(), 0, device="cuda", neighbours="pynndescent")
    with pytest.raises(ParameterError, match="can't be combined with the device cuda: the device itself searches"):
        source.check_neighbours()


def test_without_pynndescent_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(approximate, "FEWEST_POINTS", 100)
    monkeypatch.delitem(sys.modules, "pynndescent", raising=False)
    monkeypatch.setattr(resample, "find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=r'pip install "clustrep\[approximate\]"'):
        score(Leiden())
    with pytest.raises(ParameterError, match="neighbours must be one of 'exact', 'pynndescent'"):
        cr.set_config(neighbours="annoy")


@pytest.mark.usefixtures("in_its_place")
def test_the_page_and_the_command_line_say_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, X in STUDIES.items():
        np.savetxt(f"{name}.csv", X, delimiter=",", header=",".join(f"g{i}" for i in range(12)), comments="")
    arguments = (
        "run a.csv b.csv --clusterer leiden --resolution 0.2,0.5 --resamples 2 --null none --figures none --jobs 1"
    )
    invoke(*arguments.split(), "--neighbours", "pynndescent")
    page = (tmp_path / "clustrep-results" / "report.html").read_text()
    assert "searched for approximately, by pynndescent" in page
    assert "neighbour recall" in page


@pytest.mark.slow  # pynndescent is compiled first: for a minute and a half, where nothing else is computed
@pytest.mark.timeout(1200)
@pytest.mark.skipif(
    importlib.util.find_spec("pynndescent") is None, reason="pynndescent is not installed: clustrep[approximate]"
)
def test_pynndescent_itself_finds_most_and_the_same_for_any_number_of_workers():
    studies = {name: study(seed, 1100) for name, seed in (("a", 1), ("b", 2))}
    exact = cr.replicability(Leiden(0.5), studies, n_resamples=2, rng=0)
    alone, beside = (score(Leiden(0.5), n_jobs, studies) for n_jobs in (None, 2))
    np.testing.assert_array_equal(alone.distribution, beside.distribution)
    assert alone.provenance["neighbour_recall"] == beside.provenance["neighbour_recall"]
    for recall in alone.provenance["neighbour_recall"].values():
        assert recall["graph"] > 0.95
        assert recall["nearest"] > 0.9
    np.testing.assert_allclose(alone.distribution[:2], exact.distribution, atol=0.1)
    assert "pynndescent" in alone.provenance.versions
