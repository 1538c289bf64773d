"""What an interval does not show: a distribution with two humps, an estimate far from the mean over resamples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clustrep.types import FloatArray

FEWEST_VALUES = 20
# Two humps: the halves of the best split have means so far apart, explain so much of the variance (a normal
# distribution's best split explains 0.64, a uniform one's 0.75), and neither is made of a few outliers.
FAR_APART = 0.1
EXPLAINED = 0.85
SMALLER_SHARE = 0.1


@dataclass(frozen=True)
class Humps:
    """Two humps of a distribution: where they lie, and the share of the values in the upper one."""

    low: float
    high: float
    share_high: float


def two_humps(values: FloatArray) -> Humps | None:
    """Find two humps in a distribution; None where it has one, or where there are too few values to tell.

    Values are split in two where most of their variance lies between the halves (Otsu 1979).

    Examples
    --------
    >>> two_humps(np.r_[np.linspace(0.2, 0.3, 30), np.linspace(0.9, 1.0, 70)])
    Humps(low=0.25, high=0.95, share_high=0.7)
    >>> two_humps(np.linspace(0, 1, 100))
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
    return Humps(round(float(low[split]), 12), round(float(high[split]), 12), round(share_high, 12))


def estimate_is_far(estimate: float, values: FloatArray) -> bool:
    """Whether a score of the studies as they are lies outside nearly all resamples', and far from their mean."""
    known = values[np.isfinite(values)]
    if len(known) < FEWEST_VALUES or not np.isfinite(estimate):
        return False
    low, high = np.quantile(known, [0.025, 0.975])
    outside = estimate < low or estimate > high
    return bool(outside and abs(estimate - known.mean()) >= FAR_APART)
