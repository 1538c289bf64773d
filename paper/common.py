"""What all experiments share: claims and their verdicts, numbers with errors, seeds, figures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from scipy.stats import binomtest
from sklearn.exceptions import ConvergenceWarning

from clustrep.errors import ReplicateWarning

mpl.use("Agg")

SEED = 2023
HOLDS, FAILS, DEPENDS, NOT_RUN = "holds", "does not hold", "depends", "not run"
ABSENT = "The data are not here and could not be fetched: paper/README.md says where they belong."


class Verdict(str):
    """What came out of a claim, with the numbers of parts that said yes and that were asked."""

    yes: int
    asked: int

    @classmethod
    def of(cls, word: str, yes: int, asked: int) -> Verdict:
        """Make a verdict."""
        verdict = cls(word)
        verdict.yes, verdict.asked = yes, asked
        return verdict


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, and what came out.

    where : the figure, table or section
    claim : what the paper says, in a sentence of our own
    as_written : our number, with its Monte Carlo error, from the experiment as the text has it
    as_published : the printed number, and ours from the variant that the published files come from; empty if the same
    verdict : of the experiment as written
    rule : what had to be the case for it to hold, and for what each
    why : what explains it, with the numbers that show it
    values : the numbers behind the sentences, for tests
    ours : a remark of our own, not a claim of the paper
    """

    where: str
    claim: str
    as_written: str
    as_published: str
    verdict: Verdict
    rule: str
    why: str
    figures: tuple[str, ...] = ()
    values: dict[str, Any] = field(default_factory=dict, compare=False)
    ours: bool = False


def verdict_of(parts: Iterable[Any]) -> Verdict:
    """Judge a claim by its parts (algorithms, data sets, …): it holds for all, none or some; without parts, not run."""
    parts = [bool(part) for part in parts]
    word = HOLDS if all(parts) else DEPENDS if any(parts) else FAILS
    return Verdict.of(word if parts else NOT_RUN, sum(parts), len(parts))


def not_run(where: str, claims: Sequence[str], why: str, *, ours: bool = False) -> list[Claim]:
    """Return a line for each claim that was not computed."""
    return [Claim(where, claim, "", "", Verdict.of(NOT_RUN, 0, 0), "", why, ours=ours) for claim in claims]


def number(values: Any, digits: int = 2) -> str:
    """Write the mean of independent values with its Monte Carlo standard error, to a digit more where that is small."""
    values = np.asarray(values, dtype=float).ravel()
    values = values[np.isfinite(values)]
    if not len(values):
        return "no value"
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return with_error(values.mean(), error, digits)


def with_error(value: float, error: float, digits: int = 2) -> str:
    """Write a number with its standard error, to a digit more where that is small; exact ones without."""
    if error < 1e-9:
        return plain(value, digits)
    digits = digits if round(error, digits) else digits + 1
    smallest = 10.0**-digits
    return f"{plain(value, digits)} ± " + (plain(error, digits) if round(error, digits) else f"<{smallest:.{digits}f}")


def plain(value: float, digits: int = 2) -> str:
    """Write a number, never as -0.00."""
    return f"{value if round(value, digits) else 0.0:.{digits}f}"


def row(values: Iterable[float], digits: int = 2) -> str:
    """Write numbers in a row."""
    return ", ".join(plain(value, digits) for value in values)


def share(flags: Any) -> str:
    """Write how many of several independent trials succeeded, with an exact 95 % interval of the probability."""
    flags = np.asarray(flags, dtype=bool).ravel()
    interval = binomtest(int(flags.sum()), len(flags)).proportion_ci()
    return f"{flags.sum()} of {len(flags)} (95 % interval {interval.low:.2f} to {interval.high:.2f})"


def make_rng(*key: int) -> np.random.Generator:
    """Return an independent stream of random numbers for every key."""
    return np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=key))


def make_seed(*key: int) -> int:
    """Return a seed drawn from the stream of a key."""
    return int(make_rng(*key).integers(2**31))


def error_of(values: Any) -> Any:
    """Return the Monte Carlo standard errors of means over independent values, the last axis."""
    values = np.asarray(values, dtype=float)
    return np.nanstd(values, axis=-1, ddof=1) / np.sqrt(np.isfinite(values).sum(axis=-1))


def clearly_positive(differences: Any) -> Any:
    """Whether means of independent differences, the last axis, are above zero by more than two standard errors."""
    return np.nanmean(differences, axis=-1) > np.maximum(2 * error_of(differences), 1e-9)


def save(figure: Any, out: Path, name: str) -> str:
    """Write a figure, the same bytes every time, and return its name."""
    import matplotlib.pyplot as plt

    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / f"{name}.png", dpi=120, metadata={"Software": None})
    plt.close(figure)
    return f"{name}.png"


def quietly() -> None:
    """Ignore warnings about clusterers that fail or do not converge in some resamples: results count them."""
    for category in (ReplicateWarning, ConvergenceWarning):
        warnings.simplefilter("ignore", category)


def table(claims: Sequence[Claim]) -> str:
    """Write claims as a Markdown table."""
    lines = ["| where | claim | as written | as published | verdict | why |", "|---|---|---|---|---|---|"]
    for claim in claims:
        asked = f", {claim.verdict.yes} of {claim.verdict.asked} (asked: {claim.rule})" if claim.verdict.asked else ""
        verdict = f"**{claim.verdict}**{asked}"
        cells = [claim.where, claim.claim, claim.as_written, claim.as_published, verdict, claim.why]
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)
