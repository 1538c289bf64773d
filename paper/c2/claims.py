"""What appendix C.2 says, asked of the runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from paper.c2.runs import KS, NUMBERS, best_of
from paper.claims import Finding
from paper.common import listed, plain, row
from paper.printed import PRINTED
from paper.spurious import GROUPS
from paper.store import Facts
from paper.verdicts import DIFFERENCE, NEAR_ONE, USUAL, Part, above, usual

SIDES = ("written", "published")


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims, and our remark."""
    return {
        "few": few(facts),
        "minimum": minimum(facts),
        "overconfident": overconfident(facts),
        "numbers": numbers(facts),
        "neighbours": neighbours(facts),
    }


def best_k(strengths: Any) -> int:
    """The best k above 1, from (k, split)."""
    return int(best_of(strengths.mean(axis=1)))


def chooses_few(strengths: Any, groups: int) -> Any:
    """Whether the best k, the smallest of several, is below the number of groups in each split, from (k, split)."""
    return best_of(strengths.T) < groups


def few(facts: Facts) -> Finding:
    """Whether splits choose fewer clusters than groups, where that is no better clustering."""
    sides, said = {}, {}
    for side in SIDES:
        sides[side] = []
        for name, groups in GROUPS.items():
            better = side == "written" and facts[f"{name}/fit"][0] > facts[f"{name}/fit"][1] + DIFFERENCE
            part = usual(name, chooses_few(facts[f"{side}/{name}/strength"], groups))
            sides[side].append(Part(name, 0.0, part.level) if better else part)
        said[side] = listed(f"{name} {best_k(facts[f'{side}/{name}/strength'])}" for name in GROUPS)
    splits = best_of(facts["published/r15/strength"].T)
    said |= {"groups": listed(f"{name} {n}" for name, n in GROUPS.items())}
    return Finding(
        sides["written"], sides["published"], said | {"twos": int((splits == 2).sum()), "splits": len(splits)}
    )


def minimum(facts: Facts) -> Finding:
    """Where the minimum chooses few in most splits: whether averages over clusters do not."""
    sides, said = {}, {}
    for side in SIDES:
        sides[side] = []
        for name, groups in GROUPS.items():
            if chooses_few(facts[f"{side}/{name}/strength"], groups).mean() < USUAL:
                continue
            for words, average in zip(("weighted", "plain"), facts[f"{side}/{name}/averages"], strict=True):
                sides[side].append(usual(f"{name}, {words} average", ~chooses_few(average, groups)))
        said[side] = listed(
            f"{name} {best_k(facts[f'{side}/{name}/strength'])}, {best_k(facts[f'{side}/{name}/averages'][0])}"
            for name in GROUPS
        )
    return Finding(sides["written"], sides["published"], said)


def overconfident(facts: Facts) -> Finding:
    """Of the spurious clusters, the share with a proportion close to 1."""
    sides, said = {}, {}
    for side in SIDES:
        sides[side] = []
        for name, ks in KS.items():
            for k in ks:
                shares = [
                    float(np.mean(values[0][flags] >= NEAR_ONE))
                    for values, flags in zip(
                        facts[f"{side}/{name}/{k}/igp"], facts[f"{side}/{name}/{k}/spurious"], strict=True
                    )
                    if flags.any()
                ]
                if shares:
                    sides[side].append(above(f"{name}, k = {k}", shares, USUAL))
        ten = facts[f"{side}/aggregation/10/igp"][:, 0][facts[f"{side}/aggregation/10/spurious"]]
        said[side] = f"{sum(part.yes for part in sides[side])} of {len(sides[side])}"
        said[f"ten_{side}"] = plain(float(ten.min())) if len(ten) else "none"
    return Finding(sides["written"], sides["published"], said)


def numbers(facts: Facts) -> Finding:
    """The k at which prediction strength on r15 is 1 in the stored results: ours close to 1 in single splits."""
    sides, said = {}, {}
    for side in SIDES:
        table = facts[f"{side}/r15/strength"]
        sides[side] = [
            usual(f"k = {k} close to 1, share of splits", table[NUMBERS.index(k)] >= NEAR_ONE, 0.05)
            for k in PRINTED["c2_r15"]
        ]
        said[side] = row([table[NUMBERS.index(k)].mean() for k in PRINTED["c2_r15"]])
    return Finding(sides["written"], sides["published"], said)


def neighbours(facts: Facts) -> Finding:
    """A remark: what more neighbours change."""
    falls = {}
    for name, ks in KS.items():
        both: list[list[float]] = [[], []]
        for k in ks:
            igp, flags = facts[f"written/{name}/{k}/igp"], facts[f"written/{name}/{k}/spurious"]
            drop = igp[:, 0] - igp[:, -1]
            both[0] += drop[flags].tolist()
            both[1] += drop[~flags].tolist()
        falls[name] = " and ".join(plain(float(np.mean(values))) for values in both)
    return Finding(None, None, falls)
