"""An AnnData on a Zarr store: what anndata reads lazily is read block by block."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError

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
def test_a_store_without_a_column_is_one_study_with_a_note(stored, tmp_path):
    notes = cr.Studies.read(tmp_path / "cells.zarr").comparability().notes
    assert ["study_key='donor'" in note.remedy for note in notes if note.kind == "one study"] == [True]


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

    monkeypatch.setattr("clustrep.data.readers.h5ad.CELLS", 30)
    monkeypatch.setattr(zarr.Array, "__getitem__", spy)
    studies = cr.Studies.from_anndata(on_store, "donor", rep)
    assert len(sizes) > 2
    assert max(sizes) <= 41  # the ends of all rows of a sparse table; never a whole table
    for name in "ab":
        assert studies[name].X.dtype == np.float32
        np.testing.assert_array_equal(studies[name].X, expected[name].X)


# ---------------------------------------------------------------------------------------------------------------------
# folders


@pytest.fixture(params=[2, 3])
def folder(stored, tmp_path, request):
    """A store in either version of the format."""
    if not hasattr(anndata.settings, "zarr_write_format"):
        pytest.skip("this version of anndata writes one version of the format")
    with anndata.settings.override(zarr_write_format=request.param):
        stored[0].write_zarr(tmp_path / "atlas.zarr")
    return tmp_path / "atlas.zarr"


@pytest.mark.filterwarnings("ignore")  # of anndata and zarr, while a store is written
@pytest.mark.parametrize("rep", [None, "X_pca", "sparse"])
def test_a_folder_is_read_as_what_was_written_to_it(stored, folder, rep):
    expected = cr.Studies.from_anndata(stored[0], "donor", rep)
    studies = cr.Studies.read(folder, study_key="donor", rep=rep)
    assert list(studies) == ["a", "b"]
    for name in "ab":
        assert studies[name].X.dtype == np.float32
        assert studies[name].features == expected[name].features
        assert studies[name].samples == expected[name].samples
        np.testing.assert_array_equal(studies[name].X, expected[name].X)


@pytest.mark.filterwarnings("ignore")
def test_without_a_column_the_folder_names_the_study(folder):
    (study,) = cr.Studies.read(folder, features=["g4", "g1"]).values()
    assert (study.name, study.features, len(study)) == ("atlas", ("g4", "g1"), 40)


@pytest.mark.filterwarnings("ignore")
def test_what_would_be_unpickled_is_refused(folder):
    described = next(file for file in folder.rglob("*") if file.name in (".zarray", "zarr.json") and "X" in file.parts)
    text = json.loads(described.read_text())
    text["filters" if described.name == ".zarray" else "codecs"] = [{"id": "pickle", "name": "numcodecs.pickle"}]
    described.write_text(json.dumps(text))
    with refused(DataError):
        cr.Studies.read(folder)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", ["elsewhere", "nowhere"])
def test_links_lead_out_of_what_was_checked_and_are_refused(folder, target):
    (folder.parent / "elsewhere").mkdir()
    (folder / "obs" / "linked").symlink_to(folder.parent / target, target_is_directory=True)
    with refused(DataError):
        cr.Studies.read(folder)


@pytest.mark.filterwarnings("ignore")
def test_a_damaged_store_is_told_in_a_sentence(folder):
    for file in folder.rglob("*"):
        if file.is_file() and file.name not in (".zgroup", ".zarray", ".zattrs", "zarr.json", ".zmetadata"):
            file.write_bytes(b"damaged")
    with refused(DataError):
        cr.Studies.read(folder)


def test_other_folders_are_refused(tmp_path):
    zarr.open_group(tmp_path / "other.zarr", mode="w")
    with refused(DataError):
        cr.Studies.read(tmp_path / "other.zarr")
    with refused(DataError):
        cr.Studies.read(tmp_path)
