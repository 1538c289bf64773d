"""Points and the distances that they keep."""

from __future__ import annotations

import gc
import pickle

import numpy as np
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr
from clustrep.clustering.sample import PointSet


def alive():
    # The type itself: `isinstance` asks weak proxies for their object, which may be gone.
    return sum(issubclass(type(thing), PointSet) for thing in gc.get_objects())


def test_simulated_collections_are_freed_without_the_cyclic_collector(rng):
    studies = [rng.normal(size=(30, 20)) for _ in range(2)]  # so many features that distances are kept
    result = cr.compare(AgglomerativeClustering(), studies, n_clusters=[2, 3], n_resamples=1, rng=0)
    cr.null_reference(result, 1)
    gc.collect()
    before = alive()
    gc.disable()
    try:
        cr.null_reference(result, 3)
        assert alive() == before
    finally:
        gc.enable()


def test_sets_that_know_each_others_distances_travel_together(rng):
    a, b = (PointSet(rng.normal(size=(n, 3)), None, True, True) for n in (4, 5))
    expected = a.distances_from(b, "euclidean"), b.distances_from(a, "euclidean")
    a2, b2 = pickle.loads(pickle.dumps((a, b)))
    assert list(a2._others) == [b2]
    assert list(b2._others) == [a2]
    np.testing.assert_array_equal(a2.distances_from(b2, "euclidean"), expected[0])
    np.testing.assert_array_equal(b2.distances_from(a2, "euclidean"), expected[1])
