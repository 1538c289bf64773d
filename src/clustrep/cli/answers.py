"""The answer of an analysis, for the terminal and for scripts: views of its findings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clustrep.text import printable

if TYPE_CHECKING:
    import pandas as pd

    from clustrep import Report
    from clustrep.results import Analysis


def text_of(analysis: Analysis) -> str:
    """Return the headline, the status of every cluster in every study, and what to do next."""
    from clustrep.results.headline import NEXT

    findings = analysis.findings
    lines = [printable(said.text) for said in analysis.headline if said.kind != NEXT]
    statuses = findings.table().pivot(index="cluster", columns="study", values="status")[list(findings.names)]
    lines += ["", statuses.rename(columns=printable).to_string(), ""]
    if analysis.tree is not None:
        lines += [repr(analysis.tree), ""]
    lines += [f"Next: {printable(said.text)}" for said in analysis.headline if said.kind == NEXT]
    return "\n".join(lines).rstrip()


def json_of(report: Report, analysis: Analysis | None) -> str:
    """Return the report as JSON, with the findings under "answer" where it is about an analysis."""
    if analysis is None:
        return report.to_json()
    said = {**json.loads(report.to_json()), "answer": summary_of(analysis)}
    return json.dumps(said, ensure_ascii=False, indent=2, allow_nan=False)


def summary_of(analysis: Analysis) -> dict[str, Any]:
    """Return the findings in plain types: what is not known is None."""
    findings = analysis.findings
    return {
        "verdict": findings.verdict,
        "n_clusters": analysis.n_clusters,
        "pvalue": None if findings.pvalue != findings.pvalue else findings.pvalue,
        "reason": findings.reason,
        "alignment": findings.alignment,
        "findings": _rows(findings.table()),
        "clusters": _rows(findings.clusters()),
        "studies": _rows(findings.studies()),
    }


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    known = table.astype(object).where(table.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in known.to_dict(orient="records")]
