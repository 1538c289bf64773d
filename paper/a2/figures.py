"""Appendix A.2: scores of data without clusters over k."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from paper.a2.claims import AGREEMENTS, OVER_D, OVER_N
from paper.common import COLOURS, STYLES, save
from paper.store import Facts

TITLES = {
    "written": "A.2 as written: one round Gaussian, d = 2",
    "published": "A.2 as published: one round Gaussian, d = 5",
    "details": "A.2: one round Gaussian in several dimensions, n = 200",
}


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw curves over n on both sides, and over d."""
    curves = {
        side: ([f"{'published' if side == 'published' else 'written'}/{label}" for label in labels], labels)
        for side, labels in (("written", OVER_N), ("published", OVER_N), ("details", OVER_D))
    }
    return {side: save(_figure(facts, *curves[side], TITLES[side]), out, f"a2_{side}") for side in TITLES}


def _figure(facts: Facts, keys: list[str], labels: list[str], title: str) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    for a, ax in enumerate(axes):
        for key, label, colour, style in zip(keys, labels, COLOURS, STYLES, strict=False):
            mean, sd = facts[key][:, :, a].mean(axis=0), facts[f"{key}/sd"][:, :, a].mean(axis=0)
            ax.plot(facts["ks"], mean, style, color=colour, label=f"{label}, mean of {len(facts[key])} data sets")
            ax.fill_between(facts["ks"], mean - sd, mean + sd, color=colour, alpha=0.2, lw=0)
        ax.set(title=AGREEMENTS[a], xlabel="number of clusters k", ylim=(0, 1))
    axes[0].set_ylabel("score ± sd over resamples")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(title, fontsize=11)
    return figure
