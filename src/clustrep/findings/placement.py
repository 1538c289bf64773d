"""Where the clusters of all studies lie in one study, sample by sample: which of them it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from clustrep.findings.own import counts_between
from clustrep.separation.valleys import FEWEST, centres_of, log_odds_of_filled, nearest_centre
from clustrep.types import FloatArray, IntArray

# The odds of a filled middle to a valley at which two clusters are one in a study, though others keep them apart.
ODDS_TO_MERGE = 20.0
# Samples farther from all places than this quantile of the chi-squared distribution belong to none of them.
INSIDE = 0.9999
# Scales that are tried where a study is placed by its samples; the scale stays within these limits.
SCALES, SMALLEST_SCALE, LARGEST_SCALE = (1.0, 0.5, 2.0), 0.4, 2.5
# Steps of the EM algorithm for every start, then for the best starts, and without a shift; how many starts are best.
FIRST_STEPS, STEPS, STEPS_UNSHIFTED, BEST_STARTS = 2, 20, 25, 4
# Starts are fitted together, as many as have this number of weights: 2 MB, which processors keep close by.
WEIGHTS_TOGETHER = 2**18


class Placed(NamedTuple):
    """The samples of one study by the clusters of all."""

    labels: IntArray  # (n_samples,): clusters of all studies
    group: IntArray  # (n_clusters,): one number for clusters without a valley between them here; −1 where it lacks one

    @property
    def merged(self) -> frozenset[frozenset[int]]:
        """Sets of clusters without a valley between them."""
        groups = [np.flatnonzero(self.group == g) for g in np.unique(self.group[self.group >= 0])]
        return frozenset(frozenset(group.tolist()) for group in groups if len(group) > 1)

    @property
    def n_groups(self) -> int:
        """The number of clusters that the study shows apart from each other."""
        return len(np.unique(self.group[self.group >= 0]))


class _Group(NamedTuple):
    """Clusters of all studies that are one in this study."""

    members: tuple[int, ...]
    start: FloatArray
    is_own: bool


def refine(X: FloatArray, places: FloatArray, own: FloatArray) -> Placed:
    """Find which clusters a study has, by means that start at its own centres or at the predicted places.

    A cluster stays if it has samples and lies nearer to its place than to its neighbour. Two neighbours with a filled
    middle are merged. The worst is changed first, and everything is done again. Samples of merged clusters belong to
    the nearest of their places.

    Parameters
    ----------
    X : ndarray, (n_samples, n_coordinates)
    places : ndarray, (n_clusters, n_coordinates)
        Where the clusters of all studies are expected in this one.
    own : ndarray, (n_clusters, n_coordinates)
        Centres of the study's own clusters that were matched; NaN for the others.
    """
    is_own = ~np.isnan(own[:, 0])
    starts = np.where(is_own[:, None], own, places)
    groups = [_Group((c,), starts[c], bool(is_own[c])) for c in range(len(places))]
    while True:
        centres, labels = _means(X, np.array([group.start for group in groups]))
        change = _worst(X, centres, labels, places, groups) if len(groups) > 1 else None
        if change is None:
            return _placed(X, centres, labels, places, groups)
        i, j = change
        if j is None:
            del groups[i]
            continue
        n_i, n_j = (labels == i).sum(), (labels == j).sum()
        start = (n_i * centres[i] + n_j * centres[j]) / max(n_i + n_j, 1)
        joined = _Group((*groups[i].members, *groups[j].members), start, groups[i].is_own or groups[j].is_own)
        groups = [group for place, group in enumerate(groups) if place not in (i, j)] + [joined]


def _placed(
    X: FloatArray, centres: FloatArray, labels: IntArray, places: FloatArray, groups: Sequence[_Group]
) -> Placed:
    clusters = np.empty(len(X), dtype=np.int64)
    group_of = np.full(len(places), -1)
    for i, group in enumerate(groups):
        members = np.array(group.members)
        group_of[members] = i
        inside = labels == i
        clusters[inside] = members[nearest_centre(X[inside], places[members])] if inside.any() else 0
    return Placed(clusters, group_of)


def _means(X: FloatArray, centres: FloatArray) -> tuple[FloatArray, IntArray]:
    """Run Lloyd's algorithm for a few steps from these centres; a cluster without samples keeps its centre."""
    for _ in range(10):
        labels = nearest_centre(X, centres)
        counts = np.bincount(labels, minlength=len(centres))
        new = np.where(counts[:, None] > 0, centres_of(X, labels, len(centres)), centres)
        if np.allclose(new, centres):
            break
        centres = new
    return centres, labels


def _worst(
    X: FloatArray, centres: FloatArray, labels: IntArray, places: FloatArray, groups: Sequence[_Group]
) -> tuple[int, int | None] | None:
    """Return the group that the study has least of all, and the one to merge it with, if any; None where all stay."""
    counts = np.bincount(labels, minlength=len(centres))
    distances = np.linalg.norm(centres[:, None] - centres, axis=-1)
    np.fill_diagonal(distances, np.inf)
    bad: list[tuple[int, float, int, int | None]] = []
    for i, group in enumerate(groups):
        j = int(distances[i].argmin())
        members = places[list(group.members)]
        off = float(np.linalg.norm(np.vstack([members, members.mean(axis=0)]) - centres[i], axis=1).min())
        left, middle, right = counts_between(X[(labels == i) | (labels == j)], centres[i], centres[j])
        odds = log_odds_of_filled(middle, min(left, right))
        if counts[i] < min(FEWEST, 0.1 * len(X) + 1):
            bad.append((3, -float(counts[i]), i, None))
        elif off > distances[i, j] and not group.is_own:
            bad.append((2, off / float(distances[i, j]), i, None))
        elif odds > np.log(ODDS_TO_MERGE) and not (group.is_own and groups[j].is_own):
            bad.append((1, odds, i, j))
    if not bad:
        return None
    _, _, i, merge_with = max(bad, key=lambda each: each[:3])
    return i, merge_with


# ---------------------------------------------------------------------------------------------------------------------
# by samples: shift, scale and shares


class Located(NamedTuple):
    """Where a study lies: sample = shift + scale · joint place, and how well that explains it."""

    bic: float
    shift: FloatArray
    scale: float
    shares: FloatArray  # (n_clusters + 1,): the last is of samples that belong to none


def locate(
    X: FloatArray, centres: FloatArray, starts: Sequence[tuple[FloatArray, FloatArray]], *, always_shifted: bool = False
) -> Located:
    """Fit a mixture of the known clusters with unit spread, one shift and one scale to a study, by EM from many starts.

    A shift and a scale are taken only if they pay by Schwarz's criterion; a shift also if it is always asked for.

    Parameters
    ----------
    X : ndarray, (n_samples, n_coordinates)
        In units of the spread within clusters.
    centres : ndarray, (n_clusters, n_coordinates)
    starts : sequence of (place in the study, place among the centres)
        Hypotheses about the shift.
    always_shifted : bool
        Whether no shift is no hypothesis: then a constant added to the study makes no difference.
    """
    shares = np.full(len(centres) + 1, 1 / (len(centres) + 1))
    start = Located(-np.inf, np.zeros(X.shape[1]), 1.0, shares)
    best = start if always_shifted else _em(X, centres, [start], STEPS_UNSHIFTED, free=False)[0]
    hypotheses = [Located(-np.inf, here - scale * there, scale, shares) for scale in SCALES for here, there in starts]
    tried = _em(X, centres, hypotheses, FIRST_STEPS, free=True)
    promising = [
        located
        for begin in range(0, len(tried), len(starts))  # of every scale by itself
        for located in sorted(tried[begin : begin + len(starts)], key=lambda located: -located.bic)[:BEST_STARTS]
    ]
    return max([best, *_em(X, centres, promising, STEPS, free=True)], key=lambda located: located.bic)


def _em(X: FloatArray, centres: FloatArray, starts: Sequence[Located], steps: int, *, free: bool) -> list[Located]:
    """Run some steps of the EM algorithm from every start."""
    size = max(1, WEIGHTS_TOGETHER // (len(X) * (len(centres) + 1)))
    batches = [starts[begin : begin + size] for begin in range(0, len(starts), size)]
    return [located for batch in batches for located in _em_together(X, centres, batch, steps, free=free)]


def _em_together(
    X: FloatArray, centres: FloatArray, starts: Sequence[Located], steps: int, *, free: bool
) -> list[Located]:
    (n, q), n_clusters, m = X.shape, len(centres), len(starts)
    squares = (X**2).sum(axis=1)
    logs = np.empty((n, m, n_clusters + 1))
    shift, scale = np.array([start.shift for start in starts]), np.array([start.scale for start in starts])
    shares = np.array([start.shares for start in starts])
    is_scaled, likelihood = scale != 1, np.full(m, -np.inf)
    for _ in range(steps):
        places = shift[:, None] + scale[:, None, None] * centres  # (m, n_clusters, q)
        products = (X @ places.reshape(-1, q).T).reshape(n, m, n_clusters)
        squared = squares[:, None, None] - 2 * products + (places**2).sum(axis=2)
        logs[:, :, :-1] = -0.5 * squared / scale[:, None] ** 2 - q * np.log(scale)[:, None]
        logs[:, :, -1] = -0.5 * chdtri(q, 1 - INSIDE)
        logs += np.log(shares + 1e-300)
        top = logs.max(axis=2, keepdims=True)
        weights = np.exp(logs - top)
        total = weights.sum(axis=2, keepdims=True)
        likelihood = (top + np.log(total)).sum(axis=(0, 2))
        weights /= total
        shares = weights.mean(axis=0)
        weights = weights[:, :, :-1]
        members = weights.sum(axis=0)  # (m, n_clusters)
        all_members = members.sum(axis=1)
        moves = all_members > 1
        if not free or not moves.any():
            continue
        sums = np.tensordot(weights, X, axes=(0, 0))  # (m, n_clusters, q)
        divisor = np.where(moves, all_members, 1.0)[:, None]
        mean, expected = sums.sum(axis=1) / divisor, members @ centres / divisor
        about = centres - expected[:, None]
        slope = ((sums - members[:, :, None] * mean[:, None]) * about).sum(axis=(1, 2))
        slope /= np.maximum((members[:, :, None] * about**2).sum(axis=(1, 2)), 1e-9)
        rescales = moves & is_scaled & ((members > FEWEST).sum(axis=1) > 1)
        scale = np.where(rescales, np.clip(slope, SMALLEST_SCALE, LARGEST_SCALE), scale)
        is_scaled = scale != 1
        shift = np.where(moves[:, None], mean - scale[:, None] * expected, shift)
    parameters = free * (q + 2 * is_scaled)
    bic = likelihood - 0.5 * parameters * np.log(n)
    return [Located(float(bic[i]), shift[i], float(scale[i]), shares[i]) for i in range(m)]
