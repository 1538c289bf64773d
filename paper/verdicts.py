"""The scale of verdicts and its rules: everything that turns numbers into a verdict, and what the paper's words mean.

A claim is asked as a list of parts (data sets, algorithms, numbers of clusters, pairs of studies, …). Every part has an
effect, its Monte Carlo error, and a level: the answer is yes from the level on. Levels are sizes of effects, never
p-values; the same word has the same level wherever the paper uses it. An error only says whether the size of the run
can tell on which side of the level an effect is.

Definitions, advice and procedures are no claims and are not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

# What the paper's words mean, in units of the score unless said.
DIFFERENCE = 0.02  # higher, lower, worse, better: a smaller difference of two scores is a tie, however sure it is
CLOSE = 0.05  # close, similar, uniform: the same first decimal
SUBSTANTIAL = 0.1  # substantially, crucial, heavily; comparable is less than this
LOW = 0.2  # a low score: the end of "slight" agreement (Landis and Koch, 1977)
HIGH = 0.65  # a good score, a close resemblance: the beginning of "moderate" recovery (Steinley, 2004)
NEAR_ONE = 0.9  # close to 1
CORRELATED = 0.3  # a rank correlation that counts: "medium" (Cohen, 1988)
PROBABLE = 0.95  # with high probability
USUAL = 0.5  # shares of data sets, splits or resamples: most
SPURIOUS = 0.5  # a cluster is spurious if its Jaccard coefficient with every true group is at most this (Hennig, 2007)
TWO_SDS = 2.0  # a printed number agrees with ours within two standard deviations of what a single run gives
COVERAGE = 0.9  # of intervals of 95 %: well calibrated from here on

ERRORS = 3.0  # an effect within so many Monte Carlo errors of its level is open
EXCEPTIONS = 0.25  # at most this share of the parts says no: named exceptions
FEW = 1 / 3  # fewer parts than this say yes: mostly not


class Verdict(StrEnum):
    """What came out of a claim."""

    HOLDS = "holds"
    EXCEPTION = "holds with an exception"
    MIXED = "mixed"
    MOSTLY_NOT = "mostly not"
    FAILS = "does not hold"
    MISPRINT = "misprint"
    UNKNOWN = "can't tell"
    UNSETTLED = "can't tell at this size"
    NOT_RUN = "not run"
    NONE = "–"  # the claim has no such side


SYMBOLS = {
    Verdict.HOLDS: "●",
    Verdict.EXCEPTION: "◕",
    Verdict.MIXED: "◑",
    Verdict.MOSTLY_NOT: "◔",
    Verdict.FAILS: "○",
    Verdict.MISPRINT: "✎",
    Verdict.UNKNOWN: "?",
    Verdict.UNSETTLED: "?",
    Verdict.NOT_RUN: "∅",
    Verdict.NONE: "–",
}
STANDS = (Verdict.HOLDS, Verdict.EXCEPTION)
FALLS = (Verdict.MOSTLY_NOT, Verdict.FAILS, Verdict.MISPRINT)
SCALE = (Verdict.HOLDS, Verdict.EXCEPTION, Verdict.MIXED, Verdict.MOSTLY_NOT, Verdict.FAILS)
KINDS = {
    "all": "every part is asked for",
    "exists": "one part is enough",
    "most": "more than half of the parts are asked for",
}


@dataclass(frozen=True)
class Part:
    """One question: whether an effect reaches its level.

    Parameters
    ----------
    name : str
        Which data set, algorithm, ….
    effect : float
        Its size, the larger, the more it speaks for the claim; not a number where there is nothing to show.
    level : float
        From where on the answer is yes.
    error : float
        Monte Carlo standard error of the effect; 0 for what is exact.
    """

    name: str
    effect: float
    level: float = 0.0
    error: float = 0.0

    @property
    def yes(self) -> bool:
        """Whether the effect, as it was estimated, reaches its level."""
        return bool(np.isfinite(self.effect) and self.effect >= self.level - 1e-9)

    @property
    def open(self) -> bool:
        """Whether the run is too small to tell."""
        return bool(np.isfinite(self.effect) and abs(self.effect - self.level) < ERRORS * self.error)

    def __str__(self) -> str:
        answer = "open" if self.open else "yes" if self.yes else "no"
        error = f" ± {self.error:.3f}" if self.error > 0 else ""
        return f"{self.name}: {self.effect:.3f}{error} ({answer})"


def above(name: str, values: Any, level: float = DIFFERENCE) -> Part:
    """Ask whether the mean of independent values is at least a level."""
    values = np.asarray(values, dtype=float).ravel()
    values = values[np.isfinite(values)]
    if not len(values):
        return Part(name, np.nan, level)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return Part(name, float(values.mean()), level, float(error))


def at_most(name: str, values: Any, level: float) -> Part:
    """Ask whether the mean of independent values is at most a level; the effect is written with its sign changed."""
    return above(name, -np.asarray(values, dtype=float), -level)


def usual(name: str, flags: Any, level: float = USUAL) -> Part:
    """Ask whether something happens in at least a share of independent trials."""
    flags = np.asarray(flags, dtype=float).ravel()
    smoothed = (flags.sum() + 1) / (len(flags) + 2)  # so that all or none of a few are not without an error
    return Part(name, float(flags.mean()), level, float(np.sqrt(smoothed * (1 - smoothed) / len(flags))))


def grade(kind: str, yes: int, asked: int) -> Verdict:
    """Grade a claim by how many of its parts say yes."""
    if kind == "exists":
        return Verdict.HOLDS if yes else Verdict.FAILS
    if yes == asked or (kind == "most" and 2 * yes > asked):
        return Verdict.HOLDS
    if kind == "all" and asked >= 3 and asked - yes <= EXCEPTIONS * asked:
        return Verdict.EXCEPTION
    if not yes:
        return Verdict.FAILS
    return Verdict.MIXED if yes >= FEW * asked else Verdict.MOSTLY_NOT


def judge(parts: Iterable[Part], kind: str = "all", *, quick: bool = False) -> Verdict:
    """Judge a claim by its parts.

    The verdict is given where open parts can't change it. A quick run gives no other. A full run also gives the verdict
    of the estimates where open parts move it by one step of the scale; where they move it farther, it can't tell.
    """
    parts = list(parts)
    if not parts:
        return Verdict.NOT_RUN
    sure = sum(part.yes and not part.open for part in parts)
    possible = sum(part.yes or part.open for part in parts)
    low, high = (grade(kind, yes, len(parts)) for yes in (sure, possible))
    if low == high:
        return low
    if quick:
        return Verdict.UNSETTLED
    if SCALE.index(low) - SCALE.index(high) > 1:
        return Verdict.UNKNOWN
    return grade(kind, sum(part.yes for part in parts), len(parts))


def misprint(opposite: Sequence[Part], *, quick: bool = False) -> bool:
    """Whether a claim that does not hold is a misprint: everything it asks for comes out the other way round."""
    return judge(opposite, quick=quick) in STANDS


def exceptions(parts: Iterable[Part]) -> list[str]:
    """Name the parts that say no."""
    return [part.name for part in parts if not part.yes]
