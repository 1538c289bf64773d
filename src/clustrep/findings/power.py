"""How far apart clusters must be to be found: simulated for studies of the same sizes and dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from clustrep.data.studies import Studies
from clustrep.data.values import completed
from clustrep.execution.seeds import make_generator
from clustrep.findings.coordinates import coordinates_of
from clustrep.findings.model import find_valleys, k_means
from clustrep.findings.result import Findings
from clustrep.summaries import FALSE_FINDING
from clustrep.types import FloatArray, IntArray

# Separations that are tried, in within-cluster sd, one simulated data set each; and the power that is asked for.
SMALLEST, LARGEST, SIMULATED, POWER = 2.5, 8.0, 48, 0.8


def detectable_separation(sizes: Sequence[int], n_coordinates: int, n_tried: int, seed: int) -> float:
    """Return the separation at which two equal clusters are found in 80 % of collections of these sizes, in sd.

    Collections of two Gaussian clusters with the studies' covariance, whitened, are simulated at separations from 2.5
    to 8 and tested as the studies are; a logistic curve through the outcomes gives the answer. Infinite where even 8
    sd is not enough.

    Parameters
    ----------
    sizes : sequence of int
        Samples of every study.
    n_coordinates : int
        In how many dimensions.
    n_tried : int
        Configurations that the p-value is adjusted for.
    seed : int
    """
    rng = make_generator(np.random.SeedSequence(seed))
    separations = np.linspace(SMALLEST, LARGEST, SIMULATED)
    found = np.zeros(SIMULATED)
    for i, separation in enumerate(separations):
        tables = []
        for n in sizes:
            X = rng.normal(size=(n, n_coordinates))
            X[: n // 2, 0] += separation
            tables.append(X)
        tested = find_valleys(tables, lambda pools, *, first=0: [[_halves(X, seed)] for X in pools], seed)
        found[i] = n_tried * tested.pvalue <= FALSE_FINDING
    return _where(separations, found)


def _halves(X: FloatArray, seed: int) -> IntArray:
    return k_means(X, 2, seed, 3)


def _where(separations: FloatArray, found: FloatArray) -> float:
    """Return where a logistic curve through the outcomes, with a weak prior on its slope, reaches the power."""
    if found[-SIMULATED // 6 :].mean() < POWER:
        return float("inf")

    def loss(parameters: FloatArray) -> float:
        middle, log_slope = parameters
        z = np.exp(log_slope) * (separations - middle)
        return float(-(found * log_expit(z) + (1 - found) * log_expit(-z)).sum() + 0.5 * (log_slope - 1) ** 2)

    middle, log_slope = minimize(loss, np.array([5.0, 1.0]), method="Nelder-Mead").x
    answer = middle + np.log(POWER / (1 - POWER)) / np.exp(log_slope)
    assert abs(expit(np.exp(log_slope) * (answer - middle)) - POWER) < 1e-6
    return float(np.clip(answer, SMALLEST, LARGEST))


def detectable_of(findings: Findings, studies: Studies, n_tried: int, seed: int) -> float:
    """Return the detectable separation for these studies."""
    tables = [completed(study.X).astype(float) for study in studies.values()]
    coordinates = coordinates_of(tables, "none", make_generator(np.random.SeedSequence(seed % 2**32)))[0]
    sizes = [int(n) for n in findings.sizes]
    return detectable_separation(sizes, coordinates.X.shape[1], n_tried, seed % 2**32)
