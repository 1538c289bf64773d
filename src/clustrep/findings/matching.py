"""Which cluster of one study is which of another: nearest after a shift that several clusters agree about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.optimize import linear_sum_assignment

from clustrep.types import FloatArray

# In units of the smaller distance to an own neighbour: how far apart the places of the same cluster lie in two studies,
# from sampling error of small clusters to shifts of single clusters; and the range over which another cluster, or a
# shift, may lie. The odds that a cluster of one study is also the other's; calibrated in decision 0010.
TIGHTNESS, RANGE, ODDS_OF_SHARED = (0.15, 0.25, 0.4, 0.6), 3.0, 20.0
# A study that is stretched is stretched within its clusters, too: the scale is 1 or the ratio of the spreads within
# clusters, up to this factor (log), which is three standard errors of a ratio from two clusters of 20 samples in two
# dimensions. A ratio nearer to 1 than that is 1.
SAME_SCALE = 0.25
ROUNDS = 6
# Clusters that are left over are one cluster that has moved by itself if the odds of that are strong; their places
# differ by this share of the distance to the matched clusters.
MOVED, STRONG_ODDS = 0.4, 20.0


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
    """Match the centres of two studies by the likelihood of what is matched, of a shift and of a scale.

    Every difference of two centres is a hypothesis about the shift, beside no shift. In units of the smaller distance
    to an own neighbour, the places of a pair differ by a normal error of size t, those of other clusters are uniform
    over a range R, and a cluster is shared with the odds ω: in each of q dimensions, a pair that lies D apart gains
    log(R / t) + log(ω) / q − D² / 2t². A shift is uniform over the range, too, costs log(R / t), and must be shared by
    two pairs. Where pairs agree closely, t is small, and one that does not is no match. The scale is 1 or the ratio of
    the spreads within clusters. No shift and no scale win ties.

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
    for (shift, scale), tightness in product(hypotheses, TIGHTNESS):
        match = _improved(first, second, shift, scale, ratio, tightness)
        if match is not None and match.gain > best.gain + 1e-9:
            best = match
    best = replace(best, pairs=best.pairs + _moved(first, second, best))
    return replace(best, shift=best.shift + (1 - best.scale) * middle)


def _moved(first: FloatArray, second: FloatArray, match: Match) -> list[tuple[int, int]]:
    """Pair clusters that are left over: a batch may move one cluster farther than the others.

    Their unit is the distance to the matched clusters, because two that lie close together may have moved together. A
    cluster of its own would lie anywhere in a range of that unit, in as many dimensions as the centres span.
    """
    if len(match.pairs) < 2:
        return []
    i, j = np.array(match.pairs).T
    rows, columns = np.setdiff1d(range(len(first)), i), np.setdiff1d(range(len(second)), j)
    if not (len(rows) and len(columns)):
        return []
    there = (second - match.shift) / match.scale
    to_matched = [
        np.linalg.norm(places[left][:, None] - places[matched], axis=-1).min(axis=1)
        for places, left, matched in ((first, rows, i), (there, columns, j))
    ]
    distance = np.linalg.norm(there[columns] - first[rows][:, None], axis=-1)
    ratio = distance / np.maximum(np.minimum(to_matched[0][:, None], to_matched[1]), 1e-300)
    n_dimensions = min(first.shape[1], len(first) + len(columns) - 1)
    gains = n_dimensions * (np.log(RANGE / MOVED) - (ratio / MOVED) ** 2 / 2) - np.log(STRONG_ODDS)
    pairs = zip(*linear_sum_assignment(-np.clip(gains, 0, None)), strict=True)
    return [(int(rows[a]), int(columns[b])) for a, b in pairs if gains[a, b] > 0]


def scale_of(first: FloatArray, second: FloatArray, match: Match, ratio: float = 1.0) -> float:
    """Return the scale of matched studies, whatever their shift: near the ratio of the spreads, unless 1 gains more."""
    if len(match.pairs) < 2:
        return match.scale
    i, j = np.array(match.pairs).T
    own_first, own_second = nearest_neighbour(first)[i], nearest_neighbour(second)[j]

    def gain(scale: float) -> float:
        limit = np.minimum(own_first, own_second / scale)
        shift = (second[j] - scale * first[i]).mean(axis=0)
        distance = np.linalg.norm((second[j] - shift) / scale - first[i], axis=-1)
        return -float(((distance / np.maximum(limit, 1e-300)) ** 2).sum())

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
    first: FloatArray, second: FloatArray, shift: FloatArray | None, scale: float, ratio: float, tightness: float
) -> Match | None:
    """Match under one hypothesis, and estimate shift and scale from the matches until nothing changes."""
    free = shift is not None
    shift = np.zeros(first.shape[1]) if shift is None else shift
    own_first, own_second = nearest_neighbour(first), nearest_neighbour(second)
    cost = float(np.log(RANGE / tightness))
    most = cost + float(np.log(ODDS_OF_SHARED)) / first.shape[1]
    pairs: list[tuple[int, int]] = []
    for _ in range(ROUNDS):
        distance = np.linalg.norm((second - shift)[None] / scale - first[:, None], axis=-1)
        unit = np.minimum(own_first[:, None], own_second[None] / scale)
        unit = np.where(np.isfinite(unit), unit, 2 * distance + 1e-9)  # one against one
        gains = np.clip(most - (distance / np.maximum(unit, 1e-300) / tightness) ** 2 / 2, 0, None)
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
    if free and len(pairs) < 2:
        return None
    return Match(pairs, shift, scale, float(sum(gains[i, j] for i, j in pairs) - cost * free))
