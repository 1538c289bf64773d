"""Drawings of the breast cancer cohorts, laid out as the paper's figures 5 and 6 and its gold-standard figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

import clustrep as cr
from paper.common import save
from paper.fig5_fig6_breast.gold_standard import Likeness
from paper.fig5_fig6_breast.local import SHOWN, Runs
from paper.fig5_fig6_breast.scores import CLUSTERERS, KS, Array, Scores, mean

COLOURS = dict(zip(CLUSTERERS, ("red", "green", "blue"), strict=True))


def scores(rows: dict[str, Scores], genes: str, out: Path, name: str) -> str:
    """Draw the mean scores, plus and minus a standard deviation, against k."""
    curves = {
        title: ("replicability score (ARI)", mean(variant.ari), np.nanstd(variant.ari, axis=-1, ddof=1))
        for title, variant in rows.items()
    }
    title = (
        f"Breast cancer cohorts, {genes}: replicability scores, mean and (bars) ± one standard deviation over resamples"
    )
    return _curves(curves, next(iter(rows.values())).pairs, title, out, name)


def likeness(
    rows: dict[str, tuple[str, Likeness]], pairs: tuple[tuple[str, str], ...], genes: str, out: Path, name: str
) -> str:
    """Draw how like the subtypes the retained partitions are, against k: rows by title, with what y is."""
    shape = (len(CLUSTERERS), len(KS), len(pairs))
    curves = {title: (words, likeness_of.like[0].reshape(shape), None) for title, (words, likeness_of) in rows.items()}
    title = f"Breast cancer cohorts, {genes}: agreement of the partition of the highest score with the known subtypes"
    return _curves(curves, pairs, title, out, name)


def _curves(
    rows: dict[str, tuple[str, Array, Array | None]],
    pairs: tuple[tuple[str, str], ...],
    title: str,
    out: Path,
    name: str,
) -> str:
    """Draw a column for every test study, a line for every clusterer and training study."""
    studies = sorted({test for _, test in pairs})
    styles = dict(zip(studies, ("-", "--", ":"), strict=True))
    size = (10.5, 1.2 + 2.8 * len(rows))
    figure, axes = plt.subplots(
        len(rows), 3, figsize=size, layout="constrained", sharex=True, sharey=True, squeeze=False
    )
    for above, (variant, (words, values, sd)) in zip(axes, rows.items(), strict=True):
        for ax, test in zip(above, studies, strict=True):
            _lines(ax, values, sd, [(p, styles[train]) for p, (train, other) in enumerate(pairs) if other == test])
            ax.set_title(f"{variant}: tested on {test}", fontsize=10)
        above[0].set(ylabel=words, ylim=(-0.05, 1.1))
    for ax in axes[-1]:
        ax.set_xlabel("number of clusters k")
    handles = [Line2D([], [], color=colour, label=clusterer) for clusterer, colour in COLOURS.items()]
    handles += [Line2D([], [], color="0.3", ls=style, label=f"trained on {study}") for study, style in styles.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=11)
    return save(figure, out, name)


def _lines(ax: Any, values: Array, sd: Array | None, trainings: list[tuple[int, str]]) -> None:
    for c, name in enumerate(CLUSTERERS):
        for i, (p, style) in enumerate(trainings):
            ax.errorbar(
                np.array(KS) + 0.05 * (2 * c + i - 2.5),
                values[c, :, p],
                None if sd is None else sd[c, :, p],
                lw=1.2,
                color=COLOURS[name],
                ls=style,
            )


def local(test: cr.Study, runs: Runs, out: Path, name: str) -> str:
    """Draw the patients by cluster, by score with AMI (the text) and ARI (the published colours), and the clusters."""
    ami, ari = (runs[agreement, *SHOWN] for agreement in ("ami", "ari"))
    with threadpool_limits(1):  # the same bytes whatever the number of cores
        xy = TSNE(init="pca", random_state=0, n_jobs=1).fit_transform(test.X)
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 9), layout="constrained")
    a, b, c, d = axes.flat
    for cluster in np.unique(ami.labels):
        a.scatter(*xy[ami.labels == cluster].T, s=16, label=cluster)
    a.set_title("(a) clusters, named after the subtypes matched to them")
    a.legend(frameon=False)
    ami.plot(b, points=xy)
    ari.plot(c, points=xy)
    ari.plot(d, kind="clusters")
    for ax, words in ((b, "(b) local scores by AMI"), (c, "(c) local scores by ARI"), (d, "(d) clusters, by ARI")):
        ax.title.set_text(words)
    for ax in (a, b, c):
        ax.set(xlabel="first t-SNE coordinate", ylabel="second t-SNE coordinate")
    figure.suptitle(
        f"Breast cancer, three genes, as written: k-means, k = 4, trained on {SHOWN[0]}, tested on {SHOWN[1]}",
        fontsize=11,
    )
    return save(figure, out, name)
