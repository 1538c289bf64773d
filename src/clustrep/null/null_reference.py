"""Scores compared with those of simulated unimodal data like the studies, by the same clusterer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import skew

from clustrep.agreement.agreements import Agreement
from clustrep.agreement.contingency import NOISE_NAME, ONLY_NOISE
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.local import LocalPlan
from clustrep.algorithms.local_scores import LocalReplicability, mean_by
from clustrep.algorithms.pairwise import Replicability
from clustrep.algorithms.replicability import ReplicateScores, ScorePlan
from clustrep.cached import cached_property
from clustrep.checks import check_choice, check_integer, read_only
from clustrep.data.study import Study
from clustrep.errors import AllReplicatesFailed, DataWarning, ParameterError, ReplicateWarning, warn
from clustrep.execution.devices import free_bytes
from clustrep.execution.engines import EngineLike
from clustrep.execution.forecast import Cost
from clustrep.execution.run import Plan, RunCache, on_engine
from clustrep.execution.seeds import (
    FULL_STUDY,
    Failed,
    Rng,
    Stream,
    derived_root,
    make_generator,
    one_thread,
    root_entropy,
)
from clustrep.fitting.fingerprint import agreements_of, described, facts_of, identity_of
from clustrep.fitting.parameters import Configuration, KnownLabels, describe, parameters_of
from clustrep.fitting.resample import Source, provenance_of_run
from clustrep.fitting.rotation import Rotation, in_coordinates, needs_basis
from clustrep.fitting.setting import RunOrigin, Setting, rotates, works_here
from clustrep.fitting.transformers import TrainEmbedding
from clustrep.null.gaussian import NullModel
from clustrep.null.models import (
    NULLS,
    PERMUTED,
    UNIMODAL,
    UNIMODAL_MODELS,
    GivenModel,
    Sampler,
    check_null,
    null_model_in_coordinates,
    null_model_of,
)
from clustrep.null.null_scores import NullReference, NullScores
from clustrep.summaries import quiet
from clustrep.text import argument, plural
from clustrep.types import FloatArray

STATISTICS = ("estimate", "mean")
# The skewness of an exponential distribution is 2.
SKEWED = 1.0
# A model explains the scores where the overall p-value is above this.
NOT_EXPLAINED = 0.05
# Seconds that a simulated number takes, roughly.
DRAWN_SECONDS = 5e-8
# How many data sets are scored together, for how many seconds and how many bytes of distances and labels, at most.
MOST_TOGETHER = 32
TOGETHER_SECONDS = 0.25
MOST_BYTES = 2**26
# The same on a device: its memory may hold more, and there are no workers to share them with.
MOST_ON_DEVICE, BYTES_OF_NUMBER = 256, 64
# Which of the unimodal models clusters are compared with.
MODEL_FOR_CLUSTERS = "margins"


@on_engine
def null_reference(
    result: Replicability | Comparison | LocalReplicability,
    n: int = 199,
    *,
    null: str | Sampler = UNIMODAL,
    statistic: str = "estimate",
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> NullReference:
    """Compute the same scores on simulated unimodal data, and compare.

    A high score says that a cut repeats, not that there are clusters: one long Gaussian is cut across its long axis
    every time. Here every study is replaced by simulated data that have its size, and its means, covariances and
    shapes of features as far as one mode allows and as far as the data can tell them from noise, `n` times. Two
    statistics are compared: R̂, which says whether a cut repeats, and the separateness Q, which says how much of the
    held-out study's spread lies between the predicted clusters, of what so many clusters could explain at most.

    Parameters
    ----------
    result : Replicability, Comparison or LocalReplicability
        From a run in this session: files hold no data.
    n : int
        Number of simulated data sets, for each model.
    null : "unimodal", the name of a model, or function of (study, rng)
        Unimodal models are "elliptical" (the same density on ellipses, falling outwards), "margins" (every
        feature has the unimodal distribution closest to its own, dependence is a Gaussian copula) and "components"
        (independent components with unimodal distributions). "unimodal" tries them in this order, up to the first
        that explains the scores (`overall_pvalue` above 0.05), and returns the reference of the model with the largest
        p-value; for a local result it is "margins". "gaussian" is a Gaussian with each study's mean and covariance;
        "copula" a Gaussian copula with each feature's own values as margins. A sampler returns a table like the study.
        Known labels (``labels=``) are always compared with "permuted": the same labels on other samples of their study.
    statistic : {"estimate", "mean"}
        Compare R̂, one fit for each study and data set; or the mean over resamples, all of which are repeated
        in every data set. Separateness is that of the studies as they are in either case.
    rng : int, Generator, SeedSequence or None
        The seed; None takes the result's own.
    n_jobs, engine
        As in `replicability`.

    Returns
    -------
    NullReference
        p-values are (1 + number of data sets that score at least as high) / (1 + n).

    See Also
    --------
    replicability, compare, local_replicability : the results that are compared.

    Notes
    -----
    The p-value answers one question: could data like these, but unimodal, score as high? A small one says that
    there is more structure than the models have, which need not be separated groups: unimodal shapes that none of
    the models has, such as curves, triangles or Dirichlet distributions, are structured, too. A large one says that
    the scores are not distinguishable from those of unimodal data, not that there are no clusters. With "unimodal"
    the hypothesis is that any of three models holds, so the largest of their p-values is taken (an intersection–union
    test [1]_): its error is at most that of the right model. How often it errs was simulated: docs/null.md.

    References
    ----------
    .. [1] Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4),
       295-300.
    .. [2] Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from clustrep import replicability
    >>> studies = [np.random.default_rng(i).normal(size=(60, 2)) * [5, 1] for i in (0, 1)]  # no clusters, but long
    >>> result = replicability(KMeans(2, n_init=3), studies, n_resamples=5, rng=0)
    >>> reference = null_reference(result, n=39)
    >>> bool(result.estimate[0, 1] > 0.5), reference.overall_pvalue > 0.05, reference.model
    (True, True, 'elliptical')
    """
    check_null(null)
    check_choice(statistic, "statistic", STATISTICS)
    return reference_of(result, n, null, statistic, rng=rng, n_jobs=n_jobs)


def reference_of(
    result: Replicability | Comparison | LocalReplicability,
    n: int,
    null: str | Sampler,
    statistic: str = "estimate",
    *,
    rng: Rng = None,
    n_jobs: int | None = None,
    cache: RunCache | None = None,
) -> NullReference:
    """Compare with simulated data sets; not to be simulated again are those `cache` from a shorter run."""
    origins = _origins(result)
    check_integer(n, "n")
    null = _for_labels(null, origins)
    check_takes_simulated(origins[0].source.transformer, null)
    cache = cache or RunCache()
    root = derived_root(origins[0].source.root, Stream.NULL) if rng is None else root_entropy(rng)
    if null == "gaussian":
        _warn_of_skewness(origins[0].studies)
    models: tuple[str | Sampler, ...] = (null,)
    if null == UNIMODAL:
        models = UNIMODAL_MODELS if not isinstance(result, LocalReplicability) else (MODEL_FOR_CLUSTERS,)
    source = origins[0].source.with_root(root)
    configurations = [origin.configuration for origin in origins]
    of = "" if isinstance(result, Replicability) else result._fingerprint
    provenance = provenance_of_run(
        source,
        origins[0].studies,
        configurations,
        n=n,
        null=describe(null),
        statistic=statistic,
        of=of,
        neighbour_recall=result.provenance.get("neighbour_recall"),  # simulated studies have as many samples
    )
    observed = _observed(result, origins, statistic)
    references: list[NullReference] = []
    for place, model in enumerate(models):
        plan_of = partial(NullPlan.of, result, origins, model, statistic, root)
        simulated = _stack(cache.run(("null model", place), plan_of, range(1, n + 1), n_jobs))
        _report_missing(result, simulated.scores)
        name = model if isinstance(model, str) else describe(model)
        references.append(NullReference.of(result, statistic, observed, simulated, name, provenance))
        if not references[-1].overall_pvalue <= NOT_EXPLAINED:
            break
    return best_explained(references)


def check_takes_simulated(transformer: Any, null: str | Sampler) -> None:
    """Refuse a transformer that normalises counts: unimodal data are none, and may be negative."""
    if transformer is None or not isinstance(null, str) or null == PERMUTED:
        return
    parts = [transformer, *parameters_of(transformer).values()]
    if any(isinstance(part, TrainEmbedding) and part.normalise != "none" for part in parts):
        raise ParameterError(
            f"null must be None, or a function that returns counts, where embed normalises counts; got {null!r}: "
            f"simulated data are no counts, which {describe(transformer)} needs. Normalise the studies first, with "
            "studies.normalised(), and leave normalise out.",
            parameter="null",
        )


def best_explained(references: Sequence[NullReference]) -> NullReference:
    """Return the reference with the largest p-value, the first of equals, with the p-values of all models tried."""
    pvalues = np.array([reference.overall_pvalue for reference in references])
    best = references[int(np.argmax(np.nan_to_num(pvalues, nan=1.0)))]
    return replace(best, models=tuple(reference.model for reference in references), model_pvalues=pvalues)


def _warn_of_skewness(studies: Sequence[Study]) -> None:
    """Warn that a Gaussian is no suitable null for skewed features: their long tails alone look like clusters."""
    for study in studies:
        border = SKEWED + 2 * np.sqrt(6 / len(study))  # two standard errors of a Gaussian's
        with quiet():
            skewness = np.abs(skew(study.X, axis=0))
        known = skewness[np.isfinite(skewness)]  # a constant has none
        if known.size and (known > border).mean() >= 0.5:
            warn(
                f"Half of the features of study {study.name!r}, or more, have a skewness above {border:.1f}: Gaussian "
                "data have no such tails, which alone can look like clusters. Transform the features, or compare with "
                f"{argument('null', 'unimodal')}, which keeps the shapes of features.",
                DataWarning,
            )
            return


def _report_missing(result: Any, scores: FloatArray) -> None:
    """Say how many simulated data sets have no scores, or not all of them; raise where none has any."""
    if isinstance(result, LocalReplicability):
        missing = np.isnan(scores).all(axis=1)
    else:
        off = ~np.eye(scores.shape[-1], dtype=bool)
        missing = np.isnan(scores[..., off]).any(axis=tuple(range(1, scores.ndim - 1)))
    if np.isnan(scores).all():
        raise AllReplicatesFailed("Not one simulated data set could be scored: the clusterer failed on all of them.")
    if missing.any():
        warn(
            f"The clusterer failed on {plural(int(missing.sum()), 'simulated data set')} of {len(scores)}, in part "
            "or as a whole: missing scores were omitted.",
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
            f"rng={result.provenance['seed']} to compare it with simulated data.",
            parameter="result",
        )
    return tuple(origin for origin in origins if isinstance(origin, RunOrigin))


def _for_labels(null: str | Sampler, origins: Sequence[RunOrigin]) -> str | Sampler:
    """Return the null of a result: known labels are permuted, because simulated data have none."""
    if not any(isinstance(origin.configuration.clusterer, KnownLabels) for origin in origins):
        if null == PERMUTED:
            raise ParameterError(
                f"null={PERMUTED!r} is for known labels: a clusterer does not know the order of the samples.",
                parameter="null",
            )
        return null
    if null not in (UNIMODAL, PERMUTED):
        raise ParameterError(
            f"null must be {PERMUTED!r} for known labels, which can't be carried over to simulated data; got {null!r}.",
            parameter="null",
        )
    return PERMUTED


# ---------------------------------------------------------------------------------------------------------------------
# one simulated data set


def _with_missing(simulated: FloatArray, study: Study) -> FloatArray:
    """Return a simulated table with the study's own missing values, which are then filled in as the study's are.

    A permuted table has them already, in other places.
    """
    table = np.ascontiguousarray(simulated, dtype=study.X.dtype)
    if not study.has_missing or np.isnan(table).any():
        return table
    return np.where(np.isnan(study.X), np.nan, table)


class Work(NamedTuple):
    """What a simulated data set takes."""

    cost: Cost
    in_threads: bool
    has_kernels: bool


@dataclass(frozen=True, eq=False)
class NullPlan(Plan[NullScores]):
    """Everything that a simulated data set's scores follow from, except its number."""

    records = (NullScores,)

    studies: tuple[Study, ...]
    order: tuple[int, ...]  # the studies by their names, as they are simulated, so that their order does not matter
    simulated: NullModel
    configurations: tuple[Configuration, ...]
    agreements: tuple[Agreement, ...]
    noise: Any
    source: Source  # the result's own resampling, and the root of all data sets
    n_resamples: int  # 0: the studies as they are
    at: int | None  # for local scores: whose points are scored
    model: str  # which, and whether in coordinates
    identities: tuple[str, ...]  # a digest of each configuration
    unit = "simulated data sets"

    @classmethod
    def of(
        cls,
        result: Replicability | Comparison | LocalReplicability,
        origins: Sequence[RunOrigin],
        null: str | Sampler,
        statistic: str,
        root: int,
    ) -> NullPlan:
        """Take the settings of the result; where features outnumber samples, in coordinates."""
        first = origins[0]
        configurations = tuple(origin.configuration for origin in origins)
        in_features = (
            any(study.scale != "none" for study in first.studies)  # simulated ones are scaled, too
            or any(needs_basis(configuration.clusterer) for configuration in configurations)
            or not all(rotates(first.source, first.studies, configuration) for configuration in configurations)
        )
        order = tuple(sorted(range(len(first.studies)), key=lambda s: first.studies[s].name))
        by_name = [first.studies[s] for s in order]
        with one_thread():
            model = NULLS.get(null) if isinstance(null, str) else None
            if in_features or model is None or model.learn_in_coordinates is None:
                simulated = null_model_of(null, by_name)
            else:
                rotation = Rotation.of([study.X for study in by_name])
                simulated = null_model_in_coordinates(model, rotation)
                simulated_in = Rotation(rotation.origin, tuple(simulated.draw(make_generator(0))), None)
                configurations = tuple(
                    Configuration(configuration.name, in_coordinates(configuration.clusterer, simulated_in))
                    for configuration in configurations
                )
        agreements = first.agreements
        if isinstance(result, Replicability):
            agreements = tuple(agreement for agreement in agreements if agreement.name == result.agreement)
        return cls(
            studies=first.studies,
            order=order,
            simulated=simulated,
            configurations=configurations,
            agreements=agreements,
            noise=first.noise,
            source=first.source.with_root(root),
            n_resamples=0 if statistic == "estimate" else result.provenance["n_resamples"],
            at=_place_of_points(result, first) if isinstance(result, LocalReplicability) else None,
            model=f"{described(null)} {'of features' if in_features else 'of coordinates'}",
            identities=tuple(identity_of(origin.configuration.clusterer) for origin in origins),
        )

    @property
    def here(self) -> bool:
        """Whether any configuration works on a device that this process holds."""
        return works_here(self.source, self.configurations)

    @property
    def facts(self) -> dict[str, str]:
        """What scores follow from, apart from the configurations."""
        return facts_of(
            self.source,
            self.studies,
            model=self.model,
            agreement=agreements_of(self.agreements),
            noise=self.noise,
            n_resamples=self.n_resamples,
            at=self.at,
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """One part for each configuration."""
        return self.identities

    def only(self, places: Sequence[int]) -> NullPlan:
        """Return a plan with some of the configurations."""
        configurations = tuple(self.configurations[place] for place in places)
        return replace(self, configurations=configurations, identities=tuple(self.identities[c] for c in places))

    def split(self, value: NullScores) -> list[NullScores]:
        """Divide scores by configuration; those of clusters belong to the only one."""
        if self.at is not None:
            return [value]
        return [NullScores(*(array[c : c + 1] for array in value)) for c in range(len(self.parts))]

    def join(self, values: Sequence[NullScores]) -> NullScores:
        """Put the scores of all configurations together."""
        return NullScores(*map(np.concatenate, zip(*values, strict=True)))

    @property
    def replicates(self) -> Sequence[int]:
        """Which replicates of a data set are averaged."""
        return range(1, self.n_resamples + 1) if self.n_resamples else [FULL_STUDY]

    def data_set(self, number: int) -> tuple[tuple[Study, ...], Source]:
        """Simulate all studies, and return the source of their draws and fits."""
        root = derived_root(self.source.root, Stream.NULL, number)
        by_name = self.simulated.draw(make_generator(np.random.SeedSequence(root)))
        tables = dict(zip(self.order, by_name, strict=True))
        studies = tuple(
            study.with_table(read_only(_with_missing(tables[s], study))).scaled_again()
            for s, study in enumerate(self.studies)
        )
        return studies, self.source.with_root(root)

    description = "null model"

    @cached_property
    def _work(self) -> Work:
        """What a data set takes; estimated from the first one, or from the studies where a user's sampler draws."""
        is_given = isinstance(self.simulated, GivenModel)
        studies = self.studies if is_given else self.data_set(1)[0]
        setting = Setting.prepare(self.source, studies, self.configurations, for_run=False, rotate=False)
        n, n_drawn = len(self.replicates), sum(study.X.size for study in studies)
        cost = Cost(n * setting.cost.kernels, n * setting.cost.python + n_drawn * DRAWN_SECONDS)
        return Work(cost, setting.in_threads and not is_given, setting.has_kernels)

    @property
    def cost(self) -> Cost:
        """Roughly how long a data set takes: its draw, and its replicates."""
        return self._work.cost

    @property
    def in_threads(self) -> bool:
        """Whether kernels do most of the work; a sampler or an agreement that is a user's function is not one."""
        return self._work.in_threads and all(agreement.of_counts for agreement in self.agreements)

    @property
    def compiles(self) -> bool:
        """Whether there are kernels: in its learners, or in an agreement that needs logarithms."""
        return self._work.has_kernels or any(agreement.compiled for agreement in self.agreements)

    @property
    def batch(self) -> int:
        """How many data sets are scored together: enough to share what Python does, not too many for memory."""
        if self.at is not None or self.n_resamples:
            return 1
        if self.here:
            n_bytes = BYTES_OF_NUMBER * sum(study.X.size for study in self.studies)
            return int(max(1, min(MOST_ON_DEVICE, free_bytes(self.source.device) / n_bytes)))
        sizes = np.array([len(study) for study in self.studies], dtype=float)
        n_bytes = 8 * (sizes @ sizes) + 4 * sizes.sum() * len(sizes) * len(self.configurations)
        return int(max(1, min(MOST_TOGETHER, TOGETHER_SECONDS / self.cost.total, MOST_BYTES / n_bytes)))

    def replicate(self, number: int) -> NullScores:
        """Score one simulated data set, or its clusters."""
        (scores,) = self.block([number])
        return scores

    def block(self, numbers: Sequence[int]) -> list[NullScores]:
        """Score simulated data sets, or their clusters."""
        if self.at is not None:
            return [NullScores(self._score_clusters(number, self.at), np.empty(0)) for number in numbers]
        settings: list[Setting] = []
        for number in numbers:
            studies, source = self.data_set(number)
            learners = settings[0].learners if settings and settings[0].serve_other_studies else None
            settings.append(Setting.prepare(source, studies, self.configurations, learners=learners))
        return _scores_of_data_sets(settings, self.agreements, self.noise, self.replicates)

    def lost(self, number: int, cause: str) -> NullScores:
        """Return a data set without scores."""
        n, S = len(self.configurations), len(self.studies)
        if self.at is not None:
            return NullScores(np.empty(0), np.empty(0))
        return NullScores(np.full((n, len(self.agreements), S, S), np.nan), np.full(n, np.nan))

    def _score_clusters(self, number: int, at: int) -> FloatArray:
        """Score every cluster of one simulated training study, (n_clusters,); nothing where the clusterer failed."""
        studies, source = self.data_set(number)
        setting = Setting.prepare(source, studies, self.configurations, at=studies[at].X)
        plan = LocalPlan(setting, 1, (), self.agreements[0], self.noise)
        as_it_is = plan.replicate(FULL_STUDY)
        labels = as_it_is.labels_of_points
        if isinstance(labels, Failed):
            return np.empty(0)
        clusters, codes = np.unique(labels, return_inverse=True)
        values: list[FloatArray] = []
        for b in self.replicates:
            (scores,) = (as_it_is if b == FULL_STUDY else plan.replicate(b)).by_test
            if isinstance(scores, Failed) and scores.cause == ONLY_NOISE:
                values.append(np.zeros(len(clusters)))
            elif not isinstance(scores, Failed):
                points = scores.table[scores.at[0], scores.at[1]] * (not scores.trivial)
                values.append(mean_by(codes, points, len(clusters)))
        if not values:
            return np.empty(0)
        with quiet():
            averages = np.asarray(np.nanmean(values, axis=0))
        of_clusters = averages[clusters.astype(str) != NOISE_NAME]  # noise is no cluster to compare with
        return of_clusters if of_clusters.size else np.zeros(1)


def _scores_of_data_sets(
    settings: Sequence[Setting], agreements: tuple[Agreement, ...], noise: Any, replicates: Sequence[int]
) -> list[NullScores]:
    """Average the scores of replicates of data sets; separateness is that of the studies as they are.

    settings : with the same learners where these serve other studies, whose samples are then scored together
    """
    plans = [ScorePlan(setting, 0, agreements, diagonal=False, noise=noise, separateness=True) for setting in settings]
    if all(setting.learners is settings[0].learners for setting in settings):
        samples = [setting.resample(s, FULL_STUDY) for setting in settings for s in range(len(setting.studies))]
        as_they_are = plans[0].score_samples(samples)
    else:
        as_they_are = [plan.replicate(FULL_STUDY) for plan in plans]
    return [
        _averaged(full, replace(plan, separateness=False), replicates)
        for full, plan in zip(as_they_are, plans, strict=True)
    ]


def _averaged(full: ReplicateScores, plan: ScorePlan, replicates: Sequence[int]) -> NullScores:
    """Average the scores of replicates of one data set, of which those of the studies as they are are known.

    A single block, on one side or both, scores 0, because it shows no agreement about clusters; so does a partition in
    which all points but one are noise.
    """
    drawn = [b for b in replicates if b != FULL_STUDY]
    scored = [] if drawn else [full]
    for begin in range(0, len(drawn), plan.batch):
        scored += plan.block(drawn[begin : begin + plan.batch])
    scores = [
        np.where((r.trivial[:, None] & ~np.isnan(r.scores)) | (r.causes == ONLY_NOISE), 0.0, r.scores) for r in scored
    ]
    with quiet():
        averages = np.asarray(np.nanmean(scores, axis=0))
        return NullScores(averages, np.asarray(np.nanmean(full.separateness, axis=(1, 2))))


def _observed(
    result: Replicability | Comparison | LocalReplicability, origins: Sequence[RunOrigin], statistic: str
) -> NullScores:
    """Return the scores of the result itself, by the rule for single blocks that holds for simulated data sets."""
    if isinstance(result, LocalReplicability):
        return NullScores(_observed_of_clusters(result, origins[0], statistic), np.empty(0))
    first = origins[0]
    configurations = [origin.configuration for origin in origins]
    agreements = first.agreements
    if isinstance(result, Replicability):
        agreements = tuple(agreement for agreement in agreements if agreement.name == result.agreement)
    with one_thread():
        setting = Setting.prepare(first.source, first.studies, configurations)
        (as_they_are,) = _scores_of_data_sets([setting], agreements, first.noise, [FULL_STUDY])
    return as_they_are if statistic == "estimate" else as_they_are._replace(scores=_observed_means(result))


def _observed_means(result: Replicability | Comparison) -> FloatArray:
    """Return means over resamples in which single blocks count 0, (n_configurations, n_agreements, S, S)."""
    several = isinstance(result, Comparison)
    scores = result.distribution if several else result.distribution[None, None]
    trivial = result.trivial[:, None] if several else result.trivial[None, None]
    failed = result.failed[:, :, 1:] if several else result.failed[None, None, 1:]
    noise = 1 + result.causes.index(ONLY_NOISE) if ONLY_NOISE in result.causes else -1
    nothing = (trivial & ~np.isnan(scores)) | (failed == noise)
    with quiet():
        return np.asarray(np.nanmean(np.where(nothing, 0.0, scores), axis=2))


def _observed_of_clusters(result: LocalReplicability, origin: RunOrigin, statistic: str) -> FloatArray:
    """Return the scores of the clusters of a local result, (n_clusters,); single blocks count 0."""
    if statistic == "mean":
        blocks = np.where(result.trivial[:, None], 0.0, result.cluster_distribution)
        with quiet():
            return np.asarray(np.nanmean(blocks, axis=0))
    estimate = result.by_cluster()["estimate"].to_numpy(dtype=float)
    return np.asarray(estimate * (not _is_trivial(origin)))


def _is_trivial(origin: RunOrigin) -> bool:
    """Whether either function puts the whole test study, as it is, into a single block."""
    with one_thread():
        setting = Setting.prepare(origin.source, origin.studies, [origin.configuration], at=origin.studies[0].X)
        plan = LocalPlan(setting, 1, (), origin.agreements[0], origin.noise)
        (scores,) = plan.replicate(FULL_STUDY).by_test
    return not isinstance(scores, Failed) and scores.trivial


def _place_of_points(result: LocalReplicability, origin: RunOrigin) -> int:
    """Find the study whose points a local result scores: the training study's, or the test study's."""
    for place, study in enumerate(origin.studies):
        if result._points is not None and np.array_equal(result._points, study.X, equal_nan=True):
            return place
    raise ParameterError(
        "A local result is compared with simulated data at the points of its training or test study: "
        "run local_replicability with at=None, or with at=test.",
        parameter="result",
    )


def _stack(data_sets: Sequence[NullScores]) -> NullScores:
    """Stack the scores of data sets; those with fewer clusters are padded with NaN."""
    separateness = np.stack([data_set.separateness for data_set in data_sets])
    scores = [data_set.scores for data_set in data_sets]
    if scores[0].ndim > 1:
        return NullScores(np.stack(scores), separateness)
    stacked = np.full((len(scores), max(1, *map(len, scores))), np.nan)
    for row, of_clusters in zip(stacked, scores, strict=True):
        row[: len(of_clusters)] = of_clusters
    return NullScores(stacked, separateness)
