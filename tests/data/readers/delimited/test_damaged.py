"""Damaged tables of text are refused and the place is named."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from tests.data.readers.delimited.cases import PLAIN, SAMPLES, VALUES, read, read_or_refusal, write

import clustrep as cr
from clustrep.errors import DataError


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
        pytest.param("id;x\na;8,512\nb;9,250\n", r"thousands separator or a decimal comma", id="only doubtful commas"),
        pytest.param(PLAIN.replace("13.0", "50%"), r"'50%' at sample 'm2', feature 'ESR1'", id="per cent"),
        pytest.param("", r"mainz\.csv is empty", id="empty"),
        pytest.param("\n  \n", r"mainz\.csv is empty", id="blank"),
        pytest.param("id,ESR1,ERBB2\n", r"header but no samples", id="header only"),
        pytest.param("id,ESR1,ERBB2\nm1,0.5,1.5\n", r"1 sample: at least 2", id="one sample"),
        pytest.param("id,type\na,A\nb,B\n", r"non-numeric \w+: 'type'", id="no numbers"),
        pytest.param(PLAIN.encode("utf-16-le"), r"zero bytes", id="UTF-16 without mark"),
        pytest.param(PLAIN.replace("m1", "Müller").encode("latin-1"), r"mainz\.csv is not text in UTF-8", id="Latin-1"),
        pytest.param(PLAIN.encode("utf-16") + b"\n", r"UTF-16", id="UTF-16 cut in half"),
        pytest.param(b"PK\x03\x04" + bytes(50), r"is a damaged zip file", id="Excel"),
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
