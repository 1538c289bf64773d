"""One study in one replicate: its points, its draw and its seeds; and the record of a run.

Pure functions of what they are given: the same study, clusterer, root seed and replicate number give the same bits,
whatever other studies are in the run and wherever it is computed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from scipy.spatial.distance import cdist

from clustrep.agreement.contingency import Partition
from clustrep.cached import cached_property
from clustrep.checks import check_integer
from clustrep.data.study import Study
from clustrep.errors import ParameterError
from clustrep.execution.context import config
from clustrep.execution.devices import device_name, resolve_device
from clustrep.execution.seeds import (
    FULL_STUDY,
    Rng,
    Stream,
    breathe,
    make_generator,
    root_entropy,
    seed_of,
    seed_words,
)
from clustrep.fitting.parameters import (
    Configuration,
    as_plain,
    describe,
    describe_steps,
    parameters_of,
)
from clustrep.kernels.distances import in_fours, n_columns, n_rows, squares_between
from clustrep.provenance import Provenance, StudyRecord, installed_versions
from clustrep.resampling.strategies import Draw, Perturbation, Rerun, Resampling, check_resampling, whole
from clustrep.types import FloatArray, IntArray

K = TypeVar("K")
V = TypeVar("V")

# Up to this number of points of a study, the distances between all of them are cached: 32 MB.
SHARED_POINTS = 2048


# Two are the least that have a nearest one.
FEWEST_LANDMARKS = 2

TOO_LARGE = "distances between points are not finite numbers"


# Rows compared at once. A constant, so that results do not depend on how work is divided.
BLOCK = 256


# Points that are turned at once, so that there is no second copy of them.
TURNED_AT_ONCE = 2**14


class Cached(WeakKeyDictionary[K, V]):
    """What was computed for objects, such as sets of points, for as long as they live; also in another process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Cached, (dict(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Cached[K, V]:
        return Cached(copy.deepcopy(dict(self), memo))


@dataclass(frozen=True, eq=False)
class PointSet:
    """A table of points; compared by identity.

    rotated : the same points in fewer coordinates, where features outnumber samples by far
    caches_own : whether to cache the distances between these points, for the next resample
    caches_others : whether to cache the distances to the points of other sets that do so, too
    """

    X: FloatArray  # (n_points, n_features)
    rotated: PointSet | None = None
    caches_own: bool = False
    caches_others: bool = False
    _own: dict[str, FloatArray] = field(default_factory=dict)
    # Weak, so that two sets that hold each other's distances are freed as soon as they are not used elsewhere.
    _others: Cached[PointSet, dict[str, FloatArray]] = field(default_factory=lambda: Cached())
    _nearest: Cached[PointSet, IntArray] = field(default_factory=lambda: Cached())

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def by_feature(self) -> FloatArray:
        """The transposed table, contiguous, (n_features, n_points)."""
        return np.ascontiguousarray(self.X.T)

    def turned(self, rows: slice) -> FloatArray:
        """Return some of the points by feature, contiguous, (n_features, n_rows): a copy of the whole is not needed."""
        return np.ascontiguousarray(self.by_feature[:, rows] if "by_feature" in self.__dict__ else self.X[rows].T)

    def tiled(self, rows: IntArray) -> FloatArray:
        """Return some of the points as `_kernels.tiles.in_rows` does, in their own precision, without another copy."""
        table = np.zeros((n_rows(self.X.shape[1]), n_columns(len(rows))), dtype=self.X.dtype)
        for begin in range(0, len(rows), TURNED_AT_ONCE):
            some = rows[begin : begin + TURNED_AT_ONCE]
            table[: self.X.shape[1], begin : begin + len(some)] = self.X[some].T
        return table

    @property
    def shares_distances(self) -> bool:
        """Whether the distances between all points are cached, and serve every resample."""
        return self.caches_own and len(self.X) <= SHARED_POINTS

    def distances(self, metric: str = "sqeuclidean") -> FloatArray:
        """Return the distances between all points, (n_points, n_points)."""
        if metric not in self._own:
            distances = pairwise_distances(self.X, metric)
            if not self.shares_distances:
                return distances
            self._own[metric] = distances
        return self._own[metric]

    def distances_from(self, others: PointSet, metric: str) -> FloatArray:
        """Return the distances of other points to these, (n_others, n_points), cached by these."""
        if others is self:
            return self.distances(metric)
        cached = self._others.setdefault(others, {})
        if metric not in cached:
            cached[metric] = cdist(others.X, self.X, metric)
        return cached[metric]

    def cache_nearest(self, others: PointSet, lists: IntArray) -> None:
        """Keep which of these points are nearest to each other point, nearest first, (n_others, n_kept)."""
        self._nearest[others] = lists

    def nearest_cached(self, others: PointSet) -> IntArray | None:
        """Return the lists of other points, where they are cached."""
        return self._nearest.get(others)


def pairwise_distances(X: FloatArray, metric: str) -> FloatArray:
    """Return the distances between all rows, (n, n), each computed once; interrupts are handled between blocks.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        The table.
    metric : str
        Any of `scipy.spatial.distance.cdist`.

    Returns
    -------
    ndarray of shape (n, n)
    """
    distances = np.empty((len(X), len(X)))
    if metric == "sqeuclidean":
        table = in_fours(X)
        for begin in range(0, len(X), BLOCK):
            squares_between(table, begin, begin + BLOCK, distances)
            breathe()
        return distances
    for begin in range(0, len(X), BLOCK):
        rows = slice(begin, begin + BLOCK)
        distances[rows, begin:] = cdist(X[rows], X[begin:], metric)
        distances[begin:, rows] = distances[rows, begin:].T
        breathe()
    return distances


FEWER_CLUSTERS = "fewer clusters than asked for"


FEW_DISTINCT_POINTS = "more clusters asked for than there are distinct points"


@dataclass(frozen=True, eq=False)
class Labelled:
    """The labels that one clustering function gives to several sets of points."""

    partitions: Sequence[Partition]
    n_clusters: int  # in its own draw

    def at(self, place: int) -> Partition:
        """Return the partition of one of these sets."""
        return self.partitions[place]


@dataclass(frozen=True, eq=False)
class LandmarkDraw(Draw):
    """A resample of landmarks: each has as many copies as samples of its cell were drawn."""

    masses: IntArray = None  # type: ignore[assignment]  # (n_landmarks,)

    @cached_property
    def weights(self) -> IntArray:
        """How many samples each landmark stands for, (n_landmarks,)."""
        return self.masses


@dataclass(frozen=True, eq=False)
class Resample:
    """One study in one replicate."""

    study: Study
    draw: Draw
    points: PointSet  # the draw's, all of them
    originals: PointSet  # the study's own, with the features drawn
    root: int
    replicate: int
    second: bool

    @property
    def _stream(self) -> Stream:
        return Stream.SECOND_FIT if self.second else Stream.FIT

    def seed(self, n_clusters: int | None) -> np.random.SeedSequence:
        """Return the seed of a clusterer that is fitted to this resample."""
        return seed_of(self.root, self._stream, self.study.name, self.replicate, n_clusters)

    def seed_words(self) -> tuple[int, ...]:
        """Return the words of these seeds, up to the number of clusters."""
        return seed_words(self.root, self._stream, self.study.name, self.replicate)


@dataclass(frozen=True, eq=False)
class Source:
    """What all replicates of a run have in common."""

    resampling: Resampling
    root: int
    accelerate: bool = True
    device: str = "cpu"
    n_landmarks: int | None = None  # of each larger study; None: clusterers are fitted to all samples
    landmark_set: int = 0  # which of several independent choices of landmarks

    @classmethod
    def of(cls, resampling: object, rng: Rng, n_landmarks: int | None = None) -> Source:
        """Check what a user passed, and take the other options from the configuration in force."""
        options, checked = config(), check_resampling(resampling)
        if n_landmarks is not None:
            check_integer(n_landmarks, "n_landmarks", at_least=FEWEST_LANDMARKS)
            if not getattr(checked, "keeps_points", False):
                raise ParameterError(
                    f"n_landmarks needs resamples that consist of the studies' own samples, got {checked!r}: landmarks "
                    "are chosen once. Use Bootstrap() or Subsample(fraction), or no landmarks.",
                    parameter="n_landmarks",
                )
        device = "cpu" if options.device == "cpu" else resolve_device(options.device)
        root = root_entropy(rng)
        return cls(checked, root, options.accelerate, device, n_landmarks)

    @property
    def draws_rows(self) -> bool:
        """Whether draws consist of the studies' own points."""
        return bool(getattr(self.resampling, "keeps_points", False))

    def with_root(self, root: int) -> Source:
        """Return the same with another seed."""
        return replace(self, root=root)

    def rerun(self) -> Source:
        """Return the same without resampling, in every replicate."""
        return replace(self, resampling=Rerun())

    def draw(self, study: Study, replicate: int, *, second: bool = False) -> Draw:
        """Draw the study for this replicate; `second` is another, independent draw of it.

        Parameters
        ----------
        study : Study
            The study.
        replicate : int
            0 for the study as it is, b + 1 for resample b.
        second : bool, default=False
            Whether to take the second of two independent draws, which the diagonal is trained on.

        Returns
        -------
        Draw
        """
        if replicate == FULL_STUDY:
            return whole(study)
        if second and isinstance(self.resampling, Perturbation) and self.resampling.halves:
            seed = seed_of(self.root, Stream.DRAW, study.name, replicate)
            return self.resampling.draw_other_half(study, make_generator(seed))
        seed = seed_of(self.root, Stream.SECOND_DRAW if second else Stream.DRAW, study.name, replicate)
        return self.resampling.draw(study, make_generator(seed))

    def resample(self, study: Study, points: PointSet, replicate: int, *, second: bool = False) -> Resample:
        """Draw the study, whose points are cached in `points`.

        Parameters
        ----------
        study : Study
            The study.
        points : PointSet
            Its samples, with the distances that are cached for all resamples.
        replicate : int
            0 for the study as it is, b + 1 for resample b.
        second : bool, default=False
            Whether to take the second of two independent draws.

        Returns
        -------
        Resample
        """
        (drawn,) = self.resamples(study, points, [replicate], second=second)
        return drawn

    def resamples(
        self, study: Study, points: PointSet, replicates: Sequence[int], *, second: bool = False, together: bool = False
    ) -> list[Resample]:
        """Draw the study for many replicates.

        together : draw in one call of a kernel, where the resampling has one; the draws are the same
        """
        drawn = self._drawn_together(study, replicates, second) if together else {}
        resamples = []
        for replicate in replicates:
            draw = drawn.get(replicate) or self.draw(study, replicate, second=second)
            originals = points if draw.originals is study.X else PointSet(draw.originals)
            changed = originals if draw.points is draw.originals else PointSet(draw.points)
            resamples.append(Resample(study, draw, changed, originals, self.root, replicate, second))
        return resamples

    def _drawn_together(self, study: Study, replicates: Sequence[int], second: bool) -> dict[int, Draw]:
        resampled = [replicate for replicate in replicates if replicate != FULL_STUDY]
        if not resampled or not isinstance(self.resampling, Perturbation):
            return {}
        stream = Stream.SECOND_DRAW if second else Stream.DRAW
        words = [(*seed_words(self.root, stream, study.name, replicate), 0) for replicate in resampled]
        draws = self.resampling.draw_many(study, np.array(words, np.uint32))
        return {} if draws is None else dict(zip(resampled, draws, strict=True))


# ---------------------------------------------------------------------------------------------------------------------
# the record of a run


def provenance_of_run(
    source: Source,
    studies: Sequence[Study],
    configurations: Sequence[Configuration],
    **parameters: Any,
) -> Provenance:
    """Record a run that clusters: where its replicates came from, its studies, clusterers and further parameters."""
    before = {describe_steps(configuration.first_steps) for configuration in configurations} - {""}
    if source.device != "cpu":
        parameters["device"] = device_name(source.device)
    return provenance_of_data(
        source.root,
        studies,
        configurations,
        resampling=describe(source.resampling),
        accelerate=source.accelerate,
        **({} if source.n_landmarks is None else {"n_landmarks": source.n_landmarks}),
        **({} if len(before) != 1 else {"transformer": before.pop()}),
        **({"shared_embedding": name} if (name := shared_embedding(studies)) else {}),
        **parameters,
    )


def packages_of(configurations: Sequence[Configuration]) -> list[str]:
    """Return the packages that clusterers of ours, or steps within a pipeline, compute with: their `packages`."""
    parts = [
        part
        for configuration in configurations
        for part in (configuration.clusterer, *parameters_of(configuration.clusterer).values())
    ]
    return sorted({name for part in parts for name in getattr(type(part), "packages", ())})


def shared_embedding(studies: Sequence[Study]) -> str:
    """Return the embedding of all studies together whose coordinates they are; empty where they are none."""
    return next((study.embedding for study in studies if study.embedding), "")


def provenance_of_data(
    root: int,
    studies: Sequence[Study],
    configurations: Sequence[Configuration] = (),
    *,
    resampling: str | None = None,
    accelerate: bool | None = None,
    **parameters: Any,
) -> Provenance:
    """Record a run with the seed `root` on these studies."""
    return Provenance(
        seed=root,
        resampling=resampling,
        accelerate=accelerate,
        parameters={name: as_plain(value) for name, value in parameters.items()},
        clusterers=tuple(configuration.record for configuration in configurations),
        studies={study.name: StudyRecord(len(study), len(study.features), study.scaling) for study in studies},
        versions=dict(installed_versions(*packages_of(configurations))),
    )
