"""The expected mutual information of many tables, in one kernel for a GPU; formulas as in `_kernels.information`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

_jit: Callable[[Any], Any] = triton.jit

CELLS = 128
NEGLIGIBLE = tl.constexpr(1e-28)


@_jit
def _walk(a, b, n, mean, x, weight, low, high, weights, weighted, UP: tl.constexpr):  # type: ignore[no-untyped-def]
    """Add the terms from one count on, upwards or downwards, until they are negligible."""
    active = (x >= low) & (x <= high)
    while tl.max(active.to(tl.int32), axis=0) > 0:
        deviation = (x - mean) / mean
        logarithm = libdevice.log1p(tl.where(x > 0, deviation, 0.0))
        term = tl.where(x > 0, (1.0 + deviation) * logarithm - deviation, 1.0)
        weights += tl.where(active, weight, 0.0)
        weighted += tl.where(active, weight * term, 0.0)
        if UP:
            following = weight * (a - x) * (b - x) / ((x + 1.0) * (n - a - b + x + 1.0))
            x_next = x + 1.0
        else:
            following = weight * x * (n - a - b + x) / ((a - x + 1.0) * (b - x + 1.0))
            x_next = x - 1.0
        active = active & (weight >= NEGLIGIBLE * weights) & (x_next >= low) & (x_next <= high)
        weight = tl.where(active, following, 0.0)
        x = tl.where(active, x_next, x)
    return weights, weighted


@_jit
def _expected_kernel(rows, columns, totals, expected, n_cells, k_u, k_v, CELLS: tl.constexpr):  # type: ignore[no-untyped-def]
    cell = tl.program_id(0).to(tl.int64) * CELLS + tl.arange(0, CELLS)
    inside = cell < n_cells
    table, within = cell // (k_u * k_v), cell % (k_u * k_v)
    n = tl.load(totals + table, inside, 1.0)
    a = tl.load(rows + table * k_u + within // k_v, inside, 0.0)
    b = tl.load(columns + table * k_v + within % k_v, inside, 0.0)
    is_there = (a > 0) & (b > 0)
    a, b = tl.where(is_there, a, 1.0), tl.where(is_there, b, 1.0)
    low, high = tl.maximum(0.0, a + b - n), tl.minimum(a, b)
    mean = a * b / n
    mode = tl.minimum(tl.maximum(tl.floor((a + 1.0) * (b + 1.0) / (n + 2.0)), low), high)
    nothing = tl.zeros((CELLS,), tl.float64)
    weights, weighted = _walk(a, b, n, mean, mode, nothing + 1.0, low, high, nothing, nothing, True)
    below = mode * (n - a - b + mode) / ((a - mode + 1.0) * (b - mode + 1.0))
    weights, weighted = _walk(a, b, n, mean, mode - 1.0, below, low, high, weights, weighted, False)
    tl.store(expected + cell, tl.where(is_there, mean / n * weighted / weights, 0.0), inside)


def expected_terms(rows: Any, columns: Any, totals: Any) -> Any:
    """Return what each cell adds to the expected information of tables with these margins, (n_tables, k_u · k_v)."""
    n_tables, k_u, k_v = len(rows), rows.shape[1], columns.shape[1]
    expected = torch.empty((n_tables, k_u * k_v), dtype=torch.float64, device=rows.device)
    n_cells = expected.numel()
    _expected_kernel[(-(-n_cells // CELLS),)](
        rows.contiguous(), columns.contiguous(), totals, expected, n_cells, k_u, k_v, CELLS=CELLS, num_warps=4
    )
    return expected
