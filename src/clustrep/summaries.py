"""What all results share: summaries of a distribution, the count of failures."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from clustrep.checks import check_fraction, check_numbers_between
from clustrep.execution.failures import Failures
from clustrep.types import FloatArray, IntArray

# The chance of a false finding that statements allow, each about all that it was tested for.
FALSE_FINDING = 0.05
# The largest allowed share of single-cluster scores.
TRIVIAL_AT_MOST = 0.05


class Resampled:
    """A distribution over resamples, and its summaries; failed resamples, NaN, are omitted from them.

    With x_1, …, x_n the values of the n resamples that did not fail:

        mean     = Σ x_b / n
        sd       = √( Σ (x_b − mean)² / (n − 1) )
        interval = the quantiles (1 − c) / 2 and (1 + c) / 2 of x_1, …, x_n, for a confidence level c

    Quantiles are interpolated linearly, as in `numpy.quantile`.
    """

    distribution: FloatArray  # (n_resamples, ...)

    @property
    def mean(self) -> FloatArray:
        """Mean over resamples."""
        with quiet():
            return np.asarray(np.nanmean(self.distribution, axis=0))

    @property
    def sd(self) -> FloatArray:
        """Standard deviation over resamples (with n − 1)."""
        with quiet():
            return np.asarray(np.nanstd(self.distribution, axis=0, ddof=1))

    def quantile(self, q: float | Sequence[float]) -> FloatArray:
        """Return quantiles over resamples.

        Parameters
        ----------
        q : float or sequence of float
            Between 0 and 1.

        Returns
        -------
        ndarray
            Of the shape of `mean`; for several quantiles with another axis before it.
        """
        check_numbers_between(q, "q", 0, 1)
        with quiet():
            return np.asarray(np.nanquantile(self.distribution, q, axis=0))

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return the percentile interval over resamples.

        It shows how much the value varies with the samples of these studies. It holds no variation between studies, and
        it is not corrected for bias: resamples may lie above or below the observed score as a whole.

        Parameters
        ----------
        confidence_level : float, default=0.95
            The share of the resamples inside.

        Returns
        -------
        low, high : ndarray
            Both of the shape of `mean`.

        References
        ----------
        .. [1] Efron, B. and Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapter 13. Chapman & Hall.
        """
        low, high = self.quantile(tails(confidence_level))
        return low, high

    def columns(self, confidence_level: float = 0.95) -> dict[str, FloatArray]:
        """Return mean, sd, low and high as columns of a table, a row for every value of a resample."""
        low, high = self.confidence_interval(confidence_level)
        summaries = {"mean": self.mean, "sd": self.sd, "low": low, "high": high}
        return {name: np.ravel(values) for name, values in summaries.items()}


class Failing:
    """A result in which values may have failed, and why.

    Attributes
    ----------
    failed : ndarray of int
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed.
    """

    failed: IntArray  # which cause, 0 for none
    causes: tuple[str, ...]

    @property
    def failures(self) -> Failures:
        """How many values failed, by cause: a mapping of cause to count."""
        return Failures.count(self.failed, self.causes)


def tails(confidence_level: float) -> list[float]:
    """Return the two quantiles between which an interval of this level lies."""
    check_fraction(confidence_level, "confidence_level")
    return [(1 - confidence_level) / 2, (1 + confidence_level) / 2]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence NumPy's warnings about empty slices: a score without any replicate is NaN, and reported elsewhere."""
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


# ---------------------------------------------------------------------------------------------------------------------
# The name of a configuration, the same in results, figures and reports


def label(clusterer: str, n_clusters: int | None, clusters_found: float | None = None) -> str:
    """Name a configuration: its clusterer, and its number of clusters where one was asked for, or how many it found.

    Examples
    --------
    >>> label("ward", 3)
    'ward, k = 3'
    >>> label("DBSCAN", None)
    'DBSCAN'
    >>> label("leiden, resolution = 0.5", None, 4.25)
    'leiden, resolution = 0.5 (4.2 clusters)'
    >>> label("leiden, resolution = 9", None, 123.4)
    'leiden, resolution = 9 (123 clusters)'
    """
    if clusters_found is not None:
        number = f"{clusters_found:.2g}" if clusters_found < 9.95 else f"{clusters_found:.0f}"
        return f"{clusterer} ({number} clusters)"
    return clusterer if n_clusters is None else f"{clusterer}, k = {n_clusters}"
