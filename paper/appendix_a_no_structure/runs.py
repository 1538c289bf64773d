"""Appendix A.2: studies from one Gaussian, and bootstrap scores of several pairs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.common import make_rng

Curves = dict[str, np.ndarray]  # by label, (data set, k, agreement, replicate)


def studies(n: int, scales: np.ndarray, rng: np.random.Generator) -> cr.Studies:
    """Draw two studies from one Gaussian."""
    return cr.Studies({name: rng.normal(size=(n, len(scales))) * scales for name in ("train", "test")})


def curves(key: int, n: int, d: int, ks: range, n_init: int, n_sets: int, n_resamples: int, n_jobs: int) -> np.ndarray:
    """Return bootstrap scores of several data sets, (data set, k, agreement, replicate)."""
    options: dict[str, Any] = {"n_clusters": ks, "n_resamples": n_resamples, "diagonal": False}
    options["resampling"] = cr.Bootstrap()
    distributions = []
    for i in range(n_sets):
        rng = make_rng(key, n, d, i)
        data = studies(n, np.ones(d), rng)
        distributions.append(
            cr.compare(KMeans(n_init=n_init), data, rng=rng, n_jobs=n_jobs, **options).distribution[..., 0, 1]
        )
    return np.array(distributions)
