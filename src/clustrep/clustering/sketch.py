"""Clusterers fitted to the landmarks of large studies; everybody else gets a label by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from clustrep.clustering.function import ClusteringFunction, learn, takes_nearest
from clustrep.clustering.landmarks import CHOICES, Landmarks, Sketch, choice_for
from clustrep.clustering.neighbours import nearest_point
from clustrep.clustering.parameters import Clusterer, KnownLabels
from clustrep.clustering.path import Learned, Path, Prediction, Psi
from clustrep.clustering.sample import Configuration, PointSet, Sample, Source
from clustrep.clustering.shortcuts.trees import TreePath
from clustrep.clustering.ward_cells import ward_cells
from clustrep.device.available import PROCESSOR
from clustrep.engine.replicates import Stream, make_generator, seed_of
from clustrep.errors import ParameterError
from clustrep.studies.study import Study
from clustrep.types import FloatArray, IntArray, Labels

# How landmarks are chosen for Ward's linkage; other choices are those of `CHOICES`.
WARD = "Ward's first clusters"
# Bytes of labels that a batch may have.
MOST_BYTES = 2**26


@dataclass(frozen=True, eq=False)
class SketchedPoints:
    """A study's landmarks as points, and which of them is nearest to each point of other sets."""

    landmarks: Landmarks
    points: PointSet
    device: str = PROCESSOR  # where nearest landmarks are found
    _nearest: WeakKeyDictionary[PointSet, IntArray] = field(default_factory=WeakKeyDictionary)

    def nearest(self, points: PointSet) -> IntArray:
        """Return the nearest landmark of every point, found once for each set, (n_points,)."""
        if points not in self._nearest:
            search = nearest_point(self.points.X, "euclidean", device=self.device)
            self._nearest[points] = search(points.X).astype(np.int32)
        return self._nearest[points]

    def sample(self, sample: Sample) -> Sample:
        """Return the landmarks' part in a sample of the study."""
        return replace(
            sample,
            study=sample.study.with_table(self.points.X),
            draw=self.landmarks.draw(sample.draw),
            points=self.points,
            originals=self.points,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_nearest": dict(self._nearest)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _nearest=WeakKeyDictionary(state["_nearest"]))


@dataclass(frozen=True, eq=False)
class LandmarkPsi(Psi):
    """ψ of landmarks: a point has the label of the nearest."""

    psi: Psi
    sketched: SketchedPoints

    @property
    def classes(self) -> Labels | None:  # type: ignore[override]
        """Those of the landmarks."""
        return self.psi.classes

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""
        return np.asarray(self.psi.labels(self.sketched.points)[self.sketched.nearest(points)])


class SketchedPath(Path):
    """A path that learns from landmarks.

    A clusterer with a `predict` labels all points by it. For one that is induced by the nearest training point, that is
    the nearest landmark, which is found once for all replicates; a landmark of which no sample was drawn has the label
    of the nearest that was.
    """

    def __init__(self, path: Path, size: int, sketched: Mapping[PointSet, SketchedPoints]):
        super().__init__(path.members, None)
        self.path = path
        self.size = size  # of a sketch
        self.sketched = sketched  # by the points of the study; studies that are not larger than a sketch are missing
        self.by_landmarks = takes_nearest(path.members[0].clusterer, among_features=True)

    @property
    def compiled(self) -> bool:  # type: ignore[override]
        """Whether there are kernels in it."""
        return self.path.compiled

    @property
    def in_threads(self) -> bool:  # type: ignore[override]
        """Whether its time is spent in kernels."""
        return self.path.in_threads and not self.by_landmarks

    @property
    def here(self) -> bool:
        """Whether it works on a device that this process holds."""
        return self.path.here

    def landmarks(self, points: PointSet) -> PointSet:
        """Return the landmarks of a study; all points of one that is not larger than a sketch."""
        return self.sketched[points].points if points in self.sketched else points

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Make what all resamples share, and find the nearest landmarks of all points."""
        self.path.prepare([self.landmarks(points) for points in places])
        if self.by_landmarks:
            for sketched in self.sketched.values():
                for points in places:
                    sketched.nearest(points)

    def work(self, points: PointSet) -> float:
        """Estimate how many numbers the kernels compare in one resample."""
        return self.path.work(self.landmarks(points)) + len(points)

    def batch(self, places: Sequence[PointSet]) -> int:
        """Say from how many replicates it likes to learn at once: all labels of a batch are kept."""
        n_labels = sum(map(len, places)) * len(places) * len(self.members)
        wanted = self.path.batch([self.landmarks(points) for points in places])
        return max(1, min(wanted, MOST_BYTES // (4 * n_labels)))

    def memory(self, n_samples: int) -> float:
        """Estimate how many bytes one fit needs."""
        return self.path.memory(min(n_samples, self.size))

    def learn(self, samples: Sequence[Sample], at: Sequence[Sequence[PointSet]] | None = None) -> Sequence[Learned]:
        """Learn from the landmarks of all samples."""
        if self.by_landmarks:
            return super().learn(samples, at)
        return self.path.learn([self._sample(sample) for sample in samples], at)

    def share(self, sample: Sample) -> Any:
        """Learn what all members have in common, from the landmarks."""
        return self.path.share(self._sample(sample))

    def psi(self, shared: Any, sample: Sample, configuration: Configuration) -> Psi:
        """Learn from the landmarks."""
        psi = self.path.psi(shared, self._sample(sample), configuration)
        return LandmarkPsi(psi, self.sketched[sample.points]) if sample.points in self.sketched else psi

    def function(self, psi: Any, sample: Sample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it; its clusterer was fitted to the landmarks."""
        if not isinstance(psi, LandmarkPsi):
            return self.path.function(psi, sample, configuration)
        return ClusteringFunction(Prediction(psi, None), sample.study.X, self.fitted(psi, sample, configuration))

    def fitted(self, psi: Any, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the clusterer that was fitted to the landmarks."""
        return self.path.function(psi.psi, self._sample(sample), configuration).clusterer

    def _sample(self, sample: Sample) -> Sample:
        sketched = self.sketched.get(sample.points)
        return sample if sketched is None else sketched.sample(sample)


def sketched_paths(
    paths: Sequence[Path], source: Source, studies: Sequence[Study], places: Sequence[PointSet]
) -> tuple[Path, ...]:
    """Let every path learn from landmarks, chosen as suits its clusterer."""
    assert source.sketch is not None
    if any(isinstance(member.clusterer, KnownLabels) for path in paths for member in path.members):
        raise ParameterError("sketch is for clusterers: with known labels nothing is fitted.", parameter="sketch")
    known: dict[str, dict[PointSet, SketchedPoints]] = {}
    sketched_by: list[Path] = []
    for path in paths:
        choice = source.sketch.choice or choice_of(path)
        if choice not in known:
            known[choice] = {
                points: sketched_points(source, choice, study)
                for study, points in zip(studies, places, strict=True)
                if len(study) > source.sketch.size
            }
        sketched_by.append(SketchedPath(path, source.sketch.size, known[choice]))
    return tuple(sketched_by)


def choice_of(path: Path) -> str:
    """Return how landmarks are chosen for a path."""
    if isinstance(path, TreePath) and path.members[0].clusterer.linkage == "ward":
        return WARD
    return choice_for(takes_weights=path.takes_weights)


def choose(choice: str, X: FloatArray, size: int, rng: np.random.Generator) -> Landmarks:
    """Choose landmarks in the way that has this name."""
    return (ward_cells if choice == WARD else CHOICES[choice])(X, size, rng)


def learn_from_landmarks(
    clusterer: Clusterer, sample: FloatArray, seed: np.random.SeedSequence, sketch: Sketch | None
) -> ClusteringFunction:
    """Learn ψ from a table: from landmarks where there is a sketch, and the table is larger."""
    if sketch is None or len(sample) <= sketch.size:
        return learn(clusterer, sample, seed)
    takes_weights = has_fit_parameter(clusterer, "sample_weight")
    choice = sketch.choice or choice_for(takes_weights=takes_weights)
    landmarks = choose(choice, sample, sketch.size, make_generator(seed))
    weights = None if landmarks.cells is None or not takes_weights else np.bincount(landmarks.cells)
    return learn(clusterer, landmarks.X, seed, weights)


def sketched_points(source: Source, choice: str, study: Study) -> SketchedPoints:
    """Choose the landmarks of a study, by its name and the seed of the run alone."""
    sketch = source.sketch
    assert sketch is not None
    rng = make_generator(seed_of(source.root, Stream.LANDMARKS, study.name, sketch.number))
    landmarks = choose(choice, study.X, sketch.size, rng)
    return SketchedPoints(landmarks, PointSet(landmarks.X, None, keeps_own=True), source.device)
