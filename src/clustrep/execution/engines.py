"""Other machines: what an engine has to do, the order of blocks, and the response to workers that die.

An engine is a thin adapter over futures that exist, those of Dask or of Ray; it carries out what `Dispatch` decides.
Blocks are cut as workers become free, so long that each takes seconds. A block whose worker was killed runs elsewhere;
one that has killed several is halved, until a single replicate is left, which gets a last chance with nothing beside
it: it may only have been near another that kills. A replicate that kills its workers even then has failed.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, Generic, NamedTuple, TypeVar

from clustrep import __version__
from clustrep.errors import EngineLost, ParameterError
from clustrep.execution.checkpoints import holds_replicates
from clustrep.execution.context import config
from clustrep.execution.forecast import in_words
from clustrep.execution.run import Outcome, Plan, compute
from clustrep.execution.seeds import Run

T = TypeVar("T")
Task = TypeVar("Task")

DASK, RAY = "dask", "ray"


class Killed(Exception):  # noqa: N818 - a name that reads as the finding
    """The workers that computed a block were killed."""

    def __init__(self, n_workers: int):
        super().__init__(n_workers)
        self.n_workers = n_workers


class Vanished(Exception):  # noqa: N818 - a name that reads as the finding
    """The engine has forgotten a block, or the plan that it belongs to: it is to be computed again."""


class Computed(NamedTuple):
    """A block that a worker has computed."""

    outcome: Any
    seconds: float


class Engine(ABC, Generic[Task]):
    """Computes blocks on other machines. Whatever needs the other side raises `EngineLost` where it is gone."""

    name: str  # as messages call it

    @abstractmethod
    def n_slots(self) -> int:
        """Return how many blocks can be computed at a time; 0 where there is no worker."""

    @abstractmethod
    def place(self, plan: Any) -> Any:
        """Bring a plan, and with it the studies, to the workers once; return what stands for it. Raises `Vanished`."""

    @abstractmethod
    def submit(self, placed: Any, block: Sequence[int], run_of_blocks: Run) -> Task:
        """Let a block be computed."""

    @abstractmethod
    def ended(self, tasks: Collection[Task], seconds: float) -> list[Task]:
        """Wait until a task has ended, however it did, but no longer than some seconds; return those that have."""

    @abstractmethod
    def collect(self, task: Task) -> Computed:
        """Return what a task that has ended computed; raise what it raised, or `Killed`, or `Vanished`."""

    @abstractmethod
    def cancel(self, tasks: Collection[Task]) -> None:
        """Give up tasks: those that have not begun are not computed."""

    def close(self) -> None:
        """Close what was opened for this run."""

    def lost(self, what: str = "The connection to {} is lost.") -> EngineLost:
        """Return the error of an engine with which this run can't go on."""
        advice = "Finished resamples are in the checkpoint: the same run resumes there."
        checkpoint = config().in_progress
        if checkpoint is None or not holds_replicates(checkpoint.folder):
            advice = "No finished resample is in a checkpoint, so that a new run computes all of them again."
        return EngineLost(f"{what.format(self.name)} {advice}")


def open_engine(engine: Any) -> Engine[Any]:
    """Return the adapter of what the user named.

    Raises
    ------
    ParameterError
        Where it is no engine, or one that is not installed.
    EngineLost
        Where no engine answers there.
    """
    scheme, separator, address = engine.partition("://") if isinstance(engine, str) else ("", "", "")
    if scheme == DASK and address:
        _check_installed(DASK, "distributed")
        from clustrep.execution.dask_engine import DaskEngine

        return DaskEngine.connected(address)
    if scheme == RAY and bool(separator) == bool(address):
        _check_installed(RAY, "ray")
        from clustrep.execution.ray_engine import RayEngine

        return RayEngine.connected(engine if address else None)
    if type(engine).__module__.partition(".")[0] == "distributed" and hasattr(engine, "submit"):
        from clustrep.execution.dask_engine import DaskEngine

        return DaskEngine(engine)
    raise ParameterError(
        "engine must be None (this machine), a dask.distributed.Client, 'dask://host:port', 'ray' or "
        f"'ray://host:port', got {engine!r}.",
        parameter="engine",
    )


def _check_installed(extra: str, package: str) -> None:
    if find_spec(package) is None:
        raise ParameterError(
            f"engine must be one that is installed: {package} is not. Install clustrep[{extra}].", parameter="engine"
        )


# ---------------------------------------------------------------------------------------------------------------------
# the order of blocks, and the response to workers that die


BLOCK_SECONDS = 3.0  # how long a block should take

AHEAD = 2  # blocks for each slot that are given away: while one is computed, the next is on its way

MOST_KILLED = 3  # workers that a block may kill before it is halved

MOST_VANISHED = 10  # times that an engine may forget one block

LOOKED_EVERY = 1.0  # seconds between two looks at the workers

PATIENCE = 600.0  # seconds without any worker

KILLED = "every worker that computed it was killed, probably because memory ran out"


@dataclass(frozen=True)
class Block:
    """Some replicates, and what happened to them so far."""

    numbers: tuple[int, ...]
    n_killed: int = 0
    n_vanished: int = 0
    alone: bool = False


@dataclass(eq=False)
class Dispatch(Generic[T]):
    """Computes the replicates of one plan on an engine."""

    engine: Engine[Any]
    plan: Plan[T]
    numbers: Sequence[int]
    run: Run
    tasks: dict[Any, Block] = field(default_factory=dict)  # given away
    again: deque[Block] = field(default_factory=deque)  # to be given away once more
    suspects: list[int] = field(default_factory=list)  # to be computed with nothing beside them
    n_cut: int = 0  # replicates that are in blocks
    n_slots: int = 0
    placed: Any = None  # what stands for the plan there
    n_misplaced: int = 0  # times that the plan could not be placed since it last was
    seconds: float = math.inf  # that a replicate takes: the least seen, because kernels are compiled at first
    looked: float = -math.inf
    seen: float = field(default_factory=time.monotonic)  # when there was a worker

    def outcomes(self) -> Generator[tuple[Sequence[int], Outcome[T]], None, None]:
        """Yield finished blocks; whatever ends this, nothing stays queued."""
        try:
            while self.tasks or self.again or self.suspects or self.n_cut < len(self.numbers):
                self._give_away()
                if self.tasks:
                    for task in self.engine.ended(self.tasks, LOOKED_EVERY):
                        yield from self._collected(self.tasks.pop(task), task)
                else:
                    time.sleep(LOOKED_EVERY / 10)  # until there is a worker
                self._look()
        finally:
            self.engine.cancel(self.tasks)

    def _look(self) -> bool:
        """Look whether there are workers, from time to time; raise where there have been none for too long."""
        now = time.monotonic()
        if now - self.looked >= LOOKED_EVERY:
            self.n_slots, self.looked = self.engine.n_slots(), now
            if self.n_slots:
                self.seen = now
            elif now - self.seen > PATIENCE:
                raise self.engine.lost(f"There was no worker at {{}} for {in_words(PATIENCE)}.")
        return self.n_slots > 0

    def _give_away(self) -> None:
        """Give blocks away while there is room for them; the plan first, where there is a worker."""
        if self.placed is None:
            if not self._look():
                return
            try:
                self.placed, self.n_misplaced = self.engine.place(self.plan), 0
            except Vanished:  # with the workers, or it is too large for them
                self.looked, self.n_misplaced = -math.inf, self.n_misplaced + 1
                if self.n_misplaced == MOST_VANISHED:
                    raise self.engine.lost(
                        f"The studies could not be brought to the workers of {{}} in {MOST_VANISHED} attempts: give "
                        "workers more memory than the studies take."
                    ) from None
                return
        while len(self.tasks) < AHEAD * max(self.n_slots, 1):
            block = self._next_block()
            if block is None:
                break
            self.tasks[self.engine.submit(self.placed, block.numbers, self.run)] = block

    def _next_block(self) -> Block | None:
        if self.again:
            return self.again.popleft()
        if self.n_cut < len(self.numbers):
            # Seconds of work, but some for every slot.
            seconds = self.plan.cost.total if math.isinf(self.seconds) else self.seconds
            of_seconds = max(1, round(BLOCK_SECONDS / max(seconds, 1e-9)))
            n_left = len(self.numbers) - self.n_cut
            size = min(of_seconds, math.ceil(n_left / (AHEAD * max(self.n_slots, 1))))
            self.n_cut += size
            return Block(tuple(self.numbers[self.n_cut - size : self.n_cut]))
        if self.suspects and not self.tasks:
            return Block((self.suspects.pop(),), alone=True)
        return None

    def _collected(self, block: Block, task: Any) -> Generator[tuple[Sequence[int], Outcome[T]], None, None]:
        try:
            computed = self.engine.collect(task)
        except Vanished:  # given away again, after the plan
            if block.n_vanished == MOST_VANISHED:
                raise self.engine.lost(f"{{}} has forgotten the same work {MOST_VANISHED} times.") from None
            self.again.append(replace(block, n_vanished=block.n_vanished + 1))
            self.placed, self.looked = None, -math.inf
        except Killed as error:
            block = replace(block, n_killed=block.n_killed + error.n_workers)
            if block.n_killed < MOST_KILLED:
                self.again.append(block)
            elif len(block.numbers) > 1:
                middle = len(block.numbers) // 2  # both halves begin anew
                self.again.extend([Block(block.numbers[:middle]), Block(block.numbers[middle:])])
            elif not block.alone:
                self.suspects.append(*block.numbers)
            else:
                yield block.numbers, Outcome([self.plan.lost(block.numbers[0], KILLED)], [], lost=True)
        else:
            self.seconds = min(self.seconds, computed.seconds / len(block.numbers))
            yield block.numbers, computed.outcome


# ---------------------------------------------------------------------------------------------------------------------
# in a worker


def compute_there(plan: Plan[T], block: Sequence[int], run_of_blocks: Run, version: str) -> Computed:
    """Compute a block in a worker, whose version must be that of the process which asked."""
    if version != __version__:
        raise EngineLost(
            f"A worker has clustrep {__version__}, and this is clustrep {version}: install the same version everywhere."
        )
    begun = time.monotonic()
    outcome = compute(plan, block, run_of_blocks)
    return Computed(outcome, time.monotonic() - begun)
