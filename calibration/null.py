"""How often data without clusters are rejected as clustered: the table in docs/null.md.

`make null-calibration` prints it, in half an hour. Every row is 400 collections of two studies without clusters.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr

N_COLLECTIONS = 400
N_SIMULATED = 39


def scaled(n: int, p: int, *strong: float) -> Callable[[np.random.Generator], np.ndarray]:
    """A Gaussian with a few strong directions."""
    scales = np.r_[strong, np.ones(p - len(strong))]
    return lambda rng: rng.normal(size=(n, p)) * scales


def decaying(n: int, p: int) -> Callable[[np.random.Generator], np.ndarray]:
    """A Gaussian whose directions become weaker and weaker, without a gap between strong directions and noise."""
    scales = 8 / np.arange(1, p + 1) ** 0.7
    return lambda rng: rng.normal(size=(n, p)) * scales


def correlated(n: int, p: int) -> Callable[[np.random.Generator], np.ndarray]:
    """A Gaussian whose features have the correlation 0.6, each in other units."""
    return lambda rng: (rng.normal(size=(n, p)) * 0.4**0.5 + rng.normal(size=(n, 1)) * 0.6**0.5) * np.arange(1, p + 1)


def skewed(n: int, p: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Features with long right tails that share two factors."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        factors = rng.normal(size=(n, 2)) @ np.repeat([[1.0, 0.0], [0.0, 0.7]], p // 2, axis=1)
        return np.exp(0.7 * (factors + rng.normal(size=(n, p))))

    return draw


def lognormal(n: int, p: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Independent features with long right tails."""
    return lambda rng: np.exp(rng.normal(size=(n, p)))


def plug_in(study: cr.Study, rng: np.random.Generator) -> np.ndarray:
    """A Gaussian with the sample mean and covariance of each study: the simplest null model."""
    X = study.X
    centred = (X - X.mean(axis=0)) / np.sqrt(len(X) - 1)
    return X.mean(axis=0) + rng.standard_normal((len(X), len(X))) @ centred


MANY = tuple(range(2, 9))
SETTINGS = [
    ("round, 60 × 2", scaled(60, 2), (2,), "gaussian", "none"),
    ("round, 30 × 2", scaled(30, 2), MANY, "gaussian", "none"),
    ("standard deviations 3, 1; 60 × 2", scaled(60, 2, 3), (2,), "gaussian", "none"),
    ("standard deviations 3, 1; 60 × 2", scaled(60, 2, 3), MANY, "gaussian", "none"),
    ("4, 2, 1, …; 60 × 10", scaled(60, 10, 4, 2), (3,), "gaussian", "none"),
    ("4, 2, 1, …; 60 × 10", scaled(60, 10, 4, 2), MANY, "gaussian", "none"),
    ("correlated, z-scores, 60 × 5", correlated(60, 5), (2,), "gaussian", "zscore"),
    ("correlated, z-scores, 60 × 5", correlated(60, 5), MANY, "gaussian", "zscore"),
    ("round, 40 × 200", scaled(40, 200), (2,), "gaussian", "none"),
    ("5, 3, 1, …; 60 × 300", scaled(60, 300, 5, 3), (2,), "gaussian", "none"),
    ("9, 4, 1, …; 60 × 300", scaled(60, 300, 9, 4), (2,), "gaussian", "none"),
    ("decaying, 60 × 300", decaying(60, 300), (2,), "gaussian", "none"),
    ("skewed, 60 × 20", skewed(60, 20), (2,), "copula", "none"),
    ("lognormal, 60 × 5", lognormal(60, 5), (2, 3, 4), "gaussian", "none"),
    ("lognormal, 60 × 5", lognormal(60, 5), (2, 3, 4), "copula", "none"),
    ("flat: a square, 60 × 2", lambda rng: rng.uniform(size=(60, 2)), (2,), "gaussian", "none"),
]


def rejections(
    draw: Callable[[np.random.Generator], np.ndarray], ks: tuple[int, ...], null: object, scale: str
) -> float:
    """Return how often the smallest adjusted p-value over k is at most 5 %."""
    rejected = 0
    for i in range(N_COLLECTIONS):
        rng = np.random.default_rng(i)
        studies = cr.Studies([draw(rng), draw(rng)], scale=scale)
        result = cr.compare(
            KMeans(n_init=3), studies, n_clusters=ks, agreement="ari", n_resamples=1, diagonal=False, rng=i
        )
        reference = cr.null_reference(result, N_SIMULATED, null=null)
        rejected += float(reference.overall_adjusted.min()) <= 0.05
    return rejected / N_COLLECTIONS


def main() -> int:
    """Print a row for every setting: rejections with the library's null model and with sample covariances."""
    cr.set_config(progress=False)
    warnings.simplefilter("ignore")
    print("| data without clusters | k | null | rejected | with sample covariances |")
    print("|---|---|---|---|---|")
    for name, draw, ks, null, scale in SETTINGS:
        shown = f"{ks[0]}" if len(ks) == 1 else f"{ks[0]}…{ks[-1]}"
        rates = (rejections(draw, ks, model, scale) for model in (null, plug_in))
        ours, plain = (f"{rate:.3f} ± {(rate * (1 - rate) / N_COLLECTIONS) ** 0.5:.3f}" for rate in rates)
        print(f"| {name} | {shown} | {null} | {ours} | {plain} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
