"""`learn`: the clustering functions of one site, for others to score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple

import numpy as np

from clustrep.data.study import Study
from clustrep.errors import DataError
from clustrep.execution.context import config
from clustrep.execution.run import run
from clustrep.execution.seeds import FULL_STUDY, Failed
from clustrep.federated.audit import objection
from clustrep.federated.files import Shelf, SiteFunctions
from clustrep.federated.forms import Centres, centres_of
from clustrep.federated.policy import FUNCTIONS
from clustrep.federated.session import Session
from clustrep.federated.site import RESAMPLING, Approve, Site, opened_site
from clustrep.fitting.resample import PointSet, Source
from clustrep.fitting.setting import ClusteringPlan, Setting
from clustrep.summaries import label
from clustrep.text import listing
from clustrep.types import FloatArray, IntArray

MAD = 1.4826  # standard deviation of a Gaussian with a median absolute deviation of 1
NO_FUNCTION = "the clusterer failed"
WITHHELD = "withheld by the rules of the site, or the clusterer failed"  # one answer: the reason stays in the log
OTHER_NUMBER = "another number of clusters than was asked for"


def learn(
    study: Study,
    session: Session | str | PathLike[str],
    policy: str | PathLike[str],
    key: str | PathLike[str],
    *,
    trust_partners: bool = False,
    approve: Approve | None = None,
    n_jobs: int | None = None,
) -> SiteFunctions:
    """Learn the clustering functions of one study, so that other sites can score them without its table.

    Algorithm 2 compares, on a test study, the function learned there with the function learned on a training study. The
    test site therefore needs functions, not samples, and returns scores, not labels.

    Parameters
    ----------
    study : Study
        The site's own, in original units, under the name that it has in the session and in the policy.
    session : Session or path
        What all sites agreed on.
    policy : path
        What the data owner lets leave (`Policy`). The log of everything that left is beside it. With `exact_numbers`
        in it, exact means of all resamples leave, and samples follow from them.
    key : path
        The key of the site (`make_key`).
    trust_partners : bool, default=False
        Must be True. The files of learn and score are for partners who trust each other: a partner who tries
        can tell, more often than by chance, that a person whose record is known takes part or that a patient is
        far from all others, and computes roughly the last patient of a cluster whose others are known.
    approve : callable, default=None
        Gets a summary of the file before it is written into the log, and says whether it may leave. By default nobody
        is asked.
    n_jobs : int, default=None
        As in `replicability`.

    Returns
    -------
    SiteFunctions
        `.save(path)` writes it to one signed file.

    Raises
    ------
    DataError
        Where session, policy, key, log and study do not fit together, or no function may leave.

    See Also
    --------
    score : What a site says of the functions of others.
    combine : Functions and scores of all sites together.

    Notes
    -----
    For every configuration the means and sizes of the clusters of the study leave, rounded, if the common refinement of
    all partitions that ever left has no small cell: then no combination of released numbers is about fewer samples. The
    coarsest configurations come first; of k-means with several k often one alone leaves, of a tree all.
    docs/federated.md has the rules, and the attacks that were tried against them.

    References
    ----------
    Hundepool et al. (2012). Statistical Disclosure Control. Wiley, chapter 4.
    Masoero, Thomas, Parmigiani, Tyekucheva, Trippa (2023). Cross-study replicability in cluster analysis. Statistical
    Science 38(2), sections 3.3.1 and 3.3.2.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from clustrep.datasets import simulate_cohorts
    >>> from clustrep.federated import Policy, Session, learn, make_key
    >>> groups = dict(n_subtypes=2, n_features=3, separation=8, missing={}, shifted={}, rng=1)
    >>> alpha, beta = simulate_cohorts(n_cohorts=2, **groups).values()
    >>> folder = Path(tempfile.mkdtemp())
    >>> keys = {name: make_key(folder / f"{name}.key") for name in ("alpha", "beta")}
    >>> ranges = {feature: (-20, 20) for feature in alpha.features}
    >>> Policy("alpha", ranges, {"beta": keys["beta"]}).save(folder / "alpha.toml")
    >>> session = Session.agree(AgglomerativeClustering(2), features=alpha.features, sites=keys, n_resamples=5)
    >>> functions = learn(alpha, session, folder / "alpha.toml", folder / "alpha.key", trust_partners=True)
    >>> functions.shelves[0].centroids.shape  # one function: two clusters, three features
    (1, 2, 3)
    """
    opened = opened_site(study, session, policy, key, FUNCTIONS, trust_partners=trust_partners, approve=approve)
    with opened as site:
        numbers = range(1 + site.session.n_resamples) if site.exact else range(1)
        source = Source(RESAMPLING, site.session.seed, config().accelerate)
        setting = Setting.prepare(source, [site.study], site.session.configurations, rotate=False)
        replicates = run(LearnPlan(setting), numbers, n_jobs)
        released = _exactly(site, replicates) if site.exact else _audited(site, replicates[FULL_STUDY])
        causes = tuple(dict.fromkeys(each.cause for of in released for each in of if each.cause))
        whys = list(dict.fromkeys(each.why or each.cause for of in released for each in of if each.cause))
        shelves = tuple(
            _shelf(of, causes, configuration.n_clusters or 0, site)
            for of, configuration in zip(released, site.session.configurations, strict=True)
        )
        if not any(len(shelf.centroids) for shelf in shelves):
            raise DataError(f"No function of study {study.name!r} may leave: {listing(whys)}. Try fewer clusters.")
        partitions = [of[FULL_STUDY].labels.tolist() for of in released if of[FULL_STUDY].labels is not None]  # type: ignore[union-attr]
        logged = {"partitions": partitions, "withheld": whys}
        log = _log(site.session, released, causes)
        return site.release(SiteFunctions, FUNCTIONS, logged, shelves=shelves, causes=causes, log=log)


class Released(NamedTuple):
    """A function that leaves, and the partition that its means are of; or what partners and the owner are told."""

    form: Centres | None
    cause: str
    labels: IntArray | None = None
    why: str = ""


@dataclass(frozen=True, eq=False)
class LearnPlan(ClusteringPlan[list[Centres | Failed]]):
    """Everything that the functions of a site follow from, except the replicate's number."""

    description: str = "clustering functions"

    def block(self, numbers: Sequence[int]) -> list[list[Centres | Failed]]:
        """Learn from all samples together."""
        samples = self.setting.resamples_of(0, numbers)
        functions: list[list[Centres | Failed]] = [[] for _ in numbers]
        for learner in self.setting.learners:
            learned = learner.learn(samples)
            for member, configuration in enumerate(learner.members):
                for b in range(len(samples)):
                    applied = learned[b].applied(member, [])
                    form = applied if isinstance(applied, Failed) else centres_of(applied[0])
                    if isinstance(form, Centres) and len(form.centroids) != configuration.n_clusters:
                        form = Failed(OTHER_NUMBER)
                    functions[b].append(form)
        return functions


def _exactly(site: Site, replicates: Sequence[Sequence[Centres | Failed]]) -> list[list[Released]]:
    """Let everything leave: partners may see values of single samples."""
    return [
        [Released(None, f.cause) if isinstance(f, Failed) else Released(f, "", _labels(f, site)) for f in of]
        for of in zip(*replicates, strict=True)
    ]


def _audited(site: Site, functions: Sequence[Centres | Failed]) -> list[list[Released]]:
    """Let leave what passes, the coarsest first, together with everything that left before."""
    rules, session, before = site.policy, site.session, site.record.partitions()
    least, n = rules.fewest(len(session.features)), site.rounded_size(len(site.study))
    values = rules.in_steps(site.raw, session)
    released = [Released(None, WITHHELD, why=NO_FUNCTION)] * len(functions)
    for c in sorted(range(len(functions)), key=lambda c: session.configurations[c].n_clusters or 0):
        form = functions[c]
        if isinstance(form, Failed):
            continue
        labels = _labels(form, site)
        cause = objection(values, before, labels, least, rules.min_cluster_size)
        if not cause:
            groups = np.unique(labels)
            means = np.array([site.study.X[labels == j].mean(axis=0) for j in groups])
            rounded = rules.rounded(means, session)
            wrong = rules.objection(rounded, session.configurations[c].n_clusters or 0, n, session)
            cause = f"withheld: {wrong}" if wrong else ""
        if cause:
            released[c] = Released(None, WITHHELD, why=cause)
            continue
        before.append(labels)
        released[c] = Released(Centres("centroid", rounded), "", labels)
    return [[each] for each in released]


def _labels(form: Centres, site: Site) -> IntArray:
    return np.asarray(form.labels(PointSet(site.study.X)))


def _shelf(released: Sequence[Released], causes: tuple[str, ...], k: int, site: Site) -> Shelf:
    forms = [each.form for each in released if each.form is not None]
    stacked = np.array([form.centroids for form in forms], dtype=float)
    first = released[FULL_STUDY]
    sizes: IntArray = np.empty(0, dtype=np.int64)
    spread: FloatArray = np.empty(0)
    if first.labels is not None:
        sizes = np.array([site.rounded_size(size) for size in np.bincount(first.labels, minlength=k)])
        spread = _spread(site.study.X, first.labels, digits=17 if site.exact else 2)
    return Shelf(
        kind=forms[0].kind if forms else "centroid",
        status=np.array([1 + causes.index(each.cause) if each.cause else 0 for each in released]),
        centroids=stacked if forms else np.empty((0, k, len(site.session.features))),
        sizes=sizes,
        spread=spread,
    )


def _spread(X: FloatArray, labels: IntArray, digits: int) -> FloatArray:
    """Return the standard deviation within clusters of every feature, from the median absolute deviation."""
    means = np.array([X[labels == j].mean(axis=0) if (labels == j).any() else X[0] for j in range(labels.max() + 1)])
    within = MAD * np.median(np.abs(X - means[labels]), axis=0)  # which no single sample moves much
    return np.array([float(f"{value:.{digits}g}") for value in within])


def _log(session: Session, released: Sequence[Sequence[Released]], causes: Sequence[str]) -> tuple[str, ...]:
    """Say what is missing, and why."""
    lines = []
    for configuration, of in zip(session.configurations, released, strict=True):
        for cause in causes:
            n_missing = sum(each.cause == cause for each in of)
            if n_missing:
                name = label(configuration.name, configuration.n_clusters)
                lines.append(f"{n_missing:,} of {len(of):,} functions of {name}: {cause}")
    return tuple(lines)
