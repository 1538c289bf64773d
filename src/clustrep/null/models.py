"""The null models by name: three that are unimodal, a Gaussian, a copula; permuted labels, and a user's own sampler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from clustrep.checks import check_choice, check_points
from clustrep.data.study import Study
from clustrep.data.values import completed
from clustrep.errors import DataError
from clustrep.execution.seeds import Failed, attempt
from clustrep.fitting.rotation import Rotation
from clustrep.null.gaussian import GaussianModel, Learned, NullModel
from clustrep.null.unimodal import components, elliptical, normal_scores, unimodal
from clustrep.types import FloatArray

Sampler: TypeAlias = Callable[[Study, np.random.Generator], ArrayLike]


def copula(learned: Learned) -> NullModel:
    """Learn Gaussian copulas with every study's own margins: features keep their skewness, tails and modes."""
    tables = learned.tables
    scores = GaussianModel.of([normal_scores(X) for X in tables])  # of ranks within each study
    return partial(draw_copula, scores, [np.sort(X, axis=0) for X in tables])


def draw_copula(
    scores: GaussianModel, ordered_tables: Sequence[FloatArray], rng: np.random.Generator
) -> list[FloatArray]:
    """Draw normal scores, and give every feature the quantiles of its own values."""
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


# What is learned from coordinates serves all models that are tried one after another.
_learned: WeakKeyDictionary[Rotation, Learned] = WeakKeyDictionary()
