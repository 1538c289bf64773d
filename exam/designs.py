"""The kinds of data of the exam: every kind draws collections of studies whose truth is known.

A kind is a name, a group, a function from a random generator to a `Collection`, and the numbers of clusters that are
right. Generators and settings (sizes, dimensions, spreads, angles) are not those that the rules were developed on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Generator: TypeAlias = np.random.Generator
Sampler: TypeAlias = Callable[[Generator, int], FloatArray]

ONE_PIECE = "one piece"
CURVE = "curve"
ROUND = "round clusters"
CLUSTERS = "other clusters"
MISSING = "missing clusters"


class Collection(NamedTuple):
    """Studies, and the true cluster of every sample (0 throughout where there are no clusters)."""

    tables: list[FloatArray]
    labels: list[IntArray]


@dataclass(frozen=True)
class Kind:
    """A kind of data: what it is called, how a collection is drawn, and which numbers of clusters are right."""

    name: str
    group: str
    draw: Callable[[Generator], Collection]
    right: tuple[int, ...] = (1,)


# ---------------------------------------------------------------------------------------------------------------------
# one piece


def alike(sizes: Sequence[int], draw: Sampler) -> Callable[[Generator], Collection]:
    """Studies that are all drawn from the same distribution without clusters."""
    return lambda rng: unclustered([draw(rng, n) for n in sizes])


def unclustered(tables: list[FloatArray]) -> Collection:
    """A collection in which every sample has the label 0."""
    return Collection(tables, [np.zeros(len(X), dtype=np.int64) for X in tables])


def gaussian(*sd: float) -> Sampler:
    """A Gaussian with these standard deviations."""
    return lambda rng, n: rng.normal(size=(n, len(sd))) * np.asarray(sd)


def autoregressive(p: int, rho: float) -> Sampler:
    """A stationary autoregressive Gaussian: neighbouring features correlate."""

    def draw(rng: Generator, n: int) -> FloatArray:
        X = rng.normal(size=(n, p))
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        return X

    return draw


def factors(sizes: Sequence[int], p: int, n_factors: int, strength: float) -> Callable[[Generator], Collection]:
    """A Gaussian with a few common factors, whose loadings all studies share."""

    def draw(rng: Generator) -> Collection:
        loadings = strength * rng.normal(size=(n_factors, p))
        return unclustered([rng.normal(size=(n, n_factors)) @ loadings + rng.normal(size=(n, p)) for n in sizes])

    return draw


def student(p: int, df: float) -> Sampler:
    """A multivariate t distribution."""
    return lambda rng, n: rng.normal(size=(n, p)) / np.sqrt(rng.chisquare(df, size=(n, 1)) / df)


def turned(X: FloatArray, degrees: float) -> FloatArray:
    """Turn points in the plane."""
    angle = np.deg2rad(degrees)
    return X @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def directions(rng: Generator, n: int, p: int) -> FloatArray:
    """Points on the surface of a ball of radius 1."""
    X = rng.normal(size=(n, p))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def ball(p: int) -> Sampler:
    """Uniform in a ball."""
    return lambda rng, n: directions(rng, n, p) * rng.random((n, 1)) ** (1 / p)


def triangle(rng: Generator, n: int) -> FloatArray:
    """Uniform in a triangle with equal sides."""
    return rng.dirichlet(np.ones(3), size=n) @ np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def equicorrelated(p: int, rho: float, margin: Callable[[FloatArray], FloatArray]) -> Sampler:
    """Gaussian features that all correlate alike, each then transformed."""

    def draw(rng: Generator, n: int) -> FloatArray:
        return margin(np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, p)))

    return draw


def ordinal(cuts: Sequence[float]) -> Callable[[FloatArray], FloatArray]:
    """Answers on a scale: which interval a Gaussian value falls into."""
    return lambda Z: np.digitize(Z, np.asarray(cuts)).astype(float)


def mixed_exponentials(sizes: Sequence[int], p: int) -> Callable[[Generator], Collection]:
    """Sums of independent exponentials, with weights that all studies share."""

    def draw(rng: Generator) -> Collection:
        weights = rng.normal(size=(p, p))
        return unclustered([rng.exponential(size=(n, p)) @ weights for n in sizes])

    return draw


def negative_binomial(rng: Generator, n: int, p: int, mean: float, shape: float) -> FloatArray:
    """Overdispersed counts."""
    return rng.poisson(rng.gamma(shape, mean / shape, size=(n, p))).astype(float)


def zero_inflated(p: int, mean: float, zeros: float) -> Sampler:
    """Log counts, some of which were not detected."""

    def draw(rng: Generator, n: int) -> FloatArray:
        return np.log1p(rng.poisson(mean, size=(n, p)) * (rng.random((n, p)) >= zeros))

    return draw


def unlike_covariances(sizes: Sequence[int], p: int) -> Callable[[Generator], Collection]:
    """Gaussians, each study with a covariance of its own."""

    def draw(rng: Generator) -> Collection:
        roots = [np.eye(p) + 0.6 * rng.normal(size=(p, p)) for _ in sizes]
        return unclustered([rng.normal(size=(n, p)) @ root for n, root in zip(sizes, roots, strict=True)])

    return draw


def shifted(sizes: Sequence[int], draw_study: Sampler, shift: float) -> Callable[[Generator], Collection]:
    """Studies with a shift of their own in every feature."""

    def draw(rng: Generator) -> Collection:
        tables = [draw_study(rng, n) for n in sizes]
        return unclustered([X + shift * rng.normal(size=X.shape[1]) for X in tables])

    return draw


def funnel(rng: Generator, n: int) -> FloatArray:
    """A Gaussian that becomes wider along an axis."""
    along = rng.normal(size=n)
    return np.column_stack([along, np.exp(0.45 * along) * rng.normal(size=n)])


# ---------------------------------------------------------------------------------------------------------------------
# curves


def with_noise(curve: Callable[[Generator, int], FloatArray], sd: float) -> Sampler:
    """Points of a curve or surface, with Gaussian noise."""

    def draw(rng: Generator, n: int) -> FloatArray:
        X = curve(rng, n)
        return X + sd * rng.normal(size=X.shape)

    return draw


def arc(degrees: float) -> Sampler:
    """A part of a circle of radius 1."""

    def draw(rng: Generator, n: int) -> FloatArray:
        angle = np.deg2rad(degrees) * rng.random(n)
        return np.column_stack([np.cos(angle), np.sin(angle)])

    return draw


def trajectory(sizes: Sequence[int], p: int, *, wiggles: int, sd: float) -> Callable[[Generator], Collection]:
    """A smooth random path that all studies share, in p dimensions; samples are spread evenly along its length."""

    def draw(rng: Generator) -> Collection:
        start, weights = rng.normal(size=p), rng.normal(size=(wiggles, p)) / np.arange(1, wiggles + 1)[:, None]
        frequencies = np.pi * np.arange(1, wiggles + 1)
        phases = 2 * np.pi * rng.random(wiggles)

        def along(time: FloatArray) -> FloatArray:
            return time[:, None] * 2 * start + np.sin(time[:, None] * frequencies + phases) @ weights

        times = np.linspace(0, 1, 2001)
        steps = np.linalg.norm(np.diff(along(times), axis=0), axis=1)
        length = np.concatenate([[0.0], np.cumsum(steps)])

        def path(n: int) -> FloatArray:
            return along(np.interp(rng.random(n) * length[-1], length, times))

        return unclustered([path(n) + sd * rng.normal(size=(n, p)) for n in sizes])

    return draw


def swiss_roll(rng: Generator, n: int) -> FloatArray:
    """A sheet that is rolled up."""
    turn = np.pi * (1.5 + 2.5 * rng.random(n))
    return np.column_stack([turn * np.cos(turn), 12 * rng.random(n), turn * np.sin(turn)])


def s_curve(rng: Generator, n: int) -> FloatArray:
    """A sheet in the form of an S."""
    turn = 3 * np.pi * (rng.random(n) - 0.5)
    return np.column_stack([np.sin(turn), 1.5 * rng.random(n), np.sign(turn) * (np.cos(turn) - 1)])


# ---------------------------------------------------------------------------------------------------------------------
# clusters


def apart(rng: Generator, k: int, p: int, distance: float) -> FloatArray:
    """Random centres, (k, p), of which the closest two are exactly so far apart.

    In the plane the best of 20 draws is kept, the one whose distances differ least: six random points would otherwise
    have two close ones, and the others far away.
    """
    candidates = [rng.normal(size=(k, p)) for _ in range(20 if p < 5 else 1)]
    ratios = [closest(C) / np.linalg.norm(C - C.mean(axis=0), axis=1).max() for C in candidates]
    best = candidates[int(np.argmax(ratios))]
    return best * (distance / closest(best))


def closest(centres: FloatArray) -> float:
    """Return the smallest distance between two centres."""
    distances = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    return float(distances[np.triu_indices(len(centres), 1)].min())


def mixture(
    rng: Generator,
    sizes: Sequence[int],
    centres: FloatArray,
    shares: Sequence[float] | Sequence[Sequence[float]] | None = None,
    sd: Sequence[float] | None = None,
    shift: float = 0.0,
) -> Collection:
    """Round Gaussian clusters; shares of clusters for all studies or study by study, one sd for every cluster."""
    k, p = centres.shape
    wanted = np.ones(k) if shares is None else np.asarray(shares, dtype=float)
    by_study = np.broadcast_to(wanted, (len(sizes), k))
    spread = np.ones(k) if sd is None else np.asarray(sd, dtype=float)
    tables, labels = [], []
    for n, share in zip(sizes, by_study, strict=True):
        label = rng.choice(k, size=n, p=share / share.sum())
        moved = shift * rng.normal(size=p) if shift else 0.0
        tables.append(centres[label] + spread[label][:, None] * rng.normal(size=(n, p)) + moved)
        labels.append(label)
    return Collection(tables, labels)


def random_clusters(k: int, p: int, distance: float) -> Callable[[Generator], Collection]:
    """Round clusters at random places, 80 samples in each of three studies."""
    return lambda rng: mixture(rng, (80,) * 3, apart(rng, k, p, distance))


def fixed(
    sizes: Sequence[int],
    centres: FloatArray,
    shares: Sequence[float] | Sequence[Sequence[float]] | None = None,
    sd: Sequence[float] | None = None,
    shift: float = 0.0,
) -> Callable[[Generator], Collection]:
    """Round clusters at given places."""
    return lambda rng: mixture(rng, sizes, centres, shares, sd, shift)


def bayes_ari(centres: FloatArray, rng: Generator, n: int = 40_000) -> float:
    """Return the adjusted Rand index of the true clusters with the best possible assignment, for equal round ones."""
    from sklearn.metrics import adjusted_rand_score

    X, label = (part[0] for part in mixture(rng, (n,), centres))
    nearest = np.argmin(((X[:, None] - centres) ** 2).sum(axis=2), axis=1)
    return float(adjusted_rand_score(label, nearest))


def one_hump(draw: Callable[[Generator], Collection]) -> Callable[[Generator], Collection]:
    """A mixture so close that its density has one hump: to the exam it has no clusters."""
    return lambda rng: unclustered(draw(rng).tables)


# Three clusters in a triangle with unequal sides, as multiples of the first side.
SCALENE = np.array([[0.0, 0.0], [1.0, 0.0], [0.3, 1.1]])


def in_dimensions(centres: FloatArray, p: int) -> FloatArray:
    """Add features that have no clusters."""
    return np.column_stack([centres, np.zeros((len(centres), p - centres.shape[1]))])


def elongated(sizes: Sequence[int], k: int, distance: float, length: float) -> Callable[[Generator], Collection]:
    """Long parallel clusters in three dimensions, obliquely to all features."""
    frame = np.linalg.qr(np.array([[1.0, 2.0, 2.0], [2.0, 1.0, -2.0], [0.5, -1.0, 2.0]]))[0]

    def draw(rng: Generator) -> Collection:
        tables, labels = [], []
        for n in sizes:
            label = rng.integers(k, size=n)
            X = rng.normal(size=(n, 3)) * np.array([length, 1.0, 1.0])
            X[:, 1] += distance * label
            tables.append(X @ frame)
            labels.append(label)
        return Collection(tables, labels)

    return draw


def nested(sizes: Sequence[int], p: int, within: float, between: float) -> Callable[[Generator], Collection]:
    """Two groups of three clusters each: triangles with this side, and this distance of their centres."""
    corners = within / np.sqrt(3) * np.array([[np.cos(a), np.sin(a)] for a in 2 * np.pi * (np.arange(3) + 0.2) / 3])
    centres = np.concatenate([corners, corners[:, ::-1] + [between * 0.8, between * 0.6]])
    return fixed(sizes, in_dimensions(centres, p))


# Which quarters of the features each class has often.
CLASSES = np.array([[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1, 0]])


def latent_classes(sizes: Sequence[int], k: int, p: int, high: float, low: float) -> Callable[[Generator], Collection]:
    """Binary features; every class has each feature often or rarely, and any two differ in half of the features."""

    def draw(rng: Generator) -> Collection:
        pattern = np.repeat(CLASSES[:k], p // 4, axis=1)
        order = rng.permutation(p)
        chances = np.where(pattern[:, order] == 1, high, low)
        labels = [rng.integers(k, size=n) for n in sizes]
        tables = [(rng.random((len(label), p)) < chances[label]).astype(float) for label in labels]
        return Collection(tables, labels)

    return draw


def moons(sizes: Sequence[int], sd: float) -> Callable[[Generator], Collection]:
    """Two half circles, each of which reaches into the other."""

    def draw(rng: Generator) -> Collection:
        tables, labels = [], []
        for n in sizes:
            label, angle = rng.integers(2, size=n), np.pi * rng.random(n)
            upper = np.column_stack([np.cos(angle), np.sin(angle)])
            lower = np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)])
            tables.append(np.where(label[:, None] == 0, upper, lower) + sd * rng.normal(size=(n, 2)))
            labels.append(label)
        return Collection(tables, labels)

    return draw


def missing(
    sizes: Sequence[int], k: int, p: int, distance: float, shares: Sequence[Sequence[float]], shift: float = 0.0
) -> Callable[[Generator], Collection]:
    """Round clusters at random places, with shares of their own in every study."""
    return lambda rng: mixture(rng, sizes, apart(rng, k, p, distance), shares, shift=shift)


# ---------------------------------------------------------------------------------------------------------------------
# the list

S70, S90, S110 = (70,) * 3, (90,) * 3, (110,) * 3

_ONE_PIECE: dict[str, Callable[[Generator], Collection]] = {
    "Gaussian, round, 4 features": alike(S70, gaussian(1, 1, 1, 1)),
    "Gaussian, elongated 6:2:1:1": alike(S90, gaussian(6, 2, 1, 1)),
    "Gaussian, autoregressive 0.75, 25 features": alike(S70, autoregressive(25, 0.75)),
    "Gaussian, 4 factors, 25 features": factors(S90, 25, 4, 0.9),
    "Gaussian, round, 250 features, n = 50": alike((50,) * 3, gaussian(*np.ones(250))),
    "Gaussian, 2 factors, 400 features, n = 50": factors((50,) * 3, 400, 2, 0.4),
    "t with 3 df, 4 features": alike(S90, student(4, 3)),
    "t with 5 df, 3 features": alike(S70, student(3, 5)),
    "t with 3 df, 6 independent features": alike(S70, lambda rng, n: rng.standard_t(3, size=(n, 6))),
    "uniform square": alike(S110, lambda rng, n: rng.random((n, 2))),
    "uniform cube": alike((70,) * 4, lambda rng, n: rng.random((n, 3))),
    "uniform 10-cube": alike(S70, lambda rng, n: rng.random((n, 10))),
    "uniform square, turned 23°": alike(S90, lambda rng, n: turned(rng.random((n, 2)), 23)),
    "uniform oblong 2.5:1, turned 65°": alike(S70, lambda rng, n: turned(rng.random((n, 2)) * [2.5, 1], 65)),
    "uniform disc": alike(S70, ball(2)),
    "uniform ball, 4 features": alike(S110, ball(4)),
    "uniform triangle, equal sides": alike(S90, triangle),
    "exponential, 2 features": alike(S110, lambda rng, n: rng.exponential(size=(n, 2))),
    "exponential, 6 features": alike(S70, lambda rng, n: rng.exponential(size=(n, 6))),
    "gamma(4), 8 features": alike(S90, lambda rng, n: rng.gamma(4, size=(n, 8))),
    "lognormal, sd 0.9, 4 features": alike(S70, lambda rng, n: np.exp(0.9 * rng.normal(size=(n, 4)))),
    "lognormal, correlation 0.5, 6 features": alike(S90, equicorrelated(6, 0.5, lambda Z: np.exp(0.8 * Z))),
    "sums of exponentials, 3 features": mixed_exponentials(S70, 3),
    "binary, p = 0.5, 15 features": alike(S90, lambda rng, n: (rng.random((n, 15)) < 0.5) * 1.0),
    "binary, p = 0.2, 12 features": alike(S70, lambda rng, n: (rng.random((n, 12)) < 0.2) * 1.0),
    "binary, correlation 0.5, 10 features": alike(S90, equicorrelated(10, 0.5, ordinal([0.2]))),
    "five-point answers, correlation 0.35, 7 features": alike(
        S90, equicorrelated(7, 0.35, ordinal(norm.ppf([0.1, 0.3, 0.65, 0.9])))
    ),
    "Poisson, mean 3, 8 features": alike(S70, lambda rng, n: rng.poisson(3, size=(n, 8)) * 1.0),
    "log counts, mean 4, 12 features": alike(S90, lambda rng, n: np.log1p(negative_binomial(rng, n, 12, 4, 3))),
    "log counts, a third not detected, 12 features": alike(S70, zero_inflated(12, 12, 0.35)),
    "Laplace, 4 features": alike(S90, lambda rng, n: rng.laplace(size=(n, 4))),
    "Gaussians with unlike covariances, 5 features": unlike_covariances(S90, 5),
    "Gaussian, shifts of 1.2 sd between 4 studies, 8 features": shifted((70,) * 4, gaussian(*np.ones(8)), 1.2),
    "uniform square, shifts of a fifth between studies": shifted(S90, lambda rng, n: rng.random((n, 2)), 0.2),
    "Gaussian, n = 15 in 4 studies, 4 features": alike((15,) * 4, gaussian(2, 1, 1, 1)),
    "exponential, n = 15, 2 features": alike((15,) * 3, lambda rng, n: rng.exponential(size=(n, 2))),
    "Gaussian 2:1:1:1, n = 20 and 500": alike((20, 500), gaussian(2, 1, 1, 1)),
    "gamma(2), n = 20, 500 and 20, 3 features": alike((20, 500, 20), lambda rng, n: rng.gamma(2, size=(n, 3))),
    "two Gaussians at 1.5 sd, 3 features": one_hump(fixed(S90, in_dimensions(np.array([[0.0, 0.0], [1.2, 0.9]]), 3))),
    "Dirichlet(3) of 4 parts": alike(S70, lambda rng, n: rng.dirichlet(3 * np.ones(4), size=n)),
    "a funnel: Gaussian, wider along an axis": alike(S90, funnel),
}

_CURVES: dict[str, Callable[[Generator], Collection]] = {
    "half circle, noise 0.08": alike(S90, with_noise(arc(180), 0.08)),
    "three quarters of a circle, noise 0.12": alike(S70, with_noise(arc(270), 0.12)),
    "ring, noise 0.13": alike(S70, with_noise(arc(360), 0.13)),
    "surface of a sphere, noise 0.07": alike(S110, with_noise(lambda rng, n: directions(rng, n, 3), 0.07)),
    "trajectory in 20 dimensions, noise 0.2": trajectory(S90, 20, wiggles=4, sd=0.2),
    "swiss roll, noise 0.4": alike(S110, with_noise(swiss_roll, 0.4)),
    "S-curve, noise 0.08": alike(S90, with_noise(s_curve, 0.08)),
}

_ROUND: dict[str, tuple[Callable[[Generator], Collection], int]] = {
    f"{k} clusters at 4.75 sd, {p} features": (random_clusters(k, p, 4.75), k)
    for p in (2, 10, 100)
    for k in range(2, 7)
}

_CLUSTERS: dict[str, tuple[Callable[[Generator], Collection], tuple[int, ...]]] = {
    "2 clusters at 3.8 sd, 3 features": (fixed(S90, 3.8 / 3 * np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]])), (2,)),
    "3 on a line, 5 sd, 6 features": (fixed(S70, 5 / np.sqrt(6) * np.outer(np.arange(3), np.ones(6))), (3,)),
    "4 on a rectangle, 5 by 6 sd": (fixed(S70, np.array([[0.0, 0], [5, 0], [0, 6], [5, 6]])), (4,)),
    "70/20/10 %, 5.3 sd, 5 features": (
        lambda rng: mixture(rng, (100,) * 3, apart(rng, 3, 5, 5.3), (0.7, 0.2, 0.1)),
        (3,),
    ),
    "a cluster of 5 % at 7 sd, 3 features": (
        fixed((120,) * 3, np.array([[0.0, 0, 0], [7 / np.sqrt(2), 0, 7 / np.sqrt(2)]]), (0.95, 0.05)),
        (2,),
    ),
    "sd 1, 1.5, 2.2, at 4.8 mean sd, 4 features": (
        fixed(S90, in_dimensions(np.array([[0.0, 0], [6.0, 0], [1.344, 7.562]]), 4), sd=(1, 1.5, 2.2)),
        (3,),
    ),
    "3 long parallel clusters 3.5:1, 5.5 sd": (elongated(S90, 3, 5.5, 3.5), (3,)),
    "3 overlapping, Bayes ARI 0.6, 3 features": (fixed(S90, in_dimensions(2.38 * SCALENE, 3)), (3,)),
    "3 overlapping, Bayes ARI 0.9, 3 features": (fixed(S70, in_dimensions(3.72 * SCALENE, 3)), (3,)),
    "3 overlapping, Bayes ARI 0.9, 12 features": (fixed(S90, in_dimensions(3.72 * SCALENE, 12)), (3,)),
    "nested: 2 groups of 3, 5.5 and 17 sd, 5 features": (nested(S90, 5, 5.5, 17), (2, 6)),
    "2 latent classes in 20 binary features": (latent_classes(S90, 2, 20, 0.85, 0.2), (2,)),
    "3 latent classes in 20 binary features": (latent_classes(S110, 3, 20, 0.88, 0.12), (3,)),
    "two moons, noise 0.08": (moons(S110, 0.08), (2,)),
    "4 clusters at 5.5 sd, shifts of 0.8 sd, 6 features": (
        lambda rng: mixture(rng, (80,) * 4, apart(rng, 4, 6, 5.5), shift=0.8),
        (4,),
    ),
}

EQUAL = (1.0,) * 4
_MISSING: dict[str, tuple[Callable[[Generator], Collection], int]] = {
    "4 clusters at 6 sd in all 3 studies, 3 features": (missing((120,) * 3, 4, 3, 6, [EQUAL] * 3), 4),
    "4 clusters at 6 sd, one study lacks one, 3 features": (
        missing((120,) * 3, 4, 3, 6, [EQUAL, (1, 1, 0, 1), EQUAL]),
        4,
    ),
    "2 cell types at 7 sd: both, first, second; 15 features": (
        missing((90,) * 3, 2, 15, 7, [(0.6, 0.4), (1, 0), (0, 1)]),
        2,
    ),
    "3 clusters at 6.5 sd, two studies lack one each, 8 features": (
        missing((100,) * 4, 3, 8, 6.5, [(1, 1, 1), (1, 1, 0), (1, 0, 1), (1, 1, 1)]),
        3,
    ),
    "3 clusters at 6 sd, one study is one cluster, 2 features": (
        missing((100,) * 3, 3, 2, 6, [(1, 1, 1), (1, 1, 1), (0, 1, 0)]),
        3,
    ),
}

KINDS: tuple[Kind, ...] = (
    *(Kind(name, ONE_PIECE, draw) for name, draw in _ONE_PIECE.items()),
    *(Kind(name, CURVE, draw) for name, draw in _CURVES.items()),
    *(Kind(name, ROUND, draw, (k,)) for name, (draw, k) in _ROUND.items()),
    *(Kind(name, CLUSTERS, draw, right) for name, (draw, right) in _CLUSTERS.items()),
    *(Kind(name, MISSING, draw, (k,)) for name, (draw, k) in _MISSING.items()),
)
BY_NAME = {kind.name: kind for kind in KINDS}
