"""What the mean and the interval over resamples are about, and how often the interval covers it.

R is the expected score of a clustering function learned in a new training study and tested on a new test study, both of
these sizes; here the mean over fresh pairs of studies. For other pairs the studies are resampled in three ways. Writes
docs/calibration.md; `make calibration` runs it, `--pairs` and `--resamples` set its size.
"""

from __future__ import annotations

import argparse
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.resampling.strategies import resampling_for

Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]

SCHEMES = {
    "bootstrap": cr.resampling.Bootstrap(),
    "each drawn sample once": cr.resampling.Bootstrap(distinct=True),
    "80 % subsamples": cr.resampling.Subsample(0.8),
}
AGREEMENTS = ("ari", "ami")
N_INIT, LEVEL = 5, 0.95
FRESH, PAIRS, RESAMPLES = 200, 40, 50
TRUTH, RESAMPLED = 1, 2  # apart in seeds
OUT = Path(__file__).parents[1] / "docs" / "calibration.md"


@dataclass(frozen=True)
class Design:
    """Two studies of n samples, clustered into k."""

    name: str
    draw: Draw
    n: int
    p: int
    k: int

    def studies(self, role: int, number: int) -> cr.Studies:
        """Draw a pair of studies."""
        rng = np.random.default_rng([role, zlib.crc32(self.name.encode()), self.n, self.p, number])
        train, test = self.draw(self.n, rng)
        return cr.Studies({"train": train, "test": test})


def mixture(train: Any, test: Any = None, p: int = 2) -> Draw:
    """Draw from round Gaussians of unit variance around these centres, as likely each; more features are noise."""
    centres = [np.asarray(c, dtype=float) for c in (train, train if test is None else test)]

    def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        tables = [rng.normal(size=(n, p)) for _ in centres]
        for X, centre in zip(tables, centres, strict=True):
            X[:, : centre.shape[1]] += centre[rng.integers(len(centre), size=n)]
        return tables[0], tables[1]

    return draw


def triangle(side: float) -> np.ndarray:
    """Return the corners of a triangle."""
    return side * np.array([[0, 0], [1, 0], [0.5, 0.75**0.5]])


PAPER = ([[0, -7], [3.5, 3], [-2, 2], [2, -2]], [[-1, -7], [4.2, 3.3], [-2.5, 1.8], [2.2, -3]])
DESIGNS = [
    Design("the paper's, A.1, setting 1", mixture(*PAPER), 500, 2, 4),
    Design("three separated", mixture(triangle(4.4)), 80, 2, 3),
    Design("three separated", mixture(triangle(5), p=10), 80, 10, 3),
    Design("three that overlap", mixture(triangle(2.9)), 80, 2, 3),
    Design("five separated", mixture([[0, 0], [4, 0], [0, 4], [4, 4], [8, 2]]), 300, 2, 5),
    Design("nothing", mixture([[0, 0]]), 80, 2, 4),
    Design("nothing", mixture([[0, 0]], p=20), 40, 20, 10),
    Design("three separated, p > n", mixture(triangle(7), p=100), 50, 100, 3),
    Design("three weak, p > n", mixture(triangle(6), p=200), 60, 200, 3),
]

PAGE = """# What intervals are about, and how often they cover it

R is the expected score of a clustering function that is learned in a new training study and tested on a new test study,
both of these sizes. Here it is the mean over {fresh} fresh pairs of studies, with its standard error. Each of {pairs}
other pairs (other seeds) was resampled {resamples} times in each way: the mean over resamples, averaged over pairs,
with its standard error; and how often the 95 % percentile interval covers R, with an exact 95 % interval of that share.
k-means with {n_init} starts; two studies of n samples and p features; Gaussians of unit variance. An asterisk marks
what the library takes by default. `make calibration` prints and writes this page.

| data | n × p | k | agreement | R | resampling | mean over resamples | 95 % interval covers R |
|---|---|---|---|---|---|---|---|
{rows}
"""


def scores(design: Design, role: int, number: int, resampling: Any, n_resamples: int) -> Any:
    """Score one pair of studies by both agreements."""
    clusterer = KMeans(design.k, n_init=N_INIT)
    studies = design.studies(role, number)
    options: dict[str, Any] = {"resampling": resampling, "n_resamples": n_resamples, "rng": number, "n_jobs": 1}
    return cr.replicability(clusterer, studies, agreement=AGREEMENTS, diagonal=False, **options)


def mean_and_error(values: np.ndarray) -> str:
    """Write a mean with its standard error."""
    return f"{values.mean():.3f} ± {values.std(ddof=1) / len(values) ** 0.5:.3f}"


def rows_of(design: Design, fresh: int, pairs: int, resamples: int) -> list[str]:
    """Simulate one design."""
    whole = [scores(design, TRUTH, i, cr.resampling.Rerun(), 1) for i in range(fresh)]
    truth = {a: np.array([result[a].estimate[0, 1] for result in whole]) for a in AGREEMENTS}
    default = resampling_for(None, tuple(design.studies(TRUTH, 0).values()))
    rows = []
    for name, resampling in SCHEMES.items():
        results = [scores(design, RESAMPLED, i, resampling, resamples) for i in range(pairs)]
        for agreement in AGREEMENTS:
            means = np.array([result[agreement].mean[0, 1] for result in results])
            low, high = np.transpose(
                [np.array(result[agreement].confidence_interval(LEVEL))[:, 0, 1] for result in results]
            )
            target = truth[agreement].mean()
            covered = int(np.sum((low <= target) & (target <= high)))
            interval = binomtest(covered, pairs).proportion_ci()
            rows.append(
                f"| {design.name} | {design.n} × {design.p} | {design.k} | {agreement.upper()} "
                f"| {mean_and_error(truth[agreement])} | {name}{'*' if resampling == default else ''} "
                f"| {mean_and_error(means)} | {covered / pairs:.0%} ({interval.low:.0%} to {interval.high:.0%}) |"
            )
    return [*rows[::2], *rows[1::2]]  # by agreement


@cr.config_context(progress=False)
def main() -> None:
    """Simulate, print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", type=int, default=FRESH)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--resamples", type=int, default=RESAMPLES)
    size = parser.parse_args()
    start = time.process_time()
    rows = []
    for design in DESIGNS:
        rows += rows_of(design, size.fresh, size.pairs, size.resamples)
        print(*rows[-2 * len(SCHEMES) :], sep="\n", flush=True)
    print(f"{time.process_time() - start:.0f} s of one core")
    page = PAGE.format(**vars(size), n_init=N_INIT, rows="\n".join(rows))
    OUT.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
