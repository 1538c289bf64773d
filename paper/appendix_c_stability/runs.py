"""The runs behind appendix C.1, stability as written and as published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.resampling import Draw, Perturbation
from paper.common import make_seed

SCALES = (0.1, 0.2, 0.3, 0.5, 0.7071, 1.0)  # standard deviations of noise, in those of the data
CURVE_K = 5
N_BEST = 1000  # k-means starts behind the clusters in question; 10 and 50 on resamples
Results = dict[str, dict[str, dict[int, cr.results.Stability]]]  # data set, index, k


@dataclass(frozen=True)
class PublishedNoise(Perturbation):
    """Gaussian noise whose variance is half of each column's standard deviation."""

    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Move every point."""
        scale = np.sqrt(0.5 * draw.originals.std(axis=0))
        return replace(draw, points=draw.points + scale * rng.standard_normal(draw.points.shape))


WRITTEN = {"inclusion": cr.Bootstrap(), "jaccard": cr.Bootstrap(distinct=True), "r": cr.Jitter(), "d": cr.Jitter()}
PUBLISHED = {"inclusion": cr.Rerun(), "r": PublishedNoise(), "d": PublishedNoise()}


def as_written(shapes: Mapping[str, cr.Study], ks: Any, n: int, n_jobs: int) -> Results:
    """Two coordinates, bootstrap samples or noise of half the variance, ten starts."""
    results: Results = {}
    for name, study in shapes.items():
        labels = {k: best_clusters(study, k) for k in ks[name]}
        results[name] = {
            index: {k: measure(study, labels[k], index, perturbation, n, 10, n_jobs) for k in labels}
            for index, perturbation in WRITTEN.items()
        }
    return results


def as_published(shapes: Mapping[str, cr.Study], ks: Any, n: int, n_jobs: int) -> Results:
    """Fifty starts: new starts alone for inclusion; less noise for R and D, the class a third column, r15 half of n."""
    results: Results = {}
    for name, study in shapes.items():
        tables = {"inclusion": study, "r": (third := with_class(study)), "d": third}
        labels = {id(table): {k: best_clusters(table, k) for k in ks[name]} for table in (study, third)}
        copies = {"inclusion": n, **dict.fromkeys(("r", "d"), n // 2 if name == "r15" else n)}
        results[name] = {
            index: {
                k: measure(tables[index], labels[id(tables[index])][k], index, perturbation, copies[index], 50, n_jobs)
                for k in ks[name]
            }
            for index, perturbation in PUBLISHED.items()
        }
    return results


def best_clusters(study: cr.Study, k: int) -> Any:
    """Return the clusters in question, the best of so many starts that another run has the same."""
    return cr.in_group_proportion(study, clusterer=KMeans(k, n_init=N_BEST), rng=make_seed(31, 0)).labels


def measure(
    X: Any, labels: Any, index: str, perturbation: Any, n: int, n_init: int, n_jobs: int
) -> cr.results.Stability:
    """Compute one index; resample b is the same for every k, and for R and D."""
    return cr.stability(
        KMeans(len(np.unique(labels)), n_init=n_init),
        X,
        labels=labels,
        index=index,
        perturbation=perturbation,
        n_resamples=n,
        rng=make_seed(31, n_init),
        n_jobs=n_jobs,
    )


def with_class(study: cr.Study) -> cr.Study:
    """Leave the class in as a feature."""
    return cr.Study(np.column_stack([study.X, np.asarray(study.labels, dtype=float)]), study.name, label=False)


def noise_curves(shapes: Mapping[str, cr.Study], n: int, n_jobs: int) -> dict[tuple[str, str], cr.results.Sensitivity]:
    """Compute R and relative D over the scale of the noise."""
    return {
        (name, index): cr.sensitivity(
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
