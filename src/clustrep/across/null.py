"""Scores read against data without clusters: the same clusterer on simulated collections that look like the studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import skew

from clustrep.across.local import LocalPlan, LocalScores
from clustrep.across.null_models import Collection, GaussianCollection, Sampler, check_null, collection_of
from clustrep.across.replicability import ScorePlan
from clustrep.checks import check_choice, check_integer, read_only
from clustrep.clustering.parameters import KnownLabels, describe
from clustrep.clustering.path import Setting, rotates
from clustrep.clustering.recording import provenance_of_run
from clustrep.clustering.refit import RunOrigin
from clustrep.clustering.rotation import Rotation, in_coordinates, needs_basis
from clustrep.clustering.sample import Configuration, Source
from clustrep.engine.replicates import (
    FULL_STUDY,
    Failed,
    Rng,
    Stream,
    derived_root,
    make_generator,
    one_thread,
    root_entropy,
)
from clustrep.engine.run import Plan, run
from clustrep.errors import AllReplicatesFailed, DataWarning, ParameterError, ReplicateWarning, warn
from clustrep.results import Comparison, LocalReplicability, Replicability
from clustrep.results.base import quiet
from clustrep.results.null_scores import NullReference
from clustrep.sentences import argument
from clustrep.studies.study import Study
from clustrep.tables.agreement import Agreement
from clustrep.tables.noise import NOISE_NAME, ONLY_NOISE
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray

STATISTICS = ("estimate", "mean")
# The skewness of an exponential distribution is 2.
SKEWED = 1.0


def null_reference(
    result: Replicability | Comparison | LocalReplicability,
    n: int = 199,
    *,
    null: str | Sampler = "gaussian",
    statistic: str = "estimate",
    rng: Rng = None,
    n_jobs: int | None = None,
) -> NullReference:
    """Compute the same scores on data without clusters, and compare.

    A high score says that a cut repeats, not that there are clusters: one long Gaussian is cut across its long axis
    again and again. Here every study is replaced by simulated data with its own size, mean and covariance, `n` times.
    Means and covariances are those of the studies as far as the data can tell them from each other and from noise:
    see docs/null.md.

    Parameters
    ----------
    result : Replicability, Comparison or LocalReplicability
        From a run in this session: files hold no data.
    n : int
        Number of simulated collections of studies.
    null : "gaussian", "copula" or function of (study, rng)
        A Gaussian with each study's mean and covariance; a Gaussian copula with each feature's own values as margins,
        for skewed and heavy-tailed features; or any sampler that returns a table like the study.
    statistic : {"estimate", "mean"}
        Compare R̂, one fit for each study and collection; or the bootstrap mean, which repeats all resamples in every
        collection.
    rng : int, Generator, SeedSequence or None
        The seed; None takes the result's own.
    n_jobs
        As in `replicability`.

    Returns
    -------
    NullReference
        p-values are (1 + number of collections that score at least as high) / (1 + n).

    See Also
    --------
    replicability, compare, local_replicability : the results that are compared.

    Notes
    -----
    The p-value answers one question: could data like these, but in one piece, score as high? A small one says that
    there is more structure than the null model has, which need not be separated groups. R̂ can't exceed 1: where data
    in one piece already score nearly 1, as a long Gaussian cut in halves does, no excess can be seen.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from clustrep import replicability
    >>> studies = [np.random.default_rng(i).normal(size=(60, 2)) * [5, 1] for i in (0, 1)]  # no clusters, but long
    >>> result = replicability(KMeans(2, n_init=3), studies, n_resamples=5, rng=0)
    >>> reference = null_reference(result, n=39)
    >>> bool(result.estimate[0, 1] > 0.5), bool(reference.pvalue[0, 1] > 0.05)
    (True, True)
    """
    origins = _origins(result)
    check_integer(n, "n")
    check_null(null)
    check_choice(statistic, "statistic", STATISTICS)
    root = derived_root(origins[0].source.root, Stream.NULL) if rng is None else root_entropy(rng)
    if null == "gaussian":
        _warn_of_skewness(origins[0].studies)
    plan = NullPlan.of(result, origins, null, statistic, root)
    collections = run(plan, range(1, n + 1), n_jobs)
    scores = _stack(collections)
    _report_missing(result, scores)
    source = Source(origins[0].source.resampling, root, origins[0].source.accelerate)
    configurations = [origin.configuration for origin in origins]
    of = "" if isinstance(result, Replicability) else result._fingerprint
    made = provenance_of_run(
        source, origins[0].studies, configurations, n=n, null=describe(null), statistic=statistic, of=of
    )
    return NullReference.of(result, statistic, _observed(result, origins, statistic), scores, made)


def _warn_of_skewness(studies: Sequence[Study]) -> None:
    """Say that a Gaussian is no fair comparison for skewed features: their long tails alone look like clusters."""
    for study in studies:
        border = SKEWED + 2 * np.sqrt(6 / len(study))  # two standard errors of a Gaussian's
        with quiet():
            skewness = np.abs(skew(study.X, axis=0))
        known = skewness[np.isfinite(skewness)]  # a constant has none
        if known.size and (known > border).mean() >= 0.5:
            warn(
                f"Half of the features of study {study.name!r}, or more, have a skewness above {border:.1f}: Gaussian "
                "data without clusters have no such tails, which alone can look like clusters. Transform the features, "
                f"or compare with {argument('null', 'copula')}, too, unless rare clusters explain it.",
                DataWarning,
            )
            return


def _report_missing(result: Any, scores: FloatArray) -> None:
    """Say how many simulated collections have no scores, or not all of them; raise where none has any."""
    if isinstance(result, LocalReplicability):
        missing = np.isnan(scores).all(axis=1)
    else:
        off = ~np.eye(scores.shape[-1], dtype=bool)
        missing = np.isnan(scores[..., off]).any(axis=tuple(range(1, scores.ndim - 1)))
    if np.isnan(scores).all():
        raise AllReplicatesFailed("Not one simulated collection could be scored: the clusterer failed on all of them.")
    if missing.any():
        warn(
            f"The clusterer failed on {plural(int(missing.sum()), 'simulated collection')} of {len(scores)}, in part "
            "or as a whole: what is missing is left out.",
            ReplicateWarning,
        )


def _origins(result: Any) -> tuple[RunOrigin, ...]:
    """Return what a result came from, where that is known and can be simulated."""
    if not isinstance(result, Replicability | Comparison | LocalReplicability):
        raise ParameterError(
            "result must be what replicability, compare or local_replicability returned, for one agreement and one "
            f"test study; got {type(result).__name__}.",
            parameter="result",
        )
    origins = result._origins if isinstance(result, Comparison) else (result._origin,)
    if origins is None or origins[0] is None:
        raise ParameterError(
            "This result was read from a file, which holds scores but no data: run it again with "
            f"rng={result.provenance['seed']} to compare it with data without clusters.",
            parameter="result",
        )
    of_runs = tuple(origin for origin in origins if isinstance(origin, RunOrigin))
    if any(isinstance(origin.configuration.clusterer, KnownLabels) for origin in of_runs):
        raise ParameterError(
            "Known labels can't be carried over to simulated data: a clusterer is needed.", parameter="result"
        )
    return of_runs


# ---------------------------------------------------------------------------------------------------------------------
# one simulated collection


@dataclass(frozen=True, eq=False)
class NullPlan(Plan[FloatArray]):
    """Everything that a simulated collection's scores follow from, except its number."""

    studies: tuple[Study, ...]
    order: tuple[int, ...]  # the studies by their names, as they are simulated: in whatever order they came
    simulated: Collection
    configurations: tuple[Configuration, ...]
    agreements: tuple[Agreement, ...]
    noise: Any
    source: Source  # the result's own resampling, and the root of all collections
    n_resamples: int  # 0: the studies as they are
    at: int | None  # for local scores: whose points are scored

    @classmethod
    def of(
        cls,
        result: Replicability | Comparison | LocalReplicability,
        origins: Sequence[RunOrigin],
        null: str | Sampler,
        statistic: str,
        root: int,
    ) -> NullPlan:
        """Take over what the result was made with; where features outnumber samples, in coordinates."""
        first = origins[0]
        configurations = tuple(origin.configuration for origin in origins)
        in_features = (
            any(study.scale != "none" for study in first.studies)  # simulated ones are scaled, too
            or any(needs_basis(one.clusterer) for one in configurations)
            or not all(rotates(first.source, first.studies, one) for one in configurations)
        )
        order = tuple(sorted(range(len(first.studies)), key=lambda s: first.studies[s].name))
        by_name = [first.studies[s] for s in order]
        with one_thread():
            if null != "gaussian" or in_features:
                simulated = collection_of(null, by_name)
            else:
                rotation = Rotation.of([study.X for study in by_name])
                simulated = GaussianCollection.in_coordinates(rotation)
                simulated_in = Rotation(rotation.origin, tuple(simulated.draw(make_generator(0))), None)
                configurations = tuple(
                    Configuration(one.name, in_coordinates(one.clusterer, simulated_in)) for one in configurations
                )
        agreements = first.agreements
        if isinstance(result, Replicability):
            agreements = tuple(one for one in agreements if one.name == result.agreement)
        return cls(
            studies=first.studies,
            order=order,
            simulated=simulated,
            configurations=configurations,
            agreements=agreements,
            noise=first.noise,
            source=Source(first.source.resampling, root, first.source.accelerate),
            n_resamples=0 if statistic == "estimate" else result.provenance["n_resamples"],
            at=_place_of_points(result, first) if isinstance(result, LocalReplicability) else None,
        )

    @property
    def replicates(self) -> Sequence[int]:
        """Which replicates of a collection are averaged."""
        return range(1, self.n_resamples + 1) if self.n_resamples else [FULL_STUDY]

    def collection(self, number: int) -> tuple[tuple[Study, ...], Source]:
        """Simulate all studies, and return the source of their draws and fits."""
        root = derived_root(self.source.root, Stream.NULL, number)
        by_name = self.simulated.draw(make_generator(np.random.SeedSequence(root)))
        tables = dict(zip(self.order, by_name, strict=True))
        studies = tuple(
            study.with_table(read_only(np.ascontiguousarray(tables[s], dtype=study.X.dtype))).scaled_again()
            for s, study in enumerate(self.studies)
        )
        return studies, Source(self.source.resampling, root, self.source.accelerate)

    description = "data without clusters"

    def replicate(self, number: int) -> FloatArray:
        """Score one simulated collection, (n_configurations, n_agreements, S, S), or its clusters, (n_clusters,)."""
        if self.at is not None:
            return self._score_clusters(number, self.at)
        studies, source = self.collection(number)
        setting = Setting.prepare(source, studies, self.configurations)
        return _scores(_score_plan(setting, self.agreements, self.noise), self.replicates)

    def _score_clusters(self, number: int, at: int) -> FloatArray:
        """Score every cluster of one simulated training study, (n_clusters,); nothing where the clusterer failed."""
        studies, source = self.collection(number)
        setting = Setting.prepare(source, studies, self.configurations, at=studies[at].X)
        plan = LocalPlan(setting, 1, (), self.agreements[0], self.noise)
        labels = plan.replicate(FULL_STUDY).labels_of_points
        if isinstance(labels, Failed):
            return np.empty(0)
        clusters, codes = np.unique(labels, return_inverse=True)
        values: list[FloatArray] = []
        for b in self.replicates:
            (scores,) = plan.replicate(b).by_test
            if isinstance(scores, Failed) and scores.cause == ONLY_NOISE:
                values.append(np.zeros(len(clusters)))
            elif not isinstance(scores, Failed):
                values.append(_mean_by_cluster(scores, codes, len(clusters)))
        if not values:
            return np.empty(0)
        with quiet():
            averages = np.asarray(np.nanmean(values, axis=0))
        of_clusters = averages[clusters.astype(str) != NOISE_NAME]  # noise is no cluster to compare with
        return of_clusters if of_clusters.size else np.zeros(1)


def _mean_by_cluster(scores: LocalScores, codes: IntArray, n_clusters: int) -> FloatArray:
    """Average the local scores of each cluster's points; a single block scores 0, a cluster without scores NaN."""
    points = scores.table[scores.at[0], scores.at[1]] * (not scores.trivial)
    known = ~np.isnan(points)
    counts = np.bincount(codes[known], minlength=n_clusters)
    sums = np.bincount(codes[known], points[known], minlength=n_clusters)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _score_plan(setting: Setting, agreements: tuple[Agreement, ...], noise: Any) -> ScorePlan:
    return ScorePlan(setting, n_resamples=0, agreements=agreements, diagonal=False, noise=noise)


def _scores(plan: ScorePlan, replicates: Sequence[int]) -> FloatArray:
    """Average the scores of replicates, (n_configurations, n_agreements, S, S).

    A single block, on both sides perhaps, agrees on nothing that a cluster could be compared with: 0. So does what is
    noise but for a point.
    """
    scores = [
        np.where((r.trivial[:, None] & ~np.isnan(r.scores)) | (r.causes == ONLY_NOISE), 0.0, r.scores)
        for r in map(plan.replicate, replicates)
    ]
    with quiet():
        return np.asarray(np.nanmean(scores, axis=0))


def _observed(
    result: Replicability | Comparison | LocalReplicability, origins: Sequence[RunOrigin], statistic: str
) -> FloatArray:
    """Return the scores of the result itself, by the rule for single blocks that holds for simulated collections."""
    if isinstance(result, LocalReplicability):
        if statistic == "mean":
            blocks = np.where(result.trivial[:, None], 0.0, result.cluster_distribution)
            with quiet():
                return np.asarray(np.nanmean(blocks, axis=0))
        estimate = result.by_cluster()["estimate"].to_numpy(dtype=float)
        return estimate * (not _is_trivial(origins[0]))
    if statistic == "mean":
        several = isinstance(result, Comparison)
        scores = result.distribution if several else result.distribution[None, None]
        trivial = result.trivial[:, None] if several else result.trivial[None, None]
        failed = result.failed[:, :, 1:] if several else result.failed[None, None, 1:]
        noise = 1 + result.causes.index(ONLY_NOISE) if ONLY_NOISE in result.causes else -1
        nothing = (trivial & ~np.isnan(scores)) | (failed == noise)
        with quiet():
            return np.asarray(np.nanmean(np.where(nothing, 0.0, scores), axis=2))
    first = origins[0]
    configurations = [origin.configuration for origin in origins]
    agreements = first.agreements
    if isinstance(result, Replicability):
        agreements = tuple(one for one in agreements if one.name == result.agreement)
    with one_thread():
        setting = Setting.prepare(first.source, first.studies, configurations)
        return _scores(_score_plan(setting, agreements, first.noise), [FULL_STUDY])


def _is_trivial(origin: RunOrigin) -> bool:
    """Whether either function puts the whole test study, as it is, into a single block."""
    with one_thread():
        setting = Setting.prepare(origin.source, origin.studies, [origin.configuration], at=origin.studies[0].X)
        plan = LocalPlan(setting, 1, (), origin.agreements[0], origin.noise)
        (scores,) = plan.replicate(FULL_STUDY).by_test
    return not isinstance(scores, Failed) and scores.trivial


def _place_of_points(result: LocalReplicability, origin: RunOrigin) -> int:
    """Find whose points a local result scores: the training study's, or the test study's."""
    for place, study in enumerate(origin.studies):
        if result._points is not None and np.array_equal(result._points, study.X):
            return place
    raise ParameterError(
        "A local result is compared with data without clusters at the points of its training or test study: "
        "run local_replicability with at=None, or with at=test.",
        parameter="result",
    )


def _stack(collections: Sequence[FloatArray]) -> FloatArray:
    """Stack scores; those with fewer clusters are padded with NaN."""
    if collections[0].ndim > 1:
        return np.stack(collections)
    stacked = np.full((len(collections), max(1, *(len(scores) for scores in collections))), np.nan)
    for row, scores in zip(stacked, collections, strict=True):
        row[: len(scores)] = scores
    return stacked
