"""One table that holds several studies, and tables of other libraries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import clustrep as cr
from clustrep.errors import DataError, DataWarning, ParameterError

RNG = np.random.default_rng(0)
LONG = pd.DataFrame(
    {
        "site": ["Oslo", "Bergen"] * 6,
        "age": RNG.normal(60, 9, 12).round(2),
        "bmi": RNG.normal(25, 3, 12).round(2),
        "sex": ["f", "m", "m"] * 4,
    },
    index=[f"p{i}" for i in range(12)],
)
NUMBERS = LONG.drop(columns="sex")


def check_sites(studies: cr.Studies) -> None:
    assert studies.names == ("Oslo", "Bergen")
    assert studies.features == ("age", "bmi")
    for start, study in enumerate(studies.values()):
        np.testing.assert_allclose(study.X, NUMBERS[["age", "bmi"]].to_numpy()[start::2], rtol=1e-12)
        assert study.samples == tuple(LONG.index[start::2])


def written(frame: pd.DataFrame, folder, kind: str):
    path = folder / f"long.{kind}"
    match kind:
        case "csv":
            frame.to_csv(path, index_label="sample")
        case "txt":  # as German spreadsheets write it
            frame.to_csv(path, index_label="sample", sep=";", decimal=",")
        case "parquet":
            frame.to_parquet(path)
        case "xlsx":
            pytest.importorskip("openpyxl")
            pytest.importorskip("python_calamine")
            frame.to_excel(path, index_label="sample", engine="openpyxl")
        case "rds":
            pytest.importorskip("rdata").write_rds(path, frame)
    return path


@pytest.mark.parametrize("kind", ["csv", "txt", "parquet", "xlsx", "rds"])
def test_a_column_divides_a_file_into_studies(kind, tmp_path):
    check_sites(cr.Studies.read(written(NUMBERS, tmp_path, kind), study_key="site"))


def test_known_labels_are_those_of_the_studies(tmp_path):
    studies = cr.Studies.read(written(LONG, tmp_path, "csv"), study_key="site", label="sex")
    check_sites(studies)
    assert studies["Bergen"].labels.tolist() == LONG.sex[1::2].tolist()


def test_the_first_column_may_name_the_study(tmp_path):
    NUMBERS.to_csv(tmp_path / "long.csv", index=False)
    studies = cr.Studies.read(tmp_path / "long.csv", study_key="site")
    assert [len(study) for study in studies.values()] == [6, 6]
    assert studies.features == ("age", "bmi")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_a_whole_study_lacks_is_no_feature_of_it(kind, tmp_path):
    lacking = NUMBERS.assign(crp=np.where(LONG.site == "Oslo", NUMBERS.age / 7, np.nan))
    with pytest.warns(DataWarning, match=r"dropped: Oslo 1 \(crp\)"):
        check_sites(cr.Studies.read(written(lacking, tmp_path, kind), study_key="site"))


def test_a_table_without_the_column_is_one_study_beside_one_that_has_it(tmp_path):
    written(NUMBERS, tmp_path, "csv")
    NUMBERS.drop(columns="site").rename("q{}".format).to_csv(tmp_path / "Tromso.csv", index_label="sample")
    studies = cr.Studies.read(tmp_path / "long.csv", tmp_path / "Tromso.csv", study_key="site")
    assert studies.names == ("Oslo", "Bergen", "Tromso")


def test_a_column_that_no_table_has_is_refused(tmp_path):
    with pytest.raises(DataError, match="Did you mean 'site'"):
        cr.Studies.read(written(NUMBERS, tmp_path, "csv"), study_key="sit")
    with pytest.raises(DataError, match="Did you mean 'site'"):
        cr.Studies.from_frame(NUMBERS, "sit")


def test_a_frame_is_divided():
    check_sites(cr.Studies.from_frame(NUMBERS, "site"))
    check_sites(cr.Studies.from_frame(LONG, "site", label="sex"))
    assert cr.Studies.from_frame(LONG, "site", gower=True).features == ("age", "bmi", "sex=f", "sex=m")
    assert cr.Studies.from_frame(NUMBERS.assign(site=[1.0, 2.0] * 6), "site").names == ("1", "2")


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_other_libraries(library):
    module = pytest.importorskip(library)
    named = NUMBERS.rename_axis("sample").reset_index()
    long = module.from_pandas(named) if library == "polars" else module.Table.from_pandas(named)
    check_sites(cr.Studies.from_frame(long, "site"))
    one, two = (named[named.site == site].drop(columns="site") for site in ("Oslo", "Bergen"))
    tables = {
        name: module.from_pandas(part) if library == "polars" else module.Table.from_pandas(part, preserve_index=False)
        for name, part in (("Oslo", one), ("Bergen", two))
    }
    check_sites(cr.Studies(tables))
    assert cr.Study(tables["Oslo"], "Oslo").samples == tuple(LONG.index[::2])


def cells():
    anndata = pytest.importorskip("anndata")
    X = NUMBERS[["age", "bmi"]].to_numpy()
    obs = pd.DataFrame({"site": pd.Categorical(LONG.site)}, index=LONG.index)
    return anndata.AnnData(
        X, obs, pd.DataFrame(index=["age", "bmi"]), obsm={"X_pca": X[:, ::-1].copy()}, layers={"raw": X + 1}
    )


def test_anndata_is_taken_as_a_study():
    whole = cells()
    check_sites(cr.Studies({site: whole[whole.obs.site == site] for site in ("Oslo", "Bergen")}))


def test_names_of_scanpy():
    whole = cells()
    check_sites(cr.Studies.from_anndata(whole, batch_key="site"))
    of_layer = cr.Studies.from_anndata(whole, batch_key="site", layer="raw")
    np.testing.assert_array_equal(of_layer["Oslo"].X, whole.X[::2] + 1)
    embedded = cr.Studies.from_anndata(whole, "site", use_rep="X_pca")
    np.testing.assert_array_equal(embedded["Oslo"].X, whole.X[::2, ::-1])
    with pytest.raises(ParameterError, match="exclude each other"):
        cr.Studies.from_anndata(whole, "site", layer="raw", use_rep="X_pca")
    with pytest.raises(ParameterError, match="exclude each other"):
        cr.Studies.from_anndata(whole, "site", batch_key="site")


@pytest.mark.parametrize("table", [cells, lambda: LONG], ids=["anndata", "frame"])
def test_one_table_of_all_studies_is_refused_with_the_column_to_name(table):
    with pytest.raises(DataError, match=r"'site'\) \(columns with few values: "):
        cr.Studies(table())
