"""What k-means does with all points at once, in kernels for a card: the matrix of all distances is never in memory.

A program takes a tile of points, multiplies it with the centres of one or several fits, finds the nearest centres and
adds the points to their clusters, all in registers. Numbers of 32 bits are multiplied as two halves of 16: a number in
units of the largest is the sum of a half and a half of the rest, to 22 bits. Sums are those of fixed pieces of the
points, added in a fixed order: the same bits every time, whatever else is in the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch
import triton
import triton.language as tl

from clustrep.device.plain_steps import BLOCK, NEAR, PlainSteps

_jit: Callable[[Any], Any] = triton.jit

# Points in a tile, and in the piece that one program sums; rows of centres that are multiplied with a tile.
TILE, PIECE, ROWS = 64, 4096, 64
TABLE_TILE, TABLE_PIECE = 128, 16384
# The largest tables of centres that stay in registers, and the largest centre of another study's whose half is finite.
MOST_FEATURES, MOST_CLUSTERS, MOST_UNITS = 127, 128, 500.0
FEWEST = 16
NEAR_32 = tl.constexpr(NEAR[torch.float32])


@_jit
def _products(centres_high, centres_low, high, low):  # type: ignore[no-untyped-def]
    """Centres times points, (n_rows, n_points), from their halves; what two low halves give is rounding."""
    products = tl.dot(centres_high, tl.trans(low))
    products = tl.dot(centres_low, tl.trans(high), products)
    return tl.dot(centres_high, tl.trans(high), products)


@_jit
def _sum_kernel(  # type: ignore[no-untyped-def]
    high, low, weights, sample, centres_high, centres_low, lengths, sums, n, n_rows,
    P: tl.constexpr, K: tl.constexpr, R: tl.constexpr, TILE: tl.constexpr, PIECE: tl.constexpr,
):  # fmt: skip
    """Sum the points of every cluster of R fits over one piece; (n_pieces, n_rows, P)."""
    group, piece = tl.program_id(0).to(tl.int64), tl.program_id(1)
    rows, columns = group * R * K + tl.arange(0, R * K), tl.arange(0, P)
    place = rows[:, None] * P + columns[None, :]
    c_high, c_low = tl.load(centres_high + place), tl.load(centres_low + place)
    c_lengths = tl.load(lengths + rows)
    own = tl.load(sample + group * R + tl.arange(0, R)) * n
    total = tl.zeros((R * K, P), tl.float32)
    for begin in range(piece * PIECE, tl.minimum(n, (piece + 1) * PIECE), TILE):
        points = begin + tl.arange(0, TILE)
        inside = points < n
        at = points[:, None].to(tl.int64) * P + columns[None, :]
        x_high, x_low = tl.load(high + at, inside[:, None], 0.0), tl.load(low + at, inside[:, None], 0.0)
        distances = c_lengths[:, None] - 2 * _products(c_high, c_low, x_high, x_low)
        nearest = tl.argmin(tl.reshape(distances, (R, K, TILE)), axis=1)
        w = tl.load(weights + own[:, None] + points[None, :], inside[None, :], 0).to(tl.float16)
        is_own = nearest[:, None, :] == tl.arange(0, K)[None, :, None]
        member = tl.reshape(tl.where(is_own, w[:, None, :], 0.0), (R * K, TILE)).to(tl.float16)
        total = tl.dot(member, x_low, total)
        total = tl.dot(member, x_high, total)
    tl.store(sums + piece.to(tl.int64) * n_rows * P + place, total)


@_jit
def _label_kernel(  # type: ignore[no-untyped-def]
    high, low, own_lengths, weights, sample, centres_high, centres_low, lengths, labels, inertia, n, n_fits, n_all,
    P: tl.constexpr, K: tl.constexpr, R: tl.constexpr, TILE: tl.constexpr, PIECE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """Write the nearest centre of every point, (n_fits, n); or sum the distances to it, (n_pieces, n_all)."""
    group, piece = tl.program_id(0).to(tl.int64), tl.program_id(1)
    rows, columns = group * R * K + tl.arange(0, R * K), tl.arange(0, P)
    fits = group * R + tl.arange(0, R)
    place = rows[:, None] * P + columns[None, :]
    c_high, c_low = tl.load(centres_high + place), tl.load(centres_low + place)
    c_lengths = tl.load(lengths + rows)
    total = tl.zeros((R,), tl.float32)
    for begin in range(piece * PIECE, tl.minimum(n, (piece + 1) * PIECE), TILE):
        points = begin + tl.arange(0, TILE)
        inside = points < n
        at = points[:, None].to(tl.int64) * P + columns[None, :]
        x_high, x_low = tl.load(high + at, inside[:, None], 0.0), tl.load(low + at, inside[:, None], 0.0)
        distances = c_lengths[:, None] - 2 * _products(c_high, c_low, x_high, x_low)
        by_fit = tl.reshape(distances, (R, K, TILE))
        if SUM:
            own = tl.load(sample + fits) * n
            w = tl.load(weights + own[:, None] + points[None, :], inside[None, :], 0).to(tl.float32)
            nearest = tl.min(by_fit, axis=1) + tl.load(own_lengths + points, inside, 0.0)[None, :]
            total += tl.sum(tl.where(w > 0, w * tl.maximum(nearest, 0.0), 0.0), axis=1)
        else:
            label = tl.argmin(by_fit, axis=1).to(tl.uint8)
            tl.store(labels + fits[:, None] * n + points[None, :], label, inside[None, :] & (fits < n_fits)[:, None])
    if SUM:
        tl.store(inertia + piece.to(tl.int64) * n_all + fits, total)


@_jit
def _potential_kernel(  # type: ignore[no-untyped-def]
    high, low, own_lengths, weights, sample, centres_high, centres_low, lengths, closest, potentials, n, n_fits, n_rows,
    P: tl.constexpr, T: tl.constexpr, R: tl.constexpr, TILE: tl.constexpr, PIECE: tl.constexpr,
):  # fmt: skip
    """Sum the distances to the nearest centre, were one of T candidates of R fits another; (n_pieces, n_rows)."""
    group, piece = tl.program_id(0).to(tl.int64), tl.program_id(1)
    rows, columns = group * R * T + tl.arange(0, R * T), tl.arange(0, P)
    fits = group * R + tl.arange(0, R)
    place = rows[:, None] * P + columns[None, :]
    c_high, c_low = tl.load(centres_high + place), tl.load(centres_low + place)
    c_lengths = tl.load(lengths + rows)
    own = tl.load(sample + fits) * n
    total = tl.zeros((R, T), tl.float32)
    for begin in range(piece * PIECE, tl.minimum(n, (piece + 1) * PIECE), TILE):
        points = begin + tl.arange(0, TILE)
        inside = points < n
        at = points[:, None].to(tl.int64) * P + columns[None, :]
        x_high, x_low = tl.load(high + at, inside[:, None], 0.0), tl.load(low + at, inside[:, None], 0.0)
        both = c_lengths[:, None] + tl.load(own_lengths + points, inside, 0.0)[None, :]
        distances = both - 2 * _products(c_high, c_low, x_high, x_low)
        distances = tl.where(distances < NEAR_32 * both, 0.0, distances)
        here = inside[None, :] & (fits < n_fits)[:, None]
        near = tl.load(closest + fits[:, None] * n + points[None, :], here, 0.0)
        w = tl.load(weights + own[:, None] + points[None, :], inside[None, :], 0).to(tl.float32)
        nearest = tl.minimum(tl.reshape(distances, (R, T, TILE)), near[:, None, :])
        total += tl.sum(nearest * w[:, None, :], axis=2)
    place_of = fits[:, None] * T + tl.arange(0, T)[None, :]
    tl.store(potentials + piece.to(tl.int64) * n_rows + place_of, total)


@_jit
def _near_kernel(  # type: ignore[no-untyped-def]
    high, low, own_lengths, weights, sample, centres_high, centres_low, lengths, closest, masses, n, n_fits, n_blocks,
    P: tl.constexpr, R: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Take a further centre for R fits: change `closest` in one block of points, and sum weight × closest there."""
    group, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    fits, columns = group * R + tl.arange(0, R), tl.arange(0, P)
    place = fits[:, None] * P + columns[None, :]
    c_high, c_low = tl.load(centres_high + place), tl.load(centres_low + place)
    points = block * BLOCK + tl.arange(0, BLOCK)
    inside = points < n
    at = points[:, None].to(tl.int64) * P + columns[None, :]
    x_high, x_low = tl.load(high + at, inside[:, None], 0.0), tl.load(low + at, inside[:, None], 0.0)
    both = tl.load(lengths + fits)[:, None] + tl.load(own_lengths + points, inside, 0.0)[None, :]
    distances = both - 2 * _products(c_high, c_low, x_high, x_low)
    distances = tl.where(distances < NEAR_32 * both, 0.0, distances)
    here = inside[None, :] & (fits < n_fits)[:, None]
    at_closest = closest + fits[:, None] * n + points[None, :]
    near = tl.minimum(tl.load(at_closest, here, 0.0), distances)
    tl.store(at_closest, near, here)
    own = tl.load(sample + fits) * n
    w = tl.load(weights + own[:, None] + points[None, :], here, 0).to(tl.float32)
    tl.store(masses + fits * n_blocks + block, tl.sum(near * w, axis=1), fits < n_fits)


@_jit
def _table_kernel(  # type: ignore[no-untyped-def]
    u, v, weights, row, tables, n, n_tables,
    K: tl.constexpr, TILE: tl.constexpr, PIECE: tl.constexpr,
):  # fmt: skip
    """Count one table over one piece of the points; (n_pieces, n_tables, K, K)."""
    table, piece = tl.program_id(0).to(tl.int64), tl.program_id(1)
    other = tl.load(row + table)
    codes = tl.arange(0, K)
    total = tl.zeros((K, K), tl.float32)
    for begin in range(piece * PIECE, tl.minimum(n, (piece + 1) * PIECE), TILE):
        points = begin + tl.arange(0, TILE)
        inside = points < n
        first = tl.load(u + table * n + points, inside, 0)
        second = tl.load(v + other * n + points, inside, 0)
        w = tl.load(weights + other * n + points, inside, 0).to(tl.float16)
        weighted = tl.where(codes[:, None] == first[None, :], w[None, :], 0.0).to(tl.float16)
        is_second = (second[:, None] == codes[None, :]).to(tl.float16)
        total = tl.dot(weighted, is_second, total)
    place = codes[:, None] * K + codes[None, :]
    tl.store(tables + (piece.to(tl.int64) * n_tables + table) * K * K + place, total)


def _pieces(n: int, size: int) -> int:
    return -(-n // size)


def _power_of_two(number: int, at_least: int) -> int:
    return max(at_least, 1 << (number - 1).bit_length())


class FusedSteps(PlainSteps):
    """Steps by kernels, for points with few enough features and fits with few enough clusters; others in PyTorch."""

    @cached_property
    def _width(self) -> int:
        """Features, filled up; after the last is a column of ones, which counts the points of a cluster."""
        return _power_of_two(self.points.n_features + 1, FEWEST)

    @cached_property
    def _halves(self) -> tuple[Any, Any]:
        high, low = self._split(self.points.X)
        high[:, self.points.n_features] = 1.0
        return high, low

    def _split(self, numbers: Any) -> tuple[Any, Any]:
        """Return rows as two halves, filled up with zeros."""
        p = self.points.n_features
        high = torch.zeros((len(numbers), self._width), dtype=torch.float16, device=numbers.device)
        low = torch.zeros_like(high)
        high[:, :p] = numbers
        low[:, :p] = numbers - high[:, :p].float()
        return high, low

    def _can(self, n_rows: int, weights: Any = None) -> bool:
        in_bytes = weights is None or weights.dtype == torch.uint8
        return in_bytes and self.points.n_features <= MOST_FEATURES and n_rows <= MOST_CLUSTERS

    def _rows(self, centres: Any, lengths: Any, at_least: int) -> tuple[int, int, tuple[Any, Any, Any]]:
        """Fill fits up to whole groups: return rows of a fit, fits of a group, and both halves and the lengths."""
        n_fits, k, p = centres.shape
        per_fit = _power_of_two(k, at_least)
        per_group = max(1, ROWS // per_fit)
        n_all = -(-n_fits // per_group) * per_group
        padded = torch.zeros((n_all, per_fit, p), dtype=torch.float32, device=centres.device)
        padded[:n_fits, :k] = centres
        filled = torch.full((n_all, per_fit), torch.inf, dtype=torch.float32, device=centres.device)
        filled[:n_fits, :k] = lengths
        return per_fit, per_group, (*self._split(padded.reshape(n_all * per_fit, p)), filled)

    @staticmethod
    def _filled(sample: Any, n_all: int) -> Any:
        return torch.nn.functional.pad(sample, (0, n_all - len(sample)))

    def sums(self, centres: Any, lengths: Any, weights: Any, sample: Any) -> tuple[Any, Any]:
        """Sum the weighted points and the weights of every cluster."""
        n_fits, k, p = centres.shape
        if not self._can(k, weights):
            return super().sums(centres, lengths, weights, sample)
        per_fit, per_group, rows = self._rows(centres, lengths, FEWEST)
        n_all, n, width = len(rows[2]), len(self.points), self._width
        n_pieces = _pieces(n, PIECE)
        sums = torch.empty((n_pieces, n_all * per_fit, width), dtype=torch.float32, device=centres.device)
        _sum_kernel[(n_all // per_group, n_pieces)](
            *self._halves, weights, self._filled(sample, n_all), *rows, sums, n, n_all * per_fit,
            P=width, K=per_fit, R=per_group, TILE=TILE, PIECE=PIECE, num_warps=4,
        )  # fmt: skip
        total = sums.sum(dim=0, dtype=torch.float64).reshape(n_all, per_fit, width)[:n_fits, :k]
        return total[..., :p], total[..., p]

    def _ask(self, centres: Any, lengths: Any, weights: Any, sample: Any, *, in_sum: bool) -> Any:
        n_fits = len(centres)
        per_fit, per_group, rows = self._rows(centres, lengths, FEWEST)
        n_all, n, n_pieces = len(rows[2]), len(self.points), _pieces(len(self.points), PIECE)
        labels = torch.empty((0 if in_sum else n_fits, n), dtype=torch.uint8, device=centres.device)
        inertia = torch.empty((n_pieces if in_sum else 0, n_all), dtype=torch.float32, device=centres.device)
        _label_kernel[(n_all // per_group, n_pieces)](
            *self._halves, self.points.lengths, weights, self._filled(sample, n_all), *rows, labels, inertia,
            n, n_fits, n_all,
            P=self._width, K=per_fit, R=per_group, TILE=TILE, PIECE=PIECE, SUM=in_sum, num_warps=4,
        )  # fmt: skip
        return inertia.sum(dim=0, dtype=torch.float64)[:n_fits] if in_sum else labels

    def inertia(self, centres: Any, lengths: Any, weights: Any, sample: Any) -> Any:
        """Sum the weighted squared distances to the nearest centre."""
        if not self._can(centres.shape[1], weights):
            return super().inertia(centres, lengths, weights, sample)
        return self._ask(centres, lengths, weights, sample, in_sum=True)

    def labels(self, centres: Any, lengths: Any) -> Any:
        """Find the nearest centre of every point; those of other studies may be too far away for halves."""
        if not self._can(centres.shape[1]) or not float(centres.abs().max()) < MOST_UNITS:
            return super().labels(centres, lengths)
        nobody = torch.zeros(1, dtype=torch.int64, device=centres.device)
        return self._ask(centres, lengths, nobody.to(torch.uint8), nobody[:0], in_sum=False)

    def _candidates(self, rows: Any, at_least: int) -> tuple[int, int, tuple[Any, Any, Any]]:
        lengths = self.points.lengths[rows]
        return self._rows(self.points.X[rows], lengths, at_least)

    def potentials(self, candidates: Any, closest: Any, weights: Any, sample: Any) -> Any:
        """Sum the weighted squared distances to the nearest centre, were a candidate one."""
        if not self._can(candidates.shape[1], weights):
            return super().potentials(candidates, closest, weights, sample)
        n_fits, n_trials = candidates.shape
        per_fit, per_group, rows = self._candidates(candidates, 1)
        rows[2].masked_fill_(torch.isinf(rows[2]), 0.0)
        n_all, n, n_pieces = len(rows[2]), len(self.points), _pieces(len(self.points), PIECE)
        partial = torch.empty((n_pieces, n_all * per_fit), dtype=torch.float32, device=closest.device)
        _potential_kernel[(n_all // per_group, n_pieces)](
            *self._halves, self.points.lengths, weights, self._filled(sample, n_all), *rows, closest, partial,
            n, n_fits, n_all * per_fit,
            P=self._width, T=per_fit, R=per_group, TILE=TILE, PIECE=PIECE, num_warps=4,
        )  # fmt: skip
        return partial.sum(dim=0, dtype=torch.float64).reshape(n_all, per_fit)[:n_fits, :n_trials]

    def draw_near(self, picks: Any, closest: Any, weights: Any, sample: Any) -> Any:
        """Take the picked points as further centres."""
        if not self._can(1, weights):
            return super().draw_near(picks, closest, weights, sample)
        n_fits, n = len(picks), len(self.points)
        _, per_group, rows = self._candidates(picks[:, None], 1)
        rows[2].masked_fill_(torch.isinf(rows[2]), 0.0)
        masses = torch.empty((n_fits, self.n_blocks), dtype=torch.float32, device=closest.device)
        _near_kernel[(len(rows[2]) // per_group, self.n_blocks)](
            *self._halves, self.points.lengths, weights, self._filled(sample, len(rows[2])), *rows, closest, masses,
            n, n_fits, self.n_blocks, P=self._width, R=per_group, BLOCK=BLOCK, num_warps=8,
        )  # fmt: skip
        return masses.double()


def count_tables_fused(u: Any, v: Any, weights: Any, row: Any, n_labels: int) -> Any:
    """Count pairs of labelings as tables; arguments as in `plain_steps.count_tables`."""
    if n_labels > MOST_CLUSTERS or weights.dtype != torch.uint8 or u.dtype != torch.uint8:
        from clustrep.device.plain_steps import count_tables

        return count_tables(u, v, weights, row, n_labels)
    n_tables, n = u.shape
    size, n_pieces = _power_of_two(n_labels, FEWEST), _pieces(n, TABLE_PIECE)
    tables = torch.empty((n_pieces, n_tables, size, size), dtype=torch.float32, device=u.device)
    _table_kernel[(n_tables, n_pieces)](
        u, v, weights, row, tables, n, n_tables, K=size, TILE=TABLE_TILE, PIECE=TABLE_PIECE, num_warps=4
    )
    return tables.sum(dim=0, dtype=torch.float64)[:, :n_labels, :n_labels].contiguous()
