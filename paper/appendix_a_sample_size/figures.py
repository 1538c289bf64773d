"""Appendix A.3: a study of each size, and the scores of fresh pairs over k."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from paper.appendix_a_calibration.runs import AGREEMENTS
from paper.appendix_a_sample_size.runs import COMPONENTS, Curve, points
from paper.common import make_rng, save

KEY = 43  # of the data sets that are drawn


def draw(curves: dict[int, Curve], out: Path) -> tuple[str, str]:
    """Draw three data sets; and the scores over k, with centred 95 % intervals."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.8), layout="constrained", sharex=True, sharey=True)
    for n, ax in zip(curves, axes, strict=True):
        ax.scatter(*points(n, make_rng(KEY, n)).T, s=4)
        ax.set(title=f"n = {n}", aspect="equal", xlabel="first coordinate")
    axes[0].set_ylabel("second coordinate")
    figure.suptitle(f"A.3, as written: a study of each size from {COMPONENTS} Gaussians", fontsize=11)
    data = save(figure, out, "appendix_a_sample_size_data")
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
    for a, ax in enumerate(axes):
        for n, curve in curves.items():
            ax.plot(curve.ks, curve.scores[:, a].mean(axis=-1), label=f"mean, n = {n}")
            ax.fill_between(curve.ks, *np.quantile(curve.scores[:, a], (0.025, 0.975), axis=-1), alpha=0.2, lw=0)
        ax.axvline(COMPONENTS, color="0.7", lw=0.8, zorder=0, label=f"{COMPONENTS} components")
        ax.set(title=AGREEMENTS[a], xlabel="number of clusters k", ylabel=AGREEMENTS[a], ylim=(-0.05, 1.05))
    axes[0].fill_between([], [], [], color="0.8", label="central 95 % of draws")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)
    figure.suptitle("A.3, as written: scores of fresh pairs of studies", fontsize=11)
    return data, save(figure, out, "appendix_a_sample_size")
