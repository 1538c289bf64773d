"""Records of a run: its clusterers, its studies and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from clustrep.clustering.parameters import KnownLabels, describe, n_clusters_parameter, name_of
from clustrep.clustering.sample import Configuration, Source
from clustrep.provenance import ClustererRecord, Provenance, StudyRecord, installed_versions
from clustrep.studies.study import Study


def provenance_of_run(
    source: Source, studies: Sequence[Study], configurations: Sequence[Configuration], **parameters: Any
) -> Provenance:
    """Record a run that clusters: where its replicates came from, its studies, clusterers and further parameters."""
    return provenance_of_data(
        source.root,
        studies,
        configurations,
        resampling=describe(source.resampling),
        accelerate=source.accelerate,
        **parameters,
    )


def provenance_of_data(
    root: int,
    studies: Sequence[Study],
    configurations: Sequence[Configuration] = (),
    *,
    resampling: str | None = None,
    accelerate: bool | None = None,
    **parameters: Any,
) -> Provenance:
    """Record a run with the seed `root` on these studies."""
    return Provenance(
        seed=root,
        resampling=resampling,
        accelerate=accelerate,
        parameters={name: _plain(value) for name, value in parameters.items()},
        clusterers=tuple(record_of(configuration) for configuration in configurations),
        studies={study.name: StudyRecord(len(study), len(study.features), study.scale) for study in studies},
        versions=installed_versions(),
    )


def record_of(configuration: Configuration) -> ClustererRecord:
    """Record a clusterer with its parameters.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> record = record_of(Configuration("k-means", KMeans(3, n_init=5)))
    >>> record.kind, record.n_clusters, record.parameters["n_init"]
    ('KMeans', 3, '5')
    """
    clusterer = configuration.clusterer
    known = isinstance(clusterer, KnownLabels)
    return ClustererRecord(
        name=configuration.name,
        kind=_kind_of(clusterer),
        parameters={name: describe(value) for name, value in _parameters_of(clusterer).items()},
        n_clusters=configuration.n_clusters,
        n_clusters_parameter=None if known else n_clusters_parameter(clusterer),
        description=describe(clusterer),
    )


def _kind_of(clusterer: Any) -> str:
    if isinstance(clusterer, KnownLabels):
        return describe(clusterer)
    if hasattr(clusterer, "function") and hasattr(clusterer, "arguments"):
        return _kind_of(clusterer.function)
    if isinstance(clusterer, partial):
        return _kind_of(clusterer.func)
    return name_of(clusterer)


def _parameters_of(clusterer: Any) -> Mapping[str, Any]:
    """Return the parameters of an estimator, or the arguments that a function was given; none where it has neither."""
    if hasattr(clusterer, "get_params"):
        return dict(clusterer.get_params(deep=True))
    if hasattr(clusterer, "function") and hasattr(clusterer, "arguments"):
        return {**_parameters_of(clusterer.function), **clusterer.arguments}
    if isinstance(clusterer, partial):
        return {**_parameters_of(clusterer.func), **clusterer.keywords}
    return {}


def _plain(value: Any) -> Any:
    """Write a parameter as JSON would have it, so that it is the same before and after a file."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
