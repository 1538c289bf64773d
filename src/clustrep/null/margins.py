"""Unimodal margins: for the values of a feature, the closest distribution with one mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import isotonic_regression

from clustrep.null.gaussian import explained_by_sampling
from clustrep.types import FloatArray

# A feature with few different values keeps them: at most 25, which ordinal scales and small counts have, and one for
# every five samples, so that each share is estimated from five samples on average (Cochran's rule for counts).
MOST_VALUES, FEWEST_REPEATS = 25, 5
# A lowest or highest value that at least this share of the samples has keeps its share: the zeros of counts. It is the
# smallest top that is tried below; a smaller share is within what a level top of the density moves.
ATOM = 0.1
# The top of the mode, where the density is level, holds one of these shares of the samples: the largest that costs no
# more than `FLATTER` of the log likelihood. The likeliest top is a spike; of tops within a 95 % interval of one
# parameter, whose log likelihood ratio is χ²₁(0.95) / 2 = 1.9, the flattest is taken.
TOPS = (0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.25, 0.15, 0.1)
FLATTER = 2.0
# Places that are tried for the top: in steps of half its share, and for small shares no more than these.
MOST_PLACES = 12

Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Margin:
    """A distribution, by its quantile function: linear between knots; a level piece is a single value.

    Attributes
    ----------
    shares, values : ndarray of shape (n_knots,)
        The knots: shares from 0 to 1, and their quantiles in ascending order.

    Examples
    --------
    >>> uniform = Margin(np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    >>> uniform.quantiles(np.array([0.25, 0.5])), uniform.moments()[0]
    (array([1., 2.]), 2.0)
    """

    shares: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)

    def quantiles(self, shares: FloatArray) -> FloatArray:
        """Return the quantiles of these shares."""
        return np.asarray(np.interp(shares, self.shares, self.values))

    def entropy(self) -> float:
        """Return the differential entropy, −∫ f log f; of a distribution without single values."""
        mass, width = np.diff(self.shares), np.diff(self.values)
        there = (mass > 0) & (width > 0)
        return float(mass[there] @ np.log(width[there] / mass[there]))

    def moments(self) -> tuple[float, float]:
        """Return the mean and the standard deviation."""
        mass, low, high = np.diff(self.shares), self.values[:-1], self.values[1:]
        mean = float(mass @ (low + high)) / 2
        square = float(mass @ (low**2 + low * high + high**2)) / 3
        return mean, float(np.sqrt(max(square - mean**2, 0)))

    def standardised(self) -> Margin:
        """Return the same shape with mean 0 and variance 1."""
        mean, sd = self.moments()
        return Margin(self.shares, (self.values - mean) / (sd if sd > 0 else 1.0))

    def has_ties(self) -> bool:
        """Whether a single value has a positive share."""
        return bool((np.diff(self.values) <= 0)[np.diff(self.shares) > 0].any())


# ---------------------------------------------------------------------------------------------------------------------
# the likeliest unimodal masses


def likeliest_unimodal(masses: FloatArray, widths: FloatArray, tops: Ranges) -> tuple[FloatArray, float]:
    """Return the likeliest masses of neighbouring cells among all with one mode, and their mean log likelihood.

    Maximises Σ_c m_c log(f_c / w_c) over masses f ≥ 0 with Σ f_c = 1 whose densities f_c / w_c rise up to a top and
    fall from there on. For a given top this is weighted isotonic regression on either side (pooling adjacent
    violators); the best of all tops is taken.

    Parameters
    ----------
    masses, widths : ndarray of shape (n_cells,)
        The observed shares m of neighbouring cells, and their widths w.
    tops : sequence of (int, int)
        Ranges of cells [i, j) that may be the top, where the density is the same throughout.

    Examples
    --------
    >>> import numpy as np
    >>> likeliest_unimodal(np.array([0.4, 0.1, 0.3, 0.2]), np.ones(4), [(0, 1)])[0]
    array([0.4, 0.2, 0.2, 0.2])
    """
    best, fitted = -np.inf, masses
    positive = masses > 0
    for i, j in tops:
        fit = _unimodal_with_top(masses, widths, i, j)
        likelihood = float(masses[positive] @ np.log(np.maximum(fit[positive], 1e-300) / widths[positive]))
        if likelihood > best + 1e-12:
            best, fitted = likelihood, fit
    return fitted, best


def _unimodal_with_top(masses: FloatArray, widths: FloatArray, i: int, j: int) -> FloatArray:
    """Return masses whose densities rise up to the cells [i, j), are equal there, and fall from there on."""
    density = np.empty(len(masses))
    if i > 0:
        density[:i] = isotonic_regression(masses[:i] / widths[:i], weights=widths[:i]).x
    if j < len(masses):
        density[j:] = isotonic_regression(masses[j:] / widths[j:], weights=widths[j:], increasing=False).x
    mass, width = float(masses[i:j].sum()), float(widths[i:j].sum())
    # Python's own numbers: one by one, they are read several times as fast as NumPy's.
    heights, of_cells, wide, end = density.tolist(), masses.tolist(), widths.tolist(), len(masses)
    while True:  # neighbours that are higher than the top are merged with it
        left = heights[i - 1] if i > 0 else -math.inf
        right = heights[j] if j < end else -math.inf
        top = mass / width
        if top >= left and top >= right:
            break
        if left >= right:
            i -= 1
            mass, width = mass + of_cells[i], width + wide[i]
        else:
            mass, width = mass + of_cells[j], width + wide[j]
            j += 1
    density[i:j] = mass / width
    return np.asarray(density * widths)


def flattest_unimodal(
    masses: FloatArray, widths: FloatArray, n: int, tops_of: Sequence[Ranges], flatter: float = FLATTER
) -> FloatArray:
    """Return the masses of the flattest unimodal distribution that the data do not distinguish from the likeliest.

    n : how many samples there are
    tops_of : for every share of `TOPS`, the ranges of cells that hold it
    flatter : how much of the log likelihood a flatter top may cost
    """
    likeliest, best = likeliest_unimodal(masses, widths, tops_of[-1])
    for tops in tops_of[:-1]:
        fitted, likelihood = likeliest_unimodal(masses, widths, tops)
        if (best - likelihood) * n <= flatter:
            return fitted
    return likeliest


def continuous_margin(values: FloatArray, flatter: float = FLATTER) -> Margin:
    """Return the unimodal distribution closest to these values, standardised: uniform between neighbouring values."""
    points, counts = np.unique(values, return_counts=True)
    if len(points) < 3:
        return Margin(np.array([0.0, 1.0]), points[[0, -1]]).standardised()
    # Each sample counts half on either side; one at an end counts once.
    half = counts / 2
    half[[0, -1]] *= 2
    masses = half[:-1] + half[1:]
    masses = masses / masses.sum()
    tops_of = [_places(masses, share) for share in TOPS]
    fitted = flattest_unimodal(masses, np.diff(points), len(values), tops_of, flatter)
    return Margin(np.concatenate([[0.0], np.cumsum(fitted / fitted.sum())]), points).standardised()


def _places(masses: FloatArray, share: float) -> list[tuple[int, int]]:
    """Return ranges of cells that hold a share of the mass, from the first to the last."""
    ends = np.concatenate([[0.0], np.cumsum(masses)])
    starts = np.linspace(0, 1 - share, min(MOST_PLACES, 2 + int(2 * (1 - share) / share)))
    left = np.searchsorted(ends, starts - 1e-9)
    right = np.searchsorted(ends, starts + share - 1e-9).clip(max=len(masses))
    return [(int(i), int(j)) for i, j in zip(left, right, strict=True) if j > i]


def discrete_margin(values: FloatArray, shares: FloatArray) -> Margin:
    """Return the unimodal distribution on ordered values that is closest to their shares; two values keep theirs.

    Examples
    --------
    >>> discrete_margin(np.array([0.0, 1.0]), np.array([0.75, 0.25])).quantiles(np.array([0.5, 0.9]))
    array([0., 1.])
    """
    if len(values) > 2:
        shares, _ = likeliest_unimodal(shares, np.ones(len(values)), [(i, i + 1) for i in range(len(values))])
    borders = np.concatenate([[0.0], np.cumsum(shares / shares.sum())])
    return Margin(np.repeat(borders, 2)[1:-1], np.repeat(values, 2))


# ---------------------------------------------------------------------------------------------------------------------
# a feature in several studies


def shrunk_moments(tables: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return means and standard deviations, (S, n_features), without the differences that sampling explains.

    Means are drawn towards the common ones as in `structures_of`; so are the logarithms of variances, apart from the
    study's scale: with κ the mean kurtosis of the features, log s² has the sampling variance (κ − 1) / n.
    """
    sizes = np.array([len(X) for X in tables], dtype=float)
    weights = sizes / sizes.sum()
    means, squares = np.array([X.mean(axis=0) for X in tables]), np.array([X.var(axis=0) for X in tables])
    traces = (squares * (sizes / (sizes - 1))[:, None]).sum(axis=1)
    centre, errors = weights @ means, traces / sizes
    expected = (1 - 2 * weights) * errors + weights**2 @ errors
    shift = 1 - explained_by_sampling(((means - centre) ** 2).sum(axis=1), expected)
    scales = np.where(traces > 0, traces / max(traces.mean(), 1e-300), 1.0)
    pooled = weights @ (squares / scales[:, None])
    varies = (squares > 0).all(axis=0)
    logs = np.zeros_like(squares)
    logs[:, varies] = np.log(squares[:, varies] / scales[:, None] / pooled[varies])
    fourths = np.array([((X - mean) ** 4).mean(axis=0) for X, mean in zip(tables, means, strict=True)])
    fourth = weights @ (fourths / scales[:, None] ** 2)
    kurtosis = float(np.mean(fourth[varies] / pooled[varies] ** 2)) if varies.any() else 3.0
    expected = varies.sum() * max(kurtosis - 1, 0.1) * np.maximum(1 / sizes - 1 / sizes.sum(), 0)
    kept = 1 - explained_by_sampling((logs**2).sum(axis=1), expected)
    variances = pooled * scales[:, None] * np.exp(kept[:, None] * logs)
    return centre + shift[:, None] * (means - centre), np.sqrt(variances)


def margins_of_feature(columns: Sequence[FloatArray], means: FloatArray, sds: FloatArray) -> list[Margin]:
    """Return the unimodal margin of one feature in every study.

    A feature with few different values keeps them. Of any other one the shape is the same in all studies, with the
    means and standard deviations given; its lowest or highest value keeps its share where many samples have it.
    """
    distinct = [np.unique(column) for column in columns]
    few = max(2, min(MOST_VALUES, min(map(len, columns)) // FEWEST_REPEATS))
    if max(map(len, distinct)) <= few:
        return _discrete_margins(columns, distinct, few)
    for end in (np.min, np.max):
        at_end = [column == end(column) for column in columns]
        rest = [column[~there] for column, there in zip(columns, at_end, strict=True)]
        if np.mean([there.mean() for there in at_end]) >= ATOM and min(map(len, rest)) >= 2:
            counts = np.array([[there.sum(), (~there).sum()] for there in at_end], dtype=float)
            others = margins_of_feature(rest, np.array([c.mean() for c in rest]), np.array([c.std() for c in rest]))
            return [
                _with_atom(margin, float(end(column)), share, lowest=end is np.min)
                for margin, column, (share, _) in zip(others, columns, _shrunk_shares(counts), strict=True)
            ]
    standardised = [(column - column.mean()) / column.std() for column in columns if column.std() > 0]
    shape = continuous_margin(np.concatenate(standardised))
    return [Margin(shape.shares, mean + sd * shape.values) for mean, sd in zip(means, sds, strict=True)]


def _discrete_margins(columns: Sequence[FloatArray], distinct: Sequence[FloatArray], few: int) -> list[Margin]:
    """Return the margins of a feature with few values: the same in all studies, or scaled in each, or its own."""
    pooled, n_studies = np.unique(np.concatenate(distinct), return_counts=True)
    common = pooled[n_studies > 1]
    # A study without any of these has other values, as after scaling.
    if len(pooled) <= few and all(np.isin(values, common).any() for values in distinct):
        distinct = [pooled] * len(columns)
    counts = [
        np.array([np.count_nonzero(column == value) for value in values], dtype=float)
        for column, values in zip(columns, distinct, strict=True)
    ]
    alike = len({len(values) for values in distinct}) == 1
    shares = _shrunk_shares(np.array(counts)) if alike else [count / count.sum() for count in counts]
    return [discrete_margin(values, share) for values, share in zip(distinct, shares, strict=True)]


def _shrunk_shares(counts: FloatArray) -> FloatArray:
    """Return every study's shares of values, (S, n_values), drawn towards the pooled ones as far as sampling explains.

    counts : (S, n_values)
    """
    sizes = counts.sum(axis=1)
    pooled = counts.sum(axis=0) / sizes.sum()
    shares = counts / sizes[:, None]
    expected = (pooled @ (1 - pooled)) * np.maximum(1 / sizes - 1 / sizes.sum(), 0)
    towards = explained_by_sampling(((shares - pooled) ** 2).sum(axis=1), expected)[:, None]
    return np.asarray(towards * pooled + (1 - towards) * shares)


def _with_atom(margin: Margin, value: float, share: float, *, lowest: bool) -> Margin:
    """Return a margin to which a lowest or highest value with this share is added."""
    if lowest:
        return Margin(
            np.concatenate([[0.0, share], share + (1 - share) * margin.shares]),
            np.concatenate([[value, value], np.maximum(margin.values, value)]),
        )
    return Margin(
        np.concatenate([(1 - share) * margin.shares, [1 - share, 1.0]]),
        np.concatenate([np.minimum(margin.values, value), [value, value]]),
    )
