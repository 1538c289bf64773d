"""How many groups a study has by itself: those found in all studies that it has, joined or split by its own gaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import betainc

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
SPLIT_LEVEL, SPLIT_DEPTH = 0.02, 0.6
FOLDS = 10
# At most this many folds may have other clusters than the whole study, because of a bad start of the clusterer.
MOST_UNLIKE = 2
# Samples of a study are outside all groups where they are farther away than this share of the others' own samples; this
# share of them may be, without anything new, and the test has this level.
INSIDE, OUTSIDE_RATE, OUTSIDE_LEVEL = 0.99, 0.03, 0.005
# So many numbers of clusters beyond the groups are tried without success.
MOST_TRIES = 2

# Labels of rows in k clusters, 0 to k − 1; the last argument numbers the call. None where the clusterer failed.
Fit = Callable[[FloatArray, int, int], "IntArray | None"]


class OwnGroups(NamedTuple):
    """The groups of one study."""

    labels: IntArray  # (n,): 0, 1, …
    pvalue: float  # the largest p-value of gaps that only this study shows; NaN where there are none


def own_groups(
    X: FloatArray,
    groups: IntArray,
    others: FloatArray,
    groups_of_others: IntArray,
    fit: Fit | None,
    order: IntArray,
) -> OwnGroups:
    """Find the groups of a study: those of all studies together that it has, or a finer cut, or fewer.

    Parameters
    ----------
    X, groups : ndarray, (n, p) and (n,)
        The study, and the group of each sample in all studies together; −1 for none.
    others, groups_of_others : ndarray
        The same of all other studies.
    fit : function or None
        Cuts rows in k clusters. None: the groups are not refined.
    order : ndarray, (n,)
        A random order of the samples, which deals them into folds.
    """
    n_groups = int(max(groups.max(initial=0), groups_of_others.max(initial=0))) + 1
    labels = _without_lacking(X, groups, groups_of_others, n_groups)
    something_new = many_outside(X, others, groups_of_others)
    if fit is not None:
        start = np.unique(labels, return_inverse=True)[1]
        refined = refine(X, start, fit, order, expected=something_new)
        if refined is not None:
            return refined
    if not something_new:  # it may lie beside the line between two groups, where it seems to fill the gap
        labels = _join(X, labels, others, groups_of_others, n_groups)
    return OwnGroups(np.unique(labels, return_inverse=True)[1], np.nan)


def many_outside(X: FloatArray, others: FloatArray, groups_of_others: IntArray) -> bool:
    """Whether more samples than chance allows lie farther from all groups than the other studies' own samples do.

    The limit is that of 99 % of the others' samples, each measured from the centre of the rest of its group; up to 3 %
    of a study may lie outside, because studies differ.
    """
    kept = groups_of_others >= 0
    others, groups = others[kept], groups_of_others[kept]
    sizes = np.bincount(groups)
    centres = centres_of(others, groups, len(sizes))[sizes > 1]
    if len(centres) == 0:
        return False
    without = sizes[groups] / np.maximum(sizes[groups] - 1, 1)  # the centre without the sample itself
    within = np.sqrt(((others - centres_of(others, groups, len(sizes))[groups]) ** 2).sum(axis=1)) * without
    distance = np.sqrt(((X[:, None] - centres) ** 2).sum(axis=-1).min(axis=1))
    outside = int((distance > np.quantile(within, INSIDE)).sum())
    return outside >= FEWEST and float(betainc(outside, len(X) - outside + 1, OUTSIDE_RATE)) <= OUTSIDE_LEVEL


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
    for a, b in edges:
        of_both = X[(labels == a) | (labels == b)]  # samples of a third group may lie in the tube between the two
        count = place_in_windows(of_both, centres, np.array([[a, b]]), shares).members.sum(axis=0)[0]
        if log_odds_of_filled(int(count[MIDDLE]), int(min(count[LEFT], count[RIGHT]))) > np.log(ODDS_TO_JOIN):
            name[name == name[b]] = name[a]
    return np.asarray(name[labels])


def log_odds_of_filled(middle: int, side: int) -> float:
    """Return the log odds of "the middle holds as much as the side" against a typical gap, from their counts."""
    r = TYPICAL_GAP
    return float(middle * np.log((1 + r) / (2 * r)) + side * np.log((1 + r) / 2))


# ---------------------------------------------------------------------------------------------------------------------
# gaps that only this study has


def refine(X: FloatArray, groups: IntArray, fit: Fit, order: IntArray, *, expected: bool) -> OwnGroups | None:
    """Look for a finer cut of a study than its groups, with gaps that left-out samples show again; None without one.

    Numbers of clusters above that of the groups are tried one after the other, until MOST_TRIES in a row have failed.
    Where something new is `expected`, less evidence of the first new gap is enough.
    """
    best, failed, k = None, 0, int(groups.max()) + 1
    while failed < MOST_TRIES and (k + 1) * FEWEST <= len(X):
        k += 1
        so_far = groups if best is None else best.labels
        refined = cut_with_gaps(X, so_far, k, fit, order, expected=expected and best is None)
        failed = failed + 1 if refined is None else 0
        if refined is not None:
            best = OwnGroups(refined.labels, refined.pvalue if best is None else max(refined.pvalue, best.pvalue))
    return best


def cut_with_gaps(
    X: FloatArray, groups: IntArray, k: int, fit: Fit, order: IntArray, *, expected: bool = False
) -> OwnGroups | None:
    """Cut a study in k, and return the cut if there are gaps between all neighbours; None if not.

    The middle between clusters of two groups must not be filled. Between clusters of one group there must be a gap: it
    is this that nothing else has shown, unless it is `expected`; then it must only be likelier than none.
    """
    labels = fit(X, k, 0)
    if labels is None or labels.min() < 0 or np.bincount(labels, minlength=k).min() < FEWEST:
        return None
    edges = gabriel_edges(centres_of(X, labels, k))
    placed = cross_fitted_positions(X, labels, edges, k, fit, order)
    if placed is None:
        return None
    group = np.array([np.bincount(groups[labels == i]).argmax() for i in range(k)])
    worst = -1.0  # no gap within a group
    for e, (a, b) in enumerate(edges):
        left, middle, right = windows_of(placed[:, e])
        side = left if left.sum() <= right.sum() else right
        if log_odds_of_filled(int(middle.sum()), int(side.sum())) > 0:
            return None
        if group[a] == group[b]:
            pvalue = gap_pvalue(middle[:, None], side[:, None])
            is_gap = pvalue <= SPLIT_LEVEL and middle.sum() <= (1 - SPLIT_DEPTH) * side.sum()
            if not is_gap and not expected:
                return None
            worst = max(worst, pvalue)
    return OwnGroups(labels, worst) if worst >= 0 else None


def cross_fitted_positions(
    X: FloatArray, labels: IntArray, edges: IntArray, k: int, fit: Fit, order: IntArray
) -> FloatArray | None:
    """Place every sample on the lines between centres that it did not help to define, (n, n_edges).

    Centres are at −1.5 and 1.5; NaN where a sample is nearest to another cluster. Each tenth of the samples is placed
    by the clusters of the other nine tenths, which are named after those of the study as it is. A fold with other
    clusters than these places nothing; None where that happens more often than in MOST_UNLIKE folds.
    """
    unlike = 0
    positions, nearest = np.full((len(X), len(edges)), np.nan), np.full(len(X), -1)
    fold = np.empty(len(X), dtype=np.int64)
    fold[order] = np.arange(len(X)) % FOLDS
    for v in range(FOLDS):
        training, left_out = fold != v, fold == v
        fitted = fit(X[training], k, v + 1)
        named = None if fitted is None else _renamed(labels[training], fitted, k)
        if named is None or not _same_clusters(labels[training], named, k):
            unlike += 1
            continue
        centres = centres_of(X[training], named, k)
        squared = ((X[left_out][:, None] - centres) ** 2).sum(axis=-1)
        nearest[left_out] = squared.argmin(axis=1)
        apart = ((centres[edges[:, 0]] - centres[edges[:, 1]]) ** 2).sum(axis=1)
        positions[left_out] = 1.5 * (squared[:, edges[:, 0]] - squared[:, edges[:, 1]]) / np.maximum(apart, 1e-300)
    if unlike > MOST_UNLIKE:
        return None
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


def _same_clusters(reference: IntArray, named: IntArray, k: int) -> bool:
    """Whether each cluster shares more than half of its samples with the one of its name: Jaccard above 0.5."""
    for i in range(k):
        shared, either = ((reference == i) & (named == i)).sum(), ((reference == i) | (named == i)).sum()
        if 2 * shared <= either:
            return False
    return True


def _renamed(reference: IntArray, labels: IntArray, k: int) -> IntArray:
    """Name clusters after those of the reference that they share most samples with, one to one."""
    table = np.zeros((k, k), dtype=np.int64)
    known = (labels >= 0) & (labels < k) & (reference >= 0)
    np.add.at(table, (labels[known], reference[known]), 1)
    names = np.full(k + 1, -1)
    names[:k] = linear_sum_assignment(-table)[1]
    return np.asarray(names[np.where(known, labels, k)])
