"""How often studies are called structured, beside unimodal data: the table in docs/null.md.

`make null-calibration` prints it, in some hours; `python -m calibration.null --collections 20` in some minutes. Every
row is a number of collections of three studies; k-means, k = 2 to 8; structured where `overall_pvalue` is at most 5 %.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr

LEVEL = 0.05
SEED = 4242
KS = range(2, 9)

Table = np.ndarray
Draw = Callable[[np.random.Generator, int], Table]


@dataclass(frozen=True)
class Kind:
    """A kind of data: how a study of n samples is drawn, and the studies' sizes.

    tuned : whether the models were developed with this very setting
    """

    group: str
    name: str
    draw: Draw
    sizes: tuple[int, ...] = (80, 80, 80)
    tuned: bool = False
    scale: str = "none"


# ---------------------------------------------------------------------------------------------------------------------
# kinds of data


def gaussian(*sd: float) -> Draw:
    """A Gaussian with independent features."""
    return lambda rng, n: rng.normal(size=(n, len(sd))) * sd


def autoregressive(p: int, rho: float) -> Draw:
    """A Gaussian whose neighbouring features have the correlation rho."""
    factor = np.linalg.cholesky(rho ** np.abs(np.subtract.outer(np.arange(p), np.arange(p))))
    return lambda rng, n: rng.normal(size=(n, p)) @ factor.T


def factors(p: int, q: int, strength: float) -> Draw:
    """Gaussian factors with the same loadings in all studies, and noise."""
    loadings = np.random.default_rng([p, q]).normal(size=(q, p)) * strength
    return lambda rng, n: rng.normal(size=(n, q)) @ loadings + rng.normal(size=(n, p))


def student(df: float, p: int) -> Draw:
    """A multivariate t distribution."""
    return lambda rng, n: rng.normal(size=(n, p)) / np.sqrt(rng.chisquare(df, size=(n, 1)) / df)


def ball(p: int) -> Draw:
    """Uniform in a ball."""

    def draw(rng: np.random.Generator, n: int) -> Table:
        z = rng.normal(size=(n, p))
        return z / np.linalg.norm(z, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / p)

    return draw


def turned_square(rng: np.random.Generator, n: int) -> Table:
    """Uniform in a square that stands on its corner."""
    return rng.random((n, 2)) @ np.array([[1.0, 1.0], [-1.0, 1.0]])


def correlated(p: int, rho: float, shape: Callable[[Table], Table]) -> Draw:
    """Features with equal correlations, transformed one by one."""
    factor = np.linalg.cholesky(rho + (1 - rho) * np.eye(p))
    return lambda rng, n: shape(rng.normal(size=(n, p)) @ factor.T).astype(float)


def mixed_exponentials(p: int) -> Draw:
    """Sums of independent exponential factors."""
    mixing = np.random.default_rng(p).normal(size=(p, p))
    return lambda rng, n: rng.exponential(size=(n, p)) @ mixing


def counts(p: int, mean: float) -> Draw:
    """Overdispersed counts (negative binomial)."""
    return lambda rng, n: rng.poisson(rng.gamma(2, mean / 2, size=(n, p))).astype(float)


def groups(centres: Sequence[Sequence[float]], shares: Sequence[float] | None = None) -> Draw:
    """Round Gaussian groups."""
    points = np.array(centres, dtype=float)
    return lambda rng, n: points[rng.choice(len(points), n, p=shares)] + rng.normal(size=(n, points.shape[1]))


def two_groups(distance: float, p: int) -> Draw:
    """Two round Gaussian groups, `distance` standard deviations apart."""
    return groups([[0.0] * p, [distance] + [0.0] * (p - 1)])


def three_groups(distance: float, p: int) -> Draw:
    """Three round Gaussian groups, as far from each other."""
    plane = distance / np.sqrt(3) * np.array([[np.cos(a), np.sin(a)] for a in np.pi * np.array([3, 7, 11]) / 6])
    return groups(np.c_[plane, np.zeros((3, p - 2))].tolist())


def latent_classes(p: int, k: int) -> Draw:
    """Binary features, with other probabilities in every class."""
    high = np.random.default_rng([p, k]).random((k, p)) < 0.5
    return lambda rng, n: (rng.random((n, p)) < np.where(high, 0.8, 0.2)[rng.integers(k, size=n)]).astype(float)


def half_circle(rng: np.random.Generator, n: int) -> Table:
    """Points near a half circle."""
    angle = rng.uniform(0, np.pi, n)
    return np.c_[np.cos(angle), np.sin(angle)] + 0.15 * rng.normal(size=(n, 2))


def triangle(rng: np.random.Generator, n: int) -> Table:
    """Uniform in a triangle."""
    return rng.dirichlet(np.ones(3), size=n)[:, :2]


GROUPS = PIECE, CLUSTERS, UNCOVERED = "unimodal", "clusters", "unimodal, in none of the models"
KINDS = [
    Kind(PIECE, "Gaussian, round, 80 × 2", gaussian(1, 1), tuned=True),
    Kind(PIECE, "Gaussian, long 3 : 1, 80 × 2", gaussian(3, 1), tuned=True),
    Kind(PIECE, "autoregressive 0.6, 80 × 15", autoregressive(15, 0.6)),
    Kind(PIECE, "2 factors, 60 × 300", factors(300, 2, 0.6), (60,) * 3, tuned=True),
    Kind(PIECE, "noise, 40 × 200", gaussian(*[1.0] * 200), (40,) * 3, tuned=True),
    Kind(PIECE, "t, 3 df, 100 × 3", student(3, 3), (100,) * 3),
    Kind(PIECE, "ball, 100 × 2", ball(2), (100,) * 3),
    Kind(PIECE, "square, 60 × 2", lambda rng, n: rng.random((n, 2)), (60,) * 3),
    Kind(PIECE, "square on its corner, 80 × 2", turned_square, tuned=True),
    Kind(PIECE, "cube, 80 × 3", lambda rng, n: rng.random((n, 3)), tuned=True),
    Kind(PIECE, "exponential, 60 × 3", lambda rng, n: rng.exponential(size=(n, 3)), (60,) * 3),
    Kind(PIECE, "correlated lognormal, 60 × 8", correlated(8, 0.5, lambda z: np.exp(0.7 * z)), (60,) * 3),
    Kind(PIECE, "mixed exponentials, 100 × 4", mixed_exponentials(4), (100,) * 3),
    Kind(PIECE, "binary 0.2, 100 × 6", lambda rng, n: (rng.random((n, 6)) < 0.2).astype(float), (100,) * 3),
    Kind(PIECE, "correlated binary, 60 × 12", correlated(12, 0.4, lambda z: z > 0), (60,) * 3),
    Kind(
        PIECE,
        "ordinal, 5 values, 60 × 10",
        correlated(10, 0.3, lambda z: np.digitize(z, [-1.2, -0.4, 0.4, 1.2])),
        (60,) * 3,
    ),
    Kind(PIECE, "counts, 60 × 10", counts(10, 4), (60,) * 3),
    Kind(
        PIECE, "binary 0.3, z-scores, 80 × 10", lambda rng, n: (rng.random((n, 10)) < 0.3).astype(float), scale="study"
    ),
    Kind(PIECE, "Gaussian, 20, 60, 300 × 2", gaussian(2, 1), (20, 60, 300), tuned=True),
    Kind(CLUSTERS, "two at 3 sd, 80 × 2", two_groups(3, 2), tuned=True),
    Kind(CLUSTERS, "two at 4.5 sd, 80 × 2", two_groups(4.5, 2), tuned=True),
    Kind(CLUSTERS, "two at 4.5 sd, 80 × 10", two_groups(4.5, 10), tuned=True),
    Kind(CLUSTERS, "three at 2.9 sd, 100 × 2", three_groups(2.9, 2), (100,) * 3),
    Kind(CLUSTERS, "three at 4.4 sd, 60 × 2", three_groups(4.4, 2), (60,) * 3),
    Kind(CLUSTERS, "three at 4.4 sd, 60 × 10", three_groups(4.4, 10), (60,) * 3),
    Kind(CLUSTERS, "8 % at 6 sd, 100 × 3", groups([[0.0] * 3, [6.0, 0.0, 0.0]], [0.92, 0.08]), (100,) * 3),
    Kind(CLUSTERS, "2 latent classes, binary, 80 × 12", latent_classes(12, 2)),
    Kind(UNCOVERED, "half circle, 80 × 2", half_circle),
    Kind(UNCOVERED, "triangle, 80 × 2", triangle),
]


# ---------------------------------------------------------------------------------------------------------------------
# the table


def verdict(kind: Kind, number: int, n_simulated: int) -> str:
    """Return the model that explains a collection of this kind, "" where it is structured."""
    rng = np.random.default_rng([number, SEED])
    studies = cr.Studies([kind.draw(rng, n) for n in kind.sizes], scale=kind.scale)
    result = cr.compare(
        KMeans(n_init=3), studies, n_clusters=KS, agreement="ari", n_resamples=1, diagonal=False, rng=number
    )
    reference = cr.null_reference(result, n_simulated)
    return "" if reference.overall_pvalue <= LEVEL else reference.model


@cr.config_context(progress=False)
def main() -> int:
    """Print a row for every kind of data."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--collections", type=int, default=200, help="collections of every kind")
    parser.add_argument("--simulated", type=int, default=39, help="simulated data sets for each model")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS, help="which groups of kinds")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    n = options.collections
    print(f"{n} collections of every kind, {options.simulated} simulated ones for each model\n")
    print("| group | data: samples × features of each study | tuned with | structured | explained by |")
    print("|---|---|---|---|---|")
    for kind in (kind for kind in KINDS if kind.group in options.groups):
        verdicts = Counter(verdict(kind, number, options.simulated) for number in range(n))
        rate = verdicts.pop("", 0) / n
        explained = ", ".join(f"{model} {count}" for model, count in verdicts.most_common())
        shown = f"{rate:.0%} ± {(rate * (1 - rate) / n) ** 0.5:.0%}".replace("%", " %")
        print(f"| {kind.group} | {kind.name} | {'yes' if kind.tuned else 'no'} | {shown} | {explained} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
