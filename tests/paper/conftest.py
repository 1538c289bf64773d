"""What the tests of the paper's experiments share: each quick run once in a session, and errors of means.

Runs are small, so numbers are compared in units of the run's Monte Carlo error: a difference of four standard errors
is clear, a number within four of a printed number is compatible with it. Where a run has too few data sets for four,
tests ask for two, as the experiments do.
"""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from paper.common import Claim, error_of

SMALLEST = 1e-12  # in place of an error of zero: what never varies is compared exactly


@dataclass(frozen=True)
class QuickRun:
    """The claims of an experiment at quick size, and the folder with its figures."""

    claims: list[Claim]
    folder: Path

    @property
    def figures(self) -> list[str]:
        return [name for claim in self.claims for name in claim.figures]


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects
def pytest_collection_modifyitems(items):
    """Mark what needs a quick run of an experiment as slow."""
    for item in items:
        if "quick_run" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory):
    """Run an experiment at quick size, once in a session."""
    runs = {}

    def run(name):
        if name not in runs:
            folder = tmp_path_factory.mktemp(name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                claims = importlib.import_module(f"paper.{name}.claims").main(folder, quick=True)
            runs[name] = QuickRun(claims, folder)
        return runs[name]

    return run


@pytest.fixture(scope="session")
def find_claim():
    """Find the claim of an experiment whose sentence has the given words."""

    def find(claims, words):
        (match,) = (claim for claim in claims if words in claim.claim)
        return match

    return find


def _above(values: Any, level: Any = 0.0) -> Any:
    """How many standard errors the mean of independent values, the last axis, is above a level."""
    differences = np.asarray(values, dtype=float) - level
    return np.nanmean(differences, axis=-1) / np.maximum(error_of(differences), SMALLEST)


def _apart(values: Any, others: Any) -> float:
    """How many standard errors the mean of values is above that of independent others."""
    values, others = (np.asarray(sample, dtype=float) for sample in (values, others))
    error = np.hypot(error_of(values), error_of(others))
    return float((np.nanmean(values) - np.nanmean(others)) / max(error, SMALLEST))


def _estimate_above(estimate: Any, level: float = 0.0) -> Any:
    """How many standard errors an estimate is above a level: its value, then its bootstrap draws, the first axis."""
    return (estimate[0] - level) / np.maximum(np.std(estimate[1:], axis=0, ddof=1), SMALLEST)


@pytest.fixture(scope="session")
def errors():
    """Distances in standard errors: of paired values from a level, of two samples, and of a bootstrapped estimate."""
    return SimpleNamespace(above=_above, apart=_apart, estimate_above=_estimate_above)
