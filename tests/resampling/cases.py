"""Perturbations and studies that several tests share."""

from __future__ import annotations

import clustrep as cr

SINGLE = [
    cr.resampling.Bootstrap(),
    cr.resampling.Bootstrap(distinct=True),
    cr.resampling.Subsample(0.6),
    cr.resampling.FeatureSubset(0.6),
    cr.resampling.Jitter(),
    cr.resampling.Jitter(0.1, relative=False),
    cr.resampling.Rerun(),
]
SIMULATED = cr.resampling.Simulate(lambda study, rng: rng.normal(size=study.X.shape))
SUMS = [
    cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.1),
    cr.resampling.Jitter(0.1) + cr.resampling.Subsample(0.8),
    cr.resampling.Bootstrap() + cr.resampling.Jitter(0.1),
    cr.resampling.Bootstrap() + cr.resampling.FeatureSubset(0.5) + cr.resampling.Jitter(0.1),
    cr.resampling.Bootstrap(distinct=True) + cr.resampling.Subsample(0.5),
]
