"""What `clustrep inspect` says of files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.cli.support import ASK, PAIR, READING, RUN, contents, invoke, write_ragged

import clustrep as cr
from clustrep.cli.file_commands import OF_OTHER_COMMANDS
from clustrep.cli.program import clustrep


def test_inspect_tells_what_is_in_files(folder):
    done = invoke("inspect", *PAIR, *READING, "--json")
    inspection = json.loads(done.stdout)
    assert inspection["files"][1] == {
        "study": "beta",
        "samples": 30,
        "features": 3,
        "first_samples": ["beta1", "beta2", "beta3"],
        "first_features": ["gene1", "gene2", "gene3"],
        "known_labels": ["A", "B", "C"],
    }
    assert inspection["shared"] == {"features": 3, "dropped": {"alpha": 0, "beta": 0}}
    assert inspection["suspicions"] == inspection["notes"] == inspection["problems"] == []
    text = invoke("inspect", *PAIR, *READING).stdout
    assert "  known labels A, B, C\n" in text
    assert text.endswith("\n3 shared features\n")


def test_inspect_collects_everything_that_is_wrong(folder, frames):
    write_ragged(folder)
    done = invoke("inspect", "alpha.csv", "bad.csv", "nofile.csv", *READING, "--json", code=3)
    inspection = json.loads(done.stdout)
    assert [sorted(facts) for facts in inspection["files"][1:]] == [["file", "problem"]] * 2
    assert len(inspection["problems"]) == 2
    assert inspection["shared"] is None
    done = invoke("inspect", "alpha.csv", "bad.csv", code=3)
    assert "or use --label 'subtype'" in done.stdout
    assert done.stdout.count("can't be used: ") == 2
    frames["beta"].rename(columns=str.upper).rename(columns={"SUBTYPE": "subtype"}).to_csv(folder / "beta.csv")
    done = invoke("inspect", *PAIR, *READING, code=3)
    assert done.stdout.count("can't be used together: ") == 1


@pytest.mark.parametrize(("n_features", "told"), [(19, False), (20, True)])
def test_inspect_names_the_few_features_that_decide(n_features, told, folder):
    """As two areas beside ratios do; two of few features may be meant so."""
    rng = np.random.default_rng(0)
    for name in PAIR:
        table = pd.DataFrame(rng.normal(size=(30, n_features)), columns=[f"gene{j}" for j in range(n_features)])
        table[["gene3", "gene5"]] *= [100, 80]
        table.to_csv(name)
    said = invoke("inspect", *PAIR).stdout
    assert ("of the variance in every study is that of 2 features of 20 ('gene3' and 'gene5')" in said) == told
    scaled = invoke("inspect", *PAIR, "--scale", "study").stdout
    assert "look at this" not in scaled
    assert OF_OTHER_COMMANDS not in scaled


def test_inspect_has_suspicions(folder, frames):
    frames["alpha"].iloc[:, :-1].to_csv(folder / "beta.csv")
    inspection = json.loads(invoke("inspect", *PAIR, *READING, "--json").stdout)
    assert inspection["shared"] == {"features": 2, "dropped": {"alpha": 1, "beta": 0}}
    assert inspection["suspicions"]
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


def test_inspect_reads_missing_values_categories_and_units_as_run_does(folder, frames):
    for name in PAIR:
        table = frames[name.removesuffix(".csv")].drop(columns="subtype")
        table.insert(0, "donor", [f"d{i % 3}" for i in range(len(table))])
        table["smokes"] = ["yes", "no"] * (len(table) // 2)
        table.iloc[3, 1] = np.nan
        table.to_csv(name)
    ask = ["inspect", *PAIR, "--no-label", "--groups", "donor"]
    for lacking in (["--impute", "median"], ["--gower"]):
        assert "can't be used: " in invoke(*ask, *lacking, code=3).stdout
    said = invoke(*ask, "--impute", "median", "--gower").stdout
    assert "(gene1, gene2, gene3, …)" in said  # donors are no feature
    assert said.endswith("\n5 shared features\n")


def test_notes_are_told_before_anything_is_computed(folder, frames):
    """By `inspect` with the options that help; by `run` as warnings, which the page has as well.

    With --scale auto, `run` leaves out differences, because it aligns the studies and says how.
    """
    frames["beta"].assign(gene1=lambda frame: frame["gene1"] + 40).to_csv("beta.csv")
    inspection = json.loads(invoke("inspect", *PAIR, *READING, "--json").stdout)
    (note,) = inspection["notes"]
    assert (note["study"], note["kind"]) == ("alpha, beta", "location")
    assert "--scale 'study'" in note["remedy"]
    told = f"{note['sentence']} {note['remedy']}"
    assert f"look at this: {told}\n" in invoke("inspect", *PAIR, *READING).stdout
    assert invoke("inspect", *PAIR, *READING).stdout.endswith(f"\n{OF_OTHER_COMMANDS}\n")
    assert told not in invoke(*RUN, "--quiet", "--out", "auto").stderr
    lines = invoke(*RUN, "--scale", "none", "--quiet").stderr.splitlines()
    assert lines.count(f"warning: {told}") == 1
    assert note["sentence"] in Path("clustrep-results/report.html").read_text(encoding="utf-8").replace("&#39;", "'")
    scaled = ["--scale", "study"]
    assert told not in invoke(*RUN, *scaled, "--out", "scaled").stderr
    assert json.loads(invoke("inspect", *PAIR, *READING, *scaled, "--json").stdout)["notes"] == []


def test_scaling_by_a_reference(folder):
    invoke(*RUN, "--scale", "reference=beta", "--quiet")
    made = cr.load("clustrep-results/result.npz")
    assert {record.scale for record in made.provenance.studies.values()} == {"reference=beta"}
    assert 'scale = "reference=beta"\n' in Path("clustrep-results/config.toml").read_text()
    invoke("run", "--config", "clustrep-results/config.toml", "--out", "again", "--jobs", "1", "--quiet")
    assert contents(Path("again")) == contents(Path("clustrep-results"))
    refused = invoke(*RUN, "--scale", "reference=delta", "--force", code=2).stderr
    assert "There is no study 'delta'; there are alpha, beta" in refused


def test_an_analysis_decides_by_default_how_to_scale(folder):
    invoke(*RUN, "--quiet")
    assert 'scale = "auto"\n' in Path("clustrep-results/config.toml").read_text()
    assert "--scale" in invoke("valleys", *PAIR, *READING, "--k", "2", "--scale", "auto", code=2).stderr
