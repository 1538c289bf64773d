"""An h5ad file, element by element: nothing is read of it but what is needed, and nothing before its size is known."""

from __future__ import annotations

import importlib
import json
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

import numpy as np
import pandas as pd

from clustrep.errors import DataError
from clustrep.studies.readers.anndata_cells import Cells, cells_of
from clustrep.studies.readers.source import AGAIN, in_brief
from clustrep.studies.readers.table import Path

OBS_BYTES_AT_MOST = 2 * 1024**3  # of obs or var


class StoredAnnData:
    """The parts of an h5ad file that `cells_of` asks an AnnData for."""

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


def read_cells(path: Path, *, rep: str | None, columns: Iterable[str], dense_bytes: int) -> Cells:
    """Read one table of an h5ad file; whatever goes wrong is a `DataError`."""
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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of names that are not unique: refused below; of old formats
                return cells_of(StoredAnnData(file, path), str(path), rep=rep, columns=columns, dense_bytes=dense_bytes)
        except (DataError, MemoryError):
            raise
        except OSError as error:
            raise _damaged(path, error) from None
        except Exception as error:  # a damaged file can raise almost anything
            raise DataError(
                f"{path} is an h5ad file that anndata can't read ({in_brief(error)}): update anndata, or {AGAIN}."
            ) from None


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(f"{path} is an HDF5 file that is damaged ({in_brief(error)}): {AGAIN}.")


# ---------------------------------------------------------------------------------------------------------------------
# an answer from one process to another


def write_cells(cells: Cells, stream: IO[bytes]) -> None:
    """Write cells: a line of JSON, then the arrays of the table."""
    matrix = cells.matrix
    is_sparse = hasattr(matrix, "indptr")
    head = {**cells._asdict(), "matrix": list(matrix.shape), "is_sparse": is_sparse}
    stream.write(json.dumps(head, default=_plain).encode("utf-8", "surrogatepass") + b"\n")
    for array in (matrix.data, matrix.indices, matrix.indptr) if is_sparse else (matrix,):
        np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)


def write_refusal(error: DataError, stream: IO[bytes]) -> None:
    """Write why there are no cells."""
    stream.write(json.dumps({"refusal": error.sentence}).encode() + b"\n")


def read_answer(stream: IO[bytes]) -> Cells:
    """Read what either of these wrote; raise the refusal."""
    head = json.loads(stream.readline())
    if "refusal" in head:
        raise DataError(head["refusal"])
    shape, is_sparse = tuple(head.pop("matrix")), head.pop("is_sparse")
    arrays = [np.lib.format.read_array(stream, allow_pickle=False) for _ in range(3 if is_sparse else 1)]
    matrix = arrays[0]
    if is_sparse:
        matrix = importlib.import_module("scipy.sparse").csr_matrix(tuple(arrays), shape=shape)
    return Cells(**{**head, "annotations": tuple(head["annotations"]), "matrix": matrix})


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return value.item() if isinstance(value, np.generic) else str(value)
