"""Workbooks, zip files and tables with decimal commas, as Excel and its users write them."""

from __future__ import annotations

import datetime
import io
import zipfile

import numpy as np
import pytest
from tests.data.readers.examples import FEATURES, FRAME, SAMPLES, VALUES, assert_is_the_frame, only, write
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.errors import DataError, DataWarning

GERMAN = "id;ESR1;ERBB2\nm1;8,5;-14,25\nm2;13,0;1E-3\nm3;,5;2\n"


@pytest.fixture
def workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")

    def save(name="mainz.xlsx", **sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        book.save(tmp_path / name)
        return tmp_path / name

    return save


ROWS = [["id", *FEATURES], *([name, *row] for name, row in zip(SAMPLES, VALUES.tolist(), strict=True))]


class TestWorkbooks:
    def test_the_only_sheet_that_holds_anything_is_read(self, workbook, tmp_path):
        path = workbook(Tabelle1=ROWS, Tabelle2=[])
        study = only(path)
        assert study.name == "mainz"
        assert_is_the_frame(study)
        assert_is_the_frame(only(path.rename(tmp_path / "mainz.csv")))  # by its content

    def test_sheets_are_named_in_the_path_and_are_studies(self, workbook):
        other = [["id", "ERBB2", "ESR1"], ["v1", 1.5, 2.5], ["v2", 3.5, 4.5]]
        path = workbook("cohorts.xlsx", Mainz=ROWS, VDX=other, Legend=[["some words"]])
        with refused(DataError):
            cr.Studies.read(path)
        studies = cr.Studies.read(f"{path}:Mainz", f"{path}:VDX")
        assert studies.names == ("Mainz", "VDX")
        assert_is_the_frame(studies["Mainz"])
        np.testing.assert_array_equal(studies["VDX"].X, [[2.5, 1.5], [4.5, 3.5]])
        with refused(DataError):
            cr.Studies.read(f"{path}:mainz")

    def test_a_title_above_the_names_is_refused_as_one(self, workbook):
        with refused(DataError):
            cr.Studies.read(workbook("cohorts.xlsx", Mainz=[["Registry of 2024"], [], *ROWS]))

    def test_other_files_have_no_sheets(self, tmp_path):
        path = write(tmp_path, GERMAN, "mainz.csv")
        with refused(DataError):
            cr.Studies.read(f"{path}:1")

    def test_cells_are_what_they_are_in_excel(self, workbook):
        """Whole numbers name samples; texts with decimal commas are numbers; empty cells are missing."""
        path = workbook(
            a=[["id", "x", "y", "type"], [101, 0.1, "8,5", "A"], [102, 2.5, "1,25", "B"], [103, 3, "2", None]]
        )
        with warned(DataWarning):
            study = only(path, label="type")
        assert study.labels.tolist() == ["A", "B", "unknown"]
        assert study.samples == ("101", "102", "103")
        np.testing.assert_array_equal(study.X, [[0.1, 8.5], [2.5, 1.25], [3, 2]])
        with refused(DataError):
            cr.Studies.read(workbook(a=[["id", "x"], [101, 0.5], [102, "#N/A"], [103, 1.5]]))

    def test_gene_names_that_excel_has_made_dates_are_named(self, workbook):
        rows = [["id", "ESR1", datetime.date(2024, 9, 2)], ["m1", 1.5, 2.5], ["m2", 3.5, 4.5]]
        with refused(DataError):
            cr.Studies.read(workbook(a=rows))

    def test_damage_is_refused_or_changes_nothing(self, workbook, tmp_path, rng):
        raw = workbook(a=ROWS).read_bytes()
        for place in rng.choice(len(raw), 150, replace=False):
            damaged = bytearray(raw)
            damaged[place] ^= 0x55
            try:
                study = only(write(tmp_path, bytes(damaged), "mainz.xlsx"))
            except DataError:
                continue
            assert_is_the_frame(study)

    def test_an_empty_workbook_is_empty(self, workbook):
        with refused(DataError):
            cr.Studies.read(workbook(a=[]))


class TestDecimalCommas:
    @pytest.mark.parametrize("delimiter", [";", "\t"])
    def test_they_are_read_as_points(self, tmp_path, delimiter):
        assert_is_the_frame(only(write(tmp_path, GERMAN.replace(";", delimiter), "mainz.csv")))

    def test_a_table_without_names_may_have_them(self, tmp_path):
        study = only(write(tmp_path, "8,5;-14,25\n13,0;1E-3\n0,5;2\n", "mainz.csv"))
        np.testing.assert_array_equal(study.X, VALUES)

    def test_one_cell_decides_for_those_that_may_hold_thousands(self, tmp_path):
        study = only(write(tmp_path, "id;a;b\nm1;1,698;2,5\nm2;893;3,25\n", "mainz.csv"))
        np.testing.assert_array_equal(study.X, [[1.698, 2.5], [893, 3.25]])
        with refused(DataError):
            cr.Studies.read(write(tmp_path, "id;a;b\nm1;1,698;2\nm2;8,933;3\n", "mainz.csv"))

    @pytest.mark.parametrize("cell", ["1.698", "14.2"])
    def test_points_beside_them_are_refused(self, tmp_path, cell):
        content = GERMAN.replace("13,0", cell)
        with refused(DataError):
            cr.Studies.read(write(tmp_path, content, "mainz.csv"))

    def test_names_keep_their_commas(self, tmp_path):
        content = "id;Age, years;b\nSmith, J;8,5;1\nDoe, A;2,25;3\n"
        study = only(write(tmp_path, content, "mainz.csv"))
        assert study.features == ("Age, years", "b")
        assert study.samples == ("Smith, J", "Doe, A")


def zipped(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


class TestZip:
    def test_its_only_file_is_read(self, tmp_path):
        content = FRAME.to_csv(index_label="id")
        packed = zipped(**{"table.csv": content, "__MACOSX/._table.csv": "x"})
        assert only(write(tmp_path, packed, "mainz.csv.zip")).name == "mainz"
        assert_is_the_frame(only(write(tmp_path, packed, "mainz")))

    def test_several_files_are_refused(self, tmp_path):
        with refused(DataError):
            cr.Studies.read(write(tmp_path, zipped(**{"a.csv": "x", "b.csv": "y"}), "mainz.zip"))

    def test_damage_is_refused(self, tmp_path):
        packed = zipped(**{"a.csv": GERMAN})
        damaged = packed[:45] + bytes([packed[45] ^ 1]) + packed[46:]
        for content in (packed[:-30], damaged, b"PK\x03\x04" + bytes(50)):
            with refused(DataError):
                cr.Studies.read(write(tmp_path, content, "mainz.zip"))


def test_a_comment_among_the_samples_is_refused(tmp_path):
    content = FRAME.to_csv(index_label="id") + "#m4,1.5,2.5\n"
    with refused(DataError):
        cr.Studies.read(write(tmp_path, content, "mainz.csv"))
    assert only(write(tmp_path, "id,a\n#1,0.5\n#2,1.5\n", "mainz.csv")).samples == ("#1", "#2")
