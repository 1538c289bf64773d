"""Fig. 3 and 4: who shares the cluster of a point, and the map of local scores."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import clustrep as cr
from paper.common import save
from paper.fig3_fig4_local.runs import COMPONENTS, EDGE, Mixtures

MARKERS = {"A": "v", "B": "^", "C": "x", "D": "s"}


def draw_points(mixtures: Mixtures, result: cr.results.LocalReplicability, out: Path) -> tuple[str, ...]:
    """Draw Fig. 3: who shares the cluster of each point."""
    names = []
    for i, component in enumerate(COMPONENTS["train"]):
        axes = result.plot(kind="co-clustering", point=i)
        letter = component.lower()
        for ax, study in zip(axes, ("training", "test"), strict=True):
            ax.set_title(f"test points, function of the {study} study", fontsize=9)
        axes[0].figure.suptitle(
            f"Fig. 3 ({letter}) as {mixtures.name}, {mixtures.setting}: local ARI at $x_{component}$ "
            f"{result.mean[i]:.2f} (sd {result.sd[i]:.2f})\n"
            f"Cross: $x_{component}$, the mean of component {component} of the training study",
            fontsize=10,
        )
        names.append(save(axes[0].figure, out, f"fig3{letter}_{mixtures.name}"))
    return tuple(names)


def draw_plane(mixtures: Mixtures, result: cr.results.LocalReplicability, n_grid: int, out: Path) -> str:
    """Draw Fig. 4: both data sets and the map of scores."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharex=True, sharey=True)
    studies, side = mixtures.studies(), np.linspace(-EDGE, EDGE, n_grid)
    scores = result.mean.reshape(n_grid, n_grid)
    drawn = axes[2].pcolormesh(side, side, scores, cmap="viridis", vmin=0, vmax=1)
    figure.colorbar(drawn, ax=axes[2], label="mean local ARI")
    figure.suptitle(
        f"Fig. 4 as {mixtures.name}: k-means with k = 3; {mixtures.setting}; {len(result.distribution)} resamples"
    )
    axes[0].set_ylabel("second coordinate")
    for ax, name in zip(axes, ("train", "test", "test"), strict=True):
        for letter in COMPONENTS[name]:
            X = studies[name].X[studies[name].labels == letter]
            style = {"color": f"C{'ABCD'.index(letter)}"}
            if ax is axes[2]:
                style = {"color": "white", "edgecolor": "black"}
            ax.scatter(*X.T, marker=MARKERS[letter], s=20, lw=0.7, label=letter, **style)
        ax.set_title("training study" if name == "train" else "test study")
        ax.set_xlabel("first coordinate")
        ax.legend(title="component", frameon=False)
    axes[2].get_legend().remove()
    axes[2].set(title="local replicability (white: test points)", xlim=(-EDGE, EDGE), ylim=(-EDGE, EDGE))
    return save(figure, out, f"fig4_{mixtures.name}")
