"""Seeds, workers, failures, warnings, progress and interruption: nothing of it may change a result."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import textwrap
import threading
import time
import types
import warnings
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from tests.helpers import configured
from threadpoolctl import threadpool_info, threadpool_limits

import clustrep as cr
from clustrep.clustering.path import Setting
from clustrep.clustering.sample import FEW_DISTINCT_POINTS, FEWER_CLUSTERS, Source
from clustrep.engine.replicates import root_entropy
from clustrep.engine.run import check_n_jobs
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning


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
    "mixture": partial(cr.replicability, GaussianMixture(3, reg_covar=1e-2), resampling=cr.Subsample(0.7)),
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
    one, two = (
        cr.replicability(KMeans(3, n_init=1, max_iter=5), studies, n_resamples=2, rng=0, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
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
    with pytest.raises(ParameterError, match="rng must be a non-negative integer, a numpy Generator"):
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
    with pytest.raises(ParameterError, match="n_jobs must be a positive integer, a negative one"):
        check_n_jobs(n_jobs)


@pytest.mark.parametrize("progress", [1, "yes", 0.0])
def test_progress_is_checked(progress):
    with (
        pytest.raises(ParameterError, match="progress must be True, False or 'auto', got"),
        cr.config_context(progress=progress),
    ):
        pass


# ---------------------------------------------------------------------------------------------------------------------
# failures


def refuses(X):
    return X[0, 0] > 0.5


def fussy(X):
    """Fails on some draws, which ones being a property of the draw."""
    if refuses(X):
        raise ValueError("the first value is too large\nand more that nobody wants to read")
    return (X[:, 0] > np.median(X[:, 0])).astype(int)


def patient(X):
    return (X[:, 0] > np.median(X[:, 0])).astype(int)


@pytest.fixture
def tables(rng):
    tables = {name: rng.normal(size=(20, 2)) for name in ("a", "b")}
    for X in tables.values():
        X[0] = 0.25  # so that the studies as they are can be clustered
    return tables


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_failed_fits_are_counted_and_touch_nothing_else(n_jobs, tables):
    options = {"n_resamples": 12, "rng": 4, "diagonal": True}
    with pytest.warns(ReplicateWarning) as record:
        result = cr.replicability(fussy, tables, n_jobs=n_jobs, **options, resampling=cr.Bootstrap())
    complete = cr.replicability(patient, tables, **options, resampling=cr.Bootstrap())

    source = Source(cr.Bootstrap(), 4)
    studies = cr.Studies(tables).values()
    first, second = (
        np.array([[refuses(source.draw(study, b, second=again).sample) for study in studies] for b in range(1, 13)])
        for again in (False, True)
    )  # (n_resamples, S)
    missing = first[:, :, None] | first[:, None, :]
    diagonal = np.arange(2)
    missing[:, diagonal, diagonal] = first | second
    n_missing = int(missing.sum())
    assert 0 < n_missing < missing.size

    np.testing.assert_array_equal(np.isnan(result.distribution), missing)
    np.testing.assert_array_equal(result.distribution[~missing], complete.distribution[~missing])
    np.testing.assert_array_equal(result.estimate, complete.estimate)
    np.testing.assert_array_equal(result.clusters_found == -1, first)
    assert result.failures == {"ValueError: the first value is too large": n_missing}
    assert [str(warning.message) for warning in record] == [
        f"{n_missing} scores of {missing.size + 4} failed and were omitted: "
        f"ValueError: the first value is too large ({n_missing}). Failed on 'a', 'b': 'fussy'."
    ]


def test_causes_are_counted_one_by_one(tables):
    def moody(X):
        if X[0, 0] > 0.5:
            raise RuntimeError
        if X[0, 0] < -0.5:
            raise KeyError("cluster")
        return patient(X)

    with pytest.warns(ReplicateWarning, match=r"RuntimeError \(\d+\); KeyError: 'cluster' \(\d+\)|KeyError.*Runtime"):
        result = cr.replicability(moody, tables, n_resamples=12, rng=4)
    assert set(result.failures) == {"RuntimeError", "KeyError: 'cluster'"}
    assert sum(result.failures.values()) == np.isnan(result.distribution).sum() + np.isnan(result.estimate).sum()


def test_a_failure_on_the_full_study_leaves_the_resamples(tables):
    full = tables["a"].tobytes()

    def fails_on_a(X):
        if X.tobytes() == full:
            raise ValueError("not this one")
        return patient(X)

    with pytest.warns(
        ReplicateWarning, match=r"3 scores of 24 failed and were omitted: ValueError: not this one \(3\)"
    ):
        result = cr.replicability(fails_on_a, tables, n_resamples=5, rng=4)
    assert np.isnan(result.estimate).tolist() == [[True, True], [True, False]]
    assert np.isfinite(result.distribution).all()


def test_more_clusters_than_distinct_points_is_a_cause_of_its_own(rng):
    """b has five different points, each twice: some of its draws lack one."""
    tables = {"a": rng.normal(size=(30, 2)), "b": np.repeat(rng.normal(size=(5, 2)), 2, axis=0)}
    source = Source(cr.Bootstrap(), 1)
    study = cr.Study(tables["b"], "b")
    few = [source.draw(study, b).n_distinct() < 5 for b in range(1, 31)]
    assert 0 < sum(few) < 30
    for clusterer in (KMeans(5, n_init=1), GaussianMixture(5, reg_covar=1e-3)):
        with pytest.warns(ReplicateWarning) as record:
            result = cr.replicability(clusterer, tables, n_resamples=30, rng=1, diagonal=False)
        assert result.failures == {FEW_DISTINCT_POINTS: 2 * sum(few)}
        np.testing.assert_array_equal(np.isnan(result.distribution[:, 0, 1]), few)
        assert len(record) == 1


def test_k_means_with_more_clusters_than_samples_fails_as_a_whole(tables):
    with pytest.raises(AllReplicatesFailed, match=f"{FEW_DISTINCT_POINTS}"):
        cr.replicability(KMeans(21, n_init=1), tables, n_resamples=2, rng=1)


class Halves:
    """Always finds two clusters, however many it is asked for."""

    def __init__(self, n_clusters):
        self.n_clusters = n_clusters

    def fit_predict(self, X):
        return np.arange(len(X)) % 2


def test_fewer_clusters_than_asked_for_is_a_failure(tables):
    assert cr.replicability(Halves(2), tables, n_resamples=2, rng=1).failures == {}
    with pytest.raises(AllReplicatesFailed, match=f"12 scores failed: {FEWER_CLUSTERS}"):
        cr.replicability(Halves(3), tables, n_resamples=2, rng=1)


def test_noise_is_no_cluster_that_was_asked_for(tables):
    def two_and_noise(X, n_clusters=3):
        return np.arange(len(X)) % 3 - 1

    with pytest.raises(AllReplicatesFailed, match=FEWER_CLUSTERS):
        cr.replicability(two_and_noise, tables, n_resamples=2, rng=1)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_everything_failing_raises(n_jobs, tables):
    def never(X):
        raise ValueError("never")

    message = r"Not one resample could be scored; 16 scores failed: ValueError: never \(16\)"
    with pytest.raises(AllReplicatesFailed, match=message):
        cr.replicability(never, tables, n_resamples=3, rng=1, n_jobs=n_jobs)
    with pytest.raises(AllReplicatesFailed, match="never"):
        cr.local_replicability(never, train=tables["a"], test=tables["b"], n_resamples=3, rng=1, n_jobs=n_jobs)


def test_local_failures_are_counted_too(tables):
    with pytest.warns(ReplicateWarning, match=r"replicates of 13 failed and were omitted: ValueError: the first value"):
        local = cr.local_replicability(
            fussy, train=tables["a"], test=tables["b"], n_resamples=12, rng=4, resampling=cr.Bootstrap()
        )
    source = Source(cr.Bootstrap(), 4)
    studies = [cr.Study(tables["a"], "train"), cr.Study(tables["b"], "test")]
    failed = [any(refuses(source.draw(study, b).sample) for study in studies) for b in range(1, 13)]
    assert 0 < sum(failed) < 12
    np.testing.assert_array_equal(np.isnan(local.distribution).all(axis=1), failed)
    np.testing.assert_array_equal(np.isnan(local.distribution).any(axis=1), failed)
    assert local.failures == {"ValueError: the first value is too large": sum(failed)}


def test_labels_of_the_wrong_length_are_an_error_of_the_program(tables):
    with pytest.raises(DataError, match="one label for every point"):
        cr.replicability(lambda X: [0, 1], tables, n_resamples=2, rng=1)


# ---------------------------------------------------------------------------------------------------------------------
# warnings


def complains(X):
    warnings.warn("it did not converge\nsecond line", ConvergenceWarning, stacklevel=2)
    if X[0, 0] > 0.5:
        warnings.warn("a large value", UserWarning, stacklevel=2)
    return patient(X)


def warnings_of(call):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        call()
    return record


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_warnings_come_once_grouped_and_counted(backend, tables):
    def call(n_jobs):
        return cr.replicability(complains, tables, n_resamples=6, rng=4, n_jobs=n_jobs, resampling=cr.Bootstrap())

    source, studies = Source(cr.Bootstrap(), 4), cr.Studies(tables).values()
    large = sum(
        refuses(source.draw(study, b, second=again).sample)
        for study in studies
        for b in range(1, 7)
        for again in (False, True)
    )
    expected = [
        f"While the replicates ran, this was warned {7 * 4} times: ConvergenceWarning: it did not converge",
        f"While the replicates ran, this was warned {large} times: UserWarning: a large value",
    ]
    for n_jobs in (1, 2):
        with joblib.parallel_config(backend=backend):
            record = warnings_of(partial(call, n_jobs))
        assert [str(warning.message) for warning in record] == expected
        assert {warning.category for warning in record} == {ReplicateWarning}


def test_local_runs_group_warnings_too(tables):
    record = warnings_of(
        lambda: cr.local_replicability(complains, train=tables["a"], test=tables["b"], n_resamples=6, rng=4)
    )
    assert {warning.category for warning in record} == {ReplicateWarning}
    assert len(record) == 2


def test_warnings_that_the_user_made_errors_do_not_become_failures(tables):
    """A filter is for what the user sees: fits must not depend on it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ReplicateWarning)
        result = cr.replicability(complains, tables, n_resamples=3, rng=4)
    assert result.failures == {}


@pytest.mark.parametrize(
    "call",
    [
        lambda clusterer, tables: cr.replicability(clusterer, tables, n_resamples=6, rng=4),
        lambda clusterer, tables: cr.compare({"c": clusterer}, tables, n_resamples=6, rng=4),
        lambda clusterer, tables: cr.local_replicability(
            clusterer, train=tables["a"], test=tables["b"], n_resamples=6, rng=4
        ),
    ],
    ids=["global", "compare", "local"],
)
@pytest.mark.parametrize("clusterer", [complains, fussy])
def test_warnings_point_at_the_users_line(clusterer, call, tables):
    record = warnings_of(partial(call, clusterer, tables))
    assert [warning.filename for warning in record if warning.category is ReplicateWarning]
    assert {warning.filename for warning in record if warning.category is ReplicateWarning} == {__file__}


# ---------------------------------------------------------------------------------------------------------------------
# progress: a bar after a second, where somebody can see it


def slowly(first_fit=1.05):
    """Make a clusterer whose first fit takes longer than the bar waits."""
    waits = [first_fit]

    def clusterer(X):
        time.sleep(waits.pop() if waits else 0)
        return np.arange(len(X)) % 2

    return clusterer


@contextlib.contextmanager
def terminal(monkeypatch):
    """Make stderr a terminal; yields a function that gives what was written to it."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 80))
    with os.fdopen(theirs, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)

        def read():
            stream.flush()
            os.set_blocking(ours, False)
            with contextlib.suppress(BlockingIOError):
                return os.read(ours, 2**16).decode()
            return ""

        yield read
    os.close(ours)


def show(tables, clusterer=None, **options):
    cr.replicability(clusterer or slowly(), tables, n_resamples=3, rng=0, diagonal=False, **options)


@pytest.mark.parametrize(("progress", "shown"), [("auto", True), (False, False)])
def test_on_a_terminal_there_is_a_bar_unless_it_is_not_wanted(progress, shown, tables, monkeypatch):
    with terminal(monkeypatch) as read:
        configured(show, progress=progress)(tables)
        text = read()
    if not shown:
        assert text == ""
        return
    assert re.search(r"replicability: +\d+%.*/4 ", text)
    assert re.split(r"[\r\n]", text)[-1].strip() == ""  # and it is wiped away at the end


def test_a_quick_run_needs_no_bar(tables, monkeypatch):
    with terminal(monkeypatch) as read:
        configured(show, progress=True)(tables, slowly(0))
        assert read().strip() == ""


@pytest.mark.parametrize(("progress", "shown"), [("auto", False), (True, True)])
def test_elsewhere_there_is_none_unless_it_is_wanted(progress, shown, tables, capsys):
    configured(show, progress=progress)(tables)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("replicability:" in err) == shown
    assert shown or err == ""


@pytest.mark.parametrize(
    ("shell", "shown"), [("ZMQInteractiveShell", True), (None, False)], ids=["notebook", "merely imported"]
)
def test_a_notebook_shows_the_bar_though_its_stderr_is_no_terminal(shell, shown, tables, monkeypatch, capsys):
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell and type(shell, (), {"config": {}})()
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    show(tables)
    assert ("replicability:" in capsys.readouterr().err) == shown


def test_a_program_without_stderr_runs(tables, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw, or with 2>&-
    show(tables, slowly(0))


# ---------------------------------------------------------------------------------------------------------------------
# the end of a run (down here because workers have to be started again afterwards)


def out_of_memory(X):
    raise MemoryError


def interrupted(X):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("clusterer", "error", "n_jobs", "backend"),
    [
        (out_of_memory, MemoryError, 1, "loky"),
        (out_of_memory, MemoryError, 2, "multiprocessing"),
        (interrupted, KeyboardInterrupt, 1, "loky"),
        (interrupted, KeyboardInterrupt, 2, "loky"),
    ],
)
def test_what_is_not_the_replicates_fault_passes_through(clusterer, error, n_jobs, backend, tables):
    with joblib.parallel_config(backend=backend), pytest.raises(error):
        cr.replicability(clusterer, tables, n_resamples=2, rng=1, n_jobs=n_jobs)


def test_a_failing_run_without_workers_leaves_the_users_own_workers_alone(tables):
    from joblib.externals.loky import get_reusable_executor

    executor = get_reusable_executor(max_workers=1, timeout=60)
    assert executor.submit(abs, -1).result() == 1
    with pytest.raises(MemoryError):
        cr.replicability(out_of_memory, tables, n_resamples=2, rng=1, n_jobs=1)
    try:
        assert executor.submit(abs, -2).result() == 2
    finally:
        executor.shutdown(kill_workers=True)


INTERRUPTED = """
import os, sys, time
import joblib, numpy as np
import clustrep as cr


def endless(X):
    os.write(1, b"running %d\\n" % os.getpid())  # in one piece: two workers say it at once
    time.sleep(3600)


tables = [np.arange(18.0).reshape(9, 2) ** 1.5, np.arange(18.0).reshape(9, 2) ** 0.5]
with joblib.parallel_config(backend=sys.argv[1]):
    try:
        cr.replicability(endless, tables, n_resamples=8, rng=0, n_jobs=2)
    except KeyboardInterrupt:
        print("stopped", flush=True)
sys.stdin.readline()
"""
HANGS_AFTER = 120  # seconds: only a guard, nothing here takes as long


def session_of(leader):
    """The live processes of a session: {pid: command line}."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # gone in the meantime
            with open(f"/proc/{pid}/stat") as stat:
                state, _, _, session = stat.read().rpartition(")")[2].split()[:4]
            if int(session) == leader and state not in "ZX":
                with open(f"/proc/{pid}/cmdline") as command:
                    found[int(pid)] = command.read().replace("\0", " ")
    return found


def workers_of(leader):
    """Its live processes but for itself and the one that tidies up after it."""
    return [pid for pid, command in session_of(leader).items() if pid != leader and "resource_tracker" not in command]


def wait_until(condition):
    deadline = time.monotonic() + HANGS_AFTER
    while not condition():
        assert time.monotonic() < deadline, "it hangs"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("backend", "whole_group"),
    [("loky", True), ("multiprocessing", False)],
    ids=["as a terminal does", "the parent alone"],
)
def test_an_interrupted_run_leaves_no_process_behind(backend, whole_group, tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(textwrap.dedent(INTERRUPTED))
    process = subprocess.Popen(
        [sys.executable, script, backend],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    guard = threading.Timer(HANGS_AFTER, os.killpg, [process.pid, signal.SIGKILL])
    guard.start()
    try:
        started = process.stdout.readline()
        workers = {int(pid) for pid in re.findall(r"\d+", started)}
        assert workers, process.stderr.read()
        assert workers < set(session_of(process.pid)) - {process.pid}
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        # The other worker may have said that it runs, too.
        assert "stopped\n" in iter(process.stdout.readline, ""), process.stderr.read()
        # The program goes on without its workers, which would have slept for an hour ...
        wait_until(lambda: not workers_of(process.pid))
        # ... and nothing at all stays after it.
        _, err = process.communicate("\n")
        assert process.returncode == 0, err
        wait_until(lambda: not session_of(process.pid))
    finally:
        guard.cancel()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
