"""Density valleys between clusters that are found again in studies that did not define them: counts and tests.

Pure functions of arrays. Along the line between the centres of two neighbouring pieces, three windows of equal width
are fixed by other studies: around either centre and around the middle. Where the density along the line has one mode,
the middle window holds at least as much as the poorer of the outer two, whatever its shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import chdtrc

from clustrep.statistics import binomial_tail, proportion_interval, thin_svd
from clustrep.summaries import FALSE_FINDING
from clustrep.types import BoolArray, FloatArray, IntArray

# A value is a level where it holds this share of all samples; a feature is discrete where levels hold this share (about
# ten levels or fewer).
SHARE_OF_A_LEVEL, SHARE_OF_LEVELS = 0.1, 0.3
# The tube around a line holds this share of the outer windows' points: without the most distant ones.
TUBE = 0.9
# A study lacks a piece where it has less than this share of the samples that the training share predicts.
LACKS = 0.25
# Between the facing halves of two clusters the middle may hold at most this share of the poorer side: see docs/exam.md.
FILLED_NEARBY = 0.5
# The shallowest and deepest valley, as middle / side, that a density valley is compared with.
SHALLOWEST, DEEPEST = 0.6, 0.1

LEFT, MIDDLE, RIGHT = range(3)
# A study has a cluster if it has at least this many samples of it: fewer may be strays of other clusters.
FEWEST = 4
# Correlations within pieces are estimated in up to this many features, and drawn to none by this share.
MOST_CORRELATED, SHRINKAGE = 15, 0.1
# A feature whose spread is at most this share of the largest one is constant: centring leaves rounding errors.
CONSTANT = 1e-9
# How deep a valley is, middle / side, that a filled middle is compared with: that of two clusters 4 sd apart.
TYPICAL_VALLEY = 0.3


# ---------------------------------------------------------------------------------------------------------------------
# discrete features


def spread_ties(X: FloatArray, rng: np.random.Generator | FloatArray, widest: FloatArray | None = None) -> FloatArray:
    """Spread tied values, so that the distance between a feature's own values is no density valley.

    A discrete feature becomes its randomised ranks: flat, with the feature's own standard deviation. Ties of other
    features are spread evenly, up to the midpoints between the values. A level at either end, such as a limit of
    detection, is spread outwards from the quartile, as densely as the other values: that it is apart is no valley.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    rng : Generator, or ndarray of shape (n_samples, n_features) with numbers between 0 and 1
        What the ties are spread by.
    widest : ndarray of shape (n_features,), optional
        The widest interval over which a tie is spread: how finely a feature was measured.
    """
    spread = np.array(X, dtype=float)
    for j in range(X.shape[1]):
        values, place, counts = np.unique(X[:, j], return_inverse=True, return_counts=True)
        if len(values) in (1, len(X)):
            continue
        uniform = rng.random(len(X)) if isinstance(rng, np.random.Generator) else rng[:, j]
        is_level = counts >= SHARE_OF_A_LEVEL * len(X)
        if counts[is_level].sum() >= SHARE_OF_LEVELS * len(X):
            below = np.cumsum(counts) - counts
            rank = (below[place] + uniform * counts[place]) / len(X)
            spread[:, j] = X[:, j].mean() + (rank - 0.5) * np.sqrt(12.0) * X[:, j].std()
        else:
            middles = (values[1:] + values[:-1]) / 2
            low = np.concatenate([[2 * values[0] - middles[0]], middles])
            high = np.concatenate([middles, [2 * values[-1] - middles[-1]]])
            if widest is not None:
                low, high = np.maximum(low, values - widest[j] / 2), np.minimum(high, values + widest[j] / 2)
            within = low[place] + uniform * (high - low)[place]
            spread[:, j] = np.where(counts[place] > 1, within, spread[:, j])
            for end, sign in ((0, -1), (-1, 1)):
                if is_level[end]:
                    at_end = X[:, j] == values[end]
                    quartiles = np.quantile(X[~at_end, j], [0.25, 0.75])
                    width = 2 * (quartiles[1] - quartiles[0]) * counts[end] / (len(X) - counts[end])
                    spread[at_end, j] = quartiles[end] + sign * width * uniform[at_end]
    return spread


def usual_steps(tables: Sequence[FloatArray]) -> FloatArray:
    """Return how finely every feature was measured: the median difference of neighbouring values of a study."""
    steps = np.zeros(tables[0].shape[1])
    for j in range(len(steps)):
        differences = np.concatenate([np.diff(np.unique(X[:, j])) for X in tables])
        steps[j] = np.median(differences) if len(differences) else 0.0
    return steps


# ---------------------------------------------------------------------------------------------------------------------
# geometry


def centres_of(X: FloatArray, labels: IntArray, n_pieces: int) -> FloatArray:
    """Return the means of the pieces, (n_pieces, p); NaN for a piece without samples. Label −1 belongs to none."""
    in_piece = labels[:, None] == np.arange(n_pieces)  # (n, n_pieces)
    counts = in_piece.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((in_piece.T.astype(float) @ X) / np.where(counts > 0, counts, np.nan)[:, None])


class WithinPieces(NamedTuple):
    """The spread within pieces: standard deviations, (p,), and a root of the correlations, (p, p), where p is small.

    Features that do not vary have an infinite standard deviation, and thus count for nothing.
    """

    sd: FloatArray
    root: FloatArray | None

    @classmethod
    def of(cls, X: FloatArray, labels: IntArray, n_pieces: int) -> WithinPieces:
        """Estimate it from pieces; samples with label −1 belong to none."""
        known = labels >= 0
        residuals = X[known] - centres_of(X, labels, n_pieces)[labels[known]]
        free = max(len(residuals) - len(np.unique(labels[known])), 1)
        overall = X.var(axis=0)
        sd = np.sqrt((residuals**2).sum(axis=0) / free + 1e-9 * overall)
        sd[overall <= CONSTANT**2 * overall.max()] = np.inf  # it distinguishes no pieces, and has no likelihood
        if X.shape[1] > MOST_CORRELATED:
            return cls(sd, None)
        correlations = (residuals / sd).T @ (residuals / sd) / free
        return cls(sd, np.linalg.cholesky((1 - SHRINKAGE) * correlations + SHRINKAGE * np.eye(len(sd))))

    def whitened(self, points: FloatArray) -> FloatArray:
        """Return the points in coordinates in which pieces have unit variance and no correlations."""
        scaled = points / self.sd
        if self.root is None:
            return scaled
        return np.asarray(solve_triangular(self.root, scaled.T, lower=True, check_finite=False).T)

    @property
    def log_determinant(self) -> float:
        """The log volume of a unit of the whitened coordinates."""
        spreads = self.sd[np.isfinite(self.sd)]
        return float(np.log(spreads).sum() + (0.0 if self.root is None else np.log(np.diag(self.root)).sum()))


def gabriel_edges(centres: FloatArray) -> IntArray:
    """Return the pairs of centres with no third centre in the ball between them, (n_edges, 2)."""
    squared = ((centres[:, None] - centres[None]) ** 2).sum(axis=-1)
    edges = []
    for a in range(len(centres)):
        for b in range(a + 1, len(centres)):
            through_third = squared[a] + squared[b]
            through_third[[a, b]] = np.inf
            if squared[a, b] <= through_third.min() * (1 + 1e-12):
                edges.append((a, b))
    return np.array(edges, dtype=np.int64).reshape(-1, 2)


def nearest_centre(X: FloatArray, centres: FloatArray) -> IntArray:
    """Return the nearest centre of every sample, (n,); never a NaN centre, and −1 without any centre."""
    if not len(centres):  # everything is noise
        return np.full(len(X), -1)
    squared = (centres**2).sum(axis=1) - 2 * X @ centres.T  # up to a constant of each sample
    squared[:, np.isnan(centres[:, 0])] = np.inf
    return np.asarray(np.where(np.isfinite(squared).any(axis=1), np.argmin(squared, axis=1), -1))


class Windows(NamedTuple):
    """Where the samples of one study lie along the edges between pieces."""

    members: BoolArray  # (n, n_edges, 3): in the left, middle and right window
    positions: FloatArray  # (n, n_edges): centres at ∓1.5, windows of width 1; NaN outside the tube


def place_in_windows(X: FloatArray, centres: FloatArray, edges: IntArray, shares: FloatArray) -> Windows:
    """Place the samples of a held-out study in windows between the centres of pieces learned elsewhere.

    Everything is done in the space that the centres span. The frame of centres is moved by one vector, the study's own
    shift, and the windows shrink by one factor, because training centres lie too far apart where features are many; one
    of each for all pieces, so that no window follows its own points. Outer windows count the tube around the line; the
    middle one also counts all of the two cells, so that what bends out of the tube fills the density valley.

    Parameters
    ----------
    centres : ndarray of shape (n_pieces, n_features)
        NaN for a piece that was not found in training.
    shares : ndarray of shape (n_pieces,)
        The share of training samples in every piece: a study with far fewer is not used for that piece's edges.
    """
    members = np.zeros((len(X), len(edges), 3), dtype=bool)
    positions = np.full((len(X), len(edges)), np.nan)
    known = ~np.isnan(centres[:, 0])
    if known.sum() < 2 or len(X) == 0:
        return Windows(members, positions)
    # The span of the centres.
    origin = centres[known].mean(axis=0)
    _, singular, axes = thin_svd(centres[known] - origin)
    axes = axes[singular > 1e-9 * max(singular[0], 1e-300)]
    X, centres = (X - origin) @ axes.T, (np.where(known[:, None], centres, 0.0) - origin) @ axes.T
    squared, nearest, lacking = _cells(X, centres, known, shares)
    shrink = 1.0
    here = np.flatnonzero(~lacking)
    if len(here) > 1:
        means = centres_of(X, nearest, len(centres))[here]
        apart_here, apart = means - means.mean(axis=0), centres[here] - centres[here].mean(axis=0)
        shrink = float(np.clip((apart_here * apart).sum() / (apart * apart).sum(), 0.1, 1.0))
        squared, nearest, lacking = _cells(X - (means - centres[here]).mean(axis=0), centres, known, shares)
    length = np.sqrt(((centres[edges[:, 0]] - centres[edges[:, 1]]) ** 2).sum(axis=1))
    usable = ~lacking[edges].any(axis=1) & (length > 0)
    (a, b), length = edges[usable].T, length[usable]
    along = (squared[:, a] - squared[:, b]) / (2 * length)  # (n, n_edges), as all below
    off = (squared[:, a] + squared[:, b]) / 2 - length**2 / 4 - along**2
    z = along / (length * shrink / 3)
    left, middle, right = (z >= -2) & (z < -1), np.abs(z) < 0.5, (z > 1) & (z <= 2)
    in_cells = (nearest[:, None] == a) | (nearest[:, None] == b)
    # In the span of two centres everything lies on the line.
    radius = _quantiles(off, in_cells & (left | right), TUBE) if X.shape[1] > 1 else np.inf
    in_tube = off <= radius
    members[:, usable] = np.stack([left & in_tube, middle & (in_tube | in_cells), right & in_tube], axis=2)
    positions[:, usable] = np.where(in_tube | (middle & in_cells), z, np.nan)
    return Windows(members, positions)


def _quantiles(values: FloatArray, chosen: BoolArray, share: float) -> FloatArray:
    """Return a quantile of the chosen values of every column as `numpy.quantile` does; infinite where none is."""
    values, last = np.sort(np.where(chosen, values, np.inf), axis=0), chosen.sum(axis=0) - 1
    place = np.maximum(last, 0) * share
    below = place.astype(np.int64)
    columns = np.arange(values.shape[1])
    low, high = values[below, columns], values[np.clip(below + 1, 0, np.maximum(last, 0)), columns]
    with np.errstate(invalid="ignore"):  # of columns without values
        return np.where(last >= 0, low + (place - below) * (high - low), np.inf)


def _cells(
    X: FloatArray, centres: FloatArray, known: BoolArray, shares: FloatArray
) -> tuple[FloatArray, IntArray, BoolArray]:
    """Return squared distances to the centres, the nearest one, and which have hardly any samples of the study."""
    squared = (X**2).sum(axis=1)[:, None] - 2 * X @ centres.T + (centres**2).sum(axis=1)
    squared[:, ~known] = np.inf
    nearest = np.argmin(squared, axis=1)
    counts = np.bincount(nearest, minlength=len(centres))
    return squared, nearest, ~known | (counts == 0) | (counts < LACKS * shares * len(X))


def near_counts(X: FloatArray, in_training: BoolArray, labels: IntArray, edges: IntArray, n_pieces: int) -> IntArray:
    """Count samples between the facing halves of two pieces, in the left, middle and right window, (3,).

    Only the half of either piece that faces the other counts, and the line is drawn between these halves. At this range
    a bent continuum is nearly straight and even, while two modes keep their valley. Counts are summed, training and
    held-out samples together, over the edges whose middle holds most training samples: where a bridge would be.
    """
    training, held_out = X[in_training], X[~in_training]
    centres = centres_of(training, labels, n_pieces)
    shares = np.bincount(labels[labels >= 0], minlength=n_pieces) / len(training)
    counts = np.zeros((len(edges), 3), dtype=np.int64)
    facing_of = []
    for e, (a, b) in enumerate(edges):
        facing = centres.copy()
        for piece, other in ((a, b), (b, a)):
            points = training[labels == piece]
            if len(points) and not np.isnan(centres[other, 0]):  # without training samples a piece has no centre
                towards = points @ (centres[other] - centres[piece])
                facing[piece] = points[towards >= np.median(towards)].mean(axis=0)
        facing_of.append(facing)
        if not np.isnan(facing[[a, b], 0]).any():
            counts[e] = place_in_windows(training, facing, edges[[e]], shares).members.sum(axis=0)[0]
    fullest = np.flatnonzero(counts[:, MIDDLE] >= counts[:, MIDDLE].max(initial=0) / 2)
    for e in fullest.tolist():
        if not np.isnan(facing_of[e][edges[e], 0]).any():
            counts[e] += place_in_windows(held_out, facing_of[e], edges[[e]], shares).members.sum(axis=0)[0]
    return np.asarray(counts[fullest].sum(axis=0))


# ---------------------------------------------------------------------------------------------------------------------
# tests


def poorer_sides(counts: IntArray) -> IntArray:
    """Return for every study which outer window the middle is compared with; `counts` has rows left, middle, right.

    A valley is lower than both of its sides, so the middle is compared with the poorer one.

    It is the poorer one of the sums where the studies agree about left : right (chi-squared test); else each study's
    own poorer one, so that two shifted studies with one mode each make no density valley.

    Parameters
    ----------
    counts : ndarray of int, shape (S, 3)
        Samples in the left, middle and right window, by study.

    Returns
    -------
    ndarray of int, shape (S,)
        `LEFT` or `RIGHT` for every study.
    """
    left, right = counts[:, LEFT], counts[:, RIGHT]
    observed = np.column_stack([left, right]).astype(float)
    observed = observed[observed.sum(axis=1) > 0]
    if len(observed) > 1 and left.sum() and right.sum():
        expected = observed.sum(axis=1, keepdims=True) * observed.sum(axis=0) / observed.sum()
        if chdtrc(len(observed) - 1, ((observed - expected) ** 2 / expected).sum()) < FALSE_FINDING:
            return np.where(left <= right, LEFT, RIGHT)
    return np.full(len(counts), LEFT if left.sum() <= right.sum() else RIGHT)


def valley_pvalue(in_middle: BoolArray, in_side: BoolArray) -> float:
    """Return the p-value of "the middles hold at least as much as the sides", from memberships (n, n_edges).

    With M samples in the middle and P on the poorer side, p = P(Binomial(M + P, 1/2) ≤ M), which is exact for one edge
    and any density with one mode along the line. For several, counts are divided by their overdispersion, because one
    sample may lie in windows of several edges.

    Parameters
    ----------
    in_middle, in_side : ndarray of bool, shape (n_samples, n_edges)
        Which samples lie in the middle window, and in that of the poorer side.
    """
    middle, side = in_middle.sum(), in_side.sum()
    differences = in_middle.sum(axis=1) - in_side.sum(axis=1).astype(float)
    overdispersion = max((differences @ differences) / max(middle + side, 1), 1.0)
    return binomial_tail(middle / overdispersion, side / overdispersion)


def valley_depth(middle: int, side: int, confidence_level: float = 0.95) -> tuple[float, float, float]:
    """Return the depth of a valley, 1 − middle / side, with the Clopper–Pearson interval.

    Parameters
    ----------
    middle, side : int
        Samples in the middle window, and in that of the poorer side.
    confidence_level : float, default=0.95
        Of the interval for middle / (middle + side), from which that of the depth follows.

    Returns
    -------
    depth, low, high : float
        1 for an empty middle, 0 for one as full as the side, negative for a fuller one; NaN without samples on the
        side.

    Examples
    --------
    >>> [round(number, 2) for number in valley_depth(4, 40)]
    [0.9, 0.72, 0.97]
    """
    if side == 0:
        return np.nan, -np.inf, 1.0
    low, high = proportion_interval(middle, middle + side, confidence_level)
    return 1 - middle / side, 1 - high / (1 - high), 1 - low / (1 - low)


# ---------------------------------------------------------------------------------------------------------------------
# clusters


def log_odds_of_filled(middle: int, side: int) -> float:
    """Return the log odds of "the middle holds as much as the side" against a typical valley, from their counts."""
    r = TYPICAL_VALLEY
    return float(middle * np.log((1 + r) / (2 * r)) + side * np.log((1 + r) / 2))


def join_pieces(n_pieces: int, edges: IntArray, middle: IntArray, side: IntArray) -> IntArray:
    """Return the cluster of every piece: neighbours are joined where the middle is more likely filled than not.

    Filled (middle = side) is compared with a density valley as deep as all edges together show, with prior odds of one
    to the number of edges: with r = middle / side over all edges, the log odds of "filled" for counts M and P are

        M log((1 + r) / (2r)) + P log((1 + r) / 2)

    Parameters
    ----------
    n_pieces : int
    edges : ndarray of int, shape (n_edges, 2)
        The pairs of neighbouring pieces.
    middle, side : ndarray of int, shape (n_edges,)
        Samples in the middle window, and in that of the poorer side.

    Returns
    -------
    ndarray of int, shape (n_pieces,)
        Numbers from 0; pieces that are joined have the same one.
    """
    group = np.arange(n_pieces)
    if len(edges) == 0:
        return np.zeros(n_pieces, dtype=np.int64)
    ratio = float(np.clip(middle.sum() / max(side.sum(), 1), DEEPEST, SHALLOWEST))
    evidence = middle * np.log((1 + ratio) / (2 * ratio)) + side * np.log((1 + ratio) / 2)
    for e in np.flatnonzero((evidence > np.log(len(edges))) | (side == 0)):
        a, b = group[edges[e]]
        group[group == b] = a
    return np.unique(group, return_inverse=True)[1]
