"""How often `study_relations` flags a study, where one lacks a cluster, has none, or nothing is the matter.

Prints the table of docs/null.md; `make relations-calibration` runs it, `--collections` sets its size.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.stats import binomtest
from sklearn.cluster import KMeans

import clustrep as cr

SIDE, N_INIT = 4.5, 3
SIZES = ((200, 2, 3), (200, 5, 4), (60, 2, 3), (60, 5, 4))  # samples, features, studies
Tables = list[np.ndarray]


def square(n: int, p: int, rng: np.random.Generator, shares: object = None, side: float = SIDE) -> np.ndarray:
    """Draw from four round Gaussians at the corners of a square."""
    X = rng.normal(size=(n, p))
    X[:, :2] += side * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[rng.choice(4, n, p=shares)]
    return X


def studies_of(draw: Callable[..., np.ndarray], last: Callable[..., np.ndarray] | None = None) -> Callable[..., Tables]:
    """Draw all studies alike, but for the last where it has a distribution of its own."""

    def studies(n: int, p: int, S: int, rng: np.random.Generator) -> Tables:
        return [draw(n, p, rng) for _ in range(S - 1)] + [(last or draw)(n, p, rng)]

    return studies


def other_shares(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Draw with shares that vary between studies, by about a fifth of a share."""
    return square(n, p, rng, rng.dirichlet(np.full(4, 20.0)))


def noise(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from one round Gaussian."""
    return rng.normal(size=(n, p))


def heavy(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from a t distribution with three degrees of freedom."""
    return np.asarray(rng.normal(size=(n, p)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3))


def alike(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from one Gaussian with the mean and covariance of the four."""
    scale = np.ones(p)
    scale[:2] = np.sqrt(1 + SIDE**2 / 4)
    return rng.normal(size=(n, p)) * scale + SIDE / 2 * (np.arange(p) < 2)


def blob(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from one round Gaussian in the middle of the square."""
    return rng.normal(size=(n, p)) + SIDE / 2 * (np.arange(p) < 2)


def shifted(n: int, p: int, rng: np.random.Generator, by: float) -> np.ndarray:
    """Draw the four, moved along the first feature."""
    return square(n, p, rng) + by * (np.arange(p) == 0)


CASES = {
    "no difference": studies_of(square),
    "shares vary, Dirichlet(20, …)": studies_of(other_shares),
    "no clusters anywhere": studies_of(noise),
    "no clusters anywhere, t₃": studies_of(heavy),
    "weak clusters": studies_of(partial(square, side=0.6 * SIDE)),
    "the last is shifted by 1 sd": studies_of(square, partial(shifted, by=1.0)),
    "the last is shifted by 2 sd": studies_of(square, partial(shifted, by=2.0)),
    "the last lacks one of four": studies_of(square, partial(square, shares=[1 / 3, 1 / 3, 1 / 3, 0])),
    "the last is one Gaussian alike": studies_of(square, alike),
    "the last is one round Gaussian": studies_of(square, blob),
}


def flags(case: str, size: tuple[int, int, int], n_collections: int) -> np.ndarray:
    """Return which studies were flagged, (n_collections, S)."""
    rows = []
    for i in range(n_collections):
        rng = np.random.default_rng([31, zlib.crc32(case.encode()), *size, i])
        tables = CASES[case](*size, rng)
        rows.append(cr.study_relations(KMeans(4, n_init=N_INIT), tables, n_resamples=50, rng=i).apart)
    return np.array(rows)


@cr.config_context(progress=False)
def main() -> None:
    """Print a row for every case and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collections", type=int, default=60)
    n_collections = parser.parse_args().collections
    print(f"{n_collections} collections each; samples × features, studies: any study flagged (95 % interval), the last")
    print("\n| studies | " + " | ".join(f"{n} × {p}, {S}" for n, p, S in SIZES) + " |")
    print("|---|" + "---|" * len(SIZES))
    for case in CASES:
        cells = []
        for size in SIZES:
            flagged = flags(case, size, n_collections)
            any_flag = int(flagged.any(axis=1).sum())
            interval = binomtest(any_flag, n_collections).proportion_ci()
            share = f"{any_flag / n_collections:.0%} ({interval.low:.0%} to {interval.high:.0%})"
            cells.append(f"{share}, {flagged[:, -1].mean():.0%}")
        print(f"| {case} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
