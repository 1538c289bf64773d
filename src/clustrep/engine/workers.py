"""Blocks handed to the workers of this machine: joblib's processes or threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from clustrep.engine.replicates import Run
from clustrep.engine.run import Outcome, Plan, compute

T = TypeVar("T")


def compute_in_workers(
    plan: Plan[T], blocks: Sequence[Sequence[int]], run_of_blocks: Run, n_jobs: int | None, *, in_threads: bool
) -> Iterator[Outcome[T]]:
    """Compute blocks in workers, and yield them in order; no worker outlives a run that failed or was interrupted."""
    import joblib

    parallel = joblib.Parallel(
        n_jobs=n_jobs,
        return_as=_return_as(joblib),
        prefer="threads" if in_threads else "processes",
    )
    try:
        yield from parallel(joblib.delayed(compute)(plan, block, run_of_blocks) for block in blocks)
    except BaseException:
        if not in_threads:
            _stop_workers()
        raise


def _return_as(joblib: Any) -> str:
    """Results as they come, where the backend in force can do that: the old multiprocessing one can't."""
    backend, _ = joblib.parallel.get_active_backend()
    return "generator" if backend.supports_return_generator else "list"


def _stop_workers() -> None:
    """Leave no process behind: joblib keeps its own for the next call otherwise."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True, kill_workers=True)
