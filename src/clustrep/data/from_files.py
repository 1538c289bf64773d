"""Studies from files and from AnnData, before they are aligned."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from clustrep.checks import check_flag, check_known, check_label, check_name, check_names_differ
from clustrep.data.gower import gower_coded
from clustrep.data.probes import GeneRequest, tables_by_gene
from clustrep.data.readers import read_tables
from clustrep.data.readers.h5ad import tables_of_anndata
from clustrep.data.readers.source import study_names
from clustrep.data.readers.table import Request, Table
from clustrep.data.study import Label, Study, check_label_exists
from clustrep.errors import DataError, DataWarning, ParameterError
from clustrep.text import argument, listing, nearest


def studies_from_files(
    paths: Sequence[str | PathLike[str]], given: Request, by_gene: GeneRequest
) -> tuple[list[Study], Request]:
    """Read the studies of files as they were asked for.

    Also return the request after its check, so that later errors can say which argument to change.
    """
    _check_paths(paths)
    names = study_names(paths)
    request = _checked(given, names)
    by_gene.check()
    studies = []
    columns: set[str] = set()  # which the label could be
    for table in _coded(_tables(paths, names, request, by_gene), request):
        study = _study_of_table(table, request)
        columns.update(study.features if table.annotations is None else table.annotations)
        studies.append(study if request.features is None else study.select(request.features))
    check_label_exists(studies, request.label, columns)
    for study in studies:
        if (suspicion := study._suspicion(request.label)) is not None:
            raise DataError(suspicion)
    return studies, request


def _coded(tables: Iterable[Table], request: Request) -> Iterable[Table]:
    """Code the tables of all files for Gower's distance, where that is wanted; units aside."""
    if not request.gower:
        return tables
    aside = [(table, *_units_aside(table, request.groups)) for table in tables]
    frames = gower_coded({table.name: frame for table, frame, _ in aside})
    return [
        table._replace(
            frame=frames[table.name], groups=None if units is None or request.groups is None else units[request.groups]
        )
        for table, _, units in aside
    ]


def check_unscaled(scale: str, normalise: str) -> None:
    """Refuse to scale or normalise what is coded for Gower's distance."""
    if scale != "none":
        raise ParameterError(
            f"{argument('gower', True)} can't be combined with {argument('scale', scale)}: Gower's distance "
            "divides by ranges itself.",
            parameter="scale",
        )
    if normalise != "none":
        raise ParameterError(
            f"{argument('gower', True)} can't be combined with {argument('normalise', normalise)}: numbers and "
            "categories are no counts.",
            parameter="normalise",
        )


def _tables(
    paths: Sequence[str | PathLike[str]], names: Sequence[str], request: Request, by_gene: GeneRequest
) -> Iterable[Table]:
    if not by_gene.is_wanted:
        return read_tables(paths, names, request)
    tables = []
    for table in read_tables(paths, names, request._replace(features=None)):  # of all probes
        frame, units = _units_aside(table, request.groups)
        groups = None if units is None or request.groups is None else units[request.groups]
        tables.append(table._replace(frame=frame, groups=groups))
    return tables_by_gene(tables, by_gene)


def _checked(given: Request, names: Sequence[str]) -> Request:
    """Check what a user asked for, of files with these names."""
    check_label(given.label)
    if given.header is not None:
        check_flag(given.header, "header")
    features = _chosen(given.features)
    if given.groups is not None:
        check_name(given.groups, "groups")
    check_flag(given.allow_missing, "allow_missing")
    check_flag(given.gower, "gower")
    return given._replace(transpose=_names_to_transpose(given.transpose, names), features=features)


def studies_from_anndata(
    adata: Any, *, study_key: str, rep: str | None, label: Label, features: Sequence[str] | None
) -> list[Study]:
    """Take the studies of an AnnData, which `study_key` distinguishes."""
    check_label(label)
    studies = []
    columns: set[str] = set()
    for table in tables_of_anndata(adata, study_key=study_key, rep=rep, label=label, features=_chosen(features)):
        study = Study(table.frame, table.name, labels=table.labels, label=None if label else label)
        studies.append(_with_embedding(study, table, rep))
        columns.update(table.annotations or ())
    check_label_exists(studies, label, columns)
    return studies


def _check_paths(paths: Sequence[object]) -> None:
    if not paths:
        raise ParameterError("Studies.read needs at least one path.", parameter="paths")
    for path in paths:
        if not isinstance(path, str | PathLike):
            raise ParameterError(
                f"Studies.read takes paths, got {type(path).__name__}: pass a list as Studies.read(*paths), and "
                "tables to Studies({name: table, ...}).",
                parameter="paths",
            )


def _chosen(features: object) -> tuple[str, ...] | None:
    """Check the names of the features that are wanted; None: all of them."""
    if features is None:
        return None
    if isinstance(features, str) or not isinstance(features, Iterable) or not (names := tuple(features)):
        raise ParameterError(
            f"features must be a sequence of at least one feature name, got {features!r}.", parameter="features"
        )
    if not all(isinstance(name, str) for name in names):
        raise ParameterError(f"features must be names, got {listing(map(repr, names))}.", parameter="features")
    check_names_differ(names, "feature", parameter="features")
    return names


def _names_to_transpose(transpose: object, names: Sequence[str]) -> bool | Sequence[str]:
    if isinstance(transpose, bool):
        return transpose
    transposed = [transpose] if isinstance(transpose, str) else transpose
    if not isinstance(transposed, Iterable):
        raise ParameterError(
            f"transpose must be True, False or the names of studies, got {transpose!r}.", parameter="transpose"
        )
    transposed = list(transposed)
    for name in transposed:
        check_known(name, "study to transpose", names, parameter="transpose")
    return transposed


def _study_of_table(table: Table, request: Request) -> Study:
    frame, units = _units_aside(table, request.groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a probable label in a file is an error, once all are read
        study = Study(frame, table.name, labels=table.labels, groups=units, allow_missing=request.allow_missing)
    return _with_embedding(study, table, request.rep)


def _units_aside(table: Table, groups: str | None) -> tuple[pd.DataFrame, dict[str, Any] | None]:
    """Separate the units to which samples belong from the features."""
    if groups is None:
        return table.frame, None
    if table.groups is not None:
        return table.frame, {groups: table.groups}
    columns = [*map(str, table.frame.columns), *(table.annotations or ())]
    if groups not in table.frame.columns:
        raise DataError(
            f"Study {table.name!r} has no column {groups!r} that says to which unit a sample belongs; there are "
            f"{listing(columns, 20)}.{nearest(groups, columns)}"
        )
    units = [int(unit) if isinstance(unit, float) and unit.is_integer() else unit for unit in table.frame[groups]]
    return table.frame.drop(columns=groups), {groups: np.array(units, dtype=object)}


def _with_embedding(study: Study, table: Table, rep: str | None) -> Study:
    """Note of which embedding the features are the coordinates."""
    return study._with(embedding=rep) if table.is_embedding and rep is not None else study
