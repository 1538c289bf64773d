"""A folder changes as a whole: whoever is killed, wherever, leaves the old files or the new."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from clustrep.errors import DataError, ParameterError
from clustrep.files import archives as checksums
from clustrep.files.folders import claimed, is_free, is_unfinished, nearest_entries

OLD = {"result.npz": b"old", "config.toml": b"old", "figures/a.png": b"old", "figures/b.png": b"old"}
NEW = {"result.npz": b"new", "config.toml": b"new", "figures/a.png": b"new", "tables/c.csv": b"new"}
MINE = {"notes.txt": b"mine", "figures/mine.png": b"mine", ".clustrep/checkpoint/block-1": b"kept"}


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def put(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def publish(folder, files, **options):
    with claimed(folder) as claim, claim.transaction(**options) as staged:
        put(staged, files)


def published(folder):
    """The files of a run, without its list of checksums, which must be right."""
    checksums.check_files(folder, re.compile(".*"))
    return {name: (folder / name).read_bytes() for name in checksums.read_sums(folder)}


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "here" / "out"
    publish(folder, OLD)
    put(folder, MINE)
    return folder


# ---------------------------------------------------------------------------------------------------------------------
# whole


def test_new_files_replace_the_old_and_no_others(out):
    publish(out, NEW)
    assert published(out) == NEW
    assert contents(out) == {**NEW, **MINE, "SHA256SUMS": (out / "SHA256SUMS").read_bytes()}
    assert os.listdir(out.parent) == ["out"]
    assert os.listdir(out / ".clustrep") == ["checkpoint"]


def test_new_files_may_be_added(out):
    publish(out, {"figures/b.png": b"new", "figures/c.png": b"new"}, keep=True)
    assert published(out) == {**OLD, "figures/b.png": b"new", "figures/c.png": b"new"}
    assert MINE.items() <= contents(out).items()


def test_adding_nothing_changes_nothing(out):
    before = contents(out)
    publish(out, {}, keep=True)
    assert contents(out) == before


def test_folders_in_which_nothing_is_left_are_removed(tmp_path):
    publish(tmp_path / "out", OLD)
    publish(tmp_path / "out", {"result.npz": b"new"})
    assert sorted(os.listdir(tmp_path / "out")) == ["SHA256SUMS", "result.npz"]


def test_empty_folders_of_the_user_stay(out):
    (out / "empty").mkdir()
    publish(out, NEW)
    assert (out / "empty").is_dir()


def test_a_file_of_the_user_gives_way_and_is_kept(tmp_path):
    out = tmp_path / "out"
    publish(out, {"result.npz": b"old"})
    put(out, {"config.toml": b"mine", "figures": b"mine", "tables/c.csv/deep": b"mine"})
    publish(out, NEW)
    assert published(out) == NEW
    names = {name: data for name, data in contents(out).items() if data == b"mine"}
    assert sorted(names) == ["config.toml.before1", "figures.before1", "tables/c.csv.before1/deep"]
    put(out, {"result.npz.before1": b"mine"})
    publish(out, OLD)
    assert sum(data == b"mine" for data in contents(out).values()) == 4


def test_a_link_of_the_user_stays_one_and_nothing_behind_it_changes(tmp_path):
    out, far = tmp_path / "out", tmp_path / "far"
    put(far, {"a.png": b"far", "big": b"far"})
    publish(out, {"result.npz": b"old"})
    (out / "big").symlink_to(far / "big")
    (out / "nowhere").symlink_to(far / "nothing")
    (out / "figures").symlink_to(far)
    publish(out, NEW)
    assert published(out) == NEW
    assert contents(far) == {"a.png": b"far", "big": b"far"}
    assert os.readlink(out / "big") == str(far / "big")
    assert os.readlink(out / "nowhere") == str(far / "nothing")
    assert os.readlink(out / "figures.before1") == str(far)


def test_a_list_that_names_files_outside_is_not_obeyed(tmp_path):
    publish(tmp_path / "out", OLD)
    put(tmp_path, {"mine.txt": b"mine"})
    for name in ("../mine.txt", str(tmp_path / "mine.txt"), "a/../../mine.txt"):
        sums = checksums.text_of({name: "0" * 64})
        (tmp_path / "out" / "SHA256SUMS").write_text(sums)
        publish(tmp_path / "out", NEW)
        assert (tmp_path / "mine.txt").read_bytes() == b"mine"
        assert published(tmp_path / "out") == NEW


def test_after_a_damaged_list_nothing_is_taken_for_old(out):
    (out / "SHA256SUMS").write_bytes((out / "SHA256SUMS").read_bytes()[:-30])
    publish(out, NEW)
    assert published(out) == NEW
    assert contents(out)["result.npz.before1"] == b"old"
    assert contents(out)["figures/b.png"] == b"old"


def test_an_error_leaves_the_old_files(out):
    before = contents(out)

    def fail():
        with claimed(out) as claim, claim.transaction() as staged:
            put(staged, NEW)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert contents(out) == before


def test_a_file_that_cannot_be_replaced_leaves_only_old_or_only_new(tmp_path, monkeypatch):
    """What has been moved is moved back."""
    out = tmp_path / "out"
    publish(out, OLD)
    put(out, MINE)
    before, replace, failed = contents(out), os.replace, 0

    for number in itertools.count():
        calls = itertools.count()

        def stubborn(source, goal, calls=calls, number=number):
            if next(calls) == number:
                raise PermissionError(1, "Operation not permitted")
            replace(source, goal)

        monkeypatch.setattr(os, "replace", stubborn)
        try:
            publish(out, NEW)
            break
        except PermissionError:
            failed += 1
        assert contents(out) == before
        assert not is_unfinished(out)
    assert failed >= 9
    assert published(out) == NEW


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a file immutable")
def test_an_immutable_file_is_no_mixture(tmp_path):
    out = tmp_path / "out"
    publish(out, OLD)
    if subprocess.run(["chattr", "+i", out / "config.toml"], capture_output=True, check=False).returncode:
        pytest.skip("this file system has no immutable files")
    try:
        with pytest.raises(OSError, match="not permitted"):
            publish(out, NEW)
    finally:
        for path in tmp_path.rglob("config.toml"):
            subprocess.run(["chattr", "-i", path], check=True)
    assert published(out) == OLD
    with claimed(out):
        pass
    assert os.listdir(tmp_path) == ["out"]


def test_owner_and_permissions_stay(out):
    out.chmod(0o2750)
    publish(out, NEW)
    assert out.stat().st_mode & 0o7777 == 0o2750


def test_the_folder_stays_the_same_one(tmp_path):
    """Otherwise a shell that stands in it would be in a folder that is no more."""
    (tmp_path / "out" / "deeper").mkdir(parents=True)
    number = (tmp_path / "out").stat().st_ino
    publish(tmp_path / "out", NEW)
    assert (tmp_path / "out").stat().st_ino == number


# ---------------------------------------------------------------------------------------------------------------------
# kills

# Processes that publish new files; each kills itself after its n-th change of the file system.
KILLED = """
import os, pathlib, signal, sys
from clustrep.files import folders

def publish(folder, number, names):
    count = 0

    def deadly(function):
        def call(*args, **options):
            nonlocal count
            count += 1
            number_of_this = count
            try:
                return function(*args, **options)
            finally:
                if number_of_this == number:
                    os.kill(os.getpid(), signal.SIGKILL)
        return call

    for name in ("replace", "rename", "link", "unlink", "mkdir", "rmdir", "chown"):
        setattr(os, name, deadly(getattr(os, name)))
    with folders.claimed(folder) as claim, claim.transaction() as staged:
        for name in names:
            (staged / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / name).write_bytes(b"new")

base, *names = sys.argv[1:]
for number in range(1, 100):
    process = os.fork()
    if process == 0:
        publish(pathlib.Path(base, str(number), "out"), number, names)
        os._exit(0)
    status = os.waitpid(process, 0)[1]
    if status != signal.SIGKILL:
        print(number, status)
        break
"""


@pytest.fixture
def disk():
    """A folder on a disk that is always synchronized, where there is one."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.mark.parametrize("old", [OLD, {}], ids=["over old results", "into a new folder"])
def test_a_kill_after_any_step_leaves_only_old_or_only_new(old, disk):
    if old:
        publish(disk / "before", old)
        put(disk / "before", MINE)
    for number in range(1, 100):
        (disk / str(number)).mkdir()
        if old:
            shutil.copytree(disk / "before", disk / str(number) / "out")
    arguments = [sys.executable, "-c", KILLED, disk, *NEW]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    n_steps, status = map(int, done.stdout.split())
    assert status == 0, done.stderr
    assert n_steps > 20
    seen = [after_the_kill(disk / str(number) / "out", old) for number in range(1, n_steps + 1)]
    assert seen == sorted(seen)
    assert set(seen) == {False, True}


def after_the_kill(out, old):
    """Check what a killed process left, and what the next one makes of it; return whether it is the new results."""
    with claimed(out):  # the next run
        there = published(out) if checksums.has_sums(out) else {}
        assert there in (old, NEW)
    if out.exists():
        rest = {name: data for name, data in contents(out).items() if name not in (*there, "SHA256SUMS")}
        assert rest == (MINE if old else {})
        assert os.listdir(out.parent) == ["out"]
    publish(out, OLD)
    assert published(out) == OLD
    return there == NEW


# ---------------------------------------------------------------------------------------------------------------------
# one at a time

HOLD = """
import pathlib, sys
from clustrep.files.folders import claimed
with claimed(pathlib.Path(sys.argv[1])):
    print("claimed", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that has claimed a folder."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "out"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "claimed\n"
        yield process
        if process.poll() is None:
            process.kill()


def test_the_second_is_refused_at_once_and_told_by_whom(holder, tmp_path):
    with (
        pytest.raises(ParameterError) as no,
        claimed(tmp_path / "out"),
    ):
        pass
    assert no.value.parameter == "out"
    assert holder.poll() is None
    holder.communicate("")
    publish(tmp_path / "out", NEW)
    assert published(tmp_path / "out") == NEW


def test_a_killed_process_does_not_keep_its_claim(holder, tmp_path):
    holder.kill()
    holder.wait()
    assert is_free(tmp_path / "out")
    publish(tmp_path / "out", NEW)
    assert published(tmp_path / "out") == NEW
    assert sorted(os.listdir(tmp_path)) == ["out"]


RACE = """
import pathlib, sys, time
from clustrep.errors import ParameterError
from clustrep.files.folders import claimed
out, log, name = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
won = 0
while won < 15:
    try:
        with claimed(out) as claim:
            with open(log, "x"):
                pass
            with claim.transaction() as staged:
                (staged / "result.npz").write_text(name)
            log.unlink()
            won += 1
    except ParameterError:
        time.sleep(0.001)  # not to be in the way of the one inside
"""


def test_processes_that_compete_are_never_inside_together(tmp_path):
    """Also around exchanges of the folder, when locks change places: a second one inside would find the log there."""
    arguments = [[sys.executable, "-c", RACE, tmp_path / "out", tmp_path / "log", name] for name in "abc"]
    processes = [subprocess.Popen(line, stderr=subprocess.PIPE, text=True) for line in arguments]
    assert [process.communicate()[1] for process in processes] == ["", "", ""]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sorted(os.listdir(tmp_path)) == ["out"]
    assert sorted(os.listdir(tmp_path / "out")) == ["SHA256SUMS", "result.npz"]


def test_where_files_cannot_be_locked_the_second_is_refused(tmp_path, monkeypatch):
    """As on some network file systems."""
    fcntl = pytest.importorskip("fcntl")

    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    out = tmp_path / "out"
    with claimed(out) as claim:
        with pytest.raises(ParameterError), claimed(out):
            pass
        with claim.transaction() as staged:
            put(staged, NEW)
    assert published(out) == NEW
    assert sorted(os.listdir(tmp_path)) == ["out"]
    publish(out, OLD)


@pytest.mark.parametrize("again", [False, True])
def test_a_folder_that_vanishes_is_not_written_to(again, tmp_path):
    out = tmp_path / "out"

    def vanish():
        with claimed(out) as claim, claim.transaction() as staged:
            put(staged, NEW)
            os.replace(out, tmp_path / "moved")
            if again:
                put(out, {".clustrep/lock": b"", ".clustrep/new": b""})
                os.replace(tmp_path / "moved" / ".clustrep" / staged.name, staged)

    with pytest.raises((DataError, OSError)):
        vanish()
    assert not (out / "result.npz").exists()


# ---------------------------------------------------------------------------------------------------------------------
# before and after


def test_folders_that_were_made_for_nothing_are_removed(tmp_path):
    with claimed(tmp_path / "a" / "b" / "out") as claim:
        assert claim.path.is_dir()
    assert os.listdir(tmp_path) == []
    (tmp_path / "mine").mkdir()
    with claimed(tmp_path / "mine"):
        pass
    assert os.listdir(tmp_path) == ["mine"]


def test_what_others_keep_beside_the_lock_makes_a_folder_neither_full_nor_lost(tmp_path):
    put(tmp_path / "out", {".clustrep/checkpoint/block-1": b"kept"})
    assert is_free(tmp_path / "out")
    publish(tmp_path / "out", NEW)
    assert (tmp_path / "out/.clustrep/checkpoint/block-1").read_bytes() == b"kept"


def test_room_is_tried_with_real_bytes(tmp_path):
    """A limit on the size of files fails as a full disk does, when it is written to."""
    code = """
import pathlib, resource, signal, sys
from clustrep.files.folders import claimed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
with claimed(pathlib.Path(sys.argv[1])) as claim:
    claim.try_room(10_000)
    try:
        claim.try_room(10_001)
    except OSError as error:
        print(error.strerror)
"""
    arguments = [sys.executable, "-c", code, tmp_path / "out"]
    assert subprocess.run(arguments, capture_output=True, text=True, check=True).stdout == "File too large\n"
    assert os.listdir(tmp_path) == []


def test_long_names_of_folders(tmp_path):
    out = tmp_path / ("n" * 255)
    publish(out, OLD)
    publish(out, NEW)
    assert published(out) == NEW


# ---------------------------------------------------------------------------------------------------------------------
# names that are not there


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mians.csv", " Did you mean 'mainz.csv'?"),
        ("MAINZ2.txt", " Did you mean 'mainz.csv'?"),
        ("vxd.csv", " Did you mean 'vdx.csv' or 'vdx.rds'?"),
        ("transbig.csv", ""),  # the ending alone is no similarity
        ("hiden.csv", ""),
        ("nowhere/mainz.csv", ""),
    ],
)
def test_the_nearest_names_of_a_folder_are_named(name, hint, tmp_path):
    put(tmp_path, dict.fromkeys(("mainz.csv", "vdx.csv", "vdx.rds", ".hidden.csv"), b""))
    assert nearest_entries(tmp_path / name) == hint
