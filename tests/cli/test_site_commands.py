"""`key`, `agree`, `learn`, `score`, `combine` and `show`; pages without names of samples."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from sklearn.cluster import KMeans
from tests.cli.support import NO_NULL, PAIR, READING, RUN, SMALL, invoke, listed
from tests.federated.sites import Hospitals, cohorts

import clustrep as cr
from clustrep.cli.program import clustrep
from clustrep.federated import Session
from clustrep.federated.reading import read_file
from clustrep.federated.site import RISK

NAMES = ("alpha", "beta")
TRUSTING = ("--yes", "--trust-partners")


@pytest.fixture
def sites(tmp_path, monkeypatch):
    """Two sites with tables, keys, policies and a session."""
    monkeypatch.chdir(tmp_path)
    hospitals = Hospitals(tmp_path, cohorts(60, 2).values())
    for name, study in hospitals.studies.items():
        study.to_frame().to_csv(f"{name}.csv", index_label="patient")
    hospitals.agree(KMeans(n_init=2), n_clusters=(2, 3), n_resamples=5).save("study.session")
    return hospitals


def at(name, command, *options, **settings):
    """Run a command at one site."""
    own = ["--session", "study.session", "--policy", f"{name}.toml", "--key", f"{name}.key", "--jobs", "1"]
    return invoke(command, f"{name}.csv", *options, *own, **settings)


def finished():
    """Learn and score at both sites."""
    for name in NAMES:
        at(name, "learn", "--yes", "--quiet", "--trust-partners")
    for name, other in (NAMES, NAMES[::-1]):
        at(
            name,
            "score",
            "--yes",
            "--quiet",
            "--trust-partners",
            "--functions",
            f"{other}.functions",
            "--out",
            f"{name}.scores",
        )
    return [f"{name}.{ending}" for name in NAMES for ending in ("functions", "scores")]


def test_all_commands(sites):
    files = finished()
    done = invoke("combine", *files, "--session", "study.session", "--out", "together")
    assert done.stdout == f"{cr.Report(cr.load('together/result.npz'))!r}\n"
    assert listed(sites.folder / "together") == [
        "SHA256SUMS",
        "choice.csv",
        "config.toml",
        "findings.csv",
        "report.html",
        "result.npz",
        "scores.csv",
        "withheld.txt",
    ]
    assert pd.read_csv("together/scores.csv").columns.tolist()[:2] == ["train", "test"]
    again = invoke("combine", *files, "--session", "study.session", "--out", "together", code=2)
    assert "together exists already" in again.stderr
    as_json = invoke("combine", *files, "--session", "study.session", "--out", "third", "--json")
    assert json.loads(as_json.stdout)
    assert invoke("report", "together", "--format", "markdown").stdout.startswith("# ")
    shown = invoke("show", "alpha.functions").stdout
    assert shown == f"{read_file('alpha.functions')!r}\n"


def test_exact_numbers_give_figures_too(sites):
    for name in NAMES:
        sites.write_policy(name, exact_numbers=True)
        at(name, "learn", "--yes", "--trust-partners")
    for name, other in (NAMES, NAMES[::-1]):
        options = ["--trust-partners", "--yes", "--functions", f"{other}.functions", "--out", f"{name}.scores"]
        at(name, "score", *options)
    files = [f"{name}.{ending}" for name in NAMES for ending in ("functions", "scores")]
    invoke("combine", *files, "--session", "study.session", "--out", "together", "--figures", "png")
    assert "figures/curves-ari.png" in listed(sites.folder / "together")


def test_what_is_to_leave_is_shown_and_asked_for(sites):
    refused = at("alpha", "learn", "--trust-partners", input="n\n", code=3)
    assert "Clustering functions of study 'alpha'" in refused.stderr
    assert not (sites.folder / "alpha.functions").exists()
    at("alpha", "learn", "--trust-partners", input="y\n")
    assert (sites.folder / "alpha.functions").exists()


@pytest.mark.parametrize("command", ["learn", "score"])
def test_the_risk_is_named_in_the_help_and_must_be_confirmed(sites, command):
    assert RISK in " ".join(invoke(command, "--help").stdout.split())
    at("beta", "learn", *TRUSTING)
    options = ["--functions", "beta.functions"] if command == "score" else []
    refused = at("alpha", command, "--yes", *options, code=2)
    assert RISK in " ".join(refused.stderr.split())
    assert "--trust-partners" in refused.stderr
    assert not list(sites.folder.glob("alpha.toml.log*"))


def test_the_first_row_of_each_patient_takes_part(sites):
    table = pd.read_csv("alpha.csv")
    pd.concat([table, table.iloc[:12]]).to_csv("alpha.csv", index=False)  # twelve patients come again
    at("alpha", "learn", *TRUSTING, code=3)
    sites.write_policy("alpha", patient="patient")
    assert "(60 samples)" in at("alpha", "learn", *TRUSTING).stdout


def test_keys_and_sessions(sites):
    public = {name: invoke("key", f"{name}2.key").stdout.strip() for name in NAMES}
    assert invoke("key", "alpha2.key", code=3).stderr
    named = [word for name, key in public.items() for word in ("--site", f"{name}={key}")]
    options = ["--feature", "gene1", "--feature", "gene2", "--k", "2:3", "--clusterer", "ward", "--unit", "gene1=log2"]
    invoke("agree", *named, *options, "--out", "other.session")
    session = Session.read("other.session")
    assert session.sites == public
    assert session.features == ("gene1", "gene2")
    assert invoke("agree", *named, *options, "--out", "other.session", code=2).stderr
    assert "NAME=KEY" in invoke("agree", "--site", "alpha", *options, "--out", "x", code=2).stderr


@pytest.mark.parametrize(
    "wrong", [["--policy", "none.toml"], ["--policy", "alpha.csv"], ["--session", "none"], ["--key", "beta.key"]]
)
def test_what_is_missing_or_another_is_said_in_one_sentence(sites, wrong):
    words = {"--session": "study.session", "--policy": "alpha.toml", "--key": "alpha.key", wrong[0]: wrong[1]}
    done = invoke("learn", "alpha.csv", *[word for pair in words.items() for word in pair], *TRUSTING, code=3)
    assert done.stderr.count("\n") <= 2, done.stderr
    assert wrong[1] in done.stderr


def test_functions_are_all_files_up_to_the_next_option():
    command = clustrep.commands["score"]
    needed = ["--session", "s", "--policy", "p", "--key", "k"]
    settings = command.make_context(
        "score", ["vdx.csv", *needed, "--functions", "a", "b", "--yes", "--out", "d"]
    ).params
    assert [path.name for path in settings["functions"]] == ["a", "b"]
    assert settings["out"].name == "d"


def test_study_names_and_files(sites):
    assert invoke("combine", "--session", "study.session", code=2).stderr
    assert at("alpha", "score", "--yes", code=2).stderr
    at("alpha", "learn", *TRUSTING, "--out", "no/where.functions", code=3)
    at("alpha", "learn", *TRUSTING, "--out", ".", code=2)
    at("alpha", "learn", *TRUSTING)
    at("alpha", "learn", *TRUSTING, code=2)
    at("alpha", "learn", *TRUSTING, "--force")


# ---------------------------------------------------------------------------------------------------------------------
# no names of samples


def test_pages_and_tables_without_names_of_samples(folder):
    invoke(*RUN, "--out", "named")
    invoke(*RUN, "--out", "unnamed", "--no-samples")
    contents = {
        name: [p.read_bytes() for p in (folder / name).rglob("*") if p.is_file()] for name in ("named", "unnamed")
    }
    assert any(b"alpha1" in content for content in contents["named"])
    assert not any(b"alpha1" in content for content in contents["unnamed"])
    pages = [(folder / name / "report.html").read_text() for name in contents]
    assert pages[0] == pages[1]  # it names no samples in any case
    for table in ("samples.csv", "labels.csv"):
        named, unnamed = (pd.read_csv(folder / name / table) for name in ("named", "unnamed"))
        pd.testing.assert_frame_equal(named.drop(columns="sample"), unnamed.drop(columns="sample"))
    assert "alpha1" not in invoke("report", "named", "--out", "-").stdout


def test_local_without_names_of_samples(folder):
    options = ["--clusterer", "kmeans", "--k", "3", *READING, *SMALL[2:], *NO_NULL, "--no-samples"]
    invoke("local", *PAIR, *options)
    assert not any(b"alpha1" in path.read_bytes() for path in (folder / "clustrep-local").glob("*.csv"))
