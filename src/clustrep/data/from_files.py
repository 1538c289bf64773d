"""Studies from files and from AnnData, before they are aligned."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from clustrep.checks import (
    check_choice,
    check_features,
    check_flag,
    check_known,
    check_label,
    check_name,
    check_numbers,
)
from clustrep.data.gower import gower_coded
from clustrep.data.probes import GeneRequest, tables_by_gene
from clustrep.data.readers import READERS, reader_of
from clustrep.data.readers.excel import EXCEL
from clustrep.data.readers.h5ad import tables_of_anndata
from clustrep.data.readers.source import file_and_sheet, study_names
from clustrep.data.readers.table import Path, Reader, Request, Table
from clustrep.data.study import Label, Study, check_label_exists
from clustrep.errors import DataError, DataWarning, ParameterError, invalid, warn
from clustrep.text import argument, listing, nearest, plural

DUPLICATES = ("mean", "first", "variance")  # what may be made of several features of one name


def studies_from_files(
    paths: Sequence[str | PathLike[str]], given: Request, by_gene: GeneRequest
) -> tuple[list[Study], Request]:
    """Read the studies of files as they were asked for.

    Also return the request after its check, so that later errors can name the argument to change.
    """
    if not paths:
        raise ParameterError("Studies.read needs at least one path.", parameter="paths")
    for path in paths:
        if not isinstance(path, str | PathLike):
            raise ParameterError(
                f"Studies.read takes paths, got {type(path).__name__}: pass a list as Studies.read(*paths), and "
                "tables to Studies({name: table, ...}).",
                parameter="paths",
            )
    names = study_names(paths)
    request = _checked(given, names)
    by_gene.check()
    asked = request._replace(features=None) if by_gene.is_wanted else request  # of all probes
    tables = [
        without_duplicates(_units_aside(table, request.groups), request.duplicates)
        for table in _read_tables(paths, names, asked)
    ]
    check_divided(tables, request.study_key)
    # Before columns of text are refused, of which one may be meant.
    check_label_exists(tables, request.label, {name for table in tables for name in _label_columns(table)})
    tables = _without_unusable(tables, allow_missing=request.allow_missing)
    if by_gene.is_wanted:
        tables = tables_by_gene(tables, by_gene)
    if request.gower or request.categorical:
        frames = gower_coded({table.name: table.frame for table in tables}, request.categorical)
        tables = [table._replace(frame=frames[table.name]) for table in tables]
    studies = []
    for table in tables:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", ".* is probably a class label", DataWarning
            )  # an error, once all are read
            study = _study_of(table, request)
        studies.append(study if request.features is None else study.select(request.features))
    shared = set.intersection(*(set(study.features) for study in studies))
    for study in studies:
        compared = study.select([name for name in study.features if name in shared]) if shared else study
        if (suspicion := compared._suspicion(request.label)) is not None:
            raise DataError(suspicion)
    return studies, request


def studies_from_anndata(
    adata: Any, *, study_key: str | None, rep: str | None, label: Label, features: Sequence[str] | None
) -> list[Study]:
    """Take the studies of an AnnData, which `study_key` distinguishes."""
    check_label(label)
    studies = []
    columns: set[str] = set()
    kept = None if features is None else check_features(features)
    for table in tables_of_anndata(adata, study_key=study_key, rep=rep, label=label, features=kept):
        studies.append(_study_of(table, Request(rep=rep), None if label else label))
        columns.update(table.annotations or ())
    check_label_exists(studies, label, columns)
    return studies


def check_divided(tables: Sequence[Table], study_key: str | None) -> None:
    """Check that at least one table has the column that names studies; the others are one study each."""
    if study_key is not None and not any(table.is_part for table in tables):
        columns = list(dict.fromkeys(str(column) for table in tables for column in table.frame.columns))
        raise DataError(
            f"No table has a column {study_key!r} to tell the studies apart; there are {listing(columns, 20)}."
            f"{nearest(study_key, columns)}"
        )


def _label_columns(table: Table) -> Iterable[str]:
    """Return what `label` may name; columns without names are numbered from 1."""
    are_numbered = isinstance(table.frame.columns, pd.RangeIndex)
    columns = range(1, table.frame.shape[1] + 1) if are_numbered else table.frame.columns
    return map(str, columns if table.annotations is None else table.annotations)


def _study_of(table: Table, request: Request, label: Label = None) -> Study:
    units = None if table.groups is None else {str(request.groups): table.groups}
    study = Study(
        table.frame, table.name, labels=table.labels, label=label, groups=units, allow_missing=request.allow_missing
    )
    return study._with(embedding=request.rep if table.is_embedding else "", _undivided=table.undivided)


def _units_aside(table: Table, groups: str | None) -> Table:
    """Separate the units to which samples belong from the features."""
    if groups is None or table.groups is not None:
        return table
    columns = [*map(str, table.frame.columns), *(table.annotations or ())]
    if groups not in table.frame.columns:
        raise DataError(
            f"Study {table.name!r} has no column {groups!r} that names the unit of a sample; there are "
            f"{listing(columns, 20)}.{nearest(groups, columns)}"
        )
    units = [int(unit) if isinstance(unit, float) and unit.is_integer() else unit for unit in table.frame[groups]]
    return table._replace(frame=table.frame.drop(columns=groups), groups=np.array(units, dtype=object))


def without_duplicates(table: Table, duplicates: str | None) -> Table:
    """Make one feature of those that have the same name: their mean, the first, or the one that varies most."""
    names = [] if isinstance(table.frame.columns, pd.RangeIndex) else [str(name) for name in table.frame.columns]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if not twice:
        return table
    if duplicates is None:
        raise DataError(
            f"Study {table.name!r} has {plural(len(twice), 'duplicate feature name')}: {listing(map(repr, twice))}. "
            f"Rename them, or use {argument('duplicates', 'mean')} to make one feature of each ('first' and 'variance' "
            "choose one)."
        )
    frame, subject = table.frame.set_axis(names, axis=1), f"Study {table.name!r}"
    rows = [str(row) for row in frame.index]
    kept = frame.loc[:, ~frame.columns.duplicated()].copy()
    for name in [] if duplicates == "first" else twice:
        X = check_numbers(pd.DataFrame(frame[name]).set_axis(rows, axis=0), subject)  # (n_samples, n_duplicates)
        variances = pd.DataFrame(X).var(axis=0).fillna(-1.0)  # of those without values -1
        kept[name] = X.mean(axis=1) if duplicates == "mean" else X[:, int(variances.argmax())]
    return table._replace(frame=kept, feature_data=None)


def _without_unusable(tables: list[Table], *, allow_missing: bool) -> list[Table]:
    """Leave out columns of text, or with missing values, that some study lacks: they would not be compared."""
    if len(tables) < 2 or any(isinstance(table.frame.columns, pd.RangeIndex) for table in tables):
        return tables
    shared = set.intersection(*(set(table.frame.columns) for table in tables))
    kept, told = [], []
    for table in tables:
        frame = table.frame.loc[:, [column not in shared for column in table.frame.columns]]
        is_text = np.array([not pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes], dtype=bool)
        unusable = frame.columns[is_text if allow_missing else is_text | frame.isna().any().to_numpy()]
        if shared and len(unusable):
            told.append(f"{table.name} {len(unusable):,} ({listing(unusable, 3)})")
            table = table._replace(frame=table.frame.drop(columns=unusable), feature_data=None)
        kept.append(table)
    if told:
        warn(f"Left out, as text or incomplete and not in all studies: {'; '.join(told)}.", DataWarning)
    return kept


# ---------------------------------------------------------------------------------------------------------------------
# the files, one after the other


def _read_tables(paths: Sequence[Path], names: Sequence[str], request: Request) -> Iterator[Table]:
    """Read the studies of all files; an h5ad file may hold several."""
    taking = [reader_of(path) for path in paths]
    for parameter, value in (("study_key", request.study_key), ("rep", request.rep)):
        if value is not None and (not isinstance(value, str) or not value):
            raise invalid(parameter, "a name", value)
        if value is not None and not any(parameter in reader.takes for reader in taking):
            raise ParameterError(
                f"{argument(parameter, value)} is for {_files_that_take(parameter)}, and there is none among these.",
                parameter=parameter,
            )
    path_of: dict[str, Path] = {}
    of_embeddings: dict[Path, None] = {}
    for path, name, reader in zip(paths, names, taking, strict=True):
        _check_applies(request, reader, path, name, names)
        for table in reader.read(path, name, request):
            if table.name in path_of:
                raise DataError(
                    f"Every study needs a different name, but {table.name!r} is in {path_of[table.name]} and in "
                    f"{path}: rename it in one of them."
                )
            path_of[table.name] = path
            if table.is_embedding:
                of_embeddings[path] = None
            yield table
    if len(of_embeddings) > 1:
        warn(
            f"{request.rep!r} of {listing(of_embeddings, 3)} is taken as one space: that is right only if it was "
            "computed from all of them together.",
            DataWarning,
        )


def _check_applies(request: Request, reader: Reader, path: Path, name: str, names: Sequence[str]) -> None:
    """Refuse a sheet, a header or a transposition that a file of this format can't have."""
    file, sheet = file_and_sheet(path)
    if sheet and reader is not EXCEL:
        raise DataError(f"{file} is {reader.kind}, and has no sheets: leave :{sheet} out.")
    if request.header is not None and "header" not in reader.takes:
        header = argument("header", request.header)
        raise ParameterError(
            f"{header} is for {_files_that_take('header')}, and {path} is {reader.kind}: leave {header} out.",
            parameter="header",
        )
    if reader.orientation is not None and request.transposes(name):
        others = [other for other in names if other != name]
        instead = f", or use {argument('transpose', others)}" if others and request.transpose is True else ""
        raise ParameterError(
            f"{path} is {reader.kind}, and {reader.orientation}: leave {request.transpose_argument(name)} out"
            f"{instead}.",
            parameter="transpose",
        )


def _files_that_take(parameter: str) -> str:
    *first, last = (reader.files for reader in READERS if parameter in reader.takes)
    return f"{', '.join(first)} and {last}" if first else last


# ---------------------------------------------------------------------------------------------------------------------
# what was asked for


def check_unscaled(scale: str, normalise: str) -> None:
    """Refuse to scale or normalise tables that are coded for Gower's distance."""
    for name, value, reason in (
        ("scale", scale, "Gower's distance divides by ranges itself"),
        ("normalise", normalise, "numbers and categories are no counts"),
    ):
        if value != "none":
            raise ParameterError(
                f"{argument('gower', True)} can't be combined with {argument(name, value)}: {reason}.", parameter=name
            )


def _checked(given: Request, names: Sequence[str]) -> Request:
    """Check what a user asked for, of files with these names."""
    check_label(given.label)
    if given.header is not None:
        check_flag(given.header, "header")
    features = None if given.features is None else check_features(given.features)
    if given.groups is not None:
        check_name(given.groups, "groups")
    check_flag(given.allow_missing, "allow_missing")
    check_flag(given.gower, "gower")
    if given.categorical:
        given = given._replace(categorical=check_features(given.categorical, "categorical"))
    if given.duplicates is not None:
        check_choice(given.duplicates, "duplicates", DUPLICATES)
    if isinstance(given.transpose, bool):
        return given._replace(features=features)
    transpose = [given.transpose] if isinstance(given.transpose, str) else given.transpose
    if not isinstance(transpose, Iterable):
        raise invalid("transpose", "True, False or the names of studies", transpose)
    transpose = list(transpose)
    for name in transpose:
        check_known(name, "study to transpose", names, parameter="transpose")
    return given._replace(transpose=transpose, features=features)
