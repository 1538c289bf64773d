"""Values of a parameter on the command line."""

from __future__ import annotations

import anndata
import click
import numpy as np
import pandas as pd
import pytest
from tests.cli.support import invoke

from clustrep.cli.clusterer_names import numbers_of_range, ranged_clusterers_of, without_range
from clustrep.cli.options import Numbers
from clustrep.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0.1:1.0", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)),
        ("0.1:2.0:3", (0.1, 1.05, 2.0)),
        ("2:5", (2, 3, 4, 5)),
        ("1e-4:1e-3:4", (0.0001, 0.0004, 0.0007, 0.001)),
        ("1:0", None),
        ("0.1", None),
        ("a:b", None),
        ("0.1:1:1", None),
        ("0:5000", None),
        ("0.1:inf", None),
        ("-1e999:1.0", None),
    ],
)
def test_ranges(text, numbers):
    assert numbers_of_range(text) == numbers


def test_a_range_is_taken_out_of_the_clusterer():
    assert without_range("dbscan:eps=0.1:1.0:2,min_samples=4") == ("dbscan:min_samples=4", {"eps": (0.1, 1.0)})
    assert without_range("dbscan:eps=0.1") == ("dbscan:eps=0.1", {})


def test_ranges_and_resolutions_for_all():
    specs = ("leiden:n_neighbors=8", "dbscan:eps=0.5:1.0:2", "kmeans", "louvain:resolution=1:3")
    specs = (*specs, "louvain: resolution = 0.7")
    clusterers, param_grid = ranged_clusterers_of(specs, {"resolution": (0.1, 0.5)})
    assert list(clusterers) == [
        "leiden:n_neighbors=8",
        "dbscan",
        "kmeans",
        "louvain",
        "louvain: resolution = 0.7",
    ]
    assert param_grid == {
        "leiden:n_neighbors=8": {"resolution": (0.1, 0.5)},
        "dbscan": {"eps": (0.5, 1.0)},
        "louvain": {"resolution": (1, 2, 3)},
    }


@pytest.mark.parametrize(
    ("specs", "for_all", "parameter"),
    [
        (("dbscan:eps=1:2,min_samples=2:3",), {}, "clusterer"),
        (("dbscan:eps=1:2", "dbscan"), {}, "clusterer"),
        (("kmeans:n_clusters=2:3",), {}, "clusterer"),
        (("kmeans",), {"resolution": (0.1,)}, "resolution"),
        (("leiden:resolution=1",), {"resolution": (0.1,)}, "resolution"),
        (("dbscan:epsilon=1:2",), {}, "clusterer"),
    ],
)
def test_what_is_refused(specs, for_all, parameter):
    with pytest.raises(ParameterError) as caught:
        ranged_clusterers_of(specs, for_all)
    assert caught.value.parameter == parameter


def test_values_of_an_option():
    values = Numbers(whole=False)
    assert values.convert("0.1,0.5:1.5:3,0.5", None, None) == (0.1, 0.5, 1.0, 1.5)
    assert values.convert([0.1, 2], None, None) == (0.1, 2.0)
    whole = values.convert("1:3", None, None)
    assert list(map(repr, whole)) == list(map(repr, values.convert(list(whole), None, None))) == ["1.0", "2.0", "3.0"]
    with pytest.raises(click.BadParameter):
        values.convert("wide", None, None)


# ---------------------------------------------------------------------------------------------------------------------
# a run


def test_a_run_over_resolutions_that_writes_the_cells(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=120)
    obs = pd.DataFrame({"lab": ["n", "s"] * 60}, index=[f"c{i}" for i in range(120)])
    adata = anndata.AnnData(12.0 * group[:, None] + rng.normal(size=(120, 3)), obs=obs)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    monkeypatch.chdir(tmp_path)
    options = ["--null", "none", "--figures", "none", "--resamples", "3", "--jobs", "1", "--quiet", "--write-h5ad"]
    arguments = ["--clusterer", "leiden:n_neighbors=8", "--resolution", "0.1,1.0", "--out", "first"]
    invoke("run", "cells.h5ad", "--study-key", "lab", *arguments, *options)
    summary = pd.read_csv("first/choice.csv")
    assert summary["value"].unique().tolist() == [0.1, 1.0]
    assert (summary["clusters_found"] >= 2).all()
    cells = anndata.read_h5ad("first/annotated.h5ad")
    assert len(set(zip(cells.obs["clustrep_cluster"], group, strict=True))) == 2
    invoke("run", "--config", "first/config.toml", "--out", "again", "--quiet", "--jobs", "1")
    assert (tmp_path / "again/choice.csv").read_bytes() == (tmp_path / "first/choice.csv").read_bytes()


def test_cells_can_be_written_only_where_there_are_some(folder):
    said = invoke("run", "alpha.csv", "beta.csv", "--write-h5ad", code=2).output
    assert "--write-h5ad needs one h5ad file" in said
    said = invoke("local", "alpha.csv", "beta.csv", "--clusterer", "dbscan:eps=0.1:1.0", code=2).output
    assert "local follows one value of a parameter" in said


def test_a_range_of_a_clusterer_that_needs_a_number_of_clusters(folder):
    ask = ["run", "alpha.csv", "beta.csv", "--clusterer", "kmeans:max_iter=1:2", "--null", "none", "--resamples", "2"]
    said = invoke(*ask, "--k", "2:3", code=2).output
    assert "--clusterer kmeans has several values of a parameter: set one number of clusters for them" in said
    invoke(*ask, "--k", "3", "--figures", "none", "--jobs", "1", "--label", "subtype", "--out", "out")
    assert pd.read_csv("out/choice.csv")["k"].unique().tolist() == [3]
