"""Tables of counts between labelings, counted on the device: the same whole numbers as on the processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from clustrep.execution.devices import torch_device
from clustrep.types import BoolArray, FloatArray, IntArray


def count_pairs(
    us: Sequence[IntArray],
    vs: Sequence[IntArray],
    weights: Sequence[IntArray | BoolArray],
    shape: tuple[int, int],
    device: str,
) -> FloatArray:
    """Count pairs of labelings, each of other points with other weights, at once: (n_tables, k_u, k_v)."""
    k_u, k_v = shape
    place = torch_device(device)
    sizes = torch.as_tensor([len(u) for u in us], device=place)
    cells = torch.repeat_interleave(torch.arange(len(us), device=place) * (k_u * k_v), sizes)
    cells += _sent(us, k_u, place) * k_v
    cells += _sent(vs, k_v, place)
    tables = torch.zeros(len(us) * k_u * k_v, dtype=torch.float64, device=place)
    largest = max((int(row.max(initial=0)) for row in weights), default=0)
    # Whole numbers are exact in 64 bits, in whatever order they are added.
    tables.index_add_(0, cells, _sent(weights, largest + 1, place).double())
    return np.asarray(tables.reshape(len(us), k_u, k_v).cpu().numpy())


def _sent(rows: Sequence[Any], n_values: int, place: Any) -> Any:
    """Send rows of whole numbers in as few bytes as they need, and return them as numbers of 64 bits."""
    small = np.uint8 if n_values <= 2**8 else np.int64
    return torch.as_tensor(np.concatenate(rows, dtype=small, casting="unsafe"), device=place).long()
