"""How long Leiden takes on an atlas: 10 studies of 20,000 cells, 10 resolutions, B = 20: `python -m benchmarks.cells`.

Cells are the coordinates of six types in 20 dimensions. With `--extrapolate`, three small runs on one core give the
processor time of the work once for each study, of a fit, and of the labels of one study by the function of another; the
whole follows from these, and half of it is what two cores take that have nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import resource
import time

import numpy as np
from joblib.externals.loky import get_reusable_executor

import clustrep as cr
from clustrep.fitting.communities import Leiden

N_FEATURES, N_TYPES = 20, 6
# Studies and resamples of the small runs.
SMALL = ((2, 1), (2, 2), (3, 1))


def studies(n_studies: int, n_cells: int) -> dict[str, np.ndarray]:
    """Draw studies with the same types, each with another small shift."""
    centres = 5 * np.random.default_rng(0).normal(size=(N_TYPES, N_FEATURES)) / N_FEATURES**0.5
    drawn = {}
    for s in range(n_studies):
        rng = np.random.default_rng([1, s])
        types = rng.integers(N_TYPES, size=n_cells)
        noise = rng.normal(size=(n_cells, N_FEATURES)) + 0.1 * rng.normal(size=N_FEATURES)
        drawn[f"lab {s + 1}"] = (centres[types] + noise).astype(np.float32)
    return drawn


def compare(
    n_studies: int, n_cells: int, n_resamples: int, resolutions: np.ndarray, n_jobs: int
) -> tuple[float, float]:
    """Return the seconds that a comparison took, by the clock and of the processors, those of workers included."""
    tables = studies(n_studies, n_cells)
    begin, begin_of_work = time.perf_counter(), worked()
    with cr.config_context(progress=False):
        cr.compare(
            {"leiden": Leiden()},
            tables,
            param_grid={"resolution": resolutions.tolist()},
            agreement="ari",
            n_resamples=n_resamples,
            diagonal=False,
            rng=0,
            n_jobs=n_jobs,
        )
    took = time.perf_counter() - begin
    if n_jobs > 1:
        get_reusable_executor().shutdown(wait=True)  # the time of a worker is known when it has ended
    return took, worked() - begin_of_work


def worked() -> float:
    """Return the seconds that the processors have worked for this process and for its workers that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def parts(n_studies: int, n_resamples: int) -> list[float]:
    """Count studies, fits (one of each study without resampling), and labels of one study by another's function."""
    return [n_studies, n_studies * (n_resamples + 1), n_studies**2 * (n_resamples + 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=10)
    parser.add_argument("--cells", type=int, default=20_000)
    parser.add_argument("--resamples", type=int, default=20)
    parser.add_argument("--resolutions", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--extrapolate", action="store_true", help="measure small runs on one core instead")
    asked = parser.parse_args()
    resolutions = np.linspace(0.1, 1.0, asked.resolutions)
    what = (
        f"{asked.studies} × {asked.cells:,} cells, Leiden at {asked.resolutions} resolutions, B = {asked.resamples}, "
        f"on a machine with {os.cpu_count()} cores"
    )
    if not asked.extrapolate:
        took, needed = compare(asked.studies, asked.cells, asked.resamples, resolutions, asked.jobs)
        print(f"{what}, n_jobs = {asked.jobs}: {took / 60:.1f} minutes, {needed / 60:.1f} minutes of the processors")
        return
    compare(2, 500, 1, resolutions, 1)  # imports and compiles
    seconds = []
    for n_studies, n_resamples in SMALL:
        _, needed = compare(n_studies, asked.cells, n_resamples, resolutions, 1)
        print(f"{n_studies} studies, B = {n_resamples}: {needed:.0f} seconds of the processor", flush=True)
        seconds.append(needed)
    once, fit, label = np.linalg.solve([parts(*small) for small in SMALL], seconds)
    print(
        f"once for a study {once:.1f} s, all fits to a draw {fit:.1f} s, labels of one study by another {label:.1f} s"
    )
    whole = float(np.dot(parts(asked.studies, asked.resamples), [once, fit, label])) / 60
    print(f"{what}: extrapolated to {whole:.0f} minutes of the processor, {whole / 2:.0f} on two free cores")


if __name__ == "__main__":
    main()
