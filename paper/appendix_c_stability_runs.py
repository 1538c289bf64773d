"""The runs behind appendix C.1, stability as written and as published; and the figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.resampling import Draw, Perturbation
from paper.appendix_c_common import SPURIOUS_MARK, draw_clusters, draw_stems, is_spurious
from paper.common import make_seed, save

DRAWN = (*range(3, 10), 10, 12, 14, 15, 16, 17, 18)
SCALES = (0.1, 0.2, 0.3, 0.5, 0.7071, 1.0)  # standard deviations of noise, in those of the data
CURVE_K = 5
N_BEST = 1000  # k-means starts behind the clusters in question; 10 and 50 on resamples
NAMES = {"inclusion": "inclusion", "jaccard": "Jaccard", "r": "R index", "d": "D index, relative"}
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


def draw(
    study: cr.Study, results: dict[str, dict[int, cr.results.Stability]], out: Path, name: str, variant: str
) -> str:
    """Draw the clusters of every k above their indices, in the same colours; again where other clusters are judged."""
    ks = [k for k in results["r"] if k in DRAWN]
    highest = 1.12 * max((results["d"][k].per_cluster / results["d"][k].sizes).max() for k in ks)
    rows: list[tuple[str, bool]] = []  # index, whether its clusters are drawn or its values
    shown: list[Any] = []
    for index, by_k in results.items():
        labels = [by_k[k].labels for k in ks]
        if not rows or not all(map(np.array_equal, labels, shown)):
            rows, shown = [*rows, (index, True)], labels
        rows.append((index, False))
    size = (min(11, max(7.5, 1.6 * len(ks))), 1.5 * len(rows) + 0.6)
    figure, axes = plt.subplots(len(rows), len(ks), figsize=size, squeeze=False, layout="constrained")
    without = "" if "jaccard" in results else "; Jaccard: as written only"
    figure.suptitle(
        f"{name}, {variant}: k-means clusters and their indices, a stem for each cluster\n({SPURIOUS_MARK}{without})",
        fontsize=10,
    )
    for column, k in enumerate(ks):
        for ax, (index, clusters) in zip(axes[:, column], rows, strict=True):
            result = results[index][k]
            if clusters:
                colours = draw_clusters(ax, study.X, result.labels, f"k = {k}")
                again = "" if index == rows[0][0] else ", class\nlabel as a feature"
                ax.set_ylabel("" if column else f"clusters{again}")
                continue
            values = result.per_cluster / (result.sizes if index == "d" else 1)
            spurious = is_spurious(result.labels, np.asarray(study.labels))
            ylabel = "" if column else NAMES[index]
            draw_stems(ax, values, colours, spurious, ylabel, highest if index == "d" else 1.12)
            ax.tick_params(labelleft=not column)
    for ax in axes[-1]:
        ax.set_xlabel("cluster")
    return save(figure, out, f"appendix_c1_{name}_{variant.replace(' ', '_')}")


def draw_curves(curves: Mapping[tuple[str, str], cr.results.Sensitivity], out: Path) -> str:
    """Draw R and D over the scale of the noise."""
    figure, axes = plt.subplots(2, len(curves) // 2, figsize=(11, 6.5), sharex=True, sharey="row", layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    figure.suptitle(f"R and D over the noise, two coordinates as written, k-means with k = {CURVE_K}")
    for i, (ax, ((name, index), curve)) in enumerate(zip(axes.T.ravel(), curves.items(), strict=True)):
        curve.plot(ax)
        ax.get_legend().remove()
        text = SCALES[-2]
        ax.axvline(text, color="0.6", ls=":", label=f"noise of the text, {text:.2f}")
        ax.set(title=name if index == "r" else "")
        ax.set_xlabel("" if index == "r" else "sd of the noise, in sd of each coordinate")
        ax.set_ylabel("" if i > 1 else NAMES[index])
    axes[0, 0].set_ylim(0, 1.05)
    axes[1, 0].set_ylim(bottom=0)
    lines, words = axes[0, 0].get_legend_handles_labels()
    words = ["all clusters (thick)" if word == "all" else word for word in words]
    figure.legend(lines, words, loc="outside lower center", ncols=len(words), fontsize=8, frameon=False)
    return save(figure, out, "appendix_c1_noise")
