"""Clusterers by short names, or by the dotted name of any class, with their parameters: `dbscan:eps=0.3`."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from clustrep.cli.standard_output import prints_to_stderr
from clustrep.errors import ParameterError
from clustrep.text import nearest

# Module, class, and the parameters that differ from the class's defaults unless the user sets them.
SHORT_NAMES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "kmeans": ("sklearn.cluster", "KMeans", {"n_init": 10}),
    "minibatch": ("sklearn.cluster", "MiniBatchKMeans", {"n_init": 3}),
    "birch": ("sklearn.cluster", "Birch", {}),
    "ward": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "ward"}),
    "complete": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "complete"}),
    "average": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "average"}),
    "single": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "single"}),
    "gmm": ("sklearn.mixture", "GaussianMixture", {}),
    "dbscan": ("sklearn.cluster", "DBSCAN", {}),
    "hdbscan": ("sklearn.cluster", "HDBSCAN", {"copy": True}),
    "spectral": ("sklearn.cluster", "SpectralClustering", {}),
    "affinity": ("sklearn.cluster", "AffinityPropagation", {}),
    "leiden": ("clustrep.clusterers", "Leiden", {}),
    "louvain": ("clustrep.clusterers", "Louvain", {}),
}
DEFAULT_CLUSTERERS = ("kmeans", "ward")
NUMBER_OF_CLUSTERS = ("n_clusters", "n_components")


def clusterers_of(specs: tuple[str, ...]) -> dict[str, Any]:
    """Make clusterers; each is named as the user wrote it."""
    clusterers: dict[str, Any] = {}
    for spec in specs:
        if spec in clusterers:
            raise ParameterError(f"--clusterer {spec} came twice.", parameter="clusterer")
        clusterers[spec] = clusterer_of(spec)
    return clusterers


def clusterer_of(spec: str) -> Any:
    """Make a clusterer of `name` or `name:parameter=value,…`."""
    name, _, assignments = spec.partition(":")
    kind, parameters = _kind(name.strip(), spec)
    accepted = {
        name: parameter
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    for assignment in [text.strip() for text in assignments.split(",") if text.strip()]:
        parameter, value = _assignment(assignment, kind, accepted, spec)
        parameters[parameter] = value
    needed = [
        name for name, parameter in accepted.items() if parameter.default is parameter.empty and name not in parameters
    ]
    if needed:
        raise _impossible(spec, f"{kind.__name__} needs a value for {', '.join(needed)}.")
    try:
        with prints_to_stderr():
            clusterer = kind(**parameters)
    except (Exception, SystemExit) as error:
        raise _impossible(spec, f"can't be made: {type(error).__name__}: {error}.") from None
    _check_parameters(clusterer, spec)
    return clusterer


def _assignment(text: str, kind: type, accepted: Iterable[str], spec: str) -> tuple[str, Any]:
    """Read `parameter=value` for a class that accepts some parameters."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name:
        raise _impossible(spec, f"write parameters as name=value, got {text!r}.")
    if name not in accepted:
        others = ", ".join(other for other in accepted if other not in NUMBER_OF_CLUSTERS)
        hint = nearest(name, list(accepted)) or f" It has {others}."
        raise _impossible(spec, f"{kind.__name__} has no parameter {name!r}.{hint}")
    if name in NUMBER_OF_CLUSTERS:
        raise _impossible(spec, "the number of clusters is set by --k.")
    return name, value_of(value)


def _impossible(spec: str, sentence: str) -> ParameterError:
    return ParameterError(f"--clusterer {spec}: {sentence}", parameter="clusterer")


def value_of(text: str) -> Any:
    """Read a parameter's value: true, false, none, a whole number, a number, or a text."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _kind(name: str, spec: str) -> tuple[type, dict[str, Any]]:
    """Find a class by its short or dotted name, and the parameters that its short name sets."""
    if name in SHORT_NAMES:
        module_name, class_name, parameters = SHORT_NAMES[name]
        return getattr(importlib.import_module(module_name), class_name), dict(parameters)
    module_name, dot, class_name = name.rpartition(".")
    if not dot:
        raise _impossible(
            spec,
            f"there is no clusterer {name!r}; there are {', '.join(SHORT_NAMES)}, and any class by its dotted name, "
            f"such as sklearn.cluster.MeanShift.{nearest(name, SHORT_NAMES)}",
        )
    module = _module(module_name, spec)
    kind = getattr(module, class_name, None)
    if kind is None:
        raise _impossible(spec, f"module {module_name!r} has no {class_name!r}.{nearest(class_name, dir(module))}")
    has_fit_predict = isinstance(kind, type) and callable(getattr(kind, "fit_predict", None))
    if not has_fit_predict or kind.__name__.endswith("Mixin"):
        raise _impossible(spec, f"{name} is not a clusterer: it has no fit_predict.")
    return kind, {}


def _module(name: str, spec: str) -> ModuleType:
    try:
        with prints_to_stderr():
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # the module is the user's, and may do anything
        lacking = error.name if isinstance(error, ModuleNotFoundError) else None
        if lacking is not None and (name == lacking or name.startswith(f"{lacking}.")):
            raise _impossible(spec, f"there is no module {name!r} to import.") from None
        first_line = str(error).split("\n")[0].rstrip(".")
        raise _impossible(spec, f"{name!r} can't be imported: {type(error).__name__}: {first_line}.") from None


def _check_parameters(clusterer: Any, spec: str) -> None:
    """Let scikit-learn say now, rather than in every replicate, that a value is impossible."""
    if not hasattr(clusterer, "_parameter_constraints"):  # which scikit-learn's own clusterers have, and few others
        return
    try:
        clusterer._validate_params()
    except ValueError as error:
        sentence = str(error).split("\n")[0].replace("<class '", "").replace("'>", "")
        raise _impossible(spec, f"{sentence.rstrip('.')}.") from None
