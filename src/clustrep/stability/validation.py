"""All indices of one study side by side, from shared fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import INDICES, Fits
from clustrep.agreement.contingency import RULES, NoiseWithin, encode
from clustrep.checks import check_choice, check_integer
from clustrep.errors import ParameterError
from clustrep.execution.failures import Failures
from clustrep.execution.seeds import Rng
from clustrep.fitting.parameters import Clusterer
from clustrep.resampling.strategies import Rerun
from clustrep.stability.co_assignment import assignments_of, consensus_of, instability_of
from clustrep.stability.curves import AssignmentConsistency, Consensus, Curve, OverK
from clustrep.stability.in_group import judge
from clustrep.stability.perturbation import PERTURBATIONS, READERS, stability_of
from clustrep.stability.prediction import N_SPLITS, relative_validation_of, strength_of
from clustrep.stability.reclustering import Question, Reclustered, drawn, halves, pair, recluster
from clustrep.stability.results import ALL, Stability, Validation
from clustrep.stability.significance import cluster_test


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
) -> Validation:
    """Compute every index side by side, over k, per cluster and overall, from shared fits.

    Each value is the one that its own function gives with the same seed and its default perturbation: `stability` for
    the first five, `prediction_strength` (whose clusters differ from split to split, and have no rows),
    `in_group_proportion`, `bootstrap_instability`, `relative_validation`, `consensus` ("pac" and "consensus"),
    `assignment_consistency`, `cluster_test`.

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels, or None
        Fitted to the study and to every resample. None with `labels`.
    X : Study or array-like of shape (n_samples, n_features)
        The study.
    n_clusters : int or several, default=None
        Numbers of clusters, from 2. None: the clusterer's own.
    indices : str or several, default=None
        "matching", "inclusion", "jaccard", "r", "d", "prediction_strength", "in_group", "instability",
        "relative_validation", "pac", "consensus", "assignment", "test"; None: all. "matching" and "d" are relative.
    labels : array-like of shape (n_samples,), or True, default=None
        Existing clusters as the reference partition, instead of the clusterer's. Prediction strength,
        instability, relative validation and PAC have no reference: they judge the clusterer. With `clusterer=None`
        the labels alone are judged, by the indices that need no clusterer.
    n_resamples, n_splits : int
        Number of resamples of each kind (default=100), and of half-splits (default=50).
    noise : {"label", "drop"}, default="label"
        As in the single functions.
    rng, n_jobs
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
    Indices disagree about the number of clusters, because they favour different ones on unimodal data:
    prediction strength few, bootstrap instability and PAC many. None but relative validation is adjusted for chance.
    Look at where several agree, at the clusters and not only at the whole, and at the test's p-value first. Direction
    and bounds of every index are in `clustrep.agreement.cluster_indices.INDICES`.

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
    question = Question.of(clusterer, X, n_clusters, labels, noise, rng, n_jobs, labels_suffice=clusterer is None)
    if clusterer is None:
        able = tuple(index for index in wanted if not INDICES[index].needs_clusterer)
        if indices is not None and len(able) < len(wanted):
            lacking = ", ".join(repr(index) for index in wanted if index not in able)
            raise ParameterError(
                f"indices {lacking} need a clusterer that finds the clusters again, also those in labels.",
                parameter="indices",
            )
        wanted = able
    check_integer(n_resamples, "n_resamples")
    check_integer(n_splits, "n_splits")
    rows, failures = _rows_of(question, wanted, n_resamples, n_splits)
    failures.report("value")
    order = list(INDICES)
    rows.sort(key=lambda row: (order.index(row.index), row.k or 0))
    kinds = {"index": str, "k": int, "cluster": str, "whole": bool, "size": int}
    columns = {name: [getattr(row, name) for row in rows] for name in (field.name for field in fields(Row))}
    columns["k"] = [-1 if k is None else k for k in columns["k"]]
    return Validation(
        clusterer=question.configurations[0].name,
        **{name: np.array(values, dtype=kinds.get(name, float)) for name, values in columns.items()},
        failures=dict(failures),
        provenance=replace(
            question.provenance(Rerun(), n_resamples=n_resamples, n_splits=n_splits),
            resampling={index: _resampled_by(INDICES[index].fits) for index in wanted},
        ),
    )


def _checked(indices: Any) -> tuple[str, ...]:
    if indices is None:
        return tuple(INDICES)
    several = list(indices) if isinstance(indices, Iterable) and not isinstance(indices, str) else [indices]
    for index in several or [()]:  # none at all is refused, too
        check_choice(index, "indices", INDICES)
    return tuple(several)


def _resampled_by(fits: Fits) -> str:
    """Describe how the data behind an index were perturbed."""
    in_words = {
        Fits.HALF_SPLITS: "half-splits",
        Fits.PAIRS: "pairs of Bootstrap()",
        Fits.STUDY: "none",
        Fits.NONE: "simulated null data",
    }
    return in_words[fits] if fits in in_words else repr(PERTURBATIONS[fits])


# ---------------------------------------------------------------------------------------------------------------------
# rows of every index, from shared fits


@dataclass(frozen=True)
class Row:
    """One row of the table that `validate` returns; by default that of a whole partition."""

    index: str
    k: int | None
    size: int
    value: float
    sd: float = np.nan
    low: float = np.nan
    high: float = np.nan
    cluster: str = ALL
    whole: bool = True


def _rows_of(question: Question, wanted: Sequence[str], n_resamples: int, n_splits: int) -> tuple[list[Row], Failures]:
    """Compute the rows of several indices, those with the same fits one after another."""
    rows: list[Row] = []
    failures = Failures()
    for fits in Fits:
        of_fits = [index for index in INDICES if index in wanted and INDICES[index].fits is fits]
        if not of_fits:
            continue
        if fits is Fits.NONE:
            test = cluster_test(question.study, rng=question.root, n_jobs=question.n_jobs)
            rows.append(Row("test", None, len(question.study), test.pvalue))
            continue
        if fits is Fits.STUDY:
            rows += _in_group_rows(question)
            continue
        n = n_splits if fits is Fits.HALF_SPLITS else n_resamples
        split = {Fits.HALF_SPLITS: halves, Fits.PAIRS: pair}.get(fits, drawn)
        again = recluster(question, PERTURBATIONS[fits], n, str(fits), split)
        made: dict[Any, OverK] = {}
        for index in of_fits:
            if index in READERS:
                each_k = [stability_of(again, c, index, relative=True) for c in range(len(again.fits))]
                failures = Failures.merge([failures, *(result.failures for result in each_k)])
                rows += [row for result in each_k for row in _stability_rows(result)]
                continue
            compute = OVER_K[index]
            if compute not in made:  # one consensus serves two indices
                made[compute] = compute(again)
                failures += made[compute].failures
            rows += _rows_over_k(index, made[compute], len(question.study))
    return rows, failures


OVER_K: dict[str, Callable[[Reclustered], OverK]] = {
    "prediction_strength": strength_of,
    "instability": instability_of,
    "relative_validation": relative_validation_of,
    "pac": consensus_of,
    "consensus": consensus_of,
    "assignment": assignments_of,
}


def _stability_rows(result: Stability) -> list[Row]:
    """Return the rows of an index that reads contingency tables."""
    index, k, rows = result.index, result.n_clusters, []
    if INDICES[index].per_cluster:
        summary = zip(result.sizes, result.mean, result.sd, *result.confidence_interval(), strict=True)
        rows = [Row(index, k, *row, str(name), False) for name, row in zip(result.clusters, summary, strict=True)]
    values = result.overall_distribution[~np.isnan(result.overall_distribution)]
    sd = values.std(ddof=1) if len(values) > 1 else np.nan
    low, high = np.quantile(values, (0.025, 0.975)) if len(values) else (np.nan, np.nan)
    return [*rows, Row(index, k, len(result.labels), result.overall, sd, low, high)]


def _rows_over_k(index: str, result: OverK, n_samples: int) -> list[Row]:
    """Return a row for every k, and with them those of clusters, where the index has any."""
    if isinstance(result, Curve):
        summary = zip(result.n_clusters, result.mean, result.sd, *result.confidence_interval(), strict=True)
        return [Row(index, k, n_samples, *values) for k, *values in summary]
    assert isinstance(result, Consensus | AssignmentConsistency)
    if index == "pac":
        return [Row(index, k, n_samples, pac) for k, pac in zip(result.n_clusters, result.by_k, strict=True)]
    rows = []
    values = result.cri if isinstance(result, AssignmentConsistency) else result.cluster_consensus
    for i, k in enumerate(result.n_clusters):
        clusters, sizes = result.followed(i), result.sizes[i]
        rows += [Row(index, k, sizes[c], values[i, c], cluster=result.clusters[i, c], whole=False) for c in clusters]
        if isinstance(result, AssignmentConsistency):
            overall = result.twcri[i]
        else:
            known = [c for c in clusters if not np.isnan(values[i, c])]
            overall = values[i, known] @ sizes[known] / sizes[known].sum() if known else np.nan
        rows.append(Row(index, k, n_samples, overall))
    return rows


def _in_group_rows(question: Question) -> list[Row]:
    rows = []
    for configuration, reference in zip(question.configurations, question.references, strict=True):
        if np.count_nonzero(RULES[question.noise].counted(reference.is_noise)) < 2:
            continue
        judged = judge(question.study, encode([reference.labels])[0], question.noise)
        k, sizes, values = configuration.n_clusters, judged.sizes, judged.proportions[0]
        summary = zip(sizes, values, judged.partition.classes, strict=True)
        rows += [Row("in_group", k, n, value, cluster=str(name), whole=False) for n, value, name in summary]
        rows.append(Row("in_group", k, len(judged.X), float(values @ sizes / sizes.sum())))
    return rows
