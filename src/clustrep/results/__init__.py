"""Every result type: frozen, with the whole resampling distribution inside."""

from __future__ import annotations

import dataclasses
from os import PathLike
from typing import Any

from clustrep.errors import DataError
from clustrep.files import Fields, load_fields
from clustrep.results.analysis import Analysis
from clustrep.results.choice import Best, Candidate, Choice
from clustrep.results.cluster_stability import Sensitivity, Stability
from clustrep.results.co_assignment import AssignmentConsistency, Consensus
from clustrep.results.comparison import Comparison
from clustrep.results.curves import BootstrapInstability, PredictionStrength, RelativeValidation
from clustrep.results.groups import Separation
from clustrep.results.left_out import LeaveOneStudyOut
from clustrep.results.local_scores import LocalReplicability
from clustrep.results.matches import Counterparts
from clustrep.results.null_scores import NullReference
from clustrep.results.pairwise import Replicability, TrainingAverage
from clustrep.results.presence_words import Presence
from clustrep.results.proportions import InGroupProportion, InGroupStability
from clustrep.results.relations import StudyDifferences, StudyRelations
from clustrep.results.significance import ClusterTest
from clustrep.results.validation import Validation
from clustrep.text import listing

__all__ = [
    "RESULTS",
    "Analysis",
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
    "InGroupStability",
    "LeaveOneStudyOut",
    "LocalReplicability",
    "NullReference",
    "PredictionStrength",
    "Presence",
    "RelativeValidation",
    "Replicability",
    "Sensitivity",
    "Separation",
    "Stability",
    "StudyDifferences",
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
        Separation,
        PredictionStrength,
        Presence,
        BootstrapInstability,
        RelativeValidation,
        InGroupProportion,
        InGroupStability,
        ClusterTest,
        Consensus,
        AssignmentConsistency,
        Validation,
        NullReference,
        Counterparts,
        LeaveOneStudyOut,
        StudyDifferences,
        Analysis,
    )
}


def load(path: str | PathLike[str]) -> Any:
    """Read a result that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Result
        Of the class that was saved, equal in all fields. It holds no data, so what needs a fit, such as
        `clustering_function` or `null_reference`, raises an error.

    Raises
    ------
    DataError
        Where there is no such file, or it is no result of this package, or damaged.

    See Also
    --------
    Replicability.save : Every result has this method.

    Examples
    --------
    >>> load("nothing.npz")
    Traceback (most recent call last):
    clustrep.errors.DataError: There is no file nothing.npz.
    """
    return _result_of(load_fields(path), path)


def _result_of(fields: Fields, path: str | PathLike[str]) -> Any:
    """Make a result of its fields, and first the results that are among them."""
    if fields.kind not in RESULTS:
        raise DataError(f"{path} holds a result of kind {fields.kind!r}; this clustrep knows {', '.join(RESULTS)}.")
    result = RESULTS[fields.kind]
    expected = {field.name for field in dataclasses.fields(result) if not field.name.startswith("_")}
    if set(fields.values) != expected:
        differing = sorted(set(fields.values) ^ expected)
        raise DataError(f"{path} is damaged: these fields are missing or unknown: {listing(differing)}.")
    values = dict(fields.values)
    for name, value in values.items():
        if isinstance(value, Fields):
            values[name] = _result_of(value, path)
        elif isinstance(value, tuple) and any(isinstance(part, Fields) for part in value):
            values[name] = tuple(_result_of(part, path) for part in value)
    return result(**values)
