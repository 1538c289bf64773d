"""What appendix C.1 says, asked of the runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

import clustrep as cr
from paper.c1.runs import SCALES
from paper.claims import Finding
from paper.common import listed, number, plain, row, with_bootstrap_error
from paper.fig1.runs import mean_of
from paper.printed import PRINTED
from paper.spurious import GROUPS, is_spurious, share_of_pairs
from paper.store import Facts
from paper.verdicts import CLOSE, CORRELATED, DIFFERENCE, NEAR_ONE, SUBSTANTIAL, USUAL, Part, above

FEW = (3, 4, 5)
SIDES = ("written", "published")


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims, and our remark."""
    return {
        "inclusion": inclusion(facts),
        "in_spite": in_spite(facts),
        "d_tells": telling(facts, "d"),
        "unfair": unfair(facts),
        "relative": relative(facts),
        "r_tells": telling(facts, "r"),
        "misleads": misleads(facts),
        "noise": noise(facts),
        "numbers": numbers(facts),
        "jaccard": Finding(
            None, None, {name: plain(told_apart(facts, "written", name, "jaccard")[0]) for name in GROUPS}
        ),
    }


def flags_of(facts: Facts, side: str, name: str, k: int) -> Any:
    """Which clusters are spurious."""
    return is_spurious(facts[f"{side}/{name}/{k}/labels"], facts[f"{name}/truth"])


def sizes_of(facts: Facts, side: str, name: str, k: int) -> Any:
    """How many points clusters have."""
    return np.unique(facts[f"{side}/{name}/{k}/labels"], return_counts=True)[1]


def lowest(facts: Facts, side: str, k: int) -> Any:
    """The scores of aggregation's cluster with the lowest mean inclusion."""
    table = facts[f"{side}/aggregation/{k}/inclusion"]
    return table[int(np.argmin(mean_of(table)))]


def inclusion(facts: Facts) -> Finding:
    """The lowest inclusion of aggregation's clusters."""
    sides = {side: [above(f"k = {k}", lowest(facts, side, k), NEAR_ONE) for k in FEW] for side in SIDES}
    said = {side: listed(number(lowest(facts, side, k)) for k in FEW) for side in SIDES}
    return Finding(sides["written"], sides["published"], said)


def in_spite(facts: Facts) -> Finding:
    """Spurious clusters of aggregation with a score close to 1: one is enough."""
    sides, said = {}, {}
    for side in SIDES:
        sides[side] = []
        for k in FEW:
            table = facts[f"{side}/aggregation/{k}/inclusion"][flags_of(facts, side, "aggregation", k)]
            if len(table):
                sides[side].append(above(f"k = {k}", table[int(np.argmax(mean_of(table)))], NEAR_ONE))
        said[side] = listed(f"{part.name}: {plain(part.effect)}" for part in sides[side])
    return Finding(sides["written"], sides["published"], said)


def told_apart(facts: Facts, side: str, name: str, index: str, *, by_size: bool = False) -> tuple[float, float]:
    """How often a spurious cluster has a worse value than a real one of the same k, and its error."""
    ks = [int(k) for k in facts[f"{name}/ks"]]
    flags = [flags_of(facts, side, name, k) for k in ks]
    tables = [facts[f"{side}/{name}/{k}/{index}"] for k in ks]
    if by_size:
        tables = [table / sizes_of(facts, side, name, k)[:, None] for table, k in zip(tables, ks, strict=True)]
    sign = 1 if index == "d" else -1

    def share(*drawn: Any) -> float:
        return share_of_pairs([sign * mean_of(table) for table in drawn], flags)

    value, error = with_bootstrap_error(share, *tables)
    return float(value), float(error)


def telling(facts: Facts, index: str) -> Finding:
    """Whether an index can tell spurious clusters from real ones: one data set is enough."""
    sides, said = {}, {}
    for side in SIDES:
        shares = {name: told_apart(facts, side, name, index) for name in GROUPS}
        sides[side] = [Part(name, value, USUAL + SUBSTANTIAL, error) for name, (value, error) in shares.items()]
        said[side] = listed(f"{name} {plain(value)}" for name, (value, _) in shares.items())
    return Finding(sides["written"], sides["published"], said)


def with_size(facts: Facts, side: str, name: str) -> tuple[float, float]:
    """The rank correlation of absolute D with the size of clusters, averaged over k where sizes differ."""
    ks = [int(k) for k in facts[f"{name}/ks"] if np.ptp(sizes_of(facts, side, name, int(k)))]
    sizes = [sizes_of(facts, side, name, k) for k in ks]

    def correlation(*tables: Any) -> float:
        each = [
            np.corrcoef(rankdata(mean_of(table)), rankdata(size))[0, 1]
            for table, size in zip(tables, sizes, strict=True)
        ]
        return float(np.nanmean(each))

    value, error = with_bootstrap_error(correlation, *(facts[f"{side}/{name}/{k}/d"] for k in ks))
    return float(value), float(error)


def unfair(facts: Facts) -> Finding:
    """Absolute D goes with the size: one data set is enough."""
    sides, said = {}, {}
    for side in SIDES:
        found = {name: with_size(facts, side, name) for name in GROUPS}
        sides[side] = [Part(name, value, CORRELATED, error) for name, (value, error) in found.items()]
        said[side] = listed(f"{name} {plain(value)}" for name, (value, _) in found.items())
    return Finding(sides["written"], sides["published"], said)


def relative(facts: Facts) -> Finding:
    """What division by the size gains in telling spurious clusters from real ones."""
    sides, said = {}, {}
    for side in SIDES:
        sides[side] = []
        for name in GROUPS:
            (after, error), (before, _) = (told_apart(facts, side, name, "d", by_size=flag) for flag in (True, False))
            sides[side].append(Part(name, after - before, DIFFERENCE, error))
        said[side] = listed(f"{part.name} {plain(part.effect)}" for part in sides[side])
    return Finding(sides["written"], sides["published"], said)


def misleads(facts: Facts) -> Finding:
    """R of the cluster of aggregation at k = 5 that is least like a group."""
    sides, said = {}, {}
    for side in SIDES:
        fit = cr.agreement.jaccard(facts[f"{side}/aggregation/5/labels"], facts["aggregation/truth"])
        values = facts[f"{side}/aggregation/5/r"][int(np.argmin(fit))]
        sides[side] = [above("R of the cluster least like a group", values, USUAL)]
        said |= {side: number(values), f"fit_{side}": plain(float(fit.min()))}
    return Finding(sides["written"], sides["published"], said)


def noise(facts: Facts) -> Finding:
    """How much R and relative D move from the least to the most noise."""
    parts = []
    for name in GROUPS:
        for index, sign in (("r", -1), ("d", 1)):
            table = facts[f"noise/{name}/{index}"]
            parts.append(above(f"{name}, {index.upper()}", sign * (table[-1] - table[0]), SUBSTANTIAL))
    said = {"moves": listed(f"{part.name} {plain(part.effect)}" for part in parts)}
    return Finding(parts, None, said | {"scales": row([SCALES[0], SCALES[-1]], 1).replace(", ", " to ")})


def numbers(facts: Facts) -> Finding:
    """The stored lowest inclusion at k = 5."""
    stored = PRINTED["c1_inclusion"]
    sides = {side: [Part("k = 5", -abs(float(np.nanmean(lowest(facts, side, 5))) - stored), -CLOSE)] for side in SIDES}
    said = {side: number(lowest(facts, side, 5)) for side in SIDES}
    return Finding(sides["written"], sides["published"], said)
