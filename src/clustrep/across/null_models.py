"""Data without clusters that look like a study otherwise: of its size, mean and covariance, or with its margins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, rankdata

from clustrep.checks import check_choice, check_points
from clustrep.clustering.rotation import Rotation
from clustrep.engine.replicates import Failed, attempt
from clustrep.errors import DataError
from clustrep.studies.study import Study
from clustrep.types import FloatArray

Sampler: TypeAlias = Callable[[Study, np.random.Generator], ArrayLike]


# ---------------------------------------------------------------------------------------------------------------------
# several studies at once

# A difference between studies up to so many times what sampling leads one to expect is taken for sampling.
SAME = 2.0


@dataclass(frozen=True, eq=False)
class Structure:
    """A covariance without sampling noise: a few strong directions, and equal variance in all others."""

    mean: FloatArray = field(repr=False)  # (n_features,)
    axes: FloatArray = field(repr=False)  # (r, n_features), orthonormal
    variances: FloatArray  # (r,): along these
    noise: float  # the variance in every other direction

    def draw(self, n: int, rng: np.random.Generator, *, noise: FloatArray) -> FloatArray:
        """Draw n samples, given standard normal noise in all directions."""
        strong = rng.standard_normal((n, len(self.axes))) * np.sqrt(np.maximum(self.variances - self.noise, 0))
        return np.asarray(self.mean + strong @ self.axes + np.sqrt(self.noise) * noise)


def structures_of(tables: Sequence[FloatArray], n_features: int) -> list[Structure]:
    """Estimate the covariance of every study, as far as the data can tell it from the others' and from noise.

    Simulated data must share between studies what the data share. Sample covariances would not do: directions that all
    studies have in common are found with an error of each study's own, and with many features noise alone has strong
    directions, other ones in every study. So a study's covariance, apart from its scale, is drawn towards the pooled
    one by the share of their difference that sampling explains; eigenvalues that noise explains become equal, and the
    others lose what noise added to them (Johnstone 2001; Baik & Silverstein 2006).

    tables : the studies in at most as many coordinates as there are samples in all
    n_features : how many features there are, of which the coordinates are a part
    """
    means = np.array([X.mean(axis=0) for X in tables])
    sizes, freedom = np.array([len(X) for X in tables]), np.array([len(X) - 1 for X in tables])
    raw = [(X - mean).T @ (X - mean) / nu for X, mean, nu in zip(tables, means, freedom, strict=True)]
    traces = np.array([float(np.trace(S)) for S in raw])
    scales = np.where(traces > 0, traces / n_features, 1.0)  # every study keeps its own: noise in one is none in others
    own = [S / scale for S, scale in zip(raw, scales, strict=True)]
    total = int(freedom.sum())
    pooled = np.asarray(sum(nu * S for nu, S in zip(freedom, own, strict=True)) / total)
    trace, squares = float(np.trace(pooled)), float(np.sum(pooled**2))
    spread = max(squares - trace**2 / total, 0) + trace**2  # E‖S − Σ‖² is this, divided by the degrees of freedom
    weights = sizes / sizes.sum()
    centre, variances = weights @ means, traces / sizes  # of the means
    structures = []
    for s, (nu, S, mean, scale) in enumerate(zip(freedom, own, means, scales, strict=True)):
        towards = _explained(S - pooled, spread * (1 / nu - 1 / total))
        effective = 1 / ((1 - towards) ** 2 / nu + (1 - (1 - towards) ** 2) / total)
        shift = 1 - _explained(mean - centre, (1 - 2 * weights[s]) * variances[s] + weights**2 @ variances)
        axes, strong, noise = _without_noise((1 - towards) * S + towards * pooled, n_features, effective)
        structures.append(Structure(centre + shift * (mean - centre), axes, scale * strong, scale * noise))
    return structures


def _explained(difference: FloatArray, expected: float) -> float:
    """Return the share of a difference that sampling explains, given the square that it leads one to expect."""
    square = float(np.sum(difference**2))
    return 1.0 if square <= SAME * expected else SAME * expected / square


def _without_noise(S: FloatArray, n_features: int, freedom: float) -> tuple[FloatArray, FloatArray, float]:
    """Take the sampling noise out of a sample covariance: strong directions, their variances, all others' variance."""
    values, axes = np.linalg.eigh(S)
    values, axes = np.maximum(values[::-1], 0), axes.T[::-1]
    gamma = n_features / freedom
    trace, n_strong = float(values.sum()), 0
    noise, strong = trace / n_features, np.zeros(0)
    for _ in range(len(values)):
        edge = noise * (1 + np.sqrt(gamma)) ** 2  # Marčenko–Pastur: noise alone reaches so far
        found = min(int(np.count_nonzero(values > edge)), n_features - 1)
        # A strong variance ℓ, in units of noise, is seen as ℓ (1 + γ / (ℓ − 1)).
        ratio = values[:found] / max(noise, np.finfo(float).tiny)
        half = (ratio + 1 - gamma) / 2
        strong = noise * (half + np.sqrt(np.maximum(half**2 - ratio, 0)))
        noise = max(trace - float(strong.sum()), 0) / max(n_features - found, 1)
        if found == n_strong:
            break
        n_strong = found
    return axes[: len(strong)], strong, noise


class Collection(Protocol):
    """Studies without clusters, in the place of a collection of studies."""

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw a table for every study."""
        ...


@dataclass(frozen=True, eq=False)
class GaussianCollection:
    """Gaussian studies, each with its own size, and with its own mean and covariance as far as these can be told.

    beyond : features beyond the coordinates. In these there is noise alone, of which distances see no more than what
        the inner products of all samples tell: a triangle of random numbers has the same (Bartlett 1933).
    """

    sizes: tuple[int, ...]
    structures: tuple[Structure, ...]
    beyond: int = 0

    @classmethod
    def of(cls, tables: Sequence[FloatArray]) -> GaussianCollection:
        """Learn from studies; with more features than samples in all, by way of their coordinates."""
        n_features, n = tables[0].shape[1], sum(map(len, tables))
        sizes = tuple(map(len, tables))
        if n_features <= n:
            return cls(sizes, tuple(structures_of(tables, n_features)))
        rotation = Rotation.of(tables, with_basis=True)
        assert rotation.basis is not None
        structures = [
            Structure(rotation.restore(one.mean), one.axes @ rotation.basis.T, one.variances, one.noise)
            for one in structures_of(rotation.coordinates, n_features)
        ]
        return cls(sizes, tuple(structures))

    @classmethod
    def in_coordinates(cls, rotation: Rotation) -> GaussianCollection:
        """Learn from studies in their coordinates, and stay in as few as the simulated ones need."""
        structures = structures_of(rotation.coordinates, rotation.n_features)
        means = np.array([one.mean - structures[0].mean for one in structures])
        # Noise apart, all studies lie in the span of their means and strong directions.
        basis = _orthonormal(np.concatenate([means, *(one.axes for one in structures)]))  # (q, n_coordinates)
        turned = [
            Structure((one.mean - structures[0].mean) @ basis.T, one.axes @ basis.T, one.variances, one.noise)
            for one in structures
        ]
        return cls(tuple(map(len, rotation.coordinates)), tuple(turned), rotation.n_features - len(basis))

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw a table for every study."""
        tables = [
            one.draw(n, rng, noise=rng.standard_normal((n, len(one.mean))))
            for n, one in zip(self.sizes, self.structures, strict=True)
        ]
        if not self.beyond:
            return tables
        n = sum(self.sizes)
        triangle = np.tril(rng.standard_normal((n, n)), -1)
        triangle[np.diag_indices(n)] = np.sqrt(rng.chisquare(self.beyond - np.arange(n)))
        parts = np.split(triangle, np.cumsum(self.sizes)[:-1])
        return [
            np.hstack([table, np.sqrt(one.noise) * part])
            for table, one, part in zip(tables, self.structures, parts, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class CopulaCollection:
    """Gaussian copulas with every study's own margins: features as skewed and as heavy-tailed as they are."""

    scores: GaussianCollection
    ordered: tuple[FloatArray, ...] = field(repr=False)  # every study's features, each in the order of its values

    @classmethod
    def of(cls, tables: Sequence[FloatArray]) -> CopulaCollection:
        """Learn from the normal scores of ranks within each study."""
        return cls(
            GaussianCollection.of([_normal_scores(X) for X in tables]), tuple(np.sort(X, axis=0) for X in tables)
        )

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw normal scores, and give every feature the quantiles of its own values."""
        tables = []
        for z, one, ordered in zip(self.scores.draw(rng), self.scores.structures, self.ordered, strict=True):
            extra = np.maximum(one.variances - one.noise, 0)
            sd = np.sqrt(one.noise + extra @ one.axes**2)
            tables.append(_quantiles(ordered, norm.cdf((z - one.mean) / np.where(sd > 0, sd, 1.0))))
        return tables


def _orthonormal(vectors: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what the rows span; at least one vector."""
    _, s, basis = np.linalg.svd(vectors, full_matrices=False)
    rank = np.count_nonzero(s > s.max(initial=0) * max(vectors.shape) * np.finfo(float).eps)
    return np.asarray(basis[: max(1, rank)])


def _normal_scores(X: FloatArray) -> FloatArray:
    scores = norm.ppf(rankdata(X, axis=0) / (len(X) + 1))
    sd = scores.std(axis=0, ddof=1)
    return np.asarray((scores - scores.mean(axis=0)) / np.where(sd > 0, sd, 1.0))


def _quantiles(ordered: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the quantiles of every column, with as many shares for it."""
    n = len(ordered)
    place = shares * (n - 1)
    below = np.floor(place).astype(np.int64).clip(0, n - 2)
    low, high = (np.take_along_axis(ordered, i, axis=0) for i in (below, below + 1))
    return np.asarray(low + (place - below) * (high - low))


@dataclass(frozen=True, eq=False)
class GivenCollection:
    """A sampler of the user's, for one study after the other."""

    studies: tuple[Study, ...]
    sampler: Sampler

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Call it, and check what it returns."""
        tables = []
        for study in self.studies:
            drawn = attempt(self.sampler, study, rng)
            if isinstance(drawn, Failed):
                raise DataError(f"null failed for study {study.name!r}: {drawn.cause}. It is called with (study, rng).")
            X = check_points(drawn, f"What null returned for study {study.name!r}", samples_at_least=2)
            if X.shape != study.X.shape:
                raise DataError(
                    f"null must return a table like study {study.name!r}, of {study.X.shape}, got {X.shape}."
                )
            tables.append(X)
        return tables


NULLS = ("gaussian", "copula")


def check_null(null: object) -> None:
    """Check that data without clusters can be drawn."""
    if not callable(null):
        check_choice(null, "null", NULLS, or_else="a function of (study, rng)")


def collection_of(null: str | Sampler, studies: Sequence[Study]) -> Collection:
    """Prepare to draw studies without clusters in the place of these."""
    if callable(null):
        return GivenCollection(tuple(studies), null)
    tables = [study.X.astype(float) for study in studies]
    return GaussianCollection.of(tables) if null == "gaussian" else CopulaCollection.of(tables)
