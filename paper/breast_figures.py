"""Drawings of the breast cancer cohorts, laid out as the paper's figures 5 and 6 and its gold-standard figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

import clustrep as cr
from paper.breast_gold import Likeness
from paper.breast_local import SHOWN, Runs
from paper.breast_scores import CLUSTERERS, KS, Array, Scores, mean
from paper.common import save

COLOURS = dict(zip(CLUSTERERS, ("red", "green", "blue"), strict=True))


def scores(rows: dict[str, Scores], out: Path, name: str) -> str:
    """Draw the mean scores, plus and minus a standard deviation, against k."""
    curves = {title: (mean(one.ari), np.nanstd(one.ari, axis=-1, ddof=1)) for title, one in rows.items()}
    return _curves(curves, next(iter(rows.values())).pairs, "ARI, mean ± sd", out, name)


def likeness(rows: dict[str, Likeness], pairs: tuple[tuple[str, str], ...], out: Path, name: str) -> str:
    """Draw how like the subtypes the retained partitions are, against k."""
    shape = (len(CLUSTERERS), len(KS), len(pairs))
    curves = {title: (one.like[0].reshape(shape), None) for title, one in rows.items()}
    return _curves(curves, pairs, "agreement with the subtypes", out, name)


def _curves(
    rows: dict[str, tuple[Array, Array | None]], pairs: tuple[tuple[str, str], ...], words: str, out: Path, name: str
) -> str:
    """Draw a column for every test study, a line for every clusterer and training study."""
    tests = sorted({test for _, test in pairs})
    size = (11, 0.6 + 2.7 * len(rows))
    figure, axes = plt.subplots(
        len(rows), 3, figsize=size, layout="constrained", sharex=True, sharey=True, squeeze=False
    )
    for above, (title, (values, sd)) in zip(axes, rows.items(), strict=True):
        for ax, test in zip(above, tests, strict=True):
            _lines(ax, values, sd, [(p, train) for p, (train, other) in enumerate(pairs) if other == test])
            ax.set_title(f"tested on {test}, {title}", fontsize=9)
        above[0].set(ylabel=words, ylim=(0, 1.3))
    for ax in axes[-1]:
        ax.set_xlabel("number of clusters k")
    for ax in axes[0]:
        ax.legend(fontsize=6, frameon=False, ncols=2)
    return save(figure, out, name)


def _lines(ax: Any, values: Array, sd: Array | None, trainings: list[tuple[int, str]]) -> None:
    for c, name in enumerate(CLUSTERERS):
        for i, (p, train) in enumerate(trainings):
            ax.errorbar(
                np.array(KS) + 0.05 * (2 * c + i - 2.5),
                values[c, :, p],
                None if sd is None else sd[c, :, p],
                label=f"{name}, {train}",
                lw=1.2,
                color=COLOURS[name],
                ls="-" if i == 0 else "--",
            )


def local(test: cr.Study, runs: Runs, out: Path, name: str) -> str:
    """Draw the patients by cluster, by score with AMI (the text) and ARI (the published colours), and the clusters."""
    ami, ari = (runs[agreement, *SHOWN] for agreement in ("ami", "ari"))
    with threadpool_limits(1):  # the same bytes whatever the number of cores
        xy = TSNE(init="pca", random_state=0, n_jobs=1).fit_transform(test.X)
    figure, axes = plt.subplots(1, 4, figsize=(17, 4.4), layout="constrained")
    for cluster in np.unique(ami.labels):
        axes[0].scatter(*xy[ami.labels == cluster].T, s=16, label=cluster)
    axes[0].set(title="(a) clusters", xlabel="first t-SNE coordinate", ylabel="second t-SNE coordinate")
    axes[0].legend(frameon=False)
    ami.plot(axes[1], points=xy)
    ari.plot(axes[2], points=xy)
    ari.plot(axes[3], kind="clusters")
    return save(figure, out, name)
