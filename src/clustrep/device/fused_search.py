"""The nearest of some points, in kernels for a card: the matrix of all distances is never in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch
import triton
import triton.language as tl

from clustrep.device.fused_steps import FEWEST, MOST_FEATURES, _power_of_two, split_halves
from clustrep.device.row_search import RowSearch

_jit: Callable[[Any], Any] = triton.jit

ROWS, POINTS = 128, 64
# Up to so many features differences are as fast as products, and far more exact where neighbours are near.
FEW_FEATURES = 15
# Of numbers of 32 bits.
UNIT = 2.0**-24


@_jit
def _merge(bounds, begin, least, second, nearest, POINTS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Take another tile of bounds, (n_rows, POINTS), into what is known of the rows."""
    column = tl.argmin(bounds, axis=1)
    low = tl.min(bounds, axis=1)
    rest = tl.where(tl.arange(0, POINTS)[None, :] == column[:, None], float("inf"), bounds)
    second = tl.minimum(tl.minimum(second, tl.min(rest, axis=1)), tl.maximum(least, low))
    nearest = tl.where(low < least, begin + column, nearest)
    return tl.minimum(least, low), second, nearest


@_jit
def _product_kernel(  # type: ignore[no-untyped-def]
    rows_high, rows_low, high, low, offsets, nearest, least, second, n_rows, n_points,
    P: tl.constexpr, ROWS: tl.constexpr, POINTS: tl.constexpr,
):  # fmt: skip
    """Find the least bound of a tile of rows, and the second, by products."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, P)
    inside = rows < n_rows
    at = rows[:, None] * P + columns[None, :]
    x_high = tl.load(rows_high + at, inside[:, None], 0.0)
    x_low = tl.load(rows_low + at, inside[:, None], 0.0)
    lowest = tl.full((ROWS,), float("inf"), tl.float32)
    other = tl.full((ROWS,), float("inf"), tl.float32)
    place = tl.zeros((ROWS,), tl.int32)
    for begin in range(0, n_points, POINTS):
        points = begin + tl.arange(0, POINTS)
        is_point = points < n_points
        of_points = points[:, None].to(tl.int64) * P + columns[None, :]
        y_high = tl.load(high + of_points, is_point[:, None], 0.0)
        y_low = tl.load(low + of_points, is_point[:, None], 0.0)
        products = tl.dot(x_high, tl.trans(y_low))
        products = tl.dot(x_low, tl.trans(y_high), products)
        products = tl.dot(x_high, tl.trans(y_high), products)
        bounds = tl.load(offsets + points, is_point, float("inf"))[None, :] - 2 * products
        lowest, other, place = _merge(bounds, begin, lowest, other, place, POINTS)
    tl.store(nearest + rows, place.to(tl.int64), inside)
    tl.store(least + rows, lowest, inside)
    tl.store(second + rows, other, inside)


@_jit
def _difference_kernel(  # type: ignore[no-untyped-def]
    x, y, nearest, least, second, n_rows, n_points,
    P: tl.constexpr, ROWS: tl.constexpr, POINTS: tl.constexpr,
):  # fmt: skip
    """Find the least squared distance of a tile of rows, and the second; x, (P, n_rows), y, (P, n_points)."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = rows < n_rows
    lowest = tl.full((ROWS,), float("inf"), tl.float32)
    other = tl.full((ROWS,), float("inf"), tl.float32)
    place = tl.zeros((ROWS,), tl.int32)
    for begin in range(0, n_points, POINTS):
        points = begin + tl.arange(0, POINTS)
        is_point = points < n_points
        distances = tl.zeros((ROWS, POINTS), tl.float32)
        for j in tl.static_range(P):
            of_rows = tl.load(x + j * n_rows + rows, inside, 0.0)
            of_points = tl.load(y + j * n_points + points, is_point, 0.0)
            difference = of_rows[:, None] - of_points[None, :]
            distances += difference * difference
        distances = tl.where(is_point[None, :], distances, float("inf"))
        lowest, other, place = _merge(distances, begin, lowest, other, place, POINTS)
    tl.store(nearest + rows, place.to(tl.int64), inside)
    tl.store(least + rows, lowest, inside)
    tl.store(second + rows, other, inside)


class FusedSearch(RowSearch):
    """The search by kernels; of points with very many features in PyTorch.

    Notes
    -----
    Let u be the unit of rounding and a the distance of a row x from the mean. A difference of coordinates is wrong by
    at most u (|x| + |y| + |x - y|), so the square of a distance d by at most 2ud (2a + 2d) + (p + 2) u d². This grows
    with d more slowly than d² does: where the second square exceeds the least by twice its own error, no other point
    can be the nearest.
    """

    def compare(self, x: Any, squares: Any) -> tuple[Any, Any]:
        """Return the nearest points of rows on the card, and whether there is no doubt."""
        if self.table.n_features > FEW_FEATURES:
            return super().compare(x, squares)
        nearest, least, second = self._outputs(len(x))
        by_feature = x.T.contiguous()
        _difference_kernel[(-(-len(x) // ROWS),)](
            by_feature, self._by_feature, nearest, least, second, len(x), len(self.table),
            P=self.table.n_features, ROWS=ROWS, POINTS=POINTS, num_warps=4,
        )  # fmt: skip
        second = second.double()
        distance = second.sqrt()
        error = 2 * distance * UNIT * (4 * squares.sqrt() + (self.table.n_features + 10) * distance)
        return nearest, (second - least > 2 * error) & torch.isfinite(distance) | torch.isinf(distance)

    def least_bounds(self, x: Any) -> tuple[Any, Any, Any]:
        """Return for every row the point with the least bound, this bound, and the least of all other points."""
        if self.table.n_features > MOST_FEATURES:
            return super().least_bounds(x)
        nearest, least, second = self._outputs(len(x))
        width = _power_of_two(self.table.n_features, FEWEST)
        _product_kernel[(-(-len(x) // ROWS),)](
            *split_halves(x, width), *self._halves, self.offsets, nearest, least, second, len(x), len(self.table),
            P=width, ROWS=ROWS, POINTS=POINTS, num_warps=8,
        )  # fmt: skip
        return nearest, least, second

    def _outputs(self, n_rows: int) -> tuple[Any, Any, Any]:
        nearest = torch.empty(n_rows, dtype=torch.int64, device=self.table.X.device)
        least, second = torch.empty((2, n_rows), dtype=torch.float32, device=self.table.X.device)
        return nearest, least, second

    @cached_property
    def _halves(self) -> tuple[Any, Any]:
        return split_halves(self.table.X, _power_of_two(self.table.n_features, FEWEST))

    @cached_property
    def _by_feature(self) -> Any:
        return self.table.X.T.contiguous()
