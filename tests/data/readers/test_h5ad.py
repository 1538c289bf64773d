"""AnnData and h5ad: the studies that a column of obs tells apart, and a sentence for everything else."""

from __future__ import annotations

import shutil
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from tests.data.readers.examples import (
    BARCODES,
    CELLS,
    FRAME,
    GENES,
    PCA,
    TYPES,
    assert_stands_alone,
    make,
    only,
    write,
)
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.data.readers import h5ad as h5ad_reader
from clustrep.data.readers.h5ad import read_cells
from clustrep.errors import DataError, DataWarning, ParameterError

DRESSES = [
    pytest.param(np.array, id="dense"),
    pytest.param(scipy.sparse.csr_matrix, id="csr"),
    pytest.param(scipy.sparse.csc_matrix, id="csc"),
    pytest.param(scipy.sparse.csr_array, id="csr array"),
]


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("rep", [None, "X"])
def test_an_h5ad_file_is_one_study_named_after_it(h5ad, dress, rep):
    study = only(h5ad(make(dress(CELLS))), rep=rep)
    assert study.name == "cells"
    assert study.features == GENES
    assert study.samples == BARCODES
    assert study.labels is None
    np.testing.assert_array_equal(study.X, CELLS)


def assert_are_the_donors(studies, matrix=CELLS, features=GENES):
    assert studies.names == ("d2", "d1")
    assert studies.features == tuple(features)
    for first, name in enumerate(studies.names):
        assert studies[name].samples == BARCODES[first::2]
        np.testing.assert_array_equal(studies[name].X, matrix[first::2])


def ways_of_reading(adata, h5ad):
    path = h5ad(adata)
    import anndata

    backed = anndata.read_h5ad(path, backed="r")
    yield lambda **options: cr.Studies.read(path, **options)
    yield lambda **options: cr.Studies.from_anndata(adata, **options)
    yield lambda **options: cr.Studies.from_anndata(adata[::-1][::-1], **options)
    yield lambda **options: cr.Studies.from_anndata(backed, **options)
    backed.file.close()


@pytest.mark.parametrize("dress", DRESSES)
def test_a_column_of_obs_tells_the_studies_apart(h5ad, dress):
    for read in ways_of_reading(make(dress(CELLS)), h5ad):
        assert_are_the_donors(read(study_key="donor"))
        assert_are_the_donors(read(study_key="donor", rep="X_pca"), PCA, ["X_pca_1", "X_pca_2"])
        assert_are_the_donors(read(study_key="donor", rep="counts"), np.rint(CELLS))
        labelled = read(study_key="donor", label="type")
        assert labelled["d2"].labels.tolist() == ["T", "T", "B"]
        assert labelled["d1"].labels.tolist() == ["B", "B", "T"]
        scaled = read(study_key="donor", scale="study")
        np.testing.assert_allclose(scaled["d1"].X.mean(axis=0), 0, atol=1e-12)


def test_the_arguments_of_from_anndata_may_be_given_by_place():
    assert cr.Studies.from_anndata(make(), "donor", "X_pca")["d1"].X.dtype == np.float32


def test_an_anndata_is_left_as_it_was():
    adata = make()
    studies = cr.Studies.from_anndata(adata, "donor")
    adata.X[:] = 0
    assert_are_the_donors(studies)
    assert adata.obs.columns.tolist() == ["donor", "type", "depth"]


@pytest.mark.parametrize(
    ("column", "names"),
    [
        (pd.Categorical(["b", "a", "b", "a", "b", "a"], categories=["z", "a", "b"]), ("b", "a")),
        ([2, 1, 2, 1, 2, 1], ("2", "1")),
        ([True, False] * 3, ("True", "False")),
        (pd.array(["b", "a"] * 3, dtype="string"), ("b", "a")),
    ],
)
def test_studies_come_in_the_order_of_their_cells(column, names):
    adata = make()
    adata.obs["lab"] = column
    assert cr.Studies.from_anndata(adata, "lab").names == names


@pytest.mark.parametrize(
    ("column", "kept"),
    [
        (pd.Categorical(TYPES), list(TYPES)),
        (pd.Categorical([3, 1, 3, 1, 1, 3]), [3, 1, 3, 1, 1, 3]),
        (pd.array([1, 0, 1, 0, 0, 1], dtype="boolean"), [1, 0, 1, 0, 0, 1]),
        (np.float32([1, 2, 1, 2, 2, 1]), [1, 2, 1, 2, 2, 1]),
    ],
)
def test_labels_of_any_type_are_taken_from_obs(h5ad, column, kept):
    adata = make()
    adata.obs["known"] = column
    assert only(h5ad(adata), label="known").labels.tolist() == kept


def test_a_frame_in_obsm_keeps_its_names(h5ad):
    scores = pd.DataFrame({"cytotoxic": CELLS[:, 0], "naive": CELLS[:, 1]}, index=list(BARCODES))
    study = only(h5ad(make(obsm={"scores": scores, "few": scipy.sparse.csr_matrix(PCA)})), rep="scores")
    assert study.features == ("cytotoxic", "naive")
    np.testing.assert_array_equal(only(h5ad(make(obsm={"few": scipy.sparse.csr_matrix(PCA)})), rep="few").X, PCA)


def test_numbers_that_anndata_gives_are_no_names(h5ad):
    import anndata

    one, two = h5ad(anndata.AnnData(CELLS), "one.h5ad"), h5ad(anndata.AnnData(CELLS + 1), "two.h5ad")
    studies = cr.Studies.read(one, two)  # no warning of samples in common
    assert studies.features == ("1", "2", "3", "4")
    assert not studies["one"].samples_are_named
    assert not studies["one"].features_are_named


def test_a_file_without_x_has_its_embedding(h5ad):
    path = h5ad(make(None, layers={}, var=pd.DataFrame(index=[])))
    np.testing.assert_array_equal(only(path, rep="X_pca").X, PCA)
    with refused(DataError):
        cr.Studies.read(path)


def test_embeddings_of_several_files_are_warned_about(h5ad):
    paths = h5ad(make()), h5ad(make(obs=make().obs.rename("other {}".format)), "other.h5ad")
    with warned(DataWarning):
        cr.Studies.read(*paths, rep="X_pca")
    cr.Studies.read(*paths, rep="counts", label=False)


def test_h5ad_the_wrong_way_round_and_a_probable_label_are_noticed(h5ad, tmp_path):
    genes_in_rows = make().T
    text = pd.DataFrame(CELLS, columns=list(GENES), index=[f"p{i}" for i in range(6)]).to_csv()
    with refused(DataError):
        cr.Studies.read(h5ad(genes_in_rows), write(tmp_path, text, "text.csv"))
    classes = make(np.column_stack([CELLS[:, 1:], [1, 2] * 3]))
    with refused(DataError):
        cr.Studies.read(h5ad(classes))
    repeated = make(
        np.tile(classes.X, (2, 1)),
        obs=pd.DataFrame({"half": [*"aaaaaabbbbbb"]}, index=list("abcdefghijkl")),
        obsm={},
        layers={},
    )
    with warned(DataWarning):
        cr.Studies.from_anndata(repeated, "half")
    cr.Studies.from_anndata(repeated, "half", label=False)


def donors(*names):
    return {"obs": pd.DataFrame({"donor": names}, index=list(BARCODES))}


def twice(names):
    return pd.DataFrame(index=[names[0], *names[:-1]])


@pytest.mark.filterwarnings("ignore:.*names are not unique")
@pytest.mark.parametrize(
    ("changes", "options"),
    [
        pytest.param({}, {"study_key": "doner"}, id="key"),
        pytest.param({}, {"rep": "X_pac"}, id="rep"),
        pytest.param({}, {"label": "typ"}, id="label"),
        pytest.param(donors("a", None, "b", None, "a", "b"), {"study_key": "donor"}, id="missing study"),
        pytest.param(donors(*"aaaaab"), {"study_key": "donor"}, id="one cell"),
        pytest.param(donors(*"aaa   "), {"study_key": "donor"}, id="blank study"),
        pytest.param({"obs": pd.DataFrame(index=list(BARCODES))}, {"study_key": "donor"}, id="no columns"),
        pytest.param({"obs": pd.DataFrame(index=list(BARCODES))}, {"label": "type"}, id="no columns, label"),
        pytest.param({"var": twice(GENES)}, {}, id="genes"),
        pytest.param({"obs": twice(BARCODES)}, {}, id="cells"),
        pytest.param({"obsm": {"deep": np.ones((6, 2, 2))}}, {"rep": "deep"}, id="3D"),
        pytest.param({"matrix": np.where(CELLS == 1, np.nan, CELLS)}, {}, id="missing"),
    ],
)  # fmt: skip
def test_h5ad_that_is_no_study_gets_its_sentence(h5ad, changes, options):
    with refused(DataError):
        cr.Studies.read(h5ad(make(**changes)), **options)


def test_empty_h5ad_gets_its_sentence(h5ad):
    with refused(DataError):
        cr.Studies.read(h5ad(make()[:0].copy()))
    with refused(DataError):
        cr.Studies.read(h5ad(make()[:, :0].copy()))


@pytest.mark.parametrize("dress", [np.array, scipy.sparse.csr_matrix])
def test_a_table_too_large_for_the_memory_is_refused_with_the_remedy(h5ad, monkeypatch, dress):
    path = h5ad(make(dress(CELLS)))
    monkeypatch.setattr(h5ad_reader, "available_memory", lambda: CELLS.nbytes - 1)
    with refused(DataError):
        cr.Studies.read(path)
    assert only(path, rep="X_pca").X.shape == (6, 2)
    assert only(path, features=["LYZ", "CD3D"]).X.shape == (6, 2)
    monkeypatch.setattr(h5ad_reader, "available_memory", lambda: CELLS.nbytes)
    assert only(path).X.shape == (6, 4)


def test_a_table_too_large_for_temporary_files_is_refused_with_the_remedy(h5ad, monkeypatch):
    path = h5ad(make())
    usage = shutil.disk_usage(path.parent)._replace(free=CELLS.nbytes - 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with refused(DataError):
        cr.Studies.read(path)


def test_a_large_sparse_table_is_refused_before_it_is_dense():
    adata = pytest.importorskip("anndata").AnnData(scipy.sparse.csr_matrix((300_000, 300_000)))
    adata.obs["donor"] = "d"
    with pytest.raises(DataError):
        cr.Studies.from_anndata(adata, "donor")


# ---------------------------------------------------------------------------------------------------------------------
# blocks, features and precision


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("cells", [1, 9, 13, 24])
@pytest.mark.parametrize("features", [None, ["LYZ", "CD3D"], ["NKG7"]])
def test_blocks_of_any_size_are_the_same_table(h5ad, monkeypatch, dress, cells, features):
    monkeypatch.setattr(h5ad_reader, "CELLS", cells)
    kept = [GENES.index(name) for name in features or GENES]
    for read in ways_of_reading(make(dress(np.where(CELLS > 5, CELLS, 0))), h5ad):
        assert_are_the_donors(
            read(study_key="donor", features=features), np.where(CELLS > 5, CELLS, 0)[:, kept], features or GENES
        )


def test_compressed_chunks_are_the_same_table(h5ad, monkeypatch):
    import h5py

    path = h5ad(make())
    for chunks in [(1, 1), (4, 3), (6, 4)]:
        with h5py.File(path, "a") as file:
            attributes = dict(file["X"].attrs)
            del file["X"]
            file.create_dataset("X", data=CELLS, chunks=chunks, compression="gzip").attrs.update(attributes)
        for cells in (1, 17, 2**20):
            monkeypatch.setattr(h5ad_reader, "CELLS", cells)
            np.testing.assert_array_equal(only(path).X, CELLS)


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize(
    ("stored", "kept"), [("f4", "f4"), ("f8", "f8"), ("f2", "f8"), ("i4", "f8"), ("u1", "f8"), (">f8", "f8")]
)
def test_single_precision_stays_and_all_else_is_double(h5ad, dress, stored, kept):
    matrix = dress(np.rint(CELLS))
    import h5py

    path = h5ad(make(matrix))
    with h5py.File(path, "a") as file:
        name = "X" if isinstance(file["X"], h5py.Dataset) else "X/data"
        values, attributes = file[name][:].astype(stored), dict(file[name].attrs)
        del file[name]
        file.create_dataset(name, data=values).attrs.update(attributes)
    studies = cr.Studies.read(path, study_key="donor")
    assert_are_the_donors(studies, np.rint(CELLS))
    assert {study.X.dtype for study in studies.values()} == {np.dtype(kept)}


@pytest.mark.parametrize("dress", [np.array, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
@pytest.mark.parametrize("features", [None, ["7", "3"]])
def test_no_more_than_a_block_is_in_memory_besides_the_table(h5ad, monkeypatch, dress, features):
    import anndata

    monkeypatch.setattr(h5ad_reader, "CELLS", 20_000)
    X = np.random.default_rng(0).integers(1, 5, size=(3_000, 200)).astype(float)
    path = h5ad(anndata.AnnData(dress(X), uns={"not needed": np.zeros((3_000, 200))}))
    read_cells(path, rep=None, columns=[], features=features)  # imports
    tracemalloc.start()
    try:
        cells = read_cells(path, rep=None, columns=[], features=features)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(cells.matrix, X if features is None else X[:, [6, 2]])
    assert peak < cells.matrix.nbytes + 2e6  # the table takes 4.8 MB, names and a block the rest


def test_features_are_chosen_in_files_of_any_format(h5ad, tmp_path):
    text = pd.DataFrame(CELLS + 1, columns=list(GENES), index=[f"p{i}" for i in range(6)]).to_csv()
    studies = cr.Studies.read(h5ad(make()), write(tmp_path, text, "text.csv"), features=("LYZ", "MS4A1"))
    assert studies.features == ("LYZ", "MS4A1")
    np.testing.assert_array_equal(studies["cells"].X, CELLS[:, [3, 1]])
    np.testing.assert_array_equal(studies["text"].X, CELLS[:, [3, 1]] + 1)
    np.testing.assert_array_equal(only(h5ad(make()), rep="X_pca", features=["X_pca_2"]).X, PCA[:, [1]])
    np.testing.assert_array_equal(only(h5ad(make()), rep="counts", features=["LYZ"]).X, np.rint(CELLS)[:, [3]])


def test_features_that_have_no_names_are_chosen_by_number(h5ad):
    import anndata

    study = only(h5ad(anndata.AnnData(CELLS)), features=["4", "2"])
    assert study.features == ("4", "2")
    np.testing.assert_array_equal(study.X, CELLS[:, [3, 1]])


@pytest.mark.parametrize(
    ("features", "refusal"),
    [
        (["LYZ", "CD3"], (DataError,)),
        ([], (ParameterError, "features")),
        ("LYZ", (ParameterError, "features")),
        ([1, 2], (ParameterError, "features")),
        (["LYZ", "LYZ"], (ParameterError, "features")),
    ],
)
def test_features_that_there_are_not_get_their_sentence(h5ad, features, refusal):
    with refused(*refusal):
        cr.Studies.read(h5ad(make()), features=features)
    with refused(*refusal):
        cr.Studies.from_anndata(make(), "donor", features=features)


def test_features_that_a_text_file_lacks_get_their_sentence(tmp_path):
    with refused(ParameterError, "features"):
        cr.Studies.read(write(tmp_path, FRAME.to_csv(), "mainz.csv"), features=["ESR"])


@pytest.mark.parametrize("keep", [6, 8, 700, -1000])
def test_damaged_h5ad_is_refused_in_one_sentence(h5ad, tmp_path, keep):
    damaged = write(tmp_path, h5ad(make()).read_bytes()[:keep], "half.h5ad")
    with refused(DataError) as caught:
        cr.Studies.read(damaged)
    assert_stands_alone(caught)


def test_h5ad_that_anndata_refuses_is_refused_in_one_sentence(h5ad):
    import h5py

    path = h5ad(make())
    with h5py.File(path, "a") as file:
        file["obs"].attrs["encoding-version"] = "99.0.0"
    with refused(DataError) as caught:
        cr.Studies.read(path)
    assert_stands_alone(caught)


def test_a_table_damaged_inside_an_h5ad_file_is_refused_in_one_sentence(h5ad):
    import h5py

    adata = make()
    adata.write_h5ad(path := h5ad(adata), compression="gzip")
    with h5py.File(path) as file:
        chunk = file["X"].id.get_chunk_info(0)
    content = bytearray(path.read_bytes())
    content[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    path.write_bytes(content)
    with refused(DataError) as caught:
        cr.Studies.read(path)
    assert_stands_alone(caught)


def test_hdf5_that_is_not_h5ad_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["matrix"] = CELLS
    with refused(DataError):
        cr.Studies.read(tmp_path / "other.h5")


def test_h5ad_needs_anndata(h5ad, monkeypatch):
    path = h5ad(make())
    monkeypatch.setitem(sys.modules, "anndata", None)
    with refused(DataError) as caught:
        cr.Studies.read(path)
    assert_stands_alone(caught)


@pytest.mark.parametrize(
    ("adata", "error"),
    [
        (FRAME, DataError),
        ("cells.h5ad", DataError),
        (None, DataError),
    ],
)
def test_from_anndata_takes_an_anndata(adata, error):
    with refused(error):
        cr.Studies.from_anndata(adata, "donor")


@pytest.mark.parametrize(
    "options",
    [
        {"study_key": None},
        {"study_key": ""},
        {"study_key": "donor", "rep": 3},
        {"study_key": "donor", "label": 3},
        {"study_key": "donor", "scale": "log"},
    ],
)
def test_from_anndata_checks_its_parameters(options):
    with refused(ParameterError, [*options][-1]):
        cr.Studies.from_anndata(make(), **options)


def test_from_anndata_needs_a_column_and_a_table_that_there_are():
    with refused(DataError):
        cr.Studies.from_anndata(make(), "batch")
    with refused(DataError):
        cr.Studies.from_anndata(make(), "donor", "X_umap")
    with refused(DataError):
        cr.Studies.from_anndata(make(), "donor", label="typ")


# ---------------------------------------------------------------------------------------------------------------------
# one study, or several


def undivided():
    adata = make()
    adata.obs["many"] = [f"m{i}" for i in range(len(adata))]
    adata.obs["list"] = [[i] for i in range(len(adata))]
    return adata


@pytest.mark.parametrize(
    "wrap",
    [lambda adata: adata, lambda adata: [adata], lambda adata: {"atlas": adata}],
    ids=["bare", "list", "mapping"],
)
@pytest.mark.parametrize(
    "function",
    [
        lambda studies: cr.replicability(KMeans(2), studies),
        lambda studies: cr.compare({"k-means": KMeans()}, studies, n_clusters=[2]),
        lambda studies: cr.leave_one_study_out(KMeans(2), studies),
    ],
    ids=["replicability", "compare", "leave_one_study_out"],
)
def test_an_anndata_in_the_place_of_studies_is_told_of_its_columns(function, wrap):
    with refused((DataError, ParameterError), None if wrap(1) == 1 else "studies"):
        function(wrap(undivided()))


def test_one_study_of_an_anndata_carries_a_note(h5ad):
    adata = undivided()
    notes = cr.Studies([adata]).scaled("pooled").comparability().notes
    assert [note.kind for note in notes if note.kind == "one study"] == ["one study"]
    assert "batch_key='donor'" in notes[0].remedy
    del adata.obs["list"]
    assert "study_key='donor'" in cr.Studies.read(h5ad(adata)).comparability().notes[0].remedy
    for divided in (cr.Studies.from_anndata(adata, "donor"), cr.Studies({"a": adata[:3], "b": adata[3:]})):
        assert "one study" not in [note.kind for note in divided.comparability().notes]


def test_known_labels_are_found_in_obs():
    adata = make()
    study = cr.Study(adata, "atlas", label="type")
    assert study.labels.tolist() == adata.obs["type"].tolist()
    assert study.features == tuple(adata.var_names)
    with pytest.raises(ParameterError) as caught:
        cr.Study(adata, "atlas", label="type", labels=["other"] * len(adata))
    assert caught.value.parameter == "label"


@pytest.mark.parametrize("options", [{"layer": "X_pca"}, {"use_rep": "counts"}, {"study_key": None}])
def test_names_of_scanpy_name_what_they_do_there(options):
    with refused(ParameterError, next(iter(options))):
        cr.Studies.from_anndata(make(), **{"study_key": "donor", **options})
