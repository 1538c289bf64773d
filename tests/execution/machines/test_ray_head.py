"""Runs on a Ray cluster with a head of its own: through its client server, and when the head is killed."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="ray is not installed: pip install clustrep[ray]")
pytest.importorskip("grpc", reason="ray has no client: pip install clustrep[ray]")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc to find Ray's processes"),
]

MOST = 120  # seconds, to end a hang

# Each runs in a process of its own: Ray keeps tokens and connections for as long as a process lives.
BEGIN = """
import os, signal, sys, threading, time
from pathlib import Path
import numpy as np
from sklearn.cluster import KMeans
import clustrep as cr
from clustrep.execution import checkpoints, ray_engine
from tests.execution.machines.cases import Noting
engine, folder, head = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
tables = {name: np.random.default_rng(i).normal(size=(20, 2)) for i, name in enumerate("ab")}

def patiently(clusterer, **call):
    # A client server that has only just been started does not serve every client.
    for attempt in range(5):
        try:
            with cr.config_context(engine=engine):
                return cr.replicability(clusterer, tables, **call)
        except cr.errors.EngineLost as error:
            if attempt == 4 or not str(error).startswith("No Ray cluster answers"):
                raise
            time.sleep(2)
"""

SAME = """
from tests.execution.workers.test_bits import assert_same_bits
call = {"n_resamples": 6, "rng": 3}
there = patiently(KMeans(2, n_init=1), **call)
assert_same_bits(there, cr.replicability(KMeans(2, n_init=1), tables, **call))
print("the same bits")
"""

LOST = """
ray_engine.SILENT, checkpoints.WRITTEN_EVERY = 3.0, 0.0
(folder / "notes").mkdir()

def kill_the_head():
    while len(list((folder / "checkpoint").glob("*/*.npz"))) < 3:
        time.sleep(0.05)
    os.killpg(head, signal.SIGKILL)

threading.Thread(target=kill_the_head, daemon=True).start()
clusterer, call = Noting(str(folder / "notes"), seconds=0.05), {"n_resamples": 120, "rng": 0, "diagonal": False}
try:
    with cr.config_context(checkpoint=folder / "checkpoint"):
        patiently(clusterer, **call)
except cr.errors.EngineLost as error:
    print(error)
time.sleep(1)
for note in (folder / "notes").iterdir():
    note.unlink()
with cr.config_context(checkpoint=folder / "checkpoint"):
    cr.replicability(clusterer, tables, **call)
print(len(list((folder / "notes").iterdir())), "fits were left")
"""


class Head:
    """The head of a cluster on free ports, with a token that nobody else has."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="ray-")  # names of sockets must be short
        self.mark = secrets.token_hex(8)
        packages = os.pathsep.join([os.getcwd(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
        self.environment = {
            **os.environ,
            "PYTHONPATH": packages,
            "CLUSTREP_TEST_HEAD": self.mark,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(16),
            "RAY_worker_niceness": "0",
            "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "5",
        }
        self.port, self.client_port = free_ports(2)
        self.printed = Path(self.folder) / "printed"
        with open(self.printed, "w") as stream:
            self.process = subprocess.Popen(
                self._command(), env=self.environment, stdout=stream, stderr=stream, start_new_session=True
            )
        self._wait_until(lambda: "Ray runtime started" in self.printed.read_text() or self.process.poll() is not None)
        assert "Ray runtime started" in self.printed.read_text(), self.printed.read_text()

    def _command(self):
        ray = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--head", "--block"]
        ports = ["--port", str(self.port), "--ray-client-server-port", str(self.client_port)]
        return [*ray, *ports, "--num-cpus", "2", "--include-dashboard=false", "--temp-dir", self.folder]

    @staticmethod
    def _wait_until(holds):
        deadline = time.monotonic() + MOST
        while not holds() and time.monotonic() < deadline:
            time.sleep(0.1)

    def python(self, program, engine, folder, **environment):
        """Run a program beside it; return what it prints."""
        done = subprocess.run(
            [sys.executable, "-c", BEGIN + program, engine, str(folder), str(self.process.pid)],
            env={**self.environment, **environment, "CLUSTREP_TEST_HEAD": ""},
            capture_output=True,
            text=True,
            timeout=2 * MOST,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def processes(self):
        """All processes that it has started: they inherit the mark."""
        marked = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                environment, state = (path / "environ").read_bytes(), (path / "stat").read_text().rpartition(")")[2]
            except OSError:
                continue
            if f"CLUSTREP_TEST_HEAD={self.mark}".encode() in environment and state.split()[0] != "Z":
                marked.append(int(path.name))
        return marked

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(MOST)
        self._wait_until(lambda: not self.processes())
        for left in self.processes():
            os.kill(left, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


def free_ports(n):
    """Ports that nobody listens on: all are held until all are known."""
    sockets = [socket.socket() for _ in range(n)]
    try:
        for taken in sockets:
            taken.bind(("127.0.0.1", 0))
        return [taken.getsockname()[1] for taken in sockets]
    finally:
        for taken in sockets:
            taken.close()


@pytest.fixture
def head():
    head = Head()
    yield head
    head.close()


def test_through_the_client_server_the_same_bits_and_an_error_when_the_head_is_killed(head, tmp_path):
    engine = f"ray://127.0.0.1:{head.client_port}"
    assert head.python(SAME, engine, tmp_path) == "the same bits\n"
    error, left = head.python(LOST, engine, tmp_path).splitlines()
    assert error.startswith(f"The connection to the Ray cluster at {engine} is lost.")
    assert 0 < int(left.split()[0]) < 242


def test_a_machine_of_the_cluster_whose_head_is_killed(head, tmp_path):
    """Ray itself would end the process after a minute."""
    error, left = head.python(LOST, "ray", tmp_path, RAY_ADDRESS=f"127.0.0.1:{head.port}").splitlines()
    assert error.startswith("The connection to the Ray cluster is lost.")
    assert 0 < int(left.split()[0]) < 242
