"""All indices of one study side by side, from shared fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import INDICES, Fits
from clustrep.agreement.contingency import NoiseWithin, Partition, check_noise_within
from clustrep.cached import cached_property
from clustrep.checks import check_choice, check_integer
from clustrep.errors import ParameterError
from clustrep.execution.engines import EngineLike
from clustrep.execution.failures import Failures
from clustrep.execution.run import on_engine
from clustrep.execution.seeds import Rng
from clustrep.fitting.neighbours import neighbours
from clustrep.fitting.parameters import Clusterer
from clustrep.resampling.strategies import Perturbation, Rerun
from clustrep.stability.co_assignment import assignments_of, consensus_of, instability_of
from clustrep.stability.curves import Consensus, Curve, PredictionStrength
from clustrep.stability.in_group import judged_rows, proportions_of
from clustrep.stability.perturbation import PERTURBATIONS, stability_of
from clustrep.stability.prediction import N_SPLITS, relative_validation_of, split_in_two, strength_of
from clustrep.stability.reclustering import Question, Relabelled, pair, recluster, references_of
from clustrep.stability.results import ALL, Stability, Validation
from clustrep.stability.significance import cluster_test
from clustrep.summaries import Failing
from clustrep.types import FloatArray


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


# ---------------------------------------------------------------------------------------------------------------------
# Rows of every index, from shared fits

TAILS = (0.025, 0.975)


@dataclass(frozen=True)
class Row:
    """One row of the table that `validate` returns."""

    index: str
    k: int | None
    cluster: str
    size: int
    value: float
    sd: float = np.nan
    low: float = np.nan
    high: float = np.nan
    whole: bool = False


@dataclass(eq=False)
class SharedFits:
    """The fits that several indices are computed from, each once, and the results with missing values among them."""

    question: Question
    n_resamples: int
    n_splits: int
    noise: NoiseWithin
    results: dict[str, Failing] = field(default_factory=dict)
    _relabelled: dict[Fits, list[Relabelled]] = field(default_factory=dict)

    @cached_property
    def references(self) -> list[Partition]:
        """The reference partition of every configuration."""
        return references_of(self.question)

    @property
    def n_points(self) -> int:
        """How many samples the study has."""
        return len(self.question.study)

    def of(self, fits: Fits) -> tuple[list[Relabelled], Perturbation]:
        """Return the labels of all configurations in all replicates, and what perturbed the study."""
        perturbation = PERTURBATIONS[fits]
        if fits not in self._relabelled:
            self._relabelled[fits] = self._relabel(fits, perturbation)
        return self._relabelled[fits], perturbation

    def _relabel(self, fits: Fits, perturbation: Perturbation) -> list[Relabelled]:
        if fits is Fits.HALF_SPLITS:
            return split_in_two(self.question, perturbation, self.n_splits, str(fits))
        if fits is Fits.PAIRS:
            return recluster(
                self.question, perturbation, self.n_resamples, str(fits), split=pair, needs_reference=False
            )
        return recluster(self.question, perturbation, self.n_resamples, str(fits), references=self.references)

    def release(self, fits: Fits) -> None:
        """Delete fits that no other index needs."""
        self._relabelled.pop(fits, None)


RowsOf: TypeAlias = Callable[[SharedFits], list[Row]]


def resampled_by(index: str) -> str:
    """Describe how the data behind an index were perturbed."""
    fits = INDICES[index].fits
    in_words = {
        Fits.HALF_SPLITS: "half-splits",
        Fits.PAIRS: "pairs of Bootstrap()",
        Fits.STUDY: "none",
        Fits.NONE: "data from the null",
    }
    return in_words[fits] if fits in in_words else repr(PERTURBATIONS[fits])


# ---------------------------------------------------------------------------------------------------------------------
# rows of each index


def _rows_of_tables(index: str, shared: SharedFits) -> list[Row]:
    """Return the rows of an index that reads contingency tables."""
    rows = []
    relabelled, perturbation = shared.of(INDICES[index].fits)
    for i, fitted in enumerate(relabelled):
        result = stability_of(shared.question, fitted, perturbation, index, relative=True, noise=shared.noise)
        shared.results[f"{index} {i}"] = result
        if INDICES[index].per_cluster:
            low, high = result.confidence_interval()
            summary = zip(result.clusters, result.sizes, result.mean, result.sd, low, high, strict=True)
            rows += [Row(index, fitted.n_clusters, str(name), *numbers) for name, *numbers in summary]
        rows.append(_overall_row(index, fitted.n_clusters, result))
    return rows


def _overall_row(index: str, k: int | None, result: Stability) -> Row:
    values = result.overall_distribution[~np.isnan(result.overall_distribution)]
    return _whole(index, k, len(result.labels), result.overall, *_spread(values))


def _rows_of_curve(index: str, shared: SharedFits) -> list[Row]:
    """Return a row for every k, and before them the clusters of prediction strength by their ranks."""
    relabelled, perturbation = shared.of(INDICES[index].fits)
    curve = CURVES[index](shared.question, relabelled, noise=shared.noise, perturbation=perturbation)
    shared.results[index] = curve
    low, high = curve.confidence_interval()
    summary = zip(curve.n_clusters, curve.mean, curve.sd, low, high, strict=True)
    rows = ranked_cluster_rows(curve) if isinstance(curve, PredictionStrength) else []
    return rows + [_whole(index, k, shared.n_points, *numbers) for k, *numbers in summary]


def ranked_cluster_rows(strengths: PredictionStrength) -> list[Row]:
    """Rank the test clusters of every split from the weakest on: ranks, unlike clusters, can be averaged."""
    rows = []
    for i, (k, values) in enumerate(strengths.per_cluster.items()):
        cluster_sizes = strengths.cluster_sizes[:, :, i, : values.shape[2]]
        order = np.lexsort((cluster_sizes, values), axis=2)  # NaN, clusters of one, come last
        ranked = np.take_along_axis(values, order, axis=2).reshape(-1, values.shape[2])
        sizes = np.take_along_axis(cluster_sizes, order, axis=2).reshape(ranked.shape)
        for rank in range(values.shape[2]):
            is_known = ~np.isnan(ranked[:, rank])
            known = ranked[is_known, rank]
            if len(known):
                size = round(float(sizes[is_known, rank].mean()))
                mean = float(known.mean())
                rows.append(Row("prediction_strength", k, f"#{rank + 1}", size, mean, *_spread(known)))
    return rows


def _pac(shared: SharedFits) -> list[Row]:
    result = _consensus_result(shared)
    n_points = len(result.samples)
    return [_whole("pac", k, n_points, pac) for k, pac in zip(result.n_clusters, result.pac(), strict=True)]


def _consensus(shared: SharedFits) -> list[Row]:
    result = _consensus_result(shared)
    rows = []
    for i, k in enumerate(result.n_clusters):
        sizes = np.bincount(result.labels[i], minlength=result.n_labels[i])
        values, clusters = result.cluster_consensus[i], result.followed(i)
        rows += [Row("consensus", k, str(result.clusters[i, c]), sizes[c], values[c]) for c in clusters]
        known = [c for c in clusters if not np.isnan(values[c])]
        average = float(values[known] @ sizes[known] / sizes[known].sum()) if known else np.nan
        rows.append(_whole("consensus", k, len(result.samples), average))
    return rows


def _consensus_result(shared: SharedFits) -> Consensus:
    known = shared.results.get("consensus")
    if not isinstance(known, Consensus):
        relabelled, perturbation = shared.of(Fits.SUBSAMPLES)
        known = consensus_of(shared.question, relabelled, perturbation, noise=shared.noise)
        shared.results["consensus"] = known
    return known


def _assignment(shared: SharedFits) -> list[Row]:
    relabelled, perturbation = shared.of(Fits.SUBSAMPLES)
    result = assignments_of(shared.question, relabelled, perturbation, shared.noise)
    shared.results["assignment"] = result
    rows = []
    for i, k in enumerate(result.n_clusters):
        names, sizes, cri = result.clusters[i], result.sizes[i], result.cri[i]
        rows += [Row("assignment", k, str(names[c]), sizes[c], cri[c]) for c in result.followed(i)]
        rows.append(_whole("assignment", k, len(result.samples), result.twcri[i]))
    return rows


def _in_group(shared: SharedFits) -> list[Row]:
    rows = []
    for configuration, partition in zip(shared.question.configurations, shared.references, strict=True):
        judged = judged_rows(partition, shared.noise)
        if len(judged) < 2:
            continue
        reference = Partition(partition.codes[judged], partition.classes)
        nearest = neighbours(shared.question.study.X[judged], 1)
        sizes = np.bincount(reference.codes, minlength=reference.n_labels)
        (values,) = proportions_of(reference, nearest, [1])
        k, has_points = configuration.n_clusters, sizes > 0
        summary = zip(reference.classes[has_points], sizes[has_points], values[has_points], strict=True)
        rows += [Row("in_group", k, str(name), size, value) for name, size, value in summary]
        overall = float(values[has_points] @ sizes[has_points] / sizes.sum())
        rows.append(_whole("in_group", k, len(reference.codes), overall))
    return rows


def _test(shared: SharedFits) -> list[Row]:
    question = shared.question
    test = cluster_test(question.study, rng=question.root, n_jobs=question.n_jobs)
    return [_whole("test", None, shared.n_points, test.pvalue)]


def _spread(values: FloatArray) -> tuple[float, float, float]:
    """Return the standard deviation and the 95 % interval of values; NaN where there are too few."""
    sd = float(values.std(ddof=1)) if len(values) > 1 else np.nan
    low, high = np.quantile(values, TAILS) if len(values) else (np.nan, np.nan)
    return sd, float(low), float(high)


def _whole(
    index: str,
    k: int | None,
    size: int,
    value: float,
    sd: float = np.nan,
    low: float = np.nan,
    high: float = np.nan,
) -> Row:
    """Return the row of a whole partition."""
    return Row(index, k, ALL, size, value, sd, low, high, whole=True)


CURVES: dict[str, Callable[..., Curve]] = {
    "prediction_strength": strength_of,
    "instability": instability_of,
    "relative_validation": relative_validation_of,
}
# Indices that are read neither from contingency tables nor from a curve.
ROWS: dict[str, RowsOf] = {
    "in_group": _in_group,
    "pac": _pac,
    "consensus": _consensus,
    "assignment": _assignment,
    "test": _test,
}


def compute_rows(shared: SharedFits, wanted: Sequence[str]) -> list[Row]:
    """Compute the rows of several indices, those with the same fits one after another."""
    rows: list[Row] = []
    for fits in Fits:
        for index in (name for name in INDICES if name in wanted and INDICES[name].fits is fits):
            if index in ROWS:
                rows += ROWS[index](shared)
            else:
                rows += (_rows_of_curve if index in CURVES else _rows_of_tables)(index, shared)
        shared.release(fits)
    order = list(INDICES)
    return sorted(rows, key=lambda row: (order.index(row.index), row.k or 0))
