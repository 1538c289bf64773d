"""One study in one replicate: its draw, and the clustering function learned from it.

Pure functions of what they are given: the same study, clusterer, root seed and replicate number give the same bits,
whoever else is in the run and wherever it happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from clustrep._engine import FULL_STUDY, Failed, ReplicateFailure, Stream, attempt, make_generator, seed_of
from clustrep._types import FloatArray
from clustrep.contingency import Partition, encode
from clustrep.functions import (
    Clusterer,
    ClusteringFunction,
    KnownLabels,
    asked_n_clusters,
    count_clusters,
    fewest_clusters,
    learn,
    learn_known,
)
from clustrep.resampling import Draw, Resampling, whole
from clustrep.study import Study

FEWER_CLUSTERS = "fewer clusters than asked for"
FEW_DISTINCT_POINTS = "more clusters asked for than there are distinct points"


@dataclass(frozen=True, eq=False)
class Configuration:
    """A clusterer, ready to be fitted, under the name that results give it."""

    name: str
    clusterer: Clusterer | KnownLabels

    @cached_property
    def n_clusters(self) -> int | None:
        """The number of clusters asked for; None where the clusterer finds it by itself."""
        return None if isinstance(self.clusterer, KnownLabels) else asked_n_clusters(self.clusterer)

    @cached_property
    def fewest_clusters(self) -> int:
        """How many clusters a fit must have to count."""
        return 0 if isinstance(self.clusterer, KnownLabels) else fewest_clusters(self.clusterer)


@dataclass(frozen=True, eq=False)
class Labelled:
    """What one clustering function says of several sets of points."""

    partitions: Sequence[Partition]
    n_clusters: int  # in its own draw

    def at(self, place: int) -> Partition:
        """Return the partition of one of these sets."""
        return self.partitions[place]


@dataclass(frozen=True, eq=False)
class Source:
    """What all replicates of a run have in common, whatever is done with them."""

    resampling: Resampling
    root: int

    def draw(self, study: Study, replicate: int, *, second: bool = False) -> Draw:
        """Draw the study for this replicate; `second` is another, independent draw of it."""
        if replicate == FULL_STUDY:
            return whole(study)
        seed = seed_of(self.root, Stream.SECOND_DRAW if second else Stream.DRAW, study.name, replicate)
        return self.resampling.draw(study, make_generator(seed))

    def function(
        self, configuration: Configuration, study: Study, draw: Draw, replicate: int, *, second: bool = False
    ) -> ClusteringFunction:
        """Learn ψ(· ; A, X⁽ᵇ⁾)."""
        if isinstance(configuration.clusterer, KnownLabels):
            return learn_known(draw.sample, configuration.clusterer.labels[study.name][draw.order])
        stream = Stream.SECOND_FIT if second else Stream.FIT
        seed = seed_of(self.root, stream, study.name, replicate, configuration.n_clusters)
        return learn(configuration.clusterer, draw.sample, seed)

    def labels(
        self,
        configuration: Configuration,
        study: Study,
        draw: Draw,
        replicate: int,
        at: Sequence[FloatArray],
        *,
        second: bool = False,
    ) -> Labelled | Failed:
        """Learn ψ and apply it to every set of points in `at`."""

        def learn_and_apply() -> Labelled:
            function = self.function(configuration, study, draw, replicate, second=second)
            own = function.labels(draw.points)
            n_clusters = count_clusters(own[draw.weights > 0])
            if n_clusters < configuration.fewest_clusters:
                raise ReplicateFailure(FEWER_CLUSTERS)
            known = {id(draw.points): own}
            for points in at:
                if id(points) not in known:
                    known[id(points)] = function.labels(points)
            return Labelled(encode([own, *(known[id(points)] for points in at)])[1:], n_clusters)

        outcome = attempt(learn_and_apply)
        # Clusterers say this in many ways, or crash on it.
        if isinstance(outcome, Failed) and configuration.fewest_clusters > draw.n_distinct():
            return Failed(FEW_DISTINCT_POINTS)
        return outcome
