"""Fig. 1: the halves of each set, and the scores over k with bands of one standard deviation, train to test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from paper.common import COLOURS, save
from paper.fig1.runs import CLUSTERERS, TRUTH, mean_of
from paper.store import Facts

LOOK = dict(zip(CLUSTERERS, COLOURS, strict=False))
BLACK = COLOURS[6]


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw the figure as written and as published."""
    return {side: save(_figure(facts, side), out, f"fig1_{side}") for side in ("written", "published")}


def _figure(facts: Facts, side: str) -> Any:
    figure, axes = plt.subplots(len(TRUTH), 3, figsize=(10, 11), layout="constrained")
    for (data, *panels), name in zip(axes, TRUTH, strict=True):
        for half, colour in (("1", COLOURS[1]), ("2", COLOURS[0])):
            data.plot(*facts[f"{name}/half {half}"].T, ".", color=colour, markersize=2)
        data.set(title=name, xticks=[], yticks=[])
        for ax, agreement in zip(panels, ("ami", "ari"), strict=True):
            _curves(ax, facts, f"{name}/{side}/{agreement}")
            _density(ax, facts, name, side, agreement)
            ax.axvline(TRUTH[name], color="0.4", lw=0.9, ls=":")
            ax.set(title=f"{name}: {agreement.upper()}", ylim=(-0.05, 1.08), xlim=(1, 41))
    for ax in axes[-1, 1:]:
        ax.set_xlabel("number of clusters k")
    handles = [Line2D([], [], color=colour, label=clusterer) for clusterer, colour in LOOK.items()]
    handles += [
        Line2D([], [], color=BLACK, marker="x", ls="", label="DBSCAN, an eps each"),
        Line2D([], [], color="0.4", lw=0.9, ls=":", label="number of classes"),
        Line2D([], [], color=COLOURS[1], marker=".", ls="", label="training half"),
        Line2D([], [], color=COLOURS[0], marker=".", ls="", label="test half"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    figure.suptitle(
        {"written": "Fig. 1 as written", "published": "Fig. 1 as published: class label as a feature"}[side]
    )
    return figure


def _curves(ax: Any, facts: Facts, key: str) -> None:
    for (name, colour), table in zip(LOOK.items(), facts[key], strict=True):
        mean = mean_of(table)
        sd = np.array([np.nanstd(values) if np.isfinite(values).any() else np.nan for values in table])
        ax.plot(facts["ks"], mean, color=colour, lw=1.2, label=name)
        ax.fill_between(facts["ks"], mean - sd, mean + sd, color=colour, alpha=0.2, lw=0)


def _density(ax: Any, facts: Facts, name: str, side: str, agreement: str) -> None:
    """DBSCAN: at the mean number of clusters found; as published at the index of eps, as theirs, ARI alone."""
    if side == "written":
        clusters = facts[f"{name}/density/clusters"].mean(axis=(1, 2))
        means = mean_of(facts[f"{name}/density/{agreement}"])
        shown = clusters <= 40
        ax.plot(clusters[shown], means[shown], "x", color=BLACK, markersize=4)
    elif agreement == "ari":
        values = facts[f"{name}/published/density"]
        ax.plot(np.linspace(2, 40, len(values)), values, "x", color=BLACK, markersize=4)
