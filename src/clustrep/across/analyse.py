"""The whole analysis: compare, compare with data without clusters, choose, follow the clusters of the choice."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustrep.across.apart import RESAMPLES_FOR_ERRORS, differences_of
from clustrep.across.compare import compare, comparison_plan, configurations_to_compare, run_comparison
from clustrep.across.counterparts import counterparts
from clustrep.across.local import local_replicability
from clustrep.across.null import NullPlan, check_takes_simulated, null_reference, reference_of
from clustrep.across.null_models import ONE_PIECE, PIECES, Sampler, check_null
from clustrep.across.presence import presence
from clustrep.across.replicability import ScorePlan, check_several
from clustrep.across.separation import separations
from clustrep.across.subclusters import cluster_tree
from clustrep.checks import check_choice, check_flag, check_integer, check_known
from clustrep.clustering.identity import agreements_of, question_of
from clustrep.clustering.sample import Configuration, Source, transforming
from clustrep.engine.checkpoints import Question, Shard, checkpointing, in_shard
from clustrep.engine.engines import EngineLike
from clustrep.engine.replicates import Rng, one_thread, root_entropy
from clustrep.engine.run import Kept, config_context, kept_in, on_engine, shows_progress, write_progress
from clustrep.errors import AllReplicatesFailed, ClustrepWarning, ParameterError
from clustrep.provenance import Provenance
from clustrep.resampling import Rerun, Resampling, resampling_for
from clustrep.results import (
    Analysis,
    ClusterTree,
    LocalReplicability,
    NullReference,
    Preliminary,
    Separation,
    StudyDifferences,
)
from clustrep.studies.collection import Studies, StudiesLike, as_studies
from clustrep.studies.missing_values import completed
from clustrep.tables.agreement import AgreementSpec, resolve_agreements
from clustrep.tables.noise import Noise
from clustrep.types import FloatArray

EMBEDDINGS = ("pca", "tsne")
# So many resamples and simulated collections are enough for a preliminary answer.
FIRST_RESAMPLES = 20
FIRST_COLLECTIONS = 39


@on_engine
def analyse(
    clusterers: Any,
    studies: StudiesLike,
    *,
    n_clusters: Any = None,
    over: Mapping[str, Any] | None = None,
    agreement: AgreementSpec | tuple[AgreementSpec, ...] = ("ari", "ami"),
    n_resamples: int = 100,
    null: str | Sampler | None = ONE_PIECE,
    n_null: int = 199,
    train: str | Sequence[str] | None = None,
    embedding: str = "pca",
    noise: Noise = "label",
    resampling: Resampling | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
    on_progress: Callable[[Preliminary], None] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    sketch: int | None = None,
    recursive: bool = False,
    embed: Any = None,
    impute: Any = None,
) -> Analysis:
    """Say to what degree there are groups, how many, which studies agree, and which clusters are where.

    `compare`, `separation` and `null_reference` give the degree: *separated* (gaps between groups are found again in
    studies that did not define them), *structured* (more than data in one piece explain, but no gaps) or *one piece*.
    Then, for the configuration that shows the groups (for one piece: the cut that repeats best), the presence of every
    cluster in every other study, `local_replicability` between all pairs of studies, and `counterparts`. The same seed
    gives the same scores as these functions do by themselves.

    Parameters
    ----------
    clusterers, studies, n_clusters, over, agreement, n_resamples, noise, resampling, rng, n_jobs, engine
        As in `compare`. The first agreement decides.
    null : str, function of (study, rng), or None
        As in `null_reference`: by default data in one piece, of three kinds. Single clusters are compared with the kind
        that explains the scores best. None omits these data: then structure can't be distinguished from one piece.
    n_null : int
        Number of simulated collections, at least 19.
    train : str or sequence of str, optional
        Whose clusters to follow into the other studies; by default all studies'. An empty sequence leaves out all
        scores of single clusters: the degree, the number of clusters and their presence in every study are found in a
        fraction of the time.
    embedding : {"pca", "tsne"}
        How samples with more than two features are placed in figures.
    checkpoint : str or path, optional
        A folder that keeps what all steps have finished: the same call continues there after it was interrupted or
        killed; with more resamples, clusterers or numbers of clusters it computes only what is new. Needs a seed.
    sketch : int, optional
        As in `replicability`: all steps fit to so many landmarks of each larger study.
    recursive : bool
        Whether every separated cluster is split again by the same clusterers, and tested again: `Analysis.tree`. The
        chance of any false split in the whole tree is controlled; see Notes.
    embed : "train", transformer or None
        As in `replicability`: learned on every draw of the training study alone, in all steps. Gaps are looked for
        between the clusters that this shows, in the features themselves.
    impute : "median", "mean", "nearest", transformer or None
        As in `replicability`, in all steps. Coordinates for gaps, presence, figures and data in one piece are those of
        the nearest samples of the same study where values are missing.
    on_progress : function of a Preliminary, optional
        Called with what the first 20 resamples say, and where these show no separated groups again with the first 39
        simulated collections. They are the first of those that the analysis uses anyway: its results are the same. By
        default preliminary answers are written to stderr where progress is shown (`config_context`).

    Returns
    -------
    Analysis
        `.headline`, the answer in words; `.degree`; `.focus`, the configuration that the rest is about; `.clusters()`,
        one row for every cluster; and the results of the single functions.

    See Also
    --------
    compare, separation, null_reference : The steps that decide the degree and the number of clusters.
    local_replicability, counterparts : The steps that follow single clusters.
    Report : The analysis as a page.

    Notes
    -----
    Meant as the first call on several studies of the same kind. The degree is one of three words for a continuum:
    groups that overlap much are called structured or one piece. Error rates and power on many kinds of data, and what
    other methods answer there, are in docs/exam.md. All decisions are made at a level of 5 %; with several analyses of
    the same studies, errors add up.

    With ``recursive=True`` a cluster that holds n of all N samples is tested for gaps at the level
    0.05 · (n − 1) / (N − 1), and only where the cluster around it was split [2]_; its parts are kept apart by gaps that
    are significant one by one. The largest clusters without gaps within have no samples in common, and their levels
    add up to at most 5 %: with that chance at most there is any false split in the tree, as far as the test of a gap
    keeps its level (docs/sub-clusters.md has simulations). The degree asks only whether there is any gap: its
    groups may be more than those that the tree begins with.

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
    >>> analysis.focus.n_clusters
    4
    >>> analysis.clusters()["verdict"].unique().tolist()
    ['holds']
    """
    checked = check_several(as_studies(studies, allow_missing=impute is not None))
    check_choice(embedding, "embedding", EMBEDDINGS)
    check_integer(n_null, "n_null", at_least=19)
    check_flag(recursive, "recursive")
    wanted = [train] if isinstance(train, str) else train
    followed = checked.names if wanted is None else tuple(dict.fromkeys(wanted))
    for name in followed:
        check_known(name, "study to train on", checked, parameter="train")
    if null is not None:
        check_null(null)
    configurations = configurations_to_compare(clusterers, n_clusters, over)
    decisive = agreement[0] if isinstance(agreement, tuple | list) else agreement
    with (
        contextlib.nullcontext() if sketch is None else config_context(sketch=sketch),
        transforming(impute=impute, embed=embed),
    ):
        # One seed and one way to resample for all steps.
        source = Source.of(resampling_for(resampling, tuple(checked.values())), rng)
        if null is not None:
            check_takes_simulated(source.transformer, null)
        asked_for = partial(question_of_analysis, configurations, checked, agreement, noise, source)
        totals = {ScorePlan.unit: n_resamples, NullPlan.unit: n_null}
        with kept_in(checkpoint, asked_for, rng, totals):
            plan = comparison_plan(checked, configurations, source, n_resamples, agreement, noise)
            steps = Steps(checked, plan, configurations, null, n_null, n_jobs)
            tell = on_progress or (write_progress if shows_progress() else None)
            gaps = [] if tell is None else steps.preliminary(tell)
            answer = steps.final(gaps, always_null=bool(followed))
            places, names = place_samples(checked, embedding)
            start = Analysis(
                answer.comparison,
                answer.reference,
                (),
                (),
                None,
                places,
                names,
                known_labels_of(checked),
                separations=tuple(answer.separations),
            )
            start = replace(start, tree=steps.tree(start)) if recursive else start
            return _followed(start, steps, followed, decisive)


def _followed(start: Analysis, steps: Steps, followed: Sequence[str], decisive: AgreementSpec) -> Analysis:
    """Follow the clusters of the configuration in focus into every study: those of the studies that are named."""
    focus, studies, n_jobs = start.focus, steps.studies, steps.n_jobs
    if focus is None:
        return start
    (in_focus,) = [
        configuration
        for configuration in steps.configurations
        if (configuration.name, configuration.n_clusters) == (focus.clusterer, focus.n_clusters)
    ]
    clusterer, plan, source = in_focus.clusterer, steps.plan, steps.plan.setting.source
    groups = start.verdict.separation or in_focus.n_clusters
    if groups is not None:
        words = presence(clusterer, studies, groups, n_clusters=in_focus.n_clusters, rng=source.root, n_jobs=n_jobs)
        start = replace(start, presence_result=words.of_training_on(followed) if followed else words)
    if not followed:
        return start
    options: dict[str, Any] = {
        "n_resamples": plan.n_resamples,
        "rng": source.root,
        "resampling": source.resampling,
        "n_jobs": n_jobs,
    }
    local: list[LocalReplicability] = []
    for name in followed:
        by_test = local_replicability(
            clusterer, train=studies[name], test=studies, agreement=decisive, noise=plan.noise, **options
        )
        local += [replace(result, clusterer=focus.clusterer) for result in by_test.values()]
    references: list[NullReference] = []
    if steps.null is not None:
        same = start.reference.model if start.reference is not None and steps.null == ONE_PIECE else steps.null
        references = [null_reference(result, steps.n_null, null=same, n_jobs=n_jobs) for result in local]
    return replace(
        start,
        local=tuple(local),
        local_references=tuple(references),
        counterparts=replace(counterparts(clusterer, studies, **options), clusterer=focus.clusterer),
        differences=_differences(studies, in_focus, Source.of(Rerun(), source.root), n_jobs),
    )


@dataclass(frozen=True, eq=False)
class Steps:
    """Scores, gaps and data in one piece: what the answer rests on, computed in parts.

    Replicates are functions of their numbers: a preliminary answer uses the first ones, and the final answer computes
    only the others.
    """

    studies: Studies
    plan: ScorePlan
    configurations: Sequence[Configuration]
    null: str | Sampler | None
    n_null: int
    n_jobs: int | None
    kept: Kept = field(default_factory=Kept)

    def final(self, gaps: Sequence[Separation], *, always_null: bool) -> Preliminary:
        """Score all resamples, and compare with data in one piece; only where there are no gaps, or always."""
        comparison = run_comparison(self.plan, self.n_jobs, self.kept)
        gaps = gaps or self.gaps()
        reference = None
        if self.null is not None and (always_null or not any_separated(gaps)):
            reference = reference_of(comparison, self.n_null, self.null, n_jobs=self.n_jobs, kept=self.kept)
        return Preliminary(comparison, gaps, reference)

    def preliminary(self, on_progress: Callable[[Preliminary], None]) -> Sequence[Separation]:
        """Hand out what the first resamples say, then the first collections; return the gaps, which are final."""
        if self.plan.n_resamples <= FIRST_RESAMPLES:
            return []
        try:
            with _without_warnings():  # the whole run gives them
                first = run_comparison(replace(self.plan, n_resamples=FIRST_RESAMPLES), self.n_jobs, self.kept)
        except AllReplicatesFailed:  # perhaps the other resamples do not
            return []
        gaps = self.gaps()
        on_progress(Preliminary(first, gaps, None))
        if self.null is None or any_separated(gaps) or self.n_null <= FIRST_COLLECTIONS:
            return gaps
        with contextlib.suppress(AllReplicatesFailed), _without_warnings():
            reference = reference_of(first, FIRST_COLLECTIONS, self.null, n_jobs=self.n_jobs, kept=self.kept)
            on_progress(Preliminary(first, gaps, reference))
        return gaps

    def gaps(self) -> list[Separation]:
        """Look for gaps between clusters, by every clusterer."""
        return separations(self.studies, by_clusterer(self.configurations), self.rerun, self.n_jobs)

    def tree(self, start: Analysis) -> ClusterTree:
        """Look for gaps within the separated clusters, and again within those."""
        shown = start.verdict.separation
        gaps = start.separations if shown is None else [shown]
        return cluster_tree(self.studies, by_clusterer(self.configurations), gaps, self.rerun, self.n_jobs)

    @property
    def rerun(self) -> Source:
        """The same seed, with studies as they are."""
        return Source.of(Rerun(), self.plan.setting.source.root)


def any_separated(gaps: Sequence[Separation]) -> bool:
    """Whether any clusterer shows separated groups."""
    return any(separation.separated for separation in gaps)


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClustrepWarning)
        yield


def question_of_analysis(
    configurations: Sequence[Configuration],
    studies: Studies,
    agreement: AgreementSpec | tuple[AgreementSpec, ...],
    noise: Noise,
    source: Source,
) -> Question:
    """Say what an analysis is about, for its checkpoints."""
    return question_of(
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
    checkpoint: str | PathLike[str],
    n_null: int,
    null: str | Sampler | None,
    **options: Any,
) -> Provenance:
    """Compute one share of those replicates of an analysis that do not depend on the outcome of others.

    These are the resamples of the comparison and the collections of every model of data in one piece; `options` are
    those of `compare`. Which clusters are followed depends on all of them: that is computed when shares are merged.
    """
    fewest = min([options["n_resamples"], *([] if null is None else [n_null])])
    if shard.of > fewest:
        raise ParameterError(
            f"shard must have at most as many shares as there are replicates, {fewest}, got {shard.of}.",
            parameter="shard",
        )
    root, checked = root_entropy(options["rng"]), check_several(as_studies(studies))
    source = Source.of(resampling_for(options.get("resampling"), tuple(checked.values())), root)
    configurations = configurations_to_compare(clusterers, options["n_clusters"], options.get("over"))
    asked_for = partial(question_of_analysis, configurations, checked, options["agreement"], options["noise"], source)
    with in_shard(shard), checkpointing(checkpoint, asked_for, options["rng"]):
        comparison = compare(clusterers, checked, diagonal=True, **{**options, "rng": root})
        models = () if null is None else PIECES if null == ONE_PIECE else (null,)
        for model in models:
            with contextlib.suppress(AllReplicatesFailed):  # of this share
                null_reference(comparison, n_null, null=model, n_jobs=options["n_jobs"])
    return comparison.provenance


def _differences(
    studies: Studies, configuration: Configuration, source: Source, n_jobs: int | None
) -> StudyDifferences | None:
    """Say which study lacks a cluster; None where the clusterer fails on the studies pooled, or finds noise alone."""
    try:
        differences = differences_of(studies, configuration, source, RESAMPLES_FOR_ERRORS, n_jobs)
    except AllReplicatesFailed:
        return None
    return differences if (differences.counts >= 0).any() else None


def by_clusterer(configurations: Sequence[Configuration]) -> list[list[Configuration]]:
    """Group configurations by the name of their clusterer."""
    groups: dict[str, list[Configuration]] = {}
    for configuration in configurations:
        groups.setdefault(configuration.name, []).append(configuration)
    return list(groups.values())


def known_labels_of(studies: Studies) -> NDArray[np.str_]:
    """Return the known labels of all samples as text, study by study; "" where a study has none."""
    labels = [[""] * len(study) if study.labels is None else study.labels.tolist() for study in studies.values()]
    return np.array([str(label) for of_study in labels for label in of_study])


def place_samples(studies: Studies, embedding: str) -> tuple[FloatArray, tuple[str, str]]:
    """Place all samples in two dimensions together, (number of samples, 2), and name these."""
    X = np.concatenate([completed(study.X) for study in studies.values()]).astype(float)
    if X.shape[1] == 1:
        return np.column_stack([X, np.zeros(len(X))]), (studies.features[0], "")
    if X.shape[1] == 2:
        return X, (studies.features[0], studies.features[1])
    with one_thread():
        if embedding == "pca":
            from sklearn.decomposition import PCA

            axes = PCA(2, random_state=0)
            placed = axes.fit_transform(X)
            first, second = axes.explained_variance_ratio_
            names = (f"first principal component ({first:.0%})", f"second principal component ({second:.0%})")
            return np.asarray(placed), names
        from sklearn.manifold import TSNE

        perplexity = min(30.0, (len(X) - 1) / 3)
        placed = TSNE(2, init="pca", perplexity=perplexity, random_state=0).fit_transform(X)
    return np.asarray(placed, dtype=float), ("first t-SNE coordinate", "second t-SNE coordinate")
