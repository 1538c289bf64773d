"""What a run costs, roughly, and who should compute it: threads, processes or neither, from shapes alone."""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

# Seconds, roughly: until processes have started and imported what they need, and until threads have.
PROCESSES_START = 2.5
THREADS_START = 0.02
# A run must become shorter by this factor for workers to be worth their trouble: estimates are no better than that.
WORTHWHILE = 0.8
# Every block is this share of what is left for a worker: the last are the smallest, so that none waits for another.
SHARE_OF_REST = 0.5
# How long a block should take at least, unless there would be fewer than so many for each worker.
LEAST_BLOCK = 0.05
BLOCKS_PER_WORKER = 4


# Bytes of results that come back from other processes in a second, roughly: one process takes them all.
BYTES_PER_SECOND = 5e8


class Cost(NamedTuple):
    """Roughly how many seconds a replicate takes: in kernels, and in Python, which has one lock."""

    kernels: float
    python: float
    n_bytes: float = 0.0  # of its value, where that is large

    @property
    def total(self) -> float:
        """All seconds together."""
        return self.kernels + self.python


class Workers(Enum):
    """Who computes the blocks of a run."""

    NONE = "none"
    THREADS = "threads"
    PROCESSES = "processes"


def choose_workers(cost: Cost, n_replicates: int, n_workers: int, *, in_threads: bool) -> Workers:
    """Choose who computes a run, from its cost and the number of workers that were asked for.

    Threads can only share what kernels do: Python's part is done by one of them at a time. Processes share all of it,
    but take seconds to start, and have to send what they have computed. A run that neither makes clearly shorter is
    computed here. No choice changes a result.

    Examples
    --------
    >>> short, long, in_python = Cost(1e-4, 3e-4), Cost(0.1, 2e-3), Cost(0.0, 0.5)
    >>> choose_workers(short, 100, 2, in_threads=True).value
    'none'
    >>> choose_workers(long, 100, 2, in_threads=True).value
    'threads'
    >>> choose_workers(in_python, 100, 2, in_threads=False).value
    'processes'
    """
    alone = n_replicates * cost.total
    with_threads = THREADS_START + max(n_replicates * cost.python, alone / n_workers)
    with_processes = PROCESSES_START + alone / n_workers + n_replicates * cost.n_bytes / BYTES_PER_SECOND
    if in_threads and with_threads <= min(with_processes, WORTHWHILE * alone):
        return Workers.THREADS
    return Workers.PROCESSES if with_processes <= WORTHWHILE * alone else Workers.NONE


def block_sizes(batch: int, cost: Cost, n_replicates: int, n_workers: int) -> list[int]:
    """Return how many replicates make each of the blocks that several workers compute: the last are the smallest.

    Parameters
    ----------
    batch : int
        How many the plan likes to compute together.

    Examples
    --------
    >>> block_sizes(64, Cost(0.1, 1e-3), 20, 2)
    [5, 4, 3, 2, 2, 1, 1, 1, 1]
    """
    long_enough = math.ceil(LEAST_BLOCK / max(cost.total, 1e-9))
    least = min(long_enough, math.ceil(n_replicates / (BLOCKS_PER_WORKER * n_workers)))
    sizes, n_left = [], n_replicates
    while n_left:
        share = math.ceil(SHARE_OF_REST * n_left / n_workers)
        size = min(n_left, max(least, min(batch, share)))
        sizes.append(size)
        n_left -= size
    return sizes
