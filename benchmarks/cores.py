"""What several cores gain: the time of one worker over that of two, four, … on this machine.

Run as `python -m benchmarks.cores`, with names of jobs to run only these, and `--workers 1 2 4 8 16` for other numbers
of workers (by default powers of two up to all cores). Times are by the clock: nothing else should run meanwhile. Every
job has as many resamples as take one worker a few seconds, and once as few as take it a tenth of that: there, workers
should cost nothing. `--seconds 2 --repeats 1 --workers 1 16` takes about ten seconds a job, and one that fails is a row
that says so.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Sequence

import joblib
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering

from benchmarks.bench import Job, global_job, jobs, mixture, print_row, print_table

# Seconds that one worker should take, roughly.
LONG = 4.0
SHORTER = 0.1
# Of a run of a second or more with two workers, and of any other: never slower, up to what clocks scatter.
TWO_WORKERS, NEVER_SLOWER = 1.8, 0.9
K = range(2, 41)
SHARED_JOBS = ("small", "path", "pairs", "ward", "complete", "wide", "local", "test")


def cores_jobs() -> list[Job]:
    """Return the jobs that can be shared: those of the other table, and a clusterer without any kernels."""
    flat, small = mixture(1_550, 2, 31, 10.0), mixture(200, 2, 4, 3.0)
    spectral, single = SpectralClustering(), AgglomerativeClustering(linkage="single")
    more = [
        global_job("long", "k-means, two studies of 1,550 × 2, k = 2…40, B = 100", 1, KMeans(n_init=10), flat, K, 100),
        global_job("single", "single linkage, two studies of 1,550 × 2, k = 5", 1, single, flat, [5], 10),
        global_job("plain", "spectral clustering, two studies of 200 × 2, k = 4", 1, spectral, small, [4], 10),
    ]
    return [job for job in jobs() if job.name in SHARED_JOBS] + more


def seconds_of(job: Job, n_resamples: int, n_workers: int, repeats: int) -> float:
    """Return the least time of a few."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        job.run(n_resamples, n_workers)
        times.append(time.perf_counter() - begin)
    return min(times)


def resamples_for(job: Job, seconds: float) -> int:
    """Return how many resamples take one worker this number of seconds, from a run that takes at least half as long."""
    job.run(2)  # compiles, where that is still to be done
    n_resamples = 4
    while (taken := seconds_of(job, n_resamples, 1, 1)) < seconds / 2:
        n_resamples *= 2
    return math.ceil(n_resamples * seconds / taken)


def row(job: Job, seconds: float, workers: Sequence[int], repeats: int) -> tuple[list[str], bool]:
    """Measure one job with every number of workers, in turns; say whether no number is slower than one."""
    n_resamples = resamples_for(job, seconds)
    times = dict.fromkeys(workers, math.inf)
    for _ in range(repeats):  # in turns, so that a slow minute hits all
        times = {n: min(times[n], seconds_of(job, n_resamples, n, 1)) for n in workers}
    alone = times[workers[0]]
    gains = [alone / times[n] for n in workers[1:]]
    enough = all(gain >= NEVER_SLOWER for gain in gains)
    if 2 in times and alone >= 1:
        enough &= alone / times[2] >= TWO_WORKERS
    return [job.title, f"{n_resamples:,}", f"{alone:.2f} s", *(f"{gain:.2f}" for gain in gains)], enough


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    warnings.simplefilter("ignore")
    all_cores = joblib.cpu_count()
    powers = [2**i for i in range(int(math.log2(all_cores)) + 1)]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", help="names of jobs; all where none is given")
    parser.add_argument("--workers", nargs="+", type=int, default=sorted({*powers, all_cores}))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=LONG, help="that one worker takes, roughly")
    options = parser.parse_args(arguments)
    workers = sorted({1, *options.workers})
    print_table(["job", "resamples", "one worker", *(f"{n} workers" for n in workers[1:])], [])
    all_met = True
    for job in cores_jobs():
        if not options.jobs or job.name in options.jobs:
            for seconds in (options.seconds, SHORTER * options.seconds):
                try:
                    cells, enough = row(job, seconds, workers, options.repeats)
                except Exception as error:  # the other jobs are measured all the same
                    cells, enough = [job.title, f"{type(error).__name__}: {error}"], False
                all_met &= enough
                print_row(cells if enough else [*cells[:-1], f"**{cells[-1]}**"])
    print(f"\nOn {all_cores} cores. " + ("All goals are met." if all_met else "Bold numbers miss their goals."))
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
