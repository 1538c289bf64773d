"""Pairs of partitions, compared in batches by any number of agreements, as wholes and for single samples."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clustrep.agreement.agreements import Agreement
from clustrep.agreement.contingency import (
    ONLY_NOISE,
    RULES,
    Counts,
    Noise,
    Partition,
    in_noise,
    tables_of_pairs,
)
from clustrep.execution.devices import PROCESSOR
from clustrep.execution.seeds import Failed
from clustrep.kernels.fit_batch import count_tables
from clustrep.types import BoolArray, FloatArray, IntArray

# That of the training function, that of the test function, and the weights of their samples.
PartitionPair: TypeAlias = tuple[Partition, Partition, IntArray]

NO_NUMBER = "the agreement failed or is not a number"
# This number of cells and samples are compared at once; beyond it in a single table, occupied cells are listed instead.
DENSE_CELLS = 2**22


class Pairs:
    """Pairs of partitions to be compared: tables are counted and scored in batches.

    Parameters
    ----------
    agreements : sequence of Agreement
        By what they are compared.
    noise : {"label", "drop", "singletons"}
        How samples labelled −1 are treated.
    shape : tuple of int
        Of the arrays in which every pair has its place.
    device : str, default="cpu"
        Where tables are counted.
    """

    def __init__(self, agreements: Sequence[Agreement], noise: Noise, shape: tuple[int, ...], device: str = PROCESSOR):
        self.device = device
        self.agreements = agreements
        self.rule = RULES[noise]
        self.shape = shape
        n_pairs = math.prod(shape)
        self._scores = np.full((len(agreements), n_pairs), np.nan)
        self._trivial = np.zeros(n_pairs, dtype=bool)
        self._causes = np.full((len(agreements), n_pairs), "", dtype=object)
        self._waiting: list[tuple[int, IntArray, IntArray, IntArray]] = []  # place, labels of both sides, weights
        self._table = (0, 0)  # the smallest shape that holds the tables of all that wait

    def add(
        self, index: tuple[int, ...], trained: Partition | Failed, tested: Partition | Failed, weights: IntArray
    ) -> None:
        """Compare two partitions of the same weighted samples; where either failed, so has the score."""
        place = int(np.ravel_multi_index(index, self.shape))
        for partition in (trained, tested):
            if isinstance(partition, Failed):
                self._causes[:, place] = partition.cause
                return
        assert isinstance(trained, Partition)
        assert isinstance(tested, Partition)
        if self.rule.omits:
            weights = np.where(self.rule.counted(trained.is_noise, tested.is_noise), weights, 0)
            if weights.sum() < 2:
                self._causes[:, place] = ONLY_NOISE
                return
        own_table = (trained.n_labels, tested.n_labels)
        if self.rule.is_split or math.prod(own_table) > DENSE_CELLS:
            self._compare_lists(place, trained, tested, weights)
            return
        table = (max(self._table[0], own_table[0]), max(self._table[1], own_table[1]))
        if (len(self._waiting) + 1) * (math.prod(table) + len(weights)) > DENSE_CELLS:
            self._compare_tables()
            table = own_table
        self._waiting.append((place, trained.codes, tested.codes, weights))
        self._table = table

    def take(self, scores: FloatArray, trivial: BoolArray, configurations: slice) -> None:
        """Take over the scores of some configurations, which are the second axis of pairs."""
        self._scores.reshape(len(self.agreements), *self.shape)[:, :, configurations] = scores
        self._trivial.reshape(self.shape)[:, configurations] = trivial

    def score(self) -> tuple[FloatArray, BoolArray, NDArray[np.object_]]:
        """Return scores, whether either side is one cluster, and why there is no score; agreements come first."""
        self._compare_tables()
        shape = (len(self.agreements), *self.shape)
        return self._scores.reshape(shape), self._trivial.reshape(self.shape), self._causes.reshape(shape)

    def _compare_tables(self) -> None:
        if self._waiting:
            # Padding with empty rows and columns changes no bit of any score.
            places, trained, tested, weights = map(list, zip(*self._waiting, strict=True))
            tables = tables_of_pairs(trained, tested, weights, self._table, self.device)
            self._set(places, *score_tables(self.agreements, tables))
            self._waiting, self._table = [], (0, 0)

    def _set(self, places: list[int], scores: FloatArray, trivial: BoolArray) -> None:
        self._scores[:, places], self._trivial[places] = scores, trivial
        if np.isnan(scores).any():
            self._causes[:, places] = np.where(np.isnan(scores), NO_NUMBER, "")

    def _compare_lists(self, place: int, trained: Partition, tested: Partition, weights: IntArray) -> None:
        """Compare partitions whose table would be large and nearly empty."""
        u, v = (
            self.rule.codes(np.repeat(partition.codes, weights), np.repeat(partition.is_noise, weights))
            for partition in (trained, tested)
        )
        # Only noise samples, each a separate cluster, are as trivial as a single cluster.
        trivial = any(np.ptp(codes) == 0 or len(np.unique(codes)) == len(codes) for codes in (u, v))
        scores = np.array([[agreement.of_codes(u, v)] for agreement in self.agreements])
        self._set([place], scores, np.array([trivial]))


def score_tables(agreements: Sequence[Agreement], tables: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Score tables, (n_tables, k_u, k_v), by every agreement; and whether either side of each is a single cluster.

    Parameters
    ----------
    agreements : sequence of Agreement
        By which tables are scored.
    tables : ndarray of shape (n_tables, k_u, k_v)
        Contingency tables.

    Returns
    -------
    scores : ndarray of shape (n_agreements, n_tables)
        One score for every agreement and table.
    trivial : ndarray of bool, shape (n_tables,)
        Whether either side has a single cluster.
    """
    counts = Counts.from_tables(tables)
    n_rows, n_columns = np.count_nonzero(counts.rows, axis=1), np.count_nonzero(counts.columns, axis=1)
    scores = np.stack([agreement.of_counted(tables, counts) for agreement in agreements])
    return scores, (n_rows == 1) | (n_columns == 1)


# ---------------------------------------------------------------------------------------------------------------------
# all pairs of studies in a batch of resamples, from arrays of labels: no object for any single pair


@dataclass(frozen=True, eq=False)
class PairScores:
    """The scores of all ordered pairs of S studies in some resamples; on the diagonal, those of second draws.

    Attributes
    ----------
    scores : ndarray of shape (n_agreements, n_resamples, n_members, S, S)
        Axes train and test come last.
    trivial : ndarray of bool, shape (n_resamples, n_members, S, S)
        Whether either side is a single cluster.
    clusters_found : ndarray of int, shape (n_resamples, n_members, S)
        The number of clusters of every study.
    n_labels : tuple of int
        The number of labels that each member can give.
    between : ndarray of shape (n_resamples, n_members, S, S), default=None
        Σ_c n_c ‖m_c − m‖² of the clusters of a training study in a test study.
    """

    scores: FloatArray
    trivial: BoolArray
    clusters_found: IntArray
    n_labels: tuple[int, ...]
    between: FloatArray | None = None


class LabelBatch(Protocol):
    """Samples of all studies, one resample after the other, whose clustering functions label samples together."""

    @property
    def points(self) -> Sequence[Any]:
        """The samples of every resample: one object, where resamples of a study share them."""
        ...

    @property
    def n_labels(self) -> tuple[int, ...]:
        """How many labels each member can give."""
        ...

    @property
    def n_found(self) -> IntArray | None:
        """How many labels resamples have in their own draws, (n_resamples, n_members); None where any failed."""
        ...

    def weights_at(self, points: Any) -> FloatArray:
        """Return how often samples were drawn, in all resamples of them, (n_replicates, n_samples)."""
        ...

    def labels_at(self, points: Any, places: Sequence[int]) -> IntArray:
        """Return the labels that the functions of some resamples give to samples, (n_places, n_members, n_samples)."""
        ...


def score_batch(
    batch: LabelBatch, again: LabelBatch | None, n_studies: int, agreements: Sequence[Agreement]
) -> PairScores | None:
    """Score all ordered pairs of studies; None where that takes more than tables of samples that all resamples share.

    again : second draws of the same studies, for the diagonal
    """
    S, k, points = n_studies, max(batch.n_labels), batch.points[:n_studies]
    batches = [batch] if again is None else [batch, again]
    is_shared = len(set(map(id, points))) == S and all(
        drawn is points[i % S] for some in batches for i, drawn in enumerate(some.points)
    )
    if not is_shared or k**2 > DENSE_CELLS or any(agreement.of_counts is None for agreement in agreements):
        return None
    n_found = batch.n_found
    if n_found is None or any(some.n_found is None for some in batches):
        return None
    B, n_members = len(batch.points) // S, len(batch.n_labels)
    scores = np.full((len(agreements), B, n_members, S, S), np.nan)
    trivial = np.zeros((B, n_members, S, S), dtype=bool)
    step = max(1, DENSE_CELLS // (S * n_members * k**2))
    for t in range(S):
        others = [s for s in range(S) if s != t]
        trained_by = others if again is None else [*others, t]
        all_tested, all_weights = batch.labels_at(points[t], range(t, B * S, S)), batch.weights_at(points[t])
        for begin in range(0, B, step):
            some = slice(begin, begin + step)
            tested, weights = all_tested[some], all_weights[some]  # Ψ(X_t; X_t)
            n = len(weights)
            places = [b * S + s for b in range(begin, begin + n) for s in others]
            trained = [batch.labels_at(points[t], places).reshape(n, S - 1, *tested.shape[1:])]  # Ψ(X_t; X_s)
            if again is not None:
                trained.append(again.labels_at(points[t], range(begin * S + t, (begin + n) * S, S))[:, None])
            for members in _members_together(batch.n_labels, n * S):
                k = max(batch.n_labels[members])
                tables = np.zeros((n, len(trained_by), members.stop - members.start, k, k))
                for labels, function in zip(trained, (0, S - 1), strict=False):
                    count_tables(labels, tested, weights, function, members.start, tables)
                of_tables, is_trivial = score_tables(agreements, tables.reshape(-1, k, k))
                shape = tables.shape[:3]
                scores[:, some, members, trained_by, t] = of_tables.reshape(-1, *shape).swapaxes(2, 3)
                trivial[some, members, trained_by, t] = is_trivial.reshape(shape).swapaxes(1, 2)
    clusters_found = n_found.reshape(B, S, n_members).transpose(0, 2, 1)
    return PairScores(scores, trivial, clusters_found, batch.n_labels)


def _members_together(n_labels: Sequence[int], n_pairs: int) -> Iterator[slice]:
    """Divide members, so that the tables of those together, as large as the largest of them, have room at once."""
    begin = 0
    for end in range(1, len(n_labels) + 1):
        is_last = end == len(n_labels)
        if is_last or n_pairs * (end + 1 - begin) * max(n_labels[begin : end + 1]) ** 2 > DENSE_CELLS:
            yield slice(begin, end)
            begin = end


# ---------------------------------------------------------------------------------------------------------------------
# scores of points


def binary_scores(
    agreement: Agreement,
    pairs: Sequence[PartitionPair],
    noise: Noise,
    device: str = PROCESSOR,
) -> list[FloatArray | Failed]:
    """Score a point for every pair of labels that it can have, (k_train, k_test): for many pairs of partitions at once.

    r*(Ψ̃_x(X′; X), Ψ̃_x(X′; X′)) depends on x only through the pair (ψ(x; X), ψ(x; X′)) = (i, j): its two binary
    partitions have the 2 × 2 table made of C[i, j], row i and column j of the whole table C.

    pairs : the partition of the training function, that of the test function, and the samples' weights
    """
    rule = RULES[noise]
    scores: list[FloatArray | Failed] = [Failed(ONLY_NOISE)] * len(pairs)
    by_shape: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, (trained, tested, weights) in enumerate(pairs):
        if weights.sum() >= 2:
            by_shape[trained.n_labels, tested.n_labels].append(place)
    for shape, places in by_shape.items():
        step = max(1, DENSE_CELLS // (4 * math.prod(shape)))
        for some in (places[begin : begin + step] for begin in range(0, len(places), step)):
            U, V, counts = zip(*(pairs[place] for place in some), strict=True)
            C = tables_of_pairs([u.codes for u in U], [v.codes for v in V], counts, shape, device)
            total = np.array([of_samples.sum() for of_samples in counts])[:, None, None]
            rows = np.broadcast_to(C.sum(axis=2, keepdims=True), C.shape)
            columns = np.broadcast_to(C.sum(axis=1, keepdims=True), C.shape)
            in_row, in_column = in_noise(C.shape, np.array([(u.noise, v.noise) for u, v in zip(U, V, strict=True)]))
            if rule.is_split:  # a noise sample shares its cluster with no other
                C = np.where(in_row | in_column, 0, C)
                rows, columns = np.where(in_row, 0, rows), np.where(in_column, 0, columns)
            binary = np.stack([C, rows - C, columns - C, total - rows - columns + C], axis=-1)
            found = agreement.of_tables(binary.reshape(*C.shape, 2, 2))
            for place, of_pair, is_noise in zip(some, found, in_row | in_column, strict=True):
                if np.isnan(of_pair).any():
                    scores[place] = Failed(NO_NUMBER)
                else:  # a dropped sample has no score
                    scores[place] = np.where(is_noise, np.nan, of_pair) if rule.omits else of_pair
    return scores
