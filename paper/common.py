"""What all experiments share: claims, seeds, figures."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

SEED = 2023
HOLDS, FAILS, DEPENDS, NOT_RUN = "holds", "does not hold", "depends", "not run"
Verdict = Literal["holds", "does not hold", "depends", "not run"]


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, and what came out.

    where : the figure, table or section
    claim : what the paper says, in a sentence of our own
    as_written : our number, with its Monte Carlo error, from the experiment as the text has it
    as_published : the printed number, and ours from the variant that the published files come from; empty if the same
    why : why it holds or not
    values : the numbers behind the sentences, for tests
    """

    where: str
    claim: str
    as_written: str
    as_published: str
    verdict: Verdict
    why: str
    figures: tuple[str, ...] = ()
    values: dict[str, Any] = field(default_factory=dict, compare=False)


def number(values: Any, digits: int = 2) -> str:
    """Write the mean of independent values with its Monte Carlo standard error."""
    values = np.asarray(values, dtype=float).ravel()
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return f"{values.mean():.{digits}f}"
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1) / np.sqrt(len(values)):.{digits}f}"


def save(figure: Any, out: Path, name: str) -> str:
    """Write a figure, the same bytes every time, and return its name."""
    import matplotlib.pyplot as plt

    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / f"{name}.png", dpi=120)
    plt.close(figure)
    return f"{name}.png"


def quietly() -> None:
    """Leave out warnings about clusterers that fail in a few resamples: they are counted in the results."""
    warnings.simplefilter("ignore")


def table(claims: Sequence[Claim]) -> str:
    """Write claims as a Markdown table."""
    lines = ["| where | claim | as written | as published | | why |", "|---|---|---|---|---|---|"]
    for one in claims:
        cells = [one.where, one.claim, one.as_written, one.as_published, f"**{one.verdict}**", one.why]
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)
