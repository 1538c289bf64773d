"""Appendix C.2: prediction strength over k; clusters above their in-group proportions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from paper.c1.figures import draw_numbered, draw_stems
from paper.c2.runs import KS, NUMBERS
from paper.common import COLOURS, save
from paper.spurious import GROUPS
from paper.store import Facts


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw strengths on both sides, and the proportions of every data set."""
    names = {side: save(_strength(facts, side), out, f"c2_{side}") for side in ("written", "published")}
    for side in ("written", "published"):
        for name in GROUPS:
            names[f"details {side} {name}"] = save(_in_group(facts, side, name), out, f"c2_igp_{name}_{side}")
    return names


def _strength(facts: Facts, side: str) -> Any:
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
    for ax, (name, groups) in zip(axes, GROUPS.items(), strict=True):
        table = facts[f"{side}/{name}/strength"]
        ax.plot(NUMBERS, table.mean(axis=1), color=COLOURS[0], label=f"mean of {table.shape[1]} splits")
        low, high = np.quantile(table, (0.1, 0.9), axis=1)
        ax.fill_between(NUMBERS, low, high, color=COLOURS[0], alpha=0.2, lw=0, label="80 % of splits")
        if side == "published":
            ax.plot(NUMBERS, table[:, 0], "x", color=COLOURS[1], label="one split, as printed")
        ax.axvline(groups, color="0.5", lw=0.9, ls=":", label="number of groups")
        ax.set(title=name, xlabel="number of clusters k", ylim=(-0.05, 1.08), xticks=range(2, 21, 3))
    axes[0].set_ylabel("prediction strength")
    axes[-1].legend(frameon=False, fontsize=8)
    figure.suptitle(f"C.2 as {side}: prediction strength of k-means", fontsize=11)
    return figure


def _in_group(facts: Facts, side: str, name: str) -> Any:
    figure, axes = plt.subplots(2, 4, figsize=(11, 5), layout="constrained", height_ratios=(2, 1))
    for (clusters, stems), k in zip(axes.T, KS[name], strict=True):
        labels, flags = facts[f"{side}/{name}/{k}/labels"], facts[f"{side}/{name}/{k}/spurious"][0]
        one, all_of_ten = facts[f"{side}/{name}/{k}/igp"][0]
        colours = draw_numbered(clusters, facts[f"{name}/X"], labels)
        clusters.set_title(f"{name}, k = {k}")
        draw_stems(stems, one, colours, flags)
        stems.scatter(np.arange(k), all_of_ten, facecolors="none", edgecolors=colours, s=16)
    axes[1, 0].set_ylabel("in-group\nproportion")
    figure.suptitle(
        f"C.2 as {side}, {name}: in-group proportions (cross: spurious; hollow: all of ten neighbours)", fontsize=11
    )
    return figure
