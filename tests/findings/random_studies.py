"""Random studies of many kinds, with the true cluster of every sample: small, so that hundreds can be analysed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.errors import DataWarning
from clustrep.findings.find import find_clusters
from clustrep.findings.result import Findings
from clustrep.fitting.parameters import configurations_of
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Rerun

# From a generator and a number of samples to these samples and their true clusters.
Sampler = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
NUMBERS = tuple(range(2, 7))


class Drawn(NamedTuple):
    """Studies with the true cluster of every sample."""

    studies: dict[str, pd.DataFrame]
    truth: dict[str, np.ndarray]

    @property
    def n_clusters(self) -> int:
        return len(np.unique(np.concatenate(list(self.truth.values()))))


# ---------------------------------------------------------------------------------------------------------------------
# kinds: from a generator to one sampler for each study


def centres_apart(rng, k, p, distance):
    """Centres of which the closest two are this far apart, and none is farther than twice that from all others."""
    while True:
        centres = rng.normal(size=(k, p))
        gaps = np.linalg.norm(centres[:, None] - centres, axis=-1) + np.diag(np.full(k, np.inf))
        if gaps.min(axis=1).max() < 2 * gaps.min():
            return centres * distance / gaps.min()


def mixture(centres, shares, shift=0.0, scale=1.0, spread=1.0, noise=None) -> Sampler:
    """Clusters around centres; noise draws what is added to them."""
    draw_noise = noise or (lambda rng, n, p: rng.normal(size=(n, p)))

    def draw(rng, n):
        labels = rng.permutation(np.repeat(np.arange(len(centres)), counts_of(shares, n)))
        X = centres[labels] + spread * draw_noise(rng, n, centres.shape[1])
        return scale * (X + shift), labels

    return draw


def counts_of(shares, n):
    exact = np.asarray(shares, dtype=float) / np.sum(shares) * n
    counts = np.floor(exact).astype(int)
    counts[np.argsort(counts - exact)[: n - counts.sum()]] += 1
    return counts


def in_one_piece(draw) -> Sampler:
    return lambda rng, n: (draw(rng, n), np.zeros(n, dtype=int))


def shifts_of(rng, n_studies, p, length):
    directions = rng.normal(size=(n_studies, p))
    return length * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def gaussian(k, p, n_studies, distance=6.0, shift=0.0):
    """Round clusters in equal shares, every study shifted by a number of sd."""

    def samplers(rng):
        centres = centres_apart(rng, k, p, distance)
        return [mixture(centres, np.ones(k), moved) for moved in shifts_of(rng, n_studies, p, shift)]

    return samplers


def unequal(rng):
    centres = centres_apart(rng, 3, 4, 6)
    return [mixture(centres, 0.15 + rng.dirichlet(np.ones(3))) for _ in range(3)]


def one_absent(rng):
    centres = centres_apart(rng, 3, 3, 6.5)
    return [mixture(centres, shares) for shares in ((1, 1, 1), (1, 1, 0), (1, 1, 1))]


def one_alone(rng):
    centres = centres_apart(rng, 3, 5, 7)
    return [mixture(centres, shares) for shares in ((1, 1, 0), (1, 1, 1), (1, 1, 0))]


def pure_cultures(rng):
    centres = centres_apart(rng, 2, 4, 8)
    return [mixture(centres, shares) for shares in ((1, 1), (1, 0), (0, 1))]


def scaled(rng):
    centres = centres_apart(rng, 3, 3, 6)
    return [mixture(centres, np.ones(3), scale=scale) for scale in (1.0, 1.5, 2.0)]


def specific_shifts(rng):
    centres = centres_apart(rng, 3, 10, 6.5)
    return [mixture(centres + shifts_of(rng, 3, 10, 1.5), np.ones(3)) for _ in range(3)]


def heavy_tails(rng):
    centres = centres_apart(rng, 2, 3, 9)
    return [mixture(centres, np.ones(2), noise=lambda rng, n, p: rng.standard_t(4, size=(n, p))) for _ in range(3)]


def elongated(rng):
    centres = np.array([[0.0, 0, 0], [0, 6.5, 0], [0, 0, 6.5]])
    return [
        mixture(centres, np.ones(3), noise=lambda rng, n, p: rng.normal(size=(n, p)) * [3.0, 1, 1]) for _ in range(2)
    ]


def scores(rng):
    """Whole numbers from 1 to 10, as of a questionnaire."""
    low, high = rng.uniform(1.5, 3.5, 6), rng.uniform(7, 9.5, 6)

    def draw(rng, n):
        X, labels = mixture(np.array([low, high]), np.ones(2))(rng, n)
        return np.clip(np.round(X), 1, 10), labels

    return [draw] * 3


def units(rng):
    """Features in units that differ by a factor of a thousand."""
    centres = centres_apart(rng, 3, 4, 6.5)
    factors = 10.0 ** np.array([0, 1, 2, 3])

    def draw(rng, n):
        X, labels = mixture(centres, np.ones(3))(rng, n)
        return X * factors, labels

    return [draw] * 2


def disc(rng, n):
    radius, angle = np.sqrt(rng.random(n)), 2 * np.pi * rng.random(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def unimodal(draw, n_studies=3):
    return lambda rng: [in_one_piece(draw)] * n_studies


def different_lacks(k, n_studies, p, shift=0.0):
    """Every study lacks another cluster."""

    def samplers(rng):
        centres = centres_apart(rng, k, p, 6.5)
        shares = 1.0 - np.eye(n_studies, k)
        return [mixture(centres, *each) for each in zip(shares, shifts_of(rng, n_studies, p, shift), strict=True)]

    return samplers


def limit_of_detection(rng):
    """Two clusters, and in every feature a value below which nothing is measured."""
    centres = np.array([[0.0, 0, 0], [8.0, 0, 0]])

    def draw(rng, n):
        X, labels = mixture(centres, np.ones(2))(rng, n)
        return np.maximum(X, -0.9), labels

    return [draw] * 3


def outliers(rng):
    """One sample in a hundred lies anywhere."""
    centres = centres_apart(rng, 3, 4, 6.5)

    def draw(rng, n):
        X, labels = mixture(centres, np.ones(3))(rng, n)
        far = rng.random(n) < 0.01
        return np.where(far[:, None], 6 * rng.normal(size=X.shape), X), labels

    return [draw] * 3


def own_covariances(rng):
    centres = centres_apart(rng, 3, 4, 7)
    widths = rng.uniform(0.6, 1.4, (3, 4))
    return [mixture(centres, np.ones(3), noise=lambda rng, n, p, w=w: w * rng.normal(size=(n, p))) for w in widths]


KINDS: Mapping[str, Callable[[np.random.Generator], list[Sampler]]] = {
    "2 clusters in the plane": gaussian(2, 2, 2),
    "3 clusters, 3 studies": gaussian(3, 3, 3),
    "4 clusters, shifts of 3 sd": gaussian(4, 4, 3, 6.5, shift=3),
    "3 clusters, shifts of 10 sd": gaussian(3, 6, 3, shift=10),
    "3 clusters in 60 features": gaussian(3, 60, 2, 8.0),
    "overlapping clusters": gaussian(3, 3, 3, 3.0),
    "one study": gaussian(3, 3, 1),
    "5 studies": gaussian(2, 3, 5),
    "unequal shares": unequal,
    "one cluster absent": one_absent,
    "one cluster alone": one_alone,
    "pure cultures": pure_cultures,
    "unlike scales": scaled,
    "cluster-specific shifts": specific_shifts,
    "heavy tails": heavy_tails,
    "elongated clusters": elongated,
    "whole numbers": scores,
    "unlike units": units,
    "every study lacks another of 3": different_lacks(3, 2, 3),
    "every study lacks another of 4, shifts of 2 sd": different_lacks(4, 3, 5, shift=2),
    "limit of detection": limit_of_detection,
    "outliers": outliers,
    "own covariances": own_covariances,
    "8 studies": gaussian(3, 4, 8, 6.5, shift=1),
    "70, 20 and 10 %": lambda rng: [mixture(centres_apart(rng, 3, 3, 7), (7, 2, 1))] * 3,
    "Gaussian": unimodal(lambda rng, n: rng.normal(size=(n, 4)) * [2.0, 1, 1, 1]),
    "uniform": unimodal(lambda rng, n: rng.random((n, 2)), 2),
    "lognormal": unimodal(lambda rng, n: np.exp(0.7 * rng.normal(size=(n, 3)))),
    "t with 3 degrees of freedom": unimodal(lambda rng, n: rng.standard_t(3, size=(n, 3))),
    "disc": unimodal(lambda rng, n: disc(rng, n)),
    "binary": unimodal(lambda rng, n: (rng.random((n, 8)) < 0.4) * 1.0),
}


@lru_cache(maxsize=256)
def drawn(kind: str, seed: int, times: int = 1) -> Drawn:
    """Draw studies of a kind: functions of kind and seed alone; `times` as many samples begin with the same ones."""
    number = list(KINDS).index(kind)
    rng = np.random.default_rng([30, number, seed])
    samplers = KINDS[kind](rng)
    studies, truth = {}, {}
    for s, sampler in enumerate(samplers):
        n = int(rng.integers(60, 121))
        parts = [sampler(np.random.default_rng([30, number, seed, s, block]), n) for block in range(times)]
        X = np.concatenate([part for part, _ in parts])
        name = f"study {s + 1}"
        studies[name] = pd.DataFrame(
            X, index=[f"{s + 1}.{i}" for i in range(len(X))], columns=[f"x{j:03d}" for j in range(X.shape[1])]
        )
        truth[name] = np.concatenate([labels for _, labels in parts])
    return Drawn(studies, truth)


def findings_of(studies: Mapping[str, pd.DataFrame], seed: int = 0, **options) -> Findings:
    """Find the clusters of studies, by k-means."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of unlike scales, classes and skewness
        given = cr.Studies(studies, label=False)
    configurations = configurations_of("k-means", KMeans(n_init=3), NUMBERS)
    return find_clusters(given, configurations, Source.of(Rerun(), seed), **options)


@lru_cache(maxsize=256)
def found(kind: str, seed: int, times: int = 1) -> Findings:
    """Find the clusters of drawn studies."""
    return findings_of(drawn(kind, seed, times).studies)
