"""The null models by name: three that are unimodal, a Gaussian, a copula; permuted labels, and a user's own sampler.

Three are like the studies in every respect that a density with one mode allows:

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
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from scipy.stats import norm, rankdata
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from clustrep.checks import check_choice, check_points
from clustrep.data.study import Study
from clustrep.data.values import completed
from clustrep.errors import DataError
from clustrep.execution.seeds import Failed, attempt
from clustrep.fitting.rotation import Rotation
from clustrep.null.gaussian import GaussianModel, Learned, NullModel, Structure
from clustrep.null.margins import (
    TOPS,
    Margin,
    continuous_margin,
    flattest_unimodal,
    margins_of_feature,
    shrunk_moments,
)
from clustrep.statistics import thin_svd
from clustrep.types import FloatArray

Sampler: TypeAlias = Callable[[Study, np.random.Generator], ArrayLike]

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


def elliptical(learned: Learned) -> NullModel:
    """Learn studies with the same density on ellipses: falling from few features, with the data's radii from many.

        x = mean + r √p u Σ^½, with u uniform on the unit sphere and r of quadratic mean 1, the same in all studies

    Where features are many, the density of elliptical data falls outwards for nearly any distribution of radii.
    """
    tables, structures = learned.tables, learned.structures
    if learned.n_features <= n_directions(tables):
        roots, white = whitened(tables, structures, np.eye(learned.n_features))
        radii = falling_density(np.linalg.norm(np.concatenate(white), axis=1), learned.n_features)
        means = [structure.mean for structure in structures]
        return partial(draw_elliptical, learned.gaussian.sizes, means, roots, radii)
    lengths = [structure.radii(X - X.mean(axis=0)) for X, structure in zip(tables, structures, strict=True)]
    pooled = np.sort(np.concatenate([r / max(float(np.sqrt(np.mean(r**2))), 1e-300) for r in lengths]))
    return partial(draw_wide_elliptical, learned.gaussian, Margin(np.linspace(0, 1, len(pooled)), pooled))


def draw_elliptical(
    sizes: Sequence[int],
    means: Sequence[FloatArray],
    roots: Sequence[FloatArray],
    radii: Margin,
    rng: np.random.Generator,
) -> list[FloatArray]:
    """Draw directions and radii: elliptical studies with few features.

    Parameters
    ----------
    sizes : sequence of int
        The studies' numbers of samples.
    means : sequence of ndarray of shape (p,)
        Their means.
    roots : sequence of ndarray of shape (p, p)
        The square roots Σ^½ of their covariances.
    radii : Margin
        The distribution of Mahalanobis distances, of quadratic mean 1, the same in all studies.
    rng : numpy.random.Generator

    Returns
    -------
    list of ndarray of shape (n_samples, p)
    """
    tables = []
    for n, mean, root in zip(sizes, means, roots, strict=True):
        directions = rng.standard_normal((n, len(root)))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        lengths = radii.quantiles(rng.random(n)) * np.sqrt(len(root))
        tables.append(mean + (lengths[:, None] * directions) @ root)
    return tables


def draw_wide_elliptical(gaussian: GaussianModel, radii: Margin, rng: np.random.Generator) -> list[FloatArray]:
    """Draw Gaussian studies, and move every sample to another distance from the mean, one of the data's."""
    tables = []
    for X, structure in zip(gaussian.draw(rng), gaussian.structures, strict=True):
        q = len(structure.mean)
        X[:, :q] -= structure.mean
        lengths = radii.quantiles(rng.random(len(X))) * np.sqrt(q + gaussian.beyond)
        X *= (lengths / np.maximum(structure.radii(X), 1e-300))[:, None]
        X[:, :q] += structure.mean
        tables.append(X)
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


# ---------------------------------------------------------------------------------------------------------------------
# unimodal features


def unimodal(learned: Learned) -> NullModel:
    """Learn studies with unimodal features; in a few strong directions where features outnumber samples."""
    if learned.n_features > sum(map(len, learned.tables)):
        return _in_strong_directions(learned, _margins_along)
    return margins_model(learned.tables, *shrunk_moments(learned.tables))


def margins_model(tables: Sequence[FloatArray], means: FloatArray, sds: FloatArray) -> NullModel:
    """Learn Gaussian copulas with unimodal margins: every feature keeps its shape as far as one mode allows.

        x_f = F_f⁻¹(Φ(z_f)), with z normal scores of the studies' correlations and F_f the margin of feature f

    means, sds : (S, n_features), those that the simulated studies have
    """
    by_feature = [
        margins_of_feature([X[:, f] for X in tables], means[:, f], sds[:, f]) for f in range(tables[0].shape[1])
    ]
    margins = list(zip(*by_feature, strict=True))
    kept = np.array([[_correlation_kept(margin) for margin in of_study] for of_study in margins])
    return partial(draw_margins, GaussianModel.of([normal_scores(X) for X in tables]), margins, kept)


def draw_margins(
    scores: GaussianModel, margins: Sequence[Sequence[Margin]], kept: FloatArray, rng: np.random.Generator
) -> list[FloatArray]:
    """Draw normal scores, and give every feature the quantiles of its margin.

    Parameters
    ----------
    scores : GaussianModel
        The normal scores of ranks.
    margins : sequence of sequence of Margin
        Of every study, of every feature.
    kept : ndarray of shape (S, n_features)
        The correlation of normal scores that ties leave; common parts are made stronger by as much.
    rng : numpy.random.Generator

    Returns
    -------
    list of ndarray of shape (n_samples, n_features)
    """
    tables = []
    for n, structure, of_study, left in zip(scores.sizes, scores.structures, margins, kept, strict=True):
        extra = structure.extra
        common = (rng.standard_normal((n, len(extra))) * np.sqrt(extra)) @ structure.axes
        variance = extra @ structure.axes**2
        # Ties weaken correlations of ranks: what features have in common is made stronger by as much.
        share = np.minimum(variance / left**2, MOST_COMMON)  # of a variance of 1; the rest is not shared
        common *= np.sqrt(share / np.where(variance > 0, variance, 1.0))
        shares = ndtr(common + np.sqrt(1 - share) * rng.standard_normal(common.shape))
        tables.append(_quantiles(of_study, shares))
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


def _margins_along(tables: Sequence[FloatArray], structures: Sequence[Structure], directions: FloatArray) -> NullModel:
    """Learn unimodal margins along directions, with the means and variances that are not due to noise."""
    means = np.array([directions @ structure.mean for structure in structures])
    variances = np.array([np.diag(structure.covariance(directions)) for structure in structures])
    return margins_model([X @ directions.T for X in tables], means, np.sqrt(variances))


# ---------------------------------------------------------------------------------------------------------------------
# independent components


def components(learned: Learned) -> NullModel:
    """Learn studies of independent components: in all directions, or in the strongest where there are many."""
    if learned.n_features <= n_directions(learned.tables):
        return _components_along(learned.tables, learned.structures, np.eye(learned.n_features))
    return _in_strong_directions(learned, _components_along)


def _components_along(
    tables: Sequence[FloatArray], structures: Sequence[Structure], directions: FloatArray
) -> NullModel:
    """Learn independent components with unimodal margins, mixed so that every study has its own covariance.

        x = mean + s M, with independent s_c of mean 0 and variance 1, the same in all studies, and M of every study

    Of several rotations, that with the likeliest components is taken.
    """
    roots, white = whitened(tables, structures, directions)
    pooled = np.concatenate(white)
    rotations = candidate_rotations(pooled)
    fits = [[continuous_margin(one, FLATTER_COMPONENTS) for one in (pooled @ rotation).T] for rotation in rotations]
    likeliest = int(np.argmin([sum(margin.entropy() for margin in margins) for margins in fits]))
    means = [directions @ structure.mean for structure in structures]
    mixing = [rotations[likeliest].T @ root for root in roots]
    return partial(draw_components, [len(X) for X in tables], means, mixing, fits[likeliest])


def draw_components(
    sizes: Sequence[int],
    means: Sequence[FloatArray],
    mixing: Sequence[FloatArray],
    margins: Sequence[Margin],
    rng: np.random.Generator,
) -> list[FloatArray]:
    """Draw independent components, and mix them.

    Parameters
    ----------
    sizes : sequence of int
        The studies' numbers of samples.
    means : sequence of ndarray of shape (n_features,)
        Their means.
    mixing : sequence of ndarray of shape (n_components, n_features)
        M, a rotation times the root of each study's covariance.
    margins : sequence of Margin
        The distributions of the components, with mean 0 and variance 1, the same in all studies.
    rng : numpy.random.Generator

    Returns
    -------
    list of ndarray of shape (n_samples, n_features)
    """
    return [
        mean + _quantiles(margins, rng.random((n, len(margins)))) @ mixed
        for n, mean, mixed in zip(sizes, means, mixing, strict=True)
    ]


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


def _in_strong_directions(
    learned: Learned, learn: Callable[[Sequence[FloatArray], Sequence[Structure], FloatArray], NullModel]
) -> NullModel:
    """Learn a model in the strongest directions of studies, and Gaussians in all others."""
    gaussian = learned.gaussian
    total, tiny = sum(gaussian.sizes), np.finfo(float).tiny
    weighted = [
        np.sqrt(n / total * (one.extra / max(one.noise, tiny)))[:, None] * one.axes
        for n, one in zip(gaussian.sizes, gaussian.structures, strict=True)
    ]
    directions: FloatArray = np.eye(1, len(gaussian.structures[0].mean))
    if any(map(len, weighted)):
        _, s, axes = thin_svd(np.concatenate(weighted))
        most = min(n_directions(learned.tables), int(np.count_nonzero(s > 1e-6 * s[0])))
        directions = axes[: max(1, most)]
    along = learn(learned.projected, gaussian.structures, directions)
    return partial(draw_in_strong_directions, gaussian, directions, along)


def draw_in_strong_directions(
    gaussian: GaussianModel, directions: FloatArray, along: NullModel, rng: np.random.Generator
) -> list[FloatArray]:
    """Draw Gaussian studies, and replace their coordinates in a few orthonormal directions, (n_directions, p)."""
    tables, q = gaussian.draw(rng), directions.shape[1]
    for X, replacement in zip(tables, along(rng), strict=True):
        X[:, :q] += (replacement - X[:, :q] @ directions.T) @ directions
    return tables


# ---------------------------------------------------------------------------------------------------------------------
# a copula, a user's sampler, permuted labels


def copula(learned: Learned) -> NullModel:
    """Learn Gaussian copulas with every study's own margins: features keep their skewness, tails and modes."""
    tables = learned.tables
    scores = GaussianModel.of([normal_scores(X) for X in tables])  # of ranks within each study
    return partial(draw_copula, scores, [np.sort(X, axis=0) for X in tables])


def draw_copula(
    scores: GaussianModel, ordered_tables: Sequence[FloatArray], rng: np.random.Generator
) -> list[FloatArray]:
    """Draw normal scores, and give every feature the quantiles of its values."""
    tables = []
    for z, structure, ordered in zip(scores.draw(rng), scores.structures, ordered_tables, strict=True):
        sd = np.sqrt(structure.noise + structure.extra @ structure.axes**2)
        shares = ndtr((z - structure.mean) / np.where(sd > 0, sd, 1.0))
        place = shares * (len(ordered) - 1)
        below = np.floor(place).astype(np.int64).clip(0, len(ordered) - 2)
        low, high = (np.take_along_axis(ordered, i, axis=0) for i in (below, below + 1))
        tables.append(low + (place - below) * (high - low))
    return tables


def draw_given(studies: Sequence[Study], sampler: Sampler, rng: np.random.Generator) -> list[FloatArray]:
    """Call a user's sampler, a function of (study, rng), for one study after the other, and check what it returns."""
    tables = []
    for study in studies:
        drawn = attempt(sampler, study, rng)
        if isinstance(drawn, Failed):
            raise DataError(f"null failed for study {study.name!r}: {drawn.cause}. It is called with (study, rng).")
        X = check_points(drawn, f"What null returned for study {study.name!r}", samples_at_least=2)
        if X.shape != study.X.shape:
            raise DataError(f"null must return a table like study {study.name!r}, of {study.X.shape}, got {X.shape}.")
        tables.append(X)
    return tables


def draw_permuted(tables: Sequence[FloatArray], rng: np.random.Generator) -> list[FloatArray]:
    """Draw an order of the samples of every study, while known labels stay where they are."""
    return [rng.permutation(X) for X in tables]


def draw_in_units(learned: NullModel, exponent: int, rng: np.random.Generator) -> list[FloatArray]:
    """Draw studies that were learned in units of a power of two, which changes nothing but magnitudes."""
    return [np.ldexp(X, exponent) for X in learned(rng)]


# How every model is learned.
NULLS: dict[str, Callable[[Learned], NullModel]] = {
    "elliptical": elliptical,
    "margins": unimodal,
    "components": components,
    "gaussian": lambda learned: learned.gaussian.draw,
    "copula": copula,
}
# Models that are learned from the features themselves, also where these outnumber samples.
OF_FEATURES = ("copula",)

UNIMODAL = "unimodal"
# For known labels: they are put on other samples of the same study.
PERMUTED = "permuted"
# In this order: the first explains most unimodal data, and then the others need not be simulated.
UNIMODAL_MODELS = ("elliptical", "margins", "components")
# Squares of values up to 2^200 have squares below 2^800: far from the largest double, 2^1024.
USUAL_EXPONENT = 200


def check_null(null: object) -> None:
    """Check that `null` names a model, the three that are unimodal together, or is a sampler."""
    if not callable(null):
        check_choice(null, "null", (UNIMODAL, *NULLS, PERMUTED), or_else="a function of (study, rng)")


def null_model_of(null: str | Sampler, studies: Sequence[Study], rotation: Rotation | None = None) -> NullModel:
    """Learn a model from these studies, to simulate others like them.

    Parameters
    ----------
    null : str or function of (study, rng)
        A key of `NULLS`, "permuted", or a sampler.
    studies : sequence of Study
        The studies; missing values are filled in by the column's median.
    rotation : Rotation, default=None
        Learn from the studies' coordinates instead, and simulate coordinates: for clusterers that depend on Euclidean
        distances alone.

    Returns
    -------
    callable
        A function of a generator that returns a table for every study.
    """
    if callable(null):
        return partial(draw_given, tuple(studies), null)
    if null == PERMUTED:
        return partial(draw_permuted, [study.X for study in studies])
    if rotation is None:
        learned = Learned(tuple(completed(study.X).astype(float) for study in studies), studies[0].X.shape[1])
    else:
        learned = _learned.setdefault(rotation, Learned(rotation.coordinates, rotation.n_features))
    # A covariance, and more so its square, has less room among the numbers than a distance.
    exponent = int(np.frexp(max(float(np.abs(X).max()) for X in learned.tables))[1])
    if abs(exponent) <= USUAL_EXPONENT:
        return NULLS[null](learned)
    scaled = Learned(tuple(np.ldexp(X, -exponent) for X in learned.tables), learned.n_features)
    return partial(draw_in_units, NULLS[null](scaled), exponent)


# One fit to coordinates serves all models that are tried one after another.
_learned: WeakKeyDictionary[Rotation, Learned] = WeakKeyDictionary()
