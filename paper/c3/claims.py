"""What appendix C.3 says, asked of the runs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from paper.c3.runs import DISTANCES, SEVERAL
from paper.claims import Finding
from paper.common import listed, number, row
from paper.printed import PRINTED
from paper.store import Facts
from paper.verdicts import DIFFERENCE, USUAL, Part, above, usual

LEVEL = 0.05  # of the test


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims."""
    return {
        "keeps": keeps(facts),
        "rejects": rejects(facts),
        "decreases": decreases(facts),
        "increases": increases(facts),
        "numbers": numbers(facts),
    }


def rejected(facts: Facts, name: str) -> Any:
    """Which data sets are rejected at 5 %."""
    return facts[f"written/{name}"] <= LEVEL


def keeps(facts: Facts) -> Finding:
    """How often the test keeps the null hypothesis of one component."""
    flags, five = rejected(facts, "one"), rejected(facts, "five dimensions")
    p = float(facts["published/components"][0])
    return Finding(
        [usual("one component kept, share of data sets", ~flags, 0.9)],
        [Part("one component, p-value", p, LEVEL)],
        {
            "rejected": f"{flags.sum()} of {len(flags)}",
            "mean": number(facts["written/one"]),
            "five": f"{five.sum()} of {len(five)}",
            "p": f"{p:.3f}",
        },
    )


def rejects(facts: Facts) -> Finding:
    """How often the test rejects with clear clusters."""
    written = [usual(f"{k} components", rejected(facts, f"apart/{k}"), USUAL) for k in SEVERAL]
    pvalues = facts["published/components"][1:]
    published = [Part(f"{k} components, p-value", -float(p), -LEVEL) for k, p in zip(SEVERAL, pvalues, strict=True)]
    said = {
        words: listed(
            f"{rejected(facts, f'{words}/{k}').sum()} of {len(facts[f'written/{words}/{k}'])}" for k in SEVERAL
        )
        for words in ("apart", "anywhere")
    }
    return Finding(written, published, said | {"pvalues": row(pvalues, 3)})


def steps(facts: Facts) -> Any:
    """The change of p-values from the largest distance of the means to the smallest, with the same noise."""
    return facts[f"written/closer/{DISTANCES[-1]:g}"] - facts[f"written/closer/{DISTANCES[0]:g}"]


def decreases(facts: Facts) -> Finding:
    """As printed: the p-value falls; and the other way round."""
    change, printed = steps(facts), facts["published/distances"]
    fall = float(printed[0] - printed[-1])
    return Finding(
        [above("p-value falls from 4 to 0.63 sd", -change, DIFFERENCE)],
        [Part("p-value falls, the authors' data", fall, DIFFERENCE)],
        {
            "means": ", ".join(f"{number(facts[f'written/closer/{d:g}'])} at {d:g} sd" for d in DISTANCES),
            "published": row(printed, 3),
        },
        opposite=[above("p-value rises from 4 to 0.63 sd", change, DIFFERENCE)],
    )


def increases(facts: Facts) -> Finding:
    """As meant: the p-value rises at no step less than a tie, and in all."""
    tables = [facts[f"written/closer/{d:g}"] for d in DISTANCES]
    names = [f"{a:g} to {b:g} sd" for a, b in pairwise(DISTANCES)]
    written = [
        above(name, second - first, -2 * DIFFERENCE)
        for name, first, second in zip(names, tables, tables[1:], strict=False)
    ]
    written.append(above("4 to 0.63 sd", steps(facts), DIFFERENCE))
    rises = np.diff(facts["published/distances"])
    published = [Part(f"step {i + 1}", float(rise), -2 * DIFFERENCE) for i, rise in enumerate(rises)]
    return Finding(
        written, published, {"printed": row(PRINTED["c3_distances"], 3), "ours": row(facts["published/distances"], 3)}
    )


def numbers(facts: Facts) -> Finding:
    """The printed p-values: within what as many simulated data sets give."""
    published, said = [], []
    for key, n_null in zip(("components", "distances"), facts["published/n_null"], strict=True):
        for i, (ours, printed) in enumerate(zip(facts[f"published/{key}"], PRINTED[f"c3_{key}"], strict=True)):
            share = (float(ours) * (int(n_null) + 1) - 1) / int(n_null)  # a plain share, as printed
            middle = (share + printed) / 2
            allowed = 2 * np.sqrt(2 * middle * (1 - middle) / int(n_null)) + 0.01
            published.append(Part(f"{key}, number {i + 1}", -abs(share - printed), -float(allowed)))
        said.append(f"{row(PRINTED[f'c3_{key}'], 3)}: {row(facts[f'published/{key}'], 3)}")
    return Finding(None, published, {"pairs": "; ".join(said)})
