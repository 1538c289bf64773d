"""Annotations of clusters: errors without a difference, power with one: `python -m calibration.annotations`.

Three studies of 80 samples have three clusters. Without a difference, annotations are drawn whatever the cluster is:
a p-value of at most 5 % is an error. Otherwise they differ between clusters in one study alone, in all studies in the
same direction, or in each study in another direction.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from clustrep.findings.annotations import annotations_of

N, K, STUDIES, LEVEL = 80, 3, ("a", "b", "c"), 0.05
STRENGTH = 0.8  # difference between clusters, in sd or as a log odds ratio or log hazard ratio
CASES = ("none", "in one study", "same direction", "other directions")


def numbers(risk: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"x": risk + rng.normal(size=len(risk))}


def skewed(risk: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"x": np.exp(2 * (risk + rng.normal(size=len(risk))))}


def yes_or_no(risk: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"x": np.where(rng.random(len(risk)) < 1 / (1 + np.exp(-2 * risk)), "yes", "no")}


def rare(risk: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"x": np.where(rng.random(len(risk)) < 0.06 * np.exp(2 * risk), "yes", "no")}


def four_classes(risk: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    odds = np.exp(np.outer(risk, [1.5, 0.5, -0.5, -1.5]) + rng.gumbel(size=(len(risk), 4)))
    return {"x": np.array(list("pqrs"))[odds.argmax(axis=1)]}


def survival(risk: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    time, censored = rng.exponential(np.exp(-risk)), rng.exponential(1.5, len(risk))
    return {"months": np.minimum(time, censored), "x": (time <= censored).astype(int)}


KINDS: dict[str, Callable[[np.ndarray, np.random.Generator], dict[str, np.ndarray]]] = {
    "number": numbers,
    "skewed number": skewed,
    "two values": yes_or_no,
    "two values, one of them in 6 %": rare,
    "four classes": four_classes,
    "survival": survival,
}


def rejected(kind: str, case: str, number: int) -> tuple[int, int, bool]:
    """Return rejections and tests of single studies, and whether a difference in two studies is found."""
    rng = np.random.default_rng([2026, list(KINDS).index(kind), CASES.index(case), number])
    frames, codes, order = [], [], rng.permutation(3)
    for s, study in enumerate(STUDIES):
        code = rng.choice(K, N, p=rng.dirichlet(np.full(K, 6.0)))
        profile = np.array([1.0, 0.0, -1.0]) * STRENGTH
        if case == "none" or (case == "in one study" and s):
            profile = np.zeros(K)
        if case == "other directions":
            profile = np.roll(profile, order[s])
        frame = pd.DataFrame(KINDS[kind](profile[code], rng))
        frame[rng.random(N) < 0.1] = np.nan  # unknown
        frames.append(frame.assign(study=study, sample=range(N)))
        codes.append(code)
    findings = SimpleNamespace(
        names=STUDIES,
        letters=tuple("ABC"),
        n_clusters=K,
        codes=np.concatenate(codes),
        sizes=np.array([N] * len(STUDIES)),
        samples=np.tile(np.arange(N).astype(str), len(STUDIES)),
    )
    found = annotations_of(findings, pd.concat(frames), ("months", "x") if kind == "survival" else None)
    pvalue = found.pvalue[0][np.isfinite(found.pvalue[0])]
    return int((pvalue <= LEVEL).sum()), len(pvalue), bool(found.summary()["pvalue"].iloc[0] <= LEVEL)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=500)
    n = parser.parse_args().data_sets
    print("| annotation | difference | p ≤ 0.05 in a study | p ≤ 0.05 for the same direction in two studies |")
    print("|---|---|---|---|")
    for kind in KINDS:
        for case in CASES:
            outcomes = [rejected(kind, case, number) for number in range(n)]
            alone, tests, joint = (sum(column) for column in zip(*outcomes, strict=True))
            low, high = binomtest(joint, n).proportion_ci()
            print(f"| {kind} | {case} | {alone / tests:.1%} | {joint / n:.1%} ({low:.1%}–{high:.1%}) |", flush=True)


if __name__ == "__main__":
    main()
