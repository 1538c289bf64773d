"""How often an analysis that stops simulating early decides otherwise than with all simulated data sets.

Run as `python -m calibration.sequential`. Scores and separateness of data sets of all three null models are simulated
and stored once, for k-means on two studies. Every analysis takes 199 of them a model, and as its observation one more,
raised by between 0 and 5 standard deviations in a random part of the statistics and configurations. It is decided as
`analyse` does, early and with all data sets: whether a model explains the scores, and which configurations are above.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.null.models import UNIMODAL_MODELS
from clustrep.null.null_reference import LOOKS, NOT_EXPLAINED, clearly_explained
from clustrep.null.null_scores import WEIGHTS, _adjusted_together, shares_above

N = 199


def stored(n_stored: int, seed: int) -> list[np.ndarray]:
    """Simulate data sets: of every model, score and separateness, (n_stored, 2, n_configurations)."""
    rng = np.random.default_rng(seed)
    studies = [rng.normal(size=(60, 3)) * [3, 2, 1] for _ in range(2)]
    comparison = cr.compare(KMeans(n_init=3), studies, n_clusters=range(2, 7), agreement="ari", n_resamples=5, rng=seed)
    references = [cr.null_reference(comparison, n_stored, null=model) for model in UNIMODAL_MODELS]
    return [np.stack([each.overall_distribution[:, :, 0], each.separateness_distribution], 1) for each in references]


def decided(values: np.ndarray, *, early: bool) -> tuple[np.ndarray, int]:
    """Return the adjusted p-values of one model, (n_configurations,), and of how many data sets they are."""
    for n in (*(look for look in LOOKS if early and look < N), N):
        pvalues = _adjusted_together(values[: 1 + n], WEIGHTS)
        if n < N and clearly_explained(shares_above(values[: 1 + n])[1], n, N):
            break
    return pvalues, n


def analysis(models: Sequence[np.ndarray], *, early: bool) -> tuple[bool, tuple[bool, ...], int]:
    """Decide as `analyse`: whether a model explains the scores, which configurations are above, data sets drawn."""
    best, largest, n_drawn = np.zeros(0), -1.0, 0
    for values in models:
        pvalues, n = decided(values, early=early)
        n_drawn += n
        if pvalues.min() > largest:
            best, largest = pvalues, pvalues.min()
        if pvalues.min() > NOT_EXPLAINED:
            return True, (), n_drawn
    return False, tuple(best <= NOT_EXPLAINED), n_drawn


def simulate(n_analyses: int, n_stored: int = 1000, seed: int = 0) -> dict[str, float]:
    """Return the shares of analyses with another verdict or other configurations above, and the data sets drawn."""
    pools, rng = stored(n_stored, seed), np.random.default_rng(seed)
    counts = {"other verdict": 0, "other configurations": 0, "explained": 0, "drawn": 0, "drawn of all": 0}
    for _ in range(n_analyses):
        raised = rng.uniform(0, 5) * (rng.random(pools[0].shape[1:]) < rng.uniform(0.2, 1))
        own = rng.integers(n_stored)
        models = []
        for pool in pools:
            others = rng.choice(np.delete(np.arange(n_stored), own), N, replace=False)
            models.append(np.concatenate([pool[own : own + 1] + raised * pool.std(axis=0), pool[others]]))
        (verdict, above, n_drawn), (all_verdict, all_above, all_drawn) = (
            analysis(models, early=early) for early in (True, False)
        )
        counts["other verdict"] += verdict != all_verdict
        counts["other configurations"] += verdict == all_verdict and above != all_above
        counts["explained"] += all_verdict
        counts["drawn"] += n_drawn
        counts["drawn of all"] += all_drawn
    return {name: count / n_analyses for name, count in counts.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyses", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for what, value in simulate(arguments.analyses, seed=arguments.seed).items():
        print(f"{what}: {value:.4g}", flush=True)
