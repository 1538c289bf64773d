"""Appendix A.1: scores over k, bootstrap and Monte Carlo, and their quantiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from paper.a1.runs import AGREEMENTS, LEVELS
from paper.common import COLOURS, save
from paper.store import Facts


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw both settings on both sides."""
    names = {}
    for side in ("written", "published"):
        names[side] = save(_curves(facts, side), out, f"a1_{side}")
        for setting in (1, 2):
            names[f"details {side} {setting}"] = save(
                _quantiles(facts, setting, side), out, f"a1_quantiles_{setting}_{side}"
            )
    return names


def _curves(facts: Facts, side: str) -> Any:
    figure, axes = plt.subplots(2, 3, figsize=(10, 6.4), layout="constrained")
    for (data, *panels), setting in zip(axes, (1, 2), strict=True):
        key = f"{setting}/{side}"
        for study, colour in (("train", COLOURS[0]), ("test", COLOURS[4])):
            data.scatter(*facts[f"{key}/{study} points"].T, s=3, color=colour, label=study)
        data.set(title=f"setting {setting}", aspect="equal")
        data.legend(fontsize=7)
        for a, ax in enumerate(panels):
            _scores(ax, facts, key, a)
            ax.set(title=f"setting {setting}: {AGREEMENTS[a]}", ylim=(-0.05, 1.05), xlabel="number of clusters k")
    figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"A.1 as {side}: bootstrap and Monte Carlo", fontsize=11)
    return figure


def _scores(ax: Any, facts: Facts, key: str, a: int) -> None:
    ks = facts[f"{key}/ks"]
    ax.plot(ks, facts[f"{key}/means"][1:, :, a].T, color="0.8", lw=0.6, zorder=0)
    ax.plot([], [], color="0.8", label="bootstrap means of other data sets")
    for words, colour, style in (("bootstrap", COLOURS[0], ".-"), ("fresh", COLOURS[4], ".:")):
        quantiles = facts[f"{key}/quantiles {words}"][:, :, a]
        mean = facts[f"{key}/means"][0, :, a] if words == "bootstrap" else facts[f"{key}/truth"][:, a]
        name = {"bootstrap": "bootstrap, one data set", "fresh": "Monte Carlo"}[words]
        ax.plot(ks, mean, style, color=colour, label=f"mean, {name}")
        ax.fill_between(ks, quantiles[2], quantiles[-3], color=colour, alpha=0.2, lw=0, label=f"central 96 %, {name}")


def _quantiles(facts: Facts, setting: int, side: str) -> Any:
    key = f"{setting}/{side}"
    ks = facts[f"{key}/ks"]
    columns = min(3, len(ks))
    rows = -(-len(ks) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(8, 1 + 2.2 * rows), layout="constrained", squeeze=False, sharex=True, sharey=True
    )
    for ax in axes.flat[len(ks) :]:
        ax.set_axis_off()
    for c, (k, ax) in enumerate(zip(ks, axes.flat, strict=False)):
        for a, colour in enumerate((COLOURS[1], COLOURS[0])):
            for words, style in (("bootstrap", "-"), ("fresh", ":")):
                name = {"bootstrap": "bootstrap", "fresh": "Monte Carlo"}[words]
                curve = facts[f"{key}/quantiles {words}"][:, c, a]
                ax.plot(LEVELS, curve, style, color=colour, label=f"{AGREEMENTS[a]}, {name}")
        ax.set(title=f"k = {k}", ylim=(-0.05, 1.05))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle(
        f"A.1, setting {setting} as {side}: quantiles of one data set's scores and of fresh pairs'", fontsize=11
    )
    return figure
