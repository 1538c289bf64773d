"""Series: one clusterer with several values of one parameter, such as a resolution or an eps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from clustrep.checks import check_n_clusters
from clustrep.clustering.parameters import Clusterer, last_step_parameter, n_clusters_parameter, with_parameter
from clustrep.clustering.sample import Configuration, configurations_of
from clustrep.errors import ParameterError
from clustrep.text import nearest

# What `over` says of one clusterer: a parameter's name, and its values.
Values = tuple[str, tuple[float, ...]]


def values_by_clusterer(over: object, clusterers: Mapping[str, Clusterer]) -> dict[str, Values]:
    """Check `over`, and return the parameter and the values of every clusterer that it is about.

    Either by clusterer, {"leiden": {"resolution": [...]}}, or {"resolution": [...]} for all that have the parameter.
    """
    if over is None:
        return {}
    if not isinstance(over, Mapping) or not over:
        raise ParameterError(
            f"over must map a parameter to its values, such as {{'resolution': [0.1, 0.5, 1.0]}}; got {over!r}.",
            parameter="over",
        )
    result: dict[str, Values] = {}
    for key, values in over.items():
        if isinstance(values, Mapping):
            if key not in clusterers:
                raise ParameterError(
                    f"over names the clusterer {key!r}; there are {', '.join(map(repr, clusterers))}."
                    f"{nearest(key, clusterers)}",
                    parameter="over",
                )
            if len(values) != 1:
                raise ParameterError(
                    f"over must have one parameter for every clusterer, got {len(values)} for {key!r}.",
                    parameter="over",
                )
            ((parameter, of_one),) = values.items()
            having = {key: of_one}
        else:
            parameter = key
            having = dict.fromkeys((name for name in clusterers if _has(clusterers[name], key)), values)
        if not having:
            raise ParameterError(
                f"over names {key!r}, but no clusterer has such a parameter: correct the name, or leave it out.",
                parameter="over",
            )
        for name, of_one in having.items():
            if name in result:
                raise ParameterError(f"over has two parameters for {name!r}; name one.", parameter="over")
            result[name] = _checked(name, clusterers[name], parameter, of_one)
    return result


def _has(clusterer: Clusterer, parameter: object) -> bool:
    return isinstance(parameter, str) and last_step_parameter(clusterer, parameter) is not None


def _checked(name: str, clusterer: Clusterer, parameter: object, values: object) -> Values:
    full_name = last_step_parameter(clusterer, parameter) if isinstance(parameter, str) else None
    if full_name is None:
        raise ParameterError(f"over: {name!r} has no parameter {parameter!r}.", parameter="over")
    if isinstance(values, Real) and not isinstance(values, bool):
        values = [values]
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"over: values of {parameter} must be numbers, got {values!r}.", parameter="over")
    listed = list(values)
    for value in listed:
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise ParameterError(f"over: values of {parameter} must be numbers, got {value!r}.", parameter="over")
    if not listed or len(set(listed)) < len(listed):
        raise ParameterError(
            f"over: {parameter} must have at least one value, and every value once; got {listed}.", parameter="over"
        )
    return full_name, tuple(int(value) if isinstance(value, Integral) else float(value) for value in listed)


def series_of(name: str, clusterer: Clusterer, parameter: str, values: Sequence[float]) -> list[Configuration]:
    """Make a configuration for every value of a parameter.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN
    >>> [configuration.name for configuration in series_of("dbscan", DBSCAN(), "eps", [0.1, 0.25])]
    ['dbscan, eps = 0.1', 'dbscan, eps = 0.25']
    """
    if parameter == n_clusters_parameter(clusterer):
        whole = [int(value) if value == int(value) else value for value in values]
        return configurations_of(name, clusterer, check_n_clusters(whole))
    short = parameter.split("__")[-1]
    return [
        Configuration(
            f"{name}, {short} = {value_text(value)}", with_parameter(clusterer, parameter, value), name, short, value
        )
        for value in values
    ]


def value_text(value: Any) -> str:
    """Write a value with as many digits as it takes to tell it from others.

    Examples
    --------
    >>> value_text(0.1), value_text(2.0), value_text(1 / 3), value_text(15)
    ('0.1', '2', '0.3333333333333333', '15')
    """
    short = format(value, "g")
    return short if float(short) == value else repr(value)
