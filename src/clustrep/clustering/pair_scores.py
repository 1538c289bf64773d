"""Scores of all pairs of studies in a batch of replicates, from arrays of labels: no object for any single pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from clustrep._kernels.pairs import count_tables
from clustrep.clustering.sample import PointSet, Sample
from clustrep.tables.agreement import Agreement
from clustrep.tables.scoring import DENSE_CELLS, score_tables
from clustrep.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PairScores:
    """The scores of all ordered pairs of studies in some replicates; on the diagonal, those of second draws."""

    scores: FloatArray  # (n_agreements, n_replicates, n_members, S, S)
    trivial: BoolArray  # (n_replicates, n_members, S, S)
    clusters_found: IntArray  # (n_replicates, n_members, S)
    n_labels: tuple[int, ...]  # that each member can give
    # Σ_c n_c ‖m_c − m‖² of the clusters of a training study in a test study, (n_replicates, n_members, S, S)
    between: FloatArray | None = None


class LabelBatch(Protocol):
    """Samples of all studies, one replicate after the other, whose clustering functions label points together."""

    samples: Sequence[Sample]

    @property
    def n_labels(self) -> tuple[int, ...]:
        """How many labels each member can give."""
        ...

    @property
    def n_found(self) -> IntArray | None:
        """How many labels samples have in their own draws, (n_samples, n_members); None where any of them failed."""
        ...

    def labels_at(self, points: PointSet, places: Sequence[int]) -> IntArray:
        """Return what the functions of some samples say of points, (n_places, n_members, n_points)."""
        ...


def score_batch(
    batch: LabelBatch, again: LabelBatch | None, n_studies: int, agreements: Sequence[Agreement]
) -> PairScores | None:
    """Score all ordered pairs of studies; None where that takes more than tables of points that all replicates share.

    again : second draws of the same studies, for the diagonal
    """
    samples, S, k = batch.samples, n_studies, max(batch.n_labels)
    drawn_again = [] if again is None else again.samples
    is_shared = all(
        sample.points is samples[i % S].points for some in (samples, drawn_again) for i, sample in enumerate(some)
    )
    if not is_shared or k**2 > DENSE_CELLS or any(agreement.of_counts is None for agreement in agreements):
        return None
    n_found = batch.n_found
    if n_found is None or (again is not None and again.n_found is None):
        return None
    B, n_members = len(samples) // S, len(batch.n_labels)
    scores = np.full((len(agreements), B, n_members, S, S), np.nan)
    trivial = np.zeros((B, n_members, S, S), dtype=bool)
    for t in range(S):
        points, own = samples[t].points, range(t, B * S, S)
        tested = batch.labels_at(points, own)  # Ψ(X_t; X_t)
        weights = np.array([samples[i].draw.weights for i in own], dtype=float)
        for s in range(S):
            trained_by = again if s == t else batch
            if trained_by is None:
                continue
            trained = trained_by.labels_at(points, range(s, B * S, S))  # Ψ(X_t; X_s)
            step = max(1, DENSE_CELLS // (n_members * k**2))
            for begin in range(0, B, step):
                some = slice(begin, begin + step)
                tables = np.zeros((len(trained[some]), n_members, k, k))
                count_tables(trained[some], tested[some], weights[some], tables)
                of_tables, is_trivial = score_tables(agreements, tables.reshape(-1, k, k))
                scores[:, some, :, s, t] = of_tables.reshape(len(agreements), -1, n_members)
                trivial[some, :, s, t] = is_trivial.reshape(-1, n_members)
    found = n_found.reshape(B, S, n_members).transpose(0, 2, 1)
    return PairScores(scores, trivial, found, batch.n_labels)
