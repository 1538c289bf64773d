"""Data sets: simulated studies, the paper's benchmark sets, public breast cancer cohorts."""

from __future__ import annotations

from clustrep.datasets.atlas import simulate_atlas
from clustrep.datasets.benchmark import load_breast, load_dim, load_shape
from clustrep.datasets.cohorts import load_pam50_cohorts
from clustrep.datasets.simulated import simulate_cohorts, simulate_dim

__all__ = [
    "load_breast",
    "load_dim",
    "load_pam50_cohorts",
    "load_shape",
    "simulate_atlas",
    "simulate_cohorts",
    "simulate_dim",
]
