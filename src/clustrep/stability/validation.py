"""All indices of one study side by side, from shared fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import INDICES, Fits
from clustrep.agreement.contingency import encode
from clustrep.checks import check_choice, check_integer
from clustrep.errors import ParameterError
from clustrep.execution.failures import Failures
from clustrep.execution.seeds import Rng
from clustrep.fitting.parameters import Clusterer
from clustrep.resampling.strategies import Rerun
from clustrep.stability.co_assignment import assignments_of, consensus_of, instability_of
from clustrep.stability.in_group import judge
from clustrep.stability.perturbation import READERS, stability_of
from clustrep.stability.prediction import N_SPLITS, relative_validation_of, strength_of
from clustrep.stability.reclustering import KINDS, Question, Reclustered, recluster
from clustrep.stability.results import ALL, AssignmentConsistency, Consensus, Curve, OverK, Stability, Validation
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
    wanted = tuple(INDICES)
    if indices is not None:
        wanted = tuple(indices) if isinstance(indices, Iterable) and not isinstance(indices, str) else (indices,)
        for index in wanted or [()]:  # none at all is refused, too
            check_choice(index, "indices", INDICES)
    question = Question.of(clusterer, X, n_clusters, labels, rng, n_jobs, labels_suffice=clusterer is None)
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
    table = pd.concat(rows, ignore_index=True)
    table = table.assign(order=table["index"].map(list(INDICES).index)).sort_values(["order", "k"], kind="stable")
    kinds = {"index": str, "k": int, "cluster": str, "whole": bool, "size": int}
    return Validation(
        clusterer=question.configurations[0].name,
        **{name: np.array(table[name].tolist(), dtype=kinds.get(name, float)) for name in COLUMNS},
        failures=dict(failures),
        provenance=replace(
            question.provenance(Rerun(), n_resamples=n_resamples, n_splits=n_splits),
            resampling={index: _resampled_by(INDICES[index].fits) for index in wanted},
        ),
    )


def _resampled_by(fits: Fits) -> str:
    """Describe how the data behind an index were perturbed."""
    in_words = {
        Fits.HALF_SPLITS: "half-splits",
        Fits.PAIRS: "pairs of Bootstrap()",
        Fits.STUDY: "none",
        Fits.NONE: "simulated null data",
    }
    return in_words[fits] if fits in in_words else repr(KINDS[fits][0])


# ---------------------------------------------------------------------------------------------------------------------
# rows of every index, from shared fits

COLUMNS = ("index", "k", "cluster", "whole", "size", "value", "sd", "low", "high")


def _rows(index: str, k: Any, size: Any, value: Any, *spread: Any, clusters: Any = None) -> pd.DataFrame:
    """Return rows of the table; without `clusters` those of whole partitions. `spread` : sd, low and high."""
    k = [-1 if each is None else each for each in k] if isinstance(k, tuple) else -1 if k is None else k
    whole = clusters is None
    names = ALL if whole else list(map(str, clusters))
    columns = (index, k, names, whole, size, np.atleast_1d(value), *(spread or [np.nan] * 3))
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def _rows_of(
    question: Question, wanted: Sequence[str], n_resamples: int, n_splits: int
) -> tuple[list[pd.DataFrame], Failures]:
    """Compute the rows of several indices, those with the same fits one after another."""
    rows: list[pd.DataFrame] = []
    failures = Failures()
    for fits in Fits:
        of_fits = [index for index in INDICES if index in wanted and INDICES[index].fits is fits]
        if not of_fits:
            continue
        if fits is Fits.NONE:
            test = cluster_test(question.study, rng=question.root, n_jobs=question.n_jobs)
            rows.append(_rows("test", None, len(question.study), test.pvalue))
            continue
        if fits is Fits.STUDY:
            rows += _in_group_rows(question)
            continue
        again = recluster(question, fits, n_splits if fits is Fits.HALF_SPLITS else n_resamples)
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


def _stability_rows(result: Stability) -> list[pd.DataFrame]:
    """Return the rows of an index that reads contingency tables."""
    index, k = result.index, result.n_clusters
    whole = replace(result, distribution=result.overall_distribution)
    rows = [_rows(index, k, len(result.labels), *whole.columns().values())]
    if INDICES[index].per_cluster:
        rows.insert(0, _rows(index, k, result.sizes, *result.columns().values(), clusters=result.clusters))
    return rows


def _rows_over_k(index: str, result: OverK, n_samples: int) -> list[pd.DataFrame]:
    """Return a row for every k, and with them those of clusters, where the index has any."""
    if isinstance(result, Curve):
        return [_rows(index, result.n_clusters, n_samples, *result.columns().values())]
    if index == "pac":
        return [_rows(index, result.n_clusters, n_samples, result.by_k)]
    assert isinstance(result, Consensus | AssignmentConsistency)
    rows, values = [], result.cri if isinstance(result, AssignmentConsistency) else result.cluster_consensus
    for i, k in enumerate(result.n_clusters):
        n, sizes = result.n_labels[i], result.sizes[i]
        rows.append(_rows(index, k, sizes[:n], values[i, :n], clusters=result.clusters[i, :n]))
        known = np.flatnonzero(~np.isnan(values[i, :n]))
        overall = values[i, known] @ sizes[known] / sizes[known].sum() if known.size else np.nan
        if isinstance(result, AssignmentConsistency):
            overall = result.twcri[i]
        rows.append(_rows(index, k, n_samples, overall))
    return rows


def _in_group_rows(question: Question) -> list[pd.DataFrame]:
    rows = []
    for configuration, reference in zip(question.configurations, question.references, strict=True):
        judged = judge(question.study, encode([reference.labels])[0])
        k, sizes, values = configuration.n_clusters, judged.sizes, judged.proportions[0]
        rows.append(_rows("in_group", k, sizes, values, clusters=judged.partition.classes))
        rows.append(_rows("in_group", k, len(question.study), values @ sizes / sizes.sum()))
    return rows
