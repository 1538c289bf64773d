"""The only place that knows about seeds, threads, workers, failures and progress."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from numbers import Integral
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from clustrep._validation import check_flag, check_integer, plural
from clustrep.errors import ClustrepError, ParameterError, ReplicateWarning, warn

T = TypeVar("T")
Rng: TypeAlias = int | np.random.Generator | np.random.SeedSequence | None

# Replicate 0 is the studies as they are, replicate b + 1 is resample b.
FULL_STUDY = 0


# ---------------------------------------------------------------------------------------------------------------------
# seeds: they belong to the replicate, never to the worker


class Stream(IntEnum):
    """What a seed is for. The numbers are part of every result: never change one."""

    DRAW = 0
    SECOND_DRAW = 1
    FIT = 2
    SECOND_FIT = 3
    SPLIT = 4
    NULL = 5
    PAIRS = 6


def root_entropy(rng: Rng) -> int:
    """Return the one number that a whole run follows from; fresh for None, drawn from a generator given."""
    if rng is None:
        return _entropy(np.random.SeedSequence())
    if isinstance(rng, np.random.SeedSequence):
        return _entropy(rng)
    if isinstance(rng, np.random.Generator):
        return int.from_bytes(rng.bytes(16), "little")
    if isinstance(rng, Integral) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    raise ParameterError(f"rng must be a non-negative integer, a numpy Generator, a SeedSequence or None, got {rng!r}.")


def _entropy(sequence: np.random.SeedSequence) -> int:
    if isinstance(sequence.entropy, int) and not sequence.spawn_key:
        return sequence.entropy
    return int.from_bytes(sequence.generate_state(4).tobytes(), "little")


def seed_of(
    root: int, stream: Stream, study: str, replicate: int, n_clusters: int | None = None
) -> np.random.SeedSequence:
    """Return the seed of one study in one replicate: keyed by its name, not by its place among the others."""
    key = (int(stream), *_numbers_of(study), replicate, n_clusters or 0)
    return np.random.SeedSequence(root, spawn_key=key)


def derived_root(root: int, stream: Stream, number: int = 0) -> int:
    """Return the root of a run within a run: another seed that follows from the first."""
    return _entropy(np.random.SeedSequence(root, spawn_key=(int(stream), number)))


@cache
def _numbers_of(name: str) -> tuple[int, ...]:
    return tuple(np.frombuffer(hashlib.sha256(name.encode()).digest()[:16], dtype="<u4").tolist())


def make_generator(rng: Rng) -> np.random.Generator:
    """Return a generator; the user's own as it is."""
    if isinstance(rng, np.random.Generator | np.random.SeedSequence):
        return np.random.default_rng(rng)
    return np.random.default_rng(root_entropy(rng))


# ---------------------------------------------------------------------------------------------------------------------
# failures


class ReplicateFailure(Exception):  # noqa: N818 - counted, not an error of the program
    """A fit that gave no clustering function; its text is the cause that results count."""


@dataclass(frozen=True)
class Failed:
    """In the place of a value that could not be had; whatever is asked of that value has failed, too."""

    cause: str

    def at(self, place: int) -> Failed:
        """Stand in for `Labelled.at`."""
        return self


def attempt(function: Callable[..., T], *args: Any, **kwargs: Any) -> T | Failed:
    """Call something of the user's; whatever goes wrong in it is this replicate's failure, not the run's."""
    try:
        return function(*args, **kwargs)
    except ReplicateFailure as failure:
        return Failed(str(failure))
    except (ClustrepError, MemoryError):
        raise
    except Exception as error:
        first_line = str(error).strip().split("\n")[0][:200].rstrip(".")
        return Failed(f"{type(error).__name__}: {first_line}" if first_line else type(error).__name__)


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
                f"n_jobs must be a positive integer, a negative one (-1: all cores) or None, got {n_jobs!r}."
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
    run = _Run(os.getpid(), next(_run_numbers))
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
            _abandoned.add(run)
            if not in_threads and joblib.effective_n_jobs(execution.n_jobs) > 1:
                _stop_workers()
            raise
    _pass_on([*messages, *own])
    return values


class _Run(NamedTuple):
    """One call of `run_replicates`."""

    process: int
    number: int


class _Abandoned(BaseException):
    """Ends a thread whose run is over, because of an interrupt or an error elsewhere."""


_run_numbers = itertools.count()
_abandoned: set[_Run] = set()
_current = threading.local()


def breathe() -> None:
    """Come up between two pieces of long work: interrupts are heard here; threads that nobody waits for end."""
    if getattr(_current, "run", None) in _abandoned:
        raise _Abandoned


def run_in_pieces(kernel: Callable[..., bool], *arguments: Any) -> None:
    """Call a kernel until it says that it has come to its end."""
    while not kernel(*arguments):
        breathe()


def _run_one(task: Callable[[int], T], replicate: int, run: _Run) -> _Done[T]:
    _current.run = run
    breathe()
    try:
        if os.getpid() == run.process:  # perhaps a thread: warnings are recorded once for the whole process
            if getattr(_current, "limited", None) != run:
                # Of this thread's own pools; whoever started the run sets all limits back.
                _thread_pools().limit(limits=1)
                _current.limited = run
            return _Done(task(replicate), [])
        with one_thread(), _recorded_warnings() as messages:
            value = task(replicate)
        return _Done(value, messages)
    finally:
        _current.run = None


def _return_as(joblib: Any) -> str:
    """Results as they come, where the backend in force can do that: the old multiprocessing one can't."""
    backend, _ = joblib.parallel.get_active_backend()
    return "generator" if backend.supports_return_generator else "list"


def one_thread() -> contextlib.AbstractContextManager[Any]:
    """Limit BLAS and OpenMP to one thread: their sums must not depend on it, and workers must not fight for cores."""
    limits: contextlib.AbstractContextManager[Any] = _thread_pools().limit(limits=1)
    return limits


@cache
def _thread_pools() -> Any:
    """Find the libraries that have threads of their own: after scikit-learn has loaded them, not before."""
    import sklearn.cluster  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


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
