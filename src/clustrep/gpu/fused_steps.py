"""What k-means does with all points at once, in kernels for a GPU: the matrix of all distances is never in memory.

A program takes a tile of points, multiplies it with the centres of one or several fits, finds the nearest centres and
adds the points to their clusters, all in registers. Numbers of 32 bits are multiplied as two halves of 16: a number in
units of the largest is the sum of a half and a half of the rest, to 22 bits. Sums are those of fixed pieces of the
points, added in a fixed order: the same bits every time, whatever else is in the batch.

The fits of a program see the same table of points. Where there are several tables, those of each are filled up to whole
programs: `order` says which fit, if any, stands in a place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from clustrep.cached import cached_property
from clustrep.execution.seeds import breathe
from clustrep.gpu.places_of_fits import Layout
from clustrep.gpu.plain_steps import BLOCK, NEAR, PlainSteps, refill

_jit: Callable[[Any], Any] = triton.jit

# Points in a tile, and in the piece that one program sums; rows of centres that are multiplied with a tile.
TILE, PIECE, ROWS = 64, 4096, 64
TABLE_TILE, TABLE_PIECE = 128, 16384
# The largest tables of centres that stay in registers, and the largest centre of another study's whose half is finite.
MOST_FEATURES, MOST_CLUSTERS, MOST_UNITS = 127, 128, 500.0
FEWEST = 16
# Iterations before it is asked which starts have stopped; programs that fill a GPU, so that fewer take as long.
UNASKED, FULL = 4, 512
NEAR_32 = tl.constexpr(NEAR[torch.float32])


@_jit
def _products(rows_high, rows_low, high, low):  # type: ignore[no-untyped-def]
    """Rows times other rows, (n_rows, n_others), from their halves; what two low halves give is rounding."""
    products = tl.dot(rows_high, tl.trans(low))
    products = tl.dot(rows_low, tl.trans(high), products)
    return tl.dot(rows_high, tl.trans(high), products)


@_jit
def _sum_kernel(  # type: ignore[no-untyped-def]
    high, low, weights, sample, done, centres_high, centres_low, lengths, sums, n, n_rows,
    P: tl.constexpr, K: tl.constexpr, R: tl.constexpr, TILE: tl.constexpr, PIECE: tl.constexpr, SEVERAL: tl.constexpr,
):  # fmt: skip
    """Sum the points of every cluster of R fits over one piece; (n_pieces, n_rows, P)."""
    group, piece = tl.program_id(0).to(tl.int64), tl.program_id(1)
    rows, columns = group * R * K + tl.arange(0, R * K), tl.arange(0, P)
    place = rows[:, None] * P + columns[None, :]
    c_high, c_low = tl.load(centres_high + place), tl.load(centres_low + place)
    c_lengths = tl.load(lengths + rows)
    rows_of_weights = tl.load(sample + group * R + tl.arange(0, R)) * n
    if SEVERAL:
        high += tl.load(sample + group * R) * n * P
        low += tl.load(sample + group * R) * n * P
    total = tl.zeros((R * K, P), tl.float32)
    n_done = tl.sum(tl.load(done + group * R + tl.arange(0, R)).to(tl.int32), axis=0)
    end = tl.where(n_done == R, 0, tl.minimum(n, (piece + 1) * PIECE))  # nothing where all fits have stopped
    for begin in range(piece * PIECE, end, TILE):
        points = begin + tl.arange(0, TILE)
        inside = points < n
        at = points[:, None].to(tl.int64) * P + columns[None, :]
        x_high, x_low = tl.load(high + at, inside[:, None], 0.0), tl.load(low + at, inside[:, None], 0.0)
        # A point's distances stand in one row, so that few threads share it and find the least.
        distances = c_lengths[None, :] - 2 * _products(x_high, x_low, c_high, c_low)
        nearest = tl.argmin(tl.reshape(distances, (TILE, R, K)), axis=2)
        w = tl.load(weights + rows_of_weights[None, :] + points[:, None], inside[:, None], 0).to(tl.float16)
        is_nearest = nearest[:, :, None] == tl.arange(0, K)[None, None, :]
        member = tl.trans(tl.reshape(tl.where(is_nearest, w[:, :, None], 0.0), (TILE, R * K)).to(tl.float16))
        total = tl.dot(member, x_low, total)
        total = tl.dot(member, x_high, total)
    tl.store(sums + piece.to(tl.int64) * n_rows * P + place, total)


@_jit
def _move_kernel(  # type: ignore[no-untyped-def]
    sums, centres, centres_high, centres_low, lengths, k, tol, max_iter, n_iter, done, empty, p,
    P: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """Move the centres of one fit to the means of their points, unless one has none, or they have stopped."""
    fit = tl.program_id(0).to(tl.int64)
    if tl.load(done + fit) == 0:
        rows, columns = tl.arange(0, K), tl.arange(0, P)
        place = (fit * K + rows[:, None]) * P + columns[None, :]
        is_there = rows < tl.load(k + fit)
        total, old = tl.load(sums + place).to(tl.float64), tl.load(centres + place)
        sizes = tl.sum(tl.where(columns[None, :] == p, total, 0.0), axis=1)
        n_empty = tl.sum((is_there & (sizes == 0)).to(tl.int32), axis=0)
        tl.store(empty + fit, (n_empty > 0).to(tl.int8))
        if n_empty == 0:
            means = total / tl.where(sizes > 0, sizes, 1.0)[:, None]
            new = tl.where(is_there[:, None] & (columns[None, :] < p), means, 0.0).to(tl.float32)
            shifts = new.to(tl.float64) - old.to(tl.float64)
            shift = tl.sum(tl.sum(shifts * shifts, axis=1), axis=0)
            squares = tl.sum(new.to(tl.float64) * new.to(tl.float64), axis=1).to(tl.float32)
            half = new.to(tl.float16)
            tl.store(centres + place, new)
            tl.store(centres_high + place, half)
            tl.store(centres_low + place, (new - half.to(tl.float32)).to(tl.float16))
            tl.store(lengths + fit * K + rows, tl.where(is_there, squares, float("inf")))
            count = tl.load(n_iter + fit) + 1
            tl.store(n_iter + fit, count)
            has_stopped = (shift <= tl.load(tol + fit)) | (count >= tl.load(max_iter + fit))
            tl.store(done + fit, has_stopped.to(tl.int8))


@_jit
def _place_kernel(  # type: ignore[no-untyped-def]
    masses, shares, weights, sample, closest, places, n, n_blocks, n_shares,
    BLOCKS: tl.constexpr, BLOCK: tl.constexpr, BY_WEIGHT: tl.constexpr,
):  # fmt: skip
    """Find the point at which the running sum of masses exceeds a share of the total."""
    fit, share = tl.program_id(0).to(tl.int64), tl.program_id(1)
    part = tl.load(shares + fit * n_shares + share)
    total = part * 0.0
    for begin in range(0, n_blocks, BLOCKS):
        blocks = begin + tl.arange(0, BLOCKS)
        total += tl.sum(tl.load(masses + fit * n_blocks + blocks, blocks < n_blocks, 0.0), axis=0)
    aim = part * total
    block = 0
    before = aim * 0.0
    running = aim * 0.0
    for begin in range(0, n_blocks, BLOCKS):
        blocks = begin + tl.arange(0, BLOCKS)
        mass = tl.load(masses + fit * n_blocks + blocks, blocks < n_blocks, 0.0)
        sums = running + tl.cumsum(mass, axis=0)
        passed = (sums <= aim) & (blocks < n_blocks - 1)
        block += tl.sum(passed.to(tl.int32), axis=0)
        before = tl.maximum(before, tl.max(tl.where(passed, sums, 0.0), axis=0))
        running += tl.sum(mass, axis=0)
    offsets = tl.arange(0, BLOCK)
    points = block * BLOCK + offsets
    inside = points < n
    mass = tl.load(weights + tl.load(sample + fit) * n + points, inside, 0).to(tl.float64)
    if not BY_WEIGHT:
        mass *= tl.load(closest + fit * n + points, inside, 0.0).to(tl.float64)
    reached = (before + tl.cumsum(mass, axis=0) > aim) & (mass > 0)
    first = tl.min(tl.where(reached, offsets, BLOCK), axis=0)
    last = tl.max(tl.where(mass > 0, offsets, 0), axis=0)
    tl.store(places + fit * n_shares + share, block * BLOCK + tl.where(first < BLOCK, first, last))


@_jit
def _label_kernel(  # type: ignore[no-untyped-def]
    high, low, own_lengths, weights, sample, order, centres_high, centres_low, lengths, labels, inertia, n, n_all,
    P: tl.constexpr, K: tl.constexpr, R: tl.constexpr, TILE: tl.constexpr, PIECE: tl.constexpr, SUM: tl.constexpr,
    SEVERAL: tl.constexpr,
):  # fmt: skip
    """Write the nearest centre of every point, (n_fits, n); or sum the distances to it, (n_pieces, n_all)."""
    group, piece = tl.program_id(0).to(tl.int64), tl.program_id(1)
    rows, columns = group * R * K + tl.arange(0, R * K), tl.arange(0, P)
    fits = group * R + tl.arange(0, R)
    place = rows[:, None] * P + columns[None, :]
    c_high, c_low = tl.load(centres_high + place), tl.load(centres_low + place)
    c_lengths = tl.load(lengths + rows)
    if SEVERAL:
        high += tl.load(sample + group * R) * n * P
        low += tl.load(sample + group * R) * n * P
        own_lengths += tl.load(sample + group * R) * n
    total = tl.zeros((R,), tl.float32)
    for begin in range(piece * PIECE, tl.minimum(n, (piece + 1) * PIECE), TILE):
        points = begin + tl.arange(0, TILE)
        inside = points < n
        at = points[:, None].to(tl.int64) * P + columns[None, :]
        x_high, x_low = tl.load(high + at, inside[:, None], 0.0), tl.load(low + at, inside[:, None], 0.0)
        distances = c_lengths[:, None] - 2 * _products(c_high, c_low, x_high, x_low)
        by_fit = tl.reshape(distances, (R, K, TILE))
        if SUM:
            rows_of_weights = tl.load(sample + fits) * n
            w = tl.load(weights + rows_of_weights[:, None] + points[None, :], inside[None, :], 0).to(tl.float32)
            nearest = tl.min(by_fit, axis=1) + tl.load(own_lengths + points, inside, 0.0)[None, :]
            total += tl.sum(tl.where(w > 0, w * tl.maximum(nearest, 0.0), 0.0), axis=1)
        else:
            label = tl.argmin(by_fit, axis=1).to(tl.uint8)
            which = tl.load(order + fits)
            tl.store(labels + which[:, None] * n + points[None, :], label, inside[None, :] & (which >= 0)[:, None])
    if SUM:
        tl.store(inertia + piece.to(tl.int64) * n_all + fits, total)


@_jit
def _potential_kernel(  # type: ignore[no-untyped-def]
    high, low, own_lengths, weights, sample, order, candidates, closest, potentials, n, n_fits, n_trials, p,
    P: tl.constexpr, T: tl.constexpr, R: tl.constexpr, TILE: tl.constexpr, PIECE: tl.constexpr, SEVERAL: tl.constexpr,
):  # fmt: skip
    """Sum the distances to the nearest centre, were one of T candidates of R fits another; (n_pieces, n_fits, T)."""
    group, piece = tl.program_id(0).to(tl.int64), tl.program_id(1)
    rows, columns = group * R * T + tl.arange(0, R * T), tl.arange(0, P)
    fits, of_rows = tl.load(order + group * R + tl.arange(0, R)), tl.load(order + rows // T)
    trial = tl.minimum(rows % T, n_trials - 1)
    picks = tl.load(candidates + of_rows * n_trials + trial, of_rows >= 0, 0)
    if SEVERAL:
        table = tl.load(sample + tl.maximum(tl.load(order + group * R), 0))
        high += table * n * P
        low += table * n * P
        own_lengths += table * n
    place = picks[:, None] * P + columns[None, :]
    is_feature = (columns < p)[None, :]  # not the column that counts
    c_high, c_low = tl.load(high + place, is_feature, 0.0), tl.load(low + place, is_feature, 0.0)
    c_lengths = tl.load(own_lengths + picks)
    rows_of_weights = tl.load(sample + fits, fits >= 0, 0) * n
    total = tl.zeros((R, T), tl.float32)
    for begin in range(piece * PIECE, tl.minimum(n, (piece + 1) * PIECE), TILE):
        points = begin + tl.arange(0, TILE)
        inside = points < n
        at = points[:, None].to(tl.int64) * P + columns[None, :]
        x_high, x_low = tl.load(high + at, inside[:, None], 0.0), tl.load(low + at, inside[:, None], 0.0)
        both = c_lengths[:, None] + tl.load(own_lengths + points, inside, 0.0)[None, :]
        distances = both - 2 * _products(c_high, c_low, x_high, x_low)
        distances = tl.where(distances < NEAR_32 * both, 0.0, distances)
        here = inside[None, :] & (fits >= 0)[:, None]
        near = tl.load(closest + fits[:, None] * n + points[None, :], here, 0.0)
        w = tl.load(weights + rows_of_weights[:, None] + points[None, :], inside[None, :], 0).to(tl.float32)
        nearest = tl.minimum(tl.reshape(distances, (R, T, TILE)), near[:, None, :])
        total += tl.sum(nearest * w[:, None, :], axis=2)
    place_of = (piece.to(tl.int64) * n_fits + fits[:, None]) * T + tl.arange(0, T)[None, :]
    tl.store(potentials + place_of, total, (fits >= 0)[:, None])


@_jit
def _near_kernel(  # type: ignore[no-untyped-def]
    high, low, own_lengths, weights, sample, order, new, closest, masses, n, n_blocks, p,
    P: tl.constexpr, R: tl.constexpr, BLOCK: tl.constexpr, SEVERAL: tl.constexpr,
):  # fmt: skip
    """Take a further centre for R fits: change `closest` in one block of points, and sum weight × closest there."""
    group, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    fits, columns = tl.load(order + group * R + tl.arange(0, R)), tl.arange(0, P)
    picks = tl.load(new + fits, fits >= 0, 0)
    if SEVERAL:
        table = tl.load(sample + tl.maximum(tl.load(order + group * R), 0))
        high += table * n * P
        low += table * n * P
        own_lengths += table * n
    place = picks[:, None] * P + columns[None, :]
    is_feature = (columns < p)[None, :]  # not the column that counts
    c_high, c_low = tl.load(high + place, is_feature, 0.0), tl.load(low + place, is_feature, 0.0)
    points = block * BLOCK + tl.arange(0, BLOCK)
    inside = points < n
    at = points[:, None].to(tl.int64) * P + columns[None, :]
    x_high, x_low = tl.load(high + at, inside[:, None], 0.0), tl.load(low + at, inside[:, None], 0.0)
    both = tl.load(own_lengths + picks)[:, None] + tl.load(own_lengths + points, inside, 0.0)[None, :]
    distances = both - 2 * _products(c_high, c_low, x_high, x_low)
    distances = tl.where(distances < NEAR_32 * both, 0.0, distances)
    here = inside[None, :] & (fits >= 0)[:, None]
    at_closest = closest + fits[:, None] * n + points[None, :]
    near = tl.minimum(tl.load(at_closest, here, 0.0), distances)
    tl.store(at_closest, near, here)
    rows_of_weights = tl.load(sample + fits, fits >= 0, 0) * n
    w = tl.load(weights + rows_of_weights[:, None] + points[None, :], here, 0).to(tl.float32)
    tl.store(masses + fits * n_blocks + block, tl.sum(near * w, axis=1).to(tl.float64), fits >= 0)


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


def split_halves(numbers: Any, width: int) -> tuple[Any, Any]:
    """Return rows of numbers of 32 bits as two halves of 16, filled up with zeros to a width."""
    p = numbers.shape[1]
    high = torch.zeros((len(numbers), width), dtype=torch.float16, device=numbers.device)
    low = torch.zeros_like(high)
    high[:, :p] = numbers
    low[:, :p] = numbers - high[:, :p].float()
    return high, low


class FusedSteps(PlainSteps):
    """Steps by kernels, for points with few enough features and fits with few enough clusters; others in PyTorch."""

    @cached_property
    def _width(self) -> int:
        """Features, filled up; after the last is a column of ones, which counts the points of a cluster."""
        return _power_of_two(self.points.n_features + 1, FEWEST)

    @cached_property
    def _halves(self) -> tuple[Any, Any]:
        p = self.points.n_features
        high, low = split_halves(self.points.X.reshape(-1, p), self._width)
        high[:, p] = 1.0
        return high, low

    def _layout(self, sample: Any, n_fits: int, per_group: int) -> Layout:
        """Place fits in groups, each with the fits of one table."""
        if not self.several:
            return Layout.of_one_table(n_fits, per_group, self.points.X.device)
        return Layout.of_several(sample, self.points.n_tables, per_group)

    def _can(self, n_rows: int, weights: Any = None) -> bool:
        in_bytes = weights is None or weights.dtype == torch.uint8
        return in_bytes and self.points.n_features <= MOST_FEATURES and n_rows <= MOST_CLUSTERS

    def _rows(self, centres: Any, lengths: Any, sample: Any) -> tuple[int, Layout, tuple[Any, Any, Any]]:
        """Fill fits up to whole groups: return rows of a fit, where fits stand, and both halves and the lengths."""
        n_fits, k, p = centres.shape
        per_fit = _power_of_two(k, FEWEST)
        layout = self._layout(sample, n_fits, max(1, ROWS // per_fit))
        padded = torch.zeros((len(layout), per_fit, p), dtype=torch.float32, device=centres.device)
        padded[layout.place, :k] = centres
        filled = torch.full((len(layout), per_fit), torch.inf, dtype=torch.float32, device=centres.device)
        filled[layout.place, :k] = lengths
        return per_fit, layout, (*split_halves(padded.reshape(-1, p), self._width), filled)

    def sums(self, centres: Any, lengths: Any, weights: Any, sample: Any) -> tuple[Any, Any]:
        """Sum the weighted points and the weights of every cluster."""
        _, k, p = centres.shape
        if not self._can(k, weights):
            return super().sums(centres, lengths, weights, sample)
        per_fit, layout, rows = self._rows(centres, lengths, sample)
        n_all, n, width = len(layout), len(self.points), self._width
        n_pieces = _pieces(n, PIECE)
        sums = torch.empty((n_pieces, n_all * per_fit, width), dtype=torch.float32, device=centres.device)
        none_done = torch.zeros(n_all, dtype=torch.int8, device=centres.device)
        _sum_kernel[(layout.n_groups, n_pieces)](
            *self._halves, weights, layout.filled(sample), none_done, *rows, sums, n, n_all * per_fit,
            P=width, K=per_fit, R=layout.per_group, TILE=TILE, PIECE=PIECE, SEVERAL=self.several, num_warps=4,
        )  # fmt: skip
        total = sums.sum(dim=0, dtype=torch.float64).reshape(n_all, per_fit, width)[layout.place, :k]
        return total[..., :p], total[..., p]

    def settle(self, starts: Any, centres: Any) -> Any:
        """Move centres to where they stay: two kernels and one sum an iteration."""
        if not self._can(centres.shape[1], starts.weights):
            return None
        n_iter = torch.zeros_like(starts.k)
        active = torch.arange(len(centres), device=centres.device)
        while len(active):
            moving = _Moving(self, starts, centres, n_iter, active)
            moving.run()
            centres[active], n_iter[active] = moving.centres_of_all, moving.n_iter[moving.layout.place]
            active = active[moving.done[moving.layout.place] == 0]
        return n_iter

    def place(self, masses: Any, shares: Any, weights: Any, sample: Any, closest: Any) -> Any:
        """Find the points at which the running sums of masses exceed shares of the total."""
        if weights.dtype != torch.uint8:
            return super().place(masses, shares, weights, sample, closest)
        places = torch.empty(shares.shape, dtype=torch.int64, device=shares.device)
        by_weight = closest is None
        _place_kernel[shares.shape](
            masses.contiguous(), shares.contiguous(), weights, sample.contiguous(), masses if by_weight else closest,
            places, len(self.points), masses.shape[1], shares.shape[1],
            BLOCKS=min(BLOCK, _power_of_two(masses.shape[1], FEWEST)), BLOCK=BLOCK, BY_WEIGHT=by_weight, num_warps=1,
        )  # fmt: skip
        return places

    def _ask(self, centres: Any, lengths: Any, weights: Any, sample: Any, *, in_sum: bool) -> Any:
        per_fit, layout, rows = self._rows(centres, lengths, sample)
        n_all, n, n_pieces = len(layout), len(self.points), _pieces(len(self.points), PIECE)
        labels = torch.empty((0 if in_sum else len(centres), n), dtype=torch.uint8, device=centres.device)
        inertia = torch.empty((n_pieces if in_sum else 0, n_all), dtype=torch.float32, device=centres.device)
        _label_kernel[(layout.n_groups, n_pieces)](
            *self._halves, self.points.lengths, weights, layout.filled(sample), layout.order, *rows, labels, inertia,
            n, n_all, P=self._width, K=per_fit, R=layout.per_group, TILE=TILE, PIECE=PIECE, SUM=in_sum,
            SEVERAL=self.several, num_warps=4,
        )  # fmt: skip
        return inertia.sum(dim=0, dtype=torch.float64)[layout.place] if in_sum else labels

    def inertia(self, centres: Any, lengths: Any, weights: Any, sample: Any) -> Any:
        """Sum the weighted squared distances to the nearest centre."""
        if not self._can(centres.shape[1], weights):
            return super().inertia(centres, lengths, weights, sample)
        return self._ask(centres, lengths, weights, sample, in_sum=True)

    def labels(self, centres: Any, lengths: Any, sample: Any = None) -> Any:
        """Find the nearest centre of every point; those of other studies may be too far away for halves."""
        if not self._can(centres.shape[1]) or not float(centres.abs().max()) < MOST_UNITS:
            return super().labels(centres, lengths, sample)
        if sample is None:
            sample = torch.zeros(len(centres), dtype=torch.int64, device=centres.device)
        return self._ask(centres, lengths, sample[:1].to(torch.uint8), sample, in_sum=False)

    def potentials(self, candidates: Any, closest: Any, weights: Any, sample: Any) -> Any:
        """Sum the weighted squared distances to the nearest centre, were a candidate one."""
        if not self._can(candidates.shape[1], weights):
            return super().potentials(candidates, closest, weights, sample)
        n_fits, n_trials = candidates.shape
        per_fit, n = _power_of_two(n_trials, 1), len(self.points)
        layout, n_pieces = self._layout(sample, n_fits, max(1, ROWS // per_fit)), _pieces(n, PIECE)
        partial = torch.empty((n_pieces, n_fits, per_fit), dtype=torch.float32, device=closest.device)
        _potential_kernel[(layout.n_groups, n_pieces)](
            *self._halves, self.points.lengths, weights, sample, layout.order, candidates.contiguous(), closest,
            partial, n, n_fits, n_trials, self.points.n_features,
            P=self._width, T=per_fit, R=layout.per_group, TILE=TILE, PIECE=PIECE, SEVERAL=self.several, num_warps=4,
        )  # fmt: skip
        return partial.sum(dim=0, dtype=torch.float64)[:, :n_trials]

    def draw_near(self, picks: Any, closest: Any, weights: Any, sample: Any) -> Any:
        """Take the picked points as further centres."""
        if not self._can(1, weights):
            return super().draw_near(picks, closest, weights, sample)
        n_fits, n = len(picks), len(self.points)
        masses = torch.empty((n_fits, self.n_blocks), dtype=torch.float64, device=closest.device)
        layout = self._layout(sample, n_fits, ROWS)
        _near_kernel[(layout.n_groups, self.n_blocks)](
            *self._halves, self.points.lengths, weights, sample, layout.order, picks.contiguous(), closest, masses,
            n, self.n_blocks, self.points.n_features,
            P=self._width, R=ROWS, BLOCK=BLOCK, SEVERAL=self.several, num_warps=8,
        )  # fmt: skip
        return masses


class _Moving:
    """Lloyd's iterations of some starts, until half of them have stopped: then the others are put together anew.

    A start that has stopped, or waits for points for an empty cluster, is left as it is by further iterations.
    """

    def __init__(self, steps: FusedSteps, starts: Any, centres: Any, n_iter: Any, active: Any):
        self.steps, self.starts, self.active = steps, starts, active
        p, device = steps.points.n_features, centres.device
        lengths = (centres[active].double() ** 2).sum(dim=2).float()
        lengths = lengths.masked_fill(starts.absent[active], torch.inf)
        self.per_fit, self.layout, (self.high, self.low, self.lengths) = steps._rows(
            centres[active], lengths, starts.sample[active]
        )
        n_all, place, filled = len(self.layout), self.layout.place, self.layout.filled
        self.centres = torch.zeros((n_all, self.per_fit, steps._width), dtype=torch.float32, device=device)
        self.centres[place, : centres.shape[1], :p] = centres[active]
        self.k, self.max_iter = filled(starts.k[active]), filled(starts.max_iter[active])
        self.sample, self.n_iter = filled(starts.sample[active]), filled(n_iter[active])
        self.tol = filled(starts.tol[active])
        self.done = torch.ones(n_all, dtype=torch.int8, device=device)
        self.done[place] = 0
        self.empty = torch.zeros_like(self.done)
        self.most = centres.shape[1]

    @property
    def centres_of_all(self) -> Any:
        """The centres of all starts, whether they have stopped or not."""
        return self.centres[self.layout.place, : self.most, : self.steps.points.n_features]

    def run(self) -> None:
        """Iterate."""
        steps, n, width = self.steps, len(self.steps.points), self.steps._width
        layout, n_all, n_pieces = self.layout, len(self.layout), _pieces(n, PIECE)
        n_rows = n_all * self.per_fit
        sums = torch.empty((n_pieces, n_rows, width), dtype=torch.float32, device=self.done.device)
        n_left = len(self.active)
        n_programs = layout.n_groups * n_pieces
        enough = n_left // 2 if n_programs > FULL else 0
        while n_left > enough:
            for _ in range(UNASKED):
                _sum_kernel[(layout.n_groups, n_pieces)](
                    *steps._halves, self.starts.weights, self.sample, self.done, self.high, self.low, self.lengths,
                    sums, n, n_rows, P=width, K=self.per_fit, R=layout.per_group, TILE=TILE, PIECE=PIECE,
                    SEVERAL=steps.several, num_warps=4,
                )  # fmt: skip
                total = sums[0] if n_pieces == 1 else sums.sum(dim=0, dtype=torch.float64)
                _move_kernel[(n_all,)](
                    total, self.centres, self.high, self.low, self.lengths, self.k, self.tol, self.max_iter,
                    self.n_iter, self.done, self.empty, steps.points.n_features, P=width, K=self.per_fit, num_warps=4,
                )  # fmt: skip
            flags = torch.stack([self.done, self.empty]).cpu()
            for f in torch.nonzero((flags[0] == 0) & (flags[1] == 1))[:, 0].tolist():
                self._refill(f, total.reshape(n_all, self.per_fit, width)[f].double())
            n_left = n_all - int(self.done.sum() if bool(flags[1].any()) else flags[0].sum())
            breathe()

    def _refill(self, f: int, total: Any) -> None:
        """Give the empty clusters of one start a point each, and move its centres."""
        p, k = self.steps.points.n_features, int(self.k[f])
        old, sums, sizes = self.centres[f, :k, :p].clone(), total[:, :p].clone(), total[:, p].clone()
        refill(self.steps, old, self.starts.weights, self.sample[f], sums, sizes)
        new = torch.where(sizes[:k, None] > 0, sums[:k] / sizes[:k, None].clamp(min=1), old.double()).float()
        place = slice(f * self.per_fit, f * self.per_fit + k)
        self.centres[f, :k, :p] = new
        self.high[place, :p] = new.half()
        self.low[place, :p] = (new - new.half().float()).half()
        self.lengths[f, :k] = (new.double() ** 2).sum(dim=1).float()
        self.n_iter[f] += 1
        shift = float(((new.double() - old.double()) ** 2).sum())
        self.done[f] = int(shift <= float(self.tol[f]) or int(self.n_iter[f]) >= int(self.max_iter[f]))
        self.empty[f] = 0


def count_tables_fused(u: Any, v: Any, weights: Any, row: Any, n_labels: int) -> Any:
    """Count pairs of labelings as tables; arguments as in `plain_steps.count_tables`."""
    if n_labels > MOST_CLUSTERS or weights.dtype != torch.uint8 or u.dtype != torch.uint8:
        from clustrep.gpu.plain_steps import count_tables

        return count_tables(u, v, weights, row, n_labels)
    u, v, weights, row = (array.contiguous() for array in (u, v, weights, row))  # an expanded row is one number
    n_tables, n = u.shape
    size, n_pieces = _power_of_two(n_labels, FEWEST), _pieces(n, TABLE_PIECE)
    tables = torch.empty((n_pieces, n_tables, size, size), dtype=torch.float32, device=u.device)
    _table_kernel[(n_tables, n_pieces)](
        u, v, weights, row, tables, n, n_tables, K=size, TILE=TABLE_TILE, PIECE=TABLE_PIECE, num_warps=4
    )
    return tables.sum(dim=0, dtype=torch.float64)[:, :n_labels, :n_labels].contiguous()
