"""Section 2.3: whether one half of the data predicts which points of the other half belong together.

Prediction strength (Tibshirani and Walther 2005) and relative validation (Lange et al. 2004) read the same tables: rows
are Ψ(X′; X), columns Ψ(X′; X′).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import matching_distances_of, r_index_of
from clustrep.agreement.contingency import RULES, NoiseWithin, check_noise_within, tables_of
from clustrep.checks import check_flag, check_integer, check_n_clusters
from clustrep.errors import ParameterError
from clustrep.execution.engines import EngineLike
from clustrep.execution.failures import Failures
from clustrep.execution.run import on_engine
from clustrep.execution.seeds import Rng, Stream, make_generator, seed_of
from clustrep.fitting.parameters import Clusterer
from clustrep.resampling.strategies import Perturbation, Rerun, check_perturbation
from clustrep.stability.curves import PredictionStrength, RelativeValidation
from clustrep.stability.reclustering import (
    Question,
    Relabelled,
    Splitting,
    fields_over_k,
    given_parts,
    halves,
    one_study,
    read_tables,
    recluster,
)
from clustrep.types import FloatArray, IntArray

N_SPLITS = 50

ONLY_SINGLETONS = "every test cluster has one sample"


@on_engine
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
    noise: NoiseWithin = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> PredictionStrength:
    """Measure how well one half of a study predicts which samples of the other belong together (section 2.3.1).

    Both halves, X and X′, are clustered. For the n_c samples of each cluster c of X′, equation (4) takes the share of
    pairs that the function learned on X puts together, too; the strength is the smallest over clusters::

        PS(k) = min_c #{pairs of c together under ψ(·; X)} / (n_c (n_c − 1) / 2)

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Fitted to both halves. None with `labels`.
    X : Study or table
        Samples by features.
    n_clusters : int or several, optional
        Numbers of clusters to try; 1 has strength 1. By default the clusterer's own.
    n_splits : int, optional
        Number of random half-splits, 50 by default; the same ones for every k.
    split : boolean array, or (training rows, test rows), optional
        A split of your own instead, True where a sample is in the training part.
    both_directions : bool
        Let each part be the training set once, and average the two minima, as R's fpc does. False trains on the first
        part alone: equation (4) literally.
    labels : array_like, optional
        Existing clusters instead of a clusterer: a sample's label is predicted by the nearest one of the other half.
        True takes the study's.
    perturbation : Jitter, FeatureSubset, … or a sum, optional
        Perturb the study before every split. (After a plain `Bootstrap`, copies of a sample may be in both halves,
        which raises the strength; `Bootstrap(distinct=True)` has none.)
    noise : {"label", "drop"}
        Samples labelled −1 form a cluster like any other, or are left out where either side calls them noise.
    rng, n_jobs, engine
        As in `replicability`.

    Returns
    -------
    PredictionStrength
        `strength`, the mean over splits for every k; `per_cluster`; `recommended()`, Tibshirani and Walther's rule.

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
    if perturbation is not None:
        check_perturbation(perturbation)
    study = one_study(X)
    numbers = None if n_clusters is None else check_n_clusters(n_clusters, at_least=1)
    some = None if numbers is None else [k for k in numbers if k > 1]
    if some == []:
        raise ParameterError(
            "n_clusters must hold a number above 1: one cluster has prediction strength 1.", parameter="n_clusters"
        )
    question = Question.of(clusterer, study, some, labels, rng, n_jobs, labels_suffice=True)
    check_noise_within(noise)
    parts: Splitting = halves
    if split is not None:
        if perturbation is not None:
            raise ParameterError(
                "Pass either split or perturbation: a split belongs to the samples as they are.", parameter="split"
            )
        parts = partial(given_parts, _checked_split(split, len(study)))
    n = check_integer((N_SPLITS if split is None else 1) if n_splits is None else n_splits, "n_splits")
    chosen = Rerun() if perturbation is None else perturbation
    relabelled = split_in_two(question, chosen, n, "prediction strength", parts=parts)
    result = strength_of(
        question, relabelled, both_directions=both_directions, noise=noise, numbers=numbers, perturbation=chosen
    )
    fitted = [k != 1 for k in result.n_clusters]  # one cluster needs no fit
    Failures.count(result.failed[:, fitted], result.causes).report("fit")
    return result


@on_engine
def relative_validation(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    n_splits: int = N_SPLITS,
    labels: ArrayLike | None = None,
    perturbation: Perturbation | None = None,
    noise: NoiseWithin = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
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
    n_clusters : int or several, optional
        Numbers of clusters to try, from 2. By default the clusterer's own.
    n_splits : int
        Number of random half-splits; the same ones as in `prediction_strength`.
    rng, n_jobs, engine
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
    stability, it can be low for clusters that are cut from a single cloud in the same way every time.

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
    check_noise_within(noise)
    chosen = Rerun() if perturbation is None else check_perturbation(perturbation)
    relabelled = split_in_two(question, chosen, check_integer(n_splits, "n_splits"), "relative validation")
    result = relative_validation_of(question, relabelled, noise=noise, perturbation=chosen)
    result.failures.report("fit")
    return result


def split_in_two(
    question: Question, perturbation: Perturbation, n_splits: int, description: str, *, parts: Splitting = halves
) -> list[Relabelled]:
    """Learn from both halves of every split, with every number of clusters."""
    return recluster(question, perturbation, n_splits, description, split=parts, needs_reference=False)


def strength_of(
    question: Question,
    relabelled: Sequence[Relabelled],
    *,
    both_directions: bool = True,
    noise: NoiseWithin = "label",
    numbers: Sequence[int] | None = None,
    perturbation: Perturbation,
) -> PredictionStrength:
    """Read the prediction strength of every k; `numbers` are those asked for, 1 perhaps among them."""
    relabelled = [_failed_where_noise_is_all(fitted, noise) for fitted in relabelled]
    asked = [fitted.n_clusters for fitted in relabelled] if numbers is None else list(numbers)
    directions = (1, 0) if both_directions else (1,)  # the part that is tested
    strengths, sizes, failed = _cluster_strengths(relabelled, asked, directions, noise)
    smallest = np.where(np.isnan(strengths), np.inf, strengths).min(axis=3)
    by_direction = np.where(np.isinf(smallest), np.nan, smallest)
    by_direction[np.broadcast_to(failed[:, None] > 0, by_direction.shape)] = np.nan
    causes = (*relabelled[0].causes, ONLY_SINGLETONS)
    failed[(failed == 0) & np.isnan(by_direction).any(axis=1)] = len(causes)
    parameters: dict[str, Any] = {"n_splits": len(failed), "both_directions": both_directions, "noise": noise}
    fields = fields_over_k(question, relabelled, perturbation, **parameters)
    return PredictionStrength(
        **{**fields, "n_clusters": tuple(asked), "failed": failed, "causes": causes},
        distribution=by_direction.mean(axis=1),
        by_direction=by_direction,
        cluster_strengths=strengths,
        cluster_sizes=sizes,
    )


def _failed_where_noise_is_all(fitted: Relabelled, noise: NoiseWithin) -> Relabelled:
    first, second = fitted.labelings
    return fitted.failed_where_noise_is_all(noise, *((first, second, weights) for weights in fitted.weights))


def _cluster_strengths(
    relabelled: Sequence[Relabelled], asked: Sequence[int | None], directions: Sequence[int], noise: NoiseWithin
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the strengths and sizes of test clusters, (n_splits, n_directions, n_k, most), and failures.

    One cluster, k = 1, needs no fit: it holds all pairs.
    """
    places = [i for i, k in enumerate(asked) if k != 1]
    fits = dict(zip(places, (fitted for fitted in relabelled if fitted.n_clusters != 1), strict=True))
    values = {i: [_shares_and_sizes(fitted, test, noise) for test in directions] for i, fitted in fits.items()}
    n_splits = relabelled[0].n_replicates
    most = max((shares.shape[1] for by_direction in values.values() for shares, _ in by_direction), default=1)
    shape = (n_splits, len(directions), len(asked), most)
    strengths, sizes = np.full(shape, np.nan), np.zeros(shape)
    failed = np.zeros((n_splits, len(asked)), dtype=np.int64)
    for i in set(range(len(asked))) - set(places):
        strengths[:, :, i, 0] = 1
        sizes[:, :, i, 0] = np.stack([relabelled[0].weights[test].sum(axis=1) for test in directions], axis=1)
    for i, fitted in fits.items():
        failed[:, i] = fitted.failed
        for d, (shares, counts) in enumerate(values[i]):
            strengths[:, d, i, : shares.shape[1]] = shares
            sizes[:, d, i, : counts.shape[1]] = counts
    return strengths, sizes, failed


def _shares_and_sizes(fitted: Relabelled, test: int, noise: NoiseWithin) -> tuple[FloatArray, FloatArray]:
    """Return for every cluster of the test part's partition the share of its pairs that the other part's keeps."""
    tested, trained = fitted.labelings[test], fitted.labelings[1 - test]
    both = read_tables(_r_and_sizes, tested, trained, fitted.weights[test], noise)
    values = fitted.nan_where_failed(both)
    return values[:, 0], np.nan_to_num(values[:, 1])


def _r_and_sizes(tables: FloatArray) -> FloatArray:
    return np.stack([r_index_of(tables), tables.sum(axis=2)], axis=1)


def relative_validation_of(
    question: Question, relabelled: Sequence[Relabelled], *, noise: NoiseWithin = "label", perturbation: Perturbation
) -> RelativeValidation:
    """Read the relative validation of every k."""
    relabelled = [_failed_where_noise_is_all(fitted, noise) for fitted in relabelled]
    distances, random = [], []
    relative_distances = partial(matching_distances_of, relative=True)
    for fitted in relabelled:
        labelings, weights = fitted.labelings, fitted.weights
        both = [
            read_tables(relative_distances, labelings[test], labelings[1 - test], weights[test], noise)
            for test in (0, 1)
        ]
        distances.append(fitted.nan_where_failed(np.mean(both, axis=0)))
        random.append(_of_random_labels(question, fitted, noise))
    norm = np.array(random)
    return RelativeValidation(
        **fields_over_k(question, relabelled, perturbation, n_splits=len(distances[0]), noise=noise),
        distribution=np.stack(distances, axis=1) / np.where(norm > 0, norm, 1),
        random=norm,
    )


def _of_random_labels(question: Question, fitted: Relabelled, noise: NoiseWithin) -> float:
    """Return the mean distance of two random labelings of the second half, with as many labels as partitions have."""
    first, second = fitted.labelings
    counted = RULES[noise].counted(first.is_noise(), second.is_noise())
    distances = []
    for b in np.flatnonzero(fitted.failed == 0).tolist():
        codes_of_parts = [
            labelings.codes[b][counted[b] & (fitted.weights[part][b] > 0)]
            for part, labelings in enumerate(fitted.labelings)
        ]
        k = max(len(np.unique(codes)) for codes in codes_of_parts)
        n = int(fitted.weights[1][b][counted[b]].sum())
        rng = make_generator(seed_of(question.root, Stream.NULL, question.study.name, b + 1, fitted.n_clusters))
        u, v = rng.integers(k, size=(2, 1, n))
        distances.append(matching_distances_of(tables_of(u, v, None, (k, k)), relative=True)[0])
    return float(np.mean(distances)) if distances else float("nan")


def _checked_split(split: Any, n: int) -> tuple[IntArray, IntArray]:
    """Take a split as a mask of the training part, or as the rows of both parts."""
    rule = "split must be a boolean array that is True in the training part, or (training rows, test rows)"
    try:
        mask = np.asarray(split)
    except ValueError:  # two parts of different sizes
        mask = np.empty(0)
    if mask.dtype == bool and mask.shape == (n,):
        parts = (np.flatnonzero(mask), np.flatnonzero(~mask))
    elif isinstance(split, tuple | list) and len(split) == 2:
        try:
            parts = (np.asarray(split[0], dtype=object), np.asarray(split[1], dtype=object))
        except ValueError:
            raise ParameterError(f"{rule}; got {split!r}.", parameter="split") from None
        for part in parts:
            whole = part.ndim == 1 and all(isinstance(i, int | np.integer) and not isinstance(i, bool) for i in part)
            if not whole or not all(0 <= i < n for i in part):
                raise ParameterError(
                    f"{rule}: rows are whole numbers from 0 to {n - 1}; got {split!r}.", parameter="split"
                )
        parts = (parts[0].astype(np.int64), parts[1].astype(np.int64))
        if len(np.unique(np.concatenate(parts))) < sum(map(len, parts)):
            raise ParameterError(
                "split must name no sample twice, neither within a part nor in both.", parameter="split"
            )
    else:
        raise ParameterError(f"{rule}; got {split!r} for {n} samples.", parameter="split")
    if min(map(len, parts)) < 2:
        raise ParameterError(
            f"split must put at least two samples into each part, got {len(parts[0])}, {len(parts[1])}.",
            parameter="split",
        )
    return parts
