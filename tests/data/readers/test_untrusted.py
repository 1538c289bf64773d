"""Files that were made to do harm, or were damaged: a crash or a hang is a sentence, and no other numbers are read."""

from __future__ import annotations

import os
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from tests.data.readers.examples import CELLS, GENES, assert_stands_alone, make, only
from tests.sentences import refused

import clustrep as cr
from clustrep.data.readers import h5ad as h5ad_reader
from clustrep.data.readers.h5ad import isolated, read_cells
from clustrep.errors import DataError

h5py = pytest.importorskip("h5py")
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not copied here")


@pytest.fixture
def sparse_file(h5ad):
    def save(dress=scipy.sparse.csr_matrix):
        return h5ad(make(dress(np.where(CELLS > 3, CELLS, 0))))

    return save


# ---------------------------------------------------------------------------------------------------------------------
# sparse indices, shapes and sizes


@pytest.mark.parametrize("dress", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
@pytest.mark.parametrize(
    ("part", "place", "value"),
    [
        pytest.param("indices", 0, 10**6, id="far outside"),
        pytest.param("indices", 3, 6, id="just outside, in the memory of the next row"),
        pytest.param("indices", 0, -1, id="negative"),
        pytest.param("indptr", 1, 10**6, id="a row beyond the end"),
        pytest.param("indptr", 2, 0, id="rows that overlap"),
        pytest.param("indptr", -1, 5, id="rows that end too early"),
        pytest.param("indptr", 0, 3, id="rows that begin too late"),
    ],
)
def test_sparse_indices_that_do_not_fit_are_refused(sparse_file, dress, part, place, value):
    path = sparse_file(dress)
    with h5py.File(path, "a") as file:
        file["X"][part][place] = value
    with refused(DataError) as caught:
        cr.Studies.read(path)
    assert_stands_alone(caught)


@pytest.mark.parametrize(
    ("part", "values"),
    [
        pytest.param("indptr", [0, 5, 10, 15, 21], id="too few rows"),
        pytest.param("indptr", [0.0, 1, 5, 9, 13, 17, 21], id="ends that are no whole numbers"),
        pytest.param("indptr", [0, 21, 21, 21, 21, 21, 21], id="more entries in a row than columns"),
        pytest.param("indices", np.zeros(21), id="indices that are no whole numbers"),
        pytest.param("indices", np.zeros(20, dtype=int), id="one index too few"),
        pytest.param("data", np.full(21, b"x"), id="entries that are no numbers"),
    ],
)
def test_sparse_tables_that_do_not_fit_are_refused(sparse_file, part, values):
    path = sparse_file()
    with h5py.File(path, "a") as file:
        assert file["X/data"].shape == (21,)
        replace(file, f"X/{part}", np.array(values))
    with refused(DataError) as caught:
        cr.Studies.read(path)
    assert_stands_alone(caught)


def test_sparse_indices_in_memory_are_checked_too():
    adata = make(scipy.sparse.csr_matrix(CELLS))
    adata.X.indices[0] = 10**6
    with refused(DataError):
        cr.Studies.from_anndata(adata, "donor")


def replace(file, name, values):
    attributes = dict(file[name].attrs)
    del file[name]
    file[name] = values
    file[name].attrs.update(attributes)


@pytest.mark.parametrize(
    "shape",
    [(3, 4), (6, 3)],
)
def test_a_table_needs_as_many_names_as_it_has_rows_and_columns(h5ad, shape):
    path = h5ad(make())
    with h5py.File(path, "a") as file:
        replace(file, "X", CELLS[: shape[0], : shape[1]])
    with refused(DataError):
        cr.Studies.read(path)


def test_an_embedding_needs_as_many_rows_as_there_are_names(h5ad):
    path = h5ad(make())
    with h5py.File(path, "a") as file:
        replace(file, "obsm/X_pca", np.ones((5, 2)))
    with refused(DataError):
        cr.Studies.read(path, rep="X_pca")


def test_a_sparse_table_that_declares_another_shape_is_refused(sparse_file):
    path = sparse_file()
    with h5py.File(path, "a") as file:
        file["X"].attrs["shape"] = [3, 7]
    with refused(DataError):
        cr.Studies.read(path)


def test_a_table_that_no_machine_has_room_for_is_refused_before_it_is_read(h5ad):
    path = h5ad(make())
    n = 10**6
    with h5py.File(path, "a") as file:
        del file["X"]
        file.create_dataset("X", shape=(n, n), chunks=(100, 100), dtype="f8")
        for axis in ("obs", "var"):
            index = file[axis].attrs["_index"]
            replace(file, f"{axis}/{index}", np.char.mod("%d", np.arange(n)).astype("S"))
        for column in list(file["obs"].attrs["column-order"]):
            del file["obs"][column]
        file["obs"].attrs["column-order"] = []
    with pytest.raises(DataError):
        cr.Studies.read(path)


def test_what_a_file_declares_is_not_allocated(h5ad):
    """A few kilobytes can declare terabytes, which are filled with zeros when they are read."""
    path = h5ad(make())
    with h5py.File(path, "a") as file:
        file["obs"].create_dataset("huge", shape=(10**12,), chunks=(1000,), dtype="f8")
        file["obs"].attrs["column-order"] = [*file["obs"].attrs["column-order"], "huge"]
    with refused(DataError):
        cr.Studies.read(path)


def test_parts_that_are_not_needed_are_not_read(h5ad):
    path = h5ad(make(uns={"note": "x"}))
    with h5py.File(path, "a") as file:
        file["layers"].create_dataset("huge", shape=(10**6, 10**6), chunks=(100, 100), dtype="f8")
        file["uns"].create_dataset("huge", shape=(10**12,), chunks=(1000,), dtype="f8")
    np.testing.assert_array_equal(only(path).X, CELLS)


def test_a_table_of_text_is_refused(h5ad):
    path = h5ad(make())
    with h5py.File(path, "a") as file:
        replace(file, "X", np.full((6, 4), b"x"))
    with refused(DataError):
        cr.Studies.read(path)


# ---------------------------------------------------------------------------------------------------------------------
# a process of its own


@pytest.mark.parametrize("dress", [np.array, scipy.sparse.csr_matrix])
def test_flipped_bits_are_refused_or_read(h5ad, tmp_path, monkeypatch, rng, dress):
    """A bounded part of `make fuzz`, which flips 2,000."""
    whole = h5ad(make(dress(CELLS))).read_bytes()
    monkeypatch.setattr(h5ad_reader, "SECONDS_AT_MOST", 5)
    path = tmp_path / "flipped.h5ad"
    n_refused = 0
    for _ in range(25):
        flipped = bytearray(whole)
        for place in rng.integers(len(whole), size=8):
            flipped[place] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:
            cr.Studies.read(path, study_key="donor", label="type")
        except DataError:
            n_refused += 1
    assert n_refused > 5


@posix
def test_a_file_that_never_ends_is_refused_after_its_time(h5ad, monkeypatch):
    path = h5ad(make())

    def never_ends(*_args, **_options):
        while True:
            pass

    monkeypatch.setattr(h5ad_reader, "read_cells", never_ends)
    monkeypatch.setattr(h5ad_reader, "SECONDS_AT_MOST", 1)
    with refused(DataError):
        cr.Studies.read(path)


@posix
def test_a_file_that_crashes_its_reader_is_refused(h5ad, monkeypatch):
    path = h5ad(make())
    monkeypatch.setattr(h5ad_reader, "read_cells", lambda *_args, **_options: os.abort())
    with refused(DataError):
        cr.Studies.read(path)


@posix
def test_a_copy_of_the_process_is_ended_when_its_parent_is_interrupted(tmp_path, monkeypatch):
    is_waiting, waits = os.pipe()

    def interrupt(*_):
        raise KeyboardInterrupt

    def waiting(seconds):
        os.write(waits, b"!")
        time.sleep(seconds)

    def work():
        stream.write(str(os.getpid()).encode())
        stream.flush()
        os.read(is_waiting, 1)  # right after the fork, Python would print the interrupt and go on
        os.kill(os.getppid(), signal.SIGUSR1)
        time.sleep(600)

    monkeypatch.setattr(h5ad_reader, "time", SimpleNamespace(sleep=waiting))
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with open(tmp_path / "answer", "w+b") as stream:
            with pytest.raises(KeyboardInterrupt):
                isolated(work, seconds=600)
            stream.seek(0)
            pid = int(stream.read())
    finally:
        signal.signal(signal.SIGUSR1, before)
        os.close(is_waiting)
        os.close(waits)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@posix
def test_where_processes_are_not_copied_files_are_read_here(h5ad, monkeypatch):
    monkeypatch.delattr(os, "fork")
    np.testing.assert_array_equal(only(h5ad(make(scipy.sparse.csr_matrix(CELLS)))).X, CELLS)


def test_cells_are_the_same_from_either_process(h5ad):
    path = h5ad(make(scipy.sparse.csr_matrix(CELLS)))
    cells = read_cells(path, rep=None, columns=["donor", "depth", "absent"])
    np.testing.assert_array_equal(cells.matrix, CELLS)
    assert cells.features == list(GENES)
    assert cells.obs == {"donor": ["d2", "d1"] * 3, "depth": list(range(6))}
    assert cells.annotations == ("donor", "type", "depth")


def test_names_with_any_character_come_back(h5ad):
    names = ["a\nb", "\x1b[2J", "é", "中", "\u202e", " x "]
    adata = make()
    adata.obs_names = names
    assert only(h5ad(adata)).samples == tuple(names)


@pytest.mark.parametrize("keep", range(8, 4000, 173))
def test_half_a_file_is_refused(h5ad, tmp_path, keep):
    (tmp_path / "half.h5ad").write_bytes(h5ad(make()).read_bytes()[:keep])
    with pytest.raises(DataError):
        cr.Studies.read(tmp_path / "half.h5ad")


def test_damaged_parts_of_a_file_are_refused(h5ad):
    path = h5ad(make())
    with h5py.File(path, "a") as file:
        del file["obs"]
        file["obs"] = np.arange(6)
    with refused(DataError):
        cr.Studies.read(path)
