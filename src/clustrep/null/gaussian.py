"""Gaussian studies: each with its own size, and its mean and covariance as far as these differ from noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from clustrep.cached import cached_property
from clustrep.fitting.rotation import Rotation
from clustrep.statistics import thin_svd
from clustrep.types import FloatArray

# A squared difference between studies up to this multiple of its expectation under sampling is attributed to sampling:
# with five features or more, sampling alone exceeds it in at most 8 % of cases (χ² with five degrees of freedom).
SAME = 2.0


@dataclass(frozen=True, eq=False)
class Structure:
    """The mean and covariance of a study: a few strong directions, and equal variance in all others.

        Σ = A′ diag(v − σ²) A + σ² I

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
    axes : ndarray of shape (r, n_features)
        A, the strong directions, orthonormal.
    variances : ndarray of shape (r,)
        v, the variances along these.
    noise : float
        σ², the variance in every other direction.
    """

    mean: FloatArray = field(repr=False)
    axes: FloatArray = field(repr=False)
    variances: FloatArray
    noise: float

    @property
    def extra(self) -> FloatArray:
        """The variances along the strong directions without the noise, (r,)."""
        return np.asarray(np.maximum(self.variances - self.noise, 0))

    def covariance(self, directions: FloatArray) -> FloatArray:
        """Return the covariance along some orthonormal directions, (n_directions, n_directions)."""
        loadings = directions @ self.axes.T
        return np.asarray((loadings * self.extra) @ loadings.T + self.noise * np.eye(len(directions)))

    def turned(self, origin: FloatArray, basis: FloatArray) -> Structure:
        """Return the structure in the coordinates of a basis, (q, n_features), about an origin."""
        return replace(self, mean=(self.mean - origin) @ basis.T, axes=self.axes @ basis.T)

    def radii(self, centred: FloatArray) -> FloatArray:
        """Return Mahalanobis distances from the mean, (n_samples,), of samples from which the mean was subtracted.

        Samples may have further coordinates, in which there is noise alone.
        """
        strong = centred[:, : self.axes.shape[1]] @ self.axes.T
        rest = np.maximum((centred**2).sum(axis=1) - (strong**2).sum(axis=1), 0)
        tiny = np.finfo(float).tiny
        squares = (strong**2 / np.maximum(self.variances, tiny)).sum(axis=1) + rest / max(self.noise, tiny)
        return np.asarray(np.sqrt(squares))


def structures_of(tables: Sequence[FloatArray], n_features: int) -> tuple[Structure, ...]:
    """Estimate the covariance of every study, as far as it differs from the others' and from noise.

    Simulated data must share between studies what the data share. Sample covariances do not: directions that all
    studies have in common are found with an error of each study's own, and with many features noise alone has strong
    directions, other ones in every study. So a study's covariance, apart from its scale, is drawn towards the pooled
    one by the share of their difference that sampling explains; eigenvalues that noise explains become equal, and the
    others lose what noise added to them (Johnstone 2001; Baik & Silverstein 2006).

    Parameters
    ----------
    tables : sequence of ndarray of shape (n_samples, n_coordinates)
        The studies in at most as many coordinates as there are samples in all.
    n_features : int
        How many features there are, of which the coordinates are a part.

    Notes
    -----
    With Y_s = S_s / scale_s the covariance of study s divided by its mean variance, ν_s its degrees of freedom and Ȳ
    the pooled one, the expected squared distance under sampling is E‖Y_s − Ȳ‖² = c (1/ν_s − 1/Σν), with
    c = tr(Ȳ²) − tr(Ȳ)²/Σν + tr(Ȳ)². The share t of the observed distance that this explains draws Y_s to
    (1 − t) Y_s + t Ȳ. Of its eigenvalues, those below the Marčenko–Pastur edge (1 + √γ)² in units of noise, with
    γ = n_features / ν, become equal; an eigenvalue λ above it is ℓ (1 + γ / (ℓ − 1)) for the ℓ that is returned.

    References
    ----------
    .. [1] Johnstone, I. M. (2001). On the distribution of the largest eigenvalue in principal components analysis.
       Annals of Statistics 29(2), 295-327.
    .. [2] Baik, J. and Silverstein, J. W. (2006). Eigenvalues of large sample covariance matrices of spiked population
       models. Journal of Multivariate Analysis 97(6), 1382-1408.
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
    return tuple(structures)


def explained_by_sampling(squares: ArrayLike, expected: ArrayLike) -> FloatArray:
    """Return the shares of squared differences that sampling explains, given the squares expected from sampling.

    Examples
    --------
    >>> explained_by_sampling([1.0, 2.0, 8.0], 1.0)
    array([1.  , 1.  , 0.25])
    """
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


# What was learned from several studies: a function of a generator that draws a table for every study. All of them are
# methods or partial functions of this room, which can be sent to workers.
NullModel: TypeAlias = Callable[[np.random.Generator], list[FloatArray]]


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """Gaussian studies, each with its own size, and with its own mean and covariance as far as the data determine them.

    Attributes
    ----------
    sizes : tuple of int
        The studies' numbers of samples.
    structures : tuple of Structure
        Their means and covariances.
    beyond : int, default=0
        The number of features beyond the coordinates. In these there is noise alone, of which distances depend on the
        inner products of all samples: a lower triangle of standard normal numbers, with √χ² of `beyond`, `beyond` − 1,
        … degrees of freedom on its diagonal, has the same ones [1]_.

    References
    ----------
    .. [1] Bartlett, M. S. (1933). On the theory of statistical regression. Proceedings of the Royal Society of
       Edinburgh 53, 260-283.
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
            return cls(sizes, structures_of(tables, n_features))
        rotation = Rotation.of(tables, with_basis=True)
        assert rotation.basis is not None
        structures = [
            replace(structure, mean=rotation.restore(structure.mean), axes=structure.axes @ rotation.basis.T)
            for structure in structures_of(rotation.coordinates, n_features)
        ]
        return cls(sizes, tuple(structures))

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw a table for every study."""
        tables = []
        for n, one in zip(self.sizes, self.structures, strict=True):
            noise = rng.standard_normal((n, len(one.mean)))
            strong = rng.standard_normal((n, len(one.axes))) * np.sqrt(one.extra)
            tables.append(one.mean + strong @ one.axes + np.sqrt(one.noise) * noise)
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
class Learned:
    """What all null models learn from: the studies, their covariances, and Gaussian studies with these.

    Attributes
    ----------
    tables : tuple of ndarray of shape (n_samples, n_features)
        The studies; or their coordinates, (n_samples, n_coordinates), where features outnumber samples by far.
    n_features : int
        How many features the studies have.
    """

    tables: tuple[FloatArray, ...] = field(repr=False)
    n_features: int

    @property
    def in_features(self) -> bool:
        """Whether the tables have the features themselves, not coordinates."""
        return bool(self.tables[0].shape[1] == self.n_features)

    @cached_property
    def structures(self) -> tuple[Structure, ...]:
        """The covariances of the studies, in the coordinates of the tables."""
        return self.gaussian.structures if self.in_features else structures_of(self.tables, self.n_features)

    @cached_property
    def _in_few(self) -> tuple[FloatArray, FloatArray]:
        """An origin, and a basis of the span of all means and strong directions, (q, n_coordinates)."""
        origin = self.structures[0].mean
        means = np.array([structure.mean - origin for structure in self.structures])
        spanning = np.concatenate([means, *(structure.axes for structure in self.structures)])
        _, s, basis = thin_svd(spanning)
        rank = np.count_nonzero(s > s.max(initial=0) * max(spanning.shape) * np.finfo(float).eps)
        return origin, basis[: max(1, rank)]

    @cached_property
    def gaussian(self) -> GaussianModel:
        """Gaussian studies with these covariances; of coordinates, in as few as the simulated studies need."""
        if self.in_features:
            return GaussianModel.of(self.tables)
        # Noise apart, all studies lie in the span of their means and strong directions.
        origin, basis = self._in_few
        turned = tuple(structure.turned(origin, basis) for structure in self.structures)
        return GaussianModel(tuple(map(len, self.tables)), turned, self.n_features - len(basis))

    @cached_property
    def projected(self) -> tuple[FloatArray, ...]:
        """The studies in the coordinates of the Gaussian, without the noise beyond them."""
        if self.in_features:
            return self.tables
        origin, basis = self._in_few
        return tuple((X - origin) @ basis.T for X in self.tables)
