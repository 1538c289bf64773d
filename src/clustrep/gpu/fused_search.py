"""The nearest of some points, in kernels for a GPU: the matrix of all distances is never in memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from clustrep.cached import cached_property
from clustrep.gpu.fused_steps import FEWEST, MOST_FEATURES, _power_of_two, _products, split_halves
from clustrep.gpu.row_search import RowSearch

_jit: Callable[[Any], Any] = triton.jit

ROWS, POINTS = 64, 64
# Up to this number of features differences are as fast as products, and far more exact where neighbours are near.
FEW_FEATURES = 15
# Units of rounding of numbers of 32 bits and of products of halves, and what a coordinate next to zero loses as halves.
UNIT_32, UNIT_HALVES, LOST = 2.0**-24, 2.0**-23, 2.0**-22


@_jit
def _store_least(least, second, place, nearest_at, least_at, second_at, rows, inside, POINTS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Reduce values by columns, (n_rows, POINTS), to the least of a row, its point, and the second."""
    columns = tl.arange(0, POINTS)[None, :]
    column = tl.argmin(least, axis=1)
    is_least = columns == column[:, None]
    others = tl.minimum(tl.where(is_least, float("inf"), least), second)
    tl.store(nearest_at + rows, tl.sum(tl.where(is_least, place + columns, 0), axis=1).to(tl.int64), inside)
    tl.store(least_at + rows, tl.min(least, axis=1), inside)
    tl.store(second_at + rows, tl.min(others, axis=1), inside)


@_jit
def _product_kernel(  # type: ignore[no-untyped-def]
    rows_high, rows_low, high, low, offsets, nearest_at, least_at, second_at, n_rows, n_points,
    P: tl.constexpr, ROWS: tl.constexpr, POINTS: tl.constexpr,
):  # fmt: skip
    """Find the least bound of a tile of rows, and the second, by products; for every column of a tile by itself."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, P)
    inside = rows < n_rows
    at = rows[:, None] * P + columns[None, :]
    x_high = tl.load(rows_high + at, inside[:, None], 0.0)
    x_low = tl.load(rows_low + at, inside[:, None], 0.0)
    least = tl.full((ROWS, POINTS), float("inf"), tl.float32)
    second = tl.full((ROWS, POINTS), float("inf"), tl.float32)
    place = tl.zeros((ROWS, POINTS), tl.int32)
    for begin in range(0, n_points, POINTS):
        points = begin + tl.arange(0, POINTS)
        is_point = points < n_points
        of_points = points[:, None].to(tl.int64) * P + columns[None, :]
        y_high = tl.load(high + of_points, is_point[:, None], 0.0)
        y_low = tl.load(low + of_points, is_point[:, None], 0.0)
        products = _products(x_high, x_low, y_high, y_low)
        bounds = tl.load(offsets + points, is_point, float("inf"))[None, :] - 2 * products
        second = tl.minimum(second, tl.maximum(least, bounds))
        place = tl.where(bounds < least, begin, place)
        least = tl.minimum(least, bounds)
    _store_least(least, second, place, nearest_at, least_at, second_at, rows, inside, POINTS)


@_jit
def _difference_kernel(  # type: ignore[no-untyped-def]
    x, y, nearest_at, least_at, second_at, n_rows, n_points,
    P: tl.constexpr, ROWS: tl.constexpr, POINTS: tl.constexpr,
):  # fmt: skip
    """Find the least squared distance of a tile of rows, and the second; x, (P, n_rows), y, (P, n_points)."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = rows < n_rows
    least = tl.full((ROWS, POINTS), float("inf"), tl.float32)
    second = tl.full((ROWS, POINTS), float("inf"), tl.float32)
    place = tl.zeros((ROWS, POINTS), tl.int32)
    for begin in range(0, n_points, POINTS):
        points = begin + tl.arange(0, POINTS)
        is_point = points < n_points
        squares = tl.zeros((ROWS, POINTS), tl.float32)
        for j in tl.static_range(P):
            of_rows = tl.load(x + j * n_rows + rows, inside, 0.0)
            of_points = tl.load(y + j * n_points + points, is_point, float("inf"))
            difference = of_rows[:, None] - of_points[None, :]
            squares += difference * difference
        second = tl.minimum(second, tl.maximum(least, squares))
        place = tl.where(squares < least, begin, place)
        least = tl.minimum(least, squares)
    _store_least(least, second, place, nearest_at, least_at, second_at, rows, inside, POINTS)


class FusedSearch(RowSearch):
    """The search by kernels in 32 bits; where that leaves a doubt, and for very many features, in 64 by PyTorch.

    Notes
    -----
    Products are those of two halves of 16 bits: their unit of rounding is 2⁻²³, and coordinates next to zero lose 2⁻²².
    Of few features there are differences. Let u be the unit of rounding and a the distance of a row x from the mean. A
    difference of coordinates is wrong by at most u (|x| + |y| + |x - y|), so the square of a distance d by at most
    2ud (2a + 2d) + (p + 2) u d². This grows with d more slowly than d² does: where the second square exceeds the least
    by twice its own error, no other point can be the nearest.
    """

    def compare(self, x: Any, squares: Any) -> tuple[Any, Any]:
        """Return the nearest points of rows on the GPU, and whether there is no doubt."""
        if self.table.n_features > MOST_FEATURES:
            return super().compare(x, squares)
        by_kernel = self._by_differences if self.table.n_features <= FEW_FEATURES else self._by_products
        nearest, is_clear = by_kernel(x.float(), squares)
        doubtful = torch.nonzero(~is_clear)[:, 0]
        if len(doubtful):
            nearest[doubtful], is_clear[doubtful] = super().compare(x[doubtful], squares[doubtful])
        return nearest, is_clear

    def _by_differences(self, x: Any, squares: Any) -> tuple[Any, Any]:
        nearest, least, second = self._outputs(len(x))
        by_feature = x.T.contiguous()
        _difference_kernel[(-(-len(x) // ROWS),)](
            by_feature, self._by_feature, nearest, least, second, len(x), len(self.table),
            P=self.table.n_features, ROWS=ROWS, POINTS=POINTS, num_warps=4, num_stages=2,
        )  # fmt: skip
        second = second.double()
        distance = second.sqrt()
        error = 2 * distance * UNIT_32 * (4 * squares.sqrt() + (self.table.n_features + 10) * distance)
        return nearest, (second - least > 2 * error) | torch.isinf(distance)

    def _by_products(self, x: Any, squares: Any) -> tuple[Any, Any]:
        nearest, least, second = self._outputs(len(x))
        width = _power_of_two(self.table.n_features, FEWEST)
        _product_kernel[(-(-len(x) // ROWS),)](
            *split_halves(x, width), *self._halves, self._offsets, nearest, least, second, len(x), len(self.table),
            P=width, ROWS=ROWS, POINTS=POINTS, num_warps=4,
        )  # fmt: skip
        return nearest, second > self.limits(nearest, least, squares, UNIT_HALVES, self._lost)

    def _outputs(self, n_rows: int) -> tuple[Any, Any, Any]:
        nearest = torch.empty(n_rows, dtype=torch.int64, device=self.table.X.device)
        least, second = torch.empty((2, n_rows), dtype=torch.float32, device=self.table.X.device)
        return nearest, least, second

    @property
    def _lost(self) -> float:
        return math.sqrt(self.table.n_features) * LOST

    @cached_property
    def _offsets(self) -> Any:
        return self.raised(UNIT_HALVES, self._lost).float()

    @cached_property
    def _halves(self) -> tuple[Any, Any]:
        return split_halves(self.table.X.float(), _power_of_two(self.table.n_features, FEWEST))

    @cached_property
    def _by_feature(self) -> Any:
        return self.table.X.float().T.contiguous()
