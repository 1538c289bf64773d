"""One table of an AnnData, in memory or in a file: taken only after its shape and its sparse indices are checked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_unique
from clustrep.data.readers.source import AGAIN, in_brief
from clustrep.data.readers.table import are_row_numbers
from clustrep.errors import DataError
from clustrep.execution.forecast import available_memory
from clustrep.text import argument, listing, nearest, option, wording
from clustrep.types import FloatArray, IntArray


class Cells(NamedTuple):
    """One table of an AnnData: names that it does not have are None."""

    source: str
    matrix: Any  # (n_cells, n_features), dense, or sparse with fast rows
    features: list[str] | None
    samples: list[str] | None
    annotations: tuple[str, ...]  # the columns of obs
    obs: Mapping[str, Sequence[Any]]  # those of them that were asked for; None for a missing value
    are_embedded: bool


def cells_of(
    adata: Any,
    source: str,
    *,
    rep: str | None,
    columns: Iterable[str],
    features: Sequence[str] | None = None,
    opened: Callable[[Any], Any] = lambda table: table,
) -> Cells:
    """Take X, a layer or an embedding of an AnnData, and what these columns of obs say of its cells.

    Of a table in a file, which `opened` makes of an element there, only the `features` named are kept in memory.
    """
    are_embedded = rep is not None and rep != "X" and rep in adata.obsm
    element = adata.obsm[rep] if are_embedded else _x(adata) if rep in (None, "X") else adata.layers.get(rep)
    if element is None:
        known = [*(["X"] if _x(adata) is not None else []), *adata.obsm, *adata.layers]
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
    _check_shape(matrix.shape, len(samples), len(names), source, rep or "X")
    for axis_names, what, axis in ((names, "feature", "var"), (samples, "sample", "obs")):
        _check_unique_on_axis(axis_names, what, axis, source)
    are_numbers = not are_embedded and are_row_numbers(names)
    if are_numbers:
        names = [str(j + 1) for j in range(len(names))]  # as a study numbers them
    places = None if features is None else _places(features, names, source)
    annotations = tuple(str(column) for column in adata.obs.columns)
    return Cells(
        source,
        _loaded(matrix, places, source),
        features=list(features) if features is not None else None if are_numbers else names,
        samples=None if are_row_numbers(samples) else samples,
        annotations=annotations,
        obs={column: _values(adata.obs[column]) for column in columns if column in annotations},
        are_embedded=are_embedded,
    )


def _values(column: pd.Series[Any]) -> list[Any]:
    """Return a column of obs as plain values, None where one is missing."""
    are_missing = column.isna().to_numpy(dtype=bool)
    return [None if missing else value for value, missing in zip(column.tolist(), are_missing, strict=True)]


def _x(adata: Any) -> Any:
    try:
        return adata.X
    except KeyError:  # a file without it
        return None


def _check_shape(shape: tuple[int, int], n_cells: int, n_features: int, source: str, rep: str) -> None:
    """Check that a table has a row for every name in obs, and a column for every name in var."""
    for axis, size, n_names, what in (("obs", shape[0], n_cells, "rows"), ("var", shape[1], n_features, "columns")):
        if size != n_names:
            raise DataError(
                f"{source} has {size:,} {what} in {rep!r} but {n_names:,} names in {axis}: it is damaged, or was put "
                f"together by hand. {AGAIN.capitalize()}."
            )


def _check_unique_on_axis(names: Sequence[str], what: str, axis: str, source: str) -> None:
    try:
        check_unique(names, what, source)
    except DataError as error:
        advice = wording(python=f" adata.{axis}_names_make_unique() gives it one.")
        raise DataError(f"{error.sentence}{advice}") from None


def _places(features: Sequence[str], names: Sequence[str], source: str) -> IntArray:
    """Return the columns of these features."""
    place_of = {name: place for place, name in enumerate(names)}
    lacking = [feature for feature in features if feature not in place_of]
    if lacking:
        raise DataError(
            f"{source} has no feature {lacking[0]!r}; there are {listing(names, 20)}.{nearest(lacking[0], names)}"
        )
    return np.array([place_of[feature] for feature in features], dtype=np.int64)


def _loaded(matrix: Any, places: IntArray | None, source: str) -> Any:
    """Bring these columns of a table into memory: sparse with fast rows, or dense."""
    if not isinstance(matrix, np.ndarray):
        _check_room(matrix.shape[0], matrix.shape[1] if places is None else len(places), precision_of(matrix), source)
    if is_stored_dense(matrix):
        return read_stored(matrix, places)
    try:
        if is_stored_sparse(matrix):
            return read_stored(matrix, places)
        if hasattr(matrix, "tocsr"):
            return _with_fast_rows(matrix, places)
    except (ValueError, TypeError, IndexError) as error:
        raise DataError(
            f"{source} has a sparse table whose indices do not fit it ({in_brief(error)}): {AGAIN}."
        ) from None
    whole = np.asarray(matrix)
    return whole if places is None else whole[:, places]


def _with_fast_rows(matrix: Any, places: IntArray | None) -> Any:
    """Check all indices of a sparse table, which SciPy's compiled code relies on, and sort it by rows."""
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return matrix.tocsr() if places is None else matrix[:, places].tocsr()


def _check_room(n_cells: int, n_features: int, dtype: np.dtype[Any], source: str) -> None:
    """Refuse a table that this machine has no room for, before anything of it is read."""
    size, room = n_cells * n_features * dtype.itemsize, available_memory()
    if room is not None and size > room:
        raise DataError(
            f"{source} holds {n_cells:,} cells by {n_features:,} features, {size / 1024**3:.1f} GB as a dense table, "
            f"and {room / 1024**3:.1f} GB of memory are free: use {argument('rep', 'X_pca')}, or name fewer features"
            f"{wording(python=' by features=[...]')}."
        )


# ---------------------------------------------------------------------------------------------------------------------
# A table in an HDF5 file or a Zarr store, read block by block into its place: no more of it is in memory at once


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


def read_stored(matrix: Any, columns: IntArray | None) -> FloatArray:
    """Read these columns of a table, all of them for None.

    Raises
    ------
    ValueError
        If the indices of a sparse table do not fit it; none is used before it is checked.
    """
    n_columns = matrix.shape[1] if columns is None else len(columns)
    table: FloatArray = np.empty((matrix.shape[0], n_columns), precision_of(matrix))
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
