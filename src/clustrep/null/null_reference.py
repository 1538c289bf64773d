"""Scores compared with those of simulated null data like the studies, by the same clusterer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import hypergeom

from clustrep.agreement.agreements import Agreement
from clustrep.agreement.contingency import ONLY_NOISE
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.pairwise import Replicability
from clustrep.algorithms.replicability import ScorePlan
from clustrep.cached import cached_property
from clustrep.checks import check_choice, check_integer, read_only
from clustrep.data.study import Study
from clustrep.errors import AllReplicatesFailed, ParameterError, ReplicateWarning, warn
from clustrep.execution.devices import free_bytes
from clustrep.execution.forecast import Cost
from clustrep.execution.run import Plan, RunCache
from clustrep.execution.seeds import FULL_STUDY, Rng, Stream, derived_root, make_generator, one_thread, root_entropy
from clustrep.fitting.fingerprint import agreements_of, described, facts_of, identity_of
from clustrep.fitting.parameters import Configuration, KnownLabels, describe, parameters_of
from clustrep.fitting.resample import Source, provenance_of_run
from clustrep.fitting.rotation import Rotation, in_coordinates, needs_basis
from clustrep.fitting.setting import RunOrigin, Setting, rotates, works_here
from clustrep.fitting.train_embedding import TrainEmbedding
from clustrep.null import models
from clustrep.null.gaussian import NullModel
from clustrep.null.models import Sampler
from clustrep.null.null_scores import WEIGHTS, NullReference, NullScores, shares_above
from clustrep.summaries import FALSE_FINDING, quiet
from clustrep.text import plural
from clustrep.types import FloatArray

# A model explains the scores where the overall p-value is above this, the level of all statements.
NOT_EXPLAINED = FALSE_FINDING
# Where only the decision counts, these first data sets are looked at before the others are simulated, and a model
# explains the scores as soon as all data sets could say otherwise with at most this probability: over three models and
# three looks, 9e-4. Means and standard deviations of few data sets are not those of all: that many exceedances
# may be due to that (with 0, 1 and 2 there were 4, 2 and 0 other verdicts of 604: `python -m calibration.sequential`).
LOOKS, OTHER_DECISION, BY_STANDARDISING = (19, 39, 99), 1e-4, 2
# A model does not explain them as soon as a separateness is beyond the largest ones of this number of data sets by this
# number of their standard deviations: of largest values of normal numbers (Gumbel 1958), 0.3 % are, and 10 of 199 would
# have to be. The score lies on one side of its mean if it is this number of the mean's standard errors away.
FEWEST_BEYOND, BEYOND, BESIDE = 39, 4.0, 3.0
# Seconds that a simulated number takes, roughly.
DRAWN_SECONDS = 5e-8
# Data sets that are scored together: at most this number, for at most this number of seconds, so that workers share
# them, and with at most this number of bytes of distances and labels. Scores do not depend on it.
MOST_TOGETHER, TOGETHER_SECONDS, MOST_BYTES = 32, 0.25, 2**26
# The same on a device: its memory may hold more, and there are no workers to share them with.
MOST_ON_DEVICE, BYTES_OF_NUMBER = 256, 64


def null_reference(
    result: Replicability | Comparison,
    n: int = 199,
    *,
    null: str | Sampler = models.UNIMODAL,
    statistic: str = "estimate",
    rng: Rng = None,
    n_jobs: int | None = None,
) -> NullReference:
    """Compute the same scores on simulated null data, and compare.

    A high score means that a partition replicates, not that there are clusters: one long Gaussian is divided across its
    long axis every time. Here every study is replaced, `n` times, by simulated null data with its size, and its means,
    covariances and shapes of features as far as one mode allows and as far as they differ from noise. Two
    statistics are compared: the observed score R̂, and the separateness Q, the share of the held-out study's variance
    that lies between the clusters predicted for it, of what k clusters could explain at most::

        Q = (1 − Σ_c Σ_{i in c} ‖x_i − x̄_c‖² / Σ_i ‖x_i − x̄‖²) / share of the first k − 1 principal axes

    Parameters
    ----------
    result : Replicability or Comparison
        Of a run in the same process: files hold no data.
    n : int, default=199
        Number of simulated data sets, for each model.
    null : "unimodal", the name of a model, or function of (study, rng), default="unimodal"
        Unimodal models are "elliptical" (the same density on ellipses, falling outwards), "margins" (every
        feature has the unimodal distribution closest to its own, dependence is a Gaussian copula) and "components"
        (independent components with unimodal distributions). "unimodal" tries them in this order, up to the first
        that explains the scores (`overall_pvalue` above 0.05), and returns the reference of the model with the largest
        p-value. "gaussian" is a Gaussian with each study's mean and covariance;
        "copula" a Gaussian copula with each feature's own values as margins. A sampler returns a table like the study.
        Known labels (``labels=``) are always compared with "permuted": the same labels on other samples of their study.
    statistic : {"estimate", "mean"}, default="estimate"
        Compare observed scores, one fit for each study and data set; or means over resamples, all of which are
        repeated in every data set. Separateness is that of the observed studies in either case.
    rng : int, Generator, SeedSequence or None, default=None
        The seed; None takes the result's own.
    n_jobs
        As in `replicability`.

    Returns
    -------
    NullReference
        p-values are (1 + number of data sets that score at least as high) / (1 + n).

    See Also
    --------
    replicability, compare : The results that are compared.
    analyse : Tells which clusters are found in which studies.

    Notes
    -----
    The p-value answers one question: could data like these, but unimodal, score as high? A small one is evidence of
    more structure than the models have, which need not be separated clusters: unimodal shapes that none of the models
    has, such as curves, triangles or Dirichlet distributions, are structured, too. A large one means that the scores
    are not distinguishable from those of unimodal data, not that there are no clusters. With "unimodal" the hypothesis
    is that any of three models holds, so the largest of their p-values is taken (an intersection–union test [1]_): its
    error is at most that of the right model. `make null-calibration` simulates how often it errs.

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
    models.check_null(null)
    check_choice(statistic, "statistic", ("estimate", "mean"))
    return reference_of(result, n, null, statistic, rng=rng, n_jobs=n_jobs)


def reference_of(
    result: Replicability | Comparison,
    n: int,
    null: str | Sampler,
    statistic: str = "estimate",
    *,
    rng: Rng = None,
    n_jobs: int | None = None,
    cache: RunCache | None = None,
    stop_early: bool = False,
) -> NullReference:
    """Compare with simulated data sets; those that a shorter run has put into `cache` are not simulated again.

    stop_early : whether a model that clearly explains the scores, or clearly does not, needs fewer than `n` (Besag and
        Clifford 1991)
    """
    origins = _origins(result)
    check_integer(n, "n")
    known = any(isinstance(origin.configuration.clusterer, KnownLabels) for origin in origins)
    if null == models.PERMUTED if not known else null not in (models.UNIMODAL, models.PERMUTED):
        raise ParameterError(
            f"null='permuted' is for known labels, which can be compared with no other null model; got {null!r}.",
            parameter="null",
        )
    null = models.PERMUTED if known else null  # simulated data have no labels
    check_takes_simulated([origin.configuration for origin in origins], null)
    cache = cache or RunCache()
    root = derived_root(origins[0].source.root, Stream.NULL) if rng is None else root_entropy(rng)
    tried: tuple[str | Sampler, ...] = models.UNIMODAL_MODELS if null == models.UNIMODAL else (null,)
    provenance = provenance_of_run(
        origins[0].source.with_root(root),
        origins[0].studies,
        [origin.configuration for origin in origins],
        n=n,
        null=describe(null),
        statistic=statistic,
        of=result._fingerprint if isinstance(result, Comparison) else "",
    )
    n_resamples = 0 if statistic == "estimate" else result.provenance["n_resamples"]
    first = origins[0]
    with one_thread():
        setting = Setting.prepare(first.source, first.studies, [origin.configuration for origin in origins])
        (observed,) = _scores_of_data_sets([setting], first.agreements, first.noise)
    if n_resamples:
        observed = observed._replace(scores=_observed_means(result))
    scores = result._scores[:, 0] if isinstance(result, Comparison) else np.ones(1)
    references: list[NullReference] = []
    for place, model in enumerate(tried):
        plan_of = partial(NullPlan.of, origins, model, n_resamples, root)
        name = model if isinstance(model, str) else describe(model)
        for so_far in (*(look for look in LOOKS if stop_early and look < n), n):
            data_sets = cache.run(("null model", place), plan_of, range(1, so_far + 1), n_jobs)
            simulated = NullScores(*map(np.stack, zip(*data_sets, strict=True)))
            reference = NullReference.of(result, statistic, observed, simulated, name, provenance)
            if so_far < n and is_settled(reference.statistics(), scores, n):
                break
        _report_missing(simulated.scores)
        references.append(reference)
        if not references[-1].overall_pvalue <= NOT_EXPLAINED:
            break
    return best_explained(references)


def check_takes_simulated(configurations: Sequence[Configuration], null: str | Sampler) -> None:
    """Refuse a transformer that normalises counts: unimodal data are none, and may be negative."""
    if not isinstance(null, str) or null == models.PERMUTED:
        return
    steps = [each.first_steps for each in configurations if each.first_steps is not None]
    for part in [part for each in steps for part in (each, *parameters_of(each).values())]:
        if isinstance(part, TrainEmbedding) and part.normalise != "none":
            raise ParameterError(
                f"null must be None, or a function that returns counts, where a step normalises counts; got {null!r}: "
                f"simulated data are no counts, which {describe(part)} needs. Normalise the studies first, with "
                "studies.normalised(), and leave normalise out.",
                parameter="null",
            )


def clearly_explained(pvalues: FloatArray, so_far: int, n: int) -> bool:
    """Whether the first data sets leave hardly a chance that with all of them any adjusted p-value is at most 0.05.

    That needs a statistic of weight w with at most E = 0.05 w (n + 1) / max(w) − 1 exceedances in all. The data sets
    come in random order, so that of E the number among the first ones is hypergeometric: for every statistic and
    configuration, as many as were seen, but for 2, have a probability of at most 1e-4. The statistics are looked at one
    by one, because the largest value of that with the small weight is nothing special among a few data sets.

    Parameters
    ----------
    pvalues : ndarray of shape (2, n_configurations)
        (1 + number that score as high) / (1 + so_far) by score and separateness; NaN where none could be scored.
    so_far, n : int

    References
    ----------
    .. [1] Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78(2), 301-304.
    .. [2] Gandy, A. (2009). Sequential implementation of Monte Carlo tests with uniformly bounded resampling risk.
       Journal of the American Statistical Association 104(488), 1504-1511.

    Examples
    --------
    >>> [clearly_explained(np.array([[0.5], [p]]), 39, 199) for p in (10 / 40, 11 / 40)]
    [False, True]
    >>> clearly_explained(np.array([[1 / 40], [0.5]]), 39, 199)  # the score alone may exceed all 199
    False
    """
    known = pvalues[:, ~np.isnan(pvalues).any(axis=0)]
    exceedances, weights = np.round(known * (1 + so_far)) - 1 - BY_STANDARDISING, np.array(WEIGHTS)[:, None]
    few_enough = np.maximum(np.floor(NOT_EXPLAINED * weights / weights.max() * (n + 1) + 1e-9) - 1, 0)
    return bool(known.size and (hypergeom.sf(exceedances - 1, n, few_enough, so_far) <= OTHER_DECISION).all())


def clearly_beyond(statistics: FloatArray, scores: FloatArray, n: int) -> bool:
    """Whether the first data sets leave hardly a chance that with all of them another configuration is the best above.

    It has the highest score of those whose separateness is far beyond the largest ones of the data sets, and whose
    observed score is higher than its mean; configurations with higher scores must have a lower one than their mean.

    Parameters
    ----------
    statistics : ndarray of shape (1 + so_far, 2, n_configurations)
        Score and separateness, of the data first.
    scores : ndarray of shape (n_configurations,)
        By which configurations are compared with each other.
    n : int
    """
    so_far = len(statistics) - 1
    if so_far < FEWEST_BEYOND:
        return False
    with quiet():
        mean, sd = np.nanmean(statistics[1:], axis=0), np.nanstd(statistics[1:], axis=0)
        z = (statistics - mean) / np.where(sd > 0, sd, 1.0)
        largest = np.nanmax(z[1:, 1], axis=1)
        middle, spread = np.nanmean(largest), np.nanstd(largest)
    is_beyond, error = (z[0, 1] - middle > BEYOND * spread) & (spread > 0), np.sqrt(1 / so_far - 1 / n)
    for c in np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable"):
        if is_beyond[c] and z[0, 0, c] > BESIDE * error:
            return True
        if not z[0, 0, c] < -BESIDE * error:
            return False
    return False


def is_settled(statistics: FloatArray, scores: FloatArray, n: int) -> bool:
    """Whether all `n` data sets would hardly decide otherwise than the first ones: `clearly_explained`, or beyond."""
    explained = clearly_explained(shares_above(statistics)[1], len(statistics) - 1, n)
    return explained or clearly_beyond(statistics, scores, n)


def best_explained(references: Sequence[NullReference]) -> NullReference:
    """Return the reference with the largest p-value, the first of equals, with the p-values of all models tried."""
    pvalues = np.array([reference.overall_pvalue for reference in references])
    best = references[int(np.argmax(np.nan_to_num(pvalues, nan=1.0)))]
    return replace(best, models=tuple(reference.model for reference in references), model_pvalues=pvalues)


def _report_missing(scores: FloatArray) -> None:
    """Warn of simulated data sets that have no scores, or not all of them; raise where none has any."""
    off = ~np.eye(scores.shape[-1], dtype=bool)
    missing = np.isnan(scores[..., off]).any(axis=tuple(range(1, scores.ndim - 1)))
    if np.isnan(scores).all():
        raise AllReplicatesFailed("All simulated data sets failed: the clusterer failed on each of them.")
    if missing.any():
        warn(
            f"The clusterer failed on {plural(int(missing.sum()), 'simulated data set')} of {len(scores)}, in part "
            "or as a whole: missing scores were omitted.",
            ReplicateWarning,
        )


def _origins(result: Any) -> tuple[RunOrigin, ...]:
    """Return what a result came from, where that is known and can be simulated."""
    if not isinstance(result, Replicability | Comparison):
        raise ParameterError(
            f"result must be what replicability or compare returned, for one agreement; got {type(result).__name__}.",
            parameter="result",
        )
    origins = result._origins if isinstance(result, Comparison) else (result._origin,)
    if origins is None or origins[0] is None:
        raise ParameterError(
            "This result was read from a file, which holds scores but no data: run it again with "
            f"rng={result.provenance['seed']} to compare it with simulated data.",
            parameter="result",
        )
    known = [origin for origin in origins if isinstance(origin, RunOrigin)]
    if isinstance(result, Comparison):
        return tuple(known)
    agreements = tuple(agreement for agreement in known[0].agreements if agreement.name == result.agreement)
    return (replace(known[0], agreements=agreements),)


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


@dataclass(frozen=True, eq=False)
class NullPlan(Plan[NullScores]):
    """Everything that a simulated data set's scores follow from, except its number."""

    records = (NullScores,)

    studies: tuple[Study, ...]
    order: tuple[int, ...]  # the studies by their names: so they are simulated, whatever order they were given in
    simulated: NullModel
    given: bool  # whether a user's sampler draws
    configurations: tuple[Configuration, ...]
    agreements: tuple[Agreement, ...]
    noise: Any
    source: Source  # the result's own resampling, and the root of all data sets
    n_resamples: int  # 0: observed scores
    model: str  # which, and whether in coordinates
    identities: tuple[str, ...]  # a digest of each configuration
    unit = "simulated data sets"

    @classmethod
    def of(cls, origins: Sequence[RunOrigin], null: str | Sampler, n_resamples: int, root: int) -> NullPlan:
        """Take the settings of a result; where features outnumber samples, in coordinates."""
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
            if in_features or null not in models.NULLS or null in models.OF_FEATURES:
                simulated = models.null_model_of(null, by_name)
            else:
                rotation = Rotation.of([study.X for study in by_name])
                simulated = models.null_model_of(null, by_name, rotation)
                simulated_in = Rotation(rotation.origin, tuple(simulated(make_generator(0))), None)
                configurations = tuple(
                    Configuration(configuration.name, in_coordinates(configuration.clusterer, simulated_in))
                    for configuration in configurations
                )
        return cls(
            studies=first.studies,
            order=order,
            simulated=simulated,
            given=callable(null),
            configurations=configurations,
            agreements=first.agreements,
            noise=first.noise,
            source=first.source.with_root(root),
            n_resamples=n_resamples,
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
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """One part for each configuration."""
        return self.identities

    def only(self, places: Sequence[int]) -> NullPlan:
        """Return a plan with some of the configurations."""
        configurations = tuple(self.configurations[place] for place in places)
        return replace(self, configurations=configurations, identities=tuple(self.identities[c] for c in places))

    def split_value(self, value: NullScores) -> list[NullScores]:
        """Divide scores by configuration."""
        return [NullScores(*(array[c : c + 1] for array in value)) for c in range(len(self.parts))]

    def join_values(self, values: Sequence[NullScores]) -> NullScores:
        """Put the scores of all configurations together."""
        return NullScores(*map(np.concatenate, zip(*values, strict=True)))

    def data_set(self, number: int) -> tuple[tuple[Study, ...], Source]:
        """Simulate all studies, and return the source of their draws and fits."""
        root = derived_root(self.source.root, Stream.NULL, number)
        by_name = self.simulated(make_generator(np.random.SeedSequence(root)))
        tables = dict(zip(self.order, by_name, strict=True))
        studies = tuple(
            study.with_table(read_only(_with_missing(tables[s], study))).scaled_again()
            for s, study in enumerate(self.studies)
        )
        return studies, self.source.with_root(root)

    description = "null model"

    @cached_property
    def _work(self) -> tuple[Cost, bool, bool]:
        """What a data set takes, whether kernels do most of the work, and whether there are any.

        Estimated from the first one, or from the studies where a user's sampler draws.
        """
        studies = self.studies if self.given else self.data_set(1)[0]
        setting = Setting.prepare(self.source, studies, self.configurations, for_run=False, rotate=False)
        n, n_drawn = max(1, self.n_resamples), sum(study.X.size for study in studies)
        cost = Cost(n * setting.cost.kernels, n * setting.cost.python + n_drawn * DRAWN_SECONDS)
        return cost, setting.in_threads and not self.given, setting.has_kernels

    @property
    def cost(self) -> Cost:
        """Roughly how long a data set takes: its draw, and its resamples."""
        return self._work[0]

    @property
    def in_threads(self) -> bool:
        """Whether kernels do most of the work; a sampler or an agreement that is a user's function is not one."""
        return self._work[1] and all(agreement.of_counts for agreement in self.agreements)

    @property
    def compiles(self) -> bool:
        """Whether there are kernels: in its learners, or in an agreement that needs logarithms."""
        return self._work[2] or any(agreement.compiled for agreement in self.agreements)

    @property
    def batch(self) -> int:
        """How many data sets are scored together: enough to share what Python does, not too many for memory."""
        if self.n_resamples:
            return 1
        if self.here:
            n_bytes = BYTES_OF_NUMBER * sum(study.X.size for study in self.studies)
            return int(max(1, min(MOST_ON_DEVICE, free_bytes(self.source.device) / n_bytes)))
        sizes = np.array([len(study) for study in self.studies], dtype=float)
        n_bytes = 8 * (sizes @ sizes) + 4 * sizes.sum() * len(sizes) * len(self.configurations)
        return int(max(1, min(MOST_TOGETHER, TOGETHER_SECONDS / self.cost.total, MOST_BYTES / n_bytes)))

    def block(self, numbers: Sequence[int]) -> list[NullScores]:
        """Score simulated data sets."""
        settings: list[Setting] = []
        for number in numbers:
            studies, source = self.data_set(number)
            learners = settings[0].learners if settings and settings[0].serve_other_studies else None
            settings.append(Setting.prepare(source, studies, self.configurations, learners=learners))
        return _scores_of_data_sets(settings, self.agreements, self.noise, self.n_resamples)

    def lost(self, number: int, cause: str) -> NullScores:
        """Return a data set without scores."""
        n, S = len(self.configurations), len(self.studies)
        return NullScores(np.full((n, len(self.agreements), S, S), np.nan), np.full(n, np.nan))


def _scores_of_data_sets(
    settings: Sequence[Setting], agreements: tuple[Agreement, ...], noise: Any, n_resamples: int = 0
) -> list[NullScores]:
    """Average the scores of resamples of data sets; separateness is that of the observed studies.

    A single-cluster score counts 0, because it shows no agreement about clusters; so does a partition in which all
    samples but one are noise.

    settings : with the same learners where these serve other studies, whose samples are then scored together
    n_resamples : how many are averaged; 0: the observed scores
    """
    plans = [ScorePlan(setting, 0, agreements, diagonal=False, noise=noise, separateness=True) for setting in settings]
    if all(setting.learners is settings[0].learners for setting in settings):
        samples = [setting.resample(s, FULL_STUDY) for setting in settings for s in range(len(setting.studies))]
        as_they_are = plans[0].score_samples(samples)
    else:
        as_they_are = [plan.replicate(FULL_STUDY) for plan in plans]
    averaged = []
    for full, plan in zip(as_they_are, plans, strict=True):
        drawn, scored = range(1, n_resamples + 1), [] if n_resamples else [full]
        for begin in range(0, n_resamples, plan.batch):
            scored += replace(plan, separateness=False).block(drawn[begin : begin + plan.batch])
        nothing = [(each.trivial[:, None] & ~np.isnan(each.scores)) | (each.causes == ONLY_NOISE) for each in scored]
        scores = np.where(nothing, 0.0, [each.scores for each in scored])
        with quiet():
            separateness = np.asarray(np.nanmean(full.separateness, axis=(1, 2)))
            averaged.append(NullScores(np.asarray(np.nanmean(scores, axis=0)), separateness))
    return averaged


def _observed_means(result: Replicability | Comparison) -> FloatArray:
    """Return means over resamples in which single-cluster scores count 0, (n_configurations, n_agreements, S, S)."""
    several = isinstance(result, Comparison)
    scores = result.distribution if several else result.distribution[None, None]
    trivial = result.trivial[:, None] if several else result.trivial[None, None]
    failed = result.failed[:, :, 1:] if several else result.failed[None, None, 1:]
    noise = 1 + result.causes.index(ONLY_NOISE) if ONLY_NOISE in result.causes else -1
    nothing = (trivial & ~np.isnan(scores)) | (failed == noise)
    with quiet():
        return np.asarray(np.nanmean(np.where(nothing, 0.0, scores), axis=2))
