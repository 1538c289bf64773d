"""How many groups a study has by itself: those found in all studies that it has, joined or split by its own gaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from clustrep.across.gaps import (
    LACKS,
    LEFT,
    MIDDLE,
    RIGHT,
    centres_of,
    gabriel_edges,
    gap_pvalue,
    place_in_windows,
)
from clustrep.types import BoolArray, FloatArray, IntArray

# A study has a group if it has at least so many samples of it: fewer may be strays of other groups.
FEWEST = 4
# How deep a gap is, middle / side, against which a filled middle is compared, and the odds that it takes to join groups
# that all studies together show to be apart.
TYPICAL_GAP, ODDS_TO_JOIN = 0.3, 20.0
# A study has a gap of its own where left-out samples show it again, at this p-value and depth.
SPLIT_LEVEL, SPLIT_DEPTH = 0.05, 0.6
FOLDS = 10
# So many numbers of clusters beyond the groups are tried in vain.
MOST_TRIES = 2

# Labels of rows in k clusters, 0 to k − 1; the last argument numbers the call. None where the clusterer failed.
Fit = Callable[[FloatArray, int, int], "IntArray | None"]


def own_groups(X: FloatArray, groups: IntArray, others: FloatArray, groups_of_others: IntArray) -> IntArray:
    """Find which of the groups of all studies together a study has, as far as its own samples keep them apart, (n,).

    Parameters
    ----------
    X, groups : ndarray, (n, p) and (n,)
        The study, and the group of each sample in all studies together; −1 for none.
    others, groups_of_others : ndarray
        The same of all other studies.
    """
    n_groups = int(max(groups.max(initial=0), groups_of_others.max(initial=0))) + 1
    labels = _without_lacking(X, groups, groups_of_others, n_groups)
    labels = _join(X, labels, others, groups_of_others, n_groups)
    return np.unique(labels, return_inverse=True)[1]


def _without_lacking(X: FloatArray, groups: IntArray, groups_of_others: IntArray, n_groups: int) -> IntArray:
    """Move samples of groups that the study lacks to the nearest group that it has."""
    counts = np.bincount(groups[groups >= 0], minlength=n_groups)
    shares = np.bincount(groups_of_others[groups_of_others >= 0], minlength=n_groups) / max(len(groups_of_others), 1)
    has = (counts >= FEWEST) & (counts >= LACKS * shares * len(X))
    if not has.any():
        has = counts == counts.max()
    centres = np.where(has[:, None], centres_of(X, groups, n_groups), np.inf)
    labels = groups.copy()
    for row in np.flatnonzero((groups < 0) | ~has[np.maximum(groups, 0)]):
        labels[row] = np.argmin(((X[row] - centres) ** 2).sum(axis=1))
    return labels


def _join(X: FloatArray, labels: IntArray, others: FloatArray, groups_of_others: IntArray, n_groups: int) -> IntArray:
    """Join neighbouring groups with a filled middle between them in this study; others define where to look."""
    centres = centres_of(others, groups_of_others, n_groups)
    centres[~np.isin(np.arange(n_groups), labels)] = np.nan
    known = np.flatnonzero(~np.isnan(centres[:, 0]))
    shares = np.bincount(groups_of_others[groups_of_others >= 0], minlength=n_groups) / max(len(groups_of_others), 1)
    if len(known) < 2:
        return labels
    name = np.arange(n_groups)
    edges = known[gabriel_edges(centres[known])]
    counts = place_in_windows(X, centres, edges, shares).members.sum(axis=0)
    for (a, b), count in zip(edges, counts, strict=True):
        if log_odds_of_filled(int(count[MIDDLE]), int(min(count[LEFT], count[RIGHT]))) > np.log(ODDS_TO_JOIN):
            name[name == name[b]] = name[a]
    return np.asarray(name[labels])


def log_odds_of_filled(middle: int, side: int) -> float:
    """Return the log odds of "the middle holds as much as the side" against a typical gap, from their counts."""
    r = TYPICAL_GAP
    return float(middle * np.log((1 + r) / (2 * r)) + side * np.log((1 + r) / 2))


# ---------------------------------------------------------------------------------------------------------------------
# gaps that only this study has


class Refined(NamedTuple):
    """A cut of one study with a gap between all neighbouring clusters."""

    labels: IntArray  # (n,)
    pvalue: float  # the largest of gaps within a group


def refine(X: FloatArray, groups: IntArray, fit: Fit, order: IntArray) -> Refined | None:
    """Look for a finer cut of a study than its groups, with gaps that left-out samples show again; None without one.

    Numbers of clusters above that of the groups are tried one after the other, until MOST_TRIES in a row have failed.
    """
    best, failed, k = None, 0, int(groups.max()) + 1
    while failed < MOST_TRIES and (k + 1) * FEWEST <= len(X):
        k += 1
        refined = cut_with_gaps(X, groups if best is None else best.labels, k, fit, order)
        failed = failed + 1 if refined is None else 0
        best = best if refined is None else Refined(refined.labels, max(refined.pvalue, best.pvalue if best else 0.0))
    return best


def cut_with_gaps(X: FloatArray, groups: IntArray, k: int, fit: Fit, order: IntArray) -> Refined | None:
    """Cut a study in k, and return the cut if there are gaps between all neighbours; None if not.

    The middle between clusters of two groups must not be filled. Between clusters of one group there must be a gap: it
    is this that nothing else has shown.
    """
    labels = fit(X, k, 0)
    if labels is None or len(np.unique(labels)) != k or np.bincount(labels[labels >= 0], minlength=k).min() < FEWEST:
        return None
    edges = gabriel_edges(centres_of(X, labels, k))
    placed = cross_fitted_positions(X, labels, edges, k, fit, order)
    if placed is None:
        return None
    group = np.array([np.bincount(groups[labels == i]).argmax() for i in range(k)])
    worst = -1.0
    for e, (a, b) in enumerate(edges):
        left, middle, right = windows_of(placed[:, e])
        side = left if left.sum() <= right.sum() else right
        if log_odds_of_filled(int(middle.sum()), int(side.sum())) > 0:
            return None
        if group[a] == group[b]:
            pvalue = gap_pvalue(middle[:, None], side[:, None])
            if pvalue > SPLIT_LEVEL or middle.sum() > (1 - SPLIT_DEPTH) * side.sum():
                return None
            worst = max(worst, pvalue)
    return Refined(labels, worst) if worst >= 0 else None


def cross_fitted_positions(
    X: FloatArray, labels: IntArray, edges: IntArray, k: int, fit: Fit, order: IntArray
) -> FloatArray | None:
    """Place every sample on the lines between centres that it did not help to define, (n, n_edges).

    Centres are at −1.5 and 1.5; NaN where a sample is nearest to another cluster. Each tenth of the samples is placed
    by the clusters of the other nine tenths, which are named after those of the study as it is.
    """
    positions, nearest = np.full((len(X), len(edges)), np.nan), np.full(len(X), -1)
    fold = np.empty(len(X), dtype=np.int64)
    fold[order] = np.arange(len(X)) % FOLDS
    for v in range(FOLDS):
        training, left_out = fold != v, fold == v
        fitted = fit(X[training], k, v + 1)
        if fitted is None:
            return None
        centres = centres_of(X[training], _renamed(labels[training], fitted, k), k)
        if np.isnan(centres).any():
            return None
        squared = ((X[left_out][:, None] - centres) ** 2).sum(axis=-1)
        nearest[left_out] = squared.argmin(axis=1)
        apart = ((centres[edges[:, 0]] - centres[edges[:, 1]]) ** 2).sum(axis=1)
        positions[left_out] = 1.5 * (squared[:, edges[:, 0]] - squared[:, edges[:, 1]]) / np.maximum(apart, 1e-300)
    for e, (a, b) in enumerate(edges):
        positions[:, e] = _rescaled(positions[:, e], nearest == a, nearest == b)
    return positions


def _rescaled(along: FloatArray, in_left: BoolArray, in_right: BoolArray) -> FloatArray:
    """Put the means of the two clusters at −1.5 and 1.5: where features are many, centres are farther apart than that.

    Samples of other clusters become NaN.
    """
    if not in_left.any() or not in_right.any():
        return np.full(len(along), np.nan)
    left, right = along[in_left].mean(), along[in_right].mean()
    scaled = 3 * (along - (left + right) / 2) / max(right - left, 1e-300)
    return np.where(in_left | in_right, scaled, np.nan)


def windows_of(positions: FloatArray) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Return which positions are in the left, middle and right window."""
    return (
        (positions >= -2) & (positions < -1),
        np.abs(positions) < 0.5,
        (positions > 1) & (positions <= 2),
    )


def _renamed(reference: IntArray, labels: IntArray, k: int) -> IntArray:
    """Name clusters after those of the reference that they share most samples with, one to one."""
    table = np.zeros((k, k), dtype=np.int64)
    known = (labels >= 0) & (labels < k) & (reference >= 0)
    np.add.at(table, (labels[known], reference[known]), 1)
    names = np.full(k + 1, -1)
    names[:k] = linear_sum_assignment(-table)[1]
    return np.asarray(names[np.where(known, labels, k)])
