"""The models of studies without clusters: three that are unimodal, a Gaussian, a copula, and a user's own sampler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from clustrep.checks import check_choice, check_points
from clustrep.data.study import Study
from clustrep.data.values import completed
from clustrep.errors import DataError
from clustrep.execution.seeds import Failed, attempt
from clustrep.fitting.rotation import Rotation
from clustrep.null.gaussian import GaussianModel, NullModel
from clustrep.null.unimodal import (
    components,
    components_in_coordinates,
    elliptical,
    elliptical_in_coordinates,
    normal_scores,
    unimodal,
    unimodal_in_coordinates,
)
from clustrep.types import FloatArray

Sampler: TypeAlias = Callable[[Study, np.random.Generator], ArrayLike]


@dataclass(frozen=True, eq=False)
class CopulaModel:
    """Gaussian copulas with every study's own margins: features as skewed and as heavy-tailed as they are."""

    scores: GaussianModel
    ordered: tuple[FloatArray, ...] = field(repr=False)  # every study's features, each in the order of its values

    @classmethod
    def of(cls, tables: Sequence[FloatArray]) -> CopulaModel:
        """Learn from the normal scores of ranks within each study."""
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
    """A user's sampler, called for one study after the other."""

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


@dataclass(frozen=True)
class Learner:
    """How a model is learned from studies."""

    learn: Callable[[Sequence[FloatArray]], NullModel]  # from tables
    learn_in_coordinates: Callable[[Rotation], NullModel] | None = None  # where features outnumber samples by far


NULLS: dict[str, Learner] = {
    "elliptical": Learner(elliptical, elliptical_in_coordinates),
    "margins": Learner(unimodal, unimodal_in_coordinates),
    "components": Learner(components, components_in_coordinates),
    "gaussian": Learner(GaussianModel.of, GaussianModel.in_coordinates),
    "copula": Learner(CopulaModel.of),
}


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


def null_model_of(null: str | Sampler, studies: Sequence[Study]) -> NullModel:
    """Learn a model from these studies, to draw simulated ones."""
    if callable(null):
        return GivenModel(tuple(studies), null)
    if null == PERMUTED:
        return PermutedModel(tuple(study.X for study in studies))
    tables = [completed(study.X).astype(float) for study in studies]
    exponent = unit_exponent(tables)
    return _in_units(NULLS[null].learn([np.ldexp(X, -exponent) for X in tables]), exponent)


def null_model_in_coordinates(model: Learner, rotation: Rotation) -> NullModel:
    """Learn a model from studies in their coordinates."""
    assert model.learn_in_coordinates is not None
    exponent = unit_exponent(rotation.coordinates)
    if not exponent:
        return model.learn_in_coordinates(rotation)
    coordinates = tuple(np.ldexp(X, -exponent) for X in rotation.coordinates)
    return _in_units(model.learn_in_coordinates(replace(rotation, coordinates=coordinates)), exponent)


# ---------------------------------------------------------------------------------------------------------------------
# magnitudes: a covariance, and more so its square, has less room among the numbers than a distance

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


def _in_units(learned: NullModel, exponent: int) -> NullModel:
    return InUnits(learned, exponent) if exponent else learned
