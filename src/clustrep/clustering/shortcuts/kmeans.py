"""k-means by compiled kernels: all resamples of a batch and all numbers of clusters together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from clustrep.clustering.parameters import Clusterer
from clustrep.clustering.path import Learned, Path, Psi
from clustrep.clustering.sample import Configuration, Labelled, PointSet, Sample
from clustrep.clustering.shortcuts.kmeans_fits import (
    KMeansSample,
    Members,
    Settings,
    Solution,
    Strategy,
    fit_by_distance,
    fit_by_feature,
    label_points,
    nearest_centre,
)
from clustrep.engine.replicates import Failed, words_of
from clustrep.tables.contingency import Partition
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

# Numbers that the kernels compare in one batch, about a tenth of a second's; replicates and bytes that it may have.
BATCH_WORK = 400_000_000
MOST_REPLICATES = 64
MOST_BYTES = 2**26


@dataclass(frozen=True, eq=False)
class _CentresPsi(Psi):
    path: Path
    solution: Solution

    @property
    def classes(self) -> Labels:  # type: ignore[override]
        return np.arange(len(self.solution.centres))

    def labels(self, points: PointSet) -> Labels:
        return nearest_centre(self.path.space(points), self.solution.centres)


# Read once: simulated collections are fitted with the same configurations, hundreds of times.
_known_settings: WeakKeyDictionary[Configuration, Settings] = WeakKeyDictionary()


class KMeansPath(Path):
    """k-means by our own kernels; every number of clusters has its own starts."""

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether it is scikit-learn's class with parameters that the kernels have."""
        return type(clusterer) is KMeans and Settings.of(clusterer) is not None

    @cached_property
    def _settings(self) -> dict[Configuration, Settings]:
        return {member: self._read(member) for member in self.members}

    def _read(self, member: Configuration) -> Settings:
        if self.rotation is None and member in _known_settings:
            return _known_settings[member]
        settings = Settings.of(member.clusterer, self.rotation)
        assert settings is not None  # or this path would not apply
        if self.rotation is None:
            _known_settings[member] = settings
        return settings

    def settings_of(self, member: Configuration) -> Settings:
        """Return the settings of one member."""
        return self._settings[member]

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Turn the points; measure their distances where a member will ask for them."""
        for points in map(self.space, places):
            points.by_feature  # noqa: B018
            if any(settings.strategy(points) is Strategy.BY_DISTANCE for settings in self._settings.values()):
                points.distances()

    def work(self, points: PointSet) -> float:
        """Say roughly how many numbers the kernels compare in one resample."""
        n, p = self.space(points).X.shape
        return float(sum(10.0 * s.n_init * n * min(s.n_clusters * p, n) for s in self._settings.values()))

    def batch(self, places: Sequence[PointSet]) -> int:
        """Say how many replicates make a batch: of enough work, but not of too many labels."""
        work = sum(map(self.work, places))
        n_labels = sum(map(len, places)) * len(places) * len(self.members)
        return int(max(1, min(MOST_REPLICATES, BATCH_WORK / work, MOST_BYTES / (4 * n_labels))))

    def learn(self, samples: Sequence[Sample], at: Sequence[Sequence[PointSet]] | None = None) -> Sequence[Learned]:
        """Learn from all samples together, once one of them is asked for."""
        batch = Batch(self, samples, [[] for _ in samples] if at is None else at)
        return [_LearnedTogether(self, sample, batch, i) for i, sample in enumerate(samples)]

    def share(self, sample: Sample) -> KMeansSample:
        """Prepare the drawn points."""
        return KMeansSample(self.space(sample.points), sample.draw.weights, sample.points.X.shape[1])

    def psi(self, shared: KMeansSample, sample: Sample, configuration: Configuration) -> Psi:
        """Find the centres."""
        settings = self._settings[configuration]
        return _CentresPsi(self, shared.fit(settings, sample.seed(configuration.n_clusters)))

    def fitted(self, psi: _CentresPsi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the `KMeans` with these centres."""
        solution, X = psi.solution, sample.study.X
        centres = solution.centres if self.rotation is None else self.rotation.restore(solution.centres)
        fitted = clone(configuration.clusterer)
        fitted.cluster_centers_ = centres.astype(X.dtype)
        fitted.labels_ = psi.labels(sample.points)[sample.draw.order]
        fitted.inertia_, fitted.n_iter_ = solution.inertia, solution.n_iter
        fitted.n_features_in_ = X.shape[1]
        fitted._n_threads, fitted._n_features_out = 1, len(centres)  # what `predict` and `transform` need
        return fitted


# ---------------------------------------------------------------------------------------------------------------------
# batches


class Batch:
    """Samples that are fitted together, and what their clustering functions say of points.

    Parameters
    ----------
    path : KMeansPath
    samples : sequence of Sample
    at : sequence of sequences of PointSet
        The points that the functions of every sample will be asked about, beside its own.
    """

    def __init__(self, path: KMeansPath, samples: Sequence[Sample], at: Sequence[Sequence[PointSet]]):
        self.path = path
        self.samples = samples
        self.at = at
        self.settings = [path.settings_of(member) for member in path.members]
        self.classes = [np.arange(settings.n_clusters) for settings in self.settings]
        self.fewest = [member.fewest_clusters for member in path.members]

    @cached_property
    def _strategies(self) -> list[list[Strategy]]:
        """How every member is fitted to every sample."""
        known: dict[PointSet, list[Strategy]] = {}
        for sample in self.samples:
            points = self.path.space(sample.points)
            if points not in known:
                known[points] = [settings.strategy(points) for settings in self.settings]
        return [known[self.path.space(sample.points)] for sample in self.samples]

    @cached_property
    def _words(self) -> tuple[IntArray, list[int]]:
        """The words of all seeds, (n_samples, n_members, n_words), and how many of them count for every member."""
        prefixes = [sample.seed_words() for sample in self.samples]
        n_words = 1 + max(map(len, prefixes))
        fixed = [None if s.random_state is None else words_of(s.random_state) for s in self.settings]
        lengths = [n_words if words is None else len(words) for words in fixed]
        words = np.zeros((len(prefixes), len(fixed), max(n_words, *lengths)), np.uint32)
        words[:, :, : n_words - 1] = np.array(prefixes, np.uint32)[:, None]
        words[:, :, n_words - 1] = [member.n_clusters or 0 for member in self.path.members]
        for m, given in enumerate(fixed):
            if given is not None:
                words[:, m, : len(given)] = given
        return words, lengths

    @cached_property
    def _members(self) -> Members:
        return Members(self.settings, self.path.space(self.samples[0].points).X.shape[1], self._words[1])

    @property
    def _n_features(self) -> int:
        """How many features there are before points are rotated."""
        return int(self.samples[0].points.X.shape[1])

    @property
    def _can_begin(self) -> BoolArray:
        """Which members have first centres, if any are given, with the features of the data, (n_members,)."""
        return np.array([s.n_init_features in (None, self._n_features) for s in self.settings])

    @cached_property
    def _fits(self) -> tuple[FloatArray, BoolArray]:
        """The centres of all members, (n_samples, n_centres, n_features), and which of them were fitted."""
        members, (words, _) = self._members, self._words
        centres = np.zeros((len(self.samples), members.n_centres, members.given.shape[1]))
        is_fitted = np.zeros((len(self.samples), len(members)), dtype=bool)
        by_points: dict[PointSet, list[int]] = defaultdict(list)
        for i, sample in enumerate(self.samples):
            if self._strategies[i][0] is Strategy.BY_FEATURE:
                by_points[self.path.space(sample.points)].append(i)
            else:
                self._fit_distances(i, members.borders, centres[i], is_fitted[i])
        for points, places in by_points.items():
            fits = fit_by_feature(points, self._weights(places), members, self._n_features, words[places])
            centres[places], is_fitted[places] = fits.centres, fits.n_iter > 0
        return centres, is_fitted & self._can_begin

    def _fit_distances(self, i: int, borders: IntArray, centres: FloatArray, is_fitted: BoolArray) -> None:
        """Fit those members that work with distances to one sample."""
        chosen = [m for m, strategy in enumerate(self._strategies[i]) if strategy is Strategy.BY_DISTANCE]
        shared = self.path.share(self.samples[i])
        if not chosen or not np.isfinite(shared.variance):
            return
        words, n_words = self._words
        some = Members([self.settings[m] for m in chosen], centres.shape[1], [n_words[m] for m in chosen])
        fits = fit_by_distance(shared, some, words[i, chosen])
        for place, m in enumerate(chosen):
            if fits.n_iter[0, place]:
                centres[borders[m] : borders[m + 1]] = fits.solution(0, place).centres
                is_fitted[m] = True

    @cached_property
    def _labels(self) -> tuple[dict[tuple[int, PointSet], IntArray], IntArray]:
        """What functions say of points, each (n_members, n_points), and how many labels they give to their own draw."""
        centres, is_fitted = self._fits
        members = self._members
        n_found = np.zeros((len(self.samples), len(members)), np.int64)
        own: dict[PointSet, list[int]] = defaultdict(list)
        others: dict[PointSet, list[int]] = defaultdict(list)
        for i, sample in enumerate(self.samples):
            own[sample.points].append(i)
            for points in dict.fromkeys(self.at[i]):
                if points is not sample.points:
                    others[points].append(i)
        known: dict[tuple[int, PointSet], IntArray] = {}
        for points, places in own.items():
            labels, n_found[places] = label_points(
                self.path.space(points), members, centres[places], is_fitted[places], self._weights(places)
            )
            known.update({(i, points): row for i, row in zip(places, labels, strict=True)})
        for points, places in others.items():
            labels, _ = label_points(self.path.space(points), members, centres[places], is_fitted[places], None)
            known.update({(i, points): row for i, row in zip(places, labels, strict=True)})
        return known, n_found

    def _weights(self, places: Sequence[int]) -> FloatArray:
        return np.array([self.samples[i].draw.weights for i in places], dtype=float)

    def labelled(self, i: int, member: int, at: Sequence[PointSet]) -> Labelled | None:
        """Return what one function says of points; None where it was not fitted, or has too few clusters."""
        known, n_found = self._labels
        if n_found[i, member] < max(1, self.fewest[member]):
            return None
        codes = [self._codes(i, member, points, known) for points in at]
        return Labelled([Partition(found, self.classes[member]) for found in codes], int(n_found[i, member]))

    def _codes(self, i: int, member: int, points: PointSet, known: dict[tuple[int, PointSet], IntArray]) -> IntArray:
        if (i, points) in known:
            return np.asarray(known[i, points][member])
        begin = sum(settings.n_clusters for settings in self.settings[:member])
        centres = self._fits[0][i, begin : begin + self.settings[member].n_clusters]
        return nearest_centre(self.path.space(points), centres)


@dataclass(frozen=True, eq=False)
class _LearnedTogether(Learned):
    batch: Batch
    number: int

    def labels(self, member: int, at: Sequence[PointSet]) -> Labelled | Failed:
        labelled = self.batch.labelled(self.number, member, at)
        return super().labels(member, at) if labelled is None else labelled  # alone, it says why it failed
