"""Features of clusters: errors on noise, power on true differences: `python -m calibration.features [--data-sets N]`.

Noise: samples without clusters are cut by k-means of all studies together, and every feature is tested: a p-value of at
most 5 % is an error. Clusters: two groups that differ in two of the features; the others are noise.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import binomtest, false_discovery_control
from sklearn.cluster import KMeans

from clustrep.findings.features import differences, joint_pvalues

LEVEL = 0.05
# Samples of each of three studies; features; clusters; separation in within-cluster sd (0: noise).
SETTINGS = [
    (100, 3, 2, 0.0),
    (100, 10, 2, 0.0),
    (100, 10, 4, 0.0),
    (60, 100, 2, 0.0),
    (100, 10, 2, 5.0),
    (40, 50, 2, 5.0),
]
DIFFERENT = 2  # features


def studies_of(n: int, p: int, separation: float, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw three studies with different shares of two clusters, and a shift of each."""
    tables = []
    for share in (0.5, 0.3, 0.6):
        kind = rng.random(n) < share
        X = rng.normal(size=(n, p))
        X[:, :DIFFERENT] += separation / np.sqrt(DIFFERENT) * kind[:, None]
        tables.append(X)
    return tables


def rates(setting: tuple[int, int, int, float], n_data_sets: int) -> tuple[int, int, int, int, int]:
    """Return errors and tests of single p-values, data sets with any false discovery, and true differences found."""
    n, p, k, separation = setting
    errors = tests = any_false = found = true = 0
    for number in range(n_data_sets):
        rng = np.random.default_rng([2026, SETTINGS.index(setting), number])
        tables = studies_of(n, p, separation, rng)
        model = KMeans(k, n_init=5, random_state=0).fit(np.concatenate(tables))
        valley_p = np.full((k, len(tables)), 1e-4) if separation else None
        tested = differences(tables, [model.predict(X) for X in tables], valley_p)
        pvalue = joint_pvalues(tested.higher, tested.lower)
        fdr = np.ones_like(pvalue)
        known = np.isfinite(pvalue)
        fdr[known] = false_discovery_control(pvalue[known])
        noise = slice(DIFFERENT if separation else 0, None)
        errors += int((pvalue[:, noise] <= LEVEL).sum())
        tests += pvalue[:, noise].size
        any_false += bool((fdr[:, noise] <= LEVEL).any())
        found += int((fdr[:, :DIFFERENT] <= LEVEL).sum()) if separation else 0
        true += k * DIFFERENT if separation else 0
    return errors, tests, any_false, found, true


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=200)
    n_data_sets = parser.parse_args().data_sets
    print("| samples a study | features | clusters | separation | p ≤ 0.05 | any false discovery | differences found |")
    print("|---|---|---|---|---|---|---|")
    for setting in SETTINGS:
        errors, tests, any_false, found, true = rates(setting, n_data_sets)
        low, high = binomtest(any_false, n_data_sets).proportion_ci()
        share = f"{found / true:.0%}" if true else ""
        print(
            f"| {setting[0]} | {setting[1]} | {setting[2]} | {setting[3] or 'noise'} | {errors / tests:.1%} "
            f"| {any_false / n_data_sets:.1%} ({low:.1%}–{high:.1%}) | {share} |"
        )


if __name__ == "__main__":
    main()
