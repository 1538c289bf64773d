"""Result → matplotlib Axes. Draws on the axes given, returns them, and leaves matplotlib's settings alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement import shown
from clustrep.errors import DataError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import Comparison, LocalReplicability, Replicability

# Okabe & Ito's colours, told apart by the colour-blind, each with a marker of its own for greyscale.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SCORES = "viridis"


def heat_map(result: Replicability, ax: Axes | None = None) -> Axes:
    """Draw the study × study matrix of bootstrap means."""
    ax = _axes(ax)
    mean, sd = result.mean, result.sd
    top = max(1.0, float(np.nanmax(mean)))  # mutual information has no bound
    image = ax.imshow(mean, cmap=SCORES, vmin=0, vmax=top)
    ax.set_xticks(range(len(result.names)), list(result.names), rotation=30, ha="right")
    ax.set_yticks(range(len(result.names)), list(result.names))
    ax.set_xlabel("tested on")
    ax.set_ylabel("trained on")
    for s, t in np.ndindex(mean.shape):
        if np.isfinite(mean[s, t]):
            text = f"{mean[s, t]:.2f}" + (f"\n±{sd[s, t]:.2f}" if np.isfinite(sd[s, t]) else "")
            ax.text(
                t, s, text, ha="center", va="center", color="black" if mean[s, t] > 0.6 * top else "white", fontsize=8
            )
    ax.set_title(_title(result.clusterer, result.n_clusters))
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.04)
    bar.set_label(f"{shown(result.agreement)}, mean ± sd")
    return ax


def curves(result: Comparison, agreement: str, ax: Axes | None = None) -> Axes:
    """Draw the score against the number of clusters: mean over pairs, and the interval over resamples as a band."""
    ax = _axes(ax)
    summary = result.summary()
    summary = summary[summary["agreement"] == agreement]
    for i, name in enumerate(dict.fromkeys(result.clusterers)):
        own = summary[summary["clusterer"] == name]
        colour = COLOURS[i % len(COLOURS)]
        if own["k"].isna().any():
            ax.axhline(own["score"].iloc[0], linestyle="--", color=colour, label=name)
            continue
        own = own.sort_values("k")
        k = own["k"].to_numpy(dtype=int)
        ax.plot(k, own["score"], marker=MARKERS[i % len(MARKERS)], color=colour, label=name)
        ax.fill_between(k, own["low"].to_numpy(float), own["high"].to_numpy(float), color=colour, alpha=0.15, lw=0)
    ks = sorted({k for k in result.n_clusters if k is not None})
    if len(ks) <= 15:
        ax.set_xticks(ks)
    ax.set_xlabel("number of clusters k" if ks else "(no number of clusters to set)")
    ax.set_ylabel(f"{shown(agreement)}, mean over pairs of studies")
    ax.set_ylim(min(0.0, ax.get_ylim()[0]), max(1.02, float(np.nanmax(summary["high"].to_numpy(float))) * 1.02))
    ax.legend(frameon=False)
    return ax


def local_map(result: LocalReplicability, points: ArrayLike | None, ax: Axes | None = None) -> Axes:
    """Draw points coloured by their mean local score, larger where it varies more."""
    if points is None:
        raise ParameterError("points must be given: this result was read from a file, which holds no coordinates.")
    xy = np.asarray(points)
    if xy.ndim != 2 or len(xy) != len(result.samples) or not xy.shape[1]:
        raise DataError(f"points must have {len(result.samples)} rows, got an array of {xy.shape}.")
    if xy.dtype.kind not in "iuf" or not np.isfinite(xy).all():
        raise DataError("points must be numbers, none of them missing or infinite.")
    ax = _axes(ax)
    names = ("first coordinate", "second coordinate")
    if xy.shape[1] == 1:
        xy = np.column_stack([xy, result.mean])
        names = ("the feature", f"mean local {shown(result.agreement)}")
    elif xy.shape[1] > 2:
        u, s, _ = np.linalg.svd(xy - xy.mean(axis=0), full_matrices=False)
        xy = u[:, :2] * s[:2]
        names = ("first principal component", "second principal component")
    drawn = ax.scatter(
        xy[:, 0], xy[:, 1], c=result.mean, s=12 + 120 * np.nan_to_num(result.sd), cmap=SCORES, vmin=0, vmax=1, lw=0
    )
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.set_title(f"{_title(result.clusterer, result.n_clusters)}: {result.train} on {result.test}")
    bar = ax.figure.colorbar(drawn, ax=ax)
    bar.set_label(f"local {shown(result.agreement)}, mean (size: sd)")
    return ax


def _axes(ax: Axes | None) -> Axes:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    if isinstance(ax, Axes):
        return ax
    if ax is not None:
        raise ParameterError(f"ax must be a matplotlib Axes, got {type(ax).__name__}.")

    return plt.subplots(layout="constrained")[1]


def _title(clusterer: str, n_clusters: int | None) -> str:
    return clusterer if n_clusters is None else f"{clusterer}, k = {n_clusters}"
