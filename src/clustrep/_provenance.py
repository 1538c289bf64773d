"""How a result was made, in words and numbers that fit into a file."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustrep._learning import Source
from clustrep.functions import KnownLabels
from clustrep.resampling import Combination
from clustrep.study import Study

PACKAGES = ("clustrep", "numpy", "scipy", "scikit-learn", "numba", "joblib")


def provenance(
    source: Source, studies: Sequence[Study], clusterers: list[str] | dict[str, str], **parameters: Any
) -> dict[str, Any]:
    """Collect seed, parameters, studies and versions of a run that clusters."""
    return provenance_of_data(
        source.root,
        studies,
        resampling=describe(source.resampling),
        accelerate=source.accelerate,
        **parameters,
        clusterers=clusterers,
    )


def provenance_of_data(root: int, studies: Sequence[Study], **parameters: Any) -> dict[str, Any]:
    """Collect seed, parameters, studies and versions."""
    return {
        "seed": root,
        **parameters,
        "studies": {
            study.name: {"samples": len(study), "features": len(study.features), "scale": study.scale}
            for study in studies
        },
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
    }


def fingerprint(*arrays: NDArray[Any], about: str = "") -> str:
    """Return a number that other arrays, or arrays about other things, don't have."""
    digest = hashlib.sha256(about.encode())
    for array in arrays:
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def describe(thing: Any, depth: int = 5) -> str:
    """Write an object with its parameters, the same on every machine: no addresses, no depths without end."""
    if isinstance(thing, KnownLabels):
        return "known labels"
    if isinstance(thing, Combination):
        return " + ".join(describe(step) for step in thing.steps)
    if depth > 0 and isinstance(thing, list | tuple):
        inside = ", ".join(describe(item, depth - 1) for item in thing)
        return f"[{inside}]" if isinstance(thing, list) else f"({inside})"
    if depth > 0 and hasattr(thing, "get_params") and not isinstance(thing, type):
        return _call(type(thing).__qualname__, thing.get_params(deep=False), depth)
    if depth > 0 and dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
        return _call(type(thing).__qualname__, fields, depth)
    if depth > 0 and hasattr(thing, "function") and hasattr(thing, "arguments"):
        return _call(describe(thing.function), thing.arguments, depth)
    if depth > 0 and isinstance(thing, partial):
        return _call(describe(thing.func), thing.keywords, depth)
    if isinstance(thing, np.generic):
        return repr(thing.item())
    if isinstance(thing, np.ndarray):
        content = np.ascontiguousarray(thing).tobytes() if not thing.dtype.hasobject else b""
        return f"array of {thing.shape}, sha256 {hashlib.sha256(content).hexdigest()[:12]}"
    if depth > 0 and isinstance(thing, Mapping):
        return "{" + ", ".join(f"{key!r}: {describe(value, depth - 1)}" for key, value in thing.items()) + "}"
    if isinstance(thing, bool | int | float | str | None):
        return repr(thing)
    if callable(thing) and hasattr(thing, "__qualname__"):
        return str(thing.__qualname__)
    return type(thing).__qualname__


def _call(name: str, parameters: Mapping[str, Any], depth: int) -> str:
    return f"{name}({', '.join(f'{key}={describe(value, depth - 1)}' for key, value in parameters.items())})"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
