"""Class labels, tables the other way round, several files, and the paper's own files."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from tests.data.readers.delimited.cases import FEATURES, OTHER, PLAIN, SAMPLES, VALUES, read, read_or_refusal, write
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.errors import DataError, DataWarning, ParameterError

GENES_IN_ROWS = "gene,m1,m2,m3\nESR1,8.5,13.0,0.5\nERBB2,-14.25,1e-3,2.0\n"
WITH_CLASS = "15.55\t28.65\t2\n14.9\t27.55\t2\n14.45\t28.35\t1\n14.15\t28.8\t1\n"


# ---------------------------------------------------------------------------------------------------------------------
# class labels


def test_a_class_in_the_last_column_is_refused_unless_named_or_declared(tmp_path):
    path = write(tmp_path, WITH_CLASS, "shapes.txt")
    with refused(DataError):
        cr.Studies.read(path)
    data = cr.Studies.read(path, label=False)["shapes"]
    assert data.X.shape == (4, 3)
    assert data.labels is None


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(WITH_CLASS, id="no header"),
        pytest.param(WITH_CLASS.replace("\n", "\r\n"), id="no header, Windows"),
        pytest.param("".join(f"m{i}\t{line}\n" for i, line in enumerate(WITH_CLASS.splitlines())), id="sample names"),
        pytest.param("x\ty\tz\n" + WITH_CLASS, id="header"),
        pytest.param("x\ty\tclass\n" + WITH_CLASS, id="header that says so"),
    ],
)
def test_the_advice_about_a_label_can_be_followed(tmp_path, content):
    path = write(tmp_path, content)
    with refused(DataError) as caught:
        cr.Studies.read(path)
    advised = str(caught.value).split("Use label='")[1].split("'")[0]
    study = cr.Studies.read(path, label=advised)["mainz"]
    assert study.labels.tolist() == [2, 2, 1, 1]
    np.testing.assert_array_equal(study.X, [[15.55, 28.65], [14.9, 27.55], [14.45, 28.35], [14.15, 28.8]])


def test_a_column_without_a_header_is_named_by_its_number(tmp_path):
    path = write(tmp_path, WITH_CLASS)
    assert cr.Studies.read(path, label="3")["mainz"].labels.tolist() == [2, 2, 1, 1]
    with refused(DataError):
        cr.Studies.read(path, label="4")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("id,x,y,subtype\na,0.5,1.5,LumA\nb,2.5,3.5,Basal\nc,4.5,5.5,LumA\n", id="last"),
        pytest.param("id,subtype,x,y\na,LumA,0.5,1.5\nb,Basal,2.5,3.5\nc,LumA,4.5,5.5\n", id="after the names"),
        pytest.param("subtype,x,y\nLumA,0.5,1.5\nBasal,2.5,3.5\nLumA,4.5,5.5\n", id="first"),
    ],
)
def test_a_class_in_words_is_kept_aside_wherever_it_stands(tmp_path, content):
    study = read(tmp_path, content, label="subtype")
    assert study.labels.tolist() == ["LumA", "Basal", "LumA"]
    assert study.features == ("x", "y")
    np.testing.assert_array_equal(study.X, [[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]])


def test_a_class_in_words_without_a_header_is_kept_aside_by_its_number(tmp_path):
    study = read(tmp_path, "0.5,0.25,A\n0.1,0.2,B\n0.3,0.4,A\n", label="3", header=False)
    assert study.labels.tolist() == ["A", "B", "A"]
    np.testing.assert_array_equal(study.X, [[0.5, 0.25], [0.1, 0.2], [0.3, 0.4]])


def test_a_class_in_words_without_being_named_is_refused_with_the_remedy(tmp_path):
    with refused(DataError):
        read(tmp_path, "id,x,subtype\na,0.5,LumA\nb,2.5,Basal\nc,4.5,LumA\n")


def test_a_class_in_words_in_the_first_column_is_refused_with_the_remedy(tmp_path):
    """It looks like sample names that are not unique: the sentence must say what else it may be."""
    with refused(DataError):
        read(tmp_path, "subtype,x,y\nLumA,0.5,1.5\nBasal,2.5,3.5\nLumA,4.5,5.5\n")


@pytest.mark.parametrize("classes", [("+", "-", "+"), ("none", "mild", "none")])
def test_class_names_are_kept_to_the_letter(tmp_path, classes):
    """A tumour that is ER- is not of unknown status."""
    rows = [f"{x},{y},{name}" for name, (x, y) in zip(classes, VALUES, strict=True)]
    assert read(tmp_path, "x,y,er\n" + "\n".join(rows), label="er").labels.tolist() == list(classes)


@pytest.mark.parametrize("classes", ["AB", "12"])
def test_an_empty_class_is_unknown(tmp_path, classes):
    with warned(DataWarning):
        study = read(tmp_path, "x,y,er\n0.5,1.5,{}\n2.5,3.5,\n4.5,5.5,{}\n".format(*classes), label="er")
    assert study.labels.tolist() == [classes[0], "unknown", classes[1]]


def test_classes_that_are_all_empty_are_missing(tmp_path):
    with refused(DataError):
        read(tmp_path, "x,y,er\n0.5,1.5,\n2.5,3.5,\n", label="er")


# ---------------------------------------------------------------------------------------------------------------------
# columns that some files have, and names that occur twice


def test_an_age_in_the_last_column_is_no_class(tmp_path):
    rows = [f"m{i},{i / 8},{i * i / 9},{30 + i // 2}" for i in range(60)]
    assert read(tmp_path, "id,ESR1,ERBB2,age\n" + "\n".join(rows)).features == ("ESR1", "ERBB2", "age")


def test_a_column_that_one_file_has_alone_is_no_class_and_no_obstacle(tmp_path):
    one = "id,ESR1,ERBB2,site,age,batch\n" + "".join(
        f"m{i},{i / 8},{i * i / 9},Ulm,{'' if i == 3 else 40 + i},{1 + i % 2}\n" for i in range(12)
    )
    two = "id,ESR1,ERBB2\n" + "".join(f"v{i},{i / 7},{i * i / 5}\n" for i in range(12))
    with pytest.warns(DataWarning) as caught:
        studies = cr.Studies.read(write(tmp_path, one), write(tmp_path, two, "vdx.csv"))
    assert [str(warning.message) for warning in caught] == [
        "Left out, as text or incomplete and not in all studies: mainz 2 (site, age).",
        "The studies share 2 features; dropped: mainz 1 (batch).",
    ]
    assert studies.features == FEATURES
    with refused(DataError):
        cr.Studies.read(tmp_path / "mainz.csv", label=False)


@pytest.mark.parametrize(
    ("how", "values"), [("mean", [5.0, 6.0, 6.0]), ("first", [1.0, 2.0, 3.0]), ("variance", [9.0, 10.0, 9.0])]
)
def test_features_of_one_name_become_one(tmp_path, how, values):
    content = "id,ESR1,b,ESR1\nm1,1,0.5,9\nm2,2,1.5,10\nm3,3,2.5,9\n"
    if how == "variance":
        content = content.replace("m1,1,", "m1,2.5,")  # varies less than the other
    path = write(tmp_path, content)
    with refused(DataError):
        cr.Studies.read(path)
    study = cr.Studies.read(path, duplicates=how)["mainz"]
    assert study.features == ("ESR1", "b")
    np.testing.assert_array_equal(study.X[:, 0], values)


def test_a_class_that_only_one_file_has_is_kept_for_it(tmp_path):
    labelled = write(
        tmp_path, PLAIN.replace("ERBB2", "ERBB2,type").replace("\nm", ",A\nm").replace(",A", "", 1)[:-1] + ",B\n"
    )
    studies = cr.Studies.read(labelled, write(tmp_path, OTHER, "vdx.csv"), label="type")
    assert studies["mainz"].labels.tolist() == ["A", "A", "B"]
    assert studies["vdx"].labels is None


def test_a_label_that_no_file_has_is_refused_with_the_columns_there_are(tmp_path):
    with refused(DataError):
        read(tmp_path, PLAIN, label="subtyp")


def test_a_misspelt_label_is_refused_before_the_column_of_text_that_is_meant(tmp_path):
    content = "id,x,subtype\na,0.5,LumA\nb,2.5,Basal\n"
    with refused(DataError) as caught:
        read(tmp_path, content, label="subtyp")
    with refused(DataError) as of_tables:
        cr.Studies({"mainz": pd.read_csv(io.StringIO(content), index_col=0)}, label="subtyp")
    assert "Did you mean 'subtype'?" in str(caught.value)
    assert str(of_tables.value) == str(caught.value)


# ---------------------------------------------------------------------------------------------------------------------
# tables the other way round


def test_tables_are_turned_round_on_request(tmp_path):
    study = read(tmp_path, GENES_IN_ROWS, transpose=True)
    assert study.features == FEATURES
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, VALUES)


def test_single_tables_are_turned_round_by_name(tmp_path):
    paths = write(tmp_path, GENES_IN_ROWS), write(tmp_path, OTHER, "vdx.csv")
    with refused(DataError):
        cr.Studies.read(*paths)
    studies = cr.Studies.read(*paths, transpose=["mainz"])
    np.testing.assert_array_equal(studies["mainz"].X, VALUES)
    np.testing.assert_array_equal(studies["vdx"].X, [[2.5, 1.5], [4.5, 3.5]])


def test_one_name_may_stand_for_itself(tmp_path):
    paths = write(tmp_path, GENES_IN_ROWS), write(tmp_path, OTHER, "vdx.csv")
    np.testing.assert_array_equal(cr.Studies.read(*paths, transpose="mainz")["mainz"].X, VALUES)


def test_all_tables_the_wrong_way_round_are_refused_without_a_misleading_warning(tmp_path):
    paths = write(tmp_path, GENES_IN_ROWS), write(tmp_path, GENES_IN_ROWS.replace("m", "v"), "vdx.csv")
    with refused(DataError):
        cr.Studies.read(*paths)
    assert cr.Studies.read(*paths, transpose=True).features == FEATURES


@pytest.mark.parametrize("corner", ["", "gene", "ID_REF", "entrez", "probe"])
def test_gene_numbers_in_rows_are_names_not_a_sample(tmp_path, corner):
    study = read(tmp_path, f"{corner}\tm1\tm2\tm3\n1017\t8.5\t13.0\t0.5\n1018\t-14.25\t1e-3\t2.0\n", transpose=True)
    assert study.features == ("1017", "1018")
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, VALUES)


@pytest.mark.parametrize("header", ["gene\t101\t102\t103", "101\t102\t103"])
def test_sample_numbers_in_the_header_of_a_turned_table_are_names(tmp_path, header):
    study = read(tmp_path, header + "\nESR1\t8.5\t13.0\t0.5\nERBB2\t-14.25\t1e-3\t2.0\n", transpose=True)
    assert study.samples == ("101", "102", "103")
    assert study.features == FEATURES


@pytest.mark.parametrize(("classes", "kept"), [("A,B,A", ["A", "B", "A"]), ("1,2,1", [1, 2, 1])])
def test_a_row_of_classes_is_kept_aside(tmp_path, classes, kept):
    study = read(tmp_path, GENES_IN_ROWS + f"type,{classes}\n", transpose=True, label="type")
    assert study.labels.tolist() == kept
    np.testing.assert_array_equal(study.X, VALUES)


def test_missing_values_of_a_turned_table_are_found_at_their_place(tmp_path):
    with refused(DataError):
        read(tmp_path, GENES_IN_ROWS.replace("13.0", "NA"), transpose=True)


def test_names_that_are_not_unique_are_refused_either_way(tmp_path):
    with refused(DataError):
        read(tmp_path, GENES_IN_ROWS.replace("m2", "m1"), transpose=True)
    with refused(DataError):
        read(tmp_path, GENES_IN_ROWS.replace("ERBB2", "ESR1"), transpose=True)


def test_turning_asks_for_studies_that_there_are(tmp_path):
    with refused(ParameterError, "transpose"):
        read(tmp_path, GENES_IN_ROWS, transpose=["mianz"])


# ---------------------------------------------------------------------------------------------------------------------
# several files


def test_files_with_the_same_name_are_told_apart_by_their_folders(tmp_path):
    studies = cr.Studies.read(
        write(tmp_path, PLAIN, "mainz/expression.csv"),
        write(tmp_path, OTHER, "vdx/expression.csv"),
        write(tmp_path, OTHER.replace("v", "t"), "trans/table.csv"),
    )
    assert studies.names == ("mainz/expression", "vdx/expression", "table")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("study/expression.csv", "study/expression.tsv", id="same folder, other ending"),
        pytest.param("left/data/expression.csv", "right/data/expression.csv", id="same folder name"),
        pytest.param("study/expression.csv", "study/expression.csv.gz", id="packed and not"),
    ],
)
def test_no_file_is_silently_lost_for_its_name(tmp_path, one, other):
    paths = write(tmp_path, PLAIN, one), write(tmp_path, OTHER, other)
    outcome = read_or_refusal(*paths)
    if isinstance(outcome, str):
        assert "expression" in outcome
    else:
        assert sorted(len(study) for study in outcome.values()) == [2, 3]


def test_the_same_file_twice_is_not_one_study(tmp_path):
    path = write(tmp_path, PLAIN)
    with refused((DataError, ParameterError), "paths"):
        cr.Studies.read(path, path)


# ---------------------------------------------------------------------------------------------------------------------
# the paper's own files


@pytest.mark.parametrize(
    ("name", "n_samples", "n_classes"),
    [("aggregation", 788, 7), ("compound", 399, 6), ("d31", 3100, 31), ("r15", 600, 15), ("spiral", 312, 3)],
)
def test_the_shapes_are_refused_until_their_class_is_named(data_folder, name, n_samples, n_classes):
    path = data_folder / "shapes" / f"{name}.txt"
    with refused(DataError):
        cr.Studies.read(path)
    assert cr.Studies.read(path, label=False)[name].X.shape == (n_samples, 3)
    study = cr.Studies.read(path, label="3")[name]
    assert study.X.shape == (n_samples, 2)
    assert len(np.unique(study.labels)) == n_classes
    np.testing.assert_array_equal(study.X, np.loadtxt(path)[:, :2])


@pytest.mark.parametrize(("name", "n_features"), [("dim032", 32), ("dim064", 64)])
def test_the_gaussians_are_data_throughout(data_folder, name, n_features):
    path = data_folder / "gaussians" / f"{name}.txt"
    study = cr.Studies.read(path)[name]
    assert study.X.shape == (1024, n_features)
    np.testing.assert_array_equal(study.X, np.loadtxt(path))


def test_the_breast_cancer_studies_are_aligned(data_folder):
    folder = data_folder / "breast"
    studies = cr.Studies.read(*(folder / f"{name}_3_SV.csv" for name in ("MAINZ", "TRANS", "VDX")))
    assert studies.names == ("MAINZ_3_SV", "TRANS_3_SV", "VDX_3_SV")
    assert studies.features == ("205225_at", "216836_s_at", "208079_s_at")
    assert [len(study) for study in studies.values()] == [200, 198, 344]
    assert studies["MAINZ_3_SV"].samples[:2] == ("MAINZ_BC6001", "MAINZ_BC6002")
    np.testing.assert_array_equal(studies["MAINZ_3_SV"].X[0], [8.49341217360193, 14.1539265686961, 9.82899136991883])


def test_a_table_of_subtypes_is_not_a_study(data_folder):
    with refused(DataError):
        cr.Studies.read(data_folder / "breast" / "mainz_subtypes.csv")


def test_a_numbered_study_in_the_last_column_is_advised_to_divide_the_table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=["g1", "g2", "g3"], index=[f"p{i}" for i in range(30)])
    path = tmp_path / "long.csv"
    frame.assign(site=1 + np.arange(30) % 2).to_csv(path)
    with pytest.raises(DataError, match="study_key='site'"):
        cr.Studies.read(path)
    assert cr.Studies.read(path, study_key="site").names == ("1", "2")
