from __future__ import annotations

import threading

import joblib
import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering

import clustrep as cr
from clustrep.data.study import Study
from clustrep.execution.forecast import LEAST_BLOCK, Cost, Workers, block_sizes, choose_workers
from clustrep.execution.run import compute
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting
from clustrep.stability.significance import TestPlan

KERNELS, MIXED, PYTHON = Cost(0.02, 1e-4), Cost(2e-4, 3e-4), Cost(0.0, 0.05)


@pytest.mark.parametrize(
    ("cost", "in_threads", "n_replicates", "n_workers", "expected"),
    [
        (KERNELS, True, 1, 16, Workers.NONE),
        (KERNELS, True, 100, 2, Workers.THREADS),
        (KERNELS, True, 10_000, 64, Workers.THREADS),
        (MIXED, True, 100, 16, Workers.NONE),
        (MIXED, True, 1_000, 2, Workers.THREADS),
        (MIXED, True, 1_000_000, 2, Workers.PROCESSES),  # Python's part is more than half, and takes minutes
        (MIXED._replace(n_bytes=1e6), True, 1_000_000, 2, Workers.THREADS),  # sending values takes longer
        (PYTHON, False, 20, 16, Workers.NONE),
        (PYTHON, False, 1_000, 2, Workers.PROCESSES),
        (PYTHON, True, 1_000, 2, Workers.PROCESSES),
    ],
)
def test_who_computes_a_run(cost, in_threads, n_replicates, n_workers, expected):
    assert choose_workers(cost, n_replicates, n_workers, in_threads=in_threads) is expected


@pytest.mark.parametrize("n_workers", [2, 16, 1000])
@pytest.mark.parametrize("cost", [KERNELS, MIXED, PYTHON])
def test_blocks_hold_all_replicates_and_leave_no_worker_without(cost, n_workers):
    for n_replicates in (1, 7, 100, 5_000):
        for batch in (1, 10, 10_000):
            sizes = block_sizes(batch, cost, n_replicates, n_workers)
            assert sum(sizes) == n_replicates
            assert min(sizes) >= 1
            assert len(sizes) >= min(n_workers, n_replicates)


def test_the_last_blocks_are_short_but_not_too_short():
    seconds = [KERNELS.total * size for size in block_sizes(64, KERNELS, 1_000, 16)]
    assert seconds == sorted(seconds, reverse=True)
    assert max(seconds) <= sum(seconds) / 16
    assert LEAST_BLOCK <= seconds[-2] <= 2 * LEAST_BLOCK
    assert block_sizes(10, KERNELS, 1_000, 2)[0] == 10


def cost_of(clusterers, n, p, n_studies=2):
    tables = [np.random.default_rng(i).normal(size=(n, p)) for i in range(n_studies)]
    configurations = [Configuration(type(one).__name__, one) for one in clusterers]
    return Setting.prepare(
        Source(cr.resampling.Bootstrap(), 0), tuple(cr.Studies(tables).values()), configurations
    ).cost


def test_the_cost_grows_with_every_shape():
    kmeans = cost_of([KMeans(3)], 100, 2)
    assert cost_of([KMeans(3)], 200, 2).kernels > kmeans.kernels
    assert cost_of([KMeans(3)], 100, 4).kernels > kmeans.kernels
    assert cost_of([KMeans(3), KMeans(4)], 100, 2).kernels > kmeans.kernels
    assert cost_of([KMeans(3)], 100, 2, n_studies=3).python > kmeans.python
    assert cost_of([AgglomerativeClustering()], 200, 2).kernels > 0
    spectral = cost_of([SpectralClustering(2)], 100, 2)
    assert spectral.kernels == 0
    assert spectral.python > kmeans.python
    assert cost_of([SpectralClustering(2)], 400, 2).python > 2 * spectral.python


def test_short_runs_stay_here_whatever_is_asked_for(monkeypatch):
    threads = set()
    monkeypatch.setattr("clustrep.execution.run.breathe", lambda: threads.add(threading.get_ident()))
    tables = [np.random.default_rng(i).normal(size=(30, 2)) for i in range(2)]
    options = {"n_resamples": 5, "rng": 0, "n_jobs": 2}
    cr.replicability(KMeans(2, n_init=1), tables, **options)
    assert threads == {threading.get_ident()}
    with joblib.parallel_config(backend="threading"):  # what the user has set comes first
        cr.replicability(KMeans(2, n_init=1), tables, **options)
    assert len(threads) > 1


@pytest.mark.parametrize("p", [2, 100])  # with and without a tree
def test_the_test_for_clusters_takes_threads_unless_a_function_is_the_users(p):
    def plan(n, null="sample"):
        return TestPlan(Study(np.zeros((n, p)), "a"), null, squared=True, whiten=False, root=0)

    assert plan(100).in_threads
    assert plan(200).cost.kernels > plan(100).cost.kernels
    own = plan(100, lambda study, rng: study)
    assert not own.in_threads
    assert own.cost.kernels == 0


def test_points_to_score_count():
    """A map of the plane costs more than its clusterings."""
    tables = [np.random.default_rng(i).normal(size=(60, 2)) for i in range(2)]
    costs = []

    def noted(cost, *arguments, **options):
        costs.append(cost)
        return choose_workers(cost, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clustrep.execution.run.choose_workers", noted)
        for n_points in (10, 100_000):
            at = np.random.default_rng(2).normal(size=(n_points, 2))
            cr.local_replicability(
                KMeans(2, n_init=1), train=tables[0], test=tables[1], at=at, n_resamples=2, n_jobs=2, rng=0
            )
    few, many = costs
    assert many.total > 2 * few.total
    assert many.kernels - few.kernels > many.python - few.python > 0


def test_kernels_are_compiled_by_a_draw_here_before_processes_start(monkeypatch):
    computed_here = []

    def recorded(plan, block, run_of_blocks):
        computed_here.append(list(block))
        return compute(plan, block, run_of_blocks)

    monkeypatch.setattr("clustrep.execution.run.compute", recorded)
    tables = [np.random.default_rng(i).normal(size=(30, 2)) for i in range(2)]
    with joblib.parallel_config(backend="loky"):
        cr.replicability(KMeans(2, n_init=1), tables, n_resamples=5, rng=0, n_jobs=2)
    assert computed_here == [[0, 1]]
