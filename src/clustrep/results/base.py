"""What all results share: summaries of a distribution, saving, the count of failures."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from clustrep.checks import check_fraction, check_numbers_between
from clustrep.clustering.function import ClusteringFunction
from clustrep.clustering.path import Setting
from clustrep.clustering.sample import Configuration, Source
from clustrep.engine.replicates import FULL_STUDY, Failed, attempt, one_thread
from clustrep.errors import ParameterError
from clustrep.failures import Failures
from clustrep.files import save_result
from clustrep.studies.study import Study
from clustrep.tables.agreement import Agreement
from clustrep.types import FloatArray, IntArray

# Scores that say nothing are borne up to this share.
TRIVIAL_AT_MOST = 0.05


@dataclass(frozen=True, eq=False)
class Origin:
    """What a result came from, kept in memory only: data does not travel in result files."""

    source: Source
    studies: tuple[Study, ...]
    configuration: Configuration
    agreements: tuple[Agreement, ...]
    noise: str

    def function(self, s: int, replicate: int) -> ClusteringFunction:
        """Learn the clustering function of one study in one replicate again, from its seed."""
        setting = Setting.prepare(self.source, self.studies, [self.configuration], for_run=False)
        with one_thread():  # as in the run
            function = attempt(setting.paths[0].learn(setting.sample(s, replicate)).function, 0)
        if isinstance(function, Failed):
            where = "as it is" if replicate == FULL_STUDY else f"in resample {replicate - 1}"
            raise ParameterError(
                f"Study {self.studies[s].name!r} {where} has no clustering function: {function.cause}."
            )
        return function


class Resampled:
    """A distribution over resamples, and what can be said of it; failed resamples, NaN, are left out."""

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
        """Quantiles over resamples."""
        check_numbers_between(q, "q", 0, 1)
        with quiet():
            return np.asarray(np.nanquantile(self.distribution, q, axis=0))

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Percentile interval: (low, high)."""
        low, high = self.quantile(tails(confidence_level))
        return low, high


class Failing:
    """A result in which values may be missing, and why."""

    failed: IntArray  # which cause, 0 for none
    causes: tuple[str, ...]

    @property
    def failures(self) -> Failures:
        """How many values failed, by cause: a mapping of cause to count."""
        return Failures.count(self.failed, self.causes)


class Saved:
    """A result that can be written to one file."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything but the data to one file, whole or not at all; `clustrep.load` reads it."""
        save_result(self, path)


def tails(confidence_level: float) -> list[float]:
    """Return the two quantiles between which an interval of this level lies."""
    check_fraction(confidence_level, "confidence_level")
    return [(1 - confidence_level) / 2, (1 + confidence_level) / 2]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence NumPy's warnings about empty slices: a score without any replicate is NaN, and said elsewhere."""
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
