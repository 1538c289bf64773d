"""Fig. 5 and Fig. 9 of the supplement: a column for every test study, a line for every algorithm and training study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from paper.common import COLOURS, STYLES, save
from paper.fig1.runs import mean_of
from paper.fig5.claims import PAM50
from paper.fig5.runs import CLUSTERERS, KS
from paper.store import Facts

LOOK = dict(zip(CLUSTERERS, (COLOURS[1], COLOURS[2], COLOURS[0]), strict=True))


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw scores and likeness of every gene set, whatever its cohorts."""
    names = {}
    tags = ["three", *(tag for tag in PAM50 if f"{tag}/written/ari" in facts)]
    for side in ("written", "published"):
        shown = [tag for tag in tags if f"{tag}/{side}/ari" in facts]
        rows = {tag: (mean_of(facts[f"{tag}/{side}/ari"]), _sd(facts[f"{tag}/{side}/ari"])) for tag in shown}
        names[side] = _curves(facts, rows, f"Fig. 5 as {side}", "replicability score (ARI)", out, f"fig5_{side}")
        likes = {tag: (facts[f"{tag}/{side}/like"][0], None) for tag in shown}
        words = "AMI to the subtypes" if side == "written" else "ARI to merged subtypes"
        names[f"details {side}"] = _curves(facts, likes, f"Fig. 9 as {side}", words, out, f"fig9_{side}")
    return names


def _sd(table: Any) -> Any:
    return np.nanstd(table, axis=-1, ddof=1)


def _curves(facts: Facts, rows: dict[str, tuple[Any, Any]], title: str, words: str, out: Path, name: str) -> str:
    n_columns = max(len(facts[f"{tag}/cohorts"]) for tag in rows)
    size = (3.5 * n_columns, 0.9 + 2.7 * len(rows))
    figure, axes = plt.subplots(len(rows), n_columns, figsize=size, layout="constrained", sharey=True, squeeze=False)
    for above, (tag, (means, sd)) in zip(axes, rows.items(), strict=True):
        cohorts = list(facts[f"{tag}/cohorts"])
        pairs = [tuple(pair) for pair in facts[f"{tag}/pairs"]]
        styles = dict(zip(cohorts, STYLES, strict=False))
        genes = f"{int(facts[f'{tag}/n_features'])} genes"
        for ax in above[len(cohorts) :]:
            ax.set_axis_off()
        for ax, test in zip(above, cohorts, strict=False):
            for p, (train, other) in enumerate(pairs):
                if other == test:
                    _lines(ax, means[..., p], None if sd is None else sd[..., p], styles[train], cohorts.index(train))
            ax.set_title(f"{genes}: tested on {test}", fontsize=10)
            ax.set(ylim=(-0.05, 1.1), xlabel="number of clusters k")
            handles = [Line2D([], [], color="0.3", ls=styles[c], label=f"trained on {c}") for c in cohorts if c != test]
            ax.legend(handles=handles, fontsize=7, frameon=False, loc="upper right")
        above[0].set_ylabel(words)
    handles = [Line2D([], [], color=colour, label=clusterer) for clusterer, colour in LOOK.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=11)
    return save(figure, out, name)


def _lines(ax: Any, means: Any, sd: Any, style: str, place: int) -> None:
    for c, colour in enumerate(LOOK.values()):
        x = np.array(KS) + 0.05 * (2 * c + place - 2.5)
        ax.errorbar(x, means[c], None if sd is None else sd[c], lw=1.2, color=colour, ls=style)
