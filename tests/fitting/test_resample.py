"""Points, the distances that they keep, and draws of them."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr
from clustrep.execution.seeds import FULL_STUDY
from clustrep.fitting.resample import PointSet, Source


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


# ---------------------------------------------------------------------------------------------------------------------
# draws of many replicates


class TwiceTheFirst(cr.resampling.Bootstrap):
    """A bootstrap of the user's own, which always draws the first sample."""

    def change(self, draw, rng):
        changed = super().change(draw, rng)
        changed.order[0] = 0
        return changed


RESAMPLINGS = {
    "bootstrap": cr.resampling.Bootstrap(),
    "distinct": cr.resampling.Bootstrap(distinct=True),
    "units": cr.resampling.Bootstrap(groups="donor"),
    "subsample": cr.resampling.Subsample(0.6),
    "noise": cr.resampling.Bootstrap() + cr.resampling.Jitter(0.1),
    "the user's own": TwiceTheFirst(),
    "simulated": cr.resampling.Simulate(lambda study, rng: rng.normal(size=study.X.shape)),
}


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("name", RESAMPLINGS)
def test_draws_made_together_are_those_made_one_by_one(name, second, rng):
    study = cr.Study(rng.normal(size=(40, 3)), "a", groups={"donor": np.repeat(list("abcde"), 8)})
    source, points = Source(RESAMPLINGS[name], 2**70 + 5), PointSet(study.X)
    replicates = [7, FULL_STUDY, 1, 2**20]
    drawn = source.resamples(study, points, replicates, second=second, together=True)
    assert [sample.replicate for sample in drawn] == replicates
    for sample in drawn:
        (expected,) = source.resamples(study, points, [sample.replicate], second=second)
        np.testing.assert_array_equal(sample.draw.order, expected.draw.order, strict=True)
        np.testing.assert_array_equal(sample.points.X, expected.points.X)
        assert (sample.points is points) == (expected.points is points)
        assert sample.draw.study == expected.draw.study
        assert sample.draw.groups is expected.draw.groups or not sample.draw.groups
        assert sample.second is second


def test_only_what_has_a_kernel_is_drawn_together(rng):
    study = cr.Study(rng.normal(size=(40, 3)), "a", groups={"donor": np.repeat(list("abcde"), 8)})
    words = np.zeros((2, 5), np.uint32)
    together = {name for name, drawing in RESAMPLINGS.items() if getattr(drawing, "draw_many", None)}
    together = {name for name in together if RESAMPLINGS[name].draw_many(study, words) is not None}
    assert together == {"bootstrap", "distinct"}
