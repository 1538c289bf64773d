"""What could be read in two ways is asked about or refused, and nothing is read as something else in silence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from tests.data.readers.examples import CSV, SERIES, assert_is_the_frame, only, write
from tests.sentences import refused

import clustrep as cr
from clustrep.data.readers import source
from clustrep.errors import DataError

# ---------------------------------------------------------------------------------------------------------------------
# points that may separate thousands


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("id;ESR1;ERBB2\na;1.698;5\nb;893;7\nc;2.001;9\n", id="beside each other in a column"),
        pytest.param("1.698;893\n893;1.001\n", id="no header"),
        pytest.param("id;ESR1;ERBB2\na;-1.698;5\nb;893;7\nc;12.001;9\n", id="a sign"),
        pytest.param("id;ESR1;type\na;1.698;1\nb;893;2\nc;2.001;1\n", id="numbers elsewhere"),
    ],
)
def test_points_that_may_separate_thousands_are_refused(tmp_path, content):
    with refused(DataError):
        cr.Studies.read(write(tmp_path, content, "mainz.csv"), label=False)


def test_points_that_may_separate_thousands_in_a_turned_table_are_refused(tmp_path):
    path = write(tmp_path, "gene;a;b;c\nESR1;1.698;893;2.001\nERBB2;5;7;9\n", "mainz.csv")
    with refused(DataError):
        cr.Studies.read(path, transpose=True)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        pytest.param("id;ESR1;ERBB2\na;1.698;0.5\nb;893;7\nc;2.001;9\n", 1.698, id="another number is below 1"),
        pytest.param("id;ESR1;ERBB2\na;1.6980;5\nb;893;7\nc;2.001;9\n", 1.698, id="another number of decimals"),
        pytest.param("id;ESR1;ERBB2\na;1698;5\nb;893;7\nc;2.001;9\n", 1698, id="thousands without a point"),
        pytest.param("id;ESR1;age\na;1.698;51\nb;8.934;62\nc;2.001;40\n", 1.698, id="three decimals throughout"),
        pytest.param("id,ESR1,ERBB2\na,1.698,5\nb,893,7\nc,2.001,9\n", 1.698, id="commas"),
        pytest.param("id\tESR1\tERBB2\na\t1.698\t5\nb\t893\t7\nc\t2.001\t9\n", 1.698, id="tabs"),
    ],
)
def test_points_that_are_decimal_are_read(tmp_path, content, value):
    assert only(write(tmp_path, content, "mainz.csv"), label=False).X[0, 0] == value


def test_the_remedies_for_thousands_can_be_followed(tmp_path):
    content = "id;ESR1;ERBB2\na;1.698;5\nb;893;7\nc;2.001;9\n"
    with refused(DataError):
        cr.Studies.read(write(tmp_path, content, "mainz.csv"), label=False)
    for cell, value in (("1698", 1698), ("1.6980", 1.698)):
        path = write(tmp_path, content.replace("1.698", cell), "mainz.csv")
        assert only(path, label=False).X[0, 0] == value


# ---------------------------------------------------------------------------------------------------------------------
# samples and labels


@pytest.mark.parametrize("column", ["id", "index", "Index", "ID"])
@pytest.mark.parametrize("kind", ["text", "parquet"])
def test_a_first_column_of_fractions_that_may_be_a_feature_is_refused(tmp_path, parquet, column, kind):
    frame = pd.DataFrame({column: [1.52, 1.51, 1.5], "x": [0.5, 2.5, 4.5], "y": [1.5, 3.5, 5.5]})
    path = parquet(frame) if kind == "parquet" else write(tmp_path, frame.to_csv(index=False), "mainz.csv")
    with refused(DataError):
        cr.Studies.read(path)
    for other, names in (("sample", ("1.52", "1.51", "1.5")), ("refraction", ("1", "2", "3"))):
        renamed = frame.rename(columns={column: other})
        path = parquet(renamed) if kind == "parquet" else write(tmp_path, renamed.to_csv(index=False), "mainz.csv")
        assert only(path).samples == names


@pytest.mark.parametrize("names", [("7", "8", "9"), ("1.5a", "1.6", "1.7"), ("S1.1", "S1.2", "S1.3")])
def test_a_first_column_of_names_is_read(tmp_path, names):
    rows = "".join(f"{name},0.5,{i}.5\n" for i, name in enumerate(names))
    assert only(write(tmp_path, "id,x,y\n" + rows, "mainz.csv")).samples == names


def test_an_index_of_fractions_is_an_index(parquet):
    frame = pd.DataFrame({"x": [0.5, 2.5], "y": [1.5, 3.5]}, index=pd.Index([0.25, 0.75], name="id"))
    assert only(parquet(frame)).samples == ("0.25", "0.75")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(('"er status: positive"', '"er status: positive"\t"er status: positive"'), id="too long"),
        pytest.param(('"er status: positive"\t', ""), id="too short"),
        pytest.param(('"m1"\t"m2"\t"m3"\n!Sample_char', '"m1"\t"m2"\t"m3"\t"m4"\n!Sample_char'), id="accessions"),
    ],
)
def test_characteristics_that_are_not_one_for_each_sample_are_refused(tmp_path, change):
    path = write(tmp_path, SERIES.replace(*change, 1), "geo.txt")
    with refused(DataError):
        cr.Studies.read(path, label="er status")
    assert_is_the_frame(only(path))  # without labels nothing is in doubt


@pytest.mark.parametrize(
    "labels",
    [[1, "1", 2, "2"], [1, b"1", 2, 3], np.array([1, "1", 2, 2], dtype=object), ["True", True, False, "no"]],
)
def test_numbers_and_texts_that_look_alike_are_not_one_label(labels):
    with refused(DataError):
        cr.Study(np.arange(8.0).reshape(4, 2), "mainz", labels=labels)
    with refused(DataError):
        cr.agreement.adjusted_rand_index(labels, [1, 1, 2, 2])


def test_numbers_and_texts_that_differ_are_labels():
    study = cr.Study(np.arange(8.0).reshape(4, 2), "mainz", labels=[1, "unknown", 2, "unknown"])
    assert study.labels.tolist() == ["1", "unknown", "2", "unknown"]


# ---------------------------------------------------------------------------------------------------------------------
# packed files, and files that can't be read


@pytest.mark.parametrize(("pack", "ending"), [(bz2.compress, "bz2"), (lzma.compress, "xz")])
class TestPacked:
    def test_it_is_read(self, tmp_path, pack, ending):
        study = only(write(tmp_path, pack(SERIES.encode()), f"mainz.txt.{ending}"))
        assert study.name == "mainz"
        assert_is_the_frame(study)
        assert only(write(tmp_path, pack(CSV.encode("utf-16")), "vdx")).features == ("ERBB2", "ESR1")

    def test_several_streams_are_one_file(self, tmp_path, pack, ending):
        head, tail = SERIES[:200].encode(), SERIES[200:].encode()
        assert_is_the_frame(only(write(tmp_path, pack(head) + pack(tail), "mainz")))

    def test_damage_is_refused(self, tmp_path, pack, ending):
        packed = pack(SERIES.encode())
        flipped = packed[:60] + bytes([packed[60] ^ 1]) + packed[61:]
        for damaged in (packed[:-5], packed + b"junk", flipped, packed[:10]):
            with refused(DataError):
                cr.Studies.read(write(tmp_path, damaged, "mainz"))

    def test_what_is_no_text_is_to_be_unpacked(self, tmp_path, pack, ending):
        with refused(DataError):
            cr.Studies.read(write(tmp_path, pack(b"PAR1" + bytes(50)), "mainz"))


def zipped(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mainz.csv", content)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["gzip", "bz2", "lzma", "zip"])
def test_what_unpacks_to_far_more_than_it_is_is_refused(tmp_path, monkeypatch, name):
    pack = {"gzip": gzip.compress, "bz2": bz2.compress, "lzma": lzma.compress, "zip": zipped}[name]
    content = (CSV + "\n" * 10**6).encode()
    path = write(tmp_path, pack(content), "mainz.csv")
    assert len(content) > 100 * path.stat().st_size
    monkeypatch.setattr(source, "ALWAYS_UNPACKED", len(content) - 1)
    with refused(DataError):
        cr.Studies.read(path)
    monkeypatch.setattr(source, "ALWAYS_UNPACKED", len(content))
    assert only(path).samples == ("v1", "v2")
    monkeypatch.setattr(source, "ALWAYS_UNPACKED", 0)
    monkeypatch.setattr(source, "UNPACKED_RATIO", len(content))
    assert only(path).samples == ("v1", "v2")


@pytest.mark.parametrize("magic", [b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c"])
def test_other_packings_are_named(tmp_path, magic):
    with refused(DataError):
        cr.Studies.read(write(tmp_path, magic + bytes(99), "mainz.zst"))


@pytest.mark.parametrize("content", [",,,\n,,,\n", '""', ";", '"" ""\n'])
def test_a_file_of_delimiters_alone_is_empty(tmp_path, content):
    with refused(DataError):
        cr.Studies.read(write(tmp_path, content, "mainz.csv"))


def test_a_path_that_no_file_can_have_is_refused(tmp_path):
    with refused(DataError):
        cr.Studies.read("a\0b.csv")
    with refused(DataError):
        cr.Studies.read(tmp_path / ("x" * 5000))


@pytest.mark.skipif(not os.path.isfile("/proc/self/mem"), reason="there is no file here that can't be read")
def test_a_file_that_can_not_be_read_is_refused():
    with refused(DataError):
        cr.Studies.read("/proc/self/mem")


def test_a_wrong_byte_is_named_wherever_it_is(tmp_path):
    content = bytearray((CSV + "".join(f"v{i},0.5,{i}.5\n" for i in range(3, 200_000))).encode())
    assert len(content) > 2**21
    content[2**20 + 17] = 0xFF
    with refused(DataError):
        cr.Studies.read(write(tmp_path, bytes(content), "vdx.csv"))


# ---------------------------------------------------------------------------------------------------------------------
# memory

# The peak of this process alone: that of `getrusage` begins with what its parent took.
PEAK = """
import sys
from clustrep import Studies

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

Studies.read(sys.argv[1])
before = peak()
Studies.read(sys.argv[2])
print(1024 * (peak() - before))
"""


@pytest.mark.skipif(not os.path.isfile("/proc/self/status"), reason="the peak of a process is not told here")
@pytest.mark.parametrize("decimals", [2, 16])
@pytest.mark.parametrize("kind", ["csv", "geo"])
def test_reading_takes_at_most_five_times_the_size_of_a_file(tmp_path, rng, kind, decimals):
    contents = [as_text(rng.normal(8, 2, size=shape), kind, decimals) for shape in [(20, 10), (300, 4000)]]
    small, large = (write(tmp_path, content, f"{len(content)}.txt") for content in contents)
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(small), str(large)], capture_output=True, text=True, check=True
    )
    ratio = int(done.stdout) / len(contents[1])
    assert ratio <= 5, f"{ratio:.1f} times its size"


def as_text(values, kind, decimals):
    """Write a table as CSV, or as a series matrix of GEO."""
    rows = [[f"s{i}", *(f"{value:.{decimals}f}" for value in row)] for i, row in enumerate(values)]
    header = ["id", *(f"g{j}" for j in range(values.shape[1]))]
    separator = "," if kind == "csv" else "\t"
    table = "".join(separator.join(row) + "\n" for row in [header, *rows])
    if kind == "csv":
        return table
    return f"!Series_title\tx\n!series_matrix_table_begin\n{table}!series_matrix_table_end\n"
