"""One study in one replicate: its draw, its seeds, and what a clustering function says of it.

Pure functions of what they are given: the same study, clusterer, root seed and replicate number give the same bits,
whoever else is in the run and wherever it happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clustrep._engine import FULL_STUDY, Stream, make_generator, seed_of
from clustrep._points import PointSet
from clustrep.contingency import Partition
from clustrep.functions import Clusterer, KnownLabels, asked_n_clusters, fewest_clusters, with_n_clusters
from clustrep.resampling import Draw, Resampling, whole
from clustrep.study import Study

ONLY_NOISE = "fewer than two points left after dropping noise"
FEWER_CLUSTERS = "fewer clusters than asked for"
FEW_DISTINCT_POINTS = "more clusters asked for than there are distinct points"


@dataclass(frozen=True, eq=False)
class Configuration:
    """A clusterer, ready to be fitted, under the name that results give it."""

    name: str
    clusterer: Any  # a clusterer, or known labels

    @cached_property
    def n_clusters(self) -> int | None:
        """The number of clusters asked for; None where the clusterer finds it by itself."""
        return None if isinstance(self.clusterer, KnownLabels) else asked_n_clusters(self.clusterer)

    @cached_property
    def fewest_clusters(self) -> int:
        """How many clusters a fit must have to count."""
        return 0 if isinstance(self.clusterer, KnownLabels) else fewest_clusters(self.clusterer)


def configurations_of(name: str, clusterer: Clusterer, numbers: Sequence[int] | None) -> list[Configuration]:
    """Make a configuration for every number of clusters; one with the clusterer as it is where there are none."""
    if numbers is None:
        return [Configuration(name, clusterer)]
    return [Configuration(name, with_n_clusters(clusterer, k)) for k in numbers]


@dataclass(frozen=True, eq=False)
class Labelled:
    """What one clustering function says of several sets of points."""

    partitions: Sequence[Partition]
    n_clusters: int  # in its own draw

    def at(self, place: int) -> Partition:
        """Return the partition of one of these sets."""
        return self.partitions[place]


@dataclass(frozen=True, eq=False)
class Sample:
    """One study in one replicate."""

    study: Study
    draw: Draw
    points: PointSet  # the draw's, all of them
    originals: PointSet  # the study's own, with the features drawn
    root: int
    replicate: int
    second: bool

    def seed(self, n_clusters: int | None) -> np.random.SeedSequence:
        """Return the seed of a clusterer that is fitted to this sample."""
        stream = Stream.SECOND_FIT if self.second else Stream.FIT
        return seed_of(self.root, stream, self.study.name, self.replicate, n_clusters)


@dataclass(frozen=True, eq=False)
class Source:
    """What all replicates of a run have in common, whatever is done with them."""

    resampling: Resampling
    root: int
    accelerate: bool = True

    def draw(self, study: Study, replicate: int, *, second: bool = False) -> Draw:
        """Draw the study for this replicate; `second` is another, independent draw of it."""
        if replicate == FULL_STUDY:
            return whole(study)
        seed = seed_of(self.root, Stream.SECOND_DRAW if second else Stream.DRAW, study.name, replicate)
        return self.resampling.draw(study, make_generator(seed))

    def sample(self, study: Study, points: PointSet, replicate: int, *, second: bool = False) -> Sample:
        """Draw the study, whose points are kept in `points`."""
        draw = self.draw(study, replicate, second=second)
        known = {id(study.X): points}
        for X in (draw.originals, draw.points):
            known.setdefault(id(X), PointSet(X))
        return Sample(study, draw, known[id(draw.points)], known[id(draw.originals)], self.root, replicate, second)
