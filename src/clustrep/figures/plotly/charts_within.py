"""Charts of one study: a test for clusters, indices over k."""

from __future__ import annotations

import numpy as np
import pandas as pd

from clustrep.figures.plotly.charts import Chart, axis, literal, numbers, view
from clustrep.results import ClusterTest


def null_histogram(result: ClusterTest) -> Chart:
    """Draw the null distribution of a test, and the data's own value."""
    counts, edges = np.histogram(result.null_distribution, bins=30)
    top = float(counts.max())
    traces = [
        {
            "type": "bar",
            "name": "data without clusters",
            "x": numbers((edges[1:] + edges[:-1]) / 2),
            "y": counts.tolist(),
            "width": float(edges[1] - edges[0]),
            "marker": {"color": "@muted"},
            "hoverinfo": "y",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"these data, p = {result.pvalue:.3g}",
            "x": numbers([result.statistic] * 2),
            "y": [0, top],
            "line": {"color": "@c1", "width": 3},
        },
    ]
    return {
        "id": "null",
        "title": "The test's null distribution",
        "description": "The statistic of simulated data without clusters, and that of the data: "
        f"p = {result.pvalue:.3g}.",
        "height": 340,
        "views": [view("null", traces, xaxis=axis("statistic"), yaxis=axis("data sets"), bargap=0)],
    }


def indices(table: pd.DataFrame) -> Chart:
    """Draw every index against k; a view for each."""
    views = []
    for (name, good), own in table.groupby(["name", "good"], sort=False):
        whole = own[own["whole"]].sort_values("k")
        points = own[~own["whole"]]
        ks = whole["k"].tolist()
        traces = [
            {
                "type": "scatter",
                "mode": "markers",
                "name": "clusters",
                "x": points["k"].tolist(),
                "y": numbers(points["value"].to_numpy(float)),
                "text": [f"cluster {literal(cluster)}" for cluster in points["cluster"]],
                "marker": {"color": "@muted", "size": 6},
            },
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": "whole partition",
                "x": ks,
                "y": numbers(whole["value"].to_numpy(float)),
                "line": {"color": "@c0"},
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": numbers((whole["high"] - whole["value"]).to_numpy(float)),
                    "arrayminus": numbers((whole["value"] - whole["low"]).to_numpy(float)),
                },
            },
        ]
        views.append(
            view(
                str(name),
                traces,
                xaxis=axis("number of clusters k", dtick=1 if len(set(ks)) <= 20 else None),
                yaxis=axis(f"{name} ({good} is good)"),
            )
        )
    return {
        "id": "indices",
        "title": "Indices against the number of clusters",
        "description": "Every index over k: clusters as points, the whole partition as a line with its 95 % interval.",
        "height": 400,
        "views": views,
    }
