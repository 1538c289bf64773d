"""The nearest of some points, by products on the device; where rounding leaves a doubt, the processor decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from clustrep.cached import cached_property
from clustrep.execution.devices import GPU
from clustrep.execution.seeds import breathe
from clustrep.gpu.points import DevicePoints
from clustrep.types import BoolArray, FloatArray, IntArray

Search = Callable[[FloatArray], IntArray]

# Rows that are sent at once; cells of the matrix of products in memory, on the processor and on a GPU.
ROWS, CELLS, GPU_CELLS = 2**17, 2**20, 2**27
# Rows farther from the mean than this times the largest coordinate are left to the processor: halves overflow there.
MOST_UNITS = 500.0
UNIT = 2.0**-53  # of rounding
UNDERFLOW = 2.0**-1000
# Largest coordinates between which no square overflows or is lost.
SMALLEST, LARGEST = 2.0**-450, 2.0**450


class RowSearch:
    """The nearest of some points by Euclidean distance: the same that the processor's search finds.

    Parameters
    ----------
    points : ndarray, (n_points, n_features)
    device : str
        "cuda" or "torch".
    exact : function
        Returns the processor's search. It is asked about the rows that have more than one candidate.

    Notes
    -----
    As in `clustering.neighbours.NearestByProducts`: let u be the unit of rounding, a and b the distances of a row and a
    point from the mean, and ρ = (p + 8) u. What a product returns for |y|² - 2xy differs from the squared distance less
    a² by at most 3ρ (a² + b²) + τ (a + b); τ, what coordinates next to zero lose, is zero here. With 4ρb² + τb
    subtracted, the product is a lower bound up to terms of a, so no point whose bound is larger than the least one by
    16ρ (a² + b²) + 4τ (a + b), b that of the point with the least bound, can be the nearest.
    """

    def __init__(self, points: FloatArray, device: str, exact: Callable[[], Search]):
        self._make_exact = exact
        self.table = DevicePoints.send(points, device, exact=True)

    @classmethod
    def of(cls, points: FloatArray, device: str, exact: Callable[[], Search]) -> RowSearch:
        """Return the fastest search for points: by kernels of our own on a GPU."""
        if device != GPU:
            return cls(points, device, exact)
        from clustrep.gpu.fused_search import FusedSearch

        return FusedSearch(points, device, exact)

    @cached_property
    def exact(self) -> Search:
        """The processor's search."""
        return self._make_exact()

    def __reduce__(self) -> tuple[Any, ...]:
        """Be the processor's search in another process, which may have no device."""
        return _itself, (self.exact,)

    def __call__(self, X: FloatArray) -> IntArray:
        """Return the row of the nearest point for every row of X."""
        nearest, is_clear = np.zeros(len(X), np.int64), np.zeros(len(X), dtype=bool)
        if self.table.is_finite and SMALLEST < self.table.unit < LARGEST:
            for begin in range(0, len(X), ROWS):
                rows = slice(begin, begin + ROWS)
                nearest[rows], is_clear[rows] = self._nearest(X[rows])
                breathe()
        doubtful = np.flatnonzero(~is_clear)
        if len(doubtful):
            nearest[doubtful] = self.exact(X[doubtful])
        return nearest

    def _nearest(self, X: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return the nearest points of some rows, and whether there is no doubt."""
        x = self.table.rows_inside(X)
        squares = (x.double() ** 2).sum(dim=1)
        inside = x.abs().amax(dim=1) < MOST_UNITS  # and a number
        x = torch.where(inside[:, None], x, 0.0)
        nearest, is_clear = self.compare(x, torch.where(inside, squares, 0.0))
        return nearest.cpu().numpy(), (is_clear & inside).cpu().numpy()

    def compare(self, x: Any, squares: Any) -> tuple[Any, Any]:
        """Return the nearest points of rows on the device, and whether there is no doubt."""
        nearest, least, second = self.least_bounds(x)
        return nearest, second > self.limits(nearest, least, squares, UNIT, 0.0)

    def limits(self, nearest: Any, least: Any, squares: Any, unit: float, lost: float) -> Any:
        """Return what a bound must be larger than, for its point not to be the nearest."""
        of_nearest = self.table.squares[nearest]
        limits = least.double() + 16 * self.rounding(unit) * (squares + of_nearest) + UNDERFLOW
        return limits + 4 * lost * (squares.sqrt() + of_nearest.sqrt())

    @cached_property
    def offsets(self) -> Any:
        """The summand beside the products, (n_points,)."""
        return self.raised(UNIT, 0.0)

    def raised(self, unit: float, lost: float) -> Any:
        """Return squared lengths less what products with these errors may be too high, (n_points,)."""
        squares = self.table.squares
        return (1 - 4 * self.rounding(unit)) * squares - lost * squares.sqrt()

    def rounding(self, unit: float) -> float:
        """Return ρ, for products of these points."""
        return (self.table.n_features + 8) * unit

    def least_bounds(self, x: Any) -> tuple[Any, Any, Any]:
        """Return for every row the point with the least bound, this bound, and the least of all other points."""
        nearest = torch.zeros(len(x), dtype=torch.int64, device=x.device)
        least, second = torch.full((2, len(x)), torch.inf, dtype=x.dtype, device=x.device)
        n_rows = min(len(x), 1024)
        step = max(1, (GPU_CELLS if self.table.device == GPU else CELLS) // max(1, n_rows))
        for first in range(0, len(x), n_rows):
            rows = slice(first, first + n_rows)
            for begin in range(0, len(self.table), step):
                points = slice(begin, begin + step)
                bounds = torch.addmm(self.offsets[points], x[rows], self.table.X[points].T, alpha=-2.0)
                low, columns = bounds.topk(min(2, bounds.shape[1]), dim=1, largest=False)
                other = low[:, 1] if low.shape[1] > 1 else torch.full_like(low[:, 0], torch.inf)
                second[rows] = torch.minimum(torch.minimum(second[rows], other), torch.maximum(least[rows], low[:, 0]))
                nearest[rows] = torch.where(low[:, 0] < least[rows], begin + columns[:, 0], nearest[rows])
                least[rows] = torch.minimum(least[rows], low[:, 0])
        return nearest, least, second


def _itself(search: Search) -> Search:
    return search
