"""What computes every index of a single study from shared fits: the rows of `validate`.

An index that reads contingency tables needs a reader in `table_readers`; any other needs a function here, in `ROWS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np

from clustrep.clustering.neighbours import neighbours
from clustrep.remembered import cached_property
from clustrep.resampling import Perturbation
from clustrep.results.base import Failing
from clustrep.results.cluster_stability import Stability
from clustrep.results.co_assignment import Consensus
from clustrep.results.curves import Curve, PredictionStrength
from clustrep.results.validation import ALL
from clustrep.tables.contingency import Partition
from clustrep.tables.index_records import INDICES, Fits
from clustrep.tables.noise import NoiseWithin
from clustrep.types import FloatArray
from clustrep.within.cluster_test import cluster_test
from clustrep.within.consensus import assignments_of, consensus_of, instability_of
from clustrep.within.in_group import judged_rows, proportions_of
from clustrep.within.prediction import relative_validation_of, split_in_two, strength_of
from clustrep.within.question import Question
from clustrep.within.reclustering import Relabelled, pair, recluster, references_of
from clustrep.within.stability import stability_of
from clustrep.within.table_readers import PERTURBATIONS, READERS

TAILS = (0.025, 0.975)

FailingResult = TypeVar("FailingResult", bound=Failing)


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

    def once(self, name: str, compute: Callable[[], FailingResult]) -> FailingResult:
        """Return a result that several indices may share; its failures are counted once."""
        if name not in self.results:
            self.results[name] = compute()
        return self.results[name]  # type: ignore[return-value]


RowsOf: TypeAlias = Callable[[SharedFits], list[Row]]


def rows_of(index: str, shared: SharedFits) -> list[Row]:
    """Return the rows of one index, for every k, its clusters and the whole."""
    return ROWS[index](shared) if index in ROWS else _rows_of_tables(index, shared)


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
    assert index in READERS
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


def _prediction_strength(shared: SharedFits) -> list[Row]:
    relabelled, perturbation = shared.of(Fits.HALF_SPLITS)
    strengths = shared.once(
        "prediction_strength",
        lambda: strength_of(shared.question, relabelled, noise=shared.noise, perturbation=perturbation),
    )
    return [*ranked_cluster_rows(strengths), *_curve_rows("prediction_strength", strengths, shared.n_points)]


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


def _relative_validation(shared: SharedFits) -> list[Row]:
    relabelled, perturbation = shared.of(Fits.HALF_SPLITS)
    curve = shared.once(
        "relative_validation",
        lambda: relative_validation_of(shared.question, relabelled, noise=shared.noise, perturbation=perturbation),
    )
    return _curve_rows("relative_validation", curve, shared.n_points)


def _instability(shared: SharedFits) -> list[Row]:
    relabelled, perturbation = shared.of(Fits.PAIRS)
    curve = shared.once(
        "instability",
        lambda: instability_of(shared.question, relabelled, noise=shared.noise, perturbation=perturbation),
    )
    return _curve_rows("instability", curve, shared.n_points)


def _curve_rows(index: str, curve: Curve, n_points: int) -> list[Row]:
    low, high = curve.confidence_interval()
    summary = zip(curve.n_clusters, curve.mean, curve.sd, low, high, strict=True)
    return [_whole(index, k, n_points, *numbers) for k, *numbers in summary]


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
    relabelled, perturbation = shared.of(Fits.SUBSAMPLES)
    return shared.once("consensus", lambda: consensus_of(shared.question, relabelled, perturbation, noise=shared.noise))


def _assignment(shared: SharedFits) -> list[Row]:
    relabelled, perturbation = shared.of(Fits.SUBSAMPLES)
    result = shared.once("assignment", lambda: assignments_of(shared.question, relabelled, perturbation, shared.noise))
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


# Indices that are not computed from contingency tables.
ROWS: dict[str, RowsOf] = {
    "prediction_strength": _prediction_strength,
    "in_group": _in_group,
    "instability": _instability,
    "relative_validation": _relative_validation,
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
            rows += rows_of(index, shared)
        shared.release(fits)
    order = list(INDICES)
    return sorted(rows, key=lambda row: (order.index(row.index), row.k or 0))
