"""Archives say what they hold before anything is decompressed, and a changed byte is always found."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.helpers import write_archive
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError, ParameterError
from clustrep.files.archives import ALLOWED_RATIO, ALWAYS_ALLOWED, seal
from clustrep.files.saved import HEADER
from clustrep.results import ARRAYS, RESULTS, VALUES

DAMAGED = "not a result that clustrep saved, or is damaged"


@pytest.fixture(scope="module")
def result(cohorts):
    return cr.replicability(KMeans(2, n_init=1), cohorts, n_resamples=2, rng=0)


@pytest.fixture
def path(result, tmp_path):
    result.save(tmp_path / "result.npz")
    return tmp_path / "result.npz"


def arrays_of(path):
    with np.load(path) as archive:
        return dict(archive)


def with_member(path, name, content, **options):
    """Put raw bytes in the place of an array."""
    members = {f"{key}.npy": npy_bytes(value) for key, value in arrays_of(path).items()}
    with zipfile.ZipFile(path, "w", **options) as archive:
        for member, data in {**members, f"{name}.npy": content}.items():
            archive.writestr(member, data)
    with open(path, "r+b") as stream:
        seal(stream)
    return path


def npy_bytes(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def declaring(shape, dtype="<f8", data=b""):
    """An npy file that declares an array without holding it."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue() + data


# ---------------------------------------------------------------------------------------------------------------------
# a checksum


def test_every_changed_byte_is_found(path):
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << place % 8)]) + whole[place + 1 :])
        with pytest.raises(DataError):
            cr.load(path)


@pytest.mark.parametrize("more", [b"0", b"\n", bytes(100)])
def test_more_at_the_end_is_found(more, path):
    path.write_bytes(path.read_bytes() + more)
    with refused(DataError):
        cr.load(path)


def test_a_file_without_a_checksum_is_refused(path):
    np.savez(path, **arrays_of(path))
    with refused(DataError):
        cr.load(path)


def test_other_programs_can_read_the_file(path, result):
    with np.load(path, allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["distribution"], result.distribution)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None


# ---------------------------------------------------------------------------------------------------------------------
# names, types and sizes


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(declaring((10**12,)), id="more than there is"),
        pytest.param(declaring((2, 2), data=bytes(24)), id="less than there is"),
        pytest.param(declaring((2,), data=bytes(24)), id="not all that there is"),
        pytest.param(declaring((-2, -1), data=bytes(16)), id="negative dimensions"),
        pytest.param(declaring((10**30, 0)), id="nothing of something endless"),
        pytest.param(declaring((2,), "|O", bytes(16)), id="objects"),
        pytest.param(declaring((2,), "<c16", bytes(32)), id="complex numbers"),
        pytest.param(declaring((2,), "<M8[s]", bytes(16)), id="dates"),
        pytest.param(declaring((2,), "|V8", bytes(16)), id="anything"),
        pytest.param(b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + bytes(8), id="a header of two gigabytes"),
        pytest.param(b"\x93NUMPY\x03\x00" + struct.pack("<I", 8) + b"{}      ", id="a later version"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_an_array_that_is_not_what_it_declares_is_refused(content, path):
    with pytest.raises(DataError):
        cr.load(with_member(path, "distribution", content))


def test_a_name_that_occurs_twice_is_refused(path):
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("distribution.npy", npy_bytes(np.zeros(3)))
    with open(path, "r+b") as stream:
        seal(stream)
    with refused(DataError):
        cr.load(path)


@pytest.mark.parametrize("name", ["nothing/estimate", "estimate/0/x", "readme.txt"])
def test_an_array_that_belongs_to_nothing_is_refused(name, path):
    with pytest.raises(DataError):
        cr.load(write_archive(path, **{**arrays_of(path), name: np.zeros(3)}))


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(compression, path):
    with refused(DataError):
        cr.load(with_member(path, "estimate", npy_bytes(arrays_of(path)["estimate"]), compression=compression))


@pytest.mark.parametrize(
    "changes",
    [
        {"estimate": np.zeros((3, 3), dtype=int)},
        {"estimate": np.full((3, 3), "x")},
        {"failed": np.zeros((2, 3, 3))},
    ],
    ids=["integers for floats", "text for floats", "floats for integers"],
)
def test_an_array_of_another_type_is_named(changes, path):
    with refused(DataError):
        cr.load(write_archive(path, **{**arrays_of(path), **changes}))


@pytest.mark.parametrize(
    ("name", "value"),
    [("names", "alpha"), ("names", [1, 2]), ("agreement", 3), ("provenance", None), ("estimate", [[0.5]])],
)
def test_a_value_of_another_type_is_refused(name, value, path):
    arrays = arrays_of(path)
    header = json.loads(str(arrays.pop(HEADER)))
    assert name in header["values"] or name in arrays
    header["values"][name] = value
    arrays.pop(name, None)
    with pytest.raises(DataError):
        cr.load(write_archive(path, **arrays, **{HEADER: np.array(json.dumps(header))}))


def test_every_field_of_every_result_has_a_type_that_can_be_checked():
    known = {*ARRAYS, *VALUES, *RESULTS}
    annotations = {
        str(field.type).removesuffix(" | None")
        for kind in RESULTS.values()
        for field in dataclasses.fields(kind)
        if not field.name.startswith("_")
    }
    assert {"FloatArray", "Comparison", "tuple[str, ...]"} <= annotations
    items = {text.removeprefix("tuple[").removesuffix(", ...]").removesuffix(" | None") for text in annotations}
    assert items <= known


# ---------------------------------------------------------------------------------------------------------------------
# a budget


def write_bomb(path, n_floats):
    """A result whose distribution holds zeros, which a thousandth of their bytes can hold."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        n = n_floats // 9
        zeros = {"distribution": np.zeros((0, 3, 3))}
        zeros |= {"trivial": np.zeros((0, 3, 3), "?"), "clusters_found": np.zeros((0, 3), "u1")}
        for name, data in members.items():
            if name.removesuffix(".npy") not in zeros:
                archive.writestr(name, data)
        for name, like in zeros.items():
            shape = (n, *like.shape[1:])
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(declaring(shape, like.dtype.str))
                member.write(bytes(math.prod(shape) * like.itemsize))
    with open(path, "r+b") as stream:
        seal(stream)
    return path


LOAD_WITH_LITTLE_MEMORY = """
import resource, sys
import clustrep as cr
cr.load
import clustrep.results
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[2]),) * 2)
try:
    cr.load(sys.argv[1])
except Exception as error:
    print("MemoryError" if isinstance(error, MemoryError) else repr(error))
"""


def load_with_little_memory(path, n_bytes):
    done = subprocess.run(
        [sys.executable, "-c", LOAD_WITH_LITTLE_MEMORY, path, str(n_bytes)], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_file_that_declares_too_much_is_refused_before_it_takes_memory(path, monkeypatch):
    write_bomb(path, 2_000_000)
    with pytest.raises(DataError, match="max_bytes"):  # the sentence has the file's size, which depends on the version
        cr.load(path, max_bytes=1_000_000)
    monkeypatch.setattr("clustrep.files.archives.ALWAYS_ALLOWED", 15_000_000)
    with pytest.raises(DataError, match="max_bytes"):
        cr.load(path)
    assert cr.load(path, max_bytes=20_000_000).distribution.shape == (222_222, 3, 3)


def test_what_results_of_any_size_may_declare(path, monkeypatch):
    """In proportion to the file: a large file may take much memory, a small one may not."""
    assert (ALWAYS_ALLOWED, ALLOWED_RATIO) == (2**30, 20)
    monkeypatch.setattr("clustrep.files.archives.ALWAYS_ALLOWED", 0)
    assert len(cr.load(path).distribution) == 2
    with pytest.raises(DataError):  # the sentence has the file's own size
        cr.load(write_bomb(path, 2_000_000))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does it")
def test_a_lack_of_memory_is_not_a_damaged_file(path):
    write_bomb(path, 20_000_000)
    assert load_with_little_memory(path, 50 * 2**20) == "MemoryError\n"
    assert load_with_little_memory(path, 2**30) == ""


@pytest.mark.parametrize("value", [0, -1, 1.5, "1 GB", True])
def test_a_budget_is_a_number_of_bytes(value, path):
    with refused(ParameterError, "max_bytes"):
        cr.load(path, max_bytes=value)
