"""What a run will take: memory, before it starts, and time, from its first replicates."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
from pathlib import Path

from clustrep.engine import engines
from clustrep.errors import DataError
from clustrep.sentences import argument
from clustrep.text import plural

SURE_AFTER = 1.0  # seconds of work before the rest is estimated

LONG = 30.0  # seconds that are worth a word

ADVISED_SKETCH = 2000  # landmarks

ALWAYS_THERE = 10**9  # bytes for which nobody asks how many there are

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

    On other machines only they know how much there is.
    """
    if engines.active.get() is not None:
        return
    available = available_memory()
    if available is not None and needed > available:
        raise DataError(
            f"{clusterer} on the {n_samples:,} samples of study {study!r} needs about {in_gigabytes(needed)} of "
            f"memory, of which {in_gigabytes(available)} are available: fit it to landmarks of the study, such as "
            f"{argument('sketch', ADVISED_SKETCH)}, or take a clusterer whose memory does not grow with the square of "
            "the samples, such as k-means."
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


def forecast(description: str, seconds: float, n_timed: int, n_done: int, n_replicates: int) -> None:
    """Say how long the remaining replicates take, where that is long, from the time that some took."""
    left = seconds / n_timed * (n_replicates - n_done)
    if left >= LONG:
        words = f"{n_done} of {n_replicates} replicates are done, the others take about {in_words(left)}"
        logger.info("%s: %s%s.", description, words, _memory_so_far())


def _memory_so_far() -> str:
    """Say how much memory this process has needed, where the system says."""
    if sys.platform == "win32":
        return ""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return f" (memory so far: {in_gigabytes(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)})"
