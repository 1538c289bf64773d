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

from clustrep.checks import check_flag, check_integer, check_n_clusters
from clustrep.clustering.parameters import Clusterer
from clustrep.engine.replicates import Rng, Stream, make_generator, seed_of
from clustrep.errors import ParameterError
from clustrep.failures import Failures
from clustrep.resampling import Perturbation, Rerun, check_perturbation
from clustrep.results.curves import PredictionStrength, RelativeValidation
from clustrep.tables.cluster_indices import matching_distances_of, r_index_of
from clustrep.tables.contingency import tables_of
from clustrep.types import FloatArray, IntArray
from clustrep.within.question import Noise, Question, check_noise, one_study
from clustrep.within.reclustering import (
    Relabelled,
    Splitting,
    curve_fields,
    given_parts,
    halves,
    read_tables,
    recluster,
)

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
    noise: Noise = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
) -> PredictionStrength:
    """Measure how well one half of a study predicts which samples of the other belong together (section 2.3.1).

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
        which flatters; `Bootstrap(distinct=True)` has none.)
    noise : {"label", "drop"}
        Samples labelled −1 form a cluster like any other, or are left out where either side calls them noise.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    PredictionStrength

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
    check_noise(noise)
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


def relative_validation(
    clusterer: Clusterer,
    X: Any,
    *,
    n_clusters: Any = None,
    n_splits: int = N_SPLITS,
    labels: ArrayLike | None = None,
    perturbation: Perturbation | None = None,
    noise: Noise = "label",
    rng: Rng = None,
    n_jobs: int | None = None,
) -> RelativeValidation:
    """Measure how far labels transferred from one half of a study are from the other half's own (Lange et al. 2004).

    The minimal matching distance of the two, divided by that of random labels with as many clusters: 0 where all labels
    agree, about 1 where they are as good as random.

    Parameters
    ----------
    clusterer, X, labels, perturbation, noise
        As in `prediction_strength`.
    n_clusters : int or several, optional
        Numbers of clusters to try, from 2. By default the clusterer's own.
    n_splits : int
        Number of random half-splits; the same ones as in `prediction_strength`.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    RelativeValidation

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0], [5.0]], 10, axis=0) + np.tile(np.linspace(0, 1, 10), 2)[:, None]
    >>> relative_validation(KMeans(2, n_init=5), X, n_splits=5, rng=0).mean
    array([0.])
    """
    question = Question.of(clusterer, X, n_clusters, labels, rng, n_jobs, labels_suffice=True)
    check_noise(noise)
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
    noise: Noise = "label",
    numbers: Sequence[int] | None = None,
    perturbation: Perturbation,
) -> PredictionStrength:
    """Read the prediction strength of every k; `numbers` are those asked for, 1 perhaps among them."""
    if noise == "drop":
        relabelled = [_without_noise(one) for one in relabelled]
    directions = (1, 0) if both_directions else (1,)  # the part that is tested
    values = [[_shares_and_sizes(one, test, noise) for test in directions] for one in relabelled]
    asked = [one.n_clusters for one in relabelled] if numbers is None else list(numbers)
    learned = iter(values)
    n_splits = relabelled[0].n_replicates
    most = max(shares.shape[1] for directions_ in values for shares, _ in directions_)
    shape = (n_splits, len(directions), len(asked), most)
    strengths, sizes = np.full(shape, np.nan), np.zeros(shape)
    failed = np.zeros((n_splits, len(asked)), dtype=np.int64)
    fits = iter(relabelled)
    for i, k in enumerate(asked):
        if k == 1:  # one cluster holds all pairs
            strengths[:, :, i, 0] = 1
            sizes[:, :, i, 0] = np.stack([relabelled[0].weights[test].sum(axis=1) for test in directions], axis=1)
            continue
        failed[:, i] = next(fits).failed
        for d, (shares, counts) in enumerate(next(learned)):
            strengths[:, d, i, : shares.shape[1]] = shares
            sizes[:, d, i, : counts.shape[1]] = counts
    smallest = np.where(np.isnan(strengths), np.inf, strengths).min(axis=3)
    by_direction = np.where(np.isinf(smallest), np.nan, smallest)
    by_direction[np.broadcast_to(failed[:, None] > 0, by_direction.shape)] = np.nan
    causes = (*relabelled[0].causes, ONLY_SINGLETONS)
    failed[(failed == 0) & np.isnan(by_direction).any(axis=1)] = len(causes)
    return PredictionStrength(
        **curve_fields(
            question,
            relabelled[0],
            asked,
            by_direction.mean(axis=1),
            failed,
            perturbation,
            causes=causes,
            n_splits=n_splits,
            both_directions=both_directions,
            noise=noise,
        ),
        by_direction=by_direction,
        cluster_strengths=strengths,
        cluster_sizes=sizes,
    )


def _without_noise(one: Relabelled) -> Relabelled:
    return one.without_noise(*((*one.labelings, weights) for weights in one.weights))  # type: ignore[arg-type]


def _shares_and_sizes(one: Relabelled, test: int, noise: Noise) -> tuple[FloatArray, FloatArray]:
    """Return for every cluster of one part's own partition the share of its pairs that the other part's keeps."""
    own, trained = one.labelings[test], one.labelings[1 - test]
    both = read_tables(_r_and_sizes, own, trained, one.weights[test], noise)
    values = one.nan_where_failed(both)
    return values[:, 0], np.nan_to_num(values[:, 1])


def _r_and_sizes(tables: FloatArray) -> FloatArray:
    return np.stack([r_index_of(tables), tables.sum(axis=2)], axis=1)


def relative_validation_of(
    question: Question, relabelled: Sequence[Relabelled], *, noise: Noise = "label", perturbation: Perturbation
) -> RelativeValidation:
    """Read the relative validation of every k."""
    if noise == "drop":
        relabelled = [_without_noise(one) for one in relabelled]
    distances, random = [], []
    relative_distances = partial(matching_distances_of, relative=True)
    for one in relabelled:
        both = [
            read_tables(relative_distances, one.labelings[test], one.labelings[1 - test], one.weights[test], noise)
            for test in (0, 1)
        ]
        distances.append(one.nan_where_failed(np.mean(both, axis=0)))
        random.append(_of_random_labels(question, one, noise))
    failed = np.stack([one.failed for one in relabelled], axis=1)
    norm = np.array(random)
    return RelativeValidation(
        **curve_fields(
            question,
            relabelled[0],
            [one.n_clusters for one in relabelled],
            np.stack(distances, axis=1) / np.where(norm > 0, norm, 1),
            failed,
            perturbation,
            n_splits=len(failed),
            noise=noise,
        ),
        random=norm,
    )


def _of_random_labels(question: Question, one: Relabelled, noise: Noise) -> float:
    """Return the mean distance of two random labelings of the second half, with as many labels as partitions have."""
    first, second = one.labelings
    counted = np.ones(first.codes.shape, dtype=bool) if noise == "label" else ~(first.is_noise() | second.is_noise())
    distances = []
    for b in np.flatnonzero(one.failed == 0).tolist():
        own = [
            labelings.codes[b][counted[b] & (one.weights[test][b] > 0)] for test, labelings in enumerate(one.labelings)
        ]
        k = max(len(np.unique(codes)) for codes in own)
        n = int(one.weights[1][b][counted[b]].sum())
        rng = make_generator(seed_of(question.root, Stream.NULL, question.study.name, b + 1, one.n_clusters))
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
