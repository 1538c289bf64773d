"""Preparation, once for all resamples of a run, and clustering functions of a finished run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from weakref import WeakKeyDictionary

from clustrep.agreement.agreements import Agreement
from clustrep.agreement.contingency import Noise
from clustrep.data.study import Study, check_complete
from clustrep.errors import ParameterError
from clustrep.execution.devices import PROCESSOR
from clustrep.execution.forecast import ALWAYS_THERE, Cost, check_memory
from clustrep.execution.run import Plan
from clustrep.execution.seeds import FULL_STUDY, Failed, attempt, one_thread
from clustrep.fitting.function import ClusteringFunction
from clustrep.fitting.learners import (
    SECONDS_PER_PAIR,
    FailingLearner,
    Learner,
    PlainLearner,
    Spaces,
    transformed_learners,
)
from clustrep.fitting.parameters import Configuration, KnownLabels, takes_missing
from clustrep.fitting.resample import PointSet, Resample, Source
from clustrep.fitting.rotation import Rotation, can_rotate, needs_basis
from clustrep.types import FloatArray

T = TypeVar("T")


# Numbers that kernels compare in a second, roughly, and seconds that Python takes beside them: for a resample, for one
# member of a learner on a pair of studies, and for a fit by the clusterer itself, which also grows with the table.
NUMBERS_PER_SECOND = 5e9


SAMPLE_SECONDS, PAIR_SECONDS, FIT_SECONDS, NUMBER_SECONDS = 3e-5, 2e-6, 5e-3, 1e-7


# The cost of a foreign clusterer is unknown: taken as large enough for the workers that were asked for.
UNKNOWN_SECONDS = 1.0


# Bytes of distances that are kept for all resamples.
MOST_CACHED = 10**9


# The least number of features for each coordinate for which a rotation saves time.
ROTATION_PAYS = 2


@dataclass(frozen=True, eq=False)
class Setting:
    """Preparation, once, before the first replicate."""

    source: Source
    studies: tuple[Study, ...]
    places: tuple[PointSet, ...]  # the studies' points
    at: PointSet | None  # further points that are labelled
    learners: tuple[Learner, ...]  # their members, one after the other, are the configurations

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
        learners: tuple[Learner, ...] | None = None,
    ) -> Setting:
        """Choose a learner for every configuration, rotate what can be rotated, and make what resamples share.

        Without `for_run` nothing is shared, but everything is there to learn a clustering function for any points.
        Without `rotate` functions are learned in the features themselves, whatever their number. With `each_alone`
        every study is learned from once, and only its own samples are labelled. Studies of the same
        features can have the `learners` of others, where these `serve_other_studies`.
        """
        with_landmarks = uses_landmarks(source, studies)
        if with_landmarks or not all(takes_missing(each.clusterer) for each in configurations):
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
                8 * sum(n**2 for n in sizes) <= MOST_CACHED,
                for_run and 8 * sum(sizes) ** 2 <= MOST_CACHED,
            )
            places = tuple(
                PointSet(study.X, None if rotation is None else PointSet(rotation.coordinates[s], None, *keeps), *keeps)
                for s, study in enumerate(studies)
            )
            place = None
            if at is not None:
                projected = PointSet(rotation.project(at)) if rotation is not None and outside else None
                place = PointSet(at, projected) if outside else places[place_of[id(at)]]
            learners = learners or _learners(source, configurations, rotated, rotation, in_steps=not with_landmarks)
            if with_landmarks:
                from clustrep.accelerate.landmarks import landmark_learners  # it is a learner itself

                learners = landmark_learners(learners, source, studies, places)
            if for_run:
                for learner in learners:
                    for study in studies:
                        if (needed := learner.memory(len(study))) > ALWAYS_THERE:
                            check_memory(needed, learner.members[0].name, study.name, len(study))
                    learner.prepare(places)
                    if learner.by_lists and source.draws_rows and not learner.here and not each_alone:
                        from clustrep.fitting.neighbour_lists import cache_lists  # most clusterers need none

                        spaces = [learner.space(points) for points in places]
                        outsiders = [] if place is None or not outside else [learner.space(place)]
                        cache_lists(spaces, spaces + outsiders)
        return cls(source, tuple(studies), places, place, learners)

    @property
    def serve_other_studies(self) -> bool:
        """Whether the learners hold nothing of these studies: neither coordinates nor landmarks."""
        is_bound = uses_landmarks(self.source, self.studies)
        return not is_bound and all(learner.rotation is None for learner in self.learners)

    @property
    def in_threads(self) -> bool:
        """Whether threads can share the work: it is done by kernels alone."""
        return all(learner.in_threads for learner in self.learners)

    @property
    def cost(self) -> Cost:
        """Roughly how long a replicate takes, from the shapes of the studies and the learners."""
        S, n_members = len(self.places), sum(len(learner.members) for learner in self.learners)
        numbers = sum(learner.work(points) for learner in self.learners for points in self.places)
        by_clusterer = sum(len(learner.members) for learner in self.learners if not learner.compiled)
        sizes = [points.X.size for points in self.places]
        python = S * SAMPLE_SECONDS + n_members * S**2 * PAIR_SECONDS
        python += by_clusterer * (S * FIT_SECONDS + sum(sizes) * NUMBER_SECONDS)
        n_pairs = sum(len(points) ** 2 for points in self.places)
        kinds = [type(learner.members[0].clusterer).__name__ for learner in self.learners if not learner.compiled]
        python += n_pairs * sum(SECONDS_PER_PAIR.get(kind, 0.0) for kind in kinds)
        unknown = sum(
            not _is_known(member) for learner in self.learners if not learner.compiled for member in learner.members
        )
        python += unknown * S * UNKNOWN_SECONDS
        return Cost(numbers / NUMBERS_PER_SECOND, python)

    @property
    def here(self) -> bool:
        """Whether any learner works on a device that this process holds."""
        return any(learner.here for learner in self.learners)

    @property
    def device(self) -> str:
        """Where tables are counted: on the device, if this process holds it."""
        return self.source.device if self.here else PROCESSOR

    @property
    def has_kernels(self) -> bool:
        """Whether any learner takes a shortcut that is compiled."""
        return any(learner.compiled for learner in self.learners)

    @property
    def batch(self) -> int:
        """How many replicates are learned together."""
        return max(learner.batch(self.places) for learner in self.learners)

    def resample(self, s: int, replicate: int, *, second: bool = False) -> Resample:
        """Draw one of the studies.

        Parameters
        ----------
        s : int
            Which study.
        replicate : int
            0 for the study as it is, b + 1 for resample b.
        second : bool, default=False
            Whether to take the second of two independent draws.

        Returns
        -------
        Resample
        """
        return self.source.resample(self.studies[s], self.places[s], replicate, second=second)

    def resamples_of(self, s: int, replicates: Sequence[int], *, second: bool = False) -> list[Resample]:
        """Draw one of the studies for many replicates."""
        together = self.has_kernels  # else a kernel would be compiled for the draws alone
        return self.source.resamples(self.studies[s], self.places[s], replicates, second=second, together=together)

    def resamples(self, replicates: Sequence[int], *, second: bool = False) -> list[Resample]:
        """Draw all studies, one replicate after the other."""
        by_study = (self.resamples_of(s, replicates, second=second) for s in range(len(self.studies)))
        return [resample for of_replicate in zip(*by_study, strict=True) for resample in of_replicate]


@dataclass(frozen=True, eq=False)
class ClusteringPlan(Plan[T]):
    """A plan whose replicates are clusterings of drawn studies."""

    setting: Setting

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """All members of all learners."""
        return tuple(member for learner in self.setting.learners for member in learner.members)

    @property
    def in_threads(self) -> bool:
        """Whether all learners spend their time in kernels."""
        return self.setting.in_threads

    @property
    def cost(self) -> Cost:
        """Roughly how long a replicate takes."""
        return self.setting.cost

    @property
    def here(self) -> bool:
        """Whether any learner works on a device that this process holds."""
        return self.setting.here

    @property
    def compiles(self) -> bool:
        """Whether any learner has kernels."""
        return self.setting.has_kernels

    @property
    def batch(self) -> int:
        """How many replicates the learners learn from at once."""
        return self.setting.batch

    def lost(self, number: int, cause: str) -> T:
        """Return the replicate as it is where every fit fails."""
        learners = tuple(FailingLearner(learner, cause) for learner in self.setting.learners)
        (value,) = replace(self, setting=replace(self.setting, learners=learners)).block([number])
        return value


def _is_known(configuration: Configuration) -> bool:
    """Whether the time of a fit can be guessed: that of scikit-learn's clusterers and of known labels."""
    clusterer = configuration.clusterer
    return isinstance(clusterer, KnownLabels) or type(clusterer).__module__.startswith("sklearn.")


def uses_landmarks(source: Source, studies: Sequence[Study]) -> bool:
    """Whether any study has more samples than landmarks."""
    return source.n_landmarks is not None and any(len(study) > source.n_landmarks for study in studies)


def rotates(source: Source, studies: Sequence[Study], configuration: Configuration) -> bool:
    """Whether a configuration is computed in coordinates: far fewer than features, with the same result.

    Parameters
    ----------
    source : Source
        Only draws of the studies' own samples can be rotated once for all resamples.
    studies : sequence of Study
        Which must have at least `ROTATION_PAYS` features for each sample.
    configuration : Configuration
        Whose clusterer must find the same clusters in rotated data.

    Returns
    -------
    bool
    """
    return (
        source.accelerate
        and not uses_landmarks(source, studies)  # landmarks have the studies' features
        and source.draws_rows
        and ROTATION_PAYS * sum(len(study) for study in studies) <= studies[0].X.shape[1]
        and can_rotate(configuration.clusterer)
    )


def _learners(
    source: Source,
    configurations: Sequence[Configuration],
    rotated: Sequence[bool],
    rotation: Rotation | None,
    *,
    in_steps: bool = True,
) -> tuple[Learner, ...]:
    """Choose learners: configurations one after the other share one where they can.

    in_steps : whether the first steps of pipelines are fitted once for all that have the same, and the last one by a
        learner by itself
    """
    learners: list[Learner] = []
    spaces: dict[str, Spaces] = {}
    for digest, group in itertools.groupby(
        zip(configurations, rotated, strict=True),
        lambda pair: _digest_of_first_steps(pair[0]) if in_steps and source.accelerate and not pair[1] else "",
    ):
        members, are_rotated = zip(*group, strict=True)
        if digest:
            last_steps = [member.last_step for member in members]
            inside = _learners(source, last_steps, [False] * len(members), None)
            learners += transformed_learners(inside, members, spaces.setdefault(digest, Spaces()))
        else:
            learners += _learners_of_features(source, members, are_rotated, rotation)
    return tuple(learners)


def _learners_of_features(
    source: Source, configurations: Sequence[Configuration], rotated: Sequence[bool], rotation: Rotation | None
) -> list[Learner]:
    learners: list[Learner] = []
    for configuration, is_rotated in zip(configurations, rotated, strict=True):
        make = _learner_class(configuration) if source.accelerate else PlainLearner
        last = learners[-1] if learners else None
        if make is not PlainLearner and type(last) is make and _belongs(configuration, last):
            learners[-1] = make([*last.members, configuration], last.rotation)
        else:
            learners.append(make([configuration], rotation if is_rotated else None))
    return [learner.on(source.device) for learner in learners]


def works_here(source: Source, configurations: Sequence[Configuration]) -> bool:
    """Whether any of these configurations works on a device that this process holds."""
    in_steps = source.n_landmarks is None
    learners = _learners(source, configurations, [False] * len(configurations), None, in_steps=in_steps)
    return any(learner.here for learner in learners)


def _belongs(configuration: Configuration, learner: Learner) -> bool:
    """Whether a configuration is learned together with those of a learner."""
    first = learner.members[0]
    of_series = learner.takes_series and bool(first.series) and first.series == configuration.series
    return first.name == configuration.name or of_series


# Configurations do not change, and reading a clusterer's parameters takes longer than a small fit: simulated
# collections are fitted with the same ones, hundreds of times.
_learner_classes: WeakKeyDictionary[Configuration, type[Learner]] = WeakKeyDictionary()


def _learner_class(configuration: Configuration) -> type[Learner]:
    """Return the shortcut that replaces a clusterer exactly; the plain learner where there is none."""
    from clustrep.accelerate import SHORTCUTS  # they are learners themselves

    if configuration not in _learner_classes:
        applying = (shortcut for shortcut in SHORTCUTS if shortcut.applies(configuration.clusterer))
        _learner_classes[configuration] = next(applying, PlainLearner)
    return _learner_classes[configuration]


_first_steps: WeakKeyDictionary[Configuration, str] = WeakKeyDictionary()


def _digest_of_first_steps(configuration: Configuration) -> str:
    """Return what identifies the first steps of a pipeline; empty where there are none."""
    from clustrep.fitting.fingerprint import identity_of

    if configuration not in _first_steps:
        steps = configuration.first_steps
        _first_steps[configuration] = "" if steps is None else identity_of(steps)
    return _first_steps[configuration]


# ---------------------------------------------------------------------------------------------------------------------
# clustering functions of a finished run, learned again from their seeds


@dataclass(frozen=True, eq=False)
class RunOrigin:
    """What a result was computed from, kept in memory only: data does not travel in result files."""

    source: Source
    studies: tuple[Study, ...]
    configuration: Configuration
    agreements: tuple[Agreement, ...]
    noise: Noise

    def refit(self, s: int, resample: int | None = None) -> ClusteringFunction:
        """Learn the clustering function of a study as it is, or of its draw in a resample, as the run did."""
        replicate = FULL_STUDY if resample is None else 1 + resample
        setting = Setting.prepare(self.source, self.studies, [self.configuration], for_run=False)
        with one_thread():  # as in the run
            function = attempt(setting.learners[0].learn([setting.resample(s, replicate)])[0].function, 0)
        study = self.studies[s]
        if isinstance(function, Failed):
            where = "as it is" if resample is None else f"in resample {resample}"
            raise ParameterError(
                f"Study {study.name!r} {where} has no clustering function: {function.cause}.", parameter=None
            )
        function.features = study.features if study.features_are_named else None
        return function
