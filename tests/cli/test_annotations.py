"""`clustrep run --annotations`: a table, columns of obs, and what is refused before anything is computed."""

from __future__ import annotations

import html

import anndata
import numpy as np
import pandas as pd
import pytest
from tests.cli.support import FILES, NO_NULL, PAIR, READING, SMALL, invoke

import clustrep as cr

RUN = ["run", *PAIR, "--k", "3", *READING, *SMALL, *NO_NULL, "--quiet"]


def clinic(frames):
    known = pd.concat([frames["alpha"], frames["beta"]])
    rng = np.random.default_rng(0)
    months = rng.exponential(np.where(known["subtype"] == "A", 50, 10))
    return pd.DataFrame(
        {"er": np.where(known["subtype"] == "A", "no", "yes"), "months": months, "died": 1, "age": 60 + months},
        index=known.index,
    )


def test_a_table_is_compared_and_told(folder, frames):
    clinic(frames).to_csv("clinic.csv", index_label="patient")
    done = invoke(*RUN, "--annotations", "clinic.csv", "--survival", "months,died", "--out", "out")
    assert sorted(path.name for path in (folder / "out").iterdir() if path.is_file()) == sorted(FILES)
    analysis = cr.load("out/result.npz")
    expected = analysis.findings.annotations(clinic(frames), survival=("months", "died")).summary()
    written = pd.read_csv("out/annotations.csv").set_index("annotation")
    for row in expected.to_dict("records"):
        assert written.loc[row["annotation"], "pvalue"] == pytest.approx(row["pvalue"])
    assert {"known label", "er", "died", "age"} == set(written.index)
    page = html.unescape((folder / "out" / "report.html").read_text())
    for sentence in analysis.annotations.sentences:
        assert sentence in done.stdout
        assert sentence in page


def test_a_configuration_finds_the_table_from_its_own_folder(folder, frames, monkeypatch):
    (folder / "there").mkdir()
    known = clinic(frames)
    known.to_csv("there/clinic.csv", index_label="patient")
    (folder / "there" / "run.toml").write_text('annotations = "clinic.csv"\nsurvival = "months,died"\n')
    (folder / "clinic.csv").write_text("patient,other\nnobody,1\n")  # of this name in the working folder
    invoke(*RUN, "--config", "there/run.toml", "--out", "one")
    assert (folder / "one" / "config.toml").read_text().count('annotations = "../there/clinic.csv"\n') == 1
    monkeypatch.chdir("there")
    invoke("run", "--config", "../one/config.toml", "--out", "../two", "--jobs", "1", "--quiet")
    for name in ("config.toml", "annotations.csv"):
        assert (folder / "one" / name).read_bytes() == (folder / "two" / name).read_bytes()
    (folder / "there" / "clinic.csv").unlink()
    monkeypatch.chdir("..")
    invoke(*RUN, "--config", "there/run.toml", "--out", "three", code=3)


def test_columns_of_obs(folder, frames):
    both = pd.concat([frames["alpha"], frames["beta"]])
    adata = anndata.AnnData(both.drop(columns="subtype").to_numpy(), obs=pd.DataFrame(index=both.index))
    adata.obs["lab"] = ["alpha"] * len(frames["alpha"]) + ["beta"] * len(frames["beta"])
    adata.obs["kind"] = both["subtype"].to_numpy()
    adata.write_h5ad("cells.h5ad")
    line = ["run", "cells.h5ad", "--study-key", "lab", "--k", "3", *SMALL, *NO_NULL, "--quiet", "--out", "out"]
    invoke(*line, "--annotations", "kind")
    assert cr.load("out/result.npz").annotations.columns == ("kind",)
    invoke("run", "--config", "out/config.toml", "--out", "again", "--jobs", "1", "--quiet")
    assert (folder / "again" / "annotations.csv").read_bytes() == (folder / "out" / "annotations.csv").read_bytes()
    invoke(*line, "--force", "--annotations", "kinds", code=2)


def test_tables_that_do_not_fit_are_refused_before_the_work(folder, frames):
    known = clinic(frames)
    known.set_index("other" + known.index).to_csv("names.csv")
    known.iloc[:0].to_csv("empty.csv")
    (folder / "nothing.csv").touch()
    known[["er"]].to_csv("er.csv")
    (folder / "column.csv").write_text("cell\n" + "\n".join(known.index) + "\n")  # was cut at its letters
    for name in ("names.csv", "empty.csv", "nothing.csv", "missing.csv", "column.csv"):
        assert invoke(*RUN, "--annotations", name, "--out", "out", code=3).stderr.count("\n") == 1
    invoke(*RUN, "--annotations", "er.csv", "--survival", "months,died", "--out", "out", code=2)
    invoke(*RUN, "--survival", "months,died", "--out", "out", code=2)
    invoke(*RUN, "--annotations", "er.csv", "--survival", "months", "--out", "out", code=2)
    assert not (folder / "out").exists()
