"""The whole analysis: findings, scores on the aligned studies, the null model where no clusters are separated."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustrep.agreement.agreements import AgreementSpec, resolve_agreements
from clustrep.agreement.contingency import RULES, Noise
from clustrep.algorithms.choice import Candidate, Choice
from clustrep.algorithms.compare import check_enough_samples, configurations_to_compare
from clustrep.algorithms.local import local_replicability
from clustrep.algorithms.local_scores import LocalReplicability
from clustrep.algorithms.replicability import ScorePlan, check_several, run_comparison, score_plan
from clustrep.analysis.alternatives import alternatives_of
from clustrep.analysis.headline import Preliminary
from clustrep.analysis.result import Analysis, place_samples
from clustrep.checks import UNKNOWN, check_choice, check_flag, check_integer, check_known
from clustrep.data.studies import Studies, StudiesLike, as_studies
from clustrep.data.values import AUTO
from clustrep.errors import AllReplicatesFailed, ClustrepWarning, ParameterError
from clustrep.execution.checkpoints import Manifest, Shard, checkpointing
from clustrep.execution.context import told_progress
from clustrep.execution.run import RunCache
from clustrep.execution.seeds import Rng
from clustrep.findings.alignment import aligned
from clustrep.findings.annotations import annotations_of
from clustrep.findings.assign import with_reference
from clustrep.findings.cluster_tree import ClusterTree
from clustrep.findings.clustering_tree import ClusteringTree, clustering_tree, study_for_tree, tests_of_tree
from clustrep.findings.features import with_features
from clustrep.findings.find import (
    attempts_of,
    find_clusters,
    partition_of,
    with_partition,
    with_replicability,
)
from clustrep.findings.power import detectable_of
from clustrep.findings.result import CONTINUOUS, SEPARATED, Findings
from clustrep.findings.subclusters import cluster_tree
from clustrep.findings.verdict import best_above, focus_of
from clustrep.fitting.fingerprint import agreements_of, manifest_of
from clustrep.fitting.parameters import Configuration, takes_missing
from clustrep.fitting.resample import Source
from clustrep.null.models import UNIMODAL, UNIMODAL_MODELS, Sampler, check_null
from clustrep.null.null_reference import NullPlan, check_takes_simulated, null_reference, reference_of
from clustrep.provenance import Provenance
from clustrep.resampling.strategies import Resampling, resampling_for
from clustrep.summaries import label

# Resamples and simulated data sets of a preliminary answer.
FIRST_RESAMPLES = 20
FIRST_NULL = 39
# The smallest number with which p-values reach 0.05.
FEWEST_NULL = 19


@dataclass(frozen=True)
class RunOptions:
    """What an analysis seldom needs: `analyse(..., options=RunOptions(...))`.

    Parameters
    ----------
    resampling : Bootstrap, Subsample, Jitter, a sum of these, or Simulate, default=None
        Where replicates come from; by default as in `replicability`.
    noise : {"label", "drop", "singletons"}, default="label"
        Treatment of samples labelled −1, as in `replicability`.
    null : str or function of (study, rng), default="unimodal"
        The null model, as in `null_reference`: by default unimodal data, of three kinds.
    n_landmarks : int, default=None
        As in `replicability`: all steps fit to this number of landmarks of each larger study.
    recursive : bool, default=False
        Whether every separated cluster is split again by the same clusterers, and tested again: `Analysis.tree`. The
        chance of any false split in the whole tree is controlled; see the notes of `analyse`.
    alternatives : bool, default=False
        Whether findings are computed again with other scalings, and with a narrower and a wider range of numbers of
        clusters: `Analysis.alternatives`. A verdict that depends on these is said to be sensitive.

    See Also
    --------
    analyse : The function that takes it.
    config_context : Where and how an analysis is computed: progress, other machines, a checkpoint.

    Notes
    -----
    All of these change results; none changes which studies and clusterers are compared.

    Examples
    --------
    >>> RunOptions(n_landmarks=500).recursive
    False
    """

    resampling: Resampling | None = None
    noise: Noise = "label"
    null: str | Sampler = UNIMODAL
    n_landmarks: int | None = None
    recursive: bool = False
    alternatives: bool = False

    def __post_init__(self) -> None:
        check_choice(self.noise, "noise", RULES)
        check_null(self.null)
        check_flag(self.recursive, "recursive")
        check_flag(self.alternatives, "alternatives")


def analyse(
    clusterers: Any,
    studies: StudiesLike,
    *,
    n_clusters: Any = None,
    param_grid: Mapping[str, Any] | None = None,
    agreement: AgreementSpec | tuple[AgreementSpec, ...] = ("ari", "ami"),
    n_resamples: int = 100,
    n_null: int = 199,
    scale: str = AUTO,
    train: str | Sequence[str] | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
    options: RunOptions = RunOptions(),
) -> Analysis:
    """Find the clusters of several studies: how many, in which studies, and whether they are separated.

    First the findings: clusters of each study by itself, matched across studies, with a status in every study. Where
    none are separated, scores are compared with a null model. The verdict is *separated* (density valleys between
    clusters), *continuous structure* (partitions replicate better than under the null model, without valleys), *no
    evidence of clusters* or *inconclusive*. Then `compare` on the studies, aligned by the clusters that they share,
    and `local_replicability` between all pairs of studies.

    Parameters
    ----------
    clusterers, studies, n_clusters, param_grid, agreement, n_resamples, rng, n_jobs
        As in `compare`. The first agreement decides.
    n_null : int, default=199
        Number of simulated data sets, at least 19, for each null model. They are needed only where no clusters are
        separated, and a model is left after the first 19, 39 or 99 where these decide: it clearly explains the scores,
        or the best partition is far beyond it. 0 omits the null model: then the verdict is inconclusive there.
    scale : {"auto", "none", "pooled", "study", "reference=NAME"}, default="auto"
        How studies are made comparable. "auto": features as given or divided by their spread within studies,
        whichever shows clusters more clearly, and studies moved and scaled so that the clusters that they share
        coincide; without clusters, studies whose means differ by more than one standard deviation are centred. The
        others are those of `Studies.scaled`, and nothing is moved.
    train : str or sequence of str, default=None
        The studies whose samples have local scores in the others; by default all. An empty sequence leaves local
        scores out: the findings are the same, in a fraction of the time.
    options : RunOptions, default=RunOptions()
        How studies are resampled, the null model, landmarks, and whether clusters are split again.

    Returns
    -------
    Analysis
        `.verdict`, `.n_clusters`, `.findings` (the table of cluster × study, and the label of every sample),
        `.headline`, the answer in words; and the scores of all clusterers.

    See Also
    --------
    compare, null_reference, local_replicability : The steps for themselves.
    Report : The analysis as a page.

    Notes
    -----
    The first steps of a pipeline are fitted in all steps of the analysis. Density valleys are looked for between the
    clusters that it finds, in the features themselves; coordinates for density valleys, figures and unimodal data are
    those of the nearest samples of the same study where values are missing.

    Meant as the first call on several studies of the same kind. A single study is taken, too: its random halves are
    then compared, and whether another study has its clusters is not tested. Error rates and power on many kinds of
    data, and what other methods answer there, are in docs/exam.md. All decisions are made at a level of 5 %; with
    several analyses of the same studies, errors add up.

    With ``RunOptions(recursive=True)`` a cluster that holds n of all N samples is tested for density valleys at the
    level 0.05 · (n − 1) / (N − 1), and only where the cluster around it was split [2]_; its parts are kept apart by
    density valleys that are significant one by one. The largest clusters without density valleys within have no samples
    in common, and their levels add up to at most 5 %: with that chance at most there is any false split in the tree, as
    far as the test of a density valley keeps its level (docs/sub-clusters.md has simulations).

    References
    ----------
    .. [1] Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
       cluster analysis. Statistical Science 38(2), 303-316.
    .. [2] Kimes, P. K., Liu, Y., Hayes, D. N. and Marron, J. S. (2017). Statistical significance for hierarchical
       clustering. Biometrics 73(3), 811-821.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.datasets import simulate_cohorts
    >>> studies = simulate_cohorts(n_cohorts=2, n_samples=60, missing={}, shifted={}, rng=1)
    >>> analysis = analyse(KMeans(n_init=3), studies, n_clusters=[3, 4], n_resamples=10, n_null=39, rng=0)
    >>> analysis.verdict, analysis.n_clusters
    ('separated', 4)
    >>> analysis.findings.table()["status"].unique().tolist()
    ['found']
    """
    configurations = configurations_to_compare(clusterers, n_clusters, param_grid)
    allow_missing = all(takes_missing(each.clusterer) for each in configurations)
    read = as_studies(studies, allow_missing=allow_missing)
    check_enough_samples(configurations, read)
    if not isinstance(options, RunOptions):
        raise ParameterError(f"options must be RunOptions(...), got {options!r}.", parameter="options")
    if n_null != 0:
        check_integer(n_null, "n_null", at_least=FEWEST_NULL)
    wanted = [train] if isinstance(train, str) else train
    followed = read.names if wanted is None else tuple(dict.fromkeys(wanted))
    for name in followed:
        check_known(name, "study to train on", read, parameter="train")
    given = read if scale == AUTO else read.scaled(scale)
    decisive = agreement[0] if isinstance(agreement, tuple | list) else agreement
    # One seed and one way to resample for all steps.
    source = Source.of(resampling_for(options.resampling, tuple(given.values())), rng, options.n_landmarks)
    if n_null:
        check_takes_simulated(configurations, options.null)
    asked_for = partial(manifest_of_analysis, configurations, given, agreement, options.noise, source)
    totals = {ScorePlan.unit: n_resamples, NullPlan.unit: n_null}
    with checkpointing(asked_for, rng, totals):
        compared, findings = made_comparable(given, configurations, source, scale, n_jobs)
        of_features = compared
        if len(given) == 1:  # what one study can show: whether its halves agree
            (name,) = given.names
            compared, followed = Studies.split(compared[name], 2, rng=source.root), ()
        plan = score_plan(check_several(compared), configurations, source, n_resamples, agreement, options.noise)
        steps = Steps(compared, given, scale, findings, plan, configurations, options.null, n_null, n_jobs)
        tell = told_progress()
        if tell is not None:
            steps.preliminary(tell)
        answer = steps.final()
        shown = compared if len(given) > 1 else given
        places, names = place_samples(shown)
        described = with_features(steps.with_partition(answer.findings, answer.choice), of_features, read)
        start = Analysis(
            with_reference(described, read, of_features),
            answer.comparison,
            answer.reference,
            (),
            places,
            names,
            known_labels_of(given),
            warnings=_notes_on(given, scale),
            _studies=shown,
        )
        if (start.known_labels != "").any():
            labels = start.known_labels.tolist()
            start = replace(start, annotations=annotations_of(start.findings, None, known=labels))
        if options.recursive and start.verdict == SEPARATED and len(given) > 1:
            start = replace(start, tree=steps.tree(start.findings))
        if options.alternatives:
            again = alternatives_of(read, clusterers, configurations, param_grid, scale, source.rerun(), n_jobs)
            start = replace(start, alternatives=again)
        return _followed(start, steps, followed, decisive)


def made_comparable(
    given: Studies, configurations: Sequence[Configuration], source: Source, scale: str, n_jobs: int | None
) -> tuple[Studies, Findings]:
    """Find the clusters of all studies, and align the studies by them."""
    findings = find_clusters(given, configurations, source.rerun(), scale=scale, n_jobs=n_jobs)
    return aligned(given, findings, scale)


def _followed(start: Analysis, steps: Steps, followed: Sequence[str], decisive: AgreementSpec) -> Analysis:
    """Score the samples of the studies that are named in every other study, by the configuration in focus.

    Of one study, also by the same clusterer with other numbers of clusters, without resamples: the tree over k.
    """
    focus = start.focus
    if focus is None or not followed:
        return start
    configuration = steps.configuration_of(focus)
    local: list[LocalReplicability] = []
    for name in followed:
        by_test = _local_scores(steps, configuration, name, decisive, steps.plan.n_resamples)
        local += [replace(result, clusterer=focus.clusterer) for result in by_test.values()]
    findings = with_replicability(start.findings, local)
    return replace(start, local=tuple(local), findings=findings, clustering_tree=_tree_over_k(start, steps, decisive))


def _local_scores(
    steps: Steps, configuration: Configuration, train: str, decisive: AgreementSpec, n_resamples: int
) -> dict[str, LocalReplicability]:
    source, plan = steps.plan.setting.source, steps.plan
    scores: dict[str, LocalReplicability] = local_replicability(
        configuration.clusterer,
        train=steps.studies[train],
        test=steps.studies,
        agreement=decisive,
        noise=plan.noise,
        n_resamples=n_resamples,
        rng=source.root,
        resampling=source.resampling,
        n_landmarks=source.n_landmarks,
        n_jobs=steps.n_jobs,
    )
    return scores


def _tree_over_k(start: Analysis, steps: Steps, decisive: AgreementSpec) -> ClusteringTree | None:
    """Follow the clusters of one study over all numbers of clusters of the clusterer in focus."""
    findings, comparison, focus = start.findings, start.comparison, start.focus
    if focus is None:
        return None
    study, place = study_for_tree(findings), steps.configurations.index(steps.configuration_of(focus))
    name, places = next((name, group) for name, group in comparison.curves.items() if place in group)
    tests = tests_of_tree(findings, study)

    def scores(c: int) -> dict[str, LocalReplicability]:
        with _without_warnings():  # the comparison gives them
            by_test = _local_scores(steps, steps.configurations[c], study, decisive, 1)
        return {test: by_test[test] for test in tests}

    labels = [label(comparison.clusterers[c], comparison.n_clusters[c]).removeprefix(f"{name}, ") for c in places]
    levels = {level: partial(scores, c) for level, c in zip(labels, places, strict=True)}
    return clustering_tree(findings, name, levels) if tests else None


@dataclass(frozen=True, eq=False)
class Steps:
    """Scores and null model: what the verdict rests on where no clusters are separated, computed in parts.

    Replicates are functions of their numbers: a preliminary answer uses the first ones, and the final answer computes
    only the others.
    """

    studies: Studies  # aligned
    given: Studies
    scale: str
    findings: Findings
    plan: ScorePlan
    configurations: Sequence[Configuration]
    null: str | Sampler
    n_null: int
    n_jobs: int | None
    cache: RunCache = field(default_factory=RunCache)

    def final(self) -> Preliminary:
        """Score all resamples, and compare with the null model where no clusters are separated."""
        comparison = run_comparison(self.plan, self.n_jobs, self.cache)
        reference = None
        if self.n_null and self.findings.verdict != SEPARATED:
            reference = reference_of(
                comparison, self.n_null, self.null, n_jobs=self.n_jobs, cache=self.cache, stop_early=True
            )
        answer = Preliminary(comparison, self.findings, reference)
        if reference is None or best_above(answer.choice) is not None:
            return answer
        n_tried = sum(map(len, attempts_of(self.configurations)))
        detectable = detectable_of(self.given, n_tried, self.scale, self.plan.setting.source.root % 2**32)
        return replace(answer, found=replace(self.findings, detectable=detectable))

    def preliminary(self, tell: Callable[[Preliminary], None]) -> None:
        """Hand out what the first resamples say, then the first simulated data sets."""
        if self.plan.n_resamples <= FIRST_RESAMPLES:
            return
        try:
            with _without_warnings():  # the whole run gives them
                first = run_comparison(replace(self.plan, n_resamples=FIRST_RESAMPLES), self.n_jobs, self.cache)
        except AllReplicatesFailed:  # perhaps the other resamples do not
            return
        tell(Preliminary(first, self.findings, None))
        if self.findings.verdict == SEPARATED or self.n_null <= FIRST_NULL:
            return
        with contextlib.suppress(AllReplicatesFailed), _without_warnings():
            reference = reference_of(
                first, FIRST_NULL, self.null, n_jobs=self.n_jobs, cache=self.cache, stop_early=True
            )
            tell(Preliminary(first, self.findings, reference))

    def configuration_of(self, candidate: Candidate) -> Configuration:
        """Return the configuration of a candidate."""
        (found,) = [
            each
            for each in self.configurations
            if (each.name, each.n_clusters) == (candidate.clusterer, candidate.n_clusters)
        ]
        return found

    def with_partition(self, findings: Findings, choice: Choice) -> Findings:
        """Fill the table with the partition of continuous structure: the best one of all studies pooled."""
        focus = focus_of(findings, choice)
        if findings.verdict != CONTINUOUS or focus is None or len(findings.names) < 2:
            return findings
        labels = partition_of(self.studies, self.configuration_of(focus), self.rerun, self.n_jobs)
        return findings if labels is None else with_partition(findings, labels)

    def tree(self, findings: Findings) -> ClusterTree:
        """Look for clusters within the separated clusters, and again within those."""
        return cluster_tree(self.studies, by_clusterer(self.configurations), findings, self.rerun, self.n_jobs)

    @property
    def rerun(self) -> Source:
        """The same seed, with studies unscaled."""
        return self.plan.setting.source.rerun()


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClustrepWarning)
        yield


def manifest_of_analysis(
    configurations: Sequence[Configuration],
    studies: Studies,
    agreement: AgreementSpec | tuple[AgreementSpec, ...],
    noise: Noise,
    source: Source,
) -> Manifest:
    """Say what an analysis is about, for its checkpoints."""
    return manifest_of(
        source,
        tuple(studies.values()),
        configurations,
        agreement=agreements_of(resolve_agreements(agreement)),
        noise=noise,
    )


def compute_share(
    shard: Shard,
    clusterers: Any,
    studies: Studies,
    *,
    n_clusters: Any,
    param_grid: Mapping[str, Any] | None,
    agreement: AgreementSpec | tuple[AgreementSpec, ...],
    n_resamples: int,
    n_null: int,
    scale: str,
    rng: Rng,
    n_jobs: int | None,
    options: RunOptions,
) -> Provenance:
    """Compute one share of those replicates of an analysis that do not depend on the outcome of others.

    These are the resamples of the comparison of the aligned studies, and the simulated data of every null model where
    no clusters are separated; arguments are those of `analyse`. Every share finds the clusters and aligns the studies.
    Local scores depend on all replicates: they are computed when shares are merged.
    """
    fewest = min(n_resamples, n_null or n_resamples)
    if shard.of > fewest:
        raise ParameterError(
            f"shard must have at most as many shares as there are replicates, {fewest}, got {shard.of}.",
            parameter="shard",
        )
    given = check_several(studies)
    configurations = configurations_to_compare(clusterers, n_clusters, param_grid)
    source = Source.of(resampling_for(options.resampling, tuple(given.values())), rng, options.n_landmarks)
    asked_for = partial(manifest_of_analysis, configurations, given, agreement, options.noise, source)
    compared, findings = made_comparable(given, configurations, source, scale, n_jobs)
    with checkpointing(asked_for, rng, shard=shard):
        plan = score_plan(compared, configurations, source, n_resamples, agreement, options.noise)
        comparison = run_comparison(plan, n_jobs)
        models: Sequence[str | Sampler] = ()
        if n_null and findings.verdict != SEPARATED:
            models = UNIMODAL_MODELS if options.null == UNIMODAL else (options.null,)
        for model in models:
            with contextlib.suppress(AllReplicatesFailed):  # of this share
                null_reference(comparison, n_null, null=model, n_jobs=n_jobs)
    return comparison.provenance


def _notes_on(studies: Studies, scale: str) -> tuple[str, ...]:
    """Warn of problems in the studies; the findings tell how they are aligned."""
    notes = studies.comparability()
    return (notes.without("location", "spread") if scale == AUTO else notes).sentences


def by_clusterer(configurations: Sequence[Configuration]) -> list[list[Configuration]]:
    """Group configurations by the name of their clusterer."""
    groups: dict[str, list[Configuration]] = {}
    for configuration in configurations:
        groups.setdefault(configuration.name, []).append(configuration)
    return list(groups.values())


def known_labels_of(studies: Studies) -> NDArray[np.str_]:
    """Return the known labels of all samples as text, study by study; "" where they are unknown."""
    labels = [[""] * len(study) if study.labels is None else study.labels.tolist() for study in studies.values()]
    return np.array(["" if label == UNKNOWN else str(label) for of_study in labels for label in of_study])
