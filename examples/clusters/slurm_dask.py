"""A run on a Slurm cluster: Dask workers as Slurm jobs, by dask-jobqueue.

pip install "clustrep[dask]" dask-jobqueue
python slurm_dask.py cohorts/*.csv --out breast --jobs 20           on a login node, in tmux or screen
python slurm_dask.py cohorts/*.csv --out breast --local             on this machine, to try it

A worker is a Slurm job with one core for each thread; jobs that end early, or are killed because of memory, are
replaced, and what they were computing runs elsewhere. If this program is ended, the same command continues.
"""

from __future__ import annotations

import argparse
import sys

from distributed import Client, LocalCluster
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr


def slurm_workers(n_jobs: int, queue: str, memory: str, walltime: str) -> Client:
    """Ask Slurm for workers; they come when the queue lets them."""
    from dask_jobqueue import SLURMCluster

    cluster = SLURMCluster(
        queue=queue,
        cores=1,  # one block at a time for each process: clusterers that hold Python's lock don't wait for each other
        processes=1,
        memory=memory,
        walltime=walltime,
        # A worker ends a little before its job does, and is replaced by the next.
        worker_extra_args=["--lifetime", "50m", "--lifetime-stagger", "5m"],
    )
    cluster.adapt(minimum_jobs=1, maximum_jobs=n_jobs)
    return Client(cluster)


def main() -> int:
    """Compare two clusterers on the studies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="+", help="tables, one for each study")
    parser.add_argument("--out", required=True, help="a folder for finished blocks and the results")
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=10, help="how many Slurm jobs at most")
    parser.add_argument("--queue", default="normal")
    parser.add_argument("--memory", default="4GB", help="of each job")
    parser.add_argument("--walltime", default="01:00:00", help="of each job")
    parser.add_argument("--local", action="store_true", help="two workers here instead of Slurm's")
    options = parser.parse_args()
    if options.local:
        client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0"))
    else:
        client = slurm_workers(options.jobs, options.queue, options.memory, options.walltime)
    client.wait_for_workers(1)  # however long the queue takes: a run itself gives up after ten minutes without any
    with cr.config_context(engine=client, checkpoint=f"{options.out}/checkpoint"):
        comparison = cr.compare(
            {"k-means": KMeans(n_init=10), "ward": AgglomerativeClustering()},
            cr.Studies.read(*options.studies),
            n_clusters=range(2, 9),
            n_resamples=options.resamples,
            rng=0,
        )
    comparison.save(f"{options.out}/comparison.npz")
    print(comparison)
    client.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
