"""Pipelines in two parts: the first steps, fitted once to every resample, and a learner for the last step.

Each training draw defines its own space, in which its clusterer is fitted and in which test studies are labelled. Any
learner works inside, so that kernels and shortcuts stay in use; steps that are equal in several configurations are
fitted once for each draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.pipeline import Pipeline

from clustrep.execution.seeds import ReplicateFailure, Stream, seed_of
from clustrep.fitting.function import ClusteringFunction
from clustrep.fitting.learners import AroundLearner, FittedFunction, Learner
from clustrep.fitting.parameters import Clusterer, Configuration, with_seed
from clustrep.fitting.resample import PointSet, Resample
from clustrep.types import FloatArray, Labels

NOT_FINITE = "the transformer returned values that are missing or infinite"


NOT_A_TABLE = "the transformer did not return a table with one row for every sample"


# Numbers that a transformer compares for every value of a table, roughly.
WORK_PER_VALUE = 500.0


@dataclass(frozen=True, eq=False)
class Space:
    """The space that a transformer makes, fitted to one draw."""

    transformer: Any  # fitted
    resample: Resample  # the draw in this space
    _places: WeakKeyDictionary[PointSet, PointSet] = field(default_factory=WeakKeyDictionary)

    @classmethod
    def of(cls, transformer: Any, resample: Resample) -> Space:
        """Fit a copy of a transformer to the drawn rows, written out."""
        seed = seed_of(resample.root, Stream.TRANSFORM, resample.study.name, resample.replicate, int(resample.second))
        fitted = with_seed(transformer, seed).fit(resample.draw.sample)
        points = PointSet(_transformed(fitted, resample.points.X))
        draw = replace(resample.draw, points=points.X, originals=points.X)
        within = replace(
            resample, study=resample.study.with_table(points.X), draw=draw, points=points, originals=points
        )
        space = cls(fitted, within)
        space._places[resample.points] = points
        return space

    def place(self, points: PointSet) -> PointSet:
        """Return points in this space; computed once for each set."""
        if points not in self._places:
            self._places[points] = PointSet(_transformed(self.transformer, points.X))
        return self._places[points]


def _transformed(fitted: Any, X: FloatArray) -> FloatArray:
    result = fitted.transform(np.array(X))  # a copy, because a transformer may change it
    table = np.asarray(result if not hasattr(result, "toarray") else result.toarray())
    if table.ndim != 2 or len(table) != len(X):
        raise ReplicateFailure(NOT_A_TABLE)
    table = np.ascontiguousarray(table, dtype=np.float32 if table.dtype == np.float32 else np.float64)
    if not np.isfinite(table).all():
        raise ReplicateFailure(NOT_FINITE)
    return table


class Spaces(WeakKeyDictionary[Resample, Space]):
    """The spaces of resamples, kept as long as these; another process makes its own."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Spaces, ()


class Shared(NamedTuple):
    """What all members of a learner have in common: the space, and what the learner inside learned there."""

    space: Space
    inside: Any


@dataclass(frozen=True, eq=False)
class TransformedFunction(FittedFunction):
    """ψ after a transformer."""

    psi: FittedFunction
    space: Space

    @property
    def classes(self) -> Labels | None:  # type: ignore[override]
        """Those of ψ in the space."""
        return self.psi.classes

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""
        return self.psi.labels(self.space.place(points))


@dataclass(frozen=True, eq=False)
class _AfterTransformer:
    """A clustering function of points with all features."""

    transformer: Any
    function: ClusteringFunction

    def __call__(self, X: FloatArray) -> Labels:
        return self.function.labels(_transformed(self.transformer, X))


class TransformedLearner(AroundLearner):
    """Pipelines with the same first steps; a learner of their last steps works in the space that these make of a draw.

    members : the pipelines; those of `learner` are their last steps
    spaces : shared by all learners whose first steps are the same
    """

    in_threads = False

    def __init__(self, learner: Learner, members: Sequence[Configuration], spaces: Spaces):
        super().__init__(learner)
        self.members = tuple(members)
        self._spaces = spaces

    def work(self, points: PointSet) -> float:
        """Estimate how many numbers are compared in one resample."""
        return self.learner.work(points) + WORK_PER_VALUE * points.X.size

    def share(self, resample: Resample) -> Shared:
        """Fit the transformer, and learn in its space what all members have in common."""
        if resample not in self._spaces:
            self._spaces[resample] = Space.of(self.members[0].first_steps, resample)
        space = self._spaces[resample]
        return Shared(space, self.learner.share(space.resample))

    def psi(self, shared: Shared, resample: Resample, configuration: Configuration) -> FittedFunction:
        """Learn in the space."""
        psi = self.learner.psi(shared.inside, shared.space.resample, configuration.last_step)
        return TransformedFunction(psi, shared.space)

    def function(self, psi: Any, resample: Resample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it: the transformer first."""
        space: Space = psi.space
        inside = self.learner.function(psi.psi, space.resample, configuration.last_step)
        clusterer = inside.clusterer
        if isinstance(space.transformer, Pipeline) and clusterer is not None:
            clusterer = Pipeline([*space.transformer.steps, (configuration.clusterer.steps[-1][0], clusterer)])
        predict = _AfterTransformer(space.transformer, inside)
        return ClusteringFunction(predict, resample.study.X, clusterer, classifier=inside.classifier)

    def fitted(self, psi: Any, resample: Resample, configuration: Configuration) -> Clusterer:
        """Return the pipeline, fitted."""
        return self.function(psi, resample, configuration).clusterer


def transformed_learners(
    learners: Sequence[Learner], members: Sequence[Configuration], spaces: Spaces
) -> list[Learner]:
    """Let learners of the last steps of some pipelines, one after the other, work in the space of their first steps."""
    rest, transformed = list(members), list[Learner]()
    for learner in learners:
        transformed.append(TransformedLearner(learner, rest[: len(learner.members)], spaces))
        rest = rest[len(learner.members) :]
    return transformed
