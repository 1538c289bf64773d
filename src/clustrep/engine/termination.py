"""SIGTERM is heard as an interrupt is: results that are half written are removed, and no worker stays."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

TERMINATED = 128 + signal.SIGTERM  # as shells say it
GRACE = 2  # seconds; who sends SIGTERM sends SIGKILL soon after


class Terminated(KeyboardInterrupt):
    """Somebody asked this process to end."""


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
