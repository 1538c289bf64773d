"""`score`: what one site says of the clustering functions of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clustrep.agreement.agreements import Agreement, AgreementSpec, resolve_agreements
from clustrep.agreement.batches import Pairs
from clustrep.agreement.contingency import ONLY_NOISE, Partition, tables_of
from clustrep.algorithms.separateness import spread_of
from clustrep.cached import cached_property
from clustrep.checks import check_flag, check_integer
from clustrep.data.study import Study
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.execution.failures import Failures
from clustrep.execution.run import Plan, run
from clustrep.execution.seeds import FULL_STUDY, Failed, one_thread
from clustrep.federated.clusters import local_row, mean_by_cluster
from clustrep.federated.disclosure import Disclosure, LogEntry, harmless
from clustrep.federated.files import VERSION, ClusterTable, CrossTable, GapTable, SiteFunctions, SiteScores
from clustrep.federated.forms import Form
from clustrep.federated.inquiry import Inquiry, resampling_of
from clustrep.federated.learning import check_study
from clustrep.federated.null import Simulator
from clustrep.federated.reading import check_same_question, read_files
from clustrep.federated.suppression import NOT_TOLD, conservative_window, suppressed_sizes, suppressed_table
from clustrep.federated.valleys import gap_counts, without_ties
from clustrep.fitting.resample import Labelled, PointSet, Source
from clustrep.fitting.setting import ClusteringPlan, Setting
from clustrep.provenance import installed_versions
from clustrep.summaries import label
from clustrep.text import listing, plural
from clustrep.types import BoolArray, FloatArray, IntArray

# Decimals of scores beside contingency tables: from all digits small counts would follow.
DECIMALS_BESIDE_TABLES = 3
# Units may differ where a mean is farther from the training study's than this number of its standard deviations,
# or than this number, and than FAR times the distance between the training study's clusters.
FAR, NOT_NEAR = 5.0, 2.0


def score(
    study: Study,
    functions: Sequence[SiteFunctions | str | PathLike[str]],
    *,
    agreement: AgreementSpec | tuple[AgreementSpec, ...] = ("ari", "ami"),
    diagonal: bool = True,
    gaps: bool = False,
    tables: bool = False,
    decimals: int | None = None,
    disclosure: Disclosure | None = None,
    n_jobs: int | None = None,
) -> SiteScores:
    """Score the clustering functions of other sites on this site's study.

    For partners who trust each other: whoever writes the functions can learn the values of this site's samples from the
    scores (see Notes).

    For every function of another site and every replicate, two partitions of this study's draw are compared: that by
    the other site's function, and that by the function learned here. The question (clusterers, numbers of clusters,
    resampling, seed) is the one that the files state.

    Parameters
    ----------
    study : Study
        This site's own, under its name in the federated analysis. Features that the question does not have are left
        out; it is scaled as the question says. The files choose the features: pass a study without any others than
        those agreed on.
    functions : sequence of files or of SiteFunctions
        What other sites learned; a file of this site itself is ignored.
    agreement : str or a tuple of these
        As in `replicability`; the same at all sites.
    diagonal : bool
        Also score the study against itself, as in `replicability`.
    gaps : bool
        Also count samples between the clusters of other sites.
    tables : bool
        Also count samples by the clusters of other sites and by this site's, for the study as it is; small counts are
        withheld, with further ones that keep them from being found by subtraction within the table.
    decimals : int, optional
        Round scores to this number of decimals. By default not at all; beside tables to 3, which is the most.
    disclosure : Disclosure, optional
        What the file stores; the `secret` must be that of `learn`.
    n_jobs
        As in `replicability`.

    Returns
    -------
    SiteScores
        `.save(path)` writes it to one file; printed, it lists its contents.

    See Also
    --------
    learn : The functions of a site.
    combine : The scores of all sites together.

    Notes
    -----
    The file stores no labels of samples. Per pair of sites, configuration and resample it stores one number per
    agreement and whether a partition is a single cluster; per cluster of the training site the mean local score of this
    site's samples in it, where these are enough, and whether it is empty; and, if asked for, counts.

    Functions are not compared with their question. One that declares k = 2 to 4 and carries 4,000 to 100,000 centres
    located 150 of 150 samples within 0.02 sd, with secret draws and scores of 1 decimal. docs/federated.md lists the
    attacks that were tried, with their rates.

    References
    ----------
    Masoero, Thomas, Parmigiani, Tyekucheva, Trippa (2023). Cross-study replicability in cluster analysis. Statistical
    Science 38(2), sections 3.3.1 to 3.3.3.
    Cox (1980). Suppression methodology and statistical disclosure control. Journal of the American Statistical
    Association 75.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.federated import learn
    >>> from clustrep.datasets import simulate_cohorts
    >>> alpha, beta = simulate_cohorts(n_cohorts=2, missing={}, shifted={}, rng=1).values()
    >>> of_alpha = learn(KMeans(4, n_init=3), alpha, n_resamples=5, rng=0)
    >>> score(beta, [of_alpha]).scores.shape  # configurations, agreements, replicates, alpha and beta itself
    (1, 2, 6, 2)
    """
    rules = Disclosure() if disclosure is None else disclosure
    if not isinstance(rules, Disclosure):
        raise ParameterError(f"disclosure must be Disclosure(...) or None, got {disclosure!r}.", parameter="disclosure")
    of_sites = read_files(functions, SiteFunctions, "functions")
    inquiry = check_same_question(of_sites)
    others = [site for site in of_sites if site.study != check_study(study).name]
    if not others:
        raise DataError(f"functions holds no file but that of {study.name!r} itself: name those of other sites.")
    here = study_for(inquiry, study)
    warn_of_units(here, others)
    if decimals is not None:
        check_integer(decimals, "decimals")
    if check_flag(tables, "tables"):
        decimals = DECIMALS_BESIDE_TABLES if decimals is None else decimals
        if decimals > DECIMALS_BESIDE_TABLES:
            raise ParameterError(
                f"decimals must be at most {DECIMALS_BESIDE_TABLES} beside tables, got {decimals}: from more digits "
                "the counts that are withheld follow. Round to fewer, or write no tables.",
                parameter="decimals",
            )
    source = Source(resampling_of(inquiry.resampling), rules.root(inquiry.seed), inquiry.accelerate)
    plan = SitePlan(
        setting=Setting.prepare(source, [here], inquiry.configurations, rotate=False),
        functions=tuple(tuple(tuple(site.functions(c)) for site in others) for c in range(len(inquiry.configurations))),
        agreements=resolve_agreements(agreement),
        diagonal=check_flag(diagonal, "diagonal"),
    )
    asked = _Asked(check_flag(gaps, "gaps"), check_flag(tables, "tables"), decimals)
    return _Scoring(here, others, inquiry, rules, plan, asked, n_jobs).result()


def study_for(inquiry: Inquiry, study: Study) -> Study:
    """Return the study with the question's features in its order, scaled and in the precision that it states."""
    lacking = [feature for feature in inquiry.features if feature not in set(study.features)]
    if lacking:
        raise DataError(
            f"Study {study.name!r} lacks {plural(len(lacking), 'feature')} of the functions: "
            f"{listing(map(repr, lacking))}. Learn again, at all sites, with features that all of them have."
        )
    study = study.select(inquiry.features)
    if study.scale == "none":
        study = study.scaled(inquiry.scale)
    if study.scale != inquiry.scale:
        raise DataError(
            f"Study {study.name!r} is scaled by {study.scale!r}, but the functions were learned on features scaled by "
            f"{inquiry.scale!r}: pass the study as it is."
        )
    if study.X.dtype == np.float64 and inquiry.precision == "float32":
        raise DataError(
            f"Study {study.name!r} is in double precision, but the functions were learned in single precision: learn "
            "again in double precision at all sites, or convert the table."
        )
    return study._with_precision(np.dtype(inquiry.precision))


def warn_of_units(study: Study, others: Sequence[SiteFunctions]) -> None:
    """Warn of features whose mean at another site is so far from this study's that their units may differ."""
    mean, sd = study.X.mean(axis=0), study.X.std(axis=0)
    for site in others:
        moments = [_moments_of(site, c) for c in range(len(site.shelves))]
        known = next((both for both in moments if both is not None), None)
        if known is None:
            continue
        there, between = known
        apart, unit = np.abs(there - mean), np.where(sd > 0, sd, np.inf)
        far = np.flatnonzero((apart > FAR * unit) | ((apart > NOT_NEAR * unit) & (apart > FAR * between)))
        if far.size:
            told = [f"{study.features[j]!r} ({there[j]:.3g} there, {mean[j]:.3g} here)" for j in far]
            warn(
                f"The means of study {site.study!r} are far from those of {study.name!r} in "
                f"{plural(len(told), 'feature')}: {listing(told, 3)}. Are the units the same?",
                DataWarning,
            )


def _moments_of(site: SiteFunctions, c: int) -> tuple[FloatArray, FloatArray] | None:
    """Return the mean of a site's samples and the distances between its clusters, as far as these tell them."""
    form, sizes = site.functions(c)[FULL_STUDY], site.shelves[c].sizes
    centres = None if isinstance(form, Failed) else form.centres(sizes)
    if centres is None or not len(sizes):
        return None
    clusters = getattr(form, "clusters", np.arange(len(centres)))
    weights = np.bincount(clusters, sizes, minlength=len(centres)) if len(clusters) == len(sizes) else None
    return np.asarray(np.average(centres, axis=0, weights=weights)), np.ptp(centres, axis=0)


# ---------------------------------------------------------------------------------------------------------------------
# the run


class _Asked(NamedTuple):
    gaps: bool
    tables: bool
    decimals: int | None


class SiteReplicate(NamedTuple):
    """The scores of one replicate; the last column is the site itself."""

    scores: FloatArray  # (n_configurations, n_agreements, n_trains + 1)
    trivial: BoolArray  # (n_configurations, n_trains + 1)
    clusters_found: IntArray  # (n_configurations,)
    causes: NDArray[np.object_]  # (n_configurations, n_agreements, n_trains + 1)
    local: list[list[FloatArray]]  # by configuration and training site: mean local scores of its clusters, (k,)


@dataclass(frozen=True, eq=False)
class SitePlan(ClusteringPlan[SiteReplicate]):
    """Everything that a site's scores follow from, except the replicate's number."""

    functions: tuple[tuple[tuple[Form | Failed, ...], ...], ...]  # by configuration, training site and replicate
    agreements: tuple[Agreement, ...]
    diagonal: bool
    by_cluster: bool = True
    description: str = "scores"

    @cached_property
    def clusters(self) -> list[list[Partition | Failed]]:
        """Samples of this site by the clusters of every other site's study as it is, by configuration and site."""
        full = [[by_replicate[FULL_STUDY] for by_replicate in by_site] for by_site in self.functions]
        place = self.setting.places[0]
        return [[_first(partitions(form, place)) for form in forms] for forms in full]

    @property
    def in_threads(self) -> bool:
        """Whether all work is done by kernels."""
        return False

    def block(self, numbers: Sequence[int]) -> list[SiteReplicate]:
        """Score replicates: this site's functions are learned from all draws together."""
        setting, B, T = self.setting, len(numbers), len(self.functions[0])
        place, n_configurations = setting.places[0], len(self.functions)
        samples = setting.resamples_of(0, numbers)
        second = setting.resamples_of(0, numbers, second=True) if self.diagonal else []
        pairs = Pairs(self.agreements, "label", (B, n_configurations, T + 1))
        n_found = np.full((B, n_configurations), -1)
        local: list[list[list[FloatArray]]] = [[[] for _ in range(n_configurations)] for _ in numbers]
        c = 0
        for learner in setting.learners:
            learned, learned_again = learner.learn(samples), learner.learn(second)
            for member in range(len(learner.members)):
                for b, (number, sample) in enumerate(zip(numbers, samples, strict=True)):
                    weights = sample.draw.weights
                    learned_here = learned[b].labels(member, [sample.points, place])
                    if isinstance(learned_here, Labelled):
                        n_found[b, c] = learned_here.n_clusters
                    tested = (
                        learned_here if isinstance(learned_here, Failed) else (learned_here.at(0), learned_here.at(1))
                    )
                    for t, by_replicate in enumerate(self.functions[c]):
                        trained = partitions(by_replicate[number], sample.points, place)
                        pairs.add((b, c, t), _first(trained), learned_here.at(0), weights)
                        clusters = self.clusters[c][t] if self.by_cluster else Failed("")
                        if isinstance(clusters, Failed):
                            local[b][c].append(np.empty(0))
                            continue
                        row = local_row(self.agreements[0], trained, tested, weights, len(place))
                        local[b][c].append(mean_by_cluster(row, clusters.codes, clusters.n_labels))
                    if self.diagonal:
                        again = learned_again[b].labels(member, [sample.points])
                        pairs.add((b, c, T), again.at(0), learned_here.at(0), weights)
                c += 1
        scores, trivial, causes = pairs.score()
        scores, causes = np.moveaxis(scores, 0, 2), np.moveaxis(causes, 0, 2)
        return [SiteReplicate(*of) for of in zip(scores, trivial, n_found, causes, local, strict=True)]


TwoPartitions: TypeAlias = tuple[Partition, Partition]  # of a draw, and of the study as it is


def partitions(form: Form | Failed, drawn: PointSet, whole: PointSet | None = None) -> TwoPartitions | Failed:
    """Apply a function of another site to the points of a draw and to the study as it is."""
    if isinstance(form, Failed):
        return form
    of_draw = Partition(form.labels(drawn), np.arange(form.n_labels))
    if whole is None or whole is drawn:
        return of_draw, of_draw
    return of_draw, Partition(form.labels(whole), of_draw.classes)


def _first(both: TwoPartitions | Failed) -> Partition | Failed:
    return both if isinstance(both, Failed) else both[0]


@dataclass(frozen=True, eq=False)
class _Scoring:
    study: Study
    others: Sequence[SiteFunctions]
    inquiry: Inquiry
    rules: Disclosure
    plan: SitePlan
    asked: _Asked
    n_jobs: int | None

    def result(self) -> SiteScores:
        """Score everything, and write what may leave the site."""
        replicates = run(self.plan, range(self.inquiry.n_replicates), self.n_jobs)
        scores = np.stack([replicate.scores for replicate in replicates], axis=2)  # (C, A, R, T + 1)
        causes = np.stack([replicate.causes for replicate in replicates], axis=2)
        failed, cause_names = Failures.number(np.vectorize(harmless, otypes=[object])(causes))
        log: list[LogEntry] = []
        with one_thread():
            null_scores, null_separateness = self._null()
            separateness = self._separateness()
            clusters = self._clusters(replicates, log)
            gap_tables = self._gaps(log) if self.asked.gaps else ()
            cross_tables = self._tables(log) if self.asked.tables else ()
        if self.asked.decimals is not None:
            log.append(LogEntry("scores", scores.size, scores.size, f"rounded to {self.asked.decimals} decimals"))
        return SiteScores(
            version=VERSION,
            study=self.study.name,
            n_samples=len(self.study),
            inquiry=self.inquiry.to_fields(),
            rules=self.rules.to_fields(),
            trains=tuple(site.study for site in self.others),
            train_digests=tuple(site.digest for site in self.others),
            train_logs=tuple([entry.to_fields() for entry in site.disclosure_log] for site in self.others),
            agreements=tuple(agreement.name for agreement in self.plan.agreements),
            decimals=self.asked.decimals,
            diagonal=self.plan.diagonal,
            scores=self._rounded(scores),
            trivial=np.stack([replicate.trivial for replicate in replicates], axis=1),
            failed=failed,
            clusters_found=np.stack([replicate.clusters_found for replicate in replicates], axis=1),
            separateness=self._rounded(separateness),
            null_scores=self._rounded(null_scores),
            null_separateness=self._rounded(null_separateness),
            causes=cause_names,
            clusters=clusters,
            gaps=gap_tables,
            tables=cross_tables,
            log=tuple(entry.to_fields() for entry in log),
            versions=installed_versions(),
        ).sealed()

    def _rounded(self, values: FloatArray) -> FloatArray:
        return values if self.asked.decimals is None else np.round(values, self.asked.decimals)

    def _pairs(self) -> list[tuple[int, int]]:
        return [(c, t) for c in range(len(self.plan.functions)) for t in range(len(self.others))]

    def _name(self, c: int, t: int) -> str:
        configuration = self.inquiry.configurations[c]
        return f"{label(configuration.name, configuration.n_clusters)}, functions of {self.others[t].study}"

    def _separateness(self) -> FloatArray:
        place = self.plan.setting.places[0]
        spread = spread_of(place)
        values = np.full((len(self.plan.functions), len(self.others)), np.nan)
        for c, t in self._pairs():
            form = self.plan.functions[c][t][FULL_STUDY]
            if not isinstance(form, Failed):
                values[c, t] = spread.separateness(form.labels(place), form.n_labels)
        return values

    def _clusters(self, replicates: Sequence[SiteReplicate], log: list[LogEntry]) -> tuple[ClusterTable, ...]:
        """Average local scores over the clusters of other sites; those with few samples here are withheld."""
        least, tables = self.rules.min_cluster_size, []
        for c, t in self._pairs():
            clusters = self.plan.clusters[c][t]
            if isinstance(clusters, Failed):
                continue
            sizes = np.bincount(clusters.codes, minlength=clusters.n_labels)
            means = np.array([replicate.local[c][t] for replicate in replicates])
            small = (sizes > 0) & (sizes < least)
            means[:, small] = np.nan
            told = suppressed_sizes(sizes, least)
            if small.any():
                why = f"fewer than {plural(least, 'sample')} here"
                log.append(LogEntry(f"scores of clusters, {self._name(c, t)}", int(small.sum()), len(sizes), why))
            rounded = self._rounded(means)
            tables.append(ClusterTable(self.others[t].study, c, told, rounded[0], rounded[1:]))
        return tuple(tables)

    def _gaps(self, log: list[LogEntry]) -> tuple[GapTable, ...]:
        """Count samples between clusters of other sites; small counts are rounded, against a gap."""
        X, least, tables = without_ties(self.study, self.plan.setting.source.root), self.rules.min_cluster_size, []
        for c, t in self._pairs():
            form, site = self.plan.functions[c][t][FULL_STUDY], self.others[t]
            counted = None if isinstance(form, Failed) else gap_counts(X, form, site.shelves[c].sizes)
            if counted is None:
                continue
            edges, counts = counted
            told = conservative_window(counts, least)
            if (told != counts).any():
                n = int((told != counts).sum())
                why = f"below {least}: rounded so that no gap appears"
                log.append(LogEntry(f"counts between clusters, {self._name(c, t)}", n, counts.size, why))
            tables.append(GapTable(site.study, c, edges, told))
        return tuple(tables)

    def _tables(self, log: list[LogEntry]) -> tuple[CrossTable, ...]:
        """Count samples by two functions, of the study as it is."""
        setting, least, tables = self.plan.setting, self.rules.min_cluster_size, []
        sample, by_configuration = setting.resample(0, FULL_STUDY), []
        for learner in setting.learners:
            (learned,) = learner.learn([sample])
            by_configuration += [learned.labels(member, [sample.points]) for member in range(len(learner.members))]
        for c, t in self._pairs():
            form, labelled = self.plan.functions[c][t][FULL_STUDY], by_configuration[c]
            if isinstance(form, Failed) or isinstance(labelled, Failed):
                continue
            tested = labelled.at(0)
            shape = (form.n_labels, tested.n_labels)
            counts = tables_of(form.labels(sample.points)[None], tested.codes, None, shape)[0].astype(np.int64)
            told = suppressed_table(counts, least)
            n = int((told == NOT_TOLD).sum())
            if n:
                why = f"counts below {least}, and those that would tell them"
                log.append(LogEntry(f"cells of the table, {self._name(c, t)}", n, counts.size, why))
            tables.append(CrossTable(self.others[t].study, c, told))
        return tuple(tables)

    def _null(self) -> tuple[FloatArray, FloatArray]:
        """Score the functions of simulated studies on this site's simulated studies."""
        inquiry, C, T = self.inquiry, len(self.plan.functions), len(self.others)
        M, N = len(inquiry.null), inquiry.n_null if inquiry.null else 0
        scores = np.full((M, N, C, len(self.plan.agreements), T), np.nan)
        separateness = np.full((M, N, C, T), np.nan)
        for m, model in enumerate(inquiry.null):
            functions = tuple(tuple(tuple(site.null_functions(m, c)) for site in self.others) for c in range(C))
            simulator = Simulator.of(self.study, model, self.plan.setting.source, inquiry)
            plan = SimulatedScores(simulator, functions, self.plan.agreements)
            for i, (score, q) in enumerate(run(plan, range(1, N + 1), self.n_jobs)):
                scores[m, i], separateness[m, i] = score, q
        return scores, separateness


@dataclass(frozen=True, eq=False)
class SimulatedScores(Plan[tuple[FloatArray, FloatArray]]):
    """Score the functions of simulated studies on a simulated study of this site."""

    simulator: Simulator
    functions: tuple[tuple[tuple[Form | Failed, ...], ...], ...]
    agreements: tuple[Agreement, ...]
    description: str = "scores without clusters"

    def replicate(self, number: int) -> tuple[FloatArray, FloatArray]:
        """Return scores, (n_configurations, n_agreements, n_trains), with 0 for single-cluster scores; separateness."""
        setting = self.simulator.setting(number)
        functions = tuple(tuple((by_number[number - 1],) for by_number in by_site) for by_site in self.functions)
        scored = SitePlan(setting, functions, self.agreements, diagonal=False, by_cluster=False).replicate(FULL_STUDY)
        nothing = (scored.trivial[:, None] & ~np.isnan(scored.scores)) | (scored.causes == ONLY_NOISE)
        place = setting.places[0]
        spread = spread_of(place)
        separateness = [
            [
                np.nan if isinstance(form, Failed) else spread.separateness(form.labels(place), form.n_labels)
                for (form,) in by_site
            ]
            for by_site in functions
        ]
        return np.where(nothing, 0.0, scored.scores)[..., :-1], np.array(separateness)
