"""What an experiment computed, as plain arrays in a file: claims, figures and pages are written from it alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

Facts = dict[str, Any]  # arrays by name


def save_facts(path: Path, facts: Mapping[str, Any]) -> None:
    """Write facts whole or not at all, the same bytes every time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".writing")
    with temporary.open("wb") as file:
        np.savez_compressed(file, **{name: as_stored(values) for name, values in facts.items()})
    temporary.replace(path)


def load_facts(path: Path) -> Facts:
    """Read facts."""
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def as_stored(values: Any) -> Any:
    """Return an array, halving the size of large ones: 24 bits are more than a score has."""
    array = np.asarray(values)
    if array.dtype == object:
        raise TypeError(f"facts are arrays of numbers or of strings, got {values!r}")
    return array.astype(np.float32) if array.dtype == np.float64 and array.size > 50 else array
