"""`ReplicableClusters`: the whole analysis with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from clustrep.algorithms.comparison import Comparison
from clustrep.analysis.analyse import analyse
from clustrep.data.studies import Studies
from clustrep.data.values import AUTO
from clustrep.errors import DataError
from clustrep.execution.seeds import Rng
from clustrep.findings.result import Findings
from clustrep.summaries import quiet
from clustrep.types import FloatArray, IntArray

ONE_STUDY = "all"
LARGEST_SEED = 2**31 - 1


class ReplicableClusters(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """The clusters that several studies share, and how many there are: `analyse` as a scikit-learn clusterer.

    Parameters
    ----------
    clusterer : clusterer or mapping of name to clusterer
        As in `compare`.
    n_clusters : int or iterable of int, default=range(2, 9)
        The numbers of clusters to try, for clusterers that have one. A single cluster is a possible answer in any case.
    n_resamples : int, default=100
        Number of resamples.
    n_null : int, default=199
        Number of simulated data sets without clusters, as in `analyse`.
    scale : str, default="auto"
        How studies are made comparable, as in `analyse`.
    random_state : int, Generator, RandomState or None, default=None
        The seed.
    n_jobs : int, default=None
        Number of workers.

    Attributes
    ----------
    labels_ : ndarray of int, (n_samples,)
        The cluster of every sample: 0 is cluster A, the largest. All are 0 without evidence of clusters. −1: the study
        of the sample cannot be matched, or the verdict is inconclusive.
    n_clusters_ : int or None
        The number of clusters; None where the verdict is inconclusive.
    verdict_ : {"separated", "continuous structure", "no evidence of clusters", "inconclusive"}
    findings_ : Findings
        Which cluster is in which study, and what it is.
    analysis_ : Analysis
        The whole analysis, such as for `Report`.
    cv_results_ : dict of str to array
        As of scikit-learn's `GridSearchCV`, a row for every clusterer and number of clusters. A split is an ordered
        pair of studies: clusters are learned in the first, and compared in the second.
    splits_ : list of tuple
        The studies of every split, (train, test).

    See Also
    --------
    analyse : The same for named studies, with all options.
    Findings.assign : Assigns samples of a new study, after its shift was estimated.

    Notes
    -----
    In a pipeline, its name comes before `groups`: ``pipeline.fit(X, replicableclusters__groups=study)``. Steps before
    it are fitted to all studies together.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 2)) + 9 * (np.arange(120)[:, None] % 3 == 0)
    >>> study = np.repeat(["mainz", "transbig", "vdx"], 40)
    >>> found = ReplicableClusters(KMeans(n_init=2), n_clusters=[2, 3], n_resamples=4, random_state=0)
    >>> found.fit(X, groups=study).n_clusters_, found.verdict_
    (2, 'separated')
    >>> found.predict([[0.0, 0.5], [9.0, 8.5], [4.5, 30.0]]).tolist()
    [0, 1, -1]
    """

    def __init__(
        self,
        clusterer: Any,
        n_clusters: Any = tuple(range(2, 9)),
        *,
        n_resamples: int = 100,
        n_null: int = 199,
        scale: str = AUTO,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.n_resamples = n_resamples
        self.n_null = n_null
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None, *, groups: ArrayLike | None = None) -> ReplicableClusters:
        """Find the clusters of all studies.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : object
            Ignored.
        groups : array-like of shape (n_samples,), optional
            The study of every sample; by default all samples are of one study, whose random halves are compared.

        Returns
        -------
        ReplicableClusters
            Itself.
        """
        table = validated(self, X, ensure_min_samples=2)
        names = getattr(self, "feature_names_in_", None)
        rows = rows_of(groups, len(table))
        studies = Studies({study: pd.DataFrame(table[of_study], columns=names) for study, of_study in rows.items()})
        several = [self.n_clusters] if not isinstance(self.n_clusters, Iterable) else list(self.n_clusters)
        self.analysis_ = analyse(
            self.clusterer,
            studies,
            n_clusters=[k for k in several if k != 1] or [2],
            n_resamples=self.n_resamples,
            n_null=self.n_null,
            scale=self.scale,
            rng=_seed(self.random_state),
            n_jobs=self.n_jobs,
        )
        self.findings_: Findings = self.analysis_.findings
        self.verdict_, self.n_clusters_ = self.analysis_.verdict, self.analysis_.n_clusters
        self.labels_ = np.empty(len(table), dtype=np.int64)
        self.labels_[np.concatenate(list(rows.values()))] = self.findings_.codes
        self.cv_results_, self.splits_ = cv_results_of(self.analysis_.comparison)
        return self

    def predict(self, X: ArrayLike, *, groups: ArrayLike | None = None) -> IntArray:
        """Return the cluster of new samples, as a number; −1 where they belong to none, at a confidence of 95 %.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), optional
            The study as which every sample was measured: its shift and scale are corrected. By default samples are
            taken as measured in the mean of all studies.

        Returns
        -------
        ndarray of int, (n_samples,)
        """
        check_is_fitted(self, "labels_")
        table, findings = validated(self, X, reset=False), self.findings_
        if findings.reference is None:
            return np.full(len(table), -1 if self.n_clusters_ is None else 0)
        number = {letter: code for code, letter in enumerate(findings.letters)}
        codes = np.empty(len(table), dtype=np.int64)
        for study, rows in rows_of(groups, len(table)).items():
            like = None if groups is None else study
            assigned = findings.reference.assign(table[rows], like=like, estimate_shift=False)
            codes[rows] = [number.get(letter, -1) for letter in assigned["cluster"]]
        return codes


def validated(estimator: Any, X: ArrayLike, **options: Any) -> FloatArray:
    """Return X as a table of numbers, whose features are those of the fit; or, in the fit, are noted."""
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # scikit-learn before 1.6
        validate_data = type(estimator)._validate_data
    return np.asarray(validate_data(estimator, X, dtype=(np.float64, np.float32), **options))


def rows_of(groups: ArrayLike | None, n_samples: int) -> dict[str, IntArray]:
    """Return the rows of every study, in the order in which studies come."""
    if groups is None:
        return {ONE_STUDY: np.arange(n_samples)}
    names = np.asarray(groups).astype(str)
    if names.shape != (n_samples,):
        raise DataError(f"groups must name the study of each of the {n_samples} samples, got shape {names.shape}.")
    return {str(name): np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())}


def cv_results_of(comparison: Comparison) -> tuple[dict[str, NDArray[Any]], list[tuple[str, str]]]:
    """Return the scores of all configurations as `GridSearchCV` does, and which pair of studies every split is."""
    with quiet():
        means = np.nanmean(comparison.distribution[:, 0], axis=1)  # of the agreement that decides: (C, S, S)
    pairs = [(s, t) for s in range(len(comparison.names)) for t in range(len(comparison.names)) if s != t]
    splits = np.array([means[:, s, t] for s, t in pairs])
    parameters = {"clusterer": comparison.clusterers, "n_clusters": comparison.n_clusters}
    results: dict[str, NDArray[Any]] = {
        f"param_{name}": np.array(values, dtype=object) for name, values in parameters.items()
    }
    results["params"] = np.array(
        [dict(zip(parameters, values, strict=True)) for values in zip(*parameters.values(), strict=True)], dtype=object
    )
    results |= {f"split{i}_test_score": of_split for i, of_split in enumerate(splits)}
    results |= {"mean_test_score": splits.mean(axis=0), "std_test_score": splits.std(axis=0)}
    worse = -np.nan_to_num(results["mean_test_score"], nan=-np.inf)
    results["rank_test_score"] = (worse[:, None] > worse).sum(axis=1) + 1
    return results, [(comparison.names[s], comparison.names[t]) for s, t in pairs]


def _seed(random_state: Any) -> Rng:
    """Return what `analyse` takes as rng: a RandomState gives a number."""
    return int(random_state.randint(LARGEST_SEED)) if hasattr(random_state, "randint") else random_state
