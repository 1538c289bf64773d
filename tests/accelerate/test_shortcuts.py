"""The exact shortcuts: what `accelerate=True` computes is what the clusterers themselves would have said."""

from __future__ import annotations

import dataclasses
import os
import threading
import warnings
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans
from sklearn.metrics import adjusted_rand_score
from tests.helpers import configured

import clustrep as cr
from clustrep.accelerate.kmeans import KMeansLearner, Strategy, strategy_for
from clustrep.accelerate.trees import BirchLearner, TreeLearner
from clustrep.errors import ReplicateWarning
from clustrep.execution import seeds as replicates
from clustrep.execution.run import Plan, run
from clustrep.fitting.learners import PlainLearner
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import FEW_DISTINCT_POINTS, FEWER_CLUSTERS, Source
from clustrep.fitting.setting import Setting

SIZES = {"a": 45, "b": 38}


def centres(p, spread=1.5):
    return spread * np.sqrt(3 / p) * np.random.default_rng([4, p]).normal(size=(4, p))


def draw(n, p, rng, dtype=float, spread=1.5):
    return (centres(p, spread)[rng.integers(4, size=n)] + rng.normal(size=(n, p))).astype(dtype)


def tables(p=3, *, dtype=float, copies=0, sizes=SIZES, spread=1.5):
    """Clusters that overlap, so that scores are neither 0 nor 1; the last rows may be copies of the first."""
    found = {}
    for name, n in sizes.items():
        X = draw(n, p, np.random.default_rng([n, p]), dtype, spread)
        X[n - copies :] = X[np.arange(copies) % 5]
        found[name] = X
    return found


def fresh(study, rng):
    return draw(len(study) + 5, study.X.shape[1], rng)


def path_of(clusterer, studies, resampling=None):
    """The class of the learner that a clusterer takes through a run."""
    studies = tuple(cr.Studies(studies).values())
    source = Source(resampling or cr.resampling.Bootstrap(), 0)
    (learner,) = Setting.prepare(source, studies, [Configuration("it", clusterer)]).learners
    return type(learner)


def both_ways(function, *args, **options):
    """The same run with and without shortcuts; failures are looked at by the caller."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplicateWarning)
        return tuple(configured(function, accelerate=accelerate)(*args, **options) for accelerate in (True, False))


def assert_equal_scores(fast, plain, tolerance=1e-12):
    np.testing.assert_allclose(fast.estimate, plain.estimate, rtol=0, atol=tolerance)
    np.testing.assert_allclose(fast.distribution, plain.distribution, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(fast.trivial, plain.trivial)
    np.testing.assert_array_equal(fast.failed, plain.failed)
    assert fast.causes == plain.causes
    assert len(np.unique(fast.distribution)) > 2  # or there was nothing to get wrong


def assert_same_bits(one, other):
    """Every public array of two results."""
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert (a.dtype, a.shape) == (b.dtype, b.shape), field.name
            assert a.tobytes() == b.tobytes(), field.name
    assert one.causes == other.causes


def assert_same_partition(one, other):
    assert adjusted_rand_score(one, other) == 1
    assert len(np.unique(one)) == len(np.unique(other))


# ---------------------------------------------------------------------------------------------------------------------
# clusterers without randomness: exactly what they say themselves


DETERMINISTIC = {
    **{linkage: AgglomerativeClustering(4, linkage=linkage) for linkage in ("ward", "complete", "average", "single")},
    **{
        f"{linkage}, {metric}": AgglomerativeClustering(4, linkage=linkage, metric=metric)
        for linkage in ("complete", "average", "single")
        for metric in ("manhattan" if linkage != "complete" else "l1", "cosine")
    },
    "birch": Birch(threshold=0.4, branching_factor=8, n_clusters=4),
    "given centres": KMeans(4, init=centres(3), n_init=1),
    "given centres, a list": KMeans(2, init=centres(3)[:2].tolist(), n_init=1, algorithm="elkan", tol=0.01),
}
PATHS = {AgglomerativeClustering: TreeLearner, Birch: BirchLearner, KMeans: KMeansLearner}
SETTINGS = {
    "bootstrap": (cr.resampling.Bootstrap(), {}),
    "subsample": (cr.resampling.Subsample(0.7), {}),
    "simulate": (cr.resampling.Simulate(fresh), {}),
    "copies": (cr.resampling.Bootstrap(), {"copies": 9}),
    "single precision": (cr.resampling.Bootstrap(), {"dtype": np.float32}),
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", DETERMINISTIC)
def test_a_clusterer_without_randomness_scores_what_it_does_by_itself(name, setting):
    clusterer, (resampling, options) = DETERMINISTIC[name], SETTINGS[setting]
    studies = tables(**options)
    assert path_of(clusterer, studies, resampling) is PATHS[type(clusterer)]
    fast, plain = both_ways(cr.replicability, clusterer, studies, n_resamples=2, rng=1, resampling=resampling)
    assert_equal_scores(fast, plain)
    np.testing.assert_array_equal(fast.clusters_found, plain.clusters_found)
    for resample in (None, 1):
        one, other = (result.clustering_function("a", resample) for result in (fast, plain))
        assert_same_partition(one(studies["b"]), other(studies["b"]))


@pytest.mark.parametrize("at", ["training points", "grid"])
@pytest.mark.parametrize("name", ["ward", "average, cosine", "birch", "given centres"])
def test_local_scores_are_those_without_shortcuts(name, at):
    studies = tables()
    points = None if at == "training points" else np.random.default_rng(0).uniform(-3, 3, size=(70, 3))
    local = partial(cr.local_replicability, train=studies["a"], test=studies["b"], at=points, n_resamples=4, rng=1)
    fast, plain = both_ways(local, DETERMINISTIC[name])
    assert_equal_scores(fast, plain)
    assert_same_partition(fast.labels, plain.labels)


@pytest.mark.parametrize("name", ["ward", "complete", "average", "single", "birch"])
def test_a_curve_over_k_is_that_without_shortcuts_and_fails_for_the_same_causes(name):
    """Draws of a, and more often of b, have fewer different points than some of these numbers."""
    small = tables(copies=4, sizes={"a": 16, "b": 11, "c": 40})
    numbers = (2, 3, 5, 8, 11)
    clusterer = DETERMINISTIC[name] if name != "birch" else Birch(threshold=0.6)
    fast, plain = both_ways(cr.compare, clusterer, small, n_clusters=numbers, n_resamples=6, rng=2)
    assert_equal_scores(fast, plain)
    np.testing.assert_array_equal(fast.clusters_found, plain.clusters_found)
    assert FEW_DISTINCT_POINTS in fast.causes
    assert (FEWER_CLUSTERS in fast.causes) == (name == "birch")
    assert np.isfinite(fast.distribution[0]).all()
    assert np.isnan(fast.distribution[-1]).any()


@pytest.mark.parametrize("p", [3, 20])
def test_k_means_fails_where_scikit_learns_does(p):
    small = tables(p, copies=4, sizes={"a": 16, "b": 11, "c": 40})
    fast, plain = both_ways(cr.compare, KMeans(n_init=1), small, n_clusters=(2, 5, 8, 11), n_resamples=4, rng=2)
    np.testing.assert_array_equal(fast.failed, plain.failed)
    assert fast.causes == plain.causes == (FEW_DISTINCT_POINTS,)
    assert 0 < np.isnan(fast.distribution).mean() < 1


@pytest.mark.parametrize("name", ["ward", "average, manhattan"])
def test_trees_do_not_notice_whether_distances_are_kept(name, monkeypatch):
    kept = cr.compare(DETERMINISTIC[name], tables(), n_clusters=(2, 6), n_resamples=3, rng=0)
    monkeypatch.setattr("clustrep.fitting.resample.SHARED_POINTS", 10)
    assert_same_bits(cr.compare(DETERMINISTIC[name], tables(), n_clusters=(2, 6), n_resamples=3, rng=0), kept)


# ---------------------------------------------------------------------------------------------------------------------
# k-means from random starts: other random numbers, the same distribution


def test_scores_of_random_starts_have_scikit_learns_distribution():
    """Fifteen clusters and a single start, which often misses some; starts at random points are told apart."""
    rng = np.random.default_rng(0)
    means = rng.uniform(-8, 8, size=(15, 2))
    studies = {name: means[np.arange(90) % 15] + 0.3 * rng.normal(size=(90, 2)) for name in "ab"}
    fast, plain, other = (
        configured(cr.replicability, accelerate=accelerate)(
            KMeans(15, n_init=1, init=init), studies, n_resamples=80, rng=0, diagonal=False
        )
        for init, accelerate in (("k-means++", True), ("k-means++", False), ("random", False))
    )

    def errors_apart(one, two):
        x, y = (result.distribution[:, [0, 1], [1, 0]].mean(axis=1) for result in (one, two))
        return abs(x.mean() - y.mean()) / np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / len(x))

    assert errors_apart(fast, plain) < 3
    assert errors_apart(fast, other) > 3


# What takes each of the three ways through k-means with four clusters, by shape alone.
LARGER = {"a": 80, "b": 70}
FEATURES = {Strategy.BY_FEATURE: 3, Strategy.BY_DISTANCE: 40, Strategy.BY_PRODUCT: 16}


@pytest.mark.parametrize("strategy", Strategy)
def test_random_starts_find_clusters_that_lie_apart(strategy):
    studies = tables(FEATURES[strategy], sizes=LARGER, spread=30)
    assert {strategy_for(*X.shape, 4) for X in studies.values()} == {strategy}
    fast, plain = both_ways(cr.replicability, KMeans(4, n_init=3), studies, n_resamples=3, rng=0)
    for result in (fast, plain):
        np.testing.assert_array_equal(result.estimate, 1)
        np.testing.assert_array_equal(result.distribution, 1)
    assert_same_partition(*(result.clustering_function("a", 1)(studies["b"]) for result in (fast, plain)))


class Mine(KMeans):
    pass


def first_rows(X, n_clusters, random_state):
    return X[:n_clusters]


LEFT_TO_SCIKIT_LEARN = {
    "random starts": KMeans(4, n_init=2, init="random"),
    "a function for starts": KMeans(4, n_init=1, init=first_rows),
    "verbose": KMeans(4, n_init=1, verbose=1),
    "a random state": KMeans(4, n_init=1, random_state=np.random.RandomState(3)),
    "a subclass": Mine(4, n_init=1),
    "a tree cut by height": AgglomerativeClustering(None, distance_threshold=4.0),
    "another metric": AgglomerativeClustering(4, linkage="average", metric="canberra"),
    "birch without joining": Birch(threshold=1.5, n_clusters=None),
}


@pytest.mark.parametrize("name", LEFT_TO_SCIKIT_LEARN)
def test_what_has_no_shortcut_is_fitted_as_it_is(name):
    clusterer = LEFT_TO_SCIKIT_LEARN[name]
    assert path_of(clusterer, tables()) is PlainLearner
    fast, plain = both_ways(cr.replicability, clusterer, tables(), n_resamples=2, rng=1)
    assert_same_bits(fast, plain)


@pytest.mark.parametrize("options", [{"n_init": "auto"}, {"n_init": 1, "algorithm": "elkan"}, {"n_init": np.int64(1)}])
def test_other_spellings_of_the_same_k_means_are_the_same(options):
    expected = cr.replicability(KMeans(4, n_init=1), tables(), n_resamples=2, rng=0)
    assert path_of(KMeans(4, **options), tables()) is KMeansLearner
    assert_same_bits(cr.replicability(KMeans(4, **options), tables(), n_resamples=2, rng=0), expected)


def test_a_fixed_random_state_is_shared_by_all_fits():
    one, again, other, open_one, open_other = (
        cr.replicability(KMeans(9, n_init=1, random_state=state), tables(), n_resamples=2, rng=rng)
        for state, rng in ((5, 0), (5, 0), (5, 1), (None, 0), (None, 1))
    )
    assert path_of(KMeans(9, n_init=1, random_state=5), tables()) is KMeansLearner
    assert_same_bits(one, again)
    np.testing.assert_array_equal(one.estimate, other.estimate)
    np.testing.assert_array_equal(np.diag(one.estimate), 1)  # the second fit of a study is the first
    assert not np.array_equal(one.distribution, other.distribution)  # draws differ
    assert not np.array_equal(open_one.estimate, open_other.estimate)


# ---------------------------------------------------------------------------------------------------------------------
# against itself: numbers of clusters, studies, resamples, workers, pieces


CURVES = {
    "k-means": KMeans(n_init=2),
    "ward": AgglomerativeClustering(),
    "average": AgglomerativeClustering(linkage="average"),
    "birch": Birch(threshold=0.4),
}


@pytest.mark.parametrize("p", [3, 20])
def test_a_number_of_clusters_scores_the_same_in_company_and_alone(p):
    numbers = (2, 3, 7)
    together = cr.compare(CURVES, tables(p), n_clusters=numbers, agreement=("ari", "ami"), n_resamples=3, rng=0)
    for name, clusterer in CURVES.items():
        for k in numbers:
            set_to_k = type(clusterer)(**{**clusterer.get_params(), "n_clusters": k})
            alone = cr.replicability(set_to_k, tables(p), agreement=("ari", "ami"), n_resamples=3, rng=0)
            for agreement, result in alone.items():
                assert_same_bits(together.replicability(name, k, agreement), result)


@pytest.mark.parametrize("name", CURVES)
def test_fewer_studies_and_fewer_resamples_are_parts_of_more(name):
    three = tables(sizes={"a": 45, "b": 38, "c": 30})
    two = {study: three[study] for study in ("c", "a")}
    options = {"n_clusters": (2, 5), "rng": 0}
    whole, pair, longer = (
        cr.compare(CURVES[name], studies, n_resamples=n_resamples, **options)
        for studies, n_resamples in ((three, 3), (two, 3), (three, 6))
    )
    block = np.ix_([2, 0], [2, 0])
    np.testing.assert_array_equal(pair.estimate, whole.estimate[..., block[0], block[1]])
    np.testing.assert_array_equal(pair.distribution, whole.distribution[..., block[0], block[1]])
    np.testing.assert_array_equal(longer.estimate, whole.estimate)
    np.testing.assert_array_equal(longer.distribution[:, :, :3], whole.distribution)


WORKED = {
    **{
        f"k-means {strategy.name}": partial(cr.replicability, KMeans(4, n_init=2), tables(p, sizes=LARGER))
        for strategy, p in FEATURES.items()
    },
    "trees": partial(cr.compare, AgglomerativeClustering(), tables(), n_clusters=(2, 5)),
    "birch": partial(cr.compare, Birch(threshold=0.4), tables(20), n_clusters=(2, 5)),
    "all sorts": partial(
        cr.compare, {**CURVES, "dbscan": DBSCAN(eps=0.9), "mine": Mine(n_init=1)}, tables(), n_clusters=(2, 4)
    ),
    "rotated": partial(cr.compare, {"k-means": KMeans(n_init=2), "ward": CURVES["ward"]}, tables(90), n_clusters=3),
    "local": partial(cr.local_replicability, KMeans(3, n_init=2), train=tables()["a"], test=tables()["b"]),
}


@pytest.fixture(scope="module")
def by_one_worker():
    return {name: run(n_resamples=4, rng=3, n_jobs=1) for name, run in WORKED.items()}


@pytest.mark.parametrize("name", WORKED)
@pytest.mark.parametrize(
    ("backend", "n_jobs", "batch"), [("loky", 1, 7), ("loky", 2, 2), ("threading", 2, 1), ("threading", 2, 7)]
)
def test_neither_workers_nor_batches_change_a_bit(name, backend, n_jobs, batch, by_one_worker, monkeypatch):
    monkeypatch.setattr(Setting, "batch", batch)  # replicates that are learned together
    with joblib.parallel_config(backend=backend):
        result = WORKED[name](n_resamples=4, rng=3, n_jobs=n_jobs)
    assert_same_bits(result, by_one_worker[name])


@pytest.mark.parametrize(("numbers_per_second", "in_threads"), [(1.0, True), (1e30, False)])
def test_threads_are_taken_where_kernels_have_enough_to_do(numbers_per_second, in_threads, by_one_worker, monkeypatch):
    seen = set()
    monkeypatch.setattr("clustrep.fitting.setting.NUMBERS_PER_SECOND", numbers_per_second)
    monkeypatch.setattr("clustrep.execution.run.breathe", lambda: seen.add(threading.current_thread()))
    result = WORKED["k-means BY_FEATURE"](n_resamples=4, rng=3, n_jobs=2)
    assert_same_bits(result, by_one_worker["k-means BY_FEATURE"])
    assert (threading.main_thread() not in seen) == in_threads
    assert seen


@pytest.mark.parametrize("name", ["k-means BY_FEATURE", "k-means BY_DISTANCE", "k-means BY_PRODUCT", "trees"])
def test_work_in_pieces_changes_no_bit_and_interrupts_are_heard_between_them(name, by_one_worker, monkeypatch):
    breaths = []
    heard = replicates.breathe
    monkeypatch.setattr(replicates, "breathe", lambda: breaths.append(heard()))
    for module in ("kmeans", "trees"):
        monkeypatch.setattr(f"clustrep.accelerate.{module}.BUDGET", 1)
    result = WORKED[name](n_resamples=4, rng=3)
    assert_same_bits(result, by_one_worker[name])
    assert len(breaths) > 100


@pytest.mark.parametrize("cells", [1, 50, 500])
def test_tables_compared_in_smaller_batches_change_no_bit(cells, monkeypatch):
    run = partial(cr.compare, KMeans(n_init=1), tables(), n_clusters=range(2, 9), n_resamples=3, rng=0)
    expected = run(agreement=("ari", "ami"))
    monkeypatch.setattr("clustrep.agreement.batches.DENSE_CELLS", cells)
    assert_same_bits(run(agreement=("ari", "ami")), expected)


def test_a_thread_hears_that_its_run_was_abandoned_and_no_other_does(monkeypatch):
    gone, going = (replicates.Run(os.getpid(), number) for number in (-1, -2))
    monkeypatch.setattr(replicates, "abandoned", {gone})
    heard = {}

    def listen(run):
        if run is not None:
            replicates.current.run = run
        try:
            heard[run] = replicates.breathe()
        except replicates._Abandoned:
            heard[run] = "abandoned"

    for own_run in (gone, going, None):
        thread = threading.Thread(target=listen, args=[own_run])
        thread.start()
        thread.join()
    assert heard == {gone: "abandoned", going: None, None: None}


def test_threads_that_nobody_waits_for_end():
    running, ended = threading.Event(), threading.Event()

    class Waiting(Plan):
        in_threads = True

        def replicate(self, number):
            if number == 0:
                assert running.wait(60)
                raise ZeroDivisionError
            running.set()
            try:
                while not ended.wait(0.01):
                    replicates.breathe()
            except replicates._Abandoned:
                ended.set()
                raise

    with joblib.parallel_config(backend="threading"), pytest.raises(ZeroDivisionError):
        run(Waiting(), range(2), n_jobs=2)
    assert ended.wait(60)


# ---------------------------------------------------------------------------------------------------------------------
# the functions behind the scores


FITTED = {
    "k-means": (KMeans(4, n_init=2), tables()),
    "k-means, fixed": (KMeans(4, n_init=2, random_state=7), tables(20)),
    "k-means, single precision": (KMeans(4, n_init=2), tables(16, dtype=np.float32)),
    "ward": (AgglomerativeClustering(4), tables()),
    "cosine": (AgglomerativeClustering(4, linkage="average", metric="cosine"), tables(20)),
    "birch": (Birch(threshold=0.4, n_clusters=4), tables()),
    "birch, single precision": (Birch(threshold=0.4, n_clusters=4), tables(dtype=np.float32)),
}


@pytest.mark.parametrize("resample", [None, 1])
@pytest.mark.parametrize("name", FITTED)
def test_the_clustering_function_is_the_one_that_was_scored(name, resample):
    clusterer, studies = FITTED[name]
    result = cr.replicability(clusterer, studies, n_resamples=2, rng=3, resampling=cr.resampling.Bootstrap())
    assert path_of(clusterer, studies) is not PlainLearner
    train, test = (result.clustering_function(study, resample) for study in ("a", "b"))
    rows = (
        Source(cr.resampling.Bootstrap(), 3)
        .draw(cr.Study(studies["b"], "b"), 0 if resample is None else resample + 1)
        .order
    )
    X = studies["b"][rows]
    score = (result.estimate if resample is None else result.distribution[resample])[0, 1]
    assert 0 < score < 1
    assert adjusted_rand_score(train(X), test(X)) == pytest.approx(score, abs=1e-12)

    fitted = test.clusterer
    assert type(fitted) is type(clusterer)
    assert fitted.get_params() == clusterer.get_params()
    np.testing.assert_array_equal(fitted.labels_, test(X))
    new = draw(200, X.shape[1], np.random.default_rng(0), X.dtype)
    assert len(np.unique(test(new))) == 4
    if hasattr(fitted, "predict"):
        np.testing.assert_array_equal(fitted.predict(new), test(new))
    if isinstance(fitted, KMeans):
        assert fitted.cluster_centers_.dtype == X.dtype
        means = np.stack([X[fitted.labels_ == j].mean(axis=0) for j in range(4)])
        np.testing.assert_allclose(fitted.cluster_centers_, means, atol=1e-5)
        distances = ((X - fitted.cluster_centers_[fitted.labels_]) ** 2).sum()
        assert fitted.inertia_ == pytest.approx(distances, rel=1e-5)
