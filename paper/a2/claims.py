"""What appendix A.2 says, asked of the runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from paper.a2.runs import DIMENSIONS, N
from paper.claims import Finding
from paper.common import listed, number, plain, with_bootstrap_error
from paper.store import Facts
from paper.verdicts import CLOSE, LOW, Part, at_most

AGREEMENTS = ("ARI", "AMI")
OVER_N, OVER_D = [f"n = {n}" for n in N], [f"d = {d}" for d in DIMENSIONS]


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims, and our remark."""
    return {
        "low_plane": ask(facts, OVER_N, low, "published"),
        "uniform_plane": ask(facts, OVER_N, uniform, "published"),
        "low_dimensions": ask(facts, OVER_D, low, None),
        "uniform_dimensions": ask(facts, OVER_D, uniform, None),
        "long": long_gaussian(facts),
    }


def low(curve: Any, name: str) -> Part:
    """Ask whether the highest score over k is low, from (data set, k)."""
    return at_most(name, curve[:, curve.mean(axis=0).argmax()], LOW)


def uniform(curve: Any, name: str) -> Part:
    """Ask whether scores move little over k."""
    size, error = with_bootstrap_error(lambda table: float(np.ptp(table.mean(axis=-1))), curve.T)
    return Part(name, -size, -CLOSE, float(error))


def ask(facts: Facts, labels: list[str], question: Any, published: str | None) -> Finding:
    """Ask every curve by both indices; where the files are as the text, both sides are one."""
    sides, said = {}, {}
    for side in ("written", published or "written"):
        sides[side] = [
            question(facts[f"{side}/{label}"][:, :, a], f"{label}, {name}")
            for label in labels
            for a, name in enumerate(AGREEMENTS)
        ]
        said[side] = listed(f"{part.name} {plain(-part.effect)}" for part in sides[side])
    return Finding(sides["written"], sides[published or "written"], {"published": ""} | said)


def long_gaussian(facts: Facts) -> Finding:
    """A remark: a single long Gaussian scores high."""
    scores, pvalues = facts["long/scores"], facts["long/pvalues"]
    said = {"scores": number(scores), "null": number(facts["long/null"]), "n": len(scores)}
    return Finding(None, None, said | {"found": int((pvalues <= 0.05).sum())})
