"""How long Leiden takes on an atlas: 10 studies of 20,000 cells, 10 resolutions, B = 20: `python -m benchmarks.cells`.

Cells are the coordinates of six types in 20 dimensions. `--part 0.1` measures so many of the resamples and extrapolates
to all, in proportion.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

import clustrep as cr
from clustrep.clusterers import Leiden

N_FEATURES, N_TYPES = 20, 6


def studies(n_studies: int, n_cells: int) -> dict[str, np.ndarray]:
    """Draw studies with the same types, each with a small shift of its own."""
    centres = 5 * np.random.default_rng(0).normal(size=(N_TYPES, N_FEATURES)) / N_FEATURES**0.5
    drawn = {}
    for s in range(n_studies):
        rng = np.random.default_rng([1, s])
        types = rng.integers(N_TYPES, size=n_cells)
        noise = rng.normal(size=(n_cells, N_FEATURES)) + 0.1 * rng.normal(size=N_FEATURES)
        drawn[f"lab {s + 1}"] = (centres[types] + noise).astype(np.float32)
    return drawn


def seconds(n_studies: int, n_cells: int, n_resamples: int, resolutions: np.ndarray, n_jobs: int) -> float:
    """Measure one comparison."""
    tables = studies(n_studies, n_cells)
    begin = time.perf_counter()
    with cr.config_context(progress=False):
        cr.compare(
            {"leiden": Leiden()},
            tables,
            over={"resolution": resolutions.tolist()},
            agreement="ari",
            n_resamples=n_resamples,
            diagonal=False,
            rng=0,
            n_jobs=n_jobs,
        )
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=10)
    parser.add_argument("--cells", type=int, default=20_000)
    parser.add_argument("--resamples", type=int, default=20)
    parser.add_argument("--resolutions", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", type=float, help="measure this part of the resamples, and extrapolate")
    asked = parser.parse_args()
    values = np.linspace(0.1, 1.0, asked.resolutions)
    n_resamples = asked.resamples if asked.part is None else max(1, round(asked.part * asked.resamples))
    took = seconds(asked.studies, asked.cells, n_resamples, values, asked.jobs)
    what = (
        f"{asked.studies} × {asked.cells:,} cells, Leiden at {asked.resolutions} resolutions, "
        f"n_jobs = {asked.jobs} on a machine with {os.cpu_count()} cores"
    )
    print(f"{what}: B = {n_resamples} took {took / 60:.1f} minutes")
    if n_resamples < asked.resamples:
        # The studies as they are count as one more resample.
        whole = took * (asked.resamples + 1) / (n_resamples + 1)
        print(f"extrapolated to B = {asked.resamples}: {whole / 60:.0f} minutes")


if __name__ == "__main__":
    main()
