"""The runs behind Fig. 3 and 4: two mixtures in the plane, their data sets, and local scores; and the figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

import clustrep as cr
from paper.common import SEED, make_rng, save

MEANS = {"A": (-2.0, -2.0), "B": (0.0, 2.0), "C": (2.0, -2.0), "D": (-1.3, 0.65)}
MARKERS = {"A": "v", "B": "^", "C": "x", "D": "s"}
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
        centres = np.array([self.mean(one, study) for one in components])
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
        means = [self.mean(one) for one in COMPONENTS["train"]]
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
        return cr.local_replicability(self.clusterer, train=train, test=test, at=at, progress=False, **options)

    def on_fresh(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Score fresh pairs of data sets: at A, B and C, (n, 3); and as a whole, on the same draws, (n,)."""
        options = {"n_resamples": n, "resampling": self.fresh, "diagonal": False, "rng": SEED, "progress": False}
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
    def of(cls, one: Mixtures, n_pairs: int) -> Pairs:
        """Run it with as many resamples as the variant has."""
        means, sds, joined = [], [], []
        for i in range(n_pairs):
            result = one.local(one.points, one.n_resamples, i)
            means.append(result.mean)
            sds.append(result.sd)
            joined.append(result.co_clustering(1)[:, one.studies(i)["test"].labels == "D"].mean(axis=1))
        return cls(*map(np.array, (means, sds, joined)))

    def apart(self, i: int, j: int) -> np.ndarray:
        """Whether the intervals of mean ± one standard deviation do not overlap, (n_pairs,)."""
        return np.abs(self.means[:, i] - self.means[:, j]) > self.sds[:, i] + self.sds[:, j]


def grid(n: int) -> np.ndarray:
    """Points over the plane in n rows and columns, (n², 2)."""
    side = np.linspace(-EDGE, EDGE, n)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


def by_region(one: Mixtures, n_grid: int, n: int) -> np.ndarray:
    """Score the plane on fresh pairs, averaged where A, B and C is the nearest mean of the training mixture, (n, 3)."""
    at = grid(n_grid)
    nearest = cdist(at, one.points).argmin(axis=1)
    scores = one.local(at, n, resampling=one.fresh).distribution
    return np.stack([scores[:, nearest == region].mean(axis=1) for region in range(3)], axis=1)


def draw_points(one: Mixtures, result: cr.results.LocalReplicability, out: Path) -> tuple[str, ...]:
    """Draw Fig. 3: who shares the cluster of each point."""
    names = []
    for i, component in enumerate(COMPONENTS["train"]):
        axes = result.plot(kind="co-clustering", point=i)
        letter = component.lower()
        for ax, study in zip(axes, ("training", "test"), strict=True):
            ax.set_title(f"test points, function of the {study} study", fontsize=9)
        axes[0].figure.suptitle(
            f"Fig. 3 ({letter}) as {one.name}, {one.setting}: local ARI at $x_{component}$ {result.mean[i]:.2f} "
            f"(sd {result.sd[i]:.2f})\nCross: $x_{component}$, the mean of component {component} of the training study",
            fontsize=10,
        )
        names.append(save(axes[0].figure, out, f"fig3{letter}_{one.name}"))
    return tuple(names)


def draw_plane(one: Mixtures, result: cr.results.LocalReplicability, n_grid: int, out: Path) -> str:
    """Draw Fig. 4: both data sets and the map of scores."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharex=True, sharey=True)
    studies, side = one.studies(), np.linspace(-EDGE, EDGE, n_grid)
    scores = result.mean.reshape(n_grid, n_grid)
    drawn = axes[2].pcolormesh(side, side, scores, cmap="viridis", vmin=0, vmax=1)
    figure.colorbar(drawn, ax=axes[2], label="mean local ARI")
    figure.suptitle(f"Fig. 4 as {one.name}: k-means with k = 3; {one.setting}; {len(result.distribution)} resamples")
    axes[0].set_ylabel("second coordinate")
    for ax, name in zip(axes, ("train", "test", "test"), strict=True):
        for letter in COMPONENTS[name]:
            X = studies[name].X[studies[name].labels == letter]
            style = {"color": f"C{'ABCD'.index(letter)}"}
            if ax is axes[2]:
                style = {"color": "white", "edgecolor": "black"}
            ax.scatter(*X.T, marker=MARKERS[letter], s=20, lw=0.7, label=letter, **style)
        ax.set_title("training study" if name == "train" else "test study")
        ax.set_xlabel("first coordinate")
        ax.legend(title="component", frameon=False)
    axes[2].get_legend().remove()
    axes[2].set(title="local replicability (white: test points)", xlim=(-EDGE, EDGE), ylim=(-EDGE, EDGE))
    return save(figure, out, f"fig4_{one.name}")
