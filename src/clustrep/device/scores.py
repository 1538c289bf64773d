"""Agreements of many tables of counts, on the device; formulas as in `tables.agreement`."""

from __future__ import annotations

from typing import Any

import torch


def can_score(agreement: str) -> bool:
    """Whether an agreement is computed on the device; the others from the same tables, on the processor."""
    return agreement in _SCORES


def score_tables(agreement: str, tables: Any) -> Any:
    """Score tables of counts, (n_tables, k_u, k_v) in floats of 64 bits -> (n_tables,)."""
    return _SCORES[agreement](tables)


def _pair_counts(tables: Any) -> tuple[Any, Any, Any, Any]:
    """Pairs of points together in both, in U only, in V only, and in neither."""
    squares = (tables**2).sum(dim=(1, 2))
    rows, columns = (tables.sum(dim=2) ** 2).sum(dim=1), (tables.sum(dim=1) ** 2).sum(dim=1)
    n = tables.sum(dim=(1, 2))
    return (squares - n) / 2, (rows - squares) / 2, (columns - squares) / 2, (n**2 - rows - columns + squares) / 2


def _identical(tables: Any) -> Any:
    """Whether both are the same partition: no row and no column has two occupied cells."""
    occupied = tables > 0
    return (occupied.sum(dim=1) <= 1).all(dim=1) & (occupied.sum(dim=2) <= 1).all(dim=1)


def _ratio(numerator: Any, denominator: Any, tables: Any) -> Any:
    empty = denominator == 0
    ratio = torch.where(empty, 0.0, numerator / torch.where(empty, 1.0, denominator))
    return torch.where(_identical(tables), 1.0, ratio)


def _rand(tables: Any) -> Any:
    both, first, second, neither = _pair_counts(tables)
    return _ratio(both + neither, both + neither + first + second, tables)


def _adjusted_rand(tables: Any) -> Any:
    both, first, second, neither = _pair_counts(tables)
    expected = (both + first) * (first + neither) + (both + second) * (second + neither)
    return _ratio(2 * (both * neither - first * second), expected, tables)


_SCORES = {"ari": _adjusted_rand, "ri": _rand}
