"""
The same bits from a cluster of machines
========================================

``config_context(engine=…)`` sends replicates to the workers of a Dask scheduler. Here a scheduler and two workers,
processes on this machine, stand for machines of a cluster; with ``Client("tcp://head:8786")`` nothing else changes. A
seed belongs to a replicate, not to the worker that computes it, so the result has the same bits as one that was
computed here.
"""

# %%
import numpy as np
from distributed import Client
from distributed.deploy.subprocess import SubprocessCluster
from sklearn.cluster import KMeans

import clustrep as cr

studies = cr.datasets.simulate_cohorts(rng=1).scaled("study")
kmeans = KMeans(4, n_init=5)

with (
    SubprocessCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as machines,
    Client(machines, timeout=120) as client,
    cr.config_context(engine=client),
):
    there = cr.replicability(kmeans, studies, n_resamples=60, rng=0)

here = cr.replicability(kmeans, studies, n_resamples=60, rng=0)
print("equal bits:", np.array_equal(there.distribution, here.distribution))
print(there)

# %%
# What happens when a worker dies, when the scheduler goes away, and how to start workers with Slurm or Kubernetes:
# :doc:`many machines </clusters>`.

there.plot().title.set_text("Computed by two other processes")
