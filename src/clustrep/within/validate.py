"""All indices of one study side by side, from shared fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustrep.checks import check_choice, check_integer
from clustrep.clustering.parameters import Clusterer
from clustrep.engine.engines import EngineLike
from clustrep.engine.replicates import Rng
from clustrep.engine.run import on_engine
from clustrep.errors import ParameterError
from clustrep.failures import Failures
from clustrep.resampling import Rerun
from clustrep.results.validation import Validation
from clustrep.tables.index_records import INDICES
from clustrep.tables.noise import NoiseWithin, check_noise_within
from clustrep.within.indices import Row, SharedFits, compute_rows, resampled_by
from clustrep.within.prediction import N_SPLITS
from clustrep.within.question import Question


@on_engine
def validate(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    indices: str | Sequence[str] | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 100,
    n_splits: int = N_SPLITS,
    noise: NoiseWithin = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> Validation:
    """Compute every index side by side, over k, per cluster and overall, from shared fits.

    Each value is the one that its own function gives with the same seed and its default perturbation: `stability` for
    the first five, `prediction_strength` (its clusters, which differ from split to split, ranked from the weakest, #1),
    `in_group_proportion`, `bootstrap_instability`, `relative_validation`, `consensus` ("pac" and "consensus"),
    `assignment_consistency`, `cluster_test`.

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
    X : Study or table
        Samples by features.
    n_clusters : int or several, optional
        Numbers of clusters, from 2. By default the clusterer's own.
    indices : str or several, optional
        "matching", "inclusion", "jaccard", "r", "d", "prediction_strength", "in_group", "instability",
        "relative_validation", "pac", "consensus", "assignment", "test"; by default all. "matching" and "d" are
        relative.
    labels : array_like, optional
        Existing clusters as the reference partition, instead of the clusterer's. Prediction strength,
        instability, relative validation and PAC have no reference: they judge the clusterer. With `clusterer=None`
        the labels alone are judged, by the indices that need no clusterer.
    n_resamples, n_splits : int
        Number of perturbed copies of each kind, and of half-splits.
    noise : {"label", "drop"}
        As in the single functions.
    rng, n_jobs, engine
        As in `replicability`.

    Returns
    -------
    Validation
        `overall()`, a table of indices by k; `to_frame()`, with a row for every cluster, too.

    See Also
    --------
    stability, prediction_strength, in_group_proportion, bootstrap_instability, relative_validation, consensus,
    assignment_consistency, cluster_test : The single functions, with the formulas.
    compare : Clusterers and numbers of clusters by replicability across studies.

    Notes
    -----
    Indices disagree about the number of clusters, because they favour different ones on data without clusters:
    prediction strength few, bootstrap instability and PAC many. None but relative validation is adjusted for chance.
    Look at where several agree, at the clusters and not only at the whole, and at the test's p-value first. Direction
    and bounds of every index are in `clustrep.tables.index_records.INDICES`.

    References
    ----------
    .. [1] Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
       cluster analysis. Statistical Science 38(2), 303-316, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [8, 0], [0, 8]], 20, axis=0)
    >>> table = validate(KMeans(n_init=5), X, n_clusters=[2, 3], n_resamples=10, n_splits=10, rng=0)
    >>> table.overall().loc[3, ["jaccard", "prediction_strength", "in_group"]].tolist()
    [1.0, 1.0, 1.0]
    """
    wanted = _checked(indices)
    alone = clusterer is None  # labels are used instead of a clusterer where that is possible
    question = Question.of(clusterer, X, n_clusters, labels, rng, n_jobs, labels_suffice=alone)
    if alone:
        wanted = _from_labels(wanted, indices)
    check_noise_within(noise)
    check_integer(n_resamples, "n_resamples")
    check_integer(n_splits, "n_splits")
    shared = SharedFits(question, n_resamples, n_splits, noise)
    rows = compute_rows(shared, wanted)
    failures = Failures.merge([result.failures for result in shared.results.values()])
    failures.report("value")
    columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in Row.__dataclass_fields__}
    return Validation(
        clusterer=question.configurations[0].name,
        index=np.array(columns["index"]),
        k=np.array([-1 if k is None else k for k in columns["k"]]),
        cluster=np.array(columns["cluster"]),
        whole=np.array(columns["whole"]),
        size=np.array(columns["size"]),
        **{name: np.array(columns[name], dtype=float) for name in ("value", "sd", "low", "high")},
        failures=dict(failures),
        provenance=replace(
            question.provenance(Rerun(), n_resamples=n_resamples, n_splits=n_splits, noise=noise),
            resampling={index: resampled_by(index) for index in wanted},
        ),
    )


def _from_labels(wanted: Sequence[str], indices: Any) -> tuple[str, ...]:
    """Keep the indices that need labels alone; another one that was asked for is an error."""
    able = tuple(index for index in wanted if not INDICES[index].needs_clusterer)
    if indices is not None and len(able) < len(wanted):
        lacking = ", ".join(repr(index) for index in wanted if index not in able)
        raise ParameterError(
            f"indices {lacking} need a clusterer that finds the clusters again, also those in labels.",
            parameter="indices",
        )
    return able


def _checked(indices: Any) -> tuple[str, ...]:
    if indices is None:
        return tuple(INDICES)
    several = [indices] if isinstance(indices, str) else list(indices) if isinstance(indices, Iterable) else []
    if not several:
        raise ParameterError(
            f"indices must be one of {', '.join(INDICES)}, or several; got {indices!r}.", parameter="indices"
        )
    for index in several:
        check_choice(index, "indices", INDICES)
    return tuple(several)
