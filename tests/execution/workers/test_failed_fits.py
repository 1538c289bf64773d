"""Failures and warnings of replicates, here and in workers."""

from __future__ import annotations

import contextlib
import warnings
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from tests.helpers import by_two
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, DataError, ReplicateWarning
from clustrep.fitting.resample import FEW_DISTINCT_POINTS, Source

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


here_or_in_two = pytest.mark.parametrize("workers", [contextlib.nullcontext, by_two], ids=["here", "in two"])


@here_or_in_two
def test_failed_fits_are_counted_and_touch_nothing_else(workers, tables):
    options = {"n_resamples": 12, "rng": 4, "diagonal": True}
    with workers(), pytest.warns(ReplicateWarning) as record:
        result = cr.replicability(fussy, tables, **options, resampling=cr.resampling.Bootstrap())
    complete = cr.replicability(patient, tables, **options, resampling=cr.resampling.Bootstrap())

    source = Source(cr.resampling.Bootstrap(), 4)
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

    with warned(ReplicateWarning):
        result = cr.replicability(moody, tables, n_resamples=12, rng=4)
    assert set(result.failures) == {"RuntimeError", "KeyError: 'cluster'"}
    assert sum(result.failures.values()) == np.isnan(result.distribution).sum() + np.isnan(result.estimate).sum()


def test_a_failure_on_the_full_study_leaves_the_resamples(tables):
    full = tables["a"].tobytes()

    def fails_on_a(X):
        if X.tobytes() == full:
            raise ValueError("not this one")
        return patient(X)

    with warned(ReplicateWarning):
        result = cr.replicability(fails_on_a, tables, n_resamples=5, rng=4)
    assert np.isnan(result.estimate).tolist() == [[True, True], [True, False]]
    assert np.isfinite(result.distribution).all()


def test_more_clusters_than_distinct_points_is_a_cause_of_its_own(rng):
    """b has five different points, each twice: some of its draws lack one."""
    tables = {"a": rng.normal(size=(30, 2)), "b": np.repeat(rng.normal(size=(5, 2)), 2, axis=0)}
    source = Source(cr.resampling.Bootstrap(), 1)
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
    with refused(AllReplicatesFailed):
        cr.replicability(KMeans(21, n_init=1), tables, n_resamples=2, rng=1)


class Halves:
    """Always finds two clusters, however many it is asked for."""

    def __init__(self, n_clusters):
        self.n_clusters = n_clusters

    def fit_predict(self, X):
        return np.arange(len(X)) % 2


def test_fewer_clusters_than_asked_for_is_a_failure(tables):
    assert cr.replicability(Halves(2), tables, n_resamples=2, rng=1).failures == {}
    with refused(AllReplicatesFailed):
        cr.replicability(Halves(3), tables, n_resamples=2, rng=1)


def test_noise_is_no_cluster_that_was_asked_for(tables):
    def two_and_noise(X, n_clusters=3):
        return np.arange(len(X)) % 3 - 1

    with refused(AllReplicatesFailed):
        cr.replicability(two_and_noise, tables, n_resamples=2, rng=1)


@here_or_in_two
def test_everything_failing_raises(workers, tables):
    def never(X):
        raise ValueError("never")

    with workers(), refused(AllReplicatesFailed):
        cr.replicability(never, tables, n_resamples=3, rng=1)
    with workers(), refused(AllReplicatesFailed):
        cr.local_replicability(never, train=tables["a"], test=tables["b"], n_resamples=3, rng=1)


def test_local_failures_are_counted_too(tables):
    with warned(ReplicateWarning):
        local = cr.local_replicability(
            fussy, train=tables["a"], test=tables["b"], n_resamples=12, rng=4, resampling=cr.resampling.Bootstrap()
        )
    source = Source(cr.resampling.Bootstrap(), 4)
    studies = [cr.Study(tables["a"], "train"), cr.Study(tables["b"], "test")]
    failed = [any(refuses(source.draw(study, b).sample) for study in studies) for b in range(1, 13)]
    assert 0 < sum(failed) < 12
    np.testing.assert_array_equal(np.isnan(local.distribution).all(axis=1), failed)
    np.testing.assert_array_equal(np.isnan(local.distribution).any(axis=1), failed)
    assert local.failures == {"ValueError: the first value is too large": sum(failed)}


def test_labels_of_the_wrong_length_are_an_error_of_the_program(tables):
    with refused(DataError):
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
        return cr.replicability(
            complains, tables, n_resamples=6, rng=4, n_jobs=n_jobs, resampling=cr.resampling.Bootstrap()
        )

    source, studies = Source(cr.resampling.Bootstrap(), 4), cr.Studies(tables).values()
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
