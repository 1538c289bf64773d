"""Whether clusters of the same cells agree where there are none: resamples of cells against halves of their counts.

Counts without clusters, and of three types; Poisson and overdispersed. Each study is compared with itself: clusters of
two draws of its cells, or of the two halves of their counts.
Prints the table of docs/single-cells.md: `python -m calibration.thinning`.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline

import clustrep as cr

N_CELLS, N_GENES, N_MARKERS, MEAN, ALPHA, K = 300, 40, 10, 3.0, 0.5, 3
EMBEDDING = cr.TrainEmbedding(n_components=5, normalise="log1p")
WAYS: dict[str, cr.resampling.Subsample | cr.resampling.Thin] = {
    "two draws of 90 % of the cells": cr.resampling.Subsample(0.9),
    "halves, `Thin(0.5)`": cr.resampling.Thin(0.5),
    f"halves, `Thin(0.5, {ALPHA})`": cr.resampling.Thin(0.5, ALPHA),
    '`Thin(0.5, "estimate")`': cr.resampling.Thin(0.5, "estimate"),
}
DATA = {
    "Poisson, unimodal": (0.0, 1.0),
    "overdispersed, unimodal": (ALPHA, 1.0),
    "Poisson, three types": (0.0, 3.0),
    "overdispersed, three types": (ALPHA, 3.0),
}


def counts(alpha: float, fold: float, rng: np.random.Generator) -> np.ndarray:
    """Draw counts of cells of three types, whose markers differ `fold` times."""
    types = rng.integers(K, size=N_CELLS)
    means = np.full((N_CELLS, N_GENES), MEAN)
    for kind in range(K):
        means[np.ix_(types == kind, np.arange(kind * N_MARKERS, (kind + 1) * N_MARKERS))] *= fold
    if alpha:
        means = means * rng.gamma(1 / alpha, alpha, size=means.shape)
    return rng.poisson(means).astype(float)


def agreement(way: cr.resampling.Subsample | cr.resampling.Thin, tables: dict[str, np.ndarray], seed: int) -> float:
    """Return the mean agreement of each study with itself."""
    clusterer = make_pipeline(EMBEDDING, KMeans(K, n_init=3))
    result = cr.replicability(clusterer, tables, resampling=way, n_resamples=5, rng=seed, n_jobs=1)
    return float(np.diag(result.mean).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    asked = parser.parse_args()
    print("| counts | " + " | ".join(WAYS) + " |")
    print("|---" * (1 + len(WAYS)) + "|")
    for name, (alpha, fold) in DATA.items():
        cells = []
        for way in WAYS.values():
            scores = []
            for seed in range(asked.repeats):
                rng = np.random.default_rng([seed, int(10 * alpha), int(fold)])
                scores.append(agreement(way, {study: counts(alpha, fold, rng) for study in "ab"}, seed))
            error = np.std(scores, ddof=1) / np.sqrt(len(scores))
            cells.append(f"{np.mean(scores):.2f} ± {error:.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
