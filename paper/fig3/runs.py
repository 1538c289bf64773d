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
from paper.store import Facts

MEANS = {"A": (-2.0, -2.0), "B": (0.0, 2.0), "C": (2.0, -2.0), "D": (-1.3, 0.65)}
COMPONENTS = {"train": "ABC", "test": "ABD"}
N_POINTS = 100
EDGE = 3.5


@dataclass(frozen=True)
class Mixtures:
    """F1 and F2 of equation (7), how they are clustered, and whose means the three points are."""

    name: str
    variance: float
    train_b: tuple[float, float]
    d: tuple[float, float]
    n_starts: int
    n_resamples: int
    at: str  # the study whose means are scored

    def draw(self, study: str, rng: np.random.Generator, n: int = N_POINTS) -> tuple[Any, Any]:
        """Draw points and their components."""
        components = rng.choice(list(COMPONENTS[study]), size=n)
        centres = np.array([self.mean(component, study) for component in components])
        return centres + rng.normal(scale=np.sqrt(self.variance), size=(n, 2)), components

    def mean(self, component: str, study: str = "train") -> tuple[float, float]:
        """Where a component is."""
        return {("B", "train"): self.train_b, ("D", "test"): self.d}.get((component, study), MEANS[component])

    def studies(self, i: int = 0) -> cr.Studies:
        """Draw the i-th pair of data sets; the first is that of the figures."""
        drawn = {name: self.draw(name, make_rng(34, i, s)) for s, name in enumerate(COMPONENTS)}
        return cr.Studies([cr.Study(X, name, features=["x", "y"], labels=c) for name, (X, c) in drawn.items()])

    @property
    def points(self) -> Any:
        """The three points: the means themselves."""
        means = [self.mean(component, self.at) for component in COMPONENTS[self.at]]
        return pd.DataFrame(means, index=[f"x_{component}" for component in COMPONENTS[self.at]], columns=["x", "y"])

    @property
    def clusterer(self) -> KMeans:
        """Three clusters."""
        return KMeans(3, n_init=self.n_starts)

    @property
    def fresh(self) -> cr.resampling.Simulate:
        """Draw new data sets instead of bootstrap samples: for the score itself, not an estimate."""
        return cr.resampling.Simulate(lambda study, rng: self.draw(study.name, rng, len(study))[0])

    def local(self, at: Any, n_resamples: int, i: int = 0, resampling: Any = None) -> cr.results.LocalReplicability:
        """Run Algorithm 3 on the i-th pair."""
        train, test = self.studies(i).values()
        options = {"n_resamples": n_resamples, "resampling": resampling or cr.resampling.Bootstrap(), "rng": SEED + i}
        return cr.local_replicability(self.clusterer, train=train, test=test, at=at, **options)

    def on_fresh(self, n: int) -> Facts:
        """Score fresh pairs of data sets: at the points, (n, 3); all pairs of studies, on the same draws, (n, 2, 2)."""
        options = {"n_resamples": n, "resampling": self.fresh, "rng": SEED}
        whole = cr.replicability(self.clusterer, self.studies(), **options)
        at_points = self.local(self.points, n, resampling=self.fresh).distribution
        return {"fresh": at_points, "whole": whole.distribution}

    def on_pairs(self, n_pairs: int) -> Facts:
        """Run Algorithm 3 on independent pairs of data sets: means and sds over resamples at the points, (n_pairs, 3).

        joined: the share of the points of D in B's cluster under the training and the test function, (n_pairs, 2).
        """
        rows = []
        for i in range(n_pairs):
            result = self.local(self.points, self.n_resamples, i)
            joined = result.co_clustering(1)[:, self.studies(i)["test"].labels == "D"].mean(axis=1)
            rows.append((result.mean, result.sd, joined))
        return {key: np.array([row[i] for row in rows]) for i, key in enumerate(("means", "sds", "joined"))}

    def shown(self, n_grid: int, i: int) -> Facts:
        """A pair of data sets in the figures: its points, who shares the cluster of each, and the map of scores."""
        train, test = self.studies(i).values()
        result, plane = self.local(self.points, self.n_resamples, i), self.local(grid(n_grid), self.n_resamples, i)
        return {
            "train": train.X,
            "train components": train.labels,
            "test": test.X,
            "test components": test.labels,
            "points": np.asarray(self.points),
            "mean": result.mean,
            "sd": result.sd,
            "together": np.stack([result.co_clustering(i) for i in range(3)]),  # (point, function, test point)
            "map": plane.mean.reshape(n_grid, n_grid),
        }


WRITTEN = Mixtures("written", 0.04, MEANS["B"], MEANS["D"], 10, 100, "train")
PUBLISHED = Mixtures("published", 0.2, (1.0, 2.0), (-1.25, 0.75), 50, 50, "test")


def grid(n: int) -> np.ndarray:
    """Points over the plane in n rows and columns, (n², 2)."""
    side = np.linspace(-EDGE, EDGE, n)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


def by_region(mixtures: Mixtures, n_grid: int, n: int) -> np.ndarray:
    """Score the plane on fresh pairs, averaged where A, B and C is the nearest mean of the training mixture, (n, 3)."""
    at = grid(n_grid)
    means = [mixtures.mean(component, "train") for component in COMPONENTS["train"]]
    nearest = cdist(at, means).argmin(axis=1)
    scores = mixtures.local(at, n, resampling=mixtures.fresh).distribution
    return np.stack([scores[:, nearest == region].mean(axis=1) for region in range(3)], axis=1)


def run(*, quick: bool) -> Facts:
    """Score three points and the plane, as written and as published."""
    n_fresh, n_pairs, n_regions = (150, 12, 40) if quick else (1000, 50, 100)
    facts: Facts = {}
    for mixtures, n_grid in ((WRITTEN, 60 if quick else 250), (PUBLISHED, 40 if quick else 80)):
        found = mixtures.on_fresh(n_fresh) | mixtures.on_pairs(n_pairs)
        away = np.abs(found["means"] - found["means"].mean(axis=0)).sum(axis=1)
        found |= mixtures.shown(n_grid, int(away.argmin()))  # the pair nearest to the average
        found["regions"] = by_region(mixtures, min(n_grid, 80), n_regions)
        facts |= {f"{mixtures.name}/{key}": values for key, values in found.items()}
    return facts
