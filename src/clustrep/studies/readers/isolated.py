"""Work on a file that is not trusted, done in a copy of this process: a crash or a hang there ends only the copy."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
import warnings
from collections.abc import Callable
from typing import IO, NamedTuple


class Ending(NamedTuple):
    """How the copy ended."""

    is_whole: bool  # the work was done, and everything is written
    was_too_slow: bool = False


def can_isolate() -> bool:
    """Whether this system has copies of processes; Windows has none."""
    return hasattr(os, "fork")


def isolated(work: Callable[[IO[bytes]], None], stream: IO[bytes], seconds: int) -> Ending:
    """Let a copy of this process write its answer to a file, for so many seconds at most.

    The limit is an alarm of the copy itself, which the system rings: it also ends a copy that loops inside a library,
    or whose parent is gone.
    """
    stream.flush()
    copy = status = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the copy runs none, and reads one file
            copy = os.fork()
        if copy == 0:
            _work_and_exit(work, stream, seconds)
        status = _status_at_end(copy)
    finally:
        if copy == 0:  # interrupted before its work began: it may not go on as a second parent
            os._exit(1)
        if copy is not None and status is None:  # interrupted
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)
    return Ending(status == 0, os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM)


def _status_at_end(copy: int) -> int:
    """Wait for the copy with pauses: a signal that comes just before a call that waits is handled only after it."""
    pause = 0.001
    while True:
        ended, status = os.waitpid(copy, os.WNOHANG)
        if ended:
            return status
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _work_and_exit(work: Callable[[IO[bytes]], None], stream: IO[bytes], seconds: int) -> None:
    code = 1
    try:
        for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.alarm(max(1, seconds))
        faulthandler.disable()  # a crash is told in one sentence
        silence = os.open(os.devnull, os.O_WRONLY)  # libraries write of damaged files
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        work(stream)
        stream.flush()
        code = 0
    finally:
        os._exit(code)  # nothing of the parent's is flushed, closed or removed twice
