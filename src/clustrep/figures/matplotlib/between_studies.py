"""Figures of several studies: the study × study matrix, curves over k, data without clusters, relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clustrep.checks import check_choice
from clustrep.figures.matplotlib.style import (
    COLOURS,
    DASHES,
    DOUBLE,
    HATCHES,
    MARKERS,
    SINGLE,
    canvas,
    cell_size,
    colour_bar,
    evenly,
    heading,
    height_for,
    in_legend,
    largest,
    legend_above,
    literal,
    look,
    names_below,
    panels,
    score_colours,
    smallest,
    ticks_at,
    write_cells,
)
from clustrep.results.base import quiet, tails
from clustrep.tables.agreement import shown
from clustrep.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from clustrep.results import (
        Comparison,
        Counterparts,
        LeaveOneStudyOut,
        NullReference,
        Replicability,
        StudyRelations,
    )


NO_K = "(no number of clusters to set)"

NULL_NAME = "without clusters, 95 %"

MOST_COLUMNS = 6

MOST_ROWS = 30

WIDE_FROM = 10


# ---------------------------------------------------------------------------------------------------------------------
# one clusterer: the study × study matrix


def heat_map(result: Replicability, ax: Axes | None = None) -> Axes:
    """Draw the study × study matrix of bootstrap means."""
    S = len(result.names)
    names = [literal(name, 20) for name in result.names]
    long = S > 6 or max(map(len, names)) > 12
    with canvas(ax, DOUBLE if long else SINGLE, max(0.85 * SINGLE, 0.5 * S + 1) if long else 0.85 * SINGLE) as ax:
        mean, sd = result.mean, result.sd
        top = largest(mean)
        image = ax.imshow(mean, cmap=score_colours(), vmin=0, vmax=top)
        names_below(ax, range(S), names, square=True)
        ax.set_yticks(range(S), names)
        ax.spines[:].set_visible(False)
        ax.set_xlabel("tested on")
        ax.set_ylabel("trained on")
        ax.set_title(heading(result.clusterer, result.n_clusters))
        colour_bar(image, ax, f"{literal(shown(result.agreement))}, mean ± sd", fraction=0.046, pad=0.04)
        with_sd = cell_size(ax, mean.shape, 5, 2)
        size = with_sd or cell_size(ax, mean.shape, 4, 1)
        if size:
            spread = sd if with_sd else np.full_like(sd, np.nan)
            write_cells(ax, mean, _cells(mean, spread), top, size)
        return ax


def _cells(mean: FloatArray, sd: FloatArray) -> list[list[str]]:
    """Write every score; a pair without one has a dash, a study against itself nothing."""
    texts = [["–"] * len(mean) for _ in mean]
    for s, t in np.ndindex(mean.shape):
        if np.isfinite(mean[s, t]):
            texts[s][t] = f"{mean[s, t]:.2f}" + (f"\n±{sd[s, t]:.2f}" if np.isfinite(sd[s, t]) else "")
        elif s == t:
            texts[s][t] = ""
    return texts


def strips(result: Replicability, ax: Axes | None = None) -> Axes:
    """Draw all resamples of every pair of different studies, with mean ± sd and R̂."""
    mean, sd = result.mean, result.sd
    pairs = [(s, t) for s, t in np.ndindex(mean.shape) if s != t]
    title = heading(result.clusterer, result.n_clusters)
    if len(pairs) > MOST_ROWS:
        title += f"\n{MOST_ROWS} of {len(pairs)} pairs: the widest spread"
        widest = np.argsort([-np.nan_to_num(sd[pair]) for pair in pairs], kind="stable")[:MOST_ROWS]
        pairs = [pairs[i] for i in sorted(widest)]
    with canvas(ax, SINGLE, 0.9 + 0.19 * len(pairs)) as ax:
        spread = np.linspace(-0.3, 0.3, len(result.distribution))  # by resample number
        for y, (s, t) in enumerate(pairs):
            scores = result.distribution[:, s, t]
            label = "resamples" if y == 0 else None
            ax.plot(scores, y + spread, ".", color=COLOURS[0], alpha=0.4, markersize=3, mew=0, label=label, zorder=1)
        places = np.arange(len(pairs))
        means, sds, estimates = (np.array([values[pair] for pair in pairs]) for values in (mean, sd, result.estimate))
        ax.hlines(places, means - sds, means + sds, color="black", lw=1.2)
        ax.plot(means, places, "o", color="black", markersize=3.5, label="mean ± sd")
        ax.plot(estimates, places, "D", color=COLOURS[1], markerfacecolor="white", markersize=4, label="R̂")
        names = [f"{literal(result.names[s], 20)} → {literal(result.names[t], 20)}" for s, t in pairs]
        ax.set_yticks(places, names)
        ax.set_ylim(len(pairs) - 0.4, -0.6)
        everything = [result.distribution, result.estimate, means + sds]
        ax.set_xlim(min(smallest(values) for values in everything) - 0.03, max(map(largest, everything)) + 0.03)
        ax.set_xlabel(literal(shown(result.agreement)))
        legend_above(ax, title)
        return ax


# ---------------------------------------------------------------------------------------------------------------------
# several clusterers and numbers of clusters


def curves(result: Comparison, agreement: str, ax: Axes | None = None, reference: NullReference | None = None) -> Axes:
    """Draw the score against k: mean over pairs, its interval as a band, ± sd over resamples as bars.

    With a reference, also the range of scores without clusters, and what it is the range of: R̂ or the same mean.
    """
    from matplotlib.lines import Line2D

    a = result.agreements.index(agreement)
    summary = result.summary()
    summary = summary[summary["agreement"] == agreement]  # a row for every configuration, in their order
    score, low, high = (summary[name].to_numpy(float) for name in ("score", "low", "high"))
    with quiet():
        averages = result.distribution[:, a][..., ~np.eye(len(result.names), dtype=bool)].mean(axis=-1)
        sd = np.nanstd(averages, axis=-1, ddof=1)  # (n_configurations,)
    groups = _by_clusterer(result)
    ks = [k for k in result.n_clusters if k is not None]
    wide = len(groups) > 2 or len(set(ks)) > 12
    handles: list[Artist] = []
    with canvas(ax, DOUBLE if wide else SINGLE, 0.85 * SINGLE if wide or reference else 0.75 * SINGLE) as ax:
        beyond = float(max(ks, default=-1))
        step = max(0.5, (max(ks) - min(ks)) / 25) if ks else 1.0
        for i, (name, own) in enumerate(groups.items()):
            colour, marker, line = look(i)
            if result.n_clusters[own[0]] is None:
                beyond += step
                at, line = np.array([beyond]), DASHES[i % len(DASHES)]
                ax.axhline(score[own[0]], linestyle=line, color=colour, label=in_legend(name), lw=1)
                ax.vlines(at, low[own], high[own], color=colour, alpha=0.25, lw=4)
                ax.scatter(at, score[own], color=colour, marker=marker, s=16, zorder=3)
            else:
                at = np.array([result.n_clusters[c] for c in own], dtype=float)
                few = len(at) <= 20
                style: dict[str, Any] = {"marker": marker if few else None, "markersize": 4, "linestyle": line}
                ax.plot(at, score[own], color=colour, label=in_legend(name), **style)
                if not few:
                    ax.scatter(at[i % 3 :: 3], score[own][i % 3 :: 3], color=colour, marker=marker, s=12, zorder=3)
                ax.fill_between(at, low[own], high[own], color=colour, alpha=0.13, lw=0)
            ax.vlines(at, score[own] - sd[own], score[own] + sd[own], color=colour, lw=0.9)
            handles.append(Line2D([], [], color=colour, marker=marker, ls=line, markersize=4, label=in_legend(name)))
            if reference is not None:
                _null_band(reference, own, a, at, i if len(groups) > 1 else None, ax)
        handles += _explained(reference, len(groups) > 1)
        ticks_at(ax, sorted(set(ks)))
        ax.set_xlabel("number of clusters k" if ks else NO_K)
        ax.set_ylabel(f"{literal(shown(agreement))}, mean over pairs of studies")
        ax.set_ylim(min(0.0, ax.get_ylim()[0]), 1.02 * max(largest(high), largest(score + sd)))
        legend_above(ax, handles=handles)
        return ax


def _by_clusterer(result: Comparison | NullReference) -> dict[str, list[int]]:
    """Return every clusterer's configurations, by k."""
    order = sorted(range(len(result.clusterers)), key=lambda c: result.n_clusters[c] or 0)
    return {name: [c for c in order if result.clusterers[c] == name] for name in dict.fromkeys(result.clusterers)}


def _explained(reference: NullReference | None, several: bool) -> list[Artist]:
    """Say what bars and bands are."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    words: list[Artist] = [
        Line2D([], [], color="0.3", marker="|", ls="", markersize=7, label="± sd over resamples"),
        Patch(facecolor="0.85", label="95 % interval"),
    ]
    if reference is not None:
        what = "R̂ " if reference.statistic == "estimate" else ""
        fill: dict[str, Any] = {"hatch": HATCHES[0], "facecolor": "none", "edgecolor": "0.5"}
        words.append(Patch(**fill if several else {"facecolor": "0.7"}, lw=0, label=f"{what}{NULL_NAME}"))
        if what:
            style: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "color": "0.3", "ls": ""}
            words.append(Line2D([], [], markersize=6, label="R̂ of the studies", **style))
    return words


def _null_band(reference: NullReference, own: list[int], a: int, at: FloatArray, i: int | None, ax: Axes) -> None:
    """Draw the range without clusters: grey for one clusterer, hatched in its colour for the i-th of several."""
    overall = reference.overall_distribution[:, own, a]
    with quiet():
        low, high = np.nanquantile(overall, tails(0.95), axis=0)
        mean = np.nanmean(overall, axis=0)
    band, ends = at, [0] * 2 if len(at) == 1 else list(range(len(at)))
    if len(at) == 1:  # a single number of clusters has no width of its own
        band = np.array([at[0] - 0.2, at[0] + 0.2])
    if i is None:
        ax.fill_between(band, low[ends], high[ends], color="0.7", alpha=0.6, lw=0, zorder=0.5)
        ax.plot(band, mean[ends], "--", color="0.35", lw=1)
    else:
        hatched: dict[str, Any] = {"facecolor": "none", "hatch": HATCHES[i % len(HATCHES)], "lw": 0}
        edge = COLOURS[i % len(COLOURS)]
        ax.fill_between(band, low[ends], high[ends], edgecolor=edge, alpha=0.55, zorder=0.5, **hatched)
    if reference.statistic == "estimate":
        open_mark: dict[str, Any] = {"marker": MARKERS[(i or 0) % len(MARKERS)], "facecolors": "none", "s": 34}
        ax.scatter(at, reference.overall[own, a], edgecolors=COLOURS[(i or 0) % len(COLOURS)], lw=0.8, **open_mark)


def matrices(result: Comparison, agreement: str) -> NDArray[Any]:
    """Draw a study × study matrix for every clusterer, a row each, and k, a column each."""
    a = result.agreements.index(agreement)
    all_ks = sorted({k for k in result.n_clusters if k is not None})
    ks = [all_ks[i] for i in evenly(len(all_ks), MOST_COLUMNS)]
    groups = _by_clusterer(result)
    names = [literal(name, 16) for name in result.names]
    n_columns = max(len(ks), 1)
    width = SINGLE if n_columns * len(names) <= 8 else DOUBLE
    margin = 0.4 + 0.06 * max(map(len, names))
    side = min((width - margin - 0.8) / n_columns - 0.1, 2.4)
    with quiet():
        means = np.nanmean(result.distribution[:, a], axis=1)  # (n_configurations, S, S)
    drawn: dict[Axes, int] = {}
    titled: set[int | None] = set()
    alone = None in result.n_clusters and bool(ks)
    height = 0.3 + 0.25 * (len(ks) < len(all_ks)) + margin * (1 + alone) + len(groups) * (side + 0.12)
    with panels(len(groups), n_columns, width, height) as (figure, axes):
        for row, (name, own) in zip(axes, groups.items(), strict=True):
            by_k = {result.n_clusters[c]: c for c in own}
            for ax, k in zip(row, [None] if None in by_k else ks, strict=False):
                if k in by_k:
                    drawn[ax] = by_k[k]
                    ax.set_title("" if k in titled else "its own k" if k is None else f"k = {k}")
                    titled.add(k)
            row[0].set_ylabel(literal(name, 24))
        for ax in axes.flat:
            ax.set_visible(ax in drawn)
        for ax, c in drawn.items():
            image = ax.imshow(means[c], cmap=score_colours(), vmin=0, vmax=largest(means))
            _name_edges(ax, names, left=ax in axes[:, 0], below=not _has_below(ax, axes))
        figure.supxlabel("tested on", fontsize=8)
        figure.supylabel("trained on", fontsize=8)
        if len(ks) < len(all_ks):
            figure.suptitle(f"{len(ks)} of {len(all_ks)} numbers of clusters, those nearest to evenly spaced ones")
        colour_bar(image, list(drawn), f"{literal(shown(agreement))}, bootstrap mean", aspect=30, shrink=0.8)
        size = cell_size(next(iter(drawn)), means.shape[1:], 3, 1)
        if size:
            for ax, c in drawn.items():
                write_cells(ax, means[c], _short_cells(means[c]), largest(means), size)
        return np.asarray(axes)


def _short_cells(mean: FloatArray) -> list[list[str]]:
    """Write every score in three letters: .85, 1."""
    texts = _cells(mean, np.full_like(mean, np.nan))
    return [["1" if text == "1.00" else text.replace("0.", ".", 1) for text in row] for row in texts]


def _name_edges(ax: Axes, names: Sequence[str], *, left: bool, below: bool) -> None:
    """Write the studies' names, at the outer edges of a grid alone."""
    ax.set_xticks(range(len(names)), list(names), rotation=90)
    ax.set_yticks(range(len(names)), list(names))
    ax.tick_params(length=2, labelleft=left, labelbottom=below)
    ax.spines[:].set_visible(False)


def _has_below(ax: Axes, axes: NDArray[Any]) -> bool:
    """Whether another matrix stands below these axes."""
    row, column = np.argwhere(axes == ax)[0]
    return any(other.get_visible() for other in axes[row + 1 :, column])


# ---------------------------------------------------------------------------------------------------------------------
# data without clusters


def against_null(result: NullReference, agreement: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw scores, and behind them the range of those of data without clusters."""
    if agreement is not None:
        check_choice(agreement, "agreement", result.agreements)
    a = 0 if agreement is None else result.agreements.index(agreement)
    if result.kind == "comparison":
        return _curves_against_null(result, a, ax)
    frame, title = result.to_frame(), ""
    if len(frame) > MOST_ROWS:
        what = "clusters" if result.kind == "local" else "pairs"
        title = f"{MOST_ROWS} of {len(frame)} {what}: the largest excess"
        most = np.argsort(-frame["excess"].fillna(-np.inf).to_numpy(), kind="stable")[:MOST_ROWS]
        frame = frame.iloc[np.sort(most)]
    if result.kind == "local":
        names = [literal(name) for name in frame["cluster"]]
    else:
        ends = zip(frame["train"], frame["test"], strict=True)
        names = [f"{literal(train, 16)} → {literal(test, 16)}" for train, test in ends]
    with canvas(ax, SINGLE if len(frame) <= WIDE_FROM else DOUBLE, height_for(names)) as ax:
        places = np.arange(len(frame))
        ax.vlines(places, frame["null_low"], frame["null_high"], color="0.8", lw=8, label=NULL_NAME)
        ax.plot(places, frame["null_mean"], "_", color="0.4", markersize=10)
        ax.plot(places, frame["observed"], "o", color=COLOURS[0], label="observed")
        names_below(ax, places, names)
        ax.set_xlim(-0.6, len(frame) - 0.4)
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
        ax.set_xlabel("cluster" if result.kind == "local" else "trained → tested")
        ax.set_ylabel(literal(shown(result.agreements[a])))
        legend_above(ax, title)
        return ax


def _curves_against_null(result: NullReference, a: int, ax: Axes | None) -> Axes:
    """Draw a curve for every clusterer with a k, and a line for one that finds it by itself."""
    with quiet():
        low, high = np.nanquantile(result.overall_distribution[:, :, a], tails(0.95), axis=0)
    all_ks = sorted({k for k in result.n_clusters if k is not None})
    ends = (min(all_ks, default=0) - 0.3, max(all_ks, default=0) + 0.3)
    groups = _by_clusterer(result)
    wide = len(groups) > 2 or len(all_ks) > 12
    with canvas(ax, DOUBLE if wide else SINGLE, 0.8 * SINGLE) as ax:
        for i, (name, own) in enumerate(groups.items()):
            colour, marker, line = look(i)
            style: dict[str, Any] = {"marker": marker, "linestyle": line}
            ks: Sequence[float] = [result.n_clusters[c] or 0 for c in own]
            if result.n_clusters[own[0]] is None:
                ks, own, style = ends, own * 2, {"linestyle": DASHES[i % len(DASHES)]}
            ax.plot(ks, result.overall[own, a], label=in_legend(name), color=colour, **style)
            band: dict[str, Any] = {"label": f"{literal(name)}, {NULL_NAME}", "lw": 0}
            if len(groups) == 1:
                band |= {"color": colour, "alpha": 0.15}
            else:
                band |= {"facecolor": "none", "edgecolor": colour, "hatch": HATCHES[i % len(HATCHES)], "alpha": 0.6}
            ax.fill_between(ks, low[own], high[own], **band)
        ticks_at(ax, all_ks)
        ax.set_xlabel("number of clusters k" if all_ks else NO_K)
        ax.set_ylabel(f"{literal(shown(result.agreements[a]))}, mean over pairs of studies")
        legend_above(ax)
        return ax


# ---------------------------------------------------------------------------------------------------------------------
# relations between studies


def study_tree(result: StudyRelations, ax: Axes | None = None) -> Axes:
    """Draw the tree of studies; those that stand apart are marked."""
    from scipy.cluster.hierarchy import dendrogram

    names = [literal(name, 24) + " *" * bool(apart) for name, apart in zip(result.names, result.apart, strict=True)]
    with canvas(ax, height=height_for(names)) as ax:
        drawn = dendrogram(result.tree, no_labels=True, ax=ax, color_threshold=0, above_threshold_color=COLOURS[0])
        names_below(ax, 5 + 10 * np.arange(len(names)), [names[i] for i in drawn["leaves"]])
        ax.set_ylabel("1 − score, mean of both directions")
        ax.set_xlabel("* stands apart" if result.apart.any() else "study")
        return ax


def counterpart_map(result: Counterparts, train: str, ax: Axes | None = None) -> Axes:
    """Draw a table: one study's clusters, their counterparts in the others, and how far they overlap."""
    s = result.names.index(train)
    others = [t for t in range(len(result.names)) if t != s]
    rows = [i for i, size in enumerate(result.sizes[s]) if size]
    values = np.array([[result.overlap[s, t, i] for t in others] for i in rows])
    width = SINGLE if len(others) <= 4 else DOUBLE
    below = [literal(result.names[t], 20) for t in others]
    with canvas(ax, width, height_for(below, max(0.7 * SINGLE, 0.9 + 0.3 * len(rows)))) as ax:
        image = ax.imshow(values, cmap=score_colours(), vmin=0, vmax=1, aspect="auto")
        partners = [[result.partner[s, t, i] for t in others] for i in rows]
        found: BoolArray = np.array(partners) >= 0
        names = [
            [literal(result.clusters[t, j], 16) if j >= 0 else "none" for t, j in zip(others, row, strict=True)]
            for row in partners
        ]
        names_below(ax, range(len(others)), below)
        ax.set_yticks(range(len(rows)), [literal(result.clusters[s, i]) for i in rows])
        ax.spines[:].set_visible(False)
        ax.set_xlabel("counterpart in")
        ax.set_ylabel(f"cluster of {literal(train, 14)}")
        colour_bar(image, ax, "overlap (Jaccard)")
        longest = max(len(name) for row in names for name in row)
        size = cell_size(ax, values.shape, max(4, longest), 2)
        if size:
            texts = [
                [f"{name}\n{value:.2f}" if there else name for name, value, there in zip(*row, strict=True)]
                for row in zip(names, values, found, strict=True)
            ]
            write_cells(ax, values, texts, 1.0, size)
        return ax


def left_out(result: LeaveOneStudyOut, ax: Axes | None = None) -> Axes:
    """Draw the score of every study that was left out, with its interval."""
    low, high = result.confidence_interval()
    names = [literal(name, 24) for name in result.names]
    with canvas(ax, height=height_for(names)) as ax:
        places = np.arange(len(names))
        ax.vlines(places, low, high, color=COLOURS[0], lw=2)
        ax.plot(places, result.mean, "o", color=COLOURS[0], label="bootstrap mean, 95 %")
        ax.plot(places, result.estimate, "_", color="black", markersize=12, label="R̂")
        names_below(ax, places, names)
        ax.set_xlim(-0.6, len(places) - 0.4)
        ax.set_xlabel("tested on, trained on all others")
        ax.set_ylabel(literal(shown(result.agreement)))
        top = max(largest(high), largest(result.estimate))
        ax.set_ylim(smallest(low) - 0.03, top + 0.03)
        legend_above(ax)
        return ax
