"""What Fig. 1 and section 4.1 say, asked of the runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from paper.claims import Finding
from paper.common import AGREEMENTS, error_of, listed, number, row, with_bootstrap_error
from paper.fig1.runs import CLUSTERERS, DENSITY, TRUTH, mean_of
from paper.printed import PRINTED
from paper.store import Facts
from paper.verdicts import CLOSE, DIFFERENCE, HIGH, SUBSTANTIAL, Part, above, at_most, usual

WELL_SEPARATED = ("d31", "r15")


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims."""
    return {
        "peak": peak(facts),
        "flat": flat(facts),
        "only_dbscan": only_dbscan(facts),
        "few_arms": few_arms(facts),
        "tune_k": tune_k(facts),
        "choose_algorithm": choose_algorithm(facts),
        "numbers": numbers(facts),
        "sizes": sizes(facts),
    }


def below_highest(table: Any, at: int, name: str) -> Part:
    """Ask whether a row is as high as the highest, from (k, resample)."""
    top = int(np.nanargmax(mean_of(table)))
    if not np.isfinite(table[at]).any():
        return Part(name, -np.inf, -DIFFERENCE)
    return at_most(name, table[top] - table[at], DIFFERENCE)


def best_k(facts: Facts, table: Any) -> int:
    """The k with the highest mean."""
    return int(facts["ks"][np.nanargmax(mean_of(table))])


def peak(facts: Facts) -> Finding:
    """Well separated round clusters: the highest score is at their number."""
    ks, sides, best = list(facts["ks"]), {}, {}
    for side in ("written", "published"):
        sides[side] = [
            below_highest(table, ks.index(TRUTH[name]), f"{name}, {clusterer}, {agreement.upper()}")
            for name in WELL_SEPARATED
            for agreement in AGREEMENTS
            for clusterer, table in zip(CLUSTERERS, facts[f"{name}/{side}/{agreement}"], strict=True)
        ]
        best |= {
            f"{side}_{name}": listed(best_k(facts, table) for table in facts[f"{name}/{side}/ari"])
            for name in WELL_SEPARATED
        }
    return Finding(sides["written"], sides["published"], best)


def near_top(table: Any) -> float:
    """How many k have a mean that is close to the highest."""
    means = mean_of(table)
    return float((means >= np.nanmax(means) - CLOSE).sum())


def flat(facts: Facts) -> Finding:
    """Aggregation: more k come close to the highest score than on the sets with well separated clusters."""
    sides, widths = {}, {}
    for side in ("written", "published"):
        width = {
            name: [with_bootstrap_error(near_top, table) for table in facts[f"{name}/{side}/ari"]]
            for name in ("aggregation", *WELL_SEPARATED)
        }
        sides[side] = [
            Part(f"{clusterer}, than on {name}", flat_here - peaked, 1.0, float(np.hypot(error, other)))
            for name in WELL_SEPARATED
            for clusterer, (flat_here, error), (peaked, other) in zip(
                CLUSTERERS, width["aggregation"], width[name], strict=True
            )
        ]
        widths |= {f"{side}_{name}": row([value for value, _ in of_set], 0) for name, of_set in width.items()}
    return Finding(sides["written"], sides["published"], widths)


def only_dbscan(facts: Facts) -> Finding:
    """Spiral: whether some eps gives the arms in both halves."""
    arms = {key: facts[f"arms/{key}"] for key in ("within", "between", "found", "density", "others", "whole")}
    three, without = facts["spiral/published/three"], facts["spiral/published/three without class"]
    alone = arms["found"] & (arms["others"] < HIGH)
    written = [usual("some eps gives the three arms in both halves, nothing else does, share of splits", alone)]
    published = [usual("some eps has three clusters in both halves, share of splits", three)]
    return Finding(
        written,
        published,
        {
            "found": int(arms["found"].sum()),
            "n": len(arms["found"]),
            "within": number(arms["within"]),
            "between": number(arms["between"]),
            "whole": f"{arms['whole'][0]:.2f} and {arms['whole'][1]:.2f}",
            "density": number(arms["density"]),
            "others": number(arms["others"]),
            "three": int(three.sum()),
            "splits": len(three),
            "without": int(without.sum()),
        },
    )


def few_arms(facts: Facts) -> Finding:
    """Spiral: DBSCAN's scores where both halves have two, or three, clusters."""
    scores, clusters = facts["spiral/density/ari"], facts["spiral/density/clusters"]
    written, said = [], {}
    for k in (2, 3):
        at = (clusters == k).all(axis=2)  # (eps, resample)
        reached = np.where(at, scores, np.nan)
        per_resample = mean_of(reached.T)  # (resample,)
        written += [usual(f"k = {k} in both halves, share of resamples", at.any(axis=0))]
        written += [above(f"score at k = {k}", per_resample, HIGH)]
        said |= {f"share{k}": int(at.any(axis=0).sum()), f"score{k}": number(per_resample)}
    three_score = facts["spiral/published/three score"]
    published = [
        usual("k = 3 in both halves, share of splits", facts["spiral/published/three"]),
        above("score at k = 3", three_score, HIGH),
    ]
    return Finding(written, published, said | {"n": scores.shape[1], "three_score": number(three_score)})


def tune_k(facts: Facts) -> Finding:
    """The k of the highest score against the k that is nearest to the classes."""
    parts, said = [], {}
    for name in TRUTH:
        near, losses = facts[f"{name}/near"], []
        for c, clusterer in enumerate(CLUSTERERS):
            table = facts[f"{name}/written/ari"][c]

            def loss(scores: Any, near: Any = near[c]) -> float:
                return float(near.max() - near[np.nanargmax(mean_of(scores))])

            value, error = with_bootstrap_error(loss, table)
            parts.append(Part(f"{name}, {clusterer}", -value, -SUBSTANTIAL, float(error)))
            losses.append(value)
        said[name] = row(losses)
    return Finding(parts, None, said)


def choose_algorithm(facts: Facts) -> Finding:
    """The algorithm with the highest score against the one nearest to the classes."""
    parts, said = [], {}
    for name in TRUTH:
        names, scores = list(facts[f"{name}/choice/names"]), facts[f"{name}/choice/scores"]
        near, settings = facts[f"{name}/choice/near"], facts[f"{name}/choice/settings"]
        top, nearest = int(np.argmax(scores)), int(np.argmax(near.mean(axis=1)))
        parts.append(at_most(name, near[nearest] - near[top], SUBSTANTIAL))
        at = f"eps {settings[top]:.2f}" if names[top] == DENSITY else f"k = {settings[top]:.0f}"
        said[name] = f"{names[top]} ({at}) {number(near[top])}" + (
            "" if top == nearest else f", nearest {names[nearest]} {number(near[nearest])}"
        )
    return Finding(parts, None, said)


def numbers(facts: Facts) -> Finding:
    """The printed peaks: within what single splits give."""
    ks, written, published, said = list(facts["ks"]), [], [], []
    for name, printed in PRINTED["fig1"].items():
        for c, (clusterer, (score, k)) in enumerate(zip(CLUSTERERS, printed, strict=True)):
            splits = facts[f"{name}/published/splits"][:, c]
            spread = max(float(splits.std(ddof=1)), 0.005)
            published.append(at_most(f"{name}, {clusterer}", [abs(score - splits.mean())], 2 * spread + CLOSE / 5))
            said.append(f"{name} {clusterer} {score:.3f}, {number(splits)}")
            if k in ks:
                table = facts[f"{name}/written/ari"][c, ks.index(k)]
                distance, error = abs(score - mean_of(table)), float(error_of(table))
                written.append(Part(f"{name}, {clusterer}", -float(distance), -2 * spread - CLOSE / 5, error))
    return Finding(written, published, {"pairs": "; ".join(said)})


def sizes(facts: Facts) -> Finding:
    """The sizes of the sets."""
    counts = [int(n) for n in facts["n_points"]]
    parts = [
        Part(name, -abs(n - printed)) for name, n, printed in zip(TRUTH, counts, PRINTED["fig1_sizes"], strict=True)
    ]
    return Finding(parts, parts, {"counts": listed(counts)})
