"""The runs behind Fig. 2: four studies in 64 dimensions, scored in all pairs; which mean is the nearest to a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import AffinityPropagation, Birch, KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import clustrep as cr
from clustrep.errors import DataError
from paper.common import SEED, make_rng
from paper.store import Facts

KS = (6, 11, 16, 21)
TRUE_K = 16
DIM = "DIM064"
SWAPPED = np.r_[32:64, :32]
AFFINITY = "affinity propagation"
PRINTED = ("k-means", "mini-batch", "Birch")
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


FULL = Sizes(100, 20, 10, 20, 1000, (0.5, 0.7, 0.9), 50, 20, -1)
QUICK = Sizes(4, 6, 2, 3, 60, (0.5,), 3, 2, 1)


def whole() -> tuple[cr.Study, str]:
    """Load DIM064, or simulate such data where the file is absent: 16 components of 64 points, in order."""
    try:
        return cr.datasets.load_dim(64), DIM
    except DataError:
        box, options = (32.0, 222.0), {"cluster_std": 2.0, "shuffle": False, "random_state": SEED}  # as in the DIM sets
        X, components = make_blobs(1024, 64, centers=TRUE_K, center_box=box, **options)
        return cr.Study(X, "dim064", labels=components + 1), "simulated data (no DIM064 here)"


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
    """Those of the figure that take a number of clusters."""
    return {"k-means": KMeans(n_init=n_init), "mini-batch": MiniBatchKMeans(n_init=3), "Birch": Birch()}


def affinity(
    studies: cr.Studies, n_resamples: int, n_jobs: int, damping: float = 0.5, distinct: bool = False
) -> cr.results.Comparison:
    """Affinity propagation, which takes no number of clusters; by default as scikit-learn has it."""
    resampling = cr.resampling.Bootstrap(distinct=distinct)
    some = {AFFINITY: AffinityPropagation(damping=damping)}
    return compare(some, studies, n_resamples, n_jobs, ks=None, resampling=resampling)


def compare(
    some: dict[str, Any], studies: cr.Studies, n_resamples: int, n_jobs: int, i: int = 0, **options: Any
) -> cr.results.Comparison:
    """Score all pairs of studies by ARI; i sets the seed apart."""
    options = {"n_clusters": options.pop("ks", (TRUE_K,)), "n_resamples": n_resamples, "n_jobs": n_jobs} | options
    options.setdefault("resampling", cr.resampling.Bootstrap())
    return cr.compare(some, studies, agreement="ari", rng=SEED + i, **options)


def matrices(comparison: cr.results.Comparison, name: str, k: int | None = None) -> Any:
    """The scores of all pairs of studies, (n_resamples, 4, 4)."""
    return comparison.replicability(name, k).distribution


def group(matrices_of: Any, name: str) -> Any:
    """Mean over the pairs of a group (a study alone, within a mixture, across mixtures), the last two axes left out."""
    return np.mean([matrices_of[..., s, t] for s, t in GROUPS[name]], axis=0)


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


def run(*, quick: bool) -> Facts:
    """Score all pairs: as written, with more permutations, and with the halves of the coordinates swapped."""
    sizes = QUICK if quick else FULL
    study, source = whole()
    n, jobs = sizes.n_resamples, sizes.n_jobs
    facts: Facts = {"source": source, "simulated": source != DIM, "dampings": sizes.dampings}
    for side, order, n_init in (("written", permutation(0), 10), ("published", SWAPPED, 50)):
        studies = dealt(study, order)
        some = compare(clusterers(n_init), studies, n, jobs, ks=KS)
        facts |= {f"{side}/{name}/{k}": matrices(some, name, k) for name in clusterers(1) for k in KS}
        alone = affinity(studies, sizes.n_affinity, jobs)
        facts |= {f"{side}/{AFFINITY}": matrices(alone, AFFINITY)}
        facts[f"{side}/{AFFINITY}/clusters"] = alone.clusters_found.mean(axis=-1).ravel()
    kmeans = {"k-means": KMeans(n_init=10)}
    facts["permutations"] = np.stack(
        [
            matrices(compare(kmeans, dealt(study, permutation(i), i), sizes.n_each, jobs, i), "k-means", TRUE_K)
            for i in range(sizes.n_permutations)
        ]
    )  # (permutation, resample, 4, 4)
    dealings = [
        compare(clusterers(50), dealt(study, SWAPPED, i), sizes.n_each, jobs, i, diagonal=False)
        for i in range(sizes.n_dealings)
    ]
    for name in PRINTED:
        facts[f"dealings/{name}"] = np.stack([matrices(dealing, name, TRUE_K).mean(axis=0) for dealing in dealings])
    facts |= damped(dealt(study, SWAPPED), sizes)
    counts = [nearest(study, permutation(i)) for i in range(sizes.n_counted)]
    swapped = nearest(study, SWAPPED)
    facts |= {f"counts/{key}": [getattr(count, key) for count in counts] for key in ("kept", "agreement", "moved")}
    return facts | {"swapped/kept": swapped.kept, "swapped/agreement": swapped.agreement}


def damped(studies: cr.Studies, sizes: Sizes) -> Facts:
    """Affinity propagation by its damping, points repeated as drawn or once, (damping, resample, 4, 4)."""
    facts: Facts = {}
    for words, distinct in (("repeated", False), ("once", True)):
        runs = [affinity(studies, sizes.n_table, sizes.n_jobs, damping, distinct) for damping in sizes.dampings]
        facts[f"damped/{words}"] = np.stack([matrices(result, AFFINITY) for result in runs])
        facts[f"damped/{words}/clusters"] = [result.clusters_found.mean() for result in runs]
    return facts
