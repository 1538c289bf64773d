"""Appendix C.2: prediction strength over k."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from paper.appendix_c_common import GROUPS
from paper.appendix_c_prediction.runs import NUMBERS, Strengths
from paper.common import save


def draw_strength(shapes: Any, written: Strengths, published: Mapping[str, Any], out: Path) -> str:
    """Draw the data above their prediction strengths."""
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.8), layout="constrained")
    figure.suptitle("Prediction strength of k-means, as written and as published")
    for (data, scores), (name, study) in zip(axes.T, shapes.items(), strict=True):
        data.scatter(*study.X.T, s=2, c="0.3")
        groups = GROUPS[name]
        data.set(title=f"{name}, {groups} groups", xticks=[], yticks=[], xlabel="first coordinate")
        data.set_ylabel("second coordinate" if name == next(iter(shapes)) else "")
        written[name].plot(scores)
        if scores.get_legend():
            scores.get_legend().remove()
        scores.lines[0].set_label(f"as written, mean of {len(written[name].distribution)} splits")
        scores.collections[0].set_label("band: 95 % interval over splits")
        scores.plot(NUMBERS, published[name][0], "x", color="0.3", label="as published, one split")
        scores.axvline(groups, color="0.5", ls=":", label="number of groups")
        scores.set(title="", xticks=range(2, 21, 2), ylabel="prediction strength" if data.get_ylabel() else "")
    lines, words = scores.get_legend_handles_labels()
    figure.legend(lines, words, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return save(figure, out, "appendix_c2_prediction_strength")
