"""Reading tables from files as people have them: what is read, what is refused, and nothing misread in silence."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

import clustrep as cr
from clustrep.errors import DataError, DataWarning, ParameterError

FEATURES = ("ESR1", "ERBB2")
SAMPLES = ("m1", "m2", "m3")
VALUES = [[8.5, -14.25], [13.0, 1e-3], [0.5, 2.0]]
PLAIN = "id,ESR1,ERBB2\nm1,8.5,-14.25\nm2,13.0,1e-3\nm3,0.5,2.0\n"
OTHER = "id,ERBB2,ESR1\nv1,1.5,2.5\nv2,3.5,4.5\n"
GENES_IN_ROWS = "gene,m1,m2,m3\nESR1,8.5,13.0,0.5\nERBB2,-14.25,1e-3,2.0\n"
WITH_CLASS = "15.55\t28.65\t2\n14.9\t27.55\t2\n14.45\t28.35\t1\n14.15\t28.8\t1\n"


def write(folder, content, name="mainz.csv"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(folder, content, name="mainz.csv", **options):
    (study,) = cr.Studies.read(write(folder, content, name), **options).values()
    return study


def read_or_refusal(*paths, **options):
    """Return what was read, or the sentence of the refusal: both are right where nothing is misread in silence."""
    try:
        return cr.Studies.read(*paths, **options)
    except (DataError, ParameterError) as refusal:
        return str(refusal)


# ---------------------------------------------------------------------------------------------------------------------
# one table in many dresses


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(PLAIN, id="CSV"),
        pytest.param('"","ESR1","ERBB2"\n"m1",8.5,-14.25\n"m2",13.0,1e-3\n"m3",0.5,2.0\n', id="R write.csv"),
        pytest.param('"ESR1" "ERBB2"\n"m1" 8.5 -14.25\n"m2" 13.0 1e-3\n"m3" 0.5 2.0\n', id="R write.table"),
        pytest.param("ESR1\tERBB2\nm1\t8.5\t-14.25\nm2\t13.0\t1e-3\nm3\t0.5\t2.0\n", id="R write.table, tabs"),
        pytest.param(PLAIN.replace(",", "\t"), id="TSV"),
        pytest.param(PLAIN.replace(",", "\t").removeprefix("id"), id="TSV, empty corner"),
        pytest.param(PLAIN.replace(",", ";"), id="semicolons"),
        pytest.param(PLAIN.replace(",", " "), id="spaces"),
        pytest.param(
            "id     ESR1    ERBB2\nm1      8.5   -14.25\nm2     13.0     1e-3\nm3      0.5      2.0\n", id="aligned"
        ),
        pytest.param(PLAIN.replace(",", " , "), id="spaces around commas"),
        pytest.param(PLAIN.replace("\n", "\r\n"), id="Windows"),
        pytest.param(PLAIN.replace("\n", "\r"), id="old Macintosh"),
        pytest.param(PLAIN.removesuffix("\n"), id="no last line end"),
        pytest.param("\n\n" + PLAIN.replace("m2", "\n  \nm2") + "\n\n", id="blank lines"),
        pytest.param(PLAIN.encode("utf-8-sig"), id="byte order mark"),
        pytest.param(PLAIN.encode("utf-16"), id="UTF-16"),
        pytest.param(b"\xfe\xff" + PLAIN.encode("utf-16-be"), id="UTF-16 big endian"),
        pytest.param(gzip.compress(PLAIN.encode()), id="gzip"),
        pytest.param(gzip.compress(PLAIN.replace(",", "\t").encode("utf-16")), id="gzip of UTF-16 TSV"),
        pytest.param(PLAIN.replace("id,", "Patient ID,"), id="named sample column"),
        pytest.param(PLAIN.replace("id,", "tumour,"), id="text in the first column"),
    ],
)
def test_the_same_table_is_read_from_every_dress(tmp_path, content):
    study = read(tmp_path, content)
    assert study.name == "mainz"
    assert study.features == FEATURES
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, VALUES)
    assert study.labels is None


@pytest.mark.parametrize("name", ["mainz.csv", "mainz.csv.gz", "mainz.tsv", "mainz.txt", "mainz", "mainz.tab.gz"])
def test_the_content_decides_not_the_ending(tmp_path, name):
    study = read(tmp_path, gzip.compress(PLAIN.encode()), name)
    assert study.name == name.removesuffix(".gz").split(".")[0]
    np.testing.assert_array_equal(study.X, VALUES)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("   84   152   100\n   86   149   101\n    7    49     1\n", id="aligned whole numbers"),
        pytest.param("84,152,100\n86,149,101\n7,49,1\n", id="CSV"),
        pytest.param("84\t152\t100\r\n86\t149\t101\r\n7\t49\t1\r\n", id="TSV, Windows"),
        pytest.param(b"\xef\xbb\xbf84,152,100\n86,149,101\n7,49,1\n", id="byte order mark"),
    ],
)
def test_numbers_without_a_header_are_all_data(tmp_path, content):
    study = read(tmp_path, content)
    np.testing.assert_array_equal(study.X, [[84, 152, 100], [86, 149, 101], [7, 49, 1]])
    assert study.features == ("1", "2", "3")


def test_a_file_without_header_may_name_its_samples(tmp_path):
    study = read(tmp_path, "m1,8.5,-14.25\nm2,13.0,1e-3\nm3,0.5,2.0\n")
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, VALUES)


def test_a_single_feature_needs_no_delimiter(tmp_path):
    assert read(tmp_path, "ESR1\n0.5\n1.5\n").features == ("ESR1",)
    assert read(tmp_path, "id,ESR1\na,0.5\nb,1.5\n").samples == ("a", "b")


def test_quoted_names_may_hold_delimiters_quotes_and_line_ends(tmp_path):
    study = read(tmp_path, 'id,"kinase, alpha","5"" end"\n"Smith, J",0.5,1.5\n"O\'Neil\nA",2.5,3.5\n')
    assert study.features == ("kinase, alpha", '5" end')
    assert study.samples == ("Smith, J", "O'Neil\nA")
    np.testing.assert_array_equal(study.X, [[0.5, 1.5], [2.5, 3.5]])


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_commas_inside_names_do_not_win_over_the_delimiter(tmp_path, delimiter):
    header = ["Age, years", "Weight, kg, dry", "Height, cm"]
    study = read(tmp_path, delimiter.join(header) + "\n" + "\n".join([delimiter.join(["50.5", "60.5", "170.5"])] * 2))
    assert study.features == tuple(header)


def test_names_of_any_language_are_read(tmp_path):
    study = read(tmp_path, "id,α-Globin,β\nMüller,0.5,1.5\n中,2.5,3.5\n")
    assert study.features == ("α-Globin", "β")
    assert study.samples == ("Müller", "中")


def test_numbers_come_back_bit_for_bit(tmp_path, rng):
    values = rng.normal(size=(500, 4)) * 10.0 ** rng.integers(-300, 149, size=(500, 4))
    pd.DataFrame(values, columns=list("abcd")).to_csv(tmp_path / "bits.csv", index=False)
    np.testing.assert_array_equal(cr.Studies.read(tmp_path / "bits.csv")["bits"].X, values)


def test_paths_may_be_text(tmp_path):
    assert cr.Studies.read(str(write(tmp_path, PLAIN)))["mainz"].features == FEATURES


def test_files_are_aligned_by_name_and_scaled_as_asked(tmp_path):
    studies = cr.Studies.read(write(tmp_path, PLAIN), write(tmp_path, OTHER, "vdx.tsv"), scale="zscore")
    assert studies.names == ("mainz", "vdx")
    assert studies.features == FEATURES
    unscaled = cr.Studies.read(tmp_path / "vdx.tsv", tmp_path / "mainz.csv").select(list(FEATURES))["vdx"]
    np.testing.assert_array_equal(unscaled.X, [[2.5, 1.5], [4.5, 3.5]])
    np.testing.assert_allclose(studies["vdx"].X, [[-1, -1], [1, 1]])


def test_twenty_thousand_features_are_read(tmp_path, rng):
    genes = [f"g{j}" for j in range(20_000)]
    values = rng.integers(-999, 999, size=(4, 20_000)) / 8
    write(tmp_path, "," + ",".join(genes) + "\n", "wide.csv")
    with open(tmp_path / "wide.csv", "a") as stream:
        stream.writelines(f"s{i}," + ",".join(map(str, row)) + "\n" for i, row in enumerate(values.tolist()))
    study = cr.Studies.read(tmp_path / "wide.csv")["wide"]
    assert study.features == tuple(genes)
    np.testing.assert_array_equal(study.X, values)


# ---------------------------------------------------------------------------------------------------------------------
# numbers that are names


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(",1017,1018\nm1,8.5,-14.25\nm2,13.0,1e-3\nm3,0.5,2.0\n", id="empty corner"),
        pytest.param("gene,1017,1018\nm1,8.5,-14.25\nm2,13.0,1e-3\nm3,0.5,2.0\n", id="named corner"),
        pytest.param('"","1017","1018"\n"m1",8.5,-14.25\n"m2",13.0,1e-3\n"m3",0.5,2.0\n', id="R write.csv"),
        pytest.param('"1017" "1018"\n"m1" 8.5 -14.25\n"m2" 13.0 1e-3\n"m3" 0.5 2.0\n', id="R write.table"),
        pytest.param("1017\t1018\nm1\t8.5\t-14.25\nm2\t13.0\t1e-3\nm3\t0.5\t2.0\n", id="R write.table, tabs"),
    ],
)
def test_features_may_be_numbered_like_entrez_genes(tmp_path, content):
    study = read(tmp_path, content)
    assert study.features == ("1017", "1018")
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, VALUES)


def test_a_header_of_numbers_is_believed_when_the_user_says_so(tmp_path):
    study = read(tmp_path, "1017,1018\n8.5,-14.25\n13.0,1e-3\n0.5,2.0\n", header=True)
    assert study.features == ("1017", "1018")
    np.testing.assert_array_equal(study.X, VALUES)


@pytest.mark.parametrize("corner", ["id", "sample", "Patient.ID", "", "barcode", "row names"])
def test_sample_numbers_are_names_not_data(tmp_path, corner):
    study = read(tmp_path, f"{corner},ESR1,ERBB2\n101,8.5,-14.25\n102,13.0,1e-3\n103,0.5,2.0\n")
    assert study.samples == ("101", "102", "103")
    assert study.features == FEATURES


@pytest.mark.parametrize(
    "names", [("007", "010", "7"), ("1E5", "10E4", "2E1"), ("1.10", "1.1", "2"), ("TRUE", "T", "F")]
)
def test_sample_names_are_kept_to_the_letter(tmp_path, names):
    rows = [f"{name},{x},{y}" for name, (x, y) in zip(names, VALUES, strict=True)]
    assert read(tmp_path, "id,ESR1,ERBB2\n" + "\n".join(rows)).samples == names


@pytest.mark.parametrize("feature", ["s", "cell", "cells", "case"])
def test_measurements_are_not_taken_for_sample_names(tmp_path, feature):
    """A first column of fractions is data, unless its name says plainly that it names samples."""
    study = read(tmp_path, f"{feature},t,u\n0.25,0.5,1.5\n0.75,2.5,3.5\n0.125,4.5,5.5\n")
    assert study.features == (feature, "t", "u")


@pytest.mark.parametrize(
    "content", [",x,y\n0,0.5,1.5\n1,2.5,3.5\n", '"","x","y"\n"1",0.5,1.5\n"2",2.5,3.5\n'], ids=["pandas", "R"]
)
def test_row_numbers_written_by_default_are_not_samples_in_common(tmp_path, content):
    cr.Studies.read(write(tmp_path, content, "one.csv"), write(tmp_path, content, "two.csv"))  # no warning


def test_sample_names_in_common_are_warned_about(tmp_path):
    with pytest.warns(DataWarning, match=r"'again' and 'mainz' have 3 sample names in common \(m1, m2, m3\)"):
        cr.Studies.read(write(tmp_path, PLAIN), write(tmp_path, PLAIN, "again.csv"))


# ---------------------------------------------------------------------------------------------------------------------
# first lines that might be data


@pytest.mark.parametrize(
    ("content", "n_samples"),
    [
        pytest.param("m1,5,6,7\nm2,3,4,5\nm3,3,1,2\n", 3, id="named samples with counts"),
        pytest.param("0.5,NA,0.75\n0.1,0.2,0.3\n0.5,0.6,0.7\n", 3, id="a missing value in the first sample"),
        pytest.param("m1,0.5,NA,0.75\nm2,0.1,0.2,0.3\nm3,0.5,0.6,0.7\n", 3, id="the same with sample names"),
        pytest.param("m1,0.5,,0.75\nm2,0.1,0.2,0.3\nm3,0.5,0.6,0.7\n", 3, id="an empty cell in the first sample"),
        pytest.param("0.5,0.25,A\n0.1,0.2,B\n0.3,0.4,A\n0.7,0.6,B\n", 4, id="a class in words at the end"),
        pytest.param("A,0.5,3\nB,0.1,4\nC,0.3,5\n", 3, id="named samples, some whole numbers"),
    ],
)
def test_no_first_sample_is_silently_taken_for_a_header(tmp_path, content, n_samples):
    outcome = read_or_refusal(write(tmp_path, content))
    if isinstance(outcome, str):
        assert any(word in outcome for word in ("header", "missing value", "not numeric"))
    else:
        assert len(outcome["mainz"]) == n_samples


def test_no_header_of_numbers_is_silently_taken_for_a_sample(tmp_path):
    """Whole numbers above fractions, all different: gene numbers more likely than a sample."""
    outcome = read_or_refusal(write(tmp_path, "1017,1018,7157\n0.5,1.5,2.25\n2.5,3.5,0.125\n4.5,0.25,9.5\n"))
    if isinstance(outcome, str):
        assert "header" in outcome
    else:
        assert outcome.features == ("1017", "1018", "7157")


def test_header_can_be_denied(tmp_path):
    study = read(tmp_path, "m1,5,6,7\nm2,3,4,5\nm3,3,1,2\n", header=False)
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, [[5, 6, 7], [3, 4, 5], [3, 1, 2]])


# ---------------------------------------------------------------------------------------------------------------------
# class labels


def test_a_class_in_the_last_column_is_refused_unless_named_or_declared(tmp_path):
    path = write(tmp_path, WITH_CLASS, "shapes.txt")
    with pytest.raises(DataError, match=r"Feature '3' of study 'shapes' is probably a class label \(values 1, 2\)"):
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
    with pytest.raises(DataError, match="probably a class label") as caught:
        cr.Studies.read(path)
    advised = str(caught.value).split("Use label='")[1].split("'")[0]
    study = cr.Studies.read(path, label=advised)["mainz"]
    assert study.labels.tolist() == [2, 2, 1, 1]
    np.testing.assert_array_equal(study.X, [[15.55, 28.65], [14.9, 27.55], [14.45, 28.35], [14.15, 28.8]])


def test_a_column_without_a_header_is_named_by_its_number(tmp_path):
    path = write(tmp_path, WITH_CLASS)
    assert cr.Studies.read(path, label="3")["mainz"].labels.tolist() == [2, 2, 1, 1]
    with pytest.raises(DataError, match=r"'4'.*1, 2, 3"):
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
    with pytest.raises(DataError, match=r"not numeric: 'subtype' \(such as 'LumA'\).*label="):
        read(tmp_path, "id,x,subtype\na,0.5,LumA\nb,2.5,Basal\nc,4.5,LumA\n")


def test_a_class_in_words_in_the_first_column_is_refused_with_the_remedy(tmp_path):
    """It looks like sample names that are not unique: the sentence must say what else it may be."""
    with pytest.raises(DataError, match=r"'LumA'.*label="):
        read(tmp_path, "subtype,x,y\nLumA,0.5,1.5\nBasal,2.5,3.5\nLumA,4.5,5.5\n")


@pytest.mark.parametrize("classes", [("+", "-", "+"), ("none", "mild", "none")])
def test_class_names_are_kept_to_the_letter(tmp_path, classes):
    """A tumour that is ER- is not of unknown status."""
    rows = [f"{x},{y},{name}" for name, (x, y) in zip(classes, VALUES, strict=True)]
    assert read(tmp_path, "x,y,er\n" + "\n".join(rows), label="er").labels.tolist() == list(classes)


def test_an_empty_class_is_missing(tmp_path):
    with pytest.raises(DataError, match=r"labels of study 'mainz'.*1 missing label"):
        read(tmp_path, "x,y,er\n0.5,1.5,A\n2.5,3.5,\n4.5,5.5,B\n", label="er")


def test_a_class_that_only_one_file_has_is_kept_for_it(tmp_path):
    labelled = write(
        tmp_path, PLAIN.replace("ERBB2", "ERBB2,type").replace("\nm", ",A\nm").replace(",A", "", 1)[:-1] + ",B\n"
    )
    studies = cr.Studies.read(labelled, write(tmp_path, OTHER, "vdx.csv"), label="type")
    assert studies["mainz"].labels.tolist() == ["A", "A", "B"]
    assert studies["vdx"].labels is None


def test_a_label_that_no_file_has_is_refused_with_the_columns_there_are(tmp_path):
    with pytest.raises(DataError, match=r"'subtyp'.*ERBB2, ESR1"):
        read(tmp_path, PLAIN, label="subtyp")


# ---------------------------------------------------------------------------------------------------------------------
# tables the other way round


def test_tables_are_turned_round_on_request(tmp_path):
    study = read(tmp_path, GENES_IN_ROWS, transpose=True)
    assert study.features == FEATURES
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, VALUES)


def test_single_tables_are_turned_round_by_name(tmp_path):
    paths = write(tmp_path, GENES_IN_ROWS), write(tmp_path, OTHER, "vdx.csv")
    with pytest.raises(DataError, match=r"Study 'mainz' is probably the wrong way round.*transpose=\['mainz'\]"):
        cr.Studies.read(*paths)
    studies = cr.Studies.read(*paths, transpose=["mainz"])
    np.testing.assert_array_equal(studies["mainz"].X, VALUES)
    np.testing.assert_array_equal(studies["vdx"].X, [[2.5, 1.5], [4.5, 3.5]])


def test_one_name_may_stand_for_itself(tmp_path):
    paths = write(tmp_path, GENES_IN_ROWS), write(tmp_path, OTHER, "vdx.csv")
    np.testing.assert_array_equal(cr.Studies.read(*paths, transpose="mainz")["mainz"].X, VALUES)


def test_all_tables_the_wrong_way_round_are_refused_without_a_misleading_warning(tmp_path):
    paths = write(tmp_path, GENES_IN_ROWS), write(tmp_path, GENES_IN_ROWS.replace("m", "v"), "vdx.csv")
    with pytest.raises(DataError, match=r"no feature in common.*wrong way round.*transpose=True"):
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
    with pytest.raises(DataError, match=r"1 missing value .* sample 'm2', feature 'ESR1'"):
        read(tmp_path, GENES_IN_ROWS.replace("13.0", "NA"), transpose=True)


def test_names_that_are_not_unique_are_refused_either_way(tmp_path):
    with pytest.raises(DataError, match=r"duplicate sample name: 'm1'"):
        read(tmp_path, GENES_IN_ROWS.replace("m2", "m1"), transpose=True)
    with pytest.raises(DataError, match=r"duplicate feature name: 'ESR1'"):
        read(tmp_path, GENES_IN_ROWS.replace("ERBB2", "ESR1"), transpose=True)


def test_turning_asks_for_studies_that_there_are(tmp_path):
    with pytest.raises(ParameterError, match=r"'mianz'.*Did you mean 'mainz'"):
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
    with pytest.raises((DataError, ParameterError), match="mainz"):
        cr.Studies.read(path, path)


# ---------------------------------------------------------------------------------------------------------------------
# damaged tables


@pytest.mark.parametrize(
    "spelling",
    ["", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "NULL", "null", "None", "none", "#N/A", "?", ".", "-", " NA "],
)
def test_missing_values_are_counted_and_placed_however_they_are_spelled(tmp_path, spelling):
    content = f"id,ESR1,ERBB2\nm1,0.5,{spelling}\nm2,2.5,3.5\nm3,{spelling},4.5\n"
    with pytest.raises(
        DataError,
        match=r"'mainz' has 2 missing values in 2 samples and 2 features, first at sample 'm1', feature 'ERBB2'",
    ):
        read(tmp_path, content)


@pytest.mark.parametrize("spelling", ["inf", "-inf", "Inf", "Infinity", "1e999"])
def test_infinite_values_are_refused_with_their_place(tmp_path, spelling):
    with pytest.raises(DataError, match=r"1 infinite value .* sample 'm2', feature 'ESR1'"):
        read(tmp_path, PLAIN.replace("13.0", spelling))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(PLAIN.replace("ERBB2", "ESR1"), r"duplicate feature name: 'ESR1'", id="duplicate feature"),
        pytest.param(PLAIN.replace("m2", "m1"), r"duplicate sample name: 'm1'", id="duplicate sample"),
        pytest.param(PLAIN.replace("13.0", "13.0,7"), r"mainz\.csv.*line 3", id="a row too long"),
        pytest.param(PLAIN.replace("13.0,", ""), r"(line 3|sample 'm2')", id="a row too short"),
        pytest.param(PLAIN.replace("-14.25", "-14.25,1,2"), r"mainz\.csv.*line 2", id="the first row too long"),
        pytest.param(PLAIN.replace("8.5,", ""), r"mainz\.csv.*line 2", id="the first row too short"),
        pytest.param(PLAIN.replace("ERBB2", ""), r"features without a name, the first at position 2", id="no name"),
        pytest.param(PLAIN.replace(",", ";").replace(".", ","), r"decimal commas", id="decimal commas"),
        pytest.param("8,5;14,2;1,5\n13,1;1,3;2,5\n0,5;2,0;3,5\n", r"decimal commas", id="decimal commas, no header"),
        pytest.param(PLAIN.replace("13.0", "50%"), r"'50%' at sample 'm2', feature 'ESR1'", id="per cent"),
        pytest.param("", r"mainz\.csv is empty", id="empty"),
        pytest.param("\n  \n", r"mainz\.csv is empty", id="blank"),
        pytest.param("id,ESR1,ERBB2\n", r"header but no samples", id="header only"),
        pytest.param("id,ESR1,ERBB2\nm1,0.5,1.5\n", r"1 sample: at least 2", id="one sample"),
        pytest.param("id,type\na,A\nb,B\n", r"not numeric: 'type'", id="no numbers"),
        pytest.param(PLAIN.encode("utf-16-le"), r"zero bytes", id="UTF-16 without mark"),
        pytest.param(PLAIN.replace("m1", "Müller").encode("latin-1"), r"mainz\.csv is not text in UTF-8", id="Latin-1"),
        pytest.param(PLAIN.encode("utf-16") + b"\n", r"UTF-16", id="UTF-16 cut in half"),
        pytest.param(b"PK\x03\x04" + bytes(50), r"Excel or zip file.*save the table as CSV", id="Excel"),
        pytest.param(b"PAR1" + bytes(50), r"damaged Parquet file", id="Parquet"),
        pytest.param(gzip.compress(PLAIN.encode() * 9)[:-20], r"damaged gzip", id="gzip cut off"),
        pytest.param("# a comment\n" + PLAIN, r"^Line 1 of .*begins with #: remove the line if it is a", id="comment"),
        pytest.param(PLAIN.replace("\n", ",\n"), r"at the end of every line: remove it\.$", id="delimiters at the end"),
        pytest.param(PLAIN.replace("m2,", '"m2,'), r"line 3 opens a quotation mark that is never closed", id="a quote"),
        pytest.param(PLAIN.replace("m2,", '"m"2,'), r"line 3 has a quotation mark inside a cell", id="a quote inside"),
        pytest.param("<!DOCTYPE html>\n<p>\n", r"is a web page \(HTML\), not a table", id="a web page"),
        pytest.param("version https://git-lfs.github.com\n", r"only a pointer of Git LFS", id="a pointer"),
        pytest.param(PLAIN.replace("13.0", "13\0"), r"zero bytes: it is not delimited text", id="a zero byte"),
        pytest.param(gzip.compress(PLAIN.encode()) + b"junk", r"damaged gzip", id="gzip with something behind it"),
    ],
)
def test_a_damaged_table_is_refused_and_the_place_named(tmp_path, content, sentence):
    with pytest.raises(DataError, match=sentence):
        read(tmp_path, content)


def test_a_gzip_file_with_any_byte_changed_is_refused_or_read_as_it_was(tmp_path):
    packed = gzip.compress(PLAIN.encode())
    for place in range(len(packed)):
        damaged = bytearray(packed)
        damaged[place] ^= 0x55
        try:
            study = read(tmp_path, bytes(damaged))
        except DataError:
            continue
        np.testing.assert_array_equal(study.X, VALUES)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("id,x,y,\na,0.5,1.5,\nb,2.5,3.5,\n", id="a delimiter at the end of every line"),
        pytest.param("id,x,y\na,0.5,1.5,\nb,2.5,3.5,\n", id="a delimiter at the end of every row"),
        pytest.param("id,x,y\na,0.5,1.5\nb,2.5,3.5\n,,\n,,\n", id="empty rows of a spreadsheet"),
        pytest.param("# made on Monday\nid,x,y\na,0.5,1.5\nb,2.5,3.5\n", id="a comment line"),
        pytest.param("# a, b, c\nid,x,y\na,0.5,1.5\nb,2.5,3.5\n", id="a comment line with commas"),
    ],
)
def test_what_surrounds_a_table_never_changes_its_values(tmp_path, content):
    outcome = read_or_refusal(write(tmp_path, content))
    if isinstance(outcome, str):
        assert "mainz" in outcome
    else:
        assert outcome["mainz"].samples == ("a", "b")
        np.testing.assert_array_equal(outcome["mainz"].X, [[0.5, 1.5], [2.5, 3.5]])


@pytest.mark.parametrize("name", ["id", "sample", "patient", ""])
def test_a_header_that_names_the_samples_lacks_no_cell(tmp_path, name):
    """Rows one cell longer than such a header hold decimal commas, or a delimiter too many: no value may move."""
    with pytest.raises(DataError, match=r"mainz\.csv has 3 cells in its first line but 4 in line 2"):
        read(tmp_path, f"{name},ESR1,ERBB2\nm1,8,5,1.5\nm2,1,2,2.5\n")


def test_rows_behind_a_short_header_are_compared_with_each_other(tmp_path):
    with pytest.raises(DataError, match=r"has 3 cells in the lines before but 2 in line 4: correct that line"):
        read(tmp_path, "ESR1,ERBB2\nm1,0.5,1.5\nm2,2.5,3.5\nm3,4.5\n")


def test_a_header_may_begin_with_a_number_sign(tmp_path):
    study = read(tmp_path, PLAIN.replace("id,", "#SampleID,", 1))
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, VALUES)


def test_a_number_with_underscores_is_a_text(tmp_path):
    assert read(tmp_path, "code,x,y\n1_1,0.5,1.5\n1_2,2.5,3.5\n").samples == ("1_1", "1_2")
    with pytest.raises(DataError, match=r"'1_000' at sample 'm2', feature 'ESR1'"):
        read(tmp_path, PLAIN.replace("13.0", "1_000"))


def test_values_are_read_up_to_where_squares_are_numbers(tmp_path):
    assert read(tmp_path, PLAIN.replace("13.0", "1e150")).X.max() == 1e150
    with pytest.raises(DataError, match=r"1 value beyond 1e\+153, first at sample 'm2', feature 'ESR1'"):
        read(tmp_path, PLAIN.replace("13.0", "-1.5e153"))


def test_a_file_that_is_not_there_is_said_with_what_is(tmp_path):
    write(tmp_path, PLAIN)
    with pytest.raises(DataError, match=r"There is no file .*mians\.csv.* holds mainz\.csv"):
        cr.Studies.read(tmp_path / "mians.csv")
    with pytest.raises(DataError, match=r"There is no file .*nowhere"):
        cr.Studies.read(tmp_path / "nowhere" / "mainz.csv")
    with pytest.raises(DataError, match=r"is a folder: name the files in it"):
        cr.Studies.read(tmp_path)


# ---------------------------------------------------------------------------------------------------------------------
# the paper's own files


@pytest.mark.parametrize(
    ("name", "n_samples", "n_classes"),
    [("aggregation", 788, 7), ("compound", 399, 6), ("d31", 3100, 31), ("r15", 600, 15), ("spiral", 312, 3)],
)
def test_the_shapes_are_refused_until_their_class_is_named(data_folder, name, n_samples, n_classes):
    path = data_folder / "shapes" / f"{name}.txt"
    with pytest.raises(DataError, match=rf"Feature '3' of study '{name}' is probably a class label"):
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
    with pytest.raises(DataError, match=r"2 columns that are not numeric: 'PAM50' \(such as 'Her2'\), 'HK_3GENE'"):
        cr.Studies.read(data_folder / "breast" / "mainz_subtypes.csv")
