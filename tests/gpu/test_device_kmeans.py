"""The code that runs on a GPU, in plain PyTorch on the processor: the same answers as the compiled kernels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.helpers import by_two

import clustrep as cr
from clustrep.errors import ReplicateWarning
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting

pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'clustrep[gpu]'")

DEVICE = "torch"


def tables(sizes=(150, 120, 180), p=5, k=6, seed=0):
    rng = np.random.default_rng(seed)
    centres = 3 * rng.normal(size=(k, p))
    return [centres[rng.integers(k, size=n)] + rng.normal(size=(n, p)) for n in sizes]


def on(device, function, *args, **kwargs):
    with cr.config_context(device=device, progress=False):
        return function(*args, **kwargs)


def fitted(device, clusterer, X, resampling, replicate):
    study = cr.Study(X, "a")
    source = Source(resampling, 1, device=device)
    setting = Setting.prepare(source, [study], [Configuration("k-means", clusterer)])
    (learner,) = setting.learners
    sample = setting.resample(0, replicate)
    psi = learner.psi(learner.share(sample), sample, learner.members[0])
    return psi.solution, psi.labels(setting.places[0]), learner


def test_the_path_is_another_one():
    assert (
        type(fitted(DEVICE, KMeans(3), tables()[0], cr.resampling.Bootstrap(), 1)[2]).__name__ == "DeviceKMeansLearner"
    )


@pytest.mark.parametrize("p", [2, 20])
@pytest.mark.parametrize("n_init", [1, 4])
def test_the_same_seed_gives_the_same_labels_and_inertia(p, n_init):
    (X,) = tables((300,), p)
    for k in (1, 2, 7, 17):
        solution, labels, _ = fitted(DEVICE, KMeans(k, n_init=n_init), X, cr.resampling.Bootstrap(), 3)
        expected, expected_labels, _ = fitted("cpu", KMeans(k, n_init=n_init), X, cr.resampling.Bootstrap(), 3)
        np.testing.assert_array_equal(labels, expected_labels)
        np.testing.assert_allclose(solution.centres, expected.centres, rtol=0, atol=1e-9)
        np.testing.assert_allclose(solution.inertia, expected.inertia, rtol=1e-10)
        assert solution.n_iter == expected.n_iter


def test_given_centres_move_to_the_same_place():
    (X,) = tables((200,))
    clusterer = KMeans(4, init=X[:4], n_init=1)
    solution, labels, _ = fitted(DEVICE, clusterer, X, cr.resampling.Subsample(0.7), 1)
    expected, expected_labels, _ = fitted("cpu", clusterer, X, cr.resampling.Subsample(0.7), 1)
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_allclose(solution.centres, expected.centres, atol=1e-9)


def test_a_cluster_that_loses_its_points_takes_the_farthest():
    X = np.concatenate([np.linspace(0, 1, 30), [8.0, 9.0]])[:, None]
    clusterer = KMeans(4, init=np.array([[0.2], [0.8], [100.0], [200.0]]), n_init=1)
    solution, labels, _ = fitted(DEVICE, clusterer, X, cr.resampling.Bootstrap(), 2)
    expected, expected_labels, _ = fitted("cpu", clusterer, X, cr.resampling.Bootstrap(), 2)
    assert len(np.unique(expected_labels)) == 4
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_allclose(solution.centres, expected.centres, atol=1e-12)


@pytest.mark.parametrize(
    "resampling",
    [None, cr.resampling.Bootstrap(), cr.resampling.Jitter(0.1), cr.resampling.Bootstrap() + cr.resampling.Jitter(0.1)],
)
def test_scores_are_those_of_the_kernels(resampling):
    options = {"n_resamples": 3, "rng": 0, "resampling": resampling, "agreement": ("ari", "ami", "matching")}
    expected, computed = (
        on(d, cr.compare, KMeans(n_init=2), tables(), n_clusters=[2, 5, 9], **options) for d in ("cpu", DEVICE)
    )
    np.testing.assert_allclose(computed.distribution, expected.distribution, atol=1e-12)
    np.testing.assert_allclose(computed.estimate, expected.estimate, atol=1e-12)
    np.testing.assert_array_equal(computed.clusters_found, expected.clusters_found)


def test_without_the_diagonal_there_is_none():
    result = on(DEVICE, cr.replicability, KMeans(3), tables(), n_resamples=2, rng=0, diagonal=False)
    assert np.isnan(np.diagonal(result.distribution, axis1=1, axis2=2)).all()
    assert np.isfinite(result.distribution[:, 0, 1]).all()


def test_the_same_seed_gives_the_same_bits_again():
    first, second = (
        on(DEVICE, cr.replicability, KMeans(5, n_init=2), tables(), n_resamples=3, rng=4) for _ in range(2)
    )
    np.testing.assert_array_equal(first.distribution, second.distribution)


def test_workers_are_not_started_and_change_nothing():
    first = on(DEVICE, cr.replicability, KMeans(3), tables(), n_resamples=3, rng=4)
    with by_two():
        second = on(DEVICE, cr.replicability, KMeans(3), tables(), n_resamples=3, rng=4)
    np.testing.assert_array_equal(first.distribution, second.distribution)


def test_with_little_memory_batches_are_smaller_and_scores_the_same(monkeypatch):
    expected = on(DEVICE, cr.replicability, KMeans(4, n_init=3), tables(), n_resamples=3, rng=0)
    monkeypatch.setattr("clustrep.execution.devices.PLAIN_BYTES", 10_000)  # two starts of a study at a time
    computed = on(DEVICE, cr.replicability, KMeans(4, n_init=3), tables(), n_resamples=3, rng=0)
    np.testing.assert_allclose(computed.distribution, expected.distribution, atol=1e-12)


def test_fits_that_fail_fail_for_the_same_reasons():
    rng = np.random.default_rng(1)
    few = [np.repeat(rng.normal(size=4), 5)[:, None], rng.normal(size=(20, 1))]  # four different points
    results = []
    for device in ("cpu", DEVICE):
        with pytest.warns(ReplicateWarning):
            results.append(on(device, cr.compare, KMeans(n_init=2), few, n_clusters=[2, 5], n_resamples=3, rng=0))
    expected, computed = results
    assert expected.causes == computed.causes != ()
    np.testing.assert_array_equal(expected.failed, computed.failed)
    np.testing.assert_allclose(computed.distribution, expected.distribution, atol=1e-12)


def test_more_features_than_samples_are_rotated_first():
    rng = np.random.default_rng(0)
    studies = [rng.normal(size=(30, 200)) + 3 * rng.integers(2, size=(30, 1)) for _ in range(2)]
    expected, computed = (
        on(d, cr.replicability, KMeans(2, n_init=2), studies, n_resamples=3, rng=0) for d in ("cpu", DEVICE)
    )
    np.testing.assert_allclose(computed.distribution, expected.distribution, atol=1e-12)


def test_a_result_says_where_it_was_computed():
    result = on(DEVICE, cr.replicability, KMeans(3), tables(), n_resamples=2, rng=0)
    assert result.provenance["device"].startswith("cpu, PyTorch")
    assert "device" not in cr.replicability(KMeans(3), tables(), n_resamples=2, rng=0).provenance


def test_local_scores_and_simulated_collections_run_there_too():
    studies = tables()
    local, expected = (
        on(d, cr.local_replicability, KMeans(3), train=studies[0], test=studies[1], n_resamples=2, rng=0)
        for d in (DEVICE, "cpu")
    )
    np.testing.assert_allclose(local.distribution, expected.distribution, atol=1e-12)
    references = []
    for device in (DEVICE, "cpu"):
        result = on(device, cr.replicability, KMeans(3), studies, n_resamples=2, rng=0)
        references.append(on(device, cr.null_reference, result, n=19, null="gaussian"))
    np.testing.assert_allclose(references[0].distribution, references[1].distribution, atol=1e-12)
    assert references[0].provenance["device"].startswith("cpu, PyTorch")


def test_the_function_of_a_result_is_that_of_the_device():
    studies = tables()
    result = on(DEVICE, cr.replicability, KMeans(3), studies, n_resamples=2, rng=0)
    expected = cr.replicability(KMeans(3), studies, n_resamples=2, rng=0)
    name = result.names[0]
    np.testing.assert_array_equal(
        result.clustering_function(name)(studies[1]), expected.clustering_function(name)(studies[1])
    )
