"""`clustrep gaps`: the density valleys between clusters alone."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from tests.cli.support import PAIR, READING, contents, invoke, listed

import clustrep as cr
from clustrep.cli.clusterer_names import clusterer_of

GAPS = ["gaps", *PAIR, "gamma.csv", "--k", "2:4", "--clusterer", "ward", *READING, "--jobs", "1"]


def test_tables_figure_page_and_answer(folder):
    done = invoke(*GAPS, "--out", "out", "--figures", "svg")
    assert done.stdout.startswith("3 separated clusters: the density valleys between them")
    assert done.stdout.splitlines()[-1].startswith("Next: ")
    assert listed(folder / "out") == [
        "SHA256SUMS", "config.toml", "figures/gaps.svg", "gaps-by-k.csv", "gaps.csv", "report.html", "result.npz",
    ]  # fmt: skip
    files = [folder / name for name in (*PAIR, "gamma.csv")]
    result = cr.separation(clusterer_of("ward"), cr.Studies.read(*files, label="subtype"), n_clusters=[2, 3, 4], rng=0)
    assert Path("out/gaps.csv").read_text() == result.to_frame().to_csv(index=False)
    assert pd.read_csv("out/gaps-by-k.csv")["groups"].tolist() == result.groups_by_k.tolist()
    assert cr.load("out/result.npz").clusterer == "ward"


def test_it_is_repeated_from_its_configuration_and_reported_again(folder):
    invoke(*GAPS, "--out", "out", "--figures", "none")
    invoke("gaps", "--config", "out/config.toml", "--out", "again")
    first, again = contents(folder / "out"), contents(folder / "again")
    assert first["gaps.csv"] == again["gaps.csv"]
    assert first["report.html"] == again["report.html"]
    said = json.loads(invoke("report", "out", "--format", "json").stdout)
    assert [section["id"] for section in said["sections"]] == ["data", "separation-1"]


def test_no_gaps_are_an_answer(folder):
    done = invoke("gaps", *PAIR, "--k", "2", *READING, "--features", "one.txt", "--quiet", code=3)
    assert "one.txt" in done.stderr
    Path("one.txt").write_text("gene3\n")
    done = invoke("gaps", *PAIR, "--k", "7", *READING, "--features", "one.txt", "--figures", "none", "--quiet")
    assert "Next: " in done.stdout


def test_one_study_or_several_clusterers_are_refused(folder):
    assert "needs at least two studies" in invoke("gaps", "alpha.csv", code=2).stderr
    twice = invoke("gaps", *PAIR, "--clusterer", "ward", "--clusterer", "kmeans", code=2)
    assert "gaps takes one --clusterer." in twice.stderr
