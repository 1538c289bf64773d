"""The runs behind Fig. 2: four studies in 64 dimensions, scored in all pairs; which mean is the nearest to a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import AffinityPropagation, AgglomerativeClustering, Birch, KMeans, MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score

import clustrep as cr
from clustrep.errors import DataError
from paper.common import SEED, make_rng

KS = (6, 11, 16, 21)
TRUE_K = 16
DIM = "DIM064"
SWAPPED = np.r_[32:64, :32]
AFFINITY = "affinity propagation"
# Same mixture, other mixture, at k = 16; agglomerative clustering is not in the printed figure.
PRINTED = {"k-means": (0.996, 0.513), "mini-batch": (0.996, 0.512), "Birch": (1.000, 0.541)}
PAIRS = [(s, t) for s in range(4) for t in range(4)]
GROUPS = {
    "alone": [(s, t) for s, t in PAIRS if s == t],
    "within": [(s, t) for s, t in PAIRS if s != t and (s < 2) == (t < 2)],
    "across": [(s, t) for s, t in PAIRS if (s < 2) != (t < 2)],
}


@dataclass(frozen=True)
class Sizes:
    """How much is run: resamples; permutations, divisions, and their resamples; permutations only counted."""

    n_resamples: int
    n_permutations: int
    n_dealings: int
    n_each: int
    n_counted: int
    dampings: tuple[float, ...]
    n_affinity: int
    n_table: int
    n_jobs: int


FULL = Sizes(100, 20, 10, 20, 1000, (0.5, 0.7, 0.9), 100, 20, -1)
QUICK = Sizes(4, 6, 2, 3, 60, (0.7,), 3, 2, 1)


def whole() -> tuple[cr.Study, str]:
    """Load DIM064, or simulate such data where the file is absent: 16 components of 64 points, in order."""
    try:
        return cr.datasets.load_dim(64), DIM
    except DataError:
        return cr.datasets.simulate_dim(64, TRUE_K, 1024, rng=SEED), "simulated data (no DIM064 here)"


def permutation(i: int) -> np.ndarray:
    """Permute the first 32 coordinates."""
    return np.r_[make_rng(2, i).permutation(32), 32:64]


def dealt(study: cr.Study, order: np.ndarray, i: int = 0) -> cr.Studies:
    """Deal the points into four studies, and put the coordinates of the last two into another order."""
    four = cr.Studies.split(study, n=4, rng=SEED + i)
    return cr.Studies([cr.Study(X[:, order] if name in "34" else X, name, label=False) for name, X in _tables(four)])


def _tables(studies: cr.Studies) -> list[tuple[str, Any]]:
    return [(name, study.X) for name, study in studies.items()]


def clusterers(n_init: int) -> dict[str, Any]:
    """Those that take a number of clusters; agglomerative clustering is not in the printed figure."""
    return {
        "k-means": KMeans(n_init=n_init),
        "mini-batch": MiniBatchKMeans(n_init=3),
        "Birch": Birch(),
        "agglomerative": AgglomerativeClustering(),
    }


def affinity(
    studies: cr.Studies, n_resamples: int, n_jobs: int, damping: float = 0.5, distinct: bool = False
) -> cr.results.Comparison:
    """Affinity propagation, which takes no number of clusters; by default as scikit-learn has it."""
    resampling = cr.Bootstrap(distinct=distinct)
    some = {AFFINITY: AffinityPropagation(damping=damping)}
    return compare(some, studies, n_resamples, n_jobs, ks=None, diagonal=False, resampling=resampling)


def compare(
    some: dict[str, Any], studies: cr.Studies, n_resamples: int, n_jobs: int, i: int = 0, **options: Any
) -> cr.results.Comparison:
    """Score all pairs of studies by ARI; i sets the seed apart."""
    options = {"n_clusters": options.pop("ks", (TRUE_K,)), "n_resamples": n_resamples, "n_jobs": n_jobs} | options
    options.setdefault("resampling", cr.Bootstrap())
    return cr.compare(some, studies, agreement="ari", rng=SEED + i, **options)


def scores(comparison: cr.results.Comparison, name: str, k: int | None, group: str) -> np.ndarray:
    """Mean over the pairs of a group (a study alone, within a mixture, across mixtures), (n_resamples,)."""
    distribution = comparison.replicability(name, k).distribution  # (n_resamples, 4, 4)
    return np.mean([distribution[:, s, t] for s, t in GROUPS[group]], axis=0)


def gap(comparison: cr.results.Comparison, name: str, k: int | None, group: str = "within") -> np.ndarray:
    """By how much scores of a group are above those across mixtures, on the same draws, (n_resamples,)."""
    return scores(comparison, name, k, group) - scores(comparison, name, k, "across")


def settings(*comparisons: cr.results.Comparison) -> list[tuple[cr.results.Comparison, str, int | None]]:
    """All clusterers with all their numbers of clusters."""
    return [
        (comparison, name, k)
        for comparison in comparisons
        for name, k in zip(comparison.clusterers, comparison.n_clusters, strict=True)
    ]


@dataclass(frozen=True)
class Nearest:
    """Points of one mixture, each put to the nearest mean of the other: whether it is that of their component."""

    kept: float  # share of the points whose nearest mean is that of their component
    agreement: float  # ARI of the partition by nearest means with the components, both ways
    moved: float  # how far the means move, on average


def nearest(study: cr.Study, order: np.ndarray) -> Nearest:
    """Count nearest means: points with coordinates in another order to the means, and points to means in that order."""
    X, component = np.asarray(study.X), np.repeat(np.arange(TRUE_K), len(study) // TRUE_K)
    means = X.reshape(TRUE_K, -1, X.shape[1]).mean(axis=1)
    nearest_mean = [cdist(X[:, order], means).argmin(axis=1), cdist(X, means[:, order]).argmin(axis=1)]
    agreements = [adjusted_rand_score(component, labels) for labels in nearest_mean]
    moved = np.linalg.norm(means[:, order] - means, axis=1).mean()
    return Nearest(float(np.mean(nearest_mean == component)), float(np.mean(agreements)), float(moved))


def converged(comparison: cr.results.Comparison, n: int) -> list[bool]:
    """Whether affinity propagation on the first draws of the first study stopped before its limit of iterations."""
    result = comparison.replicability(AFFINITY)
    fitted = [result.clustering_function("1", b).clusterer for b in range(n)]
    return [fit.n_iter_ < fit.max_iter for fit in fitted]


@dataclass(frozen=True)
class Runs:
    """What was computed, on which data."""

    source: str
    written: cr.results.Comparison  # the first permutation
    affinity: cr.results.Comparison  # the first permutation
    several: list[cr.results.Comparison]  # k-means, k = 16, a permutation and a division into studies each
    published: cr.results.Comparison  # the first division
    dealings: list[cr.results.Comparison]  # of the published variant, k = 16
    alone: cr.results.Comparison  # the same, k-means, with the diagonal
    counts: list[Nearest]  # of many permutations, those of `several` first
    swapped: Nearest

    @property
    def simulated(self) -> bool:
        """Whether the data are simulated, not DIM064."""
        return self.source != DIM

    @property
    def where(self) -> str:
        """Name the figure, and what it is drawn from if not the paper's data."""
        return "Fig. 2 on simulated data" if self.simulated else "Fig. 2"


def run(study: cr.Study, source: str, sizes: Sizes) -> Runs:
    """Score all pairs: as written, with more permutations, and with the halves of the coordinates swapped."""
    first, n, jobs = dealt(study, permutation(0)), sizes.n_resamples, sizes.n_jobs
    printed = {name: clusterer for name, clusterer in clusterers(50).items() if name in PRINTED}
    return Runs(
        source,
        written=compare(clusterers(10), first, n, jobs, ks=KS),
        affinity=affinity(first, sizes.n_affinity, jobs),
        several=[
            compare({"k-means": KMeans(n_init=10)}, dealt(study, permutation(i), i), sizes.n_each, jobs, i)
            for i in range(sizes.n_permutations)
        ],
        published=compare(clusterers(50), dealt(study, SWAPPED), n, jobs, ks=KS, diagonal=False),
        dealings=[
            compare(printed, dealt(study, SWAPPED, i), sizes.n_each, jobs, i, diagonal=False)
            for i in range(sizes.n_dealings)
        ],
        alone=compare({"k-means": KMeans(n_init=50)}, dealt(study, SWAPPED), sizes.n_each, jobs),
        counts=[nearest(study, permutation(i)) for i in range(sizes.n_counted)],
        swapped=nearest(study, SWAPPED),
    )
