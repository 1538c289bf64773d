"""Fig. 1: the halves of each set, and the scores over k."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.lines import Line2D

import clustrep as cr
from paper.common import save
from paper.fig1_benchmark_sets.runs import TRUTH, halves, scores


def draw(
    sets: dict[str, cr.Study],
    written: dict[str, cr.results.Comparison],
    density: dict[str, cr.results.Comparison],
    out: Path,
) -> str:
    """Halves, AMI and ARI, a row for each set."""
    figure, axes = plt.subplots(len(sets), 3, figsize=(11, 12), layout="constrained")
    colours = {"training half": "tab:red", "test half": "tab:blue"}
    for (data, *panels), (name, study) in zip(axes, sets.items(), strict=True):
        for half, colour in zip(halves(study).values(), colours.values(), strict=True):
            data.plot(*half.X.T, ".", color=colour, markersize=2)
        data.set(title=f"{name}: {len(study)} points, {TRUTH[name]} classes")
        data.set(xlabel="first coordinate", ylabel="second coordinate")
        mean_clusters = density[name].clusters_found.mean(axis=(1, 2))
        clusters = pd.Series(mean_clusters, index=density[name].clusterers)
        for ax, agreement in zip(panels, ("ami", "ari"), strict=True):
            written[name].plot(ax, agreement)
            means = sum(scores(density[name], agreement, swapped=way).mean(axis=1) for way in (False, True)) / 2
            means = means[clusters.reindex(means.index) <= 40].dropna()
            ax.plot(clusters[means.index], means, "x", color="purple")
            ax.axvline(TRUTH[name], color="0.4", lw=0.9, ls=":")
            ax.set(title=f"{name}: {agreement.upper()}", ylabel=f"{agreement.upper()}, mean of both directions")
            explained = list(ax.get_legend().legend_handles)
            ax.get_legend().remove()
    explained += [
        Line2D(
            [],
            [],
            color="purple",
            marker="x",
            ls="",
            label="DBSCAN: a cross for each eps, at the mean number of clusters found",
        ),
        Line2D([], [], color="0.4", lw=0.9, ls=":", label="number of classes"),
        *(Line2D([], [], color=colour, marker=".", ls="", label=half) for half, colour in colours.items()),
    ]
    figure.legend(handles=explained, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    figure.suptitle("Fig. 1 as written: halves of four benchmark sets, two coordinates")
    return save(figure, out, "fig1_benchmark_sets")
