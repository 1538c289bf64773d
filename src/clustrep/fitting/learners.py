"""Learners: configurations that are learned together from resamples of the studies.

A learner has a clusterer with several numbers of clusters, or with one. `accelerate=False` makes every learner a plain
one: the clusterer itself, fitted to the rows written out.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from clustrep.agreement.agreements import Agreement
from clustrep.agreement.batches import LabelBatch, PairScores, score_batch
from clustrep.agreement.contingency import Partition, encode
from clustrep.cached import cached_property
from clustrep.execution.devices import PROCESSOR
from clustrep.execution.seeds import Failed, ReplicateFailure, Stream, attempt, seed_of
from clustrep.fitting.function import ClusteringFunction, learn, learn_known, takes_nearest
from clustrep.fitting.parameters import Clusterer, Configuration, KnownLabels, count_clusters, with_seed
from clustrep.fitting.resample import (
    FEW_DISTINCT_POINTS,
    FEWER_CLUSTERS,
    Labelled,
    LandmarkDraw,
    PointSet,
    Resample,
)
from clustrep.fitting.rotation import Rotation, in_coordinates, with_features
from clustrep.types import FloatArray, IntArray, Labels


class FittedFunction(ABC):
    """A clustering function inside a run: it labels sets of points that other functions label, too."""

    classes: Labels | None = None  # all labels that it can give, where they are 0, 1, …

    @abstractmethod
    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""


class Learner(ABC):
    """Configurations that differ in the number of clusters alone, or a single one."""

    takes_series: ClassVar[bool] = False  # whether they may also differ in the value of another parameter

    compiled: ClassVar[bool] = True  # whether there are kernels in it
    in_threads: ClassVar[bool] = True  # whether its time is spent in kernels, which let other threads run
    device: str = PROCESSOR  # where nearest points are found and tables are counted
    takes_weights: ClassVar[bool] = True  # whether a point with a weight counts like as many copies of it

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether it replaces the clusterer exactly: one of that class, with parameters that are supported."""
        return False

    def __init__(self, members: Sequence[Configuration], rotation: Rotation | None):
        self.members = tuple(members)
        self.rotation = rotation

    @property
    def here(self) -> bool:
        """Whether it works on a device that this process holds."""
        return self.device != PROCESSOR

    @property
    def searches(self) -> bool:
        """Whether a point has the label of the nearest that was drawn, which a device can find."""
        return False

    @property
    def by_lists(self) -> bool:
        """Whether that point is the nearest in the learner's coordinates, by Euclidean distance."""
        return self.searches

    def on(self, device: str) -> Learner:
        """Return the learner that does on a device what it can do there; itself where that is nothing."""
        if device == PROCESSOR or not self.searches:
            return self
        learner = copy.copy(self)
        learner.device = device
        return learner

    def space(self, points: PointSet) -> PointSet:
        """Return the points in the coordinates in which this learner works."""
        if self.rotation is None:
            return points
        assert points.rotated is not None
        return points.rotated

    def prepare(self, places: Sequence[PointSet]) -> None:  # noqa: B027 - most have nothing to make
        """Make what all resamples of the studies share."""

    def work(self, points: PointSet) -> float:
        """Estimate how many numbers the kernels compare in one resample.

        Parameters
        ----------
        points : PointSet
            The samples of a study.

        Returns
        -------
        float
            In `NUMBERS_PER_SECOND`; it only decides who computes a run.
        """
        return 0.0

    def batch(self, places: Sequence[PointSet]) -> int:
        """Say from how many replicates it likes to learn at once.

        Parameters
        ----------
        places : sequence of PointSet
            The samples of every study.

        Returns
        -------
        int
            What is learned from a resample does not depend on it.
        """
        return 1

    def memory(self, n_samples: int) -> float:
        """Estimate how many bytes one fit needs, where that grows with the square of the samples."""
        return 0.0

    @abstractmethod
    def share(self, resample: Resample) -> Any:
        """Learn what all members have in common."""

    @abstractmethod
    def psi(self, shared: Any, resample: Resample, configuration: Configuration) -> FittedFunction:
        """Learn ψ(· ; A, X⁽ᵇ⁾) for one member.

        Parameters
        ----------
        shared : object
            What `share` returned for this resample.
        resample : Resample
            Whose drawn samples are learned from.
        configuration : Configuration
            The member.

        Returns
        -------
        FittedFunction
        """

    def function(self, psi: Any, resample: Resample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it: of points with all features.

        Parameters
        ----------
        psi : FittedFunction
            What `psi` returned.
        resample : Resample
            From which it was learned.
        configuration : Configuration
            The member.

        Returns
        -------
        ClusteringFunction
        """
        fitted = self.fitted(psi, resample, configuration)
        return ClusteringFunction(Prediction(psi, self.rotation), resample.study.X, fitted)

    @abstractmethod
    def fitted(self, psi: Any, resample: Resample, configuration: Configuration) -> Clusterer:
        """Return the member as it would be after fitting, for the user to inspect."""

    def learn(self, resamples: Sequence[Resample], at: Sequence[Sequence[PointSet]] | None = None) -> Sequence[Fit]:
        """Learn from many resamples at once, of any studies and replicates; learning from one is lazy.

        This is where compiled batches and accelerators come in: a learner that gains from many resamples overrides it,
        and sets in `batch` how many replicates it takes. A fit must not depend on the other resamples.
        `at` says for every resample which points its clustering functions will be asked about.
        """
        return [Fit(self, resample) for resample in resamples]

    def score_pairs(
        self,
        learned: Sequence[Fit],
        learned_again: Sequence[Fit],
        n_studies: int,
        agreements: Sequence[Agreement],
        *,
        spread: bool = False,
    ) -> PairScores | None:
        """Score all ordered pairs of studies in some replicates, from all their labels together; None: ask for labels.

        learned : from the resamples of all studies, one replicate after the other
        learned_again : from independent draws of the same, or none
        spread : whether that between clusters is asked for, too; of draws without weights
        """
        batch = None if spread else self.label_batch(learned)
        return None if batch is None else score_batch(batch, self.label_batch(learned_again), n_studies, agreements)

    def label_batch(self, learned: Sequence[Fit]) -> LabelBatch | None:
        """Return a function that labels points for all resamples together; None where there is none, or no resample."""
        return None


@dataclass(frozen=True, eq=False)
class Fit:
    """What a learner learned from one resample."""

    learner: Learner
    resample: Resample

    @cached_property
    def _shared(self) -> Any:
        return attempt(self.learner.share, self.resample)

    def _psi(self, configuration: Configuration) -> FittedFunction:
        if isinstance(self._shared, Failed):
            raise ReplicateFailure(self._shared.cause)
        return self.learner.psi(self._shared, self.resample, configuration)

    def labels(self, member: int, at: Sequence[PointSet]) -> Labelled | Failed:
        """Apply the clustering function of one member to every set of points in `at`."""
        applied = self.applied(member, at)
        return applied if isinstance(applied, Failed) else applied[1]

    def applied(self, member: int, at: Sequence[PointSet]) -> tuple[FittedFunction, Labelled] | Failed:
        """Return the clustering function of one member, and what it says of every set of points in `at`.

        Parameters
        ----------
        member : int
            Which of the learner's configurations.
        at : sequence of PointSet
            Samples to be labelled.

        Returns
        -------
        tuple of (FittedFunction, Labelled), or Failed
            Failed with a cause where the fit raised an error, or found fewer clusters than were asked for.
        """
        configuration = self.learner.members[member]
        outcome = attempt(self._apply, configuration, at)
        # Clusterers report this by different errors.
        if isinstance(outcome, Failed) and configuration.fewest_clusters > self.resample.draw.n_distinct():
            return Failed(FEW_DISTINCT_POINTS)
        return outcome

    def _apply(self, configuration: Configuration, at: Sequence[PointSet]) -> tuple[FittedFunction, Labelled]:
        psi = self._psi(configuration)
        known = {points: psi.labels(points) for points in {self.resample.points: None, **dict.fromkeys(at)}}
        of_resample = known[self.resample.points]
        drawn = of_resample[self.resample.draw.weights > 0]
        n_clusters = count_clusters(drawn) if psi.classes is None else int(np.count_nonzero(np.bincount(drawn)))
        if n_clusters < configuration.fewest_clusters:
            raise ReplicateFailure(FEWER_CLUSTERS)
        labels = [known[points] for points in at]
        if psi.classes is not None:
            return psi, Labelled([Partition(codes, psi.classes) for codes in labels], n_clusters)
        return psi, Labelled(encode([of_resample, *labels])[1:], n_clusters)

    def function(self, member: int) -> ClusteringFunction:
        """Return the clustering function of one member, as users have it."""
        configuration = self.learner.members[member]
        return self.learner.function(self._psi(configuration), self.resample, configuration)


@dataclass(frozen=True, eq=False)
class Prediction:
    """ψ of points with all features."""

    psi: FittedFunction
    rotation: Rotation | None

    def __call__(self, X: FloatArray) -> Labels:
        """Return the label of every row."""
        return self.psi.labels(PointSet(X, None if self.rotation is None else PointSet(self.rotation.project(X))))


# ---------------------------------------------------------------------------------------------------------------------
# any clusterer


@dataclass(frozen=True, eq=False)
class PlainFunction(FittedFunction):
    """ψ of a clusterer that was fitted as it is."""

    learner: Learner
    function: ClusteringFunction
    fitted_to: PointSet | None  # None: without lists, as in another process
    rows: IntArray  # of these points, to which it was fitted

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "fitted_to": None}

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point: from lists of the nearest, where there are any."""
        space, rule = self.learner.space(points), self.function.nearest_label
        if rule is None or self.fitted_to is None or not self.learner.by_lists:  # of Euclidean distances
            return self.function.labels(space.X)
        known = self.learner.space(self.fitted_to)
        if known.nearest_cached(space) is None or known.X.dtype != space.X.dtype:
            return self.function.labels(space.X)
        from clustrep.fitting.neighbour_lists import NearestDrawn  # most clusterers need none

        position = np.full(len(known), -1)
        position[self.rows[rule.rows]] = np.arange(len(rule.rows))
        return np.asarray(rule.labels[NearestDrawn(known, position, rule.nearest)(space)])


# Bytes for each ordered pair of samples: half a matrix of distances, a matrix and a copy of it, and three matrices.
BYTES_PER_PAIR = {"AgglomerativeClustering": 4, "SpectralClustering": 16, "AffinityPropagation": 24}


NEIGHBOURS = "nearest_neighbors"


# Seconds for each ordered pair of samples, roughly, of those that do more than compare them once.
SECONDS_PER_PAIR = {"SpectralClustering": 3e-7, "AffinityPropagation": 1e-6}


class PlainLearner(Learner):
    """One clusterer, fitted to the drawn rows."""

    compiled = in_threads = False

    @property
    def searches(self) -> bool:
        """Whether ψ is induced by the nearest training point."""
        return takes_nearest(self.members[0].clusterer)

    @property
    def by_lists(self) -> bool:
        """Whether ψ is induced by the nearest training point, without any transformer before."""
        return takes_nearest(self.members[0].clusterer, among_features=True)

    @property
    def takes_weights(self) -> bool:  # type: ignore[override]
        """Whether the clusterer is fitted with `sample_weight`."""
        return bool(has_fit_parameter(self.members[0].clusterer, "sample_weight"))

    def share(self, resample: Resample) -> None:
        """Nothing is shared."""

    def memory(self, n_samples: int) -> float:
        """Estimate the bytes of the distances that scikit-learn's classes keep; of others nothing is known."""
        clusterer = self.members[0].clusterer
        steps = getattr(clusterer, "steps", None)
        last = steps[-1][1] if steps else clusterer
        is_sparse = getattr(last, "connectivity", None) is not None or getattr(last, "affinity", "") == NEIGHBOURS
        return 0.0 if is_sparse else float(BYTES_PER_PAIR.get(type(last).__name__, 0) * n_samples**2)

    def rows(self, resample: Resample) -> tuple[IntArray, IntArray | None]:
        """Return the rows to fit, and their weights where the clusterer takes any."""
        order = resample.draw.order
        return order, resample.draw.weights[order] if isinstance(
            resample.draw, LandmarkDraw
        ) and self.takes_weights else None

    def psi(self, shared: None, resample: Resample, configuration: Configuration) -> FittedFunction:
        """Fit the clusterer."""
        clusterer, (rows, weights) = configuration.clusterer, self.rows(resample)
        X = self.space(resample.points).X[rows]
        if isinstance(clusterer, KnownLabels):
            known = learn_known(X, clusterer.labels[resample.study.name][rows], self.device)
            return PlainFunction(self, known, resample.points, rows)
        if self.rotation is not None:
            clusterer = in_coordinates(clusterer, self.rotation)
        learned = learn(clusterer, X, resample.seed(configuration.n_clusters), weights, self.device)
        return PlainFunction(self, learned, resample.points, rows)

    def function(self, psi: Any, resample: Resample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it."""
        if self.rotation is not None:
            return super().function(psi, resample, configuration)
        learned: ClusteringFunction = psi.function
        return learned

    def fitted(self, psi: Any, resample: Resample, configuration: Configuration) -> Clusterer:
        """Return the clusterer that was fitted to coordinates, with its features back."""
        assert self.rotation is not None
        return with_features(psi.function.clusterer, self.rotation, configuration.clusterer)


class AroundLearner(Learner):
    """A learner that hands other points to another learner, such as landmarks, or points in another space."""

    def __init__(self, learner: Learner):
        super().__init__(learner.members, None)
        self.learner = learner

    @property
    def compiled(self) -> bool:  # type: ignore[override]
        """Whether there are kernels in it."""
        return self.learner.compiled

    @property
    def here(self) -> bool:
        """Whether it works on a device that this process holds."""
        return self.learner.here

    def memory(self, n_samples: int) -> float:
        """Estimate how many bytes one fit needs."""
        return self.learner.memory(n_samples)


# ---------------------------------------------------------------------------------------------------------------------
# pipelines in two parts: the first steps, fitted once to every resample, and a learner for the last step. Each training
# draw defines its own space, in which its clusterer is fitted and in which test studies are labelled.


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
    result: Any = np.array(X)  # a copy, because a transformer may change it
    # One by one: a pipeline takes a step that keeps nothing of its fit for unfitted.
    for _, step in getattr(fitted, "steps", [("", fitted)]):
        result = result if step is None or isinstance(step, str) else step.transform(result)
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

    def share(self, resample: Resample) -> tuple[Space, Any]:
        """Fit the transformer, and learn in its space what all members have in common."""
        if resample not in self._spaces:
            self._spaces[resample] = Space.of(self.members[0].first_steps, resample)
        space = self._spaces[resample]
        return space, self.learner.share(space.resample)

    def psi(self, shared: tuple[Space, Any], resample: Resample, configuration: Configuration) -> FittedFunction:
        """Learn in the space."""
        space, inside = shared
        return TransformedFunction(self.learner.psi(inside, space.resample, configuration.last_step), space)

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
    """Let learners of the last steps of some pipelines, one after the other, work in the space of their first steps.

    Parameters
    ----------
    learners : sequence of Learner
        Of the last steps, in the order of `members`.
    members : sequence of Configuration
        The pipelines.
    spaces : Spaces
        What the first steps made of every resample, shared by all learners.

    Returns
    -------
    list of Learner
    """
    rest, transformed = list(members), list[Learner]()
    for learner in learners:
        transformed.append(TransformedLearner(learner, rest[: len(learner.members)], spaces))
        rest = rest[len(learner.members) :]
    return transformed


# ---------------------------------------------------------------------------------------------------------------------
# what no fit can do, and a fit by hand


class FailingLearner(Learner):
    """Another learner, of which every fit fails: for replicates that could not be computed."""

    compiled = in_threads = False

    def __init__(self, learner: Learner, cause: str):
        super().__init__(learner.members, learner.rotation)
        self.cause = cause

    def share(self, resample: Resample) -> None:
        """Fail."""
        raise ReplicateFailure(self.cause)

    def psi(self, shared: None, resample: Resample, configuration: Configuration) -> FittedFunction:
        """Fail."""
        raise ReplicateFailure(self.cause)

    def fitted(self, psi: Any, resample: Resample, configuration: Configuration) -> Clusterer:
        """Fail."""
        raise ReplicateFailure(self.cause)


def fit_rows(learner: Learner, resample: Resample, configuration: Configuration) -> Clusterer:
    """Fit the clusterer itself to the drawn rows.

    Parameters
    ----------
    learner : Learner
        In whose coordinates the samples lie.
    resample : Resample
        Whose drawn samples are written out, each as often as it was drawn.
    configuration : Configuration
        The clusterer.

    Returns
    -------
    estimator
        Fitted, with all features.
    """
    fitted = clone(configuration.clusterer).fit(learner.space(resample.points).X[resample.draw.order])
    return fitted if learner.rotation is None else with_features(fitted, learner.rotation, configuration.clusterer)
