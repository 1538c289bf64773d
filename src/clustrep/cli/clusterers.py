"""Clusterers by short names, or by the dotted name of any class, with their parameters."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from clustrep.errors import ParameterError
from clustrep.text import nearest

# Module, class, and what is set unless the user says otherwise.
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
}
NUMBER_OF_CLUSTERS = ("n_clusters", "n_components")


def clusterers_of(specs: tuple[str, ...]) -> dict[str, Any]:
    """Make clusterers; each is called what the user wrote."""
    made: dict[str, Any] = {}
    for spec in specs:
        if spec in made:
            raise ParameterError(f"--clusterer {spec} came twice.")
        made[spec] = clusterer_of(spec)
    return made


def clusterer_of(spec: str) -> Any:
    """Make a clusterer of `name` or `name:parameter=value,…`."""
    name, _, rest = spec.partition(":")
    kind, parameters = _kind(name.strip(), spec)
    known = [name for name in inspect.signature(kind).parameters if name not in ("args", "kwargs")]
    for part in [part for part in rest.split(",") if part.strip()]:
        key, equals, text = (piece.strip() for piece in part.partition("="))
        if not equals or not key:
            raise ParameterError(f"--clusterer {spec}: write parameters as name=value, got {part.strip()!r}.")
        if key not in known:
            there = (
                nearest(key, known) or f" It has {', '.join(one for one in known if one not in NUMBER_OF_CLUSTERS)}."
            )
            raise ParameterError(f"--clusterer {spec}: {kind.__name__} has no parameter {key!r}.{there}")
        if key in NUMBER_OF_CLUSTERS:
            raise ParameterError(f"--clusterer {spec}: the number of clusters is set by --k.")
        parameters[key] = value_of(text)
    needed = [
        name
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.default is parameter.empty and name in known and name not in parameters
    ]
    if needed:
        raise ParameterError(f"--clusterer {spec}: {kind.__name__} needs a value for {', '.join(needed)}.")
    try:
        made = kind(**parameters)
    except Exception as error:
        raise ParameterError(f"--clusterer {spec}: can't be made: {type(error).__name__}: {error}.") from None
    _check_parameters(made, spec)
    return made


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
    if name in SHORT_NAMES:
        module, class_name, parameters = SHORT_NAMES[name]
        return getattr(importlib.import_module(module), class_name), dict(parameters)
    module, dot, class_name = name.rpartition(".")
    if not dot:
        raise ParameterError(
            f"--clusterer {spec}: there is no clusterer {name!r}; there are {', '.join(SHORT_NAMES)}, and any class by "
            f"its dotted name, such as sklearn.cluster.MeanShift.{nearest(name, SHORT_NAMES)}"
        )
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if module == error.name or module.startswith(f"{error.name}."):
            raise ParameterError(f"--clusterer {spec}: there is no module {module!r} to import.") from None
        raise _can_not_be_imported(spec, module, error) from None
    except Exception as error:  # the module is the user's, and may do anything
        raise _can_not_be_imported(spec, module, error) from None
    kind = getattr(found, class_name, None)
    if kind is None:
        raise ParameterError(
            f"--clusterer {spec}: module {module!r} has no {class_name!r}.{nearest(class_name, dir(found))}"
        )
    if (
        not isinstance(kind, type)
        or not callable(getattr(kind, "fit_predict", None))
        or kind.__name__.endswith("Mixin")
    ):
        raise ParameterError(f"--clusterer {spec}: {name} is not a clusterer: it has no fit_predict.")
    return kind, {}


def _can_not_be_imported(spec: str, module: str, error: Exception) -> ParameterError:
    first_line = str(error).split("\n")[0]
    return ParameterError(
        f"--clusterer {spec}: {module!r} can't be imported: {type(error).__name__}: {first_line.rstrip('.')}."
    )


def _check_parameters(made: Any, spec: str) -> None:
    """Let scikit-learn say now, rather than in every replicate, that a value is impossible."""
    check = getattr(made, "_validate_params", None)
    if check is None:
        return
    try:
        check()
    except ValueError as error:
        sentence = str(error).split("\n")[0].replace("<class '", "").replace("'>", "")
        raise ParameterError(f"--clusterer {spec}: {sentence.rstrip('.')}.") from None
