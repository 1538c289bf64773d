"""The runs behind Fig. 3 and 4: two mixtures in the plane, their data sets, and local scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

import clustrep as cr
from paper.common import SEED, make_rng

MEANS = {"A": (-2.0, -2.0), "B": (0.0, 2.0), "C": (2.0, -2.0), "D": (-1.3, 0.65)}
COMPONENTS = {"train": "ABC", "test": "ABD"}
N_POINTS = 100
EDGE = 3.5


@dataclass(frozen=True)
class Mixtures:
    """F1 and F2 of equation (7), and how they are clustered."""

    name: str
    variance: float
    train_b: tuple[float, float]
    n_starts: int
    n_resamples: int

    def draw(self, study: str, rng: np.random.Generator, n: int = N_POINTS) -> tuple[Any, Any]:
        """Draw points and their components."""
        components = rng.choice(list(COMPONENTS[study]), size=n)
        centres = np.array([self.mean(component, study) for component in components])
        return centres + rng.normal(scale=np.sqrt(self.variance), size=(n, 2)), components

    def mean(self, component: str, study: str = "train") -> tuple[float, float]:
        """Where a component is."""
        return self.train_b if (component, study) == ("B", "train") else MEANS[component]

    def studies(self, i: int = 0) -> cr.Studies:
        """Draw the i-th pair of data sets; the first is that of the figures."""
        drawn = {name: self.draw(name, make_rng(34, i, s)) for s, name in enumerate(COMPONENTS)}
        return cr.Studies([cr.Study(X, name, features=["x", "y"], labels=c) for name, (X, c) in drawn.items()])

    @property
    def setting(self) -> str:
        """Write what the variants differ in."""
        return f"variance {self.variance:g}, training B at ({self.train_b[0]:g}, {self.train_b[1]:g})"

    @property
    def points(self) -> Any:
        """The points x_A, x_B, x_C: the means of the training components themselves."""
        means = [self.mean(component) for component in COMPONENTS["train"]]
        return pd.DataFrame(means, index=["x_A", "x_B", "x_C"], columns=["x", "y"])

    @property
    def clusterer(self) -> KMeans:
        """Three clusters."""
        return KMeans(3, n_init=self.n_starts)

    @property
    def fresh(self) -> cr.Simulate:
        """Draw new data sets instead of bootstrap samples: for the score itself, not an estimate."""
        return cr.Simulate(lambda study, rng: self.draw(study.name, rng, len(study))[0])

    def local(self, at: Any, n_resamples: int, i: int = 0, resampling: Any = None) -> cr.results.LocalReplicability:
        """Run Algorithm 3 on the i-th pair."""
        train, test = self.studies(i).values()
        options = {"n_resamples": n_resamples, "resampling": resampling or cr.Bootstrap(), "rng": SEED + i}
        return cr.local_replicability(self.clusterer, train=train, test=test, at=at, **options)

    def on_fresh(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Score fresh pairs of data sets: at A, B and C, (n, 3); and as a whole, on the same draws, (n,)."""
        options = {"n_resamples": n, "resampling": self.fresh, "diagonal": False, "rng": SEED}
        whole = cr.replicability(self.clusterer, self.studies(), **options)
        return self.local(self.points, n, resampling=self.fresh).distribution, whole.distribution[:, 0, 1]


WRITTEN = Mixtures("written", 0.04, MEANS["B"], 10, 100)
PUBLISHED = Mixtures("published", 0.2, (1.0, 2.0), 50, 50)


@dataclass(frozen=True)
class Pairs:
    """Algorithm 3 on independent pairs of data sets, at A, B and C."""

    means: np.ndarray  # (n_pairs, 3), over resamples
    sds: np.ndarray  # (n_pairs, 3), over resamples
    joined: np.ndarray  # (n_pairs, 2): share of points of D in B's cluster under the training and the test function

    @classmethod
    def of(cls, mixtures: Mixtures, n_pairs: int) -> Pairs:
        """Run it with as many resamples as the variant has."""
        means, sds, joined = [], [], []
        for i in range(n_pairs):
            result = mixtures.local(mixtures.points, mixtures.n_resamples, i)
            means.append(result.mean)
            sds.append(result.sd)
            joined.append(result.co_clustering(1)[:, mixtures.studies(i)["test"].labels == "D"].mean(axis=1))
        return cls(*map(np.array, (means, sds, joined)))

    def apart(self, i: int, j: int) -> np.ndarray:
        """Whether the intervals of mean ± one standard deviation do not overlap, (n_pairs,)."""
        return np.abs(self.means[:, i] - self.means[:, j]) > self.sds[:, i] + self.sds[:, j]


def grid(n: int) -> np.ndarray:
    """Points over the plane in n rows and columns, (n², 2)."""
    side = np.linspace(-EDGE, EDGE, n)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


def by_region(mixtures: Mixtures, n_grid: int, n: int) -> np.ndarray:
    """Score the plane on fresh pairs, averaged where A, B and C is the nearest mean of the training mixture, (n, 3)."""
    at = grid(n_grid)
    nearest = cdist(at, mixtures.points).argmin(axis=1)
    scores = mixtures.local(at, n, resampling=mixtures.fresh).distribution
    return np.stack([scores[:, nearest == region].mean(axis=1) for region in range(3)], axis=1)
