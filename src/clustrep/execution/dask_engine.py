"""Blocks as futures of dask.distributed."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from distributed import Client, Future, KilledWorker

from clustrep import __version__
from clustrep.errors import EngineLost
from clustrep.execution.engines import Computed, Engine, Killed, Vanished, compute_there
from clustrep.execution.seeds import Run

ANSWERS = 60.0  # seconds that a scheduler has for an answer

COLLECTED = 300.0  # seconds that a finished block has for its way here


class DaskEngine(Engine[Future]):
    """The workers of a Dask scheduler."""

    def __init__(self, client: Client, *, owned: bool = False):
        self.client, self.owned = client, owned
        self.name = f"the Dask scheduler at {client.scheduler.address if client.scheduler else 'an unknown address'}"
        self._ended = threading.Event()

    @classmethod
    def connected(cls, address: str) -> DaskEngine:
        """Connect to a scheduler, for one run."""
        try:
            return cls(Client(f"tcp://{address}", set_as_default=False), owned=True)
        except (OSError, ValueError) as error:
            raise EngineLost(f"No Dask scheduler answers at {address}: {error}.") from None

    def n_slots(self) -> int:
        """Return the number of threads of all workers that take work: paused ones don't."""
        return sum(self._asked("ncores_running").values())

    def _asked(self, question: str) -> Any:
        """Ask the scheduler; one that does not answer in time is gone."""
        self._check_connected()
        try:
            return self.client.sync(getattr(self.client.scheduler, question), callback_timeout=ANSWERS)
        except (OSError, TimeoutError):
            self._check_connected()
            raise self.lost() from None

    def _check_connected(self) -> None:
        """Wait while the client tries to connect again, as long as it does; raise where it has given up."""
        deadline = time.monotonic() + ANSWERS
        while self.client.status == "connecting" and time.monotonic() < deadline:
            time.sleep(0.05)
        if self.client.status != "running":
            raise self.lost()

    def place(self, plan: Any) -> Future:
        """Send the plan to all workers; those that come later get it from the others."""
        scatter = partial(self.client.scatter, plan, broadcast=True, hash=False, timeout=ANSWERS, asynchronous=True)
        try:  # its own timeout is about workers that are not there yet: one that dies now is waited for without end
            return self.client.sync(scatter, callback_timeout=ANSWERS)
        except (OSError, TimeoutError):  # workers that died meanwhile, or all is gone
            self._check_connected()
            raise Vanished from None

    def submit(self, placed: Future, block: Sequence[int], run_of_blocks: Run) -> Future:
        """Submit a block; a scheduler that is gone is noticed at the next look."""
        self._check_connected()
        future = self.client.submit(compute_there, placed, list(block), run_of_blocks, __version__, pure=False)
        future.add_done_callback(lambda _: self._ended.set())
        return future

    def ended(self, tasks: Collection[Future], seconds: float) -> list[Future]:
        """Wait until a future is done."""
        if not any(future.done() for future in tasks):
            self._ended.wait(seconds)
        self._ended.clear()
        return [future for future in tasks if future.done()]

    def collect(self, task: Future) -> Computed:
        """Return the result of a future."""
        if task.status == "error":
            error = task.exception(timeout=COLLECTED)
            if isinstance(error, KilledWorker):
                raise Killed(error.allowed_failures + 1) from None
            raise error
        try:
            if task.status == "finished":
                computed: Computed = task.result(timeout=COLLECTED)
                return computed
        except (OSError, TimeoutError):  # its worker died before it could be fetched
            pass
        self._check_connected()
        self.cancel([task])
        raise Vanished

    def cancel(self, tasks: Collection[Future]) -> None:
        """Cancel futures."""
        if tasks and self.client.status == "running":
            cancel = partial(self.client.cancel, list(tasks), asynchronous=True)
            with contextlib.suppress(OSError, TimeoutError):  # no scheduler is left to cancel anything
                self.client.sync(cancel, callback_timeout=ANSWERS)

    def close(self) -> None:
        """Close a client that was opened for this run."""
        if self.owned:
            self.client.close()
