"""The same bits for any number of workers; seeds and parameters of the execution."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from tests.helpers import by_two
from tests.sentences import refused
from threadpoolctl import threadpool_info, threadpool_limits

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.execution.run import check_n_jobs
from clustrep.execution.seeds import root_entropy
from clustrep.fitting.setting import Setting


def assert_same_bits(one, other):
    """Every public field of two results, arrays by their bytes."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same_bits(one[key], other[key])
        return
    for field in dataclasses.fields(one):
        if field.name.startswith("_"):
            continue
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert (a.dtype, a.shape) == (b.dtype, b.shape), field.name
            assert a.tobytes() == b.tobytes(), field.name
        else:
            assert a == b, field.name


def quarters(X, n_clusters=4, random_state=None):
    """A clusterer of the user's: random directions."""
    direction = np.random.default_rng(random_state).normal(size=X.shape[1])
    return np.argsort(np.argsort(X @ direction, kind="stable"), kind="stable") * n_clusters // len(X)


# ---------------------------------------------------------------------------------------------------------------------
# bit identity


RUNS = {
    "k-means": partial(cr.replicability, KMeans(3, n_init=2), agreement=("ari", "ami", "mi")),
    "mixture": partial(cr.replicability, GaussianMixture(3, reg_covar=1e-2), resampling=cr.resampling.Subsample(0.7)),
    "ward": partial(cr.replicability, AgglomerativeClustering(3), diagonal=False),
    "function": partial(cr.replicability, quarters, agreement="ri"),
    "closure": partial(cr.replicability, lambda X: quarters(X, 2, random_state=0)),
    "compare": partial(cr.compare, {"k-means": KMeans(n_init=1), "f": quarters}, n_clusters=[2, 3]),
    "single precision": partial(cr.replicability, KMeans(3, n_init=2)),
    "known labels": partial(cr.replicability, None, labels=True),
    "local": partial(cr.local_replicability, GaussianMixture(3, reg_covar=1e-2)),
    "local, many tests": partial(cr.local_replicability, KMeans(3, n_init=1)),
}


def run(name, cohorts, **execution):
    options = {"n_resamples": 4, "rng": 3, **execution}
    if name == "single precision":
        cohorts = {study.name: study.X.astype(np.float32) for study in cohorts.values()}
    if name == "local, many tests":
        return RUNS[name](train=cohorts["alpha"], test=cohorts, **options)
    if name == "local":
        return RUNS[name](train=cohorts["alpha"], test=cohorts["beta"], at=cohorts["gamma"], **options)
    return RUNS[name](cohorts, **options)


@pytest.fixture(scope="module")
def alone(cohorts):
    """Every run, by one worker."""
    return {name: run(name, cohorts, n_jobs=1) for name in RUNS}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(
    ("backend", "n_jobs", "batch"),
    [
        (None, 1, 3),
        ("loky", 2, 1),
        ("loky", -1, 100),
        ("threading", -1, 1),
        ("multiprocessing", 2, 3),
    ],
)
def test_neither_workers_nor_batches_change_a_bit(name, backend, n_jobs, batch, cohorts, alone, monkeypatch):
    monkeypatch.setattr(Setting, "batch", batch)  # replicates that are learned together
    if (name, backend) == ("closure", "multiprocessing"):
        name = "function"  # that backend can't send a closure
    context = contextlib.nullcontext() if backend is None else joblib.parallel_config(backend=backend)
    with context:
        result = run(name, cohorts, n_jobs=n_jobs)
    assert_same_bits(result, alone[name])


def test_the_users_configuration_of_joblib_is_followed(cohorts):
    threads = set()

    def here(X):
        threads.add(threading.get_ident())
        return np.arange(len(X)) % 2

    with joblib.parallel_config(backend="threading", n_jobs=2):
        cr.replicability(here, cohorts, n_resamples=1, rng=0)
    assert threading.get_ident() not in threads
    threads.clear()
    with joblib.parallel_config(backend="threading", n_jobs=2):
        cr.replicability(here, cohorts, n_resamples=1, rng=0, n_jobs=1)  # what the call says comes first
    assert threads == {threading.get_ident()}


def test_arrays_that_joblib_maps_into_memory(rng):
    """Above one megabyte, workers get read-only maps of files instead of copies."""
    studies = {name: rng.normal(size=(1400, 100)) for name in ("a", "b")}
    assert all(X.nbytes > 2**20 for X in studies.values())
    one = cr.replicability(KMeans(3, n_init=1, max_iter=5), studies, n_resamples=2, rng=0)
    with by_two():
        two = cr.replicability(KMeans(3, n_init=1, max_iter=5), studies, n_resamples=2, rng=0)
    assert_same_bits(one, two)


def test_every_fit_has_one_thread(cohorts):
    seen = []

    def look(X):
        seen.append(sorted({pool["num_threads"] for pool in threadpool_info()}))
        return np.arange(len(X)) % 2

    with threadpool_limits(2):
        result = cr.replicability(look, cohorts, n_resamples=1, rng=0)
        cr.local_replicability(look, train=cohorts["alpha"], test=cohorts["beta"], n_resamples=1, rng=0)
        result.clustering_function("alpha", resample=0)  # the same fit once more, so under the same law
        assert {pool["num_threads"] for pool in threadpool_info()} == {2}  # and afterwards as before
    assert seen == [[1]] * len(seen)


# ---------------------------------------------------------------------------------------------------------------------
# seeds


def kmeans_scores(cohorts, rng):
    return cr.replicability(KMeans(5, n_init=1), cohorts, n_resamples=2, rng=rng, diagonal=False)


@pytest.mark.parametrize(
    "rng",
    [7, np.int64(7), np.uint8(7), np.random.SeedSequence(7)],
    ids=["int", "numpy integer", "small integer", "seed sequence"],
)
def test_the_same_number_is_the_same_seed_in_any_dress(rng, cohorts):
    assert_same_bits(kmeans_scores(cohorts, rng), kmeans_scores(cohorts, 7))


def test_other_seeds_give_other_draws(cohorts):
    children = np.random.SeedSequence(7).spawn(2)
    seeds = [7, 8, *children, np.random.SeedSequence([7, 8]), np.random.default_rng(7), 2**127 + 1]
    runs = [kmeans_scores(cohorts, seed).distribution.tobytes() for seed in seeds]
    assert len(set(runs)) == len(runs)


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.random.SeedSequence(7).spawn(2)[1],
        lambda: np.random.SeedSequence([1, 2, 3]),
        lambda: np.random.default_rng(7),
    ],
    ids=["spawned", "several numbers", "generator"],
)
def test_equal_sources_of_randomness_give_equal_results(make, cohorts):
    assert_same_bits(kmeans_scores(cohorts, make()), kmeans_scores(cohorts, make()))


def test_a_generator_is_consumed(cohorts):
    generator = np.random.default_rng(7)
    first, second = (kmeans_scores(cohorts, generator) for _ in range(2))
    assert first.provenance["seed"] != second.provenance["seed"]


def test_a_seed_sequence_is_not_consumed():
    sequence = np.random.SeedSequence(7)
    assert root_entropy(sequence) == root_entropy(sequence) == 7
    assert sequence.n_children_spawned == 0


@pytest.mark.parametrize(
    "rng",
    [None, np.random.default_rng(1), np.random.SeedSequence(7).spawn(1)[0], 2**200],
    ids=["none", "generator", "spawned", "large"],
)
def test_any_run_can_be_repeated_from_the_seed_that_it_recorded(rng, cohorts):
    result = kmeans_scores(cohorts, rng)
    assert_same_bits(kmeans_scores(cohorts, result.provenance["seed"]), result)


def test_no_seed_is_a_fresh_one_every_time():
    assert len({root_entropy(None) for _ in range(5)}) == 5


@pytest.mark.parametrize("rng", [-1, 1.5, True, "7", np.random.RandomState(7), [1, 2]])
def test_what_is_no_seed_is_refused(rng, cohorts):
    with refused(ParameterError, "rng"):
        kmeans_scores(cohorts, rng)


def test_neither_the_global_random_state_matters_nor_is_it_touched(cohorts):
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one = kmeans_scores(cohorts, 7)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert_same_bits(kmeans_scores(cohorts, 7), one)


# ---------------------------------------------------------------------------------------------------------------------
# parameters of the execution


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "2"])
def test_n_jobs_is_checked(n_jobs):
    with refused(ParameterError, "n_jobs"):
        check_n_jobs(n_jobs)


@pytest.mark.parametrize("progress", [1, "yes", 0.0])
def test_progress_is_checked(progress):
    with (
        refused(ParameterError, "progress"),
        cr.config_context(progress=progress),
    ):
        pass
