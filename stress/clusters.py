"""Clusters of several processes on this machine, in a process of their own, whose workers can be killed."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = {"dask": "distributed", "ray": "ray"}

# Prints the engine's name, and lives until its input is closed.
PROGRAMS = {
    "dask": """
import subprocess, sys, threading
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=0, dashboard_address=":0", silence_logs="CRITICAL")
    command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
    command += ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
    start = lambda: subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # Not Dask's nannies: one whose worker is killed while it starts gives up, and soon there is no worker left.
    workers = [start() for _ in range(3)]
    print(cluster.scheduler_address.replace("tcp://", "dask://"), flush=True)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
    while not ended.wait(0.2):
        workers = [worker if worker.poll() is None else start() for worker in workers]
    for worker in workers:
        worker.kill()
    cluster.close()
""",
    "ray": """
import sys
import ray
context = ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
print(context.address_info["gcs_address"], flush=True)
sys.stdin.read()
ray.shutdown()
""",
}


class Cluster:
    """A cluster that was started for the trials."""

    def __init__(self, kind: str, folder: Path):
        self.kind = kind
        program = folder / f"{kind}_cluster.py"
        program.write_text(PROGRAMS[kind])
        if kind == "ray":  # newer versions ask for a token: of the cluster, and of the runs that are forked from now on
            os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(16))
        self.process = subprocess.Popen(
            [sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().decode().strip()
        if kind == "ray":
            os.environ["RAY_ADDRESS"] = self.address
            self.address = "ray"

    def workers(self) -> list[int]:
        """Return the processes that compute."""
        parents: dict[int, int] = {}
        commands: dict[int, bytes] = {}
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
                commands[int(path.name)] = (path / "cmdline").read_bytes()
        beginning = b"ray::" if self.kind == "ray" else b"dask_worker"
        return [
            number
            for number, command in commands.items()
            # Ray's agents have such names, too: with one of them the whole machine is gone.
            if beginning in command and b"Agent" not in command and self._is_ours(number, parents)
        ]

    def _is_ours(self, number: int, parents: dict[int, int]) -> bool:
        while number in parents and number != self.process.pid:
            number = parents[number]
        return number == self.process.pid

    def close(self) -> None:
        """End it."""
        self.process.communicate()


class Clusters(contextlib.AbstractContextManager["Clusters"]):
    """The clusters of the trials, each started when it is first needed."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.started: dict[str, Cluster] = {}

    @staticmethod
    def missing(kind: str) -> str:
        """Say which package a kind of trial needs that is not installed."""
        package = PACKAGES.get(kind)
        return package if package is not None and find_spec(package) is None else ""

    def started_as(self, kind: str) -> Cluster:
        """Return a cluster of one kind."""
        if kind not in self.started:
            self.started[kind] = Cluster(kind, self.folder)
        return self.started[kind]

    def __exit__(self, *_: object) -> None:
        """End all of them."""
        for cluster in self.started.values():
            cluster.close()
