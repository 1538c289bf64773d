"""What appendix A.1 says, asked of the runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from paper.a1.runs import AGREEMENTS, WRITTEN
from paper.claims import Finding
from paper.common import listed, plain, row, with_bootstrap_error
from paper.printed import PRINTED
from paper.store import Facts
from paper.verdicts import CLOSE, COVERAGE, TWO_SDS, Part, at_most

SIDES = ("written", "published")


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims."""
    return {
        "means_1": means(facts, 1),
        "means_2": means(facts, 2),
        "intervals": intervals(facts),
        "quantiles": quantiles(facts),
        "numbers": numbers(facts),
    }


def distances(facts: Facts, setting: int, side: str) -> list[Part]:
    """Ask at every k and agreement how far the bootstrap mean of a data set is from R, as a root mean square."""
    errors = facts[f"{setting}/{side}/means"] - facts[f"{setting}/{side}/truth"]
    size, error = with_bootstrap_error(root_mean_square, np.moveaxis(errors, 0, -1))  # (k, agreement) each
    return [
        Part(f"k = {k}, {name}", -float(size[c, a]), -CLOSE, float(error[c, a]))
        for c, k in enumerate(facts[f"{setting}/{side}/ks"])
        for a, name in enumerate(AGREEMENTS)
    ]


def root_mean_square(values: Any) -> Any:
    """Over the last axis."""
    return np.sqrt(np.mean(values**2, axis=-1))


def means(facts: Facts, setting: int) -> Finding:
    """Bootstrap means of one data set against the mean over fresh pairs."""
    sides = {side: distances(facts, setting, side) for side in SIDES}
    said = {}
    for side, parts in sides.items():
        said[side] = listed(
            f"{part.name} {plain(-part.effect)}" for part in parts if not part.yes and "ARI" in part.name
        )
        values = facts[f"{setting}/{side}/means"][:, 0, 0]
        said[f"range_{side}"] = f"{plain(values.min())} to {plain(values.max())}"
        said[f"truth_{side}"] = plain(facts[f"{setting}/{side}/truth"][0, 0])
    said["components"] = str(WRITTEN[setting - 1].n_components)
    return Finding(sides["written"], sides["published"], said)


def intervals(facts: Facts) -> Finding:
    """Coverage of 95 % intervals, below the number of components and from it on, in both settings."""
    sides, said = {}, {}
    for side in SIDES:
        parts = []
        for setting in (1, 2):
            covered = facts[f"{setting}/{side}/covered"].astype(float)  # (data set, k, agreement)
            enough = np.asarray(facts[f"{setting}/{side}/ks"]) >= WRITTEN[setting - 1].n_components
            for words, at in (("below the number of components", ~enough), ("from it on", enough)):
                by_set = covered[:, at].mean(axis=(1, 2))
                n = len(by_set)
                error = max(by_set.std(ddof=1) / np.sqrt(n), 0.5 / n)  # never as if few data sets could say all
                parts.append(Part(f"setting {setting}, k {words}", float(by_set.mean()), COVERAGE, float(error)))
        sides[side] = parts
        said[side] = listed(f"{part.name} {plain(part.effect)}" for part in parts)
    return Finding(sides["written"], sides["published"], said)


def quantiles(facts: Facts) -> Finding:
    """Mean distance of quantiles at every k, both settings."""
    sides, said = {}, {}
    for side in SIDES:
        sides[side] = [
            at_most(f"setting {setting}, k = {k}, {name}", facts[f"{setting}/{side}/gaps"][:, c, a], CLOSE)
            for setting in (1, 2)
            for c, k in enumerate(facts[f"{setting}/{side}/ks"])
            for a, name in enumerate(AGREEMENTS)
        ]
        far = [part.name.removesuffix(", ARI") for part in sides[side] if not part.yes and part.name.endswith("ARI")]
        said[side] = listed(far)
    return Finding(sides["written"], sides["published"], said)


def numbers(facts: Facts) -> Finding:
    """The stored means: within what single data sets give; Monte Carlo means to the second decimal."""
    sides: dict[str, list[Part]] = {side: [] for side in SIDES}
    said = []
    for i, stored in enumerate(PRINTED["a1"]):
        for side in SIDES:
            ks = list(facts[f"{i + 1}/{side}/ks"])
            for k, (bootstrap, monte_carlo) in stored.items():
                if k not in ks:
                    continue
                values, truth = (
                    facts[f"{i + 1}/{side}/means"][:, ks.index(k), 0],
                    facts[f"{i + 1}/{side}/truth"][ks.index(k), 0],
                )
                spread = TWO_SDS * max(float(values.std(ddof=1)), 0.005)
                name = f"setting {i + 1}, k = {k}"
                sides[side].append(Part(f"{name}, bootstrap", -abs(bootstrap - float(values.mean())), -spread))
                error = float(facts[f"{i + 1}/{side}/truth error"][ks.index(k), 0])
                sides[side].append(
                    Part(f"{name}, Monte Carlo", -abs(monte_carlo - float(truth)), -(0.005 + TWO_SDS * 1.5 * error))
                )
                if side == "published":
                    ours = row([values.mean(), truth], 3).replace(", ", " / ")
                    said.append(f"{name}: {bootstrap:.3f} / {monte_carlo:.3f}, ours {ours}")
    return Finding(sides["written"], sides["published"], {"pairs": "; ".join(said)})
