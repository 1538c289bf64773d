"""`clustrep.tl`: an AnnData in, an AnnData that knows its clusters out."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import clustrep as cr

anndata = pytest.importorskip("anndata")
FEW = {"n_clusters": [2, 3], "n_resamples": 3, "n_null": 0, "train": ()}


@pytest.fixture
def cells():
    centres = np.array([[0.0, 0, 0, 0], [9, 0, 0, 0], [0, 9, 0, 0]])
    rng = np.random.default_rng(0)
    kind = np.arange(180) % 3
    adata = anndata.AnnData(centres[kind] + rng.normal(size=(180, 4)))
    adata.obs_names = [f"cell{i}" for i in range(180)]
    adata.obs["donor"] = pd.Categorical(np.repeat(["d1", "d2"], 90))
    adata.obsm["X_pca"] = adata.X[:, :2].copy()
    adata.layers["noise"] = rng.normal(size=(180, 4))
    adata.obs["kind"] = kind.astype(str)
    return adata


def test_it_writes_what_the_analysis_says(cells):
    assert cr.tl.replicable_clusters(cells, "donor", KMeans(n_init=2), **FEW) is None
    studies = cr.Studies.from_anndata(cells, "donor", "X_pca")
    analysis = cr.analyse(KMeans(n_init=2), studies, rng=0, **FEW)
    assert cells.obs["clustrep_cluster"].tolist() == analysis.labels()["cluster"].tolist()
    assert cells.uns["clustrep"]["verdict"] == "separated"
    assert len(cells.uns["clustrep_cluster_colors"]) == cells.obs["clustrep_cluster"].cat.categories.size == 3


def test_a_copy_leaves_the_original_alone(cells):
    before = list(cells.obs.columns)
    written = cr.tl.replicable_clusters(cells, "donor", KMeans(n_init=2), copy=True, key_added="repeated", **FEW)
    assert list(cells.obs.columns) == before
    assert not cells.uns
    assert cr.agreement.adjusted_rand_index(written.obs["repeated_cluster"].astype(str), cells.obs["kind"]) == 1.0


def test_layers_and_representations_are_taken(cells):
    verdicts = {}
    for name, given in {"X": {"use_rep": "X"}, "layer": {"layer": "noise"}}.items():
        written = cr.tl.replicable_clusters(cells, "donor", KMeans(n_init=2), copy=True, **given, **FEW)
        verdicts[name] = written.uns["clustrep"]["verdict"]
    assert verdicts == {"X": "separated", "layer": "inconclusive"}
    with pytest.raises(cr.errors.ParameterError) as refused:
        cr.tl.replicable_clusters(cells, "donor", use_rep="X", layer="noise")
    assert refused.value.parameter == "layer"
    with pytest.raises(cr.errors.DataError):
        cr.tl.replicable_clusters(cells, "nobody")


def test_leiden_over_resolutions_is_the_default(cells):
    pytest.importorskip("igraph")
    cr.tl.replicable_clusters(cells, "donor", resolution=[0.05, 0.1], n_resamples=2, n_null=0, train=())
    assert cells.uns["clustrep"]["focus"].startswith("Leiden")
    assert cells.obs["clustrep_cluster"].nunique() == 3


def test_a_single_resolution_is_given_as_in_scanpy(cells):
    pytest.importorskip("igraph")
    cr.tl.replicable_clusters(cells, "donor", resolution=0.1, n_resamples=2, n_null=0, train=())
    assert cells.uns["clustrep"]["focus"].startswith("Leiden, resolution = 0.1")


def test_it_survives_a_file(cells, tmp_path):
    cr.tl.replicable_clusters(cells, "donor", KMeans(n_init=2), **FEW)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert again.obs["clustrep_cluster"].tolist() == cells.obs["clustrep_cluster"].tolist()


def test_other_arguments_are_those_of_analyse():
    own = set(inspect.signature(cr.tl.replicable_clusters).parameters)
    assert {"rng", "n_jobs"} <= set(inspect.signature(cr.analyse).parameters) - own
