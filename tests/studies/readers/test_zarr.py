"""An AnnData on a Zarr store: what anndata reads lazily is read block by block."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import clustrep as cr

anndata = pytest.importorskip("anndata")
zarr = pytest.importorskip("zarr")


@pytest.fixture
def stored(tmp_path):
    """The same cells in memory and on a store, dense and sparse."""
    X = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
    X[X < 0] = 0
    obs = pd.DataFrame({"donor": ["a"] * 20 + ["b"] * 20}, index=[f"c{i}" for i in range(40)])
    var = pd.DataFrame(index=[f"g{i}" for i in range(6)])
    in_memory = anndata.AnnData(X, obs=obs, var=var, layers={"sparse": sp.csr_matrix(X)}, obsm={"X_pca": X[:, :2]})
    in_memory.write_zarr(tmp_path / "cells.zarr")
    group = zarr.open_group(tmp_path / "cells.zarr", mode="r")
    on_store = anndata.AnnData(
        X=group["X"],
        obs=obs,
        var=var,
        obsm={"X_pca": group["obsm/X_pca"]},
        layers={"sparse": anndata.io.sparse_dataset(group["layers/sparse"])},
    )
    return in_memory, on_store


@pytest.mark.filterwarnings("ignore")  # of anndata and zarr
@pytest.mark.parametrize("rep", [None, "X_pca", "sparse"])
def test_a_store_is_read_by_blocks_and_as_from_memory(stored, rep, monkeypatch):
    in_memory, on_store = stored
    expected = cr.Studies.from_anndata(in_memory, "donor", rep)
    sizes, read = [], zarr.Array.__getitem__

    def spy(array, selection):
        block = read(array, selection)
        sizes.append(np.size(block))
        return block

    monkeypatch.setattr("clustrep.studies.readers.stored_blocks.CELLS", 30)
    monkeypatch.setattr(zarr.Array, "__getitem__", spy)
    studies = cr.Studies.from_anndata(on_store, "donor", rep)
    assert len(sizes) > 2
    assert max(sizes) <= 41  # the ends of all rows of a sparse table; never a whole table
    for name in "ab":
        assert studies[name].X.dtype == np.float32
        np.testing.assert_array_equal(studies[name].X, expected[name].X)
