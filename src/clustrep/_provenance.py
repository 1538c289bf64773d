"""How a result was made, in words and numbers that fit into a file."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from clustrep._learning import Source
from clustrep.functions import KnownLabels
from clustrep.studies import Study

PACKAGES = ("clustrep", "numpy", "scipy", "scikit-learn", "numba", "joblib")


def provenance(
    source: Source, studies: Sequence[Study], clusterers: Mapping[str, Any], **parameters: Any
) -> dict[str, Any]:
    """Collect seed, parameters, studies and versions."""
    return {
        "seed": source.root,
        "resampling": describe(source.resampling),
        **parameters,
        "clusterers": {name: describe(clusterer) for name, clusterer in clusterers.items()},
        "studies": {
            study.name: {"samples": len(study), "features": len(study.features), "scale": study.scale}
            for study in studies
        },
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
    }


def describe(thing: Any) -> str:
    """Write an object with its parameters, the same on every machine: no addresses."""
    if isinstance(thing, KnownLabels):
        return "known labels"
    if hasattr(thing, "get_params"):
        return _call(type(thing), thing.get_params(deep=False))
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return _call(type(thing), {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)})
    if isinstance(thing, list | tuple):
        inside = ", ".join(describe(item) for item in thing)
        return f"[{inside}]" if isinstance(thing, list) else f"({inside})"
    if callable(thing):
        return getattr(thing, "__qualname__", type(thing).__qualname__)
    if " object at 0x" in repr(thing):
        return _call(type(thing), vars(thing))
    return repr(thing)


def _call(kind: type, parameters: Mapping[str, Any]) -> str:
    return f"{kind.__qualname__}({', '.join(f'{name}={describe(value)}' for name, value in parameters.items())})"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
