"""What all experiments share: seeds, errors, numbers as text, saved figures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from clustrep.errors import ReplicateWarning

mpl.use("Agg")

SEED = 2023
AGREEMENTS = ("ari", "ami")
N_AGAIN = 200  # bootstrap draws of resamples, for the Monte Carlo error of what is not a mean
# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":", "-.")


def make_rng(*key: int) -> np.random.Generator:
    """Return an independent stream of random numbers for every key."""
    return np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=key))


def make_seed(*key: int) -> int:
    """Return a seed drawn from the stream of a key."""
    return int(make_rng(*key).integers(2**31))


# ---------------------------------------------------------------------------------------------------------------------
# errors


def error_of(values: Any) -> Any:
    """Return the Monte Carlo standard errors of means over independent values, the last axis."""
    values = np.asarray(values, dtype=float)
    return np.nanstd(values, axis=-1, ddof=1) / np.sqrt(np.isfinite(values).sum(axis=-1))


def draws_of(size: int, n: int = N_AGAIN) -> Any:
    """Draw resamples with replacement, (n, size); the same ones for all that is compared."""
    return make_rng(0, size).integers(size, size=(n, size))


def with_bootstrap_error(statistic: Callable[..., Any], *tables: Any, n: int = N_AGAIN) -> tuple[Any, Any]:
    """Return a statistic of tables, and its standard error by drawing resamples, the last axis, again.

    The one way in which errors of what is not a mean are computed.
    """
    arrays = [np.asarray(table, dtype=float) for table in tables]
    again = [statistic(*(array[..., rows] for array in arrays)) for rows in draws_of(arrays[0].shape[-1], n)]
    return statistic(*arrays), np.std(again, axis=0, ddof=1)


# ---------------------------------------------------------------------------------------------------------------------
# numbers as text


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


def listed(names: Iterable[Any]) -> str:
    """Write names in a row, or that there is none."""
    return ", ".join(map(str, names)) or "none"


# ---------------------------------------------------------------------------------------------------------------------


def save(figure: Any, out: Path, name: str) -> str:
    """Write a figure, the same bytes every time, and return its name."""
    import matplotlib.pyplot as plt

    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / f"{name}.png", dpi=110, metadata={"Software": None})
    plt.close(figure)
    return f"{name}.png"


def quietly() -> None:
    """Ignore warnings about clusterers that fail or do not converge in some resamples: results count them."""
    for category in (ReplicateWarning, ConvergenceWarning):
        warnings.simplefilter("ignore", category)
