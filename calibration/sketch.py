"""How near scores by landmarks come to the exact ones, for several ways to choose the landmarks.

`make sketch-calibration` prints it. Every row is a design and a clusterer; every column a choice of `SIZE` landmarks of
`N` samples; every number the root mean square, over `N_COLLECTIONS` pairs of studies and both directions, of the
difference between the score by landmarks and the exact score (ARI of the studies as they are), with the mean difference
in brackets: a sketch may be biased, which two sketches can't show. The choices:

uniform: samples at random, without weights; the density is kept. What clusterers without weights get.
uniform, weighted: samples at random, each with the weight of its cell (the samples nearest to it).
k-means++: a coreset by D² sampling [1], each with the weight of its cell.
k-means++ means: the means of these cells.
cell means: the means of cells of Lloyd's algorithm in the leading principal axes. What clusterers with weights get.

[1] Ackermann, M. R. et al. (2012). StreamKM++: a clustering algorithm for data streams. ACM Journal of Experimental
Algorithmics 17, 2.4.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture

import clustrep as cr
from clustrep.clustering.landmarks import CHOICES, Landmarks, Sketch, cell_means, means_of_cells, uniform
from clustrep.clustering.neighbours import nearest_point

N, SIZE, N_COLLECTIONS, FIRST_SEED = 4000, 400, 4, 7000


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


def draw(design: Design, rng: np.random.Generator) -> np.ndarray:
    """Draw one study; neighbouring centres are `apart`."""
    k = len(design.shares)
    if design.p >= k:
        centres = np.eye(k, design.p) * design.apart / np.sqrt(2)
    else:
        angle = 2 * np.pi * np.arange(k) / k
        centres = np.column_stack([np.cos(angle), np.sin(angle)]) * design.apart / (2 * np.sin(np.pi / k))
    return centres[rng.choice(k, N, p=design.shares)] + rng.normal(size=(N, design.p))


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
}


def differences(design: Design, clusterer: object) -> dict[str, np.ndarray]:
    """Return the differences to the exact scores, by choice."""
    found: dict[str, list[float]] = {name: [] for name in ALTERNATIVES}
    for seed in range(FIRST_SEED, FIRST_SEED + N_COLLECTIONS):
        rng = np.random.default_rng(seed)
        studies = cr.Studies({name: draw(design, rng) for name in "ab"})
        options = {"n_resamples": 1, "rng": seed, "diagonal": False}
        exact = cr.replicability(clusterer, studies, **options).estimate
        for name in ALTERNATIVES:
            by_landmarks = cr.replicability(clusterer, studies, sketch=Sketch(SIZE, 0, name), **options).estimate
            found[name] += [(by_landmarks - exact)[s, t] for s, t in ((0, 1), (1, 0))]
    return {name: np.array(values) for name, values in found.items()}


def main(names: list[str]) -> None:
    """Print the table, of all clusterers or of those named."""
    warnings.simplefilter("ignore")
    CHOICES.update(ALTERNATIVES)
    print(f"{SIZE} landmarks of {N:,} samples; root mean square (mean) of the difference to the exact ARI\n")
    print(f"| data | clusterer | {' | '.join(ALTERNATIVES)} |")
    print("|---" * (2 + len(ALTERNATIVES)) + "|")
    for title, clusterer in CLUSTERERS.items():
        for design in DESIGNS if not names or title in names else ():
            cells = [f"{np.sqrt((d**2).mean()):.3f} ({d.mean():+.3f})" for d in differences(design, clusterer).values()]
            print(f"| {design.name} | {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
