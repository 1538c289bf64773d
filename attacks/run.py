"""Attack federated sites that follow their policies, and print what every attack reached.

python -m attacks.run              as many studies as the page tells
python -m attacks.run --quick      a few, as CI does

Exits with 1 where an attack reaches what the page says it does not.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr
from attacks import forging, own, probing, reading

N_STUDIES, N_QUICK = 10, 2
CURIOUS, MALICIOUS, FORGER = "curious", "malicious", "forger"
LEAST = 10


class Row(NamedTuple):
    """One attack: who, what, in which setting, what it reached, and whether that is what the page says."""

    party: str
    attack: str
    setting: str
    reached: str
    holds: bool = True


def most(n: int) -> float:
    """Return the largest rate that holds; keys are drawn anew, and of few games more are recognised by chance."""
    return 0.5 if n > N_QUICK else 0.9


def of_readers(n: int) -> Iterator[Row]:
    """Attack honest files of functions."""
    studies = {
        "overlapping groups": [reading.patients(120, 5, seed) for seed in range(n)],
        "separated groups": [reading.patients(120, 5, seed, apart=8.0) for seed in range(n)],
        "values of one decimal": [reading.patients(120, 5, seed, decimals=1, apart=8.0) for seed in range(n)],
    }
    for name, those in studies.items():
        results = [
            reading.differenced(study, reading.patients(120, 5, 10_000 + i, apart=3.0 if "over" in name else 8.0))
            for i, study in enumerate(those)
        ]
        functions, near, chance, _ = np.sum(results, axis=0)
        smallest = min(result.smallest for result in results)
        yield Row(
            CURIOUS,
            "All that was released, combined: k = 2 to 7, 2 clusterers, 2 scales, 4 sessions",
            f"120 × 5, {name}, {n} studies, {functions} functions released",
            f"{near} patients within 0.1 sd of a difference (of other patients, by chance, {chance}); no linear "
            f"combination is about fewer than {smallest} patients",
            holds=smallest >= LEAST and near <= chance + 3 * np.sqrt(chance + 1) + 3,
        )
    binary = cr.Study(np.column_stack([studies["separated groups"][0].X, np.arange(120) < 3]), "mainz", label=False)
    grown = reading.patients(125, 5, 0)
    twice = reading.refused(reading.patients(120, 5, 0), grown)
    lone = np.array(reading.patients(120, 5, 0).X)
    lone[0, 2] = 11.9
    lone[1:, 2] = np.clip(lone[1:, 2] * 0.01, -0.1, 0.1)
    dominated = cr.Study(lone, "mainz", label=False)
    for attack, setting, outcome in (
        ("Means of a two-valued feature as counts", "three of 120 patients are positive", reading.refused(binary)),
        ("Last year's and this year's file", "5 patients more", twice),
        (
            "A mean that is mostly one patient's value",
            "one value of 11.9 among values near 0",
            reading.refused(dominated),
        ),
    ):
        yield Row(CURIOUS, attack, setting, outcome, holds=outcome == "refused")
    for p in (2, 8, 14):
        rate = reading.membership(80, p, (2 * n if n > N_QUICK else 10))
        yield Row(
            CURIOUS,
            "Is a person in the study whose whole record is known? (Homer et al. 2008)",
            f"80 × {p}, two clusters, {(2 * n if n > N_QUICK else 10)} persons",
            f"{rate:.0%} recognised, with 5 % of others taken for members",
            holds=rate <= most(n),
        )
    wide = reading.membership(80, 21, 1)
    yield Row(
        CURIOUS,
        "The same with more features",
        "80 × 21",
        "refused" if np.isnan(wide) else "released",
        bool(np.isnan(wide)),
    )
    errors = [reading.last_one(study) for study in studies["overlapping groups"]]
    yield Row(
        CURIOUS,
        "The last patient of a cluster, by somebody who knows all others",
        "120 × 5, two clusters",
        f"found within {np.median(errors):.1f} sd (median of the largest error of five features)",
    )


def of_probers(n: int) -> Iterator[Row]:
    """Attack the scoring of functions."""
    study = probing.values(150, 2, 0)
    for attack, outcome in (
        ("Thousands of centres, or k > n/10", probing.thousands(study)),
        ("A column that nobody agreed on", probing.column(study)),
    ):
        yield Row(MALICIOUS, attack, "`score`; 150 × 2", outcome, holds=outcome == probing.REFUSED)
    yield Row(
        MALICIOUS,
        "One function in four sessions with other seeds",
        "`score`; 150 × 2",
        f"{(different := probing.repeated(study))} different answers",
        holds=different == 1,
    )
    answered = probing.together(study)
    yield Row(
        MALICIOUS,
        "Four partners together, eleven functions each",
        "`score`; 150 × 2, limits of 10 and 30",
        f"{answered} of 44 answered",
        holds=answered <= 30,
    )
    with_answers, without = np.transpose([probing.bisected(probing.values(150, 3, seed), 10) for seed in range(n)])
    yield Row(
        MALICIOUS,
        "Ten planes that bisect a feature towards its largest value",
        f"`score`; 150 × 3, {n} studies",
        f"found within {np.median(with_answers):.2f} sd (median); without any answer {np.median(without):.2f} sd",
        holds=np.median(with_answers) > 0.5 * np.median(without),
    )
    games = max(6, 2 * n)
    rate = probing.recognised(120, 2, games)
    yield Row(
        MALICIOUS,
        "Ten planes on both sides of a known record: does this person take part?",
        f"`score`; 120 × 2, {games} + {games} studies",
        f"{rate:.0%} recognised, with 5 % of others taken for members",
        holds=rate <= most(n),
    )


def of_forgers(n: int) -> Iterator[Row]:
    """Attack signatures, sessions and the log."""
    for attack, outcome in forging.forged().items():
        yield Row(FORGER, attack[0].upper() + attack[1:], "`combine`", outcome, holds=outcome == forging.REFUSED)
    accepted = forging.changed(10 * n)
    yield Row(FORGER, "One bit of a file changed", f"{10 * n} files", f"{accepted} accepted", holds=accepted == 0)
    for attack, outcome in forging.at_the_site().items():
        yield Row("at the site", attack[0].upper() + attack[1:], "`learn`", outcome, holds=outcome == forging.REFUSED)
    for attack, outcome in forging.by_the_owner().items():
        yield Row("at the site", attack[0].upper() + attack[1:], "`learn`", outcome)


def of_adversaries(n: int) -> Iterator[Row]:
    """Try what an adversary found after the rules were made."""
    for attack, size in (
        ("Partitions by subsets of the features", own.subset_of_features()),
        ("Six releases at once, before any is in the log", own.two_at_once()),
    ):
        yield Row(CURIOUS, attack, "`learn`; 100 to 120 patients", f"groups of at least {size} patients", size >= LEAST)
    for attack, outcome in (
        ("The policy by a link of another name, beside which there is no log", own.through_a_link()),
        ("Another key for a site in the session", own.key_swapped_in_session()),
    ):
        yield Row("at the site", attack, "`learn`", outcome, outcome == own.REFUSED)
    games = max(6, 2 * n)
    rate = own.by_spreads(games)
    yield Row(
        CURIOUS,
        "A standard deviation within clusters tells that there is an outlier of 9 sd",
        f"120 × 3, {games} + {games} studies",
        f"{rate:.0%} recognised, with 5 % of others",
        rate <= most(n),
    )
    n_asked = 10 if n > N_QUICK else 4
    by_linkage = {name: AgglomerativeClustering(2, linkage=name) for name in ("single", "average", "ward")}
    for k in (2, 3):
        for name, clusterer in {
            **(by_linkage if k == 2 else {"ward": by_linkage["ward"]}),
            "kmeans": KMeans(n_init=3),
        }.items():
            rate = own.far_off(clusterer.set_params(n_clusters=k), name, games, n_asked)
            yield Row(
                MALICIOUS,
                f"{n_asked} functions, and a clusterer that puts a patient apart who is 9 sd from all others",
                f"`score`; 120 × 2, {name}, k = {k}, {games} + {games} studies",
                f"{rate:.0%} recognised, with 5 % of others",
                name in ("single", "average") or k == 3 or rate <= most(n),
            )
    outcome = own.disguised()
    yield Row(MALICIOUS, "Single linkage, also within other clusterers", "`score`", outcome, outcome == own.REFUSED)
    for name, clusterer in (("kmeans", KMeans(n_init=3)), ("ward", AgglomerativeClustering())):
        yield Row(
            CURIOUS,
            "“Withheld” for k = 3 tells of a patient who is 9 sd from two groups",
            f"`learn`; 120 × 2, {name}, {games} + {games} studies",
            f"{own.withheld(clusterer, games):.0%} more often withheld",
        )
    rate = own.by_scale(games)
    yield Row(
        CURIOUS,
        "Means of features that each site scales tell of a patient who is 9 sd off",
        f"`learn`; 120 × 2, {games} + {games} studies",
        f"{rate:.0%} recognised, with 5 % of others",
        rate <= most(n),
    )
    outcome = own.jittered(reading.patients(120, 5, 0, apart=8.0))
    yield Row(CURIOUS, "A count of three behind noise of 1e-6", "`learn`", outcome, outcome == own.REFUSED)
    yield Row(
        CURIOUS,
        "The mean of a cluster that is one patient with twenty rows",
        f"`learn`; 120 × 3, {n} studies, a policy without `patient`",
        f"found within {own.visits(n):.2f} sd (median)",
    )
    far = own.visits(n, "patient")
    yield Row(
        CURIOUS,
        "The mean of a cluster that is one patient with twenty rows",
        f"`learn`; 120 × 3, {n} studies, the policy names the column",
        "refused" if np.isinf(far) else f"found within {far:.2f} sd (median)",
        far > 1,
    )
    rate = own.slab(100, 2, games)
    yield Row(
        MALICIOUS,
        "Ten planes on both sides of a patient who is alone between the clusters",
        f"`score`; 100 × 2, {games} + {games} studies",
        f"{rate:.0%} recognised, with 5 % of others",
        rate <= most(n),
    )


@cr.config_context(progress=False)
def main() -> None:
    """Run all attacks, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    n = N_QUICK if parser.parse_args().quick else N_STUDIES
    warnings.simplefilter("ignore")
    print("| party | attack | setting | reached |\n|---|---|---|---|")
    broken = []
    for row in (row for rows in (of_readers, of_probers, of_forgers, of_adversaries) for row in rows(n)):
        print(f"| {' | '.join(row[:4])} |", flush=True)
        if not row.holds:
            broken.append(row.attack)
    if broken:
        sys.exit(f"Reached more than docs/federated.md says: {'; '.join(broken)}.")


if __name__ == "__main__":
    main()
