"""Reports that are made again."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.support import FILES, READING, RUN, SMALL, contents, invoke, listed


@pytest.fixture(scope="module")
def results(frames, tmp_path_factory):
    """The folder of a run."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, frame in frames.items():
            frame.to_csv(f"{name}.csv")
        invoke(*RUN, "--out", "out")
    return folder / "out"


@pytest.fixture
def finished(results, folder):
    """A copy of the folder of a run."""
    return Path(shutil.copytree(results, folder / "out"))


def test_the_report_is_made_again_wherever_the_folder_is(folder):
    invoke(*RUN, "--out", "out")
    page = Path("out/report.html").read_text()
    (folder / "deeper").mkdir()
    Path("out").rename("deeper/moved")
    Path("deeper/moved/report.html").unlink()
    done = invoke("report", "deeper/moved")
    assert (done.stdout, done.stderr) == ("", f"Wrote {Path('deeper/moved/report.html')}.\n")
    assert Path("deeper/moved/report.html").read_text() == page
    assert invoke("report", "deeper/moved", "--out", "-").stdout == f"{page}\n"
    done = invoke("report", "deeper/moved", "--format", "markdown")
    assert done.stdout.startswith("# Which clusters replicate across studies\n")
    assert done.stderr == ""
    invoke("report", "deeper/moved", "--format", "markdown", "--out", "page.md")
    assert Path("page.md").read_text() == done.stdout.removesuffix("\n")
    assert json.loads(invoke("report", "deeper/moved", "--format", "json").stdout)["verdict"]
    done = invoke("report", "deeper/moved", "--out", "nowhere/page.html", code=3)
    assert "There is no folder nowhere to write page.html into: make it first." in done.stderr


@pytest.mark.parametrize("command", ["stability", "test"])
def test_the_report_of_one_study_is_made_again_as_it_was(command, folder):
    arguments = {
        "stability": ["alpha.csv", "--k", "2:3", "--index", "jaccard", *SMALL],
        "test": ["beta.csv", "alpha.csv", "--simulations", "19", "--figures", "none"],
    }
    invoke(command, *arguments[command], *READING, "--out", "out")
    page = Path("out/report.html").read_text()
    invoke("report", "out")
    assert Path("out/report.html").read_text() == page


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_is_named_and_nothing_is_written(name, finished):
    path = finished / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-5] + bytes([whole[-5] ^ 4]) + whole[-4:])
    before = contents(finished)
    for arguments in (["report", finished], ["report", finished, "--format", "json"]):
        done = invoke(*arguments, code=3)
        said = "SHA256SUMS is damaged" if name == "SHA256SUMS" else f"is not as the run left it: {name} has changed."
        assert said in done.stderr
        assert done.stdout == ""
    assert contents(finished) == before


@pytest.mark.parametrize("place", range(0, 700, 23))
def test_any_change_of_the_list_of_checksums_is_found(place, finished):
    path = finished / "SHA256SUMS"
    whole = path.read_bytes()
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    assert "SHA256SUMS" in invoke("report", finished, "--format", "json", code=3).stderr
    path.write_bytes(whole[:place])
    assert "SHA256SUMS" in invoke("report", finished, "--format", "json", code=3).stderr


def test_files_of_two_runs_are_no_results(folder, finished):
    invoke(*RUN, "--out", "other", "--seed", "1")
    Path("other/result.npz").replace(finished / "result.npz")
    assert "result.npz has changed" in invoke("report", finished, code=3).stderr


@pytest.mark.parametrize("name", ["result.npz", "config.toml"])
def test_a_missing_file_that_is_needed_is_named(name, finished):
    (finished / name).unlink()
    assert f"{name} is missing" in invoke("report", finished, code=3).stderr


def test_files_that_are_not_needed_may_be_deleted(finished):
    for name in ("report.html", "choice.csv"):
        (finished / name).unlink()
    invoke("report", finished)
    assert (finished / "report.html").exists()


def test_a_folder_of_a_run_without_checksums_is_refused(finished):
    (finished / "SHA256SUMS").unlink()
    assert "has no SHA256SUMS, so its files can't be checked" in invoke("report", finished, code=3).stderr


def test_a_result_that_was_saved_alone_needs_no_list(folder, finished):
    (folder / "mine").mkdir()
    (finished / "result.npz").rename(folder / "mine" / "result.npz")
    invoke("report", "mine")
    assert listed(folder / "mine") == ["report.html", "result.npz"]


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum")
def test_other_programs_check_the_files_too(finished):
    (finished / "report.html").unlink()
    invoke("report", finished)
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=finished, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{name}: OK" for name in FILES if name != "SHA256SUMS"]


def test_a_report_completes_what_a_killed_run_had_ready(folder, finished):
    invoke(*RUN, "--out", "other", "--seed", "1")
    new = contents(folder / "other")
    ready = finished / ".clustrep" / "ready"
    ready.parent.mkdir(exist_ok=True)
    Path("other").rename(ready)
    for name in ("choice.csv", "result.npz"):  # which it had moved
        (ready / name).replace(finished / name)
    invoke("report", finished, "--format", "json")
    assert contents(finished) == new
