"""Which cluster of one study is which of another: nearest after a shift that several clusters agree about."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from clustrep.types import FloatArray

# What a shift costs, in matched clusters: it explains one pair by itself, whatever the pair.
SHIFT_COST = 1.0
# A match is closer than this times the distance to the nearest own neighbour. Shifts of single clusters by 0.3 of their
# separation move a pair up to 0.6 of it apart. Beyond that, no pair may be an outlier: this many times as far apart as
# the other pairs, as root mean square (at least the sampling error of the centres of small clusters, in sd). Two
# different clusters that were left over for each other lie far apart beside pairs that fit.
LIMIT, UNIQUE, OUTLYING, SAMPLING_ERROR = 1.2, 0.6, 4.0, 0.3
# A study that is stretched is stretched within its clusters, too: the scale is 1 or the ratio of the spreads within
# clusters, up to this factor (log), which is three standard errors of a ratio from two clusters of 20 samples in two
# dimensions. A ratio nearer to 1 than that is 1.
SAME_SCALE = 0.25
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
    one pair and must be shared by two. Outlying pairs are no match. The scale is 1 or the ratio of the spreads within
    clusters. No shift and no scale win ties.

    Parameters
    ----------
    first, second : ndarray, (n_clusters, n_coordinates)
    ratio : float
        Spread within clusters of the second study over that of the first.
    """
    middle = first.mean(axis=0)  # scales are about the middle of the clusters, wherever the origin is
    first, second = first - middle, second - middle
    usual = _usual(ratio)
    scales = [1.0] if usual == 1 else [1.0, usual]
    hypotheses: list[tuple[FloatArray | None, float]] = [(None, scale) for scale in scales]
    hypotheses += [(b - scale * a, scale) for scale in scales for a in first for b in second]
    best = Match([], np.zeros(first.shape[1]), 1.0, -np.inf)
    for shift, scale in hypotheses:
        match = _improved(first, second, shift, scale, ratio)
        if match is not None and match.gain > best.gain + 1e-9:
            best = match
    return replace(best, shift=best.shift + (1 - best.scale) * middle)


def scale_of(first: FloatArray, second: FloatArray, match: Match, ratio: float = 1.0) -> float:
    """Return the scale of matched studies, whatever their shift: near the ratio of the spreads, unless 1 gains more."""
    if len(match.pairs) < 2:
        return match.scale
    i, j = np.array(match.pairs).T
    own_first, own_second = nearest_neighbour(first)[i], nearest_neighbour(second)[j]

    def gain(scale: float) -> float:
        limit = LIMIT * np.minimum(own_first, own_second / scale)
        shift = (second[j] - scale * first[i]).mean(axis=0)
        distance = np.linalg.norm((second[j] - shift) / scale - first[i], axis=-1)
        return float(np.clip(1 - (distance / np.maximum(limit, 1e-300)) ** 2, 0, None).sum())

    if _usual(ratio) == 1:
        return 1.0
    slope = _slope(first[i], second[j], ratio)
    return slope if gain(slope) > gain(1.0) + 1e-9 else 1.0


def _usual(ratio: float) -> float:
    """Return the scale that the spreads within clusters show: 1 where they are nearly alike."""
    return ratio if abs(np.log(ratio)) > SAME_SCALE else 1.0


def _slope(first: FloatArray, second: FloatArray, ratio: float) -> float:
    """Return the scale of the second centres by least squares, with a free shift, near the ratio of the spreads."""
    a, b = first - first.mean(axis=0), second - second.mean(axis=0)
    slope = (a * b).sum() / (a * a).sum()
    return float(np.clip(slope, ratio * np.exp(-SAME_SCALE), ratio * np.exp(SAME_SCALE)))


def _improved(
    first: FloatArray, second: FloatArray, shift: FloatArray | None, scale: float, ratio: float
) -> Match | None:
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
            scale = _slope(first[i], second[j], ratio)
        shift = (second[j] - scale * first[i]).mean(axis=0)
    pairs = _without_outliers(first, (second - shift) / scale, pairs, free=free)
    if free and len(pairs) < 2:
        return None
    gain = sum(gains[i, j] for i, j in pairs) - SHIFT_COST * free
    return Match(pairs, shift, scale, float(gain))


def _without_outliers(
    first: FloatArray, second: FloatArray, pairs: list[tuple[int, int]], *, free: bool
) -> list[tuple[int, int]]:
    """Leave out pairs whose clusters lie much farther apart than those of the other pairs, the farthest first.

    With a shift that was estimated, each pair is compared with the shift of the others: three pairs are needed.

    second : moved to the first
    """
    own = np.minimum(nearest_neighbour(first)[:, None], nearest_neighbour(second)[None])
    while len(pairs) > 1 + free:
        i, j = np.array(pairs).T
        residual = second[j] - first[i]
        if free:
            residual = (residual - residual.mean(axis=0)) * len(pairs) / (len(pairs) - 1)
        squared = (residual**2).sum(axis=1)
        usual = np.sqrt((squared.sum() - squared) / (len(pairs) - 1))
        excess = np.sqrt(squared) / np.maximum(OUTLYING * np.maximum(usual, SAMPLING_ERROR), UNIQUE * own[i, j])
        worst = int(excess.argmax())
        if excess[worst] <= 1:
            break
        pairs = pairs[:worst] + pairs[worst + 1 :]
    return pairs
