"""Files that are no saved result, and the sentence that each gets; every case has `result.npz` and `table.csv`."""

from __future__ import annotations

import dataclasses
import json
import zipfile

import numpy as np
import pytest
from tests.bad_inputs import (
    TABLE_FILE,
    X,
    case,
    check_sentence,
    local,
    put,
    result,
    under_their_headings,
)
from tests.helpers import write_archive

import clustrep as cr
from clustrep.archives import seal
from clustrep.errors import ClustrepError, DataError, ParameterError


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


FOREIGN = r"is not a result that clustrep saved, or is damaged"

# fmt: off
LOAD = [
    case("save to None", lambda folder: result().save(None), ClustrepError, r"[Pp]ath.*None"),
    case("save to a number", lambda folder: result().save(3), ClustrepError, r"[Pp]ath.*3"),
    case("save to a folder", lambda folder: result().save(folder), DataError, r"is a folder: name a file"),
    case("save to nowhere", lambda folder: result().save(folder / "sub" / "r.npz"),
         DataError, r"There is no folder .*sub to write r\.npz into"),
    case("load None", lambda folder: cr.load(None), ClustrepError, r"[Pp]ath.*None"),
    case("load a number", lambda folder: cr.load(3), ClustrepError, r"[Pp]ath.*3"),
    case("load several", lambda folder: cr.load([folder / "result.npz"]), ClustrepError, r"[Pp]ath"),
    case("load nothing", lambda folder: cr.load(folder / "nothing.npz"), DataError, r"There is no file .*nothing\.npz"),
    case("load a folder", lambda folder: cr.load(folder), DataError, r"is a folder"),
    case("load an empty file", lambda folder: cr.load(put(folder / "x.npz", b"")), DataError, r"x\.npz " + FOREIGN),
    case("load text", lambda folder: cr.load(put(folder / "x.npz", b"hello world")), DataError, r"x\.npz " + FOREIGN),
    case("load a table", lambda folder: cr.load(folder / "table.csv"), DataError, r"table\.csv " + FOREIGN),
    case("load half a file", lambda folder: cr.load(put(folder / "x.npz", (folder / "result.npz").read_bytes()[:-300])),
         DataError, r"x\.npz " + FOREIGN),
    case("load another npz", lambda folder: cr.load(foreign(folder, X=X)), DataError, r"foreign\.npz " + FOREIGN),
    case("load an npy", lambda folder: cr.load(plain_array(folder)), DataError, r"array\.npy " + FOREIGN),
    case("load another zip", lambda folder: cr.load(packed(folder, "readme.txt", "hello")),
         DataError, r"other\.npz " + FOREIGN),
    case("load a zip of rubbish", lambda folder: cr.load(packed(folder, "clustrep.npy", "hello")),
         DataError, r"other\.npz " + FOREIGN),
    case("load a newer format", lambda folder: cr.load(changed(folder, format=3)),
         DataError, r"saved by a newer clustrep \(format 3, this one reads 2\): update"),
    case("load an older format", lambda folder: cr.load(changed(folder, format=1)),
         DataError, r"saved by an older clustrep \(format 1, this one reads 2\): run it again"),
    case("load format 0", lambda folder: cr.load(changed(folder, format=0)), DataError, FOREIGN),
    case("load a negative format", lambda folder: cr.load(changed(folder, format=-2)), DataError, FOREIGN),
    case("load a format that is true", lambda folder: cr.load(changed(folder, format=True)), DataError, FOREIGN),
    case("load a format with a fraction", lambda folder: cr.load(changed(folder, format=2.0)), DataError, FOREIGN),
    case("load a format in words", lambda folder: cr.load(changed(folder, format="new")), DataError, r"changed\.npz"),
    case("load no format", lambda folder: cr.load(changed(folder, without=["format"])), DataError, FOREIGN),
    case("load an unknown kind", lambda folder: cr.load(changed(folder, kind="Forecast")),
         DataError, r"holds a result of kind 'Forecast'; this clustrep knows Replicability, "),
    case("load no kind", lambda folder: cr.load(changed(folder, without=["kind"])), DataError, r"changed\.npz"),
    case("load a list of kinds", lambda folder: cr.load(changed(folder, kind=["Replicability"])),
         DataError, r"changed\.npz"),
    case("load no values", lambda folder: cr.load(changed(folder, without=["values"])), DataError, r"changed\.npz"),
    case("load a list of values", lambda folder: cr.load(changed(folder, values=[1])), DataError, r"changed\.npz"),
    case("load without scores", lambda folder: cr.load(changed(folder, without=["estimate"])),
         DataError, r"changed\.npz is damaged.*'?estimate"),
    case("load with more", lambda folder: cr.load(changed(folder, arrays={"more": X})),
         DataError, r"changed\.npz is damaged.*'?more"),
    case("load a header that is a list", lambda folder: cr.load(with_header(folder, "[1, 2]")), DataError, FOREIGN),
    case("load a header that is no JSON", lambda folder: cr.load(with_header(folder, "{{")), DataError, FOREIGN),
    case("load a header that is a number", lambda folder: cr.load(foreign(folder, clustrep=np.arange(3))),
         DataError, FOREIGN),
]
# fmt: on


@pytest.fixture
def folder(tmp_path):
    put(tmp_path / "table.csv", TABLE_FILE.encode())
    result().save(tmp_path / "result.npz")
    return tmp_path


@pytest.mark.parametrize(("call", "error", "sentence"), under_their_headings({"save and load": LOAD}))
def test_bad_file_gets_its_sentence(call, error, sentence, folder):
    with pytest.raises(error, match=sentence) as caught:
        call(folder)
    check_sentence(str(caught.value))


@pytest.mark.parametrize("name", ["clustrep", "estimate"])
def test_pickled_objects_are_never_loaded(name, folder):
    trap = np.array([Trap(folder)], dtype=object)
    path = foreign(folder, clustrep=trap) if name == "clustrep" else changed(folder, arrays={name: trap})
    with pytest.raises(DataError, match=FOREIGN) as caught:
        cr.load(path)
    check_sentence(str(caught.value))
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
    with pytest.raises(ParameterError, match=r"read from a file, which holds scores but no data: .* rng=0") as caught:
        loaded.clustering_function("alpha")
    check_sentence(str(caught.value))
    local().save(folder / "local.npz")
    with pytest.raises(ParameterError, match=r"points must be given: this result was read from a file") as caught:
        cr.load(folder / "local.npz").plot()
    check_sentence(str(caught.value))
