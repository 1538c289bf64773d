"""What Fig. 5, Fig. 9 of the supplement and section 5.1 say, asked of the runs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from paper.claims import Finding
from paper.common import draws_of, listed, plain, row
from paper.fig1.runs import mean_of
from paper.fig5.runs import CLUSTERERS, KS
from paper.printed import PRINTED
from paper.store import Facts
from paper.verdicts import CLOSE, CORRELATED, DIFFERENCE, SUBSTANTIAL, Part, at_most

PAM50 = ("pam50 own", "pam50 23", "pam50 32")


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims; those of the PAM50 genes where cohorts are there."""
    found = {
        "k3": best_k(facts, "three", 3),
        "ranking": ranking(facts, ("three",)),
        "pairs": pairs(facts, ("three",)),
        "roles": roles(facts, ("three",)),
        "crucial": crucial(facts, ("three",)),
        "like": like(facts, ("three",)),
        "numbers": numbers(facts),
        "cohorts": cohorts(facts),
    }
    tags = [tag for tag in PAM50 if f"{tag}/written/ari" in facts]
    if tags:
        found |= {"k4": best_k_pam50(facts, tags)}
        asked = {"ranking": ranking, "pairs": pairs, "roles": roles, "crucial": crucial, "like": like}
        found |= {f"{key}_pam50": ask(facts, tuple(tags)) for key, ask in asked.items()}
    return found


def _sides(facts: Facts, tags: tuple[str, ...], ask: Any) -> tuple[list[Part], list[Part] | None]:
    """Ask one question of both sides; the PAM50 genes have no published side."""
    both: list[Any] = []
    for side in ("written", "published"):
        parts = [
            part
            for tag in tags
            if f"{tag}/{side}/ari" in facts
            for part in ask(facts, tag, side, "" if tag == "three" else f"{tag.split()[1]} genes, ")
        ]
        both.append(parts if parts or side == "written" else None)
    return both[0], both[1]


def _names(facts: Facts, tag: str) -> list[str]:
    return ["→".join(pair) for pair in facts[f"{tag}/pairs"]]


# ---------------------------------------------------------------------------------------------------------------------
# the best number of clusters


def k_parts(facts: Facts, tag: str, side: str, k: int, prefix: str = "") -> list[Part]:
    """Ask for every clusterer and pair whether k is at most a tie below the highest score."""
    ari, at, parts = facts[f"{tag}/{side}/ari"], KS.index(k), []
    for c, name in enumerate(CLUSTERERS):
        for p, pair in enumerate(_names(facts, tag)):
            table = ari[c, :, p]
            top = int(np.nanargmax(mean_of(table)))
            parts.append(at_most(f"{prefix}{name}, {pair}", table[top] - table[at], DIFFERENCE))
    return parts


def best_ks(facts: Facts, tag: str, side: str) -> str:
    """Write each clusterer's best k on average over pairs, with its score."""
    means = mean_of(facts[f"{tag}/{side}/ari"]).mean(axis=2)  # (clusterer, k)
    return listed(f"{name} {KS[int(m.argmax())]} ({plain(m.max())})" for name, m in zip(CLUSTERERS, means, strict=True))


def best_k(facts: Facts, tag: str, k: int) -> Finding:
    """Ask for both sides."""
    sides = {side: k_parts(facts, tag, side, k) for side in ("written", "published")}
    said = {side: best_ks(facts, tag, side) for side in sides}
    means = mean_of(facts[f"{tag}/written/ari"]).mean(axis=2)
    said |= {"at": row(means[:, KS.index(k)]), "at2": row(means[:, 0])}
    said |= {f"yes_{side}": f"{sum(part.yes for part in parts)} of {len(parts)}" for side, parts in sides.items()}
    return Finding(sides["written"], sides["published"], said)


def best_k_pam50(facts: Facts, tags: list[str]) -> Finding:
    """As written on the cohorts that are here; as published from the printed panel, read off."""
    written = [part for tag in tags for part in k_parts(facts, tag, "written", 4, f"{tag.split()[1]} genes, ")]
    panel = PRINTED["fig5_pam50"]
    n = panel["pairs"]
    published = [Part(f"k-means, pair {i + 1}", float(i < panel["k-means at 4"]), 0.5) for i in range(n)]
    published += [Part(f"Birch, pair {i + 1}", float(i >= panel["Birch at 2"]), 0.5) for i in range(n)]
    best = "; ".join(f"{tag.split()[1]} genes: {best_ks(facts, tag, 'written')}" for tag in tags)
    return Finding(
        written,
        published,
        {
            "best": best,
            "cohorts": "; ".join(listed(facts[f"{tag}/cohorts"]) for tag in tags),
            "yes": f"{sum(part.yes for part in written)} of {len(written)}",
            "kmeans": panel["k-means at 4"],
            "birch": panel["Birch at 2"],
        },
    )


# ---------------------------------------------------------------------------------------------------------------------
# what changes scores


def ranking(facts: Facts, tags: tuple[str, ...]) -> Finding:
    """Two clusterers with one k: whether ARI and AMI put them in the same order, or both call it a tie."""

    def ask(facts: Facts, tag: str, side: str, prefix: str) -> list[Part]:
        ari, ami = (facts[f"{tag}/{side}/{a}"].mean(axis=2) for a in ("ari", "ami"))  # (clusterer, k, resample)
        parts = []
        for j, k in enumerate(KS):
            for c, d in combinations(range(len(CLUSTERERS)), 2):
                first, second = ari[c, j] - ari[d, j], ami[c, j] - ami[d, j]
                effect, error = _agreement(first, second)
                parts.append(Part(f"{prefix}k = {k}, {CLUSTERERS[c]} and {CLUSTERERS[d]}", effect, -DIFFERENCE, error))
        return parts

    written, published = _sides(facts, tags, ask)
    said = {"yes": f"{sum(part.yes for part in written)} of {len(written)}"}
    said["yes_published"] = f"{sum(p.yes for p in published)} of {len(published)}" if published else ""
    return Finding(written, published, said)


def _agreement(first: Any, second: Any) -> tuple[float, float]:
    """How far two differences agree in sign: positive where they do, else minus the larger of both sizes."""

    def value(a: float, b: float) -> float:
        return min(abs(a), abs(b)) if a * b >= 0 else -max(abs(a), abs(b))

    draws = draws_of(len(first), 100)
    again = [value(float(first[rows].mean()), float(second[rows].mean())) for rows in draws]
    return value(float(np.nanmean(first)), float(np.nanmean(second))), float(np.nanstd(again, ddof=1))


def _means(facts: Facts, tag: str, side: str) -> Any:
    return mean_of(facts[f"{tag}/{side}/ari"])  # (clusterer, k, pair)


def pairs(facts: Facts, tags: tuple[str, ...]) -> Finding:
    """How far a pair's scores are from the average over pairs, on average over settings."""

    def ask(facts: Facts, tag: str, side: str, prefix: str) -> list[Part]:
        means = _means(facts, tag, side)
        away = np.abs(means - means.mean(axis=2, keepdims=True)).mean(axis=(0, 1))
        return [
            at_most(f"{prefix}{name}", [value], SUBSTANTIAL)
            for name, value in zip(_names(facts, tag), away, strict=True)
        ]

    return _sizes(facts, tags, ask)


def _sizes(facts: Facts, tags: tuple[str, ...], ask: Any) -> Finding:
    """Write the sizes of all changes."""
    written, published = _sides(facts, tags, ask)
    return Finding(
        written,
        published,
        {
            "written": row([part.effect * np.sign(part.level) for part in written]),
            "published": row([part.effect * np.sign(part.level) for part in published or ()]),
        },
    )


def roles(facts: Facts, tags: tuple[str, ...]) -> Finding:
    """How much a score changes when training and test study change roles, on average over settings."""

    def ask(facts: Facts, tag: str, side: str, prefix: str) -> list[Part]:
        means, names = _means(facts, tag, side), [tuple(pair) for pair in facts[f"{tag}/pairs"]]
        return [
            at_most(
                f"{prefix}{names[p][0]} and {names[p][1]}",
                [np.abs(means[..., p] - means[..., names.index(names[p][::-1])]).mean()],
                SUBSTANTIAL,
            )
            for p in range(len(names))
            if p < names.index(names[p][::-1])
        ]

    return _sizes(facts, tags, ask)


def crucial(facts: Facts, tags: tuple[str, ...]) -> Finding:
    """How much another clusterer, and another k, change a score, on average."""

    def ask(facts: Facts, tag: str, side: str, prefix: str) -> list[Part]:
        means = _means(facts, tag, side)
        sizes = {
            words: np.mean([np.abs(means.take(i, axis) - means.take(j, axis)).mean() for i, j in couples])
            for words, axis in (("another clusterer", 0), ("another k", 1))
            for couples in [list(combinations(range(means.shape[axis]), 2))]
        }
        return [Part(f"{prefix}{words}", float(size), SUBSTANTIAL) for words, size in sizes.items()]

    return _sizes(facts, tags, ask)


# ---------------------------------------------------------------------------------------------------------------------
# subtypes, and printed numbers


def like(facts: Facts, tags: tuple[str, ...]) -> Finding:
    """Rank correlation of score and likeness to the subtypes over settings, on every pair."""

    def ask(facts: Facts, tag: str, side: str, prefix: str) -> list[Part]:
        ari, likes = facts[f"{tag}/{side}/ari"], facts[f"{tag}/{side}/like"]
        draws = [np.arange(ari.shape[-1]), *draws_of(ari.shape[-1], len(likes) - 1)]
        scores = np.array([mean_of(ari[..., rows]) for rows in draws])
        parts = []
        for p, name in enumerate(_names(facts, tag)):
            rho = [
                float(spearmanr(s[..., p].ravel(), t[..., p].ravel())[0]) for s, t in zip(scores, likes, strict=True)
            ]
            parts.append(Part(f"{prefix}{name}", rho[0], CORRELATED, float(np.std(rho[1:], ddof=1))))
        return parts

    return _sizes(facts, tags, ask)


def numbers(facts: Facts) -> Finding:
    """The stored means of one pair."""
    p = [tuple(pair) for pair in facts["three/pairs"]].index(("vdx", "mainz"))
    sides, said = {}, {}
    for side in ("written", "published"):
        means = mean_of(facts[f"three/{side}/ari"])[0, : len(PRINTED["fig5"]), p]
        sides[side] = [
            at_most(f"k = {k}", [abs(ours - stored)], 0.005 if stored > 0.9 else CLOSE / 2)
            for k, ours, stored in zip(KS, means, PRINTED["fig5"], strict=False)
        ]
        said[side] = row(means, 3)
    return Finding(sides["written"], sides["published"], said)


def cohorts(facts: Facts) -> Finding:
    """The sizes of the cohorts."""
    counts = dict(zip(facts["three/cohorts"], map(int, facts["three/sizes"]), strict=True))
    parts = [Part(name, -abs(counts[name] - n)) for name, n in PRINTED["cohorts"].items()]
    return Finding(parts, parts, {"counts": listed(f"{name} {n}" for name, n in counts.items())})
