"""How replicates are run: workers, threads, warnings and progress."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Generic, TypeVar

from clustrep.checks import check_flag, check_integer
from clustrep.engine.replicates import Run, abandoned, breathe, current, one_thread, run_numbers, thread_pools
from clustrep.errors import ParameterError, ReplicateWarning, warn
from clustrep.text import plural

T = TypeVar("T")


# ---------------------------------------------------------------------------------------------------------------------
# workers


@dataclass(frozen=True)
class Execution:
    """How a run is carried out. Nothing here changes a result.

    n_jobs : as in joblib; None is one worker unless a `joblib.parallel_config` says otherwise.
    progress : True, False, or None for a bar on a terminal or in a notebook only.
    batch_size : replicates handed to a worker at once; None leaves it to joblib.
    """

    n_jobs: int | None = None
    progress: bool | None = None
    batch_size: int | None = None

    def __post_init__(self) -> None:
        n_jobs = self.n_jobs
        if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
            raise ParameterError(
                f"n_jobs must be a positive integer, a negative one (-1: all cores) or None, got {n_jobs!r}.",
                parameter="n_jobs",
            )
        if self.progress is not None:
            check_flag(self.progress, "progress")
        if self.batch_size is not None:
            check_integer(self.batch_size, "batch_size")


@dataclass(frozen=True)
class _Done(Generic[T]):
    value: T
    warnings: list[tuple[str, str]]


def run_replicates(
    task: Callable[[int], T],
    replicates: Sequence[int],
    execution: Execution,
    description: str,
    *,
    in_threads: bool = False,
    first_here: bool = False,
) -> list[T]:
    """Run a pure function of the replicate's number for every replicate, in order, and give the results in order.

    Workers are processes, or threads for a task that spends its time in kernels; a backend that the user has set with
    `joblib.parallel_config` is used instead. `first_here` does the first replicate before any worker starts, so that
    kernels are compiled once and not by every worker.
    """
    import joblib

    parallel = joblib.Parallel(
        n_jobs=execution.n_jobs,
        batch_size=execution.batch_size or "auto",
        return_as=_return_as(joblib),
        prefer="threads" if in_threads else "processes",
    )
    values: list[T] = []
    messages: list[tuple[str, str]] = []
    run = Run(os.getpid(), next(run_numbers))
    n_here = int(first_here and not in_threads)

    def outcomes() -> Iterator[_Done[T]]:
        for replicate in replicates[:n_here]:
            yield _run_one(task, replicate, run)
        yield from parallel(joblib.delayed(_run_one)(task, replicate, run) for replicate in replicates[n_here:])

    with one_thread(), _recorded_warnings() as own, _progress_bar(len(replicates), description, execution) as bar:
        try:
            for done in outcomes():
                values.append(done.value)
                messages += done.warnings
                bar.update()
        except BaseException:
            abandoned.add(run)
            if not in_threads and joblib.effective_n_jobs(execution.n_jobs) > 1:
                _stop_workers()
            raise
    _pass_on([*messages, *own])
    return values


def _run_one(task: Callable[[int], T], replicate: int, run: Run) -> _Done[T]:
    current.run = run
    breathe()
    try:
        if os.getpid() == run.process:  # perhaps a thread: warnings are recorded once for the whole process
            if getattr(current, "limited", None) != run:
                # Of this thread's own pools; whoever started the run sets all limits back.
                thread_pools().limit(limits=1)
                current.limited = run
            return _Done(task(replicate), [])
        with one_thread(), _recorded_warnings() as messages:
            value = task(replicate)
        return _Done(value, messages)
    finally:
        current.run = None


def _return_as(joblib: Any) -> str:
    """Results as they come, where the backend in force can do that: the old multiprocessing one can't."""
    backend, _ = joblib.parallel.get_active_backend()
    return "generator" if backend.supports_return_generator else "list"


def _stop_workers() -> None:
    """Leave no process behind: joblib keeps its own for the next call otherwise."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True, kill_workers=True)


@contextlib.contextmanager
def _recorded_warnings() -> Iterator[list[tuple[str, str]]]:
    """Record what clusterers warn about instead of printing it hundreds of times."""
    messages: list[tuple[str, str]] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Counted among the failures, as "fewer clusters than asked for".
        warnings.filterwarnings("ignore", message="Number of distinct clusters")
        # About joblib's multiprocessing backend, not about any replicate.
        warnings.filterwarnings("ignore", message=".*use of fork", category=DeprecationWarning)
        yield messages
    messages += [(w.category.__name__, str(w.message).strip().split("\n")[0]) for w in caught]


def _pass_on(messages: Sequence[tuple[str, str]]) -> None:
    for (category, message), count in sorted(Counter(messages).items()):
        warn(
            f"While the replicates ran, this was warned {plural(count, 'time')}: {category}: {message}",
            ReplicateWarning,
        )


# ---------------------------------------------------------------------------------------------------------------------
# progress


def _progress_bar(total: int, description: str, execution: Execution) -> Any:
    """Return a bar that appears once a run has taken a second."""
    shown = execution.progress
    if shown is None:
        shown = _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm's advice to install widgets
        from tqdm.auto import tqdm
    return tqdm(total=total, desc=description, unit="replicate", disable=not shown, delay=1, leave=False)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
