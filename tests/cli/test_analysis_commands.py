"""Several studies: what `clustrep run` and its like write."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
from tests.cli.support import FILES, NO_NULL, NULL, PAIR, READING, RUN, SMALL, contents, invoke, listed

import clustrep as cr


def test_json_is_everything_but_the_charts(folder):
    done = invoke(*RUN, "--json", "--quiet")
    said = json.loads(done.stdout)
    assert done.stderr == ""
    assert [finding["kind"] for finding in said["verdict"]][:4] == ["separated", "sure", "reason", "studies"]
    sections = [section["id"] for section in said["sections"]]
    assert sections == ["presence", "gaps", "data", "choice", "pairs", "clusters", "map"]
    answer = said["answer"]
    assert (answer["degree"], answer["n_clusters"]) == ("separated", 3)
    clusters = [row for row in answer["presence"] if row["word"] != "new"]
    assert len(clusters) == 2 * 3
    assert {(row["train"], row["test"]) for row in clusters} == {("alpha", "beta"), ("beta", "alpha")}
    assert all("charts" not in section for section in said["sections"])
    assert "2 and 3 clusters" in said["methods"][0]
    assert done.stdout == invoke("report", "clustrep-results", "--format", "json").stdout


def test_the_number_of_jobs_changes_nothing(folder):
    """Not even in a file."""
    for jobs in ("1", "2"):
        invoke("run", *PAIR, "--k", "2:3", *READING, *SMALL[:-2], *NULL, "--jobs", jobs, "--out", f"out{jobs}")
    assert contents(folder / "out1") == contents(folder / "out2")


def test_known_labels_name_the_clusters(folder):
    invoke(*RUN, "--k", "3")
    table = pd.read_csv("clustrep-results/clusters.csv")
    assert set(table["cluster"].str.extract(r"\((.)\)")[0]) == {"A", "B", "C"}


def test_nothing_eligible_is_an_answer(folder):
    done = invoke(*RUN[:3], *READING, *SMALL[2:], *NO_NULL, "--clusterer", "dbscan:eps=1000")
    assert done.stdout.startswith("No answer: no score can be relied on.\n")
    assert "\nEvery study is put into a single cluster in 100 % of resamples (dbscan:eps=1000).\n" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Next: Run again with")
    assert listed(folder / "clustrep-results") == [name for name in FILES if name != "groups.csv"]
    invoke("report", "clustrep-results")


def test_a_table_of_nothing_has_its_columns(folder):
    invoke(*RUN[:3], *READING, *SMALL[2:], *NO_NULL, "--clusterer", "dbscan:eps=1000")
    text = Path("clustrep-results/clusters.csv").read_text()
    assert pd.read_csv(io.StringIO(text)).columns[:2].tolist() == ["train", "cluster"]


def test_the_group_of_every_sample_is_written_where_there_are_groups(folder, frames):
    invoke(*RUN)
    table = pd.read_csv("clustrep-results/groups.csv")
    assert table["sample"].tolist() == [sample for name in ("alpha", "beta") for sample in frames[name].index]
    assert table.groupby("study")["group"].nunique().tolist() == [3, 3]
    invoke(*RUN[:3], *READING, *SMALL[2:], *NO_NULL, "--clusterer", "dbscan:eps=1000", "--force")
    assert not Path("clustrep-results/groups.csv").exists()


def test_gaps_of_all_clusterers_are_in_one_table(folder):
    invoke(*RUN, "--clusterer", "kmeans")
    table = pd.read_csv("clustrep-results/gaps.csv")
    assert table.columns[:4].tolist() == ["clusterer", "k", "a", "b"]
    assert table.groupby("clusterer")["k"].unique().map(list).to_dict() == {"kmeans": [2, 3], "ward": [2, 3]}


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
    sentence = f"Feature {table.columns[-1]!r} has 100% or more of the variance in every study"
    done = invoke(*RUN)
    assert sentence in done.stderr
    assert "--scale 'pooled'" in done.stderr
    assert "has 100% or more" in Path("clustrep-results/report.html").read_text()
    assert "of the variance in every study" not in invoke(*RUN, "--scale", "study", "--out", "scaled").stderr
    assert f"look at this: {sentence}" in invoke("inspect", *PAIR, *READING).stdout
    assert sentence in invoke("gaps", *PAIR, *READING, "--k", "2").stderr


def test_landmarks_are_an_option(folder):
    """The option reaches every step, and the configuration that is written repeats it."""
    invoke(*RUN, "--sketch", "25", "--quiet")
    analysis = cr.load("clustrep-results/result.npz")
    assert {result.provenance["sketch"] for result in (analysis.comparison, *analysis.local)} == {25}
    assert "ari" in analysis.comparison.provenance["sketch_error"]
    assert "sketch = 25\n" in Path("clustrep-results/config.toml").read_text()
    assert "--sketch" in invoke(*RUN, "--sketch", "1", code=2).stderr
