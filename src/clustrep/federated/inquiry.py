"""The question that all sites answer: everything that must be the same in every file, in plain types.

Files come from elsewhere, so a clusterer is never imported by a name that stands in a file: it is one of `KINDS`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    OPTICS,
    AffinityPropagation,
    AgglomerativeClustering,
    Birch,
    BisectingKMeans,
    KMeans,
    MeanShift,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestCentroid
from sklearn.tree import DecisionTreeClassifier

from clustrep.cached import cached_property
from clustrep.checks import is_whole
from clustrep.data.values import SCALES_OF_ONE
from clustrep.errors import ClustrepError, DataError, ParameterError
from clustrep.fitting.parameters import Configuration, Induced, describe
from clustrep.null.models import NULLS
from clustrep.resampling.strategies import Bootstrap, Combination, Jitter, Rerun, Resampling, Subsample
from clustrep.text import cut, listing

KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        KMeans,
        MiniBatchKMeans,
        BisectingKMeans,
        GaussianMixture,
        Birch,
        AgglomerativeClustering,
        SpectralClustering,
        AffinityPropagation,
        MeanShift,
        DBSCAN,
        HDBSCAN,
        OPTICS,
        Induced,
        NearestCentroid,
        LinearDiscriminantAnalysis,
        DecisionTreeClassifier,
    )
}
RESAMPLINGS: dict[str, type] = {kind.__name__: kind for kind in (Bootstrap, Subsample, Jitter, Rerun)}
PRECISIONS = ("float64", "float32")
# More than anyone computes, and few enough to be harmless in a file from elsewhere.
MOST_REPLICATES = 1_000_000
MOST_CLUSTERS = 10_000
DEPTH = 4  # of an estimator within an estimator
# Parameters that name a folder: scikit-learn would write samples there, and read pickles.
OF_FOLDERS = ("memory",)


# ---------------------------------------------------------------------------------------------------------------------
# clusterers and resamplings as plain types


def written_estimator(estimator: Any, parameter: str = "clusterers") -> dict[str, Any]:
    """Write an estimator as its kind and the parameters that differ from their defaults.

    Examples
    --------
    >>> written_estimator(KMeans(3, n_init=10))
    {'kind': 'KMeans', 'parameters': {'n_clusters': 3, 'n_init': 10}}
    """
    kind = type(estimator)
    if KINDS.get(kind.__name__) is not kind:
        raise ParameterError(
            f"{parameter} must be of a kind that a file can name, got {describe(estimator)}: {listing(KINDS, 20)}.",
            parameter=parameter,
        )
    defaults = {name: argument.default for name, argument in inspect.signature(kind).parameters.items()}
    values = estimator.get_params(deep=False)
    changed = {name: value for name, value in sorted(values.items()) if not _is(value, defaults[name])}
    for name in OF_FOLDERS:
        if name in changed:
            raise ParameterError(
                f"{kind.__name__}({name}=…) must be None, got {cut(describe(changed[name]))}: other sites have other "
                "folders.",
                parameter=parameter,
            )
    return {
        "kind": kind.__name__,
        "parameters": {name: _written_value(value, f"{kind.__name__}({name}=…)") for name, value in changed.items()},
    }


def _is(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))


def _written_value(value: Any, where: str) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if type(value).__name__ in KINDS:
        return written_estimator(value)
    raise ParameterError(
        f"{where} must be a number, a text, True, False or None, got {cut(describe(value))}: tables and functions are "
        "not written into files, because they may hold samples.",
        parameter="clusterers",
    )


def estimator_of(written: Any, depth: int = DEPTH) -> Any:
    """Make an estimator of what `written_estimator` returned; if it is something else, the error may be of any kind."""
    kind = KINDS[written["kind"]]
    if set(OF_FOLDERS) & set(written["parameters"]):
        raise ValueError
    parameters = {
        str(name): estimator_of(value, depth - 1) if isinstance(value, dict) and depth else _plain(value)
        for name, value in written["parameters"].items()
    }
    return kind(**parameters)


def _plain(value: Any) -> Any:
    if value is not None and not isinstance(value, bool | int | float | str):
        raise TypeError
    return value


def written_resampling(resampling: Resampling) -> list[dict[str, Any]]:
    """Write a resampling as its steps.

    Examples
    --------
    >>> written_resampling(Subsample(0.8) + Jitter(0.1))  # doctest: +ELLIPSIS
    [{'kind': 'Subsample', 'fraction': 0.8, 'groups': None}, {'kind': 'Jitter', 'scale': 0.1, 'relative': True}]
    """
    steps = resampling.steps if isinstance(resampling, Combination) else (resampling,)
    for step in steps:
        if RESAMPLINGS.get(type(step).__name__) is not type(step):
            raise ParameterError(
                f"resampling must be one that a file can name, got {describe(resampling)}: {listing(RESAMPLINGS)}, or "
                "a sum of these.",
                parameter="resampling",
            )
    return [{"kind": type(step).__name__, **{f.name: getattr(step, f.name) for f in fields(step)}} for step in steps]  # type: ignore[arg-type]


def resampling_of(written: Any) -> Resampling:
    """Make a resampling of what `written_resampling` returned."""
    steps = [
        RESAMPLINGS[step["kind"]](**{name: _plain(value) for name, value in step.items() if name != "kind"})
        for step in written
    ]
    return steps[0] if len(steps) == 1 else Combination(tuple(steps))


# ---------------------------------------------------------------------------------------------------------------------
# the question


@dataclass(frozen=True)
class Inquiry:
    """What all sites must have in common for their scores to be comparable.

    Attributes
    ----------
    seed, n_resamples, resampling, accelerate
        Where replicates come from; with a study's name and a replicate's number, these are its draw.
    clusterers : tuple of (name, written estimator)
        One for every configuration.
    features, units, scale, precision
        The columns in their order, the units that were declared, how each site scales its own samples, and whether the
        numbers are in double or single precision.
    null, n_null
        Models of data without clusters, and how many collections of each.
    """

    seed: int
    n_resamples: int
    resampling: Sequence[Mapping[str, Any]]
    accelerate: bool
    clusterers: tuple[tuple[str, Mapping[str, Any]], ...]
    features: tuple[str, ...]
    units: Mapping[str, str]
    scale: str
    precision: str
    null: tuple[str, ...] = ()
    n_null: int = 0

    @property
    def n_replicates(self) -> int:
        """How many replicates there are: the study as it is, and its resamples."""
        return 1 + self.n_resamples

    @cached_property
    def configurations(self) -> tuple[Configuration, ...]:
        """The clusterers, ready to be fitted."""
        return tuple(Configuration(name, estimator_of(written)) for name, written in self.clusterers)

    def to_fields(self) -> dict[str, Any]:
        """Return the question in plain types, for a file."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return plain

    @cached_property
    def fingerprint(self) -> str:
        """A text that no other question has."""
        return hashlib.sha256(json.dumps(self.to_fields(), sort_keys=True).encode()).hexdigest()[:16]

    @classmethod
    def from_fields(cls, plain: Any) -> Inquiry:
        """Read what `to_fields` returned, from a file that may hold anything."""
        try:
            return cls._from_fields(plain)
        except ClustrepError:
            raise
        except Exception:  # of any kind, where the fields are not what they should be
            raise DataError("it does not state its question as this clustrep does: ask for a new file") from None

    @classmethod
    def _from_fields(cls, plain: Mapping[str, Any]) -> Inquiry:
        values = {
            **plain,
            "clusterers": tuple((str(name), dict(written)) for name, written in plain["clusterers"]),
            "features": tuple(map(str, plain["features"])),
            "units": {str(feature): str(unit) for feature, unit in plain["units"].items()},
            "null": tuple(map(str, plain["null"])),
        }
        inquiry = cls(**values)
        counts = (inquiry.seed, inquiry.n_resamples, inquiry.n_null)
        sensible = (
            all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts)
            and 1 <= inquiry.n_resamples <= MOST_REPLICATES
            and inquiry.n_null <= MOST_REPLICATES
            and isinstance(inquiry.accelerate, bool)
            and inquiry.scale in SCALES_OF_ONE
            and inquiry.precision in PRECISIONS
            and all(model in NULLS for model in inquiry.null)
            and 0 < len(inquiry.features) == len(set(inquiry.features))
            and len(inquiry.configurations) > 0
            and all(_is_possible(configuration.n_clusters) for configuration in inquiry.configurations)
            and len(inquiry.resampling) > 0
        )
        if not sensible:
            raise ValueError
        resampling_of(inquiry.resampling)  # raises where that names none
        return inquiry

    def differences(self, other: Inquiry) -> list[str]:
        """Say in which respects another question differs, each with both values."""
        told = {
            "seed": (self.seed, other.seed),
            "number of resamples": (self.n_resamples, other.n_resamples),
            "resampling": (_steps(self), _steps(other)),
            "clusterers": (_clusterers(self), _clusterers(other)),
            "shortcuts": (self.accelerate, other.accelerate),
            "scaling": (self.scale, other.scale),
            "precision": (self.precision, other.precision),
            "data without clusters": (_null(self), _null(other)),
        }
        differing = [f"{what} {here} and {there}" for what, (here, there) in told.items() if here != there]
        return [*differing, *_feature_differences(self, other)]


def _is_possible(n_clusters: object) -> bool:
    return n_clusters is None or (is_whole(n_clusters, at_least=1) and n_clusters <= MOST_CLUSTERS)  # type: ignore[operator]


def _steps(inquiry: Inquiry) -> str:
    return describe(resampling_of(inquiry.resampling))


def _clusterers(inquiry: Inquiry) -> str:
    return listing([f"{name}: {describe_written(written)}" for name, written in inquiry.clusterers], 10)


def describe_written(written: Mapping[str, Any]) -> str:
    """Write an estimator as a call, from its plain types.

    Examples
    --------
    >>> describe_written({"kind": "KMeans", "parameters": {"n_clusters": 3}})
    'KMeans(n_clusters=3)'
    """
    values = {
        name: describe_written(value) if isinstance(value, Mapping) else repr(value)
        for name, value in written["parameters"].items()
    }
    return f"{written['kind']}({', '.join(f'{name}={value}' for name, value in values.items())})"


def _null(inquiry: Inquiry) -> str:
    return f"{inquiry.n_null} of {', '.join(inquiry.null)}" if inquiry.null else "none"


def _feature_differences(here: Inquiry, there: Inquiry) -> list[str]:
    differences = []
    lacking = [name for name in there.features if name not in set(here.features)]
    further = [name for name in here.features if name not in set(there.features)]
    if lacking or further:
        differences.append(
            f"features (only the first has {listing(further) or 'none'}; only the second {listing(lacking) or 'none'})"
        )
    elif here.features != there.features:
        differences.append("the order of features (select them by the same list at every site)")
    for feature in dict.fromkeys([*here.units, *there.units]):
        units = here.units.get(feature, "not declared"), there.units.get(feature, "not declared")
        if units[0] != units[1]:
            differences.append(f"the unit of {feature!r}, {units[0]} and {units[1]}")
    return differences
