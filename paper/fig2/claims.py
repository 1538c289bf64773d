"""What Fig. 2 and section 4.2 say, asked of the runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from paper.claims import Finding
from paper.common import number, plain, row
from paper.fig2.runs import AFFINITY, KS, PRINTED, TRUE_K, group
from paper.printed import PRINTED as NUMBERS
from paper.store import Facts
from paper.verdicts import DIFFERENCE, SUBSTANTIAL, TWO_SDS, Part, above, at_most

SIDES = ("written", "published")


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims."""
    return {
        "higher": higher(facts),
        "lower": lower(facts),
        "true_k": true_k(facts),
        "affinity": affinity(facts),
        "numbers": numbers(facts),
    }


def settings(facts: Facts, side: str) -> dict[str, Any]:
    """The matrices of all settings of the figure, by name."""
    found = {f"{name}, k = {k}": facts[f"{side}/{name}/{k}"] for name in PRINTED for k in KS}
    return found | {AFFINITY: facts[f"{side}/{AFFINITY}"]}


def gap(matrices: Any) -> Any:
    """By how much scores within a mixture are above those across, on the same draws."""
    return group(matrices, "within") - group(matrices, "across")


def higher(facts: Facts) -> Finding:
    """Within a mixture above across mixtures: every setting, and every permutation."""
    written = gaps_as_written(facts, DIFFERENCE)
    published = [above(name, gap(matrices)) for name, matrices in settings(facts, "published").items()]
    over = gap(facts["permutations"]).mean(axis=1)
    kept = np.asarray(facts["counts/kept"])
    return Finding(
        written,
        published,
        {
            "yes": sum(part.yes for part in written[: len(published)]),
            "settings": len(published),
            "permutations": len(over),
            "above": int((over >= DIFFERENCE).sum()),
            "yes_published": sum(part.yes for part in published),
            "same": int((kept == 1).sum()),
            "counted": len(kept),
            "source": facts["source"],
        },
    )


def gaps_as_written(facts: Facts, level: float) -> list[Part]:
    """Ask for every setting under the first permutation, and for k-means at 16 under every permutation."""
    parts = [above(name, gap(matrices), level) for name, matrices in settings(facts, "written").items()]
    several = [above(f"permutation {i + 1}", gap(m), level) for i, m in enumerate(facts["permutations"])]
    return [*parts, *several]


def lower(facts: Facts) -> Finding:
    """Across mixtures substantially lower."""
    published = [above(name, gap(matrices), SUBSTANTIAL) for name, matrices in settings(facts, "published").items()]
    within, across = (group(facts["permutations"], name).mean(axis=1) for name in ("within", "across"))
    swapped = [facts[f"published/k-means/{TRUE_K}"]]
    return Finding(
        gaps_as_written(facts, SUBSTANTIAL),
        published,
        {
            "within": number(within, 3),
            "across": number(across, 3),
            "lowest": plain(across.min(), 3),
            "within_published": number(group(swapped[0], "within"), 3),
            "across_published": number(group(swapped[0], "across"), 3),
            "n": len(across),
            "swapped": f"{100 * float(facts['swapped/kept']):.1f}",
        },
    )


def true_k(facts: Facts) -> Finding:
    """Within a mixture, the score at 16 against the best other number."""
    sides, said = {}, {}
    for side in SIDES:
        scores = {name: {k: group(facts[f"{side}/{name}/{k}"], "within") for k in KS} for name in PRINTED}
        sides[side] = [
            above(f"{name}, than k = {k}", by_k[TRUE_K] - by_k[k])
            for name, by_k in scores.items()
            for k in KS
            if k != TRUE_K
        ]
        said[side] = "; ".join(f"{name} {row([by_k[k].mean() for k in KS])}" for name, by_k in scores.items())
    return Finding(sides["written"], sides["published"], said)


def affinity(facts: Facts) -> Finding:
    """Affinity propagation against each other algorithm, averaged over the numbers of clusters of the figure."""
    sides, said = {}, {}
    for side in SIDES:
        ours = group(facts[f"{side}/{AFFINITY}"], "within")
        others = {name: np.mean([group(facts[f"{side}/{name}/{k}"], "within").mean() for k in KS]) for name in PRINTED}
        sides[side] = [above(f"than {name}", other - ours) for name, other in others.items()]
        said[side] = number(ours)
        said[f"others_{side}"] = row(others.values())
        said[f"clusters_{side}"] = f"{facts[f'{side}/{AFFINITY}/clusters'].mean():.0f}"
    best = max(
        (group(matrices, "within").mean(), f"damping {damping:g}, {words}", clusters)
        for words in ("repeated", "once")
        for matrices, damping, clusters in zip(
            facts[f"damped/{words}"], facts["dampings"], facts[f"damped/{words}/clusters"], strict=True
        )
    )
    return Finding(
        sides["written"],
        sides["published"],
        said | {"best": plain(best[0], 3), "best_at": best[1], "best_clusters": f"{best[2]:.0f}"},
    )


def numbers(facts: Facts) -> Finding:
    """The stored numbers at k = 16 against divisions of the data into four studies."""
    sides: dict[str, list[Part]] = {side: [] for side in SIDES}
    said = []
    stored = {} if facts["simulated"] else NUMBERS["fig2"]  # other data have other numbers
    for name, printed in stored.items():
        for words, number_printed in zip(("within", "across"), printed, strict=True):
            several = group(facts[f"dealings/{name}"], words)
            spread = TWO_SDS * max(float(several.std(ddof=1)), 0.005)
            away = at_most(f"{name}, {words}", [abs(number_printed - several.mean())], spread)
            sides["published"].append(away)
            written = group(facts[f"written/{name}/{TRUE_K}"], words)
            sides["written"].append(at_most(f"{name}, {words}", abs(number_printed - written.mean()), spread))
        ours = [group(facts[f"dealings/{name}"], words).mean() for words in ("within", "across")]
        said.append(f"{name} {row(printed, 3)}: {row(ours, 3)}")
    return Finding(
        sides["written"], sides["published"], {"pairs": "; ".join(said), "n": len(facts["dealings/k-means"])}
    )
