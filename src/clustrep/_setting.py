"""What is prepared once for all replicates of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clustrep._engine import one_thread
from clustrep._learning import Configuration, Sample, Source
from clustrep._paths import Path, PlainPath
from clustrep._points import PointSet
from clustrep._rotation import Rotation, can_rotate, needs_basis
from clustrep._shortcuts import path_class
from clustrep._types import FloatArray
from clustrep.study import Study

# Numbers that the kernels must compare in a resample for threads to be worth more than processes: a few milliseconds.
LEAST_THREAD_WORK = 20_000_000
# Bytes of distances that are kept for all resamples.
MOST_KEPT = 10**9
# Features for each coordinate, from which on it pays to find coordinates.
ROTATION_PAYS = 2


@dataclass(frozen=True, eq=False)
class Setting:
    """What is prepared once, before the first replicate."""

    source: Source
    studies: tuple[Study, ...]
    places: tuple[PointSet, ...]  # the studies' points
    at: PointSet | None  # further points that are asked about
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
    ) -> Setting:
        """Choose a path for every configuration, rotate what can be rotated, and make what resamples share.

        Without `for_run` nothing is shared, but everything is there to learn a clustering function for any points.
        """
        rotated = [rotates(source, studies, configuration) for configuration in configurations]
        own = {id(study.X): s for s, study in enumerate(studies)}  # `at` may be one of the studies
        outside = at is not None and id(at) not in own
        with one_thread():
            rotation = None
            if any(rotated):
                basis = not for_run or outside or any(needs_basis(c.clusterer) for c in configurations)
                rotation = Rotation.of([study.X for study in studies], with_basis=basis)
            sizes = [len(study) for study in studies]
            keeps = (8 * sum(n**2 for n in sizes) <= MOST_KEPT, for_run and 8 * sum(sizes) ** 2 <= MOST_KEPT)
            places = tuple(
                PointSet(study.X, None if rotation is None else PointSet(rotation.coordinates[s], None, *keeps), *keeps)
                for s, study in enumerate(studies)
            )
            place = None
            if at is not None:
                projected = PointSet(rotation.project(at)) if rotation is not None and outside else None
                place = PointSet(at, projected) if outside else places[own[id(at)]]
            paths = _paths(source, configurations, rotated, rotation)
            if for_run:
                for path in paths:
                    path.prepare(places)
        return cls(source, tuple(studies), places, place, paths)

    @property
    def in_threads(self) -> bool:
        """Whether threads can share the work: kernels alone, and long enough for Python to get out of the way."""
        if not all(path.in_threads for path in self.paths):
            return False
        return sum(path.work(points) for path in self.paths for points in self.places) > LEAST_THREAD_WORK

    @property
    def has_kernels(self) -> bool:
        """Whether any path takes a shortcut that is compiled."""
        return any(path.compiled for path in self.paths)

    def sample(self, s: int, replicate: int, *, second: bool = False) -> Sample:
        """Draw one of the studies."""
        return self.source.sample(self.studies[s], self.places[s], replicate, second=second)


def rotates(source: Source, studies: Sequence[Study], configuration: Configuration) -> bool:
    """Whether a configuration is worked out in coordinates: far fewer than features, and none the wiser for it."""
    return (
        source.accelerate
        and getattr(source.resampling, "keeps_points", False)  # draws consist of the studies' own points
        and ROTATION_PAYS * sum(len(study) for study in studies) <= studies[0].X.shape[1]
        and can_rotate(configuration.clusterer)
    )


def _paths(
    source: Source, configurations: Sequence[Configuration], rotated: Sequence[bool], rotation: Rotation | None
) -> tuple[Path, ...]:
    paths: list[Path] = []
    for configuration, in_coordinates in zip(configurations, rotated, strict=True):
        make = path_class(configuration.clusterer) if source.accelerate else PlainPath
        last = paths[-1] if paths else None
        if make is not PlainPath and type(last) is make and last.members[0].name == configuration.name:
            paths[-1] = make([*last.members, configuration], last.rotation)
        else:
            paths.append(make([configuration], rotation if in_coordinates else None))
    return tuple(paths)
