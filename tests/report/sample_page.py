"""Facts of a report with everything that it can hold, and one study whose name attacks the page."""

from __future__ import annotations

import html as stdlib_html
from typing import Any

import numpy as np

HOSTILE = "<script>alert(1)</script> & \"Co\" 'x' {{ 7 * 7 }} {% if %}"


STUDIES = ["mainz", "transbig", "vdx", HOSTILE]


def sample_facts() -> dict[str, Any]:
    """Everything a report can hold, with one study whose name attacks the page."""
    rng = np.random.default_rng(5)
    sections = [_curves(rng), _studies(rng), _local(rng), _clusters(rng)]
    return {
        "title": "Breast cancer subtypes in four cohorts",
        "subtitle": "Which clusters hold up when someone else repeats the study: k-means and Ward on 50 genes, "
        "100 bootstrap resamples.",
        "verdict": [
            {
                "kind": "separated",
                "text": "k-means with 4 clusters replicates best: agreement 0.71 (95 % interval 0.64–0.78).",
            },
            {"kind": "studies", "text": f"mainz and transbig predict each other; {HOSTILE} is predicted by none."},
            {
                "kind": "clusters",
                "text": "Clusters 1 and 3 hold up everywhere. Cluster 2 is found again in two of four.",
            },
            {"kind": "caution", "text": "Can't tell between k = 4 and k = 5: their difference has an interval with 0."},
            {"kind": "failure", "text": "Ward failed in 3 of 100 resamples of vdx."},
        ],
        "sections": sections,
        "methods": [
            "Replicability was measured with clustrep 0.1.0: a clustering function was learned on each study and "
            "applied to every other, and its labels were compared with that study's own by the adjusted Rand index.",
            "Intervals are percentile bootstrap intervals over 100 resamples of all studies (Masoero et al., 2022).",
        ],
        "warnings": ["12 features were dropped: not in every study.", "vdx has 3 resamples with one cluster only."],
        "provenance": [["seed", 20231], ["clustrep", "0.1.0"], ["parameters", {"k": [2, 3, 4], "whiten": False}]],
    }


def _section(name: str, title: str, text: str, *parts: dict[str, Any]) -> dict[str, Any]:
    charts = [part for part in parts if "views" in part]
    tables = [part for part in parts if "rows" in part]
    return {"id": name, "title": title, "text": [text], "charts": charts, "tables": tables}


def _chart(name: str, title: str, description: str, height: int, *views: Any) -> dict[str, Any]:
    shown = [{"name": view, "data": data, "layout": layout} for view, data, layout in views]
    return {"id": name, "title": title, "description": description, "height": height, "views": shown}


def _table(name: str, title: str, columns: dict[str, tuple[str, str]], rows: list[list[Any]]) -> dict[str, Any]:
    described = [
        {"key": key, "label": label, "kind": kind, "title": f"What {label} means", "more": place >= 6}
        for place, (key, (label, kind)) in enumerate(columns.items())
    ]
    return {
        "id": name,
        "title": title,
        "note": "",
        "columns": described,
        "rows": [dict(zip(columns, row, strict=True)) for row in rows],
    }


def _curves(rng: np.random.Generator) -> dict[str, Any]:
    ks = list(range(2, 11))
    data: list[dict[str, Any]] = []
    rows: list[list[Any]] = []
    for i, (name, peak) in enumerate([("k-means", 0.71), ("Ward", 0.63), ("Gaussian mixture", 0.55)]):
        mean = [round(peak - 0.012 * (k - 4) ** 2 + 0.02 * rng.standard_normal(), 3) for k in ks]
        low, high = [m - 0.06 for m in mean], [m + 0.05 for m in mean]
        band = {
            "x": ks + ks[::-1],
            "y": high + low[::-1],
            "fill": "toself",
            "fillcolor": f"@c{i}/0.15",
            "line": {"width": 0},
        }
        data.append(band | {"mode": "lines", "hoverinfo": "skip", "showlegend": False, "legendgroup": name})
        data.append(
            {
                "x": ks,
                "y": mean,
                "name": name,
                "legendgroup": name,
                "mode": "lines+markers",
                "line": {"color": f"@c{i}"},
            }
        )
        shown = zip(ks, mean, low, high, strict=True)
        rows += [[name, k, m, a, b, None if k > 9 else 0.005 * k, 0.01 * (k - 2), k == 4] for k, m, a, b in shown]
    axes = {
        "xaxis": {"title": {"text": "number of clusters"}, "dtick": 1},
        "yaxis": {"title": {"text": "agreement (ARI)"}},
    }
    curves = "Mean agreement between studies against the number of clusters, with 95 % bands, one curve per method."
    columns = {"name": ("Method", "text"), "k": ("k", "count"), "mean": ("Mean", "number"), "low": ("Low", "number")}
    columns |= {"high": ("High", "number"), "p": ("p", "p"), "trivial": ("Trivial", "share"), "best": ("Best", "flag")}
    text = "Agreement is highest at four clusters for k-means. Beyond six, every method loses more than it gains."
    return _section(
        "choice",
        "How many clusters",
        text,
        _chart("curves", "Agreement over k", curves, 380, ("ARI", data, axes)),
        _table("scores", "Scores of every method and k", columns, rows),
    )


def _studies(rng: np.random.Generator) -> dict[str, Any]:
    names = [stdlib_html.escape(name, quote=False) for name in STUDIES]
    score = np.round(0.35 + 0.5 * rng.random((4, 4)), 3)
    sd = np.round(0.02 + 0.06 * rng.random((4, 4)), 3)
    hover = "trained on %{y}<br>tested on %{x}<br>%{z:.3f}<extra></extra>"

    def heat(z: Any, **options: Any) -> list[dict[str, Any]]:
        values = z.tolist()
        common = {
            "type": "heatmap",
            "x": names,
            "y": names,
            "z": values,
            "hovertemplate": hover,
            "texttemplate": "%{z:.2f}",
        }
        return [common | options]

    layout = {
        "xaxis": {"title": {"text": "tested on"}, "showgrid": False, "constrain": "domain"},
        "yaxis": {"title": {"text": "trained on"}, "autorange": "reversed", "showgrid": False},
    }
    views = (
        ("Mean", heat(score, zmin=0, zmax=1), layout),
        ("Standard deviation", heat(sd, colorscale=[[0, "@paper"], [1, "@c1"]]), layout),
        ("Excess over chance", heat(score - 0.3), layout),
    )
    pairs = [
        [a, b, float(score[i, j]), int(40 + 1000 * i)] for i, a in enumerate(STUDIES) for j, b in enumerate(STUDIES)
    ]
    columns = {"train": ("Trained on", "text"), "test": ("Tested on", "text"), "mean": ("Mean", "number")}
    text = f"Rows train, columns test. {HOSTILE} stands apart."
    return _section(
        "studies",
        "Which studies predict each other",
        text,
        _chart("matrix", "Study by study", "Agreement of each training study with each test study.", 440, *views),
        _table("pairs", "Every pair of studies", columns | {"n": ("Samples", "count")}, pairs),
    )


def _local(rng: np.random.Generator) -> dict[str, Any]:
    centres = np.array([[0, 0], [4, 1], [1, 4], [5, 5]])
    names = [f"GSM{1000 + i}" for i in range(240)]
    at = np.repeat(centres, 60, axis=0) + 0.8 * rng.standard_normal((240, 2))
    scores = np.clip(0.9 - 0.15 * np.abs(rng.standard_normal(240)) - 0.3 * np.repeat([0, 1, 0, 0.5], 60), 0, 1)
    marker = {
        "size": 7,
        "color": scores.round(3).tolist(),
        "colorscale": "Viridis",
        "cmin": 0,
        "cmax": 1,
        "showscale": True,
    }
    point = {"type": "scatter", "mode": "markers", "x": at[:, 0].round(3).tolist(), "y": at[:, 1].round(3).tolist()}
    hover = {"text": names, "hovertemplate": "%{text}<br>local agreement %{marker.color:.2f}<extra></extra>"}
    groups = [
        {"type": "scatter", "mode": "markers", "name": f"cluster {c + 1}", "marker": {"color": f"@c{c}", "size": 7}}
        | {
            "x": point["x"][60 * c : 60 * c + 60],
            "y": point["y"][60 * c : 60 * c + 60],
            "text": names[60 * c : 60 * c + 60],
        }
        for c in range(4)
    ]
    axes = {"xaxis": {"title": {"text": "PC 1"}}, "yaxis": {"title": {"text": "PC 2"}}}
    views = (("Local agreement", [point | hover | {"marker": marker}], axes), ("Clusters", groups, axes))
    rows = [[name, 1 + i // 60, float(score)] for i, (name, score) in enumerate(zip(names, scores, strict=True))]
    columns = {"name": ("Sample", "text"), "cluster": ("Cluster", "count"), "score": ("Local agreement", "number")}
    return _section(
        "local",
        "Where it holds up",
        "Each point is a sample of mainz, coloured by how far its neighbourhood is found again in transbig.",
        _chart("map", "Local map", "Samples by their first two components, coloured by local agreement.", 460, *views),
        _table("samples", "Every sample", columns, rows),
    )


def _clusters(rng: np.random.Generator) -> dict[str, Any]:
    names = [f"cluster {c + 1}" for c in range(4)]
    error = {
        "type": "data",
        "symmetric": False,
        "array": [0.05, 0.1, 0.06, 0.08],
        "arrayminus": [0.06, 0.12, 0.05, 0.1],
    }
    tones = ["@good", "@bad", "@good", "@muted"]
    bars = [{"type": "bar", "x": names, "y": [0.88, 0.42, 0.81, 0.6], "error_y": error, "marker": {"color": tones}}]
    strips = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "@bad",
            "x": (0.4 + 0.1 * c + 0.06 * rng.standard_normal(50)).tolist(),
        }
        | {"y": (c + 0.2 * rng.random(50)).tolist(), "marker": {"color": f"@c{c}/0.6", "size": 5}}
        for c in range(4)
    ]
    ticks = {
        "xaxis": {"title": {"text": "Jaccard, one point per resample"}},
        "yaxis": {"tickvals": [0, 1, 2, 3], "ticktext": names},
    }
    return _section(
        "clusters",
        "Which clusters hold up",
        "A cluster is found again where more of it is kept than not.",
        _chart(
            "bars",
            "Mean agreement per cluster",
            "Bars with 95 % intervals.",
            320,
            ("Mean", bars, {"yaxis": {"range": [0, 1]}}),
        ),
        _chart(
            "strips",
            "All resamples",
            "One strip of points per cluster.",
            320,
            ("All", strips, ticks | {"showlegend": False}),
        ),
    )
