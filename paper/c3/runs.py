"""The runs behind appendix C.3: mixtures and their tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

import clustrep as cr
from paper.common import make_rng, make_seed
from paper.store import Facts

SEVERAL = (2, 3, 5)  # components
VARIANCE = 0.2  # of each component, means standard normal: the text names neither
CLEAR = 4.0  # standard deviations between the two closest means
DISTANCES = (4.0, 2.83, 2.0, 1.41, 1.0, 0.63)  # of the means, in standard deviations; all but the first as published
SQUARED_DISTANCES = (2.0, 1.0, 0.5, 0.25, 0.1)  # as published, with variance 0.25
AUTHORS_SEED = 0  # their data sets of one component, and of two, can be drawn again
ONE, FIVE, RANDOM, APART, CLOSER = range(5)  # what data sets are for: a key of their streams


@dataclass(frozen=True)
class Tested:
    """Several data sets of one kind: the first, and the tests of all."""

    first: Any
    tests: list[cr.results.ClusterTest]

    @property
    def pvalues(self) -> Any:
        """The p-values of all data sets."""
        return np.array([test.pvalue for test in self.tests])


@dataclass(frozen=True)
class Setting:
    """How large an experiment is."""

    n_one: int
    n_five: int
    n_several: int
    n_distance: int
    n_null: int
    n_jobs: int


FULL, QUICK = Setting(100, 100, 20, 40, 200, -1), Setting(16, 10, 6, 9, 49, 1)


def as_written(setting: Setting) -> dict[Any, Tested]:
    """Test one component; the same in five dimensions; several, anywhere and apart; two that come closer."""

    def tested(
        n_sets: int, purpose: int, k: int, means: Callable[[int], Any], variance: float, n: int = 1000
    ) -> Tested:
        samples = [mixture(n, means(i), variance, make_rng(35, purpose, k, i)) for i in range(n_sets)]
        seeds = [make_seed(36, purpose, k, i) for i in range(n_sets)]
        options = {"null": "sample", "n_resamples": setting.n_null, "n_jobs": setting.n_jobs}
        return Tested(
            samples[0], [cr.stability.cluster_test(X, rng=s, **options) for X, s in zip(samples, seeds, strict=True)]
        )

    return {
        ONE: tested(setting.n_one, ONE, 1, lambda i: np.zeros((1, 2)), VARIANCE),
        FIVE: tested(setting.n_five, FIVE, 1, lambda i: np.zeros((1, 5)), VARIANCE, n=500),
        **{(RANDOM, k): tested(setting.n_several, RANDOM, k, lambda i, k=k: centres(k, i), VARIANCE) for k in SEVERAL},
        **{(APART, k): tested(setting.n_several, APART, k, lambda i, k=k: clear(k, i), VARIANCE) for k in SEVERAL},
        **{(CLOSER, d): tested(setting.n_distance, CLOSER, 2, lambda i, d=d: two(d), 1.0) for d in DISTANCES},
    }


def mixture(n: int, means: Any, variance: float, rng: Any) -> Any:
    """Draw from a mixture with equal weights, random numbers in the order of the authors' code."""
    k, d = means.shape
    parts, left = [], n
    for i, mean in enumerate(means):
        size = left if i == k - 1 else min(left, rng.binomial(n, 1 / k))
        parts.append(rng.multivariate_normal(mean, variance * np.eye(d), size=size))
        left -= size
    return np.concatenate(parts)


def centres(k: int, i: int, d: int = 2) -> Any:
    """Draw the means of data set i."""
    return make_rng(37, RANDOM, k, i).standard_normal((k, d))


def clear(k: int, i: int) -> Any:
    """Draw the means of data set i again and again, until no two are closer than CLEAR."""
    rng = make_rng(37, APART, k, i)
    while True:
        drawn = rng.standard_normal((1000, k, 2))
        distances = np.linalg.norm(drawn[:, :, None] - drawn[:, None], axis=3)[:, ~np.eye(k, dtype=bool)]
        far_apart = drawn[distances.min(axis=1) > CLEAR * np.sqrt(VARIANCE)]
        if len(far_apart):
            return far_apart[0]


def two(distance: float) -> Any:
    """Return two means on the diagonal."""
    return np.array([[0.0, 0.0], [distance / np.sqrt(2)] * 2])


def as_published(quick: bool) -> Facts:
    """Test one data set each, distances unsquared: one component and several in five dimensions, two coming closer."""
    n, n_first, n_second, n_jobs = (1000, 49, 199, 1) if quick else (10_000, 200, 1000, -1)

    def pvalues(means: Sequence[Any], variance: float, n: int, n_null: int) -> list[float]:
        samples = [
            mixture(n, means_of_mixture, variance, check_random_state(AUTHORS_SEED)) for means_of_mixture in means
        ]
        options = {"null": "sample", "n_resamples": n_null, "squared": False, "n_jobs": n_jobs}
        return [cr.stability.cluster_test(X, rng=make_seed(38, i), **options).pvalue for i, X in enumerate(samples)]

    return {
        "components": pvalues([np.zeros((1, 5)), *(centres(k, 0, 5) for k in SEVERAL)], VARIANCE, n, n_first),
        "distances": pvalues([two(np.sqrt(d)) for d in SQUARED_DISTANCES], 0.25, 500, n_second),
        "n_null": [n_first, n_second],
    }


NAMES = {ONE: "one", FIVE: "five dimensions", RANDOM: "anywhere", APART: "apart", CLOSER: "closer"}


def run(*, quick: bool) -> Facts:
    """Test mixtures as written, on many data sets, and as published, on one each."""
    facts: Facts = {f"published/{key}": values for key, values in as_published(quick).items()}
    for key, tested in as_written(QUICK if quick else FULL).items():
        kind, value = key if isinstance(key, tuple) else (key, None)
        name = f"written/{NAMES[kind]}" + ("" if value is None else f"/{value:g}")
        first = tested.tests[0]
        facts |= {name: tested.pvalues, f"{name}/first": tested.first, f"{name}/null": first.null_distribution}
        facts[f"{name}/statistic"] = first.statistic
    return facts
