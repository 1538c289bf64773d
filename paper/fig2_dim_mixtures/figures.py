"""Fig. 2: the mean score of every pair of studies, for every algorithm and number of clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import clustrep as cr
from paper.common import save
from paper.fig2_dim_mixtures.runs import AFFINITY, KS

SHARED = "Studies 1, 2 are of one mixture, 3, 4 of the other."
NOT_RUN = " White: not run, a study against itself."


def draw(title: str, name: str, out: Path, comparison: cr.results.Comparison, affinity: cr.results.Comparison) -> str:
    """Draw a matrix for each setting; affinity propagation, which takes no number of clusters, beside them."""
    columns = list(dict.fromkeys(comparison.clusterers))
    figure = plt.figure(figsize=(10, 7.6))
    grid = figure.add_gridspec(len(KS), len(columns) + 1, left=0.08, right=0.87, top=0.88, bottom=0.07, hspace=0.16)
    for column, algorithm in enumerate(columns):
        for i, k in enumerate(KS):
            ax = figure.add_subplot(grid[i, column])
            matrix(ax, comparison.replicability(algorithm, k))
            ax.set_title("" if i else algorithm, fontsize=10)
            ax.set_ylabel("" if column else f"k = {k}\ntraining study", fontsize=9)
            ax.set_xlabel("test study" if k == KS[-1] else "", fontsize=9)
    alone = figure.add_subplot(grid[:, -1])
    image = matrix(alone, affinity.replicability(AFFINITY))
    alone.set_title("affinity propagation\n(takes no k)", fontsize=10)
    alone.set_xlabel("test study", fontsize=9)
    figure.colorbar(image, cax=figure.add_axes((0.9, 0.2, 0.02, 0.6)), label="mean ARI over resamples")
    scores = [values.distribution for values in (comparison, affinity)]
    unrun = any(np.isnan(np.diagonal(values, axis1=-2, axis2=-1)).all() for values in scores)
    figure.suptitle(f"{title}\n{SHARED}{NOT_RUN if unrun else ''}", fontsize=11, y=0.98)
    return save(figure, out, f"fig2_{name}")


def matrix(ax: Any, result: cr.results.Replicability) -> Any:
    """Draw the mean scores of all pairs of studies."""
    ax.tick_params(length=0, pad=1)
    ax.set(frame_on=False, box_aspect=1)
    ax.set_xticks(range(len(result.names)), result.names, fontsize=7)
    ax.set_yticks(range(len(result.names)), result.names, fontsize=7)
    return ax.imshow(result.mean, vmin=0, vmax=1, cmap="viridis")
