"""Where X⁽ᵇ⁾ comes from: small frozen objects that draw one replicate of a study."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from clustrep._types import FloatArray, IntArray
from clustrep._validation import check_fraction, check_points
from clustrep.errors import DataError, ParameterError
from clustrep.study import Study


@dataclass(frozen=True, eq=False)
class Draw:
    """One replicate of a study: points, and which of them were drawn, in the order of drawing.

    A point drawn twice has weight two in every table; a point not drawn has weight zero, and its label under a
    clustering function can still be asked for.
    """

    points: FloatArray  # (n_points, n_features)
    order: IntArray  # (n_drawn,): rows of points

    @property
    def sample(self) -> FloatArray:
        """The drawn points, written out: what a clusterer is fitted to, (n_drawn, n_features)."""
        return self.points[self.order]

    @cached_property
    def weights(self) -> IntArray:
        """How often each point was drawn, (n_points,)."""
        return np.bincount(self.order, minlength=len(self.points))

    def n_distinct(self) -> int:
        """Count the different points among those drawn."""
        return len(np.unique(self.points[self.weights > 0], axis=0))


class Resampling(Protocol):
    """What can draw replicates of a study."""

    def draw(self, study: Study, rng: np.random.Generator) -> Draw:
        """Draw one replicate."""
        ...


@dataclass(frozen=True)
class Bootstrap:
    """Draw as many samples as the study has, with replacement (Algorithms 1 to 3)."""

    def draw(self, study: Study, rng: np.random.Generator) -> Draw:
        """Draw one replicate."""
        return Draw(study.X, rng.integers(len(study), size=len(study)))


@dataclass(frozen=True)
class Subsample:
    """Draw a fraction of the study's samples without replacement.

    Parameters
    ----------
    fraction : float
        Above 0 and at most 1; at least two samples are drawn.
    """

    fraction: float = 0.8

    def __post_init__(self) -> None:
        check_fraction(self.fraction, "fraction", one_allowed=True)

    def draw(self, study: Study, rng: np.random.Generator) -> Draw:
        """Draw one replicate."""
        size = max(2, math.floor(self.fraction * len(study) + 1e-9))  # 0.29 · 100 is 28.999…
        return Draw(study.X, rng.permutation(len(study))[:size])


@dataclass(frozen=True)
class Simulate:
    """Draw fresh data from the distribution that a study came from: Monte Carlo instead of bootstrap.

    Parameters
    ----------
    sampler : function of (study, rng)
        Returns a table with the study's features. `study.name` says which study, `len(study)` how large it is.

    Examples
    --------
    >>> import numpy as np
    >>> Simulate(lambda study, rng: rng.normal(size=study.X.shape))  # doctest: +ELLIPSIS
    Simulate(sampler=...)
    """

    sampler: Callable[[Study, np.random.Generator], ArrayLike]

    def __post_init__(self) -> None:
        if not callable(self.sampler):
            raise ParameterError(f"sampler must be a function of (study, rng), got {self.sampler!r}.")

    def draw(self, study: Study, rng: np.random.Generator) -> Draw:
        """Draw one replicate."""
        X = check_points(
            self.sampler(study, rng), f"What the sampler returned for study {study.name!r}", samples_at_least=2
        )
        if X.shape[1] != study.X.shape[1]:
            raise DataError(
                f"sampler must return the {study.X.shape[1]} features of study {study.name!r}, got {X.shape[1]}."
            )
        return Draw(X, np.arange(len(X)))


def whole(study: Study) -> Draw:
    """Take the study as it is."""
    return Draw(study.X, np.arange(len(study)))


def check_resampling(resampling: object) -> Resampling:
    """Check that something can draw replicates."""
    if isinstance(resampling, type) or not hasattr(resampling, "draw"):
        raise ParameterError(
            f"resampling must be Bootstrap(), Subsample(fraction) or Simulate(sampler), got {resampling!r}."
        )
    return resampling
