"""Algorithms 1 and 2: how well each study's clustering predicts the others', for all pairs in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustrep._engine import FULL_STUDY, Execution, Failed, Rng, root_entropy, run_replicates
from clustrep._learning import Configuration, Source
from clustrep._provenance import describe, provenance
from clustrep._types import BoolArray, FloatArray, IntArray
from clustrep._validation import check_choice, check_flag, check_integer, check_labels_of, listing
from clustrep.agreement import Agreement, AgreementSpec, resolve_agreements
from clustrep.contingency import Partition, separate, tables_of
from clustrep.errors import DataError, ParameterError
from clustrep.functions import Clusterer, KnownLabels, check_clusterer, name_of
from clustrep.resampling import Bootstrap, Resampling, Simulate, check_resampling
from clustrep.results import Comparison, Replicability
from clustrep.results.common import Origin, number_causes, report_failures
from clustrep.studies import Studies, StudiesLike, as_studies
from clustrep.study import Study

Noise: TypeAlias = Literal["label", "drop", "singletons"]
KnownLabelsLike: TypeAlias = Mapping[str, ArrayLike] | Literal[True]
NOISE_TREATMENTS = ("label", "drop", "singletons")
ONLY_NOISE = "fewer than two points left after dropping noise"
NO_NUMBER = "the agreement failed or is not a number"
# Beyond this many cells in the tables of one test study, occupied cells are listed instead.
DENSE_CELLS = 2**24


class Options(TypedDict, total=False):
    """What `replicability` and `local_replicability` both take."""

    n_resamples: int
    labels: KnownLabelsLike | None
    noise: Noise
    resampling: Resampling
    rng: Rng
    n_jobs: int | None
    progress: bool | None
    batch_size: int | None


@overload
def replicability(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    agreement: AgreementSpec = ...,
    diagonal: bool = ...,
    **options: Unpack[Options],
) -> Replicability: ...
@overload
def replicability(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    agreement: tuple[AgreementSpec, ...] | list[AgreementSpec],
    diagonal: bool = ...,
    **options: Unpack[Options],
) -> dict[str, Replicability]: ...
def replicability(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    agreement: AgreementSpec | tuple[AgreementSpec, ...] | list[AgreementSpec] = "ari",
    n_resamples: int = 100,
    diagonal: bool = True,
    labels: KnownLabelsLike | None = None,
    noise: Noise = "label",
    resampling: Resampling = Bootstrap(),
    rng: Rng = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    batch_size: int | None = None,
) -> Replicability | dict[str, Replicability]:
    """Measure how well the clustering learned on each study replicates on every other (Algorithms 1 and 2).

    For every ordered pair of studies (train, test), the partition of the test study by the clustering function learned
    on the training study is compared with its partition by the function learned on the test study itself; once for the
    studies as they are, R̂, and once for each of `n_resamples` bootstrap replicates of both, R̂⁽ᵇ⁾. Every function is
    learned once per replicate and serves all pairs and all agreements.

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted as a copy. A `random_state` of None is filled from the replicate's seed; a fixed one is obeyed, so that
        all replicates share it. None together with `labels`.
    studies : Studies, mapping of name to table, or sequence of tables
        At least two.
    agreement : {"ari", "ami", "ami_max", "ri", "mi"} or function of two labelings, or a tuple of these
        A tuple returns one result for each, from the same fits.
    n_resamples : int
        Number of bootstrap replicates.
    diagonal : bool
        Also score each study against itself: the function of a second, independent draw, tested on the first. A
        yardstick for the other scores, at the price of one more fit for each study and replicate.
    labels : mapping of study name to labels, or True, optional
        Known labels instead of a clusterer, with `clusterer=None`; True takes the studies' own. A point's label is then
        that of the nearest drawn sample.
    noise : {"label", "drop", "singletons"}
        Points labelled −1 form a block like any other; or are left out where either side calls them noise; or form a
        block each.
    resampling : Bootstrap, Subsample or Simulate
        Where replicates come from.
    rng : int, Generator, SeedSequence or None
        The seed. Draws depend on it, on the study's name and on the replicate's number, on nothing else.
    n_jobs, progress, batch_size
        How the work is done: workers as in joblib, a progress bar (None: on a terminal or in a notebook), replicates
        for each task. They never change a result.

    Returns
    -------
    Replicability, or a dict of them by agreement

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.datasets import simulate_cohorts
    >>> result = replicability(KMeans(4, n_init=3), simulate_cohorts(rng=1), n_resamples=5, rng=0)
    >>> result.estimate.shape, result.distribution.shape
    ((4, 4), (5, 4, 4))
    """
    checked = check_several(as_studies(studies))
    configuration = check_configuration(clusterer, labels, tuple(checked.values()), resampling)
    plan = Plan(
        source=Source(check_resampling(resampling), root_entropy(rng)),
        studies=tuple(checked.values()),
        configurations=(configuration,),
        agreements=resolve_agreements(agreement),
        diagonal=check_flag(diagonal, "diagonal"),
        noise=check_noise(noise),
    )
    scores = run_plan(plan, n_resamples, Execution(n_jobs, progress, batch_size))
    results = {name: scores.replicability(configuration.name, agreement=name) for name in scores.agreements}
    return results if isinstance(agreement, tuple | list) else next(iter(results.values()))


# ---------------------------------------------------------------------------------------------------------------------
# the run


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that a replicate's scores follow from, but for its number."""

    source: Source
    studies: tuple[Study, ...]
    configurations: tuple[Configuration, ...]
    agreements: tuple[Agreement, ...]
    diagonal: bool
    noise: Noise


class ReplicateScores(NamedTuple):
    """The scores of one replicate; axes: configuration, agreement, training study, test study."""

    scores: FloatArray  # (n_configurations, n_agreements, S, S)
    trivial: BoolArray  # (n_configurations, S, S)
    clusters_found: IntArray  # (n_configurations, S), −1 where the fit failed
    causes: NDArray[np.object_]  # (n_configurations, n_agreements, S, S) of str, empty where there is a score


def run_plan(plan: Plan, n_resamples: int, execution: Execution) -> Comparison:
    """Score the studies as they are, and `n_resamples` replicates of them."""
    check_integer(n_resamples, "n_resamples")
    replicates = run_replicates(
        partial(score_replicate, plan), range(FULL_STUDY, n_resamples + 1), execution, "replicability"
    )
    scores, trivial, clusters_found, causes = (np.stack(arrays) for arrays in zip(*replicates, strict=True))
    failed, cause_names = number_causes(np.moveaxis(causes, 0, 2))
    by_configuration = np.moveaxis(scores, 0, 2)  # (n_configurations, n_agreements, 1 + n_resamples, S, S)
    result = Comparison(
        names=tuple(study.name for study in plan.studies),
        agreements=tuple(agreement.name for agreement in plan.agreements),
        clusterers=tuple(configuration.name for configuration in plan.configurations),
        n_clusters=tuple(configuration.n_clusters for configuration in plan.configurations),
        estimate=by_configuration[:, :, 0],
        distribution=by_configuration[:, :, 1:],
        trivial=np.moveaxis(trivial[1:], 0, 1),
        clusters_found=np.moveaxis(clusters_found[1:], 0, 1),
        failed=failed,
        causes=cause_names,
        provenance=provenance(
            plan.source,
            plan.studies,
            [describe(configuration.clusterer) for configuration in plan.configurations],
            n_resamples=n_resamples,
            diagonal=plan.diagonal,
            noise=plan.noise,
        ),
        _origins=tuple(Origin(plan.source, plan.studies, configuration) for configuration in plan.configurations),
    )
    n_scores = failed.size if plan.diagonal else failed.size // len(plan.studies) * (len(plan.studies) - 1)
    no_resample_left = bool(np.isnan(result.distribution).all())
    report_failures(result.failures, n_scores, "score", no_resample_left=no_resample_left)
    return result


def score_replicate(plan: Plan, replicate: int) -> ReplicateScores:
    """Score one replicate: learn every ψ once, then compare on every test study."""
    source, studies = plan.source, plan.studies
    draws = [source.draw(study, replicate) for study in studies]  # Alg. 2, line 4
    points = [draw.points for draw in draws]
    second_draws = [source.draw(study, replicate, second=True) for study in studies] if plan.diagonal else []
    n_configurations, S = len(plan.configurations), len(studies)
    result = ReplicateScores(
        scores=np.full((n_configurations, len(plan.agreements), S, S), np.nan),
        trivial=np.zeros((n_configurations, S, S), dtype=bool),
        clusters_found=np.full((n_configurations, S), -1),
        causes=np.full((n_configurations, len(plan.agreements), S, S), "", dtype=object),
    )
    for c, configuration in enumerate(plan.configurations):
        learned = [
            source.labels(configuration, study, draw, replicate, points)  # Alg. 2, line 5
            for study, draw in zip(studies, draws, strict=True)
        ]
        again = [
            source.labels(configuration, studies[s], draw, replicate, [points[s]], second=True)
            for s, draw in enumerate(second_draws)
        ]
        for s, labelled in enumerate(learned):
            if not isinstance(labelled, Failed):
                result.clusters_found[c, s] = labelled.n_clusters
        for t in range(S):
            own = learned[t].at(t)  # Ψ(X_t; X_t)
            trained = {s: learned[s].at(t) for s in range(S) if s != t}  # Ψ(X_t; X_s)
            if plan.diagonal:
                trained[t] = again[t].at(0)
            good: dict[int, Partition] = {}
            for s, partition in trained.items():
                if isinstance(partition, Failed):
                    result.causes[c, :, s, t] = partition.cause
                elif isinstance(own, Failed):
                    result.causes[c, :, s, t] = own.cause
                else:
                    good[s] = partition
            if good and not isinstance(own, Failed):
                rows = list(good)
                compared = compare_partitions(
                    plan.agreements, list(good.values()), own, draws[t].weights, plan.noise
                )  # Alg. 2, line 8
                result.scores[c, :, rows, t] = compared.scores.T
                result.trivial[c, rows, t] = compared.trivial
                result.causes[c, :, rows, t] = compared.causes.T
    return result


class Compared(NamedTuple):
    """Many partitions compared with one."""

    scores: FloatArray  # (n_agreements, n_partitions)
    trivial: BoolArray  # (n_partitions,): either side is one block
    causes: NDArray[np.object_]  # (n_agreements, n_partitions) of str: why there is no score; empty where there is


def compare_partitions(
    agreements: Sequence[Agreement], trained: Sequence[Partition], tested: Partition, weights: IntArray, noise: Noise
) -> Compared:
    """Compare several partitions of the same weighted points with one."""
    u = np.stack([partition.codes for partition in trained])  # (n_partitions, n_points)
    v = tested.codes
    weights = np.tile(weights, (len(u), 1))
    if noise == "drop":
        weights[[partition.is_noise | tested.is_noise for partition in trained]] = 0
    enough = weights.sum(axis=1) >= 2
    scores = np.full((len(agreements), len(u)), np.nan)
    trivial = np.zeros(len(u), dtype=bool)
    k_u, k_v = max(partition.n_labels for partition in trained), tested.n_labels
    if noise == "singletons" or len(u) * k_u * k_v > DENSE_CELLS:
        for i in np.flatnonzero(enough).tolist():
            one, other = np.repeat(u[i], weights[i]), np.repeat(v, weights[i])
            if noise == "singletons":
                one = separate(one, np.repeat(trained[i].is_noise, weights[i]))
                other = separate(other, np.repeat(tested.is_noise, weights[i]))
            trivial[i] = np.ptp(one) == 0 or np.ptp(other) == 0
            scores[:, i] = [agreement.of_codes(one, other) for agreement in agreements]
    elif enough.any():
        tables = tables_of(u[enough], v, weights[enough], (k_u, k_v))  # (n_partitions, k_u, k_v)
        n_rows = (tables.sum(axis=2) > 0).sum(axis=1)
        n_columns = (tables.sum(axis=1) > 0).sum(axis=1)
        trivial[enough] = (n_rows == 1) | (n_columns == 1)
        scores[:, enough] = [agreement.of_tables(tables) for agreement in agreements]
    causes = np.where(~enough, ONLY_NOISE, np.where(np.isnan(scores), NO_NUMBER, "")).astype(object)
    return Compared(scores, trivial, causes)


# ---------------------------------------------------------------------------------------------------------------------
# checks that several functions share


def check_several(studies: Studies) -> Studies:
    """Check that there is something to replicate on."""
    if len(studies) < 2:
        raise ParameterError(
            f"studies must hold at least two studies, got {len(studies)}. "
            "To see how well one study predicts itself, split it: Studies.split(X)."
        )
    return studies


def check_noise(noise: Noise) -> Noise:
    """Check the treatment of noise."""
    check_choice(noise, "noise", NOISE_TREATMENTS)
    return noise


def check_configuration(
    clusterer: Clusterer, labels: KnownLabelsLike | None, studies: Sequence[Study], resampling: object
) -> Configuration:
    """Check that there is either a clusterer or known labels for every study."""
    if labels is None:
        if clusterer is None:
            raise ParameterError("clusterer is None: pass a clusterer, or known labels with labels=.")
        return Configuration(name_of(clusterer), check_clusterer(clusterer))
    if clusterer is not None:
        raise ParameterError("Pass either a clusterer or labels, not both: labels stand in for a clusterer.")
    if isinstance(resampling, Simulate):
        raise ParameterError("labels can't travel with Simulate: simulated samples have no known labels.")
    if labels is True:
        labels = {study.name: study.labels for study in studies if study.labels is not None}
    if not isinstance(labels, Mapping):
        raise ParameterError(f"labels must map each study's name to its labels, got {type(labels).__name__}.")
    missing = [study.name for study in studies if study.name not in labels]
    if missing:
        raise DataError(f"labels are missing for {listing(map(repr, missing))}: every study needs them.")
    unknown = [name for name in labels if name not in {study.name for study in studies}]
    if unknown:
        raise DataError(f"labels name {listing(map(repr, unknown))}, but there is no such study.")
    known = {
        study.name: check_labels_of(
            labels[study.name], study.name, len(study), study.samples if study.samples_are_named else None
        )
        for study in studies
    }
    return Configuration("known labels", KnownLabels(known))
