"""Several studies: what `clustrep run` and its like write."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import pandas as pd
import pytest
from tests.cli.support import FILES, NO_NULL, NULL, PAIR, READING, RUN, SMALL, contents, invoke, listed

import clustrep as cr


def test_json_is_everything_but_the_drawings(folder):
    done = invoke(*RUN, "--json", "--quiet")
    said = json.loads(done.stdout)
    assert done.stderr == ""
    assert said["verdict"][0]["kind"] == "separated"
    answer, findings = said["answer"], cr.load("clustrep-results/result.npz").findings
    assert (answer["verdict"], answer["n_clusters"], answer["reason"]) == ("separated", 3, "")
    assert answer["pvalue"] == pytest.approx(findings.pvalue, rel=1e-4)
    assert [row["cluster"] for row in answer["clusters"]] == ["A", "B", "C"]
    assert [row["study"] for row in answer["studies"]] == ["alpha", "beta"]
    assert "<svg" not in done.stdout
    assert "2 and 3 clusters" in said["methods"][0]
    assert done.stdout == invoke("report", "clustrep-results", "--format", "json").stdout


def test_the_number_of_jobs_changes_nothing(folder):
    """Not even in a file."""
    with joblib.parallel_config(backend="loky"):  # which starts two however short a run is
        for jobs in ("1", "2"):
            invoke("run", *PAIR, "--k", "2:3", *READING, *SMALL[:-2], *NULL, "--jobs", jobs, "--out", f"out{jobs}")
    assert contents(folder / "out1") == contents(folder / "out2")


def test_tables_are_views_of_the_findings(folder):
    invoke(*RUN)
    analysis, out = cr.load("clustrep-results/result.npz"), Path("clustrep-results")
    findings = analysis.findings
    tables = {"findings": findings.table(), "clusters": findings.clusters(), "studies": findings.studies()}
    for name, table in {**tables, "labels": analysis.labels(), "samples": analysis.samples()}.items():
        assert (out / f"{name}.csv").read_text() == table.to_csv(index=False)


def test_one_study_is_taken(folder):
    done = invoke("run", "alpha.csv", "--k", "2:3", *READING, *SMALL, *NO_NULL)
    assert done.stdout.splitlines()[0].startswith("3 separated clusters")
    assert "in one study: whether another study has them is not tested" in done.stdout
    assert listed(folder / "clustrep-results") == [name for name in FILES if name != "samples.csv"]
    assert pd.read_csv("clustrep-results/labels.csv")["cluster"].nunique() == 3


def test_nothing_eligible_is_an_answer(folder):
    done = invoke(*RUN[:3], *READING, *SMALL[2:], *NO_NULL, "--clusterer", "dbscan:eps=1000")
    assert done.stdout.startswith("Inconclusive: ")
    assert "Every study is put into a single cluster in 100 % of scores (dbscan:eps=1000).\n" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Next: Run again with")
    assert set(pd.read_csv("clustrep-results/labels.csv")["cluster"]) == {"?"}
    invoke("report", "clustrep-results")


def test_a_preliminary_answer_comes_first_on_stderr_and_nowhere_else(folder):
    many = [*RUN, "--resamples", "21"]
    done = invoke(*many)
    lines = done.stderr.splitlines()
    (place,) = [place for place, line in enumerate(lines) if line.startswith("Preliminary, 20 resamples: ")]
    assert lines[place].endswith(done.stdout.splitlines()[0])  # the same words
    assert "reliminary" not in done.stdout
    assert "reliminary" not in Path("clustrep-results/report.html").read_text().split("<script>")[0]
    assert "reliminary" not in invoke(*many, "--out", "quiet", "--quiet").stderr


def test_one_feature_that_decides_alone_is_named(folder):
    """As with raw measurements in different units."""
    for name in PAIR:
        table = pd.read_csv(name, index_col=0)
        table[table.columns[-1]] *= 1000
        table.to_csv(name)
    sentence = "At least 99 % of the variance in every study is that of 1 feature"
    done = invoke(*RUN, "--scale", "none")
    assert sentence in done.stderr
    assert "--scale 'pooled'" in done.stderr
    assert "At least 99 % of the variance" in Path("clustrep-results/report.html").read_text()
    assert "of the variance in every study" not in invoke(*RUN, "--scale", "study", "--out", "scaled").stderr
    assert f"look at this: {sentence}" in invoke("inspect", *PAIR, *READING).stdout
    assert sentence in invoke("valleys", *PAIR, *READING, "--k", "2").stderr


def test_landmarks_are_an_option(folder):
    """The option reaches every step, and the configuration that is written repeats it."""
    invoke(*RUN, "--landmarks", "25", "--quiet")
    analysis = cr.load("clustrep-results/result.npz")
    assert {result.provenance["n_landmarks"] for result in (analysis.comparison, *analysis.local)} == {25}
    assert "ari" in analysis.comparison.provenance["landmark_error"]
    assert "landmarks = 25\n" in Path("clustrep-results/config.toml").read_text()
    assert "--landmarks" in invoke(*RUN, "--landmarks", "1", code=2).stderr
