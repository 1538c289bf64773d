"""Attack the files that federated sites exchange, and print how often each attack works.

python -m attacks.run              as many studies as the page tells
python -m attacks.run --quick      a few, as CI does
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import clustrep as cr
from attacks import forging, probing, reading
from clustrep.federated.files import SiteFunctions, SiteScores

TRUSTING = "for partners who trust each other"
N_STUDIES, N_QUICK = 100, 5


def scoring(study: cr.Study, **options: object) -> Callable[[SiteFunctions], SiteScores]:
    """Return a site that scores whatever it gets, with secret draws and scores of one decimal."""
    rules = cr.federated.Disclosure(secret=reading.SECRET)
    return lambda file: cr.federated.score(study, [file], decimals=1, disclosure=rules, **options)  # type: ignore[arg-type]


def values(n: int, p: int, seed: int, *, mean: float = 0.0, sd: float = 1.0) -> cr.Study:
    """Return a study of one round group."""
    X = mean + sd * np.random.default_rng([seed, n, p, 1]).normal(size=(n, p))
    return cr.Study(X, "victim", features=[f"x{j}" for j in range(p)], label=False)


def of_readers(n_studies: int) -> list[tuple[str, str, str]]:
    """Attack honest files of functions."""
    exact = [reading.patients(120, 5, seed) for seed in range(n_studies)]
    given = [reading.differenced(study, reading.learned(study)) for study in exact]
    rounded = [reading.patients(120, 5, seed, decimals=2) for seed in range(n_studies)]
    claims = np.sum([reading.claimed(study, reading.learned(study)) for study in rounded], axis=0)
    setting = "`learn`: k-means, k = 2 to 6, secret draws, at least 10 patients in every cluster; 120 × 5"
    return [
        (
            "Differencing of clusters and unions of clusters of several k",
            setting,
            f"{sum(map(bool, given))} of {n_studies} files give at least one patient to 1e-6, {sum(given)} in all",
        ),
        (
            "The same with values of two decimals, claimed where a difference lies on their grid",
            setting,
            f"{claims[0]} patients claimed in {n_studies} files, {claims[1]} right",
        ),
    ]


def of_probers(n_studies: int) -> list[tuple[str, str, str]]:
    """Attack the scoring of functions."""
    located = [probing.located(study, scoring(study)) for study in (values(150, 2, s) for s in range(n_studies))]
    tall = [values(150, 3, s, mean=50.0, sd=5.0) for s in range(n_studies)]
    errors = [probing.bisected(study, scoring(study)) for study in tall]
    infected = cr.Study(
        np.column_stack([values(150, 1, 0).X, np.arange(150) < 30]), "victim", features=["age", "hiv"], label=False
    )
    drawn = probing.accepted_draw(values(150, 2, 0), scoring(values(150, 2, 0)))
    return [
        (
            "Crafted functions: thousands of centres where the file declares k = 2",
            "`score`, secret draws, 1 decimal; 150 × 2",
            f"{np.mean(located):.1f} of 150 patients located within 0.02 sd",
        ),
        (
            "Two plausible centres, another plane in every resample",
            "`score`, secret draws, 1 decimal; 150 × 3",
            f"the largest value of a feature found within {np.median(errors):.2f} sd (median)",
        ),
        (
            "A column that nobody agreed on",
            "`score`; 150 patients, 30 of them HIV-positive",
            f"groups of {' and '.join(map(str, probing.counted(infected, scoring(infected))))} told",
        ),
        ("Draws of two patients", "`score`; 150 × 2", drawn),
    ]


def of_forgers() -> list[tuple[str, str, str]]:
    """Attack the combination of scores."""
    return [
        ("A file in another site's name, with ARI = 50", "`combine`", forging.forged()),
        ("A file of an earlier round", "`combine`", forging.replayed()),
    ]


@cr.config_context(progress=False)
def main() -> None:
    """Run all attacks, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    n_studies = N_QUICK if parser.parse_args().quick else N_STUDIES
    print(f"| attack | setting | {TRUSTING} |\n|---|---|---|")
    for row in [*of_readers(n_studies), *of_probers(max(1, n_studies // 10)), *of_forgers()]:
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
