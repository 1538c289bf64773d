"""Why a configuration can't be called the best: which study causes it, and what to try next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clustrep.results.base import TRIVIAL_AT_MOST, quiet
from clustrep.results.labels import label
from clustrep.text import cut
from clustrep.types import BoolArray

if TYPE_CHECKING:
    from clustrep.results.choice import Candidate
    from clustrep.results.comparison import Comparison

EVERY_STUDY = "Every study"
TRIVIAL, NOISE, FAILED, MISSING = "trivial", "noise", "failed", "missing"
# Of an error's message, as much as a sentence can hold.
CAUSE_WORDS, CAUSE_LETTERS = 9, 60


@dataclass(frozen=True)
class Obstacle:
    """What keeps a configuration from being called the best.

    Attributes
    ----------
    configuration : str
        Its name.
    study : str
        The study in which it happens most often, or "Every study".
    kind : {"trivial", "noise", "failed", "missing"}
        The study is put into a single cluster; it has no cluster, but noise alone; it can't be clustered; it lacks
        scores for another reason.
    share : float
        In which share of resamples.
    cause : str
        The most frequent error; empty for "trivial" and "noise".
    """

    configuration: str
    study: str
    kind: str
    share: float
    cause: str = ""

    @property
    def sentence(self) -> str:
        """Name the study, what happens there and how often."""
        at_least = "at least " if self.study == EVERY_STUDY and self.share < 1 else ""
        often = f"in {at_least}{percent(self.share)} of resamples ({self.configuration})"
        if self.kind == TRIVIAL:
            return f"{self.study} is put into a single cluster {often}."
        if self.kind == NOISE:
            return f"{self.study} has no cluster: all samples are called noise {often}."
        what = "can't be clustered" if self.kind == FAILED else "lacks scores"
        because = f": {self._short_cause}" if self.cause else ""
        return f"{self.study} {what} {often}{because}" + ("" if because.endswith("…") else ".")

    @property
    def _short_cause(self) -> str:
        words = self.cause.rstrip(".").split()
        more = "…" if len(words) > CAUSE_WORDS else ""
        return cut(" ".join(words[:CAUSE_WORDS]) + more, CAUSE_LETTERS)

    @property
    def next_step(self) -> str:
        """Return what to try next, as a sentence."""
        if self.kind == NOISE:
            return "Run again with parameters that leave less noise, such as a larger eps, or with another clusterer."
        if self.study == EVERY_STUDY:
            return "Run again with other parameters, other numbers of clusters or another clusterer."
        if self.kind == TRIVIAL:
            return f"Run again without {self.study}, which may lack these clusters, or with another clusterer."
        return f"Run again with fewer clusters, with another clusterer, or without {self.study}."


def obstacle_of(comparison: Comparison, c: int) -> Obstacle | None:
    """Find what keeps configuration c from being called the best by the first agreement; None if nothing does.

    A trivial score is one of a test study that is put into a single cluster, by itself or by the training study.
    """
    off = ~np.eye(len(comparison.names), dtype=bool)
    scored = np.isfinite(comparison.distribution[c, 0]) & off  # (n_resamples, S, S)
    unscored = (~scored & off).any(axis=(1, 2)).mean() if len(scored) else 1.0
    name = label(comparison.clusterers[c], comparison.n_clusters[c])
    if unscored > 0.5:
        return _failing(comparison, c, name, off)
    trivial = comparison.trivial[c] & scored
    if trivial.sum() <= TRIVIAL_AT_MOST * max(scored.sum(), 1):
        return None
    with quiet():
        by_test = np.nan_to_num(trivial.sum(axis=(0, 1)) / scored.sum(axis=(0, 1)))
    no_clusters = (comparison.clusters_found[c] == 0).mean(axis=0)  # (S,): in which share of resamples
    if (by_test > TRIVIAL_AT_MOST).all():
        kind, share = (NOISE, no_clusters.min()) if (no_clusters > 0.5).all() else (TRIVIAL, by_test.min())
        return Obstacle(name, EVERY_STUDY, kind, float(share))
    worst = int(by_test.argmax())
    kind, share = (NOISE, no_clusters[worst]) if no_clusters[worst] > 0.5 else (TRIVIAL, by_test[worst])
    return Obstacle(name, comparison.names[worst], kind, float(share))


def obstacle_to(comparison: Comparison, focus: Candidate | None) -> Obstacle | None:
    """Find what keeps the configuration in focus from being called the best; without one, what keeps all from it."""
    if focus is None:
        return nearest_obstacle(comparison)
    configurations = list(zip(comparison.clusterers, comparison.n_clusters, strict=True))
    return obstacle_of(comparison, configurations.index((focus.clusterer, focus.n_clusters)))


def nearest_obstacle(comparison: Comparison) -> Obstacle | None:
    """Find the obstacle of the configuration with most scores, then with the fewest trivial ones."""
    off = ~np.eye(len(comparison.names), dtype=bool)

    def rank(c: int) -> tuple[float, float]:
        return -float(np.isfinite(comparison.distribution[c, 0][:, off]).mean()), float(comparison.trivial[c].mean())

    return obstacle_of(comparison, min(range(len(comparison.clusterers)), key=rank))


def _failing(comparison: Comparison, c: int, name: str, off: BoolArray) -> Obstacle:
    failed = comparison.failed[c, 0][1:]  # the first is the studies as they are
    causes = failed[:, off]
    numbers = causes[causes > 0]
    cause = comparison.causes[int(np.bincount(numbers).argmax()) - 1] if numbers.size else ""
    fits = (comparison.clusters_found[c] < 0).mean(axis=0)  # (S,)
    if fits.any():
        worst = int(fits.argmax())
        return Obstacle(name, comparison.names[worst], FAILED, float(fits[worst]), cause)
    missing = (~np.isfinite(comparison.distribution[c, 0])) & off
    by_study = (missing.any(axis=1) | missing.any(axis=2)).mean(axis=0)
    by_test = missing.any(axis=1).mean(axis=0)
    worst = int((by_study + by_test).argmax())
    return Obstacle(name, comparison.names[worst], MISSING, float(by_study[worst]), cause)


def percent(value: float) -> str:
    """Write a share as a whole number, and what is nearly all or nearly nothing as such.

    Examples
    --------
    >>> percent(0.625), percent(0.999), percent(1.0)
    ('62 %', 'more than 99 %', '100 %')
    """
    if 0.995 <= value < 1:
        return "more than 99 %"
    return f"{100 * value:.0f} %"
