"""Every result type: frozen, with the whole resampling distribution inside."""

from __future__ import annotations

import dataclasses
from os import PathLike
from typing import Any

from clustrep._files import load_fields
from clustrep._validation import listing
from clustrep.errors import DataError
from clustrep.results.choice import Choice
from clustrep.results.comparison import Best, Candidate, Comparison
from clustrep.results.consensus import AssignmentConsistency, Consensus
from clustrep.results.counterparts import Counterparts
from clustrep.results.curves import BootstrapInstability, PredictionStrength, RelativeValidation
from clustrep.results.in_group import InGroupProportion
from clustrep.results.leave_one_out import LeaveOneStudyOut
from clustrep.results.local import LocalReplicability
from clustrep.results.null import NullReference
from clustrep.results.relations import StudyRelations
from clustrep.results.replicability import Replicability, TrainingAverage
from clustrep.results.significance import ClusterTest
from clustrep.results.stability import Sensitivity, Stability
from clustrep.results.validation import Validation

__all__ = [
    "AssignmentConsistency",
    "Best",
    "BootstrapInstability",
    "Candidate",
    "Choice",
    "ClusterTest",
    "Comparison",
    "Consensus",
    "Counterparts",
    "InGroupProportion",
    "LeaveOneStudyOut",
    "LocalReplicability",
    "NullReference",
    "PredictionStrength",
    "RelativeValidation",
    "Replicability",
    "Sensitivity",
    "Stability",
    "StudyRelations",
    "TrainingAverage",
    "Validation",
    "load",
]

RESULTS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Replicability,
        Comparison,
        LocalReplicability,
        Stability,
        Sensitivity,
        PredictionStrength,
        BootstrapInstability,
        RelativeValidation,
        InGroupProportion,
        ClusterTest,
        Consensus,
        AssignmentConsistency,
        Validation,
        NullReference,
        Counterparts,
        LeaveOneStudyOut,
    )
}


def load(path: str | PathLike[str]) -> Any:
    """Read a result that `save` wrote.

    Examples
    --------
    >>> load("nothing.npz")
    Traceback (most recent call last):
    clustrep.errors.DataError: There is no file nothing.npz.
    """
    kind, fields = load_fields(path)
    if kind not in RESULTS:
        raise DataError(f"{path} holds a result of kind {kind!r}; this clustrep knows {', '.join(RESULTS)}.")
    result = RESULTS[kind]
    expected = {field.name for field in dataclasses.fields(result) if not field.name.startswith("_")}
    if set(fields) != expected:
        differing = sorted(set(fields) ^ expected)
        raise DataError(f"{path} is damaged: it lacks, or has beyond what it should, {listing(differing)}.")
    return result(**fields)
