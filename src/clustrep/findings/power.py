"""How far apart clusters must be to be found: simulated for studies of the same sizes and covariances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from clustrep.data.studies import Studies
from clustrep.data.values import AUTO, completed
from clustrep.execution.seeds import make_generator
from clustrep.findings.coordinates import coordinates_of
from clustrep.findings.model import find_valleys, k_means
from clustrep.summaries import FALSE_FINDING
from clustrep.types import FloatArray, IntArray

# Separations that are tried, in within-cluster sd, one simulated data set each: first over the whole range, then within
# NEAR of the answer so far; and the power that is asked for.
SMALLEST, LARGEST, POWER = 2.5, 8.0, 0.8
FIRST, MORE, NEAR = 16, 12, 1.0


def detectable_separation(tables: Sequence[FloatArray], n_features: int, n_tried: int, seed: int) -> float:
    """Return the separation at which two equal clusters in every study are found in 80 % of collections, in sd.

    Collections of two Gaussian clusters with each study's own covariance, a random direction apart, are simulated at
    separations from 2.5 to 8 and tested as the studies are; a logistic curve through the outcomes gives the answer.
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

    def is_found(separation: float) -> bool:
        direction = np.asarray(rng.normal(size=tables[0].shape[1]))
        direction = direction / np.linalg.norm(direction)
        sd = float(np.sqrt(np.mean([np.var(X @ direction) for X in centred])))
        simulated = []
        for X, root in zip(centred, roots, strict=True):
            Y = rng.normal(size=(len(X), len(root))) @ root
            Y[: len(X) // 2] += _shown(separation, ratio) * sd * direction
            simulated.append(Y)
        tested = find_valleys(
            simulated, lambda pools, *, first=0, whole=None: [[_halves(X, seed)] for X in pools], seed
        )
        return n_tried * tested.pvalue <= FALSE_FINDING

    separations = np.linspace(SMALLEST, LARGEST, FIRST)
    found = np.array([is_found(separation) for separation in separations], dtype=float)
    around = min(_where(separations, found), LARGEST)
    more = np.linspace(max(around - NEAR, SMALLEST), min(around + NEAR, LARGEST), MORE)
    return _where(
        np.concatenate([separations, more]), np.concatenate([found, [is_found(separation) for separation in more]])
    )


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


def _halves(X: FloatArray, seed: int) -> IntArray:
    return k_means(X, 2, seed, 3)


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
    return max(detectable_separation(each.by_study, len(each.divisor), n_tried, seed) for each in scalings)
