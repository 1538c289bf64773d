"""Fig. 6, with the paper's three panels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from paper.common import COLOURS, save
from paper.fig6.claims import shown
from paper.fig6.runs import SHOWN, SUBTYPES
from paper.store import Facts


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw the figure as written (AMI colours) and as published (ARI colours)."""
    ours = facts["three/written/ari"][shown(facts)]
    return {
        "written": save(_figure(facts, "written", "ami", ours), out, "fig6_written"),
        "published": save(_figure(facts, "published", "ari", facts["three/published/ari"]), out, "fig6_published"),
    }


def _figure(facts: Facts, side: str, agreement: str, by_cluster: Any) -> Any:
    mean, sd, labels = (facts[f"three/{side}/{agreement}/{key}"] for key in ("mean", "sd", "labels"))
    xy = facts["three/map"]
    figure, (a, b, c) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for name, colour in zip(SUBTYPES, COLOURS, strict=False):
        a.scatter(*xy[labels == name].T, s=14, color=colour, label=name)
    a.set_title("(a) clusters of the training study, by subtype", fontsize=10)
    a.legend(frameon=False, fontsize=8)
    spread = (sd - sd.min()) / max(float(np.ptp(sd)), 1e-9)
    drawn = b.scatter(*xy.T, c=mean, s=10 + 50 * spread, alpha=1 - 0.5 * spread, cmap="cividis", vmin=0, vmax=1)
    figure.colorbar(drawn, ax=b, label=f"mean local {agreement.upper()}")
    b.set_title("(b) local scores; large: more variable", fontsize=10)
    kept = [values[np.isfinite(values)] for values in by_cluster]
    boxes = c.boxplot(kept, patch_artist=True, medianprops={"color": "black"})
    c.set_xticks(range(1, len(SUBTYPES) + 1), SUBTYPES)
    for box, colour in zip(boxes["boxes"], COLOURS, strict=False):
        box.set(facecolor=colour, alpha=0.6)
    c.set_title("(c) local ARI of clusters over resamples", fontsize=10)
    c.set_ylim(-0.05, 1.05)
    for ax in (a, b):
        ax.set(xlabel="t-SNE 1", ylabel="t-SNE 2")
    figure.suptitle(f"Fig. 6 as {side}: k-means, k = 4, trained on {SHOWN[0]}, tested on {SHOWN[1]}", fontsize=11)
    return figure
