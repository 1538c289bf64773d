"""Fig. 2: the mean score of every pair of studies, for every algorithm and number of clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from paper.common import save
from paper.fig2.runs import AFFINITY, KS, PRINTED
from paper.store import Facts

TITLES = {
    "written": "Fig. 2 as written: studies 3, 4 with the first 32 coordinates permuted",
    "published": "Fig. 2 as published: studies 3, 4 with the halves of the coordinates swapped",
}


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw the figure as written and as published."""
    return {side: save(_figure(facts, side), out, f"fig2_{side}") for side in TITLES}


def _figure(facts: Facts, side: str) -> Any:
    """Draw a matrix for each setting; affinity propagation takes no k and is the same in each row."""
    figure, axes = plt.subplots(len(KS), len(PRINTED) + 1, figsize=(8, 7.4), layout="constrained")
    image = None
    for above, k in zip(axes, KS, strict=True):
        for ax, name in zip(above, (*PRINTED, AFFINITY), strict=True):
            key = f"{side}/{name}" if name == AFFINITY else f"{side}/{name}/{k}"
            image = ax.imshow(np.nanmean(facts[key], axis=0), vmin=0, vmax=1, cmap="cividis")
            ax.set_xticks(range(4), "1234", fontsize=7)
            ax.set_yticks(range(4), "1234", fontsize=7)
            ax.tick_params(length=0, pad=1)
            ax.set_title(name.replace(" ", "\n") if k == KS[0] else "", fontsize=10)
        above[0].set_ylabel(f"k = {k}\ntraining study", fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel("test study", fontsize=9)
    figure.colorbar(image, ax=axes, shrink=0.6, label="mean ARI over resamples")
    figure.suptitle(TITLES[side], fontsize=11)
    return figure
