"""Appendix A.3: scores of fresh pairs of studies from a mixture of 25 Gaussians, and the components they have."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.a3 import outliers
from paper.common import make_rng
from paper.store import Facts

COMPONENTS, SPACING = 25, 15.0
SIZES = FEW, MORE, MANY = (50, 100, 1000)
KEY_WRITTEN, KEY_PUBLISHED, KEY_FIGURE = 41, 42, 43
GRID = SPACING * np.stack(np.meshgrid(np.arange(5), np.arange(5)), axis=-1).reshape(-1, 2)


def mixture(study: cr.Study, rng: np.random.Generator) -> np.ndarray:
    """Draw from 25 Gaussians with unit variance on a grid, as `Simulate` asks for it."""
    return points(len(study), rng)


def points(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n points from the 25 Gaussians."""
    return GRID[rng.integers(COMPONENTS, size=n)] + rng.normal(size=(n, 2))


def curve(key: int, n: int, ks: range, n_init: int, n_draws: int, n_jobs: int) -> np.ndarray:
    """Score fresh pairs of studies of n points, on the same draws for every k, (k, agreement, draw)."""
    rng = make_rng(key, n)
    result = cr.compare(
        KMeans(n_init=n_init),
        {"train": points(n, rng), "test": points(n, rng)},
        n_clusters=ks,
        resampling=cr.resampling.Simulate(mixture),
        n_resamples=n_draws,
        diagonal=False,
        rng=rng,
        n_jobs=n_jobs,
    )
    return result.distribution[..., 0, 1]


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


def run(*, quick: bool) -> Facts:
    """Draw fresh pairs for three sizes, as written and with 50 starts; then add outliers."""
    ks, n_jobs = (range(20, 28), 1) if quick else (range(2, 51), -1)
    n_draws = {FEW: 60, MORE: 60, MANY: 15} if quick else dict.fromkeys(SIZES, 100)
    near = range(22, 27) if quick else range(20, 31)  # the rest takes long at n = 1,000
    facts: Facts = {}
    for n in SIZES:
        published_ks = near if quick or n == MANY else ks
        published = curve(KEY_PUBLISHED, n, published_ks, 50, 12 if quick else 100, n_jobs)
        facts |= {f"written/{n}/ks": list(ks), f"written/{n}": curve(KEY_WRITTEN, n, ks, 10, n_draws[n], n_jobs)}
        facts |= {f"published/{n}/ks": list(published_ks), f"published/{n}": published}
        chances = component_chances(n)
        facts |= {f"points/{n}": points(n, make_rng(KEY_FIGURE, n)), f"chances/{n}": [chances.more, chances.all]}
    lost = outliers.losses(*((16, 20) if quick else (40, 100)), n_jobs)
    return facts | {"outliers/both": lost.both, "outliers/twice": lost.twice}
