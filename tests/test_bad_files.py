"""Files that are no saved result; every case has `result.npz` and `table.csv`."""

from __future__ import annotations

import dataclasses
import json
import zipfile

import numpy as np
import pytest
from tests.bad_inputs import TABLE_FILE, X, case, check_refusal, local, put, result, under_their_headings
from tests.helpers import write_archive

import clustrep as cr
from clustrep.errors import ClustrepError, DataError, ParameterError
from clustrep.files.archives import seal


def changed(folder, without=(), arrays=None, **header):
    """Write the saved result again with another header, and other arrays."""
    with np.load(folder / "result.npz", allow_pickle=False) as archive:
        kept = {name: archive[name] for name in archive.files if name not in without}
    old = json.loads(str(kept.pop("clustrep")))
    new = {name: value for name, value in {**old, **header}.items() if name not in without}
    return write_archive(folder / "changed.npz", clustrep=np.array(json.dumps(new)), **{**kept, **(arrays or {})})


def with_header(folder, text):
    return write_archive(folder / "changed.npz", clustrep=np.array(text))


def foreign(folder, **arrays):
    return write_archive(folder / "foreign.npz", **arrays)


def plain_array(folder):
    np.save(folder / "array.npy", X)
    return folder / "array.npy"


def packed(folder, member, content):
    with zipfile.ZipFile(folder / "other.npz", "w") as archive:
        archive.writestr(member, content)
    with open(folder / "other.npz", "r+b") as stream:
        seal(stream)
    return folder / "other.npz"


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, folder):
        self.path = str(folder / "sprung")

    def __reduce__(self):
        return open, (self.path, "w")


LOAD = [
    case("save to None", lambda folder: result().save(None), ClustrepError, "path"),
    case("save to a number", lambda folder: result().save(3), ClustrepError, "path"),
    case("save to a folder", lambda folder: result().save(folder), DataError),
    case("save to nowhere", lambda folder: result().save(folder / "sub" / "r.npz"), DataError),
    case("load None", lambda folder: cr.load(None), ClustrepError, "path"),
    case("load a number", lambda folder: cr.load(3), ClustrepError, "path"),
    case("load several", lambda folder: cr.load([folder / "result.npz"]), ClustrepError, "path"),
    case("load nothing", lambda folder: cr.load(folder / "nothing.npz"), DataError),
    case("load a folder", lambda folder: cr.load(folder), DataError),
    case("load an empty file", lambda folder: cr.load(put(folder / "x.npz", b"")), DataError),
    case("load text", lambda folder: cr.load(put(folder / "x.npz", b"hello world")), DataError),
    case("load a table", lambda folder: cr.load(folder / "table.csv"), DataError),
    case(
        "load half a file",
        lambda folder: cr.load(put(folder / "x.npz", (folder / "result.npz").read_bytes()[:-300])),
        DataError,
    ),
    case("load another npz", lambda folder: cr.load(foreign(folder, X=X)), DataError),
    case("load an npy", lambda folder: cr.load(plain_array(folder)), DataError),
    case("load another zip", lambda folder: cr.load(packed(folder, "readme.txt", "hello")), DataError),
    case("load a zip of rubbish", lambda folder: cr.load(packed(folder, "clustrep.npy", "hello")), DataError),
    case("load a newer format", lambda folder: cr.load(changed(folder, format=3)), DataError),
    case("load an older format", lambda folder: cr.load(changed(folder, format=1)), DataError),
    case("load format 0", lambda folder: cr.load(changed(folder, format=0)), DataError),
    case("load a negative format", lambda folder: cr.load(changed(folder, format=-2)), DataError),
    case("load a format that is true", lambda folder: cr.load(changed(folder, format=True)), DataError),
    case("load a format with a fraction", lambda folder: cr.load(changed(folder, format=2.0)), DataError),
    case("load a format in words", lambda folder: cr.load(changed(folder, format="new")), DataError),
    case("load no format", lambda folder: cr.load(changed(folder, without=["format"])), DataError),
    case("load an unknown kind", lambda folder: cr.load(changed(folder, kind="Forecast")), DataError),
    case("load no kind", lambda folder: cr.load(changed(folder, without=["kind"])), DataError),
    case("load a list of kinds", lambda folder: cr.load(changed(folder, kind=["Replicability"])), DataError),
    case("load no values", lambda folder: cr.load(changed(folder, without=["values"])), DataError),
    case("load a list of values", lambda folder: cr.load(changed(folder, values=[1])), DataError),
    case("load without scores", lambda folder: cr.load(changed(folder, without=["estimate"])), DataError),
    case("load with more", lambda folder: cr.load(changed(folder, arrays={"more": X})), DataError),
    case("load a header that is a list", lambda folder: cr.load(with_header(folder, "[1, 2]")), DataError),
    case("load a header that is no JSON", lambda folder: cr.load(with_header(folder, "{{")), DataError),
    case("load a header that is a number", lambda folder: cr.load(foreign(folder, clustrep=np.arange(3))), DataError),
]


@pytest.fixture
def folder(tmp_path):
    put(tmp_path / "table.csv", TABLE_FILE.encode())
    result().save(tmp_path / "result.npz")
    return tmp_path


TABLES = {"save and load": LOAD}


@pytest.mark.parametrize("bad", under_their_headings(TABLES))
def test_bad_file_is_refused(bad, folder):
    check_refusal(bad, folder)


@pytest.mark.parametrize("name", ["clustrep", "estimate"])
def test_pickled_objects_are_never_loaded(name, folder):
    trap = np.array([Trap(folder)], dtype=object)
    path = foreign(folder, clustrep=trap) if name == "clustrep" else changed(folder, arrays={name: trap})
    with pytest.raises(DataError):
        cr.load(path)
    assert not (folder / "sprung").exists()


def test_a_file_with_any_byte_changed_is_refused_or_the_same(folder):
    whole = (folder / "result.npz").read_bytes()
    for place in range(0, len(whole), 11):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        try:
            loaded = cr.load(put(folder / "damaged.npz", bytes(damaged)))
        except DataError:
            continue
        for field in dataclasses.fields(loaded):
            if not field.name.startswith("_"):
                np.testing.assert_equal(getattr(loaded, field.name), getattr(result(), field.name))


def test_a_failed_save_leaves_the_old_file_and_no_other(folder):
    before = sorted(path.name for path in folder.iterdir())
    unsavable = dataclasses.replace(result(), estimate=np.array([object()]))
    with pytest.raises(ValueError, match="pickle"):
        unsavable.save(folder / "result.npz")
    assert sorted(path.name for path in folder.iterdir()) == before
    np.testing.assert_array_equal(cr.load(folder / "result.npz").estimate, result().estimate)


def test_a_result_from_a_file_says_what_it_can_not_do(folder):
    loaded = cr.load(folder / "result.npz")
    with pytest.raises(ParameterError):
        loaded.clustering_function("alpha")
    local().save(folder / "local.npz")
    with pytest.raises(ParameterError) as caught:
        cr.load(folder / "local.npz").plot()
    assert caught.value.parameter == "points"
