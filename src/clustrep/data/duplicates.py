"""Samples that occur twice: equal rows, and rows that are much closer to each other than to any third."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from clustrep.types import FloatArray, IntArray

# More samples are not searched for near-duplicates, which takes time and memory in proportion to the square.
MOST_SAMPLES = 12_000

# Two samples are near-duplicates if the next sample is at least this many times farther away, and ...
FARTHER = 4.0

# ... by chance fewer than this number of samples would have a neighbour at that distance.
BY_CHANCE = 1e-4

# Distances in this many random combinations of features are right to 9 % (Johnson and Lindenstrauss, 1984).
N_COMBINATIONS = 64

# Equal values in more features than this are not taken as further independent evidence.
MOST_INDEPENDENT = 10

FEATURES = 200  # whose ties are counted


class Pair(NamedTuple):
    """Two samples, by their places in all tables together.

    ratio : their distance divided by that to the next sample; 0 for equal ones
    """

    first: int
    second: int
    ratio: float


def equal_rows(tables: Sequence[FloatArray]) -> list[IntArray]:
    """Return the places of equal rows in all tables together, for every row that occurs at least twice.

    Examples
    --------
    >>> import numpy as np
    >>> [places.tolist() for places in equal_rows([np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[3.0, 4.0]])])]
    [[1, 2]]
    """
    places: dict[int, list[int]] = defaultdict(list)
    begin = 0
    for X in tables:
        for i, row in enumerate(X + 0.0, begin):  # -0.0 becomes 0.0
            places[hash(row.tobytes())].append(i)
        begin += len(X)
    return [np.array(group) for group in places.values() if len(group) > 1]


def equal_by_chance(tables: Sequence[FloatArray], groups: Sequence[IntArray], dimension: float) -> float:
    """Return the probability that two samples are equal by chance, which rounded values and codes make large.

    The probability that two samples have the same value is estimated in each feature; as many features as the data have
    dimensions, those with the fewest ties, are taken to be independent.
    """
    n_rows, n_features = sum(map(len, tables)), tables[0].shape[1]
    first = np.ones(n_rows, dtype=bool)
    for group in groups:
        first[group[1:]] = False
    columns = np.unique(np.linspace(0, n_features - 1, min(n_features, FEATURES)).astype(int))
    X = np.sort(np.concatenate([X[:, columns] for X in tables])[first], axis=0)
    n = max(len(X), 2)
    ties = []
    for column in X.T:
        counts = np.diff(np.flatnonzero(np.r_[True, column[1:] != column[:-1], True]))
        ties.append((float(counts @ (counts - 1)) + 1) / (n * (n - 1)))
    n_independent = max(1, min(round(dimension), MOST_INDEPENDENT, len(ties)))
    return float(np.prod(np.sort(ties)[:n_independent]))


def combinations(n_features: int) -> FloatArray:
    """Return weights of random combinations of features, always the same: (n_features, N_COMBINATIONS)."""
    # The finaliser of splitmix64 (Steele, Lea and Flood, 2014) of the places: its highest bit is the sign.
    places = np.arange(1, n_features * N_COMBINATIONS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    places = (places ^ (places >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    places = (places ^ (places >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    signs = np.where(places >> np.uint64(63), 1.0, -1.0)
    return np.asarray(signs.reshape(n_features, N_COMBINATIONS) / math.sqrt(N_COMBINATIONS))


def shortened(tables: Iterable[FloatArray]) -> list[FloatArray]:
    """Return tables of fewer columns with nearly the same distances between rows; narrow tables unchanged."""
    return [np.asarray(Z @ combinations(Z.shape[1])) if Z.shape[1] > N_COMBINATIONS else Z for Z in tables]


def nearest_two(Z: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the nearest other row of every row, the distance to it, and the distance to the second nearest."""
    from sklearn.neighbors import NearestNeighbors

    if Z.shape[1] == 0:
        return np.zeros(len(Z), dtype=np.int64), np.zeros(len(Z)), np.zeros(len(Z))
    nearest, second = NearestNeighbors(n_neighbors=2).fit(Z).kneighbors(return_distance=False).T
    distances = [np.linalg.norm(Z - Z[places], axis=1) for places in (nearest, second)]  # exact also where tiny
    return nearest, np.minimum(*distances), np.maximum(*distances)


def dimension_of(tables: Sequence[FloatArray]) -> float:
    """Estimate the dimension of samples from the distances to the two nearest within each table.

    Their ratio exceeds r with probability r^-dimension wherever density hardly changes between neighbours; the median
    is not moved by duplicates. From at most 2,000 rows of each table; 1.5 standard errors below the estimate, since a
    number that is too large takes chance for duplicates.

    References
    ----------
    .. [1] Facco, E., d'Errico, M., Rodriguez, A. & Laio, A. (2017). Estimating the intrinsic dimension of datasets by a
       minimal neighborhood information. Scientific Reports 7, 12140.
    """
    logs = []
    for Z in tables:
        if len(Z) >= 3:
            _, first, second = nearest_two(Z[:: -(-len(Z) // 2000)])
            known = first > 0
            logs.append(np.log(second[known] / first[known]))
    ratios = np.concatenate([*logs, np.empty(0)])
    median = float(np.median(ratios)) if len(ratios) else 0.0
    return max(1 - 1.5 / math.sqrt(max(len(ratios), 1)), 0.1) * math.log(2) / max(median, 1e-3)


def near_rows(tables: Sequence[FloatArray], dimension: float) -> list[Pair]:
    """Return pairs of rows that are each other's nearest, and closer than chance explains; not equal ones.

    tables : of `shortened`
    """
    Z = np.concatenate(tables)
    nearest, first, second = nearest_two(Z)
    pairs = []
    for i in np.flatnonzero((nearest[nearest] == np.arange(len(Z))) & (np.arange(len(Z)) < nearest) & (first > 0)):
        j = int(nearest[i])
        farther = min(second[i], second[j]) / first[i]
        if farther >= FARTHER and math.log(len(Z)) - dimension * math.log(farther) < math.log(BY_CHANCE):
            pairs.append(Pair(int(i), j, 1 / farther))
    return pairs
