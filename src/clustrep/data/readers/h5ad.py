"""AnnData objects, h5ad files and Zarr stores: one study, or several that a column of obs tells apart.

Nothing is read of a file but the table that is asked for, obs and var, element by element as anndata's own readers take
them, and nothing before its declared size, shape and sparse indices are checked. Files are not trusted: they are read
in a copy of this process, because libhdf5 crashes or hangs on some damaged ones, which no check in Python prevents.

anndata's own lazy elements check no indices. Measured with anndata 0.12 and one index out of range: `read_h5ad` and
`read_lazy` return a table without an error, and reading with `backed="r"` ends the process by a segmentation fault.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import math
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path as FolderPath
from types import SimpleNamespace
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_unique
from clustrep.data.readers.source import AGAIN, HDF5_MAGIC, ZARR_MARKS, import_for, in_brief
from clustrep.data.readers.table import Path, Reader, Request, Table, are_row_numbers, rows_by_study
from clustrep.data.study import Label, advice_on_studies
from clustrep.errors import DataError, ParameterError, invalid
from clustrep.execution.forecast import available_memory
from clustrep.text import argument, listing, nearest, option, plural
from clustrep.types import FloatArray, IntArray

# How long a file may take: this many seconds, and one more for this many bytes.
SECONDS_AT_MOST, BYTES_PER_SECOND = 60, 2**20

OBS_BYTES_AT_MOST = 2 * 1024**3  # of obs or var

CELLS = 2**23  # numbers of a table in a file that are read at once: 32 or 64 MB

UNSAFE = "pickle"  # codecs that run code from a file


class Cells(NamedTuple):
    """One table of an AnnData: names that it does not have are None."""

    source: str
    matrix: Any  # (n_cells, n_features), dense, or sparse with fast rows
    features: list[str] | None
    samples: list[str] | None
    annotations: tuple[str, ...]  # the columns of obs
    obs: Mapping[str, Sequence[Any]]  # those of them that were asked for; None for a missing value
    are_embedded: bool
    undivided: str  # how to divide it into studies


def read_h5ad(path: Path, study: str, request: Request) -> Iterator[Table]:
    """Read the studies of an h5ad file or a Zarr store: one with this name, or those that `study_key` tells apart."""
    kind = _kind(path)
    for module in ("anndata", "zarr") if kind == ZARR.kind else ("anndata",):
        import_for(path, kind, module, extra="anndata")
    columns = [column for column in (request.label, request.study_key, request.groups) if column]
    read = partial(read_cells, path, rep=request.rep, columns=columns, features=request.features)
    return _tables_of_cells(_cells_of_untrusted(read, path), study, request)


def tables_of_anndata(
    adata: Any, *, study_key: str | None, rep: str | None, label: Label, features: Sequence[str] | None
) -> Iterator[Table]:
    """Take the studies of an AnnData, which `study_key` tells apart."""
    if not all(hasattr(adata, name) for name in ("obs", "obsm", "layers", "var_names")):
        advice = ": read files with Studies.read(*paths)" if isinstance(adata, str | PathLike) else ""
        raise DataError(f"from_anndata takes an AnnData, got {type(adata).__name__}{advice}.")
    if study_key is None and (advice := advice_on_studies(adata.obs, "batch_key={!r}".format)):
        raise ParameterError(f"study_key must be a name, got None. {advice}", parameter="study_key")
    for parameter, value in (("study_key", study_key), ("rep", rep)):
        if (value is not None or parameter == "study_key") and (not isinstance(value, str) or not value):
            raise invalid(parameter, "a name", value)
    columns = [column for column in (label, study_key) if column]
    cells = _cells_of(adata, "The AnnData", rep=rep, columns=columns, features=features)
    return _tables_of_cells(cells, "", Request(label=label, study_key=study_key))


def _kind(path: Path) -> str:
    return ZARR.kind if os.path.isdir(path) else "an HDF5 file"


H5AD = Reader(
    kind="an h5ad file",
    files="h5ad files",
    sniff=lambda beginning: beginning.raw.startswith(HDF5_MAGIC),
    read=read_h5ad,
    takes=frozenset(["study_key", "rep"]),
    orientation="its rows are cells already",
)

ZARR = replace(H5AD, kind="a Zarr store", files="Zarr stores", sniff=lambda beginning: beginning.is_zarr)


# ---------------------------------------------------------------------------------------------------------------------
# studies of cells


def _tables_of_cells(cells: Cells, name: str, request: Request) -> Iterator[Table]:
    """Take the cells as one study, or as one for each value of `study_key`, in the order of their first cells."""
    study_key = request.study_key
    rows_of = {name: np.arange(cells.matrix.shape[0])}
    if study_key is not None:
        rows_of = rows_by_study(cells.obs, study_key, cells.source, cells.annotations, where=" in obs")
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
        table = Table(study, frame, labels, cells.annotations, cells.are_embedded, groups)
        yield table._replace(undivided=cells.undivided) if study_key is None else table._replace(is_part=True)


# ---------------------------------------------------------------------------------------------------------------------
# one table of an AnnData, in memory or in a file


def _cells_of(
    adata: Any,
    source: str,
    *,
    rep: str | None,
    columns: Iterable[str],
    features: Sequence[str] | None,
    opened: Callable[[Any], Any] = lambda table: table,
) -> Cells:
    """Take X, a layer or an embedding of an AnnData, and these columns of its obs.

    Of a table in a file, which `opened` makes of an element there, only the `features` named are kept in memory.
    """
    try:
        x = adata.X
    except KeyError:  # an AnnData backed by a file without it
        x = None
    are_embedded = rep is not None and rep != "X" and rep in adata.obsm
    element = adata.obsm[rep] if are_embedded else x if rep in (None, "X") else adata.layers.get(rep)
    if element is None:
        known = [*(["X"] if x is not None else []), *adata.obsm, *adata.layers]
        choices = f"; use as {option('rep')} one of {listing(known, 20)}" if known else ""
        raise DataError(f"{source} has no {rep or 'X'!r}{choices}.{nearest(rep or 'X', known)}")
    matrix = opened(element)
    if len(matrix.shape) != 2:
        raise DataError(f"{source} has an array of {matrix.shape} as {rep!r}: a table of cells by features is needed.")
    names = [f"{rep}_{j + 1}" for j in range(matrix.shape[1])] if are_embedded else list(map(str, adata.var_names))
    if isinstance(matrix, pd.DataFrame):
        names = [str(name) for name in matrix.columns]
        matrix = matrix.to_numpy()
    samples = [str(name) for name in adata.obs_names]
    _check_axis(source, rep or "X", "rows", matrix.shape[0], samples, "sample", "obs")
    _check_axis(source, rep or "X", "columns", matrix.shape[1], names, "feature", "var")
    are_numbers = not are_embedded and are_row_numbers(names)
    if are_numbers:
        names = [str(j + 1) for j in range(len(names))]  # as a study numbers them
    places = None
    if features is not None:
        lacking = set(features).difference(names)
        if first := next((feature for feature in features if feature in lacking), None):
            raise DataError(
                f"{source} has no feature {first!r}; there are {listing(names, 20)}.{nearest(first, names)}"
            )
        places = pd.Index(names).get_indexer(pd.Index(features))
    annotations = tuple(str(column) for column in adata.obs.columns)
    obs = {
        column: [
            None if is_missing else value
            for value, is_missing in zip(adata.obs[column].tolist(), adata.obs[column].isna(), strict=True)
        ]
        for column in columns
        if column in annotations
    }
    return Cells(
        source,
        _loaded(matrix, places, source),
        features=list(features) if features is not None else None if are_numbers else names,
        samples=None if are_row_numbers(samples) else samples,
        annotations=annotations,
        obs=obs,
        are_embedded=are_embedded,
        undivided=advice_on_studies(adata.obs, partial(argument, "study_key")),
    )


def _check_axis(source: str, rep: str, lines: str, size: int, names: Sequence[str], what: str, axis: str) -> None:
    """Check that a table has a line for every name of this axis, and that no name occurs twice."""
    if size != len(names):
        raise DataError(
            f"{source} has {size:,} {lines} in {rep!r} but {len(names):,} names in {axis}: it is damaged, or was put "
            f"together by hand. {AGAIN.capitalize()}."
        )
    try:
        check_unique(names, what, source)
    except DataError as error:
        raise DataError(f"{error.sentence} AnnData's {axis}_names_make_unique() gives it one.") from None


def _loaded(matrix: Any, places: IntArray | None, source: str) -> Any:
    """Bring these columns of a table into memory: sparse with fast rows, or dense."""
    if not isinstance(matrix, np.ndarray):
        n_cells, n_features = matrix.shape[0], matrix.shape[1] if places is None else len(places)
        size, room = n_cells * n_features * precision_of(matrix).itemsize, available_memory()
        if room is not None and size > room:
            raise DataError(
                f"{source} holds {n_cells:,} cells by {n_features:,} features, {size / 1024**3:.1f} GB as a dense "
                f"table, and {room / 1024**3:.1f} GB of memory are free: use {argument('rep', 'X_pca')}, or list fewer "
                f"in {option('features')}."
            )
    if is_stored_dense(matrix):
        return read_stored(matrix, places)
    try:
        if hasattr(matrix, "group") and getattr(matrix, "format", None) in ("csr", "csc"):  # in a file
            return read_stored(matrix, places)
        if hasattr(matrix, "tocsr"):
            if hasattr(matrix, "check_format"):
                matrix.check_format(full_check=True)  # SciPy's compiled code relies on indices
            return (matrix if places is None else matrix[:, places]).tocsr()
    except (ValueError, TypeError, IndexError) as error:
        raise DataError(
            f"{source} has a sparse table whose indices do not fit it ({in_brief(error)}): {AGAIN}."
        ) from None
    whole = np.asarray(matrix)
    return whole if places is None else whole[:, places]


# ---------------------------------------------------------------------------------------------------------------------
# a table in an HDF5 file or a Zarr store, read block by block into its place: no more of it is in memory at once


def is_stored_dense(matrix: Any) -> bool:
    """Whether a table is a dense one in an HDF5 file or a Zarr store."""
    h5py, zarr = sys.modules.get("h5py"), sys.modules.get("zarr")
    in_file = h5py is not None and isinstance(matrix, h5py.Dataset)
    return in_file or (zarr is not None and isinstance(matrix, zarr.Array))


def precision_of(matrix: Any) -> np.dtype[Any]:
    """Return single precision for a table of it, double precision for every other."""
    return np.dtype(np.float32 if matrix.dtype == np.float32 else np.float64)


def read_stored(matrix: Any, columns: IntArray | None) -> FloatArray:
    """Read these columns of a table, all of them for None.

    Raises
    ------
    ValueError
        If the indices of a sparse table do not fit it; none is used before it is checked.
    """
    n_columns = matrix.shape[1] if columns is None else len(columns)
    table: FloatArray = np.empty((matrix.shape[0], n_columns), precision_of(matrix))
    if table.size:
        for rows, places, block in _dense(matrix, columns) if is_stored_dense(matrix) else _sparse(matrix, columns):
            table[rows, places] = block
    return table


def _dense(matrix: Any, columns: IntArray | None) -> Iterator[tuple[slice, slice, NDArray[Any]]]:
    n_rows, n_columns = matrix.shape
    step = max(1, CELLS // n_columns)
    in_chunk = matrix.chunks[0] if matrix.chunks else 1
    if in_chunk * n_columns <= CELLS:  # no chunk is decompressed twice
        step -= step % in_chunk
    for i in range(0, n_rows, step):
        rows = slice(i, min(i + step, n_rows))
        block = matrix[rows]
        yield rows, slice(None), block if columns is None else block[:, columns]


def _sparse(matrix: Any, columns: IntArray | None) -> Iterator[tuple[slice, slice, NDArray[Any]]]:
    """Yield blocks of rows or, where these are stored together, of columns."""
    parts = {name: matrix.group[name] for name in ("data", "indices", "indptr")}
    by_rows = matrix.format == "csr"
    n_lines, width = matrix.shape if by_rows else matrix.shape[::-1]
    ends = _checked_ends(parts, n_lines, width)
    if not by_rows and columns is not None:
        for place, column in enumerate(columns.tolist()):
            block = _block(parts, ends, slice(column, column + 1), width)
            yield slice(None), slice(place, place + 1), block.toarray().T
        return
    step = max(1, CELLS // max(width, 1))
    for i in range(0, n_lines, step):
        lines = slice(i, min(i + step, n_lines))
        block = _block(parts, ends, lines, width)
        if by_rows:
            yield lines, slice(None), (block if columns is None else block[:, columns]).toarray()
        else:
            yield slice(None), lines, block.toarray().T


def _block(parts: dict[str, Any], ends: IntArray, lines: slice, width: int) -> Any:
    """Read some rows, or columns as rows; all indices are checked, which SciPy's compiled code relies on."""
    from scipy.sparse import csr_matrix

    begin, end = int(ends[lines.start]), int(ends[lines.stop])
    data = parts["data"][begin:end].astype(precision_of(parts["data"]))  # SciPy has no half precision
    indices = parts["indices"][begin:end]
    block = csr_matrix((data, indices, ends[lines.start : lines.stop + 1] - begin), (lines.stop - lines.start, width))
    block.check_format(full_check=True)
    return block


def _checked_ends(parts: dict[str, Any], n_lines: int, width: int) -> IntArray:
    """Read where rows or columns end, after a check of how many there are; check that they follow each other."""
    n_entries = parts["data"].shape[0]
    for name, kinds in (("data", "biuf"), ("indices", "iu"), ("indptr", "iu")):
        if parts[name].dtype.kind not in kinds:
            raise ValueError(f"{name} holds {parts[name].dtype}")
    if parts["indptr"].shape != (n_lines + 1,):
        raise ValueError(f"indptr has the shape {parts['indptr'].shape}, not {(n_lines + 1,)}")
    ends = np.asarray(parts["indptr"][:]).astype(np.int64)
    sizes = np.diff(ends)
    if ends[0] != 0 or ends[-1] != n_entries or sizes.min(initial=0) < 0 or sizes.max(initial=0) > width:
        raise ValueError(f"indptr does not divide {n_entries:,} entries into {n_lines:,} lines of at most {width:,}")
    return ends


# ---------------------------------------------------------------------------------------------------------------------
# an AnnData in a file or store, element by element


def read_cells(path: Path, *, rep: str | None, columns: Iterable[str], features: Sequence[str] | None = None) -> Cells:
    """Read one table of an h5ad file or a Zarr store, block by block; whatever goes wrong is a `DataError`."""
    kind = _kind(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that are not unique: refused below; of old formats
            if kind == ZARR.kind:
                _check_codecs(path)
                zarr = importlib.import_module("zarr")
                # What the parts declare themselves: a summary of them at the top was not checked. Version 2 reads none.
                options = {} if zarr.__version__.startswith("2.") else {"use_consolidated": False}
                return _cells_in(zarr.open_group(os.fspath(path), mode="r", **options), path, rep, columns, features)
            with importlib.import_module("h5py").File(path, "r") as file:
                return _cells_in(file, path, rep, columns, features)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # a damaged file can raise almost anything
        raise DataError(
            f"{path} is {kind} that is damaged, or newer than the anndata installed here ({in_brief(error)}): {AGAIN}, "
            "or update anndata."
        ) from None


def _cells_in(file: Any, path: Path, rep: str | None, columns: Iterable[str], features: Sequence[str] | None) -> Cells:
    if "obs" not in file or "var" not in file:
        raise DataError(
            f"{path} is {_kind(path)} without obs and var, so that it holds no AnnData: write it with anndata, or the "
            "table as CSV."
        )
    obs, var = _frame(file, "obs", path), _frame(file, "var", path)
    parts = {"X": file.get("X"), "obsm": file.get("obsm", {}), "layers": file.get("layers", {})}
    stored = SimpleNamespace(obs=obs, obs_names=obs.index, var_names=var.index, **parts)
    return _cells_of(stored, str(path), rep=rep, columns=columns, features=features, opened=_table)


def _frame(file: Any, axis: str, path: Path) -> pd.DataFrame:
    """Read obs or var."""
    anndata = importlib.import_module("anndata")
    element = file[axis]
    _check_declared_bytes(element, axis)
    if hasattr(element, "shape"):  # as anndata wrote it before 0.7
        adata = anndata.read_h5ad(path, backed="r")
        adata.file.close()
        frame = getattr(adata, axis)
    else:
        frame = anndata.io.read_elem(element)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"{axis} is not a table")
    return frame


def _check_declared_bytes(element: Any, name: str) -> None:
    """Refuse an element whose arrays take too much memory as the file declares them, whether or not they are there."""
    parts: list[Any] = [element]
    if hasattr(element, "members"):  # of a Zarr store
        parts = [part for _, part in element.members(max_depth=None)]
    elif not hasattr(element, "shape"):
        element.visititems(lambda _, part: parts.append(part))  # each once, also where links lead in circles
    arrays = [part for part in parts if hasattr(part, "shape")]
    size = sum(math.prod(array.shape or ()) * int(array.dtype.itemsize) for array in arrays)
    if size > OBS_BYTES_AT_MOST:
        raise ValueError(f"{name} has a declared size of {size / 1024**3:.1f} GB")


def _table(element: Any) -> Any:
    """Return a table that is not yet read: dense, sparse or a frame. Errors are worded by `read_cells`."""
    anndata = importlib.import_module("anndata")
    if hasattr(element, "shape"):
        if element.dtype.kind not in "biuf":
            raise TypeError(f"{element.name} holds {element.dtype}, not numbers")
        return element
    if element.attrs.get("encoding-type") == "dataframe":
        _check_declared_bytes(element, element.name)
        return anndata.io.read_elem(element)
    table = anndata.io.sparse_dataset(element)
    n_entries = [part.shape for part in (element["data"], element["indices"])]
    if n_entries[0] != n_entries[1] or len(n_entries[0]) != 1 or n_entries[0][0] > math.prod(table.shape):
        raise ValueError(f"{element.name} can't have {n_entries[0]} entries at {n_entries[1]} places")
    return table


def _check_codecs(path: Path) -> None:
    """Refuse a store with arrays that are unpickled, which can run any program."""
    for file in _files(path):
        if file.name.lower() not in (*ZARR_MARKS, ".zarray"):  # some file systems ignore case
            continue
        pending = [json.loads(file.read_bytes())]
        while pending:
            value = pending.pop()
            if isinstance(value, list):
                pending += value
            elif isinstance(value, dict):
                pending += value.values()
                if any(UNSAFE in str(value.get(key)).lower() for key in ("id", "name")):
                    raise DataError(
                        f"{path} holds an array that is packed with {UNSAFE}, which can run any program: write it "
                        "again with anndata, which does not use it."
                    )


def _files(path: Path) -> Iterator[FolderPath]:
    """Return all files of a store; links are refused, because they lead out of what was looked at."""
    for folder, folders, names in os.walk(path):
        for name in (*folders, *names):
            if (FolderPath(folder) / name).is_symlink():
                raise DataError(f"{path} is {ZARR.kind} with a link in it, {name!r}: replace it by what it leads to.")
        yield from (FolderPath(folder) / name for name in names)


# ---------------------------------------------------------------------------------------------------------------------
# a file that is not trusted, read in a copy of this process: a crash or a hang there ends only the copy


def _cells_of_untrusted(read: Callable[[], Cells], path: Path) -> Cells:
    """Call a function that reads a file in a copy of this process, and return what it returns."""
    if not hasattr(os, "fork"):  # Windows
        return read()
    is_store = os.path.isdir(path)
    n_bytes = sum(file.lstat().st_size for file in _files(path)) if is_store else os.path.getsize(path)
    seconds = SECONDS_AT_MOST + n_bytes // BYTES_PER_SECOND
    with tempfile.TemporaryFile() as stream, tempfile.TemporaryFile() as table:
        status = isolated(partial(_answer, read, stream, table), seconds)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
            raise DataError(
                f"{path} was not read within {plural(seconds, 'second')}: it is probably damaged. {AGAIN.capitalize()}."
            )
        if status:
            raise DataError(
                f"{path} is {_kind(path)} that is damaged, or too large for this machine's memory and temporary files: "
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


def isolated(work: Callable[[], None], seconds: int) -> int:
    """Let a copy of this process do some work, for this many seconds at most, and return the status of its end.

    The limit is an alarm of the copy itself, which the system rings: it also ends a copy that loops inside a library,
    or whose parent is gone.
    """
    copy, pause = None, 0.001
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the copy runs none, and reads one file
            copy = os.fork()
        if copy == 0:
            _work_and_exit(work, seconds)
        while True:  # with pauses: a signal that comes just before a call that waits is handled only after it
            ended, status = os.waitpid(copy, os.WNOHANG)
            if ended:
                return status
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
    except BaseException:
        if copy == 0:  # interrupted before its work began: it may not go on as a second parent
            os._exit(1)
        if copy is not None:
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)
        raise


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
