"""What section 3 says, asked of the runs."""

from __future__ import annotations

from typing import Any

from paper.claims import Finding
from paper.common import number
from paper.store import Facts
from paper.verdicts import CLOSE, DIFFERENCE, SUBSTANTIAL, above, at_most

SIDES = ("written", "published")


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims."""
    return {
        "within": within(facts),
        "asymmetry": asymmetry(facts),
        "baseline": baseline(facts),
        "adjusted": adjusted(facts),
        "hidden": hidden(facts),
    }


def within(facts: Facts) -> Finding:
    """Each study agrees with itself more than the two agree: one example."""
    sides, said = {}, {}
    for side in SIDES:
        whole = facts[f"{side}/whole"]  # (draw, train, test)
        alone = (whole[:, 0, 0] + whole[:, 1, 1]) / 2
        sides[side] = [above("Fig. 3's data, within above across", alone - whole[:, 0, 1], SUBSTANTIAL)]
        said |= {side: number(whole[:, 0, 1]), f"alone_{side}": number(alone)}
    return Finding(sides["written"], sides["published"], said)


def asymmetry(facts: Facts) -> Finding:
    """The score depends on which study trains: one example."""
    parts, said = {}, {}
    for key, words in {
        "written": "Fig. 3's data",
        "published": "Fig. 3's data",
        "second": "A.1's second setting",
    }.items():
        forth, back = facts[f"{key}/whole"][:, 0, 1], facts[f"{key}/whole"][:, 1, 0]
        sign = 1 if forth.mean() > back.mean() else -1
        parts[key] = above(f"{words}, one direction above the other", sign * (forth - back), DIFFERENCE)
        said[key] = f"{number(forth)} and {number(back)}"
    return Finding([parts["written"], parts["second"]], [parts["published"]], said)


def _moves(facts: Facts, name: str) -> Any:
    table = facts[f"random/{name}"]
    return table[-1] - table[0]  # from the fewest to the most clusters


def baseline(facts: Facts) -> Finding:
    """The means of RI and MI of random partitions move with the number of clusters."""
    parts = [above(f"{name}, from 2 to 10 clusters", _moves(facts, name), SUBSTANTIAL) for name in ("RI", "MI")]
    return Finding(parts, None, _values(facts, ("RI", "MI")))


def adjusted(facts: Facts) -> Finding:
    """The means of ARI and AMI do not."""
    parts = [
        at_most(f"{name}, from 2 to 10 clusters", abs(_moves(facts, name).mean()), CLOSE) for name in ("ARI", "AMI")
    ]
    return Finding(parts, None, _values(facts, ("ARI", "AMI")))


def _values(facts: Facts, names: tuple[str, ...]) -> dict[str, str]:
    return {name: ", ".join(number(values) for values in facts[f"random/{name}"]) for name in names}


def hidden(facts: Facts) -> Finding:
    """A global score between those of a cluster found again and of one that is not: both examples."""
    sides, said = {}, {}
    for side in SIDES:
        a, _, third = facts[f"{side}/fresh"].T
        whole = facts[f"{side}/whole"][:, 0, 1]
        sides[side] = [
            above("a missed cluster is below the global score", whole - third, SUBSTANTIAL),
            above("a cluster found again is above the global score", a - whole, SUBSTANTIAL),
        ]
        said[side] = f"{number(a)}, {number(whole)}, {number(third)}"
    return Finding(sides["written"], sides["published"], said)
