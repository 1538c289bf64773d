"""From the discussion: what outliers in one of the studies take from R̂, and what from the bootstrap mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.a1.runs import WRITTEN
from paper.common import make_rng

N, K = 100, 4
DISTANCES = (8.0, 12.0, 16.0, 24.0, 40.0)  # from the study's mean
MANY = 5
CASES = (*((1, distance) for distance in DISTANCES), (MANY, DISTANCES[-1]))  # number of outliers, distance
SIDES = ("train", "test")
KEY_DATA, KEY_ANGLES, KEY_RUN = range(51, 54)


@dataclass(frozen=True, eq=False)
class Losses:
    """What outliers take: clean score minus that with outliers, on the same data sets."""

    both: np.ndarray  # (side, case, data set, R̂ or bootstrap mean)
    twice: np.ndarray  # (distance, data set): of R̂, one outlier twice in the training study

    @property
    def saved(self) -> np.ndarray:
        """What the bootstrap mean loses less than R̂, (side, case, data set)."""
        return self.both[..., 0] - self.both[..., 1]


def with_outliers(
    clean: dict[str, np.ndarray], side: str, distance: float, angles: np.ndarray
) -> dict[str, np.ndarray]:
    """Put outliers around one of two studies."""
    far = clean[side].mean(axis=0) + distance * np.column_stack([np.cos(angles), np.sin(angles)])
    return clean | {side: np.vstack([clean[side], far])}


def losses(n_sets: int, n_resamples: int, n_jobs: int) -> Losses:
    """Score data sets without outliers and with, the same data sets in all cases."""
    both = np.empty((len(SIDES), len(CASES), n_sets, 2))
    twice = np.empty((len(DISTANCES), n_sets))
    for i in range(n_sets):

        def score(data: dict[str, np.ndarray], n: int = n_resamples, i: int = i) -> np.ndarray:
            rng = make_rng(KEY_RUN, i)
            options: dict[str, Any] = {"resampling": cr.resampling.Bootstrap(), "rng": rng, "n_jobs": n_jobs}
            run = cr.replicability(KMeans(K, n_init=10), data, n_resamples=n, diagonal=False, **options)
            return np.array([run.estimate[0, 1], run.mean[0, 1]])

        rng = make_rng(KEY_DATA, i)
        clean = {name: WRITTEN[0].points(name, N, rng) for name in SIDES}
        angles = make_rng(KEY_ANGLES, i).uniform(0, 2 * np.pi, size=MANY)
        before = score(clean)
        for s, side in enumerate(SIDES):
            for c, (count, distance) in enumerate(CASES):
                both[s, c, i] = before - score(with_outliers(clean, side, distance, angles[:count]))
        for c, distance in enumerate(DISTANCES):
            copies = with_outliers(clean, "train", distance, np.repeat(angles[:1], 2))
            twice[c, i] = (before - score(copies, 1))[0]
    return Losses(both, twice)
