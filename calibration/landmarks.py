"""How near scores by landmarks come to the exact ones, for several ways to choose the landmarks.

`make landmark-calibration` prints it. Every row is a design and a clusterer; every column a choice of landmarks; every
number the root mean square, over pairs of studies and both directions, of the difference between the score by landmarks
and the exact observed score (ARI), with the mean difference in brackets: landmarks may be biased,
which two sets of them can't show. The last column has no landmarks: it compares with the exact scores of 99 % of the
samples, and so says how far any score is determined. The choices:

uniform: samples at random, without weights; the density is kept. What clusterers without weights get.
uniform, weighted: samples at random, each with the weight of its cell (the samples nearest to it).
k-means++: a coreset by D² sampling [1], each with the weight of its cell.
k-means++ means: the means of these cells.
cell means: the means of cells of Lloyd's algorithm in the leading principal axes. What clusterers with weights get.
Ward's first clusters: the means of the clusters that Ward's linkage itself makes first. What Ward's linkage gets.

[1] Ackermann, M. R. et al. (2012). StreamKM++: a clustering algorithm for data streams. ACM Journal of Experimental
Algorithmics 17, 2.4.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture

import clustrep as cr
from clustrep.accelerate import landmarks
from clustrep.accelerate.landmarks import (
    CHOICES,
    WARD,
    Landmarks,
    cell_means,
    means_of_cells,
    uniform,
    ward_cells,
)
from clustrep.fitting.neighbours import nearest_point

FIRST_SEED = 7000
LEFT_OUT = "1 % left out"


@dataclass(frozen=True)
class Design:
    """Five round Gaussians of standard deviation 1, or fewer and longer ones."""

    name: str
    p: int
    apart: float
    shares: tuple[float, ...] = (0.2,) * 5


DESIGNS = (
    Design("2 features, clear", 2, 8.0),
    Design("2 features, overlapping", 2, 4.0),
    Design("10 features, overlapping", 10, 5.0),
    Design("30 features, clear", 30, 8.0),
    Design("30 features, overlapping", 30, 5.0),
    Design("30 features, a cluster of 2 %", 30, 8.0, (0.3, 0.3, 0.2, 0.18, 0.02)),
)
CLUSTERERS = {
    "k-means": KMeans(5, n_init=10),
    "Ward": AgglomerativeClustering(5),
    "Gaussian mixture": GaussianMixture(5, covariance_type="diag", n_init=3),
    "HDBSCAN": HDBSCAN(min_cluster_size=15, copy=True),
}


@dataclass(frozen=True)
class Extent:
    """How large the studies are, how many landmarks they have, and how many pairs of studies there are."""

    n: int
    size: int
    n_collections: int


def draw(design: Design, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw one study; neighbouring centres are `apart`."""
    k = len(design.shares)
    if design.p >= k:
        centres = np.eye(k, design.p) * design.apart / np.sqrt(2)
    else:
        angle = 2 * np.pi * np.arange(k) / k
        centres = np.column_stack([np.cos(angle), np.sin(angle)]) * design.apart / (2 * np.sin(np.pi / k))
    return centres[rng.choice(k, n, p=design.shares)] + rng.normal(size=(n, design.p))


def weighted(X: np.ndarray, points: np.ndarray) -> Landmarks:
    """Give points the weights of their cells."""
    return Landmarks(points, nearest_point(points, "euclidean")(X), None)


def spread(X: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Choose samples with probabilities proportional to squared distances from those chosen before (k-means++)."""
    chosen = [int(rng.integers(len(X)))]
    squares = np.full(len(X), np.inf)
    while len(chosen) < size:
        squares = np.minimum(squares, ((X - X[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(rng.choice(len(X), p=squares / squares.sum())))
    return X[chosen]


ALTERNATIVES = {
    "uniform": uniform,
    "uniform, weighted": lambda X, size, rng: weighted(X, uniform(X, size, rng).X),
    "k-means++": lambda X, size, rng: weighted(X, spread(X, size, rng)),
    "k-means++ means": lambda X, size, rng: means_of_cells(X, weighted(X, spread(X, size, rng)).cells),
    "cell means": cell_means,
    WARD: ward_cells,
}


def estimate(
    clusterer: object, studies: cr.Studies, seed: int, size: int | None = None, choice: str | None = None
) -> np.ndarray:
    """Return the observed scores, in both directions."""
    with patch.object(landmarks, "choice_of", landmarks.choice_of if choice is None else lambda learner: choice):
        scores = cr.replicability(
            clusterer,
            studies,
            n_landmarks=size,
            resampling=cr.resampling.Subsample(0.2),
            n_resamples=1,
            rng=seed,
            diagonal=False,
        )
    return scores.estimate[[0, 1], [1, 0]]


def differences(design: Design, clusterer: object, extent: Extent) -> dict[str, np.ndarray]:
    """Return the differences to the exact scores, by choice."""
    found: dict[str, list[float]] = {name: [] for name in (*ALTERNATIVES, LEFT_OUT)}
    for seed in range(FIRST_SEED, FIRST_SEED + extent.n_collections):
        rng = np.random.default_rng(seed)
        studies = cr.Studies({name: draw(design, extent.n, rng) for name in "ab"})
        exact = estimate(clusterer, studies, seed)
        for name in ALTERNATIVES:
            found[name] += list(estimate(clusterer, studies, seed, extent.size, name) - exact)
        fewer = cr.Studies({name: study.X[rng.random(len(study)) > 0.01] for name, study in studies.items()})
        found[LEFT_OUT] += list(estimate(clusterer, fewer, seed) - exact)
    return {name: np.array(values) for name, values in found.items()}


def main() -> None:
    """Print the table, of all clusterers and designs or of those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clusterers", nargs="*", help=f"Some of {', '.join(CLUSTERERS)}.")
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--landmarks", type=int, default=400)
    parser.add_argument("--collections", type=int, default=4, help="Pairs of studies.")
    arguments = parser.parse_args()
    extent = Extent(arguments.samples, arguments.landmarks, arguments.collections)
    warnings.simplefilter("ignore")
    CHOICES.update(ALTERNATIVES)
    print(
        f"{extent.size:,} landmarks of {extent.n:,} samples, {2 * extent.n_collections} scores a row; root mean square "
        "(mean) of the difference to the exact ARI\n"
    )
    columns = [*ALTERNATIVES, LEFT_OUT]
    print(f"| data | clusterer | {' | '.join(columns)} |")
    print("|---" * (2 + len(columns)) + "|")
    for title, clusterer in CLUSTERERS.items():
        for design in DESIGNS if not arguments.clusterers or title in arguments.clusterers else ():
            found = differences(design, clusterer, extent)
            cells = [f"{np.sqrt((d**2).mean()):.3f} ({d.mean():+.3f})" for d in found.values()]
            print(f"| {design.name} | {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
