"""How often data without clusters are taken for clusters: the table in null.md.

Run as `make null-calibration`: a few minutes. Every row is 200 collections of two studies without clusters.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr

N_COLLECTIONS = 200
N_SIMULATED = 39


def scaled(n: int, p: int, *strong: float) -> Callable[[np.random.Generator], np.ndarray]:
    """A Gaussian with a few strong directions."""
    scales = np.r_[strong, np.ones(p - len(strong))]
    return lambda rng: rng.normal(size=(n, p)) * scales


def decaying(n: int, p: int) -> Callable[[np.random.Generator], np.ndarray]:
    """A Gaussian whose directions become weaker and weaker, without a border between strong ones and noise."""
    scales = 8 / np.arange(1, p + 1) ** 0.7
    return lambda rng: rng.normal(size=(n, p)) * scales


def skewed(n: int, p: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Features with long right tails that share two factors."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        factors = rng.normal(size=(n, 2)) @ np.repeat([[1.0, 0.0], [0.0, 0.7]], p // 2, axis=1)
        return np.exp(0.7 * (factors + rng.normal(size=(n, p))))

    return draw


def plug_in(study: cr.Study, rng: np.random.Generator) -> np.ndarray:
    """A Gaussian with the sample mean and covariance of each study: what one would try first."""
    X = study.X
    centred = (X - X.mean(axis=0)) / np.sqrt(len(X) - 1)
    return X.mean(axis=0) + rng.standard_normal((len(X), len(X))) @ centred


SETTINGS = [
    ("round, 60 × 2", scaled(60, 2), 2, "gaussian"),
    ("standard deviations 3, 1; 60 × 2", scaled(60, 2, 3), 2, "gaussian"),
    ("4, 2, 1, …; 60 × 10", scaled(60, 10, 4, 2), 3, "gaussian"),
    ("round, 40 × 200", scaled(40, 200), 2, "gaussian"),
    ("5, 3, 1, …; 60 × 300", scaled(60, 300, 5, 3), 2, "gaussian"),
    ("9, 4, 1, …; 60 × 300", scaled(60, 300, 9, 4), 2, "gaussian"),
    ("decaying, 60 × 300", decaying(60, 300), 2, "gaussian"),
    ("skewed, 60 × 20", skewed(60, 20), 2, "copula"),
]


def rejections(draw: Callable[[np.random.Generator], np.ndarray], k: int, null: object) -> float:
    """Return how often the overall p-value is at most 5 %."""
    rejected = 0
    for i in range(N_COLLECTIONS):
        rng = np.random.default_rng(i)
        studies = [draw(rng), draw(rng)]
        result = cr.replicability(KMeans(k, n_init=3), studies, n_resamples=1, diagonal=False, rng=i)
        rejected += float(cr.null_reference(result, N_SIMULATED, null=null, progress=False).overall_pvalue) <= 0.05
    return rejected / N_COLLECTIONS


def main() -> int:
    warnings.simplefilter("ignore")
    print("| data without clusters | k | null | rejected | with sample covariances |")
    print("|---|---|---|---|---|")
    for name, draw, k, null in SETTINGS:
        ours, plain = rejections(draw, k, null), rejections(draw, k, plug_in)
        print(f"| {name} | {k} | {null} | {ours:.3f} | {plain:.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
