"""What a run costs, roughly, and who should compute it: threads, processes or neither, from shapes alone."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import re
import time
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from clustrep.errors import DataError
from clustrep.execution.context import config
from clustrep.text import argument, plural

# Seconds, roughly: until processes have started and imported what they need, and until threads have.
PROCESSES_START = 2.5
THREADS_START = 0.02
# A run must become shorter by this factor for workers to be worth their trouble: estimates are no better than that.
WORTHWHILE = 0.8
# Every block is this share of the work left for a worker: the last are the smallest, so that none waits for another.
SHARE_OF_REST = 0.5
# How long a block should take at least, unless there would be fewer than this number for each worker.
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


# ---------------------------------------------------------------------------------------------------------------------
# What a run will take: memory, before it starts, and time, from its first replicates


SURE_AFTER = 1.0  # seconds of work before the rest is estimated

LONG = 30.0  # seconds that are worth a word

ADVISED_LANDMARKS = 2000

ALWAYS_THERE = 10**9  # bytes that are taken without asking for the free memory

CGROUP = Path("/sys/fs/cgroup")  # where Linux limits the memory of containers and of jobs

logger = logging.getLogger("clustrep")


def available_memory() -> int | None:
    """Return how many bytes can be had without swapping; None where the system does not say."""
    limits: list[int] = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        limits.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]))
    with contextlib.suppress(OSError, ValueError):
        limit, used, details = ((CGROUP / f"memory.{name}").read_text() for name in ("max", "current", "stat"))
        cached = re.search(r"^inactive_file (\d+)$", details, re.MULTILINE)  # files, given up where memory is needed
        limits.append(int(limit) - int(used) + (int(cached[1]) if cached else 0))
    if not limits:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return max(min(limits), 0) if limits else None


def check_memory(needed: float, clusterer: str, study: str, n_samples: int) -> None:
    """Refuse a clusterer that needs more memory than there is, before anything is computed.

    The memory of other machines is not known here.
    """
    if config().opened is not None:
        return
    available = available_memory()
    if available is not None and needed > available:
        raise DataError(
            f"{clusterer} on the {n_samples:,} samples of study {study!r} needs about {in_gigabytes(needed)} of "
            f"memory, of which {in_gigabytes(available)} are available: fit it to landmarks of the study, such as "
            f"{argument('n_landmarks', ADVISED_LANDMARKS)}, or take a clusterer whose memory does not grow with the "
            "square of the samples, such as k-means."
        )


def in_gigabytes(n_bytes: float) -> str:
    """Write a number of bytes.

    Examples
    --------
    >>> in_gigabytes(4 * 100_000**2), in_gigabytes(1.26e9)
    ('40 GB', '1.3 GB')
    """
    gigabytes = n_bytes / 1e9
    return f"{gigabytes:,.0f} GB" if gigabytes >= 10 else f"{gigabytes:.1f} GB"


def in_words(seconds: float) -> str:
    """Write a duration, no more exactly than it can be known.

    Examples
    --------
    >>> in_words(42), in_words(90), in_words(5000), in_words(200_000)
    ('42 seconds', '2 minutes', '1.4 hours', '2.3 days')
    """
    if seconds < 60:
        return plural(round(seconds), "second")
    if seconds < 3600:
        return plural(round(seconds / 60), "minute")
    return f"{seconds / 3600:.1f} hours" if seconds < 86400 else f"{seconds / 86400:.1f} days"


class Pace:
    """Times the blocks of a run, and tells once how long the others take.

    Costs that occur once are not counted: kernels are compiled for the first block, and workers start and import for
    the first block of each. Blocks of several workers end together, so that whole rounds of them are timed.
    """

    def __init__(self, description: str, n_replicates: int, n_workers: int):
        self._description, self._n_replicates, self._n_workers = description, n_replicates, n_workers
        self._n_first_blocks = 1 if n_workers == 1 else 1 + n_workers
        self._n_blocks = self._n_done = self._n_untimed = 0
        self._begun, self._is_said = 0.0, False

    def count(self, n_replicates: int) -> None:
        """Take note that a block of this number of replicates is done."""
        self._n_blocks += 1
        self._n_done += n_replicates
        if self._n_blocks <= self._n_first_blocks:
            self._n_untimed, self._begun = self._n_done, time.monotonic()
        elif not self._is_said and (self._n_blocks - self._n_first_blocks) % self._n_workers == 0:
            seconds = time.monotonic() - self._begun
            if seconds >= SURE_AFTER:
                self._is_said = True
                rest = seconds / (self._n_done - self._n_untimed) * (self._n_replicates - self._n_done)
                if rest >= LONG:
                    done = f"{self._n_done} of {self._n_replicates} replicates are done"
                    logger.info("%s: %s, the others take about %s.", self._description, done, in_words(rest))
