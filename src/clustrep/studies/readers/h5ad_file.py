"""An h5ad file, element by element: nothing is read of it but what is needed, and nothing before its size is known."""

from __future__ import annotations

import importlib
import json
import math
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.errors import DataError
from clustrep.studies.readers.anndata_cells import Cells, cells_of
from clustrep.studies.readers.source import AGAIN, in_brief
from clustrep.studies.readers.stored_blocks import Allocate, precision_of
from clustrep.studies.readers.table import Path
from clustrep.types import FloatArray

OBS_BYTES_AT_MOST = 2 * 1024**3  # of obs or var


class StoredAnnData:
    """The parts of an h5ad file, or of a Zarr store, that `cells_of` asks an AnnData for."""

    def __init__(self, file: Any, path: Path):
        self._file, self._path = file, path
        self.obs, self.var = self._frame("obs"), self._frame("var")
        self.obsm, self.layers = StoredTables(file, "obsm"), StoredTables(file, "layers")

    @property
    def obs_names(self) -> pd.Index[Any]:
        """The names of the cells."""
        return self.obs.index

    @property
    def var_names(self) -> pd.Index[Any]:
        """The names of the features."""
        return self.var.index

    @property
    def X(self) -> Any:  # noqa: N802 - as AnnData calls it
        """The table of the cells, not yet read."""
        return _table(self._file["X"])

    def _frame(self, axis: str) -> pd.DataFrame:
        anndata, h5py = importlib.import_module("anndata"), importlib.import_module("h5py")
        element = self._file[axis]
        if (size := _declared_bytes(element)) > OBS_BYTES_AT_MOST:
            raise ValueError(f"{axis} is said to take {size / 1024**3:.1f} GB")
        if isinstance(element, h5py.Dataset):  # as anndata wrote it before 0.7
            adata = anndata.read_h5ad(self._path, backed="r")
            adata.file.close()
            frame = getattr(adata, axis)
        else:
            frame = anndata.io.read_elem(element)
        if not isinstance(frame, pd.DataFrame):
            raise TypeError(f"{axis} is not a table")
        return frame


class StoredTables(Mapping[str, Any]):
    """The tables in obsm or layers, each read when it is asked for."""

    def __init__(self, file: Any, group: str):
        self._tables = file.get(group, {})

    def __getitem__(self, name: str) -> Any:
        return _table(self._tables[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


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
    allocate: Allocate = np.empty,
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
            return cells_of_stored(
                file, path, "an h5ad file", rep=rep, columns=columns, features=features, allocate=allocate
            )
        except OSError as error:
            raise _damaged(path, error) from None


def cells_of_stored(file: Any, path: Path, kind: str, **asked: Any) -> Cells:
    """Read one table of an AnnData in a file or store that is open; `asked`: what `cells_of` takes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that are not unique: refused below; of old formats
            return cells_of(StoredAnnData(file, path), str(path), **asked)
    except (DataError, MemoryError, OSError):
        raise
    except Exception as error:  # a damaged file can raise almost anything
        raise DataError(
            f"{path} is {kind} that anndata can't read ({in_brief(error)}): update anndata, or {AGAIN}."
        ) from None


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(f"{path} is an HDF5 file that is damaged ({in_brief(error)}): {AGAIN}.")


# ---------------------------------------------------------------------------------------------------------------------
# an answer from one process to another


class SharedTable:
    """A table in a temporary file that a process and its copy have in common: the copy fills it."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self._allocated: FloatArray | None = None

    def allocate(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> FloatArray:
        """Make room for a table, if there is."""
        size, free = math.prod(shape) * dtype.itemsize, shutil.disk_usage(tempfile.gettempdir()).free
        if size > free:
            raise DataError(
                f"The table takes {size / 1024**3:.1f} GB, and {free / 1024**3:.1f} GB are free in the folder of "
                f"temporary files, {tempfile.gettempdir()}: make room there, or set TMPDIR to another folder."
            )
        self._allocated = self._mapped(shape, dtype, "r+")
        return self._allocated

    def holding(self, matrix: NDArray[Any]) -> FloatArray:
        """Return the table after it was filled: with a matrix that is elsewhere, such as a frame's, now."""
        if matrix is self._allocated:
            return self._allocated
        table = self.allocate((matrix.shape[0], matrix.shape[1]), precision_of(matrix))
        table[:] = matrix
        return table

    def filled(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> FloatArray:
        """Return the table, which is read from its file as it is used."""
        return self._mapped(shape, dtype, "r")

    def _mapped(self, shape: tuple[int, int], dtype: np.dtype[Any], mode: Literal["r", "r+"]) -> FloatArray:
        if math.prod(shape) == 0:  # nothing to map
            return np.empty(shape, dtype)
        return np.asarray(np.memmap(self._file, dtype, mode, shape=shape))


def write_cells(cells: Cells, stream: IO[bytes], table: SharedTable) -> None:
    """Write all of the cells but their table, whose shape and precision it says."""
    matrix = table.holding(cells.matrix)
    head = {**cells._asdict(), "matrix": [list(matrix.shape), matrix.dtype.str]}
    stream.write(json.dumps(head, default=_plain).encode("utf-8", "surrogatepass") + b"\n")


def write_refusal(error: DataError, stream: IO[bytes]) -> None:
    """Write why there are no cells."""
    stream.write(json.dumps({"refusal": error.sentence}).encode() + b"\n")


def read_answer(stream: IO[bytes], table: SharedTable) -> Cells:
    """Read what either of these wrote; raise the refusal."""
    head = json.loads(stream.readline())
    if "refusal" in head:
        raise DataError(head["refusal"])
    shape, dtype = head["matrix"]
    matrix = table.filled(tuple(shape), np.dtype(dtype))
    return Cells(**{**head, "annotations": tuple(head["annotations"]), "matrix": matrix})


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return value.item() if isinstance(value, np.generic) else str(value)
