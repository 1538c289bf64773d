"""Files of R, .rda and .rds, through rdata: data frames, matrices, ExpressionSets, SummarizedExperiments."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.data.readers.parquet import with_label_aside
from clustrep.data.readers.source import AGAIN, import_for, in_brief
from clustrep.data.readers.table import Path, Reader, Request, Table, by_study
from clustrep.data.study import Label
from clustrep.errors import DataError, ParameterError
from clustrep.text import listing

# How .rda files begin, and .rds files in R's binary format: "X", then the version as four bytes.
R_MARK = re.compile(r"RD[XA][23]\n|X\n\0\0\0[\2\3]")

WHAT = "a data frame, a matrix (also a dgCMatrix), an ExpressionSet or a SummarizedExperiment"


def read_r_data(path: Path, study: str, request: Request) -> list[Table]:
    """Read every table of a file; several keep their names in R, or are named by a column of each."""
    content = _content(path)
    objects = content if isinstance(content, dict) else {study: content}
    tables = list(_tables_in(objects))
    if not tables:
        raise DataError(f"{path} holds no table ({listing(objects)}): save {WHAT} in R.")
    if len(tables) == 1:
        tables = [(study, tables[0][1])]
    whole = [_table(thing, name, request, path) for name, thing in tables]
    return [part for table, columns in whole for part in by_study(table, request, str(path), columns)]


def _tables_in(objects: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Find the tables among objects and in lists; those of a list without names are "list1", "list2" and so on."""
    for name, thing in objects.items():
        if isinstance(thing, list):
            parts: Mapping[str, Any] = {f"{name}{i}": part for i, part in enumerate(thing, start=1)}
        else:
            parts = thing if isinstance(thing, dict) else {str(name): thing}
        yield from ((str(part), parts[part]) for part in parts if _is_table(parts[part]))


def _content(path: Path) -> Any:
    """Return what a file holds: of an .rda file a dict by name, of an .rds file one object."""
    rdata = import_for(path, "a file of R", "rdata", extra="r")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes that rdata reads as a collection of slots
            classes = {**rdata.conversion.DEFAULT_CLASS_MAP, "dgCMatrix": _sparse_matrix}
            return _converter(rdata)(classes).convert(rdata.parser.parse_file(path))
    except MemoryError:
        raise
    except Exception as error:
        what = f"{path} is a file of R that is damaged, or holds what rdata cannot read ({in_brief(error)})"
        raise DataError(f"{what}: {AGAIN}, or save a data frame.") from None


def _converter(rdata: Any) -> Any:
    """Return rdata's converter, with promises: environments around old ExpressionSets hold arguments of calls."""

    class Converter(rdata.conversion.SimpleConverter):  # type: ignore[misc]
        def _convert_next(self, data: Any) -> Any:
            promise = isinstance(data, rdata.parser.RObject) and data.info.type is rdata.parser.RObjectType.PROM
            return super()._convert_next(data.value[0] if promise else data)

    return Converter


def _is_table(thing: Any) -> bool:
    if isinstance(thing, SimpleNamespace):
        return hasattr(thing, "assayData") or hasattr(thing, "assays")
    return isinstance(thing, pd.DataFrame) or (_is_matrix(thing) and np.asarray(thing).dtype.kind in "fiub")


def _is_matrix(thing: Any) -> bool:
    return getattr(thing, "ndim", None) == 2


def _table(thing: Any, study: str, request: Request, path: Path) -> tuple[Table, Mapping[str, Any] | None]:
    """Return a table, and columns that describe its samples."""
    if not isinstance(thing, SimpleNamespace):
        frame = _named_rows(thing) if isinstance(thing, pd.DataFrame) else _frame_of_matrix(thing)
        frame = frame.T if request.transposes(study) else frame
        return with_label_aside(frame, study, request.label), None
    if request.transposes(study):
        argument = request.transpose_argument(study)
        raise ParameterError(
            f"{path} holds features by samples, and its samples are made rows already: leave {argument} out.",
            parameter="transpose",
        )
    read = _expression_set if hasattr(thing, "assayData") else _experiment
    matrix, phenotypes, feature_data = read(thing)
    if not _is_matrix(matrix):
        raise DataError(f"{path} has no matrix among its assays: save {WHAT} in R, with values in memory.")
    frame = _frame_of_matrix(matrix).T
    if len(phenotypes) == len(frame) and isinstance(frame.index, pd.RangeIndex):
        frame = frame.set_axis(phenotypes.index, axis=0)
    table = Table(
        study,
        frame,
        _labels(phenotypes, request.label),
        annotations=tuple(map(str, phenotypes.columns)),
        groups=_labels(phenotypes, request.groups),
        feature_data=feature_data if len(feature_data) == frame.shape[1] else None,
    )
    return table, {str(name): column.tolist() for name, column in phenotypes.items()}


def _expression_set(thing: Any) -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    """Return the matrix `exprs`, or the first one, the phenotypes and the features' data of an ExpressionSet."""
    assays = thing.assayData
    # An environment without a hash table, as in old files, has its variables in a frame.
    assays = getattr(assays, "frame", None) or assays
    names = list(assays)
    matrix = assays["exprs"] if "exprs" in names else next((assays[name] for name in names), None)
    return matrix, thing.phenoData.data, getattr(getattr(thing, "featureData", None), "data", pd.DataFrame())


def _experiment(thing: Any) -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    """Return the first assay, colData and rowData of a SummarizedExperiment, which keeps the names of both axes.

    Where it has ranges, the rows' names and data are theirs.
    """
    assays = getattr(thing.assays, "data", thing.assays)
    listed = getattr(assays, "listData", assays)
    matrix = next(iter(listed.values() if isinstance(listed, Mapping) else listed), None)
    ranges = getattr(thing, "rowRanges", None)
    feature_data = _data_frame(getattr(thing if ranges is None else ranges, "elementMetadata", None))
    for holder in (thing, getattr(ranges, "ranges", None), getattr(ranges, "partitioning", None)):
        features = _names(getattr(holder, "NAMES", None))
        if _is_matrix(matrix) and features is not None and len(np.asarray(matrix)) == len(features):
            matrix = pd.DataFrame(np.asarray(matrix), index=features)
            break
    return matrix, _data_frame(thing.colData), feature_data


def _data_frame(data: Any) -> pd.DataFrame:
    """Return a DataFrame of Bioconductor as one of pandas."""
    listed = getattr(data, "listData", None)
    columns = listed if isinstance(listed, Mapping) else {}
    index = _names(getattr(data, "rownames", None))
    if index is None:
        index = pd.RangeIndex(int(np.ravel(getattr(data, "nrows", 0))[0]))
    return pd.DataFrame({str(name): np.asarray(values, dtype=object) for name, values in columns.items()}, index=index)


def _names(slot: Any) -> pd.Index | None:
    """Return the names in a slot, which holds a single text where it is NULL in R."""
    return None if slot is None or isinstance(slot, str) else pd.Index(slot, dtype=object)


def _frame_of_matrix(matrix: Any) -> pd.DataFrame:
    """Return a matrix of R with the names that its axes have."""
    if isinstance(matrix, pd.DataFrame):
        return matrix
    axes: list[pd.Index] = []
    for dimension, length in enumerate(np.asarray(matrix).shape):
        names = getattr(matrix, "coords", {}).get(f"dim_{dimension}")
        axes.append(pd.RangeIndex(length) if names is None else pd.Index(np.asarray(names), dtype=object))
    return pd.DataFrame(np.asarray(matrix, dtype=float), index=axes[0], columns=axes[1])


@dataclass(frozen=True)
class SparseMatrix:
    """A matrix with sparse columns, which becomes dense where it is used: of several assays one is."""

    columns: Any  # of SciPy
    coords: Mapping[str, Any]  # names by axis, as those of a dense matrix
    ndim: int = 2

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.columns.toarray(), dtype=dtype)


def _sparse_matrix(_: Any, slots: Mapping[str, Any]) -> SparseMatrix:
    """Return a dgCMatrix of the package Matrix, whose indices are checked before compiled code uses them."""
    from scipy.sparse import csc_matrix

    columns = csc_matrix((slots["x"], slots["i"], slots["p"]), tuple(slots["Dim"]))
    columns.check_format(full_check=True)
    return SparseMatrix(columns, {f"dim_{axis}": names for axis, names in enumerate(slots["Dimnames"])})


def _named_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Give a data frame whose rows are only numbered, from 1 as in R, no names."""
    if [str(name) for name in frame.index] == [str(i) for i in range(1, len(frame) + 1)]:
        return frame.set_axis(pd.RangeIndex(len(frame)), axis=0)
    return frame


def _labels(phenotypes: pd.DataFrame, label: Label) -> NDArray[Any] | None:
    if not label or label not in phenotypes.columns:
        return None
    return phenotypes[label].to_numpy(dtype=object)


R_DATA = Reader(
    kind="a file of R",
    files="files of R",
    sniff=lambda beginning: R_MARK.match(beginning.text) is not None,
    read=read_r_data,
    takes=frozenset(["study_key"]),
)
