"""How often a tree of clusters within clusters has any false split, and how often it finds the true ones.

Prints the tables of docs/sub-clusters.md: `python -m calibration.subclusters`, in about five minutes on one core, or
with the number of collections, `python -m calibration.subclusters 10`. Every collection has three studies. A split is
false where two clusters without parts are, by most of their samples, the same true cluster.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.analysis.analyse import by_clusterer
from clustrep.findings.cluster_tree import ClusterTree
from clustrep.findings.find import find_clusters
from clustrep.findings.subclusters import cluster_tree
from clustrep.fitting.parameters import configurations_of
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Rerun

N_COLLECTIONS, FIRST_SEED = 30, 7000
STUDIES, PIECES = ("a", "b", "c"), range(2, 6)
Shape = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def gaussian(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(size=shape)


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.gamma(2.0, size=shape) / np.sqrt(2.0)


def flat(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), size=shape)


def heavy(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.standard_t(4, size=shape) / np.sqrt(2.0)


@dataclass(frozen=True)
class Design:
    """Groups on a circle; each consists of clusters in a row, `inner` standard deviations apart."""

    name: str
    shape: Shape = gaussian
    n: int = 150
    p: int = 2
    parts: tuple[int, ...] = (1, 1, 1)  # clusters of every group
    outer: float = 14.0
    inner: float = 5.0
    weights: tuple[float, ...] = ()  # shares of the clusters; equal without

    def centres(self) -> np.ndarray:
        """Return the centres of all clusters, (k, p)."""
        k = len(self.parts)
        angle = 2 * np.pi * np.arange(k) / k
        groups = np.column_stack([np.cos(angle), np.sin(angle)]) * self.outer / (2 * np.sin(np.pi / k))
        rows = [
            group + np.array([0.0, self.inner * (i - (m - 1) / 2)])
            for group, m in zip(groups, self.parts, strict=True)
            for i in range(m)
        ]
        return np.pad(np.array(rows), ((0, 0), (0, self.p - 2)))

    def draw(self, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return three studies, and the true cluster of all their samples."""
        rng = np.random.default_rng(seed)
        centres = self.centres()
        shares = np.array(self.weights or (1.0,) * len(centres))
        truth = [rng.choice(len(centres), self.n, p=shares / shares.sum()) for _ in STUDIES]
        tables = [centres[kinds] + self.shape(rng, (self.n, self.p)) for kinds in truth]
        return dict(zip(STUDIES, tables, strict=True)), np.concatenate(truth)


WITHOUT = (
    Design("three round clusters"),
    Design("three, 20 features", p=20),
    Design("three, skewed", shape=skewed),
    Design("three, flat", shape=flat),
    Design("three, heavy tails", shape=heavy),
    Design("three, shares of 70, 20, 10 %", weights=(0.7, 0.2, 0.1)),
    Design("five round clusters", parts=(1,) * 5, n=250),
)
NESTED = (
    Design("three pairs, 4 apart", parts=(2, 2, 2), inner=4.0, n=300),
    Design("three pairs, 5 apart", parts=(2, 2, 2), inner=5.0, n=300),
    Design("three pairs, 6 apart", parts=(2, 2, 2), inner=6.0, n=300),
)


def tree_of(studies: dict[str, np.ndarray]) -> ClusterTree:
    """Grow the tree, as `analyse` does it, by k-means."""
    checked, source = cr.Studies(studies), Source.of(Rerun(), 1)
    configurations = configurations_of("k-means", KMeans(n_init=5), tuple(PIECES))
    findings = find_clusters(checked, configurations, source, n_jobs=1)
    return cluster_tree(checked, by_clusterer(configurations), findings, source, 1)


def judge(tree: ClusterTree, truth: np.ndarray) -> tuple[bool, int]:
    """Return whether there is any false split, and how many true clusters a leaf consists of."""
    leaves = [np.bincount(truth[tree.labels == tree.clusters.index(leaf)]) for leaf in tree.leaves]
    majority = [int(counts.argmax()) for counts in leaves if counts.sum()]
    pure = {int(counts.argmax()) for counts in leaves if counts.sum() and counts.max() >= 0.9 * counts.sum()}
    return len(set(majority)) < len(majority), len(pure)


def rate(count: int, n: int) -> str:
    between = binomtest(count, n).proportion_ci(0.95)
    return f"{count / n:.0%} ({between.low:.0%} to {between.high:.0%})"


def main(n_collections: int = N_COLLECTIONS) -> None:
    started = time.monotonic()
    print("| clusters | any false split | true clusters that are leaves | all of them |")
    print("|---|---|---|---|")
    n_any = {}
    for design in (*WITHOUT, *NESTED):
        n_false, n_leaves, n_all, k = 0, 0, 0, len(design.centres())
        for seed in range(FIRST_SEED, FIRST_SEED + n_collections):
            studies, truth = design.draw(seed)
            is_false, n_pure = judge(tree_of(studies), truth)
            n_false, n_leaves, n_all = n_false + is_false, n_leaves + n_pure, n_all + (n_pure == k and not is_false)
        n_any[design] = n_false
        shares = f"{n_leaves / (k * n_collections):.0%} | {n_all / n_collections:.0%}"
        print(f"| {design.name} | {rate(n_false, n_collections)} | {shares} |", flush=True)
    together = sum(n_any[design] for design in WITHOUT)
    print(f"| all without clusters within | {rate(together, n_collections * len(WITHOUT))} | | |")
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
