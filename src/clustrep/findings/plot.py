"""The figures of findings: clusters × studies, density valleys, features, and the map of all samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.errors import ParameterError
from clustrep.findings.features import clear_features
from clustrep.findings.result import FOUND, MERGED, NOT_FOUND, SIGNS, SPLIT, UNDETERMINED, UNMATCHED, Findings
from clustrep.plots.canvas import (
    DOUBLE,
    SINGLE,
    canvas,
    cell_size,
    colour_bar,
    height_for,
    in_legend,
    legend_above,
    literal,
    look,
    look_of_cluster,
    names_below,
    panels,
)
from clustrep.summaries import FALSE_FINDING, quiet
from clustrep.text import p_text
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.findings.annotations import Annotations

# Okabe & Ito's colours, and hatches for readers who do not see them; the sign shows the status without either.
SHADES = {FOUND: "#009E73", NOT_FOUND: "#D55E00", SPLIT: "#56B4E9", MERGED: "#E69F00", UNDETERMINED: "0.6"}
HATCHES = {FOUND: "", NOT_FOUND: "", SPLIT: "////", MERGED: "....", UNDETERMINED: "xxxx"}
# Of a bar in its cell: where it begins, how wide one of 100 % is, where it lies below the middle, how high it is.
LEFT, WIDTH, BELOW, HEIGHT = -0.43, 0.86, 0.06, 0.26
WIDE_FROM = 7  # studies
# Rows of one figure: more do not fit on a page.
MOST_VALLEYS, MOST_FEATURES = 30, 25
MOST_BY_CLUSTER = 6  # features
LARGEST_DOT, DOTS_SHOWN = 60, (0.25, 0.5, 1.0)
# Columns of clusters × studies that have room for the studies' names.
MOST_NAMED = 24
# Differences of at least this many sd have a sign in their cell, for readers without colours: a large one (Cohen 1988).
SIGNED = 0.8
# With more samples, vector files hold them as one picture: this many take a quarter of a megabyte.
MOST_VECTORS = 2500
NO_CLUSTER = "no cluster"
MOST_IN_TWO = 4  # studies whose maps stand in two columns; more have three


def draw_findings(findings: Findings, ax: Axes | None = None) -> Axes:
    """Draw the table of clusters × studies: a sign for the status, a bar for the share, percentages where they fit."""
    names = [literal(name, 20) for name in findings.names]
    n_rows, n_columns = findings.n_clusters, len(names)
    share = findings.counts / findings.sizes
    height = height_for(names, max(0.45 * SINGLE, 0.85 + 0.34 * n_rows))
    with canvas(ax, SINGLE if n_columns < WIDE_FROM else DOUBLE, height) as ax:
        ax.set_xlim(-0.5, n_columns - 0.5)
        ax.set_ylim(n_rows - 0.5, -0.5)
        names_below(ax, range(n_columns), names)
        ax.set_yticks(range(n_rows), [literal(name) for name in findings.letters])
        ax.set_ylabel("cluster")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        present = [f"{sign} {status}" for status, sign in SIGNS.items() if (findings.status == status).any()]
        ax.set_xlabel(f"{', '.join(present)}\nbar: share of the study's samples", fontsize=7)
        size = cell_size(ax, (n_rows, n_columns), 7, 2)
        for c, s in np.ndindex(n_rows, n_columns):
            _draw_cell(ax, c, s, str(findings.status[c, s]), float(share[c, s]), size)
        return ax


def _draw_cell(ax: Axes, c: int, s: int, status: str, share: float, size: float | None) -> None:
    """Draw one cell: the frame is 100 % of the study's samples."""
    from matplotlib.patches import Rectangle

    corner = (s + LEFT, c + BELOW)
    ax.add_patch(Rectangle(corner, WIDTH, HEIGHT, facecolor="none", edgecolor="0.75", lw=0.5))
    fill: dict[str, Any] = {"facecolor": SHADES[status], "edgecolor": "black", "hatch": HATCHES[status], "lw": 0}
    ax.add_patch(Rectangle(corner, WIDTH * share, HEIGHT, **fill))
    amount = "–" if status == UNDETERMINED else percent_of(share)
    text = SIGNS[status] if size is None else f"{SIGNS[status]} {amount}"
    ax.text(s, c - 0.18, text, ha="center", va="center", fontsize=size or 7)


def percent_of(share: float) -> str:
    """Write a share in whole percent; only none is 0 %, only all is 100 %.

    Examples
    --------
    >>> percent_of(0.256), percent_of(0.001), percent_of(0.999), percent_of(0.0)
    ('26 %', '< 1 %', '> 99 %', '0 %')
    """
    if 0 < share < 0.005:
        return "< 1 %"
    if 0.995 <= share < 1:
        return "> 99 %"
    return f"{100 * share:.0f} %"


# ---------------------------------------------------------------------------------------------------------------------
# density valleys


def draw_valleys(findings: Findings, ax: Axes | None = None) -> Axes:
    """Draw the depth of the valley beside every cluster in every study; the shallowest where there are many."""
    table = findings.table()
    table = table[table["valley_depth"].notna()]
    if table.empty:
        raise ParameterError("kind must not be 'valleys' for findings without density valleys.", parameter="kind")
    shown = table.loc[np.sort(table["valley_depth"].nsmallest(MOST_VALLEYS).index)]
    with canvas(ax, SINGLE, 0.9 + 0.16 * len(shown)) as ax:
        for y, row in enumerate(shown.to_dict("records")):
            colour, is_clear = look_of_cluster(row["cluster"], 0).colour, row["valley_p"] <= FALSE_FINDING
            fill: dict[str, Any] = {"color": colour} if is_clear else {"facecolor": "white", "edgecolor": colour}
            ax.barh(y, row["valley_depth"], height=0.62, lw=0.8, hatch="" if is_clear else "////", **fill)
            text = f"{100 * row['valley_depth']:.0f} %, {p_text(row['valley_p'])}"
            ax.text(1.02, y, text, va="center", fontsize=6.5, transform=ax.get_yaxis_transform())
        ax.set_yticks(range(len(shown)), [f"{row.cluster}, {literal(row.study, 18)}" for row in shown.itertuples()])
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.set_xlim(0, 1)
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xticks([0, 0.5, 1], ["0 %\nno valley", "50 %", "100 %\nempty valley"])
        ax.set_xlabel("valley depth; hatched: not significant")
        if len(shown) < len(table):
            ax.set_title(f"{len(shown)} of {len(table)} entries: the shallowest valleys")
        return ax


# ---------------------------------------------------------------------------------------------------------------------
# features


def features_shown(findings: Findings) -> pd.DataFrame:
    """Return the clearest features of every cluster, with their difference in every study ("effect in NAME").

    Those that describe a cluster; where none do, those with the smallest p-values.
    """
    clear = clear_features(findings)
    table = clear if len(clear) else findings.features()
    most = max(2, min(MOST_BY_CLUSTER, MOST_FEATURES // findings.n_clusters))
    shown = table.groupby("cluster", sort=False).head(most).reset_index(drop=True)
    places = [
        (findings.letters.index(cluster), findings.feature_names.index(feature))
        for cluster, feature in zip(shown["cluster"], shown["feature"], strict=True)
    ]
    for s, name in enumerate(findings.names):
        shown[f"effect in {name}"] = [float(findings.effect[c, s, f]) for c, f in places]
    return shown


def draw_features(findings: Findings, ax: Axes | None = None) -> Axes:
    """Draw features × clusters × studies: how much higher or lower each cluster is than the others."""
    names, places = _names_and_places(findings, "features")
    values = np.moveaxis(findings.effect[:, :, places].astype(float), 2, 0)
    return _heat_map(values, names, findings.letters, findings.names, "difference, sd", ax)


def _names_and_places(findings: Findings, kind: str) -> tuple[list[str], list[int]]:
    """Return the features that are drawn, and where they are among all."""
    if not findings.feature_names:
        raise ParameterError(f"kind must not be {kind!r} for findings without features.", parameter="kind")
    names = list(dict.fromkeys(features_shown(findings)["feature"]))[:MOST_FEATURES]
    return names, [findings.feature_names.index(name) for name in names]


def dots_shown(findings: Findings) -> pd.DataFrame:
    """Return the features of `draw_dots` by cluster: cluster, feature, above_zero, effect; means over studies."""
    if not findings.above_zero.size:
        raise ParameterError("kind must not be 'dots' for features that are no counts.", parameter="kind")
    names, places = _names_and_places(findings, "dots")
    with quiet():
        effect = np.nanmean(findings.effect[:, :, places].astype(float), axis=1)  # (n_clusters, n_shown)
    c, f = (axis.ravel() for axis in np.indices(effect.shape))
    named = {"cluster": np.array(findings.letters)[c], "feature": np.array(names)[f]}
    return pd.DataFrame({**named, "above_zero": findings.above_zero[:, places].ravel(), "effect": effect.ravel()})


def draw_dots(findings: Findings, ax: Axes | None = None) -> Axes:
    """Draw features × clusters, means over studies: sizes are shares of samples above zero, colours differences."""
    table = dots_shown(findings)
    names = table["feature"].drop_duplicates().tolist()
    top = float(np.nanquantile(np.abs(table["effect"]), 0.95)) or 1.0
    with canvas(ax, SINGLE, max(2.4, 1.2 + 0.16 * len(names))) as ax:
        style: dict[str, Any] = {"cmap": "PuOr_r", "vmin": -top, "vmax": top, "edgecolor": "0.4", "lw": 0.4}
        x, y = table["cluster"].map(findings.letters.index), table["feature"].map(names.index)
        dots = ax.scatter(x, y, s=LARGEST_DOT * table["above_zero"], c=table["effect"], **style)
        ax.set_xticks(range(findings.n_clusters), [literal(letter) for letter in findings.letters])
        ax.set_yticks(range(len(names)), [literal(name, 18) for name in names])
        ax.set(xlim=(-0.5, findings.n_clusters - 0.5), ylim=(len(names) - 0.5, -0.5))
        ax.set_xlabel("cluster; size: samples above zero")
        sizes = [ax.scatter([], [], s=LARGEST_DOT * part, color="0.6", label=percent_of(part)) for part in DOTS_SHOWN]
        legend_above(ax, handles=sizes)
        colour_bar(dots, ax, "difference, sd", aspect=30, pad=0.02)
        return ax


def annotations_shown(annotations: Annotations) -> pd.DataFrame:
    """Return the summary of the annotations, the clearest first, and the rows of the figure: as many as fit."""
    summary = annotations.summary()
    order = np.lexsort((-summary["effect"].fillna(0.0), summary["fdr"].fillna(1.0)))
    return summary.iloc[order].reset_index(drop=True)


def draw_annotations(annotations: Annotations, ax: Axes | None = None) -> Axes:
    """Draw annotations × clusters × studies: how much higher or lower each cluster is than the others."""
    if not np.isfinite(annotations.difference).any():
        raise ParameterError("Annotations are drawn where studies have several clusters.", parameter="annotations")
    order = [annotations.columns.index(name) for name in annotations_shown(annotations)["annotation"]]
    rows = [row for i in order for row in np.flatnonzero(annotations.place == i).tolist()][:MOST_FEATURES]
    names = [
        ": ".join(filter(None, (annotations.columns[annotations.place[row]], annotations.categories[row])))
        for row in rows
    ]
    values = annotations.difference[rows]
    return _heat_map(values, names, annotations.letters, annotations.names, "difference, sd", ax)


def _heat_map(
    values: FloatArray,
    names: Sequence[str],
    letters: Sequence[str],
    studies: Sequence[str],
    title: str,
    ax: Axes | None,
) -> Axes:
    """Draw rows × clusters × studies, without the columns of which nothing is known.

    values : (n_rows, n_clusters, n_studies)
    """
    has_value = np.asarray(np.isfinite(values).any(axis=0))
    columns = [(c, s) for c, s in np.ndindex(has_value.shape) if has_value[c, s]]
    shown = np.array([values[:, c, s] for c, s in columns], dtype=float).T  # (n_rows, n_columns)
    top = float(np.nanquantile(np.abs(shown), 0.95)) or 1.0
    below_columns = [literal(studies[s], 12) for _, s in columns]
    is_named = len(columns) <= MOST_NAMED
    below = 0.06 * max(map(len, below_columns)) if is_named else 0.0
    with canvas(ax, SINGLE, max(2.2, 0.9 + below + 0.16 * len(names))) as ax:
        image = ax.imshow(shown, cmap="PuOr_r", vmin=-top, vmax=top, aspect="auto", interpolation="none")
        for (y, x), value in np.ndenumerate(shown):
            if abs(value) >= SIGNED:
                ink = "white" if abs(value) > 0.7 * top else "black"
                ax.text(x, y, "+" if value > 0 else "−", ha="center", va="center", fontsize=6, color=ink)
        ax.set_yticks(range(len(names)), [literal(name, 24) for name in names])
        ax.set_xticks(range(len(columns)), below_columns if is_named else [""] * len(columns), rotation=90)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        for c, letter in enumerate(letters):
            of_cluster = [x for x, column in enumerate(columns) if column[0] == c]
            if of_cluster:
                middle = (of_cluster[0] + of_cluster[-1]) / 2
                ax.text(middle, -0.75, letter, ha="center", va="bottom", fontweight="bold", fontsize=8)
                if of_cluster[-1] + 1 < len(columns):
                    ax.axvline(of_cluster[-1] + 0.5, color="white", lw=2)
        colour_bar(image, ax, title, aspect=30, pad=0.02)
        return ax


# ---------------------------------------------------------------------------------------------------------------------
# the map of all samples


def draw_samples(
    xy: FloatArray, axes: tuple[str, ...], groups: NDArray[np.str_], *, are_clusters: bool, ax: Axes | None = None
) -> Axes:
    """Draw samples coloured and shaped by what they belong to.

    xy : (n_samples, 2); groups : (n_samples,), the largest drawn first
    """
    names, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    with canvas(ax, SINGLE, 0.95 * SINGLE) as ax:
        dots = {}
        for i in np.argsort(-sizes, kind="stable").tolist():
            style = _dots(str(names[i]), i, len(names), len(xy), is_cluster=are_clusters)
            dots[i] = ax.scatter(*xy[group == i].T, **style)
        for i, drawn in dots.items():
            drawn.set_label(in_legend(f"{NO_CLUSTER if names[i] == UNMATCHED else names[i]} ({sizes[i]:,})"))
        ax.set_xlabel(literal(axes[0]))
        ax.set_ylabel(literal(axes[1]))
        ax.spines[["top", "right"]].set_visible(False)
        if len(names) > 1:
            legend_above(ax, handles=[dots[i] for i in sorted(dots)])
        return ax


def draw_studies(xy: FloatArray, studies: Sequence[str], sizes: IntArray, clusters: NDArray[np.str_]) -> NDArray[Any]:
    """Draw one map for every study: its samples by cluster, the others grey; returns the axes.

    xy : (n_samples, 2), study by study; sizes : (n_studies,); clusters : (n_samples,)
    """
    n_columns = 2 if len(studies) <= MOST_IN_TWO else 3
    n_rows, rasterized = -(-len(studies) // n_columns), len(xy) * len(studies) > MOST_VECTORS
    study, names = np.repeat(np.arange(len(studies)), sizes), np.unique(clusters).tolist()
    with panels(n_rows, n_columns, SINGLE, 0.1 + n_rows * 0.95 * SINGLE / n_columns) as (_, axes):
        for s, ax in enumerate(axes.flat):
            ax.set_xticks([])
            ax.set_yticks([])
            ax.spines[:].set_visible(False)
            if s >= len(studies):
                continue
            ax.scatter(*xy[study != s].T, color="0.85", s=4, lw=0, rasterized=rasterized)
            for i, name in enumerate(names):
                rows = (study == s) & (clusters == name)
                ax.scatter(*xy[rows].T, **{**_dots(name, i, len(names), len(xy)), "s": 6})
            ax.set_title(f"{literal(studies[s], 20)} ({sizes[s]:,})", fontsize=7.5, pad=2)
        return np.asarray(axes)


def _dots(name: str, i: int, n_groups: int, n_samples: int, *, is_cluster: bool = True) -> dict[str, Any]:
    """Return how the i-th of several groups is drawn; what has no cluster, or is alone, is grey."""
    style = look_of_cluster(name, i) if is_cluster else look(i)
    colour = "0.45" if n_groups == 1 or name == UNMATCHED else style.colour
    many = n_samples > MOST_VECTORS
    return {"color": colour, "marker": style.marker, "s": 11, "lw": 0, "alpha": 0.75, "rasterized": many}
