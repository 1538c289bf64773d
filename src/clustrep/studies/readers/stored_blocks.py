"""A table in an HDF5 file or a Zarr store, read block by block into its place: no more of it is in memory at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clustrep.types import FloatArray, IntArray

Allocate: TypeAlias = Callable[[tuple[int, int], np.dtype[Any]], FloatArray]

# Numbers that are read at once: 32 or 64 MB.
CELLS = 2**23


def is_stored_dense(matrix: Any) -> bool:
    """Whether a table is a dense one in an HDF5 file or a Zarr store."""
    h5py, zarr = sys.modules.get("h5py"), sys.modules.get("zarr")
    in_file = h5py is not None and isinstance(matrix, h5py.Dataset)
    return in_file or (zarr is not None and isinstance(matrix, zarr.Array))


def is_stored_sparse(matrix: Any) -> bool:
    """Whether a table is a sparse one in a file, as anndata represents it."""
    return hasattr(matrix, "group") and getattr(matrix, "format", None) in ("csr", "csc")


def precision_of(matrix: Any) -> np.dtype[Any]:
    """Return single precision for a table of it, double precision for every other."""
    return np.dtype(np.float32 if matrix.dtype == np.float32 else np.float64)


def read_stored(matrix: Any, columns: IntArray | None, allocate: Allocate) -> FloatArray:
    """Read these columns of a table, all of them for None, to where `allocate` has room for it.

    Raises
    ------
    ValueError
        If the indices of a sparse table do not fit it; none is used before it is checked.
    """
    n_columns = matrix.shape[1] if columns is None else len(columns)
    table = allocate((matrix.shape[0], n_columns), precision_of(matrix))
    if table.size == 0:
        return table
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
    if by_rows or columns is None:
        for lines in _ranges(n_lines, max(1, CELLS // max(width, 1))):
            block = _block(parts, ends, lines, width)
            if not by_rows:
                yield slice(None), lines, block.toarray().T
            else:
                yield lines, slice(None), (block if columns is None else block[:, columns]).toarray()
        return
    for place, column in enumerate(columns):
        line = slice(int(column), int(column) + 1)
        yield slice(None), slice(place, place + 1), _block(parts, ends, line, width).toarray().T


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


def _ranges(n: int, step: int) -> Iterator[slice]:
    return (slice(i, min(i + step, n)) for i in range(0, n, step))
