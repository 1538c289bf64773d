"""All indices of one study side by side, from shared fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustrep.checks import check_choice, check_integer
from clustrep.clustering.neighbours import neighbours
from clustrep.clustering.parameters import Clusterer
from clustrep.engine.replicates import Rng
from clustrep.errors import ParameterError
from clustrep.failures import Failures
from clustrep.resampling import Bootstrap, Perturbation, Rerun
from clustrep.results.base import Failing
from clustrep.results.cluster_stability import Stability
from clustrep.results.curves import Curve, PredictionStrength
from clustrep.results.validation import ALL, INDICES, Validation
from clustrep.tables.contingency import Partition
from clustrep.within.cluster_test import cluster_test
from clustrep.within.consensus import assignments_of, consensus_of, instability_of
from clustrep.within.in_group import judged_rows, proportions_of
from clustrep.within.prediction import N_SPLITS, relative_validation_of, split_in_two, strength_of
from clustrep.within.question import Noise, Question, check_noise
from clustrep.within.reclustering import Relabelled, pair, recluster, references_of
from clustrep.within.stability import DEFAULTS, stability_of

TAILS = (0.025, 0.975)
# Indices that read the labels of the same resamples.
FROM_SUBSAMPLES = ("matching", "pac", "consensus", "assignment")

FROM_SPLITS = ("prediction_strength", "relative_validation")

WITHOUT_REFERENCE = (*FROM_SPLITS, "instability", "test")

FROM_LABELS = (*WITHOUT_REFERENCE, "in_group")

RESAMPLED_BY = {
    **{index: repr(perturbation) for index, perturbation in DEFAULTS.items()},
    **dict.fromkeys(("pac", "consensus", "assignment"), repr(DEFAULTS["matching"])),
    **dict.fromkeys(FROM_SPLITS, "half-splits"),
    "instability": "pairs of Bootstrap()",
    "in_group": "none",
    "test": "data from the null",
}


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    index: str
    k: int | None
    cluster: str
    size: int
    value: float
    sd: float = np.nan
    low: float = np.nan
    high: float = np.nan
    whole: bool = False


def validate(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    indices: str | Sequence[str] | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 100,
    n_splits: int = N_SPLITS,
    noise: Noise = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
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
        Existing clusters as the reference partition, in the place of the clusterer's own. Prediction strength,
        instability, relative validation and PAC have no reference: they judge the clusterer. With `clusterer=None`
        the labels alone are judged, by the indices that need no clusterer.
    n_resamples, n_splits : int
        Number of perturbed copies of each kind, and of half-splits.
    noise : {"label", "drop"}
        As in the single functions.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    Validation

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
    alone = clusterer is None  # labels stand in for a clusterer where they can
    question = Question.of(clusterer, X, n_clusters, labels, rng, n_jobs, labels_suffice=alone)
    if alone:
        wanted = _from_labels(wanted, indices)
    check_noise(noise)
    check_integer(n_resamples, "n_resamples")
    check_integer(n_splits, "n_splits")
    results: list[Failing] = []
    rows = _rows(question, wanted, n_resamples, n_splits, noise, results)
    failures = Failures.merge([result.failures for result in results])
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
            resampling={index: RESAMPLED_BY[index] for index in wanted},
        ),
    )


def _rows(
    question: Question,
    wanted: Sequence[str],
    n_resamples: int,
    n_splits: int,
    noise: Noise,
    results: list[Failing],
) -> list[Row]:
    """Compute all rows, and collect the results that they come from."""
    references: list[Partition] = []
    if any(index not in WITHOUT_REFERENCE for index in wanted):
        references = references_of(question)
    rows: list[Row] = []

    def again(perturbation: Perturbation, description: str) -> list[Relabelled]:
        return recluster(question, perturbation, n_resamples, description, references=references)

    if any(index in wanted for index in FROM_SUBSAMPLES):
        perturbation = DEFAULTS["matching"]
        relabelled = again(perturbation, "subsamples")
        if "matching" in wanted:
            rows += _stability_rows(question, relabelled, perturbation, "matching", noise, results)
        if "pac" in wanted or "consensus" in wanted:
            rows += _consensus_rows(question, relabelled, perturbation, wanted, noise, results)
        if "assignment" in wanted:
            rows += _assignment_rows(question, relabelled, perturbation, noise, results)
    for some in (("inclusion",), ("jaccard",), ("r", "d")):
        if any(index in wanted for index in some):
            perturbation = DEFAULTS[some[0]]
            relabelled = again(perturbation, ", ".join(some))
            for index in some:
                if index in wanted:
                    rows += _stability_rows(question, relabelled, perturbation, index, noise, results)
    if any(index in wanted for index in FROM_SPLITS):
        relabelled = split_in_two(question, Rerun(), n_splits, "half-splits")
        n = len(question.study)
        if "prediction_strength" in wanted:
            strengths = strength_of(question, relabelled, noise=noise, perturbation=Rerun())
            results.append(strengths)
            rows += [*_ordered_cluster_rows(strengths), *_curve_rows("prediction_strength", strengths, n)]
        if "relative_validation" in wanted:
            relative = relative_validation_of(question, relabelled, noise=noise, perturbation=Rerun())
            results.append(relative)
            rows += _curve_rows("relative_validation", relative, n)
    if "instability" in wanted:
        relabelled = recluster(question, Bootstrap(), n_resamples, "instability", split=pair, needs_reference=False)
        instability = instability_of(question, relabelled, noise=noise, perturbation=Bootstrap())
        results.append(instability)
        rows += _curve_rows("instability", instability, len(question.study))
    if "in_group" in wanted:
        rows += _in_group_rows(question, references, noise)
    if "test" in wanted:
        test = cluster_test(question.study, rng=question.root, n_jobs=question.n_jobs)
        rows.append(_whole("test", None, len(question.study), test.pvalue))
    order = list(INDICES)
    return sorted(rows, key=lambda row: (order.index(row.index), row.k or 0))


def _stability_rows(
    question: Question,
    relabelled: Sequence[Relabelled],
    perturbation: Perturbation,
    index: str,
    noise: Noise,
    results: list[Failing],
) -> list[Row]:
    rows = []
    for one in relabelled:
        result = stability_of(question, one, perturbation, index, relative=True, noise=noise)
        results.append(result)
        if index != "matching":
            low, high = result.confidence_interval()
            summary = zip(result.clusters, result.sizes, result.mean, result.sd, low, high, strict=True)
            rows += [Row(index, one.n_clusters, str(name), *numbers) for name, *numbers in summary]
        rows.append(_overall_row(index, one.n_clusters, result))
    return rows


def _overall_row(index: str, k: int | None, result: Stability) -> Row:
    values = result.overall_distribution[~np.isnan(result.overall_distribution)]
    sd = float(values.std(ddof=1)) if len(values) > 1 else np.nan
    low, high = np.quantile(values, TAILS) if len(values) else (np.nan, np.nan)
    return _whole(index, k, len(result.labels), result.overall, sd, low, high)


def _ordered_cluster_rows(strengths: PredictionStrength) -> list[Row]:
    """Rank the test clusters of every split from the weakest on: ranks, unlike clusters, can be averaged."""
    rows = []
    for i, (k, values) in enumerate(strengths.per_cluster.items()):
        own_sizes = strengths.cluster_sizes[:, :, i, : values.shape[2]]
        order = np.lexsort((own_sizes, values), axis=2)  # NaN, clusters of one, come last
        ranked = np.take_along_axis(values, order, axis=2).reshape(-1, values.shape[2])
        sizes = np.take_along_axis(own_sizes, order, axis=2).reshape(ranked.shape)
        for rank in range(values.shape[2]):
            there = ~np.isnan(ranked[:, rank])
            known = ranked[there, rank]
            if len(known):
                sd = float(known.std(ddof=1)) if len(known) > 1 else np.nan
                size = round(float(sizes[there, rank].mean()))
                low, high = np.quantile(known, TAILS)
                rows.append(Row("prediction_strength", k, f"#{rank + 1}", size, float(known.mean()), sd, low, high))
    return rows


def _curve_rows(index: str, curve: Curve, n: int) -> list[Row]:
    low, high = curve.confidence_interval()
    summary = zip(curve.n_clusters, curve.mean, curve.sd, low, high, strict=True)
    return [_whole(index, k, n, *numbers) for k, *numbers in summary]


def _consensus_rows(
    question: Question,
    relabelled: Sequence[Relabelled],
    perturbation: Perturbation,
    wanted: Sequence[str],
    noise: Noise,
    results: list[Failing],
) -> list[Row]:
    result = consensus_of(question, relabelled, perturbation, noise=noise)
    results.append(result)
    rows = []
    for i, (k, pac) in enumerate(zip(result.n_clusters, result.pac(), strict=True)):
        n = len(result.samples)
        sizes = np.bincount(result.labels[i], minlength=result.n_labels[i])
        followed = result.followed(i)
        if "pac" in wanted:
            rows.append(_whole("pac", k, n, pac))
        if "consensus" in wanted:
            own = result.cluster_consensus[i]
            rows += [Row("consensus", k, str(result.clusters[i, c]), sizes[c], own[c]) for c in followed]
            known = [c for c in followed if not np.isnan(own[c])]
            average = float(own[known] @ sizes[known] / sizes[known].sum()) if known else np.nan
            rows.append(_whole("consensus", k, n, average))
    return rows


def _assignment_rows(
    question: Question,
    relabelled: Sequence[Relabelled],
    perturbation: Perturbation,
    noise: Noise,
    results: list[Failing],
) -> list[Row]:
    result = assignments_of(question, relabelled, perturbation, noise)
    results.append(result)
    rows = []
    for i, k in enumerate(result.n_clusters):
        names, sizes, cri = result.clusters[i], result.sizes[i], result.cri[i]
        rows += [Row("assignment", k, str(names[c]), sizes[c], cri[c]) for c in result.followed(i)]
        rows.append(_whole("assignment", k, len(result.samples), result.twcri[i]))
    return rows


def _in_group_rows(question: Question, references: Sequence[Partition], noise: Noise) -> list[Row]:
    rows = []
    for configuration, partition in zip(question.configurations, references, strict=True):
        judged = judged_rows(partition, noise)
        if len(judged) < 2:
            continue
        reference = Partition(partition.codes[judged], partition.classes)
        nearest = neighbours(question.study.X[judged], 1)
        sizes = np.bincount(reference.codes, minlength=reference.n_labels)
        (values,) = proportions_of(reference, nearest, [1])
        k, there = configuration.n_clusters, sizes > 0
        summary = zip(reference.classes[there], sizes[there], values[there], strict=True)
        rows += [Row("in_group", k, str(name), size, value) for name, size, value in summary]
        rows.append(_whole("in_group", k, len(reference.codes), float(values[there] @ sizes[there] / sizes.sum())))
    return rows


def _whole(
    index: str,
    k: int | None,
    size: int,
    value: float,
    sd: float = np.nan,
    low: float = np.nan,
    high: float = np.nan,
) -> Row:
    """Make the row of a whole partition."""
    return Row(index, k, ALL, size, value, sd, low, high, whole=True)


def _from_labels(wanted: Sequence[str], indices: Any) -> tuple[str, ...]:
    """Keep what labels alone can answer; an index that was asked for and can't be is an error."""
    able = tuple(index for index in wanted if index in FROM_LABELS)
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
