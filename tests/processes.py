"""Processes that tests start, and what is left of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time

HANGS_AFTER = 240  # seconds: only a guard, less than the 300 after which idle workers end by themselves


def session_of(leader):
    """The live processes of a session: {pid: command line}."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # gone in the meantime
            with open(f"/proc/{pid}/stat") as stat:
                state, _, _, session = stat.read().rpartition(")")[2].split()[:4]
            if int(session) == leader and state not in "ZX":
                with open(f"/proc/{pid}/cmdline") as command:
                    found[int(pid)] = command.read().replace("\0", " ")
    return found


def wait_until(condition):
    deadline = time.monotonic() + HANGS_AFTER
    while not condition():
        assert time.monotonic() < deadline, "it hangs"
        time.sleep(0.02)


@contextlib.contextmanager
def running(*command, **options):
    """A process that leads a session, of which nothing is left afterwards."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    process = subprocess.Popen(command, start_new_session=True, **options)
    guard = threading.Timer(HANGS_AFTER, os.killpg, [process.pid, signal.SIGKILL])
    guard.start()
    try:
        yield process
    finally:
        guard.cancel()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
