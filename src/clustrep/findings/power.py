"""How far apart clusters must be to be found: simulated for studies of the same sizes and covariances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from clustrep.data.studies import Studies
from clustrep.data.study import Study
from clustrep.data.values import AUTO, completed
from clustrep.execution.seeds import Failed, make_generator, one_thread
from clustrep.findings.coordinates import coordinates_of
from clustrep.findings.model import ROADS
from clustrep.findings.own import Propose, own_clusters, valleys
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting
from clustrep.resampling.strategies import Rerun
from clustrep.separation.separation import PoolPlan
from clustrep.summaries import FALSE_FINDING
from clustrep.types import FloatArray, IntArray

# Separations that are tried, in within-cluster sd, one simulated data set each: first over the whole range, downwards
# to this number of misses in a row, then within NEAR of the answer so far; and the power that is asked for.
SMALLEST, LARGEST, POWER = 2.5, 8.0, 0.8
FIRST, MISSES, MORE, NEAR = 16, 4, 12, 1.0
# Alignments for which valleys across studies are adjusted (`findings.model`): simulated studies lie in one place.
ALIGNMENTS = 4


def detectable_separation(tables: Sequence[FloatArray], n_features: int, n_tried: int, seed: int) -> float:
    """Return the separation at which two equal clusters in every study are found in 80 % of collections, in sd.

    Collections of two Gaussian clusters with each study's own covariance, a random direction apart, are simulated at
    separations from 8 to 2.5 and tested as the studies are; a logistic curve through the outcomes gives the answer.
    Infinite where even 8 sd is not enough.

    Parameters
    ----------
    tables : sequence of ndarray of shape (n_samples, n_coordinates)
        The coordinates of every study.
    n_features : int
        Of how many features these are the principal axes: they show less of the separation than there is.
    n_tried : int
        Configurations and scalings that the p-value is adjusted for.
    seed : int
    """
    rng = make_generator(np.random.SeedSequence(seed))
    centred = [X - X.mean(axis=0) for X in tables]
    roots = [np.linalg.qr(X, mode="r") / np.sqrt(len(X)) for X in centred]  # R′R is the study's covariance
    free = max(sum(map(len, tables)) - len(tables), 1)
    ratio = n_features / free if n_features > tables[0].shape[1] else 0.0

    halves = _halves(seed)

    def is_found(separation: float) -> bool:
        direction = np.asarray(rng.normal(size=tables[0].shape[1]))
        direction = direction / np.linalg.norm(direction)
        sd = float(np.sqrt(np.mean([np.var(X @ direction) for X in centred])))
        simulated = []
        for X, root in zip(centred, roots, strict=True):
            Y = rng.normal(size=(len(X), len(root))) @ root
            Y[: len(X) // 2] += _shown(separation, ratio) * sd * direction
            simulated.append(Y - Y.mean(axis=0))
        return _shows_valleys(simulated, halves, FALSE_FINDING / n_tried, seed)

    separations, found = np.linspace(LARGEST, SMALLEST, FIRST), np.zeros(FIRST)
    for i, separation in enumerate(separations):
        found[i] = is_found(separation)
        if i + 1 >= MISSES and not found[i + 1 - MISSES : i + 1].any():
            break
    around = min(_where(separations, found), LARGEST)
    more = np.linspace(max(around - NEAR, SMALLEST), min(around + NEAR, LARGEST), MORE)
    return _where(
        np.concatenate([separations, more]), np.concatenate([found, [is_found(separation) for separation in more]])
    )


def _shows_valleys(tables: Sequence[FloatArray], halves: Propose, level: float, seed: int) -> bool:
    """Whether centred studies show valleys, across them or one by itself; p-values are adjusted as by `find_valleys`.

    Across studies is tried first: it takes a few fits, and finds most.
    """
    n_studies = len(tables)
    roads = ROADS if n_studies > 1 else 1
    if n_studies > 1:
        X, study = np.concatenate(tables), np.repeat(np.arange(n_studies), [len(table) for table in tables])
        across = valleys(X, study, halves([X, *(X[study != h] for h in range(n_studies))]))
        if across.n_clusters > 1 and roads * ALIGNMENTS * across.pvalue <= level:
            return True
    largest = level / (roads * n_studies)
    rng_of_studies = np.random.SeedSequence(seed)
    return any(own_clusters(X, halves, make_generator(rng_of_studies)).pvalue <= largest for X in tables)


def _shown(separation: float, ratio: float) -> float:
    """Return how much of a separation the sample's principal axis shows.

    Two equal clusters d sd apart have the variance ℓ = d² / 4 between them. With p features and n samples, γ = p / n,
    the squared cosine between the axis of the sample and the true one is (1 − γ / ℓ²) / (1 + γ / ℓ) in large samples,
    and 0 below ℓ = √γ (Johnstone and Lu 2009, theorem 1).

    Examples
    --------
    >>> [round(_shown(5.0, ratio), 1) for ratio in (0.0, 2.5, 100.0)]
    [5.0, 4.1, 0.0]
    """
    variance = separation**2 / 4
    squared = (1 - ratio / variance**2) / (1 + ratio / variance)
    return separation * float(np.sqrt(max(squared, 0.0)))


def _halves(seed: int) -> Propose:
    """Return a function from tables to their partitions into two clusters by k-means."""
    from sklearn.cluster import KMeans

    source, configurations = Source.of(Rerun(), seed), [Configuration("k-means", KMeans(2, n_init=3))]

    def propose(tables: Sequence[FloatArray], *, first: int = 0) -> Sequence[Sequence[IntArray | Failed]]:
        pools = [Study(np.ascontiguousarray(table), f"table {i}") for i, table in enumerate(tables, first)]
        return PoolPlan(Setting.prepare(source, pools, configurations, each_alone=True)).block(range(len(pools)))

    return propose


def _where(separations: FloatArray, found: FloatArray) -> float:
    """Return where a logistic curve through the outcomes, with a weak prior on its slope, reaches the power."""
    if found[separations >= LARGEST - NEAR].mean() < POWER:
        return float("inf")

    def loss(parameters: FloatArray) -> float:
        middle, log_slope = parameters
        z = np.exp(log_slope) * (separations - middle)
        return float(-(found * log_expit(z) + (1 - found) * log_expit(-z)).sum() + 0.5 * (log_slope - 1) ** 2)

    middle, log_slope = minimize(loss, np.array([5.0, 1.0]), method="Nelder-Mead").x
    answer = middle + np.log(POWER / (1 - POWER)) / np.exp(log_slope)
    assert abs(expit(np.exp(log_slope) * (answer - middle)) - POWER) < 1e-6
    return float(np.clip(answer, SMALLEST, LARGEST))


def detectable_of(studies: Studies, n_tried: int, scale: str, seed: int) -> float:
    """Return the detectable separation for these studies; the least favourable of their scalings."""
    tables = [completed(study.X).astype(float) for study in studies.values()]
    scalings = coordinates_of(tables, "auto" if scale == AUTO else "none", make_generator(np.random.SeedSequence(seed)))
    n_tried *= len(scalings)
    with one_thread():
        return max(detectable_separation(each.by_study, len(each.divisor), n_tried, seed) for each in scalings)
