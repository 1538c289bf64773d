"""Appendix A.2: scores of data without clusters over k."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from paper.appendix_a_calibration.runs import AGREEMENTS
from paper.appendix_a_no_structure.runs import Curves
from paper.common import save


def draw(name: str, title: str, by_label: Curves, ks: range, out: Path) -> str:
    """Draw scores, averaged over data sets, ± one standard deviation over resamples: ARI left, AMI right."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
    for a, ax in enumerate(axes):
        for (label, values), style in zip(by_label.items(), ("-", "--", ":"), strict=True):
            mean, sd = values[:, :, a].mean(axis=(0, -1)), values[:, :, a].std(axis=-1).mean(axis=0)
            ax.plot(ks, mean, style, label=f"{label}, mean of {len(values)} data sets")
            ax.fill_between(ks, mean - sd, mean + sd, alpha=0.2, lw=0)
        ax.set(title=AGREEMENTS[a], xlabel="number of clusters k", ylabel=AGREEMENTS[a], ylim=(0, 1))
    axes[0].fill_between([], [], [], color="0.8", label="± sd over resamples")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle(title, fontsize=11)
    return save(figure, out, name)


def draw_long(ks: range, scores: np.ndarray, null: np.ndarray, out: Path) -> str:
    """Draw the score of a data set over k, beside those without clusters, (draw, k)."""
    figure, ax = plt.subplots(figsize=(6.5, 4.4), layout="constrained")
    low, high = np.nanquantile(null, (0.025, 0.975), axis=0)
    ax.fill_between(ks, low, high, color="0.85", lw=0, label="central 95 %, data without clusters (null reference)")
    ax.plot(ks, np.nanmean(null, axis=0), "--", color="0.35", label="mean, data without clusters")
    ax.plot(ks, scores, "o-", label="R̂ of the first data set, both directions averaged")
    ax.set(xlabel="number of clusters k", ylabel="ARI", ylim=(0, 1.05), xticks=list(ks))
    figure.legend(loc="outside lower center", fontsize=8)
    figure.suptitle("One Gaussian with variances 9 and 1, n = 200: scores without clusters", fontsize=11)
    return save(figure, out, "appendix_a_no_structure_long")
