"""How often intervals cover R where cells come from donors: cells drawn one by one, and donors drawn first.

R is the expected score of a clustering function learned on new donors and tested on other new donors, as many of each
as in the studies; here the mean over fresh pairs of studies. Donors differ in the shares of cell types and in location.
Prints the table of docs/single-cells.md: `python -m calibration.donors`.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest
from sklearn.cluster import KMeans

import clustrep as cr

N_CELLS, N_FEATURES, N_TYPES = 30, 4, 3
CENTRES = 2.2 * np.random.default_rng(0).normal(size=(N_TYPES, N_FEATURES))
FRESH, PAIRS, RESAMPLES, LEVEL = 200, 60, 60, 0.95
DESIGNS = {
    "8 donors, alike": (8, 0.0, 100.0),
    "8 donors that differ": (8, 0.7, 2.0),
    "20 donors that differ": (20, 0.7, 2.0),
}
SCHEMES = {
    "cells": cr.resampling.Bootstrap(),
    "cells, each once": cr.resampling.Bootstrap(distinct=True),
    "donors, then cells": cr.resampling.Bootstrap(groups="donor"),
    "donors, then cells, each once": cr.resampling.Bootstrap(distinct=True, groups="donor"),
    "80 % of the donors": cr.resampling.Subsample(0.8, groups="donor"),
}


def study(name: str, n_donors: int, shift: float, evenness: float, rng: np.random.Generator) -> cr.Study:
    """Draw the cells of some donors, whose locations and shares of types vary."""
    cells = []
    for _ in range(n_donors):
        types = rng.choice(N_TYPES, size=N_CELLS, p=rng.dirichlet(np.full(N_TYPES, evenness)))
        moved = CENTRES + shift * rng.normal(size=CENTRES.shape)
        cells.append(moved[types] + rng.normal(size=(N_CELLS, N_FEATURES)))
    donors = [f"{name}{i // N_CELLS}" for i in range(n_donors * N_CELLS)]
    return cr.Study(np.concatenate(cells), name, groups={"donor": donors})


def pair(design: tuple[int, float, float], role: int, number: int) -> cr.Studies:
    """Draw two studies."""
    rng = np.random.default_rng([role, number, design[0], int(10 * design[1])])
    return cr.Studies([study(name, *design, rng) for name in ("train", "test")])


def scores(studies: cr.Studies, resampling: object, n_resamples: int) -> cr.results.Replicability:
    return cr.replicability(
        KMeans(N_TYPES, n_init=3), studies, n_resamples=n_resamples, resampling=resampling, diagonal=False, rng=1
    )


def main() -> None:
    print("| donors of a study | drawn | covers R | width of the interval |")
    print("|---|---|---|---|")
    for name, design in DESIGNS.items():
        truth = np.mean([scores(pair(design, 1, i), cr.resampling.Bootstrap(), 1).estimate[0, 1] for i in range(FRESH)])
        for scheme, resampling in SCHEMES.items():
            intervals = []
            for i in range(PAIRS):
                low, high = scores(pair(design, 2, i), resampling, RESAMPLES).confidence_interval(LEVEL)
                intervals.append((low[0, 1], high[0, 1]))
            lows, highs = np.array(intervals).T
            n_covered = int(((lows <= truth) & (truth <= highs)).sum())
            between = binomtest(n_covered, PAIRS).proportion_ci(0.95)
            print(
                f"| {name} | {scheme} | {n_covered / PAIRS:.0%} ({between.low:.0%} to {between.high:.0%}) | "
                f"{np.mean(highs - lows):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
