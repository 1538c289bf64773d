"""Kernels for a GPU against 64 bits in plain PyTorch; these tests need a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import clustrep as cr

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'clustrep[gpu]'")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

# Points and centres have a largest coordinate of 1: what products of two halves of 11 bits are rounded by.
ROUNDING = 2e-6


def problem(n, p, k, n_fits, n_samples):
    from clustrep.gpu.fused_steps import FusedSteps
    from clustrep.gpu.plain_steps import PlainSteps
    from clustrep.gpu.points import DevicePoints

    rng = np.random.default_rng(n + p + k)
    X = 3 * rng.normal(size=(8, p))[rng.integers(8, size=n)] + rng.normal(size=(n, p)) + 5
    points = DevicePoints.send(X, "cuda")
    exact = DevicePoints("torch", points.X.double(), points.mean, points.unit)
    weights = torch.as_tensor(rng.poisson(1, size=(n_samples, n)).astype(np.uint8), device="cuda")
    sample = torch.as_tensor(rng.integers(n_samples, size=n_fits), device="cuda")
    centres = points.X[torch.as_tensor(rng.integers(n, size=(n_fits, k)), device="cuda")]
    lengths = (centres.double() ** 2).sum(dim=2).float()
    if k > 2:
        lengths[:, -1] = torch.inf  # a fit with fewer clusters
    return FusedSteps(points), PlainSteps(exact), centres, lengths, weights, sample


SHAPES = [
    (1000, 2, 3),
    (3100, 2, 31),
    (5000, 17, 20),
    (20_000, 50, 20),
    (3000, 100, 40),
    (4000, 64, 100),
    (700, 300, 5),
]


@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_labels_differ_only_where_two_centres_are_as_near_as_rounding(n, p, k):
    fused, plain, centres, lengths, _, _ = problem(n, p, k, 7, 3)
    labels, exact = fused.labels(centres, lengths).long(), plain.labels(centres.double(), lengths.double()).long()
    distances = lengths.double()[:, :, None] - 2 * centres.double() @ plain.points.X.T
    excess = distances.gather(1, labels[:, None]) - distances.gather(1, exact[:, None])
    assert float(excess.max()) <= ROUNDING
    assert float((labels != exact).double().mean()) < 1e-3


@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_sums_inertia_and_potentials(n, p, k):
    fused, plain, centres, lengths, weights, sample = problem(n, p, k, 7, 3)
    double = (centres.double(), lengths.double(), weights, sample)
    (sums, sizes), (exact_sums, exact_sizes) = fused.sums(centres, lengths, weights, sample), plain.sums(*double)
    torch.testing.assert_close(sizes, exact_sizes, atol=3, rtol=0)  # a point or two between two centres
    torch.testing.assert_close(sums, exact_sums, atol=3 + 1e-5 * n, rtol=0)
    torch.testing.assert_close(
        fused.inertia(centres, lengths, weights, sample), plain.inertia(*double), atol=0, rtol=1e-5
    )
    candidates = torch.randint(n, (7, 4), device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    closest = torch.rand((7, n), device="cuda", generator=torch.Generator("cuda").manual_seed(1))
    exact_closest = closest.double()
    torch.testing.assert_close(
        fused.potentials(candidates, closest, weights, sample),
        plain.potentials(candidates, exact_closest, weights, sample),
        atol=0,
        rtol=1e-5,
    )
    masses = fused.draw_near(candidates[:, 0], closest, weights, sample)
    torch.testing.assert_close(
        masses, plain.draw_near(candidates[:, 0], exact_closest, weights, sample), rtol=1e-5, atol=0
    )
    torch.testing.assert_close(closest.double(), exact_closest, rtol=0, atol=1e-5)


@pytest.mark.parametrize("k", [3, 20, 100])
def test_tables(k):
    from clustrep.gpu.fused_steps import count_tables_fused
    from clustrep.gpu.plain_steps import count_tables

    rng = np.random.default_rng(k)
    u, v = (torch.as_tensor(rng.integers(k, size=(n, 40_000)).astype(np.uint8), device="cuda") for n in (9, 4))
    weights = torch.as_tensor(rng.poisson(1, size=(4, 40_000)).astype(np.uint8), device="cuda")
    row = torch.as_tensor(rng.integers(4, size=9), device="cuda")
    torch.testing.assert_close(count_tables_fused(u, v, weights, row, k), count_tables(u, v, weights, row, k))


def test_scores_are_those_of_the_processor():
    rng = np.random.default_rng(0)
    centres = 3 * rng.normal(size=(6, 5))
    studies = [centres[rng.integers(6, size=n)] + rng.normal(size=(n, 5)) for n in (900, 700, 800)]
    results = {}
    for device in ("cpu", "cuda"):
        with cr.config_context(device=device, progress=False):
            results[device] = cr.compare(KMeans(n_init=3), studies, n_clusters=range(2, 12), n_resamples=20, rng=0)
    difference = np.abs(results["cuda"].distribution - results["cpu"].distribution)
    assert float(np.nanmean(difference)) < 0.005  # a start in a hundred may end elsewhere
    assert float(np.nanmedian(difference)) < 1e-9
    assert torch.cuda.get_device_name() in results["cuda"].provenance["device"]


def test_the_same_seed_gives_the_same_bits_again_whatever_else_is_in_the_batch():
    rng = np.random.default_rng(0)
    studies = [rng.normal(size=(900, 5)), rng.normal(size=(700, 5))]
    with cr.config_context(device="cuda", progress=False):
        first = cr.compare(KMeans(n_init=2), studies, n_clusters=[3, 8, 20], n_resamples=6, rng=0)
        again = cr.compare(KMeans(n_init=2), studies, n_clusters=[3, 8, 20], n_resamples=6, rng=0)
        fewer = cr.compare(KMeans(n_init=2), studies, n_clusters=[3, 8, 20], n_resamples=2, rng=0)
    np.testing.assert_array_equal(first.distribution, again.distribution)
    np.testing.assert_array_equal(first.distribution[:, :, :2], fewer.distribution)


@pytest.mark.parametrize(("n", "p", "k"), [(1000, 2, 3), (1550, 2, 40), (5000, 50, 20)])
def test_several_tables_give_the_bits_of_each(n, p, k):
    from clustrep.gpu.fused_steps import FusedSteps
    from clustrep.gpu.many_fits import Starts, move_centres
    from clustrep.gpu.points import DevicePoints, DeviceTables

    rng = np.random.default_rng(k)
    tables = [3 * rng.normal(size=(8, p))[rng.integers(8, size=n)] + rng.normal(size=(n, p)) for _ in range(5)]
    steps, each = (
        FusedSteps(DeviceTables.send_all(tables, "cuda")),
        [FusedSteps(DevicePoints.send(X, "cuda")) for X in tables],
    )
    sample = torch.as_tensor(rng.integers(5, size=23), device="cuda")
    weights = torch.as_tensor(rng.poisson(1, size=(5, n)).astype(np.uint8), device="cuda")
    picks = torch.as_tensor(rng.integers(n, size=(23, k)), device="cuda")
    closest = torch.rand((23, n), device="cuda", generator=torch.Generator("cuda").manual_seed(1))

    def everything(steps, some, sample, weights):
        centres, near = steps.rows(sample, picks[some]).clone(), closest[some].clone()
        lengths = (centres.double() ** 2).sum(dim=2).float()
        values = [steps.labels(centres, lengths, sample), *steps.sums(centres, lengths, weights, sample)]
        values += [steps.inertia(centres, lengths, weights, sample)]
        values += [steps.potentials(picks[some, :3], near, weights, sample)]
        values += [steps.draw_near(picks[some, 0], near, weights, sample), near]
        whole = [torch.full_like(sample, number) for number in (k, 3, 30)]
        starts = Starts(weights, sample, *whole, torch.full(sample.shape, 1e-8, dtype=torch.float64, device="cuda"))
        return [*values, move_centres(steps, starts, centres), centres]

    together = everything(steps, slice(None), sample, weights)
    for t in range(5):
        some = torch.nonzero(sample == t)[:, 0]
        alone = everything(each[t], some, torch.zeros_like(some), weights[t : t + 1])
        for computed, expected in zip(together, alone, strict=True):
            assert torch.equal(computed[some], expected)


def test_simulated_collections_together_are_those_one_after_the_other(monkeypatch):
    from clustrep.null import null_reference as null

    rng = np.random.default_rng(0)
    studies = [rng.normal(size=(n, 2)) + 3 * rng.integers(3, size=(n, 1)) for n in (700, 700, 500)]
    references = {}
    for device, most in (("cuda", 256), ("cuda", 1), ("cpu", 1)):
        monkeypatch.setattr(null, "MOST_ON_DEVICE", most)
        with cr.config_context(device=device, progress=False):
            result = cr.compare(KMeans(n_init=2), studies, n_clusters=[2, 5, 20], n_resamples=1, rng=0)
            references[device, most] = cr.null_reference(result, n=19, null="gaussian")
    together, alone, expected = references.values()
    np.testing.assert_array_equal(together.distribution, alone.distribution)
    np.testing.assert_array_equal(together.separateness_distribution, alone.separateness_distribution)
    difference = np.abs(together.distribution - expected.distribution)
    assert float(np.nanmean(difference)) < 0.01  # a start in a hundred may end elsewhere
    np.testing.assert_allclose(together.separateness_distribution, expected.separateness_distribution, atol=0.02)
