"""Appendix A.1: the two settings, and scores of fresh pairs of studies and of bootstrap replicates of some pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.common import make_rng
from paper.store import Facts

N = 500
AGREEMENTS = ("ARI", "AMI")
TAILS = (0.025, 0.975)
LEVELS = np.linspace(0, 1, 101)
FRESH, DATA, BOOTSTRAP = range(3)  # what a stream of random numbers is for


@dataclass(frozen=True)
class Setting:
    """Two mixtures of Gaussians with equal weights: what training and test studies are drawn from."""

    name: str
    key: int  # of its streams of random numbers
    train: tuple[tuple[float, float], ...]
    test: tuple[tuple[float, float], ...]
    variance: float = 1.0
    n_init: int = 10
    remark: str = ""

    @property
    def n_components(self) -> int:
        """The number of clusters that there are."""
        return len(self.train)

    def __call__(self, study: cr.Study, rng: np.random.Generator) -> np.ndarray:
        """Draw a study, as `Simulate` asks for it."""
        return self.points(study.name, len(study), rng)

    def points(self, name: str, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n points of the training or of the test study."""
        centres = np.array({"train": self.train, "test": self.test}[name])
        return centres[rng.integers(len(centres), size=n)] + np.sqrt(self.variance) * rng.normal(size=(n, 2))

    def studies(self, i: int) -> cr.Studies:
        """Draw the i-th pair of studies."""
        rng = make_rng(self.key, DATA, i)
        return cr.Studies({name: self.points(name, N, rng) for name in ("train", "test")})


FOUR, THREE = ((0, -7), (3.5, 3), (-2, 2), (2, -2)), ((0, -7), (3.5, -2), (2, -2))
SPREAD = ((0, -7), (3.5, -2), (-2, 2))  # the third component of the published files
WRITTEN = (
    Setting("setting 1, as written", 11, FOUR, ((-1, -7), (4.2, 3.3), (-2.5, 1.8), (2.2, -3))),
    Setting(
        "setting 2, as written",
        12,
        THREE,
        ((-1, -7), (4.2, -1.8), (-2.5, 1.8)),
        remark="The text has 1/4 times a sum over four components, but only three means: we take these, weights 1/3.",
    ),
)
PUBLISHED = (
    Setting("setting 1, as published", 21, FOUR, ((-1, -7), (4.2, 3.3), *FOUR[2:]), n_init=50),
    Setting("setting 2, as published", 22, SPREAD, ((-1, -7), (4.2, -1.8), (-2, 2)), variance=2.0, n_init=50),
)


@dataclass(frozen=True)
class Size:
    """How much to compute: pairs of studies, replicates of each, fresh pairs; and more pairs with a few replicates."""

    n_sets: int
    n_resamples: int
    n_fresh: int
    n_more: int = 0
    n_few: int = 20
    n_jobs: int = -1


@dataclass(frozen=True, eq=False)
class Calibration:
    """Scores from train to test, by ARI and AMI."""

    setting: Setting
    ks: tuple[int, ...]
    studies: cr.Studies  # the first pair
    fresh: np.ndarray  # (k, agreement, draw)
    bootstrap: np.ndarray  # (data set, k, agreement, replicate)
    few: np.ndarray  # of more data sets

    @cached_property
    def truth(self) -> np.ndarray:
        """R, the mean over fresh pairs, (k, agreement)."""
        return self.fresh.mean(axis=-1)

    @cached_property
    def means(self) -> np.ndarray:
        """Bootstrap means, (data set, k, agreement)."""
        return self.bootstrap.mean(axis=-1)

    @cached_property
    def more_means(self) -> np.ndarray:
        """Bootstrap means of all data sets, those with few replicates too."""
        return np.concatenate([self.means, self.few.mean(axis=-1)])

    @cached_property
    def bounds(self) -> np.ndarray:
        """95 % percentile intervals, (2, data set, k, agreement)."""
        return np.quantile(self.bootstrap, TAILS, axis=-1)

    @cached_property
    def covered(self) -> np.ndarray:
        """Whether the interval of a data set holds R, (data set, k, agreement)."""
        low, high = self.bounds
        return (low <= self.truth) & (self.truth <= high)

    @cached_property
    def gaps(self) -> np.ndarray:
        """Mean distance of a data set's quantiles to those of fresh pairs, (data set, k, agreement)."""
        ours, theirs = (np.quantile(x, LEVELS, axis=-1) for x in (self.bootstrap, self.fresh))
        return np.abs(ours - theirs[:, None]).mean(axis=0)

    @cached_property
    def rms(self) -> np.ndarray:
        """Root mean square distance of bootstrap means to R, (k, agreement)."""
        return np.sqrt(np.mean((self.means - self.truth) ** 2, axis=0))


def calibrate(setting: Setting, ks: tuple[int, ...], size: Size) -> Calibration:
    """Score fresh pairs of studies, and bootstrap replicates of several pairs."""
    options: dict[str, Any] = {"n_clusters": ks, "diagonal": False, "n_jobs": size.n_jobs}

    def scores(i: int, role: int, n_resamples: int, resampling: Any) -> np.ndarray:
        rng = make_rng(setting.key, role, i)
        clusterer = KMeans(n_init=setting.n_init)
        result = cr.compare(
            clusterer, setting.studies(i), resampling=resampling, n_resamples=n_resamples, rng=rng, **options
        )
        return result.distribution[..., 0, 1]

    def bootstrap(n_resamples: int, data_sets: range) -> np.ndarray:
        by_data_set = [scores(i, BOOTSTRAP, n_resamples, cr.resampling.Bootstrap()) for i in data_sets]
        return np.array(by_data_set).reshape(len(by_data_set), len(ks), 2, n_resamples)

    return Calibration(
        setting,
        ks,
        setting.studies(0),
        scores(0, FRESH, size.n_fresh, cr.resampling.Simulate(setting)),
        bootstrap(size.n_resamples, range(size.n_sets)),
        bootstrap(size.n_few, range(size.n_sets, size.n_sets + size.n_more)),
    )


def facts_of(run: Calibration) -> Facts:
    """What claims and figures need of a setting."""
    quantiles = {
        "bootstrap": np.quantile(run.bootstrap[0], LEVELS, axis=-1),
        "fresh": np.quantile(run.fresh, LEVELS, axis=-1),
    }  # (level, k, agreement) each, of the first data set and of fresh pairs
    return {
        "ks": run.ks,
        "truth": run.truth,
        "truth error": run.fresh.std(axis=-1, ddof=1) / np.sqrt(run.fresh.shape[-1]),
        "means": run.means,  # (data set, k, agreement)
        "covered": run.covered,
        "gaps": run.gaps,
        "more means": run.more_means,
        **{f"quantiles {key}": values for key, values in quantiles.items()},
        **{f"{name} points": study.X for name, study in run.studies.items()},
    }


def run(*, quick: bool) -> Facts:
    """Run both settings, as written and as published."""
    sizes = Size(20, 1000, 1000, n_more=180), Size(20, 100, 1000)
    if quick:
        sizes = Size(10, 40, 160, n_more=10, n_few=10, n_jobs=1), Size(6, 20, 60, n_jobs=1)
    facts: Facts = {}
    for i, settings in enumerate(zip(WRITTEN, PUBLISHED, strict=True)):
        for side, setting, size in zip(("written", "published"), settings, sizes, strict=True):
            ks = (2, setting.n_components, 10) if quick else tuple(range(2, 11))
            found = facts_of(calibrate(setting, ks, size))
            facts |= {f"{i + 1}/{side}/{key}": values for key, values in found.items()}
    return facts
