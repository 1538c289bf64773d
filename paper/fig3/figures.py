"""Fig. 3 and 4: who shares the cluster of a point, and the map of local scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from paper.common import COLOURS, save
from paper.fig3.claims import LETTERS
from paper.fig3.runs import EDGE
from paper.store import Facts

MARKERS = {"A": "v", "B": "^", "C": "x", "D": "s"}
SETTINGS = {"written": "σ = 0.2, B at (0, 2)", "published": "variance 0.2, training B at (1, 2)"}


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw both figures, as written and as published."""
    names = {}
    for side in LETTERS:
        names[side] = save(_points(facts, side), out, f"fig3_{side}")
        names[f"{side} 4"] = save(_plane(facts, side), out, f"fig4_{side}")
    return names


def _points(facts: Facts, side: str) -> Any:
    """One panel of two rows and three columns: training function above, test function below."""
    figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained", sharex=True, sharey=True)
    X, components, image = facts[f"{side}/test"], facts[f"{side}/test components"], None
    for column, letter in enumerate(LETTERS[side]):
        for ax, together in zip(axes[:, column], facts[f"{side}/together"][column], strict=True):
            for component in np.unique(components):
                at, filled = components == component, component != "C"
                edge: Any = {"edgecolors": "0.35", "linewidths": 0.4} if filled else {}
                image = ax.scatter(
                    *X[at].T,
                    c=together[at],
                    marker=MARKERS[str(component)],
                    s=26,
                    cmap="cividis",
                    vmin=0,
                    vmax=1,
                    **edge,
                )
            ax.plot(*facts[f"{side}/points"][column], "*", color=COLOURS[1], markersize=13, markeredgecolor="white")
        mean, sd = facts[f"{side}/mean"][column], facts[f"{side}/sd"][column]
        axes[0, column].set_title(f"({'abc'[column]}) at the mean of {letter}: {mean:.2f} ± {sd:.2f}", fontsize=10)
    axes[0, 0].set_ylabel("test points,\nfunction of the training study")
    axes[1, 0].set_ylabel("test points,\nfunction of the test study")
    figure.colorbar(image, ax=axes, shrink=0.7, label="share of resamples in the star's cluster")
    figure.suptitle(f"Fig. 3 as {side}: {SETTINGS[side]}; ▽ A, △ B, □ D; a pair near the average", fontsize=11)
    return figure


def _plane(facts: Facts, side: str) -> Any:
    """Both data sets and the map of scores."""
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained", sharex=True, sharey=True)
    scores = facts[f"{side}/map"]
    edges = np.linspace(-EDGE, EDGE, len(scores))
    drawn = axes[2].pcolormesh(edges, edges, scores, cmap="cividis", vmin=0, vmax=1, rasterized=True)
    figure.colorbar(drawn, ax=axes[2], label="mean local ARI")
    for ax, study in zip(axes, ("train", "test", "test"), strict=True):
        X, components = facts[f"{side}/{study}"], facts[f"{side}/{study} components"]
        for component in np.unique(components):
            colour = "white" if ax is axes[2] else COLOURS["ABCD".index(str(component))]
            ax.scatter(*X[components == component].T, marker=MARKERS[str(component)], s=18, c=colour, label=component)
        ax.set_title({"train": "training study", "test": "test study"}[study], fontsize=10)
        if ax is not axes[2]:
            ax.legend(title="component", frameon=False, fontsize=8)
    axes[2].set(title="local replicability (white: test points)", xlim=(-EDGE, EDGE), ylim=(-EDGE, EDGE))
    figure.suptitle(f"Fig. 4 as {side}: k-means, k = 3; {SETTINGS[side]}", fontsize=11)
    return figure
