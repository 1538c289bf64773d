"""Which rule gives the right number of clusters, among the partitions that show density valleys.

`python -m calibration.number` prints it: for every rule, how many collections of the accuracy benchmark's kinds, drawn
from other seeds, get the right number, and how many curves are called separated. The rules:

held-out likelihood: the partition that predicts held-out samples best. The rule that is used.
p-value: the smallest one.
p-value and strength: the largest −log p · k · strength³, with the prediction strength across studies.
finest: the most clusters, all of them with density valleys on every side.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from unittest.mock import patch

import numpy as np
from exam.clusterers import NAMES, clusterer_of
from exam.designs import CLUSTERS, CURVE, KINDS, MISSING, ROUND, Kind
from joblib import Parallel, delayed

import clustrep as cr
from clustrep.findings.find import find_clusters
from clustrep.findings.result import SEPARATED
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Rerun
from clustrep.separation.separation import Cut, choose

SEED = 4242
Rule = Callable[[Cut], float]


def strength_of_all(cut: Cut) -> float:
    return -float(np.log(max(cut.pvalue, np.finfo(float).tiny))) * cut.n_pieces * cut.strength**3


RULES: dict[str, Rule] = {
    "held-out likelihood": lambda cut: cut.evidence,
    "p-value": lambda cut: -cut.pvalue,
    "p-value and strength": strength_of_all,
    "finest": lambda cut: cut.joined + (cut.joined == cut.n_pieces) * 100 - cut.pvalue,
}


def choose_by(rule: Rule) -> Callable[[Sequence[Cut]], int | None]:
    """Return `choose` with another rule among the partitions that show clusters."""

    def chosen(cuts: Sequence[Cut]) -> int | None:
        if choose(cuts) is None:
            return None
        return max((i for i, cut in enumerate(cuts) if cut.n_separated > 1), key=lambda i: rule(cuts[i]))

    return chosen


def answers_of(kind: Kind, number: int, clusterer: str) -> dict[str, tuple[bool, bool]]:
    """Return, by rule, whether a collection is called separated, and whether its number of clusters is right."""
    cr.set_config(progress=False)
    rng = np.random.default_rng([SEED, zlib.crc32(kind.name.encode()), number])
    studies = cr.Studies({f"study {s}": X for s, X in enumerate(kind.draw(rng).tables)})
    answers = {}
    for name, rule in RULES.items():
        with (
            warnings.catch_warnings(),
            patch("clustrep.findings.own.choose", choose_by(rule)),
            patch("clustrep.separation.separation.choose", choose_by(rule)),
        ):
            warnings.simplefilter("ignore")
            source = Source.of(Rerun(), number)
            findings = find_clusters(studies, clusterer_of(clusterer).configurations, source)
        separated = findings.verdict == SEPARATED
        answers[name] = separated, separated and findings.n_clusters in kind.right
    return answers


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m calibration.number", description=__doc__)
    parser.add_argument("--numbers", default="5000:5010", help="numbers of collections, from a to b − 1")
    parser.add_argument("--clusterer", choices=NAMES, default="kmeans")
    parser.add_argument("--jobs", type=int, default=-1)
    given = parser.parse_args()
    first, last = map(int, given.numbers.split(":"))
    groups = (ROUND, CLUSTERS, MISSING, CURVE)
    asked = [(kind, number) for number in range(first, last) for kind in KINDS if kind.group in groups]
    answers = Parallel(n_jobs=given.jobs)(delayed(answers_of)(*each, given.clusterer) for each in asked)
    n = Counter(kind.group for kind, _ in asked)
    print(f"| rule ({given.clusterer}) | {' | '.join(f'{group}: right' for group in groups[:3])} | curves: separated |")
    print("|---|---|---|---|---|")
    for name in RULES:
        of_group = {
            group: [a[name] for (kind, _), a in zip(asked, answers, strict=True) if kind.group == group]
            for group in groups
        }
        cells = [f"{sum(right for _, right in of_group[group])} of {n[group]}" for group in groups[:3]]
        print(f"| {name} | {' | '.join(cells)} | {sum(separated for separated, _ in of_group[CURVE])} of {n[CURVE]} |")


if __name__ == "__main__":
    main()
