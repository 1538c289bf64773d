"""Appendix C.1: clusters above their indices, and R and D over the noise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import clustrep as cr
from paper.appendix_c_common import SPURIOUS_MARK, draw_clusters, draw_stems, is_spurious
from paper.appendix_c_stability.runs import CURVE_K, SCALES
from paper.common import save

DRAWN = (*range(3, 10), 10, 12, 14, 15, 16, 17, 18)
NAMES = {"inclusion": "inclusion", "jaccard": "Jaccard", "r": "R index", "d": "D index, relative"}


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
