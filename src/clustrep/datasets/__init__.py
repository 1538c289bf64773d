"""Data sets: penguins of three islands, simulated studies, and the paper's benchmark sets."""

from __future__ import annotations

from clustrep.datasets.benchmark import load_breast, load_dim, load_shape
from clustrep.datasets.penguins import load_penguins
from clustrep.datasets.simulated import simulate_atlas, simulate_cohorts

__all__ = ["load_breast", "load_dim", "load_penguins", "load_shape", "simulate_atlas", "simulate_cohorts"]
