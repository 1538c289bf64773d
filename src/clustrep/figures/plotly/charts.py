"""Results → interactive charts: plotly's traces and layouts as plain dicts, coloured by names that the page knows.

Names of studies, samples and clusters are escaped here: plotly reads some HTML in its texts.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from clustrep.results import Comparison, LocalReplicability, NullReference, Replicability, StudyRelations
from clustrep.results.base import quiet
from clustrep.tables.agreement import shown
from clustrep.types import FloatArray

Chart = dict[str, Any]

View = dict[str, Any]

N_COLOURS = 7

SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x")

DASHES = ("solid", "dash", "dashdot", "longdash", "longdashdot")  # dotted is what has no clusters
# Points that all views of a map may have together: the page must stay small.
MOST_POINTS = 6_000

MOST_STRIPS, MOST_MARKS = 40, 200

SIZE, SIZE_PER_SD = 8.0, 30.0


def numbers(values: Any) -> Any:
    """Turn numbers into JSON's: six digits are enough for a picture, and what is missing is None."""
    if isinstance(values, np.ndarray):
        return [numbers(value) for value in values.tolist()]
    if isinstance(values, list | tuple):
        return [numbers(value) for value in values]
    if isinstance(values, float | np.floating):
        return float(f"{values:.6g}") if np.isfinite(values) else None
    return values.item() if isinstance(values, np.generic) else values


def literal(text: object) -> str:
    """Write a text so that plotly shows it as it is."""
    return html.escape(str(text), quote=False)


def view(name: str, data: list[dict[str, Any]], **layout: Any) -> View:
    """Put traces and layout together."""
    return {"name": name, "data": data, "layout": layout}


def axis(title: str, **options: Any) -> dict[str, Any]:
    """Describe an axis."""
    return {"title": {"text": title}, **options}


# ---------------------------------------------------------------------------------------------------------------------
# clusterers and numbers of clusters


def curves(result: Comparison, reference: NullReference | None) -> Chart:
    """Draw the score against k, a line for each clusterer, and how far data without clusters get."""
    summary = result.summary()
    views = []
    for a, agreement in enumerate(result.agreements):
        own = summary[summary["agreement"] == agreement]
        traces: list[dict[str, Any]] = []
        for i, name in enumerate(dict.fromkeys(result.clusterers)):
            traces += _curve(i, name, own[own["clusterer"] == name].sort_values("k"), result, reference, a)
        views.append(
            view(
                shown(agreement),
                traces,
                xaxis=_axis_of_k(result.n_clusters),
                yaxis=axis(f"{shown(agreement)}, mean over pairs of studies"),
            )
        )
    against = "; dotted: R̂ of data without clusters, below it 95 % of collections" if reference is not None else ""
    return {
        "id": "curves",
        "title": "Score against the number of clusters",
        "description": "Mean over ordered pairs of different studies and over resamples, with the 95 % interval over "
        f"resamples as a band and R̂, the score of the studies as they are, as crosses{against}.",
        "height": 420,
        "views": views,
    }


def _axis_of_k(ks: Sequence[int | None]) -> dict[str, Any]:
    if all(k is None for k in ks):
        return axis("(no number of clusters to set)", showticklabels=False)
    return axis("number of clusters k", dtick=1 if len(set(ks)) <= 20 else None)


def _curve(
    i: int, name: str, own: pd.DataFrame, result: Comparison, reference: NullReference | None, a: int
) -> list[dict[str, Any]]:
    colour, group = f"@c{i % N_COLOURS}", f"g{i}"
    places = [
        next(c for c, (n, k) in enumerate(zip(result.clusterers, result.n_clusters, strict=True)) if (n, k) == wanted)
        for wanted in [(name, None if pd.isna(k) else int(k)) for k in own["k"]]
    ]
    ks = [result.n_clusters[c] for c in places]
    names = [literal(name) if k is None else f"{literal(name)}, k = {k}" for k in ks]
    if ks[0] is None:  # a line across all k
        names *= 2
        known = [k for k in result.n_clusters if k is not None]
        ks, places, own = [min(known, default=0), max(known, default=1)], places * 2, pd.concat([own, own])
    off = ~np.eye(len(result.names), dtype=bool)
    with quiet():
        estimate = np.nanmean(result.estimate[places, a][:, off], axis=1)
    mean, low, high = (own[column].to_numpy(float) for column in ("score", "low", "high"))
    labels = [
        f"{one}: {m:.2f} [{lo:.2f}, {hi:.2f}], R̂ {e:.2f}"
        for one, m, lo, hi, e in zip(names, mean, low, high, estimate, strict=True)
    ]
    shared = {"legendgroup": group, "hoverinfo": "skip", "showlegend": False}
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [*ks, *ks[::-1]],
            "y": numbers([*low, *high[::-1]]),
            "fill": "toself",
            "fillcolor": colour,
            "line": {"width": 0},
            "opacity": 0.15,
            **shared,
        },
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": literal(name),
            "x": ks,
            "y": numbers(mean),
            "line": {"color": colour, "dash": DASHES[i % len(DASHES)]},
            "marker": {"color": colour, "symbol": SYMBOLS[i % len(SYMBOLS)], "size": 8},
            "legendgroup": group,
            "text": labels,
            "hoverinfo": "text",
        },
        {
            "type": "scatter",
            "mode": "markers",
            "x": ks,
            "y": numbers(estimate),
            "marker": {"color": colour, "symbol": "x-thin-open", "size": 7},
            **shared,
        },
    ]
    if reference is not None:
        with quiet():
            upper = np.nanquantile(reference.overall_distribution[:, places, a], 0.95, axis=0)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{literal(name)}, R̂ without clusters (95 % lie below)",
                "x": ks,
                "y": numbers(upper),
                "line": {"color": colour, "dash": "dot", "width": 1.5},
                "legendgroup": group,
                "text": [
                    f"{literal(name)}, without clusters, k = {k}: {u:.2f}" for k, u in zip(ks, upper, strict=True)
                ],
                "hoverinfo": "text",
            }
        )
    return traces


# ---------------------------------------------------------------------------------------------------------------------
# pairs of studies


def matrices(results: Sequence[Replicability], first: int = 0) -> Chart:
    """Draw the study × study matrix of every result; the one in focus comes first."""
    ordered = [results[first], *(one for i, one in enumerate(results) if i != first)]
    return {
        "id": "matrices",
        "title": "Who predicts whom",
        "description": "Bootstrap mean for every pair of studies, rows trained, columns tested; on the diagonal a "
        "study is tested on a second draw of itself.",
        "height": 180 + 44 * len(results[0].names),
        "views": [_matrix(one) for one in ordered],
    }


def _matrix(result: Replicability) -> View:
    low, high = result.confidence_interval()
    mean, sd = result.mean, result.sd
    names = [literal(name) for name in result.names]
    hover = [
        [
            f"{s} → {t}<br>{shown(result.agreement)} {mean[i, j]:.2f} [{low[i, j]:.2f}, {high[i, j]:.2f}], "
            f"sd {sd[i, j]:.2f}, R̂ {result.estimate[i, j]:.2f}"
            if np.isfinite(mean[i, j])
            else f"{s} → {t}<br>no score"
            for j, t in enumerate(names)
        ]
        for i, s in enumerate(names)
    ]
    trace = {
        "type": "heatmap",
        "x": names,
        "y": names,
        "z": numbers(mean),
        "zmin": 0,
        "zmax": max(1.0, float(np.nanmax(mean, initial=1.0))) if result.agreement == "mi" else 1,
        "colorscale": "Viridis",
        "text": [["" if np.isnan(value) else f"{value:.2f}" for value in row] for row in mean],
        "texttemplate": "%{text}",
        "hovertext": hover,
        "hoverinfo": "text",
        "colorbar": {"title": {"text": shown(result.agreement)}, "thickness": 12},
    }
    title = result.clusterer if result.n_clusters is None else f"{result.clusterer}, k = {result.n_clusters}"
    return view(
        title,
        [trace],
        xaxis=axis("tested on", type="category"),
        yaxis=axis("trained on", type="category", autorange="reversed"),
    )


def strips(result: Replicability) -> Chart:
    """Draw the whole distribution of every pair of different studies."""
    S = len(result.names)
    pairs = [(s, t) for s in range(S) for t in range(S) if s != t]
    with quiet():
        spread = {pair: np.nan_to_num(np.nanstd(result.distribution[:, *pair])) for pair in pairs}
    widest = set(sorted(pairs, key=lambda pair: -spread[pair])[:MOST_STRIPS])
    few = "" if len(pairs) <= MOST_STRIPS else f" Drawn are the {MOST_STRIPS} pairs with the widest spread."
    pairs = [pair for pair in pairs if pair in widest]
    names = [f"{literal(result.names[s])} → {literal(result.names[t])}" for s, t in pairs]
    values = [result.distribution[:MOST_MARKS, s, t] for s, t in pairs]
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "resamples",
            "x": [x for own in values for x in numbers(own)],
            "y": [name for name, own in zip(names, values, strict=True) for _ in own],
            "marker": {"color": "@c0", "symbol": "line-ns-open", "size": 10, "opacity": 0.45},
            "hoverinfo": "x+y",
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": "mean",
            "x": numbers(np.array([result.mean[s, t] for s, t in pairs])),
            "y": names,
            "marker": {"color": "@ink", "symbol": "circle", "size": 8},
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": "R̂, the studies as they are",
            "x": numbers(np.array([result.estimate[s, t] for s, t in pairs])),
            "y": names,
            "marker": {"color": "@c1", "symbol": "diamond-open", "size": 10, "line": {"width": 2}},
        },
    ]
    layout = {
        "xaxis": axis(shown(result.agreement)),
        "yaxis": axis("", type="category", autorange="reversed", automargin=True),
    }
    return {
        "id": "strips",
        "title": "Every resample",
        "description": "One line for every pair, trained → tested; a mark for every resample. Two humps are two "
        f"solutions between which the clusterer jumps.{few}",
        "height": 160 + 26 * len(pairs),
        "views": [view("all pairs", traces, **layout)],
    }


def tree(relations: StudyRelations) -> Chart:
    """Draw the tree of studies."""
    from scipy.cluster.hierarchy import dendrogram

    names = [f"{name} *" if apart else name for name, apart in zip(relations.names, relations.apart, strict=True)]
    drawn = dendrogram(relations.tree, no_plot=True)
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": numbers([*height]),
            "y": [(place - 5) / 10 for place in along],
            "line": {"color": "@c0", "width": 2},
            "hoverinfo": "x",
            "showlegend": False,
        }
        for along, height in zip(drawn["icoord"], drawn["dcoord"], strict=True)
    ]
    order = [literal(names[i]) for i in drawn["leaves"]]
    layout = {
        "xaxis": axis("1 − score, mean of both directions", autorange="reversed"),
        "yaxis": axis("", tickvals=list(range(len(order))), ticktext=order, side="right", showgrid=False),
    }
    return {
        "id": "tree",
        "title": "The tree of studies",
        "description": "Average linkage of one minus the score, mean of both directions; a star marks a study that "
        "stands apart.",
        "height": 120 + 36 * len(order),
        "views": [view("tree", traces, **layout)],
    }


# ---------------------------------------------------------------------------------------------------------------------
# clusters and points


def clusters(table: pd.DataFrame, agreement: str) -> Chart:
    """Draw every cluster's score in the other studies with its interval; a view for every training study."""
    views = []
    for train, of_train in table.groupby("train", sort=False):
        traces = []
        for i, (test, own) in enumerate(of_train.groupby("test", sort=False)):
            mean, low, high = (own[column].to_numpy(float) for column in ("mean", "low", "high"))
            traces.append(
                {
                    "type": "bar",
                    "name": f"in {literal(test)}",
                    "x": [literal(name) for name in own["cluster"]],
                    "y": numbers(mean),
                    "marker": {"color": f"@c{i % N_COLOURS}", "pattern": {"shape": ["", "/", "x", "-", "."][i % 5]}},
                    "error_y": {
                        "type": "data",
                        "symmetric": False,
                        "array": numbers(high - mean),
                        "arrayminus": numbers(mean - low),
                        "color": "@ink",
                        "thickness": 1,
                    },
                    "hovertext": [
                        f"{literal(train)} {literal(row['cluster'])} in {literal(test)}: {row['mean']:.2f} "
                        f"[{row['low']:.2f}, {row['high']:.2f}], R̂ {row['estimate']:.2f}<br>{row['verdict']}"
                        for row in own.to_dict("records")
                    ],
                    "hoverinfo": "text",
                }
            )
        layout = {
            "barmode": "group",
            "xaxis": axis(f"cluster of {literal(train)}", type="category"),
            "yaxis": axis(f"local {shown(agreement)}, mean over the cluster"),
        }
        views.append(view(str(train), traces, **layout))
    return {
        "id": "clusters",
        "title": "Which clusters hold",
        "description": "Mean local score of every cluster's samples in the other studies, with 95 % intervals.",
        "height": 380,
        "views": views,
    }


def local_map(
    local: Sequence[LocalReplicability],
    names: dict[tuple[str, str], list[str]],
    places: Mapping[tuple[str, str], FloatArray],
    place_names: Sequence[str],
) -> Chart | None:
    """Draw samples where they are, coloured by their score; a view for every training and test study.

    names : for every training and test study, the cluster of each sample
    places : for every training and test study, where the samples of the training study are drawn
    """
    drawn = [one for one in local if (one.train, one.test) in places]
    if not drawn:
        return None
    room = max(20, MOST_POINTS // len(drawn))
    thinned = any(len(one.samples) > room for one in drawn)
    views = [_map(one, names[one.train, one.test], places[one.train, one.test], place_names, room) for one in drawn]
    few = f" Of every study at most {room:,} samples are drawn." if thinned else ""
    return {
        "id": "map",
        "title": "Where it holds",
        "description": "Samples of the training study, coloured by their mean local score in the tested study, larger "
        f"where it varies more; the shape tells the cluster.{few}",
        "height": 520,
        "views": views,
    }


def _map(
    one: LocalReplicability, clusters: Sequence[str], places: FloatArray, place_names: Sequence[str], room: int
) -> View:
    step = -(-len(one.samples) // room)
    kept = np.arange(0, len(one.samples), step)
    own, mean, sd = np.array(clusters, dtype=object), one.mean, np.nan_to_num(one.sd)
    traces = []
    for i, cluster in enumerate(dict.fromkeys(sorted(clusters))):
        rows = kept[own[kept] == cluster]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": literal(cluster),
                "x": numbers(places[rows, 0]),
                "y": numbers(places[rows, 1]),
                "text": [
                    f"{literal(one.samples[r])}<br>cluster {literal(cluster)}: {mean[r]:.2f} ± {sd[r]:.2f}"
                    for r in rows
                ],
                "hoverinfo": "text",
                "marker": {
                    "symbol": SYMBOLS[i % len(SYMBOLS)],
                    "size": [round(SIZE + SIZE_PER_SD * float(sd[r]), 1) for r in rows],
                    "color": numbers(np.round(mean[rows], 3)),
                    "cmin": 0,
                    "cmax": 1,
                    "colorscale": "Viridis",
                    "showscale": i == 0,
                    "colorbar": {"title": {"text": f"local {shown(one.agreement)}"}, "thickness": 12},
                    "line": {"width": 0.5, "color": "@ink"},
                },
            }
        )
    layout = {
        "xaxis": axis(literal(place_names[0])),
        "yaxis": axis(literal(place_names[1])),
        "legend": {"title": {"text": "cluster"}, "itemsizing": "constant", "orientation": "h"},
    }
    return view(f"{one.train} → {one.test}", traces, **layout)
