"""Algorithms × numbers of clusters: the comparison and the choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clustrep.agreement.agreements import AgreementSpec
from clustrep.agreement.contingency import Noise
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.replicability import check_several, run_comparison, score_plan
from clustrep.checks import check_n_clusters
from clustrep.data.studies import Studies, StudiesLike, as_studies
from clustrep.errors import ParameterError
from clustrep.execution.checkpoints import checkpointing
from clustrep.execution.seeds import Rng
from clustrep.fitting.fingerprint import manifest_of
from clustrep.fitting.parameters import (
    Clusterer,
    Configuration,
    check_clusterer,
    configurations_of,
    n_clusters_parameter,
    name_of,
    series_of,
    takes_missing,
    values_by_clusterer,
)
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Resampling, resampling_for


def compare(
    clusterers: Clusterer | Sequence[Clusterer] | Mapping[str, Clusterer],
    studies: StudiesLike,
    *,
    n_clusters: Any = None,
    param_grid: Mapping[str, Any] | None = None,
    agreement: AgreementSpec | tuple[AgreementSpec, ...] = ("ari", "ami"),
    n_resamples: int = 100,
    diagonal: bool = True,
    noise: Noise = "label",
    resampling: Resampling | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
    n_landmarks: int | None = None,
) -> Comparison:
    """Compare clusterers and numbers of clusters by how well they replicate, on the same draws.

    The score of a configuration (a clusterer with a number of clusters) is the mean over ordered pairs of different
    studies of the mean of R̂⁽ᵇ⁾ over resamples. All configurations see the same draws, so differences between them are
    compared resample by resample.

    Parameters
    ----------
    clusterers : clusterer, sequence of clusterers, or mapping of name to clusterer
        Those without a name are named after their class. Pipelines as in `replicability`.
    studies : Studies, mapping of name to table, or sequence of tables
        At least two, each of shape (n_samples, n_features).
    n_clusters : int or several, default=None
        Numbers of clusters to try, from 2, set through whichever parameter a clusterer has for it. A clusterer that
        finds its number by itself runs once. By default each runs with its own parameters.
    param_grid : mapping, default=None
        Values of another parameter to try: ``{"resolution": [0.1, 0.5, 1.0]}`` for all clusterers that have it, or by
        clusterer, ``{"leiden": {"resolution": [...]}, "dbscan": {"eps": [...]}}``. Every value is a configuration of
        its own, named after it ("leiden, resolution = 0.5"); how many clusters it found is shown beside it.
    agreement, n_resamples, diagonal, noise, resampling, rng, n_jobs
        As in `replicability`.
    n_landmarks : int, default=None
        As in `replicability`: fit to this number of landmarks of each larger study.

    Returns
    -------
    Comparison
        `compare(...).replicability(name, k)` is `replicability(clusterer with k, ...)`, bit for bit.

    See Also
    --------
    replicability : one configuration.
    null_reference : the same scores on data without clusters.
    analyse : compares, chooses and follows the clusters of the choice into every study.

    Notes
    -----
    The highest score need not be the right number of clusters: few clusters are often cut the same way in all studies,
    whether they are real or not. Read the comparison beside `null_reference`.

    References
    ----------
    .. [1] Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
       cluster analysis. Statistical Science 38(2), 303-316.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.datasets import simulate_cohorts
    >>> studies = simulate_cohorts(n_cohorts=2, missing={}, shifted={}, rng=1)
    >>> choice = compare(KMeans(n_init=3), studies, n_clusters=range(3, 6), n_resamples=10, rng=0)
    >>> choice.best().n_clusters
    4
    """
    configurations = configurations_to_compare(clusterers, n_clusters, param_grid)
    allow_missing = all(takes_missing(each.clusterer) for each in configurations)
    checked = check_several(as_studies(studies, allow_missing=allow_missing))
    check_enough_samples(configurations, checked)
    source = Source.of(resampling_for(resampling, tuple(checked.values())), rng, n_landmarks)
    plan = score_plan(checked, configurations, source, n_resamples, agreement, noise, diagonal=diagonal)
    with checkpointing(lambda: manifest_of(source, tuple(checked.values()), configurations, **plan.choices), rng):
        return run_comparison(plan, n_jobs)


def configurations_to_compare(clusterers: Any, n_clusters: Any, param_grid: Any = None) -> tuple[Configuration, ...]:
    """Check clusterers, numbers of clusters and values of other parameters, and return every combination."""
    numbers = None if n_clusters is None else check_n_clusters(n_clusters)
    named = _named(clusterers)
    for clusterer in named.values():
        check_clusterer(clusterer)
    values = values_by_clusterer(param_grid, named)
    configurations: list[Configuration] = []
    for name, clusterer in named.items():
        if name in values:
            configurations += series_of(name, clusterer, *values[name])
            continue
        has_number = n_clusters_parameter(clusterer) is not None
        configurations += configurations_of(name, clusterer, numbers if has_number else None)
    return tuple(configurations)


def check_enough_samples(configurations: Sequence[Configuration], studies: Studies) -> None:
    """Refuse more clusters than a study has samples: every resample of it would fail."""
    largest = max((each.n_clusters or 0 for each in configurations), default=0)
    smallest = min(studies.values(), key=len)
    if largest > len(smallest):
        raise ParameterError(
            f"n_clusters must be at most the number of samples of every study, got {largest:,}: {smallest.name} has "
            f"{len(smallest):,} samples.",
            parameter="n_clusters",
        )


def _named(clusterers: Any) -> Mapping[str, Clusterer]:
    if isinstance(clusterers, Mapping):
        named = dict(clusterers)
    else:
        # A pipeline is a sequence of steps, and one clusterer.
        several = isinstance(clusterers, Sequence) and not hasattr(clusterers, "fit_predict")
        several = several and not isinstance(clusterers, str)
        clusterers = list(clusterers) if several else [clusterers]
        names = [name_of(clusterer) for clusterer in clusterers]
        if len(set(names)) < len(names):
            raise ParameterError(
                f"clusterers of the same class need names: pass a mapping such as {{'first': {names[0]}(...), ...}}.",
                parameter="clusterers",
            )
        named = dict(zip(names, clusterers, strict=True))
    if not named:
        raise ParameterError("clusterers is empty: pass at least one.", parameter="clusterers")
    for name in named:
        if not isinstance(name, str) or not name:
            raise ParameterError(
                f"The name of a clusterer must be a text that is not empty, got {name!r}.", parameter="clusterers"
            )
    return named
