"""What Fig. 3, Fig. 4 and section 4.3 say, asked of the runs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from paper.claims import Finding
from paper.common import number, row
from paper.printed import PRINTED
from paper.store import Facts
from paper.verdicts import SUBSTANTIAL, TWO_SDS, USUAL, above, at_most, usual

LETTERS = {"written": "ABC", "published": "ABD"}


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims."""
    return {
        "order": order(facts),
        "numbers": numbers(facts),
        "joined": joined(facts),
        "different": different(facts),
        "plane": plane(facts),
    }


def each(values: Any) -> str:
    """Write the means of columns with their errors."""
    return ", ".join(map(number, np.transpose(values)))


def order(facts: Facts) -> Finding:
    """High at A, lower at B, zero at the third point."""
    sides = {}
    for side, letters in LETTERS.items():
        a, b, third = facts[f"{side}/fresh"].T
        sides[side] = [
            above("A above B", a - b),
            above(f"B above {letters[2]}", b - third),
            at_most(f"{letters[2]} is zero", abs(third.mean()), 0.025),
        ]
    return Finding(
        sides["written"],
        sides["published"],
        {side: each(facts[f"{side}/fresh"]) for side in LETTERS} | {"n": len(facts["written/fresh"])},
    )


def numbers(facts: Facts) -> Finding:
    """The printed scores, of one pair of data sets, against those of many pairs."""
    sides, said = {}, {}
    for side, letters in LETTERS.items():
        means = facts[f"{side}/means"]
        spread = np.maximum(means.std(axis=0, ddof=1), 0.01)  # as printed, to two digits
        sides[side] = [
            at_most(f"at {letter}", [abs(printed - values.mean()) / sd], TWO_SDS)
            for letter, printed, values, sd in zip(letters, PRINTED["fig3"][0], means.T, spread, strict=True)
        ]
        said |= {side: each(means), f"sd_{side}": row(spread)}
    return Finding(sides["written"], sides["published"], said | {"n": len(facts["written/means"])})


def joined(facts: Facts) -> Finding:
    """The training function joins B and D, the test function does not."""
    sides, said = {}, {}
    for side in LETTERS:
        train, test = facts[f"{side}/joined"].T
        sides[side] = [
            usual("joined by the training function, share of pairs of data sets", train > USUAL),
            usual("separated by the test function, share of pairs of data sets", test < USUAL),
        ]
        said[side] = each(facts[f"{side}/joined"])
    return Finding(sides["written"], sides["published"], said)


def different(facts: Facts) -> Finding:
    """Scores at points of different clusters, two by two."""
    sides = {
        side: [
            above(
                f"{letters[i]} and {letters[j]}",
                np.sign(np.diff(scores.mean(axis=0)[[j, i]])) * differences,
                SUBSTANTIAL,
            )
            for i, j in combinations(range(3), 2)
            for scores in [facts[f"{side}/fresh"]]
            for differences in [scores[:, i] - scores[:, j]]
        ]
        for side, letters in LETTERS.items()
    }
    gaps = {side: row([part.effect for part in parts]) for side, parts in sides.items()}
    return Finding(sides["written"], sides["published"], gaps)


def plane(facts: Facts) -> Finding:
    """Average scores around A, B and C."""
    sides, said = {}, {}
    for side in LETTERS:
        a, b, c = facts[f"{side}/regions"].T
        sides[side] = [above("around A above around B", a - b), above("around B above around C", b - c)]
        said[side] = each(facts[f"{side}/regions"])
    return Finding(sides["written"], sides["published"], said)
