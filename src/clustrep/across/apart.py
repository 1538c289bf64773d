"""Which study lacks a cluster that the others have, or has none: how its samples fall into the others' clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom, norm

from clustrep.across.replicability import check_configuration, check_several
from clustrep.checks import check_integer
from clustrep.clustering.parameters import Clusterer
from clustrep.clustering.path import ClusteringPlan, Setting
from clustrep.clustering.sample import Configuration, Source, provenance_of_run
from clustrep.engine.engines import EngineLike
from clustrep.engine.replicates import FULL_STUDY, Failed, Rng, Stream, make_generator, one_thread, seed_of
from clustrep.engine.run import on_engine, run
from clustrep.errors import AllReplicatesFailed
from clustrep.resampling import Rerun
from clustrep.results.relations import StudyDifferences
from clustrep.studies.collection import Studies, StudiesLike, as_studies
from clustrep.studies.missing_values import completed
from clustrep.studies.study import Study
from clustrep.tables.noise import numbered
from clustrep.types import FloatArray, IntArray

# A study lacks a cluster where its share is less than so much of the others'.
RATIO = 0.5
# Its clusters are blurred where they leave so many times the share of spread unexplained that they leave elsewhere.
MARGIN = 1.25
# The smallest share of spread taken to be unexplained: perfect clusters would have log 0.
LEAST_UNEXPLAINED = 1e-3
RESAMPLES_FOR_ERRORS = 100


@on_engine
def study_relations(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    n_resamples: int = RESAMPLES_FOR_ERRORS,
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> StudyDifferences:
    """Find studies that lack a cluster which the others have, or that have no clusters.

    For every study s the clusters are learned on all other studies, pooled, and the samples of s are assigned to them.

    *lacks*: of the n samples of s, x lie in a cluster that holds y of the N samples of the others. If the cluster's
    share in s were half of its share elsewhere, x would be binomial given x + y:

        p = P( Binomial(x + y, (n/2) / (n/2 + N)) ≤ x ).

    *blurred*: u(s) is the share of the spread of s that the clusters leave unexplained, of what k clusters can explain
    at most (the first k − 1 principal axes). Its logarithm is compared with the median of the other studies', each
    measured in the same way, and must exceed it by more than log 1.25; standard errors come from resampled samples.
    Only studies whose pools have as many clusters are compared: what k clusters can explain depends on k.

    Both are tested at half the level, adjusted for all studies (and clusters) together (Bonferroni).

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        With the number of clusters to look for.
    studies : Studies, mapping of name to table, or sequence of tables
        At least two, on one scale.
    n_resamples : int
        Resamples of each study for the standard errors of what is unexplained.
    rng : int, Generator, SeedSequence or None
        The seed.
    n_jobs, engine
        As in `replicability`.

    Returns
    -------
    StudyDifferences
        `.lacks`, `.blurred` and `.apart`, shares and p-values; `.to_frame()` with one row for every study and cluster.

    See Also
    --------
    Replicability.relations : which studies agree, from scores alone.
    leave_one_study_out : the score of the same split.

    Notes
    -----
    The test of one cluster is exact for clusters that are given beforehand. They are learned from the others' samples,
    which are counted as well; docs/null.md has simulated error rates and power. Between a half and all of the others'
    share is called a variation of shares, not a lack.

    Studies are compared as they are. A shift between studies moves samples across borders and looks like a lack: of
    clusters 4.5 standard deviations apart, shifts by one standard deviation were hardly ever flagged, by two in half
    of the collections (n = 200). Centring each study would hide the difference, because a study that lacks a cluster
    has another mean. Remove known shifts between batches first.

    References
    ----------
    .. [1] Przyborowski, J. and Wilenski, H. (1940). Homogeneity of results in testing samples from Poisson series.
       Biometrika 31, 313-323. The conditional binomial test of two rates.
    .. [2] Ding, C. and He, X. (2004). K-means clustering via principal component analysis. Proceedings of the 21st
       International Conference on Machine Learning. The bound on what k clusters can explain.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> rng = np.random.default_rng(0)
    >>> centres = np.array([[0, 0], [5, 0], [0, 5], [5, 5]])
    >>> studies = [centres[rng.integers(4, size=200)] + rng.normal(size=(200, 2)) for _ in range(2)]
    >>> studies.append(centres[rng.integers(3, size=200)] + rng.normal(size=(200, 2)))
    >>> print(study_relations(KMeans(4, n_init=3), studies, rng=0))
    3 lacks a cluster that the others have
    """
    checked = check_several(as_studies(studies))
    check_integer(n_resamples, "n_resamples", at_least=2)
    configuration = check_configuration(clusterer, None, tuple(checked.values()), Rerun())
    return differences_of(checked, configuration, Source.of(Rerun(), rng), n_resamples, n_jobs)


def differences_of(
    studies: Studies, configuration: Configuration, source: Source, n_resamples: int, n_jobs: int | None
) -> StudyDifferences:
    """Test every study for both."""
    names = studies.names
    assigned: list[Assigned] = []
    recall: dict[str, dict[str, float]] = {}
    for name, held_out in studies.items():
        first, *rest = [studies[other] for other in sorted(studies) if other != name]  # whatever their order
        pooled = first.with_samples_of(rest, f"all but {name}")
        plan = AssignPlan(Setting.prepare(source, (pooled, held_out), [configuration]))
        recall |= plan.setting.recall_by_study
        (outcome,) = run(plan, [FULL_STUDY], n_jobs)
        if isinstance(outcome, Failed):
            raise AllReplicatesFailed(f"The clusterer failed on all studies but {name!r}: {outcome.cause}.")
        assigned.append(outcome)
    k = max(outcome.n_clusters for outcome in assigned)
    counts, counts_elsewhere = (np.full((len(names), k), -1) for _ in range(2))
    lacks = np.full((len(names), k), np.nan)
    for s, outcome in enumerate(assigned):
        here, elsewhere = (np.bincount(x[x >= 0], minlength=outcome.n_clusters) for x in (outcome.here, outcome.pool))
        counts[s, : outcome.n_clusters], counts_elsewhere[s, : outcome.n_clusters] = here, elsewhere
        lacks[s, : outcome.n_clusters] = lacking_pvalues(here, elsewhere)
    n_asked = np.count_nonzero(~np.isnan(lacks))
    with one_thread():
        logs, errors = np.transpose(
            [
                unexplained(study, outcome, source.root, n_resamples)
                for study, outcome in zip(studies.values(), assigned, strict=True)
            ]
        )
    return StudyDifferences(
        clusterer=configuration.name,
        names=names,
        counts=counts,
        counts_elsewhere=counts_elsewhere,
        lacks_pvalue=np.minimum(1, 2 * n_asked * lacks),
        unexplained=np.exp(logs),
        blurred_pvalue=np.minimum(
            1, 2 * len(names) * blurred_pvalues(logs, errors, [outcome.n_clusters for outcome in assigned])
        ),
        provenance=provenance_of_run(
            source, tuple(studies.values()), [configuration], n_resamples=n_resamples, neighbour_recall=recall
        ),
    )


class Assigned(NamedTuple):
    """Clusters learned on a pool of studies; 0, 1, …, and −1 for noise."""

    pool: IntArray
    here: IntArray  # of the study that was held out
    n_clusters: int


@dataclass(frozen=True, eq=False)
class AssignPlan(ClusteringPlan["Assigned | Failed"]):
    """Learn clusters on the first study, a pool, and assign the samples of the second."""

    description = "study relations"

    def replicate(self, number: int) -> Assigned | Failed:
        """Return the clusters of both studies' samples."""
        (path,) = self.setting.paths
        (learned,) = path.learn([self.setting.sample(0, number)])
        labelled = learned.labels(0, list(self.setting.places[:2]))
        if isinstance(labelled, Failed):
            return labelled
        labels: list[Any] = [labelled.at(i).labels for i in range(2)]
        numbers = numbered(np.concatenate(labels))
        return Assigned(numbers[: len(labels[0])], numbers[len(labels[0]) :], int(numbers.max()) + 1)


def lacking_pvalues(here: IntArray, elsewhere: IntArray) -> FloatArray:
    """Return for every cluster the probability of so few samples if its share were half of that elsewhere.

    Examples
    --------
    >>> lacking_pvalues(np.array([0, 40]), np.array([20, 60])).round(4)
    array([0.0115, 1.    ])
    """
    expected, others = RATIO * here.sum(), elsewhere.sum()
    share = expected / (expected + others) if expected + others else 0.0  # of noise alone
    return np.asarray(binom.cdf(here, here + elsewhere, share))


def unexplained(study: Study, assigned: Assigned, root: int, n_resamples: int) -> tuple[float, float]:
    """Return the logarithm of the share of spread that clusters leave unexplained, and its standard error."""
    known, k = assigned.here >= 0, assigned.n_clusters
    X, labels = completed(study.X)[known].astype(float), assigned.here[known]
    n = len(X)
    if n < 2:
        return 0.0, 0.0  # all is unexplained
    rng = make_generator(seed_of(root, Stream.DRAW, study.name, FULL_STUDY))
    resampled = []
    for _ in range(n_resamples):
        rows = rng.integers(n, size=n)
        resampled.append(_log_unexplained(X[rows], labels[rows], k))
    return _log_unexplained(X, labels, k), float(np.std(resampled))


def _log_unexplained(X: FloatArray, labels: IntArray, n_clusters: int) -> float:
    centred = X - X.mean(axis=0)
    belongs = (labels[:, None] == np.arange(n_clusters)).astype(float)
    between = float((((belongs.T @ centred) ** 2).sum(axis=1) / np.maximum(belongs.sum(axis=0), 1)).sum())
    products = centred @ centred.T if X.shape[1] > len(X) else centred.T @ centred
    variances = np.sort(np.maximum(np.linalg.eigvalsh(products), 0))[::-1]
    most = float(variances[: max(n_clusters - 1, 1)].sum())
    return float(np.log(max(1 - between / most, LEAST_UNEXPLAINED))) if most > 0 else 0.0


def blurred_pvalues(
    logs: Sequence[float] | FloatArray,
    errors: Sequence[float] | FloatArray,
    n_clusters: Sequence[int] | None = None,
) -> FloatArray:
    """Return for every study whether more is unexplained than of the others, by more than the margin.

    n_clusters : how many each was measured with; studies with other numbers are no yardstick, and without any p is 1
    """
    logs, errors = np.asarray(logs), np.asarray(errors)
    numbers = np.zeros(len(logs)) if n_clusters is None else np.asarray(n_clusters)
    pvalues = np.ones(len(logs))
    for s in range(len(logs)):
        others = np.flatnonzero((numbers == numbers[s]) & (np.arange(len(logs)) != s))
        if not others.size:
            continue
        # The median of the others: one among them may itself differ.
        middle = float(np.median(logs[others]))
        error = float(np.sqrt(errors[s] ** 2 + np.mean(errors[others] ** 2) / len(others)))
        pvalues[s] = norm.sf((logs[s] - middle - np.log(MARGIN)) / max(error, 1e-9))
    return pvalues
