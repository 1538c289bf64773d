"""Three unimodal null models: like the studies in every respect that a density with one mode allows.

- `elliptical`: the same density on ellipses about the mean, falling outwards. Gaussians, multivariate t, balls.
- `margins`: every feature has the unimodal distribution closest to its own; dependence is a Gaussian copula. Cubes,
  skewed features, counts, ordinal and binary features.
- `components`: unimodal distributions of independent components. A square that stands on its corner, sums of skewed
  factors.

Where features outnumber samples, shapes can be learned in a few strong directions alone: there the studies follow the
model, in all others they are Gaussian.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm, rankdata
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from clustrep.null.gaussian import GaussianModel, Learned, NullModel, Structure
from clustrep.null.margins import (
    TOPS,
    Margin,
    continuous_margin,
    flattest_unimodal,
    margins_of_feature,
    shrunk_moments,
)
from clustrep.types import FloatArray

# Shapes are learned in at most ten directions, beyond which radii hardly vary in any unimodal density, and in one for
# every twelve samples: a rotation of q directions has q (q − 1) / 2 angles to be estimated.
MOST_DIRECTIONS, SAMPLES_PER_DIRECTION = 10, 12
# How much of the log likelihood a flatter top of a component may cost, instead of 2: directions are estimated, which
# rounds the edges of a level density.
FLATTER_COMPONENTS = 8.0
# The grid on which quantiles of radii are tabulated: shares are off by at most 1 / 8000.
N_RADII = 4000
# At most this share of a feature's normal score is common to all features: with more, features would be copies.
MOST_COMMON = 0.98
# The least correlation of normal scores that ties are taken to leave: that of a binary feature with 1.3 % ones.
LEAST_KEPT = 0.3


def n_directions(tables: Sequence[FloatArray]) -> int:
    """Return in how many directions shapes can be learned from these studies."""
    return max(1, min(MOST_DIRECTIONS, sum(map(len, tables)) // SAMPLES_PER_DIRECTION))


# ---------------------------------------------------------------------------------------------------------------------
# elliptical


@dataclass(frozen=True, eq=False)
class EllipticalModel:
    """The same density on ellipses about each study's mean, falling outwards.

        x = mean + r √p u Σ^½, with u uniform on the unit sphere and r from `radii`

    Attributes
    ----------
    sizes : tuple of int
        The studies' numbers of samples.
    means : tuple of ndarray of shape (p,)
        Their means.
    roots : tuple of ndarray of shape (p, p)
        The square roots Σ^½ of their covariances.
    radii : Margin
        The distribution of Mahalanobis distances, of quadratic mean 1, the same in all studies.
    """

    sizes: tuple[int, ...]
    means: tuple[FloatArray, ...] = field(repr=False)
    roots: tuple[FloatArray, ...] = field(repr=False)
    radii: Margin = field(repr=False)

    @classmethod
    def of(cls, learned: Learned) -> EllipticalModel:
        """Learn from studies with few features."""
        roots, white = whitened(learned.tables, learned.structures, np.eye(learned.n_features))
        radii = falling_density(np.linalg.norm(np.concatenate(white), axis=1), learned.n_features)
        return cls(learned.gaussian.sizes, tuple(structure.mean for structure in learned.structures), roots, radii)

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw directions and radii."""
        tables = []
        for n, mean, root in zip(self.sizes, self.means, self.roots, strict=True):
            directions = rng.standard_normal((n, len(root)))
            directions /= np.linalg.norm(directions, axis=1, keepdims=True)
            radii = self.radii.quantiles(rng.random(n)) * np.sqrt(len(root))
            tables.append(mean + (radii[:, None] * directions) @ root)
        return tables


def falling_density(radii: FloatArray, n_features: int) -> Margin:
    """Return the distribution of radii of the closest density that falls outwards, scaled to quadratic mean 1.

    The density is a function of the volume within a radius, r^p, and falls with it: Grenander's estimate [1]_, with the
    flattest top within `FLATTER` of the likeliest.

    Parameters
    ----------
    radii : ndarray of shape (n_samples,)
        Distances from the mean, in units of each study's covariance.
    n_features : int
        p.

    References
    ----------
    .. [1] Grenander, U. (1956). On the theory of mortality measurement II. Skandinavisk Aktuarietidskrift 39, 125-153.
    """
    points, counts = np.unique(np.maximum(radii, 1e-12), return_counts=True)
    volumes = (points / points[-1]) ** n_features
    masses, widths = counts / counts.sum(), np.maximum(np.diff(volumes, prepend=0.0), 1e-300)
    levels = np.maximum(np.searchsorted(np.cumsum(masses), TOPS), 1)
    tops_of = [*([(0, int(level))] for level in levels), [(0, 1)]]
    shares = flattest_unimodal(masses, widths, len(radii), tops_of)
    falling = Margin(np.concatenate([[0.0], np.cumsum(shares / shares.sum())]), np.concatenate([[0.0], volumes]))
    grid = (np.arange(N_RADII) + 0.5) / N_RADII
    drawn = falling.quantiles(grid) ** (1 / n_features)
    return Margin(grid, drawn / np.sqrt(np.mean(drawn**2)))


@dataclass(frozen=True, eq=False)
class WideEllipticalModel:
    """Gaussians whose samples get other distances from the mean, those of the data.

    For many features: there the density of elliptical data falls outwards for nearly any distribution of radii.
    """

    gaussian: GaussianModel
    radii: Margin = field(repr=False)  # of quadratic mean 1

    @classmethod
    def of(cls, learned: Learned) -> WideEllipticalModel:
        """Learn the radii in units of every study's own ellipse."""
        studies = zip(learned.tables, learned.structures, strict=True)
        radii = [structure.radii(X - X.mean(axis=0)) for X, structure in studies]
        scaled = [r / max(float(np.sqrt(np.mean(r**2))), 1e-300) for r in radii]
        pooled = np.sort(np.concatenate(scaled))
        return cls(learned.gaussian, Margin(np.linspace(0, 1, len(pooled)), pooled))

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw Gaussian studies, and move every sample to another distance from the mean."""
        tables = []
        for X, structure in zip(self.gaussian.draw(rng), self.gaussian.structures, strict=True):
            q = len(structure.mean)
            X[:, :q] -= structure.mean
            n_features = q + self.gaussian.beyond
            radii = self.radii.quantiles(rng.random(len(X))) * np.sqrt(n_features)
            X *= (radii / np.maximum(structure.radii(X), 1e-300))[:, None]
            X[:, :q] += structure.mean
            tables.append(X)
        return tables


def elliptical(learned: Learned) -> NullModel:
    """Learn elliptical studies: with a falling density from few features, with the data's radii from many."""
    few = learned.n_features <= n_directions(learned.tables)
    return EllipticalModel.of(learned) if few else WideEllipticalModel.of(learned)


# ---------------------------------------------------------------------------------------------------------------------
# unimodal features


@dataclass(frozen=True, eq=False)
class MarginsModel:
    """Gaussian copulas with unimodal margins: every feature keeps its shape as far as one mode allows.

        x_f = F_f⁻¹(Φ(z_f)), with z normal scores of the studies' correlations and F_f the margin of feature f

    Attributes
    ----------
    scores : GaussianModel
        The normal scores of ranks.
    margins : tuple of tuple of Margin
        Of every study, of every feature.
    kept : ndarray of shape (S, n_features)
        The correlation of normal scores that ties leave; common parts are made stronger by as much.
    """

    scores: GaussianModel
    margins: tuple[tuple[Margin, ...], ...] = field(repr=False)
    kept: FloatArray = field(repr=False)

    @classmethod
    def of(cls, tables: Sequence[FloatArray], means: FloatArray, sds: FloatArray) -> MarginsModel:
        """Learn from the values, and from the normal scores of ranks within each study.

        means, sds : (S, n_features), those that the simulated studies have
        """
        by_feature = [
            margins_of_feature([X[:, f] for X in tables], means[:, f], sds[:, f]) for f in range(tables[0].shape[1])
        ]
        margins = tuple(zip(*by_feature, strict=True))
        kept = np.array([[_correlation_kept(margin) for margin in of_study] for of_study in margins])
        return cls(GaussianModel.of([normal_scores(X) for X in tables]), margins, kept)

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw normal scores, and give every feature the quantiles of its margin."""
        tables = []
        for n, structure, margins, kept in zip(
            self.scores.sizes, self.scores.structures, self.margins, self.kept, strict=True
        ):
            extra = np.maximum(structure.variances - structure.noise, 0)
            common = (rng.standard_normal((n, len(extra))) * np.sqrt(extra)) @ structure.axes
            variance = extra @ structure.axes**2
            # Ties weaken correlations of ranks: what features have in common is made stronger by as much.
            share = np.minimum(variance / kept**2, MOST_COMMON)  # of a variance of 1; the rest is not shared
            common *= np.sqrt(share / np.where(variance > 0, variance, 1.0))
            shares = ndtr(common + np.sqrt(1 - share) * rng.standard_normal(common.shape))
            tables.append(_quantiles(margins, shares))
        return tables


def normal_scores(X: FloatArray) -> FloatArray:
    """Return the standardised normal quantiles of the ranks of every column."""
    scores = norm.ppf(rankdata(X, axis=0) / (len(X) + 1))
    sd = scores.std(axis=0, ddof=1)
    return np.asarray((scores - scores.mean(axis=0)) / np.where(sd > 0, sd, 1.0))


def _quantiles(margins: Sequence[Margin], shares: FloatArray) -> FloatArray:
    """Return the quantiles of one margin for every column of shares."""
    return np.column_stack([margin.quantiles(column) for margin, column in zip(margins, shares.T, strict=True)])


def _correlation_kept(margin: Margin) -> float:
    """Return the correlation of a normal score with that of the rank of its quantile: 1 without ties."""
    if not margin.has_ties():
        return 1.0
    grid = (np.arange(1000) + 0.5) / 1000
    scores = normal_scores(margin.quantiles(grid)[:, None])[:, 0]
    return max(LEAST_KEPT, float(np.mean(scores * norm.ppf(grid))))


def unimodal(learned: Learned) -> NullModel:
    """Learn studies with unimodal features; in a few strong directions where features outnumber samples."""
    if learned.n_features > sum(map(len, learned.tables)):
        return _in_strong_directions(learned, _unimodal_along)
    return MarginsModel.of(learned.tables, *shrunk_moments(learned.tables))


def _unimodal_along(
    tables: Sequence[FloatArray], structures: Sequence[Structure], directions: FloatArray
) -> MarginsModel:
    """Learn unimodal margins along directions, with the means and variances that are not due to noise."""
    means = np.array([directions @ structure.mean for structure in structures])
    variances = np.array([np.diag(structure.covariance(directions)) for structure in structures])
    return MarginsModel.of([X @ directions.T for X in tables], means, np.sqrt(variances))


# ---------------------------------------------------------------------------------------------------------------------
# independent components


@dataclass(frozen=True, eq=False)
class ComponentsModel:
    """Independent components with unimodal margins, mixed so that every study has its own covariance.

        x = mean + s M, with independent s_c from `margins` and M of every study

    Attributes
    ----------
    sizes : tuple of int
        The studies' numbers of samples.
    means : tuple of ndarray of shape (n_features,)
        Their means.
    mixing : tuple of ndarray of shape (n_components, n_features)
        M, a rotation times the root of each study's covariance.
    margins : tuple of Margin
        The distributions of the components, with mean 0 and variance 1, the same in all studies.
    """

    sizes: tuple[int, ...]
    means: tuple[FloatArray, ...] = field(repr=False)
    mixing: tuple[FloatArray, ...] = field(repr=False)
    margins: tuple[Margin, ...] = field(repr=False)

    @classmethod
    def of(
        cls, tables: Sequence[FloatArray], structures: Sequence[Structure], directions: FloatArray
    ) -> ComponentsModel:
        """Learn from the studies along some directions: of several rotations, that with the likeliest components."""
        roots, white = whitened(tables, structures, directions)
        pooled = np.concatenate(white)
        rotations = candidate_rotations(pooled)
        fits = [
            tuple(continuous_margin(component, FLATTER_COMPONENTS) for component in (pooled @ rotation).T)
            for rotation in rotations
        ]
        likeliest = int(np.argmin([sum(margin.entropy() for margin in margins) for margins in fits]))
        return cls(
            tuple(map(len, tables)),
            tuple(directions @ structure.mean for structure in structures),
            tuple(rotations[likeliest].T @ root for root in roots),
            fits[likeliest],
        )

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw components, and mix them."""
        return [
            mean + _quantiles(self.margins, rng.random((n, len(self.margins)))) @ mixing
            for n, mean, mixing in zip(self.sizes, self.means, self.mixing, strict=True)
        ]


def components(learned: Learned) -> NullModel:
    """Learn studies of independent components: in all directions, or in the strongest where there are many."""
    if learned.n_features <= n_directions(learned.tables):
        return ComponentsModel.of(learned.tables, learned.structures, np.eye(learned.n_features))
    return _in_strong_directions(learned, ComponentsModel.of)


def whitened(
    tables: Sequence[FloatArray], structures: Sequence[Structure], directions: FloatArray
) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
    """Return the roots of the studies' covariances, (q, q), and the studies divided by them, (n_samples, q)."""
    roots, white = [], []
    for X, structure in zip(tables, structures, strict=True):
        values, vectors = np.linalg.eigh(structure.covariance(directions))
        values = np.sqrt(np.maximum(values, 1e-12 * values.max(initial=1e-300)))
        roots.append((vectors * values) @ vectors.T)
        white.append((X - X.mean(axis=0)) @ directions.T @ (vectors / values) @ vectors.T)
    return tuple(roots), tuple(white)


def candidate_rotations(X: FloatArray) -> list[FloatArray]:
    """Return rotations, (q, q), among which components of white data are looked for.

    The axes themselves; FastICA's for heavy tails and for flat modes; and these refined by the entropy of components.
    """
    q = X.shape[1]
    rotations: list[FloatArray] = [np.eye(q)]
    if q > 1:
        rotations += [_fast_ica(X, contrast) for contrast in ("logcosh", "cube")]
        rotations += [rotation @ least_entropy(X @ rotation) for rotation in rotations]
    return rotations


def _fast_ica(X: FloatArray, contrast: str) -> FloatArray:
    """Return the rotation of nearly white data to components as far from Gaussian as possible; none where it fails."""
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(X))
    white = centred @ (vectors / np.sqrt(np.maximum(values, 1e-12))) @ vectors.T
    q = X.shape[1]
    search = FastICA(whiten=False, fun=contrast, w_init=np.eye(q), max_iter=100, tol=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the state after 100 steps is refined in any case
        try:
            rotation = search.fit(white).components_.T
        except (np.linalg.LinAlgError, ValueError):  # constant studies
            return np.eye(q)
    return np.asarray(rotation) if np.isfinite(rotation).all() else np.eye(q)


def least_entropy(X: FloatArray, *, n_angles: int = 31) -> FloatArray:
    """Return the rotation, pair by pair of axes, that makes the entropies of components least (RADICAL).

    Angles are tried in steps of 3 degrees, as finely as some hundred samples determine them (Learned-Miller and Fisher
    2003, Journal of Machine Learning Research 4, 1271-1295).
    """
    q = X.shape[1]
    rotation, Y = np.eye(q), X.copy()
    angles = np.linspace(-np.pi / 4, np.pi / 4, n_angles)
    cos, sin = np.cos(angles), np.sin(angles)
    for _ in range(2 if q <= 4 else 1):
        for i in range(q):
            for j in range(i + 1, q):
                first, second = Y[:, [i]] * cos + Y[:, [j]] * sin, Y[:, [j]] * cos - Y[:, [i]] * sin
                best = int(np.argmin(_entropies(first) + _entropies(second)))
                Y[:, i], Y[:, j] = first[:, best], second[:, best]
                turn = np.array([[cos[best], -sin[best]], [sin[best], cos[best]]])
                rotation[:, [i, j]] = rotation[:, [i, j]] @ turn
    return rotation


def _entropies(X: FloatArray) -> FloatArray:
    """Estimate the entropy of every column, up to a constant, from spacings (Vasicek 1976).

    mean over i of log(x_(i+m) − x_(i)), m = √n
    """
    m = max(1, int(np.sqrt(len(X))))
    ordered = np.sort(X, axis=0)
    gaps = np.maximum(ordered[m:] - ordered[:-m], 1e-12)
    return np.asarray(np.log(gaps).mean(axis=0))


# ---------------------------------------------------------------------------------------------------------------------
# many features


@dataclass(frozen=True, eq=False)
class InStrongDirections:
    """Gaussian studies that follow another model in a few directions."""

    gaussian: GaussianModel
    directions: FloatArray = field(repr=False)  # (n_directions, n_features), orthonormal
    along: NullModel  # in these directions

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw Gaussian studies, and replace their coordinates in the strong directions."""
        tables, q = self.gaussian.draw(rng), self.directions.shape[1]
        for X, replacement in zip(tables, self.along.draw(rng), strict=True):
            X[:, :q] += (replacement - X[:, :q] @ self.directions.T) @ self.directions
        return tables


def _in_strong_directions(
    learned: Learned,
    learn: Callable[[Sequence[FloatArray], Sequence[Structure], FloatArray], NullModel],
) -> InStrongDirections:
    """Learn a model in the strongest directions of studies, and Gaussians in all others."""
    gaussian = learned.gaussian
    directions = _strongest(gaussian, n_directions(learned.tables))
    return InStrongDirections(gaussian, directions, learn(learned.projected, gaussian.structures, directions))


def _strongest(gaussian: GaussianModel, most: int) -> FloatArray:
    """Return an orthonormal basis of the directions in which studies vary most, (at least 1, n_features)."""
    total, tiny = sum(gaussian.sizes), np.finfo(float).tiny
    weighted = []
    for n, structure in zip(gaussian.sizes, gaussian.structures, strict=True):
        extra = np.maximum(structure.variances - structure.noise, 0) / max(structure.noise, tiny)
        weighted.append(np.sqrt(n / total * extra)[:, None] * structure.axes)
    stacked = np.concatenate(weighted)
    if not len(stacked):
        return np.eye(1, len(gaussian.structures[0].mean))
    _, s, axes = np.linalg.svd(stacked, full_matrices=False)
    return np.asarray(axes[: max(1, min(most, int(np.count_nonzero(s > 1e-6 * s[0]))))])
