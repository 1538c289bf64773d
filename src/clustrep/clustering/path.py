"""Configurations that are learned together, and what is prepared once for all replicates of a run.

A path is a clusterer with several numbers of clusters, or with one. `accelerate=False` makes every path a plain one:
the clusterer itself, fitted to the rows written out.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from clustrep.clustering.function import ClusteringFunction, learn, learn_known, takes_nearest
from clustrep.clustering.landmarks import CellDraw
from clustrep.clustering.parameters import Clusterer, KnownLabels, count_clusters
from clustrep.clustering.rotation import Rotation, can_rotate, in_coordinates, needs_basis, with_features
from clustrep.clustering.sample import (
    FEW_DISTINCT_POINTS,
    FEWER_CLUSTERS,
    Configuration,
    Labelled,
    PointSet,
    Sample,
    Source,
)
from clustrep.device.available import PROCESSOR
from clustrep.engine.cost import Cost
from clustrep.engine.estimates import ALWAYS_THERE, check_memory
from clustrep.engine.replicates import Failed, ReplicateFailure, attempt, one_thread
from clustrep.engine.run import EXACT, Plan
from clustrep.remembered import cached_property
from clustrep.studies.study import Study, check_complete
from clustrep.tables.agreement import Agreement
from clustrep.tables.contingency import Partition, encode
from clustrep.tables.scoring import LabelBatch, PairScores, score_batch
from clustrep.types import FloatArray, IntArray, Labels

T = TypeVar("T")


class Psi(ABC):
    """A clustering function inside a run: it labels sets of points that other functions label, too."""

    classes: Labels | None = None  # all labels that it can give, where they are 0, 1, …

    @abstractmethod
    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""


class Path(ABC):
    """Configurations that differ in the number of clusters alone, or a single one."""

    takes_series: ClassVar[bool] = False  # whether they may also differ in the value of another parameter

    compiled: ClassVar[bool] = True  # whether there are kernels in it
    in_threads: ClassVar[bool] = True  # whether its time is spent in kernels, which let other threads run
    device: str = PROCESSOR  # where nearest points are found and tables are counted
    takes_weights: ClassVar[bool] = True  # whether a point with a weight counts like as many copies of it

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether this path replaces the clusterer exactly: one of that class, with parameters that are supported."""
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
    def n_nearest(self) -> int:
        """How many of the nearest points that were drawn give a point its label, by Euclidean distance; else 0."""
        return int(self.searches)

    def on(self, device: str) -> Path:
        """Return the path that does on a device what it can do there; itself where that is nothing."""
        if device == PROCESSOR or not self.searches:
            return self
        path = copy.copy(self)
        path.device = device
        return path

    def space(self, points: PointSet) -> PointSet:
        """Return the points in the coordinates in which this path works."""
        if self.rotation is None:
            return points
        assert points.rotated is not None
        return points.rotated

    def prepare(self, places: Sequence[PointSet]) -> None:  # noqa: B027 - most have nothing to make
        """Make what all resamples of the studies share."""

    def work(self, points: PointSet) -> float:
        """Estimate how many numbers the kernels compare in one resample."""
        return 0.0

    def batch(self, places: Sequence[PointSet]) -> int:
        """Say from how many replicates it likes to learn at once."""
        return 1

    def memory(self, n_samples: int) -> float:
        """Estimate how many bytes one fit needs, where that grows with the square of the samples."""
        return 0.0

    @abstractmethod
    def share(self, sample: Sample) -> Any:
        """Learn what all members have in common."""

    @abstractmethod
    def psi(self, shared: Any, sample: Sample, configuration: Configuration) -> Psi:
        """Learn ψ(· ; A, X⁽ᵇ⁾) for one member."""

    def function(self, psi: Any, sample: Sample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it: of points with all features."""
        fitted = self.fitted(psi, sample, configuration)
        return ClusteringFunction(Prediction(psi, self.rotation), sample.study.X, fitted)

    @abstractmethod
    def fitted(self, psi: Any, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the member as it would be after fitting, for the user to inspect."""

    def learn(self, samples: Sequence[Sample], at: Sequence[Sequence[PointSet]] | None = None) -> Sequence[Learned]:
        """Learn from many samples at once, of any studies and replicates; what is learned from one is lazy.

        This is where compiled batches and accelerators come in: a path that gains from many samples overrides it and
        says in `batch` how many replicates it wants. What is learned from a sample must not depend on the others. `at`
        says for every sample which points its clustering functions will be asked about, so that this is done at once.
        """
        return [Learned(self, sample) for sample in samples]

    def score_pairs(
        self,
        learned: Sequence[Learned],
        learned_again: Sequence[Learned],
        n_studies: int,
        agreements: Sequence[Agreement],
        *,
        spread: bool = False,
    ) -> PairScores | None:
        """Score all ordered pairs of studies in some replicates, from all their labels together; None: ask for labels.

        learned : from the samples of all studies, one replicate after the other
        learned_again : from independent draws of the same, or none
        spread : whether that between clusters is asked for, too; of draws without weights
        """
        batch = None if spread else self.label_batch(learned)
        return None if batch is None else score_batch(batch, self.label_batch(learned_again), n_studies, agreements)

    def label_batch(self, learned: Sequence[Learned]) -> LabelBatch | None:
        """Return what labels points for all samples together; None where there is no such thing, or no sample."""
        return None


@dataclass(frozen=True, eq=False)
class Learned:
    """What a path learned from one sample."""

    path: Path
    sample: Sample

    @cached_property
    def _shared(self) -> Any:
        return attempt(self.path.share, self.sample)

    def _psi(self, configuration: Configuration) -> Psi:
        if isinstance(self._shared, Failed):
            raise ReplicateFailure(self._shared.cause)
        return self.path.psi(self._shared, self.sample, configuration)

    def labels(self, member: int, at: Sequence[PointSet]) -> Labelled | Failed:
        """Apply the clustering function of one member to every set of points in `at`."""
        applied = self.applied(member, at)
        return applied if isinstance(applied, Failed) else applied[1]

    def applied(self, member: int, at: Sequence[PointSet]) -> tuple[Psi, Labelled] | Failed:
        """Return the clustering function of one member, and what it says of every set of points in `at`."""
        configuration = self.path.members[member]
        outcome = attempt(self._applied, configuration, at)
        # Clusterers report this by different errors.
        if isinstance(outcome, Failed) and configuration.fewest_clusters > self.sample.draw.n_distinct():
            return Failed(FEW_DISTINCT_POINTS)
        return outcome

    def _applied(self, configuration: Configuration, at: Sequence[PointSet]) -> tuple[Psi, Labelled]:
        psi = self._psi(configuration)
        return psi, self._labels(psi, configuration, at)

    def _labels(self, psi: Psi, configuration: Configuration, at: Sequence[PointSet]) -> Labelled:
        known = {points: psi.labels(points) for points in {self.sample.points: None, **dict.fromkeys(at)}}
        of_sample = known[self.sample.points]
        drawn = of_sample[self.sample.draw.weights > 0]
        n_clusters = count_clusters(drawn) if psi.classes is None else int(np.count_nonzero(np.bincount(drawn)))
        if n_clusters < configuration.fewest_clusters:
            raise ReplicateFailure(FEWER_CLUSTERS)
        labels = [known[points] for points in at]
        if psi.classes is not None:
            return Labelled([Partition(codes, psi.classes) for codes in labels], n_clusters)
        return Labelled(encode([of_sample, *labels])[1:], n_clusters)

    def function(self, member: int) -> ClusteringFunction:
        """Return the clustering function of one member, as users have it."""
        configuration = self.path.members[member]
        return self.path.function(self._psi(configuration), self.sample, configuration)


@dataclass(frozen=True, eq=False)
class Prediction:
    """ψ of points with all features."""

    psi: Psi
    rotation: Rotation | None

    def __call__(self, X: FloatArray) -> Labels:
        """Return the label of every row."""
        return self.psi.labels(PointSet(X, None if self.rotation is None else PointSet(self.rotation.project(X))))


# ---------------------------------------------------------------------------------------------------------------------
# any clusterer


@dataclass(frozen=True, eq=False)
class PlainPsi(Psi):
    """ψ of a clusterer that was fitted as it is."""

    path: Path
    function: ClusteringFunction
    sample: PointSet | None  # None: without lists, as in another process
    rows: IntArray  # of the sample, to which it was fitted

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "sample": None}

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point: from lists of the nearest, where there are any."""
        space, rule = self.path.space(points), self.function.nearest_label
        if rule is None or self.sample is None or not self.path.n_nearest:  # lists are those of Euclidean distances
            return self.function.labels(space.X)
        sample = self.path.space(self.sample)
        if sample.nearest_kept(space) is None or sample.X.dtype != space.X.dtype:
            return self.function.labels(space.X)
        from clustrep.clustering.nearest_lists import NearestOfDrawn  # most clusterers need none

        position = np.full(len(sample), -1)
        position[self.rows[rule.rows]] = np.arange(len(rule.rows))
        return np.asarray(rule.labels[NearestOfDrawn(sample, position, rule.nearest)(space)[:, 0]])


# Bytes for each ordered pair of samples: half a matrix of distances, a matrix and a copy of it, and three matrices.
BYTES_PER_PAIR = {"AgglomerativeClustering": 4, "SpectralClustering": 16, "AffinityPropagation": 24}
NEIGHBOURS = "nearest_neighbors"
# Seconds for each ordered pair of samples, roughly, of those that do more than compare them once.
SECONDS_PER_PAIR = {"SpectralClustering": 3e-7, "AffinityPropagation": 1e-6}


class PlainPath(Path):
    """One clusterer, fitted to the drawn rows."""

    compiled = in_threads = False

    @property
    def searches(self) -> bool:
        """Whether ψ is induced by the nearest training point."""
        return takes_nearest(self.members[0].clusterer)

    @property
    def n_nearest(self) -> int:
        """One where ψ is induced by the nearest training point, without any transformer before."""
        return int(takes_nearest(self.members[0].clusterer, among_features=True))

    @property
    def takes_weights(self) -> bool:  # type: ignore[override]
        """Whether the clusterer is fitted with `sample_weight`."""
        return bool(has_fit_parameter(self.members[0].clusterer, "sample_weight"))

    def share(self, sample: Sample) -> None:
        """Nothing is shared."""

    def memory(self, n_samples: int) -> float:
        """Estimate the bytes of the distances that scikit-learn's classes keep; of others nothing is known."""
        clusterer = self.members[0].clusterer
        steps = getattr(clusterer, "steps", None)
        last = steps[-1][1] if steps else clusterer
        is_sparse = getattr(last, "connectivity", None) is not None or getattr(last, "affinity", "") == NEIGHBOURS
        return 0.0 if is_sparse else float(BYTES_PER_PAIR.get(type(last).__name__, 0) * n_samples**2)

    def rows(self, sample: Sample) -> tuple[IntArray, IntArray | None]:
        """Return the rows to fit, and their weights where the clusterer takes any."""
        order = sample.draw.order
        return order, sample.draw.weights[order] if isinstance(sample.draw, CellDraw) and self.takes_weights else None

    def psi(self, shared: None, sample: Sample, configuration: Configuration) -> Psi:
        """Fit the clusterer."""
        clusterer, (rows, weights) = configuration.clusterer, self.rows(sample)
        X = self.space(sample.points).X[rows]
        if isinstance(clusterer, KnownLabels):
            known = learn_known(X, clusterer.labels[sample.study.name][rows], self.device)
            return PlainPsi(self, known, sample.points, rows)
        if self.rotation is not None:
            clusterer = in_coordinates(clusterer, self.rotation)
        learned = learn(clusterer, X, sample.seed(configuration.n_clusters), weights, self.device)
        return PlainPsi(self, learned, sample.points, rows)

    def function(self, psi: Any, sample: Sample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it."""
        if self.rotation is not None:
            return super().function(psi, sample, configuration)
        learned: ClusteringFunction = psi.function
        return learned

    def fitted(self, psi: Any, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the clusterer that was fitted to coordinates, with its features back."""
        assert self.rotation is not None
        return with_features(psi.function.clusterer, self.rotation, configuration.clusterer)


class FailingPath(Path):
    """Another path, of which every fit fails: for replicates that nobody could compute."""

    compiled = in_threads = False

    def __init__(self, path: Path, cause: str):
        super().__init__(path.members, path.rotation)
        self.cause = cause

    def share(self, sample: Sample) -> None:
        """Fail."""
        raise ReplicateFailure(self.cause)

    def psi(self, shared: None, sample: Sample, configuration: Configuration) -> Psi:
        """Fail."""
        raise ReplicateFailure(self.cause)

    def fitted(self, psi: Any, sample: Sample, configuration: Configuration) -> Clusterer:
        """Fail."""
        raise ReplicateFailure(self.cause)


def fit_rows(path: Path, sample: Sample, configuration: Configuration) -> Clusterer:
    """Fit the clusterer itself to the drawn rows."""
    fitted = clone(configuration.clusterer).fit(path.space(sample.points).X[sample.draw.order])
    return fitted if path.rotation is None else with_features(fitted, path.rotation, configuration.clusterer)


# Numbers that kernels compare in a second, roughly, and seconds that Python takes beside them: for a sample, for one
# member of a path on a pair of studies, and for a fit by the clusterer itself, which also grows with the table.
NUMBERS_PER_SECOND = 5e9
SAMPLE_SECONDS, PAIR_SECONDS, FIT_SECONDS, NUMBER_SECONDS = 3e-5, 2e-6, 5e-3, 1e-7
# Nobody knows how long somebody else's clusterer takes: long enough for the workers that were asked for.
UNKNOWN_SECONDS = 1.0
# Bytes of distances that are kept for all resamples.
MOST_KEPT = 10**9
# The least number of features for each coordinate for which a rotation saves time.
ROTATION_PAYS = 2


@dataclass(frozen=True, eq=False)
class Setting:
    """What is prepared once, before the first replicate."""

    source: Source
    studies: tuple[Study, ...]
    places: tuple[PointSet, ...]  # the studies' points
    at: PointSet | None  # further points that are labelled
    paths: tuple[Path, ...]  # their members, one after the other, are the configurations

    @classmethod
    def prepare(
        cls,
        source: Source,
        studies: Sequence[Study],
        configurations: Sequence[Configuration],
        *,
        at: FloatArray | None = None,
        for_run: bool = True,
        rotate: bool = True,
        each_alone: bool = False,
        paths: tuple[Path, ...] | None = None,
    ) -> Setting:
        """Choose a path for every configuration, rotate what can be rotated, and make what resamples share.

        Without `for_run` nothing is shared, but everything is there to learn a clustering function for any points.
        Without `rotate` functions are learned in the features themselves, whatever their number. With `each_alone`
        every study is learned from once, and only its own samples are labelled. Studies of the same
        features can have the `paths` of others, where these `serve_other_studies`.
        """
        if source.transformer is None:
            check_complete(studies)
        rotated = [rotate and rotates(source, studies, configuration) for configuration in configurations]
        place_of = {id(study.X): s for s, study in enumerate(studies)}  # `at` may be one of the studies
        outside = at is not None and id(at) not in place_of
        with one_thread():
            rotation = None
            if any(rotated):
                basis = not for_run or outside or any(needs_basis(c.clusterer) for c in configurations)
                rotation = Rotation.of([study.X for study in studies], with_basis=basis)
            sizes = [len(study) for study in studies]
            keeps = (
                8 * sum(n**2 for n in sizes) <= MOST_KEPT,
                for_run and 8 * sum(sizes) ** 2 <= MOST_KEPT and source.neighbours == EXACT,
            )
            further = [(*keeps, source.search_seed(study)) for study in studies]
            places = tuple(
                PointSet(study.X, None if rotation is None else PointSet(rotation.coordinates[s], None, *rest), *rest)
                for s, (study, rest) in enumerate(zip(studies, further, strict=True))
            )
            place = None
            if at is not None:
                projected = PointSet(rotation.project(at)) if rotation is not None and outside else None
                place = PointSet(at, projected) if outside else places[place_of[id(at)]]
            paths = paths or _paths(source, configurations, rotated, rotation)
            if sketches(source, studies):
                from clustrep.clustering.sketch import sketched_paths  # it is a path itself

                paths = sketched_paths(paths, source, studies, places)
            if source.transformer is not None:
                from clustrep.clustering.prepared import prepared_paths  # it is a path itself

                paths = prepared_paths(paths, source.transformer)
            if for_run:
                for path in paths:
                    for study in studies:
                        if (needed := path.memory(len(study))) > ALWAYS_THERE:
                            check_memory(needed, path.members[0].name, study.name, len(study))
                    path.prepare(places)
                    if path.n_nearest and source.draws_rows and not path.here:
                        from clustrep.clustering.nearest_lists import keep_lists  # most clusterers need none

                        spaces = [path.space(points) for points in places]
                        outsiders = [] if place is None or not outside else [path.space(place)]
                        keep_lists(spaces, spaces + outsiders, path.n_nearest, each_alone=each_alone)
        return cls(source, tuple(studies), places, place, paths)

    @property
    def recall(self) -> dict[str, dict[str, dict[str, float]]]:
        """What approximate searches found of what they were for, as `provenance_of_run` takes it."""
        return {"neighbour_recall": self.recall_by_study}

    @property
    def recall_by_study(self) -> dict[str, dict[str, float]]:
        """What approximate searches found of what they were for, by study; empty without any."""
        by_study: dict[str, dict[str, float]] = {}
        for study, place in zip(self.studies, self.places, strict=True):
            for points in (place, place.rotated):
                if points is not None and points.recall:
                    by_study.setdefault(study.name, {}).update(points.recall)
        return by_study

    @property
    def serve_other_studies(self) -> bool:
        """Whether the paths know nothing of these studies: no coordinates, landmarks or transformations of theirs."""
        source = self.source
        is_bound = source.transformer is not None or sketches(source, self.studies)
        return not is_bound and all(path.rotation is None for path in self.paths)

    @property
    def in_threads(self) -> bool:
        """Whether threads can share the work: it is done by kernels alone."""
        return all(path.in_threads for path in self.paths)

    @property
    def cost(self) -> Cost:
        """Roughly how long a replicate takes, from the shapes of the studies and the paths."""
        S, n_members = len(self.places), sum(len(path.members) for path in self.paths)
        numbers = sum(path.work(points) for path in self.paths for points in self.places)
        by_clusterer = sum(len(path.members) for path in self.paths if not path.compiled)
        sizes = [points.X.size for points in self.places]
        python = S * SAMPLE_SECONDS + n_members * S**2 * PAIR_SECONDS
        python += by_clusterer * (S * FIT_SECONDS + sum(sizes) * NUMBER_SECONDS)
        n_pairs = sum(len(points) ** 2 for points in self.places)
        kinds = [type(path.members[0].clusterer).__name__ for path in self.paths if not path.compiled]
        python += n_pairs * sum(SECONDS_PER_PAIR.get(kind, 0.0) for kind in kinds)
        unknown = sum(not _is_known(member) for path in self.paths if not path.compiled for member in path.members)
        python += unknown * S * UNKNOWN_SECONDS
        return Cost(numbers / NUMBERS_PER_SECOND, python)

    @property
    def here(self) -> bool:
        """Whether any path works on a device that this process holds."""
        return any(path.here for path in self.paths)

    @property
    def device(self) -> str:
        """Where tables are counted: on the device, if this process holds it."""
        return self.source.device if self.here else PROCESSOR

    @property
    def has_kernels(self) -> bool:
        """Whether any path takes a shortcut that is compiled."""
        return any(path.compiled for path in self.paths)

    @property
    def batch(self) -> int:
        """How many replicates are learned together."""
        return max(path.batch(self.places) for path in self.paths)

    def sample(self, s: int, replicate: int, *, second: bool = False) -> Sample:
        """Draw one of the studies."""
        return self.source.sample(self.studies[s], self.places[s], replicate, second=second)

    def samples_of(self, s: int, replicates: Sequence[int], *, second: bool = False) -> list[Sample]:
        """Draw one of the studies for many replicates."""
        together = self.has_kernels  # else a kernel would be compiled for the draws alone
        return self.source.samples(self.studies[s], self.places[s], replicates, second=second, together=together)

    def samples(self, replicates: Sequence[int], *, second: bool = False) -> list[Sample]:
        """Draw all studies, one replicate after the other."""
        by_study = (self.samples_of(s, replicates, second=second) for s in range(len(self.studies)))
        return [sample for of_replicate in zip(*by_study, strict=True) for sample in of_replicate]


@dataclass(frozen=True, eq=False)
class ClusteringPlan(Plan[T]):
    """A plan whose replicates are clusterings of drawn studies."""

    setting: Setting

    @property
    def in_threads(self) -> bool:
        """Whether all paths spend their time in kernels."""
        return self.setting.in_threads

    @property
    def cost(self) -> Cost:
        """Roughly how long a replicate takes."""
        return self.setting.cost

    @property
    def here(self) -> bool:
        """Whether any path works on a device that this process holds."""
        return self.setting.here

    @property
    def compiles(self) -> bool:
        """Whether any path has kernels."""
        return self.setting.has_kernels

    @property
    def batch(self) -> int:
        """How many replicates the paths learn from at once."""
        return self.setting.batch

    def lost(self, number: int, cause: str) -> T:
        """Return the replicate as it is where every fit fails."""
        paths = tuple(FailingPath(path, cause) for path in self.setting.paths)
        (value,) = replace(self, setting=replace(self.setting, paths=paths)).block([number])
        return value


def _is_known(configuration: Configuration) -> bool:
    """Whether the time of a fit can be guessed: that of scikit-learn's clusterers and of known labels."""
    clusterer = configuration.clusterer
    return isinstance(clusterer, KnownLabels) or type(clusterer).__module__.startswith("sklearn.")


def sketches(source: Source, studies: Sequence[Study]) -> bool:
    """Whether any study is larger than its sketch would be."""
    return source.sketch is not None and any(len(study) > source.sketch.size for study in studies)


def rotates(source: Source, studies: Sequence[Study], configuration: Configuration) -> bool:
    """Whether a configuration is computed in coordinates: far fewer than features, with the same result."""
    return (
        source.accelerate
        and source.transformer is None  # it has the features themselves
        and not sketches(source, studies)  # landmarks have the studies' features
        and source.draws_rows
        and ROTATION_PAYS * sum(len(study) for study in studies) <= studies[0].X.shape[1]
        and can_rotate(configuration.clusterer)
    )


def _paths(
    source: Source, configurations: Sequence[Configuration], rotated: Sequence[bool], rotation: Rotation | None
) -> tuple[Path, ...]:
    paths: list[Path] = []
    for configuration, is_rotated in zip(configurations, rotated, strict=True):
        make = _path_class(configuration) if source.accelerate else PlainPath
        last = paths[-1] if paths else None
        if make is not PlainPath and type(last) is make and _belongs(configuration, last):
            paths[-1] = make([*last.members, configuration], last.rotation)
        else:
            paths.append(make([configuration], rotation if is_rotated else None))
    return tuple(path.on(source.device) for path in paths)


def works_here(source: Source, configurations: Sequence[Configuration]) -> bool:
    """Whether any of these configurations works on a device that this process holds."""
    paths = _paths(source, configurations, [False] * len(configurations), None)
    return any(path.here for path in paths)


def _belongs(configuration: Configuration, path: Path) -> bool:
    """Whether a configuration is learned together with those of a path."""
    first = path.members[0]
    of_series = path.takes_series and bool(first.series) and first.series == configuration.series
    return first.name == configuration.name or of_series


# Configurations stay as they are, and reading a clusterer's parameters takes longer than a small fit: simulated
# collections are fitted with the same ones, hundreds of times.
_path_classes: WeakKeyDictionary[Configuration, type[Path]] = WeakKeyDictionary()


def _path_class(configuration: Configuration) -> type[Path]:
    """Return the shortcut that replaces a clusterer exactly; the plain path where there is none."""
    from clustrep.clustering.shortcuts import SHORTCUTS  # they are paths themselves

    if configuration not in _path_classes:
        applying = (shortcut for shortcut in SHORTCUTS if shortcut.applies(configuration.clusterer))
        _path_classes[configuration] = next(applying, PlainPath)
    return _path_classes[configuration]
