"""Fig. 2: the mean score of every pair of studies, for every algorithm and number of clusters."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

import clustrep as cr
from paper.common import save
from paper.fig2_runs import KS, TRUE_K, settings


def draw(name: str, out: Path, *comparisons: cr.Comparison) -> str:
    """Draw a matrix for each setting; what takes no number of clusters stands in the row of the true one."""
    columns = list(dict.fromkeys(algorithm for _, algorithm, _ in settings(*comparisons)))
    figure, axes = plt.subplots(len(KS), len(columns), figsize=(1.7 * len(columns) + 1, 7.2), squeeze=False)
    figure.subplots_adjust(left=0.09, right=0.86, top=0.95, bottom=0.06, hspace=0.14, wspace=0.12)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[], frame_on=False, box_aspect=1)
    for one, algorithm, k in settings(*comparisons):
        ax = axes[KS.index(k or TRUE_K), columns.index(algorithm)]
        image = ax.imshow(one.replicability(algorithm, k).mean, vmin=0, vmax=1, cmap="viridis")
        ax.set_xticks(range(4), one.names, fontsize=7)
        ax.set_yticks(range(4), one.names, fontsize=7)
        ax.tick_params(length=0, pad=1)
    for ax, algorithm in zip(axes[0], columns, strict=True):
        ax.set_title(algorithm, fontsize=10)
    for ax, k in zip(axes[:, 0], KS, strict=True):
        ax.set_ylabel(f"k = {k}\ntraining study", fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel("test study", fontsize=9)
    figure.colorbar(image, cax=figure.add_axes((0.89, 0.2, 0.02, 0.6)), label="mean ARI")
    return save(figure, out, f"fig2_{name}")
