"""Section 3: the indices of independent random partitions over the number of clusters."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from paper.common import COLOURS, STYLES, save
from paper.s3.runs import INDICES
from paper.store import Facts


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw the four indices."""
    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for name, colour, style in zip(INDICES, COLOURS, STYLES, strict=False):
        ax.plot(facts["ks"], facts[f"random/{name}"].mean(axis=1), style, marker=".", color=colour, label=name)
    ax.set(xlabel="number of clusters of two independent random partitions", ylabel="mean", xticks=facts["ks"])
    ax.legend(frameon=False)
    figure.suptitle("Section 3.2: baselines of the indices", fontsize=11)
    return {"details": save(figure, out, "s3_baselines")}
