"""Damaged tables of text are refused and the place is named."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from tests.data.readers.delimited.cases import PLAIN, SAMPLES, VALUES, read, read_or_refusal, write
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError


@pytest.mark.parametrize(
    "spelling",
    ["", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "NULL", "null", "None", "none", "#N/A", "?", ".", "-", " NA "],
)
def test_missing_values_are_counted_and_placed_however_they_are_spelled(tmp_path, spelling):
    content = f"id,ESR1,ERBB2\nm1,0.5,{spelling}\nm2,2.5,3.5\nm3,{spelling},4.5\n"
    with refused(DataError):
        read(tmp_path, content)


@pytest.mark.parametrize("spelling", ["inf", "-inf", "Inf", "Infinity", "1e999"])
def test_infinite_values_are_refused_with_their_place(tmp_path, spelling):
    with refused(DataError):
        read(tmp_path, PLAIN.replace("13.0", spelling))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(PLAIN.replace("ERBB2", "ESR1"), id="duplicate feature"),
        pytest.param(PLAIN.replace("m2", "m1"), id="duplicate sample"),
        pytest.param(PLAIN.replace("13.0", "13.0,7"), id="a row too long"),
        pytest.param(PLAIN.replace("13.0,", ""), id="a row too short"),
        pytest.param(PLAIN.replace("-14.25", "-14.25,1,2"), id="the first row too long"),
        pytest.param(PLAIN.replace("8.5,", ""), id="the first row too short"),
        pytest.param(PLAIN.replace("ERBB2", ""), id="no name"),
        pytest.param("id;x\na;8,512\nb;9,250\n", id="only doubtful commas"),
        pytest.param(PLAIN.replace("13.0", "50%"), id="per cent"),
        pytest.param("", id="empty"),
        pytest.param("\n  \n", id="blank"),
        pytest.param("id,ESR1,ERBB2\n", id="header only"),
        pytest.param("id,ESR1,ERBB2\nm1,0.5,1.5\n", id="one sample"),
        pytest.param("id,type\na,A\nb,B\n", id="no numbers"),
        pytest.param(PLAIN.encode("utf-16-le"), id="UTF-16 without mark"),
        pytest.param(PLAIN.replace("m1", "Müller").encode("latin-1"), id="Latin-1"),
        pytest.param(PLAIN.encode("utf-16") + b"\n", id="UTF-16 cut in half"),
        pytest.param(b"PK\x03\x04" + bytes(50), id="Excel"),
        pytest.param(b"PAR1" + bytes(50), id="Parquet"),
        pytest.param(gzip.compress(PLAIN.encode() * 9)[:-20], id="gzip cut off"),
        pytest.param("# a comment\n" + PLAIN, id="comment"),
        pytest.param(PLAIN.replace("\n", ",\n"), id="delimiters at the end"),
        pytest.param(PLAIN.replace("m2,", '"m2,'), id="a quote"),
        pytest.param(PLAIN.replace("m2,", '"m"2,'), id="a quote inside"),
        pytest.param("<!DOCTYPE html>\n<p>\n", id="a web page"),
        pytest.param("version https://git-lfs.github.com\n", id="a pointer"),
        pytest.param(PLAIN.replace("13.0", "13\0"), id="a zero byte"),
        pytest.param(gzip.compress(PLAIN.encode()) + b"junk", id="gzip with something behind it"),
    ],
)
def test_a_damaged_table_is_refused_and_the_place_named(tmp_path, content):
    with refused(DataError):
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
    with refused(DataError):
        read(tmp_path, f"{name},ESR1,ERBB2\nm1,8,5,1.5\nm2,1,2,2.5\n")


def test_rows_behind_a_short_header_are_compared_with_each_other(tmp_path):
    with refused(DataError):
        read(tmp_path, "ESR1,ERBB2\nm1,0.5,1.5\nm2,2.5,3.5\nm3,4.5\n")


def test_a_header_may_begin_with_a_number_sign(tmp_path):
    study = read(tmp_path, PLAIN.replace("id,", "#SampleID,", 1))
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, VALUES)


def test_a_number_with_underscores_is_a_text(tmp_path):
    assert read(tmp_path, "code,x,y\n1_1,0.5,1.5\n1_2,2.5,3.5\n").samples == ("1_1", "1_2")
    with refused(DataError):
        read(tmp_path, PLAIN.replace("13.0", "1_000"))


def test_values_are_read_up_to_where_squares_are_numbers(tmp_path):
    assert read(tmp_path, PLAIN.replace("13.0", "1e150")).X.max() == 1e150
    with refused(DataError):
        read(tmp_path, PLAIN.replace("13.0", "-1.5e153"))


def test_a_file_that_is_not_there_is_said_with_what_is(tmp_path):
    write(tmp_path, PLAIN)
    with refused(DataError):
        cr.Studies.read(tmp_path / "mians.csv")
    with refused(DataError):
        cr.Studies.read(tmp_path / "nowhere" / "mainz.csv")
    with refused(DataError):
        cr.Studies.read(tmp_path)
