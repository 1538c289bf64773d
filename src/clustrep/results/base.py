"""What all results share: summaries of a distribution, saving, the count of failures."""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from clustrep.checks import check_fraction, check_numbers_between
from clustrep.clustering.function import ClusteringFunction
from clustrep.clustering.path import Setting
from clustrep.clustering.sample import Configuration, Source
from clustrep.engine.replicates import FULL_STUDY, Failed, attempt, one_thread
from clustrep.errors import AllReplicatesFailed, ParameterError, ReplicateWarning, warn
from clustrep.files import save_result
from clustrep.studies.study import Study
from clustrep.tables.agreement import Agreement
from clustrep.text import plural
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
            function = attempt(setting.paths[0].learn([setting.sample(s, replicate)])[0].function, 0)
        if isinstance(function, Failed):
            where = "as it is" if replicate == FULL_STUDY else f"in resample {replicate - 1}"
            raise ParameterError(
                f"Study {self.studies[s].name!r} {where} has no clustering function: {function.cause}.", parameter=None
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
    def failures(self) -> dict[str, int]:
        """How many values are missing, by cause."""
        return count_causes(self.failed, self.causes)

    def _failure_lines(self, noun: str) -> list[str]:
        return [f"Failed: {plural(count, noun)}: {cause}" for cause, count in self.failures.items()]


FailingResult = TypeVar("FailingResult", bound=Failing)


class Saved:
    """A result that can be written to one file."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything but the data to one file, whole or not at all; `clustrep.load` reads it."""
        save_result(self, path)


def number_causes(causes: NDArray[np.object_]) -> tuple[IntArray, tuple[str, ...]]:
    """Number the causes of failure, from 1 in the order of their appearance; 0 is no failure."""
    names = tuple(dict.fromkeys(cause for cause in causes.ravel() if cause))
    numbers = {"": 0, **{cause: i for i, cause in enumerate(names, 1)}}
    return np.vectorize(numbers.__getitem__, otypes=[np.int64])(causes), names


def report_failures(
    failures: dict[str, int], n_scores: int, what: str, *, no_resample_left: bool, where: str = ""
) -> None:
    """Say once, grouped by cause, what could not be scored, and where; raise where no resample could."""
    if not failures:
        return
    n_failed = sum(failures.values())
    causes = "; ".join(f"{cause} ({count:,})" for cause, count in failures.items())
    if no_resample_left:
        raise AllReplicatesFailed(
            f"Not one resample could be scored; {plural(n_failed, what)} failed: {causes}.{where}"
        )
    are = "is" if n_failed == 1 else "are"
    warn(
        f"{plural(n_failed, what)} of {n_scores:,} failed and {are} left out: {causes}.{where}",
        ReplicateWarning,
    )


def report_failed(failed: IntArray, causes: Sequence[str], what: str) -> None:
    """Say once what could not be had, where every value has its number of a cause; raise where none could."""
    report_failures(count_causes(failed, causes), failed.size, what, no_resample_left=bool((failed > 0).all()))


def reported(result: FailingResult, what: str) -> FailingResult:
    """Say what failed in a result, and pass it on."""
    report_failed(result.failed, result.causes, what)
    return result


def count_causes(failed: IntArray, causes: Sequence[str]) -> dict[str, int]:
    """Count numbered failures by their cause."""
    counts = Counter(failed[failed > 0].tolist())
    return {cause: counts[i] for i, cause in enumerate(causes, 1) if counts[i]}


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
