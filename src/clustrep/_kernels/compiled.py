"""How kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a kernel that lets other threads run, and keep it on disk where there is a place for it."""
    return _compile(function, fastmath=False)


def vectorised(function: Callable[..., Any]) -> Any:
    """Compile a kernel whose sums may be taken in the order that suits the processor's vectors.

    Its last bits may differ from one kind of processor to the next; on one machine they are always the same.
    """
    return _compile(function, fastmath={"reassoc", "contract", "nsz"})


def _compile(function: Callable[..., Any], fastmath: Any) -> Any:
    options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written to
        return njit(**options)(function)
