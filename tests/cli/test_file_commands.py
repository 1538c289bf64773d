"""Reports that are made again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.support import READING, RUN, SMALL, invoke


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
    assert done.stdout.startswith("# Which clusters hold up when someone else repeats the study\n")
    assert done.stderr == ""
    invoke("report", "deeper/moved", "--format", "markdown", "--out", "page.md")
    assert Path("page.md").read_text() == done.stdout.removesuffix("\n")
    assert json.loads(invoke("report", "deeper/moved", "--format", "json").stdout)["verdict"]
    done = invoke("report", "deeper/moved", "--out", "nowhere/page.html", code=3)
    assert "There is no folder nowhere to write page.html into." in done.stderr


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
