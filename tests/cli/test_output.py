"""The folder of results is written whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from click.testing import CliRunner
from tests.cli.support import FILES, PAIR, READING, RUN, SMALL, contents, forbid_reading, invoke, listed

import clustrep as cr
from clustrep.cli import clustrep
from clustrep.cli.output import file_name


@pytest.mark.parametrize(
    "arguments",
    [
        RUN,
        ["demo", *SMALL],
        ["local", *PAIR, *READING, *SMALL],
        ["gaps", *PAIR, *READING],
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
    assert done.stderr == ("error: out holds no results of clustrep, so --force does not replace what is in it.\n")
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
    plt.close("all")


def test_force_leaves_files_outside_the_folder_alone(folder):
    invoke(*RUN, "--out", "out")
    config = Path("out/config.toml")
    config.write_text(config.read_text().replace('"scores.csv"', '"../alpha.csv"'))
    invoke(*RUN, "--out", "out", "--force")
    assert Path("alpha.csv").exists()


def test_force_refuses_a_folder_with_someone_elses_config(folder):
    (folder / "site").mkdir()
    (folder / "site" / "config.toml").write_text('title = "My site"\n')
    CliRunner().invoke(clustrep, [*RUN, "--out", "site", "--force"])
    assert contents(folder / "site") == {"config.toml": b'title = "My site"\n'}


@pytest.mark.parametrize("out", ["empty", "nowhere/out"])
def test_a_place_that_cannot_be_written_to_is_found_before_the_work(out, folder, monkeypatch):
    forbid_reading(monkeypatch)
    (folder / "empty").mkdir()
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    done = invoke(*RUN, "--out", out, code=3)
    assert done.stderr.endswith(" can't be written to: name another folder with --out.\n")
    assert not Path("nowhere").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_found_before_the_work(folder, monkeypatch):
    forbid_reading(monkeypatch)
    (folder / "locked").mkdir(mode=0o555)
    done = invoke(*RUN, "--out", "locked/out", code=3)
    assert done.stderr == f"error: {folder / 'locked'} can't be written to: name another folder with --out.\n"


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
def test_failing_in_the_middle_of_writing_leaves_everything_as_it_was(existing, folder, monkeypatch):
    if existing:
        invoke(*RUN, "--out", "out")
    before, listing = contents(folder), sorted(os.listdir(folder))

    def broken(_):
        raise RuntimeError("oh")

    monkeypatch.setattr(cr.Report, "to_html", broken)
    done = invoke(*RUN, "--out", "out", "--seed", "5", "--force", code=1)
    assert "RuntimeError: oh" in done.stderr
    assert done.stdout == ""
    assert contents(folder) == before
    assert sorted(os.listdir(folder)) == listing


def test_a_figure_that_cannot_be_drawn_does_not_lose_the_results(folder, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no ink")

    monkeypatch.setattr(cr.results.Replicability, "plot", broken)
    done = invoke(*RUN, "--figures", "svg", "--out", "out")
    assert "warning: The figure pairs can't be drawn: RuntimeError: no ink.\n" in done.stderr
    assert {"result.npz", "report.html"} <= set(os.listdir("out"))
    assert Path("out/figures/curves-ari.svg").exists()


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
