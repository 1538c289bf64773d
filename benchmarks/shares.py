"""Where the time of every job goes: into kernels, which let other threads run, or into Python around them.

Run as `python -m benchmarks.shares`, with names of jobs to run only these. Outside kernels, threads have to
share one lock for.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import time
import warnings
from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from benchmarks.bench import Job, best_of, jobs, print_row, print_table


def kernel_seconds(job: Job) -> tuple[float, int]:
    """Return the processor's time inside of kernels, and how often they were called from Python."""
    profile = cProfile.Profile(time.process_time)
    profile.runcall(job.run, job.n_resamples)
    entries = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    inside = [entry for (file, _, _), entry in entries if "_kernels" in file and "compiled" not in file]
    return sum(entry[2] for entry in inside), sum(entry[1] for entry in inside)


def main(names: Sequence[str]) -> int:
    """Print the table."""
    warnings.simplefilter("ignore")
    print_table(["job", "all", "in kernels", "calls of kernels"], [])
    with threadpool_limits(1):
        for job in jobs():
            if (not names and job.name != "large") or job.name in names:
                job.run(min(job.n_resamples, 2))
                seconds, _ = best_of(lambda job=job: job.run(job.n_resamples))
                inside, n_calls = kernel_seconds(job)
                print_row([job.title, f"{seconds:.3f} s", f"{100 * inside / seconds:.0f} %", f"{n_calls:,}"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
