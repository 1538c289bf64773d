"""Noise and failed fits in consensus and assignment consistency."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.stability.consensus.cases import (
    ROOT,
    WARD,
    assert_assignments,
    draws,
    far_is_noise,
    relabelled,
    scripted,
    slices,
)

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ReplicateWarning

# ---------------------------------------------------------------------------------------------------------------------
# noise


def test_consensus_may_count_noise_as_not_drawn(X):
    perturbation = cr.resampling.Subsample(0.8)
    run = {"perturbation": perturbation, "n_resamples": 8, "rng": ROOT}
    results = {noise: cr.stability.consensus(far_is_noise, X, noise=noise, **run) for noise in ("label", "drop")}
    assert not np.array_equal(results["label"].matrix(), results["drop"].matrix(), equal_nan=True)
    reference = far_is_noise(X)
    for noise, result in results.items():
        together, both = np.zeros((2, 12, 12))
        for draw in draws(X, perturbation, 8):
            labels, rows = relabelled(far_is_noise, draw)
            there = [i for i in rows if noise == "label" or labels[i] != -1]
            for i, j in itertools.product(there, there):
                both[i, j] += 1
                together[i, j] += labels[i] == labels[j]
        expected = np.where(both > 0, together / np.maximum(both, 1), np.nan)
        np.testing.assert_array_equal(result.matrix(), expected)
        names = result.clusters[0].tolist()
        for c in (0, 1):
            own = np.flatnonzero(reference == c)
            values = [expected[i, j] for i, j in itertools.combinations(own, 2) if both[i, j]]
            at = result.cluster_consensus[0, names.index(str(c))]
            assert at == pytest.approx(np.mean(values), rel=1e-13)
        ratios = [expected[i, j] for i, j in itertools.combinations(range(12), 2) if both[i, j]]
        assert result.cdf(0.5) == pytest.approx(np.mean([ratio <= 0.5 for ratio in ratios]))
        assert result.pac().item() == pytest.approx(np.mean([0.1 < ratio <= 0.9 for ratio in ratios]))


@pytest.mark.parametrize("verb", [cr.stability.consensus, cr.stability.assignment_consistency])
def test_noise_that_is_dropped_is_no_cluster(verb, X):
    result = verb(far_is_noise, X, noise="drop", n_resamples=8, rng=ROOT)
    assert result.to_frame()["cluster"].tolist() == ["0", "1", "all"]


@pytest.mark.parametrize("verb", [cr.stability.consensus, cr.stability.assignment_consistency])
def test_the_provenance_says_what_noise_was_taken_for(verb, X):
    assert verb(far_is_noise, X, noise="drop", n_resamples=8, rng=ROOT).provenance["noise"] == "drop"


def test_assignments_leave_out_samples_that_either_side_calls_noise(X):
    perturbation = cr.resampling.Subsample(0.6)
    run = {"perturbation": perturbation, "n_resamples": 8, "rng": ROOT}
    classes, reference = np.unique(far_is_noise(X), return_inverse=True)
    assert classes.tolist() == [-1, 0, 1]
    counts, totals = np.zeros((12, 3), dtype=int), np.zeros(12, dtype=int)
    n_other = 0  # noise on one side alone
    for draw in draws(X, perturbation, 8):
        labels, rows = relabelled(far_is_noise, draw)
        either = [i for i in range(12) if labels[i] == -1 or reference[i] == 0]
        n_other += sum((labels[i] == -1) != (reference[i] == 0) for i in either)
        left = [i for i in range(12) if i not in either]
        kept = {
            swap: sum(labels[i] == (classes[reference[i]] if not swap else 1 - classes[reference[i]]) for i in left)
            for swap in (False, True)
        }
        assert kept[False] != kept[True]
        swap = kept[True] > kept[False]
        partner = {0: 1 + swap, 1: 2 - swap}
        shared = {new: any(labels[i] == new and reference[i] == partner[new] for i in left) for new in (0, 1)}
        for i in left:
            if i not in rows:
                totals[i] += 1
                if shared[labels[i]]:
                    counts[i, partner[labels[i]]] += 1
    assert n_other
    result = cr.stability.assignment_consistency(far_is_noise, X, noise="drop", **run)
    assert_assignments(result, 0, counts, totals, reference)
    assert not result.counts[0, :, 0].any()
    assert (result.totals[0, reference == 0] == 0).all()
    plain = cr.stability.assignment_consistency(far_is_noise, X, **run)
    assert plain.totals.sum() > result.totals.sum()


@pytest.mark.parametrize("verb", [cr.stability.consensus, cr.stability.assignment_consistency])
def test_without_noise_there_is_nothing_to_drop(verb, X):
    one, other = (
        verb(slices, X, n_clusters=[2, 3], n_resamples=4, rng=ROOT, noise=noise) for noise in ("label", "drop")
    )
    for name in ("counts", "failed", "labels"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


# ---------------------------------------------------------------------------------------------------------------------
# failures


@pytest.fixture
def failing():
    """Six points, eight resamples of them, of which the second and the fifth fail."""
    fits = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]]
    script = [fits[0], fits[1], ValueError("no luck."), fits[2], fits[0], RuntimeError(), fits[1], fits[1], fits[0]]
    message = r"^2 fits of 8 failed and were omitted: ValueError: no luck \(1\); RuntimeError \(1\)\.$"

    def run(verb):
        options = {"perturbation": cr.resampling.Rerun(), "n_resamples": 8, "rng": 0, "n_jobs": 1}
        with pytest.warns(ReplicateWarning, match=message):
            return verb(scripted(*script), np.arange(6.0)[:, None], **options)

    return run


def test_consensus_leaves_failed_fits_out(failing):
    result = failing(cr.stability.consensus)
    assert result.failed[:, 0].tolist() == [0, 1, 0, 0, 2, 0, 0, 0]
    assert result.failures == {"ValueError: no luck": 1, "RuntimeError": 1}
    assert (result.codes[0, [1, 4]] == -1).all()
    matrix = result.matrix()
    assert matrix[0, 3] == 3 / 6
    assert matrix[2, 3] == (3 + 1) / 6
    assert result.counts[0, :, 6].sum() == result.n_pairs == 15
    assert "Failed: 1 value: ValueError: no luck\nFailed: 1 value: RuntimeError" in repr(result)


def test_assignment_consistency_leaves_failed_fits_out(failing):
    result = failing(cr.stability.assignment_consistency)
    assert result.failed[:, 0].tolist() == [0, 1, 0, 0, 2, 0, 0, 0]
    assert result.failures == {"ValueError: no luck": 1, "RuntimeError": 1}
    assert (result.totals == 6).all()
    assert result.counts[0].tolist() == [[6, 0], [6, 0], [5, 1], [3, 3], [0, 6], [0, 6]]
    assert result.modal[0].tolist() == [0, 0, 0, 1, 1, 1]  # of equally frequent ones its own
    assert "Failed: 1 value: ValueError: no luck" in repr(result)


@pytest.mark.parametrize("verb", [cr.stability.consensus, cr.stability.assignment_consistency])
def test_everything_failing_raises(verb, X):
    labels = [0] * 6 + [1] * 6

    def never(X):
        raise ValueError("no luck")

    with pytest.raises(AllReplicatesFailed, match=r"^Not one resample could be scored; 3 fits failed: ValueError: no"):
        verb(never, X, labels=labels, n_resamples=3, rng=0)
    with pytest.raises(AllReplicatesFailed, match="never failed on the data as they are, so there are no clusters"):
        verb(never, X, n_resamples=3, rng=0)
    with pytest.raises(AllReplicatesFailed, match="AgglomerativeClustering, k = 13 failed on the data as they are"):
        verb(WARD, X, n_clusters=[2, 13], n_resamples=3, rng=0)


def one_k_fails(verb, X):
    """Twelve clusters can be had of twelve samples, but not of the nine that are drawn."""
    with pytest.warns(ReplicateWarning, match="4 fits of 8 failed.*more clusters asked for than there are distinct"):
        return verb(WARD, X, n_clusters=[12, 2], n_resamples=4, rng=ROOT)


def test_consensus_has_no_value_for_a_k_that_always_fails(X):
    result = one_k_fails(cr.stability.consensus, X)
    assert np.isnan(result.pac()).tolist() == [True, False]
    assert result.best_n_clusters == 2
    assert "NaN" in repr(result)
    assert result.to_frame()["pac"].notna().sum() == 1
    result.plot()


def test_consensus_has_no_value_where_no_counted_pair_was_drawn(X):
    run = {"n_clusters": 2, "n_resamples": 1, "rng": 2}
    result = cr.stability.consensus(slices, X, perturbation=cr.resampling.Subsample(0.2), n_pairs=2, **run)
    assert result.counts[0, 0, 0] == 2
    assert np.isnan(result.pac()).all()


def test_assignment_consistency_has_no_value_for_a_k_that_always_fails(X):
    result = one_k_fails(cr.stability.assignment_consistency, X)
    assert np.isnan(result.twcri).tolist() == [True, False]
    assert result.best_n_clusters == 2
