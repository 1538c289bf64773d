"""Appendix C.3: the first data set of each mixture above its test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from paper.c3.runs import DISTANCES, SEVERAL, SQUARED_DISTANCES
from paper.common import COLOURS, save
from paper.printed import PRINTED
from paper.store import Facts


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw components and distances as written, and the p-values as published."""
    components = {"1 component": "one"} | {f"{k} components": f"apart/{k}" for k in SEVERAL}
    distances = {f"{d:g} sd apart": f"closer/{d:g}" for d in DISTANCES}
    return {
        "written": save(_tests(facts, components, "components"), out, "c3_written"),
        "published": save(_published(facts), out, "c3_published"),
        "details distances": save(_tests(facts, distances, "two components that come closer"), out, "c3_distances"),
    }


def _tests(facts: Facts, shown: Mapping[str, str], title: str) -> Any:
    figure, axes = plt.subplots(2, len(shown), figsize=(min(11, 2.5 * len(shown)), 5), layout="constrained")
    for (data, scores), (words, key) in zip(axes.T, shown.items(), strict=True):
        data.scatter(*facts[f"written/{key}/first"].T, s=2, c="0.3")
        data.set(title=words, xticks=[], yticks=[], aspect="equal", adjustable="datalim")
        null = facts[f"written/{key}/null"]
        scores.hist(np.log10(null / null.mean()), bins=12, color="0.75")
        scores.axvline(float(np.log10(facts[f"written/{key}/statistic"] / null.mean())), color=COLOURS[1], lw=2)
        scores.set(title=f"p = {facts[f'written/{key}'][0]:.3f}", xlabel="log₁₀ of statistic\n/ mean of simulated")
    axes[1, 0].set_ylabel("simulated data sets")
    figure.suptitle(f"C.3 as written: {title}; line: the data set above", fontsize=11)
    return figure


def _published(facts: Facts) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
    panels = (
        ("components", (1, *SEVERAL), "components"),
        ("distances", SQUARED_DISTANCES, "squared distance of the means"),
    )
    for ax, (key, x, words) in zip(axes, panels, strict=True):
        ax.plot(x, PRINTED[f"c3_{key}"], "o-", color=COLOURS[1], label="printed")
        ax.plot(x, facts[f"published/{key}"], "x--", color=COLOURS[0], label="ours, as published")
        ax.set(xlabel=words, ylim=(-0.05, 1.05))
    axes[1].invert_xaxis()
    axes[0].set_ylabel("p-value")
    axes[0].legend(frameon=False)
    figure.suptitle("C.3 as published: p-values, printed and ours", fontsize=11)
    return figure
