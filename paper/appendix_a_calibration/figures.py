"""Appendix A.1: the figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from paper.appendix_a_calibration.runs import AGREEMENTS, LEVELS, TAILS, Calibration
from paper.common import save

COLOURS = ("C3", "C0")


def draw_curves(name: str, runs: Sequence[Calibration], out: Path) -> str:
    """Draw the data, and the scores over k: one row as written, one as published."""
    figure, axes = plt.subplots(len(runs), 3, figsize=(10.5, 1 + 3 * len(runs)), layout="constrained", squeeze=False)
    ks = [k for run in runs for k in run.ks]
    for row, run in zip(axes, runs, strict=True):
        for study, colour, label in (("train", "C0", "training study"), ("test", "C1", "test study")):
            row[0].scatter(*run.studies[study].X.T, s=4, color=colour, label=label)
        row[0].set(title=run.setting.name, aspect="equal", xlabel="first coordinate", ylabel="second coordinate")
        for a, ax in enumerate(row[1:]):
            _scores(run, a, ax)
            ax.set(title=f"{run.setting.name}: {AGREEMENTS[a]}", xlabel="number of clusters k", ylabel=AGREEMENTS[a])
            ax.set(xlim=(min(ks) - 0.4, max(ks) + 0.4), ylim=(-0.05, 1.05))
    axes[0, 0].legend(fontsize=7)
    figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"A.1, {runs[0].setting.name.split(',')[0]}: replicability scores, bootstrap and Monte Carlo")
    return save(figure, out, name)


def _scores(run: Calibration, a: int, ax: Axes) -> None:
    """Draw means, and the central 95 % of scores."""
    ax.plot(run.ks, run.means[1:, :, a].T, color="0.8", lw=0.6, zorder=0)
    for values, colour, style, label in (
        (run.bootstrap[0, :, a], "C0", ".-", "bootstrap, data set on the left"),
        (run.fresh[:, a], "C1", ".:", "Monte Carlo, fresh pairs of studies"),
    ):
        ax.plot(run.ks, values.mean(axis=-1), style, color=colour, label=f"mean, {label}")
        low, high = np.quantile(values, TAILS, axis=-1)
        ax.fill_between(run.ks, low, high, color=colour, alpha=0.2, lw=0, label=f"central 95 %, {label.split(',')[0]}")
    ax.plot([], [], color="0.8", label="bootstrap means, other data sets")


def draw_quantiles(name: str, run: Calibration, out: Path) -> str:
    """Draw the quantiles of one data set's bootstrap beside those of fresh draws."""
    columns = min(3, len(run.ks))
    rows = -(-len(run.ks) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(9, 1.2 + 2.5 * rows), layout="constrained", squeeze=False, sharex=True, sharey=True
    )
    for ax in axes.flat[len(run.ks) :]:
        ax.set_axis_off()
    for c, (k, ax) in enumerate(zip(run.ks, axes.flat, strict=False)):
        for a, colour in enumerate(COLOURS):
            for values, style, label in ((run.bootstrap[0], "-", "bootstrap"), (run.fresh, ":", "Monte Carlo")):
                curve = np.quantile(values[c, a], LEVELS)
                ax.plot(LEVELS, curve, style, color=colour, label=f"{AGREEMENTS[a]}, {label}")
        ax.set(title=f"k = {k}", ylim=(-0.05, 1.05))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle(f"A.1, {run.setting.name}: quantiles of one data set's bootstrap scores and of fresh pairs'")
    for ax in axes[-1]:
        ax.set_xlabel("probability")
    for ax in axes[:, 0]:
        ax.set_ylabel("quantile of the score")
    return save(figure, out, name)
