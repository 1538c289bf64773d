"""Blocks as tasks of Ray, which is imported when a run is to be computed there."""

from __future__ import annotations

import copy
import socket
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from clustrep import __version__
from clustrep.errors import EngineLost
from clustrep.execution.engines import Computed, Engine, Killed, Vanished, compute_there
from clustrep.execution.seeds import Run

T = TypeVar("T")

COLLECTED = 300.0  # seconds that a finished block has for its way here

# Seconds that the head of a cluster may be silent. Ray waits for 60 and then ends the process that asked, without an
# error that could be handled.
SILENT = 20.0


class RayEngine(Engine[Any]):
    """The workers of a Ray cluster: each of its processors computes one block at a time."""

    def __init__(self, ray: Any, address: str | None, *, owned: bool):
        self.ray, self.owned = ray, owned
        self.name = f"the Ray cluster at {address}" if address else "the Ray cluster"
        # Kills are counted by `Dispatch`: where memory runs out, Ray would try for ever.
        self._task = ray.remote(num_cpus=1, max_retries=0)(_compute_placed)
        self._n_slots = 0
        self._head = None if ray.util.client.ray.is_connected() else _address(ray.get_runtime_context().gcs_address)
        self._silent_since: float | None = None

    @classmethod
    def connected(cls, address: str | None) -> RayEngine:
        """Connect to a cluster for one run, unless this process is connected already.

        Without an address: to the one that this machine belongs to, or to one that is started here.
        """
        import ray

        if ray.is_initialized():
            return cls(ray, address, owned=False)
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (OSError, RuntimeError, ValueError, TimeoutError) as error:
            raise EngineLost(f"No Ray cluster answers at {address or 'this machine'}: {error}") from None
        return cls(ray, address, owned=True)

    def _asked(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Call a function of Ray's, which fails in these ways where the cluster is gone."""
        if not self.ray.is_initialized():  # else Ray starts another cluster on this machine
            raise self.lost()
        try:
            return function(*args, **kwargs)
        except (ConnectionError, self.ray.exceptions.RaySystemError):
            raise self.lost() from None

    def n_slots(self) -> int:
        """Return the number of processors of the cluster; the last known one while its head is silent."""
        if self._hears_the_head():
            self._n_slots = int(self._asked(self.ray.cluster_resources).get("CPU", 0))
        return self._n_slots

    def _hears_the_head(self) -> bool:
        """Whether the head can be reached; raise where it could not for too long. Its client notices that by itself."""
        if self._head is None:
            return True
        asked = time.monotonic()
        try:
            socket.create_connection(self._head, timeout=SILENT).close()
        except OSError:
            self._silent_since = asked if self._silent_since is None else self._silent_since
            if time.monotonic() - self._silent_since > SILENT:
                raise self.lost() from None
            return False
        self._silent_since = None
        return True

    def place(self, plan: Any) -> Any:
        """Put the plan into the store of objects, from which every machine takes it once."""
        return uuid.uuid4().hex, [self._asked(self.ray.put, plan)]

    def submit(self, placed: Any, block: Sequence[int], run_of_blocks: Run) -> Any:
        """Submit a block."""
        return self._asked(self._task.remote, *placed, list(block), run_of_blocks, __version__)

    def ended(self, tasks: Collection[Any], seconds: float) -> list[Any]:
        """Wait until a task has ended."""
        ended, _ = self._asked(self.ray.wait, list(tasks), num_returns=1, timeout=seconds)
        return list(ended)

    def collect(self, task: Any) -> Computed:
        """Return the result of a task."""
        exceptions = self.ray.exceptions
        try:
            computed: Computed = self._asked(self.ray.get, task, timeout=COLLECTED)
        except exceptions.RayTaskError as error:
            raise error.cause from None
        except (exceptions.WorkerCrashedError, exceptions.NodeDiedError, exceptions.OutOfMemoryError):
            raise Killed(1) from None
        except (exceptions.ObjectLostError, exceptions.GetTimeoutError, exceptions.TaskCancelledError):
            raise Vanished from None
        return computed

    def cancel(self, tasks: Collection[Any]) -> None:
        """Cancel tasks; an interrupt reaches those that compute."""
        for task in tasks:
            try:
                self._asked(self.ray.cancel, task, recursive=False)
            except (EngineLost, ValueError):  # gone, or finished meanwhile
                continue

    def close(self) -> None:
        """Leave the cluster, if it was joined for this run."""
        if self.owned:
            self.ray.shutdown()


def _address(text: str) -> tuple[str, int]:
    """Read "host:port"; the host may be an address with colons, in brackets."""
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


# ---------------------------------------------------------------------------------------------------------------------
# in a worker


_placed: dict[str, Any] = {}  # the plan of the last block


def _compute_placed(
    name: str, stored: Sequence[Any], block: Sequence[int], run_of_blocks: Run, version: str
) -> Computed:
    """Take the plan from the store, once for all its blocks, and compute one of them.

    A copy: arrays that Ray gives share its memory and can't be written to, and kernels are compiled for others.
    """
    if name not in _placed:
        import ray

        _placed.clear()
        _placed[name] = copy.deepcopy(ray.get(stored[0]))
    return compute_there(_placed[name], block, run_of_blocks, version)
