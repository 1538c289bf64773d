"""Studies from Parquet, h5ad, AnnData and GEO: the values of the table they came from, and a sentence for the rest."""

from __future__ import annotations

import decimal
import gzip
import os
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import clustrep as cr
from clustrep.errors import DataError, DataWarning, ParameterError
from clustrep.studies.readers import formats as _formats

FEATURES = ("ESR1", "ERBB2")
SAMPLES = ("m1", "m2", "m3")
VALUES = np.array([[8.5, -14.25], [13.0, 1e-3], [0.5, 2.0]])
FRAME = pd.DataFrame(VALUES, index=list(SAMPLES), columns=list(FEATURES))
CSV = "id,ERBB2,ESR1\nv1,1.5,2.5\nv2,3.5,4.5\n"


def write(folder, content, name):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def only(path, **options):
    (study,) = cr.Studies.read(path, **options).values()
    return study


def assert_is_the_frame(study):
    assert study.features == FEATURES
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, VALUES)


def assert_stands_alone(caught):
    """No traceback of a library behind the sentence."""
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


# ---------------------------------------------------------------------------------------------------------------------
# Parquet


@pytest.fixture
def parquet(tmp_path):
    pytest.importorskip("pyarrow")

    def save(frame, name="mainz.parquet", **options):
        frame.to_parquet(tmp_path / name, **options)
        return tmp_path / name

    return save


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(FRAME, id="index"),
        pytest.param(FRAME.rename_axis("patient"), id="named index"),
        pytest.param(FRAME.reset_index(names="patient"), id="first column"),
        pytest.param(FRAME.reset_index(names="whatever"), id="first column of text"),
        pytest.param(FRAME.reset_index(names="whatever").astype({"whatever": "category"}), id="first column, category"),
        pytest.param(FRAME.reset_index(names="whatever").astype({"whatever": "string"}), id="first column, string"),
        pytest.param(FRAME.astype("Float64"), id="nullable"),
        pytest.param(FRAME.map(lambda value: decimal.Decimal(str(value))), id="decimal"),
    ],
)
def test_parquet_is_read_as_it_was_written(parquet, frame):
    study = only(parquet(frame))
    assert study.name == "mainz"
    assert_is_the_frame(study)
    assert study.labels is None


@pytest.mark.parametrize("name", ["mainz.parquet", "mainz.csv", "mainz", "mainz.h5ad"])
def test_the_content_decides_not_the_ending(parquet, name):
    assert_is_the_frame(only(parquet(FRAME, name)))


def test_parquet_of_several_number_types(parquet):
    frame = pd.DataFrame(
        {
            "yes": [True, False, True],
            "whole": np.int8([1, 2, 3]),
            "half": np.float32([0.5, 1.5, 2.5]),
            "nullable": pd.array([4, 5, 6], dtype="Int64"),
            "maybe": pd.array([True, True, False], dtype="boolean"),
            "levels": pd.Categorical([7, 8, 7]),
        }
    )
    study = only(parquet(frame))
    assert study.features == tuple(frame.columns)
    np.testing.assert_array_equal(study.X, [[1, 1, 0.5, 4, 1, 7], [0, 2, 1.5, 5, 1, 8], [1, 3, 2.5, 6, 0, 7]])
    assert not study.samples_are_named


def test_parquet_in_single_precision_stays_so(parquet):
    assert only(parquet(FRAME.astype(np.float32))).X.dtype == np.float32


def test_numbers_in_the_first_column_are_data_unless_it_is_named_like_samples(parquet):
    counts = pd.DataFrame({"g1": [5, 6, 7], "g2": [0.5, 1.5, 2.5]})
    assert only(parquet(counts)).features == ("g1", "g2")
    named = only(parquet(counts.rename(columns={"g1": "Patient ID"})))
    assert named.samples == ("5", "6", "7")
    first_missing = pd.DataFrame({"g1": pd.array([5, None, 7], dtype="Int64"), "g2": [0.5, 1.5, 2.5]})
    with pytest.raises(DataError, match=r"1 missing value .* sample '2', feature 'g1'"):
        only(parquet(first_missing))
    decimals = pd.DataFrame({"g1": [decimal.Decimal("5.5"), decimal.Decimal("6.5")], "g2": [0.5, 1.5]})
    np.testing.assert_array_equal(only(parquet(decimals)).X, [[5.5, 0.5], [6.5, 1.5]])


def test_text_that_looks_like_numbers_names_samples_in_parquet(parquet):
    study = only(parquet(pd.DataFrame({"code": ["007", "010", "7"], "g": [0.5, 1.5, 2.5]})))
    assert study.samples == ("007", "010", "7")


@pytest.mark.parametrize("index", [pd.RangeIndex(3), pd.RangeIndex(10, 13)], ids=["from 0", "a part of a longer table"])
def test_row_numbers_of_parquet_are_no_names(parquet, index):
    study = only(parquet(FRAME.set_axis(index)))
    assert not study.samples_are_named
    np.testing.assert_array_equal(study.X, VALUES)


def test_a_named_range_of_parquet_names_samples(parquet):
    study = only(parquet(FRAME.set_axis(pd.RangeIndex(3, name="patient"))))
    assert study.samples_are_named
    assert study.samples == ("0", "1", "2")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_row_numbers_that_pandas_took_for_data_are_left_out(parquet, tmp_path, kind):
    frame = FRAME.reset_index(drop=True).reset_index(names="Unnamed: 0")
    if kind == "csv":
        frame.to_csv(tmp_path / "mainz.csv", index=False)
    study = only(tmp_path / "mainz.csv" if kind == "csv" else parquet(frame))
    assert study.features == FEATURES
    assert not study.samples_are_named


def test_parquet_without_feature_names_is_numbered_from_one(parquet):
    plain = pd.DataFrame(np.column_stack([VALUES, [1, 1, 2]]))
    assert only(parquet(plain), label=False).features == ("1", "2", "3")
    study = only(parquet(plain), label="3")
    assert study.features == ("1", "2")
    assert not study.features_are_named
    assert study.labels.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("classes", "kept"),
    [
        (["A", "B", "A"], ["A", "B", "A"]),
        (pd.Categorical(["A", "B", "A"]), ["A", "B", "A"]),
        (pd.array(["A", "B", "A"], dtype="string"), ["A", "B", "A"]),
        ([1, 2, 1], [1, 2, 1]),
        ([1.0, 2.0, 1.0], [1, 2, 1]),
        (pd.array([1, 2, 1], dtype="Int8"), [1, 2, 1]),
        ([True, False, True], [1, 0, 1]),
    ],
)
def test_the_label_column_of_parquet_is_kept_aside(parquet, classes, kept):
    study = only(parquet(FRAME.assign(subtype=classes)), label="subtype")
    assert study.labels.tolist() == kept
    assert_is_the_frame(study)


@pytest.mark.parametrize("as_index", [True, False])
def test_the_label_may_stand_first_in_parquet(parquet, as_index):
    frame = FRAME.reset_index(drop=True)
    frame.insert(0, "subtype", ["A", "B", "A"])
    study = only(parquet(frame.set_index("subtype") if as_index else frame), label="subtype")
    assert study.labels.tolist() == ["A", "B", "A"]
    assert study.features == FEATURES
    assert not study.samples_are_named


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(FRAME.T, id="index"),
        pytest.param(FRAME.T.reset_index(names="gene"), id="first column"),
        pytest.param(FRAME.astype("Float64").T, id="nullable"),
    ],
)
def test_parquet_is_turned_on_request(parquet, frame):
    assert_is_the_frame(only(parquet(frame), transpose=True))


def test_gene_numbers_of_turned_parquet_are_names_and_measurements_are_not(parquet):
    entrez = FRAME.T.reset_index(names="entrez").assign(entrez=[1017, 1018])
    assert only(parquet(entrez), transpose="mainz").features == ("1017", "1018")
    nameless = FRAME.T.reset_index(drop=True)
    assert only(parquet(nameless), transpose=True).X.shape == (3, 2)


def test_parquet_in_a_folder_named_like_a_partition_gains_no_column(parquet, tmp_path):
    (tmp_path / "site=mainz").mkdir()
    assert_is_the_frame(only(parquet(FRAME, "site=mainz/table.parquet")))


@pytest.mark.parametrize(
    ("frame", "options", "sentence"),
    [
        pytest.param(FRAME.assign(type=["A", "B", "A"]), {}, r"not numeric: 'type' \(such as 'A'\).*label=", id="text"),
        pytest.param(FRAME.assign(type=pd.Categorical(["A", "B", "A"])), {}, r"not numeric: 'type'", id="category"),
        pytest.param(FRAME.assign(day=pd.Timestamp("2024-01-01")), {}, r"not numeric: 'day'", id="dates"),
        pytest.param(
            FRAME.assign(v=[[1.0], [2.0], [3.0]]), {}, r"mainz\.parquet has lists in its column 'v'", id="lists"
        ),
        pytest.param(FRAME.assign(v=[{"a": 1}] * 3), {}, r"has lists in its column 'v'", id="structures"),
        pytest.param(FRAME.assign(ESR1=[1.5, None, 2.5]), {}, r"sample 'm2', feature 'ESR1'", id="missing"),
        pytest.param(FRAME.set_axis(["m1", "m1", "m2"]), {}, r"duplicate sample name: 'm1'", id="duplicate samples"),
        pytest.param(
            FRAME.reset_index(drop=True).reset_index(names="x").assign(x=["A", "B", "A"]),
            {},
            r"duplicate sample name: 'A'.*use label='x'",
            id="a class first",
        ),
        pytest.param(
            FRAME.reset_index(names="id").assign(id=["a", None, "b"]), {}, r"without a name.*position 2", id="no name"
        ),
        pytest.param(FRAME.T.set_axis(["A", "A"]), {"transpose": True}, r"duplicate feature name: 'A'", id="turned"),
        pytest.param(FRAME.iloc[:0], {}, r"Study 'mainz' has 0 samples", id="no rows"),
        pytest.param(FRAME.iloc[:, :0], {}, r"Study 'mainz' has no features", id="no columns"),
        pytest.param(FRAME.iloc[:1], {}, r"1 sample: at least 2", id="one row"),
        pytest.param(
            FRAME.set_axis(pd.MultiIndex.from_product([["a"], SAMPLES])), {}, r"index of 2 levels", id="two levels"
        ),
        pytest.param(FRAME, {"label": "subtyp"}, r"No study has a column 'subtyp'.*ERBB2, ESR1", id="no label"),
        pytest.param(
            FRAME.assign(subtype=[None, "A", "B"]), {"label": "subtype"}, r"1 missing label", id="missing label"
        ),
        pytest.param(
            pd.DataFrame({"x": [0.5, 1.5, 2.5, 3.5], "class": [1, 2, 1, 2]}),
            {},
            r"Feature 'class' of study 'mainz' is probably a class label",
            id="a probable label",
        ),
    ],
)
def test_parquet_that_is_no_study_gets_its_sentence(parquet, frame, options, sentence):
    with pytest.raises(DataError, match=sentence):
        cr.Studies.read(parquet(frame), **options)


def test_parquet_the_wrong_way_round_is_noticed(parquet, tmp_path):
    with pytest.raises(DataError, match=r"'mainz' is probably the wrong way round.*transpose=\['mainz'\]"):
        cr.Studies.read(parquet(FRAME.T), write(tmp_path, CSV, "vdx.csv"))


@pytest.mark.parametrize("keep", [4, 100, -8, -1])
def test_damaged_parquet_is_refused_in_one_sentence(parquet, tmp_path, keep):
    damaged = write(tmp_path, parquet(FRAME).read_bytes()[:keep], "half.parquet")
    with pytest.raises(
        DataError, match=r"half\.parquet is a damaged Parquet file \(.*\): copy or download it again\.$"
    ) as caught:
        cr.Studies.read(damaged)
    assert_stands_alone(caught)


def test_parquet_needs_pyarrow(parquet, monkeypatch):
    path = parquet(FRAME)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r'mainz\.parquet .* pip install "clustrep\[parquet\]"') as caught:
        cr.Studies.read(path)
    assert_stands_alone(caught)


# ---------------------------------------------------------------------------------------------------------------------
# h5ad and AnnData


CELLS = np.arange(24.0).reshape(6, 4) ** 1.25
GENES = ("CD3D", "MS4A1", "NKG7", "LYZ")
BARCODES = tuple("uvwxyz")
DONORS = ("d2", "d1", "d2", "d1", "d2", "d1")
TYPES = ("T", "B", "T", "B", "B", "T")
PCA = np.float32(CELLS[:, :2] - 3)


def make(matrix=CELLS, **changes):
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame({"donor": DONORS, "type": TYPES, "depth": range(6)}, index=list(BARCODES))
    parts = {
        "obs": obs,
        "var": pd.DataFrame(index=list(GENES)),
        "obsm": {"X_pca": PCA},
        "layers": {"counts": np.rint(CELLS).astype(int)},
    }
    return anndata.AnnData(None if matrix is None else matrix.copy(), **{**parts, **changes})


@pytest.fixture
def h5ad(tmp_path):
    def save(adata, name="cells.h5ad"):
        adata.write_h5ad(tmp_path / name)
        return tmp_path / name

    return save


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
        scaled = read(study_key="donor", scale="zscore")
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
    with pytest.raises(DataError, match=r"cells\.h5ad has no 'X'; use as rep one of X_pca\."):
        cr.Studies.read(path)


def test_files_of_all_formats_make_one_collection(h5ad, parquet, tmp_path):
    cells = h5ad(make())
    frame = pd.DataFrame(CELLS + 0.25, columns=list(GENES), index=[f"p{i}" for i in range(6)])
    text = write(tmp_path, (frame + 1).rename("q{}".format).to_csv(), "text.csv")
    with pytest.warns(DataWarning, match="share 3 features"):
        studies = cr.Studies.read(cells, parquet(frame[["LYZ", "NKG7", "CD3D"]]), text, study_key="donor")
    assert studies.names == ("d2", "d1", "mainz", "text")
    assert studies.features == ("CD3D", "NKG7", "LYZ")
    np.testing.assert_array_equal(studies["mainz"].X, (CELLS + 0.25)[:, [0, 2, 3]])
    np.testing.assert_array_equal(studies["d1"].X, CELLS[1::2][:, [0, 2, 3]])


def test_names_differ_over_all_files(h5ad, tmp_path):
    cells = h5ad(make())
    other = h5ad(make(obs=make().obs.rename("other {}".format)), "other.h5ad")
    with pytest.raises(DataError, match=r"'d2' is in .*cells\.h5ad and in .*other\.h5ad: rename it"):
        cr.Studies.read(cells, other, study_key="donor")
    with pytest.raises(DataError, match=r"'d1' is in .*d1\.csv and in .*cells\.h5ad"):
        cr.Studies.read(write(tmp_path, CSV, "d1.csv"), cells, study_key="donor")


def test_embeddings_of_several_files_are_warned_about(h5ad):
    paths = h5ad(make()), h5ad(make(obs=make().obs.rename("other {}".format)), "other.h5ad")
    with pytest.warns(DataWarning, match=r"'X_pca' of .*cells\.h5ad, .*other\.h5ad is taken as one space.*together"):
        cr.Studies.read(*paths, rep="X_pca")
    cr.Studies.read(*paths, rep="counts", label=False)


def test_a_label_that_one_file_has_is_kept_for_it(h5ad, tmp_path):
    text = pd.DataFrame(CELLS, columns=list(GENES), index=[f"p{i}" for i in range(6)]).to_csv()
    studies = cr.Studies.read(h5ad(make()), write(tmp_path, text, "text.csv"), label="type")
    assert studies["cells"].labels.tolist() == list(TYPES)
    assert studies["text"].labels is None


def test_h5ad_the_wrong_way_round_and_a_probable_label_are_noticed(h5ad, tmp_path):
    genes_in_rows = make().T
    text = pd.DataFrame(CELLS, columns=list(GENES), index=[f"p{i}" for i in range(6)]).to_csv()
    with pytest.raises(DataError, match=r"'cells' is probably the wrong way round"):
        cr.Studies.read(h5ad(genes_in_rows), write(tmp_path, text, "text.csv"))
    classes = make(np.column_stack([CELLS[:, 1:], [1, 2] * 3]))
    with pytest.raises(DataError, match=r"Feature 'LYZ' of study 'cells' is probably a class label"):
        cr.Studies.read(h5ad(classes))
    repeated = make(
        np.tile(classes.X, (2, 1)),
        obs=pd.DataFrame({"half": [*"aaaaaabbbbbb"]}, index=list("abcdefghijkl")),
        obsm={},
        layers={},
    )
    with pytest.warns(DataWarning, match=r"Feature 'LYZ' of study '[ab]' is probably a class label"):
        cr.Studies.from_anndata(repeated, "half")
    cr.Studies.from_anndata(repeated, "half", label=False)


def twice(names):
    return pd.DataFrame(index=[names[0], *names[:-1]])


@pytest.mark.filterwarnings("ignore:.*names are not unique")
@pytest.mark.parametrize(
    ("changes", "options", "sentence"),
    [
        pytest.param({}, {"study_key": "doner"}, r"no column 'doner' in obs.*donor, type, depth.*'donor'\?", id="key"),
        pytest.param({}, {"rep": "X_pac"}, r"no 'X_pac'; use as rep one of X, X_pca, counts\. Did.*'X_pca'", id="rep"),
        pytest.param({}, {"label": "typ"}, r"No study has a column 'typ'.*depth, donor, type.*'type'\?", id="label"),
        pytest.param({"obs": pd.DataFrame({"donor": ["a", None, "b", None, "a", "b"]}, index=list(BARCODES))},
                     {"study_key": "donor"}, r"2 cells without a study: 'donor' is missing", id="missing study"),
        pytest.param({"obs": pd.DataFrame({"type": ["a", None, "b", "b", "a", "b"]}, index=list(BARCODES))},
                     {"label": "type"}, r"1 missing label", id="missing label"),
        pytest.param({"obs": pd.DataFrame({"donor": [*"aaaaa", "b"]}, index=list(BARCODES))},
                     {"study_key": "donor"}, r"Study 'b' has 1 sample: at least 2", id="one cell"),
        pytest.param({"obs": pd.DataFrame({"donor": [*"aaa", " ", " ", " "]}, index=list(BARCODES))},
                     {"study_key": "donor"}, r"3 cells whose study has no name: 'donor' is blank", id="blank study"),
        pytest.param({"obs": pd.DataFrame(index=list(BARCODES))}, {"study_key": "donor"},
                     r"no column 'donor' in obs to tell the studies apart\.$", id="no columns"),
        pytest.param({"obs": pd.DataFrame(index=list(BARCODES))}, {"label": "type"},
                     r"No study has a column 'type' to take labels from\.$", id="no columns, label"),
        pytest.param({"var": twice(GENES)}, {}, r"1 duplicate feature name: 'CD3D'.*var_names_make_unique", id="genes"),
        pytest.param({"obs": twice(BARCODES)}, {}, r"1 duplicate sample name: 'u'.*obs_names_make_unique", id="cells"),
        pytest.param({"obsm": {"deep": np.ones((6, 2, 2))}}, {"rep": "deep"}, r"array of \(6, 2, 2\)", id="3D"),
        pytest.param({"matrix": np.where(CELLS == 1, np.nan, CELLS)}, {}, r"sample 'u', feature 'MS4A1'", id="missing"),
    ],
)  # fmt: skip
def test_h5ad_that_is_no_study_gets_its_sentence(h5ad, changes, options, sentence):
    with pytest.raises(DataError, match=sentence):
        cr.Studies.read(h5ad(make(**changes)), **options)


def test_empty_h5ad_gets_its_sentence(h5ad):
    with pytest.raises(DataError, match="Study 'cells' has 0 samples"):
        cr.Studies.read(h5ad(make()[:0].copy()))
    with pytest.raises(DataError, match="Study 'cells' has no features"):
        cr.Studies.read(h5ad(make()[:, :0].copy()))


@pytest.mark.parametrize("dress", [np.array, scipy.sparse.csr_matrix])
def test_a_table_too_large_to_be_dense_is_refused_with_the_remedy(h5ad, monkeypatch, dress):
    path = h5ad(make(dress(CELLS)))
    monkeypatch.setattr(_formats, "DENSE_BYTES_AT_MOST", CELLS.nbytes - 1)
    with pytest.raises(DataError, match=r"6 cells by 4 features, 0\.0 GB as a dense table: use rep='X_pca'"):
        cr.Studies.read(path)
    assert only(path, rep="X_pca").X.shape == (6, 2)
    monkeypatch.setattr(_formats, "DENSE_BYTES_AT_MOST", CELLS.nbytes)
    assert only(path).X.shape == (6, 4)


def test_a_large_sparse_table_is_refused_before_it_is_dense():
    adata = pytest.importorskip("anndata").AnnData(scipy.sparse.csr_matrix((50_000, 30_000)))
    adata.obs["donor"] = "d"
    with pytest.raises(DataError, match=r"The AnnData holds 50,000 cells by 30,000 features, 11\.2 GB"):
        cr.Studies.from_anndata(adata, "donor")


@pytest.mark.parametrize("keep", [6, 8, 700, -1000])
def test_damaged_h5ad_is_refused_in_one_sentence(h5ad, tmp_path, keep):
    damaged = write(tmp_path, h5ad(make()).read_bytes()[:keep], "half.h5ad")
    with pytest.raises(
        DataError, match=r"half\.h5ad is an HDF5 file that is damaged \(.*\): copy or download it again\.$"
    ) as caught:
        cr.Studies.read(damaged)
    assert_stands_alone(caught)


def test_h5ad_that_anndata_refuses_is_refused_in_one_sentence(h5ad):
    import h5py

    path = h5ad(make())
    with h5py.File(path, "a") as file:
        file["obs"].attrs["encoding-version"] = "99.0.0"
    with pytest.raises(
        DataError, match=r"cells\.h5ad is an h5ad file that anndata can't read \(.*\): update"
    ) as caught:
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
    with pytest.raises(DataError, match=r"cells\.h5ad is an HDF5 file that is damaged") as caught:
        cr.Studies.read(path)
    assert_stands_alone(caught)


def test_hdf5_that_is_not_h5ad_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["matrix"] = CELLS
    with pytest.raises(DataError, match=r"other\.h5 is an HDF5 file but not h5ad, for it has no obs and var"):
        cr.Studies.read(tmp_path / "other.h5")


def test_h5ad_needs_anndata(h5ad, monkeypatch):
    path = h5ad(make())
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(DataError, match=r'cells\.h5ad .* pip install "clustrep\[anndata\]"') as caught:
        cr.Studies.read(path)
    assert_stands_alone(caught)


@pytest.mark.parametrize(
    ("adata", "error", "sentence"),
    [
        (FRAME, DataError, r"from_anndata takes an AnnData, got DataFrame\."),
        ("cells.h5ad", DataError, r"from_anndata takes an AnnData, got str: read files with Studies\.read"),
        (None, DataError, r"got NoneType"),
    ],
)
def test_from_anndata_takes_an_anndata(adata, error, sentence):
    with pytest.raises(error, match=sentence):
        cr.Studies.from_anndata(adata, "donor")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"study_key": None}, r"study_key must be a name, got None"),
        ({"study_key": ""}, r"study_key must be a name, got ''"),
        ({"study_key": "donor", "rep": 3}, r"rep must be a name, got 3"),
        ({"study_key": "donor", "label": 3}, r"label must be the name of a column"),
        ({"study_key": "donor", "scale": "log"}, r"scale must be one of"),
    ],
)
def test_from_anndata_checks_its_parameters(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        cr.Studies.from_anndata(make(), **options)


def test_from_anndata_needs_a_column_and_a_table_that_there_are():
    with pytest.raises(DataError, match=r"The AnnData has no column 'batch' in obs to tell the studies apart; there"):
        cr.Studies.from_anndata(make(), "batch")
    with pytest.raises(DataError, match=r"The AnnData has no 'X_umap'; use as rep one of X, X_pca, counts"):
        cr.Studies.from_anndata(make(), "donor", "X_umap")
    with pytest.raises(DataError, match=r"No study has a column 'typ'.*Did you mean 'type'"):
        cr.Studies.from_anndata(make(), "donor", label="typ")


# ---------------------------------------------------------------------------------------------------------------------
# GEO


SERIES = """!Series_title\t"Breast tumours, of one hospital"
!Series_geo_accession\t"GSE1"

!Sample_title\t"tumour 1"\t"tumour 2"\t"tumour 3"
!Sample_geo_accession\t"m1"\t"m2"\t"m3"
!Sample_characteristics_ch1\t"er status: positive"\t"er status: negative"\t"er status: positive"
!Sample_characteristics_ch1\t"grade: 2"\t"age: 40"\t"grade: 3"
!Sample_characteristics_ch1\t"age: 50"\t"grade: 1"\t""
!Sample_characteristics_ch1\t"drug: A"\t"drug: B"\t"drug: A"
!Sample_characteristics_ch1\t"drug: A"\t"drug: C"\t"drug: A"
!Sample_characteristics_ch1\t"no colon"\t"no colon"\t"no colon"
!series_matrix_table_begin
"ID_REF"\t"m1"\t"m2"\t"m3"
"ESR1"\t8.5\t13.0\t0.5
"ERBB2"\t-14.25\t1e-3\t2.0
!series_matrix_table_end
"""


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(SERIES, id="text"),
        pytest.param(gzip.compress(SERIES.encode()), id="gzip"),
        pytest.param(SERIES.replace("\n", "\r\n"), id="Windows"),
        pytest.param("\n" + SERIES, id="a blank line first"),
        pytest.param(SERIES[SERIES.index("!Sample_title") :], id="samples first"),
        pytest.param(SERIES.replace("8.5", '"8.5"'), id="a quoted value"),
        pytest.param(SERIES.replace('"', ""), id="nothing quoted"),
        pytest.param(SERIES.replace("!series_matrix_table_end", "\n!series_matrix_table_end"), id="a blank line last"),
    ],
)
def test_a_series_matrix_is_turned_by_itself(tmp_path, content):
    study = only(write(tmp_path, content, "GSE1_series_matrix.txt"))
    assert study.name == "GSE1_series_matrix"
    assert_is_the_frame(study)
    assert study.labels is None


@pytest.mark.parametrize(("label", "kept"), [("er status", ["positive", "negative", "positive"]), ("grade", [2, 1, 3])])
def test_characteristics_of_samples_are_labels(tmp_path, label, kept):
    study = only(write(tmp_path, SERIES, "geo.txt"), label=label)
    assert study.labels.tolist() == kept
    assert_is_the_frame(study)


def test_characteristics_belong_to_samples_not_to_places(tmp_path):
    other_order = SERIES.replace('accession\t"m1"\t"m2"', 'accession\t"m2"\t"m1"')
    study = only(write(tmp_path, other_order, "geo.txt"), label="er status")
    assert study.labels.tolist() == ["negative", "positive", "positive"]
    unnamed = SERIES.replace("!Sample_geo_accession", "!Sample_other")
    assert only(write(tmp_path, unnamed, "geo.txt"), label="grade").labels.tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    ("content", "label", "sentence"),
    [
        pytest.param(SERIES, "ER", r"No study has a column 'ER'.*there are age, drug, er status, grade", id="no label"),
        pytest.param(SERIES, "age", r"labels of study 'geo' have 1 missing label", id="a label missing"),
        pytest.param(SERIES, "drug", r"geo\.txt has more than one 'drug' for 1 sample: 'm2'", id="two labels"),
        pytest.param(SERIES.replace("13.0", "null"), None, r"missing value .* sample 'm2', feature 'ESR1'", id="null"),
        pytest.param(SERIES.replace("13.0", ""), None, r"1 missing value .* sample 'm2', feature 'ESR1'", id="empty"),
        pytest.param(SERIES.replace("13.0", "P"), None, r"not numeric: 'P' at sample 'm2', feature 'ESR1'", id="text"),
        pytest.param(SERIES.partition("!series_matrix_table_end")[0], None, r"geo\.txt .* is cut off", id="no end"),
        pytest.param(SERIES[: SERIES.index('"ERBB2"') + 9], None, r"is cut off: .*Download it", id="cut in a row"),
        pytest.param(SERIES.partition("!series_matrix_table_begin")[0], None, r"is cut off", id="no table"),
        pytest.param(SERIES.replace("\t2.0\n", "\n"), None, r"4 cells in the header .* but 3 in line 15: ", id="short"),
        pytest.param(SERIES.replace("13.0", "13.0\t1"), None, r"but 5 in line 14: download", id="a row too long"),
        pytest.param(SERIES.replace('"ERBB2"', '"ESR1"'), None, r"duplicate feature name: 'ESR1'", id="features"),
        pytest.param(
            SERIES.replace('"ID_REF"\t"m1"\t"m2"', '"ID_REF"\t"m1"\t"m1"'), None, r"duplicate sample name", id="samples"
        ),
        pytest.param(
            "\n".join(line for line in SERIES.split("\n") if not line.startswith(('"ESR1"', '"ERBB2"'))),
            None,
            r"without values.*supplementary file",
            id="no values",
        ),
    ],
)  # fmt: skip
def test_a_series_matrix_that_is_no_study_gets_its_sentence(tmp_path, content, label, sentence):
    with pytest.raises(DataError, match=sentence):
        cr.Studies.read(write(tmp_path, content, "geo.txt"), label=label)


def test_a_series_matrix_is_aligned_with_other_files(tmp_path):
    studies = cr.Studies.read(write(tmp_path, SERIES, "geo.txt"), write(tmp_path, CSV, "vdx.csv"))
    np.testing.assert_array_equal(studies["vdx"].X, [[2.5, 1.5], [4.5, 3.5]])
    turned = pd.read_csv(tmp_path / "vdx.csv", index_col=0).T.to_csv()
    again = cr.Studies.read(tmp_path / "geo.txt", write(tmp_path, turned, "vdx.csv"), transpose=["vdx"])
    np.testing.assert_array_equal(again["vdx"].X, studies["vdx"].X)


# ---------------------------------------------------------------------------------------------------------------------
# parameters that a format does not have


@pytest.mark.parametrize("parameter", ["study_key", "rep"])
def test_what_is_for_h5ad_needs_an_h5ad_file(tmp_path, h5ad, parameter):
    path = write(tmp_path, CSV, "vdx.csv")
    with pytest.raises(ParameterError, match=rf"{parameter}='donor' is for h5ad files, and there is none among these"):
        cr.Studies.read(path, **{parameter: "donor"})
    with pytest.raises(ParameterError, match=rf"{parameter} must be a name or None, got 3"):
        cr.Studies.read(h5ad(make()), **{parameter: 3})


@pytest.mark.parametrize("header", [True, False])
def test_header_is_for_delimited_text(tmp_path, parquet, h5ad, header):
    for path, kind in (
        (parquet(FRAME), "a Parquet file"),
        (h5ad(make()), "an h5ad file"),
        (write(tmp_path, SERIES, "geo.txt"), "a GEO series matrix"),
    ):
        with pytest.raises(ParameterError, match=rf"^header={header} is for .*{path.name} is {kind}: leave"):
            cr.Studies.read(path, header=header)


@pytest.mark.parametrize("rep", [None, "X", "X_pca"])
def test_h5ad_is_not_turned(h5ad, rep):
    path = h5ad(make())
    for transpose in (True, "cells", ["cells"]):
        with pytest.raises(ParameterError, match=r"cells\.h5ad is an h5ad file, and its rows are cells already: leave"):
            cr.Studies.read(path, transpose=transpose, rep=rep)


def test_a_series_matrix_is_not_turned_twice(tmp_path):
    path = write(tmp_path, SERIES, "geo.txt")
    with pytest.raises(ParameterError, match=r"geo\.txt is a GEO series matrix, and its rows are made samples by them"):
        cr.Studies.read(path, transpose=True)


# ---------------------------------------------------------------------------------------------------------------------
# files that can't be read


def test_a_file_that_is_not_there_is_said_before_anything_is_read(tmp_path, parquet):
    with pytest.raises(DataError, match=r"There is no file .*cells\.h5ad.* holds mainz\.parquet"):
        cr.Studies.read(parquet(FRAME), tmp_path / "cells.h5ad", study_key="donor")
    with pytest.raises(DataError, match=r"is a folder"):
        cr.Studies.read(tmp_path, rep="X_pca")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything can be read here")
def test_a_file_without_permission_is_said_to_be_so(parquet):
    path = parquet(FRAME)
    path.chmod(0)
    with pytest.raises(DataError, match=r"mainz\.parquet can't be read: Permission denied"):
        cr.Studies.read(path)


@pytest.mark.parametrize("method", ["open", "read_bytes"])
def test_a_file_that_fails_on_opening_is_said_to_be_so(tmp_path, monkeypatch, method):
    path = write(tmp_path, CSV, "vdx.csv")

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), method, refuse)
    with pytest.raises(DataError, match=r"vdx\.csv can't be read: Permission denied"):
        cr.Studies.read(path)


@pytest.mark.parametrize("magic", [b"PAR1", b"\x89HDF\r\n\x1a\n", b"PK\x03\x04"])
def test_packed_files_of_other_formats_are_to_be_unpacked(tmp_path, magic):
    with pytest.raises(DataError, match=r"cells\.h5ad\.gz is a gzip file with something other than text.*unpack it"):
        cr.Studies.read(write(tmp_path, gzip.compress(magic + bytes(50)), "cells.h5ad.gz"))
