"""clustrep: which clusters hold up when someone else repeats the study.

Names are resolved on first use: importing the package is quick, scikit-learn is not. No module has the name of a public
function, because importing it would put it in the function's place.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clustrep import datasets, errors
    from clustrep._replicability import replicability
    from clustrep.agreement import (
        adjusted_mutual_information,
        adjusted_rand_index,
        mutual_information,
        rand_index,
    )
    from clustrep.contingency import contingency_table
    from clustrep.functions import ClusteringFunction, Induced
    from clustrep.local import local_replicability
    from clustrep.resampling import Bootstrap, Simulate, Subsample
    from clustrep.results import Comparison, LocalReplicability, Replicability, load
    from clustrep.selection import compare
    from clustrep.studies import Studies
    from clustrep.study import Study

__version__ = "0.1.0"

_HOME = {
    "Bootstrap": "resampling",
    "ClusteringFunction": "functions",
    "Comparison": "results",
    "Induced": "functions",
    "LocalReplicability": "results",
    "Replicability": "results",
    "Simulate": "resampling",
    "Studies": "studies",
    "Study": "study",
    "Subsample": "resampling",
    "adjusted_mutual_information": "agreement",
    "adjusted_rand_index": "agreement",
    "compare": "selection",
    "contingency_table": "contingency",
    "load": "results",
    "local_replicability": "local",
    "mutual_information": "agreement",
    "rand_index": "agreement",
    "replicability": "_replicability",
}
_MODULES = ("datasets", "errors")

__all__ = [
    "Bootstrap",
    "ClusteringFunction",
    "Comparison",
    "Induced",
    "LocalReplicability",
    "Replicability",
    "Simulate",
    "Studies",
    "Study",
    "Subsample",
    "adjusted_mutual_information",
    "adjusted_rand_index",
    "compare",
    "contingency_table",
    "datasets",
    "errors",
    "load",
    "local_replicability",
    "mutual_information",
    "rand_index",
    "replicability",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"clustrep.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"clustrep.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'clustrep' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
