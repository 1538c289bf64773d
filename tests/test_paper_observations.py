"""What the paper observes about the classical indices, on its own benchmark shapes (section C)."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import clustrep as cr


@pytest.fixture(scope="session")
def shape(data_folder):
    return lambda name: np.loadtxt(data_folder / "shapes" / f"{name}.txt")[:, :2]


def test_in_group_proportion_is_near_one_also_for_spurious_clusters(shape):
    """Aggregation has seven groups; ten clusters cut through some of them."""
    result = cr.in_group_proportion(shape("aggregation"), clusterer=KMeans(10, n_init=10), rng=0)
    assert len(result.proportions) == 10
    assert result.proportions.min() > 0.9


def test_in_group_proportion_is_less_sure_with_more_neighbours(shape):
    js = [1, 2, 5, 10]
    result = cr.in_group_proportion(shape("aggregation"), clusterer=KMeans(10, n_init=10), n_neighbors=js, rng=0)
    assert (np.diff(result.overall) < 0).all()
    assert result.proportions[-1].min() < 0.8


@pytest.mark.parametrize(("name", "n_groups"), [("aggregation", 7), ("compound", 6)])
def test_prediction_strength_prefers_few_clusters(shape, name, n_groups):
    result = cr.prediction_strength(KMeans(n_init=10), shape(name), n_clusters=range(2, 11), n_splits=20, rng=0)
    assert result.best_n_clusters <= 3
    assert result.best_n_clusters < n_groups
    # The minimum hides that most clusters do well: what the paper advises to look at.
    at_seven = result.per_cluster[7]
    assert np.nanmedian(at_seven) > result.strength[5] + 0.2


def test_prediction_strength_finds_fifteen_round_clusters(shape):
    result = cr.prediction_strength(KMeans(n_init=10), shape("r15"), n_clusters=range(2, 21), n_splits=20, rng=0)
    assert result.best_n_clusters == 15
    assert result.recommended() == 15


def test_d_index_must_be_relative_where_sizes_are_unbalanced(shape):
    """With seven clusters for the fifteen of r15, one holds the eight in the middle: the largest, the most stable."""
    X = shape("r15")
    options = {"index": "d", "n_resamples": 50, "rng": 0}
    absolute = cr.stability(KMeans(7, n_init=10), X, **options)
    relative = cr.stability(KMeans(7, n_init=10), X, relative=True, **options)
    largest = int(np.argmax(absolute.sizes))
    assert absolute.sizes[largest] > 3 * np.sort(absolute.sizes)[-2]
    assert np.argmax(absolute.per_cluster) == largest
    assert np.argmin(relative.per_cluster) == largest


def test_smolkin_ghosh_inclusion_is_high_for_spurious_clusters(shape):
    """With all features, new starts alone: three clusters of aggregation's seven groups are kept again and again."""
    result = cr.stability(
        KMeans(3, n_init=10), shape("aggregation"), index="inclusion", perturbation=cr.Rerun(), n_resamples=50, rng=0
    )
    assert (result.per_cluster >= 0.85).all()
