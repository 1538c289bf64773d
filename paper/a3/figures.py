"""Appendix A.3: a study of each size, and the scores of fresh pairs over k; outliers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from paper.a3.claims import AGREEMENTS
from paper.a3.outliers import DISTANCES, MANY
from paper.a3.runs import COMPONENTS, SIZES
from paper.common import COLOURS, error_of, save
from paper.store import Facts


def draw(facts: Facts, out: Path) -> dict[str, str]:
    """Draw scores on both sides, the data, and outliers."""
    names = {side: save(_scores(facts, side), out, f"a3_{side}") for side in ("written", "published")}
    return names | {
        "details data": save(_data(facts), out, "a3_data"),
        "details outliers": save(_outliers(facts), out, "a3_outliers"),
    }


def _data(facts: Facts) -> Any:
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained", sharex=True, sharey=True)
    for n, ax in zip(SIZES, axes, strict=True):
        ax.scatter(*facts[f"points/{n}"].T, s=4, color=COLOURS[0])
        ax.set(title=f"n = {n}", aspect="equal")
    figure.suptitle(f"A.3: a study of each size from {COMPONENTS} Gaussians", fontsize=11)
    return figure


def _scores(facts: Facts, side: str) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    for a, ax in enumerate(axes):
        for n, colour in zip(SIZES, COLOURS, strict=False):
            ks, scores = facts[f"{side}/{n}/ks"], facts[f"{side}/{n}"][:, a]
            ax.plot(ks, scores.mean(axis=-1), color=colour, label=f"n = {n}: mean, central 95 % of draws")
            ax.fill_between(ks, *np.quantile(scores, (0.025, 0.975), axis=-1), color=colour, alpha=0.2, lw=0)
        ax.axvline(COMPONENTS, color="0.6", lw=0.8, ls=":", zorder=0)
        ax.set(title=AGREEMENTS[a], xlabel="number of clusters k", ylim=(-0.05, 1.05))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"A.3 as {side}: scores of fresh pairs of studies (dotted: {COMPONENTS} components)", fontsize=11)
    return figure


def _outliers(facts: Facts) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    for s, ax in enumerate(axes):
        for j, label in enumerate(("R̂", "bootstrap mean")):
            values = facts["outliers/both"][s, ..., j]
            mean, error = values.mean(axis=-1), error_of(values)
            style = {"color": COLOURS[j]}
            ax.errorbar(DISTANCES, mean[:-1], error[:-1], marker=".", label=f"{label}, one outlier", **style)
            ax.errorbar(DISTANCES[-1], mean[-1], error[-1], marker="x", label=f"{label}, {MANY} outliers", **style)
        ax.set(title=f"outliers in the {('training', 'test')[s]} study", xlabel="distance from the study's mean")
    axes[0].set_ylabel("ARI lost (± standard error)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle("What outliers take from the scores: A.1, setting 1, n = 100, k = 4", fontsize=11)
    return figure
