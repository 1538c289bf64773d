"""What pipelines rely on: exit codes, `--json`, MultiQC's file, and the wrappers in pipelines/."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import click
import jsonschema
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import clustrep as cr
from clustrep.cli import console
from clustrep.cli.program import clustrep

ROOT = Path(__file__).parents[1]
ISLANDS = sorted((ROOT / "src/clustrep/datasets/islands").glob("*.csv"))
SCHEMA = json.loads((ROOT / "docs/reference/report.schema.json").read_text(encoding="utf-8"))
RUN = ("--k", "2:3", "--resamples", "3", "--null", "none", "--figures", "none", "--seed", "1", "--quiet")
PENGUINS = ("run", *ISLANDS, "--label", "species", *RUN)


def invoke(*arguments, code=0):
    done = CliRunner().invoke(clustrep, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.fixture(scope="module")
def penguins(tmp_path_factory):
    """The folder of a run, and what it wrote as JSON."""
    folder = tmp_path_factory.mktemp("run") / "penguins"
    return folder, json.loads(invoke(*PENGUINS, "--json", "--out", folder))


def in_shell(command, folder):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_json_of_separated_clusters_has_the_documented_form(penguins):
    _, said = penguins
    jsonschema.validate(said, SCHEMA)
    assert said["answer"]["verdict"] == "separated"
    assert {(row["cluster"], row["study"]): row["status"] for row in said["answer"]["table"]}[
        "B", "dream"
    ] == "not found"


def test_json_of_an_inconclusive_run_has_the_documented_form(tmp_path):
    values = np.random.default_rng(0).normal(size=(2, 40, 3)).round(3)
    for name, table in zip(("a", "b"), values, strict=True):
        pd.DataFrame(table, columns=["x", "y", "z"]).to_csv(tmp_path / f"{name}.csv", index_label="sample")
    said = json.loads(invoke("run", tmp_path / "a.csv", tmp_path / "b.csv", *RUN, "--json", "--out", tmp_path / "out"))
    jsonschema.validate(said, SCHEMA)
    assert said["answer"]["verdict"] == "inconclusive"
    assert said["answer"]["n_clusters"] is None


def test_a_wrong_type_is_no_documented_form(penguins):
    _, said = penguins
    wrong = {**said, "answer": {**said["answer"], "n_clusters": "2"}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA)


def test_multiqc_gets_the_statuses_of_the_findings(penguins):
    folder, _ = penguins
    content = json.loads((folder / "clustrep_mqc.json").read_text(encoding="utf-8"))
    findings = cr.load(folder / "result.npz").findings
    assert pd.DataFrame(content["data"]).equals(findings.statuses())
    assert content["description"].startswith("2 separated clusters (p &lt; 0.001)")
    assert content["plot_type"] == "table"


def test_documented_exit_codes_are_those_of_the_program(tmp_path):
    text = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", text.partition("| exit code |")[2], re.MULTILINE)}
    named = {value for name, value in vars(console).items() if name.isupper() and type(value) is int}
    assert named & set(range(1, 5)) <= documented
    assert {0, 1, 2, 3, 4, 130, 143} == documented
    invoke("run", tmp_path / "nothing.csv", *RUN, "--out", tmp_path / "out", code=3)
    invoke("run", *ISLANDS, "--no-such-option", code=2)


# ---------------------------------------------------------------------------------------------------------------------
# wrappers


@pytest.mark.slow
def test_snakemake_runs_the_wrapper(tmp_path):
    pytest.importorskip("snakemake", reason="snakemake is not installed: pip install snakemake")
    shutil.copytree(ROOT / "pipelines/snakemake", tmp_path / "wrapper")
    work = tmp_path / "wrapper" / "test"
    for path in ISLANDS:
        shutil.copy(path, work)
    done = in_shell("python -m snakemake --cores 1 --nocolor", work)
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(work / "clusters" / "clusters.csv")["n"].tolist() == [219, 123]
    assert (work / "logs" / "clustrep.log").exists()
    again = in_shell("python -m snakemake --cores 1 --nocolor", work)
    assert "Nothing to be done" in again.stdout + again.stderr


def test_the_command_of_the_nextflow_module_leaves_what_it_promises(tmp_path):
    """Nextflow itself is not on PyPI: its variables are filled in here, and the script runs in the shell."""
    module = (ROOT / "pipelines/nf-core/clustrep/run/main.nf").read_text()
    script = re.search(r'script:.*?"""\n(.*?)"""', module, re.DOTALL)[1]
    settings = (ROOT / "pipelines/nf-core/clustrep/run/tests/nextflow.config").read_text()
    values = {
        "studies": " ".join(map(str, ISLANDS)),
        "args": re.search(r"ext.args = '(.+)'", settings)[1],
        "task.cpus": "1",
        "prefix": "penguins",
        "task.process": "CLUSTREP_RUN",
    }
    filled = re.sub(r"(?<!\\)\$\{([\w.]+)\}", lambda found: values[found[1]], script).replace("\\$", "$")
    done = in_shell(re.sub(r"^    ", "", filled, flags=re.MULTILINE), tmp_path)
    assert done.returncode == 0, done.stderr
    outputs = module.partition("output:")[2].partition("when:")[0]
    for promised, options in re.findall(r'path\("?\$\{prefix\}/([^"]+)"?\)?(.*)', outputs):
        assert list((tmp_path / "penguins").glob(promised)) or "optional" in options, promised
    assert (tmp_path / "versions.yml").read_text() == f'"CLUSTREP_RUN":\n    clustrep: {cr.__version__}\n'


def test_options_of_the_wrappers_exist():
    known = {option for parameter in clustrep.commands["run"].params for option in parameter.opts}
    for path in ("galaxy/clustrep_run.xml", "nf-core/clustrep/run/main.nf", "snakemake/wrapper.py"):
        text = (ROOT / "pipelines" / path).read_text()
        command = re.search(r"clustrep run .*?(\n\n|\]\]>|$)", text, re.DOTALL)[0]
        used = set(re.findall(r"(?<=\s)--[a-z][a-z-]+", command))
        assert used, path
        assert used <= known, path


def test_choices_of_the_galaxy_tool_are_those_of_the_program():
    tool = ElementTree.parse(ROOT / "pipelines/galaxy/clustrep_run.xml").getroot()
    scales = [option.get("value") for option in tool.iterfind(".//param[@name='scale']/option")]
    assert scales[0] == "auto"
    for scale in scales:
        assert (
            click.Context(clustrep.commands["run"])
            .command.make_context("run", ["a.csv", "b.csv", "--k", "2", "--scale", scale], resilient_parsing=True)
            .params["scale"]
            == scale
        )
    for name in tool.iterfind(".//data"):
        assert name.get("from_work_dir").startswith("results/")
