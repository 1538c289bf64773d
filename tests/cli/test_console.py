"""What goes to the terminal, and what the exit code says."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.support import ANSI, FILES, PAIR, READING, RUN, SMALL, invoke, listed, write_ragged

import clustrep as cr
from clustrep.cli.program import clustrep


def on_a_terminal(*arguments, **variables):
    """Run a command whose stderr is a terminal; return what is to be seen there."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | variables
    command = [sys.executable, "-m", "clustrep", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as running:
        os.close(theirs)
        shown = b""
        while True:
            try:
                more = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            shown += more
    os.close(ours)
    return running.returncode, shown.decode()


def test_errors_are_red_on_a_terminal_unless_colour_is_not_wanted(folder):
    (folder / "out").write_text("a file")
    code, shown = on_a_terminal(*RUN, "--out", "out")
    assert code == 2
    assert shown.startswith(f"{ANSI}31m{ANSI}1merror:{ANSI}0m out is a file")
    code, shown = on_a_terminal(*RUN, "--out", "out", NO_COLOR="1")
    assert shown.startswith("error: out is a file")
    assert ANSI not in shown


def test_messages_without_a_terminal_have_no_colour_codes(folder):
    shown = invoke("inspect", "nofile.csv", code=3)
    assert ANSI not in shown.output
    shown = invoke(*RUN, "--k", "3", "--out", "alpha.csv", code=2)
    assert shown.stderr == "error: alpha.csv is a file: name a folder with --out.\n"


def test_no_colour_where_it_is_not_wanted(folder):
    arguments = [*RUN, "--out", "alpha.csv"]
    assert ANSI in invoke(*arguments, code=2, color=True).stderr
    assert ANSI not in invoke(*arguments, code=2, color=True, env={"NO_COLOR": "1"}).stderr
    assert ANSI in invoke(*arguments, code=2, color=True, env={"NO_COLOR": ""}).stderr  # empty is not set: no-color.org


def test_quiet_leaves_results_and_warnings(folder):
    (folder / "genes.txt").write_text("gene1\ngene2\ngene9\n")
    done = invoke(*RUN, "--quiet", "--features", "genes.txt")
    assert done.stderr == "warning: Not in all studies: 1 feature of genes.txt (gene9).\n"
    assert done.stdout.startswith("Inconclusive: ")  # two of three features, and no null model
    assert cr.load("clustrep-results/result.npz").warnings == ("Not in all studies: 1 feature of genes.txt (gene9).",)
    assert "gene9" in Path("clustrep-results/report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["inspect", "scale=2.csv"], "There is no file scale=2.csv."),
        ([*RUN, "--clusterer", "kmeans:n_clusters=3"], "--clusterer kmeans:n_clusters=3: the number"),
    ],
    ids=["file", "clusterer"],
)
def test_what_the_user_wrote_is_quoted_as_it_was(arguments, kept, folder):
    result = CliRunner().invoke(clustrep, arguments)
    assert kept in result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["runn"], "No such command 'runn'. Did you mean 'run'?"),
        (["run"], "name one file for each study; or try `clustrep demo`."),
        (["local"], "or try `clustrep demo`."),
        (["local", "alpha.csv"], "needs at least two studies: name two or more files"),
        (["stability"], "name one file, got 0"),
        (["stability", *PAIR], "name one file, got 2; for several studies there is `clustrep run`."),
        (
            ["stability", "alpha.csv", "--clusterer", "ward", "--clusterer", "kmeans"],
            "stability takes one --clusterer.",
        ),
        (["stability", "alpha.csv", "--index", "jacard"], "'jacard' is none of matching, inclusion, jaccard, r,"),
        (["test"], "name at least one file."),
        (["inspect"], "name at least one file."),
        (["report"], "Missing argument 'DIR'."),
        (
            ["local", *PAIR, "--k", "2:3"],
            "local follows one --clusterer with one --k; `clustrep run` compares several.",
        ),
        (["local", *PAIR, "--clusterer", "ward", "--clusterer", "kmeans"], "local follows one --clusterer"),
        (["local", *PAIR, *READING, *SMALL, "--k", "2", "--train", "alhpa"], "'alhpa'; there are alpha, beta"),
        ([*RUN, "--resampels", "3"], "No such option '--resampels'."),
        ([*RUN, "--resamples", "0"], "0 is not in the range x>=1."),
        ([*RUN, "--resamples", "x"], "'x' is not a valid whole number."),
        ([*RUN, "--seed", "-1"], "-1 is not in the range x>=0."),
        ([*RUN, "--null-collections", "18"], "18 is not in the range x>=19."),
        ([*RUN, "--scale", "minmax"], "'minmax' is not one of 'auto', 'none', 'pooled', 'study', 'reference=NAME'."),
        ([*RUN, "--agreement", "arii"], "'arii' is none of ari, ami, ami_max, ri, mi, prediction_strength, matching."),
        ([*RUN, "--agreement", ","], "name at least one of ari, ami, ami_max, ri, mi,"),
        ([*RUN, "--figures", "gif"], "'gif' is none of png, svg, pdf, none."),
        *(
            ([*RUN, "--k", numbers], "write numbers of clusters from 2 to 1,000, as 4, 2:8 or 2,3,5.")
            for numbers in ("1", "2:1001", "3:2", "2:8:2", "two", "", "2,,3")
        ),
        ([*RUN, "--clusterer", "kmaens"], "there is no clusterer 'kmaens'; there are kmeans, minibatch,"),
        ([*RUN, "--clusterer", "kmaens"], "Did you mean 'kmeans'?"),
        ([*RUN, "--clusterer", "ward"], "--clusterer ward came twice."),
        ([*RUN, "--no-label"], "--label and --no-label exclude each other."),
        ([*RUN, "--out", "alpha.csv"], "error: alpha.csv is a file: name a folder with --out."),
    ],
)
def test_a_command_that_is_not_understood_exits_with_2(arguments, sentence, folder):
    done = invoke(*arguments, code=2)
    assert sentence in " ".join(done.stderr.split())
    assert done.stdout == ""
    assert sorted(os.listdir(folder)) == ["alpha.csv", "beta.csv", "gamma.csv"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*RUN, "nofile.csv"], "There is no file nofile.csv."),
        ([*RUN, "alhpa.csv"], "Did you mean 'alpha.csv'?"),
        ([*RUN, "emtpy/alpha.csv"], "there is no folder emtpy. Check the path. Did you mean 'empty'"),
        ([*RUN, "--features", "ohter.txt"], "or make it readable. Did you mean 'other.txt'?"),
        (["report", "damagde"], "name the folder that a run wrote. Did you mean 'damaged'?"),
        (
            ["run", *PAIR, *SMALL],
            "Leave columns of text out, or use --label 'subtype' if that is the samples' known class, --study-key",
        ),
        (["run", *PAIR, *SMALL, "--label", "subtyp"], "subtyp"),
        ([*RUN, "bad.csv"], "bad.csv"),
        (
            [*RUN, "--features", "nofile.txt"],
            "The list of features nofile.txt can't be read: No such file or directory. Name another file",
        ),
        ([*RUN, "--features", "empty.txt"], "The list of features empty.txt is empty: write one name on each line."),
        ([*RUN, "--features", "binary.txt"], "The list of features binary.txt is not text in UTF-8: save it again"),
        (
            [*RUN, "--features", "other.txt"],
            "None of the 2 features that other.txt lists (ESR1, ERBB2) is shared by the studies, which have gene1,",
        ),
        (["report", "nofolder"], "There is no folder nofolder: name the folder that a run wrote."),
        (["report", "empty"], "empty holds no result.npz: name the folder that a run wrote."),
        (["report", "damaged"], "is not a result that clustrep saved, or is damaged: run it again."),
    ],
)
def test_data_that_cannot_be_used_exit_with_3(arguments, sentence, folder):
    write_ragged(folder)
    (folder / "empty.txt").write_text("\n# nothing\n")
    (folder / "binary.txt").write_bytes(b"\xff\xfe\x00")
    (folder / "other.txt").write_text("ESR1\nERBB2\n")
    (folder / "empty").mkdir()
    (folder / "damaged").mkdir()
    (folder / "damaged" / "result.npz").write_bytes(b"PK")
    before = sorted(os.listdir(folder))
    done = invoke(*arguments, code=3)
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert sentence in done.stderr
    assert done.stdout == ""
    assert sorted(os.listdir(folder)) == before


def test_our_own_mistake_is_one_sentence_unless_debugging(folder, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("oh")

    monkeypatch.setattr("clustrep.analysis.analyse.find_clusters", broken)
    done = invoke(*RUN, code=1)
    assert done.stderr.splitlines()[-1] == (
        "error: Internal error in clustrep: RuntimeError: oh. Please report it, with what CLUSTREP_DEBUG=1 prints."
    )
    assert not Path("clustrep-results").exists()
    result = CliRunner().invoke(clustrep, RUN, env={"CLUSTREP_DEBUG": "1"})
    assert isinstance(result.exception, RuntimeError)


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (MemoryError(), 3, "error: There is not enough memory: use fewer features (--features) or samples."),
        (OSError(28, "No space left on device", "x.npz"), 3, "error: A file can't be used: x.npz: No space left on"),
    ],
    ids=["interrupt", "memory", "disk"],
)
def test_what_may_happen_on_the_way_has_its_sentence(error, code, sentence, folder, monkeypatch):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr("clustrep.analysis.analyse.find_clusters", broken)
    assert sentence in invoke(*RUN, code=code).stderr
    assert sorted(os.listdir(folder)) == ["alpha.csv", "beta.csv", "gamma.csv"]


def test_a_k_that_resamples_do_not_have_is_an_exit_code(folder):
    """A bootstrap resample of 30 has about 19 different points."""
    done = invoke(*RUN[:3], "--k", "3,19", *RUN[5:], code=4)
    assert "warning: " in done.stderr
    assert listed(folder / "clustrep-results") == FILES
    invoke(*RUN[:3], "--k", "3,19", *RUN[5:], "--allow-failures", "--force")
    arguments = ["stability", "alpha.csv", "--k", "3,19", "--index", "jaccard", *READING, *SMALL]
    invoke(*arguments, code=4)
    invoke(*arguments, "--allow-failures", "--force")
