"""Every result type: frozen, with the whole resampling distribution inside."""

from __future__ import annotations

import dataclasses
import inspect
import re
from functools import cache, partial
from os import PathLike
from typing import Any

from clustrep.algorithms.choice import Best as Best
from clustrep.algorithms.choice import Candidate as Candidate
from clustrep.algorithms.choice import Choice as Choice
from clustrep.algorithms.comparison import Comparison as Comparison
from clustrep.algorithms.local_scores import LocalReplicability as LocalReplicability
from clustrep.algorithms.pairwise import LeaveOneStudyOut as LeaveOneStudyOut
from clustrep.algorithms.pairwise import Replicability as Replicability
from clustrep.algorithms.pairwise import TrainingAverage as TrainingAverage
from clustrep.analysis.headline import Preliminary as Preliminary
from clustrep.analysis.result import Analysis as Analysis
from clustrep.checks import check_integer
from clustrep.errors import DataError
from clustrep.federated.combined import Combined as Combined
from clustrep.federated.combined import FederatedClusters as FederatedClusters
from clustrep.federated.combined import FederatedScores as FederatedScores
from clustrep.files.archives import Declared
from clustrep.files.saved import Fields, Saved, check_path, load_fields
from clustrep.findings.annotations import Annotations as Annotations
from clustrep.findings.assign import Reference as Reference
from clustrep.findings.cluster_tree import ClusterTree as ClusterTree
from clustrep.findings.clustering_tree import ClusteringTree as ClusteringTree
from clustrep.findings.result import Findings as Findings
from clustrep.null.null_scores import NullReference as NullReference
from clustrep.provenance import Provenance
from clustrep.separation.result import Separation as Separation
from clustrep.stability.results import AssignmentConsistency as AssignmentConsistency
from clustrep.stability.results import BootstrapInstability as BootstrapInstability
from clustrep.stability.results import ClusterTest as ClusterTest
from clustrep.stability.results import Consensus as Consensus
from clustrep.stability.results import InGroupProportion as InGroupProportion
from clustrep.stability.results import PredictionStrength as PredictionStrength
from clustrep.stability.results import RelativeValidation as RelativeValidation
from clustrep.stability.results import Sensitivity as Sensitivity
from clustrep.stability.results import Stability as Stability
from clustrep.stability.results import Validation as Validation
from clustrep.text import listing

RESULTS: dict[str, Any] = {
    name: kind
    for name, kind in list(globals().items())
    if isinstance(kind, type) and issubclass(kind, Saved) and kind is not Saved
}

__all__ = ["Best", "Candidate", "Choice", "Preliminary", "TrainingAverage", "load"]
__all__ += RESULTS

# What a field may hold, by its annotation: kinds of NumPy's types for arrays, types for other values.
ARRAYS = {"FloatArray": "f", "IntArray": "iu", "BoolArray": "b", "NDArray[np.str_]": "U", "Labels": "biufU"}
VALUES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "dict[str, int]": (dict,),
    "Provenance": (Provenance,),
}

LOOKED_AT = 2**22  # bytes

# The line of an attribute in a docstring: its names, and the shape of an array.
SHAPE = re.compile(r"^(\w+(?:, \w+)*) : [^\n(]*array[^\n(]*\(([^()\n]*)\)(?! or )", re.MULTILINE)

DIMENSION = re.compile(r"[A-Za-z]\w*( \+ 1)?|\d")


def load(path: str | PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Read a result that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file.
    max_bytes : int, default=None
        The size that all arrays together may have in memory; None: 1 GiB, or 20 times the size of the file if that
        is more. What a file declares is checked before any of it is decompressed.

    Returns
    -------
    Result
        Of the class that was saved, equal in all fields. It holds no data, so what needs a fit, such as
        `clustering_function` or `null_reference`, raises an error.

    Raises
    ------
    DataError
        Where the file does not exist, or is no result of this package, or a single byte of it has changed.

    See Also
    --------
    Replicability.save : Every result has this method.

    Notes
    -----
    The file holds numbers and text, never a pickle: reading it runs no code from it. It ends with a SHA-256 of its
    contents, which finds damage; it does not prove who wrote the file.

    Examples
    --------
    >>> load("nothing.npz")
    Traceback (most recent call last):
    clustrep.errors.DataError: There is no file nothing.npz: check the path.
    """
    if max_bytes is not None:
        check_integer(max_bytes, "max_bytes")
    check_path(path)
    try:
        result = _result_of(load_fields(path, partial(_check_fields, path), max_bytes))
        # What is put together by hand may have numbers that refer to nothing; looking at large results takes long.
        if sum(getattr(value, "nbytes", 0) for value in vars(result).values()) < LOOKED_AT:
            repr(result)
            getattr(result, "to_frame", str)()
    except DataError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is damaged ({type(error).__name__}): run it again.") from None
    return result


def _check_fields(path: str | PathLike[str], fields: Fields) -> None:
    """Check the names and the types of a result's fields, and of the results that are among them."""
    if fields.kind not in RESULTS:
        raise DataError(
            f"{path} holds a result of kind {fields.kind!r}; this version reads {', '.join(RESULTS)}: update clustrep."
        )
    public = {field.name: field for field in dataclasses.fields(RESULTS[fields.kind]) if field.name[0] != "_"}
    added = {name for name, field in public.items() if _has_default(field)}  # since older versions
    if not set(public) - added <= set(fields.values) <= set(public):
        differing = sorted(set(fields.values) ^ set(public))
        raise DataError(f"{path} is damaged: these fields are missing or unknown: {listing(differing)}. Run it again.")
    sizes = {str(n): n for n in range(10)}
    for name, dimensions in shapes_of(RESULTS[fields.kind]).items():
        shape = value.shape if isinstance(value := fields.values.get(name), Declared) else None
        of_dimensions = zip(dimensions, shape or (), strict=False)
        if (
            shape is not None
            and (any(shape) or len(shape) == 1)
            and (len(shape) != len(dimensions) or any(sizes.setdefault(each, n) != n for each, n in of_dimensions))
        ):
            raise DataError(f"{path} is damaged: its {name} has the shape {shape}: run it again.")
    for name, value in fields.values.items():
        if not _fits(value, str(public[name].type)):
            raise DataError(f"{path} is damaged: its {name} is not of the type {public[name].type}: run it again.")
        for part in value if type(value) is tuple else (value,):
            if isinstance(part, Fields):
                _check_fields(path, part)


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return not (field.default is field.default_factory is dataclasses.MISSING)


@cache
def shapes_of(kind: type) -> dict[str, list[str]]:
    """Return the shapes of a result's arrays as its docstring gives them; none where Python was told to drop it.

    Examples
    --------
    >>> shapes_of(RESULTS["Findings"])["status"]
    ['n_clusters', 'n_studies']
    """
    found: dict[str, list[str]] = {}
    for names, shape in SHAPE.findall(inspect.getdoc(kind) or ""):
        dimensions = [dimension.strip() for dimension in shape.split(",") if dimension.strip()]
        if all(map(DIMENSION.fullmatch, dimensions)):
            found |= dict.fromkeys(names.split(", "), dimensions)
    return found


def _fits(value: Any, annotation: str) -> bool:
    """Whether a value that was read, or an array's declared type, can be that of a field with this annotation."""
    if annotation.endswith(" | None") and value is None:
        return True
    annotation = annotation.removesuffix(" | None")
    if annotation.startswith("tuple["):
        item = annotation.removeprefix("tuple[").removesuffix(", ...]")
        return type(value) is tuple and all(_fits(part, item) for part in value)
    if annotation in ARRAYS:
        return isinstance(value, Declared) and value.dtype.kind in ARRAYS[annotation]
    if annotation in RESULTS:
        return isinstance(value, Fields) and value.kind == annotation
    return type(value) in VALUES[annotation]


def _result_of(fields: Fields) -> Any:
    """Make a result of its fields, and first the results that are among them."""
    values = dict(fields.values)
    for name, value in values.items():
        if isinstance(value, Fields):
            values[name] = _result_of(value)
        elif isinstance(value, tuple) and any(isinstance(part, Fields) for part in value):
            values[name] = tuple(_result_of(part) for part in value)
    return RESULTS[fields.kind](**values)
