"""`clustrep valleys`: the density valleys between clusters alone."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from tests.cli.support import PAIR, READING, contents, invoke, listed

import clustrep as cr
from clustrep.cli.clusterer_names import clusterer_of

VALLEYS = ["valleys", *PAIR, "gamma.csv", "--k", "2:4", "--clusterer", "ward", *READING, "--jobs", "1"]


def test_tables_figure_page_and_answer(folder):
    done = invoke(*VALLEYS, "--out", "out", "--figures", "svg")
    assert done.stdout.startswith("3 separated clusters: the density valleys between them")
    assert done.stdout.splitlines()[-1].startswith("Next: ")
    assert listed(folder / "out") == [
        "SHA256SUMS", "config.toml", "figures/valleys.svg", "report.html", "result.npz", "valleys-by-k.csv",
        "valleys.csv",
    ]  # fmt: skip
    files = [folder / name for name in (*PAIR, "gamma.csv")]
    result = cr.separation.density_valleys(
        clusterer_of("ward"), cr.Studies.read(*files, label="subtype"), n_clusters=[2, 3, 4], rng=0
    )
    assert Path("out/valleys.csv").read_text() == result.to_frame().to_csv(index=False)
    assert pd.read_csv("out/valleys-by-k.csv")["separated"].tolist() == result.n_separated_by_k.tolist()
    assert cr.load("out/result.npz").clusterer == "ward"


def test_it_is_repeated_from_its_configuration_and_reported_again(folder):
    invoke(*VALLEYS, "--out", "out", "--figures", "none")
    invoke("valleys", "--config", "out/config.toml", "--out", "again")
    first, again = contents(folder / "out"), contents(folder / "again")
    assert first["valleys.csv"] == again["valleys.csv"]
    assert first["report.html"] == again["report.html"]
    said = json.loads(invoke("report", "out", "--format", "json").stdout)
    assert [section["id"] for section in said["sections"]] == ["separation-1"]


def test_no_valleys_are_an_answer(folder):
    done = invoke("valleys", *PAIR, "--k", "2", *READING, "--features", "one.txt", "--quiet", code=3)
    assert "one.txt" in done.stderr
    Path("one.txt").write_text("gene3\n")
    done = invoke("valleys", *PAIR, "--k", "7", *READING, "--features", "one.txt", "--figures", "none", "--quiet")
    assert "Next: " in done.stdout


def test_one_study_or_several_clusterers_are_refused(folder):
    assert "needs at least two studies" in invoke("valleys", "alpha.csv", code=2).stderr
    twice = invoke("valleys", *PAIR, "--clusterer", "ward", "--clusterer", "kmeans", code=2)
    assert "valleys takes one --clusterer." in twice.stderr
