"""Agreements of many tables of counts, on the device; formulas as in `tables.agreement`."""

from __future__ import annotations

from collections.abc import Callable
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


# ---------------------------------------------------------------------------------------------------------------------
# information


def _row_sums(values: Any) -> Any:
    """Sum rows, (n_rows, n_columns) -> (n_rows,), by halves: PyTorch's own order depends on the number of rows."""
    width = 1 << max(values.shape[1] - 1, 0).bit_length()
    values = torch.nn.functional.pad(values, (0, width - values.shape[1]))
    while width > 1:
        width //= 2
        values = values[:, :width] + values[:, width:]
    return values[:, 0]


def _entropy(sizes: Any, n: Any) -> Any:
    """Entropy of partitions, from the sizes of their blocks, (n_tables, n_blocks)."""
    return -_row_sums(torch.special.xlogy(sizes / n[:, None], sizes / n[:, None]))


def _mutual_information(tables: Any) -> Any:
    rows, columns, n = tables.sum(dim=2), tables.sum(dim=1), tables.sum(dim=(1, 2))
    independent = rows[:, :, None] * columns[:, None, :]
    ratios = tables * n[:, None, None] / torch.where(tables > 0, independent, 1.0)
    return (_row_sums(torch.special.xlogy(tables, ratios).flatten(1)) / n).clamp(min=0)


def _expected_information(rows: Any, columns: Any, n: Any) -> Any:
    if rows.device.type == "cuda":
        from clustrep.gpu.fused_information import expected_terms

        return _row_sums(expected_terms(rows, columns, n))
    from clustrep.kernels.information import expected_mutual_information

    return torch.as_tensor(expected_mutual_information(*(array.contiguous().numpy() for array in (rows, columns, n))))


def _adjusted_information(tables: Any, average: Callable[[Any, Any], Any]) -> Any:
    rows, columns, n = tables.sum(dim=2), tables.sum(dim=1), tables.sum(dim=(1, 2))
    expected = _expected_information(rows, columns, n)
    bound = average(_entropy(rows, n), _entropy(columns, n))
    both, first, second, neither = _pair_counts(tables)
    together = (both + first == 0) | (both + second == 0)
    trivial = together | (second + neither == 0) | (first + neither == 0)
    empty = bound == expected
    score = torch.where(
        empty, 0.0, (_mutual_information(tables) - expected) / torch.where(empty, 1.0, bound - expected)
    )
    return torch.where(_identical(tables), 1.0, torch.where(trivial, 0.0, score))


def _ami(tables: Any) -> Any:
    return _adjusted_information(tables, lambda u, v: (u + v) / 2)


def _ami_max(tables: Any) -> Any:
    return _adjusted_information(tables, torch.maximum)


_SCORES: dict[str, Callable[[Any], Any]] = {
    "ari": _adjusted_rand,
    "ri": _rand,
    "mi": _mutual_information,
    "ami": _ami,
    "ami_max": _ami_max,
}
