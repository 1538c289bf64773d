"""The null models by name: three that are unimodal, a Gaussian, a copula; permuted labels, and a user's own sampler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, eq=False)
class CopulaModel:
    """Gaussian copulas with every study's own margins: features keep their skewness, tails and modes."""

    scores: GaussianModel
    ordered: tuple[FloatArray, ...] = field(repr=False)  # every study's features, each in the order of its values

    @classmethod
    def of(cls, learned: Learned) -> CopulaModel:
        """Learn from the normal scores of ranks within each study."""
        tables = learned.tables
        return cls(GaussianModel.of([normal_scores(X) for X in tables]), tuple(np.sort(X, axis=0) for X in tables))

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw normal scores, and give every feature the quantiles of its own values."""
        tables = []
        for z, structure, ordered in zip(self.scores.draw(rng), self.scores.structures, self.ordered, strict=True):
            extra = np.maximum(structure.variances - structure.noise, 0)
            sd = np.sqrt(structure.noise + extra @ structure.axes**2)
            tables.append(_quantiles(ordered, ndtr((z - structure.mean) / np.where(sd > 0, sd, 1.0))))
        return tables


def _quantiles(ordered: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the quantiles of every column, with as many shares for it."""
    n = len(ordered)
    place = shares * (n - 1)
    below = np.floor(place).astype(np.int64).clip(0, n - 2)
    low, high = (np.take_along_axis(ordered, i, axis=0) for i in (below, below + 1))
    return np.asarray(low + (place - below) * (high - low))


@dataclass(frozen=True, eq=False)
class GivenModel:
    """A user's sampler, called for one study after the other: a function of (study, rng) that returns a table."""

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


# How every model is learned.
NULLS: dict[str, Callable[[Learned], NullModel]] = {
    "elliptical": elliptical,
    "margins": unimodal,
    "components": components,
    "gaussian": lambda learned: learned.gaussian,
    "copula": CopulaModel.of,
}
# Models that are learned from the features themselves, also where these outnumber samples.
OF_FEATURES = ("copula",)


@dataclass(frozen=True, eq=False)
class PermutedModel:
    """The studies' own samples in another order, while known labels stay where they are."""

    tables: tuple[FloatArray, ...]

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw an order for every study."""
        return [rng.permutation(X) for X in self.tables]


UNIMODAL = "unimodal"
# For known labels: they are put on other samples of the same study.
PERMUTED = "permuted"
# In this order: the first explains most unimodal data, and then the others need not be simulated.
UNIMODAL_MODELS = ("elliptical", "margins", "components")


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
    NullModel
        An object with `draw(rng)`, which returns a table for every study.
    """
    if callable(null):
        return GivenModel(tuple(studies), null)
    if null == PERMUTED:
        return PermutedModel(tuple(study.X for study in studies))
    if rotation is None:
        learned = Learned.of(completed(study.X).astype(float) for study in studies)
    else:
        learned = _learned.setdefault(rotation, Learned(rotation.coordinates, rotation.n_features))
    exponent = unit_exponent(learned.tables)
    if not exponent:
        return NULLS[null](learned)
    scaled = Learned(tuple(np.ldexp(X, -exponent) for X in learned.tables), learned.n_features)
    return InUnits(NULLS[null](scaled), exponent)


# What is learned from coordinates serves all models that are tried one after another.
_learned: WeakKeyDictionary[Rotation, Learned] = WeakKeyDictionary()


# ---------------------------------------------------------------------------------------------------------------------
# magnitudes: a covariance, and more so its square, has less room among the numbers than a distance

# Squares of values up to 2^200 have squares below 2^800: far from the largest double, 2^1024.
USUAL_EXPONENT = 200


@dataclass(frozen=True, eq=False)
class InUnits:
    """Studies that were learned in units of a power of two, which changes nothing but magnitudes."""

    learned: NullModel
    exponent: int

    def draw(self, rng: np.random.Generator) -> list[FloatArray]:
        """Draw studies, and return them in the units of the data."""
        return [np.ldexp(X, self.exponent) for X in self.learned.draw(rng)]


def unit_exponent(tables: Sequence[FloatArray]) -> int:
    """Return the exponent of the largest value's power of two; 0 where it is nothing unusual."""
    exponent = int(np.frexp(max(float(np.abs(X).max()) for X in tables))[1])
    return exponent if abs(exponent) > USUAL_EXPONENT else 0
