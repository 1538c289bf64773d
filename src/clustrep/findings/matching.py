"""Which cluster of one study is which of another: nearest after a shift that several clusters agree about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from clustrep.types import FloatArray

# What a shift and another scale cost, in matched clusters: a shift explains one pair by itself, whatever the pair.
SHIFT_COST, SCALE_COST = 1.0, 0.5
# A match is closer than this times the distance to the nearest own neighbour.
LIMIT = 1.2
# Scales that are tried besides the ratio of the spreads within clusters; a ratio nearer to 1 than this (log) is 1.
SCALES, SAME_SCALE = (1.0, 0.5, 2.0), 0.25
SMALLEST_SCALE, LARGEST_SCALE = 0.3, 3.3
ROUNDS = 6


@dataclass(frozen=True, eq=False)
class Match:
    """Pairs of clusters, and where the second study lies: second = shift + scale · first."""

    pairs: list[tuple[int, int]]
    shift: FloatArray  # (n_coordinates,)
    scale: float
    gain: float


def nearest_neighbour(centres: FloatArray) -> FloatArray:
    """Return the distance of every centre to the nearest other one; infinite for a single one."""
    distances = np.linalg.norm(centres[:, None] - centres, axis=-1)
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances.min(axis=1))


def match_centres(first: FloatArray, second: FloatArray, ratio: float = 1.0) -> Match:
    """Match the centres of two studies.

    Every difference of two centres is a hypothesis about the shift, beside no shift. A pair that lies a distance D
    apart gains 1 − (D / limit)², where the limit is 1.2 times the smaller distance to an own neighbour; a shift costs
    one pair and must be shared by two, another scale costs half a pair. No shift wins ties.

    Parameters
    ----------
    first, second : ndarray, (n_clusters, n_coordinates)
    ratio : float
        Spread within clusters of the second study over that of the first.
    """
    scales = [*SCALES, *([ratio] if abs(np.log(ratio)) > SAME_SCALE else [])]
    hypotheses: list[tuple[FloatArray | None, float]] = [(None, scale) for scale in scales]
    hypotheses += [(b - scale * a, scale) for scale in scales for a in first for b in second]
    best = Match([], np.zeros(first.shape[1]), 1.0, -np.inf)
    for shift, scale in hypotheses:
        match = _improved(first, second, shift, scale)
        if match is not None and match.gain > best.gain + 1e-9:
            best = match
    return best


def scale_of(first: FloatArray, second: FloatArray, match: Match) -> float:
    """Return the scale of matched studies, whatever their shift: 1 unless another gains more than it costs."""
    if len(match.pairs) < 2:
        return match.scale
    i, j = np.array(match.pairs).T
    own_first, own_second = nearest_neighbour(first)[i], nearest_neighbour(second)[j]

    def gain(scale: float) -> float:
        limit = LIMIT * np.minimum(own_first, own_second / scale)
        shift = (second[j] - scale * first[i]).mean(axis=0)
        distance = np.linalg.norm((second[j] - shift) / scale - first[i], axis=-1)
        return float(np.clip(1 - (distance / np.maximum(limit, 1e-300)) ** 2, 0, None).sum())

    slope = _slope(first[i], second[j])
    return slope if gain(slope) - SCALE_COST > gain(1.0) + 1e-9 else 1.0


def _slope(first: FloatArray, second: FloatArray) -> float:
    """Return the scale of the second centres by least squares, with a free shift."""
    a, b = first - first.mean(axis=0), second - second.mean(axis=0)
    return float(np.clip((a * b).sum() / (a * a).sum(), SMALLEST_SCALE, LARGEST_SCALE))


def _improved(first: FloatArray, second: FloatArray, shift: FloatArray | None, scale: float) -> Match | None:
    """Match under one hypothesis, and estimate shift and scale from the matches until nothing changes."""
    free = shift is not None
    shift = np.zeros(first.shape[1]) if shift is None else shift
    own_first, own_second = nearest_neighbour(first), nearest_neighbour(second)
    pairs: list[tuple[int, int]] = []
    for _ in range(ROUNDS):
        distance = np.linalg.norm((second - shift)[None] / scale - first[:, None], axis=-1)
        limit = LIMIT * np.minimum(own_first[:, None], own_second[None] / scale)
        limit = np.where(np.isfinite(limit), limit, 2 * distance + 1e-9)  # one against one
        gains = np.clip(1 - (distance / np.maximum(limit, 1e-300)) ** 2, 0, None)
        rows, columns = linear_sum_assignment(-gains)
        new = [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if gains[i, j] > 0]
        if not free or not new or new == pairs:
            pairs = new
            break
        pairs = new
        i, j = np.array(pairs).T
        if scale != 1 and len(pairs) > 1:
            scale = _slope(first[i], second[j])
        shift = (second[j] - scale * first[i]).mean(axis=0)
    if free and len(pairs) < 2:
        return None
    gain = sum(gains[i, j] for i, j in pairs) - SHIFT_COST * free - SCALE_COST * (scale != 1)
    return Match(pairs, shift, scale, float(gain))
