"""AnnData objects, h5ad files and Zarr stores: one study, or several that a column of obs tells apart."""

from __future__ import annotations

import faulthandler
import importlib
import json
import math
import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from os import PathLike
from pathlib import Path as FolderPath
from types import SimpleNamespace
from typing import IO, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from clustrep.data.readers.cells import Cells, cells_of, precision_of
from clustrep.data.readers.source import AGAIN, HDF5_MAGIC, ZARR_MARKS, Beginning, import_for, in_brief
from clustrep.data.readers.table import Path, Reader, Request, Table
from clustrep.data.study import Label
from clustrep.errors import DataError, ParameterError
from clustrep.text import listing, nearest, plural
from clustrep.types import IntArray

# How long a file may take: so many seconds, and one more for so many bytes.
SECONDS_AT_MOST, BYTES_PER_SECOND = 60, 2**20


def is_hdf5(beginning: Beginning) -> bool:
    """Whether a file has the mark of HDF5, the container of h5ad."""
    return beginning.raw.startswith(HDF5_MAGIC)


def read_h5ad(path: Path, study: str, request: Request) -> Iterator[Table]:
    """Read the studies of an h5ad file: one with this name, or those that `study_key` tells apart."""
    import_for(path, "an HDF5 file", "anndata", extra="anndata")
    read = partial(read_cells, path, rep=request.rep, columns=asked_columns(request), features=request.features)
    return tables_of_cells(cells_of_untrusted(read, path, "an HDF5 file", os.path.getsize(path)), study, request)


def asked_columns(request: Request) -> list[str]:
    """Return the columns of obs that are needed."""
    return [column for column in (request.label, request.study_key, request.groups) if column]


def tables_of_anndata(
    adata: Any, *, study_key: str, rep: str | None, label: Label, features: Sequence[str] | None
) -> Iterator[Table]:
    """Take the studies of an AnnData, which `study_key` tells apart."""
    if not all(hasattr(adata, name) for name in ("obs", "obsm", "layers", "var_names")):
        advice = ": read files with Studies.read(*paths)" if isinstance(adata, str | PathLike) else ""
        raise DataError(f"from_anndata takes an AnnData, got {type(adata).__name__}{advice}.")
    for parameter, value in (("study_key", study_key), ("rep", rep)):
        if (value is not None or parameter == "study_key") and (not isinstance(value, str) or not value):
            raise ParameterError(f"{parameter} must be a name, got {value!r}.", parameter=parameter)
    columns = [column for column in (label, study_key) if column]
    cells = cells_of(adata, "The AnnData", rep=rep, columns=columns, features=features)
    return tables_of_cells(cells, "", Request(label=label, study_key=study_key))


# ---------------------------------------------------------------------------------------------------------------------
# files, which are not trusted


def cells_of_untrusted(read: Callable[[], Cells], path: Path, kind: str, n_bytes: int) -> Cells:
    """Read one table of a file in a copy of this process, which a damaged file may crash or stop."""
    if not hasattr(os, "fork"):  # Windows
        return read()
    with tempfile.TemporaryFile() as stream, tempfile.TemporaryFile() as table:
        seconds = SECONDS_AT_MOST + n_bytes // BYTES_PER_SECOND
        ending = isolated(partial(_answer, read, stream, table), seconds)
        if ending == "too slow":
            raise DataError(
                f"{path} was not read within {plural(seconds, 'second')}: it is probably damaged. {AGAIN.capitalize()}."
            )
        if ending == "crashed":
            raise DataError(
                f"{path} is {kind} that is damaged, or too large for this machine's memory and temporary files: "
                f"{AGAIN}, or keep fewer features."
            )
        stream.seek(0)
        head = json.load(stream)
        if "refusal" in head:
            raise DataError(head["refusal"])
        shape, dtype = head["matrix"]
        matrix = np.memmap(table, dtype, "r", shape=tuple(shape)) if math.prod(shape) else np.empty(shape, dtype)
        return Cells(**{**head, "annotations": tuple(head["annotations"]), "matrix": np.asarray(matrix)})


def _answer(read: Callable[[], Cells], stream: IO[bytes], table: IO[bytes]) -> None:
    """Write the numbers of a table to one file, and all else, or why there is none, to another."""
    head: dict[str, Any]
    try:
        cells = read()
        matrix = np.asarray(cells.matrix, dtype=precision_of(cells.matrix))
        free = shutil.disk_usage(tempfile.gettempdir()).free
        if matrix.nbytes > free:
            raise DataError(
                f"The table takes {matrix.nbytes / 1024**3:.1f} GB, and {free / 1024**3:.1f} GB are free in the folder "
                f"of temporary files, {tempfile.gettempdir()}: make room there, or set TMPDIR to another folder."
            )
        matrix.tofile(table)
        head = {**cells._asdict(), "matrix": [matrix.shape, matrix.dtype.str]}
    except DataError as error:
        head = {"refusal": error.sentence}
    stream.write(json.dumps(head, default=_plain).encode("utf-8", "surrogatepass"))
    stream.flush()


def _plain(value: Any) -> Any:
    """Return a value of obs that JSON can hold."""
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return value.item() if isinstance(value, np.generic) else str(value)


# ---------------------------------------------------------------------------------------------------------------------
# studies of cells


def tables_of_cells(cells: Cells, name: str, request: Request) -> Iterator[Table]:
    """Take the cells as one study, or as one for each value of `study_key`, in the order of their first cells."""
    study_key = request.study_key
    all_rows = np.arange(cells.matrix.shape[0])
    rows_of = {name: all_rows} if study_key is None else _rows_by_study(cells, study_key)
    for study, rows in rows_of.items():
        part = cells.matrix if study_key is None else cells.matrix[rows]
        frame = pd.DataFrame(part.toarray() if hasattr(part, "toarray") else part)
        if cells.features is not None:
            frame.columns = pd.Index(cells.features, dtype=object)
        if cells.samples is not None:
            frame.index = pd.Index([cells.samples[i] for i in rows], dtype=object)
        labels, groups = (
            np.array([*cells.obs[column], None], dtype=object)[rows] if column and column in cells.obs else None
            for column in (request.label, request.groups)
        )
        yield Table(study, frame, labels, cells.annotations, cells.are_embedded, groups)


def _rows_by_study(cells: Cells, study_key: str) -> dict[str, IntArray]:
    annotations = cells.annotations
    if study_key not in annotations:
        choices = f"; there are {listing(annotations, 20)}" if annotations else ""
        raise DataError(
            f"{cells.source} has no column {study_key!r} in obs to tell the studies apart{choices}."
            f"{nearest(study_key, annotations)}"
        )
    column = cells.obs[study_key]
    n_missing = sum(value is None for value in column)
    if n_missing:
        raise DataError(
            f"{cells.source} has {plural(n_missing, 'cell')} without a study: {study_key!r} is missing there. "
            "Leave those cells out, or give them a study."
        )
    n_blank = sum(not str(value).strip() for value in column)
    if n_blank:
        raise DataError(
            f"{cells.source} has {plural(n_blank, 'cell')} whose study has no name: {study_key!r} is blank there. "
            "Leave those cells out, or give them a study."
        )
    codes, values = pd.factorize(np.array([str(value) for value in column], dtype=object))
    return {str(value): np.flatnonzero(codes == code) for code, value in enumerate(values)}


H5AD = Reader(
    kind="an h5ad file",
    files="h5ad files",
    sniff=is_hdf5,
    read=read_h5ad,
    takes=frozenset(["study_key", "rep"]),
    orientation="its rows are cells already",
)


# ---------------------------------------------------------------------------------------------------------------------
# An h5ad file, element by element: nothing is read of it but what is needed, and nothing before its size is known


OBS_BYTES_AT_MOST = 2 * 1024**3  # of obs or var


def _frame(file: Any, axis: str, path: Path) -> pd.DataFrame:
    """Read obs or var."""
    anndata, h5py = importlib.import_module("anndata"), importlib.import_module("h5py")
    element = file[axis]
    if (size := _declared_bytes(element)) > OBS_BYTES_AT_MOST:
        raise ValueError(f"{axis} is said to take {size / 1024**3:.1f} GB")
    if isinstance(element, h5py.Dataset):  # as anndata wrote it before 0.7
        adata = anndata.read_h5ad(path, backed="r")
        adata.file.close()
        frame = getattr(adata, axis)
    else:
        frame = anndata.io.read_elem(element)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"{axis} is not a table")
    return frame


def _declared_bytes(element: Any) -> int:
    """Add up the sizes of all arrays within an element as its file declares them, whether or not they are there."""
    if hasattr(element, "shape"):
        return math.prod(element.shape or ()) * int(element.dtype.itemsize)
    if hasattr(element, "members"):  # of a Zarr store
        return sum(_declared_bytes(part) for _, part in element.members())
    sizes: list[int] = []
    element.visititems(lambda _, part: sizes.append(_declared_bytes(part)) if hasattr(part, "shape") else None)
    return sum(sizes)


def _table(element: Any) -> Any:
    """Return a table that is not yet read: dense, sparse or a frame. Errors are worded by `read_cells`."""
    anndata = importlib.import_module("anndata")
    if hasattr(element, "shape"):
        if element.dtype.kind not in "biuf":
            raise TypeError(f"{element.name} holds {element.dtype}, not numbers")
        return element
    if element.attrs.get("encoding-type") == "dataframe":
        if _declared_bytes(element) > OBS_BYTES_AT_MOST:
            raise ValueError(f"{element.name} is said to be too large")
        return anndata.io.read_elem(element)
    table = anndata.io.sparse_dataset(element)
    n_entries = [part.shape for part in (element["data"], element["indices"])]
    if n_entries[0] != n_entries[1] or len(n_entries[0]) != 1 or n_entries[0][0] > math.prod(table.shape):
        raise ValueError(f"{element.name} can't have {n_entries[0]} entries at {n_entries[1]} places")
    return table


def read_cells(
    path: Path,
    *,
    rep: str | None,
    columns: Iterable[str],
    features: Sequence[str] | None = None,
) -> Cells:
    """Read one table of an h5ad file, block by block; whatever goes wrong is a `DataError`."""
    h5py = importlib.import_module("h5py")
    try:
        file = h5py.File(path, "r")
    except Exception as error:
        raise _damaged(path, error) from None
    with file:
        try:
            is_h5ad = "obs" in file and "var" in file
        except Exception as error:
            raise _damaged(path, error) from None
        if not is_h5ad:
            raise DataError(
                f"{path} is an HDF5 file but not h5ad, for it has no obs and var: save it as h5ad, or the table as CSV."
            )
        try:
            return cells_of_stored(file, path, "an h5ad file", rep=rep, columns=columns, features=features)
        except OSError as error:
            raise _damaged(path, error) from None


def cells_of_stored(file: Any, path: Path, kind: str, **asked: Any) -> Cells:
    """Read one table of an AnnData in a file or store that is open; `asked`: what `cells_of` takes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that are not unique: refused below; of old formats
            obs, var = _frame(file, "obs", path), _frame(file, "var", path)
            parts = {"X": file.get("X"), "obsm": file.get("obsm", {}), "layers": file.get("layers", {})}
            stored = SimpleNamespace(obs=obs, obs_names=obs.index, var_names=var.index, **parts)
            return cells_of(stored, str(path), opened=_table, **asked)
    except (DataError, MemoryError, OSError):
        raise
    except Exception as error:  # a damaged file can raise almost anything
        raise DataError(
            f"{path} is {kind} that anndata can't read ({in_brief(error)}): update anndata, or {AGAIN}."
        ) from None


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(f"{path} is an HDF5 file that is damaged ({in_brief(error)}): {AGAIN}.")


# ---------------------------------------------------------------------------------------------------------------------
# A Zarr store, which is a folder: read as an h5ad file is, element by element and block by block


ZARR_STORE = "a Zarr store"
# Codecs that run what is written in a file.
UNSAFE = "pickle"


def is_zarr(beginning: Beginning) -> bool:
    """Whether it is a folder with the marks of a Zarr store."""
    return beginning.is_zarr


def read_zarr(path: Path, study: str, request: Request) -> Iterator[Table]:
    """Read the studies of a Zarr store: one with this name, or those that `study_key` tells apart."""
    import_for(path, ZARR_STORE, "anndata", extra="anndata")
    import_for(path, ZARR_STORE, "zarr", extra="anndata")
    read = partial(read_stored_cells, path, rep=request.rep, columns=asked_columns(request), features=request.features)
    n_bytes = sum(file.lstat().st_size for file in _files(path))
    return tables_of_cells(cells_of_untrusted(read, path, ZARR_STORE, n_bytes), study, request)


def read_stored_cells(
    path: Path,
    *,
    rep: str | None,
    columns: Iterable[str],
    features: Sequence[str] | None = None,
) -> Cells:
    """Read one table of a Zarr store, block by block; whatever goes wrong is a `DataError`."""
    zarr = importlib.import_module("zarr")
    _check_codecs(path)
    try:
        # What the parts say of themselves: a summary of them at the top was not checked. Version 2 reads none unasked.
        options = {} if zarr.__version__.startswith("2.") else {"use_consolidated": False}
        group = zarr.open_group(os.fspath(path), mode="r", **options)
        is_anndata = "obs" in group and "var" in group
    except Exception as error:
        raise DataError(f"{path} is {ZARR_STORE} that is damaged ({in_brief(error)}): {AGAIN}.") from None
    if not is_anndata:
        raise DataError(
            f"{path} is {ZARR_STORE} but holds no AnnData, for it has no obs and var: write it with anndata."
        )
    return cells_of_stored(group, path, ZARR_STORE, rep=rep, columns=columns, features=features)


def _check_codecs(path: Path) -> None:
    """Refuse a store with arrays that are unpickled, which can run any program."""
    for file in _files(path):
        if file.name.lower() not in (*ZARR_MARKS, ".zarray"):  # some file systems ignore case
            continue
        try:
            described = json.loads(file.read_bytes())
        except (OSError, ValueError) as error:
            raise DataError(
                f"{path} is {ZARR_STORE} that is damaged ({file.name}: {in_brief(error)}): {AGAIN}."
            ) from None
        if any(UNSAFE in name.lower() for name in _codec_names(described)):
            raise DataError(
                f"{path} holds an array that is packed with {UNSAFE}, which can run any program: write it again with "
                "anndata, which does not use it."
            )


def _codec_names(described: Any) -> Iterator[str]:
    """Return the names of all codecs in what is said of an array, wherever they stand."""
    pending = [described]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield from (str(value[key]) for key in ("id", "name") if key in value)
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def _files(path: Path) -> Iterator[FolderPath]:
    """Return all files of a store; links are refused, because they lead out of what was looked at."""
    for folder, folders, names in os.walk(path):
        for name in (*folders, *names):
            if (FolderPath(folder) / name).is_symlink():
                raise DataError(f"{path} is {ZARR_STORE} with a link in it, {name!r}: replace it by what it leads to.")
        yield from (FolderPath(folder) / name for name in names)


ZARR = Reader(
    kind=ZARR_STORE,
    files="Zarr stores",
    sniff=is_zarr,
    read=read_zarr,
    takes=frozenset(["study_key", "rep"]),
    orientation="its rows are cells already",
)


# ---------------------------------------------------------------------------------------------------------------------
# work on a file that is not trusted, done in a copy of this process: a crash or a hang there ends only the copy


Ending: TypeAlias = Literal["done", "too slow", "crashed"]


def isolated(work: Callable[[], None], seconds: int) -> Ending:
    """Let a copy of this process do some work, for so many seconds at most, and return how it ended.

    The limit is an alarm of the copy itself, which the system rings: it also ends a copy that loops inside a library,
    or whose parent is gone.
    """
    copy = status = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the copy runs none, and reads one file
            copy = os.fork()
        if copy == 0:
            _work_and_exit(work, seconds)
        status = _status_at_end(copy)
    finally:
        if copy == 0:  # interrupted before its work began: it may not go on as a second parent
            os._exit(1)
        if copy is not None and status is None:  # interrupted
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return "too slow"
    return "done" if status == 0 else "crashed"


def _status_at_end(copy: int) -> int:
    """Wait for the copy with pauses: a signal that comes just before a call that waits is handled only after it."""
    pause = 0.001
    while True:
        ended, status = os.waitpid(copy, os.WNOHANG)
        if ended:
            return status
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _work_and_exit(work: Callable[[], None], seconds: int) -> None:
    code = 1
    try:
        for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.alarm(max(1, seconds))
        faulthandler.disable()  # a crash is told in one sentence
        silence = os.open(os.devnull, os.O_WRONLY)  # libraries write of damaged files
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        work()
        code = 0
    finally:
        os._exit(code)  # nothing of the parent's is flushed, closed or removed twice
