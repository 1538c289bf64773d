"""Result → matplotlib Axes. Draws on the axes given, returns them, and leaves matplotlib's settings alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustrep._validation import check_choice
from clustrep.agreement import shown
from clustrep.errors import DataError, ParameterError
from clustrep.results.common import quiet, tails
from clustrep.results.curves import PredictionStrength
from clustrep.results.stability import DISSOLVED, RECOVERED, full_name
from clustrep.results.validation import INDICES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import (
        AssignmentConsistency,
        ClusterTest,
        Comparison,
        Consensus,
        Counterparts,
        InGroupProportion,
        LeaveOneStudyOut,
        LocalReplicability,
        NullReference,
        Replicability,
        Sensitivity,
        Stability,
        StudyRelations,
        Validation,
    )
    from clustrep.results.curves import Curve

# Okabe & Ito's colours, told apart by the colour-blind, each with a marker of its own for greyscale.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SCORES = "viridis"
MOST_TICKS = 15
NO_K = "(no number of clusters to set)"


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
    if len(ks) <= MOST_TICKS:
        ax.set_xticks(ks)
    ax.set_xlabel("number of clusters k" if ks else NO_K)
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


def against_null(result: NullReference, agreement: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw scores, and behind them the range of those of data without clusters."""
    if agreement is not None:
        check_choice(agreement, "agreement", result.agreements)
    a = 0 if agreement is None else result.agreements.index(agreement)
    ax = _axes(ax)
    if result.kind == "comparison":
        return _curves_against_null(result, a, ax)
    frame = result.to_frame()
    names = frame["cluster"].astype(str) if result.kind == "local" else frame["train"] + " → " + frame["test"]
    places = np.arange(len(frame))
    ax.vlines(places, frame["null_low"], frame["null_high"], color="0.8", lw=8, label="without clusters, 95 %")
    ax.plot(places, frame["null_mean"], "_", color="0.4", markersize=12)
    ax.plot(places, frame["observed"], "o", color=COLOURS[0], label="observed")
    turned: dict[str, Any] = {} if result.kind == "local" else {"rotation": 30, "ha": "right"}
    ax.set_xticks(places, names.tolist(), **turned)
    ax.set_xlabel("cluster" if result.kind == "local" else "trained → tested")
    ax.set_ylabel(shown(result.agreements[a]))
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


def _curves_against_null(result: NullReference, a: int, ax: Axes) -> Axes:
    """Draw a curve for every clusterer with a k, and a line for one that finds it by itself."""
    with quiet():
        low, high = np.nanquantile(result.overall_distribution[:, :, a], tails(0.95), axis=0)
    all_ks = sorted({k for k in result.n_clusters if k is not None})
    ends = (min(all_ks, default=0) - 0.3, max(all_ks, default=0) + 0.3)
    for i, name in enumerate(dict.fromkeys(result.clusterers)):
        own = [c for c, other in enumerate(result.clusterers) if other == name]
        own.sort(key=lambda c: result.n_clusters[c] or 0)
        style: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)]}
        ks: Sequence[float] = [result.n_clusters[c] or 0 for c in own]
        if result.n_clusters[own[0]] is None:
            ks, own, style["linestyle"] = ends, own * 2, "--"
        else:
            style["marker"] = MARKERS[i % len(MARKERS)]
        ax.plot(ks, result.overall[own, a], label=name, **style)
        band = f"{name}, without clusters (95 %)"
        ax.fill_between(ks, low[own], high[own], color=style["color"], alpha=0.15, lw=0, label=band)
    if not all_ks or len(all_ks) <= MOST_TICKS:
        ax.set_xticks(all_ks)
    ax.set_xlabel("number of clusters k" if all_ks else NO_K)
    ax.set_ylabel(f"{shown(result.agreements[a])}, mean over pairs of studies")
    ax.legend(frameon=False, fontsize=8)
    return ax


def study_tree(result: StudyRelations, ax: Axes | None = None) -> Axes:
    """Draw the tree of studies; those that stand apart are marked."""
    from scipy.cluster.hierarchy import dendrogram

    ax = _axes(ax)
    names = [f"{name} *" if apart else name for name, apart in zip(result.names, result.apart, strict=True)]
    dendrogram(result.tree, labels=names, ax=ax, color_threshold=0, above_threshold_color=COLOURS[0])
    ax.set_ylabel("1 − score, mean of both directions")
    ax.set_xlabel("* stands apart" if result.apart.any() else "study")
    return ax


def counterpart_map(result: Counterparts, train: str, ax: Axes | None = None) -> Axes:
    """Draw a table: one study's clusters, their counterparts in the others, and how far they overlap."""
    ax = _axes(ax)
    s = result.names.index(train)
    others = [t for t in range(len(result.names)) if t != s]
    rows = [i for i, size in enumerate(result.sizes[s]) if size]
    values = np.array([[result.overlap[s, t, i] for t in others] for i in rows])
    image = ax.imshow(values, cmap=SCORES, vmin=0, vmax=1, aspect="auto")
    for y, i in enumerate(rows):
        for x, t in enumerate(others):
            j = result.partner[s, t, i]
            text = f"{result.clusters[t, j]}\n{values[y, x]:.2f}" if j >= 0 else "none"
            colour = "black" if np.nan_to_num(values[y, x]) > 0.6 else "white"
            ax.text(x, y, text, ha="center", va="center", color=colour, fontsize=8)
    ax.set_xticks(range(len(others)), [result.names[t] for t in others])
    ax.set_yticks(range(len(rows)), [result.clusters[s, i] for i in rows])
    ax.set_xlabel("counterpart in")
    ax.set_ylabel(f"cluster of {train}")
    ax.figure.colorbar(image, ax=ax).set_label("overlap (Jaccard)")
    return ax


def left_out(result: LeaveOneStudyOut, ax: Axes | None = None) -> Axes:
    """Draw the score of every study that was left out, with its interval."""
    ax = _axes(ax)
    low, high = result.confidence_interval()
    places = np.arange(len(result.names))
    ax.vlines(places, low, high, color=COLOURS[0], lw=2)
    ax.plot(places, result.mean, "o", color=COLOURS[0], label="bootstrap mean, 95 %")
    ax.plot(places, result.estimate, "_", color="black", markersize=14, label="R̂")
    ax.set_xticks(places, list(result.names))
    ax.set_xlabel("tested on, trained on all others")
    ax.set_ylabel(shown(result.agreement))
    ax.set_ylim(min(0.0, float(np.nan_to_num(low).min())) - 0.03, 1.03)
    ax.legend(frameon=False)
    return ax


# ---------------------------------------------------------------------------------------------------------------------
# one study


def by_cluster(result: Stability, ax: Axes | None = None) -> Axes:
    """Draw a box for every cluster's values over resamples; for the matching distance one in all."""
    ax = _axes(ax)
    values = result.distribution.reshape(len(result.distribution), -1)
    names = ["all"] if result.distribution.ndim == 1 else [str(name) for name in result.clusters]
    columns = [column[~np.isnan(column)] for column in values.T]
    ax.boxplot(columns, widths=0.6, showfliers=False, medianprops={"color": COLOURS[1]}, patch_artist=False)
    spread = np.linspace(-0.22, 0.22, len(values))  # spread by resample number: the same picture every time
    for i, column in enumerate(values.T, 1):
        ax.plot(i + spread, column, ".", color=COLOURS[0], alpha=0.35, markersize=3, zorder=1)
    few = len(names) <= MOST_TICKS
    ax.set_xticks(range(1, len(names) + 1), names if few else [""] * len(names))
    if result.index == "jaccard":
        for level, word, side in ((DISSOLVED, "dissolved", "top"), (RECOVERED, "recovered", "bottom")):
            ax.axhline(level, linestyle=":", color="0.5", lw=1)
            ax.annotate(word, (0.995, level), xycoords=("axes fraction", "data"), ha="right", va=side, color="0.4")
    if result.index not in ("matching", "d"):
        ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("cluster")
    ax.set_ylabel(full_name(result.index, result.relative))
    ax.set_title(_title(result.clusterer, result.n_clusters))
    return ax


def over_scale(result: Sensitivity, ax: Axes | None = None) -> Axes:
    """Draw the mean over resamples against the noise's scale, for every cluster and for all."""
    ax = _axes(ax)
    if result.distribution.ndim == 3:
        for i, (name, curve) in enumerate(zip(result.clusters, result.per_cluster.T, strict=True)):
            style: dict[str, Any] = {"color": COLOURS[i % 6], "marker": MARKERS[i % len(MARKERS)], "lw": 1}
            ax.plot(result.scales, curve, label=f"cluster {name}" if i < 12 else None, **style)
    ax.plot(result.scales, result.overall, color="black", lw=2.5, label="all")
    ax.set_xlabel("noise, in standard deviations of each feature")
    ax.set_ylabel(full_name(result.index, result.relative))
    ax.set_title(_title(result.clusterer, result.n_clusters))
    ax.legend(frameon=False, fontsize=8)
    return ax


def over_k(result: Curve, ax: Axes | None = None) -> Axes:
    """Draw the mean over replicates against k, and the interval as a band."""
    if None in result.n_clusters:
        raise ParameterError("There is no number of clusters to draw against: pass n_clusters.")
    ax = _axes(ax)
    ks = [k for k in result.n_clusters if k is not None]
    order = np.argsort(ks)
    k = np.array(ks)[order]
    low, high = result.confidence_interval()
    ax.plot(k, result.mean[order], marker="o", color=COLOURS[0])
    ax.fill_between(k, low[order], high[order], color=COLOURS[0], alpha=0.15, lw=0)
    if isinstance(result, PredictionStrength):
        ax.axhspan(0.8, 0.9, color="0.9", zorder=0, label="enough, by Tibshirani and Walther")
        ax.legend(frameon=False, fontsize=8)
        ax.set_ylim(0, 1.03)
    else:
        ax.set_ylim(bottom=0)
    if len(ks) <= MOST_TICKS:
        ax.set_xticks(k)
    ax.set_xlabel("number of clusters k")
    ax.set_ylabel(result.title.lower())
    ax.set_title(result.clusterer)
    return ax


def in_group(result: InGroupProportion, ax: Axes | None = None) -> Axes:
    """Draw every cluster's proportion, against the number of neighbours where there are several."""
    ax = _axes(ax)
    values = result.proportions.reshape(len(result.n_neighbors), -1)
    if len(result.n_neighbors) == 1:
        names = [str(name) for name in result.clusters]
        ax.bar(range(len(names)), values[0], color=COLOURS[0], width=0.6)
        ax.set_xticks(range(len(names)), names)
        ax.set_xlabel("cluster")
    else:
        for i, (name, curve) in enumerate(zip(result.clusters, values.T, strict=True)):
            style: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
            ax.plot(result.n_neighbors, curve, label=f"cluster {name}" if i < 12 else None, **style)
        ax.set_xlabel("nearest neighbours that must belong to the cluster")
        ax.set_xticks(list(result.n_neighbors))
        ax.legend(frameon=False, fontsize=8)
    ax.set_ylim(0, 1.03)
    ax.set_ylabel("in-group proportion")
    return ax


def null_histogram(result: ClusterTest, ax: Axes | None = None) -> Axes:
    """Draw the statistic's null distribution, and the data's own value."""
    ax = _axes(ax)
    ax.hist(result.null_distribution, bins=30, color="0.8", edgecolor="white", label="data without clusters")
    ax.axvline(result.statistic, color=COLOURS[1], lw=2, label=f"these data, p = {result.pvalue:.3g}")
    ax.set_xlabel("statistic")
    ax.set_ylabel("data sets")
    ax.legend(frameon=False)
    return ax


def consensus_cdf(result: Consensus, ax: Axes | None = None) -> Axes:
    """Draw the distribution of pairwise consensus for every k, with PAC in the legend."""
    from matplotlib import colormaps

    ax = _axes(ax)
    values = np.linspace(0, 1, 201)
    colours = colormaps[SCORES](np.linspace(0, 0.9, len(result.n_clusters)))
    for k, pac, colour in zip(result.n_clusters, result.pac(), colours, strict=True):
        name = "PAC" if k is None else f"k = {k}, PAC"
        ax.plot(values, result.cdf(values.tolist(), k), color=colour, label=f"{name} {pac:.2f}")
    ax.set_xlabel("consensus of a pair")
    ax.set_ylabel("share of pairs at most so high")
    ax.set_ylim(0, 1.02)
    ax.set_title(result.clusterer)
    ax.legend(frameon=False, fontsize=8)
    return ax


def assignments(result: AssignmentConsistency, ax: Axes | None = None) -> Axes:
    """Draw every cluster's consistency, and the total as a line, against k."""
    ax = _axes(ax)
    order = sorted(range(len(result.n_clusters)), key=lambda i: result.n_clusters[i] or 0)
    for place, i in enumerate(order):
        row = result.cri[i]
        ax.plot([place] * len(row), row, ".", color=COLOURS[0], alpha=0.6, label=None if place else "clusters")
    ax.plot(range(len(order)), result.twcri[order], marker="o", color=COLOURS[1], label="all samples")
    ax.set_xticks(range(len(order)), [str(result.n_clusters[i] or "") for i in order])
    ax.set_ylim(0, 1.03)
    ax.set_xlabel("number of clusters k")
    ax.set_ylabel("assignment consistency")
    ax.set_title(result.clusterer)
    ax.legend(frameon=False, fontsize=8)
    return ax


def small_multiples(result: Validation) -> NDArray[Any]:
    """Draw a panel for every index over k: clusters as points, the whole partition as a line with its interval."""
    import matplotlib.pyplot as plt

    indices = [index for index in INDICES if index in result.index and index != "test"]
    if not indices:
        raise ParameterError("There is no index to draw over k: the test for clusters is one p-value.")
    n_columns = min(4, len(indices))
    n_rows = -(-len(indices) // n_columns)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(3.1 * n_columns, 2.4 * n_rows), layout="constrained", squeeze=False
    )
    for ax, index in zip(axes.flat, indices, strict=False):
        _panel(result, index, ax)
    for ax in axes.flat[len(indices) :]:
        ax.set_visible(False)
    tested = "" if result.pvalue is None else f"; test for clusters: p = {result.pvalue:.3g}"
    figure.suptitle(f"{result.clusterer}{tested}", fontsize=11)
    return np.asarray(axes)


def _panel(result: Validation, index: str, ax: Axes) -> None:
    name, higher = INDICES[index]
    own = result.index == index
    whole, cluster = own & result.whole, own & ~result.whole
    order = np.argsort(result.k[whole])
    k, value = result.k[whole][order], result.value[whole][order]
    ax.plot(result.k[cluster], result.value[cluster], ".", color="0.55", markersize=4, alpha=0.7)
    low, high = result.low[whole][order], result.high[whole][order]
    ax.fill_between(k, low, high, color=COLOURS[0], alpha=0.15, lw=0)
    ax.plot(k, value, marker="o", markersize=4, color=COLOURS[0])
    ax.set_title(f"{name} ({'high' if higher else 'low'} is good)", fontsize=8)
    largest = float(np.nan_to_num(result.value[own]).max())
    ax.set_ylim(0, max(1.03, 1.05 * largest) if higher or not largest else None)
    if len(k) <= 12:
        ax.set_xticks(k, ["" if one < 0 else str(one) for one in k])
    ax.tick_params(labelsize=7)
    ax.set_xlabel("k", fontsize=7)


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
