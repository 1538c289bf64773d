"""One table of an AnnData, in memory or in a file: taken only after its shape and its sparse indices are checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clustrep.checks import check_unique
from clustrep.engine.estimates import available_memory
from clustrep.errors import DataError
from clustrep.sentences import argument, option, wording
from clustrep.studies.readers.source import AGAIN, in_brief
from clustrep.studies.readers.stored_blocks import (
    Allocate,
    is_stored_dense,
    is_stored_sparse,
    precision_of,
    read_stored,
)
from clustrep.studies.readers.table import are_row_numbers
from clustrep.text import listing, nearest
from clustrep.types import IntArray


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
    allocate: Allocate = np.empty,
) -> Cells:
    """Take X, a layer or an embedding of an AnnData, and what these columns of obs say of its cells.

    Of a table in a file, only the `features` named are kept in memory, where `allocate` has room for them.
    """
    are_embedded = rep is not None and rep != "X" and rep in adata.obsm
    matrix, names = _embedding(adata, rep) if are_embedded else _measured(adata, rep)
    if matrix is None:
        known = [*(["X"] if _x(adata) is not None else []), *adata.obsm, *adata.layers]
        choices = f"; use as {option('rep')} one of {listing(known, 20)}" if known else ""
        raise DataError(f"{source} has no {rep or 'X'!r}{choices}.{nearest(rep or 'X', known)}")
    if len(matrix.shape) != 2:
        raise DataError(f"{source} has an array of {matrix.shape} as {rep!r}: a table of cells by features is needed.")
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
        _loaded(matrix, places, source, allocate),
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


def _embedding(adata: Any, rep: str | None) -> tuple[Any, list[str]]:
    """Take an entry of obsm; its features are numbered where it is not a frame, which names them."""
    matrix = adata.obsm[rep]
    if isinstance(matrix, pd.DataFrame):
        return matrix.to_numpy(), [str(name) for name in matrix.columns]
    return matrix, [f"{rep}_{j}" for j in range(1, matrix.shape[1] + 1)] if len(matrix.shape) == 2 else []


def _measured(adata: Any, rep: str | None) -> tuple[Any, list[str]]:
    """Take X or a layer, None where there is none of that name; its features are those of var."""
    matrix = _x(adata) if rep is None or rep == "X" else adata.layers.get(rep)
    return matrix, [str(name) for name in adata.var_names]


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


def _loaded(matrix: Any, places: IntArray | None, source: str, allocate: Allocate) -> Any:
    """Bring these columns of a table into memory: sparse with fast rows, or dense."""
    if not isinstance(matrix, np.ndarray):
        _check_room(matrix.shape[0], matrix.shape[1] if places is None else len(places), precision_of(matrix), source)
    if is_stored_dense(matrix):
        return read_stored(matrix, places, allocate)
    try:
        if is_stored_sparse(matrix):
            return read_stored(matrix, places, allocate)
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
