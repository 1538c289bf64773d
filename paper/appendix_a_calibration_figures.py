"""Appendix A.1: the figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from paper.appendix_a_calibration_runs import AGREEMENTS, LEVELS, TAILS, Calibration
from paper.common import save

COLOURS = ("C3", "C0")


def draw_curves(name: str, found: Sequence[Calibration], out: Path) -> str:
    """Draw the data, and the scores over k: one row as written, one as published."""
    figure, axes = plt.subplots(len(found), 3, figsize=(11, 3.2 * len(found)), layout="constrained", squeeze=False)
    for row, one in zip(axes, found, strict=True):
        for study, colour in (("train", "C0"), ("test", "C1")):
            row[0].scatter(*one.studies[study].X.T, s=4, color=colour, label=study)
        row[0].set(title=one.setting.name, aspect="equal")
        for a, ax in enumerate(row[1:]):
            ax.plot(one.ks, one.means[1:, :, a].T, color="0.8", lw=0.6, zorder=0)
            for values, colour, style, label in (
                (one.bootstrap[0, :, a], "C0", ".-", "bootstrap, data set on the left"),
                (one.fresh[:, a], "C1", ".:", "Monte Carlo"),
            ):
                ax.plot(one.ks, values.mean(axis=-1), style, color=colour, label=label)
                ax.fill_between(one.ks, *np.quantile(values, TAILS, axis=-1), color=colour, alpha=0.2, lw=0)
            ax.set(title=AGREEMENTS[a], xlabel="k", ylim=(-0.05, 1.05))
    axes[0, 0].legend(fontsize=7)
    axes[0, 1].plot([], [], color="0.8", label="bootstrap means, other data sets")
    axes[0, 1].legend(fontsize=7, loc="lower left")
    return save(figure, out, name)


def draw_quantiles(name: str, one: Calibration, out: Path) -> str:
    """Draw the quantiles of one data set's bootstrap beside those of fresh draws."""
    columns = min(3, len(one.ks))
    rows = -(-len(one.ks) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(9, 2.6 * rows), layout="constrained", squeeze=False)
    for c, (k, ax) in enumerate(zip(one.ks, axes.flat, strict=False)):
        for a, colour in enumerate(COLOURS):
            for values, style, label in ((one.bootstrap[0], "-", "bootstrap"), (one.fresh, ":", "Monte Carlo")):
                curve = np.quantile(values[c, a], LEVELS)
                ax.plot(LEVELS, curve, style, color=colour, label=f"{AGREEMENTS[a]}, {label}")
        ax.set(title=f"k = {k}", ylim=(-0.05, 1.05))
    axes[0, 0].legend(fontsize=6, loc="lower right")
    figure.supxlabel("quantile")
    return save(figure, out, name)
