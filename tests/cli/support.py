"""What tests of the command line share: command lines, ways to run them, and what they leave."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from clustrep.cli import analysis_commands, one_study_commands
from clustrep.cli import analysis_commands as valley_commands
from clustrep.cli.program import clustrep

COMMANDS = [
    "run",
    "merge",
    "demo",
    "local",
    "valleys",
    "stability",
    "test",
    "report",
    "inspect",
    "assign",
    "key",
    "agree",
    "learn",
    "score",
    "combine",
    "show",
]
READING = ["--label", "subtype"]
SMALL = ["--clusterer", "ward", "--resamples", "4", "--figures", "none", "--jobs", "1"]
NULL = ["--null-collections", "19"]
NO_NULL = ["--null", "none"]
PAIR = ["alpha.csv", "beta.csv"]
RUN = ["run", *PAIR, "--k", "2:3", *READING, *SMALL, *NO_NULL]
FILES = [
    "SHA256SUMS",
    "annotations-by-cluster.csv",
    "annotations-by-study.csv",
    "annotations.csv",
    "choice.csv",
    "clusters.csv",
    "clusters.npz",
    "clustrep_mqc.json",
    "config.toml",
    "features.csv",
    "findings.csv",
    "labels.csv",
    "report.html",
    "result.npz",
    "samples.csv",
    "scores.csv",
    "studies.csv",
]
ANSI = "\x1b["


def invoke(*arguments, code=0, **options):
    """Run a command within this process."""
    result = CliRunner().invoke(clustrep, [str(argument) for argument in arguments], **options)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def process(*arguments, code=0, **options):
    """Run a command as a process."""
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    done = subprocess.run([sys.executable, "-m", "clustrep", *map(str, arguments)], check=False, **options)
    assert done.returncode == code, done.stderr
    return done


def forbid_reading(monkeypatch):
    """Fail where a command reads files."""

    def read(_):
        pytest.fail("the work has begun")

    for module in (analysis_commands, valley_commands, one_study_commands):
        monkeypatch.setattr(module, "read_studies", read)
    monkeypatch.setattr(analysis_commands, "read_unscaled", read)


def contents(path):
    """All files below a folder, and what is in them, apart from what a run keeps for a longer one."""
    files = {file.relative_to(path).as_posix(): file for file in path.rglob("*") if file.is_file()}
    return {name: file.read_bytes() for name, file in files.items() if ".clustrep/checkpoint/" not in name}


def listed(path):
    return sorted(contents(path))


def write_ragged(folder):
    (folder / "bad.csv").write_text("a,b\n1,2\n3\n")


ASK = ["--k", "3", *SMALL, *NO_NULL, "--quiet"]
