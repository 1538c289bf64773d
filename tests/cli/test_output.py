"""The folder of results is written whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.support import (
    FILES,
    NO_NULL,
    PAIR,
    READING,
    RUN,
    SMALL,
    contents,
    forbid_reading,
    invoke,
    listed,
    process,
)

import clustrep as cr
from clustrep.cli.output import file_name
from clustrep.cli.program import clustrep


@pytest.mark.parametrize(
    "arguments",
    [
        RUN,
        ["demo", *SMALL],
        ["local", *PAIR, *READING, *SMALL],
        ["valleys", *PAIR, *READING],
        ["stability", "alpha.csv", *READING],
        ["test", "alpha.csv"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_folder_with_something_in_it_is_refused_before_any_work(arguments, folder, monkeypatch):
    for name in ("analyse", "separation", "validate", "cluster_test"):
        monkeypatch.setattr(cr, name, None, raising=False)
    forbid_reading(monkeypatch)
    (folder / "out").mkdir()
    (folder / "out" / "mine.txt").write_text("mine")
    done = invoke(*arguments, "--out", "out", code=2)
    assert done.stderr == "error: out exists already: name another folder with --out, or replace it with --force.\n"
    done = invoke(*arguments, "--out", "out", "--force", code=2)
    assert done.stderr == (
        "error: out holds no results of clustrep, so --force does not replace its files: name another folder with "
        "--out.\n"
    )
    assert listed(folder / "out") == ["mine.txt"]


def test_an_empty_folder_is_used(folder):
    (folder / "out").mkdir()
    invoke(*RUN, "--out", "out")
    assert listed(folder / "out") == FILES


def test_folders_on_the_way_are_made(folder):
    invoke(*RUN, "--out", "a/b/c")
    assert listed(folder / "a") == [f"b/c/{name}" for name in FILES]
    assert (folder / "a/b/c").stat().st_mode == (folder / "a").stat().st_mode  # no private temporary folder's


def test_force_replaces_what_an_earlier_run_wrote_and_nothing_else(folder):
    invoke(*RUN, "--out", "out", "--k", "3", "--agreement", "ari", "--figures", "svg")
    drawn = [name for name in listed(folder / "out") if name.startswith("figures/")]
    assert drawn
    before = contents(folder / "out")
    (folder / "out" / "notes.txt").write_text("mine")
    (folder / "out" / "figures" / "mine.svg").write_text("mine")
    invoke(*RUN, "--out", "out", "--force", "--seed", "1")
    after = contents(folder / "out")
    assert sorted(after) == sorted([*FILES, "notes.txt", "figures/mine.svg"])
    assert after["notes.txt"] == after["figures/mine.svg"] == b"mine"
    assert after["scores.csv"] != before["scores.csv"]
    assert sorted(os.listdir(folder)) == ["alpha.csv", "beta.csv", "gamma.csv", "out"]


def test_force_refuses_a_folder_with_someone_elses_config(folder):
    (folder / "site").mkdir()
    (folder / "site" / "config.toml").write_text('title = "My site"\n')
    CliRunner().invoke(clustrep, [*RUN, "--out", "site", "--force"])
    assert contents(folder / "site") == {"config.toml": b'title = "My site"\n'}


@pytest.mark.parametrize("out", ["empty", "nowhere/out"])
def test_a_place_that_cannot_be_written_to_is_found_before_the_work(out, mounted, monkeypatch):
    forbid_reading(monkeypatch)
    mounted("size=1m")
    (Path("disk") / "empty").mkdir()
    mounted("remount,ro")
    done = invoke(*RUN, "--out", f"disk/{out}", code=3)
    assert done.stderr == (
        f"error: {Path('disk', out)} can't be written to (Read-only file system): name another folder with --out.\n"
    )


@pytest.mark.parametrize("out", ["empty", "a/b"])
def test_a_disk_without_room_is_found_before_the_work(out, mounted, monkeypatch):
    forbid_reading(monkeypatch)
    mounted("size=4m")
    (Path("disk") / "empty").mkdir()
    done = invoke(*RUN, "--out", f"disk/{out}", code=3)
    assert done.stderr == (
        f"error: {Path('disk', out)} can't be written to (No space left on device): name another folder with --out.\n"
    )
    assert os.listdir("disk") == ["empty"]
    assert os.listdir("disk/empty") == []


@pytest.fixture
def forbidden(folder):
    """A folder in which nothing can be made, and why: root may write anywhere but into what is immutable."""
    path = folder / "locked"
    path.mkdir(mode=0o555)
    if os.geteuid() != 0:
        yield "Permission denied"
        return
    if subprocess.run(["chattr", "+i", path], capture_output=True, check=False).returncode:
        pytest.skip("this file system has no immutable folders")
    yield "Operation not permitted"
    subprocess.run(["chattr", "-i", path], check=True)


def test_a_folder_without_permission_is_found_before_the_work(forbidden, monkeypatch):
    forbid_reading(monkeypatch)
    done = invoke(*RUN, "--out", "locked/out", code=3)
    assert done.stderr == f"error: locked/out can't be written to ({forbidden}): name another folder with --out.\n"


def test_a_file_on_the_way_to_the_folder_is_found_before_the_work(folder, monkeypatch):
    forbid_reading(monkeypatch)
    assert "alpha.csv is a file" in invoke(*RUN, "--out", "alpha.csv/out", code=2).stderr


@pytest.mark.parametrize("out", [".", "link"])
def test_an_empty_folder_is_used_by_any_of_its_names(out, folder, monkeypatch):
    (folder / "out").mkdir()
    (folder / "link").symlink_to("out")
    arguments = [str(folder / argument) if argument in PAIR else argument for argument in RUN]
    if out == ".":
        monkeypatch.chdir("out")
    result = CliRunner().invoke(clustrep, [*arguments, "--out", out])
    assert result.exit_code == 0, result.stderr
    assert listed(folder / "out") == FILES


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no other device to try it on")
def test_a_folder_on_another_device_is_used(folder):
    """As behind a link, or where a disk is mounted."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as far:
        (folder / "link").symlink_to(far)
        result = CliRunner().invoke(clustrep, [*RUN, "--out", "link"])
        assert result.exit_code == 0, result.stderr
        assert listed(Path(far)) == FILES


@pytest.mark.parametrize("existing", [False, True], ids=["new", "forced"])
@pytest.mark.parametrize(("error", "code"), [(RuntimeError("oh"), 1), (KeyboardInterrupt(), 130)])
def test_failing_in_the_middle_of_writing_leaves_the_folder_as_it_was_and_the_result_elsewhere(
    error, code, existing, folder, monkeypatch
):
    if existing:
        invoke(*RUN, "--out", "out")
    before = contents(folder)

    def broken(_):
        raise error

    monkeypatch.setattr(cr.Report, "to_html", broken)
    done = invoke(*RUN, "--out", "out", "--seed", "5", "--force", code=code)
    (rescued,) = folder.glob("out-rescued-*")
    assert f"Results are not in out; they are in {rescued}, for `clustrep report`.\n" in done.stderr
    assert ("RuntimeError: oh" in done.stderr) == (code == 1)
    assert done.stdout == ""
    assert listed(rescued) == ["SHA256SUMS", "result.npz"]
    assert cr.load(rescued / "result.npz").provenance.seed == 5
    assert {name: data for name, data in contents(folder).items() if not name.startswith(rescued.name)} == before
    if not existing:  # nothing but what a continued run needs
        assert [path.name for path in Path("out").iterdir()] == [".clustrep"]
        assert os.listdir("out/.clustrep") == ["checkpoint"]
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert "# Which clusters replicate across studies" in invoke("report", rescued.name, "--format", "markdown").stdout


def test_a_figure_that_cannot_be_drawn_does_not_lose_the_results(folder, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no ink")

    monkeypatch.setattr(cr.results.Replicability, "plot", broken)
    done = invoke(*RUN, "--figures", "svg", "--out", "out")
    assert "warning: The figure pairs can't be drawn: RuntimeError: no ink.\n" in done.stderr
    assert {"result.npz", "report.html"} <= set(os.listdir("out"))
    assert Path("out/figures/curves.svg").exists()


def test_results_are_in_their_folder_before_figures_are_drawn(folder, monkeypatch):
    seen = []

    def interrupted(*_, **__):
        seen.append((listed(folder / "out"), cr.load("out/result.npz").provenance.seed))
        raise KeyboardInterrupt

    monkeypatch.setattr(cr.results.LocalReplicability, "plot", interrupted)  # which the page does not show
    done = invoke(*RUN, "--out", "out", "--figures", "svg", code=130)
    assert done.stderr.endswith("Results are in out, without figures.\nInterrupted.\n")
    ((files, seed),) = seen
    assert [name for name in files if not name.startswith(".clustrep/")] == listed(folder / "out") == FILES
    assert seed == 0
    invoke("report", "out")


@pytest.mark.parametrize(
    ("name", "written"), [("a b", "a_b"), ("../x", "x"), ("Zürich 2", "Zürich_2"), ("/", "study"), ("a.b-c", "a.b-c")]
)
def test_file_names_are_valid_in_any_file_system(name, written):
    assert file_name(name) == written


def test_no_study_takes_the_place_of_another(folder):
    Path("alpha.csv").rename("a b.csv")
    Path("beta.csv").rename("a_b.csv")
    invoke("test", "a b.csv", "a_b.csv", *READING, "--simulations", "19", "--figures", "none", "--out", "out")
    assert len(list(Path("out").glob("result-*.npz"))) == 2


# ---------------------------------------------------------------------------------------------------------------------
# long names


@pytest.mark.parametrize("letter", ["n", "ü", "名", "𝔫"])
def test_the_files_of_long_names_differ_and_are_short(letter):
    first, second = file_name(letter * 5000), file_name(letter * 5000 + "2")
    assert first != second
    assert first.startswith(letter * 20)
    assert max(len(first.encode()), len(second.encode())) <= 120
    assert file_name(letter * 30) == letter * 30


@pytest.mark.parametrize("letter", ["n", "名"])
def test_studies_with_long_names_have_their_figures(letter, folder):
    """As long as the names of files may be; an h5ad file may hold longer ones."""
    longest = 251 // len(letter.encode())
    names = [letter * (longest - 1) + end for end in "12"]
    for old, new in zip(PAIR, names, strict=True):
        Path(old).rename(f"{new}.csv")
    files = [f"{name}.csv" for name in names]
    arguments = ["--k", "3", *READING, *SMALL, *NO_NULL, "--agreement", "ari", "--figures", "svg", "--out", "out"]
    done = invoke("local", *files, *arguments)
    assert "can't be drawn" not in done.stderr
    drawn = [name for name in listed(folder / "out") if name.startswith("figures/")]
    assert sum(name.startswith(f"figures/local-{letter * 10}") for name in drawn) == 2


# ---------------------------------------------------------------------------------------------------------------------
# one run at a time

SLOW = """
import os, sys, time
from sklearn.cluster import AgglomerativeClustering

class Slow(AgglomerativeClustering):
    def fit_predict(self, X, y=None):
        open("begun", "w").close()
        while not os.path.exists("go on"):
            time.sleep(0.05)
        return super().fit_predict(X)
"""


@pytest.fixture
def slow_run(folder):
    """A run that works until it is told to go on."""
    (folder / "slow.py").write_text(SLOW)
    arguments = [str(argument).replace("ward", "slow.Slow") for argument in RUN]
    command = [sys.executable, "-m", "clustrep", *arguments, "--out", "out", "--force"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not Path("begun").exists() and process.poll() is None:
            time.sleep(0.05)
        yield process
        if process.poll() is None:
            process.kill()


@pytest.mark.parametrize(
    "existing", [pytest.param(False, id="new", marks=pytest.mark.slow), pytest.param(True, id="forced")]
)
def test_of_two_runs_into_one_folder_the_second_is_refused_at_once(existing, folder, request, monkeypatch):
    if existing:
        invoke(*RUN, "--out", "out", "--seed", "3")
    process = request.getfixturevalue("slow_run")
    forbid_reading(monkeypatch)
    done = invoke(*RUN, "--out", "out", "--force", code=2)
    assert re.fullmatch(
        rf"error: out is in use by another run \(process {process.pid} on .*\): wait until it ends, or name another "
        r"folder with --out\.\n",
        done.stderr,
    )
    if existing:  # which is whole until the other run is done
        assert "k" in invoke("report", "out", "--format", "markdown").stdout
        assert "is in use by another run" in invoke("report", "out", code=2).stderr
    Path("go on").touch()
    assert process.wait() == 0, process.stderr.read()
    assert listed(folder / "out") == FILES
    assert cr.load("out/result.npz").provenance.seed == 0


def test_a_killed_run_is_no_obstacle_to_the_next(folder, slow_run):
    slow_run.kill()
    slow_run.wait()
    assert [path.name for path in Path("out").iterdir()] == [".clustrep"]
    invoke(*RUN, "--out", "out")
    assert listed(folder / "out") == FILES


def test_results_that_appear_while_a_run_works_are_not_replaced(folder, slow_run):
    """By whatever does not care for locks."""
    invoke(*RUN, "--out", "other", "--seed", "3")
    for name in FILES:
        shutil.copy(Path("other", name), Path("out", name))
    Path("go on").touch()
    assert slow_run.wait() == 3
    assert contents(folder / "out") == contents(folder / "other")
    (rescued,) = folder.glob("out-rescued-*")
    said = slow_run.stderr.read().splitlines()[-1]
    assert said == (
        "error: Results can't be written to out (Another run has written its results to out in the meantime); "
        f"they are in {rescued}, for `clustrep report`."
    )
    assert listed(rescued) == FILES
    assert cr.load(rescued / "result.npz").provenance.seed == 0


# ---------------------------------------------------------------------------------------------------------------------
# nothing that was computed is lost

GREEDY = """
from sklearn.cluster import AgglomerativeClustering

class Greedy(AgglomerativeClustering):
    def fit_predict(self, X, y=None):
        with open("disk/filler", "ab", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass
        return super().fit_predict(X)
"""

LIMITED = """
import resource
from sklearn.cluster import AgglomerativeClustering

class Limited(AgglomerativeClustering):
    def fit_predict(self, X, y=None):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        return super().fit_predict(X)
"""


@pytest.fixture
def mounted(folder):
    """A way to mount a disk of its own as `disk`."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root may mount a disk")
    (folder / "disk").mkdir()

    def mount(settings):
        command = ["mount", "-t", "tmpfs", "-o", settings, "tmpfs", str(folder / "disk")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"a disk can't be mounted here: {done.stderr.strip()}")

    yield mount
    while os.path.ismount(folder / "disk"):
        subprocess.run(["umount", str(folder / "disk")], check=True)


@pytest.mark.parametrize("existing", [False, True], ids=["new", "forced"])
def test_when_the_disk_is_full_at_the_end_results_are_elsewhere(existing, folder, mounted):
    mounted("size=32m")
    if existing:
        invoke(*RUN, "--out", "disk/out", "--seed", "3")
    before = contents(folder / "disk")
    Path("greedy.py").write_text(GREEDY)
    arguments = [str(argument).replace("ward", "greedy.Greedy") for argument in RUN]
    done = process(*arguments, "--out", "disk/out", "--force", code=3)
    Path("disk/filler").unlink()
    assert contents(folder / "disk") == before
    (rescued,) = folder.glob("out-rescued-*")
    assert done.stderr.splitlines()[-1] == (
        "error: Results can't be written to disk/out (No space left on device); "
        f"they are in {rescued}, for `clustrep report`."
    )
    assert listed(rescued) == FILES
    invoke("report", rescued.name)
    assert done.stdout == f"{cr.Report(cr.load(rescued / 'result.npz'))!r}\n"


def test_where_no_place_has_room_for_the_page_the_result_is_saved(folder):
    Path("limited.py").write_text(LIMITED)
    arguments = [str(argument).replace("ward", "limited.Limited") for argument in RUN]
    done = process(*arguments, "--out", "out", code=3)
    (rescued,) = folder.glob("out-rescued-*")
    assert "error: Results can't be written to out (File too large); they are in " in done.stderr
    assert listed(rescued) == ["SHA256SUMS", "result.npz"]
    assert done.stdout == f"{cr.Report(cr.load(rescued / 'result.npz'))!r}\n"
    assert listed(folder / "out") == []


def test_a_folder_that_vanishes_takes_nothing_along(folder, slow_run):
    Path("out").rename("moved")
    Path("go on").touch()
    assert slow_run.wait() == 3
    (rescued,) = folder.glob("out-rescued-*")
    assert listed(rescued) == FILES
    assert str(rescued) in slow_run.stderr.read()


def test_a_disk_that_is_mounted_is_used(folder, mounted):
    """Whose folder can't be exchanged for another."""
    mounted("size=64m")
    invoke(*RUN, "--out", "disk", "--figures", "svg", "--k", "3", "--agreement", "ari")
    drawn = [name for name in listed(folder / "disk") if name.startswith("figures/")]
    assert sorted([*FILES, *drawn]) == listed(folder / "disk")
    (folder / "disk" / "notes.txt").write_text("mine")
    invoke(*RUN, "--out", "disk", "--force", "--seed", "1")
    assert listed(folder / "disk") == sorted([*FILES, "notes.txt"])
    invoke("report", "disk")


def test_figures_that_a_full_disk_cannot_hold_are_a_warning(folder, mounted, monkeypatch):
    mounted("size=32m")

    def fill(*_, **__):
        with open("disk/filler", "ab", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(4096))

    monkeypatch.setattr(cr.results.LocalReplicability, "plot", fill)
    done = invoke(*RUN, "--out", "disk/out", "--figures", "svg")
    assert "warning: The figure" in done.stderr
    Path("disk/filler").unlink()
    assert listed(folder / "disk/out") == FILES
    invoke("report", "disk/out")
