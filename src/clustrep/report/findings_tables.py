"""Findings → tables: clusters × studies, one row for every cluster and study, one for every study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import clustrep.report.columns as columns
import clustrep.report.words as words
from clustrep.findings.result import Findings
from clustrep.report.columns import Table, plain_value, table_of
from clustrep.report.formatting import cell
from clustrep.text import printable

IN_STUDY = "in "  # before the name of a study, so that no study's column has the key of another column
ENTRY = ("status", "n", "share", "replicability", "low", "high")
SCALE = "How much wider the clusters of the study are than those of the others"


def overview_of(findings: Findings) -> Table:
    """Make the table of clusters × studies: status, n, share and local replicability in every cell."""
    rows: dict[str, dict[str, Any]] = {}
    for entry in findings.table().to_dict("records"):
        row = rows.setdefault(entry["cluster"], {"cluster": entry["cluster"]})
        row[IN_STUDY + entry["study"]] = {name: plain_value(entry[name]) for name in ENTRY}
    has_scores = any(value["replicability"] is not None for row in rows.values() for value in list(row.values())[1:])
    cluster = {"key": "cluster", "label": "cluster", "kind": "text", "title": "The cluster", "more": False}
    by_study = [
        {"key": IN_STUDY + name, "label": name, "kind": "entry", "title": f"The cluster in {name}", "more": False}
        for name in findings.names
    ]
    return {
        "id": "overview-table",
        "title": "Clusters × studies",
        "note": words.LEGEND_WITH_SCORES if has_scores else f"{words.LEGEND}.",
        "columns": [cluster, *by_study],
        "rows": list(rows.values()),
    }


def entries_of(findings: Findings) -> Table:
    """Make the table with one row for every cluster and study."""
    table = findings.table()
    kept = [name for name in columns.FINDINGS if not table[name].isna().all()]
    return table_of(table, "findings-table", "Every cluster in every study", kept)


def clusters_of(findings: Findings) -> Table:
    """Make the table with one row for every cluster."""
    explanations = {
        "pvalue": "p-value of the density valley in at least two studies (partial conjunction), or in the only one",
        "replicability": "Local replicability, mean over the studies in which the cluster is found",
    }
    return table_of(findings.clusters(), "clusters-of-findings-table", "Clusters", explanations=explanations)


def studies_of(findings: Findings) -> Table:
    """Make the table with one row for every study."""
    table = findings.studies()
    table["outlier"] = [why or "no" for why in table["why"]]
    kept = [name for name in columns.STUDIES if not table[name].isna().all()]
    explanations = {"scale": SCALE}
    return table_of(table, "studies-of-findings-table", "Studies", kept, explanations=explanations)


def text_of(table: Mapping[str, Any]) -> str:
    """Write the table of clusters × studies for the terminal: status, n and share."""
    cells = [[column["label"] for column in table["columns"]]]
    for row in table["rows"]:
        cells.append([cell(row[column["key"]], column["kind"]).partition("\n")[0] for column in table["columns"]])
    cells = [[printable(text) for text in row] for row in cells]
    widths = [max(len(row[c]) for row in cells) for c in range(len(table["columns"]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([*lines, f"{words.LEGEND}."])
