"""What appendix A.3 and the discussion's remark on outliers say, asked of the runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from paper.a3.outliers import CASES, SIDES
from paper.a3.runs import COMPONENTS, FEW, MANY, MORE, SIZES
from paper.claims import Finding
from paper.common import error_of, listed, number, plain, row
from paper.printed import PRINTED
from paper.store import Facts
from paper.verdicts import DIFFERENCE, PROBABLE, Part, above, at_most

AGREEMENTS = ("ARI", "AMI")


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims."""
    return {
        "missing": missing(facts),
        "fewer": fewer(facts),
        "best": best(facts),
        "depends": depends(facts),
        "numbers": numbers(facts),
        "outliers": outliers(facts),
    }


def missing(facts: Facts) -> Finding:
    """Exact probabilities that studies lack components."""
    few, many = facts[f"chances/{FEW}"], facts[f"chances/{MANY}"]
    parts = [
        Part(f"n = {FEW}, a component in one study alone", float(few[0]), PROBABLE),
        Part(f"n = {MANY}, both studies have all", float(many[1]), PROBABLE),
    ]
    return Finding(parts, parts, {"few": f"{few[0]:.1%}", "many": f"{many[1]:.1%}"})


def at(facts: Facts, side: str, n: int, a: int, k: int) -> Any:
    """The scores at one k, (draw,)."""
    return facts[f"{side}/{n}"][list(facts[f"{side}/{n}/ks"]).index(k), a]


def best_k(facts: Facts, side: str, n: int, a: int, below: int = 100) -> int:
    """The k with the highest mean, of those below a number."""
    ks = [int(k) for k in facts[f"{side}/{n}/ks"] if k < below]
    return max(ks, key=lambda k: at(facts, side, n, a, k).mean())


def fewer(facts: Facts) -> Finding:
    """With few samples the best number below 25 scores higher than 25."""
    sides, said = {}, {}
    for side in ("written", "published"):
        sides[side] = []
        for a, name in enumerate(AGREEMENTS):
            k = best_k(facts, side, FEW, a, COMPONENTS)
            gain = at(facts, side, FEW, a, k) - at(facts, side, FEW, a, COMPONENTS)
            sides[side].append(above(name, gain))
            said[f"{side}_{name}"] = f"{plain(at(facts, side, FEW, a, k).mean(), 3)} @{k}, {number(gain, 3)} above @25"
    return Finding(sides["written"], sides["published"], said)


def best(facts: Facts) -> Finding:
    """With more samples 25 is the best number, or a tie with it."""
    sides, said = {}, {}
    for side in ("written", "published"):
        sides[side] = [
            at_most(
                f"n = {n}, {name}",
                at(facts, side, n, a, best_k(facts, side, n, a)) - at(facts, side, n, a, COMPONENTS),
                DIFFERENCE,
            )
            for n in (MORE, MANY)
            for a, name in enumerate(AGREEMENTS)
        ]
        said[side] = listed(f"{best_k(facts, side, n, 0)} at n = {n}" for n in (MORE, MANY))
    return Finding(sides["written"], sides["published"], said)


def depends(facts: Facts) -> Finding:
    """Scores at 25 rise with the sample sizes."""
    parts, said = [], {}
    for a, name in enumerate(AGREEMENTS):
        scores = [at(facts, "written", n, a, COMPONENTS) for n in SIZES]
        for (m, first), (n, second) in zip(
            zip(SIZES, scores, strict=True), list(zip(SIZES, scores, strict=True))[1:], strict=False
        ):
            error = float(np.hypot(error_of(first), error_of(second)))
            parts.append(Part(f"{name}, n = {m} to {n}", float(second.mean() - first.mean()), DIFFERENCE, error))
        said[name] = row([values.mean() for values in scores], 3)
    return Finding(parts, parts, said)


def numbers(facts: Facts) -> Finding:
    """The stored best scores."""
    sides: dict[str, list[Part]] = {}
    said = []
    for side in ("written", "published"):
        sides[side] = []
        for n, (k, stored) in PRINTED["a3"].items():
            if k not in list(facts[f"{side}/{n}/ks"]):
                continue
            values = at(facts, side, n, 0, k)
            error = float(values.std(ddof=1)) * np.sqrt(1 / 100 + 1 / len(values))  # the stored one is of 100 draws
            sides[side].append(at_most(f"n = {n}", [abs(values.mean() - stored)], 0.005 + 2 * error))
            if side == "published":
                said.append(f"n = {n}: {stored:.3f} @{k}, ours {number(values, 3)}")
    return Finding(sides["written"], sides["published"], {"pairs": "; ".join(said)})


def outliers(facts: Facts) -> Finding:
    """What the bootstrap mean loses less than R̂ to outliers, where either loses."""
    both = facts["outliers/both"]  # (side, case, data set, R̂ or bootstrap mean)
    saved = both[..., 0] - both[..., 1]
    parts = [
        above(f"{SIDES[s]}ing study, {count} at {distance:.0f}".replace("testing", "test"), saved[s, c], DIFFERENCE)
        for s in range(len(SIDES))
        for c, (count, distance) in enumerate(CASES)
        if both[s, c].mean(axis=0).max() >= DIFFERENCE
    ]
    return Finding(
        parts,
        None,
        {
            "lost": row(both[0, :, :, 0].mean(axis=-1)),
            "saved": row(saved[0].mean(axis=-1)),
            "cases": listed(f"{count} at {distance:.0f}" for count, distance in CASES),
        },
    )
