"""One table of text in many dresses; names that are numbers; first lines that might be data."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from tests.data.readers.delimited.cases import FEATURES, OTHER, PLAIN, SAMPLES, VALUES, read, read_or_refusal, write
from tests.sentences import warned

import clustrep as cr
from clustrep.errors import DataWarning

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
    studies = cr.Studies.read(write(tmp_path, PLAIN), write(tmp_path, OTHER, "vdx.tsv"), scale="study")
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
    assert read(tmp_path, "sample,ESR1,ERBB2\n" + "\n".join(rows)).samples == names


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
    with warned(DataWarning):
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
        assert any(word in outcome for word in ("header", "missing value", "non-numeric"))
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
