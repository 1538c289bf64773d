"""Within one study: `clustrep stability` and `clustrep test`."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from tests.cli.support import PAIR, READING, SMALL, contents, invoke, listed

import clustrep as cr
from clustrep.cli.clusterer_names import clusterer_of


def test_results_of_one_study_are_written_and_read_again(folder):
    invoke("stability", "alpha.csv", "--k", "2:3", "--index", "jaccard,r", *READING, *SMALL, "--out", "out")
    table = pd.read_csv("out/indices.csv")
    assert table["index"].unique().tolist() == ["jaccard", "r"]
    result = cr.stability.validate(
        clusterer_of("ward"),
        cr.Studies.read("alpha.csv", label="subtype")["alpha"],
        n_clusters=[2, 3],
        indices=("jaccard", "r"),
        n_resamples=4,
        rng=0,
    )
    assert Path("out/indices.csv").read_text() == result.to_frame().to_csv(index=False)
    assert "Indices within one study: alpha" in invoke("report", "out", "--format", "markdown").stdout
    invoke("stability", "--config", "out/config.toml", "--jobs", "1", "--out", "again")
    assert contents(folder / "out") == contents(folder / "again")


def test_tests_for_clusters_are_written_where_asked_for(folder):
    arguments = ["test", *PAIR, *READING, "--simulations", "19", "--figures", "none", "--whiten"]
    done = invoke(*arguments, "--out", "out", "--json")
    assert [finding["text"].split(":")[0] for finding in json.loads(done.stdout)["verdict"]] == ["alpha", "beta"]
    saved = ["result-0001.npz", "result-0002.npz"]
    assert listed(folder / "out") == ["SHA256SUMS", "config.toml", "report.html", *saved, "tests.csv"]
    table = pd.read_csv("out/tests.csv")
    assert table["study"].tolist() == ["alpha", "beta"]
    study = cr.Studies.read(*PAIR, label="subtype")["beta"]
    alone = cr.stability.cluster_test(study, whiten=True, n_resamples=19, rng=0)
    assert table["pvalue"][1] == alone.pvalue == cr.load("out/result-0002.npz").pvalue
    invoke("test", "--config", "out/config.toml", "--out", "again")
    assert contents(folder / "out") == contents(folder / "again")


def test_one_study_of_several_in_a_file_is_not_guessed(folder, frames):
    anndata = pytest.importorskip("anndata")
    whole = pd.concat([frame.assign(donor=name) for name, frame in frames.items()])
    anndata.AnnData(whole.iloc[:, 1:4].to_numpy(), obs=whole[["donor"]]).write_h5ad(folder / "cells.h5ad")
    done = invoke("stability", "cells.h5ad", "--study-key", "donor", *SMALL, code=2)
    assert "this command takes one study, but the file holds 3: leave --study-key out" in done.stderr
