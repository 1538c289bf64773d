"""How often an analysis that stops simulating early decides otherwise than with all simulated data sets.

Run as `python -m calibration.sequential`. Scores and separateness of data sets of all three null models are simulated
and stored once, for k-means on two studies. Every analysis takes 199 of them a model, and as its observation one more
of any model, raised by between 0 and --raised standard deviations in a random part of the statistics and
configurations. It is decided as `analyse` does, early and with all data sets: whether any configuration is above the
models, which is the best of these, and which others are above.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.null.models import UNIMODAL_MODELS
from clustrep.null.null_reference import LOOKS, NOT_EXPLAINED, is_settled
from clustrep.null.null_scores import WEIGHTS, _adjusted_together

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
        if n < N and is_settled(values[: 1 + n], values[0, 0], N):
            break
    return pvalues, n


def analysis(models: Sequence[np.ndarray], *, early: bool) -> tuple[int, tuple[bool, ...], int]:
    """Decide as `analyse`: the best configuration above the model (−1: none), which are above, data sets drawn."""
    above, largest, n_drawn = np.zeros(0, dtype=bool), -1.0, 0
    for values in models:
        pvalues, n = decided(values, early=early)
        n_drawn += n
        if pvalues.min() > largest:
            largest = pvalues.min()
            above = (pvalues <= NOT_EXPLAINED) & (values[0, 0] > values[1 : 1 + n, 0].mean(axis=0))
        if pvalues.min() > NOT_EXPLAINED:
            break
    best = int(np.argmax(np.where(above, values[0, 0], -np.inf))) if above.any() else -1
    return best, tuple(above), n_drawn


def simulate(n_analyses: int, n_stored: int = 1000, seed: int = 0, raised_to: float = 5.0) -> dict[str, float]:
    """Return the shares of analyses with another verdict, another best, others above; and data sets drawn."""
    pools, rng = stored(n_stored, seed), np.random.default_rng(seed)
    names = (
        "other verdict",
        "other best",
        "others above",
        "nothing above",
        "drawn",
        "of nothing",
        "drawn of all",
    )
    counts = dict.fromkeys(names, 0)
    for _ in range(n_analyses):
        raised = rng.uniform(0, raised_to) * (rng.random(pools[0].shape[1:]) < rng.uniform(0.2, 1))
        own = rng.integers(n_stored)
        of_model = pools[rng.integers(len(pools))]
        observed = of_model[own : own + 1] + raised * of_model.std(axis=0)
        models = []
        for pool in pools:
            others = rng.choice(np.delete(np.arange(n_stored), own), N, replace=False)
            models.append(np.concatenate([observed, pool[others]]))
        (best, above, n_drawn), (all_best, all_above, all_drawn) = (
            analysis(models, early=early) for early in (True, False)
        )
        counts["other verdict"] += (best < 0) != (all_best < 0)
        counts["other best"] += best != all_best and best >= 0 and all_best >= 0
        counts["others above"] += above != all_above
        counts["nothing above"] += all_best < 0
        counts["drawn"] += n_drawn
        counts["of nothing"] += n_drawn * (all_best < 0)
        counts["drawn of all"] += all_drawn
    counts["of nothing"] /= max(counts["nothing above"], 1) / n_analyses
    return {name: count / n_analyses for name, count in counts.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyses", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--raised", type=float, default=5.0)
    arguments = parser.parse_args()
    for what, value in simulate(arguments.analyses, seed=arguments.seed, raised_to=arguments.raised).items():
        print(f"{what}: {value:.4g}", flush=True)
