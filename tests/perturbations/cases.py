"""Perturbations and studies that several tests share."""

from __future__ import annotations

import clustrep as cr

SINGLE = [
    cr.Bootstrap(),
    cr.Bootstrap(distinct=True),
    cr.Subsample(0.6),
    cr.FeatureSubset(0.6),
    cr.Jitter(),
    cr.Jitter(0.1, relative=False),
    cr.Rerun(),
]
SUMS = [
    cr.Subsample(0.8) + cr.Jitter(0.1),
    cr.Jitter(0.1) + cr.Subsample(0.8),
    cr.Bootstrap() + cr.Jitter(0.1),
    cr.Bootstrap() + cr.FeatureSubset(0.5) + cr.Jitter(0.1),
    cr.Bootstrap(distinct=True) + cr.Subsample(0.5),
]
