"""Clusterers by short names, or by the dotted name of any class, with their parameters: `dbscan:eps=0.3`."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from clustrep.cli.console import prints_to_stderr, write_warning
from clustrep.errors import ParameterError
from clustrep.text import nearest, said_by

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
    "medoids": ("kmedoids", "KMedoids", {"n_clusters": 8, "metric": "manhattan"}),
}
DEFAULT_CLUSTERERS = ("kmeans", "ward")
BY_GOWER = ("average:metric=manhattan", "complete:metric=manhattan")
NUMBER_OF_CLUSTERS = ("n_clusters", "n_components")
# Values in a range that does not say how many, and the most that one can have.
VALUES, MOST_VALUES = 10, 1000


def clusterers_of(specs: tuple[str, ...]) -> dict[str, Any]:
    """Make clusterers; each is named as the user wrote it."""
    clusterers: dict[str, Any] = {}
    for spec in specs:
        if spec in clusterers:
            raise ParameterError(f"--clusterer {spec} came twice.", parameter="clusterer")
        clusterers[spec] = clusterer_of(spec)
    return clusterers


def ranged_clusterers_of(
    specs: tuple[str, ...], for_all: Mapping[str, Sequence[float]]
) -> tuple[dict[str, Any], dict[str, dict[str, Sequence[float]]]]:
    """Make clusterers, and return the values to try of a parameter, by clusterer.

    These are written into the clusterer itself, `dbscan:eps=0.1:1.0`, or given `for_all` that have the parameter and
    do not set it themselves. A clusterer is named as the user wrote it, without the range.
    """
    clusterers: dict[str, Any] = {}
    param_grid: dict[str, dict[str, Sequence[float]]] = {}
    for spec in specs:
        name, ranges = without_range(spec)
        if name in clusterers:
            raise ParameterError(f"--clusterer {spec} came twice.", parameter="clusterer")
        if len(ranges) > 1:
            raise _impossible(spec, f"only one parameter can have a range, got {' and '.join(ranges)}.")
        first = [f"{parameter}={values[0]!r}" for parameter, values in ranges.items()]
        clusterers[name] = clusterer_of(with_assignments(name, first))
        accepted = clusterers[name].get_params() if hasattr(clusterers[name], "get_params") else {}
        set_itself = {assignment.partition("=")[0].strip() for assignment in name.partition(":")[2].split(",")}
        common = {parameter: for_all[parameter] for parameter in for_all if parameter in {*accepted} - set_itself}
        if ranges or common:
            param_grid[name] = {**ranges} or common
    for parameter in for_all:
        if not any(parameter in values for values in param_grid.values()):
            raise ParameterError(
                f"--{parameter}: no --clusterer has this parameter without setting it itself: name one that has, "
                f"or leave --{parameter} out.",
                parameter=parameter,
            )
    return clusterers, param_grid


def without_range(spec: str) -> tuple[str, dict[str, tuple[float, ...]]]:
    """Take the parameters that have a range, such as eps=0.1:1.0, out of a clusterer.

    Examples
    --------
    >>> without_range("dbscan:min_samples=3,eps=0.1:0.3:3")
    ('dbscan:min_samples=3', {'eps': (0.1, 0.2, 0.3)})
    """
    kind, _, assignments = spec.partition(":")
    kept, ranges = [], {}
    for assignment in [text.strip() for text in assignments.split(",") if text.strip()]:
        name, _, value = (part.strip() for part in assignment.partition("="))
        numbers = numbers_of_range(value) if ":" in value else None
        if numbers is None:
            kept.append(assignment)
        elif name in NUMBER_OF_CLUSTERS:
            raise _impossible(spec, "the number of clusters is set by --k.")
        else:
            ranges[name] = numbers
    return with_assignments(kind.strip(), kept) if ranges else spec, ranges


def with_assignments(name: str, assignments: Iterable[str]) -> str:
    """Write a clusterer with further parameters."""
    further = ",".join(assignments)
    return name if not further else f"{name}{',' if ':' in name else ':'}{further}"


def numbers_of_range(text: str) -> tuple[float, ...] | None:
    """Read `low:high` or `low:high:n`; None where it is neither.

    Of whole numbers all, as in --k; of others ten, or n, evenly spaced.

    Examples
    --------
    >>> numbers_of_range("3:6"), numbers_of_range("0.5:2:4"), numbers_of_range("cosine")
    ((3, 4, 5, 6), (0.5, 1.0, 1.5, 2.0), None)
    """
    parts = text.split(":")
    ends = [value_of(part.strip()) for part in parts]
    if len(parts) not in (2, 3) or any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
        return None
    low, high, *count = ends
    if not -math.inf < low < high < math.inf:
        return None
    if count and not (isinstance(count[0], int) and 2 <= count[0] <= MOST_VALUES):
        return None
    if all(isinstance(end, int) for end in (low, high)) and not count:
        return tuple(range(low, high + 1)) if high - low < MOST_VALUES else None
    n = count[0] if count else VALUES
    # Rounded to digits in which neighbours differ: 0.1 + 2 · 0.1 is not 0.3.
    digits = 2 - math.floor(math.log10((high - low) / (n - 1)))
    return tuple(round(low + (high - low) * i / (n - 1), digits) for i in range(n))


def in_pipelines(clusterers: Mapping[str, Any], impute: str | None, embed: str | None) -> dict[str, Any]:
    """Put what --impute and --embed name before every clusterer, as the first steps of a pipeline."""
    if impute is None and embed is None:
        return dict(clusterers)
    from sklearn.impute import KNNImputer, SimpleImputer
    from sklearn.pipeline import make_pipeline

    from clustrep import Induced, TrainEmbedding

    steps: list[Any] = []
    if impute == "nearest":
        steps.append(KNNImputer(keep_empty_features=True))
    elif impute is not None:
        steps.append(SimpleImputer(strategy=impute, keep_empty_features=True))
    if embed is not None:
        steps.append(TrainEmbedding())
    # The last step of a pipeline must have `fit`, which a user's function has not.
    lasts = {name: each if hasattr(each, "fit") else Induced(each) for name, each in clusterers.items()}
    return {name: make_pipeline(*steps, last) for name, last in lasts.items()}


def needing_k(clusterers: Mapping[str, Any]) -> list[str]:
    """Return the names of the clusterers that have a number of clusters; where none has, say that --k is ignored.

    A configuration has a --k for all clusterers, so that only one that was typed is worth a word.
    """
    from clustrep.fitting.parameters import n_clusters_parameter

    names = [name for name, clusterer in clusterers.items() if n_clusters_parameter(clusterer)]
    source = click.get_current_context().get_parameter_source("n_clusters")
    if not names and source is ParameterSource.COMMANDLINE:
        write_warning(f"--k is ignored: no number of clusters can be set for {' or '.join(clusterers)}.")
    return names


def only_clusterer_of(ctx: click.Context, settings: dict[str, Any]) -> tuple[str, Any]:
    """Make the one clusterer of a command that takes one, by default the first; return its name, too."""
    if len(settings["clusterer"]) > 1:
        raise click.UsageError(f"{ctx.info_name} takes one --clusterer.")
    settings["clusterer"] = settings["clusterer"] or DEFAULT_CLUSTERERS[:1]
    (name,) = settings["clusterer"]
    return name, clusterer_of(name)


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
        parameter, equals, value = (part.strip() for part in assignment.partition("="))
        if not equals or not parameter:
            raise _impossible(spec, f"write parameters as name=value, got {assignment!r}.")
        if parameter not in accepted:
            others = ", ".join(other for other in accepted if other not in NUMBER_OF_CLUSTERS)
            hint = nearest(parameter, list(accepted)) or f" It has {others}."
            raise _impossible(spec, f"{kind.__name__} has no parameter {parameter!r}.{hint}")
        if parameter in NUMBER_OF_CLUSTERS:
            raise _impossible(spec, "the number of clusters is set by --k.")
        parameters[parameter] = value_of(value)
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
    if hasattr(clusterer, "_parameter_constraints"):  # which scikit-learn's own clusterers have, and few others
        try:
            clusterer._validate_params()  # now, rather than in every resample
        except ValueError as error:
            sentence = said_by(error, 1000).replace("<class '", "").replace("'>", "")
            raise _impossible(spec, f"{sentence}.") from None
    return clusterer


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
    try:
        with prints_to_stderr():
            module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # the module is the user's, and may do anything
        lacking = error.name if isinstance(error, ModuleNotFoundError) else None
        if lacking is not None and f"{module_name}.".startswith(f"{lacking}."):
            raise _impossible(spec, f"there is no module {module_name!r} to import.") from None
        raise _impossible(
            spec, f"{module_name!r} can't be imported: {type(error).__name__}: {said_by(error)}."
        ) from None
    kind = getattr(module, class_name, None)
    if kind is None:
        raise _impossible(spec, f"module {module_name!r} has no {class_name!r}.{nearest(class_name, dir(module))}")
    has_fit_predict = isinstance(kind, type) and callable(getattr(kind, "fit_predict", None))
    if not has_fit_predict or kind.__name__.endswith("Mixin"):
        raise _impossible(spec, f"{name} is not a clusterer: it has no fit_predict.")
    return kind, {}
