"""`learn`, `score`, `combine` and `show`; pages without names of samples."""

from __future__ import annotations

import json
import os
import re
import stat

import pandas as pd
import pytest
from tests.cli.support import NO_NULL, PAIR, READING, RUN, SMALL, invoke, listed

import clustrep as cr
from clustrep.cli.program import clustrep
from clustrep.federated.reading import read_file

LEARN = ["--k", "2:3", "--clusterer", "kmeans", "--resamples", "3", "--seed", "7", "--jobs", "1", *READING]
RULE = ["--min-cluster-size", "2"]
SITES = ("alpha", "beta", "gamma")


@pytest.fixture
def learned(folder):
    """The folder with the functions of all sites."""
    for name in SITES:
        invoke("learn", f"{name}.csv", *LEARN, *RULE, "--out", f"{name}.functions", "--quiet")
    return folder


def scored(name, *options):
    others = [f"{other}.functions" for other in SITES if other != name]
    arguments = ["--functions", *others, "--out", f"{name}.scores", "--jobs", "1", *READING, *RULE]
    return invoke("score", f"{name}.csv", *arguments, *options)


def test_the_whole_exchange(learned):
    told = [scored(name, "--gaps").stdout for name in SITES]
    assert told[0].startswith("Scores at study 'alpha' (30 samples) of functions of 'beta', 'gamma', format 1\n")
    done = invoke("combine", *(f"{name}.scores" for name in SITES), "--out", "together", "--figures", "png")
    assert done.stdout == f"{cr.Report(cr.load('together/result.npz'))!r}\n"
    assert listed(learned / "together") == [
        "SHA256SUMS",
        "choice.csv",
        "clusters.csv",
        "config.toml",
        "figures/curves-ami.png",
        "figures/curves-ari.png",
        "gaps.csv",
        "report.html",
        "result.npz",
        "scores.csv",
        "withheld.txt",
    ]
    combined = cr.load("together/result.npz")
    assert combined.comparison.names == SITES
    scores = pd.read_csv("together/scores.csv")
    assert scores.columns.tolist() == combined.comparison.to_frame().columns.tolist()
    page = (learned / "together" / "report.html").read_text()
    assert "alpha1" not in page
    assert (learned / "together" / "withheld.txt").read_text().splitlines() == list(combined.withheld)
    again = invoke("combine", *(f"{name}.scores" for name in SITES), "--out", "together", code=2)
    assert "together exists already" in again.stderr
    invoke("combine", *(f"{name}.scores" for name in SITES), "--out", "together", "--force", "--figures", "none")
    as_json = invoke("combine", *(f"{name}.scores" for name in SITES), "--out", "third", "--json", "--figures", "none")
    assert json.loads(as_json.stdout)["answer"]["best"]["k"] in (2, 3)
    assert invoke("report", "together", "--format", "markdown").stdout.startswith("# ")


def test_two_sites_can_combine(learned):
    """Which study stands apart is then not said, as in `run`."""
    for name in SITES[:2]:
        scored(name)
    done = invoke("combine", *(f"{name}.scores" for name in SITES[:2]), "--out", "both", "--figures", "none")
    assert "Best clusterer: " in done.stdout
    assert "apart" not in done.stdout
    assert (learned / "both" / "report.html").exists()


def test_show_says_what_is_in_a_file(learned):
    shown = invoke("show", "alpha.functions").stdout
    assert shown == f"{read_file('alpha.functions')!r}\n"
    assert "Clustering functions of study 'alpha' (30 samples), format 1" in shown
    assert "kmeans, KMeans(n_clusters=2, n_init=10): 4 functions of 4" in shown
    assert re.search(r"from \d+, \d+ samples in the study as it is, at least \d+ samples behind every cluster", shown)
    assert "There is no file" in invoke("show", "nothing.functions", code=3).stderr


def test_study_names_and_files(folder):
    done = invoke("learn", "alpha.csv", *LEARN, *RULE, "--name", "mainz")
    assert "Wrote mainz.functions, 0.0" in done.stderr
    assert read_file("mainz.functions").study == "mainz"
    assert "mainz.functions exists already" in invoke("learn", "alpha.csv", *LEARN, "--name", "mainz", code=2).stderr
    invoke("learn", "alpha.csv", *LEARN, *RULE, "--name", "mainz", "--force")
    assert "There is no folder" in invoke("learn", "alpha.csv", *LEARN, "--out", "no/where.functions", code=3).stderr
    assert "is a folder" in invoke("learn", "alpha.csv", *LEARN, "--out", ".", code=2).stderr


def test_clusterers_without_means_need_something_that_stands_for_them(folder):
    ward = ["--k", "2", "--clusterer", "ward", "--resamples", "2", "--jobs", "1", *READING, *RULE]
    refused = invoke("learn", "alpha.csv", *ward, code=2)
    assert "--induced centroid, lda or tree on the command line." in refused.stderr
    assert "Induced(" not in refused.stderr
    for form, name in (("centroid", "Centroids"), ("lda", "Discriminants"), ("tree", "LeafTree")):
        invoke("learn", "alpha.csv", *ward, "--induced", form, "--out", f"{form}.functions")
        assert read_file(f"{form}.functions").shelves[0].form == name
    invoke("learn", "alpha.csv", *LEARN, *RULE, "--induced", "lda", "--out", "k.functions")
    assert read_file("k.functions").shelves[0].form == "NearestCentres"


def test_options_of_disclosure(folder):
    options = ["--small", "merge", "--precision", "single", "--unit", "gene1=log2"]
    null = ["--null", "gaussian", "--null-collections", "19"]
    shown = invoke("learn", "alpha.csv", *LEARN, *RULE, *options).stdout
    assert "single precision" in shown
    assert "functions with smaller clusters: merge" in shown
    assert "units declared for 1" in shown
    shown = invoke("learn", "alpha.csv", *LEARN, *RULE, *null, "--force").stdout
    assert "Simulated data without clusters (gaussian)" in shown
    assert "write FEATURE=UNIT" in invoke("learn", "alpha.csv", *LEARN, "--unit", "gene1", "--out", "x", code=2).stderr


def test_a_secret_is_made_once_and_read_by_its_owner_alone(learned):
    first = invoke("learn", "alpha.csv", *LEARN, *RULE, "--secret", "alpha.secret", "--out", "1.functions").stdout
    mode = stat.S_IMODE(os.stat("alpha.secret").st_mode)
    assert mode & 0o077 == 0
    second = invoke("learn", "alpha.csv", *LEARN, *RULE, "--secret", "alpha.secret", "--out", "2.functions").stdout
    assert first == second
    assert "Draws are secret" in first
    assert read_file("1.functions").digest != read_file("alpha.functions").digest
    (learned / "other.secret").write_text("no number\n")
    assert (
        "holds no secret"
        in invoke("learn", "alpha.csv", *LEARN, "--secret", "other.secret", "--out", "x", code=3).stderr
    )


def test_functions_are_all_files_up_to_the_next_option():
    command = clustrep.commands["score"]
    words = ["vdx.csv", "--functions", "a", "b", "--gaps", "--functions", "c", "--out", "d"]
    settings = command.make_context("score", words).params
    assert [path.name for path in settings["functions"]] == ["a", "b", "c"]
    assert settings["study"].name == "vdx.csv"
    assert settings["out"].name == "d"


def test_what_is_missing_is_said(folder):
    assert "name the functions of other sites" in invoke("score", "alpha.csv", *READING, code=2).stderr
    assert "name the files of scores" in invoke("combine", code=2).stderr
    assert "There is no file" in invoke("combine", "a.scores", "b.scores", "--out", "x", code=3).stderr


def test_options_from_a_file(folder):
    (folder / "learn.toml").write_text(
        'study = "alpha.csv"\nk = "2:3"\nclusterer = ["kmeans"]\nresamples = 3\nseed = 7\nlabel = "subtype"\n'
        'min-cluster-size = 2\nprecision = "single"\nout = "alpha.functions"\n'
    )
    invoke("learn", "--config", "learn.toml", "--jobs", "1")
    assert read_file("alpha.functions").rules["precision"] == "single"


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
