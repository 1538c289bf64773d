"""Simulated studies are what their documentation says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from clustrep import datasets
from clustrep.errors import ParameterError


def test_all_is_what_is_there():
    assert datasets.__all__ == sorted(datasets.__all__)
    assert all(callable(getattr(datasets, name)) for name in datasets.__all__)


@pytest.mark.parametrize(("dimensions", "n_clusters"), [(64, 16), (32, 16), (2, 9), (1, 3), (128, 40)])
def test_simulated_clusters_are_as_far_apart_as_the_words_say(dimensions, n_clusters):
    study = datasets.simulate_dim(dimensions, n_clusters, n_samples=30 * n_clusters, rng=3)
    assert study.name == f"dim{dimensions:03d}"
    groups = [study.X[study.labels == cluster] for cluster in range(1, n_clusters + 1)]
    centres = np.array([group.mean(axis=0) for group in groups])
    deviation = np.sqrt(np.mean([group.var(axis=0, ddof=1) for group in groups]))
    assert deviation == pytest.approx(2, rel=0.2)
    assert pdist(centres).min() > 0.9 * 10 * 2 * np.sqrt(dimensions)
    assert centres.min() > 32 - 2
    assert centres.max() < 222 + 2
    # Single linkage could not go wrong: the nearest point of another cluster is farther than any of one's own.
    widest = max(pdist(group).max() for group in groups)
    between = min(
        np.linalg.norm(group[:, None] - other[None], axis=2).min()
        for group in groups
        for other in groups
        if group is not other
    )
    assert widest < between


def test_simulated_sizes_differ_by_at_most_one():
    study = datasets.simulate_dim(8, 3, 101, rng=0)
    assert np.bincount(study.labels)[1:].tolist() == [34, 34, 33]
    assert np.all(np.diff(study.labels) >= 0)


def test_the_defaults_are_those_of_dim064():
    study = datasets.simulate_dim(rng=0)
    assert study.X.shape == (1024, 64)
    assert np.bincount(study.labels)[1:].tolist() == [64] * 16


def test_a_seed_gives_the_same_set():
    first, again, other = (datasets.simulate_dim(rng=seed).X for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dimensions": 0}, r"dimensions must be a positive integer, got 0\."),
        ({"n_clusters": 1}, r"n_clusters must be an integer of at least 2, got 1\."),
        ({"n_clusters": 5, "n_samples": 4}, r"n_samples must be an integer of at least 5, got 4\."),
        ({"dimensions": 1, "n_clusters": 30}, r"no room for 30 clusters .* in 1 dimension: take fewer clusters"),
    ],
)
def test_clusters_that_can_not_be_simulated(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        datasets.simulate_dim(**options, rng=0)
