"""Landmarks: few points in place of many, so that any clusterer can be fitted to a study of a million samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clustrep.checks import check_integer
from clustrep.clustering.neighbours import nearest_point
from clustrep.remembered import cached_property
from clustrep.resampling import Draw
from clustrep.types import FloatArray, IntArray

# Landmarks are placed by so many samples for each, drawn at random, in so many steps of Lloyd's algorithm.
SAMPLES_PER_LANDMARK, STEPS = 20, 2
# Cells are those of the leading principal axes: in all of many features, distances say little about clusters.
AXES = 10
# Two are the least that have a nearest one.
FEWEST_LANDMARKS = 2


@dataclass(frozen=True)
class Sketch:
    """How studies are replaced by landmarks.

    size : the number of landmarks of a study; smaller studies stay as they are
    number : which of several independent sketches
    choice : how they are chosen, a name in `CHOICES` or `sketch.WARD`; None: as suits the clusterer
    """

    size: int
    number: int = 0
    choice: str | None = None


def check_sketch(sketch: object) -> Sketch | None:
    """Check a number of landmarks; None is no sketch."""
    if sketch is None or isinstance(sketch, Sketch):
        return sketch
    return Sketch(check_integer(sketch, "sketch", at_least=FEWEST_LANDMARKS))


@dataclass(frozen=True, eq=False)
class CellDraw(Draw):
    """A replicate of landmarks: each has as many copies as samples of its cell were drawn."""

    masses: IntArray = None  # type: ignore[assignment]  # (n_landmarks,)

    @cached_property
    def weights(self) -> IntArray:
        """How many samples each landmark stands for, (n_landmarks,)."""
        return self.masses


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The landmarks of a study.

    Either every sample belongs to the cell of its nearest landmark, whose weight is the number of samples drawn from
    its cell; or landmarks are samples, drawn or not drawn in a replicate like all others.
    """

    X: FloatArray  # (n_landmarks, n_features)
    cells: IntArray | None  # (n_samples,): the landmark that stands for each sample
    rows: IntArray | None  # (n_landmarks,): which samples they are

    def draw(self, draw: Draw) -> Draw:
        """Return the landmarks' part in a replicate of the study."""
        if self.cells is not None:
            masses = np.bincount(self.cells, draw.weights, minlength=len(self.X)).astype(np.int64)
            return CellDraw(self.X, np.flatnonzero(masses), masses=masses)
        return Draw(self.X, np.repeat(np.arange(len(self.X)), draw.weights[self.rows]))


def uniform(X: FloatArray, size: int, rng: np.random.Generator) -> Landmarks:
    """Take samples at random: as dense as the study where it is dense, for clusterers without weights."""
    rows = np.sort(rng.permutation(len(X))[:size])
    return Landmarks(X[rows], None, rows)


def cell_means(X: FloatArray, size: int, rng: np.random.Generator) -> Landmarks:
    """Take the means of small cells, each with the weight of its cell: a coreset with the study's own sums.

    Cells are those of Lloyd's algorithm in the leading principal axes, after a few steps from samples taken at random.
    """
    some = np.sort(rng.permutation(len(X))[: SAMPLES_PER_LANDMARK * size])
    axes = leading_axes(X[some], rng)
    sample = axes(X[some])
    points = uniform(sample, size, rng).X
    for _ in range(STEPS):
        points = means_of_cells(sample, nearest_point(points, "euclidean")(sample)).X
    return means_of_cells(X, nearest_point(points, "euclidean")(axes(X)))


# How landmarks are chosen, for clusterers without weights and with them; compared by `make sketch-calibration`.
CHOICES: dict[str, Callable[[FloatArray, int, np.random.Generator], Landmarks]] = {
    "uniform": uniform,
    "cell means": cell_means,
}


def choice_for(*, takes_weights: bool) -> str:
    """Return how landmarks are chosen for a clusterer."""
    return "cell means" if takes_weights else "uniform"


def leading_axes(X: FloatArray, rng: np.random.Generator) -> Callable[[FloatArray], FloatArray]:
    """Return the projection onto the principal axes with most variance; of few features, the identity."""
    if X.shape[1] <= AXES:
        return lambda points: points
    from sklearn.decomposition import PCA

    seed = int(rng.integers(2**31))
    project: Callable[[FloatArray], FloatArray] = PCA(min(AXES, len(X)), random_state=seed).fit(X).transform
    return project


def means_of_cells(X: FloatArray, cells: IntArray) -> Landmarks:
    """Return the means of all cells that are not empty."""
    _, cells = np.unique(cells, return_inverse=True)
    counts = np.bincount(cells)
    means = np.column_stack([np.bincount(cells, column) / counts for column in X.T])
    return Landmarks(means.astype(X.dtype), cells.astype(np.int32), None)
