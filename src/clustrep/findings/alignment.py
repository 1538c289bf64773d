"""Studies made comparable by their findings: on one scale, and without the shifts that their clusters agree about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clustrep.data.studies import Studies
from clustrep.data.values import AUTO, completed
from clustrep.findings.coordinates import within_sd
from clustrep.findings.result import SEPARATED, Findings
from clustrep.types import FloatArray

# Without clusters to align, studies are centred at their means if these differ by more than this many within-study sd
# in any feature, and features are divided by their spread if that differs by more than this factor: then they are
# measured in different units.
CENTRE_BEYOND, OTHER_UNITS = 1.0, 10.0


def aligned(studies: Studies, findings: Findings, scale: str = AUTO) -> tuple[Studies, Findings]:
    """Return the studies as they are compared, and the findings with a sentence about it.

    With separated clusters, a study is moved by the mean difference of the clusters that it shares with the others, and
    divided by its scale: composition does not enter. Without clusters, only means and spreads of whole studies are
    known.
    """
    if scale != AUTO:
        done = "as given" if scale == "none" else f"with features scaled ({scale})"
        text = f"Studies were compared {done}, without alignment."
        if scale == "study" and len(studies) > 1:
            text += " Scaling each study by itself hides differences in composition."
        return studies, replace(findings, alignment=text)
    if findings.verdict == SEPARATED:
        return _by_clusters(studies, findings)
    return _by_moments(studies, findings)


def _by_clusters(studies: Studies, findings: Findings) -> tuple[Studies, Findings]:
    scale = np.nan_to_num(findings.scale, nan=1.0)
    tables = {
        name: (np.asarray(study.X, dtype=float) / findings.divisor - findings.offset[s]) / scale[s]
        for s, (name, study) in enumerate(studies.items())
    }
    moved = np.abs(findings.offset).max(axis=1) > 0
    if len(studies) == 1:
        text = ""
    elif not moved.any():
        text = "Studies were not aligned: no study shares two clusters with another."
    else:
        shifts = findings.shift[moved & np.isfinite(findings.shift)]
        largest = shifts.max(initial=0)
        text = f"Studies were aligned by the clusters that they share: shifts up to {largest:.1f} sd within clusters"
        scales = findings.scale[np.isfinite(findings.scale)]
        if len(scales) and max(scales.max(), 1 / scales.min()) > 1.1:
            text += f", scales from {scales.min():.2f} to {scales.max():.2f}"
        text += "."
    if not np.all(findings.divisor == 1):
        text = f"{text} Features were divided by their standard deviation within clusters.".strip()
    return with_tables(studies, tables), replace(findings, alignment=text)


def _by_moments(studies: Studies, findings: Findings) -> tuple[Studies, Findings]:
    X = {name: completed(study.X).astype(float) for name, study in studies.items()}
    every = np.concatenate(list(X.values()))
    study = np.repeat(np.arange(len(X)), [len(table) for table in X.values()])
    sd = within_sd(every, study)
    means = np.array([table.mean(axis=0) for table in X.values()])
    done = []
    divisor: FloatArray = np.ones(len(sd))
    if sd.max() > OTHER_UNITS * sd.min():
        divisor = sd
        done.append("Features were divided by their standard deviation within studies.")
    largest = float((np.abs(means - means.mean(axis=0)) / sd).max()) if len(means) > 1 else 0.0
    offset = np.zeros_like(means)
    if largest > CENTRE_BEYOND:
        offset = (means - means.mean(axis=0)) / divisor
        done.append(f"Studies were centred at their means, which differ by up to {largest:.1f} sd within studies.")
    text = " ".join(done) or "Studies were compared as given."
    findings = replace(findings, alignment=text, divisor=divisor, offset=offset)
    if not done:
        return studies, findings
    tables = {
        name: np.asarray(each.X, dtype=float) / divisor - offset[s] for s, (name, each) in enumerate(studies.items())
    }
    return with_tables(studies, tables), findings


def with_tables(studies: Studies, tables: dict[str, Any]) -> Studies:
    """Return the same studies with other values."""
    return studies._changed([study.with_table(tables[name]) for name, study in studies.items()])
