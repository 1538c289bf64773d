"""The runs behind Fig. 1: halves of four benchmark sets, as written and with the class left in as a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans, MiniBatchKMeans
from threadpoolctl import threadpool_limits

import clustrep as cr
from paper.common import AGREEMENTS, SEED, make_rng
from paper.store import Facts

TRUTH = {"d31": 31, "r15": 15, "aggregation": 7, "spiral": 3}
CLUSTERERS = {
    "k-means": KMeans(n_init=10),
    "mini-batch": MiniBatchKMeans(n_init=3),
    "Birch": Birch(),
    "agglomerative": AgglomerativeClustering(),
}
FLAT = {"k-means": KMeans(n_init=50), "mini-batch": MiniBatchKMeans(n_init=3), "Birch": Birch()}  # as published
DENSITY = "DBSCAN"
EPS = np.linspace(0.3, 1.5, 39)  # in standard deviations
TRIVIAL_AT_MOST, FAILED_AT_MOST = 0.05, 0.5  # of the resamples


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    ks: tuple[int, ...]
    n_resamples: int
    n_published: int  # resamples of the figure's split, as published
    n_splits: int  # of the published variant, each with a few resamples at the printed k
    n_each: int
    n_draws: int  # of the training half, for the likeness to the classes
    n_arms: int  # splits of spiral
    eps: tuple[float, ...]
    n_jobs: int


FULL = Sizes(tuple(range(2, 41)), 100, 20, 10, 10, 30, 50, tuple(EPS), -1)
QUICK = Sizes((2, 3, 7, 15, 16, 31), 6, 2, 2, 1, 4, 40, tuple(EPS[::4]), 1)
# The printed peaks, in the order of CLUSTERERS; other splits are scored there alone.
PEAKS = {"d31": (31, 31, 31, 3), "r15": (15, 15, 15, 3), "aggregation": (3, 3, 4, 2), "spiral": (4, 4, 11, 3)}


def run(*, quick: bool) -> Facts:
    """Score all sets; raises DataError where they are absent."""
    sizes = QUICK if quick else FULL
    sets = {name: cr.datasets.load_shape(name) for name in TRUTH}
    facts: Facts = {"ks": sizes.ks, "eps": sizes.eps, "n_points": [len(study) for study in sets.values()]}
    for name, study in sets.items():
        written, density = as_written(study, sizes), density_as_written(study, sizes)
        found = {
            f"written/{agreement}": scores(written, a).reshape(len(CLUSTERERS), len(sizes.ks), -1)
            for a, agreement in enumerate(AGREEMENTS)
        }
        found |= {f"density/{agreement}": scores(density, a) for a, agreement in enumerate(AGREEMENTS)}
        found["density/clusters"] = density.clusters_found  # (eps, resample, half)
        found |= nearness(study, found, sizes)
        found |= as_published(study, name, sizes)
        facts |= {f"{name}/{key}": values for key, values in found.items()}
        facts |= {f"{name}/half {half}": part.X for half, part in halves(study).items()}
    facts |= {f"arms/{key}": values for key, values in arms_in_halves(sets["spiral"], sizes.n_arms).items()}
    return facts


def halves(study: cr.Study, split: int = 0, **options: Any) -> cr.Studies:
    """A random split into a training and a test half; the first is the figure's."""
    return cr.Studies.split(study, rng=SEED + split, **options)


def in_deviations(study: cr.Study) -> cr.Study:
    """Divide every coordinate by its standard deviation."""
    return cr.Study(study.X / study.X.std(axis=0), study.name, labels=study.labels)


# ---------------------------------------------------------------------------------------------------------------------
# as written


def as_written(study: cr.Study, sizes: Sizes) -> cr.results.Comparison:
    """Two coordinates, ψ learned on both halves."""
    return _compare(CLUSTERERS, study, sizes, n_clusters=sizes.ks)


def density_as_written(study: cr.Study, sizes: Sizes) -> cr.results.Comparison:
    """DBSCAN on two coordinates in units of their standard deviation, on the same draws."""
    return _compare({f"{eps:.3f}": DBSCAN(eps=eps, min_samples=1) for eps in sizes.eps}, in_deviations(study), sizes)


def _compare(clusterers: Any, study: cr.Study, sizes: Sizes, **options: Any) -> cr.results.Comparison:
    options |= {"diagonal": False, "resampling": cr.resampling.Bootstrap(), "rng": SEED, "n_jobs": sizes.n_jobs}
    return cr.compare(clusterers, halves(study), n_resamples=sizes.n_resamples, **options)


def scores(comparison: cr.results.Comparison, a: int = 0) -> Any:
    """The score of the second half by the first in every resample, (setting, resample).

    Not a number where a half is one block in over 5 % of the resamples, or where most fail.
    """
    table = np.array(comparison.distribution[:, a, :, 0, 1])
    trivial = comparison.trivial[:, :, 0, 1].mean(axis=1)
    table[(trivial > TRIVIAL_AT_MOST) | (np.isnan(table).mean(axis=1) > FAILED_AT_MOST)] = np.nan
    return table


def mean_of(table: Any) -> Any:
    """Average over resamples, the last axis; not a number where all are."""
    known = np.isfinite(table).sum(axis=-1)
    return np.where(known > 0, np.nansum(table, axis=-1) / np.maximum(known, 1), np.nan)


# ---------------------------------------------------------------------------------------------------------------------
# likeness to the classes


@threadpool_limits.wrap(limits=1)  # more are slower at these sizes
def nearness(study: cr.Study, found: Facts, sizes: Sizes) -> Facts:
    """ARI of the training half's partition with its classes: of every k; and of each algorithm's choice, in draws."""
    plain, scaled = (halves(in_units)["1"] for in_units in (study, in_deviations(study)))
    classes = np.asarray(plain.labels)

    def near(clusterer: str, value: float, rows: Any = slice(None)) -> float:
        X = (scaled if clusterer == DENSITY else plain).X[rows]
        return _ari(classes[rows], setting(clusterer, value).fit_predict(X))

    chosen = {
        clusterer: (mean_of(table).max(initial=-1, where=np.isfinite(mean_of(table))), sizes.ks[_highest(table)])
        for clusterer, table in zip(CLUSTERERS, found["written/ari"], strict=True)
    }
    if np.isfinite(found["density/ari"]).any():
        at = _highest(found["density/ari"])
        chosen[DENSITY] = (mean_of(found["density/ari"])[at], sizes.eps[at])
    drawn = [make_rng(1, 3, b).integers(len(classes), size=len(classes)) for b in range(sizes.n_draws)]
    return {
        "near": [[near(clusterer, k) for k in sizes.ks] for clusterer in CLUSTERERS],  # (algorithm, k)
        "choice/names": list(chosen),
        "choice/scores": [score for score, _ in chosen.values()],
        "choice/settings": [value for _, value in chosen.values()],
        "choice/near": [[near(name, value, rows) for rows in drawn] for name, (_, value) in chosen.items()],
    }


def setting(clusterer: str, value: float) -> Any:
    """A clusterer with its k, or DBSCAN with its eps; its random starts fixed."""
    if clusterer == DENSITY:
        return DBSCAN(eps=float(value), min_samples=1)
    with_k = clone(CLUSTERERS[clusterer]).set_params(n_clusters=int(value))
    return with_k.set_params(random_state=0) if "random_state" in with_k.get_params() else with_k


def _highest(table: Any) -> int:
    return int(np.nanargmax(mean_of(table)))


def _ari(classes: Any, labels: Any) -> float:
    return float(cr.agreement.adjusted_rand_index(classes, labels))


# ---------------------------------------------------------------------------------------------------------------------
# as published: the class left in as a feature


def with_class(study: cr.Study) -> cr.Study:
    """Leave the class in as a feature: the mistake behind the published curves."""
    return cr.Study(np.column_stack([study.X, np.asarray(study.labels, dtype=float)]), study.name, label=False)


def as_published(study: cr.Study, name: str, sizes: Sizes) -> Facts:
    """The figure's split over all k; other splits at the printed peaks; DBSCAN of every eps, once."""
    whole, flat_peaks = with_class(study), sorted(set(PEAKS[name][:3]))
    curves = published_scores(whole, 0, sizes.ks, sizes.n_published, sizes.n_jobs)
    splits = []
    for split in range(1, sizes.n_splits + 1):
        ks = (*flat_peaks, PEAKS[name][3])
        means = mean_of(published_scores(whole, split, ks, sizes.n_each, sizes.n_jobs)[0])  # (algorithm, k)
        splits.append([means[c, ks.index(k)] for c, k in enumerate(PEAKS[name])])
    left_in, left_out = (density_as_published(table, sizes) for table in (whole, study))
    return {
        "published/ari": curves[0],
        "published/ami": curves[1],  # (algorithm, k, resample)
        "published/splits": splits,  # (split, algorithm): means at the printed peaks
        "published/density": left_in["score"][0],  # (eps,)
        "published/three": left_in["three"],  # (split,): whether some eps has three clusters in both halves
        "published/three score": left_in["three score"],
        "published/three without class": left_out["three"],
    }


def published_scores(whole: cr.Study, split: int, ks: Sequence[int], n: int, n_jobs: int) -> Any:
    """Scores of the three flat algorithms and of trees, (agreement, algorithm, k, resample)."""
    two = halves(whole, split, label=False)
    options: Any = {"n_resamples": n, "diagonal": False, "resampling": cr.resampling.Bootstrap(), "rng": SEED + split}
    flat = cr.compare(FLAT, two, n_clusters=tuple(dict.fromkeys(ks)), n_jobs=n_jobs, **options)
    shape = (len(FLAT), -1, n)
    by_k = [scores(flat, a).reshape(shape) for a in range(2)]
    order = [list(dict.fromkeys(ks)).index(k) for k in ks]
    trees = tree_scores(two["1"].X, two["2"].X, ks, n, split)
    return np.stack([np.concatenate([table[:, order], tree[None]]) for table, tree in zip(by_k, trees, strict=True)])


@threadpool_limits.wrap(limits=1)
def tree_scores(train: Any, test: Any, ks: Sequence[int], n: int, split: int) -> Any:
    """Complete linkage with k clusters on the training half, always Ward's with two on the test half.

    (agreement, k, resample)
    """
    table = np.empty((2, len(ks), n))
    for b in range(n):
        rng = make_rng(1, 4, split, b)
        A, Z = (X[rng.integers(len(X), size=len(X))] for X in (train, test))
        nearest, two = KDTree(A).query(Z)[1], AgglomerativeClustering(2).fit_predict(Z)
        tree = linkage(A, "complete")
        for j, k in enumerate(ks):
            labels = fcluster(tree, k, "maxclust")[nearest]
            table[:, j, b] = (
                cr.agreement.adjusted_rand_index(labels, two),
                cr.agreement.adjusted_mutual_information(labels, two),
            )
    return table


def density_as_published(whole: cr.Study, sizes: Sizes) -> Facts:
    """DBSCAN on halves standardised separately, each clustered once, over splits."""
    rows = []
    for split in range(sizes.n_splits):
        once = cr.compare(
            {f"{eps:.3f}": DBSCAN(eps=eps, min_samples=1) for eps in sizes.eps},
            halves(whole, split, label=False, scale="study"),
            n_resamples=1,
            resampling=cr.resampling.Rerun(),
            agreement="ari",
            diagonal=False,
            rng=SEED + split,
        )
        three, score = (once.clusters_found[:, 0] == 3).all(axis=1), once.estimate[:, 0, 0, 1]
        rows.append((score, three.any(), score[three].mean() if three.any() else np.nan))
    return {key: np.array([row[i] for row in rows]) for i, key in enumerate(("score", "three", "three score"))}


# ---------------------------------------------------------------------------------------------------------------------
# spiral


def gaps(X: Any, classes: Any) -> tuple[float, float]:
    """The widest step within a class, and the narrowest between two: eps between them gives the classes."""
    within = max(linkage(X[classes == label], "single")[-1, 2] for label in np.unique(classes))
    between = min(cdist(X[classes == label], X[classes != label]).min() for label in np.unique(classes))
    return float(within), float(between)


@threadpool_limits.wrap(limits=1)  # more are slower at these sizes
def arms_in_halves(study: cr.Study, n_splits: int) -> Facts:
    """For every split: gaps in both halves, and the best ARI with the arms in the training half.

    DBSCAN with min_samples = 1 is single linkage cut at eps: its gaps tell for every eps, not for those of a grid.
    """
    X, classes, rows = in_deviations(study).X, np.asarray(study.labels), []
    for split in range(n_splits):
        parts = np.array_split(make_rng(1, 2, split).permutation(len(X)), 2)
        within, between = np.transpose([gaps(X[part], classes[part]) for part in parts])  # (2,) each
        train, tree = parts[0], linkage(X[parts[0]], "single")
        density = max(_ari(classes[train], fcluster(tree, eps, "distance")) for eps in EPS)
        others = [_ari(classes[train], setting(name, 3).fit_predict(study.X[train])) for name in CLUSTERERS]
        rows.append((within.mean(), between.mean(), within.max() < between.min(), density, max(others)))
    keys = ("within", "between", "found", "density", "others")
    return {key: np.array([row[i] for row in rows]) for i, key in enumerate(keys)} | {"whole": gaps(X, classes)}
