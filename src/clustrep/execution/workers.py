"""Blocks handed to the workers of this machine: joblib's processes or threads."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple, TypeVar

from clustrep.errors import MachineWarning, WorkerKilled, warn
from clustrep.execution.run import Outcome, Plan, compute
from clustrep.execution.seeds import Run
from clustrep.text import argument, plural

T = TypeVar("T")
PARENT_LOOKED_FOR = 0.5  # seconds between two looks whether a worker's parent is still there


def compute_in_workers(
    plan: Plan[T], blocks: Sequence[Sequence[int]], run_of_blocks: Run, n_jobs: int | None, *, in_threads: bool
) -> Iterator[Outcome[T]]:
    """Compute blocks in workers, and yield them in order; where a worker is killed, the rest with half as many.

    Parameters
    ----------
    plan : Plan
        The computation.
    blocks : sequence of sequence of int
        Numbers of resamples that are computed together.
    run_of_blocks : Run
        Which call of `run` they belong to: its interrupt ends all of them.
    n_jobs : int or None
        The number of workers, as in joblib.
    in_threads : bool
        Whether the workers are threads; otherwise processes.

    Yields
    ------
    Outcome

    Raises
    ------
    WorkerKilled
        Where a worker is killed again.
    """
    import joblib

    n_workers, n_done = joblib.effective_n_jobs(n_jobs), 0
    try:
        for outcome in _computed(plan, blocks, run_of_blocks, n_workers, in_threads=in_threads):
            n_done += 1
            yield outcome
        return
    except BrokenProcessPool as error:
        cause = _cause(error)
    fewer = max(n_workers // 2, 1)
    warn(
        f"One of {plural(n_workers, 'worker')} was killed{cause}, probably because memory ran out: the rest was "
        f"computed with {fewer} at a time.",
        MachineWarning,
    )
    try:
        yield from _computed(plan, blocks[n_done:], run_of_blocks, fewer, in_threads=in_threads)
    except BrokenProcessPool as error:
        raise WorkerKilled(
            f"A worker was killed{_cause(error)}, and one before it, when {n_workers} computed at a time: probably "
            f"memory ran out. Use {argument('n_jobs', 1)}, or fewer features or samples."
        ) from None


def _computed(
    plan: Plan[T], blocks: Sequence[Sequence[int]], run_of_blocks: Run, n_workers: int, *, in_threads: bool
) -> Iterator[Outcome[T]]:
    """Compute blocks in `n_workers` workers; no worker outlives a run that failed or was interrupted."""
    import joblib

    backend, _ = joblib.parallel.get_active_backend()
    function = _compute_in_worker if backend.supports_return_generator else _compute_or_say
    # Workers follow their parent also before their first block; an initializer of the user's comes first.
    has_its_own = "initializer" in getattr(backend, "backend_kwargs", {})
    initializer = {} if has_its_own else {"initializer": follow_parent, "initargs": (os.getpid(),)}
    parallel = joblib.Parallel(
        # A single worker would be this process itself, which must not be killed: of two, one computes at a time.
        n_jobs=max(n_workers, 2),
        pre_dispatch="2 * n_jobs" if n_workers > 1 else 1,
        batch_size=1,  # joblib would put short blocks together, and leave other workers without
        # Results as they come, where the backend in force can do that: the old multiprocessing one can't.
        return_as="generator" if backend.supports_return_generator else "list",
        prefer="threads" if in_threads else "processes",
        **initializer,
    )
    try:
        for outcome in parallel(joblib.delayed(function)(plan, block, run_of_blocks) for block in blocks):
            if isinstance(outcome, Raised):
                raise outcome.error
            yield outcome
    except BaseException:
        if not in_threads:  # joblib keeps its workers for the next call otherwise
            from joblib.externals.loky import get_reusable_executor

            get_reusable_executor(reuse=True, kill_workers=True).shutdown(wait=True, kill_workers=True)
        raise


def _cause(error: BrokenProcessPool) -> str:
    """Find loky's names of the signals that ended its workers."""
    codes = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
    return f" ({codes[1]})" if codes else ""


# ---------------------------------------------------------------------------------------------------------------------
# in a worker: its end follows that of the process that started it, however that was ended


def _compute_in_worker(plan: Plan[T], block: Sequence[int], run_of_blocks: Run) -> Outcome[T]:
    if os.getppid() == run_of_blocks.process:  # else a thread, or a process with another parent
        follow_parent(run_of_blocks.process)
    return compute(plan, block, run_of_blocks)


class Raised(NamedTuple):
    """An error as a value."""

    error: Exception


def _compute_or_say(*arguments: Any) -> Outcome[Any] | Raised:
    """Compute a block; return an error instead of raising it.

    On an error, joblib's old multiprocessing backend ends its processes at once, and then waits for ever for a lock if
    one of them was about to send a result.
    """
    try:
        return _compute_in_worker(*arguments)
    except Exception as error:  # the caller raises it
        return Raised(error)


FOLLOWED: set[int] = set()  # the process whose worker this one is


def follow_parent(parent: int) -> None:
    """Let this process, a worker, end soon after its parent, the only process that needs its values."""
    if parent in FOLLOWED:
        return
    FOLLOWED.add(parent)
    threading.Thread(target=_end_after, args=(parent,), name="clustrep: follow parent", daemon=True).start()


def _end_after(parent: int) -> None:
    while os.getppid() == parent:  # orphans get another one; on Windows they don't, and live until they are idle
        time.sleep(PARENT_LOOKED_FOR)
    os._exit(1)


# ---------------------------------------------------------------------------------------------------------------------
# SIGTERM is heard as an interrupt is: results that are half written are removed, and no worker stays


TERMINATED = 128 + signal.SIGTERM  # as shells say it
GRACE = 2  # seconds; who sends SIGTERM sends SIGKILL soon after


class Terminated(KeyboardInterrupt):
    """Somebody asked this process to end."""

    exit_code = TERMINATED


@contextlib.contextmanager
def termination_heard() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM, and end the process where that is not heard within the time of grace."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    threading.Thread(target=_end_after_grace, args=(ours,), daemon=True).start()
    former_handler = signal.signal(signal.SIGTERM, _raise)
    # The interpreter hears a signal between two of its own instructions; the pipe tells of it at once.
    former_pipe = signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(former_pipe)
        signal.signal(signal.SIGTERM, former_handler)
        os.close(theirs)  # which ends the thread


def _raise(number: int, frame: Any) -> None:
    raise Terminated


def _end_after_grace(pipe: int) -> None:
    with os.fdopen(pipe, "rb", buffering=0) as signals:
        while (number := signals.read(1)) != bytes([signal.SIGTERM]):
            if not number:
                return
    time.sleep(GRACE)
    os._exit(TERMINATED)
