"""Where shortcuts could part from the long way: empty clusters, equal rows, failures, numbers that are too large."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numba
import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, BisectingKMeans, KMeans
from sklearn.mixture import GaussianMixture
from tests.helpers import configured
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ParameterError
from clustrep.fitting.resample import Source

RNG = np.random.default_rng(0)
TABLES = {"a": RNG.normal(size=(40, 3)), "b": RNG.normal(size=(30, 3))}
WIDE = {name: RNG.normal(size=(n, 400)) * np.linspace(0.1, 3, 400) + 50 for name, n in (("a", 25), ("b", 30))}


def both_ways(clusterer, studies, **options):
    options = {"n_resamples": 20, "rng": 0, **options}
    return [configured(cr.replicability, accelerate=fast)(clusterer, studies, **options) for fast in (True, False)]


@pytest.mark.parametrize("init", [[[0, 0, 0], [1, 1, 1], [9, 9, 9]], TABLES["a"][:6]])
def test_an_empty_cluster_takes_one_copy_of_a_row(init):
    fast, plain = both_ways(KMeans(len(init), init=init, n_init=1), TABLES)
    np.testing.assert_allclose(fast.distribution, plain.distribution, atol=1e-12)


@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
@pytest.mark.parametrize("clusterer", [AgglomerativeClustering(5), KMeans(5, n_init=2)], ids=["ward", "k-means"])
def test_equal_rows_stay_equal_in_coordinates(clusterer):
    studies = {"a": np.tile(RNG.normal(size=(3, 300)), (7, 1)), "b": RNG.normal(size=(21, 300))}
    fast, plain = (failures(clusterer, studies, fast) for fast in (True, False))
    assert fast == plain


def failures(clusterer, studies, fast):
    """What the run says of a study with fewer different rows than clusters."""
    with pytest.raises(AllReplicatesFailed) as raised:
        configured(cr.replicability, accelerate=fast)(clusterer, studies, n_resamples=5, rng=0, diagonal=False)
    return str(raised.value)


@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
def test_a_failed_replicate_has_no_clustering_function_and_says_why():
    studies = {"a": RNG.normal(size=(30, 2)), "b": np.repeat(RNG.normal(size=(5, 2)), 2, axis=0)}
    clusterer = Birch(n_clusters=5, threshold=0.01)
    result = cr.replicability(clusterer, studies, n_resamples=20, rng=1, diagonal=False)
    failed = int(np.flatnonzero(result.clusters_found[:, 1] < 0)[0])
    with refused(ParameterError):
        result.clustering_function("b", failed)


def test_a_clustering_function_outlives_an_interrupted_run():
    result = cr.replicability(KMeans(3, n_init=2), TABLES, n_resamples=2, rng=0)

    def interrupted(X):
        raise KeyboardInterrupt

    before = result.clustering_function("a")
    with pytest.raises(KeyboardInterrupt):
        cr.replicability(interrupted, TABLES, n_resamples=2, rng=0)
    np.testing.assert_array_equal(before(TABLES["b"]), result.clustering_function("a")(TABLES["b"]))


@pytest.mark.parametrize(
    "clusterer",
    [KMeans(3, n_init=2), AgglomerativeClustering(3), Birch(n_clusters=3), DBSCAN(1.0)],
    ids=["k-means", "ward", "birch", "dbscan"],
)
@pytest.mark.parametrize("studies", [TABLES, WIDE], ids=["narrow", "wide"])
def test_a_clustering_function_can_be_sent_elsewhere(clusterer, studies):
    function = cr.replicability(clusterer, studies, n_resamples=1, rng=0).clustering_function("a")
    sent = pickle.loads(pickle.dumps(function))
    np.testing.assert_array_equal(sent(studies["b"]), function(studies["b"]))


def test_a_fitted_tree_is_whole():
    function = cr.replicability(
        AgglomerativeClustering(3), TABLES, n_resamples=1, rng=0, resampling=cr.resampling.Bootstrap()
    ).clustering_function("a", 0)
    rows = Source(cr.resampling.Bootstrap(), 0).draw(cr.Studies(TABLES)["a"], 1).sample
    assert function.clusterer.children_.shape == (39, 2)
    assert (
        cr.agreement.adjusted_rand_index(function.clusterer.labels_, AgglomerativeClustering(3).fit_predict(rows)) == 1
    )


def test_a_fitted_k_means_transforms():
    function = cr.replicability(KMeans(3, n_init=2), TABLES, n_resamples=1, rng=0).clustering_function("a")
    assert function.clusterer.set_output(transform="pandas").transform(TABLES["a"]).shape == (40, 3)


def test_distances_to_other_studies_serve_every_resample(monkeypatch):
    studies = {name: np.hstack([table] * 6) for name, table in TABLES.items()}  # too many features for a KD-tree
    fast, plain = both_ways(AgglomerativeClustering(4, linkage="average"), studies)
    np.testing.assert_allclose(fast.distribution, plain.distribution, atol=1e-12)
    monkeypatch.setattr("clustrep.fitting.setting.MOST_CACHED", 0)
    passing, _ = both_ways(AgglomerativeClustering(4, linkage="average"), studies)
    np.testing.assert_array_equal(passing.distribution, fast.distribution)


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import clustrep as cr
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

def limits():
    return {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}

rng = np.random.default_rng(0)
studies = {name: rng.normal(size=(4000, 8)) for name in "ab"}
cr.replicability(KMeans(3, n_init=1), studies, n_resamples=1, rng=0)  # loads everything
threadpool_limits(2, "blas")
before = limits()
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    cr.replicability(KMeans(40, n_init=10), studies, n_resamples=500, rng=0, n_jobs=2)
except KeyboardInterrupt:
    time.sleep(3)  # the threads end in the meantime
    print(limits() == before, max(before.values()) > 1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends an interrupt as a signal")
def test_threads_that_outlive_an_interrupted_run_leave_the_limits_of_the_process_alone():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_others_may_compile_what_belongs_to_no_module():
    place = {}
    exec("def plus_one(x): return x + 1", place)
    cr.agreement.adjusted_mutual_information([0, 0, 1], [0, 1, 1])
    assert numba.njit(place["plus_one"])(1) == 2


def test_a_fitted_dbscan_has_a_label_for_every_drawn_row():
    result = cr.replicability(DBSCAN(1.0), TABLES, n_resamples=2, rng=0, resampling=cr.resampling.Bootstrap())
    function = result.clustering_function("a", 0)
    assert function.clusterer.labels_.shape == (40,)
    assert set(function(TABLES["a"])) <= set(function.clusterer.labels_)


@pytest.mark.parametrize(
    "clusterer",
    [Birch(threshold=2, n_clusters=6), BisectingKMeans(4, random_state=0), GaussianMixture(3, random_state=0)],
    ids=["birch", "halves of halves", "mixture"],
)
def test_a_clusterer_fitted_in_coordinates_predicts_by_itself(clusterer):
    function = cr.replicability(clusterer, WIDE, n_resamples=1, rng=0).clustering_function("a")
    labels = function(WIDE["b"])
    assert len(set(labels)) > 1
    np.testing.assert_array_equal(function.clusterer.predict(WIDE["b"]), labels)


@pytest.mark.parametrize("width", [3, 55, 399])
def test_given_centres_need_all_features_also_where_these_are_rotated(width):
    with refused(AllReplicatesFailed):
        cr.replicability(KMeans(3, init=np.zeros((3, width))), WIDE, n_resamples=2, rng=0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("clusterer", [KMeans(2, n_init=1), AgglomerativeClustering(2)], ids=["k-means", "ward"])
def test_numbers_whose_squares_are_too_large_fail(clusterer):
    huge = cr.resampling.Simulate(lambda study, rng: 1e200 * study.X)  # a study with such values is refused
    with refused(AllReplicatesFailed):
        cr.replicability(clusterer, TABLES, n_resamples=2, rng=0, resampling=huge)


def test_angles_to_the_origin_fail():
    studies = {name: np.vstack([np.zeros((2, 3)), table]) for name, table in TABLES.items()}
    with refused(AllReplicatesFailed):
        cr.replicability(AgglomerativeClustering(2, linkage="average", metric="cosine"), studies, n_resamples=2, rng=0)
