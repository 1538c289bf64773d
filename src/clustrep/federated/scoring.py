"""`score`: what one site says of the clustering functions of others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustrep.agreement.agreements import Agreement, resolve_agreements
from clustrep.agreement.batches import Pairs
from clustrep.agreement.contingency import Partition
from clustrep.data.study import Study
from clustrep.errors import DataError, DataWarning, warn
from clustrep.execution.context import config
from clustrep.execution.failures import Failures
from clustrep.execution.run import run
from clustrep.execution.seeds import FULL_STUDY, Failed, make_generator
from clustrep.federated.combined import TOLD
from clustrep.federated.files import SCORE_STEP, ExactScores, SiteFunctions, SiteScores
from clustrep.federated.forms import Centres
from clustrep.federated.policy import SCORES
from clustrep.federated.reading import verified
from clustrep.federated.session import Session
from clustrep.federated.site import MIXED, RESAMPLING, Approve, Site, opened_site
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Labelled, PointSet, Source
from clustrep.fitting.setting import ClusteringPlan, Setting
from clustrep.summaries import label, quiet, tails
from clustrep.text import listing, plural
from clustrep.types import BoolArray, FloatArray, IntArray

NOT_TOLD = "not told: a cluster of the partner has few samples here, or none, or the clusterer failed"
# Units may differ where a mean is farther from the training study's than this many standard deviations of this study;
# or than this many, and than FAR times the distance between the training study's clusters.
FAR, NOT_NEAR = 5.0, 2.0


def score(
    study: Study,
    functions: Sequence[SiteFunctions | str | PathLike[str]],
    session: Session | str | PathLike[str],
    policy: str | PathLike[str],
    key: str | PathLike[str],
    *,
    trust_partners: bool = False,
    approve: Approve | None = None,
    n_jobs: int | None = None,
) -> SiteScores:
    """Score the clustering functions of other sites on this site's study.

    For every function of another site and every resample of this study, two partitions of the resample are compared:
    that by the other site's function, and that by the function learned here.

    Parameters
    ----------
    study, session, policy, key, trust_partners, approve, n_jobs
        As in `learn`.
    functions : sequence of files or of SiteFunctions
        What other sites learned; a file of this site itself is ignored.

    Returns
    -------
    SiteScores
        `.save(path)` writes it to one signed file.

    Raises
    ------
    DataError
        Where a file was not signed by a partner for this session, where its functions do not answer the question, or
        where more functions were scored than the policy allows. Nothing that the error says depends on the samples.

    See Also
    --------
    learn : The functions of a site.
    combine : Functions and scores of all sites together.

    Notes
    -----
    Per function three numbers leave: the mean over resamples and a 95 % interval, in steps of 0.05. They are of a
    random half of the samples, another one for each function. Samples in small cells of the table of both
    partitions are left out, and nothing is told where a cluster of the other site has few samples here, or none.
    What is few lies between the policy's number and twice that; like the half and the resamples it is drawn for
    each function from the site's key, so that the same function always gets the same answer. docs/federated.md has
    the attacks that were tried.

    References
    ----------
    Kenthapadi, Mishra and Nissim (2005). Simulatable auditing. PODS.
    Masoero, Thomas, Parmigiani, Tyekucheva, Trippa (2023). Cross-study replicability in cluster analysis. Statistical
    Science 38(2), sections 3.3.1 and 3.3.2.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from clustrep.datasets import simulate_cohorts
    >>> from clustrep.federated import Policy, Session, learn, make_key, score
    >>> groups = dict(n_subtypes=2, n_features=3, separation=8, missing={}, shifted={}, rng=1)
    >>> alpha, beta = simulate_cohorts(n_cohorts=2, **groups).values()
    >>> folder = Path(tempfile.mkdtemp())
    >>> keys = {name: make_key(folder / f"{name}.key") for name in ("alpha", "beta")}
    >>> ranges = {feature: (-20, 20) for feature in alpha.features}
    >>> Policy("alpha", ranges, {"beta": keys["beta"]}).save(folder / "alpha.toml")
    >>> session = Session.agree(AgglomerativeClustering(2), features=alpha.features, sites=keys, n_resamples=5)
    >>> functions = learn(alpha, session, folder / "alpha.toml", folder / "alpha.key", trust_partners=True)
    >>> Policy("beta", ranges, {"alpha": keys["alpha"]}).save(folder / "beta.toml")
    >>> own = (session, folder / "beta.toml", folder / "beta.key")
    >>> score(beta, [functions], *own, trust_partners=True).scores.shape
    (1, 1, 3, 1)
    """
    opened = opened_site(study, session, policy, key, SCORES, trust_partners=trust_partners, approve=approve)
    with opened as site:
        files: list[SiteFunctions] = verified(functions, site.session, SiteFunctions)  # type: ignore[assignment]
        others = [file for file in files if file.study != study.name]
        names = [file.study for file in others]
        if not others or len(set(names)) < len(names):
            raise DataError("functions must hold one file of every other site, each once.")
        if any(file.exact_numbers != site.exact for file in others):
            raise DataError(MIXED)
        scored = {} if site.exact else _admitted(site, others)
        warn_of_units(site, others)
        exact, scores = (_exact(site, others, n_jobs)) if site.exact else ((), _told(site, others, n_jobs))
        known = np.array([[len(shelf.sizes) > 0 for shelf in other.shelves] for other in others]).T
        hidden = int((np.isnan(scores[:, 0, 0]) & known).sum())
        return site.release(
            SiteScores,
            SCORES,
            {"scored": scored},
            trains=tuple(names),
            train_digests=tuple(other.digest for other in others),
            scores=scores,
            exact=exact,
            log=(f"{hidden:,} of {known.sum():,} scores: {NOT_TOLD}",) if hidden else (),
        )


def warn_of_units(site: Site, others: Sequence[SiteFunctions]) -> None:
    """Warn of features whose mean at another site is so far from this study's that their units may differ."""
    X = site.study.X
    mean, sd = X.mean(axis=0), X.std(axis=0)
    for other in others:
        known = next((shelf for shelf in other.shelves if len(shelf.sizes)), None)
        if known is None or not known.sizes.sum():
            continue
        there, between = np.average(known.centroids[0], axis=0, weights=known.sizes), np.ptp(known.centroids[0], axis=0)
        apart, unit = np.abs(there - mean), np.where(sd > 0, sd, np.inf)
        far = np.flatnonzero((apart > FAR * unit) | ((apart > NOT_NEAR * unit) & (apart > FAR * between)))
        if far.size:
            told = [f"{site.study.features[j]!r} ({there[j]:.3g} there, {mean[j]:.3g} here)" for j in far]
            warn(
                f"The means of study {other.study!r} are far from those of {site.study.name!r} in "
                f"{plural(len(told), 'feature')}: {listing(told, 3)}. Are the units the same?",
                DataWarning,
            )


# ---------------------------------------------------------------------------------------------------------------------
# functions of partners, as the policy admits them


def function_id(session: Session, c: int, form: Centres) -> str:
    """Return a text that no other function to be scored has."""
    about = [session.clusterers[c][1], session.features, session.scale, session.agreements, session.n_resamples]
    text = json.dumps(about, sort_keys=True).encode()
    return hashlib.sha256(text + np.ascontiguousarray(form.centroids, dtype=float).tobytes()).hexdigest()[:32]


def _admitted(site: Site, others: Sequence[SiteFunctions]) -> dict[str, list[str]]:
    """Refuse functions that do not answer the question, and more of them than the policy allows; name the others."""
    rules, session, n = site.policy, site.session, site.rounded_size(len(site.study))
    before = site.record.functions()
    now: dict[str, list[str]] = {other.study: [] for other in others}
    for other in others:
        for c, configuration in enumerate(session.configurations):
            form = other.functions(c)[FULL_STUDY]
            if isinstance(form, Failed):
                continue
            wrong = rules.objection(form.centroids, configuration.n_clusters or 0, n, session)
            if wrong:
                name = label(configuration.name, configuration.n_clusters)
                raise DataError(f"The functions of {other.study!r} are refused: {name} has {wrong}. Ask for others.")
            now[other.study].append(function_id(session, c, form))
        scored = before.setdefault(other.study, set())
        scored.update(now[other.study])
        _check_number(len(scored), rules.functions_per_partner, "functions_per_partner", f"{other.study!r}")
    _check_number(sum(map(len, before.values())), rules.functions_in_all, "functions_in_all", "all partners")
    return now


def _check_number(number: int, most: int, name: str, whose: str) -> None:
    if number > most:
        raise DataError(
            f"With these files {number:,} functions of {whose} would have been scored; {name} is {most:,}: agree on "
            "a session with fewer numbers of clusters."
        )


def _told(site: Site, others: Sequence[SiteFunctions], n_jobs: int | None) -> FloatArray:
    """Return what leaves of the scores, (n_configurations, n_agreements, 3, n_trains)."""
    session, agreements = site.session, resolve_agreements(site.session.agreements)
    told = np.full((len(session.configurations), len(agreements), len(TOLD), len(others)), np.nan)
    for t, other in enumerate(others):
        for c, configuration in enumerate(session.configurations):
            form = other.functions(c)[FULL_STUDY]
            if not isinstance(form, Failed):
                told[c, :, :, t] = _answer(site, c, configuration, form, agreements, n_jobs)
    return told


def _answer(
    site: Site, c: int, configuration: Configuration, form: Centres, agreements: Sequence[Agreement], n_jobs: int | None
) -> FloatArray:
    """Score one function by its own half of the samples and its own draws, (n_agreements, 3); NaN: not told."""
    session, least = site.session, site.policy.min_cluster_size
    root = site.key.number(site.table, function_id(session, c, form))
    form = Centres("centroid", form.centroids)
    sizes = np.bincount(form.labels(PointSet(site.study.X)), minlength=len(form.centroids))
    drawn = make_generator(np.random.SeedSequence([root, 1]))
    threshold = int(least + drawn.integers(least))
    half = np.sort(drawn.permutation(len(site.study))[: len(site.study) // 2])
    nothing = np.full((len(agreements), len(TOLD)), np.nan)
    if sizes.min() < threshold:
        return nothing
    part, whole = site.study._part(half, site.study.name), PointSet(site.study.X)
    functions = [[[form] * (1 + session.n_resamples)]]
    plan = _plan(part, root, [configuration], functions, agreements, diagonal=False, cells=(whole, threshold))
    replicates = run(plan, range(1, 1 + session.n_resamples), n_jobs)
    scores = np.array([replicate.scores[0, :, 0] for replicate in replicates])  # (n_resamples, n_agreements)
    if np.isnan(scores).any():
        return nothing
    low, high = np.quantile(scores, tails(0.95), axis=0)
    summary = np.stack([scores.mean(axis=0), low, high], axis=1)
    return np.asarray(np.round(np.round(summary / SCORE_STEP) * SCORE_STEP, 2))


# ---------------------------------------------------------------------------------------------------------------------
# all scores of all resamples


class SiteReplicate(NamedTuple):
    """The scores of one replicate; the last column is the site itself."""

    scores: FloatArray  # (n_configurations, n_agreements, n_trains + 1)
    trivial: BoolArray  # (n_configurations, n_trains + 1)
    clusters_found: IntArray  # (n_configurations,)
    causes: NDArray[np.object_]  # (n_configurations, n_agreements, n_trains + 1)


@dataclass(frozen=True, eq=False)
class SitePlan(ClusteringPlan[SiteReplicate]):
    """Everything that a site's scores follow from, except the replicate's number."""

    functions: Sequence[Sequence[Sequence[Centres | Failed]]]  # by configuration, training site and replicate
    agreements: tuple[Agreement, ...]
    diagonal: bool
    cells: tuple[PointSet, int] | None = None  # samples in smaller cells of the table of these points are left out
    description: str = "scores"

    @property
    def in_threads(self) -> bool:
        """Whether all work is done by kernels."""
        return False

    def block(self, numbers: Sequence[int]) -> list[SiteReplicate]:
        """Score replicates: this site's functions are learned from all draws together."""
        setting, B, T = self.setting, len(numbers), len(self.functions[0])
        n_configurations = len(self.functions)
        samples = setting.resamples_of(0, numbers)
        second = setting.resamples_of(0, numbers, second=True) if self.diagonal else []
        pairs = Pairs(self.agreements, "label", (B, n_configurations, T + 1))
        n_found = np.full((B, n_configurations), -1)
        c = 0
        for learner in setting.learners:
            learned, learned_again = learner.learn(samples), learner.learn(second)
            for member in range(len(learner.members)):
                for b, (number, sample) in enumerate(zip(numbers, samples, strict=True)):
                    weights = sample.draw.weights
                    at = [sample.points] if self.cells is None else [sample.points, self.cells[0]]
                    here = learned[b].labels(member, at)
                    if isinstance(here, Labelled):
                        n_found[b, c] = here.n_clusters
                    for t, by_replicate in enumerate(self.functions[c]):
                        trained = partition(by_replicate[number], sample.points)
                        kept = (
                            weights
                            if self.cells is None
                            else self._without_small_cells(weights, trained, here, by_replicate[number])
                        )
                        pairs.add((b, c, t), trained, here.at(0), kept)
                    if self.diagonal:
                        again = learned_again[b].labels(member, [sample.points])
                        pairs.add((b, c, T), again.at(0), here.at(0), weights)
                c += 1
        scores, trivial, causes = pairs.score()
        scores, causes = np.moveaxis(scores, 0, 2), np.moveaxis(causes, 0, 2)
        return [SiteReplicate(*of) for of in zip(scores, trivial, n_found, causes, strict=True)]

    def _without_small_cells(
        self, weights: IntArray, trained: Partition | Failed, here: Labelled | Failed, form: Centres | Failed
    ) -> IntArray:
        """Give samples in cells with few samples of the whole study no weight."""
        if self.cells is None or isinstance(trained, Failed) or isinstance(here, Failed) or isinstance(form, Failed):
            return weights
        points, fewest = self.cells
        drawn, whole = here.at(0), here.at(1)
        counts = np.zeros((trained.n_labels, drawn.n_labels), dtype=np.int64)
        np.add.at(counts, (form.labels(points), whole.codes), 1)
        return np.where(counts[trained.codes, drawn.codes] < fewest, 0, weights)


def partition(form: Centres | Failed, points: PointSet) -> Partition | Failed:
    """Apply a function of another site."""
    return form if isinstance(form, Failed) else Partition(form.labels(points), np.arange(len(form.centroids)))


def _plan(
    study: Study,
    root: int,
    configurations: Sequence[Configuration],
    functions: Sequence[Sequence[Sequence[Centres | Failed]]],
    agreements: Sequence[Agreement],
    *,
    diagonal: bool,
    cells: tuple[PointSet, int] | None = None,
) -> SitePlan:
    source = Source(RESAMPLING, root, config().accelerate)
    setting = Setting.prepare(source, [study], configurations, rotate=False)
    return SitePlan(setting=setting, functions=functions, agreements=tuple(agreements), diagonal=diagonal, cells=cells)


def _exact(
    site: Site, others: Sequence[SiteFunctions], n_jobs: int | None
) -> tuple[tuple[ExactScores, ...], FloatArray]:
    """Return the scores of all resamples by public draws, and what they say in short."""
    session, agreements = site.session, resolve_agreements(site.session.agreements)
    functions = [[other.functions(c) for other in others] for c in range(len(session.configurations))]
    plan = _plan(site.study, session.seed, session.configurations, functions, agreements, diagonal=True)
    replicates = run(plan, range(1 + session.n_resamples), n_jobs)
    scores = np.stack([replicate.scores for replicate in replicates], axis=2)  # (C, A, R, T + 1)
    failed, causes = Failures.number(np.stack([replicate.causes for replicate in replicates], axis=2))
    exact = ExactScores(
        scores=scores,
        trivial=np.stack([replicate.trivial for replicate in replicates], axis=1),
        failed=failed,
        clusters_found=np.stack([replicate.clusters_found for replicate in replicates], axis=1),
        causes=causes,
    )
    with quiet():
        pairs = scores[..., :-1]
        low, high = np.nanquantile(pairs[:, :, 1:], tails(0.95), axis=2)
        told = np.stack([np.nanmean(pairs[:, :, 1:], axis=2), low, high], axis=2)
    return (exact,), told
