"""Every command as a process: data to stdout, words to stderr, an exit code that means something."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.support import (
    COMMANDS,
    FILES,
    NO_NULL,
    NULL,
    PAIR,
    READING,
    RUN,
    SMALL,
    contents,
    invoke,
    listed,
    process,
)

import clustrep as cr
from clustrep.cli.program import clustrep


def test_the_version_is_told_at_once():
    """Whatever is heavy is imported by the command that needs it."""
    heavy = ["numpy", "pandas", "scipy", "sklearn", "numba", "matplotlib", "joblib", "jinja2", "tqdm"]
    code = (
        "import sys, clustrep.cli.program as cli\n"
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
    assert done.stdout.startswith("3 separated clusters (p ")
    assert "Results are in" not in done.stdout
    assert done.stderr.splitlines() == [
        "Studies: 3 studies, 3 shared features",
        *(f"  {name:<5}  30 samples, known labels A, B, C" for name in ("alpha", "beta", "gamma")),
        f"Results are in out; open {Path('out', 'report.html')} in a browser.",
    ]
    assert listed(folder / "out") == FILES
    assert sorted(os.listdir(folder)) == ["alpha.csv", "beta.csv", "gamma.csv", "out"]
    analysis = cr.load(folder / "out" / "result.npz")
    assert done.stdout == f"{cr.Report(analysis)!r}\n"
    for name, frame in (
        ("scores", analysis.scores()),
        ("samples", analysis.samples()),
        ("findings", analysis.findings.table()),
        ("clusters", analysis.findings.clusters()),
        ("studies", analysis.findings.studies()),
        ("labels", analysis.labels()),
    ):
        assert pd.read_csv(folder / "out" / f"{name}.csv").columns.tolist() == frame.columns.tolist()
        assert (folder / "out" / f"{name}.csv").read_text() == frame.to_csv(index=False)


def test_demo_as_a_process(folder):
    done = process("demo", "--k", "4", *SMALL, *NO_NULL, "--agreement", "ari", "--json")
    said = json.loads(done.stdout)
    assert said["subtitle"].startswith("480 samples: ")
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
    assert done.stdout.startswith("3 separated clusters")
    assert set(pd.read_csv("clustrep-local/samples.csv")["train"]) == {"beta"}
    done = process(
        "stability", "alpha.csv", "--k", "2:3", "--index", "jaccard,test", *READING, *SMALL, "--splits", "2", "--quiet"
    )
    assert re.match(r"ward: k = \d is best by ", done.stdout)
    assert done.stderr == ""
    files = ["SHA256SUMS", "config.toml", "indices.csv", "report.html", "result.npz"]
    assert listed(folder / "clustrep-stability") == files
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


def test_h5ad_as_a_process_and_parquet_give_the_scores_of_csv(frames, folder):
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
    invoke("run", *(f"{name}.parquet" for name in frames), "--out", "parquet", *options)
    invoke("run", *PAIR, "gamma.csv", "--out", "csv", *options)
    for name in ("cells", "parquet"):
        assert (folder / name / "scores.csv").read_bytes() == (folder / "csv" / "scores.csv").read_bytes()


# Heeds interrupts also where they are ignored, as in jobs in the background.
HEEDING = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"


def test_an_interrupt_leaves_nothing_but_what_is_finished(folder):
    """One sentence, no traceback, no results, whole or temporary."""
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
    assert listed(folder) == ["alpha.csv", "beta.csv", "gamma.csv"]
    if Path("clustrep-results").exists():  # something was finished
        assert os.listdir("clustrep-results/.clustrep") == ["checkpoint"]


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
        if len(X) % 4 == self.limit:  # of some draws
            raise RuntimeError("not today")
        return (X[:, 0] > X[:, 0].mean()).astype(int)
"""


def test_some_failed_replicates_are_an_exit_code(folder, monkeypatch):
    (folder / "moods").mkdir()
    (folder / "moods" / "moody.py").write_text(MOODY)
    arguments = ["run", *PAIR, *READING, *SMALL[2:], *NO_NULL, "--clusterer", "moody.Moody:limit=1"]
    paths = [str(folder / "moods"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = process(*arguments, "--out", "out", code=4, env=environment)
    assert "RuntimeError: not today" in done.stderr.split("warning: ")[1]
    assert "scores failed and were omitted; the causes are among the warnings." in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Next: ")
    assert listed(folder / "out") == FILES
    monkeypatch.syspath_prepend(folder / "moods")
    invoke(*arguments, "--out", "again", "--allow-failures")
    assert contents(folder / "out") == contents(folder / "again")
    assert cr.load("out/result.npz").warnings
    assert cr.load("out/result.npz").failures


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
    assert all(option.help or option.name == "null" for option in clustrep.commands[name].params[1:])
    if name == "demo":  # needs nothing: its name is the example
        return
    example = shown.split("Example:\n", 1)[1].splitlines()[0].split(">")[0].split()
    assert example[:2] == ["clustrep", name]
    clustrep.commands[name].make_context(name, example[2:])
