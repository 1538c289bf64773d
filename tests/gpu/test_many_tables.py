"""Tables of the same shape that are fitted together: simulated data sets score as they do one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.errors import ReplicateWarning
from clustrep.null import null_reference as null

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'clustrep[gpu]'")

from clustrep.gpu.places_of_fits import Layout  # noqa: E402
from clustrep.gpu.plain_steps import PlainSteps  # noqa: E402
from clustrep.gpu.points import DevicePoints, DeviceTables  # noqa: E402

N_COLLECTIONS = 19


def collection(sizes=(60, 45, 60), p=3, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, p)) + 4 * rng.integers(3, size=(n, 1)) for n in sizes]


def reference(device, studies, **options):
    with cr.config_context(device=device, progress=False):
        result = cr.compare(KMeans(n_init=2), studies, n_clusters=[2, 4, 17], n_resamples=1, rng=0)
        return cr.null_reference(result, n=N_COLLECTIONS, **{"null": "gaussian", **options})


@pytest.fixture
def sent(monkeypatch):
    """Count the tables that are sent together."""
    numbers = []
    send_all = DeviceTables.send_all.__func__
    monkeypatch.setattr(
        DeviceTables,
        "send_all",
        classmethod(lambda cls, tables, device: numbers.append(len(tables)) or send_all(cls, tables, device)),
    )
    return numbers


def assert_same(computed, expected):
    np.testing.assert_allclose(computed.distribution, expected.distribution, atol=1e-12)
    np.testing.assert_allclose(computed.separateness_distribution, expected.separateness_distribution, atol=1e-12)


def test_all_collections_are_fitted_together_and_score_as_on_the_processor(sent):
    computed = reference("torch", collection())
    assert sorted(sent) == [2, N_COLLECTIONS, 2 * N_COLLECTIONS]  # two of the studies have the same size
    assert_same(computed, reference("cpu", collection()))


def test_one_after_the_other_they_score_the_same(monkeypatch, sent):
    together = reference("torch", collection((50, 45)))
    monkeypatch.setattr(null, "MOST_ON_DEVICE", 1)
    sent.clear()
    alone = reference("torch", collection((50, 45)))
    assert sent == []
    assert_same(alone, together)


def test_with_little_memory_fewer_are_sent_at_once(monkeypatch, sent):
    expected = reference("torch", collection())
    sent.clear()
    monkeypatch.setattr("clustrep.execution.devices.PLAIN_BYTES", 400_000)
    computed = reference("torch", collection())
    assert max(sent) < 2 * N_COLLECTIONS
    assert_same(computed, expected)


def test_large_tables_are_fitted_alone(monkeypatch, sent):
    monkeypatch.setattr("clustrep.gpu.kmeans.STACKED_POINTS", 50)
    computed = reference("torch", collection())
    assert sent == [N_COLLECTIONS]  # those of 45
    assert_same(computed, reference("cpu", collection()))


def test_a_collection_that_fails_leaves_the_others_their_scores():
    def often_constant(study, rng):
        return np.full(study.X.shape, 1.0) if rng.random() < 0.2 else rng.normal(size=study.X.shape)

    references = []
    for device in ("torch", "cpu"):
        with pytest.warns(ReplicateWarning):
            references.append(reference(device, collection((40, 40)), null=often_constant))
    assert_same(*references)
    assert np.isnan(references[0].distribution[..., 0, 1]).any()


def test_the_mean_over_resamples_and_given_centres():
    studies = collection((40, 40))
    results = []
    for device in ("torch", "cpu"):
        with cr.config_context(device=device, progress=False):
            given = cr.replicability(KMeans(3, init=studies[0][:3], n_init=1), studies, n_resamples=2, rng=0)
            results.append([cr.null_reference(given, 19, null="gaussian", statistic=s) for s in ("estimate", "mean")])
    for computed, expected in zip(*results, strict=True):
        assert_same(computed, expected)


def test_steps_on_several_tables_are_those_on_each():
    tables = collection((300, 300, 300, 300), 4)
    together = DeviceTables.send_all(tables, "torch")
    assert (len(together), together.n_tables, together.n_features) == (300, 4, 4)
    rng = np.random.default_rng(1)
    sample = torch.as_tensor([3, 0, 3, 1, 3, 0])
    weights = torch.as_tensor(rng.poisson(1, size=(4, 300)).astype(np.uint8))
    picks = torch.as_tensor(rng.integers(300, size=(6, 5)))
    steps = PlainSteps(together)
    centres = steps.rows(sample, picks)
    lengths, closest = (centres**2).sum(dim=2), torch.as_tensor(rng.random((6, 300)))

    def everything(steps, some, sample, weights):
        near = closest[some].clone()
        potentials = steps.potentials(picks[some], near, weights, sample)
        masses = steps.draw_near(picks[some, 0], near, weights, sample)
        of_centres = (centres[some], lengths[some])
        return (
            steps.labels(*of_centres, sample),
            *steps.sums(*of_centres, weights, sample),
            steps.inertia(*of_centres, weights, sample),
            potentials,
            masses,
            near,
        )

    for f, t in enumerate(sample.tolist()):
        alone = DevicePoints.send(tables[t], "torch")
        assert torch.equal(alone.X, together.X[t])
        one, some = torch.zeros(1, dtype=torch.int64), slice(f, f + 1)
        expected = everything(PlainSteps(alone), some, one, weights[t : t + 1])
        for computed, of_table in zip(everything(steps, slice(None), sample, weights), expected, strict=True):
            torch.testing.assert_close(computed[some], of_table, rtol=1e-12, atol=1e-12)
        outside = together.of_tables(sample.numpy()).outside(centres)
        np.testing.assert_allclose(outside[f], tables[t][picks[f].numpy()], atol=1e-12)


@pytest.mark.parametrize("per_group", [1, 4, 64])
def test_fits_that_share_a_program_see_the_same_table(per_group):
    table = torch.as_tensor(np.random.default_rng(0).integers(7, size=50))
    layout = Layout.of_several(table, 9, per_group)
    assert len(layout) == layout.n_groups * per_group
    assert torch.equal(layout.order[layout.place], torch.arange(50))
    assert int((layout.order >= 0).sum()) == 50
    for group in layout.order.reshape(-1, per_group):
        fits = group[group >= 0]
        assert len(table[fits].unique()) <= 1
        assert len(fits) == 0 or int(group[0]) >= 0
    torch.testing.assert_close(layout.filled(table)[layout.place], table)
    one = Layout.of_one_table(50, per_group, "cpu")
    assert one.order[one.place].tolist() == list(range(50))
    assert (one.order[50:] == -1).all()
