"""Kill runs and workers, cut the power, let writes fail, damage files, and compare with a run that nobody disturbed.

python -m stress.run              all trials
python -m stress.run --quick      a few of each, as CI does
python -m stress.run --seed 7     other moments and places

Runs are forked from one process that has imported and compiled everything, so that most of a trial is work. Not for
Windows, which has no fork.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from tqdm.auto import tqdm

from clustrep import compare, config_context, load
from clustrep.cli.program import clustrep
from clustrep.datasets.simulated import simulate_cohorts
from clustrep.errors import ClustrepError
from clustrep.execution import checkpoints
from clustrep.files.archives import SUMS, check_files, check_seal, has_sums
from clustrep.files.folders import STATE, claimed
from stress.clusters import Cluster, Clusters
from stress.power import COMPILER, Record, recorded

ARGUMENTS = ["--k", "2:3", "--clusterer", "kmeans:n_init=1", "--resamples", "12", "--null", "none", "--figures", "none"]

FULL = {
    "kills": 200,
    "workers": 50,
    "writes": 50,
    "flips": 500,
    "truncations": 200,
    "pairs": 10,
    "cuts": 200,
    "dask": 20,
    "ray": 20,
}

QUICK = {"kills": 4, "workers": 1, "writes": 4, "flips": 30, "truncations": 15, "pairs": 1, "cuts": 6}

EVERYTHING = re.compile(".*")  # of the files that may not be missing

DISKS, CONTINUED = 5, 0.2  # that one power cut could leave, and the share of cuts after which a run continues

TWO_RUNS = """
from pathlib import Path
from clustrep import load
from clustrep.cli.program import clustrep
from clustrep.execution import checkpoints

checkpoints.WRITTEN_EVERY = 0.0
root, studies = Path({root!r}), []
for path in map(Path, {studies!r}):
    studies.append(str(root / path.name))
    (root / path.name).write_bytes(path.read_bytes())
for further in (["--seed", "5"], ["--force"]):
    arguments = ["run", *studies, *{arguments!r}, "--jobs", "1", *further, "--out", str(root / "out")]
    clustrep.main(arguments, standalone_mode=False)
    load(root / "out" / "result.npz").save(root / "saved.npz")
    (root / "ends").mkdir(exist_ok=True)
    (root / "ends" / further[0]).touch()
"""

MOST_KILLS = 3  # of one run before it may finish


class StressTest:
    """One reference run, and trials that must end like it."""

    def __init__(self, folder: Path, rng: np.random.Generator, clusters: Clusters):
        self.folder, self.rng, self.clusters = folder, rng, clusters
        checkpoints.WRITTEN_EVERY = 0.0  # every block in a file of its own: more to damage, and more moments between
        self.studies = []
        self.power: Record | None = None
        self.cohorts = simulate_cohorts(n_cohorts=2, n_samples=30, missing={}, shifted={}, rng=1)
        for name, study in self.cohorts.items():
            study.to_frame().to_csv(folder / f"{name}.csv", index_label="sample")
            self.studies.append(str(folder / f"{name}.csv"))
        with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None), contextlib.suppress(SystemExit):
            clustrep.main(self.arguments("warm"), prog_name="clustrep")  # imports, compiled kernels
        begun = time.monotonic()
        self.check(self.finish("reference") == 0, "the reference run fails")
        self.seconds = time.monotonic() - begun
        self.files = contents(folder / "reference")

    def check(self, holds: bool, problem: str) -> None:
        """Raise where something does not hold."""
        if not holds:
            raise AssertionError(problem)

    def start(self, name: str, *further: str, before: Callable[[], object] = lambda: None) -> int:
        """Start a run in a process of its own, in a session of its own; return its number."""
        process = os.fork()
        if process:
            return process
        code = 1
        with contextlib.suppress(BaseException):
            os.setsid()
            # Progress bars of all forked processes share a lock: one that is killed with it never returns it.
            tqdm.set_lock(threading.RLock())
            with open(os.devnull, "w") as nowhere:
                for stream in (1, 2):
                    os.dup2(nowhere.fileno(), stream)
            before()
            try:
                clustrep.main(self.arguments(name, *further), prog_name="clustrep")
            except SystemExit as end:
                code = int(end.code or 0)
        os._exit(code)

    def arguments(self, name: str, *further: str) -> list[str]:
        """Return the command line of a run."""
        return ["run", *self.studies, *ARGUMENTS, "--jobs", "1", *further, "--out", str(self.folder / name)]

    def finish(self, name: str, *further: str) -> int:
        """Run to the end; return the exit code."""
        return wait(self.start(name, *further))

    def compare(self, name: str, *further: str) -> None:
        """Continue a run, and compare its files with those of the reference."""
        out = self.folder / name
        if (out / "result.npz").exists():
            further = (*further, "--force")
        code = self.finish(name, *further)
        self.check(code == 0, f"{name}: a continued run exits with {code}")
        files = contents(out)
        differing = [file for file in sorted({*files, *self.files}) if files.get(file) != self.files.get(file)]
        self.check(not differing, f"{name}: other bytes in {', '.join(differing)}")

    # -----------------------------------------------------------------------------------------------------------------
    # trials

    def dask(self, name: str) -> None:
        """Kill workers of a Dask cluster while a run is computed there; it finishes all the same."""
        self.on_cluster(name, self.clusters.started_as("dask"))

    def ray(self, name: str) -> None:
        """Kill workers of a Ray cluster while a run is computed there; it finishes all the same."""
        self.on_cluster(name, self.clusters.started_as("ray"))

    def on_cluster(self, name: str, cluster: Cluster) -> None:
        """Start a run on a cluster, kill some of its workers at random moments, and compare."""
        if not (self.folder / f"warm-{cluster.kind}").exists():  # workers import what they need
            self.finish(f"warm-{cluster.kind}", "--engine", cluster.address)
        process = self.start(name, "--engine", cluster.address)
        for _ in range(self.rng.integers(1, MOST_KILLS + 1)):
            time.sleep(self.rng.uniform(0, 2 * self.seconds))
            workers = cluster.workers()
            if workers and is_running(process):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(workers[self.rng.integers(len(workers))], signal.SIGKILL)
        code = wait(process)
        self.check(code == 0, f"{name}: a run exits with {code}")
        self.check(contents(self.folder / name) == self.files, f"{name}: other bytes")

    def kills(self, name: str) -> None:
        """Kill a run at random moments, and continue it."""
        for _ in range(self.rng.integers(1, MOST_KILLS + 1)):
            if (self.folder / name / "result.npz").exists():
                break
            process = self.start(name)
            time.sleep(self.rng.uniform(0, self.seconds))
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            wait(process)
        self.compare(name)

    def workers(self, name: str) -> None:
        """Kill a worker of a run, which may end it or not, and continue it."""
        process = self.start(name, "--jobs", "2")
        deadline = time.monotonic() + 60
        while not (found := children_of(process)) and time.monotonic() < deadline and is_running(process):
            time.sleep(0.02)
        time.sleep(self.rng.uniform(0, self.seconds))
        for child in children_of(process)[:1] or found[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        wait(process)
        self.compare(name)

    def writes(self, name: str) -> None:
        """Let writes fail: files that may not grow, or a folder that vanishes; nothing half-written is left."""
        limit = int(10 ** self.rng.uniform(2, 7))
        vanishes = bool(self.rng.integers(2))
        process = self.start(name, before=lambda: None if vanishes else limit_files(limit))
        if vanishes:
            time.sleep(self.rng.uniform(0, self.seconds))
            shutil.rmtree(self.folder / name, ignore_errors=True)
        wait(process)
        out = self.folder / name
        if has_sums(out):
            check_files(out, EVERYTHING)
        for block in out.glob(f"{STATE}/checkpoint/*/*.npz"):
            with open(block, "rb") as stream:
                check_seal(stream)
        for rescued in self.folder.glob(f"{name}-rescued-*"):
            shutil.rmtree(rescued)
        shutil.rmtree(out) if out.exists() and not (out / STATE).exists() and not has_sums(out) else None
        self.compare(name)

    def flips(self, name: str) -> None:
        """Flip a bit of a checkpoint or a result."""

        def flip(content: bytearray) -> None:
            content[self.rng.integers(len(content))] ^= 1 << self.rng.integers(8)

        self.damage(name, flip)

    def truncations(self, name: str) -> None:
        """Cut off the end of a checkpoint or a result."""

        def cut(content: bytearray) -> None:
            del content[self.rng.integers(len(content)) :]

        self.damage(name, cut)

    def damage(self, name: str, change: Callable[[bytearray], None]) -> None:
        """Change a file: of the results, which is noticed; of checkpoints, which is named and changes no result."""
        out = self.folder / name
        kept = bool(self.rng.integers(2))
        if kept:
            self.scores(out)
        else:
            shutil.copytree(self.folder / "reference", out, ignore=shutil.ignore_patterns(STATE))
        files = sorted(path for path in out.rglob("*") if path.is_file())
        path = files[self.rng.integers(len(files))]
        content = bytearray(path.read_bytes())
        change(content)
        path.write_bytes(content)
        if kept:
            with logged() as messages:
                self.check(self.scores(out) == self.scores(None), f"{path}: other scores")
            self.check(any(str(path) in message for message in messages), f"{path}: the damage is not named")
            return
        n_unnoticed = 0
        for read in (lambda: check_files(out, EVERYTHING), lambda: path.name == "result.npz" and load(path)):
            with contextlib.suppress(ClustrepError):
                n_unnoticed += read() is not False
        self.check(not n_unnoticed, f"{path}: the damage is not noticed")

    def scores(self, folder: Path | None) -> bytes:
        """Compare two numbers of clusters, here, and return all scores."""
        with config_context(checkpoint=folder):
            result = compare(KMeans(n_init=1), self.cohorts, n_clusters=[2, 3], n_resamples=8, rng=0)
        return result.distribution.tobytes() + result.estimate.tobytes()

    def pairs(self, name: str) -> None:
        """Start a second run in the folder of one that works: it is refused, and the first one finishes."""
        first = self.start(name)
        while not (self.folder / name / STATE / "lock").exists() and is_running(first):
            time.sleep(0.01)
        second = self.finish(name)
        self.check(second == 2, f"{name}: a second run exits with {second}")
        self.check(wait(first) == 0, f"{name}: the first run fails")
        self.compare(name)

    def cuts(self, name: str) -> None:
        """Cut the power while a run replaces the results of another: the old ones or the new are there, never a mix."""
        root, former = self.folder / "power", self.folder / "former"
        if self.power is None:
            root.mkdir()
            script = TWO_RUNS.format(root=str(root), studies=self.studies, arguments=ARGUMENTS)
            self.power = recorded(self.folder, root, script)
            self.power.write(former, self.power.moment_of("ends/--seed") + 1)
            self.power.write(self.folder / "all", self.power.length + 1)
            self.check(whole(self.folder / "all") == whole(root), "not all that was done to files was recorded")
            self.check(contents(root / "out") == self.files, "the recorded run is another than the reference")
        moments = [naming.moment + later for naming in self.power.namings for later in (0, 1)]
        of_sums = [naming.moment + later for naming in self.power.namings if SUMS in naming.goal for later in (1, 2)]
        until = int(self.rng.choice([moments, of_sums, range(self.power.length + 2)][self.rng.integers(3)]))
        n_ended = sum(self.power.moment_of(f"ends/{end}") < until for end in ("--seed", "--force"))
        disk = self.folder / f"{name}-disk"
        for _ in range(DISKS):
            shutil.rmtree(disk, ignore_errors=True)
            self.power.disk(disk, until, self.rng)
            self.check_disk(disk, [self.folder / "nothing", former, root][n_ended : n_ended + 2], f"cut at {until}")
        if (disk / "out").exists() and self.rng.uniform() < CONTINUED:
            shutil.move(disk / "out", self.folder / name)
            self.compare(name, "--force")
        shutil.rmtree(disk)

    def check_disk(self, disk: Path, allowed: list[Path], cut: str) -> None:
        """Check what a power cut left: read at once, and after the next process has claimed the folder."""
        out, saved = disk / "out", [whole(folder).get("saved.npz") for folder in allowed]
        self.check(whole(disk).get("saved.npz") in saved, f"{cut}: a saved result is damaged, or lost")
        for block in out.glob(f"{STATE}/checkpoint/*/*.npz"):
            with open(block, "rb") as stream:
                check_seal(stream)
        results = [contents(folder / "out") for folder in allowed]
        with contextlib.suppress(ClustrepError):
            load(out / "result.npz")
            known = [files.get("result.npz") for files in results]
            self.check((out / "result.npz").read_bytes() in known, f"{cut}: a damaged result loads")
        with contextlib.suppress(ClustrepError):
            names = check_files(out, EVERYTHING)
            found = {name: (out / name).read_bytes() for name in [*names, SUMS]}
            self.check(found in results, f"{cut}: a mix of files agrees with its checksums")
        with claimed(out):
            self.check(contents(out) in results, f"{cut}: neither the old files nor the new ones")


# ---------------------------------------------------------------------------------------------------------------------
# files and processes


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a run's results."""
    paths = [path for path in folder.rglob("*") if path.is_file() and STATE not in path.relative_to(folder).parts]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def whole(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


_ended: dict[int, int] = {}


def wait(process: int) -> int:
    """Wait for a process of ours; return its exit code, or minus the signal that ended it."""
    if process not in _ended:
        _, status = os.waitpid(process, 0)
        _ended[process] = os.waitstatus_to_exitcode(status)
    return _ended[process]


def is_running(process: int) -> bool:
    """Whether a process of ours has not ended yet."""
    if process in _ended:
        return False
    number, status = os.waitpid(process, os.WNOHANG)
    if number:
        _ended[process] = os.waitstatus_to_exitcode(status)
    return not number


def children_of(process: int) -> list[int]:
    """Return the workers of a run: its children that joblib started to compute."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process and b"popen_loky" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


def limit_files(n_bytes: int) -> None:
    """Let writes to files fail that would become larger."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


@contextlib.contextmanager
def logged() -> Iterator[list[str]]:
    """Collect what the library logs."""
    messages: list[str] = []
    handler, logger = logging.Handler(), logging.getLogger("clustrep")
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        yield messages
    finally:
        logger.removeHandler(handler)


def main() -> int:
    """Run the trials, and print how many of each survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few trials of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of moments and places")
    parser.add_argument("--only", choices=FULL, help="one kind of trial")
    parser.add_argument("--trials", type=int, help="how many, instead of the usual number")
    options = parser.parse_args()
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="stress-") as folder, Clusters(Path(folder)) as clusters:
        stress = StressTest(Path(folder), np.random.default_rng(options.seed), clusters)
        for kind, usual in (QUICK if options.quick else FULL).items():
            if options.only not in (None, kind):
                continue
            if missing := Clusters.missing(kind):
                print(f"{kind:12} skipped: {missing} is not installed", flush=True)
                continue
            if kind == "cuts" and not COMPILER:
                print(f"{kind:12} skipped: there is no compiler of C, or the system is not Linux", flush=True)
                continue
            n_trials, n_failed = options.trials or usual, len(failures)
            for trial in tqdm(range(n_trials), desc=kind, disable=options.quick):
                try:
                    getattr(stress, kind)(f"{kind}-{trial}")
                except (AssertionError, ClustrepError, ValueError) as error:
                    failures.append(f"{kind} {trial}: {error}")
                shutil.rmtree(Path(folder) / f"{kind}-{trial}", ignore_errors=True)
            n_good = n_trials - (len(failures) - n_failed)
            print(f"{kind:12} {n_good} of {n_trials} survived", flush=True)
    print("\n".join(failures))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
