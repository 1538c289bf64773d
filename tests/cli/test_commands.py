"""The command line: data to stdout, words to stderr, an exit code that means something, a folder written whole."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import clustrep as cr
from clustrep.cli import clustrep, commands
from clustrep.cli.clusterers import SHORT_NAMES, clusterer_of, value_of
from clustrep.cli.output import file_name
from clustrep.errors import ParameterError

COMMANDS = ["run", "demo", "local", "stability", "test", "report", "inspect"]
READING = ["--label", "subtype"]
SMALL = ["--clusterer", "ward", "--resamples", "4", "--figures", "none", "--jobs", "1"]
NULL = ["--null-collections", "19"]
NO_NULL = ["--null", "none"]
PAIR = ["alpha.csv", "beta.csv"]
RUN = ["run", *PAIR, "--k", "2:3", *READING, *SMALL, *NO_NULL]
FILES = ["choice.csv", "clusters.csv", "config.toml", "local.csv", "report.html", "result.npz", "scores.csv"]
ANSI = "\x1b["


@pytest.fixture(scope="session")
def frames():
    """Three small cohorts with three subtypes in a column."""
    studies = cr.datasets.simulate_cohorts(
        n_cohorts=3, n_samples=30, n_subtypes=3, n_features=3, missing={}, shifted={}, rng=3
    )
    made = {}
    for name, study in studies.items():
        made[name] = study.to_frame().rename_axis("sample")
        made[name].insert(0, "subtype", study.labels)
    return made


@pytest.fixture
def folder(frames, tmp_path, monkeypatch):
    """The cohorts as files, in the folder that commands run in."""
    for name, frame in frames.items():
        frame.to_csv(tmp_path / f"{name}.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("CLUSTREP_DEBUG", raising=False)
    return tmp_path


def invoke(*arguments, code=0, **options):
    """Run a command within this process."""
    result = CliRunner().invoke(clustrep, [str(one) for one in arguments], **options)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def process(*arguments, code=0, **options):
    """Run a command as a process."""
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    done = subprocess.run([sys.executable, "-m", "clustrep", *map(str, arguments)], check=False, **options)
    assert done.returncode == code, done.stderr
    return done


def contents(path):
    """All files below a folder, and what is in them."""
    return {one.relative_to(path).as_posix(): one.read_bytes() for one in path.rglob("*") if one.is_file()}


def listed(path):
    return sorted(contents(path))


# ---------------------------------------------------------------------------------------------------------------------
# every command as a process


def test_the_version_is_told_at_once():
    """Whatever is heavy is imported by the command that needs it."""
    heavy = ["numpy", "pandas", "scipy", "sklearn", "numba", "matplotlib", "joblib", "jinja2", "plotly", "tqdm"]
    code = (
        "import sys, clustrep.cli as cli\n"
        "try:\n    cli.clustrep(['--version'], prog_name='clustrep')\n"
        "except SystemExit as end:\n    assert not end.code\n"
        f"print(sorted(set({heavy!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"clustrep {cr.__version__}\n[]\n"
    assert done.stderr == ""


def test_run_as_a_process(folder):
    """Data to stdout, messages to stderr, no bar where nobody looks at a terminal."""
    done = process("run", *PAIR, "gamma.csv", "--k", "2:3", *READING, *SMALL, *NULL, "--out", "out")
    assert done.stdout.startswith("ward, k = 3 replicates best: ARI ")
    assert "Results are in" not in done.stdout
    assert done.stderr.splitlines() == [
        "Studies: 3 studies, 3 shared features",
        *(f"  {name:<5}  30 samples, known labels A, B, C" for name in ("alpha", "beta", "gamma")),
        f"Results are in out; open {Path('out', 'report.html')} in a browser.",
    ]
    assert listed(folder / "out") == FILES
    assert sorted(os.listdir(folder)) == ["alpha.csv", "beta.csv", "gamma.csv", "out"]
    found = cr.load(folder / "out" / "result.npz")
    assert done.stdout == f"{cr.Report(found)!r}\n"
    for name, frame in (("scores", found.scores()), ("local", found.samples()), ("clusters", found.clusters())):
        assert pd.read_csv(folder / "out" / f"{name}.csv").columns.tolist() == frame.columns.tolist()
        assert (folder / "out" / f"{name}.csv").read_text() == frame.to_csv(index=False)


def test_demo_as_a_process(folder):
    done = process("demo", "--k", "4", *SMALL, *NO_NULL, "--agreement", "ari", "--json")
    said = json.loads(done.stdout)
    assert said["subtitle"] == "alpha, beta, gamma, delta: 480 samples"
    out = folder / "clustrep-demo"
    assert listed(out) == sorted([*FILES, *(f"data/{name}.csv" for name in ("alpha", "beta", "gamma", "delta"))])
    cohorts = cr.datasets.simulate_cohorts(rng=1)
    again = cr.Studies.read(*(out / "data" / f"{name}.csv" for name in cohorts.names), label="subtype")
    for name, study in cohorts.items():
        np.testing.assert_array_equal(again[name].X, study.X)
        assert again[name].labels.tolist() == study.labels.tolist()


def test_local_stability_test_and_inspect_as_processes(folder):
    done = process(
        "local", *PAIR, "--clusterer", "kmeans", "--k", "3", *READING, "--train", "beta", *SMALL[2:], *NO_NULL
    )
    assert "beta: the weakest of 3 clusters is " in done.stdout
    assert "alpha: " not in done.stdout
    assert set(pd.read_csv("clustrep-local/clusters.csv")["train"]) == {"beta"}
    done = process(
        "stability", "alpha.csv", "--k", "2:3", "--index", "jaccard,test", *READING, *SMALL, "--splits", "2", "--quiet"
    )
    assert done.stdout.startswith("ward: best are k = ")
    assert done.stderr == ""
    assert listed(folder / "clustrep-stability") == ["config.toml", "indices.csv", "report.html", "result.npz"]
    done = process("test", *PAIR, *READING, "--simulations", "19", "--figures", "none", "--jobs", "1")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["alpha", "beta"]
    assert done.stderr == ""
    assert sorted(os.listdir(folder)) == [
        "alpha.csv",
        "beta.csv",
        "clustrep-local",
        "clustrep-stability",
        "gamma.csv",
    ]
    done = process("inspect", *PAIR, *READING)
    assert done.stdout.startswith("study alpha: 30 samples (alpha1, alpha2, alpha3, …), 3 features (gene1,")
    assert done.stderr == ""


def test_h5ad_and_parquet_as_processes(frames, folder):
    pytest.importorskip("pyarrow")
    anndata = pytest.importorskip("anndata")
    whole = pd.concat([frame.assign(donor=name) for name, frame in frames.items()])
    values = whole.drop(columns=["subtype", "donor"])
    cells = anndata.AnnData(np.zeros((90, 2)), obs=whole[["subtype", "donor"]], obsm={"X_pca": values.to_numpy()})
    cells.write_h5ad(folder / "cells.h5ad")
    options = ["--k", "3", *SMALL, *NO_NULL, *READING]
    process("run", "cells.h5ad", "--study-key", "donor", "--rep", "X_pca", "--out", "cells", *options)
    for name in ("alpha", "beta", "gamma"):
        frames[name].to_parquet(folder / f"{name}.parquet")
    process("run", *(f"{name}.parquet" for name in frames), "--out", "parquet", *options)
    invoke("run", *PAIR, "gamma.csv", "--out", "csv", *options)
    for name in ("cells", "parquet"):
        assert (folder / name / "scores.csv").read_bytes() == (folder / "csv" / "scores.csv").read_bytes()


# Heeds interrupts also where they are ignored, as in jobs in the background.
HEEDING = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"


def test_an_interrupt_leaves_nothing(folder):
    """One sentence, no traceback, no folder, whole or temporary."""
    command = [sys.executable, "-m", "clustrep", *RUN, "--resamples", "1000000"]
    running = subprocess.Popen(
        [sys.executable, "-c", HEEDING, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        first = running.stderr.readline()  # everything is imported and read
        time.sleep(2)
        os.killpg(running.pid, signal.SIGINT)
        stdout, stderr = running.communicate(timeout=60)
    finally:
        running.kill()
        running.wait()
    assert first.startswith("Studies: ")
    assert running.returncode == 130
    assert stdout == ""
    assert stderr.splitlines()[-1] == "Interrupted."
    assert "Traceback" not in stderr
    assert sorted(os.listdir(folder)) == ["alpha.csv", "beta.csv", "gamma.csv"]


def test_a_reader_that_has_gone_is_no_error(folder):
    invoke(*RUN, "--out", "out")
    command = f"{sys.executable} -m clustrep report out --format html --out - | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "<!doctype html>\n", "")


MOODY = """
import numpy as np

class Moody:
    def __init__(self, limit=0.0):
        self.limit = limit

    def fit_predict(self, X):
        if X[0, 0] < self.limit:
            raise RuntimeError("not today")
        return (X[:, 0] > X[:, 0].mean()).astype(int)
"""


def test_some_failed_replicates_are_an_exit_code(folder, monkeypatch):
    (folder / "moods").mkdir()
    (folder / "moods" / "moody.py").write_text(MOODY)
    arguments = ["run", *PAIR, *READING, *SMALL[2:], *NO_NULL, "--clusterer", "moody.Moody:limit=-1"]
    paths = [str(folder / "moods"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = process(*arguments, "--out", "out", code=4, env=environment)
    assert "RuntimeError: not today" in done.stderr.split("warning: ")[1]
    assert "omitted: RuntimeError: not today (" in done.stdout.splitlines()[-1]
    assert listed(folder / "out") == FILES
    monkeypatch.syspath_prepend(folder / "moods")
    invoke(*arguments, "--out", "again", "--allow-failures")
    assert contents(folder / "out") == contents(folder / "again")
    assert cr.load("out/result.npz").warnings
    assert cr.load("out/result.npz").failures


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


# ---------------------------------------------------------------------------------------------------------------------
# help, words and colours


def test_help_names_every_command():
    for flag in ("--help", "-h"):
        shown = invoke(flag).stdout
        assert all(f"\n  {name} " in shown for name in COMMANDS)
        assert "clustrep demo" in shown
    assert sorted(clustrep.commands) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_an_example_that_is_understood(name):
    shown = invoke(name, "--help").stdout
    assert shown.startswith(f"Usage: clustrep {name} ")
    assert all(option.help or option.name in ("null", "kind") for option in clustrep.commands[name].params[1:])
    if name == "demo":  # needs nothing: its name is the example
        return
    example = shown.split("Example:\n", 1)[1].splitlines()[0].split(">")[0].split()
    assert example[:2] == ["clustrep", name]
    clustrep.commands[name].make_context(name, example[2:])


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


def test_json_is_everything_but_the_charts(folder):
    done = invoke(*RUN, "--json", "--quiet")
    said = json.loads(done.stdout)
    assert done.stderr == ""
    assert [one["kind"] for one in said["verdict"]][:2] == ["best", "studies"]
    assert [one["id"] for one in said["sections"]] == ["data", "choice", "pairs", "clusters", "map"]
    assert all("charts" not in one for one in said["sections"])
    assert "2 and 3 clusters" in said["methods"][0]
    assert done.stdout == invoke("report", "clustrep-results", "--format", "json").stdout


def test_quiet_leaves_results_and_warnings(folder):
    (folder / "genes.txt").write_text("gene1\ngene2\ngene9\n")
    done = invoke(*RUN, "--quiet", "--features", "genes.txt")
    assert done.stderr == "warning: 1 feature of genes.txt is not in all studies: gene9.\n"
    assert done.stdout.startswith("ward, k = ")
    assert cr.load("clustrep-results/result.npz").warnings == ("1 feature of genes.txt is not in all studies: gene9.",)
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


# ---------------------------------------------------------------------------------------------------------------------
# exit codes


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["runn"], "No such command 'runn'. Did you mean 'run'?"),
        (["run"], "name two or more files, one for each study; or try `clustrep demo`."),
        (["local"], "or try `clustrep demo`."),
        (["run", "alpha.csv"], "one study can't be compared with itself: name two or more files"),
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
        ([*RUN, "--scale", "minmax"], "'minmax' is not one of 'none', 'zscore', 'robust'."),
        ([*RUN, "--agreement", "arii"], "'arii' is none of ari, ami, ami_max, ri, mi, prediction_strength, matching."),
        ([*RUN, "--agreement", ","], "name at least one of ari, ami, ami_max, ri, mi, prediction_strength, matching."),
        ([*RUN, "--figures", "gif"], "'gif' is none of png, svg, pdf, none."),
        ([*RUN, "--k", "1"], "'1': the number of clusters lies between 2 and 1,000."),
        ([*RUN, "--k", "2:1001"], "the number of clusters lies between 2 and 1,000."),
        ([*RUN, "--k", "3:2"], "'3:2' is no number of clusters: write 4, 2:8 or 2,3,5."),
        ([*RUN, "--k", "2:8:2"], "'2:8:2' is no number of clusters: write 4, 2:8 or 2,3,5."),
        ([*RUN, "--k", "two"], "'two' is no number of clusters: write 4, 2:8 or 2,3,5."),
        ([*RUN, "--k", ""], "'' is no number of clusters: write 4, 2:8 or 2,3,5."),
        ([*RUN, "--k", "2,,3"], "'' is no number of clusters"),
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


def test_no_jobs_are_no_choice(folder):
    assert "--jobs" in invoke(*RUN, "--jobs", "0", code=2).stderr


@pytest.mark.parametrize(
    ("text", "numbers"), [("4", (4,)), ("2:4", (2, 3, 4)), ("2,5,3", (2, 5, 3)), ("2:3,3:4, 9", (2, 3, 4, 9))]
)
def test_numbers_of_clusters_as_they_are_written(text, numbers):
    context = clustrep.commands["run"].make_context("run", ["a", "b", "--k", text])
    assert context.params["k"] == numbers


def write_ragged(folder):
    (folder / "bad.csv").write_text("a,b\n1,2\n3\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*RUN, "nofile.csv"], "There is no file nofile.csv."),
        (["run", *PAIR, *SMALL], "Leave it out, or use --label 'subtype' if that is the samples' known class."),
        (["run", *PAIR, *SMALL, "--label", "subtyp"], "subtyp"),
        ([*RUN, "bad.csv"], "bad.csv"),
        (
            [*RUN, "--features", "nofile.txt"],
            "The list of features nofile.txt can't be read: No such file or directory",
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
        ([*RUN, "--clusterer", "dbscan:eps=1e-9", "--noise", "drop", "--k", "40"], "Not one resample could be scored"),
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

    monkeypatch.setattr("clustrep.across.analyse.compare", broken)
    done = invoke(*RUN, code=1)
    assert done.stderr.splitlines()[-1] == (
        "error: This is a mistake in clustrep, not in your data: RuntimeError: oh. "
        "Please report it, with what CLUSTREP_DEBUG=1 makes it print."
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

    monkeypatch.setattr("clustrep.across.analyse.compare", broken)
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


# ---------------------------------------------------------------------------------------------------------------------
# the folder


@pytest.mark.parametrize(
    "arguments",
    [
        RUN,
        ["demo", *SMALL],
        ["local", *PAIR, *READING, *SMALL],
        ["stability", "alpha.csv", *READING],
        ["test", "alpha.csv"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_folder_with_something_in_it_is_refused_before_any_work(arguments, folder, monkeypatch):
    for name in ("analyse", "validate", "cluster_test"):
        monkeypatch.setattr(cr, name, None, raising=False)
    monkeypatch.setattr(commands, "_read", None)
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
    monkeypatch.setattr(commands, "_read", None)
    (folder / "empty").mkdir()
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    done = invoke(*RUN, "--out", out, code=3)
    assert done.stderr.endswith(" can't be written to: name another folder with --out.\n")
    assert not Path("nowhere").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_found_before_the_work(folder, monkeypatch):
    monkeypatch.setattr(commands, "_read", None)
    (folder / "locked").mkdir(mode=0o555)
    done = invoke(*RUN, "--out", "locked/out", code=3)
    assert done.stderr == f"error: {folder / 'locked'} can't be written to: name another folder with --out.\n"


def test_a_file_on_the_way_to_the_folder_is_found_before_the_work(folder, monkeypatch):
    def work(*_, **__):
        pytest.fail("the work had begun")

    monkeypatch.setattr(commands, "_read", work)
    assert "alpha.csv is a file" in invoke(*RUN, "--out", "alpha.csv/out", code=2).stderr


@pytest.mark.parametrize("out", [".", "link"])
def test_an_empty_folder_is_used_by_any_of_its_names(out, folder, monkeypatch):
    (folder / "out").mkdir()
    (folder / "link").symlink_to("out")
    arguments = [str(folder / one) if one in PAIR else one for one in RUN]
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


# ---------------------------------------------------------------------------------------------------------------------
# options from a file


def test_a_run_is_repeated_from_its_own_folder(folder):
    (folder / "genes.txt").write_text("gene3\ngene1\n")
    invoke(
        "run", *PAIR, "--k", "3,2", *READING, "--clusterer", "kmeans:n_init=2", *SMALL, *NULL, "--seed", "7",
        "--features", "genes.txt", "--scale", "robust", "--out", "one",
    )  # fmt: skip
    invoke("run", "--config", "one/config.toml", "--out", "two", "--jobs", "1")
    assert listed(folder / "one") == FILES
    assert contents(folder / "one") == contents(folder / "two")
    written = tomllib.loads(Path("one/config.toml").read_text())
    assert written["studies"] == ["../alpha.csv", "../beta.csv"]
    assert written["features"] == "../genes.txt"
    assert written["made"]["files"] == FILES
    assert sorted(written["made"]["data"]) == ["alpha", "beta"]
    assert written["made"]["versions"]["clustrep"] == cr.__version__
    assert not {"out", "force", "json", "config", "quiet", "jobs", "allow-failures"} & set(written)


def test_a_run_that_is_repeated_tells_what_has_changed(folder):
    invoke(*RUN, "--out", "one")
    assert "warning" not in invoke("run", "--config", "one/config.toml", "--out", "two", "--jobs", "1").stderr
    frame = pd.read_csv("beta.csv", index_col=0)
    frame.iloc[0, -1] += 1
    frame.to_csv("beta.csv")
    config = Path("one/config.toml")
    config.write_text(config.read_text().replace(f'clustrep = "{cr.__version__}"', 'clustrep = "0.0.1"'))
    said = invoke("run", "--config", "one/config.toml", "--out", "three", "--jobs", "1").stderr
    assert "warning: Not as in the run that the configuration tells of: the data of beta.\n" in said
    assert f"warning: The configuration is of a run with clustrep 0.0.1; this is {cr.__version__}.\n" in said


def test_a_figure_that_cannot_be_drawn_does_not_lose_the_results(folder, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no ink")

    monkeypatch.setattr(cr.results.Replicability, "plot", broken)
    done = invoke(*RUN, "--figures", "svg", "--out", "out")
    assert "warning: The figure pairs can't be drawn: RuntimeError: no ink.\n" in done.stderr
    assert {"result.npz", "report.html"} <= set(os.listdir("out"))
    assert Path("out/figures/curves-ari.svg").exists()


def test_the_agreement_that_decides_is_corrected_for_chance(folder):
    assert "must be one that is 0 by chance: ari, ami, ami_max" in invoke(*RUN, "--agreement", "ri,ari", code=2).stderr


def test_files_are_found_from_the_folder_of_the_configuration(folder, monkeypatch):
    invoke(*RUN, "--out", "one")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    invoke("run", "--config", "../one/config.toml", "--out", "../two", "--jobs", "1")
    assert contents(folder / "one") == contents(folder / "two")


def test_the_number_of_jobs_changes_nothing(folder):
    """Not even in a file."""
    for jobs in ("1", "2"):
        invoke("run", *PAIR, "--k", "2:3", *READING, *SMALL[:-2], *NULL, "--jobs", jobs, "--out", f"out{jobs}")
    assert contents(folder / "out1") == contents(folder / "out2")


@pytest.fixture
def chosen(monkeypatch):
    """What `run` was asked for, instead of doing it."""
    caught = {}
    monkeypatch.setattr(commands, "_whole_analysis", lambda _, options, **__: caught.update(options))
    return caught


EVERY_OPTION = """
studies = ["a.csv", "deeper/b.csv"]
k = "2:3"
clusterer = ["ward", "dbscan:eps=0.3"]
noise = "drop"
resamples = 7
agreement = ["ami"]
label = "subtype"
no-label = false
features = "genes.txt"
scale = "zscore"
transpose = true
transpose-only = ["a"]
header = false
study-key = "donor"
rep = "X_pca"
null = "copula"
null-collections = 39
embedding = "tsne"
figures = ["svg", "pdf"]
out = "there"
force = true
allow-failures = true
seed = 3
jobs = 2
json = true
quiet = true
"""


def test_every_option_can_be_given_in_a_file(folder, chosen):
    (folder / "options").mkdir()
    (folder / "options" / "all.toml").write_text(EVERY_OPTION)
    invoke("run", "--config", "options/all.toml")
    assert chosen.pop("config") == Path("options/all.toml")
    assert chosen == {
        "studies": (Path("options/a.csv"), Path("options/deeper/b.csv")),
        "k": (2, 3),
        "clusterer": ("ward", "dbscan:eps=0.3"),
        "noise": "drop",
        "resamples": 7,
        "agreement": ("ami",),
        "label": "subtype",
        "no_label": False,
        "features": Path("options/genes.txt"),
        "scale": "zscore",
        "transpose": True,
        "transpose_only": ("a",),
        "header": False,
        "study_key": "donor",
        "rep": "X_pca",
        "null": "copula",
        "null_collections": 39,
        "embedding": "tsne",
        "figures": ("svg", "pdf"),
        "out": Path("options/there"),
        "force": True,
        "allow_failures": True,
        "seed": 3,
        "jobs": 2,
        "json": True,
        "quiet": True,
    }
    assert set(chosen) == {one.name for one in clustrep.commands["run"].params} - {"config"}


def test_the_command_line_wins_over_the_file(folder, chosen):
    (folder / "all.toml").write_text(EVERY_OPTION)
    invoke(
        "run", *PAIR, "--config", "all.toml", "--k", "5", "--clusterer", "gmm", "--seed", "0", "--header",
        "--figures", "none", "--features", "mine.txt", "--null", "none", "--scale", "none",
    )  # fmt: skip
    assert chosen["studies"] == (Path("alpha.csv"), Path("beta.csv"))
    assert (chosen["k"], chosen["clusterer"], chosen["seed"], chosen["header"]) == ((5,), ("gmm",), 0, True)
    assert (chosen["figures"], chosen["features"]) == (("none",), Path("mine.txt"))
    assert (chosen["null"], chosen["scale"], chosen["resamples"]) == ("none", "none", 7)


@pytest.mark.parametrize(
    ("line", "arguments"), [("label = false", ["--label", "subtype"]), ('label = "gene1"', ["--no-label"])]
)
def test_the_command_line_wins_over_the_files_label(line, arguments, folder):
    (folder / "some.toml").write_text(line)
    for name in ("c.csv", "d.csv"):
        frame = pd.read_csv("alpha.csv", index_col=0)
        (frame.drop(columns="subtype") if arguments == ["--no-label"] else frame).to_csv(name)
    result = CliRunner().invoke(
        clustrep, ["run", "c.csv", "d.csv", "--config", "some.toml", *arguments, "--k", "3", *SMALL, *NO_NULL]
    )
    assert result.exit_code == 0, result.stderr


def test_label_false_is_no_label(folder, frames):
    for name in PAIR:
        frame = frames[name[:-4]]
        frame.assign(subtype=frame["subtype"].map({"A": 0, "B": 1, "C": 2})).to_csv(folder / name)
    arguments = ["run", *PAIR, "--k", "3", *SMALL, *NO_NULL]
    assert "--no-label" in invoke(*arguments, code=3).stderr
    invoke(*arguments, "--no-label", "--out", "one")
    assert tomllib.loads(Path("one/config.toml").read_text())["label"] is False
    invoke("run", "--config", "one/config.toml", "--jobs", "1", "--out", "two")
    assert contents(folder / "one") == contents(folder / "two")
    assert cr.load("one/result.npz").provenance["studies"]["alpha"]["features"] == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("resampels = 3", "some.toml sets 'resampels', which is no option. Did you mean 'resamples'?"),
        ("null_colections = 3", "Did you mean 'null_collections'?"),
        ('config = "more.toml"', "some.toml sets 'config', which is no option."),
        ('command = "stability"', "some.toml is for `clustrep stability`, not for `clustrep run`."),
        ("k = ", "some.toml is not TOML: Invalid value"),
        ("\udcff", "some.toml is not text in UTF-8: save it again with that encoding."),
        ("[k]\na = 1", "some.toml: 'k' is a table, but an option is a value or a list."),
        ("null-collections = 3", "some.toml: 'null-collections': 3 is not in the range x>=19."),
        ('scale = "minmax"', "some.toml: 'scale': 'minmax' is not one of 'none', 'zscore', 'robust'."),
        ("k = 1", "some.toml: 'k': '1': the number of clusters lies between 2 and 1,000."),
    ],
)
def test_a_file_of_options_that_is_wrong_gets_its_sentence(text, sentence, folder):
    (folder / "some.toml").write_bytes(text.encode(errors="surrogateescape"))
    done = invoke(*RUN[:3], "--config", "some.toml", code=2)
    assert sentence in " ".join(done.stderr.split())


def test_a_file_of_options_that_is_not_there(folder):
    done = invoke(*RUN, "--config", "none.toml", code=2)
    assert "none.toml can't be read: No such file or directory." in done.stderr


@pytest.mark.parametrize("line", ["resamples = 4.5", "seed = true", "label = true", "features = 3", "out = 3"])
def test_a_value_of_the_wrong_type_is_named(line, folder, chosen):
    (folder / "some.toml").write_text(line)
    result = CliRunner().invoke(clustrep, ["run", *PAIR, "--config", "some.toml"])
    assert result.exit_code == 2, result.stderr
    assert line.split()[0] in result.stderr


@pytest.mark.parametrize("line", ['clusterer = "gmm"', 'transpose-only = "alpha"'])
def test_one_value_needs_no_list(line, folder, chosen):
    (folder / "some.toml").write_text(line)
    result = CliRunner().invoke(clustrep, ["run", *PAIR, "--config", "some.toml"])
    assert result.exit_code == 0, result.stderr


# ---------------------------------------------------------------------------------------------------------------------
# clusterers

BUILT = {
    "kmeans": ("KMeans", {"n_init": 10}),
    "minibatch": ("MiniBatchKMeans", {"n_init": 3}),
    "birch": ("Birch", {}),
    "ward": ("AgglomerativeClustering", {"linkage": "ward"}),
    "complete": ("AgglomerativeClustering", {"linkage": "complete"}),
    "average": ("AgglomerativeClustering", {"linkage": "average"}),
    "single": ("AgglomerativeClustering", {"linkage": "single"}),
    "gmm": ("GaussianMixture", {}),
    "dbscan": ("DBSCAN", {}),
    "hdbscan": ("HDBSCAN", {}),
    "spectral": ("SpectralClustering", {}),
    "affinity": ("AffinityPropagation", {}),
}


@pytest.mark.parametrize("name", SHORT_NAMES)
def test_every_short_name_builds_what_it_says(name, rng):
    kind, parameters = BUILT[name]
    made = clusterer_of(name)
    assert type(made).__name__ == kind
    assert {key: made.get_params()[key] for key in parameters} == parameters
    assert len(made.fit_predict(rng.normal(size=(30, 2)))) == 30
    assert name in next(one.help for one in clustrep.commands["run"].params if one.name == "clusterer")


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("-3", -3), ("0.3", 0.3), ("1e-3", 1e-3), ("true", True), ("False", False), ("None", None), ("x", "x")],
)
def test_parameters_have_types(text, value):
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


def test_parameters_reach_the_clusterer():
    made = clusterer_of("dbscan: eps = 0.3 , min_samples=7,metric=cityblock,p=none,")
    assert {"eps": 0.3, "min_samples": 7, "metric": "cityblock", "p": None}.items() <= made.get_params().items()
    assert clusterer_of("sklearn.cluster.MeanShift:bin_seeding=true").bin_seeding is True
    assert clusterer_of("kmeans:n_init=4").n_init == 4
    assert SHORT_NAMES["kmeans"][2] == {"n_init": 10}


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("kmeans:n_init=0", "The 'n_init' parameter of KMeans must be a str among {'auto'} or an int in the range"),
        (
            "dbscan:eps=high",
            "The 'eps' parameter of DBSCAN must be a float in the range (0.0, inf). Got 'high' instead.",
        ),
        ("ward:linkage=wrad", "The 'linkage' parameter of AgglomerativeClustering must be a str among"),
        ("kmeans:n_clusters=3", "kmeans:n_clusters=3: the number of clusters is set by --k."),
        ("gmm:n_components=3", "the number of clusters is set by --k."),
        ("kmeans:n_ini=1", "KMeans has no parameter 'n_ini'. Did you mean 'n_init'?"),
        ("kmeans:n_init", "write parameters as name=value, got 'n_init'."),
        ("kmeans:=3", "write parameters as name=value, got '=3'."),
        ("DBSCAN", "there is no clusterer 'DBSCAN'; .* Did you mean 'dbscan'?"),
        ("collections.OrderedDict", "collections.OrderedDict is not a clusterer: it has no fit_predict."),
        ("sklearn.cluster.k_means", "is not a clusterer: it has no fit_predict."),
        ("sklearn.cluster.Kmeans", "module 'sklearn.cluster' has no 'Kmeans'."),
        ("no.such.Thing", "there is no module 'no.such' to import."),
        (".Thing", "'' can't be imported: ValueError: Empty module name."),
    ],
)
def test_an_impossible_clusterer_is_named_before_the_run(spec, sentence):
    pattern = sentence.replace("(", r"\(").replace(")", r"\)").replace("{", r"\{").replace("?", r"\?")
    with pytest.raises(ParameterError, match=pattern) as caught:
        clusterer_of(spec)
    assert str(caught.value).startswith(f"--clusterer {spec}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import no_such_module", "no_such_module"),
        ("raise RuntimeError('oh')", "oh"),
        (
            "class Mine:\n    def __init__(self):\n        raise ValueError('oh')\n    def fit_predict(self, X): ...",
            "oh",
        ),
    ],
    ids=["its import", "at import", "when made"],
)
def test_what_is_wrong_in_the_users_own_module_is_said(code, told, tmp_path, monkeypatch):
    (tmp_path / "of_the_user.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "of_the_user", raising=False)
    importlib.invalidate_caches()
    with pytest.raises(ParameterError, match=told):
        clusterer_of("of_the_user.Mine")


# ---------------------------------------------------------------------------------------------------------------------
# files of all kinds

ASK = ["--k", "3", *SMALL, *NO_NULL, "--quiet"]


def scores(*arguments, out):
    invoke("run", *arguments, *ASK, "--out", out)
    return Path(out, "scores.csv").read_bytes()


def test_other_ways_to_write_a_table_give_the_same_scores(folder, frames):
    plain = scores(*PAIR, *READING, out="plain")
    for name in ("alpha", "beta"):
        for kind in ("gz", "tsv", "turned", "bare", "half"):
            (folder / kind).mkdir(exist_ok=True)
        frame, values = frames[name], frames[name].drop(columns="subtype")
        (folder / "gz" / f"{name}.csv.gz").write_bytes(gzip.compress(frame.to_csv().encode()))
        frame.to_csv(folder / "tsv" / f"{name}.tsv", sep="\t")
        values.T.to_csv(folder / "turned" / f"{name}.csv")
        values.to_csv(folder / "bare" / f"{name}.csv", header=False, index=False)
        (values.T if name == "beta" else values).to_csv(folder / "half" / f"{name}.csv")
    assert scores("gz/alpha.csv.gz", "gz/beta.csv.gz", *READING, out="o1") == plain
    assert scores("tsv/alpha.tsv", "tsv/beta.tsv", *READING, out="o2") == plain
    assert scores("turned/alpha.csv", "turned/beta.csv", "--transpose", out="o3") == plain
    assert scores("bare/alpha.csv", "bare/beta.csv", "--no-header", out="o4") == plain
    assert scores("half/alpha.csv", "half/beta.csv", "--transpose-only", "beta", out="o5") == plain
    for out in ("o3", "o5"):
        invoke("run", "--config", f"{out}/config.toml", "--out", f"{out}-again", "--jobs", "1")
        assert contents(folder / out) == contents(folder / f"{out}-again")


def test_series_matrices_of_geo_are_studies(folder, frames):
    plain = scores(*PAIR, *READING, out="plain")
    for name in ("alpha", "beta"):
        frame = frames[name]
        told = "\t".join(f'"subtype: {label}"' for label in frame["subtype"])
        lines = [
            '!Series_title\t"some"',
            "!Sample_geo_accession\t" + "\t".join(f'"{one}"' for one in frame.index),
            f"!Sample_characteristics_ch1\t{told}",
            "!series_matrix_table_begin",
            *frame.drop(columns="subtype").T.to_csv(sep="\t", index_label="ID_REF").splitlines(),
            "!series_matrix_table_end",
        ]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    assert scores("alpha.txt", "beta.txt", *READING, out="geo") == plain
    assert "0 (A)" in Path("geo/clusters.csv").read_text()


def test_scaling_and_selecting_happen_in_each_study(folder):
    (folder / "genes.txt").write_text("\ufeff# mine\ngene3\n\ngene1\ngene3\n", encoding="utf-8")
    done = invoke(*RUN, "--scale", "zscore", "--features", "genes.txt", "--k", "3")
    assert done.stderr.startswith("Studies: 2 studies, 2 shared features")
    studies = cr.Studies.read(*PAIR, label="subtype").select(["gene3", "gene1"]).scaled("zscore")
    found = cr.analyse(
        {"ward": clusterer_of("ward")}, studies, n_clusters=[3], n_resamples=4, null=None, rng=0, n_jobs=1
    )
    assert Path("clustrep-results/scores.csv").read_text() == found.scores().to_csv(index=False)


def test_known_labels_name_the_clusters(folder):
    invoke(*RUN, "--k", "3")
    table = pd.read_csv("clustrep-results/clusters.csv")
    assert set(table["cluster"].str.extract(r"\((.)\)")[0]) == {"A", "B", "C"}


# ---------------------------------------------------------------------------------------------------------------------
# figures


def test_figures_are_drawn_in_every_format_the_same_each_time(folder):
    for out in ("one", "two"):
        invoke("test", *PAIR, *READING, "--simulations", "19", "--jobs", "1", "--figures", "png,svg,pdf", "--out", out)
        arguments = ["--k", "2:3", "--index", "jaccard", *READING, *SMALL, "--figures", "svg,pdf"]
        invoke("stability", "alpha.csv", *arguments, "--out", f"stability-{out}")
    assert contents(folder / "one") == contents(folder / "two")
    assert contents(folder / "stability-one") == contents(folder / "stability-two")
    drawn = {name: data[:4] for name, data in contents(folder / "one").items() if name.startswith("figures/")}
    begins = {"png": b"\x89PNG", "svg": b"<?xm", "pdf": b"%PDF"}
    assert drawn == {
        f"figures/test-{study}.{kind}": begin for study in ("alpha", "beta") for kind, begin in begins.items()
    }
    assert not plt.get_fignums()


def test_figures_of_an_analysis_are_the_same_each_time(folder):
    arguments = ["local", *PAIR, "--k", "3", *READING, *SMALL, *NO_NULL, "--train", "alpha", "--agreement", "ari"]
    for out in ("one", "two"):
        invoke(*arguments, "--figures", "svg", "--out", out)
    assert contents(folder / "one") == contents(folder / "two")
    assert [name for name in listed(folder / "one") if name.startswith("figures")] == [
        "figures/clusters-alpha.svg",
        "figures/counterparts-alpha.svg",
        "figures/curves-ari.svg",
        "figures/distributions.svg",
        "figures/map-alpha.svg",
        "figures/matrices.svg",
        "figures/pairs.svg",
    ]
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    ("name", "written"), [("a b", "a_b"), ("../x", "x"), ("Zürich 2", "Zürich_2"), ("/", "study"), ("a.b-c", "a.b-c")]
)
def test_names_that_file_systems_bear(name, written):
    assert file_name(name) == written


def test_no_study_takes_the_place_of_another(folder):
    Path("alpha.csv").rename("a b.csv")
    Path("beta.csv").rename("a_b.csv")
    invoke("test", "a b.csv", "a_b.csv", *READING, "--simulations", "19", "--figures", "none", "--out", "out")
    assert len(list(Path("out").glob("result-*.npz"))) == 2


# ---------------------------------------------------------------------------------------------------------------------
# report


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


def test_results_of_one_study_are_written_and_read_again(folder):
    invoke("stability", "alpha.csv", "--k", "2:3", "--index", "jaccard,r", *READING, *SMALL, "--out", "out")
    table = pd.read_csv("out/indices.csv")
    assert table["index"].unique().tolist() == ["jaccard", "r"]
    result = cr.validate(
        clusterer_of("ward"),
        cr.Studies.read("alpha.csv", label="subtype")["alpha"],
        n_clusters=[2, 3],
        indices=("jaccard", "r"),
        n_resamples=4,
        rng=0,
    )
    assert Path("out/indices.csv").read_text() == result.to_frame().to_csv(index=False)
    assert "Indices within one study: alpha" in invoke("report", "out", "--format", "markdown").stdout
    invoke("stability", "--config", "out/config.toml", "--jobs", "1", "--out", "again")
    assert contents(folder / "out") == contents(folder / "again")


def test_tests_for_clusters_are_written_where_asked_for(folder):
    arguments = ["test", *PAIR, *READING, "--simulations", "19", "--figures", "none", "--whiten"]
    done = invoke(*arguments, "--out", "out", "--json")
    assert [one["text"].split(":")[0] for one in json.loads(done.stdout)["verdict"]] == ["alpha", "beta"]
    assert listed(folder / "out") == ["config.toml", "report.html", "result-0001.npz", "result-0002.npz", "tests.csv"]
    table = pd.read_csv("out/tests.csv")
    assert table["study"].tolist() == ["alpha", "beta"]
    study = cr.Studies.read(*PAIR, label="subtype")["beta"]
    alone = cr.cluster_test(study, whiten=True, n_resamples=19, rng=0)
    assert table["pvalue"][1] == alone.pvalue == cr.load("out/result-0002.npz").pvalue
    invoke("test", "--config", "out/config.toml", "--out", "again")
    assert contents(folder / "out") == contents(folder / "again")


def test_one_study_of_several_in_a_file_is_not_guessed(folder, frames):
    anndata = pytest.importorskip("anndata")
    whole = pd.concat([frame.assign(donor=name) for name, frame in frames.items()])
    anndata.AnnData(whole.iloc[:, 1:4].to_numpy(), obs=whole[["donor"]]).write_h5ad(folder / "cells.h5ad")
    done = invoke("stability", "cells.h5ad", "--study-key", "donor", *SMALL, code=2)
    assert "this command takes one study, but the file holds 3: leave --study-key out" in done.stderr


# ---------------------------------------------------------------------------------------------------------------------
# inspect


def test_inspect_tells_what_is_in_files(folder):
    done = invoke("inspect", *PAIR, *READING, "--json")
    found = json.loads(done.stdout)
    assert found["files"][1] == {
        "study": "beta",
        "samples": 30,
        "features": 3,
        "first_samples": ["beta1", "beta2", "beta3"],
        "first_features": ["gene1", "gene2", "gene3"],
        "known_labels": ["A", "B", "C"],
    }
    assert found["shared"] == {"features": 3, "dropped": {"alpha": 0, "beta": 0}}
    assert found["suspicions"] == found["problems"] == []
    text = invoke("inspect", *PAIR, *READING).stdout
    assert "  known labels A, B, C\n" in text
    assert text.endswith("\n3 shared features\n")


def test_inspect_collects_everything_that_is_wrong(folder, frames):
    write_ragged(folder)
    done = invoke("inspect", "alpha.csv", "bad.csv", "nofile.csv", *READING, "--json", code=3)
    found = json.loads(done.stdout)
    assert [sorted(one) for one in found["files"][1:]] == [["file", "problem"]] * 2
    assert len(found["problems"]) == 2
    assert found["shared"] is None
    done = invoke("inspect", "alpha.csv", "bad.csv", code=3)
    assert "or use --label 'subtype'" in done.stdout
    assert done.stdout.count("can't be used: ") == 2
    frames["beta"].rename(columns=str.upper).rename(columns={"SUBTYPE": "subtype"}).to_csv(folder / "beta.csv")
    done = invoke("inspect", *PAIR, *READING, code=3)
    assert done.stdout.count("can't be used together: ") == 1


def test_inspect_has_suspicions(folder, frames):
    frames["alpha"].iloc[:, :-1].to_csv(folder / "beta.csv")
    found = json.loads(invoke("inspect", *PAIR, *READING, "--json").stdout)
    assert found["shared"] == {"features": 2, "dropped": {"alpha": 1, "beta": 0}}
    assert found["suspicions"]
    assert "\nlook at this: " in invoke("inspect", *PAIR, *READING).stdout


@pytest.mark.parametrize("arguments", [["--transpose-only", "beta"], ["--label", "subtype"]])
def test_inspect_can_use_what_run_can_use(arguments, folder, frames):
    values = frames["beta"].drop(columns="subtype")
    turned = arguments[0] == "--transpose-only"
    (values.T if turned else values).to_csv(folder / "beta.csv")
    if turned:
        frames["alpha"].drop(columns="subtype").to_csv(folder / "alpha.csv")
    invoke("run", *PAIR, *arguments, *ASK)
    assert CliRunner().invoke(clustrep, ["inspect", *PAIR, *arguments]).exit_code == 0


# ---------------------------------------------------------------------------------------------------------------------
# nothing to say


def test_nothing_eligible_is_an_answer(folder):
    done = invoke(*RUN[:3], *READING, *SMALL[2:], *NO_NULL, "--clusterer", "dbscan:eps=1000")
    assert done.stdout.startswith("No configuration can be best")
    assert listed(folder / "clustrep-results") == FILES
    assert pd.read_csv("clustrep-results/local.csv").empty
    invoke("report", "clustrep-results")


def test_a_table_of_nothing_has_its_columns(folder):
    invoke(*RUN[:3], *READING, *SMALL[2:], *NO_NULL, "--clusterer", "dbscan:eps=1000")
    text = Path("clustrep-results/clusters.csv").read_text()
    assert pd.read_csv(io.StringIO(text)).columns[:2].tolist() == ["train", "cluster"]


@pytest.mark.parametrize(
    ("command", "text", "told"),
    [
        ("inspect", 'studies = ["alpha.csv", "beta.csv"]\nlabel = "subtype"\n', "known labels A, B, C"),
        ("report", 'format = "markdown"\n', "# Which clusters hold up"),
    ],
)
def test_options_of_every_command_may_stand_in_a_file(command, text, told, folder):
    invoke(*RUN, "--out", "out")
    Path("some.toml").write_text(text)
    arguments = ["out"] if command == "report" else []
    assert told in invoke(command, *arguments, "--config", "some.toml").stdout
