"""Algorithms 1 and 2: how well each study's clustering predicts the others', for all pairs in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustrep.agreement.agreements import Agreement, AgreementSpec, resolve_agreements
from clustrep.agreement.batches import Pairs
from clustrep.agreement.contingency import RULES, Noise
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.separateness import separateness_of_pairs, shares_between, spread_of
from clustrep.checks import check_choice, check_flag, check_integer, check_labels_of
from clustrep.data.studies import Studies, StudiesLike, as_studies
from clustrep.data.study import Study
from clustrep.errors import DataError, ParameterError
from clustrep.execution.checkpoints import checkpointing, computes_a_share
from clustrep.execution.failures import Failures
from clustrep.execution.run import RunCache
from clustrep.execution.seeds import FULL_STUDY, Failed, Rng
from clustrep.fitting.fingerprint import agreements_of, facts_of, identity_of, manifest_of
from clustrep.fitting.parameters import Clusterer, Configuration, KnownLabels, check_clusterer, name_of, takes_missing
from clustrep.fitting.resample import Resample, Source, provenance_of_run
from clustrep.fitting.setting import ClusteringPlan, RunOrigin, Setting
from clustrep.resampling.strategies import Resampling, Simulate, resampling_for
from clustrep.summaries import label, quiet
from clustrep.text import listing
from clustrep.types import BoolArray, FloatArray, IntArray

KnownLabelsLike: TypeAlias = Mapping[str, ArrayLike] | Literal[True]


def replicability(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    agreement: AgreementSpec | tuple[AgreementSpec, ...] | list[AgreementSpec] = "ari",
    n_resamples: int = 100,
    diagonal: bool = True,
    labels: KnownLabelsLike | None = None,
    noise: Noise = "label",
    resampling: Resampling | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
    n_landmarks: int | None = None,
) -> Any:
    """Measure how well the clustering learned on each study replicates on every other (Algorithms 1 and 2).

    For every ordered pair of studies (train X, test X′), two partitions of the test study are compared: that by the
    clustering function learned on the training study, and that by the function learned on the test study itself,

        R̂ = r*( Ψ(X′; X), Ψ(X′; X′) ),

    where r* is an agreement such as the adjusted Rand index. R̂⁽ᵇ⁾ is the same for resamples X⁽ᵇ⁾ and X′⁽ᵇ⁾ of both.
    Every function is learned once per replicate and serves all pairs and all agreements.

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted as a copy. A `random_state` of None is filled from the replicate's seed; a fixed one is obeyed, so that
        all replicates share it. In a scikit-learn `Pipeline` the first steps are fitted to every draw of the training
        study and applied to the test studies: ``make_pipeline(SimpleImputer(), KMeans(3))`` fills in missing values,
        ``make_pipeline(TrainEmbedding(), KMeans(3))`` clusters principal components. Steps that are equal in several
        clusterers are fitted once. None together with `labels`, or a transformer in whose space nearest samples are
        found.
    studies : Studies, mapping of name to table, or sequence of tables
        At least two, each of shape (n_samples, n_features).
    agreement : str, function of two labelings, or a tuple of these, default="ari"
        "ari", "ami", "ami_max", "ri", "mi", "prediction_strength" (the smallest share of a test cluster's pairs that
        stay together) or "matching" (the share of points that keep their label). A tuple returns one result for each,
        from the same fits.
    n_resamples : int, default=100
        Number of resamples.
    diagonal : bool, default=True
        Also score each study against itself: the function of a second, independent draw, tested on the first. A
        reference for the other scores; costs one more fit for each study and replicate.
    labels : mapping of study name to labels of shape (n_samples,), or True, default=None
        Known labels instead of a clusterer, with `clusterer=None`; True takes the studies' own. A point's label is then
        that of the nearest drawn sample.
    noise : {"label", "drop", "singletons"}, default="label"
        Points labelled −1 form a block like any other; or are left out where either side calls them noise; or form a
        block each.
    resampling : Bootstrap, Subsample, Jitter, a sum of these, or Simulate, default=None
        Where replicates come from. By default each drawn sample counts once (`Bootstrap(distinct=True)`), because
        copies of a sample agree with themselves and raise the score; `Bootstrap()` is the paper's. Where any study has
        more features than samples the default is `Subsample(0.8)`.
    rng : int, Generator, SeedSequence or None, default=None
        The seed. Draws depend on it, on the study's name and on the replicate's number, on nothing else.
    n_jobs : int or None, default=None
        Workers, as in joblib: −1 takes all cores. It never changes a result. Where and how else a run is carried out,
        such as on other machines or with a checkpoint, is set with `config_context`.
    n_landmarks : int, default=None
        For studies of many samples: fit the clusterer to this number of weighted landmarks of each larger study, and
        label all samples by what it learned from them. `provenance["landmark_error"]` is the standard deviation of the
        scores over sets of landmarks. See docs/scale.md.

    Returns
    -------
    Replicability, or a dict of them by agreement
        `.estimate` holds R̂, of shape (S, S), `.distribution` all R̂⁽ᵇ⁾, of shape (n_resamples, S, S); axes are (train,
        test).

    See Also
    --------
    compare : several clusterers and numbers of clusters on the same draws.
    local_replicability : the same question for single points and clusters.
    null_reference : the same scores on data without clusters.

    Notes
    -----
    A high score shows that a cut repeats, not that there are clusters: a single long Gaussian is cut across its long
    axis in every study. R̂ has a ceiling of 1, so two clear groups and one long one can score alike. Scores of
    different numbers of clusters are comparable only for agreements that are adjusted for chance.

    The mean and the interval over resamples are about R, the expected score of a function learned in a new training
    study and tested on a new test study, both of these sizes. Two properties of a resample set its mean apart from R.
    Copies of a sample always agree with each other, so that with the paper's `Bootstrap()` many small clusters without
    structure score too high; therefore each drawn sample counts once by default. And a resample holds fewer samples
    than a study, 63 % of them (80 % with `Subsample(0.8)`), so that the mean lies below R where scores still grow with
    the number of samples, most where features outnumber samples; therefore more of them are drawn there. `.estimate` is
    the observed score R̂. docs/calibration.md has means and coverage for both and for the paper's bootstrap.

    References
    ----------
    .. [1] Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
       cluster analysis. Statistical Science 38(2), 303-316, sections 3.3.1 and 3.3.2.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.datasets import simulate_cohorts
    >>> result = replicability(KMeans(4, n_init=3), simulate_cohorts(rng=1), n_resamples=5, rng=0)
    >>> result.estimate.shape, result.distribution.shape
    ((4, 4), (5, 4, 4))

    Principal components that are learned on every draw of a training study, and applied to the test studies:

    >>> from sklearn.pipeline import make_pipeline
    >>> from clustrep import TrainEmbedding
    >>> pipeline = make_pipeline(TrainEmbedding(n_components=2), KMeans(4, n_init=3))
    >>> replicability(pipeline, simulate_cohorts(rng=1), n_resamples=5, rng=0).estimate.shape
    (4, 4)
    """
    checked = check_several(as_studies(studies, allow_missing=may_miss_values(clusterer, labels)))
    chosen_resampling = resampling_for(resampling, tuple(checked.values()))
    configuration = check_configuration(clusterer, labels, tuple(checked.values()), chosen_resampling)
    source = Source.of(chosen_resampling, rng, n_landmarks)
    plan = score_plan(checked, [configuration], source, n_resamples, agreement, noise, diagonal=diagonal)
    with checkpointing(lambda: manifest_of(source, tuple(checked.values()), [configuration], **plan.choices), rng):
        comparison = run_comparison(plan, n_jobs)
    results = {asked.name: comparison.at(0, a) for a, asked in enumerate(plan.agreements)}
    return results if isinstance(agreement, tuple | list) else next(iter(results.values()))


# ---------------------------------------------------------------------------------------------------------------------
# the run


class ReplicateScores(NamedTuple):
    """The scores of one replicate; axes: configuration, agreement, training study, test study."""

    scores: FloatArray  # (n_configurations, n_agreements, S, S)
    trivial: BoolArray  # (n_configurations, S, S)
    clusters_found: IntArray  # (n_configurations, S), −1 where the fit failed
    causes: NDArray[np.object_]  # (n_configurations, n_agreements, S, S) of str, empty where there is a score
    separateness: FloatArray  # (n_configurations, S, S) where the plan asks for it, else empty


@dataclass(frozen=True, eq=False)
class ScorePlan(ClusteringPlan[ReplicateScores]):
    """Everything that scores follow from, except the replicate's number."""

    records = (ReplicateScores,)

    n_resamples: int
    agreements: tuple[Agreement, ...]
    diagonal: bool
    noise: Noise
    description: str = "replicability"
    separateness: bool = False  # only for draws without weights, such as the studies as they are

    @property
    def in_threads(self) -> bool:
        """Whether all work is done by kernels; an agreement that is a user's function is not."""
        return self.setting.in_threads and all(agreement.of_counts for agreement in self.agreements)

    @property
    def compiles(self) -> bool:
        """Whether there are kernels: in its learners, or in an agreement that needs logarithms."""
        return self.setting.has_kernels or any(agreement.compiled for agreement in self.agreements)

    @property
    def facts(self) -> dict[str, str]:
        """What scores follow from; each configuration's are a part of their own."""
        facts = facts_of(self.setting.source, self.setting.studies, **self.choices)
        return {**facts, "separateness": str(self.separateness)}

    @property
    def choices(self) -> dict[str, Any]:
        """What the caller chose, apart from data, clusterers and seed."""
        return {"agreement": agreements_of(self.agreements), "diagonal": self.diagonal, "noise": self.noise}

    @property
    def parts(self) -> tuple[str, ...]:
        """One part for each configuration."""
        return tuple(identity_of(configuration.clusterer) for configuration in self.configurations)

    def only(self, places: Sequence[int]) -> ScorePlan:
        """Return a plan with some of the configurations."""
        setting, chosen = self.setting, [self.configurations[place] for place in places]
        return replace(self, setting=Setting.prepare(setting.source, setting.studies, chosen))

    def split_value(self, value: ReplicateScores) -> list[ReplicateScores]:
        """Divide scores by configuration; separateness may be empty."""
        n = len(value.scores)
        divided = ([array[c : c + 1] if len(array) == n else array for c in range(n)] for array in value)
        return [ReplicateScores(*arrays) for arrays in zip(*divided, strict=True)]

    def join_values(self, values: Sequence[ReplicateScores]) -> ReplicateScores:
        """Put the scores of all configurations together."""
        return ReplicateScores(*map(np.concatenate, zip(*values, strict=True)))

    def block(self, numbers: Sequence[int]) -> list[ReplicateScores]:
        """Draw replicates, and score them together."""
        samples = self.setting.resamples(numbers)  # Alg. 2, line 4
        second = self.setting.resamples(numbers, second=True) if self.diagonal else []
        return self.score_samples(samples, second)

    def score_samples(self, samples: Sequence[Resample], second: Sequence[Resample] = ()) -> list[ReplicateScores]:
        """Score replicates: learn every ψ once, from all samples together, then compare on every test study.

        samples : those of all studies, one replicate after the other
        second : independent draws of the same, for the diagonal
        """
        setting, S = self.setting, len(self.setting.studies)
        B = len(samples) // S
        point_sets = [[sample.points for sample in samples[b * S : (b + 1) * S]] for b in range(B)]
        # Halves have the same samples: theirs is the question whether independent data put the same ones together.
        halves = bool(getattr(setting.source.resampling, "halves", False))
        other_points = [sample.points for sample in (second if halves else samples[: len(second)])]
        rule = RULES[self.noise]
        too_few = rule.omits and any(len(sample.draw.order) < 2 for sample in samples)
        one_by_one = halves or rule.is_split or too_few
        n_configurations = len(self.configurations)
        clusters_found = np.full((B, n_configurations, S), -1)
        pairs = Pairs(self.agreements, self.noise, (B, n_configurations, S, S), setting.device)
        spreads = [spread_of(sample.points) for sample in samples] if self.separateness else []
        separateness = np.full((B, n_configurations, S, S) if self.separateness else (B, 0), np.nan)
        c = 0
        for learner in setting.learners:
            learned = learner.learn(samples, [point_sets[i // S] for i in range(B * S)])
            learned_again = learner.learn(second, [[points] for points in other_points])
            scored = None
            if not one_by_one:
                scored = learner.score_pairs(learned, learned_again, S, self.agreements, spread=self.separateness)
            if scored is not None:
                some = slice(c, c + len(learner.members))
                pairs.take(scored.scores, scored.trivial, some)
                clusters_found[:, some] = scored.clusters_found
                if scored.between is not None:
                    separateness[:, some] = shares_between(scored.between, scored.n_labels, spreads)
                c += len(learner.members)
                continue
            for member in range(len(learner.members)):
                for b in range(B):
                    drawn = samples[b * S : (b + 1) * S]
                    points = point_sets[b]
                    functions = learned[b * S : (b + 1) * S]
                    labelled = [function.labels(member, points) for function in functions]  # Alg. 2, line 5
                    for s, labels in enumerate(labelled):
                        if not isinstance(labels, Failed):
                            clusters_found[b, c, s] = labels.n_clusters
                    for t in range(S):
                        tested, weights = labelled[t].at(t), drawn[t].draw.weights  # Ψ(X_t; X_t)
                        for s in range(S):
                            if s != t:
                                pairs.add((b, c, s, t), labelled[s].at(t), tested, weights)  # Ψ(X_t; X_s)
                            elif self.diagonal:
                                trained = learned_again[b * S + t].labels(member, [other_points[b * S + t]]).at(0)
                                pairs.add((b, c, t, t), trained, tested, weights)
                    if self.separateness:
                        separateness[b, c] = separateness_of_pairs(labelled, spreads[b * S : (b + 1) * S])
                c += 1
        scores, trivial, causes = pairs.score()  # Alg. 2, line 8; agreements come first
        scores, causes = np.moveaxis(scores, 0, 2), np.moveaxis(causes, 0, 2)
        of_replicates = zip(scores, trivial, clusters_found, causes, separateness, strict=True)
        return [ReplicateScores(*arrays) for arrays in of_replicates]


def score_plan(
    studies: Studies,
    configurations: Sequence[Configuration],
    source: Source,
    n_resamples: int,
    agreement: AgreementSpec | tuple[AgreementSpec, ...] | list[AgreementSpec],
    noise: Noise,
    *,
    diagonal: bool = True,
) -> ScorePlan:
    """Check what a run is asked for, and plan it.

    Parameters
    ----------
    studies : Studies
        The studies.
    configurations : sequence of Configuration
        Clusterers with their numbers of clusters.
    source : Source
        Resampling, seed and landmarks.
    n_resamples : int
        Number of resamples.
    agreement : str, function, or several
        By which pairs are scored.
    noise : {"label", "drop", "singletons"}
        What is done with samples labelled −1.
    diagonal : bool, default=True
        Whether studies are compared with themselves.

    Returns
    -------
    ScorePlan
    """
    check_choice(noise, "noise", RULES)
    return ScorePlan(
        n_resamples=check_integer(n_resamples, "n_resamples"),
        agreements=resolve_agreements(agreement),
        diagonal=check_flag(diagonal, "diagonal"),
        noise=noise,
        setting=Setting.prepare(source, tuple(studies.values()), configurations),
    )


def run_comparison(plan: ScorePlan, n_jobs: int | None, cache: RunCache | None = None) -> Comparison:
    """Compute all replicates and put them together; not to be computed again are those `cache` from a shorter run."""
    source, studies = plan.setting.source, plan.setting.studies
    cache = cache or RunCache()
    replicates = cache.run("scores", lambda: plan, range(FULL_STUDY, plan.n_resamples + 1), n_jobs)
    scores, trivial, clusters_found, causes, _ = (
        np.moveaxis(np.stack(arrays), 0, 1) for arrays in zip(*replicates, strict=True)
    )  # (n_configurations, 1 + n_resamples, ...)
    by_agreement, causes = np.moveaxis(scores, 1, 2), np.moveaxis(causes, 1, 2)
    failed, cause_names = _failures(plan, causes, by_agreement[:, :, 1:], clusters_found[:, 1:])
    landmark_error = _landmark_error(plan, by_agreement[:, :, 0], cache, n_jobs)
    return Comparison(
        names=tuple(study.name for study in studies),
        agreements=tuple(asked.name for asked in plan.agreements),
        clusterers=tuple(configuration.name for configuration in plan.configurations),
        n_clusters=tuple(configuration.n_clusters for configuration in plan.configurations),
        estimate=by_agreement[:, :, 0],
        distribution=by_agreement[:, :, 1:],
        trivial=trivial[:, 1:],
        clusters_found=clusters_found[:, 1:],
        failed=failed,
        causes=cause_names,
        provenance=provenance_of_run(
            source,
            studies,
            plan.configurations,
            n_resamples=plan.n_resamples,
            diagonal=plan.diagonal,
            noise=plan.noise,
            **landmark_error,
        ),
        _origins=tuple(
            RunOrigin(source, studies, configuration, plan.agreements, plan.noise)
            for configuration in plan.configurations
        ),
    )


def _landmark_error(plan: ScorePlan, estimate: FloatArray, cache: RunCache, n_jobs: int | None) -> dict[str, Any]:
    """Say how much scores depend on the choice of landmarks, by a second, independent set of them; nothing without any.

    With d the difference of two observed scores, √(mean of d² / 2) over pairs of different studies:
    the standard deviation of a score over sets of landmarks. By agreement, for every configuration.
    """
    source = plan.setting.source
    if source.n_landmarks is None:
        return {}
    second = replace(source, landmark_set=source.landmark_set + 1)

    def plan_of() -> ScorePlan:
        setting = Setting.prepare(second, plan.setting.studies, plan.configurations)
        return replace(plan, setting=setting, diagonal=False, description="second landmarks")

    scores = cache.run("second landmarks", plan_of, [FULL_STUDY], n_jobs)
    if not scores:  # another shard has it
        return {}
    difference = scores[0].scores - estimate  # (n_configurations, n_agreements, S, S)
    apart = ~np.eye(len(plan.setting.studies), dtype=bool)
    with quiet():
        error = np.sqrt(np.nanmean(difference[:, :, apart] ** 2, axis=2) / 2)
    by_agreement = zip(plan.agreements, error.T, strict=True)
    return {"landmark_error": {agreement.name: values.tolist() for agreement, values in by_agreement}}


def _failures(
    plan: ScorePlan, causes: NDArray[np.object_], distribution: FloatArray, clusters_found: IntArray
) -> tuple[IntArray, tuple[str, ...]]:
    """Number the causes of failed scores, and report them; the arrays are those of `RunScores`."""
    if not causes.astype(bool).any():
        return np.zeros(causes.shape, np.int64), ()
    failed, names = Failures.number(causes)
    n_studies = len(plan.setting.studies)
    n_scores = failed.size if plan.diagonal else failed.size // n_studies * (n_studies - 1)
    nothing_left = bool(np.isnan(distribution).all()) and not computes_a_share()
    Failures.count(failed, names, n_scores).report(
        "score", nothing_left=nothing_left, where=_where(plan, clusters_found < 0)
    )
    return failed, names


def _where(plan: ScorePlan, no_fit: BoolArray) -> str:
    """Say which configurations failed, and on which studies; and in which studies all samples are equal.

    no_fit : which fits failed, (n_configurations, n_resamples, S)
    """
    if not no_fit.any():
        return ""
    configurations = [
        repr(label(plan.configurations[c].name, plan.configurations[c].n_clusters))
        for c in np.flatnonzero(no_fit.any(axis=(1, 2))).tolist()
    ]
    studies = plan.setting.studies
    names = [repr(studies[s].name) for s in np.flatnonzero(no_fit.any(axis=(0, 1)))]
    same = [repr(study.name) for study in studies if not np.ptp(study.X, axis=0).any()]
    constant = f" All samples of {' and of '.join(same)} are the same." if same else ""
    return f" Failed on {listing(names)}: {listing(configurations)}.{constant}"


# ---------------------------------------------------------------------------------------------------------------------
# checks that several functions share


def check_several(studies: Studies) -> Studies:
    """Check that there is something to replicate on."""
    if len(studies) < 2:
        undivided = next((study._undivided for study in studies.values()), "")
        advice = undivided or "To see how well one study predicts itself, split it: Studies.split(X)."
        raise ParameterError(
            f"studies must hold at least two studies, got {len(studies)}. {advice}", parameter="studies"
        )
    return studies


def may_miss_values(clusterer: Clusterer, labels: KnownLabelsLike | None) -> bool:
    """Whether a clusterer, or the transformer that comes before known labels, takes missing values."""
    return takes_missing(clusterer if labels is None else KnownLabels({}, clusterer))


def check_configuration(
    clusterer: Clusterer, labels: KnownLabelsLike | None, studies: Sequence[Study], resampling: object
) -> Configuration:
    """Check that there is either a clusterer or known labels for every study."""
    if labels is None:
        if clusterer is None:
            raise ParameterError(
                "clusterer is None: pass a clusterer, or known labels with labels=.", parameter="clusterer"
            )
        return Configuration(name_of(clusterer), check_clusterer(clusterer))
    if clusterer is not None and (hasattr(clusterer, "fit_predict") or not hasattr(clusterer, "transform")):
        raise ParameterError(
            "Pass either a clusterer or labels, not both: labels are used instead of a clusterer.", parameter="labels"
        )
    if isinstance(resampling, Simulate):
        raise ParameterError(
            "labels can't be used with Simulate: simulated samples have no known labels.", parameter="labels"
        )
    if labels is True:
        labels = {study.name: study.labels for study in studies if study.labels is not None}
    if not isinstance(labels, Mapping):
        raise ParameterError(
            f"labels must map each study's name to its labels, got {type(labels).__name__}.", parameter="labels"
        )
    missing = [study.name for study in studies if study.name not in labels]
    if missing:
        raise DataError(f"labels are missing for {listing(map(repr, missing))}: every study needs them.")
    unknown = [name for name in labels if name not in {study.name for study in studies}]
    if unknown:
        raise DataError(
            f"labels name {listing(map(repr, unknown))}, but no study has this name: correct the name, or leave it out."
        )
    known = {
        study.name: check_labels_of(
            labels[study.name], study.name, len(study), study.samples if study.samples_are_named else None
        )
        for study in studies
    }
    return Configuration("known labels", KnownLabels(known, clusterer))
