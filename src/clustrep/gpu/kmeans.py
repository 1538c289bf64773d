"""k-means on a GPU, or by the same code on the processor: all fits of a batch together.

Only imported where a device was asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
import torch

from clustrep.accelerate.kmeans import (
    Batch,
    CentresFunction,
    KMeansLearner,
    KMeansResample,
    Solution,
    _BatchFit,
    batch_of,
)
from clustrep.agreement.agreements import Agreement
from clustrep.agreement.batches import PairScores
from clustrep.agreement.contingency import Counts
from clustrep.cached import cached_property
from clustrep.errors import ParameterError
from clustrep.execution.devices import GPU, free_bytes
from clustrep.fitting.learners import Fit, FittedFunction
from clustrep.fitting.parameters import Clusterer, Configuration
from clustrep.fitting.resample import PointSet, Resample
from clustrep.fitting.rotation import Rotation
from clustrep.gpu.many_fits import Starts, choose_first, move_centres, squared_lengths
from clustrep.gpu.plain_steps import PlainSteps, count_tables
from clustrep.gpu.points import DevicePoints, DeviceTables
from clustrep.gpu.scores import can_score, score_tables
from clustrep.kernels import streams
from clustrep.kernels.fit_batch import n_uniforms
from clustrep.text import argument
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

# Numbers of clusters are filled up to a power of two, at least this, and computed together.
FEWEST_ROWS = 16
# Numbers of 32 or 64 bits that a start keeps of every point while its first centres are chosen.
NUMBERS_OF_POINT = 3
MOST_STARTS = 2**16
MOST_REPLICATES = 128
# The largest weight that is kept in one byte.
BYTE = 255
# Points whose tables the kernels count at once, each in another table.
TABLE_PIECE = 2**14
# Tables of at most this number of points are fitted together; fits to a larger one fill a GPU. Bytes of a number in
# them, in all its precisions.
STACKED_POINTS, STACKED_BYTES = 2**16, 32


@dataclass(frozen=True, eq=False)
class Fitting:
    """The fits of some members to some samples, with as many starts as each asks for.

    The samples are those of one table of points, or each has another table.

    Attributes
    ----------
    steps : PlainSteps
    weights : Tensor, (n_samples, n_points)
    variances : ndarray, (n_samples,)
        Of the samples, averaged over features, in the data's own units.
    fits : list of (sample, member)
        Those with most clusters first.
    """

    batch: DeviceBatch
    steps: PlainSteps
    weights: Any
    variances: FloatArray
    fits: list[tuple[int, int]]
    places: Sequence[int]

    @property
    def _settings(self) -> list[Any]:
        return [self.batch.settings[member] for _, member in self.fits]

    def solutions(self) -> tuple[Any, FloatArray, IntArray]:
        """Return the centres of the best start of every fit, on the device, its inertia and number of iterations."""
        settings = self._settings
        n_starts = np.array([s.n_init for s in settings])
        fit_of = np.repeat(np.arange(len(settings)), n_starts)
        width = self.steps.points.X.element_size() * NUMBERS_OF_POINT * len(self.steps.points)
        step = int(max(1, min(MOST_STARTS, free_bytes(self.steps.points.device) // width)))
        pieces: list[tuple[Any, Any, Any]] = []
        begin = 0
        while begin < len(fit_of):
            try:
                pieces.append(self._run(fit_of[begin : begin + step], begin, fit_of))
                begin += step
            except torch.cuda.OutOfMemoryError:
                step = self._smaller(step)
        k = settings[0].n_clusters
        centres = torch.cat([torch.nn.functional.pad(c, (0, 0, 0, k - c.shape[1])) for c, _, _ in pieces])
        inertia, n_iter = (torch.cat([piece[i] for piece in pieces]).cpu().numpy() for i in (1, 2))
        first = np.concatenate([[0], np.cumsum(n_starts)[:-1]])
        best = np.array([begin + inertia[begin : begin + n].argmin() for begin, n in zip(first, n_starts, strict=True)])
        return centres[torch.as_tensor(best, device=centres.device)], inertia[best], n_iter[best]

    @staticmethod
    def _smaller(step: int) -> int:
        """Halve a batch for which the GPU has not enough memory."""
        torch.cuda.empty_cache()
        if step == 1:
            raise ParameterError(
                "The GPU has not enough memory for a single start of k-means on the largest study. "
                f"Free memory on it, or use {argument('device', 'cpu')}.",
                parameter="device",
            ) from None
        return step // 2

    def _run(self, fit_of: IntArray, begin: int, all_fits: IntArray) -> tuple[Any, Any, Any]:
        """Compute some starts: their centres, inertia and numbers of iterations."""
        points, device = self.steps.points, self.weights.device
        of_fit = np.array([self._numbers_of(fit) for fit in self.fits])[fit_of]  # one column for each number
        # In rows, one after the other in memory, as kernels read them.
        whole = torch.as_tensor(np.ascontiguousarray(of_fit[:, :4].T, dtype=np.int64), device=device)
        sample, k, n_trials, max_iter = whole
        tables = of_fit[:, 0].astype(np.int64)  # where there are several, each has one sample
        squared_units = points.units_of(tables) ** 2
        tol = torch.as_tensor(of_fit[:, 4] / squared_units, dtype=torch.float64, device=device)
        starts = Starts(self.weights, sample, k, n_trials, max_iter, tol)
        first = self.batch.settings[self.fits[fit_of[0]][1]]
        if first.init is None:
            uniforms = torch.as_tensor(self._uniforms(fit_of, begin, all_fits), device=device)
            centres = self.steps.rows(sample, choose_first(self.steps, starts, uniforms))
        else:
            given = np.array([self.batch.settings[self.fits[f][1]].init for f in fit_of])
            centres = points.of_tables(tables).inside(given)
        centres.masked_fill_(starts.absent[..., None], 0.0)
        n_iter = move_centres(self.steps, starts, centres)
        lengths = squared_lengths(centres, starts.absent)
        inertia = self.steps.inertia(centres, lengths, self.weights, starts.sample)
        return centres, inertia * torch.as_tensor(squared_units, device=device), n_iter

    def _numbers_of(self, fit: tuple[int, int]) -> tuple[float, ...]:
        """Return the sample of a fit, its numbers of clusters, trials and iterations, and its tolerance."""
        settings = self.batch.settings[fit[1]]
        tol = settings.tol * self.variances[fit[0]]
        return fit[0], settings.n_clusters, _n_trials(settings.n_clusters), settings.max_iter, tol

    def _uniforms(self, fit_of: IntArray, begin: int, all_fits: IntArray) -> FloatArray:
        """Return the random numbers of starts, (n_starts, most): those that the compiled kernels draw."""
        words, lengths = self.batch._words
        numbers, places, n_rows = np.unique(fit_of, return_index=True, return_counts=True)
        seeds = np.array([(self.places[sample], member) for sample, member in self.fits])[numbers]
        n_each = np.array([n_uniforms(settings.n_clusters) for settings in self.batch.settings])[seeds[:, 1]]
        starts = np.column_stack([begin + places - np.searchsorted(all_fits, numbers), n_rows])
        uniforms = np.zeros((len(fit_of), int(n_each[0])))
        streams.fill_starts(words, np.array(lengths), seeds, starts, n_each, uniforms)
        return uniforms


def _n_trials(n_clusters: int) -> int:
    """Return how many candidates there are for every centre but the first."""
    return (n_uniforms(n_clusters) - 1) // max(n_clusters - 1, 1) or 1


class Sent(NamedTuple):
    """Where points are on the device."""

    steps: PlainSteps
    table: int  # which of the tables that were sent together


class DeviceBatch(Batch):
    """Samples that are fitted together on the device."""

    learner: DeviceKMeansLearner

    @cached_property
    def _fits(self) -> tuple[FloatArray, BoolArray]:
        """The centres of all members, (n_samples, n_centres, n_features), and which of them were fitted."""
        centres, is_fitted, _, _ = self._all_fits
        return centres, is_fitted

    @cached_property
    def _all_fits(self) -> tuple[FloatArray, BoolArray, FloatArray, IntArray]:
        members = self._members
        shape = (len(self.resamples), len(members))
        centres = np.zeros((len(self.resamples), members.n_centres, members.given.shape[1]))
        is_fitted, inertia, n_iter = np.zeros(shape, dtype=bool), np.zeros(shape), np.zeros(shape, np.int64)
        for steps, places in self._to_fit():
            for fitting in self._fittings(steps, places):
                moved, of_best, n_steps = fitting.solutions()
                rows, of_members = np.array(fitting.fits).T
                outside = steps.points.of_tables(rows).outside(moved)
                fitted = (np.array(places)[rows], of_members)
                is_fitted[fitted], inertia[fitted], n_iter[fitted] = True, of_best, n_steps
                for member in np.unique(of_members):
                    some = np.flatnonzero(of_members == member)
                    place = slice(*members.borders[member : member + 2])
                    centres[fitted[0][some], place] = outside[some, : self.settings[member].n_clusters]
        return centres, is_fitted, inertia, n_iter

    def _to_fit(self) -> Iterator[tuple[PlainSteps, list[int]]]:
        """Say which samples are fitted together: those of one table; or of several, if each has a single sample."""
        by_points: dict[PointSet, list[int]] = defaultdict(list)
        for i, sample in enumerate(self.resamples):
            by_points[self.learner.space(sample.points)].append(i)
        if 1 < len(by_points) == len(self.resamples):
            self.learner.send_together(list(by_points))
        by_steps: dict[PlainSteps, list[tuple[int, PointSet]]] = defaultdict(list)
        for points in by_points:
            sent = self.learner.sent(points)
            by_steps[sent.steps].append((sent.table, points))
        for steps, sent_points in by_steps.items():
            places = [by_points[points] for _, points in sent_points]
            is_whole = [table for table, _ in sent_points] == list(range(steps.points.n_tables))
            if steps.several and not (is_whole and all(len(of_table) == 1 for of_table in places)):
                yield from ((self.learner.steps(points), by_points[points]) for _, points in sent_points)
            else:
                yield steps, [i for of_table in places for i in of_table]

    def _fittings(self, steps: PlainSteps, places: Sequence[int]) -> list[Fitting]:
        """Divide the fits to points: by how they begin and how many clusters they have."""
        if not steps.points.is_finite:
            return []
        weights = self.weights_on(steps, places)
        variances = self._variances(steps, weights)
        n_drawn = (weights > 0).sum(dim=1).cpu().numpy()
        can_begin = self._can_begin
        groups: dict[tuple[bool, int], list[int]] = defaultdict(list)
        for member in sorted(range(len(self.settings)), key=lambda m: -self.settings[m].n_clusters):
            settings = self.settings[member]
            if can_begin[member]:
                # Given centres are as many as there are clusters: no two numbers of them together.
                rows = settings.n_clusters if settings.init is not None else _rows(settings.n_clusters)
                groups[settings.init is not None, rows].append(member)
        return [
            Fitting(self, steps, weights, variances, fits, places)
            for members in groups.values()
            if (
                fits := [
                    (sample, member)
                    for member in members
                    for sample in range(len(places))
                    if self.settings[member].n_clusters <= n_drawn[sample] and np.isfinite(variances[sample])
                ]
            )
        ]

    def weights_on(self, steps: PlainSteps, places: Sequence[int]) -> Any:
        """Send the weights of samples, (n_samples, n_points)."""
        rows, device = [self.resamples[i].draw.weights for i in places], steps.points.X.device
        if all(row.dtype.kind in "iu" and row.max(initial=0) <= BYTE for row in rows):
            small = np.empty((len(rows), len(steps.points)), np.uint8)
            for row, weights in zip(small, rows, strict=True):
                np.copyto(row, weights, casting="unsafe")
            return torch.as_tensor(small, device=device)
        return torch.as_tensor(np.array(rows), dtype=steps.points.X.dtype, device=device)

    def _variances(self, steps: PlainSteps, weights: Any) -> FloatArray:
        """Return the variances of samples, averaged over features, (n_samples,)."""
        points, each = steps.points, torch.arange(len(weights), device=weights.device)
        # As of one cluster around zero.
        zero = torch.zeros((len(weights), 1, points.n_features), dtype=points.X.dtype, device=weights.device)
        sums, sizes = steps.sums(zero, zero[..., 0], weights, each)
        squares = steps.inertia(zero, zero[..., 0], weights, each)
        variances = squares / sizes[:, 0] - ((sums[:, 0] / sizes) ** 2).sum(dim=1)
        units = points.units_of(np.arange(len(weights)))
        return np.asarray(np.maximum(variances.cpu().numpy(), 0.0) * units**2 / self._n_features)

    @cached_property
    def _labels(self) -> tuple[dict[tuple[int, PointSet], IntArray], IntArray]:
        """What functions say of points, each (n_members, n_points), and how many labels they give to their own draw."""
        is_fitted = self._fits[1]
        n_found = np.zeros(is_fitted.shape, np.int64)
        known: dict[tuple[int, PointSet], IntArray] = {}
        asked: dict[PointSet, list[int]] = defaultdict(list)
        for i, sample in enumerate(self.resamples):
            for points in {sample.points: None, **dict.fromkeys(self.at[i])}:
                asked[points].append(i)
        for steps, functions in self.learner.by_steps(asked):
            places, of_places, tables = (list(column) for column in zip(*functions, strict=True))
            labels = np.zeros((len(places), len(self.settings), len(steps.points)), np.int32)
            for members in self.member_groups(len(places), labels.shape[2]):
                of_members = steps.labels(*self.centres_on(steps, places, members, tables)).cpu().numpy()
                labels[:, members] = of_members.reshape(len(places), len(members), -1)
            for row, i, points in zip(labels, places, of_places, strict=True):
                known[i, points] = row
                if points is self.resamples[i].points:
                    drawn = row[:, self.resamples[i].draw.weights > 0]
                    n_found[i] = [np.count_nonzero(np.bincount(codes)) for codes in drawn]
        return known, np.where(is_fitted, n_found, 0)

    def member_groups(self, n_functions: int, n_points: int) -> Iterator[list[int]]:
        """Divide the members: those with about as many clusters together, as have room for labels and tables."""
        by_rows: dict[int, list[int]] = defaultdict(list)
        for member, settings in enumerate(self.settings):
            by_rows[_rows(settings.n_clusters)].append(member)
        for k, members in by_rows.items():
            width = n_functions * (4 * n_points + 12 * k**2 * (1 + n_points // TABLE_PIECE))
            step = int(max(1, free_bytes(self.learner.device) // max(1, width)))
            yield from (members[begin : begin + step] for begin in range(0, len(members), step))

    def centres_on(
        self, steps: PlainSteps, places: Sequence[int], members: Sequence[int], tables: Sequence[int] | IntArray
    ) -> tuple[Any, Any, Any]:
        """Return the functions of some samples on the device, to be asked about a table each.

        Their centres, (n_samples · n_members, k, n_features), the squared lengths of these, and the tables again.
        """
        borders, k = self._members.borders, [self.settings[member].n_clusters for member in members]
        centres = np.zeros((len(places), len(members), max(k), self._fits[0].shape[2]))
        for m, member in enumerate(members):
            centres[:, m, : k[m]] = self._fits[0][places, slice(*borders[member : member + 2])]
        of_fits = np.repeat(tables, len(members))
        inside = steps.points.of_tables(of_fits).inside(centres.reshape(-1, *centres.shape[2:]))
        numbers = torch.as_tensor(k, device=inside.device).repeat(len(places))
        absent = torch.arange(max(k), device=inside.device) >= numbers[:, None]
        inside.masked_fill_(absent[..., None], 0.0)
        return inside, squared_lengths(inside, absent), torch.as_tensor(of_fits, device=inside.device)


def _rows(n_clusters: int) -> int:
    return max(FEWEST_ROWS, 1 << (n_clusters - 1).bit_length())


class DeviceKMeansLearner(KMeansLearner):
    """k-means on a device; what can't be fitted fails for the reasons that the compiled kernels give.

    Parameters
    ----------
    members, rotation
        As in `Path`.
    device : str
        "cuda" or "torch".
    """

    def __init__(self, members: Sequence[Configuration], rotation: Rotation | None, device: str):
        super().__init__(members, rotation)
        self.device = device
        self._steps: WeakKeyDictionary[PointSet, PlainSteps] = WeakKeyDictionary()
        self._together: WeakKeyDictionary[PointSet, Sent] = WeakKeyDictionary()

    def steps(self, points: PointSet) -> PlainSteps:
        """Return the steps on points of the device; they are sent once."""
        if points not in self._steps:
            self._steps[points] = steps_on(DevicePoints.send(points.X, self.device))
        return self._steps[points]

    def sent(self, points: PointSet) -> Sent:
        """Say where points are on the device, among others or alone."""
        return self._together.get(points) or Sent(self.steps(points), 0)

    def send_together(self, point_sets: Sequence[PointSet]) -> None:
        """Send tables of the same shape together, as many as have room; large ones, and others, are sent alone."""
        by_shape: dict[tuple[int, ...], list[PointSet]] = defaultdict(list)
        for points in point_sets:
            if len(points) <= STACKED_POINTS and points not in self._steps and points not in self._together:
                by_shape[points.X.shape].append(points)
        for shape, same in by_shape.items():
            step = max(1, free_bytes(self.device) // (STACKED_BYTES * max(FEWEST_ROWS, shape[1]) * max(1, shape[0])))
            for begin in range(0, len(same), step):
                some = same[begin : begin + step]
                if len(some) > 1:
                    steps = steps_on(DeviceTables.send_all([points.X for points in some], self.device))
                    self._together.update({points: Sent(steps, table) for table, points in enumerate(some)})

    def by_steps(
        self, asked: Mapping[PointSet, Sequence[int]]
    ) -> Iterator[tuple[PlainSteps, list[tuple[int, PointSet, int]]]]:
        """Put functions together that are asked about points of one table, or of several: number, points and table."""
        by_steps: dict[PlainSteps, list[tuple[int, PointSet, int]]] = defaultdict(list)
        for points, numbers in asked.items():
            sent = self.sent(self.space(points))
            by_steps[sent.steps] += [(number, points, sent.table) for number in numbers]
        yield from by_steps.items()

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Do nothing yet: points are sent when they are first asked about, those of many small studies together."""

    def batch(self, places: Sequence[PointSet]) -> int:
        """Say how many replicates make a batch: as many as have room, with their labels."""
        n_labels = sum(map(len, places)) * (len(places) + 1)
        return int(max(1, min(MOST_REPLICATES, free_bytes(self.device) / (8 * n_labels))))

    def learn(self, samples: Sequence[Resample], at: Sequence[Sequence[PointSet]] | None = None) -> Sequence[Fit]:
        """Learn from all samples together, once one of them is asked for."""
        batch = DeviceBatch(self, samples, [[] for _ in samples] if at is None else at)
        return [_BatchFit(self, sample, batch, i) for i, sample in enumerate(samples)]

    def psi(self, shared: KMeansResample, sample: Resample, configuration: Configuration) -> FittedFunction:
        """Find the centres, as in a batch."""
        alone = DeviceKMeansLearner([configuration], self.rotation, self.device)
        alone._steps, alone._together = self._steps, self._together
        centres, is_fitted, inertia, n_iter = DeviceBatch(alone, [sample], [[]])._all_fits
        if not is_fitted[0, 0]:
            return super().psi(shared, sample, configuration)
        return DeviceCentresPsi(self, Solution(centres[0], float(inertia[0, 0]), int(n_iter[0, 0])))

    def fitted(self, psi: Any, sample: Resample, configuration: Configuration) -> Clusterer:
        """Return the `KMeans` with these centres."""
        return super().fitted(CentresFunction(self, psi.solution), sample, configuration)

    def score_pairs(
        self,
        learned: Sequence[Fit],
        learned_again: Sequence[Fit],
        n_studies: int,
        agreements: Sequence[Agreement],
        *,
        spread: bool = False,
    ) -> PairScores | None:
        """Score all ordered pairs of studies where their labels are; None where a fit failed, and labels say why."""
        if any(agreement.of_counts is None for agreement in agreements):
            return None
        batch, again = (cast("DeviceBatch", batch_of(some)) for some in (learned, learned_again))
        if not (batch._fits[1].all() and (not learned_again or again._fits[1].all())):
            return None
        scores = _Scoring(self, batch, again if learned_again else None, n_studies, tuple(agreements), spread).run()
        fewest = np.maximum(1, batch.fewest)
        return scores if (scores.clusters_found >= fewest[:, None]).all() else None


@dataclass(frozen=True, eq=False)
class _Scoring:
    """Tables of all pairs of studies, counted and scored on the device."""

    learner: DeviceKMeansLearner
    batch: DeviceBatch
    again: DeviceBatch | None
    n_studies: int
    agreements: tuple[Agreement, ...]
    spread: bool  # whether that between clusters is asked for, too

    def run(self) -> PairScores:
        """Score everything, one test study after the other."""
        S, n_members = self.n_studies, len(self.batch.settings)
        B = len(self.batch.resamples) // S
        scores = np.full((len(self.agreements), B, n_members, S, S), np.nan)
        trivial, n_found = np.zeros((B, n_members, S, S), dtype=bool), np.zeros((B, n_members, S), np.int64)
        between = np.full((B, n_members, S, S), np.nan) if self.spread else None
        for t in range(S):
            by_points: dict[PointSet, list[int]] = defaultdict(list)
            for b in range(B):
                by_points[self.batch.resamples[b * S + t].points].append(b)
            for steps, asked in self.learner.by_steps(by_points):
                step = max(1, int(free_bytes(self.learner.device) // (4 * (S + 2) * max(1, len(steps.points)))))
                for begin in range(0, len(asked), step):
                    some = [b for b, _, _ in asked[begin : begin + step]]
                    at = [table for _, _, table in asked[begin : begin + step]]
                    weights = self.batch.weights_on(steps, [b * S + t for b in some])
                    for members in self.batch.member_groups(len(some) * S, len(steps.points)):
                        functions = [b * S + s for b in some for s in range(S)]
                        centres = self.batch.centres_on(steps, functions, members, np.repeat(at, S))
                        tables = self._tables(steps, some, t, members, weights, centres, at)
                        place = np.ix_(some, members)
                        of_members, trivial[..., t][place], n_found[..., t][place] = self._scores(tables)
                        for a, of_agreement in enumerate(of_members):
                            scores[a][..., t][place] = of_agreement
                        if between is not None:
                            of_functions = self._between(steps, centres).reshape(len(some), S, len(members))
                            between[..., t][place] = of_functions.transpose(0, 2, 1)
        if self.again is None:
            same = np.arange(S)
            scores[..., same, same], trivial[..., same, same] = np.nan, False
        n_labels = tuple(settings.n_clusters for settings in self.batch.settings)
        return PairScores(scores, trivial, n_found, n_labels, between)

    @staticmethod
    def _between(steps: PlainSteps, functions: tuple[Any, Any, Any]) -> FloatArray:
        """Return the spread between the clusters of functions, Σ_c n_c ‖m_c − m‖², all points counted once."""
        centres, lengths, tables = functions
        points = steps.points
        once = torch.ones((points.n_tables, len(points)), dtype=torch.uint8, device=centres.device)
        sums, sizes = steps.sums(centres, lengths, once, tables)
        between = ((sums**2).sum(dim=2) / sizes.clamp(min=1)).sum(dim=1)
        return np.asarray(between.cpu().numpy() * points.units_of(tables.cpu().numpy()) ** 2)

    def _tables(
        self,
        steps: PlainSteps,
        numbers: Sequence[int],
        t: int,
        members: Sequence[int],
        weights: Any,
        centres: tuple[Any, Any, Any],
        at: Sequence[int],
    ) -> Any:
        """Count the tables of one test study, (B, n_members, S, k, k), trained in rows, tested in columns."""
        S, B, M = self.n_studies, len(numbers), len(members)
        labels = steps.labels(*centres).reshape(B, S, M, -1)
        tested = labels[:, t].clone()
        if self.again is not None:
            again = self.again.centres_on(steps, [b * S + t for b in numbers], members, at)
            labels[:, t] = steps.labels(*again).reshape(B, M, -1)
        k = max(self.batch.settings[member].n_clusters for member in members)
        rows = torch.arange(B * M, device=labels.device).reshape(B, 1, M).expand(B, S, M).reshape(-1)
        flat = (labels.reshape(B * S * M, -1), tested.reshape(B * M, -1), weights.repeat_interleave(M, dim=0), rows, k)
        return tables_on(steps, *flat).reshape(B, S, M, k, k).transpose(1, 2)

    def _scores(self, tables: Any) -> tuple[FloatArray, BoolArray, IntArray]:
        """Score tables, (B, M, S, k, k): agreements, whether a side is a single cluster, and the clusters tested."""
        shape, k = tables.shape[:3], tables.shape[-1]
        flat = tables.reshape(-1, k, k)
        n_rows, n_columns = ((flat.sum(dim=d) > 0).sum(dim=1) for d in (2, 1))
        trivial = ((n_rows == 1) | (n_columns == 1)).reshape(shape).cpu().numpy()
        n_found = n_columns.reshape(shape)[:, :, 0].cpu().numpy()
        rest: tuple[FloatArray, Counts] | None = None
        scores = np.empty((len(self.agreements), *shape))
        for a, agreement in enumerate(self.agreements):
            if can_score(agreement.name):
                scores[a] = score_tables(agreement.name, flat).reshape(shape).cpu().numpy()
                continue
            if rest is None:
                on_processor = flat.cpu().numpy()
                rest = (on_processor, Counts.from_tables(on_processor))
            scores[a] = agreement.of_counted(*rest).reshape(shape)
        return scores, trivial, n_found


@dataclass(frozen=True, eq=False)
class DeviceCentresPsi(FittedFunction):
    """ψ of k-means on the device: the nearest centre."""

    learner: DeviceKMeansLearner
    solution: Solution

    @property
    def classes(self) -> Labels:  # type: ignore[override]
        """One for every centre."""
        return np.arange(len(self.solution.centres))

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""
        steps = self.learner.steps(self.learner.space(points))
        centres = steps.points.inside(self.solution.centres[None])
        absent = torch.zeros_like(centres[..., 0], dtype=torch.bool)
        return np.asarray(steps.labels(centres, squared_lengths(centres, absent))[0].int().cpu().numpy())


def steps_on(points: DevicePoints) -> PlainSteps:
    """Return the fastest steps for points: by kernels of our own on a GPU."""
    if points.device != GPU:
        return PlainSteps(points)
    from clustrep.gpu.fused_steps import FusedSteps

    return FusedSteps(points)


def tables_on(steps: PlainSteps, u: Any, v: Any, weights: Any, row: Any, n_labels: int) -> Any:
    """Count tables by the fastest way on the device."""
    if steps.points.device != GPU:
        return count_tables(u, v, weights, row, n_labels)
    from clustrep.gpu.fused_steps import count_tables_fused

    return count_tables_fused(u, v, weights, row, n_labels)
