"""Appendix C.1: clusters above their indices, and R and D over the noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from paper.c1.claims import flags_of, sizes_of
from paper.c1.runs import SCALES
from paper.common import COLOURS, STYLES, save
from paper.fig1.runs import mean_of
from paper.spurious import GROUPS
from paper.store import Facts

SHOWN = {"aggregation": (3, 4, 5, 7), "compound": (3, 6, 8), "r15": (5, 7, 15, 17)}
NAMES = {"inclusion": "inclusion", "r": "R index", "d": "relative D"}


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw every data set on both sides; aggregation, which the text speaks of, stands in front."""
    names = {}
    for side in ("written", "published"):
        for name in GROUPS:
            key = side if name == "aggregation" else f"details {side} {name}"
            names[key] = save(_clusters(facts, side, name), out, f"c1_{name}_{side}")
    return names | {"details noise": save(_noise(facts), out, "c1_noise")}


def draw_numbered(ax: Any, X: Any, labels: Any) -> Any:
    """Draw clusters with their numbers, which stand below their stems, too, and return their colours."""
    clusters, place = np.unique(labels, return_inverse=True)
    colours = np.array([COLOURS[i % 6] for i in range(len(clusters))])
    ax.scatter(*X.T, s=2, c=colours[place])
    for i in range(len(clusters)):
        ax.annotate(
            str(i + 1),
            np.median(X[place == i], axis=0),
            fontsize=7,
            ha="center",
            va="center",
            bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": "0.4", "lw": 0.4, "alpha": 0.85},
        )
    ax.set(xticks=[], yticks=[])
    return colours


def draw_stems(ax: Any, values: Any, colours: Any, spurious: Any) -> None:
    """Draw one value for every cluster above its number, with a cross for spurious ones."""
    places = np.arange(len(values))
    ax.vlines(places, 0, values, colors=colours)
    ax.scatter(places[~spurious], values[~spurious], c=colours[~spurious], s=14)
    ax.scatter(places[spurious], values[spurious], c="black", marker="x", s=24, zorder=3)
    ax.set_xticks(places, [str(i + 1) for i in places], fontsize=6)
    ax.set_ylim(0, max(1.12, 1.1 * float(np.nanmax(values))))


def _clusters(facts: Facts, side: str, name: str) -> Any:
    ks = [k for k in SHOWN[name] if k in facts[f"{name}/ks"]]
    figure, axes = plt.subplots(
        1 + len(NAMES),
        len(ks),
        figsize=(2.7 * len(ks), 7),
        layout="constrained",
        squeeze=False,
        height_ratios=(2, 1, 1, 1),
    )
    for column, k in zip(axes.T, ks, strict=True):
        labels, flags = facts[f"{side}/{name}/{k}/labels"], flags_of(facts, side, name, k)
        colours = draw_numbered(column[0], facts[f"{name}/X"], labels)
        column[0].set_title(f"{name}, k = {k}")
        for ax, index in zip(column[1:], NAMES, strict=True):
            values = mean_of(facts[f"{side}/{name}/{k}/{index}"])
            draw_stems(ax, values / sizes_of(facts, side, name, k) if index == "d" else values, colours, flags)
    for ax, words in zip(axes[1:, 0], NAMES.values(), strict=True):
        ax.set_ylabel(words)
    figure.suptitle(f"C.1 as {side}, {name}: a stem for each cluster (cross: spurious)", fontsize=11)
    return figure


def _noise(facts: Facts) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for ax, index in zip(axes, ("r", "d"), strict=True):
        for name, colour, style in zip(GROUPS, COLOURS, STYLES, strict=False):
            ax.plot(SCALES, facts[f"noise/{name}/{index}"].mean(axis=1), style, marker=".", color=colour, label=name)
        ax.axvline(SCALES[-2], color="0.6", lw=0.9, ls=":", label="noise of the text")
        ax.set(xlabel="sd of the noise, in sd of each coordinate", ylabel=NAMES[index])
    axes[0].legend(frameon=False, fontsize=8)
    figure.suptitle("C.1: R and D over the noise, k-means with k = 5", fontsize=11)
    return figure
