"""Section 2.3: whether one half of the data predicts which samples of the other half belong together.

Prediction strength (Tibshirani and Walther 2005) and relative validation (Lange et al. 2004) read the same tables: rows
are Ψ(X′; X′), the clusters of the test half, columns Ψ(X′; X).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import Fits, matching_distances_of, r_index_of
from clustrep.agreement.contingency import tables_of
from clustrep.checks import check_flag, check_n_clusters
from clustrep.errors import ParameterError
from clustrep.execution.failures import Failures
from clustrep.execution.seeds import Rng, Stream, make_generator, seed_of
from clustrep.fitting.parameters import Clusterer
from clustrep.resampling.strategies import Perturbation
from clustrep.stability.reclustering import Compared, Question, Reclustered, Relabelled, recluster
from clustrep.stability.results import PredictionStrength, RelativeValidation
from clustrep.types import IntArray

# fpc's default: the standard error of a mean strength is then about a seventh of its standard deviation.
N_SPLITS = 50

ONLY_SINGLETONS = "every test cluster has one sample"


def prediction_strength(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    n_splits: int | None = None,
    split: Any = None,
    both_directions: bool = True,
    labels: ArrayLike | None = None,
    perturbation: Perturbation | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
) -> PredictionStrength:
    """Measure how well one half of a study predicts which samples of the other belong together (section 2.3.1).

    Both halves, X and X′, are clustered. For the n_c samples of each cluster c of X′, equation (4) takes the share of
    pairs that the function learned on X puts together, too; the strength is the smallest over clusters::

        PS(k) = min_c #{pairs of c together under ψ(·; X)} / (n_c (n_c − 1) / 2)

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted to both halves. None with `labels`.
    X : Study or array-like of shape (n_samples, n_features)
        The study.
    n_clusters : int or several, default=None
        Numbers of clusters to try; 1 has strength 1. None: the clusterer's own.
    n_splits : int, default=50
        Number of random half-splits; the same ones for every k. With `split`, 1.
    split : array-like of bool, shape (n_samples,), default=None
        A given split instead, True where a sample is in the training part.
    both_directions : bool, default=True
        Let each part be the training set once, and average the two minima, as R's fpc does. False trains on the first
        part alone: equation (4) literally.
    labels : array-like of shape (n_samples,), or True, default=None
        Existing clusters instead of a clusterer: a sample's label is predicted by the nearest one of the other half.
        True takes the study's.
    perturbation : Jitter, FeatureSubset, … or a sum, default=None
        Perturb the study before every split. (After a plain `Bootstrap`, the same sample may be in both halves, which
        raises the strength; `Bootstrap(distinct=True)` has none.)
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    PredictionStrength
        `strength`, the mean over splits, of shape (number of k,); `per_cluster`; `recommended()`, Tibshirani and
        Walther's rule.

    See Also
    --------
    relative_validation : From the same splits, relative to random labels.
    replicability : With ``agreement="prediction_strength"``, between studies.

    Notes
    -----
    Meant for the number of clusters: the largest k with a strength above 0.8 to 0.9. Not adjusted for chance, and
    smaller for more clusters: the smallest of many shares is low, and a single small cluster decides. So it favours
    few clusters, and can miss a real but small one: look at `per_cluster`, too. Test clusters of one sample have no
    pairs and are omitted (R's fpc counts them as 1). Each half has half of the samples, so clusters that need all of
    them to be seen are missed.

    References
    ----------
    .. [1] Tibshirani, R. and Walther, G. (2005). Cluster validation by prediction strength. Journal of Computational
       and Graphical Statistics 14, 511-528.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]])
    >>> result = prediction_strength(KMeans(2, n_init=5), X, split=[True, False] * 4, rng=0)
    >>> result.strength
    array([1.])
    """
    check_flag(both_directions, "both_directions")
    numbers = None if n_clusters is None else check_n_clusters(n_clusters, at_least=1)
    some = None if numbers is None else [k for k in numbers if k > 1]
    if some == []:
        raise ParameterError(
            "n_clusters must hold a number above 1: one cluster has prediction strength 1.", parameter="n_clusters"
        )
    question = Question.of(clusterer, X, some, labels, rng, n_jobs, labels_suffice=True)
    if split is not None and perturbation is not None:
        raise ParameterError(
            "Pass either split or perturbation: a split refers to the samples of X.", parameter="split"
        )
    given = None if split is None else _checked_split(split, len(question.study))
    n = (N_SPLITS if split is None else 1) if n_splits is None else n_splits
    again = recluster(question, Fits.HALF_SPLITS, n, perturbation, given=given)
    result = strength_of(again, both_directions=both_directions, numbers=numbers)
    fitted = [k != 1 for k in result.n_clusters]  # one cluster needs no fit
    Failures.count(result.failed[:, fitted], result.causes).report("fit")
    return result


def relative_validation(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    n_splits: int = N_SPLITS,
    labels: ArrayLike | None = None,
    perturbation: Perturbation | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
) -> RelativeValidation:
    """Measure how far labels transferred from one half of a study are from the other half's own (Lange et al. 2004).

    With the relative minimal matching distance d between the labels that a half X′ is given by the function learned on
    the other half X and by its own, averaged over both directions::

        S(k) = d(ψ(X′; X), ψ(X′; X′)) / E[d(random labels, random labels)]

    0 where all labels agree, about 1 where they are as good as random.

    Parameters
    ----------
    clusterer, X, labels, perturbation, noise
        As in `prediction_strength`.
    n_clusters : int or several, default=None
        Numbers of clusters to try, from 2. None: the clusterer's own.
    n_splits : int, default=50
        Number of random half-splits; the same ones as in `prediction_strength`.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    RelativeValidation
        `mean` over splits for every k; `best_n_clusters`, the k with the lowest.

    See Also
    --------
    prediction_strength : From the same splits, by pairs of samples.
    minimal_matching_distance : The distance.

    Notes
    -----
    Meant for the number of clusters. The normalisation makes different k comparable, but random labels have clusters
    of the same size: with one large and a few small clusters, a low value is reached easily. As all measures of
    stability, it can be low for unimodal data that are divided at the same place every time.

    References
    ----------
    .. [1] Lange, T., Roth, V., Braun, M. L. and Buhmann, J. M. (2004). Stability-based validation of clustering
       solutions. Neural Computation 16, 1299-1323.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0], [5.0]], 10, axis=0) + np.tile(np.linspace(0, 1, 10), 2)[:, None]
    >>> relative_validation(KMeans(2, n_init=5), X, n_splits=5, rng=0).mean
    array([0.])
    """
    question = Question.of(clusterer, X, n_clusters, labels, rng, n_jobs, labels_suffice=True)
    result = relative_validation_of(recluster(question, Fits.HALF_SPLITS, n_splits, perturbation))
    result.failures.report("fit")
    return result


def strength_of(
    again: Reclustered, *, both_directions: bool = True, numbers: Sequence[int] | None = None
) -> PredictionStrength:
    """Read the prediction strength of every k; `numbers` are those asked for, 1 perhaps among them."""
    values = again.compared(lambda tables: np.stack([r_index_of(tables), tables.sum(axis=2)], axis=1), _both_directions)
    asked = [fitted.n_clusters for fitted in again.fits] if numbers is None else list(numbers)
    tested = (1, 0) if both_directions else (1,)  # the part whose clusters are tested
    most = max(of_k[test].shape[2] for of_k in values for test in tested)
    # (n_splits, n_directions, number of k, most clusters)
    strengths = np.full((again.n_resamples, len(tested), len(asked), most), np.nan)
    sizes, failed = np.zeros(strengths.shape), np.zeros((again.n_resamples, len(asked)), dtype=np.int64)
    fits = iter(zip(again.fits, values, strict=True))
    for i, k in enumerate(asked):
        if k == 1:  # it holds all pairs
            strengths[:, :, i, 0] = 1
            sizes[:, :, i, 0] = np.stack([again.fits[0].weights[test].sum(axis=1) for test in tested], axis=1)
            continue
        fitted, by_part = next(fits)
        failed[:, i] = fitted.failed
        for d, test in enumerate(tested):
            n_labels = by_part[test].shape[2]
            strengths[:, d, i, :n_labels] = by_part[test][:, 0]
            sizes[:, d, i, :n_labels] = np.nan_to_num(by_part[test][:, 1])
    smallest = np.where(np.isnan(strengths), np.inf, strengths).min(axis=3)
    by_direction = np.where(np.isinf(smallest), np.nan, smallest)
    causes = (*again.fits[0].causes, ONLY_SINGLETONS)
    failed[(failed == 0) & np.isnan(by_direction).any(axis=1)] = len(causes)
    return PredictionStrength(
        **{
            **again.fields(n_splits=again.n_resamples, both_directions=both_directions),
            "n_clusters": tuple(asked),
            "failed": failed,
            "causes": causes,
        },
        distribution=by_direction.mean(axis=1),
        by_direction=by_direction,
        cluster_strengths=strengths,
        cluster_sizes=sizes,
    )


def relative_validation_of(again: Reclustered) -> RelativeValidation:
    """Read the relative validation of every k."""
    values = again.compared(partial(matching_distances_of, relative=True), _both_directions)
    random = np.array([_of_random_labels(again.question, fitted) for fitted in again.fits])
    distances = np.stack([np.mean(both, axis=0) for both in values], axis=1)
    return RelativeValidation(
        **again.fields(n_splits=again.n_resamples),
        distribution=distances / np.where(random > 0, random, 1),
        random=random,
    )


def _both_directions(fitted: Relabelled) -> list[Compared]:
    """Compare each half's own clusters, as rows, with the clusters that the other half predicts for it."""
    labelings, weights = fitted.labelings, fitted.weights
    return [(labelings[test], labelings[1 - test], weights[test]) for test in (0, 1)]


def _of_random_labels(question: Question, fitted: Relabelled) -> float:
    """Return the mean distance of two random labelings of the second half, with as many labels as partitions have."""
    distances = []
    for b in np.flatnonzero(fitted.failed == 0).tolist():
        parts = zip(fitted.labelings, fitted.weights, strict=True)
        k = max(len(np.unique(of.codes[b][weights[b] > 0])) for of, weights in parts)
        n = int(fitted.weights[1][b].sum())
        rng = make_generator(seed_of(question.root, Stream.NULL, question.study.name, b + 1, fitted.n_clusters))
        u, v = rng.integers(k, size=(2, 1, n))
        distances.append(matching_distances_of(tables_of(u, v, None, (k, k)), relative=True)[0])
    return float(np.mean(distances)) if distances else float("nan")


def _checked_split(split: Any, n: int) -> tuple[IntArray, IntArray]:
    """Check a split: a mask of the training part, with at least two samples in each part."""
    mask = np.asarray(split)
    if mask.dtype != bool or mask.shape != (n,) or min(mask.sum(), (~mask).sum()) < 2:
        raise ParameterError(
            f"split must be a boolean array of {n} samples, True in the training part, with at least two samples in "
            f"each part; got {split!r}.",
            parameter="split",
        )
    return np.flatnonzero(mask), np.flatnonzero(~mask)
