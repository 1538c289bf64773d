"""One runner for every plan.

A plan is a pure function of replicates' numbers: a block of them can be computed anywhere, in any order, together with
any others, and gives the same bits. Here blocks are computed one after the other, or handed to workers, or to an engine
on other machines.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Generic, ParamSpec, TypeVar

from clustrep.errors import MachineWarning, ParameterError, ReplicateWarning, WorkerKilled, warn
from clustrep.execution import checkpoints
from clustrep.execution.context import config, shows_progress
from clustrep.execution.forecast import Cost, Pace, Workers, block_sizes, choose_workers
from clustrep.execution.seeds import Run, abandoned, breathe, current, one_thread, thread_pools
from clustrep.text import plural

T = TypeVar("T")
P = ParamSpec("P")
_run_numbers = itertools.count()

# ---------------------------------------------------------------------------------------------------------------------
# plans


class Plan(Generic[T]):
    """Everything that a run's outcomes follow from, except the replicates' numbers.

    A plan is sent to other processes, and may be sent to other machines: it holds data and parameters, no state.
    """

    description: str = "replicates"  # the label of the progress bar
    unit: str = "resamples"  # what its replicates are, in messages about checkpoints
    records: tuple[type, ...] = ()  # the types of the records in its values

    @property
    def in_threads(self) -> bool:
        """Whether its time is spent in kernels, which let other threads run."""
        return False

    @property
    def cost(self) -> Cost:
        """Roughly how long a replicate takes; a hundredth of a second where nothing is known."""
        return Cost(0.0, 0.01)

    @property
    def here(self) -> bool:
        """Whether it needs a device that this process holds: then neither workers nor other machines compute it."""
        return False

    @property
    def compiles(self) -> bool:
        """Whether kernels are compiled at first use: then once, before workers start."""
        return True

    @property
    def batch(self) -> int:
        """How many replicates are computed together, in one block."""
        return 1

    @property
    def facts(self) -> Mapping[str, str] | None:
        """Everything that values follow from, by name, except replicates' numbers and parts; None: no checkpoints."""
        return None

    @property
    def parts(self) -> tuple[str, ...]:
        """What its values consist of: a digest for each part, which can be computed without the others."""
        return ("",)

    def only(self, places: Sequence[int]) -> Plan[T]:
        """Return a plan for some of the parts."""
        return self

    def split_value(self, value: T) -> list[T]:
        """Divide a value into its parts."""
        return [value]

    def join_values(self, values: Sequence[T]) -> T:
        """Put the parts of a value together."""
        (value,) = values
        return value

    def replicate(self, number: int) -> T:
        """Compute one replicate: every plan defines this, or `block`."""
        (value,) = self.block([number])
        return value

    def block(self, numbers: Sequence[int]) -> list[T]:
        """Compute some replicates; a plan that gains from seeing many at once overrides this loop."""
        return [self.replicate(number) for number in numbers]

    def lost(self, number: int, cause: str) -> T:
        """Return what stands for a replicate whose workers were killed; a plan without failures has nothing."""
        raise WorkerKilled(f"Replicate {number} of {self.description} can't be computed: {cause}.")


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """A computed block, and the warnings that were given in another process."""

    values: list[T]
    warnings: list[tuple[str, str]]
    lost: bool = False  # what stands for replicates whose workers were killed: not to be kept for another run


def run(plan: Plan[T], numbers: Sequence[int], n_jobs: int | None = None) -> list[T]:
    """Compute replicates, and return their values in order.

    `choose_workers` decides whether workers are processes, threads or none; a backend that the user has set with
    `joblib.parallel_config` is used instead.
    """
    return RunCache().run("alone", lambda: plan, numbers, n_jobs)


class RunCache:
    """Plans and their replicates that were computed before: a longer run computes only the others."""

    def __init__(self) -> None:
        self._plans: dict[Hashable, Plan[Any]] = {}
        self._values: dict[Hashable, dict[int, Any]] = {}
        self._messages: dict[Hashable, list[tuple[str, str]]] = {}

    def run(
        self, name: Hashable, plan_of: Callable[[], Plan[T]], numbers: Sequence[int], n_jobs: int | None = None
    ) -> list[T]:
        """Compute the replicates that are not known of the plan of this name; pass on the warnings of all."""
        values, messages = self._values.setdefault(name, {}), self._messages.setdefault(name, [])
        if name not in self._plans:
            self._plans[name] = plan_of()
        numbers = checkpoints.share_of(numbers)
        missing = [number for number in numbers if number not in values]
        if missing:
            new_values, new_messages = _values_and_warnings(self._plans[name], missing, n_jobs)
            values.update(zip(missing, new_values, strict=True))
            messages += new_messages
        _pass_on(messages)
        return [values[number] for number in numbers]


def _values_and_warnings(
    plan: Plan[T], numbers: Sequence[int], n_jobs: int | None
) -> tuple[list[T], list[tuple[str, str]]]:
    """Compute replicates, apart from those that the checkpoint of this run has."""
    check_n_jobs(n_jobs)
    checkpoint, compute_missing = config().in_progress, functools.partial(_compute_all, n_jobs=n_jobs)
    facts = None if checkpoint is None else plan.facts  # digests, which take their time
    if checkpoint is not None and facts is not None:
        return checkpoint.completed(plan, facts, numbers, compute_missing)
    values: dict[int, T] = {}
    messages: list[tuple[str, str]] = []

    def keep(block: Sequence[int], outcome: Outcome[T]) -> None:
        values.update(zip(block, outcome.values, strict=True))
        messages.extend(outcome.warnings)

    messages += compute_missing(plan, numbers, keep)
    return [values[number] for number in numbers], messages


def _compute_all(
    plan: Plan[T], numbers: Sequence[int], keep: Callable[[Sequence[int], Outcome[T]], None], *, n_jobs: int | None
) -> list[tuple[str, str]]:
    """Compute replicates, and hand over every block as it is finished; return warnings that belong to none."""
    run_of_blocks = Run(os.getpid(), next(_run_numbers))
    workers, n_workers = _workers_of(plan, len(numbers), n_jobs)
    outcomes = _outcomes(plan, numbers, run_of_blocks, n_jobs, workers, n_workers)
    pace = Pace(plan.description, len(numbers), 1 if workers is Workers.NONE else n_workers)
    with one_thread(), _recorded_warnings() as messages, _progress_bar(len(numbers), plan.description) as bar:
        try:
            for block, outcome in outcomes:
                keep(block, outcome)
                bar.update(len(block))
                pace.count(len(block))
        except BaseException:
            abandoned.add(run_of_blocks)
            outcomes.close()
            raise
    return messages


def check_n_jobs(n_jobs: int | None) -> int | None:
    """Check a number of workers, as in joblib; None is one, unless a `joblib.parallel_config` sets another number."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ParameterError(
            f"n_jobs must be a positive integer, a negative one (-1: all cores) or None, got {n_jobs!r}.",
            parameter="n_jobs",
        )
    return n_jobs


def _workers_of(plan: Plan[Any], n_replicates: int, n_jobs: int | None) -> tuple[Workers, int]:
    """Choose who computes a run on this machine, and say how many there would be."""
    import joblib

    n_workers = int(joblib.effective_n_jobs(n_jobs))
    if n_workers == 1 or plan.here or config().opened is not None:
        return Workers.NONE, n_workers
    # The backend that the user has set, if any: a wish is followed only where none is.
    backends = [joblib.parallel.get_active_backend(prefer=wish)[0] for wish in ("threads", "processes")]
    if type(backends[0]) is type(backends[1]):
        return Workers.THREADS if getattr(backends[0], "uses_threads", False) else Workers.PROCESSES, n_workers
    return choose_workers(plan.cost, n_replicates, n_workers, in_threads=plan.in_threads), n_workers


def _outcomes(
    plan: Plan[T], numbers: Sequence[int], run_of_blocks: Run, n_jobs: int | None, workers: Workers, n_workers: int
) -> Generator[tuple[Sequence[int], Outcome[T]], None, None]:
    """Compute blocks, here or elsewhere, and yield them with their numbers, in any order."""
    if (engine := config().opened) is not None and not plan.here:
        from clustrep.execution.engines import Dispatch

        yield from Dispatch(engine, plan, numbers, run_of_blocks).outcomes()
        return
    if workers is Workers.NONE:
        blocks = [numbers[begin : begin + plan.batch] for begin in range(0, len(numbers), plan.batch)]
        yield from ((block, compute(plan, block, run_of_blocks)) for block in blocks)
        return
    from clustrep.execution.workers import compute_in_workers

    if plan.compiles and workers is Workers.PROCESSES:
        # Kernels are compiled once, here, and not by every process: number 0 needs no draw.
        first, numbers = numbers[:2], numbers[2:]
        yield first, compute(plan, first, run_of_blocks)
    sizes = block_sizes(plan.batch, plan.cost, len(numbers), n_workers)
    blocks = [numbers[end - size : end] for size, end in zip(sizes, itertools.accumulate(sizes), strict=True)]
    in_threads = workers is Workers.THREADS
    yield from zip(blocks, compute_in_workers(plan, blocks, run_of_blocks, n_jobs, in_threads=in_threads), strict=True)


def compute(plan: Plan[T], block: Sequence[int], run_of_blocks: Run) -> Outcome[T]:
    """Compute one block: in the run's own process, in one of its threads, or in another process."""
    current.run, current.messages = run_of_blocks, []
    breathe()
    try:
        if run_of_blocks.is_of_this_process:  # perhaps a thread: warnings are recorded once for the whole process
            if getattr(current, "limited", None) != run_of_blocks:
                # Limits the pools of this thread; the thread that started the run restores all limits.
                thread_pools().limit(limits=1)
                current.limited = run_of_blocks
            return Outcome(plan.block(block), current.messages)
        with _beside_others():
            return Outcome(plan.block(block), current.messages)
    finally:
        current.run = current.messages = None


_entered = threading.Lock()
_n_computing = 0
_shared = contextlib.ExitStack()


@contextlib.contextmanager
def _beside_others() -> Iterator[None]:
    """Limit threads and record warnings in a worker that may compute several blocks in threads.

    Both belong to the whole process: the first thread sets them, the last restores what was before. OpenMP's limit
    belongs to each thread.
    """
    global _n_computing
    with thread_pools().select(user_api="openmp").limit(limits=1):
        with _entered:
            if not _n_computing:
                _shared.enter_context(one_thread())
                _shared.enter_context(_recorded_warnings())
            _n_computing += 1
        try:
            yield
        finally:
            with _entered:
                _n_computing -= 1
                if not _n_computing:
                    _shared.close()


@contextlib.contextmanager
def _recorded_warnings() -> Iterator[list[tuple[str, str]]]:
    """Record what clusterers warn about instead of printing it hundreds of times.

    Each thread's warnings belong to the block that it computes; those outside any block are yielded.
    """
    messages: list[tuple[str, str]] = []

    def record(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        of_block = getattr(current, "messages", None)
        first_line = str(message).strip().split("\n")[0]
        (messages if of_block is None else of_block).append((category.__name__, first_line))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        # Counted among the failures, as "fewer clusters than asked for".
        warnings.filterwarnings("ignore", message="Number of distinct clusters")
        # About joblib's multiprocessing backend, not about any replicate.
        warnings.filterwarnings("ignore", message=".*use of fork", category=DeprecationWarning)
        warnings.showwarning = record
        yield messages


def _pass_on(messages: Sequence[tuple[str, str]]) -> None:
    for (category, message), count in sorted(Counter(messages).items()):
        if category == MachineWarning.__name__:  # ours, and not about any replicate
            warn(message, MachineWarning)
            continue
        warn(
            f"While the replicates ran, this was warned {plural(count, 'time')}: {category}: {message}",
            ReplicateWarning,
        )


def _progress_bar(total: int, description: str) -> Any:
    """Return a bar that appears once a run has taken a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm's advice to install widgets
        from tqdm.auto import tqdm
    return tqdm(total=total, desc=description, unit="replicate", disable=not shows_progress(), delay=1, leave=False)
