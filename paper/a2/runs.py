"""Appendix A.2: studies from one Gaussian, and bootstrap scores of several pairs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.common import make_rng
from paper.store import Facts

N, DIMENSIONS = (200, 350, 500), (5, 10, 15)
KEY_WRITTEN, KEY_PUBLISHED, KEY_DIMENSIONS, KEY_LONG = range(31, 35)
LONG = np.array([3.0, 1.0])  # standard deviations
LONG_KS = range(2, 7)


def studies(n: int, scales: np.ndarray, rng: np.random.Generator) -> cr.Studies:
    """Draw two studies from one Gaussian."""
    return cr.Studies({name: rng.normal(size=(n, len(scales))) * scales for name in ("train", "test")})


def curves(key: int, n: int, d: int, ks: range, n_init: int, n_sets: int, n_resamples: int, n_jobs: int) -> np.ndarray:
    """Return bootstrap scores of several data sets, (data set, k, agreement, replicate)."""
    options: dict[str, Any] = {"n_clusters": ks, "n_resamples": n_resamples, "diagonal": False}
    options["resampling"] = cr.resampling.Bootstrap()
    distributions = []
    for i in range(n_sets):
        rng = make_rng(key, n, d, i)
        data = studies(n, np.ones(d), rng)
        distributions.append(
            cr.compare(KMeans(n_init=n_init), data, rng=rng, n_jobs=n_jobs, **options).distribution[..., 0, 1]
        )
    return np.array(distributions)


def run(*, quick: bool) -> Facts:
    """Vary the number of points and of dimensions, as written and as published; then one long Gaussian."""
    ks, n_jobs = (range(2, 16, 6), 1) if quick else (range(2, 16), -1)
    sizes, few = ((5, 20, n_jobs), (2, 20, n_jobs)) if quick else ((8, 100, n_jobs), (3, 100, n_jobs))
    facts: Facts = {"ks": list(ks)}
    for n in N:
        facts |= _averaged(f"written/n = {n}", curves(KEY_WRITTEN, n, 2, ks, 10, *sizes))
        facts |= _averaged(f"published/n = {n}", curves(KEY_PUBLISHED, n, 5, ks, 50, *few))
    for d in DIMENSIONS:
        facts |= _averaged(f"written/d = {d}", curves(KEY_DIMENSIONS, 200, d, ks, 10, *sizes))
    return facts | {
        f"long/{key}": values for key, values in long_gaussian(*((6, 19) if quick else (20, 199)), n_jobs).items()
    }


def _averaged(name: str, distribution: np.ndarray) -> Facts:
    """Means and standard deviations over resamples, (data set, k, agreement)."""
    return {name: distribution.mean(axis=-1), f"{name}/sd": distribution.std(axis=-1)}


def long_gaussian(n_sets: int, n_null: int, n_jobs: int) -> Facts:
    """Score a single Gaussian with variances 9 and 1 at k = 2, and compare with data without clusters."""
    rows = []
    for i in range(n_sets):
        rng = make_rng(KEY_LONG, i)
        options: dict[str, Any] = {"rng": rng, "n_jobs": n_jobs}
        result = cr.compare(
            KMeans(n_init=10),
            studies(200, LONG, rng),
            n_clusters=LONG_KS,
            agreement="ari",
            n_resamples=1,  # R̂ is all that is asked
            diagonal=False,
            **options,
        )
        reference = cr.null_reference(result, n=n_null, null="gaussian", **options)
        rows.append((result.estimate[0, 0, 0, 1], reference.mean[0, 0, 0, 1], reference.configuration_pvalue[0, 0]))
    return dict(zip(("scores", "null", "pvalues"), np.transpose(rows), strict=True))
