"""Gaussian studies: each with its own size, and its mean and covariance as far as these differ from noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from clustrep.fitting.rotation import Rotation
from clustrep.types import FloatArray

# A difference between studies up to this multiple of its expectation under sampling is attributed to sampling.
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

    def covariance(self, directions: FloatArray) -> FloatArray:
        """Return the covariance along some orthonormal directions, (n_directions, n_directions)."""
        loadings = directions @ self.axes.T
        extra = (loadings * np.maximum(self.variances - self.noise, 0)) @ loadings.T
        return np.asarray(extra + self.noise * np.eye(len(directions)))

    def radii(self, centred: FloatArray) -> FloatArray:
        """Return Mahalanobis distances from the mean of samples without it, in at least this many coordinates."""
        strong = centred[:, : self.axes.shape[1]] @ self.axes.T
        rest = np.maximum((centred**2).sum(axis=1) - (strong**2).sum(axis=1), 0)
        tiny = np.finfo(float).tiny
        squares = (strong**2 / np.maximum(self.variances, tiny)).sum(axis=1) + rest / max(self.noise, tiny)
        return np.asarray(np.sqrt(squares))


def structures_of(tables: Sequence[FloatArray], n_features: int) -> list[Structure]:
    """Estimate the covariance of every study, as far as the data can tell it from the others' and from noise.

    Simulated data must share between studies what the data share. Sample covariances do not: directions that all
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
    scales = np.where(traces > 0, traces / n_features, 1.0)  # of each study by itself: studies may differ in scale
    scaled = [S / scale for S, scale in zip(raw, scales, strict=True)]
    total = int(freedom.sum())
    pooled = np.asarray(sum(nu * S for nu, S in zip(freedom, scaled, strict=True)) / total)
    trace, squares = float(np.trace(pooled)), float(np.sum(pooled**2))
    spread = max(squares - trace**2 / total, 0) + trace**2  # E‖S − Σ‖² is this, divided by the degrees of freedom
    weights = sizes / sizes.sum()
    centre, variances = weights @ means, traces / sizes  # of the means
    structures = []
    for s, (nu, S, mean, scale) in enumerate(zip(freedom, scaled, means, scales, strict=True)):
        towards = float(explained_by_sampling(np.sum((S - pooled) ** 2), spread * (1 / nu - 1 / total)))
        effective = 1 / ((1 - towards) ** 2 / nu + (1 - (1 - towards) ** 2) / total)
        expected = (1 - 2 * weights[s]) * variances[s] + weights**2 @ variances
        shift = 1 - float(explained_by_sampling(np.sum((mean - centre) ** 2), expected))
        axes, strong, noise = _without_noise((1 - towards) * S + towards * pooled, n_features, effective)
        structures.append(Structure(centre + shift * (mean - centre), axes, scale * strong, scale * noise))
    return structures


def explained_by_sampling(squares: ArrayLike, expected: ArrayLike) -> FloatArray:
    """Return the shares of squared differences that sampling explains, given the squares expected from sampling."""
    squares, allowed = np.asarray(squares, dtype=float), SAME * np.asarray(expected, dtype=float)
    same = squares <= allowed
    return np.asarray(np.where(same, 1.0, allowed / np.where(same, 1.0, squares)))


def _without_noise(S: FloatArray, n_features: int, freedom: float) -> tuple[FloatArray, FloatArray, float]:
    """Take the sampling noise out of a sample covariance: strong directions, their variances, all others' variance."""
    values, axes = np.linalg.eigh(S)
    values, axes = np.maximum(values[::-1], 0), axes.T[::-1]
    gamma = n_features / freedom
    trace, n_strong = float(values.sum()), 0
    noise, strong = trace / n_features, np.zeros(0)
    for _ in range(len(values)):
        edge = noise * (1 + np.sqrt(gamma)) ** 2  # Marčenko–Pastur: the largest eigenvalue of noise alone
        n_above = min(int(np.count_nonzero(values > edge)), n_features - 1)
        # A strong variance ℓ, in units of noise, is seen as ℓ (1 + γ / (ℓ − 1)).
        ratio = values[:n_above] / max(noise, np.finfo(float).tiny)
        half = (ratio + 1 - gamma) / 2
        strong = noise * (half + np.sqrt(np.maximum(half**2 - ratio, 0)))
        noise = max(trace - float(strong.sum()), 0) / max(n_features - n_above, 1)
        if n_above == n_strong:
            break
        n_strong = n_above
    return axes[: len(strong)], strong, noise


class NullModel(Protocol):
    """A model of studies without clusters, from which null data are drawn."""

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw a table for every study."""
        ...


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """Gaussian studies, each with its own size, and with its own mean and covariance as far as the data determine them.

    beyond : features beyond the coordinates. In these there is noise alone, of which distances see no more than what
        the inner products of all samples tell: a triangle of random numbers has the same (Bartlett 1933).
    """

    sizes: tuple[int, ...]
    structures: tuple[Structure, ...]
    beyond: int = 0

    @classmethod
    def of(cls, tables: Sequence[FloatArray]) -> GaussianModel:
        """Learn from studies; from their coordinates where there are more features than samples."""
        n_features, n = tables[0].shape[1], sum(map(len, tables))
        sizes = tuple(map(len, tables))
        if n_features <= n:
            return cls(sizes, tuple(structures_of(tables, n_features)))
        rotation = Rotation.of(tables, with_basis=True)
        assert rotation.basis is not None
        structures = [
            Structure(
                rotation.restore(structure.mean),
                structure.axes @ rotation.basis.T,
                structure.variances,
                structure.noise,
            )
            for structure in structures_of(rotation.coordinates, n_features)
        ]
        return cls(sizes, tuple(structures))

    @classmethod
    def in_coordinates(cls, rotation: Rotation) -> GaussianModel:
        """Learn from studies in their coordinates, and stay in as few as the simulated ones need."""
        return Coordinates.of(rotation).gaussian

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw a table for every study."""
        tables = [
            structure.draw(n, rng, noise=rng.standard_normal((n, len(structure.mean))))
            for n, structure in zip(self.sizes, self.structures, strict=True)
        ]
        if not self.beyond:
            return tables
        n = sum(self.sizes)
        triangle = np.tril(rng.standard_normal((n, n)), -1)
        triangle[np.diag_indices(n)] = np.sqrt(rng.chisquare(self.beyond - np.arange(n)))
        parts = np.split(triangle, np.cumsum(self.sizes)[:-1])
        return [
            np.hstack([table, np.sqrt(structure.noise) * part])
            for table, structure, part in zip(tables, self.structures, parts, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Studies with more features than samples: the Gaussian learned from them, and the studies in its coordinates."""

    gaussian: GaussianModel
    structures: tuple[Structure, ...]  # in the coordinates of the rotation
    tables: tuple[FloatArray, ...] = field(repr=False)  # in the coordinates of the Gaussian, noise beyond them apart

    @classmethod
    def of(cls, rotation: Rotation) -> Coordinates:
        """Learn from studies in their coordinates, once for all models."""
        if rotation not in _learned:
            _learned[rotation] = cls._learn(rotation)
        return _learned[rotation]

    @classmethod
    def _learn(cls, rotation: Rotation) -> Coordinates:
        structures = structures_of(rotation.coordinates, rotation.n_features)
        origin = structures[0].mean
        means = np.array([structure.mean - origin for structure in structures])
        # Noise apart, all studies lie in the span of their means and strong directions.
        basis = _orthonormal(np.concatenate([means, *(structure.axes for structure in structures)]))  # (q, n_coord.)
        turned = [
            Structure(
                (structure.mean - origin) @ basis.T, structure.axes @ basis.T, structure.variances, structure.noise
            )
            for structure in structures
        ]
        sizes = tuple(map(len, rotation.coordinates))
        gaussian = GaussianModel(sizes, tuple(turned), rotation.n_features - len(basis))
        return cls(gaussian, tuple(structures), tuple((X - origin) @ basis.T for X in rotation.coordinates))


_learned: WeakKeyDictionary[Rotation, Coordinates] = WeakKeyDictionary()


def _orthonormal(vectors: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what the rows span; at least one vector."""
    _, s, basis = np.linalg.svd(vectors, full_matrices=False)
    rank = np.count_nonzero(s > s.max(initial=0) * max(vectors.shape) * np.finfo(float).eps)
    return np.asarray(basis[: max(1, rank)])
