"""Other machines: which engine computes the blocks of a run, and what an engine has to do.

An engine is a thin adapter over futures that exist, those of Dask or of Ray. `dispatch` decides what is computed when,
and what is done where workers die; an adapter only carries it out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from clustrep.engine.replicates import Run
from clustrep.errors import ParameterError

Task = TypeVar("Task")

# None, a `dask.distributed.Client`, "dask://host:port", "ray" or "ray://host:port".
EngineLike: TypeAlias = Any

DASK, RAY = "dask", "ray"


class Killed(Exception):  # noqa: N818 - says what happened
    """The workers that computed a block were killed."""

    def __init__(self, n_workers: int):
        super().__init__(n_workers)
        self.n_workers = n_workers


class Vanished(Exception):  # noqa: N818 - says what happened
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


active: ContextVar[Engine[Any] | None] = ContextVar("clustrep_engine", default=None)  # of the run in progress


def open_engine(engine: EngineLike) -> Engine[Any]:
    """Return the adapter of what the user named.

    Raises
    ------
    ParameterError
        Where it is no engine, or one that is not installed.
    EngineLost
        Where nobody answers there.
    """
    scheme, separator, address = engine.partition("://") if isinstance(engine, str) else ("", "", "")
    if scheme == DASK and address:
        _check_installed(DASK, "distributed")
        from clustrep.engine.dask_engine import DaskEngine

        return DaskEngine.connected(address)
    if scheme == RAY and bool(separator) == bool(address):
        _check_installed(RAY, "ray")
        from clustrep.engine.ray_engine import RayEngine

        return RayEngine.connected(engine if address else None)
    if type(engine).__module__.partition(".")[0] == "distributed" and hasattr(engine, "submit"):
        from clustrep.engine.dask_engine import DaskEngine

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
