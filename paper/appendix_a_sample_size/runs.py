"""Appendix A.3: scores of fresh pairs of studies from a mixture of 25 Gaussians, and the components they have."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.common import clearly_positive, make_rng

COMPONENTS, SPACING = 25, 15.0
GRID = SPACING * np.stack(np.meshgrid(np.arange(5), np.arange(5)), axis=-1).reshape(-1, 2)


def mixture(study: cr.Study, rng: np.random.Generator) -> np.ndarray:
    """Draw from 25 Gaussians with unit variance on a grid, as `Simulate` asks for it."""
    return points(len(study), rng)


def points(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n points from the 25 Gaussians."""
    return GRID[rng.integers(COMPONENTS, size=n)] + rng.normal(size=(n, 2))


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores of fresh pairs of studies, on the same draws for every k."""

    ks: range
    scores: np.ndarray  # (k, agreement, draw)

    def at(self, k: int, a: int = 0) -> np.ndarray:
        """Return the scores at one k, (draw,)."""
        return self.scores[self.ks.index(k), a]

    def best(self, a: int = 0, below: int | None = None) -> int:
        """Return the k with the highest mean score, of all or of those below a number."""
        ks = [k for k in self.ks if below is None or k < below]
        return max(ks, key=lambda k: self.at(k, a).mean())

    def rival(self, a: int = 0) -> int:
        """Return the best k but 25."""
        return max((k for k in self.ks if k != COMPONENTS), key=lambda k: self.at(k, a).mean())

    def leads(self, a: int = 0) -> bool:
        """Whether 25 is above every other k by over two standard errors, paired."""
        others = (self.at(COMPONENTS, a) - self.at(k, a) for k in self.ks if k != COMPONENTS)
        return all(clearly_positive(lead) for lead in others)


def curve(key: int, n: int, ks: range, n_init: int, n_draws: int, n_jobs: int) -> Curve:
    """Score fresh pairs of studies of n points."""
    rng = make_rng(key, n)
    result = cr.compare(
        KMeans(n_init=n_init),
        {"train": points(n, rng), "test": points(n, rng)},
        n_clusters=ks,
        resampling=cr.Simulate(mixture),
        n_resamples=n_draws,
        diagonal=False,
        rng=rng,
        n_jobs=n_jobs,
    )
    return Curve(ks, result.distribution[..., 0, 1])


@dataclass(frozen=True)
class Chances:
    """Exact probabilities about the components in two studies."""

    more: float  # the training study has one that the test study lacks
    both: float  # and vice versa at once
    all: float  # both have all


def component_chances(n: int) -> Chances:
    """Return the chances for two studies of n points, from the distribution of the number of components in one."""
    sizes = np.zeros(COMPONENTS + 1)
    sizes[0] = 1
    seen = np.arange(COMPONENTS + 1) / COMPONENTS
    for _ in range(n):
        sizes = sizes * seen + np.append(0, (sizes * (1 - seen))[:-1])
    # given their numbers, the components of a study are any with the same probability
    contained = sum(
        sizes[s] * sizes[t] * comb(COMPONENTS - s, t - s) / comb(COMPONENTS, t)
        for t in range(1, COMPONENTS + 1)
        for s in range(1, t + 1)
    )
    equal = sum(sizes[s] ** 2 / comb(COMPONENTS, s) for s in range(1, COMPONENTS + 1))
    return Chances(float(1 - contained), float(1 - 2 * contained + equal), float(sizes[-1] ** 2))
