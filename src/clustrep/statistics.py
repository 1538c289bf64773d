"""Tests, intervals and a decomposition that several features need, each defined once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import svd as scipy_svd
from scipy.special import betainc
from scipy.stats import binomtest

from clustrep.types import FloatArray


def binomial_tail(successes: float, failures: float) -> float:
    """Return P(X ≤ successes) for a fair binomial X of all trials; the numbers need not be whole.

    With s successes and f failures, and I the regularised incomplete beta function::

        P(X ≤ s) = I_½(f, s + 1)

    which is the binomial sum where s and f are whole numbers, and joins its values smoothly elsewhere.

    Parameters
    ----------
    successes, failures : float
        Their numbers, from 0.

    Returns
    -------
    float
        The p-value of "successes are at least as likely as failures".

    Examples
    --------
    >>> binomial_tail(1, 2)
    0.5
    """
    return float(betainc(failures, successes + 1.0, 0.5)) if failures else 1.0


def proportion_interval(count: int, n: int, confidence_level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a proportion.

    Parameters
    ----------
    count, n : int
        Successes, and trials.
    confidence_level : float, default=0.95
        At least this share of intervals covers the proportion; for small n the share is larger.

    Returns
    -------
    low, high : float
        Between 0 and 1.

    References
    ----------
    .. [1] Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of
       the binomial. Biometrika 26(4), 404-413.

    Examples
    --------
    >>> low, high = proportion_interval(0, 10)
    >>> low, round(high, 3)
    (0.0, 0.308)
    """
    interval = binomtest(count, n).proportion_ci(confidence_level)
    return float(interval.low), float(interval.high)


def holm(pvalues: FloatArray) -> FloatArray:
    """Adjust p-values for the chance of any false finding, by Holm's step-down method.

    With p_(1) ≤ … ≤ p_(m) the p-values in ascending order::

        adjusted p_(i) = min(1, max over j ≤ i of (m − j + 1) p_(j))

    It holds under any dependence between the tests, and rejects all that Bonferroni's method does.

    Parameters
    ----------
    pvalues : ndarray of shape (m,)

    Returns
    -------
    ndarray of shape (m,)
        In the order of `pvalues`.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics
       6, 65-70.

    Examples
    --------
    >>> holm(np.array([0.03, 0.01, 0.5]))
    array([0.06, 0.03, 0.5 ])
    """
    adjusted = np.empty(len(pvalues))
    order = np.argsort(pvalues)
    steps = pvalues[order] * np.arange(len(pvalues), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def null_pvalue(exceedances: ArrayLike, n: ArrayLike) -> FloatArray:
    """Return (1 + exceedances) / (1 + n), with n simulated values of which `exceedances` are at least the observed one.

    The observed value counts as one of the simulated ones, so that the p-value is never 0 and exact under the null
    model: P(p ≤ α) ≤ α for every n.

    References
    ----------
    .. [1] Phipson, B. and Smyth, G. K. (2010). Permutation p-values should never be zero. Statistical Applications in
       Genetics and Molecular Biology 9(1), 39.

    Examples
    --------
    >>> float(null_pvalue(4, 99))
    0.05
    """
    return np.asarray((1 + np.asarray(exceedances)) / (1 + np.asarray(n)))


# ---------------------------------------------------------------------------------------------------------------------
# What an interval does not show: a distribution with two modes, an estimate far from the mean over resamples

FEWEST_VALUES = 20
# Two modes: the halves of the best split have means so far apart, explain so much of the variance (a normal
# distribution's best split explains 0.64, a uniform one's 0.75), and neither is made of a few outliers.
FAR_APART = 0.1
EXPLAINED = 0.85
SMALLER_SHARE = 0.1


@dataclass(frozen=True)
class Modes:
    """Two modes of a distribution: where they lie, and the share of the values in the upper one.

    Attributes
    ----------
    low, high : float
        The means of the values on either side of the best split.
    share_high : float
        The share of the values on the upper side.
    """

    low: float
    high: float
    share_high: float


def two_modes(values: FloatArray) -> Modes | None:
    """Find two modes in a distribution; None where it has one, or where there are too few values to tell.

    Values are split in two where most of their variance lies between the halves [1]_.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Scores over resamples; those that are missing are omitted.

    Returns
    -------
    Modes or None

    References
    ----------
    .. [1] Otsu, N. (1979). A threshold selection method from gray-level histograms. IEEE Transactions on Systems, Man,
       and Cybernetics 9(1), 62-66.

    Examples
    --------
    >>> two_modes(np.r_[np.linspace(0.2, 0.3, 30), np.linspace(0.9, 1.0, 70)])
    Modes(low=0.25, high=0.95, share_high=0.7)
    >>> two_modes(np.linspace(0, 1, 100))
    """
    ordered = np.sort(values[np.isfinite(values)])
    n = len(ordered)
    if n < FEWEST_VALUES:
        return None
    below = np.arange(1, n)  # how many values the lower half has
    sums = np.cumsum(ordered)
    low, high = sums[:-1] / below, (sums[-1] - sums[:-1]) / (n - below)
    between = below * (n - below) / n**2 * (high - low) ** 2
    split = int(np.argmax(between))
    share_high = float(n - below[split]) / n
    variance = float(np.var(ordered))
    if high[split] - low[split] < FAR_APART or between[split] < EXPLAINED * variance:
        return None
    if min(share_high, 1 - share_high) < SMALLER_SHARE:
        return None
    return Modes(round(float(low[split]), 12), round(float(high[split]), 12), round(share_high, 12))


def estimate_is_far(estimate: float, values: FloatArray) -> bool:
    """Whether an observed score lies outside nearly all scores of resamples, and far from their mean."""
    known = values[np.isfinite(values)]
    if len(known) < FEWEST_VALUES or not np.isfinite(estimate):
        return False
    low, high = np.quantile(known, [0.025, 0.975])
    outside = estimate < low or estimate > high
    return bool(outside and abs(estimate - known.mean()) >= FAR_APART)


def thin_svd(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return U, s and Vᵀ of X = U diag(s) Vᵀ, where LAPACK's faster algorithm fails by its slower one.

    Divide and conquer (gesdd) sometimes does not converge on ordinary data, such as 189 samples of 500 genes with some
    builds of OpenBLAS; QR iterations (gesvd) do.

    Parameters
    ----------
    X : ndarray of shape (n, p)

    Returns
    -------
    U, s, Vt : ndarray of shape (n, m), (m,) and (m, p), with m = min(n, p)
    """
    try:
        U, s, Vt = np.linalg.svd(X, full_matrices=False)
    except np.linalg.LinAlgError:
        U, s, Vt = scipy_svd(X, full_matrices=False, lapack_driver="gesvd")
    return U, s, Vt
