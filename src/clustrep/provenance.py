"""How a result was made, in words and numbers that fit into a file."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustrep.clustering.parameters import describe
from clustrep.clustering.sample import Source
from clustrep.studies.study import Study

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


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
