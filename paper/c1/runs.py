"""The runs behind appendix C.1, stability as written and as published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.resampling.strategies import Draw, Perturbation
from paper.common import make_seed
from paper.spurious import load_shapes, with_class
from paper.store import Facts

SCALES = (0.1, 0.2, 0.3, 0.5, 0.7071, 1.0)  # standard deviations of noise, in those of the data
CURVE_K = 5
N_BEST = 1000  # k-means starts behind the clusters in question; 10 and 50 on resamples


@dataclass(frozen=True)
class PublishedNoise(Perturbation):
    """Gaussian noise whose variance is half of each column's standard deviation."""

    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Move every point."""
        scale = np.sqrt(0.5 * draw.originals.std(axis=0))
        return replace(draw, points=draw.points + scale * rng.standard_normal(draw.points.shape))


WRITTEN = {
    "inclusion": cr.resampling.Bootstrap(),
    "jaccard": cr.resampling.Bootstrap(distinct=True),
    "r": cr.resampling.Jitter(),
    "d": cr.resampling.Jitter(),
}
PUBLISHED = {"inclusion": cr.resampling.Rerun(), "r": PublishedNoise(), "d": PublishedNoise()}


FULL = {"aggregation": range(3, 10), "compound": range(3, 10), "r15": range(5, 20)}
QUICK = {"aggregation": (3, 4, 5, 7, 8), "compound": (3, 6, 8), "r15": (5, 7, 15, 17)}


def run(*, quick: bool) -> Facts:
    """Measure the stability of every cluster as written and as published, and over the noise."""
    n, ks, n_jobs = (30, QUICK, 1) if quick else (200, FULL, -1)
    shapes = load_shapes()
    facts: Facts = {}
    for name, study in shapes.items():
        facts |= {f"{name}/X": study.X, f"{name}/truth": study.labels, f"{name}/ks": list(ks[name])}
        # As published the class is a third column, k-means has fifty starts, and R and D on r15 half as many copies.
        for side, table, indices, n_init in (
            ("written", study, WRITTEN, 10),
            ("published", with_class(study), PUBLISHED, 50),
        ):
            for k in ks[name]:
                labels = best_clusters(table, k)
                facts[f"{side}/{name}/{k}/labels"] = labels
                for index, perturbation in indices.items():
                    fewer = side == "published" and name == "r15" and index != "inclusion"
                    result = measure(table, labels, index, perturbation, n // 2 if fewer else n, n_init, n_jobs)
                    facts[f"{side}/{name}/{k}/{index}"] = result.distribution.T  # (cluster, resample)
    for (name, index), curve in noise_curves(shapes, n, n_jobs).items():
        facts[f"noise/{name}/{index}"] = curve.overall_distribution.T  # (scale, resample)
    return facts


def best_clusters(study: cr.Study, k: int) -> Any:
    """Return the clusters in question, the best of so many starts that another run has the same."""
    return cr.stability.in_group_proportion(study, clusterer=KMeans(k, n_init=N_BEST), rng=make_seed(31, 0)).labels


def measure(
    X: Any, labels: Any, index: str, perturbation: Any, n: int, n_init: int, n_jobs: int
) -> cr.results.Stability:
    """Compute one index; resample b is the same for every k, and for R and D."""
    return cr.stability.stability(
        KMeans(len(np.unique(labels)), n_init=n_init),
        X,
        labels=labels,
        index=index,
        perturbation=perturbation,
        n_resamples=n,
        rng=make_seed(31, n_init),
        n_jobs=n_jobs,
    )


def noise_curves(shapes: Mapping[str, cr.Study], n: int, n_jobs: int) -> dict[tuple[str, str], cr.results.Sensitivity]:
    """Compute R and relative D over the scale of the noise."""
    return {
        (name, index): cr.stability.sensitivity(
            KMeans(CURVE_K, n_init=10),
            study,
            labels=best_clusters(study, CURVE_K),
            index=index,
            relative=True,
            scales=SCALES,
            n_resamples=n,
            rng=make_seed(31, 1),
            n_jobs=n_jobs,
        )
        for name, study in shapes.items()
        for index in ("r", "d")
    }
